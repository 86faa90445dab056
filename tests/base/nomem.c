/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/base/nomem.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/seed.h"

/* A first failure may make what then lives as long as the process: texts, say. A leak is there
 * each time. */
#define TRIES 3

static atomic_bool armed;
static atomic_size_t calls; /* since it was armed */
static atomic_size_t fails_at;
static atomic_size_t failed;
static atomic_long live;

bool nomem_fails(void)
{
	if (!atomic_load_explicit(&armed, memory_order_relaxed) ||
	    atomic_fetch_add(&calls, 1) + 1 != atomic_load(&fails_at)) {
		return false;
	}
	atomic_fetch_add(&failed, 1);
	errno = ENOMEM;
	return true;
}

#ifdef NOMEM_WRAPPED

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
	return nomem_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return nomem_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return nomem_fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return nomem_fails() ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strdup(const char *text)
{
	return nomem_fails() ? NULL : __real_strdup(text);
}

#else

/* The C library's own, by the names that it keeps for those who stand in front of them. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *pointer);

static void *born(void *pointer)
{
	if (pointer != NULL) {
		atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
	}
	return pointer;
}

void *malloc(size_t size)
{
	return nomem_fails() ? NULL : born(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return nomem_fails() ? NULL : born(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
	if (nomem_fails()) {
		return NULL;
	}
	void *now = __libc_realloc(old, size);
	return old == NULL ? born(now) : now;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return nomem_fails() ? NULL : born(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *made = aligned_alloc(alignment, size);
	if (made == NULL) {
		return ENOMEM;
	}
	*out = made;
	return 0;
}

void free(void *pointer)
{
	if (pointer != NULL) {
		atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
	}
	__libc_free(pointer);
}

#endif

void nomem_arm(size_t failing)
{
	atomic_store(&calls, 0);
	atomic_store(&failed, 0);
	atomic_store(&fails_at, failing);
	atomic_store(&armed, true);
}

size_t nomem_disarm(bool *did)
{
	atomic_store(&armed, false);
	if (did != NULL) {
		*did = atomic_load(&failed) > 0;
	}
	return atomic_load(&calls);
}

long nomem_live(void)
{
	return atomic_load(&live);
}

/* As often as it takes to see that what is live does not grow each time. */
static int run_one(const char *name, nomem_run *run, const void *context, size_t failing)
{
	size_t n = 0;
	int worst = CHI_OK;
	for (int try = 0; try < TRIES; try++) {
		long before = nomem_live();
		worst = run(failing, &n, context);
		if (nomem_live() <= before) {
			return worst;
		}
	}
	fail_msg("%s, allocation %zu: something stays allocated", name, failing);
	return worst;
}

size_t nomem_sweep(const char *name, nomem_run *run, const void *context, size_t most)
{
	static struct seed seed;
	static bool started;
	if (!started) {
		seed = seed_start("nomem");
		started = true;
	}
	size_t rounds = seed_rounds(most);
	size_t count = 0;
	size_t tried = 0;
	size_t heard = 0;
	/* What lives for the whole process is made by the first; the second counts. */
	assert_int_equal(run(0, &count, context), CHI_OK);
	assert_int_equal(run(0, &count, context), CHI_OK);
	bool all = rounds > most || count <= rounds;
	for (size_t i = 1; i <= (all ? count : rounds); i++) {
		size_t failing = all ? i : 1 + seed_below(&seed, count);
		heard += run_one(name, run, context, failing) != CHI_OK;
		tried++;
	}
	print_message("# figures: %s: %zu allocations, %zu failed, %zu runs heard of it\n", name,
		      count, tried, heard);
	return heard;
}
