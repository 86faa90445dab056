/* SPDX-License-Identifier: MIT */
#include "search/filter/facts.h"

#include <stdlib.h>

#include "base/arena.h"

#define CENTIPAWNS   1000000 /* beyond all evaluations but mates */
#define RECORD_BYTES ((size_t)64 << 20)

struct chi_facts {
	struct chi_read *read;
	struct chi_arena arena; /* of the record */
	bool has_row[2];	/* of the position, of that after the move */
	bool has_record;
	struct chi_row rows[2];
	struct chi_record record;
};

int chi_facts_new(struct chi_read *read, struct chi_facts **out)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL) {
		return -CHI_ENOMEM;
	}
	(*out)->read = read;
	chi_arena_init(&(*out)->arena, RECORD_BYTES);
	return CHI_OK;
}

void chi_facts_free(struct chi_facts *facts)
{
	if (facts != NULL) {
		chi_arena_deinit(&facts->arena);
		free(facts);
	}
}

void chi_facts_forget(struct chi_facts *facts)
{
	facts->has_row[0] = false;
	facts->has_row[1] = false;
	facts->has_record = false;
}

/* The row of the position, or of the one after the move; one that is not stored has zeros. */
static int find_row(struct chi_facts *facts, struct chi_moment *moment, bool after,
		    const struct chi_row **out)
{
	struct chi_key key;
	int rc = CHI_OK;
	*out = &facts->rows[after];
	if (facts->has_row[after]) {
		return CHI_OK;
	}
	chi_key_encode(after ? chi_moment_after(moment) : moment->position, &key);
	rc = chi_read_row(facts->read, &key, &facts->rows[after]);
	facts->has_row[after] = rc >= 0;
	return rc < 0 ? rc : CHI_OK;
}

static uint64_t results_of(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black;
}

/* min <= 10,000 * part / whole <= max, exactly. Counts are far below 2^48. */
static bool is_share(uint64_t part, uint64_t whole, int32_t min, int32_t max)
{
	return whole > 0 && 10000 * part >= (uint64_t)min * whole &&
	       10000 * part <= (uint64_t)max * whole;
}

/* For the side to move, mates beyond all else. */
static int32_t centipawns(const struct chi_row *row)
{
	if (row->is_mate) {
		return row->score > 0 ? CENTIPAWNS : -CENTIPAWNS;
	}
	return row->score > CENTIPAWNS	  ? CENTIPAWNS
	       : row->score < -CENTIPAWNS ? -CENTIPAWNS
					  : row->score;
}

/* Of the games that reached the position, those that played the move. */
static int share_fits(struct chi_facts *facts, struct chi_moment *moment, const struct chi_row *row,
		      int32_t min, int32_t max, bool *fits)
{
	uint64_t played = 0;
	if (moment->move == 0 || !row->found) {
		return CHI_OK;
	}
	if (!facts->has_record) {
		chi_arena_reset(&facts->arena);
		int rc = chi_read_record(facts->read, &row->key, &facts->arena, &facts->record);
		if (rc != CHI_OK) {
			return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
		}
		facts->has_record = true;
	}
	for (size_t i = 0; i < facts->record.n_moves; i++) {
		const struct chi_move_stat *stat = &facts->record.moves[i];
		if (stat->move == moment->move) {
			played = results_of(&stat->counts) + stat->counts.other;
		}
	}
	*fits = is_share(played, results_of(&row->counts) + row->counts.other, min, max);
	return CHI_OK;
}

bool chi_facts_loss(const struct chi_row *before, const struct chi_row *after, int32_t *loss)
{
	bool is_known = before->has_eval && after->has_eval;
	*loss = is_known ? centipawns(before) + centipawns(after) : 0;
	return is_known;
}

static int loss_fits(struct chi_facts *facts, struct chi_moment *moment, const struct chi_row *row,
		     int32_t min, int32_t max, bool *fits)
{
	const struct chi_row *after = NULL;
	if (moment->move == 0 || !row->has_eval) {
		return CHI_OK;
	}
	int rc = find_row(facts, moment, true, &after);
	int32_t loss;
	if (rc == CHI_OK && chi_facts_loss(row, after, &loss)) {
		*fits = loss >= min && loss <= max;
	}
	return rc;
}

int chi_facts_fits(struct chi_facts *facts, struct chi_moment *moment, bool swap,
		   enum chi_test_kind kind, int32_t min, int32_t max, bool *fits)
{
	const struct chi_row *row = NULL;
	const struct chi_counts *counts = NULL;
	int rc = find_row(facts, moment, false, &row);
	*fits = false;
	if (rc < 0) {
		return rc;
	}
	counts = &row->counts;
	switch (kind) {
	case CHI_TEST_REACHED: {
		uint64_t games = results_of(counts) + counts->other;
		*fits = games >= (uint64_t)min && (games <= (uint64_t)max || max == INT32_MAX);
		return CHI_OK;
	}
	case CHI_TEST_SCORE:
		*fits = is_share(counts->draws + 2 * (swap ? counts->black : counts->white),
				 2 * results_of(counts), min, max);
		return CHI_OK;
	case CHI_TEST_EVAL: {
		bool white = (moment->position->side == CHI_WHITE) != swap;
		int32_t eval = white ? centipawns(row) : -centipawns(row);
		*fits = row->has_eval && eval >= min && eval <= max;
		return CHI_OK;
	}
	case CHI_TEST_CHI2:
		*fits = row->chi2 != CHI_CHI2_UNKNOWN && row->chi2 >= min && row->chi2 <= max;
		return CHI_OK;
	case CHI_TEST_SHARE:
		return share_fits(facts, moment, row, min, max, fits);
	default:
		return loss_fits(facts, moment, row, min, max, fits);
	}
}
