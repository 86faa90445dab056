/* SPDX-License-Identifier: MIT */
/* Scans of positions that are named one by one, in the place of a walk. */
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "store/lmdb_err.h"
#include "store/pages/descent.h"
#include "store/query/read.h"
#include "store/query/scan_priv.h"

/* What looking one up is worth, against an entry of a walk. */
#define STEPS_A_KEY 4

void chi_scan_given(struct chi_scan *scan, const uint8_t *keys, size_t n)
{
	const struct chi_cursor *after = &scan->spec.after;
	uint8_t place[CHI_KEY_MAX] = {0};
	scan->given = keys;
	scan->n_given = n;
	scan->at_given = 0;
	scan->begun = true;
	scan->range = CHI_SCAN_RANGE_POSITION;
	memcpy(place, after->key.bytes, after->key.len);
	while (after->set && scan->at_given < n &&
	       memcmp(keys + scan->at_given * CHI_KEY_MAX, place, CHI_KEY_MAX) <= 0) {
		scan->at_given++;
	}
}

/* Whether one is wanted that is stored. */
static int look_at_given(struct chi_scan *scan, const struct chi_key *key,
			 const struct chi_found *found, struct chi_row *row, bool *wanted)
{
	uint64_t mask;
	memcpy(&mask, key->bytes, sizeof(mask));
	*wanted = chi_sieve_passes(&scan->sieve, key->bytes, key->len,
				   (uint32_t)chi_popcount(mask)) &&
		  (scan->wanted == NULL || scan->wanted(scan->wanted_context, key->bytes));
	if (!*wanted) {
		return CHI_OK;
	}
	int rc = chi_scan_match(scan, key->bytes, key->len, found->value, found->len, row, wanted);
	row->key = *key;
	row->found = true;
	scan->last_chi2 = row->chi2;
	return rc;
}

/* The next of them, as many as are looked up together. */
static size_t take_keys(struct chi_scan *scan, const struct chi_scan_batch *batch,
			struct chi_key keys[CHI_DESCENT_LANES])
{
	size_t room = batch->max - batch->n;
	size_t most = room < CHI_DESCENT_LANES ? room : CHI_DESCENT_LANES;
	size_t n = 0;
	for (; n < most && scan->at_given + n < scan->n_given; n++) {
		const uint8_t *bytes = scan->given + (scan->at_given + n) * CHI_KEY_MAX;
		memcpy(keys[n].bytes, bytes, CHI_KEY_MAX);
		keys[n].len = (uint8_t)chi_key_length(bytes);
	}
	return n;
}

int chi_walk_given(struct chi_scan *scan, struct chi_scan_batch *batch)
{
	struct chi_key keys[CHI_DESCENT_LANES] = {0};
	struct chi_found found[CHI_DESCENT_LANES];
	size_t n = take_keys(scan, batch, keys);
	int rc = n > 0 ? chi_read_find(scan->read, keys, n, found) : CHI_OK;
	for (size_t i = 0; i < n && rc == CHI_OK; i++) {
		bool wanted = false;
		struct chi_row *row = batch->rows + (batch->counted ? 0 : batch->n);
		if (found[i].finding == CHI_FINDING_THERE) {
			rc = look_at_given(scan, &keys[i], &found[i], row, &wanted);
		}
		if (rc < 0) {
			scan->failed = (struct chi_cursor){true, row->chi2, keys[i]};
			return rc;
		}
		if (wanted && batch->values != NULL) {
			batch->values[batch->n] = chi_val(found[i].value, found[i].len);
		}
		batch->n += wanted;
		scan->last_len = keys[i].len;
		memcpy(scan->last, keys[i].bytes, keys[i].len);
		scan->last_range = CHI_SCAN_RANGE_POSITION;
	}
	scan->at_given += n;
	batch->steps -= STEPS_A_KEY * n < batch->steps ? STEPS_A_KEY * n : batch->steps;
	if (rc == CHI_OK && scan->at_given == scan->n_given) {
		chi_scan_range_leave(scan);
	}
	return rc;
}
