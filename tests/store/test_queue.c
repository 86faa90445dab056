/* SPDX-License-Identifier: MIT */
/* The queue against a list in memory, through random changes, rollbacks, reopening and time, which
 * only the test moves; and what is damaged in it is found. */
#include "tests/store/help.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/env/env.h"
#include "store/queue.h"
#include "store/queue/queue.h"
#include "store/txn/txn.h"
#include "tests/base/seed.h"

#define KEYS 40

static struct chi_key keys[KEYS];

/* What the queue should have; state 0: nothing. Of each of `keys`. */
struct model {
	struct chi_queue_row rows[KEYS];
	uint64_t number;
};

static int index_of(const struct chi_key *key)
{
	for (int i = 0; i < KEYS; i++) {
		if (memcmp(&keys[i], key, sizeof(*key)) == 0) {
			return i;
		}
	}
	fail_msg("a key that was never queued");
	return -1;
}

static void back(struct chi_queue_row *row, bool tried)
{
	row->state = tried && row->tries >= CHI_QUEUE_TRIES ? CHI_QUEUE_FAILED : CHI_QUEUE_WAITING;
	row->tries -= tried ? 0 : 1;
	row->lease = 0;
	row->expires = 0;
}

static void model_add(struct model *m, int i, uint32_t priority, uint64_t now)
{
	struct chi_queue_row *row = &m->rows[i];
	if (row->state == 0) {
		*row = (struct chi_queue_row){.key = keys[i],
					      .state = CHI_QUEUE_WAITING,
					      .priority = priority,
					      .asked = now,
					      .number = m->number++};
		return;
	}
	row->asked = row->claimed ? now : row->asked;
	row->priority = row->claimed || row->priority + 1 < priority ? priority : row->priority + 1;
	row->claimed = false;
	if (row->state == CHI_QUEUE_FAILED) {
		row->state = CHI_QUEUE_WAITING;
		row->tries = 0;
	}
}

static void model_expire(struct model *m, uint64_t now)
{
	for (int i = 0; i < KEYS; i++) {
		struct chi_queue_row *row = &m->rows[i];
		if (row->state == CHI_QUEUE_LEASED && row->expires <= now) {
			if (row->claimed) {
				row->state = 0;
			} else {
				back(row, true);
			}
		}
	}
}

/* The one that is to be taken next; -1: none. */
static int model_next(const struct model *m)
{
	int best = -1;
	for (int i = 0; i < KEYS; i++) {
		const struct chi_queue_row *row = &m->rows[i];
		const struct chi_queue_row *than = best < 0 ? NULL : &m->rows[best];
		if (row->state == CHI_QUEUE_WAITING &&
		    (than == NULL || row->priority > than->priority ||
		     (row->priority == than->priority && row->number < than->number))) {
			best = i;
		}
	}
	return best;
}

static void model_settle(struct chi_queue_row *row, unsigned action, uint64_t until)
{
	if (action == CHI_QUEUE_EXTEND) {
		row->expires = until;
	} else if (action == CHI_QUEUE_DONE || (row->claimed && action == CHI_QUEUE_RELEASE)) {
		row->state = 0;
	} else if (row->claimed) {
		*row = (struct chi_queue_row){.key = row->key,
					      .state = CHI_QUEUE_FAILED,
					      .tries = row->tries,
					      .asked = row->asked,
					      .number = row->number};
	} else {
		back(row, action == CHI_QUEUE_FAIL);
	}
}

/* ---- Steps --------------------------------------------------------------------------------- */

/* A selection of keys, each once. */
static size_t choose(struct chi_key *out)
{
	size_t n = 0;
	for (int i = 0; i < KEYS; i++) {
		if (help_below(6) == 0) {
			out[n++] = keys[i];
		}
	}
	return n;
}

static void step_add(struct chi_write *write, struct model *m, uint64_t now)
{
	struct chi_key chosen[KEYS];
	struct chi_queue_added added = {0};
	struct chi_queue_added wanted = {0};
	size_t n = choose(chosen);
	uint32_t priority = help_below(4);
	for (size_t i = 0; i < n; i++) {
		int at = index_of(&chosen[i]);
		wanted.added += m->rows[at].state == 0;
		wanted.raised += m->rows[at].state != 0;
		model_add(m, at, priority, now);
	}
	ok(chi_write_queue_add(write, chosen, n, priority, now, &added));
	assert_memory_equal(&added, &wanted, sizeof(added));
}

