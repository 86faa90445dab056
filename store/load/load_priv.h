/* SPDX-License-Identifier: MIT */
/*
 * What the files of the loader share. A load has one transaction at a time and one cursor in its
 * position tree; into a new store the transaction is committed now and then, unsynced, because
 * no one sees the directory before it is whole; while it is filled with positions, it is that of a
 * thread which appends (appender.h).
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sorter.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/env/path.h"
#include "store/env/snapshot.h"
#include "store/load/appender.h"
#include "store/load/load.h"
#include "store/record/codec.h"
#include "store/ratings/performance.h"
#include "store/record/meta.h"
#include "store/txn/tree.h"
#include "store/txn/txn.h"

/* A tree that is written again; see load_rewrite.c. */
struct chi_rewrite {
	bool active;
	MDB_dbi tree;
	struct chi_read *read; /* shows the tree as it was */
	MDB_cursor *old;
	struct chi_block block; /* where `old` is */
	uint32_t group;		/* the one that was read: */
	struct chi_block_entry entries[CHI_GROUP_MOST];
	uint32_t at; /* the first entry that is not in the new tree yet */
	uint32_t n;
	bool over; /* there is none */
};

/* One position's puts; see puts.c. */
struct chi_fold {
	struct chi_key key;
	MDB_val stored;			 /* no bytes: it is new */
	MDB_val value;			 /* what is to be stored */
	bool restored;			 /* by one of them at least */
	bool second;			 /* the room that the next merge writes to */
	const struct chi_posting *games; /* its list, */
	size_t n_games;
};

/* Names of a kind that games have which are taken out: a bit for each number. */
struct chi_touched {
	uint8_t *bits; /* NULL: none */
	uint32_t last; /* the greatest number */
};

struct chi_load {
	struct chi_dir *store;	 /* into an existing store; NULL: a new one is built */
	struct chi_write *write; /* the same */
	enum chi_statistic statistic;
	enum chi_keep keep;
	uint64_t memory;     /* see chi_load_memory */
	size_t commit_bytes; /* of a new store, between two commits */
	MDB_env *mdb;
	MDB_txn *txn;
	MDB_dbi meta;
	MDB_dbi position;
	MDB_dbi strength;
	MDB_dbi ids;
	struct chi_archive_trees archive;
	struct chi_chain_at ids_chain; /* of trees that are appended to: no keys before it began */
	struct chi_chain_at postings_chain;
	struct chi_tree *position_tree; /* of the write transaction, or `own`: */
	struct chi_tree *strength_tree;
	struct chi_tree own[2];
	struct chi_builder builder; /* of the tree that is built by append; */
	bool building;
	uint8_t *room;		      /* the builder's */
	MDB_cursor *cursor;	      /* in that tree, or NULL: to be opened */
	bool append;		      /* the tree that is written had no entries */
	struct chi_store_state state; /* of a new store; else write->state is */

	int rc; /* the first failure; sticky */
	struct chi_fault fault;
	bool games_changed;
	struct chi_archive_writer *keeper; /* NULL: nothing is gathered */
	struct chi_traits_writer *traits;
	struct chi_name_cache *names;
	size_t kept;			   /* bytes of games since the last commit of a new store */
	uint32_t source;		   /* of the last game, */
	char source_name[CHI_SOURCE_SIZE]; /* and its name */
	struct chi_touched touched[CHI_NAME_KINDS];
	bool subtract;
	bool unplayed;
	uint64_t games_min;
	bool begun;		    /* a position came */
	bool dense;		    /* the position tree is to be written again */
	struct chi_rewrite rewrite; /* of the tree that is written now */
	bool strength_touched;	    /* some entries of the strength tree are changed already */
	struct chi_filler gathered; /* the strength tree's changes, to be made in its order */
	struct chi_arena arena;
	struct chi_arena lists;		       /* one list of games */
	struct chi_load_ahead ahead;	       /* of the position that comes next */
	struct chi_performance *performance;   /* of a performance store, or NULL */
	struct chi_performance_sums performed; /* by what is ahead */
	struct chi_fold fold;
	uint8_t *fold_room; /* for what two merges make; NULL: none came */
	struct chi_put_result result;
	uint64_t dropped;
	bool complete; /* see chi_load_complete */

