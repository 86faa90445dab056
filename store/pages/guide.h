/* SPDX-License-Identifier: MIT */
/*
 * Where the leaves of a position tree are, in memory of our own: the head of the key that each one
 * begins with in the branch pages, and its page. A look-up that finds its leaf here waits for no
 * branch page.
 *
 * A guide is made of the branch pages of one snapshot and is for no other. A page that a commit has
 * freed keeps its old bytes, whose checksums are sound: a guide of an older snapshot would lead to
 * old answers that nothing tells from new ones. In its own snapshot it is a hint like a branch
 * page, and what it leads to is checked in the same way.
 *
 * It pays off after many look-ups, and none is made before that: beside a busy writer snapshots are
 * over too soon. The look-up that makes it waits for all branch pages, some 0.1 us a leaf if they
 * are in memory. It takes some 13 bytes for each leaf, and is for trees of CHI_GUIDE_LEAVES_MOST at
 * most, so that it is over soon, in files that memory can hold.
 *
 * Look-ups make no system call, and guides make none: their memory is reserved when an environment
 * is open, and used by one after the other; it is given back at the end. It is shared without
 * locks.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "store/pages/root.h"

/* Some 50 million positions. */
#define CHI_GUIDE_LEAVES_MOST ((uint64_t)1 << 18)
/* Bytes of one, then. */
#define CHI_GUIDE_BYTES_MOST ((size_t)4 << 20)

/* Guides that there is room for: the newest, the next one, and one of a snapshot that goes on. */
#define CHI_GUIDES 3

/* Instead of a leaf: the branch pages are to be asked, as other keys begin like this one. */
#define CHI_GUIDE_NO_LEAF UINT64_MAX

#define CHI_GUIDE_LEVELS 8

struct chi_guide_node;
struct chi_guide_lowest;

struct chi_guide {
	atomic_uint refs; /* of snapshots; while it is made, no one trusts it */
	uint64_t epoch;
	uint64_t txn;
	unsigned levels;
	struct chi_guide_node *level_at[CHI_GUIDE_LEVELS]; /* above the lowest, from the root on */
	struct chi_guide_lowest *lowest;
	uint8_t *memory; /* CHI_GUIDE_BYTES_MOST */
};

/* Those of an environment. Any thread. */
struct chi_guides {
	struct chi_guide all[CHI_GUIDES];
	_Atomic(struct chi_guide *) newest; /* of the newest snapshot; NULL: there is none */
	atomic_bool making;
	void *memory; /* NULL: there is no room for any */
};

/* Look-ups that a snapshot serves before it gets a guide, by each struct chi_read; 0: it never gets
 * one. Changed by tests only, before there are threads. */
extern uint32_t chi_guide_after;

void chi_guides_init(struct chi_guides *guides);
/* Takes address space for them. Without it there are none. */
void chi_guides_reserve(struct chi_guides *guides);
/* All references must be given back. */
void chi_guides_deinit(struct chi_guides *guides);

/* A reference to the guide of the snapshot `txn` of the environment's `epoch`; NULL: there is none.
 */
const struct chi_guide *chi_guide_take(struct chi_guides *guides, uint64_t epoch, uint64_t txn);

/* The same, made of the tree's branch pages if need be, which must be those of a living snapshot.
 * CHI_NONE: this one gets none, as it would be too large or a page is not as expected.
 * -CHI_EBUSY: another thread is making one. -CHI_ENOMEM: all that there is room for are in use. */
CHI_MUSTUSE int chi_guide_make(struct chi_guides *guides, uint64_t epoch,
			       const struct chi_descent *tree, const struct chi_guide **out);

/* Gives a reference back. NULL is fine. */
void chi_guide_release(const struct chi_guide *guide);

/* The page numbers of the leaves that the branch pages lead to for `n` keys, CHI_DESCENT_LANES at
 * most, or CHI_GUIDE_NO_LEAF. */
void chi_guide_search(const struct chi_guide *guide, const struct chi_key *keys, size_t n,
		      uint64_t *pages);
