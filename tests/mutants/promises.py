# SPDX-License-Identifier: MIT
"""The promises, broken one by one."""

from mutant import Mutant

ACKNOWLEDGED = (
    Mutant(
        "daemon-answers-before-commit",
        "The daemon answers a synced write after its group's commit",
        "daemon/write/writer.c",
        "if (job->durability == CHI_ASYNC && job->refused == CHI_OK) {",
        "if (job->answer != NULL && job->refused == CHI_OK) {",
        "system kill", "Kill.test_nothing_acknowledged_is_lost"),
    Mutant(
        "commit-without-sync",
        "A commit is synced before it is acknowledged",
        "store/env/env.c",
        "flags | MDB_NOTLS, FILE_MODE)",
        "flags | MDB_NOTLS | MDB_NOSYNC, FILE_MODE)",
        "faults powercut", "test_puts"),
    Mutant(
        "commit-without-head",
        "The meta page is synced as well as the pages",
        "store/env/env.c",
        "flags | MDB_NOTLS, FILE_MODE)",
        "flags | MDB_NOTLS | MDB_NOMETASYNC, FILE_MODE)",
        "faults powercut", "test_puts"),
    Mutant(
        "library-keeps-synced-writes",
        "The library commits a synced write before it returns",
        "client/local/inproc.c",
        "if (durability == CHI_ASYNC) {",
        "if (n < CHI_PENDING_MAX) {",
        "system kill", "Kill.test_killed_processes_lose_nothing"),
    Mutant(
        "engine-tells-before-it-is-stored",
        "An engine says that an evaluation is durable after the store did",
        "uci/learn.c",
        "\tint rc = put_lessons(learner, lessons, n);\n",
        """	for (size_t i = 0; i < n; i++) {
		learner->learned(learner->context, &lessons[i].key, lessons[i].depth);
	}
	int rc = put_lessons(learner, lessons, n);
""",
        "system learners", "Learners.test_killed"),
    Mutant(
        "nothing-new-is-not-vouched-for",
        "'Stored already' is said of what is synced, no matter who wrote it",
        "store/txn/write.c",
        "int rc = env->durable == seen ? 0 : mdb_env_sync(env->mdb, 1);",
        "int rc = 0;",
        "store media", "nothing_new_is_synced_once"),
    Mutant(
        "opening-trusts-what-it-sees",
        "What a killed writer left is synced before anything rests on it",
        "store/env/env.c",
        "int error = flags != 0 ? 0 : sync_all(env->path);",
        "int error = 0;",
        "faults powercut", "test_killed"),
    Mutant(
        "failed-commit-is-left-as-it-is",
        "The head that a failed commit put back is synced before the next write",
        "store/txn/write.c",
        "\t\t(void)mdb_env_sync(env->mdb, 1);\n",
        "",
        "store media", "failed_commit_is_followed_by_a_sync"),
    Mutant(
        "lost-async-write-is-not-told",
        "An ASYNC write that was answered and then lost ends its connection",
        "daemon/write/writer.c",
        "\t\t\tchi_job_post_loss(job);\n",
        "",
        "system daemon_work", "Batches.test_lost_async_write_is_vouched_for_by_none"),
)

