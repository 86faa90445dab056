/* SPDX-License-Identifier: MIT */
/* Puts, deletions and games that are counted, as batches. */
#include <string.h>

#include "base/fault.h"
#include "base/record.h"
#include "rados/batch.h"
#include "store/record/merge.h"
#include "store/store.h"

/* A batch of `n` elements of `size` bytes, the first at `first`: each has its key, or the identity
 * of a game, at `at`. */
static int run_over(struct chi_shard_batch *batch, const void *first, size_t n, size_t size,
		    size_t at)
{
	batch->items = calloc(n, sizeof(*batch->items));
	batch->n = n;
	int status = batch->items != NULL || n == 0 ? CHI_OK : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		const uint8_t *element = (const uint8_t *)first + i * size + at;
		const struct chi_key *key = (const void *)element;
		bool is_game = batch->tree == CHI_OMAP_GAME;
		struct chi_shard_ref *item = &batch->items[i];
		*item = (struct chi_shard_ref){.index = (uint32_t)i,
					       .bytes = is_game ? element : key->bytes,
					       .len = is_game ? CHI_GAME_ID_SIZE : key->len};
		item->shard = chi_shard_of(item->bytes, item->len, batch->rados->head.shards);
	}
	status = status == CHI_OK ? chi_batch_run(batch) : status;
	free(batch->items);
	return status;
}

/* A batch whose items are the keys. */
static int run_keys(struct chi_rados *rados, const struct chi_key *keys, size_t n,
		    chi_batch_apply *apply, struct chi_put_result *result)
{
	struct chi_shard_batch batch = {
		.rados = rados, .tree = CHI_OMAP_POSITION, .apply = apply, .context = keys};
	int status = run_over(&batch, keys, n, sizeof(*keys), 0);
	*result = batch.result;
	return status;
}

/* Of a record that changes: what the strength tree has of it. */
struct strength {
	uint16_t chi2;
	chi_move *line;
	size_t n_line;
};

static int take_strength(struct chi_shard_batch *batch, const struct chi_record *record,
			 struct strength *out)
{
	out->chi2 = record->chi2;
	out->n_line = record->n_line;
	out->line = chi_arena_alloc(&batch->arena, record->n_line * sizeof(*out->line));
	if (out->line == NULL) {
		return -CHI_ENOMEM;
	}
	if (record->n_line > 0) {
		memcpy(out->line, record->line, record->n_line * sizeof(*out->line));
	}
	return CHI_OK;
}

/* Brings the strength tree in step. */
static int follow(struct chi_shard_batch *batch, const struct chi_key *key,
		  const struct strength *old, const struct strength *new)
{
	const struct chi_record before = {
		.chi2 = old->chi2, .line = old->line, .n_line = old->n_line};
	const struct chi_record after = {
		.chi2 = new->chi2, .line = new->line, .n_line = new->n_line};
	struct chi_strength_change change = chi_strength_changed(&before, &after);
	int status = CHI_OK;
	if (change.remove) {
		struct chi_omap_edit edit = {.what = CHI_EDIT_REMOVE};
		chi_omap_strength(old->chi2, key, &edit.key);
		status = chi_batch_edit(batch, &edit);
	}
	if (status == CHI_OK && change.put) {
		struct chi_omap_edit edit = {.what = CHI_EDIT_SET};
		uint8_t *line = chi_arena_alloc(&batch->arena, 2 * new->n_line);
		if (line == NULL) {
			return -CHI_ENOMEM;
		}
		edit.value = line;
		edit.len = chi_strength_value(new->line, new->n_line, line);
		chi_omap_strength(new->chi2, key, &edit.key);
		status = chi_batch_edit(batch, &edit);
	}
	batch->change.known += (new->chi2 != CHI_CHI2_UNKNOWN) - (old->chi2 != CHI_CHI2_UNKNOWN);
	return status;
}

/* ---- Puts -------------------------------------------------------------------------------- */

/* A position while the puts to it are applied. */
struct position {
	const struct chi_key *key;
	const uint8_t *record; /* NULL: it is not stored */
	size_t len;
	struct strength strength;
};

