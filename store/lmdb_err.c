/* SPDX-License-Identifier: MIT */
/*
 * LMDB gives its own negative codes and plain errno values from one function. Where its own
 * text would leave a person alone (EAGAIN, ENOMEM), a better one is said here.
 */
#include "store/lmdb_err.h"

#include <errno.h>
#include <limits.h>
#include <lmdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "store/names.h"

/* Less free space than this counts as none: LMDB writes whole pages, several at a time. */
#define SPACE_LEAST (1u << 20)

static int system_status(int rc)
{
	switch (rc) {
	case EACCES:
	case EPERM:
		return -CHI_EACCES;
	case EROFS:
		return -CHI_EREADONLY;
	case ENOENT:
	case ENOTDIR:
		return -CHI_ENOSTORE;
	case EEXIST:
	case ENOTEMPTY:
		return -CHI_EEXIST;
	case EAGAIN:
	case EBUSY:
	case EMFILE: /* no descriptor is left, which says nothing of the disk */
	case ENFILE:
		return -CHI_EBUSY;
	case ENAMETOOLONG:
		return -CHI_EINVAL;
	case ESTALE:
		return -CHI_ESTALE;
	default:
		return chi_fault_errno(rc);
	}
}

int chi_lmdb_status(int rc)
{
	switch (rc) {
	case MDB_SUCCESS:
		return CHI_OK;
	case MDB_NOTFOUND:
		return CHI_NONE;
	case MDB_BAD_TXN: /* a transaction that met a damaged page before */
	case MDB_PAGE_NOTFOUND:
	case MDB_CORRUPTED:
	case MDB_CURSOR_FULL: /* deeper than any tree can be: pages in a circle */
	case MDB_PAGE_FULL:
	case MDB_INCOMPATIBLE:
	case MDB_INVALID:
	case MDB_KEYEXIST:
		return -CHI_ECORRUPT;
	case MDB_VERSION_MISMATCH:
		return -CHI_EVERSION;
	case MDB_MAP_FULL:
		return -CHI_EFULL;
	case MDB_READERS_FULL:
	case MDB_MAP_RESIZED:
		return -CHI_EBUSY;
	case MDB_TXN_FULL:
		return -CHI_ETOOBIG;
	case MDB_PANIC:
		return -CHI_EIO;
	default:
		/* What is left of LMDB's own codes are errors of this program. */
		return rc < 0 ? -CHI_EINTERNAL : system_status(rc);
	}
}

static const char *reason(int rc)
{
	switch (rc) {
	case EAGAIN:
		return "the lock table belongs to another process with this number; do two "
		       "containers share the directory but not their process numbers?";
	case ENOMEM:
		return "cannot reserve the address space; a limit on it? CHISTORE_MAP_BYTES sets "
		       "a smaller map";
	case ESTALE:
		return "data.mdb is not the file that lock.mdb was made for: one of them was "
		       "replaced while a program had it open; end those programs, then try again";
	case MDB_READERS_FULL:
		return "every reader slot is taken";
	case MDB_MAP_FULL:
		return "the store has reached the size of its map";
	case MDB_MAP_RESIZED:
		return "another process grew the map while this one was reading";
	default:
		return mdb_strerror(rc);
	}
}

const char *chi_path_said(const char *path, char named[static PATH_MAX])
{
	static const char proc[] = "/proc/self/fd/";
	char link[sizeof(proc) + 10];
	size_t length = sizeof(proc) - 1;
	if (strncmp(path, proc, length) != 0) {
		return path;
	}
	length += strspn(path + length, "0123456789");
	if (length >= sizeof(link)) {
		return path;
	}
	memcpy(link, path, length);
	link[length] = '\0';
	ssize_t len = readlink(link, named, PATH_MAX - 1);
	/* What follows the descriptor is a file in the directory. */
	if (len <= 0 || (size_t)len + strlen(path + length) >= PATH_MAX) {
		return path;
	}
	strcpy(named + len, path + length);
	return named;
}

int chi_lmdb_fault(struct chi_fault *fault, int rc, const char *doing, const char *path)
{
	int status = chi_lmdb_status(rc);
	if (status >= 0) {
		return status;
	}
	char named[PATH_MAX];
	return chi_fail(fault, status, "cannot %s '%s': %s", doing, chi_path_said(path, named),
			reason(rc));
}

static bool has_grown_to(rlim_t limit, const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	int len = snprintf(path, sizeof(path), "%s/%s", dir, name);
	return len > 0 && (size_t)len < sizeof(path) && stat(path, &st) == 0 &&
	       (uint64_t)st.st_size + SPACE_LEAST >= limit;
}

/* True if the file system of `dir` or this process' limit leaves no room. */
static bool out_of_space(const char *dir)
{
	struct statvfs fs;
	if (statvfs(dir, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < SPACE_LEAST) {
		return true;
	}
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       (has_grown_to(limit.rlim_cur, dir, DATA_NAME) ||
		has_grown_to(limit.rlim_cur, dir, COMPACT_NAME));
}

int chi_lmdb_write_fault(struct chi_fault *fault, int rc, const char *doing, const char *dir)
{
	struct rlimit limit;
	if (rc == EIO && out_of_space(dir)) {
		rc = ENOSPC;
	} else if (rc == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
		   limit.rlim_cur == RLIM_INFINITY) {
		/* No file reaches so far: a damaged list of free pages says where to write. */
		rc = MDB_CORRUPTED;
	}
	return chi_lmdb_fault(fault, rc, doing, dir);
}
