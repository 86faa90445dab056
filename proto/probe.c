/* SPDX-License-Identifier: MIT */
/*
 * All that is taken here chi_request_unpack takes too, with the same meaning; what it would refuse,
 * or what another runtime writes in another way, is left to it. So nothing here says what is wrong.
 */
#include "proto/probe.h"

#include "base/wire.h"
#include "proto/wire/fields.h"
#include "proto/record.h"

/* Tags as they are encoded: number and wire type. */
#define TAG_ID	  0x08 /* Request.id */
#define TAG_STORE 0x12 /* Request.store */
#define TAG_KEYS  0x0a /* Probe.keys */
/* Request.probe: field 19 as bytes, a varint of two. */
#define TAG_PROBE_1 0x9a
#define TAG_PROBE_2 0x01

static inline bool take_byte(struct chi_reader *r, uint8_t byte)
{
	bool is = r->at < r->end && *r->at == byte;
	r->at += is;
	return is;
}

/* The bytes that follow a length. */
static inline const uint8_t *take_bytes(struct chi_reader *r, size_t *len)
{
	uint64_t value = chi_read_varint(r);
	*len = value <= chi_reader_left(r) ? (size_t)value : SIZE_MAX;
	return chi_read_bytes(r, *len);
}

static bool read_keys(const uint8_t *at, size_t len, struct chi_key *keys, size_t *n)
{
	const uint8_t *end = at + len;
	*n = 0;
	while (at < end) {
		size_t key_len = *at++;
		if (*n == CHI_PROBE_MAX || key_len > (size_t)(end - at) ||
		    chi_key_from(at, key_len, &keys[*n]) != NULL) {
			return false;
		}
		at += key_len;
		*n += 1;
	}
	return *n > 0;
}

bool chi_probe_read(const uint8_t *bytes, size_t len, struct chi_key *keys,
		    struct chi_probe_answer *out)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	const uint8_t *store = NULL;
	size_t inner_len = 0;
	size_t keys_len = 0;
	out->store_len = 0;
	out->id = take_byte(&r, TAG_ID) ? chi_read_varint(&r) : 0;
	if (take_byte(&r, TAG_STORE)) {
		store = take_bytes(&r, &out->store_len);
	}
	if (!take_byte(&r, TAG_PROBE_1) || !take_byte(&r, TAG_PROBE_2)) {
		return false;
	}
	const uint8_t *inner = take_bytes(&r, &inner_len);
	if (inner == NULL || chi_reader_left(&r) != 0 || out->id == 0) {
		return false;
	}
	struct chi_reader probe = chi_reader_of(inner, inner_len);
	const uint8_t *packed = take_byte(&probe, TAG_KEYS) ? take_bytes(&probe, &keys_len) : NULL;
	if (packed == NULL || chi_reader_left(&probe) != 0) {
		return false;
	}
	out->store = (const char *)store;
	return read_keys(packed, keys_len, keys, &out->n);
}
