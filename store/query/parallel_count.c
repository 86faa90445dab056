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

#include "store/env/snapshot.h"
#include "store/query/scan_priv.h"
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

/* True if the phase has parts for several threads. Without a filter, one counts pages by their
 * heads as fast as it can start others. */
static bool is_large(const struct chi_scan *scan)
{
	if (scan->spec.descending || scan->tree.depth < 3 || chi_count_unfiltered(scan)) {
		return false;
	}
	/* Two branches above the leaves: how many of its children the band spans. */
	unsigned level = scan->tree.depth - 3u;
	uint32_t from = scan->leaf_cursor.at[level];
	for (unsigned i = 0; i < level && scan->has_end; i++) {
		if (scan->end.at[i] != scan->leaf_cursor.at[i]) {
			return true;
		}
	}
	if (scan->has_end) {
		return scan->end.at[level] >= from + PARTS_LEAST;
	}
	uint32_t n = chi_page_entries(&scan->tree, scan->leaf_cursor.pages[level], FLAG_BRANCH);
	return level > 0 || n >= from + PARTS_LEAST;
}

/* Moves the scan to the part after the one it is in. */
static int pass_over(struct chi_scan *scan, unsigned level)
{
	struct chi_leaf_cursor *leaf_cursor = &scan->leaf_cursor;
	uint32_t n = chi_page_entries(&scan->tree, leaf_cursor->pages[level], FLAG_BRANCH);
	leaf_cursor->at[level] = n - 1;
	return chi_leaf_cursor_skip(leaf_cursor, false);
}

/* Deals out the next part, under the lock. CHI_NONE: there is none, or one of them failed. */
static int take_part(struct team *team, struct chi_scan *part)
{
	struct chi_scan *scan = team->scan;
	if (team->over || team->rc < 0) {
		return CHI_NONE;
	}
	*part = *scan;
	part->whole = false;
	part->leaf_cursor.tree = &part->tree;
	part->leaf_cursor.floor = team->level;
	bool last = scan->has_end &&
		    scan->leaf_cursor.pages[team->level] == scan->end.pages[team->level];
	int rc = last ? CHI_NONE : pass_over(scan, team->level);
	team->over = rc == CHI_NONE;
	if (team->over && scan->has_end && !last) {
		/* The band's end was looked for by itself, and was not met. */
		rc = -CHI_ECORRUPT;
	}
	team->rc = rc < 0 ? rc : team->rc;
	return rc < 0 ? rc : CHI_OK;
}

static void *count_parts(void *context)
{
	struct team *team = context;
	struct chi_scan part;
	pthread_mutex_lock(&team->lock);
	while (take_part(team, &part) == CHI_OK) {
		uint64_t count = 0;
		uint64_t left = part.left;
		enum chi_scan_range range = part.range;
		int rc = CHI_OK;
		pthread_mutex_unlock(&team->lock);
		while (rc == CHI_OK && part.range == range) {
			uint64_t steps = UINT64_MAX;
			rc = chi_count_some(&part, &steps, &count);
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
	if (team->rc == CHI_OK && team->scan->whole && !team->scan->has_end &&
	    team->scan->left > 0) {
		team->rc = -CHI_ECORRUPT;
	}
	chi_scan_range_leave(team->scan);
	return team->rc;
}

int chi_scan_count_all(struct chi_scan *scan, unsigned threads, uint64_t *count)
{
	struct team team = {.scan = scan};
	int rc = chi_count_ready(scan);
	(void)pthread_mutex_init(&team.lock, NULL);
	while (rc == CHI_OK && (rc = chi_count_next(scan, &team.count)) == CHI_OK) {
		uint64_t steps = UINT64_MAX;
		/* Before threads look for records, this one finds out where their tree is. */
		bool joins = chi_filter_joins(&scan->spec.filter);
		bool parallel = threads > 1 && is_large(scan) &&
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
