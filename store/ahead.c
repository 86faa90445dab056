/* SPDX-License-Identifier: MIT */
/*
 * Look-ups ahead of their answers. An engine knows the position that it will ask for when it has
 * made a move, and asks some hundred instructions later: in between, memory can be waited for.
 *
 * Nothing is held between calls: each takes a snapshot and ends it. A descent's place on a page
 * is good for as long as the snapshot that it was found in is the newest, since no page of the
 * newest state is ever written to. So a call whose snapshot has the same number goes on with it,
 * and one that finds another number forgets all places and begins those descents anew when their
 * answers are wanted.
 */
#include <stdlib.h>

#include "store/store_priv.h"

_Static_assert(CHI_AHEAD_MAX == 64, "a set of look-ups is a 64-bit number");

/* Look-ups that go the rest of the way in turns. Of those that a search has begun many are cut off
 * and never collected: more would be gone for in vain. */
#define GROUP 16

struct asked {
	struct chi_lane lane;
	struct chi_key key;
	uint64_t ticket; /* 0: none */
};

struct chi_ahead {
	struct chi_store *store;
	uint64_t tickets; /* given out so far; ticket t stands in place t % CHI_AHEAD_MAX */
	uint64_t begun;	  /* places whose lane stands in the snapshot below... */
	uint64_t going;	  /* ...and of these, the ones that still wait half-way */
	uint64_t txn;	  /* LMDB's number of the snapshot */
	uint64_t epoch;	  /* the environment's, when it was taken */
	struct asked asked[CHI_AHEAD_MAX];
};

int chi_ahead_open(struct chi_store *store, struct chi_ahead **out)
{
	struct chi_ahead *ahead = calloc(1, sizeof(*ahead));
	if (ahead == NULL) {
		return -CHI_ENOMEM;
	}
	ahead->store = store;
	*out = ahead;
	return CHI_OK;
}

void chi_ahead_close(struct chi_ahead *ahead)
{
	free(ahead);
}

void chi_ahead_drop(struct chi_ahead *ahead)
{
	ahead->begun = 0;
	ahead->going = 0;
	for (size_t i = 0; i < CHI_AHEAD_MAX; i++) {
		ahead->asked[i].ticket = 0;
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
		ahead->begun = 0;
		ahead->going = 0;
		ahead->txn = txn;
		ahead->epoch = env->epoch;
	}
	return CHI_OK;
}

int chi_ahead_ask(struct chi_ahead *ahead, const struct chi_key *key, uint64_t *ticket)
{
	struct chi_read *read;
	bool descends;
	*ticket = 0;
	if (CHI_UNLIKELY(key->len < CHI_KEY_MIN || key->len > CHI_KEY_MAX)) {
		return -CHI_EKEY;
	}
	int rc = begin(ahead, &read, &descends);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	*ticket = ++ahead->tickets;
	unsigned place = *ticket % CHI_AHEAD_MAX;
	uint64_t bit = UINT64_C(1) << place;
	struct asked *asked = &ahead->asked[place];
	asked->key = *key;
	asked->ticket = *ticket;
	ahead->begun &= ~bit;
	ahead->going &= ~bit;
	if (CHI_LIKELY(descends)) {
		chi_lane_start(&read->descent, &asked->key, &asked->lane);
		ahead->begun |= bit;
		ahead->going |= bit;
	}
	chi_read_end(read);
	return CHI_OK;
}

/* Goes the rest of the way for `place`, and with it for the look-ups begun next, which are likely
 * to be wanted next. */
static void search(struct chi_ahead *ahead, const struct chi_descent *descent, unsigned place)
{
	struct chi_lane lanes[GROUP];
	uint8_t places[GROUP];
	size_t n = 0;
	/* The bits from `place` on, wrapped around, come to the lower end. */
	uint64_t going = ahead->going >> place | ahead->going << (-place % CHI_AHEAD_MAX);
	for (; going != 0 && n < GROUP; going &= going - 1, n++) {
		places[n] = (uint8_t)((place + (unsigned)__builtin_ctzll(going)) % CHI_AHEAD_MAX);
		lanes[n] = ahead->asked[places[n]].lane;
	}
	chi_lane_search(descent, lanes, n);
	for (size_t i = 0; i < n; i++) {
		ahead->asked[places[i]].lane = lanes[i];
		ahead->going &= ~(UINT64_C(1) << places[i]);
	}
}

/* The look-up's record in the map; CHI_NONE if there is none. */
static int find(struct chi_ahead *ahead, struct chi_read *read, unsigned place,
		struct chi_found *found)
{
	uint64_t bit = UINT64_C(1) << place;
	struct asked *asked = &ahead->asked[place];
	if (CHI_UNLIKELY((ahead->begun & bit) == 0)) {
		chi_lane_start(&read->descent, &asked->key, &asked->lane);
		ahead->going |= bit;
	}
	if ((ahead->going & bit) != 0) {
		search(ahead, &read->descent, place);
	}
	chi_lane_finish(&read->descent, &asked->lane, found);
	if (CHI_UNLIKELY(found->finding == CHI_FINDING_UNSURE)) {
		return chi_read_get(read, &asked->key, found);
	}
	return found->finding == CHI_FINDING_THERE ? CHI_OK : CHI_NONE;
}

int chi_ahead_take(struct chi_ahead *ahead, uint64_t ticket, struct chi_strength *out)
{
	struct chi_read *read;
	bool descends;
	unsigned place = ticket % CHI_AHEAD_MAX;
	uint64_t bit = UINT64_C(1) << place;
	struct asked *asked = &ahead->asked[place];
	*out = (struct chi_strength){0};
	if (ticket == 0 || asked->ticket != ticket) {
		return CHI_NONE;
	}
	int rc = begin(ahead, &read, &descends);
	if (CHI_UNLIKELY(rc != CHI_OK)) {
		return rc;
	}
	struct chi_found found;
	rc = CHI_LIKELY(descends) ? find(ahead, read, place, &found)
				  : chi_read_get(read, &asked->key, &found);
	if (CHI_LIKELY(rc == CHI_OK)) {
		rc = chi_record_glance(found.key, asked->key.len, found.value, found.len, out);
	} else if (rc == CHI_NONE) {
		rc = CHI_OK;
	}
	chi_read_end(read);
	asked->ticket = 0;
	ahead->begun &= ~bit;
	ahead->going &= ~bit;
	return rc;
}
