/* SPDX-License-Identifier: MIT */
/* Writes that happen at most once: what is known again, what is refused, and where it ends. */
#include "tests/store/help.h"

#include <fcntl.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/importer.h"
#include "store/chain/chain.h"
#include "store/record/clients.h"
#include "store/record/meta.h"

static struct chi_key key;

/* A mark of client number `client`. */
static struct chi_idempotency_key mark(unsigned client, uint64_t since, uint64_t sequence,
				       uint64_t unanswered)
{
	struct chi_idempotency_key idempotency_key = {
		.since = since, .sequence = sequence, .unanswered = unanswered};
	memcpy(idempotency_key.client, &client, sizeof(client));
	/* Spread like the random bytes of real ones. */
	idempotency_key.client[15] = (uint8_t)(client * 37);
	return idempotency_key;
}

static uint64_t sequence_of(struct chi_dir *store)
{
	struct chi_read *read;
	ok(chi_read_begin(store, &read));
	uint64_t sequence = chi_read_sequence(read);
	chi_read_end(read);
	return sequence;
}

/* Adds a game to the position, in the transaction and once; the status. */
static int add_in(struct chi_write *write, const struct chi_idempotency_key *idempotency_key,
		  struct chi_outcome *out)
{
	struct chi_put_entry put = {.key = key, .parts = CHI_PUT_ADD, .record.counts.white = 1};
	struct chi_put_result result = {0};
	*out = (struct chi_outcome){.kind = CHI_IDEMPOTENCY_PUT};
	int rc = chi_write_known(write, idempotency_key, CHI_IDEMPOTENCY_PUT, out, &fault);
	if (rc != CHI_NONE) {
		return rc;
	}
	ok(chi_write_put(write, &put, &result));
	out->counts[0] = result.added;
	out->counts[1] = result.updated;
	ok(chi_write_note(write, idempotency_key, out));
	return CHI_NONE;
}

/* The same in a transaction of its own: CHI_NONE if it was done now. */
static int add(struct chi_dir *store, const struct chi_idempotency_key *idempotency_key)
{
	struct chi_write *write;
	struct chi_outcome outcome;
	ok(chi_write_begin(store, &write, &fault));
	int rc = add_in(write, idempotency_key, &outcome);
	ok(chi_write_commit(write, &fault));
	return rc;
}

static uint64_t games(struct chi_dir *store)
{
	struct chi_row row;
	ok(help_get(store, &key, &row));
	return row.counts.white;
}

static struct chi_dir *start(void)
{
	help_keys(&key, 1);
	return help_store("once", CHI_STATISTIC_CONTROL);
}

