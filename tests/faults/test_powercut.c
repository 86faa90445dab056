/* SPDX-License-Identifier: MIT */
/*
 * Power cuts, replayed: work on a store is written down call by call; then the disk is rebuilt as
 * it may have been left by a cut after each call, with what was not synced whole, absent or torn,
 * and a process of its own opens what is left. Everything acknowledged by then must be there,
 * nothing by halves, and the store must go on working.
 *
 * A harness that cannot see a loss proves nothing. So the same is done with disks that only pretend
 * to sync, and there it must find losses.
 *
 * CHISTORE_POWERCUT_STATES: how many different states are checked in all; 1,500 if not given.
 */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/num.h"
#include "tests/faults/disk.h"
#include "tests/faults/judge.h"
#include "tests/faults/record.h"
#include "tests/faults/shim.h"

#define STATES 1500
/* A control must find a loss within so many states. */
#define STATES_CONTROL 200
/* A state is only counted once. When so many rounds brought no new one, there are hardly any more.
 */
#define BARREN_ROUNDS 40

/* What must and what may be there at a cut. */
struct bounds {
	bool due; /* acknowledged: the store must exist */
	unsigned least;
	unsigned most;
};

/* Of one series of cuts. */
struct tally {
	size_t wanted;
	size_t states;
	size_t bad;
	uint64_t *seen; /* hash table of states, 0: free */
	size_t seen_size;
	char first[512]; /* what was wrong with the first bad one */
};

static struct seed seed;
static size_t all_wanted;
static size_t all_states;
static size_t all_bad;
static struct judge *judge;

/* ---- Cutting ----------------------------------------------------------------------------- */

/* The older copy or the newer one. Modes are no part of an image. */
static bool check_published(const struct work *work, const char *path, const struct bounds *bounds)
{
	char data[620];
	snprintf(data, sizeof(data), "%s/data.mdb", path);
	return chmod(data, 0444) == 0 &&
	       (model_holds(&work->model, path, bounds->least, &judge->why) ||
		model_holds(&work->model, path, bounds->most, &judge->why));
}

/* In a checker. A store that is not due may be missing, but then nothing may be in its place. */
static bool check_target(const struct work *work, const char *dir, unsigned target,
			 const struct bounds *bounds)
{
	char path[600];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", dir, record_targets[target]);
	if (target == BACKUP && work->published) {
		return lstat(path, &st) < 0 ? !bounds->due : check_published(work, path, bounds);
	}
	if (lstat(path, &st) == 0 || bounds->due) {
		struct disk_model model = work->model;
		unsigned step;
		model.ahead = target == BACKUP ? work->ahead : 0;
		return model_check(&model, path, bounds->least, bounds->most, &step, &judge->why);
	}
	/* What is left of the attempt must not be in the way of the next. */
	return target != MAIN ||
	       chi_dir_create(path, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, &judge->why) == CHI_OK;
}

struct case_of {
	const struct work *work;
	const char *dir;
	const struct bounds *bounds;
};

/* In a checker. 0: good. */
static int check(void *context)
{
	const struct case_of *c = context;
	shim_watch(c->dir);
	shim_sync(false);
	return check_target(c->work, c->dir, MAIN, &c->bounds[MAIN]) &&
			       check_target(c->work, c->dir, BACKUP, &c->bounds[BACKUP])
		       ? 0
		       : 1;
}

/* True if the state is new. */
static bool remember(struct tally *tally, uint64_t hash)
{
	hash += hash == 0;
	size_t at = hash % tally->seen_size;
	while (tally->seen[at] != 0 && tally->seen[at] != hash) {
		at = (at + 1) % tally->seen_size;
	}
	bool fresh = tally->seen[at] == 0;
	tally->seen[at] = hash;
	return fresh;
}

static void raise_bounds(struct bounds *bounds, const struct journal_call *call)
{
	struct bounds *b = &bounds[call->target];
	if (call->op == JOURNAL_BEGIN) {
		/* An older copy that was there may still be there. */
		b->least = call->target == BACKUP && !b->due ? (unsigned)call->sequence : b->least;
		b->most = (unsigned)call->sequence;
	} else if (call->op == JOURNAL_ACK) {
		b->due = true;
		b->least = (unsigned)call->sequence;
	}
}

