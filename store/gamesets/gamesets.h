/* SPDX-License-Identifier: MIT */
/*
 * Entries of the gamesets tree (FORMAT.md). What a filter means, and what is in the bitmap, is not
 * known here. Functions work in a transaction of the caller's; to be written, an entry goes through
 * chi_write_gameset of store/archive.h.
 */
#pragma once

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "chistore/types.h"

#define CHI_GAMESET_KEY_MAX    64
#define CHI_GAMESET_FILTER_MAX 4096

/* Kinds of names that columns hold: players, events, sites, sources. */
#define CHI_GAMESET_NAMES 4

/* What of the archive a bitmap was made of. */
struct chi_gameset_mark {
	uint32_t last;			   /* number of the last game; 0: none */
	uint32_t names[CHI_GAMESET_NAMES]; /* how many names of each kind there were */
	uint64_t stamp; /* of those of these names that the filter's texts stood for */
};

/* Texts are not NUL-terminated; read, they are valid until the transaction changes or ends. */
struct chi_gameset_entry {
	const char *name; /* 1..CHI_GAMESET_KEY_MAX bytes */
	size_t name_len;
	const char *filter; /* ..CHI_GAMESET_FILTER_MAX */
	size_t filter_len;
	struct chi_gameset_mark mark;
	uint64_t games;	       /* in the bitmap */
	const uint8_t *bitmap; /* of their numbers (FORMAT.md) */
	size_t bitmap_len;
};

/* CHI_NONE: there is none of that name. -CHI_ECORRUPT, -CHI_EIO. */
CHI_MUSTUSE int chi_gameset_get(MDB_txn *txn, MDB_dbi tree, const char *name, size_t len,
				struct chi_gameset_entry *out);

/* The entry with the least name after this one; "" for the first. CHI_NONE: there is none. */
CHI_MUSTUSE int chi_gameset_after(MDB_txn *txn, MDB_dbi tree, const char *name, size_t len,
				  struct chi_gameset_entry *out);

/* The value of an entry: its length, and its bytes. */
size_t chi_gameset_size(const struct chi_gameset_entry *entry);
void chi_gameset_encode(const struct chi_gameset_entry *entry, uint8_t *out);
/* -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_gameset_decode(const MDB_val *key, const MDB_val *value,
				   struct chi_gameset_entry *out);

/* Whether a gameset may have that name (FORMAT.md). */
bool chi_gameset_named(const char *name, size_t len);

/* Goes on with a stamp, 0 at first. */
uint64_t chi_gameset_stamp(uint64_t stamp, const void *bytes, size_t len);
