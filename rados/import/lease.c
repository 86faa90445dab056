/* SPDX-License-Identifier: MIT */
/*
 * Leases of journals that are in the pool and not committed. A lease is an entry in the head's own
 * omap, so that a commit is one operation that compares it: a journal that was given up, because
 * its importer seemed dead, cannot be committed any more, and one that is committed is not given
 * up. A journal of which all is applied gets a lease that is over, so that what is left of it is
 * removed like that.
 */
#include "rados/import/journal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "rados/library.h"

/* For what a part takes; a call may wait call_ms twice for each. */
#define LEASE_SECONDS 600

#define LISTED 256

/* A lease of a journal that is to be removed. */
static struct chi_lease over(uint32_t parts)
{
	return (struct chi_lease){.expires = 0, .parts = parts};
}

/* ---- Changes ----------------------------------------------------------------------------- */

static void change_lease(const struct chi_lease_change *change, struct chi_object_op *op)
{
	uint8_t old[CHI_LEASE_SIZE] = {0};
	uint8_t new[CHI_LEASE_SIZE];
	struct chi_omap_key key;
	const char *name = key.bytes;
	chi_omap_key_make(CHI_OMAP_IMPORT, change->id, CHI_CLIENT_ID, &key);
	if (change->old != NULL) {
		bool any = change->old->parts > 0;
		chi_lease_encode(change->old, old);
		chi_object_compare(op, &key, old, any ? sizeof(old) : 0);
	}
	if (change->new != NULL) {
		chi_lease_encode(change->new, new);
		chi_object_set(op, &key, new, sizeof(new));
	} else {
		chi_librados.write_op_omap_rm_keys2(op->write, &name, &key.len, 1);
	}
}

static void change_last(const struct chi_lease_change *change, struct chi_object_op *op)
{
	static const uint8_t none[CHI_CLIENT_ID];
	struct chi_omap_key key;
	chi_omap_key_make(CHI_OMAP_LAST, NULL, 0, &key);
	bool any = memcmp(change->before, none, sizeof(none)) != 0;
	chi_object_compare(op, &key, change->before, any ? CHI_CLIENT_ID : 0);
	chi_object_set(op, &key, change->id, CHI_CLIENT_ID);
}

static int outcome(struct chi_rados *rados, const struct chi_object_op *op)
{
	switch (-op->rc) {
	case 0:
		return CHI_OK;
	case ECANCELED:
		return CHI_NONE;
	case ERANGE:
	case EOVERFLOW:
		return chi_fail(rados->fault, -CHI_EBUSY,
				"another client changes the store's head");
	default:
		return chi_object_fault(rados, op);
	}
}

int chi_change_lease(struct chi_rados *rados, const struct chi_lease_change *change,
		     const struct chi_rados_head *head, uint64_t version)
{
	char text[CHI_RADOS_HEAD_SIZE];
	struct chi_object_op op = {.write = chi_librados.create_write_op()};
	if (op.write == NULL) {
		return -CHI_ENOMEM;
	}
	chi_object_of_head(rados, &op);
	chi_librados.write_op_assert_exists(op.write);
	if (head != NULL) {
		size_t len = chi_rados_head_print(head, text);
		chi_librados.write_op_assert_version(op.write, version);
		chi_librados.write_op_write_full(op.write, text, len);
	}
	if (change->before != NULL) {
		change_last(change, &op);
	}
	change_lease(change, &op);
	int status = chi_objects_run(rados, &op, 1);
	status = status == CHI_OK ? outcome(rados, &op) : status;
	chi_objects_end(&op, 1);
	return status;
}

/* ---- Importers --------------------------------------------------------------------------- */

