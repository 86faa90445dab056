/* SPDX-License-Identifier: MIT */
/* Finding a store, and the places and bytes that all connections share. */
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

int chi_server_task_begin(struct chi_server *server, struct chi_fault *fault)
{
	if (atomic_fetch_add(&server->tasks, 1) < CHI_TASKS_MAX) {
		return CHI_OK;
	}
	chi_server_task_end(server);
	return chi_fault(fault, -CHI_EBUSY, "%d backups and verifications are running already",
			 CHI_TASKS_MAX);
}

void chi_server_task_end(struct chi_server *server)
{
	atomic_fetch_sub(&server->tasks, 1);
}
