/* SPDX-License-Identifier: MIT */
/* Games as they stand in files: where one begins and ends, how it ended, what stopped it. */
#include "tests/chess/pgn_games.h"

#include <stdlib.h>
#include "tests/chess/pgn_free.h"

#define TAGS "[Event \"E\"]\n[White \"W\"]\n[Black \"B\"]\n[Result \"1-0\"]\n\n"

/* Reads a text whole, checks that any other way of feeding it gives the same. */
static struct read_games games_of(const char *text)
{
	size_t len = strlen(text);
	struct read_games games = read_games(text, len, len + 1, NULL);
	for (size_t piece = 1; piece < 4; piece++) {
		struct read_games again = read_games(text, len, piece, NULL);
		assert_same_games(&games, &again, false);
		free_games(&again);
	}
	return games;
}

/* One game, read to its end. */
static void expect_moves(const char *text, const char *moves)
{
	struct read_games games = games_of(text);
	if (games.n != 1 || games.games[0].game.end != CHI_PGN_COMPLETE ||
	    strcmp(moves_of(&games.games[0]), moves) != 0) {
		fail_msg("%s: %zu games, end %d '%s', %s", text, games.n,
			 games.n > 0 ? (int)games.games[0].game.end : -1,
			 games.n > 0 ? games.games[0].game.end_text : "",
			 games.n > 0 ? moves_of(&games.games[0]) : "");
	}
	free_games(&games);
}

CASE(reads_over_what_is_no_move)
{
	static const char *const texts[] = {
		/* line ends, byte order mark */
		"1. e4 e5 2. Nf3 1-0\n",
		"\xef\xbb\xbf" TAGS "1. e4 e5 2. Nf3 1-0\n",
		"1. e4 e5\r\n2. Nf3\r\n1-0\r\n",
		"\n\n\t1.\ne4\n\n\ne5\n2.\nNf3\n1-0",
		/* comments and escaped lines */
		"{x} 1. e4 {e5 (d5} e5 {multi\nline {brace} 2. Nf3 {%cal [x]} 1-0 {White wins}\n",
		"1. e4 ; e5 { 1-0\ne5 2. Nf3 ;)\n1-0",
		"% escaped { ( [Event \"x\"]\n1. e4\n% 1-0\ne5 2. Nf3 1-0",
		"1. e4 {[%clk 0:01:00]\n[%eval 0.3]} e5 2. Nf3 1-0",
		/* variations */
		"1. e4 (1. d4 d5 (1... Nf6 {)} 2. c4) 2. c4) e5 (x) 2. Nf3 () 1-0",
		"1. e4 (1. d4 ; )\n) e5 (\n% )\n) 2. Nf3 1-0",
		"1. e4 (1. d4 1-0 [x\n[Diagram]\n *) e5 2. Nf3 ) 1-0",
		/* annotation marks */
		"1. e4! $1 e5?! $12$14 2. Nf3!? +- $146 N -/+ +/= ∞ D 1-0",
		"1. e4 $ e5, 2. Nf3 +, = ?! \xb1 1-0",
		/* move numbers */
		"1.e4 e5 2.Nf3 1-0",
		"1 e4 1... e5 2 . Nf3 1-0",
		"1. ... e4 1. .. e5 12345. Nf3 1-0",
		"1. e4 1… e5 2.\xc2\xa0Nf3 1-0",
		"e4 e5 Nf3 1-0",
		/* brackets and strange signs that are no tags */
		"1. e4 [%eval 0.2] e5 < > ] } \" 2. Nf3 [] 1-0",
		/* variations in square brackets */
		"1. e4 [1. d4 d5 (x)\n [2. c4) 1-0 {]} 3. x] e5 2. Nf3 1-0",
		/* a star in the way */
		"[Result \"1-0\"]\n\n*1. e4 e5 2. Nf3 1-0",
		/* text between games */
		"From: x@example.org\nSubject: games\n\n1. e4 e5 2. Nf3 1-0\nregards\n* 0-1 {}\n",
	};
	for (size_t i = 0; i < CHI_COUNT(texts); i++) {
		expect_moves(texts[i], "e2e4 e7e5 g1f3");
	}
	expect_moves("1. e4 c5 2. e5 d5 3. exd6 e.p. 1-0", "e2e4 c7c5 e4e5 d7d5 e5d6");
	expect_moves("1. e4 c5 2. e5 d5 3. exd6e.p. ep 1-0", "e2e4 c7c5 e4e5 d7d5 e5d6");
}

