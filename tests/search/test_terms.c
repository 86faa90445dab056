/* SPDX-License-Identifier: MIT */
/* The language of filters: what is read, how it is printed, what is refused and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/pgn/pgn.h"
#include "search/filter/motif.h"
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
static const struct {
	const char *text;
	const char *printed;
} printed_as[] = {
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
	/* Trees. */
	{"(eco B90..B99 or eco E60..E98) not result 1/2-1/2",
	 "(eco B90..B99 or eco E60..E98) not result 1/2-1/2"},
	{"not not event x", "event x"},
	{"not (event x or site y)", "not event x not site y"},
	{"not (event x and not (site y or eco B))", "not event x or site y or eco B00..B99"},
	{"((event x)) or ((site y and (eco B)))", "event x or site y eco B00..B99"},
	{"event x(site y)event z", "event x site y event z"},
	{"event \"(x)\"", "event \"(x)\""},
	{"has X1 or event x", NULL},
	/* Moments. */
	{"check", "pattern check"},
	{"has Nd5 has Nd6", "pattern has Nd5 has Nd6"},
	{"has Nd5 check fen 8/8/8/8/8/8/8/8 to-move white has Nd6 to-move black",
	 "pattern has Nd5 fen 8/8/8/8/8/8/8/8 to-move white check has Nd6 to-move black"},
	{"has Nd5 not has Nd6", "pattern has Nd5 not has Nd6"},
	{"not has Nd5 has Nd6", "not pattern has Nd5 has Nd6"},
	{"pattern not has Nd5 not not check", "pattern not has Nd5 check"},
	{"has Nd5 and check", "pattern has Nd5 pattern check"},
	{"has Nd5 or check", "pattern has Nd5 or pattern check"},
	{"(has Nd5 or check) to-move black", "pattern (has Nd5 or check) to-move black"},
	{"check not (has Nd5 to-move black or mate)",
	 "pattern check (not has Nd5 or not to-move black) not mate"},
	{"(has Nd5 or event x) check", "(pattern has Nd5 or event x) pattern check"},
	{"not (has Nd5 or check)", "not pattern (has Nd5 or check)"},
	{"check not event x", "pattern check not event x"},
	/* What is in parentheses means what it means without them, unless a moment goes on there.
	 */
	{"(not check)", "not pattern check"},
	{"((not check or mate))", "not pattern check or pattern mate"},
	{"not (not check)", "pattern check"},
	{"(not check) and (mate)", "not pattern check pattern mate"},
	{"(not check) event x", "not pattern check event x"},
	{"(not check or mate) last", "pattern (not check or mate) last"},
	{"(not check) next mate", "pattern not check next mate"},
	{"(not check) for 3", "pattern not check for 3"},
	{"played Bxph7+ next played kxh7 next played N-g5+",
	 "pattern played Bxph7+ next played kxh7 next played N-g5+"},
	{"check then within 20 not mate for 3 then last times 1 event x", NULL},
	{"check then within 20 not mate for 3 then last event x",
	 "pattern check then within 20 not mate for 3 then last event x"},
	{"check times 3 played captures times 2.. any times ..4",
	 "pattern check times 3 pattern played captures times 2.. pattern any times 0..4"},
	{"mirror", "pattern any mirror"},
	{"has Nd5 shift next mirror check either-colour",
	 "pattern has Nd5 mirror either-colour shift next check"},
	{"has Nd5 shift files for 2 has Nd6 shift ranks",
	 "pattern has Nd5 shift files for 2 pattern has Nd6 shift ranks"},
	{"points -3..5 eval -1.50..2 chi2 ..3.25 score 50.05 share 33.. loss ..10 reached "
	 "1",
	 "pattern points -3..5 eval -1.5..2 chi2 ..3.25 score 50.05 share 33.. loss ..10 "
	 "reached 1"},
	{"attacked \"k+ by [QR] 2..\" pinned a passed P** isolated d4 doubled p*6",
	 "pattern attacked \"k+ by [QR] 2..\" pinned a passed P** isolated d4 doubled "
	 "p*6"},
};

