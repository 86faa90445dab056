/* SPDX-License-Identifier: MIT */
/*
 * Running a batch: one round reads what all parts touch, all are applied, one round writes them.
 * Parts whose guards failed, because another client was faster, go through it again after a short
 * wait.
 */
#include "rados/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"

/* Entries of other clients that are looked at by a client's first write in a shard. */
#define CLIENTS_LISTED 128

/* Of one operation of a journal's part, which goes on in the next: entries that are read and
 * changed, and about the bytes that are written. */
#define JOURNAL_ITEMS 512
#define JOURNAL_BYTES (CHI_PART_BYTES / 4)

/* The longest wait before trying again. */
#define WAIT_MS 64

struct chi_batch_part {
	uint32_t shard;
	size_t first; /* items */
	size_t n;
	size_t at;   /* of these, that are stored */
	size_t next; /* those that the operation under way stores, too */
	bool done;
	bool written; /* an operation was made of it */
	struct chi_put_result did;
};

/* ---- Reading ----------------------------------------------------------------------------- */

static bool same_item(const struct chi_shard_ref *a, const struct chi_shard_ref *b)
{
	return chi_position_compare(a->bytes, a->len, b->bytes, b->len) == 0;
}

/* Where the next operation ends at the latest: a journal's part is cut, between keys. */
static size_t end_of(const struct chi_shard_batch *batch, const struct chi_batch_part *part)
{
	const struct chi_shard_ref *items = batch->items + part->first;
	bool whole = batch->steps == 1 || part->n - part->at <= JOURNAL_ITEMS;
	size_t end = whole ? part->n : part->at + JOURNAL_ITEMS;
	while (end < part->n && same_item(&items[end], &items[end - 1])) {
		end++;
	}
	return end;
}

static int ask_part(struct chi_shard_batch *batch, const struct chi_batch_part *part,
		    struct chi_object_op *op)
{
	struct chi_rados *rados = batch->rados;
	const struct chi_shard_ref *items = batch->items + part->first;
	size_t end = end_of(batch, part);
	_cleanup_(chi_freep) struct chi_omap_key *keys = calloc(2 + end - part->at, sizeof(*keys));
	if (keys == NULL) {
		return -CHI_ENOMEM;
	}
	size_t n = 0;
	keys[n++] = chi_stamp_key;
	chi_client_key(rados->id, &keys[n++]);
	for (size_t i = part->at; i < end; i++) {
		if (i == part->at || !same_item(&items[i], &items[i - 1])) {
			chi_omap_key_make(batch->tree, items[i].bytes, items[i].len, &keys[n++]);
		}
	}
	chi_object_of_shard(rados, part->shard, op);
	int status = chi_object_get(op, keys, n);
	if (status == CHI_OK) {
		chi_object_size(op);
	}
	if (status == CHI_OK && !rados->known[part->shard]) {
		status = chi_object_list(op, CHI_OMAP_CLIENT, "", CLIENTS_LISTED);
	}
	return status;
}

/* ---- Applying ---------------------------------------------------------------------------- */

static void refuse_item(struct chi_shard_batch *batch, int status, size_t index)
{
	if (batch->refused == CHI_OK || index < batch->refused_at) {
		batch->refused = status;
		batch->refused_at = index;
		batch->why = *batch->rados->fault;
	}
	batch->rados->fault->text[0] = '\0';
}

/* What a repair leaves out of a journal; what the item had changed is as before. */
static void skip(struct chi_shard_batch *batch, int status, const struct chi_shard_client *change,
		 size_t n_edits)
{
	const struct chi_rados *rados = batch->rados;
	char *text = batch->rados->fault->text;
	batch->change = *change;
	batch->n_edits = n_edits;
	rados->skip(rados->skip_context, text[0] != '\0' ? text : chi_strerror(status));
	text[0] = '\0';
}

/* All items of the part, or as many as one operation takes. Refusals of all are gathered, so that
 * the first of the batch is told. */
