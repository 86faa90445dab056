/* SPDX-License-Identifier: MIT */
/* The start of a record, which all that read records share; inline, because probes read little
 * else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/wire.h"
#include "store/record/codec.h"
#include "store/record/record_priv.h"

/* A mask of the counts that are not 0 (bits 0-3) and of those that are 1 (bits 4-7), then a
 * varint for each that is 2 or more. */
static inline void chi_record_read_counts(struct chi_reader *r, struct chi_counts *counts)
{
	unsigned mask = chi_read_u8(r);
	unsigned present = mask & 15;
	unsigned ones = mask >> 4;
	if ((ones & ~present) != 0) {
		r->bad = true;
	}
	for (unsigned i = 0; i < 4; i++) {
		uint64_t value = present >> i & 1;
		if ((present & ~ones) >> i & 1) {
			value = chi_read_small(r);
			if (value < 2) {
				r->bad = true;
			}
		}
		*chi_counts_of(counts, i) = value;
	}
	uint64_t total;
	if (!chi_counts_total(counts, &total)) {
		r->bad = true;
	}
}

/* The head byte and what follows it. */
static inline bool chi_record_open(const uint8_t *value, size_t len, struct chi_reader *r,
				   uint8_t *head)
{
	if (CHI_UNLIKELY(len < 1 || len > CHI_RECORD_BYTES_MAX)) {
		return false;
	}
	/* Set in one go: what is written in two parts and read as one is waited for. */
	*r = (struct chi_reader){.at = value + 1, .end = value + len};
	*head = value[0];
	return true;
}

static inline uint32_t chi_record_read_head(struct chi_reader *r, uint8_t head, uint16_t *chi2,
					    struct chi_counts *counts)
{
	*chi2 = CHI_CHI2_UNKNOWN;
	*counts = (struct chi_counts){0};
	if (head & HEAD_CHI2) {
		const uint8_t *bytes = chi_read_bytes(r, 2);
		*chi2 = bytes != NULL ? chi_chi2_of(bytes) : CHI_CHI2_UNKNOWN;
		if (*chi2 == CHI_CHI2_UNKNOWN) {
			r->bad = true;
		}
	}
	unsigned form = (head & HEAD_COUNTS) >> 1;
	unsigned result = (head & HEAD_RESULT) >> 3;
	if (head_is_one(head)) {
		*chi_counts_of(counts, result) = 1;
		if (form == COUNTS_NUMBERED) {
			uint64_t number = chi_read_small(r);
			r->bad = r->bad || number == 0 || number > UINT32_MAX;
			return (uint32_t)number;
		}
		return 0;
	}
	if (result != 0 && (form != COUNTS_FULL || result == 3)) {
		r->bad = true;
	}
	if (form == COUNTS_FULL) {
		chi_record_read_counts(r, counts);
	}
	return 0;
}
