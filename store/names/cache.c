/* SPDX-License-Identifier: MIT */
/*
 * Numbers for texts. What was asked before is answered from a hash table; what is new waits there
 * until it is written with others, in order, chunk by chunk and list by list.
 *
 * A slot is known by kind, text and FIDE id. Each text also has a slot without FIDE id, for its
 * first name.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "store/names/names_priv.h"
#include "store/record/checksum.h"

#define LEAST_MEMORY (1u << 20)
#define FIRST_SLOTS  1024u
#define SLICE_MAX    (1u << 18) /* items that are sorted and written together, at most */

/* Shares of the memory: texts, and the same for the table, which is twice as large while it grows,
 * for what is new, and for the items of the indexes. */
#define SHARES 4

/* A text has up to two slots. */
#define TEXT_SLOTS 2

struct slot {
	uint32_t hash;
	uint32_t id; /* 0: free */
	size_t at;   /* its text in the pool */
};

/* What a slot's text is preceded by in the pool. */
struct text_head {
	uint32_t fide;
	uint16_t len;
	uint8_t kind;
};

/* Names of a kind that are not written yet; their numbers follow one another. */
struct pending {
	uint32_t first; /* the next number to be written; 0: not asked yet */
	size_t n;
	size_t room;
	struct new_name {
		size_t at;
		uint32_t fide;
	} * names;
};

struct chi_name_cache {
	size_t most;	  /* slots in use, */
	size_t pool_most; /* bytes of texts, */
	size_t slice;	  /* and items at once */
	struct slot *slots;
	size_t n_slots; /* a power of two */
	size_t used;
	uint8_t *pool;
	size_t pool_used;
	size_t pool_room;
	struct pending pending[CHI_NAME_KINDS]; /* by kind */
	struct chi_name_item *items;
	size_t items_room;
};

/* A text as it is asked for. */
struct wanted {
	enum chi_name_kind kind;
	const char *text;
	size_t len;
	uint32_t fide;
	uint32_t id;   /* found; 0: none */
	uint32_t bare; /* another with this text and no FIDE id; 0: none */
};

/* ---- Table ------------------------------------------------------------------------------- */

int chi_name_cache_new(size_t memory, struct chi_name_cache **out)
{
	struct chi_name_cache *cache = calloc(1, sizeof(*cache));
	*out = cache;
	if (cache == NULL) {
		return -CHI_ENOMEM;
	}
	size_t share = (memory < LEAST_MEMORY ? LEAST_MEMORY : memory) / SHARES;
	size_t slots = FIRST_SLOTS;
	while (4 * slots * sizeof(struct slot) <= share) {
		slots *= 2;
	}
	cache->most = slots / 2;
	cache->pool_most = share;
	cache->slice = share / sizeof(struct chi_name_item);
	cache->slice = cache->slice < SLICE_MAX ? cache->slice : SLICE_MAX;
	return CHI_OK;
}

static void forget_texts(struct chi_name_cache *cache)
{
	if (cache->slots != NULL) {
		memset(cache->slots, 0, cache->n_slots * sizeof(cache->slots[0]));
	}
	cache->used = 0;
	cache->pool_used = 0;
}

void chi_name_cache_reset(struct chi_name_cache *cache)
{
	forget_texts(cache);
	for (size_t i = 0; i < CHI_NAME_KINDS; i++) {
		cache->pending[i].n = 0;
		cache->pending[i].first = 0;
	}
}

void chi_name_cache_free(struct chi_name_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	for (size_t i = 0; i < CHI_NAME_KINDS; i++) {
		free(cache->pending[i].names);
	}
	free(cache->slots);
	free(cache->pool);
	free(cache->items);
	free(cache);
}

static uint32_t hash_of(const struct wanted *w)
{
	uint64_t hash = XXH3_64bits(w->text, w->len) + w->fide * 0x9e3779b97f4a7c15u + w->kind;
	return (uint32_t)(hash ^ hash >> 32);
}

static bool slot_is(const struct chi_name_cache *cache, const struct slot *slot,
		    const struct wanted *w)
{
	struct text_head head;
	memcpy(&head, cache->pool + slot->at, sizeof(head));
	return head.len == w->len && head.fide == w->fide && head.kind == w->kind &&
	       memcmp(cache->pool + slot->at + sizeof(head), w->text, w->len) == 0;
}

/* The slot of the text, or the free one where it would be; NULL without a table. */
static struct slot *find_slot(const struct chi_name_cache *cache, const struct wanted *w,
			      uint32_t hash)
{
	for (size_t i = hash; cache->n_slots > 0; i++) {
		struct slot *slot = &cache->slots[i & (cache->n_slots - 1)];
		if (slot->id == 0 || (slot->hash == hash && slot_is(cache, slot, w))) {
			return slot;
		}
	}
	return NULL;
}

