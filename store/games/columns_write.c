/* SPDX-License-Identifier: MIT */
/*
 * Writing chunks of columns. A chunk is kept as numbers, with the least and the greatest of each
 * column, which say at any time how long it is; its bytes are made when it is full or flushed. The
 * result's column has always base 0 and a byte, so that removing a game never makes it longer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/games/columns_priv.h"
#include "store/games/number.h"
#include "store/lmdb_err.h"

/* Numbers left out within a chunk are rows of removed games; after more a new one begins. */
#define GAP_MAX 64

struct range {
	uint32_t least;
	uint32_t greatest;
};

struct chi_columns_writer {
	MDB_txn *txn;
	MDB_dbi dbi;
	bool begun; /* the tree's last chunk was looked at */
	bool dirty;
	uint32_t first;
	uint32_t n;
	struct range ranges[CHI_COLUMNS];
	uint32_t rows[CHI_COLUMNS_ROWS][CHI_COLUMNS];
};

int chi_columns_writer_new(MDB_txn *txn, MDB_dbi dbi, struct chi_columns_writer **out)
{
	struct chi_columns_writer *writer = malloc(sizeof(*writer));
	if (writer == NULL) {
		return -CHI_ENOMEM;
	}
	writer->txn = txn;
	writer->dbi = dbi;
	writer->begun = false;
	writer->dirty = false;
	writer->n = 0;
	*out = writer;
	return CHI_OK;
}

void chi_columns_writer_free(struct chi_columns_writer *writer)
{
	free(writer);
}

static uint32_t width_of(struct range range)
{
	uint32_t span = range.greatest - range.least;
	return (uint32_t)(span > 0) + (span > 0xff) + (span > 0xffff) + (span > 0xffffff);
}

static struct range widened(struct range range, uint32_t value)
{
	return (struct range){
		.least = value < range.least ? value : range.least,
		.greatest = value > range.greatest ? value : range.greatest,
	};
}

/* Adds a row if it fits. */
static bool add_row(struct chi_columns_writer *w, const uint32_t row[CHI_COLUMNS])
{
	struct range ranges[CHI_COLUMNS];
	size_t widths = 0;
	if (w->n == CHI_COLUMNS_ROWS) {
		return false;
	}
	for (size_t i = 0; i < CHI_COLUMNS; i++) {
		ranges[i] = w->n > 0 ? widened(w->ranges[i], row[i])
				     : (struct range){.least = row[i], .greatest = row[i]};
		if (i == CHI_COLUMN_RESULT) {
			ranges[i] = (struct range){.least = 0, .greatest = 0xff};
		}
		widths += width_of(ranges[i]);
	}
	if (COLUMNS_HEAD + widths * (w->n + 1) + 4 > CHI_COLUMNS_ROOM) {
		return false;
	}
	memcpy(w->ranges, ranges, sizeof(ranges));
	memcpy(w->rows[w->n], row, sizeof(w->rows[0]));
	w->n++;
	return true;
}

/* The chunk's bytes; their number. */
static size_t pack_columns(const struct chi_columns_writer *w, const MDB_val *key,
			   uint8_t out[CHI_COLUMNS_ROOM])
{
	struct chi_writer to = chi_writer_of(out, CHI_COLUMNS_ROOM);
	chi_write_le(&to, w->n, 2);
	for (size_t i = 0; i < CHI_COLUMNS; i++) {
		chi_write_le(&to, w->ranges[i].least, 4);
		chi_write_u8(&to, (uint8_t)width_of(w->ranges[i]));
	}
	for (size_t i = 0; i < CHI_COLUMNS; i++) {
		uint32_t width = width_of(w->ranges[i]);
		for (uint32_t row = 0; row < w->n && width > 0; row++) {
			chi_write_le(&to, w->rows[row][i] - w->ranges[i].least, width);
		}
	}
	size_t len = (size_t)(to.at - out);
	chi_write_le(&to, chi_columns_checksum(key, out, len), 4);
	return len + 4;
}

int chi_columns_flush(struct chi_columns_writer *w)
{
	uint8_t number[CHI_NUMBER_SIZE];
	uint8_t bytes[CHI_COLUMNS_ROOM];
	if (!w->dirty) {
		return CHI_OK;
	}
	chi_number_key(w->first, number);
	MDB_val key = chi_val(number, sizeof(number));
	MDB_val value = chi_val(bytes, pack_columns(w, &key, bytes));
	w->dirty = false;
	return chi_lmdb_status(chi_chain_put(w->txn, w->dbi, CHI_CHAIN_COLUMNS, &key, &value, 0));
}

/* Takes the tree's last chunk to go on with. */
static int resume_columns(struct chi_columns_writer *w)
{
	struct chi_columns_reader reader = {0};
	uint32_t last = 0;
	w->begun = true;
	int rc = chi_columns_last(w->txn, w->dbi, &last);
	if (rc != CHI_OK || last == 0) {
		return rc;
	}
	rc = chi_columns_reader_init(&reader, w->txn, w->dbi);
	rc = rc == CHI_OK ? chi_columns_seek(&reader, last) : rc;
	w->first = reader.chunk.first;
	for (uint32_t row = 0; rc == CHI_OK && row < reader.chunk.n; row++) {
		uint32_t values[CHI_COLUMNS];
		for (unsigned i = 0; i < CHI_COLUMNS; i++) {
			values[i] = chi_column_value(&reader.chunk, (enum chi_column)i, row);
		}
		rc = add_row(w, values) ? CHI_OK : -CHI_ECORRUPT;
	}
	chi_columns_reader_deinit(&reader);
	return rc;
}

