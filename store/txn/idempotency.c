/* SPDX-License-Identifier: MIT */
/*
 * Writes that happen at most once. What was done is noted in the clients tree by the transaction
 * that did it, so that there is never one without the other. The record of a client is read when
 * the transaction first meets it, and written once, at the commit, however many writes it did.
 *
 * Clients that have not written for long are forgotten. The horizon makes that safe: it is the
 * last transaction in which any of them wrote. An unknown client whose first known state of the
 * store is not older than that has never written: it would be remembered. All others are refused.
 */
#include "store/txn/txn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "store/chain/chain.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/record/clients.h"
#include "store/store.h"

#define BUCKETS 64 /* a power of 2 */

/* A client that this transaction has met. */
struct met {
	struct met *next;
	bool known; /* there is something to remember of it, stored or not */
	bool dirty;
	bool damaged;
	size_t room; /* for writes in `client` */
	struct chi_remembered client;
};

/* A write that was noted after the last mark. */
struct noted {
	struct noted *next;
	struct met *met;
	struct chi_idempotency_key idempotency_key;
	struct chi_outcome outcome;
};

struct chi_idempotency_book {
	struct chi_arena arena;
	struct met *buckets[BUCKETS];
	struct noted *noted; /* newest first */
};

static int get_book(struct chi_write *write, struct chi_idempotency_book **out)
{
	if (write->book == NULL) {
		write->book = calloc(1, sizeof(*write->book));
		if (write->book == NULL) {
			return -CHI_ENOMEM;
		}
		/* Bounded by the writes of a transaction, and so by its caller. */
		chi_arena_init(&write->book->arena, SIZE_MAX);
	}
	*out = write->book;
	return CHI_OK;
}

void chi_idempotency_free(struct chi_write *write)
{
	if (write->book != NULL) {
		chi_arena_deinit(&write->book->arena);
		free(write->book);
	}
}

/* For one write more. What is outgrown stays in the arena: doubled, it is no more than what is
 * used. */
