/* SPDX-License-Identifier: MIT */
/*
 * What bench_load needs to know of a protocol: how requests look, and where answers end. Requests
 * are made before anything is timed, so that the same loop, at the same cost, drives every server.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "chistore/types.h"

struct load_protocol {
	const char *name;
	/* Sent first on every connection, with its one answer; NULL: nothing. */
	void (*hello)(struct chi_buffer *out);
	/* Appends one request for `n` keys, one answer. */
	void (*get)(struct chi_buffer *out, const struct chi_key *keys, size_t n);
	/* Appends a request that stores a value; it differs from `turn` to `turn`. */
	void (*put)(struct chi_buffer *out, const struct chi_key *key, uint64_t turn);
	/* Appends a request that stores this very value, and one for a row of the strength order;
	 * NULL: cannot, or need not. */
	void (*load)(struct chi_buffer *out, const void *key, size_t key_len, const void *value,
		     size_t value_len);
	void (*load_row)(struct chi_buffer *out, const void *row, size_t len);
	/*
	 * One whole answer at the start of the bytes, to a request for `n` keys: its length, and
	 * *found counts the positions in it; 0: more bytes are needed. Ends the program if it is a
	 * failure.
	 */
	size_t (*answer)(const uint8_t *bytes, size_t len, size_t n, uint64_t *found);
};

extern const struct load_protocol load_chistore;
extern const struct load_protocol load_redis;
extern const struct load_protocol load_memcached;

/* Appends or ends the program. */
void load_append(struct chi_buffer *out, const void *bytes, size_t len);
void load_print(struct chi_buffer *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The number after the first byte of a line and the line's length with its end; 0: not whole. */
size_t load_line(const uint8_t *bytes, size_t len, size_t skip, int64_t *number);

/* What a put of this turn stores: a record of usual size for those who store bytes. */
#define LOAD_VALUE_SIZE 16
void load_value(uint64_t turn, uint8_t out[LOAD_VALUE_SIZE]);
