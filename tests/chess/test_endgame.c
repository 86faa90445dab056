/* SPDX-License-Identifier: MIT */
/* Classes of endgames: published truths, all signatures of six men, and that what is called a
 * certain draw is one. */
#include "tests/chess/support.h"

#include "chess/endgame/endgame.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/validate.h"

static struct chi_endgame class_of(const struct chi_position *position)
{
	struct chi_endgame endgame;
	struct chi_key key;
	chi_key_encode(position, &key);
	chi_endgame_classify(&key, &endgame);
	assert_int_equal(chi_endgame_family_of(key.bytes), endgame.family);
	return endgame;
}

/* Piece by piece, as the key's codes are defined. */
static uint8_t family_by_codes(const uint8_t *key, int n)
{
	static const uint8_t kinds[16] = {
		CHI_KING, CHI_BISHOP, CHI_KING, CHI_KNIGHT, CHI_PAWN, CHI_QUEEN, CHI_ROOK, CHI_ROOK,
		CHI_PAWN, CHI_BISHOP, CHI_KING, CHI_KNIGHT, CHI_PAWN, CHI_QUEEN, CHI_ROOK, CHI_ROOK,
	};
	uint8_t counts[2][CHI_KINDS] = {{0}};
	for (int i = 0; i < n; i++) {
		unsigned code = i % 2 == 0 ? key[8 + i / 2] >> 4 : key[8 + i / 2] & 15;
		counts[code == 0 || code > 8 ? CHI_BLACK : CHI_WHITE][kinds[code]]++;
	}
	return chi_endgame_family_by(counts);
}

/* Any codes, any number of them, whatever lies after the last. */
CASE(families_of_all_codes_are_as_counted_one_by_one)
{
	struct seed seed = seed_start("families");
	size_t rounds = seed_rounds(200000);
	size_t families[CHI_ENDGAME_FAMILIES] = {0};
	for (size_t round = 0; round < rounds; round++) {
		uint8_t key[CHI_KEY_MAX];
		int n = (int)seed_below(&seed, 33);
		uint64_t mask = n == 0 ? 0 : UINT64_MAX >> (64 - n);
		bool pawns = seed_below(&seed, 2) == 0;
		for (size_t i = 8; i < sizeof(key); i++) {
			key[i] = (uint8_t)seed_below(&seed, 256);
		}
		for (int i = 2; pawns && i < n; i++) {
			size_t code = seed_below(&seed, 6) == 0 ? seed_below(&seed, 16)
								: 4 + 4 * seed_below(&seed, 3);
			uint8_t *at = &key[8 + i / 2];
			*at = (uint8_t)(i % 2 == 0 ? (*at & 15) | code << 4 : (*at & 0xf0) | code);
		}
		key[8] = pawns ? 0x20 : key[8];
		memcpy(key, &mask, sizeof(mask));
		uint8_t family = chi_endgame_family_of(key);
		assert_int_equal(family, family_by_codes(key, n));
		families[family]++;
	}
	for (size_t i = 0; i < CHI_ENDGAME_FAMILIES; i++) {
		assert_true(families[i] > 0);
	}
}

