/* SPDX-License-Identifier: MIT */
/*
 * A link is a hash of its entry's key, seeded by that of the key before: it fits these two keys, in
 * this tree, and no others. The entries are a ring: the first is the head, whose link is to the
 * last key. It is at the beginning, because LMDB fills pages only if what is appended is really the
 * last.
 *
 * What changes between two entries is written with the link of the second one; before that the
 * links around it are verified, so that damage is never written over.
 */
#include "store/chain/chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/attr.h"
#include "store/lmdb_err.h"
#include "store/names.h"
#include "store/store.h"

#define KEY_MAX 511 /* LMDB's */

/* ---- Links ------------------------------------------------------------------------------- */

/* Less than any other key. */
static const uint8_t head_key[] = {0};

static MDB_val head_val(void)
{
	return chi_val(head_key, sizeof(head_key));
}

static bool is_head(const MDB_val *key)
{
	return key->mv_size == sizeof(head_key) && *(const uint8_t *)key->mv_data == head_key[0];
}

/* LMDB's own order. */
static int compare_keys(const MDB_val *a, const MDB_val *b)
{
	size_t common = a->mv_size < b->mv_size ? a->mv_size : b->mv_size;
	int order = memcmp(a->mv_data, b->mv_data, common);
	return order != 0 ? order : (a->mv_size > b->mv_size) - (a->mv_size < b->mv_size);
}

/* The link of an entry whose key comes after another one in a tree. */
static uint16_t link_of(enum chi_chain chain, const MDB_val *before, const MDB_val *key)
{
	uint64_t seed = XXH3_64bits_withSeed(before->mv_data, before->mv_size, chain);
	return (uint16_t)XXH3_64bits_withSeed(key->mv_data, key->mv_size, seed);
}

