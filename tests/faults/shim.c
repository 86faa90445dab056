/* SPDX-License-Identifier: MIT */
/*
 * The calls below go to the kernel by syscall(2), so that no second definition of them has to be
 * found. Names are given by asm labels: the headers may have renamed `open` to `open64`, and both
 * must end here.
 */
#include "tests/faults/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FDS  1024
#define FULL 2048 /* bytes of a path */

/* A watched file that is open. */
struct handle {
	bool open;
	bool durable; /* O_DSYNC: each write is synced by itself */
	uint64_t ino;
};

/* A compacting copy writes from a thread of LMDB's own. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[1024];
static struct handle handles[FDS];
static struct journal *journal;
static bool no_sync;
static unsigned left; /* calls until one fails; 0: none will */
static enum shim_fault failing;
static const char *failed = "";
static unsigned gap; /* from the call that failed to the next one that is to; 0: none is */
static enum shim_fault next_fault;

void shim_watch(const char *path)
{
	size_t len = strlen(path);
	if (len >= sizeof(root)) {
		abort();
	}
	memcpy(root, path, len + 1);
}

void shim_record(struct journal *to)
{
	journal = to;
}

void shim_sync(bool real)
{
	no_sync = !real;
}

void shim_fail(unsigned nth, enum shim_fault kind)
{
	left = nth;
	failing = kind;
	failed = "";
	gap = 0;
}

void shim_fail_again(unsigned calls, enum shim_fault kind)
{
	gap = calls;
	next_fault = kind;
}

bool shim_failed(void)
{
	return failed[0] != '\0';
}

const char *shim_failed_call(void)
{
	return failed;
}

/* The path below the root, NULL if it is elsewhere. */
static const char *inside(const char *path)
{
	size_t len = strlen(root);
	if (len == 0 || path == NULL || strncmp(path, root, len) != 0) {
		return NULL;
	}
	return path[len] == '/' ? path + len + 1 : path[len] == '\0' ? path + len : NULL;
}

/* The path below the root of a name in an open directory, or of one below "/proc/self/fd/N": as the
 * journal has them. NULL if it is elsewhere. */
static const char *inside_at(int dir, const char *path, char full[FULL])
{
	static const char proc[] = "/proc/self/fd/";
	char link[64];
	char *rest = NULL;
	if (dir == AT_FDCWD && strncmp(path, proc, sizeof(proc) - 1) == 0) {
		dir = (int)strtol(path + sizeof(proc) - 1, &rest, 10);
		path = rest[0] == '/' ? rest + 1 : rest;
	}
	if (dir == AT_FDCWD || path[0] == '/') {
		return inside(path);
	}
	(void)snprintf(link, sizeof(link), "%s%d", proc, dir);
	ssize_t n = readlink(link, full, FULL - 1);
	if (n < 0 || (size_t)n + strlen(path) + 2 > FULL) {
		return NULL;
	}
	(void)snprintf(full + n, FULL - (size_t)n, "%s%s", path[0] != '\0' ? "/" : "", path);
	return inside(full);
}

static struct handle *handle_of(int fd)
{
	return fd >= 0 && fd < FDS && handles[fd].open ? &handles[fd] : NULL;
}

/* True if this call is the one to fail; errno says how. */
static bool fails(const char *call, bool writes)
{
	if ((failing == SHIM_SHORT || failing == SHIM_HEAD) && !writes) {
		return false;
	}
	(void)pthread_mutex_lock(&mutex);
	bool now = left == 1;
	int error = now ? (failing == SHIM_ENOSPC ? ENOSPC : EIO) : errno;
	if (left > 1 || (now && failing != SHIM_LASTING)) {
		left--;
	}
	if (now && failed[0] == '\0') {
		failed = call;
	}
	if (now && gap != 0) {
		left = gap;
		failing = next_fault;
		gap = 0;
	}
	(void)pthread_mutex_unlock(&mutex);
	errno = error;
	return now;
}

