/* SPDX-License-Identifier: MIT */
/*
 * The games whose positions are counted: one small entry each, so that a game that comes again is
 * known (FORMAT.md, "Games tree"). The totals by result are in the state record and change
 * with the entries, in the same transaction.
 */
#include "store/txn/txn.h"

#include <string.h>

#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "store/record/record_priv.h"
#include "store/store.h"

/* Head byte of an entry. The other bits are 0. */
#define GAME_RESULT  0x03
#define GAME_PRUNED  0x04
#define GAME_MAX_PLY 0x08
#define GAME_NUMBER  0x10

/* Low bytes of the checksum at the value's end, as in the strength tree. */
#define GAME_SUM 2

static void sum_game_id(const uint8_t *id, const uint8_t *value, size_t len, uint8_t out[GAME_SUM])
{
	uint64_t sum = chi_checksum(id, CHI_GAME_ID_SIZE, value, len);
	out[0] = (uint8_t)sum;
	out[1] = (uint8_t)(sum >> 8);
}

size_t chi_game_encode(const struct chi_game_id *game, uint8_t out[CHI_GAME_VALUE_MAX])
{
	if (game->result > CHI_RESULT_OTHER) {
		return 0;
	}
	struct chi_writer w = chi_writer_of(out, CHI_GAME_VALUE_MAX);
	chi_write_u8(&w, (uint8_t)(game->result | (game->pruned ? GAME_PRUNED : 0) |
				   (game->max_ply != 0 ? GAME_MAX_PLY : 0) |
				   (game->number != 0 ? GAME_NUMBER : 0)));
	if (game->max_ply != 0) {
		chi_write_varint(&w, game->max_ply);
	}
	if (game->number != 0) {
		chi_write_varint(&w, game->number);
	}
	uint8_t sum[GAME_SUM];
	sum_game_id(game->id, out, (size_t)(w.at - out), sum);
	chi_write_bytes(&w, sum, sizeof(sum));
	return (size_t)(w.at - out);
}

int chi_game_decode(const uint8_t *id, size_t id_len, const uint8_t *value, size_t len,
		    struct chi_game_id *out)
{
	uint8_t sum[GAME_SUM];
	if (id_len != CHI_GAME_ID_SIZE || len < 1 + GAME_SUM || len > CHI_GAME_VALUE_MAX) {
		return -CHI_ECORRUPT;
	}
	sum_game_id(id, value, len - GAME_SUM, sum);
	if (memcmp(sum, value + len - GAME_SUM, GAME_SUM) != 0) {
		return -CHI_ECORRUPT;
	}
	struct chi_reader r = chi_reader_of(value, len - GAME_SUM);
	uint8_t head = chi_read_u8(&r);
	bool has_ply = (head & GAME_MAX_PLY) != 0;
	uint64_t max_ply = has_ply ? chi_read_varint(&r) : 0;
	bool has_number = (head & GAME_NUMBER) != 0;
	uint64_t number = has_number ? chi_read_varint(&r) : 0;
	/* One form: a bound or a number of 0 is not written. */
	if (r.bad || r.at != r.end ||
	    (head & ~(GAME_RESULT | GAME_PRUNED | GAME_MAX_PLY | GAME_NUMBER)) != 0 ||
	    max_ply > UINT16_MAX || (has_ply && max_ply == 0) || number > UINT32_MAX ||
	    (has_number && number == 0)) {
		return -CHI_ECORRUPT;
	}
	*out = (struct chi_game_id){
		.result = head & GAME_RESULT,
		.pruned = (head & GAME_PRUNED) != 0,
		.max_ply = (uint16_t)max_ply,
		.number = (uint32_t)number,
	};
	memcpy(out->id, id, CHI_GAME_ID_SIZE);
	return CHI_OK;
}

