/* SPDX-License-Identifier: MIT */
/*
 * Writing bodies. How many games fill a chunk is guessed from what the last ones were compressed
 * to; a chunk that becomes too long is tried again with fewer.
 */
#include <stdlib.h>

#include "base/attr.h"
#include "store/chain/chain.h"
#include "store/games/bodies_priv.h"
#include "store/games/number.h"
#include "store/lmdb_err.h"

/* Numbers left out within a chunk are rows of removed games; after more a new one begins. */
#define GAP_MAX 64

/* Bodies gathered at most, in bytes, before they are compressed. */
#define GATHERED_MAX (64u << 10)

/* What a chunk is aimed at, in parts of its room. */
#define AIM 1.0

struct chi_bodies_writer {
	MDB_txn *txn;
	MDB_dbi dbi;
	bool begun; /* the tree's last chunk was looked at */
	bool dirty;
	double ratio; /* of compressed bytes to others */
	struct bodies_coder coder;
	struct bodies kept;
};

int chi_bodies_writer_new(MDB_txn *txn, MDB_dbi dbi, struct chi_bodies_writer **out)
{
	struct chi_bodies_writer *writer = calloc(1, sizeof(*writer));
	if (writer == NULL) {
		return -CHI_ENOMEM;
	}
	writer->txn = txn;
	writer->dbi = dbi;
	writer->ratio = 0.6;
	*out = writer;
	return CHI_OK;
}

void chi_bodies_writer_free(struct chi_bodies_writer *writer)
{
	if (writer != NULL) {
		bodies_coder_deinit(&writer->coder);
		bodies_deinit(&writer->kept);
		free(writer);
	}
}

static size_t body_size(const struct bodies *bodies, uint32_t n)
{
	size_t size = 0;
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		size += bodies->ends[p][n];
	}
	return size;
}

/* Writes a chunk of as many rows as fit; *n of them. */
static int emit(struct chi_bodies_writer *w, uint32_t *n)
{
	MDB_val value;
	uint8_t number[CHI_NUMBER_SIZE];
	*n = w->kept.n;
	for (;;) {
		int rc = bodies_pack(&w->coder, &w->kept, *n, &value);
		if (rc != CHI_OK) {
			return rc;
		}
		w->ratio = (double)value.mv_size / (double)(body_size(&w->kept, *n) + 1);
		if (value.mv_size <= CHI_BODIES_ROOM || *n == 1) {
			break;
		}
		uint32_t fewer = (uint32_t)((uint64_t)*n * CHI_BODIES_ROOM / value.mv_size);
		*n = fewer < 1 ? 1 : fewer < *n ? fewer : *n - 1;
	}
	chi_number_key(w->kept.first, number);
	MDB_val key = chi_val(number, sizeof(number));
	return chi_lmdb_status(chi_chain_put(w->txn, w->dbi, CHI_CHAIN_GAMES, &key, &value, 0));
}

int chi_bodies_flush(struct chi_bodies_writer *w)
{
	while (w->dirty) {
		uint32_t n;
		int rc = emit(w, &n);
		if (rc != CHI_OK) {
			return rc;
		}
		w->dirty = n < w->kept.n;
		if (w->dirty) {
			bodies_drop(&w->kept, n);
		}
	}
	return CHI_OK;
}

/* Takes the tree's last chunk to go on with. */
static int resume_bodies(struct chi_bodies_writer *w)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	w->begun = true;
	int rc = mdb_cursor_open(w->txn, w->dbi, &cursor);
	if (rc != 0) {
		return chi_lmdb_status(rc);
	}
	rc = chi_lmdb_status(chi_chain_step(cursor, CHI_CHAIN_GAMES, &key, &value, MDB_LAST));
	rc = rc == CHI_OK ? bodies_unpack(&w->coder, &key, &value, &w->kept) : rc;
	if (rc == CHI_OK) {
		w->ratio = (double)value.mv_size / (double)(body_size(&w->kept, w->kept.n) + 1);
	}
	mdb_cursor_close(cursor);
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* Whether what is kept should become a chunk. */
static bool is_full(const struct chi_bodies_writer *w)
{
	size_t size = body_size(&w->kept, w->kept.n);
	return w->kept.n == CHI_BODIES_ROWS || size >= GATHERED_MAX ||
	       (double)size * w->ratio >= AIM * CHI_BODIES_ROOM;
}

