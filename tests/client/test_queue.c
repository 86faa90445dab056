/* SPDX-License-Identifier: MIT */
/*
 * The queue, against a store in this process or behind a daemon: the same body, the same answers.
 * Argument: file, unix, tcp or rados; the second and third need CHISTORED.
 */
#include <string.h>
#include <time.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

#define HOUR 3600000

static struct chi_client *client_of(void **state)
{
	return ((struct world *)*state)->client;
}

static void fill(struct chi_client *client, struct chi_key *keys, size_t n)
{
	struct chi_queue_added added;
	for (unsigned i = 0; i < n; i++) {
		keys[i] = world_key(i);
	}
	world_ok(client, chi_queue_add(client, keys, n, 5, &added));
	assert_int_equal(added.added, n);
}

static struct chi_queue_lease take(struct chi_client *client, const char *holder, uint32_t limit,
				   uint32_t lease_ms)
{
	const struct chi_queue_take_spec wanted = {CHI_QUEUE_TAKE_SPEC_INIT, .holder = holder,
						   .lease_ms = lease_ms, .limit = limit};
	struct chi_queue_lease lease;
	world_ok(client, chi_queue_take(client, &wanted, &lease));
	return lease;
}

static struct chi_queue_counts counts(struct chi_client *client)
{
	struct chi_queue_page list;
	world_ok(client, chi_queue_list(client, CHI_QUEUE_WAITING, NULL, 0, &list));
	return list.counts;
}

static void test_shared_by_two(void **state)
{
	struct chi_client *one = client_of(state);
	struct chi_client *two = world_open(*state);
	struct chi_key keys[10];
	struct chi_key mine[4];
	struct chi_queue_added added;
	uint64_t done;
	fill(one, keys, CHI_COUNT(keys));
	/* Asked for again it comes before the others. */
	world_ok(one, chi_queue_add(one, &keys[7], 1, 0, &added));
	assert_int_equal(added.raised, 1);
	struct chi_queue_lease lease = take(one, "one", 4, HOUR);
	assert_int_equal(lease.n, 4);
	assert_memory_equal(&lease.rows[0].key, &keys[7], sizeof(keys[7]));
	assert_int_equal(lease.rows[0].priority, 6);
	assert_string_equal(lease.rows[0].holder, "one");
	for (size_t i = 0; i < 4; i++) {
		mine[i] = lease.rows[i].key;
		assert_memory_equal(&mine[i], &keys[i == 0 ? 7 : i - 1], sizeof(mine[i]));
	}
	uint64_t number = lease.lease;
	struct chi_queue_lease other = take(two, "two", 100, HOUR);
	assert_int_equal(other.n, 6);
	assert_int_not_equal(other.lease, number);
	/* No one settles what another holds. */
	world_ok(two, chi_queue_settle(two, other.lease, CHI_QUEUE_DONE, mine, 4, 0, &done));
	assert_int_equal(done, 0);
	world_ok(one, chi_queue_settle(one, number, CHI_QUEUE_DONE, mine, 2, 0, &done));
	assert_int_equal(done, 2);
	world_ok(one, chi_queue_settle(one, number, CHI_QUEUE_RELEASE, mine, 4, 0, &done));
	assert_int_equal(done, 2);
	struct chi_queue_counts now = counts(one);
	assert_int_equal(now.waiting, 2);
	assert_int_equal(now.leased, 6);
	lease = take(two, "two", 1, HOUR);
	assert_memory_equal(&lease.rows[0].key, &mine[2], sizeof(mine[2]));
	assert_int_equal(lease.rows[0].tries, 1);
	chi_close(two);
}

/* Until the clock, which is the server's too, is past a lease's end. */
static void wait_for(uint64_t expires)
{
	struct timespec now;
	do {
		clock_gettime(CLOCK_REALTIME, &now);
	} while ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 <= expires);
}

/* A lease of a millisecond is over when a clock says so, and not before. */
static void test_expired_comes_back(void **state)
{
	struct chi_client *client = client_of(state);
	struct chi_key keys[3];
	uint64_t done;
	fill(client, keys, CHI_COUNT(keys));
	for (unsigned tries = 1; tries <= CHI_QUEUE_TRIES; tries++) {
		struct chi_queue_lease lease = take(client, "killed", 1, 1);
		assert_int_equal(lease.n, 1);
		assert_memory_equal(&lease.rows[0].key, &keys[0], sizeof(keys[0]));
		assert_int_equal(lease.rows[0].tries, tries);
		wait_for(lease.expires);
	}
	/* It is given up when it comes back; the others were not tried. */
	struct chi_queue_lease lease = take(client, "next", 1, HOUR);
	world_ok(client,
		 chi_queue_settle(client, lease.lease, CHI_QUEUE_RELEASE, &keys[1], 1, 0, &done));
	assert_int_equal(done, 1);
	assert_int_equal(counts(client).failed, 1);
	struct chi_queue_page list;
	world_ok(client, chi_queue_list(client, CHI_QUEUE_FAILED, NULL, 10, &list));
	assert_int_equal(list.n, 1);
	assert_memory_equal(&list.rows[0].key, &keys[0], sizeof(keys[0]));
	world_ok(client, chi_queue_add(client, keys, 1, 1, NULL));
	assert_int_equal(counts(client).failed, 0);
}

