/* SPDX-License-Identifier: MIT */
/* What the tests of merging share: a store into another, as text and directly. */
#pragma once

#include "tests/store/help.h"

/* Of the merge or import before. */
extern struct chi_import_result merging_result;

/* Feeds the text of a dump in pieces of `piece` bytes. */
int merging_text(struct chi_store *store, const char *text, size_t len, size_t piece);

/* The other store, read directly. */
int merging_store(struct chi_store *store, struct chi_store *other);

/* Both ways, which must do the same. */
int merging(struct chi_store *store, struct chi_store *other);

struct chi_store *merging_copy(struct chi_store *store);

/* Whether both have the same dump. */
void merging_same(struct chi_store *a, struct chi_store *b, bool same);

/* Games of a text into a new store. */
struct chi_store *merging_import(const char *name, enum chi_statistic statistic, const char *text,
				 size_t len);
