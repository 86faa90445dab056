/* SPDX-License-Identifier: MIT */
/* Principal variations, mates, limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "tests/base/cases.h"
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
static struct {
	unsigned long lines;
	unsigned long ended; /* before the depth, as the game does */
	unsigned long mates;
} figures;

#define GAME_MAX 160

/* The game that the search begins after, and what follows. */
struct walk {
	struct chi_position at;
	uint64_t hashes[GAME_MAX + CHI_PLIES_MAX + 1];
	size_t n;
	size_t root; /* hashes before are of the game */
	unsigned clock;
};

static void step(struct walk *walk, chi_move move)
{
	struct chi_position next;
	bool pawn = chi_position_kind(&walk->at, chi_move_from(move)) == CHI_PAWN;
	assert_true(chi_movegen_is_legal(&walk->at, move));
	walk->clock = pawn || chi_is_capture(&walk->at, move) ? 0 : walk->clock + 1;
	walk->hashes[walk->n++] = chi_position_hash(&walk->at);
	chi_position_play(&walk->at, move, &next);
	walk->at = next;
}

/* The game is over by the rules where the line ends, or the line shows a position again. */
static bool ends_the_game(const struct walk *walk)
{
	struct chi_move_list list;
	unsigned seen = 1;
	chi_movegen_legal(&walk->at, &list);
	if (list.n == 0 || chi_position_insufficient(&walk->at) || walk->clock >= 100) {
		return true;
	}
	for (size_t i = 0; i < walk->n; i++) {
		if (walk->hashes[i] == chi_position_hash(&walk->at)) {
			seen += i >= walk->root ? 2 : 1;
		}
	}
	return seen >= 3;
}

/* `context`: the walk up to the search, or NULL if there was no game before. */
static void check_line(void *context, const struct chi_engine_line *line)
{
	struct walk walk = {.at = *chi_engine_position(engine)};
	if (context != NULL) {
		walk = *(const struct walk *)context;
	}
	walk.root = walk.n;
	assert_true(line->n_pv >= 1 && line->n_pv <= CHI_PLIES_MAX);
	for (size_t i = 0; i < line->n_pv; i++) {
		step(&walk, line->pv[i]);
	}
	figures.lines++;
	if (line->bound == CHI_ENGINE_EXACT && line->n_pv < line->depth) {
		figures.ended++;
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
		figures.mates++;
		assert_int_equal(line->n_pv, plies);
		assert_true(list.n == 0 && chi_position_in_check(&walk.at, walk.at.side));
	}
}

/* A random game, whose last moves often go back and forth; `moves` are those from the start. */
static struct walk random_game(struct seed *seed, chi_move moves[GAME_MAX])
{
	struct walk walk = {.at = position_of(CHI_FEN_START)};
	for (size_t n = seed_below(seed, GAME_MAX); n > 0; n--) {
		struct chi_move_list list;
		chi_movegen_legal(&walk.at, &list);
		if (list.n == 0) {
			break;
		}
		chi_move move = list.moves[seed_below(seed, list.n)];
		if (walk.n >= 2 && seed_below(seed, 3) > 0) {
			chi_move last = moves[walk.n - 2];
			chi_move back = (chi_move)(chi_move_to(last) | chi_move_from(last) << 6);
			move = chi_move_list_has(&list, back) ? back : move;
		}
		moves[walk.n] = move;
		step(&walk, move);
	}
	return walk;
}

/* Every line is legal to its end, as long as the depth promises, and a mate is at its end. */
CASE(test_lines)
{
	struct seed seed = seed_start("lines");
	size_t rounds = seed_rounds(150);
	for (size_t round = 0; round < rounds; round++) {
		chi_move moves[GAME_MAX];
		struct walk walk = random_game(&seed, moves);
		struct chi_position start = position_of(CHI_FEN_START);
		struct chi_engine_limits limits = {.depth = 1 + (unsigned)seed_below(&seed, 8),
						   .nodes = 500 + seed_below(&seed, 8000),
						   .lines = 1 + (unsigned)seed_below(&seed, 3)};
		chi_engine_set(engine, &start, 0, moves, walk.n);
		assert_int_equal(chi_engine_clock(engine), walk.clock);
		chi_engine_go(engine, &limits, check_line, &walk, &result);
		chi_engine_ready(engine);
		struct chi_move_list list;
		chi_movegen_legal(&walk.at, &list);
		assert_true(list.n == 0 ? result.best == 0 : chi_move_list_has(&list, result.best));
	}
	printf("# figures: searches=%zu lines=%lu ended=%lu mates=%lu\n", rounds, figures.lines,
	       figures.ended, figures.mates);
}