/* The record after one put, in memory of the batch. */
static int merge(struct chi_shard_batch *batch, const struct chi_put_entry *put,
		 struct position *position)
{
	struct chi_rados *rados = batch->rados;
	const struct chi_record_merging merging = {.statistic = rados->head.statistic,
						   .base = &batch->base,
						   .arena = &rados->arena,
						   .buffer = rados->value};
	struct chi_merge m = {.stored = {.mv_size = 0}};
	bool was_stored = position->record != NULL;
	int rc = CHI_OK;
	chi_arena_reset(&rados->arena);
	if (was_stored) {
		m.stored.mv_size = position->len;
		m.stored.mv_data = chi_arena_alloc(&rados->arena, position->len);
		if (m.stored.mv_data == NULL) {
			return -CHI_ENOMEM;
		}
		memcpy(m.stored.mv_data, position->record, position->len);
		rc = chi_record_decode(position->record, position->len, &rados->arena, &m.old,
				       &m.rest);
	}
	rc = rc < 0 ? rc : chi_merge_put(&merging, put, &m, batch->rados->fault);
	struct chi_put_result *did = &batch->change.last;
	if (rc == CHI_MERGED_SAME) {
		did->unchanged++;
		return CHI_OK;
	}
	if (rc < 0) {
		return rc;
	}
	bool gone = rc == CHI_MERGED_GONE;
	++*(gone ? &did->removed : was_stored ? &did->updated : &did->added);
	position->len = gone ? 0 : m.value.mv_size;
	position->record = NULL;
	if (!gone) {
		uint8_t *copy = chi_arena_alloc(&batch->arena, m.value.mv_size);
		if (copy == NULL) {
			return -CHI_ENOMEM;
		}
		position->record = memcpy(copy, m.value.mv_data, m.value.mv_size);
	} else {
		m.new = (struct chi_record){.chi2 = CHI_CHI2_UNKNOWN};
	}
	return take_strength(batch, &m.new, &position->strength);
}

/* The stored record and what the strength tree has of it. */
static int load_position(struct chi_shard_batch *batch, const struct chi_key *key,
			 const uint8_t *value, size_t len, struct position *out)
{
	struct chi_record record = {.chi2 = CHI_CHI2_UNKNOWN};
	*out = (struct position){.key = key};
	if (value == NULL) {
		return take_strength(batch, &record, &out->strength);
	}
	struct chi_arena *arena = &batch->rados->arena;
	chi_arena_reset(arena);
	out->record = chi_omap_record(key, value, len, &out->len);
	int rc = out->record != NULL
			 ? chi_record_decode(out->record, out->len, arena, &record, NULL)
			 : -CHI_ECORRUPT;
	if (rc == -CHI_ECORRUPT) {
		return chi_rados_damaged(batch->rados, key);
	}
	return rc < 0 ? rc : take_strength(batch, &record, &out->strength);
}

/* Both trees, from `value` to what is to be stored. */
static int store(struct chi_shard_batch *batch, const struct position *before,
		 const struct position *after, const uint8_t *value, size_t len)
{
	struct chi_omap_edit edit = {.guarded = true, .old = value, .old_len = len};
	chi_omap_key_make(CHI_OMAP_POSITION, before->key->bytes, before->key->len, &edit.key);
	edit.what = after->record != NULL ? CHI_EDIT_SET : CHI_EDIT_REMOVE;
	if (after->record != NULL) {
		uint8_t *sealed = chi_arena_alloc(&batch->arena, CHI_OMAP_CHECKSUM + after->len);
		if (sealed == NULL) {
			return -CHI_ENOMEM;
		}
		memcpy(sealed + CHI_OMAP_CHECKSUM, after->record, after->len);
		chi_omap_seal(before->key, sealed, after->len);
		edit.value = sealed;
		edit.len = CHI_OMAP_CHECKSUM + after->len;
	}
	batch->change.positions += (after->record != NULL) - (before->record != NULL);
	int status = chi_batch_edit(batch, &edit);
	return status < 0 ? status
			  : follow(batch, before->key, &before->strength, &after->strength);
}

static bool same_record(const struct position *a, const struct position *b)
{
	return (a->record == NULL) == (b->record == NULL) && a->len == b->len &&
	       (a->len == 0 || memcmp(a->record, b->record, a->len) == 0);
}

/* ---- Journals ---------------------------------------------------------------------------- */

struct applying {
	enum chi_journal_mode mode; /* 0: of a put, which says itself what it does */
	const struct chi_put_entry *puts;
};

static bool has_games(const struct chi_record *record)
{
	uint64_t games = 0;
	return !chi_counts_total(&record->counts, &games) || games > 0;
}

/* What of the record is to be put, by what is stored. */
static uint32_t parts_of(const struct chi_rados *rados, enum chi_journal_mode mode,
			 const struct chi_record *old, const struct chi_record *given)
{
	bool external = rados->head.statistic == CHI_STATISTIC_EXTERNAL;
	bool adds = mode == CHI_JOURNAL_ADD;
	uint32_t parts = given->n_evals > 0 ? CHI_PUT_EVALS : 0;
	if (mode == CHI_JOURNAL_RESTORE) {
		return CHI_PUT_RESTORE;
	}
	if (adds || has_games(given)) {
		parts |= adds ? CHI_PUT_ADD : CHI_PUT_COUNTS;
	}
	if (!adds && given->n_moves > 0) {
		parts |= CHI_PUT_MOVES;
	}
	if (external && given->chi2 != CHI_CHI2_UNKNOWN &&
	    (!adds || old->chi2 == CHI_CHI2_UNKNOWN)) {
		parts |= CHI_PUT_CHI2;
	}
	if (given->n_line > 0 && (!adds || old->n_line == 0)) {
		parts |= CHI_PUT_LINE;
	}
	if (given->n_note > 0 && (!adds || old->n_note == 0)) {
		parts |= CHI_PUT_NOTE;
	}
	return parts;
}

