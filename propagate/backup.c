/* SPDX-License-Identifier: MIT */
/* Each round makes all worths from those of the round before, so that neither the order of the
 * nodes nor cycles matter. */
#include "propagate/backup.h"

#include <string.h>

/* Beyond it are mates. */
static bool is_mate_worth(chi_worth worth)
{
	return worth > CHI_SCORE_MAX || worth < -CHI_SCORE_MAX;
}

chi_worth chi_worth_of(bool is_mate, int32_t score)
{
	if (!is_mate) {
		return score;
	}
	return score > 0 ? CHI_WORTH_MATE - (2 * score - 1) : -2 * score - CHI_WORTH_MATE;
}

int32_t chi_worth_score(chi_worth worth, bool *is_mate)
{
	*is_mate = is_mate_worth(worth);
	if (!*is_mate) {
		return worth;
	}
	int32_t plies = CHI_WORTH_MATE - (worth > 0 ? worth : -worth);
	int32_t moves = (plies + 1) / 2 < CHI_MATE_MAX ? (plies + 1) / 2 : CHI_MATE_MAX;
	return worth > 0 ? moves : -moves;
}

chi_worth chi_worth_back(chi_worth worth, unsigned decay)
{
	if (is_mate_worth(worth)) {
		return worth > 0 ? 1 - worth : -1 - worth;
	}
	int64_t thousandths = -(int64_t)worth * (1000 - (int64_t)decay);
	return (chi_worth)((thousandths + (thousandths < 0 ? -500 : 500)) / 1000);
}

/* The best of the children. *known: the direct score is known better by them. */
static chi_worth best_child(const struct chi_backup *backup, const struct chi_backup_node *at,
			    const chi_worth *worths, chi_move *best, bool *known)
{
	chi_worth most = CHI_WORTH_NONE;
	bool all = at->closed;
	bool first = false;
	for (size_t i = at->at; i < (size_t)at->at + at->n; i++) {
		chi_worth worth = worths[backup->children[i]];
		if (worth == CHI_WORTH_NONE) {
			all = false;
			continue;
		}
		worth = chi_worth_back(worth, backup->decay);
		first = first || backup->moves[i] == at->first;
		if (most == CHI_WORTH_NONE || worth > most) {
			most = worth;
			*best = backup->moves[i];
		}
	}
	*known = all || first;
	return most;
}

chi_worth chi_backup_worth(const struct chi_backup *backup, size_t node, const chi_worth *worths,
			   chi_move *best, bool *backed)
{
	const struct chi_backup_node *at = &backup->nodes[node];
	bool known = false;
	chi_worth most = best_child(backup, at, worths, best, &known);
	*backed = most != CHI_WORTH_NONE &&
		  (known || at->direct == CHI_WORTH_NONE || most >= at->direct);
	if (!*backed) {
		*best = at->first;
		return at->direct;
	}
	return most;
}

/* A run in progress: the worths of the round before and those that are made, and a bit for each
 * node whether it changed in that round. Most settle early, and their bits fit the processor's
 * cache. */
struct run {
	const struct chi_backup *backup;
	chi_worth *from;
	chi_worth *to;
	uint64_t *before;
	uint64_t *now;
};

static bool is_marked(const uint64_t *marks, size_t i)
{
	return (marks[i / 64] >> i % 64 & 1) != 0;
}

static bool child_changed(const struct run *run, const struct chi_backup_node *node)
{
	for (size_t i = node->at; i < (size_t)node->at + node->n; i++) {
		if (is_marked(run->before, run->backup->children[i])) {
			return true;
		}
	}
	return false;
}

/* A round; false if nothing changed. */
static bool go_back(struct run *run, const volatile sig_atomic_t *cancel)
{
	bool changed = false;
	for (size_t i = 0; i < run->backup->n; i++) {
		chi_move best;
		bool backed;
		if (child_changed(run, &run->backup->nodes[i])) {
			run->to[i] = chi_backup_worth(run->backup, i, run->from, &best, &backed);
		} else if (is_marked(run->before, i)) {
			run->to[i] = run->from[i];
		}
		if (run->to[i] != run->from[i]) {
			run->now[i / 64] |= UINT64_C(1) << i % 64;
			changed = true;
		}
		if (cancel != NULL && i % 65536 == 0 && *cancel != 0) {
			return false;
		}
	}
	return changed;
}

unsigned chi_backup_run(const struct chi_backup *backup, unsigned plies, chi_worth *worths,
			chi_worth *spare, uint64_t *marks, const volatile sig_atomic_t *cancel)
{
	size_t words = CHI_BACKUP_MARKS(backup->n) / 2;
	struct run run = {backup, worths, spare, marks, marks + words};
	unsigned done = 0;
	for (size_t i = 0; i < backup->n; i++) {
		worths[i] = backup->nodes[i].direct;
		spare[i] = worths[i];
	}
	memset(run.before, 0xff, words * sizeof(*marks));
	memset(run.now, 0, words * sizeof(*marks));
	while (done < plies && go_back(&run, cancel)) {
		run = (struct run){backup, run.to, run.from, run.now, run.before};
		memset(run.now, 0, words * sizeof(*marks));
		done++;
	}
	if (run.from != worths) {
		memcpy(worths, run.from, backup->n * sizeof(*worths));
	}
	return done;
}
