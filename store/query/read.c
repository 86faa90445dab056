/* SPDX-License-Identifier: MIT */
/*
 * Probes. The question an engine asks millions of times must cost little more than LMDB's own
 * lookup: a read transaction comes from a pool by one atomic exchange and is renewed, which
 * makes no system call, and the record is decoded where it lies in the map. A transaction in the
 * pool is reset: it keeps its reader slot but no snapshot, so that it holds no page back.
 */
#include "store/query/read.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/evidence.h"
#include "store/block/block.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/record/codec.h"
#include "store/store.h"

/* A thread's place to start in the pool. */
static unsigned pool_place(void)
{
	static atomic_uint next;
	static _Thread_local unsigned place; /* + 1; 0: not given yet */
	if (CHI_UNLIKELY(place == 0)) {
		place = atomic_fetch_add(&next, 1) % POOL_SLOTS + 1;
	}
	return place - 1;
}

/* Begins a transaction that was not in the pool; with env->mutex held. Returns LMDB's code. */
static int begin_new(struct chi_env *env, MDB_txn **txn)
{
	int rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, txn);
	if (rc == MDB_READERS_FULL) {
		int dead = 0;
		(void)mdb_reader_check(env->mdb, &dead);
		rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, txn);
	}
	if (rc != 0 && chi_env_mend(env, rc, false) == CHI_OK) {
		rc = mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, txn);
	}
	return rc;
}

static int begin_locked(struct chi_env *env, struct chi_read **out)
{
	/* Reopening failed before; what was in its way may be gone. */
	if (env->mdb == NULL && chi_env_mend(env, MDB_PANIC, false) < 0) {
		return -CHI_EIO;
	}
	struct chi_read *read = malloc(sizeof(*read));
	if (read == NULL) {
		return -CHI_ENOMEM;
	}
	*read = (struct chi_read){.env = env};
	int rc = begin_new(env, &read->txn);
	if (rc != 0) {
		free(read);
		return chi_lmdb_status(rc);
	}
	rc = chi_lmdb_status(chi_txn_settle(env->mdb, read->txn));
	if (rc == CHI_OK) {
		/* Not for one from the pool: a probe makes no system call. */
		rc = chi_files_check(env, NULL);
	}
	if (rc < 0) {
		mdb_txn_abort(read->txn);
		free(read);
		return rc;
	}
	env->reads++;
	*out = read;
	return CHI_OK;
}

static void discard(struct chi_read *read)
{
	struct chi_env *env = read->env;
	(void)pthread_mutex_lock(&env->mutex);
	mdb_txn_abort(read->txn);
	chi_guide_release(read->descent.guide);
	env->reads--;
	(void)pthread_mutex_unlock(&env->mutex);
	free(read->seen);
	free(read);
}

/* A transaction from this thread's slot, or the next that has one. */
static struct chi_read *pop(struct chi_env *env)
{
	unsigned place = pool_place();
	for (unsigned i = 0; i < POOL_SLOTS; i++) {
		struct chi_pool_slot *slot = &env->pool[(place + i) % POOL_SLOTS];
		/* The plain look first: an exchange would take the cache line from its owner. */
		if (atomic_load_explicit(&slot->read, memory_order_relaxed) == NULL) {
			continue;
		}
		struct chi_read *read =
			atomic_exchange_explicit(&slot->read, NULL, memory_order_acquire);
		if (read != NULL) {
			return read;
		}
	}
	return NULL;
}

static bool push(struct chi_env *env, struct chi_read *read)
{
	unsigned place = pool_place();
	for (unsigned i = 0; i < POOL_SLOTS; i++) {
		struct chi_read *none = NULL;
		if (atomic_compare_exchange_strong_explicit(
			    &env->pool[(place + i) % POOL_SLOTS].read, &none, read,
			    memory_order_release, memory_order_relaxed)) {
			return true;
		}
	}
	return false;
}