CASE(tells_games_apart)
{
	static const struct {
		const char *text;
		size_t games;
		size_t plies[4];
	} table[] = {
		{"", 0, {0}},
		{"\n \n% x\n{}\n*\n1-0\n", 0, {0}},
		{"1. e4 * 1. d4 d5 1-0 1. c4", 3, {1, 2, 1}},
		{TAGS "1. e4 *\n" TAGS "1. d4 d5 *\n", 2, {1, 2}},
		{TAGS "1. e4\n" TAGS "1. d4 d5\n", 2, {1, 2}}, /* no result */
		{TAGS "1. e4 * " TAGS "1. d4 d5", 2, {1, 2}},
		/* header-only games, with and without a blank line */
		{TAGS TAGS "1. e4 *", 2, {0, 1}},
		{TAGS "*\n" TAGS "*", 2, {0, 0}},
		{"[Event \"A\"]\n[White \"x\"]\n[Event \"B\"]\n[White \"y\"]\n", 2, {0, 0}},
		{"[White \"A\"]\n[Black \"x\"]\n\n[White \"B\"]\n\n*", 2, {0, 0}},
		{"[White \"A\"]\n{c}\n[White \"B\"]\n\n1. e4 *", 2, {0, 1}},
		/* blank lines and repeated tags inside one header */
		{"[Event \"A\"]\n\n[White \"x\"]\n\n\n[Black \"y\"]\n\n1. e4 *", 1, {1}},
		{"[White \"A\"]\n[White \"B\"]\n\n1. e4 *", 1, {1}},
		{"[Event \"A\"]\n[White \"x\"]\n{c}\n[Black \"y\"]\n1. e4 *", 1, {1}},
		/* an Event tag that a writer left behind */
		{"1. e4 1-0[Event \"A\"]\n\n" TAGS "1. d4 d5 *", 2, {1, 2}},
		{"1. e4 1-0\n\n[Event \"A\"]\n", 1, {1}},
		{"[Event \"A\"]\n\n*", 1, {0}},
		/* tags on one line */
		{"[Event \"A\"][White \"x\"] 1. e4 *[Event \"B\"][White \"y\"]1. d4 d5", 2, {1, 2}},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct read_games games = games_of(table[i].text);
		if (games.n != table[i].games) {
			fail_msg("%s: %zu games", table[i].text, games.n);
		}
		for (size_t j = 0; j < games.n; j++) {
			assert_int_equal(games.games[j].game.n_plies, table[i].plies[j]);
			assert_int_equal(games.games[j].game.number, j + 1);
			assert_int_equal(games.games[j].game.end, CHI_PGN_COMPLETE);
		}
		free_games(&games);
	}
}

static const struct {
	const char *tag;
	const char *said;
	enum chi_result result;
	bool differ;
} results[] = {
	{"1-0", "1-0", CHI_RESULT_WHITE, false},
	{"0-1", "0-1", CHI_RESULT_BLACK, false},
	{"1/2-1/2", "1/2-1/2", CHI_RESULT_DRAW, false},
	{"*", "*", CHI_RESULT_OTHER, false},
	/* short, with dashes of other kinds, as one sign; UTF-8 and Windows Latin-1 */
	{"1/2", "1/2", CHI_RESULT_DRAW, false},
	{"1\xe2\x80\x93"
	 "0",
	 "*", CHI_RESULT_WHITE, false},
	{"",
	 "0\xe2\x80\x93"
	 "1",
	 CHI_RESULT_BLACK, false},
	{"",
	 "0\x96"
	 "1",
	 CHI_RESULT_BLACK, false},
	{"\xbd-\xbd", "\xc2\xbd", CHI_RESULT_DRAW, false},
	{"", "\xc2\xbd\xe2\x80\x93\xc2\xbd", CHI_RESULT_DRAW, false},
	{"",
	 "1/2\x96"
	 "1/2",
	 CHI_RESULT_DRAW, false},
	{"1:0", "", CHI_RESULT_WHITE, false},
	/* one of both says it */
	{"", "0-1", CHI_RESULT_BLACK, false},
	{"?", "0-1", CHI_RESULT_BLACK, false},
	{"*", "0-1", CHI_RESULT_BLACK, false},
	{"White", "1-0", CHI_RESULT_WHITE, false},
	{"0-1", "", CHI_RESULT_BLACK, false},
	{"0-1", "*", CHI_RESULT_BLACK, false},
	/* they contradict each other: the tag's */
	{"1-0", "0-1", CHI_RESULT_WHITE, true},
	{"1/2-1/2", "1-0", CHI_RESULT_DRAW, true},
	/* both sides lost; a point and a half is no result */
	{"0-0", "0-0", CHI_RESULT_OTHER, false},
	{"1/2-0", "1/2-0", CHI_RESULT_OTHER, false},
};

