/* SPDX-License-Identifier: MIT */
/* The text of a dump, lines without checksums, with these. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "store/text/seal.h"
#include "tests/base/cases.h"

/* NUL-terminated, to be freed; *len is its length. */
static inline char *sealed(const char *text, size_t *len)
{
	struct chi_dump_seal seal;
	char sum[CHI_DUMP_SUM_SIZE];
	size_t size = strlen(text);
	const char *end = text + size;
	char *out = malloc(size + (size / 1000 + 2) * sizeof(sum));
	assert_non_null(out);
	assert_int_equal(chi_dump_seal_init(&seal), CHI_OK);
	char *at = out;
	for (size_t n = 0; text < end; text += n) {
		/* No function of strings: a sanitizer measures all that follows in each call. */
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		assert_non_null(newline);
		n = (size_t)(newline - text) + 1;
		size_t n_sum = chi_dump_seal_lines(&seal, text, n, sum);
		at = (char *)memcpy(at, sum, n_sum) + n_sum;
		at = (char *)memcpy(at, text, n) + n;
	}
	size_t n_sum = chi_dump_seal_end(&seal, sum);
	at = (char *)memcpy(at, sum, n_sum) + n_sum;
	*at = '\0';
	*len = (size_t)(at - out);
	chi_dump_seal_deinit(&seal);
	return out;
}
