/* SPDX-License-Identifier: MIT */
/* The bytes of a store on RADOS, beside rados/FORMAT.md. Needs no cluster. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "chistore.h"
#include "rados/library.h"
#include "rados/inside.h"
#include "tests/base/cases.h"

#define PAIRS 100000

static uint64_t chance = 20040301;

static uint64_t next_chance(void)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return chance;
}

/* Few different bytes, most of them those that are escaped. */
static size_t any_bytes(uint8_t out[2 + CHI_KEY_MAX])
{
	static const uint8_t some[] = {0, 0, 1, 1, 2, 3, 127, 255};
	size_t len = next_chance() % (2 + CHI_KEY_MAX + 1);
	for (size_t i = 0; i < len; i++) {
		out[i] = some[next_chance() % CHI_COUNT(some)];
	}
	return len;
}

static int order_of(const void *a, size_t a_len, const void *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	order = order != 0 ? order : (a_len > b_len) - (a_len < b_len);
	return (order > 0) - (order < 0);
}

CASE(keys_keep_bytes_and_order)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		uint8_t bytes[2][2 + CHI_KEY_MAX];
		uint8_t again[2 + CHI_KEY_MAX];
		struct chi_omap_key keys[2];
		size_t lens[2];
		for (unsigned j = 0; j < 2; j++) {
			size_t len = 0;
			lens[j] = any_bytes(bytes[j]);
			chi_omap_key_make(CHI_OMAP_POSITION, bytes[j], lens[j], &keys[j]);
			assert_int_equal(strlen(keys[j].bytes), keys[j].len);
			assert_int_equal(chi_omap_bytes(keys[j].bytes, keys[j].len, again,
							sizeof(again), &len),
					 CHI_OK);
			assert_int_equal(len, lens[j]);
			assert_memory_equal(again, bytes[j], len);
		}
		assert_int_equal(order_of(bytes[0], lens[0], bytes[1], lens[1]),
				 order_of(keys[0].bytes, keys[0].len, keys[1].bytes, keys[1].len));
	}
}

CASE(refuses_other_keys)
{
	static const struct {
		const char *bytes;
		size_t len;
	} bad[] = {{"", 0}, {"p\1", 2}, {"p\1\3", 3}, {"p\0", 2}, {"pabcde", 6}};
	uint8_t out[4];
	size_t len = 0;
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		assert_int_equal(chi_omap_bytes(bad[i].bytes, bad[i].len, out, sizeof(out), &len),
				 -CHI_ECORRUPT);
	}
	struct chi_key key;
	uint16_t chi2;
	assert_int_equal(chi_omap_position("s\x4c\x64zzzzzzzzzz", 13, &chi2, &key), -CHI_ECORRUPT);
	assert_int_equal(chi_omap_position("pxyz", 4, &chi2, &key), -CHI_ECORRUPT);
}

static void assert_hex(const void *bytes, size_t len, const char *hex)
{
	char text[512];
	assert_true(2 * len < sizeof(text));
	chi_hex_print(bytes, len, text);
	assert_string_equal(text, hex);
}

static struct chi_key key_of(const char *fen)
{
	struct chi_key key;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &key, NULL), CHI_OK);
	return key;
}

/* Bytes that are on disks must not change. */
CASE(entries_are_as_specified)
{
	struct chi_key key = key_of("8/8/8/8/3k4/8/3P4/R3K3 w - - 0 1");
	struct chi_key start = key_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
	struct chi_omap_key name;
	uint16_t chi2 = 0;
	struct chi_key again;
	chi_omap_key_make(CHI_OMAP_POSITION, key.bytes, key.len, &name);
	assert_hex(name.bytes, name.len, "7088100101100101010101010101624a");
	chi_omap_strength(7600, &key, &name);
	assert_hex(name.bytes, name.len, "734c010188100101100101010101010101624a");
	assert_int_equal(chi_omap_position(name.bytes, name.len, &chi2, &again), CHI_OK);
	assert_int_equal(chi2, 7600);
	assert_memory_equal(&again, &key, sizeof(key));
	assert_int_equal(chi_shard_of(key.bytes, key.len, 64), 12);
	assert_int_equal(chi_shard_of(start.bytes, start.len, 64), 41);
	uint8_t value[] = {0, 0, 0, 0, 0x01, 0x00, 0x4c};
	size_t len = 0;
	chi_omap_seal(&key, value, 3);
	assert_hex(value, sizeof(value), "1b4a092001004c");
	assert_ptr_equal(chi_omap_record(&key, value, sizeof(value), &len), value + 4);
	assert_int_equal(len, 3);
	assert_null(chi_omap_record(&start, value, sizeof(value), &len));
	assert_null(chi_omap_record(&key, value, 4, &len));
	value[6]++;
	assert_null(chi_omap_record(&key, value, sizeof(value), &len));
}

