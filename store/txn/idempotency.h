/* SPDX-License-Identifier: MIT */
/* What chi_write_note has noted, inside the write transaction. */
#pragma once

#include <stdint.h>

#include "chistore/types.h"

struct chi_write;

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
