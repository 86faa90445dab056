/* SPDX-License-Identifier: MIT */
/* The language of filters: what is read, how it is printed, what is refused and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/pgn/pgn.h"
#include "search/filter/unstored.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

static struct chi_terms terms;
static struct chi_terms again;
static struct chi_fault fault;
static char printed[CHI_TERMS_PRINT_SIZE];

static int parse(const char *text)
{
	fault.text[0] = '\0';
	return chi_terms_parse(text, strlen(text), &terms, &fault);
}

/* What is accepted, and how it is written. */
CASE(test_printed)
{
	static const struct {
		const char *text;
		const char *printed;
	} rows[] = {
		{"", ""},
		{" \t\n", ""},
		{"player \"Carlsen, Magnus\" as white opponent Anand since 2015 until 2020-06 "
		 "rating "
		 "2600.. eco B90..B99 result 1-0 event \"Tata Steel\" source twic length ..40 "
		 "speed "
		 "blitz title GM not result 1/2-1/2 gameset endings",
		 "player \"Carlsen, Magnus\" as white opponent Anand since 2015 until 2020-06 "
		 "rating "
		 "2600.. eco B90..B99 result 1-0 event \"Tata Steel\" source twic length ..40 "
		 "speed "
		 "blitz title GM not result 1/2-1/2 gameset endings"},
		{"white X and black Y", "player X as white player Y as black"},
		{"player X opponent Y as black", "player X as black opponent Y"},
		{"not in a in b", "not gameset a gameset b"},
		{"since 2015.6.3", "since 2015-06-03"},
		{"eco B eco c9 eco B90..B90 eco A00..E99 eco ..a05",
		 "eco B00..B99 eco C90..C99 eco B90 eco .. eco ..A05"},
		{"rating .. year 5..5 plies 0..0 plies 0..10 number 7..",
		 "rating .. year 5 plies 0 plies ..10 number 7.."},
		{"result 1/2,1-0,*", "result 1-0,1/2-1/2,*"},
		{"title gm,Wgm speed RAPID", "title GM,WGM speed rapid"},
		{"position \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3\"",
		 "position \"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\""},
		{"moves \"1. e4 c5\"", "moves \"1. e4 c5\""},
		{"has \"Nd5 kg8\" material P=1..3 mirror to-move black pattern endgame rook",
		 "pattern has \"Nd5 kg8\" material P=1..3 to-move black mirror pattern endgame "
		 "rook"},
		{"not pattern balance \"Q v RR\" either-colour event x",
		 "not pattern balance \"Q v RR\" either-colour event x"},
		{"player not event and", "player not event and"},
		{"event \"a \\\"b\\\" \\\\ c\"", "event \"a \\\"b\\\" \\\\ c\""},
		{"site Bila\xc5\xa5", "site \"Bila\xc5\xa5\""},
		{"player \"=Carlsen\"", "player =Carlsen"},
	};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		if (parse(rows[i].text) != CHI_OK) {
			fail_msg("%s: %s", rows[i].text, fault.text);
		}
		assert_int_equal(chi_terms_print(&terms, printed), strlen(rows[i].printed));
		assert_string_equal(printed, rows[i].printed);
	}
}

