/* SPDX-License-Identifier: MIT */
/*
 * Where a repair puts the new store, and what is there if it is killed on its way: nothing or the
 * whole, and the damaged store is as it was.
 */
#include "tests/store/help.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "import/importer.h"
#include "base/attr.h"

#define POSITIONS  1500
#define CALLS_MOST 200
#define KILLS	   12

static struct chi_key keys[POSITIONS];
static char *whole; /* the dump of the store */

/* ---- Kills ---------------------------------------------------------------------------------- */

/* Calls that change what lies on the disk under which name, and those that make it certain. */
static unsigned calls;
static unsigned deadly; /* the call to die at: before it if odd, behind it if even; 0: none */

static void step(void)
{
	if (++calls == deadly) {
		(void)raise(SIGKILL);
	}
}

ssize_t __real_pread64(int fd, void *out, size_t len, off_t offset);
ssize_t __wrap_pread64(int fd, void *out, size_t len, off_t offset);
ssize_t __wrap_pread(int fd, void *out, size_t len, off_t offset);
int __real_mkdirat(int dir, const char *path, mode_t mode);
int __real_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __real_fsync(int fd);
int __real_mdb_txn_commit(MDB_txn *txn);
int __wrap_mkdirat(int dir, const char *path, mode_t mode);
int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to);
int __wrap_fsync(int fd);
int __wrap_mdb_txn_commit(MDB_txn *txn);

static bool unreadable; /* the disk gives away nothing but the heads */

ssize_t __wrap_pread64(int fd, void *out, size_t len, off_t offset)
{
	if (unreadable && offset >= 8192) {
		errno = EIO;
		return -1;
	}
	return __real_pread64(fd, out, len, offset);
}

ssize_t __wrap_pread(int fd, void *out, size_t len, off_t offset)
{
	return __wrap_pread64(fd, out, len, offset);
}

int __wrap_mkdirat(int dir, const char *path, mode_t mode)
{
	step();
	int rc = __real_mkdirat(dir, path, mode);
	step();
	return rc;
}

int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	step();
	int rc = __real_renameat(from_dir, from, to_dir, to);
	step();
	return rc;
}

int __wrap_fsync(int fd)
{
	step();
	int rc = __real_fsync(fd);
	step();
	return rc;
}

int __wrap_mdb_txn_commit(MDB_txn *txn)
{
	step();
	int rc = __real_mdb_txn_commit(txn);
	step();
	return rc;
}

/* ---- The stores ----------------------------------------------------------------------------- */

static void make_store(void)
{
	struct chi_dir *store = help_store("damaged", CHI_STATISTIC_CONTROL);
	size_t len;
	help_keys(keys, POSITIONS);
	help_fill(store, keys, POSITIONS);
	free(whole);
	whole = help_dump(store, &len);
	chi_dir_close(store);
}

/* What is in a directory, and in the data file: a repair may change neither. */
static uint64_t fingerprint(const char *dir)
{
	static uint8_t bytes[1 << 16];
	uint64_t sum = 0;
	struct dirent *entry;
	DIR *stream = opendir(dir);
	assert_non_null(stream);
	while ((entry = readdir(stream)) != NULL) {
		for (const char *c = entry->d_name; *c != '\0'; c++) {
			sum += (uint64_t)(unsigned char)*c * 2654435761u;
		}
	}
	closedir(stream);
	int fd = open(help_path("damaged/data.mdb"), O_RDONLY);
	assert_true(fd >= 0);
	ssize_t n;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			sum = sum * 31 + bytes[i];
		}
	}
	assert_int_equal(n, 0);
	(void)close(fd);
	return sum;
}

static int repair_to(const char *to)
{
	struct chi_repair_result result;
	return chi_dir_repair(help_path("damaged"), to, 0, chi_import_relist, NULL, NULL, &result,
			      &fault);
}

/* True if the name "cut" is there; it is a whole store then, and goes. */
static bool is_whole_if_there(void)
{
	size_t len;
	if (access(help_path("cut"), F_OK) != 0) {
		return false;
	}
	struct chi_dir *store = help_open(help_path("cut"), CHI_STORE_WRITE);
	assert_int_equal(help_verify(store, NULL), CHI_OK);
	char *text = help_dump(store, &len);
	assert_string_equal(text, whole);
	free(text);
	chi_dir_close(store);
	help_remove(help_path("cut"));
	return true;
}

