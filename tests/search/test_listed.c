/* SPDX-License-Identifier: MIT */
/*
 * Games that lists of traits leave to motifs, against all games played again: none is missing, and
 * where they are exact, none is too many.
 */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "search/filter/listed.h"
#include "search/filter/matcher.h"
#include "store/archive.h"
#include "tests/base/cases.h"
#include "tests/import/session.h"

#define STORE "listed"
#define GAMES 900 /* random ones */
#define PLIES 60

static struct chi_dir *store;
static struct chi_read *snapshot;
static struct chi_archive_view view;

/* ---- Games -------------------------------------------------------------------------------- */

/* Where castling, promotions, mates and stalemates are near; the last is mate already. */
static const char *const starts[] = {
	"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
	"8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",
	"7k/8/5KP1/8/8/8/8/8 w - - 0 1",
	"8/8/8/8/8/5k2/6q1/7K b - - 0 1",
	"4k3/2p1p3/8/1P1P4/3p1p2/8/4P1P1/4K3 w - - 0 1",
	"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
	"R5k1/5ppp/8/8/8/8/8/K7 b - - 0 1",
};

static void print_game(FILE *out, const char *start)
{
	struct chi_position position[2];
	struct chi_move_list list;
	char san[CHI_SAN_SIZE];
	unsigned plies = help_below(PLIES);
	fprintf(out, "[White \"%u\"]\n[FEN \"%s\"]\n[SetUp \"1\"]\n\n", help_below(1000000), start);
	ok(chi_fen_parse(start, strlen(start), &position[0], &fault));
	for (unsigned i = 0; i < plies; i++) {
		chi_movegen_legal(&position[i & 1], &list);
		if (list.n == 0) {
			break;
		}
		chi_move move = list.moves[help_below((unsigned)list.n)];
		for (size_t m = 0; m < list.n; m++) {
			bool special = chi_position_is_castling(&position[i & 1], list.moves[m]) ||
				       chi_move_promotion(list.moves[m]) != 0 ||
				       chi_move_to(list.moves[m]) == position[i & 1].ep;
			move = special && help_below(4) == 0 ? list.moves[m] : move;
		}
		chi_san_print(&position[i & 1], move, san);
		fprintf(out, "%s ", san);
		chi_position_play(&position[i & 1], move, &position[~i & 1]);
	}
	fprintf(out, "*\n\n");
}

/* Imports so many, and shows them. */
static void add_games(const char *const *from, size_t n_from, unsigned n)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (unsigned i = 0; i < n; i++) {
		print_game(out, from[i % n_from]);
	}
	fclose(out);
	session_add(STORE, text);
	free(text);
	store = help_open(help_path(STORE), CHI_STORE_READ);
	ok(chi_read_begin(store, &snapshot));
	ok(chi_read_archive(snapshot, &view));
}

static void close_games(void)
{
	chi_read_end(snapshot);
	chi_dir_close(store);
}

static int setup(void **state)
{
	char *text = session_file("pgn/games_300.pgn", &(size_t){0});
	(void)state;
	session_add(STORE, text);
	free(text);
	add_games(starts, CHI_COUNT(starts), GAMES);
	return 0;
}

static int teardown(void **state)
{
	close_games();
	return help_teardown(state);
}

/* ---- Lists -------------------------------------------------------------------------------- */

/* A motif, its lists read in pieces of so many steps. */
static struct chi_listed *read_lists(const struct chi_motif *motif, unsigned most)
{
	struct chi_listed *listed;
	int rc = CHI_NONE;
	ok(chi_listed_new(motif, &view, 1, &listed));
	while (rc == CHI_NONE) {
		uint64_t steps = 1 + help_below(most);
		rc = chi_listed_step(listed, &steps);
	}
	ok(rc);
	return listed;
}

/* How many of the games have it, how many may. */
struct tried {
	uint64_t have;
	uint64_t may;
	bool helps;
	bool exact;
	unsigned kinds;
};

