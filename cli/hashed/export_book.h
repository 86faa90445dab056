/* SPDX-License-Identifier: MIT */
/*
 * A Polyglot book out of records. The book is ordered by its own key and the store by another: what
 * the records give is sorted in bounded memory, spilled to nameless files where it must be.
 */
#pragma once

#include "cli/out/target.h"

struct export_book;

/* `dir`: where may be spilled. Returns an exit code, as the others do. */
int export_book_new(const char *dir, struct export_book **out);

/* NULL is fine. */
void export_book_free(struct export_book *book);

/* Takes the moves that were played from a position. */
int export_book_add(struct export_book *book, const struct chi_key *key,
		    const struct chi_record *record);

/* Writes the book: all positions are in. Once. */
int export_book_write(struct export_book *book, struct target *target);
