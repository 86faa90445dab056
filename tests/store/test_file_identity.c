/* SPDX-License-Identifier: MIT */
/*
 * Files that are replaced, emptied or linked while the store is open, as rsync, editors, backups by
 * hard links and overlayfs do it. Each ends with an error within moments. What would go on for ever
 * is ended by an alarm, which is a failure.
 */
#include "tests/store/help.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL	   CHI_STATISTIC_CONTROL
#define PATIENCE_S 30
#define SKIPPED	   77

static struct chi_key key;

static const char *file_of(const char *dir, const char *name)
{
	static char paths[4][1100];
	static unsigned next;
	char *path = paths[next++ % 4];
	(void)snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

/* A store with so many commits, the last of which its record names. Its path. */
static const char *made(const char *name, unsigned commits)
{
	struct chi_dir *store = help_store(name, CONTROL);
	const char *path = help_path(name);
	for (unsigned i = 1; i <= commits; i++) {
		help_put(store, &(struct chi_put_entry){.key = key,
							.parts = CHI_PUT_COUNTS,
							.record.counts.white = i});
	}
	chi_dir_close(store);
	return path;
}

static void copy_file(const char *from, const char *to)
{
	static char bytes[1 << 20];
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n = read(in, bytes, sizeof(bytes));
	assert_true(in >= 0 && out >= 0 && n > 0 && n < (ssize_t)sizeof(bytes));
	assert_int_equal(write(out, bytes, (size_t)n), n);
	close(in);
	close(out);
}

/* What one probe answers. */
static int probe(struct chi_dir *store, struct chi_row *row)
{
	struct chi_read *read;
	int rc = chi_read_begin(store, &read);
	if (rc == CHI_OK) {
		rc = chi_read_row(read, &key, row);
		chi_read_end(read);
	}
	return rc;
}

/* In a process of its own: what opening, a probe and so many commits answer. */
static int status_of(const char *path, enum chi_dir_mode mode, unsigned commits)
{
	pid_t pid = help_fork();
	if (pid == 0) {
		struct chi_dir_options options = {.mode = mode};
		struct chi_dir *store;
		struct chi_row row;
		(void)alarm(PATIENCE_S);
		int rc = chi_dir_open(path, &options, &store, &fault);
		if (rc == CHI_OK) {
			rc = probe(store, &row);
		}
		for (unsigned i = 0; rc == CHI_OK && i < commits; i++) {
			help_put(store, &(struct chi_put_entry){.key = key,
								.parts = CHI_PUT_COUNTS,
								.record.counts.white = 1000 + i});
		}
		_exit(-rc);
	}
	return help_child_status(pid);
}

static int begin_write(struct chi_dir *store)
{
	struct chi_write *write;
	int rc = chi_write_begin(store, &write, &fault);
	if (rc == CHI_OK) {
		rc = chi_write_commit(write, &fault);
	}
	return rc;
}

/* Another store's file replaces the one that a program has open, as rsync does: that program, and
 * any that opens the store later, notices. */
CASE(test_replaced_by_a_newer_file)
{
	int freed = 0;
	const char *other = made("other", 40);
	const char *path = made("replaced", 4);
	struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
	struct chi_row row;
	assert_int_equal(probe(store, &row), CHI_OK);
	ok(chi_dir_check(store, &freed, &fault));
	assert_int_equal(rename(file_of(other, "data.mdb"), file_of(path, "data.mdb")), 0);
	assert_int_equal(status_of(path, CHI_STORE_READ, 0), CHI_ESTALE);
	assert_int_equal(chi_dir_check(store, &freed, &fault), -CHI_ESTALE);
	assert_non_null(strstr(fault.text, "data.mdb' was replaced"));
	/* A write that changes nothing vouches for what is there. */
	assert_int_equal(begin_write(store), -CHI_ESTALE);
	chi_dir_close(store);
	/* No one has the old one open now. */
	assert_int_equal(status_of(path, CHI_STORE_WRITE, 1), CHI_OK);
}

/* A copy of the file itself in its place: others write there, and the state that the old file has
 * is not the last any more. */
CASE(test_reader_of_a_replaced_file)
{
	const char *path = made("reader", 4);
	struct chi_dir *store = help_open(path, CHI_STORE_READ);
	struct chi_row row;
	assert_int_equal(probe(store, &row), CHI_OK);
	copy_file(file_of(path, "data.mdb"), file_of(path, "copy"));
	assert_int_equal(rename(file_of(path, "copy"), file_of(path, "data.mdb")), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(status_of(path, CHI_STORE_WRITE, 1), CHI_OK);
		(void)alarm(PATIENCE_S);
		assert_int_equal(probe(store, &row), -CHI_ESTALE);
		(void)alarm(0);
	}
	chi_dir_close(store);
}

CASE(test_replaced_lock_files)
{
	static const char *const names[] = {"lock.mdb", "chistore.lock"};
	for (size_t i = 0; i < 2; i++) {
		const char *path = made("locks", 4);
		struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
		int freed = 0;
		/* Not by this process: see registry.c. */
		pid_t pid = help_fork();
		if (pid == 0) {
			copy_file(file_of(path, names[i]), file_of(path, "copy"));
			_exit(rename(file_of(path, "copy"), file_of(path, names[i])) != 0);
		}
		assert_int_equal(help_child_status(pid), 0);
		assert_int_equal(chi_dir_check(store, &freed, &fault), -CHI_ESTALE);
		assert_non_null(strstr(fault.text, names[i]));
		assert_int_equal(begin_write(store), -CHI_ESTALE);
		assert_int_equal(unlink(file_of(path, names[i])), 0);
		assert_int_equal(begin_write(store), -CHI_ESTALE);
		chi_dir_close(store);
	}
}

/* Reads, writes and the end of both, in a process that has the store open already. */
static int use_cut_file(const char *path, off_t size, enum chi_dir_mode mode)
{
	chi_dir_guard_lock_files();
	struct chi_dir *store = help_open(path, mode);
	struct chi_read *read = NULL;
	struct chi_row row;
	int freed = 0;
	ok(chi_read_begin(store, &read));
	assert_int_equal(truncate(file_of(path, "lock.mdb"), size), 0);
	assert_int_equal(chi_read_row(read, &key, &row), CHI_OK);
	chi_read_end(read);
	/* Its head may be left, with the number of the last commit. */
	int rc = probe(store, &row);
	assert_true(rc == -CHI_ESTALE || (rc == CHI_OK && size > 0));
	assert_int_equal(chi_dir_check(store, &freed, &fault), -CHI_ESTALE);
	assert_non_null(strstr(fault.text, "lock.mdb' was cut to "));
	assert_int_equal(begin_write(store), mode == CHI_STORE_READ ? -CHI_EREADONLY : -CHI_ESTALE);
	chi_dir_close(store);
	return 0;
}

/* It was a SIGBUS. */
CASE(test_cut_lock_file)
{
	static const enum chi_dir_mode modes[] = {CHI_STORE_READ, CHI_STORE_WRITE};
	for (unsigned i = 0; i < 6; i++) {
		const char *path = made("cut", 4);
		pid_t pid = help_fork();
		if (pid == 0) {
			(void)alarm(PATIENCE_S);
			_exit(use_cut_file(path, (off_t[]){0, 100, 4096}[i / 2], modes[i % 2]));
		}
		assert_int_equal(help_child_status(pid), 0);
		assert_int_equal(status_of(path, CHI_STORE_WRITE, 1), CHI_OK);
	}
}

static sigjmp_buf caught;

static void on_bus(int number)
{
	siglongjmp(caught, number);
}

/* The handler of a program that cuts a file of its own is called, also if the file is named much
 * like ours: zeros were put in its place. */
CASE(test_other_cut_files)
{
	const char *path = made("other", 4);
	struct sigaction before;
	struct sigaction ours = {.sa_handler = on_bus};
	int fd = open(file_of(path, "lock.mdb.own"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, 1), 0);
	void *mapped = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	assert_int_equal(sigaction(SIGBUS, &ours, &before), 0);
	chi_dir_guard_lock_files();
	struct chi_dir *store = help_open(path, CHI_STORE_READ);
	struct chi_row row;
	assert_int_equal(ftruncate(fd, 0), 0);
	int number = sigsetjmp(caught, 1);
	if (number == 0) {
		(void)*(volatile char *)mapped;
	}
	assert_int_equal(number, SIGBUS);
	assert_int_equal(probe(store, &row), CHI_OK);
	chi_dir_close(store);
	assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
	(void)munmap(mapped, 1);
	close(fd);
}

/* The lock file is emptied under a program: no reader goes on for ever, and no writer begins again
 * at the first transaction, over the last one. */
CASE(test_zeroed_lock_file)
{
	const char *path = made("zeroed", 9);
	struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
	struct chi_row row;
	assert_int_equal(probe(store, &row), CHI_OK);
	pid_t pid = help_fork();
	if (pid == 0) {
		struct stat st;
		static const char zero[1 << 17];
		int fd = open(file_of(path, "lock.mdb"), O_WRONLY);
		_exit(fd < 0 || fstat(fd, &st) < 0 || st.st_size > (off_t)sizeof(zero) ||
		      pwrite(fd, zero, (size_t)st.st_size, 0) != st.st_size);
	}
	assert_int_equal(help_child_status(pid), 0);
	(void)alarm(PATIENCE_S);
	assert_int_equal(probe(store, &row), -CHI_ESTALE);
	assert_int_equal(begin_write(store), -CHI_ESTALE);
	(void)alarm(0);
	chi_dir_close(store);
	store = help_open(path, CHI_STORE_WRITE);
	assert_int_equal(probe(store, &row), CHI_OK);
	assert_int_equal(row.counts.white, 9);
	assert_int_equal(begin_write(store), CHI_OK);
	chi_dir_close(store);
}

/* One file in two directories, each with locks of its own. */
CASE(test_hard_links)
{
	const char *path = made("linked", 4);
	const char *other = help_path("second");
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(link(file_of(path, "data.mdb"), file_of(other, "data.mdb")), 0);
	static const enum chi_dir_mode modes[] = {CHI_STORE_READ, CHI_STORE_WRITE,
						  CHI_STORE_DAEMON};
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(help_try(path, modes[i]), -CHI_ESTALE);
		assert_non_null(strstr(fault.text, "2 hard links"));
		assert_int_equal(help_try(other, modes[i]), -CHI_ESTALE);
	}
	assert_int_equal(unlink(file_of(other, "data.mdb")), 0);
	struct chi_dir *store = help_open(path, CHI_STORE_WRITE);
	/* A copy that is never written may have as many names as it likes. */
	ok(help_publish(store, help_path("published")));
	chi_dir_close(store);
	assert_int_equal(link(file_of(help_path("published"), "data.mdb"), help_path("name")), 0);
	store = help_open(help_path("published"), CHI_STORE_READ);
	chi_dir_close(store);
}

