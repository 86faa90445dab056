/* SPDX-License-Identifier: MIT */
/*
 * A store as a whole: its head, its shards' stamps, what all writers have counted. The head is made
 * first and says so until all shards are there, so that no half-made store is opened.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/fault.h"
#include "chess/statistic.h"
#include "rados/cluster.h"
#include "rados/library.h"
#include "rados/inside.h"

/* ---- The head ---------------------------------------------------------------------------- */

/* What is not the client's store: nothing there, or of another format. */
static int missing(struct chi_rados *rados, const struct chi_object_op *op)
{
	const struct chi_rados_place *place = &rados->place;
	int status = chi_object_fault(rados, op);
	if (status != -CHI_ECORRUPT) {
		return status;
	}
	return chi_fail(rados->fault, -CHI_ENOSTORE, "the pool '%.100s' has no store '%.100s'",
			place->pool, place->name);
}

static int parse_head(struct chi_rados *rados, const char *object, const char *text, size_t len,
		      struct chi_rados_head *out)
{
	struct chi_fault why;
	int status = chi_rados_head_parse(text, len, out, &why);
	return status < 0
		       ? chi_fail(rados->fault, status, "object '%.140s': %.100s", object, why.text)
		       : CHI_OK;
}

int chi_rados_read_head(struct chi_rados *rados, struct chi_rados_head *out, uint64_t *version)
{
	char text[CHI_RADOS_HEAD_SIZE];
	size_t len = 0;
	struct chi_object_op op = {.read = chi_librados.create_read_op()};
	if (op.read == NULL) {
		return -CHI_ENOMEM;
	}
	chi_object_of_head(rados, &op);
	chi_librados.read_op_read(op.read, 0, sizeof(text), text, &len, &op.parts_rc[2]);
	int status = chi_objects_run(rados, &op, 1);
	if (status == CHI_OK && op.rc < 0) {
		status = op.rc == -ENOENT ? missing(rados, &op) : chi_object_fault(rados, &op);
	}
	if (status == CHI_OK) {
		status = parse_head(rados, op.object, text, len, out);
	}
	if (version != NULL) {
		*version = op.version;
	}
	chi_objects_end(&op, 1);
	return status;
}

/* `version` 0: there must be none. */
int chi_rados_write_head(struct chi_rados *rados, const struct chi_rados_head *head,
			 uint64_t version)
{
	char text[CHI_RADOS_HEAD_SIZE];
	size_t len = chi_rados_head_print(head, text);
	struct chi_object_op op = {.write = chi_librados.create_write_op()};
	if (op.write == NULL) {
		return -CHI_ENOMEM;
	}
	chi_object_of_head(rados, &op);
	if (version == 0) {
		chi_librados.write_op_create(op.write, LIBRADOS_CREATE_EXCLUSIVE, NULL);
	} else {
		chi_librados.write_op_assert_version(op.write, version);
	}
	chi_librados.write_op_write_full(op.write, text, len);
	int status = chi_objects_run(rados, &op, 1);
	if (status == CHI_OK && op.rc < 0) {
		bool late = op.rc == -EEXIST || op.rc == -ERANGE || op.rc == -EOVERFLOW;
		status = late ? chi_fail(rados->fault, -CHI_EBUSY,
					 "another client changes the store's head")
			      : chi_object_fault(rados, &op);
	}
	chi_objects_end(&op, 1);
	return status;
}

/* ---- Opening ----------------------------------------------------------------------------- */

/* Connects, without looking at the store. */
static int attach(struct chi_rados *rados)
{
	const struct chi_rados_place *place = &rados->place;
	if (getrandom(rados->id, sizeof(rados->id), 0) != sizeof(rados->id)) {
		return -CHI_EIO;
	}
	int status = chi_cluster_open(place, &rados->cluster, rados->fault);
	if (status != CHI_OK) {
		return status;
	}
	int rc = chi_librados.ioctx_create(chi_cluster_handle(rados->cluster), place->pool,
					   &rados->io);
	if (rc < 0) {
		rados->io = NULL;
		status = rc == -ENOENT	    ? -CHI_ENOSTORE
			 : rc == -ETIMEDOUT ? -CHI_ETIMEOUT
					    : -CHI_ECONNECT;
		return chi_fail(rados->fault, status, "cannot use pool '%.100s' (%s)", place->pool,
				rc == -ENOENT ? "the cluster has none of that name"
					      : strerror(-rc));
	}
	return CHI_OK;
}

