/* SPDX-License-Identifier: MIT */
/* The mark of a write that happens at most once, as a field of a request. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/pbc.h"

/* Bytes of the field, and writing it; none of a write that is not marked. */
size_t chi_idempotency_len(const struct chi_idempotency_key *idempotency_key);
uint8_t *chi_put_once(uint8_t *at, const struct chi_idempotency_key *idempotency_key);

/* True if the mark says for which store it is. */
bool chi_idempotency_names_store(const struct chi_idempotency_key *idempotency_key);

/* Reads the mark of a request whose operation is known, from all of its checked bytes. -CHI_EINVAL
 * names what is out of range, or that the operation takes none. */
CHI_MUSTUSE int chi_idempotency_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len,
				     struct chi_request *out);
