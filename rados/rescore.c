/* SPDX-License-Identifier: MIT */
/*
 * Base rates, and statistics computed again. The shards' stamps have the base rates, and every
 * write is guarded by its shard's stamp: what is written after they changed is computed with the
 * new ones, and what was written before is computed again here.
 */
#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "base/record.h"
#include "chess/statistic.h"
#include "rados/batch.h"
#include "rados/library.h"
#include "rados/walk.h"
#include "store/record/merge.h"

/* Positions that are computed again together, and shards whose stamps change together. */
#define TOGETHER     4096
#define ROUND_SHARDS 512
#define TRIES	     64

/* ---- Base rates -------------------------------------------------------------------------- */

static int stamp_op(struct chi_rados *rados, uint32_t shard, const uint8_t *old, const uint8_t *new,
		    struct chi_object_op *op)
{
	const char *key = chi_stamp_key.bytes;
	const char *value = (const char *)new;
	size_t len = CHI_STAMP_SIZE;
	op->write = chi_librados.create_write_op();
	if (op->write == NULL) {
		return -CHI_ENOMEM;
	}
	chi_object_of_shard(rados, shard, op);
	chi_librados.write_op_omap_cmp2(op->write, key, LIBRADOS_CMPXATTR_OP_EQ, (const char *)old,
					chi_stamp_key.len, len, NULL);
	chi_librados.write_op_omap_set2(op->write, &key, &value, &chi_stamp_key.len, &len, 1);
	return CHI_OK;
}

/* One round over `n` shards from `first` on. *again: another one changed a stamp at the same time.
 */
static int set_stamps(struct chi_rados *rados, uint32_t first, uint32_t n,
		      struct chi_object_op *ops, bool *again)
{
	struct chi_rados_head head = rados->head;
	uint8_t new[CHI_STAMP_SIZE];
	struct chi_counts bases[ROUND_SHARDS];
	int status = CHI_OK;
	chi_shard_stamp(&head, new);
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		chi_object_of_shard(rados, first + i, &ops[i]);
		status = chi_object_get(&ops[i], &chi_stamp_key, 1);
	}
	status = status == CHI_OK ? chi_objects_run(rados, ops, n) : status;
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		status = chi_object_stamp(rados, &ops[i], &bases[i]);
	}
	chi_objects_end(ops, n);
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		uint8_t old[CHI_STAMP_SIZE];
		head.base = bases[i];
		chi_shard_stamp(&head, old);
		status = stamp_op(rados, first + i, old, new, &ops[i]);
	}
	status = status == CHI_OK ? chi_objects_run(rados, ops, n) : status;
	*again = false;
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		*again = *again || ops[i].rc == -ECANCELED;
		status = ops[i].rc < 0 && ops[i].rc != -ECANCELED ? chi_object_fault(rados, &ops[i])
								  : CHI_OK;
	}
	chi_objects_end(ops, n);
	return status;
}

static int set_head(struct chi_rados *rados, const struct chi_counts *base)
{
	struct chi_rados_head head;
	uint64_t version = 0;
	int status = -CHI_EBUSY;
	for (unsigned tries = 0; status == -CHI_EBUSY && tries < TRIES; tries++) {
		rados->fault->text[0] = '\0';
		status = chi_rados_read_head(rados, &head, &version);
		if (status == CHI_OK) {
			head.base = *base;
			status = chi_rados_write_head(rados, &head, version);
		}
	}
	if (status == CHI_OK) {
		rados->head.base = *base;
	}
	return status;
}

static int set_all_stamps(struct chi_rados *rados)
{
	int status = CHI_OK;
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(ROUND_SHARDS, sizeof(*ops));
	if (ops == NULL) {
		return -CHI_ENOMEM;
	}
	uint32_t shards = rados->head.shards;
	for (uint32_t at = 0; status == CHI_OK && at < shards; at += ROUND_SHARDS) {
		uint32_t n = shards - at < ROUND_SHARDS ? shards - at : ROUND_SHARDS;
		bool again = true;
		while (status == CHI_OK && again) {
			status = set_stamps(rados, at, n, ops, &again);
		}
	}
	chi_shard_stamp(&rados->head, rados->stamp);
	return status;
}

/* Another client may change the head's base rates and the stamps at the same time: the one
 * that wrote a stamp last looks at the head after that. */
int chi_rados_set_stamps(struct chi_rados *rados)
{
	struct chi_counts *base = &rados->head.base;
	struct chi_rados_head now;
	bool again = true;
	int status = CHI_OK;
	while (status == CHI_OK && again) {
		status = set_all_stamps(rados);
		status = status == CHI_OK ? chi_rados_read_head(rados, &now, NULL) : status;
		again = status == CHI_OK && !chi_counts_equal(base, &now.base);
		*base = again ? now.base : *base;
	}
	return status;
}

