/* SPDX-License-Identifier: MIT */
/* The handler does one write to a file that is open for appending, and then lets the signal take
 * its course through the handler that was there before: the default one, or a sanitizer's. */
#include "daemon/settings/crashes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/attr.h"
#include "daemon/settings/limits.h"
#include "service/log.h"

#define PATH_SIZE 4096

static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

/* What the handler uses. */
static struct sigaction before[CHI_COUNT(numbers)];
static volatile int fds[CHI_STORES_MAX];
static volatile sig_atomic_t n_fds;

static void on_crash(int number)
{
	for (sig_atomic_t i = 0; i < n_fds; i++) {
		ssize_t done = fds[i] >= 0 ? write(fds[i], "x", 1) : 0;
		(void)done;
	}
	for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
		(void)sigaction(numbers[i], &before[i], NULL);
	}
	/* Delivered when the handler returns. */
	(void)raise(number);
}

/* The path of a file in `dir`; false if it is too long. */
static bool crash_path(const char *dir, const char *name, char out[PATH_SIZE])
{
	int n = snprintf(out, PATH_SIZE, "%s/%s", dir, name);
	return n > 0 && n < PATH_SIZE;
}

/* -1 with errno if it cannot be opened or is not a plain file with one name: a link could lead to
 * any file. */
static int open_file(const char *path, struct stat *st)
{
	int fd =
		open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode) || st->st_nlink != 1)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

void chi_crashes_open(struct chi_crashes *crashes, const char *dir, uint64_t window_ms)
{
	char path[PATH_SIZE];
	struct stat st;
	*crashes = (struct chi_crashes){.fd = -1, .dir = dir};
	/* No trace in a directory that is no store, or a store that has never been written. */
	if (!crash_path(dir, "chistore.lock", path) || access(path, F_OK) < 0 ||
	    !crash_path(dir, "chistore.crashes", path) || n_fds == CHI_STORES_MAX) {
		return;
	}
	crashes->fd = open_file(path, &st);
	if (crashes->fd < 0) {
		log_warning("crashes.fail", "crashes will not be counted in '{path}' ({cause})",
			    log_text("path", path), log_text("cause", strerror(errno)));
		return;
	}
	/* Until the process ends, however it does. */
	crashes->ours = flock(crashes->fd, LOCK_EX | LOCK_NB) == 0;
	crashes->count = st.st_size < 1000 ? (unsigned)st.st_size : 1000;
	/* One of the future counts: the clock was set back since. */
	time_t now = time(NULL);
	if (st.st_mtime < now && (uint64_t)(now - st.st_mtime) * 1000 >= window_ms) {
		chi_crashes_forget(crashes);
	}
	if (n_fds == 0) {
		struct sigaction action = {.sa_handler = on_crash};
		for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
			(void)sigaction(numbers[i], &action, &before[i]);
		}
	}
	fds[n_fds] = crashes->fd;
	n_fds++;
}

void chi_crashes_forget(struct chi_crashes *crashes)
{
	if (crashes->fd >= 0 && ftruncate(crashes->fd, 0) == 0) {
		crashes->count = 0;
	}
}

void chi_crashes_close(struct chi_crashes *crashes, bool clean)
{
	char path[PATH_SIZE];
	if (crashes->dir == NULL || crashes->fd < 0) {
		return;
	}
	if (clean && crashes->ours && crash_path(crashes->dir, "chistore.crashes", path)) {
		(void)unlink(path);
	}
	for (sig_atomic_t i = 0; i < n_fds; i++) {
		if (fds[i] == crashes->fd) {
			fds[i] = -1;
		}
	}
	close(crashes->fd);
	crashes->fd = -1;
}
