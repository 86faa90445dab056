/* SPDX-License-Identifier: MIT */
/* Tags: odd spellings, quotes inside quotes, encodings, start positions and variants. */
#include "tests/chess/pgn_games.h"

#include "base/num.h"

/* The White tag of the one game that the line and a move make. */
static void expect_white(const char *line, size_t len, const char *value)
{
	char text[4096];
	assert_true(len < 3000);
	memcpy(text, line, len);
	size_t all = len + (size_t)sprintf(text + len, "\n[Black \"b\"]\n\n1. e4 *\n");
	struct read_games games = read_games(text, all, all, NULL);
	assert_int_equal(games.n, 1);
	const char *found = games.games[0].tags[CHI_PGN_WHITE];
	if ((found == NULL) != (value == NULL) || (value != NULL && strcmp(found, value) != 0)) {
		fail_msg("%s: '%s'", text, found != NULL ? found : "(none)");
	}
	assert_string_equal(games.games[0].tags[CHI_PGN_BLACK], "b");
	assert_int_equal(games.games[0].game.n_plies, 1);
	free_games(&games);
}

CASE(reads_values)
{
	static const struct {
		const char *line;
		const char *value; /* NULL: no such tag */
	} table[] = {
		{"[White \"Carlsen, M\"]", "Carlsen, M"},
		{"[White \"\"]", ""},
		{" \t[ White\t \" x \" ] \r", "x"},
		{"[White\"x\"]", "x"},
		{"[WHITE \"x\"]", "x"},
		{"[Site \"s\"] [White \"x\"]", "x"},
		{"[White \"x\"][White \"y\"]", "x"},
		/* quotes and brackets inside */
		{"[White \"The \\\"Rock\\\"\"]", "The \"Rock\""},
		{"[White \"The \"Rock\" X\"]", "The \"Rock\" X"},
		{"[White \"a \\\\ b\"]", "a \\ b"},
		{"[White \"C:\\games\"]", "C:\\games"},
		{"[White \"C:\\\"]", "C:\\"},
		{"[White \"[x] {y} ; %\"]", "[x] {y} ; %"},
		/* parts are missing */
		{"[White \"x\"", "x"},
		{"[White \"x]", "x]"},
		{"[White x]", "x"},
		{"[White]", ""},
		{"[WhiteTeam \"x\"]", NULL},
		{"[Black \"b\"]", NULL},
		/* control characters */
		{"[White \"a\tb\x01"
		 "c\"]",
		 "a b c"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		expect_white(table[i].line, strlen(table[i].line), table[i].value);
	}
}

CASE(converts_values)
{
	static const struct {
		const char *line;
		const char *value;
	} table[] = {
		{"[White \"Ha\xc5\xa1"
		 "ek\"]",
		 "Ha\xc5\xa1"
		 "ek"}, /* UTF-8 stays */
		{"[White \"\xf0\x9f\x98\x80\"]", "\xf0\x9f\x98\x80"},
		{"[White \"J\xf6rg M\xfcller\"]", "J\xc3\xb6rg M\xc3\xbcller"}, /* Latin-1 */
		{"[White \"Ha\x9a"
		 "ek \x80\"]",
		 "Ha\xc5\xa1"
		 "ek \xe2\x82\xac"},		      /* Windows */
		{"[White \"\x81\"]", "\xef\xbf\xbd"}, /* nothing at all there */
		{"[White \"\xc3\xb6 \xf6\"]", "\xc3\x83\xc2\xb6 \xc3\xb6"}, /* one bad, all so */
		{"[White \"\xed\xa0\x80\"]", "\xc3\xad\xc2\xa0\xe2\x82\xac"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		expect_white(table[i].line, strlen(table[i].line), table[i].value);
	}
}

/* A value at the limit stays whole, one beyond is cut, never inside a character. */
CASE(cuts_values)
{
	static const char *const characters[] = {"x", "\xc3\xb6", "\xe2\x82\xac",
						 "\xf0\x9f\x98\x80"};
	for (size_t c = 0; c < CHI_COUNT(characters); c++) {
		size_t width = strlen(characters[c]);
		for (size_t n = CHI_PGN_VALUE_MAX / width; n <= CHI_PGN_VALUE_MAX / width + 1;
		     n++) {
			char text[4096] = "[White \"";
			for (size_t i = 0; i < n; i++) {
				strcat(text, characters[c]);
			}
			strcat(text, "\"]\n");
			struct read_games games = read_games(text, strlen(text), 64, NULL);
			assert_int_equal(games.n, 1);
			const char *value = games.games[0].tags[CHI_PGN_WHITE];
			assert_int_equal(strlen(value), CHI_PGN_VALUE_MAX / width * width);
			assert_true(chi_utf8_valid(value, strlen(value)));
			free_games(&games);
		}
	}
}

CASE(keeps_every_kind)
{
	static const char *const names[CHI_PGN_TAGS] = {
		"Event",       "Site",	      "Date",	  "Round",    "White",	    "Black",
		"Result",      "ECO",	      "WhiteElo", "BlackElo", "WhiteTitle", "BlackTitle",
		"TimeControl", "Termination", "UTCDate",  "UTCTime",  "Link",	    "GameId",
		"Annotator",   "SetUp",	      "FEN",	  "Variant",
	};
	char text[CHI_PGN_TAGS * 1100] = "";
	/* From last to first, each as long as can be: all must fit together. */
	for (size_t i = CHI_PGN_TAGS; i-- > 0;) {
		char value[CHI_PGN_VALUE_MAX + 10];
		memset(value, 'a' + (int)i, sizeof(value));
		value[sizeof(value) - 1] = '\0';
		sprintf(text + strlen(text), "[%s \"%s\"]\n", names[i], value);
	}
	struct read_games games = read_games(text, strlen(text), 1000, NULL);
	assert_int_equal(games.n, 1);
	for (size_t i = 0; i < CHI_PGN_TAGS; i++) {
		assert_int_equal(strlen(games.games[0].tags[i]), CHI_PGN_VALUE_MAX);
		assert_int_equal(games.games[0].tags[i][0], 'a' + (int)i);
	}
	free_games(&games);
}

CASE(knows_variants)
{
	static const char *const chess[] = {
		"",
		"Standard",
		"standard",
		"Chess",
		"From Position",
		"Chess960",
		"Chess 960",
		"fischerandom",
		"Fischer Random",
		"FischerRandom",
		"FRC",
		"chess 960",
		"normal",
		"?",
	};
	static const char *const others[] = {
		"Crazyhouse", "Antichess",    "Atomic",	 "King of the Hill", "Three-check",
		"Horde",      "Racing Kings", "Suicide", "bughouse",
	};
	char text[256];
	for (size_t i = 0; i < CHI_COUNT(chess) + CHI_COUNT(others); i++) {
		bool other = i >= CHI_COUNT(chess);
		snprintf(text, sizeof(text), "[Variant \"%s\"]\n[FEN \"" START_FEN "\"]\n\n1. e4 *",
			 other ? others[i - CHI_COUNT(chess)] : chess[i]);
		struct read_games games = read_games(text, strlen(text), 9, NULL);
		assert_int_equal(games.n, 1);
		if (games.games[0].game.end != (other ? CHI_PGN_OTHER_RULES : CHI_PGN_COMPLETE)) {
			fail_msg("%s", text);
		}
		assert_int_equal(games.games[0].game.n_plies, other ? 0 : 1);
		free_games(&games);
	}
}

CASE(starts_from_a_fen)
{
	static const struct {
		const char *tags;
		const char *moves;
		const char *expected;
		int end;
	} table[] = {
		{"[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n[SetUp \"1\"]", "1. e3", "e2e3", 0},
		{"[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]", "1. e3", "e2e3", 0},
		{"[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 0 1\"]", "1... Kd7", "e8d7", 0},
		/* counters that no rule allows, or none */
		{"[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 1 0\"]", "1. e3", "e2e3", 0},
		{"[FEN \"4k3/8/8/8/8/8/4P3/4K3  w -  - x\"]", "1. e3", "e2e3", 0},
		/* none */
		{"[FEN \"?\"]", "1. e4", "e2e4", 0},
		{"[FEN \"\"]\n[SetUp \"0\"]", "1. e4", "e2e4", 0},
		/* where it began is not known */
		{"[Variant \"Chess960\"]", "1. e4", "", CHI_PGN_NO_START},
		{"[Variant \"Chess960\"]\n[FEN \"?\"]", "1. e4", "", CHI_PGN_NO_START},
		{"[Variant \"Standard\"]", "1. e4", "e2e4", 0},
		/* Chess960: king b1, rooks a1 and g1; castling as SAN, and as king takes rook */
		{"[FEN \"1k6/8/8/8/8/8/8/RK4R1 w KQ - 0 1\"]\n[Variant \"Chess960\"]", "1. O-O",
		 "b1g1", 0},
		{"[FEN \"1k6/8/8/8/8/8/8/RK4R1 w GA - 0 1\"]\n[Variant \"Chess960\"]", "1. b1a1",
		 "b1a1", 0},
		{"[FEN \"1k6/8/8/8/8/8/8/RK4R1 w - - 0 1\"]\n[Variant \"Chess960\"]", "1. O-O", "",
		 CHI_PGN_ILLEGAL},
		{"[FEN \"4k3/8/8/8/8/8/4P3 w - - 0 1\"]", "1. e3", "", CHI_PGN_BAD_START},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char text[512];
		snprintf(text, sizeof(text), "%s\n\n%s *", table[i].tags, table[i].moves);
		struct read_games games = read_games(text, strlen(text), 7, NULL);
		assert_int_equal(games.n, 1);
		if (games.games[0].game.end != (enum chi_pgn_end)table[i].end ||
		    strcmp(moves_of(&games.games[0]), table[i].expected) != 0) {
			fail_msg("%s: end %d, %s", text, games.games[0].game.end,
				 moves_of(&games.games[0]));
		}
		free_games(&games);
	}
}
