/* SPDX-License-Identifier: MIT */
/*
 * The phase is dealt out in parts, in order: what lies below one branch page of the lowest level,
 * some ten thousand entries. A thread takes the next part when it is done with one, so that none
 * waits for a slow one.
 */
#include "store/query/parallel.h"

#include <pthread.h>
#include <string.h>

#include "base/thread.h"
#include "store/record/codec.h"

/* Fewer parts than this are walked before threads have begun. */
#define PARTS_LEAST 4

struct team {
	pthread_mutex_t lock;  /* for all below */
	struct chi_scan *scan; /* where the next part begins */
	chi_part_walk *walk;
	void *context;
	unsigned threads; /* that have begun */
	unsigned level;	  /* of the branches that are parts */
	uint64_t parts;	  /* that were dealt out */
	uint64_t most;	  /* that may be */
	uint64_t ended;	  /* the latest part that has ended; its last entry is in `place` */
	struct chi_scan place;
	bool over;
	int rc;
	uint64_t count;
	uint64_t looked; /* entries of the parts that are done */
};

/* Without a filter, one thread counts blocks by their heads as fast as it can start others. */
bool chi_parallel_pays(const struct chi_scan *scan)
{
	const struct chi_leaf_cursor *from = &scan->blocks.leaves;
	struct chi_leaf_cursor to;
	uint8_t end[2 + sizeof(uint64_t)] = {0};
	if (scan->spec.descending || scan->tree.depth < 3 || chi_count_unfiltered(scan)) {
		return false;
	}
	/* Two branches above the leaves: how many of its children the band spans. */
	unsigned level = scan->tree.depth - 3u;
	if (scan->range != CHI_SCAN_RANGE_STRENGTH || scan->spec.chi2_max == CHI_CHI2_MAX) {
		uint32_t n = chi_page_entries(&scan->tree, from->pages[level], FLAG_BRANCH);
		return level > 0 || n >= from->at[level] + PARTS_LEAST;
	}
	chi_chi2_bytes((uint16_t)(scan->spec.chi2_max + 1), end);
	if (chi_leaf_cursor_seek(&to, &scan->tree, chi_strength_compare, false, end, sizeof(end)) !=
	    CHI_OK) {
		return false;
	}
	for (unsigned i = 0; i < level; i++) {
		if (to.at[i] != from->at[i]) {
			return true;
		}
	}
	return to.at[level] >= from->at[level] + PARTS_LEAST;
}

/* The band ends before the block that the scan is in. */
static bool is_beyond(const struct chi_scan *scan)
{
	const struct chi_block *block = &scan->blocks.block;
	return scan->range == CHI_SCAN_RANGE_STRENGTH && scan->spec.chi2_max < CHI_CHI2_MAX &&
	       chi_chi2_of(block->low) > scan->spec.chi2_max;
}

/* Deals out the next part, under the lock. CHI_NONE: there is none, or one of them failed. */
static int take_part(struct team *team, struct chi_scan *part, struct chi_block *after)
{
	struct chi_scan *scan = team->scan;
	if (team->over || team->rc < 0 || team->parts == team->most) {
		return CHI_NONE;
	}
	team->parts++;
	*part = *scan;
	part->whole = false;
	part->blocks.leaves.tree = &part->tree;
	part->blocks.leaves.floor = team->level;
	int rc = chi_block_cursor_pass(&scan->blocks, team->level);
	*after = (struct chi_block){0};
	if (rc == CHI_OK) {
		*after = scan->blocks.block;
		scan->group = UINT32_MAX;
		scan->n = 0;
		scan->at = 0;
	}
	team->over = rc == CHI_NONE || (rc == CHI_OK && is_beyond(scan));
	team->rc = rc < 0 ? rc : team->rc;
	return rc < 0 ? rc : CHI_OK;
}

/* A part ends where the next one begins, the last one at the tree's end; or the band does, before.
 */
static bool ends_well(const struct chi_scan *part, const struct chi_block *after)
{
	const struct chi_block *last = &part->blocks.block;
	return last->fence_len == after->low_len &&
	       (after->low_len == 0 || memcmp(last->fence, after->low, after->low_len) == 0);
}

/* Notes, under the lock, that part `number` has ended with `rc`. `left` were its scan's entries. */
static void end_part(struct team *team, const struct chi_scan *part, uint64_t number, uint64_t left,
		     int rc)
{
	team->looked += left - part->left;
	if (number > team->ended && part->left < left) {
		team->ended = number;
		team->place = *part;
	}
	/* A damaged tree that leads in circles would be dealt out for ever. */
	if (rc == CHI_OK && team->looked > team->scan->left) {
		rc = -CHI_ECORRUPT;
	}
	team->rc = rc < 0 ? rc : team->rc;
}

static void *walk_parts(void *context)
{
	struct team *team = context;
	struct chi_scan part;
	struct chi_block after;
	pthread_mutex_lock(&team->lock);
	unsigned thread = team->threads++;
	while (take_part(team, &part, &after) == CHI_OK) {
		uint64_t number = team->parts;
		uint64_t count = 0;
		uint64_t left = part.left;
		pthread_mutex_unlock(&team->lock);
		int rc = team->walk(team->context, thread, &part, &count);
		bool beyond = part.at < part.n;
		if (rc == CHI_OK && !beyond && !ends_well(&part, &after)) {
			rc = -CHI_ECORRUPT;
		}
		pthread_mutex_lock(&team->lock);
		team->count += count;
		end_part(team, &part, number, left, rc);
	}
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

/* The scan goes on after the last part, or leaves its phase. */
static int finish_team(struct team *team)
{
	struct chi_scan *scan = team->scan;
	scan->left -= team->looked;
	if (team->ended > 0) {
		memcpy(scan->last, team->place.last, sizeof(scan->last));
		scan->last_len = team->place.last_len;
		scan->last_range = team->place.last_range;
		scan->last_chi2 = team->place.last_chi2;
	}
	if (team->rc == CHI_OK && !team->over) {
		return CHI_OK;
	}
	if (team->rc == CHI_OK && scan->whole && scan->left > 0 &&
	    (scan->range != CHI_SCAN_RANGE_STRENGTH || scan->spec.chi2_max == CHI_CHI2_MAX)) {
		team->rc = -CHI_ECORRUPT;
	}
	chi_scan_range_leave(scan);
	return team->rc;
}

/* The caller is one of the threads, so that it goes on if none can be started. */
int chi_parallel_walk(struct chi_scan *scan, unsigned threads, uint64_t parts, chi_part_walk *walk,
		      void *context, uint64_t *count)
{
	pthread_t others[CHI_PARALLEL_MAX - 1];
	struct team team = {.scan = scan,
			    .walk = walk,
			    .context = context,
			    .level = scan->tree.depth - 2u,
			    .most = parts};
	(void)pthread_mutex_init(&team.lock, NULL);
	unsigned most = threads < CHI_PARALLEL_MAX ? threads : CHI_PARALLEL_MAX;
	unsigned n = chi_threads_start(others, most - 1, walk_parts, &team);
	(void)walk_parts(&team);
	while (n > 0) {
		(void)pthread_join(others[--n], NULL);
	}
	(void)pthread_mutex_destroy(&team.lock);
	*count += team.count;
	return finish_team(&team);
}
