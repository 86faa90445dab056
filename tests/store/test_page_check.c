/* SPDX-License-Identifier: MIT */
/*
 * Before LMDB compacts a store, its pages are held against all that it relies on. The property:
 * whatever is damaged, the check neither crashes nor lets LMDB's compacting copy do so. The copy of
 * what is refused is the control, which goes wrong.
 */
#include "tests/store/help.h"

#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attr.h"
#include "store/pages/page_file.h"
#include "store/pages/pages.h"
#include "tests/base/seed.h"

#define POSITIONS 800
#define LONG_NOTE 9000
#define SECONDS	  20

static struct chi_key keys[POSITIONS];
static char note[LONG_NOTE];
static char data_path[1024];
static uint8_t *good; /* the file, undamaged */
static size_t good_len;

static void put_note(struct chi_dir *store, const struct chi_key *key, size_t len)
{
	const struct chi_put_entry put = {
		.key = *key, .parts = CHI_PUT_NOTE, .record = {.note = note, .n_note = len}};
	help_put(store, &put);
}

static void delete (struct chi_dir *store, size_t from, size_t to)
{
	struct chi_write *write;
	ok(chi_write_begin(store, &write, &fault));
	for (size_t i = from; i < to; i++) {
		ok(chi_write_delete(write, &keys[i]));
	}
	ok(chi_write_commit(write, &fault));
}

/* Trees of several levels, values in pages of their own, free pages. */
static struct chi_dir *make(void)
{
	struct chi_dir *store = help_store("built", CHI_STATISTIC_EXTERNAL);
	memset(note, 'n', sizeof(note));
	help_keys(keys, POSITIONS);
	help_fill(store, keys, POSITIONS);
	for (size_t i = 0; i < 20; i++) {
		put_note(store, &keys[i], LONG_NOTE - 100 * i);
	}
	delete (store, POSITIONS - 100, POSITIONS);
	return store;
}

static void save(void)
{
	struct stat st;
	snprintf(data_path, sizeof(data_path), "%s/data.mdb", help_path("built"));
	int fd = open(data_path, O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	good_len = (size_t)st.st_size;
	good = malloc(good_len);
	assert_non_null(good);
	assert_int_equal(read(fd, good, good_len), good_len);
	close(fd);
}

static void change(size_t at, const void *bytes, size_t len)
{
	int fd = open(data_path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, len, (off_t)at), len);
	close(fd);
}

static void change_u16(size_t at, uint16_t value)
{
	change(at, &value, sizeof(value));
}

static int check(void)
{
	struct chi_dir *store = help_open(help_path("built"), CHI_STORE_WRITE);
	fault.text[0] = '\0';
	int rc = chi_check_compact(store, &fault);
	chi_dir_close(store);
	return rc;
}

/* A page with that flag, the last one: no head. */
static size_t page_with(uint16_t flag)
{
	size_t at = good_len;
	do {
		at -= 4096;
	} while (chi_u16_at(good + at + PAGE_FLAGS) != flag && at > 8192);
	assert_true(at > 8192);
	return at;
}

/* Whatever a store goes through, its pages are in order. */
CASE(test_sound_stores)
{
	struct chi_dir *store = make();
	ok(chi_check_compact(store, &fault));
	size_t rounds = seed_rounds(15);
	for (size_t i = 0; i < rounds; i++) {
		size_t first = help_below(POSITIONS - 20);
		if (help_below(3) == 0) {
			help_fill(store, &keys[first], 1 + help_below(20));
		} else {
			put_note(store, &keys[first], help_below(2) * help_below(LONG_NOTE));
		}
		ok(chi_check_compact(store, &fault));
	}
	chi_dir_close(store);
	ok(check());
	chi_dir_close(help_store("built", CHI_STATISTIC_CONTROL));
	ok(check());
}

static void die_plainly(void)
{
	/* cmocka's handlers would go on with the parent's tests in this process. */
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	for (size_t i = 0; i < CHI_COUNT(deadly); i++) {
		signal(deadly[i], SIG_DFL);
	}
	alarm(SECONDS);
	fclose(stderr);
}

/* Exit codes that no sanitizer has. */
enum outcome {
	FINE = 0,
	DAMAGED = 70,
	UNOPENED,
	UNCOPIED,
};

/* In a child. */
static int check_damaged(void)
{
	struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store;
	if (chi_dir_open(help_path("built"), &options, &store, NULL) < 0) {
		return UNOPENED;
	}
	int rc = chi_check_compact(store, &fault);
	return rc == CHI_OK ? FINE : DAMAGED;
}

