/* SPDX-License-Identifier: MIT */
/*
 * The one write transaction. Every put and delete changes both trees or neither: the first
 * failure of any step is kept, all later calls return it, and the commit aborts. A transaction that
 * changed nothing is not committed, so that a repeated import costs no sync.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "base/arena.h"
#include "base/record.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"
#include "store/record/merge.h"
#include "store/record/meta.h"
#include "store/store.h"
#include "store/txn/txn.h"

/* Decoding the stored record and merging with a put as large: both bounded by types.h. */
#define WRITE_ARENA (4u << 20)

static void free_write(struct chi_write *write)
{
	chi_arena_deinit(&write->arena);
	chi_arena_deinit(&write->savepoint_arena);
	chi_idempotency_free(write);
	chi_tree_deinit(&write->position);
	chi_tree_deinit(&write->strength);
	free(write);
}

/* Returns LMDB's code. A transaction that does not follow the last commit would overwrite it. */
static int begin_txn(struct chi_env *env, MDB_txn **txn)
{
	int rc = env->mdb != NULL ? mdb_txn_begin(env->mdb, NULL, 0, txn) : MDB_PANIC;
	if (CHI_UNLIKELY(rc != 0)) {
		(void)pthread_mutex_lock(&env->mutex);
		int mended = chi_env_mend(env, rc, true);
		(void)pthread_mutex_unlock(&env->mutex);
		rc = mended == CHI_OK ? mdb_txn_begin(env->mdb, NULL, 0, txn) : rc;
	}
	if (CHI_UNLIKELY(rc == 0 && !chi_txn_fits(env->mdb, mdb_txn_id(*txn) - 1))) {
		mdb_txn_abort(*txn);
		rc = ESTALE;
	}
	return rc;
}

