/* SPDX-License-Identifier: MIT */
/*
 * Cloud evaluations: the lines of the engine that has looked deepest, in White's view. Programs
 * play the first move of the first line, so there is one: if no evaluation came with its line, it
 * is that of the best reply, where that is as good as the evaluation says.
 */
#include <string.h>

#include "base/fault.h"
#include "http/lila/lila.h"
#include "propagate/backup.h"

#define LINES_MOST 5
#define SLACK	   10 /* centipawns that a reply may be worse */

/* Of the engine with the deepest line of rank 0, the first of its lines; n: none. `moves`: that has
 * moves. */
static size_t deepest(const struct chi_record *record, bool moves)
{
	size_t best = record->n_evals;
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (eval->rank == 0 && (eval->n_pv > 0 || !moves) &&
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

static int begin_eval(struct call *call, const struct chi_key *key, const struct chi_eval *first,
		      bool *black)
{
	struct writer *out = &call->out;
	char fen[CHI_FEN_SIZE];
	int status = chi_key_to_fen(key, fen, &call->fault);
	*black = status == CHI_OK && strstr(fen, " b ") != NULL;
	out_object(out, NULL);
	out_text(out, "fen", fen);
	out_number(out, "knodes", first->nodes / 1000);
	out_number(out, "depth", first->depth);
	out_array(out, "pvs");
	return status;
}

static void end_eval(struct call *call)
{
	out_end(&call->out, ']');
	out_end(&call->out, '}');
}

/* The lines of the engine of that evaluation. */
static int say(struct call *call, const struct chi_key *key, const struct chi_record *record,
	       size_t best, uint64_t lines)
{
	bool black = false;
	const struct chi_eval *first = &record->evals[best];
	int status = begin_eval(call, key, first, &black);
	for (size_t i = best; status == CHI_OK && i < record->n_evals && lines > 0; i++) {
		if (same_engine(first, &record->evals[i]) && record->evals[i].n_pv > 0) {
			say_line(&call->out, &record->evals[i], black);
			lines--;
		}
	}
	end_eval(call);
	return status;
}

static int none(struct call *call)
{
	return call_not_found(call, "No cloud evaluation available for that position");
}

/* The reply whose position has the best evaluation; 0: none has. `worth`: what that is. */
static int find_reply(struct call *call, const struct chi_key *key, struct chi_legal_move *moves,
		      chi_move *best, chi_worth *worth, struct chi_key *after)
{
	struct chi_key keys[CHI_LEGAL_MAX];
	struct chi_row *rows = chi_arena_array(&call->arena, CHI_LEGAL_MAX, sizeof(*rows));
	size_t legal = 0;
	size_t n = 0;
	*best = 0;
	if (rows == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	int status = chi_key_moves(key, CHI_MOVES_KEYS, moves, CHI_LEGAL_MAX, &legal, NULL);
	for (size_t i = 0; status == CHI_OK && i < legal; i++) {
		if (moves[i].after.len > 0) {
			moves[n] = moves[i];
			keys[n++] = moves[i].after;
		}
	}
	status = status == CHI_OK ? chi_probe(call->client, keys, n, rows) : status;
	for (size_t i = 0; status >= 0 && i < n; i++) {
		chi_worth back =
			chi_worth_back(chi_worth_claimed(rows[i].is_mate, rows[i].score), 0);
		if (rows[i].has_eval && (*best == 0 || back > *worth)) {
			*best = moves[i].move;
			*worth = back;
			*after = keys[i];
		}
	}
	return status < 0 ? call_failed(call, status) : CHI_OK;
}

/* That reply, and the line after it. */
static int say_reply(struct call *call, const struct chi_key *key, chi_move move,
		     const struct chi_key *after)
{
	struct chi_record record;
	chi_move pv[CHI_PV_MAX] = {move};
	bool black = false;
	int status = chi_get(call->client, after, &record);
	size_t best = status == CHI_OK ? deepest(&record, false) : 0;
	if (status != CHI_OK || best == record.n_evals) {
		return status < 0 ? call_failed(call, status) : none(call);
	}
	struct chi_eval line = record.evals[best];
	size_t more = line.n_pv < CHI_PV_MAX ? line.n_pv : CHI_PV_MAX - 1;
	memcpy(pv + 1, line.pv, more * sizeof(*pv));
	line.pv = pv;
	line.n_pv = more + 1;
	line.depth++;
	line.score = chi_worth_score(chi_worth_back(chi_worth_of(line.is_mate, line.score), 0),
				     &line.is_mate);
	status = begin_eval(call, key, &line, &black);
	say_line(&call->out, &line, black);
	end_eval(call);
	return status;
}

/* Of a position whose evaluations have no line. */
static int cloud_of_reply(struct call *call, const struct chi_key *key, const struct chi_eval *own)
{
	struct chi_legal_move *moves =
		chi_arena_alloc(&call->arena, CHI_LEGAL_MAX * sizeof(*moves));
	chi_worth least = chi_worth_claimed(own->is_mate, own->score) - SLACK;
	chi_worth worth = 0;
	chi_move best = 0;
	struct chi_key after;
	int status = moves == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
				   : find_reply(call, key, moves, &best, &worth, &after);
	if (status != CHI_OK) {
		return status;
	}
	return best != 0 && worth >= least ? say_reply(call, key, best, &after) : none(call);
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
	size_t own = status == CHI_OK ? deepest(&record, false) : 0;
	if (status == CHI_NONE || own == record.n_evals) {
		return none(call);
	}
	size_t best = deepest(&record, true);
	return best < record.n_evals ? say(call, &key, &record, best, lines)
				     : cloud_of_reply(call, &key, &record.evals[own]);
}
