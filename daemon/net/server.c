/* SPDX-License-Identifier: MIT */
/* Finding a store, and what all connections share: places, bytes, and the list of imports. */
#include "daemon/net/server.h"

#include <string.h>

#include "base/fault.h"

struct chi_served *chi_server_find(struct chi_server *server, const char *name, size_t len)
{
	if (len == 0) {
		name = "default";
		len = strlen(name);
	}
	for (size_t i = 0; i < server->n_stores; i++) {
		if (strlen(server->stores[i].name) == len &&
		    memcmp(server->stores[i].name, name, len) == 0) {
			return &server->stores[i];
		}
	}
	return NULL;
}

bool chi_server_is_full(const struct chi_server *server)
{
	return atomic_load_explicit(&server->buffered, memory_order_relaxed) >
	       server->config->limits.buffer_bytes;
}

int chi_server_task_begin(struct chi_server *server, size_t most, struct chi_fault *fault)
{
	if (atomic_fetch_add(&server->tasks, 1) < most) {
		return CHI_OK;
	}
	chi_server_task_end(server);
	return chi_fail(fault, -CHI_EBUSY,
			"%zu backups, verifications, compactions and searches for suspects, "
			"twins and insight are running already",
			most);
}

void chi_server_task_end(struct chi_server *server)
{
	atomic_fetch_sub(&server->tasks, 1);
}

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