/* The exact line of the deepest depth told. */
struct told {
	unsigned depth;
	int score;
	chi_move first;
};

static void keep_line(void *context, const struct chi_engine_line *line)
{
	struct told *told = context;
	if (line->bound == CHI_ENGINE_EXACT && line->number == 1) {
		*told = (struct told){line->depth, line->score, line->pv[0]};
	}
}

/* A search that is cut short says what the last whole depth found: it is stored as such. */
CASE(test_cut_short)
{
	struct seed seed = seed_start("cut short");
	for (size_t round = seed_rounds(60); round > 0; round--) {
		struct told told = {0};
		struct chi_engine_limits limits = {.nodes = 1000 + seed_below(&seed, 5000)};
		chi_move moves[GAME_MAX];
		struct walk walk = random_game(&seed, moves);
		chi_engine_set(engine, &walk.at, 0, NULL, 0);
		chi_engine_go(engine, &limits, keep_line, &told, &result);
		chi_engine_ready(engine);
		assert_int_equal(result.depth, told.depth);
		assert_true(result.depth == 0 || result.pv[0] == told.first);
		assert_true(result.depth == 0 || result.score == told.score);
	}
}

/* ---- Mates --------------------------------------------------------------------------------- */

/* In how many moves the side to move mates, at most `moves`; 0: not so soon. Every move is tried.
 */
static int brute_mate(const struct chi_position *p, int moves)
{
	struct chi_move_list list;
	chi_movegen_legal(p, &list);
	for (int in = 1; in <= moves; in++) {
		for (size_t i = 0; i < list.n; i++) {
			struct chi_position after;
			struct chi_position next;
			struct chi_move_list replies;
			chi_position_play(p, list.moves[i], &after);
			chi_movegen_legal(&after, &replies);
			bool mates =
				replies.n > 0 ? in > 1 : chi_position_in_check(&after, after.side);
			for (size_t j = 0; mates && j < replies.n; j++) {
				chi_position_play(&after, replies.moves[j], &next);
				mates = brute_mate(&next, in - 1) > 0;
			}
			if (mates) {
				return in;
			}
		}
	}
	return 0;
}

