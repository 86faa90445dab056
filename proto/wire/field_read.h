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

/* The next field. False at the end, and if the bytes are no field; then r->bad is set. */
bool chi_field_next(struct chi_reader *r, struct chi_field *out);

/* Unlike chi_read_varint this takes encodings that are longer than needed: protobuf allows them,
 * and some runtimes write them. Sets r->bad if there is none in ten bytes. */
uint64_t chi_field_varint(struct chi_reader *r);

/* How many numbers a field of a repeated one holds: packed, or one by itself. */
size_t chi_field_numbers(const struct chi_field *field);

/* How many fields of that number a message has. */
size_t chi_fields_of(const uint8_t *bytes, size_t len, uint32_t number);
