/* SPDX-License-Identifier: MIT */
/* Principal variations, mates, limits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "tests/base/seed.h"
#include "uci/search/engine.h"
#include "uci/search/node.h"

static struct chi_engine *engine;
static struct chi_engine_result result;

static int make(void **state)
{
	(void)state;
	engine = chi_engine_new(4);
	return engine == NULL;
}

static int drop(void **state)
{
	(void)state;
	chi_engine_free(engine);
	return 0;
}

static struct chi_position position_of(const char *fen)
{
	struct chi_position p;
	assert_int_equal(chi_fen_parse(fen, strlen(fen), &p, NULL), CHI_OK);
	return p;
}

static void set(const char *fen)
{
	struct chi_position p = position_of(fen);
	chi_engine_clear(engine);
	chi_engine_set(engine, &p, 0, NULL, 0);
}

/* ---- Principal variations ------------------------------------------------------------------ */

/* What the lines of the searches were, for those who look at the figures. */
static unsigned long lines;
static unsigned long ended;

struct walk {
	struct chi_position at;
	uint64_t hashes[CHI_PLIES_MAX + 1];
	size_t n;
	unsigned clock;
};

/* The game is over by the rules where the line ends, or the line shows a position again. */
static bool ends_the_game(const struct walk *walk)
{
	struct chi_move_list list;
	chi_movegen_legal(&walk->at, &list);
	if (list.n == 0 || chi_position_insufficient(&walk->at) || walk->clock >= 100) {
		return true;
	}
	for (size_t i = 0; i < walk->n; i++) {
		if (walk->hashes[i] == chi_position_hash(&walk->at)) {
			return true;
		}
	}
	return false;
}

static void check_line(void *context, const struct chi_engine_line *line)
{
	struct walk walk = {.at = *chi_engine_position(engine)};
	(void)context;
	assert_true(line->n_pv >= 1 && line->n_pv <= CHI_PLIES_MAX);
	for (size_t i = 0; i < line->n_pv; i++) {
		struct chi_position next;
		assert_true(chi_movegen_is_legal(&walk.at, line->pv[i]));
		bool resets = !chi_is_quiet(&walk.at, line->pv[i]) ||
			      chi_position_kind(&walk.at, chi_move_from(line->pv[i])) == CHI_PAWN;
		walk.clock = resets ? 0 : walk.clock + 1;
		walk.hashes[walk.n++] = chi_position_hash(&walk.at);
		chi_position_play(&walk.at, line->pv[i], &next);
		walk.at = next;
	}
	lines++;
	if (line->bound == CHI_ENGINE_EXACT && line->n_pv < line->depth) {
		ended++;
		if (!ends_the_game(&walk)) {
			char fen[CHI_FEN_SIZE];
			(void)chi_fen_print(&walk.at, fen);
			fail_msg("depth %u: %zu moves, to %s", line->depth, line->n_pv, fen);
		}
	}
	int plies = CHI_MATE - abs(line->score);
	if (line->bound == CHI_ENGINE_EXACT && plies <= CHI_PLIES_MAX) {
		struct chi_move_list list;
		chi_movegen_legal(&walk.at, &list);
		assert_int_equal(line->n_pv, plies);
		assert_true(list.n == 0 && chi_position_in_check(&walk.at, walk.at.side));
	}
}

static struct chi_position random_position(struct seed *seed)
{
	struct chi_position p = position_of(CHI_FEN_START);
	for (size_t n = seed_below(seed, 150); n > 0; n--) {
		struct chi_move_list list;
		struct chi_position next;
		chi_movegen_legal(&p, &list);
		if (list.n == 0) {
			break;
		}
		chi_position_play(&p, list.moves[seed_below(seed, list.n)], &next);
		p = next;
	}
	return p;
}

/* Every line is legal to its end, as long as the depth promises, and a mate is at its end. */
static void test_lines(void **state)
{
	(void)state;
	struct seed seed = seed_start("lines");
	for (size_t round = seed_rounds(150); round > 0; round--) {
		struct chi_position p = random_position(&seed);
		struct chi_engine_limits limits = {.depth = 1 + (unsigned)seed_below(&seed, 8),
						   .nodes = 20000,
						   .lines = 1 + (unsigned)seed_below(&seed, 3)};
		chi_engine_set(engine, &p, 0, NULL, 0);
		chi_engine_go(engine, &limits, check_line, NULL, &result);
		chi_engine_ready(engine);
		struct chi_move_list list;
		chi_movegen_legal(&p, &list);
		assert_true(list.n == 0 ? result.best == 0 : chi_move_list_has(&list, result.best));
	}
	printf("# figures: lines=%lu ended=%lu\n", lines, ended);
}

