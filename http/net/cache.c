/* SPDX-License-Identifier: MIT */
/*
 * Answers of a loop, by what was asked, until the store changes. Whether it has is asked ten times
 * a second at most, so an answer may be a tenth of a second behind the store. A loop numbers the
 * states of the store that it sees, as another store in its place may have the same sequence.
 *
 * A question has a set of places, where the answer asked for last is first, and a new one replaces
 * the last; when the memory is used up, places are emptied in turn.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "http/net/conn.h"

#define PLACES	 65536
#define WAYS	 4 /* of a set: with one, few questions would keep replacing each other's answers */
#define ASK_MS	 100
#define ONE_MOST ((size_t)256 << 10)

enum encoding {
	GZIP,
	ZSTD,
	ENCODINGS
};

/* An answer's bytes compressed, once someone takes them so. */
struct packed {
	bool tried; /* without bytes: it did not become smaller */
	void *bytes;
	size_t len;
};

struct kept {
	uint64_t state;
	uint64_t hash;	  /* of the answer's bytes */
	const char *type; /* static */
	size_t len;
	struct packed packed[ENCODINGS];
	size_t target_len; /* with its NUL; the answer's bytes follow it */
	char bytes[];
};

struct cache {
	struct kept *places[PLACES];
	size_t bytes;
	size_t most;
	size_t hand; /* the place that is emptied next */
	int64_t asked_ms;
	uint64_t state;	   /* the number of the last one seen: 1 and up, */
	uint64_t sequence; /* what it was known by: the store's sequence */
	uint64_t moves;	   /* and of which copy, */
	bool known;	   /* if it could be asked for */
};

int cache_new(size_t bytes, struct cache **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL) {
		return -CHI_ENOMEM;
	}
	(*out)->most = bytes;
	return CHI_OK;
}

static size_t kept_size(const struct kept *kept)
{
	return sizeof(*kept) + kept->target_len + kept->len + kept->packed[GZIP].len +
	       kept->packed[ZSTD].len;
}

struct kept_bytes kept_plain(const struct kept *kept, uint64_t *hash)
{
	*hash = kept->hash;
	return (struct kept_bytes){kept->bytes + kept->target_len, kept->len};
}

static void drop(struct cache *cache, size_t place)
{
	struct kept *kept = cache->places[place];
	if (kept != NULL) {
		cache->bytes -= kept_size(kept);
		cache->places[place] = NULL;
		free(kept->packed[GZIP].bytes);
		free(kept->packed[ZSTD].bytes);
		free(kept);
	}
}

/* Empties places in turn until so many bytes more fit. */
static void empty_for(struct cache *cache, size_t size)
{
	for (size_t i = 0; i < PLACES && cache->bytes + size > cache->most; i++) {
		drop(cache, cache->hand);
		cache->hand = (cache->hand + 1) % PLACES;
	}
}

struct kept_bytes kept_packed(struct cache *cache, struct call *call)
{
	struct kept *kept = call->kept;
	struct packed *packed = &kept->packed[call->zstd ? ZSTD : GZIP];
	if (!packed->tried) {
		void *out = malloc(kept->len);
		size_t n = out != NULL ? answer_compress(call, kept->bytes + kept->target_len,
							 kept->len, out)
				       : 0;
		void *less = n > 0 ? realloc(out, n) : NULL;
		*packed = (struct packed){true, n == 0 ? NULL : less != NULL ? less : out, n};
		if (n == 0) {
			free(out);
		}
		cache->bytes += n;
	}
	return (struct kept_bytes){packed->bytes, packed->len};
}

void cache_free(struct cache *cache)
{
	for (size_t i = 0; cache != NULL && i < PLACES; i++) {
		drop(cache, i);
	}
	free(cache);
}

static struct kept **set_of(struct cache *cache, const char *target)
{
	return &cache->places[XXH3_64bits(target, strlen(target)) % (PLACES / WAYS) * WAYS];
}

/* The place of the set that has the target, or is empty: WAYS if there is none. */
static size_t way_of(struct kept *const *set, const char *target)
{
	size_t empty = WAYS;
	for (size_t i = 0; i < WAYS; i++) {
		if (set[i] != NULL && strcmp(set[i]->bytes, target) == 0) {
			return i;
		}
		empty = set[i] == NULL ? i : empty;
	}
	return empty;
}

static void put_first(struct kept **set, size_t way, struct kept *kept)
{
	memmove(set + 1, set, way * sizeof(struct kept *));
	set[0] = kept;
}

/* 0: not known. */
static uint64_t state_of(struct cache *cache, struct session *session)
{
	int64_t now = chi_now_ms();
	struct chi_info info;
	struct chi_fault fault;
	bool moved = !session_is_current(session) || session->moves != cache->moves;
	if (!moved && now - cache->asked_ms < ASK_MS) {
		return cache->known ? cache->state : 0;
	}
	cache->asked_ms = now;
	cache->known = session_ready(session, &fault) == CHI_OK &&
		       chi_store_info(session->client, &info) == CHI_OK;
	if (!cache->known) {
		return 0;
	}
	if (cache->state == 0 || info.sequence != cache->sequence || moved) {
		cache->state++;
		cache->sequence = info.sequence;
		cache->moves = session->moves;
	}
	return cache->state;
}

static bool may_keep(const struct call *call)
{
	const unsigned not = ROUTE_WRITE | ROUTE_LIVE | ROUTE_LOCAL;
	return call->route != NULL && (call->route->flags & not ) == 0 &&
	       (call->method == CHI_HTTP_GET || call->method == CHI_HTTP_HEAD) &&
	       call->body_len == 0 && call->target != NULL &&
	       call->loop->server->config->in_process;
}

bool cache_find(struct cache *cache, struct call *call)
{
	if (!may_keep(call) || cache->most == 0) {
		return false;
	}
	/* What was compressed since counts, too: not while an answer of the cache is put together.
	 */
	empty_for(cache, 0);
	call->state_seen = state_of(cache, &call->loop->session);
	struct kept **set = set_of(cache, call->target);
	size_t way = way_of(set, call->target);
	struct kept *kept = way < WAYS ? set[way] : NULL;
	if (call->state_seen == 0 || kept == NULL || kept->state != call->state_seen) {
		return false;
	}
	put_first(set, way, kept);
	call->type = kept->type;
	call->kept = kept;
	return true;
}

void cache_keep(struct cache *cache, const struct call *call)
{
	const struct chi_buffer *out = &call->out.buffer;
	if (!may_keep(call) || cache->most == 0 || call->state_seen == 0 || call->http != 200 ||
	    call->file != NULL || call->live || out->len > ONE_MOST) {
		return;
	}
	size_t target_len = strlen(call->target) + 1;
	size_t size = sizeof(struct kept) + target_len + out->len;
	if (size > cache->most) {
		return; /* else all others would go for it */
	}
	struct kept **set = set_of(cache, call->target);
	size_t way = way_of(set, call->target);
	way = way < WAYS ? way : WAYS - 1;
	drop(cache, (size_t)(set - cache->places) + way);
	empty_for(cache, size);
	struct kept *kept = cache->bytes + size <= cache->most ? malloc(size) : NULL;
	if (kept == NULL) {
		return;
	}
	*kept = (struct kept){.state = call->state_seen,
			      .hash = XXH3_64bits(chi_buffer_bytes(out), out->len),
			      .type = call->type,
			      .len = out->len,
			      .target_len = target_len};
	memcpy(kept->bytes, call->target, target_len);
	memcpy(kept->bytes + target_len, chi_buffer_bytes(out), out->len);
	put_first(set, way, kept);
	cache->bytes += size;
}