/* Whose place the caller has claimed already. */
static int open_write(struct chi_env *env, struct chi_write **out, struct chi_fault *fault)
{
	struct chi_write *write = malloc(sizeof(*write));
	if (write == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	/* Not the buffer, whose pages then cost nothing until they are used. */
	write->env = env;
	write->rc = CHI_OK;
	write->broken = CHI_OK;
	write->why.text[0] = '\0';
	write->changed = false;
	write->has_savepoint = false;
	write->savepoint = NULL;
	write->book = NULL;
	write->position = (struct chi_tree){.memory = NULL};
	write->strength = (struct chi_tree){.memory = NULL};
	chi_arena_init(&write->arena, WRITE_ARENA);
	/* Holds what a batch changes, whose size its caller bounds. */
	chi_arena_init(&write->savepoint_arena, SIZE_MAX);
	int rc = begin_txn(env, &write->txn);
	if (rc != 0) {
		free_write(write);
		return chi_lmdb_write_fault(fault, rc, "write to", env->path);
	}
	rc = chi_state_get(write->txn, env->meta, &write->state);
	if (rc < 0) {
		mdb_txn_abort(write->txn);
		free_write(write);
		return chi_fail(fault, rc, "the store's state record is damaged");
	}
	chi_tree_init(&write->position, CHI_TREE_POSITION, write->txn, env->position,
		      &write->state.positions, &write->state.position_bytes);
	chi_tree_init(&write->strength, CHI_TREE_STRENGTH, write->txn, env->strength,
		      &write->state.known, &write->state.strength_bytes);
	write->position.most = CHI_TREE_PENDING;
	write->strength.most = CHI_TREE_PENDING;
	*out = write;
	return CHI_OK;
}

int chi_write_begin(struct chi_dir *store, struct chi_write **out, struct chi_fault *fault)
{
	int rc = chi_env_claim(store, fault);
	if (rc < 0) {
		return rc;
	}
	rc = open_write(store->env, out, fault);
	if (rc < 0) {
		chi_env_release(store->env);
	}
	return rc;
}

void chi_write_abort(struct chi_write *write)
{
	if (write == NULL) {
		return;
	}
	struct chi_env *env = write->env;
	/* In a forked child the transaction is the parent's. */
	if (!chi_env_forked(env)) {
		mdb_txn_abort(write->txn);
		chi_env_release(env);
	}
	free_write(write);
}

/*
 * For a transaction that changed nothing. The answer that all is stored already confirms the commit
 * it is stored by; if that was another process', it may have been killed before its sync. Returns
 * LMDB's code.
 */
static int vouch(struct chi_write *write)
{
	struct chi_env *env = write->env;
	uint64_t seen = mdb_txn_id(write->txn) - 1;
	int rc = env->durable == seen ? 0 : mdb_env_sync(env->mdb, 1);
	if (rc == 0) {
		env->durable = seen;
	}
	return rc;
}

/* A commit leaves pages unwritten at its end that it took and gave back, at most those that LMDB
 * lets it hold in memory. A count far beyond that is damaged. */
static bool counts_pages(const struct chi_env *env)
{
	const uint64_t held = 1 << 17;
	MDB_envinfo info;
	mdb_filehandle_t fd;
	struct stat file;
	return mdb_env_info(env->mdb, &info) != 0 || mdb_env_get_fd(env->mdb, &fd) != 0 ||
	       fstat(fd, &file) != 0 ||
	       info.me_last_pgno <= (uint64_t)file.st_size / env->pages.size + held;
}

/* The map is full: its pages may be held by a reader that died. The next transaction has them. Or
 * it only seems so, which is damage. */
static int grow_map(const struct chi_env *env, int status)
{
	int dead = 0;
	if (CHI_LIKELY(status != -CHI_EFULL)) {
		return status;
	}
	(void)mdb_reader_check(env->mdb, &dead);
	return counts_pages(env) ? status : -CHI_ECORRUPT;
}

/* Of a commit that LMDB refused, at whichever step. */
static int refused(struct chi_env *env, int error, struct chi_fault *fault)
{
	int rc = grow_map(env, chi_lmdb_write_fault(fault, error, "write to", env->path));
	chi_env_note_failure(env, rc);
	return rc;
}

int chi_write_commit(struct chi_write *write, struct chi_fault *fault)
{
	struct chi_env *env = write->env;
	int rc = chi_env_forked(env) ? -CHI_EFORK : write->rc;
	if (rc < 0) {
		chi_write_abort(write);
		return chi_fault_plain(fault, rc);
	}
	/* What goes into a file that lost its name is gone with the last close, and must not be
	 * acknowledged. */
	rc = chi_files_check(env, fault);
	if (rc < 0) {
		chi_write_abort(write);
		return rc;
	}
	if (!write->changed) {
		rc = refused(env, vouch(write), fault);
		chi_write_abort(write);
		return rc;
	}
	int error = chi_tree_flush(&write->position);
	error = error == 0 ? chi_tree_flush(&write->strength) : error;
	error = error == 0 ? chi_idempotency_store(write) : error;
	write->state.sequence++;
	if (error == 0) {
		error = chi_state_put(write->txn, env->meta, &write->state);
	}
	if (error != 0) {
		rc = refused(env, error, fault);
		chi_write_abort(write);
		return rc;
	}
	/* Commits and syncs, or aborts and reports. */
	uint64_t number = mdb_txn_id(write->txn);
	error = mdb_txn_commit(write->txn);
	env->durable = error == 0 ? number : 0;
	if (error != 0) {
		/* The meta page that LMDB put back must be on the disk before anyone writes. */
		(void)mdb_env_sync(env->mdb, 1);
	}
	rc = refused(env, error, fault);
	chi_env_release(env);
	free_write(write);
	return rc;
}

int chi_write_stick(struct chi_write *write, int rc)
{
	rc = grow_map(write->env, rc);
	if (CHI_UNLIKELY(rc == -CHI_EIO)) {
		/* LMDB writes pages early when a transaction has many. A disk that is only full may
		 * say the same. */
		rc = chi_lmdb_write_fault(NULL, EIO, "write to", write->env->path);
		chi_env_note_failure(write->env, rc);
	}
	if (rc < 0 && write->rc == CHI_OK) {
		write->rc = rc;
	}
	return rc;
}

int chi_write_ready(const struct chi_write *write)
{
	return chi_env_forked(write->env) ? -CHI_EFORK : write->rc;
}

static int delete_strength(struct chi_write *write, uint16_t chi2, const struct chi_key *key)
{
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	MDB_val entry = {chi_strength_key(chi2, key->bytes, key->len, bytes), bytes};
	/* A record with a statistic has an entry: else the trees disagree, as the commit will find.
	 */
	return chi_write_unset(write, write->env->strength, &entry);
}

int chi_write_strength(struct chi_write *write, const struct chi_key *key,
		       const struct chi_record *record)
{
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	uint8_t line[CHI_STRENGTH_VALUE_MAX];
	MDB_val entry = {chi_strength_key(record->chi2, key->bytes, key->len, bytes), bytes};
	MDB_val value = {chi_strength_value(record->line, record->n_line, line), line};
	return chi_write_set(write, write->env->strength, &entry, &value);
}

/* Brings the strength tree in step with a record that changes. */
static int follow(struct chi_write *write, const struct chi_key *key, const struct chi_record *old,
		  const struct chi_record *new)
{
	struct chi_strength_change change = chi_strength_changed(old, new);
	int rc = change.remove ? delete_strength(write, old->chi2, key) : CHI_OK;
	return rc == CHI_OK && change.put ? chi_write_strength(write, key, new) : rc;
}

/* The stored value and what it says; CHI_NONE if there is none. */
static int load_record(struct chi_write *write, const struct chi_key *key, struct chi_merge *m)
{
	if (!chi_key_shape_ok(key->bytes, key->len)) {
		return -CHI_EKEY;
	}
	MDB_val bytes = chi_val(key->bytes, key->len);
	int rc = chi_write_find(write, write->env->position, &bytes, &m->stored);
	if (rc != 0) {
		m->stored = (MDB_val){0};
		return chi_lmdb_status(rc);
	}
	return chi_record_decode(m->stored.mv_data, m->stored.mv_size, &write->arena, &m->old,
				 &m->rest);
}

int chi_write_merge(struct chi_write *write, const struct chi_put_entry *put, struct chi_merge *m,
		    struct chi_fault *fault)
{
	const struct chi_record_merging merging = {.statistic = write->env->stamp.statistic,
						   .base = &write->state.base,
						   .arena = &write->arena,
						   .buffer = write->buffer};
	return chi_merge_put(&merging, put, m, fault);
}

/* Both trees, to what came out of a merge. */
static int store(struct chi_write *write, const struct chi_key *key, struct chi_merge *m, bool gone)
{
	MDB_val bytes = chi_val(key->bytes, key->len);
	write->changed = true;
	int rc = follow(write, key, &m->old, &m->new);
	if (rc < 0) {
		return rc;
	}
	return gone ? chi_write_unset(write, write->env->position, &bytes)
		    : chi_write_set(write, write->env->position, &bytes, &m->value);
}

/* What comes out the same is not written, so that importing a file twice dirties no page. */
static int apply_put(struct chi_write *write, const struct chi_put_entry *put,
		     struct chi_put_result *result)
{
	struct chi_merge m = {0};
	int rc = load_record(write, &put->key, &m);
	bool was_stored = rc != CHI_NONE;
	if (rc == -CHI_ECORRUPT && (put->parts & CHI_PUT_RESTORE) != 0) {
		/* There is nothing to merge with, and nothing that is worth keeping. */
		m = (struct chi_merge){0};
		write->changed = true;
		rc = chi_write_purge(write, &put->key);
	}
	rc = rc < 0 ? rc : chi_write_merge(write, put, &m, &write->why);
	if (rc == CHI_MERGED_SAME) {
		result->unchanged++;
	}
	if (rc <= CHI_MERGED_SAME) {
		return rc;
	}
	uint64_t *count = rc == CHI_MERGED_GONE ? &result->removed
			  : was_stored		? &result->updated
						: &result->added;
	rc = store(write, &put->key, &m, rc == CHI_MERGED_GONE);
	*count += rc == CHI_OK;
	return rc;
}

int chi_write_put(struct chi_write *write, const struct chi_put_entry *put,
		  struct chi_put_result *result)
{
	int rc = chi_write_ready(write);
	if (rc < 0) {
		return rc;
	}
	chi_arena_reset(&write->arena);
	write->why.text[0] = '\0';
	return chi_write_stick(write, apply_put(write, put, result));
}

const char *chi_write_why(const struct chi_write *write)
{
	return write->why.text;
}

int chi_write_delete(struct chi_write *write, const struct chi_key *key)
{
	int rc = chi_write_ready(write);
	if (rc < 0) {
		return rc;
	}
	chi_arena_reset(&write->arena);
	struct chi_merge m = {0};
	rc = load_record(write, key, &m);
	if (rc == -CHI_ECORRUPT) {
		write->changed = true;
		rc = chi_write_purge(write, key);
	} else if (rc == CHI_OK && (m.rest.n_games > 0 || m.rest.listed > 0)) {
		return chi_fail(&write->why, -CHI_EINVAL,
				"games of the archive reached the position: take them out first");
	} else if (rc == CHI_OK) {
		rc = store(write, key, &m, true);
	}
	return chi_write_stick(write, rc);
}

int chi_write_base(struct chi_write *write, const struct chi_counts *base)
{
	int rc = chi_write_ready(write);
	if (rc < 0) {
		return rc;
	}
	uint64_t total;
	if (!chi_counts_total(base, &total)) {
		return chi_write_stick(write, -CHI_EINVAL);
	}
	write->changed = write->changed || !chi_counts_equal(&write->state.base, base);
	write->state.base = *base;
	return CHI_OK;
}