int chi_lease_renew(struct chi_rados *rados, const uint8_t id[16], uint32_t parts,
		    struct chi_lease *lease)
{
	const struct chi_lease next = {.expires = (uint64_t)time(NULL) + LEASE_SECONDS +
						  rados->place.call_ms / 500,
				       .parts = parts};
	const struct chi_lease_change change = {.id = id, .old = lease, .new = &next};
	int status = chi_change_lease(rados, &change, NULL, 0);
	*lease = next;
	return status == CHI_NONE ? chi_fail(rados->fault, -CHI_EBUSY,
					     "the import did nothing for so long that another "
					     "one removed its journal: repeat it")
				  : status;
}

int chi_leases_read_last(struct chi_rados *rados, uint8_t id[16])
{
	struct chi_object_op op = {.rc = 0};
	struct chi_omap_key key;
	struct chi_omap_entry last;
	memset(id, 0, CHI_CLIENT_ID);
	chi_omap_key_make(CHI_OMAP_LAST, NULL, 0, &key);
	chi_object_of_head(rados, &op);
	int status = chi_object_get(&op, &key, 1);
	status = status == CHI_OK ? chi_object_run(rados, &op) : status;
	if (status == CHI_OK && chi_object_next(op.values, &last) && last.len == CHI_CLIENT_ID) {
		memcpy(id, last.value, last.len);
	}
	chi_objects_end(&op, 1);
	return status;
}

/* ---- Journals that are given up ---------------------------------------------------------- */

int chi_lease_end(struct chi_rados *rados, const uint8_t id[16], const struct chi_lease *lease)
{
	const struct chi_lease ended = over(lease->parts);
	const struct chi_lease_change end = {.id = id, .old = lease, .new = &ended};
	const struct chi_lease_change forget = {.id = id, .old = &ended};
	int status = lease->expires > 0 ? chi_change_lease(rados, &end, NULL, 0) : CHI_OK;
	if (status != CHI_OK) {
		return status == CHI_NONE ? CHI_OK : status;
	}
	status = chi_journal_release(rados, id);
	status = status == CHI_OK ? chi_journal_remove(rados, id, lease->parts) : status;
	status = status == CHI_OK ? chi_change_lease(rados, &forget, NULL, 0) : status;
	return status == CHI_NONE ? CHI_OK : status;
}

struct found {
	uint8_t id[CHI_CLIENT_ID];
	struct chi_lease lease;
};

/* Those that are over, of one listing that goes on after *after. A damaged one is left. */
static int list_over(struct chi_rados *rados, struct chi_omap_key *after, struct found *found,
		     size_t *n, bool *more)
{
	struct chi_object_op op = {.rc = 0};
	struct chi_omap_entry entry;
	uint64_t now = (uint64_t)time(NULL);
	chi_object_of_head(rados, &op);
	int status = chi_object_list(&op, CHI_OMAP_IMPORT, after->bytes, LISTED);
	status = status == CHI_OK ? chi_object_run(rados, &op) : status;
	*n = 0;
	*more = op.more != 0;
	while (status == CHI_OK) {
		struct found *one = &found[*n];
		size_t len = 0;
		status = chi_object_listed(rados, &op, after, &entry);
		*n += status == CHI_OK &&
		      chi_omap_bytes(entry.key, entry.key_len, one->id, sizeof(one->id), &len) ==
			      CHI_OK &&
		      len == sizeof(one->id) &&
		      chi_lease_decode(entry.value, entry.len, &one->lease) == CHI_OK &&
		      one->lease.expires < now;
	}
	chi_objects_end(&op, 1);
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_leases_sweep(struct chi_rados *rados)
{
	_cleanup_(chi_freep) struct found *found = calloc(LISTED, sizeof(*found));
	struct chi_omap_key after = {.len = 0};
	int status = found != NULL ? CHI_OK : -CHI_ENOMEM;
	bool more = true;
	while (status == CHI_OK && more) {
		size_t n = 0;
		status = list_over(rados, &after, found, &n, &more);
		for (size_t i = 0; status == CHI_OK && i < n; i++) {
			status = chi_lease_end(rados, found[i].id, &found[i].lease);
		}
	}
	return status;
}
