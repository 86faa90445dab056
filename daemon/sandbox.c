/* SPDX-License-Identifier: MIT */
/*
 * Files are kept away by Landlock, system calls by a filter: the first knows paths and no other
 * calls, the second knows calls and no paths. Directories are named, not the files in them: what is
 * replaced by a new file of its name, as certificates are, is to be found again.
 */
#include "daemon/sandbox.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/arena.h"
#include "base/fault.h"
#include "service/syscalls.h"
#include "service/landlock.h"
#include "service/log.h"
#include "store/store.h"

#define STORE_RIGHTS                                                                               \
	(CHI_MAY_READ | CHI_MAY_LIST | CHI_MAY_WRITE | CHI_MAY_CUT | CHI_MAY_CREATE |              \
	 CHI_MAY_REMOVE)

/* Stores, sockets, twice five files that are opened again, and a few of the system's. */
#define RULES_MAX (CHI_STORES_MAX + CHI_LISTENS_MAX + 10 + 8)

struct rules {
	struct chi_landlock_rule list[RULES_MAX];
	size_t n;
	struct chi_arena paths;
};

static void add(struct rules *rules, const char *path, uint64_t rights)
{
	rules->list[rules->n++] = (struct chi_landlock_rule){path, rights};
}

/* The directory in which a file is. Without memory there is no rule, and less is allowed. */
static void add_parent(struct rules *rules, const char *path, uint64_t rights)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
	const char *dir = chi_arena_text(&rules->paths, slash == NULL ? "." : path, len);
	if (dir != NULL) {
		add(rules, dir, rights);
	}
}

/* Where its name is and, should that be a link, where it leads to. */
static void add_reopened(struct rules *rules, const char *path, uint64_t rights)
{
	char real[PATH_MAX];
	if (path != NULL) {
		add_parent(rules, path, rights);
		if (realpath(path, real) != NULL) {
			add_parent(rules, real, rights);
		}
	}
}

static void find_rules(const struct chi_config *config, struct rules *rules)
{
	for (size_t i = 0; i < config->n_stores; i++) {
		add(rules, config->stores[i].path, STORE_RIGHTS);
	}
	for (size_t i = 0; i < config->n_listens; i++) {
		if (config->listens[i].kind == CHI_LISTEN_UNIX) {
			add_parent(rules, config->listens[i].path, CHI_MAY_REMOVE);
		}
	}
	add_reopened(rules, config->access_path, CHI_MAY_READ);
	add_reopened(rules, config->tls_certificate, CHI_MAY_READ);
	add_reopened(rules, config->tls_key, CHI_MAY_READ);
	add_reopened(rules, config->tls_authorities, CHI_MAY_READ);
	add_reopened(rules, config->log.path, CHI_MAY_WRITE | CHI_MAY_CREATE);
	if (config->access_path != NULL) {
		/* Users and groups by name; these files, too, are replaced when they change. */
		add(rules, "/etc", CHI_MAY_READ);
	}
	add(rules, "/dev/null", CHI_MAY_READ | CHI_MAY_WRITE);
	/* How many processors there are, and how much memory. */
	add(rules, "/sys/devices/system/cpu", CHI_MAY_READ);
	add(rules, "/proc/stat", CHI_MAY_READ);
	add(rules, "/proc/meminfo", CHI_MAY_READ);
}

/* Directory services come as code that is loaded when a name is first looked for, and not found in
 * files: later no code can be loaded. */
static void load_name_services(const struct chi_config *config)
{
	if (config->access_path != NULL) {
		(void)getpwnam("no user has such a name");
		(void)getgrnam("no group has such a name");
	}
}

/* Instrumented code opens files, starts programs and makes calls of its own. */
#ifdef CHI_INSTRUMENTED
static const bool instrumented = true;
#else
static const bool instrumented = false;
#endif

/* What is missing is an error, or only logged. */
static int miss(const struct chi_config *config, const char *what, const char *why,
		struct chi_fault *fault)
{
	if (config->sandbox == CHI_SANDBOX_REQUIRE) {
		return chi_fault(fault, -CHI_EUNSUPPORTED,
				 "--sandbox=require: no sandbox against %s (%s)", what, why);
	}
	log_warning("sandbox.miss", "no sandbox against {what} ({cause})", log_text("what", what),
		    log_text("cause", why));
	return CHI_OK;
}

/* The filter comes last: it refuses what makes the rest. */
static int enter(const struct chi_config *config, const struct rules *rules,
		 struct chi_fault *fault)
{
	static const char files[] = "other files";
	static const char calls[] = "other system calls";
	if (instrumented) {
		return miss(config, files, "this build is instrumented", fault);
	}
	const char *notify = getenv("NOTIFY_SOCKET");
	int version = chi_landlock_version();
	int error = chi_landlock_enter(rules->list, rules->n, notify != NULL && notify[0] == '@');
	int status = error == 0 ? CHI_OK : miss(config, files, strerror(error), fault);
	if (status < 0) {
		return status;
	}
	bool shut = error == 0;
	const struct chi_syscalls_options options = {
		.names = config->access_path != NULL,
		.notify = notify != NULL,
	};
	error = chi_syscalls_enter(&options);
	if (error != 0) {
		return miss(config, calls, strerror(error), fault);
	}
	if (shut) {
		log_info("sandbox.enter",
			 "sandboxed: files (Landlock {landlock}) and system calls (seccomp)",
			 log_number("landlock", (uint64_t)version));
	}
	return CHI_OK;
}

int chi_sandbox_enter(const struct chi_config *config, struct chi_fault *fault)
{
	/* In any case, starting a program never adds rights. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (config->sandbox == CHI_SANDBOX_OFF) {
		return CHI_OK;
	}
	struct rules rules = {.paths.budget = SIZE_MAX};
	load_name_services(config);
	if (config->tls_key != NULL) {
		/* Other processes of the same user cannot read it out of our memory, nor does it go
		 * into core files. */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	}
	find_rules(config, &rules);
	int status = enter(config, &rules, fault);
	chi_arena_deinit(&rules.paths);
	return status;
}
