/* SPDX-License-Identifier: MIT */
/* Structs that the tables describe, to bytes and back. */
#include "proto/message.h"

#include <string.h>

#include "base/wire.h"
#include "proto/record.h"

/* ---- Places in structs ------------------------------------------------------------------- */

static const void *place(const void *base, size_t at)
{
	return (const uint8_t *)base + at;
}

static void *room(void *base, size_t at)
{
	return (uint8_t *)base + at;
}

static uint64_t number_at(const void *at, size_t size)
{
	switch (size) {
	case sizeof(uint8_t):
		return *(const uint8_t *)at;
	case sizeof(uint16_t):
		return *(const uint16_t *)at;
	case sizeof(uint32_t):
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static void set_number(void *at, size_t size, uint64_t value)
{
	switch (size) {
	case sizeof(uint8_t):
		*(uint8_t *)at = (uint8_t)value;
		break;
	case sizeof(uint16_t):
		*(uint16_t *)at = (uint16_t)value;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
		break;
	}
}

static const void *pointer_at(const void *at)
{
	const void *pointer;
	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

static size_t size_at(const void *at)
{
	return *(const size_t *)at;
}

/* True unless a member that only some structs have is not in this one. */
static bool is_there(const struct chi_member *member, const void *base)
{
	const void *other = place(base, member->other);
	switch (member->presence) {
	case CHI_IF_FLAG:
		return *(const bool *)other;
	case CHI_IF_CASE:
		return number_at(other, sizeof(uint32_t)) == member->instead;
	default:
		return true;
	}
}

/* Says in the struct that the member is there. */
static void set_there(const struct chi_member *member, void *base)
{
	void *other = room(base, member->other);
	if (member->presence == CHI_IF_FLAG) {
		*(bool *)other = true;
	} else if (member->presence == CHI_IF_CASE) {
		set_number(other, sizeof(uint32_t), member->instead);
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
	const void *at = place(base, member->at);
	struct span span = {.bytes = at, .len = member->size};
	switch (member->kind) {
	case CHI_TEXT: {
		const struct chi_text *text = at;
		return (struct span){text->len > 0 ? text->bytes : NULL, text->len};
	}
	case CHI_STRING:
		span.bytes = pointer_at(at);
		span.len = span.bytes != NULL ? strlen(span.bytes) : 0;
		break;
	case CHI_CHARS:
		span.len = strnlen(at, member->size);
		break;
	case CHI_BYTES:
	case CHI_SLICE:
		span.bytes = pointer_at(at);
		span.len = size_at(place(base, member->other));
		break;
	case CHI_KEY: {
		const struct chi_key *key =
			member->presence == CHI_IF_POINTER ? pointer_at(at) : at;
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
	const void *inner = place(base, member->at);
	if (member->presence == CHI_IF_POINTER) {
		inner = pointer_at(inner);
	}
	if (inner == NULL || !is_there(member, base)) {
		return NULL;
	}
	*len = chi_message_len(member->type, inner, noted);
	return *len > 0 || member->presence != CHI_IF_SET ? inner : NULL;
}

static size_t list_len(const struct chi_member *member, const void *base)
{
	const uint8_t *element = pointer_at(place(base, member->at));
	size_t n = size_at(place(base, member->other));
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
	const void *at = place(base, member->at);
	size_t len = 0;
	size_t noted = 0;
	switch (member->kind) {
	case CHI_NUMBER:
	case CHI_BOOL:
		return chi_uint_len(member->field, number_at(at, member->size));
	case CHI_SIGNED:
		return chi_uint_len(member->field, chi_zigzag(*(const int32_t *)at));
	case CHI_LIST:
		return list_len(member, base);
	case CHI_NUMBERS:
		return chi_bytes_len(member->field,
				     size_at(place(base, member->other)) * sizeof(uint32_t));
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
	const uint8_t *element = pointer_at(place(base, member->at));
	size_t n = size_at(place(base, member->other));
	for (size_t i = 0; i < n; i++) {
		size_t noted = 0;
		size_t len = chi_message_len(member->type, element, &noted);
		at = chi_put_head(at, member->field, len);
		at = chi_message_put(at, member->type, element, noted);
		element += member->size;
	}
	return at;
}

uint8_t *chi_put_numbers(uint8_t *at, const uint32_t *numbers, size_t n)
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
	const uint32_t *numbers = pointer_at(place(base, member->at));
	size_t n = size_at(place(base, member->other));
	return n == 0 ? at
		      : chi_put_numbers(chi_put_head(at, member->field, n * sizeof(*numbers)),
					numbers, n);
}

static uint8_t *put_member(uint8_t *at, const struct chi_member *member, const void *base)
{
	const void *value = place(base, member->at);
	size_t len = 0;
	size_t noted = 0;
	switch (member->kind) {
	case CHI_NUMBER:
	case CHI_BOOL:
		return chi_put_uint(at, member->field, number_at(value, member->size));
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

/* ---- From bytes -------------------------------------------------------------------------- */

/* The one name of a field is that in chistore.proto. */
static const char *name_of(const struct chi_message *type, uint32_t field)
{
	return protobuf_c_message_descriptor_get_field(type->descriptor, field)->name;
}

static int read_number(const struct chi_member *member, uint64_t value, void *out,
		       const char **reason)
{
	uint64_t max = member->max;
	if (max == 0) {
		max = member->size < sizeof(max) ? (UINT64_C(1) << (8 * member->size)) - 1
						 : UINT64_MAX;
	}
	if (value > max) {
		if (member->max == 0 || member->reason != NULL) {
			*reason = member->reason != NULL ? member->reason : "out of range";
			return -CHI_EINVAL;
		}
		value = member->instead;
	}
	set_number(out, member->size, value);
	return CHI_OK;
}

static int read_signed(const struct chi_member *member, uint64_t value, void *out,
		       const char **reason)
{
	int32_t number = chi_unzigzag((uint32_t)value);
	if (number < member->min || number > (int32_t)member->max) {
		*reason = member->reason;
		return -CHI_EINVAL;
	}
	memcpy(out, &number, sizeof(number));
	return CHI_OK;
}

static int read_fixed(const struct chi_member *member, const struct chi_field *field, void *base,
		      const char **reason)
{
	if (field->len == 0 && member->presence != CHI_ALWAYS) {
		return CHI_OK;
	}
	if (field->len != member->size) {
		*reason = "not 16 bytes";
		return -CHI_EINVAL;
	}
	memcpy(room(base, member->at), field->bytes, member->size);
	set_there(member, base);
	return CHI_OK;
}

static int read_chars(const struct chi_member *member, const struct chi_field *field, void *out,
		      const char **reason)
{
	if (field->len >= member->size) {
		*reason = "too long";
		return -CHI_EINVAL;
	}
	memcpy(out, field->bytes, field->len);
	return CHI_OK;
}

static int read_text(struct chi_unpacker *u, const struct chi_member *member,
		     const struct chi_field *field, void *out)
{
	struct chi_text text = {0};
	int rc = chi_text_read(u, field, &text);
	if (rc == CHI_OK && member->kind == CHI_TEXT) {
		memcpy(out, &text, sizeof(text));
	} else if (rc == CHI_OK && (field->len > 0 || member->presence == CHI_ALWAYS)) {
		memcpy(out, &text.bytes, sizeof(text.bytes));
	}
	return rc;
}

static int read_bytes(struct chi_unpacker *u, const struct chi_member *member,
		      const struct chi_field *field, void *base)
{
	const char *bytes = chi_arena_text(u->arena, field->bytes, field->len);
	if (bytes == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, field->len + 1);
	}
	memcpy(room(base, member->at), &bytes, sizeof(bytes));
	memcpy(room(base, member->other), &field->len, sizeof(field->len));
	return CHI_OK;
}

static int read_nested(struct chi_unpacker *u, const struct chi_member *member,
		       const struct chi_field *field, void *base)
{
	void *inner = room(base, member->at);
	if (member->presence == CHI_IF_POINTER) {
		void *made = chi_arena_array(u->arena, 1, member->size);
		if (made == NULL) {
			return chi_flaw_memory(u->flaw, u->arena, member->size);
		}
		memcpy(inner, &made, sizeof(made));
		inner = made;
	}
	set_there(member, base);
	return chi_message_read(u, member->type, field->bytes, field->len, inner);
}

/* The first element brings memory for all; *n is how many there are in the message. */
static int read_element(struct chi_unpacker *u, const struct chi_member *member,
			const struct chi_field *field, void *base, size_t n)
{
	void *list = room(base, member->at);
	size_t done = size_at(room(base, member->other));
	uint8_t *elements = NULL;
	if (done == 0) {
		elements = chi_arena_array(u->arena, n, member->size);
		if (elements == NULL) {
			return chi_flaw_memory(u->flaw, u->arena, n * member->size);
		}
		memcpy(list, &elements, sizeof(elements));
	}
	memcpy(&elements, list, sizeof(elements));
	int rc = chi_message_read(u, member->type, field->bytes, field->len,
				  elements + done * member->size);
	done++;
	memcpy(room(base, member->other), &done, sizeof(done));
	return rc;
}

static int read_numbers(struct chi_unpacker *u, const struct chi_member *member,
			const struct chi_field *field, void *base, const char **reason)
{
	size_t n = field->len / sizeof(uint32_t);
	uint32_t *numbers = chi_arena_array(u->arena, n, sizeof(*numbers));
	if (numbers == NULL) {
		return chi_flaw_memory(u->flaw, u->arena, field->len);
	}
	if (field->len % sizeof(uint32_t) != 0) {
		*reason = "not 4 bytes a number";
		return -CHI_EINVAL;
	}
	struct chi_reader r = chi_reader_of(field->bytes, field->len);
	for (size_t i = 0; i < n; i++) {
		numbers[i] = (uint32_t)chi_read_le(&r, sizeof(*numbers));
	}
	memcpy(room(base, member->at), &numbers, sizeof(numbers));
	memcpy(room(base, member->other), &n, sizeof(n));
	return CHI_OK;
}

static int read_key(struct chi_unpacker *u, const struct chi_member *member,
		    const struct chi_field *field, void *out, const char **reason)
{
	if (member->presence == CHI_IF_POINTER && field->len > 0) {
		struct chi_key *made = chi_arena_array(u->arena, 1, sizeof(*made));
		if (made == NULL) {
			return chi_flaw_memory(u->flaw, u->arena, sizeof(*made));
		}
		memcpy(out, &made, sizeof(made));
		out = made;
	}
	*reason = field->len > 0 ? chi_key_from(field->bytes, field->len, out) : NULL;
	return *reason == NULL ? CHI_OK : -CHI_EKEY;
}

static int read_member(struct chi_unpacker *u, const struct chi_member *member,
		       const struct chi_field *field, void *base, const char **reason)
{
	void *out = room(base, member->at);
	switch (member->kind) {
	case CHI_NUMBER:
		return read_number(member, field->value, out, reason);
	case CHI_SIGNED:
		return read_signed(member, field->value, out, reason);
	case CHI_BOOL:
		*(bool *)out = field->value != 0;
		return CHI_OK;
	case CHI_CHARS:
		return read_chars(member, field, out, reason);
	case CHI_BYTES:
		return read_bytes(u, member, field, base);
	case CHI_SLICE:
		memcpy(out, &field->bytes, sizeof(field->bytes));
		memcpy(room(base, member->other), &field->len, sizeof(field->len));
		return CHI_OK;
	case CHI_FIXED:
		return read_fixed(member, field, base, reason);
	case CHI_KEY:
		return read_key(u, member, field, out, reason);
	case CHI_NUMBERS:
		return read_numbers(u, member, field, base, reason);
	case CHI_NESTED:
		return read_nested(u, member, field, base);
	case CHI_UNKEPT:
		return CHI_OK;
	default: /* TEXT, STRING */
		return read_text(u, member, field, out);
	}
}

const struct chi_member *chi_message_member(const struct chi_message *type, uint32_t field)
{
	for (size_t i = 0; i < type->n; i++) {
		if (type->members[i].field == field) {
			return &type->members[i];
		}
	}
	return NULL;
}

const struct chi_member *chi_message_list(const struct chi_message *type)
{
	for (size_t i = 0; i < type->n; i++) {
		if (type->members[i].kind == CHI_LIST) {
			return &type->members[i];
		}
	}
	return NULL;
}

/* What a field has that is not sent: texts are empty ones, and bytes that must be there fail. */
static int read_absent(struct chi_unpacker *u, const struct chi_message *type, const uint8_t *bytes,
		       size_t len, void *out)
{
	for (size_t i = 0; i < type->n; i++) {
		const struct chi_member *member = &type->members[i];
		const char *empty = "";
		bool always = member->presence == CHI_ALWAYS;
		if (member->kind == CHI_TEXT || (member->kind == CHI_STRING && always)) {
			/* A chi_text begins with its bytes. */
			memcpy(room(out, member->at), &empty, sizeof(empty));
		} else if (member->kind == CHI_FIXED && always &&
			   chi_fields_of(bytes, len, member->field) == 0) {
			return chi_flaw(u->flaw, -CHI_EINVAL, "not 16 bytes", "%s",
					name_of(type, member->field));
		}
	}
	return CHI_OK;
}

/* One field, and where in it something is wrong. */
static int read_field(struct chi_unpacker *u, const struct chi_message *type,
		      const struct chi_field *field, const uint8_t *bytes, size_t len, void *out)
{
	const struct chi_member *member = chi_message_member(type, field->number);
	const char *reason = NULL;
	int rc = CHI_OK;
	if (member == NULL) {
		return CHI_OK;
	}
	const char *name = name_of(type, field->number);
	if (member->kind == CHI_LIST) {
		size_t i = size_at(place(out, member->other));
		rc = read_element(u, member, field, out,
				  i == 0 ? chi_fields_of(bytes, len, field->number) : 0);
		if (rc != CHI_OK && u->flaw->path[0] != '\0') {
			chi_flaw_under(u->flaw, "%s[%zu]", name, i);
		}
		return rc;
	}
	rc = read_member(u, member, field, out, &reason);
	if (reason != NULL) {
		return chi_flaw(u->flaw, rc, reason, "%s", name);
	}
	/* Readers of their own have named the field. */
	if (rc != CHI_OK && u->flaw->path[0] != '\0' &&
	    (member->type == NULL || member->type->read == NULL)) {
		chi_flaw_under(u->flaw, "%s", name);
	}
	return rc;
}

int chi_message_read(struct chi_unpacker *u, const struct chi_message *type, const uint8_t *bytes,
		     size_t len, void *out)
{
	if (type->read != NULL) {
		return type->read(u, bytes, len, out);
	}
	struct chi_reader r = chi_reader_of(bytes, len);
	struct chi_field field;
	int rc = read_absent(u, type, bytes, len, out);
	while (rc == CHI_OK && chi_field_next(&r, &field)) {
		rc = read_field(u, type, &field, bytes, len, out);
	}
	return rc == CHI_OK && type->check != NULL ? type->check(u, out) : rc;
}
