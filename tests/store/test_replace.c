/* SPDX-License-Identifier: MIT */
/*
 * One published copy in place of another, and what others do between two calls of that: links,
 * stores that take the name, a second publisher; and file systems that cannot, or that fail.
 */
#include "tests/store/help.h"

#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"

#define POSITIONS 100

static struct chi_key keys[POSITIONS + 1];

static struct chi_dir *filled(const char *name)
{
	struct chi_dir *store = help_store(name, CHI_STATISTIC_CONTROL);
	help_fill(store, keys, POSITIONS);
	return store;
}

int __real_unlink(const char *path);
int __real_unlinkat(int fd, const char *path, int flags);
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_unlink(const char *path);
int __wrap_unlinkat(int fd, const char *path, int flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __real_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode);
int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode);

/* What others do in the moment before the next removal of a file, and in those before and after
 * the next exchange of names, and before LMDB opens a path. */
static void (*before_unlink)(void);
static void (*before_rename)(void); /* the same of one that gets its first name */
static void (*before_exchange)(void);
static void (*after_exchange)(void);
static void (*before_open)(void);
static int refusal; /* not 0: what the file system says of an exchange */
static bool broken; /* nothing can be synced */

static void run_once(void (**hook)(void))
{
	void (*body)(void) = *hook;
	*hook = NULL;
	if (body != NULL) {
		body();
	}
}

int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode)
{
	run_once(&before_open);
	return __real_mdb_env_open(env, path, flags, mode);
}

int __wrap_unlink(const char *path)
{
	run_once(&before_unlink);
	return __real_unlink(path);
}

int __wrap_unlinkat(int fd, const char *path, int flags)
{
	run_once(&before_unlink);
	return __real_unlinkat(fd, path, flags);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
	run_once(&before_exchange);
	if (refusal != 0) {
		errno = refusal;
		return -1;
	}
	int rc = __real_renameat2(from_fd, from, to_fd, to, flags);
	run_once(&after_exchange);
	return rc;
}

int __wrap_renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	if (from_fd == to_fd && from[0] == '.') {
		run_once(&before_rename);
	}
	return __real_renameat(from_fd, from, to_fd, to);
}

int __wrap_fsync(int fd)
{
	if (broken) {
		errno = EIO;
		return -1;
	}
	return __real_fsync(fd);
}

static struct chi_dir *source;

/* A path after `leftover`: what a killed publisher of `name` would have left. */
static void leftover(const char *name, char path[static 1024])
{
	snprintf(path, 1024, "%s/.%s.new-1-0", help_path("."), name);
}

static void put_link_in_place(void)
{
	char path[1024];
	leftover("shared", path);
	assert_int_equal(rename(path, help_path("aside")), 0);
	assert_int_equal(symlink(help_path("source"), path), 0);
}

/* In a directory that others may write, too, a leftover can become a link while it is removed. */
CASE(test_links_in_place_of_leftovers, NULL, help_teardown)
{
	char path[1024];
	struct chi_dir *store = filled("source");
	leftover("shared", path);
	assert_int_equal(mkdir(path, 0755), 0);
	before_unlink = put_link_in_place;
	ok(help_publish(store, help_path("shared")));
	assert_null(before_unlink);
	assert_true(access(help_path("source/data.mdb"), F_OK) == 0);
	assert_true(access(help_path("source/chistore.lock"), F_OK) == 0);
	chi_dir_close(store);
}

static void publish_as_well(void)
{
	help_fill(source, &keys[POSITIONS], 1);
	ok(help_publish(source, help_path("twice")));
}

/* Two at a time, in the moment when the older copy has the name of a leftover: both are done, and
 * the later one is there. */
CASE(test_two_publishers, NULL, help_teardown)
{
	source = filled("source");
	ok(help_publish(source, help_path("twice")));
	after_exchange = publish_as_well;
	ok(help_publish(source, help_path("twice")));
	struct chi_dir *copy = help_open(help_path("twice"), CHI_STORE_READ);
	assert_int_equal(help_count(copy), POSITIONS + 1);
	ok(help_verify(copy, NULL));
	chi_dir_close(copy);
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	chi_dir_close(source);
}

