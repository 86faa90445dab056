/* SPDX-License-Identifier: MIT */
/*
 * Messages of chistore.proto as our structs, both ways, by tables: for each message one row a
 * field, in the order of their numbers, says where it is kept, how much of it there may be and
 * whether it must be there. Its name, wire type, enumerators and what is nested in it the
 * descriptor says. Packing measures and then writes into room of that size; unpacking looks at
 * every field before it keeps it. Messages that carry positions by the thousand have functions of
 * their own beside the rows, which then have the limits only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/wire/fields.h"
#include "proto/pbc.h"

/* What chi_message_len gives, or more, for a struct that cannot be packed. */
#define CHI_UNPACKABLE ((size_t)1 << 48)

/* How a field is kept in the struct. */
enum chi_member_kind {
	CHI_NUMBER, /* unsigned integer or enum of `size` bytes, at most `max` */
	CHI_SIGNED, /* int32_t, `min` to `max` */
	CHI_BOOL,
	CHI_TEXT,    /* struct chi_text; never NULL when unpacked */
	CHI_STRING,  /* const char *, NUL-terminated; unpacked NULL if empty, "" if CHI_ALWAYS */
	CHI_CHARS,   /* char[size], NUL-terminated */
	CHI_BYTES,   /* const void * and its size_t */
	CHI_SLICE,   /* the same; unpacked it points into the message */
	CHI_FIXED,   /* uint8_t[size], that many on the wire too */
	CHI_KEY,     /* struct chi_key */
	CHI_NESTED,  /* a struct, described by `type` */
	CHI_LIST,    /* const struct * of `size` bytes each, and how many */
	CHI_NUMBERS, /* const uint32_t * and how many; 4 bytes each on the wire */
	CHI_MOVES,   /* const chi_move * and how many; only read: `put` of its message writes it */
	CHI_UNKEPT,  /* nothing of it, or a function of the message's own keeps it */
};

/* When a field is sent. */
enum chi_presence {
	CHI_IF_SET,	 /* unless it is 0 or empty */
	CHI_ALWAYS,	 /* and FIXED: must be there when unpacked */
	CHI_IF_FLAG,	 /* if the bool at `other` is true */
	CHI_UNLESS_FLAG, /* if not; of a oneof of two, of which one must be there when unpacked */
	CHI_IF_CASE,	 /* if the enum at `other` is `instead` */
	CHI_IF_POINTER,	 /* NESTED or KEY by a const pointer, which may be NULL */
};

struct chi_member {
	uint32_t field;
	enum chi_member_kind kind;
	enum chi_presence presence;
	size_t at;    /* offset in the struct */
	size_t size;  /* bytes; see chi_member_kind */
	size_t other; /* offset of a length, a number of elements, a flag or an enum */
	/* NUMBER: 0: what its bytes can hold. What is more is refused for this reason; without one
	 * it becomes `instead`. */
	uint64_t max;
	int32_t min;	    /* of SIGNED */
	uint32_t most;	    /* bytes of a text, elements of a list; 0: not limited here */
	const char *reason; /* over `max` or `most`; of `most` NULL: "more than 64 bytes" */
	uint64_t instead;
	const struct chi_message *type;
};

struct chi_message {
	const ProtobufCMessageDescriptor *descriptor; /* NULL: of the contents of a field */
	const struct chi_member *members;	      /* one for each of its fields */
	size_t n;
	const struct chi_member *rest; /* of fields after these; NULL: there are none */
	/* Looks at the whole struct, unpacked; may be NULL. */
	int (*check)(struct chi_unpacker *u, void *out);
	/* Instead of by members: bytes of the contents; writing them. `noted` is for `len` to leave
	 * there what `put` needs. `read` comes after the members, for what these do not keep; all
	 * fields were looked at by then, if there is a descriptor. Without one it names the field
	 * that is wrong itself. */
	size_t (*len)(const void *from, size_t *noted);
	uint8_t *(*put)(uint8_t *at, const void *from, size_t noted);
	int (*read)(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *out);
};

/* The contents of a message, without tag and length. */
size_t chi_message_len(const struct chi_message *type, const void *from, size_t *noted);
uint8_t *chi_message_put(uint8_t *at, const struct chi_message *type, const void *from,
			 size_t noted);

