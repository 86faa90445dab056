/* SPDX-License-Identifier: MIT */
/*
 * Who is meant by a text. The indexes give candidates, since they hold hashes; the names
 * themselves decide. Then everything that is joined to one found is found too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/names/fits.h"
#include "store/names/names_priv.h"

int chi_names_search(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, const char *text,
		     size_t len, uint32_t fide, uint32_t *id, uint32_t *bare)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
	struct chi_name_item item = chi_text_item(kind, text, len);
	struct chi_name name;
	*bare = 0;
	int rc = chi_list_read(txn, dbi, &item, &ids);
	for (size_t i = 0; rc == CHI_OK && i < ids.n; i++) {
		rc = chi_name_text(txn, dbi, kind, ids.id[i], &name);
		if (rc != CHI_OK || name.len != len || memcmp(name.text, text, len) != 0) {
			rc = rc == CHI_NONE ? -CHI_ECORRUPT : rc;
			continue;
		}
		if (fide == 0 || name.fide == fide) {
			*id = name.id;
			return CHI_OK;
		}
		*bare = *bare == 0 && name.fide == 0 ? name.id : *bare;
	}
	return rc == CHI_OK ? CHI_NONE : rc;
}

int chi_names_lookup(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, const char *text,
		     size_t len, uint32_t *id)
{
	uint32_t bare;
	return len == 0 || len > CHI_NAME_MAX
		       ? CHI_NONE
		       : chi_names_search(txn, dbi, kind, text, len, 0, id, &bare);
}

/* ---- Candidates -------------------------------------------------------------------------- */

struct finder {
	MDB_txn *txn;
	MDB_dbi dbi;
	enum chi_name_kind kind;
	struct chi_name_words wanted;
	struct chi_name_ids *out;
};

/* A walk over all names, or the candidates alone. */
static int add_fitting(void *context, const struct chi_name *name)
{
	struct finder *finder = context;
	struct chi_name_words words;
	chi_name_split(name->text, name->len, &words);
	bool fits = finder->kind == CHI_NAME_PLAYER ? chi_player_fits_words(&finder->wanted, &words)
						    : chi_name_has_words(&finder->wanted, &words);
	return fits ? chi_name_ids_add(finder->out, name->id) : CHI_OK;
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *x = a;
	const uint32_t *y = b;
	return (*x > *y) - (*x < *y);
}

/* Ascending, none twice. */
static void sort_ids(struct chi_name_ids *ids)
{
	size_t n = 0;
	if (ids->n > 1) {
		qsort(ids->id, ids->n, sizeof(ids->id[0]), compare_ids);
	}
	for (size_t i = 0; i < ids->n; i++) {
		if (n == 0 || ids->id[n - 1] != ids->id[i]) {
			ids->id[n++] = ids->id[i];
		}
	}
	ids->n = n;
}

/* Keeps what is in both, which ascend. */
static void intersect(struct chi_name_ids *ids, const struct chi_name_ids *others)
{
	size_t n = 0;
	size_t k = 0;
	for (size_t i = 0; i < ids->n; i++) {
		while (k < others->n && others->id[k] < ids->id[i]) {
			k++;
		}
		if (k < others->n && others->id[k] == ids->id[i]) {
			ids->id[n++] = ids->id[i];
		}
	}
	ids->n = n;
}

/* A person's surname may be any word of several letters where no comma says which. */
static bool may_lead(const struct finder *finder, size_t i)
{
	return finder->kind != CHI_NAME_PLAYER ||
	       (finder->wanted.comma ? finder->wanted.word[i].surname
				     : !chi_name_word_is_letter(&finder->wanted, i));
}

/* Appends what is not there, and sorts. */
static int unite(struct chi_name_ids *ids, const struct chi_name_ids *others)
{
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < others->n; i++) {
		rc = chi_name_ids_add(ids, others->id[i]);
	}
	sort_ids(ids);
	return rc;
}

/* The names that have, as far as hashes tell, all words that must be there as they are, or of a
 * person without a comma one of them; *any says if there was such a word. */
