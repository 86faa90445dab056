/* SPDX-License-Identifier: MIT */
/* The moves of games as bytes: the numbers of the header's example, every legal move back from its
 * own bytes, and bytes that no game wrote. */
#include "tests/chess/support.h"

#include <inttypes.h>
#include <stdlib.h>

#include "chess/moves/movecode.h"
#include "chess/movegen.h"
#include "chess/notation.h"

#define PLIES_MAX 300

CASE(is_as_the_header_says)
{
	static const char line[] = "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3";
	static const uint8_t expected[] = {0x01, 0x03, 0x08, 0x06, 0x01, 0x00, 0x00, 0x07, 0x05};
	struct chi_position start = position_of(START_FEN);
	chi_move moves[16];
	uint8_t bytes[16 * CHI_MOVECODE_MAX];
	size_t n = 0;
	size_t len = 0;
	assert_int_equal(chi_line_parse(&start, line, strlen(line), moves, 16, &n, NULL), CHI_OK);
	assert_int_equal(chi_movecode_encode(&start, moves, n, bytes, &len), CHI_OK);
	assert_int_equal(len, sizeof(expected));
	assert_memory_equal(bytes, expected, len);
}

/* Every legal move is read back, and no two have the same bytes. Returns the longest. */
static size_t check_position(const struct chi_position *position, int last)
{
	static bool seen[CHI_MOVECODE_MAX * 255];
	struct chi_move_list list;
	size_t longest = 0;
	memset(seen, 0, sizeof(seen));
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n; i++) {
		uint8_t bytes[CHI_MOVECODE_MAX];
		struct chi_replay replay;
		chi_move move = 0;
		size_t len = chi_movecode_write(position, last, list.moves[i], bytes);
		assert_in_range(len, 1, CHI_MOVECODE_MAX);
		size_t number = (len - 1) * 255 + bytes[len - 1];
		assert_false(seen[number]);
		seen[number] = true;
		longest = len > longest ? len : longest;
		chi_replay_init(&replay, position, bytes, len);
		replay.last = last;
		assert_int_equal(chi_replay_next(&replay, &move), CHI_OK);
		assert_int_equal(move, list.moves[i]);
		assert_int_equal(chi_replay_next(&replay, &move), CHI_NONE);
	}
	return longest;
}

CASE(reads_every_legal_move)
{
	struct seed seed = seed_start("reads_every_legal_move");
	size_t rounds = seed_rounds(SLOW_BUILD ? 200 : 1000);
	for (size_t round = 0; round < rounds; round++) {
		struct chi_position position = random_position(&seed);
		for (int ply = 0; ply < 80; ply++) {
			(void)check_position(&position, (int)seed_below(&seed, 65));
			if (!play_random(&seed, &position)) {
				break;
			}
		}
	}
}

CASE(reads_moves_of_strange_positions)
{
	static const struct {
		const char *fen;
		size_t longest;
	} table[] = {
		{"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", 1},
		{"r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", 1},
		{"1rk1r3/8/8/8/8/8/8/1RK1R3 w EBeb - 0 1", 1},
		{"8/8/8/8/8/8/8/RK5R w HA - 0 1", 1},
		{"8/8/8/8/8/8/8/5RKR w HF - 0 1", 1},
		/* promotions, by capture too, of both sides */
		{"1nbn4/P1P1P2k/8/8/8/8/p1p1p2K/1NBN4 w - - 0 1", 1},
		{"1nbn4/P1P1P2k/8/8/8/8/p1p1p2K/1NBN4 b - - 0 1", 1},
		{"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", 1},
		{"4k3/8/8/8/3pPp2/8/8/4K3 b - e3 0 1", 1},
		/* twenty queens, and a rim of them */
		{"Q2Q2Q1/4Q3/Q2Q2Q1/1Q4Q1/Q3Q3/2Q3QK/Q2Q2Q1/2QQ1Q1k w - - 0 1", 1},
		{"QQQQQQQQ/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/QQQQQQQQ w - - 0 1", 2},
		{"k7/8/8/8/8/8/8/7K w - - 0 1", 1},
		{"7k/8/8/8/8/8/8/8 b - - 0 1", 1},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_position position = position_of(table[i].fen);
		size_t longest = check_position(&position, CHI_NO_SQUARE);
		if (longest != table[i].longest) {
			fail_msg("%s: %zu bytes", table[i].fen, longest);
		}
	}
}

