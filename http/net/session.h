/* SPDX-License-Identifier: MIT */
/*
 * What a thread that runs handlers keeps open: a client of the store, and, once something is
 * written, one of the daemon that takes writes. Not shared between threads.
 *
 * In process all sessions have the same copy open. When another one has the directory's name a
 * thread of its own opens it, and each session goes over before its next call: a call that began
 * after an answer from the new copy is answered from that or a newer one. A session that has
 * nothing to do goes over at once, so that the old copy is closed when the last call that began on
 * it has ended.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "chistore.h"
#include "service/moves.h"

struct http_config;

/* The copy that is served, of a directory. */
struct http_place {
	const struct http_config *config;
	pthread_mutex_t lock;	   /* never held while a path is looked at */
	struct chi_client *head;   /* of the newest copy, under the lock: sessions open it again */
	struct chi_client *looker; /* the same, of the thread that looks at the address */
	struct chi_moves moves;	   /* its count under the lock, too */
	atomic_bool stale;	   /* files of a store that lives were replaced: nothing is read */
};

/* Opens it if it is a directory. */
CHI_MUSTUSE int place_open(struct http_place *place, const struct http_config *config,
			   struct chi_fault *fault);
/* After the sessions. Zeroed is fine. */
void place_close(struct http_place *place);

/* Goes over to another copy if that has the address by now: CHI_OK, and sessions are to follow;
 * CHI_NONE: there is none. The thread that looks. */
CHI_MUSTUSE int place_look(struct http_place *place, struct chi_fault *cause);

struct session {
	const struct http_config *config;
	struct http_place *place;  /* NULL: it only writes */
	struct chi_client *client; /* NULL: to be opened */
	struct chi_client *writer; /* the same */
	uint64_t moves;		   /* the place's, when the client was opened */
};

/* Nothing is open yet. */
void session_init(struct session *session, struct http_place *place);
void session_close(struct session *session);

/* Whether it is on the place's copy. */
static inline bool session_is_current(const struct session *session)
{
	return session->client != NULL &&
	       session->moves == atomic_load(&session->place->moves.count);
}

/* Before a call: opens the store, or the copy that is served now. */
CHI_MUSTUSE int session_ready(struct session *session, struct chi_fault *fault);

/* The client that writes; -CHI_EREADONLY: the server was not given one. */
CHI_MUSTUSE int session_writer(struct session *session, struct chi_client **out,
			       struct chi_fault *fault);
