/* SPDX-License-Identifier: MIT */
/* The moves of a position, and what is known of them: minimax over what is stored. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "http/cdb/cdb.h"

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

/* ---- Minimax --------------------------------------------------------------------------------- */

/* What is stored is searched a ply deeper each time, until there is no more of it, or so many lists
 * of moves were made; then what the last whole search has found counts. */
#define LISTS_MOST 1024
#define PLIES_MOST 12

/* What is known of a position, to its side to move. */
struct value {
	bool known;
	int score;
	int replies; /* known ones, and of these the good */
	int good;
};

struct search {
	struct call *call;
	struct ply plies[PLIES_MOST];
	struct value *below[PLIES_MOST]; /* of their moves */
	size_t n_plies;			 /* that have memory */
	size_t lists;
	bool spent; /* the lists are: what was begun is not whole */
	bool cut;   /* a stored position was not looked into */
};

/* From the values of the moves. Nothing being known of some of them, what is stored of the position
 * itself stands for these. */
static struct value combine(const struct chi_row *row, const struct ply *ply,
			    const struct value *below)
{
	struct value value = {.known = row->has_eval, .score = cdb_score(row)};
	int best = 0;
	if (ply->n == 0) {
		bool mated = (ply->state & CHI_STATE_CHECK) != 0;
		return (struct value){.known = true, .score = mated ? -CDB_MATE : 0};
	}
	for (size_t i = 0; i < ply->n; i++) {
		if (below[i].known) {
			int score = cdb_back(below[i].score);
			best = value.replies == 0 || score > best ? score : best;
			value.replies++;
		}
	}
	for (size_t i = 0; i < ply->n; i++) {
		bool good = below[i].known && cdb_rank(cdb_back(below[i].score), best) > 0;
		value.good += good ? 1 : 0;
	}
	bool all = (size_t)value.replies == ply->n;
	if (value.replies > 0 && (all || !value.known || best > value.score)) {
		value.score = best;
	}
	value.known = value.known || value.replies > 0;
	return value;
}

/* Memory for the moves that are so far from the board. */
static int reach(struct search *search, size_t at)
{
	int status = CHI_OK;
	for (; status == CHI_OK && search->n_plies <= at; search->n_plies++) {
		size_t i = search->n_plies;
		search->below[i] = chi_arena_array(&search->call->arena, CHI_LEGAL_MAX,
						   sizeof(*search->below[i]));
		status = search->below[i] == NULL
				 ? chi_fault_plain(&search->call->fault, -CHI_ENOMEM)
				 : make(search->call, &search->plies[i]);
	}
	return status;
}

static int evaluate(struct search *search, const struct chi_key *key, const struct chi_row *row,
		    size_t at, size_t depth, struct value *out);

/* The values of a position's moves: those that are stored are looked into if there is depth. */
static int evaluate_moves(struct search *search, size_t at, size_t depth)
{
	const struct ply *ply = &search->plies[at];
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < ply->n && !search->spent; i++) {
		const struct chi_row *row = &ply->rows[i];
		struct value *value = &search->below[at][i];
		*value = (struct value){.known = row->has_eval, .score = cdb_score(row)};
		if (row->found && at + 1 < depth) {
			search->spent = search->lists >= LISTS_MOST;
			status = search->spent ? CHI_OK
					       : evaluate(search, &ply->keys[i], row, at + 1, depth,
							  value);
		} else {
			search->cut = search->cut || row->found;
		}
	}
	return status;
}

/* Its moves are `at` plies from those of the board; `depth` is one more than the most. */
static int evaluate(struct search *search, const struct chi_key *key, const struct chi_row *row,
		    size_t at, size_t depth, struct value *out)
{
	int status = reach(search, at);
	status = status == CHI_OK ? list(search->call, key, CHI_MOVES_KEYS, &search->plies[at])
				  : status;
	search->lists++;
	status = status == CHI_OK ? evaluate_moves(search, at, depth) : status;
	if (status == CHI_OK && !search->spent) {
		*out = combine(row, &search->plies[at], search->below[at]);
	}
	return status;
}

/* Once, to `depth`; *whole: the lists sufficed, and values[i] are what is known of ply's moves. */
static int search_once(struct search *search, const struct ply *ply, size_t depth,
		       struct value *values)
{
	int status = CHI_OK;
	search->cut = false;
	for (size_t i = 0; status == CHI_OK && i < ply->n && !search->spent; i++) {
		status = evaluate(search, &ply->keys[i], &ply->rows[i], 0, depth, &values[i]);
	}
	return status;
}

static bool any_known(const struct value *values, size_t n)
{
	size_t i = 0;
	while (i < n && !values[i].known) {
		i++;
	}
	return i < n;
}

static int search_all(struct call *call, const struct ply *ply, struct value *out)
{
	struct search *search = chi_arena_array(&call->arena, 1, sizeof(*search));
	struct value *values = chi_arena_array(&call->arena, ply->n + 1, sizeof(*values));
	if (search == NULL || values == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	*search = (struct search){.call = call, .cut = true};
	int status = CHI_OK;
	for (size_t depth = 1; status == CHI_OK && depth <= PLIES_MOST && search->cut; depth++) {
		status = search_once(search, ply, depth, values);
		if (search->spent || !any_known(values, ply->n)) {
			break;
		}
		memcpy(out, values, ply->n * sizeof(*out));
	}
	return status;
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
	struct value *values = chi_arena_array(&call->arena, ply->n + 1, sizeof(*values));
	int status = values == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM)
				    : search_all(call, ply, values);
	for (size_t i = 0; status == CHI_OK && i < ply->n; i++) {
		struct cdb_move *move = &board->moves[board->n++];
		*move = (struct cdb_move){.move = ply->moves[i].move,
					  .after = ply->keys[i],
					  .known = values[i].known,
					  .score = cdb_back(values[i].score),
					  .replies = values[i].replies,
					  .good = values[i].good};
		memcpy(move->uci, ply->moves[i].uci, sizeof(move->uci));
		memcpy(move->san, ply->moves[i].san, sizeof(move->san));
		board->n_known += move->known ? 1 : 0;
	}
	if (status == CHI_OK) {
		const struct value value = combine(&board->row, ply, values);
		board->known = value.known;
		board->score = value.score;
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