/* Added once, however often it comes; and answered each time as the first. */
CASE(test_done_once)
{
	struct chi_dir *store = start();
	struct chi_write *write;
	struct chi_outcome outcome;
	for (uint64_t sequence = 1; sequence <= 5; sequence++) {
		struct chi_idempotency_key idempotency_key = mark(1, 0, sequence, sequence);
		assert_int_equal(add(store, &idempotency_key), CHI_NONE);
		uint64_t number = sequence_of(store);
		for (int again = 0; again < 3; again++) {
			ok(chi_write_begin(store, &write, &fault));
			ok(add_in(write, &idempotency_key, &outcome));
			ok(chi_write_commit(write, &fault));
			assert_int_equal(outcome.counts[0], sequence == 1);
			assert_int_equal(outcome.counts[1], sequence > 1);
		}
		assert_int_equal(games(store), sequence);
		assert_int_equal(sequence_of(store), number);
	}
	/* The control: without a mark it counts each time. */
	struct chi_put_entry put = {.key = key, .parts = CHI_PUT_ADD, .record.counts.white = 1};
	help_put(store, &put);
	help_put(store, &put);
	assert_int_equal(games(store), 7);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* A mark that names a store is no other store's, also where the same client wrote. */
CASE(test_of_another_store)
{
	struct chi_dir *store = start();
	struct chi_idempotency_key idempotency_key = mark(1, 0, 1, 1);
	memcpy(idempotency_key.store, chi_dir_uuid(store), sizeof(idempotency_key.store));
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	assert_int_equal(add(store, &idempotency_key), CHI_OK);
	idempotency_key.sequence = 2;
	idempotency_key.store[15] ^= 1;
	assert_int_equal(add(store, &idempotency_key), -CHI_EFORGOTTEN);
	assert_string_equal(fault.text, "the write was not done: it is for another store");
	assert_int_equal(games(store), 1);
	memset(idempotency_key.store, 0, sizeof(idempotency_key.store));
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	chi_dir_close(store);
}

/* What was asked for and was not done stays undone; of what was done all counts are kept. */
CASE(test_settled)
{
	struct chi_dir *store = start();
	struct chi_write *write;
	struct chi_outcome outcome;
	struct chi_import_result games_in = {
		1, UINT64_MAX, 3, 4, 5, 6, 7, 8, 9, 10, .positions = {11, 12, 13, 14}};
	struct chi_idempotency_key import = mark(1, 0, 1, 1);
	struct chi_idempotency_key never = mark(1, 0, 2, 1);
	struct chi_idempotency_key after = mark(1, 0, 3, 1);
	ok(chi_write_begin(store, &write, &fault));
	outcome = (struct chi_outcome){.kind = CHI_IDEMPOTENCY_IMPORT, .import = games_in};
	ok(chi_write_note(write, &import, &outcome));
	assert_int_equal(chi_write_outcome(write, &never, &outcome, &fault), CHI_NONE);
	assert_int_equal(add_in(write, &never, &outcome), -CHI_EFORGOTTEN);
	ok(chi_write_commit(write, &fault));
	assert_int_equal(add(store, &never), -CHI_EFORGOTTEN);
	assert_int_equal(add(store, &after), CHI_NONE);
	assert_int_equal(add(store, &import), -CHI_EINVAL);
	ok(help_verify(store, NULL));
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_outcome(write, &import, &outcome, &fault));
	assert_memory_equal(&outcome.import, &games_in, sizeof(games_in));
	ok(chi_write_outcome(write, &after, &outcome, &fault));
	assert_int_equal(outcome.kind, CHI_IDEMPOTENCY_PUT);
	assert_int_equal(chi_write_outcome(write, &never, &outcome, &fault), CHI_NONE);
	chi_write_abort(write);
	chi_dir_close(store);
}

/* With the write or not at all: aborted, rolled back, closed and opened again, and copied. */
CASE(test_with_its_write)
{
	struct chi_dir *store = start();
	struct chi_write *write;
	struct chi_outcome outcome;
	struct chi_idempotency_key one = mark(1, 0, 1, 1);
	struct chi_idempotency_key two = mark(1, 0, 2, 1);
	struct chi_idempotency_key three = mark(2, 0, 1, 1);
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(add_in(write, &one, &outcome), CHI_NONE);
	ok(add_in(write, &one, &outcome));
	chi_write_abort(write);
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(add_in(write, &one, &outcome), CHI_NONE);
	ok(chi_write_savepoint(write));
	assert_int_equal(add_in(write, &two, &outcome), CHI_NONE);
	ok(add_in(write, &two, &outcome));
	ok(add_in(write, &one, &outcome));
	ok(chi_write_rollback(write));
	assert_int_equal(add_in(write, &two, &outcome), CHI_NONE);
	ok(chi_write_savepoint(write));
	assert_int_equal(add_in(write, &three, &outcome), CHI_NONE);
	ok(chi_write_rollback(write));
	ok(add_in(write, &two, &outcome));
	ok(chi_write_commit(write, &fault));
	assert_int_equal(games(store), 2);
	assert_int_equal(add(store, &three), CHI_NONE);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
	store = help_open(help_path("once"), CHI_STORE_WRITE);
	assert_int_equal(add(store, &one), CHI_OK);
	assert_int_equal(add(store, &two), CHI_OK);
	assert_int_equal(add(store, &three), CHI_OK);
	assert_int_equal(games(store), 3);
	struct chi_compaction *compaction;
	uint64_t before;
	uint64_t after;
	ok(chi_compact_prepare(store, &compaction, &fault));
	ok(chi_compact_swap(compaction, &before, &after, &fault));
	assert_int_equal(add(store, &two), CHI_OK);
	assert_int_equal(games(store), 3);
	chi_dir_close(store);
}

