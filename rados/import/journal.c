/* SPDX-License-Identifier: MIT */
/*
 * The journal of an import: all that it changes, in parts that are each one batch (FORMAT.md). It
 * is in the pool before it is committed, which is one change of the head.
 */
#include "rados/import/journal.h"

#include <string.h>
#include <sys/random.h>

#include "base/fault.h"
#include "base/record.h"
#include "base/wire.h"
#include "rados/library.h"

/* Of a part: entries, and bytes before the last one. An object may have 128 MiB. */
#define PART_ENTRIES 16384
#define PART_BYTES   ((size_t)4 << 20)
#define PART_ROOM    (PART_BYTES + CHI_RECORD_BYTES_MAX + 1024)

struct chi_journal {
	struct chi_rados *rados;
	uint8_t id[16];
	enum chi_journal_mode mode; /* of the part at hand */
	uint32_t parts;		    /* that are in the pool */
	uint32_t n;
	struct chi_lease lease;
	bool committed;
	size_t len;
	uint8_t bytes[PART_ROOM];
};

int chi_journal_new(struct chi_rados *rados, struct chi_journal **out)
{
	struct chi_journal *journal = malloc(sizeof(*journal));
	*out = journal;
	if (journal == NULL) {
		return -CHI_ENOMEM;
	}
	journal->rados = rados;
	journal->parts = 0;
	journal->n = 0;
	journal->committed = false;
	journal->lease = (struct chi_lease){.parts = 0};
	journal->len = CHI_JOURNAL_HEAD;
	return getrandom(journal->id, sizeof(journal->id), 0) == sizeof(journal->id) ? CHI_OK
										     : -CHI_EIO;
}

/* Puts the part at hand into the pool. */
static int flush(struct chi_journal *journal)
{
	struct chi_rados *rados = journal->rados;
	struct chi_object_op op = {.write = chi_librados.create_write_op()};
	if (journal->n == 0 || op.write == NULL) {
		chi_objects_end(&op, 1);
		return journal->n == 0 ? CHI_OK : -CHI_ENOMEM;
	}
	int status = chi_lease_renew(rados, journal->id, journal->parts + 1, &journal->lease);
	if (status < 0) {
		chi_objects_end(&op, 1);
		return status;
	}
	chi_journal_head(journal->mode, journal->n, journal->bytes);
	chi_journal_seal(journal->bytes, journal->len + CHI_JOURNAL_TAIL);
	chi_journal_object(rados->place.name, journal->id, journal->parts, op.object);
	chi_librados.write_op_write_full(op.write, (const char *)journal->bytes,
					 journal->len + CHI_JOURNAL_TAIL);
	status = chi_object_run(rados, &op);
	chi_objects_end(&op, 1);
	journal->parts++;
	journal->n = 0;
	journal->len = CHI_JOURNAL_HEAD;
	return status;
}

/* Room for one more entry of that mode. */
static int ready(struct chi_journal *journal, enum chi_journal_mode mode)
{
	bool full = journal->n == PART_ENTRIES || journal->len >= PART_BYTES;
	int status = full || (journal->n > 0 && journal->mode != mode) ? flush(journal) : CHI_OK;
	journal->mode = mode;
	return status;
}

int chi_journal_position(struct chi_journal *journal, enum chi_journal_mode mode,
			 const struct chi_key *key, const struct chi_record *record)
{
	int status = ready(journal, mode);
	if (status < 0) {
		return status;
	}
	uint8_t *at = journal->bytes + journal->len;
	size_t before = 1 + (size_t)key->len + 4;
	size_t len = 0;
	status = chi_record_encode(record, NULL, at + before, CHI_RECORD_BYTES_MAX, &len);
	if (status < 0) {
		return status;
	}
	struct chi_writer w = chi_writer_of(at, before);
	chi_write_u8(&w, key->len);
	chi_write_bytes(&w, key->bytes, key->len);
	chi_write_le(&w, len, 4);
	journal->len += before + len;
	journal->n++;
	return CHI_OK;
}

