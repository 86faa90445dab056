/* SPDX-License-Identifier: MIT */
/* chistore-http: serves a store over HTTP. */
#include "http/serve.h"
#include "service/program.h"

int main(int argc, char **argv)
{
	static struct http_config config;
	const struct chi_program program = {
		.name = "chistore-http",
		.options = &http_config_options,
		.config = &config,
		.settings = &config.server,
		.check = http_config_check,
		.serve = serve,
	};
	http_config_init(&config);
	return chi_program_run(&program, argc, argv);
}
