/* SPDX-License-Identifier: MIT */
/* Work on whole stores: dump and load, hot copies, compaction, rescoring, full disks, kills. */
#include "tests/store/help.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "store/text/dump.h"

#define MANY 400

static struct chi_key keys[MANY];

/* Every byte that a note can hold, in sequences of one to four. Returns the length. */
static size_t every_byte(char note[1200])
{
	size_t n = 0;
	for (int c = 1; c < 0x80; c++) {
		note[n++] = (char)c;
	}
	for (int c = 0x80; c < 0x800; c += c < 0x100 ? 1 : 0x3f) {
		note[n++] = (char)(0xc0 | c >> 6);
		note[n++] = (char)(0x80 | (c & 0x3f));
	}
	for (int lead = 0xe1; lead <= 0xf3; lead++) {
		memcpy(note + n, "?\x90\xa0\xbf", 4);
		note[n] = (char)lead;
		n += lead < 0xf0 ? 3 : 4;
		n -= lead == 0xed ? 3 : 0; /* surrogates */
	}
	note[n++] = '\\';
	assert_true(n < 1200);
	return n;
}

/* A position with all parts, made of its own legal moves. */
static void rich_put(struct chi_write *write, enum chi_statistic statistic,
		     const struct chi_key *key, unsigned n)
{
	struct chi_position position;
	struct chi_move_list list;
	ok(chi_key_decode(key, &position, &fault));
	chi_movegen_legal(&position, &list);
	if (list.n == 0) {
		return;
	}
	chi_move move = list.moves[n % list.n];
	struct chi_move_stat played = {move, {n, n % 3, 0, 1}};
	struct chi_eval evals[] = {
		{.engine = "Zurichess \xc3\xbc", .engine_len = 12, .date = 1700000000 + n},
		{.engine = "a|b;c\\d",
		 .engine_len = 7,
		 .depth = n,
		 .is_mate = n % 2,
		 .score = -(int32_t)(n % 50),
		 .nodes = n * UINT64_C(12345678901),
		 .pv = &move,
		 .n_pv = 1},
		{.engine = "a|b;c\\d", .engine_len = 7, .depth = n, .rank = CHI_RANK_MAX}};
	struct chi_ply_stat plies[] = {{(uint16_t)(n % 3), 1}, {(uint16_t)(3 + n), n}};
	char note[1200];
	size_t n_note = every_byte(note);
	struct chi_put_entry put = {
		.key = *key,
		.parts = CHI_PUT_COUNTS | CHI_PUT_MOVES | CHI_PUT_LINE | CHI_PUT_EVALS |
			 CHI_PUT_NOTE,
		.record = {.counts = {n, 2 * n, n % 5, 1},
			   .moves = &played,
			   .n_moves = 1,
			   .plies = plies,
			   .n_plies = n > 0 ? 2 : 1,
			   .evals = evals,
			   .n_evals = 3,
			   .line = &move,
			   .n_line = 1,
			   .note = note,
			   .n_note = n_note},
	};
	struct chi_put_result result = {0};
	ok(chi_put_check(&put, statistic, &fault));
	ok(chi_write_put(write, &put, &result));
}

/* Loads a dump into a new store; returns the reader's last status. */
static int load(const char *text, size_t len, const char *name, struct chi_dir **out)
{
	struct chi_dump_reader reader;
	struct chi_arena arena;
	struct chi_write *write = NULL;
	struct chi_put_result result = {0};
	int rc = CHI_OK;
	chi_dump_reader_init(&reader);
	chi_arena_init(&arena, 16 << 20);
	*out = NULL;
	enum chi_dump_line kind = CHI_DUMP_HEAD;
	for (const char *at = text; rc == CHI_OK && at < text + len;) {
		const char *end = memchr(at, '\n', (size_t)(text + len - at));
		size_t n = (size_t)((end != NULL ? end : text + len) - at);
		struct chi_put_entry put;
		chi_arena_reset(&arena);
		rc = chi_dump_read(&reader, at, n, &arena, &kind, &put, &fault);
		if (rc == CHI_OK && kind == CHI_DUMP_GAME && write != NULL) {
			ok(chi_write_game_id(write, &reader.game));
		}
		if (rc == CHI_OK && kind == CHI_DUMP_POSITION) {
			if (write == NULL) {
				*out = help_store(name, reader.head.statistic);
				ok(chi_write_begin(*out, &write, &fault));
				ok(chi_write_base(write, &reader.head.base));
			}
			ok(chi_put_check(&put, reader.head.statistic, &fault));
			ok(chi_write_put(write, &put, &result));
		}
		at += n + 1;
	}
	if (write != NULL) {
		ok(chi_write_commit(write, &fault));
	}
	chi_arena_deinit(&arena);
	return rc == CHI_OK && kind != CHI_DUMP_TAIL ? CHI_NONE : rc;
}

