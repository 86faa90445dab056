/* SPDX-License-Identifier: MIT */
/* The child's pipes and its end. */
#include "uci/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/clock.h"
#include "base/fault.h"

#define HELLO_MS 10000 /* large tables and networks are loaded meanwhile */
#define READY_MS 10000
#define QUIT_MS	 1000

#define LINES_BEFORE 10000 /* an answer that is waited for; with more it is no engine */

extern char **environ;

struct chi_child {
	pid_t pid;
	int to;
	int from;
	size_t begin; /* of what was read and not yet delivered */
	size_t end;
	char name[CHI_ENGINE_MAX + 1];
	unsigned options; /* enum chi_child_option */
	bool skips;	  /* the rest of a line that was too long */
	char bytes[CHI_CHILD_LINE];
};

/* Its stderr is ours; all else of ours it does not see. If we die, writing kills it. */
static int spawn(struct chi_child *child, char **words)
{
	int to[2] = {-1, -1};
	int from[2] = {-1, -1};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	if (pipe2(to, O_CLOEXEC) != 0) {
		return errno;
	}
	if (pipe2(from, O_CLOEXEC) != 0) {
		int error = errno;
		close(to[0]);
		close(to[1]);
		return error;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], 0);
	posix_spawn_file_actions_adddup2(&actions, from[1], 1);
	posix_spawnattr_init(&attributes);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	/* A group of its own: an engine that a script starts can be killed with the script. */
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	int error = posix_spawnp(&child->pid, words[0], &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	child->to = to[1];
	child->from = from[0];
	if (error != 0) {
		child->pid = -1;
	} else {
		/* A child that does not read must not hold us. */
		(void)fcntl(child->to, F_SETFL, O_NONBLOCK);
	}
	return error;
}

/* Of what is no plain ASCII nothing is kept. */
static void take_name(struct chi_child *child, const char *name)
{
	size_t n = 0;
	for (; *name != '\0' && n < CHI_ENGINE_MAX; name++) {
		if (*name >= ' ' && *name <= '~') {
			child->name[n++] = *name;
		}
	}
	while (n > 0 && child->name[n - 1] == ' ') {
		n--;
	}
	child->name[n] = '\0';
}

const char *chi_child_name(const struct chi_child *child)
{
	return child->name[0] != '\0' ? child->name : "engine";
}

static void take_option(struct chi_child *child, const char *line)
{
	if (strncmp(line, "option name MultiPV ", 20) == 0) {
		child->options |= CHI_CHILD_MULTIPV;
	} else if (strncmp(line, "option name UCI_Chess960 ", 25) == 0) {
		child->options |= CHI_CHILD_CHESS960;
	}
}

bool chi_child_has(const struct chi_child *child, enum chi_child_option option)
{
	return (child->options & option) != 0;
}

/* Reads up to the line `word`, for `ms` at most. */
static int wait_for(struct chi_child *child, const char *word, int ms)
{
	int64_t until = chi_now_ms() + ms;
	const char *line;
	for (int i = 0; i < LINES_BEFORE; i++) {
		int64_t left = until - chi_now_ms();
		int rc = left < 0 ? -CHI_ETIMEOUT : chi_child_line(child, (int)left, &line);
		if (rc != CHI_OK || strcmp(line, word) == 0) {
			return rc;
		}
		if (strncmp(line, "id name ", 8) == 0) {
			take_name(child, line + 8);
		}
		take_option(child, line);
	}
	return -CHI_ETIMEOUT;
}

static int hello(struct chi_child *child)
{
	chi_child_send(child, "uci");
	return wait_for(child, "uciok", HELLO_MS);
}

