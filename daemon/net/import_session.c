/* SPDX-License-Identifier: MIT */
#include "daemon/net/import_session.h"

#include <string.h>

bool chi_import_sessions_add(struct chi_import_sessions *all, struct chi_import_session *session,
			     uint64_t max)
{
	pthread_mutex_lock(&all->lock);
	bool room = atomic_load(&all->n) < max;
	if (room) {
		atomic_fetch_add(&all->n, 1);
		session->next = all->first;
		all->first = session;
	}
	pthread_mutex_unlock(&all->lock);
	return room;
}

void chi_import_sessions_remove(struct chi_import_sessions *all,
				const struct chi_import_session *session)
{
	pthread_mutex_lock(&all->lock);
	struct chi_import_session **at = &all->first;
	while (*at != session) {
		at = &(*at)->next;
	}
	*at = session->next;
	atomic_fetch_sub(&all->n, 1);
	pthread_mutex_unlock(&all->lock);
}

void chi_import_sessions_mark(struct chi_import_sessions *all, struct chi_import_session *session,
			      const struct chi_idempotency_key *idempotency_key)
{
	pthread_mutex_lock(&all->lock);
	session->idempotency_key = *idempotency_key;
	pthread_mutex_unlock(&all->lock);
}

bool chi_import_sessions_await(struct chi_import_sessions *all, const struct chi_served *served,
			       const struct chi_idempotency_key *idempotency_key)
{
	bool found = false;
	pthread_mutex_lock(&all->lock);
	for (const struct chi_import_session *at = all->first; at != NULL && !found;
	     at = at->next) {
		found = at->served == served &&
			at->idempotency_key.sequence == idempotency_key->sequence &&
			memcmp(at->idempotency_key.client, idempotency_key->client,
			       sizeof(idempotency_key->client)) == 0;
	}
	pthread_mutex_unlock(&all->lock);
	return found;
}
