/* SPDX-License-Identifier: MIT */
/* Another number of shards: what is in the store stays, whatever client reads, writes or is killed.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/attr.h"
#include "client/rados/library.h"
#include "tests/client/raw.h"

#define POSITIONS 60

/* ---- A store ----------------------------------------------------------------------------- */

static void make_puts(struct chi_put puts[POSITIONS])
{
	for (unsigned i = 0; i < POSITIONS; i++) {
		puts[i] = (struct chi_put){
			.key = world_key(i), .parts = CHI_PUT_ADD, .record.counts.white = 1};
	}
}

static int add_games(struct chi_client *client)
{
	struct chi_put puts[POSITIONS];
	make_puts(puts);
	return chi_put(client, puts, POSITIONS, CHI_SYNC, NULL);
}

/* All have so many games, and nothing else is there. */
static void assert_games(struct chi_client *client, uint64_t games, uint32_t shards)
{
	struct chi_row rows[POSITIONS];
	struct chi_key keys[POSITIONS];
	struct chi_info info;
	for (unsigned i = 0; i < POSITIONS; i++) {
		keys[i] = world_key(i);
	}
	world_ok(client, chi_probe(client, keys, POSITIONS, rows));
	for (unsigned i = 0; i < POSITIONS; i++) {
		assert_int_equal(rows[i].counts.white, games);
	}
	world_ok(client, chi_get_info(client, &info));
	assert_int_equal(info.positions, POSITIONS);
	assert_int_equal(info.shards, shards);
	world_ok(client, chi_verify(client, NULL, NULL, NULL));
}

/* How many objects the store has. */
static unsigned count_objects(const struct world *world)
{
	struct raw raw;
	rados_list_ctx_t list;
	const char *object = NULL;
	unsigned n = 0;
	raw_open(world, &raw);
	size_t len = strlen(raw.place.name);
	assert_int_equal(rados_nobjects_list_open(raw.io, &list), 0);
	while (rados_nobjects_list_next(list, &object, NULL, NULL) == 0) {
		n += strncmp(object, raw.place.name, len) == 0 && object[len] == '.';
	}
	rados_nobjects_list_close(list);
	raw_close(&raw);
	return n;
}

/* Another store, of some shards, with one game in each position; its address says no number. */
static void make_store(struct world *world, const char *name, unsigned number, uint32_t shards)
{
	struct chi_fault fault = {{0}};
	const char *conf = getenv("CHISTORE_TEST_RADOS");
	(void)snprintf(world->address, sizeof(world->address),
		       "rados:chistore/%s-%d-%u?conf=%.300s&shards=%u", name, (int)getpid(), number,
		       conf, shards);
	assert_int_equal(chi_create(world->address, CHI_STATISTIC_OUTCOME, CHI_KEEP_COUNTS, &fault),
			 CHI_OK);
	(void)snprintf(world->address, sizeof(world->address),
		       "rados:chistore/%s-%d-%u?conf=%.300s", name, (int)getpid(), number, conf);
	world->client = world_open(world);
	world_ok(world->client, add_games(world->client));
}

/* ---- What stays -------------------------------------------------------------------------- */

static void others_find_the_new_shards(void **state)
{
	struct world world = **(struct world **)state;
	static const uint32_t steps[] = {9, 3, 1, 8, 7};
	struct chi_scan_spec all = {.chi2_max = CHI_CHI2_MAX};
	struct chi_iter *iter = NULL;
	const struct chi_row *row = NULL;
	struct chi_reshard_result did;
	struct chi_info before;
	struct chi_info after;
	bool changed = true;
	make_store(&world, "others", 0, 3);
	struct chi_client *other = world_open(&world);
	uint64_t games = 1;
	for (size_t i = 0; i < CHI_COUNT(steps); i++) {
		world_ok(other, chi_iter_open(other, &all, &iter));
		world_ok(other, chi_iter_next(iter, &row, NULL));
		world_ok(world.client, chi_get_info(world.client, &before));
		world_ok(world.client, chi_reshard(world.client, steps[i], NULL, &did));
		assert_int_equal(did.before, i == 0 ? 3 : steps[i - 1]);
		assert_int_equal(did.shards, steps[i]);
		assert_int_equal(did.positions, POSITIONS);
		assert_int_equal(count_objects(&world), steps[i] + 1);
		int status = CHI_OK;
		while (status == CHI_OK) {
			status = chi_iter_next(iter, &row, NULL);
		}
		/* So few rows were fetched already, perhaps. */
		assert_true(status == CHI_NONE || status == -CHI_ESTALE);
		chi_iter_close(iter);
		world_ok(world.client, chi_get_info(world.client, &after));
		before.shards = steps[i];
		assert_memory_equal(&before, &after, sizeof(after));
		world_ok(other, chi_changed(other, &changed));
		assert_false(changed);
		assert_games(i % 2 == 0 ? other : world.client, games, steps[i]);
		world_ok(other, add_games(other));
		world_ok(world.client, add_games(world.client));
		games += 2;
	}
	assert_games(other, games, 7);
	chi_close(other);
	chi_close(world.client);
}

