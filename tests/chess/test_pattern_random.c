/* SPDX-License-Identifier: MIT */
/*
 * Patterns on key bytes, made at random, against a slow matcher, which reads the same texts again
 * for every position and looks at a board of letters.
 */
#include "tests/chess/support.h"

#include <ctype.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/pattern/pattern.h"
#include "chess/traits/traits.h"

#define TEXT_MAX 256

/* ---- The slow matcher ------------------------------------------------------------------- */

/* Letters as in a FEN, '.' for empty; index 0 is a1. */
struct board {
	char squares[65];
	char side;
};

static struct board board_of(const struct chi_position *position)
{
	struct board board = {.side = position->side == CHI_WHITE ? 'w' : 'b'};
	memset(board.squares, '.', 64);
	for (int square = 0; square < 64; square++) {
		int kind = chi_position_kind(position, square);
		if (kind != CHI_KINDS) {
			bool black = (position->colour[CHI_BLACK] >> square & 1) != 0;
			char letter = CHI_KIND_LETTERS[kind];
			board.squares[square] = (char)(black ? tolower(letter) : letter);
		}
	}
	return board;
}

static struct board swapped(const struct board *board)
{
	struct board out = {.side = board->side == 'w' ? 'b' : 'w'};
	for (int square = 0; square < 64; square++) {
		char c = board->squares[square ^ 56];
		out.squares[square] = (char)(isupper(c) ? tolower(c) : toupper(c));
	}
	return out;
}

static struct board mirrored(const struct board *board)
{
	struct board out = {.side = board->side};
	for (int square = 0; square < 64; square++) {
		out.squares[square] = board->squares[square ^ 7];
	}
	return out;
}

static bool letter_fits(char wanted, char found)
{
	switch (wanted) {
	case '?':
		return true;
	case 'A':
		return isupper(found);
	case 'a':
		return islower(found);
	default:
		return wanted == found;
	}
}

/* Whether `found` is what *at begins with; moves *at past it. */
static bool slow_contents(const char **at, char found)
{
	bool is_not = **at == '!';
	bool fits = false;
	*at += is_not;
	if (**at == '[') {
		for (++*at; **at != ']'; ++*at) {
			fits = fits || letter_fits(**at, found);
		}
	} else {
		fits = letter_fits(**at, found);
	}
	++*at;
	return fits != is_not;
}

/* One alternative: with '!' all squares of a line must fit, without one of them. */
static bool slow_alternative(const char **at, const struct board *board)
{
	bool is_not = **at == '!';
	const char *target = *at;
	size_t fitting = 0;
	size_t n = 0;
	(void)slow_contents(&target, '.');
	for (int square = 0; square < 64; square++) {
		const char *contents = *at;
		bool in_file = target[0] == '*' || target[0] - 'a' == square % 8;
		bool in_rank = target[1] == '*' || target[1] - '1' == square / 8;
		if (in_file && in_rank) {
			fitting += slow_contents(&contents, board->squares[square]);
			n++;
		}
	}
	*at = target + 2;
	return is_not ? fitting == n : fitting > 0;
}

static bool slow_has(const char *text, const struct board *board)
{
	while (*text != '\0') {
		bool one = slow_alternative(&text, board);
		while (*text == '|') {
			text++;
			one = slow_alternative(&text, board) || one;
		}
		if (!one) {
			return false;
		}
		text += strspn(text, " ,");
	}
	return true;
}

static bool slow_fen(const char *text, const struct board *board)
{
	for (int rank = 7; rank >= 0; rank--, text++) {
		for (int file = 0; file < 8;) {
			if (isdigit(*text)) {
				file += *text++ - '0';
			} else if (!slow_contents(&text, board->squares[8 * rank + file++])) {
				return false;
			}
		}
	}
	return text[-1] == '\0' || *text == board->side;
}

