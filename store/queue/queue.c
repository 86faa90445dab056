/* SPDX-License-Identifier: MIT */
/*
 * The value of an entry:
 *
 *	checksum (8)  state (1)  claimed (1)  priority (4)  tries (4)
 *	asked (8)  number (8)  lease (8)  expires (8)  holder
 */
#include "store/queue/queue.h"

#include <string.h>

#include "base/wire.h"
#include "store/chain/chain.h"
#include "store/lmdb_err.h"
#include "store/record/checksum.h"

static const char totals_key[] = {CHI_QUEUE_OF_TOTALS};

const char *chi_queue_state_name(int state)
{
	static const char *const names[] = {
		[CHI_QUEUE_WAITING] = "waiting",
		[CHI_QUEUE_LEASED] = "leased",
		[CHI_QUEUE_FAILED] = "failed",
	};
	return state >= CHI_QUEUE_WAITING && state <= CHI_QUEUE_FAILED ? names[state] : NULL;
}

/* ---- Keys --------------------------------------------------------------------------------- */

static void add_bytes(struct chi_queue_bytes *to, const void *bytes, size_t len)
{
	memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
}

/* The most significant byte first: so they ascend. */
static void add_number(struct chi_queue_bytes *to, uint64_t number)
{
	for (int i = 7; i >= 0; i--) {
		to->bytes[to->len++] = (uint8_t)(number >> (8 * i));
	}
}

struct chi_queue_bytes chi_queued_entry_key(const struct chi_key *key)
{
	struct chi_queue_bytes out = {.len = 1, .bytes = {CHI_QUEUE_OF_ENTRIES}};
	add_bytes(&out, key->bytes, key->len);
	return out;
}

struct chi_queue_bytes chi_queued_before(enum chi_queue_state state)
{
	static const uint8_t first[] = {
		[CHI_QUEUE_WAITING] = CHI_QUEUE_OF_WAITING,
		[CHI_QUEUE_LEASED] = CHI_QUEUE_OF_LEASED,
		[CHI_QUEUE_FAILED] = CHI_QUEUE_OF_FAILED,
	};
	return (struct chi_queue_bytes){.len = 1, .bytes = {first[state]}};
}

struct chi_queue_bytes chi_queued_before_lease(uint64_t expires, uint64_t lease)
{
	struct chi_queue_bytes out = chi_queued_before(CHI_QUEUE_LEASED);
	add_number(&out, expires);
	add_number(&out, lease);
	return out;
}

struct chi_queue_bytes chi_queued_place(const struct chi_queue_row *row)
{
	struct chi_queue_bytes out;
	switch (row->state) {
	case CHI_QUEUE_WAITING:
		out = chi_queued_before(CHI_QUEUE_WAITING);
		add_number(&out, UINT32_MAX - row->priority);
		add_number(&out, row->number);
		break;
	case CHI_QUEUE_LEASED:
		out = chi_queued_before_lease(row->expires, row->lease);
		break;
	default:
		out = chi_queued_before(CHI_QUEUE_FAILED);
		add_number(&out, row->number);
		add_number(&out, 0);
		break;
	}
	add_bytes(&out, row->key.bytes, row->key.len);
	return out;
}

/* ---- Values ------------------------------------------------------------------------------- */

static uint64_t checksum(const void *key, size_t key_len, const uint8_t *value, size_t len)
{
	return chi_checksum_apart(key, key_len, value + 8, len - 8);
}

size_t chi_queued_encode(const struct chi_queue_row *row, uint8_t out[CHI_QUEUE_VALUE_MAX])
{
	size_t holder = row->holder != NULL ? strlen(row->holder) : 0;
	size_t len = CHI_QUEUE_HEAD + holder;
	struct chi_writer to = chi_writer_of(out + 8, len - 8);
	chi_write_u8(&to, row->state);
	chi_write_u8(&to, row->claimed);
	chi_write_le(&to, row->priority, 4);
	chi_write_le(&to, row->tries, 4);
	chi_write_le(&to, row->asked, 8);
	chi_write_le(&to, row->number, 8);
	chi_write_le(&to, row->lease, 8);
	chi_write_le(&to, row->expires, 8);
	chi_write_bytes(&to, row->holder, holder);
	const struct chi_queue_bytes key = chi_queued_entry_key(&row->key);
	to = chi_writer_of(out, 8);
	chi_write_le(&to, checksum(key.bytes, key.len, out, len), 8);
	return len;
}

static bool sound(const struct chi_queue_row *row, size_t holder)
{
	bool leased = row->state == CHI_QUEUE_LEASED;
	return row->state >= CHI_QUEUE_WAITING && row->state <= CHI_QUEUE_FAILED &&
	       (leased || !row->claimed) && leased == (row->lease != 0) &&
	       leased == (row->expires != 0) && leased == (holder > 0);
}