static uint16_t read_link(const MDB_val *value)
{
	const uint8_t *bytes = value->mv_data;
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static void write_link(const MDB_val *value, uint16_t link)
{
	uint8_t *bytes = value->mv_data;
	bytes[0] = (uint8_t)link;
	bytes[1] = (uint8_t)(link >> 8);
}

static MDB_val without_link(const MDB_val *value)
{
	return (MDB_val){value->mv_size - CHI_CHAIN_LINK,
			 (uint8_t *)value->mv_data + CHI_CHAIN_LINK};
}

static bool fits(enum chi_chain chain, const MDB_val *before, const MDB_val *key,
		 const MDB_val *value)
{
	return value->mv_size >= CHI_CHAIN_LINK && read_link(value) == link_of(chain, before, key);
}

/* What LMDB does not find is damage: there is always the head. */
static int found(int rc)
{
	return rc == MDB_NOTFOUND ? MDB_CORRUPTED : rc;
}

/* An entry that was believed: its value without the link; the head is none. */
static int deliver(const MDB_val *key, MDB_val *value)
{
	if (is_head(key)) {
		return MDB_NOTFOUND;
	}
	if (value->mv_size < CHI_CHAIN_LINK) {
		return MDB_CORRUPTED;
	}
	*value = without_link(value);
	return 0;
}

const char *chi_chain_name(enum chi_chain chain)
{
	static const char *const names[] = {
		[CHI_CHAIN_IDS] = GAME_IDS_TREE,      [CHI_CHAIN_CLIENTS] = CLIENTS_TREE,
		[CHI_CHAIN_QUEUE] = QUEUE_TREE,	      [CHI_CHAIN_GAMES] = GAMES_TREE,
		[CHI_CHAIN_COLUMNS] = COLUMNS_TREE,   [CHI_CHAIN_NAMES] = NAMES_TREE,
		[CHI_CHAIN_POSTINGS] = POSTINGS_TREE, [CHI_CHAIN_GAMESETS] = GAMESETS_TREE,
		[CHI_CHAIN_TRAITS] = TRAITS_TREE,
	};
	return names[chain];
}

const char *chi_chain_key_name(enum chi_chain chain, const MDB_val *key, char out[CHI_CHAIN_TEXT])
{
	const uint8_t *bytes = key->mv_data;
	size_t shown = key->mv_size < 32 ? key->mv_size : 32;
	bool number = chain == CHI_CHAIN_GAMES || chain == CHI_CHAIN_COLUMNS;
	if (key->mv_size == 0 || is_head(key)) {
		(void)snprintf(out, CHI_CHAIN_TEXT, "its beginning");
	} else if (number && key->mv_size == 4) {
		(void)snprintf(out, CHI_CHAIN_TEXT, "game %u",
			       (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 |
				       (unsigned)bytes[2] << 8 | bytes[3]);
	} else {
		int len = snprintf(out, CHI_CHAIN_TEXT, "key ");
		for (size_t i = 0; i < shown; i++) {
			len += snprintf(out + len, CHI_CHAIN_TEXT - (size_t)len, "%02x", bytes[i]);
		}
	}
	return out;
}

/* ---- What is broken ----------------------------------------------------------------------- */

#define BROKEN (2 * CHI_CHAIN_TEXT + 96)

static _Thread_local char broken[BROKEN];

/* Notes where, for the error's text. NULL: the tree's end. */
static int break_at(enum chi_chain chain, const MDB_val *from, const MDB_val *to)
{
	char first[CHI_CHAIN_TEXT];
	char last[CHI_CHAIN_TEXT] = "its end";
	(void)snprintf(broken, sizeof(broken),
		       "the %s tree is damaged: entries between %s and %s may be missing",
		       chi_chain_name(chain), chi_chain_key_name(chain, from, first),
		       to != NULL && !is_head(to) ? chi_chain_key_name(chain, to, last) : last);
	return MDB_CORRUPTED;
}

const char *chi_dir_error(int status)
{
	static _Thread_local char told[BROKEN];
	if (status != -CHI_ECORRUPT || broken[0] == '\0') {
		return chi_strerror(status);
	}
	memcpy(told, broken, sizeof(told));
	broken[0] = '\0';
	return told;
}

void chi_dir_forget_damage(void)
{
	broken[0] = '\0';
}

/* ---- Reading ----------------------------------------------------------------------------- */

/* Whether the head says that `last` is the last key: 0 or MDB_CORRUPTED, or LMDB's code. */
static int check_last(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *last)
{
	MDB_val key = head_val();
	MDB_val value;
	int rc = found(mdb_get(txn, dbi, &key, &value));
	return rc == 0 && !fits(chain, last, &key, &value) ? break_at(chain, last, NULL) : rc;
}

static int go_to_first(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key, MDB_val *value);

static int go_to_next(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key, MDB_val *value)
{
	MDB_val from;
	int rc = mdb_cursor_get(cursor, &from, NULL, MDB_GET_CURRENT);
	if (rc != 0) {
		return rc == EINVAL ? go_to_first(cursor, chain, key, value) : found(rc);
	}
	rc = mdb_cursor_get(cursor, key, value, MDB_NEXT);
	if (rc == MDB_NOTFOUND) {
		rc = check_last(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor), chain, &from);
		return rc == 0 ? MDB_NOTFOUND : rc;
	}
	if (rc != 0) {
		return rc;
	}
	return fits(chain, &from, key, value) && !is_head(key) ? deliver(key, value)
							       : break_at(chain, &from, key);
}

static int go_to_first(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key, MDB_val *value)
{
	int rc = found(mdb_cursor_get(cursor, key, value, MDB_FIRST));
	if (rc != 0) {
		return rc;
	}
	return is_head(key) ? go_to_next(cursor, chain, key, value) : MDB_CORRUPTED;
}

static int go_to_previous(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key, MDB_val *value)
{
	MDB_val from;
	MDB_val from_value;
	int rc = mdb_cursor_get(cursor, &from, &from_value, MDB_GET_CURRENT);
	if (rc == 0 && is_head(&from)) {
		return MDB_NOTFOUND;
	}
	rc = rc == 0 ? found(mdb_cursor_get(cursor, key, value, MDB_PREV)) : rc;
	if (rc != 0) {
		return rc;
	}
	return fits(chain, key, &from, &from_value) ? deliver(key, value)
						    : break_at(chain, key, &from);
}

static int go_to_last(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key, MDB_val *value)
{
	int rc = found(mdb_cursor_get(cursor, key, value, MDB_LAST));
	if (rc == 0) {
		rc = check_last(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor), chain, key);
	}
	return rc == 0 ? deliver(key, value) : rc;
}

/* Where a key is, or would be: the entries around it were believed. */
struct chain_place {
	MDB_val before; /* the greatest key that is less */
	MDB_val key;	/* the least that is not; that of the head if all are less, */
	MDB_val value;	/* its value, with the link, */
	bool over;	/* and so */
};

