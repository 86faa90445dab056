/* SPDX-License-Identifier: MIT */
/* Every work load watches one directory, in which its stores are made. */
#include "import/importer.h"
#include "tests/faults/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <chistore.h>

#include "tests/faults/shim.h"
#include "tests/store/help.h"

const char *const record_targets[TARGETS] = {"main", "backup"};

static const char *place(const struct work *work, unsigned target)
{
	static char path[TARGETS][400];
	snprintf(path[target], sizeof(path[target]), "%s/%s", work->root, record_targets[target]);
	return path[target];
}

static void begin(struct work *work, unsigned target, unsigned step)
{
	journal_mark(&work->journal, JOURNAL_BEGIN, target, step);
}

static void acknowledge(struct work *work, unsigned target, unsigned step)
{
	journal_mark(&work->journal, JOURNAL_ACK, target, step);
}

static void start(struct work *work, const char *name, enum model_mix mix, unsigned steps)
{
	const char *root = help_path(name);
	struct stat st;
	assert_int_equal(mkdir(root, 0700), 0);
	help_real_path(root, work->root);
	assert_int_equal(stat(work->root, &st), 0);
	work->root_ino = st.st_ino;
	work->journal = (struct journal){0};
	work->ahead = 0;
	work->published = false;
	model_plan(&work->model, mix, steps);
	work->model.marked = work->marked;
	work->marked = false;
	shim_watch(work->root);
	shim_record(&work->journal);
	shim_sync(false);
	bool keeps_games = mix == MODEL_GAMES || mix == MODEL_ALIASES;
	/* A load makes its own. */
	if (mix != MODEL_LOADS) {
		ok(chi_dir_create(place(work, MAIN), CHI_STATISTIC_EXTERNAL,
				  keeps_games ? CHI_KEEP_GAMES : CHI_KEEP_COUNTS, &fault));
		acknowledge(work, MAIN, 0);
	}
}

static void finish(struct work *work)
{
	shim_record(NULL);
	help_remove(work->root);
}

void record_create(struct work *work, const char *name)
{
	start(work, name, MODEL_SMALL, 2);
	finish(work);
}

static void steps(struct work *work, struct chi_dir *store, unsigned first, unsigned last)
{
	for (unsigned step = first; step <= last; step++) {
		begin(work, MAIN, step);
		ok(model_step(&work->model, store, step, &fault));
		acknowledge(work, MAIN, step);
	}
}

void record_steps(struct work *work, const char *name, enum model_mix mix, unsigned n)
{
	start(work, name, mix, n);
	struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
	steps(work, store, 1, n);
	chi_dir_close(store);
	finish(work);
}

/* A store that is loaded as it is made, and loads into it. */
void record_loads(struct work *work)
{
	start(work, "loads", MODEL_LOADS, 20);
	struct chi_dir *store = NULL;
	for (unsigned step = 1; step <= 18; step++) {
		begin(work, MAIN, step);
		ok(model_load(&work->model, store, place(work, MAIN), step, &fault));
		acknowledge(work, MAIN, step);
		if (store == NULL) {
			store = help_open(place(work, MAIN), CHI_STORE_WRITE);
		}
	}
	chi_dir_close(store);
	finish(work);
}

static void compact(struct chi_dir *store)
{
	struct chi_compaction *compaction;
	uint64_t before;
	uint64_t after;
	ok(chi_compact_prepare(store, &compaction, &fault));
	ok(chi_compact_swap(compaction, &before, &after, &fault));
	assert_true(after <= before);
}

void record_compact(struct work *work)
{
	start(work, "compact", MODEL_DELETES, 32);
	struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
	steps(work, store, 1, 15);
	compact(store);
	steps(work, store, 16, 25);
	compact(store);
	steps(work, store, 26, 30);
	chi_dir_close(store);
	finish(work);
}

/* A process is killed while a commit's meta page is on its way to the disk: others see the commit
 * already. Repeated, as a client does that got no answer, the write changes nothing any more, but
 * is acknowledged. */
void record_repeated(struct work *work)
{
	start(work, "repeated", MODEL_BATCHES, 12);
	for (unsigned step = 1; step <= 10; step++) {
		struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
		steps(work, store, step, step);
		chi_dir_close(store);
		journal_kill_write(&work->journal);
		store = help_open(place(work, MAIN), CHI_STORE_WRITE);
		steps(work, store, step, step);
		chi_dir_close(store);
	}
	finish(work);
}

/* In every step a call fails once: every other time the write of the meta page, else another call
 * each time, syncs among them, whose data is lost then. The step is repeated in another order on
 * the same handle, so that other pages are written over those of the first attempt. */
