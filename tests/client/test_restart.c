/* SPDX-License-Identifier: MIT */
/* A client lives through its daemon's restart: idle, and with a pipeline or a scan open. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/base/cases.h"
#include "tests/client/world.h"

static int make(void **state)
{
	static struct world world;
	world_make(&world, WORLD_UNIX, CHI_STATISTIC_CONTROL);
	*state = &world;
	return 0;
}

static int drop(void **state)
{
	world_free(*state);
	return 0;
}

static void put(struct chi_client *client, unsigned from, size_t n)
{
	struct chi_put_entry puts[100] = {{.parts = 0}};
	for (size_t i = 0; i < n; i++) {
		puts[i].key = world_key(from + (unsigned)i);
	}
	if (chi_put(client, puts, n, CHI_SYNC, NULL) != CHI_OK) {
		fail_msg("%s", chi_error(client));
	}
}

/* Nothing was on the way: the client notices by itself. */
CASE(idle_client, make, drop)
{
	struct world *world = *state;
	struct chi_row row;
	struct chi_key key = world_key(5);
	put(world->client, 0, 100);
	world_stop_daemon(world);
	assert_int_equal(chi_ping(world->client), -CHI_ECONNECT);
	assert_non_null(strstr(chi_error(world->client), world->address));
	world_start_daemon(world);
	assert_int_equal(chi_probe(world->client, &key, 1, &row), CHI_OK);
	assert_true(row.found);
	world_stop_daemon(world);
	world_start_daemon(world);
	put(world->client, 100, 1);
}

CASE(open_scan, make, drop)
{
	struct world *world = *state;
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	struct chi_info info;
	put(world->client, 0, 100);
	assert_int_equal(chi_scan_open(world->client, &spec, &iter), CHI_OK);
	assert_int_equal(chi_scan_next(iter, &row, NULL), CHI_OK);
	world_stop_daemon(world);
	world_start_daemon(world);
	/* What was received is delivered; then the end, or that the connection broke. */
	int status = CHI_OK;
	unsigned n = 1;
	while ((status = chi_scan_next(iter, &row, NULL)) == CHI_OK) {
		n++;
	}
	assert_true(status == CHI_NONE ? n == 100 : status == -CHI_ECONNECT);
	chi_rows_close(iter);
	assert_int_equal(chi_store_info(world->client, &info), CHI_OK);
	assert_int_equal(info.positions, 100);
}

static struct chi_prober *prober_of(struct chi_client *client,
				    const struct chi_prober_options *options)
{
	struct chi_prober *prober = NULL;
	world_ok(client, chi_prober_open(client, options, &prober));
	return prober;
}

/* Far more calls than would be waited for, one by one: each was 30 s, and the default deadline of
 * all of them is an hour. */
static void fail_fast(struct chi_prober *prober, int wanted)
{
	struct chi_key key = world_key(5);
	struct chi_row row;
	for (unsigned i = 0; i < 100000; i++) {
		int status = chi_prober_key(prober, &key, &row);
		if (status != wanted) {
			fail_msg("call %u: %d (%s)", i, status, chi_prober_error(prober));
		}
	}
}

/* Asks until it is answered: a deadline may pass on a machine with much to do. */
static void come_back(struct chi_prober *prober)
{
	struct chi_key key = world_key(5);
	struct chi_row row = {.found = false};
	int status = CHI_OK;
	while ((status = chi_prober_key(prober, &key, &row)) != CHI_OK) {
		assert_true(status == -CHI_ETIMEOUT || status == -CHI_ECONNECT);
	}
	assert_true(row.found);
}

/* The socket is there, and takes connections and requests. */
CASE(prober_of_a_stopped_daemon, make, drop)
{
	struct world *world = *state;
	put(world->client, 0, 100);
	struct chi_prober *prober = prober_of(world->client, NULL);
	come_back(prober);
	int stopped = 0;
	assert_int_equal(kill(world->daemon, SIGSTOP), 0);
	assert_int_equal(waitpid(world->daemon, &stopped, WUNTRACED), world->daemon);
	assert_true(WIFSTOPPED(stopped));
	fail_fast(prober, -CHI_ETIMEOUT);
	assert_non_null(strstr(chi_prober_error(prober), "50 ms"));
	assert_int_equal(kill(world->daemon, SIGCONT), 0);
	come_back(prober);
	chi_prober_close(prober);
}

CASE(prober_of_a_killed_daemon, make, drop)
{
	struct world *world = *state;
	const struct chi_prober_options options = {CHI_PROBER_OPTIONS_INIT, .deadline_ms = 10000};
	uint64_t ticket = 0;
	struct chi_row row;
	struct chi_key key = world_key(5);
	put(world->client, 0, 100);
	struct chi_prober *prober = prober_of(world->client, &options);
	come_back(prober);
	assert_int_equal(chi_prober_prefetch(prober, &key, 1, &ticket), CHI_OK);
	world_kill_daemon(world);
	assert_int_equal(chi_prober_collect(prober, ticket, &row), -CHI_ECONNECT);
	fail_fast(prober, -CHI_ECONNECT);
	world_start_daemon(world);
	come_back(prober);
	/* Unasked meanwhile, it has noticed nothing. */
	world_stop_daemon(world);
	world_start_daemon(world);
	assert_int_equal(chi_prober_key(prober, &key, &row), CHI_OK);
	assert_true(row.found);
	chi_prober_close(prober);
}

int main(void)
{
	if (!world_possible(WORLD_UNIX)) {
		printf("1..0 # SKIP CHISTORED does not name the daemon\n");
		return 0;
	}
	return cases_run(NULL, NULL);
}