static void wrong_numbers_are_refused(void **state)
{
	struct world *world = *state;
	struct chi_reshard_result did;
	world_refused(world->client, chi_reshard(world->client, 0, NULL, NULL), -CHI_EINVAL,
		      "a store has 1 to 65536 shards, not 0");
	world_refused(world->client, chi_reshard(world->client, 65537, NULL, &did), -CHI_EINVAL,
		      "not 65537");
	world_ok(world->client, chi_reshard(world->client, RAW_SHARDS, NULL, &did));
	assert_int_equal(did.positions, 0);
	assert_int_equal(count_objects(world), RAW_SHARDS + 1);
}

/* ---- Answers that are lost ---------------------------------------------------------------- */

static struct chi_librados real;
static struct world *resharded;

/* The write happens, its answer is lost, and the store gets other shards; only then the client
 * sends again, to an object that is gone. */
static int lose_answer(rados_write_op_t op, rados_ioctx_t io, rados_completion_t completion,
		       const char *object, time_t *mtime, int flags)
{
	if (resharded == NULL) {
		return real.aio_write_op_operate(op, io, completion, object, mtime, flags);
	}
	struct world *world = resharded;
	resharded = NULL;
	assert_int_equal(rados_write_op_operate2(op, io, object, NULL, flags), 0);
	struct chi_client *other = world_open(world);
	world_ok(other, chi_reshard(other, 5, NULL, NULL));
	chi_close(other);
	rados_write_op_t again = rados_create_write_op();
	rados_write_op_assert_exists(again);
	int rc = real.aio_write_op_operate(again, io, completion, object, mtime, flags);
	rados_release_write_op(again);
	return rc;
}

static void lost_answers_count_once(void **state)
{
	struct world world = **(struct world **)state;
	make_store(&world, "lost", 0, 3);
	real = chi_librados;
	chi_librados.aio_write_op_operate = lose_answer;
	for (uint64_t games = 2; games < 4; games++) {
		resharded = &world;
		world_ok(world.client, add_games(world.client));
		assert_null(resharded);
		assert_games(world.client, games, 5);
		world_ok(world.client, chi_reshard(world.client, 2, NULL, NULL));
	}
	chi_librados = real;
	chi_close(world.client);
}

/* ---- Clients that are killed -------------------------------------------------------------- */

static unsigned writes_left;
static int write_signal;

/* At the last of them comes a signal. Of a client that it kills that write happened, or not. */
static int count_writes(rados_write_op_t op, rados_ioctx_t io, rados_completion_t completion,
			const char *object, time_t *mtime, int flags)
{
	if (writes_left > 0 && --writes_left == 0) {
		if (write_signal == SIGKILL && getpid() % 2 == 0) {
			(void)rados_write_op_operate2(op, io, object, NULL, flags);
		}
		(void)raise(write_signal);
	}
	return real.aio_write_op_operate(op, io, completion, object, mtime, flags);
}

/* The program as such a client: ADDRESS SHARDS WRITES SIGNAL. Its status is the call's, without the
 * sign. */
static int reshard_alone(char **argv)
{
	const struct chi_options options = {.writable = true, .connect_ms = 60000};
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	int status = chi_open(argv[1], &options, &client, &fault);
	real = chi_librados;
	chi_librados.aio_write_op_operate = count_writes;
	writes_left = (unsigned)atoi(argv[3]);
	write_signal = atoi(argv[4]);
	if (status == CHI_OK) {
		status = chi_reshard(client, (uint32_t)atoi(argv[2]), NULL, NULL);
		(void)snprintf(fault.text, sizeof(fault.text), "%s", chi_error(client));
	}
	if (status < 0) {
		(void)fprintf(stderr, "# write %s: %s\n", argv[3], fault.text);
	}
	chi_close(client);
	return status == CHI_OK ? 0 : -status;
}

/* A client of its own that reshards, and gets a signal at its n-th write. A program of its own:
 * what librados holds at a fork no one gives back in the child. */
