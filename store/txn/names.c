/* SPDX-License-Identifier: MIT */
/*
 * Changes to names, in the write transaction. They go to LMDB at once: no savepoint takes them
 * back, so a rollback after them loses the transaction.
 */
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "store/archive.h"
#include "store/env/env.h"
#include "store/names/names.h"
#include "store/txn/txn.h"

/* Memory for names that spelling files add. */
#define CACHE_MEMORY ((size_t)1 << 20)

struct names {
	MDB_txn *txn;
	MDB_dbi dbi;
	struct chi_name_cache *cache;
};

static void cache_freep(struct chi_name_cache **cache)
{
	chi_name_cache_free(*cache);
}

/* The number of a name given by its text or its number. CHI_NONE: there is none. */
static int look_up_name(const struct names *names, enum chi_name_kind kind, const char *text,
			uint32_t *id)
{
	struct chi_name name;
	uint64_t number = 0;
	if (text[0] != '#' ||
	    chi_num_u64(text + 1, strlen(text + 1), UINT32_MAX, &number) != CHI_OK) {
		return chi_names_lookup(names->txn, names->dbi, kind, text, strlen(text), id);
	}
	*id = (uint32_t)number;
	return chi_name_text(names->txn, names->dbi, kind, *id, &name);
}

/* The same where it must be there. */
static int find_name(const struct names *names, enum chi_name_kind kind, const char *text,
		     uint32_t *id, struct chi_fault *fault)
{
	int rc = look_up_name(names, kind, text, id);
	return rc != CHI_NONE ? rc
			      : chi_fail(fault, -CHI_EINVAL, "there is no %s \"%.150s\"",
					 chi_name_kind_name((int)kind), text);
}

static int join_names(const struct names *names, const struct chi_name_change *change,
		      struct chi_fault *fault)
{
	enum chi_name_kind kind = (enum chi_name_kind)change->kind;
	uint32_t id;
	uint32_t to;
	int rc = find_name(names, kind, change->name, &id, fault);
	rc = rc == CHI_OK ? find_name(names, kind, change->to, &to, fault) : rc;
	return rc == CHI_OK ? chi_names_alias(names->txn, names->dbi, kind, id, to, fault) : rc;
}

static int part(const struct names *names, const struct chi_name_change *change,
		struct chi_fault *fault)
{
	enum chi_name_kind kind = (enum chi_name_kind)change->kind;
	uint32_t id;
	int rc = find_name(names, kind, change->name, &id, fault);
	return rc == CHI_OK ? chi_names_unalias(names->txn, names->dbi, kind, id, fault) : rc;
}

static int give_fide(const struct names *names, const struct chi_name_change *change,
		     struct chi_fault *fault)
{
	uint32_t id;
	int rc = look_up_name(names, CHI_NAME_PLAYER, change->name, &id);
	return rc == CHI_OK
		       ? chi_names_set_fide(names->txn, names->dbi, id, change->fide, true, fault)
		       : rc;
}

/* A name's text, or NULL where the action takes none. */
static bool text_good(const char *text, bool wanted)
{
	size_t len = text != NULL ? strnlen(text, CHI_NAME_MAX + 1) : 0;
	return wanted ? len > 0 && len <= CHI_NAME_MAX && chi_utf8_valid(text, len) : text == NULL;
}

static const char *refusal(const struct chi_name_change *change)
{
	bool two = change->action == CHI_NAME_JOIN || change->action == CHI_NAME_CORRECT;
	if (change->action < CHI_NAME_JOIN || change->action > CHI_NAME_FIDE) {
		return "the action is unknown";
	}
	if (chi_name_kind_name(change->kind) == NULL) {
		return "the kind of names is unknown";
	}
	if (!text_good(change->name, true) || !text_good(change->to, two)) {
		return "a name is missing, too long or no UTF-8";
	}
	if ((change->action == CHI_NAME_FIDE) !=
	    (change->fide != 0 && change->kind == CHI_NAME_PLAYER)) {
		return "a FIDE id goes with a player and that action";
	}
	return NULL;
}

int chi_name_changes_check(const struct chi_name_change *changes, size_t n, struct chi_fault *fault)
{
	if (n > CHI_NAME_CHANGES_MAX) {
		return chi_fail(fault, -CHI_ETOOBIG, "%zu changes of names, at most %d are allowed",
				n, CHI_NAME_CHANGES_MAX);
	}
	for (size_t i = 0; i < n; i++) {
		const char *why = refusal(&changes[i]);
		if (why != NULL) {
			return chi_fail(fault, -CHI_EINVAL, "entry %zu: %s", i, why);
		}
	}
	return CHI_OK;
}

static int change_one(const struct names *names, const struct chi_name_change *change,
		      struct chi_fault *fault)
{
	switch (change->action) {
	case CHI_NAME_JOIN:
		return join_names(names, change, fault);
	case CHI_NAME_PART:
		return part(names, change, fault);
	case CHI_NAME_FIDE:
		return give_fide(names, change, fault);
	default:
		return chi_names_correct(names->cache, names->txn, names->dbi,
					 (enum chi_name_kind)change->kind, change->to, change->name,
					 fault);
	}
}

/* Not sticky is what chi_names_* leave as it was. */
static int change_all(struct chi_write *write, const struct names *names,
		      const struct chi_name_change *changes, size_t n, chi_name_conflict *conflict,
		      void *context, struct chi_names_changed *result)
{
	for (size_t i = 0; i < n; i++) {
		struct chi_fault fault = {{0}};
		int rc = change_one(names, &changes[i], &fault);
		if (rc == CHI_OK) {
			write->changed = true;
			result->changed++;
		} else if (rc == CHI_NONE) {
			result->same++;
		} else if (rc == -CHI_EINVAL) {
			result->conflicts++;
			conflict(context, i, fault.text);
		} else {
			return chi_write_stick(write, rc);
		}
	}
	return CHI_OK;
}

int chi_write_names(struct chi_write *write, const struct chi_name_change *changes, size_t n,
		    chi_name_conflict *conflict, void *context, struct chi_names_changed *result)
{
	_cleanup_(cache_freep) struct chi_name_cache *cache = NULL;
	int rc = chi_write_ready(write);
	rc = rc == CHI_OK ? chi_name_cache_new(CACHE_MEMORY, &cache) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	struct names names = {write->txn, write->env->archive.names, cache};
	write->is_final = true;
	return change_all(write, &names, changes, n, conflict, context, result);
}
