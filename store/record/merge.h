/* SPDX-License-Identifier: MIT */
/* What a put makes of a stored record. */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "chistore/types.h"
#include "store/record/codec.h"

struct chi_position;

/* Applies the parts that the put names, but for its statistic, to `out`; memory from `arena`.
 * -CHI_ETOOBIG, -CHI_EINVAL (the fault says what cannot be subtracted), -CHI_ENOMEM. */
CHI_MUSTUSE int chi_merge_parts(const struct chi_put_entry *put, struct chi_arena *arena,
				struct chi_record *out, struct chi_fault *fault);

/* Drops what a record of games brings beyond the room for evaluations: those stored stay, of other
 * engines the deepest come in. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_merge_room(const struct chi_record *stored, struct chi_arena *arena,
			       struct chi_record *given);

/* The statistic of a record by the store's kind: an external one is what the record says. -CHI_EKEY
 * if the key is no position. */
CHI_MUSTUSE int chi_record_statistic(enum chi_statistic kind, const struct chi_counts *base,
				     const struct chi_key *key, const struct chi_record *record,
				     uint16_t *chi2);

/* False if the statistic is not what the position and the record give, in a store where these alone
 * decide it. */
bool chi_record_statistic_ok(enum chi_statistic kind, const struct chi_position *position,
			     const struct chi_record *record);

/* What a change of a record asks of the strength tree. */
struct chi_strength_change {
	bool remove; /* the old entry */
	bool put;    /* the new one */
};

struct chi_strength_change chi_strength_changed(const struct chi_record *old,
						const struct chi_record *new);

/* Takes the counts, moves and plies of `less` out of `out`, whose lists are replaced by others in
 * memory of `arena`. -CHI_EINVAL if they are not all there: `out` is then of no use. */
CHI_MUSTUSE int chi_subtract(const struct chi_record *less, struct chi_arena *arena,
			     struct chi_record *out, struct chi_fault *fault);

/* True if nothing is known of a position but what is computed from it alone. */
bool chi_record_bare(const struct chi_record *record, const struct chi_record_rest *rest,
		     enum chi_statistic statistic);

/* A stored record, and what a put makes of it. */
struct chi_merge {
	MDB_val stored; /* no bytes: there is none, and `old` is zeroed */
	struct chi_record old;
	struct chi_record_rest rest; /* of `old`; its list may be changed before the merge, */
	bool follows;		     /* and then so do counts and moves: else they may not */
	uint16_t performance;	     /* then, of a performance store: its statistic by that list */
	struct chi_record new;	     /* without a statistic if nothing is left */
	MDB_val value;		     /* `new` encoded, in the transaction's buffer */
};

enum chi_merged {
	CHI_MERGED_SAME, /* the bytes that are stored, or nothing of nothing */
	CHI_MERGED_CHANGED,
	CHI_MERGED_GONE, /* nothing is left to store */
};

/* What a merge needs of a store, and its memory. */
struct chi_record_merging {
	enum chi_statistic statistic;
	const struct chi_counts *base;
	struct chi_arena *arena;
	uint8_t *buffer; /* of CHI_RECORD_BYTES_MAX bytes, for what comes out */
};

/* The one way from a put to the bytes that are to be stored: applies it to m->old and encodes what
 * comes out. An enum chi_merged, -CHI_ETOOBIG, -CHI_EINVAL (the fault says what cannot be
 * subtracted), -CHI_ENOMEM, -CHI_EKEY. */
CHI_MUSTUSE int chi_merge_put(const struct chi_record_merging *merging,
			      const struct chi_put_entry *put, struct chi_merge *m,
			      struct chi_fault *fault);

/* What games of the archive say changes only with them; more may be added to it. -CHI_EINVAL if a
 * put with these parts, on a record with that, would change it otherwise. */
CHI_MUSTUSE int chi_merge_allowed(uint32_t parts, const struct chi_record_rest *rest,
				  struct chi_fault *fault);