/* Leaves the cursor at place->key, or, if there is none, at the last one. MDB_CORRUPTED. */
static int look_around(MDB_cursor *cursor, enum chi_chain chain, const MDB_val *wanted,
		       struct chain_place *place)
{
	MDB_val back;
	place->key = *wanted;
	int rc = mdb_cursor_get(cursor, &place->key, &place->value, MDB_SET_RANGE);
	place->over = rc == MDB_NOTFOUND;
	if (place->over) {
		rc = found(mdb_cursor_get(cursor, &place->before, NULL, MDB_LAST));
		place->key = head_val();
		rc = rc == 0 ? found(mdb_get(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor),
					     &place->key, &place->value))
			     : rc;
	} else if (rc == 0) {
		rc = found(mdb_cursor_get(cursor, &place->before, NULL, MDB_PREV));
		rc = rc == 0 ? found(mdb_cursor_get(cursor, &back, NULL, MDB_NEXT)) : rc;
		rc = rc == 0 && back.mv_data != place->key.mv_data ? MDB_CORRUPTED : rc;
	}
	if (rc != 0) {
		return rc;
	}
	bool around = compare_keys(&place->before, wanted) < 0 &&
		      (place->over || compare_keys(&place->key, wanted) >= 0);
	return around && fits(chain, &place->before, &place->key, &place->value)
		       ? 0
		       : break_at(chain, &place->before, &place->key);
}

/* What has a value has a checksum, and needs no look around if it is the one that was asked for. */
static int go_to_range(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key, MDB_val *value)
{
	const MDB_val wanted = *key;
	struct chain_place place;
	if (is_head(key)) {
		return go_to_first(cursor, chain, key, value);
	}
	int rc = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
	if (rc == 0 && value->mv_size > CHI_CHAIN_LINK && compare_keys(key, &wanted) == 0) {
		return deliver(key, value);
	}
	rc = rc == 0 || rc == MDB_NOTFOUND ? look_around(cursor, chain, &wanted, &place) : rc;
	if (rc != 0 || place.over) {
		return rc != 0 ? rc : MDB_NOTFOUND;
	}
	*key = place.key;
	*value = place.value;
	return deliver(key, value);
}

int chi_chain_step(MDB_cursor *cursor, enum chi_chain chain, MDB_val *key, MDB_val *value,
		   MDB_cursor_op op)
{
	MDB_val unused;
	value = value != NULL ? value : &unused;
	switch (op) {
	case MDB_FIRST:
		return go_to_first(cursor, chain, key, value);
	case MDB_LAST:
		return go_to_last(cursor, chain, key, value);
	case MDB_NEXT:
		return go_to_next(cursor, chain, key, value);
	case MDB_PREV:
		return go_to_previous(cursor, chain, key, value);
	case MDB_SET_RANGE:
		return go_to_range(cursor, chain, key, value);
	case MDB_GET_CURRENT: {
		int rc = mdb_cursor_get(cursor, key, value, op);
		return rc == 0 ? deliver(key, value) : rc;
	}
	default:
		return EINVAL;
	}
}

int chi_chain_get(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *key,
		  MDB_val *value)
{
	MDB_cursor *cursor;
	MDB_val at = *key;
	int rc = mdb_get(txn, dbi, &at, value);
	if (rc == 0 && value->mv_size > CHI_CHAIN_LINK) {
		return deliver(key, value);
	}
	rc = rc == 0 || rc == MDB_NOTFOUND ? mdb_cursor_open(txn, dbi, &cursor) : rc;
	if (rc != 0) {
		return rc;
	}
	rc = go_to_range(cursor, chain, &at, value);
	mdb_cursor_close(cursor);
	return rc == 0 && compare_keys(&at, key) != 0 ? MDB_NOTFOUND : rc;
}

static bool key_begins(const MDB_val *key, const MDB_val *from, size_t common)
{
	return key->mv_size >= common && memcmp(key->mv_data, from->mv_data, common) == 0;
}

int chi_chain_seek(MDB_cursor *cursor, enum chi_chain chain, size_t common, MDB_val *key,
		   MDB_val *value)
{
	const MDB_val wanted = *key;
	int rc = go_to_range(cursor, chain, key, value);
	bool follows = rc == 0 && key_begins(key, &wanted, common);
	if (follows && compare_keys(key, &wanted) == 0) {
		return 0;
	}
	rc = rc == 0		  ? go_to_previous(cursor, chain, key, value)
	     : rc == MDB_NOTFOUND ? go_to_last(cursor, chain, key, value)
				  : rc;
	if (rc == 0 && key_begins(key, &wanted, common)) {
		return 0;
	}
	if (follows && (rc == 0 || rc == MDB_NOTFOUND)) {
		return rc == 0 ? go_to_next(cursor, chain, key, value)
			       : go_to_first(cursor, chain, key, value);
	}
	return rc == 0 ? MDB_NOTFOUND : rc;
}

