/* SPDX-License-Identifier: MIT */
/* The operation that a part of a batch becomes: comparisons first, then what is removed and set. */
#include <string.h>

#include "base/fault.h"
#include "client/rados/batch.h"
#include "client/rados/library.h"

/* How long an object's data become: an OSD refuses 128 MiB (osd_max_object_size). */
#define DATA_MAX ((uint64_t)96 << 20)

int chi_batch_edit(struct chi_batch *batch, const struct chi_edit *edit)
{
	if (batch->n_edits == batch->room) {
		size_t room = batch->room > 0 ? 2 * batch->room : 64;
		struct chi_edit *edits = realloc(batch->edits, room * sizeof(*edits));
		if (edits == NULL) {
			return -CHI_ENOMEM;
		}
		batch->edits = edits;
		batch->room = room;
	}
	batch->edits[batch->n_edits++] = *edit;
	batch->bytes += edit->key.len + edit->old_len + edit->len;
	return batch->bytes <= CHI_PART_BYTES ? CHI_OK : -CHI_ETOOBIG;
}

struct lists {
	const char **keys;
	const char **values;
	size_t *key_lens;
	size_t *lens;
};

/* The edits that set, or those that remove. */
static size_t list_edits(const struct chi_batch *batch, int what, struct lists *lists)
{
	size_t n = 0;
	for (size_t i = 0; i < batch->n_edits; i++) {
		const struct chi_edit *edit = &batch->edits[i];
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
static int64_t growth(const struct chi_batch *batch)
{
	int64_t sum = 0;
	for (size_t i = 0; i < batch->n_edits; i++) {
		const struct chi_edit *edit = &batch->edits[i];
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
static void lengthen(const struct chi_batch *batch, uint64_t size, struct chi_object_op *op)
{
	int64_t bytes = growth(batch);
	if (bytes > 0 && size < DATA_MAX) {
		chi_librados.write_op_truncate(op->write,
					       size + 1 + (uint64_t)bytes / CHI_SHARD_UNIT);
	}
}

/* librados copies what it is given. */
int chi_batch_build(const struct chi_batch *batch, uint64_t size, struct chi_object_op *op)
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
		const struct chi_edit *edit = &batch->edits[i];
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
