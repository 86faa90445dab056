/* SPDX-License-Identifier: MIT */
/* The order matters: groups while still root, the group before the user, the user last. */
#include "service/user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "service/access.h"
#include "service/log.h"

static int set_group(struct chi_user *user, const char *group, const struct passwd *entry,
		     struct chi_fault *fault)
{
	if (group != NULL) {
		return chi_access_id(group, chi_access_system.group, &user->gid)
			       ? CHI_OK
			       : chi_fail(fault, -CHI_EINVAL, "--user: there is no group '%s'",
					  group);
	}
	if (entry == NULL) {
		return chi_fail(fault, -CHI_EINVAL,
				"--user: %s is not in the user database: give a group as well, as "
				"%s:GROUP",
				user->name, user->name);
	}
	user->gid = entry->pw_gid;
	return CHI_OK;
}

int chi_user_parse(const char *text, struct chi_user *out, struct chi_fault *fault)
{
	*out = (struct chi_user){.given = true};
	size_t len = strcspn(text, ":");
	const char *group = text[len] == ':' ? text + len + 1 : NULL;
	if (len == 0 || len >= sizeof(out->name)) {
		return chi_fail(fault, -CHI_ESYNTAX, "--user: '%s' is not NAME[:GROUP]", text);
	}
	memcpy(out->name, text, len);
	out->name[len] = '\0';
	bool is_number = chi_access_id(out->name, NULL, &out->uid);
	const struct passwd *entry = is_number ? getpwuid(out->uid) : getpwnam(out->name);
	if (entry == NULL && !is_number) {
		return chi_fail(fault, -CHI_EINVAL, "--user: there is no user '%s'", out->name);
	}
	if (entry != NULL) {
		out->uid = entry->pw_uid;
		out->has_name = true;
		snprintf(out->name, sizeof(out->name), "%s", entry->pw_name);
	}
	if (out->uid == 0) {
		return chi_fail(fault, -CHI_EINVAL, "--user: '%s' is root", text);
	}
	return set_group(out, group, entry, fault);
}

static int give_log(const struct chi_user *user, int log, struct chi_fault *fault)
{
	struct stat file;
	/* Opened again it has to be writable; a terminal or a pipe is someone else's. */
	if (log == STDERR_FILENO || fstat(log, &file) < 0 || !S_ISREG(file.st_mode) ||
	    fchown(log, user->uid, user->gid) == 0) {
		return CHI_OK;
	}
	return chi_fail(fault, -CHI_EACCES, "cannot give the log to user '%s' (%s)", user->name,
			strerror(errno));
}

static int set_ids(const struct chi_user *user)
{
	const gid_t gid = user->gid;
	int rc = user->has_name ? initgroups(user->name, gid) : setgroups(1, &gid);
	if (rc == 0) {
		rc = setresgid(gid, gid, gid);
	}
	return rc == 0 ? setresuid(user->uid, user->uid, user->uid) : rc;
}

/* The kernel takes them with the last id of root, unless it was asked to keep them. */
static bool drop_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	if (syscall(SYS_capset, &head, data) < 0 || syscall(SYS_capget, &head, data) < 0) {
		return false;
	}
	uint32_t left = 0;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		left |= data[i].effective | data[i].permitted | data[i].inheritable;
	}
	return left == 0;
}

/* What the calls said is not believed: asked back, and the way back tried. */
static bool is_for_good(const struct chi_user *user)
{
	uid_t uids[3];
	gid_t gids[3];
	if (getresuid(&uids[0], &uids[1], &uids[2]) < 0 ||
	    getresgid(&gids[0], &gids[1], &gids[2]) < 0) {
		return false;
	}
	for (int i = 0; i < 3; i++) {
		if (uids[i] != user->uid || gids[i] != user->gid) {
			return false;
		}
	}
	return setuid(0) < 0 && seteuid(0) < 0 && (user->gid == 0 || setgid(0) < 0);
}

int chi_user_can(const struct chi_user *user, struct chi_fault *fault)
{
	if (user->given && geteuid() != 0 && (geteuid() != user->uid || getegid() != user->gid)) {
		return chi_fail(fault, -CHI_EACCES, "only root can become user '%s' with group %u",
				user->name, (unsigned)user->gid);
	}
	return CHI_OK;
}

int chi_user_become(const struct chi_user *user, int log, struct chi_fault *fault)
{
	if (!user->given) {
		return CHI_OK;
	}
	if (geteuid() == 0) {
		int status = give_log(user, log, fault);
		if (status < 0) {
			return status;
		}
		if (set_ids(user) < 0) {
			return chi_fail(fault, -CHI_EACCES, "cannot become user '%s' (%s)",
					user->name, strerror(errno));
		}
	}
	/* Someone else may have been root before, or have been given rights of root's. */
	if (!drop_capabilities() || !is_for_good(user)) {
		return chi_fail(fault, -CHI_EACCES, "user '%s' could become root again",
				user->name);
	}
	return CHI_OK;
}