CASE(reads_results)
{
	for (size_t i = 0; i < CHI_COUNT(results); i++) {
		char text[256];
		snprintf(text, sizeof(text), "[White \"x\"]\n[Result \"%s\"]\n\n1. e4 c5 %s",
			 results[i].tag, results[i].said);
		struct read_games games = games_of(text);
		assert_int_equal(games.n, 1);
		const struct chi_pgn_game *game = &games.games[0].game;
		if (game->result != results[i].result || game->end != CHI_PGN_COMPLETE) {
			fail_msg("%s: result %d, end %d", text, (int)game->result, (int)game->end);
		}
		assert_int_equal(game->results_differ, results[i].differ);
		assert_int_equal(game->n_plies, 2);
		free_games(&games);
	}
}

/* What writers stick to a move is read apart from it. */
CASE(parts_what_sticks_to_a_move)
{
#define MATE "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 "
	static const struct {
		const char *text;
		size_t plies;
		enum chi_result result;
	} table[] = {
		{MATE "4. Qxf7#1-0", 7, CHI_RESULT_WHITE},
		{MATE "4. Qxf7mate 1-0", 7, CHI_RESULT_WHITE},
		{MATE "4. Qxf7#*", 7, CHI_RESULT_OTHER},
		{"1. e4 e5 2. Qg40-1", 3, CHI_RESULT_BLACK},
		{"1. e4 e51/2-1/2", 2, CHI_RESULT_DRAW},
		{"1. e4 e51/2", 2, CHI_RESULT_DRAW},
		{"1. Nf3 d5 2. g3 e6 3. Bg2 Nf6 4. O-O1-0", 7, CHI_RESULT_WHITE},
		{"1. a4 h6 2. a5 b5 3. axb6ep axb6 1-0", 6, CHI_RESULT_WHITE},
		{"1. a4 h6 2. a5 b5 3. axb6e.p. axb6 1-0", 6, CHI_RESULT_WHITE},
		{"1. a4 h6 2. a5 b5 3. axb6 e.p. axb6 1-0", 6, CHI_RESULT_WHITE},
		{"1. e4$1 e5!?{good} 2. Nf3$1$14 Nc6N 3. Bb5TN (3. d4) a6 1-0", 6,
		 CHI_RESULT_WHITE},
		{"1. e4 e5 2. Qh5 Ke7 3. Qxe5ch 1-0", 5, CHI_RESULT_WHITE},
		{"1. Nf3 d5 2. d4 e6 3. Nd21-0", 4, CHI_RESULT_WHITE},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct read_games games = games_of(table[i].text);
		assert_int_equal(games.n, 1);
		const struct chi_pgn_game *game = &games.games[0].game;
		if (game->n_plies != table[i].plies || game->result != table[i].result) {
			fail_msg("%s: %zu plies, result %d", table[i].text, game->n_plies,
				 (int)game->result);
		}
		free_games(&games);
	}
	/* A move cut short still has the result that sticks to a later one. */
	struct read_games games = games_of(TAGS "1. e4 Kxe8 2. d41-0\n1. d4 *");
	assert_int_equal(games.n, 2);
	assert_int_equal(games.games[0].game.result, CHI_RESULT_WHITE);
	free_games(&games);
}

