/* SPDX-License-Identifier: MIT */
/*
 * The tree is nowhere stored but in the evaluations: a program reads from the roots on what is
 * there, and now and then what others have found since. So one that was stopped goes on where it
 * was, and several grow the same tree. At its end each may be at another leaf.
 */
#include "cli/work/expand.h"

#include "base/clock.h"
#include "chistore.h"

#define TOGETHER 1000 /* positions asked for at once */
#define PART	 50   /* one of so many milliseconds goes into looking what others found */
#define LATER_MS 1000 /* until a leaf that another holds is asked for again */

/* ---- What is there already ----------------------------------------------------------------- */

struct loading {
	struct worker *worker;
	uint32_t leaves[TOGETHER];
	size_t n;
};

static int load_record(void *context, size_t i, const struct chi_record *record)
{
	struct loading *loading = context;
	struct worker *worker = loading->worker;
	struct tree *tree = &worker->work->tree;
	const struct chi_key *key = &tree->keys.keys[loading->leaves[i]];
	size_t moves = 0;
	int status = chi_key_moves(key, 0, NULL, 0, &moves, NULL);
	if (status != CHI_OK || tree->known >= worker->work->grow_to ||
	    !worker_reads(worker, record, moves)) {
		return status;
	}
	return tree_grow(tree, loading->leaves[i], worker->lines, worker->n_lines);
}

/* From the roots on, as far as positions are known; of what was read leaves are gone on with. */
static int load_tree(struct worker *worker)
{
	struct tree *tree = &worker->work->tree;
	struct loading loading = {.worker = worker};
	struct chi_key keys[TOGETHER];
	uint32_t from = 0;
	int status = CHI_OK;
	while (status == CHI_OK && !worker_stops(worker->work) &&
	       tree->known < worker->work->grow_to &&
	       (loading.n = tree_leaves(tree, from, loading.leaves, TOGETHER, &from)) > 0) {
		for (size_t i = 0; i < loading.n; i++) {
			keys[i] = tree->keys.keys[loading.leaves[i]];
		}
		status = chi_get_many(worker->client, keys, loading.n, load_record, &loading);
	}
	return status;
}

/* Reads what others have found, first of all what was there before; now and then, so that it takes
 * a small part of the time. */
static int load_some(struct worker *worker)
{
	struct analysis_work *work = worker->work;
	struct tree *tree = &work->tree;
	int64_t begun = chi_now_ms();
	int status = CHI_OK;
	(void)pthread_mutex_lock(&work->mutex);
	if (begun >= work->load_at) {
		size_t known = tree->known;
		status = load_tree(worker);
		work->stored_before += tree->known - known;
		work->load_at = chi_now_ms() + PART * (chi_now_ms() - begun);
	}
	(void)pthread_mutex_unlock(&work->mutex);
	return status;
}

/* ---- Leaves -------------------------------------------------------------------------------- */

enum next {
	NEXT_LEAF,
	NEXT_WAIT,
	NEXT_END
};

static enum next take_leaf(struct analysis_work *work, uint32_t *leaf, struct chi_key *key)
{
	struct tree *tree = &work->tree;
	enum next next = NEXT_END;
	(void)pthread_mutex_lock(&work->mutex);
	bool wanted = tree->known + tree->taken < work->grow_to;
	work->left = work->grow_to > tree->known ? work->grow_to - tree->known : 0;
	if (wanted && tree_take(tree, chi_now_ms(), leaf) == CHI_OK) {
		*key = tree->keys.keys[*leaf];
		next = NEXT_LEAF;
	} else if (tree->known < work->grow_to && (tree->taken > 0 || tree->busy > 0)) {
		next = NEXT_WAIT;
	}
	(void)pthread_mutex_unlock(&work->mutex);
	return next;
}

static int give_back_leaf(struct worker *worker, uint32_t leaf, enum worker_end end)
{
	struct analysis_work *work = worker->work;
	int status = CHI_OK;
	(void)pthread_mutex_lock(&work->mutex);
	if (end == WORKER_FOUND) {
		status = tree_grow(&work->tree, leaf, worker->lines, worker->n_lines);
	} else if (end == WORKER_FAILED) {
		tree_drop(&work->tree, leaf);
	} else {
		tree_later(&work->tree, leaf, chi_now_ms() + LATER_MS);
	}
	(void)pthread_mutex_unlock(&work->mutex);
	return status;
}

static int work_leaf(struct worker *worker, uint32_t leaf, const struct chi_key *key)
{
	int status = worker_known(worker, key);
	if (status == CHI_OK) {
		worker->work->stored_before++;
		return give_back_leaf(worker, leaf, WORKER_FOUND);
	}
	status = status == CHI_NONE ? worker_lease(worker, key) : status;
	if (status == CHI_NONE) {
		status = worker_given_up(worker, key);
		return status < 0
			       ? status
			       : give_back_leaf(worker, leaf,
						status == CHI_OK ? WORKER_FAILED : WORKER_STOPPED);
	}
	return status == CHI_OK ? give_back_leaf(worker, leaf, worker_analyse(worker)) : status;
}

void expand_work(struct worker *worker)
{
	struct chi_key key;
	uint32_t leaf = 0;
	while (!worker_stops(worker->work) && worker_need_engine(worker)) {
		int status = load_some(worker);
		enum next next =
			status == CHI_OK ? take_leaf(worker->work, &leaf, &key) : NEXT_WAIT;
		status = next == NEXT_LEAF ? work_leaf(worker, leaf, &key) : status;
		if (status < 0) {
			worker_fail(worker, status);
		} else if (next == NEXT_WAIT) {
			worker_idle();
		} else if (next == NEXT_END) {
			return;
		}
	}
}