static struct chi_rados *new_rados(const struct chi_rados_place *place, struct chi_fault *fault)
{
	struct chi_rados *rados = calloc(1, sizeof(*rados));
	if (rados != NULL) {
		rados->place = *place;
		rados->fault = fault;
		chi_arena_init(&rados->arena, 4 * (size_t)CHI_RECORD_ARENA);
	}
	return rados;
}

static int check_head(struct chi_rados *rados, const struct chi_rados_head *head)
{
	uint32_t wanted = rados->place.shards;
	if (!head->ready) {
		return chi_fail(rados->fault, -CHI_ENOSTORE,
				"the store is being created, or that was interrupted: create it "
				"again");
	}
	if (wanted != 0 && wanted != head->shards) {
		return chi_fail(rados->fault, -CHI_EINVAL,
				"the store has %" PRIu32 " shards, the address says %" PRIu32
				": a dump loaded into a store of another name changes it",
				head->shards, wanted);
	}
	return CHI_OK;
}

static int open_head(struct chi_rados *rados)
{
	int status = attach(rados);
	status = status == CHI_OK ? chi_rados_read_head(rados, &rados->head, NULL) : status;
	status = status == CHI_OK ? check_head(rados, &rados->head) : status;
	if (status != CHI_OK) {
		return status;
	}
	chi_shard_stamp(&rados->head, rados->stamp);
	rados->known = calloc(rados->head.shards, sizeof(*rados->known));
	return rados->known != NULL ? CHI_OK : -CHI_ENOMEM;
}

int chi_rados_open(const struct chi_rados_place *place, struct chi_fault *fault,
		   struct chi_rados **out)
{
	struct chi_rados *rados = new_rados(place, fault);
	int status = rados != NULL ? open_head(rados) : -CHI_ENOMEM;
	if (status != CHI_OK) {
		chi_rados_close(rados);
		rados = NULL;
	}
	*out = rados;
	return status;
}

void chi_rados_close(struct chi_rados *rados)
{
	if (rados == NULL) {
		return;
	}
	/* In a child of fork both are the parent's. */
	if (rados->io != NULL && !chi_cluster_forked(rados->cluster)) {
		chi_librados.ioctx_destroy(rados->io);
	}
	chi_cluster_close(rados->cluster);
	chi_arena_deinit(&rados->arena);
	free(rados->known);
	free(rados);
}

int chi_rados_ping(struct chi_rados *rados)
{
	struct chi_rados_head head;
	return chi_rados_read_head(rados, &head, NULL);
}

static bool is_same_store(const struct chi_rados *rados, const struct chi_rados_head *head)
{
	const struct chi_rados_head *own = &rados->head;
	return memcmp(head->uuid, own->uuid, sizeof(head->uuid)) == 0 &&
	       head->shards == own->shards;
}

int chi_rados_changed(struct chi_rados *rados, bool *changed)
{
	struct chi_rados_head head;
	int status = chi_rados_read_head(rados, &head, NULL);
	*changed = status == CHI_OK && !is_same_store(rados, &head);
	return status;
}

int chi_rados_refresh(struct chi_rados *rados)
{
	struct chi_rados_head head;
	int status = chi_rados_read_head(rados, &head, NULL);
	if (status == CHI_OK && !is_same_store(rados, &head)) {
		return chi_fail(rados->fault, -CHI_ESTALE,
				"the store was replaced by another: open it again");
	}
	if (status == CHI_OK) {
		rados->head = head;
	}
	return status;
}

/* ---- Creating ---------------------------------------------------------------------------- */

/* As RFC 4122 has it, version 4. */
static int make_uuid(uint8_t uuid[16])
{
	if (getrandom(uuid, 16, 0) != 16) {
		return -CHI_EIO;
	}
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
	return CHI_OK;
}

/* The stamp that an interrupted creation left in a shard; zeros: none. */
static int take_left_stamp(struct chi_rados *rados, void *context, uint32_t shard,
			   struct chi_object_op *op)
{
	uint8_t(*stamps)[CHI_STAMP_SIZE] = context;
	struct chi_omap_entry found;
	if (op->rc == -ENOENT) {
		return CHI_OK;
	}
	if (op->rc < 0) {
		return chi_object_fault(rados, op);
	}
	if (!chi_object_next(op->values, &found)) {
		return CHI_OK;
	}
	if (found.len != CHI_STAMP_SIZE) {
		return chi_fail(rados->fault, -CHI_EEXIST,
				"object '%.160s' is there and no shard of a store", op->object);
	}
	memcpy(stamps[shard], found.value, CHI_STAMP_SIZE);
	return CHI_OK;
}

