/* SPDX-License-Identifier: MIT */
/*
 * What the files of the store share: the environment behind the handles, the pool of read
 * transactions, and the small functions they call across.
 *
 * Locks, in the order they are taken: the registry's mutex, then a chi_env's `mutex`. Neither is
 * held while an LMDB write transaction runs; `writing` keeps that place.
 */
#pragma once

#include <limits.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/attr.h"
#include "store/record/codec.h"
#include "store/pages/descent.h"
#include "store/env/lock.h"
#include "store/record/meta.h"
#include "store/store.h"

#define DATA_NAME     "data.mdb"
#define COMPACT_NAME  "data.mdb.compact"
#define LMDB_LOCK     "lock.mdb"
#define POSITION_TREE "position"
#define STRENGTH_TREE "strength"
#define META_TREE     "meta"
#define GAME_IDS_TREE "games"
#define CLIENTS_TREE  "clients"

#define DIR_MODE  0750
#define FILE_MODE 0600

/* Reset read transactions kept for reuse. Threads start looking at different slots, so that
 * each finds its own again and no cache line is fought for. */
#define POOL_SLOTS 64

struct chi_pool_slot {
	_Alignas(64) _Atomic(struct chi_read *) read;
};

/* One open directory of this process; the handles on it share it. */
struct chi_env {
	struct chi_pool_slot pool[POOL_SLOTS];
	MDB_env *mdb; /* NULL if reopening after a swap failed */
	MDB_dbi meta;
	MDB_dbi position;
	MDB_dbi strength;
	MDB_dbi games;
	MDB_dbi clients;
	bool poisoned;	  /* set in a forked child */
	uint64_t durable; /* number of an LMDB transaction known to be synced; 0: none is. The
			     writer's */
	uint64_t bias;	  /* sequence number of a snapshot = its LMDB transaction id + bias */
	struct chi_stamp stamp;
	struct chi_pages pages;	  /* changes only while no transaction is alive */
	uint64_t epoch;		  /* the same; counts how often the map may have moved */
	enum chi_store_mode mode; /* of the first opening: the most rights there are */
	bool published;		  /* nobody writes it: opened without locks */
	char *path;		  /* as first given */
	uint64_t map_bytes;
	struct chi_lock lock;
	int pin; /* the directory, open so that no other can get its inode number; or -1 */
	dev_t readers_dev; /* of lock.mdb as LMDB has it open; */
	ino_t readers_ino; /* 0: there is none, on read-only media */

	struct chi_env *next; /* registry */
	dev_t dev;
	ino_t ino;
	unsigned refs;

	pthread_mutex_t mutex; /* for all below, and for replacing `mdb` */
	pthread_cond_t idle;   /* all are woken when `writing` becomes false */
	size_t reads;	       /* read transactions alive, those in the pool included */
	bool writing;	       /* a write or a compaction has the one writer's place */
	uint64_t asked;	       /* how often that place was asked for, */
	uint64_t granted;      /* and how often it was given: in the same order */
	pthread_t writer;      /* the thread that took it */
};

struct chi_store {
	struct chi_env *env;
	enum chi_store_mode mode;
	uint32_t lock_wait_ms;
	char *path;
};

struct chi_read {
	struct chi_env *env;
	MDB_txn *txn;
	struct chi_descent descent; /* of the snapshot that its `txn` names */
};

/* Bytes of an MDB_val, and the reverse. */
static inline MDB_val chi_val(const void *bytes, size_t len)
{
	/* LMDB takes what it only reads through the same struct as what it gives. */
	union {
		const void *in;
		void *out;
	} pointer = {.in = bytes};
	return (MDB_val){.mv_size = len, .mv_data = pointer.out};
}

/* ---- read.c -----------------------------------------------------------------------------------
 */

/* True if the snapshot's position tree can be descended, in read->descent. */
bool chi_read_can_descend(struct chi_read *read);

/* LMDB's own look-up, for what descents are not sure of. CHI_NONE if there is none. */
CHI_MUSTUSE int chi_read_get(struct chi_read *read, const struct chi_key *key,
			     struct chi_found *found);

/* A thread's place to start in the pool. */
unsigned chi_pool_place(void);

/* ---- path.c: directories built beside and renamed ------------------------------------------- */

#define CHI_PATH_SIZE 4096
#define CHI_PROC_SIZE 32 /* "/proc/self/fd/N" */

/* "dir/name"; -CHI_EINVAL if it is too long. */
CHI_MUSTUSE int chi_path_join(char out[CHI_PATH_SIZE], const char *dir, const char *name);

/* A directory under a hidden name, in which a new store is built. */
struct chi_hidden {
	char dir[CHI_PROC_SIZE];   /* a path that leads to it whatever its name is */
	char name[NAME_MAX + 1];   /* in `parent`; */
	char target[NAME_MAX + 1]; /* the one it is to have */
	int lock; /* the directory, locked: until it is closed it is not taken for a leftover */
	int parent;
};

