/* SPDX-License-Identifier: MIT */
/*
 * Files by Landlock, calls by a filter. A server that reaches a daemon by TCP or TLS must connect,
 * which neither allows: it has no sandbox, and says so.
 */
#include "http/jail.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/attr.h"
#include "base/fault.h"
#include "service/landlock.h"
#include "service/syscalls.h"

/* A reader writes its place into the lock file. */
#define STORE_RIGHTS (CHI_MAY_READ | CHI_MAY_LIST | CHI_MAY_WRITE | CHI_MAY_CUT | CHI_MAY_CREATE)
#define RULES_MAX    16

struct rules {
	struct chi_landlock_rule list[RULES_MAX];
	char paths[RULES_MAX][PATH_MAX];
	size_t n;
};

/* `path`, or with `parent` the directory that it is in. */
static void add(struct rules *rules, const char *path, bool parent, uint64_t rights)
{
	char *kept = rules->paths[rules->n];
	if (realpath(path, kept) == NULL) {
		return;
	}
	char *slash = strrchr(kept, '/');
	if (parent && slash > kept) {
		*slash = '\0';
	}
	rules->list[rules->n++] = (struct chi_landlock_rule){kept, rights};
}

static void find_rules(const struct http_config *config, struct rules *rules)
{
	if (config->in_process) {
		const char *path = config->address;
		path += strncmp(path, "file:", 5) == 0 ? 5 : 0;
		add(rules, path, false, STORE_RIGHTS);
		/* A copy that is published again is another directory of that name. */
		add(rules, path, true, CHI_MAY_READ | CHI_MAY_LIST);
	}
	if (config->access_path != NULL) {
		add(rules, config->access_path, true, CHI_MAY_READ);
	}
	if (config->token_file != NULL) {
		add(rules, config->token_file, true, CHI_MAY_READ);
	}
	if (config->log.path != NULL) {
		add(rules, config->log.path, true, CHI_MAY_WRITE | CHI_MAY_CREATE);
	}
	add(rules, "/etc", false, CHI_MAY_READ);
	add(rules, "/dev/null", false, CHI_MAY_READ | CHI_MAY_WRITE);
	add(rules, "/sys/devices/system/cpu", false, CHI_MAY_READ);
	add(rules, "/proc/stat", false, CHI_MAY_READ);
	add(rules, "/proc/meminfo", false, CHI_MAY_READ);
}

static bool connects_by_ip(const char *address)
{
	return address != NULL &&
	       (strncmp(address, "tcp:", 4) == 0 || strncmp(address, "tls:", 4) == 0);
}

static bool connects_by_file(const char *address)
{
	return address != NULL && strncmp(address, "unix:", 5) == 0;
}

static int miss(const struct http_config *config, const char *why, struct chi_fault *fault)
{
	if (config->sandbox == HTTP_SANDBOX_REQUIRE) {
		return chi_fault(fault, -CHI_EUNSUPPORTED, "--sandbox=require: no sandbox (%s)",
				 why);
	}
	log_warning("sandbox.miss", "no sandbox ({cause})", log_text("cause", why));
	return CHI_OK;
}

static int enter(const struct http_config *config, const struct rules *rules,
		 struct chi_fault *fault)
{
	const char *notify = getenv("NOTIFY_SOCKET");
	const struct chi_syscalls_options options = {
		.names = config->access_path != NULL || connects_by_file(config->address) ||
			 connects_by_file(config->write_to),
		.notify = notify != NULL,
	};
	int error = chi_landlock_enter(rules->list, rules->n, notify != NULL && notify[0] == '@');
	if (error == 0) {
		error = chi_syscalls_enter(&options);
	}
	if (error != 0) {
		return miss(config, strerror(error), fault);
	}
	log_info("sandbox.enter",
		 "sandboxed: files (Landlock {landlock}) and system calls (seccomp)",
		 log_number("landlock", (uint64_t)chi_landlock_version()));
	return CHI_OK;
}

int jail_enter(const struct http_config *config, struct chi_fault *fault)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (config->sandbox == HTTP_SANDBOX_OFF) {
		return CHI_OK;
	}
#ifdef CHI_INSTRUMENTED
	return miss(config, "this build is instrumented", fault);
#endif
	if (connects_by_ip(config->address) || connects_by_ip(config->write_to)) {
		return miss(config, "a daemon is connected to by TCP", fault);
	}
	struct rules *rules = calloc(1, sizeof(*rules));
	if (rules == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	find_rules(config, rules);
	int status = enter(config, rules, fault);
	free(rules);
	return status;
}