/* Games without tags between the lines of a letter or a web page. */
CASE(finds_games_in_prose)
{
	static const struct {
		const char *text;
		size_t games;
		size_t plies[3];
	} table[] = {
		{"Dear all, to be or not to be -- my game:\n1. e4 e5 2. Nf3 1-0\nBye, A.", 1, {3}},
		{"e4 is best by test, and a4 is not.\n\n1. d4 d5 2. c4 *\n", 1, {3}},
		{"The move a4 1. e4 c5 1-0", 1, {2}},
		{"1. e4 e5 2. Nf3\n1. d4 d5\nAnd 1. c4 c5 2. Nc3 was\n", 3, {3, 2, 3}},
		{"e2e4 e7e5 g1f3", 1, {3}},
		/* with tags the number 1 begins nothing */
		{TAGS "1. e4 e5 1. d4 d5 1-0", 1, {4}},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct read_games games = games_of(table[i].text);
		if (games.n != table[i].games) {
			fail_msg("%s: %zu games", table[i].text, games.n);
		}
		for (size_t j = 0; j < games.n; j++) {
			if (games.games[j].game.n_plies != table[i].plies[j]) {
				fail_msg("%s: %zu plies", table[i].text,
					 games.games[j].game.n_plies);
			}
		}
		free_games(&games);
	}
}

/* Some programs write it into every game. */
CASE(setup_without_fen_is_the_usual_start)
{
	struct read_games games = games_of("[SetUp \"1\"]\n\n1. e4 e5 1-0");
	assert_int_equal(games.n, 1);
	assert_int_equal(games.games[0].game.end, CHI_PGN_COMPLETE);
	assert_int_equal(games.games[0].game.n_plies, 2);
	free_games(&games);
}

CASE(says_why_a_game_stops)
{
	static const struct {
		const char *text; /* lines counted from 1 */
		enum chi_pgn_end end;
		size_t plies;
		uint64_t line;
		const char *said;
	} table[] = {
		{"1. e4 --\n2. d4 1-0", CHI_PGN_NULL_MOVE, 1, 1, "--"},
		{"1. e4\nZ0 2. d4 1-0", CHI_PGN_NULL_MOVE, 1, 2, "Z0"},
		{"1. e4 0000 2. d4 1-0", CHI_PGN_NULL_MOVE, 1, 1, "0000"},
		{"1. e4 {\n\n} e4 2. d4 1-0", CHI_PGN_ILLEGAL, 1, 3, "e4"},
		{"1. e4 O-O 1-0", CHI_PGN_ILLEGAL, 1, 1, "O-O"},
		{"1. e4 0-0 1-0", CHI_PGN_ILLEGAL, 1, 1, "0-0"},
		{"1. Nf3 d5 2. d4 e6 3. Nd2 1-0", CHI_PGN_AMBIGUOUS, 4, 1, "Nd2"},
		{"1. e4 resigns 1-0", CHI_PGN_UNREADABLE, 1, 1, "resigns"},
		{"1. e4 Bl\xf6"
		 "d 1-0",
		 CHI_PGN_UNREADABLE, 1, 1, "Bl?d"},
		{"1. e4 {no end\n1... e5 1-0", CHI_PGN_UNCLOSED, 1, 2, "comment"},
		{"1. e4 (1. d4\n1... e5 1-0", CHI_PGN_UNCLOSED, 1, 2, "variation"},
		{"[FEN \"nonsense\"]\n\n1. e4 1-0", CHI_PGN_BAD_START, 0, 3, "nonsense"},
		{"[Variant \"Atomic\"]\n\n1. e4 1-0", CHI_PGN_OTHER_RULES, 0, 3, "Atomic"},
		{"[Variant \"Crazyhouse\"]\n\n1. N@f3 x 1-0", CHI_PGN_OTHER_RULES, 0, 3,
		 "Crazyhouse"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct read_games games = games_of(table[i].text);
		assert_int_equal(games.n, 1);
		const struct chi_pgn_game *game = &games.games[0].game;
		if (game->end != table[i].end || strcmp(game->end_text, table[i].said) != 0) {
			fail_msg("%s: end %d '%s'", table[i].text, (int)game->end, game->end_text);
		}
		assert_int_equal(game->n_plies, table[i].plies);
		assert_int_equal(game->end_line, table[i].line);
		free_games(&games);
	}
}

/* A text that fits several legal moves is settled by what follows, or not at all. */
CASE(settles_ambiguous_moves)
{
	/* Knights on b1 and f3, both may go to d2. */
#define BEFORE "1. Nf3 d5 2. d4 e6 3. Nd2 "
	static const struct {
		const char *text;
		const char *third; /* move of White's, or NULL: unsettled */
	} table[] = {
		{BEFORE "c5 4. Nc3 1-0", "f3d2"},
		{BEFORE "c5 4. Ne5 1-0", "b1d2"},
		{BEFORE "c5 4. Ng5 + N 1-0", "b1d2"},
		{BEFORE "Nd7 4. Ne5 Nf6 1-0", "b1d2"},
		/* a second one in each line: d7 from b8 or f6 */
		{"1. Nf3 Nf6 2. d4 e6 3. Nd2 d5 4. e3 Nd7 5. Ne5 Ng4 1-0", "b1d2"},
		{BEFORE "c5 1-0", NULL},
		{BEFORE "c5 4. Nb3 Nc6 5. a3 1-0", NULL},
		{BEFORE "c5 4. Ne5 -- 1-0", "b1d2"},
		{BEFORE "-- 1-0", NULL},
		{BEFORE "c5 4. Qh8 1-0", NULL},
		{BEFORE "c5 {no end", NULL},
	};
#undef BEFORE
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct read_games games = games_of(table[i].text);
		assert_int_equal(games.n, 1);
		const struct chi_pgn_game *game = &games.games[0].game;
		if (table[i].third != NULL) {
			const char *moves = moves_of(&games.games[0]);
			if (strncmp(moves + 20, table[i].third, 4) != 0) {
				fail_msg("%s: %s, end %d", table[i].text, moves, (int)game->end);
			}
		} else {
			assert_int_equal(game->end, CHI_PGN_AMBIGUOUS);
			assert_int_equal(game->n_plies, 4);
			assert_string_equal(game->end_text, "Nd2");
			assert_int_equal(game->end_line, 1);
		}
		free_games(&games);
	}
}

