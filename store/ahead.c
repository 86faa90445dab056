/* SPDX-License-Identifier: MIT */
/*
 * Look-ups ahead of their answers. An engine knows the position that it will ask for when it has
 * made a move, and asks some hundred instructions later: in between, memory can be waited for. Or
 * it knows all positions behind a node, of which it will want some: these are only written down,
 * and gone for in groups when they are wanted, so that they wait together.
 *
 * Nothing is held between calls: each that looks at pages takes a snapshot and ends it. A descent's
 * place on a page is good for as long as the snapshot that it was found in is the newest, since no
 * page of the newest state is ever written to. So a call whose snapshot has the same number goes on
 * with it, and one that finds another number forgets all places and begins those descents anew when
 * their answers are wanted.
 */
#include <stdlib.h>
#include <string.h>

#include "store/store_priv.h"

_Static_assert(CHI_AHEAD_MAX == 64, "a set of look-ups is a 64-bit number");

/* Look-ups that go in turns: of a list the first few, then more and more. Of those that a search
 * has asked for many are cut off and never collected, most of them early: they would be gone for in
 * vain. */
#define GROUP_FIRST 4
#define GROUP_MOST  16

/* Ticket t stands in place t % CHI_AHEAD_MAX of the arrays. */
struct chi_ahead {
	struct chi_store *store;
	uint64_t given;	  /* tickets so far */
	uint64_t waiting; /* places that are still to be looked up in the snapshot below... */
	uint64_t started; /* ...and of these, the ones whose lanes are half-way */
	uint64_t done;	  /* places whose lanes have found what there is */
	uint64_t txn;	  /* LMDB's number of the snapshot */
	uint64_t epoch;	  /* the environment's, when it was taken */
	unsigned group;	  /* how many go on together next */
	uint64_t tickets[CHI_AHEAD_MAX]; /* 0: none */
	struct chi_key keys[CHI_AHEAD_MAX];
	struct chi_lane lanes[CHI_AHEAD_MAX];
};

int chi_ahead_open(struct chi_store *store, struct chi_ahead **out)
{
	struct chi_ahead *ahead = calloc(1, sizeof(*ahead));
	if (ahead == NULL) {
		return -CHI_ENOMEM;
	}
	ahead->store = store;
	ahead->group = GROUP_FIRST;
	*out = ahead;
	return CHI_OK;
}

void chi_ahead_close(struct chi_ahead *ahead)
{
	free(ahead);
}

void chi_ahead_drop(struct chi_ahead *ahead)
{
	ahead->waiting = 0;
	ahead->started = 0;
	ahead->done = 0;
	for (size_t i = 0; i < CHI_AHEAD_MAX; i++) {
		ahead->tickets[i] = 0;
	}
}

