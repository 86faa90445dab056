/* SPDX-License-Identifier: MIT */
/*
 * Games come and go many at a time: what changes is gathered by trait, and each list is written
 * once. Of a trait that was met the games are gathered as varints, each the distance from the one
 * before, in blocks that are linked: some 1.5 bytes an entry, so that an import of a million games
 * writes each list once. Into an empty tree, they are appended.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/postings/postings.h"
#include "store/record/list.h"
#include "store/traits/traits_priv.h"

struct block {
	uint32_t next; /* 0: this is the last one */
	uint8_t bytes[28];
};

/* A trait that was met. */
struct met {
	chi_trait trait;
	uint32_t n;    /* its games, */
	uint32_t last; /* the last of them */
	uint32_t first_block;
	uint32_t last_block;
	uint32_t used; /* bytes of that */
};

struct chi_traits_writer {
	uint64_t memory; /* in bytes */
	bool removes;	 /* what is gathered is taken out */
	struct met *met;
	size_t n_met;
	size_t met_room;
	uint32_t *slots; /* a hash table: places in `met` + 1, or 0 */
	size_t n_slots;	 /* a power of 2, or 0 */
	struct block *blocks;
	size_t n_blocks; /* the unused 0 included */
	size_t blocks_room;
};

int chi_traits_writer_new(uint64_t memory, struct chi_traits_writer **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL) {
		return -CHI_ENOMEM;
	}
	(*out)->memory = memory;
	(*out)->n_blocks = 1;
	return CHI_OK;
}

void chi_traits_writer_free(struct chi_traits_writer *writer)
{
	if (writer != NULL) {
		free(writer->met);
		free(writer->slots);
		free(writer->blocks);
		free(writer);
	}
}

/* ---- Gathering ---------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct chi_traits_writer *w, chi_trait trait)
{
	uint64_t hash = trait * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 32) & (w->n_slots - 1);
	while (w->slots[at] != 0 && w->met[w->slots[at] - 1].trait != trait) {
		at = (at + 1) & (w->n_slots - 1);
	}
	return &w->slots[at];
}

/* The table is at most half full. */
static int grow_slots(struct chi_traits_writer *w)
{
	size_t n = w->n_slots > 0 ? 2 * w->n_slots : 1024;
	uint32_t *slots = calloc(n, sizeof(*slots));
	if (slots == NULL) {
		return -CHI_ENOMEM;
	}
	free(w->slots);
	w->slots = slots;
	w->n_slots = n;
	for (size_t i = 0; i < w->n_met; i++) {
		*slot_of(w, w->met[i].trait) = (uint32_t)i + 1;
	}
	return CHI_OK;
}

static int new_block(struct chi_traits_writer *w, uint32_t *out)
{
	int rc = chi_grow(&w->blocks, &w->blocks_room, w->n_blocks + 1, sizeof(*w->blocks));
	if (rc == CHI_OK) {
		*out = (uint32_t)w->n_blocks++;
		w->blocks[*out].next = 0;
	}
	return rc;
}

/* The place of a trait, made if it was not met. */
static int meet(struct chi_traits_writer *w, chi_trait trait, struct met **out)
{
	int rc = 2 * (w->n_met + 1) > w->n_slots ? grow_slots(w) : CHI_OK;
	rc = rc == CHI_OK ? chi_grow(&w->met, &w->met_room, w->n_met + 1, sizeof(*w->met)) : rc;
	if (rc < 0) {
		return rc;
	}
	uint32_t *slot = slot_of(w, trait);
	if (*slot == 0) {
		struct met met = {.trait = trait};
		rc = new_block(w, &met.first_block);
		if (rc < 0) {
			return rc;
		}
		met.last_block = met.first_block;
		w->met[w->n_met++] = met;
		*slot = (uint32_t)w->n_met;
	}
	*out = &w->met[*slot - 1];
	return CHI_OK;
}