/* Empty but for its stamp, if its stamp is still the one that was left there. */
static int make_shard(struct chi_rados *rados, void *context, uint32_t shard,
		      struct chi_object_op *op)
{
	static const uint8_t none[CHI_STAMP_SIZE];
	uint8_t(*left)[CHI_STAMP_SIZE] = context;
	bool any = memcmp(left[shard], none, sizeof(none)) != 0;
	if (chi_object_change(op) < 0) {
		return -CHI_ENOMEM;
	}
	chi_librados.write_op_create(op->write, LIBRADOS_CREATE_IDEMPOTENT, NULL);
	chi_object_compare(op, &chi_stamp_key, left[shard], any ? CHI_STAMP_SIZE : 0);
	chi_librados.write_op_omap_clear(op->write);
	chi_object_set(op, &chi_stamp_key, rados->stamp, CHI_STAMP_SIZE);
	return CHI_OK;
}

static int create_fault(struct chi_rados *rados)
{
	return chi_fail(rados->fault, -CHI_EBUSY, "another client creates the store");
}

static int made_shard(struct chi_rados *rados, void *context, uint32_t shard,
		      struct chi_object_op *op)
{
	(void)context;
	(void)shard;
	return op->rc == -ECANCELED ? create_fault(rados)
	       : op->rc < 0	    ? chi_object_fault(rados, op)
				    : CHI_OK;
}

/* The place of the head: the version of one whose creation was interrupted, or 0. */
static int find_place(struct chi_rados *rados, uint64_t *version)
{
	struct chi_rados_head head;
	int status = chi_rados_read_head(rados, &head, version);
	if (status == -CHI_ENOSTORE) {
		rados->fault->text[0] = '\0';
		*version = 0;
		return CHI_OK;
	}
	if (status == CHI_OK && head.ready) {
		return chi_fail(rados->fault, -CHI_EEXIST,
				"the pool '%.100s' has a store '%.100s' already", rados->place.pool,
				rados->place.name);
	}
	return status;
}

/*
 * Several clients may create the store at once, each in the belief that the one before it was
 * interrupted. What is in the shards is read before the head is changed, and each shard is made
 * from that alone: so one that is late empties no shard of one that changed the head after it.
 */
static int make_store(struct chi_rados *rados, enum chi_statistic statistic)
{
	uint64_t version = 0;
	int status = find_place(rados, &version);
	if (status != CHI_OK) {
		return status;
	}
	uint32_t wanted = rados->place.shards;
	uint32_t shards = wanted > 0 ? wanted : CHI_SHARDS_DEFAULT;
	_cleanup_(chi_freep) uint8_t(*left)[CHI_STAMP_SIZE] = calloc(shards, sizeof(*left));
	status = left == NULL ? -CHI_ENOMEM
			      : chi_shards_run(rados, shards, chi_shard_ask_stamp, take_left_stamp,
					       left);
	if (status != CHI_OK) {
		return status;
	}
	rados->head = (struct chi_rados_head){
		.statistic = (uint8_t)statistic, .shards = shards, .created = (uint64_t)time(NULL)};
	(void)snprintf(rados->head.creator, sizeof(rados->head.creator), "chistore %s",
		       CHISTORE_VERSION);
	status = make_uuid(rados->head.uuid);
	if (status == CHI_OK) {
		status = chi_rados_write_head(rados, &rados->head, version);
	}
	chi_shard_stamp(&rados->head, rados->stamp);
	if (status == CHI_OK) {
		status = chi_shards_run(rados, shards, make_shard, made_shard, left);
	}
	struct chi_rados_head there;
	if (status == CHI_OK) {
		status = chi_rados_read_head(rados, &there, &version);
	}
	/* Another one that creates it too has won. */
	if (status == CHI_OK && !is_same_store(rados, &there)) {
		return create_fault(rados);
	}
	rados->head.ready = true;
	return status == CHI_OK ? chi_rados_write_head(rados, &rados->head, version) : status;
}