static void copy_path(char out[JOURNAL_PATH], const char *path)
{
	size_t len = strlen(path);
	if (len >= JOURNAL_PATH) {
		abort();
	}
	memcpy(out, path, len + 1);
}

static void note(enum journal_op op, uint64_t ino, const char *path, const char *to)
{
	(void)pthread_mutex_lock(&mutex);
	if (journal != NULL) {
		struct journal_call *call = journal_add(journal, op);
		call->ino = ino;
		copy_path(call->path, path);
		copy_path(call->to, to);
	}
	(void)pthread_mutex_unlock(&mutex);
}

static void note_write(const struct handle *handle, const struct iovec *parts, int n,
		       uint64_t offset, ssize_t written)
{
	(void)pthread_mutex_lock(&mutex);
	if (journal != NULL && written > 0) {
		struct journal_call *call = journal_add(journal, JOURNAL_WRITE);
		call->ino = handle->ino;
		call->durable = handle->durable;
		call->offset = offset;
		call->bytes = malloc((size_t)written);
		if (call->bytes == NULL) {
			abort();
		}
		for (int i = 0; i < n && call->len < (uint64_t)written; i++) {
			uint64_t rest = (uint64_t)written - call->len;
			uint64_t part = parts[i].iov_len < rest ? parts[i].iov_len : rest;
			memcpy(call->bytes + call->len, parts[i].iov_base, part);
			call->len += part;
		}
	}
	(void)pthread_mutex_unlock(&mutex);
}

static uint64_t ino_of(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* ---- Names ------------------------------------------------------------------------------- */

int shim_open(const char *path, int flags, ...) __asm__("open");
int shim_open64(const char *path, int flags, ...) __asm__("open64");
int shim_close(int fd) __asm__("close");
int shim_mkdirat(int dir, const char *path, mode_t mode) __asm__("mkdirat");
int shim_openat(int dir, const char *path, int flags, ...) __asm__("openat");
int shim_openat64(int dir, const char *path, int flags, ...) __asm__("openat64");
int shim_rename(const char *from, const char *to) __asm__("rename");
int shim_renameat(int old_dir, const char *from, int new_dir, const char *to) __asm__("renameat");
int shim_renameat2(int old_dir, const char *from, int new_dir, const char *to,
		   unsigned flags) __asm__("renameat2");
int shim_unlink(const char *path) __asm__("unlink");
int shim_unlinkat(int dir, const char *path, int flags) __asm__("unlinkat");

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	char full[FULL];
	const char *name = inside_at(dir, path, full);
	/* A descriptor for the path alone reads and writes nothing; a file without a name is gone
	 * after a cut. */
	bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
	if (name == NULL || nameless || (flags & O_PATH) != 0) {
		return (int)syscall(SYS_openat, dir, path, flags, mode);
	}
	if (fails("open", false)) {
		return -1;
	}
	bool fresh = (flags & O_CREAT) != 0 && faccessat(dir, path, F_OK, 0) < 0;
	int real = no_sync ? flags & ~O_DSYNC : flags;
	int fd = (int)syscall(SYS_openat, dir, path, real, mode);
	if (fd < 0) {
		return fd;
	}
	if (fd >= FDS) {
		abort();
	}
	handles[fd] = (struct handle){true, (flags & O_DSYNC) != 0, ino_of(fd)};
	if (fresh) {
		note(JOURNAL_CREATE, handles[fd].ino, name, "");
	}
	return fd;
}

int shim_open(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return open_at(AT_FDCWD, path, flags, mode);
}

int shim_open64(const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return open_at(AT_FDCWD, path, flags, mode);
}

int shim_openat(int dir, const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return open_at(dir, path, flags, mode);
}

