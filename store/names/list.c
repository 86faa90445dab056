/* SPDX-License-Identifier: MIT */
/*
 * The indexes: hashes of texts, words and FIDE ids lead to the numbers of names, which are then
 * looked at. A list has the numbers of one bucket of hashes, ascending, in parts; there are few
 * enough buckets that a name costs some bytes in each index, and not an entry of LMDB.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/names/names_priv.h"
#include "store/record/checksum.h"
#include "store/record/codec.h"

#define WORD_BITS  12	/* of buckets; all candidates must be looked at */
#define OTHER_BITS 10	/* a mark tells nearly all others apart */
#define PREFIX	   4	/* bytes of a key that all parts of a list have in common */
#define PART_FULL  1000 /* bytes of a value from which on the next part begins */
#define PART_MAX   (PART_FULL + 5 + 2 + CHI_LIST_SUM)
#define ITEM_LEAST 1 /* bytes */

/* ---- Items ------------------------------------------------------------------------------- */

static struct chi_name_item item_of(enum chi_names_key entry, enum chi_name_kind kind,
				    uint64_t hash)
{
	bool word = entry == CHI_ENTRY_WORD;
	return (struct chi_name_item){
		.entry = (uint8_t)entry,
		.kind = (uint8_t)kind,
		.bucket = (uint16_t)(hash & ((1u << (word ? WORD_BITS : OTHER_BITS)) - 1)),
		.mark = word ? 0 : (uint16_t)(hash >> 48),
	};
}

struct chi_name_item chi_text_item(enum chi_name_kind kind, const char *text, size_t len)
{
	return item_of(CHI_ENTRY_TEXT, kind, XXH3_64bits(text, len));
}

struct chi_name_item chi_word_item(enum chi_name_kind kind, const char *word, size_t len)
{
	return item_of(CHI_ENTRY_WORD, kind, XXH3_64bits(word, len));
}

struct chi_name_item chi_fide_item(enum chi_name_kind kind, uint32_t fide)
{
	uint8_t bytes[4];
	struct chi_writer w = chi_writer_of(bytes, sizeof(bytes));
	chi_write_le(&w, fide, sizeof(bytes));
	return item_of(CHI_ENTRY_FIDE, kind, XXH3_64bits(bytes, sizeof(bytes)));
}

int chi_name_item_compare(const void *a, const void *b)
{
	const struct chi_name_item *x = a;
	const struct chi_name_item *y = b;
	return x->entry != y->entry	? x->entry - y->entry
	       : x->kind != y->kind	? x->kind - y->kind
	       : x->bucket != y->bucket ? x->bucket - y->bucket
					: (x->id > y->id) - (x->id < y->id);
}

static bool same_list(const struct chi_name_item *a, const struct chi_name_item *b)
{
	return a->entry == b->entry && a->kind == b->kind && a->bucket == b->bucket;
}

/* Puts an item at its place among `n`, unless it is there. */
static size_t insert(struct chi_name_item *items, size_t n, struct chi_name_item item)
{
	size_t at = n;
	while (at > 0 && chi_name_item_compare(&items[at - 1], &item) > 0) {
		at--;
	}
	if (at > 0 && chi_name_item_compare(&items[at - 1], &item) == 0) {
		return n;
	}
	memmove(items + at + 1, items + at, (n - at) * sizeof(items[0]));
	items[at] = item;
	return n + 1;
}

size_t chi_name_items(enum chi_name_kind kind, const struct chi_name *name,
		      const struct chi_name_words *words, struct chi_name_item *out)
{
	size_t n = 0;
	out[n++] = chi_text_item(kind, name->text, name->len);
	out[0].id = name->id;
	for (size_t i = 0; i < words->n; i++) {
		struct chi_name_item item =
			chi_word_item(kind, chi_name_word_text(words, i), words->word[i].len);
		item.id = name->id;
		n = insert(out, n, item);
	}
	if (name->fide != 0) {
		out[n] = chi_fide_item(kind, name->fide);
		out[n++].id = name->id;
	}
	return n;
}

/* ---- Parts ------------------------------------------------------------------------------- */

static void list_key(const struct chi_name_item *item, uint32_t first, uint8_t out[CHI_LIST_KEY])
{
	out[0] = item->entry;
	out[1] = item->kind;
	out[2] = (uint8_t)(item->bucket >> 8);
	out[3] = (uint8_t)item->bucket;
	chi_name_put32(out + PREFIX, first);
}

static uint64_t sum_of(const void *key, const void *value, size_t len)
{
	return chi_checksum(key, CHI_LIST_KEY, value, len) & UINT16_MAX;
}

void chi_list_part_deinit(struct chi_list_part *part)
{
	free(part->id);
	free(part->mark);
	*part = (struct chi_list_part){0};
}

static int reserve(struct chi_list_part *part, size_t n)
{
	size_t room = part->room;
	int rc = chi_grow(&part->id, &room, n, sizeof(*part->id));
	return rc == CHI_OK ? chi_grow(&part->mark, &part->room, n, sizeof(*part->mark)) : rc;
}

