/* SPDX-License-Identifier: MIT */
/*
 * Damaged stores: bits, sectors, pages that are lost, exchanged, written to another place or of an
 * older state, and meta pages. Of each everything is asked that can be asked, in a child, as a
 * damaged page may end it. An answer is right, an error, or false; and verify must not say "sound"
 * where anything else than the right answers came.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"
#include "tests/faults/answers.h"
#include "tests/faults/hurt.h"
#include "tests/faults/judge.h"
#include "tests/store/help.h"

#define GAMES	    90
#define KINDS_MAX   20
#define CRASHES	    8 /* of one store: then it is no use to go on */
#define RECORDS_MAX 20000

static struct seed seed;
static struct topics topics;

static struct hurt_image images[COMMITS];

/* What the child of a store says; shared with it. */
static struct outcome {
	struct answers answers;
	bool opened;
	bool sound; /* as verify has it */
	/* Of a repair: */
	bool saved;
	struct chi_repair_result result;
	unsigned lost; /* records that are not there, or are not as they were */
} * outcome;

static struct answers right;
static struct stored stored[RECORDS_MAX];
static size_t n_stored;

/* ---- The store ---------------------------------------------------------------------------- */

static struct chi_client *open_store(const char *path, bool writable)
{
	struct chi_options options = {CHI_OPTIONS_INIT, .writable = writable};
	struct chi_client *client = NULL;
	return chi_open(path, &options, &client, NULL) == CHI_OK ? client : NULL;
}

/* Keeps the file as it is. */
static void keep_image(const char *dir)
{
	char path[1000];
	struct stat st;
	free(images[COMMITS - 1].bytes);
	memmove(images + 1, images, (COMMITS - 1) * sizeof(images[0]));
	(void)snprintf(path, sizeof(path), "%s/data.mdb", dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	images[0].len = (size_t)st.st_size;
	images[0].bytes = malloc(images[0].len);
	assert_non_null(images[0].bytes);
	assert_int_equal(pread(fd, images[0].bytes, images[0].len, 0), images[0].len);
	close(fd);
}

/* The games number `from` up to `to` of the collection, as one source. */
static void import(const char *dir, const char *text, unsigned from, unsigned to)
{
	struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD,
					     .threads = 1};
	struct chi_import *games = NULL;
	unsigned n = 0;
	const char *begin = text;
	const char *end = text;
	for (; n < to && (end = strstr(end, "[Event \"")) != NULL; n++) {
		begin = n == from ? end : begin;
		end++;
	}
	end = strstr(end, "[Event \"");
	(void)snprintf(options.source, sizeof(options.source), "part %u", from);
	ok(chi_import_open(dir, NULL, CHI_STATISTIC_OUTCOME, &options, &games, &fault));
	ok(chi_import_feed(games, begin, (size_t)(end - begin)));
	ok(chi_import_commit(games, NULL));
	chi_import_close(games);
}

static char *read_games(void)
{
	char path[1000];
	(void)snprintf(path, sizeof(path), "%s/pgn/games_300.pgn", getenv("CHISTORE_TEST_DATA"));
	FILE *file = fopen(path, "re");
	char *text = calloc(1, 1 << 20);
	assert_true(file != NULL && text != NULL);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 1000);
	(void)fclose(file);
	return text;
}

/* Keys of the store to ask for and to write to. */
static void choose_topics(struct chi_client *client)
{
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				     .order = CHI_ORDER_POSITION};
	struct chi_rows *iter = NULL;
	const struct chi_row *row;
	struct chi_info info;
	ok(chi_key_from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 56,
			    &topics.keys[0], &fault));
	ok(chi_key_play(&topics.keys[0], 0x031c /* e2e4 */, &topics.keys[1]));
	topics.n_keys = 2;
	ok(chi_scan_open(client, &spec, &iter));
	for (unsigned i = 0; chi_scan_next(iter, &row, NULL) == CHI_OK; i++) {
		if (i % 211 == 7 && topics.n_keys < 28) {
			topics.keys[topics.n_keys++] = row->key;
		}
	}
	chi_rows_close(iter);
	while (topics.n_keys < CHI_COUNT(topics.keys)) {
		topics.keys[topics.n_keys++] = help_key(); /* not stored */
	}
	ok(chi_store_info(client, &info));
	topics.last_game = (uint32_t)info.last_game;
}

