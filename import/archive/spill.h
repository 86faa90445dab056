/* SPDX-License-Identifier: MIT */
/*
 * Packed games on their way from the threads that read them to the commit, which wants them in the
 * order of the input: a file without a name, in segments of one stream each.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "chistore/types.h"

/* Games of one stream, one after the other. */
struct chi_spill_segment {
	uint32_t stream;
	uint32_t len;
	uint64_t place; /* in the file */
};

struct chi_spill {
	int fd;		 /* -1: not open */
	const char *dir; /* the caller's */
	_Atomic uint64_t end;
	pthread_mutex_t mutex; /* for what follows */
	struct chi_spill_segment *segments;
	size_t n;
	size_t room;
};

/* Made in `dir`, which must outlive it. */
CHI_MUSTUSE int chi_spill_open(struct chi_spill *spill, const char *dir, struct chi_fault *fault);
/* Harmless on one that is not open. */
void chi_spill_close(struct chi_spill *spill);

/* What one thread gathers before it is written. Zeroed at first. */
#define CHI_SPILL_CHUNK (256 << 10)
struct chi_spill_chunk {
	uint32_t stream;
	size_t used;
	uint8_t bytes[CHI_SPILL_CHUNK];
};

/* Keeps a game of the stream, whose number in the session is `number`. -CHI_EFULL, -CHI_EIO,
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_spill_add(struct chi_spill *spill, struct chi_spill_chunk *chunk,
			      uint32_t stream, uint32_t number, const void *bytes, size_t len,
			      struct chi_fault *fault);

/* Writes what the chunk holds: when the thread ends. */
CHI_MUSTUSE int chi_spill_flush(struct chi_spill *spill, struct chi_spill_chunk *chunk,
				struct chi_fault *fault);

/* Calls for each game, by stream and then as they were added, until something other than CHI_OK is
 * returned, which it then returns. No thread adds any more. */
typedef int chi_spill_visit(void *context, uint32_t stream, uint32_t number, const uint8_t *bytes,
			    size_t len);
CHI_MUSTUSE int chi_spill_walk(struct chi_spill *spill, chi_spill_visit *visit, void *context,
			       struct chi_fault *fault);