static const struct {
	const char *fen;
	uint8_t family;
	const char *signature;
	const char *name;
	const char *result;
} truths[] = {
	{"8/8/4k3/8/8/3K4/8/8 w - - 0 1", CHI_ENDGAME_BARE, "KvK", "king against king",
	 "drawn: no moves can mate"},
	{"8/8/4k3/8/8/3K4/8/2B5 w - - 0 1", CHI_ENDGAME_MINOR, "KBvK", "bishop against king",
	 "drawn: no moves can mate"},
	{"8/8/4k3/8/8/3K4/8/2B1B3 w - - 0 1", CHI_ENDGAME_MINOR, "KBBvK",
	 "two bishops against king", "drawn: no moves can mate"},
	{"8/8/4k3/8/8/3K4/8/2BB4 w - - 0 1", CHI_ENDGAME_MINOR, "KBBvK", "two bishops against king",
	 "white usually wins"},
	{"8/8/4k3/8/8/3K4/8/2nb4 w - - 0 1", CHI_ENDGAME_MINOR, "KBNvK",
	 "bishop and knight against king", "black usually wins"},
	{"8/8/4k3/8/8/3K4/8/1NN5 w - - 0 1", CHI_ENDGAME_MINOR, "KNNvK", "two knights against king",
	 "usually drawn"},
	{"8/8/4k3/8/8/3K4/8/1NNN4 w - - 0 1", CHI_ENDGAME_MINOR, "KNNNvK",
	 "three knights against king", "white usually wins"},
	{"8/8/4k3/4p3/8/3K4/8/1NN5 w - - 0 1", CHI_ENDGAME_MINOR, "KNNvKP",
	 "two knights against pawn", ""},
	{"8/8/4k3/8/8/3K4/8/3R4 w - - 0 1", CHI_ENDGAME_ROOK, "KRvK", "rook against king",
	 "white usually wins"},
	{"4q3/8/4k3/8/8/3K4/8/3R4 w - - 0 1", CHI_ENDGAME_QUEEN_ROOK, "KQvKR", "queen against rook",
	 "black usually wins"},
	{"8/8/4k3/8/8/3K4/4b3/3R4 w - - 0 1", CHI_ENDGAME_ROOK_MINOR, "KRvKB",
	 "rook against bishop", "usually drawn"},
	{"8/8/4k3/8/8/3K4/4n3/3R4 w - - 0 1", CHI_ENDGAME_ROOK_MINOR, "KRvKN",
	 "rook against knight", "usually drawn"},
	{"8/8/4k3/8/8/3K4/4p3/3Q4 w - - 0 1", CHI_ENDGAME_QUEEN, "KQvKP", "queen against pawn",
	 "white usually wins"},
	{"3r4/8/4k3/3p4/8/3K4/8/3R4 w - - 0 1", CHI_ENDGAME_ROOK, "KRPvKR",
	 "rook and pawn against rook", ""},
	{"3r4/8/4k3/3b4/8/3K4/8/3R4 w - - 0 1", CHI_ENDGAME_ROOK_MINOR, "KRBvKR",
	 "rook and bishop against rook", "usually drawn"},
	{"3q4/8/4k3/8/8/3K2P1/8/3Q4 w - - 0 1", CHI_ENDGAME_QUEEN, "KQPvKQ",
	 "queen and pawn against queen", ""},
	{"8/8/4k3/3n4/8/3K4/8/2BB4 w - - 0 1", CHI_ENDGAME_MINOR, "KBBvKN",
	 "two bishops against knight", "white usually wins"},
	{"8/8/4k3/3n4/8/3K4/8/2B1B3 w - - 0 1", CHI_ENDGAME_MINOR, "KBBvKN",
	 "two bishops against knight", ""},
	{"3r4/8/4k3/3p4/3p4/3K4/8/3R4 w - - 0 1", CHI_ENDGAME_ROOK, "KRPPvKR",
	 "rook and two pawns against rook", "black usually wins"},
	{"8/8/4k3/8/3P4/3K4/8/8 w - - 0 1", CHI_ENDGAME_PAWN, "KPvK", "pawn against king", ""},
	{"k7/8/8/8/P7/K7/8/8 w - - 0 1", CHI_ENDGAME_PAWN, "KPvK", "pawn against king", "drawn"},
	{"7k/8/8/8/P7/K7/8/8 w - - 0 1", CHI_ENDGAME_PAWN, "KPvK", "pawn against king", ""},
	/* The bishop on c1 is on dark squares, a8 is light. */
	{"1k6/8/8/8/P7/K7/8/2B5 b - - 0 1", CHI_ENDGAME_MINOR, "KBPvK",
	 "bishop and pawn against king", "drawn"},
	{"1k6/8/8/8/P7/K7/8/1B6 b - - 0 1", CHI_ENDGAME_MINOR, "KBPvK",
	 "bishop and pawn against king", "white usually wins"},
	{"6k1/8/8/8/P7/K7/8/2B5 b - - 0 1", CHI_ENDGAME_MINOR, "KBPvK",
	 "bishop and pawn against king", ""},
	{"8/7k/8/7p/7p/8/8/b5K1 w - - 0 1", CHI_ENDGAME_MINOR, "KBPPvK",
	 "bishop and two pawns against king", "drawn"},
	{"7b/7k/8/7p/7p/8/8/6K1 w - - 0 1", CHI_ENDGAME_MINOR, "KBPPvK",
	 "bishop and two pawns against king", "drawn"},
	{"6b1/7k/8/7p/7p/8/8/6K1 w - - 0 1", CHI_ENDGAME_MINOR, "KBPPvK",
	 "bishop and two pawns against king", "black usually wins"},
	{"4kb2/pp6/8/8/8/8/PPP5/4KB2 w - - 0 1", CHI_ENDGAME_MINOR, "KBPPPvKBPP",
	 "bishop and three pawns against bishop and two pawns", "usually drawn"},
	{"4k1b1/pp6/8/8/8/8/PPP5/4KB2 w - - 0 1", CHI_ENDGAME_MINOR, "KBPPPvKBPP",
	 "bishop and three pawns against bishop and two pawns", ""},
	{"r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1", CHI_ENDGAME_ROOK,
	 "KRRPPPPPPPPvKRRPPPPPPPP", "two rooks and eight pawns against two rooks and eight pawns",
	 ""},
	{"4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", CHI_ENDGAME_PAWN, "KPvKP", "pawn against pawn", ""},
	{"qrbnk3/8/8/8/8/8/8/4K3 w - - 0 1", CHI_ENDGAME_MIXED, "KQRBNvK",
	 "queen, rook, bishop and knight against king", "black usually wins"},
	{"qrbnkr2/8/8/8/8/8/8/4K3 w - - 0 1", CHI_ENDGAME_NONE, "", "", ""},
	{"4k3/8/8/8/8/8/8/4R3 w - - 0 1", CHI_ENDGAME_NONE, "", "", ""},
	{START_FEN, CHI_ENDGAME_NONE, "", "", ""},
};