int chi_chain_walk(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *from,
		   size_t common, chi_chain_visit *visit, void *context)
{
	MDB_cursor *cursor;
	MDB_val key = from != NULL ? *from : head_val();
	MDB_val value;
	int status = CHI_OK;
	int rc = mdb_cursor_open(txn, dbi, &cursor);
	if (rc != 0) {
		return chi_lmdb_status(rc);
	}
	rc = go_to_range(cursor, chain, &key, &value);
	while (rc == 0 && status == CHI_OK && (from == NULL || key_begins(&key, from, common))) {
		status = visit(context, &key, &value);
		rc = status == CHI_OK ? go_to_next(cursor, chain, &key, &value) : 0;
	}
	mdb_cursor_close(cursor);
	return status != CHI_OK || rc == MDB_NOTFOUND ? status : chi_lmdb_status(rc);
}

/* ---- Writing ----------------------------------------------------------------------------- */

static int put_head(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *last)
{
	uint8_t bytes[CHI_CHAIN_LINK];
	MDB_val key = head_val();
	MDB_val value = {sizeof(bytes), bytes};
	write_link(&value, link_of(chain, last, &key));
	return mdb_put(txn, dbi, &key, &value, 0);
}

int chi_chain_make(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain)
{
	const MDB_val head = head_val();
	return put_head(txn, dbi, chain, &head);
}

int chi_chain_drop(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain)
{
	int rc = mdb_drop(txn, dbi, 0);
	return rc == 0 ? chi_chain_make(txn, dbi, chain) : rc;
}

/* A value at the cursor, or under a new key, with its link. */
static int put_linked(MDB_cursor *cursor, const MDB_val *key, const MDB_val *value, uint16_t link,
		      unsigned flags)
{
	MDB_val at = *key;
	MDB_val room = {.mv_size = value->mv_size + CHI_CHAIN_LINK};
	int rc = mdb_cursor_put(cursor, &at, &room, flags | MDB_RESERVE);
	if (rc != 0) {
		return rc;
	}
	write_link(&room, link);
	if (value->mv_size > 0) {
		memcpy(without_link(&room).mv_data, value->mv_data, value->mv_size);
	}
	return 0;
}

/*
 * The entry after another one gets the link to `before`. The cursor is at it, unless it is the
 * head. LMDB keeps its bytes in place, or copies their page, or gives room elsewhere for a long
 * value, whose old page stays as it is.
 */
static int relink(MDB_cursor *cursor, enum chi_chain chain, const MDB_val *before,
		  const MDB_val *key, const MDB_val *value)
{
	uint8_t bytes[KEY_MAX];
	MDB_val at = {key->mv_size, bytes};
	MDB_val room = {.mv_size = value->mv_size};
	if (is_head(key)) {
		return put_head(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor), chain, before);
	}
	if (key->mv_size > sizeof(bytes)) {
		return MDB_CORRUPTED;
	}
	memcpy(bytes, key->mv_data, key->mv_size);
	uint16_t link = link_of(chain, before, key);
	int rc = mdb_cursor_put(cursor, &at, &room, MDB_CURRENT | MDB_RESERVE);
	if (rc != 0) {
		return rc;
	}
	if (room.mv_data != value->mv_data) {
		memcpy(room.mv_data, value->mv_data, value->mv_size);
	}
	write_link(&room, link);
	return 0;
}

static int put_chained(MDB_cursor *cursor, enum chi_chain chain, const MDB_val *key,
		       const MDB_val *value, unsigned flags)
{
	struct chain_place place;
	MDB_val at = *key;
	MDB_val there;
	int rc = mdb_cursor_get(cursor, &at, &there, MDB_SET_RANGE);
	if (rc == 0 && compare_keys(&at, key) == 0) {
		return there.mv_size < CHI_CHAIN_LINK ? MDB_CORRUPTED
		       : flags == MDB_NOOVERWRITE
			       ? MDB_KEYEXIST
			       : put_linked(cursor, key, value, read_link(&there), MDB_CURRENT);
	}
	rc = rc == 0 || rc == MDB_NOTFOUND ? look_around(cursor, chain, key, &place) : rc;
	if (rc != 0) {
		return rc;
	}
	uint16_t link = link_of(chain, &place.before, key);
	rc = relink(cursor, chain, key, &place.key, &place.value);
	return rc == 0 ? put_linked(cursor, key, value, link, 0) : rc;
}

