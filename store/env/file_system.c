/* SPDX-License-Identifier: MIT */
/*
 * Which file systems may hold a store: those of this machine alone. On a network's each machine
 * has a page cache of its own, and locks that the others do not see or see late: two machines lose
 * writes of each other that were acknowledged, and no verification finds that. FUSE has both kinds
 * behind one number; the type in the table of mounts tells them apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/fault.h"
#include "store/env/env.h"
#include "store/env/mountinfo.h"
#include "store/lmdb_err.h"

#define FUSE_MAGIC 0x65735546u

/* The number of a path's mount, 0 if the kernel does not tell it. */
static uint64_t mount_id(const char *path)
{
#ifdef STATX_MNT_ID
	struct statx st;
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_MNT_ID, &st) == 0 &&
	    (st.stx_mask & STATX_MNT_ID) != 0) {
		return st.stx_mnt_id;
	}
#endif
	return 0;
}

/* False if the table cannot be read, or has no such mount. */
static bool find_mount(const char *path, struct chi_mount *out)
{
	char real[PATH_MAX];
	char *text = NULL;
	size_t len = 0;
	struct stat st;
	if (stat(path, &st) < 0 || realpath(path, real) == NULL ||
	    chi_mountinfo_load(&text, &len) != 0) {
		return false;
	}
	const struct chi_mount_key key = {mount_id(path), major(st.st_dev), minor(st.st_dev), real};
	bool found = chi_mountinfo_find(text, len, &key, out);
	free(text);
	return found;
}

bool chi_file_system_is_still(const char *path)
{
	struct chi_mount mount;
	/* These two show files of other file systems, which may be written. */
	return find_mount(path, &mount) && mount.still && strcmp(mount.type, "overlay") != 0 &&
	       strncmp(mount.type, "fuse", 4) != 0;
}

static int check_fuse(const char *path, struct chi_fault *fault)
{
	struct chi_mount mount = {.type = "fuse"};
	struct stat source;
	enum chi_fuse kind = CHI_FUSE_UNKNOWN;
	if (find_mount(path, &mount)) {
		bool on_disk = stat(mount.source, &source) == 0 && S_ISBLK(source.st_mode);
		kind = chi_fuse_kind(mount.type, on_disk);
	}
	switch (kind) {
	case CHI_FUSE_LOCAL:
		return CHI_OK;
	case CHI_FUSE_NETWORK:
		return chi_fail(fault, -CHI_ENETFS,
				"'%s' is on a network file system (%s), where a store can be "
				"damaged",
				path, mount.type);
	default:
		return chi_fail(fault, -CHI_ENETFS,
				"'%s' is on a file system (%s) that is not known to be of this "
				"machine alone; CHISTORE_ANY_FILESYSTEM=1 has it taken for one",
				path, mount.type);
	}
}

int chi_dir_file_system(const char *path, struct chi_fault *fault)
{
	/* Values of linux/magic.h, and of file systems that are not in it. */
	static const struct {
		uint32_t type;
		const char *name;
	} network[] = {
		{0x6969, "NFS"},	  {0x517b, "SMB"},	  {0xfe534d42, "SMB"},
		{0xff534d42, "CIFS"},	  {0x5346414f, "AFS"},	  {0x6b414653, "AFS"},
		{0x01021997, "9P"},	  {0x00c36400, "Ceph"},	  {0x73757245, "Coda"},
		{0x564c, "NCP"},	  {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
		{0x01161970, "GFS2"},	  {0x7461636f, "OCFS2"},  {0x19830326, "BeeGFS"},
		{0x20030528, "OrangeFS"},
	};
	struct statfs fs;
	if (statfs(path, &fs) < 0) {
		return chi_lmdb_fault(fault, errno, "look at", path);
	}
	for (size_t i = 0; i < CHI_COUNT(network); i++) {
		if ((uint32_t)fs.f_type == network[i].type) {
			return chi_fail(fault, -CHI_ENETFS,
					"'%s' is on a network file system (%s), where a store "
					"can be damaged",
					path, network[i].name);
		}
	}
	return (uint32_t)fs.f_type == FUSE_MAGIC ? check_fuse(path, fault) : CHI_OK;
}

bool chi_any_file_system(void)
{
	const char *text = getenv("CHISTORE_ANY_FILESYSTEM");
	return text != NULL && strcmp(text, "1") == 0;
}

int chi_file_system_check(const char *path, struct chi_fault *fault)
{
	return chi_any_file_system() ? CHI_OK : chi_dir_file_system(path, fault);
}
