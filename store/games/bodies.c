/* SPDX-License-Identifier: MIT */
/* Reading bodies: the chunk that was unpacked last serves the games after it. */
#include "store/games/bodies.h"

#include <stdlib.h>

#include "store/chain/chain.h"
#include "store/games/bodies_priv.h"
#include "store/games/number.h"
#include "store/lmdb_err.h"

struct chi_bodies_reader {
	MDB_cursor *cursor;
	struct bodies_coder coder;
	struct bodies chunk; /* n is 0: none */
};

int chi_bodies_reader_new(struct chi_bodies_reader **out)
{
	*out = calloc(1, sizeof(**out));
	return *out != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_bodies_reader_free(struct chi_bodies_reader *reader)
{
	if (reader != NULL) {
		chi_bodies_reader_end(reader);
		bodies_coder_deinit(&reader->coder);
		bodies_deinit(&reader->chunk);
		free(reader);
	}
}

int chi_bodies_reader_begin(struct chi_bodies_reader *reader, MDB_txn *txn, MDB_dbi dbi)
{
	chi_bodies_reader_end(reader);
	return chi_lmdb_status(mdb_cursor_open(txn, dbi, &reader->cursor));
}

void chi_bodies_reader_end(struct chi_bodies_reader *reader)
{
	if (reader->cursor != NULL) {
		mdb_cursor_close(reader->cursor);
		reader->cursor = NULL;
	}
	reader->chunk.n = 0;
}

static bool covers(const struct bodies *chunk, uint32_t number)
{
	return number - chunk->first < chunk->n;
}

/* Makes the chunk at the cursor the one that is unpacked. */
static int enter(struct chi_bodies_reader *reader, int rc, const MDB_val *key, const MDB_val *value)
{
	reader->chunk.n = 0;
	int status = chi_lmdb_status(rc);
	return status == CHI_OK ? bodies_unpack(&reader->coder, key, value, &reader->chunk)
				: status;
}

int chi_bodies_open(struct chi_bodies_reader *reader, const MDB_val *key, const MDB_val *value,
		    uint32_t *first, uint32_t *n)
{
	int rc = enter(reader, 0, key, value);
	*first = reader->chunk.first;
	*n = reader->chunk.n;
	return rc;
}

int chi_bodies_read(struct chi_bodies_reader *reader, uint32_t number, struct chi_body *out)
{
	if (!covers(&reader->chunk, number)) {
		MDB_val key;
		MDB_val value;
		int rc = chi_number_seek(reader->cursor, CHI_CHAIN_GAMES, number, &key, &value);
		rc = enter(reader, rc, &key, &value);
		if (rc != CHI_OK) {
			return rc;
		}
		if (!covers(&reader->chunk, number)) {
			return CHI_NONE;
		}
	}
	*out = bodies_at(&reader->chunk, number - reader->chunk.first);
	return out->parts[CHI_BODY_SHAPE].len > 0 ? CHI_OK : CHI_NONE;
}
