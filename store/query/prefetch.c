/* SPDX-License-Identifier: MIT */
/*
 * Look-ups ahead of their answers. An engine knows the position that it will ask for when it has
 * made a move, and asks some hundred instructions later: in between, memory can be waited for. Or
 * it knows all positions after a node, of which it will want some: these are only written down,
 * and gone for in groups when they are wanted, so that they wait together.
 *
 * Nothing is held between calls: each that looks at pages takes a snapshot and ends it. A descent's
 * place on a page is valid while the snapshot that it was found in is the newest, since no
 * page of the newest state is ever written to. So a call whose snapshot has the same number goes on
 * with it, and one that finds another number forgets all places and begins those descents again
 * when their answers are wanted.
 */
#include <stdlib.h>
#include <string.h>

#include "store/env/env.h"
#include "store/env/snapshot.h"
#include "store/pages/descent.h"
#include "store/query/read.h"
#include "store/record/codec.h"
#include "store/store.h"

_Static_assert(CHI_PREFETCH_MAX == 64, "a set of look-ups is a 64-bit number");

/* Look-ups that go in turns: of a list the first few, then more and more. Of those that a search
 * has asked for many are cut off and never collected, most of them early: they would be gone for in
 * vain. */
#define GROUP_FIRST 4
#define GROUP_MOST  16

/* Ticket t is in place t % CHI_PREFETCH_MAX of the arrays. */
struct chi_prefetch {
	struct chi_dir *store;
	uint64_t given;	  /* tickets so far */
	uint64_t waiting; /* places that are still to be looked up in the snapshot below... */
	uint64_t started; /* ...and of these, the ones whose lanes are half-way */
	uint64_t done;	  /* places whose lanes have found what there is */
	uint64_t txn;	  /* LMDB's number of the snapshot */
	uint64_t epoch;	  /* the environment's, when it was taken */
	unsigned group;	  /* how many go on together next */
	uint64_t tickets[CHI_PREFETCH_MAX]; /* 0: none */
	struct chi_key keys[CHI_PREFETCH_MAX];
	struct chi_lane lanes[CHI_PREFETCH_MAX];
};

int chi_prefetch_open(struct chi_dir *store, struct chi_prefetch **out)
{
	struct chi_prefetch *prefetch = calloc(1, sizeof(*prefetch));
	if (prefetch == NULL) {
		return -CHI_ENOMEM;
	}
	prefetch->store = store;
	prefetch->group = GROUP_FIRST;
	*out = prefetch;
	return CHI_OK;
}

void chi_prefetch_close(struct chi_prefetch *prefetch)
{
	free(prefetch);
}

void chi_prefetch_drop(struct chi_prefetch *prefetch)
{
	prefetch->waiting = 0;
	prefetch->started = 0;
	prefetch->done = 0;
	for (size_t i = 0; i < CHI_PREFETCH_MAX; i++) {
		prefetch->tickets[i] = 0;
	}
}

/* No place is kept, so that numbers of snapshots need not differ between the two. */
void chi_prefetch_move(struct chi_prefetch *prefetch, struct chi_dir *store)
{
	chi_prefetch_drop(prefetch);
	prefetch->store = store;
}

/* A snapshot, and whether its tree can be descended. Places in another one are forgotten. */
static int begin_snapshot(struct chi_prefetch *prefetch, struct chi_read **read, bool *descends)
{
	int rc = chi_read_begin(prefetch->store, read);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	*descends = chi_read_can_descend(*read, 1);
	const struct chi_env *env = (*read)->env;
	uint64_t txn = (*read)->descent.txn;
	if (CHI_UNLIKELY(prefetch->txn != txn || prefetch->epoch != env->epoch)) {
		prefetch->waiting |= prefetch->done;
		prefetch->started = 0;
		prefetch->done = 0;
		prefetch->txn = txn;
		prefetch->epoch = env->epoch;
	}
	return CHI_OK;
}

static bool keys_fit(const struct chi_key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (CHI_UNLIKELY(keys[i].len < CHI_KEY_MIN || keys[i].len > CHI_KEY_MAX)) {
			return false;
		}
	}
	return true;
}

/* `n` bits from `place` on, 1 or more, which do not wrap around. */
static uint64_t bits_of(unsigned place, size_t n)
{
	return UINT64_MAX >> (CHI_PREFETCH_MAX - n) << place;
}

/* Takes the places of the next `n` tickets, which do not wrap around. */
static unsigned take_places(struct chi_prefetch *prefetch, const struct chi_key *keys, size_t n,
			    uint64_t *tickets)
{
	unsigned place = (unsigned)((prefetch->given + 1) % CHI_PREFETCH_MAX);
	uint64_t bits = bits_of(place, n);
	memcpy(&prefetch->keys[place], keys, n * sizeof(*keys));
	for (size_t i = 0; i < n; i++) {
		tickets[i] = ++prefetch->given;
		prefetch->tickets[place + i] = tickets[i];
	}
	prefetch->waiting |= bits;
	prefetch->started &= ~bits;
	prefetch->done &= ~bits;
	return place;
}

