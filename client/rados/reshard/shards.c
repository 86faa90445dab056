/* SPDX-License-Identifier: MIT */
/* What is done to every shard: sealing, making, removing. */
#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "client/rados/library.h"
#include "client/rados/reshard/reshard.h"

#define ROUND_SHARDS 512

/* ---- Sealing ----------------------------------------------------------------------------- */

struct sealing {
	struct chi_client *client;
	struct chi_reshard *reshard; /* NULL: unseals */
	struct chi_object_op *ops;
	uint32_t generation;
};

/* What the shard's stamp is, and is to be. */
struct stamps {
	uint8_t old[CHI_STAMP_SEALED];
	uint8_t new[CHI_STAMP_SEALED];
	size_t old_len;
	size_t new_len;
};

/* False: nothing is to be done. */
static bool make_stamps(const struct sealing *sealing, const struct chi_counts *base, uint32_t by,
			struct stamps *out)
{
	struct chi_rados_head head = sealing->client->rados->head;
	uint8_t plain[CHI_STAMP_SIZE];
	head.base = *base;
	chi_shard_stamp(&head, plain);
	memcpy(out->old, plain, sizeof(plain));
	memcpy(out->new, plain, sizeof(plain));
	if (by > 0) {
		chi_shard_seal(plain, by, out->old);
	}
	if (sealing->reshard != NULL) {
		chi_shard_seal(plain, sealing->generation, out->new);
	}
	out->old_len = by > 0 ? CHI_STAMP_SEALED : CHI_STAMP_SIZE;
	out->new_len = sealing->reshard != NULL ? CHI_STAMP_SEALED : CHI_STAMP_SIZE;
	return sealing->reshard != NULL ? by < sealing->generation
					: by > 0 && by <= sealing->generation;
}

static int stamp_op(struct chi_client *client, uint32_t shard, const struct stamps *stamps,
		    struct chi_object_op *op)
{
	const char *key = chi_stamp_key.bytes;
	const char *value = (const char *)stamps->new;
	op->write = chi_librados.create_write_op();
	if (op->write == NULL) {
		return -CHI_ENOMEM;
	}
	chi_object_of_shard(client, shard, op);
	chi_librados.write_op_omap_cmp2(op->write, key, LIBRADOS_CMPXATTR_OP_EQ,
					(const char *)stamps->old, chi_stamp_key.len,
					stamps->old_len, NULL);
	chi_librados.write_op_omap_set2(op->write, &key, &value, &chi_stamp_key.len,
					&stamps->new_len, 1);
	return CHI_OK;
}

/* Writes the stamps of shards that were read. *left: so many are not as they are to be. */
static int write_round(struct sealing *sealing, const uint32_t *shards, const struct stamps *stamps,
		       size_t n, size_t *left)
{
	struct chi_client *client = sealing->client;
	struct chi_object_op *ops = sealing->ops;
	int status = CHI_OK;
	*left = 0;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = stamp_op(client, shards[i], &stamps[i], &ops[i]);
	}
	status = status == CHI_OK ? chi_objects_run(client, ops, n) : status;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		/* Base rates were put, or another reshard is at it, or done: the next round sees.
		 */
		bool again = ops[i].rc == -ECANCELED || ops[i].rc == -ENOENT;
		*left += again;
		status = ops[i].rc < 0 && !again ? chi_object_fault(client, &ops[i]) : CHI_OK;
	}
	chi_objects_end(ops, n);
	return status;
}

static int change_round(struct sealing *sealing, uint32_t first, uint32_t n, size_t *left)
{
	struct chi_client *client = sealing->client;
	struct chi_object_op *ops = sealing->ops;
	struct stamps stamps[ROUND_SHARDS];
	uint32_t shards[ROUND_SHARDS];
	size_t wanted = 0;
	int status = CHI_OK;
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		chi_object_of_shard(client, first + i, &ops[i]);
		status = chi_object_get(&ops[i], &chi_stamp_key, 1);
	}
	status = status == CHI_OK ? chi_objects_run(client, ops, n) : status;
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_counts base;
		status = chi_object_stamp(client, &ops[i], &base);
		if (status == CHI_OK &&
		    make_stamps(sealing, &base, ops[i].sealed, &stamps[wanted])) {
			shards[wanted++] = first + i;
		}
	}
	chi_objects_end(ops, n);
	return status == CHI_OK ? write_round(sealing, shards, stamps, wanted, left) : status;
}

