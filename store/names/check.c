/* SPDX-License-Identifier: MIT */
/*
 * Verification. What the names say the indexes must hold, and what these hold, are both added up
 * as hashes, whose sums agree only if each has every item once.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/names/names_priv.h"
#include "store/record/checksum.h"

static const char *const kinds[] = {"", "player", "event", "site", "source", "round", "annotator"};
static const char *const indexes[] = {"", "", "texts", "words", "FIDE ids", "aliases"};

struct check {
	MDB_txn *txn;
	MDB_dbi dbi;
	chi_verify_report *report;
	void *context;
	uint64_t names;
	bool bad;
	uint32_t next[CHI_NAME_KINDS];			       /* number of the next name */
	uint64_t wanted[CHI_ENTRY_MEMBER + 1][CHI_NAME_KINDS]; /* sums by the names */
	uint64_t found[CHI_ENTRY_MEMBER + 1][CHI_NAME_KINDS];  /* sums by the indexes */
	struct chi_list_part part;
	struct chi_name_item last; /* of a list, so that its parts ascend */
	struct chi_name_item items[CHI_NAME_ITEMS];
};

CHI_PRINTF(2, 3) static void report(struct check *check, const char *format, ...)
{
	char text[128];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	check->bad = true;
	check->report(check->context, text);
}

static uint64_t hash_item(const struct chi_name_item *item)
{
	const uint64_t fields[2] = {(uint64_t)item->bucket << 16 | item->mark, item->id};
	return XXH3_64bits(fields, sizeof(fields));
}

static uint64_t hash_member(uint32_t root, uint32_t member)
{
	const uint64_t fields[2] = {root, member};
	return XXH3_64bits(fields, sizeof(fields));
}

/* The root must be a name that is not joined to another itself. */
static void check_root(struct check *check, enum chi_name_kind kind, const struct chi_name *name)
{
	struct chi_name root;
	int rc = chi_name_text(check->txn, check->dbi, kind, name->root, &root);
	if (rc != CHI_OK || root.root != 0) {
		report(check, "names: %s %u is joined to %u, which is no root", kinds[kind],
		       name->id, name->root);
	}
	check->wanted[CHI_ENTRY_MEMBER][kind] += hash_member(name->root, name->id);
}

static void check_name(struct check *check, enum chi_name_kind kind, const struct chi_name *name)
{
	struct chi_name_words words;
	chi_name_split(name->text, name->len, &words);
	size_t n = chi_name_items(kind, name, &words, check->items);
	for (size_t i = 0; i < n; i++) {
		check->wanted[check->items[i].entry][kind] += hash_item(&check->items[i]);
	}
	if (name->fide != 0 && kind != CHI_NAME_PLAYER) {
		report(check, "names: %s %u has a FIDE id", kinds[kind], name->id);
	}
	if (name->root != 0) {
		check_root(check, kind, name);
	}
	check->names++;
}

static void check_chunk(struct check *check, const MDB_val *key, const MDB_val *value)
{
	struct chi_name_chunk chunk;
	const uint8_t *bytes = key->mv_data;
	enum chi_name_kind kind = bytes[1];
	int rc = chi_chunk_decode(key, value, CHI_CHUNK_NAMES, &chunk);
	uint32_t first =
		key->mv_size == CHI_CHUNK_KEY ? chi_name_get32(bytes + 2) * CHI_CHUNK_NAMES + 1 : 0;
	if (rc != CHI_OK) {
		report(check, "names: the %s names from %u on are damaged", kinds[kind], first);
	} else if (check->next[kind] != first) {
		report(check, "names: %s names from %u to %u are missing", kinds[kind],
		       check->next[kind], first - 1);
	}
	for (size_t i = 0; rc == CHI_OK && i < chunk.n; i++) {
		check_name(check, kind, &chunk.name[i]);
	}
	/* Without a gap unless it is the last chunk, for which nothing comes that would differ. */
	check->next[kind] = first + (uint32_t)(rc == CHI_OK ? chunk.n : CHI_CHUNK_NAMES);
}