	struct chi_appender *appender; /* new: has the transaction, `txn` is NULL; or NULL */
	uint64_t unsaved;	       /* new: bytes put since the last commit */
	char *path;		       /* new: where the store is to be */
	const char *dir;	       /* where it is now: new: the hidden directory */
	struct chi_hidden hidden;      /* new */
	int file;		       /* new: without a name; else -1 */
};

/* ---- forget.c */

/* Remembers the names of a game that is about to be taken out. */
CHI_MUSTUSE int chi_load_touch_names(struct chi_load *load, uint32_t number);

/* See chi_load_unarchived. */
CHI_MUSTUSE int chi_load_forget_names(struct chi_load *load);

/* In a block, with a key's length: a piece of a list follows; see pack.c. */
#define CHI_LOAD_AHEAD 0x80

/* ---- load_new.c */

/* To be called after every put with the entry's size: commits a new store's transaction when
 * enough has gathered, which ends the cursor. LMDB's code. */
int chi_load_saved(struct chi_load *load, size_t bytes);

/* Gives a new store's transaction to a thread that appends, where there can be one. LMDB's code. */
CHI_MUSTUSE int chi_load_lend(struct chi_load *load);

/* Has it again, with all that was appended committed. To be called before anything else than an
 * append. LMDB's code. */
CHI_MUSTUSE int chi_load_regain(struct chi_load *load);

/* Everything on the disk, checked, and under its name; LMDB is closed. */
CHI_MUSTUSE int chi_load_publish(struct chi_load *load, struct chi_fault *fault);

/* ---- load.c */

/* The state that will be committed. */
static inline struct chi_store_state *chi_load_state(struct chi_load *load)
{
	return load->write != NULL ? &load->write->state : &load->state;
}

/* ---- build.c: a tree by append. Codes are LMDB's. */

/* Begins with the first block of an empty tree. */
CHI_MUSTUSE int chi_load_build(struct chi_load *load, enum chi_tree_kind kind);

/* The next entry. MDB_KEYEXIST: its key is not greater than all before. */
CHI_MUSTUSE int chi_load_append(struct chi_load *load, const MDB_val *key, const MDB_val *value);

/* An entry of the postings tree after all others. */
CHI_MUSTUSE int chi_load_put_postings(struct chi_load *load, MDB_val *key, MDB_val *value);

/* What was appended is all. */
CHI_MUSTUSE int chi_load_end_chains(struct chi_load *load);

/* Writes what is left, and counts the entries. Nothing if no tree is built. */
CHI_MUSTUSE int chi_load_built(struct chi_load *load);

/* Closes the cursor, if there is one. */
void chi_load_put_down(struct chi_load *load);

/* ---- load.c */

/* Keeps the first failure, and what it says. */
int chi_load_stick(struct chi_load *load, int rc, struct chi_fault *fault);

/* A code of LMDB's as a failure to write; 0 is CHI_OK. */
CHI_MUSTUSE int chi_load_error(struct chi_load *load, int error, struct chi_fault *fault);

/* ---- apply.c: one position, by ascending key */

/* Begins with the position tree. */
CHI_MUSTUSE int chi_load_begin(struct chi_load *load, struct chi_fault *fault);

/* What is stored: MDB_KEYEXIST and *stored, until something is put; MDB_NOTFOUND; another code of
 * LMDB's. */
int chi_load_look(struct chi_load *load, MDB_val *key, MDB_val *stored);

/* Puts one that is not stored; both trees. */
CHI_MUSTUSE int chi_load_add(struct chi_load *load, MDB_val *key, MDB_val *value,
			     struct chi_fault *fault);