static bool slow_pawns(const char *text, const struct board *board)
{
	for (const char *letter = "Pp"; *letter != '\0'; letter++, text++) {
		struct board left = *board;
		bool more = false;
		for (; *text != '/' && *text != '\0'; text++) {
			if (*text >= 'a' && *text <= 'h') {
				char *square = &left.squares[8 * (text[1] - '1') + text[0] - 'a'];
				if (*square != *letter) {
					return false;
				}
				*square = '.';
			}
			more = more || *text == '+';
		}
		if (!more && memchr(left.squares, *letter, 64) != NULL) {
			return false;
		}
	}
	return true;
}

static int count(const struct board *board, char letter)
{
	int n = 0;
	for (int square = 0; square < 64; square++) {
		n += board->squares[square] == letter ||
		     (letter == '#' && board->squares[square] != '.');
	}
	return n;
}

/* 'v' parts `text`: how often `letter`, capital for White, is there; -1: with a star. */
static int wanted_of(const char *text, char letter)
{
	const char *v = strchr(text, 'v');
	const char *at = isupper(letter) ? text : v;
	int n = 0;
	for (; *at != '\0' && !(isupper(letter) && at == v); at++) {
		n += *at == toupper(letter);
		if (*at == toupper(letter) && at[1] == '*') {
			return -1;
		}
	}
	return n;
}

static bool slow_signature(const char *word, const struct board *board)
{
	for (const char *letter = "KQRBNPkqrbnp"; *letter != '\0'; letter++) {
		int wanted = wanted_of(word, *letter);
		if (wanted >= 0 && wanted != count(board, *letter)) {
			return false;
		}
	}
	return true;
}

static bool slow_bishops(bool opposite, const struct board *board)
{
	int colours[2][2] = {{0}};
	for (int square = 0; square < 64; square++) {
		if (tolower(board->squares[square]) == 'b') {
			colours[isupper(board->squares[square]) != 0][(square / 8 + square) % 2]++;
		}
	}
	bool one_each = colours[0][0] + colours[0][1] == 1 && colours[1][0] + colours[1][1] == 1;
	return one_each && (colours[0][0] != colours[1][0]) == opposite;
}

static bool slow_material(const char *text, const struct board *board)
{
	char copy[TEXT_MAX];
	char *save = NULL;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');
		if (equals == NULL) {
			if (!slow_signature(word, board)) {
				return false;
			}
			continue;
		}
		if (word[0] == 'b' && word[1] == 'i') {
			if (!slow_bishops(equals[1] == 'o', board)) {
				return false;
			}
			continue;
		}
		const char *dots = strstr(equals, "..");
		int n = count(board, word[0] == 'm' ? '#' : word[0]);
		int least = equals[1] == '.' ? 0 : atoi(equals + 1);
		int most = dots == NULL ? least : dots[2] == '\0' ? 32 : atoi(dots + 2);
		if (n < least || n > most) {
			return false;
		}
	}
	return true;
}

static bool slow_balance(const char *text, const struct board *board)
{
	for (const char *letter = "QRBNP"; *letter != '\0'; letter++) {
		int white = wanted_of(text, *letter);
		int black = wanted_of(text, (char)tolower(*letter));
		int less = count(board, *letter) - count(board, (char)tolower(*letter));
		/* In what the test makes, a star has its letter to itself. */
		int wanted = (white > 0 ? white : 0) - (black > 0 ? black : 0);
		if ((less > wanted && white >= 0) || (less < wanted && black >= 0)) {
			return false;
		}
	}
	return true;
}

static bool slow_as_given(const struct chi_pattern_spec *spec, const struct board *board)
{
	return (spec->has == NULL || slow_has(spec->has, board)) &&
	       (spec->fen == NULL || slow_fen(spec->fen, board)) &&
	       (spec->pawns == NULL || slow_pawns(spec->pawns, board)) &&
	       (spec->material == NULL || slow_material(spec->material, board)) &&
	       (spec->balance == NULL || slow_balance(spec->balance, board)) &&
	       (spec->side == CHI_SIDE_ANY ||
		(spec->side == CHI_SIDE_WHITE) == (board->side == 'w'));
}