static const struct chi_rados_head head = {
	.uuid = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	.statistic = CHI_STATISTIC_OUTCOME,
	.shards = 64,
	.base = {10, 5, 3, 0},
	.created = 1700000000,
	.creator = "chistore 0.1.0",
	.ready = true,
};

CASE(head_is_as_specified)
{
	char text[CHI_RADOS_HEAD_SIZE];
	struct chi_rados_head again;
	struct chi_fault fault = {{0}};
	size_t len = chi_rados_head_print(&head, text);
	assert_string_equal(text, "chistore rados 2\nuuid 0102030405060708090a0b0c0d0e0f10\n"
				  "statistic outcome\nshards 64\nbase 10 5 3 0\n"
				  "created 1700000000\ncreator chistore 0.1.0\n"
				  "import 00000000000000000000000000000000 0\nstate ready\n");
	assert_int_equal(chi_rados_head_parse(text, len, &again, &fault), CHI_OK);
	assert_memory_equal(again.uuid, head.uuid, sizeof(head.uuid));
	assert_int_equal(again.shards, 64);
	assert_int_equal(again.base.draws, 5);
	assert_true(again.ready);
	uint8_t stamp[CHI_STAMP_SIZE];
	chi_shard_stamp(&head, stamp);
	assert_hex(stamp, sizeof(stamp),
		   "0102030405060708090a0b0c0d0e0f100a000000000000000500000000000000"
		   "03000000000000000000000000000000");
	char object[CHI_OBJECT_SIZE];
	chi_shard_object("main", 10, object);
	assert_string_equal(object, "main.0000000a");
}

/* Every text that differs in one byte, or is cut, is refused or is another head; none is read
 * beyond its end. */
CASE(refuses_other_heads)
{
	char text[CHI_RADOS_HEAD_SIZE];
	char again[CHI_RADOS_HEAD_SIZE];
	struct chi_rados_head out;
	struct chi_fault fault = {{0}};
	size_t len = chi_rados_head_print(&head, text);
	for (size_t i = 0; i < len; i++) {
		assert_true(chi_rados_head_parse(text, i, &out, &fault) < 0);
		for (unsigned byte = 0; byte < 256; byte += 3) {
			char was = text[i];
			text[i] = (char)byte;
			if (chi_rados_head_parse(text, len, &out, &fault) == CHI_OK) {
				assert_int_equal(chi_rados_head_print(&out, again), len);
				assert_memory_equal(text, again, len);
			}
			text[i] = was;
		}
	}
	static const char *const others[] = {"chistore rados 1\nuuid 01\n",
					     "chistore rados 3\nmore\n"};
	for (size_t i = 0; i < CHI_COUNT(others); i++) {
		assert_int_equal(chi_rados_head_parse(others[i], strlen(others[i]), &out, &fault),
				 -CHI_EVERSION);
		assert_non_null(
			strstr(fault.text, i == 0 ? "chistore rados 1" : "chistore rados 3"));
	}
	assert_int_equal(chi_rados_head_parse("junk", 4, &out, &fault), -CHI_EVERSION);
}

CASE(journals_are_as_specified)
{
	uint8_t part[CHI_JOURNAL_HEAD + 3 + CHI_JOURNAL_TAIL] = {0};
	enum chi_journal_mode mode;
	uint32_t n = 0;
	chi_journal_head(CHI_JOURNAL_SET, 258, part);
	assert_hex(part, CHI_JOURNAL_HEAD, "6368696a726e6c0302010000");
	memcpy(part + CHI_JOURNAL_HEAD, "abc", 3);
	chi_journal_seal(part, sizeof(part));
	assert_int_equal(chi_journal_check(part, sizeof(part), &mode, &n), CHI_OK);
	assert_int_equal(mode, CHI_JOURNAL_SET);
	assert_int_equal(n, 258);
	for (size_t i = 0; i < sizeof(part); i++) {
		assert_int_equal(chi_journal_check(part, i, &mode, &n), -CHI_ECORRUPT);
		part[i] ^= 1;
		assert_int_equal(chi_journal_check(part, sizeof(part), &mode, &n), -CHI_ECORRUPT);
		part[i] ^= 1;
	}
	char object[CHI_OBJECT_SIZE];
	chi_journal_object("main", head.uuid, 10, object);
	assert_string_equal(object, "main.import.0102030405060708090a0b0c0d0e0f10.0000000a");
}

