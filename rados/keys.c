/* SPDX-License-Identifier: MIT */
/* Look-ups of positions by key: sorted by shard, one operation for each shard, or for some hundred
 * keys of it. */
#include "rados/batch.h"

#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "chess/key.h"

/* Keys that are looked up in one round, which bounds its memory; and in one operation. */
#define ROUND_KEYS 16384
#define OP_KEYS	   512

/* A run of keys of one shard. */
struct run {
	size_t first;
	size_t n;
};

static int compare_items(const void *left, const void *right)
{
	const struct chi_shard_ref *a = left;
	const struct chi_shard_ref *b = right;
	if (a->shard != b->shard) {
		return a->shard < b->shard ? -1 : 1;
	}
	int order = chi_position_compare(a->bytes, a->len, b->bytes, b->len);
	return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

void chi_shard_sort(struct chi_shard_ref *refs, size_t n)
{
	if (n > 1) {
		qsort(refs, n, sizeof(*refs), compare_items);
	}
}

int chi_rados_damaged(struct chi_rados *rados, const struct chi_key *key)
{
	char fen[CHI_FEN_SIZE];
	if (chi_key_to_fen(key, fen, NULL) != CHI_OK) {
		strcpy(fen, "that is none");
	}
	return chi_fail(rados->fault, -CHI_ECORRUPT, "the record of position %s is damaged", fen);
}

/* Cuts sorted references into runs; returns how many. */
static size_t cut(const struct chi_shard_ref *refs, size_t n, struct run *runs)
{
	size_t n_runs = 0;
	for (size_t i = 0; i < n; i++) {
		struct run *last = n_runs > 0 ? &runs[n_runs - 1] : NULL;
		if (last == NULL || refs[i].shard != refs[last->first].shard ||
		    last->n == OP_KEYS) {
			runs[n_runs++] = (struct run){.first = i};
		}
		runs[n_runs - 1].n++;
	}
	return n_runs;
}

static int ask_shards(struct chi_rados *rados, enum chi_omap_tree tree,
		      const struct chi_shard_ref *refs, size_t n, struct chi_object_op *op)
{
	struct chi_omap_key keys[1 + OP_KEYS];
	keys[0] = chi_stamp_key;
	for (size_t i = 0; i < n; i++) {
		chi_omap_key_make(tree, refs[i].bytes, refs[i].len, &keys[1 + i]);
	}
	chi_object_of_shard(rados, refs[0].shard, op);
	return chi_object_get(op, keys, 1 + n);
}

/* Entries come in the order of the keys; a key that was asked for twice comes once. */
static int deliver(struct chi_rados *rados, const struct chi_key *keys,
		   const struct chi_shard_ref *refs, size_t n, struct chi_object_op *op,
		   chi_rados_each *each, void *context)
{
	struct chi_entries entries = {.iter = op->values};
	int status = chi_object_stamp(rados, op, NULL);
	if (status == CHI_OK) {
		chi_entries_next(&entries);
	}
	struct chi_omap_key wanted = {.len = 0};
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		const struct chi_key *key = &keys[refs[i].index];
		const uint8_t *record = NULL;
		size_t record_len = 0;
		chi_omap_key_make(CHI_OMAP_POSITION, refs[i].bytes, refs[i].len, &wanted);
		bool there = chi_entries_at(&entries, &wanted);
		if (there) {
			record =
				chi_omap_record(key, entries.at.value, entries.at.len, &record_len);
			status = record != NULL ? CHI_OK : chi_rados_damaged(rados, key);
		}
		if (status == CHI_OK) {
			status = each(context, refs[i].index, record, record_len);
		}
		bool again =
			i + 1 < n && chi_position_compare(refs[i].bytes, refs[i].len,
							  refs[i + 1].bytes, refs[i + 1].len) == 0;
		if (there && !again) {
			chi_entries_next(&entries);
		}
	}
	return status;
}

