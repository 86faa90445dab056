/* SPDX-License-Identifier: MIT */
/* What is remembered of clients: as bytes, and while a transaction holds it. */
#include "tests/store/help.h"

#include <lmdb.h>
#include <malloc.h>
#include <string.h>

#include "store/record/clients.h"

/* What a transaction notes takes memory for what there is, and not for what there may be: clients
 * that no one knows cost nothing but their first write. */
CASE(test_many_strangers)
{
	struct chi_dir *store = help_store("clients", CHI_STATISTIC_CONTROL);
	struct chi_write *write;
	struct chi_outcome outcome = {.kind = CHI_IDEMPOTENCY_PUT};
	ok(chi_write_begin(store, &write, &fault));
	size_t before = mallinfo2().uordblks;
	for (uint64_t i = 0; i < 20000; i++) {
		struct chi_idempotency_key idempotency_key = {.sequence = 1, .unanswered = 1};
		memcpy(idempotency_key.client, &i, sizeof(i));
		idempotency_key.client[15] = 1;
		ok(chi_write_savepoint(write));
		assert_int_equal(chi_write_known(write, &idempotency_key, CHI_IDEMPOTENCY_PUT,
						 &outcome, &fault),
				 CHI_NONE);
		ok(chi_write_note(write, &idempotency_key, &outcome));
	}
	size_t taken = mallinfo2().uordblks - before;
	if (taken > (size_t)20000 * 1024) {
		fail_msg("%zu bytes for 20,000 writes", taken);
	}
	ok(chi_write_commit(write, &fault));
	chi_dir_close(store);
}

/* Every record that can be decodes to what was encoded; cut or changed it is refused. */
CASE(test_records)
{
	for (int round = 0; round < 2000; round++) {
		static const size_t counts[] = {4, 1, CHI_OUTCOME_COUNTS, 0, 3, 1, 1, 3, 2, 1};
		_Static_assert(CHI_COUNT(counts) == CHI_IDEMPOTENCY_KINDS - 1, "one a kind");
		struct chi_done done[2][CHI_REMEMBERED_ROOM] = {{{0}}};
		struct chi_remembered client = {.peer = (uint32_t)help_random(),
						.last_use = help_random() >> help_below(64),
						.done = done[0]};
		struct chi_remembered again = {.done = done[1]};
		uint8_t bytes[CHI_REMEMBERED_BYTES];
		client.floor = help_random() >> (1 + help_below(63));
		client.n = help_below(CHI_IDEMPOTENCY_WRITES + 1);
		uint64_t next = client.floor;
		for (size_t i = 0; i < client.n; i++) {
			struct chi_done *one = &client.done[i];
			unsigned kind = help_below(CHI_IDEMPOTENCY_KINDS - 1);
			one->sequence = next + (help_random() >> (8 + help_below(56)));
			one->outcome.kind = (enum chi_idempotency_kind)(CHI_IDEMPOTENCY_PUT + kind);
			for (size_t k = 0; k < counts[kind]; k++) {
				one->outcome.counts[k] = help_random() >> help_below(64);
			}
			next = one->sequence + 1;
		}
		for (size_t i = 0; i < CHI_IDEMPOTENCY_CLIENT; i++) {
			client.id[i] = (uint8_t)help_random();
		}
		size_t len = chi_remembered_encode(&client, bytes);
		assert_true(len <= sizeof(bytes));
		MDB_val k = {sizeof(client.id), client.id};
		MDB_val v = {len, bytes};
		ok(chi_remembered_decode(&k, &v, &again));
		assert_int_equal(again.n, client.n);
		assert_int_equal(again.floor, client.floor);
		assert_int_equal(again.last_use, client.last_use);
		assert_int_equal(again.peer, client.peer);
		assert_memory_equal(again.done, client.done, client.n * sizeof(client.done[0]));
		v.mv_size = help_below((unsigned)len);
		assert_int_equal(chi_remembered_decode(&k, &v, &again), -CHI_ECORRUPT);
		v.mv_size = len;
		bytes[help_below((unsigned)len)] ^= (uint8_t)(1 << help_below(8));
		assert_int_equal(chi_remembered_decode(&k, &v, &again), -CHI_ECORRUPT);
	}
}

CASES_MAIN(NULL, help_teardown)
