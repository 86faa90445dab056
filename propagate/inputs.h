/* SPDX-License-Identifier: MIT */
/*
 * A file that remembers what scores were backed up from: each position of a store in the order of
 * its keys, with its direct score. Compared with the store, it tells what has changed since.
 *
 * The file, numbers with the lowest byte first: "chiback2", the store's UUID, the decay in 2 bytes,
 * the length of the engine's name in 1 and the name. For each position 1 byte of flags (1: always,
 * 2: it has a direct score, 4: with a first move, 8: no evaluation fits any more), how many bytes
 * its key shares with the one before, how many it has of its own, and these; then the score in 4
 * bytes and the move in 2, where there are such. After the last a byte of 0, the number of
 * positions in 8, and XXH3 of all before in 8.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/attr.h"
#include "propagate/backup.h"
#include "chistore/types.h"

/* What the scores depend on besides; a file of others is refused. */
struct chi_inputs_of {
	uint8_t uuid[16];
	uint16_t decay;
	const char *engine; /* CHI_ENGINE_MAX bytes at most */
};

struct chi_input {
	struct chi_key key;
	chi_worth direct; /* or CHI_WORTH_NONE */
	chi_move first;
	bool full; /* it keeps its worth */
};

/* That of a record; `name` as of chi_eval_fits. */
struct chi_input chi_input_of(const struct chi_key *key, const struct chi_record *record,
			      const char *name);

struct chi_inputs_reader;

/* The file stays the caller's. -CHI_EIO; -CHI_ECORRUPT: damaged, or another kind of file;
 * -CHI_EINVAL: of another store, decay or engine; -CHI_ENOMEM. */
CHI_MUSTUSE int chi_inputs_open(FILE *file, const struct chi_inputs_of *of,
				struct chi_inputs_reader **out, struct chi_fault *fault);
void chi_inputs_close(struct chi_inputs_reader *reader); /* NULL is fine */

/* The next one, until the next call. CHI_NONE: that was the last, and the file is sound. -CHI_EIO,
 * -CHI_ECORRUPT. */
CHI_MUSTUSE int chi_inputs_next(struct chi_inputs_reader *reader, const struct chi_input **out,
				struct chi_fault *fault);

struct chi_inputs_writer;

/* The file stays the caller's, who asks it in the end for errors. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_inputs_create(FILE *file, const struct chi_inputs_of *of,
				  struct chi_inputs_writer **out);
/* In the order of the keys. */
void chi_inputs_add(struct chi_inputs_writer *writer, const struct chi_input *input);
void chi_inputs_finish(struct chi_inputs_writer *writer);
void chi_inputs_drop(struct chi_inputs_writer *writer); /* NULL is fine */
