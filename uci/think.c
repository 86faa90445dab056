/* SPDX-License-Identifier: MIT */
/* What happens on `go`: the book, an evaluation that is stored, the child engine or our own search;
 * then the answer, when it may be given. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "chess/notation.h"
#include "uci/lookup.h"
#include "uci/relay.h"
#include "uci/say.h"
#include "uci/session_priv.h"

#define LATE_MS	 20  /* after `go`: then our own search begins with what is left of the time */
#define SLACK_MS 100 /* after `movetime`, for another engine to answer */
#define SHORT_MS 50  /* of a search for a move that should be there already */
#define LEAST_MS 5   /* the same, if there is no time any more */
#define TOLD_MS	 20  /* of one that tells what a move of the book is worth, */
#define TOLD_PLY 6   /* whichever comes first */
#define STALL_MS 200 /* the search asks no store that has failed if less is left */
#define NO_DRAW	 80  /* half-moves of 100, as far as other engines look: with more it may be one */

static void square(char out[2], int at)
{
	out[0] = (char)('a' + (at & 7));
	out[1] = (char)('1' + (at >> 3));
}

/* A move as the GUI writes it. */
static void print_move_for(const struct chi_session *session, const struct chi_position *position,
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

/* ---- Time ----------------------------------------------------------------------------------- */

/* Of the clock no move takes more than half, or most if that is the last before more is given: an
 * engine that still searches then is told to stop. In half of what is left then it answers. */
struct chi_due chi_session_due(const struct chi_session *session)
{
	const struct chi_engine_limits *limits = &session->limits;
	int64_t hit = limits->ponder ? chi_engine_hit(session->engine) : 0;
	int64_t begun = hit != 0 ? hit : limits->begun_ms;
	struct chi_due due = {begun, INT64_MAX, INT64_MAX};
	if (limits->infinite || (limits->ponder && hit == 0)) {
		return due;
	}
	if (limits->clock_ms != 0) {
		int64_t clock = (int64_t)(limits->clock_ms > 2 * limits->lag_ms
						  ? limits->clock_ms - limits->lag_ms
						  : limits->clock_ms / 2);
		int64_t most = limits->to_go == 1 ? clock * 7 / 10 : clock / 2;
		due.stop = begun + most;
		due.answer = due.stop + (clock - most) / 2;
	}
	if (limits->move_ms != 0 && (int64_t)limits->move_ms < due.stop - begun) {
		due.stop = begun + (int64_t)limits->move_ms;
		due.answer =
			due.stop + (int64_t)(limits->lag_ms > SLACK_MS ? limits->lag_ms : SLACK_MS);
	}
	return due;
}

/* The limits of our own search, which may begin late: another engine has given no move, or the
 * store took its time. */
static struct chi_engine_limits limits_from_now(struct chi_session *session)
{
	struct chi_engine_limits limits = session->limits;
	struct chi_due due = chi_session_due(session);
	int64_t now = chi_now_ms();
	int64_t left = (now < due.stop ? due.stop : due.answer) - now;
	bool stopped = chi_session_stopped(session);
	if (!stopped && (due.answer == INT64_MAX || now - due.begun < LATE_MS)) {
		return limits;
	}
	limits.begun_ms = now;
	limits.infinite = limits.ponder = false;
	if (!stopped && limits.clock_ms != 0 && now < due.stop) {
		limits.clock_ms -= (uint64_t)(now - due.begun);
		limits.move_ms = limits.move_ms != 0 ? (uint64_t)left : 0;
	} else {
		left = left < SHORT_MS || !stopped ? left : SHORT_MS;
		limits.move_ms = left > LEAST_MS ? (uint64_t)left : LEAST_MS;
		limits.clock_ms = 0;
	}
	if (stopped) {
		/* Before it began. */
		chi_engine_ready(session->engine);
	}
	return limits;
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

/* The end of a line of info; false: there is no GUI any more. */
static bool print_pv(const struct chi_session *session, const chi_move *pv, size_t n)
{
	struct chi_position at = *chi_engine_position(session->engine);
	fputs(" pv", stdout);
	for (size_t i = 0; i < n; i++) {
		char text[CHI_MOVE_SIZE];
		struct chi_position next;
		print_move_for(session, &at, pv[i], text);
		printf(" %s", text);
		chi_position_play(&at, pv[i], &next);
		at = next;
	}
	putchar('\n');
	return fflush(stdout) == 0;
}

static void print_engine_line(void *context, const struct chi_engine_line *line)
{
	struct chi_session *session = context;
	static const char *const bounds[] = {"", " lowerbound", " upperbound"};
	flockfile(stdout);
	printf("info depth %u seldepth %u multipv %u", line->depth, line->seldepth, line->number);
	print_score(line->score);
	printf("%s nodes %" PRIu64 " nps %" PRIu64 " hashfull %u tbhits %" PRIu64 " time %" PRIu64,
	       bounds[line->bound], line->nodes, line->nodes * 1000 / (line->ms + 1),
	       line->hashfull, line->found, line->ms);
	if (!print_pv(session, line->pv, line->n_pv)) {
		chi_session_stop(session);
	}
	funlockfile(stdout);
}

/* The line's positions each have the rest of it; the other side has the score with its sign
 * changed, and one ply less of depth. */
static void learn(struct chi_session *session, struct chi_learner *learner,
		  const struct chi_engine_result *result)
{
	struct chi_position at = *chi_engine_position(session->engine);
	size_t all = session->options.learn == CHI_LEARN_PV ? result->n_pv : 1;
	int score = result->score;
	for (size_t i = 0; i < all && i + 1 < result->depth + (result->depth == 1); i++) {
		struct chi_position next;
		chi_learn(learner, "chistore", &at, score, result->depth - (unsigned)i,
			  result->nodes, result->pv + i, result->n_pv - i);
		chi_position_play(&at, result->pv[i], &next);
		at = next;
		/* A mate is a ply nearer. */
		score = score >= CHI_MATE_BOUND	   ? score + 1
			: score <= -CHI_MATE_BOUND ? score - 1
						   : score;
		score = -score;
	}
}

/* NULL: nothing is to be learned of this search, which did not look at all moves. */
static struct chi_learner *learner_of(struct chi_session *session)
{
	return session->limits.n_moves == 0 ? chi_lookup_learner(session->lookup) : NULL;
}

/* What else it counted as a draw it does not say: one by repetition, if positions from before the
 * search may come back; one by 50 moves, if these are near. */
void chi_session_learn_heard(struct chi_session *session, const char *engine, int score,
			     unsigned depth, uint64_t nodes, const chi_move *pv, size_t n_pv)
{
	struct chi_learner *learner = learner_of(session);
	unsigned clock = chi_engine_clock(session->engine);
	bool of_game = chi_engine_repeated(session->engine) || (score == 0 && clock > 0) ||
		       clock + (depth > n_pv ? depth : n_pv) >= NO_DRAW;
	if (learner != NULL && !of_game) {
		chi_learn(learner, engine, chi_engine_position(session->engine), score, depth,
			  nodes, pv, n_pv);
	}
}

/* Also of a search that is not learned: another one may come to these positions, in another game.
 */
static void forget_draws(struct chi_session *session, const struct chi_engine_result *result)
{
	if (result->draws_of_game && session->options.learn != CHI_LEARN_OFF) {
		chi_engine_forget(session->engine);
	}
}

static void search_move(struct chi_session *session, struct chi_engine_result *result)
{
	const struct chi_engine_limits limits = limits_from_now(session);
	chi_engine_go(session->engine, &limits, print_engine_line, session, result);
	struct chi_learner *learner = learner_of(session);
	forget_draws(session, result);
	if (learner != NULL && !result->draws_of_game && result->depth > 0) {
		learn(session, learner, result);
	}
}

/* ---- Without a search ---------------------------------------------------------------------- */

static void print_eval(const struct chi_session *session, const struct chi_lookup_found *found)
{
	const struct chi_eval *eval = &found->eval;
	flockfile(stdout);
	printf("info depth %" PRIu32 " score %s %" PRId32, eval->depth,
	       eval->is_mate ? "mate" : "cp", eval->score);
	if (eval->nodes > 0) {
		printf(" nodes %" PRIu64, eval->nodes);
	}
	print_pv(session, eval->pv, eval->n_pv);
	funlockfile(stdout);
}

/* Games have no score: a short search of our own has. */
static void print_book(struct chi_session *session, chi_move move)
{
	const struct chi_engine_limits limits = {
		.depth = TOLD_PLY, .move_ms = TOLD_MS, .moves = &move, .n_moves = 1};
	struct chi_engine_result told;
	chi_engine_ask(session->engine, NULL, 1);
	chi_engine_ready(session->engine);
	chi_engine_go(session->engine, &limits, NULL, NULL, &told);
	forget_draws(session, &told);
	flockfile(stdout);
	printf("info depth %u", told.depth);
	print_score(told.score);
	printf(" nodes %" PRIu64, told.nodes);
	print_pv(session, told.pv, told.n_pv);
	funlockfile(stdout);
}

/* What may be asked, and how long: of the time for a move a half. */
static bool from_store(struct chi_session *session, struct chi_engine_result *result)
{
	const struct chi_uci_options *options = &session->options;
	const struct chi_engine_limits *limits = &session->limits;
	const struct chi_due due = chi_session_due(session);
	bool timed = due.stop != INT64_MAX;
	bool may = !session->store_failed && !limits->infinite && !limits->ponder &&
		   limits->n_moves == 0;
	bool book = may && options->book != CHI_BOOK_OFF &&
		    session->ply < (unsigned)options->book_depth;
	uint32_t depth = may ? (uint32_t)options->answer : 0;
	depth = depth > 0 && limits->depth > depth ? limits->depth : depth;
	int64_t until = timed ? due.begun + (due.stop - due.begun) / 2 : INT64_MAX;
	struct chi_lookup_found found;
	bool there = chi_lookup_wait(session->lookup, options, session->store_failed ? 0 : until);
	int rc = CHI_NONE;
	found.says[0] = '\0';
	/* That it answers is to be known before the search asks it. */
	if (book || depth > 0 || (may && timed && options->probe > 0)) {
		rc = chi_lookup_ask(session->lookup, chi_engine_position(session->engine), options,
				    book, depth, until, &found);
	}
	/* One that was stopped may be well. */
	bool failed = rc < 0 && rc != -CHI_EBUSY;
	failed = failed && !(rc == -CHI_ETIMEOUT && chi_session_stopped(session));
	session->store_failed = session->store_failed || failed;
	bool stalls = session->store_failed && timed && due.answer - chi_now_ms() < STALL_MS;
	chi_engine_ask(session->engine,
		       options->probe > 0 && there && rc != -CHI_ETIMEOUT && !stalls
			       ? chi_lookup_prober(session->lookup)
			       : NULL,
		       (int)options->probe);
	if (found.says[0] != '\0') {
		chi_session_say("%s", found.says);
	}
	if (rc != CHI_OK) {
		return false;
	}
	result->best = found.best;
	result->ponder = found.ponder;
	if (found.has_eval) {
		print_eval(session, &found);
	} else {
		print_book(session, found.best);
	}
	return true;
}

/* ---- The answer ---------------------------------------------------------------------------- */

static void answer_move(const struct chi_session *session, const struct chi_engine_result *result)
{
	const struct chi_position *position = chi_engine_position(session->engine);
	char best[CHI_MOVE_SIZE] = "0000";
	char ponder[CHI_MOVE_SIZE];
	struct chi_position next;
	if (result->best != 0) {
		print_move_for(session, position, result->best, best);
	}
	if (result->best != 0 && result->ponder != 0) {
		chi_position_play(position, result->best, &next);
		print_move_for(session, &next, result->ponder, ponder);
		printf("bestmove %s ponder %s\n", best, ponder);
	} else {
		printf("bestmove %s\n", best);
	}
	fflush(stdout);
}

/* Nothing that another engine could answer. */
static bool is_thought_over(const struct chi_session *session)
{
	struct chi_move_list list;
	chi_movegen_legal(chi_engine_position(session->engine), &list);
	return list.n == 0;
}

void chi_session_think(struct chi_session *session)
{
	struct chi_engine_result result = {0};
	bool answered = from_store(session, &result) ||
			(session->options.engine[0] != '\0' && !is_thought_over(session) &&
			 chi_relay_search(session->relay, &result));
	if (!answered) {
		search_move(session, &result);
	}
	chi_session_await_answer(session);
	answer_move(session, &result);
}
