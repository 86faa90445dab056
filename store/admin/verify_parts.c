/* SPDX-License-Identifier: MIT */
/*
 * The longest walks at the same time: one thread plays the games, one takes the strength tree, the
 * others take the positions in parts, and so do these two afterwards. What moves call for and what
 * lists hold is added up for each thread by itself, and then together. A part is not less than its
 * first block's low key and less than its last one's fence, which must be the next part's low key;
 * lists apart are dealt out by the same keys, so that each is read in one part.
 *
 * No damage is reported here. The first one ends all threads.
 */
#include "store/admin/verify_priv.h"

#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "store/lmdb_err.h"
#include "store/record/codec.h"

/* With more, the games alone would take longer than all else. */
#define THREADS_MAX 4

/* A thread's own. */
struct verify_worker {
	struct chi_verify *verify; /* the first one's is the caller's */
	uint64_t entries;	   /* of the tree, in its parts: blocks */
	uint64_t bytes;		   /* that these take */
	bool strength;		   /* it has walked the strength tree */
	int rc;
};

struct verify_team {
	struct chi_page_parts parts;
	struct chi_verify_part *ends; /* of the parts */
	struct verify_worker workers[THREADS_MAX];
	unsigned n;	      /* of them */
	atomic_uint begun;    /* threads that have one */
	atomic_bool strength; /* a thread has that tree */
	atomic_size_t dealt;  /* parts that were taken */
	bool played;	      /* the games were walked before */
};

/* A block of a part. Before its first one, the lists are sought. */
static int take_block(struct chi_page_walk *walk, struct chi_page_tree *tree, const MDB_val *low,
		      const MDB_val *value)
{
	struct chi_verify *v = walk->context;
	struct chi_verify_blocks *blocks = &v->blocks[CHI_TREE_POSITION];
	bool first = blocks->low_len == 0;
	int rc = first ? chi_verify_lists_begin_at(v, low) : CHI_OK;
	rc = rc == CHI_OK ? chi_verify_block(walk, tree, low, value) : rc;
	if (first) {
		v->part->low_len = blocks->low_len;
		memcpy(v->part->low, blocks->low, blocks->low_len);
	}
	return rc;
}

static int walk_part(struct verify_team *team, struct verify_worker *worker, size_t i)
{
	struct chi_verify *v = worker->verify;
	struct chi_page_tree *tree = &v->trees[CHI_VERIFY_POSITION];
	struct chi_verify_blocks *blocks = &v->blocks[CHI_TREE_POSITION];
	chi_verify_begin_blocks(v, CHI_TREE_POSITION);
	blocks->sound = false; /* no block is before the first one */
	v->part = &team->ends[i];
	tree->take = take_block;
	int rc = chi_page_walk_part(&v->walk, tree, &team->parts, i);
	if (rc != CHI_OK) {
		return rc;
	}
	const MDB_val fence = chi_val(blocks->fence, blocks->fence_len);
	chi_verify_lists_end_at(v, fence.mv_size > 0 ? &fence : NULL);
	v->part->fence_len = blocks->fence_len;
	memcpy(v->part->fence, blocks->fence, blocks->fence_len);
	worker->entries += tree->n;
	worker->bytes += blocks->bytes;
	return CHI_OK;
}

static void *walk_parts(void *context)
{
	struct verify_team *team = context;
	unsigned me = atomic_fetch_add(&team->begun, 1);
	struct verify_worker *worker = &team->workers[me];
	size_t i;
	int rc = CHI_OK;
	if (me == 0 && !team->played) {
		rc = chi_verify_tree(worker->verify, CHI_VERIFY_GAMES);
	}
	if (rc == CHI_OK && !atomic_exchange(&team->strength, true)) {
		worker->strength = true;
		rc = chi_verify_tree(worker->verify, CHI_VERIFY_STRENGTH);
	}
	rc = rc == CHI_OK ? chi_verify_lists_begin(worker->verify) : rc;
	while (rc == CHI_OK && (i = atomic_fetch_add(&team->dealt, 1)) < team->parts.n) {
		rc = walk_part(team, worker, i);
	}
	if (rc != CHI_OK) {
		atomic_store(worker->verify->walk.damaged, true);
	}
	worker->rc = rc;
	return NULL;
}

/* ---- Threads ------------------------------------------------------------------------------ */

static void worker_free(struct chi_verify *v)
{
	free(v->archive.sums);
	free(v->archive.list);
	chi_page_cursor_deinit(&v->archive.lists);
	chi_arena_deinit(&v->arena);
	free(v->result);
	free(v);
}

