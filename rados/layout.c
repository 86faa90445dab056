/* SPDX-License-Identifier: MIT */
/*
 * Keys and values beside FORMAT.md. librados takes the place where a listing begins as a C string,
 * so that no key may hold a NUL: 00 is written 01 01, and 01 is written 01 02. Of two texts that
 * differ first in a byte, the smaller byte gives the smaller text, and the start of another one
 * stays its start: the order is that of the bytes.
 */
#include "rados/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "base/record.h"
#include "base/wire.h"
#include "chess/key.h"
#include "chess/statistic.h"
#include "store/record/codec.h"

#define ESCAPE 1

void chi_omap_key_make(enum chi_omap_tree tree, const uint8_t *bytes, size_t len,
		       struct chi_omap_key *out)
{
	char *at = out->bytes;
	*at++ = (char)tree;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] <= ESCAPE) {
			*at++ = ESCAPE;
			*at++ = (char)(bytes[i] + 1);
		} else {
			*at++ = (char)bytes[i];
		}
	}
	*at = '\0';
	out->len = (size_t)(at - out->bytes);
}

void chi_omap_strength(uint16_t chi2, const struct chi_key *key, struct chi_omap_key *out)
{
	uint8_t bytes[2 + CHI_KEY_MAX] = {(uint8_t)(chi2 / 100), (uint8_t)(chi2 % 100)};
	memcpy(bytes + 2, key->bytes, key->len);
	chi_omap_key_make(CHI_OMAP_STRENGTH, bytes, 2 + (size_t)key->len, out);
}

int chi_omap_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return order != 0 ? order : (a_len > b_len) - (a_len < b_len);
}

int chi_omap_bytes(const char *key, size_t key_len, uint8_t *out, size_t room, size_t *len)
{
	size_t n = 0;
	for (size_t i = 1; i < key_len; i++) {
		uint8_t byte = (uint8_t)key[i];
		if (byte == ESCAPE) {
			i++;
			byte = i < key_len ? (uint8_t)key[i] : 0;
			if (byte != 1 && byte != 2) {
				return -CHI_ECORRUPT;
			}
			byte--;
		} else if (byte == 0) {
			return -CHI_ECORRUPT;
		}
		if (n == room) {
			return -CHI_ECORRUPT;
		}
		out[n++] = byte;
	}
	*len = n;
	return key_len > 0 ? CHI_OK : -CHI_ECORRUPT;
}

int chi_omap_position(const char *key, size_t key_len, uint16_t *chi2, struct chi_key *out)
{
	uint8_t bytes[2 + CHI_KEY_MAX];
	size_t len = 0;
	size_t skip = key_len > 0 && key[0] == CHI_OMAP_STRENGTH ? 2 : 0;
	int rc = chi_omap_bytes(key, key_len, bytes, skip + CHI_KEY_MAX, &len);
	if (rc < 0 || len < skip || !chi_key_shape_ok(bytes + skip, len - skip)) {
		return -CHI_ECORRUPT;
	}
	*chi2 = CHI_CHI2_UNKNOWN;
	if (skip > 0) {
		*chi2 = (uint16_t)(bytes[0] * 100 + bytes[1]);
		if (bytes[1] > 99 || *chi2 == CHI_CHI2_UNKNOWN) {
			return -CHI_ECORRUPT;
		}
	}
	*out = (struct chi_key){.len = (uint8_t)(len - skip)};
	memcpy(out->bytes, bytes + skip, len - skip);
	return CHI_OK;
}

uint32_t chi_shard_of(const uint8_t *bytes, size_t len, uint32_t shards)
{
	return (uint32_t)(chi_checksum(bytes, len, bytes + len, 0) % shards);
}

void chi_head_object(const char *name, char out[CHI_OBJECT_SIZE])
{
	(void)snprintf(out, CHI_OBJECT_SIZE, "%.140s.head", name);
}

/* No other store's object has such a name: after a full stop that is not its own, each has `head`,
 * `import`, or eight hex digits. */
