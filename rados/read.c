/* SPDX-License-Identifier: MIT */
/* Probes, records and explorations. */
#include "rados/inside.h"

#include <string.h>

#include "base/evidence.h"
#include "base/fault.h"
#include "store/store.h"

struct probing {
	struct chi_rados *rados;
	const struct chi_key *keys;
	struct chi_row *rows;
};

static int make_row(struct chi_rados *rados, const struct chi_key *key, const uint8_t *record,
		    size_t len, const struct chi_evidence *evidence, struct chi_row *row)
{
	*row = (struct chi_row){.key = *key, .found = record != NULL};
	if (record != NULL && chi_record_decode_strength(record, len, evidence, row) < 0) {
		return chi_rados_damaged(rados, key);
	}
	return CHI_OK;
}

static int fill_row(void *context, size_t i, const uint8_t *record, size_t len)
{
	const struct probing *probing = context;
	return make_row(probing->rados, &probing->keys[i], record, len, NULL, &probing->rows[i]);
}

int chi_rados_probe(struct chi_rados *rados, const struct chi_key *keys, size_t n,
		    struct chi_row *rows)
{
	struct probing probing = {.rados = rados, .keys = keys, .rows = rows};
	return chi_rados_read_keys(rados, keys, n, fill_row, &probing);
}

/* Records that are in the arena together. */
#define GET_TOGETHER 64

struct getting {
	struct chi_rados *rados;
	const struct chi_key *keys;
	struct chi_arena *arena;
	struct chi_record *records;
	bool *found;
};

static int fill_record(void *context, size_t i, const uint8_t *record, size_t len)
{
	const struct getting *getting = context;
	getting->found[i] = record != NULL;
	getting->records[i] = (struct chi_record){.chi2 = CHI_CHI2_UNKNOWN};
	int rc = record != NULL ? chi_record_decode(record, len, getting->arena,
						    &getting->records[i], NULL)
				: CHI_OK;
	return rc == -CHI_ECORRUPT ? chi_rados_damaged(getting->rados, &getting->keys[i]) : rc;
}

int chi_rados_get(struct chi_rados *rados, const struct chi_key *key, struct chi_arena *arena,
		  struct chi_record *out)
{
	bool found = false;
	struct getting getting = {
		.rados = rados, .keys = key, .arena = arena, .records = out, .found = &found};
	int status = chi_rados_read_keys(rados, key, 1, fill_record, &getting);
	return status == CHI_OK && !found ? CHI_NONE : status;
}

int chi_rados_get_many(struct chi_rados *rados, const struct chi_key *keys, size_t n,
		       struct chi_arena *arena, chi_rados_take *take, void *context)
{
	struct chi_record records[GET_TOGETHER];
	bool found[GET_TOGETHER];
	int status = CHI_OK;
	for (size_t at = 0; status == CHI_OK && at < n; at += GET_TOGETHER) {
		size_t some = n - at < GET_TOGETHER ? n - at : GET_TOGETHER;
		struct getting getting = {.rados = rados,
					  .keys = keys + at,
					  .arena = arena,
					  .records = records,
					  .found = found};
		chi_arena_reset(arena);
		status = chi_rados_read_keys(rados, keys + at, some, fill_record, &getting);
		for (size_t i = 0; status == CHI_OK && i < some; i++) {
			status = take(context, at + i, found[i] ? &records[i] : NULL);
		}
	}
	return status;
}

/* ---- Exploring --------------------------------------------------------------------------- */

/* What is asked for, and its reading. */
struct exploring {
	struct chi_rados *rados;
	const struct chi_explore_reading *reading;
	const struct chi_evidence *evidence; /* NULL: all is seen */
	const struct chi_key *keys;	     /* the position, then those after it */
};

static int fill_explored(void *context, size_t i, const uint8_t *record, size_t len)
{
	const struct exploring *exploring = context;
	const struct chi_explore_reading *reading = exploring->reading;
	struct chi_row *row = i == 0 ? reading->position : &reading->rows[i - 1];
	int status = make_row(exploring->rados, &exploring->keys[i], record, len,
			      exploring->evidence, row);
	if (status == CHI_OK && i == 0 && record != NULL) {
		status = chi_record_decode(record, len, reading->arena, reading->record, NULL);
	}
	return status;
}

/* All in one round. */
static int read_explored(void *context, const struct chi_explore_reading *reading,
			 struct chi_fault *fault)
{
	const struct exploring *asked = context;
	struct chi_key *keys = chi_arena_array(reading->arena, 1 + reading->n, sizeof(*keys));
	if (keys == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	keys[0] = *reading->key;
	memcpy(keys + 1, reading->keys, reading->n * sizeof(*keys));
	struct exploring exploring = {.rados = asked->rados,
				      .reading = reading,
				      .evidence = asked->evidence,
				      .keys = keys};
	return chi_rados_read_keys(asked->rados, keys, 1 + reading->n, fill_explored, &exploring);
}

int chi_rados_explore(struct chi_rados *rados, const struct chi_key *key,
		      const struct chi_evidence *evidence, struct chi_arena *arena,
		      struct chi_explored *out)
{
	struct exploring asked = {.rados = rados, .evidence = chi_evidence_or_null(evidence)};
	int status = chi_evidence_check(evidence, rados->fault);
	return status == CHI_OK
		       ? chi_explore_by(read_explored, &asked, key, arena, out, rados->fault)
		       : status;
}
