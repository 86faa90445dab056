/* SPDX-License-Identifier: MIT */
/* The filter of calls comes last: it refuses what makes the rest. */
#include "service/sandbox.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fault.h"
#include "service/log.h"

/* Instrumented code opens files, starts programs and makes calls of its own. */
#ifdef CHI_INSTRUMENTED
static const bool instrumented = true;
#else
static const bool instrumented = false;
#endif

void chi_sandbox_add(struct chi_sandbox_rules *rules, const char *path, uint64_t rights)
{
	if (rules->n >= CHI_SANDBOX_RULES_MAX) {
		log_warning("sandbox.full", "no room for '{path}' in the sandbox's rules",
			    log_text("path", path));
		return;
	}
	rules->list[rules->n++] = (struct chi_landlock_rule){path, rights};
}

/* NULL without memory. */
static const char *parent_of(struct chi_sandbox_rules *rules, const char *path)
{
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/') {
		len--;
	}
	const char *slash = memrchr(path, '/', len);
	if (slash == NULL) {
		return ".";
	}
	return chi_arena_text(&rules->paths, path, slash == path ? 1 : (size_t)(slash - path));
}

void chi_sandbox_add_parent(struct chi_sandbox_rules *rules, const char *path, uint64_t rights)
{
	const char *dir = parent_of(rules, path);
	if (dir != NULL) {
		chi_sandbox_add(rules, dir, rights);
	}
}

void chi_sandbox_add_reopened(struct chi_sandbox_rules *rules, const char *path, uint64_t rights)
{
	char real[PATH_MAX];
	if (path != NULL) {
		chi_sandbox_add_parent(rules, path, rights);
		if (realpath(path, real) != NULL) {
			chi_sandbox_add_parent(rules, real, rights);
		}
	}
}

/* All files of the machine are beneath "/", so that a place directly in it is left out. */
static void add_place(struct chi_sandbox_rules *rules, const char *path, uint64_t rights)
{
	char real[PATH_MAX];
	const char *dir = parent_of(rules, path);
	if (dir == NULL || realpath(dir, real) == NULL) {
		return;
	}
	if (strcmp(real, "/") == 0) {
		log_warning("sandbox.root",
			    "a newer copy at '{path}' is not found in the sandbox: that would take "
			    "all of '/'; give the store a directory of its own to be in",
			    log_text("path", path));
		return;
	}
	chi_sandbox_add(rules, dir, rights);
}

void chi_sandbox_add_places(struct chi_sandbox_rules *rules, const char *path, uint64_t rights)
{
	char real[PATH_MAX];
	add_place(rules, path, rights);
	if (realpath(path, real) != NULL && strcmp(real, path) != 0) {
		add_place(rules, real, rights);
	}
}

void chi_sandbox_add_system(struct chi_sandbox_rules *rules, bool names)
{
	rules->names = names;
	if (names) {
		/* These files, too, are replaced when they change. */
		chi_sandbox_add(rules, "/etc", CHI_MAY_READ);
	}
	chi_sandbox_add(rules, "/dev/null", CHI_MAY_READ | CHI_MAY_WRITE);
	/* How many processors there are, and how much memory. */
	chi_sandbox_add(rules, "/sys/devices/system/cpu", CHI_MAY_READ);
	chi_sandbox_add(rules, "/proc/stat", CHI_MAY_READ);
	chi_sandbox_add(rules, "/proc/meminfo", CHI_MAY_READ);
	/* Whether a newer copy is on a file system that is mounted read-only. */
	chi_sandbox_add(rules, "/proc/self/mountinfo", CHI_MAY_READ);
}

/* What is missing is an error, or only logged. */
static int miss(enum chi_sandbox how, const char *what, const char *why, struct chi_fault *fault)
{
	if (how == CHI_SANDBOX_REQUIRE) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"--sandbox=require: no sandbox against %s (%s)", what, why);
	}
	log_warning("sandbox.miss", "no sandbox against {what} ({cause})", log_text("what", what),
		    log_text("cause", why));
	return CHI_OK;
}

static const char files[] = "other files";

/* Directory services come as code that is loaded when a name is first looked for, and not found in
 * files: later no code can be loaded. */
static void load_name_services(void)
{
	(void)getpwnam("no user has such a name");
	(void)getgrnam("no group has such a name");
}

static void renounce(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int chi_sandbox_miss(enum chi_sandbox how, const char *why, struct chi_fault *fault)
{
	renounce();
	return how == CHI_SANDBOX_OFF ? CHI_OK : miss(how, files, why, fault);
}

int chi_sandbox_enter(enum chi_sandbox how, const struct chi_sandbox_rules *rules, bool connects,
		      struct chi_fault *fault)
{
	renounce();
	if (how == CHI_SANDBOX_OFF) {
		return CHI_OK;
	}
	if (instrumented) {
		return miss(how, files, "this build is instrumented", fault);
	}
	if (rules->names) {
		load_name_services();
	}
	const char *notify = getenv("NOTIFY_SOCKET");
	/* Asked before the filter, which refuses to say. */
	int version = chi_landlock_version();
	int error = chi_landlock_enter(rules->list, rules->n, notify != NULL && notify[0] == '@');
	int status = error == 0 ? CHI_OK : miss(how, files, strerror(error), fault);
	if (status < 0) {
		return status;
	}
	bool shut = error == 0;
	const struct chi_syscalls_options options = {.names = rules->names || connects,
						     .notify = notify != NULL};
	error = chi_syscalls_enter(&options);
	if (error != 0) {
		return miss(how, "other system calls", strerror(error), fault);
	}
	if (shut) {
		log_info("sandbox.enter",
			 "sandboxed: files (Landlock {landlock}) and system calls (seccomp)",
			 log_number("landlock", (uint64_t)version));
	}
	return CHI_OK;
}
