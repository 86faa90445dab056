/* SPDX-License-Identifier: MIT */
/*
 * Packed positions into the position tree: into blocks that are appended, or into the block that is
 * kept (txn/tree.h), so that only a change of block costs a way down the tree. A new position is
 * put as it was packed; only what is stored already is decoded and merged.
 */
#include <string.h>

#include "base/fault.h"
#include "base/wire.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/record/codec.h"
#include "store/record/merge.h"
#include "store/record/record_priv.h"
#include "store/txn/txn.h"

/* An entry of a block. */
struct entry {
	MDB_val key;
	MDB_val value;
	const struct chi_posting *games; /* of a list that the record has no room for */
	size_t n_games;
	bool ahead; /* they are all that there is */
};

/* Copied: it lies at any address. -CHI_EINTERNAL, as below: the block ends in it. */
static int read_load_games(struct chi_reader *r, struct chi_arena *arena, struct entry *out)
{
	uint32_t n = (uint32_t)chi_read_le(r, sizeof(n));
	const uint8_t *bytes = chi_read_bytes(r, (size_t)n * sizeof(*out->games));
	if (bytes == NULL) {
		return -CHI_EINTERNAL;
	}
	chi_arena_reset(arena);
	struct chi_posting *games = chi_arena_alloc(arena, (size_t)n * sizeof(*games));
	if (games == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(games, bytes, (size_t)n * sizeof(*games));
	out->games = games;
	out->n_games = n;
	return CHI_OK;
}

static int next_entry(struct chi_reader *r, struct chi_arena *arena, struct entry *out)
{
	size_t key_len = chi_read_u8(r);
	bool ahead = (key_len & CHI_LOAD_AHEAD) != 0;
	key_len &= ~(size_t)CHI_LOAD_AHEAD;
	const uint8_t *key = chi_read_bytes(r, key_len);
	*out = (struct entry){.ahead = ahead};
	if (key == NULL) {
		return -CHI_EINTERNAL;
	}
	out->key = chi_val(key, key_len);
	if (CHI_UNLIKELY(ahead)) {
		return read_load_games(r, arena, out);
	}
	uint64_t len = chi_read_varint(r);
	const uint8_t *value = chi_read_bytes(r, len);
	if (value == NULL || r->bad) {
		return -CHI_EINTERNAL;
	}
	out->value = chi_val(value, len);
	return chi_record_is_listed(value, len) ? read_load_games(r, arena, out) : CHI_OK;
}

static struct chi_key key_of(const MDB_val *bytes)
{
	struct chi_key key = {.len = (uint8_t)bytes->mv_size};
	memcpy(key.bytes, bytes->mv_data, bytes->mv_size);
	return key;
}

/* An entry whose value is not empty, or one that must make room for such: at once. The undo list is
 * not asked, because a load has no marks. */
static int set_strength(struct chi_load *load, const struct chi_key *key,
			const struct chi_record *record, struct chi_fault *fault)
{
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	uint8_t line[CHI_STRENGTH_VALUE_MAX];
	MDB_val entry = {chi_strength_key(record->chi2, key->bytes, key->len, bytes), bytes};
	MDB_val value = {chi_strength_value(record->line, record->n_line, line), line};
	load->strength_touched = true;
	int error = chi_load_regain(load);
	error = error == 0 ? chi_tree_set(load->strength_tree, &entry, &value) : error;
	return chi_load_error(load, error, fault);
}

static int unset_strength(struct chi_load *load, const struct chi_key *key, uint16_t chi2,
			  struct chi_fault *fault)
{
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	MDB_val entry = {chi_strength_key(chi2, key->bytes, key->len, bytes), bytes};
	load->strength_touched = true;
	return chi_load_error(load, chi_tree_unset(load->strength_tree, &entry), fault);
}

/* The strength tree entry of a new record. */
static int follow_new(struct chi_load *load, const struct entry *entry, struct chi_fault *fault)
{
	const uint8_t *value = entry->value.mv_data;
	if ((value[0] & HEAD_CHI2) == 0) {
		return CHI_OK;
	}
	if (CHI_LIKELY((value[0] & HEAD_SECTIONS) == 0)) {
		return chi_load_gather(load, chi_chi2_of(value + 1), entry->key.mv_data,
				       entry->key.mv_size, false, fault);
	}
	struct chi_record record;
	struct chi_key key = key_of(&entry->key);
	chi_arena_reset(&load->arena);
	int rc = chi_record_decode(value, entry->value.mv_size, &load->arena, &record, NULL);
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	return record.n_line == 0
		       ? chi_load_gather(load, record.chi2, key.bytes, key.len, false, fault)
		       : set_strength(load, &key, &record, fault);
}

/* The strength tree after a record that changed. */
static int follow(struct chi_load *load, const struct chi_key *key, const struct chi_merge *m,
		  struct chi_fault *fault)
{
	struct chi_strength_change change = chi_strength_changed(&m->old, &m->new);
	bool lines = m->old.n_line > 0 || m->new.n_line > 0;
	int rc = CHI_OK;
	if (change.remove) {
		rc = lines ? unset_strength(load, key, m->old.chi2, fault)
			   : chi_load_gather(load, m->old.chi2, key->bytes, key->len, true, fault);
	}
	if (rc == CHI_OK && change.put) {
		rc = lines ? set_strength(load, key, &m->new, fault)
			   : chi_load_gather(load, m->new.chi2, key->bytes, key->len, false, fault);
	}
	return rc;
}

/* Games are added or taken away. What else a record brings (evaluations; a line, a note, a supplied
 * statistic where there is none yet) is added, never taken. */
static uint32_t parts_of(const struct chi_load *load, const struct chi_record *old,
			 const struct chi_record *given)
{
	if (load->subtract) {
		return CHI_PUT_SUBTRACT;
	}
	bool supplied = load->statistic == CHI_STATISTIC_EXTERNAL &&
			old->chi2 == CHI_CHI2_UNKNOWN && given->chi2 != CHI_CHI2_UNKNOWN;
	return (uint32_t)CHI_PUT_ADD | (supplied ? (uint32_t)CHI_PUT_CHI2 : 0) |
	       (given->n_evals > 0 ? (uint32_t)CHI_PUT_EVALS : 0) |
	       (given->n_line > 0 && old->n_line == 0 ? (uint32_t)CHI_PUT_LINE : 0) |
	       (given->n_note > 0 && old->n_note == 0 ? (uint32_t)CHI_PUT_NOTE : 0);
}

/* Returns LMDB's code; MDB_KEYEXIST: what is built does not ascend. */
static int put(struct chi_load *load, const MDB_val *key, const MDB_val *value)
{
	return load->append || load->rewrite.active ? chi_load_append(load, key, value)
						    : chi_tree_set(load->position_tree, key, value);
}

/* To what came out of a merge. A tree that is written again holds only what is put. Returns LMDB's
 * code. */
static int set_stored(struct chi_load *load, const MDB_val *key, const struct chi_merge *m,
		      enum chi_merged merged)
{
	if (merged == CHI_MERGED_CHANGED) {
		return put(load, key, &m->value);
	}
	if (load->rewrite.active) {
		return merged == CHI_MERGED_GONE ? 0 : put(load, key, &m->stored);
	}
	return merged == CHI_MERGED_GONE ? chi_tree_unset(load->position_tree, key) : 0;
}

/* A position that is stored; the cursor is on it. */
static int merge(struct chi_load *load, const struct entry *entry, const MDB_val *stored,
		 struct chi_fault *fault)
{
	struct chi_write *write = load->write;
	struct chi_put_entry put = {.key = key_of(&entry->key)};
	struct chi_merge m = {.stored = *stored};
	uint64_t *const counts[] = {[CHI_MERGED_SAME] = &load->result.unchanged,
				    [CHI_MERGED_CHANGED] = &load->result.updated,
				    [CHI_MERGED_GONE] = &load->result.removed};
	struct chi_record_rest given;
	chi_arena_reset(&write->arena);
	int rc =
		chi_record_decode(stored->mv_data, stored->mv_size, &write->arena, &m.old, &m.rest);
	if (rc == CHI_OK) {
		rc = chi_record_decode(entry->value.mv_data, entry->value.mv_size, &write->arena,
				       &put.record, &given);
	}
	if (rc == CHI_OK) {
		rc = chi_merge_room(&m.old, &write->arena, &put.record);
	}
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	m.follows = true;
	bool changes = load->ahead.n > 0 || entry->n_games > 0 || given.n_games > 0;
	rc = chi_load_list(load, &entry->key, &m.rest,
			   entry->n_games > 0 ? entry->games : given.games,
			   entry->n_games > 0 ? entry->n_games : given.n_games, fault);
	if (rc < 0) {
		return rc;
	}
	m.performance = m.old.chi2;
	if (changes) {
		rc = chi_load_perform_stored(load, &put.key, &m.rest, &m.performance, fault);
	}
	if (rc < 0) {
		return rc;
	}
	put.parts = parts_of(load, &m.old, &put.record);
	int merged = chi_write_merge(write, &put, &m, fault);
	if (merged < 0) {
		return merged == -CHI_EINVAL ? merged : chi_fault_plain(fault, merged);
	}
	++*counts[merged];
	MDB_val key = chi_val(put.key.bytes, put.key.len);
	return chi_load_change(load, &key, &m, (enum chi_merged)merged, fault);
}

int chi_load_change(struct chi_load *load, MDB_val *key, struct chi_merge *m,
		    enum chi_merged merged, struct chi_fault *fault)
{
	int rc = CHI_OK;
	if (merged != CHI_MERGED_SAME) {
		const struct chi_key position = key_of(key);
		load->write->changed = true;
		rc = follow(load, &position, m, fault);
	}
	if (rc == CHI_OK) {
		rc = chi_load_error(load, set_stored(load, key, m, merged), fault);
	}
	/* The walk through the old tree moves past it. */
	if (rc == CHI_OK && load->rewrite.active) {
		rc = chi_load_error(load, chi_rewrite_pass(&load->rewrite), fault);
	}
	return rc;
}

/* True if the record has too few games to be kept when it is new. */
static bool is_rare(const struct chi_load *load, const struct entry *entry)
{
	uint16_t chi2;
	uint64_t total = 0;
	struct chi_counts counts;
	return load->games_min > 1 &&
	       chi_record_peek(entry->value.mv_data, entry->value.mv_size, &chi2, &counts) ==
		       CHI_OK &&
	       chi_counts_total(&counts, &total) && total < load->games_min;
}

int chi_load_look(struct chi_load *load, MDB_val *key, MDB_val *stored)
{
	if (load->append) {
		return MDB_NOTFOUND;
	}
	int rc = load->rewrite.active ? chi_rewrite_reach(load, &load->rewrite, key, stored)
				      : chi_tree_find(load->position_tree, key, stored);
	return rc == 0 ? MDB_KEYEXIST : rc;
}

/* Puts a position if it is new: 0, or MDB_KEYEXIST and what is stored. */
static int put_new(struct chi_load *load, struct entry *entry, MDB_val *stored)
{
	if (CHI_LIKELY(load->append)) {
		return chi_load_append(load, &entry->key, &entry->value);
	}
	int rc = chi_load_look(load, &entry->key, stored);
	if (rc != MDB_NOTFOUND) {
		return rc;
	}
	rc = put(load, &entry->key, &entry->value);
	return rc == MDB_KEYEXIST ? MDB_CORRUPTED : rc;
}

static int count_new(struct chi_load *load, const struct entry *entry, struct chi_fault *fault)
{
	load->ahead = (struct chi_load_ahead){0};
	load->performed = (struct chi_performance_sums){0};
	int rc = entry->n_games > 0 ? chi_load_list_append(load, &entry->key, entry->games,
							   entry->n_games, fault)
				    : CHI_OK;
	if (rc < 0) {
		return rc;
	}
	load->result.added++;
	if (load->write != NULL) {
		load->write->changed = true;
	}
	return follow_new(load, entry, fault);
}

/* The position tree is built, written again, or changed in place. */
int chi_load_begin(struct chi_load *load, struct chi_fault *fault)
{
	load->begun = true;
	if (load->dense) {
		return chi_rewrite_begin(load, CHI_TREE_POSITION, fault);
	}
	if (!load->append) {
		return CHI_OK;
	}
	int error = chi_load_lend(load);
	return chi_load_error(load, error == 0 ? chi_load_build(load, CHI_TREE_POSITION) : error,
			      fault);
}

int chi_load_add(struct chi_load *load, MDB_val *key, MDB_val *value, struct chi_fault *fault)
{
	const struct entry entry = {.key = *key, .value = *value};
	int error = put(load, key, value);
	if (error == MDB_KEYEXIST) {
		return chi_fail(fault, -CHI_EINTERNAL, "positions do not ascend");
	}
	return error == 0 ? count_new(load, &entry, fault) : chi_load_error(load, error, fault);
}

static int apply_one(struct chi_load *load, struct entry *entry, struct chi_fault *fault)
{
	MDB_val stored;
	bool refused = load->subtract || is_rare(load, entry);
	int rc = refused ? CHI_OK
			 : chi_load_perform_new(load, &entry->value, entry->games, entry->n_games,
						fault);
	if (rc < 0) {
		return rc;
	}
	int error =
		refused ? chi_load_look(load, &entry->key, &stored) : put_new(load, entry, &stored);
	if (error == 0) {
		return count_new(load, entry, fault);
	}
	if (error == MDB_KEYEXIST) {
		return load->append ? chi_fail(fault, -CHI_EINTERNAL, "positions do not ascend")
				    : merge(load, entry, &stored, fault);
	}
	if (error == MDB_NOTFOUND && load->subtract) {
		return chi_fail(fault, -CHI_EINVAL, "a position of the games is not stored");
	}
	load->dropped += error == MDB_NOTFOUND;
	return error == MDB_NOTFOUND ? CHI_OK : chi_load_error(load, error, fault);
}

static int apply_block(struct chi_load *load, const struct chi_load_block *block,
		       struct chi_fault *fault)
{
	struct chi_reader r = chi_reader_of(block->bytes, block->len);
	struct entry entry;
	int rc = load->begun || block->n == 0 ? CHI_OK : chi_load_begin(load, fault);
	for (size_t i = 0; rc == CHI_OK && i < block->n; i++) {
		rc = next_entry(&r, &load->lists, &entry);
		if (rc < 0) {
			return rc;
		}
		rc = entry.ahead ? chi_load_list_ahead(load, &entry.key, entry.games, entry.n_games,
						       fault)
				 : apply_one(load, &entry, fault);
	}
	return rc;
}

int chi_load_apply(struct chi_load *load, const struct chi_load_block *block,
		   struct chi_fault *fault)
{
	int rc = load->write != NULL ? chi_write_ready(load->write) : CHI_OK;
	rc = rc < 0 ? rc : load->rc;
	if (rc == CHI_OK) {
		rc = chi_load_stick(load, apply_block(load, block, &load->fault), &load->fault);
	}
	if (rc < 0 && fault != NULL) {
		*fault = load->fault;
	}
	return rc < 0 && load->fault.text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
}
