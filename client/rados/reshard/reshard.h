/* SPDX-License-Identifier: MIT */
/* A reshard that is under way: what its files share. */
#pragma once

#include "client/rados/rados.h"

struct chi_reshard {
	struct chi_client *client; /* works with the old shards */
	const struct chi_reshard_options *options;
	struct chi_rados_head head; /* as this client has written it last */
	int64_t next_beat;	    /* chi_now_ms */
	uint32_t before;	    /* how many shards there were */
	uint64_t done;		    /* entries copied */
	uint64_t total;		    /* as far as the counters know */
	uint64_t positions;	    /* of them */
	uint64_t writes;	    /* that all clients have made */
};

/* Now and then while it works: shows that this client is alive and still the one that does it, and
 * looks whether to give up. -CHI_ECANCELED; -CHI_EBUSY: another client has taken over. */
CHI_MUSTUSE int chi_reshard_beat(struct chi_reshard *reshard);

/* ---- shards.c: all shards of a generation ------------------------------------------------ */

/* The client's own shards take no writes from now on; chi_shards_unseal (rados.h) undoes it. */
CHI_MUSTUSE int chi_shards_seal(struct chi_reshard *reshard, uint32_t generation);

/* Makes the shards of the head's other generation, empty, or removes them. Those that are not there
 * are no failure. */
CHI_MUSTUSE int chi_shards_make(struct chi_reshard *reshard);
CHI_MUSTUSE int chi_shards_remove(struct chi_client *client, uint32_t shards, uint32_t generation);

/* ---- copy.c ------------------------------------------------------------------------------ */

/* All entries of the client's shards, which must be sealed, to those of the other generation, which
 * must be empty; and their counters. */
CHI_MUSTUSE int chi_reshard_copy(struct chi_reshard *reshard);
