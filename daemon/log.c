/* SPDX-License-Identifier: MIT */
/*
 * The log's descriptor never changes its number: reopening puts the new file under the old
 * number with dup2, so that threads that are logging need no lock.
 */
#include "daemon/log.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"

#define LINE_SIZE 1024

static const char *const names[CHI_LOG_LEVELS] = {
	[CHI_LOG_ERROR] = "error",
	[CHI_LOG_WARNING] = "warning",
	[CHI_LOG_INFO] = "info",
	[CHI_LOG_DEBUG] = "debug",
};

/* Set once before threads start. */
static struct {
	enum chi_log_level level;
	const char *path; /* NULL: standard error */
	int fd;
} target = {.level = CHI_LOG_INFO, .fd = STDERR_FILENO};

int chi_log_level_from_name(const char *name)
{
	for (int i = 0; i < CHI_LOG_LEVELS; i++) {
		if (strcmp(name, names[i]) == 0) {
			return i;
		}
	}
	return -1;
}

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
	chi_log(known ? levels[severity] : CHI_LOG_WARNING, "libevent says '%s'", text);
}

/* Whole lines of several processes may mix in one file, but never within a line. */
static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

int chi_log_open(enum chi_log_level level, const char *path, struct chi_fault *fault)
{
	target.level = level;
	target.path = path;
	event_set_log_callback(log_event);
	if (path == NULL) {
		return CHI_OK;
	}
	int fd = open_file(path);
	if (fd < 0) {
		return chi_fault(fault, -CHI_EIO, "cannot open log '%s' (%s)", path,
				 strerror(errno));
	}
	target.fd = fd;
	return CHI_OK;
}

void chi_log_close(void)
{
	if (target.fd != STDERR_FILENO) {
		close(target.fd);
		target.fd = STDERR_FILENO;
	}
}

void chi_log_reopen(void)
{
	if (target.path == NULL) {
		return;
	}
	int fd = open_file(target.path);
	if (fd < 0 || dup3(fd, target.fd, O_CLOEXEC) < 0) {
		log_error("failed to reopen log '%s' (%s)", target.path, strerror(errno));
	} else {
		log_info("reopened log");
	}
	if (fd >= 0) {
		close(fd);
	}
}

/* Files carry the time of day; whoever reads standard error (a person, the journal) has it. */
static size_t print_head(char line[LINE_SIZE], enum chi_log_level level)
{
	int len = 0;
	if (target.path != NULL) {
		struct tm tm;
		time_t now = time(NULL);
		gmtime_r(&now, &tm);
		len = (int)strftime(line, LINE_SIZE, "%Y-%m-%dT%H:%M:%SZ ", &tm);
	}
	len += snprintf(line + len, LINE_SIZE - (size_t)len, "chistored: %s: ", names[level]);
	return (size_t)len;
}

void chi_log(enum chi_log_level level, const char *format, ...)
{
	if (level > target.level) {
		return;
	}
	char line[LINE_SIZE];
	size_t head = print_head(line, level);
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(line + head, sizeof(line) - head - 1, format, arguments);
	va_end(arguments);
	size_t len = head + (n < 0 ? 0 : (size_t)n);
	if (len > sizeof(line) - 2) {
		len = sizeof(line) - 2;
	}
	/* What clients sent may stand in a message: keep it on its line. */
	for (size_t i = head; i < len; i++) {
		if ((unsigned char)line[i] < ' ' || line[i] == 127) {
			line[i] = '?';
		}
	}
	line[len++] = '\n';
	/* A log that cannot be written must not stop the server, and a pipe that nobody reads must
	 * not halt it: a line has no more than PIPE_BUF bytes, so that one which may be begun is
	 * taken whole. */
	struct pollfd room = {.fd = target.fd, .events = POLLOUT};
	if (poll(&room, 1, 0) > 0) {
		ssize_t written = write(target.fd, line, len);
		(void)written;
	}
}