static void take_row(struct model *m, int i, const struct chi_queue_lease *lease,
		     const struct chi_queue_row *got)
{
	struct chi_queue_row *row = &m->rows[i];
	row->state = CHI_QUEUE_LEASED;
	row->tries++;
	row->lease = lease->lease;
	row->expires = lease->expires;
	assert_int_equal(index_of(&got->key), i);
	assert_string_equal(got->holder, "me");
	assert_int_equal(got->tries, row->tries);
	assert_int_equal(got->lease, lease->lease);
}

static void step_take(struct chi_write *write, struct model *m, uint64_t now)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_queue_take_spec take = {
		.holder = "me", .lease_ms = 1 + help_below(50), .limit = 1 + help_below(6)};
	struct chi_queue_lease lease;
	struct chi_queue_lease again;
	chi_arena_init(&arena, 1 << 22);
	model_expire(m, now);
	ok(chi_write_queue_take(write, &take, now, &arena, &lease));
	for (size_t i = 0; i < lease.n; i++) {
		take_row(m, model_next(m), &lease, &lease.rows[i]);
	}
	assert_true(lease.n == take.limit || model_next(m) < 0);
	assert_int_equal(lease.lease != 0, lease.n > 0);
	assert_true(lease.n == 0 || lease.expires == now + take.lease_ms);
	m->number += lease.n > 0;
	/* As a request that comes again is answered. */
	ok(chi_write_queue_held(write, lease.lease, lease.expires, &arena, &again));
	assert_int_equal(again.n, lease.n);
}

static void step_claim(struct chi_write *write, struct model *m, uint64_t now)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_key chosen[KEYS];
	struct chi_queue_take_spec take = {
		.holder = "me", .lease_ms = 1 + help_below(50), .keys = chosen};
	struct chi_queue_lease lease;
	size_t got = 0;
	chi_arena_init(&arena, 1 << 22);
	take.n_keys = choose(chosen);
	model_expire(m, now);
	uint64_t number = m->number;
	ok(chi_write_queue_take(write, &take, now, &arena, &lease));
	m->number += lease.n > 0;
	for (size_t i = 0; i < take.n_keys; i++) {
		int at = index_of(&chosen[i]);
		struct chi_queue_row *row = &m->rows[at];
		if (row->state == 0) {
			*row = (struct chi_queue_row){.key = chosen[i],
						      .state = CHI_QUEUE_WAITING,
						      .claimed = true,
						      .asked = now,
						      .number = m->number++};
		}
		if (row->state == CHI_QUEUE_WAITING) {
			assert_in_range(got, 0, lease.n - 1);
			take_row(m, at, &lease, &lease.rows[got++]);
		}
	}
	assert_int_equal(got, lease.n);
	assert_true(got > 0 || m->number == number);
}

static void step_settle(struct chi_write *write, struct model *m, uint64_t now)
{
	struct chi_key chosen[KEYS];
	size_t n = choose(chosen);
	unsigned action = CHI_QUEUE_DONE + help_below(CHI_QUEUE_EXTEND);
	const struct chi_queue_row *some = &m->rows[help_below(KEYS)];
	uint64_t lease = some->state == CHI_QUEUE_LEASED ? some->lease : 1 + help_below(9);
	uint64_t wanted = 0;
	uint64_t done = 0;
	for (size_t i = 0; i < n; i++) {
		struct chi_queue_row *row = &m->rows[index_of(&chosen[i])];
		if (row->state == CHI_QUEUE_LEASED && row->lease == lease) {
			model_settle(row, action, now + 20);
			wanted++;
		}
	}
	ok(chi_write_queue_settle(write, lease, (enum chi_queue_action)action, chosen, n, now + 20,
				  &done));
	assert_int_equal(done, wanted);
}

static void step_drop(struct chi_write *write, struct model *m, bool all)
{
	struct chi_key chosen[KEYS];
	size_t n = choose(chosen);
	uint64_t wanted = 0;
	uint64_t dropped = 0;
	for (size_t i = 0; i < (all ? KEYS : n); i++) {
		struct chi_queue_row *row = &m->rows[all ? (int)i : index_of(&chosen[i])];
		wanted += row->state != 0;
		row->state = 0;
	}
	ok(chi_write_queue_drop(write, all ? NULL : chosen, all ? 0 : n, &dropped));
	assert_int_equal(dropped, wanted);
}

