/* SPDX-License-Identifier: MIT */
/*
 * Questions about games over connections that break after any number of bytes: each game comes
 * once and in order. And servers that answer what no one asked.
 */
#include <stdio.h>
#include <string.h>

#include <stdatomic.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/relay.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

/* ---- Cuts -------------------------------------------------------------------------------- */

#define GAMES 400u
#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/* Of players "p0" to "p6", the first move by turns, with a comment that makes pages of it. */
static void import_games(const struct world *world)
{
	static const char *const moves[] = {"e4", "d4", "c4", "Nf3"};
	const struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = CHI_IMPORT_ADD};
	struct chi_import *import = NULL;
	struct chi_import_result result;
	static char comment[4000];
	static char text[sizeof(comment) + 200];
	memset(comment, 'x', sizeof(comment) - 1);
	assert_int_equal(chi_import_open(world->address, NULL, (enum chi_statistic)0, &options,
					 &import, NULL),
			 CHI_OK);
	for (unsigned i = 0; i < GAMES; i++) {
		int len = snprintf(text, sizeof(text),
				   "[White \"p%u\"]\n[Black \"q%u\"]\n[WhiteElo \"%u\"]\n"
				   "[Date \"%u\"]\n\n1. %s {%s} *\n\n",
				   i % 7, i, 2000 + i % 5, 1900 + i % 9, moves[i % 4], comment);
		assert_int_equal(chi_import_feed(import, text, (size_t)len), CHI_OK);
	}
	assert_int_equal(chi_import_commit(import, &result), CHI_OK);
	assert_int_equal(result.taken, GAMES);
	chi_import_close(import);
}

/* The rows' numbers; returns how many there are, and the total. */
static size_t ask(struct chi_client *client, const struct chi_game_spec *spec,
		  uint32_t numbers[GAMES], uint64_t *total)
{
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	size_t n = 0;
	int status = CHI_OK;
	world_ok(client, chi_games_open(client, spec, &query));
	while ((status = chi_games_next(query, &row)) == CHI_OK) {
		assert_true(n < GAMES);
		numbers[n++] = row->head.number;
		assert_int_equal(strlen(chi_rows_state(query)->games), 17);
		assert_true(spec->want < CHI_GAMES_PGN || row->pgn_len > 4000);
	}
	world_ok(client, status == CHI_NONE ? CHI_OK : status);
	assert_true(chi_rows_state(query)->has_total == spec->want_total);
	*total = chi_rows_state(query)->total;
	chi_rows_close(query);
	return n;
}

static void cut_query(struct chi_client *client, const struct chi_game_spec *spec, long bytes,
		      const uint32_t expected[GAMES], size_t n_expected)
{
	uint32_t numbers[GAMES];
	uint64_t total = 0;
	relay_cut(bytes % 2 == 0 ? TO_CLIENT : TO_SERVER, bytes, 2);
	size_t n = ask(client, spec, numbers, &total);
	assert_int_equal(n, n_expected);
	assert_memory_equal(numbers, expected, n * sizeof(*numbers));
	assert_true(!spec->want_total || total == GAMES / 4);
	(void)relay_was_cut();
}

CASE(queries_are_cut, relay_make, relay_drop)
{
	static const struct chi_game_spec specs[] = {
		{CHI_GAME_SPEC_INIT, .filter = "moves d4", .want_total = true,
		 .want = CHI_GAMES_PGN},
		{CHI_GAME_SPEC_INIT, .filter = "moves d4", .sort = CHI_GAMES_RATING,
		 .descending = true, .limit = 90, .want_total = true, .want = CHI_GAMES_PGN},
		{CHI_GAME_SPEC_INIT, .sort = CHI_GAMES_DATE, .limit = 300, .want = CHI_GAMES_PGN},
	};
	const struct world *world = *state;
	import_games(world);
	struct chi_client *client = relay_open(0);
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		uint32_t expected[GAMES];
		uint64_t total = 0;
		size_t n = ask(world->client, &specs[i], expected, &total);
		for (long bytes = 1; bytes < 2000000; bytes *= 4) {
			cut_query(client, &specs[i], bytes, expected, n);
			cut_query(client, &specs[i], bytes + 1, expected, n);
		}
	}
	chi_close(client);
}

