/* SPDX-License-Identifier: MIT */
/*
 * Numbers and structures are those of the kernel's interface, which never change; headers as old as
 * the oldest system that this is built on do not have them all.
 */
#include "daemon/jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same on every architecture. */
#define NR_CREATE_RULESET 444
#define NR_ADD_RULE	  445
#define NR_RESTRICT_SELF  446

#define CREATE_RULESET_VERSION 1u
#define RULE_PATH_BENEATH      1

enum file_right {
	EXECUTE = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_DIR = 1 << 3,
	REMOVE_DIR = 1 << 4,
	REMOVE_FILE = 1 << 5,
	MAKE_CHAR = 1 << 6,
	MAKE_DIR = 1 << 7,
	MAKE_REG = 1 << 8,
	MAKE_SOCK = 1 << 9,
	MAKE_FIFO = 1 << 10,
	MAKE_BLOCK = 1 << 11,
	MAKE_SYM = 1 << 12,
	REFER = 1 << 13,     /* version 2 */
	TRUNCATE = 1 << 14,  /* version 3 */
	IOCTL_DEV = 1 << 15, /* version 5 */
};

/* Those that a rule for a single file may name. */
#define OF_FILES (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV)

#define NET_ALL		3u /* version 4: to bind and to connect */
#define SCOPED_ABSTRACT 1u /* version 6 */
#define SCOPED_SIGNAL	2u

struct ruleset {
	uint64_t files;
	uint64_t net;
	uint64_t scoped;
};

struct path_beneath {
	uint64_t rights;
	int32_t parent;
} __attribute__((packed));

int chi_landlock_version(void)
{
	long version = syscall(NR_CREATE_RULESET, NULL, 0, CREATE_RULESET_VERSION);
	return version < 0 ? 0 : (int)version;
}

/* Whatever is named here and by no rule is refused. */
static uint64_t files_of(int version)
{
	uint64_t all = (MAKE_SYM << 1) - 1;
	all |= version >= 2 ? REFER : 0;
	all |= version >= 3 ? TRUNCATE : 0;
	all |= version >= 5 ? IOCTL_DEV : 0;
	return all;
}

static uint64_t kernel_rights(unsigned rights)
{
	uint64_t all = 0;
	all |= rights & CHI_MAY_READ ? READ_FILE : 0;
	all |= rights & CHI_MAY_LIST ? READ_DIR : 0;
	all |= rights & CHI_MAY_WRITE ? WRITE_FILE : 0;
	all |= rights & CHI_MAY_CUT ? TRUNCATE : 0;
	all |= rights & CHI_MAY_CREATE ? MAKE_REG : 0;
	all |= rights & CHI_MAY_REMOVE ? REMOVE_FILE : 0;
	return all;
}

static int add_rule(int ruleset, uint64_t handled, const struct chi_landlock_rule *rule)
{
	struct stat file;
	int fd = open(rule->path, O_PATH | O_CLOEXEC);
	if (fd < 0) {
		/* Where nobody gets to there is nothing to be allowed: a key whose directory only
		 * root may enter was read before. */
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : errno;
	}
	struct path_beneath beneath = {kernel_rights(rule->rights) & handled, fd};
	int error = fstat(fd, &file) < 0 ? errno : 0;
	if (error == 0 && !S_ISDIR(file.st_mode)) {
		beneath.rights &= OF_FILES;
	}
	if (error == 0 && beneath.rights != 0 &&
	    syscall(NR_ADD_RULE, ruleset, RULE_PATH_BENEATH, &beneath, 0) < 0) {
		error = errno;
	}
	close(fd);
	return error;
}

int chi_landlock_enter(const struct chi_landlock_rule *rules, size_t n, bool abstract)
{
	int version = chi_landlock_version();
	struct ruleset attributes = {.files = files_of(version)};
	/* What an older kernel does not know it must not be told of: its structure is shorter. */
	size_t size = sizeof(attributes.files);
	if (version >= 4) {
		attributes.net = NET_ALL;
		size += sizeof(attributes.net);
	}
	if (version >= 6) {
		attributes.scoped = SCOPED_SIGNAL | (abstract ? 0 : SCOPED_ABSTRACT);
		size += sizeof(attributes.scoped);
	}
	int ruleset = version > 0 ? (int)syscall(NR_CREATE_RULESET, &attributes, size, 0) : -1;
	if (ruleset < 0) {
		return version > 0 ? errno : ENOSYS;
	}
	int error = 0;
	for (size_t i = 0; error == 0 && i < n; i++) {
		error = add_rule(ruleset, attributes.files, &rules[i]);
	}
	if (error == 0 && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
			   syscall(NR_RESTRICT_SELF, ruleset, 0) < 0)) {
		error = errno;
	}
	close(ruleset);
	return error;
}
