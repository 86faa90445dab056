/* SPDX-License-Identifier: MIT */
/*
 * Whatever is asked, a directory and a server that serves it say the same: status, words and rows.
 * Requests are made by the tables of proto/, so an operation is covered by having one. And what one
 * call returned may be given to the next. Over connections that break, and where no games are kept,
 * it is the same. Argument: unix or tls.
 */
#include <stdio.h>
#include <string.h>

#include "client/core/pages.h"
#include "ops/op.h"
#include "tests/base/cases.h"
#include "tests/client/relay.h"
#include "tests/client/world.h"
#include "tests/proto/sample.h"
#include "proto/operations.h"

#define ROUNDS	   6000u
#define CUT_ROUNDS 1500u

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/* Room for any result. */
#define RESULT_SIZE 1024

static const char *const filters[] = {
	NULL,
	"",
	"player A",
	"white B year 2001",
	"not result 1-0",
	"player Zzyzx",
	"eco",
	"since 2000 elo 2000..",
	"moves e4 e5",
	"in nowhere",
	"in mine",
	"year 1800..1900",
	"has \"Pe4\" white B",
};

static const char *const patterns[] = {NULL,	      "",	  "has \"Pe4\"", "to-move white",
				       "has \"Pe9\"", "year 2001"};

static void import_games(const struct world *world)
{
	static const char *const players[] = {"Anderssen, Adolf", "B", "C, D", "Andersen, Adolf",
					      "player A"};
	static const char *const lines[] = {"1. e4 e5 2. Nf3", "1. e4 e5 2. Nf3", "1. d4",
					    "1. c4 e5"};
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	const struct chi_options way = world_options(world);
	struct chi_import *import = NULL;
	struct chi_import_result result;
	world_ok(world->client, chi_import_open(world->address, &way, (enum chi_statistic)0,
						&options, &import, NULL));
	for (unsigned i = 0; i < 300; i++) {
		char text[300];
		int len = snprintf(text, sizeof(text),
				   "[White \"%s\"]\n[Black \"%s\"]\n[Date \"%u\"]\n[Round \"%u\"]\n"
				   "[WhiteElo \"%u\"]\n[Result \"1-0\"]\n\n%s 1-0\n\n",
				   players[i % 5], players[i / 5 % 5], 1990 + i % 30, i,
				   1900 + i % 300, lines[i % 3]);
		assert_int_equal(chi_import_feed(import, text, (size_t)len), CHI_OK);
	}
	assert_int_equal(chi_import_commit(import, &result), CHI_OK);
	chi_import_close(import);
}

static const char *const names[] = {NULL, "", "a", "=C, D", "anderssen", "no one"};
static const char *const sets[] = {NULL, "", "mine", "won", "none", "a b"};
static const uint32_t limits[] = {0, 1, 2, 5, 100, CHI_NAMES_MAX, CHI_NAMES_MAX + 1};

/* The row of a field, NULL if there is none, and one time in ten. */
static const struct chi_member *numbered(const struct chi_message *type, uint32_t field)
{
	for (size_t i = 0; i < type->n; i++) {
		if (type->members[i].field == field) {
			return &type->members[i];
		}
	}
	return NULL;
}

static const struct chi_member *member_of(struct seed *seed, const struct chi_message *type,
					  const char *name)
{
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(type->descriptor, name);
	return field == NULL || seed_below(seed, 10) == 0 ? NULL : numbered(type, field->id);
}

static void set_text(struct seed *seed, const struct chi_message *type, const char *name,
		     const char *const *texts, size_t n, void *request)
{
	const struct chi_member *member = member_of(seed, type, name);
	if (member != NULL && member->kind == CHI_STRING) {
		memcpy((uint8_t *)request + member->at, &texts[seed_below(seed, n)],
		       sizeof(*texts));
	}
}

/* Little-endian, as all machines that the tests run on. */
static void set_number(struct seed *seed, const struct chi_message *type, const char *name,
		       uint64_t number, void *request)
{
	const struct chi_member *member = member_of(seed, type, name);
	if (member != NULL && member->kind == CHI_NUMBER) {
		memcpy((uint8_t *)request + member->at, &number, member->size);
	}
}

