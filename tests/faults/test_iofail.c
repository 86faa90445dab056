/* SPDX-License-Identifier: MIT */
/*
 * Every call to the operating system fails once: with EIO, with ENOSPC, by a write that is cut
 * short, or with EIO from then on; and pairs of calls, any two that are not far apart. Each time a
 * process of its own does one operation during which the nth call fails, n counting up until there
 * is no nth. The operation must say what happened in a code that fits and with a text, or succeed
 * all the same; what was acknowledged before is still there, of the operation all or nothing; and
 * once the disk is well again so is the store, if need be after opening it again.
 *
 * CHISTORE_IOFAIL_PAIRS: how many pairs are tried of each operation; 15 if not given.
 * CHISTORE_IOFAIL_EVERY: a lone failure comes at every so many calls; 5 if not given, 1 for all.
 */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "import/importer.h"
#include "tests/faults/judge.h"
#include "tests/faults/model.h"
#include "tests/faults/shim.h"

/* Steps done before the operation under test. */
#define BEFORE 8
/* No operation makes so many calls; a count that gets there does not end. */
#define CALLS_MOST 2000
/* Pairs of each operation, and calls from the first failure to the second. */
#define PAIRS	 15
#define EVERY	 5
#define GAP_MOST 12

struct scene;

struct operation {
	const char *name;
	/* Does it once, with a store that is open. The shared scene says on what. */
	int (*act)(struct scene *scene, struct chi_fault *fault);
	/* Looks at what it left; `rc` is what it returned. NULL: nothing beside the store. */
	bool (*look)(struct scene *scene, int rc, struct chi_fault *why);
	/* The steps that it does. */
	unsigned steps;
	bool unborn; /* starts without a store */
	bool closed; /* starts with the store closed */
	bool late;   /* looks at what it left after the next step, not before */
	bool marked; /* its steps are marked writes */
	bool again;  /* it has been done before */
	enum model_mix mix;
};

struct scene {
	const struct operation *operation;
	struct disk_model model;
	char main[400];
	char backup[400];
	struct chi_dir *store;
	unsigned nth;
	enum shim_fault fault;
	bool damaged; /* a repair said that something is lost */
	unsigned gap; /* to a second failure; 0: there is none */
	enum shim_fault second;
};

/* What a child found. */
enum {
	GOOD,
	BAD,
	OVER
};

static struct judge *judge;

/* ---- Operations -------------------------------------------------------------------------- */

static int open_store(struct scene *scene, struct chi_fault *why)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_WRITE};
	return chi_dir_open(scene->main, &options, &scene->store, why);
}

/* The most that is needed after a failure. */
static bool reopen(struct scene *scene, struct chi_fault *why)
{
	chi_dir_close(scene->store);
	scene->store = NULL;
	judge->reopened++;
	return open_store(scene, why) == CHI_OK;
}

static int act_create(struct scene *scene, struct chi_fault *why)
{
	return chi_dir_create(scene->main, CHI_STATISTIC_EXTERNAL, CHI_KEEP_COUNTS, why);
}

static int act_step(struct scene *scene, struct chi_fault *why)
{
	return model_step(&scene->model, scene->store, BEFORE + 1, why);
}

static int act_compact(struct scene *scene, struct chi_fault *why)
{
	struct chi_compaction *compaction;
	uint64_t before;
	uint64_t after;
	int rc = chi_compact_prepare(scene->store, &compaction, why);
	return rc < 0 ? rc : chi_compact_swap(compaction, &before, &after, why);
}

static int make_copy(struct scene *scene, enum chi_backup_kind kind, struct chi_fault *why)
{
	struct chi_copy *copy;
	int fd;
	int rc = chi_copy_begin(scene->backup, kind, &copy, &fd, why);
	if (rc < 0) {
		return rc;
	}
	rc = chi_dir_copy(scene->store, fd, why);
	if (rc < 0) {
		chi_copy_abandon(copy);
		return rc;
	}
	return chi_copy_finish(copy, why);
}