/*
 * Makes the hidden directory beside `path`, empty. What processes that were killed left behind of
 * the same name is removed first. To be ended by chi_path_publish or chi_path_remove.
 */
CHI_MUSTUSE int chi_path_begin(const char *path, struct chi_hidden *out, struct chi_fault *fault);

/* Syncs the directory, gives it its name, syncs the parent. -CHI_EEXIST if `path` holds something
 * by now. On failure `hidden` is still to be removed. */
CHI_MUSTUSE int chi_path_publish(struct chi_hidden *hidden, const char *path,
				 struct chi_fault *fault);

/* The same where a published copy may have the name: the two change names at one moment, then the
 * old one is removed; who has it open keeps it. -CHI_EEXIST if something else has the name,
 * -CHI_EUNSUPPORTED if the file system cannot do it. */
CHI_MUSTUSE int chi_path_replace(struct chi_hidden *hidden, const char *path,
				 struct chi_fault *fault);

/* Removes a store's files in `hidden`, and it; nothing if it has got its name. */
void chi_path_remove(struct chi_hidden *hidden);

/* fsync of a file or directory by name. */
CHI_MUSTUSE int chi_path_sync(const char *path);

/* Removes what a compaction that was killed left behind. The writer's lock must be ours. */
void chi_compact_sweep(const struct chi_env *env);

/* ---- filecheck.c: before LMDB maps a file -----------------------------------------------------
 */

/* CHI_OK if the data file is one that LMDB may map: its head, and that no page in use lies
 * behind the file's end. -CHI_ENOSTORE, -CHI_EVERSION, -CHI_ECORRUPT, ... */
CHI_MUSTUSE int chi_file_check(const char *dir, struct chi_fault *fault);

/* CHI_OK, or -CHI_ENETFS if `path` is on a network file system. */
CHI_MUSTUSE int chi_file_system_check(const char *path, struct chi_fault *fault);

/* ---- verify.c -----------------------------------------------------------------------------------
 */

/* chi_store_verify before work that can be repeated: -CHI_EIO, not damage, if a read failed. */
CHI_MUSTUSE int chi_verify_readable(struct chi_store *store, struct chi_verify_result *result);

/* Checks a position's key and record with all that chess knows. CHI_OK: the record is in memory of
 * `arena`, which is reset first; -CHI_ECORRUPT: *problem says what is wrong; -CHI_ENOMEM: nobody
 * knows. */
CHI_MUSTUSE int chi_record_examine(enum chi_statistic statistic, const MDB_val *key,
				   const MDB_val *value, struct chi_arena *arena,
				   struct chi_record *record, const char **problem);

/* A position key's bytes as FEN, or in hex if they are no position. Returns `out`. */
const char *chi_key_name(const uint8_t *bytes, size_t len, char out[CHI_FEN_SIZE]);

/* ---- create.c -----------------------------------------------------------------------------------
 */

/* Makes an empty store in the empty directory `dir`, synced. */
CHI_MUSTUSE int chi_store_make(const char *dir, enum chi_statistic statistic,
			       struct chi_fault *fault);

/* ---- env.c --------------------------------------------------------------------------------------
 */

/* Opens LMDB on a directory with our settings and the trees, checks the stamp: `flags` are 0,
 * MDB_RDONLY, or with MDB_NOLOCK beside it where nobody can be writing. */
struct chi_trees {
	MDB_env *mdb;
	MDB_dbi meta;
	MDB_dbi position;
	MDB_dbi strength;
	MDB_dbi games;
	MDB_dbi clients;
	struct chi_stamp stamp;
	uint64_t bias;
	struct chi_pages pages;
};
CHI_MUSTUSE int chi_trees_open(const char *dir, unsigned flags, uint64_t map_bytes,
			       struct chi_trees *out, struct chi_fault *fault);

/*
 * To be called on a read transaction just begun or renewed; returns LMDB's code. LMDB reads the
 * number of the last commit, and then that commit's head page, one of two. A reader that is kept
 * from the processor in between while two commits go by finds the page overwritten by the second,
 * whose sync may not be over: it would see a state that is not committed, and then the one before
 * it. The page is still its own if no commit but the next has begun to write its head.
 *
 * A data file that is further ahead of the lock file, or behind it, is not the one that the lock
 * file was made for: ESTALE.
 */
static inline bool chi_txn_fits(MDB_env *mdb, uint64_t id)
{
	MDB_envinfo info;
	(void)mdb_env_info(mdb, &info);
	return info.me_last_txnid - id <= 1;
}

/* Renews it until it fits; ESTALE: it never will, as the lock file is of other data. */
int chi_txn_renew_settled(MDB_env *mdb, MDB_txn *txn);