/* Sixteen lines are followed; one more, and the game ends where they first parted. */
CASE(limits_ambiguous_moves)
{
	/* Four pairs of rooks that all may go to the square between them, and Black waits. */
	static const char head[] = "[FEN \"7k/R3R3/8/R3R3/8/R3R3/8/R3R2K w - - 0 1\"]\n\n"
				   "1. R7c7 Kg8 2. R5c5 Kf8 3. R3c3 Kg8 4. R1c1 Kf8 ";
	static const struct {
		const char *tail;
		enum chi_pgn_end end;
		size_t plies;
	} table[] = {
		{"5. a7b7 Kg8 6. a5b5 Kf8 7. a3b3 Kg8 8. a1b1 1-0", CHI_PGN_COMPLETE, 15},
		{"5. a7b7 Kg8 6. a5b5 Kf8 7. a3b3 Kg8 1-0", CHI_PGN_AMBIGUOUS, 0},
		/* from a7 or c7 in half of the lines: 24 of them, of which one could play on */
		{"5. R7b7 Kg8 6. a5b5 Kf8 7. a3b3 Kg8 8. a1b1 Kf8 9. c7d7 1-0", CHI_PGN_AMBIGUOUS,
		 0},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char text[512];
		snprintf(text, sizeof(text), "%s%s", head, table[i].tail);
		struct read_games games = games_of(text);
		assert_int_equal(games.n, 1);
		assert_int_equal(games.games[0].game.end, table[i].end);
		assert_int_equal(games.games[0].game.n_plies, table[i].plies);
		free_games(&games);
	}
}

