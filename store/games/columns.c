/* SPDX-License-Identifier: MIT */
/*
 * Reading chunks of columns. The bytes (FORMAT.md, "Columns tree"):
 *
 *	0 rows (2)  2 for each column: base (4) width (1)  82 the columns  checksum (4)
 *
 * The checksum is at the end so that four bytes can be read wherever a number begins.
 */
#include "store/games/columns.h"

#include "store/chain/chain.h"
#include "store/games/columns_priv.h"
#include "store/games/number.h"
#include "store/games/seen.h"
#include "store/lmdb_err.h"
#include "store/record/checksum.h"

static const uint32_t masks[] = {0, 0xff, 0xffff, 0xffffff, 0xffffffff};

uint32_t chi_columns_checksum(const MDB_val *key, const uint8_t *bytes, size_t len)
{
	return (uint32_t)chi_checksum_inline(key->mv_data, key->mv_size, bytes, len);
}

static uint32_t load32(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

/* Where the columns are; false if they do not fill the value. */
static bool lay_out(const uint8_t *bytes, size_t end, struct chi_columns_chunk *out)
{
	size_t at = COLUMNS_HEAD;
	out->n = (uint32_t)(bytes[0] | bytes[1] << 8);
	for (size_t i = 0; i < CHI_COLUMNS; i++) {
		const uint8_t *entry = bytes + 2 + 5 * i;
		uint32_t width = entry[4];
		if (width > 4 || at > end) {
			return false;
		}
		out->columns[i] = (struct chi_column_span){.bytes = bytes + at,
							   .base = load32(entry),
							   .mask = masks[width],
							   .width = width};
		at += (size_t)width * out->n;
	}
	return at == end && out->n >= 1 && out->n <= CHI_COLUMNS_ROWS;
}

int chi_columns_open(const MDB_val *key, const MDB_val *value, struct chi_columns_chunk *out)
{
	const uint8_t *bytes = value->mv_data;
	if (key->mv_size != CHI_NUMBER_SIZE || value->mv_size < COLUMNS_HEAD + 4 ||
	    value->mv_size > CHI_COLUMNS_ROOM) {
		return -CHI_ECORRUPT;
	}
	size_t end = value->mv_size - 4;
	struct chi_columns_chunk chunk = {.first = chi_number_of(key->mv_data)};
	if (load32(bytes + end) != chi_columns_checksum(key, bytes, end) ||
	    !lay_out(bytes, end, &chunk) || chunk.first == 0 ||
	    chunk.first + (chunk.n - 1) < chunk.first) {
		return -CHI_ECORRUPT;
	}
	*out = chunk;
	return CHI_OK;
}

int chi_columns_reader_init(struct chi_columns_reader *reader, MDB_txn *txn, MDB_dbi dbi)
{
	*reader = (struct chi_columns_reader){0};
	return chi_lmdb_status(mdb_cursor_open(txn, dbi, &reader->cursor));
}

int chi_columns_reader_begin(struct chi_columns_reader *reader, MDB_txn *txn,
			     const struct chi_archive_trees *trees)
{
	int rc = chi_columns_reader_init(reader, txn, trees->columns);
	reader->seen = rc == CHI_OK ? trees->seen : NULL;
	return rc;
}

void chi_columns_reader_deinit(struct chi_columns_reader *reader)
{
	if (reader->cursor != NULL) {
		mdb_cursor_close(reader->cursor);
	}
	*reader = (struct chi_columns_reader){0};
}

/* Opens what the cursor found. */
static int enter(struct chi_columns_reader *reader, int rc, const MDB_val *key,
		 const MDB_val *value)
{
	reader->chunk.n = 0;
	reader->apart = false;
	int status = chi_lmdb_status(rc);
	return status == CHI_OK ? chi_columns_open(key, value, &reader->chunk) : status;
}

static bool covers(const struct chi_columns_chunk *chunk, uint32_t number)
{
	return number - chunk->first < chunk->n;
}

/* The chunk that has the number, if it was verified before. */
static bool find_seen(struct chi_columns_reader *reader, uint32_t number)
{
	const struct chi_seen *seen = reader->seen;
	if (seen == NULL) {
		return false;
	}
	const struct chi_seen_chunk *place = chi_seen_place(reader->seen, number);
	if (place->serial != seen->serial || number - place->first >= place->n ||
	    !lay_out(place->bytes, place->size, &reader->chunk)) {
		return false;
	}
	reader->chunk.first = place->first;
	reader->apart = true;
	return true;
}

/* Remembers the chunk that was entered by a number that it has. */
static void keep_seen(struct chi_columns_reader *reader, uint32_t number, const MDB_val *value)
{
	const struct chi_columns_chunk *chunk = &reader->chunk;
	if (reader->seen != NULL && covers(chunk, number)) {
		*chi_seen_place(reader->seen, number) =
			(struct chi_seen_chunk){.serial = reader->seen->serial,
						.bytes = value->mv_data,
						.first = chunk->first,
						.n = (uint16_t)chunk->n,
						.size = (uint16_t)(value->mv_size - 4)};
	}
}

int chi_columns_find(struct chi_columns_reader *reader, uint32_t number, uint32_t *row)
{
	struct chi_columns_chunk *chunk = &reader->chunk;
	if (!covers(chunk, number) && !find_seen(reader, number)) {
		MDB_val key;
		MDB_val value;
		int rc = chi_number_seek(reader->cursor, CHI_CHAIN_COLUMNS, number, &key, &value);
		rc = enter(reader, rc, &key, &value);
		if (rc != CHI_OK) {
			return rc;
		}
		keep_seen(reader, number, &value);
		if (!covers(chunk, number)) {
			return CHI_NONE;
		}
	}
	*row = number - chunk->first;
	return chi_column_value(chunk, CHI_COLUMN_RESULT, *row) < CHI_ROW_REMOVED ? CHI_OK
										  : CHI_NONE;
}

void chi_columns_head(const struct chi_columns_chunk *chunk, uint32_t row,
		      struct chi_game_head *out)
{
#define AT(column) chi_column_value(chunk, CHI_COLUMN_##column, row)
	*out = (struct chi_game_head){
		.number = chunk->first + row,
		.white = AT(WHITE),
		.black = AT(BLACK),
		.event = AT(EVENT),
		.site = AT(SITE),
		.source = AT(SOURCE),
		.year = (uint16_t)AT(YEAR),
		.month = (uint8_t)AT(MONTH),
		.day = (uint8_t)AT(DAY),
		.white_elo = (uint16_t)AT(WHITE_ELO),
		.black_elo = (uint16_t)AT(BLACK_ELO),
		.eco = (uint16_t)AT(ECO),
		.plies = (uint16_t)AT(PLIES),
		.result = (uint8_t)AT(RESULT),
		.white_title = (uint8_t)AT(WHITE_TITLE),
		.black_title = (uint8_t)AT(BLACK_TITLE),
		.speed = (uint8_t)AT(SPEED),
	};
#undef AT
}

int chi_columns_read(struct chi_columns_reader *reader, uint32_t number, struct chi_game_head *out)
{
	uint32_t row = 0;
	int rc = chi_columns_find(reader, number, &row);
	if (rc == CHI_OK) {
		chi_columns_head(&reader->chunk, row, out);
	}
	return rc;
}

int chi_columns_seek(struct chi_columns_reader *reader, uint32_t from)
{
	MDB_val key;
	MDB_val value;
	if (find_seen(reader, from)) {
		return CHI_OK;
	}
	int rc = enter(reader,
		       chi_number_seek(reader->cursor, CHI_CHAIN_COLUMNS, from, &key, &value), &key,
		       &value);
	if (rc == CHI_OK) {
		keep_seen(reader, from, &value);
	}
	return rc != CHI_OK || covers(&reader->chunk, from) || reader->chunk.first > from
		       ? rc
		       : chi_columns_next(reader);
}

int chi_columns_next(struct chi_columns_reader *reader)
{
	MDB_val key;
	MDB_val value;
	if (reader->apart) {
		uint32_t from = reader->chunk.first + reader->chunk.n;
		return from == 0 ? enter(reader, MDB_NOTFOUND, NULL, NULL)
				 : chi_columns_seek(reader, from);
	}
	int rc = chi_chain_step(reader->cursor, CHI_CHAIN_COLUMNS, &key, &value, MDB_NEXT);
	return enter(reader, rc, &key, &value);
}

static void reader_deinitp(struct chi_columns_reader *reader)
{
	chi_columns_reader_deinit(reader);
}

int chi_columns_get(MDB_txn *txn, MDB_dbi dbi, uint32_t number, struct chi_game_head *out)
{
	_cleanup_(reader_deinitp) struct chi_columns_reader reader = {0};
	int rc = chi_columns_reader_init(&reader, txn, dbi);
	return rc == CHI_OK ? chi_columns_read(&reader, number, out) : rc;
}

int chi_columns_last(MDB_txn *txn, MDB_dbi dbi, uint32_t *out)
{
	_cleanup_(reader_deinitp) struct chi_columns_reader reader = {0};
	MDB_val key;
	MDB_val value;
	*out = 0;
	int rc = chi_columns_reader_init(&reader, txn, dbi);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = enter(&reader,
		   chi_chain_step(reader.cursor, CHI_CHAIN_COLUMNS, &key, &value, MDB_LAST), &key,
		   &value);
	if (rc == CHI_OK) {
		*out = reader.chunk.first + reader.chunk.n - 1;
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}
