/* SPDX-License-Identifier: MIT */
/* Bodies of games in compressed chunks: what was appended is read, damage is told. */
#include "tests/store/help.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/games/bodies.h"
#include "store/games/bodies_priv.h"
#include "store/games/number.h"
#include "tests/store/archive.h"

#define GAMES 3000

/* What the tests know of bodies: each follows from its number. */
static uint8_t *made;
static size_t made_room;

static uint32_t mix(uint32_t number, uint32_t salt)
{
	uint64_t x = (number + UINT64_C(1000003) * salt) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(x >> 33);
}

static size_t length_of(uint32_t number, uint32_t part)
{
	if (part == CHI_BODY_SHAPE) {
		return 12;
	}
	if (part == CHI_BODY_TEXTS) {
		/* Now and then a game with long notes, and one that is longer than all others. */
		return number % 1000 == 700	  ? 300000
		       : mix(number, 3) % 50 == 0 ? mix(number, 4) % 9000
						  : mix(number, 4) % 5;
	}
	return mix(number, part) % 200;
}

static struct chi_body body_of(uint32_t number)
{
	struct chi_body body;
	size_t all = 0;
	for (uint32_t part = 0; part < CHI_BODY_PARTS; part++) {
		all += length_of(number, part);
	}
	if (made_room < all) {
		made = realloc(made, all);
		made_room = all;
		assert_non_null(made);
	}
	uint8_t *at = made;
	for (uint32_t part = 0; part < CHI_BODY_PARTS; part++) {
		size_t len = length_of(number, part);
		body.parts[part] = (struct chi_span){at, len};
		for (size_t i = 0; i < len; i++) {
			uint32_t x = mix((uint32_t)i, number);
			*at++ = (uint8_t)(part == CHI_BODY_SHAPE ? i : (x & x >> 8) % 64);
		}
	}
	return body;
}

static struct chi_bodies_writer *writer_of(struct archive *archive)
{
	struct chi_bodies_writer *writer;
	ok(chi_bodies_writer_new(archive->txn, archive->trees.games, &writer));
	return writer;
}

static void append(struct archive *archive, uint32_t from, uint32_t to)
{
	struct chi_bodies_writer *writer = writer_of(archive);
	for (uint32_t number = from; number <= to; number++) {
		struct chi_body body = body_of(number);
		ok(chi_bodies_append(writer, number, &body));
	}
	struct chi_body again = body_of(to);
	assert_int_equal(chi_bodies_append(writer, to, &again), -CHI_EINVAL);
	ok(chi_bodies_flush(writer));
	chi_bodies_writer_free(writer);
}

static struct chi_bodies_reader *reader_of(struct archive *archive)
{
	struct chi_bodies_reader *reader;
	ok(chi_bodies_reader_new(&reader));
	ok(chi_bodies_reader_begin(reader, archive->txn, archive->trees.games));
	return reader;
}

static void check(struct chi_bodies_reader *reader, uint32_t number)
{
	struct chi_body found;
	ok(chi_bodies_read(reader, number, &found));
	struct chi_body body = body_of(number);
	for (size_t part = 0; part < CHI_BODY_PARTS; part++) {
		assert_int_equal(found.parts[part].len, body.parts[part].len);
		assert_memory_equal(found.parts[part].bytes, body.parts[part].bytes,
				    body.parts[part].len);
	}
}

CASE(test_identity, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_body found;
	for (uint32_t from = 1; from <= GAMES;) {
		uint32_t to = from + help_below(120);
		to = to < GAMES ? to : GAMES;
		append(archive, from, to);
		from = to + 1;
	}
	struct chi_bodies_reader *reader = reader_of(archive);
	for (unsigned i = 0; i < GAMES; i++) {
		check(reader, 1 + help_below(GAMES));
	}
	assert_int_equal(chi_bodies_read(reader, 0, &found), CHI_NONE);
	assert_int_equal(chi_bodies_read(reader, GAMES + 1, &found), CHI_NONE);
	chi_bodies_reader_free(reader);
}

/* Chunks fill their pages, and none is longer unless a single game needs it. */
CASE(test_chunks, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	uint64_t bytes = 0;
	unsigned n = 0;
	struct bodies_coder coder = {0};
	static struct bodies chunk;
	append(archive, 1, GAMES);
	assert_int_equal(mdb_cursor_open(archive->txn, archive->trees.games, &cursor), 0);
	while (chi_chain_step(cursor, CHI_CHAIN_GAMES, &key, &value, MDB_NEXT) == 0) {
		ok(bodies_unpack(&coder, &key, &value, &chunk));
		assert_true(value.mv_size <= CHI_BODIES_ROOM || chunk.n == 1);
		bytes += value.mv_size <= CHI_BODIES_ROOM ? value.mv_size : 0;
		n += value.mv_size <= CHI_BODIES_ROOM;
	}
	assert_true(n > 30 && bytes / n > CHI_BODIES_ROOM * 6 / 10);
	mdb_cursor_close(cursor);
	bodies_coder_deinit(&coder);
	bodies_deinit(&chunk);
}

