/* SPDX-License-Identifier: MIT */
/*
 * What is remembered of a client is small: a client that waits for each answer has one write in it,
 * one that pipelines as many as it has on the way.
 */
#include "store/record/clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"

#define SUM	    4 /* bytes of the checksum at a record's end */
#define LAST_USE    8
#define PEER	    4
#define HORIZON_LEN (8 + SUM)

static char horizon_key[] = "horizon";

/* ---- Records ----------------------------------------------------------------------------- */

/* Counts that an answer of the kind consists of. */
static size_t counts_of(uint8_t kind)
{
	switch (kind) {
	case CHI_IDEMPOTENCY_PUT:
		return 4;
	case CHI_IDEMPOTENCY_DELETE:
	case CHI_IDEMPOTENCY_MAKE_GAMESET:
	case CHI_IDEMPOTENCY_DROP_GAMESET:
	case CHI_IDEMPOTENCY_QUEUE_SETTLE:
		return 1;
	case CHI_IDEMPOTENCY_QUEUE_TAKE:
		return 2;
	case CHI_IDEMPOTENCY_NAMES:
	case CHI_IDEMPOTENCY_QUEUE_ADD:
		return 3;
	case CHI_IDEMPOTENCY_IMPORT:
		return CHI_OUTCOME_COUNTS;
	default:
		return 0;
	}
}

static bool is_kind(uint8_t kind)
{
	return kind >= CHI_IDEMPOTENCY_PUT && kind < CHI_IDEMPOTENCY_KINDS;
}

static uint64_t sum_of(const void *key, size_t key_len, const uint8_t *value, size_t len)
{
	return chi_checksum(key, key_len, value, len) & UINT32_MAX;
}

static bool sum_ok(const MDB_val *key, const MDB_val *value)
{
	const uint8_t *bytes = value->mv_data;
	size_t len = value->mv_size - SUM;
	struct chi_reader r = chi_reader_of(bytes + len, SUM);
	return chi_read_le(&r, SUM) == sum_of(key->mv_data, key->mv_size, bytes, len);
}

size_t chi_remembered_encode(const struct chi_remembered *client, uint8_t out[CHI_REMEMBERED_BYTES])
{
	struct chi_writer w = chi_writer_of(out, CHI_REMEMBERED_BYTES);
	uint64_t next = client->floor;
	chi_write_le(&w, client->last_use, LAST_USE);
	chi_write_le(&w, client->peer, PEER);
	chi_write_varint(&w, client->floor);
	chi_write_u8(&w, (uint8_t)client->n);
	for (size_t i = 0; i < client->n; i++) {
		const struct chi_done *done = &client->done[i];
		size_t n = counts_of((uint8_t)done->outcome.kind);
		chi_write_varint(&w, done->sequence - next);
		chi_write_u8(&w, (uint8_t)done->outcome.kind);
		for (size_t k = 0; k < n; k++) {
			chi_write_varint(&w, done->outcome.counts[k]);
		}
		/* After the highest number there is nothing, and nothing is read from this. */
		next = done->sequence + 1;
	}
	size_t len = (size_t)(w.at - out);
	chi_write_le(&w, sum_of(client->id, sizeof(client->id), out, len), SUM);
	return len + SUM;
}

/* One write; `next` is the lowest number that it may have. */
static bool read_done(struct chi_reader *r, uint64_t next, struct chi_done *out)
{
	uint64_t ahead = chi_read_varint(r);
	uint8_t kind = chi_read_u8(r);
	size_t n = counts_of(kind);
	*out = (struct chi_done){.sequence = next + ahead,
				 .outcome = {.kind = (enum chi_idempotency_kind)kind}};
	for (size_t i = 0; i < n; i++) {
		out->outcome.counts[i] = chi_read_varint(r);
	}
	return is_kind(kind) && !r->bad && ahead <= UINT64_MAX - next;
}