int chi_game_ids_find(MDB_txn *txn, MDB_dbi games, const uint8_t id[CHI_GAME_ID_SIZE],
		      struct chi_game_id *out)
{
	MDB_val key = chi_val(id, CHI_GAME_ID_SIZE);
	MDB_val value;
	int rc = chi_chain_get(txn, games, CHI_CHAIN_IDS, &key, &value);
	return rc != 0 ? chi_lmdb_status(rc)
		       : chi_game_decode(id, CHI_GAME_ID_SIZE, value.mv_data, value.mv_size, out);
}

struct ids {
	const uint8_t *after; /* or NULL */
	struct chi_game_id *out;
	size_t max;
	size_t *n;
};

/* CHI_NONE: there are enough. */
static int collect(void *context, const MDB_val *key, const MDB_val *value)
{
	const struct ids *ids = context;
	if (ids->after != NULL && key->mv_size == CHI_GAME_ID_SIZE &&
	    memcmp(key->mv_data, ids->after, CHI_GAME_ID_SIZE) == 0) {
		return CHI_OK;
	}
	int rc = chi_game_decode(key->mv_data, key->mv_size, value->mv_data, value->mv_size,
				 &ids->out[*ids->n]);
	*ids->n += rc == CHI_OK;
	return rc == CHI_OK && *ids->n == ids->max ? CHI_NONE : rc;
}

int chi_read_game_ids(struct chi_read *read, const uint8_t *after, struct chi_game_id *out,
		      size_t max, size_t *n)
{
	struct ids ids = {after, out, max, n};
	const MDB_val from = chi_val(after, CHI_GAME_ID_SIZE);
	*n = 0;
	int rc = chi_chain_walk(read->txn, read->env->ids, CHI_CHAIN_IDS,
				after != NULL ? &from : NULL, 0, collect, &ids);
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* Only a damaged total could overflow, or be less than what is there. */
static int count_game(struct chi_store_state *state, uint8_t result, bool more)
{
	struct chi_counts one = {0};
	uint64_t *total = chi_counts_of(&state->games, result);
	if (more) {
		*chi_counts_of(&one, result) = 1;
		return chi_counts_add(&state->games, &one) ? CHI_OK : -CHI_ETOOBIG;
	}
	if (*total == 0) {
		return -CHI_ECORRUPT;
	}
	--*total;
	return CHI_OK;
}

static int add_game(struct chi_write *write, const struct chi_game_id *game)
{
	uint8_t bytes[CHI_GAME_VALUE_MAX];
	struct chi_game_id found;
	MDB_val key = chi_val(game->id, CHI_GAME_ID_SIZE);
	MDB_val value = {chi_game_encode(game, bytes), bytes};
	if (value.mv_size == 0) {
		return -CHI_EINVAL;
	}
	int rc = chi_game_ids_find(write->txn, write->env->ids, game->id, &found);
	if (rc != CHI_NONE) {
		return rc == CHI_OK ? CHI_NONE : rc;
	}
	write->changed = true;
	chi_state_game(&write->state, game);
	rc = chi_write_set(write, write->env->ids, &key, &value);
	return rc == CHI_OK ? count_game(&write->state, game->result, true) : rc;
}

static int take_game(struct chi_write *write, const uint8_t id[CHI_GAME_ID_SIZE],
		     struct chi_game_id *out)
{
	MDB_val key = chi_val(id, CHI_GAME_ID_SIZE);
	int rc = chi_game_ids_find(write->txn, write->env->ids, id, out);
	if (rc != CHI_OK) {
		return rc;
	}
	write->changed = true;
	rc = chi_write_unset(write, write->env->ids, &key);
	return rc == CHI_OK ? count_game(&write->state, out->result, false) : rc;
}

int chi_write_game_id(struct chi_write *write, const struct chi_game_id *game)
{
	int rc = chi_write_ready(write);
	return rc < 0 ? rc : chi_write_stick(write, add_game(write, game));
}

int chi_write_remove_game_id(struct chi_write *write, const uint8_t id[CHI_GAME_ID_SIZE],
			     struct chi_game_id *out)
{
	int rc = chi_write_ready(write);
	return rc < 0 ? rc : chi_write_stick(write, take_game(write, id, out));
}
