/* SPDX-License-Identifier: MIT */
/*
 * What a session stores: the same as games put one by one, however the text is cut, with any number
 * of threads and any memory; and what is added can be taken out again, exactly.
 */
#include "tests/import/session.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "import/identity.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"
#include "tests/base/seed.h"
#include "tests/chess/pgn_free.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t *counter(struct chi_counts *counts, enum chi_result result)
{
	uint64_t *of[] = {&counts->white, &counts->draws, &counts->black, &counts->other};
	return of[result];
}

static int compare_moves(const void *a, const void *b)
{
	return (int)*(const chi_move *)a - (int)*(const chi_move *)b;
}

/* One position of a game, put by itself: its moves are looked for in the whole game. */
static void put_position(struct chi_write *write, const struct chi_pgn_game *game,
			 const struct chi_key *keys, size_t ply, size_t n)
{
	chi_move played[CHI_MOVES_MAX];
	struct chi_move_stat moves[CHI_MOVES_MAX];
	size_t n_moves = 0;
	for (size_t i = 0; i < n; i++) {
		bool new = memcmp(&keys[i], &keys[ply], sizeof(keys[i])) == 0;
		if (new &&i < ply) {
			return; /* done at the first visit */
		}
		for (size_t j = 0; new &&j < n_moves; j++) {
			new = played[j] != game->moves[i];
		}
		if (new) {
			played[n_moves++] = game->moves[i];
		}
	}
	for (size_t i = 0; i < ply; i++) {
		if (memcmp(&keys[i], &keys[ply], sizeof(keys[i])) == 0) {
			return; /* the last position of all, and not for the first time */
		}
	}
	qsort(played, n_moves, sizeof(played[0]), compare_moves);
	struct chi_ply_stat reached = {(uint16_t)ply, 1};
	struct chi_put_entry put = {.key = keys[ply], .parts = CHI_PUT_ADD};
	enum chi_result result = game->result;
	*counter(&put.record.counts, result) = 1;
	for (size_t i = 0; i < n_moves; i++) {
		moves[i] = (struct chi_move_stat){.move = played[i]};
		*counter(&moves[i].counts, result) = 1;
	}
	put.record.moves = moves;
	put.record.n_moves = n_moves;
	put.record.plies = &reached;
	put.record.n_plies = 1;
	struct chi_put_result done = {0};
	ok(chi_write_put(write, &put, &done));
}

static void put_game(struct chi_write *write, const struct chi_pgn_game *game, size_t max_ply,
		     struct chi_counts *base)
{
	static struct chi_key keys[CHI_PGN_PLIES_MAX + 1];
	static uint8_t scratch[CHI_IDENTITY_SIZE];
	size_t n = max_ply != 0 && max_ply < game->n_plies ? max_ply : game->n_plies;
	if (game->n_plies == 0) {
		return;
	}
	for (size_t i = 0; i <= n; i++) {
		chi_key_encode(&game->positions[i], &keys[i]);
	}
	struct chi_game_id entry = {.result = (uint8_t)game->result,
				    .max_ply = n < game->n_plies ? (uint16_t)n : 0};
	chi_identity_of_game(game, &keys[0], scratch, entry.id);
	int rc = chi_write_game_id(write, &entry);
	if (rc == CHI_NONE) {
		return;
	}
	ok(rc);
	(*counter(base, (enum chi_result)entry.result))++;
	for (size_t i = 0; i <= n; i++) {
		put_position(write, game, keys, i, n);
	}
}

/* A store made by puts alone. */
static void put_all(const char *name, const char *const *texts, size_t max_ply)
{
	struct chi_dir *store = help_store(name, CHI_STATISTIC_CONTROL);
	struct chi_write *write;
	struct chi_counts base = {0};
	ok(chi_write_begin(store, &write, &fault));
	for (; *texts != NULL; texts++) {
		_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = NULL;
		ok(chi_pgn_new(&pgn));
		size_t left = strlen(*texts);
		const char *at = *texts;
		bool finished = false;
		while (!finished) {
			const struct chi_pgn_game *game;
			finished = left == 0;
			if (finished) {
				chi_pgn_finish(pgn);
			}
			size_t n = finished ? 0 : chi_pgn_feed(pgn, at, left);
			at += n;
			left -= n;
			while (chi_pgn_next(pgn, &game) == CHI_OK) {
				put_game(write, game, max_ply, &base);
			}
		}
	}
	ok(chi_write_base(write, &base));
	ok(chi_write_commit(write, &fault));
	chi_dir_close(store);
}

