/* SPDX-License-Identifier: MIT */
/* GET and POST /api/position: all that is known of a position, and what may be played there. */
#include <jansson.h>
#include <string.h>

#include "base/attr.h"
#include "base/evidence.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/openings/openings.h"
#include "formats/endgame_json.h"
#include "http/api/api.h"

#define FENS_MAX 1000

/* ---- Parts ------------------------------------------------------------------------------- */

/* Moves played one after the other. A last one may lead where no key can. */
static int say_line(struct writer *out, const char *name, const struct chi_key *from,
		    const chi_move *moves, size_t n, bool uci)
{
	struct chi_key key = *from;
	int status = CHI_OK;
	out_array(out, name);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		char text[CHI_MOVE_TEXT_SIZE];
		status = uci ? say_uci(&key, moves[i], text) : chi_key_san(&key, moves[i], text);
		if (status == CHI_OK) {
			out_text(out, NULL, text);
			status = i + 1 < n ? chi_key_play(&key, moves[i], &key) : CHI_OK;
		}
	}
	out_end(out, ']');
	return status;
}

static int say_evals(struct writer *out, const struct chi_key *key, const struct chi_record *record)
{
	int status = CHI_OK;
	out_array(out, "evals");
	for (size_t i = 0; status == CHI_OK && i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		char date[CHI_TIME_TEXT_SIZE];
		out_object(out, NULL);
		out_text_n(out, "engine", eval->engine, eval->engine_len);
		out_number(out, "depth", eval->depth);
		out_integer(out, eval->is_mate ? "mate" : "cp", eval->score);
		out_number(out, "rank", eval->rank);
		if (eval->nodes > 0) {
			out_number(out, "nodes", eval->nodes);
		} else {
			out_null(out, "nodes");
		}
		if (eval->date > 0) {
			out_text_n(out, "date", date, chi_num_time_print(eval->date, date));
		} else {
			out_null(out, "date");
		}
		status = say_line(out, "pv", key, eval->pv, eval->n_pv, false);
		status = status == CHI_OK ? say_line(out, "pv_uci", key, eval->pv, eval->n_pv, true)
					  : status;
		out_end(out, '}');
	}
	out_end(out, ']');
	return status;
}

static int by_games(const void *a, const void *b)
{
	const struct chi_move_stat *x = a;
	const struct chi_move_stat *y = b;
	uint64_t nx = say_games(&x->counts) + x->counts.other;
	uint64_t ny = say_games(&y->counts) + y->counts.other;
	return nx != ny ? (nx < ny) - (nx > ny) : (x->move > y->move) - (x->move < y->move);
}

static int say_played(struct call *call, const struct chi_key *key, const struct chi_record *record)
{
	struct writer *out = &call->out;
	struct chi_move_stat moves[CHI_MOVES_MAX];
	size_t n = record->n_moves < CHI_MOVES_MAX ? record->n_moves : CHI_MOVES_MAX;
	int status = CHI_OK;
	if (n > 0) {
		memcpy(moves, record->moves, n * sizeof(*moves));
		qsort(moves, n, sizeof(*moves), by_games);
	}
	out_array(out, "moves");
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		out_object(out, NULL);
		status = say_move(call, key, moves[i].move);
		say_counts(out, &moves[i].counts, true);
		out_end(out, '}');
	}
	out_end(out, ']');
	return status;
}

static int say_record(struct call *call, const struct chi_key *key, const struct chi_record *record,
		      bool found)
{
	struct writer *out = &call->out;
	out_bool(out, "found", found);
	say_chi2(out, "chi2", record->chi2);
	say_counts(out, &record->counts, found);
	if (record->n_plies > 0) {
		out_number(out, "min_ply", record->plies[0].ply);
	} else {
		out_null(out, "min_ply");
	}
	say_score(out, "score", &record->counts, is_black_to_move(key));
	int status = say_evals(out, key, record);
	status = status == CHI_OK ? say_line(out, "line", key, record->line, record->n_line, false)
				  : status;
	if (record->n_note > 0) {
		out_text_n(out, "note", record->note, record->n_note);
	} else {
		out_null(out, "note");
	}
	return status == CHI_OK ? say_played(call, key, record) : status;
}