static int act_backup(struct scene *scene, struct chi_fault *why)
{
	return make_copy(scene, CHI_BACKUP_STORE, why);
}

static int act_load_new(struct scene *scene, struct chi_fault *why)
{
	return model_load(&scene->model, NULL, scene->main, 1, why);
}

static int act_load_into(struct scene *scene, struct chi_fault *why)
{
	return model_load(&scene->model, scene->store, NULL, BEFORE + 1, why);
}

static int act_publish(struct scene *scene, struct chi_fault *why)
{
	return make_copy(scene, CHI_BACKUP_PUBLISHED, why);
}

static void note_damage(void *context, const char *text)
{
	struct scene *scene = context;
	(void)text;
	scene->damaged = true;
}

/* A page that cannot be read is a damaged one: it says so, and saves the others. */
static int act_repair(struct scene *scene, struct chi_fault *why)
{
	struct chi_repair_result result = {0};
	scene->damaged = false;
	return chi_dir_repair(scene->main, scene->backup, CHI_STATISTIC_EXTERNAL, chi_import_relist,
			      note_damage, scene, &result, why);
}

/* A store there is whole; one that is not there can be made now. */
static bool look_create(struct scene *scene, int rc, struct chi_fault *why)
{
	bool there = access(scene->main, F_OK) == 0;
	if (!there && rc == CHI_OK) {
		(void)chi_fail(why, rc, "created, but not there");
		return false;
	}
	return there || act_create(scene, why) == CHI_OK;
}

/* The same, and it holds what the store held. */
static bool look_backup(struct scene *scene, int rc, struct chi_fault *why)
{
	bool there = access(scene->backup, F_OK) == 0;
	if (!there && rc == CHI_OK) {
		(void)chi_fail(why, rc, "copied, but not there");
		return false;
	}
	unsigned step;
	return (there || act_backup(scene, why) == CHI_OK) &&
	       model_check(&scene->model, scene->backup, BEFORE, BEFORE, &step, why);
}

static bool is_sound(const char *path, struct chi_fault *why)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store;
	if (chi_dir_open(path, &options, &store, why) < 0) {
		return false;
	}
	int rc = help_verify(store, NULL);
	chi_dir_close(store);
	return chi_fault_plain(why, rc) == CHI_OK;
}

/* The same of a copy that is not written to, or that counts its steps otherwise. */
static bool look_copy(struct scene *scene, int rc, struct chi_fault *why)
{
	bool there = access(scene->backup, F_OK) == 0;
	if (!there && rc == CHI_OK) {
		(void)chi_fail(why, rc, "made, but not there");
		return false;
	}
	bool open = scene->store != NULL || open_store(scene, why) == CHI_OK;
	if (!open) {
		return false;
	}
	if (!there && scene->operation->closed) {
		chi_dir_close(scene->store);
		scene->store = NULL;
	}
	if (there && scene->damaged) {
		return is_sound(scene->backup, why);
	}
	return (there || scene->operation->act(scene, why) == CHI_OK) &&
	       model_holds(&scene->model, scene->backup, BEFORE, why);
}

/* It can be done again. */
static bool look_compact(struct scene *scene, int rc, struct chi_fault *why)
{
	(void)rc;
	return act_compact(scene, why) == CHI_OK;
}

