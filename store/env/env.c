/* SPDX-License-Identifier: MIT */
/*
 * Opening LMDB with the settings that keep the promises: a map of 1 TiB reserved once, because
 * growing it under live readers unmaps their pages; transactions not bound to threads; every
 * commit synced; no writable map, where a full disk is a SIGBUS.
 *
 * Read-ahead is left on while the file fits in memory, where it warms the cache several times
 * faster, and switched off above half of the memory, where it only drives out pages that are
 * in use (store/env/memory.h: of the machine or of the container): a tree's neighbours lie
 * scattered over the file.
 */
#include "store/env/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "store/env/lock.h"
#include "store/env/memory.h"
#include "store/env/path.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "store/store.h"

#define MAP_BYTES   (UINT64_C(1) << 40)
#define MAP_LEAST   (UINT64_C(1) << 30)
#define MAX_READERS 1024
#define MAX_TREES   16

/* What LMDB makes of its table of readers: 64 bytes each, and less than twice that in front. */
#define TABLE_BYTES ((MAX_READERS + 2) * 64)

static int compare_positions(const MDB_val *a, const MDB_val *b)
{
	return chi_position_compare(a->mv_data, a->mv_size, b->mv_data, b->mv_size);
}

int chi_trees_compare(const MDB_val *a, const MDB_val *b)
{
	return chi_strength_compare(a->mv_data, a->mv_size, b->mv_data, b->mv_size);
}

/* Whether a map of that size can be had now: there may be a limit on the address space, and some
 * kernels have 39 bits of it. Without a guarantee for the next moment. */
static bool can_map(uint64_t bytes)
{
	void *map =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) {
		return errno != ENOMEM;
	}
	(void)munmap(map, bytes);
	return true;
}

int chi_map_bytes(uint64_t wanted, uint64_t *out, struct chi_fault *fault)
{
	const char *text = getenv("CHISTORE_MAP_BYTES");
	*out = wanted != 0 ? wanted : MAP_BYTES;
	if (wanted != 0) {
		return CHI_OK;
	}
	if (text == NULL || text[0] == '\0') {
		while (*out > MAP_LEAST && !can_map(*out)) {
			*out /= 2;
		}
		return CHI_OK;
	}
	if (chi_num_size(text, strlen(text), out) < 0 || *out == 0) {
		return chi_fail(fault, -CHI_EINVAL, "CHISTORE_MAP_BYTES: '%s' is not a size", text);
	}
	return CHI_OK;
}

static void close_mdb(MDB_env **mdb)
{
	if (*mdb != NULL) {
		mdb_env_close(*mdb);
	}
}

static void abort_txn(MDB_txn **txn)
{
	if (*txn != NULL) {
		mdb_txn_abort(*txn);
	}
}

static bool larger_than_half_of_memory(const char *dir)
{
	char path[CHI_PATH_SIZE];
	struct stat st;
	return chi_path_join(path, dir, DATA_NAME) == CHI_OK && stat(path, &st) == 0 &&
	       (uint64_t)st.st_size > chi_memory_bytes() / 2;
}

/*
 * LMDB makes its table of readers a sparse file and writes to it through a map: on a disk that is
 * full that is a SIGBUS, at the first byte or when many readers come. So the blocks are had before.
 * A table that is in use keeps its size, which others have mapped, and is left as it is where
 * nothing more is to be had. LMDB has not opened the file in this process yet, else closing it
 * here would take LMDB's locks away. Returns an errno; what else fails LMDB finds by itself.
 */
static int reserve_table(const char *dir)
{
	char path[CHI_PATH_SIZE];
	struct stat st;
	if (chi_path_join(path, dir, LMDB_LOCK) < 0) {
		return ENAMETOOLONG;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	if (fd < 0) {
		return errno == ENOSPC || errno == EDQUOT ? errno : 0;
	}
	int error = fstat(fd, &st) < 0 ? errno : 0;
	if (error == 0) {
		off_t size = st.st_size > TABLE_BYTES ? st.st_size : TABLE_BYTES;
		error = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size) < 0 ? errno : 0;
		error = (error == ENOSPC || error == EDQUOT) && st.st_size == 0 ? error : 0;
	}
	(void)close(fd);
	return error;
}