/* One cut: rebuilt and judged, unless the same was before. */
static void cut_once(const struct work *work, const struct disk *disk, enum disk_cut how,
		     const struct bounds *bounds, size_t at, bool loud, struct tally *tally)
{
	struct image image;
	disk_cut(disk, how, &image);
	/* The same files are another state if more is due. */
	uint64_t hash = image_hash(&image);
	for (unsigned i = 0; i < TARGETS; i++) {
		hash = hash * 31 + bounds[i].due + bounds[i].least * 3 + bounds[i].most * 1000;
	}
	if (remember(tally, hash)) {
		char dir[256];
		const char *path = help_path("cut");
		assert_int_equal(mkdir(path, 0700), 0);
		help_real_path(path, dir);
		assert_true(image_write(&image, dir));
		tally->states++;
		struct case_of c = {work, dir, bounds};
		if (judge_run(judge, check, &c, loud) != 0 && tally->bad++ == 0) {
			const struct journal_call *call = &work->journal.calls[at];
			snprintf(tally->first, sizeof(tally->first),
				 "cut %d after call %zu (%s %s %llu+%llu): %s", (int)how, at,
				 journal_name(call->op), call->path,
				 (unsigned long long)call->offset, (unsigned long long)call->len,
				 judge->why.text);
		}
		help_remove(dir);
	}
	image_deinit(&image);
}

/* Cuts after every `every`th call, counted from `first`, all in the same manner. */
static void cut_round(const struct work *work, enum disk_lie lie, enum disk_cut how, size_t first,
		      size_t every, struct tally *tally)
{
	struct disk *disk = disk_new(work->root_ino, &seed);
	struct bounds bounds[TARGETS] = {0};
	/* A disk that lies is found out by lost writes, not by a store that never came to be. */
	bool late = lie == DISK_NO_SYNC || lie == DISK_NO_DATA;
	for (size_t i = 0; i < work->journal.n && tally->states < tally->wanted; i++) {
		const struct journal_call *call = &work->journal.calls[i];
		raise_bounds(bounds, call);
		disk_apply(disk, call, late && !bounds[MAIN].due ? DISK_HONEST : lie);
		if (i % every == first) {
			cut_once(work, disk, how, bounds, i, lie == DISK_HONEST, tally);
		}
		disk_settle(disk);
	}
	disk_free(disk);
}

static void cut(const struct work *work, enum disk_lie lie, struct tally *tally)
{
	static const enum disk_cut manners[] = {DISK_NONE, DISK_ALL, DISK_TORN, DISK_SOME};
	/* A few states are spread over the whole work load and over all manners. */
	size_t every = 1 + work->journal.n * CHI_COUNT(manners) / (tally->wanted + 1);
	tally->seen_size = tally->wanted * 4 + 1;
	tally->seen = calloc(tally->seen_size, sizeof(*tally->seen));
	assert_non_null(tally->seen);
	unsigned barren = 0;
	for (unsigned round = 0; tally->states < tally->wanted && barren < BARREN_ROUNDS; round++) {
		size_t before = tally->states;
		/* Chance brings new states for long, the first two manners once. */
		size_t manner = round < every * CHI_COUNT(manners) ? round % CHI_COUNT(manners)
								   : 2 + round % 2;
		size_t first = round / CHI_COUNT(manners) % every;
		cut_round(work, lie, manners[manner], first, every, tally);
		barren = tally->states == before ? barren + 1 : 0;
	}
	free(tally->seen);
}

/* ---- Tests ------------------------------------------------------------------------------- */

/* What the work loads before could not give, the later ones do. */
static void honest(struct work *work, const char *name, unsigned percent)
{
	static unsigned so_far;
	so_far += percent;
	size_t aim = all_wanted * so_far / 100;
	struct tally tally = {.wanted = aim > all_states ? aim - all_states : 0};
	cut(work, DISK_HONEST, &tally);
	all_states += tally.states;
	all_bad += tally.bad;
	print_message("# %s: %zu calls, %zu states, %zu bad\n", name, work->journal.n, tally.states,
		      tally.bad);
	print_message("# figures: %zu states after power cuts, %zu bad\n", all_states, all_bad);
	journal_deinit(&work->journal);
	if (tally.bad > 0) {
		fail_msg("%s", tally.first);
	}
}