CASE(published_truths)
{
	for (size_t i = 0; i < CHI_COUNT(truths); i++) {
		struct chi_position position = position_of(truths[i].fen);
		struct chi_endgame endgame = class_of(&position);
		const char *result = chi_endgame_result_text(&endgame);
		if (endgame.family != truths[i].family || strcmp(result, truths[i].result) != 0 ||
		    strcmp(endgame.signature, truths[i].signature) != 0 ||
		    strcmp(endgame.name, truths[i].name) != 0) {
			fail_msg("%s: %s, %s, %s, '%s'", truths[i].fen,
				 chi_endgame_family_name(endgame.family), endgame.signature,
				 endgame.name, result);
		}
	}
}

CASE(figures_are_of_the_side_named_first)
{
	struct chi_position position = position_of("3r4/8/4k3/3p4/8/3K4/8/3R4 w - - 0 1");
	struct chi_endgame endgame = class_of(&position);
	assert_true(endgame.has_figures);
	assert_int_equal(endgame.won, 666);
	assert_int_equal(endgame.drawn, 330);
	assert_int_equal(endgame.lost, 4);
	assert_int_equal(endgame.longest, 74);
	/* The table names the side with more pieces first, though the queen is stronger. */
	position = position_of("3q4/8/4k3/8/8/3K4/8/1N1B4 w - - 0 1");
	endgame = class_of(&position);
	assert_string_equal(endgame.signature, "KBNvKQ");
	assert_int_equal(endgame.result, CHI_ENDGAME_BLACK);
	assert_int_equal(endgame.longest, 53);
}

/* ---- Certain draws ------------------------------------------------------------------------ */

static bool is_certain_draw(const struct chi_position *position)
{
	struct chi_endgame endgame = class_of(position);
	return endgame.certain &&
	       (endgame.result == CHI_ENDGAME_DRAW || endgame.result == CHI_ENDGAME_DEAD);
}

/* The lone king is stalemated, or has a move that keeps the draw. */
static bool holds(const struct chi_position *position)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	bool found = list.n == 0 && !chi_position_in_check(position, position->side);
	for (size_t i = 0; i < list.n && !found; i++) {
		struct chi_position next;
		chi_position_play(position, list.moves[i], &next);
		found = is_certain_draw(&next);
	}
	return found;
}

/* If all moves of the other side leave a position that holds, no play ever leaves the class. */
static bool stays(const struct chi_position *position)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n; i++) {
		struct chi_position next;
		chi_position_play(position, list.moves[i], &next);
		if (!holds(&next)) {
			return false;
		}
	}
	return true;
}