int chi_queued_decode(const MDB_val *key, const MDB_val *value, struct chi_arena *arena,
		      struct chi_queue_row *out)
{
	const uint8_t *name = key->mv_data;
	struct chi_reader from = chi_reader_of(value->mv_data, value->mv_size);
	*out = (struct chi_queue_row){.key.len = (uint8_t)(key->mv_size - 1)};
	if (key->mv_size < 1 + CHI_KEY_MIN || key->mv_size > CHI_QUEUE_ENTRY_KEY_MAX ||
	    value->mv_size < CHI_QUEUE_HEAD || value->mv_size > CHI_QUEUE_VALUE_MAX ||
	    chi_read_le(&from, 8) != checksum(name, key->mv_size, value->mv_data, value->mv_size)) {
		return -CHI_ECORRUPT;
	}
	memcpy(out->key.bytes, name + 1, out->key.len);
	out->state = chi_read_u8(&from);
	uint8_t claimed = chi_read_u8(&from);
	out->claimed = claimed == 1;
	out->priority = (uint32_t)chi_read_le(&from, 4);
	out->tries = (uint32_t)chi_read_le(&from, 4);
	out->asked = chi_read_le(&from, 8);
	out->number = chi_read_le(&from, 8);
	out->lease = chi_read_le(&from, 8);
	out->expires = chi_read_le(&from, 8);
	size_t holder = chi_reader_left(&from);
	if (claimed > 1 || !sound(out, holder)) {
		return -CHI_ECORRUPT;
	}
	out->holder = chi_arena_text(arena, (const char *)from.at, holder);
	return out->holder != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_queued_totals_encode(const struct chi_queue_totals *totals,
			      uint8_t out[CHI_QUEUE_TOTALS_SIZE])
{
	struct chi_writer to = chi_writer_of(out + 8, CHI_QUEUE_TOTALS_SIZE - 8);
	chi_write_le(&to, totals->next, 8);
	chi_write_le(&to, totals->counts.waiting, 8);
	chi_write_le(&to, totals->counts.leased, 8);
	chi_write_le(&to, totals->counts.failed, 8);
	to = chi_writer_of(out, 8);
	chi_write_le(&to, checksum(totals_key, sizeof(totals_key), out, CHI_QUEUE_TOTALS_SIZE), 8);
}

int chi_queued_totals_decode(const MDB_val *value, struct chi_queue_totals *out)
{
	struct chi_reader from = chi_reader_of(value->mv_data, value->mv_size);
	if (value->mv_size != CHI_QUEUE_TOTALS_SIZE ||
	    chi_read_le(&from, 8) !=
		    checksum(totals_key, sizeof(totals_key), value->mv_data, value->mv_size)) {
		return -CHI_ECORRUPT;
	}
	out->next = chi_read_le(&from, 8);
	out->counts.waiting = chi_read_le(&from, 8);
	out->counts.leased = chi_read_le(&from, 8);
	out->counts.failed = chi_read_le(&from, 8);
	return CHI_OK;
}

/* ---- Reading ------------------------------------------------------------------------------ */

int chi_queued_totals_get(MDB_txn *txn, MDB_dbi tree, struct chi_queue_totals *out)
{
	MDB_val key = chi_val(totals_key, sizeof(totals_key));
	MDB_val value;
	int rc = chi_lmdb_status(chi_chain_get(txn, tree, CHI_CHAIN_QUEUE, &key, &value));
	*out = (struct chi_queue_totals){.next = 1};
	return rc == CHI_OK ? chi_queued_totals_decode(&value, out) : rc < 0 ? rc : CHI_OK;
}

int chi_queued_get(MDB_txn *txn, MDB_dbi tree, const struct chi_key *key, struct chi_arena *arena,
		   struct chi_queue_row *out)
{
	struct chi_queue_bytes name = chi_queued_entry_key(key);
	MDB_val name_val = {name.len, name.bytes};
	MDB_val value;
	int rc = chi_lmdb_status(chi_chain_get(txn, tree, CHI_CHAIN_QUEUE, &name_val, &value));
	return rc == CHI_OK ? chi_queued_decode(&name_val, &value, arena, out) : rc;
}

struct next {
	const struct chi_queue_bytes *after;
	struct chi_queue_bytes *out;
};

/* CHI_NONE: it is the next one. */
static int take_next_queued(void *context, const MDB_val *key, const MDB_val *value)
{
	const struct next *next = context;
	const struct chi_queue_bytes *after = next->after;
	(void)value;
	if (key->mv_size == after->len && memcmp(key->mv_data, after->bytes, after->len) == 0) {
		return CHI_OK;
	}
	if (key->mv_size > sizeof(next->out->bytes)) {
		return -CHI_ECORRUPT;
	}
	*next->out = (struct chi_queue_bytes){0};
	add_bytes(next->out, key->mv_data, key->mv_size);
	return CHI_NONE;
}

int chi_queued_next(MDB_txn *txn, MDB_dbi tree, const struct chi_queue_bytes *after, size_t prefix,
		    struct chi_queue_bytes *out)
{
	const struct chi_queue_bytes wanted = *after; /* which may be *out */
	const MDB_val from = chi_val(wanted.bytes, wanted.len);
	struct next next = {&wanted, out};
	int rc = chi_chain_walk(txn, tree, CHI_CHAIN_QUEUE, &from, prefix, take_next_queued, &next);
	return rc == CHI_OK ? CHI_NONE : rc == CHI_NONE ? CHI_OK : rc;
}

int chi_queued_row_at(MDB_txn *txn, MDB_dbi tree, const struct chi_queue_bytes *place,
		      struct chi_arena *arena, struct chi_queue_row *out)
{
	struct chi_key key = {0};
	if (place->len < CHI_QUEUE_LEASE_PREFIX + CHI_KEY_MIN) {
		return -CHI_ECORRUPT;
	}
	key.len = (uint8_t)(place->len - CHI_QUEUE_LEASE_PREFIX);
	memcpy(key.bytes, place->bytes + CHI_QUEUE_LEASE_PREFIX, key.len);
	int rc = chi_queued_get(txn, tree, &key, arena, out);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : -CHI_ECORRUPT;
	}
	const struct chi_queue_bytes there = chi_queued_place(out);
	bool same = there.len == place->len && memcmp(there.bytes, place->bytes, there.len) == 0;
	return same ? CHI_OK : -CHI_ECORRUPT;
}
