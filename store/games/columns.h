/* SPDX-License-Identifier: MIT */
/*
 * What filters ask for of games, in columns (FORMAT.md, "Columns tree"): an entry of LMDB is a
 * chunk, the heads of games with consecutive numbers, column after column, so that a filter reads
 * only the columns that it asks for.
 *
 * All functions work in a transaction of the caller's and return statuses of ours. A chunk is
 * verified when it is opened: -CHI_ECORRUPT for damage. Readers also return -CHI_ENOMEM and
 * -CHI_EIO, writers -CHI_EFULL too; after a writer's failure the transaction must be aborted.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "chistore/games.h"
#include "store/archive_trees.h"
#include "store/chain/chain.h"

/* The numbers are those of the format. */
enum chi_column {
	CHI_COLUMN_WHITE,
	CHI_COLUMN_BLACK,
	CHI_COLUMN_EVENT,
	CHI_COLUMN_SITE,
	CHI_COLUMN_SOURCE,
	CHI_COLUMN_YEAR,
	CHI_COLUMN_MONTH,
	CHI_COLUMN_DAY,
	CHI_COLUMN_WHITE_ELO,
	CHI_COLUMN_BLACK_ELO,
	CHI_COLUMN_ECO,
	CHI_COLUMN_PLIES,
	CHI_COLUMN_RESULT,
	CHI_COLUMN_WHITE_TITLE,
	CHI_COLUMN_BLACK_TITLE,
	CHI_COLUMN_SPEED,
	CHI_COLUMNS
};

/* In CHI_COLUMN_RESULT: there is no such game, its other columns mean nothing. */
#define CHI_ROW_REMOVED 4

/* Bytes of a chunk at most: a page of 4 KiB without its header, and a link. */
#define CHI_COLUMNS_ROOM (4080 - CHI_CHAIN_LINK)
/* Games of a chunk at most. */
#define CHI_COLUMNS_ROWS 1024

/* A column of a chunk: row i is base + the little-endian number in `width` bytes at
 * bytes[i * width]. Up to 4 bytes may be read at the last one too, whatever the width. */
struct chi_column_span {
	const uint8_t *bytes;
	uint32_t base;
	uint32_t mask; /* of the bytes that are the number's */
	uint32_t width;
};

/* A chunk that was verified; points into the map: valid until the transaction changes or ends. */
struct chi_columns_chunk {
	uint32_t first; /* number of the game in row 0 */
	uint32_t n;	/* rows, 1 or more */
	struct chi_column_span columns[CHI_COLUMNS];
};

/* `row` < n of its chunk. */
CHI_INLINE uint32_t chi_column_span_value(const struct chi_column_span *span, uint32_t row)
{
	uint32_t bytes;
	memcpy(&bytes, span->bytes + (size_t)row * span->width, sizeof(bytes));
	return span->base + (bytes & span->mask);
}

CHI_INLINE uint32_t chi_column_value(const struct chi_columns_chunk *chunk, enum chi_column column,
				     uint32_t row)
{
	return chi_column_span_value(&chunk->columns[column], row);
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* Remembers the chunk it is in. Zeroed after deinit; one thread at a time. */
struct chi_columns_reader {
	MDB_cursor *cursor;
	struct chi_columns_chunk chunk; /* n is 0: none yet */
	struct chi_seen *seen;		/* of the transaction's snapshot; NULL: none */
	bool apart;			/* the cursor is not at the chunk */
};

CHI_MUSTUSE int chi_columns_reader_init(struct chi_columns_reader *reader, MDB_txn *txn,
					MDB_dbi dbi);
/* The same in a snapshot of which something is known. */
CHI_MUSTUSE int chi_columns_reader_begin(struct chi_columns_reader *reader, MDB_txn *txn,
					 const struct chi_archive_trees *trees);
/* Before the transaction ends. */
void chi_columns_reader_deinit(struct chi_columns_reader *reader);

/* Makes reader->chunk the one that has the number; *row is its row. CHI_NONE: there is no such
 * game, or it was removed. */
CHI_MUSTUSE int chi_columns_find(struct chi_columns_reader *reader, uint32_t number, uint32_t *row);

/* The head of a game. CHI_NONE as above. Fast for ascending numbers. */
CHI_MUSTUSE int chi_columns_read(struct chi_columns_reader *reader, uint32_t number,
				 struct chi_game_head *out);

/* Makes reader->chunk the first one with a number of `from` or more. CHI_NONE: there is none. */
CHI_MUSTUSE int chi_columns_seek(struct chi_columns_reader *reader, uint32_t from);

/* And the one after it. CHI_NONE at the end. */
CHI_MUSTUSE int chi_columns_next(struct chi_columns_reader *reader);

/* The head in a row, < chunk->n, which must not be one of a game that was removed. */
void chi_columns_head(const struct chi_columns_chunk *chunk, uint32_t row,
		      struct chi_game_head *out);

/* And back: what columns hold of a head. */
void chi_columns_row(const struct chi_game_head *head, uint32_t out[CHI_COLUMNS]);

/* The head of one game, without a reader. */
CHI_MUSTUSE int chi_columns_get(MDB_txn *txn, MDB_dbi dbi, uint32_t number,
				struct chi_game_head *out);

/* The greatest number that has a row, removed or not; 0: there is none. */
CHI_MUSTUSE int chi_columns_last(MDB_txn *txn, MDB_dbi dbi, uint32_t *out);

/* Verifies the bytes of a chunk under its key. */
CHI_MUSTUSE int chi_columns_open(const MDB_val *key, const MDB_val *value,
				 struct chi_columns_chunk *out);

/* ---- Writing ----------------------------------------------------------------------------- */

/* Appends rows; keeps the last chunk in memory until it is full or flushed. */
struct chi_columns_writer;

/* -CHI_ENOMEM. */
CHI_MUSTUSE int chi_columns_writer_new(MDB_txn *txn, MDB_dbi dbi, struct chi_columns_writer **out);
/* What was not flushed is lost. NULL is fine. */
void chi_columns_writer_free(struct chi_columns_writer *writer);

/* Appends a game, whose number must be greater than all before it: -CHI_EINVAL. */
CHI_MUSTUSE int chi_columns_append(struct chi_columns_writer *writer,
				   const struct chi_game_head *head);

/* Writes what is kept: before the commit, and before anything else reads or changes the tree. */
CHI_MUSTUSE int chi_columns_flush(struct chi_columns_writer *writer);

/* Marks a game's row. CHI_NONE: there is no such game. */
CHI_MUSTUSE int chi_columns_remove(MDB_txn *txn, MDB_dbi dbi, uint32_t number);