static const struct {
	const char *text;
	int rc;
	const char *fault;
} refused[] = {
	{"plyer X", -CHI_ESYNTAX, "filter, character 1: 'plyer' begins no term: player, "},
	{"event x y", -CHI_ESYNTAX, "filter, character 9: 'y' begins no term"},
	{"event", -CHI_ESYNTAX, "filter, character 6: event needs a value after it"},
	{"event \"\"", -CHI_ESYNTAX, "filter, character 7: event needs a value"},
	{"player X opponent", -CHI_ESYNTAX, "filter, character 18: opponent needs a value"},
	{"player X as red", -CHI_ESYNTAX, "filter, character 13: white or black is possible"},
	{"player X as white as black", -CHI_ESYNTAX, "filter, character 19: 'as' begins no"},
	{"opponent X", -CHI_ESYNTAX, "filter, character 1: 'opponent' begins no term"},
	{"not", -CHI_ESYNTAX, "filter, character 4: '' begins no term"},
	{"not not event x", -CHI_ESYNTAX, "filter, character 5: 'not' begins no term"},
	{"and event x", -CHI_ESYNTAX, "filter, character 1: 'and' begins no term"},
	{"event x and", -CHI_ESYNTAX, "filter, character 12: '' begins no term"},
	{"\"event\" x", -CHI_ESYNTAX, "filter, character 1: 'event' begins no term"},
	{"event \"x", -CHI_ESYNTAX, "filter, character 7: the quotation mark is not closed"},
	{"event \"x\\n\"", -CHI_ESYNTAX, "filter, character 9: after \\ only \" and \\ are"},
	{"event x\"y\"", -CHI_ESYNTAX, "filter, character 8: between two words there must"},
	{"event \"x\"y", -CHI_ESYNTAX, "filter, character 10: between two words there must"},
	{"event \"a\001\"", -CHI_ESYNTAX, "filter, character 9: a control character"},
	{"event \"\xff\"", -CHI_EINVAL, "filter: it is no UTF-8"},
	{"rating 2600-2700", -CHI_ESYNTAX, "filter, character 8: '2600-2700' is no range such"},
	{"rating 0", -CHI_ESYNTAX, "filter, character 8: '0' is no range such"},
	{"rating 70000", -CHI_ESYNTAX, "filter, character 8: '70000' is no range such"},
	{"rating 2700..2600", -CHI_EINVAL, "filter, character 8: in '2700..2600' the lower"},
	{"eco F00", -CHI_ESYNTAX, "filter, character 5: 'F00' is no range of codes"},
	{"eco B9x", -CHI_ESYNTAX, "filter, character 5: 'B9x' is no range of codes"},
	{"eco C..B", -CHI_EINVAL, "filter, character 5: in 'C..B' the lower bound"},
	{"since 15", -CHI_ESYNTAX, "filter, character 7: '15' is no date such as 2015, "},
	{"since 2015-13", -CHI_ESYNTAX, "filter, character 7: '2015-13' is no date"},
	{"since 2015-00", -CHI_ESYNTAX, "filter, character 7: '2015-00' is no date"},
	{"since 2015-1-32", -CHI_ESYNTAX, "filter, character 7: '2015-1-32' is no date"},
	{"result 2-0", -CHI_ESYNTAX,
	 "filter, character 8: '2-0' is not among 1-0, 1/2-1/2, 0-1, *"},
	{"result 1-0,", -CHI_ESYNTAX, "filter, character 8: '' is not among 1-0"},
	{"speed unknown", -CHI_ESYNTAX,
	 "filter, character 7: 'unknown' is not among bullet, blitz, rapid, classical, "
	 "correspondence, ultraBullet"},
	{"title none", -CHI_ESYNTAX, "filter, character 7: 'none' is not among GM, IM, "},
	{"position x", -CHI_ESYNTAX, "filter, character 10: "},
	{"moves \"e4 e4\"", -CHI_ESYNTAX, "filter, character 7: "},
	{"in .x", -CHI_EINVAL, "filter, character 4: '.x' is no name of a gameset"},
	{"pattern event x", -CHI_ESYNTAX, "filter, character 9: a pattern has has, fen"},
	{"has Nd5 has Nd6", -CHI_ESYNTAX, "filter, character 9: has is in this pattern"},
	{"has Nd9", -CHI_ESYNTAX, "filter, character 1: "},
	{"has \"Nd5 bd5\"", -CHI_EINVAL, "filter, character 1: "},
	{"endgame middlegame", -CHI_ESYNTAX, "filter, character 9: "},
};

CASE(test_refused)
{
	for (size_t i = 0; i < CHI_COUNT(refused); i++) {
		assert_int_equal(parse(refused[i].text), refused[i].rc);
		if (strncmp(fault.text, refused[i].fault, strlen(refused[i].fault)) != 0) {
			fail_msg("%s: %s", refused[i].text, fault.text);
		}
	}
}

