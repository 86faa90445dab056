/* SPDX-License-Identifier: MIT */
#include "service/program.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/fault.h"
#include "service/events.h"

enum exit_status {
	EXIT_STOPPED = 0,
	EXIT_USAGE = 2,
	EXIT_FAILED = CHI_EXIT_FAILED,
};

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

static void print_fault(const struct chi_program *program, const struct chi_fault *fault)
{
	fprintf(stderr, "%s: %s\n", program->name, fault->text);
}

static int serve(const struct chi_program *program)
{
	struct chi_fault fault = {{0}};
	struct chi_server_settings *settings = program->settings;
	settings->log.program = program->name;
	if (chi_notify_passed(&settings->passed, &fault) < 0 ||
	    chi_log_open(&settings->log, &fault) < 0) {
		print_fault(program, &fault);
		return EXIT_FAILED;
	}
	event_set_fatal_callback(chi_event_give_up);
	/* Before any thread starts. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* Until the log can be reopened, and again when the server stops: libevent puts back the
	 * handler that it found. Rotating logs must not end a process that has writes to commit. */
	signal(SIGHUP, SIG_IGN);
	int status = program->serve(program->config, &fault);
	if (status < 0) {
		log_error("fail", "{cause}", log_text("cause", fault.text));
		if (settings->log.path != NULL) {
			/* Started by hand, its user does not look into the file. */
			print_fault(program, &fault);
		}
	} else {
		log_info("stopped", "stopped");
	}
	chi_log_close();
	return status < 0 ? EXIT_FAILED : EXIT_STOPPED;
}

int chi_program_run(const struct chi_program *program, int argc, char *const argv[])
{
	struct chi_fault fault = {{0}};
	if (!occupy_standard_descriptors()) {
		return EXIT_FAILED;
	}
	int status = chi_options_parse(program->options, program->config, argc, argv, &fault);
	if (status == CHI_OK && program->settings->action == CHI_ACTION_SERVE) {
		status = program->check(program->config, &fault);
	}
	if (status < 0) {
		print_fault(program, &fault);
		fprintf(stderr, "Try '%s --help'.\n", program->name);
		return EXIT_USAGE;
	}
	switch (program->settings->action) {
	case CHI_ACTION_HELP:
		chi_options_help(program->options, stdout);
		return EXIT_STOPPED;
	case CHI_ACTION_VERSION:
		printf("%s %s\n", program->name, CHI_VERSION);
		return EXIT_STOPPED;
	default:
		return serve(program);
	}
}
