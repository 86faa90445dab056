/* SPDX-License-Identifier: MIT */
/* What is younger than the headers of the oldest system that this is built on is given here. */
#include "service/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Those that a rule for a single file may name. */
#define OF_FILES                                                                                   \
	(LANDLOCK_ACCESS_FS_EXECUTE | CHI_MAY_WRITE | CHI_MAY_READ | CHI_MAY_CUT | IOCTL_DEV)

#define IOCTL_DEV	(UINT64_C(1) << 15) /* version 5 */
#define NET_ALL		3u		    /* version 4: to bind and to connect */
#define SCOPED_ABSTRACT 1u		    /* version 6 */
#define SCOPED_SIGNAL	2u

struct ruleset {
	uint64_t files;
	uint64_t net;
	uint64_t scoped;
};

int chi_landlock_version(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	return version < 0 ? 0 : (int)version;
}

/* What is named here and by no rule is refused. */
static uint64_t files_of(int version)
{
	uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
	all |= version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0;
	all |= version >= 3 ? CHI_MAY_CUT : 0;
	all |= version >= 5 ? IOCTL_DEV : 0;
	return all;
}

static int add_rule(int ruleset, uint64_t handled, const struct chi_landlock_rule *rule)
{
	struct stat file;
	int fd = open(rule->path, O_PATH | O_CLOEXEC);
	if (fd < 0) {
		/* A path that cannot be reached needs no rule: a key whose directory only
		 * root may enter was read before. */
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : errno;
	}
	struct landlock_path_beneath_attr beneath = {rule->rights & handled, fd};
	int error = fstat(fd, &file) < 0 ? errno : 0;
	if (error == 0 && !S_ISDIR(file.st_mode)) {
		beneath.allowed_access &= OF_FILES;
	}
	if (error == 0 && beneath.allowed_access != 0 &&
	    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) < 0) {
		error = errno;
	}
	close(fd);
	return error;
}

int chi_landlock_enter(const struct chi_landlock_rule *rules, size_t n, bool abstract)
{
	int version = chi_landlock_version();
	struct ruleset attributes = {.files = files_of(version)};
	/* An older kernel must not be given what it does not know: its structure is shorter. */
	size_t size = sizeof(attributes.files);
	if (version >= 4) {
		attributes.net = NET_ALL;
		size += sizeof(attributes.net);
	}
	if (version >= 6) {
		attributes.scoped = SCOPED_SIGNAL | (abstract ? 0 : SCOPED_ABSTRACT);
		size += sizeof(attributes.scoped);
	}
	int ruleset =
		version > 0 ? (int)syscall(SYS_landlock_create_ruleset, &attributes, size, 0) : -1;
	if (ruleset < 0) {
		return version > 0 ? errno : ENOSYS;
	}
	int error = 0;
	for (size_t i = 0; error == 0 && i < n; i++) {
		error = add_rule(ruleset, attributes.files, &rules[i]);
	}
	if (error == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			   syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)) {
		error = errno;
	}
	close(ruleset);
	return error;
}