static int add_byte(struct chi_traits_writer *w, struct met *met, uint8_t byte)
{
	if (met->used == sizeof(w->blocks->bytes)) {
		uint32_t next = 0;
		int rc = new_block(w, &next);
		if (rc < 0) {
			return rc;
		}
		w->blocks[met->last_block].next = next;
		met->last_block = next;
		met->used = 0;
	}
	w->blocks[met->last_block].bytes[met->used++] = byte;
	return CHI_OK;
}

static int list_game(struct chi_traits_writer *w, chi_trait trait, uint32_t number)
{
	struct met *met = NULL;
	int rc = meet(w, trait, &met);
	if (rc < 0) {
		return rc;
	}
	if (!w->removes && met->n > 0 && number <= met->last) {
		return -CHI_EINTERNAL;
	}
	uint32_t left = number - met->last;
	for (; rc == CHI_OK && left > 0x7f; left >>= 7) {
		rc = add_byte(w, met, (uint8_t)(left | 0x80));
	}
	rc = rc == CHI_OK ? add_byte(w, met, (uint8_t)left) : rc;
	met->last = number;
	met->n++;
	return rc;
}

/* Arrays that grow double. */
static bool gathers_enough(const struct chi_traits_writer *w)
{
	uint64_t used = w->n_blocks * sizeof(*w->blocks) + w->n_met * sizeof(*w->met) +
			w->n_slots * sizeof(*w->slots);
	return w->n_met > 0 && used > w->memory / 2;
}

static int gather(struct chi_traits_writer *w, MDB_txn *txn, MDB_dbi dbi, bool removes,
		  uint32_t number, const uint8_t *traits, size_t n)
{
	bool turns = w->n_met > 0 && w->removes != removes;
	int rc = turns || gathers_enough(w) ? chi_traits_flush(w, txn, dbi) : CHI_OK;
	w->removes = removes;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		chi_trait trait;
		memcpy(&trait, traits + i * sizeof(trait), sizeof(trait));
		rc = list_game(w, trait, number);
	}
	return rc;
}

int chi_traits_append(struct chi_traits_writer *writer, MDB_txn *txn, MDB_dbi dbi, uint32_t number,
		      const uint8_t *traits, size_t n)
{
	return gather(writer, txn, dbi, false, number, traits, n);
}

int chi_traits_remove(struct chi_traits_writer *writer, MDB_txn *txn, MDB_dbi dbi, uint32_t number,
		      const uint8_t *traits, size_t n)
{
	return gather(writer, txn, dbi, true, number, traits, n);
}

/* ---- Writing ------------------------------------------------------------------------------ */

/* Where lists go. */
struct traits_tree {
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_cursor *cursor; /* NULL: the tree has lists */
	struct chi_chain_at chain;
};

static int compare_met(const void *a, const void *b)
{
	chi_trait left = ((const struct met *)a)->trait;
	chi_trait right = ((const struct met *)b)->trait;
	return (left > right) - (left < right);
}

static void read_list(const struct chi_traits_writer *w, const struct met *met,
		      struct chi_posting *out)
{
	const struct block *block = &w->blocks[met->first_block];
	size_t at = 0;
	uint32_t game = 0;
	for (uint32_t i = 0; i < met->n; i++) {
		uint32_t ahead = 0;
		uint8_t byte;
		unsigned shift = 0;
		do {
			if (at == sizeof(block->bytes)) {
				block = &w->blocks[block->next];
				at = 0;
			}
			byte = block->bytes[at++];
			ahead |= (uint32_t)(byte & 0x7f) << shift;
			shift += 7;
		} while ((byte & 0x80) != 0);
		game += ahead;
		out[i] = (struct chi_posting){.game = game};
	}
}

