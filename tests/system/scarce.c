/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into chistored, or linked into one of its own where a sanitizer's allocator bars that:
 * memory that runs out once, or, preloaded, descriptors. Linked, the C library's allocations are
 * not among those that fail, and libevent's and OpenSSL's are; what the C library opens for itself
 * never is. A test maps the file that CHISTORE_SCARCE names at the same time (struct scarce;
 * test_scarce.py knows its layout) and says which allocation or new descriptor fails, counted from
 * now on over all threads and children. Without the file nothing fails.
 */
/* Both names of open are wanted, and not one for the other. */
#undef _FILE_OFFSET_BITS
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind {
	ALLOCATIONS,
	DESCRIPTORS,
	KINDS,
};

struct scarce {
	_Atomic uint64_t calls;	  /* so far */
	_Atomic uint64_t failing; /* the one that fails, in the same count; 0: none */
	_Atomic uint64_t failed;  /* how many have */
};

static struct scarce *scarce;

__attribute__((constructor)) static void map_scarce(void)
{
	const char *path = getenv("CHISTORE_SCARCE");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0) {
		return;
	}
	void *at = mmap(NULL, KINDS * sizeof(*scarce), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	scarce = at == MAP_FAILED ? NULL : at;
}

static bool fails(enum kind kind)
{
	static const int errors[KINDS] = {[ALLOCATIONS] = ENOMEM, [DESCRIPTORS] = EMFILE};
	if (scarce == NULL) {
		return false;
	}
	uint64_t call = atomic_fetch_add(&scarce[kind].calls, 1) + 1;
	if (call != atomic_load(&scarce[kind].failing)) {
		return false;
	}
	atomic_fetch_add(&scarce[kind].failed, 1);
	errno = errors[kind];
	return true;
}

#ifdef SCARCE_WRAPPED

/* The linker puts these in the place of the C library's. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
	return fails(ALLOCATIONS) ? NULL : __real_strdup(text);
}

/* libevent asks the daemon already. */
static void *take(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return malloc(size);
}

static void *take_anew(void *old, size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return realloc(old, size);
}

static void give_back(void *pointer, const char *file, int line)
{
	(void)file;
	(void)line;
	free(pointer);
}

/* Some of what it has begun OpenSSL forgets when memory runs out. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libcrypto.so\n";
}

__attribute__((constructor)) static void serve_openssl(void)
{
	if (CRYPTO_set_mem_functions(take, take_anew, give_back) != 1) {
		abort();
	}
}

#else

/* The C library's own, by the names that it keeps for those who stand in front of them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return fails(ALLOCATIONS) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *made = fails(ALLOCATIONS) ? NULL : __libc_memalign(alignment, size);
	if (made == NULL) {
		return ENOMEM;
	}
	*out = made;
	return 0;
}

/* ---- Descriptors -------------------------------------------------------------------------- */

static int made(long descriptor)
{
	return (int)descriptor;
}

/* The mode is there whenever O_CREAT is, and not looked at else. */
#define OPEN(at, path, flags)                                                                      \
	va_list more;                                                                              \
	va_start(more, flags);                                                                     \
	mode_t mode = ((flags) & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;           \
	va_end(more);                                                                              \
	return fails(DESCRIPTORS) ? -1                                                             \
				  : made(syscall(SYS_openat, at, path, flags | O_LARGEFILE, mode))

int open(const char *path, int flags, ...)
{
	OPEN(AT_FDCWD, path, flags);
}

int open64(const char *path, int flags, ...)
{
	OPEN(AT_FDCWD, path, flags);
}

int openat(int directory, const char *path, int flags, ...)
{
	OPEN(directory, path, flags);
}

int openat64(int directory, const char *path, int flags, ...)
{
	OPEN(directory, path, flags);
}

int socket(int domain, int type, int protocol)
{
	return fails(DESCRIPTORS) ? -1 : made(syscall(SYS_socket, domain, type, protocol));
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
	return fails(DESCRIPTORS) ? -1
				  : made(syscall(SYS_socketpair, domain, type, protocol, ends));
}

int pipe2(int ends[2], int flags)
{
	return fails(DESCRIPTORS) ? -1 : made(syscall(SYS_pipe2, ends, flags));
}

int eventfd(unsigned count, int flags)
{
	return fails(DESCRIPTORS) ? -1 : made(syscall(SYS_eventfd2, count, flags));
}

int epoll_create1(int flags)
{
	return fails(DESCRIPTORS) ? -1 : made(syscall(SYS_epoll_create1, flags));
}

int memfd_create(const char *name, unsigned flags)
{
	return fails(DESCRIPTORS) ? -1 : made(syscall(SYS_memfd_create, name, flags));
}

#endif