static void step(struct chi_write *write, struct model *m, uint64_t now)
{
	switch (help_below(9)) {
	case 0:
	case 1:
		step_add(write, m, now);
		break;
	case 2:
	case 3:
		step_take(write, m, now);
		break;
	case 4:
		step_claim(write, m, now);
		break;
	case 5:
		step_drop(write, m, help_below(8) == 0);
		break;
	default:
		step_settle(write, m, now);
		break;
	}
}

/* ---- Comparing ----------------------------------------------------------------------------- */

static void compare_row(const struct model *m, const struct chi_queue_row *got)
{
	struct chi_queue_row row = *got;
	const struct chi_queue_row *wanted = &m->rows[index_of(&got->key)];
	assert_string_equal(row.holder, row.state == CHI_QUEUE_LEASED ? "me" : "");
	assert_int_equal(row.state, wanted->state);
	assert_int_equal(row.claimed, wanted->claimed);
	assert_int_equal(row.priority, wanted->priority);
	assert_int_equal(row.tries, wanted->tries);
	assert_int_equal(row.asked, wanted->asked);
	assert_int_equal(row.number, wanted->number);
	assert_int_equal(row.lease, wanted->lease);
	assert_int_equal(row.expires, wanted->expires);
}

/* All of one state, some at a time. */
static uint64_t compare_state(struct chi_read *read, const struct model *m,
			      enum chi_queue_state state)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_queue_page list = {.more = true};
	struct chi_queue_row last = {.state = 0};
	uint64_t n = 0;
	chi_arena_init(&arena, 1 << 22);
	while (list.more) {
		ok(chi_read_queue(read, state, last.state != 0 ? &last : NULL, 1 + help_below(7),
				  &arena, &list));
		for (size_t i = 0; i < list.n; i++) {
			assert_int_equal(list.rows[i].state, state);
			compare_row(m, &list.rows[i]);
			last = list.rows[i];
		}
		n += list.n;
	}
	const uint64_t counts[] = {list.counts.waiting, list.counts.leased, list.counts.failed};
	assert_int_equal(counts[state - CHI_QUEUE_WAITING], n);
	return n;
}

static void compare(struct chi_dir *store, const struct model *m)
{
	struct chi_read *read;
	uint64_t n = 0;
	uint64_t wanted = 0;
	ok(chi_read_begin(store, &read));
	for (int state = CHI_QUEUE_WAITING; state <= CHI_QUEUE_FAILED; state++) {
		n += compare_state(read, m, (enum chi_queue_state)state);
	}
	chi_read_end(read);
	for (int i = 0; i < KEYS; i++) {
		wanted += m->rows[i].state != 0;
	}
	assert_int_equal(n, wanted);
}

/* A transaction of some steps, the last of which may be taken back. */
static void transact(struct chi_dir *store, struct model *m, uint64_t *now)
{
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (unsigned i = help_below(20); i > 0; i--) {
		*now += help_below(12);
		step(write, m, *now);
	}
	if (help_below(3) == 0) {
		const struct model before = *m;
		ok(chi_write_savepoint(write));
		step(write, m, *now);
		ok(chi_write_rollback(write));
		*m = before;
	}
	ok(chi_write_commit(write, &fault));
}

CASE(test_against_a_list)
{
	struct chi_verify_result result;
	struct model *model = test_calloc(1, sizeof(*model));
	struct chi_dir *store = help_store("queue", CHI_STATISTIC_CONTROL);
	uint64_t now = 1000;
	model->number = 1;
	help_keys(keys, KEYS);
	for (size_t i = 0; i < seed_rounds(120); i++) {
		transact(store, model, &now);
		compare(store, model);
		if (i % 30 == 0) {
			ok(help_verify(store, &result));
			chi_dir_close(store);
			store = help_open(help_path("queue"), CHI_STORE_WRITE);
		}
	}
	chi_dir_close(store);
	test_free(model);
}

/* ---- Clocks ------------------------------------------------------------------------------- */

static size_t taken_at(struct chi_write *write, uint64_t now, uint32_t lease_ms)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	const struct chi_queue_take_spec take = {.holder = "me", .lease_ms = lease_ms, .limit = 9};
	struct chi_queue_lease lease;
	chi_arena_init(&arena, 1 << 20);
	ok(chi_write_queue_take(write, &take, now, &arena, &lease));
	return lease.n;
}

/* A machine whose clock was 12 years ahead kept its positions for 12 years. A lease of now does not
 * suffer from that, not even the longest. */
