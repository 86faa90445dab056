/* SPDX-License-Identifier: MIT */
/*
 * Taking a damaged record out of both trees. It cannot say which statistic its strength entry
 * stands under, so the strength tree is walked for it from end to end: slow, and rare.
 */
#include <string.h>

#include "base/arena.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/lmdb_val.h"
#include "store/record/codec.h"
#include "store/txn/txn.h"

/* The key of an entry to be deleted. Collected first: a walk does not stand on what goes. */
struct found {
	struct found *next;
	size_t len;
	uint8_t bytes[CHI_STRENGTH_KEY_MAX];
};

static int note(struct chi_arena *arena, const MDB_val *entry, struct found **list)
{
	struct found *found = chi_arena_alloc(arena, sizeof(*found));
	if (found == NULL) {
		return -CHI_ENOMEM;
	}
	found->next = *list;
	found->len = entry->mv_size;
	memcpy(found->bytes, entry->mv_data, entry->mv_size);
	*list = found;
	return CHI_OK;
}

/* Goes through `left` entries at most: a damaged tree may lead in circles. */
static int search(struct chi_write *write, const struct chi_key *key, MDB_cursor *cursor,
		  uint64_t left, struct found **list)
{
	MDB_val entry;
	MDB_val value;
	int error;
	while ((error = mdb_cursor_get(cursor, &entry, &value, MDB_NEXT)) == 0) {
		if (left-- == 0) {
			return -CHI_ECORRUPT;
		}
		const uint8_t *bytes = entry.mv_data;
		if (entry.mv_size != 2u + key->len ||
		    memcmp(bytes + 2, key->bytes, key->len) != 0) {
			continue;
		}
		int rc = note(&write->arena, &entry, list);
		if (rc < 0) {
			return rc;
		}
	}
	return error == MDB_NOTFOUND ? CHI_OK : chi_lmdb_status(error);
}

static int find(struct chi_write *write, const struct chi_key *key, struct found **list)
{
	MDB_stat stat;
	MDB_cursor *cursor;
	int error = mdb_stat(write->txn, write->env->strength, &stat);
	if (error == 0) {
		error = mdb_cursor_open(write->txn, write->env->strength, &cursor);
	}
	if (error != 0) {
		return chi_lmdb_status(error);
	}
	int rc = search(write, key, cursor, stat.ms_entries, list);
	mdb_cursor_close(cursor);
	return rc;
}

int chi_write_purge(struct chi_write *write, const struct chi_key *key)
{
	struct found *list = NULL;
	int rc = find(write, key, &list);
	for (; rc == CHI_OK && list != NULL; list = list->next) {
		MDB_val entry = {list->len, list->bytes};
		rc = chi_write_unset(write, write->env->strength, &entry);
	}
	if (rc != CHI_OK) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	MDB_val bytes = chi_val(key->bytes, key->len);
	return chi_write_unset(write, write->env->position, &bytes);
}
