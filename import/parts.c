/* SPDX-License-Identifier: MIT */
/*
 * The sorted items come in parts; threads take the parts in order and make records of them
 * (aggregate.c); the committing thread stores what they packed, in order again. How many parts the
 * threads may be ahead of it is bounded, and so is what each of them may have packed: more waits
 * until all parts before are stored.
 */
#include <stdlib.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/session_priv.h"

enum stage {
	STAGE_FILLING,
	STAGE_FULL, /* to be stored, and filled again */
	STAGE_DONE,
};

/* A part on its way. */
struct slot {
	struct chi_load_block block;
	enum stage stage;
};

struct parts {
	struct chi_pgn_session *games;
	const struct chi_load_spec *spec;
	const struct chi_import_limits *limits;
	size_t n_parts;
	size_t full; /* bytes of a block */
	pthread_mutex_t mutex;
	pthread_cond_t ready;
	pthread_cond_t room;
	size_t next;   /* the part that is taken next */
	size_t stored; /* parts stored, or being stored */
	size_t window;
	struct slot *slots; /* part modulo window */
	int status;
	struct chi_fault fault;
};

/* Keeps the first failure and wakes all threads. With the mutex held. */
static void stop(struct parts *parts, int rc, const struct chi_fault *fault)
{
	if (parts->status == CHI_OK) {
		parts->status = rc;
		parts->fault = *fault;
	}
	pthread_cond_broadcast(&parts->ready);
	pthread_cond_broadcast(&parts->room);
}

/* Takes the next part, when it may be begun; false: there is none, or something failed. */
static bool take_part(struct parts *parts, size_t *part)
{
	pthread_mutex_lock(&parts->mutex);
	while (parts->status == CHI_OK && parts->next < parts->n_parts &&
	       parts->next - parts->stored >= parts->window) {
		pthread_cond_wait(&parts->room, &parts->mutex);
	}
	bool taken = parts->status == CHI_OK && parts->next < parts->n_parts;
	*part = taken ? parts->next++ : 0;
	pthread_mutex_unlock(&parts->mutex);
	return taken;
}

/* The slot's stage, told to who waits for it. */
static void set_stage(struct parts *parts, struct slot *slot, enum stage stage)
{
	pthread_mutex_lock(&parts->mutex);
	slot->stage = stage;
	pthread_cond_broadcast(stage == STAGE_FILLING ? &parts->room : &parts->ready);
	pthread_mutex_unlock(&parts->mutex);
}

/* One thread that works. */
struct parts_worker {
	struct parts *parts;
	struct slot *slot;
};

/* Waits until the block is stored. */
static int pass_block(void *context, struct chi_load_block *block)
{
	const struct parts_worker *worker = context;
	struct parts *parts = worker->parts;
	(void)block;
	pthread_mutex_lock(&parts->mutex);
	worker->slot->stage = STAGE_FULL;
	pthread_cond_broadcast(&parts->ready);
	while (worker->slot->stage == STAGE_FULL && parts->status == CHI_OK) {
		pthread_cond_wait(&parts->room, &parts->mutex);
	}
	int rc = parts->status;
	pthread_mutex_unlock(&parts->mutex);
	return rc;
}

static void fail_parts(struct parts *parts, int rc, const struct chi_fault *fault)
{
	pthread_mutex_lock(&parts->mutex);
	stop(parts, rc, fault);
	pthread_mutex_unlock(&parts->mutex);
}

static void *work_on_part(void *argument)
{
	struct parts_worker worker = {.parts = argument};
	struct parts *parts = argument;
	struct chi_fault fault;
	size_t part;
	struct chi_aggregator *aggregator = chi_aggregator_new(
		parts->games, parts->limits, parts->spec, parts->full, pass_block, &worker);
	if (aggregator == NULL) {
		fail_parts(parts, chi_fault_plain(&fault, -CHI_ENOMEM), &fault);
		return NULL;
	}
	while (take_part(parts, &part)) {
		worker.slot = &parts->slots[part % parts->window];
		int rc = chi_aggregate_part(aggregator, part, &worker.slot->block, &fault);
		if (rc != CHI_OK) {
			fail_parts(parts, rc, &fault);
			break;
		}
		set_stage(parts, worker.slot, STAGE_DONE);
	}
	chi_aggregator_free(aggregator);
	return NULL;
}

