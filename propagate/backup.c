/* SPDX-License-Identifier: MIT */
/*
 * Retrograde analysis, as of endgames, with scores for mates: the worths are found in descending
 * order of their size, from the scores back to the positions before them. Mates are the greatest,
 * so that what is proven is found first, and then which of the other positions are known.
 *
 * If all worths of more than s are found, then nothing that is still open is worth more than s to
 * either side, as back() makes no score greater. So a side that can have s now can have no more: a
 * position with an option of s is worth s. A position whose options have all been found is worth
 * the best of them, also if that is less than 0. What is open when all scores are used up is worth
 * 0: nowhere is an option of more than 0 left, and each has a way to go on for ever.
 *
 * Each node and each edge is looked at a few times, whatever cycles there are. The scores in use
 * are a list of nodes for each size; in a list those that were found first come first, so that ways
 * to a score are followed in the order of their length.
 */
#include "propagate/backup.h"

#include <stdlib.h>
#include <string.h>

#define MATE_PLIES_MAX	(2 * CHI_MATE_MAX)
#define CLAIM_PLIES_MAX 1000 /* of a mate that is told; those further away are worth as much */
#define LIST_END	UINT32_MAX

bool chi_worth_is_mate(chi_worth worth)
{
	return worth > CHI_SCORE_MAX || worth < -CHI_SCORE_MAX;
}

chi_worth chi_worth_of(bool is_mate, int32_t score)
{
	if (!is_mate) {
		return score;
	}
	int32_t plies = score > 0 ? 2 * score - 1 : -2 * score;
	if (score >= CHI_MATE_MAX || score <= -CHI_MATE_MAX) {
		plies = MATE_PLIES_MAX;
	}
	return score > 0 ? CHI_WORTH_MATE - plies : plies - CHI_WORTH_MATE;
}

chi_worth chi_worth_claimed(bool is_mate, int32_t score)
{
	if (!is_mate) {
		return score;
	}
	chi_worth mate = chi_worth_of(true, score);
	int32_t plies = CHI_WORTH_MATE - (mate > 0 ? mate : -mate);
	int32_t worth = CHI_WORTH_CLAIMED - (plies < CLAIM_PLIES_MAX ? plies : CLAIM_PLIES_MAX);
	return mate > 0 ? worth : -worth;
}

int32_t chi_worth_score(chi_worth worth, bool *is_mate)
{
	*is_mate = chi_worth_is_mate(worth);
	if (!*is_mate) {
		return worth;
	}
	int32_t moves = (CHI_WORTH_MATE - (worth > 0 ? worth : -worth) + 1) / 2;
	return worth > 0 ? moves : -moves;
}

chi_worth chi_worth_back(chi_worth worth, unsigned decay)
{
	if (chi_worth_is_mate(worth)) {
		int32_t plies = CHI_WORTH_MATE - (worth > 0 ? worth : -worth) + 1;
		plies = plies > MATE_PLIES_MAX - 2 ? MATE_PLIES_MAX : plies;
		return worth > 0 ? plies - CHI_WORTH_MATE : CHI_WORTH_MATE - plies;
	}
	int64_t thousandths = -(int64_t)worth * (1000 - (int64_t)decay);
	return (chi_worth)((thousandths + (thousandths < 0 ? -500 : 500)) / 1000);
}

/* ---- A run --------------------------------------------------------------------------------- */

enum node_state {
	KNOWN = 1 << 0,
	LISTED = 1 << 1, /* its best move is in a list */
	FOUND = 1 << 2,	 /* so is its worth */
	PROVEN = 1 << 3, /* which is a mate */
};

struct list {
	uint32_t head;
	uint32_t tail;
};

/* Until a node's worth is found, `worths` has the best of the options found so far. */
struct run {
	const struct chi_backup *backup;
	chi_worth *worths;
	uint16_t *best;
	uint8_t *states;
	uint16_t *open; /* options whose worth is not found yet; one more that never is: moves that
			   are not stored, while mates are found */
	uint32_t *parents_at; /* by node, and one more */
	uint32_t *parents;    /* of each edge, in the order of the children */
	int32_t most;	      /* centipawns of a direct score */
	size_t n_lists;
	struct list *lists; /* by size */
	uint32_t *next;	    /* in a list: of node i's direct score 2i, of its best move 2i + 1 */
};

static void run_deinit(struct run *run)
{
	free(run->states);
	free(run->open);
	free(run->parents_at);
	free(run->parents);
	free(run->lists);
	free(run->next);
}

/* Where a worth is in the order: 0 for 0, then centipawns, then mates. */
static size_t backup_size(const struct run *run, chi_worth worth)
{
	int32_t size = worth > 0 ? worth : -worth;
	return chi_worth_is_mate(worth)
		       ? (size_t)(run->most + 1 + MATE_PLIES_MAX - (CHI_WORTH_MATE - size))
		       : (size_t)size;
}

