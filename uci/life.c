/* SPDX-License-Identifier: MIT */
/* Beginning and end of a session, and the thread that obeys its lines. */
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fault.h"
#include "chess/key.h"
#include "uci/lookup.h"
#include "uci/relay.h"
#include "uci/say.h"
#include "uci/session_priv.h"

static void *work(void *argument)
{
	struct chi_session *session = argument;
	bool ends = false;
	for (;;) {
		struct chi_session_line *line = chi_session_take(session, &ends);
		if (line == NULL && ends) {
			return NULL;
		}
		if (line == NULL) {
			chi_relay_turn(session->relay, INT64_MAX);
			continue;
		}
		chi_session_obey(session, line);
		free(line);
	}
}

/* In the learner's thread. */
static void learned(void *context, const struct chi_key *key, unsigned depth)
{
	struct chi_session *session = context;
	char fen[CHI_FEN_SIZE];
	if (atomic_load(&session->tells) && chi_key_to_fen(key, fen, NULL) == CHI_OK) {
		chi_session_say("learned: depth %u of %s", depth, fen);
	}
}

static int begin_session(struct chi_session *session, const char *store, const char *engine,
			 struct chi_fault *fault)
{
	char start[] = "startpos";
	chi_uci_options_init(&session->options);
	session->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	session->engine = chi_engine_new((size_t)session->options.hash);
	session->position = strdup("position startpos");
	if (session->wake < 0 || session->engine == NULL || session->position == NULL ||
	    chi_relay_new(session, session->wake, &session->relay) != CHI_OK ||
	    chi_lookup_new(learned, session, &session->lookup) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_parse_position(session, start, fault);
	if (rc == CHI_OK && store != NULL) {
		rc = chi_uci_options_set(&session->options, "Store", store, fault);
	}
	if (rc == CHI_OK && engine != NULL) {
		rc = chi_uci_options_set(&session->options, "Engine", engine, fault);
	}
	session->has_thread =
		rc == CHI_OK && pthread_create(&session->thread, NULL, work, session) == 0;
	return rc != CHI_OK || session->has_thread
		       ? rc
		       : chi_fail(fault, -CHI_ENOMEM, "cannot start a thread");
}

int chi_session_new(const char *store, const char *engine, struct chi_session **out,
		    struct chi_fault *fault)
{
	struct chi_session *session = calloc(1, sizeof(*session));
	*out = NULL;
	if (session == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	pthread_mutex_init(&session->mutex, NULL);
	pthread_cond_init(&session->changed, NULL);
	session->last = &session->first;
	int rc = begin_session(session, store, engine, fault);
	if (rc != CHI_OK) {
		chi_session_free(session);
		return rc;
	}
	*out = session;
	return CHI_OK;
}

void chi_session_free(struct chi_session *session)
{
	if (session == NULL) {
		return;
	}
	if (session->has_thread) {
		chi_session_quit(session, true);
		pthread_join(session->thread, NULL);
	}
	if (session->engine != NULL) {
		chi_engine_ask(session->engine, NULL, 1);
	}
	chi_lookup_free(session->lookup);
	chi_relay_free(session->relay);
	chi_engine_free(session->engine);
	if (session->wake >= 0) {
		close(session->wake);
	}
	pthread_cond_destroy(&session->changed);
	pthread_mutex_destroy(&session->mutex);
	free(session->position);
	free(session->go);
	free(session);
}
