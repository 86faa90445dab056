/* SPDX-License-Identifier: MIT */
/*
 * The archive of games as a snapshot shows it: what rooms above the store read it by. Its trees are
 * read by the functions of store/games, store/names and store/postings, in the snapshot's
 * transaction; which games reached a position is asked here, since a list may be in the
 * position's record.
 *
 * All is valid until the snapshot ends, and used by the thread that uses it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chistore/games.h"
#include "chistore/names.h"
#include "chistore/types.h"
#include "store/archive_trees.h"
#include "store/store.h"

/* The snapshot's transaction, and handles of the trees. */
struct chi_archive_view {
	MDB_txn *txn;
	struct chi_archive_trees trees;
	uint32_t last; /* the highest number that a game was given; 0: none was */
	uint64_t positions;
	bool whole; /* each game is in the lists of all its positions */
};

/* -CHI_ECORRUPT: the state is damaged. */
CHI_MUSTUSE int chi_read_archive(struct chi_read *read, struct chi_archive_view *out);

/* ---- From a position to its games -------------------------------------------------------- */

/* The games that reached a position, ascending, some at a time. */
struct chi_reached;

/* Game numbers below `from` are left out, as far as that is cheap: the first entries delivered may
 * be below it. *out is to be closed. CHI_NONE: the position is not stored, or no game of the
 * archive reached it. -CHI_ENOMEM, -CHI_ECORRUPT, ... */
CHI_MUSTUSE int chi_reached_open(struct chi_read *read, const struct chi_key *key, uint32_t from,
				 struct chi_reached **out);
void chi_reached_close(struct chi_reached *reached);

/* How many games there are in all, and how many entries. */
uint64_t chi_reached_games(const struct chi_reached *reached);
uint64_t chi_reached_entries(const struct chi_reached *reached);

/* The next entries, 1 or more, valid until the next call. All entries of a game come together.
 * CHI_NONE: there are no more. */
CHI_MUSTUSE int chi_reached_next(struct chi_reached *reached, const struct chi_posting **entries,
				 size_t *n);

/* ---- All positions ----------------------------------------------------------------------- */

/* The records of a snapshot by ascending key, with their lists of games. */
struct chi_records;

/* A position. All of it is valid until the next call, lists are in memory of the arena. */
struct chi_stored {
	struct chi_key key;
	struct chi_record record;
	const struct chi_posting *games; /* its list, if that is short */
	size_t n_games;
	uint64_t listed; /* else its entries, which chi_records_reached has; or 0 */
};

/* -CHI_ENOMEM, -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_records_open(struct chi_read *read, struct chi_records **out);
/* NULL is fine. */
void chi_records_close(struct chi_records *records);

/* The next one. CHI_NONE: all were there; -CHI_ECORRUPT: not all are, or one is damaged, and
 * out->key is the last that was read. */
CHI_MUSTUSE int chi_records_next(struct chi_records *records, struct chi_arena *arena,
				 struct chi_stored *out);

/* As chi_reached_open, of the position that came last. */
CHI_MUSTUSE int chi_records_reached(struct chi_records *records, struct chi_reached **out);

/* ---- Scans of games ---------------------------------------------------------------------- */

/*
 * Which games of a position count in a scan: replaces the counts of its record, and of its moves,
 * which come zeroed (NULL: they are not asked for). With whole_counts only the answer counts.
 * `reached` are its games, to be read by the callee, or NULL: there are none. CHI_NONE: the
 * position is left out.
 */
typedef int chi_scan_judge(void *context, struct chi_reached *reached, struct chi_counts *counts,
			   struct chi_move_stat *moves, size_t n_moves);

/* Before the first call on the scan: what its filter and its order ask of counts is then asked of
 * those that `judge` gives. Records have these counts, moves that one of these games played, and no
 * plies, of which it is not known whose they are. Counting takes one thread. */
void chi_scan_judged(struct chi_scan *scan, chi_scan_judge *judge, void *context);

/* Before the first call, of a scan in ascending order of positions, or one whose order does not
 * matter, since it is sorted or its rows are counted: looks at these positions in place of a walk,
 * as far as they are stored. Keys ascend, each once, with zeros after their ends; they stay the
 * caller's until the scan ends; CHI_KEY_MAX bytes each. */
void chi_scan_given(struct chi_scan *scan, const uint8_t *keys, size_t n);

/* Looks at a scan's positions for their games. */
struct chi_reach_spec {
	unsigned threads; /* 1 to 64, the caller's included */
	/* Some of a position's games, 1 or more; chunks of a long list come in any order. All of a
	 * position come to one thread, from 0 on, which makes no call on the snapshot. CHI_OK:
	 * more; CHI_NONE: the position counts, and no more of it is asked for; negative: the end.
	 * NULL: all positions count. */
	int (*take)(void *context, unsigned thread, const struct chi_posting *entries, size_t n);
	void *context;
};

/*
 * As chi_scan_tally, of a scan in order of positions without a judge. By several threads it looks
 * at more entries than `steps`, some ten thousand for each at least; others are started only if
 * what is left is so large that it pays, and end before it returns, with every signal blocked that
 * is not a fault of theirs. The scan's place is after what was looked at.
 */
CHI_MUSTUSE int chi_scan_reach(struct chi_scan *scan, const struct chi_reach_spec *spec,
			       uint64_t steps, uint64_t *count);

/* ---- Names ------------------------------------------------------------------------------- */

/*
 * Does a list of changes, which are checked (chi_name_changes_check): those that conflict are
 * reported and left out. *result is added to. Failures are sticky. A rollback to a mark before them
 * fails, and the transaction is lost: they are not taken back.
 */
CHI_MUSTUSE int chi_write_names(struct chi_write *write, const struct chi_name_change *changes,
				size_t n, chi_name_conflict *conflict, void *context,
				struct chi_names_changed *result);

/* Checks what came from outside: -CHI_EINVAL and -CHI_ETOOBIG name the entry. */
CHI_MUSTUSE int chi_name_changes_check(const struct chi_name_change *changes, size_t n,
				       struct chi_fault *fault);

/* ---- Gamesets ---------------------------------------------------------------------------- */

struct chi_gameset_entry; /* store/gamesets/gamesets.h */

/* The archive as a write transaction has it so far; `last` is that of the last commit or the
 * transaction's own. For reading alone. */
CHI_MUSTUSE int chi_write_archive(struct chi_write *write, struct chi_archive_view *out);

/* Stores an entry, new or over the one of that name. Failures are sticky, as all of a write's. */
CHI_MUSTUSE int chi_write_gameset(struct chi_write *write, const struct chi_gameset_entry *entry);

/* CHI_NONE, not sticky: there is none of that name. */
CHI_MUSTUSE int chi_write_drop_gameset(struct chi_write *write, const char *name, size_t len);