int chi_child_open(const char *command, struct chi_child **out, struct chi_fault *fault)
{
	wordexp_t words;
	*out = NULL;
	int split = wordexp(command, &words, WRDE_NOCMD | WRDE_UNDEF);
	if (split != 0 || words.we_wordc == 0) {
		if (split == 0 || split == WRDE_NOSPACE) {
			wordfree(&words);
		}
		return chi_fault(fault, -CHI_ESYNTAX, "not a command: '%.100s'", command);
	}
	struct chi_child *child = calloc(1, sizeof(*child));
	if (child == NULL) {
		wordfree(&words);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int error = spawn(child, words.we_wordv);
	wordfree(&words);
	if (error != 0) {
		chi_child_close(child);
		return chi_fault(fault, -CHI_EINVAL, "cannot start '%.100s' (%s)", command,
				 strerror(error));
	}
	int rc = hello(child);
	if (rc != CHI_OK) {
		chi_child_close(child);
		return chi_fault(fault, -CHI_ETIMEOUT, "'%.100s' %s", command,
				 rc == CHI_NONE ? "ended at once" : "does not answer 'uci'");
	}
	*out = child;
	return CHI_OK;
}

/* It stays to be waited for. */
static bool has_ended(const struct chi_child *child)
{
	siginfo_t info = {.si_pid = 0};
	return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
	       info.si_pid != 0;
}

void chi_child_close(struct chi_child *child)
{
	if (child == NULL) {
		return;
	}
	if (child->pid > 0) {
		chi_child_send(child, "quit");
		int64_t until = chi_now_ms() + QUIT_MS;
		while (!has_ended(child) && chi_now_ms() < until) {
			/* It may wait for us to read. */
			struct pollfd from = {.fd = child->from, .events = POLLIN};
			if (poll(&from, 1, 10) > 0 &&
			    read(child->from, child->bytes, sizeof(child->bytes)) <= 0) {
				(void)poll(NULL, 0, 10);
			}
		}
		/* Until it is waited for, the number of its group is of no other. */
		(void)kill(-child->pid, SIGKILL);
		(void)waitpid(child->pid, NULL, 0);
		close(child->to);
		close(child->from);
	}
	free(child);
}

void chi_child_send(struct chi_child *child, const char *line)
{
	size_t len = strlen(line);
	char *text = malloc(len + 1);
	if (text == NULL) {
		return;
	}
	memcpy(text, line, len);
	text[len] = '\n';
	/* Up to PIPE_BUF at once or not at all; of longer ones the rest is tried for a second. */
	int64_t until = chi_now_ms() + QUIT_MS;
	for (size_t at = 0; at < len + 1 && chi_now_ms() <= until;) {
		ssize_t n = write(child->to, text + at, len + 1 - at);
		if (n > 0) {
			at += (size_t)n;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			break;
		} else {
			struct pollfd to = {.fd = child->to, .events = POLLOUT};
			(void)poll(&to, 1, 100);
		}
	}
	free(text);
}

/* A whole line of what was read; NULL: there is none yet. */
static char *take_line(struct chi_child *child)
{
	char *begin = child->bytes + child->begin;
	char *stop = memchr(begin, '\n', child->end - child->begin);
	if (stop == NULL) {
		return NULL;
	}
	*stop = '\0';
	child->begin = (size_t)(stop - child->bytes) + 1;
	if (stop > begin && stop[-1] == '\r') {
		stop[-1] = '\0';
	}
	return begin;
}

/* CHI_OK: more was read. */
static int read_more(struct chi_child *child, int ms)
{
	if (child->begin > 0) {
		memmove(child->bytes, child->bytes + child->begin, child->end - child->begin);
		child->end -= child->begin;
		child->begin = 0;
	}
	if (child->end == sizeof(child->bytes)) {
		child->end = 0;
		child->skips = true;
	}
	struct pollfd from = {.fd = child->from, .events = POLLIN};
	int ready = poll(&from, 1, ms);
	if (ready < 0) {
		return errno == EINTR ? CHI_OK : CHI_NONE;
	}
	if (ready == 0) {
		return -CHI_ETIMEOUT;
	}
	ssize_t n = read(child->from, child->bytes + child->end, sizeof(child->bytes) - child->end);
	if (n <= 0) {
		return n < 0 && errno == EINTR ? CHI_OK : CHI_NONE;
	}
	child->end += (size_t)n;
	return CHI_OK;
}

int chi_child_line(struct chi_child *child, int ms, const char **line)
{
	int64_t until = chi_now_ms() + ms;
	for (;;) {
		char *found = take_line(child);
		if (found != NULL && !child->skips) {
			*line = found;
			return CHI_OK;
		}
		if (found != NULL) {
			child->skips = false;
			continue;
		}
		int64_t left = until - chi_now_ms();
		if (ms >= 0 && left < 0) {
			return -CHI_ETIMEOUT;
		}
		int rc = read_more(child, ms < 0 ? -1 : (int)left);
		if (rc != CHI_OK) {
			return rc;
		}
	}
}

int chi_child_ready(struct chi_child *child)
{
	chi_child_send(child, "isready");
	return wait_for(child, "readyok", READY_MS);
}