CASE(test_dump)
{
	static const enum chi_statistic kinds[] = {CHI_STATISTIC_CONTROL, CHI_STATISTIC_EXTERNAL,
						   CHI_STATISTIC_OUTCOME, CHI_STATISTIC_SCORE,
						   CHI_STATISTIC_EVAL};
	help_keys(keys, MANY);
	for (size_t k = 0; k < CHI_COUNT(kinds); k++) {
		struct chi_dir *store = help_store("dump", kinds[k]);
		help_fill(store, keys, MANY);
		struct chi_write *write;
		ok(chi_write_begin(store, &write, &fault));
		for (unsigned i = 0; i < 30; i++) {
			rich_put(write, kinds[k], &keys[i], i * 7);
			struct chi_game_id game = {.result = i % 4,
						   .pruned = i % 5 == 0,
						   .max_ply = i % 3 == 0 ? i : 0};
			memcpy(game.id, keys[i].bytes + 8, 1);
			game.id[CHI_GAME_ID_SIZE - 1] = (uint8_t)i;
			ok(chi_write_game_id(write, &game));
		}
		ok(chi_write_commit(write, &fault));
		uint64_t changed;
		if (kinds[k] == CHI_STATISTIC_OUTCOME || kinds[k] == CHI_STATISTIC_SCORE) {
			ok(help_rescore(store, NULL, &changed, &fault));
		}
		size_t len;
		size_t len2;
		char *text = help_dump(store, &len);
		struct chi_dir *copy;
		ok(load(text, len, "loaded", &copy));
		ok(help_verify(copy, NULL));
		char *again = help_dump(copy, &len2);
		assert_int_equal(len, len2);
		assert_memory_equal(text, again, len);
		chi_dir_close(copy);
		chi_dir_close(store);
		free(text);
		free(again);
	}
}

#define HEAD                                                                                       \
	"chistore-dump\t1\nstatistic\tcontrol\nbase\t0\t0\t0\t0\n"                                 \
	"fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\tnote\n"
