/* SPDX-License-Identifier: MIT */
/*
 * Positions come in the order of their keys, which is no order for the strength tree: each would
 * land on another page. So its changes are gathered, sorted and made in its own order at the end.
 *
 * An item is the entry's key in an order that memcmp knows: whole part, hundredths, position key
 * padded with zeros. (Of two keys one is never the beginning of the other: the mask in front says
 * how many bytes follow.) What is to be done follows.
 */
#include <string.h>

#include "base/fault.h"
#include "chess/bitboard.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/load/load_priv.h"
#include "store/record/codec.h"

/* Where in an item. */
#define AT_KEY 2
#define AT_OP  (AT_KEY + CHI_KEY_MAX)

enum op {
	OP_REMOVE,
	OP_ADD,
};

int chi_load_gather(struct chi_load *load, uint16_t chi2, const uint8_t *key, size_t key_len,
		    bool remove, struct chi_fault *fault)
{
	struct chi_sort_item *item = NULL;
	int rc = chi_filler_room(&load->gathered, &item, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	uint8_t *bytes = item->bytes;
	memset(bytes, 0, CHI_SORT_ITEM);
	bytes[0] = (uint8_t)(chi2 / 100);
	bytes[1] = (uint8_t)(chi2 % 100);
	memcpy(bytes + AT_KEY, key, key_len);
	bytes[AT_OP] = remove ? OP_REMOVE : OP_ADD;
	return CHI_OK;
}

/* Length of the position key with this mask: half a byte for each occupied square. */
static size_t key_length(const uint8_t *key)
{
	uint64_t mask;
	memcpy(&mask, key, sizeof(mask));
	return sizeof(mask) + ((size_t)chi_popcount(mask) + 1) / 2;
}

/* Where the tree is written again: what was stored there is passed, and what is added is appended.
 * Returns LMDB's code. */
static int write_again(struct chi_load *load, const MDB_val *key, bool remove)
{
	static const MDB_val empty = {0, NULL};
	MDB_val value;
	int rc = chi_rewrite_reach(load, &load->rewrite, key, &value);
	if (remove) {
		return rc == 0		    ? chi_rewrite_pass(&load->rewrite)
		       : rc == MDB_NOTFOUND ? MDB_CORRUPTED
					    : rc;
	}
	/* One that is there already would be put over. */
	if (rc == 0) {
		rc = chi_rewrite_pass(&load->rewrite);
	}
	return rc != 0 && rc != MDB_NOTFOUND ? rc : chi_load_append(load, key, &empty);
}

/* Returns LMDB's code. */
static int scatter_one(struct chi_load *load, const uint8_t *item)
{
	static const MDB_val empty = {0, NULL};
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
	MDB_val key = {2 + key_length(item + AT_KEY), bytes};
	bytes[0] = item[1];
	bytes[1] = item[0];
	memcpy(bytes + 2, item + AT_KEY, key.mv_size - 2);
	bool remove = item[AT_OP] == OP_REMOVE;
	if (load->rewrite.active) {
		return write_again(load, &key, remove);
	}
	if (load->building && !remove) {
		return chi_load_append(load, &key, &empty);
	}
	/* A record with a statistic has an entry: else the trees disagree. */
	return remove ? chi_tree_unset(load->strength_tree, &key)
		      : chi_tree_set(load->strength_tree, &key, &empty);
}

static int scatter_all(struct chi_load *load, struct chi_fault *fault)
{
	struct chi_sort_reader *reader;
	const struct chi_sort_item *item;
	int error = 0;
	int rc = chi_sorter_read(load->gathered.sorter, &reader, fault);
	if (rc < 0) {
		return rc;
	}
	while (error == 0 && (rc = chi_sort_next(reader, &item)) == CHI_OK) {
		error = scatter_one(load, item->bytes);
	}
	chi_sort_close(reader);
	return error != 0 ? chi_load_error(load, error, fault)
	       : rc < 0	  ? chi_fault_plain(fault, rc)
			  : CHI_OK;
}

int chi_load_scatter(struct chi_load *load, struct chi_fault *fault)
{
	int rc = chi_filler_end(&load->gathered, fault);
	/* A tree that is built has nothing to wait for its blocks. */
	if (rc == CHI_OK) {
		rc = chi_load_error(load, chi_tree_flush(load->strength_tree), fault);
	}
	uint64_t known = *load->strength_tree->entries;
	/* What has been changed at once is not in the snapshot that is copied. */
	if (rc == CHI_OK && known == 0) {
		rc = chi_load_error(load, chi_load_build(load, CHI_TREE_STRENGTH), fault);
	} else if (rc == CHI_OK && !load->strength_touched &&
		   chi_rewrite_pays(load, CHI_TREE_STRENGTH,
				    chi_sorter_count(load->gathered.sorter))) {
		rc = chi_rewrite_begin(load, CHI_TREE_STRENGTH, fault);
	}
	rc = rc == CHI_OK ? scatter_all(load, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	int error = chi_rewrite_finish(load, &load->rewrite);
	return chi_load_error(load, error == 0 ? chi_load_built(load) : error, fault);
}

void chi_load_forget(struct chi_load *load)
{
	chi_filler_drop(&load->gathered);
	chi_sorter_free(load->gathered.sorter);
	load->gathered = (struct chi_filler){0};
}
