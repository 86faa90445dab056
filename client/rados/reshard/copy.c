/* SPDX-License-Identifier: MIT */
/*
 * The entries of old shards, to new ones. A window of old shards is listed, some entries of each at
 * once; the entries of a round are sorted by the shard that they belong to and written there, some
 * thousand in an operation. The old shards take no writes meanwhile, so that nothing is missed, and
 * the new ones are no one else's yet.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "client/rados/library.h"
#include "client/rados/reshard/reshard.h"

/* Old shards that are listed at once, and entries of each: few first, as records may be large. */
#define WINDOW	     128
#define LISTED_FIRST 64
#define LISTED_MAX   1024

/* Bytes of a round: with fewer the next lists more, with more the next lists less. */
#define ROUND_BYTES ((size_t)16 << 20)

/* Of one operation. */
#define OP_ENTRIES 4096
#define OP_BYTES   ((size_t)4 << 20)

/* What clients have written this long ago is not sent again; in seconds. */
#define PAST_SECONDS 3600

#define ROUND_SHARDS 512

struct entry {
	uint32_t shard; /* that it goes to */
	const char *key;
	size_t key_len;
	const char *value;
	size_t len;
};

/* An old shard that is being listed. */
struct source {
	uint32_t shard;
	bool active;
	struct chi_omap_key after;
};

/* A new shard. */
struct target {
	uint64_t size; /* of its data */
	int64_t positions;
	int64_t known;
	int64_t games[4];
};

struct copying {
	struct chi_reshard *reshard;
	struct chi_client *client;
	uint32_t generation; /* of the new shards */
	uint32_t n_targets;
	struct target *targets;
	uint8_t stamp[CHI_STAMP_SIZE]; /* theirs */
	struct source sources[WINDOW];
	struct chi_object_op lists[WINDOW];
	uint32_t next; /* old shard that is not listed yet */
	size_t max;    /* entries of a listing */
	/* Of the round. */
	struct entry *entries;
	size_t n;
	size_t room;
	size_t bytes;
	struct chi_arena arena;
};

/* ---- Listing ----------------------------------------------------------------------------- */

static int keep(struct copying *copying, const struct entry *entry)
{
	if (copying->n == copying->room) {
		size_t room = copying->room > 0 ? 2 * copying->room : 4096;
		struct entry *more = realloc(copying->entries, room * sizeof(*more));
		if (more == NULL) {
			return -CHI_ENOMEM;
		}
		copying->entries = more;
		copying->room = room;
	}
	copying->entries[copying->n++] = *entry;
	copying->bytes += entry->key_len + entry->len;
	return CHI_OK;
}

static int damaged(struct copying *copying, const struct chi_object_op *op, const char *what)
{
	return chi_fault(&copying->client->error, -CHI_ECORRUPT,
			 "object '%.120s': %s; see what verify says", op->object, what);
}

/* An import that is being applied has no date, but none is during a reshard. */
static bool is_past(const struct chi_shard_client *client)
{
	return client->date == UINT64_MAX || client->date + PAST_SECONDS < (uint64_t)time(NULL);
}

/* What a client has counted is in the sums; that it wrote is kept for as long as it may ask. */
static int take_client(struct copying *copying, uint32_t shard, const struct chi_object_op *op,
		       struct entry *entry)
{
	static const uint8_t zero[CHI_CLIENT_ID];
	struct chi_shard_client client;
	uint8_t id[CHI_CLIENT_ID];
	uint8_t past[CHI_PAST_ID];
	size_t len = 0;
	if (chi_shard_client_decode(entry->value, entry->len, &client) < 0 ||
	    chi_omap_bytes(entry->key, entry->key_len, id, sizeof(id), &len) < 0 ||
	    len != CHI_CLIENT_ID) {
		return damaged(copying, op, "a client's entry is damaged");
	}
	copying->reshard->writes += client.writes;
	if (memcmp(id, zero, sizeof(zero)) == 0 || is_past(&client)) {
		return CHI_OK;
	}
	struct chi_omap_key *key = chi_arena_alloc(&copying->arena, sizeof(*key));
	if (key == NULL) {
		return -CHI_ENOMEM;
	}
	chi_past_id(id, copying->client->rados->head.generation, shard, past);
	chi_omap_key(CHI_OMAP_PAST, past, sizeof(past), key);
	entry->key = key->bytes;
	entry->key_len = key->len;
	entry->shard = chi_shard_of(past, sizeof(past), copying->n_targets);
	return keep(copying, entry);
}