#define GAME(id, rest) "game\t000000000000000000000000000000" id "\t" rest "\n"
#define FEN	       "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
static const struct {
	const char *text;
	int rc;
	const char *where;
} bad_dumps[] = {
	{"nonsense\n", -CHI_ESYNTAX, "line 1, column 1"},
	{"chistore-dump\t3\n", -CHI_EVERSION, "line 1, column 15"},
	{"chistore-dump\t1\nstatistic\tmagic\n", -CHI_ESYNTAX, "line 2"},
	{"chistore-dump\t1\nstatistic\tcontrol\nbase\t1\t2\n", -CHI_ESYNTAX, "line 3"},
	{HEAD, CHI_NONE, NULL},
	{HEAD "end\t0\t0\n", CHI_OK, NULL},
	{HEAD "end\t1\t0\n", -CHI_ESYNTAX, "line 5, column 5"},
	{HEAD "end\t0\t1\n", -CHI_ESYNTAX, "line 5, column 7"},
	{HEAD "end\t0\n", -CHI_ESYNTAX, "line 5"},
	{HEAD "end\t0\t0\nend\t0\t0\n", -CHI_ESYNTAX, "line 6"},
	{HEAD GAME("01", "1-0\t-\t-") "end\t0\t1\n", CHI_OK, NULL},
	{HEAD GAME("01", "1-0\t-\t-") "end\t0\t0\n", -CHI_ESYNTAX, "line 6, column 7"},
	{HEAD GAME("01", "0-1\t7\tpruned") GAME("02", "*\t-\t-") "end\t0\t2\n", CHI_OK, NULL},
	{HEAD GAME("01", "0-1\t7\t-") GAME("01", "*\t-\t-"), -CHI_ESYNTAX, "order"},
	{HEAD GAME("01", "1-0\t-\t-") FEN "\t-\t0\t0\t0\t0\t\t\t\t\t\n", -CHI_ESYNTAX,
	 "line 6, column 1: neither"},
	{HEAD GAME("1", "1-0\t-\t-"), -CHI_ESYNTAX, "32 digits"},
	{HEAD GAME("A1", "1-0\t-\t-"), -CHI_ESYNTAX, "column 36"},
	{HEAD GAME("01", "1:0\t-\t-"), -CHI_ESYNTAX, "column 39: not a result"},
	{HEAD GAME("01", "1-0\t0\t-"), -CHI_ESYNTAX, "column 43"},
	{HEAD GAME("01", "1-0\t030\t-"), -CHI_ESYNTAX, "column 43: a bound begins with 0"},
	{HEAD GAME("01", "1-0\t65536\t-"), -CHI_ESYNTAX, "column 43"},
	{HEAD GAME("01", "1-0\t-\tyes"), -CHI_ESYNTAX, "column 45"},
	{HEAD GAME("01", "1-0\t-"), -CHI_ESYNTAX, "five fields"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\t\t\n", -CHI_ESYNTAX, "eleven fields"},
	{HEAD "4k3/9 w - - 0 1\t-\t0\t0\t0\t0\t\t\t\t\t\n", -CHI_EFEN, "line 5, column 1"},
	{HEAD FEN "\tx\t0\t0\t0\t0\t\t\t\t\t\n", -CHI_ESYNTAX, "column 33"},
	{HEAD FEN "\t-\t-1\t0\t0\t0\t\t\t\t\t\n", -CHI_ESYNTAX, "column 35"},
	{HEAD FEN "\t-\t18446744073709551615\t1\t0\t0\t\t\t\t\t\n", -CHI_ESYNTAX, "sum"},
	{HEAD FEN "\t-\t0\t0\t0\t0\te2e5:1/0/0/0\t\t\t\t\n", -CHI_EMOVE, "column 43"},
	{HEAD FEN "\t-\t0\t0\t0\t0\te2e4:1/0/0\t\t\t\t\n", -CHI_ESYNTAX, "four counts"},
	{HEAD FEN "\t-\t0\t0\t0\t0\te2e4:1/0/0/0 e2e3:1/0/0/0\t\t\t\t\n", -CHI_ESYNTAX, "order"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t0:1 7\t\t\t\n", -CHI_ESYNTAX, "column 48"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t0:1:1\t\t\t\n", -CHI_ESYNTAX, "not a ply"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t0:1 4097:1\t\t\t\n", -CHI_ESYNTAX, "column 48"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t0:1 -1:1\t\t\t\n", -CHI_ESYNTAX, "column 48"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t0:0\t\t\t\n", -CHI_ESYNTAX, "without games"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t2:1 2:1\t\t\t\n", -CHI_ESYNTAX, "order"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t2:2 3:2\t\t\t\n", -CHI_ESYNTAX, "more games"},
	{HEAD FEN "\t-\t3\t0\t0\t0\t\t2:2  3:1\t\t\t\n", -CHI_ESYNTAX, "not a ply"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\tx|1|cp:0|-|-\t\t\n", -CHI_ESYNTAX, "six or seven fields"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\tx|1|cp:0|-|-||64\t\t\n", -CHI_ESYNTAX, "too large"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\tx|1|cp:0|-|-||1;x|1|cp:0|-|-|\t\t\n", -CHI_ESYNTAX,
	 "order"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\tx|1|mat:0|-|-|\t\t\n", -CHI_ESYNTAX, "score"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\tb|1|cp:0|-|-|;a|1|cp:0|-|-|\t\t\n", -CHI_ESYNTAX, "order"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\t\te2e4 e2e4\t\n", -CHI_EMOVE, "column 51"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\t\t\ta\\qb\n", -CHI_ESYNTAX, "column 48"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\t\t\t\\x00\n", -CHI_ESYNTAX, "escape"},
	{HEAD FEN "\t-\t0\t0\t0\t0\t\t\t\t\t\xff\n", -CHI_ESYNTAX, "UTF-8"},
};

CASE(test_bad_dumps)
{
	for (size_t i = 0; i < CHI_COUNT(bad_dumps); i++) {
		struct chi_dir *store;
		fault.text[0] = '\0';
		int rc = load(bad_dumps[i].text, strlen(bad_dumps[i].text), "bad", &store);
		if (rc != bad_dumps[i].rc || (bad_dumps[i].where != NULL &&
					      strstr(fault.text, bad_dumps[i].where) == NULL)) {
			print_message("# case %zu: %d, %s\n", i, rc, fault.text);
			fail();
		}
		chi_dir_close(store);
	}
#undef HEAD
#undef FEN
}

/* ---- Copies --------------------------------------------------------------------------------- */

static atomic_bool stop;

/* Batches of ten positions, so that a copy with another number has cut one. */
static void *keep_writing(void *argument)
{
	struct chi_dir *store = argument;
	for (size_t i = 0; !atomic_load(&stop); i++) {
		struct chi_write *write;
		struct chi_put_result result = {0};
		if (chi_write_begin(store, &write, NULL) != CHI_OK) {
			return store;
		}
		for (size_t j = 0; j < 10; j++) {
			const struct chi_key *key = &keys[(i * 10 + j) % MANY];
			int rc =
				(i * 10) / MANY % 2 == 0
					? chi_write_put(write, &(struct chi_put_entry){.key = *key},
							&result)
					: chi_write_delete(write, key);
			if (rc < 0) {
				chi_write_abort(write);
				return store;
			}
		}
		if (chi_write_commit(write, NULL) != CHI_OK) {
			return store;
		}
	}
	return NULL;
}

CASE(test_copy_under_writes)
{
	struct chi_dir *store = help_store("hot", CHI_STATISTIC_CONTROL);
	pthread_t thread;
	atomic_store(&stop, false);
	assert_int_equal(pthread_create(&thread, NULL, keep_writing, store), 0);
	for (int i = 0; i < 6; i++) {
		struct chi_copy *copy;
		int fd;
		ok(chi_copy_begin(help_path("copied"), CHI_BACKUP_STORE, &copy, &fd, &fault));
		ok(chi_dir_copy(store, fd, &fault));
		ok(chi_copy_finish(copy, &fault));
		struct chi_dir *other = help_open(help_path("copied"), CHI_STORE_WRITE);
		ok(help_verify(other, NULL));
		assert_int_equal(help_count(other) % 10, 0);
		chi_dir_close(other);
		assert_int_equal(
			chi_copy_begin(help_path("copied"), CHI_BACKUP_STORE, &copy, &fd, &fault),
			-CHI_EEXIST);
		help_remove(help_path("copied"));
	}
	atomic_store(&stop, true);
	void *failed;
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	chi_dir_close(store);
}

static unsigned entries_beside(void)
{
	unsigned n = 0;
	DIR *dir = opendir(help_path("."));
	for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
		n += strstr(e->d_name, ".new-") != NULL;
	}
	closedir(dir);
	return n;
}

CASE(test_broken_copies)
{
	struct chi_dir *store = help_store("source", CHI_STATISTIC_CONTROL);
	help_fill(store, keys, MANY);
	struct chi_copy *copy;
	int fd;
	struct stat st;
	/* A pipe that lost its end. */
	ok(chi_copy_begin(help_path("target"), CHI_BACKUP_STORE, &copy, &fd, &fault));
	ok(chi_dir_copy(store, fd, &fault));
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ftruncate(fd, st.st_size - 8192), 0);
	assert_int_equal(chi_copy_finish(copy, &fault), -CHI_ECORRUPT);
	assert_int_not_equal(stat(help_path("target"), &st), 0);
	ok(chi_copy_begin(help_path("target"), CHI_BACKUP_STORE, &copy, &fd, &fault));
	assert_int_equal(write(fd, "no store", 8), 8);
	assert_int_equal(chi_copy_finish(copy, &fault), -CHI_ENOSTORE);
	ok(chi_copy_begin(help_path("target"), CHI_BACKUP_STORE, &copy, &fd, &fault));
	chi_copy_abandon(copy);
	chi_copy_abandon(NULL);
	assert_int_equal(entries_beside(), 0);
	chi_dir_close(store);
}

/* ---- Compaction ----------------------------------------------------------------------------- */

/* The sequence number goes on where it was. */
static void check_sequence(struct chi_dir *store, uint64_t before, const struct chi_key *fresh)
{
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	assert_int_equal(chi_read_sequence(read), before);
	chi_read_end(read);
	help_put(store, &(struct chi_put_entry){.key = *fresh});
	ok(chi_read_begin(store, &read));
	assert_int_equal(chi_read_sequence(read), before + 1);
	chi_read_end(read);
	ok(help_verify(store, NULL));
}

CASE(test_compact)
{
	struct chi_dir *store = help_store("compact", CHI_STATISTIC_CONTROL);
	static struct chi_key more[3000];
	for (size_t i = 0; i < CHI_COUNT(more); i++) {
		more[i] = help_key();
	}
	help_fill(store, more, CHI_COUNT(more));
	help_fill(store, keys, MANY);
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < CHI_COUNT(more); i++) {
		assert_true(chi_write_delete(write, &more[i]) >= 0);
	}
	ok(chi_write_commit(write, &fault));
	help_fill(store, keys, MANY);
	size_t len;
	char *text = help_dump(store, &len);
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	struct chi_compaction *c;
	uint64_t before;
	uint64_t after;
	/* Not under a reader. */
	struct chi_read *read;
	struct chi_row row;
	ok(chi_read_begin(store, &read));
	ok(chi_compact_prepare(store, &c, &fault));
	assert_int_equal(chi_compact_swap(c, &before, &after, &fault), -CHI_EBUSY);
	assert_int_equal(before, after);
	assert_int_equal(chi_read_row(read, &keys[0], &row), CHI_OK);
	chi_read_end(read);
	/* Given up: writes go on. */
	ok(chi_compact_prepare(store, &c, &fault));
	assert_int_equal(chi_write_begin(store, &write, &fault), -CHI_EBUSY);
	chi_compact_drop(c);
	chi_compact_drop(NULL);
	/* Done. */
	ok(chi_compact_prepare(store, &c, &fault));
	ok(chi_compact_swap(c, &before, &after, &fault));
	assert_true(after < before / 2);
	size_t len2;
	char *again = help_dump(store, &len2);
	assert_int_equal(len, len2);
	assert_memory_equal(text, again, len);
	free(text);
	free(again);
	check_sequence(store, info.sequence, &more[0]);
	chi_dir_close(store);
	store = help_open(help_path("compact"), CHI_STORE_DAEMON);
	assert_int_equal(help_count(store), MANY + 1);
	chi_dir_close(store);
}

