/* SPDX-License-Identifier: MIT */
#include "tests/insight/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "tests/import/session.h"

#define STORE "insight"

/* ---- Games in memory ---------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct insight_place *x = a;
	const struct insight_place *y = b;
	int order = memcmp(x->key.bytes, y->key.bytes, CHI_KEY_MAX);
	if (order != 0 || x->game != y->game) {
		return order != 0 ? order : x->game < y->game ? -1 : 1;
	}
	return x->ply < y->ply ? -1 : x->ply > y->ply;
}

/* The games by position, each once, with its first ply there. */
static void sort_places(struct insight_world *world)
{
	size_t all = 0;
	size_t n = 0;
	for (uint32_t number = 1; number <= world->n; number++) {
		all += world->keys[number] != NULL ? world->plies[number] + 1 : 0;
	}
	world->places = calloc(all, sizeof(world->places[0]));
	assert_non_null(world->places);
	for (uint32_t number = 1; number <= world->n; number++) {
		for (uint32_t ply = 0; world->keys[number] != NULL && ply <= world->plies[number];
		     ply++) {
			world->places[n++] = (struct insight_place){
				.key = world->keys[number][ply], .game = number, .ply = ply};
		}
	}
	qsort(world->places, n, sizeof(world->places[0]), compare_places);
	for (size_t i = 0; i < n; i++) {
		const struct insight_place *last = &world->places[i > 0 ? world->n_places - 1 : 0];
		const struct insight_place *place = &world->places[i];
		if (i == 0 || last->game != place->game ||
		    memcmp(last->key.bytes, place->key.bytes, CHI_KEY_MAX) != 0) {
			world->places[world->n_places++] = *place;
		}
	}
}

static void play_game(struct insight_world *world, struct chi_archive_reader *reader,
		      uint32_t number)
{
	struct chi_game game;
	struct chi_arena arena;
	struct chi_position position[2] = {chi_position_initial};
	chi_arena_init(&arena, 1 << 20);
	int rc = chi_archive_game(reader, number, &arena, &game);
	if (rc == CHI_NONE) { /* it was taken out */
		chi_arena_deinit(&arena);
		return;
	}
	ok(rc);
	if (game.has_start) {
		ok(chi_key_decode(&game.start, &position[0], &fault));
	}
	world->heads[number] = game.head;
	world->plies[number] = game.n_plies;
	world->keys[number] = calloc(game.n_plies + 1, sizeof(struct chi_key));
	world->moves[number] = calloc(game.n_plies + 1, sizeof(chi_move));
	for (size_t ply = 0; ply <= game.n_plies; ply++) {
		chi_key_encode(&position[ply & 1], &world->keys[number][ply]);
		if (ply < game.n_plies) {
			world->moves[number][ply] = game.moves[ply];
			chi_position_play(&position[ply & 1], game.moves[ply], &position[~ply & 1]);
		}
	}
	chi_arena_deinit(&arena);
}

void insight_world_load(struct insight_world *world)
{
	struct chi_archive_view view;
	struct chi_archive_reader *reader;
	*world = (struct insight_world){.store = help_open(help_path(STORE), CHI_STORE_READ)};
	ok(chi_read_begin(world->store, &world->read));
	ok(chi_read_archive(world->read, &view));
	world->n = view.last;
	world->heads = calloc((size_t)view.last + 1, sizeof(world->heads[0]));
	world->keys = calloc((size_t)view.last + 1, sizeof(world->keys[0]));
	world->moves = calloc((size_t)view.last + 1, sizeof(world->moves[0]));
	world->plies = calloc((size_t)view.last + 1, sizeof(world->plies[0]));
	ok(chi_archive_reader_new(&reader));
	ok(chi_archive_reader_begin(reader, view.txn, &view.trees));
	for (uint32_t number = 1; number <= world->n; number++) {
		play_game(world, reader, number);
	}
	chi_archive_reader_end(reader);
	chi_archive_reader_free(reader);
	sort_places(world);
}

void insight_world_open(struct insight_world *world, const char *text)
{
	help_remove(help_path(STORE));
	session_add(STORE, text);
	insight_world_load(world);
}

void insight_world_subtract(struct insight_world *world, const char *text)
{
	insight_world_close(world);
	session_subtract(STORE, text);
	insight_world_load(world);
}

void insight_world_put(struct insight_world *world, const struct chi_put_entry *put)
{
	insight_world_close(world);
	struct chi_dir *store = help_open(help_path(STORE), CHI_STORE_WRITE);
	help_put(store, put);
	chi_dir_close(store);
	insight_world_load(world);
}

void insight_world_counts(struct insight_world *world, const char *text)
{
	chi_dir_close(help_store(STORE, CHI_STATISTIC_CONTROL));
	session_add(STORE, text);
	insight_world_load(world);
}

void insight_world_close(struct insight_world *world)
{
	for (uint32_t number = 1; number <= world->n; number++) {
		free(world->keys[number]);
		free(world->moves[number]);
	}
	free(world->heads);
	free(world->keys);
	free(world->moves);
	free(world->plies);
	free(world->places);
	chi_read_end(world->read);
	chi_dir_close(world->store);
}

const struct insight_place *insight_world_find(const struct insight_world *world,
					       const struct chi_key *key, size_t *n)
{
	size_t from = 0;
	size_t to = world->n_places;
	while (from < to) {
		size_t middle = (from + to) / 2;
		bool less = memcmp(world->places[middle].key.bytes, key->bytes, CHI_KEY_MAX) < 0;
		from = less ? middle + 1 : from;
		to = less ? to : middle;
	}
	for (to = from; to < world->n_places &&
			memcmp(world->places[to].key.bytes, key->bytes, CHI_KEY_MAX) == 0;
	     to++) {
	}
	*n = to - from;
	return &world->places[from];
}