/* Fields that mean something: what is drawn at random nearly never does. */
static void set_fields(struct seed *seed, const struct chi_message *type, void *request)
{
	uint64_t limit = limits[seed_below(seed, CHI_COUNT(limits))];
	set_text(seed, type, "filter", filters, CHI_COUNT(filters), request);
	set_text(seed, type, "games", filters, CHI_COUNT(filters), request);
	set_text(seed, type, "pattern", patterns, CHI_COUNT(patterns), request);
	set_text(seed, type, "wanted", names, CHI_COUNT(names), request);
	set_text(seed, type, "name", sets, CHI_COUNT(sets), request);
	set_number(seed, type, "limit", limit, request);
	set_number(seed, type, "after", seed_below(seed, 8), request);
	set_number(seed, type, "least", 60, request);
}

/* ---- What was tried ------------------------------------------------------------------------ */

/* Of each operation, how many requests were answered and how many refused. */
static struct {
	unsigned good;
	unsigned refused;
} tried[CHI_OP_COUNT_OF_OPS];

static void count_one(enum chi_op op, int status)
{
	tried[op].good += status >= 0;
	tried[op].refused += status < 0;
}

/* Those that have a way of their own in the library, each with what tries it on every address. */
static const char *const elsewhere[CHI_OP_COUNT_OF_OPS] = {
	[CHI_OP_HELLO] = "chi_open: client peer",
	[CHI_OP_PING] = "chi_ping: client calls",
	[CHI_OP_CREDIT] = "of a scan on its way: client answers",
	[CHI_OP_CANCEL] = "of one that is closed: client answers",
	[CHI_OP_BACKUP] = "chi_store_backup: client whole",
	[CHI_OP_VERIFY] = "chi_store_verify: client whole",
	[CHI_OP_COMPACT] = "chi_store_compact: client whole",
	[CHI_OP_IMPORT] = "chi_import_open: client import_repeat",
	[CHI_OP_IMPORT_DATA] = "chi_import_feed: client import_repeat",
	[CHI_OP_IMPORT_END] = "chi_import_commit: client import_repeat",
	[CHI_OP_OUTCOME] = "of an import that broke: client import_repeat",
};

/* Those in whose requests nothing can be wrong but how long they are. */
static bool cannot_fail(enum chi_op op)
{
	return op == CHI_OP_INFO || op == CHI_OP_CHECK_DISK || op == CHI_OP_RESCORE ||
	       op == CHI_OP_GAME_IDS || op == CHI_OP_GET_GAME || op == CHI_OP_GET_HEADS;
}

static const char *flaw_of(enum chi_op op)
{
	bool is_tried = tried[op].good + tried[op].refused > 0;
	if (is_tried != (elsewhere[op] == NULL)) {
		return is_tried ? "is tried here, too" : "was not tried";
	}
	if (is_tried && tried[op].good == 0) {
		return "was never answered";
	}
	if (is_tried && (tried[op].refused == 0) != cannot_fail(op)) {
		return cannot_fail(op) ? "can be refused" : "was never refused";
	}
	return NULL;
}

/* ---- Questions ------------------------------------------------------------------------------ */

static int open_rows(struct chi_client *client, enum chi_op op, const void *request,
		     struct chi_row_pages *rows)
{
	int status = chi_client_settle(client, chi_client_begin(client));
	return status == CHI_OK ? chi_pages_begin(client, op, request, rows) : status;
}

static void close_rows(struct chi_client *client, struct chi_row_pages *rows)
{
	chi_pages_end(client, rows);
	(void)chi_client_end(client, CHI_OK);
}

/* Those of a scan are of several kinds. */
static bool same_rows(const struct chi_row_pages *rows, const void *request, const void *x,
		      const void *y)
{
	if (rows->op != CHI_OP_SCAN) {
		return same_message(rows->list->type, x, y);
	}
	uint8_t want = ((const struct chi_scan_request *)request)->spec.want;
	const struct chi_scan_page a = {.want = (enum chi_want)want, .rows = x, .n = 1};
	const struct chi_scan_page b = {.want = (enum chi_want)want, .rows = y, .n = 1};
	return same_message(&chi_scan_result, &a, &b);
}

