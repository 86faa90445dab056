/* SPDX-License-Identifier: MIT */
/* Structs that the tables describe, to bytes. */
#include "proto/message.h"

#include <string.h>

#include "base/wire.h"

/* True unless a member that only some structs have is not in this one. */
static bool is_there(const struct chi_member *member, const void *base)
{
	const void *other = chi_member_at(base, member->other);
	switch (member->presence) {
	case CHI_IF_FLAG:
		return *(const bool *)other;
	case CHI_IF_CASE:
		return chi_number_at(other, sizeof(uint32_t)) == member->instead;
	default:
		return true;
	}
}

/* ---- To bytes ---------------------------------------------------------------------------- */

/* A field's contents. NULL in `bytes`: it is not sent. */
struct span {
	const void *bytes;
	size_t len;
};

static struct span bytes_of(const struct chi_member *member, const void *base)
{
	static const uint8_t zero[64];
	const void *at = chi_member_at(base, member->at);
	struct span span = {.bytes = at, .len = member->size};
	switch (member->kind) {
	case CHI_TEXT: {
		const struct chi_text *text = at;
		return (struct span){text->len > 0 ? text->bytes : NULL, text->len};
	}
	case CHI_STRING:
		span.bytes = chi_pointer_at(at);
		span.len = span.bytes != NULL ? strlen(span.bytes) : 0;
		break;
	case CHI_CHARS:
		span.len = strnlen(at, member->size);
		break;
	case CHI_BYTES:
	case CHI_SLICE:
		span.bytes = chi_pointer_at(at);
		span.len = chi_size_at(chi_member_at(base, member->other));
		break;
	case CHI_KEY: {
		const struct chi_key *key =
			member->presence == CHI_IF_POINTER ? chi_pointer_at(at) : at;
		if (key == NULL) {
			return (struct span){0};
		}
		span = (struct span){key->bytes,
				     key->len <= CHI_KEY_MAX ? key->len : CHI_UNPACKABLE};
		break;
	}
	default: /* FIXED */
		if (!is_there(member, base) ||
		    (member->presence == CHI_IF_SET && memcmp(at, zero, span.len) == 0)) {
			span.len = 0;
		}
		break;
	}
	return span.len > 0 ? span : (struct span){0};
}

/* The struct of a NESTED member, and the bytes of its contents; NULL if it is not sent. */
static const void *nested_of(const struct chi_member *member, const void *base, size_t *len,
			     size_t *noted)
{
	const void *inner = chi_member_at(base, member->at);
	if (member->presence == CHI_IF_POINTER) {
		inner = chi_pointer_at(inner);
	}
	if (inner == NULL || !is_there(member, base)) {
		return NULL;
	}
	*len = chi_message_len(member->type, inner, noted);
	return *len > 0 || member->presence != CHI_IF_SET ? inner : NULL;
}

static size_t list_len(const struct chi_member *member, const void *base)
{
	const uint8_t *element = chi_pointer_at(chi_member_at(base, member->at));
	size_t n = chi_size_at(chi_member_at(base, member->other));
	size_t len = 0;
	for (size_t i = 0; i < n; i++) {
		size_t noted = 0;
		len += chi_nested_len(member->field,
				      chi_message_len(member->type, element, &noted));
		element += member->size;
	}
	return len;
}

static size_t member_len(const struct chi_member *member, const void *base)
{
	const void *at = chi_member_at(base, member->at);
	size_t len = 0;
	size_t noted = 0;
	switch (member->kind) {
	case CHI_NUMBER:
	case CHI_BOOL:
		return chi_uint_len(member->field, chi_number_at(at, member->size));
	case CHI_SIGNED:
		return chi_uint_len(member->field, chi_zigzag(*(const int32_t *)at));
	case CHI_LIST:
		return list_len(member, base);
	case CHI_NUMBERS:
		return chi_bytes_len(member->field,
				     chi_size_at(chi_member_at(base, member->other)) *
					     sizeof(uint32_t));
	case CHI_UNKEPT:
		return 0;
	case CHI_NESTED:
		return nested_of(member, base, &len, &noted) != NULL
			       ? chi_nested_len(member->field, len)
			       : 0;
	default:
		return chi_bytes_len(member->field, bytes_of(member, base).len);
	}
}

size_t chi_message_len(const struct chi_message *type, const void *from, size_t *noted)
{
	if (type->len != NULL) {
		return type->len(from, noted);
	}
	size_t len = 0;
	for (size_t i = 0; i < type->n; i++) {
		len += member_len(&type->members[i], from);
	}
	return len;
}

static uint8_t *put_list(uint8_t *at, const struct chi_member *member, const void *base)
{
	const uint8_t *element = chi_pointer_at(chi_member_at(base, member->at));
	size_t n = chi_size_at(chi_member_at(base, member->other));
	for (size_t i = 0; i < n; i++) {
		size_t noted = 0;
		size_t len = chi_message_len(member->type, element, &noted);
		at = chi_put_head(at, member->field, len);
		at = chi_message_put(at, member->type, element, noted);
		element += member->size;
	}
	return at;
}

/* Of 4 bytes, the low one first. */
static uint8_t *put_fixed(uint8_t *at, const uint32_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (unsigned shift = 0; shift < 32; shift += 8) {
			*at++ = (uint8_t)(numbers[i] >> shift);
		}
	}
	return at;
}

static uint8_t *put_numbers(uint8_t *at, const struct chi_member *member, const void *base)
{
	const uint32_t *numbers = chi_pointer_at(chi_member_at(base, member->at));
	size_t n = chi_size_at(chi_member_at(base, member->other));
	return n == 0 ? at
		      : put_fixed(chi_put_head(at, member->field, n * sizeof(*numbers)), numbers,
				  n);
}

static uint8_t *put_member(uint8_t *at, const struct chi_member *member, const void *base)
{
	const void *value = chi_member_at(base, member->at);
	size_t len = 0;
	size_t noted = 0;
	switch (member->kind) {
	case CHI_NUMBER:
	case CHI_BOOL:
		return chi_put_uint(at, member->field, chi_number_at(value, member->size));
	case CHI_SIGNED:
		return chi_put_uint(at, member->field, chi_zigzag(*(const int32_t *)value));
	case CHI_LIST:
		return put_list(at, member, base);
	case CHI_NUMBERS:
		return put_numbers(at, member, base);
	case CHI_UNKEPT:
		return at;
	case CHI_NESTED: {
		const void *inner = nested_of(member, base, &len, &noted);
		return inner == NULL ? at
				     : chi_message_put(chi_put_head(at, member->field, len),
						       member->type, inner, noted);
	}
	default: {
		struct span span = bytes_of(member, base);
		return chi_put_bytes(at, member->field, span.bytes, span.len);
	}
	}
}

uint8_t *chi_message_put(uint8_t *at, const struct chi_message *type, const void *from,
			 size_t noted)
{
	if (type->put != NULL) {
		return type->put(at, from, noted);
	}
	for (size_t i = 0; i < type->n; i++) {
		at = put_member(at, &type->members[i], from);
	}
	return at;
}

/* ---- Rows -------------------------------------------------------------------------------- */

const struct chi_member *chi_message_list(const struct chi_message *type)
{
	for (size_t i = 0; i < type->n; i++) {
		if (type->members[i].kind == CHI_LIST) {
			return &type->members[i];
		}
	}
	return NULL;
}
