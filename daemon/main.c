/* SPDX-License-Identifier: MIT */
/* chistored: serves stores over sockets. Command line, order of start and stop, exit status. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "daemon/settings/config.h"
#include "service/events.h"
#include "service/log.h"
#include "daemon/net/server.h"
#include "daemon/serve.h"

enum exit_status {
	EXIT_STOPPED = 0,
	EXIT_USAGE = 2,
	EXIT_FAILED = CHI_EXIT_FAILED,
};

static int complain(const struct chi_fault *fault)
{
	fprintf(stderr, "chistored: %s\nTry 'chistored --help'.\n", fault->text);
	return EXIT_USAGE;
}

static int serve(const struct chi_config *config)
{
	/* Too large for a stack that sanitizers widen. */
	static struct chi_server server;
	struct chi_fault fault = {0};
	if (chi_log_open(&config->server.log, &fault) < 0) {
		fprintf(stderr, "chistored: %s\n", fault.text);
		return EXIT_FAILED;
	}
	event_set_fatal_callback(chi_event_give_up);
	int status = chi_server_init(&server, config, &fault);
	if (status == CHI_OK) {
		status = chi_server_run(&server, &fault);
	}
	if (status < 0) {
		log_error("fail", "{cause}", log_text("cause", fault.text));
		if (config->server.log.path != NULL) {
			/* Started by hand, its user does not look into the file. */
			fprintf(stderr, "chistored: %s\n", fault.text);
		}
	}
	chi_server_deinit(&server);
	if (status == CHI_OK) {
		log_info("stopped", "stopped");
	}
	chi_log_close();
	return status == CHI_OK ? EXIT_STOPPED : EXIT_FAILED;
}

static int run_daemon(const struct chi_config *config)
{
	struct chi_fault fault = {0};
	switch (config->action) {
	case CHI_ACTION_HELP:
		chi_config_help(stdout);
		return EXIT_STOPPED;
	case CHI_ACTION_VERSION:
		puts("chistored " CHI_VERSION);
		return EXIT_STOPPED;
	default:
		return chi_config_check(config, &fault) < 0 ? complain(&fault) : serve(config);
	}
}

/* What starts us may have closed the standard descriptors. The next file opened would get such a
 * number, and with it all that is printed: a store's lock file, for one. */
static bool occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The lowest free number is what open gives. */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct chi_config config;
	struct chi_fault fault = {0};
	if (!occupy_standard_descriptors()) {
		return EXIT_FAILED;
	}
	chi_config_init(&config);
	if (chi_config_parse(&config, argc, argv, &fault) < 0) {
		return complain(&fault);
	}
	if (config.action == CHI_ACTION_SERVE && chi_notify_passed(&config.passed, &fault) < 0) {
		fprintf(stderr, "chistored: %s\n", fault.text);
		return EXIT_FAILED;
	}
	return run_daemon(&config);
}
