/* SPDX-License-Identifier: MIT */
/* Cloud evaluations: the lines of the engine that has looked deepest, in White's view. */
#include <string.h>

#include "base/fault.h"
#include "http/lila/lila.h"

#define LINES_MOST 5

/* Of the engine with the deepest line of rank 0, the first of its lines; n: none. */
static size_t deepest(const struct chi_record *record)
{
	size_t best = record->n_evals;
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (eval->rank == 0 &&
		    (best == record->n_evals || eval->depth > record->evals[best].depth)) {
			best = i;
		}
	}
	return best;
}

static bool same_engine(const struct chi_eval *a, const struct chi_eval *b)
{
	return a->engine_len == b->engine_len && memcmp(a->engine, b->engine, a->engine_len) == 0;
}

static void say_line(struct writer *out, const struct chi_eval *eval, bool black)
{
	char moves[CHI_PV_MAX * 6 + 1] = "";
	size_t len = 0;
	for (size_t i = 0; i < eval->n_pv && i < CHI_PV_MAX; i++) {
		moves[len] = ' ';
		len += len > 0 ? 1 : 0;
		lila_uci(eval->pv[i], moves + len);
		len += strlen(moves + len);
	}
	out_object(out, NULL);
	out_text(out, "moves", moves);
	out_integer(out, eval->is_mate ? "mate" : "cp", black ? -eval->score : eval->score);
	out_end(out, '}');
}

static int say(struct call *call, const struct chi_key *key, const struct chi_record *record,
	       uint64_t lines)
{
	struct writer *out = &call->out;
	char fen[CHI_FEN_SIZE];
	size_t best = deepest(record);
	const struct chi_eval *first = &record->evals[best];
	int status = chi_key_to_fen(key, fen, &call->fault);
	bool black = status == CHI_OK && strstr(fen, " b ") != NULL;
	out_object(out, NULL);
	out_text(out, "fen", fen);
	out_number(out, "knodes", first->nodes / 1000);
	out_number(out, "depth", first->depth);
	out_array(out, "pvs");
	for (size_t i = best; status == CHI_OK && i < record->n_evals && lines > 0; i++) {
		if (same_engine(first, &record->evals[i])) {
			say_line(out, &record->evals[i], black);
			lines--;
		}
	}
	out_end(out, ']');
	out_end(out, '}');
	return status;
}

static int none(struct call *call)
{
	return call_not_found(call, "No cloud evaluation available for that position");
}

int lila_cloud(struct call *call)
{
	struct chi_key key;
	struct chi_record record;
	uint64_t lines = 1;
	if (lila_check_variant(call) < 0) {
		return none(call);
	}
	int status = call_fen_param(call, "fen", &key);
	status = status == CHI_OK ? params_number(&call->params, "multiPv", 1, LINES_MOST, 1,
						  &lines, &call->fault)
				  : status;
	if (status < 0) {
		return status;
	}
	status = chi_get(call->client, &key, &record);
	if (status < 0) {
		return call_failed(call, status);
	}
	if (status == CHI_NONE || deepest(&record) == record.n_evals) {
		return none(call);
	}
	return say(call, &key, &record, lines);
}
