/* SPDX-License-Identifier: MIT */
/*
 * Names lie in chunks by their numbers: a name costs its text and a byte or two, and is found
 * without a search.
 */
#include "store/names/names_priv.h"

#include <string.h>

#include "base/attr.h"
#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/record/codec.h"

#define HAS_ROOT 1u
#define HAS_FIDE 2u
#define GIVEN	 1u /* of the number that is twice the FIDE id */

void chi_chunk_key(enum chi_name_kind kind, uint32_t chunk, uint8_t out[CHI_CHUNK_KEY])
{
	out[0] = CHI_ENTRY_NAMES;
	out[1] = (uint8_t)kind;
	chi_name_put32(out + 2, chunk);
}

static uint64_t sum_of(const void *key, size_t key_len, const void *value, size_t len)
{
	return chi_checksum(key, key_len, value, len) & UINT32_MAX;
}

/* A number that is announced, so not 0. */
static uint32_t checked(struct chi_reader *r, uint64_t value)
{
	r->bad = r->bad || value == 0 || value > UINT32_MAX;
	return (uint32_t)value;
}

static void read_name(struct chi_reader *r, uint32_t id, struct chi_name *out)
{
	uint64_t head = chi_read_varint(r);
	*out = (struct chi_name){.id = id};
	if ((head & HAS_ROOT) != 0) {
		out->root = checked(r, chi_read_varint(r));
	}
	if ((head & HAS_FIDE) != 0) {
		uint64_t fide = chi_read_varint(r);
		out->fide = checked(r, fide >> 1);
		out->given = (fide & GIVEN) != 0;
	}
	r->bad = r->bad || (head != 0 && head < 4) || head >> 2 > CHI_NAME_MAX;
	out->len = r->bad ? 0 : (size_t)(head >> 2);
	out->text = (const char *)chi_read_bytes(r, out->len);
}

int chi_chunk_decode(const MDB_val *key, const MDB_val *value, size_t most,
		     struct chi_name_chunk *out)
{
	const uint8_t *key_bytes = key->mv_data;
	const uint8_t *bytes = value->mv_data;
	out->n = 0;
	if (key->mv_size != CHI_CHUNK_KEY || value->mv_size <= CHI_CHUNK_SUM ||
	    value->mv_size > CHI_CHUNK_MAX) {
		return -CHI_ECORRUPT;
	}
	size_t len = value->mv_size - CHI_CHUNK_SUM;
	uint32_t chunk = chi_name_get32(key_bytes + 2);
	struct chi_reader sum = chi_reader_of(bytes + len, CHI_CHUNK_SUM);
	if (chi_read_le(&sum, CHI_CHUNK_SUM) != sum_of(key_bytes, key->mv_size, bytes, len) ||
	    chunk > (UINT32_MAX - 1) / CHI_CHUNK_NAMES) {
		return -CHI_ECORRUPT;
	}
	struct chi_reader r = chi_reader_of(bytes, len);
	while (!r.bad && r.at < r.end && out->n < most) {
		uint64_t id = (uint64_t)chunk * CHI_CHUNK_NAMES + out->n + 1;
		r.bad = id > UINT32_MAX;
		read_name(&r, (uint32_t)id, &out->name[out->n++]);
	}
	bool more = out->n == CHI_CHUNK_NAMES && r.at < r.end;
	return r.bad || more ? -CHI_ECORRUPT : CHI_OK;
}

int chi_chunk_get(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t chunk, size_t most,
		  struct chi_name_chunk *out)
{
	uint8_t bytes[CHI_CHUNK_KEY];
	MDB_val key = {sizeof(bytes), bytes};
	MDB_val value;
	chi_chunk_key(kind, chunk, bytes);
	out->n = 0;
	int rc = chi_chain_get(txn, dbi, CHI_CHAIN_NAMES, &key, &value);
	return rc != 0 ? chi_lmdb_status(rc) : chi_chunk_decode(&key, &value, most, out);
}

static void write_name(struct chi_writer *w, const struct chi_name *name)
{
	chi_write_varint(w, name->len << 2 | (name->fide != 0 ? HAS_FIDE : 0) |
				    (name->root != 0 ? HAS_ROOT : 0));
	if (name->root != 0) {
		chi_write_varint(w, name->root);
	}
	if (name->fide != 0) {
		chi_write_varint(w, (uint64_t)name->fide << 1 | (name->given ? GIVEN : 0));
	}
	chi_write_bytes(w, name->text, name->len);
}

size_t chi_chunk_encode(const uint8_t key[CHI_CHUNK_KEY], const struct chi_name_chunk *names,
			uint8_t out[CHI_CHUNK_MAX])
{
	struct chi_writer w = chi_writer_of(out, CHI_CHUNK_MAX);
	for (size_t i = 0; i < names->n; i++) {
		write_name(&w, &names->name[i]);
	}
	size_t len = (size_t)(w.at - out);
	chi_write_le(&w, sum_of(key, CHI_CHUNK_KEY, out, len), CHI_CHUNK_SUM);
	return len + CHI_CHUNK_SUM;
}

int chi_chunk_put(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t chunk,
		  const struct chi_name_chunk *names)
{
	uint8_t key_bytes[CHI_CHUNK_KEY];
	uint8_t bytes[CHI_CHUNK_MAX];
	chi_chunk_key(kind, chunk, key_bytes);
	MDB_val key = {sizeof(key_bytes), key_bytes};
	MDB_val value = {chi_chunk_encode(key_bytes, names, bytes), bytes};
	return chi_lmdb_status(chi_chain_put(txn, dbi, CHI_CHAIN_NAMES, &key, &value, 0));
}