uint64_t chi_backup_needs(uint64_t nodes, uint64_t edges)
{
	return (nodes + 2) * (sizeof(uint8_t) + sizeof(uint16_t) + 3 * sizeof(uint32_t)) +
	       (edges + 1) * sizeof(uint32_t) +
	       (CHI_SCORE_MAX + 2 + MATE_PLIES_MAX) * sizeof(struct list);
}

static int make_lists(struct run *run)
{
	bool mates = false;
	for (size_t i = 0; i < run->backup->n; i++) {
		chi_worth direct = run->backup->nodes[i].direct;
		if (direct != CHI_WORTH_NONE) {
			int32_t size = direct > 0 ? direct : -direct;
			mates = mates || chi_worth_is_mate(direct);
			run->most =
				size > run->most && !chi_worth_is_mate(direct) ? size : run->most;
		}
	}
	run->n_lists = (size_t)run->most + 2 + (mates ? MATE_PLIES_MAX : 0);
	run->lists = calloc(run->n_lists, sizeof(*run->lists));
	for (size_t i = 0; run->lists != NULL && i < run->n_lists; i++) {
		run->lists[i].head = LIST_END;
	}
	return run->lists != NULL ? CHI_OK : -CHI_ENOMEM;
}

static int run_init(struct run *run)
{
	size_t n = run->backup->n;
	run->states = calloc(n + 1, sizeof(*run->states));
	run->open = calloc(n + 1, sizeof(*run->open));
	run->parents_at = calloc(n + 2, sizeof(*run->parents_at));
	run->parents = calloc(run->backup->n_edges + 1, sizeof(*run->parents));
	run->next = calloc(n + 1, 2 * sizeof(*run->next));
	if (run->states == NULL || run->open == NULL || run->parents_at == NULL ||
	    run->parents == NULL || run->next == NULL) {
		return -CHI_ENOMEM;
	}
	return make_lists(run);
}

/* The edges the other way round: counted, placed, and the places moved back. */
static void turn_edges(struct run *run)
{
	const struct chi_backup *backup = run->backup;
	uint32_t *at = run->parents_at;
	for (size_t i = 0; i < backup->n_edges; i++) {
		at[backup->children[i] + 2]++;
	}
	for (size_t i = 2; i < backup->n + 2; i++) {
		at[i] += at[i - 1];
	}
	for (size_t i = 0; i < backup->n; i++) {
		const struct chi_backup_node *node = &backup->nodes[i];
		for (size_t k = node->at; k < (size_t)node->at + node->n; k++) {
			run->parents[at[backup->children[k] + 1]++] = (uint32_t)i;
		}
	}
}

static void append_worth(struct run *run, uint32_t entry, chi_worth worth)
{
	struct list *list = &run->lists[backup_size(run, worth)];
	run->next[entry] = LIST_END;
	if (list->head == LIST_END) {
		list->head = entry;
	} else {
		run->next[list->tail] = entry;
	}
	list->tail = entry;
}

static uint16_t edge_to(const struct chi_backup *backup, uint32_t parent, uint32_t child)
{
	const struct chi_backup_node *node = &backup->nodes[parent];
	uint16_t edge = 0;
	while (backup->children[node->at + edge] != child) {
		edge++;
	}
	return edge;
}

/* An option of a node has been found. */
static void offer(struct run *run, uint32_t parent, uint32_t child)
{
	chi_worth option = chi_worth_back(run->worths[child], run->backup->decay);
	chi_worth *most = &run->worths[parent];
	run->open[parent]--;
	if ((run->states[parent] & (FOUND | LISTED)) != 0) {
		return;
	}
	/* The first one that wins is the best; of those that lose the last one is the longest. */
	if (option > *most || (option == *most && option <= 0)) {
		*most = option;
		run->best[parent] = edge_to(run->backup, parent, child);
		if (option > 0) {
			run->states[parent] |= LISTED;
			append_worth(run, 2 * parent + 1, option);
		}
	}
	if (run->open[parent] == 0 && *most < 0) {
		run->states[parent] |= LISTED;
		append_worth(run, 2 * parent + 1, *most);
	}
}

/* The worths from one size down to another, of nodes that have this state; false: cancelled. */
static bool find_worths(struct run *run, size_t from, size_t to, uint8_t state,
			const volatile sig_atomic_t *cancel)
{
	size_t done = 0;
	for (size_t size = from; size >= to; size--) {
		uint32_t entry = run->lists[size].head;
		for (; entry != LIST_END; entry = run->next[entry]) {
			uint32_t i = entry / 2;
			if ((run->states[i] & FOUND) != 0) {
				continue;
			}
			run->states[i] |= FOUND;
			for (uint32_t k = run->parents_at[i]; k < run->parents_at[i + 1]; k++) {
				uint32_t parent = run->parents[k];
				if ((run->states[parent] & (state | PROVEN)) == state) {
					offer(run, parent, i);
				}
			}
			if (++done % 65536 == 0 && cancel != NULL && *cancel != 0) {
				return false;
			}
		}
	}
	return true;
}

