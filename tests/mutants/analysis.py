# SPDX-License-Identifier: MIT
"""The queue of positions to analyse, scores backed up, and what engines learned."""

from mutant import Mutant

QUEUE = (
    Mutant(
        "ended-lease-is-kept",
        "What a lease ended for is given to the next who asks",
        "store/txn/queue.c",
        "int rc = sweep_range(change, &first, now);",
        "int rc = sweep_range(change, &first, 0);",
        "store queue", "test_against_a_list"),
    Mutant(
        "lease-of-a-wrong-clock-stays",
        "A lease that ends later than the longest from now has ended",
        "store/txn/queue.c",
        "return rc == CHI_OK ? sweep_range(change, &beyond, UINT64_MAX) : rc;",
        "return beyond.len > 0 ? rc : CHI_OK;",
        "store queue", "test_a_lease_of_a_wrong_clock_has_ended"),
    Mutant(
        "lease-is-given-back-by-anyone",
        "Only who holds a lease settles it",
        "store/txn/queue.c",
        "row.state == CHI_QUEUE_LEASED && row.lease == lease) {",
        "row.state == CHI_QUEUE_LEASED) {",
        "store queue", "test_against_a_list"),
    Mutant(
        "tried-in-vain-for-ever",
        "A position that was tried too often fails, and is not given out again",
        "store/txn/queue.c",
        "row->tries < CHI_QUEUE_TRIES || !tried ?",
        "row->tries < UINT32_MAX || !tried ?",
        "store queue", "test_against_a_list"),
    Mutant(
        "least-wanted-comes-first",
        "The position with the greatest priority is taken first, then the one that was there first",
        "store/queue/queue.c",
        "add_number(&out, UINT32_MAX - row->priority);",
        "add_number(&out, row->priority);",
        "store queue", "test_against_a_list"),
    Mutant(
        "claimed-position-stays",
        "A position that its taker brought is gone with its lease",
        "store/txn/queue.c",
        "return row->claimed ? take_out(change, row) : give_back(change, row, true);\n}\n\n/* Gives back the leases",
        "return give_back(change, row, true);\n}\n\n/* Gives back the leases",
        "store queue", "test_against_a_list"),
    Mutant(
        "checksum-of-the-queue-is-ignored",
        "A damaged entry of the queue is reported, and given to no one",
        "store/queue/queue.c",
        "value->mv_size < CHI_QUEUE_HEAD || value->mv_size > CHI_QUEUE_VALUE_MAX ||\n"
        "\t    chi_read_le(&from, 8) != checksum(name, key->mv_size, value->mv_data, value->mv_size)) {",
        "value->mv_size < CHI_QUEUE_HEAD || value->mv_size > CHI_QUEUE_VALUE_MAX ||\n"
        "\t    (chi_read_le(&from, 8) == 0 && name[0] == 0)) {",
        "store queue", "test_changed_bits_are_seen"),
)

BACKED = (
    Mutant(
        "mate-keeps-its-distance",
        "A mate is one ply further away where it is backed up to",
        "propagate/backup.c",
        "CHI_WORTH_MATE - (worth > 0 ? worth : -worth) + 1;\n\t\tplies = plies",
        "CHI_WORTH_MATE - (worth > 0 ? worth : -worth);\n\t\tplies = plies",
        "propagate backup", "as_negamax"),
    Mutant(
        "score-decays-downwards",
        "A score that decays is rounded the same for both sides",
        "propagate/backup.c",
        "(thousandths + (thousandths < 0 ? -500 : 500)) / 1000",
        "(thousandths + 500) / 1000",
        "propagate backup", "scores"),
    Mutant(
        "losing-option-is-final",
        "An option that loses counts only when all others are known to",
        "propagate/backup.c",
        "if (run->open[parent] == 0 && *most < 0) {",
        "if (*most < 0) {",
        "propagate backup", "as_negamax"),
    Mutant(
        "cycle-wins",
        "Who can go round in a circle need not lose",
        "propagate/backup.c",
        "\t\t\trun->worths[i] = 0;\n",
        "",
        "propagate backup", "cycles_settle"),
    Mutant(
        "stale-score-is-an-option",
        "A direct score is no option beside the move that it was for",
        "propagate/backup.c",
        "first = first || backup->moves[k] == node->first;",
        "first = false;",
        "propagate backup", "as_negamax"),
    Mutant(
        "lone-reply-is-forced",
        "A side is lost only if all its legal moves are stored and lose",
        "propagate/backup.c",
        "(uint16_t)(node->n + !node->closed)",
        "(uint16_t)node->n",
        "propagate backup", "mates_of_a_part_are_mates_of_the_whole"),
    Mutant(
        "stored-replies-are-all",
        "Without an evaluation, and with replies that are not stored, a position has no score",
        "propagate/backup.c",
        "(!node->closed || node->n == 0)",
        "node->n == 0",
        "propagate backup", "as_negamax"),
    Mutant(
        "claimed-mate-is-proven",
        "A mate that an engine tells is no proof",
        "propagate/evals.c",
        "chi_worth_claimed(eval->is_mate, eval->score)",
        "chi_worth_of(eval->is_mate, eval->score)",
        "system propagate", "Propagate.test_an_engines_mate_is_its_own"),
    Mutant(
        "checkmate-is-a-draw",
        "A checkmate on the board is worth what it is, whatever was said of it",
        "propagate/graph.c",
        "return chi_position_in_check(position, position->side) ? -CHI_WORTH_MATE : 0;",
        "return 0;",
        "propagate graph", "mates"),
)

