/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into chistored: memory that runs out, once or for good. A test maps the file that
 * CHISTORE_SCARCE names at the same time (struct scarce; test_scarce.py knows its layout) and says
 * which allocation fails, counted from now on over all threads. Without the file nothing fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct scarce {
	_Atomic uint64_t calls;	  /* so far */
	_Atomic uint64_t failing; /* the one that fails, in the same count; 0: none */
	_Atomic uint64_t failed;  /* how many have */
	_Atomic uint64_t lasting; /* 1: and all after it */
};

static struct scarce *scarce;

__attribute__((constructor)) static void map_scarce(void)
{
	const char *path = getenv("CHISTORE_SCARCE");
	int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd < 0) {
		return;
	}
	void *at = mmap(NULL, sizeof(*scarce), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	scarce = at == MAP_FAILED ? NULL : at;
}

static bool fails(void)
{
	if (scarce == NULL) {
		return false;
	}
	uint64_t call = atomic_fetch_add(&scarce->calls, 1) + 1;
	uint64_t failing = atomic_load(&scarce->failing);
	bool after = failing != 0 && call > failing && atomic_load(&scarce->lasting) != 0;
	if (call != failing && !after) {
		return false;
	}
	atomic_fetch_add(&scarce->failed, 1);
	errno = ENOMEM;
	return true;
}

/* The C library's own, by the names that it keeps for those who stand in front of them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}