/* Games and what clients did: what comes after the tree is what is hashed. */
static int take_plain(struct copying *copying, const struct chi_object_op *op, struct entry *entry)
{
	uint8_t bytes[CHI_PAST_ID];
	struct chi_game_id game;
	struct chi_shard_client client;
	size_t len = 0;
	if (chi_omap_bytes(entry->key, entry->key_len, bytes, sizeof(bytes), &len) < 0) {
		return damaged(copying, op, "the key of a game is damaged");
	}
	entry->shard = chi_shard_of(bytes, len, copying->n_targets);
	if (entry->key[0] == CHI_OMAP_PAST) {
		bool old = chi_shard_client_decode(entry->value, entry->len, &client) < 0 ||
			   is_past(&client);
		return old ? CHI_OK : keep(copying, entry);
	}
	if (chi_game_decode(bytes, len, (const uint8_t *)entry->value, entry->len, &game) ==
	    CHI_OK) {
		copying->targets[entry->shard].games[game.result & 3]++;
	}
	copying->reshard->done++;
	return keep(copying, entry);
}

/* Entries of both trees. A damaged record stays what it is, for verify and for who deletes it. */
static int take_position(struct copying *copying, const struct chi_object_op *op,
			 struct entry *entry)
{
	struct chi_key key;
	uint16_t chi2 = 0;
	if (chi_omap_position(entry->key, entry->key_len, &chi2, &key) < 0) {
		return damaged(copying, op, "a key is no position");
	}
	entry->shard = chi_shard_of(key.bytes, key.len, copying->n_targets);
	struct target *target = &copying->targets[entry->shard];
	if (entry->key[0] == CHI_OMAP_POSITION) {
		target->positions++;
		copying->reshard->positions++;
	} else {
		target->known++;
	}
	copying->reshard->done++;
	return keep(copying, entry);
}

static int take(struct copying *copying, uint32_t shard, const struct chi_object_op *op,
		struct entry *entry)
{
	switch (entry->key[0]) {
	case CHI_OMAP_STAMP:
		return CHI_OK;
	case CHI_OMAP_CLIENT:
		return take_client(copying, shard, op, entry);
	case CHI_OMAP_GAME:
	case CHI_OMAP_PAST:
		return take_plain(copying, op, entry);
	case CHI_OMAP_POSITION:
	case CHI_OMAP_STRENGTH:
		return take_position(copying, op, entry);
	default:
		return damaged(copying, op, "an entry is of no tree");
	}
}

/* What one listing brought. */
static int take_listing(struct copying *copying, struct source *source, struct chi_object_op *op)
{
	struct chi_omap_entry listed;
	int status = chi_object_stamp(copying->client, op, NULL);
	if (status == CHI_OK && op->sealed != copying->generation) {
		return chi_fault(&copying->client->error, -CHI_EBUSY,
				 "another client reshards the store");
	}
	while (status == CHI_OK) {
		status = chi_object_listed(copying->client, op, &source->after, &listed);
		if (status == CHI_OK) {
			struct entry entry = {.key = listed.key,
					      .key_len = listed.key_len,
					      .value = (const char *)listed.value,
					      .len = listed.len};
			status = take(copying, source->shard, op, &entry);
		}
	}
	source->active = op->more != 0;
	return status == CHI_NONE ? CHI_OK : status;
}

/* A listing of each shard of the window. What it brings lives until chi_objects_end. */
static int list_round(struct copying *copying, size_t *n)
{
	struct chi_client *client = copying->client;
	struct source *listed[WINDOW];
	int status = CHI_OK;
	*n = 0;
	for (size_t i = 0; status == CHI_OK && i < WINDOW; i++) {
		struct source *source = &copying->sources[i];
		if (!source->active && copying->next < client->rados->head.shards) {
			*source = (struct source){.shard = copying->next++, .active = true};
		}
		if (source->active) {
			struct chi_object_op *op = &copying->lists[*n];
			listed[(*n)++] = source;
			chi_object_of_shard(client, source->shard, op);
			status = chi_object_get(op, &chi_stamp_key, 1);
			status = status < 0 ? status
					    : chi_object_list(op, 0, source->after.bytes,
							      copying->max);
		}
	}
	status = status == CHI_OK ? chi_objects_run(client, copying->lists, *n) : status;
	for (size_t i = 0; status == CHI_OK && i < *n; i++) {
		status = take_listing(copying, listed[i], &copying->lists[i]);
	}
	return status;
}

