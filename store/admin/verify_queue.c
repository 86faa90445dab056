/* SPDX-License-Identifier: MIT */
/* The queue: every entry has its place, every place an entry, and the totals count both. */
#include "store/admin/verify_priv.h"

#include <string.h>

#include "store/record/codec.h"

static uint64_t hash(const uint8_t *bytes, size_t len)
{
	return chi_checksum(bytes, len, bytes + len, 0);
}

static void take_queued(struct chi_verify *v, const MDB_val *key, const MDB_val *value)
{
	struct chi_verify_queue *queue = &v->queue;
	struct chi_queue_row row;
	chi_arena_reset(&v->arena);
	if (chi_queued_decode(key, value, &v->arena, &row) != CHI_OK) {
		chi_page_complain(&v->walk, "the queue: an entry is damaged");
		return;
	}
	const struct chi_queue_bytes place = chi_queued_place(&row);
	queue->wanted += hash(place.bytes, place.len);
	queue->counted.waiting += row.state == CHI_QUEUE_WAITING;
	queue->counted.leased += row.state == CHI_QUEUE_LEASED;
	queue->counted.failed += row.state == CHI_QUEUE_FAILED;
	if (row.number >= queue->totals.next || row.lease >= queue->totals.next) {
		chi_page_complain(&v->walk, "the queue: an entry has a number not given yet");
	}
}

/* The totals come before the entries. */
int chi_verify_queued(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *key,
		      const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	const uint8_t *name = key->mv_data;
	(void)tree;
	switch (key->mv_size > 0 ? name[0] : 0) {
	case CHI_QUEUE_OF_TOTALS:
		if (key->mv_size != 1 ||
		    chi_queued_totals_decode(value, &v->queue.totals) != CHI_OK) {
			chi_page_complain(walk, "the queue: its totals are damaged");
		}
		break;
	case CHI_QUEUE_OF_ENTRIES:
		take_queued(v, key, value);
		break;
	default:
		v->queue.places += hash(name, key->mv_size) + value->mv_size;
		break;
	}
	return CHI_OK;
}

void chi_verify_queue_end(struct chi_verify *v)
{
	const struct chi_verify_queue *queue = &v->queue;
	if (v->walk.errors == 0 &&
	    (queue->places != queue->wanted ||
	     memcmp(&queue->counted, &queue->totals.counts, sizeof(queue->counted)) != 0)) {
		chi_page_complain(&v->walk, "the queue: entries, places and totals do not agree");
	}
}