int chi_trees_start_raw(const char *dir, unsigned flags, uint64_t map_bytes, MDB_env **out)
{
	_cleanup_(close_mdb) MDB_env *mdb = NULL;
	int rc = mdb_env_create(&mdb);
	if (rc == 0) {
		rc = mdb_env_set_maxreaders(mdb, MAX_READERS);
	}
	if (rc == 0) {
		rc = mdb_env_set_maxdbs(mdb, MAX_TREES);
	}
	if (rc == 0) {
		rc = mdb_env_set_mapsize(mdb, map_bytes);
	}
	if (rc == 0 && (flags & MDB_NOLOCK) == 0) {
		rc = reserve_table(dir);
	}
	if (rc == 0) {
		flags |= larger_than_half_of_memory(dir) ? MDB_NORDAHEAD : 0;
		rc = mdb_env_open(mdb, dir, flags | MDB_NOTLS, FILE_MODE);
	}
	if (rc == 0) {
		*out = mdb;
		mdb = NULL;
	}
	return rc;
}

int chi_trees_start(const char *dir, unsigned flags, uint64_t map_bytes, MDB_env **out,
		    struct chi_fault *fault)
{
	int rc = chi_trees_start_raw(dir, flags, map_bytes, out);
	return rc == 0 ? CHI_OK : chi_lmdb_fault(fault, rc, "open", dir);
}

int chi_trees_start_file(int file, unsigned flags, uint64_t map_bytes, MDB_env **out,
			 struct chi_fault *fault)
{
	char path[CHI_PROC_SIZE];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return chi_trees_start(path, flags | MDB_NOSUBDIR | MDB_NOLOCK, map_bytes, out, fault);
}

/* A store without one of its trees is damaged; without any it is another program's, distinguished
 * by the stamp before. */
static int open_tree(MDB_txn *txn, const char *name, MDB_dbi *out, struct chi_fault *fault)
{
	int rc = mdb_dbi_open(txn, name, 0, out);
	if (rc == MDB_NOTFOUND || rc == MDB_INCOMPATIBLE) {
		return chi_fail(fault, -CHI_ECORRUPT, "the store's '%s' tree is missing", name);
	}
	return chi_lmdb_fault(fault, rc, "open the tree", name);
}

int chi_trees_order(MDB_txn *txn, MDB_dbi position, MDB_dbi strength)
{
	int rc = mdb_set_compare(txn, position, compare_positions);
	return rc == 0 ? mdb_set_compare(txn, strength, chi_trees_compare) : rc;
}

static int open_archive(MDB_txn *txn, struct chi_archive_trees *archive, struct chi_fault *fault)
{
	*archive = (struct chi_archive_trees){0};
	int rc = open_tree(txn, GAMES_TREE, &archive->games, fault);
	if (rc == CHI_OK) {
		rc = open_tree(txn, COLUMNS_TREE, &archive->columns, fault);
	}
	if (rc == CHI_OK) {
		rc = open_tree(txn, NAMES_TREE, &archive->names, fault);
	}
	if (rc == CHI_OK) {
		rc = open_tree(txn, POSTINGS_TREE, &archive->postings, fault);
	}
	if (rc == CHI_OK) {
		rc = open_tree(txn, TRAITS_TREE, &archive->traits, fault);
	}
	return rc == CHI_OK ? open_tree(txn, GAMESETS_TREE, &archive->gamesets, fault) : rc;
}

static int open_trees(MDB_txn *txn, bool readonly, struct chi_trees *trees, struct chi_fault *fault)
{
	/* Without a meta tree it is someone else's LMDB file, with a broken one it is ours. */
	int rc = mdb_dbi_open(txn, META_TREE, 0, &trees->meta);
	if (rc == MDB_NOTFOUND || rc == MDB_INCOMPATIBLE) {
		return chi_fail(fault, -CHI_ENOSTORE,
				"an LMDB environment, but not a Chistore store");
	}
	rc = rc != 0 ? chi_lmdb_fault(fault, rc, "open the tree", META_TREE)
		     : chi_stamp_get(txn, trees->meta, readonly, &trees->stamp, fault);
	if (rc < 0) {
		return rc;
	}
	struct chi_store_state state;
	rc = chi_state_get(txn, trees->meta, &state);
	if (rc < 0) {
		return chi_fail(fault, rc, "the store's state record is damaged");
	}
	trees->bias = state.sequence - mdb_txn_id(txn);
	rc = open_tree(txn, POSITION_TREE, &trees->position, fault);
	if (rc == CHI_OK) {
		rc = open_tree(txn, STRENGTH_TREE, &trees->strength, fault);
	}
	if (rc == CHI_OK) {
		rc = chi_lmdb_fault(fault, chi_trees_order(txn, trees->position, trees->strength),
				    "order", "the trees");
	}
	if (rc == CHI_OK) {
		rc = open_tree(txn, GAME_IDS_TREE, &trees->ids, fault);
	}
	if (rc == CHI_OK) {
		rc = open_tree(txn, CLIENTS_TREE, &trees->clients, fault);
	}
	if (rc == CHI_OK) {
		rc = open_tree(txn, QUEUE_TREE, &trees->queue, fault);
	}
	return rc == CHI_OK ? open_archive(txn, &trees->archive, fault) : rc;
}