static bool has_marks(uint8_t entry)
{
	return entry != CHI_ENTRY_WORD;
}

int chi_list_decode(const MDB_val *key, const MDB_val *value, struct chi_list_part *out)
{
	const uint8_t *key_bytes = key->mv_data;
	const uint8_t *bytes = value->mv_data;
	out->n = 0;
	if (key->mv_size != CHI_LIST_KEY || value->mv_size < CHI_LIST_SUM ||
	    value->mv_size > PART_MAX) {
		return -CHI_ECORRUPT;
	}
	size_t len = value->mv_size - CHI_LIST_SUM;
	struct chi_reader sum = chi_reader_of(bytes + len, CHI_LIST_SUM);
	if (chi_read_le(&sum, CHI_LIST_SUM) != sum_of(key_bytes, bytes, len)) {
		return -CHI_ECORRUPT;
	}
	if (reserve(out, 1 + len / ITEM_LEAST) != CHI_OK) {
		return -CHI_ENOMEM;
	}
	struct chi_reader r = chi_reader_of(bytes, len);
	bool marks = has_marks(key_bytes[0]);
	uint64_t id = chi_name_get32(key_bytes + PREFIX);
	for (;;) {
		out->id[out->n] = (uint32_t)id;
		out->mark[out->n++] = marks ? (uint16_t)chi_read_le(&r, 2) : 0;
		if (r.bad || r.at == r.end) {
			break;
		}
		uint64_t step = chi_read_small(&r);
		r.bad = r.bad || step == 0 || step > UINT32_MAX - id;
		id += r.bad ? 0 : step;
	}
	return r.bad || out->id[0] == 0 ? -CHI_ECORRUPT : CHI_OK;
}

/* Writes a part of as many as fit, from `from` on; returns where the next one begins. */
static size_t encode(const struct chi_list_part *part, size_t from, bool marks,
		     struct chi_writer *w)
{
	const uint8_t *start = w->at;
	size_t i = from;
	while (i < part->n && (i == from || w->at - start < PART_FULL)) {
		if (i > from) {
			chi_write_varint(w, part->id[i] - part->id[i - 1]);
		}
		if (marks) {
			chi_write_le(w, part->mark[i], 2);
		}
		i++;
	}
	return i;
}

static int put_parts(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *like,
		     const struct chi_list_part *part)
{
	for (size_t from = 0, to = 0; from < part->n; from = to) {
		uint8_t key_bytes[CHI_LIST_KEY];
		uint8_t bytes[PART_MAX];
		struct chi_writer w = chi_writer_of(bytes, sizeof(bytes));
		to = encode(part, from, has_marks(like->entry), &w);
		size_t len = (size_t)(w.at - bytes);
		list_key(like, part->id[from], key_bytes);
		chi_write_le(&w, sum_of(key_bytes, bytes, len), CHI_LIST_SUM);
		MDB_val key = {sizeof(key_bytes), key_bytes};
		MDB_val value = {len + CHI_LIST_SUM, bytes};
		int rc = chi_chain_put(txn, dbi, CHI_CHAIN_NAMES, &key, &value, 0);
		if (rc != 0) {
			return chi_lmdb_status(rc);
		}
	}
	return CHI_OK;
}

/* ---- Adding ------------------------------------------------------------------------------ */

/* The part that a number belongs to: the last that begins at or before it, else the first. *end is
 * where the next part begins. CHI_NONE: the list is empty. */
static int find_part(MDB_cursor *cursor, const struct chi_name_item *item,
		     struct chi_list_part *part, uint64_t *end)
{
	uint8_t wanted[CHI_LIST_KEY];
	MDB_val key = {sizeof(wanted), wanted};
	MDB_val value;
	list_key(item, item->id, wanted);
	*end = (uint64_t)UINT32_MAX + 1;
	part->n = 0;
	int rc = chi_lmdb_status(chi_chain_seek(cursor, CHI_CHAIN_NAMES, PREFIX, &key, &value));
	rc = rc == CHI_OK ? chi_list_decode(&key, &value, part) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_lmdb_status(chi_chain_step(cursor, CHI_CHAIN_NAMES, &key, &value, MDB_NEXT));
	if (rc == CHI_OK && key.mv_size == CHI_LIST_KEY &&
	    memcmp(key.mv_data, wanted, PREFIX) == 0) {
		*end = chi_name_get32((const uint8_t *)key.mv_data + PREFIX);
	}
	return rc < 0 ? rc : CHI_OK;
}

/* Merges sorted items into a part that has room for them. */
static void merge_items(struct chi_list_part *part, const struct chi_name_item *items, size_t n)
{
	size_t have = part->n;
	size_t at = part->n + n;
	part->n = at;
	while (n > 0) {
		at--;
		if (have > 0 && part->id[have - 1] > items[n - 1].id) {
			have--;
			part->id[at] = part->id[have];
			part->mark[at] = part->mark[have];
		} else {
			n--;
			part->id[at] = items[n].id;
			part->mark[at] = items[n].mark;
		}
	}
}

