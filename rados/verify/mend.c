/* SPDX-License-Identifier: MIT */
#include "rados/verify/mend.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "rados/library.h"

static int outcome(struct chi_rados *rados, const struct chi_object_op *op)
{
	bool late = op->rc == -ECANCELED || op->rc == -ERANGE || op->rc == -EOVERFLOW;
	return op->rc == 0 || late ? CHI_OK : chi_object_fault(rados, op);
}

static int run_op(struct chi_rados *rados, struct chi_object_op *op)
{
	int status = chi_objects_run(rados, op, 1);
	status = status == CHI_OK ? outcome(rados, op) : status;
	chi_objects_end(op, 1);
	return status;
}

int chi_mend_edit(struct chi_rados *rados, uint32_t shard, struct chi_omap_edit *edits, size_t n)
{
	const struct chi_shard_batch batch = {.rados = rados, .edits = edits, .n_edits = n};
	struct chi_object_op op = {.rc = 0};
	chi_object_of_shard(rados, shard, &op);
	/* The object's data are not made longer: a full pool can be repaired. */
	int status = chi_batch_build(&batch, UINT64_MAX, &op);
	if (status < 0) {
		chi_objects_end(&op, 1);
		return status;
	}
	return run_op(rados, &op);
}

int chi_mend_remove(struct chi_rados *rados, uint32_t shard, const char *key, size_t key_len,
		    const uint8_t *value, size_t len)
{
	struct chi_omap_edit edit = {.key.len = key_len,
				     .guarded = true,
				     .old = value,
				     .old_len = len,
				     .what = CHI_EDIT_REMOVE};
	memcpy(edit.key.bytes, key, key_len);
	edit.key.bytes[key_len] = '\0';
	return chi_mend_edit(rados, shard, &edit, 1);
}

/* ---- Shards ------------------------------------------------------------------------------ */

struct shard_mend {
	struct chi_rados *rados;
	chi_verify_report *report;
	void *context;
	uint64_t n;
};

static void tell_shard(struct shard_mend *m, uint32_t shard, const char *what)
{
	char text[CHI_FAULT_SIZE];
	(void)snprintf(text, sizeof(text), "shard %08" PRIx32 ": %s", shard, what);
	m->n++;
	if (m->report != NULL) {
		m->report(m->context, text);
	}
}

static int set_stamp(struct shard_mend *m, uint32_t shard, const uint8_t *old, size_t old_len)
{
	struct chi_rados *rados = m->rados;
	struct chi_omap_edit edit = {.key = chi_stamp_key,
				     .guarded = true,
				     .old = old,
				     .old_len = old_len,
				     .what = CHI_EDIT_SET,
				     .value = rados->stamp,
				     .len = CHI_STAMP_SIZE};
	chi_shard_stamp(&rados->head, rados->stamp);
	return chi_mend_edit(m->rados, shard, &edit, 1);
}

static int make_object(struct shard_mend *m, uint32_t shard)
{
	struct chi_object_op op = {.write = chi_librados.create_write_op()};
	if (op.write == NULL) {
		return -CHI_ENOMEM;
	}
	chi_object_of_shard(m->rados, shard, &op);
	chi_librados.write_op_create(op.write, LIBRADOS_CREATE_IDEMPOTENT, NULL);
	return run_op(m->rados, &op);
}

static int mend_stamp(struct shard_mend *m, uint32_t shard)
{
	struct chi_object_op op = {.rc = 0};
	struct chi_omap_entry stamp = {.len = 0};
	chi_object_of_shard(m->rados, shard, &op);
	int status = chi_object_get(&op, &chi_stamp_key, 1);
	status = status == CHI_OK ? chi_objects_run(m->rados, &op, 1) : status;
	if (status == CHI_OK && op.rc == -ENOENT) {
		tell_shard(m, shard, "its object is missing: made again, empty");
		status = make_object(m, shard);
		status = status == CHI_OK ? set_stamp(m, shard, NULL, 0) : status;
	} else if (status == CHI_OK && op.rc == 0 &&
		   (!chi_object_next(op.values, &stamp) || stamp.len != CHI_STAMP_SIZE)) {
		tell_shard(m, shard, "it has no stamp");
		status = set_stamp(m, shard, stamp.value, stamp.len);
	} else if (status == CHI_OK && op.rc < 0) {
		status = chi_object_fault(m->rados, &op);
	}
	chi_objects_end(&op, 1);
	return status;
}

static int mend_client(struct shard_mend *m, uint32_t shard, const struct chi_omap_entry *entry)
{
	struct chi_shard_client one;
	if (chi_shard_client_decode(entry->value, entry->len, &one) == CHI_OK) {
		return CHI_OK;
	}
	tell_shard(m, shard, "a client's entry is damaged");
	return chi_mend_remove(m->rados, shard, entry->key, entry->key_len, entry->value,
			       entry->len);
}

static int mend_clients(struct shard_mend *m, uint32_t shard)
{
	struct chi_omap_key after = {.len = 0};
	int status = CHI_NONE;
	bool more = true;
	while (status == CHI_NONE && more) {
		struct chi_object_op op = {.rc = 0};
		struct chi_omap_entry entry;
		status = chi_shard_list(m->rados, shard, CHI_OMAP_CLIENT, after.bytes, &op);
		more = op.more != 0;
		while (status == CHI_OK) {
			status = chi_object_listed(m->rados, &op, &after, &entry);
			status = status == CHI_OK ? mend_client(m, shard, &entry) : status;
		}
		chi_objects_end(&op, 1);
	}
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_mend_shards(struct chi_rados *rados, chi_verify_report *report, void *context, uint64_t *n)
{
	struct shard_mend m = {.rados = rados, .report = report, .context = context};
	int status = chi_rados_refresh(rados);
	for (uint32_t i = 0; status == CHI_OK && i < rados->head.shards; i++) {
		status = mend_stamp(&m, i);
		status = status == CHI_OK ? mend_clients(&m, i) : status;
	}
	*n = m.n;
	return status;
}

/* ---- Counters ---------------------------------------------------------------------------- */

int chi_mend_counters(struct chi_rados *rados, uint32_t shard, uint64_t version,
		      const struct chi_shard_client *missing)
{
	static const uint8_t zero[CHI_CLIENT_ID];
	struct chi_omap_key keys[2] = {chi_stamp_key};
	struct chi_shard_client sum = {.sequence = 0};
	struct chi_object_op op = {.rc = 0};
	struct chi_omap_entry found;
	uint8_t bytes[CHI_SHARD_CLIENT_SIZE];
	chi_omap_key_make(CHI_OMAP_CLIENT, zero, sizeof(zero), &keys[1]);
	chi_object_of_shard(rados, shard, &op);
	int status = chi_object_get(&op, keys, 2);
	status = status == CHI_OK ? chi_objects_run(rados, &op, 1) : status;
	status = status == CHI_OK ? chi_object_stamp(rados, &op, NULL) : status;
	if (status == CHI_OK && chi_object_next(op.values, &found)) {
		status = chi_shard_client_decode(found.value, found.len, &sum);
	}
	chi_objects_end(&op, 1);
	if (status != CHI_OK) {
		return status;
	}
	chi_shard_client_add(missing, &sum);
	chi_shard_client_encode(&sum, bytes);
	op.write = chi_librados.create_write_op();
	if (op.write == NULL) {
		return -CHI_ENOMEM;
	}
	chi_object_of_shard(rados, shard, &op);
	chi_librados.write_op_assert_version(op.write, version);
	chi_object_set(&op, &keys[1], bytes, sizeof(bytes));
	return run_op(rados, &op);
}
