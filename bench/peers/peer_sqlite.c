/* SPDX-License-Identifier: MIT */
/* SQLite: a table without row ids, its file mapped, one prepared statement and one transaction for
 * all look-ups. */
#include "bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#include "bench/bench.h"

struct lite {
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_stmt *select;
};

static void must(struct lite *lite, int status, const char *what)
{
	if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW) {
		bench_die("%s: %s", what, sqlite3_errmsg(lite->db));
	}
}

static void execute(struct lite *lite, const char *sql)
{
	must(lite, sqlite3_exec(lite->db, sql, NULL, NULL, NULL), sql);
}

static void *open_lite(const char *path)
{
	char file[4096];
	struct lite *lite = calloc(1, sizeof(*lite));
	if (lite == NULL) {
		bench_die("out of memory");
	}
	(void)snprintf(file, sizeof(file), "%s.sqlite", path);
	must(lite, sqlite3_open(file, &lite->db), file);
	execute(lite, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
		      "PRAGMA mmap_size=1099511627776; PRAGMA cache_size=-65536;"
		      "CREATE TABLE p(k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID; BEGIN");
	must(lite,
	     sqlite3_prepare_v2(lite->db, "INSERT INTO p VALUES(?,?)", -1, &lite->insert, NULL),
	     "INSERT");
	must(lite,
	     sqlite3_prepare_v2(lite->db, "SELECT v FROM p WHERE k=?", -1, &lite->select, NULL),
	     "SELECT");
	return lite;
}

static void put(void *store, const void *key, size_t key_len, const void *value, size_t value_len)
{
	struct lite *lite = store;
	must(lite, sqlite3_bind_blob(lite->insert, 1, key, (int)key_len, SQLITE_STATIC), "bind");
	must(lite, sqlite3_bind_blob(lite->insert, 2, value, (int)value_len, SQLITE_STATIC),
	     "bind");
	must(lite, sqlite3_step(lite->insert), "INSERT");
	sqlite3_reset(lite->insert);
}

static void filled(void *store)
{
	execute(store, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE); BEGIN");
}

static bool get(void *store, const struct chi_key *key, uint64_t *touched)
{
	struct lite *lite = store;
	must(lite, sqlite3_bind_blob(lite->select, 1, key->bytes, key->len, SQLITE_STATIC), "bind");
	int status = sqlite3_step(lite->select);
	must(lite, status, "SELECT");
	if (status == SQLITE_ROW) {
		*touched += *(const unsigned char *)sqlite3_column_blob(lite->select, 0);
	}
	sqlite3_reset(lite->select);
	return status == SQLITE_ROW;
}

static void close_lite(void *store)
{
	struct lite *lite = store;
	sqlite3_finalize(lite->insert);
	sqlite3_finalize(lite->select);
	sqlite3_close(lite->db);
	free(lite);
}

const struct peer peer = {
	.open = open_lite,
	.put = put,
	.filled = filled,
	.get = get,
	.close = close_lite,
};