int chi_name_rewrite(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
		     const struct chi_name *name)
{
	struct chi_name_chunk chunk;
	uint32_t number = chi_chunk_of(name->id);
	size_t at = (name->id - 1) % CHI_CHUNK_NAMES;
	int rc = chi_chunk_get(txn, dbi, kind, number, CHI_CHUNK_NAMES, &chunk);
	if (rc != CHI_OK || at >= chunk.n) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	chunk.name[at] = *name;
	return chi_chunk_put(txn, dbi, kind, number, &chunk);
}

/* ---- Reading ----------------------------------------------------------------------------- */

int chi_name_text(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
		  struct chi_name *out)
{
	struct chi_name_chunk chunk;
	size_t at = (id - 1) % CHI_CHUNK_NAMES;
	if (id == 0) {
		return CHI_NONE;
	}
	int rc = chi_chunk_get(txn, dbi, kind, chi_chunk_of(id), at + 1, &chunk);
	if (rc != CHI_OK || at >= chunk.n || chunk.name[at].len == 0) {
		return rc < 0 ? rc : CHI_NONE;
	}
	*out = chunk.name[at];
	return CHI_OK;
}

void chi_name_reader_begin(struct chi_name_reader *reader, MDB_txn *txn, MDB_dbi dbi,
			   uint64_t snapshot)
{
	reader->txn = txn;
	reader->dbi = dbi;
	reader->snapshot = snapshot;
}

static int fill_slot(struct chi_name_reader *reader, enum chi_name_kind kind, uint32_t number,
		     struct chi_name_slot *slot)
{
	struct chi_name_chunk chunk;
	_Static_assert(CHI_COUNT(slot->at) == CHI_CHUNK_NAMES && CHI_CHUNK_MAX <= UINT16_MAX, "");
	int rc = chi_chunk_get(reader->txn, reader->dbi, kind, number, CHI_CHUNK_NAMES, &chunk);
	slot->snapshot = 0;
	if (rc != CHI_OK) {
		return rc;
	}
	*slot = (struct chi_name_slot){.key = (uint64_t)kind << 32 | number,
				       .snapshot = reader->snapshot,
				       .n = (uint32_t)chunk.n,
				       .texts = chunk.n > 0 ? chunk.name[0].text : NULL};
	for (size_t i = 0; i < chunk.n; i++) {
		slot->at[i] = (uint16_t)(chunk.name[i].text - slot->texts);
		slot->len[i] = (uint16_t)chunk.name[i].len;
	}
	return CHI_OK;
}

int chi_name_reader_text(struct chi_name_reader *reader, enum chi_name_kind kind, uint32_t id,
			 const char **text, size_t *len)
{
	uint32_t number = chi_chunk_of(id);
	size_t at = (id - 1) % CHI_CHUNK_NAMES;
	struct chi_name_slot *slot =
		&reader->slots[(number ^ (uint32_t)kind << 7) % CHI_COUNT(reader->slots)];
	if (id == 0) {
		return CHI_NONE;
	}
	if (slot->snapshot != reader->snapshot || slot->key != ((uint64_t)kind << 32 | number)) {
		int rc = fill_slot(reader, kind, number, slot);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	if (at >= slot->n || slot->len[at] == 0) {
		return CHI_NONE;
	}
	*text = slot->texts + slot->at[at];
	*len = slot->len[at];
	return CHI_OK;
}

int chi_names_count(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t *out)
{
	uint8_t bytes[CHI_CHUNK_KEY];
	MDB_val key = {sizeof(bytes), bytes};
	MDB_val value;
	MDB_cursor *cursor;
	struct chi_name_chunk chunk;
	*out = 0;
	int rc = chi_lmdb_status(mdb_cursor_open(txn, dbi, &cursor));
	if (rc != CHI_OK) {
		return rc;
	}
	chi_chunk_key(kind, UINT32_MAX, bytes);
	rc = chi_lmdb_status(chi_chain_seek(cursor, CHI_CHAIN_NAMES, 2, &key, &value));
	if (rc == CHI_OK) {
		rc = chi_chunk_decode(&key, &value, CHI_CHUNK_NAMES, &chunk);
		*out = chunk.n > 0 ? chunk.name[chunk.n - 1].id : 0;
	}
	mdb_cursor_close(cursor);
	return rc == CHI_NONE ? CHI_OK : rc;
}

struct name_walk {
	uint32_t first;
	chi_name_visit *visit;
	void *context;
};

/* The names of one chunk from a number on. */
static int visit_chunk(void *context, const MDB_val *key, const MDB_val *value)
{
	const struct name_walk *walk = context;
	struct chi_name_chunk chunk;
	int rc = chi_chunk_decode(key, value, CHI_CHUNK_NAMES, &chunk);
	for (size_t i = 0; rc == CHI_OK && i < chunk.n; i++) {
		if (chunk.name[i].id >= walk->first && chunk.name[i].len > 0) {
			rc = walk->visit(walk->context, &chunk.name[i]);
		}
	}
	return rc;
}

int chi_names_walk(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t first,
		   chi_name_visit *visit, void *context)
{
	uint8_t bytes[CHI_CHUNK_KEY];
	const MDB_val from = {sizeof(bytes), bytes};
	struct name_walk walk = {first, visit, context};
	chi_chunk_key(kind, first == 0 ? 0 : chi_chunk_of(first), bytes);
	return chi_chain_walk(txn, dbi, CHI_CHAIN_NAMES, &from, 2, visit_chunk, &walk);
}
