/* SPDX-License-Identifier: MIT */
#include "daemon/write/follow.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "daemon/net/net.h"
#include "daemon/net/server.h"
#include "service/moves.h"
#include "store/store.h"

static void close_copy(struct chi_served_copy *copy)
{
	chi_dir_close(copy->store);
	free(copy);
}

/* Those that were served before, if their last request has ended. */
static void close_left(struct chi_served *served)
{
	struct chi_served_copy **link = &served->copy->older;
	while (*link != NULL) {
		struct chi_served_copy *copy = *link;
		if (atomic_load(&copy->uses) > 0) {
			link = &copy->older;
			continue;
		}
		*link = copy->older;
		close_copy(copy);
	}
}

/* A copy that cannot be read is not moved to. */
static int describe_copy(struct chi_dir *store, struct chi_moves_copy *out)
{
	struct chi_read *read = NULL;
	memcpy(out->store, chi_dir_uuid(store), sizeof(out->store));
	int status = chi_read_begin(store, &read);
	if (status == CHI_OK) {
		out->sequence = chi_read_sequence(read);
		chi_read_end(read);
	}
	return status;
}

/* Takes the store in every case. */
static int move_to(struct chi_served *served, struct chi_dir *store)
{
	struct chi_server *server = served->server;
	struct chi_worker_barrier barrier;
	struct chi_served_copy *old = served->copy;
	struct chi_moves_copy was = {.sequence = 0};
	struct chi_moves_copy is = {.sequence = 0};
	struct chi_served_copy *copy = calloc(1, sizeof(*copy));
	int status = copy == NULL ? -CHI_ENOMEM : describe_copy(store, &is);
	if (status < 0) {
		free(copy);
		chi_dir_close(store);
		return status;
	}
	(void)describe_copy(old->store, &was);
	copy->store = store;
	copy->older = old;
	copy->number = old->number + 1;
	pthread_mutex_lock(&server->compact_lock);
	chi_worker_barrier_close(&barrier, server, chi_worker_change_copy, true);
	served->copy = copy;
	/* What failed was under the one before. */
	atomic_store(&served->disk_failed, false);
	chi_worker_barrier_open(&barrier);
	pthread_mutex_unlock(&server->compact_lock);
	atomic_fetch_add(&served->moves.count, 1);
	atomic_store(&served->moves.last_s, (uint64_t)time(NULL));
	chi_moves_log(chi_dir_path(store), &was, &is);
	return CHI_OK;
}

void chi_follow_look(struct chi_served *served, bool again)
{
	const struct chi_config *config = served->server->config;
	const struct chi_dir_options options = {.mode = CHI_STORE_READ,
						.map_bytes = config->map_bytes};
	struct chi_dir *store = NULL;
	struct chi_fault cause = {{0}};
	if (!config->read_only) {
		return;
	}
	int replaced = atomic_load(&served->replaced);
	int status = chi_dir_follow(served->copy->store, &options, &store, &cause);
	/* Where nothing is for now, one may be put. */
	bool stays = store == NULL && status != -CHI_ENOSTORE;
	if (replaced == CHI_REPLACED_LOOK) {
		atomic_store(&served->replaced, stays ? CHI_REPLACED_STAYS : CHI_REPLACED_NOT);
	}
	if (status == CHI_OK && store != NULL) {
		status = move_to(served, store);
	}
	if (status == CHI_OK) {
		served->moves.refused.text[0] = '\0';
	} else {
		if (cause.text[0] == '\0') {
			(void)chi_fault_plain(&cause, status);
		}
		chi_moves_refuse(&served->moves, chi_dir_path(served->copy->store), &cause, again);
	}
	close_left(served);
	chi_counter_add(&served->moves.looks, 1);
}

void chi_follow_end(struct chi_served *served)
{
	while (served->copy != NULL) {
		struct chi_served_copy *copy = served->copy;
		served->copy = copy->older;
		close_copy(copy);
	}
}
