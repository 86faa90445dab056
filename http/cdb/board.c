/* SPDX-License-Identifier: MIT */
/* The moves of a position, and what is known of them. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"
#include "http/cdb/cdb.h"
#include "http/cdb/minimax.h"

/* The moves of a position and the rows after them. */
struct ply {
	struct chi_legal_move *moves;
	struct chi_key *keys;
	struct chi_row *rows;
	size_t n;
	size_t legal; /* of which these have a key after them */
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
	ply->legal = n;
	for (size_t i = 0; status == CHI_OK && i < n && i < CHI_LEGAL_MAX; i++) {
		if (ply->moves[i].after.len > 0) {
			ply->moves[ply->n] = ply->moves[i];
			ply->keys[ply->n++] = ply->moves[i].after;
		}
	}
	return status == CHI_OK ? probe(call, ply->keys, ply->n, ply->rows)
				: chi_fault_plain(&call->fault, status);
}

static int make_ply(struct call *call, struct ply *ply)
{
	struct chi_arena *arena = &call->arena;
	ply->moves = chi_arena_alloc(arena, CHI_LEGAL_MAX * sizeof(*ply->moves));
	ply->keys = chi_arena_alloc(arena, CHI_LEGAL_MAX * sizeof(*ply->keys));
	ply->rows = chi_arena_alloc(arena, CHI_LEGAL_MAX * sizeof(*ply->rows));
	return ply->moves != NULL && ply->keys != NULL && ply->rows != NULL
		       ? CHI_OK
		       : chi_fault_plain(&call->fault, -CHI_ENOMEM);
}

/* Score descending, then fewer good replies, then more known ones, then what games say, then the
 * move. */
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
	if (x->replies != y->replies) {
		return x->replies > y->replies ? -1 : 1;
	}
	if (x->book.games == 0 && y->book.games == 0) {
		return strcmp(x->uci, y->uci);
	}
	return x->place < y->place ? -1 : 1;
}

/* What the games of the record say of each move. */
static int ask_games(struct call *call, const struct chi_record *record, const struct ply *ply,
		     int side, struct cdb_move *moves)
{
	struct chi_counts *played = chi_arena_array(&call->arena, ply->n + 1, sizeof(*played));
	struct chi_candidate *all = chi_arena_array(&call->arena, ply->n + 1, sizeof(*all));
	if (played == NULL || all == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < ply->n; i++) {
		played[i] = (struct chi_counts){.white = 0};
		for (size_t k = 0; k < record->n_moves; k++) {
			played[i] = record->moves[k].move == ply->moves[i].move
					    ? record->moves[k].counts
					    : played[i];
		}
	}
	chi_candidates(played, ply->n, side, all);
	(void)chi_candidates_rank(all, ply->n);
	for (size_t i = 0; i < ply->n; i++) {
		moves[all[i].index].book = all[i];
		moves[all[i].index].place = i;
	}
	return CHI_OK;
}

static void rank_moves(struct cdb_board *board)
{
	qsort(board->moves, board->n, sizeof(*board->moves), by_worth);
	for (size_t i = 0; i < board->n_known; i++) {
		board->moves[i].rank = cdb_rank(board->moves[i].score, board->moves[0].score);
	}
	for (; board->n_known == 0 && board->n_book < board->n; board->n_book++) {
		struct cdb_move *move = &board->moves[board->n_book];
		if (!move->book.supported) {
			break;
		}
		move->rank = board->n_book == 0 ? 2 : 1;
	}
}

static int fill_board(struct call *call, const struct ply *ply, struct cdb_board *board)
{
	struct cdb_value *values = chi_arena_array(&call->arena, ply->n + 1, sizeof(*values));
	const struct cdb_ply below = {.key = &board->key,
				      .row = &board->row,
				      .keys = ply->keys,
				      .rows = ply->rows,
				      .n = ply->n,
				      .legal = ply->legal,
				      .check = (ply->state & CHI_STATE_CHECK) != 0};
	struct cdb_value value;
	int status = values == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
				    : cdb_minimax(call, &below, &value, values);
	for (size_t i = 0; status == CHI_OK && i < ply->n; i++) {
		struct cdb_move *move = &board->moves[board->n++];
		move->move = ply->moves[i].move;
		move->after = ply->keys[i];
		if (values[i].known) {
			move->known = true;
			move->score = cdb_back(values[i].score);
		}
		move->replies = values[i].replies;
		move->good = values[i].good;
		move->value = &values[i];
		memcpy(move->uci, ply->moves[i].uci, sizeof(move->uci));
		memcpy(move->san, ply->moves[i].san, sizeof(move->san));
		board->n_known += move->known ? 1 : 0;
	}
	if (status == CHI_OK) {
		board->known = value.known;
		board->score = value.score;
		board->next = value.next;
		rank_moves(board);
	}
	return status;
}

/* What the position's lines say of the moves that they begin with; of two the deeper one. It stands
 * where the position after the move is not known. */
static void ask_lines(const struct chi_record *record, const struct ply *ply,
		      struct cdb_move *moves)
{
	uint32_t depths[CHI_LEGAL_MAX];
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		for (size_t k = 0; k < ply->n && eval->n_pv > 0; k++) {
			if (ply->moves[k].move == eval->pv[0] &&
			    (!moves[k].known || eval->depth > depths[k])) {
				moves[k].known = true;
				moves[k].score = cdb_score(eval->is_mate, eval->score);
				depths[k] = eval->depth;
			}
		}
	}
}

/* What the record has: its lines, its games' moves, and how early in a game it comes. */
static int read_record(struct call *call, const struct ply *ply, struct cdb_board *board)
{
	struct chi_record record;
	struct chi_position position;
	int status = chi_get(call->client, &board->key, &record);
	if (status != CHI_OK) {
		return status < 0 ? call_failed(call, status) : CHI_OK;
	}
	board->min_ply = record.n_plies > 0 ? record.plies[0].ply : -1;
	ask_lines(&record, ply, board->moves);
	status = chi_key_decode(&board->key, &position, &call->fault);
	return status < 0 ? status : ask_games(call, &record, ply, position.side, board->moves);
}

int cdb_look(struct call *call, const struct chi_key *key, struct cdb_board *out)
{
	struct ply ply = {.n = 0};
	*out = (struct cdb_board){.key = *key, .min_ply = -1};
	int status = make_ply(call, &ply);
	status = status == CHI_OK ? probe(call, key, 1, &out->row) : status;
	status = status == CHI_OK
			 ? list(call, key, CHI_MOVES_UCI | CHI_MOVES_SAN | CHI_MOVES_KEYS, &ply)
			 : status;
	if (status < 0) {
		return status;
	}
	out->state = ply.state;
	out->moves = chi_arena_array(&call->arena, ply.n + 1, sizeof(*out->moves));
	if (out->moves == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	memset(out->moves, 0, (ply.n + 1) * sizeof(*out->moves));
	status = out->row.found ? read_record(call, &ply, out) : CHI_OK;
	return status == CHI_OK ? fill_board(call, &ply, out) : status;
}
