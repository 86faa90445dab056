/* SPDX-License-Identifier: MIT */
/* What happens on `go`: the book, an evaluation that is stored, the child engine or our own search;
 * then the answer, when it may be given. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chess/notation.h"
#include "uci/relay.h"
#include "uci/session_priv.h"

void chi_session_say(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	flockfile(stdout);
	fputs("info string ", stdout);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	funlockfile(stdout);
	va_end(args);
}

static void square(char out[2], int at)
{
	out[0] = (char)('a' + (at & 7));
	out[1] = (char)('1' + (at >> 3));
}

void chi_session_move(const struct chi_session *session, const struct chi_position *position,
		      chi_move move, char out[CHI_MOVE_SIZE])
{
	if (session->options.chess960 && chi_position_is_castling(position, move)) {
		square(out, chi_move_from(move));
		square(out + 2, chi_move_to(move));
		out[4] = '\0';
	} else {
		(void)chi_uci_print(position, move, out);
	}
}

/* ---- Our own search ------------------------------------------------------------------------ */

static void print_score(int score)
{
	if (score >= CHI_MATE_BOUND) {
		printf(" score mate %d", (CHI_MATE - score + 1) / 2);
	} else if (score <= -CHI_MATE_BOUND) {
		printf(" score mate %d", -(CHI_MATE + score) / 2);
	} else {
		printf(" score cp %d", score);
	}
}

static void print_line(void *context, const struct chi_engine_line *line)
{
	const struct chi_session *session = context;
	struct chi_position at = *chi_engine_position(session->engine);
	static const char *const bounds[] = {"", " lowerbound", " upperbound"};
	flockfile(stdout);
	printf("info depth %u seldepth %u multipv %u", line->depth, line->seldepth, line->number);
	print_score(line->score);
	printf("%s nodes %" PRIu64 " nps %" PRIu64 " hashfull %u tbhits %" PRIu64 " time %" PRIu64
	       " pv",
	       bounds[line->bound], line->nodes, line->nodes * 1000 / (line->ms + 1),
	       line->hashfull, line->found, line->ms);
	for (size_t i = 0; i < line->n_pv; i++) {
		char text[CHI_MOVE_SIZE];
		struct chi_position next;
		chi_session_move(session, &at, line->pv[i], text);
		printf(" %s", text);
		chi_position_play(&at, line->pv[i], &next);
		at = next;
	}
	putchar('\n');
	if (fflush(stdout) != 0) {
		/* There is no GUI any more. */
		chi_engine_stop(session->engine);
	}
	funlockfile(stdout);
}

/* The line's positions each have the rest of it; the other side has the score with its sign
 * changed, and one ply less of depth. */
static void learn(struct chi_session *session, const struct chi_engine_result *result)
{
	struct chi_position at = *chi_engine_position(session->engine);
	size_t all = session->options.learn == CHI_LEARN_PV ? result->n_pv : 1;
	int score = result->score;
	for (size_t i = 0; i < all && i + 1 < result->depth + (result->depth == 1); i++) {
		struct chi_position next;
		chi_learn(session->learner, &at, score, result->depth - (unsigned)i, result->nodes,
			  result->pv + i, result->n_pv - i);
		chi_position_play(&at, result->pv[i], &next);
		at = next;
		/* A mate is a ply nearer. */
		score = score >= CHI_MATE_BOUND	   ? score + 1
			: score <= -CHI_MATE_BOUND ? score - 1
						   : score;
		score = -score;
	}
}

bool chi_session_learns(const struct chi_session *session, unsigned depth)
{
	return session->learner != NULL && session->limits.n_moves == 0 &&
	       chi_engine_clock(session->engine) + depth < 100;
}

static void search(struct chi_session *session, struct chi_engine_result *result)
{
	chi_engine_go(session->engine, &session->limits, print_line, session, result);
	if (result->depth > 0 && chi_session_learns(session, result->depth)) {
		learn(session, result);
	}
}

/* ---- Without a search ---------------------------------------------------------------------- */

static bool from_book(struct chi_session *session, struct chi_engine_result *result)
{
	char says[CHI_BOOK_SAYS];
	if (session->options.book == CHI_BOOK_OFF || session->book_failed ||
	    session->limits.infinite || session->limits.ponder || session->limits.n_moves > 0 ||
	    session->ply >= (unsigned)session->options.book_depth) {
		return false;
	}
	int rc = chi_book_move(session->client, &session->options,
			       chi_engine_position(session->engine), &result->best, says);
	session->book_failed = rc < 0;
	if (rc < 0) {
		chi_session_say("book: %s", chi_error(session->client));
	} else if (rc == CHI_OK) {
		chi_session_say("%s", says);
	}
	return rc == CHI_OK;
}

static bool from_store(struct chi_session *session, struct chi_engine_result *result)
{
	const struct chi_eval *eval;
	uint32_t depth = (uint32_t)session->options.answer;
	if (depth == 0 || session->book_failed || session->limits.infinite ||
	    session->limits.ponder || session->limits.n_moves > 0) {
		return false;
	}
	depth = session->limits.depth > depth ? session->limits.depth : depth;
	int rc = chi_book_answer(session->client, chi_engine_position(session->engine), depth,
				 &eval);
	if (rc < 0) {
		session->book_failed = true;
		chi_session_say("store: %s", chi_error(session->client));
	}
	if (rc != CHI_OK) {
		return false;
	}
	result->best = eval->pv[0];
	result->ponder = eval->n_pv > 1 ? eval->pv[1] : 0;
	chi_session_say("store: depth %" PRIu32 " by %.*s, score %s%" PRId32, eval->depth,
			(int)eval->engine_len, eval->engine, eval->is_mate ? "mate " : "cp ",
			eval->score);
	return true;
}

/* ---- The answer ---------------------------------------------------------------------------- */

static void wait_for_release(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
	while (session->waits) {
		pthread_cond_wait(&session->changed, &session->mutex);
	}
	pthread_mutex_unlock(&session->mutex);
}

static void answer(const struct chi_session *session, const struct chi_engine_result *result)
{
	const struct chi_position *position = chi_engine_position(session->engine);
	char best[CHI_MOVE_SIZE] = "0000";
	char ponder[CHI_MOVE_SIZE];
	struct chi_position next;
	if (result->best != 0) {
		chi_session_move(session, position, result->best, best);
	}
	if (result->best != 0 && result->ponder != 0) {
		chi_position_play(position, result->best, &next);
		chi_session_move(session, &next, result->ponder, ponder);
		printf("bestmove %s ponder %s\n", best, ponder);
	} else {
		printf("bestmove %s\n", best);
	}
	fflush(stdout);
}

/* Nothing that another engine could answer. */
static bool is_over(const struct chi_session *session)
{
	struct chi_move_list list;
	chi_movegen_legal(chi_engine_position(session->engine), &list);
	return list.n == 0;
}

void chi_session_think(struct chi_session *session)
{
	struct chi_engine_result result = {0};
	bool known = session->client != NULL &&
		     (from_book(session, &result) || from_store(session, &result));
	bool answered = known || (session->child != NULL && !is_over(session) &&
				  chi_relay(session, &result));
	if (!answered) {
		search(session, &result);
	}
	wait_for_release(session);
	atomic_store(&session->answers, true);
	answer(session, &result);
}
