/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out once, at each place where a call of the library asks for some: the call says so
 * or does without, nothing crashes, nothing is left allocated or lying about, and the same call
 * succeeds afterwards on the same client. Every call of chistore.h is made; test_nomem_calls.py
 * sees to that. Argument: file, unix or tls.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/base/nomem.h"
#include "tests/client/lack.h"
#include "tests/client/lack_archive.h"
#include "tests/client/world.h"
#include "tests/store/sealed.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define MANY  300 /* positions of the large calls */

static const char games_text[] = "[White \"A\"]\n[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 1-0\n\n"
				 "[White \"B\"]\n[Result \"0-1\"]\n\n1. e4 c5 2. Nf9 0-1\n";

static const char dump_text[] =
	"chistore-dump\t1\nstatistic\toutcome\nbase\t0\t0\t0\t0\n"
	"fen\tchi2\twhite\tdraws\tblack\tother\tmoves\tplies\tevals\tline\t"
	"note\n8/8/8/8/8/8/8/K1k5 w - - 0 1\t-\t0\t0\t0\t0\t\t\t\t\ta note\n"
	"end\t1\t0\n";

static char *dump; /* the same with its checksum */
static size_t dump_len;

static struct world world;
static const char *address;
static struct chi_options options;
static struct chi_put_entry batch[MANY];
static struct chi_key keys[MANY];

/* Beside the store, and beside what a test made before it began. */
static char idle[96];
static char target[96];
static char published[96];
static size_t entries;

/* ---- What is tried -------------------------------------------------------------------------- */

static void open_and_close(struct chi_client *unused)
{
	(void)unused;
	struct chi_client *client = NULL;
	struct chi_fault fault = {""};
	if (!lack_went(chi_open(address, &options, &client, &fault), fault.text)) {
		assert_null(client);
		return;
	}
	(void)lack_went(chi_ping(client), chi_error(client));
	(void)lack_went(chi_on_progress(client, NULL, NULL), chi_error(client));
	/* The second carries a note that it does not name: a copy is made without it. */
	(void)lack_went(chi_put(client, batch, 2, CHI_ASYNC, NULL), chi_error(client));
	chi_close(client);
}

static void write_all(struct chi_client *client)
{
	struct chi_counts base = {.white = 1, .draws = 1, .black = 1};
	struct chi_put_result did;
	uint64_t n = 0;
	(void)lack_went(chi_put(client, batch, MANY, CHI_SYNC, &did), chi_error(client));
	(void)lack_went(chi_put(client, batch, 2, CHI_ASYNC, NULL), chi_error(client));
	(void)lack_went(chi_flush(client), chi_error(client));
	(void)lack_went(chi_store_rescore(client, &base, &n), chi_error(client));
	if (lack_went(chi_delete(client, keys + 10, MANY - 10, CHI_SYNC, &n), chi_error(client)) &&
	    !lack_heard()) {
		assert_int_equal(n, MANY - 10);
	}
}

static void walk(struct chi_client *client, uint8_t want)
{
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .want = want};
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	struct chi_cursor cursor;
	if (!lack_went(chi_scan_open(client, &spec, &iter), chi_error(client))) {
		return;
	}
	int status = CHI_OK;
	unsigned n = 0;
	while ((status = chi_scan_next(iter, &row, &record)) == CHI_OK) {
		n++;
		cursor = chi_rows_state(iter)->cursor;
		assert_memory_equal(&cursor.key, &row->key, sizeof(row->key));
	}
	if (lack_went(status, chi_error(client))) {
		assert_int_equal(n, 10);
		assert_false(chi_rows_state(iter)->mixed);
	}
	chi_rows_close(iter);
}

static int count_record(void *context, size_t i, const struct chi_record *record)
{
	size_t *n = context;
	assert_true(i == *n && (record == NULL || record->n_moves <= CHI_MOVES_MAX));
	*n += 1;
	return CHI_OK;
}

