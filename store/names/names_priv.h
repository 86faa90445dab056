/* SPDX-License-Identifier: MIT */
/* The entries of the names tree, shared by the files of this room. */
#pragma once

#include <stdbool.h>

#include "store/lmdb_err.h"
#include "store/names/names.h"

/* First byte of a key; the second is the kind of name. */
enum chi_names_key {
	CHI_ENTRY_NAMES = 1, /* | chunk (4): CHI_CHUNK_NAMES names in the order of their numbers */
	CHI_ENTRY_TEXT,	     /* | bucket (2) | first number (4): the names of a hash of texts */
	CHI_ENTRY_WORD,	     /* the same of words */
	CHI_ENTRY_FIDE,	     /* the same of FIDE ids */
	CHI_ENTRY_MEMBER,    /* | root (4) | member (4), without value */
};

#define CHI_CHUNK_NAMES	  32
#define CHI_CHUNK_KEY	  6
#define CHI_LIST_KEY	  8
#define CHI_MEMBER_KEY	  10
#define CHI_NAMES_KEY_MAX CHI_MEMBER_KEY
#define CHI_CHUNK_SUM	  4
#define CHI_LIST_SUM	  2
/* Head of at most 2 bytes, root and FIDE id of 5 each. */
#define CHI_CHUNK_MAX (CHI_CHUNK_NAMES * (2 + 5 + 5 + CHI_NAME_MAX) + CHI_CHUNK_SUM)

/* ---- Chunks ------------------------------------------------------------------------------ */

struct chi_name_chunk {
	size_t n;
	struct chi_name name[CHI_CHUNK_NAMES]; /* texts in the value, or the caller's; `len` is 0
						  where a name was removed */
};

static inline uint32_t chi_chunk_of(uint32_t id)
{
	return (id - 1) / CHI_CHUNK_NAMES;
}

void chi_chunk_key(enum chi_name_kind kind, uint32_t chunk, uint8_t out[CHI_CHUNK_KEY]);

/* The first `most` names. CHI_OK or -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_chunk_decode(const MDB_val *key, const MDB_val *value, size_t most,
				 struct chi_name_chunk *out);

/* The value of so many names, at most CHI_CHUNK_NAMES of at most CHI_NAME_MAX bytes; its length. */
size_t chi_chunk_encode(const uint8_t key[CHI_CHUNK_KEY], const struct chi_name_chunk *names,
			uint8_t out[CHI_CHUNK_MAX]);

/* CHI_NONE: there is no such chunk, and *out is empty. */
CHI_MUSTUSE int chi_chunk_get(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t chunk,
			      size_t most, struct chi_name_chunk *out);
CHI_MUSTUSE int chi_chunk_put(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t chunk,
			      const struct chi_name_chunk *names);

/* Puts a name in the place of the one that has its number; a removed one has only that. */
CHI_MUSTUSE int chi_name_rewrite(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
				 const struct chi_name *name);

/* ---- Lists ------------------------------------------------------------------------------- */

/* An entry of an index: that a name has a text, a word or a FIDE id with this hash. */
struct chi_name_item {
	uint8_t entry; /* enum chi_names_key */
	uint8_t kind;
	uint16_t bucket;
	uint32_t id;
	uint16_t mark; /* more of the hash; 0 for words */
};

/* The items of a name: at most CHI_NAME_ITEMS, in the order of items, none twice. */
#define CHI_NAME_ITEMS (CHI_NAME_WORDS + 2)
size_t chi_name_items(enum chi_name_kind kind, const struct chi_name *name,
		      const struct chi_name_words *words, struct chi_name_item *out);
struct chi_name_item chi_text_item(enum chi_name_kind kind, const char *text, size_t len);
struct chi_name_item chi_word_item(enum chi_name_kind kind, const char *word, size_t len);
struct chi_name_item chi_fide_item(enum chi_name_kind kind, uint32_t fide);

/* Entry, kind, bucket, number. For qsort. */
int chi_name_item_compare(const void *a, const void *b);

/* Where, after `at`, another list begins. */
size_t chi_list_end(const struct chi_name_item *items, size_t at, size_t n);

/* Adds items, sorted, of which none is there. */
CHI_MUSTUSE int chi_lists_add(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *items,
			      size_t n);

/* Takes an item out that is there. */
CHI_MUSTUSE int chi_list_remove(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *item);

/* Appends the numbers of all items of the entry, kind, bucket and mark of `like`. */
CHI_MUSTUSE int chi_list_read(MDB_txn *txn, MDB_dbi dbi, const struct chi_name_item *like,
			      struct chi_name_ids *out);

/* The numbers and marks of one part of a list. */
struct chi_list_part {
	size_t n;
	size_t room;
	uint32_t *id;
	uint16_t *mark;
};
void chi_list_part_deinit(struct chi_list_part *part);
/* -CHI_ECORRUPT, -CHI_ENOMEM. */
CHI_MUSTUSE int chi_list_decode(const MDB_val *key, const MDB_val *value,
				struct chi_list_part *out);

/* ---- Others ------------------------------------------------------------------------------ */

CHI_MUSTUSE int chi_name_ids_add(struct chi_name_ids *ids, uint32_t id);

/* The first name with that text and FIDE id, or, with `fide` 0, with that text; else in *bare the
 * first with that text and no FIDE id, 0 if there is none. CHI_NONE: *id is not filled. */
CHI_MUSTUSE int chi_names_search(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
				 const char *text, size_t len, uint32_t fide, uint32_t *id,
				 uint32_t *bare);

/* The members that are joined to a root, itself included; a name that is not joined is alone. */
CHI_MUSTUSE int chi_names_group(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
				struct chi_name_ids *out);

void chi_member_key(enum chi_name_kind kind, uint32_t root, uint32_t member,
		    uint8_t out[CHI_MEMBER_KEY]);

/* Big-endian. */
static inline void chi_name_put32(uint8_t *out, uint32_t value)
{
	out[0] = (uint8_t)(value >> 24);
	out[1] = (uint8_t)(value >> 16);
	out[2] = (uint8_t)(value >> 8);
	out[3] = (uint8_t)value;
}

static inline uint32_t chi_name_get32(const uint8_t *in)
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}