CASE(single_questions_are_cut, relay_make, relay_drop)
{
	const struct world *world = *state;
	struct chi_key start;
	import_games(world);
	assert_int_equal(chi_key_from_fen(START, strlen(START), &start, NULL), CHI_OK);
	struct chi_client *client = relay_open(0);
	for (long bytes = 0; bytes < 30000; bytes += 1 + 2 * bytes) {
		struct chi_stats_result stats;
		struct chi_game_row row;
		struct chi_game game;
		struct chi_explored explore;
		relay_cut(TO_CLIENT, bytes, 1);
		world_ok(client, chi_stats_list(client,
						&(struct chi_stats_spec){CHI_STATS_SPEC_INIT,
									 .by = CHI_STATS_PLAYER},
						&stats));
		assert_int_equal(stats.n, 7 + GAMES);
		assert_string_equal(stats.groups[0].text, "p0");
		relay_cut(TO_CLIENT, bytes, 1);
		world_ok(client, chi_game_get(client, 9, &row, &game));
		assert_int_equal(game.n_plies, 1);
		assert_int_equal(game.head.number, 9);
		relay_cut(TO_CLIENT, bytes, 1);
		world_ok(client, chi_game_heads(client, &(uint32_t){9}, 1, &row));
		assert_int_equal(row.head.number, 9);
		relay_cut(TO_CLIENT, bytes, 1);
		world_ok(client, chi_explore(client, &start, "player p0", NULL, &explore));
		assert_int_equal(explore.n_moves, 4);
		assert_int_equal(explore.position.counts.other, (GAMES + 6) / 7);
		(void)relay_was_cut();
	}
	assert_int_equal(chi_game_get(client, 0, &(struct chi_game_row){0}, NULL), CHI_NONE);
	assert_int_equal(chi_game_get(client, GAMES + 1, &(struct chi_game_row){0}, NULL),
			 CHI_NONE);
	chi_close(client);
}

/* ---- Servers ------------------------------------------------------------------------------ */

/* What the next answer has in it; the client must not take it for one. */
static enum wrong {
	OTHER_GAME,
	NOT_WHOLE,
	MORE_THAN_ASKED,
	OTHER_KIND,
	NO_END,
	WRONGS
} wrong;

/* How often it was told to stop. */
static atomic_uint canceled;

static void answer_wrongly(struct server_conn *conn)
{
	static const struct chi_game_row rows[3] = {
		{.head.number = 8, .white = "a"}, {.head.number = 9}, {.head.number = 10}};
	static const struct chi_games_page page = {.games = rows, .n = 3};
	static const struct chi_stats_group groups[2] = {{.value = 1, .text = ""}};
	static const struct chi_stats_result stats = {.groups = groups, .n = 2};
	static const struct chi_heads heads = {.rows = rows, .n = 2};
	struct chi_game_found game = {.found = false};
	struct chi_request request;
	if (!server_greet(conn)) {
		return;
	}
	while (server_next(conn, &request)) {
		struct chi_response answer;
		memset(&answer, 0, sizeof(answer));
		answer.id = request.id;
		answer.op = request.op;
		answer.last = true;
		if (request.op == CHI_OP_CANCEL) {
			atomic_fetch_add(&canceled, 1);
			answer.op = CHI_OP_GAME_QUERY;
			answer.status = -CHI_ECANCELED;
		} else if (request.op == CHI_OP_GET_GAME) {
			game = (struct chi_game_found){.found = true,
						       .row = rows[wrong == OTHER_GAME ? 0 : 1]};
			answer.body = &game;
		} else if (request.op == CHI_OP_GET_HEADS) {
			answer.body = &heads;
		} else if (request.op == CHI_OP_GAME_QUERY && wrong == OTHER_KIND) {
			answer.op = CHI_OP_GET_GAME;
			answer.body = &game;
		} else if (request.op == CHI_OP_GAME_QUERY) {
			answer.body = &page;
			answer.last = wrong != NO_END;
		} else if (request.op == CHI_OP_STATS) {
			answer.body = &stats;
			answer.last = false;
			server_answer(conn, &answer);
			answer.last = true;
		}
		server_answer(conn, &answer);
	}
}

