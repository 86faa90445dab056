/* SPDX-License-Identifier: MIT */
/*
 * Reaches the decoders of what a store holds beside its records: strength entries, games, clients,
 * the stamp and the state. The first byte chooses; the next ones are the key, the rest the value,
 * whose checksum is set right, else no input would come past it. What decodes must encode to the
 * same bytes.
 */
#include <string.h>

#include "base/wire.h"
#include "store/record/clients.h"
#include "store/record/codec.h"
#include "store/record/meta.h"
#include "tests/fuzz/fuzz.h"

#define VALUE_MAX 1024

struct entry {
	const uint8_t *key;
	size_t key_len;
	uint8_t value[VALUE_MAX + 8];
	size_t len;
};

/* Puts the checksum of `size` bytes after the value. */
static void seal(struct entry *entry, const void *key, size_t key_len, unsigned size)
{
	struct chi_writer w = chi_writer_of(entry->value + entry->len, size);
	uint64_t sum = chi_checksum(key, key_len, entry->value, entry->len);
	chi_write_le(&w, size == 8 ? sum : sum & ((UINT64_C(1) << (8 * size)) - 1), size);
	entry->len += size;
}

static void check_strength(struct entry *entry)
{
	uint8_t key[CHI_STRENGTH_KEY_MAX];
	const size_t head = 2;
	size_t n_line = entry->len / 2;
	chi_move line[CHI_LINE_MAX];
	uint8_t again[CHI_STRENGTH_VALUE_MAX];
	if (!chi_strength_ok(entry->key, entry->key_len, entry->len)) {
		return;
	}
	REQUIRE(entry->key_len > head && n_line <= CHI_LINE_MAX);
	uint16_t chi2 = chi_chi2_of(entry->key);
	REQUIRE(chi2 != CHI_CHI2_UNKNOWN && chi2 <= CHI_CHI2_MAX);
	REQUIRE(chi_strength_key(chi2, entry->key + head, entry->key_len - head, key) ==
		entry->key_len);
	REQUIRE(memcmp(key, entry->key, entry->key_len) == 0);
	REQUIRE(chi_strength_compare(key, entry->key_len, entry->key, entry->key_len) == 0);
	for (size_t i = 0; i < n_line; i++) {
		line[i] = (chi_move)(entry->value[2 * i] | entry->value[2 * i + 1] << 8);
	}
	REQUIRE(chi_strength_value(line, n_line, again) == entry->len);
	REQUIRE(memcmp(again, entry->value, entry->len) == 0);
}

static void check_game(struct entry *entry)
{
	struct chi_game_id game;
	struct chi_counts counts = {0};
	uint8_t again[CHI_GAME_VALUE_MAX];
	seal(entry, entry->key, entry->key_len, 2);
	int status = chi_game_decode(entry->key, entry->key_len, entry->value, entry->len, &game);
	REQUIRE(status == CHI_OK || status == -CHI_ECORRUPT);
	if (status == CHI_OK) {
		++*chi_counts_of(&counts, game.result);
		REQUIRE(chi_game_encode(&game, again) == entry->len);
		REQUIRE(memcmp(again, entry->value, entry->len) == 0);
	}
}

static void check_client(struct entry *entry)
{
	struct chi_done done[CHI_REMEMBERED_ROOM];
	struct chi_remembered client = {.done = done};
	uint8_t again[CHI_REMEMBERED_BYTES];
	seal(entry, entry->key, entry->key_len, 4);
	MDB_val key = {entry->key_len, (void *)(uintptr_t)entry->key};
	MDB_val value = {entry->len, entry->value};
	int status = chi_remembered_decode(&key, &value, &client);
	REQUIRE(status == CHI_OK || status == -CHI_ECORRUPT);
	if (status != CHI_OK) {
		return;
	}
	for (size_t i = 0; i < client.n; i++) {
		REQUIRE(chi_remembered_find(&client, client.done[i].sequence) == &client.done[i]);
	}
	REQUIRE(chi_remembered_encode(&client, again) == entry->len);
	REQUIRE(memcmp(again, entry->value, entry->len) == 0);
}

/* A later version's may be longer; what this one knows of it is in front. */
static void check_stamp(struct entry *entry)
{
	struct chi_stamp stamp;
	struct chi_fault fault = {.text = ""};
	uint8_t again[CHI_STAMP_SIZE];
	seal(entry, "stamp", 5, 8);
	int status = chi_stamp_decode(entry->value, entry->len, false, &stamp, &fault);
	if (status != CHI_OK) {
		REQUIRE(fault.text[0] != '\0');
		return;
	}
	REQUIRE(memchr(stamp.creator, '\0', sizeof(stamp.creator)) != NULL);
	REQUIRE(chi_stamp_decode(entry->value, entry->len, true, &stamp, &fault) == CHI_OK);
	chi_stamp_encode(&stamp, again);
	REQUIRE(chi_stamp_decode(again, sizeof(again), false, &stamp, &fault) == CHI_OK);
}

static void check_state(struct entry *entry)
{
	struct chi_store_state state;
	uint8_t again[CHI_STATE_SIZE];
	seal(entry, "state", 5, 8);
	int status = chi_state_decode(entry->value, entry->len, &state);
	REQUIRE(status == CHI_OK || status == -CHI_ECORRUPT);
	if (status == CHI_OK && entry->len == CHI_STATE_SIZE) {
		chi_state_encode(&state, again);
		REQUIRE(memcmp(again, entry->value, sizeof(again)) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(struct entry *) = {check_strength, check_game, check_client,
							 check_stamp, check_state};
	static struct entry entry;
	if (size < 2 || size > VALUE_MAX) {
		return 0;
	}
	size_t key_len = data[1] % 40u;
	if (key_len > size - 2) {
		return 0;
	}
	entry.key = data + 2;
	entry.key_len = key_len;
	entry.len = size - 2 - key_len;
	memcpy(entry.value, data + 2 + key_len, entry.len);
	checks[data[0] % (sizeof(checks) / sizeof(checks[0]))](&entry);
	return 0;
}
