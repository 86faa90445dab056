/* SPDX-License-Identifier: MIT */
/* The file lives as long as its session, in one process: its layout is the machine's. */
#include "import/archive/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "base/file.h"

/* Before each game. */
struct spill_head {
	uint32_t number;
	uint32_t len;
};

int chi_spill_open(struct chi_spill *spill, const char *dir, struct chi_fault *fault)
{
	atomic_init(&spill->end, 0);
	(void)pthread_mutex_init(&spill->mutex, NULL);
	spill->dir = dir;
	spill->fd = chi_file_nameless(dir);
	return spill->fd >= 0 ? CHI_OK
			      : chi_fail(fault, chi_fault_errno(errno),
					 "cannot make a file in '%s' for games (%s)", dir,
					 strerror(errno));
}

void chi_spill_close(struct chi_spill *spill)
{
	if (spill->fd >= 0) {
		close(spill->fd);
		(void)pthread_mutex_destroy(&spill->mutex);
	}
	spill->fd = -1;
	free(spill->segments);
	spill->segments = NULL;
}

static int note_segment(struct chi_spill *spill, const struct chi_spill_segment *segment)
{
	(void)pthread_mutex_lock(&spill->mutex);
	int rc = chi_grow(&spill->segments, &spill->room, spill->n + 1, sizeof(*segment));
	if (rc == CHI_OK) {
		spill->segments[spill->n++] = *segment;
	}
	(void)pthread_mutex_unlock(&spill->mutex);
	return rc;
}

static int write_segment(struct chi_spill *spill, uint32_t stream, const void *bytes, size_t len,
			 struct chi_fault *fault)
{
	const struct chi_spill_segment segment = {
		.stream = stream,
		.len = (uint32_t)len,
		.place = atomic_fetch_add_explicit(&spill->end, len, memory_order_relaxed),
	};
	int rc = chi_file_pwrite(spill->fd, bytes, len, segment.place);
	if (rc != CHI_OK) {
		return chi_fail(fault, rc, "cannot write games to a file in '%s' (%s)", spill->dir,
				chi_strerror(rc));
	}
	rc = note_segment(spill, &segment);
	return rc == CHI_OK ? CHI_OK : chi_fault_plain(fault, rc);
}

int chi_spill_flush(struct chi_spill *spill, struct chi_spill_chunk *chunk, struct chi_fault *fault)
{
	size_t used = chunk->used;
	chunk->used = 0;
	return used > 0 ? write_segment(spill, chunk->stream, chunk->bytes, used, fault) : CHI_OK;
}

/* A game that no chunk holds is a segment of its own. */
static int add_long(struct chi_spill *spill, uint32_t stream, const struct spill_head *head,
		    const void *bytes, struct chi_fault *fault)
{
	_cleanup_(chi_freep) uint8_t *all = malloc(sizeof(*head) + head->len);
	if (all == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	memcpy(all, head, sizeof(*head));
	memcpy(all + sizeof(*head), bytes, head->len);
	return write_segment(spill, stream, all, sizeof(*head) + head->len, fault);
}

int chi_spill_add(struct chi_spill *spill, struct chi_spill_chunk *chunk, uint32_t stream,
		  uint32_t number, const void *bytes, size_t len, struct chi_fault *fault)
{
	const struct spill_head head = {.number = number, .len = (uint32_t)len};
	size_t size = sizeof(head) + len;
	if (stream != chunk->stream || size > sizeof(chunk->bytes) - chunk->used) {
		int rc = chi_spill_flush(spill, chunk, fault);
		if (rc != CHI_OK) {
			return rc;
		}
	}
	if (size > sizeof(chunk->bytes)) {
		return add_long(spill, stream, &head, bytes, fault);
	}
	chunk->stream = stream;
	memcpy(chunk->bytes + chunk->used, &head, sizeof(head));
	memcpy(chunk->bytes + chunk->used + sizeof(head), bytes, len);
	chunk->used += size;
	return CHI_OK;
}

/* A stream is read by one thread, whose segments are in the order of their places. */
static int compare_segments(const void *left, const void *right)
{
	const struct chi_spill_segment *a = left;
	const struct chi_spill_segment *b = right;
	if (a->stream != b->stream) {
		return a->stream < b->stream ? -1 : 1;
	}
	return a->place < b->place ? -1 : a->place > b->place;
}

static int visit_segment(const struct chi_spill_segment *segment, const uint8_t *bytes,
			 chi_spill_visit *visit, void *context)
{
	for (size_t at = 0; at < segment->len;) {
		struct spill_head head;
		memcpy(&head, bytes + at, sizeof(head));
		at += sizeof(head);
		int rc = visit(context, segment->stream, head.number, bytes + at, head.len);
		if (rc != CHI_OK) {
			return rc;
		}
		at += head.len;
	}
	return CHI_OK;
}

int chi_spill_walk(struct chi_spill *spill, chi_spill_visit *visit, void *context,
		   struct chi_fault *fault)
{
	size_t room = CHI_SPILL_CHUNK;
	_cleanup_(chi_freep) uint8_t *bytes = malloc(room);
	int rc = bytes != NULL ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
	if (spill->n > 0) {
		qsort(spill->segments, spill->n, sizeof(*spill->segments), compare_segments);
	}
	for (size_t i = 0; i < spill->n && rc == CHI_OK; i++) {
		const struct chi_spill_segment *segment = &spill->segments[i];
		if (segment->len > room) {
			free(bytes);
			room = segment->len;
			bytes = malloc(room);
		}
		if (bytes == NULL) {
			return chi_fault_plain(fault, -CHI_ENOMEM);
		}
		rc = chi_file_pread(spill->fd, bytes, segment->len, segment->place);
		if (rc != CHI_OK) {
			return chi_fail(fault, rc, "cannot read games from a file in '%s' (%s)",
					spill->dir, chi_strerror(rc));
		}
		rc = visit_segment(segment, bytes, visit, context);
	}
	return rc;
}