static inline int chi_txn_settle(MDB_env *mdb, MDB_txn *txn)
{
	return CHI_LIKELY(chi_txn_fits(mdb, mdb_txn_id(txn))) ? 0 : chi_txn_renew_settled(mdb, txn);
}

/* LMDB alone, without trees. */
CHI_MUSTUSE int chi_trees_start(const char *dir, unsigned flags, uint64_t map_bytes, MDB_env **out,
				struct chi_fault *fault);

/* The comparator of the strength tree, for mdb_set_compare. */
int chi_trees_compare(const MDB_val *a, const MDB_val *b);

/* Sets the comparators of both trees in a transaction that has just opened them; LMDB's code. */
int chi_trees_order(MDB_txn *txn, MDB_dbi position, MDB_dbi strength);

/* Makes the trees and both meta records in an empty environment; LMDB's code. */
int chi_trees_make(MDB_txn *txn, const struct chi_stamp *stamp, struct chi_trees *out);

/* CHI_OK if a store could be made at `path`: nothing is there, or an empty directory. */
CHI_MUSTUSE int chi_place_check(const char *path, struct chi_fault *fault);

/* The map's size that the options or the environment ask for. */
CHI_MUSTUSE int chi_map_bytes(uint64_t wanted, uint64_t *out, struct chi_fault *fault);

/*
 * With env->mutex held: ends all pooled transactions. -CHI_EBUSY if others are alive.
 */
int chi_env_drain(struct chi_env *env);

/* With env->mutex held and the pool drained: closes LMDB and opens it anew. */
CHI_MUSTUSE int chi_env_restart(struct chi_env *env, struct chi_fault *fault);

/*
 * With env->mutex held, after an LMDB call failed with `rc`: mends what can be mended, so that
 * CHI_OK means "try again". MDB_MAP_RESIZED: another process grew the map, its size is taken over.
 * MDB_PANIC: a sync failed, LMDB is opened anew. Refused while transactions are alive, and to a
 * reader while a thread of this process writes.
 */
CHI_MUSTUSE int chi_env_mend(struct chi_env *env, int rc, bool writer);

/* Takes and gives back the one writer's place: threads of this process wait, then the lock file
 * is locked unless the process holds it anyway. */
CHI_MUSTUSE int chi_env_claim(struct chi_store *store, struct chi_fault *fault);
void chi_env_release(struct chi_env *env);

/* True if the calling thread has the writer's place. */
bool chi_env_writes(struct chi_env *env);

/* ---- file_identity.c ----------------------------------------------------------------------------
 */

/* Remembers which lock.mdb LMDB has opened just now. */
void chi_files_note(struct chi_env *env);

/* -CHI_ESTALE: one of the store's files was removed or replaced since it was opened. The
 * environment must be open, and stay so: its mutex held, or a transaction of it alive. */
CHI_MUSTUSE int chi_files_check(const struct chi_env *env, struct chi_fault *fault);

/* -CHI_ESTALE: one of them has several names. */
CHI_MUSTUSE int chi_links_check(const struct chi_env *env, struct chi_fault *fault);

/* ---- publish.c ----------------------------------------------------------------------------------
 */

/* True if the files of `dir` are as those of a published copy: data that nobody may write, no lock
 * file. Whoever writes a store has made a lock file before. */
bool chi_published_looks(const char *dir);

/* CHI_OK if `dir` is a published copy, by its files and its stamp; -CHI_EEXIST if it is not. */
CHI_MUSTUSE int chi_published_check(const char *dir, struct chi_fault *fault);

/* At opening: CHI_OK, `env` is a published copy and open; CHI_NONE, it is not, and locks are
 * needed. -CHI_EREADONLY: it is one, and was to be written. */
CHI_MUSTUSE int chi_published_open(struct chi_env *env, struct chi_fault *fault);

/* -CHI_EREADONLY, in words. */
CHI_MUSTUSE int chi_published_refuse(const char *path, struct chi_fault *fault);

/* Makes a published copy of the copy in the hidden directory. */
CHI_MUSTUSE int chi_published_make(const struct chi_hidden *hidden, struct chi_fault *fault);

/* Makes it a store again. */
CHI_MUSTUSE int chi_published_unmake(const char *dir, struct chi_fault *fault);

/* ---- games.c ------------------------------------------------------------------------------------
 */

/* The game of that id, or CHI_NONE. */
CHI_MUSTUSE int chi_game_ids_find(MDB_txn *txn, MDB_dbi games, const uint8_t id[CHI_GAME_ID_SIZE],
				  struct chi_game_id *out);

/* ---- once.c: what chi_write_note has noted
 * -------------------------------------------------------
 */

void chi_idempotency_free(struct chi_write *write);