WHOLE = (
    Mutant(
        "refused-batch-is-half-kept",
        "A batch that is refused leaves nothing behind in a shared transaction",
        "store/txn/savepoint.c",
        "chi_tree_rollback(&write->position);",
        "",
        "store savepoint", "test_control"),
    Mutant(
        "group-is-half-kept",
        "The daemon takes back the batch that fails, and no other",
        "daemon/write/writer.c",
        "if (first || chi_write_rollback(writer->write) < 0) {",
        "if (first) {",
        "system daemon_work", "Batches.test_only_the_guilty_batch_fails"),
    Mutant(
        "put-forgets-the-other-tree",
        "A put and a delete change both trees in their transaction",
        "store/txn/write.c",
        "int rc = follow(write, key, &m->old, &m->new);",
        "int rc = CHI_OK;",
        "store model", "test_external"),
    Mutant(
        "failed-step-is-committed",
        "After a failed step the transaction cannot be committed",
        "store/txn/write.c",
        "int rc = chi_env_forked(env) ? -CHI_EFORK : write->rc;",
        "int rc = chi_env_forked(env) ? -CHI_EFORK : CHI_OK;",
        "store savepoint", "test_broken"),
    Mutant(
        "import-is-committed-in-parts",
        "An import is one transaction, however long it is",
        "store/load/new_store.c",
        "if (load->write != NULL || load->unsaved < load->commit_bytes) {",
        "if (load->unsaved < (1u << 12)) {",
        "store load", "test_abandoned_rewritten"),
    Mutant(
        "book-counts-where-games-are",
        "A book leaves positions that were played as they are, also those of its own earlier lines",
        "store/load/puts.c",
        "load->unplayed && is_played(&m.old)",
        "load->unplayed && is_played(&m.old) && false",
        "import lines", "what_was_played_stays"),
    Mutant(
        "earlier-line-of-a-dump-wins",
        "Of a position that comes twice in a dump the later line stays, whichever thread read it",
        "import/puts.c",
        "htobe64((uint64_t)stream << PLACE_BITS",
        "htobe64((uint64_t)(0xffff - stream) << PLACE_BITS",
        "import load", "puts_make_the_same_store",
        (("import/puts.c",
          "uint64_t stream = place >> PLACE_BITS;",
          "uint64_t stream = 0xffff - (place >> PLACE_BITS);"),)),
    Mutant(
        "later-bad-line-is-told",
        "Of the lines of a dump that cannot be read the first is told, whichever thread found it",
        "import/dump/load_read.c",
        "	work->told->status = rc;",
        "	if (rc != CHI_OK) {\n\t\treturn rc;\n\t}",
        "import load", "the_first_bad_line_is_named"),
    Mutant(
        "cut-dump-is-loaded",
        "A dump whose last line is missing is not loaded",
        "import/dump/load.c",
        "rc == CHI_OK && !loading->over",
        "rc == CHI_OK && false",
        "import load", "what_is_no_whole_dump"),
    Mutant(
        "changed-dump-is-loaded",
        "A dump in which anything was changed is not loaded, and the lines are named",
        "store/text/seal.c",
        "memcmp(sum, seal->held, seal->n_held) != 0",
        "false",
        "import load", "a_changed_dump_is_refused"),
    Mutant(
        "cut-file-is-read",
        "A compressed file that is cut or damaged is not read as if it were whole",
        "formats/unpack.c",
        "return cut_short(unpack, fault);",
        "return false ? cut_short(unpack, fault) : CHI_NONE;",
        "cli source", "cut_files"),
    Mutant(
        "long-names-are-cut",
        "Two games whose names or pages differ only after 1,023 bytes are not taken for one",
        "chess/pgn/tags.c",
        "if ((values->cut >> telling[i] & 1) != 0) {",
        "if (false) {",
        "import notes", "games_that_differ_late_were_one"),
    Mutant(
        "lost-text-is-not-told",
        "A game's text that is over a limit is not cut without a remark",
        "import/archive/keep.c",
        "return whole->lost_tags > 0 || whole->rest_cut ||",
        "return whole->rest_cut ||",
        "import notes", "what_is_cut_is_told"),
    Mutant(
        "bomb-is-held",
        "A compressed book makes a program hold no more than sixteen times its size and 16 MiB",
        "formats/source.c",
        "if (len > most - content->len) {",
        "if (false) {",
        "cli source", "a_small_file_took_gigabytes"),
)

