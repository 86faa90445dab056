/* SPDX-License-Identifier: MIT */
/* The objects of a store on RADOS themselves, behind the library's back: what a killed client left,
 * or damage. A failure fails the test. */
#pragma once

#include <rados/librados.h>

#include "client/core/address.h"
#include "rados/layout.h"
#include "tests/client/world.h"

/* As world_make's address says. */
#define RAW_SHARDS 7

struct raw {
	rados_t cluster;
	rados_ioctx_t io;
	struct chi_rados_place place;
};

/* Connects; `raw` is to be closed. */
void raw_open(const struct world *world, struct raw *raw);
void raw_close(struct raw *raw);

/* Sets an entry of an object's omap; no value: removes it. */
void raw_set(struct raw *raw, const char *object, const struct chi_omap_key *key, const void *value,
	     size_t len);

/* The same of a shard; and the entries of a tree in it, up to 1,000. */
void raw_set_in(struct raw *raw, uint32_t shard, const struct chi_omap_key *key, const void *value,
		size_t len);
size_t raw_count(struct raw *raw, uint32_t shard, enum chi_omap_tree tree);
size_t raw_count_head(struct raw *raw, enum chi_omap_tree tree);

/* Removes a shard's object. */
void raw_remove_shard(struct raw *raw, uint32_t shard);

/* The identity in the first key of a tree of the head; false: there is none. */
bool raw_first_of_head(struct raw *raw, enum chi_omap_tree tree, uint8_t id[16]);

/* The text of the store's head. */
void raw_head(struct raw *raw, const char *text);
void raw_read_head(struct raw *raw, struct chi_rados_head *out);

/* The shard of a position. */
uint32_t raw_shard_of(const struct chi_key *key);
