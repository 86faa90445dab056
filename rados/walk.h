/* SPDX-License-Identifier: MIT */
/*
 * A walk over one tree of all shards in the order of its keys: each shard's entries are listed in
 * chunks, and a heap merges them. A shard is listed from where its last chunk ended, so that a walk
 * holds nothing in the cluster; it is not of one state.
 */
#pragma once

#include "rados/inside.h"

struct chi_walk;

struct chi_walk_spec {
	enum chi_omap_tree tree;
	bool descending;
	struct chi_omap_key
		lower; /* only entries after it; the tree's byte alone: from the first */
	struct chi_omap_key upper; /* only entries before it; no bytes: to the last */
	size_t first;		   /* entries of a shard that are listed at first */
};

CHI_MUSTUSE int chi_walk_open(struct chi_rados *rados, const struct chi_walk_spec *spec,
			      struct chi_walk **out);

/* NULL is fine. */
void chi_walk_close(struct chi_walk *walk);

struct chi_walk_entry {
	const char *key;
	size_t key_len;
	const uint8_t *value;
	size_t len;
	uint32_t shard; /* that it is in */
};

/* The next entry, until the next call. CHI_NONE: there is none. */
CHI_MUSTUSE int chi_walk_next(struct chi_walk *walk, struct chi_walk_entry *out);

/* Calls `take` for each entry of a tree, upwards; what it returns but CHI_OK ends it. */
typedef int chi_walk_take(void *context, const struct chi_walk_entry *entry);
CHI_MUSTUSE int chi_walk_tree(struct chi_rados *rados, enum chi_omap_tree tree, chi_walk_take *take,
			      void *context);

/* Objects were seen to be written while they were listed. */
bool chi_walk_mixed(const struct chi_walk *walk);
