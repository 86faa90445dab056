/* SPDX-License-Identifier: MIT */
/* What an engine says of its search, as far as it can be believed: numbers in their range, and a
 * variation of legal moves. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/position.h"
#include "chistore/types.h"

struct chi_uci_info {
	unsigned rank;	/* of its lines (MultiPV): 0 the best, to CHI_RANK_MAX */
	unsigned depth; /* 1..65535 */
	bool is_mate;	/* score: as in struct chi_eval */
	int32_t score;
	uint64_t nodes; /* 0: not said */
	chi_move pv[CHI_PV_MAX];
	size_t n_pv; /* 1 or more: up to the first that is no legal move */
};

/* What follows "info ". False: it is no whole line of a variation, or a bound; *out is as it was.
 */
bool chi_uci_info_read(const struct chi_position *from, const char *text, struct chi_uci_info *out);

/* The next word of a line; false at its end, or if it does not fit. */
bool chi_uci_word(const char **at, char *out, size_t size);
