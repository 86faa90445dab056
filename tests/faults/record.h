/* SPDX-License-Identifier: MIT */
/*
 * Work loads, done on a store and written down call by call with what was promised in between. Each
 * prepares `work` again except `marked`; a call that fails ends the test. The journal is the
 * caller's to free.
 */
#pragma once

#include "tests/faults/journal.h"
#include "tests/faults/model.h"

/* The stores that a work load makes. */
enum {
	MAIN,
	BACKUP,
	TARGETS
};
/* Their names below the root. */
extern const char *const record_targets[TARGETS];

struct work {
	struct disk_model model;
	struct journal journal;
	char root[256];
	uint64_t root_ino;
	bool marked;	/* the next work load's writes are; it is cleared */
	bool published; /* the copy is a published one */
	uint64_t ahead; /* of the copy's number over the step that it holds */
};

/* A store and nothing in it. */
void record_create(struct work *work, const char *name);
/* Steps of the mix, in a store that holds nothing before. */
void record_steps(struct work *work, const char *name, enum model_mix mix, unsigned n);
void record_loads(struct work *work);
void record_compact(struct work *work);
void record_repeated(struct work *work);
void record_failing(struct work *work);
void record_killed(struct work *work);
void record_backup(struct work *work);
void record_repair(struct work *work);
void record_publish(struct work *work);
void record_async(struct work *work);
