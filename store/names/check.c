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
#include "base/buffer.h"
#include "base/num.h"
#include "store/chain/chain.h"
#include "store/names/names_priv.h"
#include "store/record/checksum.h"

static const char *const kinds[] = {"", "player", "event", "site", "source", "round", "annotator"};
static const char *const indexes[] = {"", "", "texts", "words", "FIDE ids", "aliases"};

/* A name that is no root: joined to one, or removed. */
struct joined {
	uint32_t kind;
	uint32_t root; /* 0: removed */
	uint32_t id;
};

struct chi_names_checker {
	chi_verify_report *report;
	void *context;
	uint64_t names;
	bool bad;
	uint32_t next[CHI_NAME_KINDS];			       /* number of the next name */
	uint64_t wanted[CHI_ENTRY_MEMBER + 1][CHI_NAME_KINDS]; /* sums by the names */
	uint64_t found[CHI_ENTRY_MEMBER + 1][CHI_NAME_KINDS];  /* sums by the indexes */
	struct joined *joined; /* ascending by kind and number: the order that names come in */
	size_t n_joined;
	size_t joined_room;
	struct chi_list_part part;
	struct chi_name_item last; /* of a list, so that its parts ascend */
	struct chi_name_item items[CHI_NAME_ITEMS];
};

CHI_PRINTF(2, 3) static void report_name(struct chi_names_checker *check, const char *format, ...)
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

static int add_joined(struct chi_names_checker *check, enum chi_name_kind kind,
		      const struct chi_name *name)
{
	if (chi_grow(&check->joined, &check->joined_room, check->n_joined + 1,
		     sizeof(*check->joined)) < 0) {
		return -CHI_ENOMEM;
	}
	check->joined[check->n_joined++] = (struct joined){kind, name->root, name->id};
	if (name->root != 0) {
		check->wanted[CHI_ENTRY_MEMBER][kind] += hash_member(name->root, name->id);
	}
	return CHI_OK;
}

static int check_name(struct chi_names_checker *check, enum chi_name_kind kind,
		      const struct chi_name *name)
{
	struct chi_name_words words;
	if (name->len == 0) {
		return add_joined(check, kind, name);
	}
	chi_name_split(name->text, name->len, &words);
	size_t n = chi_name_items(kind, name, &words, check->items);
	for (size_t i = 0; i < n; i++) {
		check->wanted[check->items[i].entry][kind] += hash_item(&check->items[i]);
	}
	if (!chi_utf8_valid(name->text, name->len) || memchr(name->text, '\0', name->len) != NULL) {
		report_name(check, "names: %s %u is no text", kinds[kind], name->id);
	}
	if (name->fide != 0 && kind != CHI_NAME_PLAYER) {
		report_name(check, "names: %s %u has a FIDE id", kinds[kind], name->id);
	}
	check->names++;
	return name->root != 0 ? add_joined(check, kind, name) : CHI_OK;
}

static int check_chunk(struct chi_names_checker *check, const MDB_val *key, const MDB_val *value)
{
	struct chi_name_chunk chunk;
	const uint8_t *bytes = key->mv_data;
	enum chi_name_kind kind = bytes[1];
	int rc = chi_chunk_decode(key, value, CHI_CHUNK_NAMES, &chunk);
	uint32_t first =
		key->mv_size == CHI_CHUNK_KEY ? chi_name_get32(bytes + 2) * CHI_CHUNK_NAMES + 1 : 0;
	if (rc != CHI_OK) {
		report_name(check, "names: the %s names from %u on are damaged", kinds[kind],
			    first);
	} else if (check->next[kind] != first) {
		report_name(check, "names: %s names from %u to %u are missing", kinds[kind],
			    check->next[kind], first - 1);
	}
	for (size_t i = 0; rc == CHI_OK && i < chunk.n; i++) {
		if (check_name(check, kind, &chunk.name[i]) != CHI_OK) {
			return -CHI_ENOMEM;
		}
	}
	/* Without a gap unless it is the last chunk, for which nothing comes that would differ. */
	check->next[kind] = first + (uint32_t)(rc == CHI_OK ? chunk.n : CHI_CHUNK_NAMES);
	return CHI_OK;
}

static int check_list(struct chi_names_checker *check, const MDB_val *key, const MDB_val *value)
{
	const uint8_t *bytes = key->mv_data;
	struct chi_list_part *part = &check->part;
	struct chi_name_item item = {.entry = bytes[0], .kind = bytes[1]};
	int rc = chi_list_decode(key, value, part);
	if (rc == -CHI_ECORRUPT) {
		report_name(check, "names: the index of %s of %s names is damaged",
			    indexes[bytes[0]], kinds[bytes[1]]);
	}
	if (rc != CHI_OK) {
		return rc == -CHI_ECORRUPT ? CHI_OK : rc;
	}
	item.bucket = (uint16_t)(bytes[2] << 8 | bytes[3]);
	for (size_t i = 0; i < part->n; i++) {
		item.id = part->id[i];
		item.mark = part->mark[i];
		check->found[item.entry][item.kind] += hash_item(&item);
	}
	item.id = part->id[0];
	if (chi_name_item_compare(&check->last, &item) >= 0) {
		report_name(check, "names: the index of %s of %s names is out of order",
			    indexes[bytes[0]], kinds[bytes[1]]);
	}
	item.id = part->id[part->n - 1];
	check->last = item;
	return CHI_OK;
}