CASE(starts_anew)
{
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = NULL;
	const struct chi_pgn_game *game = NULL;
	assert_int_equal(chi_pgn_new(&pgn), CHI_OK);
	/* Left in the middle of everything: a game, two lines, a variation, a comment. */
	static const char half[] = "\n[White \"x\"]\n1. Nf3 d5 2. d4 e6 3. Nd2 ( {";
	static const char text[] = "\xef\xbb\xbf\n1. e4";
	assert_int_equal(chi_pgn_feed(pgn, half, strlen(half)), strlen(half));
	assert_int_equal(chi_pgn_next(pgn, &game), CHI_NONE);
	for (int round = 0; round < 2; round++) {
		chi_pgn_restart(pgn);
		assert_int_equal(chi_pgn_next(pgn, &game), CHI_NONE);
		assert_int_equal(chi_pgn_feed(pgn, text, strlen(text)), strlen(text));
		chi_pgn_finish(pgn);
		assert_int_equal(chi_pgn_next(pgn, &game), CHI_OK);
		assert_int_equal(game->n_plies, 1);
		assert_int_equal(game->number, 1);
		assert_int_equal(game->line, 2);
		assert_false(game->has_tags);
		assert_int_equal(game->end, CHI_PGN_COMPLETE);
		assert_int_equal(chi_pgn_next(pgn, &game), CHI_NONE);
		assert_int_equal(chi_pgn_lines(pgn), 1);
	}
}

/* A missing brace or parenthesis costs one game. */
CASE(goes_on_behind_what_is_not_closed)
{
	static const char *const starts[] = {
		TAGS "1. e4 {never closed 1-0\n\n",
		TAGS "1. e4 (1. d4 never closed 1-0\n\n",
		TAGS "1. e4 (1. d4 {neither closed 1-0\n\n",
		TAGS "{in the header\n1. e4 1-0\n\n",
		TAGS "1. e4 \"no end ; { 1-0\n\n",
		"[Event \"E\"]\n[White \"no end]\n[Black \"B\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n",
	};
	for (size_t i = 0; i < CHI_COUNT(starts); i++) {
		char text[512];
		snprintf(text, sizeof(text), "%s%s", starts[i], TAGS "1. d4 d5 2. c4 1-0\n");
		struct read_games games = games_of(text);
		assert_int_equal(games.n, 2);
		assert_string_equal(moves_of(&games.games[1]), "d2d4 d7d5 c2c4");
		assert_int_equal(games.games[0].game.result, CHI_RESULT_WHITE);
		assert_int_equal(games.games[1].game.end, CHI_PGN_COMPLETE);
		free_games(&games);
	}
}

CASE(tells_where_games_are)
{
	const char *text = "\n\n[White \"A\"]\n\n1. e4 *\n  1. d4 *\r\n[White \"B\"]\r\n\r\n*";
	struct read_games games = games_of(text);
	assert_int_equal(games.n, 3);
	assert_int_equal(games.games[0].game.line, 3);
	assert_int_equal(games.games[0].game.offset, 2);
	assert_int_equal(games.games[1].game.line, 6);
	assert_memory_equal(text + games.games[1].game.offset, "d4", 2);
	assert_int_equal(games.games[2].game.line, 7);
	assert_memory_equal(text + games.games[2].game.offset, "[White \"B\"]", 11);
	assert_int_equal(games.lines, 8);
	free_games(&games);
}

/* A game of `plies` moves of knights to and fro. */
static char *long_game(size_t plies)
{
	static const char *const moves[] = {" Nf3", " Nf6", " Ng1", " Ng8"};
	char *text = malloc(plies * 4 + 64);
	assert_non_null(text);
	char *at = text + sprintf(text, "%s", TAGS);
	for (size_t i = 0; i < plies; i++) {
		at += sprintf(at, "%s", moves[i % 4]);
	}
	sprintf(at, "%s", " 1-0\n");
	return text;
}

CASE(limits_plies)
{
	for (size_t plies = CHI_PGN_PLIES_MAX - 1; plies <= CHI_PGN_PLIES_MAX + 1; plies++) {
		_cleanup_(chi_freep) char *first = long_game(plies);
		_cleanup_(chi_freep) char *text = NULL;
		assert_true(asprintf(&text, "%s%s", first, TAGS "1. e4 *") > 0);
		struct read_games games = read_games(text, strlen(text), 1000, NULL);
		bool over = plies > CHI_PGN_PLIES_MAX;
		assert_int_equal(games.n, 2);
		assert_int_equal(games.games[0].game.n_plies, over ? CHI_PGN_PLIES_MAX : plies);
		assert_int_equal(games.games[0].game.end,
				 over ? CHI_PGN_MANY_PLIES : CHI_PGN_COMPLETE);
		assert_int_equal(games.games[0].game.result, CHI_RESULT_WHITE);
		assert_int_equal(games.games[1].game.n_plies, 1);
		free_games(&games);
	}
}

