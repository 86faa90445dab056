/* SPDX-License-Identifier: MIT */
/*
 * What a store must hold: a sequence of steps, each one write transaction, and the content after
 * each of them. A store counts its transactions, so its number tells which content is due, to
 * the last record; half a step cannot pass for either.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

#define MODEL_KEYS  72
#define MODEL_STEPS 64

/* Which steps there are. */
enum model_mix {
	MODEL_SMALL,   /* one position a step */
	MODEL_BATCHES, /* up to nine, some with notes that take pages of their own */
	MODEL_DELETES, /* batches, and as often deletions */
	MODEL_LOADS,   /* up to three positions that are new: what a load can do too */
	MODEL_GAMES,   /* imports of games, which the archive keeps, and removals */
	MODEL_ALIASES, /* players joined and split again, among games and a gameset of them */
};

struct disk_model {
	struct chi_key keys[MODEL_KEYS];
	unsigned n;	/* steps */
	bool games;	/* steps are those of MODEL_GAMES, and no version counts */
	bool aliases;	/* the same of MODEL_ALIASES */
	bool backwards; /* a step does its changes in the opposite order: other pages, same content
			 */
	bool marked;	/* steps are marked writes of one client: one that was done is known, and
			   not done again */
	uint64_t ahead; /* of the store's number over the step: repair makes a new store whose
			   number is far ahead */
	/* Number of the step that put the record a key has after step s; 0: it has none. */
	uint8_t version[MODEL_STEPS + 1][MODEL_KEYS];
};

/* Plans `n` steps, at most MODEL_STEPS; random numbers from the tests' help. */
void model_plan(struct disk_model *model, enum model_mix mix, unsigned n);

/* The put that step `step` does to key `k`; the note lies in `note`, which has room for
 * MODEL_NOTE bytes. */
#define MODEL_NOTE 10000
struct chi_put_entry model_put(const struct disk_model *model, unsigned step, unsigned k,
			       char note[MODEL_NOTE]);

/* Does step `step` (1 for the first) as one transaction; nothing if it is marked and known. */
CHI_MUSTUSE int model_step(const struct disk_model *model, struct chi_dir *store, unsigned step,
			   struct chi_fault *fault);

/* The same as a load; `store` NULL: the first step, which makes the store at `path`. Each step
 * comes with a game of its own. Steps of MODEL_LOADS alone. */
CHI_MUSTUSE int model_load(const struct disk_model *model, struct chi_dir *store, const char *path,
			   unsigned step, struct chi_fault *fault);

/* Opens the store at `path` for reading: sound, with the content after `step`. */
bool model_holds(const struct disk_model *model, const char *path, unsigned step,
		 struct chi_fault *why);

/*
 * Opens the store at `path` and looks whether it is sound, holds exactly the content after a step
 * between `least` and `most`, and takes the next step; if steps are marked, whether it knows the
 * last one and no later one. False and a reason if not. *step is the
 * step whose content was found.
 */
bool model_check(const struct disk_model *model, const char *path, unsigned least, unsigned most,
		 unsigned *step, struct chi_fault *why);