/* ---- Games at random ---------------------------------------------------------------------- */

/* Of White's moves; Black's are the same on the opposite ranks. */
static const char *const some_moves[] = {"d2d4", "g1f3", "e2e4", "e2e3", "e4e5", "d4d5",
					 "e5d6", "c2c4", "f3g1", "e1e2", "e2e1", "e1f2"};

static const char *const some_starts[] = {
	"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
	"rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
	"rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2",
	"rnbqkbnr/pppp1ppp/8/4p3/4P3/5P2/PPPP2PP/RNBQKBNR w KQkq - 0 3",
};

static bool is_wanted(const struct chi_position *position, chi_move move)
{
	int turn = position->side == CHI_WHITE ? 0 : 56;
	for (size_t i = 0; i < CHI_COUNT(some_moves); i++) {
		const char *text = some_moves[i];
		int from = text[0] - 'a' + 8 * (text[1] - '1');
		int to = text[2] - 'a' + 8 * (text[3] - '1');
		if (chi_move_from(move) == (from ^ turn) && chi_move_to(move) == (to ^ turn)) {
			return true;
		}
	}
	return false;
}

static void print_moves(FILE *out, const char *start)
{
	struct chi_position position[2];
	struct chi_move_list list;
	char san[CHI_SAN_SIZE];
	unsigned plies = 1 + help_below(9);
	ok(chi_fen_parse(start, strlen(start), &position[0], &fault));
	for (unsigned ply = 0; ply < plies; ply++) {
		size_t n = 0;
		chi_movegen_legal(&position[ply & 1], &list);
		for (size_t i = 0; i < list.n; i++) {
			if (is_wanted(&position[ply & 1], list.moves[i])) {
				list.moves[n++] = list.moves[i];
			}
		}
		if (n == 0) {
			break;
		}
		/* The first ones more often: some games are alike for longer. */
		chi_move move = list.moves[help_below(1 + help_below((unsigned)n))];
		chi_san_print(&position[ply & 1], move, san);
		fprintf(out, "%s ", san);
		chi_position_play(&position[ply & 1], move, &position[~ply & 1]);
	}
}

/* Of few years, so that many share a day; in one of three something is not known. */
static void print_date(FILE *out)
{
	unsigned known = help_below(9);
	unsigned year = 2000 + help_below(8);
	unsigned month = 1 + help_below(12);
	unsigned day = help_below(3) == 0 ? 28 : 1 + help_below(2);
	if (known == 0) {
		fprintf(out, "[Date \"????.??.??\"]\n");
	} else if (known == 1) {
		fprintf(out, "[Date \"%u.??.??\"]\n", year);
	} else if (known == 2) {
		fprintf(out, "[Date \"%u.%02u.??\"]\n", year, month);
	} else {
		fprintf(out, "[Date \"%u.%02u.%02u\"]\n", year, known < 5 ? 12 : month,
			known < 4 ? 31 : day);
	}
}

char *insight_world_random(unsigned games)
{
	static const char *const results[] = {"1-0", "0-1", "1/2-1/2", "1-0", "*"};
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (unsigned game = 0; game < games; game++) {
		const char *start =
			some_starts[help_below(4) != 0 ? 0 : help_below(CHI_COUNT(some_starts))];
		const char *result = results[help_below(CHI_COUNT(results))];
		fprintf(out, "[White \"w%u\"]\n[Black \"b%u\"]\n[Result \"%s\"]\n", game,
			help_below(4), result);
		print_date(out);
		if (help_below(3) != 0) {
			fprintf(out, "[WhiteElo \"%u\"]\n[BlackElo \"%u\"]\n",
				2000 + help_below(800), 2000 + help_below(800));
		}
		if (start != some_starts[0]) {
			fprintf(out, "[FEN \"%s\"]\n[SetUp \"1\"]\n", start);
		}
		fprintf(out, "\n");
		print_moves(out, start);
		fprintf(out, "%s\n\n", result);
	}
	fclose(out);
	return text;
}

/* ---- Answers ------------------------------------------------------------------------------ */

struct chi_insight *insight_world_ask(const struct insight_world *world,
				      const struct chi_insight_spec *spec, uint64_t steps)
{
	struct chi_insight *insight;
	int rc = CHI_OK;
	ok(chi_insight_open(world->read, spec, &insight, &fault));
	while (rc == CHI_OK) {
		rc = chi_insight_step(insight, steps, &fault);
		assert_true(chi_insight_memory(insight) > 0);
	}
	assert_int_equal(rc, CHI_NONE);
	return insight;
}

void insight_world_same(const struct chi_insight_result *a, const struct chi_insight_result *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->tested, b->tested);
	assert_int_equal(a->games, b->games);
	for (size_t i = 0; i < a->n; i++) {
		const struct chi_insight_row *x = &a->rows[i];
		const struct chi_insight_row *y = &b->rows[i];
		assert_memory_equal(x->key.bytes, y->key.bytes, CHI_KEY_MAX);
		assert_int_equal(x->move, y->move);
		assert_int_equal(x->game, y->game);
		assert_int_equal(x->ply, y->ply);
		assert_int_equal(x->games, y->games);
		assert_int_equal(x->others, y->others);
		assert_int_equal(x->followed, y->followed);
		assert_int_equal(x->score, y->score);
		assert_int_equal(x->expected, y->expected);
		assert_int_equal(x->low, y->low);
		assert_int_equal(x->high, y->high);
	}
}
