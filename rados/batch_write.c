/* SPDX-License-Identifier: MIT */
/* The operation that a part of a batch becomes: comparisons first, then what is removed and set. */
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/buffer.h"
#include "rados/batch.h"
#include "rados/library.h"

/* Entries of other clients are added up if there are so many that did nothing for so long. */
#define CLIENTS_FOLDED 16
#define CLIENT_SECONDS 3600

int chi_batch_edit(struct chi_shard_batch *batch, const struct chi_omap_edit *edit)
{
	if (chi_grow(&batch->edits, &batch->room, batch->n_edits + 1, sizeof(*batch->edits)) < 0) {
		return -CHI_ENOMEM;
	}
	batch->edits[batch->n_edits++] = *edit;
	batch->bytes += edit->key.len + edit->old_len + edit->len;
	return batch->bytes <= CHI_PART_BYTES ? CHI_OK : -CHI_ETOOBIG;
}

/* ---- Beside the items -------------------------------------------------------------------- */

int chi_batch_guard(struct chi_shard_batch *batch)
{
	struct chi_rados_head head = batch->rados->head;
	uint8_t *stamp = chi_arena_alloc(&batch->arena, CHI_STAMP_SIZE);
	if (stamp == NULL) {
		return -CHI_ENOMEM;
	}
	head.base = batch->base;
	chi_shard_stamp(&head, stamp);
	const struct chi_omap_edit edit = {
		.key = chi_stamp_key, .guarded = true, .old = stamp, .old_len = CHI_STAMP_SIZE};
	return chi_batch_edit(batch, &edit);
}

/* Entries of clients that are long gone become one. */
int chi_batch_fold(struct chi_shard_batch *batch, const struct chi_object_op *op)
{
	static const uint8_t zero[CHI_CLIENT_ID];
	uint64_t now = (uint64_t)time(NULL);
	struct chi_omap_key own;
	struct chi_omap_key sum_key;
	struct chi_shard_client sum = {.sequence = 0};
	struct chi_entries entries = {.iter = op->listed};
	size_t before = batch->n_edits;
	size_t folded = 0;
	int status = CHI_OK;
	chi_client_key(batch->rados->id, &own);
	chi_client_key(zero, &sum_key);
	struct chi_omap_edit total = {.key = sum_key, .guarded = true, .what = CHI_EDIT_SET};
	for (chi_entries_next(&entries); status == CHI_OK && entries.more;
	     chi_entries_next(&entries)) {
		struct chi_shard_client one;
		struct chi_omap_edit edit = {.guarded = true,
					     .old = entries.at.value,
					     .old_len = entries.at.len,
					     .what = CHI_EDIT_REMOVE};
		bool damaged = entries.at.key_len > CHI_OMAP_KEY_MAX ||
			       chi_shard_client_decode(entries.at.value, entries.at.len, &one) < 0;
		if (damaged && chi_entries_at(&entries, &sum_key)) {
			/* Nothing can be added to it. */
			folded = 0;
			break;
		}
		if (damaged || chi_entries_at(&entries, &own)) {
			continue;
		}
		if (chi_entries_at(&entries, &sum_key)) {
			total.old = entries.at.value;
			total.old_len = entries.at.len;
			chi_shard_client_add(&one, &sum);
		} else if (one.date < now - CLIENT_SECONDS) {
			memcpy(edit.key.bytes, entries.at.key, entries.at.key_len);
			edit.key.len = entries.at.key_len;
			chi_shard_client_add(&one, &sum);
			folded++;
			status = chi_batch_edit(batch, &edit);
		}
	}
	if (status != CHI_OK || folded < CLIENTS_FOLDED) {
		batch->n_edits = before;
		return status;
	}
	uint8_t *value = chi_arena_alloc(&batch->arena, CHI_SHARD_CLIENT_SIZE);
	if (value == NULL) {
		return -CHI_ENOMEM;
	}
	chi_shard_client_encode(&sum, value);
	total.value = value;
	total.len = CHI_SHARD_CLIENT_SIZE;
	return chi_batch_edit(batch, &total);
}

