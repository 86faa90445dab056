/* SPDX-License-Identifier: MIT */
/* Heads of games in columns: what was appended is read, damage is told. */
#include "tests/store/help.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "store/record/briefs.h"
#include "store/games/columns.h"
#include "store/games/number.h"
#include "store/games/seen.h"
#include "tests/store/archive.h"

#define GAMES 5000

static struct chi_game_head heads[GAMES + 1];

/* Heads as they come: few events, many players, now and then something large. */
static struct chi_game_head some_head(uint32_t number)
{
	struct chi_game_head head = {
		.number = number,
		.white = 1 + help_below(20000),
		.black = 1 + help_below(20000),
		.event = 1 + number / 40,
		.site = 1 + number / 60,
		.source = 1,
		.year = (uint16_t)(1990 + help_below(30)),
		.month = (uint8_t)help_below(13),
		.day = (uint8_t)help_below(32),
		.white_elo = (uint16_t)(help_below(4) == 0 ? 0 : 2000 + help_below(800)),
		.black_elo = (uint16_t)(2000 + help_below(800)),
		.eco = (uint16_t)help_below(CHI_ECO_CODES + 1),
		.plies = (uint16_t)help_below(200),
		.result = (uint8_t)help_below(4),
		.speed = CHI_SPEED_CLASSICAL,
	};
	if (help_below(500) == 0) {
		head.white = UINT32_MAX;
		head.plies = UINT16_MAX;
		head.white_title = CHI_TITLE_OTHER;
	}
	return head;
}

static void append(struct archive *archive, uint32_t from, uint32_t to)
{
	struct chi_columns_writer *writer;
	ok(chi_columns_writer_new(archive->txn, archive->trees.columns, &writer));
	for (uint32_t number = from; number <= to; number++) {
		heads[number] = some_head(number);
		ok(chi_columns_append(writer, &heads[number]));
	}
	assert_int_equal(chi_columns_append(writer, &heads[to]), -CHI_EINVAL);
	ok(chi_columns_flush(writer));
	chi_columns_writer_free(writer);
}

static void check(struct archive *archive, uint32_t number)
{
	struct chi_game_head head;
	ok(chi_columns_get(archive->txn, archive->trees.columns, number, &head));
	assert_memory_equal(&head, &heads[number], sizeof(head));
}

CASE(test_identity, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_columns_reader reader;
	struct chi_game_head head;
	uint32_t last;
	uint32_t row;
	/* In parts: a chunk that was begun is gone on with. */
	for (uint32_t from = 1; from <= GAMES;) {
		uint32_t to = from + help_below(300);
		to = to < GAMES ? to : GAMES;
		append(archive, from, to);
		from = to + 1;
	}
	MDB_stat stat;
	assert_int_equal(mdb_stat(archive->txn, archive->trees.columns, &stat), 0);
	assert_true(stat.ms_overflow_pages <= stat.ms_entries);
	assert_true(stat.ms_entries < GAMES / 150);
	ok(chi_columns_last(archive->txn, archive->trees.columns, &last));
	assert_int_equal(last, GAMES);
	for (unsigned i = 0; i < GAMES; i++) {
		check(archive, 1 + help_below(GAMES));
	}
	ok(chi_columns_reader_init(&reader, archive->txn, archive->trees.columns));
	for (uint32_t number = 1; number <= GAMES; number += 1 + help_below(30)) {
		ok(chi_columns_read(&reader, number, &head));
		assert_memory_equal(&head, &heads[number], sizeof(head));
	}
	assert_int_equal(chi_columns_find(&reader, 0, &row), CHI_NONE);
	assert_int_equal(chi_columns_find(&reader, GAMES + 1, &row), CHI_NONE);
	assert_int_equal(chi_columns_find(&reader, UINT32_MAX, &row), CHI_NONE);
	chi_columns_reader_deinit(&reader);
}

CASE(test_walk, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_columns_reader reader;
	append(archive, 1, GAMES);
	ok(chi_columns_reader_init(&reader, archive->txn, archive->trees.columns));
	uint32_t number = 1;
	int rc = chi_columns_seek(&reader, 0);
	for (; rc == CHI_OK; rc = chi_columns_next(&reader)) {
		assert_int_equal(reader.chunk.first, number);
		for (uint32_t row = 0; row < reader.chunk.n; row++, number++) {
			assert_int_equal(chi_column_value(&reader.chunk, CHI_COLUMN_ECO, row),
					 heads[number].eco);
		}
	}
	assert_int_equal(rc, CHI_NONE);
	assert_int_equal(number, GAMES + 1);
	ok(chi_columns_seek(&reader, 2500));
	assert_true(reader.chunk.first <= 2500 && reader.chunk.first + reader.chunk.n > 2500);
	assert_int_equal(chi_columns_seek(&reader, GAMES + 1), CHI_NONE);
	chi_columns_reader_deinit(&reader);
}

/* Ends the transaction and begins another, whose snapshot is that of what was written. */
static void commit(struct archive *archive)
{
	assert_int_equal(mdb_txn_commit(archive->txn), 0);
	assert_int_equal(mdb_txn_begin(archive->env, NULL, 0, &archive->txn), 0);
}

