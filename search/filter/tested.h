/* SPDX-License-Identifier: MIT */
/*
 * Whether games fit, asked number by number: a chunk of columns is verified and tested when the
 * first of its games is asked about, and kept, so that further rounds of ascending numbers neither
 * read nor test it again. Private to the room; one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "search/filter/matcher.h"

struct chi_tested;

/* The matcher, made with `asked`, must be prepared before the first question, and outlive it.
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_tested_new(struct chi_matcher *matcher, struct chi_tested **out);
/* NULL is fine. */
void chi_tested_free(struct chi_tested *tested);

/* Whether a game fits, and its result. Numbers of a round ascend. CHI_NONE: it does not, or is not
 * there; -CHI_ENOMEM, -CHI_ECORRUPT. *steps shrink. */
CHI_MUSTUSE int chi_tested_ask(struct chi_tested *tested, uint32_t number, uint64_t *steps,
			       uint32_t *result);

/* The first number above those that are answered as fast as `number`, the last that was asked
 * about; up to 2^32. */
uint64_t chi_tested_end(const struct chi_tested *tested, uint32_t number);

/* Numbers begin again. Chunks that are tested from here on are not kept. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_tested_rewind(struct chi_tested *tested);

/* Bytes that it takes, about. */
size_t chi_tested_memory(const struct chi_tested *tested);
