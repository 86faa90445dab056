/* SPDX-License-Identifier: MIT */
/*
 * The parts of reading and writing bytes that are too long to inline. Stored records and network
 * frames go through the same functions, so that both have one meaning of a varint.
 */
#include "base/wire.h"

/* A 64-bit value is nine groups of seven bits and one of a single bit. */
#define VARINT_MAX 10

uint64_t chi_read_varint(struct chi_reader *r)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < VARINT_MAX; i++) {
		uint8_t byte = chi_read_u8(r);
		if (r->bad) {
			return 0;
		}
		/* The tenth group has room for one bit, and nothing may follow it. */
		if (i == VARINT_MAX - 1 && byte > 1) {
			break;
		}
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if ((byte & 0x80) == 0) {
			/* A last group of zero says nothing: the value has a shorter form. */
			if (byte == 0 && i > 0) {
				break;
			}
			return value;
		}
	}
	r->bad = true;
	return 0;
}

void chi_write_le(struct chi_writer *w, uint64_t value, size_t width)
{
	/* Room first: a number is written whole or not at all. */
	if (w->bad || (size_t)(w->end - w->at) < width) {
		w->bad = true;
		return;
	}
	for (size_t i = 0; i < width; i++) {
		*w->at++ = (uint8_t)(i < sizeof(value) ? value >> (8 * i) : 0);
	}
}

void chi_write_varint(struct chi_writer *w, uint64_t value)
{
	uint8_t groups[VARINT_MAX];
	size_t n = 0;
	while (value >= 0x80) {
		groups[n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	groups[n++] = (uint8_t)value;
	chi_write_bytes(w, groups, n);
}
