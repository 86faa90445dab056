/* SPDX-License-Identifier: MIT */
/* memcached's meta commands; keys go in base64, since its text protocol takes no other bytes.
 * Several keys a request: quiet commands, and a no-op whose answer says that all are answered. */
#include <string.h>

#include "bench/bench.h"
#include "bench/load.h"

#define BASE64_MAX 36 /* of 26 bytes */

/* Returns the length. */
static size_t base64(const uint8_t *bytes, size_t len, char out[BASE64_MAX])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = 0;
	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16;
		three |= i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0;
		three |= i + 2 < len ? bytes[i + 2] : 0;
		out[n++] = digits[three >> 18];
		out[n++] = digits[three >> 12 & 63];
		out[n++] = i + 1 < len ? digits[three >> 6 & 63] : '=';
		out[n++] = i + 2 < len ? digits[three & 63] : '=';
	}
	return n;
}

static void get(struct chi_buffer *out, const struct chi_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char key[BASE64_MAX];
		size_t len = base64(keys[i].bytes, keys[i].len, key);
		load_print(out, "mg %.*s b v%s\r\n", (int)len, key, n > 1 ? " q" : "");
	}
	if (n > 1) {
		load_print(out, "mn\r\n");
	}
}

static void load(struct chi_buffer *out, const void *key, size_t key_len, const void *value,
		 size_t value_len)
{
	char text[BASE64_MAX];
	if (key_len > CHI_KEY_MAX) {
		bench_die("a key of %zu bytes", key_len);
	}
	size_t len = base64(key, key_len, text);
	load_print(out, "ms %.*s %zu b\r\n", (int)len, text, value_len);
	load_append(out, value, value_len);
	load_append(out, "\r\n", 2);
}

static void put(struct chi_buffer *out, const struct chi_key *key, uint64_t turn)
{
	uint8_t value[LOAD_VALUE_SIZE];
	load_value(turn, value);
	load(out, key->bytes, key->len, value, sizeof(value));
}

/* "VA 12 b" with 12 bytes and a line end after it; "EN": not there; "MN": the no-op; "HD": done.
 */
static size_t take_one(const uint8_t *bytes, size_t len, bool *is_end, uint64_t *found)
{
	int64_t size = 0;
	size_t head = load_line(bytes, len, 3, &size);
	if (head == 0) {
		return 0;
	}
	*is_end = true;
	if (memcmp(bytes, "VA", 2) == 0) {
		*is_end = false;
		++*found;
		head += (size_t)size + 2;
	} else if (memcmp(bytes, "EN", 2) != 0 && memcmp(bytes, "MN", 2) != 0 &&
		   memcmp(bytes, "HD", 2) != 0) {
		bench_die("memcached says: %.*s", (int)(len < 80 ? len : 80), (const char *)bytes);
	}
	return head <= len ? head : 0;
}

static size_t answer(const uint8_t *bytes, size_t len, size_t n, uint64_t *found)
{
	size_t at = 0;
	uint64_t here = 0;
	bool is_end = false;
	do {
		size_t one = at < len ? take_one(bytes + at, len - at, &is_end, &here) : 0;
		if (one == 0) {
			return 0;
		}
		at += one;
	} while (n > 1 && !is_end);
	*found += here;
	return at;
}

const struct load_protocol load_memcached = {
	.name = "memcached",
	.get = get,
	.put = put,
	.load = load,
	.answer = answer,
};