static const struct mate {
	const char *fen;
	int moves; /* < 0: the side to move is mated */
	int depth; /* at which it is found */
} mates[] = {
	{"6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1, 1},
	{"7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", 1, 1},
	{"8/8/8/8/8/4k3/3q4/7K b - - 0 1", 2, 3},
	{"7k/8/5K2/8/8/8/8/6Q1 b - - 0 1", -1, 2},
	/* Two rooks walk the king to the edge. */
	{"3k4/8/8/8/8/R7/1R6/6K1 w - - 0 1", 3, 5},
	/* After 1. f3 e5 2. g4, and after 1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6. */
	{"rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 1", 1, 1},
	{"r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 0 1", 1, 1},
	/* Legal - Saint Brie, Paris, about 1750, before 6. Bxf7+. */
	{"rn1qkbnr/ppp2p1p/3p2p1/4N3/2B1P3/2N5/PPPP1PPP/R1BbK2R w KQkq - 0 1", 2, 3},
	/* Morphy - Karl of Brunswick and Isouard, Paris 1858, before 16. Qb8+. */
	{"4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 0 1", 2, 3},
	/* Schulder - Boden, London 1853, before 14... Qxc3+. */
	{"2k1rb1r/ppp3pp/2n2q2/3B1b2/5P2/2P1BQ2/PP1N1P1P/2KR3R b - - 0 1", 2, 3},
	/* Anderssen - Kieseritzky, London 1851, before 21. Nxg7+. */
	{"r1b1k1nr/p2p1ppp/n2B4/1p1NPN1P/6P1/3P1Q2/P1P1K3/q5b1 w kq - 0 1", 3, 5},
	/* Reti - Tartakower, Vienna 1910, before 9. Qd8+. */
	{"rnb1kb1r/pp3ppp/2p5/4q3/4n3/3Q4/PPPB1PPP/2KR1BNR w kq - 0 1", 3, 5},
	/* Smothered, by Lucena, 1497. */
	{"5r1k/6pp/8/6N1/2Q5/8/8/6K1 w - - 0 1", 4, 7},
	/* Anderssen - Dufresne, Berlin 1852, before 21. Qxd7+. */
	{"1r2k1r1/pbppnp1p/1b3P2/8/Q7/B1PB1q2/P4PPP/3R2K1 w - - 0 1", 4, 7},
	/* Edward Lasker - Thomas, London 1912, before 14. h4+, which he missed. */
	{"rn3r2/pbppq1p1/1p2pN2/6k1/3P2N1/3B4/PPP2PPP/R3K2R w KQ - 0 1", 4, 7},
	/* The same, before 11. Qxh7+. */
	{"rn3rk1/pbppq1pp/1p2pb2/4N2Q/3PN3/3B4/PPP2PPP/R3K2R w KQ - 0 1", 7, 14},
};

/* Found at the depth that shows them; where few moves are to be tried, these say the same. */
CASE(test_mates)
{
	for (size_t i = 0; i < CHI_COUNT(mates); i++) {
		const struct mate *mate = &mates[i];
		int wanted = mate->moves > 0 ? CHI_MATE - (2 * mate->moves - 1)
					     : -CHI_MATE - 2 * mate->moves;
		const struct chi_engine_limits limits = {.depth = (unsigned)mate->depth};
		set(mate->fen);
		chi_engine_go(engine, &limits, check_line, NULL, &result);
		if (result.score != wanted) {
			fail_msg("%s: %d instead of %d", mate->fen, result.score, wanted);
		}
		if (mate->moves == 1 || mate->moves == 2) {
			assert_int_equal(brute_mate(chi_engine_position(engine), 2), mate->moves);
		}
	}
}

CASE(test_mate_limit)
{
	const struct chi_engine_limits limits = {.mate = 3};
	set("rnb1kb1r/pp3ppp/2p5/4q3/4n3/3Q4/PPPB1PPP/2KR1BNR w kq - 0 1");
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	assert_int_equal(result.score, CHI_MATE - 5);
}

/* ---- Draws and limits ------------------------------------------------------------------------ */

/* A queen less, nothing but a perpetual check saves White. */
CASE(test_repetition)
{
	const struct chi_engine_limits limits = {.depth = 8};
	set("6k1/5ppp/8/4Q3/8/8/qr3PPP/6K1 w - - 0 1");
	chi_engine_go(engine, &limits, check_line, NULL, &result);
	assert_true(result.score >= 0);
}

/* Moves as UCI from a position, into `out`. */
static size_t moves_of(const struct chi_position *start, const char *text, chi_move *out)
{
	struct chi_position p = *start;
	size_t n = 0;
	while (*text != '\0') {
		struct chi_position next;
		size_t len = strcspn(text, " ");
		assert_int_equal(chi_uci_parse(&p, text, len, &out[n], NULL), CHI_OK);
		chi_position_play(&p, out[n++], &next);
		p = next;
		text += len + (text[len] == ' ');
	}
	return n;
}

/* A position of the game that comes back is a draw when it is there for the third time, not when it
 * is for the second. Black has only the one king's move that gives White the choice. */
CASE(test_third_time)
{
	struct chi_position start = position_of("7k/8/8/8/8/6r1/6PP/R6K w - - 0 1");
	static const struct {
		const char *game;
		bool draw;
	} cases[] = {
		{"a1b1 g3d3 b1a1 d3g3 a1b1 g3d3 b1a1", true},
		{"a1b1 g3d3 b1a1", false},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		chi_move moves[16];
		chi_move back;
		size_t n = moves_of(&start, cases[i].game, moves);
		const struct chi_engine_limits limits = {.depth = 1, .moves = &back, .n_moves = 1};
		chi_engine_clear(engine);
		chi_engine_set(engine, &start, 0, moves, n);
		assert_int_equal(chi_uci_parse(chi_engine_position(engine), "d3g3", 4, &back, NULL),
				 CHI_OK);
		chi_engine_go(engine, &limits, NULL, NULL, &result);
		assert_int_equal(result.score == 0, cases[i].draw);
	}
}

/* A queen more is nothing with the fiftieth move; a mate with it is one. */
CASE(test_fifty_moves)
{
	const struct chi_engine_limits limits = {.depth = 6};
	struct chi_position p = position_of("7k/8/8/3K4/8/8/8/Q7 w - - 0 1");
	chi_engine_clear(engine);
	chi_engine_set(engine, &p, 97, NULL, 0);
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	assert_int_equal(result.score, 0);
	p = position_of("7k/8/6K1/8/8/8/8/Q7 w - - 0 1");
	chi_engine_set(engine, &p, 99, NULL, 0);
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	assert_int_equal(result.score, CHI_MATE - 1);
}

/* What a search of some moves found is not taken for the position's worth. */
CASE(test_left_out_moves_teach_nothing)
{
	struct chi_table_entry entry;
	struct chi_position p = position_of("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
	chi_move move;
	assert_int_equal(chi_uci_parse(&p, "e1e2", 4, &move, NULL), CHI_OK);
	const struct chi_engine_limits limits = {.depth = 4, .moves = &move, .n_moves = 1};
	set("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	assert_int_equal(result.best, move);
	assert_false(chi_table_find(&engine->table, chi_position_hash(&p), 0, &entry));
}

/* Time that ran before the search began is gone: but for a look at the clock there is none left. */
CASE(test_time_before_the_search)
{
	const struct chi_engine_limits limits = {.clock_ms = 1000, .begun_ms = chi_now_ms() - 900};
	set(CHI_FEN_START);
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	chi_engine_ready(engine);
	assert_true(result.nodes <= 1024);
	assert_int_not_equal(result.best, 0);
}

/* `ponderhit` may come before the search has begun; the time runs from then on. */
CASE(test_ponderhit_comes_first)
{
	const struct chi_engine_limits limits = {.clock_ms = 200, .ponder = true};
	set(CHI_FEN_START);
	chi_engine_ponderhit(engine);
	chi_engine_go(engine, &limits, NULL, NULL, &result);
	chi_engine_ready(engine);
	assert_int_not_equal(result.best, 0);
	assert_true(result.depth < CHI_PLIES_MAX / 2);
}

/* With thirty queens there is no end to captures, nor is their worth that of a mate. */
CASE(test_queens)
{
	static const char *const fens[] = {
		"qqqqqqq1/qqqqqqqq/8/8/8/7k/QQQQQQQ1/K1QQQQQ1 w - - 0 1",
		"QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQ4/8/7p/7P/K6k b - - 0 1",
	};
	const struct chi_engine_limits limits = {.clock_ms = 1000};
	for (size_t i = 0; i < CHI_COUNT(fens); i++) {
		set(fens[i]);
		assert_true(abs(chi_evaluate(chi_engine_position(engine), &engine->classes)) <
			    CHI_MATE_BOUND);
		chi_engine_go(engine, &limits, check_line, NULL, &result);
		chi_engine_ready(engine);
		struct chi_move_list list;
		chi_movegen_legal(chi_engine_position(engine), &list);
		assert_int_equal(result.best != 0, list.n != 0);
	}
}

CASE(test_same_nodes_same_answer)
{
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

CASE(test_only_these_moves)
{
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

CASE(test_no_move)
{
	const struct chi_engine_limits limits = {.depth = 5};
	set("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
	chi_engine_go(engine, &limits, check_line, NULL, &result);
	assert_int_equal(result.best, 0);
	assert_int_equal(result.n_pv, 0);
}

/* ---- Draws of the game ----------------------------------------------------------------------- */

/* The position after these moves from there, and a search of it. */
static void search_game(const char *fen, unsigned clock, const char *const *moves, size_t n)
{
	struct chi_position at = position_of(fen);
	struct chi_position start = at;
	struct chi_position next;
	chi_move played[8];
	const struct chi_engine_limits limits = {.depth = 3};
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(chi_uci_parse(&at, moves[i], strlen(moves[i]), &played[i], NULL),
				 CHI_OK);
		chi_position_play(&at, played[i], &next);
		at = next;
	}
	chi_engine_set(engine, &start, clock, played, n);
	chi_engine_go(engine, &limits, NULL, NULL, &result);
}

/* What comes of the game before, and would not of the position alone, is told apart. */
CASE(test_draws_of_the_game)
{
	static const char *const moves[] = {"g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"};
	static const char fen[] = "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	static const char rook[] = "8/8/4k3/8/8/3K4/3R4/8 w - - 0 1";
	chi_engine_clear(engine);
	search_game(fen, 0, moves, 3);
	assert_false(result.draws_of_game || chi_engine_repeated(engine));
	search_game(fen, 0, moves, 7);
	assert_true(result.draws_of_game && chi_engine_repeated(engine));
	assert_int_equal(result.score, 0);
	search_game(rook, 40, NULL, 0);
	assert_false(result.draws_of_game || chi_engine_repeated(engine));
	search_game(rook, 98, NULL, 0);
	assert_true(result.draws_of_game);
	/* The table is as if it had been cleared. */
	search_game(rook, 0, NULL, 0);
	uint64_t nodes = result.nodes;
	chi_engine_forget(engine);
	search_game(rook, 0, NULL, 0);
	uint64_t forgotten = result.nodes;
	chi_engine_clear(engine);
	search_game(rook, 0, NULL, 0);
	assert_true(nodes < result.nodes);
	assert_true(nodes < forgotten);
}

CASES_MAIN(make, drop)