/* Both looked when there was nothing of that name: it was an EEXIST once. */
CASE(test_two_first_publications, NULL, help_teardown)
{
	source = filled("source");
	before_rename = publish_as_well;
	ok(help_publish(source, help_path("twice")));
	assert_null(before_rename);
	struct chi_dir *copy = help_open(help_path("twice"), CHI_STORE_READ);
	ok(help_verify(copy, NULL));
	chi_dir_close(copy);
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	chi_dir_close(source);
}

static void make_a_store(void)
{
	help_remove(help_path("taken"));
	ok(chi_dir_create(help_path("taken"), CHI_STATISTIC_OUTCOME, CHI_KEEP_COUNTS, &fault));
}

static void free_the_name(void)
{
	help_remove(help_path("taken"));
}

/* A store that takes the name at the last moment has it afterwards, also if there is nothing any
 * more to change names with. */
CASE(test_a_store_made_at_the_last_moment, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	for (int freed = 0; freed < 2; freed++) {
		ok(help_publish(store, help_path("taken")));
		before_exchange = make_a_store;
		after_exchange = freed ? free_the_name : NULL;
		assert_int_equal(help_publish(store, help_path("taken")), -CHI_EEXIST);
		assert_null(before_exchange);
		assert_null(after_exchange);
		struct chi_dir *made = help_open(help_path("taken"), CHI_STORE_WRITE);
		assert_int_equal(chi_dir_statistic(made), CHI_STATISTIC_OUTCOME);
		chi_dir_close(made);
		help_remove(help_path("taken"));
		assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	}
	chi_dir_close(store);
}

static void break_disk(void)
{
	broken = true;
}

/* Whether the exchange will last is not known then, but what has the name is whole. */
CASE(test_an_exchange_that_is_not_synced, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("unsynced")));
	help_fill(store, &keys[POSITIONS], 1);
	after_exchange = break_disk;
	assert_int_equal(help_publish(store, help_path("unsynced")), -CHI_EIO);
	broken = false;
	struct chi_dir *copy = help_open(help_path("unsynced"), CHI_STORE_READ);
	assert_int_equal(help_count(copy), POSITIONS + 1);
	ok(help_verify(copy, NULL));
	chi_dir_close(copy);
	ok(help_publish(store, help_path("unsynced")));
	assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	chi_dir_close(store);
}

static void put_newer_in_its_place(void)
{
	assert_int_equal(rename(help_path("copy"), help_path("old")), 0);
	assert_int_equal(rename(help_path("newer"), help_path("copy")), 0);
}

/* The newer one was open under the identity of the older, and so a second time for the next. */
CASE(test_exchanged_while_it_is_opened, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("copy")));
	help_fill(store, &keys[POSITIONS], 1);
	ok(help_publish(store, help_path("newer")));
	before_open = put_newer_in_its_place;
	struct chi_dir *first = help_open(help_path("copy"), CHI_STORE_READ);
	struct chi_dir *second = help_open(help_path("copy"), CHI_STORE_READ);
	assert_int_equal(help_count(first), POSITIONS + 1);
	assert_true(chi_dir_same(first, second));
	chi_dir_close(second);
	chi_dir_close(first);
	chi_dir_close(store);
}

/* As on a network, or on an overlay. */
CASE(test_file_systems_without_exchange, NULL, help_teardown)
{
	static const int errors[] = {EINVAL, ENOSYS, EOPNOTSUPP, EXDEV};
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("plain")));
	for (size_t i = 0; i < CHI_COUNT(errors); i++) {
		refusal = errors[i];
		assert_int_equal(help_publish(store, help_path("plain")), -CHI_EUNSUPPORTED);
		assert_non_null(strstr(fault.text, "remove the older copy first"));
		refusal = 0;
		struct chi_dir *copy = help_open(help_path("plain"), CHI_STORE_READ);
		assert_int_equal(help_count(copy), POSITIONS);
		chi_dir_close(copy);
		assert_int_equal(help_entries(help_path("."), ".new-"), 0);
	}
	chi_dir_close(store);
}

int main(void)
{
	help_keys(keys, CHI_COUNT(keys));
	return cases_run(NULL, NULL);
}
