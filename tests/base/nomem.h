/* SPDX-License-Identifier: MIT */
/*
 * Memory that runs out once: which allocation of the test's own process fails, counted over all
 * its threads. Without a sanitizer the C library's and every other library's are among them, and
 * what is live is counted; before a sanitizer's own allocator only those of the program's objects
 * are, and the sanitizer looks for what leaks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The `failing`-th allocation from now on fails; 0: none, they are counted only. */
void nomem_arm(size_t failing);

/* None fails any more. Returns how many there were since, and whether one failed. */
size_t nomem_disarm(bool *failed);

/* Counts an allocation that is none of the C library's, as one from an arena, among them; true if
 * it is the one that has to fail. */
bool nomem_fails(void);

/* Blocks that are allocated and not freed; always 0 where a sanitizer looks for them. */
long nomem_live(void);

/*
 * What is to be tried, whole: with the failing-th allocation failing, it makes something, arms,
 * uses it, disarms, uses it again, which must go well now, and frees it all. Returns the worst
 * status that was heard while one was to fail; the test has failed if that is neither CHI_OK nor
 * -CHI_ENOMEM.
 */
typedef int nomem_run(size_t failing, size_t *calls, const void *context);

/*
 * Runs it with each allocation failing in its turn: with `most` of them that the seed chooses if
 * there are more, all of them with CHISTORE_EFFORT=high. Fails the test if something stays
 * allocated. Returns how many runs heard of it.
 */
size_t nomem_sweep(const char *name, nomem_run *run, const void *context, size_t most);