/* The first items of a list that belong to the same part; *n says how many they were. */
static int add_some(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *items, size_t *n,
		    struct chi_list_part *part)
{
	MDB_cursor *cursor;
	uint64_t end;
	size_t some = 0;
	int rc = chi_lmdb_status(mdb_cursor_open(txn, dbi, &cursor));
	if (rc != CHI_OK) {
		return rc;
	}
	rc = find_part(cursor, items, part, &end);
	mdb_cursor_close(cursor);
	while (some < *n && items[some].id < end) {
		some++;
	}
	*n = some;
	rc = rc < 0 ? rc : reserve(part, part->n + some);
	if (rc != CHI_OK) {
		return rc;
	}
	/* A part is known by its first number. */
	if (part->n > 0 && items[0].id < part->id[0]) {
		uint8_t bytes[CHI_LIST_KEY];
		MDB_val key = {sizeof(bytes), bytes};
		list_key(items, part->id[0], bytes);
		rc = chi_lmdb_status(chi_chain_del(txn, dbi, CHI_CHAIN_NAMES, &key));
	}
	merge_items(part, items, some);
	return rc == CHI_OK ? put_parts(txn, dbi, items, part) : -CHI_ECORRUPT;
}

size_t chi_list_end(const struct chi_name_item *items, size_t at, size_t n)
{
	size_t end = at + 1;
	while (end < n && same_list(&items[at], &items[end])) {
		end++;
	}
	return end;
}

int chi_lists_add(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *items, size_t n)
{
	_cleanup_(chi_list_part_deinit) struct chi_list_part part = {0};
	int rc = CHI_OK;
	for (size_t at = 0; rc == CHI_OK && at < n;) {
		size_t some = chi_list_end(items, at, n) - at;
		rc = add_some(txn, dbi, items + at, &some, &part);
		at += some;
	}
	return rc;
}

/* ---- Removing ---------------------------------------------------------------------------- */

/* Leaves out the item's number. False: it was not there. */
static bool leave_out(struct chi_list_part *part, uint32_t id)
{
	size_t n = 0;
	for (size_t i = 0; i < part->n; i++) {
		part->id[n] = part->id[i];
		part->mark[n] = part->mark[i];
		n += part->id[i] != id;
	}
	bool found = n < part->n;
	part->n = n;
	return found;
}

int chi_list_remove(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *item)
{
	_cleanup_(chi_list_part_deinit) struct chi_list_part part = {0};
	uint8_t bytes[CHI_LIST_KEY];
	MDB_val key = {sizeof(bytes), bytes};
	MDB_cursor *cursor;
	uint64_t end;
	int rc = chi_lmdb_status(mdb_cursor_open(txn, dbi, &cursor));
	if (rc != CHI_OK) {
		return rc;
	}
	rc = find_part(cursor, item, &part, &end);
	mdb_cursor_close(cursor);
	uint32_t first = rc == CHI_OK ? part.id[0] : 0;
	if (rc != CHI_OK || !leave_out(&part, item->id)) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	/* A part is known by its first number. */
	if (first == item->id) {
		list_key(item, first, bytes);
		rc = chi_lmdb_status(chi_chain_del(txn, dbi, CHI_CHAIN_NAMES, &key));
	}
	return rc == CHI_OK ? put_parts(txn, dbi, item, &part) : rc < 0 ? rc : -CHI_ECORRUPT;
}

/* ---- Reading ----------------------------------------------------------------------------- */

int chi_name_ids_add(struct chi_name_ids *ids, uint32_t id)
{
	if (chi_grow(&ids->id, &ids->room, ids->n + 1, sizeof(*ids->id)) < 0) {
		return -CHI_ENOMEM;
	}
	ids->id[ids->n++] = id;
	return CHI_OK;
}

void chi_name_ids_deinit(struct chi_name_ids *ids)
{
	free(ids->id);
	*ids = (struct chi_name_ids){0};
}

struct list_read {
	struct chi_list_part part;
	uint16_t mark;
	struct chi_name_ids *out;
};

static int add_marked(void *context, const MDB_val *key, const MDB_val *value)
{
	struct list_read *read = context;
	const struct chi_list_part *part = &read->part;
	int rc = chi_list_decode(key, value, &read->part);
	for (size_t i = 0; rc == CHI_OK && i < part->n; i++) {
		if (part->mark[i] == read->mark) {
			rc = chi_name_ids_add(read->out, part->id[i]);
		}
	}
	return rc;
}

int chi_list_read(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *like,
		  struct chi_name_ids *out)
{
	uint8_t bytes[CHI_LIST_KEY];
	const MDB_val from = {sizeof(bytes), bytes};
	struct list_read read = {.mark = like->mark, .out = out};
	list_key(like, 0, bytes);
	int rc = chi_chain_walk(txn, dbi, CHI_CHAIN_NAMES, &from, PREFIX, add_marked, &read);
	chi_list_part_deinit(&read.part);
	return rc;
}