static int change_all(struct sealing *sealing)
{
	uint32_t shards = sealing->client->rados->head.shards;
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(ROUND_SHARDS, sizeof(*ops));
	int status = ops != NULL ? CHI_OK : -CHI_ENOMEM;
	sealing->ops = ops;
	for (uint32_t at = 0; status == CHI_OK && at < shards; at += ROUND_SHARDS) {
		uint32_t n = shards - at < ROUND_SHARDS ? shards - at : ROUND_SHARDS;
		size_t left = 1;
		while (status == CHI_OK && left > 0) {
			status = sealing->reshard != NULL ? chi_reshard_beat(sealing->reshard)
							  : CHI_OK;
			status = status == CHI_OK ? change_round(sealing, at, n, &left) : status;
		}
	}
	return status;
}

int chi_shards_seal(struct chi_reshard *reshard, uint32_t generation)
{
	struct sealing sealing = {
		.client = reshard->client, .reshard = reshard, .generation = generation};
	return change_all(&sealing);
}

int chi_shards_unseal(struct chi_client *client, uint32_t generation)
{
	struct sealing sealing = {.client = client, .generation = generation};
	return change_all(&sealing);
}

/* ---- Making and removing ----------------------------------------------------------------- */

/* Empty but for its stamp: no one else uses a number of a generation again. */
static void make_op(const struct chi_rados_head *head, struct chi_object_op *op)
{
	uint8_t stamp[CHI_STAMP_SIZE];
	const char *key = chi_stamp_key.bytes;
	const char *value = (const char *)stamp;
	const size_t len = sizeof(stamp);
	chi_shard_stamp(head, stamp);
	chi_librados.write_op_create(op->write, LIBRADOS_CREATE_IDEMPOTENT, NULL);
	chi_librados.write_op_omap_clear(op->write);
	chi_librados.write_op_truncate(op->write, 0);
	chi_librados.write_op_omap_set2(op->write, &key, &value, &chi_stamp_key.len, &len, 1);
}

/* One operation on each of `n` shards from `first` on: makes them as `head` says, or removes them
 * if it is NULL. */
static int run_round(struct chi_client *client, const struct chi_rados_head *head,
		     uint32_t generation, uint32_t first, uint32_t n, struct chi_object_op *ops)
{
	int status = CHI_OK;
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		ops[i].write = chi_librados.create_write_op();
		chi_shard_object(client->address.rados.name, generation, first + i, ops[i].object);
		if (ops[i].write == NULL) {
			status = -CHI_ENOMEM;
		} else if (head != NULL) {
			make_op(head, &ops[i]);
		} else {
			chi_librados.write_op_remove(ops[i].write);
		}
	}
	status = status == CHI_OK ? chi_objects_run(client, ops, n) : status;
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		bool good = ops[i].rc == 0 || (head == NULL && ops[i].rc == -ENOENT);
		status = good ? CHI_OK : chi_object_fault(client, &ops[i]);
	}
	chi_objects_end(ops, n);
	return status;
}

int chi_shards_make(struct chi_reshard *reshard)
{
	struct chi_rados_head head = reshard->head;
	uint32_t shards = head.other_shards;
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(ROUND_SHARDS, sizeof(*ops));
	int status = ops != NULL ? CHI_OK : -CHI_ENOMEM;
	head.generation = head.other_generation;
	for (uint32_t at = 0; status == CHI_OK && at < shards; at += ROUND_SHARDS) {
		uint32_t n = shards - at < ROUND_SHARDS ? shards - at : ROUND_SHARDS;
		status = chi_reshard_beat(reshard);
		if (status == CHI_OK) {
			status = run_round(reshard->client, &head, head.generation, at, n, ops);
		}
	}
	return status;
}

int chi_shards_remove(struct chi_client *client, uint32_t shards, uint32_t generation)
{
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(ROUND_SHARDS, sizeof(*ops));
	int status = ops != NULL ? CHI_OK : -CHI_ENOMEM;
	for (uint32_t at = 0; status == CHI_OK && at < shards; at += ROUND_SHARDS) {
		uint32_t n = shards - at < ROUND_SHARDS ? shards - at : ROUND_SHARDS;
		status = run_round(client, NULL, generation, at, n, ops);
	}
	return status;
}