/* Closes the chunk; the next one begins with the number. */
static int turn(struct chi_columns_writer *w, uint32_t number)
{
	int rc = chi_columns_flush(w);
	w->first = number;
	w->n = 0;
	return rc;
}

/* Rows for numbers that no game has. */
static int fill_gap(struct chi_columns_writer *w, uint32_t number)
{
	uint32_t row[CHI_COLUMNS];
	if (w->n == 0 || number - (w->first + w->n) > GAP_MAX) {
		return turn(w, number);
	}
	memcpy(row, w->rows[w->n - 1], sizeof(row));
	row[CHI_COLUMN_RESULT] = CHI_ROW_REMOVED;
	while (w->first + w->n < number) {
		if (!add_row(w, row)) {
			return turn(w, number);
		}
	}
	return CHI_OK;
}

void chi_columns_row(const struct chi_game_head *head, uint32_t out[CHI_COLUMNS])
{
	const uint32_t row[CHI_COLUMNS] = {
		[CHI_COLUMN_WHITE] = head->white,
		[CHI_COLUMN_BLACK] = head->black,
		[CHI_COLUMN_EVENT] = head->event,
		[CHI_COLUMN_SITE] = head->site,
		[CHI_COLUMN_SOURCE] = head->source,
		[CHI_COLUMN_YEAR] = head->year,
		[CHI_COLUMN_MONTH] = head->month,
		[CHI_COLUMN_DAY] = head->day,
		[CHI_COLUMN_WHITE_ELO] = head->white_elo,
		[CHI_COLUMN_BLACK_ELO] = head->black_elo,
		[CHI_COLUMN_ECO] = head->eco,
		[CHI_COLUMN_PLIES] = head->plies,
		[CHI_COLUMN_RESULT] = head->result,
		[CHI_COLUMN_WHITE_TITLE] = head->white_title,
		[CHI_COLUMN_BLACK_TITLE] = head->black_title,
		[CHI_COLUMN_SPEED] = head->speed,
	};
	memcpy(out, row, sizeof(row));
}

int chi_columns_append(struct chi_columns_writer *w, const struct chi_game_head *head)
{
	uint32_t row[CHI_COLUMNS];
	chi_columns_row(head, row);
	int rc = w->begun ? CHI_OK : resume_columns(w);
	if (rc != CHI_OK) {
		return rc;
	}
	if (head->number == 0 || head->result > CHI_RESULT_OTHER ||
	    (w->n > 0 && head->number < w->first + w->n)) {
		return -CHI_EINVAL;
	}
	rc = fill_gap(w, head->number);
	if (rc == CHI_OK && !add_row(w, row)) {
		rc = turn(w, head->number);
		rc = rc == CHI_OK && !add_row(w, row) ? -CHI_EINTERNAL : rc;
	}
	w->dirty = true;
	return rc;
}

/* The chunk that the reader is in, with a row marked. */
static int mark(MDB_txn *txn, MDB_dbi dbi, const struct chi_columns_reader *reader, uint32_t row)
{
	const struct chi_column_span *results = &reader->chunk.columns[CHI_COLUMN_RESULT];
	uint8_t number[CHI_NUMBER_SIZE];
	uint8_t bytes[CHI_COLUMNS_ROOM];
	MDB_val key;
	MDB_val value;
	int rc = chi_chain_step(reader->cursor, CHI_CHAIN_COLUMNS, &key, &value, MDB_GET_CURRENT);
	if (rc != 0) {
		return chi_lmdb_status(rc);
	}
	if (results->width != 1 || results->base != 0) {
		return -CHI_ECORRUPT;
	}
	const uint8_t *from = value.mv_data;
	size_t end = value.mv_size - 4;
	/* LMDB may move what the cursor gave when it is told to put. */
	memcpy(bytes, from, value.mv_size);
	chi_number_key(reader->chunk.first, number);
	key = chi_val(number, sizeof(number));
	bytes[(size_t)(results->bytes - from) + row] = CHI_ROW_REMOVED;
	struct chi_writer to = chi_writer_of(bytes + end, 4);
	chi_write_le(&to, chi_columns_checksum(&key, bytes, end), 4);
	value = chi_val(bytes, end + 4);
	return chi_lmdb_status(chi_chain_put(txn, dbi, CHI_CHAIN_COLUMNS, &key, &value, 0));
}

int chi_columns_remove(MDB_txn *txn, MDB_dbi dbi, uint32_t number)
{
	struct chi_columns_reader reader;
	uint32_t row = 0;
	int rc = chi_columns_reader_init(&reader, txn, dbi);
	rc = rc == CHI_OK ? chi_columns_find(&reader, number, &row) : rc;
	rc = rc == CHI_OK ? mark(txn, dbi, &reader, row) : rc;
	chi_columns_reader_deinit(&reader);
	return rc;
}