/* Servers do not know these calls. */
static void query(struct chi_client *client)
{
	static const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = "not player Nemo",
						  .want = CHI_GAMES_PGN, .want_total = true};
	struct chi_rows *games = NULL;
	const struct chi_game_row *row = NULL;
	struct chi_explored explore;
	struct chi_game_row whole;
	int status = chi_games_open(client, &spec, &games);
	if (status == -CHI_EUNSUPPORTED) {
		return;
	}
	if (lack_went(status, chi_error(client))) {
		while ((status = chi_games_next(games, &row)) == CHI_OK) {
			assert_non_null(strstr(row->pgn, "[White "));
		}
		if (lack_went(status, chi_error(client))) {
			assert_true(chi_rows_state(games)->has_total);
		}
		(void)chi_rows_state(games);
		(void)chi_unknown_name(client, 0);
		chi_rows_close(games);
	}
	status = chi_game_get(client, 1, &whole, NULL);
	(void)lack_went(status == CHI_NONE ? CHI_OK : status, chi_error(client));
	(void)lack_went(chi_game_heads(client, &(uint32_t){1}, 1, &whole), chi_error(client));
	(void)lack_went(chi_explore(client, keys + 1, "year 1900..", NULL, &explore),
			chi_error(client));
}

static void read_all(struct chi_client *client)
{
	struct chi_row rows[MANY];
	struct chi_record record;
	struct chi_explored explore;
	struct chi_info info;
	struct chi_game_id game;
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	uint64_t count = 0;
	size_t n = 0;
	bool mixed = false;
	if (lack_went(chi_probe(client, keys, MANY, rows), chi_error(client))) {
		assert_true(rows[0].found && rows[9].found && !rows[10].found);
	}
	size_t told = 0;
	if (lack_went(chi_get_many(client, keys, MANY, count_record, &told), chi_error(client))) {
		assert_int_equal(told, MANY);
	}
	if (lack_went(chi_get(client, keys, &record), chi_error(client))) {
		assert_string_equal(record.note, "a note");
		assert_int_equal(record.n_evals, 1);
		assert_string_equal(record.evals[0].engine, "E");
	}
	if (lack_went(chi_explore(client, keys + 1, NULL, NULL, &explore), chi_error(client))) {
		assert_true(explore.position.found);
		assert_int_equal(explore.n_moves, 1);
	}
	if (lack_went(chi_explore(client, keys + 100, NULL, NULL, &explore), chi_error(client))) {
		assert_false(explore.position.found);
	}
	if (lack_went(chi_scan_count(client, &spec, &count, &mixed), chi_error(client))) {
		assert_int_equal(count, 10);
	}
	struct chi_disk_check disk;
	(void)lack_went(chi_store_check_disk(client, &disk), chi_error(client));
	if (lack_went(chi_store_info(client, &info), chi_error(client))) {
		assert_int_equal(info.positions, 10);
	}
	bool changed = false;
	if (lack_went(chi_store_changed(client, &changed), chi_error(client))) {
		assert_false(changed);
	}
	struct chi_client *again = NULL;
	if (lack_went(chi_open_again(client, &again), chi_error(client))) {
		assert_non_null(again);
		assert_true(again != client);
	}
	chi_close(again);
	if (lack_went(chi_open_newest(client, &again), chi_error(client))) {
		assert_null(again);
	}
	if (lack_went(chi_game_ids(client, NULL, &game, 1, &n), chi_error(client))) {
		assert_int_equal(n, 0);
	}
	for (uint8_t want = CHI_WANT_KEYS; want <= CHI_WANT_RECORDS; want++) {
		walk(client, want);
	}
	query(client);
}

static bool knows(struct chi_prober *prober, int status)
{
	return lack_went(status, chi_prober_error(prober));
}

static void prefetch(struct chi_prober *prober)
{
	struct chi_row out;
	uint64_t tickets[MANY] = {0};
	(void)knows(prober, chi_prober_prefetch(prober, keys, 1, &tickets[0]));
	(void)knows(prober, chi_prober_prefetch(prober, keys + 1, 1, &tickets[1]));
	(void)knows(prober, chi_prober_collect(prober, tickets[1], &out));
	if (knows(prober, chi_prober_collect(prober, tickets[0], &out)) && !lack_heard()) {
		assert_true(out.found);
	}
	if (knows(prober, chi_prober_prefetch(prober, keys, MANY, tickets))) {
		for (size_t i = 0; i < CHI_PREFETCH_MAX; i += 5) {
			(void)knows(prober, chi_prober_collect(prober, tickets[i], &out));
		}
	}
	bool moved = true;
	if (knows(prober, chi_prober_follow(prober, &moved))) {
		assert_false(moved);
	}
	chi_prober_release(prober);
	chi_prober_drop(prober);
}

