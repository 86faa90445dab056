/* SPDX-License-Identifier: MIT */
/*
 * Changes of single entries, for a repair. Each compares what it changes with what was read: where
 * another client was faster it does nothing, which is CHI_OK; the next verification finds what is
 * left.
 */
#pragma once

#include "rados/batch.h"

struct chi_mend {
	uint64_t lost; /* positions that were removed as damaged; and of positions and games, those
			  that were counted and are not there */
};

/* The edits of a shard, in one operation. */
CHI_MUSTUSE int chi_mend_edit(struct chi_rados *rados, uint32_t shard, struct chi_omap_edit *edits,
			      size_t n);

/* Removes an entry whatever it is. */
CHI_MUSTUSE int chi_mend_remove(struct chi_rados *rados, uint32_t shard, const char *key,
				size_t key_len, const uint8_t *value, size_t len);

/* Gives every shard that has no stamp one, makes objects that are missing, and removes clients'
 * entries that are damaged. `report` is called for each; *n is how many. -CHI_ESTALE: a shard is of
 * another store. */
CHI_MUSTUSE int chi_mend_shards(struct chi_rados *rados, chi_verify_report *report, void *context,
				uint64_t *n);

/* Adds to what the clients of a shard have counted, unless its object was written since it had that
 * version. */
CHI_MUSTUSE int chi_mend_counters(struct chi_rados *rados, uint32_t shard, uint64_t version,
				  const struct chi_shard_client *missing);

/* verify.c: as chi_rados_verify; with `mend` what is complained about is mended. *games: entries of
 * games. */
CHI_MUSTUSE int chi_verify_pass(struct chi_rados *rados, struct chi_mend *mend,
				chi_verify_report *report, void *context,
				struct chi_verify_result *result, uint64_t *games);