/* A disk that lies must be found out. */
static void control(struct work *work, const char *name, enum disk_lie lie)
{
	struct tally tally = {.wanted = STATES_CONTROL};
	cut(work, lie, &tally);
	print_message("# figures: control, %s: %zu of %zu states bad\n# the first: %s\n", name,
		      tally.bad, tally.states, tally.first);
	journal_deinit(&work->journal);
	assert_true(tally.bad > 0);
}

static struct work work;

CASE(test_create)
{
	record_create(&work, "create");
	honest(&work, "create", 3);
}

CASE(test_puts)
{
	record_steps(&work, "puts", MODEL_SMALL, 48);
	honest(&work, "small puts", 3);
}

CASE(test_batches)
{
	record_steps(&work, "batches", MODEL_BATCHES, 30);
	honest(&work, "batches", 5);
}

CASE(test_deletes)
{
	record_steps(&work, "deletes", MODEL_DELETES, 40);
	honest(&work, "deletes", 6);
}

CASE(test_compact)
{
	record_compact(&work);
	honest(&work, "compact", 7);
}

CASE(test_backup)
{
	record_backup(&work);
	honest(&work, "backup", 7);
}

CASE(test_loads)
{
	record_loads(&work);
	honest(&work, "loads", 8);
}

CASE(test_killed)
{
	record_killed(&work);
	honest(&work, "killed before a sync", 4);
}

CASE(test_repeated)
{
	record_repeated(&work);
	honest(&work, "killed and repeated", 5);
}

CASE(test_marked)
{
	work.marked = true;
	record_steps(&work, "marked", MODEL_BATCHES, 40);
	honest(&work, "marked writes", 7);
}

CASE(test_marked_compact)
{
	work.marked = true;
	record_compact(&work);
	honest(&work, "marked writes, compact", 5);
}

CASE(test_marked_backup)
{
	work.marked = true;
	record_backup(&work);
	honest(&work, "marked writes, backup", 3);
}

/* What the killed process had done is known, and yet must be made certain before it is
 * acknowledged. */
CASE(test_marked_repeated)
{
	work.marked = true;
	record_repeated(&work);
	honest(&work, "marked writes, killed and repeated", 5);
}

CASE(test_marked_failing)
{
	work.marked = true;
	record_failing(&work);
	honest(&work, "marked writes, failed and repeated", 5);
}

CASE(test_repair)
{
	record_repair(&work);
	honest(&work, "repair", 5);
}

CASE(test_publish)
{
	record_publish(&work);
	honest(&work, "publish", 5);
}

CASE(test_failing)
{
	record_failing(&work);
	honest(&work, "failed and repeated", 5);
}

CASE(test_games)
{
	record_steps(&work, "games", MODEL_GAMES, 24);
	honest(&work, "games", 5);
}

CASE(test_aliases)
{
	record_steps(&work, "aliases", MODEL_ALIASES, 27);
	honest(&work, "aliases", 5);
}

CASE(test_async)
{
	record_async(&work);
	honest(&work, "asynchronous puts", 7);
	assert_true(all_states >= all_wanted);
}

CASE(test_control_no_sync)
{
	record_steps(&work, "no-sync", MODEL_SMALL, 20);
	control(&work, "a disk that syncs nothing", DISK_NO_SYNC);
}

CASE(test_control_no_data)
{
	record_steps(&work, "no-data", MODEL_BATCHES, 20);
	control(&work, "meta pages before their data", DISK_NO_DATA);
}

/* Names, their gameset and their games disagree after it. */
CASE(test_control_aliases)
{
	record_steps(&work, "no-aliases", MODEL_ALIASES, 12);
	control(&work, "changes of names, meta pages before their data", DISK_NO_DATA);
}

CASE(test_control_no_names)
{
	record_create(&work, "no-names");
	control(&work, "names that are not synced", DISK_NO_NAMES);
}

int main(void)
{
	const char *text = getenv("CHISTORE_POWERCUT_STATES");
	uint64_t wanted = seed_rounds(STATES);
	if (text != NULL && chi_num_u64(text, strlen(text), 100000000, &wanted) < 0) {
		fprintf(stderr, "# CHISTORE_POWERCUT_STATES is not a number: '%s'\n", text);
		return 1;
	}
	all_wanted = wanted;
	/* One seed for the positions and the cuts. */
	seed.state = help_random();
	judge_in_memory();
	judge = judge_new();
	return cases_run(NULL, NULL);
}