static void use_prober(struct chi_client *client)
{
	static const struct chi_board board = {.white = 1,
					       .black = UINT64_C(1) << 63,
					       .kings = 1 | UINT64_C(1) << 63,
					       .en_passant = -1};
	static struct chi_row many[MANY];
	struct chi_prober *prober = NULL;
	struct chi_row out;
	if (!lack_went(chi_prober_open(client, &world_patience, &prober), chi_error(client))) {
		assert_null(prober);
		return;
	}
	if (knows(prober, chi_prober_key(prober, keys, &out))) {
		assert_true(out.found);
	}
	(void)knows(prober, chi_prober_board(prober, &board, &out));
	if (knows(prober, chi_prober_many(prober, keys, MANY, many))) {
		assert_true(many[9].found && !many[10].found);
	}
	prefetch(prober);
	chi_prober_close(prober);
}

static void note(void *context, const struct chi_import_note *said)
{
	(void)context;
	assert_non_null(said->text);
}

static bool import(enum chi_import_kind kind, enum chi_statistic create, const char *to,
		   const char *text, size_t len)
{
	struct chi_import_options how = {CHI_IMPORT_OPTIONS_INIT, .kind = kind, .report = note,
					 .memory = 16 << 20, .threads = 2};
	struct chi_import_result did;
	struct chi_import *games = NULL;
	struct chi_fault fault = {""};
	/* A server may not have seen yet that the last one was given up. */
	int status = CHI_OK;
	do {
		status = chi_import_open(to, &options, create, &how, &games, &fault);
	} while (status == -CHI_EBUSY && world.kind != WORLD_FILE);
	if (!lack_went(status, fault.text)) {
		assert_null(games);
		return false;
	}
	status = chi_import_file(games, "an input");
	for (size_t at = 0; status == CHI_OK && at < len; at += 50) {
		status = chi_import_feed(games, text + at, len - at < 50 ? len - at : 50);
	}
	if (status == CHI_OK) {
		status = chi_import_commit(games, &did);
	}
	/* All or nothing, and permanently. */
	if (!lack_went(status, chi_import_error(games))) {
		assert_int_equal(chi_import_commit(games, NULL), status);
	}
	chi_import_close(games);
	return status == CHI_OK;
}

/* A store in a directory, into the one at `address`; over a socket that is not possible. */
static void import_store(void)
{
	struct chi_import_options how = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_MERGE,
					 .skip_known = true, .memory = 16 << 20, .threads = 2};
	struct chi_import *games = NULL;
	struct chi_fault fault = {""};
	int status = CHI_OK;
	do {
		status = chi_import_open(address, &options, 0, &how, &games, &fault);
	} while (status == -CHI_EBUSY && world.kind != WORLD_FILE);
	if (!lack_went(status, fault.text)) {
		return;
	}
	status = chi_import_store(games, idle);
	assert_true(status < 0 || (status == CHI_NONE) == (world.kind != WORLD_FILE));
	if (status == CHI_OK) {
		status = chi_import_commit(games, NULL);
	}
	(void)lack_went(status == CHI_NONE ? CHI_OK : status, chi_import_error(games));
	chi_import_close(games);
}

static void import_all(struct chi_client *client)
{
	(void)import(CHI_IMPORT_ADD, 0, address, games_text, strlen(games_text));
	(void)import(CHI_IMPORT_SUBTRACT, 0, address, games_text, strlen(games_text));
	(void)import(CHI_IMPORT_MERGE, 0, address, dump, dump_len);
	(void)import(CHI_IMPORT_LOAD, 0, address, dump, dump_len);
	import_store();
	if (world.kind == WORLD_FILE) {
		bool done = import(CHI_IMPORT_ADD, CHI_STATISTIC_OUTCOME, target, games_text,
				   strlen(games_text));
		assert_int_equal(access(target, F_OK) == 0, done);
	}
	(void)lack_went(chi_ping(client), chi_error(client));
}

static void damage(void *context, const char *text)
{
	(void)context;
	fail_msg("damaged: %s", text);
}