/* All games as readers that remember find them, by chance and in order. */
static void check_remembered(struct archive *archive, struct chi_seen **seen, uint32_t last)
{
	struct chi_archive_trees trees = archive->trees;
	struct chi_columns_reader reader;
	struct chi_game_head head;
	chi_seen_begin(seen, archive->txn);
	trees.seen = *seen;
	for (unsigned round = 0; round < 3; round++) {
		ok(chi_columns_reader_begin(&reader, archive->txn, &trees));
		for (unsigned i = 0; i < GAMES; i++) {
			uint32_t number = 1 + help_below(last);
			int rc = chi_columns_read(&reader, number, &head);
			assert_int_equal(rc, heads[number].number == 0 ? CHI_NONE : CHI_OK);
			assert_true(rc != CHI_OK ||
				    memcmp(&head, &heads[number], sizeof(head)) == 0);
		}
		/* From a chunk that is remembered to the next, wherever the cursor is. */
		uint32_t number = 1 + help_below(last);
		ok(chi_columns_seek(&reader, number));
		while (reader.chunk.first + reader.chunk.n <= last) {
			number = reader.chunk.first + reader.chunk.n;
			ok(chi_columns_next(&reader));
			assert_int_equal(reader.chunk.first, number);
		}
		assert_int_equal(chi_columns_next(&reader), CHI_NONE);
		assert_int_equal(chi_columns_seek(&reader, last + 1), CHI_NONE);
		chi_columns_reader_deinit(&reader);
	}
}

CASE(test_remembered_chunks_are_of_one_snapshot, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_seen *seen = NULL;
	append(archive, 1, GAMES / 2);
	commit(archive);
	check_remembered(archive, &seen, GAMES / 2);
	uint64_t serial = seen->serial;
	chi_seen_begin(&seen, archive->txn);
	assert_int_equal(seen->serial, serial);
	for (uint32_t number = 1; number <= GAMES / 2; number += 1 + help_below(20)) {
		ok(chi_columns_remove(archive->txn, archive->trees.columns, number));
		heads[number].number = 0;
	}
	append(archive, GAMES / 2 + 1, GAMES);
	commit(archive);
	check_remembered(archive, &seen, GAMES);
	assert_int_not_equal(seen->serial, serial);
	free(seen);
}

static void add_all(struct archive *archive, struct chi_briefs *briefs)
{
	struct chi_columns_reader reader;
	ok(chi_columns_reader_init(&reader, archive->txn, archive->trees.columns));
	int rc = chi_columns_seek(&reader, 1);
	for (; rc == CHI_OK; rc = chi_columns_next(&reader)) {
		for (uint32_t row = 0; row < reader.chunk.n; row++) {
			struct chi_game_head head;
			if (chi_column_value(&reader.chunk, CHI_COLUMN_RESULT, row) <
			    CHI_ROW_REMOVED) {
				chi_columns_head(&reader.chunk, row, &head);
				chi_briefs_add(briefs, &head);
			}
		}
	}
	assert_int_equal(rc, CHI_NONE);
	chi_columns_reader_deinit(&reader);
}

static void check_brief(const struct chi_briefs *briefs, uint32_t number)
{
	const struct chi_game_head *whole = &heads[number];
	const struct chi_game_head brief = {.number = number,
					    .year = whole->year,
					    .month = whole->month,
					    .day = whole->day,
					    .white_elo = whole->white_elo,
					    .black_elo = whole->black_elo,
					    .result = whole->result};
	struct chi_game_head head;
	assert_true(chi_briefs_get(briefs, number, &head));
	assert_memory_equal(&head, &brief, sizeof(head));
}

/* Of games taken out before they were read nothing is known, of others all stays. */
CASE(test_briefs, archive_setup, archive_teardown)
{
	static struct chi_briefs briefs;
	struct archive *archive = *state;
	struct chi_game_head head;
	assert_false(chi_briefs_get(&briefs, 1, &head));
	append(archive, 1, GAMES / 2);
	ok(chi_columns_remove(archive->txn, archive->trees.columns, 7));
	add_all(archive, &briefs);
	assert_false(chi_briefs_get(&briefs, 0, &head));
	assert_false(chi_briefs_get(&briefs, 7, &head));
	assert_false(chi_briefs_get(&briefs, GAMES / 2 + 1, &head));
	ok(chi_columns_remove(archive->txn, archive->trees.columns, 8));
	append(archive, GAMES / 2 + 1, GAMES);
	add_all(archive, &briefs);
	for (uint32_t number = 8; number <= GAMES; number++) {
		check_brief(&briefs, number);
	}
	chi_briefs_deinit(&briefs);
	assert_false(chi_briefs_get(&briefs, 8, &head));
}

