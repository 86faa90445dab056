/* SPDX-License-Identifier: MIT */
/* What a client's calls may say while an allocation fails, for the tests of that. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The failing-th allocation fails from here on; 0: none does. */
void lack_begin(size_t failing);

/* None fails any more. Returns -CHI_ENOMEM if a call has heard of it, else CHI_OK; *calls:
 * allocations since lack_begin. */
int lack_end(size_t *calls);

/* Has a call since lack_begin heard of it? */
bool lack_heard(void);

/* True if the call went well. It may have failed for lack of memory, or over what follows from
 * that; anything else fails the test. */
bool lack_went(int status, const char *text);

/* Sends OpenSSL's allocations through this program's objects, so that they are among those that
 * fail before a sanitizer's allocator, too. Goes before any use of OpenSSL. */
void lack_of_openssl(void);