/* A snapshot, and whether its tree can be descended. Places in another one are forgotten. */
static int begin(struct chi_ahead *ahead, struct chi_read **read, bool *descends)
{
	int rc = chi_read_begin(ahead->store, read);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	*descends = chi_read_can_descend(*read);
	const struct chi_env *env = (*read)->env;
	uint64_t txn = (*read)->descent.txn;
	if (CHI_UNLIKELY(ahead->txn != txn || ahead->epoch != env->epoch)) {
		ahead->waiting |= ahead->done;
		ahead->started = 0;
		ahead->done = 0;
		ahead->txn = txn;
		ahead->epoch = env->epoch;
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
	return UINT64_MAX >> (CHI_AHEAD_MAX - n) << place;
}

/* Takes the places of the next `n` tickets, which do not wrap around. */
static unsigned take_places(struct chi_ahead *ahead, const struct chi_key *keys, size_t n,
			    uint64_t *tickets)
{
	unsigned place = (unsigned)((ahead->given + 1) % CHI_AHEAD_MAX);
	uint64_t bits = bits_of(place, n);
	memcpy(&ahead->keys[place], keys, n * sizeof(*keys));
	for (size_t i = 0; i < n; i++) {
		tickets[i] = ++ahead->given;
		ahead->tickets[place + i] = tickets[i];
	}
	ahead->waiting |= bits;
	ahead->started &= ~bits;
	ahead->done &= ~bits;
	return place;
}

/* Goes as far as it can without waiting for much. */
static int start(struct chi_ahead *ahead, unsigned place)
{
	struct chi_read *read;
	bool descends;
	int rc = begin(ahead, &read, &descends);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	if (CHI_LIKELY(descends)) {
		chi_lane_start(&read->descent, &ahead->keys[place], &ahead->lanes[place]);
		ahead->started |= bits_of(place, 1);
	}
	chi_read_end(read);
	return CHI_OK;
}

int chi_ahead_ask(struct chi_ahead *ahead, const struct chi_key *keys, size_t n, uint64_t *tickets)
{
	uint64_t last = bits_of(ahead->given % CHI_AHEAD_MAX, 1);
	/* Behind another that waits, it waits with it. */
	bool alone = n == 1 && (ahead->waiting & last) == 0;
	for (size_t i = 0; i < n; i++) {
		tickets[i] = 0;
	}
	if (CHI_UNLIKELY(!keys_fit(keys, n))) {
		return -CHI_EKEY;
	}
	if (n > 1) {
		ahead->group = GROUP_FIRST;
	}
	n = n < CHI_AHEAD_MAX ? n : CHI_AHEAD_MAX;
	unsigned place = 0;
	while (n > 0) {
		size_t room = CHI_AHEAD_MAX - (ahead->given + 1) % CHI_AHEAD_MAX;
		size_t run = n < room ? n : room;
		place = take_places(ahead, keys, run, tickets);
		keys += run;
		tickets += run;
		n -= run;
	}
	int rc = alone ? start(ahead, place) : CHI_OK;
	if (CHI_UNLIKELY(rc < 0)) {
		tickets[-1] = 0;
	}
	return rc;
}

/* Looks up what is asked for in `place`, and with it what was asked for next, which is likely to be
 * wanted next. */
static void search(struct chi_ahead *ahead, const struct chi_descent *descent, unsigned place)
{
	unsigned n = 1;
	if ((ahead->started & bits_of(place, 1)) != 0) {
		chi_lane_go_on(descent, &ahead->lanes[place]);
	} else {
		uint64_t others = ~((ahead->waiting & ~ahead->started) >> place);
		n = others != 0 ? (unsigned)__builtin_ctzll(others) : CHI_AHEAD_MAX;
		n = n < ahead->group ? n : ahead->group;
		ahead->group = ahead->group < GROUP_MOST ? 2 * ahead->group : GROUP_MOST;
		chi_lane_search(descent, &ahead->keys[place], n, &ahead->lanes[place]);
	}
	ahead->done |= bits_of(place, n);
	ahead->waiting &= ~bits_of(place, n);
	ahead->started &= ~bits_of(place, n);
}

/* The look-up's record in the map; CHI_NONE if there is none. */
static int find(struct chi_ahead *ahead, struct chi_read *read, unsigned place,
		struct chi_found *found)
{
	if ((ahead->done & bits_of(place, 1)) == 0) {
		search(ahead, &read->descent, place);
	}
	chi_lane_finish(&read->descent, &ahead->lanes[place], found);
	if (CHI_UNLIKELY(found->finding == CHI_FINDING_UNSURE)) {
		return chi_read_get(read, &ahead->keys[place], found);
	}
	return found->finding == CHI_FINDING_THERE ? CHI_OK : CHI_NONE;
}

int chi_ahead_take(struct chi_ahead *ahead, uint64_t ticket, struct chi_strength *out)
{
	struct chi_read *read;
	bool descends;
	unsigned place = ticket % CHI_AHEAD_MAX;
	const struct chi_key *key = &ahead->keys[place];
	*out = (struct chi_strength){0};
	if (ticket == 0 || ahead->tickets[place] != ticket) {
		return CHI_NONE;
	}
	int rc = begin(ahead, &read, &descends);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	struct chi_found found;
	rc = CHI_LIKELY(descends) ? find(ahead, read, place, &found)
				  : chi_read_get(read, key, &found);
	if (CHI_LIKELY(rc == CHI_OK)) {
		rc = chi_record_glance(found.key, key->len, found.value, found.len, out);
	} else if (rc == CHI_NONE) {
		rc = CHI_OK;
	}
	chi_read_end(read);
	ahead->tickets[place] = 0;
	ahead->waiting &= ~bits_of(place, 1);
	ahead->started &= ~bits_of(place, 1);
	ahead->done &= ~bits_of(place, 1);
	return rc;
}