static unsigned leftovers(void)
{
	unsigned n = 0;
	DIR *stream = opendir(help_path("."));
	assert_non_null(stream);
	for (struct dirent *e = readdir(stream); e != NULL; e = readdir(stream)) {
		n += strstr(e->d_name, ".new-") != NULL;
	}
	closedir(stream);
	return n;
}

/* ---- Tests ---------------------------------------------------------------------------------- */

/* Under whatever name it is reached. */
CASE(test_not_into_the_damaged_store)
{
	make_store();
	uint64_t before = fingerprint(help_path("damaged"));
	assert_int_equal(symlink(help_path("damaged"), help_path("alias")), 0);
	static const char *const names[] = {"damaged/saved", "damaged/saved/", "alias/saved",
					    "damaged/../damaged/saved"};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		assert_int_equal(repair_to(help_path(names[i])), -CHI_EINVAL);
		assert_non_null(strstr(fault.text, "inside the directory of a store"));
		assert_true(fingerprint(help_path("damaged")) == before);
	}
	/* A name that only begins so is beside it. */
	ok(repair_to(help_path("damaged-saved")));
	assert_true(fingerprint(help_path("damaged")) == before);
	help_remove(help_path("damaged-saved"));
	help_remove(help_path("alias"));
}

/* It was said that the stamp is lost, and no word of the disk. */
CASE(test_a_disk_that_cannot_be_read)
{
	make_store();
	unreadable = true;
	int rc = repair_to(help_path("unread"));
	unreadable = false;
	assert_int_equal(rc, -CHI_EIO);
	assert_non_null(strstr(fault.text, strerror(EIO)));
	assert_true(access(help_path("unread"), F_OK) < 0);
}

/* Before and after each call that matters, the last renaming among them: what has the name is
 * whole, and the next repair takes away what is left beside. */
CASE(test_killed_at_each_call)
{
	make_store();
	uint64_t before = fingerprint(help_path("damaged"));
	unsigned none = 0;
	unsigned there = 0;
	int status = 1000 + SIGKILL;
	for (unsigned at = 1; status != 0; at++) {
		assert_true(at < CALLS_MOST);
		pid_t pid = help_fork();
		if (pid == 0) {
			calls = 0;
			deadly = at;
			_exit(repair_to(help_path("cut")) == CHI_OK ? 0 : 1);
		}
		status = help_child_status(pid);
		assert_true(status == 0 || status == 1000 + SIGKILL);
		assert_true(fingerprint(help_path("damaged")) == before);
		bool whole_now = is_whole_if_there();
		assert_true(whole_now || status != 0);
		/* What has the name keeps it: no kill after the first that left it there comes
		 * before. */
		assert_true(whole_now || there == 0);
		*(whole_now ? &there : &none) += status != 0;
		assert_true(leftovers() <= 1);
	}
	assert_int_equal(leftovers(), 0);
	print_message("# killed at %u calls: %u times nothing was there, %u times the whole\n",
		      none + there, none, there);
	/* Made, committed, synced and renamed; then the directory above is synced. */
	assert_true(none >= 8 && there >= 3);
}

static int64_t now_us(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* And at any moment, from the first to a little after the last. */
CASE(test_killed_at_any_time)
{
	unsigned cut = 0;
	make_store();
	uint64_t before = fingerprint(help_path("damaged"));
	int64_t start = now_us();
	ok(repair_to(help_path("cut")));
	unsigned all = (unsigned)(now_us() - start);
	assert_true(is_whole_if_there());
	for (unsigned i = 0; i < KILLS; i++) {
		pid_t pid = help_fork();
		if (pid == 0) {
			_exit(repair_to(help_path("cut")) == CHI_OK ? 0 : 1);
		}
		usleep(help_below(all + all / 4));
		assert_int_equal(kill(pid, SIGKILL), 0);
		int status = help_child_status(pid);
		assert_true(status == 0 || status == 1000 + SIGKILL);
		assert_true(fingerprint(help_path("damaged")) == before);
		assert_true(is_whole_if_there() || status != 0);
		cut += status != 0;
	}
	print_message("# %u of %d were killed before their end\n", cut, KILLS);
	ok(repair_to(help_path("cut")));
	assert_true(is_whole_if_there());
	assert_int_equal(leftovers(), 0);
}

int main(void)
{
	int failed = cases_run(NULL, NULL);
	help_clean();
	free(whole);
	return failed;
}