static struct tried try_motif(const char *text)
{
	static struct chi_terms terms;
	struct chi_motifs *motifs;
	struct tried tried = {0};
	ok(chi_terms_parse(text, strlen(text), &terms, &fault));
	ok(chi_motifs_new(&terms, &motifs, &fault));
	ok(chi_motifs_begin(motifs, snapshot, NULL));
	assert_int_equal(chi_motifs_count(motifs), 1);
	struct chi_listed *listed =
		read_lists(chi_motifs_at(motifs, 0), help_below(2) == 0 ? 20 : 100000);
	const struct chi_numbers *games = chi_listed_games(listed);
	for (uint32_t number = 1; number <= view.last; number++) {
		uint64_t steps = UINT64_MAX;
		uint32_t has = 0;
		ok(chi_motifs_search(motifs, number, 1, &steps, &has, NULL));
		bool may = games == NULL || chi_numbers_has(games, number);
		if ((has != 0 && !may) || (chi_listed_is_exact(listed) && (has != 0) != may)) {
			fail_msg("'%s': game %u has it: %u, may have it: %d", text, number, has,
				 may);
		}
		tried.have += has;
		tried.may += may;
	}
	tried.helps = games != NULL;
	tried.exact = chi_listed_is_exact(listed);
	tried.kinds = chi_listed_kinds(listed);
	chi_listed_free(listed);
	chi_motifs_end(motifs);
	chi_motifs_free(motifs);
	return tried;
}

#define M (1u << CHI_TRAIT_MATERIAL)
#define H (1u << CHI_TRAIT_HOME)
#define E (1u << CHI_TRAIT_EVENT)

static const struct {
	const char *text;
	unsigned kinds; /* 0: lists do not help; some of these are enough if few games are left */
	bool exact;
} motifs_known[] = {
	{"material KRP*vKRP*", M, true},
	{"material KRP*vKRP* mirror either-colour", M, true},
	{"balance \"P v\" either-colour", M, true},
	{"balance \"P v\" points 1", M, true},
	{"material \"men=..7\"", M, true},
	{"material \"q=0\" shift", M, true},
	{"material \"q=0\" has Pd5 shift", M, false},
	{"pattern (material \"q=0\" or points 5..)", M, true},
	{"endgame rook", M, true},
	{"endgame rook not material KRP*vKRP*", M, true},
	{"endgame rook to-move white", M, false},
	{"material \"bishops=opposite\"", M, false},
	{"material KRP*vKRP* for 3", M, false},
	{"material KRP*vKRP* times 2..", M, false},
	{"material KRP*vKRP* times 0..1", 0, false},
	{"material \"P=1..\"", M, true},
	{"points 5.. next points ..4", M, false},
	{"pawns \"a2 b2 + / +\"", 0, false},
	{"has !Pa2", H, false},
	{"pattern not has Pa2", 0, false},
	{"has \"!Pa2 !pa7\" to-move black either-colour", H, false},
	{"pawns \"a2 b2 c2 d4 e5 f2 g2 h2 / a7 b7 d5 e6 f7 g7 h7\"", M | H, false},
	{"pawns \"a3 b2 c2 f2 g2 h2 + / +\" has !Pd2 mirror", H, false},
	{"has Nf3", 0, false},
	{"has \"Qd1 Qd2\"", M, false},
	{"has qa2 shift", 0, false},
	{"played O-O", E, true},
	{"played O-O mirror", E, true},
	{"played O-O-O either-colour", E, true},
	{"played o-o-o|O-O", E, true},
	{"pattern (played O-O or played o-o-o)", E, true},
	{"played castles", E, true},
	{"played castles shift", E, true},
	{"played ep", E, true},
	{"played ep has Pd4", E, false},
	{"played promotes", E, true},
	{"played \"P-*8=[NBR]\"", E, true},
	{"played \"P-*8=N\" either-colour", E, true},
	{"played \"p-*1=q\"", E, true},
	{"played \"P-a8=Q\"", E, false},
	{"played \"?=Q+\"", E, false},
	{"played \"Pxr*8=Q\" shift files", E, false},
	{"played \"?-**#\"", E, false},
	{"played \"Q-**#\" either-colour", E, false},
	{"played captures", 0, false},
	{"played captures|O-O", 0, false},
	{"pattern not played O-O", 0, false},
	{"mate", E, true},
	{"mate to-move white", E, false},
	{"stalemate", E, true},
	{"last stalemate", E, false},
	{"dead", E, true},
	{"pattern (mate or stalemate or dead)", E, true},
	{"pattern (mate or material KQvK)", E | H | M, true},
	{"pattern (mate or has Nf3)", 0, false},
	{"material KQvK mate", E | H, false},
	{"played O-O then played o-o-o", E, false},
	{"played ep then mate", E, false},
	{"check next mate", E, false},
};