static const struct operation operations[] = {
	{.name = "create", .act = act_create, .look = look_create, .unborn = true},
	{.name = "open", .act = open_store, .closed = true},
	{.name = "put", .act = act_step, .steps = 1, .mix = MODEL_SMALL},
	{.name = "batch", .act = act_step, .steps = 1, .mix = MODEL_BATCHES},
	{.name = "delete", .act = act_step, .steps = 1, .mix = MODEL_DELETES},
	{.name = "compact",
	 .act = act_compact,
	 .look = look_compact,
	 .late = true,
	 .mix = MODEL_BATCHES},
	{.name = "backup", .act = act_backup, .look = look_backup, .mix = MODEL_BATCHES},
	{.name = "load into a new store",
	 .act = act_load_new,
	 .look = look_create,
	 .unborn = true,
	 .steps = 1,
	 .mix = MODEL_LOADS},
	{.name = "load", .act = act_load_into, .steps = 1, .mix = MODEL_LOADS},
	{.name = "marked batch", .act = act_step, .steps = 1, .marked = true, .mix = MODEL_BATCHES},
	{.name = "publish", .act = act_publish, .look = look_copy, .mix = MODEL_BATCHES},
	{.name = "repair",
	 .act = act_repair,
	 .look = look_copy,
	 .closed = true,
	 .mix = MODEL_DELETES},
	{.name = "publish over a copy",
	 .act = act_publish,
	 .look = look_copy,
	 .again = true,
	 .mix = MODEL_BATCHES},
};

/* ---- In the child ------------------------------------------------------------------------ */

/* Of the steps before an operation: one that has been done before follows all of them. */
static unsigned prepared_steps(const struct operation *operation)
{
	return operation->again ? BEFORE : BEFORE - 1;
}

/* In a child of its own, once for each operation. */
static int prepare(void *context)
{
	struct scene *scene = context;
	struct chi_fault *why = &judge->why;
	bool good = act_create(scene, why) == CHI_OK && open_store(scene, why) == CHI_OK;
	for (unsigned step = 1; step <= prepared_steps(scene->operation) && good; step++) {
		good = model_step(&scene->model, scene->store, step, why) == CHI_OK;
	}
	if (good && scene->operation->again) {
		good = scene->operation->act(scene, why) == CHI_OK;
	}
	if (scene->store != NULL) {
		chi_dir_close(scene->store);
	}
	return good ? GOOD : BAD;
}

/* What is left to do before the operation; the handle has then written, as a rule. */
static bool warm(struct scene *scene, struct chi_fault *why)
{
	if (scene->operation->unborn) {
		return true;
	}
	bool good = open_store(scene, why) == CHI_OK;
	for (unsigned step = prepared_steps(scene->operation) + 1; step <= BEFORE && good; step++) {
		good = model_step(&scene->model, scene->store, step, why) == CHI_OK;
	}
	if (scene->operation->closed) {
		chi_dir_close(scene->store);
		scene->store = NULL;
	}
	return good;
}

/* A code that tells what happened. */
static bool fits(const struct scene *scene, int rc, struct chi_fault *why)
{
	bool good = rc == CHI_OK || why->text[0] != '\0';
	if (scene->fault == SHIM_ENOSPC && scene->gap == 0) {
		good = good && (rc == CHI_OK || rc == -CHI_EFULL);
	} else {
		good = good && (rc == CHI_OK || rc == -CHI_EIO || rc == -CHI_EFULL);
	}
	if (!good) {
		struct chi_fault said = *why;
		(void)chi_fail(why, rc, "status %d, '%.150s'", rc, said.text);
	}
	return good;
}

/* How far the store is: nothing acknowledged is lost, nothing came from nowhere. */
static bool is_at(struct scene *scene, int rc, unsigned *step, struct chi_fault *why)
{
	struct chi_info info;
	int status = chi_dir_info(scene->store, &info);
	if (status < 0) {
		if (!reopen(scene, why)) {
			return false;
		}
		status = chi_dir_info(scene->store, &info);
	}
	unsigned before = scene->operation->unborn ? 0 : BEFORE;
	unsigned least = before + (rc == CHI_OK ? scene->operation->steps : 0);
	*step = (unsigned)info.sequence;
	if (status < 0 || *step < least || *step > before + scene->operation->steps) {
		(void)chi_fail(why, status, "returned %d and is at step %u (%d)", rc, *step,
			       status);
		return false;
	}
	return true;
}

/* The next step, on the same handle or at least on a new one. */
static bool goes_on(struct scene *scene, unsigned step, struct chi_fault *why)
{
	return model_step(&scene->model, scene->store, step, why) == CHI_OK ||
	       (reopen(scene, why) && model_step(&scene->model, scene->store, step, why) == CHI_OK);
}

