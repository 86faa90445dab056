/* SPDX-License-Identifier: MIT */
/*
 * Protobuf fields written by hand, for the messages that carry positions by the thousand: no tree
 * of structs between ours and the bytes. Sizes first, then the writing into room of that size;
 * each writer here has its size beside it. Fields that hold their default are left out, as every
 * protobuf runtime does.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/wire/field_read.h"

static inline uint8_t *chi_put_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

/* sint32: small numbers stay small with either sign. */
static inline uint32_t chi_zigzag(int32_t value)
{
	return ((uint32_t)value << 1) ^ (value < 0 ? UINT32_MAX : 0);
}

static inline int32_t chi_unzigzag(uint32_t value)
{
	return (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
}

static inline size_t chi_tag_len(uint32_t field)
{
	return chi_varint_size((uint64_t)field << 3);
}

static inline uint8_t *chi_put_tag(uint8_t *at, uint32_t field, uint32_t wire_type)
{
	return chi_put_varint(at, (uint64_t)field << 3 | wire_type);
}

/* A number, even if it is 0. */
static inline size_t chi_number_len(uint32_t field, uint64_t value)
{
	return chi_tag_len(field) + chi_varint_size(value);
}

static inline uint8_t *chi_put_number(uint8_t *at, uint32_t field, uint64_t value)
{
	return chi_put_varint(chi_put_tag(at, field, CHI_WIRE_VARINT), value);
}

/* A number, left out if it is 0. */
static inline size_t chi_uint_len(uint32_t field, uint64_t value)
{
	return value == 0 ? 0 : chi_number_len(field, value);
}

static inline uint8_t *chi_put_uint(uint8_t *at, uint32_t field, uint64_t value)
{
	return value == 0 ? at : chi_put_number(at, field, value);
}

/* Tag and length of bytes or of a sub-message, whose contents follow. */
static inline size_t chi_nested_len(uint32_t field, size_t len)
{
	return chi_tag_len(field) + chi_varint_size(len) + len;
}

static inline uint8_t *chi_put_head(uint8_t *at, uint32_t field, size_t len)
{
	return chi_put_varint(chi_put_tag(at, field, CHI_WIRE_BYTES), len);
}

/* Bytes or a text, left out if empty. */
static inline size_t chi_bytes_len(uint32_t field, size_t len)
{
	return len == 0 ? 0 : chi_nested_len(field, len);
}

static inline uint8_t *chi_put_bytes(uint8_t *at, uint32_t field, const void *bytes, size_t len)
{
	if (len == 0) {
		return at;
	}
	at = chi_put_head(at, field, len);
	memcpy(at, bytes, len);
	return at + len;
}