void chi_shard_object(const char *name, uint32_t shard, char out[CHI_OBJECT_SIZE])
{
	(void)snprintf(out, CHI_OBJECT_SIZE, "%.140s.%08" PRIx32, name, shard);
}

/* ---- Records ----------------------------------------------------------------------------- */

static uint32_t checksum(const struct chi_key *key, const uint8_t *record, size_t len)
{
	return (uint32_t)chi_checksum(key->bytes, key->len, record, len);
}

void chi_omap_seal(const struct chi_key *key, uint8_t *value, size_t len)
{
	struct chi_writer w = chi_writer_of(value, CHI_OMAP_CHECKSUM);
	chi_write_le(&w, checksum(key, value + CHI_OMAP_CHECKSUM, len), CHI_OMAP_CHECKSUM);
}

const uint8_t *chi_omap_record(const struct chi_key *key, const void *value, size_t value_len,
			       size_t *len)
{
	struct chi_reader r = chi_reader_of(value, value_len);
	uint32_t stored = (uint32_t)chi_read_le(&r, CHI_OMAP_CHECKSUM);
	*len = chi_reader_left(&r);
	return !r.bad && *len > 0 && checksum(key, r.at, *len) == stored ? r.at : NULL;
}

/* ---- Head -------------------------------------------------------------------------------- */

static const char first_line[] = "chistore rados ";

size_t chi_rados_head_print(const struct chi_rados_head *head, char out[CHI_RADOS_HEAD_SIZE])
{
	char uuid[33];
	const char *statistic = chi_statistic_name(head->statistic);
	char import[33];
	chi_hex_print(head->uuid, sizeof(head->uuid), uuid);
	chi_hex_print(head->import, sizeof(head->import), import);
	int len = snprintf(out, CHI_RADOS_HEAD_SIZE,
			   "%s%d\nuuid %s\nstatistic %s\nshards %" PRIu32 "\nbase %" PRIu64
			   " %" PRIu64 " %" PRIu64 " %" PRIu64 "\ncreated %" PRIu64
			   "\ncreator %s\nimport %s %" PRIu32 "\nstate %s\n",
			   first_line, CHI_RADOS_VERSION, uuid, statistic != NULL ? statistic : "?",
			   head->shards, head->base.white, head->base.draws, head->base.black,
			   head->base.other, head->created, head->creator, import,
			   head->import_parts, head->ready ? "ready" : "creating");
	return (size_t)len;
}

static uint8_t statistic_of(const char *name)
{
	for (int i = 1; i <= CHI_STATISTIC_MAX; i++) {
		if (strcmp(chi_statistic_name(i), name) == 0) {
			return (uint8_t)i;
		}
	}
	return 0;
}

/* Read by a pattern, then printed again: only what comes out the same is what was written. */
static bool read_head(const char *text, struct chi_rados_head *out)
{
	char uuid[33];
	char import[33];
	char statistic[16];
	char state[16];
	char again[CHI_RADOS_HEAD_SIZE];
	int n = sscanf(text,
		       "chistore rados 2 uuid %32[0-9a-f] statistic %15[a-z] shards %" SCNu32
		       " base %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " created %" SCNu64
		       " creator %31[^\n] import %32[0-9a-f] %" SCNu32 " state %15[a-z]",
		       uuid, statistic, &out->shards, &out->base.white, &out->base.draws,
		       &out->base.black, &out->base.other, &out->created, out->creator, import,
		       &out->import_parts, state);
	if (n != 12 || strlen(uuid) != 32 || chi_hex_parse(uuid, 32, out->uuid) < 0 ||
	    strlen(import) != 32 || chi_hex_parse(import, 32, out->import) < 0) {
		return false;
	}
	out->statistic = statistic_of(statistic);
	out->ready = strcmp(state, "ready") == 0;
	(void)chi_rados_head_print(out, again);
	return out->statistic != 0 && out->shards > 0 && strcmp(again, text) == 0;
}