static void put_records(struct chi_client *client)
{
	static const chi_move pv[] = {0x031c};
	struct chi_eval eval = {.engine = "Gull 3", .engine_len = 6, .depth = 20, .score = 35};
	char note[3000] = "one of our own";
	memset(note + strlen(note), '.', sizeof(note) - strlen(note));
	for (unsigned i = 0; i < 20; i++) {
		struct chi_put_entry put = {.key = topics.keys[i],
					    .parts = CHI_PUT_NOTE | CHI_PUT_EVALS,
					    .record = {.note = note,
						       .n_note = i == 5 ? sizeof(note) : 14,
						       .evals = &eval,
						       .n_evals = 1}};
		eval.pv = i == 0 ? pv : NULL;
		eval.n_pv = i == 0;
		ok(chi_put(client, &put, 1, CHI_ASYNC, NULL));
	}
	ok(chi_flush(client));
}

static void fill_queue(struct chi_client *client)
{
	struct chi_key keys[200];
	for (size_t i = 0; i < CHI_COUNT(keys); i++) {
		keys[i] = help_key();
	}
	ok(chi_queue_add(client, keys, CHI_COUNT(keys), 3, NULL));
	for (unsigned i = 0; i < 3; i++) {
		struct chi_queue_take_spec take = {CHI_QUEUE_TAKE_SPEC_INIT,
						   .holder = "an analyser",
						   .lease_ms = CHI_QUEUE_LEASE_MAX, .limit = 10};
		struct chi_queue_lease lease;
		ok(chi_queue_take(client, &take, &lease));
	}
}

static void change_names(struct chi_client *client)
{
	struct chi_name_change changes[6];
	char numbers[12][8];
	for (unsigned i = 0; i < 6; i++) {
		(void)snprintf(numbers[2 * i], 8, "#%u", 2 * i + 1);
		(void)snprintf(numbers[2 * i + 1], 8, "#%u", 2 * i + 2);
		changes[i] =
			(struct chi_name_change){.action = i < 3 ? CHI_NAME_JOIN : CHI_NAME_FIDE,
						 .kind = CHI_NAME_PLAYER,
						 .name = numbers[2 * i],
						 .to = i < 3 ? numbers[2 * i + 1] : NULL,
						 .fide = i < 3 ? 0 : 1000 + i};
	}
	ok(chi_names_change(client, changes, 6, false, NULL, NULL, NULL));
}

/* In several commits, so that pages were used for something else before. */
static void make_store(void)
{
	_cleanup_(chi_freep) char *text = read_games();
	const char *dir = help_path("good");
	for (unsigned i = 0; i < 3; i++) {
		import(dir, text, i * GAMES / 3, (i + 1) * GAMES / 3);
		keep_image(dir);
	}
	struct chi_client *client = open_store(dir, true);
	assert_non_null(client);
	choose_topics(client);
	put_records(client);
	fill_queue(client);
	keep_image(dir);
	change_names(client);
	for (unsigned i = 0; i < 12; i++) {
		char name[8];
		char filter[32];
		(void)snprintf(name, sizeof(name), "set%u", i);
		(void)snprintf(filter, sizeof(filter), "since %u", 1900 + 9 * i);
		ok(chi_gameset_make(client, name, filter, NULL));
	}
	keep_image(dir);
	put_records(client);
	chi_close(client);
	import(dir, text, GAMES, GAMES + 1);
	keep_image(dir);
}

/* ---- Judging ------------------------------------------------------------------------------ */

