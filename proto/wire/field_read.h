/* SPDX-License-Identifier: MIT */
/* Reading a protobuf message field by field, without a tree of structs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/wire.h"

enum chi_wire_type {
	CHI_WIRE_VARINT = 0,
	CHI_WIRE_64 = 1,
	CHI_WIRE_BYTES = 2,
	CHI_WIRE_32 = 5,
};

struct chi_field {
	uint32_t number;
	enum chi_wire_type type;
	uint64_t value;	      /* of a varint */
	const uint8_t *bytes; /* of bytes, a text or a sub-message; in the message, not copied */
	size_t len;
};

/* As the two below, of any form. */
bool chi_field_next_any(struct chi_reader *r, struct chi_field *out);
uint64_t chi_field_varint_any(struct chi_reader *r);

/* Unlike chi_read_varint this takes encodings that are longer than needed: protobuf allows them,
 * and some runtimes write them. Sets r->bad if there is none in ten bytes. Most have one or two. */
static inline uint64_t chi_field_varint(struct chi_reader *r)
{
	size_t left = chi_reader_left(r);
	const uint8_t *at = r->at;
	if (left > 0 && at[0] < 0x80) {
		r->at += 1;
		return at[0];
	}
	if (left > 1 && at[1] < 0x80) {
		r->at += 2;
		return (uint64_t)at[1] << 7 | (at[0] & 0x7f);
	}
	return chi_field_varint_any(r);
}

/* The next field. False at the end, and if the bytes are no field; then r->bad is set. Nearly all
 * have a tag, and a length, of one byte. */
static inline bool chi_field_next(struct chi_reader *r, struct chi_field *out)
{
	size_t left = chi_reader_left(r);
	const uint8_t *at = r->at;
	if (left < 2 || at[0] < 1 << 3 || at[0] >= 0x80) {
		return chi_field_next_any(r, out);
	}
	out->number = at[0] >> 3;
	out->type = (enum chi_wire_type)(at[0] & 7);
	if (out->type == CHI_WIRE_VARINT) {
		r->at = at + 1;
		out->bytes = NULL;
		out->len = 0;
		out->value = chi_field_varint(r);
		return !r->bad;
	}
	if (out->type != CHI_WIRE_BYTES || at[1] >= 0x80 || at[1] > left - 2) {
		return chi_field_next_any(r, out);
	}
	out->value = 0;
	out->bytes = at + 2;
	out->len = at[1];
	r->at = at + 2 + out->len;
	return true;
}
