/* SPDX-License-Identifier: MIT */
/*
 * Taking a damaged record out of both trees. It cannot say which statistic its strength entry has,
 * so all that two bytes can say are tried: slow, and rare.
 */
#include <string.h>

#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"
#include "store/txn/txn.h"

int chi_write_purge(struct chi_write *write, const struct chi_key *key)
{
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	int rc = CHI_OK;
	memcpy(bytes + 2, key->bytes, key->len);
	for (unsigned i = 0; rc == CHI_OK && i <= UINT16_MAX; i++) {
		MDB_val entry = {2u + key->len, bytes};
		MDB_val value;
		/* In the order of the tree, whose pages then are in the processor's cache. */
		bytes[0] = (uint8_t)i;
		bytes[1] = (uint8_t)(i >> 8);
		int error = chi_write_find(write, write->env->strength, &entry, &value);
		if (error != MDB_NOTFOUND) {
			rc = error == 0 ? chi_write_unset(write, write->env->strength, &entry)
					: chi_lmdb_status(error);
		}
	}
	MDB_val position = chi_val(key->bytes, key->len);
	return rc == CHI_OK ? chi_write_unset(write, write->env->position, &position) : rc;
}