CASE(lists_leave_all_games_that_have_a_motif)
{
	for (size_t i = 0; i < CHI_COUNT(motifs_known); i++) {
		struct tried tried = try_motif(motifs_known[i].text);
		print_message("# %s: %u of %u games%s\n", motifs_known[i].text,
			      (unsigned)tried.have, (unsigned)tried.may,
			      tried.exact ? ", exact" : "");
		assert_int_equal(tried.kinds & ~motifs_known[i].kinds, 0);
		assert_true((tried.kinds != 0) == tried.helps &&
			    tried.helps == (motifs_known[i].kinds != 0));
		assert_int_equal(tried.exact, motifs_known[i].exact);
	}
}

/* Here "not" of a pattern that holds of itself where it stands, a pawn on the first rank, and in
 * another place does not. */
CASE(not_of_a_pattern_that_is_moved_leaves_its_games)
{
	static const char *const motifs[] = {
		"pattern not has \"!Pa1\" shift ranks",
		"pattern not has \"!pa1\" shift",
		"pattern (not has \"!pa8\" to-move white) shift ranks",
		"pattern not has \"!pa8\" next check shift ranks",
		"pattern not has \"!Pa1\" material \"KRP*vKRP*\" shift ranks",
		"pattern (not has \"!Pa1\" or mate) shift ranks",
	};
	for (size_t i = 0; i < CHI_COUNT(motifs); i++) {
		assert_true(try_motif(motifs[i]).have > 0);
	}
}

/* Conditions at random, joined in all ways. */
static void print_conditions(FILE *out, unsigned depth)
{
	static const char *const some[] = {
		"material KP*vKP*",
		"material \"Q=..1 r=2\"",
		"balance \"P* v\"",
		"points -3..3",
		"endgame pawn",
		"has \"Pa2 !Pb2\"",
		"has !ph7",
		"has !Pa1",
		"has !pa8",
		"has Kg1",
		"to-move white",
		"check",
		"mate",
		"stalemate",
		"dead",
		"played O-O",
		"played o-o-o",
		"played ep",
		"played promotes",
		"played \"?-**=Q#\"",
		"played captures",
		"first",
		"last",
		"any",
		"passed P*7",
	};
	for (unsigned n = 1 + help_below(3); n > 0; n--) {
		fprintf(out, "%s", help_below(4) == 0 ? "not " : "");
		if (depth == 0 || help_below(2) == 0) {
			fprintf(out, "%s ", some[help_below(CHI_COUNT(some))]);
			continue;
		}
		fprintf(out, "(");
		print_conditions(out, depth - 1);
		fprintf(out, " or ");
		print_conditions(out, depth - 1);
		fprintf(out, ") ");
	}
}

CASE(and_of_any_motif)
{
	static const char *const turns[] = {"",
					    "mirror",
					    "either-colour",
					    "mirror either-colour",
					    "shift files",
					    "shift ranks",
					    "shift"};
	static const char *const links[] = {" next ", " then ", " then within 3 ", " for 2 then "};
	size_t helped = 0;
	size_t exact = 0;
	for (size_t i = 0; i < 200; i++) {
		char text[4000];
		FILE *out = fmemopen(text, sizeof(text), "w");
		fprintf(out, "pattern ");
		print_conditions(out, 2);
		for (unsigned n = help_below(3); n > 1; n--) {
			fprintf(out, "%s", links[help_below(CHI_COUNT(links))]);
			print_conditions(out, 1);
		}
		fprintf(out, " %s", turns[help_below(CHI_COUNT(turns))]);
		fputc('\0', out);
		fclose(out);
		static struct chi_terms terms;
		struct chi_motifs *motifs = NULL;
		if (chi_terms_parse(text, strlen(text), &terms, &fault) != CHI_OK ||
		    chi_motifs_new(&terms, &motifs, &fault) != CHI_OK) {
			continue; /* too many conditions, or places */
		}
		chi_motifs_free(motifs);
		struct tried tried = try_motif(text);
		helped += tried.helps;
		exact += tried.exact;
	}
	print_message("# figures: lists of traits: %zu motifs, %zu of them exactly\n", helped,
		      exact);
	assert_true(helped > 20 && exact > 3);
}

