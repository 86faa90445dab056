/* SPDX-License-Identifier: MIT */
/*
 * Operations on objects, in rounds: all of a round are on their way at once, up to a bound, and the
 * round ends when each has its answer, or when no answer came for the time that a call has. What
 * has not been answered then is cancelled here; the cluster may do it or not.
 */
#include "rados/inside.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/thread.h"
#include "rados/cluster.h"
#include "rados/library.h"

#define IN_FLIGHT 512

/* Whose operations are in memory at once. */
#define ROUND_SHARDS 1024

const struct chi_omap_key chi_stamp_key = {.len = 1, .bytes = {CHI_OMAP_STAMP}};

struct chi_round {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	size_t pending;
	size_t answers;
};

void chi_object_of_shard(const struct chi_rados *rados, uint32_t shard, struct chi_object_op *op)
{
	chi_shard_object(rados->place.name, shard, op->object);
}

void chi_object_of_head(const struct chi_rados *rados, struct chi_object_op *op)
{
	chi_head_object(rados->place.name, op->object);
}

static int begin_read(struct chi_object_op *op)
{
	if (op->read == NULL) {
		op->read = chi_librados.create_read_op();
	}
	return op->read != NULL ? CHI_OK : -CHI_ENOMEM;
}

int chi_object_get(struct chi_object_op *op, const struct chi_omap_key *keys, size_t n)
{
	_cleanup_(chi_freep) const char **texts = calloc(n, sizeof(*texts));
	_cleanup_(chi_freep) size_t *lens = calloc(n, sizeof(*lens));
	if (texts == NULL || lens == NULL || begin_read(op) < 0) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		texts[i] = keys[i].bytes;
		lens[i] = keys[i].len;
	}
	chi_librados.read_op_omap_get_vals_by_keys2(op->read, texts, n, lens, &op->values,
						    &op->parts_rc[0]);
	return CHI_OK;
}

int chi_object_list(struct chi_object_op *op, enum chi_omap_tree tree, const char *after,
		    size_t max)
{
	const char prefix[2] = {(char)tree, '\0'};
	if (begin_read(op) < 0) {
		return -CHI_ENOMEM;
	}
	chi_librados.read_op_omap_get_vals2(op->read, after, prefix, max, &op->listed, &op->more,
					    &op->parts_rc[1]);
	return CHI_OK;
}

int chi_object_change(struct chi_object_op *op)
{
	op->write = chi_librados.create_write_op();
	return op->write != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_object_compare(struct chi_object_op *op, const struct chi_omap_key *key, const void *value,
			size_t len)
{
	chi_librados.write_op_omap_cmp2(op->write, key->bytes, LIBRADOS_CMPXATTR_OP_EQ, value,
					key->len, len, NULL);
}

void chi_object_set(struct chi_object_op *op, const struct chi_omap_key *key, const void *value,
		    size_t len)
{
	const char *name = key->bytes;
	const char *bytes = value;
	chi_librados.write_op_omap_set2(op->write, &name, &bytes, &key->len, &len, 1);
}

void chi_object_size(struct chi_object_op *op)
{
	chi_librados.read_op_stat(op->read, &op->size, NULL, &op->parts_rc[2]);
}

/* ---- Rounds ------------------------------------------------------------------------------ */

/* On a thread of librados. */
static void answered(rados_completion_t completion, void *context)
{
	(void)completion;
	struct chi_object_op *op = context;
	struct chi_round *round = op->round;
	(void)pthread_mutex_lock(&round->lock);
	op->done = true;
	round->pending--;
	round->answers++;
	(void)pthread_cond_signal(&round->answered);
	(void)pthread_mutex_unlock(&round->lock);
}

/* Returns 0 or an errno below 0; only after 0 there will be an answer. */
static int start_op(struct chi_rados *rados, struct chi_round *round, struct chi_object_op *op)
{
	rados_ioctx_t io = rados->io;
	op->round = round;
	int rc = chi_librados.aio_create_completion2(op, answered, &op->completion);
	if (rc < 0) {
		op->completion = NULL;
		return rc;
	}
	/* A full pool is to say so; without the flag it makes writers wait until it is not. */
	return op->write != NULL ? chi_librados.aio_write_op_operate(op->write, io, op->completion,
								     op->object, NULL,
								     LIBRADOS_OPERATION_FULL_TRY)
				 : chi_librados.aio_read_op_operate(op->read, io, op->completion,
								    op->object, 0);
}

/* Until at most `left` are pending. False: none was answered for as long as a call may wait. */
static bool await(struct chi_rados *rados, struct chi_round *round, size_t left)
{
	bool in_time = true;
	(void)pthread_mutex_lock(&round->lock);
	while (round->pending > left && in_time) {
		size_t answers = round->answers;
		int64_t end = chi_now_us() + (int64_t)rados->place.call_ms * 1000;
		while (round->pending > left && round->answers == answers &&
		       chi_cond_wait_until(&round->answered, &round->lock, end)) {
		}
		in_time = round->pending <= left || round->answers != answers;
	}
	(void)pthread_mutex_unlock(&round->lock);
	return in_time;
}

/* Cancels those that are not answered: they are, then. */
static void give_up(struct chi_rados *rados, struct chi_round *round, struct chi_object_op *ops,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		(void)pthread_mutex_lock(&round->lock);
		bool pending = ops[i].completion != NULL && !ops[i].done && ops[i].rc == 0;
		(void)pthread_mutex_unlock(&round->lock);
		if (pending) {
			ops[i].rc = -ETIMEDOUT;
			(void)chi_librados.aio_cancel(rados->io, ops[i].completion);
		}
	}
	(void)pthread_mutex_lock(&round->lock);
	while (round->pending > 0) {
		(void)pthread_cond_wait(&round->answered, &round->lock);
	}
	(void)pthread_mutex_unlock(&round->lock);
}

