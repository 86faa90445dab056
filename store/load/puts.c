/* SPDX-License-Identifier: MIT */
/*
 * Puts by the million, into a new store or one that is there: each is kept as bytes, its parts and
 * its record as a store holds it, until all of them are in order. A position's puts then follow one
 * after the other, as they would one by one, but only what comes out is written.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/wire.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/record/codec.h"
#include "store/record/list.h"
#include "store/record/merge.h"
#include "store/txn/txn.h"

_Static_assert(CHI_LOAD_KEPT_MAX == CHI_RECORD_BYTES_MAX + 8, "any record can be kept");

/* The parts. */
#define HEAD 4

/* True if games that others bring decide the statistic, too. */
static bool needs_base(enum chi_statistic statistic)
{
	return statistic == CHI_STATISTIC_OUTCOME || statistic == CHI_STATISTIC_SCORE;
}

/* The record that the put makes where nothing is stored: what it names, and the statistic if the
 * position and the record alone decide it. */
static int record_of(const struct chi_put_entry *put, enum chi_statistic statistic,
		     struct chi_arena *arena, struct chi_record *out)
{
	static const struct chi_counts no_base;
	*out = (struct chi_record){0};
	int rc = chi_merge_parts(put, arena, out, NULL);
	if (rc == CHI_OK && (put->parts & CHI_PUT_CHI2) != 0) {
		out->chi2 = put->record.chi2;
	}
	return rc < 0 || needs_base(statistic)
		       ? rc
		       : chi_record_statistic(statistic, &no_base, &put->key, out, &out->chi2);
}