static int grow_slots(struct chi_name_cache *cache)
{
	size_t n = cache->n_slots == 0 ? FIRST_SLOTS : 2 * cache->n_slots;
	struct slot *slots = calloc(n, sizeof(*slots));
	if (slots == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < cache->n_slots; i++) {
		size_t at = cache->slots[i].hash;
		while (cache->slots[i].id != 0 && slots[at & (n - 1)].id != 0) {
			at++;
		}
		if (cache->slots[i].id != 0) {
			slots[at & (n - 1)] = cache->slots[i];
		}
	}
	free(cache->slots);
	cache->slots = slots;
	cache->n_slots = n;
	return CHI_OK;
}

static int grow_pool(struct chi_name_cache *cache, size_t more)
{
	size_t need = cache->pool_used + more;
	if (need <= cache->pool_room) {
		return CHI_OK;
	}
	size_t room = 2 * need < cache->pool_most ? 2 * need : cache->pool_most;
	room = room < need ? need : room;
	uint8_t *pool = realloc(cache->pool, room);
	if (pool == NULL) {
		return -CHI_ENOMEM;
	}
	cache->pool = pool;
	cache->pool_room = room;
	return CHI_OK;
}

/* Adds a text that has no slot yet. */
static int remember(struct chi_name_cache *cache, const struct wanted *w, uint32_t id)
{
	struct text_head head = {w->fide, (uint16_t)w->len, (uint8_t)w->kind};
	int rc = 2 * (cache->used + 1) > cache->n_slots ? grow_slots(cache) : CHI_OK;
	rc = rc == CHI_OK ? grow_pool(cache, sizeof(head) + w->len) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	uint32_t hash = hash_of(w);
	struct slot *slot = find_slot(cache, w, hash);
	*slot = (struct slot){hash, id, cache->pool_used};
	memcpy(cache->pool + slot->at, &head, sizeof(head));
	memcpy(cache->pool + slot->at + sizeof(head), w->text, w->len);
	cache->pool_used += sizeof(head) + w->len;
	cache->used++;
	return CHI_OK;
}

bool chi_name_cache_full(const struct chi_name_cache *cache, size_t texts)
{
	size_t slots = texts * TEXT_SLOTS;
	return cache->used + slots > cache->most ||
	       cache->pool_used + slots * (sizeof(struct text_head) + CHI_NAME_MAX) >
		       cache->pool_most;
}

/* ---- New names --------------------------------------------------------------------------- */

static int add_pending(struct pending *pending, const struct new_name *name)
{
	if (chi_grow(&pending->names, &pending->room, pending->n + 1, sizeof(*name)) < 0) {
		return -CHI_ENOMEM;
	}
	pending->names[pending->n++] = *name;
	return CHI_OK;
}

/* The next number of the kind. Its text is in the pool under the FIDE id it came with. */
static int add_name(struct chi_name_cache *cache, struct wanted *w)
{
	struct pending *pending = &cache->pending[w->kind];
	struct new_name name = {cache->pool_used, w->fide};
	if (pending->first + (uint64_t)pending->n > UINT32_MAX) {
		return -CHI_EFULL;
	}
	w->id = pending->first + (uint32_t)pending->n;
	int rc = remember(cache, w, w->id);
	return rc == CHI_OK ? add_pending(pending, &name) : rc;
}

/* Gives the FIDE id to the name with this text that has none: CHI_NONE if that may not be. */
static int give_fide(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
		     const struct wanted *w)
{
	struct pending *pending = &cache->pending[w->kind];
	if (w->bare < pending->first) {
		int rc = chi_names_set_fide(txn, dbi, w->bare, w->fide, false, NULL);
		return rc == -CHI_EINVAL ? CHI_NONE : rc;
	}
	struct new_name *name = &pending->names[w->bare - pending->first];
	if (name->fide != 0) {
		return CHI_NONE;
	}
	name->fide = w->fide;
	return CHI_OK;
}

/* The slot of the text's first name, if there is none yet. */
static int remember_first(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
			  const struct wanted *w)
{
	struct wanted first = *w;
	first.fide = 0;
	first.id = w->id;
	const struct slot *slot = find_slot(cache, &first, hash_of(&first));
	if (slot != NULL && slot->id != 0) {
		return CHI_OK;
	}
	int rc = cache->pending[w->kind].first > 1
			 ? chi_names_search(txn, dbi, w->kind, w->text, w->len, 0, &first.id,
					    &first.bare)
			 : CHI_NONE;
	return rc < 0 ? rc : remember(cache, &first, first.id);
}

