/* SPDX-License-Identifier: MIT */
/*
 * A shared library that is loaded when something first needs it, so that programs which do not
 * start without it. It stays loaded: its threads and memory would not survive being unloaded.
 *
 * Its user lists the functions once, as a macro with CALL(name) for each, and has from that a
 * struct of pointers to them (CHI_LIBRARY_MEMBER) and the names (CHI_LIBRARY_NAME).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"

#define CHI_LIBRARY_NAME(name)	 #name,
#define CHI_LIBRARY_MEMBER(name) __typeof__(&name) name;

struct chi_library {
	const char *file; /* its soname */
	const char *need; /* what needs it, and its package, for messages */
	const char *const *names;
	size_t n;
	void *functions; /* a struct of n pointers, in the order of their names */
	bool loaded;
};

/* Fills `functions` if that is not done. -CHI_EUNSUPPORTED: the library is not installed, or lacks
 * a function; -CHI_ENOMEM. Thread safe. */
CHI_MUSTUSE int chi_library_load(struct chi_library *library, struct chi_fault *fault);
