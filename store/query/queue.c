/* SPDX-License-Identifier: MIT */
/* The queue in a snapshot. */
#include "store/queue.h"

#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/queue/queue.h"

int chi_read_queue(struct chi_read *read, enum chi_queue_state state,
		   const struct chi_queue_row *after, uint32_t limit, struct chi_arena *arena,
		   struct chi_queue_page *out)
{
	MDB_dbi tree = read->env->queue;
	struct chi_queue_totals totals;
	struct chi_queue_bytes place =
		after != NULL ? chi_queued_place(after) : chi_queued_before(state);
	*out = (struct chi_queue_page){0};
	int rc = chi_queued_totals_get(read->txn, tree, &totals);
	struct chi_queue_row *rows = chi_arena_array(arena, limit, sizeof(*rows));
	if (rc < 0 || rows == NULL) {
		return rc < 0 ? rc : -CHI_ENOMEM;
	}
	out->rows = rows;
	out->counts = totals.counts;
	while ((rc = chi_queued_next(read->txn, tree, &place, 1, &place)) == CHI_OK) {
		if (out->n == limit) {
			out->more = true;
			return CHI_OK;
		}
		rc = chi_queued_row_at(read->txn, tree, &place, arena, &rows[out->n]);
		if (rc != CHI_OK) {
			return rc;
		}
		out->n++;
	}
	return rc < 0 ? rc : CHI_OK;
}