/* Blocks end at their numbers; above the last one no game is known. */
CASE(test_briefs_at_their_limits, archive_setup, archive_teardown)
{
	static struct chi_briefs briefs;
	static const uint32_t firsts[] = {CHI_BRIEFS_BLOCK_GAMES - 1,
					  CHI_BRIEFS_BLOCK_GAMES * CHI_BRIEFS_BLOCKS - 1};
	struct archive *archive = *state;
	struct chi_columns_writer *writer;
	struct chi_game_head head;
	ok(chi_columns_writer_new(archive->txn, archive->trees.columns, &writer));
	for (size_t i = 0; i < 4; i++) {
		head = some_head(firsts[i / 2] + i % 2);
		head.year = (uint16_t)(2000 + i);
		ok(chi_columns_append(writer, &head));
	}
	ok(chi_columns_flush(writer));
	chi_columns_writer_free(writer);
	add_all(archive, &briefs);
	for (size_t i = 0; i < 3; i++) {
		assert_true(chi_briefs_get(&briefs, firsts[i / 2] + i % 2, &head));
		assert_int_equal(head.year, 2000 + i);
	}
	assert_false(chi_briefs_get(&briefs, firsts[1] + 1, &head));
	assert_false(chi_briefs_get(&briefs, UINT32_MAX, &head));
	chi_briefs_deinit(&briefs);
}

CASE(test_removal, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_game_head head;
	static bool removed[GAMES + 1];
	append(archive, 1, GAMES);
	for (unsigned i = 0; i < GAMES / 4; i++) {
		uint32_t number = 1 + help_below(GAMES);
		int rc = chi_columns_remove(archive->txn, archive->trees.columns, number);
		assert_int_equal(rc, removed[number] ? CHI_NONE : CHI_OK);
		removed[number] = true;
	}
	assert_int_equal(chi_columns_remove(archive->txn, archive->trees.columns, GAMES + 1),
			 CHI_NONE);
	for (uint32_t number = 1; number <= GAMES; number++) {
		if (!removed[number]) {
			check(archive, number);
			continue;
		}
		assert_int_equal(
			chi_columns_get(archive->txn, archive->trees.columns, number, &head),
			CHI_NONE);
	}
}

/* Numbers that no game has are those of games that were removed. */
CASE(test_gaps, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	static const uint32_t numbers[] = {3, 4, 10, 200, 201, 100000, UINT32_MAX};
	struct chi_game_head head;
	struct chi_columns_writer *writer;
	ok(chi_columns_writer_new(archive->txn, archive->trees.columns, &writer));
	for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
		head = some_head(numbers[i]);
		ok(chi_columns_append(writer, &head));
	}
	head.number = 0;
	assert_int_equal(chi_columns_append(writer, &head), -CHI_EINVAL);
	ok(chi_columns_flush(writer));
	chi_columns_writer_free(writer);
	for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
		ok(chi_columns_get(archive->txn, archive->trees.columns, numbers[i], &head));
		assert_int_equal(head.number, numbers[i]);
		if (i != 0 && i != 3) { /* those have a neighbour */
			continue;
		}
		assert_int_equal(chi_columns_get(archive->txn, archive->trees.columns,
						 numbers[i] - 1, &head),
				 CHI_NONE);
	}
	assert_int_equal(chi_columns_get(archive->txn, archive->trees.columns, 7, &head), CHI_NONE);
}

/* Each byte of a chunk, and each length. */
CASE(test_damage, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_columns_chunk chunk;
	uint8_t number[CHI_NUMBER_SIZE];
	uint8_t bytes[CHI_COLUMNS_ROOM + 1];
	append(archive, 1, 30);
	chi_number_key(1, number);
	MDB_val key = {.mv_size = sizeof(number), .mv_data = number};
	MDB_val found;
	assert_int_equal(chi_chain_get(archive->txn, archive->trees.columns, CHI_CHAIN_COLUMNS,
				       &key, &found),
			 0);
	MDB_val value = {.mv_size = found.mv_size, .mv_data = bytes};
	memcpy(bytes, found.mv_data, found.mv_size);
	for (size_t i = 0; i < found.mv_size; i++) {
		bytes[i] ^= (uint8_t)(1 + help_below(255));
		assert_int_equal(chi_columns_open(&key, &value, &chunk), -CHI_ECORRUPT);
		bytes[i] = ((const uint8_t *)found.mv_data)[i];
		value.mv_size = i;
		assert_int_equal(chi_columns_open(&key, &value, &chunk), -CHI_ECORRUPT);
		value.mv_size = found.mv_size;
	}
	value.mv_size = sizeof(bytes);
	assert_int_equal(chi_columns_open(&key, &value, &chunk), -CHI_ECORRUPT);
	value.mv_size = found.mv_size;
	ok(chi_columns_open(&key, &value, &chunk));
	/* Under another number it is another chunk. */
	number[3] = 2;
	assert_int_equal(chi_columns_open(&key, &value, &chunk), -CHI_ECORRUPT);
}

CASE(test_empty, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_game_head head;
	uint32_t last;
	ok(chi_columns_last(archive->txn, archive->trees.columns, &last));
	assert_int_equal(last, 0);
	assert_int_equal(chi_columns_get(archive->txn, archive->trees.columns, 1, &head), CHI_NONE);
	assert_int_equal(chi_columns_remove(archive->txn, archive->trees.columns, 1), CHI_NONE);
}