/* ---- Mates --------------------------------------------------------------------------------- */

/* Found when the depth is that of the mate, at the latest two plies after it. */
static void test_mates(void **state)
{
	(void)state;
	static const struct {
		const char *fen;
		int moves; /* < 0: the side to move is mated */
	} cases[] = {
		{"6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1},
		{"7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", 1},
		/* Smothered, by Lucena, 1497. */
		{"5r1k/6pp/8/6N1/2Q5/8/8/6K1 w - - 0 1", 4},
		/* Réti - Tartakower, Vienna 1910, before 9. Qd8+. */
		{"rnb1kb1r/pp3ppp/2p5/4q3/4n3/3Q4/PPPB1PPP/2KR1BNR w kq - 0 1", 3},
		/* Two rooks walk the king to the edge. */
		{"3k4/8/8/8/8/R7/1R6/6K1 w - - 0 1", 3},
		{"8/8/8/8/8/4k3/3q4/7K b - - 0 1", 2},
		{"7k/8/5K2/8/8/8/8/6Q1 b - - 0 1", -1},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int moves = cases[i].moves;
		int wanted = moves > 0 ? CHI_MATE - (2 * moves - 1) : -CHI_MATE - 2 * moves;
		struct chi_engine_limits limits = {.depth = (unsigned)(2 * abs(moves) + 2)};
		set(cases[i].fen);
		chi_engine_go(engine, &limits, check_line, NULL, &result);
		if (result.score != wanted) {
			fail_msg("%s: %d instead of %d", cases[i].fen, result.score, wanted);
		}
	}
}

static void test_mate_limit(void **state)
{
	(void)state;
	const struct chi_engine_limits limits = {.mate = 3};
	set("rnb1kb1r/pp3ppp/2p5/4q3/4n3/3Q4/PPPB1PPP/2KR1BNR w kq - 0 1");
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	assert_int_equal(result.score, CHI_MATE - 5);
}

/* ---- Draws and limits ------------------------------------------------------------------------ */

/* A queen less, it repeats the position instead of losing. */
static void test_repetition(void **state)
{
	(void)state;
	const struct chi_engine_limits limits = {.depth = 8};
	set("6k1/6pp/8/8/8/7q/5PPK/4Q3 w - - 0 1");
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	set("3qr1k1/5ppp/8/8/8/8/1Q6/K7 b - - 99 80");
	chi_engine_go(engine, &limits, check_line, NULL, &result);
	assert_true(result.score > 300);
	/* Nothing but a perpetual check saves White. */
	set("6k1/5ppp/8/4Q3/8/8/qr3PPP/6K1 w - - 0 1");
	chi_engine_go(engine, &limits, check_line, NULL, &result);
	assert_true(result.score >= 0);
}

static void test_same_nodes_same_answer(void **state)
{
	(void)state;
	const struct chi_engine_limits limits = {.nodes = 30000};
	struct chi_engine_result again;
	set(CHI_FEN_START);
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	chi_engine_ready(engine);
	set(CHI_FEN_START);
	chi_engine_go(engine, &limits, NULL, NULL, &again);
	chi_engine_ready(engine);
	assert_int_equal(result.nodes, 30000);
	assert_int_equal(again.nodes, 30000);
	assert_int_equal(result.best, again.best);
	assert_int_equal(result.score, again.score);
}

static void test_only_these_moves(void **state)
{
	(void)state;
	struct chi_position p = position_of(CHI_FEN_START);
	chi_move moves[2];
	assert_int_equal(chi_uci_parse(&p, "a2a3", 4, &moves[0], NULL), CHI_OK);
	assert_int_equal(chi_uci_parse(&p, "g2g4", 4, &moves[1], NULL), CHI_OK);
	const struct chi_engine_limits limits = {
		.depth = 5, .moves = moves, .n_moves = 2, .lines = 5};
	set(CHI_FEN_START);
	chi_engine_go(engine, &limits, check_line, NULL, &result);
	assert_true(result.best == moves[0] || result.best == moves[1]);
}

static void test_no_move(void **state)
{
	(void)state;
	const struct chi_engine_limits limits = {.depth = 5};
	set("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
	chi_engine_go(engine, &limits, check_line, NULL, &result);
	assert_int_equal(result.best, 0);
	assert_int_equal(result.n_pv, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_mates),
		cmocka_unit_test(test_mate_limit),
		cmocka_unit_test(test_repetition),
		cmocka_unit_test(test_same_nodes_same_answer),
		cmocka_unit_test(test_only_these_moves),
		cmocka_unit_test(test_no_move),
	};
	return cmocka_run_group_tests_name("uci/search", tests, make, drop);
}