/* Kings, a pawn and one more man of the pawn's side anywhere, or none (square 64). */
static bool make(struct chi_position *position, int king, int lone, int pawn, int man, int kind)
{
	uint64_t taken = chi_bit(king);
	chi_position_clear(position);
	chi_position_put(position, CHI_WHITE, CHI_KING, king);
	const int squares[3] = {lone, pawn, man};
	for (int i = 0; i < 3; i++) {
		if (squares[i] == 64) {
			continue;
		}
		if ((taken & chi_bit(squares[i])) != 0) {
			return false;
		}
		taken |= chi_bit(squares[i]);
		chi_position_put(position, i == 0 ? CHI_BLACK : CHI_WHITE,
				 i == 0	  ? CHI_KING
				 : i == 1 ? CHI_PAWN
					  : kind,
				 squares[i]);
	}
	return chi_position_check(position, -CHI_EFEN, NULL) == CHI_OK &&
	       (chi_attacks.king[king] & chi_bit(lone)) == 0;
}

static void check_certain(const struct chi_position *position, size_t *found)
{
	struct chi_position turned = *position;
	for (uint8_t side = CHI_WHITE; side <= CHI_BLACK; side++) {
		turned.side = side;
		if (chi_position_in_check(&turned, side ^ 1) || !is_certain_draw(&turned)) {
			continue;
		}
		++*found;
		if (side == CHI_WHITE ? !stays(&turned) : !holds(&turned)) {
			char fen[CHI_FEN_SIZE];
			chi_fen_print(&turned, fen);
			fail_msg("not drawn: %s", fen);
		}
	}
}

/* All positions of a rook's pawn with nothing, a bishop or a second such pawn. */
CASE(certain_draws_are_drawn)
{
	size_t found = 0;
	int step = getenv("CHISTORE_EFFORT") != NULL && SLOW_BUILD ? 3 : 1;
	for (int pawn = 8; pawn < 56; pawn += (pawn & 7) == 0 ? 7 : 1) {
		for (int lone = 40; lone < 64; lone++) {
			for (int king = 0; king < 64; king += step) {
				struct chi_position position;
				for (int man = 0; man <= 64; man++) {
					if (make(&position, king, lone, pawn, man, CHI_BISHOP)) {
						check_certain(&position, &found);
					}
				}
				for (int second = pawn + 8; second < 56; second += 8) {
					if (make(&position, king, lone, pawn, second, CHI_PAWN)) {
						check_certain(&position, &found);
					}
				}
			}
		}
	}
	print_message("# %zu positions proved\n", found);
	assert_true(found > 20000 / (size_t)step);
}

/* ---- All signatures ------------------------------------------------------------------------ */

/* Puts men of one colour from a string of letters on squares that do no harm. */
static void put_all(struct chi_position *position, int colour, const char *letters, int square)
{
	for (; *letters != '\0'; letters++, square++) {
		chi_position_put(position, colour, chi_kind_of(*letters), square);
	}
}

/* Extends `letters` by every choice of up to `left` pieces, in order. */
static void every_army(char *letters, size_t len, size_t left, const char *from,
		       void (*visit)(const char *, void *), void *context)
{
	letters[len] = '\0';
	visit(letters, context);
	for (; left > 0 && *from != '\0'; from++) {
		letters[len] = *from;
		every_army(letters, len + 1, left - 1, from, visit, context);
		letters[len] = '\0';
	}
}

struct visiting {
	const char *white;
	size_t n;
	size_t with_figures;
};

static void visit_black(const char *black, void *context)
{
	struct visiting *visiting = context;
	struct chi_position position;
	if (strlen(visiting->white) + strlen(black) > 4) {
		return;
	}
	chi_position_clear(&position);
	chi_position_put(&position, CHI_WHITE, CHI_KING, 0);
	chi_position_put(&position, CHI_BLACK, CHI_KING, 63);
	put_all(&position, CHI_WHITE, visiting->white, 16);
	put_all(&position, CHI_BLACK, black, 40);
	struct chi_endgame endgame = class_of(&position);
	assert_int_not_equal(endgame.family, CHI_ENDGAME_NONE);
	assert_true(strlen(endgame.name) > 0 && strlen(endgame.name) < CHI_ENDGAME_NAME_SIZE - 1);
	assert_true(strlen(visiting->white) + strlen(black) != 3 || endgame.has_figures);
	visiting->with_figures += endgame.has_figures;
	if (endgame.has_figures) {
		int sum = endgame.won + endgame.drawn + endgame.lost;
		assert_true(sum >= 998 && sum <= 1002);
	}
	visiting->n++;
}