/* The move that a number reads as; 0 if none. */
static chi_move read_one(const struct chi_position *position, int last, unsigned number)
{
	uint8_t bytes[CHI_MOVECODE_MAX];
	struct chi_replay replay;
	chi_move move = 0;
	size_t len = 0;
	for (; number >= 255; number -= 255) {
		bytes[len++] = 255;
	}
	bytes[len++] = (uint8_t)number;
	chi_replay_init(&replay, position, bytes, len);
	replay.last = last;
	return chi_replay_next(&replay, &move) == CHI_OK ? move : 0;
}

/* Of all moves that can be named exactly those are written that are read, under their numbers. */
static void check_all_moves(const struct chi_position *position, int last)
{
	static unsigned numbers[1 << 15]; /* plus 1 */
	unsigned n = 0;
	chi_move move;
	memset(numbers, 0, sizeof(numbers));
	while ((move = read_one(position, last, n)) != 0) {
		assert_int_equal(numbers[move & 0x7fff], 0);
		numbers[move & 0x7fff] = ++n;
	}
	for (unsigned any = 0; any < 6u << 12; any++) {
		uint8_t bytes[CHI_MOVECODE_MAX];
		size_t len = chi_movecode_write(position, last, (chi_move)any, bytes);
		unsigned number = len == 0 ? 0 : (unsigned)(len - 1) * 255 + bytes[len - 1] + 1;
		if (number != numbers[any]) {
			fail_msg("move %x, last %d: %u, not %u", any, last, number, numbers[any]);
		}
	}
}

CASE(writes_what_is_read)
{
	struct seed seed = seed_start("writes_what_is_read");
	size_t rounds = seed_rounds(SLOW_BUILD ? 20 : 100);
	for (size_t round = 0; round < rounds; round++) {
		struct chi_position position = random_position(&seed);
		for (int ply = 0; ply < 40 && play_random(&seed, &position); ply++) {
			int last = (int)seed_below(&seed, 65);
			check_all_moves(&position, last);
		}
	}
}

static int by_value(const void *a, const void *b)
{
	const chi_move *x = a;
	const chi_move *y = b;
	return (*x > *y) - (*x < *y);
}

/* Adds the numbers of all moves of a position to a hash (FNV-1a); returns one of the moves. */
static chi_move hash_numbers(const struct chi_position *position, int last, uint64_t random,
			     uint64_t *hash)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	qsort(list.moves, list.n, sizeof(list.moves[0]), by_value);
	for (size_t i = 0; i < list.n; i++) {
		uint8_t bytes[CHI_MOVECODE_MAX];
		size_t len = chi_movecode_write(position, last, list.moves[i], bytes);
		for (size_t k = 0; k < len; k++) {
			*hash = (*hash ^ bytes[k]) * UINT64_C(0x100000001b3);
		}
	}
	return list.n > 0 ? list.moves[random % list.n] : 0;
}

/* Stored games are read by them: what writing and reading changed alike was seen by no test. The
 * games are those of a generator that is written here (Knuth, MMIX), whatever the seed. */
CASE(numbers_are_those_of_stored_games)
{
	uint64_t random = 1;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (unsigned game = 0; game < 60; game++) {
		struct chi_position position = position_of(START_FEN);
		int last = CHI_NO_SQUARE;
		for (unsigned ply = 0; ply < 120; ply++) {
			struct chi_position before = position;
			random = random * UINT64_C(6364136223846793005) +
				 UINT64_C(1442695040888963407);
			chi_move move = hash_numbers(&position, last, random >> 33, &hash);
			if (move == 0) {
				break;
			}
			chi_position_play(&before, move, &position);
			last = chi_move_to(move);
		}
	}
	if (hash != UINT64_C(0x0f028c49bc709acf)) {
		fail_msg("%" PRIx64, hash);
	}
}

struct game {
	struct chi_position start;
	chi_move moves[PLIES_MAX];
	size_t n;
	uint8_t bytes[PLIES_MAX * CHI_MOVECODE_MAX];
	size_t len;
};

