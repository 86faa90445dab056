/* SPDX-License-Identifier: MIT */
/*
 * Joined names have one root, which the others name: no chains, so no cycles. A member's entry
 * leads from the root to it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "store/chain/chain.h"
#include "store/names/names_priv.h"

void chi_member_key(enum chi_name_kind kind, uint32_t root, uint32_t member,
		    uint8_t out[CHI_MEMBER_KEY])
{
	out[0] = CHI_ENTRY_MEMBER;
	out[1] = (uint8_t)kind;
	chi_name_put32(out + 2, root);
	chi_name_put32(out + 6, member);
}

static int add_member(void *context, const MDB_val *key, const MDB_val *value)
{
	const uint8_t *bytes = key->mv_data;
	(void)value;
	return key->mv_size == CHI_MEMBER_KEY ? chi_name_ids_add(context, chi_name_get32(bytes + 6))
					      : -CHI_ECORRUPT;
}

int chi_names_group(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
		    struct chi_name_ids *out)
{
	struct chi_name name;
	uint8_t bytes[CHI_MEMBER_KEY];
	const MDB_val from = {sizeof(bytes), bytes};
	int rc = chi_name_text(txn, dbi, kind, id, &name);
	if (rc != CHI_OK) {
		return rc;
	}
	uint32_t root = name.root != 0 ? name.root : id;
	chi_member_key(kind, root, 0, bytes);
	rc = chi_name_ids_add(out, root);
	/* The keys of its members differ in their last number. */
	return rc == CHI_OK ? chi_chain_walk(txn, dbi, CHI_CHAIN_NAMES, &from, 6, add_member, out)
			    : rc;
}

/* Of so many names the FIDE id that one of them has; 0: none has. */
static int fide_of_names(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
			 const struct chi_name_ids *ids, uint32_t *fide)
{
	*fide = 0;
	for (size_t i = 0; *fide == 0 && i < ids->n; i++) {
		struct chi_name name;
		int rc = chi_name_text(txn, dbi, kind, ids->id[i], &name);
		if (rc != CHI_OK) {
			return rc < 0 ? rc : -CHI_ECORRUPT;
		}
		*fide = name.fide;
	}
	return CHI_OK;
}

/* ---- Changes ----------------------------------------------------------------------------- */

/* Sets or clears (root 0) the root of a name whose root was `before`. */
static int set_root(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
		    uint32_t before, uint32_t root)
{
	struct chi_name name;
	uint8_t bytes[CHI_MEMBER_KEY];
	MDB_val key = {sizeof(bytes), bytes};
	MDB_val value = {0, bytes};
	int rc = CHI_OK;
	if (before != 0) {
		chi_member_key(kind, before, id, bytes);
		rc = chi_lmdb_status(chi_chain_del(txn, dbi, CHI_CHAIN_NAMES, &key));
	}
	if (rc == CHI_OK) {
		/* The text moved with the entry, if that did. */
		rc = chi_name_text(txn, dbi, kind, id, &name);
		name.root = root;
		rc = rc == CHI_OK ? chi_name_rewrite(txn, dbi, kind, &name) : rc;
	}
	if (rc == CHI_OK && root != 0) {
		chi_member_key(kind, root, id, bytes);
		rc = chi_lmdb_status(chi_chain_put(txn, dbi, CHI_CHAIN_NAMES, &key, &value, 0));
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

static int no_name(struct chi_fault *fault, uint32_t id)
{
	return chi_fail(fault, -CHI_EINVAL, "there is no name with the number %u", id);
}

/* The group of a name that a caller gave, its root first. */
static int group_of(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
		    struct chi_name_ids *out, struct chi_fault *fault)
{
	int rc = chi_names_group(txn, dbi, kind, id, out);
	return rc == CHI_NONE ? no_name(fault, id) : rc;
}

/* Both groups may not have FIDE ids that differ. */
static int check_fides(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
		       const struct chi_name_ids *a, const struct chi_name_ids *b,
		       struct chi_fault *fault)
{
	uint32_t x;
	uint32_t y;
	struct chi_name one;
	struct chi_name other;
	int rc = fide_of_names(txn, dbi, kind, a, &x);
	rc = rc == CHI_OK ? fide_of_names(txn, dbi, kind, b, &y) : rc;
	if (rc != CHI_OK || x == 0 || y == 0 || x == y) {
		return rc;
	}
	rc = chi_name_text(txn, dbi, kind, a->id[0], &one);
	rc = rc == CHI_OK ? chi_name_text(txn, dbi, kind, b->id[0], &other) : rc;
	return rc != CHI_OK
		       ? rc
		       : chi_fail(fault, -CHI_EINVAL,
				  "\"%.*s\" has FIDE id %u, \"%.*s\" has %u: not the same player",
				  (int)one.len, one.text, x, (int)other.len, other.text, y);
}

int chi_names_alias(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id, uint32_t to,
		    struct chi_fault *fault)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids mine = {0};
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids theirs = {0};
	int rc = group_of(txn, dbi, kind, id, &mine, fault);
	rc = rc == CHI_OK ? group_of(txn, dbi, kind, to, &theirs, fault) : rc;
	if (rc == CHI_OK && mine.id[0] == theirs.id[0]) {
		return CHI_NONE;
	}
	rc = rc == CHI_OK ? check_fides(txn, dbi, kind, &mine, &theirs, fault) : rc;
	for (size_t i = 0; rc == CHI_OK && i < mine.n; i++) {
		rc = set_root(txn, dbi, kind, mine.id[i], i == 0 ? 0 : mine.id[0], theirs.id[0]);
	}
	return rc;
}

int chi_names_unalias(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id,
		      struct chi_fault *fault)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids group = {0};
	int rc = group_of(txn, dbi, kind, id, &group, fault);
	if (rc != CHI_OK || group.n < 2) {
		return rc == CHI_OK ? CHI_NONE : rc;
	}
	if (id != group.id[0]) {
		return set_root(txn, dbi, kind, id, group.id[0], 0);
	}
	/* The others get another root, the lowest of them. */
	for (size_t i = 1; rc == CHI_OK && i < group.n; i++) {
		rc = set_root(txn, dbi, kind, group.id[i], id, i == 1 ? 0 : group.id[1]);
	}
	return rc;
}