static int apply_one(struct chi_shard_batch *batch, enum chi_journal_mode mode,
		     const struct chi_put_entry *given, struct position *position)
{
	struct chi_rados *rados = batch->rados;
	struct chi_record old = {.chi2 = CHI_CHI2_UNKNOWN};
	struct chi_put_entry put = *given;
	int rc = CHI_OK;
	chi_arena_reset(&rados->arena);
	if (position->record != NULL) {
		rc = chi_record_decode(position->record, position->len, &rados->arena, &old, NULL);
	}
	if (rc == CHI_OK && mode == CHI_JOURNAL_UNPLAYED && (has_games(&old) || old.n_moves > 0)) {
		return CHI_OK;
	}
	put.parts = parts_of(rados, mode, &old, &put.record);
	if (rc == CHI_OK && mode != CHI_JOURNAL_RESTORE) {
		rc = chi_merge_room(&old, &batch->arena, &put.record);
	}
	return rc < 0 ? rc : merge(batch, &put, position);
}

static int apply_puts(struct chi_shard_batch *batch, const struct chi_shard_ref *items, size_t n,
		      const uint8_t *value, size_t len, size_t *at)
{
	const struct applying *applying = batch->context;
	struct position before;
	int status = load_position(batch, &applying->puts[items[0].index].key, value, len, &before);
	struct position after = before;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		*at = items[i].index;
		status = applying->mode == 0
				 ? merge(batch, &applying->puts[*at], &after)
				 : apply_one(batch, applying->mode, &applying->puts[*at], &after);
	}
	return status < 0 || same_record(&before, &after)
		       ? status
		       : store(batch, &before, &after, value, len);
}

int chi_rados_apply(struct chi_rados *rados, enum chi_journal_mode mode,
		    const struct chi_put_entry *entries, size_t n, struct chi_put_result *result)
{
	const struct applying applying = {.mode = mode, .puts = entries};
	struct chi_shard_batch batch = {.rados = rados,
					.tree = CHI_OMAP_POSITION,
					.apply = apply_puts,
					.context = &applying};
	int status =
		run_over(&batch, entries, n, sizeof(*entries), offsetof(struct chi_put_entry, key));
	chi_put_result_add(&batch.result, result);
	return status;
}

/* ---- Calls ------------------------------------------------------------------------------- */

int chi_rados_put(struct chi_rados *rados, const struct chi_put_entry *entries, size_t n,
		  struct chi_put_result *result)
{
	*result = (struct chi_put_result){0};
	for (size_t i = 0; i < n; i++) {
		struct chi_fault why = {{0}};
		int status =
			chi_put_check(&entries[i], (enum chi_statistic)rados->head.statistic, &why);
		if (status != CHI_OK) {
			return chi_fail(rados->fault, status, "entry %zu: %s", i, why.text);
		}
	}
	return chi_rados_apply(rados, 0, entries, n, result);
}

/* ---- Deletions --------------------------------------------------------------------------- */

/* Of a damaged record no one knows its strength entry: the shard's are all looked at. What is found
 * stays true, since no other write than a deletion changes a position that is damaged. */
static int remove_strays(struct chi_shard_batch *batch, const struct chi_key *key)
{
	struct chi_rados *rados = batch->rados;
	uint32_t shards = rados->head.shards;
	struct chi_omap_key after = {.len = 0};
	int status = CHI_NONE;
	bool more = true;
	while (status == CHI_NONE && more) {
		struct chi_object_op op = {.rc = 0};
		struct chi_omap_entry entry;
		struct chi_key found;
		uint16_t chi2 = 0;
		status = chi_shard_list(rados, chi_shard_of(key->bytes, key->len, shards),
					CHI_OMAP_STRENGTH, after.bytes, &op);
		more = op.more != 0;
		while (status == CHI_OK) {
			status = chi_object_listed(rados, &op, &after, &entry);
			if (status == CHI_OK &&
			    chi_omap_position(entry.key, entry.key_len, &chi2, &found) == CHI_OK &&
			    chi_position_compare(found.bytes, found.len, key->bytes, key->len) ==
				    0) {
				struct chi_omap_edit edit = {.key = after, .what = CHI_EDIT_REMOVE};
				batch->change.known--;
				status = chi_batch_edit(batch, &edit);
			}
		}
		chi_objects_end(&op, 1);
	}
	return status == CHI_NONE ? CHI_OK : status;
}