static void play_game(struct seed *seed, struct game *game)
{
	static struct chi_position positions[PLIES_MAX + 1];
	static uint8_t again[sizeof(game->bytes)];
	struct chi_move_list list;
	size_t len;
	game->start = random_position(seed);
	positions[0] = game->start;
	for (game->n = 0; game->n < PLIES_MAX; game->n++) {
		chi_movegen_legal(&positions[game->n], &list);
		if (list.n == 0) {
			break;
		}
		chi_move move = list.moves[seed_below(seed, list.n)];
		game->moves[game->n] = move;
		chi_position_play(&positions[game->n], move, &positions[game->n + 1]);
	}
	assert_int_equal(
		chi_movecode_encode(&game->start, game->moves, game->n, game->bytes, &game->len),
		CHI_OK);
	assert_int_equal(chi_movecode_encode_played(positions, game->moves, game->n, again, &len),
			 CHI_OK);
	assert_int_equal(len, game->len);
	assert_memory_equal(again, game->bytes, len);
}

/* A game's bytes changed or cut: some moves, or a refusal, and nothing impossible in between. */
static void check_damaged(struct seed *seed, struct game *game)
{
	struct chi_replay replay;
	chi_move move = 0;
	size_t len = seed_below(seed, game->len + 1);
	for (size_t i = 0; i < 3 && len > 0; i++) {
		game->bytes[seed_below(seed, len)] = (uint8_t)seed_next(seed);
	}
	chi_replay_init(&replay, &game->start, game->bytes, len);
	for (;;) {
		struct chi_position before = *chi_replay_position(&replay);
		int status = chi_replay_next(&replay, &move);
		const struct chi_position *after = chi_replay_position(&replay);
		if (status != CHI_OK) {
			assert_true(status == CHI_NONE || status == -CHI_ECORRUPT);
			return;
		}
		assert_true((before.colour[before.side] >> chi_move_from(move) & 1) != 0);
		assert_int_equal(after->side, before.side ^ 1);
		assert_int_equal(chi_position_king(after, after->side) == CHI_NO_SQUARE,
				 chi_position_king(&before, after->side) == CHI_NO_SQUARE);
		assert_int_equal(after->colour[0] & after->colour[1], 0);
	}
}

CASE(reads_games)
{
	struct seed seed = seed_start("reads_games");
	size_t rounds = seed_rounds(SLOW_BUILD ? 100 : 1000);
	static struct game game;
	static chi_move moves[PLIES_MAX];
	for (size_t round = 0; round < rounds; round++) {
		play_game(&seed, &game);
		assert_int_equal(
			chi_movecode_decode(&game.start, game.bytes, game.len, moves, game.n),
			CHI_OK);
		assert_memory_equal(moves, game.moves, game.n * sizeof(moves[0]));
		if (game.n > 0) {
			assert_int_equal(chi_movecode_decode(&game.start, game.bytes, game.len,
							     moves, game.n - 1),
					 -CHI_ECORRUPT);
			assert_int_equal(chi_movecode_decode(&game.start, game.bytes, game.len - 1,
							     moves, game.n),
					 -CHI_ECORRUPT);
		}
		for (int i = 0; i < 10; i++) {
			check_damaged(&seed, &game);
		}
	}
}

CASE(refuses_what_is_no_candidate)
{
	static const char *const moves[] = {"e2e5", "e7e5", "a3a4", "g1e2", "e1g1", "a1a8"};
	struct chi_position start = position_of(START_FEN);
	uint8_t bytes[CHI_MOVECODE_MAX];
	size_t len = 0;
	for (size_t i = 0; i < CHI_COUNT(moves); i++) {
		const char *text = moves[i];
		chi_move move = chi_move_make((text[1] - '1') * 8 + text[0] - 'a',
					      (text[3] - '1') * 8 + text[2] - 'a', 0);
		assert_int_equal(chi_movecode_write(&start, CHI_NO_SQUARE, move, bytes), 0);
		assert_int_equal(chi_movecode_encode(&start, &move, 1, bytes, &len), -CHI_EMOVE);
	}
	/* e2e4 with a promotion, and numbers beyond the last of the twenty. */
	assert_int_equal(
		chi_movecode_write(&start, CHI_NO_SQUARE, chi_move_make(12, 28, CHI_QUEEN), bytes),
		0);
	static const uint8_t wrong[][4] = {{20}, {254}, {255, 255, 255, 255}};
	for (size_t i = 0; i < CHI_COUNT(wrong); i++) {
		chi_move move = 0;
		assert_int_equal(chi_movecode_decode(&start, wrong[i], i == 2 ? 4 : 1, &move, 1),
				 -CHI_ECORRUPT);
	}
}