static int make_done_room(struct chi_idempotency_book *book, struct met *met)
{
	struct chi_remembered *client = &met->client;
	size_t room = 2 * client->n + 1;
	room = room < CHI_REMEMBERED_ROOM ? room : CHI_REMEMBERED_ROOM;
	if (client->n < met->room) {
		return CHI_OK;
	}
	struct chi_done *done = chi_arena_array(&book->arena, room, sizeof(*done));
	if (done == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(done, client->done, client->n * sizeof(*done));
	client->done = done;
	met->room = room;
	return CHI_OK;
}

/* The client as the transaction has it: met before, or from the tree. */
static int meet(struct chi_write *write, struct chi_idempotency_book *book,
		const uint8_t id[CHI_IDEMPOTENCY_CLIENT], struct met **out)
{
	struct met **bucket = &book->buckets[id[0] % BUCKETS];
	for (struct met *met = *bucket; met != NULL; met = met->next) {
		if (memcmp(met->client.id, id, CHI_IDEMPOTENCY_CLIENT) == 0) {
			*out = met;
			return CHI_OK;
		}
	}
	MDB_val key = chi_val(id, CHI_IDEMPOTENCY_CLIENT);
	MDB_val value;
	int error = chi_chain_get(write->txn, write->env->clients, CHI_CHAIN_CLIENTS, &key, &value);
	if (error != 0 && error != MDB_NOTFOUND) {
		return chi_lmdb_status(error);
	}
	struct met *met = chi_arena_alloc(&book->arena, sizeof(*met));
	if (met == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_done done[CHI_REMEMBERED_ROOM];
	*met = (struct met){.known = error == 0, .client.done = done};
	met->damaged = met->known && chi_remembered_decode(&key, &value, &met->client) < 0;
	met->client.n = met->damaged ? 0 : met->client.n;
	met->room = met->client.n;
	memcpy(met->client.id, id, CHI_IDEMPOTENCY_CLIENT);
	if (make_done_room(book, met) < 0) {
		return -CHI_ENOMEM;
	}
	met->next = *bucket;
	*bucket = met;
	*out = met;
	return CHI_OK;
}

/* All 0 stands for any store. A UUID is never that. */
static bool is_for(const struct chi_env *env, const struct chi_idempotency_key *idempotency_key)
{
	static const uint8_t any[CHI_IDEMPOTENCY_STORE];
	return memcmp(idempotency_key->store, env->stamp.uuid, sizeof(any)) == 0 ||
	       memcmp(idempotency_key->store, any, sizeof(any)) == 0;
}

/* A client without an entry. */
static int stranger(const struct chi_store_state *state,
		    const struct chi_idempotency_key *idempotency_key, struct chi_fault *fault)
{
	if (idempotency_key->since > state->sequence) {
		return chi_fail(
			fault, -CHI_EFORGOTTEN,
			"the write was not done: its client has seen a state that the store "
			"does not have");
	}
	if (idempotency_key->since < state->horizon) {
		return chi_fail(fault, -CHI_EFORGOTTEN,
				"the write was not done: its client is unknown or was forgotten");
	}
	return CHI_NONE;
}

/* The book of the transaction, and the client's page in it. */
static int open_book(struct chi_write *write, const uint8_t *client,
		     struct chi_idempotency_book **book, struct met **met)
{
	int rc = chi_write_ready(write);
	if (rc == CHI_OK) {
		rc = get_book(write, book);
	}
	return rc == CHI_OK ? meet(write, *book, client, met) : rc;
}

/* What is known of a marked write: CHI_OK and *out; CHI_NONE, it was not done. */
static int look_up_write(struct chi_write *write, const struct chi_idempotency_key *idempotency_key,
			 struct chi_outcome *out, struct chi_fault *fault)
{
	struct chi_idempotency_book *book = NULL;
	struct met *met = NULL;
	int rc = open_book(write, idempotency_key->client, &book, &met);
	if (rc < 0) {
		return rc;
	}
	if (!is_for(write->env, idempotency_key)) {
		return chi_fail(fault, -CHI_EFORGOTTEN,
				"the write was not done: it is for another store");
	}
	for (const struct noted *noted = book->noted; noted != NULL; noted = noted->next) {
		if (noted->met == met &&
		    noted->idempotency_key.sequence == idempotency_key->sequence) {
			*out = noted->outcome;
			return CHI_OK;
		}
	}
	if (met->damaged) {
		return chi_fail(fault, -CHI_EFORGOTTEN,
				"the write was not done: its client's entry is damaged");
	}
	if (!met->known) {
		return stranger(&write->state, idempotency_key, fault);
	}
	const struct chi_done *done = chi_remembered_find(&met->client, idempotency_key->sequence);
	if (done != NULL) {
		*out = done->outcome;
		return CHI_OK;
	}
	return idempotency_key->sequence >= met->client.floor
		       ? CHI_NONE
		       : chi_fail(fault, -CHI_EFORGOTTEN,
				  "the write was not done: later ones of its client were, and "
				  "it is unknown or was forgotten");
}

int chi_write_known(struct chi_write *write, const struct chi_idempotency_key *idempotency_key,
		    enum chi_idempotency_kind kind, struct chi_outcome *out,
		    struct chi_fault *fault)
{
	struct chi_outcome known;
	int rc = look_up_write(write, idempotency_key, &known, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	if (known.kind == CHI_IDEMPOTENCY_NEVER) {
		return chi_fail(fault, -CHI_EFORGOTTEN,
				"the write was not done: its client was told that it never would "
				"be");
	}
	if (known.kind != kind) {
		return chi_fail(fault, -CHI_EINVAL,
				"another kind of write has been done under this number");
	}
	*out = known;
	return CHI_OK;
}

int chi_write_outcome(struct chi_write *write, const struct chi_idempotency_key *idempotency_key,
		      struct chi_outcome *out, struct chi_fault *fault)
{
	const struct chi_outcome never = {.kind = CHI_IDEMPOTENCY_NEVER};
	int rc = look_up_write(write, idempotency_key, out, fault);
	if (rc == CHI_OK) {
		return out->kind == CHI_IDEMPOTENCY_NEVER ? CHI_NONE : CHI_OK;
	}
	if (rc == CHI_NONE) {
		*out = never;
		rc = chi_write_note(write, idempotency_key, &never);
		return rc < 0 ? chi_fault_plain(fault, rc) : CHI_NONE;
	}
	return rc;
}

/* Into the client's record. */
static int enter_met(struct chi_idempotency_book *book, struct met *met,
		     const struct chi_idempotency_key *idempotency_key,
		     const struct chi_outcome *outcome)
{
	if (make_done_room(book, met) < 0) {
		return -CHI_ENOMEM;
	}
	chi_remembered_add(&met->client, idempotency_key, outcome);
	met->client.peer = idempotency_key->peer;
	met->known = true;
	met->dirty = true;
	return CHI_OK;
}

int chi_write_note(struct chi_write *write, const struct chi_idempotency_key *idempotency_key,
		   const struct chi_outcome *outcome)
{
	struct chi_idempotency_book *book = NULL;
	struct met *met = NULL;
	int rc = open_book(write, idempotency_key->client, &book, &met);
	if (rc < 0) {
		return chi_write_stick(write, rc);
	}
	write->changed = true;
	if (!write->has_savepoint) {
		return chi_write_stick(write, enter_met(book, met, idempotency_key, outcome));
	}
	struct noted *noted = chi_arena_alloc(&book->arena, sizeof(*noted));
	if (noted == NULL) {
		return chi_write_stick(write, -CHI_ENOMEM);
	}
	*noted = (struct noted){book->noted, met, *idempotency_key, *outcome};
	book->noted = noted;
	return CHI_OK;
}

int chi_idempotency_settle(struct chi_write *write)
{
	struct chi_idempotency_book *book = write->book;
	int rc = CHI_OK;
	while (rc == CHI_OK && book != NULL && book->noted != NULL) {
		const struct noted *noted = book->noted;
		rc = enter_met(book, noted->met, &noted->idempotency_key, &noted->outcome);
		book->noted = noted->next;
	}
	return rc;
}

void chi_idempotency_rollback(struct chi_write *write)
{
	if (write->book != NULL) {
		write->book->noted = NULL;
	}
}

/* Returns LMDB's code. */
static int store_client(struct chi_write *write, struct chi_remembered *client, uint64_t now)
{
	uint8_t bytes[CHI_REMEMBERED_BYTES];
	client->last_use = now;
	MDB_val key = chi_val(client->id, sizeof(client->id));
	MDB_val value = {chi_remembered_encode(client, bytes), bytes};
	return chi_chain_put(write->txn, write->env->clients, CHI_CHAIN_CLIENTS, &key, &value, 0);
}

int chi_idempotency_store(struct chi_write *write)
{
	struct chi_idempotency_book *book = write->book;
	if (book == NULL) {
		return 0;
	}
	uint64_t now = write->state.sequence + 1;
	int error = chi_idempotency_settle(write) < 0 ? ENOMEM : 0;
	for (size_t i = 0; error == 0 && i < BUCKETS; i++) {
		for (struct met *met = book->buckets[i]; error == 0 && met != NULL;
		     met = met->next) {
			error = met->dirty ? store_client(write, &met->client, now) : 0;
		}
	}
	MDB_stat stat;
	MDB_dbi clients = write->env->clients;
	error = error == 0 ? mdb_stat(write->txn, clients, &stat) : error;
	/* One of the entries is the chain's head. */
	return error == 0 && stat.ms_entries > CHI_IDEMPOTENCY_CLIENTS
		       ? chi_clients_trim(write->txn, clients, stat.ms_entries, now,
					  &write->state.horizon)
		       : error;
}
