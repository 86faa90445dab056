/* SPDX-License-Identifier: MIT */
/* The bytes of lists of games. Nothing is trusted: what does not ascend is no list. */
#include "store/record/list.h"

#include <stdlib.h>

bool chi_postings_ascends(const struct chi_posting *entries, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (!chi_posting_before(&entries[i - 1], &entries[i])) {
			return false;
		}
	}
	return n == 0 || entries[0].game != 0;
}

static int compare_postings(const void *a, const void *b)
{
	const struct chi_posting *left = a;
	const struct chi_posting *right = b;
	return chi_posting_before(left, right) ? -1 : chi_posting_before(right, left);
}

void chi_postings_sort(struct chi_posting *entries, size_t n)
{
	if (!chi_postings_ascends(entries, n)) {
		qsort(entries, n, sizeof(*entries), compare_postings);
	}
}

size_t chi_postings_games(const struct chi_posting *entries, size_t n)
{
	size_t games = n > 0;
	for (size_t i = 1; i < n; i++) {
		games += entries[i].game != entries[i - 1].game;
	}
	return games;
}

/* The place of a move among those that ascend, from 1; 0 is none, and n + 1 says that it is not
 * there. */
static size_t place_of(chi_move move, const chi_move *moves, size_t n)
{
	size_t i = 0;
	if (move == 0) {
		return 0;
	}
	while (i < n && moves[i] != move) {
		i++;
	}
	return i + 1;
}

size_t chi_postings_write(struct chi_writer *w, const struct chi_posting *entries, size_t n,
			  uint32_t base, const chi_move *moves, size_t n_moves)
{
	for (size_t i = 0; i < n; i++) {
		size_t place = place_of(entries[i].move, moves, n_moves);
		if (place > n_moves) {
			w->bad = true;
		}
		chi_write_varint(w, (uint64_t)(entries[i].game - base) * (n_moves + 1) + place);
		if (w->bad) {
			return i;
		}
		base = entries[i].game;
	}
	return n;
}

void chi_postings_read(struct chi_reader *r, struct chi_posting *out, size_t n, uint32_t base,
		       const chi_move *moves, size_t n_moves)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t word = chi_read_small(r);
		uint64_t distance = word / (n_moves + 1);
		size_t place = (size_t)(word % (n_moves + 1));
		if (r->bad || distance > UINT32_MAX - base) {
			r->bad = true;
			return;
		}
		base += (uint32_t)distance;
		out[i] = (struct chi_posting){.game = base,
					      .move = place > 0 ? moves[place - 1] : 0};
		if (base == 0 || (i > 0 && !chi_posting_before(&out[i - 1], &out[i]))) {
			r->bad = true;
			return;
		}
	}
}