int chi_read_begin(struct chi_dir *store, struct chi_read **out)
{
	struct chi_env *env = store->env;
	if (chi_env_forked(env)) {
		return -CHI_EFORK;
	}
	struct chi_read *read = pop(env);
	if (CHI_LIKELY(read != NULL)) {
		if (CHI_LIKELY(mdb_txn_renew(read->txn) == 0 &&
			       chi_txn_settle(env->mdb, read->txn) == 0)) {
			*out = read;
			return CHI_OK;
		}
		discard(read);
	}
	(void)pthread_mutex_lock(&env->mutex);
	int rc = begin_locked(env, out);
	(void)pthread_mutex_unlock(&env->mutex);
	return rc;
}

void chi_read_end(struct chi_read *read)
{
	if (read == NULL || chi_env_forked(read->env)) {
		return;
	}
	mdb_txn_reset(read->txn);
	read->evidence = NULL;
	if (!push(read->env, read)) {
		discard(read);
	}
}

int chi_read_check(const struct chi_read *read)
{
	return chi_env_forked(read->env) ? -CHI_EFORK : CHI_OK;
}

void chi_read_see(struct chi_read *read, const struct chi_evidence *evidence)
{
	read->evidence = chi_evidence_or_null(evidence);
}

uint64_t chi_read_sequence(const struct chi_read *read)
{
	/* Each of our commits adds one to LMDB's transaction number and one to the sequence
	 * number; their distance was taken when the environment was opened. */
	return mdb_txn_id(read->txn) + read->env->bias;
}

/* Keeps the descent up with the snapshot. */
static void renew_descent(struct chi_read *read)
{
	struct chi_env *env = read->env;
	uint16_t waits = read->descent.waits;
	chi_guide_release(read->descent.guide);
	chi_descent_start(env->mdb, read->txn, &env->pages, POSITION_TREE, &read->descent);
	read->descent.waits = waits;
	read->descent.guide = chi_guide_take(&env->guides, env->epoch, read->descent.txn);
	read->unguided = read->descent.guide == NULL ? chi_guide_after : 0;
}

/* What rests in the pool has the guide of the snapshot that it was used for last. A thread that
 * misses its own meanwhile takes another one, or begins one. */
static void release_idle_guides(struct chi_env *env)
{
	for (unsigned i = 0; i < POOL_SLOTS; i++) {
		struct chi_read *none = NULL;
		struct chi_read *read = NULL;
		if (atomic_load_explicit(&env->pool[i].read, memory_order_relaxed) != NULL) {
			read = atomic_exchange(&env->pool[i].read, NULL);
		}
		if (read == NULL) {
			continue;
		}
		if (read->descent.guide != atomic_load(&env->guides.newest)) {
			chi_guide_release(read->descent.guide);
			read->descent.guide = NULL;
			read->unguided = chi_guide_after;
		}
		if (!atomic_compare_exchange_strong(&env->pool[i].read, &none, read) &&
		    !push(env, read)) {
			discard(read);
		}
	}
}

/* A snapshot that has served many look-ups is likely to serve many more. */
static void count_unguided(struct chi_read *read, size_t n)
{
	struct chi_env *env = read->env;
	if (n < read->unguided) {
		read->unguided -= (uint32_t)n;
		return;
	}
	int rc = chi_guide_make(&env->guides, env->epoch, &read->descent, &read->descent.guide);
	if (rc == -CHI_ENOMEM) {
		release_idle_guides(env);
		rc = chi_guide_make(&env->guides, env->epoch, &read->descent, &read->descent.guide);
	}
	/* Another thread makes one, most likely of the same snapshot. */
	read->unguided = rc == -CHI_EBUSY ? chi_guide_after / 16 + 1 : rc < 0 ? chi_guide_after : 0;
}

/* For so many look-ups; for 0 nothing is written to a snapshot that is kept up already. */
static bool can_descend(struct chi_read *read, size_t n)
{
	if (CHI_UNLIKELY(read->descent.txn != mdb_txn_id(read->txn))) {
		renew_descent(read);
	}
	if (CHI_UNLIKELY(read->unguided != 0) && n > 0) {
		count_unguided(read, n);
	}
	return CHI_LIKELY(read->descent.usable);
}

static bool key_fits(const struct chi_key *key)
{
	return CHI_LIKELY(key->len >= CHI_KEY_MIN && key->len <= CHI_KEY_MAX);
}

