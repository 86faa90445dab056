/* SPDX-License-Identifier: MIT */
/* The moves of a position, and what is known of them. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "http/cdb/cdb.h"
#include "http/cdb/minimax.h"

/* The moves of a position and the rows after them. */
struct ply {
	struct chi_legal_move *moves;
	struct chi_key *keys;
	struct chi_row *rows;
	size_t n;
	uint32_t state;
};

static int probe(struct call *call, const struct chi_key *keys, size_t n, struct chi_row *rows)
{
	int status = chi_probe(call->client, keys, n, rows);
	return status < 0 ? call_failed(call, status) : CHI_OK;
}

/* A move after which no key can hold the position is left out. */
static int list(struct call *call, const struct chi_key *key, uint32_t want, struct ply *ply)
{
	size_t n = 0;
	ply->n = 0;
	int status = chi_key_moves(key, want, ply->moves, CHI_LEGAL_MAX, &n, &ply->state);
	for (size_t i = 0; status == CHI_OK && i < n && i < CHI_LEGAL_MAX; i++) {
		if (ply->moves[i].after.len > 0) {
			ply->moves[ply->n] = ply->moves[i];
			ply->keys[ply->n++] = ply->moves[i].after;
		}
	}
	return status == CHI_OK ? probe(call, ply->keys, ply->n, ply->rows)
				: chi_fault_plain(&call->fault, status);
}

static int make(struct call *call, struct ply *ply)
{
	struct chi_arena *arena = &call->arena;
	ply->moves = chi_arena_alloc(arena, CHI_LEGAL_MAX * sizeof(*ply->moves));
	ply->keys = chi_arena_alloc(arena, CHI_LEGAL_MAX * sizeof(*ply->keys));
	ply->rows = chi_arena_alloc(arena, CHI_LEGAL_MAX * sizeof(*ply->rows));
	return ply->moves != NULL && ply->keys != NULL && ply->rows != NULL
		       ? CHI_OK
		       : chi_fault_plain(&call->fault, -CHI_ENOMEM);
}

/* Score descending, then fewer good replies, then more known ones, then the move. */
static int by_worth(const void *a, const void *b)
{
	const struct cdb_move *x = a;
	const struct cdb_move *y = b;
	if (x->known != y->known) {
		return x->known ? -1 : 1;
	}
	if (x->known && x->score != y->score) {
		return x->score > y->score ? -1 : 1;
	}
	if (x->good != y->good) {
		return x->good < y->good ? -1 : 1;
	}
	return x->replies != y->replies ? (x->replies > y->replies ? -1 : 1)
					: strcmp(x->uci, y->uci);
}

static void rank_moves(struct cdb_board *board)
{
	qsort(board->moves, board->n, sizeof(*board->moves), by_worth);
	for (size_t i = 0; i < board->n_known; i++) {
		board->moves[i].rank = cdb_rank(board->moves[i].score, board->moves[0].score);
	}
}

static int fill(struct call *call, const struct ply *ply, struct cdb_board *board)
{
	struct cdb_value *values = chi_arena_array(&call->arena, ply->n + 1, sizeof(*values));
	const struct cdb_value **below = chi_arena_array(&call->arena, ply->n + 1, sizeof(*below));
	int status = values == NULL || below == NULL
			     ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
			     : cdb_minimax(call, ply->keys, ply->rows, ply->n, values);
	for (size_t i = 0; status == CHI_OK && i < ply->n; i++) {
		struct cdb_move *move = &board->moves[board->n++];
		*move = (struct cdb_move){.move = ply->moves[i].move,
					  .after = ply->keys[i],
					  .known = values[i].known,
					  .score = cdb_back(values[i].score),
					  .replies = values[i].replies,
					  .good = values[i].good,
					  .value = &values[i]};
		below[i] = &values[i];
		memcpy(move->uci, ply->moves[i].uci, sizeof(move->uci));
		memcpy(move->san, ply->moves[i].san, sizeof(move->san));
		board->n_known += move->known ? 1 : 0;
	}
	if (status == CHI_OK) {
		bool check = (ply->state & CHI_STATE_CHECK) != 0;
		struct cdb_value value = {.known = board->row.has_eval,
					  .score = cdb_score(&board->row)};
		cdb_combine(below, ply->n, ply->n, check, &value);
		board->known = value.known;
		board->score = value.score;
		board->own = value.next == NULL;
		rank_moves(board);
	}
	return status;
}

int cdb_look(struct call *call, const struct chi_key *key, struct cdb_board *out)
{
	struct ply ply = {.n = 0};
	struct chi_record record;
	*out = (struct cdb_board){.key = *key, .min_ply = -1};
	int status = make(call, &ply);
	status = status == CHI_OK ? probe(call, key, 1, &out->row) : status;
	if (status == CHI_OK && out->row.found) {
		status = chi_get(call->client, key, &record);
		out->min_ply = status == CHI_OK && record.n_plies > 0 ? record.plies[0].ply : -1;
		status = status < 0 ? call_failed(call, status) : CHI_OK;
	}
	status = status == CHI_OK
			 ? list(call, key, CHI_MOVES_UCI | CHI_MOVES_SAN | CHI_MOVES_KEYS, &ply)
			 : status;
	if (status < 0) {
		return status;
	}
	out->state = ply.state;
	out->moves = chi_arena_array(&call->arena, ply.n + 1, sizeof(*out->moves));
	return out->moves == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
				  : fill(call, &ply, out);
}
