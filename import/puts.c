/* SPDX-License-Identifier: MIT */
/* Puts in a file, keys in a sorter; what was kept is read where it is, through a map of the file.
 */
#include "import/puts.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "base/file.h"
#include "chess/key.h"

/* Room for what a stream keeps; it grows. */
#define KEPT_FIRST ((size_t)1 << 20)

/* The length and the line. */
#define HEAD (2 * sizeof(uint32_t))

/* A put's lists again, normalised. */
#define ARENA_BUDGET ((size_t)16 << 20)

#define PLACE_BITS 40

int chi_puts_init(struct chi_puts *puts, struct chi_importer *importer, uint64_t memory,
		  struct chi_fault *fault)
{
	puts->importer = importer;
	puts->file = chi_file_nameless(importer->spill);
	if (puts->file < 0) {
		return chi_fail(fault, chi_fault_errno(errno),
				"cannot make a file in '%s' for positions (%s)", importer->spill,
				strerror(errno));
	}
	int rc = chi_sorter_new(importer->spill, memory, importer->options.threads, &puts->sorter);
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(fault, rc);
}

void chi_puts_deinit(struct chi_puts *puts)
{
	chi_sorter_free(puts->sorter);
	if (puts->file >= 0) {
		(void)close(puts->file);
	}
	free(puts->places);
}

/* ---- Keeping ------------------------------------------------------------------------------ */

void chi_puts_writer_init(struct chi_puts_writer *writer, struct chi_puts *puts)
{
	*writer = (struct chi_puts_writer){.puts = puts, .filler = {.sorter = puts->sorter}};
	chi_arena_init(&writer->arena, ARENA_BUDGET);
}

void chi_puts_writer_deinit(struct chi_puts_writer *writer)
{
	chi_filler_drop(&writer->filler);
	chi_arena_deinit(&writer->arena);
	free(writer->kept);
}

/* Room for any put. */
static int reserve(struct chi_puts_writer *writer)
{
	size_t capacity = writer->capacity == 0 ? KEPT_FIRST : writer->capacity;
	while (capacity - writer->n_kept < HEAD + CHI_LOAD_KEPT_MAX) {
		capacity *= 2;
	}
	uint8_t *kept =
		capacity > writer->capacity ? realloc(writer->kept, capacity) : writer->kept;
	if (kept == NULL) {
		return -CHI_ENOMEM;
	}
	writer->kept = kept;
	writer->capacity = capacity;
	return CHI_OK;
}

int chi_puts_keep(struct chi_puts_writer *writer, const struct chi_put_entry *put, uint32_t stream,
		  uint32_t line, struct chi_fault *fault)
{
	struct chi_sort_item item = {{0}};
	size_t len = 0;
	int rc = reserve(writer);
	if (rc == CHI_OK) {
		chi_arena_reset(&writer->arena);
		rc = chi_load_keep(put, writer->puts->importer->statistic, &writer->arena,
				   writer->kept + writer->n_kept + HEAD,
				   writer->capacity - writer->n_kept - HEAD, &len);
	}
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	const uint32_t head[2] = {(uint32_t)len, line};
	uint64_t place = htobe64((uint64_t)stream << PLACE_BITS | writer->n_kept);
	memcpy(writer->kept + writer->n_kept, head, HEAD);
	memcpy(item.bytes, put->key.bytes, put->key.len);
	memcpy(item.bytes + CHI_SORT_GROUP, &place, sizeof(place));
	writer->n_kept += HEAD + len;
	return chi_filler_add(&writer->filler, &item, 1, fault);
}

int chi_puts_end_stream(struct chi_puts_writer *writer, uint64_t *place, struct chi_fault *fault)
{
	struct chi_puts *puts = writer->puts;
	errno = ENOSPC; /* what a short write means */
	*place = atomic_fetch_add(&puts->end, writer->n_kept);
	int rc = chi_file_pwrite(puts->file, writer->kept, writer->n_kept, *place);
	writer->n_kept = 0;
	return rc == CHI_OK ? CHI_OK
			    : chi_fail(fault, rc, "cannot keep positions in '%s' (%s)",
				       puts->importer->spill, strerror(errno));
}