/* A round: `refs` has their places, `runs` and `ops` have room for as many. */
static int read_round(struct chi_rados *rados, const struct chi_key *keys,
		      struct chi_shard_ref *refs, size_t n, chi_rados_each *each, void *context)
{
	_cleanup_(chi_freep) struct run *runs = calloc(n, sizeof(*runs));
	if (runs == NULL) {
		return -CHI_ENOMEM;
	}
	chi_shard_sort(refs, n);
	size_t n_runs = cut(refs, n, runs);
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(n_runs, sizeof(*ops));
	int status = ops != NULL ? CHI_OK : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < n_runs; i++) {
		status = ask_shards(rados, CHI_OMAP_POSITION, refs + runs[i].first, runs[i].n,
				    &ops[i]);
	}
	if (status == CHI_OK) {
		status = chi_objects_run(rados, ops, n_runs);
	}
	for (size_t i = 0; status == CHI_OK && i < n_runs; i++) {
		status = deliver(rados, keys, refs + runs[i].first, runs[i].n, &ops[i], each,
				 context);
	}
	if (ops != NULL) {
		chi_objects_end(ops, n_runs);
	}
	return status;
}

int chi_rados_read_keys(struct chi_rados *rados, const struct chi_key *keys, size_t n,
			chi_rados_each *each, void *context)
{
	size_t most = n < ROUND_KEYS ? n : ROUND_KEYS;
	_cleanup_(chi_freep) struct chi_shard_ref *refs = calloc(most, sizeof(*refs));
	if (n > 0 && refs == NULL) {
		return -CHI_ENOMEM;
	}
	int status = CHI_OK;
	for (size_t at = 0; status == CHI_OK && at < n; at += most) {
		size_t some = n - at < most ? n - at : most;
		for (size_t i = 0; i < some; i++) {
			const struct chi_key *key = &keys[at + i];
			refs[i] = (struct chi_shard_ref){
				.shard = chi_shard_of(key->bytes, key->len, rados->head.shards),
				.index = (uint32_t)(at + i),
				.bytes = key->bytes,
				.len = key->len};
		}
		status = read_round(rados, keys, refs, some, each, context);
	}
	return status;
}

/* ---- Games ------------------------------------------------------------------------------- */

/* One round of runs that are sorted; entries that are there come in the order of the ids. */
static int has_round(struct chi_rados *rados, const struct chi_shard_ref *refs,
		     const struct run *runs, size_t n_runs, bool *said)
{
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(n_runs, sizeof(*ops));
	int status = ops != NULL ? CHI_OK : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < n_runs; i++) {
		status = ask_shards(rados, CHI_OMAP_GAME, refs + runs[i].first, runs[i].n, &ops[i]);
	}
	status = status == CHI_OK ? chi_objects_run(rados, ops, n_runs) : status;
	for (size_t i = 0; status == CHI_OK && i < n_runs; i++) {
		struct chi_entries entries = {.iter = ops[i].values};
		status = chi_object_stamp(rados, &ops[i], NULL);
		if (status == CHI_OK) {
			chi_entries_next(&entries);
		}
		for (size_t at = runs[i].first; status == CHI_OK && at < runs[i].first + runs[i].n;
		     at++) {
			struct chi_omap_key key;
			chi_omap_key_make(CHI_OMAP_GAME, refs[at].bytes, refs[at].len, &key);
			/* One that was asked for twice came once. */
			while (entries.more && chi_omap_compare(entries.at.key, entries.at.key_len,
								key.bytes, key.len) < 0) {
				chi_entries_next(&entries);
			}
			said[refs[at].index] = chi_entries_at(&entries, &key);
		}
	}
	if (ops != NULL) {
		chi_objects_end(ops, n_runs);
	}
	return status;
}

int chi_rados_has_games(struct chi_rados *rados, const uint8_t (*ids)[CHI_GAME_ID_SIZE], size_t n,
			bool *said)
{
	_cleanup_(chi_freep) struct chi_shard_ref *refs = calloc(n, sizeof(*refs));
	_cleanup_(chi_freep) struct run *runs = calloc(n, sizeof(*runs));
	if (n > 0 && (refs == NULL || runs == NULL)) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		said[i] = false;
		refs[i] = (struct chi_shard_ref){
			.shard = chi_shard_of(ids[i], CHI_GAME_ID_SIZE, rados->head.shards),
			.index = (uint32_t)i,
			.bytes = ids[i],
			.len = CHI_GAME_ID_SIZE};
	}
	chi_shard_sort(refs, n);
	size_t n_runs = cut(refs, n, runs);
	return n == 0 ? CHI_OK : has_round(rados, refs, runs, n_runs, said);
}
