/* SPDX-License-Identifier: MIT */
/* However a text is fed, and wherever chi_pgn_boundary lets it be cut, the games are the same. The
 * texts are made of pieces that tempt the reader to disagree with itself. */
#include "tests/chess/pgn_games.h"

#include <stdlib.h>

CASE(finds_boundaries)
{
	static const struct {
		const char *before; /* the boundary is between the two, or there is none */
		const char *behind;
	} table[] = {
		{"[Event \"a\"]\n\n1. e4 1-0\n\n", "[Event \"b\"]\n"},
		{"1. e4 1-0\n", "[Event \"b\"]"},
		{"1. e4 1-0\r\n \t\r\n", "[Event \"b\"]"},
		{"{[x]\ny\n", "[Event \"b\"]"},
		{"; [x]\n", "[Event \"b\"]"},
		/* not after a tag, not at the start, not inside a line, not another tag */
		{"[Event \"a\"]\n\n[Event \"b\"]\n", NULL},
		{"[White \"a\"]\n  [Site \"x\"]  \n[Event \"b\"]\n", NULL},
		{"\xef\xbb\xbf[White \"a\"]\n[Event \"b\"]\n", NULL},
		{"[Event \"a\"]\n", NULL},
		{"\n \n[Event \"a\"]\n", NULL},
		{"1. e4 [Event \"a\"]\n", NULL},
		{"1. e4\n [Event \"a\"]\n", NULL},
		{"1. e4\n[White \"a\"]\n[Event \"x\"]", NULL},
		{"1. e4\n[event \"a\"]", NULL},
		{"1. e4\n[Event ", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char text[256];
		const char *behind = table[i].behind != NULL ? table[i].behind : "";
		size_t len = (size_t)snprintf(text, sizeof(text), "%s%s", table[i].before, behind);
		size_t expected = strlen(table[i].before);
		if (chi_pgn_boundary(text, len, 0) != expected) {
			fail_msg("%s: %zu", text, chi_pgn_boundary(text, len, 0));
		}
		assert_int_equal(chi_pgn_boundary(text, len, expected), expected);
		if (expected < len) {
			assert_int_equal(chi_pgn_boundary(text, len, expected + 1), len);
		}
	}
}

static void append(struct read_games *games, struct read_games *more)
{
	if (more->n > 0) {
		games->games = realloc(games->games, (games->n + more->n) * sizeof(*games->games));
		assert_non_null(games->games);
		memcpy(games->games + games->n, more->games, more->n * sizeof(*games->games));
	}
	games->n += more->n;
	games->lines += more->lines;
	free(more->games);
}

/* Reads part by part, cut at the boundaries after every `step` bytes. */
static struct read_games read_parts(const char *text, size_t len, size_t step, size_t *cuts)
{
	struct read_games games = {0};
	size_t at = 0;
	while (at < len) {
		size_t end = len - at > step ? chi_pgn_boundary(text, len, at + step) : len;
		struct read_games part = read_games(text + at, end - at, end - at, NULL);
		append(&games, &part);
		*cuts += end < len;
		at = end;
	}
	return games;
}

/* Texts at each of which the reader would go on with one game if it looked at tags alone. */
CASE(begins_a_game_at_each_boundary)
{
	static const char *const texts[] = {
		"[White \"a\"]\n{c}\n[Event \"e\"]\n",
		"[White \"a\"]\n; c\n[Event \"e\"]\n",
		"[White \"a\"]\n% c\n[Event \"e\"]\n",
		"[White \"a\"]\n$1\n[Event \"e\"]\n",
		"[White \"a\"]\n.\n[Event \"e\"]\n",
		"[White \"a\"]\n\x01\n[Event \"e\"]\n",
		"[White \"a\"]\n\xc2\xa0\n[Event \"e\"]\n",
		"[White \"a\"]\n(x)\n[Event \"e\"]\n",
		"x [White \"a\"]\n[Event \"e\"]\n",
		"* [White \"a\"]\n\n[Event \"e\"]\n",
		/* the last tag's line begins inside what began after another tag */
		"[White \"a\"] {c\nx } [Black \"b\"]\n[Event \"e\"]\n",
		"[White \"a\"] (c\nx ) [Black \"b\"]\n[Event \"e\"]\n",
		"[White \"a\"] [1. c\nx ] [Black \"b\"]\n[Event \"e\"]\n",
		"[White \"a\"] ({c\n} x) [Black \"b\"]\n[Event \"e\"]\n",
	};
	for (size_t i = 0; i < CHI_COUNT(texts); i++) {
		size_t len = strlen(texts[i]);
		size_t cuts = 0;
		struct read_games whole = read_games(texts[i], len, len, NULL);
		struct read_games parts = read_parts(texts[i], len, 1, &cuts);
		assert_int_equal(cuts, 1);
		/* The second part alone is an Event tag without anything: no game. */
		assert_int_equal(whole.n, 1);
		assert_null(whole.games[0].tags[CHI_PGN_EVENT]);
		assert_same_games(&whole, &parts, true);
		free_games(&whole);
		free_games(&parts);
	}
}

CASE(does_not_care_how_it_is_fed)
{
	struct seed seed = seed_start("does_not_care_how_it_is_fed");
	size_t rounds = seed_rounds(SLOW_BUILD ? 500 : 5000);
	size_t cuts = 0;
	for (size_t round = 0; round < rounds; round++) {
		size_t len = 0;
		_cleanup_(chi_freep) char *text = random_games(&seed, &len);
		struct read_games whole = read_games(text, len, len, NULL);
		struct read_games bytes = read_games(text, len, 1, NULL);
		assert_same_games(&whole, &bytes, false);
		struct read_games parts = read_parts(text, len, 1, &cuts);
		assert_same_games(&whole, &parts, true);
		free_games(&whole);
		free_games(&bytes);
		free_games(&parts);
	}
	/* Else the test would hold nothing. */
	assert_true(cuts > rounds / 4);
}

CASE(cuts_a_collection)
{
	struct seed seed = seed_start("cuts_a_collection");
	size_t len = 0;
	_cleanup_(chi_freep) char *text = read_data("pgn/games_300.pgn", &len);
	struct read_games whole = read_games(text, len, len, NULL);
	for (size_t i = 0; i < 4; i++) {
		size_t cuts = 0;
		struct read_games parts =
			read_parts(text, len, 1 + seed_below(&seed, 50000), &cuts);
		assert_same_games(&whole, &parts, true);
		assert_true(cuts > 0);
		free_games(&parts);
		struct read_games pieces = read_games(text, len, 0, &seed);
		assert_same_games(&whole, &pieces, false);
		free_games(&pieces);
	}
	free_games(&whole);
}
