/* SPDX-License-Identifier: MIT */
/* What the tests of merging share: a store into another, as text and directly. */
#pragma once

#include "tests/store/help.h"

/* Of the merge or import before. */
extern struct chi_import_result merging_result;

/* Feeds the text of a dump in pieces of `piece` bytes. */
int merging_text(struct chi_dir *store, const char *text, size_t len, size_t piece);

/* The other store, read directly. */
int merging_store(struct chi_dir *store, struct chi_dir *other);

/* Both ways, which must do the same. */
int merging(struct chi_dir *store, struct chi_dir *other);

struct chi_dir *merging_copy(struct chi_dir *store);

/* Whether both have the same dump. */
void merging_same(struct chi_dir *a, struct chi_dir *b, bool same);

/* Games of a text into a new store. */
struct chi_dir *merging_import(const char *name, enum chi_statistic statistic, const char *text,
			       size_t len);
