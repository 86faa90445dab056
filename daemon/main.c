/* SPDX-License-Identifier: MIT */
/* chistored: serves stores over sockets. */
#include "daemon/net/server.h"
#include "daemon/serve.h"
#include "daemon/settings/config.h"
#include "service/program.h"

static int serve_stores(const void *config, struct chi_fault *fault)
{
	/* Too large for a stack that sanitizers widen. */
	static struct chi_server server;
	int status = chi_server_init(&server, config, fault);
	if (status == CHI_OK) {
		status = chi_server_run(&server, fault);
	}
	chi_server_deinit(&server);
	return status;
}

int main(int argc, char **argv)
{
	static struct chi_config config;
	const struct chi_program program = {
		.name = "chistored",
		.options = &chi_config_options,
		.config = &config,
		.settings = &config.server,
		.check = chi_config_check,
		.serve = serve_stores,
	};
	chi_config_init(&config);
	return chi_program_run(&program, argc, argv);
}
