/* SPDX-License-Identifier: MIT */
/*
 * A cluster lists entries upwards only. Downwards a shard is listed in spans of keys from the top:
 * a span that holds more than a chunk is made shorter, one with few entries is followed by a longer
 * one. Spans are counted in numbers, the first eight bytes of a key; entries of one number are a
 * chunk however many they are.
 */
#include "rados/walk.h"

#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"

/* Entries of a listing: an OSD gives 1,024 at most (osd_max_omap_entries_per_request). Of all
 * shards together about this many are in memory, and so many bytes of them; a record may have 192
 * KiB. */
#define CHUNK_MAX	1024
#define CHUNK_MIN	64
#define HELD		131072
#define CHUNK_BYTES_MIN ((size_t)64 << 10)
#define HELD_BYTES	((size_t)64 << 20)

/* The first span, in numbers: a sixteenth of a whole part of the statistic. */
#define SPAN_FIRST (UINT64_C(1) << 52)

struct chunk {
	struct chi_arena arena;
	struct chi_walk_entry *entries;
	size_t room;
	size_t n;
	size_t at;
	size_t bytes;
};

struct shard {
	struct chunk chunks[2]; /* the one that is walked, and the next */
	unsigned current;
	bool over; /* nothing is left to be listed */
	size_t max;
	bool seen;
	uint64_t version;
	struct chi_omap_key from; /* upwards, or within a span: the next listing begins after it */
	/* Downwards: */
	uint64_t top; /* the last number that was not listed */
	uint64_t span;
	bool inside; /* listing goes on in a span of one number */
};

struct chi_walk {
	struct chi_rados *rados;
	struct chi_walk_spec spec;
	uint64_t least; /* number of the lower bound */
	struct shard *shards;
	uint32_t n;
	size_t cap;	  /* entries of a listing */
	size_t bytes_cap; /* of a chunk, which has one entry at least */
	uint32_t *heap;	  /* shards with entries; the first is the next */
	uint32_t n_heap;
	bool advance; /* the first entry was delivered */
	bool mixed;
};

/* ---- Numbers ----------------------------------------------------------------------------- */

static uint64_t shard_number(const char *key, size_t key_len)
{
	uint8_t bytes[CHI_OMAP_KEY_MAX] = {0};
	size_t len = 0;
	uint64_t number = 0;
	/* A damaged key is somewhere. */
	if (chi_omap_bytes(key, key_len, bytes, sizeof(bytes), &len) < 0) {
		len = 0;
	}
	for (size_t i = 0; i < sizeof(number); i++) {
		number = number << 8 | (i < len ? bytes[i] : 0);
	}
	return number;
}

/* What all keys of that number and above come after, and those below do not. */
static void number_key(enum chi_omap_tree tree, uint64_t number, struct chi_omap_key *out)
{
	uint8_t bytes[8];
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (uint8_t)(number >> (56 - 8 * i));
	}
	chi_omap_key_make(tree, bytes, sizeof(bytes), out);
}

static uint64_t span_start(const struct chi_walk *walk, const struct shard *shard)
{
	return shard->top - walk->least < shard->span ? walk->least : shard->top - shard->span + 1;
}

/* ---- Chunks ------------------------------------------------------------------------------ */

static int keep_entry(struct chunk *chunk, const struct chi_omap_entry *entry, uint32_t shard)
{
	char *bytes = chi_arena_alloc(&chunk->arena, entry->key_len + entry->len);
	if (bytes == NULL ||
	    chi_grow(&chunk->entries, &chunk->room, chunk->n + 1, sizeof(*chunk->entries)) < 0) {
		return -CHI_ENOMEM;
	}
	memcpy(bytes, entry->key, entry->key_len);
	if (entry->len > 0) {
		memcpy(bytes + entry->key_len, entry->value, entry->len);
	}
	chunk->entries[chunk->n++] =
		(struct chi_walk_entry){.key = bytes,
					.key_len = entry->key_len,
					.value = (const uint8_t *)bytes + entry->key_len,
					.len = entry->len,
					.shard = shard};
	chunk->bytes += entry->key_len + entry->len;
	return CHI_OK;
}