/* One by one, as far as both go; how it ends. */
static int rows_are_the_same(struct chi_client *a, struct chi_client *b, enum chi_op op,
			     const void *request)
{
	struct chi_row_pages here;
	struct chi_row_pages there;
	int status = open_rows(a, op, request, &here);
	assert_int_equal(open_rows(b, op, request, &there), status);
	while (status == CHI_OK) {
		const void *x = NULL;
		const void *y = NULL;
		status = chi_pages_next(a, &here, &x);
		assert_int_equal(chi_pages_next(b, &there, &y), status);
		assert_true(status != CHI_OK || same_rows(&here, request, x, y));
	}
	assert_string_equal(chi_error(a), chi_error(b));
	close_rows(a, &here);
	close_rows(b, &there);
	return status;
}

static int ask_all(struct chi_client *client, enum chi_op op, const void *request, void *out)
{
	return chi_pages_all(client, chi_client_begin(client), op, request, out);
}

static int call_once(struct chi_client *client, enum chi_op op, const void *request, void *out)
{
	int status = chi_client_settle(client, chi_client_begin(client));
	status = status == CHI_OK ? chi_client_call(client, op, request, out) : status;
	return chi_client_answer(client, status);
}

/* Games and positions that are there, now and then. */
static void set_numbers(struct seed *seed, enum chi_op op, void *request)
{
	if (op == CHI_OP_GET_GAME) {
		struct chi_game_request *asked = request;
		asked->number = 1 + (uint32_t)seed_below(seed, 400);
	} else if (op == CHI_OP_EXPLORE && seed_below(seed, 4) > 0) {
		struct chi_explore_request *asked = request;
		asked->key = (struct chi_key){0};
		asked->fen = START;
	} else if ((op == CHI_OP_SCAN || op == CHI_OP_COUNT) && seed_below(seed, 4) > 0) {
		struct chi_scan_request *asked = request;
		asked->material = NULL;
		asked->spec.filter = (struct chi_filter){.games_min = seed_below(seed, 3)};
		asked->spec.after.set = false;
		asked->spec.chi2_min = 0;
		asked->spec.chi2_max = CHI_CHI2_MAX;
	} else if (op == CHI_OP_GET_HEADS) {
		static uint32_t numbers[3];
		struct chi_heads_request *asked = request;
		for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
			numbers[i] = (uint32_t)seed_below(seed, 400);
		}
		*asked = (struct chi_heads_request){numbers, seed_below(seed, 4)};
	}
}

static bool is_question(enum chi_op op)
{
	return chi_query_ops_of(op) != NULL || chi_op_row_of(op)->answer != NULL;
}

/* A server names the entry at fault in a field, which its client puts before the words. */
static const char *words_of(const struct chi_client *client)
{
	const char *words = chi_error(client);
	unsigned entry = 0;
	int len = 0;
	return sscanf(words, "entry %u: %n", &entry, &len) == 1 && len > 0 ? words + len : words;
}

/* ---- Broken connections --------------------------------------------------------------------- */

static bool cutting;
static unsigned cuts[CHI_OP_COUNT_OF_OPS][2]; /* that came, by their way */

/* The answer to the next request is cut somewhere, or the request itself. What changes are answered
 * with is short. */
static void cut_somewhere(struct seed *seed, enum chi_op op)
{
	if (cutting) {
		enum relay_way way = seed_below(seed, 2) == 0 ? TO_SERVER : TO_CLIENT;
		uint64_t bits = way == TO_SERVER ? 9 : is_question(op) ? 14 : 6;
		relay_cut(way, (long)seed_below(seed, UINT64_C(1) << seed_below(seed, bits)), 1);
	}
}

