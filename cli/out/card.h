/* SPDX-License-Identifier: MIT */
/* What there is to know of a position at a glance: its board, with the facts beside it. */
#pragma once

#include "cli/out/table.h"

struct card {
	struct chi_key key;
	const char *eco; /* the last opening on the way that has a name; NULL: none */
	const char *opening;
	size_t plies;			 /* played since */
	const struct chi_record *record; /* NULL: it is not stored */
	enum chi_statistic statistic;	 /* of the store */
};

/* Asks the store which statistic it holds. */
CHI_MUSTUSE int card_statistic(struct chi_client *client, enum chi_statistic *out);

/* An evaluation in White's view, as boards show it: +0.35, or #3 where White mates. `black`: the
 * side to move, whose view `score` is. */
#define CARD_EVAL_SIZE 16
void card_eval_print(bool is_mate, int32_t score, bool black, char out[CARD_EVAL_SIZE]);

/* -CHI_EKEY, -CHI_EMOVE: what is told fits no position; then nothing is printed. -CHI_ENOMEM. */
CHI_MUSTUSE int card_print(const struct table *table, const struct card *card);
