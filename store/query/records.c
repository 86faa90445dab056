/* SPDX-License-Identifier: MIT */
/* All records of a snapshot, block by block. */
#include "store/archive.h"

#include <stdlib.h>
#include <string.h>

#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/names.h"
#include "store/pages/block_cursor.h"
#include "store/pages/descent.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/record/meta.h"

struct chi_records {
	struct chi_read *read;
	struct chi_pages pages;
	struct chi_descent tree;
	struct chi_block_cursor blocks;
	uint64_t left; /* entries that are still to come, as the state says */
	bool over;     /* no block is left */
	uint32_t group;
	struct chi_block_entry entries[CHI_GROUP_MOST];
	uint32_t at; /* the next one */
	uint32_t n;
};

int chi_records_open(struct chi_read *read, struct chi_records **out)
{
	const struct chi_env *env = read->env;
	struct chi_store_state state;
	struct chi_records *records = calloc(1, sizeof(*records));
	int rc = records == NULL ? -CHI_ENOMEM : chi_state_get(read->txn, env->meta, &state);
	if (rc == CHI_OK) {
		records->read = read;
		records->left = state.positions;
		/* A store whose pages could not be located, for lack of memory, is not damaged. */
		records->pages = env->pages;
		if (records->pages.size == 0) {
			chi_pages_locate(env->mdb, read->txn, env->meta, env->position,
					 &records->pages);
		}
		chi_descent_start(env->mdb, read->txn, &records->pages, POSITION_TREE,
				  &records->tree);
		rc = records->tree.usable && (records->tree.depth == 0) == (state.positions == 0)
			     ? chi_block_cursor_start(&records->blocks, &records->tree,
						      CHI_TREE_POSITION, false)
		     : records->pages.size == 0 ? -CHI_EUNSUPPORTED
						: -CHI_ECORRUPT;
	}
	if (rc < 0) {
		free(records);
		return rc;
	}
	records->over = rc == CHI_NONE;
	*out = records;
	return CHI_OK;
}

void chi_records_close(struct chi_records *records)
{
	free(records);
}

/* The next group that has entries. CHI_NONE: there is none. */
static int next_group(struct chi_records *records)
{
	const struct chi_block *block = &records->blocks.block;
	while (!records->over) {
		if (records->group < block->groups) {
			records->at = 0;
			return chi_group_read(block, records->group++, records->entries,
					      &records->n);
		}
		int rc = chi_block_cursor_next(&records->blocks, false);
		if (rc < 0) {
			return rc;
		}
		records->over = rc == CHI_NONE;
		records->group = 0;
	}
	return records->left == 0 ? CHI_NONE : -CHI_ECORRUPT;
}

int chi_records_next(struct chi_records *records, struct chi_arena *arena, struct chi_stored *out)
{
	struct chi_record_rest rest = {0};
	int rc = CHI_OK;
	while (rc == CHI_OK && records->at == records->n) {
		rc = next_group(records);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	if (records->left == 0) {
		return -CHI_ECORRUPT;
	}
	const struct chi_block_entry *entry = &records->entries[records->at++];
	records->left--;
	out->key = (struct chi_key){.len = entry->key_len};
	memcpy(out->key.bytes, chi_entry_key(entry, CHI_TREE_POSITION), entry->key_len);
	rc = chi_record_decode(entry->value, entry->len, arena, &out->record, &rest);
	out->games = rest.games;
	out->n_games = rest.n_games;
	out->listed = rest.listed;
	return rc;
}

int chi_records_reached(struct chi_records *records, struct chi_reached **out)
{
	if (records->at == 0) {
		return CHI_NONE;
	}
	const struct chi_block_entry *entry = &records->entries[records->at - 1];
	return chi_reached_of(records->read, chi_entry_key(entry, CHI_TREE_POSITION),
			      entry->key_len, entry->value, entry->len, 0, out);
}