int chi_journal_game(struct chi_journal *journal, const struct chi_game_id *game)
{
	int status = ready(journal, CHI_JOURNAL_GAMES);
	if (status < 0) {
		return status;
	}
	struct chi_game_id kept = *game;
	uint8_t *at = journal->bytes + journal->len;
	kept.number = 0;
	memcpy(at, kept.id, sizeof(kept.id));
	size_t len = chi_game_encode(&kept, at + sizeof(kept.id) + 1);
	if (len == 0) {
		return -CHI_EINVAL;
	}
	at[sizeof(kept.id)] = (uint8_t)len;
	journal->len += sizeof(kept.id) + 1 + len;
	journal->n++;
	return CHI_OK;
}

/* The head with the journal; without one only the base rates. */
static int write_journal_head(struct chi_journal *journal, const uint8_t before[16],
			      const struct chi_counts *base)
{
	struct chi_rados *rados = journal->rados;
	const struct chi_lease_change change = {
		.id = journal->id, .old = &journal->lease, .before = before};
	struct chi_rados_head head;
	uint64_t version = 0;
	int status = -CHI_EBUSY;
	while (status == -CHI_EBUSY) {
		rados->fault->text[0] = '\0';
		status = chi_rados_read_head(rados, &head, &version);
		if (status != CHI_OK) {
			break;
		}
		if (head.import_parts > 0) {
			status = CHI_NONE;
			break;
		}
		memcpy(head.import, journal->id, journal->parts > 0 ? sizeof(head.import) : 0);
		head.import_parts = journal->parts;
		head.base = *base;
		status = chi_change_lease(rados, &change, &head, version);
	}
	return status == CHI_NONE ? chi_fail(rados->fault, -CHI_EBUSY,
					     "another import was committed meanwhile, or this one "
					     "did nothing for long: repeat it")
				  : status;
}

int chi_journal_commit(struct chi_journal *journal, const uint8_t before[16],
		       const struct chi_counts *base)
{
	struct chi_rados *rados = journal->rados;
	int status = flush(journal);
	if (status < 0) {
		return status;
	}
	if (journal->parts == 0 && chi_counts_equal(&rados->head.base, base)) {
		return CHI_OK;
	}
	status = write_journal_head(journal, before, base);
	/* An unknown outcome is taken for a commit: what is committed must not be removed. If it
	 * was none, the lease ends. */
	journal->committed = status == CHI_OK || status == -CHI_ETIMEOUT;
	if (status < 0 || journal->parts > 0) {
		return status;
	}
	rados->head.base = *base;
	status = chi_rados_set_stamps(rados);
	if (status < 0) {
		struct chi_fault why = *rados->fault;
		return chi_fail(rados->fault, status,
				"%.140s; the base rates are changed, but not in all shards: "
				"rescore the store",
				why.text[0] != '\0' ? why.text : chi_strerror(status));
	}
	return CHI_OK;
}

static int ask_remove(struct chi_rados *rados, void *context, uint32_t part,
		      struct chi_object_op *op)
{
	const uint8_t *id = context;
	chi_journal_object(rados->place.name, id, part, op->object);
	int status = chi_object_change(op);
	if (status == CHI_OK) {
		chi_librados.write_op_remove(op->write);
	}
	return status;
}

/* Objects that are not there are no failure. */
int chi_journal_remove(struct chi_rados *rados, const uint8_t id[16], uint32_t parts)
{
	uint8_t own[CHI_CLIENT_ID];
	memcpy(own, id, sizeof(own));
	return chi_shards_run(rados, parts, ask_remove, NULL, own);
}

void chi_journal_free(struct chi_journal *journal)
{
	if (journal != NULL && !journal->committed && journal->parts > 0) {
		/* The failure that led here is the one to tell. */
		struct chi_fault fault = *journal->rados->fault;
		(void)!chi_journal_remove(journal->rados, journal->id, journal->parts);
		(void)!chi_lease_end(journal->rados, journal->id, &journal->lease);
		*journal->rados->fault = fault;
	}
	free(journal);
}