/* At the limits, and beyond them. */
CASE(test_limits)
{
	static char text[8 * CHI_TERMS_TEXT_MAX];
	text[0] = '\0';
	for (int i = 0; i < CHI_TERMS_MAX; i++) {
		strcat(text, "event x ");
	}
	assert_int_equal(parse(text), CHI_OK);
	strcat(text, "event x");
	assert_int_equal(parse(text), -CHI_ETOOBIG);
	memset(text, 'x', CHI_TERM_VALUE_MAX + 7);
	memcpy(text, "event ", 6);
	text[CHI_TERM_VALUE_MAX + 6] = '\0';
	assert_int_equal(parse(text), CHI_OK);
	strcat(text, "x");
	assert_int_equal(parse(text), -CHI_ETOOBIG);
	memset(text, ' ', CHI_TERMS_TEXT_MAX + 1);
	text[CHI_TERMS_TEXT_MAX] = '\0';
	assert_int_equal(parse(text), CHI_OK);
	text[CHI_TERMS_TEXT_MAX] = ' ';
	text[CHI_TERMS_TEXT_MAX + 1] = '\0';
	assert_int_equal(parse(text), -CHI_ETOOBIG);
	/* Read, it would fit; written out, it would not. */
	memset(text, 0, sizeof(text));
	for (int i = 0; i < 4; i++) {
		strcat(text, "in a event ");
		memset(text + strlen(text), '\'', 1009);
		strcat(text, " ");
	}
	assert_true(strlen(text) <= CHI_TERMS_TEXT_MAX);
	assert_int_equal(parse(text), -CHI_ETOOBIG);
}

static const char *const bits[] = {
	"player ",
	"\"Carlsen, M\" ",
	"as ",
	"white ",
	"opponent ",
	"not ",
	"and ",
	"event ",
	"x ",
	"\"y \\\" z\" ",
	"since ",
	"2015 ",
	"2015-03-04 ",
	"until ",
	"rating ",
	"2600.. ",
	"5..9 ",
	"eco ",
	"B ",
	"B90..C1 ",
	"result ",
	"1-0,* ",
	"length ",
	"plies ",
	"speed ",
	"blitz ",
	"title ",
	"GM,other ",
	"position ",
	"\"8/8/8/8/8/8/k7/7K b - -\" ",
	"moves ",
	"e4 ",
	"\"e4 e5\" ",
	"in ",
	"pattern ",
	"has ",
	"Nd5 ",
	"material ",
	"KRvK ",
	"mirror ",
	"to-move ",
	"endgame ",
	"\"rook endings\" ",
	"number ",
	"\"",
	"\\",
	"\xc3\xa9",
	"\xff",
	"\t",
	"..",
};

/* What was accepted is printed, read and printed again. */
static void round_trip(void)
{
	size_t len = chi_terms_print(&terms, printed);
	assert_int_equal(len, strlen(printed));
	assert_int_equal(chi_terms_parse(printed, len, &again, &fault), CHI_OK);
	char twice[CHI_TERMS_PRINT_SIZE];
	chi_terms_print(&again, twice);
	assert_string_equal(printed, twice);
	assert_int_equal(terms.n, again.n);
	for (size_t i = 0; i < terms.n; i++) {
		const struct chi_term *a = &terms.term[i];
		const struct chi_term *b = &again.term[i];
		assert_true(a->kind == b->kind && a->negated == b->negated && a->side == b->side &&
			    a->min == b->min && a->max == b->max && a->set == b->set);
		assert_memory_equal(&a->key, &b->key, sizeof(a->key));
	}
}

/* Bits of filters, put together at random. */
CASE(test_random)
{
	struct seed seed = seed_start("terms");
	char text[1024];
	size_t accepted = 0;
	for (size_t round = 0; round < seed_rounds(200000); round++) {
		text[0] = '\0';
		for (size_t n = seed_below(&seed, 10); n > 0; n--) {
			strcat(text, bits[seed_below(&seed, CHI_COUNT(bits))]);
		}
		if (parse(text) != CHI_OK) {
			assert_true(fault.text[0] != '\0');
			continue;
		}
		accepted += terms.n > 0;
		round_trip();
	}
	assert_true(accepted > 100);
}

