/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into chistored: a disk that fails or hangs under data.mdb while the page cache goes on.
 * A test maps the file that CHISTORE_FENCE names at the same time (test_fence.py) and writes into
 * its first byte what fails. Without the file nothing does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* What a test asks for; the values are those of test_fence.py. */
enum fence {
	FENCE_NONE = 0,
	FENCE_READS = 1,  /* reads past the page cache fail */
	FENCE_WRITES = 2, /* writes and syncs fail */
	FENCE_CACHE = 3,  /* reads through the page cache fail, those past it do not */
	FENCE_HANG = 4,	  /* reads past the page cache hang until that ends */
	FENCE_FULL = 5,	  /* writes fail as on a full disk */
	FENCE_LOG = 6,	  /* reads past the page cache fail, and writing a file "log" hangs */
};

static _Atomic unsigned char *wanted;

__attribute__((constructor)) static void map_fence(void)
{
	const char *path = getenv("CHISTORE_FENCE");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0) {
		return;
	}
	void *at = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	wanted = at == MAP_FAILED ? NULL : at;
}

static enum fence fence(void)
{
	return wanted != NULL ? (enum fence)atomic_load(wanted) : FENCE_NONE;
}

/* True if the file has that name, or had it: "/NAME". */
static bool has_name(int fd, const char *wanted_name)
{
	char link[64];
	char path[1024];
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n < 0) {
		return false;
	}
	path[n] = '\0';
	const char *name = strrchr(path, '/');
	return name != NULL && strncmp(name, wanted_name, strlen(wanted_name)) == 0;
}

static bool is_data(int fd)
{
	return has_name(fd, "/data.mdb");
}

static bool fails_write(int fd)
{
	enum fence now = fence();
	if ((now != FENCE_WRITES && now != FENCE_FULL) || !is_data(fd)) {
		return false;
	}
	errno = now == FENCE_FULL ? ENOSPC : EIO;
	return true;
}

static bool fails_read(int fd)
{
	enum fence now = fence();
	if (now == FENCE_NONE || !is_data(fd)) {
		return false;
	}
	bool direct = (fcntl(fd, F_GETFL) & O_DIRECT) != 0;
	while (direct && fence() == FENCE_HANG) {
		(void)usleep(10000);
	}
	errno = EIO;
	return direct ? now == FENCE_READS || now == FENCE_LOG : now == FENCE_CACHE;
}

ssize_t fence_pread(int fd, void *out, size_t len, off_t at) __asm__("pread");
ssize_t fence_pread64(int fd, void *out, size_t len, off_t at) __asm__("pread64");
ssize_t fence_pwrite(int fd, const void *bytes, size_t len, off_t at) __asm__("pwrite");
ssize_t fence_pwrite64(int fd, const void *bytes, size_t len, off_t at) __asm__("pwrite64");
ssize_t fence_pwritev(int fd, const struct iovec *parts, int n, off_t at) __asm__("pwritev");
ssize_t fence_pwritev64(int fd, const struct iovec *parts, int n, off_t at) __asm__("pwritev64");
ssize_t fence_write(int fd, const void *bytes, size_t len) __asm__("write");
int fence_fsync(int fd) __asm__("fsync");
int fence_fdatasync(int fd) __asm__("fdatasync");

ssize_t fence_pread(int fd, void *out, size_t len, off_t at)
{
	return fails_read(fd) ? -1 : syscall(SYS_pread64, fd, out, len, at);
}

ssize_t fence_pread64(int fd, void *out, size_t len, off_t at)
{
	return fence_pread(fd, out, len, at);
}

ssize_t fence_pwrite(int fd, const void *bytes, size_t len, off_t at)
{
	return fails_write(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, len, at);
}

ssize_t fence_pwrite64(int fd, const void *bytes, size_t len, off_t at)
{
	return fence_pwrite(fd, bytes, len, at);
}

ssize_t fence_pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
	return fails_write(fd) ? -1 : syscall(SYS_pwritev, fd, parts, n, at, 0);
}

ssize_t fence_pwritev64(int fd, const struct iovec *parts, int n, off_t at)
{
	return fence_pwritev(fd, parts, n, at);
}

ssize_t fence_write(int fd, const void *bytes, size_t len)
{
	while (fence() == FENCE_LOG && has_name(fd, "/log")) {
		(void)usleep(10000);
	}
	return syscall(SYS_write, fd, bytes, len);
}

int fence_fsync(int fd)
{
	return fails_write(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fence_fdatasync(int fd)
{
	return fails_write(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}
