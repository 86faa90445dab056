/* SPDX-License-Identifier: MIT */
/* Records, keys and filters between our structs and protobuf, both ways. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/pbc.h"

/* ---- To the wire: contents of the sub-message, without its tag and length ---------------- */

size_t chi_counts_len(const struct chi_counts *counts);
uint8_t *chi_put_counts(uint8_t *at, const struct chi_counts *counts);

size_t chi_record_len(const struct chi_record *record);
uint8_t *chi_put_record(uint8_t *at, const struct chi_record *record);

/* ---- From the wire ----------------------------------------------------------------------- */

/* Where memory comes from, and where to say what is wrong. */
struct chi_unpacker {
	struct chi_arena *arena;
	struct chi_flaw *flaw;
};

/* Zero if `from` is NULL. */
struct chi_counts chi_counts_from(const PB(Counts) * from);

/* A record with all its limits checked; NULL stands for an empty one. Texts stay where `from` has
 * them. Paths of flaws start at the record: "evals[2].depth". */
CHI_MUSTUSE int chi_record_from(struct chi_unpacker *u, const PB(Record) * from,
				struct chi_record *out);

/* One key; NULL or what is wrong with it. Checks its shape, not that it is a position. */
const char *chi_key_from(const uint8_t *bytes, size_t len, struct chi_key *out);

CHI_MUSTUSE int chi_cursor_from(struct chi_unpacker *u, const PB(Cursor) * from,
				struct chi_cursor *out);

static inline struct chi_text chi_text_from(const char *text)
{
	return (struct chi_text){.bytes = text, .len = strlen(text)};
}