int chi_chain_put(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *key,
		  const MDB_val *value, unsigned flags)
{
	MDB_cursor *cursor;
	/* What LMDB would refuse after the links around it were changed. */
	if (is_head(key) || key->mv_size > KEY_MAX) {
		return MDB_BAD_VALSIZE;
	}
	int rc = mdb_cursor_open(txn, dbi, &cursor);
	if (rc == 0) {
		rc = put_chained(cursor, chain, key, value, flags);
		mdb_cursor_close(cursor);
	}
	return rc;
}

/* The entry after `key` gets the link to the one before it. */
static int pass_over(MDB_cursor *cursor, enum chi_chain chain, const MDB_val *key)
{
	struct chain_place place;
	MDB_val after;
	MDB_val there;
	int rc = look_around(cursor, chain, key, &place);
	if (rc != 0 || place.over || compare_keys(&place.key, key) != 0) {
		return rc != 0 ? rc : MDB_NOTFOUND;
	}
	rc = mdb_cursor_get(cursor, &after, &there, MDB_NEXT);
	if (rc == MDB_NOTFOUND) {
		after = head_val();
		rc = found(mdb_get(mdb_cursor_txn(cursor), mdb_cursor_dbi(cursor), &after, &there));
	}
	rc = rc == 0 && !fits(chain, key, &after, &there) ? MDB_CORRUPTED : rc;
	return rc == 0 ? relink(cursor, chain, &place.before, &after, &there) : rc;
}

int chi_chain_del(MDB_txn *txn, MDB_dbi dbi, enum chi_chain chain, const MDB_val *key)
{
	MDB_cursor *cursor;
	MDB_val at = *key;
	if (is_head(key)) {
		return MDB_NOTFOUND;
	}
	int rc = mdb_cursor_open(txn, dbi, &cursor);
	if (rc == 0) {
		rc = pass_over(cursor, chain, key);
		mdb_cursor_close(cursor);
	}
	return rc == 0 ? mdb_del(txn, dbi, &at, NULL) : rc;
}

/* ---- A chain in one's own hands ---------------------------------------------------------- */

static void remember(struct chi_chain_at *at, const MDB_val *key)
{
	at->len = key->mv_size < sizeof(at->last) ? key->mv_size : sizeof(at->last);
	memcpy(at->last, key->mv_data, at->len);
}

bool chi_chain_strip(const MDB_val *key, MDB_val *value)
{
	*value = value->mv_size < CHI_CHAIN_LINK ? (MDB_val){0} : without_link(value);
	return !is_head(key);
}

bool chi_chain_follow(struct chi_chain_at *at, const MDB_val *key, const MDB_val *value)
{
	const MDB_val before = {at->len, at->last};
	bool good = is_head(key) == (at->len == 0) && value->mv_size >= CHI_CHAIN_LINK;
	if (good && at->len == 0) {
		at->head = read_link(value);
	} else {
		good = good && fits(at->chain, &before, key, value);
	}
	remember(at, key);
	return good;
}

bool chi_chain_over(const struct chi_chain_at *at)
{
	const MDB_val last = chi_val(at->last, at->len);
	const MDB_val head = head_val();
	return at->len > 0 && at->head == link_of(at->chain, &last, &head);
}

MDB_val *chi_chain_sign(struct chi_chain_at *at, const MDB_val *key, MDB_val *value)
{
	const MDB_val before = {at->len, at->last};
	value->mv_data = (uint8_t *)value->mv_data - CHI_CHAIN_LINK;
	value->mv_size += CHI_CHAIN_LINK;
	write_link(value, link_of(at->chain, &before, key));
	remember(at, key);
	return value;
}

int chi_chain_begin(MDB_txn *txn, MDB_dbi dbi, struct chi_chain_at *at)
{
	MDB_stat stat;
	const MDB_val head = head_val();
	remember(at, &head);
	int rc = mdb_stat(txn, dbi, &stat);
	return rc == 0 && stat.ms_entries != 1 ? MDB_CORRUPTED : rc;
}

int chi_chain_end(MDB_txn *txn, MDB_dbi dbi, const struct chi_chain_at *at)
{
	const MDB_val last = chi_val(at->last, at->len);
	return put_head(txn, dbi, at->chain, &last);
}
