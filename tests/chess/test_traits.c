/* SPDX-License-Identifier: MIT */
/* Traits of games: known ones, and random games against what each position says by itself. */
#include <stdio.h>
#include <string.h>

#include "chess/fen.h"
#include "chess/moment/moment.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/traits/traits.h"
#include "tests/chess/support.h"

static bool has(const struct chi_traits *traits, enum chi_trait_kind kind, uint64_t value)
{
	for (size_t i = 0; i < traits->n; i++) {
		if (traits->trait[i] == chi_trait_make(kind, value)) {
			return true;
		}
	}
	return false;
}

/* Plays moves in UCI from a position. */
static void gather(const char *fen, const char *moves, struct chi_traits *out)
{
	struct chi_position at[2] = {position_of(fen)};
	char text[512];
	char *left = NULL;
	(void)snprintf(text, sizeof(text), "%s", moves);
	chi_traits_begin(out);
	for (char *word = strtok_r(text, " ", &left); word != NULL;
	     word = strtok_r(NULL, " ", &left)) {
		chi_move move = 0;
		assert_int_equal(chi_uci_parse(&at[0], word, strlen(word), &move, NULL), CHI_OK);
		chi_traits_add(out, &at[0], move);
		chi_position_play(&at[0], move, &at[1]);
		at[0] = at[1];
	}
	chi_traits_add(out, &at[0], 0);
	chi_traits_end(out);
}

static const struct {
	const char *fen;
	const char *moves;
	uint32_t events;
} known[] = {
	{START_FEN, "", 0},
	{START_FEN, "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8",
	 1u << CHI_TRAIT_O_O | 1u << (CHI_TRAIT_O_O + 1)},
	{"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1 e8g8",
	 1u << CHI_TRAIT_O_O_O | 1u << (CHI_TRAIT_O_O + 1)},
	{"r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", 1u << (CHI_TRAIT_O_O_O + 1)},
	{START_FEN, "e2e4 a7a6 e4e5 d7d5 e5d6", 1u << CHI_TRAIT_EP},
	{START_FEN, "a2a3 d7d5 a3a4 d5d4 e2e4 d4e3", 1u << (CHI_TRAIT_EP + 1)},
	{START_FEN, "f2f3 e7e5 g2g4 d8h4", 1u << CHI_TRAIT_MATED},
	{START_FEN, "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", 1u << (CHI_TRAIT_MATED + 1)},
	{"7k/5K2/8/6Q1/8/8/8/8 w - - 0 1", "g5g6", 1u << (CHI_TRAIT_STALEMATE + 1)},
	{"8/6P1/8/8/8/k7/8/K7 w - - 0 1", "g7g8n", 1u << CHI_TRAIT_MADE | 1u << CHI_TRAIT_DEAD},
	{"8/8/8/8/8/k7/6p1/K7 b - - 0 1", "g2g1q",
	 1u << (CHI_TRAIT_MADE + 2 * (CHI_QUEEN - CHI_KNIGHT) + 1) | 1u << CHI_TRAIT_MATED},
	{"8/8/8/8/8/k7/6r1/K6R b - - 0 1", "g2g7 h1g1 g7g1", 1u << CHI_TRAIT_MATED},
	{"8/8/8/8/8/2k5/6b1/K6R b - - 0 1", "g2h1", 1u << CHI_TRAIT_DEAD},
};

CASE(known_events)
{
	struct chi_traits traits;
	(void)state;
	for (size_t i = 0; i < CHI_COUNT(known); i++) {
		gather(known[i].fen, known[i].moves, &traits);
		for (unsigned event = 0; event < CHI_TRAIT_EVENTS; event++) {
			if (has(&traits, CHI_TRAIT_EVENT, event) !=
			    ((known[i].events >> event & 1) != 0)) {
				fail_msg("line %zu: event %u", i, event);
			}
		}
	}
}

CASE(material_and_home_pawns_are_written_so)
{
	struct chi_position start = position_of(START_FEN);
	struct chi_position few = position_of("4k3/p6p/8/8/8/7p/1P6/QQRBNK2 w - - 0 1");
	uint8_t counts[2][CHI_KINDS];
	(void)state;
	assert_int_equal(chi_trait_material(&start), UINT64_C(0x111222122288));
	assert_int_equal(chi_trait_material(&few), UINT64_C(0x112111000013));
	assert_int_equal(chi_trait_home(&start), 0xffff);
	assert_int_equal(chi_trait_home(&few), 0x8102);
	chi_trait_counts(chi_trait_material(&few), counts);
	const uint8_t wanted[2][CHI_KINDS] = {{1, 1, 1, 1, 2, 1}, {3, 0, 0, 0, 0, 1}};
	assert_memory_equal(counts, wanted, sizeof(counts));
}

/* More than 15 of a kind are one in a trait, which comes twice. */
CASE(material_that_comes_back_is_one_trait)
{
	struct chi_traits traits;
	(void)state;
	gather("k7/8/1r6/8/1NNNNNNN/NNNNNNNN/1N6/K7 b - - 0 1", "b6b4", &traits);
	assert_int_equal(traits.n, 2);
	gather("k5r1/5P2/8/8/1PPPPPPP/PPPPPPPP/7P/K7 w - - 0 1", "f7f8q g8f8", &traits);
	assert_int_equal(traits.n, 4);
}

/* What each position and move says, against what was gathered; nothing else, and nothing twice. */
static void play_one(struct seed *seed)
{
	uint64_t kind = seed_next(seed) % 3;
	struct chi_position at[2] = {kind == 0	 ? position_of(START_FEN)
				     : kind == 1 ? random_start(seed)
						 : random_placement(seed)};
	static struct chi_position met[400];
	struct chi_traits traits;
	size_t n = 0;
	chi_traits_begin(&traits);
	for (; n < CHI_COUNT(met); n++) {
		struct chi_move_list legal;
		met[n] = at[0];
		chi_movegen_legal(&at[0], &legal);
		bool over = legal.n == 0 || n + 1 == CHI_COUNT(met);
		chi_move move = over ? 0 : legal.moves[seed_next(seed) % legal.n];
		chi_traits_add(&traits, &at[0], move);
		if (over) {
			n++;
			break;
		}
		chi_position_play(&at[0], move, &at[1]);
		at[0] = at[1];
	}
	chi_traits_end(&traits);
	for (size_t i = 0; i < n; i++) {
		assert_true(has(&traits, CHI_TRAIT_MATERIAL, chi_trait_material(&met[i])));
		assert_true(has(&traits, CHI_TRAIT_HOME, chi_trait_home(&met[i])));
		assert_true(!chi_position_insufficient(&met[i]) ||
			    has(&traits, CHI_TRAIT_EVENT, CHI_TRAIT_DEAD));
	}
	for (size_t i = 0; i < traits.n; i++) {
		chi_trait trait = traits.trait[i];
		bool found = chi_trait_kind_of(trait) == CHI_TRAIT_EVENT;
		for (size_t k = 0; k < n && !found; k++) {
			found = chi_trait_value(trait) ==
				(chi_trait_kind_of(trait) == CHI_TRAIT_HOME
					 ? chi_trait_home(&met[k])
					 : chi_trait_material(&met[k]));
		}
		assert_true(found);
		for (size_t k = 0; k < i; k++) {
			assert_true(traits.trait[k] != trait);
		}
	}
}

CASE(random_games_have_the_traits_of_their_positions)
{
	struct seed seed = seed_start("traits");
	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		play_one(&seed);
	}
}

CASES_MAIN(NULL, NULL)
