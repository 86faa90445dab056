/* SPDX-License-Identifier: MIT */
/*
 * Groups of look-ups in a file larger than half of the memory ask the disk for their pages ahead,
 * but only while they have waited for it; what they find is the same. The clock is ours here.
 */
#include "tests/store/trees.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/names.h"
#include "store/pages/descent.h"
#include "store/store.h"

#define KEYS  4000
#define GROUP CHI_DESCENT_LANES
#define QUICK 1	      /* microseconds between two looks at the clock */
#define SLOW  1000000 /* no look-up in memory takes so long */

static struct chi_key keys[KEYS];
static int64_t step_us; /* what each look at the clock adds to it */
static unsigned asked;	/* pages that the disk was asked for */
static const uint8_t *map;
static const uint8_t *map_end;
static bool astray; /* one was not in the map */

int __wrap_clock_gettime(clockid_t id, struct timespec *out);
int __wrap_clock_gettime(clockid_t id, struct timespec *out)
{
	static int64_t now_us;
	(void)id;
	now_us += step_us;
	*out = (struct timespec){.tv_sec = now_us / 1000000, .tv_nsec = now_us % 1000000 * 1000};
	return 0;
}

int __wrap_madvise(void *at, size_t len, int advice);
int __wrap_madvise(void *at, size_t len, int advice)
{
	const uint8_t *page = at;
	asked++;
	astray = astray || advice != MADV_WILLNEED || page < map ||
		 len > (size_t)(map_end - page) || (uintptr_t)page % 4096 != 0;
	errno = EPERM; /* as in a sandbox that forbids it */
	return -1;
}

/* Looks all keys up in groups, the clock advancing by `us` in each; returns the pages asked for. */
static unsigned look_up(struct chi_descent *descent, int64_t us)
{
	struct chi_found found[GROUP];
	step_us = us;
	asked = 0;
	for (size_t i = 0; i + GROUP <= KEYS; i += GROUP) {
		chi_descent_find(descent, keys + i, GROUP, found);
		for (size_t j = 0; j < GROUP; j++) {
			struct chi_found alone;
			chi_descent_find_one(descent, &keys[i + j], &alone);
			assert_int_equal(found[j].finding, CHI_FINDING_THERE);
			assert_ptr_equal(found[j].value, alone.value);
		}
	}
	return asked;
}

CASE(test_asks_while_it_waits)
{
	struct chi_dir *store = help_store("far", CHI_STATISTIC_EXTERNAL);
	struct chi_read *read;
	trees_keys(keys, KEYS);
	trees_fill(store, keys, KEYS, false);
	ok(chi_read_begin(store, &read));
	struct chi_descent near;
	chi_descent_start(read->env->mdb, read->txn, &read->env->pages, POSITION_TREE, &near);
	assert_true(near.usable && near.depth > 1);
	assert_false(near.pages.far);
	map = near.pages.base;
	map_end = map + near.end * near.pages.size;
	assert_int_equal(look_up(&near, SLOW), 0);

	struct chi_descent far = near;
	far.pages.far = true;
	assert_int_equal(look_up(&far, QUICK), 0);
	/* The first group is the one that finds out. */
	unsigned most = look_up(&far, SLOW);
	assert_true(most >= (KEYS / GROUP - 1) * GROUP / 4 && most <= 2 * KEYS);
	/* It goes on for some groups that do not wait. */
	unsigned rest = look_up(&far, QUICK);
	assert_true(rest > 0 && rest < most / 2);
	assert_int_equal(look_up(&far, QUICK), 0);
	assert_false(astray);
	chi_read_end(read);
	chi_dir_close(store);
}
