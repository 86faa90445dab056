/* SPDX-License-Identifier: MIT */
/*
 * A bitmap depends on the games, which never change, on the names that its texts stand for, which
 * aliases change, and on other gamesets. Names that came later are in no game that was looked at,
 * so that only those before are put into the stamp.
 */
#include "search/filter/stamp.h"

#include <stdlib.h>

#include "base/attr.h"
#include "store/names/names.h"

static const enum chi_name_kind kinds[CHI_GAMESET_NAMES] = {CHI_NAME_PLAYER, CHI_NAME_EVENT,
							    CHI_NAME_SITE, CHI_NAME_SOURCE};

static int stamp_name(const struct chi_archive_view *view, const char *text, size_t kind,
		      const struct chi_gameset_mark *mark, uint64_t *stamp)
{
	struct chi_name_ids ids = {0};
	int rc = chi_names_find(view->txn, view->trees.names, kinds[kind], text, &ids);
	if (rc == CHI_OK) {
		size_t n = ids.n;
		while (n > 0 && ids.id[n - 1] > mark->names[kind]) {
			n--;
		}
		*stamp = chi_gameset_stamp(*stamp + n + 1, ids.id, n * sizeof(ids.id[0]));
	}
	chi_name_ids_deinit(&ids);
	return rc;
}

static int add_terms(const struct chi_archive_view *view, const struct chi_terms *terms,
		     const struct chi_gameset_mark *mark, unsigned depth, uint64_t *stamp);

/* Its filter's text, and what that means. */
static int stamp_gameset(const struct chi_archive_view *view, const char *name,
			 const struct chi_gameset_mark *mark, unsigned depth, uint64_t *stamp)
{
	struct chi_gameset_entry entry;
	int rc = chi_gameset_get(view->txn, view->trees.gamesets, name, strlen(name), &entry);
	if (rc != CHI_OK || depth == CHI_GAMESET_DEPTH) {
		return rc == CHI_NONE ? -CHI_EINVAL : rc == CHI_OK ? -CHI_ETOOBIG : rc;
	}
	_cleanup_(chi_freep) struct chi_terms *terms = malloc(sizeof(*terms));
	if (terms == NULL) {
		return -CHI_ENOMEM;
	}
	if (chi_terms_parse(entry.filter, entry.filter_len, terms, NULL) != CHI_OK) {
		return -CHI_ECORRUPT;
	}
	*stamp = chi_gameset_stamp(*stamp, entry.filter, entry.filter_len);
	return add_terms(view, terms, mark, depth + 1, stamp);
}

static int add_terms(const struct chi_archive_view *view, const struct chi_terms *terms,
		     const struct chi_gameset_mark *mark, unsigned depth, uint64_t *stamp)
{
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < terms->n; i++) {
		const struct chi_term *term = &terms->term[i];
		const char *text = chi_term_text_of(terms, term->text);
		if (term->kind == CHI_TERM_GAMESET) {
			rc = stamp_gameset(view, text, mark, depth, stamp);
		} else if (term->kind <= CHI_TERM_SOURCE) {
			rc = stamp_name(view, text, term->kind, mark, stamp);
		}
		if (rc == CHI_OK && term->opponent != 0) {
			rc = stamp_name(view, chi_term_text_of(terms, term->opponent), 0, mark,
					stamp);
		}
	}
	return rc;
}

_Static_assert(CHI_TERM_PLAYER == 0 && CHI_TERM_EVENT == 1 && CHI_TERM_SITE == 2 &&
		       CHI_TERM_SOURCE == 3,
	       "terms of names are in the order of `kinds`");

int chi_stamp_of(const struct chi_archive_view *view, const struct chi_terms *terms,
		 const struct chi_gameset_mark *mark, uint64_t *out)
{
	*out = 0;
	return add_terms(view, terms, mark, 0, out);
}

int chi_stamp_mark(const struct chi_archive_view *view, const struct chi_terms *terms,
		   struct chi_gameset_mark *out)
{
	int rc = CHI_OK;
	*out = (struct chi_gameset_mark){.last = view->last};
	for (size_t i = 0; rc == CHI_OK && i < CHI_GAMESET_NAMES; i++) {
		rc = chi_names_count(view->txn, view->trees.names, kinds[i], &out->names[i]);
	}
	return rc == CHI_OK ? chi_stamp_of(view, terms, out, &out->stamp) : rc;
}