static int delete_damaged(struct chi_shard_batch *batch, const struct chi_key *key,
			  const uint8_t *value, size_t len)
{
	struct chi_omap_edit edit = {
		.guarded = true, .old = value, .old_len = len, .what = CHI_EDIT_REMOVE};
	chi_omap_key_make(CHI_OMAP_POSITION, key->bytes, key->len, &edit.key);
	batch->rados->fault->text[0] = '\0';
	batch->change.positions--;
	int status = chi_batch_edit(batch, &edit);
	return status == CHI_OK ? remove_strays(batch, key) : status;
}

static int apply_deletes(struct chi_shard_batch *batch, const struct chi_shard_ref *items, size_t n,
			 const uint8_t *value, size_t len, size_t *at)
{
	(void)n;
	const struct chi_key *keys = batch->context;
	struct position before;
	const struct position after = {.strength = {.chi2 = CHI_CHI2_UNKNOWN}};
	*at = items[0].index;
	if (value == NULL) {
		return CHI_OK;
	}
	int status = load_position(batch, &keys[*at], value, len, &before);
	batch->change.last.removed++;
	if (status == -CHI_ECORRUPT) {
		return delete_damaged(batch, &keys[*at], value, len);
	}
	return status < 0 ? status : store(batch, &before, &after, value, len);
}

int chi_rados_del(struct chi_rados *rados, const struct chi_key *keys, size_t n, uint64_t *deleted)
{
	struct chi_put_result did;
	int status = run_keys(rados, keys, n, apply_deletes, &did);
	*deleted = did.removed;
	return status;
}

/* ---- Statistics -------------------------------------------------------------------------- */

/* The record with the statistic that it has by now. */
static int apply_rescore(struct chi_shard_batch *batch, const struct chi_shard_ref *items, size_t n,
			 const uint8_t *value, size_t len, size_t *at)
{
	(void)n;
	const struct chi_key *keys = batch->context;
	struct chi_rados *rados = batch->rados;
	struct position before;
	struct chi_record record;
	struct chi_record_rest rest;
	*at = items[0].index;
	if (value == NULL) {
		return CHI_OK;
	}
	int rc = load_position(batch, &keys[*at], value, len, &before);
	struct position after = before;
	if (rc == CHI_OK) {
		chi_arena_reset(&rados->arena);
		rc = chi_record_decode(before.record, before.len, &rados->arena, &record, &rest);
	}
	if (rc == CHI_OK) {
		rc = chi_record_statistic((enum chi_statistic)rados->head.statistic, &batch->base,
					  &keys[*at], &record, &after.strength.chi2);
	}
	if (rc < 0 || after.strength.chi2 == before.strength.chi2) {
		return rc;
	}
	record.chi2 = after.strength.chi2;
	rc = chi_record_encode(&record, &rest, rados->value, CHI_RECORD_BYTES_MAX, &after.len);
	after.record = rados->value;
	batch->change.last.updated++;
	return rc < 0 ? rc : store(batch, &before, &after, value, len);
}

int chi_rados_rescore_keys(struct chi_rados *rados, const struct chi_key *keys, size_t n,
			   struct chi_put_result *result)
{
	return run_keys(rados, keys, n, apply_rescore, result);
}

/* ---- Games ------------------------------------------------------------------------------- */

static int apply_game_ids(struct chi_shard_batch *batch, const struct chi_shard_ref *items,
			  size_t n, const uint8_t *value, size_t len, size_t *at)
{
	(void)n;
	(void)len;
	const struct chi_game_id *games = batch->context;
	*at = items[0].index;
	if (value != NULL) {
		return CHI_OK;
	}
	struct chi_game_id game = games[*at];
	/* Numbers are the archive's, of which there is none here. */
	game.number = 0;
	uint8_t *bytes = chi_arena_alloc(&batch->arena, CHI_GAME_VALUE_MAX);
	if (bytes == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_omap_edit edit = {.guarded = true, .what = CHI_EDIT_SET, .value = bytes};
	edit.len = chi_game_encode(&game, bytes);
	if (edit.len == 0) {
		return -CHI_EINVAL;
	}
	chi_omap_key_make(CHI_OMAP_GAME, game.id, sizeof(game.id), &edit.key);
	batch->change.games[game.result]++;
	batch->change.last.added++;
	return chi_batch_edit(batch, &edit);
}

int chi_rados_put_game_ids(struct chi_rados *rados, const struct chi_game_id *games, size_t n)
{
	struct chi_shard_batch batch = {
		.rados = rados, .tree = CHI_OMAP_GAME, .apply = apply_game_ids, .context = games};
	return run_over(&batch, games, n, sizeof(*games), offsetof(struct chi_game_id, id));
}