static void empty(struct chunk *chunk)
{
	chi_arena_reset(&chunk->arena);
	chunk->bytes = 0;
	chunk->n = 0;
	chunk->at = 0;
}

static struct chunk *current(struct shard *shard)
{
	return &shard->chunks[shard->current];
}

static struct chunk *next(struct shard *shard)
{
	return &shard->chunks[1 - shard->current];
}

static void reverse(struct chunk *chunk)
{
	for (size_t i = 0; i < chunk->n / 2; i++) {
		struct chi_walk_entry entry = chunk->entries[i];
		chunk->entries[i] = chunk->entries[chunk->n - 1 - i];
		chunk->entries[chunk->n - 1 - i] = entry;
	}
}

/* ---- Listing ----------------------------------------------------------------------------- */

static int ask_shard(struct chi_walk *walk, uint32_t i, struct chi_object_op *op)
{
	struct shard *shard = &walk->shards[i];
	if (walk->spec.descending && !shard->inside) {
		number_key(walk->spec.tree, span_start(walk, shard), &shard->from);
	}
	chi_object_of_shard(walk->rados, i, op);
	int status = chi_object_get(op, &chi_stamp_key, 1);
	return status < 0 ? status
			  : chi_object_list(op, walk->spec.tree, shard->from.bytes, shard->max);
}

/* It has as many bytes as a chunk may; within one number all entries are one chunk. */
static bool is_shard_full(const struct chi_walk *walk, struct shard *shard)
{
	return next(shard)->bytes >= walk->bytes_cap &&
	       !(walk->spec.descending && shard->span == 1);
}

/* The entries of the walk; *past: the listing went beyond them. */
static int take_entries(struct chi_walk *walk, struct shard *shard, struct chi_object_op *op,
			bool *past)
{
	const struct chi_walk_spec *spec = &walk->spec;
	struct chi_omap_entry found;
	int status = CHI_OK;
	*past = false;
	while (status == CHI_OK && !*past && !is_shard_full(walk, shard)) {
		status = chi_object_listed(walk->rados, op, &shard->from, &found);
		if (status != CHI_OK) {
			break;
		}
		*past = (spec->upper.len > 0 &&
			 chi_omap_compare(found.key, found.key_len, spec->upper.bytes,
					  spec->upper.len) >= 0) ||
			(spec->descending && shard_number(found.key, found.key_len) > shard->top);
		bool wanted = !*past && chi_omap_compare(found.key, found.key_len,
							 spec->lower.bytes, spec->lower.len) > 0;
		status = wanted ? keep_entry(next(shard), &found, (uint32_t)(shard - walk->shards))
				: CHI_OK;
	}
	*past = *past || (status == CHI_NONE && !op->more);
	return status == CHI_NONE ? CHI_OK : status;
}

/* The next listing: of what fits, or twice as much. */
static void grow(const struct chi_walk *walk, struct shard *shard)
{
	if (is_shard_full(walk, shard)) {
		shard->max = next(shard)->n;
	} else {
		shard->max = 2 * shard->max < walk->cap ? 2 * shard->max : walk->cap;
	}
}

/* After a listing upwards from the start of a span. */
static void went_down(struct chi_walk *walk, struct shard *shard, bool past)
{
	struct chunk *chunk = next(shard);
	uint64_t start = span_start(walk, shard);
	if (!past && shard->span > 1) {
		/* Too many: nothing of it is used. */
		shard->span = shard->span > 8 ? shard->span / 8 : 1;
		empty(chunk);
		return;
	}
	shard->inside = !past;
	if (!past) {
		return;
	}
	reverse(chunk);
	shard->over = start == walk->least;
	shard->top = start - 1;
	if (chunk->n < shard->max / 4) {
		shard->span = shard->span < UINT64_MAX / 4 ? 4 * shard->span : UINT64_MAX;
	}
	if (chunk->n > 0) {
		grow(walk, shard);
	}
}

