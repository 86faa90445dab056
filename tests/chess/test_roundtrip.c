/* SPDX-License-Identifier: MIT */
/*
 * A million random positions: each keeps its invariants, and comes back unchanged from its key
 * and from its FEN. Different positions of a run have different keys.
 */
#include "tests/chess/support.h"

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/validate.h"
#include "tests/chess/position_equal.h"

/* Positions of each of the three sources. */
static uint64_t rounds(void)
{
	return number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 35000 : 350000);
}

static void check_round_trip(const struct chi_position *position)
{
	struct chi_position back = {0};
	struct chi_fault fault = {{0}};
	struct chi_key key;
	struct chi_key again;
	char fen[CHI_FEN_SIZE];
	size_t len = chi_fen_print(position, fen);
	chi_key_encode(position, &key);
	if (chi_position_check(position, -CHI_EINTERNAL, &fault) != CHI_OK ||
	    chi_key_decode(&key, &back, &fault) != CHI_OK) {
		fail_msg("%s: %s", fen, fault.text);
	}
	if (!chi_position_equal(position, &back) || !chi_key_shape_ok(key.bytes, key.len)) {
		fail_msg("%s: not the same from its key", fen);
	}
	if (len >= CHI_FEN_SIZE || len > CHI_FEN_INPUT_MAX || strlen(fen) != len ||
	    chi_fen_parse(fen, len, &back, &fault) != CHI_OK ||
	    !chi_position_equal(position, &back)) {
		fail_msg("%s: not the same from its FEN (%s)", fen, fault.text);
	}
	chi_key_encode(&back, &again);
	assert_memory_equal(&key, &again, sizeof(key));
}

static void play(const char *name, bool chess960)
{
	struct seed seed = seed_start(name);
	struct chi_position position = position_of(START_FEN);
	unsigned ply = 0;
	for (uint64_t i = 0; i < rounds(); i++) {
		check_round_trip(&position);
		if (ply++ == 150 || !play_random(&seed, &position)) {
			position = chess960 ? random_start(&seed) : position_of(START_FEN);
			ply = 0;
		}
	}
	print_message("# figures: %s: %" PRIu64 " positions\n", name, rounds());
}

CASE(standard_games)
{
	play("round trip, standard games", false);
}

CASE(chess960_games)
{
	play("round trip, Chess960 games", true);
}

CASE(placements)
{
	struct seed seed = seed_start("round trip, placements");
	for (uint64_t i = 0; i < rounds(); i++) {
		struct chi_position position = random_placement(&seed);
		check_round_trip(&position);
		/* A move from an odd position leads to one that must be normalised as well. */
		if (chi_position_king(&position, CHI_BLACK) != CHI_NO_SQUARE &&
		    play_random(&seed, &position)) {
			check_round_trip(&position);
		}
	}
	print_message("# figures: round trip, placements: %" PRIu64 " positions\n", rounds());
}

/* Each thing a key holds, and that it makes a difference: all these are pairwise distinct. */
CASE(every_part_counts)
{
	static const char *const fens[] = {
		"r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", "r3k2r/8/8/8/8/8/8/R3K2R b KQkq -",
		"r3k2r/8/8/8/8/8/8/R3K2R w Qkq -",  "r3k2r/8/8/8/8/8/8/R3K2R w Kkq -",
		"r3k2r/8/8/8/8/8/8/R3K2R w KQq -",  "r3k2r/8/8/8/8/8/8/R3K2R w KQk -",
		"r3k2r/8/8/8/8/8/8/R3K2R w - -",    "r3k2r/8/8/8/8/8/8/R3K1R1 w KQkq -",
		"4k3/8/8/3pP3/8/8/8/4K3 w - d6",    "4k3/8/8/3pP3/8/8/8/4K3 w - -",
		"4k3/8/8/2pPp3/8/8/8/4K3 w - c6",   "4k3/8/8/2pPp3/8/8/8/4K3 w - e6",
		"4k3/8/8/8/3Pp3/8/8/4K3 b - d3",    "4k3/8/8/8/3Pp3/8/8/4K3 b - -",
		"8/8/8/8/8/8/8/Q7 w - -",	    "8/8/8/8/8/8/8/q7 w - -",
		"8/8/8/8/8/8/8/R7 w - -",	    "8/8/8/8/8/8/8/B7 w - -",
		"8/8/8/8/8/8/8/N7 w - -",	    "8/8/8/8/8/8/8/K7 w - -",
		"8/8/8/8/8/8/8/k7 w - -",	    "8/8/8/8/8/8/8/k7 b - -",
		"8/8/8/8/8/8/P7/8 w - -",	    "8/8/8/8/8/8/p7/8 w - -",
		"1rr1k3/8/8/8/8/8/8/1RR1K3 w Bb -", "1rr1k3/8/8/8/8/8/8/1RR1K3 w Cb -",
	};
	struct chi_key keys[CHI_COUNT(fens)];
	for (size_t i = 0; i < CHI_COUNT(fens); i++) {
		struct chi_position position = position_of(fens[i]);
		check_round_trip(&position);
		chi_key_encode(&position, &keys[i]);
		for (size_t k = 0; k < i; k++) {
			assert_memory_not_equal(&keys[i], &keys[k], sizeof(keys[i]));
		}
	}
}
