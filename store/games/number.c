/* SPDX-License-Identifier: MIT */
/* Finding the chunk that a game is in, or would be. */
#include "store/games/number.h"

#include <string.h>

int chi_number_before(MDB_cursor *cursor, enum chi_chain chain, uint32_t number, MDB_val *key,
		      MDB_val *value)
{
	uint8_t wanted[CHI_NUMBER_SIZE];
	chi_number_key(number, wanted);
	*key = (MDB_val){.mv_size = sizeof(wanted), .mv_data = wanted};
	int rc = chi_chain_step(cursor, chain, key, value, MDB_SET_RANGE);
	if (rc == MDB_NOTFOUND) {
		return chi_chain_step(cursor, chain, key, value, MDB_LAST);
	}
	if (rc == 0 &&
	    (key->mv_size != sizeof(wanted) || memcmp(key->mv_data, wanted, sizeof(wanted)) != 0)) {
		return chi_chain_step(cursor, chain, key, value, MDB_PREV);
	}
	return rc;
}
