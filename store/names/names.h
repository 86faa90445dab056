/* SPDX-License-Identifier: MIT */
/*
 * Names of the games archive (FORMAT.md, "Names tree"): players, events, sites and others, each
 * text stored once and known by a number from 1 on, per kind, that is never used again. Aliases
 * join names for good; a FIDE id joins players by itself. The tree is one without MDB flags, in
 * LMDB's bytewise order.
 *
 * All functions work in a transaction of the caller's. Those that only read return -CHI_ECORRUPT
 * for damage, -CHI_ENOMEM, -CHI_EIO; those that write also -CHI_EFULL, and after a failure the
 * transaction must be aborted unless it is said otherwise. A transaction belongs to one thread.
 */
#pragma once

#include <lmdb.h>
#include <stddef.h>
#include <stdint.h>

#include "chess/names/alike.h"
#include "chess/names/words.h"
#include "chistore/games.h"
#include "chistore/types.h"

struct chi_name {
	uint32_t id;
	uint32_t root;	  /* of those that aliases join: the one all are joined to; 0: not joined */
	uint32_t fide;	  /* 0: not known */
	bool given;	  /* the FIDE id: by hand or by a spelling file, not by games */
	const char *text; /* UTF-8, not NUL-terminated, as first seen; valid until the transaction
			     changes or ends */
	size_t len;	  /* 1..CHI_NAME_MAX */
};

/* ---- Reading ----------------------------------------------------------------------------- */

/* The name of a number; CHI_NONE if there is none. */
CHI_MUSTUSE int chi_name_text(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
			      struct chi_name *out);

/* Looks up names in one transaction, and remembers the chunks that they were in: games one after
 * the other share most of theirs. Some 80 KiB, zeroed at first. */
struct chi_name_reader {
	MDB_txn *txn;
	MDB_dbi dbi;
	uint64_t snapshot; /* that is read */
	struct chi_name_slot {
		uint64_t key;	   /* kind and chunk */
		uint64_t snapshot; /* that it is of; 0: none */
		uint32_t n;
		const char *texts; /* where these begin */
		uint16_t at[32];
		uint16_t len[32];
	} slots[512];
};

/* `snapshot`: chi_seen.serial, of which chunks are remembered; or chi_seen_serial(). */
void chi_name_reader_begin(struct chi_name_reader *reader, MDB_txn *txn, MDB_dbi dbi,
			   uint64_t snapshot);

/* As chi_name_text. */
CHI_MUSTUSE int chi_name_reader_text(struct chi_name_reader *reader, enum chi_name_kind kind,
				     uint32_t id, const char **text, size_t *len);

/* The greatest number that a name of the kind was given; 0 without any. */
CHI_MUSTUSE int chi_names_count(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t *out);

/* The lowest number that has exactly this text; CHI_NONE. */
CHI_MUSTUSE int chi_names_lookup(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
				 const char *text, size_t len, uint32_t *id);

/* Calls for each name, ascending, from number `first` on, until something other than CHI_OK is
 * returned, which it then returns. */
typedef int chi_name_visit(void *context, const struct chi_name *name);
CHI_MUSTUSE int chi_names_walk(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t first,
			       chi_name_visit *visit, void *context);

/* Numbers of names, ascending. Zeroed at the start. */
struct chi_name_ids {
	uint32_t *id;
	size_t n;
	size_t room;
};
void chi_name_ids_deinit(struct chi_name_ids *ids);

/*
 * Who or what is meant by `wanted`: the names that fit it (chess/names/fits.h: players and
 * annotators as chi_player_fits, others if they have all words), or after a leading "=" the one
 * with exactly that text; and all that aliases or FIDE ids join to one of these. Ascending, in
 * memory of `out`, which what was there makes room for. None: CHI_OK and out->n is 0.
 */
CHI_MUSTUSE int chi_names_find(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
			       const char *wanted, struct chi_name_ids *out);

/* ---- Numbers for texts ------------------------------------------------------------------- */

/*
 * Remembers numbers of texts, and the names that are new until they are written. Used in one write
 * transaction, to be reset before the next one; one thread at a time.
 */
struct chi_name_cache;

/* `memory`: about so many bytes at most, at least 1 MiB. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_name_cache_new(size_t memory, struct chi_name_cache **out);
void chi_name_cache_reset(struct chi_name_cache *cache);
/* True if so many more texts may not fit: to intern one then flushes first, and forgets. */
bool chi_name_cache_full(const struct chi_name_cache *cache, size_t texts);
void chi_name_cache_free(struct chi_name_cache *cache);

/*
 * The number of a text, which gets one if it has none; 0 for an empty text. `fide`: 0 if not known,
 * and for all but players. Players with the same text and different FIDE ids are different names; a
 * name without FIDE id takes the first one that comes with its text, unless an alias joins it to
 * another. -CHI_ETOOBIG: longer than CHI_NAME_MAX, nothing is lost by that; -CHI_EFULL also when
 * there are 2^32 - 1 names.
 */
CHI_MUSTUSE int chi_names_intern(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
				 enum chi_name_kind kind, const char *text, size_t len,
				 uint32_t fide, uint32_t *id);

/*
 * Gives a text the next number of its kind, as another store has it: no number is looked for, nor
 * is a FIDE id given to a name that is there. CHI_NONE: there is a name with this text and this
 * FIDE id, or `fide` is 0 and there is one with this text. -CHI_EINVAL: the text is empty;
 * otherwise as chi_names_intern.
 */
