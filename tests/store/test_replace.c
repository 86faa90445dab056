/* SPDX-License-Identifier: MIT */
/*
 * One published copy in place of another, and what others do between two calls of that: links,
 * stores that take the name, a second publisher; and file systems that cannot, or that fail.
 */
#include "tests/store/help.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"

#define POSITIONS 100

static struct chi_key keys[POSITIONS + 2];

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
int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_lstat(const char *path, struct stat *out);
int __wrap_lstat64(const char *path, struct stat *out);

/* What others do in the moment before the next removal of a file, and in those before and after
 * the next exchange of names. */
static void (*before_unlink)(void);
static void (*before_rename)(void); /* the same of one that gets its first name */
static void (*before_exchange)(void);
static void (*after_exchange)(void);
static int refusal; /* not 0: what the file system says of an exchange */
static bool broken; /* nothing can be synced */

/* Before which step of an opening the names are exchanged; 0: before none. */
static unsigned exchange_at;
static bool remove_exchanged; /* what had the name until then */
static unsigned steps;

static void run_once(void (**hook)(void))
{
	void (*body)(void) = *hook;
	*hook = NULL;
	if (body != NULL) {
		body();
	}
}

static void exchange(const char *a, const char *b)
{
	char first[512];
	char second[512];
	(void)snprintf(first, sizeof(first), "%s", help_path(a));
	(void)snprintf(second, sizeof(second), "%s", help_path(b));
	assert_int_equal(__real_renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE), 0);
}

static void step(void)
{
	if (exchange_at > 0 && ++steps == exchange_at) {
		exchange("copy", "other");
		if (remove_exchanged) {
			help_remove(help_path("other"));
		}
	}
}

int __wrap_mdb_env_open(MDB_env *env, const char *path, unsigned flags, mdb_mode_t mode)
{
	step();
	return __real_mdb_env_open(env, path, flags, mode);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	step();
	return openat(AT_FDCWD, path, flags, mode);
}

int __wrap_open64(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	step();
	return openat(AT_FDCWD, path, flags, mode);
}

int __wrap_lstat(const char *path, struct stat *out)
{
	step();
	return fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int __wrap_lstat64(const char *path, struct stat *out)
{
	return __wrap_lstat(path, out);
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

/* The record locks of this process, as text. */
static void read_locks(char out[static 4096])
{
	char line[256];
	char pid[32];
	size_t len = 0;
	FILE *file = fopen("/proc/locks", "r");
	(void)snprintf(pid, sizeof(pid), " %ld ", (long)getpid());
	assert_non_null(file);
	out[0] = '\0';
	while (fgets(line, sizeof(line), file) != NULL) {
		const char *rest = strchr(line, ' ');
		if (rest != NULL && strstr(line, "POSIX") != NULL && strstr(line, pid) != NULL) {
			len += (size_t)snprintf(out + len, 4096 - len, "%s", rest);
			assert_true(len < 4096);
		}
	}
	fclose(file);
}

/* Whether the directory's files are those that publishing made. */
static bool is_untouched(const char *name)
{
	char path[600];
	(void)snprintf(path, sizeof(path), "%s/lock.mdb", help_path(name));
	bool untouched = access(path, F_OK) < 0;
	(void)snprintf(path, sizeof(path), "%s/chistore.lock", help_path(name));
	return untouched && access(path, F_OK) < 0;
}

/* Follows from an older copy to a newer one, whose name is exchanged with `other` before a step;
 * the number of positions that are read then, 0 if it is refused. False: there is no such step. */
static bool follow_exchanged(unsigned at, uint64_t *count)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *newest = NULL;
	struct chi_dir *old = help_open(help_path("copy"), CHI_STORE_READ);
	exchange("copy", "newer");
	exchange_at = at;
	steps = 0;
	int rc = chi_dir_follow(old, &options, &newest, &fault);
	bool reached = steps >= at;
	exchange_at = 0;
	assert_int_equal(help_count(old), POSITIONS);
	*count = 0;
	if (rc == CHI_OK) {
		assert_non_null(newest);
		*count = help_count(newest);
		ok(help_verify(newest, NULL));
		chi_dir_close(newest);
	} else {
		assert_int_equal(rc, -CHI_ESTALE);
	}
	chi_dir_close(old);
	if (reached) {
		exchange("copy", "other");
	}
	exchange("copy", "newer");
	return reached;
}

static void publish_three(struct chi_dir *store, bool other_too)
{
	ok(help_publish(store, help_path("copy")));
	help_fill(store, &keys[POSITIONS], 1);
	ok(help_publish(store, help_path("newer")));
	help_fill(store, &keys[POSITIONS + 1], 1);
	if (other_too) {
		ok(help_publish(store, help_path("other")));
	}
}

/* Whatever has the name between any two steps: an answer is of one copy, and no file is made. */
CASE(test_a_copy_exchanged_while_it_is_followed, NULL, help_teardown)
{
	struct chi_dir *store = filled("source");
	unsigned at = 1;
	uint64_t count = 0;
	publish_three(store, true);
	while (follow_exchanged(at, &count)) {
		/* The first one is that which fixes the directory. */
		assert_true(count == (at == 1 ? POSITIONS + 2 : POSITIONS + 1));
		assert_true(is_untouched("copy") && is_untouched("newer") && is_untouched("other"));
		at++;
	}
	assert_true(at > 5 && count == POSITIONS + 1);
	chi_dir_close(store);
}

/* One that is removed when it has lost its name is never an error: then the next one is opened. */
CASE(test_a_copy_removed_while_it_is_followed, NULL, help_teardown)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *store = filled("source");
	bool reached = true;
	remove_exchanged = true;
	for (unsigned at = 1; reached; at++) {
		struct chi_dir *newest = NULL;
		publish_three(store, true);
		struct chi_dir *old = help_open(help_path("copy"), CHI_STORE_READ);
		exchange("copy", "newer");
		exchange_at = at;
		steps = 0;
		ok(chi_dir_follow(old, &options, &newest, &fault));
		reached = steps >= at;
		exchange_at = 0;
		assert_non_null(newest);
		assert_in_range(help_count(newest), POSITIONS + 1, POSITIONS + 2);
		chi_dir_close(newest);
		chi_dir_close(old);
		assert_true(reached || at > 5);
	}
	remove_exchanged = false;
	chi_dir_close(store);
}

