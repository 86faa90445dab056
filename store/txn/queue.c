/* SPDX-License-Identifier: MIT */
/*
 * Changes of the queue in a write transaction. An entry and its place are always changed together,
 * and the totals with them, all in a way that chi_write_rollback takes back.
 *
 * Nothing runs when a lease ends: taking positions begins with giving back what has expired, or
 * ends later than a lease can.
 */
#include "store/queue.h"

#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/num.h"
#include "store/env/env.h"
#include "store/lmdb_err.h"
#include "store/queue/queue.h"
#include "store/txn/txn.h"

/* Leases that one call takes back at most: the rest is the next one's. */
#define SWEEP_MAX 10000

/* A change under way. */
struct change {
	struct chi_write *write;
	MDB_txn *txn;
	MDB_dbi tree;
	struct chi_queue_totals totals;
	struct chi_queue_totals before; /* as they are stored */
};

/* ---- Checks -------------------------------------------------------------------------------- */

uint64_t chi_queue_clock(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int chi_queue_batch_check(size_t n, struct chi_fault *fault)
{
	return n <= CHI_QUEUE_BATCH_MAX
		       ? CHI_OK
		       : chi_fail(fault, -CHI_ETOOBIG,
				  "%zu positions for the queue, at most %d are allowed", n,
				  CHI_QUEUE_BATCH_MAX);
}

static int check_lease(uint32_t lease_ms, struct chi_fault *fault)
{
	return lease_ms >= 1 && lease_ms <= CHI_QUEUE_LEASE_MAX
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EINVAL, "a lease of %u ms, it must be 1 ms to 7 days",
				  lease_ms);
}

static bool holder_good(const char *holder)
{
	size_t len = holder != NULL ? strnlen(holder, CHI_QUEUE_HOLDER_MAX + 1) : 0;
	bool good = len >= 1 && len <= CHI_QUEUE_HOLDER_MAX && chi_utf8_valid(holder, len);
	for (size_t i = 0; good && i < len; i++) {
		good = (unsigned char)holder[i] >= ' ' && holder[i] != 0x7f;
	}
	return good;
}

int chi_queue_take_check(const struct chi_queue_take_spec *take, struct chi_fault *fault)
{
	if (!holder_good(take->holder)) {
		return chi_fail(fault, -CHI_EINVAL,
				"a holder needs a name of 1 to %d bytes without control "
				"characters",
				CHI_QUEUE_HOLDER_MAX);
	}
	if (take->keys == NULL && (take->limit < 1 || take->limit > CHI_QUEUE_BATCH_MAX)) {
		return chi_fail(fault, -CHI_EINVAL, "%u positions to take, it must be 1 to %d",
				take->limit, CHI_QUEUE_BATCH_MAX);
	}
	int rc = take->keys != NULL ? chi_queue_batch_check(take->n_keys, fault) : CHI_OK;
	return rc == CHI_OK ? check_lease(take->lease_ms, fault) : rc;
}

int chi_queue_settle_check(unsigned action, size_t n, uint32_t lease_ms, struct chi_fault *fault)
{
	if (action < CHI_QUEUE_DONE || action > CHI_QUEUE_DROP) {
		return chi_fail(fault, -CHI_EINVAL, "the action is unknown");
	}
	int rc = chi_queue_batch_check(n, fault);
	return rc == CHI_OK && action == CHI_QUEUE_EXTEND ? check_lease(lease_ms, fault) : rc;
}

/* ---- One entry ----------------------------------------------------------------------------- */

static uint64_t *count_of(struct change *change, uint8_t state)
{
	struct chi_queue_counts *counts = &change->totals.counts;
	return state == CHI_QUEUE_WAITING  ? &counts->waiting
	       : state == CHI_QUEUE_LEASED ? &counts->leased
					   : &counts->failed;
}