void record_failing(struct work *work)
{
	start(work, "failing", MODEL_BATCHES, 60);
	struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
	for (unsigned step = 1; step <= 60; step++) {
		begin(work, MAIN, step);
		bool head = step % 2 == 0;
		shim_fail(head ? 1 : 1 + step / 2 % 10, head ? SHIM_HEAD : SHIM_EIO);
		int rc = model_step(&work->model, store, step, &fault);
		shim_fail(0, SHIM_EIO);
		work->model.backwards = true;
		if (rc < 0) {
			ok(model_step(&work->model, store, step, &fault));
		}
		work->model.backwards = false;
		acknowledge(work, MAIN, step);
	}
	chi_dir_close(store);
	finish(work);
}

/* A process is killed between a renaming and the sync that makes it certain, once when creating
 * and once when compacting. The next one goes on with what has a name by now, and vouches for it.
 */
void record_killed(struct work *work)
{
	start(work, "killed", MODEL_BATCHES, 16);
	journal_kill(&work->journal);
	struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
	steps(work, store, 1, 6);
	compact(store);
	chi_dir_close(store);
	journal_kill(&work->journal);
	store = help_open(place(work, MAIN), CHI_STORE_DAEMON);
	steps(work, store, 7, 12);
	chi_dir_close(store);
	finish(work);
}

void record_backup(struct work *work)
{
	start(work, "backup", MODEL_BATCHES, 20);
	struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
	steps(work, store, 1, 10);
	struct chi_copy *copy;
	int fd;
	ok(chi_copy_begin(place(work, BACKUP), CHI_BACKUP_STORE, &copy, &fd, &fault));
	steps(work, store, 11, 12);
	begin(work, BACKUP, 12);
	ok(chi_dir_copy(store, fd, &fault));
	steps(work, store, 13, 14);
	ok(chi_copy_finish(copy, &fault));
	acknowledge(work, BACKUP, 12);
	steps(work, store, 15, 18);
	chi_dir_close(store);
	finish(work);
}

/* What is saved of a store goes into a new one, which is there whole or not at all; the old one
 * stays as it is. */
void record_repair(struct work *work)
{
	struct chi_repair_result result = {0};
	struct chi_info info;
	start(work, "repair", MODEL_DELETES, 20);
	struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
	steps(work, store, 1, 12);
	chi_dir_close(store);
	begin(work, BACKUP, 12);
	ok(chi_dir_repair(place(work, MAIN), place(work, BACKUP), 0, chi_import_relist, NULL, NULL,
			  &result, &fault));
	acknowledge(work, BACKUP, 12);
	shim_record(NULL);
	store = help_open(place(work, BACKUP), CHI_STORE_READ);
	ok(chi_dir_info(store, &info));
	work->ahead = info.sequence - 12;
	chi_dir_close(store);
	finish(work);
}

static void publish(struct work *work, struct chi_dir *store, unsigned step)
{
	struct chi_copy *copy;
	int fd;
	begin(work, BACKUP, step);
	ok(chi_copy_begin(place(work, BACKUP), CHI_BACKUP_PUBLISHED, &copy, &fd, &fault));
	ok(chi_dir_copy(store, fd, &fault));
	ok(chi_copy_finish(copy, &fault));
	acknowledge(work, BACKUP, step);
}

/* One published copy, and a newer one that takes its place. */
void record_publish(struct work *work)
{
	start(work, "publish", MODEL_BATCHES, 20);
	struct chi_dir *store = help_open(place(work, MAIN), CHI_STORE_WRITE);
	steps(work, store, 1, 6);
	publish(work, store, 6);
	steps(work, store, 7, 12);
	publish(work, store, 12);
	steps(work, store, 13, 15);
	chi_dir_close(store);
	finish(work);
	work->published = true;
}

/* The library's asynchronous writes, which share a transaction until they are flushed. */
static void put_async(struct work *work, struct chi_client *client, unsigned step)
{
	char note[MODEL_NOTE];
	for (unsigned k = 0; k < MODEL_KEYS; k++) {
		if (work->model.version[step][k] != work->model.version[step - 1][k]) {
			struct chi_put_entry put = model_put(&work->model, step, k, note);
			ok(chi_put(client, &put, 1, CHI_ASYNC, NULL));
		}
	}
}

void record_async(struct work *work)
{
	start(work, "async", MODEL_BATCHES, 32);
	const struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	struct chi_client *client;
	ok(chi_open(place(work, MAIN), &options, &client, &fault));
	for (unsigned step = 1; step <= 30; step++) {
		begin(work, MAIN, step);
		put_async(work, client, step);
		ok(chi_flush(client));
		acknowledge(work, MAIN, step);
	}
	chi_close(client);
	finish(work);
}
