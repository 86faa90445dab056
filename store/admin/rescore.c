/* SPDX-License-Identifier: MIT */
/*
 * Recomputing every statistic, in one transaction: a reader sees all old ones or all
 * new ones. So is the change to another statistic. The strength tree is emptied and filled again,
 * so that it is right afterwards whatever it was before.
 */
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"
#include "chess/statistic.h"
#include "base/arena.h"
#include "base/record.h"
#include "store/env/env.h"
#include "store/env/lock.h"
#include "store/lmdb_err.h"
#include "store/ratings/performance.h"
#include "store/record/codec.h"
#include "store/record/merge.h"
#include "store/store.h"
#include "store/txn/txn.h"

/* A walk over the position tree of a write transaction, which may change under it. */
struct rescore {
	struct chi_write *write;
	const struct chi_performance *performance; /* of a performance store, or NULL */
	struct chi_key key; /* where the walk is; no bytes: before the first */
	struct chi_block_entry entry;
};

/* Goes to the next entry. CHI_NONE after the last. */
static int next(struct rescore *r)
{
	const MDB_val key = chi_val(r->key.bytes, r->key.len);
	int rc = chi_tree_next(&r->write->position, r->key.len > 0 ? &key : NULL, &r->entry);
	if (rc != 0) {
		return chi_lmdb_status(rc);
	}
	r->key = (struct chi_key){.len = r->entry.key_len};
	memcpy(r->key.bytes, chi_entry_key(&r->entry, CHI_TREE_POSITION), r->key.len);
	return CHI_OK;
}

static int sum_counts(struct chi_write *write, struct chi_counts *sum)
{
	struct rescore r = {.write = write};
	int rc;
	*sum = (struct chi_counts){0};
	while ((rc = next(&r)) == CHI_OK) {
		uint16_t chi2;
		struct chi_counts counts;
		rc = chi_record_peek(r.entry.value, r.entry.len, &chi2, &counts);
		if (rc == CHI_OK && !chi_counts_add(sum, &counts)) {
			rc = -CHI_ETOOBIG;
		}
		if (rc < 0) {
			break;
		}
	}
	return rc < 0 ? rc : CHI_OK;
}