static pid_t reshard_in_child(const struct world *world, uint32_t shards, unsigned n, int number)
{
	char texts[3][16];
	char self[] = "test_rados_reshard";
	char address[sizeof(world->address)];
	char *argv[] = {self, address, texts[0], texts[1], texts[2], NULL};
	(void)snprintf(address, sizeof(address), "%s", world->address);
	(void)snprintf(texts[0], sizeof(texts[0]), "%u", shards);
	(void)snprintf(texts[1], sizeof(texts[1]), "%u", n);
	(void)snprintf(texts[2], sizeof(texts[2]), "%d", number);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)execv("/proc/self/exe", argv);
		_exit(127);
	}
	return pid;
}

static int wait_for(pid_t pid)
{
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* From 2 shards to 3: 1 change of the head, 2 seals, 3 shards made, their entries and counters, 2
 * changes of the head, 2 shards removed, and the last change of the head: some 17 writes. */
#define POINTS 18

static void killed_reshards_are_repeated(void **state)
{
	struct world worlds[POINTS];
	pid_t pids[POINTS];
	for (unsigned i = 0; i < POINTS; i++) {
		worlds[i] = **(struct world **)state;
		make_store(&worlds[i], "killed", i, 2);
		pids[i] = reshard_in_child(&worlds[i], 3, i + 1, SIGKILL);
	}
	unsigned killed = 0;
	for (unsigned i = 0; i < POINTS; i++) {
		struct chi_row row;
		struct chi_key key = world_key(i);
		killed += wait_for(pids[i]) == -SIGKILL;
		world_ok(worlds[i].client, chi_probe(worlds[i].client, &key, 1, &row));
		assert_int_equal(row.counts.white, 1);
	}
	assert_true(killed > POINTS - 4);
	/* Another number than before, or the one that the store has: taken back. All wait at once
	 * until the first one is taken for dead. */
	for (unsigned i = 0; i < POINTS; i++) {
		pids[i] = reshard_in_child(&worlds[i], 2 + i % 3, 0, 0);
	}
	for (unsigned i = 0; i < POINTS; i++) {
		assert_int_equal(wait_for(pids[i]), 0);
		assert_games(worlds[i].client, 1, 2 + i % 3);
		world_ok(worlds[i].client, add_games(worlds[i].client));
		assert_games(worlds[i].client, 2, 2 + i % 3);
		assert_int_equal(count_objects(&worlds[i]), 3 + i % 3);
		chi_close(worlds[i].client);
	}
}

/* One that was only stopped, and goes on after another has done the work, changes nothing. */
static void stopped_reshards_do_no_harm(void **state)
{
	struct world worlds[POINTS];
	pid_t stopped[POINTS];
	pid_t pids[POINTS];
	for (unsigned i = 0; i < POINTS; i++) {
		worlds[i] = **(struct world **)state;
		make_store(&worlds[i], "stopped", i, 2);
		stopped[i] = reshard_in_child(&worlds[i], 3, i + 1, SIGSTOP);
	}
	for (unsigned i = 0; i < POINTS; i++) {
		siginfo_t info;
		assert_int_equal(
			waitid(P_PID, (id_t)stopped[i], &info, WSTOPPED | WEXITED | WNOWAIT), 0);
	}
	for (unsigned i = 0; i < POINTS; i++) {
		pids[i] = reshard_in_child(&worlds[i], 2 + i % 3, 0, 0);
	}
	for (unsigned i = 0; i < POINTS; i++) {
		assert_int_equal(wait_for(pids[i]), 0);
		world_ok(worlds[i].client, add_games(worlds[i].client));
		(void)kill(stopped[i], SIGCONT);
	}
	for (unsigned i = 0; i < POINTS; i++) {
		int status = wait_for(stopped[i]);
		struct chi_info info;
		if (status != 0 && status != CHI_EBUSY && status != CHI_ESTALE) {
			fail_msg("point %u: %s", i, chi_strerror(-status));
		}
		world_ok(worlds[i].client, chi_get_info(worlds[i].client, &info));
		world_ok(worlds[i].client, add_games(worlds[i].client));
		assert_games(worlds[i].client, 3, info.shards);
		assert_true(info.shards == 2 + i % 3 || status == 0);
		chi_close(worlds[i].client);
	}
}

/* ---- Failures ----------------------------------------------------------------------------- */

static int fail_write(rados_write_op_t op, rados_ioctx_t io, rados_completion_t completion,
		      const char *object, time_t *mtime, int flags)
{
	bool fails = writes_left > 0 && --writes_left == 0;
	return fails ? -EDQUOT
		     : real.aio_write_op_operate(op, io, completion, object, mtime, flags);
}

/* A pool that is full at any of the writes. */
static void failed_reshards_are_taken_back(void **state)
{
	struct world world = **(struct world **)state;
	make_store(&world, "failed", 0, 2);
	real = chi_librados;
	chi_librados.aio_write_op_operate = fail_write;
	for (unsigned n = 1; n <= POINTS; n++) {
		struct chi_reshard_result did;
		writes_left = n;
		int status = chi_reshard(world.client, 3, NULL, &did);
		writes_left = 0;
		if (did.shards == 2) {
			assert_int_equal(status, -CHI_EFULL);
			assert_int_equal(count_objects(&world), 3);
		} else {
			world_ok(world.client, chi_reshard(world.client, 2, NULL, NULL));
		}
		world_ok(world.client, add_games(world.client));
		assert_games(world.client, 1 + n, 2);
		assert_int_equal(count_objects(&world), 3);
	}
	chi_librados = real;
	chi_close(world.client);
}

/* ---- Two at once, and what is refused meanwhile ------------------------------------------- */

static void only_one_reshards(void **state)
{
	struct world world = **(struct world **)state;
	make_store(&world, "one", 0, 2);
	pid_t pid = reshard_in_child(&world, 3, 5, SIGSTOP);
	int status = 0;
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	/* It goes on within the time for which it is taken for alive. */
	pid_t waker = fork();
	if (waker == 0) {
		(void)sleep(2);
		_exit(kill(pid, SIGCONT) == 0 ? 0 : 1);
	}
	struct chi_counts base = {.white = 1};
	world_refused(world.client, chi_put_base(world.client, &base), -CHI_EBUSY, "resharded");
	world_refused(world.client, chi_reshard(world.client, 4, NULL, NULL), -CHI_EBUSY,
		      "another client");
	/* A writer waits until it is done. */
	world_ok(world.client, add_games(world.client));
	assert_int_equal(wait_for(waker), 0);
	assert_int_equal(wait_for(pid), 0);
	assert_games(world.client, 2, 3);
	chi_close(world.client);
}

static void writes_are_refused_after_a_kill(void **state)
{
	struct world world = **(struct world **)state;
	const struct chi_import_options import = {.kind = CHI_IMPORT_ADD};
	struct chi_import *games = NULL;
	struct chi_fault fault = {{0}};
	make_store(&world, "refused", 0, 2);
	assert_int_equal(wait_for(reshard_in_child(&world, 3, 8, SIGKILL)), -SIGKILL);
	world_refused(world.client, add_games(world.client), -CHI_EBUSY,
		      "a reshard of it was interrupted");
	assert_int_equal(chi_import_open(world.address, NULL, 0, &import, &games, &fault),
			 -CHI_EBUSY);
	world_ok(world.client, chi_reshard(world.client, 2, NULL, NULL));
	assert_games(world.client, 1, 2);
	chi_close(world.client);
}

static int canceled;

static void cancel(void *context, const char *phase, uint64_t done, uint64_t total)
{
	(void)context;
	(void)phase;
	assert_true(done <= total);
	canceled = 1;
}

static void canceled_reshards_are_taken_back(void **state)
{
	struct world world = **(struct world **)state;
	const struct chi_reshard_options options = {.progress = cancel, .cancel = &canceled};
	struct chi_reshard_result did;
	make_store(&world, "canceled", 0, 2);
	world_refused(world.client, chi_reshard(world.client, 3, &options, &did), -CHI_ECANCELED,
		      "; the store is as it was");
	assert_int_equal(did.shards, 2);
	assert_int_equal(count_objects(&world), 3);
	world_ok(world.client, add_games(world.client));
	assert_games(world.client, 2, 2);
	/* The number of a generation is not used twice. */
	struct raw raw;
	struct chi_rados_head head;
	world_ok(world.client, chi_reshard(world.client, 3, NULL, NULL));
	raw_open(&world, &raw);
	raw_read_head(&raw, &head);
	raw_close(&raw);
	assert_int_equal(head.generation, 3);
	assert_games(world.client, 2, 3);
	chi_close(world.client);
}

int main(int argc, char **arguments)
{
	if (argc == 5) {
		return reshard_alone(arguments);
	}
	char kind[] = "rados";
	char *argv[] = {kind, kind, NULL};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(failed_reshards_are_taken_back, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(others_find_the_new_shards, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(wrong_numbers_are_refused, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(lost_answers_count_once, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(killed_reshards_are_repeated, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(stopped_reshards_do_no_harm, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(only_one_reshards, world_external, world_drop),
		cmocka_unit_test_setup_teardown(writes_are_refused_after_a_kill, world_external,
						world_drop),
		cmocka_unit_test_setup_teardown(canceled_reshards_are_taken_back, world_external,
						world_drop),
	};
	return world_choose(2, argv) ? cmocka_run_group_tests_name("reshard", tests, NULL, NULL)
				     : 0;
}
