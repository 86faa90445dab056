/* SPDX-License-Identifier: MIT */
/* What the files of this room share: the backend's calls that are not in inproc.c. */
#pragma once

#include "client/core/client.h"

/* That a search or a count may take: one for each processor that this thread may run on. */
unsigned chi_inproc_threads(void);

int chi_inproc_change_names(struct chi_client *client, const struct chi_name_change *changes,
			    size_t n, bool dry_run, chi_name_conflict *conflict, void *context,
			    struct chi_names_changed *result);
int chi_inproc_make_gameset(struct chi_client *client, const char *name, const char *filter,
			    uint64_t *games);
int chi_inproc_drop_gameset(struct chi_client *client, const char *name);
int chi_inproc_call(struct chi_client *client, const struct chi_request *request, void *out);
int chi_inproc_rows_open(struct chi_client *client, struct chi_rows *rows,
			 const struct chi_request *request);
int chi_inproc_rows_more(struct chi_client *client, struct chi_rows *rows);
void chi_inproc_rows_close(struct chi_client *client, struct chi_rows *rows);
int chi_inproc_rows_all(struct chi_client *client, struct chi_rows *rows,
			const struct chi_request *request, void *out);
int chi_inproc_search(struct chi_client *client, const struct chi_search_spec *spec,
		      struct chi_search_result *out);
int chi_inproc_queue_add(struct chi_client *client, const struct chi_key *keys, size_t n,
			 uint32_t priority, struct chi_queue_added *result);
int chi_inproc_queue_take(struct chi_client *client, const struct chi_queue_take *take,
			  struct chi_queue_lease *out);
int chi_inproc_queue_settle(struct chi_client *client, uint64_t lease, unsigned action,
			    const struct chi_key *keys, size_t n, uint32_t lease_ms,
			    uint64_t *done);
