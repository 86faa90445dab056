/* SPDX-License-Identifier: MIT */
/* Reaches the parser of filters of games, and what makes motifs ready and follows them through a
 * game. What is printed is read as the same again. */
#include <string.h>

#include "chess/fen.h"
#include "chess/notation.h"
#include "search/filter/motif.h"
#include "search/filter/terms.h"
#include "tests/fuzz/fuzz.h"

/* Castling of both wings, en passant, a promotion, checks. */
static const char line[] = "e4 d5 e5 f5 exf6 Nc6 fxg7 Bf5 Nf3 Qd7 Bb5 O-O-O O-O Nf6 gxh8=Q Ng4 "
			   "Qxh7 d4 Bxc6 d3 Bxd7+ Bxd7 cxd3 Bf5 Qxf5+ e6 Qxg4 Bh6 Qxe6+ Kb8 Qxh6 "
			   "Rxd3 Qf8+";

#define MOVES_MAX 64

static struct chi_position positions[MOVES_MAX + 1];
static chi_move moves[MOVES_MAX];
static size_t n_moves;

static void play_line(void)
{
	struct chi_fault fault;
	REQUIRE(chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &positions[0], &fault) ==
		CHI_OK);
	REQUIRE(chi_line_parse(&positions[0], line, strlen(line), moves, MOVES_MAX, &n_moves,
			       &fault) == CHI_OK);
	for (size_t i = 0; i < n_moves; i++) {
		chi_position_play(&positions[i], moves[i], &positions[i + 1]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct chi_terms terms;
	static struct chi_terms again;
	char printed[CHI_TERMS_PRINT_SIZE];
	char twice[CHI_TERMS_PRINT_SIZE];
	struct chi_fault fault = {.text = ""};
	struct chi_motifs *motifs = NULL;
	if (n_moves == 0) {
		play_line();
	}
	if (chi_terms_parse((const char *)data, size, &terms, &fault) < 0) {
		REQUIRE(fault.text[0] != '\0');
		return 0;
	}
	size_t len = chi_terms_print(&terms, printed);
	REQUIRE(len == strlen(printed) && len <= CHI_TERMS_TEXT_MAX);
	REQUIRE(chi_terms_parse(printed, len, &again, &fault) == CHI_OK);
	chi_terms_print(&again, twice);
	REQUIRE(strcmp(printed, twice) == 0);
	int rc = chi_motifs_new(&terms, &motifs, &fault);
	REQUIRE(rc == CHI_OK || (rc == -CHI_ETOOBIG && fault.text[0] != '\0'));
	if (rc == CHI_OK && chi_terms_ask_store(&terms) == NULL) {
		(void)chi_motifs_played(motifs, positions, moves, n_moves);
	}
	chi_motifs_free(motifs);
	return 0;
}
