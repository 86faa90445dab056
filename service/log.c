/* SPDX-License-Identifier: MIT */
/*
 * The log's descriptor never changes its number: reopening puts the new file under the old
 * number with dup2, so that threads that are logging need no lock.
 */
#include "service/log.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/clock.h"
#include "base/file.h"

/* Names of events whose lines are counted; far more than there are. */
#define COUNTED_MAX 16

#define TIME_SIZE 40

/* Set once before threads start. */
static struct {
	struct chi_log_options options;
	int fd;
	bool journal; /* standard error is, which understands priorities */
} target = {.options = {.level = CHI_LOG_INFO}, .fd = STDERR_FILENO};

/* Lines of one name in the present window. */
struct counted {
	const char *name; /* NULL: not in use */
	enum chi_log_level level;
	int64_t began_ms;
	uint64_t lines;
	uint64_t left_out;
};

static pthread_mutex_t counted_lock = PTHREAD_MUTEX_INITIALIZER;
static struct counted counted[COUNTED_MAX];

/* ---- Where lines go ---------------------------------------------------------------------- */

/* libevent speaks rarely, and then it matters: an epoll that fails, a bad descriptor. */
static void log_event(int severity, const char *text)
{
	static const enum chi_log_level levels[] = {
		[EVENT_LOG_DEBUG] = CHI_LOG_DEBUG,
		[EVENT_LOG_MSG] = CHI_LOG_INFO,
		[EVENT_LOG_WARN] = CHI_LOG_WARNING,
		[EVENT_LOG_ERR] = CHI_LOG_ERROR,
	};
	bool known = severity >= 0 && (size_t)severity < CHI_COUNT(levels);
	CHI_LOG_AT(chi_log_limited, known ? levels[severity] : CHI_LOG_WARNING, "libevent",
		   "libevent: '{text}'", log_text("text", text));
}

/* Whole lines of several processes may mix in one file, but never within a line. */
static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

/* The service manager names the stream that it has connected to the journal; redirecting standard
 * error leaves the variable as it was. */
static bool is_journal(int fd)
{
	struct stat file;
	char name[64];
	const char *stream = getenv("JOURNAL_STREAM");
	if (stream == NULL || fstat(fd, &file) < 0) {
		return false;
	}
	snprintf(name, sizeof(name), "%llu:%llu", (unsigned long long)file.st_dev,
		 (unsigned long long)file.st_ino);
	return strcmp(stream, name) == 0;
}

int chi_log_open(const struct chi_log_options *options, struct chi_fault *fault)
{
	target.options = *options;
	event_set_log_callback(log_event);
	if (options->path == NULL) {
		target.journal = is_journal(target.fd);
		return CHI_OK;
	}
	int rc = chi_dir_files_spare(options->path, fault);
	if (rc < 0) {
		return rc;
	}
	int fd = open_file(options->path);
	if (fd < 0) {
		return chi_fail(fault, -CHI_EIO, "cannot open log '%s' (%s)", options->path,
				strerror(errno));
	}
	target.fd = fd;
	return CHI_OK;
}

void chi_log_reopen(void)
{
	const char *path = target.options.path;
	if (path == NULL) {
		return;
	}
	int fd = open_file(path);
	if (fd < 0 || dup3(fd, target.fd, O_CLOEXEC) < 0) {
		log_error("log.reopen", "failed to reopen log '{path}' ({cause})",
			  log_text("path", path), log_text("cause", strerror(errno)));
	} else {
		log_info("log.reopen", "reopened log");
	}
	if (fd >= 0) {
		close(fd);
	}
}

int chi_log_descriptor(void)
{
	return target.fd;
}

/* ---- Lines ------------------------------------------------------------------------------- */