/* As many as the store keeps, one less, one more; in any order. */
CASE(test_window)
{
	for (uint64_t n = CHI_IDEMPOTENCY_WRITES - 1; n <= CHI_IDEMPOTENCY_WRITES + 1; n++) {
		struct chi_dir *store = start();
		struct chi_idempotency_key idempotency_key;
		/* Odd ones first, as two connections may bring them. */
		for (uint64_t i = 0; i < n; i++) {
			uint64_t odd = (n + 1) / 2;
			uint64_t sequence = i < odd ? 2 * i + 1 : 2 * (i - odd) + 2;
			idempotency_key = mark(1, 0, sequence, 1);
			assert_int_equal(add(store, &idempotency_key), CHI_NONE);
		}
		uint64_t kept_from =
			n > CHI_IDEMPOTENCY_WRITES ? n - CHI_IDEMPOTENCY_WRITES + 1 : 1;
		for (uint64_t sequence = 1; sequence <= n; sequence++) {
			idempotency_key = mark(1, 0, sequence, 1);
			assert_int_equal(add(store, &idempotency_key),
					 sequence < kept_from ? -CHI_EFORGOTTEN : CHI_OK);
		}
		assert_int_equal(games(store), n);
		ok(help_verify(store, NULL));
		chi_dir_close(store);
	}
}

