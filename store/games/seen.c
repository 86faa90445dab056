/* SPDX-License-Identifier: MIT */
#include "store/games/seen.h"

#include <stdatomic.h>
#include <stdlib.h>

uint64_t chi_seen_serial(void)
{
	static _Atomic uint64_t last;
	return atomic_fetch_add(&last, 1) + 1;
}

void chi_seen_begin(struct chi_seen **seen, MDB_txn *txn)
{
	if (*seen == NULL) {
		*seen = calloc(1, sizeof(**seen));
	}
	if (*seen != NULL && ((*seen)->serial == 0 || (*seen)->txn != mdb_txn_id(txn))) {
		(*seen)->txn = mdb_txn_id(txn);
		(*seen)->serial = chi_seen_serial();
	}
}