CHI_MUSTUSE int chi_names_add(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
			      enum chi_name_kind kind, const char *text, size_t len, uint32_t fide,
			      uint32_t *id);

/* Writes what is new: before the commit, and before anything else reads or changes names. */
CHI_MUSTUSE int chi_names_flush(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi);

/* Called after each so many entries, which may be on as many pages: may commit, and begin again
 * with *txn. Another code than CHI_OK ends the flush. */
struct chi_name_turns {
	size_t entries;
	int (*turn)(void *context, MDB_txn **txn);
	void *context;
};
/* The same, of a store that no one sees before it is whole. */
CHI_MUSTUSE int chi_names_flush_by_turns(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
					 const struct chi_name_turns *turns);

/* ---- Aliases ----------------------------------------------------------------------------- */

/*
 * Joins a name, and all that are joined to it, to `to` and what that is joined to. CHI_NONE: they
 * are already. -CHI_EINVAL, changing nothing: there is no such name, or they have different FIDE
 * ids, which the text says.
 */
CHI_MUSTUSE int chi_names_alias(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
				uint32_t to, struct chi_fault *fault);

/* Takes a name out again; the others stay joined. CHI_NONE: it is not joined. -CHI_EINVAL: there is
 * no such name. */
CHI_MUSTUSE int chi_names_unalias(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
				  struct chi_fault *fault);

/* Gives a player who has none a FIDE id; `given`: not because of a game, so that it stays when
 * games go. CHI_NONE: it is his already. -CHI_EINVAL, changing nothing: there is no such name, or
 * he or one joined to him has another. */
CHI_MUSTUSE int chi_names_set_fide(MDB_txn *txn, MDB_dbi dbi, uint32_t id, uint32_t fide,
				   bool given, struct chi_fault *fault);

/* ---- Removing ---------------------------------------------------------------------------- */

/* Takes out a name that is in no game. Its number is not used again. CHI_NONE: there is no such
 * name; -CHI_EINVAL, changing nothing: aliases join it to others. */
CHI_MUSTUSE int chi_names_remove(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id);

/* Takes a player's FIDE id away. CHI_NONE: there is no such name, or it has none. */
CHI_MUSTUSE int chi_names_clear_fide(MDB_txn *txn, MDB_dbi dbi, uint32_t id);

/* ---- Likely duplicates ------------------------------------------------------------------- */

struct chi_suspects {
	enum chi_alike score; /* the lowest that brought a name into the group */
	uint32_t *ids;	      /* ascending, at least 2 */
	size_t n;
};

/*
 * Groups of names that may be the same, the likeliest first, not those that are joined already or
 * have different FIDE ids. A name with initials is only put to others if those are one person. A
 * name is in one group at most. In memory of its own, to be freed as one.
 */
struct chi_suspect_list {
	struct chi_suspects *groups;
	size_t n;
	uint32_t *ids; /* of all groups */
	size_t n_ids;
};
CHI_MUSTUSE int chi_names_suspects(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
				   enum chi_alike least, struct chi_suspect_list *out);
void chi_suspect_list_deinit(struct chi_suspect_list *list);
size_t chi_suspect_list_memory(const struct chi_suspect_list *list); /* bytes */

/* ---- Verification ------------------------------------------------------------------------ */

/*
 * Takes all entries of a tree, in its order, from wherever they are read: every checksum and form,
 * chunks without gaps, every name in every index and nothing else in these, aliases that lead to a
 * root and back. Each damage is reported. Takes 12 bytes for each alias and each removed name.
 */
struct chi_names_checker;
CHI_MUSTUSE int chi_names_checker_new(chi_verify_report *report, void *context,
				      struct chi_names_checker **out);
/* -CHI_ENOMEM. Damage is only reported. */
CHI_MUSTUSE int chi_names_checker_entry(struct chi_names_checker *check, const MDB_val *key,
					const MDB_val *value);
/* The highest number that a name of the kind has so far; 0: there is none. */
uint32_t chi_names_checker_last(const struct chi_names_checker *check, enum chi_name_kind kind);
/* After all names of the kind came: whether this one was removed. */
bool chi_names_checker_removed(const struct chi_names_checker *check, enum chi_name_kind kind,
			       uint32_t id);
/* After the last one. CHI_OK, or -CHI_ECORRUPT if anything was reported; *names counts the sound
 * names. */
CHI_MUSTUSE int chi_names_checker_end(struct chi_names_checker *check, uint64_t *names);
void chi_names_checker_free(struct chi_names_checker *check);

/* The same for the whole tree. */
CHI_MUSTUSE int chi_names_check(MDB_txn *txn, MDB_dbi dbi, chi_verify_report *report, void *context,
				uint64_t *names);

/* ---- Spelling files ---------------------------------------------------------------------- */

/*
 * Does what a spelling file says of a name: `alias` is a way in which `name` is found. Names that
 * are not there are not added for it: without the alias there is nothing to do, with it the right
 * name becomes the root. Nothing may wait in the cache. CHI_NONE: nothing was changed; -CHI_EINVAL,
 * changing no alias: the FIDE ids differ, which the text says.
 */
CHI_MUSTUSE int chi_names_correct(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
				  enum chi_name_kind kind, const char *name, const char *alias,
				  struct chi_fault *fault);