/* What the client will not send again is forgotten, done or not, and never done later. */
CASE(test_answered_is_forgotten)
{
	struct chi_dir *store = start();
	struct chi_idempotency_key idempotency_key = mark(1, 0, 10, 10);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	idempotency_key = mark(1, 0, 9, 9);
	assert_int_equal(add(store, &idempotency_key), -CHI_EFORGOTTEN);
	assert_non_null(strstr(fault.text, "not done"));
	idempotency_key = mark(1, 0, 12, 10);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	/* Left out so far, but not below what may still come. */
	idempotency_key = mark(1, 0, 11, 10);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	idempotency_key = mark(1, 0, UINT64_MAX - 1, 12);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	idempotency_key = mark(1, 0, 12, 12);
	assert_int_equal(add(store, &idempotency_key), CHI_OK);
	idempotency_key = mark(1, 0, 11, 11);
	assert_int_equal(add(store, &idempotency_key), -CHI_EFORGOTTEN);
	idempotency_key = mark(1, 0, UINT64_MAX, UINT64_MAX);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	assert_int_equal(add(store, &idempotency_key), CHI_OK);
	assert_int_equal(games(store), 5);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* Kinds do not mix, and a refusal leaves the transaction as it is. */
CASE(test_other_kind)
{
	struct chi_dir *store = start();
	struct chi_idempotency_key idempotency_key = mark(1, 0, 1, 1);
	struct chi_write *write;
	struct chi_outcome outcome = {.kind = CHI_IDEMPOTENCY_DELETE, .counts = {1}};
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(
		chi_write_known(write, &idempotency_key, CHI_IDEMPOTENCY_DELETE, &outcome, &fault),
		-CHI_EINVAL);
	idempotency_key.sequence = idempotency_key.unanswered = 2;
	outcome = (struct chi_outcome){.kind = CHI_IDEMPOTENCY_DELETE, .counts = {1}};
	assert_int_equal(
		chi_write_known(write, &idempotency_key, CHI_IDEMPOTENCY_DELETE, &outcome, &fault),
		CHI_NONE);
	assert_int_equal(chi_write_delete(write, &key), CHI_OK);
	ok(chi_write_note(write, &idempotency_key, &outcome));
	ok(chi_write_commit(write, &fault));
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_known(write, &idempotency_key, CHI_IDEMPOTENCY_DELETE, &outcome, &fault));
	assert_int_equal(outcome.counts[0], 1);
	chi_write_abort(write);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* Who is not remembered: new, or forgotten. */
CASE(test_strangers)
{
	struct chi_dir *store = start();
	uint64_t now = sequence_of(store);
	struct chi_idempotency_key idempotency_key = mark(1, now + 1, 1, 1);
	assert_int_equal(add(store, &idempotency_key), -CHI_EFORGOTTEN);
	idempotency_key = mark(1, now, 1, 1);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	/* No one has been forgotten: any state of the past will do. */
	idempotency_key = mark(2, 0, 7, 7);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	chi_dir_close(store);
}

/* Clients first .. first + n - 1 write for the first time, all in one transaction. */
static void crowd(struct chi_dir *store, unsigned first, unsigned n)
{
	struct chi_write *write;
	struct chi_outcome outcome;
	uint64_t since = sequence_of(store);
	ok(chi_write_begin(store, &write, &fault));
	for (unsigned i = 0; i < n; i++) {
		struct chi_idempotency_key idempotency_key = mark(first + i, since, 1, 1);
		assert_int_equal(add_in(write, &idempotency_key, &outcome), CHI_NONE);
	}
	ok(chi_write_commit(write, &fault));
}

/* One user with more identities than there are places takes them from himself alone. */
CASE(test_shares)
{
	enum {
		USERS = 30,
		EACH = 20,
		FLOOD = CHI_IDEMPOTENCY_CLIENTS + 224
	};
	struct chi_dir *store = start();
	struct chi_outcome outcome;
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (unsigned i = 0; i < USERS * EACH; i++) {
		struct chi_idempotency_key one = mark(i, 0, 1, 1);
		one.peer = 1 + i % USERS;
		assert_int_equal(add_in(write, &one, &outcome), CHI_NONE);
	}
	ok(chi_write_commit(write, &fault));
	for (unsigned begun = 0; begun < FLOOD; begun += FLOOD / 4) {
		uint64_t since = sequence_of(store);
		ok(chi_write_begin(store, &write, &fault));
		for (unsigned i = 0; i < FLOOD / 4; i++) {
			struct chi_idempotency_key one = mark(10000 + begun + i, since, 1, 1);
			one.peer = 99;
			assert_int_equal(add_in(write, &one, &outcome), CHI_NONE);
		}
		ok(chi_write_commit(write, &fault));
	}
	for (unsigned i = 0; i < USERS * EACH; i++) {
		struct chi_idempotency_key one = mark(i, 0, 1, 1);
		assert_int_equal(add(store, &one), CHI_OK);
	}
	/* His last ones are known, his first are not. */
	struct chi_idempotency_key last = mark(10000 + FLOOD - 1, 0, 1, 1);
	assert_int_equal(add(store, &last), CHI_OK);
	struct chi_idempotency_key first = mark(10000, 0, 1, 1);
	assert_int_equal(add(store, &first), -CHI_EFORGOTTEN);
	chi_dir_close(store);
}

/* Up to the limit no one is forgotten; one more, and the longest unused go, and are refused. */
CASE(test_horizon)
{
	struct chi_dir *store = start();
	unsigned gone = CHI_IDEMPOTENCY_CLIENTS + 1 - CHI_IDEMPOTENCY_CLIENTS_KEPT;
	crowd(store, 0, gone);
	uint64_t between = sequence_of(store);
	struct chi_idempotency_key last_gone = mark(gone, between, 1, 1);
	assert_int_equal(add(store, &last_gone), CHI_NONE);
	uint64_t behind = sequence_of(store);
	crowd(store, gone + 1, CHI_IDEMPOTENCY_CLIENTS - gone - 1);
	/* The longest unused of them writes again, and so is not. */
	struct chi_idempotency_key first = mark(0, 0, 2, 1);
	assert_int_equal(add(store, &first), CHI_NONE);
	assert_int_equal(add(store, &last_gone), CHI_OK);
	uint64_t before = games(store);
	struct chi_idempotency_key extra[2] = {mark(5000, sequence_of(store), 1, 1),
					       mark(5001, sequence_of(store), 1, 1)};
	assert_int_equal(add(store, &extra[0]), CHI_NONE);
	/* One client more than can be remembered. Of those that go, "first" is none. */
	assert_int_equal(add(store, &first), CHI_OK);
	assert_int_equal(add(store, &last_gone), -CHI_EFORGOTTEN);
	struct chi_idempotency_key idempotency_key;
	for (unsigned i = 1; i < gone; i++) {
		idempotency_key = mark(i, 0, 1, 1);
		assert_int_equal(add(store, &idempotency_key), -CHI_EFORGOTTEN);
	}
	assert_int_equal(games(store), before + 1);
	/* The horizon is where the last of them wrote: n - 1, n, n + 1. */
	idempotency_key = mark(6000, behind - 1, 1, 1);
	assert_int_equal(add(store, &idempotency_key), -CHI_EFORGOTTEN);
	idempotency_key = mark(6000, behind, 1, 1);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	idempotency_key = mark(6001, behind + 1, 1, 1);
	assert_int_equal(add(store, &idempotency_key), CHI_NONE);
	assert_int_equal(add(store, &extra[1]), CHI_NONE);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
	/* It is in the store. */
	store = help_open(help_path("once"), CHI_STORE_WRITE);
	assert_int_equal(add(store, &last_gone), -CHI_EFORGOTTEN);
	assert_int_equal(add(store, &extra[0]), CHI_OK);
	chi_dir_close(store);
}

/* Every state record that is in the file, or was. */
static void lose_states(const char *path)
{
	static uint8_t bytes[4 << 20];
	int fd = open(path, O_RDWR);
	ssize_t n = read(fd, bytes, sizeof(bytes));
	assert_in_range(n, 5, sizeof(bytes) - 1);
	for (ssize_t i = 0; i + 5 <= n; i++) {
		bytes[i] ^= memcmp(bytes + i, "state", 5) == 0;
	}
	assert_int_equal(pwrite(fd, bytes, (size_t)n, 0), n);
	(void)close(fd);
}

/* What was remembered of clients is not saved by a repair: a write that comes again is refused,
 * however far the new store has come meanwhile, and whether or not it is known how far the old one
 * had. */
CASE(test_repaired)
{
	for (int lost = 0; lost < 2; lost++) {
		struct chi_dir *store = start();
		struct chi_repair_result result;
		crowd(store, 1, 20);
		uint64_t since = sequence_of(store);
		struct chi_idempotency_key old = mark(100, since, 1, 1);
		assert_int_equal(add(store, &old), CHI_NONE);
		assert_int_equal(add(store, &old), CHI_OK);
		chi_dir_close(store);
		if (lost) {
			lose_states(help_path("once/data.mdb"));
		}
		help_remove(help_path("saved"));
		ok(chi_dir_repair(help_path("once"), help_path("saved"), 0, chi_import_relist, NULL,
				  NULL, &result, &fault));
		store = help_open(help_path("saved"), CHI_STORE_WRITE);
		ok(help_verify(store, NULL));
		struct chi_idempotency_key fresh = mark(200, sequence_of(store), 1, 1);
		for (unsigned i = 0; i < since + 5; i++) {
			assert_int_equal(add(store, &old), -CHI_EFORGOTTEN);
			assert_int_equal(add(store, &fresh), CHI_NONE);
			assert_int_equal(add(store, &fresh), CHI_OK);
			fresh.sequence++;
		}
		chi_dir_close(store);
	}
}

/* Any order of new, repeated and late writes of a few clients, against what must be. */
CASE(test_random)
{
	enum {
		CLIENTS = 3,
		WRITES = 200
	};
	struct chi_dir *store = start();
	bool done[CLIENTS][WRITES + 1] = {{false}};
	uint64_t sent[CLIENTS] = {0};
	uint64_t count = 0;
	struct chi_write *write = NULL;
	for (int step = 0; step < 4000; step++) {
		struct chi_outcome outcome;
		unsigned c = help_below(CLIENTS);
		bool fresh = help_below(3) == 0 && sent[c] < WRITES;
		uint64_t sequence = fresh ? ++sent[c] : sent[c] - help_below(70) % (sent[c] + 1);
		if (sequence == 0) {
			continue;
		}
		uint64_t low = sequence > 10 ? sequence - help_below(10) : 1;
		struct chi_idempotency_key idempotency_key = mark(c, 0, sequence, low);
		if (write == NULL) {
			ok(chi_write_begin(store, &write, &fault));
		}
		bool has_savepoint = help_below(4) == 0;
		if (has_savepoint) {
			ok(chi_write_savepoint(write));
		}
		int rc = add_in(write, &idempotency_key, &outcome);
		/* Known if done, unless forgotten; never done twice. */
		assert_true(rc != CHI_NONE || !done[c][sequence]);
		assert_true(rc != CHI_OK || done[c][sequence]);
		if (has_savepoint && help_below(2) == 0) {
			ok(chi_write_rollback(write));
			rc = CHI_OK;
		}
		if (rc == CHI_NONE) {
			done[c][sequence] = true;
			count++;
		}
		if (help_below(5) == 0) {
			ok(chi_write_commit(write, &fault));
			write = NULL;
		}
	}
	if (write != NULL) {
		ok(chi_write_commit(write, &fault));
	}
	assert_int_equal(games(store), count);
	assert_true(count > 100);
	ok(help_verify(store, NULL));
	chi_dir_close(store);
}

/* Puts raw bytes into the tree of clients, and a horizon into the state. */
static void put_raw(const char *name, size_t len, const void *value, size_t size, uint64_t horizon)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi clients;
	MDB_dbi meta;
	char copy[CHI_IDEMPOTENCY_CLIENT];
	uint8_t bytes[64];
	struct chi_store_state state;
	memcpy(copy, name, len);
	memcpy(bytes, value, size);
	MDB_val k = {len, copy};
	MDB_val v = {size, bytes};
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_set_maxdbs(env, 16), 0);
	assert_int_equal(mdb_env_open(env, help_path("once"), 0, 0600), 0);
	assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_dbi_open(txn, "meta", 0, &meta), 0);
	assert_int_equal(mdb_dbi_open(txn, "clients", 0, &clients), 0);
	/* A store's sequence number and LMDB's transaction number go side by side. */
	ok(chi_state_get(txn, meta, &state));
	state.sequence++;
	state.horizon = horizon;
	assert_int_equal(chi_state_put(txn, meta, &state), 0);
	if (len > 0) {
		assert_int_equal(chi_chain_put(txn, clients, CHI_CHAIN_CLIENTS, &k, &v, 0), 0);
	}
	assert_int_equal(mdb_txn_commit(txn), 0);
	mdb_env_close(env);
}