/* Goes as far as it can without waiting for much. */
static int start_lane(struct chi_prefetch *prefetch, unsigned place)
{
	struct chi_read *read;
	bool descends;
	int rc = begin_snapshot(prefetch, &read, &descends);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	if (CHI_LIKELY(descends)) {
		chi_lane_start(&read->descent, &prefetch->keys[place], &prefetch->lanes[place]);
		prefetch->started |= bits_of(place, 1);
	}
	chi_read_end(read);
	return CHI_OK;
}

int chi_prefetch_ask(struct chi_prefetch *prefetch, const struct chi_key *keys, size_t n,
		     uint64_t *tickets)
{
	uint64_t last = bits_of(prefetch->given % CHI_PREFETCH_MAX, 1);
	/* If another waits already, it waits with that one. */
	bool alone = n == 1 && (prefetch->waiting & last) == 0;
	for (size_t i = 0; i < n; i++) {
		tickets[i] = 0;
	}
	if (CHI_UNLIKELY(!keys_fit(keys, n))) {
		return -CHI_EKEY;
	}
	if (n > 1) {
		prefetch->group = GROUP_FIRST;
	}
	n = n < CHI_PREFETCH_MAX ? n : CHI_PREFETCH_MAX;
	unsigned place = 0;
	while (n > 0) {
		size_t room = CHI_PREFETCH_MAX - (prefetch->given + 1) % CHI_PREFETCH_MAX;
		size_t run = n < room ? n : room;
		place = take_places(prefetch, keys, run, tickets);
		keys += run;
		tickets += run;
		n -= run;
	}
	int rc = alone ? start_lane(prefetch, place) : CHI_OK;
	if (CHI_UNLIKELY(rc < 0)) {
		tickets[-1] = 0;
	}
	return rc;
}

/* Looks up what is asked for in `place`, and with it what was asked for next, which is likely to be
 * wanted next. */
static void search_lane(struct chi_prefetch *prefetch, struct chi_descent *descent, unsigned place)
{
	unsigned n = 1;
	if ((prefetch->started & bits_of(place, 1)) != 0) {
		chi_lane_go_on(descent, &prefetch->lanes[place]);
	} else {
		uint64_t others = ~((prefetch->waiting & ~prefetch->started) >> place);
		n = others != 0 ? (unsigned)__builtin_ctzll(others) : CHI_PREFETCH_MAX;
		n = n < prefetch->group ? n : prefetch->group;
		prefetch->group = prefetch->group < GROUP_MOST ? 2 * prefetch->group : GROUP_MOST;
		chi_lane_search(descent, &prefetch->keys[place], n, &prefetch->lanes[place]);
	}
	prefetch->done |= bits_of(place, n);
	prefetch->waiting &= ~bits_of(place, n);
	prefetch->started &= ~bits_of(place, n);
}

/* The look-up's record in the map; CHI_NONE if there is none. */
static int find_lane(struct chi_prefetch *prefetch, struct chi_read *read, unsigned place,
		     struct chi_found *found)
{
	if ((prefetch->done & bits_of(place, 1)) == 0) {
		search_lane(prefetch, &read->descent, place);
	}
	chi_lane_finish(&read->descent, &prefetch->lanes[place], found);
	return chi_read_settle(read, &prefetch->keys[place], found);
}

int chi_prefetch_take(struct chi_prefetch *prefetch, uint64_t ticket, struct chi_row *out)
{
	struct chi_read *read;
	bool descends;
	unsigned place = ticket % CHI_PREFETCH_MAX;
	const struct chi_key *key = &prefetch->keys[place];
	*out = (struct chi_row){0};
	if (ticket == 0 || prefetch->tickets[place] != ticket) {
		return CHI_NONE;
	}
	out->key = *key;
	int rc = begin_snapshot(prefetch, &read, &descends);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	struct chi_found found;
	rc = CHI_LIKELY(descends) ? find_lane(prefetch, read, place, &found)
				  : chi_read_get(read, key, &found);
	if (CHI_LIKELY(rc == CHI_OK)) {
		rc = chi_record_decode_strength(found.value, found.len, NULL, out);
	} else if (rc == CHI_NONE) {
		rc = CHI_OK;
	}
	chi_read_end(read);
	prefetch->tickets[place] = 0;
	prefetch->waiting &= ~bits_of(place, 1);
	prefetch->started &= ~bits_of(place, 1);
	prefetch->done &= ~bits_of(place, 1);
	return rc;
}