/* Behind all lists. */
static int append_list(struct traits_tree *tree, const uint8_t key[CHI_TRAIT_SIZE],
		       const struct chi_posting *entries, size_t n)
{
	uint8_t chunk[CHI_POSTINGS_CHUNK_KEY_MAX];
	uint8_t bytes[CHI_CHAIN_LINK + CHI_POSTINGS_CHUNK_MAX];
	int error = 0;
	for (size_t done = 0; error == 0 && done < n;) {
		MDB_val at = {.mv_data = chunk};
		MDB_val value = {.mv_data = bytes + CHI_CHAIN_LINK};
		done += chi_postings_chunk_encode(key, CHI_TRAIT_SIZE, entries + done, n - done,
						  chunk, &at.mv_size, value.mv_data,
						  &value.mv_size);
		error = mdb_cursor_put(tree->cursor, &at, chi_chain_sign(&tree->chain, &at, &value),
				       MDB_APPEND);
	}
	return error;
}

static int write_list(const struct chi_traits_writer *w, struct traits_tree *tree,
		      const struct met *met, struct chi_posting *entries)
{
	uint8_t key[CHI_TRAIT_SIZE];
	int error;
	chi_trait_key(met->trait, key);
	read_list(w, met, entries);
	if (w->removes) {
		chi_postings_sort(entries, met->n);
		error = chi_postings_remove(tree->txn, tree->dbi, CHI_CHAIN_TRAITS, key,
					    sizeof(key), entries, met->n);
	} else if (tree->cursor != NULL) {
		error = append_list(tree, key, entries, met->n);
	} else {
		error = chi_postings_append(tree->txn, tree->dbi, CHI_CHAIN_TRAITS, key,
					    sizeof(key), entries, met->n);
	}
	/* A list has what comes, or lacks what goes. */
	return error == MDB_KEYEXIST || error == MDB_NOTFOUND ? -CHI_ECORRUPT
							      : chi_lmdb_status(error);
}

/* A tree without lists gets a cursor. */
static int begin_tree(struct traits_tree *tree, bool removes)
{
	MDB_stat stat;
	int error = mdb_stat(tree->txn, tree->dbi, &stat);
	if (error == 0 && stat.ms_entries == 1 && !removes) {
		error = chi_chain_begin(tree->txn, tree->dbi, &tree->chain);
		error = error == 0 ? mdb_cursor_open(tree->txn, tree->dbi, &tree->cursor) : error;
	}
	return chi_lmdb_status(error);
}

static int end_tree(struct traits_tree *tree, int rc)
{
	if (tree->cursor == NULL) {
		return rc;
	}
	mdb_cursor_close(tree->cursor);
	return rc == CHI_OK ? chi_lmdb_status(chi_chain_end(tree->txn, tree->dbi, &tree->chain))
			    : rc;
}

static size_t longest(const struct chi_traits_writer *w)
{
	size_t most = 0;
	for (size_t i = 0; i < w->n_met; i++) {
		most = w->met[i].n > most ? w->met[i].n : most;
	}
	return most;
}

int chi_traits_flush(struct chi_traits_writer *w, MDB_txn *txn, MDB_dbi dbi)
{
	struct traits_tree tree = {.txn = txn, .dbi = dbi, .chain = {.chain = CHI_CHAIN_TRAITS}};
	if (w->n_met == 0) {
		return CHI_OK;
	}
	_cleanup_(chi_freep) struct chi_posting *entries = malloc(longest(w) * sizeof(*entries));
	int rc = entries != NULL ? begin_tree(&tree, w->removes) : -CHI_ENOMEM;
	qsort(w->met, w->n_met, sizeof(*w->met), compare_met);
	for (size_t i = 0; rc == CHI_OK && i < w->n_met; i++) {
		rc = write_list(w, &tree, &w->met[i], entries);
	}
	rc = end_tree(&tree, rc);
	w->n_met = 0;
	w->n_blocks = 1;
	memset(w->slots, 0, w->n_slots * sizeof(*w->slots));
	return rc;
}
