/* SPDX-License-Identifier: MIT */
/* The journal of an import (client/rados/FORMAT.md): writing, committing and applying it. */
#pragma once

#include "client/rados/rados.h"

struct chi_journal;

/* A journal that is written for an import: to be committed, or given up, which is what freeing it
 * does. NULL is fine for that. */
CHI_MUSTUSE int chi_journal_new(struct chi_client *client, struct chi_journal **out);
void chi_journal_free(struct chi_journal *journal);
CHI_MUSTUSE int chi_journal_position(struct chi_journal *journal, enum chi_journal_mode mode,
				     const struct chi_key *key, const struct chi_record *record);
CHI_MUSTUSE int chi_journal_game(struct chi_journal *journal, const struct chi_game_id *game);

/* Commits it: from here on it will be applied, with these base rates, whatever happens. -CHI_EBUSY:
 * the head's version is not that one any more. */
CHI_MUSTUSE int chi_journal_commit(struct chi_journal *journal, uint64_t version,
				   const struct chi_counts *base);

/* Removes the objects of a journal that is not needed. */
CHI_MUSTUSE int chi_journal_remove(struct chi_client *client, const uint8_t id[16], uint32_t parts);

/* Applies the journal that is committed, if there is one, and removes it. `progress` may be NULL;
 * what it does to positions is added to *result. */
CHI_MUSTUSE int chi_rados_roll(struct chi_client *client, chi_import_progress *progress,
			       void *context, struct chi_put_result *result);