CASE(test_printed)
{
	for (size_t i = 0; i < CHI_COUNT(printed_as); i++) {
		if (printed_as[i].printed == NULL) {
			assert_true(parse(printed_as[i].text) < 0);
			continue;
		}
		if (parse(printed_as[i].text) != CHI_OK) {
			fail_msg("%s: %s", printed_as[i].text, fault.text);
		}
		size_t len = chi_terms_print(&terms, printed);
		assert_string_equal(printed, printed_as[i].printed);
		assert_int_equal(len, strlen(printed));
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
	{"not not", -CHI_ESYNTAX, "filter, character 8: '' begins no term"},
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
	{"pattern event x", -CHI_ESYNTAX, "filter, character 9: a moment has has, fen"},
	{"pattern", -CHI_ESYNTAX, "filter, character 8: a moment has has, fen"},
	{"event x or", -CHI_ESYNTAX, "filter, character 11: '' begins no term"},
	{"or event x", -CHI_ESYNTAX, "filter, character 1: 'or' begins no term"},
	{"(event x", -CHI_ESYNTAX, "filter, character 9: a ) is missing"},
	{"(has Nd5 or has Nd6", -CHI_ESYNTAX, "filter, character 20: a ) is missing"},
	{"event x)", -CHI_ESYNTAX, "filter, character 8: this ) closes nothing"},
	{"()", -CHI_ESYNTAX, "filter, character 2: a moment has has, fen"},
	{"event (x)", -CHI_ESYNTAX, "filter, character 7: event needs a value"},
	{"next check", -CHI_ESYNTAX, "filter, character 1: 'next' begins no term"},
	{"check next", -CHI_ESYNTAX, "filter, character 11: a moment has has, fen"},
	{"check next event x", -CHI_ESYNTAX, "filter, character 12: a moment has has, fen"},
	{"check then within 0 mate", -CHI_ESYNTAX, "filter, character 19: within takes a number"},
	{"check then within 1..2 mate", -CHI_ESYNTAX, "filter, character 19: within takes a nu"},
	{"check for x", -CHI_ESYNTAX, "filter, character 11: for takes a number of plies"},
	{"check for 70000", -CHI_ESYNTAX, "filter, character 11: for takes a number of plies"},
	{"check times", -CHI_ESYNTAX, "filter, character 12: times needs a value"},
	{"check times 2 next mate", -CHI_EINVAL, "filter, character 1: times counts in all"},
	{"played Zd5", -CHI_ESYNTAX, "filter, character 8: played, character 1: a piece is"},
	{"played N-", -CHI_ESYNTAX, "filter, character 8: played, character 3: a square is"},
	{"played N-d5|", -CHI_ESYNTAX, "filter, character 8: played, character 6: a move is"},
	{"played N-d5!", -CHI_ESYNTAX, "filter, character 8: played, character 5: this belongs"},
	{"played P-*8=P", -CHI_ESYNTAX, "filter, character 8: played, character 6: a pawn become"},
	{"attacked h7", -CHI_ESYNTAX, "filter, character 10: attacked, character 3: after the sq"},
	{"attacked \"h7 by A 3..2\"", -CHI_ESYNTAX, "filter, character 10: attacked, character 8"},
	{"pinned .", -CHI_ESYNTAX, "filter, character 8: pinned, character 2: pieces are expect"},
	{"passed Nd5", -CHI_ESYNTAX, "filter, character 8: passed, character 2: only pawns are"},
	{"passed P", -CHI_ESYNTAX, "filter, character 8: passed, character 2: squares are expec"},
	{"isolated d5d6", -CHI_ESYNTAX, "filter, character 10: isolated, character 3: nothing m"},
	{"points x", -CHI_ESYNTAX, "filter, character 8: 'x' is no range such as 20, 20.., ..40"},
	{"points 1.5", -CHI_ESYNTAX, "filter, character 8: '1.5' is no range"},
	{"eval 1.255", -CHI_ESYNTAX, "filter, character 6: '1.255' is no range"},
	{"eval 2..1", -CHI_EINVAL, "filter, character 6: in '2..1' the lower bound"},
	{"score 101", -CHI_ESYNTAX, "filter, character 7: '101' is no range"},
	{"reached -1", -CHI_ESYNTAX, "filter, character 9: '-1' is no range"},
	{"played P-*8=!Q", -CHI_ESYNTAX,
	 "filter, character 8: played, character 6: a pawn becomes"},
	/* Written out, they are one pattern. */
	{"has Qd5 (material KRvKR)", -CHI_EINVAL, "filter: conditions in parentheses contradict"},
	{"to-move red", -CHI_ESYNTAX, "filter, character 9: white or black is possible"},
	{"has \"Kd4\" material KQvK has \"Kd4 Kd5\"", -CHI_EINVAL, "filter, character 25: "},
	{"has Nd9", -CHI_ESYNTAX, "filter, character 1: "},
	{"has \"Nd5 bd5\"", -CHI_EINVAL, "filter, character 1: "},
	{"endgame middlegame", -CHI_ESYNTAX, "filter, character 9: "},
};

CASE(test_refused)
{
	for (size_t i = 0; i < CHI_COUNT(refused); i++) {
		int rc = parse(refused[i].text);
		if (rc != refused[i].rc ||
		    strncmp(fault.text, refused[i].fault, strlen(refused[i].fault)) != 0) {
			fail_msg("%s: %d, %s", refused[i].text, rc, fault.text);
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

/* As many of a text as a filter may have. */
static const char *filled(const char *with)
{
	static char text[CHI_TERMS_TEXT_MAX + 1];
	size_t len = strlen(with);
	text[0] = '\0';
	for (size_t i = 0; (i + 1) * len <= CHI_TERMS_TEXT_MAX; i++) {
		memcpy(text + i * len, with, len + 1);
	}
	return text;
}

static void is_refused(const char *text, int expected, const char *why)
{
	int rc = parse(text);
	if (rc != expected || strstr(fault.text, why) == NULL) {
		fail_msg("%.60s: %d, %s", text, rc, fault.text);
	}
}

CASE(refuses_hostile_filters)
{
	static char text[CHI_TERMS_TEXT_MAX + 1];
	struct chi_motifs *motifs = NULL;
	is_refused(filled("not "), -CHI_ESYNTAX, "begins no term");
	is_refused(filled("("), -CHI_ETOOBIG, "parentheses are open");
	is_refused(filled("check ("), -CHI_ETOOBIG, "parentheses are open");
	is_refused(filled("(check)"), -CHI_ETOOBIG, "conditions");
	is_refused(filled("(not check) and "), -CHI_ETOOBIG, "terms");
	is_refused(filled("check next "), -CHI_ETOOBIG, "moments");
	is_refused("plies 99999999999999999999999", -CHI_ESYNTAX, "no range");
	is_refused("points -99999999999999999999999..", -CHI_ESYNTAX, "no range");
	is_refused("check for 99999999999999999999999", -CHI_ESYNTAX, "1 to 65535");
	is_refused("check then within 65536 mate", -CHI_ESYNTAX, "1 to 65535");
	is_refused("attacked \"a1 by N 99999999999999999999999\"", -CHI_ESYNTAX, "up to 64");
	/* Each can be read, but all places of all moments would take too much memory. */
	text[0] = '\0';
	for (int i = 0; i < CHI_MOMENTS_MAX; i++) {
		strcat(text, i == 0 ? "shift has Nd5" : " next has Nd5");
	}
	assert_int_equal(parse(text), CHI_OK);
	assert_int_equal(chi_motifs_new(&terms, &motifs, &fault), -CHI_ETOOBIG);
	assert_non_null(strstr(fault.text, "cannot be turned and shifted"));
	assert_null(motifs);
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
	"white ",
	"or ",
	"or ",
	"(",
	"(",
	")",
	")",
	"next ",
	"then ",
	"within ",
	"for ",
	"times ",
	"5 ",
	"check ",
	"mate ",
	"last ",
	"any ",
	"played ",
	"N-d5|O-O ",
	"either-colour ",
	"shift ",
	"files ",
	"eval ",
	"-1.5.. ",
	"attacked ",
	"\"k+ by Q\" ",
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
	struct chi_unstored *unstored = NULL;
	(void)snprintf(text, sizeof(text), "%s\n1. e4 e5 2. Nf3 *\n", tags);
	assert_int_equal(chi_unstored_parse(filter, &terms, &fault), CHI_OK);
	assert_int_equal(chi_pgn_new(&pgn), CHI_OK);
	assert_int_equal(chi_pgn_feed(pgn, text, strlen(text)), strlen(text));
	chi_pgn_finish(pgn);
	assert_int_equal(chi_pgn_next(pgn, &game), CHI_OK);
	assert_int_equal(chi_unstored_new(&terms, &unstored, &fault), CHI_OK);
	bool fits = chi_unstored_fits(unstored, game);
	chi_unstored_free(unstored);
	chi_pgn_free(pgn);
	return fits;
}

static const char tal_won[] = "[Event \"Riga Blitz Open\"]\n[Site \"Riga\"]\n"
			      "[White \"Tal, M\"]\n[Black \"Bot, B\"]\n"
			      "[Date \"2015.06.??\"]\n[WhiteElo \"2601\"]\n"
			      "[BlackElo \"2400\"]\n[WhiteTitle \"GM\"]\n[ECO \"A00\"]\n"
			      "[TimeControl \"300\"]\n[Result \"1-0\"]\n";

static const struct {
	const char *filter;
	bool fits;
	bool bare; /* a game without tags fits */
} questions[] = {
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
	{"(player Tal or plies 3) not (event moscow or check)", true, true},
	{"player Bot as white or not site Riga", false, true},
	{"played P-e4 next played p-e5 next played N-f3 next last", true, true},
	{"played P-d4 or has Nf3 to-move black", true, true},
	{"any times 5.. or title GM not (has Pe4 for 3)", false, false},
};

CASE(each_term_asks_its_question)
{
	for (size_t i = 0; i < CHI_COUNT(questions); i++) {
		if (fits_game(questions[i].filter, tal_won) != questions[i].fits ||
		    fits_game(questions[i].filter, "[Site \"?\"]\n") != questions[i].bare) {
			fail_msg("%s", questions[i].filter);
		}
	}
}

/* Three plies of it have a knight of White's on d5, then two one of Black's on d4. */
CASE(a_run_is_of_one_colour)
{
	static const char game[] =
		"[Site \"?\"]\n\n1. Nc3 a6 2. Nd5 a5 3. Nc3 Nc6 4. a3 Nd4 5. a4 Nc6 *\n\n";
	assert_true(fits_game("has Nd5 either-colour times 2", game));
	assert_false(fits_game("has Nd5 either-colour times 3..", game));
	assert_true(fits_game("has Nd5 any either-colour times 2", game));
	assert_true(fits_game("has Nd5 either-colour for 2", game));
	assert_false(fits_game("has Nd5 either-colour for 3", game));
	assert_false(fits_game("(has Nd5 or has nd4) for 3", game));
	assert_true(fits_game("(has Nd5 or has nd4) times 4", game));
	/* What is before a run, at its beginning. */
	assert_true(fits_game("played N-d5 next has Nd5 for 2 next not has Nd5", game));
	assert_false(fits_game("played N-d5 then within 1 has Nd5 for 3", game));
	assert_true(fits_game("first then has Nd5 for 2 then within 5 has nd4 for 2", game));
	assert_false(fits_game("first then has Nd5 for 2 then within 3 has nd4 for 2", game));
}

/* As much as a filter's limits allow is little; more is refused. */
CASE(dear_motifs_are_refused)
{
	static const char *const many[] = {
		"((has K*4 or has R*4 or has B*4 or has N*4) shift) or ((has Kd4 or has Rd4 or has "
		"Bd4 or has Nd4) shift)",
		"(not attacked \"d4 by A 0\" not attacked \"d4 by a 0\" passed d4 isolated d4 "
		"doubled d4) shift mirror "
		"either-colour",
		"any for 65535 or any for 65535",
	};
	struct chi_unstored *unstored = NULL;
	for (size_t i = 0; i < CHI_COUNT(many); i++) {
		assert_int_equal(chi_unstored_parse(many[i], &terms, &fault), CHI_OK);
		if (chi_unstored_new(&terms, &unstored, &fault) != -CHI_ETOOBIG) {
			fail_msg("%s", many[i]);
		}
		assert_non_null(strstr(fault.text, "cannot be turned and shifted"));
	}
	/* Squares of a whole rank stay where they are if files move. */
	assert_int_equal(
		chi_unstored_parse("(has K*4 or has R*4 or has B*4) shift", &terms, &fault),
		CHI_OK);
	assert_int_equal(chi_unstored_new(&terms, &unstored, &fault), CHI_OK);
	chi_unstored_free(unstored);
}

CASE(refuses_what_only_a_store_knows)
{
	static const char *const filters[] = {"number 1..5",	      "source twic",
					      "in endings",	      "moves \"e4 e5\"",
					      "check next loss 50..", "not (event x or reached 5)"};
	for (size_t i = 0; i < CHI_COUNT(filters); i++) {
		assert_int_equal(chi_unstored_parse(filters[i], &terms, &fault), -CHI_EINVAL);
		assert_non_null(strstr(fault.text, " cannot be asked of games in files"));
	}
	assert_int_equal(chi_unstored_parse("plies", &terms, &fault), -CHI_ESYNTAX);
}