static void run_round(struct chi_rados *rados, struct chi_round *round, struct chi_object_op *ops,
		      size_t n)
{
	size_t sent = 0;
	bool in_time = true;
	for (; sent < n && in_time; sent++) {
		(void)pthread_mutex_lock(&round->lock);
		round->pending++;
		(void)pthread_mutex_unlock(&round->lock);
		ops[sent].rc = start_op(rados, round, &ops[sent]);
		if (ops[sent].rc < 0) {
			(void)pthread_mutex_lock(&round->lock);
			round->pending--;
			(void)pthread_mutex_unlock(&round->lock);
		}
		in_time = await(rados, round, IN_FLIGHT - 1);
	}
	in_time = in_time && await(rados, round, 0);
	if (!in_time) {
		give_up(rados, round, ops, sent);
	}
	for (size_t i = 0; i < n; i++) {
		struct chi_object_op *op = &ops[i];
		if (i >= sent) {
			op->rc = -ETIMEDOUT;
		} else if (op->rc == 0) {
			int rc = chi_librados.aio_get_return_value(op->completion);
			op->rc = rc < 0 ? rc : 0;
			op->version = chi_librados.aio_get_version(op->completion);
		}
	}
}

int chi_objects_run(struct chi_rados *rados, struct chi_object_op *ops, size_t n)
{
	if (chi_cluster_forked(rados->cluster)) {
		return -CHI_EFORK;
	}
	struct chi_round round = {.pending = 0};
	(void)pthread_mutex_init(&round.lock, NULL);
	chi_cond_init(&round.answered);
	run_round(rados, &round, ops, n);
	(void)pthread_cond_destroy(&round.answered);
	(void)pthread_mutex_destroy(&round.lock);
	return CHI_OK;
}

int chi_object_run(struct chi_rados *rados, struct chi_object_op *op)
{
	int status = chi_objects_run(rados, op, 1);
	return status == CHI_OK && op->rc < 0 ? chi_object_fault(rados, op) : status;
}

int chi_shards_run(struct chi_rados *rados, uint32_t n, chi_shard_step *ask, chi_shard_step *take,
		   void *context)
{
	uint32_t most = n < ROUND_SHARDS ? n : ROUND_SHARDS;
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(most, sizeof(*ops));
	int status = ops != NULL || n == 0 ? CHI_OK : -CHI_ENOMEM;
	for (uint32_t at = 0; status == CHI_OK && at < n; at += most) {
		uint32_t some = n - at < most ? n - at : most;
		for (uint32_t i = 0; status == CHI_OK && i < some; i++) {
			chi_object_of_shard(rados, at + i, &ops[i]);
			status = ask(rados, context, at + i, &ops[i]);
		}
		status = status == CHI_OK ? chi_objects_run(rados, ops, some) : status;
		for (uint32_t i = 0; status == CHI_OK && take != NULL && i < some; i++) {
			status = take(rados, context, at + i, &ops[i]);
		}
		chi_objects_end(ops, some);
	}
	return status;
}

int chi_shard_ask_stamp(struct chi_rados *rados, void *context, uint32_t shard,
			struct chi_object_op *op)
{
	(void)rados;
	(void)context;
	(void)shard;
	return chi_object_get(op, &chi_stamp_key, 1);
}

int chi_shard_list(struct chi_rados *rados, uint32_t shard, enum chi_omap_tree tree,
		   const char *after, struct chi_object_op *op)
{
	chi_object_of_shard(rados, shard, op);
	int status = chi_object_get(op, &chi_stamp_key, 1);
	status = status == CHI_OK ? chi_object_list(op, tree, after, CHI_LISTED) : status;
	status = status == CHI_OK ? chi_objects_run(rados, op, 1) : status;
	return status == CHI_OK ? chi_object_stamp(rados, op, NULL) : status;
}

void chi_objects_end(struct chi_object_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct chi_object_op *op = &ops[i];
		if (op->completion != NULL) {
			chi_librados.aio_release(op->completion);
		}
		if (op->values != NULL) {
			chi_librados.omap_get_end(op->values);
		}
		if (op->listed != NULL) {
			chi_librados.omap_get_end(op->listed);
		}
		if (op->read != NULL) {
			chi_librados.release_read_op(op->read);
		}
		if (op->write != NULL) {
			chi_librados.release_write_op(op->write);
		}
		*op = (struct chi_object_op){.rc = 0};
	}
}