static void open_company(void)
{
	(void)help_open(help_path("company"), CHI_STORE_READ);
}

/* It would go on reading the old file: refused before the work, and after it to any that came
 * meanwhile. */
CASE(test_compact_with_company)
{
	struct chi_dir *store = help_store("company", CHI_STATISTIC_CONTROL);
	struct chi_compaction *c;
	uint64_t before;
	uint64_t after;
	pid_t early = help_hold(open_company);
	assert_int_equal(chi_compact_prepare(store, &c, &fault), -CHI_EBUSY);
	assert_non_null(strstr(fault.text, "another process"));
	help_kill(early);
	ok(chi_compact_prepare(store, &c, &fault));
	pid_t late = help_hold(open_company);
	assert_int_equal(chi_compact_swap(c, &before, &after, &fault), -CHI_EBUSY);
	assert_int_equal(access(help_path("company/data.mdb.compact"), F_OK), -1);
	help_put(store, &(struct chi_put_entry){.key = keys[0]});
	help_kill(late);
	ok(chi_compact_prepare(store, &c, &fault));
	ok(chi_compact_swap(c, &before, &after, &fault));
	chi_dir_close(store);
}

/* ---- Rescoring ------------------------------------------------------------------------------ */

CASE(test_rescore)
{
	uint64_t changed;
	struct chi_dir *store = help_store("rescore", CHI_STATISTIC_EXTERNAL);
	assert_int_equal(help_rescore(store, NULL, &changed, &fault), -CHI_EUNSUPPORTED);
	chi_dir_close(store);
	store = help_store("rescore", CHI_STATISTIC_OUTCOME);
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = 0; i < MANY; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_COUNTS};
		put.record.counts = (struct chi_counts){10 + help_below(90), 10 + help_below(90),
							10 + help_below(90), 3};
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.known, 0);
	ok(help_rescore(store, NULL, &changed, &fault));
	assert_int_equal(changed, MANY);
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.known, MANY);
	assert_true(info.base.white >= 10 * MANY && info.base.other == 3 * MANY);
	ok(help_verify(store, NULL));
	ok(help_rescore(store, &(struct chi_counts){1, 1, 1, 0}, &changed, &fault));
	assert_true(changed > MANY / 2);
	ok(help_rescore(store, &(struct chi_counts){0}, &changed, &fault));
	ok(chi_dir_info(store, &info));
	assert_int_equal(info.known, 0);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