CASE(leases_are_as_specified)
{
	const struct chi_lease lease = {.expires = 1700000000, .parts = 3};
	uint8_t value[CHI_LEASE_SIZE];
	struct chi_lease again;
	chi_lease_encode(&lease, value);
	assert_hex(value, sizeof(value), "00f153650000000003000000");
	assert_int_equal(chi_lease_decode(value, sizeof(value), &again), CHI_OK);
	assert_int_equal(again.expires, lease.expires);
	assert_int_equal(again.parts, lease.parts);
	assert_int_equal(chi_lease_decode(value, sizeof(value) - 1, &again), -CHI_ECORRUPT);
}

CASE(clients_are_as_specified)
{
	const struct chi_shard_client client = {.sequence = 3,
						.date = 1700000000,
						.writes = 2,
						.positions = 5,
						.known = -1,
						.games = {1, 2, 3, 4},
						.last = {1, 2, 3, 4}};
	struct chi_shard_client again;
	struct chi_shard_client sum = {.positions = -7, .games = {0, 0, 0, -4}};
	uint8_t value[CHI_SHARD_CLIENT_SIZE];
	chi_shard_client_encode(&client, value);
	assert_hex(
		value, sizeof(value),
		"030000000000000000f153650000000002000000000000000500000000000000"
		"ffffffffffffffff0100000000000000020000000000000003000000000000000400000000000000"
		"0100000000000000020000000000000003000000000000000400000000000000");
	assert_int_equal(chi_shard_client_decode(value, sizeof(value), &again), CHI_OK);
	assert_memory_equal(&again, &client, sizeof(client));
	assert_int_equal(chi_shard_client_decode(value, sizeof(value) - 1, &again), -CHI_ECORRUPT);
	chi_shard_client_add(&client, &sum);
	assert_int_equal(sum.positions, -2);
	assert_int_equal(sum.known, -1);
	assert_int_equal(sum.games[3], 0);
	assert_int_equal(sum.writes, 2);
}

/* ---- Listings ---------------------------------------------------------------------------- */

static const char *const *listing;

static int give_next(rados_omap_iter_t iter, char **key, char **value, size_t *key_len, size_t *len)
{
	static char empty[] = "";
	(void)iter;
	*key = (char *)(uintptr_t)*listing;
	*value = empty;
	*len = 0;
	*key_len = *listing != NULL ? strlen(*listing) : 0;
	listing += *listing != NULL;
	return 0;
}

/* Who asks for the rest of one that does not ascend would ask without an end. */
CASE(lying_listings_end)
{
	static const char *const none[] = {NULL};
	static const char *const again[] = {"pb", NULL};
	static const char *const good[] = {"pc", "pd", NULL};
	static struct chi_fault fault;
	static struct chi_rados rados = {.fault = &fault};
	struct chi_object_op op = {.object = "some", .more = 1};
	struct chi_omap_key after = {.len = 2, .bytes = "pb"};
	struct chi_omap_entry entry;
	chi_librados.omap_get_next2 = give_next;
	listing = none;
	assert_int_equal(chi_object_listed(&rados, &op, &after, &entry), -CHI_ECORRUPT);
	assert_string_equal(fault.text, "a listing of object 'some' does not go on");
	listing = again;
	assert_int_equal(chi_object_listed(&rados, &op, &after, &entry), -CHI_ECORRUPT);
	assert_string_equal(fault.text, "a key in object 'some' is listed twice");
	listing = good;
	assert_int_equal(chi_object_listed(&rados, &op, &after, &entry), CHI_OK);
	assert_int_equal(chi_object_listed(&rados, &op, &after, &entry), CHI_OK);
	assert_string_equal(after.bytes, "pd");
	assert_int_equal(chi_object_listed(&rados, &op, &after, &entry), CHI_NONE);
}
