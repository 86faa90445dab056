/* SPDX-License-Identifier: MIT */
/* Reaches chess/notation.h: the first line is a FEN, the rest is read as one move and as a line
 * of moves. What is accepted must be legal and print, in both notations, to itself. */
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/notation.h"
#include "tests/fuzz/fuzz.h"

static void check_move(const struct chi_position *position, chi_move move)
{
	char text[CHI_SAN_SIZE > CHI_UCI_SIZE ? CHI_SAN_SIZE : CHI_UCI_SIZE];
	chi_move again = 0;
	size_t len = chi_san_print(position, move, text);
	REQUIRE(len < CHI_SAN_SIZE && strlen(text) == len);
	REQUIRE(chi_san_parse(position, text, len, &again, NULL) == CHI_OK && again == move);
	len = chi_uci_print(position, move, text);
	REQUIRE(len < CHI_UCI_SIZE && strlen(text) == len);
	REQUIRE(chi_uci_parse(position, text, len, &again, NULL) == CHI_OK && again == move);
	REQUIRE(chi_line_check(position, &move, 1, NULL) == CHI_OK);
}

static void check_line(const struct chi_position *start, const char *text, size_t len)
{
	chi_move moves[64];
	size_t n = 0;
	struct chi_fault fault = {.text = ""};
	int status = chi_line_parse(start, text, len, moves, CHI_COUNT(moves), &n, &fault);
	if (status != CHI_OK) {
		REQUIRE(status == -CHI_EMOVE || status == -CHI_ETOOBIG);
		REQUIRE(fault.text[0] != '\0');
		return;
	}
	REQUIRE(n <= CHI_COUNT(moves));
	REQUIRE(chi_line_check(start, moves, n, NULL) == CHI_OK);
	struct chi_position position = *start;
	for (size_t i = 0; i < n; i++) {
		struct chi_position next;
		check_move(&position, moves[i]);
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
	struct chi_position position;
	chi_move move = 0;
	if (end == NULL || chi_fen_parse(text, (size_t)(end - text), &position, NULL) != CHI_OK) {
		return 0;
	}
	const char *rest = end + 1;
	size_t len = size - (size_t)(rest - text);
	int status = chi_move_parse(&position, rest, len, &move, NULL);
	REQUIRE(status == CHI_OK || status == -CHI_EMOVE);
	if (status == CHI_OK) {
		check_move(&position, move);
	}
	check_line(&position, rest, len);
	return 0;
}