static void ask_wrongly(struct chi_client *client)
{
	struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .limit = 2};
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	struct chi_game_row one;
	struct chi_game_row heads[2];
	struct chi_game game;
	struct chi_stats_result stats;
	int status = CHI_OK;
	switch (wrong) {
	case OTHER_GAME:
	case NOT_WHOLE:
		status = chi_game_get(client, 9, &one, &game);
		world_refused(client, status, -CHI_EPROTO, "get_game is one to another");
		status = chi_game_heads(client, (const uint32_t[]){8, 10}, 2, heads);
		world_refused(client, status, -CHI_EPROTO, "get_heads is one to another");
		break;
	case OTHER_KIND:
		status = chi_games_open(client, &spec, &query);
		world_refused(client, status, -CHI_EPROTO, "game_query is one to get_game");
		break;
	default:
		world_ok(client, chi_games_open(client, &spec, &query));
		for (uint32_t number = 8; number < 10; number++) {
			world_ok(client, chi_games_next(query, &row));
			assert_int_equal(row->head.number, number);
			assert_string_equal(row->event, "");
			assert_string_equal(row->pgn, "");
		}
		if (wrong == MORE_THAN_ASKED) {
			assert_int_equal(chi_games_next(query, &row), CHI_NONE);
		}
		chi_rows_close(query);
		world_ok(client,
			 chi_stats_list(client,
					&(struct chi_stats_spec){CHI_STATS_SPEC_INIT,
								 .by = CHI_STATS_ECO, .limit = 3},
					&stats));
		assert_int_equal(stats.n, 3);
		break;
	}
}

CASE(wrong_answers)
{
	for (int i = 0; i < WRONGS; i++) {
		struct server server;
		wrong = (enum wrong)i;
		atomic_store(&canceled, 0);
		server_start(&server, answer_wrongly);
		struct chi_client *client = server_open(&server, LONG_MS);
		ask_wrongly(client);
		assert_int_equal(chi_ping(client), CHI_OK);
		assert_int_equal(atomic_load(&canceled), wrong == NO_END);
		chi_close(client);
		server_stop(&server);
	}
}

/* Lists that no request was for, each sent in one response. */
static const struct wrong_list {
	enum chi_op op;
	const char *says;
	union {
		struct chi_names names;
		struct chi_suspect_groups suspects;
		struct chi_gamesets gamesets;
		struct chi_twin_groups twins;
	};
} wrong_lists[] = {
	{CHI_OP_NAMES, "names is one to another",
	 .names = {.rows = (const struct chi_name_row[]){{.id = 8, .text = "a"},
							 {.id = 8, .text = "b"}},
		   .n = 2}},
	{CHI_OP_NAMES, "names is one to another",
	 .names = {.rows = (const struct chi_name_row[]){{.id = 7, .text = "a"}}, .n = 1}},
	{CHI_OP_SUSPECTS, "not a group",
	 .suspects = {.groups = (const struct chi_name_suspects[]){{.score = 60}}, .n = 1}},
	{CHI_OP_GAMESETS, "gamesets is one to another",
	 .gamesets = {.rows = (const struct chi_gameset_row[]){{.name = "b", .filter = ""}},
		      .n = 1}},
	{CHI_OP_TWINS, "twins is one to another",
	 .twins = {.groups =
			   (const struct chi_twin_group[]){
				   {.games = (const uint32_t[]){2, 3}, .n = 2},
				   {.games = (const uint32_t[]){1, 4}, .n = 2}},
		   .n = 2}},
};