static int say_legal(struct call *call, const struct chi_key *key)
{
	struct writer *out = &call->out;
	struct chi_legal_move *moves =
		chi_arena_alloc(&call->arena, CHI_LEGAL_MAX * sizeof(*moves));
	uint32_t state = 0;
	size_t n = 0;
	if (moves == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	int status = chi_key_moves(key, CHI_MOVES_UCI | CHI_MOVES_SAN | CHI_MOVES_KEYS, moves,
				   CHI_LEGAL_MAX, &n, &state);
	if (status < 0) {
		return status;
	}
	out_bool(out, "check", (state & CHI_STATE_CHECK) != 0);
	out_text(out, "end",
		 (state & CHI_STATE_CHECKMATE) != 0	 ? "checkmate"
		 : (state & CHI_STATE_STALEMATE) != 0	 ? "stalemate"
		 : (state & CHI_STATE_INSUFFICIENT) != 0 ? "insufficient"
							 : NULL);
	out_array(out, "legal");
	for (size_t i = 0; i < n && i < CHI_LEGAL_MAX; i++) {
		out_object(out, NULL);
		out_text(out, "san", moves[i].san);
		out_text(out, "uci", moves[i].uci);
		say_fen(out, "fen", &moves[i].after);
		out_end(out, '}');
	}
	out_end(out, ']');
	return CHI_OK;
}

/* ---- A position -------------------------------------------------------------------------- */

static int say_position(struct call *call, const struct chi_key *key,
			const struct chi_record *record)
{
	static const struct chi_record none = {0};
	struct writer *out = &call->out;
	char endgame[CHI_ENDGAME_JSON_SIZE];
	const char *eco = NULL;
	const char *opening = NULL;
	uint16_t control = CHI_CHI2_UNKNOWN;
	out_object(out, NULL);
	say_fen(out, "fen", key);
	out_text(out, "turn", is_black_to_move(key) ? "b" : "w");
	int status = say_record(call, key, record != NULL ? record : &none, record != NULL);
	bool named = chi_opening_find(key, &eco, &opening) == CHI_OK;
	say_opening(out, "opening", eco, named ? opening : NULL);
	if (status == CHI_OK) {
		status = chi_key_control(key, &control);
	}
	say_chi2(out, "control", control);
	(void)chi_endgame_json(key, endgame);
	out_json(out, "endgame", endgame);
	status = status == CHI_OK ? say_legal(call, key) : status;
	out_end(out, '}');
	return status;
}

/* ---- Many -------------------------------------------------------------------------------- */

struct many {
	struct call *call;
	const struct chi_key *keys;
	const char *const *faults; /* NULL: keys has the next position */
	size_t n;
	size_t at; /* the next of the list */
};

/* Those before the next position, which are no FENs. */
static void say_faults(struct many *many)
{
	for (; many->at < many->n && many->faults[many->at] != NULL; many->at++) {
		out_object(&many->call->out, NULL);
		out_text(&many->call->out, "error", many->faults[many->at]);
		out_end(&many->call->out, '}');
	}
}

static int say_one(void *context, size_t i, const struct chi_record *record)
{
	struct many *many = context;
	say_faults(many);
	many->at++;
	return say_position(many->call, &many->keys[i], record);
}

/* The FENs of the body; texts of what is wrong with those that are none. */
static int read_fens(struct call *call, json_t *fens, struct chi_key *keys, const char **faults,
		     size_t *n_keys)
{
	size_t i = 0;
	json_t *fen = NULL;
	json_array_foreach(fens, i, fen)
	{
		const char *text = json_string_value(fen);
		call->fault.text[0] = '\0';
		if (text != NULL && call_fen(call, text, &keys[*n_keys]) == CHI_OK) {
			(*n_keys)++;
			continue;
		}
		const char *why = text != NULL ? call->fault.text : "not a text";
		faults[i] = chi_arena_text(&call->arena, why, strlen(why));
		if (faults[i] == NULL) {
			return chi_fault_plain(&call->fault, -CHI_ENOMEM);
		}
	}
	return CHI_OK;
}

static int answer_many(struct call *call, json_t *fens)
{
	size_t n = json_array_size(fens);
	size_t n_keys = 0;
	if (!json_is_array(fens) || n > FENS_MAX) {
		return chi_fail(&call->fault, -CHI_EINVAL,
				"the body is not {\"fens\": [...]} with %d positions at most",
				FENS_MAX);
	}
	struct chi_key *keys = chi_arena_array(&call->arena, n + 1, sizeof(*keys));
	const char **faults = chi_arena_array(&call->arena, n + 1, sizeof(*faults));
	if (keys == NULL || faults == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	int status = read_fens(call, fens, keys, faults, &n_keys);
	struct many many = {call, keys, faults, n, 0};
	out_object(&call->out, NULL);
	out_array(&call->out, "positions");
	if (status == CHI_OK) {
		status = chi_get_many(call->client, keys, n_keys, say_one, &many);
		status = status < 0 ? call_failed(call, status) : status;
	}
	say_faults(&many);
	out_end(&call->out, ']');
	out_end(&call->out, '}');
	return status;
}

int api_position(struct call *call)
{
	struct chi_key key;
	struct chi_record record;
	struct chi_evidence evidence;
	if (call->method == CHI_HTTP_POST) {
		if (call->params.n > 0) {
			return chi_fail(&call->fault, -CHI_EINVAL,
					"fen: what is posted names its positions in the body");
		}
		json_t *body = json_loadb(call->body, call->body_len, JSON_REJECT_DUPLICATES, NULL);
		int status = answer_many(call, json_object_get(body, "fens"));
		json_decref(body);
		return status;
	}
	int status = call_fen_param(call, "fen", &key);
	status = status == CHI_OK ? filter_evidence(call, &evidence) : status;
	if (status < 0) {
		return status;
	}
	status = chi_get(call->client, &key, &record);
	if (status < 0) {
		return call_failed(call, status);
	}
	bool found = status == CHI_OK;
	status = found ? chi_evidence_apply(&evidence, &call->arena, &record) : CHI_OK;
	return status == CHI_OK ? say_position(call, &key, found ? &record : NULL) : status;
}