/* In a child: what a compaction does without looking first. */
static int copy_damaged(void)
{
	MDB_env *env;
	int fd = open("/dev/null", O_WRONLY);
	if (fd < 0 || mdb_env_create(&env) != 0 || mdb_env_set_maxdbs(env, 16) != 0 ||
	    mdb_env_set_mapsize(env, (size_t)1 << 30) != 0) {
		return UNCOPIED;
	}
	int rc = mdb_env_open(env, help_path("built"), MDB_RDONLY | MDB_NOLOCK, 0600);
	return rc == 0 && mdb_env_copyfd2(env, fd, MDB_CP_COMPACT) == 0 ? FINE : UNCOPIED;
}

static bool has_crashed(int outcome)
{
	return outcome != FINE && (outcome < DAMAGED || outcome > UNCOPIED);
}

/* The exit status, or 1000 and more for a signal. */
static int in_child(int (*body)(void))
{
	fflush(stdout);
	pid_t pid = help_fork();
	if (pid == 0) {
		die_plainly();
		_exit(body());
	}
	return help_child_status(pid);
}

/* Records are read without a look at where a page's free space ends: only the copy goes by it, and
 * a write. */
CASE(test_bounds_that_no_reader_looks_at)
{
	static const uint16_t kinds[] = {FLAG_LEAF, FLAG_BRANCH};
	chi_dir_close(make());
	save();
	for (size_t i = 0; i < CHI_COUNT(kinds); i++) {
		size_t page = page_with(kinds[i]);
		change_u16(page + PAGE_UPPER, 0xfff0);
		assert_int_equal(check(), -CHI_ECORRUPT);
		assert_non_null(strstr(fault.text, "verify --repair"));
		/* The control: a leaf is written as it is, of a branch LMDB copies what the page
		 * says. */
		int copied = in_child(copy_damaged);
		assert_true(kinds[i] == FLAG_LEAF || has_crashed(copied));
		change(0, good, good_len);
	}
	ok(check());
	free(good);
}

/* As many pages as the first one says are copied. */
CASE(test_a_long_value_that_claims_more_pages)
{
	chi_dir_close(make());
	save();
	size_t page = page_with(FLAG_OVERFLOW);
	const uint32_t many = 1u << 30;
	change(page + PAGE_COUNT, &many, sizeof(many));
	assert_int_equal(check(), -CHI_ECORRUPT);
	change(0, good, good_len);
	free(good);
}

/* The list of free pages that a node at the very end of its page has is empty: not even its count
 * is there, and what follows the page is none of it. */
CASE(test_a_list_of_free_pages_without_a_count)
{
	struct chi_page_file file_image;
	chi_dir_close(make());
	save();
	ok(chi_page_file_open(&file_image, help_path("built"), CHI_PAGE_FILE_BOTH, &fault));
	chi_page_file_close(&file_image);
	size_t page = (size_t)file_image.free_root * 4096;
	assert_int_equal(chi_u16_at(good + page + PAGE_FLAGS) & FLAG_KINDS, FLAG_LEAF);
	const uint16_t at = 4096 - NODE_HEADER - 8;
	uint8_t node[NODE_HEADER + 8] = {0};
	node[NODE_KSIZE] = 8;
	change(page + at, node, sizeof(node));
	change_u16(page + PAGE_HEADER, at);
	assert_int_equal(check(), -CHI_ECORRUPT);
	change(0, good, good_len);
	ok(check());
	free(good);
}

/* A bit, a number or a row of zeros, mostly where a page says how it is laid out. */
static void damage(void)
{
	size_t page = (size_t)help_below((unsigned)(good_len / 4096 - 2)) + 2;
	size_t at = page * 4096 + help_below(help_below(3) == 0 ? 4000 : 40);
	uint8_t bytes[64] = {0};
	uint16_t number = (uint16_t)help_random();
	switch (help_below(3)) {
	case 0:
		bytes[0] = good[at] ^ (uint8_t)(1u << help_below(8));
		change(at, bytes, 1);
		break;
	case 1:
		change(at & ~(size_t)1, &number, sizeof(number));
		break;
	default:
		change(at, bytes, sizeof(bytes));
		break;
	}
}

CASE(test_what_passes_can_be_compacted)
{
	unsigned refused = 0;
	unsigned bad_copies = 0;
	chi_dir_close(make());
	save();
	size_t rounds = seed_rounds(120);
	for (size_t i = 0; i < rounds; i++) {
		damage();
		int found = in_child(check_damaged);
		assert_false(has_crashed(found));
		if (found == FINE) {
			assert_int_equal(in_child(copy_damaged), FINE);
		} else if (found == DAMAGED) {
			refused++;
			bad_copies += has_crashed(in_child(copy_damaged));
		}
		change(0, good, good_len);
	}
	print_message("# figures: %zu damaged stores, %u refused, of which %u would have ended the "
		      "process that compacts them\n",
		      rounds, refused, bad_copies);
	free(good);
}

CASES_MAIN(NULL, help_teardown)
