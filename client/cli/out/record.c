/* SPDX-License-Identifier: MIT */
/* A record as JSON. Moves are stored as numbers; here they become text by playing them out. */
#include "client/cli/out/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "client/cli/out/output.h"

static void json_freep(json_t **json)
{
	json_decref(*json);
}

/* Hands a local over to the caller, so that the cleanup leaves it alone. */
static json_t *release(json_t **json)
{
	json_t *result = *json;
	*json = NULL;
	return result;
}

/* Moves played one after the other, in UCI. Played on a board and not from key to key: without a
 * black king a line leads through positions with Black to move, which no key can hold. */
static json_t *moves_json(const struct chi_key *from, const chi_move *moves, size_t n)
{
	_cleanup_(json_freep) json_t *array = json_array();
	struct chi_position position;
	if (chi_key_decode(from, &position, NULL) != CHI_OK) {
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		char uci[CHI_UCI_SIZE];
		struct chi_position next;
		if (!chi_movegen_is_legal(&position, moves[i])) {
			return NULL;
		}
		chi_uci_print(&position, moves[i], uci);
		if (json_array_append_new(array, json_string(uci)) != 0) {
			return NULL;
		}
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
	return release(&array);
}

/* The score is under the name that tells its unit: cp or mate. */
static json_t *eval_json(const struct chi_key *key, const struct chi_eval *eval)
{
	json_t *pv = moves_json(key, eval->pv, eval->n_pv);
	if (pv == NULL) {
		return NULL;
	}
	return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o}", "engine",
			 json_text(eval->engine, eval->engine_len), "depth", (int)eval->depth,
			 eval->is_mate ? "mate" : "cp", (int)eval->score, "nodes",
			 eval->nodes == 0 ? json_null() : json_count(eval->nodes), "pv", pv, "date",
			 json_time(eval->date));
}

/* In the record's order, by engine. */
static json_t *evals_json(const struct chi_key *key, const struct chi_record *record)
{
	_cleanup_(json_freep) json_t *array = json_array();
	for (size_t i = 0; i < record->n_evals; i++) {
		if (json_array_append_new(array, eval_json(key, &record->evals[i])) != 0) {
			return NULL;
		}
	}
	return release(&array);
}

/* A move of the record with its text, for sorting. */
struct named_move {
	const struct chi_move_stat *stat;
	char uci[CHI_MOVE_TEXT_SIZE];
	char san[CHI_MOVE_TEXT_SIZE];
};

/* The most played first; of equals by UCI text. */
static int compare_moves(const void *left, const void *right)
{
	const struct named_move *a = left;
	const struct named_move *b = right;
	uint64_t games_a = games_of(&a->stat->counts);
	uint64_t games_b = games_of(&b->stat->counts);
	if (games_a != games_b) {
		return games_a > games_b ? -1 : 1;
	}
	return strcmp(a->uci, b->uci);
}

static json_t *stat_json(const struct named_move *move)
{
	const struct chi_counts *c = &move->stat->counts;
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "uci", move->uci, "san", move->san,
			 "games", json_count(games_of(c)), "white", json_count(c->white), "draws",
			 json_count(c->draws), "black", json_count(c->black));
}

/* Room for one more than there are: calloc of nothing may give NULL. */
static json_t *stats_json(const struct chi_key *key, const struct chi_record *record)
{
	size_t n = record->n_moves;
	_cleanup_(json_freep) json_t *array = json_array();
	_cleanup_(chi_freep) struct named_move *moves = calloc(n + 1, sizeof(*moves));
	if (moves == NULL) {
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		moves[i].stat = &record->moves[i];
		if (chi_key_uci(key, record->moves[i].move, moves[i].uci) != CHI_OK ||
		    chi_key_san(key, record->moves[i].move, moves[i].san) != CHI_OK) {
			return NULL;
		}
	}
	qsort(moves, n, sizeof(*moves), compare_moves);
	for (size_t i = 0; i < n; i++) {
		if (json_array_append_new(array, stat_json(&moves[i])) != 0) {
			return NULL;
		}
	}
	return release(&array);
}

/* In the record's order, by ply. */
static json_t *plies_json(const struct chi_record *record)
{
	_cleanup_(json_freep) json_t *array = json_array();
	for (size_t i = 0; i < record->n_plies; i++) {
		const struct chi_ply_stat *stat = &record->plies[i];
		json_t *entry = json_pack("{s:i, s:o}", "ply", (int)stat->ply, "games",
					  json_count(stat->games));
		if (json_array_append_new(array, entry) != 0) {
			return NULL;
		}
	}
	return release(&array);
}

json_t *record_json(const struct chi_key *key, const struct chi_record *record)
{
	char fen[CHI_FEN_SIZE];
	const struct chi_counts *c = &record->counts;
	if (chi_key_to_fen(key, fen, NULL) != CHI_OK) {
		return NULL;
	}
	/* A NULL among the values makes json_pack fail and drop the others. */
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "fen",
			 fen, "chi2", json_chi2(record->chi2), "games", json_count(games_of(c)),
			 "white", json_count(c->white), "draws", json_count(c->draws), "black",
			 json_count(c->black), "other", json_count(c->other), "min_ply",
			 record->n_plies > 0 ? json_integer(record->plies[0].ply) : json_null(),
			 "plies", plies_json(record), "moves", stats_json(key, record), "evals",
			 evals_json(key, record), "line",
			 moves_json(key, record->line, record->n_line), "note",
			 record->n_note == 0 ? json_null()
					     : json_text(record->note, record->n_note));
}
