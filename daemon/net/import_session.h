/* SPDX-License-Identifier: MIT */
/* The imports of a server, as workers other than their own see them. Any thread. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idempotency.h"
#include "chistore/types.h"

struct chi_served;

/* One that runs. Under the lock of the list. */
struct chi_import_session {
	struct chi_import_session *next;
	const struct chi_served *served;
	struct chi_idempotency_key idempotency_key; /* sequence 0: none, or not known yet */
};

struct chi_import_sessions {
	pthread_mutex_t lock;
	struct chi_import_session *first;
	atomic_size_t n;
};

/* False if there are `max` already. */
CHI_MUSTUSE bool chi_import_sessions_add(struct chi_import_sessions *all,
					 struct chi_import_session *session, uint64_t max);
void chi_import_sessions_remove(struct chi_import_sessions *all,
				const struct chi_import_session *session);

/* An import has all its data, and that mark. */
void chi_import_sessions_mark(struct chi_import_sessions *all, struct chi_import_session *session,
			      const struct chi_idempotency_key *idempotency_key);

/* True if the import with that mark runs: a client that asks for its outcome has to wait. */
bool chi_import_sessions_await(struct chi_import_sessions *all, const struct chi_served *served,
			       const struct chi_idempotency_key *idempotency_key);