static void put_alike(struct chi_dir *store)
{
	for (unsigned i = 0; i < 40; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_COUNTS};
		put.record.counts = (struct chi_counts){3 + i % 7, i % 5, 2 + i % 11, 0};
		help_put(store, &put);
	}
}

/* From each statistic to each other: the same as a store that had it from the beginning. */
CASE(test_another_statistic)
{
	static const enum chi_statistic kinds[] = {CHI_STATISTIC_CONTROL, CHI_STATISTIC_SCORE,
						   CHI_STATISTIC_EVAL, CHI_STATISTIC_OUTCOME,
						   CHI_STATISTIC_CONTROL};
	uint64_t changed;
	struct chi_dir *store = help_store("another", kinds[0]);
	put_alike(store);
	for (size_t k = 1; k < CHI_COUNT(kinds); k++) {
		size_t len;
		size_t len2;
		struct chi_dir *fresh = help_store("fresh", kinds[k]);
		ok(chi_dir_set_statistic(store, kinds[k], NULL, &changed, &fault));
		ok(help_verify(store, NULL));
		assert_int_equal(chi_dir_statistic(store), kinds[k]);
		chi_dir_close(store);
		store = help_open(help_path("another"), CHI_STORE_DAEMON);
		assert_int_equal(chi_dir_statistic(store), kinds[k]);
		put_alike(fresh);
		if (kinds[k] == CHI_STATISTIC_OUTCOME || kinds[k] == CHI_STATISTIC_SCORE) {
			ok(help_rescore(fresh, NULL, &changed, &fault));
		}
		char *text = help_dump(store, &len);
		char *again = help_dump(fresh, &len2);
		assert_string_equal(strstr(text, "\nfen\t"), strstr(again, "\nfen\t"));
		free(text);
		free(again);
		chi_dir_close(fresh);
	}
	chi_dir_close(store);
}

