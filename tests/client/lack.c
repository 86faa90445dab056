/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/client/lack.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "chistore.h"
#include "tests/base/nomem.h"

static size_t now_failing;
static bool heard;

void lack_begin(size_t failing)
{
	now_failing = failing;
	heard = false;
	nomem_arm(failing);
}

int lack_end(size_t *calls)
{
	*calls = nomem_disarm(NULL);
	return heard ? -CHI_ENOMEM : CHI_OK;
}

bool lack_heard(void)
{
	return heard;
}

/* What was to be synced later may be lost with a connection that was given up. OpenSSL may fail
 * over something else for it, or say nothing and show no certificate. */
static bool follows(int status, const char *text)
{
	bool untold = strstr(text, "malloc failure") != NULL ||
		      strstr(text, "cannot use the ") != NULL ||
		      (status == -CHI_ECONNECT && strstr(text, "TLS") != NULL) ||
		      (status == -CHI_EACCES && strstr(text, "no rule matches") != NULL);
	return untold ||
	       (status == -CHI_ECONNECT && strstr(text, "the connection broke before") != NULL);
}

bool lack_went(int status, const char *text)
{
	if (status < 0) {
		if (text[0] == '\0' || (status != -CHI_ENOMEM && !follows(status, text))) {
			(void)nomem_disarm(NULL);
			fail_msg("allocation %zu: status %d, '%s'", now_failing, status, text);
		}
		heard = true;
	}
	return status >= 0;
}

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

void lack_of_openssl(void)
{
	if (CRYPTO_set_mem_functions(take, take_anew, give_back) != 1) {
		fail_msg("OpenSSL has begun to allocate");
	}
}
