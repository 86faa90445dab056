/* SPDX-License-Identifier: MIT */
/* Reading "info depth 12 score cp 31 nodes 5000 pv e2e4 e7e5". */
#include "uci/info.h"

#include <string.h>

#include "base/num.h"
#include "chess/notation.h"

#define WORD 32

bool chi_uci_word(const char **at, char *out, size_t size)
{
	while (**at == ' ' || **at == '\t') {
		(*at)++;
	}
	size_t len = strcspn(*at, " \t");
	if (len == 0 || len >= size) {
		return false;
	}
	memcpy(out, *at, len);
	out[len] = '\0';
	*at += len;
	return true;
}

static bool number(const char *text, int32_t *out)
{
	uint64_t value;
	bool minus = text[0] == '-';
	if (chi_num_u64(text + minus, strlen(text + minus), INT32_MAX, &value) != CHI_OK) {
		return false;
	}
	*out = minus ? -(int32_t)value : (int32_t)value;
	return true;
}

static void take_pv(const struct chi_position *from, const char *at, struct chi_uci_info *out)
{
	struct chi_position p = *from;
	struct chi_position next;
	char text[WORD];
	chi_move move;
	while (out->n_pv < CHI_PV_MAX && chi_uci_word(&at, text, sizeof(text)) &&
	       chi_uci_parse(&p, text, strlen(text), &move, NULL) == CHI_OK) {
		out->pv[out->n_pv++] = move;
		chi_position_play(&p, move, &next);
		p = next;
	}
}

static bool take_score(const char **at, struct chi_uci_info *out)
{
	char kind[WORD];
	char text[WORD];
	int32_t value;
	if (!chi_uci_word(at, kind, sizeof(kind)) || !chi_uci_word(at, text, sizeof(text)) ||
	    !number(text, &value)) {
		return false;
	}
	out->is_mate = strcmp(kind, "mate") == 0;
	int32_t most = out->is_mate ? CHI_MATE_MAX : CHI_SCORE_MAX;
	out->score = value;
	if (!out->is_mate && strcmp(kind, "cp") == 0) {
		out->score = value > most ? most : value < -most ? -most : value;
	}
	return out->is_mate ? value >= -most && value <= most && value != 0
			    : strcmp(kind, "cp") == 0;
}

/* The value of `name` that is one word; false: this is none that is believed. */
static bool take_number(const char *name, const char **at, struct chi_uci_info *out)
{
	char text[WORD];
	int32_t value;
	if (!chi_uci_word(at, text, sizeof(text))) {
		return false;
	}
	if (strcmp(name, "depth") == 0) {
		out->depth =
			number(text, &value) && value > 0 && value < 65536 ? (unsigned)value : 0;
		return out->depth > 0;
	}
	if (strcmp(name, "multipv") == 0) {
		bool good = number(text, &value) && value > 0 && value <= CHI_RANK_MAX + 1;
		out->rank = good ? (unsigned)value - 1 : 0;
		return good;
	}
	if (chi_num_u64(text, strlen(text), UINT64_MAX, &out->nodes) != CHI_OK) {
		out->nodes = 0;
	}
	return true;
}

bool chi_uci_info_read(const struct chi_position *from, const char *text, struct chi_uci_info *out)
{
	struct chi_uci_info fresh = {.depth = 0};
	char name[WORD];
	bool scored = false;
	bool good = true;
	while (good && chi_uci_word(&text, name, sizeof(name))) {
		if (strcmp(name, "pv") == 0) {
			take_pv(from, text, &fresh);
			break;
		}
		if (strcmp(name, "score") == 0) {
			good = scored = take_score(&text, &fresh);
		} else if (strcmp(name, "depth") == 0 || strcmp(name, "nodes") == 0 ||
			   strcmp(name, "multipv") == 0) {
			good = take_number(name, &text, &fresh);
		} else {
			good = strcmp(name, "string") != 0 && strcmp(name, "lowerbound") != 0 &&
			       strcmp(name, "upperbound") != 0;
		}
	}
	if (!good || !scored || fresh.depth == 0 || fresh.n_pv == 0) {
		return false;
	}
	*out = fresh;
	return true;
}