ONCE = (
    Mutant(
        "repeated-write-is-done-again",
        "A write that was done under its mark is not done again",
        "store/txn/idempotency.c",
        "if (done != NULL) {",
        "if (false) {",
        "store idempotency", "test_done_once"),
    Mutant(
        "mark-is-not-stored",
        "The mark is stored by the transaction of its write",
        "store/txn/write.c",
        "error = error == 0 ? chi_idempotency_store(write) : error;",
        "error = error == 0 ? 0 : error;",
        "store idempotency", "test_done_once"),
    Mutant(
        "forgotten-client-is-believed",
        "A client that is not remembered any more is refused",
        "store/txn/idempotency.c",
        "if (idempotency_key->since < book->horizon) {",
        "if (false) {",
        "store idempotency", "test_horizon"),
    Mutant(
        "answered-write-is-taken-again",
        "A number below the window is refused, not done",
        "store/txn/idempotency.c",
        "return idempotency_key->sequence >= met->client.floor",
        "return true",
        "store idempotency", "test_answered_is_forgotten"),
    Mutant(
        "mark-of-another-store-is-taken",
        "A mark is for one store: another, which does not remember, refuses it",
        "store/txn/idempotency.c",
        "if (!is_for(write->env, idempotency_key)) {",
        "if (false) {",
        "store idempotency", "test_of_another_store"),
    Mutant(
        "repeat-gets-a-new-mark",
        "The client repeats a lost write under its first mark",
        "client/remote/repeat.c",
        "if (idempotency_key->sequence != 0 || client->options.repeat_ms == CHI_NO_REPEAT) {",
        "if (client->options.repeat_ms == CHI_NO_REPEAT) {",
        "client repeat", "cut_at_every_byte"),
    Mutant(
        "callback-may-call",
        "A client whose call runs, or whose rows are open, does nothing else",
        "client/core/client.c",
        "if (CHI_UNLIKELY(client->uses++ > 0)) {",
        "if (CHI_UNLIKELY(client->uses++ > 1)) {",
        "client busy file", "a_walk"),
    Mutant(
        "client-gives-up-at-once",
        "The client connects and sends again by itself",
        "client/remote/repeat.c",
        "bool lost = is_lost(client, repeat, status);",
        "bool lost = false && is_lost(client, repeat, status);",
        "client repeat", "cut_at_every_byte"),
)

SNAPSHOT = (
    Mutant(
        "answer-goes-with-the-next-call",
        "An answer of the library may be passed into the call that returns the next one",
        "client/core/client.c",
        "client->answer = &client->answers[client->answer == &client->answers[0]];",
        "client->answer = &client->answers[0];",
        "client lifetimes file", "answers_of_small_records"),
    Mutant(
        "reader-sees-two-commits",
        "A reader that is overtaken by two commits begins again",
        "store/env/env.h",
        "return info.me_last_txnid - id <= 1;",
        "return true;",
        "store overtaken", "test_overtaken_between_number_and_head"),
    Mutant(
        "mixed-scan-is-not-told",
        "A scan that went on with a later state says so",
        "ops/scan.c",
        "scan->mixed = scan->mixed || (scan->has_sequence && sequence != scan->sequence && needed);",
        "",
        "system daemon_work", "Scans.test_one_snapshot_or_mixed"),
    Mutant(
        "walk-of-the-library-moves-on",
        "A walk of the library shows the state of its beginning",
        "client/local/query.c",
        "chi_page_clear(page);\n\tint status = fill_page(",
        "chi_page_clear(page);\n\tchi_query_detach(rows->query);\n\tchi_read_end(rows->read);\n"
        "\trows->read = NULL;\n"
        "\tif (chi_read_begin(client->inproc.store, &rows->read) != CHI_OK ||\n"
        "\t    chi_query_attach(rows->query, rows->read, &client->error) != CHI_OK) {\n"
        "\t\treturn -CHI_EIO;\n\t}\n\tint status = fill_page(",
        "client inproc", "a_walk_shows_one_state"),
    Mutant(
        "rows-before-damage-are-lost",
        "Rows before a damaged one are delivered",
        "client/local/query.c",
        "rows->n = page->n;",
        "rows->n = status < 0 ? 0 : page->n;",
        "client damage file", "rows_made_ahead_of_damage_were_lost"),
)