/* Writes all that is kept; the next chunk begins with the number. */
static int turn(struct chi_bodies_writer *w, uint32_t number)
{
	int rc = chi_bodies_flush(w);
	bodies_drop(&w->kept, w->kept.n);
	w->kept.first = number;
	return rc;
}

/* Makes the number's row the next one: rows for those that no game has, or a new chunk. */
static int go_to(struct chi_bodies_writer *w, uint32_t number, size_t size)
{
	static const struct chi_body none = {0};
	struct bodies *kept = &w->kept;
	uint32_t gap = number - (kept->first + kept->n);
	if (kept->n == 0 || gap > GAP_MAX || kept->n + gap >= CHI_BODIES_ROWS ||
	    size >= GATHERED_MAX || is_full(w)) {
		return turn(w, number);
	}
	for (; gap > 0; gap--) {
		int rc = bodies_add(kept, &none);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

/* Writes what fills a chunk. What is left, or a chunk that came out short, is gone on with. */
static int write_full(struct chi_bodies_writer *w)
{
	uint32_t n;
	int rc = emit(w, &n);
	if (rc == CHI_OK) {
		w->dirty = n < w->kept.n;
		if (w->dirty || is_full(w)) {
			bodies_drop(&w->kept, n);
		}
	}
	return rc;
}

int chi_bodies_append(struct chi_bodies_writer *w, uint32_t number, const struct chi_body *body)
{
	size_t size = 0;
	for (size_t p = 0; p < CHI_BODY_PARTS; p++) {
		size += body->parts[p].len;
	}
	int rc = w->begun ? CHI_OK : resume_bodies(w);
	if (rc != CHI_OK) {
		return rc;
	}
	if (number == 0 || size > CHI_BODY_MAX || body->parts[CHI_BODY_SHAPE].len == 0 ||
	    number < w->kept.first + w->kept.n) {
		return -CHI_EINVAL;
	}
	rc = go_to(w, number, size);
	rc = rc == CHI_OK ? bodies_add(&w->kept, body) : rc;
	w->dirty = true;
	return rc == CHI_OK && is_full(w) ? write_full(w) : rc;
}

/* The chunk without a row's body. */
static int put_without(MDB_txn *txn, MDB_dbi dbi, struct bodies_coder *coder,
		       const struct bodies *from, uint32_t number, struct bodies *to)
{
	static const struct chi_body none = {0};
	uint8_t name[CHI_NUMBER_SIZE];
	MDB_val value;
	int rc = CHI_OK;
	to->first = from->first;
	for (uint32_t row = 0; rc == CHI_OK && row < from->n; row++) {
		const struct chi_body body = bodies_at(from, row);
		rc = bodies_add(to, from->first + row == number ? &none : &body);
	}
	rc = rc == CHI_OK ? bodies_pack(coder, to, to->n, &value) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	chi_number_key(from->first, name);
	MDB_val key = chi_val(name, sizeof(name));
	return chi_lmdb_status(chi_chain_put(txn, dbi, CHI_CHAIN_GAMES, &key, &value, 0));
}

/* The chunk that has the number becomes the writer's. CHI_NONE: there is no such game. */
static int load_chunk(struct chi_bodies_writer *w, uint32_t number)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	int rc = mdb_cursor_open(w->txn, w->dbi, &cursor);
	if (rc != 0) {
		return chi_lmdb_status(rc);
	}
	rc = chi_lmdb_status(chi_number_seek(cursor, CHI_CHAIN_GAMES, number, &key, &value));
	rc = rc == CHI_OK ? bodies_unpack(&w->coder, &key, &value, &w->kept) : rc;
	mdb_cursor_close(cursor);
	uint32_t row = number - w->kept.first;
	return rc == CHI_OK && (row >= w->kept.n ||
				bodies_at(&w->kept, row).parts[CHI_BODY_SHAPE].len == 0)
		       ? CHI_NONE
		       : rc;
}

int chi_bodies_remove(MDB_txn *txn, MDB_dbi dbi, uint32_t number)
{
	struct chi_bodies_writer *w;
	struct bodies *without = calloc(1, sizeof(*without));
	int rc = without != NULL ? chi_bodies_writer_new(txn, dbi, &w) : -CHI_ENOMEM;
	if (rc != CHI_OK) {
		free(without);
		return rc;
	}
	rc = load_chunk(w, number);
	rc = rc == CHI_OK ? put_without(txn, dbi, &w->coder, &w->kept, number, without) : rc;
	bodies_deinit(without);
	free(without);
	chi_bodies_writer_free(w);
	return rc;
}