static char *masters;
static char *odd; /* random games: short ones, repetitions, all results */

static int load_texts(void **state)
{
	(void)state;
	size_t len;
	masters = session_file("pgn/games_300.pgn", &len);
	odd = session_games(400, 40);
	return 0;
}

static int free_texts(void **state)
{
	(void)state;
	free(masters);
	free(odd);
	return 0;
}

static void import(const char *store, struct import_session session, const char *const *texts)
{
	help_remove(help_path(store));
	ok(session_run(&session, store, texts));
}

CASE(the_same_as_put_one_by_one)
{
	const char *texts[] = {masters, odd, NULL};
	put_all("put", texts, 0);
	import("bulk", (struct import_session){0}, texts);
	session_same("put", "bulk");
	put_all("put", texts, 21);
	import("bulk", (struct import_session){.options.max_ply = 21}, texts);
	session_same("put", "bulk");
	import("bulk", (struct import_session){.options.max_ply = 21, .options.memory = 16 * MIB},
	       texts);
	session_same("put", "bulk");
}

/* A position that comes back counts once, and each move from it once. */
CASE(repetitions_count_once)
{
	static const char text[] =
		"[White \"a\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nc3 Nc6 6. Nb1 Nb8"
		" 7. Nc3 Nf6 8. Nb1 Ng8 9. e4 Nf6 10. Nc3 Ng8 11. Nb1 1/2-1/2\n\n"
		"[White \"b\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 0-1\n\n"
		"[White \"c\"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 *\n";
	const char *texts[] = {text, NULL};
	put_all("put", texts, 0);
	import("bulk", (struct import_session){0}, texts);
	session_same("put", "bulk");
	for (size_t max_ply = 1; max_ply < 22; max_ply += 3) {
		put_all("put", texts, max_ply);
		import("bulk", (struct import_session){.options.max_ply = (uint32_t)max_ply},
		       texts);
		session_same("put", "bulk");
		session_subtract("bulk", text);
		chi_dir_close(help_store("put", CHI_STATISTIC_CONTROL));
		session_same("put", "bulk");
	}
}

CASE(any_cut_any_threads_any_memory)
{
	const char *texts[] = {masters, odd, masters, NULL};
	import("whole", (struct import_session){.options.threads = 1}, texts);
	for (unsigned round = 0; round < seed_rounds(6); round++) {
		struct import_session session = {
			.options.threads = 1 + help_below(5),
			.options.memory = 16 * MIB << help_below(6),
			.cut = 1u << help_below(18),
		};
		import("cut", session, texts);
		session_same("whole", "cut");
	}
}

/* More than the least memory holds, so that all is spilled and merged again. */
CASE(spilled_or_not)
{
	_cleanup_(chi_freep) char *many = session_games(seed_rounds(5000) / 2, 200);
	const char *texts[] = {many, NULL};
	struct import_session small = {.options.memory = 16 * MIB, .options.max_ply = 6};
	struct import_session spilled = {.options.memory = 16 * MIB, .options.games_min = 3};
	struct import_session held = {.options.games_min = 3, .options.threads = 3};
	import("a", small, texts);
	import("b", (struct import_session){.options.max_ply = 6}, texts);
	session_same("a", "b");
	import("a", spilled, texts);
	import("b", held, texts);
	session_same("a", "b");
}

CASE(the_same_games_again_change_nothing)
{
	const char *texts[] = {masters, odd, NULL};
	struct import_session session = {0};
	import("once", session, texts);
	import("again", session, texts);
	ok(session_run(&session, "again", texts));
	assert_int_equal(session.result.known, session.result.games - session.result.empty);
	assert_int_equal(session.result.taken, 0);
	assert_int_equal(session.result.plies, 0);
	session_same("once", "again");
	const char *twice[] = {masters, odd, odd, masters, NULL};
	import("twice", (struct import_session){.options.threads = 4}, twice);
	session_same("once", "twice");
}

CASE(one_after_the_other_is_both)
{
	const char *both[] = {masters, odd, NULL};
	import("both", (struct import_session){0}, both);
	help_remove(help_path("parts"));
	session_add("parts", odd);
	session_add("parts", masters);
	session_same("both", "parts");
}

