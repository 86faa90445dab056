/* SPDX-License-Identifier: MIT */
/*
 * chistore quickstart: from files of games to the page in a browser. Does nothing of its own: it
 * runs `chistore import`, becomes chistore-http, and has the browser opened when that is ready.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"

#define DEFAULT_STORE  "./games"
#define DEFAULT_LISTEN "tcp:127.0.0.1:8080"

struct quickstart_state {
	const char *listen;
	bool no_browser;
};

/* The path of this program, or its name where that is not known. */
static const char *own_path(char path[static PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	if (len <= 0) {
		return "chistore";
	}
	path[len] = '\0';
	return path;
}

/* posix_spawn writes no argument, though its type does not say so. */
static char *argument(const char *text)
{
	char *same = NULL;
	memcpy(&same, &text, sizeof(same));
	return same;
}

static int import_files(const struct cli *cli, const char *dir)
{
	char self[PATH_MAX];
	_cleanup_(chi_freep) char **args = calloc((size_t)cli->argc + 8, sizeof(*args));
	if (args == NULL) {
		return cli_no_memory();
	}
	size_t n = 0;
	args[n++] = argument("chistore");
	args[n++] = argument("-a");
	args[n++] = argument(dir);
	args[n++] = argument("import");
	if (cli->quiet) {
		args[n++] = argument("--quiet");
	}
	if (cli->json) {
		args[n++] = argument("--json");
	}
	args[n++] = argument("--");
	for (int i = 0; i < cli->argc; i++) {
		args[n++] = cli->argv[i];
	}
	pid_t pid = -1;
	int status = 0;
	int error = posix_spawnp(&pid, own_path(self), NULL, NULL, args, environ);
	while (error == 0 && waitpid(pid, &status, 0) < 0) {
		error = errno != EINTR ? errno : 0;
	}
	if (error != 0) {
		cli_message("cannot run the import: %s", strerror(error));
		return EXIT_STORE;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- The browser --------------------------------------------------------------------------- */

/* Opens the page once the server says on `fd` that it is ready, as it would to a service manager.
 * Then takes what else it says until it ends, which a descriptor of its process shows. */
static _Noreturn void open_when_ready(int fd, int server, const char *url)
{
	char said[64] = "";
	bool opened = false;
	struct pollfd on[] = {{.fd = fd, .events = POLLIN}, {.fd = server, .events = POLLIN}};
	(void)signal(SIGCHLD, SIG_IGN);
	/* Ctrl-C is for the server. */
	(void)setsid();
	while (poll(on, CHI_COUNT(on), -1) > 0 && on[1].revents == 0) {
		ssize_t len = recv(fd, said, sizeof(said) - 1, 0);
		said[len > 0 ? len : 0] = '\0';
		bool ready = !opened && strstr(said, "READY=1") != NULL;
		opened |= ready;
		if (ready && fork() == 0) {
			(void)signal(SIGCHLD, SIG_DFL);
			(void)unsetenv("NOTIFY_SOCKET");
			(void)execlp("xdg-open", "xdg-open", url, (char *)NULL);
			_exit(EXIT_STORE);
		}
	}
	_exit(EXIT_DONE);
}

/* A socket that the server reports to: a name without a file, given by the kernel. -1: none. */
static int listen_for_ready(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(sa_family_t);
	char text[sizeof(name.sun_path) + 1] = "@";
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&name, len) == 0) {
		len = sizeof(name);
		if (getsockname(fd, (struct sockaddr *)&name, &len) == 0) {
			memcpy(text + 1, name.sun_path + 1, len - sizeof(sa_family_t) - 1);
			if (setenv("NOTIFY_SOCKET", text, 1) == 0) {
				return fd;
			}
		}
	}
	if (fd >= 0) {
		close(fd);
	}
	return -1;
}

/* Without a display, or where something fails, the user opens the page: the server prints where. */
static void prepare_browser(const char *listen)
{
	char url[256];
	int fd = -1;
	if ((getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL) ||
	    strncmp(listen, "tcp:", 4) != 0 || strcmp(strrchr(listen, ':'), ":0") == 0 ||
	    (fd = listen_for_ready()) < 0) {
		return;
	}
	(void)snprintf(url, sizeof(url), "http://%s/", listen + 4);
	int server = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (server >= 0 && fork() == 0) {
		open_when_ready(fd, server, url);
	}
	if (server >= 0) {
		close(server);
	}
	close(fd);
}

/* ---- The command --------------------------------------------------------------------------- */

/* The server beside this program, else that of PATH. Returns only if there is none. */
static int become_server(const char *dir, const char *listen)
{
	char path[PATH_MAX + sizeof("-http")];
	const char *self = own_path(path);
	if (self == path) {
		strcat(path, "-http");
		(void)execl(path, "chistore-http", "-a", dir, "--listen", listen, (char *)NULL);
	}
	(void)execlp("chistore-http", "chistore-http", "-a", dir, "--listen", listen, (char *)NULL);
	cli_message("the games are in %s; cannot run chistore-http, which shows them: %s", dir,
		    strerror(errno));
	return EXIT_STORE;
}

static int run_quickstart(struct cli *cli)
{
	const struct quickstart_state *state = cli->state;
	const char *dir = cli->address != NULL ? cli->address : DEFAULT_STORE;
	const char *listen = state->listen != NULL ? state->listen : DEFAULT_LISTEN;
	if (cli->address != NULL && cli_is_remote(cli)) {
		return cli_usage(cli, "'%s' is a server's store; give a directory", dir);
	}
	int code = import_files(cli, dir);
	if (code != EXIT_DONE) {
		return code;
	}
	if (!cli->quiet) {
		(void)fprintf(stderr, "The games are in %s: chistore -a '%s' explore\n", dir, dir);
	}
	if (!state->no_browser) {
		prepare_browser(listen);
	}
	return become_server(dir, listen);
}

static const struct cli_option options[] = {
	OPTION_TEXT(quickstart_state, listen, "listen", "ADDRESS",
		    "where the page is served (default: " DEFAULT_LISTEN ")"),
	OPTION_FLAG(quickstart_state, no_browser, "no-browser",
		    "do not open the page in a browser"),
	OPTIONS_END,
};

const struct command cmd_quickstart = {
	.name = "quickstart",
	.arguments = "FILE.pgn...",
	.summary = "import games, and open the page of them in a browser",
	.help = "Imports the files into the store of the address, " DEFAULT_STORE
		" without one, as 'import'\n"
		"does, then serves it by chistore-http until Ctrl-C. Where there is a display the\n"
		"page is opened in a browser, by xdg-open. Repeated with the same files it adds\n"
		"nothing and shows the page again.",
	.example = "chistore quickstart my-games.pgn\n"
		   "chistore -a ./masters quickstart masters.pgn.zst --listen tcp:127.0.0.1:8081",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_NOTHING,
	.state_size = sizeof(struct quickstart_state),
	.run = run_quickstart,
};