/* What a thread changes is its own; the rest is read. NULL: there is no memory for it. */
static struct chi_verify *worker_new(const struct chi_verify *v)
{
	struct chi_verify *own = malloc(sizeof(*own));
	if (own == NULL) {
		return NULL;
	}
	*own = *v;
	own->walk.context = own;
	own->wanted = (struct chi_verify_entries){0};
	own->archive.joined = true;
	own->archive.lists = (struct chi_page_cursor){0};
	own->archive.sums = calloc(v->archive.n, sizeof(*own->archive.sums));
	own->archive.list = malloc(CHI_POSTINGS_CHUNK_ENTRIES * sizeof(*own->archive.list));
	own->result = calloc(1, sizeof(*own->result));
	chi_arena_init(&own->arena, CHI_RECORD_ARENA);
	if (own->archive.sums == NULL || own->archive.list == NULL || own->result == NULL) {
		worker_free(own);
		return NULL;
	}
	return own;
}

static void make_team(struct verify_team *team, struct chi_verify *v)
{
	team->workers[0].verify = v;
	team->n = 1;
	while (team->n < v->threads && team->n < THREADS_MAX &&
	       (team->workers[team->n].verify = worker_new(v)) != NULL) {
		team->n++;
	}
}

/* The caller is one of the threads. */
static void run_team(struct verify_team *team)
{
	pthread_t others[THREADS_MAX];
	unsigned n = chi_threads_start(others, team->n - 1, walk_parts, team);
	(void)walk_parts(team);
	while (n > 0) {
		(void)pthread_join(others[--n], NULL);
	}
}

/* ---- Together ----------------------------------------------------------------------------- */

static void add_worker(struct chi_verify *v, const struct verify_worker *worker)
{
	const struct chi_verify *own = worker->verify;
	if (worker->strength) {
		v->blocks[CHI_TREE_STRENGTH] = own->blocks[CHI_TREE_STRENGTH];
		v->there = own->there;
		v->result->known = own->result->known;
	}
	v->walk.errors += own->walk.errors;
	v->result->positions += own->result->positions;
	v->wanted.n += own->wanted.n;
	v->wanted.sum += own->wanted.sum;
	for (uint64_t i = 0; i < v->archive.n; i++) {
		v->archive.sums[i] += own->archive.sums[i];
	}
}

/* Parts follow each other as blocks do: from the tree's first key to its end. */
static bool parts_adjoin(const struct verify_team *team)
{
	const uint8_t *fence = chi_tree_first;
	size_t len = chi_tree_first_len(CHI_TREE_POSITION);
	for (size_t i = 0; i < team->parts.n; i++) {
		const struct chi_verify_part *part = &team->ends[i];
		if (part->low_len != len || memcmp(part->low, fence, len) != 0) {
			return false;
		}
		fence = part->fence;
		len = part->fence_len;
	}
	return len == 0;
}

static int end_team(struct verify_team *team, struct chi_verify *v)
{
	struct chi_page_tree *tree = &v->trees[CHI_VERIFY_POSITION];
	uint64_t entries = 0;
	uint64_t bytes = 0;
	int rc = CHI_OK;
	/* Later walks go through the tree as a whole. */
	tree->take = chi_verify_block;
	v->part = NULL;
	for (unsigned i = 0; i < team->n; i++) {
		struct verify_worker *worker = &team->workers[i];
		entries += worker->entries;
		bytes += worker->bytes;
		rc = rc == CHI_OK ? worker->rc : rc;
		if (i > 0) {
			add_worker(v, worker);
			worker_free(worker->verify);
		}
	}
	chi_verify_begin_blocks(v, CHI_TREE_POSITION);
	v->blocks[CHI_TREE_POSITION].bytes = bytes;
	if (rc == CHI_OK && (entries != tree->entries || !parts_adjoin(team))) {
		rc = -CHI_ECORRUPT;
	}
	return rc;
}

int chi_verify_together(struct chi_verify *v)
{
	struct verify_team team = {.played = v->archive.pruned_plies > 0};
	int rc = CHI_OK;
	if (v->walk.errors > 0 || v->trees[CHI_VERIFY_POSITION].depth < 2) {
		return -CHI_ECORRUPT;
	}
	v->archive.side_by_side = true;
	/* Lists of pruned games are held against the filter that the walk through bodies makes. */
	if (team.played) {
		rc = chi_verify_tree(v, CHI_VERIFY_GAMES);
	}
	if (rc == CHI_OK) {
		rc = chi_page_walk_parts(&v->walk, &v->trees[CHI_VERIFY_POSITION], &team.parts);
	}
	team.ends = calloc(team.parts.n + 1, sizeof(*team.ends));
	if (rc == CHI_OK && team.ends == NULL) {
		rc = -CHI_ENOMEM;
	}
	if (rc == CHI_OK) {
		make_team(&team, v);
		run_team(&team);
		rc = end_team(&team, v);
	}
	free(team.ends);
	free(team.parts.part);
	return rc;
}
