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

#define SUM	 4 /* bytes of the checksum at a record's end */
#define LAST_USE 8
#define PEER	 4

/* ---- Records ----------------------------------------------------------------------------- */

/* Counts that an answer of the kind consists of. */
static const uint8_t counts_of[CHI_IDEMPOTENCY_KINDS] = {
	[CHI_IDEMPOTENCY_PUT] = 4,
	[CHI_IDEMPOTENCY_DELETE] = 1,
	[CHI_IDEMPOTENCY_MAKE_GAMESET] = 1,
	[CHI_IDEMPOTENCY_DROP_GAMESET] = 1,
	[CHI_IDEMPOTENCY_QUEUE_SETTLE] = 1,
	[CHI_IDEMPOTENCY_QUEUE_TAKE] = 2,
	[CHI_IDEMPOTENCY_NAMES] = 3,
	[CHI_IDEMPOTENCY_QUEUE_ADD] = 3,
	[CHI_IDEMPOTENCY_IMPORT] = CHI_OUTCOME_COUNTS,
};

static uint64_t sum_client(const void *key, size_t key_len, const uint8_t *value, size_t len)
{
	return chi_checksum(key, key_len, value, len) & UINT32_MAX;
}

static bool sum_ok(const MDB_val *key, const MDB_val *value)
{
	const uint8_t *bytes = value->mv_data;
	size_t len = value->mv_size - SUM;
	struct chi_reader r = chi_reader_of(bytes + len, SUM);
	return chi_read_le(&r, SUM) == sum_client(key->mv_data, key->mv_size, bytes, len);
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
		size_t n = counts_of[done->outcome.kind];
		chi_write_varint(&w, done->sequence - next);
		chi_write_u8(&w, (uint8_t)done->outcome.kind);
		for (size_t k = 0; k < n; k++) {
			chi_write_varint(&w, done->outcome.counts[k]);
		}
		/* After the highest number there is nothing, and nothing is read from this. */
		next = done->sequence + 1;
	}
	size_t len = (size_t)(w.at - out);
	chi_write_le(&w, sum_client(client->id, sizeof(client->id), out, len), SUM);
	return len + SUM;
}

/* One write; `next` is the lowest number that it may have. */
static bool read_done(struct chi_reader *r, uint64_t next, struct chi_done *out)
{
	uint64_t ahead = chi_read_varint(r);
	uint8_t kind = chi_read_u8(r);
	*out = (struct chi_done){.sequence = next + ahead,
				 .outcome = {.kind = (enum chi_idempotency_kind)kind}};
	if (kind < CHI_IDEMPOTENCY_PUT || kind >= CHI_IDEMPOTENCY_KINDS) {
		return false;
	}
	for (size_t i = 0; i < counts_of[kind]; i++) {
		out->outcome.counts[i] = chi_read_varint(r);
	}
	return !r->bad && ahead <= UINT64_MAX - next;
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

/* ---- Forgetting -------------------------------------------------------------------------- */

struct use {
	uint64_t last; /* 0: its record is damaged */
	uint32_t peer;
	uint32_t rank; /* how many of its peer have written later */
	uint8_t id[CHI_IDEMPOTENCY_CLIENT];
};

struct uses {
	struct use *use;
	size_t n;
	size_t max;
};

/* By peer, and each peer's latest first. */
static int compare_peers(const void *a, const void *b)
{
	const struct use *x = a;
	const struct use *y = b;
	return x->peer != y->peer ? (x->peer > y->peer) - (x->peer < y->peer)
				  : (x->last < y->last) - (x->last > y->last);
}

/* The latest of every peer first, then the ones before them, and so on. */
static int compare_ranks(const void *a, const void *b)
{
	const struct use *x = a;
	const struct use *y = b;
	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
				  : (x->last < y->last) - (x->last > y->last);
}

/* A client that can be forgotten, and when it wrote last. */
static int collect_uses(void *context, const MDB_val *key, const MDB_val *value)
{
	struct uses *uses = context;
	struct chi_done done[CHI_REMEMBERED_ROOM];
	struct chi_remembered client = {.done = done};
	if (key->mv_size != CHI_IDEMPOTENCY_CLIENT || uses->n == uses->max) {
		return CHI_OK;
	}
	bool good = chi_remembered_decode(key, value, &client) == CHI_OK;
	struct use *use = &uses->use[uses->n++];
	use->last = good ? client.last_use : 0;
	use->peer = good ? client.peer : 0;
	memcpy(use->id, key->mv_data, sizeof(use->id));
	return CHI_OK;
}

int chi_clients_trim(MDB_txn *txn, MDB_dbi clients, size_t entries, uint64_t now, uint64_t *horizon)
{
	_cleanup_(chi_freep) struct use *use = calloc(entries, sizeof(*use));
	struct uses uses = {.use = use, .max = entries};
	if (use == NULL) {
		return ENOMEM;
	}
	int rc = chi_chain_walk(txn, clients, CHI_CHAIN_CLIENTS, NULL, 0, collect_uses, &uses);
	if (rc != CHI_OK || uses.n <= CHI_IDEMPOTENCY_CLIENTS) {
		return rc == CHI_OK ? 0 : rc == -CHI_ECORRUPT ? MDB_CORRUPTED : EIO;
	}
	qsort(use, uses.n, sizeof(*use), compare_peers);
	for (size_t i = 1; i < uses.n; i++) {
		use[i].rank = use[i].peer == use[i - 1].peer ? use[i - 1].rank + 1 : 0;
	}
	qsort(use, uses.n, sizeof(*use), compare_ranks);
	for (size_t i = CHI_IDEMPOTENCY_CLIENTS_KEPT; rc == 0 && i < uses.n; i++) {
		uint64_t last = use[i].last != 0 ? use[i].last : now;
		const MDB_val key = chi_val(use[i].id, sizeof(use[i].id));
		*horizon = *horizon > last ? *horizon : last;
		rc = chi_chain_del(txn, clients, CHI_CHAIN_CLIENTS, &key);
	}
	return rc;
}
