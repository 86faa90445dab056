/* SPDX-License-Identifier: MIT */
/* Redis' protocol: GET, MGET, SET, ZADD. Keys and values are the bytes of our records; rows of the
 * strength order are members of one sorted set with the score 0, so that their bytes order them. */
#include <string.h>

#include "bench/bench.h"
#include "bench/load.h"

static void bulk(struct chi_buffer *out, const void *bytes, size_t len)
{
	load_print(out, "$%zu\r\n", len);
	load_append(out, bytes, len);
	load_append(out, "\r\n", 2);
}

static void get(struct chi_buffer *out, const struct chi_key *keys, size_t n)
{
	load_print(out, "*%zu\r\n", n + 1);
	if (n == 1) {
		bulk(out, "GET", 3);
	} else {
		bulk(out, "MGET", 4);
	}
	for (size_t i = 0; i < n; i++) {
		bulk(out, keys[i].bytes, keys[i].len);
	}
}

static void load(struct chi_buffer *out, const void *key, size_t key_len, const void *value,
		 size_t value_len)
{
	load_print(out, "*3\r\n");
	bulk(out, "SET", 3);
	bulk(out, key, key_len);
	bulk(out, value, value_len);
}

static void put(struct chi_buffer *out, const struct chi_key *key, uint64_t turn)
{
	uint8_t value[LOAD_VALUE_SIZE];
	load_value(turn, value);
	load(out, key->bytes, key->len, value, sizeof(value));
}

static void load_row(struct chi_buffer *out, const void *row, size_t len)
{
	load_print(out, "*4\r\n");
	bulk(out, "ZADD", 4);
	bulk(out, "strength", 8);
	bulk(out, "0", 1);
	bulk(out, row, len);
}

/* A bulk string or none. */
static size_t take_bulk(const uint8_t *bytes, size_t len, uint64_t *found)
{
	int64_t size = 0;
	size_t head = load_line(bytes, len, 1, &size);
	if (head == 0) {
		return 0;
	}
	if (size < 0) {
		return head;
	}
	if (len < head + (size_t)size + 2) {
		return 0;
	}
	++*found;
	return head + (size_t)size + 2;
}

static size_t take_array(const uint8_t *bytes, size_t len, uint64_t *found)
{
	int64_t n = 0;
	uint64_t here = 0;
	size_t at = load_line(bytes, len, 1, &n);
	if (at == 0) {
		return 0;
	}
	for (int64_t i = 0; i < n; i++) {
		size_t one = at < len ? take_bulk(bytes + at, len - at, &here) : 0;
		if (one == 0) {
			return 0;
		}
		at += one;
	}
	*found += here;
	return at;
}

static size_t answer(const uint8_t *bytes, size_t len, size_t n, uint64_t *found)
{
	int64_t number = 0;
	(void)n;
	switch (bytes[0]) {
	case '$':
		return take_bulk(bytes, len, found);
	case '*':
		return take_array(bytes, len, found);
	case '+':
	case ':':
		return load_line(bytes, len, 1, &number);
	default:
		bench_die("redis says: %.*s", (int)(len < 80 ? len : 80), (const char *)bytes);
	}
}

const struct load_protocol load_redis = {
	.name = "redis",
	.get = get,
	.put = put,
	.load = load,
	.load_row = load_row,
	.answer = answer,
};