/* Waits until the part's block is full or the part done. */
static int await(struct parts *parts, const struct slot *slot, enum stage *stage,
		 struct chi_fault *fault)
{
	pthread_mutex_lock(&parts->mutex);
	while (slot->stage == STAGE_FILLING && parts->status == CHI_OK) {
		pthread_cond_wait(&parts->ready, &parts->mutex);
	}
	int rc = parts->status;
	if (rc != CHI_OK) {
		*fault = parts->fault;
	}
	*stage = slot->stage;
	pthread_mutex_unlock(&parts->mutex);
	return rc;
}

/* Stores a part, block by block. The next part that comes here uses the memory again. */
static int store_part(struct parts *parts, size_t part, struct chi_load *load,
		      struct chi_fault *fault)
{
	struct slot *slot = &parts->slots[part % parts->window];
	enum stage stage = STAGE_FULL;
	while (stage != STAGE_DONE) {
		int rc = await(parts, slot, &stage, fault);
		rc = rc == CHI_OK ? chi_load_apply(load, &slot->block, fault) : rc;
		if (rc != CHI_OK) {
			return rc;
		}
		slot->block.len = 0;
		slot->block.n = 0;
		pthread_mutex_lock(&parts->mutex);
		slot->stage = STAGE_FILLING;
		parts->stored += stage == STAGE_DONE;
		pthread_cond_broadcast(&parts->room);
		pthread_mutex_unlock(&parts->mutex);
	}
	return CHI_OK;
}

static int store_all(struct parts *parts, struct chi_load *load, struct chi_fault *fault)
{
	const struct chi_importer *importer = parts->games->importer;
	int rc = CHI_OK;
	for (size_t part = 0; part < parts->n_parts && rc == CHI_OK; part++) {
		chi_importer_progress(importer, "storing", part, parts->n_parts);
		rc = chi_importer_canceled(importer) ? chi_fault_plain(fault, -CHI_ECANCELED)
						     : store_part(parts, part, load, fault);
	}
	return rc;
}

static int run_threads(struct parts *parts, struct chi_load *load, struct chi_fault *fault)
{
	unsigned wanted = parts->games->importer->options.threads;
	_cleanup_(chi_freep) pthread_t *threads = calloc(wanted, sizeof(*threads));
	if (threads == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	unsigned n = 0;
	while (n < wanted && pthread_create(&threads[n], NULL, work_on_part, parts) == 0) {
		n++;
	}
	int rc = n > 0 ? store_all(parts, load, fault)
		       : chi_fail(fault, -CHI_ENOMEM, "cannot start a thread");
	if (rc != CHI_OK) {
		pthread_mutex_lock(&parts->mutex);
		stop(parts, rc, fault);
		pthread_mutex_unlock(&parts->mutex);
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
	}
	return rc;
}

int chi_import_fold(struct chi_pgn_session *games, size_t n_parts,
		    const struct chi_import_limits *limits, const struct chi_load_spec *spec,
		    struct chi_load *load, struct chi_fault *fault)
{
	const struct chi_import_options *options = &games->importer->options;
	struct parts parts = {
		.games = games,
		.spec = spec,
		.limits = limits,
		.n_parts = n_parts,
		.window = CHI_IMPORT_WINDOW(options),
	};
	parts.full = (size_t)(options->memory / CHI_IMPORT_BLOCKS_SHARE) / parts.window;
	parts.full = parts.full < CHI_IMPORT_BLOCK_MIN ? CHI_IMPORT_BLOCK_MIN : parts.full;
	parts.slots = calloc(parts.window, sizeof(*parts.slots));
	pthread_mutex_init(&parts.mutex, NULL);
	pthread_cond_init(&parts.ready, NULL);
	pthread_cond_init(&parts.room, NULL);
	int rc = parts.slots != NULL ? run_threads(&parts, load, fault)
				     : chi_fault_plain(fault, -CHI_ENOMEM);
	for (size_t i = 0; parts.slots != NULL && i < parts.window; i++) {
		chi_load_block_free(&parts.slots[i].block);
	}
	free(parts.slots);
	pthread_cond_destroy(&parts.room);
	pthread_cond_destroy(&parts.ready);
	pthread_mutex_destroy(&parts.mutex);
	return rc;
}
