/* SPDX-License-Identifier: MIT */
/* Records, keys and filters between our structs and protobuf, both ways. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/wire/field_read.h"
#include "proto/pbc.h"

/* ---- To the wire: contents of the sub-message, without its tag and length ---------------- */

size_t chi_counts_len(const struct chi_counts *counts);
uint8_t *chi_put_counts(uint8_t *at, const struct chi_counts *counts);

size_t chi_record_len(const struct chi_record *record);
uint8_t *chi_put_record(uint8_t *at, const struct chi_record *record);

/* ---- From the wire ----------------------------------------------------------------------- */

/* A text of a field, in the arena and NUL-terminated. */
CHI_MUSTUSE int chi_text_read(struct chi_unpacker *u, const struct chi_field *field,
			      struct chi_text *out);

/* One key; NULL or what is wrong with it. Checks its shape, not that it is a position. */
const char *chi_key_from(const uint8_t *bytes, size_t len, struct chi_key *out);
