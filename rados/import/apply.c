/* SPDX-License-Identifier: MIT */
/*
 * Applying a committed journal, part by part. Each part is a batch under the import's own identity,
 * with its number: a shard that has it already does nothing, so that several clients may apply the
 * same journal at once, or one after the other died.
 */
#include "rados/import/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/wire.h"
#include "chess/key.h"
#include "rados/library.h"

/* A part may have so many bytes (journal.c), and its records take more when they are decoded. */
#define PART_MAX    ((size_t)8 << 20)
#define PART_BUDGET ((size_t)1 << 30)

/* ---- Reading ----------------------------------------------------------------------------- */

/* CHI_NONE: it is not there. */
static int read_part(struct chi_rados *rados, const uint8_t id[16], uint32_t part, uint8_t *bytes,
		     size_t *len)
{
	struct chi_object_op op = {.read = chi_librados.create_read_op()};
	if (op.read == NULL) {
		return -CHI_ENOMEM;
	}
	chi_journal_object(rados->place.name, id, part, op.object);
	chi_librados.read_op_read(op.read, 0, PART_MAX, (char *)bytes, len, &op.parts_rc[2]);
	int status = chi_objects_run(rados, &op, 1);
	if (status == CHI_OK && op.rc < 0) {
		status = op.rc == -ENOENT ? CHI_NONE : chi_object_fault(rados, &op);
	}
	chi_objects_end(&op, 1);
	return status;
}

static int read_put(struct chi_reader *r, struct chi_arena *arena, struct chi_put_entry *out)
{
	size_t key_len = chi_read_u8(r);
	const uint8_t *key = chi_read_bytes(r, key_len);
	size_t len = (size_t)chi_read_le(r, 4);
	const uint8_t *record = chi_read_bytes(r, len);
	if (r->bad || key_len > CHI_KEY_MAX || !chi_key_shape_ok(key, key_len)) {
		return -CHI_ECORRUPT;
	}
	*out = (struct chi_put_entry){.key.len = (uint8_t)key_len};
	memcpy(out->key.bytes, key, key_len);
	return chi_record_decode(record, len, arena, &out->record, NULL);
}

static int read_game(struct chi_reader *r, struct chi_game_id *out)
{
	const uint8_t *id = chi_read_bytes(r, CHI_GAME_ID_SIZE);
	size_t len = chi_read_u8(r);
	const uint8_t *value = chi_read_bytes(r, len);
	return r->bad ? -CHI_ECORRUPT : chi_game_decode(id, CHI_GAME_ID_SIZE, value, len, out);
}

/* ---- Applying ---------------------------------------------------------------------------- */

static int apply_entries(struct chi_rados *rados, struct chi_reader *r, enum chi_journal_mode mode,
			 uint32_t n, struct chi_arena *arena, struct chi_put_result *result)
{
	int status = CHI_OK;
	if (mode == CHI_JOURNAL_GAMES) {
		struct chi_game_id *games = chi_arena_array(arena, n, sizeof(*games));
		status = games != NULL ? CHI_OK : -CHI_ENOMEM;
		for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
			status = read_game(r, &games[i]);
		}
		return status == CHI_OK ? chi_rados_put_game_ids(rados, games, n) : status;
	}
	struct chi_put_entry *puts = chi_arena_array(arena, n, sizeof(*puts));
	status = puts != NULL ? CHI_OK : -CHI_ENOMEM;
	for (uint32_t i = 0; status == CHI_OK && i < n; i++) {
		status = read_put(r, arena, &puts[i]);
	}
	return status == CHI_OK ? chi_rados_apply(rados, mode, puts, n, result) : status;
}

static int apply_part(struct chi_rados *rados, const uint8_t *bytes, size_t len,
		      struct chi_arena *arena, struct chi_put_result *result)
{
	enum chi_journal_mode mode;
	uint32_t n = 0;
	int status = chi_journal_check(bytes, len, &mode, &n);
	if (status == CHI_OK && n >= CHI_JOURNAL_STEPS) {
		status = -CHI_ECORRUPT;
	}
	if (status == CHI_OK) {
		struct chi_reader r = chi_reader_of(bytes + CHI_JOURNAL_HEAD,
						    len - CHI_JOURNAL_HEAD - CHI_JOURNAL_TAIL);
		status = apply_entries(rados, &r, mode, n, arena, result);
	}
	return status == -CHI_ECORRUPT && rados->fault->text[0] == '\0'
		       ? chi_fail(rados->fault, status, "the journal of an import is damaged")
		       : status;
}

