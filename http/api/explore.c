/* SPDX-License-Identifier: MIT */
/* GET /api/explore: what was played, and where it led; of all games, or of those that fit. */
#include "base/fault.h"
#include "formats/endgame_json.h"
#include "http/api/api.h"
#include "propagate/backed.h"
#include "propagate/evals.h"

static void say_row(struct call *call, const struct chi_row *row, const char *eco,
		    const char *opening)
{
	struct writer *out = &call->out;
	say_fen(out, "fen", &row->key);
	out_bool(out, "found", row->found);
	out_text(out, "eco", eco);
	out_text(out, "opening", opening);
	say_chi2(out, "chi2", row->chi2);
	say_counts(out, &row->counts, row->found);
}

/* The score that was backed up through stored moves. */
static void say_backed(struct writer *out, const struct chi_backed_move *backed)
{
	if (backed == NULL) {
		out_null(out, "backed");
		return;
	}
	out_object(out, "backed");
	out_integer(out, backed->is_mate ? "mate" : "cp", backed->score);
	out_end(out, '}');
}

static int say_explore_move(struct call *call, const struct chi_key *key,
			    const struct chi_explore_move *move, const struct chi_backed *backed,
			    bool black)
{
	struct writer *out = &call->out;
	out_object(out, NULL);
	int status = say_move(call, key, move->move);
	say_counts(out, &move->played, true);
	say_score(out, "score", &move->played, black);
	out_object(out, "child");
	say_row(call, &move->child, move->eco, move->opening);
	say_eval(out, "eval", &move->child);
	say_backed(out, chi_backed_of(backed, move->move));
	out_end(out, '}');
	out_end(out, '}');
	return status;
}

int api_explore(struct call *call)
{
	struct writer *out = &call->out;
	struct chi_explored explore;
	struct chi_backed backed;
	struct chi_key key;
	const char *filter = "";
	struct chi_evidence evidence;
	char endgame[CHI_ENDGAME_JSON_SIZE];
	int status = call_fen_param(call, "fen", &key);
	status = status == CHI_OK ? filter_of(call, FILTER_ALL, &filter) : status;
	status = status == CHI_OK ? filter_evidence(call, &evidence) : status;
	if (status < 0) {
		return status;
	}
	const char *engine = params_get(&call->params, "backed");
	engine = engine != NULL ? engine : CHI_BACKUP_ENGINE;
	if (!chi_backup_name_ok(engine)) {
		return chi_fail(&call->fault, -CHI_EINVAL,
				"backed: a name begins with '" CHI_BACKUP_ENGINE
				"' and has at most %d bytes",
				CHI_ENGINE_MAX);
	}
	status = chi_backed_ask(call->client, engine, &evidence, &key, &backed);
	if (status < 0) {
		return call_failed(call, status);
	}
	status = chi_explore(call->client, &key, filter, &evidence, &explore);
	if (status < 0) {
		return call_failed(call, status);
	}
	bool black = is_black_to_move(&key);
	out_object(out, NULL);
	say_row(call, &explore.position, explore.eco, explore.opening);
	(void)chi_endgame_json(&key, endgame);
	out_json(out, "endgame", endgame);
	say_score(out, "score", &explore.position.counts, black);
	if (explore.min_ply >= 0) {
		out_integer(out, "min_ply", explore.min_ply);
	} else {
		out_null(out, "min_ply");
	}
	say_eval(out, "eval", &explore.position);
	out_array(out, "moves");
	for (size_t i = 0; status == CHI_OK && i < explore.n_moves; i++) {
		status = say_explore_move(call, &key, &explore.moves[i], &backed, black);
	}
	out_end(out, ']');
	out_end(out, '}');
	return status;
}