static void close_cursor(MDB_cursor **cursor)
{
	if (*cursor != NULL) {
		mdb_cursor_close(*cursor);
	}
}

/* The block that is responsible for the key, by LMDB. MDB_NOTFOUND: the tree is empty. */
static int get_block(struct chi_read *read, const struct chi_key *key, MDB_val *low, MDB_val *bytes)
{
	_cleanup_(close_cursor) MDB_cursor *cursor = NULL;
	*low = chi_val(key->bytes, key->len);
	int rc = mdb_cursor_open(read->txn, read->env->position, &cursor);
	rc = rc == 0 ? mdb_cursor_get(cursor, low, bytes, MDB_SET_RANGE) : rc;
	if (rc == MDB_NOTFOUND) {
		return mdb_cursor_get(cursor, low, bytes, MDB_LAST);
	}
	if (rc == 0 && chi_position_compare(low->mv_data, low->mv_size, key->bytes, key->len) > 0) {
		rc = mdb_cursor_get(cursor, low, bytes, MDB_PREV);
		return rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
	}
	return rc;
}

/* LMDB's own look-up, for what the descents are not sure of. */
static int get_record(struct chi_read *read, const struct chi_key *key, struct chi_found *found)
{
	MDB_val low;
	MDB_val bytes;
	struct chi_block block;
	int rc = chi_lmdb_status(get_block(read, key, &low, &bytes));
	if (rc == CHI_OK) {
		rc = chi_block_open(CHI_TREE_POSITION, low.mv_data, low.mv_size, bytes.mv_data,
				    bytes.mv_size, &block);
	}
	return rc == CHI_OK
		       ? chi_block_find(&block, key->bytes, key->len, &found->value, &found->len)
		       : rc;
}

/* What a finding means, with LMDB's answer where it is not sure. */
CHI_INLINE int settle(struct chi_read *read, const struct chi_key *key, struct chi_found *found)
{
	switch (found->finding) {
	case CHI_FINDING_THERE:
		return CHI_OK;
	case CHI_FINDING_NONE:
		return CHI_NONE;
	case CHI_FINDING_DAMAGED:
		return -CHI_ECORRUPT;
	case CHI_FINDING_UNSURE:
	default:
		return get_record(read, key, found);
	}
}

/* The position's record in the map; CHI_NONE if there is none. */
static int lookup(struct chi_read *read, const struct chi_key *key, struct chi_found *found)
{
	if (chi_env_forked(read->env)) {
		return -CHI_EFORK;
	}
	if (!key_fits(key)) {
		return -CHI_EKEY;
	}
	found->finding = CHI_FINDING_UNSURE;
	if (can_descend(read, 1)) {
		chi_descent_find_one(&read->descent, key, found);
	}
	return settle(read, key, found);
}

/* Fills the row of a record that was found. A damaged record is reported, never returned. */
static int fill_row(const struct chi_read *read, const struct chi_found *found, struct chi_row *row)
{
	return chi_record_decode_strength(found->value, found->len, read->evidence, row);
}

int chi_read_row(struct chi_read *read, const struct chi_key *key, struct chi_row *row)
{
	struct chi_found found;
	*row = (struct chi_row){.key = *key};
	int rc = lookup(read, key, &found);
	return CHI_LIKELY(rc == CHI_OK) ? fill_row(read, &found, row) : rc;
}

int chi_read_find(struct chi_read *read, const struct chi_key *keys, size_t n,
		  struct chi_found *found)
{
	bool descends = can_descend(read, n);
	if (CHI_LIKELY(descends)) {
		chi_descent_find(&read->descent, keys, n, found);
	}
	for (size_t i = 0; i < n; i++) {
		int rc = descends ? settle(read, &keys[i], &found[i])
				  : get_record(read, &keys[i], &found[i]);
		if (rc < 0) {
			return rc;
		}
		found[i].finding = rc == CHI_OK ? CHI_FINDING_THERE : CHI_FINDING_NONE;
	}
	return CHI_OK;
}

