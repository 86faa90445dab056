/* SPDX-License-Identifier: MIT */
/*
 * What reading protobuf messages needs: the descriptions that protobuf-c generates, what was found
 * wrong, and where memory comes from. Only this room's .c files include it; the generated structs
 * and their unpacking are not used.
 *
 * No field is kept that was not looked at first (unpack.c), and what is not kept is not looked
 * into. Refused by name is what is no message, numbers that do not fit, NULs in texts, what is not
 * UTF-8, sub-messages given twice; elements of repeated fields are counted before there is memory
 * for them.
 */
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/buffer.h"
#include "proto/chistore.pb-c.h"
#include "proto/types.h"

/* The field of an operation in Request, and of its result in Response. */
#define CHI_OP_FIELD(op)       ((uint32_t)(op) + 15)
#define CHI_OP_OF_FIELD(field) ((enum chi_op)((field)-15))

/* Longest path of a field: "put.entries[9999].record.moves[255].counts.white" and more. */
#define CHI_PATH_SIZE 128

/* Where in a message something is wrong, and what. */
struct chi_flaw {
	char path[CHI_PATH_SIZE]; /* "" if it is the message as such */
	const char *reason;	  /* static storage, or `text` */
	char text[64];
	bool lacks_memory; /* nothing is wrong with the message */
};

/* A request must know its enumerators; a response may carry those of a later version. */
enum chi_enums {
	CHI_ENUMS_CLOSED,
	CHI_ENUMS_OPEN
};

/* Where memory comes from, where to say what is wrong, and whose message it is. */
struct chi_unpacker {
	struct chi_arena *arena;
	struct chi_flaw *flaw;
	enum chi_enums enums;
};

/* Says what is wrong; the path is a format. Returns `status`. */
CHI_PRINTF(4, 5)
int chi_flaw_set(struct chi_flaw *flaw, int status, const char *reason, const char *path, ...);

/* Puts "prefix." in front of the path, for a caller that knows where its callee was. */
CHI_PRINTF(2, 3) void chi_flaw_under(struct chi_flaw *flaw, const char *prefix, ...);

/* Fills `fault` from the flaw and returns `status`. */
int chi_flaw_fault(const struct chi_flaw *flaw, int status, struct chi_fault *fault);

/* The flaw of an arena that gave NULL for `size` bytes: over the budget, or out of memory. */
int chi_flaw_memory(struct chi_flaw *flaw, const struct chi_arena *arena, size_t size);

/* Room for `len` bytes after the buffer's content: -CHI_ETOOBIG over its limit, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_pb_reserve(struct chi_buffer *out, size_t len, uint8_t **at);