int chi_names_set_fide(MDB_txn *txn, MDB_dbi dbi, uint32_t id, uint32_t fide, bool given,
		       struct chi_fault *fault)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids group = {0};
	struct chi_name name;
	uint32_t has;
	int rc = group_of(txn, dbi, CHI_NAME_PLAYER, id, &group, fault);
	rc = rc == CHI_OK ? fide_of_names(txn, dbi, CHI_NAME_PLAYER, &group, &has) : rc;
	rc = rc == CHI_OK ? chi_name_text(txn, dbi, CHI_NAME_PLAYER, id, &name) : rc;
	bool there = rc == CHI_OK && name.fide == fide;
	if (rc != CHI_OK || fide == 0 || (there && (name.given || !given))) {
		return rc == CHI_OK ? CHI_NONE : rc;
	}
	if (has != 0 && has != fide) {
		return chi_fail(fault, -CHI_EINVAL,
				"\"%.*s\", or a name joined to it, has FIDE id %u, not %u",
				(int)name.len, name.text, has, fide);
	}
	struct chi_name_item item = chi_fide_item(CHI_NAME_PLAYER, fide);
	item.id = id;
	name.fide = fide;
	name.given = given;
	rc = chi_name_rewrite(txn, dbi, CHI_NAME_PLAYER, &name);
	return rc == CHI_OK && !there ? chi_lists_add(txn, dbi, &item, 1) : rc;
}

/* ---- Removing ---------------------------------------------------------------------------- */

int chi_names_remove(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, uint32_t id)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids group = {0};
	struct chi_name_item items[CHI_NAME_ITEMS];
	struct chi_name_words words;
	const struct chi_name removed = {.id = id};
	struct chi_name name;
	int rc = chi_names_group(txn, dbi, kind, id, &group);
	rc = rc == CHI_OK ? chi_name_text(txn, dbi, kind, id, &name) : rc;
	if (rc != CHI_OK || group.n > 1) {
		return rc != CHI_OK ? rc : -CHI_EINVAL;
	}
	chi_name_split(name.text, name.len, &words);
	size_t n = chi_name_items(kind, &name, &words, items);
	rc = chi_name_rewrite(txn, dbi, kind, &removed);
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		rc = chi_list_remove(txn, dbi, &items[i]);
	}
	return rc;
}

int chi_names_clear_fide(MDB_txn *txn, MDB_dbi dbi, uint32_t id)
{
	struct chi_name name;
	int rc = chi_name_text(txn, dbi, CHI_NAME_PLAYER, id, &name);
	if (rc != CHI_OK || name.fide == 0) {
		return rc == CHI_OK ? CHI_NONE : rc;
	}
	struct chi_name_item item = chi_fide_item(CHI_NAME_PLAYER, name.fide);
	item.id = id;
	name.fide = 0;
	name.given = false;
	rc = chi_name_rewrite(txn, dbi, CHI_NAME_PLAYER, &name);
	return rc == CHI_OK ? chi_list_remove(txn, dbi, &item) : rc;
}

/* ---- Spelling files ---------------------------------------------------------------------- */

int chi_names_correct(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
		      enum chi_name_kind kind, const char *name, const char *alias,
		      struct chi_fault *fault)
{
	uint32_t from;
	uint32_t to;
	int rc = chi_names_lookup(txn, dbi, kind, alias, strlen(alias), &from);
	rc = rc == CHI_OK ? chi_names_intern(cache, txn, dbi, kind, name, strlen(name), 0, &to)
			  : rc;
	rc = rc == CHI_OK ? chi_names_flush(cache, txn, dbi) : rc;
	return rc == CHI_OK ? chi_names_alias(txn, dbi, kind, from, to, fault) : rc;
}
