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
};

/* The line of the deepest evaluation, after what is there. */
static int add_evaluation(struct call *call, const struct chi_key *key, struct line *line)
{
	struct chi_record record;
	const struct chi_eval *best = NULL;
	int status = chi_get(call->client, key, &record);
	if (status != CHI_OK) {
		return status < 0 ? call_failed(call, status) : CHI_OK;
	}
	for (size_t i = 0; i < record.n_evals; i++) {
		const struct chi_eval *eval = &record.evals[i];
		if (eval->rank == 0 && (best == NULL || eval->depth > best->depth ||
					(eval->depth == best->depth && eval->date > best->date))) {
			best = eval;
		}
	}
	for (size_t i = 0; best != NULL && i < best->n_pv && line->n < LINE_MOST; i++) {
		line->moves[line->n++] = best->pv[i];
	}
	line->depth += best != NULL ? best->depth : 0;
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

static int follow(struct answer *answer, struct line *line)
{
	struct call *call = answer->call;
	struct chi_key key = answer->board.key;
	const struct cdb_value *value = answer->board.moves[0].value;
	struct chi_legal_move *moves =
		chi_arena_alloc(&call->arena, CHI_LEGAL_MAX * sizeof(*moves));
	int status = moves == NULL ? chi_fault_plain(&call->fault, -CHI_ENOMEM) : CHI_OK;
	for (; status == CHI_OK && value != NULL && line->n < LINE_MOST; value = value->next) {
		status = move_between(call, &key, &value->key, moves, &line->moves[line->n]);
		line->n++;
		line->depth++;
		key = value->key;
	}
	return status == CHI_OK ? add_evaluation(call, &key, line) : status;
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
		out_format(out, "score:%d,depth:%u,pv:", answer->board.score, line->depth);
		return say_line(answer, line, false);
	}
	cdb_begin_ok(answer);
	out_integer(out, "score", answer->board.score);
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

int cdb_query_pv(struct answer *answer)
{
	const struct cdb_board *board = &answer->board;
	struct line line = {.n = 0};
	int status = CHI_OK;
	if (cdb_is_over(answer)) {
		return CHI_OK;
	}
	if (!board->known) {
		cdb_say_word(answer, "unknown");
		return CHI_OK;
	}
	if (board->own) {
		status = add_evaluation(answer->call, &board->key, &line);
	}
	/* An evaluation may have come without its line. */
	if (status == CHI_OK && line.n == 0 && board->n_known > 0 &&
	    board->moves[0].score >= board->score) {
		line = (struct line){.n = 0};
		status = follow(answer, &line);
	}
	return status < 0 ? status : say(answer, &line);
}