static const struct wrong_list *sent;

static void send_wrong_list(struct server_conn *conn)
{
	struct chi_request request;
	if (server_greet(conn) && server_next(conn, &request)) {
		struct chi_response answer = {
			.id = request.id, .op = sent->op, .last = true, .body = &sent->names};
		server_answer(conn, &answer);
		server_wait_end(conn);
	}
}

static int ask_for_list(struct chi_client *client, enum chi_op op)
{
	const struct chi_names_spec names = {CHI_NAMES_SPEC_INIT, .kind = CHI_NAME_PLAYER,
					     .after = 7, .limit = 9};
	const struct chi_twin_spec twins = {CHI_TWIN_SPEC_INIT, .days = 0};
	union {
		struct chi_names names;
		struct chi_suspect_groups suspects;
		struct chi_gamesets gamesets;
		struct chi_twin_groups twins;
	} out;
	switch (op) {
	case CHI_OP_NAMES:
		return chi_names_list(client, &names, &out.names);
	case CHI_OP_SUSPECTS:
		return chi_suspects_list(client,
					 &(struct chi_suspects_spec){CHI_SUSPECTS_SPEC_INIT,
								     .kind = CHI_NAME_PLAYER,
								     .least = 60, .limit = 9},
					 &out.suspects);
	case CHI_OP_GAMESETS:
		return chi_gamesets_list(client, "a", &out.gamesets);
	default:
		return chi_twins_list(client, &twins, &out.twins);
	}
}

CASE(lists_of_other_requests)
{
	for (size_t i = 0; i < CHI_COUNT(wrong_lists); i++) {
		struct server server;
		sent = &wrong_lists[i];
		server_start(&server, send_wrong_list);
		struct chi_client *client = server_open(&server, LONG_MS);
		world_refused(client, ask_for_list(client, sent->op), -CHI_EPROTO, sent->says);
		chi_close(client);
		server_stop(&server);
	}
}

/* ---- Lists -------------------------------------------------------------------------------- */

#define RESPONSES 100u
#define GROUPS	  4000u

static void send_many_groups(struct server_conn *conn)
{
	static struct chi_stats_group groups[GROUPS];
	struct chi_request request;
	if (!server_greet(conn) || !server_next(conn, &request)) {
		return;
	}
	for (uint32_t i = 0; i < RESPONSES; i++) {
		struct chi_stats_result stats = {.groups = groups, .n = GROUPS};
		struct chi_response answer = {.id = request.id,
					      .op = CHI_OP_STATS,
					      .last = i + 1 == RESPONSES,
					      .body = &stats};
		for (uint32_t k = 0; k < GROUPS; k++) {
			groups[k] = (struct chi_stats_group){.value = i * GROUPS + k,
							     .text = "a player"};
		}
		server_answer(conn, &answer);
	}
	server_wait_end(conn);
}

/* They were copied at each doubling, and no copy was given back before the end. */
CASE(long_lists_fit_the_memory)
{
	struct server server;
	struct chi_stats_result stats;
	server_start(&server, send_many_groups);
	struct chi_client *client = server_open(&server, LONG_MS);
	world_ok(client, chi_stats_list(client,
					&(struct chi_stats_spec){CHI_STATS_SPEC_INIT,
								 .by = CHI_STATS_PLAYER},
					&stats));
	assert_int_equal(stats.n, RESPONSES * GROUPS);
	for (uint32_t i = 0; i < stats.n; i++) {
		assert_true(stats.groups[i].value == i);
	}
	assert_string_equal(stats.groups[stats.n - 1].text, "a player");
	chi_close(client);
	server_stop(&server);
}

int main(void)
{
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cases_run(NULL, NULL);
}