int chi_puts_end(struct chi_puts_writer *writer, struct chi_fault *fault)
{
	return chi_filler_end(&writer->filler, fault);
}

int chi_puts_place(struct chi_puts *puts, uint64_t place)
{
	if (chi_grow(&puts->places, &puts->room, puts->n_places + 1, sizeof(place)) < 0) {
		return -CHI_ENOMEM;
	}
	puts->places[puts->n_places++] = place;
	return CHI_OK;
}

/* ---- In order ------------------------------------------------------------------------------ */

struct fold {
	const struct chi_puts *puts;
	struct chi_load *load;
	chi_puts_refused *refused;
	chi_puts_folded *folded;
	void *context;
	const uint8_t *kept; /* the file */
	size_t size;
	struct chi_sort_item last; /* the one before, when `any` */
	bool any;
};

static void fold_deinit(struct fold *fold)
{
	if (fold->size > 0) {
		(void)munmap((void *)(uintptr_t)fold->kept, fold->size);
	}
}

static int map_kept(struct fold *fold, struct chi_fault *fault)
{
	size_t size = (size_t)atomic_load(&fold->puts->end);
	void *map = size > 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, fold->puts->file, 0) : NULL;
	if (map == MAP_FAILED) {
		return chi_fail(fault, chi_fault_errno(errno),
				"cannot read the positions that were kept (%s)", strerror(errno));
	}
	fold->kept = map;
	fold->size = size;
	return CHI_OK;
}

static struct chi_key key_of(const struct chi_sort_item *item)
{
	struct chi_key key = {.len = (uint8_t)chi_key_length(item->bytes)};
	memcpy(key.bytes, item->bytes, CHI_KEY_MAX);
	return key;
}

/* All puts of the last key have come. */
static int end_key(struct fold *fold, struct chi_fault *fault)
{
	int rc = CHI_OK;
	if (!fold->any) {
		return CHI_OK;
	}
	if (fold->folded != NULL) {
		struct chi_key key = key_of(&fold->last);
		rc = fold->folded(fold->context, &key, fault);
	}
	return rc == CHI_OK ? chi_load_fold_end(fold->load, fault) : rc;
}

static int change_key(struct fold *fold, const struct chi_sort_item *item, struct chi_fault *fault)
{
	struct chi_key key = key_of(item);
	if (fold->any && memcmp(fold->last.bytes, item->bytes, CHI_SORT_GROUP) == 0) {
		return CHI_OK;
	}
	int rc = end_key(fold, fault);
	fold->any = true;
	fold->last = *item;
	return rc == CHI_OK ? chi_load_fold_begin(fold->load, &key, fault) : rc;
}

static int fold_one(void *context, const struct chi_sort_item *item, struct chi_fault *fault)
{
	struct fold *fold = context;
	uint64_t place;
	uint32_t head[2];
	memcpy(&place, item->bytes + CHI_SORT_GROUP, sizeof(place));
	place = be64toh(place);
	uint64_t stream = place >> PLACE_BITS;
	const uint8_t *put = fold->kept + fold->puts->places[stream] +
			     (place & ((UINT64_C(1) << PLACE_BITS) - 1));
	memcpy(head, put, HEAD);
	int rc = change_key(fold, item, fault);
	rc = rc == CHI_OK ? chi_load_fold(fold->load, put + HEAD, head[0], fault) : rc;
	if (rc != CHI_NONE) {
		return rc;
	}
	fold->refused(fold->context, (uint32_t)stream, head[1], fault->text);
	fault->text[0] = '\0';
	return CHI_OK;
}

int chi_puts_fold(struct chi_puts *puts, struct chi_load *load, chi_puts_refused *refused,
		  chi_puts_folded *folded, void *context, struct chi_fault *fault)
{
	_cleanup_(fold_deinit) struct fold fold = {.puts = puts,
						   .load = load,
						   .refused = refused,
						   .folded = folded,
						   .context = context};
	int rc = map_kept(&fold, fault);
	if (rc == CHI_OK) {
		rc = chi_importer_walk(puts->importer, puts->sorter, "storing", fold_one, &fold,
				       fault);
	}
	return rc == CHI_OK ? end_key(&fold, fault) : rc;
}