/* Among those that are written, then among those that wait. */
static int search_names(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi, struct wanted *w)
{
	int rc = CHI_NONE;
	if (cache->pending[w->kind].first > 1) {
		rc = chi_names_search(txn, dbi, w->kind, w->text, w->len, w->fide, &w->id,
				      &w->bare);
	}
	if (rc == CHI_NONE && w->fide != 0 && w->bare == 0) {
		struct wanted first = *w;
		first.fide = 0;
		const struct slot *slot = find_slot(cache, &first, hash_of(&first));
		w->bare = slot != NULL && slot->id >= cache->pending[w->kind].first ? slot->id : 0;
	}
	if (rc == CHI_NONE && w->bare != 0) {
		rc = give_fide(cache, txn, dbi, w);
		w->id = rc == CHI_OK ? w->bare : 0;
	}
	return rc;
}

/* Room for a text more, and the next number of its kind is known. */
static int make_room(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
		     enum chi_name_kind kind)
{
	int rc = CHI_OK;
	struct pending *pending = &cache->pending[kind];
	if (chi_name_cache_full(cache, 1)) {
		rc = chi_names_flush(cache, txn, dbi);
		forget_texts(cache);
	}
	if (rc == CHI_OK && pending->first == 0) {
		rc = chi_names_count(txn, dbi, kind, &pending->first);
		pending->first += pending->first < UINT32_MAX;
	}
	return rc;
}

/* A text without a slot. */
static int resolve(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi, struct wanted *w)
{
	int rc = make_room(cache, txn, dbi, w->kind);
	rc = rc == CHI_OK ? search_names(cache, txn, dbi, w) : rc;
	if (rc < 0) {
		return rc;
	}
	rc = rc == CHI_NONE ? add_name(cache, w) : remember(cache, w, w->id);
	return rc == CHI_OK && w->fide != 0 ? remember_first(cache, txn, dbi, w) : rc;
}

int chi_names_intern(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
		     enum chi_name_kind kind, const char *text, size_t len, uint32_t fide,
		     uint32_t *id)
{
	struct wanted w = {
		.kind = kind, .text = text, .len = len, .fide = kind == CHI_NAME_PLAYER ? fide : 0};
	*id = 0;
	if (len == 0 || len > CHI_NAME_MAX) {
		return len == 0 ? CHI_OK : -CHI_ETOOBIG;
	}
	const struct slot *slot = find_slot(cache, &w, hash_of(&w));
	if (slot != NULL && slot->id != 0) {
		*id = slot->id;
		return CHI_OK;
	}
	int rc = resolve(cache, txn, dbi, &w);
	*id = rc == CHI_OK ? w.id : 0;
	return rc;
}

int chi_names_add(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi, enum chi_name_kind kind,
		  const char *text, size_t len, uint32_t fide, uint32_t *id)
{
	struct wanted w = {.kind = kind, .text = text, .len = len, .fide = fide};
	if (len == 0 || len > CHI_NAME_MAX || (fide != 0 && kind != CHI_NAME_PLAYER)) {
		return len > CHI_NAME_MAX ? -CHI_ETOOBIG : -CHI_EINVAL;
	}
	int rc = make_room(cache, txn, dbi, kind);
	const struct slot *slot = find_slot(cache, &w, hash_of(&w));
	if (rc < 0 || (slot != NULL && slot->id != 0)) {
		return rc < 0 ? rc : CHI_NONE;
	}
	if (cache->pending[kind].first > 1) {
		rc = chi_names_search(txn, dbi, kind, text, len, fide, &w.id, &w.bare);
		if (rc != CHI_NONE) {
			return rc < 0 ? rc : CHI_NONE;
		}
	}
	rc = add_name(cache, &w);
	*id = w.id;
	return rc == CHI_OK && fide != 0 ? remember_first(cache, txn, dbi, &w) : rc;
}

/* ---- Writing ----------------------------------------------------------------------------- */

static struct chi_name new_name(const struct chi_name_cache *cache, const struct pending *pending,
				size_t i)
{
	struct text_head head;
	const uint8_t *at = cache->pool + pending->names[i].at;
	memcpy(&head, at, sizeof(head));
	return (struct chi_name){.id = pending->first + (uint32_t)i,
				 .fide = pending->names[i].fide,
				 .text = (const char *)at + sizeof(head),
				 .len = head.len};
}

