/* SPDX-License-Identifier: MIT */
/*
 * The environment that handles share: one for each open directory of this process.
 *
 * Locks, in the order they are taken: the registry's mutex, then a chi_env's `mutex`. Neither is
 * held while an LMDB write transaction runs; `writing` keeps that place.
 */
#pragma once

#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "store/archive_trees.h"
#include "store/env/lock.h"
#include "store/record/briefs.h"
#include "store/pages/descent.h"
#include "store/pages/guide.h"
#include "store/record/meta.h"
#include "store/store.h"

struct chi_read;

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
	MDB_dbi ids;
	MDB_dbi clients;
	MDB_dbi queue;
	struct chi_archive_trees archive;
	bool poisoned;	  /* set in a forked child */
	uint64_t durable; /* number of an LMDB transaction known to be synced; 0: none is. The
			     writer's */
	uint64_t bias;	  /* sequence number of a snapshot = its LMDB transaction id + bias */
	struct chi_stamp stamp;
	struct chi_pages pages; /* changes only while no transaction is alive */
	uint64_t epoch;		/* the same; counts how often the map may have moved */
	struct chi_guides guides;
	struct chi_briefs briefs; /* forgotten when another file is opened */
	enum chi_dir_mode mode;	  /* of the first opening: the most rights there are */
	uint8_t read_only;	  /* CHI_READ_ONLY_PUBLISHED or _MEDIA: without LMDB's locks */
	bool unnamed;		  /* one file, which `pin` is: see chi_dir_open_file */
	atomic_int disk_failure;  /* status of the last write or reopening that the disk failed */
	atomic_bool writes_ended; /* no thread of this process may begin to write */
	char *path;		  /* as first given */
	uint64_t map_bytes;
	struct chi_lock lock;
	int pin; /* the directory, open so that no other can get its inode number; or -1 */
	dev_t readers_dev; /* of lock.mdb as LMDB has it open; */
	ino_t readers_ino; /* 0: there is none, on read-only media */
	off_t readers_bytes;

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

struct chi_dir {
	struct chi_env *env;
	enum chi_dir_mode mode;
	uint32_t lock_wait_ms;
	char *path;
};

/* Opens the store in that open file, which no one writes any more and which has no name: for
 * reading, without locks. The descriptor is the store's, or closed. `dir`: what its path is said to
 * be. */
CHI_MUSTUSE int chi_dir_open_file(int file, const char *dir, struct chi_dir **out,
				  struct chi_fault *fault);

/* Removes what a compaction that was killed has left. The writer's lock must be ours. */
void chi_compact_sweep(const struct chi_env *env);

/* How much a verification proves. */
enum chi_verify_depth {
	CHI_VERIFY_PAGES,   /* every number in a page that LMDB uses, and no entry */
	CHI_VERIFY_ENTRIES, /* and each entry by its checksum, its link and its neighbours; no tree
			       lacks one, and the two of positions agree */
	CHI_VERIFY_WHOLE,   /* and what entries mean: as chi_dir_verify */
};

/* chi_dir_verify to a depth, which is not CHI_VERIFY_PAGES, by up to `threads` threads, before work
 * that can be repeated: -CHI_EIO, not damage, if a read failed. */
CHI_MUSTUSE int chi_verify_readable(struct chi_dir *store, enum chi_verify_depth depth,
				    unsigned threads, struct chi_verify_result *result);

/* CHI_VERIFY_PAGES of an open data file that no one writes, before LMDB writes it: whatever is in a
 * sound one does not kill the process. -CHI_ECORRUPT, with the number of damages; -CHI_EIO and
 * -CHI_ENOMEM; or the file is none of LMDB's, -CHI_ENOSTORE or -CHI_EVERSION. */
CHI_MUSTUSE int chi_verify_pages(int file, uint64_t *errors, struct chi_fault *fault);

/* Opens LMDB on a directory with our settings and the trees, checks the stamp: `flags` are 0,
 * MDB_RDONLY, or with MDB_NOLOCK beside it where no one can be writing. */
struct chi_trees {
	MDB_env *mdb;
	MDB_dbi meta;
	MDB_dbi position;
	MDB_dbi strength;
	MDB_dbi ids;
	MDB_dbi clients;
	MDB_dbi queue;
	struct chi_archive_trees archive;
	struct chi_stamp stamp;
	uint64_t bias;
	struct chi_pages pages;
};

CHI_MUSTUSE int chi_trees_open(const char *dir, unsigned flags, uint64_t map_bytes,
			       struct chi_trees *out, struct chi_fault *fault);