DAMAGE = (
    Mutant(
        "checksum-of-groups-is-ignored",
        "A record whose checksum is wrong is reported, never returned",
        "store/block/block_priv.h",
        "load_u32(group->at) ==",
        "load_u32(group->at) + 1 !=",
        "store damage", "test_flipped_records"),
    Mutant(
        "checksum-of-heads-is-ignored",
        "A position is said to be absent only by a block whose checksum is right",
        "store/block/read.c",
        "body) == load_u32(block->bytes + body)",
        "body) != 0 || load_u32(block->bytes + body) > 0",
        "store block", "test_changed_bytes_are_seen"),
    Mutant(
        "absence-needs-no-fence",
        "and that is responsible for it",
        "store/block/read.c",
        "(rc == CHI_NONE && chi_block_verify(&block) &&",
        "(rc == CHI_NONE && (chi_block_verify(&block) || len != NULL) &&",
        "store block", "test_changed_bytes_are_seen"),
    Mutant(
        "absence-needs-no-link",
        "In the other trees what is absent is vouched for by the links around it",
        "store/chain/chain.c",
        "return around && fits(",
        "return around || fits(",
        "store chain", "test_no_bit_hides_an_entry"),
    Mutant(
        "any-end-is-the-end",
        "and the end of a walk by the link of the head",
        "store/chain/chain.c",
        "return rc == 0 && !fits(chain, last, &key, &value) ? break_at(chain, last, NULL) : rc;",
        "return rc == 0 && !fits(chain, last, &key, &value) ? 0 : rc;",
        "store chain", "test_no_bit_hides_an_entry"),
    Mutant(
        "trees-need-not-agree",
        "Where the trees disagree nothing is returned",
        "store/query/walk.c",
        "rc = rc == CHI_OK && row->chi2 != chi2 ? -CHI_ECORRUPT : rc;",
        "",
        "store damage", "test_disagreement"),
    Mutant(
        "checksum-of-the-stamp-is-ignored",
        "A damaged stamp is refused",
        "store/record/meta.c",
        "if (!checksum_ok(stamp_key, bytes, len)) {",
        "if (false) {",
        "store open", "test_stamps"),
    Mutant(
        "checksum-of-the-state-is-ignored",
        "A damaged state record is refused",
        "store/record/meta.c",
        "if (len < CHI_STATE_SIZE || !checksum_ok(state_key, bytes, len)) {",
        "if (len < CHI_STATE_SIZE) {",
        "store damage", "test_damaged_meta"),
    Mutant(
        "verify-believes-moves",
        "verify finds what has a right checksum and is no chess",
        "store/record/examine.c",
        "} else if (chi_record_legal(&position, record, NULL) < 0) {",
        "} else if (false) {",
        "store damage", "test_agreed_nonsense"),
    Mutant(
        "repair-takes-what-is-damaged",
        "A repaired store holds intact records alone",
        "store/record/examine.c",
        "if (rc < 0) {\n\t\t*problem = \"its record is damaged\";",
        "if (false) {\n\t\t*problem = \"its record is damaged\";",
        "store repair", "test_nonsense_is_not_saved"),
)

FULL = (
    Mutant(
        "full-disk-is-an-input-error",
        "EIO on a file system without room is DISK_FULL",
        "store/lmdb_err.c",
        "if (rc == EIO && out_of_space(dir)) {",
        "if (false && out_of_space(dir)) {",
        "store whole", "test_full_disk"),
    Mutant(
        "full-disk-needs-a-restart",
        "The first write after space returns works without a restart",
        "store/env/env.c",
        "if ((rc != MDB_MAP_RESIZED && rc != MDB_PANIC) ||",
        "if (rc != MDB_MAP_RESIZED ||",
        "store media", "panic_is_mended_without_a_restart"),
    Mutant(
        "full-disk-ends-the-daemon",
        "A file that cannot grow is no signal that ends the daemon",
        "daemon/serve.c",
        "signal(SIGXFSZ, SIG_IGN);",
        "signal(SIGXFSZ, SIG_DFL);",
        "system daemon_work", "Batches.test_no_room_for_the_file"),
    Mutant(
        "one-full-batch-takes-all-along",
        "Where a group does not fit the disk, the batches that do are stored",
        "daemon/write/writer.c",
        "if (status < 0 && n > 1) {",
        "if (false) {",
        "system daemon_work", "Batches.test_what_fits_is_stored"),
    Mutant(
        "reader-table-is-sparse",
        "The table of readers has its blocks before LMDB writes through the map",
        "store/env/env.c",
        "\t\trc = reserve_table(dir);\n",
        "\t\trc = 0;\n",
        "store open", "test_lock_file_has_its_blocks"),
    Mutant(
        "file-limit-is-an-input-error",
        "So is a file that may not grow",
        "store/lmdb_err.c",
        "(has_grown_to(limit.rlim_cur, dir, DATA_NAME) ||",
        "(false && has_grown_to(limit.rlim_cur, dir, DATA_NAME) ||",
        "system full", "UnderLimit.test_room_that_runs_out_on_the_way"),
)

SECTIONS = (
    ("Acknowledged only when it is safe", ACKNOWLEDGED),
    ("All or nothing", WHOLE),
    ("At most once", ONCE),
    ("One committed state", SNAPSHOT),
    ("Damage is reported, never returned", DAMAGE),
    ("A full disk", FULL),
)
