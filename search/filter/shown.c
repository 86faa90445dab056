/* SPDX-License-Identifier: MIT */
/* A scan of the position tree, of which the motif leaves most out; the games of what is left are
 * collected from the positions' lists. */
#include "search/filter/shown.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/archive.h"

#define POSITIONS_A_STEP 100
#define THREADS_MAX	 16

struct chi_shown_games {
	struct chi_motif *motif;
	unsigned threads;
	struct chi_scan *scan;	 /* NULL: detached, the positions up to */
	struct chi_cursor place; /* this one are looked at */
	struct chi_numbers *found;
	uint32_t last; /* game, as it began */
	bool begun;
	bool over;
};

/* Numbers of games that a thread has found and not yet added to those of all. */
struct some {
	size_t n;
	uint32_t numbers[1024];
};

/* One look of all threads. */
struct looking {
	struct chi_numbers *found;
	struct some *some;    /* of each thread */
	pthread_mutex_t lock; /* for `found` */
};

void chi_shown_free(struct chi_shown_games *shown)
{
	if (shown != NULL) {
		chi_numbers_free(shown->found);
		free(shown->motif);
		free(shown);
	}
}

int chi_shown_new(const struct chi_motif *motif, unsigned threads, struct chi_shown_games **out)
{
	struct chi_shown_games *shown = calloc(1, sizeof(*shown));
	if (shown == NULL) {
		return -CHI_ENOMEM;
	}
	shown->motif = malloc(chi_motif_size(motif));
	if (shown->motif == NULL || chi_numbers_new(&shown->found) < 0) {
		chi_shown_free(shown);
		return -CHI_ENOMEM;
	}
	memcpy(shown->motif, motif, chi_motif_size(motif));
	shown->threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
	*out = shown;
	return CHI_OK;
}

static bool is_wanted(const void *context, const uint8_t *key)
{
	return chi_motif_fits(context, key);
}

int chi_shown_attach(struct chi_shown_games *shown, struct chi_read *read)
{
	const struct chi_scan_spec spec = {.chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION,
					   .want = CHI_WANT_COUNTS,
					   .after = shown->place};
	struct chi_archive_view view;
	if (shown->over) {
		return CHI_OK;
	}
	int rc = chi_read_archive(read, &view);
	rc = rc == CHI_OK ? chi_read_scan(read, &spec, &shown->scan, NULL) : rc;
	if (rc < 0) {
		return rc;
	}
	struct chi_mask_wants masks;
	chi_motif_masks_of(shown->motif, &masks);
	chi_scan_sift(shown->scan, is_wanted, &masks, shown->motif);
	shown->last = shown->begun ? shown->last : view.last;
	shown->begun = true;
	return CHI_OK;
}

void chi_shown_detach(struct chi_shown_games *shown)
{
	if (shown != NULL && shown->scan != NULL) {
		chi_scan_where(shown->scan, &shown->place);
		chi_scan_free(shown->scan);
		shown->scan = NULL;
	}
}

static int add_some(struct looking *looking, struct some *some)
{
	int rc = CHI_OK;
	(void)pthread_mutex_lock(&looking->lock);
	for (size_t i = 0; rc == CHI_OK && i < some->n; i++) {
		rc = chi_numbers_add(looking->found, some->numbers[i]);
	}
	(void)pthread_mutex_unlock(&looking->lock);
	some->n = 0;
	return rc;
}

static int take_shown_games(void *context, unsigned thread, const struct chi_posting *entries,
			    size_t n)
{
	struct looking *looking = context;
	struct some *some = &looking->some[thread];
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		some->numbers[some->n++] = entries[i].game;
		rc = some->n == CHI_COUNT(some->numbers) ? add_some(looking, some) : CHI_OK;
	}
	return rc;
}

static uint64_t entries_of(uint64_t steps)
{
	return steps < UINT64_MAX / POSITIONS_A_STEP ? steps * POSITIONS_A_STEP : UINT64_MAX;
}

int chi_shown_step(struct chi_shown_games *shown, uint64_t *steps)
{
	if (shown->over || *steps == 0) {
		return shown->over ? CHI_OK : CHI_NONE;
	}
	_cleanup_(chi_freep) struct some *some = calloc(shown->threads, sizeof(*some));
	struct looking looking = {.found = shown->found, .some = some};
	const struct chi_reach_spec spec = {
		.threads = shown->threads, .take = take_shown_games, .context = &looking};
	uint64_t count = 0;
	if (some == NULL) {
		return -CHI_ENOMEM;
	}
	(void)pthread_mutex_init(&looking.lock, NULL);
	int rc = chi_scan_reach(shown->scan, &spec, entries_of(*steps), &count);
	for (unsigned i = 0; rc >= 0 && i < shown->threads; i++) {
		int added = add_some(&looking, &some[i]);
		rc = added < 0 ? added : rc;
	}
	(void)pthread_mutex_destroy(&looking.lock);
	*steps = 0;
	shown->over = rc == CHI_NONE;
	return rc < 0 ? rc : shown->over ? CHI_OK : CHI_NONE;
}

bool chi_shown_knows(const struct chi_shown_games *shown, uint32_t number)
{
	return number <= shown->last;
}

bool chi_shown_has(const struct chi_shown_games *shown, uint32_t number)
{
	return chi_numbers_has(shown->found, number);
}

unsigned chi_shown_progress(const struct chi_shown_games *shown)
{
	uint64_t all = 0;
	uint64_t left = shown->scan != NULL && !shown->over ? chi_scan_left(shown->scan, &all) : 0;
	return all == 0 ? 1000 : (unsigned)((all - left) * 1000 / all);
}

size_t chi_shown_memory(const struct chi_shown_games *shown)
{
	return sizeof(*shown) + chi_motif_size(shown->motif) +
	       (shown->scan != NULL ? chi_scan_memory(shown->scan) : 0) +
	       chi_numbers_memory(shown->found);
}