static bool slow_matches(const struct chi_pattern_spec *spec, const struct board *board)
{
	struct board boards[4] = {*board, mirrored(board), swapped(board)};
	boards[3] = mirrored(&boards[2]);
	return slow_as_given(spec, &boards[0]) ||
	       (spec->mirror && slow_as_given(spec, &boards[1])) ||
	       (spec->either_colour && slow_as_given(spec, &boards[2])) ||
	       (spec->mirror && spec->either_colour && slow_as_given(spec, &boards[3]));
}

/* ---- Patterns at random -------------------------------------------------------------------- */

/* Texts being made, mostly of what `board` has, so that many match. */
struct making {
	struct seed *seed;
	const struct board *board;
	char *text;
	size_t len;
};

static void append(struct making *making, const char *format, ...) CHI_PRINTF(2, 3);
static void append(struct making *making, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	making->len +=
		(size_t)vsnprintf(making->text + making->len, TEXT_MAX - making->len, format, args);
	va_end(args);
	assert_true(making->len < TEXT_MAX);
}

static bool one_in(struct making *making, size_t n)
{
	return seed_below(making->seed, n) == 0;
}

static char any_letter(struct making *making)
{
	return ".?AaKQRBNPkqrbnp"[seed_below(making->seed, 16)];
}

static void make_contents(struct making *making, char found)
{
	bool is_not = one_in(making, 4);
	if (is_not) {
		append(making, "!");
		found = one_in(making, 4) ? found : "QRrqpP"[seed_below(making->seed, 6)];
	}
	if (one_in(making, 4)) {
		append(making, "[%c%c", found, any_letter(making) == '?' ? 'N' : 'p');
		append(making, "]");
	} else {
		append(making, "%c", one_in(making, 8) && !is_not ? any_letter(making) : found);
	}
}

static void make_alternative(struct making *making, bool line)
{
	size_t square = seed_below(making->seed, 64);
	for (int i = 0; i < 4 && making->board->squares[square] == '.'; i++) {
		square = seed_below(making->seed, 64);
	}
	make_contents(making, making->board->squares[square]);
	bool file = line && !one_in(making, 3);
	bool rank = line && !file;
	append(making, "%c%c", file && !one_in(making, 3) ? '*' : (char)('a' + square % 8),
	       rank || (file && one_in(making, 2)) ? '*' : (char)('1' + square / 8));
}

static void make_has(struct making *making)
{
	for (size_t n = 1 + seed_below(making->seed, 3); n > 0; n--) {
		bool line = one_in(making, 4);
		size_t start = making->len;
		make_alternative(making, line);
		bool alone = line && making->text[start] == '!';
		while (!alone && one_in(making, 4)) {
			append(making, "|");
			make_alternative(making, false);
		}
		append(making, n > 1 ? " " : "");
	}
}

static void make_fen(struct making *making)
{
	size_t density = 1 + seed_below(making->seed, 12);
	for (int rank = 7; rank >= 0; rank--) {
		for (int file = 0; file < 8; file++) {
			char found = making->board->squares[8 * rank + file];
			if (found != '.' && one_in(making, density)) {
				make_contents(making, found);
			} else {
				append(making, "%c",
				       "1?1."[found == '.' ? seed_below(making->seed, 4) : 0]);
			}
		}
		append(making, rank > 0 ? "/" : "");
	}
	if (one_in(making, 3)) {
		append(making, " %c", making->board->side);
	}
}

static void make_pawns(struct making *making)
{
	size_t leave_out = one_in(making, 2) ? 100 : 3;
	for (const char *letter = "Pp"; *letter != '\0'; letter++) {
		for (int square = 0; square < 64; square++) {
			if (making->board->squares[square] == *letter &&
			    !one_in(making, leave_out)) {
				append(making, "%c%d ", 'a' + square % 8, square / 8 + 1);
			}
		}
		append(making, leave_out == 3 ? "+" : "");
		append(making, *letter == 'P' ? " / " : "");
	}
}

