/* SPDX-License-Identifier: MIT */
/* The backend that opens a directory in this process. */
#pragma once

#include "base/attr.h"
#include "client/core/client.h"

extern const struct chi_backend chi_backend_inproc;

/* Commits what CHI_ASYNC writes left open: before reads, so that a client sees what it wrote, and
 * wherever the store is used as a whole. Does nothing mostly, so it is inlined. */
CHI_MUSTUSE int chi_inproc_commit(struct chi_client *client);

static inline int chi_inproc_settle(struct chi_client *client)
{
	return CHI_LIKELY(client->inproc.write == NULL) ? CHI_OK : chi_inproc_commit(client);
}

int chi_inproc_probe(struct chi_client *client, const struct chi_key *keys, size_t n,
		     struct chi_row *rows);
int chi_inproc_get(struct chi_client *client, const struct chi_key *key, struct chi_record *out);
int chi_inproc_get_many(struct chi_client *client, const struct chi_key *keys, size_t n,
			chi_get_each *each, void *context);
int chi_inproc_explore(struct chi_client *client, const struct chi_key *key,
		       struct chi_explore *out);
int chi_inproc_scan_open(struct chi_client *client, struct chi_iter *iter);
int chi_inproc_scan_more(struct chi_client *client, struct chi_iter *iter);
void chi_inproc_scan_close(struct chi_client *client, struct chi_iter *iter);
int chi_inproc_count(struct chi_client *client, const struct chi_scan_spec *spec, uint64_t *count,
		     bool *mixed);
int chi_inproc_put(struct chi_client *client, const struct chi_put *entries, size_t n,
		   enum chi_durability durability, struct chi_put_result *result);
int chi_inproc_put_base(struct chi_client *client, const struct chi_counts *base);
int chi_inproc_del(struct chi_client *client, const struct chi_key *keys, size_t n,
		   enum chi_durability durability, uint64_t *deleted);
int chi_inproc_get_game_ids(struct chi_client *client, const uint8_t *after,
			    struct chi_game_id *out, size_t max, size_t *n);
int chi_inproc_put_game_ids(struct chi_client *client, const struct chi_game_id *games, size_t n);