/* The one who is not alone keeps what is there; so does a performance store without games. */
CASE(test_another_statistic_is_refused)
{
	uint64_t changed;
	struct chi_dir *shared;
	struct chi_dir *store = help_store("company", CHI_STATISTIC_CONTROL);
	ok(chi_dir_share(store, &shared));
	assert_int_equal(chi_dir_set_statistic(store, CHI_STATISTIC_SCORE, NULL, &changed, &fault),
			 -CHI_EBUSY);
	chi_dir_close(shared);
	pid_t other = help_hold(open_company);
	assert_int_equal(chi_dir_set_statistic(store, CHI_STATISTIC_SCORE, NULL, &changed, &fault),
			 -CHI_EBUSY);
	help_kill(other);
	assert_int_equal(chi_dir_set_statistic(store, 77, NULL, &changed, &fault), -CHI_EINVAL);
	assert_int_equal(chi_dir_statistic(store), CHI_STATISTIC_CONTROL);
	ok(chi_dir_set_statistic(store, CHI_STATISTIC_SCORE, NULL, &changed, &fault));
	chi_dir_close(store);
}

/* ---- Failing media, killed processes -------------------------------------------------------- */

CASE(test_full_disk)
{
	struct chi_dir *store = help_store("disk", CHI_STATISTIC_CONTROL);
	help_fill(store, keys, MANY / 2);
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	struct rlimit old;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	/* Within a write, which is cut short there. */
	struct rlimit tight = {info.file_bytes + (4 << 20) + 100, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_write_begin(store, &write, &fault));
	char note[CHI_NOTE_MAX];
	memset(note, 'n', sizeof(note));
	for (size_t i = 0; i < MANY; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_NOTE};
		put.record.note = note;
		put.record.n_note = sizeof(note);
		ok(chi_write_put(write, &put, &result));
	}
	int rc = chi_write_commit(write, &fault);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc, -CHI_EFULL);
	struct chi_row row;
	assert_int_equal(help_get(store, &keys[0], &row), CHI_OK);
	assert_int_equal(help_get(store, &keys[MANY - 1], &row), CHI_NONE);
	ok(help_verify(store, NULL));
	help_put(store, &(struct chi_put_entry){.key = keys[MANY - 1]});
	assert_int_equal(help_count(store), MANY / 2 + 1);
	chi_dir_close(store);
	/* The map's end is the disk's end too. */
	struct chi_dir_options options = {.mode = CHI_STORE_WRITE, .map_bytes = 4 << 20};
	ok(chi_dir_open(help_path("disk"), &options, &store, &fault));
	ok(chi_write_begin(store, &write, &fault));
	rc = CHI_OK;
	for (size_t i = 0; i < MANY && rc == CHI_OK; i++) {
		struct chi_put_entry put = {.key = keys[i], .parts = CHI_PUT_NOTE};
		put.record.note = note;
		put.record.n_note = sizeof(note);
		rc = chi_write_put(write, &put, &result);
	}
	assert_int_equal(rc, -CHI_EFULL);
	assert_int_equal(chi_write_commit(write, &fault), -CHI_EFULL);
	assert_int_equal(help_count(store), MANY / 2 + 1);
	chi_dir_close(store);
}

CASE(test_killed_creation)
{
	unsigned whole = 0;
	for (int i = 0; i < 25; i++) {
		const char *path = help_path("killed");
		help_remove(path);
		pid_t pid = fork();
		if (pid == 0) {
			_exit(chi_dir_create(path, CHI_STATISTIC_CONTROL, CHI_KEEP_COUNTS, NULL) !=
			      CHI_OK);
		}
		/* The last one is left alone, so that one is whole however slow the disk is. */
		int status;
		if (i < 24) {
			unsigned most = i < 12 ? 4000000 : 100000000;
			struct timespec ts = {.tv_nsec = (long)help_below(most)};
			nanosleep(&ts, NULL);
			kill(pid, SIGKILL);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		int rc = help_try(path, CHI_STORE_WRITE);
		assert_true(rc == CHI_OK || rc == -CHI_ENOSTORE);
		whole += rc == CHI_OK;
		if (rc != CHI_OK) {
			ok(chi_dir_create(path, CHI_STATISTIC_CONTROL, CHI_KEEP_COUNTS, &fault));
		}
	}
	assert_true(whole > 0);
	print_message("# %u of 25 were whole, %u leftovers\n", whole, entries_beside());
}
