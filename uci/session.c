/* SPDX-License-Identifier: MIT */
/* The thread that reads: lines are noted, and obeyed by another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "uci/lookup.h"
#include "uci/say.h"
#include "uci/session_priv.h"

/* Of lines that wait: with more the next is not read before some are obeyed. */
#define QUEUE_BYTES (8u << 20)

/* ---- Between the threads ------------------------------------------------------------------- */

/* Under the mutex. */
static void wake(struct chi_session *session)
{
	uint64_t one = 1;
	(void)!write(session->wake, &one, sizeof(one));
	pthread_cond_broadcast(&session->changed);
}

static void lock(struct chi_session *session)
{
	pthread_mutex_lock(&session->mutex);
}

static void unlock(struct chi_session *session)
{
	pthread_mutex_unlock(&session->mutex);
}

void chi_session_stop(struct chi_session *session)
{
	lock(session);
	session->stop_go = session->n_go;
	if (session->now_go != 0) {
		chi_engine_stop(session->engine);
		chi_lookup_stop(session->lookup, true);
	}
	wake(session);
	unlock(session);
}

static void ponderhit(struct chi_session *session)
{
	lock(session);
	session->hit_go = session->n_go;
	if (session->now_go != 0) {
		chi_engine_ponderhit(session->engine);
	}
	wake(session);
	unlock(session);
}

bool chi_session_stopped(struct chi_session *session)
{
	lock(session);
	bool stopped = session->stop_go >= session->now_go;
	unlock(session);
	return stopped;
}

bool chi_session_hurries(struct chi_session *session)
{
	lock(session);
	bool hurries = session->quits;
	for (const struct chi_session_line *line = session->first; line != NULL;
	     line = line->next) {
		hurries = hurries || line->go != 0;
	}
	unlock(session);
	return hurries;
}

/* Under the mutex. */
static void begin_go(struct chi_session *session, uint64_t go)
{
	session->now_go = go;
	chi_engine_ready(session->engine);
	if (session->hit_go >= go) {
		chi_engine_ponderhit(session->engine);
	}
	if (session->stop_go >= go) {
		chi_engine_stop(session->engine);
		chi_lookup_stop(session->lookup, true);
	}
}

void chi_session_begin(struct chi_session *session)
{
	lock(session);
	session->infinite = session->limits.infinite;
	session->ponders = session->limits.ponder;
	pthread_cond_broadcast(&session->changed);
	unlock(session);
}

/* The answer may not be given yet. Under the mutex. */
static bool is_endless(const struct chi_session *session)
{
	return session->stop_go < session->now_go &&
	       (session->infinite || (session->ponders && session->hit_go < session->now_go));
}

void chi_session_await_answer(struct chi_session *session)
{
	lock(session);
	while (is_endless(session)) {
		pthread_cond_wait(&session->changed, &session->mutex);
	}
	session->now_go = 0;
	chi_lookup_stop(session->lookup, false);
	session->infinite = session->ponders = false;
	unlock(session);
}

/* ---- Lines ------------------------------------------------------------------------------------
 */

struct chi_session_line *chi_session_take(struct chi_session *session, bool *ends)
{
	lock(session);
	struct chi_session_line *line = session->first;
	if (line != NULL) {
		session->first = line->next;
		session->last = session->first == NULL ? &session->first : session->last;
		session->queued -= line->len;
	}
	if (line != NULL && line->go != 0) {
		begin_go(session, line->go);
	}
	session->busy = line != NULL;
	*ends = session->ends;
	pthread_cond_broadcast(&session->changed);
	unlock(session);
	return line;
}

static void append_line(struct chi_session *session, const char *text, bool is_go)
{
	size_t len = strlen(text) + 1;
	struct chi_session_line *line = malloc(sizeof(*line) + len);
	if (line == NULL) {
		chi_session_say("out of memory: '%.40s' is left out", text);
		return;
	}
	*line = (struct chi_session_line){.read_ms = chi_now_ms(), .len = len};
	memcpy(line->text, text, len);
	lock(session);
	while (session->queued > QUEUE_BYTES) {
		pthread_cond_wait(&session->changed, &session->mutex);
	}
	line->go = is_go ? ++session->n_go : 0;
	*session->last = line;
	session->last = &line->next;
	session->queued += len;
	wake(session);
	unlock(session);
}

/* Whether there is an answer to wait for. */
static bool searches(struct chi_session *session)
{
	lock(session);
	bool searches = session->now_go != 0;
	for (const struct chi_session_line *line = session->first; line != NULL;
	     line = line->next) {
		searches = searches || line->go != 0;
	}
	unlock(session);
	return searches;
}

/* During a search it is answered at once. */
static void ask_line(struct chi_session *session, const char *line, bool is_uci)
{
	if (!searches(session)) {
		append_line(session, line, false);
	} else if (is_uci) {
		chi_session_hello(NULL);
	} else {
		puts("readyok");
		fflush(stdout);
	}
}

/* The name of a command that ends a search before it. */
static bool is_command(const char *word)
{
	static const char *const words[] = {"position", "go", "setoption", "ucinewgame"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]) == 0) {
			return true;
		}
	}
	return false;
}

void chi_session_quit(struct chi_session *session, bool ends)
{
	chi_session_stop(session);
	lock(session);
	session->quits = true;
	session->ends = ends;
	wake(session);
	unlock(session);
}

bool chi_session_take_line(struct chi_session *session, const char *line)
{
	char *copy = strdup(line);
	char *at = copy;
	char *word = copy == NULL ? NULL : chi_next_word(&at);
	bool goes_on = true;
	if (word == NULL || strcmp(word, "register") == 0) {
		;
	} else if (strcmp(word, "quit") == 0) {
		chi_session_quit(session, false);
		goes_on = false;
	} else if (strcmp(word, "uci") == 0 || strcmp(word, "isready") == 0) {
		ask_line(session, line, word[0] == 'u');
	} else if (strcmp(word, "stop") == 0) {
		chi_session_stop(session);
	} else if (strcmp(word, "ponderhit") == 0) {
		ponderhit(session);
	} else if (strcmp(word, "debug") == 0) {
		word = chi_next_word(&at);
		atomic_store(&session->tells, word == NULL || strcmp(word, "off") != 0);
	} else if (is_command(word)) {
		chi_session_stop(session);
		append_line(session, line, strcmp(word, "go") == 0);
	} else {
		chi_session_say("no such command: '%.40s'", word);
	}
	free(copy);
	return goes_on;
}

void chi_session_wait(struct chi_session *session)
{
	lock(session);
	while ((session->first != NULL || session->busy) && !is_endless(session)) {
		pthread_cond_wait(&session->changed, &session->mutex);
	}
	unlock(session);
}