static int set(struct change *change, struct chi_queue_bytes *key, const uint8_t *bytes, size_t len)
{
	MDB_val name = {key->len, key->bytes};
	MDB_val value = chi_val(bytes, len);
	change->write->changed = true;
	return chi_write_set(change->write, change->tree, &name, &value);
}

/* That there is none is damage: an entry says so. */
static int unset(struct change *change, struct chi_queue_bytes *key)
{
	MDB_val name = {key->len, key->bytes};
	change->write->changed = true;
	int rc = chi_write_unset(change->write, change->tree, &name);
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

static int enter(struct change *change, const struct chi_queue_row *row)
{
	uint8_t value[CHI_QUEUE_VALUE_MAX];
	struct chi_queue_bytes name = chi_queued_entry_key(&row->key);
	struct chi_queue_bytes place = chi_queued_place(row);
	size_t len = chi_queued_encode(row, value);
	int rc = set(change, &name, value, len);
	rc = rc == CHI_OK ? set(change, &place, value, 0) : rc;
	*count_of(change, row->state) += rc == CHI_OK;
	return rc;
}

/* Its place alone, as the entry is to be written again. */
static int leave(struct change *change, const struct chi_queue_row *row)
{
	struct chi_queue_bytes place = chi_queued_place(row);
	uint64_t *count = count_of(change, row->state);
	if (*count == 0) {
		return -CHI_ECORRUPT;
	}
	*count -= 1;
	return unset(change, &place);
}

static int take_out(struct change *change, const struct chi_queue_row *row)
{
	struct chi_queue_bytes name = chi_queued_entry_key(&row->key);
	int rc = leave(change, row);
	return rc == CHI_OK ? unset(change, &name) : rc;
}

static int move(struct change *change, const struct chi_queue_row *from,
		const struct chi_queue_row *to)
{
	int rc = leave(change, from);
	return rc == CHI_OK ? enter(change, to) : rc;
}

static int get_row(struct change *change, const struct chi_key *key, struct chi_queue_row *out)
{
	chi_arena_reset(&change->write->arena);
	return chi_queued_get(change->txn, change->tree, key, &change->write->arena, out);
}

/* ---- The whole ----------------------------------------------------------------------------- */

static int begin_change(struct chi_write *write, struct change *out)
{
	int rc = chi_write_ready(write);
	*out = (struct change){0};
	if (rc < 0) {
		return rc;
	}
	*out = (struct change){.write = write, .txn = write->txn, .tree = write->env->queue};
	rc = chi_queued_totals_get(out->txn, out->tree, &out->totals);
	out->before = out->totals;
	return chi_write_stick(write, rc);
}

static int end_change(struct change *change, int rc)
{
	uint8_t value[CHI_QUEUE_TOTALS_SIZE];
	struct chi_queue_bytes key = {.len = 1, .bytes = {CHI_QUEUE_OF_TOTALS}};
	if (rc == CHI_OK && memcmp(&change->before, &change->totals, sizeof(change->before)) != 0) {
		chi_queued_totals_encode(&change->totals, value);
		rc = set(change, &key, value, sizeof(value));
	}
	return chi_write_stick(change->write, rc);
}

/* ---- Adding -------------------------------------------------------------------------------- */

static bool is_full(const struct change *change)
{
	const struct chi_queue_counts *counts = &change->totals.counts;
	return counts->waiting + counts->leased + counts->failed >= CHI_QUEUE_MAX;
}

static int raise(struct change *change, const struct chi_queue_row *row, uint32_t priority,
		 uint64_t now)
{
	struct chi_queue_row raised = *row;
	uint32_t more = row->priority < UINT32_MAX ? row->priority + 1 : UINT32_MAX;
	raised.priority = row->claimed || more < priority ? priority : more;
	raised.asked = row->claimed ? now : row->asked;
	raised.claimed = false;
	if (row->state == CHI_QUEUE_FAILED) {
		raised.state = CHI_QUEUE_WAITING;
		raised.tries = 0;
	}
	return move(change, row, &raised);
}

static int add_position(struct change *change, const struct chi_key *key, uint32_t priority,
			uint64_t now, struct chi_queue_added *result)
{
	struct chi_queue_row row;
	int rc = get_row(change, key, &row);
	if (rc == CHI_OK) {
		result->raised++;
		return raise(change, &row, priority, now);
	}
	if (rc < 0 || is_full(change)) {
		result->refused += rc == CHI_NONE;
		return rc < 0 ? rc : CHI_OK;
	}
	row = (struct chi_queue_row){.key = *key,
				     .state = CHI_QUEUE_WAITING,
				     .priority = priority,
				     .asked = now,
				     .number = change->totals.next++};
	result->added++;
	return enter(change, &row);
}

int chi_write_queue_add(struct chi_write *write, const struct chi_key *keys, size_t n,
			uint32_t priority, uint64_t now, struct chi_queue_added *result)
{
	struct change change;
	int rc = begin_change(write, &change);
	if (rc < 0) {
		return rc;
	}
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		rc = add_position(&change, &keys[i], priority, now, result);
	}
	return end_change(&change, rc);
}