int chi_rados_head_parse(const char *text, size_t len, struct chi_rados_head *out,
			 struct chi_fault *fault)
{
	char copy[CHI_RADOS_HEAD_SIZE] = "";
	size_t start = sizeof(first_line) - 1;
	*out = (struct chi_rados_head){.ready = false};
	memcpy(copy, text, len < sizeof(copy) - 1 ? len : sizeof(copy) - 1);
	if (strncmp(copy, first_line, start) != 0) {
		return chi_fail(fault, -CHI_EVERSION, "it is not a Chistore head");
	}
	if (strncmp(copy + start, "2\n", 2) != 0) {
		return chi_fail(fault, -CHI_EVERSION,
				"the store has format '%.*s', this program knows "
				"'chistore rados %d'",
				(int)strcspn(copy, "\n"), copy, CHI_RADOS_VERSION);
	}
	if (len >= sizeof(copy) || strlen(copy) != len || !read_head(copy, out)) {
		return chi_fail(fault, -CHI_ECORRUPT, "it is damaged");
	}
	return CHI_OK;
}

/* ---- Journals ---------------------------------------------------------------------------- */

#define JOURNAL_MAGIC "chijrnl"

void chi_journal_head(enum chi_journal_mode mode, uint32_t n, uint8_t out[CHI_JOURNAL_HEAD])
{
	struct chi_writer w = chi_writer_of(out, CHI_JOURNAL_HEAD);
	chi_write_bytes(&w, JOURNAL_MAGIC, sizeof(JOURNAL_MAGIC) - 1);
	chi_write_u8(&w, (uint8_t)mode);
	chi_write_le(&w, n, 4);
}

void chi_journal_seal(uint8_t *bytes, size_t len)
{
	size_t body = len - CHI_JOURNAL_TAIL;
	struct chi_writer w = chi_writer_of(bytes + body, CHI_JOURNAL_TAIL);
	chi_write_le(&w, chi_checksum(bytes, body, bytes + body, 0), CHI_JOURNAL_TAIL);
}

int chi_journal_check(const uint8_t *bytes, size_t len, enum chi_journal_mode *mode, uint32_t *n)
{
	struct chi_reader r = chi_reader_of(bytes, len);
	const size_t magic_len = sizeof(JOURNAL_MAGIC) - 1;
	const uint8_t *magic = chi_read_bytes(&r, magic_len);
	uint8_t number = chi_read_u8(&r);
	*n = (uint32_t)chi_read_le(&r, 4);
	if (r.bad || chi_reader_left(&r) < CHI_JOURNAL_TAIL ||
	    memcmp(magic, JOURNAL_MAGIC, magic_len) != 0 || number < CHI_JOURNAL_ADD ||
	    number > CHI_JOURNAL_MODE_MAX) {
		return -CHI_ECORRUPT;
	}
	*mode = (enum chi_journal_mode)number;
	size_t body = len - CHI_JOURNAL_TAIL;
	struct chi_reader tail = chi_reader_of(bytes + body, CHI_JOURNAL_TAIL);
	return chi_read_le(&tail, 8) == chi_checksum(bytes, body, bytes + body, 0) ? CHI_OK
										   : -CHI_ECORRUPT;
}

void chi_journal_object(const char *name, const uint8_t id[16], uint32_t part,
			char out[CHI_OBJECT_SIZE])
{
	char hex[33];
	chi_hex_print(id, 16, hex);
	(void)snprintf(out, CHI_OBJECT_SIZE, "%.128s.import.%s.%08" PRIx32, name, hex, part);
}

void chi_lease_encode(const struct chi_lease *lease, uint8_t out[CHI_LEASE_SIZE])
{
	struct chi_writer w = chi_writer_of(out, CHI_LEASE_SIZE);
	chi_write_le(&w, lease->expires, 8);
	chi_write_le(&w, lease->parts, 4);
}