CASE(test_a_lease_of_a_wrong_clock_has_ended)
{
	const uint64_t now = UINT64_C(1800000000000);
	struct chi_dir *store = help_store("clock", CHI_STATISTIC_CONTROL);
	struct chi_queue_added added = {0};
	struct chi_write *write;
	help_keys(keys, 3);
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_queue_add(write, keys, 1, 1, now, &added));
	assert_int_equal(taken_at(write, now, CHI_QUEUE_LEASE_MAX), 1);
	ok(chi_write_queue_add(write, keys + 1, 2, 1, now, &added));
	assert_int_equal(taken_at(write, now + UINT64_C(12) * 365 * 86400000, 1000), 3);
	assert_int_equal(taken_at(write, now, CHI_QUEUE_LEASE_MAX), 3);
	assert_int_equal(taken_at(write, now, CHI_QUEUE_LEASE_MAX), 0);
	assert_int_equal(taken_at(write, now + CHI_QUEUE_LEASE_MAX - 1, 1), 0);
	/* By one millisecond. */
	assert_int_equal(taken_at(write, now - 1, 1), 3);
	ok(chi_write_commit(write, &fault));
	chi_dir_close(store);
}

/* ---- Damage -------------------------------------------------------------------------------- */

/* An entry of the tree is overwritten, or taken away if `value` is NULL. */
static void spoil(struct chi_dir *store, const struct chi_queue_bytes *key, const char *value)
{
	struct chi_queue_bytes copy = *key;
	MDB_val name = {copy.len, copy.bytes};
	MDB_val bytes = {value != NULL ? strlen(value) : 0, (void *)(uintptr_t)value};
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	ok(value != NULL ? chi_write_set(write, store->env->queue, &name, &bytes)
			 : chi_write_unset(write, store->env->queue, &name));
	write->changed = true;
	ok(chi_write_commit(write, &fault));
}

CASE(test_damage_is_found)
{
	struct chi_queue_row row = {.state = CHI_QUEUE_WAITING, .priority = 3, .number = 1};
	help_keys(keys, 2);
	row.key = keys[0];
	const struct chi_queue_bytes spoilt[] = {
		chi_queued_entry_key(&keys[0]),
		chi_queued_place(&row),
		{.len = 1, .bytes = {CHI_QUEUE_OF_TOTALS}},
		{.len = 3, .bytes = {CHI_QUEUE_OF_WAITING, 1, 2}},
	};
	for (size_t i = 0; i < 2 * CHI_COUNT(spoilt) - 1; i++) {
		struct chi_dir *store = help_store("spoilt", CHI_STATISTIC_CONTROL);
		struct chi_queue_added added = {0};
		struct chi_verify_result result;
		struct chi_write *write;
		ok(chi_write_begin(store, &write, &fault));
		ok(chi_write_queue_add(write, keys, 1, 3, 77, &added));
		ok(chi_write_commit(write, &fault));
		ok(help_verify(store, &result));
		spoil(store, &spoilt[i / 2], i % 2 == 0 ? "x" : NULL);
		assert_int_equal(help_verify(store, &result), -CHI_ECORRUPT);
		chi_dir_close(store);
	}
}

/* Every bit of an entry, also those that would make another good one. */
CASE(test_changed_bits_are_seen)
{
	uint8_t value[CHI_QUEUE_VALUE_MAX];
	struct chi_queue_row row = {
		.state = CHI_QUEUE_WAITING, .priority = 3, .asked = 77, .number = 1};
	help_keys(keys, 1);
	row.key = keys[0];
	struct chi_queue_bytes name = chi_queued_entry_key(&row.key);
	const MDB_val key = {name.len, name.bytes};
	const MDB_val stored = {chi_queued_encode(&row, value), value};
	for (size_t bit = 0; bit <= 8 * stored.mv_size; bit++) {
		_cleanup_(chi_arena_deinit) struct chi_arena arena;
		struct chi_queue_row got;
		bool spoilt = bit < 8 * stored.mv_size;
		chi_arena_init(&arena, 1 << 16);
		value[bit / 8] ^= (uint8_t)(spoilt << bit % 8);
		assert_int_equal(chi_queued_decode(&key, &stored, &arena, &got),
				 spoilt ? -CHI_ECORRUPT : CHI_OK);
		value[bit / 8] ^= (uint8_t)(spoilt << bit % 8);
	}
}