/* The same of a store that lives, which is open here: its locks stay. */
CASE(test_a_store_exchanged_while_it_is_followed, NULL, help_teardown)
{
	char before[4096];
	char after[4096];
	struct chi_dir *store = filled("source");
	struct chi_dir *other = help_store("other", CHI_STATISTIC_CONTROL);
	unsigned at = 1;
	uint64_t count = 0;
	help_fill(other, keys, 1);
	assert_int_equal(help_count(other), 1);
	publish_three(store, false);
	read_locks(before);
	assert_true(before[0] != '\0');
	while (follow_exchanged(at, &count)) {
		assert_true(count == (at == 1 ? 0 : POSITIONS + 1));
		assert_true(is_untouched("copy") && is_untouched("newer"));
		read_locks(after);
		assert_string_equal(after, before);
		at++;
	}
	assert_true(at > 5 && count == POSITIONS + 1);
	assert_int_equal(help_count(other), 1);
	chi_dir_close(other);
	chi_dir_close(store);
}

/* Neither from a published copy to a store that lives, nor back. */
CASE(test_what_is_followed, NULL, help_teardown)
{
	const struct chi_dir_options options = {.mode = CHI_STORE_READ};
	struct chi_dir *newest = NULL;
	struct chi_dir *store = filled("source");
	ok(help_publish(store, help_path("copy")));
	chi_dir_close(help_store("other", CHI_STATISTIC_CONTROL));
	for (int live = 0; live < 2; live++) {
		struct chi_dir *old = help_open(help_path("copy"), CHI_STORE_READ);
		ok(chi_dir_follow(old, &options, &newest, &fault));
		assert_null(newest);
		exchange("copy", "other");
		assert_int_equal(chi_dir_follow(old, &options, &newest, &fault), -CHI_ESTALE);
		assert_null(newest);
		chi_dir_close(old);
	}
	chi_dir_close(store);
}

/* It waited for a writer at the other end. */
CASE(test_a_pipe_as_lock_file, NULL, help_teardown)
{
	char path[600];
	struct chi_dir *store = filled("source");
	chi_dir_close(store);
	(void)snprintf(path, sizeof(path), "%s/chistore.lock", help_path("source"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(help_try(help_path("source"), CHI_STORE_READ), -CHI_ENOSTORE);
	assert_int_equal(help_try(help_path("source"), CHI_STORE_WRITE), -CHI_ENOSTORE);
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
