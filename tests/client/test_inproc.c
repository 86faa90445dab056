/* SPDX-License-Identifier: MIT */
/* What only a store in this process has: probes without system calls, snapshots that last as long
 * as a walk, and unsynced batches that gather in one transaction. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "tests/base/cases.h"
#include "tests/client/world.h"

static void probe_in_a_cage(const char *address)
{
	/* Ends a child that hangs, whatever the reason. */
	alarm(60);
	struct chi_client *client = NULL;
	struct chi_key keys[100];
	struct chi_row rows[100];
	for (unsigned i = 0; i < 100; i++) {
		keys[i] = world_key(i);
	}
	if (chi_open(address, NULL, &client, NULL) != CHI_OK ||
	    chi_probe(client, keys, 1, rows) != CHI_OK) {
		_exit(2);
	}
	if (!world_under_valgrind() && !world_cage()) {
		_exit(3);
	}
	int bad = 0;
	for (unsigned i = 0; i < 1000; i++) {
		bad |= chi_probe(client, keys, 100, rows) != CHI_OK;
		bad |= !rows[49].found || rows[50].found || rows[49].counts.white != 49;
		bad |= chi_probe(client, keys + i % 100, 1, rows) != CHI_OK;
	}
	/* _exit would end all threads, which the cage does not know. */
	syscall(SYS_exit, bad);
}

CASE(probes_make_no_system_call, world_external, world_drop)
{
	if (UNDER_TSAN) {
		skip();
	}
	struct world *world = *state;
	world_fill(world->client, 0, 50);
	chi_close(world->client);
	world->client = NULL;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		probe_in_a_cage(world->address);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* The cage holds: what needs a system call dies in it. */
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)world_cage();
		syscall(SYS_getppid);
		syscall(SYS_exit, 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
}

/* Engines beyond the limit of a record: known only when the batch is merged. */
static void fill_evals(struct chi_client *client, char names[CHI_EVALS_MAX][4])
{
	struct chi_eval evals[CHI_EVALS_MAX];
	for (int i = 0; i < CHI_EVALS_MAX; i++) {
		(void)snprintf(names[i], 4, "%02d", i);
		evals[i] = (struct chi_eval){.engine = names[i], .engine_len = 2, .depth = 1};
	}
	struct chi_put_entry put = {
		.key = world_key(0),
		.parts = CHI_PUT_EVALS,
		.record = {.evals = evals, .n_evals = CHI_EVALS_MAX},
	};
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
}

CASE(refused_batches_take_nothing_along, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	char names[CHI_EVALS_MAX][4];
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(1, 7);
	struct chi_eval more = {.engine = "one more", .engine_len = 8, .depth = 1};
	struct chi_info info;
	fill_evals(client, names);
	puts[6].key = world_key(0);
	puts[6].parts = CHI_PUT_EVALS;
	puts[6].record = (struct chi_record){.evals = &more, .n_evals = 1};
	/* With nothing before it, and after unsynced ones, unsynced and synced. */
	world_refused(client, chi_put(client, puts + 5, 2, CHI_SYNC, NULL), -CHI_ETOOBIG,
		      "entry 1: ");
	world_ok(client, chi_put(client, puts, 2, CHI_ASYNC, NULL));
	world_refused(client, chi_put(client, puts + 5, 2, CHI_ASYNC, NULL), -CHI_ETOOBIG,
		      "entry 1: ");
	assert_null(strstr(chi_error(client), "lost"));
	world_ok(client, chi_put(client, puts + 2, 2, CHI_ASYNC, NULL));
	world_refused(client, chi_put(client, puts + 5, 2, CHI_SYNC, NULL), -CHI_ETOOBIG,
		      "entry 1: ");
	world_ok(client, chi_put(client, puts + 4, 1, CHI_ASYNC, NULL));
	world_ok(client, chi_flush(client));
	world_ok(client, chi_store_info(client, &info));
	assert_int_equal(info.positions, 6);
	/* Refused before anything of it is applied. */
	puts[5].parts = CHI_PUT_ADD | CHI_PUT_COUNTS;
	world_refused(client, chi_put(client, puts + 5, 1, CHI_ASYNC, NULL), -CHI_EINVAL,
		      "entry 0: ");
	world_ok(client, chi_store_verify(client, NULL, NULL, NULL));
}