/* A repair does without a part that is damaged or missing. */
static int skip_part(struct chi_rados *rados, uint32_t part, int status)
{
	char text[CHI_FAULT_SIZE];
	if (status != CHI_NONE && status != -CHI_ECORRUPT) {
		return status;
	}
	(void)snprintf(text, sizeof(text), "part %" PRIu32 " of the journal of an import: %.150s",
		       part, status == CHI_NONE ? "it is missing" : rados->fault->text);
	rados->fault->text[0] = '\0';
	rados->skip(rados->skip_context, text);
	return CHI_OK;
}

/* CHI_NONE: another client has removed the journal, since all of it is applied. */
static int apply_parts(struct chi_rados *rados, const struct chi_rados_head *head,
		       chi_import_progress *progress, void *context, struct chi_put_result *result)
{
	_cleanup_(chi_freep) uint8_t *bytes = malloc(PART_MAX);
	struct chi_arena arena;
	int status = bytes != NULL ? CHI_OK : -CHI_ENOMEM;
	chi_arena_init(&arena, PART_BUDGET);
	for (uint32_t i = 0; status == CHI_OK && i < head->import_parts; i++) {
		size_t len = 0;
		if (progress != NULL) {
			progress(context, "storing", i, head->import_parts);
		}
		status = read_part(rados, head->import, i, bytes, &len);
		rados->sequence = i * CHI_JOURNAL_STEPS;
		chi_arena_reset(&arena);
		status = status == CHI_OK ? apply_part(rados, bytes, len, &arena, result) : status;
		status = rados->skip != NULL ? skip_part(rados, i, status) : status;
	}
	chi_arena_deinit(&arena);
	return status;
}

/* ---- Ending ------------------------------------------------------------------------------ */

static bool same_import(const struct chi_rados_head *a, const struct chi_rados_head *b)
{
	return memcmp(a->import, b->import, sizeof(a->import)) == 0;
}

/* The head names another import, or none. */
static bool is_applied(struct chi_rados *rados, const struct chi_rados_head *applied)
{
	struct chi_rados_head now;
	struct chi_fault why = *rados->fault;
	bool over = chi_rados_read_head(rados, &now, NULL) == CHI_OK && !same_import(&now, applied);
	*rados->fault = why;
	return over;
}

/* The head without the import, whose journal has a lease that is over from then on; unless another
 * client was faster. */
static int clear_head(struct chi_rados *rados, const struct chi_rados_head *applied)
{
	struct chi_rados_head head;
	uint64_t version = 0;
	const struct chi_lease over = {.parts = applied->import_parts};
	const struct chi_lease_change change = {.id = applied->import, .new = &over};
	int status = -CHI_EBUSY;
	while (status == -CHI_EBUSY) {
		rados->fault->text[0] = '\0';
		status = chi_rados_read_head(rados, &head, &version);
		if (status == CHI_OK && same_import(&head, applied)) {
			memset(head.import, 0, sizeof(head.import));
			head.import_parts = 0;
			status = chi_change_lease(rados, &change, &head, version);
		}
	}
	return status;
}

/* An import's entries in the shards, as they are. */
struct releasing {
	struct chi_omap_key keys[2]; /* of the stamp, and theirs */
	struct {
		bool sound; /* else there is none, or it is damaged */
		uint8_t value[CHI_SHARD_CLIENT_SIZE];
	} * entries;
};

static int ask_entry(struct chi_rados *rados, void *context, uint32_t shard,
		     struct chi_object_op *op)
{
	const struct releasing *releasing = context;
	(void)rados;
	(void)shard;
	return chi_object_get(op, releasing->keys, 2);
}

static int take_entry(struct chi_rados *rados, void *context, uint32_t shard,
		      struct chi_object_op *op)
{
	struct releasing *releasing = context;
	struct chi_shard_client entry;
	struct chi_omap_entry found;
	int status = chi_object_stamp(rados, op, NULL);
	if (status == CHI_OK && chi_object_next(op->values, &found) &&
	    chi_shard_client_decode(found.value, found.len, &entry) == CHI_OK) {
		releasing->entries[shard].sound = true;
		memcpy(releasing->entries[shard].value, found.value, found.len);
	}
	return status;
}