LEARNED = (
    Mutant(
        "counter-of-plies-hides-positions",
        "A position of an .exp file is found whatever its counter of plies",
        "formats/evals/stockfish.c",
        "key ^= (key & highest_bit(keys->basis[i])) != 0 ? keys->basis[i] : 0;",
        "key ^= i > 0 && (key & highest_bit(keys->basis[i])) != 0 ? keys->basis[i] : 0;",
        "cli exp", "reduced_keys_differ_where_positions_do"),
    Mutant(
        "shallow-line-takes-the-place",
        "Of two entries of one move the deeper stays",
        "formats/evals/exp.c",
        "\t\tif (lines->moves[*at] == move) {\n\t\t\treturn false;\n\t\t}\n",
        "",
        "cli exp", "an_engine_that_plays_white_is_followed"),
    Mutant(
        "what-waits-is-dropped",
        "What an engine learned while the daemon is away is kept for it",
        "uci/learn.c",
        "if (rc != CHI_OK && (!away || learner->ends)) {",
        "if (rc != CHI_OK && (!away || !learner->ends)) {",
        "system uci", "Store.test_a_daemon_that_comes_later"),
    Mutant(
        "bad-evaluation-takes-good-ones-with-it",
        "An evaluation that a store refuses takes no other with it",
        "uci/learn.c",
        "if (rc != CHI_OK && n > 1) {",
        "if (rc != CHI_OK && n > BATCH) {",
        "uci learn", "test_a_bad_one_takes_no_good_ones_with_it"),
    Mutant(
        "draw-of-the-game-is-learned",
        "A score that rests on a draw by repetition or by 50 moves of the game is not stored as the position's",
        "uci/think.c",
        "if (learner != NULL && !result->draws_of_game && result->depth > 0) {",
        "if (learner != NULL && result->depth > 0) {",
        "system uci", "Store.test_draws_of_the_game_are_not_learned"),
)

DRIVEN = (
    Mutant(
        "engine-that-hangs-is-waited-for",
        "A move is out before the clock, whatever another engine does",
        "uci/relay.c",
        "if (stopped == 0 && (now >= due.stop || chi_session_stopped(session))) {",
        "if (stopped == 0 && chi_session_stopped(session)) {",
        "system uci_engines", "Wayward.test_one_that_hangs_does_not_lose_on_time"),
    Mutant(
        "look-up-has-no-end",
        "A move is out before the clock, although the store does not answer",
        "uci/think.c",
        "int64_t until = timed ? due.begun + (due.stop - due.begun) / 2 : INT64_MAX;",
        "int64_t until = due.stop - due.begun > 0 ? INT64_MAX : 0;",
        "system uci", "Store.test_a_daemon_that_hangs_before_a_short_move"),
    Mutant(
        "gui-waits-for-the-engine",
        "What the GUI says is heard while another engine is waited for",
        "uci/session.c",
        "hurries = hurries || line->go != 0;",
        "hurries = hurries && line->go != 0;",
        "system uci_engines", "Wayward.test_one_that_is_never_ready"),
    Mutant(
        "engine-is-told-twice",
        "Another engine is told `stop` once a search",
        "uci/relay.c",
        "stopped = now;\n\t\t\tchi_child_send(relay->child, \"stop\");",
        "stopped = now;\n\t\t\tchi_child_send(relay->child, \"stop\");\n\t\t\tchi_child_send(relay->child, \"stop\");",
        "system uci_engines", "Wayward.test_it_is_told_once"),
)

REVIEWED = (
    Mutant(
        "pieces-are-comments",
        "A comment with clocks in it is one comment in what review prints",
        "cli/work/review_notes.c",
        "if (!note->joined || len",
        "if (merge->n_comment > 0 || len",
        "system review", "Review.test_pieces_of_a_comment_stay_together"),
)

SECTIONS = (
    ("The queue of positions", QUEUE),
    ("Scores backed up", BACKED),
    ("What engines learned", LEARNED),
    ("Engines driven", DRIVEN),
    ("Games reviewed", REVIEWED),
)