/* ---- Giving back --------------------------------------------------------------------------- */

static int give_back(struct change *change, const struct chi_queue_row *row, bool tried)
{
	struct chi_queue_row back = *row;
	back.state = row->tries < CHI_QUEUE_TRIES || !tried ? CHI_QUEUE_WAITING : CHI_QUEUE_FAILED;
	back.tries -= tried || row->tries == 0 ? 0 : 1;
	back.lease = 0;
	back.expires = 0;
	back.holder = NULL;
	return move(change, row, &back);
}

/* One that was tried in vain by who brought it. */
static int give_up_position(struct change *change, const struct chi_queue_row *row)
{
	struct chi_queue_row back = *row;
	back.state = CHI_QUEUE_FAILED;
	back.claimed = false;
	back.lease = 0;
	back.expires = 0;
	back.holder = NULL;
	return move(change, row, &back);
}

static int expire(struct change *change, const struct chi_queue_row *row)
{
	return row->claimed ? take_out(change, row) : give_back(change, row, true);
}

/* Gives back the leases after `before` that end by `until`. */
static int sweep_range(struct change *change, const struct chi_queue_bytes *before, uint64_t until)
{
	struct chi_queue_row row;
	for (int i = 0; i < SWEEP_MAX; i++) {
		struct chi_queue_bytes place;
		chi_arena_reset(&change->write->arena);
		int rc = chi_queued_next(change->txn, change->tree, before, 1, &place);
		rc = rc == CHI_OK ? chi_queued_row_at(change->txn, change->tree, &place,
						      &change->write->arena, &row)
				  : rc;
		if (rc != CHI_OK || row.expires > until) {
			return rc < 0 ? rc : CHI_OK;
		}
		rc = expire(change, &row);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	return CHI_OK;
}

/* A lease that ends later than the longest taken now would was taken under a wrong clock. */
static int sweep(struct change *change, uint64_t now)
{
	const struct chi_queue_bytes first = chi_queued_before(CHI_QUEUE_LEASED);
	const struct chi_queue_bytes beyond =
		chi_queued_before_lease(now + CHI_QUEUE_LEASE_MAX + 1, 0);
	int rc = sweep_range(change, &first, now);
	return rc == CHI_OK ? sweep_range(change, &beyond, UINT64_MAX) : rc;
}

/* ---- Taking -------------------------------------------------------------------------------- */

struct taking {
	const struct chi_queue_take_spec *take;
	uint64_t now;
	struct chi_arena *arena;
	struct chi_queue_row *rows;
	size_t room; /* for so many of them */
	struct chi_queue_lease *out;
};

static int lease_one(struct change *change, struct taking *taking, const struct chi_queue_row *row)
{
	struct chi_queue_lease *out = taking->out;
	struct chi_queue_row *leased = &taking->rows[out->n];
	*leased = *row;
	leased->state = CHI_QUEUE_LEASED;
	leased->tries += row->tries < UINT32_MAX;
	leased->lease = out->lease;
	leased->expires = out->expires;
	leased->holder = taking->take->holder;
	int rc = row->state == CHI_QUEUE_WAITING ? leave(change, row) : CHI_OK;
	rc = rc == CHI_OK ? enter(change, leased) : rc;
	leased->holder =
		chi_arena_text(taking->arena, leased->holder, strlen(taking->take->holder));
	out->n += rc == CHI_OK;
	return rc == CHI_OK && leased->holder == NULL ? -CHI_ENOMEM : rc;
}

static int take_next(struct change *change, struct taking *taking)
{
	int rc = CHI_OK;
	while (rc == CHI_OK && taking->out->n < taking->room) {
		const struct chi_queue_bytes before = chi_queued_before(CHI_QUEUE_WAITING);
		struct chi_queue_bytes place;
		struct chi_queue_row row;
		chi_arena_reset(&change->write->arena);
		rc = chi_queued_next(change->txn, change->tree, &before, 1, &place);
		rc = rc == CHI_OK ? chi_queued_row_at(change->txn, change->tree, &place,
						      &change->write->arena, &row)
				  : rc;
		rc = rc == CHI_OK ? lease_one(change, taking, &row) : rc;
	}
	return rc < 0 ? rc : CHI_OK;
}

/* The i-th of those named, if it is free. */
static int claim(struct change *change, struct taking *taking, size_t i)
{
	struct chi_queue_row row;
	int rc = get_row(change, &taking->take->keys[i], &row);
	if (rc < 0 || (rc == CHI_OK && row.state != CHI_QUEUE_WAITING) ||
	    (rc == CHI_NONE && is_full(change))) {
		return rc < 0 ? rc : CHI_OK;
	}
	if (rc == CHI_NONE) {
		row = (struct chi_queue_row){.key = taking->take->keys[i],
					     .claimed = true,
					     .asked = taking->now,
					     .number = change->totals.next++};
	}
	return lease_one(change, taking, &row);
}

/* One who finds nothing asks again and again: rows for what there is are enough. */
static size_t least(size_t wanted, uint64_t there)
{
	return wanted < there ? wanted : (size_t)there;
}

static int take_all(struct change *change, struct taking *taking)
{
	const struct chi_queue_take_spec *take = taking->take;
	struct chi_queue_lease *out = taking->out;
	taking->room = take->keys != NULL ? take->n_keys
					  : least(take->limit, change->totals.counts.waiting);
	taking->rows = chi_arena_array(taking->arena, taking->room, sizeof(*taking->rows));
	if (taking->rows == NULL) {
		return -CHI_ENOMEM;
	}
	out->rows = taking->rows;
	int rc = take->keys == NULL ? take_next(change, taking) : CHI_OK;
	for (size_t i = 0; rc == CHI_OK && take->keys != NULL && i < take->n_keys; i++) {
		rc = claim(change, taking, i);
	}
	return rc;
}

int chi_write_queue_take(struct chi_write *write, const struct chi_queue_take_spec *take,
			 uint64_t now, struct chi_arena *arena, struct chi_queue_lease *out)
{
	struct change change;
	int rc = begin_change(write, &change);
	if (rc < 0) {
		return rc;
	}
	*out = (struct chi_queue_lease){.lease = change.totals.next,
					.expires = now + take->lease_ms};
	struct taking taking = {.take = take, .now = now, .arena = arena, .out = out};
	rc = sweep(&change, now);
	change.totals.next++;
	rc = rc == CHI_OK ? take_all(&change, &taking) : rc;
	if (rc == CHI_OK && out->n == 0) {
		/* Nothing has its number. */
		change.totals.next--;
		*out = (struct chi_queue_lease){0};
	}
	return end_change(&change, rc);
}

int chi_write_queue_held(struct chi_write *write, uint64_t lease, uint64_t expires,
			 struct chi_arena *arena, struct chi_queue_lease *out)
{
	struct chi_queue_bytes place = chi_queued_before_lease(expires, lease);
	struct change change;
	int rc = begin_change(write, &change);
	*out = (struct chi_queue_lease){.lease = lease, .expires = expires};
	size_t room = least(CHI_QUEUE_BATCH_MAX, change.totals.counts.leased);
	struct chi_queue_row *rows = chi_arena_array(arena, room, sizeof(*rows));
	if (rc < 0 || rows == NULL || lease == 0) {
		return rc < 0 ? rc : rows == NULL ? -CHI_ENOMEM : CHI_OK;
	}
	while (rc == CHI_OK && out->n < room) {
		rc = chi_queued_next(change.txn, change.tree, &place, CHI_QUEUE_LEASE_PREFIX,
				     &place);
		rc = rc == CHI_OK ? chi_queued_row_at(change.txn, change.tree, &place, arena,
						      &rows[out->n])
				  : rc;
		out->n += rc == CHI_OK;
	}
	out->rows = rows;
	return rc < 0 ? rc : CHI_OK;
}

/* ---- Settling ------------------------------------------------------------------------------ */

static int settle_position(struct change *change, const struct chi_queue_row *row,
			   enum chi_queue_action action, uint64_t until)
{
	struct chi_queue_row longer = *row;
	switch (action) {
	case CHI_QUEUE_DONE:
		return take_out(change, row);
	case CHI_QUEUE_EXTEND:
		longer.expires = until;
		return move(change, row, &longer);
	case CHI_QUEUE_FAIL:
		return row->claimed ? give_up_position(change, row) : give_back(change, row, true);
	default:
		return row->claimed ? take_out(change, row) : give_back(change, row, false);
	}
}

int chi_write_queue_settle(struct chi_write *write, uint64_t lease, enum chi_queue_action action,
			   const struct chi_key *keys, size_t n, uint64_t until, uint64_t *done)
{
	struct change change;
	struct chi_queue_row row;
	int rc = begin_change(write, &change);
	if (rc < 0) {
		return rc;
	}
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		rc = get_row(&change, &keys[i], &row);
		if (rc == CHI_OK && row.state == CHI_QUEUE_LEASED && row.lease == lease) {
			rc = settle_position(&change, &row, action, until);
			*done += rc == CHI_OK;
		}
	}
	return end_change(&change, rc < 0 ? rc : CHI_OK);
}

