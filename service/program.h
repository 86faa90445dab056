/* SPDX-License-Identifier: MIT */
/* The outermost part of a server program: its command line, its log, its exit status. */
#pragma once

#include "chistore/types.h"
#include "service/options.h"

struct chi_program {
	const char *name;
	const struct chi_option_table *options;
	void *config;			      /* with its initial values */
	struct chi_server_settings *settings; /* of it */
	/* What no option can tell alone; -CHI_EINVAL, -CHI_ESYNTAX. */
	int (*check)(void *config, struct chi_fault *fault);
	/* Serves until the end; the log is open, and signals that would end the process are
	 * ignored. */
	int (*serve)(const void *config, struct chi_fault *fault);
};

/* What main returns: 0 stopped, 2 usage, CHI_EXIT_FAILED. */
int chi_program_run(const struct chi_program *program, int argc, char *const argv[]);