static bool recovers(struct scene *scene, int rc, struct chi_fault *why)
{
	const struct operation *operation = scene->operation;
	unsigned step = 0;
	if (operation->look != NULL && !operation->late && !operation->look(scene, rc, why)) {
		return false;
	}
	if (scene->store == NULL && open_store(scene, why) < 0) {
		return false;
	}
	if (!is_at(scene, rc, &step, why) || !goes_on(scene, step + 1, why)) {
		return false;
	}
	if (operation->late && !operation->look(scene, rc, why)) {
		return false;
	}
	chi_dir_close(scene->store);
	scene->store = NULL;
	return model_check(&scene->model, scene->main, step + 1, step + 1, &step, why);
}

static int play(void *context)
{
	struct scene *scene = context;
	struct chi_fault *why = &judge->why;
	if (!warm(scene, why)) {
		return BAD;
	}
	shim_fail(scene->nth, scene->fault);
	shim_fail_again(scene->gap, scene->second);
	int rc = scene->operation->act(scene, why);
	bool failed = shim_failed();
	snprintf(judge->call, sizeof(judge->call), "%s", shim_failed_call());
	shim_fail(0, SHIM_EIO);
	if (!failed) {
		return rc == CHI_OK ? OVER : BAD;
	}
	return fits(scene, rc, why) && recovers(scene, rc, why) ? GOOD : BAD;
}

/* ---- Tests ------------------------------------------------------------------------------- */

static uint64_t pairs = PAIRS;
static uint64_t every = EVERY;
static uint64_t all_failures;
static uint64_t all_pairs;

/* The stores of a scene will be below a new directory. */
static const char *make_root(struct scene *scene, const char *name, char real[256])
{
	const char *root = help_path(name);
	assert_int_equal(mkdir(root, 0700), 0);
	help_real_path(root, real);
	snprintf(scene->main, sizeof(scene->main), "%s/main", real);
	snprintf(scene->backup, sizeof(scene->backup), "%s/backup", real);
	return root;
}

/* Where the stores are that each child gets copies of: steps cost more than what is tested. */
static char prepared[256];

static void prepare_once(struct scene *scene)
{
	(void)make_root(scene, "prepared", prepared);
	if (!scene->operation->unborn && judge_run(judge, prepare, scene, true) != GOOD) {
		print_message("# %s: %s\n", scene->operation->name, judge->why.text);
		fail();
	}
}

/* True unless all calls have had their turn. */
static bool fail_nth(struct scene *scene, const char *kind, unsigned *bad)
{
	char real[256];
	const char *root = make_root(scene, "io", real);
	help_copy_tree(prepared, root);
	shim_watch(real);
	shim_sync(false);
	int result = judge_run(judge, play, scene, true);
	help_remove(root);
	if (result != GOOD && result != OVER) {
		print_message("# %s, %s at call %u (%s): %s\n", scene->operation->name, kind,
			      scene->nth, judge->call, judge->why.text);
		*bad += 1;
	}
	return result != OVER;
}

static const char *const kinds[] = {"EIO", "ENOSPC", "a short write", "EIO from then on"};

/* One failure, at every so many calls and at the last one. Returns how many there are. */
static unsigned run_singles(struct scene *scene, const char *kind, unsigned step, unsigned *bad)
{
	unsigned calls = 0;
	unsigned over = CALLS_MOST; /* no call has this number, nor a higher one */
	scene->nth = 1;
	while (over - calls > 1) {
		if (fail_nth(scene, kind, bad)) {
			calls = scene->nth;
			all_failures++;
		} else {
			over = scene->nth;
		}
		/* The last one is between the two, which come closer by half of what is left. */
		scene->nth = calls + step < over ? calls + step : calls + (over - calls) / 2;
	}
	assert_true(over < CALLS_MOST);
	return calls;
}

