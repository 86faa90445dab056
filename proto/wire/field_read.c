/* SPDX-License-Identifier: MIT */
/* Protobuf's wire format, as far as it is used: groups, long out of use, are not. */
#include "proto/wire/field_read.h"

/* A tag and a length are numbers of 32 bits, any other varint one of 64. */
#define TAG_BYTES_MAX	 5
#define VARINT_BYTES_MAX 10

static uint64_t read_varint(struct chi_reader *r, size_t max)
{
	size_t left = chi_reader_left(r);
	uint64_t value = 0;
	max = left < max ? left : max;
	for (size_t i = 0; i < max; i++) {
		uint8_t byte = r->at[i];
		/* The tenth byte has room for one bit; more is cut, as protobuf does. */
		if (i < VARINT_BYTES_MAX - 1 || byte <= 1) {
			value |= (uint64_t)(byte & 0x7f) << (7 * i);
		}
		if (byte < 0x80) {
			r->at += i + 1;
			return value;
		}
	}
	r->bad = true;
	return 0;
}

uint64_t chi_field_varint_any(struct chi_reader *r)
{
	return read_varint(r, VARINT_BYTES_MAX);
}

/* Fixed-width fields are skipped: no message here has one, but a later version's may. */
static void read_content(struct chi_reader *r, struct chi_field *field)
{
	switch (field->type) {
	case CHI_WIRE_VARINT:
		field->value = chi_field_varint(r);
		break;
	case CHI_WIRE_64:
		(void)chi_read_bytes(r, 8);
		break;
	case CHI_WIRE_32:
		(void)chi_read_bytes(r, 4);
		break;
	case CHI_WIRE_BYTES: {
		uint64_t len = read_varint(r, TAG_BYTES_MAX);
		/* Five bytes hold 35 bits: more than 32 is more than there can be. */
		field->len = len > UINT32_MAX ? SIZE_MAX : (size_t)len;
		field->bytes = chi_read_bytes(r, field->len);
		break;
	}
	default:
		/* Groups, and numbers without a meaning. */
		r->bad = true;
		break;
	}
}

bool chi_field_next_any(struct chi_reader *r, struct chi_field *out)
{
	*out = (struct chi_field){0};
	if (chi_reader_left(r) == 0) {
		return false;
	}
	uint64_t tag = read_varint(r, TAG_BYTES_MAX);
	out->type = (enum chi_wire_type)(tag & 7);
	out->number = (uint32_t)(tag >> 3);
	if (tag >> 32 != 0 || out->number == 0) {
		r->bad = true;
		return false;
	}
	read_content(r, out);
	return !r->bad;
}
