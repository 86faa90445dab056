/* SPDX-License-Identifier: MIT */
/*
 * What a fuzz target is: a file fuzz_<name>.c that defines LLVMFuzzerTestOneInput. It is linked
 * with libFuzzer, or with replay.c, which feeds it the files of corpus/<name>/.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* `data` is an allocation of exactly `size` bytes, so that reading beyond it is seen. Returns 0;
 * a failure is a crash. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert it is never compiled out: it is the whole point of the program. */
#define REQUIRE(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