/* Two failures, the first at any of so many calls. */
static void run_pairs(struct scene *scene, unsigned calls, unsigned *bad)
{
	for (uint64_t i = 0; i < pairs; i++) {
		char name[64];
		scene->nth = 1 + help_below(calls);
		scene->fault = (enum shim_fault)help_below(SHIM_LASTING);
		scene->gap = 1 + help_below(GAP_MOST);
		scene->second = (enum shim_fault)help_below(SHIM_LASTING + 1);
		snprintf(name, sizeof(name), "%s, %u calls on %s", kinds[scene->fault], scene->gap,
			 kinds[scene->second]);
		(void)fail_nth(scene, name, bad);
	}
	all_pairs += pairs;
}

static void run(const struct operation *operation)
{
	static struct scene scene;
	unsigned bad = 0;
	scene = (struct scene){.operation = operation};
	model_plan(&scene.model, operation->mix, BEFORE + 4);
	scene.model.marked = operation->marked;
	prepare_once(&scene);
	judge->reopened = 0;
	unsigned calls[4] = {0};
	for (unsigned kind = SHIM_EIO; kind <= SHIM_LASTING; kind++) {
		scene.fault = (enum shim_fault)kind;
		/* Few calls can take the other kinds. */
		bool some = kind == SHIM_EIO || kind == SHIM_LASTING;
		calls[kind] = run_singles(&scene, kinds[kind], some ? (unsigned)every : 1, &bad);
	}
	run_pairs(&scene, calls[SHIM_EIO], &bad);
	help_remove(prepared);
	print_message("# %s: %u calls, of which %u took ENOSPC and %u were cut short; opened again "
		      "%u times\n",
		      operation->name, calls[SHIM_EIO], calls[SHIM_ENOSPC], calls[SHIM_SHORT],
		      judge->reopened);
	/* Opening reads; everything else writes, too. */
	assert_true(calls[SHIM_EIO] >= 3 && (operation->closed || calls[SHIM_SHORT] >= 1));
	assert_int_equal(bad, 0);
}

#define TEST(number, name)                                                                         \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		run(&operations[number]);                                                          \
	}

TEST(0, create)
TEST(1, open)
TEST(2, put)
TEST(3, batch)
TEST(4, delete)
TEST(5, compact)
TEST(6, backup)
TEST(7, load_new)
TEST(8, load)
TEST(9, marked)
TEST(10, publish)
TEST(11, repair)
TEST(12, publish_again)

/* False if the variable is set and is no number up to `most`. */
static bool number_from(const char *variable, uint64_t most, uint64_t *out)
{
	const char *text = getenv(variable);
	if (text != NULL && chi_num_u64(text, strlen(text), most, out) < 0) {
		fprintf(stderr, "# %s is no number up to %llu: '%s'\n", variable,
			(unsigned long long)most, text);
		return false;
	}
	return true;
}

int main(void)
{
	if (!number_from("CHISTORE_IOFAIL_PAIRS", 100000000, &pairs) ||
	    !number_from("CHISTORE_IOFAIL_EVERY", CALLS_MOST, &every) || every == 0) {
		return 1;
	}
	judge_in_memory();
	judge = judge_new();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),	      cmocka_unit_test(test_open),
		cmocka_unit_test(test_put),	      cmocka_unit_test(test_batch),
		cmocka_unit_test(test_delete),	      cmocka_unit_test(test_compact),
		cmocka_unit_test(test_backup),	      cmocka_unit_test(test_load_new),
		cmocka_unit_test(test_load),	      cmocka_unit_test(test_marked),
		cmocka_unit_test(test_publish),	      cmocka_unit_test(test_repair),
		cmocka_unit_test(test_publish_again),
	};
	int failed = cmocka_run_group_tests_name("iofail", tests, NULL, NULL);
	print_message("# figures: %llu failures of one call, %llu of a pair, of %zu operations\n",
		      (unsigned long long)all_failures, (unsigned long long)all_pairs,
		      CHI_COUNT(operations));
	return failed;
}
