/* SPDX-License-Identifier: MIT */
/* The journal of an import (rados/FORMAT.md): writing, committing and applying it. */
#pragma once

#include "rados/inside.h"

struct chi_journal;

/* A journal that is written for an import: to be committed, or given up, which is what freeing it
 * does. NULL is fine for that. */
CHI_MUSTUSE int chi_journal_new(struct chi_rados *rados, struct chi_journal **out);
void chi_journal_free(struct chi_journal *journal);
CHI_MUSTUSE int chi_journal_position(struct chi_journal *journal, enum chi_journal_mode mode,
				     const struct chi_key *key, const struct chi_record *record);
CHI_MUSTUSE int chi_journal_game(struct chi_journal *journal, const struct chi_game_id *game);

/* Commits it: from here on it will be applied, with these base rates, whatever happens. -CHI_EBUSY:
 * the last import that was committed is not `before` any more, or the journal was given up. */
CHI_MUSTUSE int chi_journal_commit(struct chi_journal *journal, const uint8_t before[16],
				   const struct chi_counts *base);

/* Removes the objects of a journal that is not needed. */
CHI_MUSTUSE int chi_journal_remove(struct chi_rados *rados, const uint8_t id[16], uint32_t parts);

/* Its entries in the shards may be added up from now on. */
CHI_MUSTUSE int chi_journal_release(struct chi_rados *rados, const uint8_t id[16]);

/* ---- lease.c: journals that are in the pool ---------------------------------------------- */

/* The identity of the import that was committed last; zeros: none was. */
CHI_MUSTUSE int chi_leases_read_last(struct chi_rados *rados, uint8_t id[16]);

/* Notes, before it is written, that the journal has so many parts from now on. *lease is the one
 * before, zeroed at first. -CHI_EBUSY: it was given up. */
CHI_MUSTUSE int chi_lease_renew(struct chi_rados *rados, const uint8_t id[16], uint32_t parts,
				struct chi_lease *lease);

/* Changes the lease, and in the same operation the head, if there is one, as chi_rados_write_head
 * does. CHI_NONE: the lease, or the last import, is not that one. */
struct chi_lease_change {
	const uint8_t *id;
	const struct chi_lease *old; /* zeroed: none; NULL: any */
	const struct chi_lease *new; /* NULL: none */
	const uint8_t *before; /* last import, whose place this one takes; NULL: it does not */
};
int chi_change_lease(struct chi_rados *rados, const struct chi_lease_change *change,
		     const struct chi_rados_head *head, uint64_t version);

/* Gives a journal up, or what is left of one that was applied: its entries in the shards, its
 * parts, its lease. CHI_OK also if it was committed meanwhile, which is not touched. */
CHI_MUSTUSE int chi_lease_end(struct chi_rados *rados, const uint8_t id[16],
			      const struct chi_lease *lease);

/* Does so with all whose importers died. */
CHI_MUSTUSE int chi_leases_sweep(struct chi_rados *rados);

/* Applies the journal that is committed, if there is one, and removes it. `progress` may be NULL;
 * what it does to positions is added to *result. */
CHI_MUSTUSE int chi_rados_roll(struct chi_rados *rados, chi_import_progress *progress,
			       void *context, struct chi_put_result *result);