/* ---- Dropping ------------------------------------------------------------------------------ */

/* The first entry there is. */
static int first(struct change *change, struct chi_queue_row *out)
{
	const struct chi_queue_bytes before = {.len = 1, .bytes = {CHI_QUEUE_OF_ENTRIES}};
	struct chi_queue_bytes name;
	struct chi_key key = {0};
	int rc = chi_queued_next(change->txn, change->tree, &before, 1, &name);
	if (rc != CHI_OK) {
		return rc;
	}
	if (name.len > CHI_QUEUE_ENTRY_KEY_MAX) {
		return -CHI_ECORRUPT;
	}
	key.len = (uint8_t)(name.len - 1);
	memcpy(key.bytes, name.bytes + 1, key.len);
	return get_row(change, &key, out);
}

int chi_write_queue_drop(struct chi_write *write, const struct chi_key *keys, size_t n,
			 uint64_t *dropped)
{
	struct change change;
	struct chi_queue_row row;
	int rc = begin_change(write, &change);
	if (rc < 0) {
		return rc;
	}
	n = keys != NULL ? n : CHI_QUEUE_BATCH_MAX;
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		rc = keys != NULL ? get_row(&change, &keys[i], &row) : first(&change, &row);
		if (rc == CHI_OK) {
			rc = take_out(&change, &row);
			*dropped += rc == CHI_OK;
		} else if (keys == NULL) {
			break;
		}
	}
	return end_change(&change, rc < 0 ? rc : CHI_OK);
}