/* One that was not waited for may be lost with its connection, and the next one says so. */
static void wait_for_write(enum chi_op op, void *request)
{
	if (cutting && op == CHI_OP_PUT) {
		((struct chi_put_request *)request)->durability = CHI_SYNC;
	} else if (cutting && op == CHI_OP_DELETE) {
		((struct chi_delete_request *)request)->durability = CHI_SYNC;
	}
}

static void count_cut(enum chi_op op)
{
	if (cutting && relay_was_cut()) {
		cuts[op][atomic_load(&relay.way)]++;
	}
}

/* A client adds to the words of a write that was on its way when its connection broke. */
static void words_are_the_same(const struct chi_client *a, const struct chi_client *b)
{
	const char *x = words_of(a);
	const char *y = words_of(b);
	const char *end = cutting ? strstr(y, "; the write may or may not have happened") : NULL;
	if (end != NULL) {
		assert_memory_equal(x, y, (size_t)(end - y));
	} else {
		assert_string_equal(x, y);
	}
}

/* What is not known any more of a change that was done before, and of a walk that went on. */
static void forget_what_a_cut_takes(enum chi_op op, void *here, void *there)
{
	if (op == CHI_OP_COUNT) {
		((struct chi_counted *)there)->mixed = ((struct chi_counted *)here)->mixed;
	} else if (op == CHI_OP_CHANGE_NAMES) {
		((struct chi_names_done *)there)->n_refused = 0;
		((struct chi_names_done *)here)->n_refused = 0;
	}
}

/* What the clients may tell differently: of threads, and of leases, which end at a time of a clock.
 */
static void results_are_the_same(enum chi_op op, void *here, void *there)
{
	if (op == CHI_OP_INFO) {
		/* A thread of the server may have taken one more in between. */
		((struct chi_info *)here)->readers = ((struct chi_info *)there)->readers;
	}
	if (op == CHI_OP_QUEUE_TAKE) {
		assert_int_equal(((struct chi_queue_lease *)here)->n,
				 ((struct chi_queue_lease *)there)->n);
	} else {
		assert_true(same_message(chi_operation_of(op)->result, here, there));
	}
}

/* A random request; how both answered it. Of a change they have stores of their own. */
static int ask_both(struct seed *seed, struct chi_client *a, struct chi_client *b, enum chi_op op)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	chi_arena_init(&arena, 1 << 20);
	const struct chi_operation *operation = chi_operation_of(op);
	const struct chi_query_ops *query = chi_query_ops_of(op);
	void *request = chi_arena_array(&arena, 1, operation->request_size);
	_Alignas(max_align_t) uint8_t here[RESULT_SIZE];
	_Alignas(max_align_t) uint8_t there[RESULT_SIZE];
	sample_message(seed, &arena, operation->request, request);
	set_fields(seed, operation->request, request);
	set_numbers(seed, op, request);
	wait_for_write(op, request);
	if (op == CHI_OP_SCAN) {
		/* It is never a list. */
		cut_somewhere(seed, op);
		int status = rows_are_the_same(a, b, op, request);
		count_cut(op);
		return status;
	}
	int (*const ask)(struct chi_client *, enum chi_op, const void *, void *) =
		query != NULL ? ask_all : call_once;
	int status = ask(a, op, request, here);
	cut_somewhere(seed, op);
	assert_int_equal(ask(b, op, request, there), status);
	count_cut(op);
	words_are_the_same(a, b);
	if (cutting) {
		forget_what_a_cut_takes(op, here, there);
	}
	results_are_the_same(op, here, there);
	for (size_t k = 0; k < 3; k++) {
		const char *x = chi_unknown_name(a, k);
		const char *y = chi_unknown_name(b, k);
		assert_string_equal(x != NULL ? x : "-", y != NULL ? y : "-");
	}
	if (query != NULL && query->resume != NULL) {
		(void)rows_are_the_same(a, b, op, request);
	}
	return status;
}

static enum chi_op op_of_round(unsigned i)
{
	return CHI_OP_HELLO + (enum chi_op)(i % (CHI_OP_COUNT_OF_OPS - 1));
}

static int make(void **state)
{
	static struct world world;
	*state = &world;
	world_make(&world, world_chosen(), CHI_STATISTIC_CONTROL);
	return 0;
}

