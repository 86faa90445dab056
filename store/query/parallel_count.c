/* SPDX-License-Identifier: MIT */
/*
 * Counting by several threads in one snapshot, under one read transaction. LMDB's calls belong to
 * one thread at a time, so that none is made here: the threads do nothing but read the mapped
 * pages, which no one changes while the transaction lives.
 *
 * The band is dealt out in parts, in order: what lies below one branch page of the lowest level,
 * some ten thousand entries. A thread takes the next part when it is done with one, so that none
 * waits for a slow one.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "store/env/snapshot.h"
#include "store/query/scan_priv.h"
#include "store/record/codec.h"
#include "store/store.h"

#define THREADS_MAX 64

/* Fewer parts than this are counted before threads have begun. */
#define PARTS_LEAST 4

struct team {
	pthread_mutex_t lock;  /* for all below */
	struct chi_scan *scan; /* where the next part begins */
	unsigned level;	       /* of the branches that are parts */
	bool over;
	int rc;
	uint64_t count;
	uint64_t looked; /* entries of the parts that are done */
};

/* True if the phase has parts for several threads. Without a filter, one counts blocks by their
 * heads as fast as it can start others. */
static bool is_large(const struct chi_scan *scan)
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
	if (team->over || team->rc < 0) {
		return CHI_NONE;
	}
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

static void *count_parts(void *context)
{
	struct team *team = context;
	struct chi_scan part;
	struct chi_block after;
	pthread_mutex_lock(&team->lock);
	while (take_part(team, &part, &after) == CHI_OK) {
		uint64_t count = 0;
		uint64_t left = part.left;
		enum chi_scan_range range = part.range;
		int rc = CHI_OK;
		pthread_mutex_unlock(&team->lock);
		while (rc == CHI_OK && part.range == range) {
			uint64_t steps = UINT64_MAX;
			rc = chi_count_some(&part, &steps, &count);
		}
		bool beyond = part.at < part.n;
		if (rc == CHI_OK && !beyond && !ends_well(&part, &after)) {
			rc = -CHI_ECORRUPT;
		}
		pthread_mutex_lock(&team->lock);
		team->count += count;
		team->looked += left - part.left;
		/* A damaged tree that leads in circles would be dealt out for ever. */
		if (rc == CHI_OK && team->looked > team->scan->left) {
			rc = -CHI_ECORRUPT;
		}
		team->rc = rc < 0 ? rc : team->rc;
	}
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

/* Signals meant for the program go to threads that it knows; those of a thread's own faults must
 * not be blocked. Returns how many of `n` threads began. */
static unsigned start_others(struct team *team, pthread_t *others, unsigned n)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
	sigset_t blocked;
	sigset_t before;
	unsigned begun = 0;
	(void)sigfillset(&blocked);
	for (size_t i = 0; i < CHI_COUNT(own); i++) {
		(void)sigdelset(&blocked, own[i]);
	}
	(void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
	while (begun < n && pthread_create(&others[begun], NULL, count_parts, team) == 0) {
		begun++;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return begun;
}

/* The rest of a phase that is large. The caller is one of the threads, so that it goes on if
 * none can be started. */
static int count_range(struct team *team, unsigned threads)
{
	pthread_t others[THREADS_MAX - 1];
	team->level = team->scan->tree.depth - 2u;
	team->over = false;
	team->looked = 0;
	unsigned n =
		start_others(team, others, threads < THREADS_MAX ? threads - 1 : THREADS_MAX - 1);
	(void)count_parts(team);
	while (n > 0) {
		(void)pthread_join(others[--n], NULL);
	}
	team->scan->left -= team->looked;
	if (team->rc == CHI_OK && team->scan->whole && team->scan->left > 0 &&
	    (team->scan->range != CHI_SCAN_RANGE_STRENGTH ||
	     team->scan->spec.chi2_max == CHI_CHI2_MAX)) {
		team->rc = -CHI_ECORRUPT;
	}
	chi_scan_range_leave(team->scan);
	return team->rc;
}

int chi_scan_count_all(struct chi_scan *scan, unsigned threads, uint64_t *count)
{
	struct team team = {.scan = scan};
	int rc = chi_count_ready(scan);
	scan->placeless = !scan->sieve.idle && !scan->spec.descending;
	(void)pthread_mutex_init(&team.lock, NULL);
	while (rc == CHI_OK && (rc = chi_count_next(scan, &team.count)) == CHI_OK) {
		uint64_t steps = UINT64_MAX;
		/* Before threads look for records, this one finds out where their tree is. */
		bool joins = chi_scan_joins(scan);
		bool parallel = threads > 1 && is_large(scan) && scan->judge == NULL &&
				(!joins || chi_read_can_descend(scan->read));
		rc = parallel ? count_range(&team, threads)
			      : chi_count_some(scan, &steps, &team.count);
	}
	(void)pthread_mutex_destroy(&team.lock);
	*count += team.count;
	if (rc != -CHI_EFORK) {
		scan->rc = rc;
	}
	return rc;
}
