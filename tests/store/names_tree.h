/* SPDX-License-Identifier: MIT */
/* A names tree in an environment of its own, with a write transaction open. */
#pragma once

#include "tests/store/help.h"

#include <lmdb.h>

#include "store/names.h"
#include "store/chain/chain.h"
#include "store/names/names.h"

extern MDB_txn *names_txn; /* NULL: none is open */
extern MDB_dbi names_dbi;
extern struct chi_name_cache *names_cache;

/* cmocka's setup and teardown of a test. */
int names_setup(void **state);
int names_teardown(void **state);

void names_begin(void);
/* Writes what is new, and the tree must be sound. */
void names_check(void);
/* The same, and commits. */
void names_commit(void);

uint32_t names_intern(enum chi_name_kind kind, const char *text, uint32_t fide);
uint32_t names_player(const char *text);

struct chi_name names_at(enum chi_name_kind kind, uint32_t id);
/* What is found, as "1 2 5". */
const char *names_found(enum chi_name_kind kind, const char *wanted);

#define expect_found(wanted, ids)                                                                  \
	do {                                                                                       \
		ok(chi_names_flush(names_cache, names_txn, names_dbi));                            \
		assert_string_equal(names_found(CHI_NAME_PLAYER, wanted), ids);                    \
	} while (0)