/* A disk without room for more takes the gathered batches along, and the text says how many. */
CASE(full_disks_say_what_is_lost, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_client *client = world->client;
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(0, 5000);
	struct chi_info info;
	struct rlimit before;
	(void)signal(SIGXFSZ, SIG_IGN);
	world_ok(client, chi_store_info(client, &info));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	struct rlimit full = {.rlim_cur = info.file_bytes, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	world_ok(client, chi_put(client, puts, 5000, CHI_ASYNC, NULL));
	int status = chi_flush(client);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(status, -CHI_EFULL);
	world_refused(client, status, status, "5000 earlier records not yet flushed are lost");
	/* Said once; then all goes on. */
	world_ok(client, chi_flush(client));
	world_ok(client, chi_put(client, puts, 5000, CHI_SYNC, NULL));
}

/* Enough unsynced records are committed without being asked. */
CASE(many_unsynced_records, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_client *other = world_open(world);
	struct chi_info info = {.positions = 0};
	for (unsigned i = 0; i < 10; i++) {
		_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(10000 * i, 10000);
		world_ok(world->client, chi_put(world->client, puts, 10000, CHI_ASYNC, NULL));
		world_ok(other, chi_store_info(other, &info));
		assert_int_equal(info.positions, i < 9 ? 0 : 100000);
	}
	chi_close(other);
}

/* The place of the one writer is taken until the batch is flushed. */
CASE(two_writers_on_a_thread, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_client *other = world_open(world);
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(0, 2);
	world_ok(world->client, chi_put(world->client, puts, 1, CHI_ASYNC, NULL));
	world_refused(other, chi_put(other, puts + 1, 1, CHI_SYNC, NULL), -CHI_EBUSY, "");
	world_ok(world->client, chi_flush(world->client));
	world_ok(other, chi_put(other, puts + 1, 1, CHI_SYNC, NULL));
	chi_close(other);
}

CASE(a_walk_shows_one_state, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_client *other = world_open(world);
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	unsigned n = 0;
	world_fill(world->client, 0, 5000);
	world_ok(other, chi_scan_open(other, &spec, &iter));
	world_fill(world->client, 5000, 5000);
	while (chi_scan_next(iter, &row, NULL) == CHI_OK) {
		n++;
	}
	assert_int_equal(n, 5000);
	assert_false(chi_rows_state(iter)->mixed);
	chi_close(other);
}

CASE(reading_only, world_external, world_drop)
{
	struct world *world = *state;
	struct chi_put_entry put = {.key = world_key(0)};
	chi_close(world->client);
	assert_int_equal(chi_open(world->address, NULL, &world->client, NULL), CHI_OK);
	world_refused(world->client, chi_put(world->client, &put, 1, CHI_SYNC, NULL),
		      -CHI_EREADONLY, "reading only");
	world_refused(world->client, chi_delete(world->client, &put.key, 1, CHI_SYNC, NULL),
		      -CHI_EREADONLY, "reading only");
}

static int use_after_fork(struct chi_client *client)
{
	struct chi_row row;
	struct chi_key key = world_key(0);
	int bad = chi_probe(client, &key, 1, &row) != -CHI_EFORK;
	bad |= chi_error(client)[0] == '\0' || strstr(chi_error(client), "lost") != NULL;
	bad |= chi_ping(client) != -CHI_EFORK;
	chi_close(client);
	return bad;
}

/* The child is refused, and closing there does the parent's open transaction no harm. */
CASE(forked, world_external, world_drop)
{
	struct world *world = *state;
	_cleanup_(chi_freep) struct chi_put_entry *puts = world_puts(0, 10);
	struct chi_info info;
	int status = 0;
	world_ok(world->client, chi_put(world->client, puts, 10, CHI_ASYNC, NULL));
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		_exit(use_after_fork(world->client));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	world_ok(world->client, chi_flush(world->client));
	world_ok(world->client, chi_store_info(world->client, &info));
	assert_int_equal(info.positions, 10);
}