/* A position whose entry is damaged is reported, and not given to anyone. */
CASE(test_damage_is_not_taken)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	struct chi_dir *store = help_store("damaged", CHI_STATISTIC_CONTROL);
	const struct chi_queue_take_spec take = {.holder = "me", .lease_ms = 1, .limit = 1};
	struct chi_queue_added added = {0};
	struct chi_queue_lease lease;
	struct chi_write *write;
	chi_arena_init(&arena, 1 << 22);
	help_keys(keys, 1);
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_queue_add(write, keys, 1, 3, 77, &added));
	ok(chi_write_commit(write, &fault));
	const struct chi_queue_bytes key = chi_queued_entry_key(&keys[0]);
	spoil(store, &key, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
	ok(chi_write_begin(store, &write, &fault));
	assert_int_equal(chi_write_queue_take(write, &take, 5, &arena, &lease), -CHI_ECORRUPT);
	assert_int_equal(chi_write_commit(write, &fault), -CHI_ECORRUPT);
	chi_dir_close(store);
}

/* ---- Arguments ----------------------------------------------------------------------------- */

/* However many are asked for, memory is taken for those that there are. */
CASE(test_small)
{
	_cleanup_(chi_arena_deinit) struct chi_arena arena;
	const struct chi_queue_take_spec take = {
		.holder = "me", .lease_ms = 10, .limit = CHI_QUEUE_BATCH_MAX};
	struct chi_queue_added added = {0};
	struct chi_queue_lease lease;
	struct chi_queue_lease again;
	struct chi_write *write;
	struct chi_dir *store = help_store("small", CHI_STATISTIC_CONTROL);
	chi_arena_init(&arena, 1 << 14);
	help_keys(keys, 3);
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_write_queue_take(write, &take, 1, &arena, &lease));
	assert_int_equal(lease.n, 0);
	ok(chi_write_queue_add(write, keys, 3, 1, 1, &added));
	ok(chi_write_queue_take(write, &take, 1, &arena, &lease));
	assert_int_equal(lease.n, 3);
	ok(chi_write_queue_held(write, lease.lease, lease.expires, &arena, &again));
	assert_int_equal(again.n, 3);
	chi_write_abort(write);
	chi_dir_close(store);
}

CASE(test_arguments)
{
	char holder[CHI_QUEUE_HOLDER_MAX + 2];
	memset(holder, 'a', sizeof(holder));
	holder[CHI_QUEUE_HOLDER_MAX] = '\0';
	struct chi_queue_take_spec take = {.holder = holder, .lease_ms = 1, .limit = 1};
	ok(chi_queue_take_check(&take, &fault));
	holder[CHI_QUEUE_HOLDER_MAX] = 'a';
	holder[CHI_QUEUE_HOLDER_MAX + 1] = '\0';
	assert_int_equal(chi_queue_take_check(&take, &fault), -CHI_EINVAL);
	const char *const bad[] = {"", "a\nb", "\x7f", "\xff"};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		take.holder = bad[i];
		assert_int_equal(chi_queue_take_check(&take, &fault), -CHI_EINVAL);
	}
	take.holder = "a";
	take.limit = CHI_QUEUE_BATCH_MAX;
	take.lease_ms = CHI_QUEUE_LEASE_MAX;
	ok(chi_queue_take_check(&take, &fault));
	take.limit++;
	assert_int_equal(chi_queue_take_check(&take, &fault), -CHI_EINVAL);
	take.limit = 0;
	assert_int_equal(chi_queue_take_check(&take, &fault), -CHI_EINVAL);
	take.keys = keys;
	take.n_keys = CHI_QUEUE_BATCH_MAX;
	ok(chi_queue_take_check(&take, &fault));
	take.n_keys++;
	assert_int_equal(chi_queue_take_check(&take, &fault), -CHI_ETOOBIG);
	take.n_keys = 1;
	take.lease_ms++;
	assert_int_equal(chi_queue_take_check(&take, &fault), -CHI_EINVAL);
	take.lease_ms = 0;
	assert_int_equal(chi_queue_take_check(&take, &fault), -CHI_EINVAL);
	ok(chi_queue_settle_check(CHI_QUEUE_DONE, CHI_QUEUE_BATCH_MAX, 0, &fault));
	assert_int_equal(chi_queue_settle_check(CHI_QUEUE_EXTEND, 1, 0, &fault), -CHI_EINVAL);
	assert_int_equal(chi_queue_settle_check(CHI_QUEUE_DROP + 1, 1, 1, &fault), -CHI_EINVAL);
	assert_int_equal(chi_queue_settle_check(0, 1, 1, &fault), -CHI_EINVAL);
}

CASES_MAIN(NULL, help_teardown)
