/* SPDX-License-Identifier: MIT */
#include "propagate/backed.h"

#include "base/evidence.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "propagate/evals.h"

struct asking {
	const char *engine;
	const struct chi_evidence *evidence; /* NULL: all is seen */
	const chi_move *moves;		     /* one for each key asked for */
	struct chi_backed *out;
};

static int take_eval(void *context, size_t i, const struct chi_record *record)
{
	struct asking *asking = context;
	const struct chi_eval *eval =
		record != NULL ? chi_eval_backed(record, asking->engine) : NULL;
	if (eval != NULL && (asking->evidence == NULL ||
			     chi_evidence_sees(asking->evidence, eval->engine, eval->engine_len,
					       eval->depth, eval->date))) {
		asking->out->of[asking->out->n++] =
			(struct chi_backed_move){asking->moves[i], eval->is_mate, eval->score};
	}
	return CHI_OK;
}

int chi_backed_ask(struct chi_client *client, const char *engine,
		   const struct chi_evidence *evidence, const struct chi_key *key,
		   struct chi_backed *out)
{
	struct chi_position position;
	struct chi_move_list legal;
	struct chi_key keys[CHI_MOVES_MAX];
	struct asking asking = {.engine = engine,
				.evidence = chi_evidence_or_null(evidence),
				.moves = legal.moves,
				.out = out};
	size_t n = 0;
	out->n = 0;
	int status = chi_key_decode(key, &position, NULL);
	if (status != CHI_OK) {
		return status;
	}
	chi_movegen_legal(&position, &legal);
	for (size_t i = 0; i < legal.n && n < CHI_MOVES_MAX; i++) {
		/* Not every position has a key (Black to move without a king). */
		if (chi_key_play(key, legal.moves[i], &keys[n]) == CHI_OK) {
			legal.moves[n++] = legal.moves[i];
		}
	}
	return chi_get_many(client, keys, n, take_eval, &asking);
}

const struct chi_backed_move *chi_backed_of(const struct chi_backed *backed, chi_move move)
{
	for (size_t i = 0; i < backed->n; i++) {
		if (backed->of[i].move == move) {
			return &backed->of[i];
		}
	}
	return NULL;
}