int chi_names_checker_entry(struct chi_names_checker *check, const MDB_val *key,
			    const MDB_val *value)
{
	const uint8_t *bytes = key->mv_data;
	if (key->mv_size < 2 || bytes[0] < CHI_ENTRY_NAMES || bytes[0] > CHI_ENTRY_MEMBER ||
	    bytes[1] < 1 || bytes[1] >= CHI_NAME_KINDS) {
		report_name(check, "names: an entry that is none of the tree's");
	} else if (bytes[0] == CHI_ENTRY_NAMES) {
		return check_chunk(check, key, value);
	} else if (bytes[0] != CHI_ENTRY_MEMBER) {
		return check_list(check, key, value);
	} else if (key->mv_size != CHI_MEMBER_KEY || value->mv_size != 0) {
		report_name(check, "names: an alias is damaged");
	} else {
		check->found[CHI_ENTRY_MEMBER][bytes[1]] +=
			hash_member(chi_name_get32(bytes + 2), chi_name_get32(bytes + 6));
	}
	return CHI_OK;
}

static int compare_joined(const void *a, const void *b)
{
	const struct joined *x = a;
	const struct joined *y = b;
	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
				  : (x->id > y->id) - (x->id < y->id);
}

static const struct joined *find_joined(const struct chi_names_checker *check, uint32_t kind,
					uint32_t id)
{
	const struct joined wanted = {.kind = kind, .id = id};
	return check->n_joined > 0 ? bsearch(&wanted, check->joined, check->n_joined,
					     sizeof(wanted), compare_joined)
				   : NULL;
}

bool chi_names_checker_removed(const struct chi_names_checker *check, enum chi_name_kind kind,
			       uint32_t id)
{
	const struct joined *found = find_joined(check, kind, id);
	return found != NULL && found->root == 0;
}

/* A root is a name, and not joined to another itself. */
static void check_roots(struct chi_names_checker *check)
{
	for (size_t i = 0; i < check->n_joined; i++) {
		const struct joined *one = &check->joined[i];
		if (one->root >= check->next[one->kind] ||
		    (one->root != 0 && find_joined(check, one->kind, one->root) != NULL)) {
			report_name(check, "names: %s %u is joined to %u, which is no root",
				    kinds[one->kind], one->id, one->root);
		}
	}
}

static void compare_sums(struct chi_names_checker *check)
{
	for (unsigned entry = CHI_ENTRY_TEXT; entry <= CHI_ENTRY_MEMBER; entry++) {
		for (unsigned kind = 1; kind < CHI_NAME_KINDS; kind++) {
			if (check->wanted[entry][kind] != check->found[entry][kind]) {
				report_name(check,
					    "names: the index of %s disagrees with the %s names",
					    indexes[entry], kinds[kind]);
			}
		}
	}
}

int chi_names_checker_new(chi_verify_report *report_to, void *context,
			  struct chi_names_checker **out)
{
	struct chi_names_checker *check = calloc(1, sizeof(*check));
	*out = check;
	if (check == NULL) {
		return -CHI_ENOMEM;
	}
	check->report = report_to;
	check->context = context;
	for (unsigned kind = 1; kind < CHI_NAME_KINDS; kind++) {
		check->next[kind] = 1;
	}
	return CHI_OK;
}

uint32_t chi_names_checker_last(const struct chi_names_checker *check, enum chi_name_kind kind)
{
	return check->next[kind] - 1;
}

int chi_names_checker_end(struct chi_names_checker *check, uint64_t *names)
{
	check_roots(check);
	compare_sums(check);
	*names = check->names;
	return check->bad ? -CHI_ECORRUPT : CHI_OK;
}

void chi_names_checker_free(struct chi_names_checker *check)
{
	if (check != NULL) {
		chi_list_part_deinit(&check->part);
		free(check->joined);
		free(check);
	}
}

static void free_checker(struct chi_names_checker **check)
{
	chi_names_checker_free(*check);
}

static int check_entry(void *context, const MDB_val *key, const MDB_val *value)
{
	return chi_names_checker_entry(context, key, value);
}

int chi_names_check(MDB_txn *txn, MDB_dbi dbi, chi_verify_report *report_to, void *context,
		    uint64_t *names)
{
	_cleanup_(free_checker) struct chi_names_checker *check = NULL;
	*names = 0;
	int rc = chi_names_checker_new(report_to, context, &check);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_chain_walk(txn, dbi, CHI_CHAIN_NAMES, NULL, 0, check_entry, check);
	if (rc == -CHI_ECORRUPT) {
		report_name(check, "names: entries may be missing");
	}
	return rc == CHI_OK ? chi_names_checker_end(check, names) : rc;
}