int chi_remembered_decode(const MDB_val *key, const MDB_val *value, struct chi_remembered *out)
{
	if (key->mv_size != CHI_IDEMPOTENCY_CLIENT || value->mv_size < LAST_USE + PEER + SUM ||
	    value->mv_size > CHI_REMEMBERED_BYTES || !sum_ok(key, value)) {
		return -CHI_ECORRUPT;
	}
	struct chi_reader r = chi_reader_of(value->mv_data, value->mv_size - SUM);
	memcpy(out->id, key->mv_data, sizeof(out->id));
	out->last_use = chi_read_le(&r, LAST_USE);
	out->peer = (uint32_t)chi_read_le(&r, PEER);
	out->floor = chi_read_varint(&r);
	out->n = chi_read_u8(&r);
	if (r.bad || out->n > CHI_IDEMPOTENCY_WRITES) {
		return -CHI_ECORRUPT;
	}
	uint64_t next = out->floor;
	for (size_t i = 0; i < out->n; i++) {
		if (!read_done(&r, next, &out->done[i])) {
			return -CHI_ECORRUPT;
		}
		next = out->done[i].sequence + 1;
		if (next == 0 && i + 1 < out->n) {
			return -CHI_ECORRUPT;
		}
	}
	return r.at == r.end ? CHI_OK : -CHI_ECORRUPT;
}

const struct chi_done *chi_remembered_find(const struct chi_remembered *client, uint64_t sequence)
{
	/* From the end: it is the last one mostly, and there are few. */
	for (size_t i = client->n; i > 0; i--) {
		if (client->done[i - 1].sequence == sequence) {
			return &client->done[i - 1];
		}
	}
	return NULL;
}

/* Takes the first `n` away. */
static void drop_first(struct chi_remembered *client, size_t n)
{
	client->n -= n;
	memmove(client->done, client->done + n, client->n * sizeof(client->done[0]));
}

void chi_remembered_add(struct chi_remembered *client,
			const struct chi_idempotency_key *idempotency_key,
			const struct chi_outcome *outcome)
{
	size_t gone = 0;
	size_t at = client->n;
	while (at > 0 && client->done[at - 1].sequence > idempotency_key->sequence) {
		at--;
	}
	memmove(client->done + at + 1, client->done + at,
		(client->n - at) * sizeof(client->done[0]));
	client->done[at] = (struct chi_done){idempotency_key->sequence, *outcome};
	client->n++;
	client->floor = client->floor > idempotency_key->unanswered ? client->floor
								    : idempotency_key->unanswered;
	while (gone < client->n && client->done[gone].sequence < client->floor) {
		gone++;
	}
	if (client->n - gone > CHI_IDEMPOTENCY_WRITES) {
		client->floor = client->done[gone].sequence + 1;
		gone++;
	}
	drop_first(client, gone);
}

/* ---- Horizon ----------------------------------------------------------------------------- */

bool chi_horizon_is(const MDB_val *key)
{
	return key->mv_size == sizeof(horizon_key) - 1 &&
	       memcmp(key->mv_data, horizon_key, key->mv_size) == 0;
}

int chi_horizon_decode(const MDB_val *key, const MDB_val *value, uint64_t *out)
{
	if (value->mv_size != HORIZON_LEN || !sum_ok(key, value)) {
		return -CHI_ECORRUPT;
	}
	struct chi_reader r = chi_reader_of(value->mv_data, value->mv_size);
	*out = chi_read_le(&r, 8);
	return CHI_OK;
}

int chi_horizon_get(MDB_txn *txn, MDB_dbi clients, uint64_t *out)
{
	MDB_val key = {sizeof(horizon_key) - 1, horizon_key};
	MDB_val value;
	int rc = chi_chain_get(txn, clients, CHI_CHAIN_CLIENTS, &key, &value);
	*out = 0;
	return rc != 0 ? chi_lmdb_status(rc) : chi_horizon_decode(&key, &value, out);
}

int chi_horizon_put(MDB_txn *txn, MDB_dbi clients, uint64_t horizon)
{
	uint8_t bytes[HORIZON_LEN];
	struct chi_writer w = chi_writer_of(bytes, sizeof(bytes));
	MDB_val key = {sizeof(horizon_key) - 1, horizon_key};
	MDB_val value = {sizeof(bytes), bytes};
	chi_write_le(&w, horizon, 8);
	chi_write_le(&w, sum_of(horizon_key, key.mv_size, bytes, 8), SUM);
	return chi_chain_put(txn, clients, CHI_CHAIN_CLIENTS, &key, &value, 0);
}

/* ---- Forgetting -------------------------------------------------------------------------- */

