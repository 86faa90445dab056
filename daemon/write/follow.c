/* SPDX-License-Identifier: MIT */
#include "daemon/write/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/statistic.h"
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
	out->statistic = chi_statistic_name((int)chi_dir_statistic(store));
	out->games = chi_dir_keep(store) == CHI_KEEP_GAMES;
	int status = chi_read_begin(store, &read);
	if (status == CHI_OK) {
		out->sequence = chi_read_sequence(read);
		chi_read_end(read);
	}
	return status;
}

/* False if the server stops meanwhile, after which workers may not be waited for. */
static bool put_in_place(struct chi_served *served, struct chi_served_copy *copy)
{
	struct chi_server *server = served->server;
	struct chi_worker_barrier barrier;
	pthread_mutex_lock(&server->compact_lock);
	bool stays = chi_moves_ends(&served->moves);
	if (!stays) {
		chi_worker_barrier_close(&barrier, server, chi_worker_change_copy, true);
		served->copy = copy;
		/* What failed was under the one before. */
		atomic_store(&served->disk_failed, false);
		chi_worker_barrier_open(&barrier);
	}
	pthread_mutex_unlock(&server->compact_lock);
	return !stays;
}

/* Takes the store in every case. */
static int move_to(struct chi_served *served, struct chi_dir *store)
{
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
	*copy = (struct chi_served_copy){.store = store, .number = old->number + 1, .older = old};
	if (!put_in_place(served, copy)) {
		close_copy(copy);
		return CHI_NONE;
	}
	atomic_fetch_add(&served->moves.count, 1);
	chi_moves_done(&served->moves, &was, &is);
	return CHI_OK;
}

static int look_at_path(void *context, struct chi_fault *cause)
{
	struct chi_served *served = context;
	const struct chi_dir_options options = {.mode = CHI_STORE_READ,
						.map_bytes = served->server->config->map_bytes};
	struct chi_dir *store = NULL;
	int status = chi_dir_follow(served->copy->store, &options, &store, cause);
	if (chi_moves_ends(&served->moves)) {
		/* A look that has hung until now: nothing of the server may be used. */
		chi_dir_close(store);
		return CHI_NONE;
	}
	if (status == CHI_OK) {
		status = store == NULL ? CHI_NONE : move_to(served, store);
	}
	close_left(served);
	return status;
}

int chi_follow_start(struct chi_served *served, struct chi_fault *fault)
{
	const struct chi_config *config = served->server->config;
	return config->read_only
		       ? chi_moves_start(&served->moves, config->stores[served->index].path,
					 look_at_path, served, fault)
		       : CHI_OK;
}

struct chi_served_copy *chi_follow_keep(struct chi_served *served, bool waits)
{
	struct chi_server *server = served->server;
	bool moves = server->config->read_only;
	if (moves && waits) {
		pthread_mutex_lock(&server->compact_lock);
	} else if (moves && pthread_mutex_trylock(&server->compact_lock) != 0) {
		return NULL;
	}
	struct chi_served_copy *copy = chi_served_copy_keep(served->copy);
	if (moves) {
		pthread_mutex_unlock(&server->compact_lock);
	}
	return copy;
}

void chi_follow_end(struct chi_served *served)
{
	if (!chi_moves_join(&served->moves)) {
		return;
	}
	while (served->copy != NULL) {
		struct chi_served_copy *copy = served->copy;
		served->copy = copy->older;
		close_copy(copy);
	}
}
