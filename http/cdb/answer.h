/* SPDX-License-Identifier: MIT */
/* What the actions of cdb.php share. */
#pragma once

#include "http/cdb/cdb.h"

struct answer {
	struct call *call;
	bool json;
	struct cdb_board board;
};

/* The whole answer is that word. */
void cdb_say_word(struct answer *answer, const char *word);

/* {"status":"ok", and more is to come. */
void cdb_begin_ok(struct answer *answer);

/* Says so if there is nothing to play. */
bool cdb_is_over(struct answer *answer);

/* The answer is that move. */
void cdb_say_best(struct answer *answer, const char *uci);

/* CHI_OK: the answer is written; negative: the call's fault says why. */
CHI_MUSTUSE int cdb_query_best(struct answer *answer);
CHI_MUSTUSE int cdb_query_any(struct answer *answer);
CHI_MUSTUSE int cdb_query_learn(struct answer *answer);
CHI_MUSTUSE int cdb_query_search(struct answer *answer);
CHI_MUSTUSE int cdb_query_pv(struct answer *answer);