static void write_store(const char *dir, const uint8_t *bytes, size_t len)
{
	char path[1000];
	(void)snprintf(path, sizeof(path), "%s/data.mdb", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static unsigned asked_from;

static int ask_all(void *context)
{
	struct chi_client *client = open_store(context, false);
	outcome->opened = client != NULL;
	if (client != NULL) {
		answers_take(client, &topics, asked_from, &outcome->answers);
		chi_close(client);
	}
	return 0;
}

static int ask_verify(void *context)
{
	struct chi_verify_result result;
	struct chi_client *client = open_store(context, false);
	outcome->sound = client != NULL && chi_store_verify(client, NULL, NULL, &result) == CHI_OK;
	chi_close(client);
	return 0;
}

/* All answers of the store; one at which the process ended is -CHI_ECORRUPT. */
static void question_store(struct judge *judge, const char *dir)
{
	memset(outcome, 0, sizeof(*outcome));
	asked_from = 0;
	for (unsigned crashes = 0; judge_run(judge, ask_all, (void *)(uintptr_t)dir, false) < 0;) {
		/* No question may take for ever. */
		assert_null(strstr(judge->why.text, "signal 14"));
		struct store_answer *answer = &outcome->answers.answer[outcome->answers.n];
		answer->status = -CHI_ECORRUPT;
		asked_from = outcome->answers.n + 1;
		if (++crashes == CRASHES) {
			return; /* the rest is not answered */
		}
	}
	/* It reads without LMDB, and is not to be stopped by anything. */
	assert_int_equal(judge_run(judge, ask_verify, (void *)(uintptr_t)dir, false), 0);
}

/* What a repair saves, held against what was stored. */
static int ask_repair(void *context)
{
	static struct stored saved[RECORDS_MAX];
	const char *to = help_path("saved");
	struct chi_client *client = NULL;
	if (chi_store_repair(context, to, 0, NULL, NULL, &outcome->result, NULL) == CHI_OK) {
		client = open_store(to, false);
	}
	long n = client != NULL ? answers_stored(client, saved, RECORDS_MAX) : -1;
	chi_close(client);
	outcome->saved = n >= 0;
	for (size_t i = 0, j = 0; outcome->saved && i < n_stored; i++) {
		while (j < (size_t)n && help_key_compare(&saved[j].key, &stored[i].key) < 0) {
			j++;
		}
		outcome->lost += j == (size_t)n || saved[j].sum != stored[i].sum ||
				 help_key_compare(&saved[j].key, &stored[i].key) != 0;
	}
	return 0;
}

/* A repair that lost records, or has them as they were once, says so. */
static bool repair_is_silent(struct judge *judge, const char *dir)
{
	assert_int_equal(judge_run(judge, ask_repair, (void *)(uintptr_t)dir, false), 0);
	help_remove(help_path("saved"));
	const struct chi_repair_result *result = &outcome->result;
	return outcome->saved && outcome->lost > 0 && result->damaged == 0 &&
	       result->missing == 0 && !result->unsure;
}

struct tally {
	unsigned stores;
	unsigned right;	 /* all answers are, and verify says "sound" */
	unsigned warned; /* all are, and verify does not */
	unsigned errors; /* some are errors, none is false */
	unsigned wrong;	 /* stores with a false answer */
	unsigned missed; /* not all are right, and verify says "sound" */
	unsigned silent; /* a repair lost records without a word */
};

static void tell_false(const char *kind, size_t round, unsigned i)
{
	const struct store_answer *got = &outcome->answers.answer[i];
	print_message("# store %zu (%s): %s answers %d, right is %d\n", round, kind, got->call,
		      got->status, right.answer[i].status);
}

static void judge_store(struct tally *tally, const char *kind, size_t round)
{
	bool any_error = !outcome->opened;
	bool any_false = false;
	for (unsigned i = 0; outcome->opened && i < right.n; i++) {
		const struct store_answer *got = &outcome->answers.answer[i];
		if (got->call != NULL && answer_is_false(&right.answer[i], got)) {
			tell_false(kind, round, i);
			any_false = true;
		}
		any_error = any_error || got->status < 0;
	}
	tally->stores++;
	tally->wrong += any_false;
	tally->errors += any_error && !any_false;
	tally->right += !any_error && !any_false && outcome->sound;
	tally->warned += !any_error && !any_false && !outcome->sound;
	if (outcome->sound && (any_error || any_false)) {
		tally->missed++;
		print_message("# store %zu (%s): verify says that it is sound\n", round, kind);
	}
}

static void judge_repair(struct judge *judge, struct tally *tally, const char *dir,
			 const char *kind, size_t round)
{
	if (repair_is_silent(judge, dir)) {
		tally->silent++;
		print_message("# store %zu (%s): a repair loses %u records without a word\n", round,
			      kind, outcome->lost);
	}
}

static void print_tally(const char *name, const struct tally *tally)
{
	print_message("# figures: %-27s %5u stores: %u unharmed, %u told by verify alone, %u with "
		      "errors, %u with FALSE answers; %u taken for sound by verify, %u repaired "
		      "with silent loss\n",
		      name, tally->stores, tally->right, tally->warned, tally->errors, tally->wrong,
		      tally->missed, tally->silent);
}

static void take_right_answers(struct judge *judge)
{
	question_store(judge, help_path("good"));
	right = outcome->answers;
	assert_true(outcome->sound);
	struct chi_client *client = open_store(help_path("good"), false);
	assert_non_null(client);
	long n = answers_stored(client, stored, RECORDS_MAX);
	chi_close(client);
	assert_true(n > 1000 && n < RECORDS_MAX);
	n_stored = (size_t)n;
	for (unsigned i = 0; i < right.n; i++) {
		if (right.answer[i].status < 0) {
			print_message("# %s: %d\n", right.answer[i].call, right.answer[i].status);
		}
		assert_true(right.answer[i].status >= 0);
	}
}

/* A store that says something else, and is as sound as the first: the judge must see it. */
CASE(test_control)
{
	struct judge *judge = *state;
	struct tally tally = {0};
	const char *dir = help_path("control");
	assert_int_equal(mkdir(dir, 0700), 0);
	write_store(dir, images[0].bytes, images[0].len);
	struct chi_client *client = open_store(dir, true);
	assert_non_null(client);
	ok(chi_queue_settle(client, 0, CHI_QUEUE_DROP, NULL, 0, 0, NULL));
	chi_close(client);
	question_store(judge, dir);
	judge_store(&tally, "control", 0);
	assert_int_equal(tally.wrong, 1);
	assert_int_equal(tally.missed, 1);
}

CASE(test_damaged_stores)
{
	struct judge *judge = *state;
	struct tally tallies[KINDS_MAX] = {{0}};
	struct hurt hurt = {.pages = images[0].len / PAGE, .seed = &seed, .images = images};
	_cleanup_(chi_freep) uint8_t *bytes = hurt.bytes = malloc(images[0].len);
	/* help_path has room for a few. */
	_cleanup_(chi_freep) char *dir = strdup(help_path("hurt"));
	size_t rounds = seed_rounds(130);
	unsigned wrong = 0;
	assert_non_null(bytes);
	assert_int_equal(mkdir(dir, 0700), 0);
	for (size_t i = 0; i < rounds; i++) {
		const struct hurt_kind *kind = &hurt_kinds[i % hurt_n_kinds];
		memcpy(bytes, images[0].bytes, images[0].len);
		kind->hurt(&hurt);
		write_store(dir, bytes, images[0].len);
		question_store(judge, dir);
		judge_store(&tallies[i % hurt_n_kinds], kind->name, i);
		if (seed_below(&seed, 4) == 0) {
			judge_repair(judge, &tallies[i % hurt_n_kinds], dir, kind->name, i);
		}
	}
	for (size_t i = 0; i < hurt_n_kinds; i++) {
		print_tally(hurt_kinds[i].name, &tallies[i]);
		wrong += hurt_kinds[i].shows == HURT_SEEN ? tallies[i].wrong : 0;
		wrong += hurt_kinds[i].shows != HURT_ALIKE ? tallies[i].missed + tallies[i].silent
							   : 0;
	}
	assert_int_equal(wrong, 0);
}

static int set_up(void **state)
{
	struct judge *judge = judge_new();
	outcome = mmap(NULL, sizeof(*outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_true(outcome != MAP_FAILED);
	make_store();
	take_right_answers(judge);
	print_message("# figures: %u questions to a store of %zu pages\n", right.n,
		      images[0].len / PAGE);
	*state = judge;
	return 0;
}

int main(void)
{
	judge_in_memory();
	seed = seed_start("faults/damage");
	int failed = cases_run(set_up, NULL);
	help_clean();
	return failed;
}