/* ---- Games of no store --------------------------------------------------------------------- */

/* The answer of a filter for a game with these tags, of three plies. */
static bool fits_game(const char *filter, const char *tags)
{
	char text[512];
	const struct chi_pgn_game *game = NULL;
	struct chi_pgn *pgn = NULL;
	(void)snprintf(text, sizeof(text), "%s\n1. e4 e5 2. Nf3 *\n", tags);
	assert_int_equal(chi_unstored_parse(filter, &terms, &fault), CHI_OK);
	assert_int_equal(chi_pgn_new(&pgn), CHI_OK);
	assert_int_equal(chi_pgn_feed(pgn, text, strlen(text)), strlen(text));
	chi_pgn_finish(pgn);
	assert_int_equal(chi_pgn_next(pgn, &game), CHI_OK);
	bool fits = chi_unstored_fits(&terms, game);
	chi_pgn_free(pgn);
	return fits;
}

static const char tal_won[] = "[Event \"Riga Blitz Open\"]\n[Site \"Riga\"]\n"
			      "[White \"Tal, M\"]\n[Black \"Bot, B\"]\n"
			      "[Date \"2015.06.??\"]\n[WhiteElo \"2601\"]\n"
			      "[BlackElo \"2400\"]\n[WhiteTitle \"GM\"]\n[ECO \"A00\"]\n"
			      "[TimeControl \"300\"]\n[Result \"1-0\"]\n";

CASE(each_term_asks_its_question)
{
	static const struct {
		const char *filter;
		bool fits;
		bool bare; /* a game without tags fits */
	} table[] = {
		{"", true, true},
		{"player Tal", true, false},
		{"player Bot", true, false},
		{"white Tal", true, false},
		{"white Bot", false, false},
		{"black Bot", true, false},
		{"not black Bot", false, true},
		{"player Tal black Tal", false, false},
		{"player Tal opponent Bot", true, false},
		{"player Tal opponent Tal", false, false},
		{"black Bot opponent Tal", true, false},
		{"player \"=Tal, M\"", true, false},
		{"player =Tal", false, false},
		{"event \"open riga\"", true, false},
		{"event moscow", false, false},
		{"site Riga", true, false},
		{"site \"=Riga\" site riga", true, false},
		{"year 2015", true, false},
		{"since 2016", false, false},
		{"since 2015-06", true, false},
		{"until 2015-05", false, false},
		{"rating 2601..", true, false},
		{"rating 2602..", false, false},
		{"rating ..2400", true, false},
		{"both 2400..2601", true, false},
		{"both 2401..2700", false, false},
		{"average 2500..2501", true, false},
		{"average 2501..", false, false},
		{"average ..2500", false, false},
		{"elo-black 2400", true, false},
		{"result 1-0", true, false},
		{"result 0-1,*", false, true},
		{"eco C40", true, true}, /* of the moves: no tag says what was played */
		{"eco A00", false, false},
		{"not eco A00", true, true},
		{"speed blitz,rapid", true, false},
		{"speed bullet", false, false},
		{"title GM", true, false},
		{"plies 3", true, true},
		{"plies 4..", false, false},
		{"length 2", true, true},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		if (fits_game(table[i].filter, tal_won) != table[i].fits ||
		    fits_game(table[i].filter, "[Site \"?\"]\n") != table[i].bare) {
			fail_msg("%s", table[i].filter);
		}
	}
}

CASE(refuses_what_only_a_store_knows)
{
	static const char *const filters[] = {"number 1..5", "source twic", "in endings",
					      "moves \"e4 e5\"", "not has Nd5"};
	for (size_t i = 0; i < CHI_COUNT(filters); i++) {
		assert_int_equal(chi_unstored_parse(filters[i], &terms, &fault), -CHI_EINVAL);
		assert_non_null(strstr(fault.text, " cannot be asked of games in files"));
	}
	assert_int_equal(chi_unstored_parse("plies", &terms, &fault), -CHI_ESYNTAX);
}
