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

/* Takes the value over. An array that could not take one is NULL from then on. */
static json_t *append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) == 0) {
		return array;
	}
	json_decref(array);
	return NULL;
}

/* Moves played one after the other, in UCI. Played on a board and not from key to key: without a
 * black king a line leads through positions with Black to move, which no key can hold. */
static json_t *moves_json(const struct chi_key *from, const chi_move *moves, size_t n)
{
	struct chi_position position;
	struct chi_position next;
	char uci[CHI_UCI_SIZE];
	if (chi_key_decode(from, &position, NULL) != CHI_OK) {
		return NULL;
	}
	json_t *array = json_array();
	for (size_t i = 0; i < n && array != NULL; i++) {
		if (!chi_movegen_is_legal(&position, moves[i])) {
			json_decref(array);
			return NULL;
		}
		chi_uci_print(&position, moves[i], uci);
		array = append(array, json_string(uci));
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
	return array;
}

/* The score is under the name that tells its unit: cp or mate. */
static json_t *eval_json(const struct chi_key *key, const struct chi_eval *eval)
{
	/* A NULL among the values makes json_pack fail and drop the others. */
	return json_pack("{s:o, s:i, s:i, s:o, s:o, s:o}", "engine",
			 json_text(eval->engine, eval->engine_len), "depth", (int)eval->depth,
			 eval->is_mate ? "mate" : "cp", (int)eval->score, "nodes",
			 eval->nodes == 0 ? json_null() : json_count(eval->nodes), "pv",
			 moves_json(key, eval->pv, eval->n_pv), "date", json_time(eval->date));
}

/* In the record's order, by engine. */
static json_t *evals_json(const struct chi_key *key, const struct chi_record *record)
{
	json_t *array = json_array();
	for (size_t i = 0; i < record->n_evals; i++) {
		array = append(array, eval_json(key, &record->evals[i]));
	}
	return array;
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
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "uci", move->uci, "san", move->san,
			 "games", json_count(games_of(c)), "white", json_count(c->white), "draws",
			 json_count(c->draws), "black", json_count(c->black), "other",
			 json_count(c->other));
}

/* Room for one more than there are: calloc of nothing may give NULL. */
static json_t *stats_json(const struct chi_key *key, const struct chi_record *record)
{
	size_t n = record->n_moves;
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
	json_t *array = json_array();
	for (size_t i = 0; i < n; i++) {
		array = append(array, stat_json(&moves[i]));
	}
	return array;
}

/* In the record's order, by ply. */
static json_t *plies_json(const struct chi_record *record)
{
	json_t *array = json_array();
	for (size_t i = 0; i < record->n_plies; i++) {
		array = append(array, json_pack("{s:i, s:o}", "ply", (int)record->plies[i].ply,
						"games", json_count(record->plies[i].games)));
	}
	return array;
}

json_t *record_json(const struct chi_key *key, const struct chi_record *record)
{
	char fen[CHI_FEN_SIZE];
	const struct chi_counts *c = &record->counts;
	if (chi_key_to_fen(key, fen, NULL) != CHI_OK) {
		return NULL;
	}
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