static int unmake(void **state)
{
	world_free(*state);
	return 0;
}

CASE(both_say_the_same, make, unmake)
{
	struct world *world = *state;
	struct seed seed = seed_start("equal");
	struct chi_client *direct = NULL;
	import_games(world);
	world_ok(world->client, chi_gameset_make(world->client, "mine", "player B", NULL));
	world_ok(world->client, chi_gameset_make(world->client, "won", "in mine", NULL));
	assert_int_equal(chi_open(world->store, NULL, &direct, NULL), CHI_OK);
	for (unsigned i = 0; i < ROUNDS; i++) {
		enum chi_op op = op_of_round(i);
		if (is_question(op)) {
			count_one(op, ask_both(&seed, direct, world->client, op));
		}
	}
	chi_close(direct);
}

/* Two stores with the same games, one in this process and one behind a server, go through the same
 * changes. */
CASE(changes_are_answered_alike, make, unmake)
{
	struct world *world = *state;
	struct seed seed = seed_start("changes");
	struct world other;
	world_make(&other, WORLD_FILE, CHI_STATISTIC_CONTROL);
	import_games(world);
	import_games(&other);
	for (unsigned i = 0; i < ROUNDS; i++) {
		enum chi_op op = op_of_round(i);
		if (chi_op_row_of(op)->change != NULL) {
			count_one(op, ask_both(&seed, other.client, world->client, op));
		}
	}
	world_free(&other);
}

/* Over connections that break: each request is done once, and each row comes once and in order. */
CASE(cuts_change_nothing, relay_make, relay_drop)
{
	struct world *world = *state;
	struct seed seed = seed_start("cuts");
	struct chi_client *client = relay_open(0);
	struct chi_client *direct = NULL;
	struct world other;
	world_make(&other, WORLD_FILE, CHI_STATISTIC_CONTROL);
	import_games(world);
	import_games(&other);
	assert_int_equal(chi_open(world->store, NULL, &direct, NULL), CHI_OK);
	cutting = true;
	for (unsigned i = 0; i < CUT_ROUNDS; i++) {
		enum chi_op op = op_of_round(i);
		if (elsewhere[op] == NULL) {
			(void)ask_both(&seed, is_question(op) ? direct : other.client, client, op);
		}
	}
	cutting = false;
	for (enum chi_op op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		printf("# %s: cut %u times on its way, its answer %u times\n", chi_op_name(op),
		       cuts[op][TO_SERVER], cuts[op][TO_CLIENT]);
		bool is_cut = cuts[op][TO_SERVER] > 0 && cuts[op][TO_CLIENT] > 0;
		assert_true(is_cut == (elsewhere[op] == NULL));
	}
	chi_close(client);
	chi_close(direct);
	world_free(&other);
}

/* ---- Where no games are kept ---------------------------------------------------------------- */

/* The operation is refused by its name, answered, or either by what it is asked. */
static void is_refused_by_its_row(enum chi_op op, unsigned answered, unsigned refused)
{
	const struct chi_op_row *row = chi_op_row_of(op);
	bool needs = (row->flags & CHI_NEEDS_ARCHIVE) != 0;
	bool may_do_without = !needs || row->of_games != NULL;
	if ((answered > 0) != may_do_without || (refused > 0) != needs) {
		fail_msg("%s: %u answered, %u refused as it needs games", chi_op_name(op), answered,
			 refused);
	}
}

