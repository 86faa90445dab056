/* SPDX-License-Identifier: MIT */
/*
 * The handler may run in any thread at any instruction: it calls what POSIX allows there, formats
 * its line by hand and writes it with one call to a file that is open for appending, so that
 * neither locks nor memory are needed. Then the signal takes its course, through whatever handler
 * was there before.
 */
#include "daemon/status/crashes.h"

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
#include "base/num.h"
#include "daemon/limits.h"
#include "daemon/status/log.h"

#define FILE_NAME "chistore.crashes"
#define FILE_MODE 0600
#define PATH_SIZE 4096

/* What is read of the file, its end; it is cut when it is longer. */
#define FILE_MOST 4096

/* Room for "\ncrash SECONDS SIGNAL\n". */
#define LINE_SIZE 64

static const char word[] = "crash ";

/* What a handler may use. */
static volatile int fds[CHI_STORES_MAX];
static volatile sig_atomic_t n_fds;
static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS};
static struct sigaction before[CHI_COUNT(numbers)];
static atomic_flag writing = ATOMIC_FLAG_INIT;

/* ---- Crashing -------------------------------------------------------------------------------- */

static size_t put_number(char *out, uint64_t number)
{
	char digits[20];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	for (size_t i = 0; i < n; i++) {
		out[i] = digits[n - 1 - i];
	}
	return n;
}

static void write_line(int number)
{
	char line[LINE_SIZE];
	struct timespec now = {0};
	size_t n = sizeof(word);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	/* Behind whatever stands there, a line of its own. */
	line[0] = '\n';
	memcpy(line + 1, word, n - 1);
	n += put_number(line + n, (uint64_t)now.tv_sec);
	line[n++] = ' ';
	n += put_number(line + n, (uint64_t)number);
	line[n++] = '\n';
	for (sig_atomic_t i = 0; i < n_fds; i++) {
		ssize_t done = fds[i] >= 0 ? write(fds[i], line, n) : 0;
		(void)done;
	}
}

/* True if what the signal tells of happens again as soon as the handler returns: a fault of the
 * program itself. Not one that was sent, nor a system call that was not made, nor a page of memory
 * that was found broken before it was needed. */
static bool happens_again(int number, const siginfo_t *info)
{
	return info->si_code > 0 && number != SIGSYS &&
	       !(number == SIGBUS && info->si_code == BUS_MCEERR_AO);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	static const struct timespec second = {1, 0};
	(void)context;
	if (!atomic_flag_test_and_set(&writing)) {
		write_line(number);
	} else {
		/* Of another thread that crashes: its line must be out before the process ends. */
		(void)nanosleep(&second, NULL);
	}
	for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
		if (numbers[i] == number) {
			(void)sigaction(number, &before[i], NULL);
		}
	}
	if (!happens_again(number, info)) {
		(void)raise(number);
	}
}

void chi_crashes_stack(struct chi_crash_stack *stack)
{
	const stack_t ours = {.ss_sp = stack->bytes, .ss_size = sizeof(stack->bytes)};
	stack_t there;
	/* A sanitizer's own stays, which it frees when the thread ends. */
	if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE) != 0) {
		(void)sigaltstack(&ours, NULL);
	}
}

static void watch(void)
{
	static struct chi_crash_stack stack;
	struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	chi_crashes_stack(&stack);
	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < CHI_COUNT(numbers); i++) {
		(void)sigaction(numbers[i], &action, &before[i]);
	}
}

/* ---- Remembering ----------------------------------------------------------------------------- */

struct line {
	uint64_t seconds;
	uint64_t number;
};

/* "crash SECONDS SIGNAL" and nothing else. */
static bool parse(const char *text, size_t len, struct line *out)
{
	size_t skip = sizeof(word) - 1;
	if (len <= skip || memcmp(text, word, skip) != 0) {
		return false;
	}
	const char *seconds = text + skip;
	const char *end = text + len;
	const char *space = memchr(seconds, ' ', (size_t)(end - seconds));
	return space != NULL &&
	       chi_num_u64(seconds, (size_t)(space - seconds), UINT64_MAX, &out->seconds) == 0 &&
	       chi_num_u64(space + 1, (size_t)(end - space - 1), NSIG, &out->number) == 0;
}

