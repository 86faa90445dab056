/* SPDX-License-Identifier: MIT */
/* A search by the child engine: its lines are passed on, and read as far as they are needed. */
#include "uci/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "chess/notation.h"
#include "uci/info.h"

#define LOOK_MS	 100  /* how often it is looked whether to stop */
#define STOP_MS	 2000 /* from `stop` to its answer */
#define SPARE_MS 2000 /* over its time */

/* The child's best line so far. */
struct heard {
	unsigned depth;
	int score;
	uint64_t nodes;
	chi_move pv[CHI_PLIES_MAX];
	size_t n_pv;
};

/* The score as the search has it; false: it is a mate further away than that goes. */
static bool take_score(const struct chi_uci_info *info, int *score)
{
	int most = CHI_MATE_BOUND - 1;
	int value = info->score;
	if (!info->is_mate) {
		*score = value > most ? most : value < -most ? -most : value;
		return true;
	}
	*score = value > 0 ? CHI_MATE - (2 * value - 1) : -CHI_MATE - 2 * value;
	return value > -CHI_PLIES_MAX && value < CHI_PLIES_MAX;
}

/* Bounds and lines that are not the best are only passed on. */
static void take_info(const struct chi_position *from, const char *at, struct heard *heard)
{
	struct chi_uci_info info;
	struct heard fresh = {0};
	if (!chi_uci_info_read(from, at, &info) || info.rank != 0 ||
	    !take_score(&info, &fresh.score)) {
		return;
	}
	fresh.depth = info.depth;
	fresh.nodes = info.nodes;
	fresh.n_pv = info.n_pv < CHI_PLIES_MAX ? info.n_pv : CHI_PLIES_MAX;
	memcpy(fresh.pv, info.pv, fresh.n_pv * sizeof(fresh.pv[0]));
	*heard = fresh;
}

/* "bestmove e2e4 ponder e7e5" */
static bool take_best(const struct chi_position *from, const char *at,
		      struct chi_engine_result *result)
{
	struct chi_position next;
	char text[CHI_MOVE_SIZE];
	if (!chi_uci_word(&at, text, sizeof(text)) ||
	    chi_uci_parse(from, text, strlen(text), &result->best, NULL) != CHI_OK) {
		return false;
	}
	chi_position_play(from, result->best, &next);
	if (!chi_uci_word(&at, text, sizeof(text)) || strcmp(text, "ponder") != 0 ||
	    !chi_uci_word(&at, text, sizeof(text)) ||
	    chi_uci_parse(&next, text, strlen(text), &result->ponder, NULL) != CHI_OK) {
		result->ponder = 0;
	}
	return true;
}

/* The time, by chi_now_ms, from which on it will not answer any more; INT64_MAX: it may take for
 * ever. Of the clock a tenth is left for us to find a move. */
static int64_t patience(const struct chi_session *session)
{
	const struct chi_engine_limits *limits = &session->limits;
	int64_t hit = chi_engine_hit(session->engine);
	int64_t begun = hit != 0 ? hit : limits->begun_ms;
	bool waits = limits->infinite || (limits->ponder && hit == 0);
	if (waits || (limits->move_ms == 0 && limits->clock_ms == 0)) {
		return INT64_MAX;
	}
	return begun + (limits->move_ms != 0 ? (int64_t)limits->move_ms + SPARE_MS
					     : (int64_t)limits->clock_ms * 9 / 10);
}

/* Its lines up to the answer. */
static bool listen(struct chi_session *session, struct heard *heard,
		   struct chi_engine_result *result)
{
	const struct chi_position *from = chi_engine_position(session->engine);
	int64_t stopped = 0;
	for (;;) {
		const char *line;
		int rc = chi_child_line(session->child, LOOK_MS, &line);
		stopped = stopped == 0 && atomic_load(&session->stopped) ? chi_now_ms() : stopped;
		if (rc == CHI_NONE || chi_now_ms() > patience(session) ||
		    (stopped != 0 && chi_now_ms() > stopped + STOP_MS)) {
			return false;
		}
		if (rc != CHI_OK) {
			continue;
		}
		if (strncmp(line, "info ", 5) == 0) {
			puts(line);
			fflush(stdout);
			take_info(from, line + 5, heard);
		} else if (strncmp(line, "bestmove", 8) == 0) {
			return take_best(from, line + 8, result);
		}
	}
}

/* Other threads send, too: a `stop` must neither come before `go` nor in the middle of it. */
static void send_all(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
	chi_child_send(session->child, session->position);
	chi_child_send(session->child, session->go);
	if (chi_engine_hit(session->engine) != 0) {
		chi_child_send(session->child, "ponderhit");
	}
	if (atomic_load(&session->stopped)) {
		chi_child_send(session->child, "stop");
	}
	pthread_mutex_unlock(&session->mutex);
}

bool chi_relay(struct chi_session *session, struct chi_engine_result *result)
{
	const struct chi_position *from = chi_engine_position(session->engine);
	struct heard heard = {0};
	send_all(session);
	bool answered = listen(session, &heard, result);
	if (answered && heard.n_pv > 0 && chi_session_learns(session, heard.depth)) {
		chi_learn(session->learner, from, heard.score, heard.depth, heard.nodes, heard.pv,
			  heard.n_pv);
	}
	if (!answered) {
		chi_session_say("the engine gave no legal move in time: it is started again");
		pthread_mutex_lock(&session->mutex);
		struct chi_child *child = session->child;
		session->child = NULL;
		session->started[0] = '\0';
		pthread_mutex_unlock(&session->mutex);
		chi_child_close(child);
		if (heard.n_pv > 0) {
			result->best = heard.pv[0];
			answered = true;
		}
	}
	return answered;
}