static void print_time(char out[TIME_SIZE], bool with_fraction)
{
	struct timespec now;
	struct tm tm;
	char fraction[16] = "";
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	size_t len = strftime(out, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	if (with_fraction) {
		snprintf(fraction, sizeof(fraction), ".%06u", (unsigned)(now.tv_nsec / 1000));
	}
	snprintf(out + len, TIME_SIZE - len, "%sZ", fraction);
}

/* Only in files a text line has the time of day: a reader of standard error (a person, the journal)
 * has it. Programs always want it. */
static void write_event(int fd, const struct chi_event *event)
{
	/* Those of syslog. */
	static const int priorities[CHI_LOG_LEVELS] = {
		[CHI_LOG_ERROR] = 3,
		[CHI_LOG_WARNING] = 4,
		[CHI_LOG_INFO] = 6,
		[CHI_LOG_DEBUG] = 7,
	};
	bool json = target.options.format == CHI_LOG_JSON;
	char time[TIME_SIZE];
	char line[CHI_LOG_LINE_SIZE];
	struct chi_log_head head = {
		.program = target.options.program,
		.time = json || target.options.path != NULL ? time : NULL,
		.priority = target.journal ? priorities[event->level] : -1,
		.pid = (int)getpid(),
	};
	if (head.time != NULL) {
		print_time(time, json);
	}
	size_t len = chi_log_line(target.options.format, &head, event, line);
	/* A log that cannot be written must not stop the server, and a pipe that no one reads must
	 * not halt it: a line has no more than PIPE_BUF bytes, so that one which may be begun is
	 * taken whole. */
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	if (poll(&room, 1, 0) > 0) {
		ssize_t written = write(fd, line, len);
		(void)written;
	}
}

bool chi_log_wants(enum chi_log_level level)
{
	return level <= target.options.level;
}

void chi_log(const struct chi_event *event)
{
	if (chi_log_wants(event->level)) {
		write_event(target.fd, event);
	}
}

void chi_log_ready(const char *addresses)
{
	if (target.options.format == CHI_LOG_TEXT) {
		dprintf(STDERR_FILENO, "%s: ready, listening on %s\n",
			target.options.program != NULL ? target.options.program : "chistored",
			addresses);
		return;
	}
	write_event(STDERR_FILENO,
		    &(struct chi_event){CHI_LOG_INFO, "ready", "ready, listening on {addresses}",
					CHI_LOG_FIELDS(log_text("addresses", addresses))});
}

/* ---- Lines that are left out ------------------------------------------------------------- */

/* The place of that name; NULL if there are none left. */
static struct counted *counter_of(const char *name)
{
	for (size_t i = 0; i < COUNTED_MAX; i++) {
		if (counted[i].name == NULL || strcmp(counted[i].name, name) == 0) {
			return &counted[i];
		}
	}
	return NULL;
}

/* A new window begins; what was left out in the old one is reported. */
static void turn_over(struct counted *one, int64_t now_ms)
{
	struct counted before = *one;
	one->began_ms = now_ms;
	one->lines = 0;
	one->left_out = 0;
	if (before.left_out > 0) {
		CHI_LOG_AT(chi_log, before.level, "log.left_out",
			   "left out {lines} lines of event '{of}' in {seconds} s",
			   log_number("lines", before.left_out), log_text("of", before.name),
			   log_seconds("seconds", (double)(now_ms - before.began_ms) / 1000));
	}
}

void chi_log_limited(const struct chi_event *event)
{
	if (!chi_log_wants(event->level)) {
		return;
	}
	int64_t now_ms = chi_now_ms();
	bool wanted = true;
	pthread_mutex_lock(&counted_lock);
	struct counted *one = counter_of(event->name);
	if (one != NULL) {
		if (one->name == NULL || now_ms - one->began_ms >= CHI_LOG_WINDOW_MS) {
			turn_over(one, now_ms);
		}
		one->name = event->name;
		one->level = event->level;
		wanted = one->lines < CHI_LOG_BURST;
		one->lines += wanted ? 1 : 0;
		one->left_out += wanted ? 0 : 1;
	}
	pthread_mutex_unlock(&counted_lock);
	if (wanted) {
		chi_log(event);
	}
}

/* Those whose windows are over, or all. */
static void tell_left_out(bool all)
{
	int64_t now_ms = chi_now_ms();
	pthread_mutex_lock(&counted_lock);
	for (size_t i = 0; i < COUNTED_MAX && counted[i].name != NULL; i++) {
		if (all || now_ms - counted[i].began_ms >= CHI_LOG_WINDOW_MS) {
			turn_over(&counted[i], now_ms);
		}
	}
	pthread_mutex_unlock(&counted_lock);
}

void chi_log_tick(void)
{
	tell_left_out(false);
}

void chi_log_close(void)
{
	tell_left_out(true);
	if (target.fd != STDERR_FILENO) {
		close(target.fd);
		target.fd = STDERR_FILENO;
	}
}