/* Damage costs the client its memory, and no one else anything; verify names it. */
CASE(test_damage)
{
	struct chi_dir *store = start();
	struct chi_idempotency_key one = mark(1, 0, 1, 1);
	struct chi_idempotency_key two = mark(2, 0, 1, 1);
	assert_int_equal(add(store, &one), CHI_NONE);
	assert_int_equal(add(store, &two), CHI_NONE);
	chi_dir_close(store);
	put_raw((const char *)one.client, CHI_IDEMPOTENCY_CLIENT, "nonsense, of a fair length", 26,
		0);
	store = help_open(help_path("once"), CHI_STORE_WRITE);
	assert_int_equal(help_verify(store, NULL), -CHI_ECORRUPT);
	assert_int_equal(add(store, &one), -CHI_EFORGOTTEN);
	assert_int_equal(add(store, &two), CHI_OK);
	assert_int_equal(games(store), 2);
	/* Sooner or later it goes. Then no earlier client is believed. */
	uint64_t since = sequence_of(store);
	crowd(store, 10, CHI_IDEMPOTENCY_CLIENTS);
	ok(help_verify(store, NULL));
	struct chi_idempotency_key late = mark(9999, since, 1, 1);
	assert_int_equal(add(store, &late), -CHI_EFORGOTTEN);
	late = mark(9999, sequence_of(store), 1, 1);
	assert_int_equal(add(store, &late), CHI_NONE);
	chi_dir_close(store);
	/* A horizon that is to come would have everyone refused for ever. */
	put_raw("", 0, "", 0, UINT64_MAX);
	store = help_open(help_path("once"), CHI_STORE_READ);
	assert_int_equal(help_verify(store, NULL), -CHI_ECORRUPT);
	chi_dir_close(store);
}

CASES_MAIN(NULL, help_teardown)