/* The same of a game whose first move is not understood before its last but one: one of two
 * knights. */
CASE(limits_plies_of_a_doubtful_game)
{
	static const char head[] = "[FEN \"k7/8/8/8/8/5N2/8/1N5K w - - 0 1\"]\n\n1. Nd2";
	static const char *const moves[] = {" Ka7", " Kg1", " Ka8", " Kh1"};
	for (size_t plies = CHI_PGN_PLIES_MAX - 2; plies <= CHI_PGN_PLIES_MAX + 2; plies += 2) {
		_cleanup_(chi_freep) char *text = malloc(sizeof(head) + plies * 4 + 16);
		assert_non_null(text);
		char *at = text + sprintf(text, "%s", head);
		for (size_t i = 0; i < plies - 1; i++) {
			at += sprintf(at, "%s", i == plies - 3 ? " Nc3" : moves[i % 4]);
		}
		sprintf(at, "%s", " *\n");
		struct read_games games = games_of(text);
		bool over = plies > CHI_PGN_PLIES_MAX;
		assert_int_equal(games.n, 1);
		assert_int_equal(games.games[0].game.n_plies, over ? 0 : plies);
		assert_int_equal(games.games[0].game.end == CHI_PGN_COMPLETE, !over);
		free_games(&games);
	}
}

CASE(limits_bytes)
{
	static const char head[] = "[White \"x\"]\n\n1. e4 {";
	static const char tail[] = "} 1-0";
	static const char next[] = "\n[White \"y\"]\n\n1. d4 *\n";
	for (int over = -1; over <= 1; over++) {
		size_t len = (size_t)((int64_t)CHI_PGN_GAME_MAX + over);
		size_t all = len + strlen(next);
		_cleanup_(chi_freep) char *text = malloc(all + 1);
		assert_non_null(text);
		memset(text, 'x', len);
		memcpy(text, head, strlen(head));
		memcpy(text + len - strlen(tail), tail, strlen(tail));
		strcpy(text + len, next);
		struct read_games games = read_games(text, all, 1 << 20, NULL);
		assert_int_equal(games.n, 2);
		assert_int_equal(games.games[0].game.end,
				 over > 0 ? CHI_PGN_TOO_LONG : CHI_PGN_COMPLETE);
		assert_int_equal(games.games[0].game.n_plies, over > 0 ? 0 : 1);
		assert_int_equal(games.games[1].game.n_plies, 1);
		free_games(&games);
	}
}

/* Words and tag lines longer than the window are cut alike however they are fed. */
CASE(survives_long_words_and_lines)
{
	struct seed seed = seed_start("long words");
	static const char *const forms[] = {
		"[White \"%s\"]\n[Black \"b\"]\n\n1. e4 e5 1-0\n",
		"[White \"a\"] %s\n[Black \"b\"]\n\n1. e4 e5 1-0\n",
		"[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 %s 1-0\n",
		"[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 $%s 1-0\n",
		"[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 ;%s\n1-0\n",
		"[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 (%s) 1-0\n",
		"[White \"a\"]\n[Black \"b\"]\n\n1. e4 e5 [%s 1-0\n",
	};
	for (size_t i = 0; i < CHI_COUNT(forms); i++) {
		_cleanup_(chi_freep) char *filler = malloc(300001);
		_cleanup_(chi_freep) char *text = malloc(300200);
		assert_non_null(filler);
		assert_non_null(text);
		memset(filler, i % 2 == 0 ? 'Z' : '1', 300000);
		filler[300000] = '\0';
		/* The forms are those above. */
		const char *hole = strstr(forms[i], "%s");
		size_t before = (size_t)(hole - forms[i]);
		memcpy(text, forms[i], before);
		strcpy(text + before, filler);
		strcat(text, hole + 2);
		size_t len = strlen(text);
		struct read_games games = read_games(text, len, len, NULL);
		assert_true(games.n >= 1);
		/* The player is not known, nor so which game it is. */
		assert_string_equal(moves_of(&games.games[0]), i == 0 ? "" : "e2e4 e7e5");
		for (int round = 0; round < 20; round++) {
			struct read_games again = read_games(text, len, 0, &seed);
			assert_same_games(&games, &again, false);
			free_games(&again);
		}
		free_games(&games);
	}
}