int chi_trees_open(const char *dir, unsigned flags, uint64_t map_bytes, struct chi_trees *out,
		   struct chi_fault *fault)
{
	_cleanup_(close_mdb) MDB_env *mdb = NULL;
	int rc = chi_trees_start(dir, flags, map_bytes, &mdb, fault);
	if (rc < 0) {
		return rc;
	}
	int dead = 0;
	(void)mdb_reader_check(mdb, &dead);
	_cleanup_(abort_txn) MDB_txn *txn = NULL;
	int error = mdb_txn_begin(mdb, NULL, MDB_RDONLY, &txn);
	if (error == 0) {
		error = chi_txn_settle(mdb, txn);
	}
	if (error != 0) {
		return chi_lmdb_fault(fault, error, "read", dir);
	}
	rc = open_trees(txn, (flags & MDB_RDONLY) != 0, out, fault);
	if (rc < 0) {
		return rc;
	}
	chi_pages_locate(mdb, txn, out->meta, out->position, &out->pages);
	/* Committing a read transaction is what keeps the handles of the trees. */
	error = mdb_txn_commit(txn);
	txn = NULL;
	if (error != 0) {
		return chi_lmdb_fault(fault, error, "read", dir);
	}
	out->mdb = mdb;
	mdb = NULL;
	return CHI_OK;
}

int chi_env_drain(struct chi_env *env)
{
	for (size_t i = 0; i < POOL_SLOTS; i++) {
		struct chi_read *read = atomic_exchange(&env->pool[i].read, NULL);
		if (read != NULL) {
			mdb_txn_abort(read->txn);
			chi_guide_release(read->descent.guide);
			free(read->seen);
			free(read);
			env->reads--;
		}
	}
	return env->reads == 0 ? CHI_OK : -CHI_EBUSY;
}

/*
 * Syncs what is visible: the data and the names that lead to it. An earlier writer may have been
 * killed before its sync, or its commit failed and LMDB restored the meta page before it. All that
 * is acknowledged from now on rests on this. A directory that
 * may not be read or that its file system cannot sync is left as it is.
 */
static int sync_all(const char *dir)
{
	char path[CHI_PATH_SIZE];
	int rc = chi_path_join(path, dir, DATA_NAME) == CHI_OK ? chi_path_sync(path) : ENAMETOOLONG;
	if (rc != 0) {
		return rc;
	}
	rc = chi_path_sync(dir);
	if (rc == 0 && chi_path_join(path, dir, "..") == CHI_OK) {
		rc = chi_path_sync(path);
	}
	return rc == EACCES || rc == EINVAL ? 0 : rc;
}

static int restart_env(struct chi_env *env, struct chi_fault *fault)
{
	if (env->mdb != NULL) {
		mdb_env_close(env->mdb);
		env->mdb = NULL;
	}
	env->epoch++;
	chi_briefs_deinit(&env->briefs);
	/* Without locks only if the store is never written. */
	unsigned flags = env->read_only != CHI_READ_ONLY_NOT ? MDB_RDONLY | MDB_NOLOCK
			 : env->mode == CHI_STORE_READ	     ? MDB_RDONLY
							     : 0;
	int error = flags != 0 ? 0 : sync_all(env->path);
	if (error != 0) {
		return chi_lmdb_fault(fault, error, "sync", env->path);
	}
	flags |= env->unnamed ? MDB_NOSUBDIR : 0;
	struct chi_trees trees;
	int rc = chi_trees_open(env->path, flags, env->map_bytes, &trees, fault);
	if (rc < 0) {
		return rc;
	}
	env->mdb = trees.mdb;
	env->meta = trees.meta;
	env->position = trees.position;
	env->strength = trees.strength;
	env->ids = trees.ids;
	env->clients = trees.clients;
	env->queue = trees.queue;
	env->archive = trees.archive;
	env->bias = trees.bias;
	env->durable = 0;
	env->pages = trees.pages;
	env->stamp = trees.stamp;
	chi_files_note(env);
	return CHI_OK;
}