static int listed(struct chi_walk *walk, struct shard *shard, struct chi_object_op *op)
{
	bool past = false;
	int status = chi_object_stamp(walk->rados, op, NULL);
	if (status == CHI_OK) {
		status = take_entries(walk, shard, op, &past);
	}
	if (status < 0) {
		return status;
	}
	walk->mixed = walk->mixed || (shard->seen && shard->version != op->version);
	shard->seen = true;
	shard->version = op->version;
	if (walk->spec.descending) {
		went_down(walk, shard, past);
	} else {
		shard->over = past;
		grow(walk, shard);
	}
	return CHI_OK;
}

static bool is_spent(struct shard *shard)
{
	return current(shard)->at == current(shard)->n;
}

/* Its next chunk is whole. */
static bool has_next(struct shard *shard)
{
	return next(shard)->n > 0 && !shard->inside;
}

static bool needs(struct shard *shard)
{
	const struct chunk *chunk = current(shard);
	return !shard->over && !has_next(shard) && chunk->n - chunk->at <= chunk->n / 4;
}

/* Shards that are nearly spent are listed along with those that are. */
static int list_round(struct chi_walk *walk, uint32_t *wanted, struct chi_object_op *ops)
{
	size_t n = 0;
	int status = CHI_OK;
	for (uint32_t i = 0; status == CHI_OK && i < walk->n; i++) {
		if (needs(&walk->shards[i])) {
			wanted[n] = i;
			status = ask_shard(walk, i, &ops[n++]);
		}
	}
	if (status == CHI_OK) {
		status = chi_objects_run(walk->rados, ops, n);
	}
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = listed(walk, &walk->shards[wanted[i]], &ops[i]);
	}
	chi_objects_end(ops, n);
	return status;
}

/* Makes the next chunk the current one where that is spent. False: there is none yet. */
static bool turn_shard(struct shard *shard)
{
	if (is_spent(shard) && has_next(shard)) {
		empty(current(shard));
		shard->current = 1 - shard->current;
	}
	return !is_spent(shard) || shard->over;
}

/* Until every shard of `from` on has entries, or none are left. */
static int fill_chunks(struct chi_walk *walk)
{
	_cleanup_(chi_freep) uint32_t *wanted = calloc(walk->n, sizeof(*wanted));
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(walk->n, sizeof(*ops));
	int status = wanted != NULL && ops != NULL ? CHI_OK : -CHI_ENOMEM;
	bool ready = false;
	while (status == CHI_OK && !ready) {
		status = list_round(walk, wanted, ops);
		ready = true;
		for (uint32_t i = 0; i < walk->n; i++) {
			ready = turn_shard(&walk->shards[i]) && ready;
		}
	}
	return status;
}

/* ---- Merging ----------------------------------------------------------------------------- */

static const struct chi_walk_entry *head_of(const struct chi_walk *walk, uint32_t i)
{
	struct chunk *chunk = current(&walk->shards[i]);
	return &chunk->entries[chunk->at];
}

static bool before(const struct chi_walk *walk, uint32_t a, uint32_t b)
{
	const struct chi_walk_entry *left = head_of(walk, a);
	const struct chi_walk_entry *right = head_of(walk, b);
	int order = chi_omap_compare(left->key, left->key_len, right->key, right->key_len);
	return walk->spec.descending ? order > 0 : order < 0;
}

static void sift_down(struct chi_walk *walk, uint32_t at)
{
	uint32_t moved = walk->heap[at];
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child + 1 < walk->n_heap &&
		    before(walk, walk->heap[child + 1], walk->heap[child])) {
			child++;
		}
		if (child >= walk->n_heap || !before(walk, walk->heap[child], moved)) {
			break;
		}
		walk->heap[at] = walk->heap[child];
		at = child;
	}
	walk->heap[at] = moved;
}

static void make_heap(struct chi_walk *walk)
{
	walk->n_heap = 0;
	for (uint32_t i = 0; i < walk->n; i++) {
		if (!is_spent(&walk->shards[i])) {
			walk->heap[walk->n_heap++] = i;
		}
	}
	for (uint32_t i = walk->n_heap / 2; i-- > 0;) {
		sift_down(walk, i);
	}
}