int chi_load_keep(const struct chi_put_entry *put, enum chi_statistic statistic,
		  struct chi_arena *arena, uint8_t *out, size_t room, size_t *len)
{
	struct chi_record record = put->record;
	size_t size = 0;
	if (room < HEAD) {
		return -CHI_ETOOBIG;
	}
	memcpy(out, &put->parts, HEAD);
	int rc = put->parts == CHI_PUT_RESTORE ? CHI_OK : record_of(put, statistic, arena, &record);
	/* That of another store; it is computed when the games are there. */
	if (statistic == CHI_STATISTIC_PERFORMANCE) {
		record.chi2 = CHI_CHI2_UNKNOWN;
	}
	if (rc == CHI_OK) {
		rc = chi_record_encode(&record, NULL, out + HEAD, room - HEAD, &size);
	}
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

int chi_load_room(struct chi_load *load)
{
	if (load->fold_room == NULL) {
		load->fold_room = malloc(2 * CHI_RECORD_BYTES_MAX);
	}
	return load->fold_room != NULL ? CHI_OK : -CHI_ENOMEM;
}

static bool is_played(const struct chi_record *record)
{
	const struct chi_counts *c = &record->counts;
	return (c->white | c->draws | c->black | c->other) != 0 || record->n_moves > 0;
}

/* The merge of what is there by now with the put, in room that neither uses. */
static int merge(struct chi_load *load, uint32_t parts, const MDB_val *given,
		 struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	struct chi_merge m = {.stored = fold->value};
	struct chi_put_entry put = {.key = fold->key, .parts = parts};
	if (chi_load_room(load) < 0) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	const struct chi_record_merging merging = {
		.statistic = load->statistic,
		.base = &chi_load_state(load)->base,
		.arena = &load->arena,
		.buffer = load->fold_room + (fold->second ? CHI_RECORD_BYTES_MAX : 0),
	};
	chi_arena_reset(&load->arena);
	int rc = m.stored.mv_size > 0 ? chi_record_decode(m.stored.mv_data, m.stored.mv_size,
							  &load->arena, &m.old, &m.rest)
				      : CHI_OK;
	if (rc == CHI_OK) {
		rc = chi_record_decode(given->mv_data, given->mv_size, &load->arena, &put.record,
				       NULL);
	}
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	if (load->unplayed && is_played(&m.old)) {
		return CHI_OK;
	}
	fault->text[0] = '\0';
	rc = chi_merge_put(&merging, &put, &m, fault);
	if (rc == -CHI_EINVAL || rc == -CHI_ETOOBIG) {
		/* The put's own fault, and no other's. */
		(void)(fault->text[0] != '\0' ? rc : chi_fault_plain(fault, rc));
		return CHI_NONE;
	}
	if (rc == CHI_MERGED_CHANGED) {
		fold->value = m.value;
		fold->second = !fold->second;
	}
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* The put's record is all that there is to store. */
static bool is_all(struct chi_load *load, uint32_t parts)
{
	static const struct chi_counts none;
	bool known = !needs_base(load->statistic) ||
		     chi_counts_equal(&chi_load_state(load)->base, &none);
	return parts == CHI_PUT_RESTORE || (load->fold.value.mv_size == 0 && known);
}

int chi_load_fold(struct chi_load *load, const uint8_t *kept, size_t len, struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	struct chi_put_result *result = &load->result;
	uint32_t parts = 0;
	if (len <= HEAD) {
		return chi_load_stick(load, chi_fault_plain(fault, -CHI_EINTERNAL), fault);
	}
	memcpy(&parts, kept, HEAD);
	MDB_val before = fold->value;
	MDB_val given = chi_val(kept + HEAD, len - HEAD);
	int rc = CHI_OK;
	if (is_all(load, parts)) {
		fold->value = given;
		fold->restored = fold->restored || parts == CHI_PUT_RESTORE;
	} else {
		rc = merge(load, parts, &given, fault);
	}
	if (rc == CHI_OK) {
		++*(before.mv_size == 0		  ? &result->added
		    : same(&before, &fold->value) ? &result->unchanged
						  : &result->updated);
	}
	return chi_load_stick(load, rc, fault);
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
	/* Of other puts it was seen to. */
	rc = fold->restored ? chi_merge_allowed(CHI_PUT_RESTORE, &m.rest, fault) : CHI_OK;
	return rc < 0 ? rc
		      : chi_load_change(load, key, &m,
					changed ? CHI_MERGED_CHANGED : CHI_MERGED_SAME, fault);
}

void chi_load_fold_games(struct chi_load *load, const struct chi_posting *games, size_t n)
{
	load->fold.games = games;
	load->fold.n_games = n;
}

int chi_load_folded(const struct chi_load *load, struct chi_arena *arena, struct chi_record *out)
{
	const MDB_val *value = &load->fold.value;
	return value->mv_size == 0
		       ? CHI_NONE
		       : chi_record_decode(value->mv_data, value->mv_size, arena, out, NULL);
}

/* The record with its list of games, which it must not have yet, in the room that is free. */
static int enlist(struct chi_load *load, const MDB_val *key, struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	struct chi_record record;
	struct chi_record_rest rest;
	size_t n = fold->n_games;
	size_t len = 0;
	bool apart = n > CHI_LIST_HERE_MAX;
	int rc = chi_load_room(load);
	chi_arena_reset(&load->arena);
	if (rc == CHI_OK) {
		rc = chi_record_decode(fold->value.mv_data, fold->value.mv_size, &load->arena,
				       &record, &rest);
	}
	if (rc < 0 || rest.n_games > 0 || rest.listed > 0) {
		return chi_fault_plain(fault, rc < 0 ? rc : -CHI_EINVAL);
	}
	rest.games = fold->games;
	rest.n_games = apart ? 0 : n;
	rest.listed = apart ? n : 0;
	rest.listed_games = apart ? chi_postings_games(fold->games, n) : 0;
	chi_load_perform(load, fold->games, n, &record.chi2);
	uint8_t *room = load->fold_room + (fold->second ? CHI_RECORD_BYTES_MAX : 0);
	rc = chi_record_encode(&record, &rest, room, CHI_RECORD_BYTES_MAX, &len);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	fold->value = chi_val(room, len);
	fold->second = !fold->second;
	return apart ? chi_load_list_append(load, key, fold->games, n, fault) : CHI_OK;
}

int chi_load_fold_end(struct chi_load *load, struct chi_fault *fault)
{
	struct chi_fold *fold = &load->fold;
	MDB_val key = chi_val(fold->key.bytes, fold->key.len);
	int rc = fold->n_games > 0 ? enlist(load, &key, fault) : CHI_OK;
	if (rc == CHI_OK) {
		rc = fold->stored.mv_size > 0  ? change(load, &key, fault)
		     : fold->value.mv_size > 0 ? chi_load_add(load, &key, &fold->value, fault)
					       : CHI_OK;
	}
	/* It is counted already. */
	load->result.added -= rc == CHI_OK && fold->stored.mv_size == 0;
	return chi_load_stick(load, rc, fault);
}
