/* SPDX-License-Identifier: MIT */
/*
 * Puts by the million, into a new store or one that is there: each is kept as bytes, its parts and
 * its record as a store holds it, until all of them are in order. A position's puts then follow one
 * after the other, as they would one by one, but only what comes out is written.
 */
#include <string.h>

#include "base/fault.h"
#include "base/wire.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/record/codec.h"
#include "store/record/merge.h"

_Static_assert(CHI_LOAD_KEPT_MAX == CHI_RECORD_BYTES_MAX + 8, "any record can be kept");

/* The parts. */
#define HEAD 4

int chi_load_keep(const struct chi_put *put, uint8_t *out, size_t room, size_t *len)
{
	size_t size = 0;
	if (room < HEAD) {
		return -CHI_ETOOBIG;
	}
	memcpy(out, &put->parts, HEAD);
	int rc = chi_record_encode(&put->record, NULL, out + HEAD, room - HEAD, &size);
	*len = HEAD + size;
	return rc;
}

int chi_load_fold_begin(struct chi_load *load, const struct chi_key *key, struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	int rc = load->rc;
	if (rc == CHI_OK && !load->begun) {
		rc = chi_load_begin(load, fault);
	}
	if (rc < 0) {
		return chi_load_stick(load, rc, fault);
	}
	*fold = (struct chi_fold){.key = *key};
	MDB_val bytes = chi_val(fold->key.bytes, fold->key.len);
	int error = chi_load_look(load, &bytes, &fold->stored);
	if (error == MDB_NOTFOUND) {
		fold->stored = (MDB_val){0};
		return CHI_OK;
	}
	fold->value = fold->stored;
	return error == MDB_KEYEXIST
		       ? CHI_OK
		       : chi_load_stick(load, chi_load_error(load, error, fault), fault);
}

static bool same(const MDB_val *a, const MDB_val *b)
{
	return a->mv_size == b->mv_size && memcmp(a->mv_data, b->mv_data, a->mv_size) == 0;
}

int chi_load_fold(struct chi_load *load, const uint8_t *kept, size_t len, struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	uint32_t parts = 0;
	memcpy(&parts, kept, HEAD);
	if (parts != CHI_PUT_RESTORE || len <= HEAD) {
		return chi_load_stick(load, chi_fault_plain(fault, -CHI_EINTERNAL), fault);
	}
	MDB_val value = chi_val(kept + HEAD, len - HEAD);
	uint64_t *count = fold->value.mv_size == 0     ? &load->result.added
			  : same(&value, &fold->value) ? &load->result.unchanged
						       : &load->result.updated;
	++*count;
	fold->value = value;
	return CHI_OK;
}

/* From one record to another. */
static int change(struct chi_load *load, MDB_val *key, struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	struct chi_merge m = {.stored = fold->stored, .value = fold->value};
	chi_arena_reset(&load->arena);
	int rc = chi_record_decode(m.stored.mv_data, m.stored.mv_size, &load->arena, &m.old,
				   &m.rest);
	if (rc == CHI_OK) {
		rc = chi_record_decode(m.value.mv_data, m.value.mv_size, &load->arena, &m.new,
				       NULL);
	}
	bool changed = !same(&m.stored, &m.value);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	rc = chi_merge_allowed(CHI_PUT_RESTORE, &m.rest, fault);
	return rc < 0 ? rc
		      : chi_load_change(load, key, &m,
					changed ? CHI_MERGED_CHANGED : CHI_MERGED_SAME, fault);
}

int chi_load_fold_end(struct chi_load *load, struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	MDB_val key = chi_val(fold->key.bytes, fold->key.len);
	int rc = fold->stored.mv_size > 0  ? change(load, &key, fault)
		 : fold->value.mv_size > 0 ? chi_load_add(load, &key, &fold->value, fault)
					   : CHI_OK;
	/* It is counted already. */
	load->result.added -= rc == CHI_OK && fold->stored.mv_size == 0;
	return chi_load_stick(load, rc, fault);
}