static void test_lists(void **state)
{
	struct chi_client *client = client_of(state);
	struct chi_key keys[9];
	struct chi_queue_page list = {.more = true};
	struct chi_queue_row last = {.state = 0};
	size_t n = 0;
	uint64_t dropped;
	fill(client, keys, CHI_COUNT(keys));
	while (list.more) {
		world_ok(client, chi_queue_list(client, CHI_QUEUE_WAITING,
						last.state != 0 ? &last : NULL, 2, &list));
		for (size_t i = 0; i < list.n; i++) {
			assert_memory_equal(&list.rows[i].key, &keys[n++], sizeof(keys[0]));
			last = list.rows[i];
		}
	}
	assert_int_equal(n, CHI_COUNT(keys));
	world_ok(client, chi_queue_settle(client, 0, CHI_QUEUE_DROP, keys, 2, 0, &dropped));
	assert_int_equal(dropped, 2);
	world_ok(client, chi_queue_settle(client, 0, CHI_QUEUE_DROP, keys, 3, 0, &dropped));
	assert_int_equal(dropped, 1);
	world_ok(client, chi_queue_settle(client, 0, CHI_QUEUE_DROP, NULL, 0, 0, &dropped));
	assert_int_equal(dropped, CHI_COUNT(keys) - 3);
	struct chi_queue_counts now = counts(client);
	assert_int_equal(now.waiting + now.leased + now.failed, 0);
}

static void test_refusals(void **state)
{
	struct chi_client *client = client_of(state);
	struct chi_key key = world_key(0);
	struct chi_queue_lease lease;
	struct chi_queue_page list;
	struct chi_queue_take_spec wanted = {CHI_QUEUE_TAKE_SPEC_INIT, .holder = "",
					     .lease_ms = HOUR, .limit = 1};
	world_refused(client, chi_queue_take(client, &wanted, &lease), -CHI_EINVAL, "holder");
	wanted = (struct chi_queue_take_spec){CHI_QUEUE_TAKE_SPEC_INIT, .holder = "a",
					      .lease_ms = 0, .limit = 1};
	world_refused(client, chi_queue_take(client, &wanted, &lease), -CHI_EINVAL, "lease");
	wanted = (struct chi_queue_take_spec){CHI_QUEUE_TAKE_SPEC_INIT, .holder = "a",
					      .lease_ms = 1, .limit = 0};
	world_refused(client, chi_queue_take(client, &wanted, &lease), -CHI_EINVAL, "to take");
	world_refused(client, chi_queue_settle(client, 1, CHI_QUEUE_DROP + 1, &key, 1, 1, NULL),
		      -CHI_EINVAL, "action");
	/* Not "all of them", which is NULL and 0. */
	world_refused(client, chi_queue_settle(client, 0, CHI_QUEUE_DROP, NULL, 5, 0, NULL),
		      -CHI_EINVAL, "no keys");
	world_refused(client, chi_queue_settle(client, 1, CHI_QUEUE_DONE, NULL, 5, 0, NULL),
		      -CHI_EINVAL, "no keys");
	world_refused(client, chi_queue_list(client, 0, NULL, 1, &list), -CHI_EINVAL, "list");
	const struct chi_queue_row row = {.key = key, .state = CHI_QUEUE_FAILED};
	world_refused(client, chi_queue_list(client, CHI_QUEUE_WAITING, &row, 1, &list),
		      -CHI_EINVAL, "list");
	key.bytes[0] = 0;
	world_refused(client, chi_queue_add(client, &key, 1, 1, NULL), -CHI_EKEY, "entry 0");
}

static void test_not_on_rados(void **state)
{
	static const char says[] = " the queue";
	struct chi_client *client = client_of(state);
	struct chi_key key = world_key(0);
	struct chi_queue_lease lease;
	struct chi_queue_page list;
	const struct chi_queue_take_spec wanted = {CHI_QUEUE_TAKE_SPEC_INIT, .holder = "a",
						   .lease_ms = 1, .limit = 1};
	world_refused(client, chi_queue_add(client, &key, 1, 1, NULL), -CHI_EUNSUPPORTED, says);
	world_refused(client, chi_queue_take(client, &wanted, &lease), -CHI_EUNSUPPORTED, says);
	world_refused(client, chi_queue_settle(client, 1, CHI_QUEUE_DONE, &key, 1, 1, NULL),
		      -CHI_EUNSUPPORTED, says);
	world_refused(client, chi_queue_list(client, CHI_QUEUE_WAITING, NULL, 1, &list),
		      -CHI_EUNSUPPORTED, says);
	world_refused(client, chi_queue_settle(client, 0, CHI_QUEUE_DROP, NULL, 0, 0, NULL),
		      -CHI_EUNSUPPORTED, says);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_shared_by_two, world_control, world_drop),
		cmocka_unit_test_setup_teardown(test_expired_comes_back, world_control, world_drop),
		cmocka_unit_test_setup_teardown(test_lists, world_control, world_drop),
		cmocka_unit_test_setup_teardown(test_refusals, world_control, world_drop),
	};
	const struct CMUnitTest refused[] = {
		cmocka_unit_test_setup_teardown(test_not_on_rados, world_control, world_drop),
		cmocka_unit_test_setup_teardown(test_refusals, world_control, world_drop),
	};
	if (!world_choose(argc, argv)) {
		return 0;
	}
	if (world_chosen() == WORLD_RADOS) {
		return cmocka_run_group_tests_name("client/queue", refused, NULL, NULL);
	}
	return cmocka_run_group_tests_name("client/queue", tests, NULL, NULL);
}