int chi_rados_create(const struct chi_rados_place *place, enum chi_statistic statistic,
		     enum chi_keep keep, struct chi_fault *fault)
{
	if (chi_statistic_name((int)statistic) == NULL) {
		return chi_fail(fault, -CHI_EINVAL, "statistic %d is unknown", (int)statistic);
	}
	if (statistic == CHI_STATISTIC_PERFORMANCE) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"the performance statistic is computed from games, which a store "
				"on RADOS does not keep");
	}
	if (keep != CHI_KEEP_COUNTS) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"not on RADOS: a store there counts games and does not keep "
				"them");
	}
	struct chi_rados *rados = new_rados(place, fault);
	int status = rados != NULL ? attach(rados) : -CHI_ENOMEM;
	status = status == CHI_OK ? make_store(rados, statistic) : status;
	chi_rados_close(rados);
	return status;
}

/* ---- Counters ---------------------------------------------------------------------------- */

/* Adds up one listing of a shard's clients that began after *last, which is where the next goes on;
 * no bytes: all were listed. */
static int add_listing(struct chi_rados *rados, struct chi_object_op *op,
		       struct chi_shard_client *sum, struct chi_omap_key *last)
{
	struct chi_omap_entry entry;
	int status = CHI_OK;
	while (status == CHI_OK) {
		struct chi_shard_client one;
		status = chi_object_listed(rados, op, last, &entry);
		if (status == CHI_OK && chi_shard_client_decode(entry.value, entry.len, &one) < 0) {
			return chi_fail(rados->fault, -CHI_ECORRUPT,
					"a client's entry in object '%.160s' is damaged",
					op->object);
		}
		if (status == CHI_OK) {
			chi_shard_client_add(&one, sum);
		}
	}
	if (!op->more) {
		last->len = 0;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

int chi_rados_sum_shard(struct chi_rados *rados, uint32_t shard, struct chi_shard_client *sum)
{
	struct chi_omap_key last = {.len = 0};
	int status = CHI_OK;
	do {
		struct chi_object_op op = {.rc = 0};
		status = chi_shard_list(rados, shard, CHI_OMAP_CLIENT, last.bytes, &op);
		status = status == CHI_OK ? add_listing(rados, &op, sum, &last) : status;
		chi_objects_end(&op, 1);
	} while (status == CHI_OK && last.len > 0);
	return status;
}

static int ask_sum(struct chi_rados *rados, void *context, uint32_t shard, struct chi_object_op *op)
{
	(void)rados;
	(void)context;
	(void)shard;
	int status = chi_object_get(op, &chi_stamp_key, 1);
	return status == CHI_OK ? chi_object_list(op, CHI_OMAP_CLIENT, "", CHI_LISTED) : status;
}

static int take_sum(struct chi_rados *rados, void *context, uint32_t shard,
		    struct chi_object_op *op)
{
	struct chi_shard_client one = {.sequence = 0};
	struct chi_omap_key last = {.len = 0};
	int status = chi_object_stamp(rados, op, NULL);
	status = status == CHI_OK ? add_listing(rados, op, &one, &last) : status;
	/* More than one listing holds: from the beginning. */
	if (status == CHI_OK && last.len > 0) {
		one = (struct chi_shard_client){.sequence = 0};
		status = chi_rados_sum_shard(rados, shard, &one);
	}
	chi_shard_client_add(&one, context);
	return status;
}

int chi_rados_sum(struct chi_rados *rados, struct chi_shard_client *sum)
{
	*sum = (struct chi_shard_client){.sequence = 0};
	return chi_shards_run(rados, rados->head.shards, ask_sum, take_sum, sum);
}

static uint64_t count_of(int64_t sum)
{
	return sum > 0 ? (uint64_t)sum : 0;
}

int chi_rados_info(struct chi_rados *rados, struct chi_info *out)
{
	struct chi_rados_head *head = &rados->head;
	struct chi_shard_client sum;
	*out = (struct chi_info){.format_major = CHI_RADOS_VERSION};
	int status = chi_rados_refresh(rados);
	if (status == CHI_OK) {
		status = chi_rados_sum(rados, &sum);
	}
	if (status != CHI_OK) {
		return status;
	}
	memcpy(out->uuid, head->uuid, sizeof(out->uuid));
	memcpy(out->creator, head->creator, sizeof(out->creator));
	out->statistic = head->statistic;
	out->created = head->created;
	out->sequence = sum.writes;
	out->positions = count_of(sum.positions);
	out->known = count_of(sum.known);
	out->base = head->base;
	out->games = chi_shard_games(&sum);
	out->keep = CHI_KEEP_COUNTS;
	out->shards = head->shards;
	return CHI_OK;
}
