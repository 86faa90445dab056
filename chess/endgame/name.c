/* SPDX-License-Identifier: MIT */
/* Names of families, and of endgames from their pieces. */
#include "chess/endgame/known.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/bitboard.h"

static const char *const family_names[CHI_ENDGAME_FAMILIES] = {
	"",
	"bare kings",
	"pawn endings",
	"minor piece endings",
	"rook endings",
	"rook and minor piece endings",
	"queen endings",
	"queen and minor piece endings",
	"queen and rook endings",
	"mixed endings",
};

const char *chi_endgame_family_name(uint8_t family)
{
	return family < CHI_ENDGAME_FAMILIES ? family_names[family] : "";
}

/* The words that tell families apart, in lower case and without the plural's s, a space after
 * each. False: too long for any. */
static bool normalise(const char *text, size_t len, char *out, size_t size)
{
	static const char *const skipped[] = {"ending", "endgame", "piece", "and"};
	size_t n = 0;
	for (size_t i = 0; i < len;) {
		size_t start = n;
		for (; i < len && isalpha((unsigned char)text[i]); i++) {
			if (n + 2 >= size) {
				return false;
			}
			out[n++] = (char)tolower((unsigned char)text[i]);
		}
		n -= n > start && out[n - 1] == 's';
		for (size_t j = 0; j < CHI_COUNT(skipped); j++) {
			if (n - start == strlen(skipped[j]) &&
			    memcmp(out + start, skipped[j], n - start) == 0) {
				n = start;
			}
		}
		if (n > start) {
			out[n++] = ' ';
		}
		for (; i < len && !isalpha((unsigned char)text[i]); i++) {
			if (strchr(" -_,&", text[i]) == NULL || text[i] == '\0') {
				return false;
			}
		}
	}
	out[n] = '\0';
	return n > 0;
}

int chi_endgame_family_find(const char *text, size_t len, uint8_t *out, struct chi_fault *fault)
{
	char wanted[64];
	char name[64];
	if (normalise(text, len, wanted, sizeof(wanted))) {
		for (uint8_t family = 1; family < CHI_ENDGAME_FAMILIES; family++) {
			const char *full = family_names[family];
			if (normalise(full, strlen(full), name, sizeof(name)) &&
			    strcmp(name, wanted) == 0) {
				*out = family;
				return CHI_OK;
			}
		}
	}
	return chi_fail(fault, -CHI_ESYNTAX,
			"endgame: unknown family; there are bare kings, and pawn, minor piece, "
			"rook, rook and minor piece, queen, queen and minor piece, queen and rook, "
			"mixed endings");
}

/* Where a name is being written; what does not fit is cut. */
struct name_writer {
	char *out;
	size_t len;
};

static void append_text(struct name_writer *writer, const char *text)
{
	size_t room = CHI_ENDGAME_NAME_SIZE - writer->len;
	int n = snprintf(writer->out + writer->len, room, "%s", text);
	writer->len += (size_t)n < room ? (size_t)n : room - 1;
}

/* "two pawns" */
static void append_kind(struct name_writer *writer, int kind, unsigned n)
{
	static const char *const kinds[] = {"pawn", "knight", "bishop", "rook", "queen", "king"};
	static const char *const numbers[] = {"",     "",    "two",   "three", "four",
					      "five", "six", "seven", "eight"};
	char number[16];
	if (n > 1 && n < CHI_COUNT(numbers)) {
		append_text(writer, numbers[n]);
		append_text(writer, " ");
	} else if (n > 1) {
		(void)snprintf(number, sizeof(number), "%u ", n);
		append_text(writer, number);
	}
	append_text(writer, kinds[kind]);
	append_text(writer, n > 1 ? "s" : "");
}

/* "rook, bishop and two pawns"; a lone king is named. */
static void append_side(struct name_writer *writer, const uint8_t counts[6])
{
	int left = 0;
	for (int kind = CHI_PAWN; kind <= CHI_QUEEN; kind++) {
		left += counts[kind] > 0;
	}
	if (left == 0) {
		append_text(writer, "king");
	}
	for (int kind = CHI_QUEEN; kind >= CHI_PAWN; kind--) {
		if (counts[kind] > 0) {
			append_kind(writer, kind, counts[kind]);
			left--;
			append_text(writer, left > 1 ? ", " : left == 1 ? " and " : "");
		}
	}
}

void chi_endgame_name(const uint8_t first[6], const uint8_t second[6],
		      char out[CHI_ENDGAME_NAME_SIZE])
{
	struct name_writer writer = {out, 0};
	append_side(&writer, first);
	append_text(&writer, " against ");
	append_side(&writer, second);
}

const char *chi_endgame_result_text(const struct chi_endgame *endgame)
{
	switch (endgame->result) {
	case CHI_ENDGAME_WHITE:
		return endgame->certain ? "white wins" : "white usually wins";
	case CHI_ENDGAME_BLACK:
		return endgame->certain ? "black wins" : "black usually wins";
	case CHI_ENDGAME_DRAW:
		return endgame->certain ? "drawn" : "usually drawn";
	case CHI_ENDGAME_DEAD:
		return "drawn: no moves can mate";
	default:
		return "";
	}
}