/* The rows of one group of keys, all of a length that a key may have. */
static int read_group(struct chi_read *read, const struct chi_key *keys, size_t n,
		      struct chi_row *rows)
{
	struct chi_found found[CHI_DESCENT_LANES];
	int rc = CHI_OK;
	chi_descent_find(&read->descent, keys, n, found);
	for (size_t i = 0; i < n && CHI_LIKELY(rc >= 0); i++) {
		rows[i] = (struct chi_row){.key = keys[i]};
		rc = settle(read, &keys[i], &found[i]);
		if (CHI_LIKELY(rc == CHI_OK)) {
			rc = fill_row(read, &found[i], &rows[i]);
		}
	}
	return rc < 0 ? rc : CHI_OK;
}

/* How many keys from here on can be looked up in turns. */
static size_t group_of(const struct chi_read *read, const struct chi_key *keys, size_t n)
{
	size_t most = read->descent.pages.far ? CHI_DESCENT_LANES : CHI_DESCENT_NEAR;
	size_t group = 0;
	while (group < n && group < most && key_fits(&keys[group])) {
		group++;
	}
	return group;
}

int chi_read_rows(struct chi_read *read, const struct chi_key *keys, size_t n, struct chi_row *rows)
{
	bool groups = n > 1 && !chi_env_forked(read->env) && can_descend(read, n);
	while (n > 0) {
		size_t group = groups ? group_of(read, keys, n) : 0;
		/* One alone, also for the sake of its failure. */
		int rc = group > 1 ? read_group(read, keys, group, rows)
				   : chi_read_row(read, keys, rows);
		if (rc < 0) {
			return rc;
		}
		group = group > 1 ? group : 1;
		keys += group;
		rows += group;
		n -= group;
	}
	return CHI_OK;
}

bool chi_read_can_descend(struct chi_read *read, size_t n)
{
	return can_descend(read, n);
}

int chi_read_get(struct chi_read *read, const struct chi_key *key, struct chi_found *found)
{
	return get_record(read, key, found);
}

int chi_read_settle(struct chi_read *read, const struct chi_key *key, struct chi_found *found)
{
	return settle(read, key, found);
}

int chi_read_record(struct chi_read *read, const struct chi_key *key, struct chi_arena *arena,
		    struct chi_record *record)
{
	*record = (struct chi_record){0};
	struct chi_found found;
	int rc = lookup(read, key, &found);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_record_decode(found.value, found.len, arena, record, NULL);
	rc = rc == CHI_OK ? chi_evidence_apply(read->evidence, arena, record) : rc;
	if (rc < 0) {
		*record = (struct chi_record){0};
	}
	return rc;
}

/* The records of one group, as chi_read_records. */
static int read_record_group(struct chi_read *read, const struct chi_key *keys, size_t n,
			     struct chi_arena *arena, struct chi_record *records, bool *found,
			     size_t *done)
{
	struct chi_found places[CHI_DESCENT_LANES];
	*done = 0;
	int rc = chi_read_find(read, keys, n, places);
	for (size_t i = 0; i < n && rc == CHI_OK; i++) {
		const struct chi_found *place = &places[i];
		records[i] = (struct chi_record){0};
		found[i] = place->finding == CHI_FINDING_THERE;
		if (found[i]) {
			rc = chi_record_decode(place->value, place->len, arena, &records[i], NULL);
			rc = rc == CHI_OK ? chi_evidence_apply(read->evidence, arena, &records[i])
					  : rc;
		}
		*done += rc == CHI_OK;
	}
	return rc;
}

int chi_read_records(struct chi_read *read, const struct chi_key *keys, size_t n,
		     struct chi_arena *arena, struct chi_record *records, bool *found, size_t *done)
{
	*done = 0;
	if (chi_env_forked(read->env)) {
		return -CHI_EFORK;
	}
	while (*done < n) {
		size_t at = *done;
		size_t group = group_of(read, keys + at, n - at);
		size_t got = 0;
		if (group == 0) {
			return -CHI_EKEY;
		}
		int rc = read_record_group(read, keys + at, group, arena, records + at, found + at,
					   &got);
		*done += got;
		if (rc < 0) {
			return rc;
		}
	}
	return CHI_OK;
}
