/* SPDX-License-Identifier: MIT */
/*
 * The value:
 *
 *	checksum (8)  last game (4)  names of four kinds (4 each)  stamp (8)  games (8)
 *	length of the filter (2)  filter  bitmap
 */
#include "store/gamesets/gamesets.h"

#include <ctype.h>
#include <string.h>

#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/record/checksum.h"

#define HEAD (8 + 4 + 4 * CHI_GAMESET_NAMES + 8 + 8 + 2)

bool chi_gameset_named(const char *name, size_t len)
{
	bool good = len >= 1 && len <= CHI_GAMESET_KEY_MAX && name[0] != '.';
	for (size_t i = 0; i < len && good; i++) {
		unsigned char c = (unsigned char)name[i];
		good = c < 0x80 && (isalnum(c) || c == '-' || c == '.' || c == '_');
	}
	return good;
}

size_t chi_gameset_size(const struct chi_gameset_entry *entry)
{
	return HEAD + entry->filter_len + entry->bitmap_len;
}

static uint64_t checksum(const void *key, size_t key_len, const uint8_t *value, size_t len)
{
	return chi_checksum_apart(key, key_len, value + 8, len - 8);
}

void chi_gameset_encode(const struct chi_gameset_entry *entry, uint8_t *out)
{
	size_t len = chi_gameset_size(entry);
	struct chi_writer to = chi_writer_of(out + 8, len - 8);
	chi_write_le(&to, entry->mark.last, 4);
	for (size_t i = 0; i < CHI_GAMESET_NAMES; i++) {
		chi_write_le(&to, entry->mark.names[i], 4);
	}
	chi_write_le(&to, entry->mark.stamp, 8);
	chi_write_le(&to, entry->games, 8);
	chi_write_le(&to, entry->filter_len, 2);
	chi_write_bytes(&to, entry->filter, entry->filter_len);
	chi_write_bytes(&to, entry->bitmap, entry->bitmap_len);
	to = chi_writer_of(out, 8);
	chi_write_le(&to, checksum(entry->name, entry->name_len, out, len), 8);
}

int chi_gameset_decode(const MDB_val *key, const MDB_val *value, struct chi_gameset_entry *out)
{
	struct chi_reader from = chi_reader_of(value->mv_data, value->mv_size);
	*out = (struct chi_gameset_entry){.name = key->mv_data, .name_len = key->mv_size};
	if (value->mv_size < HEAD || key->mv_size < 1 || key->mv_size > CHI_GAMESET_KEY_MAX ||
	    chi_read_le(&from, 8) !=
		    checksum(key->mv_data, key->mv_size, value->mv_data, value->mv_size)) {
		return -CHI_ECORRUPT;
	}
	out->mark.last = (uint32_t)chi_read_le(&from, 4);
	for (size_t i = 0; i < CHI_GAMESET_NAMES; i++) {
		out->mark.names[i] = (uint32_t)chi_read_le(&from, 4);
	}
	out->mark.stamp = chi_read_le(&from, 8);
	out->games = chi_read_le(&from, 8);
	out->filter_len = (size_t)chi_read_le(&from, 2);
	out->filter = (const char *)chi_read_bytes(&from, out->filter_len);
	out->bitmap_len = chi_reader_left(&from);
	out->bitmap = from.at;
	return from.bad || out->filter_len > CHI_GAMESET_FILTER_MAX ? -CHI_ECORRUPT : CHI_OK;
}

int chi_gameset_get(MDB_txn *txn, MDB_dbi tree, const char *name, size_t len,
		    struct chi_gameset_entry *out)
{
	char copy[CHI_GAMESET_KEY_MAX];
	MDB_val key = {.mv_size = len, .mv_data = copy};
	MDB_val value;
	if (len < 1 || len > sizeof(copy)) {
		return CHI_NONE;
	}
	memcpy(copy, name, len);
	int rc = chi_lmdb_status(chi_chain_get(txn, tree, CHI_CHAIN_GAMESETS, &key, &value));
	rc = rc == CHI_OK ? chi_gameset_decode(&key, &value, out) : rc;
	out->name = name;
	return rc;
}

/* CHI_NONE: it is the next one. */
static int take_next(void *context, const MDB_val *key, const MDB_val *value)
{
	int rc = chi_gameset_decode(key, value, context);
	return rc == CHI_OK ? CHI_NONE : rc;
}

int chi_gameset_after(MDB_txn *txn, MDB_dbi tree, const char *name, size_t len,
		      struct chi_gameset_entry *out)
{
	/* No key is between a name and the name with a NUL after it. */
	char next[CHI_GAMESET_KEY_MAX + 1] = {0};
	const MDB_val from = {.mv_size = len + 1, .mv_data = next};
	if (len > CHI_GAMESET_KEY_MAX) {
		return -CHI_EINVAL;
	}
	memcpy(next, name, len);
	int rc = chi_chain_walk(txn, tree, CHI_CHAIN_GAMESETS, &from, 0, take_next, out);
	return rc == CHI_OK ? CHI_NONE : rc == CHI_NONE ? CHI_OK : rc;
}

uint64_t chi_gameset_stamp(uint64_t stamp, const void *bytes, size_t len)
{
	return XXH3_64bits_withSeed(bytes, len, stamp);
}
