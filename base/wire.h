/* SPDX-License-Identifier: MIT */
/*
 * Bounds-checked reading and writing of bytes. Errors are sticky: after the first access beyond
 * the end every further one does nothing (reads give 0), so that decoders are straight-line code
 * that checks once at the end. Loops over input must also stop on `bad`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct chi_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline struct chi_reader chi_reader_of(const void *bytes, size_t len)
{
	const uint8_t *start = bytes;
	return (struct chi_reader){.at = start, .end = start + len};
}

static inline size_t chi_reader_left(const struct chi_reader *r)
{
	return r->bad ? 0 : (size_t)(r->end - r->at);
}

/* The next `len` bytes, or NULL; in the buffer that is read. */
static inline const uint8_t *chi_read_bytes(struct chi_reader *r, size_t len)
{
	if (r->bad || (size_t)(r->end - r->at) < len) {
		r->bad = true;
		return NULL;
	}
	const uint8_t *bytes = r->at;
	r->at += len;
	return bytes;
}

static inline uint8_t chi_read_u8(struct chi_reader *r)
{
	const uint8_t *b = chi_read_bytes(r, 1);
	return b != NULL ? b[0] : 0;
}

/* Fixed width, little-endian. */
static inline uint64_t chi_read_le(struct chi_reader *r, size_t width)
{
	const uint8_t *b = chi_read_bytes(r, width);
	uint64_t value = 0;
	for (size_t i = 0; b != NULL && i < width; i++) {
		value |= (uint64_t)b[i] << (8 * i);
	}
	return value;
}

/* Base-128 varint, least significant group first, as protobuf writes it: at most 10 bytes. An
 * encoding longer than needed is refused, so that every value has one form. */
uint64_t chi_read_varint(struct chi_reader *r);

/* The same where most are below 128. */
static inline uint64_t chi_read_small(struct chi_reader *r)
{
	if (!r->bad && r->at < r->end && *r->at < 0x80) {
		return *r->at++;
	}
	return chi_read_varint(r);
}

struct chi_writer {
	uint8_t *at;
	uint8_t *end;
	bool bad;
};

static inline struct chi_writer chi_writer_of(void *bytes, size_t len)
{
	uint8_t *start = bytes;
	return (struct chi_writer){.at = start, .end = start + len};
}

static inline void chi_write_bytes(struct chi_writer *w, const void *bytes, size_t len)
{
	if (w->bad || (size_t)(w->end - w->at) < len) {
		w->bad = true;
		return;
	}
	if (len > 0) {
		memcpy(w->at, bytes, len);
		w->at += len;
	}
}

static inline void chi_write_u8(struct chi_writer *w, uint8_t value)
{
	chi_write_bytes(w, &value, 1);
}

void chi_write_le(struct chi_writer *w, uint64_t value, size_t width);
void chi_write_varint(struct chi_writer *w, uint64_t value);

/* How many bytes chi_write_varint takes: 1..10. Seven bits a byte: bits * 9 / 64 is bits / 7
 * rounded the right way for 1..64 bits. */
static inline size_t chi_varint_size(uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
	return (bits * 9 + 64) / 64;
}
