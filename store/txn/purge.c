/* SPDX-License-Identifier: MIT */
/*
 * Taking a damaged record out of both trees. It cannot say which statistic its strength entry has,
 * so all that two bytes can say are tried: slow, and rare. Nor whether its list of games is in the
 * postings tree.
 */
#include <string.h>

#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/postings/postings.h"
#include "store/record/codec.h"
#include "store/txn/txn.h"

static int purge_list(struct chi_write *write, const struct chi_key *key)
{
	MDB_dbi postings = write->env->archive.postings;
	uint8_t bytes[CHI_POSTINGS_CHUNK_KEY_MAX];
	MDB_val chunk;
	int error;
	while ((error = chi_postings_first(write->txn, postings, key->bytes, key->len, bytes,
					   &chunk)) == 0) {
		int rc = chi_write_unset(write, postings, &chunk);
		if (rc < 0) {
			return rc;
		}
	}
	return error == MDB_NOTFOUND ? CHI_OK : chi_lmdb_status(error);
}

int chi_write_purge(struct chi_write *write, const struct chi_key *key)
{
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	int rc = CHI_OK;
	write->state.partial = 1;
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
	rc = rc == CHI_OK ? purge_list(write, key) : rc;
	MDB_val position = chi_val(key->bytes, key->len);
	MDB_val value;
	/* Of a damaged group nothing is taken out. */
	rc = rc == CHI_OK ? chi_lmdb_status(
				    chi_write_find(write, write->env->position, &position, &value))
			  : rc;
	return rc == CHI_OK ? chi_write_unset(write, write->env->position, &position) : rc;
}