static void make_material(struct making *making)
{
	if (one_in(making, 3)) {
		for (const char *letter = "KQRBNPvkqrbnp"; *letter != '\0'; letter++) {
			bool star = one_in(making, 4) && *letter != 'v';
			for (int n = *letter == 'v' ? 1 : count(making->board, *letter);
			     n > 0 && !star; n--) {
				append(making, "%c", *letter == 'v' ? 'v' : toupper(*letter));
			}
			if (star) {
				append(making, "%c*", toupper(*letter));
			}
		}
		append(making, strcmp(making->text, "v") == 0 ? "K" : "");
	}
	for (size_t n = 1 + seed_below(making->seed, 3); n > 0; n--) {
		char letter = "QRBNPqrbnpm"[seed_below(making->seed, 11)];
		int least = count(making->board, letter == 'm' ? '#' : letter);
		int most = least + (least < 32 ? (int)seed_below(making->seed, 2) : 0);
		if (one_in(making, 10)) {
			append(making, " bishops=%s", one_in(making, 2) ? "same" : "opposite");
		}
		append(making, letter == 'm' ? " men=" : " %c=", letter);
		switch (seed_below(making->seed, 4)) {
		case 0:
			append(making, "%d", least);
			break;
		case 1:
			append(making, "..%d", most);
			break;
		case 2:
			append(making, "%d..", least);
			break;
		default:
			append(making, "%d..%d", least, most);
		}
	}
}

static void make_balance(struct making *making)
{
	for (int side = 0; side < 2; side++) {
		for (const char *letter = "QRBNP"; *letter != '\0'; letter++) {
			int less = count(making->board, *letter) -
				   count(making->board, (char)tolower(*letter));
			for (int n = side == 0 ? less : -less; n > 0; n--) {
				append(making, "%c", *letter);
			}
			if (less == 0 && one_in(making, 4)) {
				append(making, "%c*", *letter);
			}
		}
		append(making, side == 0 ? " v " : "");
	}
}

/* Fills some of the texts; `texts` has room for them. */
static struct chi_pattern_spec make_spec(struct seed *seed, const struct board *board,
					 char texts[5][TEXT_MAX])
{
	static void (*const makers[5])(struct making *) = {make_has, make_fen, make_pawns,
							   make_material, make_balance};
	struct chi_pattern_spec spec = {0};
	const char **fields[5] = {&spec.has, &spec.fen, &spec.pawns, &spec.material, &spec.balance};
	for (size_t i = 0; i < 5; i++) {
		struct making making = {seed, board, texts[i], 0};
		texts[i][0] = '\0';
		if (seed_below(seed, i == 0 ? 2 : 4) == 0) {
			makers[i](&making);
			*fields[i] = texts[i];
		}
	}
	spec.side = (uint8_t)(seed_below(seed, 3) == 0 ? 1 + seed_below(seed, 2) : 0);
	spec.mirror = seed_below(seed, 3) == 0;
	spec.either_colour = seed_below(seed, 3) == 0;
	return spec;
}

#define POOL 400

/* How often a part of a position was said to decide. */
static size_t judged[3];
static size_t judged_home[3];
static size_t masked[2];

/* Positions of games and of no game, and their keys with bytes after them that mean nothing. */
struct pool {
	struct board boards[POOL];
	uint8_t keys[POOL][CHI_KEY_MAX];
};

static void fill_pool(struct seed *seed, struct pool *pool)
{
	struct chi_position position = position_of(START_FEN);
	for (size_t i = 0; i < POOL; i++) {
		struct chi_key key;
		if (i % 2 == 0 && (i % 120 == 0 || !play_random(seed, &position))) {
			position = random_start(seed);
		}
		struct chi_position shown = i % 2 == 0 ? position : random_placement(seed);
		pool->boards[i] = board_of(&shown);
		chi_key_encode(&shown, &key);
		memset(pool->keys[i], 0xa5, CHI_KEY_MAX);
		memcpy(pool->keys[i], key.bytes, key.len);
	}
}

static void print_spec(const struct chi_pattern_spec *spec)
{
	print_message("# has '%s' fen '%s' pawns '%s' material '%s' balance '%s' side %u%s%s\n",
		      spec->has, spec->fen, spec->pawns, spec->material, spec->balance, spec->side,
		      spec->mirror ? " mirror" : "", spec->either_colour ? " either" : "");
}

