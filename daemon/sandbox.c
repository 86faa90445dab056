/* SPDX-License-Identifier: MIT */
/* What the daemon opens once it serves. */
#include "daemon/sandbox.h"

#include <sys/prctl.h>

#include "daemon/net/server.h"
#include "service/sandbox.h"
#include "store/store.h"

#define STORE_RIGHTS                                                                               \
	(CHI_MAY_READ | CHI_MAY_LIST | CHI_MAY_WRITE | CHI_MAY_CUT | CHI_MAY_CREATE |              \
	 CHI_MAY_REMOVE)

/* Stores with where they are and where their links lead, sockets, twice five files that are opened
 * again, and a few of the system's. */
_Static_assert(3 * CHI_STORES_MAX + CHI_LISTENS_MAX + 10 + 8 <= CHI_SANDBOX_RULES_MAX,
	       "there is room for all rules");

static void find_rules(const struct chi_server *server, struct chi_sandbox_rules *rules)
{
	const struct chi_config *config = server->config;
	for (size_t i = 0; i < config->n_stores; i++) {
		chi_sandbox_add(rules, config->stores[i].path, STORE_RIGHTS);
	}
	for (size_t i = 0; i < config->server.n_listens; i++) {
		if (config->server.listens[i].kind == CHI_LISTEN_UNIX) {
			chi_sandbox_add_parent(rules, config->server.listens[i].path,
					       CHI_MAY_REMOVE);
		}
	}
	chi_sandbox_add_reopened(rules, config->server.access_path, CHI_MAY_READ);
	chi_sandbox_add_reopened(rules, config->tls_certificate, CHI_MAY_READ);
	chi_sandbox_add_reopened(rules, config->tls_key, CHI_MAY_READ);
	chi_sandbox_add_reopened(rules, config->tls_authorities, CHI_MAY_READ);
	chi_sandbox_add_reopened(rules, config->server.log.path, CHI_MAY_WRITE | CHI_MAY_CREATE);
	chi_sandbox_add_system(rules, config->server.access_path != NULL);
	/* A newer copy takes its name, or that of a link. */
	for (size_t i = 0; config->read_only && i < server->n_stores; i++) {
		if (chi_dir_is_still(server->stores[i].copy->store)) {
			chi_sandbox_add_places(rules, config->stores[i].path,
					       CHI_MAY_READ | CHI_MAY_LIST);
		}
	}
}

int chi_daemon_confine(const struct chi_server *server, struct chi_fault *fault)
{
	const struct chi_config *config = server->config;
	struct chi_sandbox_rules rules = {.paths.budget = SIZE_MAX};
	if (config->server.sandbox != CHI_SANDBOX_OFF && config->tls_key != NULL) {
		/* Other processes of the same user cannot read it out of our memory, nor does it go
		 * into core files. */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	}
	find_rules(server, &rules);
	int status = chi_sandbox_enter(config->server.sandbox, &rules, false, fault);
	chi_arena_deinit(&rules.paths);
	return status;
}
