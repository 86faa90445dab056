/* SPDX-License-Identifier: MIT */
/* What the tests of importing share: sessions in one call, and a store as one text. */
#pragma once

#include "tests/store/help.h"

#include "import/importer.h"

/* A file of tests/data, NUL-terminated; to be freed. */
char *session_file(const char *name, size_t *len);

/* How a session is fed, beside its options. */
struct import_session {
	struct chi_import_options options;
	enum chi_statistic statistic; /* of a store that is made; 0: control */
	size_t cut;		      /* fed in pieces of random size up to this; 0: at once */
	struct chi_import_result result;
};

/* One input after the other into the store of that name (made if it is not there); returns the
 * status of what failed first. `texts` ends with NULL; its files are called "0.pgn", "1.pgn". */
int session_run(struct import_session *session, const char *store, const char *const *texts);

/* The same, which must succeed, of one text. */
void session_add(const char *store, const char *text);
void session_subtract(const char *store, const char *text);

/* A store's dump with its games after it; to be freed. Verifies it, too. */
char *session_dump(const char *store);

/* Both stores say the same. */
void session_same(const char *a, const char *b);

/* Writes `n` games as PGN, of random moves and all kinds of results; to be freed. */
char *session_games(unsigned n, unsigned plies);