/* What a flush needs beside the cache. */
struct flush {
	struct chi_name_cache *cache;
	MDB_txn *txn;
	MDB_dbi dbi;
	const struct chi_name_turns *turns; /* NULL: none */
	size_t written;			    /* entries since the last */
};

/* After each entry of the tree. */
static int pass_flush(struct flush *flush)
{
	if (flush->turns == NULL || ++flush->written < flush->turns->entries) {
		return CHI_OK;
	}
	flush->written = 0;
	return flush->turns->turn(flush->turns->context, &flush->txn);
}

/* Fills up the last chunk, and writes new ones. */
static int write_chunks(struct flush *flush, enum chi_name_kind kind)
{
	const struct pending *pending = &flush->cache->pending[kind];
	struct chi_name_chunk chunk;
	uint32_t number = chi_chunk_of(pending->first);
	int rc = chi_chunk_get(flush->txn, flush->dbi, kind, number, CHI_CHUNK_NAMES, &chunk);
	if (rc < 0 || chunk.n != (pending->first - 1) % CHI_CHUNK_NAMES) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < pending->n; i++) {
		chunk.name[chunk.n++] = new_name(flush->cache, pending, i);
		if (chunk.n == CHI_CHUNK_NAMES || i + 1 == pending->n) {
			rc = chi_chunk_put(flush->txn, flush->dbi, kind, number++, &chunk);
			rc = rc == CHI_OK ? pass_flush(flush) : rc;
			chunk.n = 0;
		}
	}
	return rc;
}

/* List by list. */
static int write_items(struct flush *flush, size_t n)
{
	struct chi_name_item *items = flush->cache->items;
	int rc = CHI_OK;
	if (n > 1) {
		qsort(items, n, sizeof(items[0]), chi_name_item_compare);
	}
	for (size_t at = 0, end = 0; rc == CHI_OK && at < n; at = end) {
		end = chi_list_end(items, at, n);
		rc = chi_lists_add(flush->txn, flush->dbi, items + at, end - at);
		rc = rc == CHI_OK ? pass_flush(flush) : rc;
	}
	return rc;
}

static int reserve_items(struct chi_name_cache *cache, size_t n)
{
	if (n <= cache->items_room) {
		return CHI_OK;
	}
	size_t room = 2 * n < cache->slice + CHI_NAME_ITEMS ? 2 * n : cache->slice + CHI_NAME_ITEMS;
	struct chi_name_item *items = reallocarray(cache->items, room, sizeof(*items));
	if (items == NULL) {
		return -CHI_ENOMEM;
	}
	cache->items = items;
	cache->items_room = room;
	return CHI_OK;
}

/* The items of a kind's names behind the *n that wait, which are written when they are many. */
static int gather_items(struct flush *flush, enum chi_name_kind kind, size_t *n)
{
	struct chi_name_cache *cache = flush->cache;
	const struct pending *pending = &cache->pending[kind];
	struct chi_name_words words;
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < pending->n; i++) {
		struct chi_name name = new_name(cache, pending, i);
		rc = reserve_items(cache, *n + CHI_NAME_ITEMS);
		if (rc == CHI_OK) {
			chi_name_split(name.text, name.len, &words);
			*n += chi_name_items(kind, &name, &words, cache->items + *n);
		}
		if (rc == CHI_OK && *n >= cache->slice) {
			rc = write_items(flush, *n);
			*n = 0;
		}
	}
	return rc;
}

/* In the order of keys, chunks of all kinds before lists: in an empty tree each entry is then the
 * last, for which LMDB does not split a page in halves. */
static int write_pending(struct flush *flush)
{
	size_t n = 0;
	int rc = CHI_OK;
	for (unsigned kind = 1; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		if (flush->cache->pending[kind].n > 0) {
			rc = write_chunks(flush, kind);
		}
	}
	for (unsigned kind = 1; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		rc = gather_items(flush, kind, &n);
	}
	return rc == CHI_OK ? write_items(flush, n) : rc;
}

int chi_names_flush_by_turns(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi,
			     const struct chi_name_turns *turns)
{
	struct flush flush = {.cache = cache, .txn = txn, .dbi = dbi, .turns = turns};
	int rc = write_pending(&flush);
	for (unsigned kind = 1; rc == CHI_OK && kind < CHI_NAME_KINDS; kind++) {
		struct pending *pending = &cache->pending[kind];
		pending->first += (uint32_t)pending->n;
		pending->n = 0;
	}
	return rc;
}

int chi_names_flush(struct chi_name_cache *cache, MDB_txn *txn, MDB_dbi dbi)
{
	return chi_names_flush_by_turns(cache, txn, dbi, NULL);
}
