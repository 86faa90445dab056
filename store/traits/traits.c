/* SPDX-License-Identifier: MIT */
/*
 * Lists of games by trait. They are kept as the long lists of positions are (store/postings), in a
 * tree of their own; the key is the trait's 7 bytes, the kind first.
 */
#include "store/traits/traits.h"

#include <stdlib.h>

#include "base/attr.h"
#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/postings/postings.h"
#include "store/traits/traits_priv.h"

void chi_trait_key(chi_trait trait, uint8_t out[CHI_TRAIT_SIZE])
{
	for (size_t i = 0; i < CHI_TRAIT_SIZE; i++) {
		out[i] = (uint8_t)(trait >> (8 * (CHI_TRAIT_SIZE - 1 - i)));
	}
}

static chi_trait trait_of(const uint8_t *key)
{
	chi_trait trait = 0;
	for (size_t i = 0; i < CHI_TRAIT_SIZE; i++) {
		trait = trait << 8 | key[i];
	}
	return trait;
}

int chi_traits_open(const MDB_val *key, const MDB_val *value, chi_trait *trait,
		    struct chi_posting out[CHI_POSTINGS_CHUNK_ENTRIES], size_t *n)
{
	size_t key_len;
	int error = chi_postings_chunk_read(key, value, &key_len, out, n);
	if (error != 0 || key_len != CHI_TRAIT_SIZE) {
		return -CHI_ECORRUPT;
	}
	*trait = trait_of(key->mv_data);
	for (size_t i = 0; i < *n; i++) {
		if (out[i].move != 0) {
			return -CHI_ECORRUPT;
		}
	}
	return CHI_OK;
}

struct walk {
	chi_trait to;
	const struct chi_traits_visitor *visitor;
	chi_trait asked; /* the last trait that was, */
	bool wanted;	 /* and whether it is */
	bool over;
	struct chi_posting games[CHI_POSTINGS_CHUNK_ENTRIES];
};

static int visit(void *context, const MDB_val *key, const MDB_val *value)
{
	struct walk *walk = context;
	const struct chi_traits_visitor *visitor = walk->visitor;
	chi_trait trait;
	size_t n = 0;
	if (key->mv_size < CHI_TRAIT_SIZE) {
		return -CHI_ECORRUPT;
	}
	trait = trait_of(key->mv_data);
	if (trait > walk->to) {
		walk->over = true;
		return CHI_NONE;
	}
	if (trait != walk->asked) {
		walk->asked = trait;
		walk->wanted = visitor->wants(visitor->context, trait);
	}
	if (!walk->wanted) {
		return CHI_OK;
	}
	int rc = chi_traits_open(key, value, &trait, walk->games, &n);
	return rc == CHI_OK ? visitor->take(visitor->context, trait, walk->games, n) : rc;
}

int chi_traits_walk(MDB_txn *txn, MDB_dbi dbi, chi_trait from, chi_trait to,
		    const struct chi_traits_visitor *visitor)
{
	uint8_t bytes[CHI_TRAIT_SIZE];
	_cleanup_(chi_freep) struct walk *walk = calloc(1, sizeof(*walk));
	if (walk == NULL) {
		return -CHI_ENOMEM;
	}
	walk->to = to;
	walk->visitor = visitor;
	chi_trait_key(from, bytes);
	const MDB_val key = chi_val(bytes, sizeof(bytes));
	int rc = chi_chain_walk(txn, dbi, CHI_CHAIN_TRAITS, &key, 0, visit, walk);
	return rc == CHI_NONE && walk->over ? CHI_OK : rc;
}
