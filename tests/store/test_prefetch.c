/* SPDX-License-Identifier: MIT */
/* Look-ups ahead of their answers where pages cannot be walked: mdb_get answers, just the same. */
#include "tests/store/help.h"
#include "store/env/env.h"
#include "store/pages/descent.h"
#include "store/store.h"
#include "store/txn/txn.h"

#define KEYS 50

static struct chi_key key_of(unsigned i)
{
	struct chi_key key = {.len = 10, .bytes = {0x80, 0x40, 0x20, 0x10}};
	key.bytes[8] = (uint8_t)i;
	key.bytes[9] = 0x12;
	return key;
}

static void fill(struct chi_dir *store, unsigned first)
{
	struct chi_write *write;
	struct chi_put_result result = {0};
	ok(chi_write_begin(store, &write, &fault));
	for (unsigned i = 0; i < KEYS; i += 2) {
		struct chi_put_entry put = {.key = key_of(i), .parts = CHI_PUT_COUNTS};
		put.record.counts.white = first + i;
		ok(chi_write_put(write, &put, &result));
	}
	ok(chi_write_commit(write, &fault));
}

static void check(struct chi_dir *store, unsigned first)
{
	struct chi_prefetch *prefetch;
	uint64_t tickets[KEYS];
	ok(chi_prefetch_open(store, &prefetch));
	for (unsigned i = 0; i < KEYS; i++) {
		struct chi_key key = key_of(i);
		ok(chi_prefetch_ask(prefetch, &key, 1, &tickets[i]));
	}
	for (unsigned i = 0; i < KEYS; i++) {
		struct chi_row strength;
		ok(chi_prefetch_take(prefetch, tickets[i], &strength));
		assert_int_equal(strength.found, i % 2 == 0);
		assert_int_equal(strength.counts.white, i % 2 == 0 ? first + i : 0);
	}
	chi_prefetch_close(prefetch);
}

CASE(test_unknown_layout)
{
	struct chi_dir *store = help_store("ahead", CHI_STATISTIC_EXTERNAL);
	/* The empty tree first. */
	struct chi_prefetch *prefetch;
	struct chi_row strength;
	struct chi_key key = key_of(0);
	uint64_t ticket;
	ok(chi_prefetch_open(store, &prefetch));
	ok(chi_prefetch_ask(prefetch, &key, 1, &ticket));
	ok(chi_prefetch_take(prefetch, ticket, &strength));
	assert_false(strength.found);
	chi_prefetch_close(prefetch);
	fill(store, 1);
	assert_non_null(store->env->pages.base);
	check(store, 1);
	/* What opening does where it finds pages that are not as expected. */
	store->env->pages = (struct chi_pages){0};
	fill(store, 100);
	check(store, 100);
	chi_dir_close(store);
}

CASES_MAIN(NULL, help_teardown)
