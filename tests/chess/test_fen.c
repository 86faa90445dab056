/* SPDX-License-Identifier: MIT */
/* FEN text: what is accepted and how it is normalised, what is refused and with which words, and
 * that no bytes at all can do harm. */
#include "tests/chess/support.h"

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/validate.h"
#include "tests/chess/position_equal.h"

/* Parses a copy of exactly `len` bytes on the heap, so that a sanitizer sees any step beyond. */
static int parse_exact(const char *text, size_t len, struct chi_position *out,
		       struct chi_fault *fault)
{
	char *copy = malloc(len > 0 ? len : 1);
	assert_non_null(copy);
	memcpy(copy, text, len);
	int rc = chi_fen_parse(copy, len, out, fault);
	free(copy);
	return rc;
}

static const struct {
	const char *fen;
	const char *normalised;
} normal[] = {
	/* separators and missing counters */
	{"4k3/8/8/8/8/8/8/4K3 w - -", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
	{"4k3/8/8/8/8/8/8/4K3_w_-_-_12", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
	{"++4k3/8/8/8/8/8/8/4K3+b  -_+-+12 77_", "4k3/8/8/8/8/8/8/4K3 b - - 0 1"},
	/* castling: dropped without king or rook in place */
	{"4k3/8/8/8/8/8/8/4K3 w KQkq -", "4k3/8/8/8/8/8/8/4K3 w - - 0 1"},
	{"r3k2r/8/8/8/8/8/4K3/R6R w KQkq -", "r3k2r/8/8/8/8/8/4K3/R6R w kq - 0 1"},
	{"r3k2r/8/8/8/8/8/8/R3K1NR w qkQK -", "r3k2r/8/8/8/8/8/8/R3K1NR w KQkq - 0 1"},
	{"r3k2b/8/8/8/8/8/8/R3K2B w KQkq -", "r3k2b/8/8/8/8/8/8/R3K2B w Qq - 0 1"},
	{"7r/8/8/4k3/8/8/8/7R w Kk -", "7r/8/8/4k3/8/8/8/7R w - - 0 1"},
	/* KQkq mean the outermost rook, letters the rook on the file */
	{"1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w KQkq -", "1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w KQkq - 0 1"},
	{"1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w GBgb -", "1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w KQkq - 0 1"},
	{"1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w FCfc -", "1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w FCfc - 0 1"},
	{"1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w cFKA -", NULL},
	{"1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w cFAh -", "1rr1krr1/8/8/8/8/8/8/1RR1KRR1 w Fc - 0 1"},
	{"4k3/8/8/8/8/8/8/4K2R w KH -", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"},
	{"4k3/8/8/8/8/8/8/RK6 w K -", "4k3/8/8/8/8/8/8/RK6 w - - 0 1"},
	{"4k3/8/8/8/8/8/8/RK6 w Q -", "4k3/8/8/8/8/8/8/RK6 w Q - 0 1"},
	/* en passant: kept with a legal capture only */
	{"4k3/8/8/8/4P3/8/8/4K3 b - e3", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"},
	{"4k3/8/8/8/3pP3/8/8/4K3 b - e3", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"},
	{"4k3/8/8/8/p6P/8/8/4K3 b - h3", "4k3/8/8/8/p6P/8/8/4K3 b - - 0 1"},
	{"4k3/8/8/8/3p4/8/8/4K3 b - e3", "4k3/8/8/8/3p4/8/8/4K3 b - - 0 1"},
	{"4k3/8/8/8/3pP3/4N3/8/4K3 b - e3", "4k3/8/8/8/3pP3/4N3/8/4K3 b - - 0 1"},
	{"4k3/8/8/8/3pP3/8/4N3/4K3 b - e3", "4k3/8/8/8/3pP3/8/4N3/4K3 b - - 0 1"},
	/* ... pinned on the rank with both pawns between, on a diagonal, on the file */
	{"8/8/8/8/k2Pp2Q/8/8/3K4 b - d3", "8/8/8/8/k2Pp2Q/8/8/3K4 b - - 0 1"},
	{"7k/8/8/8/3pP3/8/1B6/4K3 b - e3", "7k/8/8/8/3pP3/8/1B6/4K3 b - - 0 1"},
	{"3k4/8/8/8/3pP3/8/8/3RK3 b - e3", "3k4/8/8/8/3pP3/8/8/3RK3 b - - 0 1"},
	/* ... a diagonal pin along which the capture goes is none */
	{"8/8/1k6/8/3pP3/8/5B2/4K3 b - e3", "8/8/1k6/8/3pP3/8/5B2/4K3 b - e3 0 1"},
	/* ... the captured pawn's own pin, bishop behind it */
	{"8/2k5/8/8/3pP3/6B1/8/4K3 b - e3", "8/2k5/8/8/3pP3/6B1/8/4K3 b - - 0 1"},
	/* ... one capturer of two is enough; the capture must answer a check */
	{"3k4/8/8/8/3pPp2/8/8/3RK3 b - e3", "3k4/8/8/8/3pPp2/8/8/3RK3 b - e3 0 1"},
	{"4k3/8/8/8/3pP2Q/8/8/4RK2 b - e3", "4k3/8/8/8/3pP2Q/8/8/4RK2 b - e3 0 1"},
	{"4k3/8/8/8/3pP3/5N2/8/R3K2q w - -", "4k3/8/8/8/3pP3/5N2/8/R3K2q w - - 0 1"},
	{"8/8/8/8/1k1pP2R/8/8/4K3 b - e3", "8/8/8/8/1k1pP2R/8/8/4K3 b - - 0 1"},
	{"8/8/8/8/3pPk2/8/8/4K3 b - e3", "8/8/8/8/3pPk2/8/8/4K3 b - e3 0 1"},
	/* no kings, and the side not to move in check */
	{"8/8/8/8/8/8/8/7R w - -", "8/8/8/8/8/8/8/7R w - - 0 1"},
	{"8/8/8/3pP3/8/8/8/8 w - d6", "8/8/8/3pP3/8/8/8/8 w - d6 0 1"},
	{"k6R/8/8/8/8/8/8/7K w - -", "k6R/8/8/8/8/8/8/7K w - - 0 1"},
};

CASE(normalises)
{
	for (size_t i = 0; i < CHI_COUNT(normal); i++) {
		struct chi_position position;
		struct chi_fault fault = {{0}};
		char fen[CHI_FEN_SIZE];
		int rc = parse_exact(normal[i].fen, strlen(normal[i].fen), &position, &fault);
		if (normal[i].normalised == NULL) {
			assert_int_equal(rc, -CHI_EFEN);
			continue;
		}
		if (rc != CHI_OK) {
			fail_msg("%s: %s", normal[i].fen, fault.text);
		}
		chi_fen_print(&position, fen);
		assert_string_equal(fen, normal[i].normalised);
	}
}

static const struct {
	const char *fen;
	const char *reason; /* a part of the fault's text */
} refused[] = {
	{"", "0 fields"},
	{"   ", "0 fields"},
	{"4k3/8/8/8/8/8/8/4K3", "1 field,"},
	{"4k3/8/8/8/8/8/8/4K3 w -", "3 fields"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 1 2", "more than 6 fields"},
	{"4k3/8/8/8/8/8/8/4K3\tw - -", "control character 0x09"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 1\n", "control character 0x0a"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 1\x7f", "control character 0x7f"},
	{"4k3/8/8/8/8/8/8/4K\xc3\xa9 w - -", "unexpected byte 0xc3"},
	{"4k3/8/8/8/8/8/8 w - -", "fewer than 8 ranks"},
	{"4k3/8/8/8/8/8/8/4K3/8 w - -", "more than 8 ranks"},
	{"/4k3/8/8/8/8/8/8/4K3 w - -", "rank 8 has 0 squares"},
	{"4k3//8/8/8/8/8/4K3 w - -", "rank 7 has 0 squares"},
	{"4k3/7/8/8/8/8/8/4K3 w - -", "rank 7 has 7 squares"},
	{"4k3/9/8/8/8/8/8/4K3 w - -", "unexpected '9'"},
	{"4k3/0/8/8/8/8/8/4K3 w - -", "unexpected '0'"},
	{"4k3/44/8/8/8/8/8/4K3 w - -", "two digits"},
	{"4k3/8p/8/8/8/8/8/4K3 w - -", "rank 7 has more than 8"},
	{"4k3/ppppppppp/8/8/8/8/8/4K3 w - -", "rank 7 has more than 8"},
	{"4k3/8/8/8/8/8/8/4K4 w - -", "rank 1 has more than 8"},
	{"4k3/8/8/8/8/x7/8/4K3 w - -", "unexpected 'x'"},
	{"4k3/8/8/8/8/8/8/4K3 W - -", "side to move"},
	{"4k3/8/8/8/8/8/8/4K3 wb - -", "side to move"},
	{"4k3/8/8/8/8/8/8/4K3 - - -", "side to move"},
	{"4k3/8/8/8/8/8/8/4K3 w X -", "castling: unexpected 'X'"},
	{"4k3/8/8/8/8/8/8/4K3 w -K -", "castling: unexpected '-'"},
	{"4k3/8/8/8/8/8/8/4K3 w KQK -", "'K' occurs twice"},
	{"4k3/8/8/8/8/8/8/4K3 w KQkqA -", "more than 4 letters"},
	{"4k3/8/8/8/8/8/8/2R1KRR1 w GF -", "two white rooks that may castle"},
	{"1rrk4/8/8/8/8/8/8/4K3 w bc -", "two black rooks that may castle"},
	{"4k3/8/8/8/8/8/8/4K3 w - e3", "square on rank 6"},
	{"4k3/8/8/8/8/8/8/4K3 b - e6", "square on rank 3"},
	{"4k3/8/8/8/8/8/8/4K3 b - i3", "square on rank 3"},
	{"4k3/8/8/8/8/8/8/4K3 b - e33", "square on rank 3"},
	{"4k3/8/8/8/8/8/8/4K3 w - - x 1", "half-move clock"},
	{"4k3/8/8/8/8/8/8/4K3 w - - -1 1", "half-move clock"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 0", "move number"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 1.5", "move number"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 100000", "move number"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 99999999999999999999999", "move number"},
	{"8/8/8/8/8/8/8/8 w - -", "empty"},
	{"4k3/8/8/8/8/8/8/8 w - - 0 1 ", NULL},
	{"8/8/8/8/8/8/8/4K3 b - -", "without a black king"},
	{"8/8/8/8/8/8/8/r7 b - -", "without a black king"},
	{"4k3/8/8/8/8/8/8/KK6 w - -", "2 white kings"},
	{"kkk5/8/8/8/8/8/8/K7 w - -", "3 black kings"},
	{"4k3/8/8/8/8/8/8/P3K3 w - -", "a pawn on the first or last rank"},
	{"4k2p/8/8/8/8/8/8/4K3 w - -", "a pawn on the first or last rank"},
	{"nnnnknnn/nnnnnnnn/n7/8/8/7N/NNNNNNNN/NNNNKNN1 w - -", "33 pieces"},
	{"nnnnknnn/nnnnnnnn/8/8/8/7N/NNNNNNNN/NNNNKNN1 w - -", NULL},
};

CASE(refuses)
{
	for (size_t i = 0; i < CHI_COUNT(refused); i++) {
		struct chi_position position = {.ep = 77};
		struct chi_fault fault = {{0}};
		int rc = parse_exact(refused[i].fen, strlen(refused[i].fen), &position, &fault);
		if (refused[i].reason == NULL) {
			assert_int_equal(rc, CHI_OK);
			continue;
		}
		if (rc != -CHI_EFEN || strstr(fault.text, refused[i].reason) == NULL) {
			fail_msg("%s: %d '%s'", refused[i].fen, rc, fault.text);
		}
		assert_int_equal(position.ep, 77);
		assert_int_equal(
			parse_exact(refused[i].fen, strlen(refused[i].fen), &position, NULL),
			-CHI_EFEN);
	}
}

CASE(length_limit)
{
	char text[CHI_FEN_INPUT_MAX + 2];
	struct chi_position position;
	struct chi_fault fault = {{0}};
	memset(text, ' ', sizeof(text));
	memcpy(text, START_FEN, strlen(START_FEN));
	for (size_t len = CHI_FEN_INPUT_MAX - 1; len <= CHI_FEN_INPUT_MAX + 1; len++) {
		int wanted = len > CHI_FEN_INPUT_MAX ? -CHI_ETOOBIG : CHI_OK;
		assert_int_equal(parse_exact(text, len, &position, &fault), wanted);
	}
	assert_non_null(strstr(fault.text, "129 bytes"));
}

CASE(nul_inside)
{
	static const char text[] = START_FEN;
	char copy[sizeof(text)];
	struct chi_position position;
	for (size_t i = 0; i < sizeof(text); i++) {
		memcpy(copy, text, sizeof(text));
		copy[i] = '\0';
		assert_int_equal(parse_exact(copy, sizeof(text), &position, NULL), -CHI_EFEN);
	}
}

/* Of a FEN with all six fields, only cuts inside the last four fields leave a good one. */
CASE(truncated_everywhere)
{
	static const char text[] = "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 10 11";
	size_t en_passant_end = strlen("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6");
	for (size_t len = 0; len < sizeof(text); len++) {
		struct chi_position position;
		int rc = parse_exact(text, len, &position, NULL);
		assert_int_equal(rc, len < en_passant_end ? -CHI_EFEN : CHI_OK);
	}
}

/* Verdicts of another project's validator. It wants both kings; we store any placement. Where the
 * verdicts differ for that reason the FEN is listed here. */
CASE(verdicts_of_others)
{
	static const char *const ours_alone[] = {
		"8/8/8/8/8/8/8/7K w - - 0 1",
	};
	FILE *file = open_data("fen_validity.tsv");
	char line[512];
	unsigned n = 0;
	unsigned differences = 0;
	while (read_line(file, line, sizeof(line))) {
		char *rest = NULL;
		const char *fen = strtok_r(line, "\t", &rest);
		const char *verdict = strtok_r(NULL, "\t", &rest);
		assert_true(fen != NULL && verdict != NULL);
		bool good = strcmp(verdict, "true") == 0;
		bool listed = false;
		for (size_t i = 0; i < CHI_COUNT(ours_alone); i++) {
			listed = listed || strcmp(fen, ours_alone[i]) == 0;
		}
		struct chi_position position;
		int rc = chi_fen_parse(fen, strlen(fen), &position, NULL);
		if ((rc == CHI_OK) != (good || listed)) {
			fail_msg("%s: %d, the other verdict is %s", fen, rc, verdict);
		}
		differences += listed;
		n++;
	}
	fclose(file);
	assert_int_equal(n, 66);
	assert_int_equal(differences, CHI_COUNT(ours_alone));
}

/* Whatever is accepted is normalised, has a key and prints to itself. */
static void check_accepted(const struct chi_position *position)
{
	struct chi_position back = {0};
	struct chi_key key;
	char fen[CHI_FEN_SIZE];
	size_t len = chi_fen_print(position, fen);
	assert_int_equal(chi_position_check(position, -CHI_EINTERNAL, NULL), CHI_OK);
	assert_int_equal(chi_fen_parse(fen, len, &back, NULL), CHI_OK);
	assert_true(chi_position_equal(position, &back));
	chi_key_encode(position, &key);
	assert_int_equal(chi_key_decode(&key, &back, NULL), CHI_OK);
	assert_true(chi_position_equal(position, &back));
}

CASE(mutated)
{
	static const char *const starts[] = {
		START_FEN,
		"r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 10 11",
		"1rr1krr1/8/8/8/8/8/8/1RR1KRR1_w_FCfc_-",
	};
	static const char likely[] = "pnbrqkPNBRQK12345678/ wb-KQkqABCDEFGHabcdefgh036_+";
	struct seed seed = seed_start("FEN mutations");
	uint64_t rounds = number_from_env("CHISTORE_ROUNDS", SLOW_BUILD ? 50000 : 500000);
	uint64_t accepted = 0;
	for (uint64_t i = 0; i < rounds; i++) {
		char text[CHI_FEN_INPUT_MAX];
		const char *start = starts[seed_below(&seed, CHI_COUNT(starts))];
		size_t len = strlen(start);
		memcpy(text, start, len);
		for (size_t k = 1 + seed_below(&seed, 4); k > 0; k--) {
			bool wild = seed_below(&seed, 8) == 0;
			text[seed_below(&seed, len)] =
				wild ? (char)seed_below(&seed, 256)
				     : likely[seed_below(&seed, sizeof(likely) - 1)];
		}
		struct chi_position position;
		struct chi_fault fault = {{0}};
		int rc = parse_exact(text, len, &position, &fault);
		if (rc == CHI_OK) {
			check_accepted(&position);
			accepted++;
		} else {
			assert_int_equal(rc, -CHI_EFEN);
			assert_true(fault.text[0] != '\0');
		}
	}
	assert_true(accepted > 0 && accepted < rounds);
	print_message("# figures: %" PRIu64 " changed FENs, %" PRIu64 " of them accepted\n", rounds,
		      accepted);
}

CASE(the_initial_position_is_its_text)
{
	struct chi_position position;
	assert_int_equal(chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &position, NULL),
			 CHI_OK);
	assert_true(chi_position_equal(&position, &chi_position_initial));
}