CASE(no_games_are_found_where_none_are_kept)
{
	struct seed seed = seed_start("without");
	struct world here;
	struct world there;
	struct chi_client *direct = NULL;
	unsigned answered[CHI_OP_COUNT_OF_OPS] = {0};
	unsigned refused[CHI_OP_COUNT_OF_OPS] = {0};
	world_make_keeping(&here, WORLD_FILE, CHI_STATISTIC_CONTROL, CHI_KEEP_COUNTS);
	world_make_keeping(&there, world_chosen(), CHI_STATISTIC_CONTROL, CHI_KEEP_COUNTS);
	assert_int_equal(chi_open(there.store, NULL, &direct, NULL), CHI_OK);
	for (unsigned i = 0; i < ROUNDS; i++) {
		enum chi_op op = op_of_round(i);
		if (elsewhere[op] != NULL) {
			continue;
		}
		struct chi_client *client = is_question(op) ? direct : here.client;
		int status = ask_both(&seed, client, there.client, op);
		const char *words = chi_error(client);
		answered[op] += status >= 0;
		refused[op] += status == -CHI_EUNSUPPORTED &&
			       strstr(words, "keeps no games") != NULL &&
			       strstr(words, chi_op_label(op)) != NULL;
	}
	for (enum chi_op op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		if (elsewhere[op] == NULL) {
			is_refused_by_its_row(op, answered[op], refused[op]);
		}
	}
	chi_close(direct);
	world_free(&there);
	world_free(&here);
}

/* ---- Single faults ------------------------------------------------------------------------- */

/* In a directory it was no syntax of a filter. */
CASE(no_utf8_is_invalid, make, unmake)
{
	struct world *world = *state;
	static const char filter[] = "player \xff";
	const struct chi_scan_spec scan = {CHI_SCAN_SPEC_INIT, .games = filter,
					   .chi2_max = CHI_CHI2_MAX};
	struct chi_client *clients[2] = {world->client};
	struct chi_stats_result stats;
	uint64_t n;
	assert_int_equal(chi_games_filter_check(filter, NULL), -CHI_EINVAL);
	assert_int_equal(chi_open(world->store, NULL, &clients[1], NULL), CHI_OK);
	for (size_t i = 0; i < CHI_COUNT(clients); i++) {
		world_refused(clients[i],
			      chi_stats_list(clients[i],
					     &(struct chi_stats_spec){CHI_STATS_SPEC_INIT,
								      .filter = filter},
					     &stats),
			      -CHI_EINVAL, "UTF-8");
		world_refused(clients[i], chi_scan_count(clients[i], &scan, &n, NULL), -CHI_EINVAL,
			      "UTF-8");
		world_refused(clients[i], chi_gameset_make(clients[i], "g", filter, &n),
			      -CHI_EINVAL, "UTF-8");
	}
	chi_close(clients[1]);
}

/* The position of a spec is a term of the filter, before the caller's. */
CASE(a_place_in_a_filter_is_the_callers, make, unmake)
{
	struct world *world = *state;
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(START, strlen(START), &key, NULL), CHI_OK);
	for (int i = 0; i < 2; i++) {
		const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = "year 2000 player",
						   .position = i > 0 ? &key : NULL};
		struct chi_rows *query;
		int status = chi_games_open(world->client, &spec, &query);
		world_refused(world->client, status, -CHI_ESYNTAX, "character 17");
	}
}

/* A walk through the tree of moves. */
CASE(answers_are_passed_on, make, unmake)
{
	struct world *world = *state;
	struct chi_explored explore;
	struct chi_key key;
	struct chi_fault fault;
	import_games(world);
	assert_int_equal(chi_key_from_fen(START, strlen(START), &key, &fault), CHI_OK);
	const struct chi_key *at = &key;
	unsigned plies = 0;
	do {
		const struct chi_key wanted = *at;
		world_ok(world->client, chi_explore(world->client, at, NULL, NULL, &explore));
		assert_memory_equal(&explore.position.key, &wanted, sizeof(wanted));
		at = explore.n_moves > 0 ? &explore.moves[0].child.key : NULL;
		plies++;
	} while (at != NULL && plies < 20);
	assert_true(plies >= 2);
}

/* After the others: an operation that none of them tried is not equal, but forgotten. */
CASE(every_operation_was_tried)
{
	unsigned flaws = 0;
	for (enum chi_op op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		const char *flaw = flaw_of(op);
		printf("# %s: %u answered, %u refused%s%s\n", chi_op_name(op), tried[op].good,
		       tried[op].refused, flaw != NULL ? ": " : "", flaw != NULL ? flaw : "");
		flaws += flaw != NULL;
	}
	assert_int_equal(flaws, 0);
}

WORLD_MAIN