static int apply_items(struct chi_shard_batch *batch, struct chi_batch_part *part,
		       struct chi_entries *entries)
{
	const struct chi_shard_ref *items = batch->items + part->first;
	size_t end = end_of(batch, part);
	size_t same = 0;
	size_t i = part->at;
	for (; i < end && (batch->steps == 1 || batch->bytes < JOURNAL_BYTES); i += same) {
		struct chi_shard_client change = batch->change;
		size_t n_edits = batch->n_edits;
		struct chi_omap_key key;
		chi_omap_key_make(batch->tree, items[i].bytes, items[i].len, &key);
		for (same = 1; i + same < end && same_item(&items[i], &items[i + same]);) {
			same++;
		}
		bool there = chi_entries_at(entries, &key);
		size_t at = items[i].index;
		int status = batch->apply(batch, items + i, same, there ? entries->at.value : NULL,
					  there ? entries->at.len : 0, &at);
		bool refused =
			status == -CHI_EINVAL || status == -CHI_ETOOBIG || status == -CHI_ECORRUPT;
		if (refused && batch->rados->skip != NULL) {
			skip(batch, status, &change, n_edits);
		} else if (refused) {
			refuse_item(batch, status, at);
		} else if (status < 0) {
			return status;
		}
		if (there) {
			chi_entries_next(entries);
		}
	}
	part->next = i;
	return CHI_OK;
}

/* ---- Writing ----------------------------------------------------------------------------- */

/* An import's entries are not added up before it is applied, however long that takes. */
static uint64_t client_date(const struct chi_rados *rados)
{
	return rados->applies ? UINT64_MAX : (uint64_t)time(NULL);
}

/* The client's entry with what this part does. */
static int edit_client(struct chi_shard_batch *batch, struct chi_batch_part *part,
		       const struct chi_omap_key *key, struct chi_shard_client *entry,
		       const uint8_t *old, size_t old_len)
{
	bool whole = part->next == part->n;
	uint8_t *value = chi_arena_alloc(&batch->arena, CHI_SHARD_CLIENT_SIZE);
	if (value == NULL) {
		return -CHI_ENOMEM;
	}
	batch->change.writes = 1;
	chi_shard_client_add(&batch->change, entry);
	entry->sequence = whole ? batch->rados->sequence : batch->before + part->next;
	entry->date = client_date(batch->rados);
	if (part->at > 0) {
		chi_put_result_add(&batch->change.last, &entry->last);
	} else {
		entry->last = batch->change.last;
	}
	part->did = entry->last;
	chi_shard_client_encode(entry, value);
	const struct chi_omap_edit edit = {.key = *key,
					   .guarded = true,
					   .old = old,
					   .old_len = old_len,
					   .what = CHI_EDIT_SET,
					   .value = value,
					   .len = CHI_SHARD_CLIENT_SIZE};
	return chi_batch_edit(batch, &edit);
}

/* Another client, or an operation whose answer was lost, has done more of the part than was known.
 */
static bool has_gone_on(const struct chi_shard_batch *batch, struct chi_batch_part *part,
			const struct chi_shard_client *entry)
{
	uint64_t at = entry->sequence > batch->before ? entry->sequence - batch->before : 0;
	if (entry->sequence >= batch->rados->sequence) {
		part->done = true;
		part->did = entry->last;
		return true;
	}
	if (at != part->at) {
		part->at = at < part->n ? at : part->n;
		part->done = part->at == part->n;
		return true;
	}
	return false;
}

