/* SPDX-License-Identifier: MIT */
/*
 * Puts by the million on their way into a store: threads keep them, stream by stream, in a nameless
 * file, and sort their keys; the commit then folds those of one position, in the order of the
 * input, into one record after the other (store/load/load.h).
 *
 * An item of the sorter is a key, then, big-endian, the stream (24 bits) and where in what that
 * stream kept the put is (40). A put is kept with its length and its line in the stream before it
 * (4 bytes each, the machine's).
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/sorter.h"
#include "import/importer_priv.h"
#include "store/load/load.h"

#define CHI_PUTS_STREAM_MAX 0xffffffu

struct chi_puts {
	struct chi_importer *importer;
	struct chi_sorter *sorter;
	int file; /* nameless */
	_Atomic uint64_t end;
	uint64_t *places; /* in the file, by stream, of those collected */
	size_t n_places;
	size_t room;
};

/* `memory`: bytes for sorting. May fail half done: chi_puts_deinit is called in every case. */
CHI_MUSTUSE int chi_puts_init(struct chi_puts *puts, struct chi_importer *importer, uint64_t memory,
			      struct chi_fault *fault);
void chi_puts_deinit(struct chi_puts *puts);

/* ---- A thread that reads: zeroed at first but for `puts` and the filler's sorter. */

struct chi_puts_writer {
	struct chi_puts *puts;
	struct chi_filler filler;
	struct chi_arena arena; /* of one put */
	uint8_t *kept;		/* what the stream keeps */
	size_t n_kept;
	size_t capacity;
};

void chi_puts_writer_init(struct chi_puts_writer *writer, struct chi_puts *puts);
void chi_puts_writer_deinit(struct chi_puts_writer *writer);

/* Keeps a put of the stream, its strings too. `line`: counts from the stream's first.
 * -CHI_EINVAL or -CHI_ETOOBIG: no store takes it, and the next may be kept; others are final. */
CHI_MUSTUSE int chi_puts_keep(struct chi_puts_writer *writer, const struct chi_put_entry *put,
			      uint32_t stream, uint32_t line, struct chi_fault *fault);

/* What the stream kept is in one place: *place. */
CHI_MUSTUSE int chi_puts_end_stream(struct chi_puts_writer *writer, uint64_t *place,
				    struct chi_fault *fault);

/* When there are no more streams. */
CHI_MUSTUSE int chi_puts_end(struct chi_puts_writer *writer, struct chi_fault *fault);

/* ---- The thread that commits. */

/* The places of the streams, in their order. */
CHI_MUSTUSE int chi_puts_place(struct chi_puts *puts, uint64_t place);

/* Called for a put that the store refuses. */
typedef void chi_puts_refused(void *context, uint32_t stream, uint32_t line, const char *why);

/* Called for each position before what came out is stored. */
typedef int chi_puts_folded(void *context, const struct chi_key *key, struct chi_fault *fault);

/* All puts into the load, which has been started; the threads have ended. `folded` may be NULL. */
CHI_MUSTUSE int chi_puts_fold(struct chi_puts *puts, struct chi_load *load,
			      chi_puts_refused *refused, chi_puts_folded *folded, void *context,
			      struct chi_fault *fault);