static void check_list(struct check *check, const MDB_val *key, const MDB_val *value)
{
	const uint8_t *bytes = key->mv_data;
	struct chi_list_part *part = &check->part;
	struct chi_name_item item = {.entry = bytes[0], .kind = bytes[1]};
	if (chi_list_decode(key, value, part) != CHI_OK) {
		report(check, "names: the index of %s of %s names is damaged", indexes[bytes[0]],
		       kinds[bytes[1]]);
		return;
	}
	item.bucket = (uint16_t)(bytes[2] << 8 | bytes[3]);
	for (size_t i = 0; i < part->n; i++) {
		item.id = part->id[i];
		item.mark = part->mark[i];
		check->found[item.entry][item.kind] += hash_item(&item);
	}
	item.id = part->id[0];
	if (chi_name_item_compare(&check->last, &item) >= 0) {
		report(check, "names: the index of %s of %s names is out of order",
		       indexes[bytes[0]], kinds[bytes[1]]);
	}
	item.id = part->id[part->n - 1];
	check->last = item;
}

static void check_entry(struct check *check, const MDB_val *key, const MDB_val *value)
{
	const uint8_t *bytes = key->mv_data;
	if (key->mv_size < 2 || bytes[0] < CHI_ENTRY_NAMES || bytes[0] > CHI_ENTRY_MEMBER ||
	    bytes[1] < 1 || bytes[1] >= CHI_NAME_KINDS) {
		report(check, "names: an entry that is none of the tree's");
	} else if (bytes[0] == CHI_ENTRY_NAMES) {
		check_chunk(check, key, value);
	} else if (bytes[0] != CHI_ENTRY_MEMBER) {
		check_list(check, key, value);
	} else if (key->mv_size != CHI_MEMBER_KEY || value->mv_size != 0) {
		report(check, "names: an alias is damaged");
	} else {
		check->found[CHI_ENTRY_MEMBER][bytes[1]] +=
			hash_member(chi_name_get32(bytes + 2), chi_name_get32(bytes + 6));
	}
}

static void compare_sums(struct check *check)
{
	for (unsigned entry = CHI_ENTRY_TEXT; entry <= CHI_ENTRY_MEMBER; entry++) {
		for (unsigned kind = 1; kind < CHI_NAME_KINDS; kind++) {
			if (check->wanted[entry][kind] != check->found[entry][kind]) {
				report(check, "names: the index of %s disagrees with the %s names",
				       indexes[entry], kinds[kind]);
			}
		}
	}
}

static int check_entries(struct check *check)
{
	MDB_cursor *cursor;
	MDB_val key;
	MDB_val value;
	int rc = chi_lmdb_status(mdb_cursor_open(check->txn, check->dbi, &cursor));
	if (rc != CHI_OK) {
		return rc;
	}
	while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
		check_entry(check, &key, &value);
	}
	mdb_cursor_close(cursor);
	rc = chi_lmdb_status(rc);
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_names_check(MDB_txn *txn, MDB_dbi dbi, chi_verify_report *report_to, void *context,
		    uint64_t *names)
{
	_cleanup_(chi_freep) struct check *check = calloc(1, sizeof(*check));
	*names = 0;
	if (check == NULL) {
		return -CHI_ENOMEM;
	}
	check->txn = txn;
	check->dbi = dbi;
	check->report = report_to;
	check->context = context;
	for (unsigned kind = 1; kind < CHI_NAME_KINDS; kind++) {
		check->next[kind] = 1;
	}
	int rc = check_entries(check);
	if (rc == CHI_OK) {
		compare_sums(check);
	}
	chi_list_part_deinit(&check->part);
	*names = check->names;
	return rc == CHI_OK && check->bad ? -CHI_ECORRUPT : rc;
}