/* In namespaces of its own: a reader on overlayfs, and a writer whose opening copies the file up.
 */
static int read_overlay(const char *path)
{
	char options[1000];
	struct chi_row row;
	(void)snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", path,
		       help_path("upper"), help_path("work"));
	const char *over = help_path("over");
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(help_path("upper"), 0700) < 0 || mkdir(help_path("work"), 0700) < 0 ||
	    mkdir(over, 0700) < 0 || mount("overlay", over, "overlay", 0, options) < 0) {
		return SKIPPED;
	}
	struct chi_dir *store = help_open(over, CHI_STORE_READ);
	assert_int_equal(probe(store, &row), CHI_OK);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(status_of(over, CHI_STORE_WRITE, 1), CHI_OK);
		int rc = probe(store, &row);
		if (rc != -CHI_ESTALE && (rc != CHI_OK || row.counts.white != 1000)) {
			return 1;
		}
	}
	return 0;
}

CASE(test_copied_up_by_overlayfs)
{
	const char *path = made("lower", 4);
	pid_t pid = help_fork();
	if (pid == 0) {
		(void)alarm(PATIENCE_S);
		_exit(read_overlay(path));
	}
	int status = help_child_status(pid);
	if (status == SKIPPED) {
		print_message("# skipped: no overlayfs can be mounted here\n");
		return;
	}
	assert_int_equal(status, 0);
}

static int choose_key(void **state)
{
	(void)state;
	key = help_key();
	return 0;
}

int main(void)
{
	int failed = cases_run(choose_key, NULL);
	help_clean();
	return failed;
}