/* To m->value, from m->stored which was looked up, if `merged` says so; both trees. */
CHI_MUSTUSE int chi_load_change(struct chi_load *load, MDB_val *key, struct chi_merge *m,
				enum chi_merged merged, struct chi_fault *fault);

/* ---- load_rewrite.c. Codes are LMDB's, but for chi_rewrite_begin. */

/* True if so many changes should not be made in place. */
bool chi_rewrite_pays(struct chi_load *load, enum chi_tree_kind kind, uint64_t expected);

/* Empties the tree, and begins to build it. */
CHI_MUSTUSE int chi_rewrite_begin(struct chi_load *load, enum chi_tree_kind kind,
				  struct chi_fault *fault);

/* Copies what was stored before `key`. 0: the key itself was stored, with *stored (until the next
 * call), and is to be appended, or not, and passed; MDB_NOTFOUND: it was not. */
CHI_MUSTUSE int chi_rewrite_reach(struct chi_load *load, struct chi_rewrite *rewrite,
				  const MDB_val *key, MDB_val *stored);
CHI_MUSTUSE int chi_rewrite_pass(struct chi_rewrite *rewrite);

/* Copies the rest, if a rewriting is active, and forgets it. */
CHI_MUSTUSE int chi_rewrite_finish(struct chi_load *load, struct chi_rewrite *rewrite);
void chi_rewrite_forget(struct chi_rewrite *rewrite);

/* ---- archive.c */

/* Frees what was gathered. */
void chi_load_archive_free(struct chi_load *load);

/* ---- performance.c: nothing for other statistics */

/* Loads what ratings let expect: all games are in, no position is. */
CHI_MUSTUSE int chi_load_performance_begin(struct chi_load *load, struct chi_fault *fault);

/* All positions are in. */
CHI_MUSTUSE int chi_load_performance_end(struct chi_load *load, struct chi_fault *fault);

/* The statistic of a position whose whole list that is, behind what came ahead. */
void chi_load_perform(struct chi_load *load, const struct chi_posting *games, size_t n,
		      uint16_t *chi2);

/* A new position's record, with its statistic; in room that the next call uses. `games` as of a
 * list that the record has no room for. */
CHI_MUSTUSE int chi_load_perform_new(struct chi_load *load, MDB_val *value,
				     const struct chi_posting *games, size_t n,
				     struct chi_fault *fault);

/* The statistic of one that was stored, whose list is changed already. */
CHI_MUSTUSE int chi_load_perform_stored(struct chi_load *load, const struct chi_key *key,
					const struct chi_record_rest *rest, uint16_t *chi2,
					struct chi_fault *fault);

/* ---- puts.c */

/* Makes load->fold_room: for two records. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_load_room(struct chi_load *load);

/* ---- lists.c: lists of games */

/* Behind what the postings tree has of the position's list. */
CHI_MUSTUSE int chi_load_list_append(struct chi_load *load, const MDB_val *key,
				     const struct chi_posting *games, size_t n,
				     struct chi_fault *fault);

/* Games of a position, ahead of its record, whose list has more than a record holds. */
CHI_MUSTUSE int chi_load_list_ahead(struct chi_load *load, MDB_val *key,
				    const struct chi_posting *games, size_t n,
				    struct chi_fault *fault);

/* Adds games to the list of a stored record, or takes them out, as the load does, with those that
 * came ahead: `rest` says where it is now. Memory is the write transaction's arena. */
CHI_MUSTUSE int chi_load_list(struct chi_load *load, const MDB_val *key,
			      struct chi_record_rest *rest, const struct chi_posting *games,
			      size_t n, struct chi_fault *fault);

/* ---- load_strength.c: a change of one entry without a line, made at the end */

CHI_MUSTUSE int chi_load_gather(struct chi_load *load, uint16_t chi2, const uint8_t *key,
				size_t key_len, bool remove, struct chi_fault *fault);
CHI_MUSTUSE int chi_load_scatter(struct chi_load *load, struct chi_fault *fault);
void chi_load_forget(struct chi_load *load);