/* It may be added up from now on. An operation that does nothing where there is none. */
static int release_entry(struct chi_rados *rados, void *context, uint32_t shard,
			 struct chi_object_op *op)
{
	const struct releasing *releasing = context;
	const uint8_t *value = releasing->entries[shard].value;
	struct chi_shard_client entry;
	uint8_t changed[CHI_SHARD_CLIENT_SIZE];
	(void)rados;
	int status = chi_object_change(op);
	if (status == CHI_OK && releasing->entries[shard].sound) {
		chi_object_compare(op, &releasing->keys[1], value, CHI_SHARD_CLIENT_SIZE);
		status = chi_shard_client_decode(value, CHI_SHARD_CLIENT_SIZE, &entry);
		entry.date = (uint64_t)time(NULL);
		chi_shard_client_encode(&entry, changed);
		chi_object_set(op, &releasing->keys[1], changed, sizeof(changed));
	} else if (status == CHI_OK) {
		chi_object_compare(op, &releasing->keys[1], "", 0);
	}
	return status;
}

int chi_journal_release(struct chi_rados *rados, const uint8_t id[16])
{
	uint32_t shards = rados->head.shards;
	struct releasing releasing = {.keys = {chi_stamp_key}};
	releasing.entries = calloc(shards, sizeof(*releasing.entries));
	int status = releasing.entries != NULL ? CHI_OK : -CHI_ENOMEM;
	chi_omap_key_make(CHI_OMAP_CLIENT, id, CHI_CLIENT_ID, &releasing.keys[1]);
	status = status == CHI_OK ? chi_shards_run(rados, shards, ask_entry, take_entry, &releasing)
				  : status;
	/* One that fails stays as it is: it costs a hundred bytes. */
	status = status == CHI_OK ? chi_shards_run(rados, shards, release_entry, NULL, &releasing)
				  : status;
	free(releasing.entries);
	return status;
}

static int apply_journal(struct chi_rados *rados, const struct chi_rados_head *head,
			 chi_import_progress *progress, void *context,
			 struct chi_put_result *result)
{
	uint8_t id[CHI_CLIENT_ID];
	uint64_t sequence = rados->sequence;
	memcpy(id, rados->id, sizeof(id));
	memcpy(rados->id, head->import, sizeof(id));
	memset(rados->known, 0, rados->head.shards * sizeof(*rados->known));
	rados->applies = true;
	int status = apply_parts(rados, head, progress, context, result);
	rados->applies = false;
	rados->sequence = sequence;
	memcpy(rados->id, id, sizeof(id));
	memset(rados->known, 0, rados->head.shards * sizeof(*rados->known));
	return status;
}

/* Says after why a journal was not applied what becomes of it. */
static int pending(struct chi_rados *rados, int status)
{
	bool stays = status == -CHI_ECORRUPT || status == -CHI_EINVAL || status == -CHI_ETOOBIG;
	struct chi_fault why = *rados->fault;
	return chi_fail(rados->fault, status, "%.130s; a committed import waits for this: %s",
			why.text[0] != '\0' ? why.text : chi_strerror(status),
			stays ? "delete that position, or verify --repair, then import"
			      : "the next import finishes it");
}

int chi_rados_roll(struct chi_rados *rados, chi_import_progress *progress, void *context,
		   struct chi_put_result *result)
{
	int status = chi_rados_refresh(rados);
	const struct chi_rados_head head = rados->head;
	if (status < 0 || head.import_parts == 0) {
		return status;
	}
	status = chi_rados_set_stamps(rados);
	status = status == CHI_OK ? apply_journal(rados, &head, progress, context, result) : status;
	if (status == CHI_NONE) {
		if (is_applied(rados, &head)) {
			return CHI_OK;
		}
		status = chi_fail(rados->fault, -CHI_ECORRUPT,
				  "a part of the journal of an import is missing");
	}
	status = status < 0 ? pending(rados, status) : status;
	status = status == CHI_OK ? clear_head(rados, &head) : status;
	const struct chi_lease over = {.parts = head.import_parts};
	return status == CHI_OK ? chi_lease_end(rados, head.import, &over) : status;
}