/* What a part of a position says is never wrong. */
static void check_parts(const struct chi_pattern *pattern, const uint8_t *bytes, bool matches)
{
	struct chi_key key = {.len = (uint8_t)chi_key_length(bytes)};
	struct chi_position position;
	uint8_t counts[2][CHI_KINDS];
	memcpy(key.bytes, bytes, key.len);
	assert_int_equal(chi_key_decode(&key, &position, NULL), CHI_OK);
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
			counts[colour][kind] =
				(uint8_t)chi_popcount(chi_position_pieces(&position, colour, kind));
		}
	}
	for (int moved = 0; moved < 2; moved++) {
		enum chi_pattern_verdict verdict = chi_pattern_by_counts(pattern, counts, moved);
		assert_true(verdict == CHI_PATTERN_MAYBE ||
			    (verdict == CHI_PATTERN_ALWAYS) == matches);
		judged[verdict]++;
	}
	enum chi_pattern_verdict home = chi_pattern_by_home(pattern, chi_trait_home(&position));
	assert_true(home == CHI_PATTERN_MAYBE || !matches);
	judged_home[home]++;
	struct chi_mask_wants wants;
	uint64_t mask = chi_mirror_files(chi_position_occupied(&position));
	chi_pattern_masks_of(pattern, &wants);
	bool fits = chi_masks_fit(&wants, mask, (uint32_t)chi_popcount(mask));
	assert_true(fits || !matches);
	masked[fits]++;
}

/* A pattern over all of the pool; with and without the processor's help. Returns the matches. */
static size_t compare_over(const struct pool *pool, const struct chi_pattern_spec *spec)
{
	static struct chi_pattern pattern;
	struct chi_fault fault = {{0}};
	size_t found = 0;
	int rc = chi_pattern_compile(spec, &pattern, &fault);
	if (rc != CHI_OK && (rc != -CHI_EINVAL || fault.text[0] == '\0')) {
		print_spec(spec);
		fail_msg("%d: %s", rc, fault.text);
	}
	for (size_t i = 0; i < POOL; i++) {
		bool expected = slow_matches(spec, &pool->boards[i]);
		bool matches = rc == CHI_OK && chi_pattern_matches(&pattern, pool->keys[i]);
		struct chi_pattern slow = {0};
		if (i == 0 && rc == CHI_OK) {
			slow = pattern;
			slow.fast_count = false;
			assert_true(chi_pattern_matches(&slow, pool->keys[i]) == matches);
		}
		if (rc == CHI_OK) {
			check_parts(&pattern, pool->keys[i], matches);
		}
		if (matches != expected) {
			print_spec(spec);
			fail_msg("%.64s %c: %d, expected %d; %s", pool->boards[i].squares,
				 pool->boards[i].side, matches, expected, fault.text);
		}
		found += matches;
	}
	return found;
}

CASE(agrees_with_the_slow_matcher)
{
	static struct pool pool;
	static char texts[5][TEXT_MAX];
	struct seed seed = seed_start("pattern");
	size_t rounds = seed_rounds(4000);
	size_t matched = 0;
	size_t total = 0;
	for (size_t i = 0; i < rounds; i++) {
		if (i % 100 == 0) {
			fill_pool(&seed, &pool);
		}
		const struct board *board = &pool.boards[seed_below(&seed, POOL)];
		struct chi_pattern_spec spec = make_spec(&seed, board, texts);
		size_t found = compare_over(&pool, &spec);
		matched += found > 0 && found < POOL;
		total += found;
	}
	print_message("# %zu patterns, %zu of them match some, %zu matches\n", rounds, matched,
		      total);
	assert_true(matched > rounds / 4);
	/* Few that fit do not match. */
	assert_true(masked[false] > masked[true] && masked[true] > total);
	for (int i = CHI_PATTERN_NEVER; i <= CHI_PATTERN_ALWAYS; i++) {
		assert_true(judged[i] > rounds);
		assert_true(i == CHI_PATTERN_ALWAYS || judged_home[i] > rounds);
	}
}