/* Counts the lines that are whole and young enough. One of the future counts: the clock was set
 * back since. Leaves these lines alone in `text`, and returns their length. */
static size_t count(struct chi_crashes *crashes, char *text, size_t len, uint64_t window_ms)
{
	uint64_t now = (uint64_t)time(NULL);
	size_t kept = 0;
	size_t at = 0;
	while (at < len) {
		const char *newline = memchr(text + at, '\n', len - at);
		struct line line;
		if (newline == NULL) {
			break;
		}
		size_t n = (size_t)(newline - (text + at));
		if (parse(text + at, n, &line) &&
		    (line.seconds >= now || (now - line.seconds) * 1000 < window_ms)) {
			crashes->count++;
			crashes->last_signal = (unsigned)line.number;
			memmove(text + kept, text + at, n + 1);
			kept += n + 1;
		}
		at += n + 1;
	}
	return kept;
}

/* The path in `dir`; false if it is too long. */
static bool place(const char *dir, const char *name, char out[PATH_SIZE])
{
	int n = snprintf(out, PATH_SIZE, "%s/%s", dir, name);
	return n > 0 && n < PATH_SIZE;
}

/* -1 with errno if it cannot be had, or is no plain file of its own: a link, be it a hard one,
 * could lead to any file. */
static int open_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		      FILE_MODE);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* A disk that is full when a crash comes has room for its line. Where the file system cannot do
 * that the crash may go uncounted. */
static void reserve(int fd)
{
	struct stat st;
	if (fstat(fd, &st) == 0) {
		(void)fallocate(fd, FALLOC_FL_KEEP_SIZE, st.st_size, LINE_SIZE);
	}
}

static void read_file(struct chi_crashes *crashes, uint64_t window_ms)
{
	char text[FILE_MOST];
	struct stat st = {0};
	(void)fstat(crashes->fd, &st);
	off_t from = st.st_size > FILE_MOST ? st.st_size - FILE_MOST : 0;
	ssize_t n = pread(crashes->fd, text, sizeof(text), from);
	size_t kept = n > 0 ? count(crashes, text, (size_t)n, window_ms) : 0;
	if (from > 0 && ftruncate(crashes->fd, 0) == 0) {
		/* Cut short by a crash, there are too few of them: that does no harm. */
		ssize_t done = write(crashes->fd, text, kept);
		(void)done;
	}
}

void chi_crashes_open(struct chi_crashes *crashes, const char *dir, uint64_t window_ms)
{
	char path[PATH_SIZE];
	*crashes = (struct chi_crashes){.fd = -1, .dir = dir};
	/* No trace in a directory that holds something else, or that nobody writes: who may write
	 * a store has made this file. */
	if (!place(dir, "chistore.lock", path) || access(path, F_OK) < 0 ||
	    !place(dir, FILE_NAME, path) || n_fds == CHI_STORES_MAX) {
		return;
	}
	crashes->fd = open_file(path);
	if (crashes->fd < 0) {
		log_warning("crashes.fail", "crashes will not be counted in '{path}' ({cause})",
			    log_text("path", path), log_text("cause", strerror(errno)));
		return;
	}
	/* Until the process ends, however it does. */
	crashes->ours = flock(crashes->fd, LOCK_EX | LOCK_NB) == 0;
	read_file(crashes, window_ms);
	reserve(crashes->fd);
	fds[n_fds] = crashes->fd;
	n_fds++;
	if (n_fds == 1) {
		watch();
	}
}

void chi_crashes_forget(struct chi_crashes *crashes)
{
	if (crashes->fd >= 0 && ftruncate(crashes->fd, 0) == 0) {
		crashes->count = 0;
		reserve(crashes->fd);
	}
}

void chi_crashes_close(struct chi_crashes *crashes, bool clean)
{
	char path[PATH_SIZE];
	if (crashes->dir == NULL || crashes->fd < 0) {
		return;
	}
	if (clean && crashes->ours) {
		chi_crashes_forget(crashes);
		if (place(crashes->dir, FILE_NAME, path)) {
			(void)unlink(path);
		}
	}
	for (sig_atomic_t i = 0; i < n_fds; i++) {
		if (fds[i] == crashes->fd) {
			fds[i] = -1;
		}
	}
	close(crashes->fd);
	crashes->fd = -1;
}
