/* SPDX-License-Identifier: MIT */
/*
 * The games of all positions of a scan, by any number of threads. A position's list is read where
 * the walk has found it: in its record, or from the pages of the postings tree. Its chunks have
 * checksums, and how many entries there are the record tells.
 */
#include <string.h>

#include "base/arena.h"
#include "base/attr.h"
#include "store/archive.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/postings/postings.h"
#include "store/query/parallel.h"
#include "store/record/codec.h"

#define ROWS 64

struct reach {
	const struct chi_reach_spec *spec;
	struct chi_descent postings;
};

/* What a thread reads a position's games with. */
struct reader {
	const struct reach *reach;
	unsigned thread;
	struct chi_arena arena;
	struct chi_posting chunk[CHI_POSTINGS_CHUNK_ENTRIES];
};

static void release(struct reader *reader)
{
	chi_arena_deinit(&reader->arena);
}

static int take_entries(struct reader *reader, const struct chi_posting *entries, size_t n)
{
	const struct chi_reach_spec *spec = reader->reach->spec;
	return spec->take(spec->context, reader->thread, entries, n);
}

/* ---- The postings tree -------------------------------------------------------------------- */

/* The chunk that the walk is at, which must be of this list. */
static int read_chunk(struct reader *reader, const struct chi_leaf *leaf, const uint8_t *key,
		      size_t key_len, size_t *n)
{
	struct chi_item item;
	size_t len = 0;
	if (!chi_leaf_item(leaf, leaf->at, &item) || item.big ||
	    item.key_len != key_len + sizeof(uint32_t) || memcmp(item.key, key, key_len) != 0) {
		return -CHI_ECORRUPT;
	}
	const MDB_val at = chi_val(item.key, item.key_len);
	MDB_val value = chi_val(item.value, item.len);
	if (!chi_chain_strip(&at, &value)) {
		return -CHI_ECORRUPT;
	}
	return chi_lmdb_status(chi_postings_chunk_decode(&at, &value, &len, reader->chunk, n));
}

/* A list of `left` entries, the last chunk first: that one is found by a key which is not less. */
static int read_reached_list(struct reader *reader, const uint8_t *key, size_t key_len,
			     uint64_t left)
{
	uint8_t last[CHI_POSTINGS_CHUNK_KEY_MAX];
	struct chi_leaf_cursor walk;
	const struct chi_descent *tree = &reader->reach->postings;
	memcpy(last, key, key_len);
	memset(last + key_len, 0xff, sizeof(uint32_t));
	int rc = tree->usable ? chi_leaf_cursor_seek(&walk, tree, chi_position_compare, true, last,
						     key_len + sizeof(uint32_t))
			      : -CHI_ECORRUPT;
	while (rc == CHI_OK) {
		size_t n = 0;
		rc = read_chunk(reader, &walk.leaf, key, key_len, &n);
		if (rc < 0 || n > left) {
			return rc < 0 ? rc : -CHI_ECORRUPT;
		}
		left -= n;
		rc = take_entries(reader, reader->chunk, n);
		if (rc != CHI_OK || left == 0) {
			return rc;
		}
		if (walk.leaf.at > 0) {
			walk.leaf.at--;
		} else {
			rc = chi_leaf_cursor_skip(&walk, true);
		}
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* ---- The walk ----------------------------------------------------------------------------- */

/* CHI_NONE: the position counts. */
static int read_reached_games(struct reader *reader, const struct chi_key *key,
			      const MDB_val *value)
{
	struct chi_record record;
	struct chi_record_rest rest;
	chi_arena_reset(&reader->arena);
	int rc = chi_record_decode(value->mv_data, value->mv_size, &reader->arena, &record, &rest);
	if (rc != CHI_OK) {
		return rc;
	}
	if (rest.listed > 0) {
		return read_reached_list(reader, key->bytes, key->len, rest.listed);
	}
	return rest.n_games > 0 ? take_entries(reader, rest.games, rest.n_games) : CHI_OK;
}

/* Up to so many entries of the phase, which is left if it is over. */
static int walk_some(struct reader *reader, struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	struct chi_row rows[ROWS];
	MDB_val values[ROWS];
	if (reader->reach->spec->take == NULL) {
		return chi_count_some(scan, steps, count);
	}
	struct chi_scan_batch batch = {
		.rows = rows, .values = values, .max = ROWS, .steps = *steps};
	int rc = chi_walk_some(scan, &batch);
	*steps = batch.steps;
	for (size_t i = 0; rc == CHI_OK && i < batch.n; i++) {
		rc = read_reached_games(reader, &rows[i].key, &values[i]);
		*count += rc == CHI_NONE;
		rc = rc == CHI_NONE ? CHI_OK : rc;
	}
	return rc;
}

static int walk_part(void *context, unsigned thread, struct chi_scan *part, uint64_t *count)
{
	enum chi_scan_range range = part->range;
	_cleanup_(release) struct reader reader = {.reach = context, .thread = thread};
	int rc = CHI_OK;
	chi_arena_init(&reader.arena, CHI_RECORD_ARENA);
	while (rc == CHI_OK && part->range == range) {
		uint64_t steps = UINT64_MAX;
		rc = walk_some(&reader, part, &steps, count);
	}
	return rc;
}

static int walk_alone(struct reach *reach, struct chi_scan *scan, uint64_t *steps, uint64_t *count)
{
	_cleanup_(release) struct reader reader = {.reach = reach};
	int rc = CHI_OK;
	chi_arena_init(&reader.arena, CHI_RECORD_ARENA);
	while (rc == CHI_OK && *steps > 0 && scan->range != CHI_SCAN_RANGE_OVER) {
		rc = walk_some(&reader, scan, steps, count);
	}
	return rc;
}

/* An empty tree is over at once. */
static int begin_scan(struct chi_scan *scan)
{
	bool begins = scan->range != CHI_SCAN_RANGE_OVER && !scan->begun;
	int rc = begins ? chi_scan_range_begin(scan) : CHI_OK;
	if (rc == CHI_NONE) {
		chi_scan_range_leave(scan);
	}
	return rc < 0 ? rc : CHI_OK;
}

int chi_scan_reach(struct chi_scan *scan, const struct chi_reach_spec *spec, uint64_t steps,
		   uint64_t *count)
{
	const struct chi_env *env = scan->read->env;
	struct reach reach = {.spec = spec};
	if (chi_env_forked(env)) {
		return -CHI_EFORK;
	}
	chi_descent_start(env->mdb, scan->read->txn, &env->pages, POSTINGS_TREE, &reach.postings);
	scan->rc = scan->rc == CHI_OK ? begin_scan(scan) : scan->rc;
	bool over = scan->range == CHI_SCAN_RANGE_OVER;
	if (scan->rc == CHI_OK && !over && spec->threads > 1 && chi_parallel_pays(scan)) {
		uint64_t parts = chi_parallel_parts(spec->threads, steps);
		scan->rc = chi_parallel_walk(scan, spec->threads, parts, walk_part, &reach, count);
	} else if (scan->rc == CHI_OK) {
		scan->rc = walk_alone(&reach, scan, &steps, count);
	}
	if (scan->rc == CHI_OK && scan->range == CHI_SCAN_RANGE_OVER) {
		scan->rc = CHI_NONE;
	}
	return scan->rc;
}