/* From what was read to the operation that writes; none if nothing changes, or it was done. */
static int apply_part(struct chi_shard_batch *batch, struct chi_batch_part *part,
		      struct chi_object_op *read, struct chi_object_op *write)
{
	struct chi_rados *rados = batch->rados;
	struct chi_entries entries = {.iter = read->values};
	struct chi_shard_client entry = {.sequence = 0};
	struct chi_omap_key own;
	const uint8_t *old = NULL;
	size_t old_len = 0;
	batch->n_edits = 0;
	batch->bytes = 0;
	batch->change = (struct chi_shard_client){.sequence = 0};
	chi_arena_reset(&batch->arena);
	int status = chi_object_stamp(rados, read, &batch->base);
	if (status < 0) {
		return status;
	}
	chi_client_key(rados->id, &own);
	chi_entries_next(&entries);
	if (chi_entries_at(&entries, &own)) {
		old = entries.at.value;
		old_len = entries.at.len;
		if (chi_shard_client_decode(old, old_len, &entry) < 0) {
			return chi_fail(rados->fault, -CHI_ECORRUPT,
					"a client's entry in object '%.160s' is damaged",
					read->object);
		}
		chi_entries_next(&entries);
	}
	if (has_gone_on(batch, part, &entry)) {
		return CHI_OK;
	}
	status = apply_items(batch, part, &entries);
	part->did = batch->change.last;
	/* A part of a journal is noted also where it changes nothing: who applies it late must not
	 * undo what was put since. */
	part->written = batch->n_edits > 0 || rados->applies;
	part->done = !part->written;
	if (status < 0 || batch->refused != CHI_OK || part->done) {
		return status;
	}
	status = chi_batch_guard(batch);
	status = status < 0 ? status : edit_client(batch, part, &own, &entry, old, old_len);
	if (status == CHI_OK && read->listed != NULL) {
		status = chi_batch_fold(batch, read);
	}
	chi_object_of_shard(rados, part->shard, write);
	return status < 0 ? status : chi_batch_build(batch, read->size, write);
}

/* ---- Rounds ------------------------------------------------------------------------------ */

struct running {
	struct chi_shard_batch *batch;
	struct chi_batch_part *parts;
	size_t n;
	struct chi_object_op *reads;
	struct chi_object_op *writes;
	size_t pending;
	bool moved; /* more of a journal is stored: its other operations have their own time */
};

/* All parts that are not done: read, then applied. */
static int prepare_batch(struct running *r)
{
	struct chi_rados *rados = r->batch->rados;
	size_t n = 0;
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < r->n; i++) {
		if (!r->parts[i].done) {
			status = ask_part(r->batch, &r->parts[i], &r->reads[n++]);
		}
	}
	if (status == CHI_OK) {
		status = chi_objects_run(rados, r->reads, n);
	}
	size_t at = 0;
	size_t m = 0;
	for (size_t i = 0; status == CHI_OK && i < r->n; i++) {
		struct chi_batch_part *part = &r->parts[i];
		part->written = false;
		if (!part->done) {
			status = apply_part(r->batch, part, &r->reads[at++], &r->writes[m]);
			m += part->written;
		}
	}
	chi_objects_end(r->reads, n);
	r->pending = m;
	if (status == CHI_OK && r->batch->refused != CHI_OK) {
		return chi_fail(rados->fault, r->batch->refused, "entry %zu: %s",
				r->batch->refused_at,
				r->batch->why.text[0] != '\0' ? r->batch->why.text
							      : chi_strerror(r->batch->refused));
	}
	return status;
}

/* What became of the operations. The first failure counts. Of an object that is gone the next try
 * finds out why. */
static int settle_parts(struct running *r)
{
	struct chi_rados *rados = r->batch->rados;
	int status = CHI_OK;
	size_t at = 0;
	for (size_t i = 0; i < r->n; i++) {
		struct chi_batch_part *part = &r->parts[i];
		if (part->done || !part->written) {
			continue;
		}
		const struct chi_object_op *op = &r->writes[at++];
		if (op->rc == 0) {
			part->at = part->next;
			part->done = part->at == part->n;
			rados->known[part->shard] = true;
			r->batch->stored += part->done;
			r->moved = r->batch->steps > 1;
		} else if (op->rc != -ECANCELED && op->rc != -ENOENT && status == CHI_OK) {
			status = chi_object_fault(rados, op);
		}
	}
	return status;
}

