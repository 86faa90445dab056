/* SPDX-License-Identifier: MIT */
/* What the tests of readers of evaluations share (formats/evals): lines read from memory of exactly
 * their length, and lines that are refused. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chistore/types.h"
#include "tests/base/cases.h"
#include "tests/cli/arena.h"

typedef int evals_reader(const char *line, size_t len, const char *engine, struct chi_arena *arena,
			 struct chi_put_entry *put, struct chi_fault *fault);

/* So that reading beyond the line is seen. */
static inline int evals_read(evals_reader *reader, const char *engine, const char *line, size_t len,
			     struct chi_put_entry *put, struct chi_fault *fault)
{
	char *copy = malloc(len > 0 ? len : 1);
	assert_non_null(copy);
	memcpy(copy, line, len);
	fault->text[0] = '\0';
	int status = reader(copy, len, engine, &arena, put, fault);
	free(copy);
	return status;
}

/* A line, and what is said of it. */
struct evals_refused {
	const char *line;
	int status;
	const char *words;
};

static inline void evals_refuse(evals_reader *reader, const struct evals_refused *refused)
{
	struct chi_put_entry put;
	struct chi_fault fault;
	int status = evals_read(reader, "me", refused->line, strlen(refused->line), &put, &fault);
	if (status != refused->status || strstr(fault.text, refused->words) == NULL) {
		fail_msg("'%s': %d, '%s' lacks '%s'", refused->line, status, fault.text,
			 refused->words);
	}
}

/* Lines without a position. */
static inline void evals_nothing_there(evals_reader *reader)
{
	static const char *const lines[] = {"", " \t", "# a comment", "# cdb eval: 5;"};
	for (size_t i = 0; i < CHI_COUNT(lines); i++) {
		struct chi_put_entry put;
		struct chi_fault fault;
		assert_int_equal(evals_read(reader, "me", lines[i], strlen(lines[i]), &put, &fault),
				 CHI_NONE);
	}
}
