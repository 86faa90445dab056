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

/* Positions that are computed again together. */
#define TOGETHER 4096
#define TRIES	 64

/* ---- Base rates -------------------------------------------------------------------------- */

struct stamping {
	struct chi_counts *bases; /* of each shard, as they were */
	bool again;		  /* another one changed a stamp at the same time */
};

static int take_base(struct chi_rados *rados, void *context, uint32_t shard,
		     struct chi_object_op *op)
{
	struct stamping *stamping = context;
	return chi_object_stamp(rados, op, &stamping->bases[shard]);
}

static int ask_new_stamp(struct chi_rados *rados, void *context, uint32_t shard,
			 struct chi_object_op *op)
{
	const struct stamping *stamping = context;
	struct chi_rados_head head = rados->head;
	uint8_t stamp[CHI_STAMP_SIZE];
	if (chi_object_change(op) < 0) {
		return -CHI_ENOMEM;
	}
	head.base = stamping->bases[shard];
	chi_shard_stamp(&head, stamp);
	chi_object_compare(op, &chi_stamp_key, stamp, sizeof(stamp));
	chi_shard_stamp(&rados->head, stamp);
	chi_object_set(op, &chi_stamp_key, stamp, sizeof(stamp));
	return CHI_OK;
}

static int take_new_stamp(struct chi_rados *rados, void *context, uint32_t shard,
			  struct chi_object_op *op)
{
	struct stamping *stamping = context;
	(void)shard;
	stamping->again = stamping->again || op->rc == -ECANCELED;
	return op->rc < 0 && op->rc != -ECANCELED ? chi_object_fault(rados, op) : CHI_OK;
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
	uint32_t n = rados->head.shards;
	struct stamping stamping = {.bases = calloc(n, sizeof(*stamping.bases)), .again = true};
	int status = stamping.bases != NULL ? CHI_OK : -CHI_ENOMEM;
	while (status == CHI_OK && stamping.again) {
		stamping.again = false;
		status = chi_shards_run(rados, n, chi_shard_ask_stamp, take_base, &stamping);
		status = status == CHI_OK ? chi_shards_run(rados, n, ask_new_stamp, take_new_stamp,
							   &stamping)
					  : status;
	}
	free(stamping.bases);
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

/* ---- Statistics -------------------------------------------------------------------------- */

struct rescoring {
	struct chi_rados *rados;
	struct chi_counts sum; /* of all positions */
	struct chi_key *keys;  /* that are computed again together */
	size_t n;
	uint64_t changed;
};

static int add_counts(void *context, const struct chi_walk_entry *entry)
{
	struct rescoring *rescoring = context;
	struct chi_key key;
	uint16_t chi2;
	struct chi_counts counts = {0};
	size_t len = 0;
	int status = chi_omap_position(entry->key, entry->key_len, &chi2, &key);
	if (status < 0) {
		return status;
	}
	const uint8_t *record = chi_omap_record(&key, entry->value, entry->len, &len);
	if (record == NULL || chi_record_peek(record, len, &chi2, &counts) < 0) {
		return chi_rados_damaged(rescoring->rados, &key);
	}
	return chi_counts_add(&rescoring->sum, &counts) ? CHI_OK : -CHI_ETOOBIG;
}

/* The base rates that are given, or of the games that are counted, or of all positions. */
static int set_base(struct rescoring *rescoring, const struct chi_counts *given)
{
	struct chi_rados *rados = rescoring->rados;
	struct chi_shard_client sum;
	struct chi_counts base;
	uint64_t total = 0;
	int status = CHI_OK;
	if (!chi_statistic_has_base(rados->head.statistic)) {
		return CHI_OK;
	}
	if (given == NULL) {
		status = chi_rados_sum(rados, &sum);
		base = chi_shard_games(&sum);
		given = &base;
	}
	if (status == CHI_OK && given == &base &&
	    (!chi_counts_total(&base, &total) || total == 0)) {
		status = chi_walk_tree(rados, CHI_OMAP_POSITION, add_counts, rescoring);
		base = rescoring->sum;
	}
	if (status == CHI_OK && !chi_counts_total(given, &total)) {
		status = -CHI_EINVAL;
	}
	status = status == CHI_OK ? chi_rados_refresh(rados) : status;
	status = status == CHI_OK ? set_head(rados, given) : status;
	return status == CHI_OK ? chi_rados_set_stamps(rados) : status;
}

static int rescore_some(struct rescoring *rescoring)
{
	struct chi_put_result did = {0};
	int status = chi_rados_rescore_keys(rescoring->rados, rescoring->keys, rescoring->n, &did);
	rescoring->n = 0;
	rescoring->changed += did.updated;
	return status;
}

static int take_key(void *context, const struct chi_walk_entry *entry)
{
	struct rescoring *rescoring = context;
	uint16_t chi2;
	int status = chi_omap_position(entry->key, entry->key_len, &chi2,
				       &rescoring->keys[rescoring->n]);
	rescoring->n += status == CHI_OK;
	return rescoring->n == TOGETHER ? rescore_some(rescoring) : status;
}

int chi_rados_rescore(struct chi_rados *rados, const struct chi_counts *base, uint64_t *changed)
{
	_cleanup_(chi_freep) struct chi_key *keys = calloc(TOGETHER, sizeof(*keys));
	struct rescoring rescoring = {.rados = rados, .keys = keys};
	if (rados->head.statistic == CHI_STATISTIC_EXTERNAL) {
		return chi_fail(rados->fault, -CHI_EUNSUPPORTED,
				"an external statistic cannot be computed");
	}
	int status = keys != NULL ? set_base(&rescoring, base) : -CHI_ENOMEM;
	status = status == CHI_OK ? chi_walk_tree(rados, CHI_OMAP_POSITION, take_key, &rescoring)
				  : status;
	status = status == CHI_OK ? rescore_some(&rescoring) : status;
	*changed += rescoring.changed;
	return status;
}