/* ---- Filters ------------------------------------------------------------------------------ */

/* The games of a filter, its lists read or not. */
static uint64_t count_games(const char *text, uint64_t asked, bool explained)
{
	static struct chi_terms terms;
	static char plan[CHI_PLAN_SIZE];
	const struct chi_matcher_spec spec = {.from = 1, .asked = asked};
	struct chi_matcher *matcher;
	struct chi_hits hits;
	uint64_t steps = UINT64_MAX;
	uint64_t n = 0;
	ok(chi_terms_parse(text, strlen(text), &terms, &fault));
	ok(chi_matcher_new(snapshot, &terms, &spec, &matcher, &fault));
	if (explained) {
		ok(chi_matcher_explain(matcher, UINT64_MAX, &steps, plan));
		assert_non_null(strstr(plan, "games to play again: "));
	}
	ok(chi_matcher_prepare(matcher, &steps));
	for (uint32_t number = 1; asked > 0 && number <= view.last; number++) {
		ok(chi_matcher_test(matcher, number, &steps, &hits));
		uint32_t row = number - chi_matcher_chunk(matcher)->first;
		n += (hits.words[row / 64] >> (row % 64) & 1) != 0 &&
		     chi_matcher_look(matcher, number, &steps) == CHI_OK;
	}
	int rc = asked > 0 ? CHI_NONE : CHI_OK;
	while (rc == CHI_OK) {
		uint64_t some = 1 + help_below(200);
		rc = chi_matcher_next(matcher, &some, &hits);
		for (size_t w = 0; w < CHI_HIT_WORDS; w++) {
			n += (unsigned)__builtin_popcountll(hits.words[w]);
		}
	}
	assert_int_equal(rc, CHI_NONE);
	chi_matcher_free(matcher);
	return n;
}

CASE(filters_have_the_same_games_with_lists_and_without)
{
	static const char *const filters[] = {
		"material KRP*vKRP*",
		"not material KRP*vKRP*",
		"material KRP*vKRP* and played O-O and not mate",
		"(material KRP*vKRP* and result 1-0) or (result * and not last stalemate)",
		"not check next mate",
		"played O-O and result 1/2-1/2",
		"not (dead and has Nf3) or number 7",
		"has Nf3 and played O-O-O and points 3..",
	};
	for (size_t i = 0; i < CHI_COUNT(filters); i++) {
		uint64_t expected = count_games(filters[i], 1, false);
		assert_int_equal(count_games(filters[i], 100000, false), expected);
		assert_int_equal(count_games(filters[i], 0, false), expected);
		assert_int_equal(count_games(filters[i], 0, true), expected);
	}
}

/* Fifteen of a kind may be more: such games are played again. */
CASE(more_than_fifteen_of_a_kind_are_found)
{
	static const char *const crowds[] = {"1k6/8/8/8/8/8/QQQQQQQQ/QQQQQQQK w - - 0 1",
					     "1k6/8/8/8/8/Q7/QQQQQQQQ/QQQQQQQK w - - 0 1"};
	static const char *const filters[] = {
		"material \"Q=15\"", "material \"Q=16..\"", "not material \"Q=15\"",
		"balance \"QQQQQQQQQQQQ* v\"", "points 140.. either-colour"};
	close_games();
	add_games(crowds, CHI_COUNT(crowds), 20);
	for (size_t i = 0; i < CHI_COUNT(filters); i++) {
		struct tried tried = try_motif(filters[i]);
		assert_true(tried.helps && !tried.exact && tried.have > 0);
	}
}