/*
 * Into a zeroed struct. -CHI_EPROTO: the bytes are no protobuf message, or a server's that no
 * server sends; -CHI_EINVAL, -CHI_EKEY: a field has a wrong type, occurs twice or does not fit;
 * -CHI_ETOOBIG: a text or a repeated field is over its limit, or all is over the arena's budget;
 * -CHI_ENOMEM. Paths of flaws start at the message; memory comes from the arena.
 */
CHI_MUSTUSE int chi_message_read(struct chi_unpacker *u, const struct chi_message *type,
				 const uint8_t *bytes, size_t len, void *out);

/* The same without a struct: looks at each field, and keeps nothing. */
CHI_MUSTUSE int chi_message_check(struct chi_unpacker *u, const struct chi_message *type,
				  const uint8_t *bytes, size_t len);

/* The rows of a result that comes in many responses: its first list. */
const struct chi_member *chi_message_list(const struct chi_message *type);

/* ---- Places in structs ------------------------------------------------------------------- */

static inline const void *chi_member_at(const void *base, size_t at)
{
	return (const uint8_t *)base + at;
}

static inline void *chi_member_room(void *base, size_t at)
{
	return (uint8_t *)base + at;
}

static inline uint64_t chi_number_at(const void *at, size_t size)
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

static inline const void *chi_pointer_at(const void *at)
{
	const void *pointer;
	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

static inline size_t chi_size_at(const void *at)
{
	return *(const size_t *)at;
}

static inline void chi_set_number(void *at, size_t size, uint64_t value)
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

/* ---- Tables ------------------------------------------------------------------------------ */

/* The message `type` of chistore.proto by the table `rows`; `checked` may be NULL. */
#define CHI_TABLE(name, of, rows, checked)                                                         \
	const struct chi_message name = {                                                          \
		.descriptor = &chistore__v1__##of##__descriptor,                                   \
		.members = (rows),                                                                 \
		.n = sizeof(rows) / sizeof((rows)[0]),                                             \
		.check = (checked),                                                                \
	}

/* What there is of the field `no`, in member `m` of struct type `s`. */
#define CHI_PLACE(no, what, s, m)                                                                  \
	.field = (no), .kind = (what), .at = offsetof(s, m), .size = sizeof(((s *)NULL)->m)
#define CHI_POINTED(no, what, s, m)                                                                \
	.field = (no), .kind = (what), .at = offsetof(s, m), .size = sizeof(*((s *)NULL)->m)

#define CHI_M(no, what, s, m)                                                                      \
	{                                                                                          \
		CHI_PLACE(no, what, s, m)                                                          \
	}
#define CHI_M_NUMBER(no, s, m)                                                                     \
	{                                                                                          \
		CHI_PLACE(no, CHI_NUMBER, s, m)                                                    \
	}
#define CHI_M_SIGNED(no, s, m, low, high, why)                                                     \
	{                                                                                          \
		CHI_PLACE(no, CHI_SIGNED, s, m), .min = (low), .max = (high), .reason = (why)      \
	}
#define CHI_M_ALWAYS(no, what, s, m)                                                               \
	{                                                                                          \
		CHI_PLACE(no, what, s, m), .presence = CHI_ALWAYS                                  \
	}
#define CHI_M_UP_TO(no, s, m, top, why)                                                            \
	{                                                                                          \
		CHI_PLACE(no, CHI_NUMBER, s, m), .max = (top), .reason = (why)                     \
	}
#define CHI_M_CAPPED(no, s, m, top, more)                                                          \
	{                                                                                          \
		CHI_PLACE(no, CHI_NUMBER, s, m), .max = (top), .instead = (more)                   \
	}
#define CHI_M_BYTES(no, s, m, n)                                                                   \
	{                                                                                          \
		CHI_PLACE(no, CHI_BYTES, s, m), .other = offsetof(s, n)                            \
	}
#define CHI_M_LIMITED_BYTES(no, s, m, n, limit)                                                    \
	{                                                                                          \
		CHI_PLACE(no, CHI_BYTES, s, m), .other = offsetof(s, n), .most = (limit)           \
	}
#define CHI_M_SLICE(no, s, m, n)                                                                   \
	{                                                                                          \
		CHI_PLACE(no, CHI_SLICE, s, m), .other = offsetof(s, n)                            \
	}
#define CHI_M_FLAGGED(no, what, s, m, flag, inner)                                                 \
	{                                                                                          \
		CHI_PLACE(no, what, s, m), .presence = CHI_IF_FLAG, .other = offsetof(s, flag),    \
					   .type = (inner)                                         \
	}
#define CHI_M_CASE(no, s, m, tag, value, inner)                                                    \
	{                                                                                          \
		CHI_PLACE(no, CHI_NESTED, s, m), .presence = CHI_IF_CASE,                          \
						 .other = offsetof(s, tag), .instead = (value),    \
						 .type = (inner)                                   \
	}
#define CHI_M_NESTED(no, s, m, when, inner)                                                        \
	{                                                                                          \
		CHI_PLACE(no, CHI_NESTED, s, m), .presence = (when), .type = (inner)               \
	}
#define CHI_M_POINTER(no, s, m, inner)                                                             \
	{                                                                                          \
		CHI_POINTED(no, CHI_NESTED, s, m), .presence = CHI_IF_POINTER, .type = (inner)     \
	}
/* With its limit. */
#define CHI_M_TEXT(no, s, m, limit)                                                                \
	{                                                                                          \
		CHI_PLACE(no, CHI_STRING, s, m), .most = (limit)                                   \
	}
#define CHI_M_MOST(no, what, s, m, limit)                                                          \
	{                                                                                          \
		CHI_PLACE(no, what, s, m), .most = (limit)                                         \
	}
#define CHI_M_ALWAYS_MOST(no, what, s, m, limit)                                                   \
	{                                                                                          \
		CHI_PLACE(no, what, s, m), .presence = CHI_ALWAYS, .most = (limit)                 \
	}
#define CHI_M_ROWS(no, s, m, n, inner, limit)                                                      \
	{                                                                                          \
		CHI_POINTED(no, CHI_LIST, s, m), .other = offsetof(s, n), .type = (inner),         \
						 .most = (limit)                                   \
	}
#define CHI_M_MOVES(no, s, m, n, limit, why)                                                       \
	{                                                                                          \
		CHI_POINTED(no, CHI_MOVES, s, m), .other = offsetof(s, n), .most = (limit),        \
						  .reason = (why)                                  \
	}
#define CHI_M_NUMBERS(no, s, m, n)                                                                 \
	{                                                                                          \
		CHI_POINTED(no, CHI_NUMBERS, s, m), .other = offsetof(s, n)                        \
	}
#define CHI_M_KEY_POINTER(no, s, m)                                                                \
	{                                                                                          \
		CHI_POINTED(no, CHI_KEY, s, m), .presence = CHI_IF_POINTER                         \
	}
#define CHI_M_LIST(no, s, m, n, inner)                                                             \
	{                                                                                          \
		CHI_POINTED(no, CHI_LIST, s, m), .other = offsetof(s, n), .type = (inner)          \
	}
/* Limited by another word than its name: "more than 4096 positions". */
#define CHI_M_ROWS_OF(no, s, m, n, inner, limit, why)                                              \
	{                                                                                          \
		CHI_POINTED(no, CHI_LIST, s, m), .other = offsetof(s, n), .type = (inner),         \
						 .most = (limit), .reason = (why)                  \
	}
/* A field that a function of `inner` reads, which is given the struct. */
#define CHI_M_CONTENTS(no, inner)                                                                  \
	{                                                                                          \
		.field = (no), .kind = CHI_NESTED, .type = (inner)                                 \
	}
/* A field without a place in the struct, or of a message that is read by a function. */
#define CHI_M_UNKEPT(no, limit, why)                                                               \
	{                                                                                          \
		.field = (no), .kind = CHI_UNKEPT, .most = (limit), .reason = (why)                \
	}
#define CHI_M_UNKEPT_MESSAGE(no, limit, why, inner)                                                \
	{                                                                                          \
		.field = (no), .kind = CHI_UNKEPT, .most = (limit), .reason = (why),               \
		.type = (inner)                                                                    \
	}
