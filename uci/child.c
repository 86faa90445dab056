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
#include <strings.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/clock.h"
#include "base/fault.h"

#define HELLO_MS 10000 /* large tables and networks are loaded meanwhile */
#define QUIT_MS	 1000

#define LINES_BEFORE 10000 /* `uciok`; with more it is no engine */
#define OPTION_NAME  "option name "
#define OPTIONS_MAX  512
#define OPTION_MAX   8192      /* bytes of a line; longer ones are left out */
#define PIPE_BYTES   (1 << 20) /* commands that it may leave unread */
#define READS_MAX    16	       /* of what it says after `quit`, at once */

extern char **environ;

struct chi_child {
	pid_t pid;
	int to;
	int from;
	size_t begin; /* of what was read and not yet delivered */
	size_t end;
	char name[CHI_ENGINE_MAX + 1];
	char *options[OPTIONS_MAX];
	size_t n_options;
	bool skips; /* the rest of a line that was too long */
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
	if (error == 0) {
		/* A child that does not read must not hold us. */
		(void)fcntl(child->to, F_SETFL, O_NONBLOCK);
		(void)fcntl(child->to, F_SETPIPE_SZ, PIPE_BYTES);
	}
	return error;
}

/* Of what is no plain ASCII nothing is kept. */
static void take_child_name(struct chi_child *child, const char *name)
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
	if (child->n_options < OPTIONS_MAX && strlen(line) <= OPTION_MAX) {
		child->options[child->n_options] = strdup(line);
		child->n_options += child->options[child->n_options] != NULL;
	}
}

bool chi_child_hello(struct chi_child *child, const char *line)
{
	if (strncmp(line, "id name ", 8) == 0) {
		take_child_name(child, line + 8);
	} else if (strncmp(line, OPTION_NAME, strlen(OPTION_NAME)) == 0) {
		take_option(child, line);
	}
	return strcmp(line, "uciok") == 0;
}

bool chi_child_has(const struct chi_child *child, const char *option)
{
	size_t len = strlen(option);
	for (size_t i = 0; i < child->n_options; i++) {
		const char *name = child->options[i] + strlen(OPTION_NAME);
		if (strncasecmp(name, option, len) == 0 && strncmp(name + len, " type", 5) == 0) {
			return true;
		}
	}
	return false;
}

const char *chi_child_option(const struct chi_child *child, size_t i)
{
	return i < child->n_options ? child->options[i] : NULL;
}

static int wait_for_hello(struct chi_child *child)
{
	int64_t until = chi_now_ms() + HELLO_MS;
	const char *line;
	for (int i = 0; i < LINES_BEFORE; i++) {
		int64_t left = until - chi_now_ms();
		int rc = left < 0 ? -CHI_ETIMEOUT : chi_child_line(child, (int)left, &line);
		if (rc != CHI_OK || chi_child_hello(child, line)) {
			return rc;
		}
	}
	return -CHI_ETIMEOUT;
}

static void drop_child(struct chi_child *child)
{
	for (size_t i = 0; i < child->n_options; i++) {
		free(child->options[i]);
	}
	if (child->to >= 0) {
		close(child->to);
		close(child->from);
	}
	free(child);
}

int chi_child_start(const char *command, struct chi_child **out, struct chi_fault *fault)
{
	wordexp_t words;
	*out = NULL;
	int split = wordexp(command, &words, WRDE_NOCMD | WRDE_UNDEF);
	if (split != 0 || words.we_wordc == 0) {
		if (split == 0 || split == WRDE_NOSPACE) {
			wordfree(&words);
		}
		return chi_fail(fault, -CHI_ESYNTAX, "not a command: '%.100s'", command);
	}
	struct chi_child *child = calloc(1, sizeof(*child));
	if (child == NULL) {
		wordfree(&words);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	child->to = child->from = -1;
	int error = spawn(child, words.we_wordv);
	wordfree(&words);
	if (error != 0) {
		drop_child(child);
		return chi_fail(fault, -CHI_EINVAL, "cannot start '%.100s' (%s)", command,
				strerror(error));
	}
	chi_child_send(child, "uci");
	*out = child;
	return CHI_OK;
}

int chi_child_open(const char *command, struct chi_child **out, struct chi_fault *fault)
{
	int rc = chi_child_start(command, out, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = wait_for_hello(*out);
	if (rc != CHI_OK) {
		chi_child_close(*out);
		*out = NULL;
		return chi_fail(fault, -CHI_ETIMEOUT, "'%.100s' %s", command,
				rc == CHI_NONE ? "ended at once" : "does not answer 'uci'");
	}
	return CHI_OK;
}

/* ---- Its end -------------------------------------------------------------------------------- */

/* It may wait for us to read, before it looks at `quit`. */
static void read_the_rest(struct chi_child *child)
{
	struct pollfd from = {.fd = child->from, .events = POLLIN};
	for (int i = 0; i < READS_MAX && poll(&from, 1, 0) > 0; i++) {
		if (read(child->from, child->bytes, sizeof(child->bytes)) <= 0) {
			return;
		}
	}
}

void chi_child_quit(struct chi_child *child)
{
	chi_child_send(child, "quit");
}

bool chi_child_reap(struct chi_child *child, bool kills)
{
	siginfo_t info = {.si_pid = 0};
	if (kills) {
		(void)kill(-child->pid, SIGKILL);
	}
	/* It stays to be waited for: until then the number of its group is of no other. */
	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == 0) {
		read_the_rest(child);
		return false;
	}
	(void)kill(-child->pid, SIGKILL);
	(void)waitpid(child->pid, NULL, 0);
	drop_child(child);
	return true;
}

void chi_child_close(struct chi_child *child)
{
	if (child == NULL) {
		return;
	}
	chi_child_quit(child);
	int64_t until = chi_now_ms() + QUIT_MS;
	while (!chi_child_reap(child, chi_now_ms() > until)) {
		(void)poll(NULL, 0, 10);
	}
}

/* ---- Lines ---------------------------------------------------------------------------------- */

void chi_child_send(struct chi_child *child, const char *line)
{
	size_t len = strlen(line);
	char end[] = "\n";
	struct iovec parts[] = {{(void *)(uintptr_t)line, len}, {end, 1}};
	ssize_t n;
	do {
		n = writev(child->to, parts, 2);
	} while (n < 0 && errno == EINTR);
	if (n < 0 || (size_t)n < len + 1) {
		/* The rest of a line that was cut would be read as another. */
		(void)kill(-child->pid, SIGKILL);
	}
}

int chi_child_fd(const struct chi_child *child)
{
	return child->from;
}

/* A whole line of what was read; NULL: there is none yet. */
static char *take_child_line(struct chi_child *child)
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
		char *found = take_child_line(child);
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