/* Goes past the entry that was delivered. */
static int advance(struct chi_walk *walk)
{
	struct shard *shard = &walk->shards[walk->heap[0]];
	walk->advance = false;
	current(shard)->at++;
	if (!turn_shard(shard)) {
		int status = fill_chunks(walk);
		make_heap(walk);
		return status;
	}
	if (is_spent(shard)) {
		walk->heap[0] = walk->heap[--walk->n_heap];
	}
	if (walk->n_heap > 0) {
		sift_down(walk, 0);
	}
	return CHI_OK;
}

int chi_walk_next(struct chi_walk *walk, struct chi_walk_entry *out)
{
	int status = walk->advance ? advance(walk) : CHI_OK;
	if (status < 0) {
		return status;
	}
	if (walk->n_heap == 0) {
		return CHI_NONE;
	}
	*out = *head_of(walk, walk->heap[0]);
	walk->advance = true;
	return CHI_OK;
}

bool chi_walk_mixed(const struct chi_walk *walk)
{
	return walk->mixed;
}

/* ---- Opening ----------------------------------------------------------------------------- */

static void prepare_walk(struct chi_walk *walk)
{
	const struct chi_walk_spec *spec = &walk->spec;
	size_t first = spec->first < walk->cap ? spec->first : walk->cap;
	uint64_t top =
		spec->upper.len > 0 ? shard_number(spec->upper.bytes, spec->upper.len) : UINT64_MAX;
	walk->least = shard_number(spec->lower.bytes, spec->lower.len);
	for (uint32_t i = 0; i < walk->n; i++) {
		struct shard *shard = &walk->shards[i];
		chi_arena_init(&shard->chunks[0].arena, SIZE_MAX);
		chi_arena_init(&shard->chunks[1].arena, SIZE_MAX);
		shard->max = first;
		shard->from = spec->lower;
		shard->top = top;
		shard->span = SPAN_FIRST;
		shard->over = spec->descending && top < walk->least;
	}
}

int chi_walk_open(struct chi_rados *rados, const struct chi_walk_spec *spec, struct chi_walk **out)
{
	uint32_t n = rados->head.shards;
	struct chi_walk *walk = calloc(1, sizeof(*walk));
	*out = walk;
	if (walk == NULL) {
		return -CHI_ENOMEM;
	}
	*walk = (struct chi_walk){.rados = rados, .spec = *spec};
	walk->shards = calloc(n, sizeof(*walk->shards));
	walk->heap = calloc(n, sizeof(*walk->heap));
	if (walk->shards == NULL || walk->heap == NULL) {
		return -CHI_ENOMEM;
	}
	walk->n = n;
	walk->cap = HELD / n < CHUNK_MIN ? CHUNK_MIN : HELD / n > CHUNK_MAX ? CHUNK_MAX : HELD / n;
	/* A shard has two chunks. */
	walk->bytes_cap =
		HELD_BYTES / 2 / n < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN : HELD_BYTES / 2 / n;
	prepare_walk(walk);
	int status = fill_chunks(walk);
	make_heap(walk);
	return status;
}

void chi_walk_close(struct chi_walk *walk)
{
	if (walk == NULL) {
		return;
	}
	for (uint32_t i = 0; i < walk->n; i++) {
		for (size_t j = 0; j < CHI_COUNT(walk->shards[i].chunks); j++) {
			chi_arena_deinit(&walk->shards[i].chunks[j].arena);
			free(walk->shards[i].chunks[j].entries);
		}
	}
	free(walk->shards);
	free(walk->heap);
	free(walk);
}

int chi_walk_tree(struct chi_rados *rados, enum chi_omap_tree tree, chi_walk_take *take,
		  void *context)
{
	struct chi_walk *walk = NULL;
	struct chi_walk_spec spec = {.tree = tree, .first = CHUNK_MAX};
	struct chi_walk_entry entry;
	chi_omap_key_make(tree, NULL, 0, &spec.lower);
	int status = chi_walk_open(rados, &spec, &walk);
	while (status == CHI_OK) {
		status = chi_walk_next(walk, &entry);
		status = status == CHI_OK ? take(context, &entry) : status;
	}
	chi_walk_close(walk);
	return status == CHI_NONE ? CHI_OK : status;
}
