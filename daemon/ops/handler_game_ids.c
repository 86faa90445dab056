/* SPDX-License-Identifier: MIT */
/* The games that are counted in a store, one response of them at a time. */
#include "daemon/ops/handler.h"
#include "daemon/server.h"
#include "daemon/net/worker.h"
#include "store/store.h"

/* Whoever wants more asks on behind the last id; each answer is from one snapshot. */
int chi_handle_game_ids(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	uint32_t limit = request->u.games.limit;
	size_t max = limit == 0 || limit > CHI_GAME_IDS_MAX ? CHI_GAME_IDS_MAX : limit;
	const uint8_t *after = request->u.games.after_set ? request->u.games.after : NULL;
	struct chi_read *read = NULL;
	struct chi_game_id *games = chi_arena_array(&task->worker->results, max, sizeof(*games));
	if (games == NULL) {
		return -CHI_ENOMEM;
	}
	int status = chi_worker_read(task->worker, task->served, &read);
	if (status < 0) {
		return status;
	}
	struct chi_response response = {.id = request->id, .last = true, .op = CHI_OP_GAME_IDS};
	status = chi_read_game_ids(read, after, games, max, &response.u.games.n);
	if (status < 0) {
		return status;
	}
	response.u.games.games = games;
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}