int chi_env_restart(struct chi_env *env, struct chi_fault *fault)
{
	int rc = restart_env(env, fault);
	chi_env_note_failure(env, rc);
	return rc;
}

/* Takes over the size that another process gave the map, which may move it. Where there is no room
 * for it LMDB is left without any map: it is opened again, as large as at first or as the file. */
static int resize(struct chi_env *env)
{
	env->pages = (struct chi_pages){0};
	env->epoch++;
	if (mdb_env_set_mapsize(env->mdb, 0) != 0) {
		return chi_env_restart(env, NULL);
	}
	_cleanup_(abort_txn) MDB_txn *txn = NULL;
	if (mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txn) == 0 &&
	    chi_txn_settle(env->mdb, txn) == 0) {
		chi_pages_locate(env->mdb, txn, env->meta, env->position, &env->pages);
	}
	return CHI_OK;
}

int chi_env_mend(struct chi_env *env, int rc, bool writer)
{
	if ((rc != MDB_MAP_RESIZED && rc != MDB_PANIC) || (env->writing && !writer) ||
	    chi_env_drain(env) < 0) {
		return -CHI_EBUSY;
	}
	return rc == MDB_PANIC ? chi_env_restart(env, NULL) : resize(env);
}

bool chi_env_writes(struct chi_env *env)
{
	if (chi_env_forked(env)) {
		return false;
	}
	(void)pthread_mutex_lock(&env->mutex);
	bool writes = env->writing && pthread_equal(env->writer, pthread_self());
	(void)pthread_mutex_unlock(&env->mutex);
	return writes;
}

/* Waits until no thread of this process writes, and none that asked before is to write: a daemon's
 * writer, which begins again at once, would keep out all others. */
static int wait_idle(struct chi_env *env, struct chi_fault *fault)
{
	(void)pthread_mutex_lock(&env->mutex);
	if (env->writing && pthread_equal(env->writer, pthread_self())) {
		(void)pthread_mutex_unlock(&env->mutex);
		return chi_fail(fault, -CHI_EBUSY, "this thread is already writing");
	}
	uint64_t turn = env->asked++;
	while (env->writing || env->granted != turn) {
		(void)pthread_cond_wait(&env->idle, &env->mutex);
	}
	env->granted++;
	env->writing = true;
	env->writer = pthread_self();
	(void)pthread_mutex_unlock(&env->mutex);
	return CHI_OK;
}

/* First the threads of this process, then other processes: the lock file's locks belong to the
 * process as a whole and would not keep its threads apart. */
int chi_env_claim(struct chi_dir *store, struct chi_fault *fault)
{
	struct chi_env *env = store->env;
	if (chi_env_forked(env)) {
		return chi_fault_plain(fault, -CHI_EFORK);
	}
	if (store->mode == CHI_STORE_READ) {
		return chi_fail(fault, -CHI_EREADONLY, "the store was opened for reading only");
	}
	if (atomic_load(&env->writes_ended)) {
		return chi_fail(fault, -CHI_EREADONLY,
				"the disk has failed, and nothing is written any more");
	}
	int rc = wait_idle(env, fault);
	if (rc < 0) {
		return rc;
	}
	rc = chi_lock_writer(&env->lock, store->lock_wait_ms, "chistore", fault);
	if (rc < 0) {
		chi_env_release(env);
	}
	return rc;
}

/* A daemon keeps the lock between its transactions: no one shall come in between. */
void chi_env_release(struct chi_env *env)
{
	if (chi_env_forked(env)) {
		return;
	}
	if (env->mode != CHI_STORE_DAEMON) {
		chi_lock_writer_release(&env->lock);
	}
	(void)pthread_mutex_lock(&env->mutex);
	env->writing = false;
	(void)pthread_cond_broadcast(&env->idle);
	(void)pthread_mutex_unlock(&env->mutex);
}

void chi_compact_sweep(const struct chi_env *env)
{
	(void)unlinkat(env->pin, COMPACT_NAME, 0);
}