/* What was noted so far stays, or what was noted since the last time is forgotten. */
void chi_idempotency_settle(struct chi_write *write);
void chi_idempotency_rollback(struct chi_write *write);

/* For a new store that takes the place of another one: after the commit, whose number will be
 * over `sequence`, no client is believed that knew the other one, if that was not further. Readers
 * must not see the commit through this environment: it has to be closed. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_idempotency_restart(struct chi_write *write, uint64_t sequence);

/* Puts it into the tree, before the commit. Returns LMDB's code. */
CHI_MUSTUSE int chi_idempotency_store(struct chi_write *write);

/* ---- registry.c
 * ---------------------------------------------------------------------------------- */

void chi_registry_lock(void);
void chi_registry_unlock(void);
/* With the registry locked. */
struct chi_env *chi_registry_find(dev_t dev, ino_t ino);
CHI_MUSTUSE int chi_registry_add(struct chi_env *env);
void chi_registry_remove(struct chi_env *env);

/* ---- write.c, undo.c, purge.c, merge.c, subtract.c
 * ------------------------------------------------------------------------------ */

struct chi_savepoint;
struct chi_idempotency_book;

struct chi_write {
	struct chi_env *env;
	MDB_txn *txn;
	struct chi_state state; /* as it will be committed, but for the sequence number */
	int rc;			/* the first failure; sticky */
	int broken;		/* the failure that left the trees half changed, or CHI_OK */
	struct chi_fault why;	/* of the put that was refused, or empty */
	bool changed;
	struct chi_arena arena; /* reset for each put */
	bool has_savepoint;	/* changes are copied to `undo` first, from the last mark on */
	bool changed_at_savepoint;
	struct chi_state state_at_savepoint;
	struct chi_savepoint *savepoint; /* newest first */
	struct chi_arena savepoint_arena;
	struct chi_idempotency_book *idempotency_key; /* NULL: no write is marked */
	uint8_t buffer[CHI_RECORD_BYTES_MAX];
};

/* Applies `put` to what was stored (zeroed if nothing was); memory from `arena`. -CHI_ETOOBIG,
 * -CHI_EINVAL (the fault says what cannot be subtracted), -CHI_ENOMEM, -CHI_EKEY. Behind
 * CHI_PUT_SUBTRACT the caller removes a position of which nothing is left, chi_record_bare. */
CHI_MUSTUSE int chi_merge(const struct chi_record *stored, bool was_stored,
			  const struct chi_put *put, enum chi_statistic statistic,
			  const struct chi_counts *base, struct chi_arena *arena,
			  struct chi_record *out, struct chi_fault *fault);

/* Takes the counts, moves and plies of `less` out of `out`, whose lists are replaced by others in
 * memory of `arena`. -CHI_EINVAL if they are not all there: `out` is then of no use. */
CHI_MUSTUSE int chi_subtract(const struct chi_record *less, struct chi_arena *arena,
			     struct chi_record *out, struct chi_fault *fault);

/* True if nothing is known of a position but what is computed from it alone. */
bool chi_record_bare(const struct chi_record *record, const struct chi_record_rest *rest,
		     enum chi_statistic statistic);

/* Keeps the first failure, and returns `rc`. LMDB's codes come through chi_lmdb_status before. */
int chi_write_stick(struct chi_write *write, int rc);

/* The failure that stuck, or that this is a child. */
CHI_MUSTUSE int chi_write_ready(const struct chi_write *write);

/* Begins and ends a write transaction whose place the caller has claimed already. */
CHI_MUSTUSE int chi_write_open(struct chi_env *env, struct chi_write **out,
			       struct chi_fault *fault);

/* Puts the strength entry of a record with a known statistic. */
CHI_MUSTUSE int chi_write_strength(struct chi_write *write, const struct chi_key *key,
				   const struct chi_record *record);

/* Puts into and deletes from one of the two trees, so that chi_write_rollback can take it back.
 * CHI_NONE if there was nothing to delete. */
CHI_MUSTUSE int chi_write_set(struct chi_write *write, MDB_dbi tree, MDB_val *key, MDB_val *value);
CHI_MUSTUSE int chi_write_unset(struct chi_write *write, MDB_dbi tree, MDB_val *key);

/* Takes a record that does not decode out of both trees. */
CHI_MUSTUSE int chi_write_purge(struct chi_write *write, const struct chi_key *key);

/* Looks up 1 to CHI_DESCENT_LANES keys of valid length together: each is THERE or NONE. The
 * failure is one of LMDB's. Not for a child after fork. */
CHI_MUSTUSE int chi_read_find(struct chi_read *read, const struct chi_key *keys, size_t n,
			      struct chi_found *found);

/* True in a child of the process that opened the environment. */
static inline bool chi_env_forked(const struct chi_env *env)
{
	return CHI_UNLIKELY(env->poisoned);
}