/* Stores a record whose statistic changed. */
static int replace(struct rescore *r, const struct chi_record *record,
		   const struct chi_record_rest *rest)
{
	struct chi_write *write = r->write;
	size_t len;
	int rc = chi_record_encode(record, rest, write->buffer, sizeof(write->buffer), &len);
	if (rc < 0) {
		return rc;
	}
	const MDB_val key = chi_val(r->key.bytes, r->key.len);
	const MDB_val value = {len, write->buffer};
	rc = chi_lmdb_status(chi_tree_set(&write->position, &key, &value));
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

static int perform(const struct rescore *r, const struct chi_record_rest *rest, uint16_t *chi2)
{
	return chi_lmdb_status(chi_performance_of_list(r->performance, r->write->txn,
						       r->write->env->archive.postings, &r->key,
						       rest, chi2)) == CHI_OK
		       ? CHI_OK
		       : -CHI_ECORRUPT;
}

static int rescore_one(struct rescore *r, uint64_t *changed)
{
	struct chi_write *write = r->write;
	struct chi_record record;
	struct chi_record_rest rest;
	chi_arena_reset(&write->arena);
	int rc = chi_record_decode(r->entry.value, r->entry.len, &write->arena, &record, &rest);
	uint16_t chi2 = CHI_CHI2_UNKNOWN;
	if (rc == CHI_OK) {
		rc = r->performance != NULL
			     ? perform(r, &rest, &chi2)
			     : chi_record_statistic(write->env->stamp.statistic, &write->state.base,
						    &r->key, &record, &chi2);
		rc = rc < 0 ? -CHI_ECORRUPT : CHI_OK;
	}
	if (rc == CHI_OK && chi2 != record.chi2) {
		record.chi2 = chi2;
		++*changed;
		rc = replace(r, &record, &rest);
	}
	if (rc == CHI_OK && chi2 != CHI_CHI2_UNKNOWN) {
		rc = chi_write_strength(write, &r->key, &record);
	}
	return rc;
}

static int rescore_all(struct chi_write *write, const struct chi_performance *performance,
		       uint64_t *changed)
{
	struct rescore r = {.write = write, .performance = performance};
	int rc = chi_lmdb_status(chi_tree_drop(&write->strength));
	while (rc == CHI_OK && (rc = next(&r)) == CHI_OK) {
		rc = rescore_one(&r, changed);
	}
	return rc < 0 ? rc : CHI_OK;
}

static int set_base(struct chi_write *write, const struct chi_counts *given)
{
	if (!chi_statistic_has_base(write->env->stamp.statistic)) {
		return CHI_OK;
	}
	struct chi_counts base = given != NULL ? *given : write->state.games;
	uint64_t total = 0;
	/* What was put without games has the positions' own counts alone. */
	if (given == NULL && (!chi_counts_total(&base, &total) || total == 0)) {
		int rc = sum_counts(write, &base);
		if (rc < 0) {
			return rc;
		}
	}
	return chi_write_base(write, &base);
}

/* What ratings let expect, fitted on all games. */
static int set_expectation(struct chi_write *write, struct chi_performance **out)
{
	if (write->env->stamp.statistic != CHI_STATISTIC_PERFORMANCE) {
		return CHI_OK;
	}
	int rc = chi_performance_load(write->txn, write->env->archive.columns,
				      (uint32_t)write->state.last_game, NULL, out);
	if (rc == CHI_OK) {
		write->state.expected = *chi_performance_expectation(*out);
	}
	return rc;
}

int chi_write_rescore(struct chi_write *write, const struct chi_counts *base, uint64_t *changed,
		      struct chi_fault *fault)
{
	*changed = 0;
	int rc = chi_write_ready(write);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	if (write->env->stamp.statistic == CHI_STATISTIC_EXTERNAL) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"an external statistic cannot be computed");
	}
	/* The walk sees what LMDB has. */
	rc = chi_lmdb_status(chi_tree_flush(&write->position));
	rc = rc == CHI_OK ? set_base(write, base) : rc;
	struct chi_performance *performance = NULL;
	rc = rc == CHI_OK ? set_expectation(write, &performance) : rc;
	if (rc == CHI_OK) {
		rc = rescore_all(write, performance, changed);
	}
	chi_performance_free(performance);
	write->changed = true;
	return rc < 0 ? chi_fault_plain(fault, chi_write_stick(write, rc)) : CHI_OK;
}

static int commit_or_abort(struct chi_write *write, int rc, struct chi_fault *fault)
{
	if (rc < 0) {
		chi_write_abort(write);
		return rc;
	}
	return chi_write_commit(write, fault);
}

/* The stamp, and what goes with the statistic before. An external one takes the numbers as they
 * are. */
static int set_statistic(struct chi_write *write, enum chi_statistic statistic,
			 const struct chi_counts *base, uint64_t *changed, struct chi_fault *fault)
{
	struct chi_env *env = write->env;
	int rc = chi_write_ready(write);
	rc = rc == CHI_OK ? chi_statistic_allowed(statistic, env->stamp.keep, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	env->stamp.statistic = statistic;
	write->state.expected = (struct chi_expectation){0};
	write->changed = true;
	int error = chi_stamp_put(write->txn, env->meta, &env->stamp);
	if (error != 0) {
		return chi_lmdb_write_fault(fault, error, "write to", env->path);
	}
	return statistic == CHI_STATISTIC_EXTERNAL ? CHI_OK
						   : chi_write_rescore(write, base, changed, fault);
}

int chi_dir_set_statistic(struct chi_dir *store, enum chi_statistic statistic,
			  const struct chi_counts *base, uint64_t *changed, struct chi_fault *fault)
{
	struct chi_write *write;
	struct chi_env *env = store->env;
	enum chi_statistic before = env->stamp.statistic;
	*changed = 0;
	int rc = chi_write_begin(store, &write, fault);
	if (rc < 0) {
		return rc;
	}
	/* Others would go on by the statistic that they read when they opened the store. */
	rc = chi_env_is_shared(env) ? chi_fail(fault, -CHI_EBUSY, "this process has the store open")
				    : chi_lock_alone(&env->lock, fault);
	bool is_alone = rc == CHI_OK;
	rc = is_alone ? set_statistic(write, statistic, base, changed, fault) : rc;
	rc = commit_or_abort(write, rc, fault);
	if (rc < 0) {
		env->stamp.statistic = before;
	}
	if (is_alone) {
		chi_lock_share(&env->lock);
	}
	return rc;
}