bool chi_object_next(rados_omap_iter_t entries, struct chi_omap_entry *out)
{
	char *found = NULL;
	char *bytes = NULL;
	int rc = chi_librados.omap_get_next2(entries, &found, &bytes, &out->key_len, &out->len);
	out->key = found;
	/* Of no bytes librados gives no address, too. */
	out->value = (const uint8_t *)(bytes != NULL ? bytes : "");
	return rc == 0 && found != NULL;
}

/* Without the checks one who asks for all that is there would ask for ever where an OSD, or another
 * program that writes to the pool, does not keep to the order of keys. */
int chi_object_listed(struct chi_rados *rados, struct chi_object_op *op, struct chi_omap_key *after,
		      struct chi_omap_entry *out)
{
	if (!chi_object_next(op->listed, out)) {
		return !op->more || op->any
			       ? CHI_NONE
			       : chi_fail(rados->fault, -CHI_ECORRUPT,
					  "a listing of object '%.160s' does not go on",
					  op->object);
	}
	if (out->key_len > CHI_OMAP_KEY_MAX ||
	    chi_omap_compare(out->key, out->key_len, after->bytes, after->len) <= 0) {
		return chi_fail(rados->fault, -CHI_ECORRUPT, "a key in object '%.160s' is %s",
				op->object,
				out->key_len > CHI_OMAP_KEY_MAX ? "damaged" : "listed twice");
	}
	op->any = true;
	memcpy(after->bytes, out->key, out->key_len);
	after->bytes[out->key_len] = '\0';
	after->len = out->key_len;
	return CHI_OK;
}

/* ---- Failures ---------------------------------------------------------------------------- */

/* Objects are not found in a pool that is gone, either. */
static bool has_pool(struct chi_rados *rados)
{
	char name[CHI_RADOS_NAME_MAX + 1];
	int64_t id = chi_librados.ioctx_get_id(rados->io);
	return chi_librados.pool_reverse_lookup(chi_cluster_handle(rados->cluster), id, name,
						sizeof(name)) >= 0;
}

static int missing_fault(struct chi_rados *rados, const struct chi_object_op *op)
{
	if (!has_pool(rados)) {
		return chi_fail(rados->fault, -CHI_ENOSTORE, "the pool '%.128s' is gone",
				rados->place.pool);
	}
	return chi_fail(rados->fault, -CHI_ECORRUPT, "the store's object '%.160s' is missing",
			op->object);
}

int chi_object_fault(struct chi_rados *rados, const struct chi_object_op *op)
{
	struct chi_fault *fault = rados->fault;
	const char *pool = rados->place.pool;
	switch (-op->rc) {
	case ENOENT:
		return missing_fault(rados, op);
	case ETIMEDOUT:
		return chi_fail(fault, -CHI_ETIMEOUT,
				"pool '%.60s', object '%.80s': the cluster did not answer "
				"within %u ms%s",
				pool, op->object, rados->place.call_ms,
				op->write != NULL ? "; the write may or may not have happened"
						  : "");
	case ENOSPC:
		return chi_fail(fault, -CHI_EFULL, "the pool '%.128s' or its cluster is full",
				pool);
	case EDQUOT:
		return chi_fail(fault, -CHI_EFULL, "the pool '%.128s' has reached its quota", pool);
	case EACCES:
	case EPERM:
		return chi_fail(fault, -CHI_EACCES,
				"the cluster denies this user the pool '%.128s'", pool);
	case EOPNOTSUPP:
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"the pool '%.128s' is erasure coded: it takes no omap", pool);
	case EMSGSIZE:
	case E2BIG:
		return chi_fail(fault, -CHI_ETOOBIG,
				"object '%.120s': the write is larger than an OSD takes",
				op->object);
	case ENOMEM:
		return chi_fault_plain(fault, -CHI_ENOMEM);
	case ESHUTDOWN:
	case ENOTCONN:
		return chi_fail(fault, -CHI_ECONNECT,
				"the cluster does not take requests of this client any more (%s)",
				strerror(-op->rc));
	default:
		return chi_fail(fault, -CHI_EIO, "object '%.120s': %s", op->object,
				strerror(-op->rc));
	}
}

int chi_object_stamp(struct chi_rados *rados, struct chi_object_op *op, struct chi_counts *base)
{
	struct chi_omap_entry stamp;
	if (op->rc < 0) {
		return chi_object_fault(rados, op);
	}
	/* The stamp is before positions in the order of keys. */
	if (!chi_object_next(op->values, &stamp) || stamp.key_len != 1 ||
	    stamp.key[0] != CHI_OMAP_STAMP || stamp.len != CHI_STAMP_SIZE) {
		return chi_fail(rados->fault, -CHI_ECORRUPT,
				"the store's object '%.160s' has no stamp", op->object);
	}
	if (memcmp(stamp.value, rados->stamp, CHI_STAMP_IDENTITY) != 0) {
		return chi_fail(rados->fault, -CHI_ESTALE,
				"object '%.120s' is of another store: open it again", op->object);
	}
	if (base != NULL) {
		chi_shard_stamp_base(stamp.value, base);
	}
	return CHI_OK;
}