/* ---- The operation ------------------------------------------------------------------------ */

struct lists {
	const char **keys;
	const char **values;
	size_t *key_lens;
	size_t *lens;
};

/* The edits that set, or those that remove. */
static size_t list_edits(const struct chi_shard_batch *batch, int what, struct lists *lists)
{
	size_t n = 0;
	for (size_t i = 0; i < batch->n_edits; i++) {
		const struct chi_omap_edit *edit = &batch->edits[i];
		if ((int)edit->what == what) {
			lists->keys[n] = edit->key.bytes;
			lists->key_lens[n] = edit->key.len;
			lists->values[n] = edit->len > 0 ? (const char *)edit->value : "";
			lists->lens[n++] = edit->len;
		}
	}
	return n;
}

/* Bytes that the trees gain. A client's own entry does not count, so that a full pool can be
 * emptied. */
static int64_t growth(const struct chi_shard_batch *batch)
{
	int64_t sum = 0;
	for (size_t i = 0; i < batch->n_edits; i++) {
		const struct chi_omap_edit *edit = &batch->edits[i];
		int64_t entry = (int64_t)(edit->key.len + edit->len);
		if (edit->key.bytes[0] == CHI_OMAP_CLIENT) {
			continue;
		}
		if (edit->what == CHI_EDIT_SET) {
			sum += edit->old_len > 0 ? (int64_t)edit->len - (int64_t)edit->old_len
						 : entry;
		} else if (edit->what == CHI_EDIT_REMOVE) {
			sum -= (int64_t)(edit->key.len + edit->old_len);
		}
	}
	return sum;
}

/*
 * An OSD does not look at omaps when it refuses what would fill it more, or a quota: only at
 * objects' data. So a shard that grows gets longer data, which take no room on a disk.
 */
static void lengthen(const struct chi_shard_batch *batch, uint64_t size, struct chi_object_op *op)
{
	int64_t bytes = growth(batch);
	if (bytes > 0 && size < CHI_SHARD_DATA_MAX) {
		chi_librados.write_op_truncate(op->write,
					       size + 1 + (uint64_t)bytes / CHI_SHARD_UNIT);
	}
}

/* librados copies what it is given. */
int chi_batch_build(const struct chi_shard_batch *batch, uint64_t size, struct chi_object_op *op)
{
	size_t n = batch->n_edits;
	_cleanup_(chi_freep) const char **keys = calloc(n, sizeof(*keys));
	_cleanup_(chi_freep) const char **values = calloc(n, sizeof(*values));
	_cleanup_(chi_freep) size_t *key_lens = calloc(n, sizeof(*key_lens));
	_cleanup_(chi_freep) size_t *lens = calloc(n, sizeof(*lens));
	struct lists lists = {keys, values, key_lens, lens};
	op->write = chi_librados.create_write_op();
	if (keys == NULL || values == NULL || key_lens == NULL || lens == NULL ||
	    op->write == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct chi_omap_edit *edit = &batch->edits[i];
		if (edit->guarded) {
			chi_librados.write_op_omap_cmp2(
				op->write, edit->key.bytes, LIBRADOS_CMPXATTR_OP_EQ,
				edit->old_len > 0 ? (const char *)edit->old : "", edit->key.len,
				edit->old_len, NULL);
		}
	}
	size_t removed = list_edits(batch, CHI_EDIT_REMOVE, &lists);
	if (removed > 0) {
		chi_librados.write_op_omap_rm_keys2(op->write, keys, key_lens, removed);
	}
	size_t set = list_edits(batch, CHI_EDIT_SET, &lists);
	chi_librados.write_op_omap_set2(op->write, keys, values, key_lens, lens, set);
	lengthen(batch, size, op);
	return CHI_OK;
}