CASE(test_removal, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_body found;
	static bool removed[GAMES + 2];
	append(archive, 1, GAMES);
	for (unsigned i = 0; i < GAMES / 8; i++) {
		uint32_t number = 1 + help_below(GAMES);
		int rc = chi_bodies_remove(archive->txn, archive->trees.games, number);
		assert_int_equal(rc, removed[number] ? CHI_NONE : CHI_OK);
		removed[number] = true;
	}
	assert_int_equal(chi_bodies_remove(archive->txn, archive->trees.games, GAMES + 1),
			 CHI_NONE);
	struct chi_bodies_reader *reader = reader_of(archive);
	for (uint32_t number = 1; number <= GAMES; number++) {
		if (removed[number]) {
			assert_int_equal(chi_bodies_read(reader, number, &found), CHI_NONE);
			continue;
		}
		check(reader, number);
	}
	chi_bodies_reader_free(reader);
}

CASE(test_gaps, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	static const uint32_t numbers[] = {3, 4, 10, 200, 201, 100000, UINT32_MAX};
	struct chi_body body;
	struct chi_bodies_writer *writer = writer_of(archive);
	for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
		body = body_of(numbers[i]);
		ok(chi_bodies_append(writer, numbers[i], &body));
	}
	assert_int_equal(chi_bodies_append(writer, 0, &body), -CHI_EINVAL);
	ok(chi_bodies_flush(writer));
	chi_bodies_writer_free(writer);
	struct chi_bodies_reader *reader = reader_of(archive);
	for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
		check(reader, numbers[i]);
	}
	assert_int_equal(chi_bodies_read(reader, 2, &body), CHI_NONE);
	assert_int_equal(chi_bodies_read(reader, 7, &body), CHI_NONE);
	assert_int_equal(chi_bodies_read(reader, 202, &body), CHI_NONE);
	chi_bodies_reader_free(reader);
}

/* Each byte of a chunk, and each length; and, under a checksum that holds, each byte again: what is
 * not damage then is bodies within the chunk. */
CASE(test_damage, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct bodies_coder coder = {0};
	static struct bodies chunk;
	uint8_t number[CHI_NUMBER_SIZE];
	uint8_t bytes[CHI_BODIES_ROOM];
	append(archive, 1, 30);
	chi_number_key(1, number);
	MDB_val key = {.mv_size = sizeof(number), .mv_data = number};
	MDB_val found;
	assert_int_equal(
		chi_chain_get(archive->txn, archive->trees.games, CHI_CHAIN_GAMES, &key, &found),
		0);
	MDB_val value = {.mv_size = found.mv_size, .mv_data = bytes};
	memcpy(bytes, found.mv_data, found.mv_size);
	for (size_t i = 0; i < found.mv_size; i++) {
		bytes[i] ^= (uint8_t)(1 + help_below(255));
		assert_int_equal(bodies_unpack(&coder, &key, &value, &chunk), -CHI_ECORRUPT);
		if (i >= 4) {
			bodies_sign(&key, bytes, found.mv_size);
			int rc = bodies_unpack(&coder, &key, &value, &chunk);
			assert_true(rc == CHI_OK || rc == -CHI_ECORRUPT);
			memcpy(bytes, found.mv_data, 4);
		}
		bytes[i] = ((const uint8_t *)found.mv_data)[i];
		value.mv_size = i;
		assert_int_equal(bodies_unpack(&coder, &key, &value, &chunk), -CHI_ECORRUPT);
		value.mv_size = found.mv_size;
	}
	ok(bodies_unpack(&coder, &key, &value, &chunk));
	number[3] = 2;
	assert_int_equal(bodies_unpack(&coder, &key, &value, &chunk), -CHI_ECORRUPT);
	bodies_coder_deinit(&coder);
	bodies_deinit(&chunk);
}

CASE(test_limits, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_bodies_writer *writer = writer_of(archive);
	uint8_t *bytes = calloc(1, CHI_BODY_MAX + 1);
	assert_non_null(bytes);
	struct chi_body body = {{{bytes, 0}, {bytes, 1}, {bytes, CHI_BODY_MAX}}};
	assert_int_equal(chi_bodies_append(writer, 1, &body), -CHI_EINVAL);
	body.parts[CHI_BODY_TEXTS].len--;
	ok(chi_bodies_append(writer, 1, &body));
	ok(chi_bodies_append(writer, 2, &body));
	ok(chi_bodies_flush(writer));
	chi_bodies_writer_free(writer);
	writer = writer_of(archive);
	ok(chi_bodies_append(writer, 3, &body));
	body.parts[CHI_BODY_SHAPE].len = 0;
	assert_int_equal(chi_bodies_append(writer, 4, &body), -CHI_EINVAL);
	ok(chi_bodies_flush(writer));
	chi_bodies_writer_free(writer);
	struct chi_bodies_reader *reader = reader_of(archive);
	for (uint32_t number = 1; number <= 3; number++) {
		ok(chi_bodies_read(reader, number, &body));
		assert_int_equal(body.parts[CHI_BODY_TEXTS].len, CHI_BODY_MAX - 1);
	}
	chi_bodies_reader_free(reader);
	free(bytes);
}

int main(void)
{
	int rc = cases_run(NULL, NULL);
	free(made);
	return rc;
}
