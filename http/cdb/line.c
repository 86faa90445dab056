/* SPDX-License-Identifier: MIT */
/* The line by which a score came up to the position: the best moves that are stored, then the line
 * of the evaluation at their end. */
#include <string.h>

#include "base/fault.h"
#include "http/cdb/answer.h"
#include "http/cdb/minimax.h"

#define LINE_MOST 64

struct line {
	chi_move moves[LINE_MOST];
	size_t n;
	unsigned depth; /* plies of stored moves, and what the evaluation was searched to */
	int score;
};

/* Deeper; where a line is wanted, that is more. */
static bool is_preferred(const struct chi_eval *a, const struct chi_eval *b, bool line)
{
	if (line && (a->n_pv > 0) != (b->n_pv > 0)) {
		return a->n_pv > 0;
	}
	return a->depth > b->depth || (a->depth == b->depth && a->date > b->date);
}

/* The line of the deepest evaluation, after what is there, and its score; `lined`: of the deepest
 * that has a line, if any has. */
static int add_evaluation(struct call *call, const struct chi_key *key, bool lined,
			  struct line *line)
{
	struct chi_record record;
	const struct chi_eval *best = NULL;
	int status = chi_get(call->client, key, &record);
	if (status != CHI_OK) {
		return status < 0 ? call_failed(call, status) : CHI_OK;
	}
	for (size_t i = 0; i < record.n_evals; i++) {
		const struct chi_eval *eval = &record.evals[i];
		if (eval->rank == 0 && (best == NULL || is_preferred(eval, best, lined))) {
			best = eval;
		}
	}
	for (size_t i = 0; best != NULL && i < best->n_pv && line->n < LINE_MOST; i++) {
		line->moves[line->n++] = best->pv[i];
	}
	line->depth += best != NULL ? best->depth : 0;
	line->score = best != NULL ? cdb_score(best->is_mate, best->score) : 0;
	return CHI_OK;
}

/* The move that leads from a position to another. */
static int move_between(struct call *call, const struct chi_key *from, const struct chi_key *to,
			struct chi_legal_move *moves, chi_move *out)
{
	size_t n = 0;
	int status = chi_key_moves(from, CHI_MOVES_KEYS, moves, CHI_LEGAL_MAX, &n, NULL);
	*out = 0;
	for (size_t i = 0; status == CHI_OK && i < n && i < CHI_LEGAL_MAX && *out == 0; i++) {
		const struct chi_key *after = &moves[i].after;
		*out = after->len == to->len && memcmp(after->bytes, to->bytes, to->len) == 0
			       ? moves[i].move
			       : 0;
	}
	return status < 0 ? chi_fault_plain(&call->fault, status) : CHI_OK;
}

/* From the position after the first move on. */
static int follow_value(struct answer *answer, const struct cdb_value *value, struct line *line)
{
	struct call *call = answer->call;
	struct chi_key key = answer->board.key;
	struct chi_legal_move *moves =
		chi_arena_alloc(&call->arena, CHI_LEGAL_MAX * sizeof(*moves));
	int status = moves == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM) : CHI_OK;
	*line = (struct line){.n = 0};
	for (; status == CHI_OK && value != NULL && line->n < LINE_MOST; value = value->next) {
		status = move_between(call, &key, &value->key, moves, &line->moves[line->n]);
		line->n++;
		line->depth++;
		key = value->key;
	}
	return status == CHI_OK ? add_evaluation(call, &key, false, line) : status;
}

static int say_line(struct answer *answer, const struct line *line, bool san)
{
	struct writer *out = &answer->call->out;
	struct chi_key key = answer->board.key;
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < line->n; i++) {
		char text[CHI_MOVE_TEXT_SIZE];
		status = san ? chi_key_san(&key, line->moves[i], text)
			     : chi_key_uci(&key, line->moves[i], text);
		if (status == CHI_OK && answer->json) {
			out_text(out, NULL, text);
		} else if (status == CHI_OK) {
			out_format(out, "%s%s", i > 0 ? "|" : "", text);
		}
		if (status == CHI_OK && i + 1 < line->n) {
			status = chi_key_play(&key, line->moves[i], &key);
		}
	}
	return status;
}

static int say(struct answer *answer, const struct line *line)
{
	struct writer *out = &answer->call->out;
	int status = CHI_OK;
	if (!answer->json) {
		out_format(out, "score:%d,depth:%u,pv:", line->score, line->depth);
		return say_line(answer, line, false);
	}
	cdb_begin_ok(answer);
	out_integer(out, "score", line->score);
	out_number(out, "depth", line->depth);
	out_array(out, "pv");
	status = say_line(answer, line, false);
	out_end(out, ']');
	out_array(out, "pvSAN");
	status = status == CHI_OK ? say_line(answer, line, true) : status;
	out_end(out, ']');
	out_end(out, '}');
	return status;
}

/* Of a position that its own evaluation is of: that with a line, or else the best reply, if it is
 * a good one beside what the evaluation says; no moves: neither is known. */
static int find_own(struct answer *answer, struct line *line)
{
	const struct cdb_board *board = &answer->board;
	const struct cdb_move *best = &board->moves[0];
	int status = add_evaluation(answer->call, &board->key, true, line);
	if (status == CHI_OK && line->n == 0 && board->n_known > 0 && best->value->known &&
	    cdb_rank(best->score, board->score) > 0) {
		status = follow_value(answer, best->value, line);
		line->score = best->score;
	}
	return status;
}

int cdb_query_pv(struct answer *answer)
{
	const struct cdb_board *board = &answer->board;
	struct line line = {.n = 0};
	int status = CHI_OK;
	if (cdb_is_over(answer)) {
		return CHI_OK;
	}
	if (board->known && board->next == NULL) {
		status = find_own(answer, &line);
	} else if (board->known) {
		status = follow_value(answer, board->next, &line);
		line.score = board->score;
	}
	if (status < 0) {
		return status;
	}
	if (line.n == 0) {
		cdb_say_word(answer, "unknown");
		return CHI_OK;
	}
	return say(answer, &line);
}