/* `target` is there if the call succeeded, and else is not. */
static void made(int status, const char *text)
{
	assert_int_equal(access(target, F_OK) == 0, lack_went(status, text));
}

static void back_up(struct chi_client *client)
{
	made(chi_store_backup(client, target, CHI_BACKUP_STORE), chi_error(client));
}

static void repair(struct chi_client *client)
{
	(void)client;
	struct chi_repair_result saved;
	struct chi_fault fault = {""};
	int status = chi_store_repair(idle, target, 0, damage, NULL, &saved, &fault);
	made(status, fault.text);
}

static void set_statistic(struct chi_client *client)
{
	(void)client;
	uint64_t changed;
	struct chi_fault fault = {""};
	(void)lack_went(chi_store_set_statistic(idle, CHI_STATISTIC_SCORE, NULL, &changed, &fault),
			fault.text);
}

static void create(struct chi_client *client)
{
	(void)client;
	struct chi_fault fault = {""};
	made(chi_store_create(target, CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault), fault.text);
}

static void look_after(struct chi_client *client)
{
	struct chi_verify_result found;
	uint64_t before = 0;
	uint64_t after = 0;
	(void)lack_went(chi_store_verify(client, damage, NULL, &found), chi_error(client));
	(void)lack_went(chi_store_compact(client, &before, &after), chi_error(client));
}

static void publish(struct chi_client *client)
{
	(void)lack_went(chi_store_backup(client, published, CHI_BACKUP_PUBLISHED),
			chi_error(client));
}

/* ---- How ------------------------------------------------------------------------------------ */

struct part {
	const char *name;
	void (*use)(struct chi_client *client);
	bool file; /* directories only */
};

static const struct part parts[] = {
	{"open and close", open_and_close, false},
	{"write", write_all, false},
	{"read", read_all, false},
	{"prober", use_prober, false},
	{"import", import_all, false},
	{"names", lack_ask_names, true},
	{"gamesets", lack_use_gamesets, true},
	{"queue", lack_use_queue, true},
	{"create", create, true},
	{"look after", look_after, false},
	{"backup", back_up, false},
	{"repair", repair, true},
	{"set_statistic", set_statistic, true},
	{"publish", publish, false},
};

static size_t count_entries(void)
{
	DIR *dir = opendir(world.dir);
	size_t n = 0;
	assert_non_null(dir);
	while (readdir(dir) != NULL) {
		n++;
	}
	closedir(dir);
	return n;
}

/* Removes what a call made; nothing else may lie beside the store. */
static void tidy(void)
{
	if (access(target, F_OK) == 0) {
		world_remove_dir(target);
	}
	size_t more = access(published, F_OK) == 0;
	assert_int_equal(count_entries(), entries + more);
}

static struct chi_client *open_here(void)
{
	struct chi_client *client = NULL;
	struct chi_fault fault = {""};
	if (chi_open(address, &options, &client, &fault) != CHI_OK) {
		fail_msg("cannot open %s: %s", address, fault.text);
	}
	return client;
}

static int run(size_t failing, size_t *calls, const void *context)
{
	const struct part *part = context;
	size_t later = 0;
	struct chi_client *client = open_here();
	lack_begin(failing);
	part->use(client);
	int heard = lack_end(calls);
	tidy();
	lack_begin(0);
	part->use(client);
	if (lack_end(&later) != CHI_OK) {
		fail_msg("%s, allocation %zu: fails afterwards, too", part->name, failing);
	}
	chi_close(client);
	tidy();
	return heard;
}

static void fill(const char *store)
{
	struct chi_client *client = NULL;
	assert_int_equal(chi_open(store, &options, &client, NULL), CHI_OK);
	lack_begin(0);
	write_all(client);
	assert_int_equal(lack_end(&(size_t){0}), CHI_OK);
	chi_close(client);
}

