/* SPDX-License-Identifier: MIT */
/* An item of the sorter is a key, then, big-endian, twice the record's place in the file, and one
 * more if no tree led to it: those of one position come in the order in which they were found. A
 * record is kept after its length (4 bytes, the machine's). */
#include "store/rescue/saved_positions.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file.h"
#include "base/record.h"
#include "chess/key.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"

#define BUFFER	    ((size_t)512 << 10)
#define SORT_MEMORY (UINT64_C(128) << 20)

static int kept_fault(const struct chi_saved_positions *saved, struct chi_fault *fault)
{
	int reason = errno;
	return chi_fail(fault, chi_fault_errno(reason),
			"cannot keep what was saved in '%.150s' (%s)", saved->to, strerror(reason));
}

int chi_saved_positions_init(struct chi_saved_positions *saved, const char *dir, const char *to,
			     struct chi_fault *fault)
{
	*saved = (struct chi_saved_positions){.file = chi_file_nameless(dir), .to = to};
	if (saved->file < 0) {
		return kept_fault(saved, fault);
	}
	saved->buffer = malloc(BUFFER);
	int rc = saved->buffer != NULL ? chi_sorter_new(dir, SORT_MEMORY, 1, &saved->filler.sorter)
				       : -CHI_ENOMEM;
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(fault, rc);
}

void chi_saved_positions_deinit(struct chi_saved_positions *saved)
{
	chi_sort_close(saved->reader);
	chi_filler_drop(&saved->filler);
	chi_sorter_free(saved->filler.sorter);
	if (saved->kept != NULL) {
		(void)munmap((void *)(uintptr_t)saved->kept, (size_t)saved->end);
	}
	if (saved->file >= 0) {
		(void)close(saved->file);
	}
	free(saved->buffer);
	*saved = (struct chi_saved_positions){.file = -1};
}

/* ---- Keeping -------------------------------------------------------------------------------- */

static int write_out(struct chi_saved_positions *saved, struct chi_fault *fault)
{
	errno = ENOSPC; /* what a short write means */
	int rc = chi_file_pwrite(saved->file, saved->buffer, saved->buffered,
				 saved->end - saved->buffered);
	saved->buffered = 0;
	return rc == CHI_OK ? CHI_OK : kept_fault(saved, fault);
}

static int keep_value(struct chi_saved_positions *saved, const MDB_val *value,
		      struct chi_fault *fault)
{
	uint32_t len = (uint32_t)value->mv_size;
	if (value->mv_size > CHI_RECORD_BYTES_MAX) {
		return chi_fault_plain(fault, -CHI_EINTERNAL);
	}
	int rc = BUFFER - saved->buffered < sizeof(len) + len ? write_out(saved, fault) : CHI_OK;
	if (rc == CHI_OK) {
		memcpy(saved->buffer + saved->buffered, &len, sizeof(len));
		memcpy(saved->buffer + saved->buffered + sizeof(len), value->mv_data, len);
		saved->buffered += sizeof(len) + len;
		saved->end += sizeof(len) + len;
	}
	return rc;
}

/* Of a sound tree every key is greater than the one before. */
static void count_key(struct chi_saved_positions *saved, const MDB_val *key)
{
	bool ascends = chi_position_compare(saved->last.bytes, saved->last.len, key->mv_data,
					    key->mv_size) < 0;
	saved->astray = saved->astray || !ascends;
	saved->in_tree += ascends;
	saved->last.len = (uint8_t)key->mv_size;
	memcpy(saved->last.bytes, key->mv_data, key->mv_size);
}

int chi_saved_positions_add(struct chi_saved_positions *saved, const MDB_val *key,
			    const MDB_val *value, bool lost, struct chi_fault *fault)
{
	struct chi_sort_item item = {{0}};
	uint64_t place = htobe64(saved->end << 1 | lost);
	if (key->mv_size > CHI_KEY_MAX) {
		return chi_fault_plain(fault, -CHI_EINTERNAL);
	}
	memcpy(item.bytes, key->mv_data, key->mv_size);
	memcpy(item.bytes + CHI_SORT_GROUP, &place, sizeof(place));
	int rc = keep_value(saved, value, fault);
	rc = rc == CHI_OK ? chi_filler_add(&saved->filler, &item, 1, fault) : rc;
	if (!lost) {
		count_key(saved, key);
	}
	return rc;
}

/* ---- In order ------------------------------------------------------------------------------- */

static int step_item(struct chi_saved_positions *saved, struct chi_fault *fault)
{
	const struct chi_sort_item *item = NULL;
	int rc = chi_sort_next(saved->reader, &item);
	if (rc == CHI_OK) {
		saved->next = *item;
	}
	saved->over = rc == CHI_NONE;
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

int chi_saved_positions_seal(struct chi_saved_positions *saved, struct chi_fault *fault)
{
	int rc = write_out(saved, fault);
	rc = rc == CHI_OK ? chi_filler_end(&saved->filler, fault) : rc;
	rc = rc == CHI_OK ? chi_sorter_read(saved->filler.sorter, &saved->reader, fault) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	void *map = saved->end > 0
			    ? mmap(NULL, (size_t)saved->end, PROT_READ, MAP_SHARED, saved->file, 0)
			    : NULL;
	if (map == MAP_FAILED) {
		return kept_fault(saved, fault);
	}
	saved->kept = map;
	return step_item(saved, fault);
}

static uint64_t total_of(const MDB_val *value)
{
	uint16_t chi2;
	struct chi_counts counts;
	uint64_t total = 0;
	if (chi_record_peek(value->mv_data, value->mv_size, &chi2, &counts) == CHI_OK) {
		(void)chi_counts_total(&counts, &total);
	}
	return total;
}

static MDB_val value_at(const struct chi_saved_positions *saved, uint64_t place)
{
	uint32_t len;
	const uint8_t *at = saved->kept + (place >> 1);
	memcpy(&len, at, sizeof(len));
	return chi_val(at + sizeof(len), len);
}

int chi_saved_positions_next(void *context, struct chi_arena *arena, struct chi_key *key,
			     struct chi_record *record, struct chi_fault *fault)
{
	struct chi_saved_positions *saved = context;
	struct chi_sort_item first = saved->next;
	MDB_val value = {0, NULL};
	int rc = CHI_OK;
	if (saved->over) {
		return CHI_NONE;
	}
	while (rc == CHI_OK && !saved->over &&
	       memcmp(saved->next.bytes, first.bytes, CHI_SORT_GROUP) == 0) {
		uint64_t place;
		memcpy(&place, saved->next.bytes + CHI_SORT_GROUP, sizeof(place));
		place = be64toh(place);
		MDB_val other = value_at(saved, place);
		bool lost = (place & 1) != 0;
		saved->found += lost && value.mv_data == NULL;
		if (value.mv_data == NULL || !lost || total_of(&other) > total_of(&value)) {
			value = other;
		}
		rc = step_item(saved, fault);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	saved->handed++;
	*key = (struct chi_key){.len = (uint8_t)chi_key_length(first.bytes)};
	memcpy(key->bytes, first.bytes, key->len);
	rc = chi_record_decode(value.mv_data, value.mv_size, arena, record, NULL);
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(fault, rc);
}
