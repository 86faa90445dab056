/* SPDX-License-Identifier: MIT */
/*
 * Random messages of every operation, made as bytes by the rows of their fields: what packs and
 * unpacks them had no part in it. They are in the one form that is written: fields in order, none
 * that says nothing. Sizes are small, so that many thousand can be made; the limits have a test of
 * their own.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "proto/msg.h"
#include "tests/base/seed.h"

#define SAMPLE_TEXT_MAX 40

struct chi_message;

/* At most `max`; every number of bits alike, as the lengths of varints change with these. */
uint64_t sample_number(struct seed *seed, uint64_t max);
/* At most `max` bytes; their number. */
size_t sample_text(struct seed *seed, size_t max, char out[SAMPLE_TEXT_MAX]);
/* Appends so many bytes. */
void sample_random(struct seed *seed, size_t len, struct chi_buffer *out);

/* Appends one that its reader accepts; without tag and length. */
void sample_bytes(struct seed *seed, const struct chi_message *type, struct chi_buffer *out);

/* Appends a whole Request or Response, without the head of a frame. A response of an operation
 * without a result, and some of the others, is an error. */
void sample_wire(struct seed *seed, enum chi_op op, bool is_request, struct chi_buffer *out);

/* The same read; what it leads to is in the arena. */
void sample_request(struct seed *seed, struct chi_arena *arena, enum chi_op op,
		    struct chi_request *out);
void sample_response(struct seed *seed, struct chi_arena *arena, enum chi_op op,
		     struct chi_response *out);

/* Into a zeroed struct of a message. */
void sample_message(struct seed *seed, struct chi_arena *arena, const struct chi_message *type,
		    void *out);

/* True if they say the same: pack to the same bytes. */
bool same_message(const struct chi_message *type, const void *a, const void *b);

/* Fails unless every field of the message, and of those in it, was made once. */
void every_field_was_made(const struct chi_message *type);