static void prepare(void)
{
	static struct chi_eval eval = {.engine = "E", .engine_len = 1, .depth = 1, .score = 10};
	static struct chi_move_stat move = {.counts.white = 1};
	for (unsigned i = 0; i < MANY; i++) {
		keys[i] = world_key(i + 1);
		batch[i] = (struct chi_put_entry){
			.parts = CHI_PUT_COUNTS,
			.record = {.note = "x", .n_note = 1, .counts.white = i + 1}};
	}
	assert_int_equal(chi_key_from_fen(START, strlen(START), &keys[1], NULL), CHI_OK);
	assert_int_equal(chi_key_move(&keys[1], "e4", 2, &move.move, NULL), CHI_OK);
	for (unsigned i = 0; i < MANY; i++) {
		batch[i].key = keys[i];
	}
	batch[0].parts |= CHI_PUT_NOTE | CHI_PUT_EVALS;
	batch[0].record.note = "a note";
	batch[0].record.n_note = 6;
	batch[0].record.evals = &eval;
	batch[0].record.n_evals = 1;
	batch[1].parts |= CHI_PUT_MOVES | CHI_PUT_LINE;
	batch[1].record.moves = &move;
	batch[1].record.n_moves = 1;
	batch[1].record.line = &move.move;
	batch[1].record.n_line = 1;
}

/* A world with a store beside the one that is used, for what must not be in use. */
CASE(each_call)
{
	size_t heard = 0;
	world_make(&world, world_chosen(), CHI_STATISTIC_OUTCOME);
	chi_close(world.client);
	world.client = NULL;
	address = world.address;
	options = world_options(&world);
	snprintf(idle, sizeof(idle), "%s/idle", world.dir);
	snprintf(target, sizeof(target), "%s/target", world.dir);
	snprintf(published, sizeof(published), "%s/published", world.dir);
	assert_int_equal(chi_store_create(idle, CHI_STATISTIC_OUTCOME, CHI_KEEP_GAMES, NULL),
			 CHI_OK);
	fill(idle);
	fill(address);
	entries = count_entries();
	for (size_t i = 0; i < CHI_COUNT(parts); i++) {
		if (world.kind == WORLD_FILE || !parts[i].file) {
			/* Over TLS most allocations are not of ours: more are tried. */
			heard += nomem_sweep(parts[i].name, run, &parts[i],
					     world.kind == WORLD_TLS ? 32 : 4);
		}
	}
	/* The harness sees allocations, and they matter. */
	assert_true(heard >= 5);
	world_free(&world);
}

/* What is computed without a store takes no memory at all. */
CASE(positions_and_moves)
{
	static const struct chi_board board = {.kings = 1, .white = 1, .en_passant = -1};
	struct chi_key key;
	struct chi_key next;
	struct chi_material material;
	struct chi_fault fault;
	char fen[CHI_FEN_SIZE];
	char text[CHI_MOVE_TEXT_SIZE];
	char digits[CHI_CHI2_TEXT_SIZE];
	struct chi_legal_move legal[20];
	size_t n_legal = 0;
	chi_move move = 0;
	uint16_t chi2 = 0;
	nomem_arm(1);
	int worst_of[] = {
		chi_key_from_fen(START, strlen(START), &key, &fault),
		chi_key_to_fen(&key, fen, &fault),
		chi_key_from_board(&board, &next, &fault),
		chi_key_control(&key, &chi2),
		chi_key_move(&key, "e4", 2, &move, &fault),
		chi_key_play(&key, move, &next),
		chi_key_uci(&key, move, text),
		chi_key_san(&key, move, text),
		chi_key_moves(&key, CHI_MOVES_SAN, legal, CHI_COUNT(legal), &n_legal, NULL),
		chi_material_parse("KRPvKR", 6, &material, &fault),
		chi_chi2_parse("76.00", 5, &chi2),
	};
	size_t len = chi_chi2_print(chi2, digits);
	bool named = chi_statistic_name(1) != NULL && chi_name_kind_name(1) != NULL &&
		     chi_queue_state_name(CHI_QUEUE_WAITING) != NULL &&
		     chi_strerror(-CHI_ENOMEM) != NULL && chi_version() != NULL;
	size_t calls = nomem_disarm(NULL);
	for (size_t i = 0; i < CHI_COUNT(worst_of); i++) {
		assert_int_equal(worst_of[i], CHI_OK);
	}
	assert_int_equal(len, 5);
	assert_true(named);
	assert_int_equal(calls, 0);
}

int main(int argc, char **argv)
{
	if (!world_choose(argc, argv)) {
		return 0;
	}
	lack_of_openssl();
	prepare();
	dump = sealed(dump_text, &dump_len);
	return cases_run(NULL, NULL);
}
