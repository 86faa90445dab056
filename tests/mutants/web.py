# SPDX-License-Identifier: MIT
"""chistore-http, let down by what it promises to those who ask and those who are asked for."""

from mutant import Mutant

WEB = (
    Mutant(
        "any-address-serves-anyone",
        "Without rules chistore-http listens on loopback alone",
        "http/bind.c",
        "is_loopback(address) || config->public_read ||",
        "is_loopback(address) || config->n_listens > 0 ||",
        "system http", "TestRules.test_other_addresses_need_rules"),
    Mutant(
        "any-token-writes",
        "Pages of other sites do not write, whatever token they make up",
        "http/net/conn.c",
        "call->write_ban = shown ? NULL : server_write_ban(conn, head);",
        "call->write_ban = head->authorization.len > 0 ? NULL : server_write_ban(conn, head);",
        "system http_peers", "TestChessdb.test_pages_of_other_sites_do_not_write"),
    Mutant(
        "names-that-lead-here",
        "nor under a name of theirs that leads here",
        "http/net/authorize.c",
        "return own || head->host.len == 0 || is_service(conn, head->host)",
        "return true || head->host.len == 0 || is_service(conn, head->host)",
        "system http_doors", "TestWrites.test_names_that_lead_here"),
    Mutant(
        "a-write-without-a-line",
        "What was written and by whom, and who was refused, is in the log",
        "http/net/authorize.c",
        "if (!refused && !call->writes) {",
        "if (true || (!refused && !call->writes)) {",
        "system http_doors", "TestWrites.test_every_write_is_a_line"),
    Mutant(
        "anyone-says-who-asks",
        "Whom a request comes from is said by a proxy that is trusted, by no one else",
        "http/net/authorize.c",
        "bool told = conn->is_proxy && list.len > 0;",
        "bool told = list.len > 0;",
        "system http_doors", "TestWrites.test_every_write_is_a_line"),
    Mutant(
        "one-has-it-all",
        "One client does not keep the others out",
        "service/shares.h",
        "return held == 0 || (held <= left && n <= left - held);",
        "return held == 0 ? left > 0 : n <= left;",
        "service peer", "one_that_takes_all_it_can_has_half"),
    Mutant(
        "slow-requests-have-all-day",
        "A request is whole in time, however it is dripped in",
        "http/net/conn.c",
        "[CONN_HEAD] = config->head_ms,",
        "[CONN_HEAD] = config->idle_ms,",
        "system http", "TestHttp.test_slow_requests_are_ended"),
    Mutant(
        "bodies-fill-the-memory",
        "All bodies together have a bound",
        "http/net/conn.c",
        "char *body = len == 0 || chi_shares_may(&loop->bodies, call->share, len)",
        "char *body = true || chi_shares_may(&loop->bodies, call->share, len)",
        "system http", "TestBodies.test_memory_for_all_together"),
    Mutant(
        "a-get-has-a-form",
        "What one client sends changes no answer to another",
        "http/net/conn.c",
        "call->method == METHOD_POST &&",
        "call->method != METHOD_PUT &&",
        "system http", "TestHttp.test_a_body_changes_no_one_elses_answer"),
    Mutant(
        "kept-answers-outlive-the-store",
        "An answer is of what the store holds now",
        "http/net/cache.c",
        "kept->state != call->state_seen) {",
        "kept->state > call->state_seen) {",
        "system http", "TestDirectory.test_answers_follow_the_store"),
    Mutant(
        "replaced-store-is-the-same",
        "also if another store of the same sequence took its place",
        "http/net/cache.c",
        "session->opened != cache->opened) {",
        "session->opened < cache->opened) {",
        "system http_kept", "TestKept.test_answers_of_a_store_that_was_replaced"),
    Mutant(
        "a-stop-waits-for-all",
        "Who lets a stop wait is cut off",
        "http/net/loop.c",
        "now >= loop->stop_at_ms) {",
        "now >= loop->stop_at_ms + 86400000) {",
        "system http_kept", "TestStop.test_who_lets_it_wait_is_cut_off"),
    Mutant(
        "the-web-reads-all-files",
        "chistore-http reaches no files but its own",
        "http/jail.c",
        "chi_sandbox_enter(config->server.sandbox, &rules,",
        "chi_sandbox_enter(CHI_SANDBOX_OFF, &rules,",
        "system sandbox", "TestHttp.test_what_is_kept_from_it"),
    Mutant(
        "replies-do-not-count",
        "A position is worth what its best move is",
        "http/cdb/minimax.c",
        "(worth == node->direct && !all)",
        "(node->direct != CHI_WORTH_NONE && !all)",
        "system http_peers", "TestMinimax.test_a_tree"),
    Mutant(
        "stored-replies-are-all-to-chessdb",
        "A position without an evaluation has no score while replies are not stored",
        "http/cdb/minimax.c",
        ".closed = has_all_moves(node)",
        ".closed = true",
        "system http_peers", "TestBounds.test_a_lone_reply_is_no_score"),
    Mutant(
        "mate-further-down-is-told",
        "A mate that an evaluation tells is one of its own position alone",
        "http/cdb/minimax.c",
        "chi_worth_claimed(row->is_mate, row->score)",
        "chi_worth_of(row->is_mate, row->score)",
        "system http_peers", "TestBounds.test_a_mate_that_is_told_is_no_proof"),
    Mutant(
        "line-without-moves",
        "A line that is given has a move",
        "http/cdb/line.c",
        "if (line.n == 0) {",
        "if (!board->known) {",
        "system http_peers", "TestBounds.test_a_line_is_never_empty"),
    Mutant(
        "lost-positions-have-good-moves",
        "Ranks are chessdb's",
        "http/cdb/rank.c",
        ": -50;",
        ": max;",
        "system http_peers", "TestMinimax.test_ranks_on_all_levels"),
)

SECTIONS = (("Over HTTP", WEB),)