static void wait_a_little(unsigned tries)
{
	uint32_t chance = 0;
	unsigned most = tries < 6 ? 1U << tries : WAIT_MS;
	(void)!getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
	struct timespec pause = {.tv_nsec = (long)(chance % (most * 1000000))};
	(void)nanosleep(&pause, NULL);
}

static bool all_done(const struct running *r)
{
	bool done = true;
	for (size_t i = 0; i < r->n; i++) {
		done = done && r->parts[i].done;
	}
	return done;
}

static int run_parts(struct running *r)
{
	struct chi_rados *rados = r->batch->rados;
	int64_t end = chi_now_ms() + rados->place.call_ms;
	int status = CHI_OK;
	for (unsigned tries = 0; status == CHI_OK && !all_done(r); tries++) {
		if (r->moved) {
			r->moved = false;
			tries = 0;
			end = chi_now_ms() + rados->place.call_ms;
		}
		if (tries > 0 && chi_now_ms() > end) {
			return chi_fail(rados->fault, -CHI_EBUSY,
					"other writers changed the same entries for %u ms",
					rados->place.call_ms);
		}
		if (tries > 0) {
			wait_a_little(tries);
		}
		status = prepare_batch(r);
		if (status == CHI_OK) {
			status = chi_objects_run(rados, r->writes, r->pending);
		}
		if (status == CHI_OK) {
			status = settle_parts(r);
		}
		chi_objects_end(r->writes, r->n);
	}
	return status;
}

/* A shard each. Returns how many. */
static size_t cut(const struct chi_shard_batch *batch, struct chi_batch_part *parts)
{
	size_t n = 0;
	for (size_t i = 0; i < batch->n; i++) {
		if (n == 0 || batch->items[i].shard != parts[n - 1].shard) {
			parts[n++] =
				(struct chi_batch_part){.shard = batch->items[i].shard, .first = i};
		}
		parts[n - 1].n++;
	}
	return n;
}

/* ---- The batch --------------------------------------------------------------------------- */

/* The parts that `cut` made. */
static int run_cut(struct running *r)
{
	struct chi_shard_batch *batch = r->batch;
	struct chi_rados *rados = batch->rados;
	int status = run_parts(r);
	for (size_t i = 0; status == CHI_OK && i < r->n; i++) {
		chi_put_result_add(&r->parts[i].did, &batch->result);
	}
	if (status < 0 && batch->stored > 0) {
		struct chi_fault fault = *rados->fault;
		return chi_fail(rados->fault, status,
				"%.170s; stored were %zu of %zu shards' parts",
				fault.text[0] != '\0' ? fault.text : chi_strerror(status),
				batch->stored, r->n);
	}
	return status;
}

static int run_items(struct chi_shard_batch *batch)
{
	chi_shard_sort(batch->items, batch->n);
	_cleanup_(chi_freep) struct chi_batch_part *parts = calloc(batch->n, sizeof(*parts));
	if (parts == NULL) {
		return -CHI_ENOMEM;
	}
	struct running running = {.batch = batch, .parts = parts, .n = cut(batch, parts)};
	_cleanup_(chi_freep) struct chi_object_op *ops = calloc(2 * running.n, sizeof(*ops));
	if (ops == NULL) {
		return -CHI_ENOMEM;
	}
	running.reads = ops;
	running.writes = ops + running.n;
	return run_cut(&running);
}

int chi_batch_run(struct chi_shard_batch *batch)
{
	if (batch->n == 0) {
		return CHI_OK;
	}
	struct chi_rados *rados = batch->rados;
	batch->steps = rados->applies ? CHI_JOURNAL_STEPS : 1;
	batch->before = rados->sequence;
	rados->sequence += batch->steps;
	chi_arena_init(&batch->arena, 2 * CHI_PART_BYTES);
	int status = run_items(batch);
	chi_arena_deinit(&batch->arena);
	free(batch->edits);
	batch->edits = NULL;
	batch->room = 0;
	return status;
}