struct use {
	uint64_t last; /* 0: its record is damaged */
	uint32_t peer;
	uint8_t id[CHI_IDEMPOTENCY_CLIENT];
};

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a;
	const struct use *y = b;
	return x->peer != y->peer ? (x->peer > y->peer) - (x->peer < y->peer)
				  : (x->last > y->last) - (x->last < y->last);
}

/* A client that can be forgotten, and when it wrote last. */
static int collect(MDB_txn *txn, MDB_dbi clients, struct use *uses, size_t max, size_t *n)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	struct chi_done done[CHI_REMEMBERED_ROOM];
	struct chi_remembered client = {.done = done};
	int rc = mdb_cursor_open(txn, clients, &cursor);
	if (rc != 0) {
		return rc;
	}
	while (*n < max &&
	       (rc = chi_chain_step(cursor, CHI_CHAIN_CLIENTS, &key, &value, MDB_NEXT)) == 0) {
		if (key.mv_size != CHI_IDEMPOTENCY_CLIENT) {
			continue;
		}
		bool good = chi_remembered_decode(&key, &value, &client) == CHI_OK;
		struct use *use = &uses[(*n)++];
		use->last = good ? client.last_use : 0;
		use->peer = good ? client.peer : 0;
		memcpy(use->id, key.mv_data, sizeof(use->id));
	}
	mdb_cursor_close(cursor);
	return rc == MDB_NOTFOUND ? 0 : rc;
}

/* From `at` on, how many are of the same peer. */
static size_t count_peer(const struct use *uses, size_t n, size_t at)
{
	size_t end = at;
	while (end < n && uses[end].peer == uses[at].peer) {
		end++;
	}
	return end - at;
}

/* How many stay if no peer keeps more than `share`. */
static size_t count_kept(const struct use *uses, size_t n, size_t share)
{
	size_t kept = 0;
	for (size_t at = 0, own = 0; at < n; at += own) {
		own = count_peer(uses, n, at);
		kept += own < share ? own : share;
	}
	return kept;
}

/* The most that each peer may keep, so that enough room is left. */
static size_t find_share(const struct use *uses, size_t n)
{
	size_t low = 0;
	size_t high = CHI_IDEMPOTENCY_CLIENTS_KEPT;
	while (low < high) {
		size_t share = (low + high + 1) / 2;
		if (count_kept(uses, n, share) <= CHI_IDEMPOTENCY_CLIENTS_KEPT) {
			low = share;
		} else {
			high = share - 1;
		}
	}
	return low;
}

/* Forgets of each peer what is over its share; *latest is raised to the last use among these, that
 * of a damaged one being `now`. Returns LMDB's code. */
static int forget_excess(MDB_txn *txn, MDB_dbi clients, struct use *uses, size_t n, uint64_t now,
			 uint64_t *latest)
{
	int rc = 0;
	size_t share = find_share(uses, n);
	for (size_t at = 0, own = 0; at < n; at += own) {
		own = count_peer(uses, n, at);
		for (size_t i = at; rc == 0 && i + share < at + own; i++) {
			uint64_t last = uses[i].last != 0 ? uses[i].last : now;
			MDB_val key = {sizeof(uses[i].id), uses[i].id};
			*latest = *latest > last ? *latest : last;
			rc = chi_chain_del(txn, clients, CHI_CHAIN_CLIENTS, &key);
		}
	}
	return rc;
}

int chi_clients_trim(MDB_txn *txn, MDB_dbi clients, size_t entries, uint64_t now, uint64_t *horizon,
		     bool *raised)
{
	size_t n = 0;
	_cleanup_(chi_freep) struct use *uses = calloc(entries, sizeof(*uses));
	if (uses == NULL) {
		return ENOMEM;
	}
	int rc = collect(txn, clients, uses, entries, &n);
	if (rc != 0 || n <= CHI_IDEMPOTENCY_CLIENTS) {
		return rc;
	}
	qsort(uses, n, sizeof(*uses), compare_uses);
	/* With more peers than places none has a share: the longest unused go, whose they are. */
	if (find_share(uses, n) == 0) {
		for (size_t i = 0; i < n; i++) {
			uses[i].peer = 0;
		}
		qsort(uses, n, sizeof(*uses), compare_uses);
	}
	uint64_t before = *horizon;
	rc = forget_excess(txn, clients, uses, n, now, horizon);
	*raised = *raised || *horizon > before;
	return rc;
}