static void visit_white(const char *white, void *context)
{
	struct visiting *visiting = context;
	char copy[8];
	char black[8];
	snprintf(copy, sizeof(copy), "%s", white);
	visiting->white = copy;
	every_army(black, 0, 4, "QRBNP", visit_black, visiting);
}

CASE(every_signature_of_six_has_a_class)
{
	char white[8];
	struct visiting visiting = {0};
	every_army(white, 0, 4, "QRBNP", visit_white, &visiting);
	/* Ordered pairs of armies with n pieces together: 1, 10, 55, 220, 715 for n = 0..4. */
	assert_int_equal(visiting.n, 1 + 10 + 55 + 220 + 715);
	assert_int_equal(visiting.with_figures, 220);
}

CASE(any_key_has_a_class_or_none)
{
	struct seed seed = seed_start("endgame");
	size_t rounds = seed_rounds(20000);
	for (size_t i = 0; i < rounds; i++) {
		struct chi_position position = random_placement(&seed);
		struct chi_endgame endgame = class_of(&position);
		assert_true(strlen(endgame.name) < CHI_ENDGAME_NAME_SIZE - 1);
		if (chi_position_insufficient(&position) && endgame.family != CHI_ENDGAME_NONE) {
			assert_int_equal(endgame.result, CHI_ENDGAME_DEAD);
		}
	}
	struct chi_key bad = {.len = 3};
	struct chi_endgame endgame;
	chi_endgame_classify(&bad, &endgame);
	assert_int_equal(endgame.family, CHI_ENDGAME_NONE);
	assert_string_equal(chi_endgame_result_text(&endgame), "");
}

CASE(families_are_found_by_name)
{
	static const struct {
		const char *text;
		int family;
	} table[] = {
		{"rook endings", CHI_ENDGAME_ROOK},
		{"Rook Endgame", CHI_ENDGAME_ROOK},
		{"rooks", CHI_ENDGAME_ROOK},
		{"ROOK-ENDINGS", CHI_ENDGAME_ROOK},
		{"pawn", CHI_ENDGAME_PAWN},
		{"minor-piece ending", CHI_ENDGAME_MINOR},
		{"minor pieces", CHI_ENDGAME_MINOR},
		{"rook and minor piece endings", CHI_ENDGAME_ROOK_MINOR},
		{"queen_and_rook", CHI_ENDGAME_QUEEN_ROOK},
		{"queens & minor pieces", CHI_ENDGAME_QUEEN_MINOR},
		{"mixed", CHI_ENDGAME_MIXED},
		{"bare kings", CHI_ENDGAME_BARE},
		{"", -1},
		{"endings", -1},
		{"rook pawn", -1},
		{"rook.", -1},
		{"bishop endings", -1},
		{"rook endings rook endings rook endings rook endings rook endings rook endings",
		 -1},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		uint8_t family = 0;
		struct chi_fault fault = {{0}};
		int rc = chi_endgame_family_find(table[i].text, strlen(table[i].text), &family,
						 &fault);
		if (rc != (table[i].family < 0 ? -CHI_ESYNTAX : CHI_OK) ||
		    (rc == CHI_OK && family != table[i].family)) {
			fail_msg("'%s': %d, %s", table[i].text, rc,
				 chi_endgame_family_name(family));
		}
		assert_true(rc == CHI_OK || strstr(fault.text, "queen and rook") != NULL);
	}
	for (uint8_t family = 1; family < CHI_ENDGAME_FAMILIES; family++) {
		const char *name = chi_endgame_family_name(family);
		uint8_t found = 0;
		assert_int_equal(chi_endgame_family_find(name, strlen(name), &found, NULL), CHI_OK);
		assert_int_equal(found, family);
	}
}
