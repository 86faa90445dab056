/* SPDX-License-Identifier: MIT */
/*
 * A server that reaches a daemon by TCP or TLS must connect, which the sandbox does not allow: it
 * has none, and says so.
 */
#include "http/jail.h"

#include <string.h>

#include "service/sandbox.h"

/* A reader writes its place into the lock file. */
#define STORE_RIGHTS (CHI_MAY_READ | CHI_MAY_LIST | CHI_MAY_WRITE | CHI_MAY_CUT | CHI_MAY_CREATE)

/* A copy that is published again, or a newer mount, is another directory of that name: it is found
 * in the one above.
 */
static bool is_still(const struct http_server *server)
{
	struct chi_info info;
	return server->config->in_process && chi_store_info(server->place.head, &info) == CHI_OK &&
	       (info.read_only == CHI_READ_ONLY_PUBLISHED || info.read_only == CHI_READ_ONLY_MEDIA);
}

static void find_rules(const struct http_server *server, struct chi_sandbox_rules *rules)
{
	const struct http_config *config = server->config;
	if (config->in_process) {
		const char *path = config->address;
		path += strncmp(path, "file:", 5) == 0 ? 5 : 0;
		chi_sandbox_add(rules, path, STORE_RIGHTS);
		if (is_still(server)) {
			chi_sandbox_add_places(rules, path, CHI_MAY_READ | CHI_MAY_LIST);
		}
	}
	chi_sandbox_add_reopened(rules, config->server.access_path, CHI_MAY_READ);
	chi_sandbox_add_reopened(rules, config->token_file, CHI_MAY_READ);
	chi_sandbox_add_reopened(rules, config->server.log.path, CHI_MAY_WRITE | CHI_MAY_CREATE);
	chi_sandbox_add_system(rules, config->server.access_path != NULL);
}

static bool begins(const char *address, const char *scheme)
{
	return address != NULL && strncmp(address, scheme, strlen(scheme)) == 0;
}

static bool connects_by(const struct http_config *config, const char *scheme)
{
	return begins(config->address, scheme) || begins(config->write_to, scheme);
}

int jail_enter(const struct http_server *server, struct chi_fault *fault)
{
	const struct http_config *config = server->config;
	struct chi_sandbox_rules rules = {.paths.budget = SIZE_MAX};
	if (connects_by(config, "tcp:") || connects_by(config, "tls:")) {
		return chi_sandbox_miss(config->server.sandbox, "a daemon is connected to by TCP",
					fault);
	}
	find_rules(server, &rules);
	int status = chi_sandbox_enter(config->server.sandbox, &rules, connects_by(config, "unix:"),
				       fault);
	chi_arena_deinit(&rules.paths);
	return status;
}