int shim_openat64(int dir, const char *path, int flags, ...)
{
	va_list rest;
	va_start(rest, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return open_at(dir, path, flags, mode);
}

int shim_close(int fd)
{
	struct handle *handle = handle_of(fd);
	if (handle != NULL) {
		handle->open = false;
	}
	return (int)syscall(SYS_close, fd);
}

int shim_mkdirat(int dir, const char *path, mode_t mode)
{
	char full[FULL];
	const char *name = inside_at(dir, path, full);
	if (name != NULL && fails("mkdir", false)) {
		return -1;
	}
	int rc = (int)syscall(SYS_mkdirat, dir, path, mode);
	struct stat st;
	if (name != NULL && rc == 0 && fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		note(JOURNAL_MKDIR, st.st_ino, name, "");
	}
	return rc;
}

/* Two names at one moment, or one that is given. */
int shim_renameat2(int old_dir, const char *from, int new_dir, const char *to, unsigned flags)
{
	char full[2][FULL];
	const char *old = inside_at(old_dir, from, full[0]);
	const char *new = inside_at(new_dir, to, full[1]);
	struct stat st;
	if (old != NULL && fails(flags != 0 ? "renameat2" : "rename", false)) {
		return -1;
	}
	int rc = (int)syscall(SYS_renameat2, old_dir, from, new_dir, to, flags);
	if (old == NULL || new == NULL || rc != 0) {
		return rc;
	}
	if (flags == RENAME_EXCHANGE) {
		note(JOURNAL_EXCHANGE, 0, old, new);
	} else if (flags == 0 && fstatat(new_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		note(JOURNAL_RENAME, st.st_ino, old, new);
	} else {
		abort();
	}
	return rc;
}

int shim_rename(const char *from, const char *to)
{
	return shim_renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int shim_renameat(int old_dir, const char *from, int new_dir, const char *to)
{
	return shim_renameat2(old_dir, from, new_dir, to, 0);
}

int shim_unlinkat(int dir, const char *path, int flags)
{
	char full[FULL];
	const char *name = inside_at(dir, path, full);
	if (name != NULL && fails(flags != 0 ? "rmdir" : "unlink", false)) {
		return -1;
	}
	int rc = (int)syscall(SYS_unlinkat, dir, path, flags);
	if (name != NULL && rc == 0) {
		note(JOURNAL_REMOVE, 0, name, "");
	}
	return rc;
}

int shim_unlink(const char *path)
{
	return shim_unlinkat(AT_FDCWD, path, 0);
}

/* ---- Contents ---------------------------------------------------------------------------- */

ssize_t shim_pread(int fd, void *out, size_t len, off_t at) __asm__("pread");
ssize_t shim_pread64(int fd, void *out, size_t len, off_t at) __asm__("pread64");
ssize_t shim_write(int fd, const void *bytes, size_t len) __asm__("write");
ssize_t shim_writev(int fd, const struct iovec *parts, int n) __asm__("writev");
ssize_t shim_pwrite(int fd, const void *bytes, size_t len, off_t at) __asm__("pwrite");
ssize_t shim_pwrite64(int fd, const void *bytes, size_t len, off_t at) __asm__("pwrite64");
ssize_t shim_pwritev(int fd, const struct iovec *parts, int n, off_t at) __asm__("pwritev");
ssize_t shim_pwritev64(int fd, const struct iovec *parts, int n, off_t at) __asm__("pwritev64");
int shim_ftruncate(int fd, off_t len) __asm__("ftruncate");
int shim_ftruncate64(int fd, off_t len) __asm__("ftruncate64");
int shim_fsync(int fd) __asm__("fsync");
int shim_fdatasync(int fd) __asm__("fdatasync");

ssize_t shim_pread(int fd, void *out, size_t len, off_t at)
{
	if (handle_of(fd) != NULL && failing != SHIM_ENOSPC && fails("pread", false)) {
		return -1;
	}
	return syscall(SYS_pread64, fd, out, len, at);
}

ssize_t shim_pread64(int fd, void *out, size_t len, off_t at)
{
	return shim_pread(fd, out, len, at);
}

/* All writes: `at` is -1 for those that go to the descriptor's position. */
static ssize_t put(const char *call, int fd, const struct iovec *parts, int n, off_t at)
{
	const struct handle *handle = handle_of(fd);
	/* When this one has failed the next one may fail otherwise. */
	enum shim_fault how = failing;
	bool bad = handle != NULL && fails(call, how != SHIM_HEAD || handle->durable);
	bool half_done = bad && handle->durable && (how == SHIM_EIO || how == SHIM_HEAD);
	if (bad && how != SHIM_SHORT && !half_done) {
		return -1;
	}
	struct iovec half = parts[0];
	half.iov_len /= 2;
	if (bad && !half_done) {
		parts = &half;
		n = 1;
	}
	off_t where = at < 0 && handle != NULL ? lseek(fd, 0, SEEK_CUR) : at;
	ssize_t written = at < 0 ? syscall(SYS_writev, fd, parts, n)
				 : syscall(SYS_pwritev, fd, parts, n, at, 0);
	if (handle != NULL) {
		struct handle as = *handle;
		as.durable = as.durable && !half_done;
		note_write(&as, parts, n, (uint64_t)where, written);
	}
	if (half_done) {
		/* The usual way for O_DSYNC to fail: everyone sees the write, the disk does not.
		 */
		note(JOURNAL_LOSE, handle->ino, "", "");
		errno = EIO;
		return -1;
	}
	return written;
}

static ssize_t put_one(const char *call, int fd, const void *bytes, size_t len, off_t at)
{
	/* The kernel only reads from it, whatever the type says. */
	union {
		const void *in;
		void *out;
	} pointer = {.in = bytes};
	const struct iovec part = {pointer.out, len};
	return put(call, fd, &part, 1, at);
}

ssize_t shim_write(int fd, const void *bytes, size_t len)
{
	return put_one("write", fd, bytes, len, -1);
}

ssize_t shim_writev(int fd, const struct iovec *parts, int n)
{
	return put("writev", fd, parts, n, -1);
}

ssize_t shim_pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	return put_one("pwrite", fd, bytes, len, at);
}

ssize_t shim_pwrite64(int fd, const void *bytes, size_t len, off_t at)
{
	return put_one("pwrite", fd, bytes, len, at);
}

ssize_t shim_pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
	return put("pwritev", fd, parts, n, at);
}

ssize_t shim_pwritev64(int fd, const struct iovec *parts, int n, off_t at)
{
	return put("pwritev", fd, parts, n, at);
}

int shim_ftruncate(int fd, off_t len)
{
	const struct handle *handle = handle_of(fd);
	if (handle != NULL && fails("ftruncate", false)) {
		return -1;
	}
	int rc = (int)syscall(SYS_ftruncate, fd, len);
	(void)pthread_mutex_lock(&mutex);
	if (handle != NULL && journal != NULL && rc == 0) {
		struct journal_call *call = journal_add(journal, JOURNAL_TRUNCATE);
		call->ino = handle->ino;
		call->offset = (uint64_t)len;
	}
	(void)pthread_mutex_unlock(&mutex);
	return rc;
}

int shim_ftruncate64(int fd, off_t len)
{
	return shim_ftruncate(fd, len);
}

static int sync_file(const char *name, long number, int fd)
{
	const struct handle *handle = handle_of(fd);
	if (handle == NULL) {
		return (int)syscall(number, fd);
	}
	if (fails(name, false)) {
		int error = errno;
		note(JOURNAL_LOSE, handle->ino, "", "");
		errno = error;
		return -1;
	}
	int rc = no_sync ? 0 : (int)syscall(number, fd);
	if (rc == 0) {
		note(JOURNAL_SYNC, handle->ino, "", "");
	}
	return rc;
}

int shim_fsync(int fd)
{
	return sync_file("fsync", SYS_fsync, fd);
}

int shim_fdatasync(int fd)
{
	return sync_file("fdatasync", SYS_fdatasync, fd);
}
