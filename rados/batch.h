/* SPDX-License-Identifier: MIT */
/*
 * A batch of changes, by shard. What a shard's part reads is guarded: the one operation that
 * changes it compares all of that first, so that it happens on exactly that state or not at all;
 * then it is read and tried again. The same operation notes the batch's number in the client's
 * entry, so that it happens once also if its answer is lost.
 */
#pragma once

#include <string.h>

#include "rados/inside.h"

/* Bytes of one operation; an OSD takes 90 MB (osd_max_write_size). */
#define CHI_PART_BYTES ((size_t)32 << 20)

struct chi_omap_edit {
	struct chi_omap_key key;
	bool guarded; /* compared with `old`, which may be empty: there is none */
	const uint8_t *old;
	size_t old_len;
	enum {
		CHI_EDIT_NONE,
		CHI_EDIT_SET,
		CHI_EDIT_REMOVE
	} what;
	const uint8_t *value;
	size_t len;
};

struct chi_batch_part;
struct chi_shard_batch;

/* Applies all items of one key, `n` of them in their order, to what is stored under it; no bytes:
 * nothing is. Records edits and counts. A refusal (-CHI_EINVAL, -CHI_ETOOBIG, -CHI_ECORRUPT) says
 * which item in *at, and why in the client's error or not at all. */
typedef int chi_batch_apply(struct chi_shard_batch *batch, const struct chi_shard_ref *items,
			    size_t n, const uint8_t *value, size_t len, size_t *at);

struct chi_shard_batch {
	struct chi_rados *rados;
	enum chi_omap_tree tree; /* of the items */
	chi_batch_apply *apply;
	const void *context;
	struct chi_shard_ref *items; /* sorted once the batch runs */
	size_t n;
	struct chi_put_result result; /* of the parts that are done */
	uint64_t before;	      /* number of the client's last write before */
	uint64_t steps;		      /* numbers that it takes: one, or CHI_JOURNAL_STEPS */
	size_t stored;		      /* parts that were written */
	/* Of the part that is applied. */
	struct chi_counts base;
	struct chi_shard_client change; /* of the counters; `last` is what the part does */
	struct chi_arena arena;
	struct chi_omap_edit *edits;
	size_t n_edits;
	size_t room;
	size_t bytes;
	/* The first item, by its index, that was refused. */
	int refused;
	size_t refused_at;
	struct chi_fault why;
};

/* What an operation brought, entry by entry in the order of the items. */
struct chi_entries {
	rados_omap_iter_t iter;
	bool more;
	struct chi_omap_entry at;
};

static inline void chi_entries_next(struct chi_entries *entries)
{
	entries->more = chi_object_next(entries->iter, &entries->at);
}

/* True if the one at hand has that key. */
static inline bool chi_entries_at(const struct chi_entries *entries, const struct chi_omap_key *key)
{
	return entries->more && entries->at.key_len == key->len &&
	       memcmp(entries->at.key, key->bytes, key->len) == 0;
}

static inline void chi_client_key(const uint8_t id[CHI_CLIENT_ID], struct chi_omap_key *out)
{
	chi_omap_key_make(CHI_OMAP_CLIENT, id, CHI_CLIENT_ID, out);
}

/* batch_write.c: edits that guard the stamp; and that add up entries of clients that are long gone,
 * of those that were listed. -CHI_ENOMEM, -CHI_ETOOBIG. */
CHI_MUSTUSE int chi_batch_guard(struct chi_shard_batch *batch);
CHI_MUSTUSE int chi_batch_fold(struct chi_shard_batch *batch, const struct chi_object_op *op);

/* Runs the batch. Nothing is stored if an item is refused when all are applied first. */
CHI_MUSTUSE int chi_batch_run(struct chi_shard_batch *batch);

/* batch_write.c: the operation of the part that was applied, on an object whose data have `size`
 * bytes. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_batch_build(const struct chi_shard_batch *batch, uint64_t size,
				struct chi_object_op *op);

/* For `apply`: edits of the part. What is guarded and set is one edit. -CHI_ENOMEM, -CHI_ETOOBIG.
 */
CHI_MUSTUSE int chi_batch_edit(struct chi_shard_batch *batch, const struct chi_omap_edit *edit);