/* ---- What is proven ------------------------------------------------------------------------ */

/* From the mates on the board back. */
static bool find_mates(struct run *run, const volatile sig_atomic_t *cancel)
{
	const struct chi_backup *backup = run->backup;
	for (uint32_t i = 0; i < backup->n; i++) {
		const struct chi_backup_node *node = &backup->nodes[i];
		run->worths[i] = CHI_WORTH_NONE;
		run->best[i] = CHI_BACKUP_OWN;
		run->open[i] = (uint16_t)(node->n + !node->closed);
		if (node->direct != CHI_WORTH_NONE && chi_worth_is_mate(node->direct)) {
			run->states[i] |= LISTED;
			run->worths[i] = node->direct;
			append_worth(run, 2 * i, node->direct);
		}
	}
	bool done = find_worths(run, run->n_lists - 1, (size_t)run->most + 1, 0, cancel);
	for (size_t i = 0; i < backup->n; i++) {
		run->states[i] = (run->states[i] & FOUND) != 0 ? KNOWN | FOUND | PROVEN : KNOWN;
	}
	return done;
}

/* ---- What is known ------------------------------------------------------------------------- */

static bool needs_moves(const struct run *run, uint32_t i)
{
	return (run->states[i] & (KNOWN | PROVEN)) == KNOWN &&
	       run->backup->nodes[i].direct == CHI_WORTH_NONE;
}

/* Without a direct score a move that is not stored, or leads to an unknown position, makes a
 * position unknown; `next` is the stack. */
static void find_unknown(struct run *run)
{
	size_t n = 0;
	for (uint32_t i = 0; i < run->backup->n; i++) {
		const struct chi_backup_node *node = &run->backup->nodes[i];
		if (needs_moves(run, i) && (!node->closed || node->n == 0)) {
			run->states[i] = 0;
			run->next[n++] = i;
		}
	}
	while (n > 0) {
		uint32_t i = run->next[--n];
		for (uint32_t k = run->parents_at[i]; k < run->parents_at[i + 1]; k++) {
			uint32_t parent = run->parents[k];
			if (needs_moves(run, parent)) {
				run->states[parent] = 0;
				run->next[n++] = parent;
			}
		}
	}
}

/* The options of a known node, and whether its worth is plain from the beginning. */
static void begin_node(struct run *run, uint32_t i)
{
	const struct chi_backup *backup = run->backup;
	const struct chi_backup_node *node = &backup->nodes[i];
	bool known_better = node->closed && node->n > 0;
	bool first = false;
	run->worths[i] = CHI_WORTH_NONE;
	run->best[i] = CHI_BACKUP_OWN;
	run->open[i] = 0;
	for (size_t k = node->at; k < (size_t)node->at + node->n; k++) {
		uint8_t child = run->states[backup->children[k]];
		known_better = known_better && (child & KNOWN) != 0;
		if ((child & (KNOWN | PROVEN)) == KNOWN) {
			run->open[i]++;
			first = first || backup->moves[k] == node->first;
		}
	}
	if (node->direct == CHI_WORTH_NONE || first || known_better) {
		return;
	}
	run->worths[i] = node->direct;
	if (node->direct > 0 || (node->direct < 0 && run->open[i] == 0)) {
		append_worth(run, 2 * i, node->direct);
	}
}

/* Those that are 0, and then which move keeps them so. */
static void find_draws(struct run *run)
{
	const struct chi_backup *backup = run->backup;
	for (size_t i = 0; i < backup->n; i++) {
		if ((run->states[i] & (KNOWN | FOUND)) == KNOWN) {
			run->worths[i] = 0;
			run->best[i] = CHI_BACKUP_OWN;
		}
	}
	for (size_t i = 0; i < backup->n; i++) {
		const struct chi_backup_node *node = &backup->nodes[i];
		if ((run->states[i] & (KNOWN | FOUND)) != KNOWN) {
			continue;
		}
		for (uint16_t k = 0; k < node->n; k++) {
			chi_worth child = run->worths[backup->children[node->at + k]];
			if (child != CHI_WORTH_NONE && chi_worth_back(child, backup->decay) == 0) {
				run->best[i] = k;
				break;
			}
		}
	}
}

int chi_backup_run(const struct chi_backup *backup, chi_worth *worths, uint16_t *best,
		   const volatile sig_atomic_t *cancel)
{
	_cleanup_(run_deinit) struct run run = {.backup = backup, .worths = worths, .best = best};
	int rc = run_init(&run);
	if (rc != CHI_OK) {
		return rc;
	}
	turn_edges(&run);
	if (!find_mates(&run, cancel)) {
		return CHI_OK;
	}
	find_unknown(&run);
	for (uint32_t i = 0; i < backup->n; i++) {
		if ((run.states[i] & PROVEN) == 0) {
			begin_node(&run, i);
		}
	}
	if (find_worths(&run, (size_t)run.most, 1, KNOWN, cancel)) {
		find_draws(&run);
	}
	return CHI_OK;
}
