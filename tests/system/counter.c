/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into chistored: counts what its threads allocate and ask of the kernel, and notes what
 * they read from sockets and send in its order, in a file that a test has mapped at the same time.
 * The file is named by CHISTORE_COUNTS and has the size of struct counts, all zero;
 * test_readpath.py knows its layout. Without it everything goes its usual way. The main thread,
 * which looks after the server every few seconds and serves no client, is not counted.
 *
 * Only what the read path can come by is here. Calls that are counted go on by syscall(2), so that
 * no second definition of them has to be found.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* In the order that the test knows. */
enum count {
	ALLOCATIONS,
	READS,
	WRITES,
	WAITS,	/* epoll_wait */
	OTHERS, /* epoll_ctl, and what gives memory back */
	N_COUNTS,
};

/* The latest reads and writes; `noted` is the number of all of them. */
#define NOTES (1u << 16)

struct note {
	uint32_t what; /* READS or WRITES */
	int32_t fd;
	int64_t bytes; /* what it returned; 0 before that */
};

struct counts {
	_Atomic uint64_t n[N_COUNTS];
	_Atomic uint64_t noted;
	struct note notes[NOTES];
};

/* The C library's own, by the names that it keeps for those who stand in front of them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static struct counts *counts;

__attribute__((constructor)) static void map_counts(void)
{
	const char *path = getenv("CHISTORE_COUNTS");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0) {
		return;
	}
	void *at = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	counts = at == MAP_FAILED ? NULL : at;
}

static bool is_counted(void)
{
	static _Thread_local int main_thread = -1;
	if (main_thread < 0) {
		main_thread = getpid() == syscall(SYS_gettid);
	}
	return counts != NULL && main_thread == 0;
}

static void count(enum count what)
{
	if (is_counted()) {
		atomic_fetch_add(&counts->n[what], 1);
	}
}

/* A call that begins: who has its answer finds its note. One thread at a time: the test has one
 * worker. */
static struct note *note(enum count what, int fd)
{
	static struct note nowhere;
	count(what);
	if (!is_counted()) {
		return &nowhere;
	}
	uint64_t at = atomic_load(&counts->noted);
	struct note *made = &counts->notes[at % NOTES];
	*made = (struct note){what, fd, 0};
	atomic_store(&counts->noted, at + 1);
	return made;
}

/* ---- Memory ------------------------------------------------------------------------------ */

void *malloc(size_t size)
{
	count(ALLOCATIONS);
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count(ALLOCATIONS);
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	count(ALLOCATIONS);
	return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	count(ALLOCATIONS);
	return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	count(ALLOCATIONS);
	void *made = __libc_memalign(alignment, size);
	if (made == NULL) {
		return ENOMEM;
	}
	*out = made;
	return 0;
}

/* ---- The kernel -------------------------------------------------------------------------- */

ssize_t read(int fd, void *to, size_t n)
{
	count(READS);
	return syscall(SYS_read, fd, to, n);
}

ssize_t readv(int fd, const struct iovec *parts, int n)
{
	count(READS);
	return syscall(SYS_readv, fd, parts, n);
}

ssize_t recv(int fd, void *to, size_t n, int flags)
{
	struct note *noted = note(READS, fd);
	noted->bytes = syscall(SYS_recvfrom, fd, to, n, flags, NULL, NULL);
	return noted->bytes;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct note *noted = note(READS, fd);
	noted->bytes = syscall(SYS_recvmsg, fd, message, flags);
	return noted->bytes;
}

ssize_t write(int fd, const void *from, size_t n)
{
	count(WRITES);
	return syscall(SYS_write, fd, from, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	count(WRITES);
	return syscall(SYS_writev, fd, parts, n);
}

ssize_t send(int fd, const void *from, size_t n, int flags)
{
	struct note *noted = note(WRITES, fd);
	noted->bytes = syscall(SYS_sendto, fd, from, n, flags, NULL, 0);
	return noted->bytes;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct note *noted = note(WRITES, fd);
	noted->bytes = syscall(SYS_sendmsg, fd, message, flags);
	return noted->bytes;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	count(WAITS);
	return (int)syscall(SYS_epoll_pwait, fd, events, max, timeout, NULL, 0);
}

int epoll_ctl(int fd, int what, int of, struct epoll_event *event)
{
	count(OTHERS);
	return (int)syscall(SYS_epoll_ctl, fd, what, of, event);
}

int munmap(void *at, size_t len)
{
	count(OTHERS);
	return (int)syscall(SYS_munmap, at, len);
}

int madvise(void *at, size_t len, int advice)
{
	count(OTHERS);
	return (int)syscall(SYS_madvise, at, len, advice);
}