static int find_candidates(const struct finder *finder, struct chi_name_ids *ids, bool *any)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids others = {0};
	const struct chi_name_words *wanted = &finder->wanted;
	int rc = CHI_OK;
	*any = false;
	for (size_t i = 0; rc == CHI_OK && i < wanted->n; i++) {
		if (!may_lead(finder, i)) {
			continue;
		}
		struct chi_name_item item = chi_word_item(
			finder->kind, chi_name_word_text(wanted, i), wanted->word[i].len);
		others.n = 0;
		rc = chi_list_read(finder->txn, finder->dbi, &item, *any ? &others : ids);
		if (rc == CHI_OK && *any && finder->kind == CHI_NAME_PLAYER && !wanted->comma) {
			rc = unite(ids, &others);
		} else if (rc == CHI_OK && *any) {
			intersect(ids, &others);
		}
		*any = true;
	}
	return rc;
}

static int find_words(struct finder *finder)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
	bool any;
	int rc = find_candidates(finder, &ids, &any);
	if (rc == CHI_OK && !any && finder->wanted.n > 0) {
		return chi_names_walk(finder->txn, finder->dbi, finder->kind, 0, add_fitting,
				      finder);
	}
	for (size_t i = 0; rc == CHI_OK && i < ids.n; i++) {
		struct chi_name name;
		rc = chi_name_text(finder->txn, finder->dbi, finder->kind, ids.id[i], &name);
		rc = rc == CHI_NONE ? -CHI_ECORRUPT : rc;
		rc = rc == CHI_OK ? add_fitting(finder, &name) : rc;
	}
	return rc;
}

/* ---- Joined names ------------------------------------------------------------------------ */

/* Appends the groups of all names. */
static int add_groups(const struct finder *finder)
{
	struct chi_name_ids *ids = finder->out;
	int rc = CHI_OK;
	for (size_t i = 0, n = ids->n; rc == CHI_OK && i < n; i++) {
		rc = chi_names_group(finder->txn, finder->dbi, finder->kind, ids->id[i], ids);
	}
	sort_ids(ids);
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* Appends the names with the FIDE id. */
static int add_fide(const struct finder *finder, uint32_t fide)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
	struct chi_name_item item = chi_fide_item(finder->kind, fide);
	int rc = chi_list_read(finder->txn, finder->dbi, &item, &ids);
	for (size_t i = 0; rc == CHI_OK && i < ids.n; i++) {
		struct chi_name name;
		rc = chi_name_text(finder->txn, finder->dbi, finder->kind, ids.id[i], &name);
		if (rc == CHI_OK && name.fide == fide) {
			rc = chi_name_ids_add(finder->out, name.id);
		}
		rc = rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	return rc;
}

/* A group has one FIDE id at most, so that those who share it bring groups without another. */
static int add_joined(const struct finder *finder)
{
	struct chi_name_ids *ids = finder->out;
	uint32_t last = 0;
	int rc = add_groups(finder);
	for (size_t i = 0, n = ids->n; rc == CHI_OK && finder->kind == CHI_NAME_PLAYER && i < n;
	     i++) {
		struct chi_name name;
		rc = chi_name_text(finder->txn, finder->dbi, finder->kind, ids->id[i], &name);
		rc = rc == CHI_NONE ? -CHI_ECORRUPT : rc;
		if (rc == CHI_OK && name.fide != 0 && name.fide != last) {
			last = name.fide;
			rc = add_fide(finder, name.fide);
		}
	}
	sort_ids(ids);
	return rc == CHI_OK ? add_groups(finder) : rc;
}

int chi_names_find(MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind, const char *wanted,
		   struct chi_name_ids *out)
{
	struct finder finder = {.txn = txn, .dbi = dbi, .kind = kind, .out = out};
	int rc = CHI_OK;
	out->n = 0;
	if (wanted[0] == '=') {
		uint32_t id;
		rc = chi_names_lookup(txn, dbi, kind, wanted + 1, strlen(wanted + 1), &id);
		rc = rc == CHI_OK ? chi_name_ids_add(out, id) : rc == CHI_NONE ? CHI_OK : rc;
	} else {
		chi_name_split(wanted, strlen(wanted), &finder.wanted);
		rc = find_words(&finder);
	}
	return rc == CHI_OK ? add_joined(&finder) : rc;
}
