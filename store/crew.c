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

#include "store/scan_priv.h"

#define THREADS_MAX 64

/* Fewer parts than this are counted before threads have begun. */
#define PARTS_LEAST 4

struct crew {
	pthread_mutex_t lock;  /* for all below */
	struct chi_scan *scan; /* stands where the next part begins */
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
	if (!scan->by_pages || scan->spec.descending || scan->tree.depth < 3 ||
	    chi_count_unfiltered(scan)) {
		return false;
	}
	/* Two branches above the leaves: how many of its children the band spans. */
	unsigned level = scan->tree.depth - 3u;
	uint32_t from = scan->leaves.at[level];
	for (unsigned i = 0; i < level && scan->has_end; i++) {
		if (scan->end.at[i] != scan->leaves.at[i]) {
			return true;
		}
	}
	if (scan->has_end) {
		return scan->end.at[level] >= from + PARTS_LEAST;
	}
	uint32_t n = chi_page_entries(&scan->tree, scan->leaves.pages[level], FLAG_BRANCH);
	return level > 0 || n >= from + PARTS_LEAST;
}

/* Moves the scan to the part behind the one it is in. */
static int pass_over(struct chi_scan *scan, unsigned level)
{
	struct chi_leaves *leaves = &scan->leaves;
	uint32_t n = chi_page_entries(&scan->tree, leaves->pages[level], FLAG_BRANCH);
	leaves->at[level] = n - 1;
	return chi_leaves_forth(leaves);
}

/* Deals out the next part, under the lock. CHI_NONE: there is none, or one of them failed. */
static int take_part(struct crew *crew, struct chi_scan *part)
{
	struct chi_scan *scan = crew->scan;
	if (crew->over || crew->rc < 0) {
		return CHI_NONE;
	}
	*part = *scan;
	part->apart = true;
	part->leaves.tree = &part->tree;
	part->leaves.floor = crew->level;
	bool last =
		scan->has_end && scan->leaves.pages[crew->level] == scan->end.pages[crew->level];
	int rc = last ? CHI_NONE : pass_over(scan, crew->level);
	crew->over = rc == CHI_NONE;
	crew->rc = rc < 0 ? rc : crew->rc;
	return rc < 0 ? rc : CHI_OK;
}

static void *count_parts(void *context)
{
	struct crew *crew = context;
	struct chi_scan part;
	pthread_mutex_lock(&crew->lock);
	while (take_part(crew, &part) == CHI_OK) {
		uint64_t count = 0;
		uint64_t left = part.left;
		enum chi_phase phase = part.phase;
		int rc = CHI_OK;
		pthread_mutex_unlock(&crew->lock);
		while (rc == CHI_OK && part.phase == phase) {
			uint64_t steps = UINT64_MAX;
			rc = chi_count_some(&part, &steps, &count);
		}
		pthread_mutex_lock(&crew->lock);
		crew->count += count;
		crew->looked += left - part.left;
		/* A damaged tree that leads in circles would be dealt out for ever. */
		if (rc == CHI_OK && crew->looked > crew->scan->left) {
			rc = -CHI_ECORRUPT;
		}
		crew->rc = rc < 0 ? rc : crew->rc;
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* Signals meant for the program go to threads that it knows; those of a thread's own faults must
 * not be blocked. Returns how many of `n` threads began. */
static unsigned start_others(struct crew *crew, pthread_t *others, unsigned n)
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
	while (begun < n && pthread_create(&others[begun], NULL, count_parts, crew) == 0) {
		begun++;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return begun;
}

/* The rest of a phase that is large. Who starts the threads is one of them, so that it goes on if
 * none can be started. */
static int count_phase(struct crew *crew, unsigned threads)
{
	pthread_t others[THREADS_MAX - 1];
	crew->level = crew->scan->tree.depth - 2u;
	crew->over = false;
	crew->looked = 0;
	unsigned n =
		start_others(crew, others, threads < THREADS_MAX ? threads - 1 : THREADS_MAX - 1);
	(void)count_parts(crew);
	while (n > 0) {
		(void)pthread_join(others[--n], NULL);
	}
	chi_phase_leave(crew->scan);
	return crew->rc;
}

int chi_scan_count_all(struct chi_scan *scan, unsigned threads, uint64_t *count)
{
	struct crew crew = {.scan = scan};
	int rc = chi_count_ready(scan);
	(void)pthread_mutex_init(&crew.lock, NULL);
	while (rc == CHI_OK && (rc = chi_count_next(scan, &crew.count)) == CHI_OK) {
		uint64_t steps = UINT64_MAX;
		/* Before threads look for records, this one finds out where their tree is. */
		bool joins = scan->spec.filter.games_min > 0;
		bool apart = threads > 1 && is_large(scan) &&
			     (!joins || chi_read_can_descend(scan->read));
		rc = apart ? count_phase(&crew, threads)
			   : chi_count_some(scan, &steps, &crew.count);
	}
	(void)pthread_mutex_destroy(&crew.lock);
	*count += crew.count;
	if (rc != -CHI_EFORK) {
		scan->rc = rc;
	}
	return rc;
}