/* ---- Writing ----------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	if (a->shard != b->shard) {
		return a->shard < b->shard ? -1 : 1;
	}
	int order = memcmp(a->key, b->key, a->key_len < b->key_len ? a->key_len : b->key_len);
	return order != 0 ? order : (a->key_len > b->key_len) - (a->key_len < b->key_len);
}

/* How many of the sorted entries are one operation. */
static size_t cut(const struct entry *entries, size_t n, size_t *bytes)
{
	size_t some = 0;
	*bytes = 0;
	while (some < n && some < OP_ENTRIES && *bytes < OP_BYTES &&
	       entries[some].shard == entries[0].shard) {
		*bytes += entries[some].key_len + entries[some].len;
		some++;
	}
	return some;
}

/* An operation on a new shard, if it is one of this reshard; as long as what it takes asks for. */
static int begin_op(struct copying *copying, uint32_t shard, size_t bytes, struct chi_object_op *op)
{
	struct target *target = &copying->targets[shard];
	op->write = chi_librados.create_write_op();
	if (op->write == NULL) {
		return -CHI_ENOMEM;
	}
	chi_shard_object(copying->client->address.rados.name, copying->generation, shard,
			 op->object);
	chi_librados.write_op_omap_cmp2(op->write, chi_stamp_key.bytes, LIBRADOS_CMPXATTR_OP_EQ,
					(const char *)copying->stamp, chi_stamp_key.len,
					sizeof(copying->stamp), NULL);
	if (bytes > 0 && target->size < CHI_SHARD_DATA_MAX) {
		target->size += 1 + bytes / CHI_SHARD_UNIT;
		chi_librados.write_op_truncate(op->write, target->size);
	}
	return CHI_OK;
}

static int write_op(struct copying *copying, const struct entry *entries, size_t n, size_t bytes,
		    struct chi_object_op *op)
{
	_cleanup_(chi_freep) const char **keys = calloc(n, sizeof(*keys));
	_cleanup_(chi_freep) const char **values = calloc(n, sizeof(*values));
	_cleanup_(chi_freep) size_t *key_lens = calloc(n, sizeof(*key_lens));
	_cleanup_(chi_freep) size_t *lens = calloc(n, sizeof(*lens));
	if (keys == NULL || values == NULL || key_lens == NULL || lens == NULL ||
	    begin_op(copying, entries[0].shard, bytes, op) < 0) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		keys[i] = entries[i].key;
		key_lens[i] = entries[i].key_len;
		values[i] = entries[i].len > 0 ? entries[i].value : "";
		lens[i] = entries[i].len;
	}
	chi_librados.write_op_omap_set2(op->write, keys, values, key_lens, lens, n);
	return CHI_OK;
}

/* Runs operations on new shards and ends them. */
static int run_ops(struct copying *copying, struct chi_object_op *ops, size_t n, int status)
{
	struct chi_client *client = copying->client;
	status = status == CHI_OK ? chi_objects_run(client, ops, n) : status;
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		bool gone = ops[i].rc == -ENOENT || ops[i].rc == -ECANCELED;
		status = gone		 ? chi_fault(&client->error, -CHI_EBUSY,
						     "another client reshards the store")
			 : ops[i].rc < 0 ? chi_object_fault(client, &ops[i])
					 : CHI_OK;
	}
	chi_objects_end(ops, n);
	return status;
}

/* All entries of the round. */
static int write_round(struct copying *copying)
{
	size_t n = 0;
	size_t bytes = 0;
	size_t some = 0;
	int status = CHI_OK;
	qsort(copying->entries, copying->n, sizeof(*copying->entries), compare);
	for (size_t at = 0; at < copying->n; at += some) {
		some = cut(copying->entries + at, copying->n - at, &bytes);
		n++;
	}
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(n, sizeof(*ops));
	if (n == 0 || ops == NULL) {
		return n == 0 ? CHI_OK : -CHI_ENOMEM;
	}
	n = 0;
	for (size_t at = 0; status == CHI_OK && at < copying->n; at += some) {
		some = cut(copying->entries + at, copying->n - at, &bytes);
		status = write_op(copying, copying->entries + at, some, bytes, &ops[n++]);
	}
	return run_ops(copying, ops, n, status);
}