/*
 * To be called on a read transaction just begun or renewed; returns LMDB's code. LMDB reads the
 * number of the last commit, and then that commit's meta page, one of two. A reader that is kept
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

/* The same in one open file without locks, which is no one else's. */
CHI_MUSTUSE int chi_trees_start_file(int file, unsigned flags, uint64_t map_bytes, MDB_env **out,
				     struct chi_fault *fault);

/* As the first; LMDB's code. */
CHI_MUSTUSE int chi_trees_start_raw(const char *dir, unsigned flags, uint64_t map_bytes,
				    MDB_env **out);

/* The comparator of the strength tree, for mdb_set_compare. */
int chi_trees_compare(const MDB_val *a, const MDB_val *b);

/* Sets the comparators of both trees in a transaction that has just opened them; LMDB's code. */
int chi_trees_order(MDB_txn *txn, MDB_dbi position, MDB_dbi strength);

/* Makes the trees and both meta records in an empty environment; LMDB's code. */
int chi_trees_make(MDB_txn *txn, const struct chi_stamp *stamp, struct chi_trees *out);

/* The map's size that the options or the environment ask for; else 1 TiB, or half of it as often as
 * need be where that much address space cannot be had, down to 1 GiB. */
CHI_MUSTUSE int chi_map_bytes(uint64_t wanted, uint64_t *out, struct chi_fault *fault);

/* True if there is more than one handle of it. */
bool chi_env_is_shared(struct chi_env *env);

/*
 * With env->mutex held: ends all pooled transactions. -CHI_EBUSY if others are alive.
 */
int chi_env_drain(struct chi_env *env);

/* With env->mutex held and the pool drained: closes LMDB and opens it again. */
CHI_MUSTUSE int chi_env_restart(struct chi_env *env, struct chi_fault *fault);

/*
 * With env->mutex held, after an LMDB call failed with `rc`: mends what can be mended, so that
 * CHI_OK means "try again". MDB_MAP_RESIZED: another process grew the map, its size is taken over.
 * MDB_PANIC: a sync failed, LMDB is opened again. Refused while transactions are alive, and to a
 * reader while a thread of this process writes.
 */
CHI_MUSTUSE int chi_env_mend(struct chi_env *env, int rc, bool writer);

/* Remembers the status of a failed commit or reopening if it is the disk's. Any thread. */
void chi_env_note_failure(struct chi_env *env, int status);

/* Takes and gives back the one writer's place: threads of this process wait, then the lock file
 * is locked unless the process holds it anyway. */
CHI_MUSTUSE int chi_env_claim(struct chi_dir *store, struct chi_fault *fault);

void chi_env_release(struct chi_env *env);

/* True if the calling thread has the writer's place. */
bool chi_env_writes(struct chi_env *env);

/* Remembers which lock.mdb LMDB has opened just now. */
void chi_files_note(struct chi_env *env);

/* -CHI_ESTALE: one of the store's files was removed, replaced or cut since it was opened. The
 * environment must be open, and stay so: its mutex held, or a transaction of it alive. */
CHI_MUSTUSE int chi_files_check(const struct chi_env *env, struct chi_fault *fault);

/* -CHI_ESTALE: one of them has several names. */
CHI_MUSTUSE int chi_links_check(const struct chi_env *env, struct chi_fault *fault);

/* True in a child of the process that opened the environment. */
static inline bool chi_env_forked(const struct chi_env *env)
{
	return CHI_UNLIKELY(env->poisoned);
}

/* Makes an empty store in the empty directory `dir`, synced. */
CHI_MUSTUSE int chi_dir_make(const char *dir, enum chi_statistic statistic, enum chi_keep keep,
			     struct chi_fault *fault);

void chi_registry_lock(void);

void chi_registry_unlock(void);

/* With the registry locked. */
struct chi_env *chi_registry_find(dev_t dev, ino_t ino);

CHI_MUSTUSE int chi_registry_add(struct chi_env *env);

void chi_registry_remove(struct chi_env *env);

/* CHI_OK if the data file is one that LMDB may map: its head, and that no page in use lies
 * past the file's end. -CHI_ENOSTORE, -CHI_EVERSION, -CHI_ECORRUPT, ... */
CHI_MUSTUSE int chi_file_check(const char *dir, struct chi_fault *fault);

/* Whether the file system of an absolute path is mounted read-only, not one mount of it alone.
 * False if the table of mounts cannot be read. */
CHI_MUSTUSE bool chi_file_system_is_still(const char *path);

/* CHI_OK, or -CHI_ENETFS if `path` is on a file system that chi_dir_file_system refuses; with
 * CHISTORE_ANY_FILESYSTEM=1 in the environment none is. */
CHI_MUSTUSE int chi_file_system_check(const char *path, struct chi_fault *fault);