int chi_lease_decode(const void *value, size_t len, struct chi_lease *out)
{
	struct chi_reader r = chi_reader_of(value, len);
	out->expires = chi_read_le(&r, 8);
	out->parts = (uint32_t)chi_read_le(&r, 4);
	return !r.bad && len == CHI_LEASE_SIZE ? CHI_OK : -CHI_ECORRUPT;
}

/* ---- Shards ------------------------------------------------------------------------------ */

void chi_shard_stamp(const struct chi_rados_head *head, uint8_t out[CHI_STAMP_SIZE])
{
	struct chi_writer w = chi_writer_of(out, CHI_STAMP_SIZE);
	chi_write_bytes(&w, head->uuid, sizeof(head->uuid));
	chi_write_le(&w, head->base.white, 8);
	chi_write_le(&w, head->base.draws, 8);
	chi_write_le(&w, head->base.black, 8);
	chi_write_le(&w, head->base.other, 8);
}

void chi_shard_stamp_base(const uint8_t stamp[CHI_STAMP_SIZE], struct chi_counts *out)
{
	struct chi_reader r =
		chi_reader_of(stamp + CHI_STAMP_IDENTITY, CHI_STAMP_SIZE - CHI_STAMP_IDENTITY);
	out->white = chi_read_le(&r, 8);
	out->draws = chi_read_le(&r, 8);
	out->black = chi_read_le(&r, 8);
	out->other = chi_read_le(&r, 8);
}

void chi_shard_client_encode(const struct chi_shard_client *client,
			     uint8_t out[CHI_SHARD_CLIENT_SIZE])
{
	struct chi_writer w = chi_writer_of(out, CHI_SHARD_CLIENT_SIZE);
	const struct chi_put_result *last = &client->last;
	const uint64_t numbers[] = {
		client->sequence,
		client->date,
		client->writes,
		(uint64_t)client->positions,
		(uint64_t)client->known,
		(uint64_t)client->games[0],
		(uint64_t)client->games[1],
		(uint64_t)client->games[2],
		(uint64_t)client->games[3],
		last->added,
		last->updated,
		last->unchanged,
		last->removed,
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		chi_write_le(&w, numbers[i], 8);
	}
}

int chi_shard_client_decode(const void *value, size_t len, struct chi_shard_client *out)
{
	struct chi_reader r = chi_reader_of(value, len);
	if (len != CHI_SHARD_CLIENT_SIZE) {
		return -CHI_ECORRUPT;
	}
	out->sequence = chi_read_le(&r, 8);
	out->date = chi_read_le(&r, 8);
	out->writes = chi_read_le(&r, 8);
	out->positions = (int64_t)chi_read_le(&r, 8);
	out->known = (int64_t)chi_read_le(&r, 8);
	for (size_t i = 0; i < 4; i++) {
		out->games[i] = (int64_t)chi_read_le(&r, 8);
	}
	out->last.added = chi_read_le(&r, 8);
	out->last.updated = chi_read_le(&r, 8);
	out->last.unchanged = chi_read_le(&r, 8);
	out->last.removed = chi_read_le(&r, 8);
	return CHI_OK;
}

void chi_put_result_add(const struct chi_put_result *did, struct chi_put_result *sum)
{
	sum->added += did->added;
	sum->updated += did->updated;
	sum->unchanged += did->unchanged;
	sum->removed += did->removed;
}

/* Modulo 2^64: only damaged entries overflow, and verification finds those. */
static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

void chi_shard_client_add(const struct chi_shard_client *client, struct chi_shard_client *sum)
{
	sum->writes += client->writes;
	sum->positions = plus(sum->positions, client->positions);
	sum->known = plus(sum->known, client->known);
	for (size_t i = 0; i < 4; i++) {
		sum->games[i] = plus(sum->games[i], client->games[i]);
	}
}

struct chi_counts chi_shard_games(const struct chi_shard_client *sum)
{
	struct chi_counts games = {0};
	for (unsigned i = 0; i < 4; i++) {
		*chi_counts_of(&games, i) = sum->games[i] > 0 ? (uint64_t)sum->games[i] : 0;
	}
	return games;
}