CASE(what_was_added_can_be_taken_out)
{
	for (unsigned max_ply = 0; max_ply < 40; max_ply += 26) {
		struct import_session session = {.options.max_ply = max_ply};
		const char *first[] = {masters, NULL};
		const char *second[] = {odd, NULL};
		import("before", session, first);
		import("after", session, first);
		session.options.max_ply = 17; /* other games, held to another ply */
		ok(session_run(&session, "after", second));
		uint64_t taken = session.result.taken;
		session = (struct import_session){.options.kind = CHI_IMPORT_SUBTRACT};
		ok(session_run(&session, "after", second));
		assert_int_equal(session.result.taken, taken);
		session_same("before", "after");
		ok(session_run(&session, "after", second));
		assert_int_equal(session.result.taken, 0);
		assert_int_equal(session.result.known, session.result.games - session.result.empty);
		session_same("before", "after");
		ok(session_run(&session, "after", first));
		assert_true(session.result.positions.removed > 0);
		struct chi_dir *store = help_open(help_path("after"), CHI_STORE_READ);
		assert_int_equal(help_count(store), 0);
		chi_dir_close(store);
	}
}

/* Text in which no place is sure to begin a game: one stream of many pieces. */
CASE(text_without_a_place_to_cut)
{
	_cleanup_(chi_freep) char *text = session_games(1500, 60);
	for (char *tag = text; (tag = strstr(tag, "[Event")) != NULL;) {
		memcpy(tag, "[Place", 6);
	}
	const char *texts[] = {text, masters, NULL};
	put_all("put", texts, 0);
	import("bulk", (struct import_session){.options.memory = 16 * MIB, .options.threads = 3},
	       texts);
	session_same("put", "bulk");
	/* Nor any line: one of half a megabyte, in which an event's tag is none. */
	for (char *end = text; (end = strchr(end, '\n')) != NULL;) {
		*end = ' ';
	}
	put_all("put", texts, 0);
	import("bulk", (struct import_session){.options.memory = 16 * MIB, .cut = 5000}, texts);
	session_same("put", "bulk");
}

/* Growth of the heap, while a session is fed `n` inputs of the longest names, each with that text.
 */
static size_t growth(enum chi_import_kind kind, unsigned n, const char *text)
{
	struct chi_importer *importer = NULL;
	struct chi_dir *store = help_open(help_path("names"), CHI_STORE_WRITE);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = kind, .memory = 16 * MIB, .threads = 2};
	char name[256];
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	size_t before = mallinfo2().uordblks;
	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%0255u", i);
		ok(chi_importer_file(importer, name, &fault));
		ok(chi_importer_feed(importer, text, strlen(text), &fault));
	}
	size_t after = mallinfo2().uordblks;
	chi_importer_free(importer);
	chi_dir_close(store);
	return after > before ? after - before : 0;
}

CASE(names_of_inputs_took_memory_without_limit)
{
	const char *texts[] = {masters, NULL};
	unsigned n = (unsigned)seed_rounds(100000);
	import("names", (struct import_session){0}, texts);
	/* Two that read whole games. */
	const size_t threads = 2 * 8 * MIB;
	assert_in_range(growth(CHI_IMPORT_ADD, n, ""), 0, threads + 4 * MIB);
	assert_in_range(growth(CHI_IMPORT_ADD, n, "1. e4 *\n\n"), 0, threads + 20 * MIB);
	assert_in_range(growth(CHI_IMPORT_SUBTRACT, n, "1. e4 *\n\n"), 0, 20 * MIB);
}

CASE(outcome_stores_agree)
{
	const char *texts[] = {masters, odd, NULL};
	struct import_session session = {.statistic = CHI_STATISTIC_OUTCOME, .options.threads = 1};
	import("one", session, texts);
	session.options.threads = 3;
	session.options.memory = 16 * MIB;
	help_remove(help_path("three"));
	ok(session_run(&session, "three", texts));
	session_same("one", "three");
	struct chi_dir *store = help_open(help_path("one"), CHI_STORE_READ);
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	assert_memory_equal(&info.base, &info.games, sizeof(info.base));
	assert_int_equal(info.games.white + info.games.draws + info.games.black + info.games.other,
			 session.result.taken);
	chi_dir_close(store);
}

CASES_MAIN(load_texts, free_texts)
