/* SPDX-License-Identifier: MIT */
/* Trees of many entries, made for tests that look at their pages, and damage to them. */
#pragma once

#include <lmdb.h>

#include "tests/store/help.h"

/* Keys in the shape of positions; many share their mask, so that it does not tell them apart. */
void trees_keys(struct chi_key *out, size_t n);
/* The same with about `run` to a mask. */
void trees_runs(struct chi_key *out, size_t n, unsigned run);

/* Puts them in one transaction, two of three with a statistic. `notes`: with notes up to the
 * largest, which stand in pages of their own. */
void trees_fill(struct chi_dir *store, const struct chi_key *list, size_t n, bool notes);

/* Deletes those that are there, in one transaction. */
void trees_delete(struct chi_dir *store, const struct chi_key *list, size_t n);

/* The rows of a scan, as a plain search through all records gives them: room for all positions.
 * Returns how many. */
size_t trees_expect(struct chi_read *read, const struct chi_scan_spec *spec, struct chi_row *out);

/* A position's record by LMDB's cursor and the block that it finds: CHI_OK, CHI_NONE,
 * -CHI_ECORRUPT.
 */
int trees_get(struct chi_read *read, const struct chi_key *key, MDB_val *value);

/* Up to a sector of the file of `bytes` bytes, mostly heads of pages, becomes something else.
 * `good` is what stood there. How many bytes, and where; 0: it could not be written. */
size_t trees_damage(int fd, const uint8_t *good, off_t bytes, off_t *at);

/* Where in the file the page begins that says where the trees are. */
off_t trees_page(const struct chi_read *read);

/* Runs what may die of the damage in a child, whose status must be 0; cmocka's handlers would take
 * its signals for failures of their own. */
void trees_in_child(int (*run)(unsigned rounds), unsigned rounds);