/* ---- Plies passed over -------------------------------------------------------------------- */

/* Where each game has the motif; -2: it has not. */
static int32_t *find_plies(const char *text)
{
	static struct chi_terms terms;
	struct chi_motifs *motifs;
	int32_t *plies = calloc(view.last + 1, sizeof(*plies));
	assert_non_null(plies);
	if (chi_terms_parse(text, strlen(text), &terms, &fault) != CHI_OK) {
		fail_msg("%s: %s", text, fault.text);
	}
	ok(chi_motifs_new(&terms, &motifs, &fault));
	ok(chi_motifs_begin(motifs, snapshot, NULL));
	for (uint32_t number = 1; number <= view.last; number++) {
		struct chi_motif_found found = {.ply = -2};
		uint64_t steps = UINT64_MAX;
		uint32_t has = 0;
		ok(chi_motifs_search(motifs, number, 1, &steps, &has, &found));
		plies[number] = has != 0 ? found.ply : -2;
	}
	chi_motifs_end(motifs);
	chi_motifs_free(motifs);
	return plies;
}

/* The motif with `more` in place of each '~'. */
static int32_t *find_with(const char *motif, const char *more)
{
	char text[512] = "";
	for (size_t len; *motif != '\0'; motif += len) {
		len = *motif == '~' ? 1 : strcspn(motif, "~");
		size_t at = strlen(text);
		(void)snprintf(text + at, sizeof(text) - at, "%.*s",
			       *motif == '~' ? (int)strlen(more) : (int)len,
			       *motif == '~' ? more : motif);
	}
	return find_plies(text);
}

/* In place of '~' comes an "or", which asks for a look at every ply of the game. */
CASE(plies_passed_over_hold_no_moment)
{
	static const char *const motifs[] = {
		"pattern (played \"N-b7\"~)",
		"pattern (played \"n-b7\"~) mirror either-colour",
		"pattern (played \"N-d5\"~) shift",
		"pattern (played \"p-**\"~) either-colour",
		"pattern (played captures~) next (played captures~) next (played captures~)",
		"pattern (played captures~) times 5..9",
		"pattern (played captures~) for 3",
		"pattern (not played captures~) next (played O-O~)",
		"pattern (played \"K-g1\"~)",
		"pattern (played \"k-c8\"~) mirror",
		"pattern (played \"Kxg1\"~)",
		"pattern (played \"N-g1|Px**\"~)",
		"pattern (played castles|ep~) then (played ep~)",
		"pattern (played \"Pxp\"~) either-colour times 4..",
		"pattern (played \"P-*8=Q\"~) then (last~)",
		"pattern (played \"N-**\"~) then within 4 (check~)",
		"pattern (has \"Pa2 pd7\"~) then (has \"Pa2 pd5\"~)",
		"pattern (has \"Pa2 Ph2\" to-move black played captures~) mirror",
		"pattern (has \"Pa2 ph7\"~) either-colour mirror",
		"pattern (has Nd5|Nf5~) either-colour times 3..",
		"pattern (has \"P*6\"~) shift files",
		"pattern (pawns \"a2 b2 + / + a7\"~) times 9..",
		"pattern (material \"P=5..8 p=4..7 men=20..\"~) times 12..40",
		"pattern (material \"KRP*vKRP*\"~)",
		"pattern (balance \"Q v RR\"~) either-colour",
		"pattern (material \"P=7..8 p=..5\" played quiet~) either-colour",
	};
	for (size_t i = 0; i < CHI_COUNT(motifs); i++) {
		int32_t *found = find_with(motifs[i], "");
		int32_t *wanted = find_with(motifs[i], " or ply 60000..");
		unsigned n = 0;
		for (uint32_t number = 1; number <= view.last; number++) {
			n += wanted[number] != -2;
			if (found[number] != wanted[number]) {
				fail_msg("%s: game %u at %d", motifs[i], number, found[number]);
			}
		}
		print_message("# %s: %u of %u games\n", motifs[i], n, (unsigned)view.last);
		free(found);
		free(wanted);
	}
}

CASES_MAIN(setup, teardown)