int chi_rados_put_base(struct chi_rados *rados, const struct chi_counts *base)
{
	uint64_t total;
	if (!chi_counts_total(base, &total)) {
		return -CHI_EINVAL;
	}
	int status = chi_rados_refresh(rados);
	status = status == CHI_OK ? set_head(rados, base) : status;
	return status == CHI_OK ? chi_rados_set_stamps(rados) : status;
}

/* ---- Statistics -------------------------------------------------------------------------- */

static int sum_counts(struct chi_rados *rados, struct chi_counts *sum)
{
	struct chi_walk *walk = NULL;
	struct chi_walk_spec spec = {.tree = CHI_OMAP_POSITION, .first = TOGETHER};
	chi_omap_key(CHI_OMAP_POSITION, NULL, 0, &spec.lower);
	int status = chi_walk_open(rados, &spec, &walk);
	*sum = (struct chi_counts){0};
	while (status == CHI_OK) {
		struct chi_walk_entry entry;
		struct chi_key key;
		uint16_t chi2;
		struct chi_counts counts = {0};
		size_t len = 0;
		status = chi_walk_next(walk, &entry);
		if (status != CHI_OK) {
			break;
		}
		status = chi_omap_position(entry.key, entry.key_len, &chi2, &key);
		if (status == CHI_OK) {
			const uint8_t *record = chi_omap_record(&key, entry.value, entry.len, &len);
			status = record != NULL ? chi_record_peek(record, len, &chi2, &counts)
						: -CHI_ECORRUPT;
			status = status < 0 ? chi_rados_damaged(rados, &key) : CHI_OK;
		}
		if (status == CHI_OK && !chi_counts_add(sum, &counts)) {
			status = -CHI_ETOOBIG;
		}
	}
	chi_walk_close(walk);
	return status == CHI_NONE ? CHI_OK : status;
}

static int set_base(struct chi_rados *rados, const struct chi_counts *given)
{
	struct chi_shard_client sum;
	struct chi_counts base = {0};
	uint64_t total = 0;
	if (!chi_statistic_has_base(rados->head.statistic)) {
		return CHI_OK;
	}
	if (given != NULL) {
		return chi_rados_put_base(rados, given);
	}
	int status = chi_rados_sum(rados, &sum);
	for (unsigned i = 0; status == CHI_OK && i < 4; i++) {
		*chi_counts_of(&base, i) = sum.games[i] > 0 ? (uint64_t)sum.games[i] : 0;
	}
	if (status == CHI_OK && (!chi_counts_total(&base, &total) || total == 0)) {
		status = sum_counts(rados, &base);
	}
	return status == CHI_OK ? chi_rados_put_base(rados, &base) : status;
}

static int rescore_some(struct chi_rados *rados, const struct chi_key *keys, size_t n,
			uint64_t *changed)
{
	struct chi_put_result did = {0};
	int status = chi_rados_rescore_keys(rados, keys, n, &did);
	*changed += did.updated;
	return status;
}

int chi_rados_rescore(struct chi_rados *rados, const struct chi_counts *base, uint64_t *changed)
{
	if (rados->head.statistic == CHI_STATISTIC_EXTERNAL) {
		return chi_fault(rados->fault, -CHI_EUNSUPPORTED,
				 "an external statistic cannot be computed");
	}
	int status = set_base(rados, base);
	_cleanup_(chi_freep) struct chi_key *keys = calloc(TOGETHER, sizeof(*keys));
	struct chi_walk *walk = NULL;
	struct chi_walk_spec spec = {.tree = CHI_OMAP_POSITION, .first = TOGETHER};
	chi_omap_key(CHI_OMAP_POSITION, NULL, 0, &spec.lower);
	if (keys == NULL) {
		return -CHI_ENOMEM;
	}
	status = status == CHI_OK ? chi_walk_open(rados, &spec, &walk) : status;
	while (status == CHI_OK) {
		size_t n = 0;
		while (status == CHI_OK && n < TOGETHER) {
			struct chi_walk_entry entry;
			uint16_t chi2;
			status = chi_walk_next(walk, &entry);
			if (status == CHI_OK) {
				status = chi_omap_position(entry.key, entry.key_len, &chi2,
							   &keys[n]);
				n += status == CHI_OK;
			}
		}
		int rc = status >= 0 ? rescore_some(rados, keys, n, changed) : status;
		status = rc < 0 ? rc : status;
	}
	chi_walk_close(walk);
	return status == CHI_NONE ? CHI_OK : status;
}