/* ---- Counters ---------------------------------------------------------------------------- */

/* One client's entry, of the identity that is all zeros, has what all of them had counted. */
static int count_op(struct copying *copying, uint32_t shard, struct chi_object_op *op)
{
	static const uint8_t zero[CHI_CLIENT_ID];
	const struct target *target = &copying->targets[shard];
	const struct chi_shard_client sum = {
		.date = (uint64_t)time(NULL),
		.writes = shard == 0 ? copying->reshard->writes : 0,
		.positions = target->positions,
		.known = target->known,
		.games = {target->games[0], target->games[1], target->games[2], target->games[3]}};
	uint8_t bytes[CHI_SHARD_CLIENT_SIZE];
	struct chi_omap_key name;
	const char *value = (const char *)bytes;
	const size_t len = sizeof(bytes);
	chi_omap_key(CHI_OMAP_CLIENT, zero, sizeof(zero), &name);
	chi_shard_client_encode(&sum, bytes);
	const char *key = name.bytes;
	int status = begin_op(copying, shard, 0, op);
	if (status == CHI_OK) {
		chi_librados.write_op_omap_set2(op->write, &key, &value, &name.len, &len, 1);
	}
	return status;
}

static int write_counters(struct copying *copying)
{
	uint32_t shards = copying->n_targets;
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(ROUND_SHARDS, sizeof(*ops));
	int status = ops != NULL ? CHI_OK : -CHI_ENOMEM;
	for (uint32_t at = 0; status == CHI_OK && at < shards; at += ROUND_SHARDS) {
		uint32_t n = shards - at < ROUND_SHARDS ? shards - at : ROUND_SHARDS;
		for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
			status = count_op(copying, at + i, &ops[i]);
		}
		status = run_ops(copying, ops, n, status);
		status = status == CHI_OK ? chi_reshard_beat(copying->reshard) : status;
	}
	return status;
}

/* ---- All of it --------------------------------------------------------------------------- */

static void tell(const struct copying *copying)
{
	const struct chi_reshard *reshard = copying->reshard;
	const struct chi_reshard_options *options = reshard->options;
	if (options->progress != NULL) {
		options->progress(options->context, "copying", reshard->done, reshard->total);
	}
}

static int copy_all(struct copying *copying)
{
	size_t n = 1;
	int status = CHI_OK;
	while (status == CHI_OK && n > 0) {
		copying->n = 0;
		copying->bytes = 0;
		chi_arena_reset(&copying->arena);
		status = chi_reshard_beat(copying->reshard);
		status = status == CHI_OK ? list_round(copying, &n) : status;
		status = status == CHI_OK ? write_round(copying) : status;
		chi_objects_end(copying->lists, WINDOW);
		if (copying->bytes > 2 * ROUND_BYTES && copying->max > 1) {
			copying->max /= 2;
		} else if (copying->bytes < ROUND_BYTES && copying->max < LISTED_MAX) {
			copying->max *= 2;
		}
		tell(copying);
	}
	return status == CHI_OK ? write_counters(copying) : status;
}

int chi_reshard_copy(struct chi_reshard *reshard)
{
	struct chi_rados_head head = reshard->head;
	_cleanup_(chi_freep) struct copying *copying = calloc(1, sizeof(*copying));
	_cleanup_(chi_freep) struct target *targets = calloc(head.other_shards, sizeof(*targets));
	if (copying == NULL || targets == NULL) {
		return -CHI_ENOMEM;
	}
	copying->reshard = reshard;
	copying->client = reshard->client;
	copying->generation = head.other_generation;
	copying->n_targets = head.other_shards;
	copying->targets = targets;
	copying->max = LISTED_FIRST;
	head.generation = head.other_generation;
	chi_shard_stamp(&head, copying->stamp);
	chi_arena_init(&copying->arena, SIZE_MAX);
	int status = copy_all(copying);
	chi_arena_deinit(&copying->arena);
	free(copying->entries);
	return status;
}
