/* SPDX-License-Identifier: MIT */
/* chistore-http: serves a store over HTTP. Command line and exit status. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "http/serve.h"
#include "service/events.h"
#include "store/store.h"

enum exit_status {
	EXIT_STOPPED = 0,
	EXIT_USAGE = 2,
	EXIT_FAILED = CHI_EXIT_FAILED,
};

static int run_http(const struct http_config *config)
{
	struct chi_fault fault = {{0}};
	if (chi_log_open(&config->server.log, &fault) < 0) {
		fprintf(stderr, "chistore-http: %s\n", fault.text);
		return EXIT_FAILED;
	}
	event_set_fatal_callback(chi_event_give_up);
	chi_dir_guard_lock_files();
	int status = serve(config, &fault);
	if (status < 0) {
		log_error("fail", "{cause}", log_text("cause", fault.text));
		if (config->server.log.path != NULL) {
			fprintf(stderr, "chistore-http: %s\n", fault.text);
		}
	} else {
		log_info("stopped", "stopped");
	}
	chi_log_close();
	return status < 0 ? EXIT_FAILED : EXIT_STOPPED;
}

/* What starts us may have closed them, and the next file opened would get such a number. */
static bool occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	static struct http_config config;
	struct chi_fault fault = {{0}};
	if (!occupy_standard_descriptors()) {
		return EXIT_FAILED;
	}
	http_config_init(&config);
	if (http_config_parse(&config, argc, argv, &fault) < 0) {
		fprintf(stderr, "chistore-http: %s\nTry 'chistore-http --help'.\n", fault.text);
		return EXIT_USAGE;
	}
	switch (config.action) {
	case HTTP_HELP:
		http_config_help(stdout);
		return EXIT_STOPPED;
	case HTTP_VERSION:
		puts("chistore-http " CHI_VERSION);
		return EXIT_STOPPED;
	default:
		return run_http(&config);
	}
}
