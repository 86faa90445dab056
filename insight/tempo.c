/* SPDX-License-Identifier: MIT */
/*
 * What it is worth to be a move ahead. Position A has White to move. Its pair B is A turned round,
 * each piece, and right to castle, given to the other colour on the opposite rank, but again with
 * White to move. So the army that is White's in A is Black's in B, and the move that it has in A is
 * its opponent's. After 1. d4 Nf6, for one, B is what 1. Nf3 d5 leads to. The army scores what
 * White scores in A; a move behind it scores what Black scores in B, 1 less White's share. The
 * tempo is worth the first less the second.
 *
 * B's pair is A, and seen from there the tempo is worth the same, as (a - (1 - b)) is
 * (b - (1 - a)): a pair is one row, that of its position with more games (of equal ones, with the
 * lower key). Left out are positions that are their own pair, since one set of games can't be
 * compared with itself; those with a pawn to be captured en passant, which is so only with the
 * other side to move; and with them all whose pair no game can reach.
 *
 * Scores are those of all games with a result. They are raw: nothing is made of who played, and if
 * players of one position were the stronger ones, that is in what the tempo seems to be worth.
 */

#include "insight/games.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "store/games/archive.h"

#define ROWS_A_STEP  256 /* of positions */
#define PAIRS_A_STEP 16	 /* that are looked up */
#define STEPS_A_ROW  3	 /* whose game is unpacked and played */

struct tempo {
	struct chi_insight insight;
	struct chi_scan *scan; /* NULL: not begun */
	struct chi_archive_reader *reader;
};

/* White's games with a result. */
struct tempo_score {
	double games;
	double points;
	double squares;
};

static struct tempo_score white_score(const struct chi_counts *counts)
{
	double white = (double)counts->white;
	double draws = (double)counts->draws;
	return (struct tempo_score){.games = white + draws + (double)counts->black,
				    .points = white + draws / 2,
				    .squares = white + draws / 4};
}

static uint64_t games_of(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black;
}

/* The pair's key. CHI_NONE: the position is left out. */
static int pair_key(const struct chi_key *key, struct chi_key *out)
{
	struct chi_position position;
	struct chi_position pair;
	int rc = chi_key_decode(key, &position, NULL);
	if (rc < 0) {
		return -CHI_ECORRUPT;
	}
	if (position.ep != CHI_NO_SQUARE) {
		return CHI_NONE;
	}
	pair = position;
	for (int kind = 0; kind < CHI_KINDS; kind++) {
		pair.kind[kind] = __builtin_bswap64(position.kind[kind]);
	}
	pair.colour[CHI_WHITE] = __builtin_bswap64(position.colour[CHI_BLACK]);
	pair.colour[CHI_BLACK] = __builtin_bswap64(position.colour[CHI_WHITE]);
	pair.castle = __builtin_bswap64(position.castle);
	chi_key_encode(&pair, out);
	return memcmp(out->bytes, key->bytes, CHI_KEY_MAX) == 0 ? CHI_NONE : CHI_OK;
}

/*
 * 95 % of intervals made so, of what the tempo is worth, have it in them: the normal one of a
 * difference of two means with their games' own variances, after a won and a lost game are added to
 * each (A. Agresti and B. Caffo, "Simple and effective confidence intervals for proportions and
 * differences of proportions result from adding two successes and two failures", The American
 * Statistician 54, 2000; there without draws), as if no game had reached both.
 */
static void set_interval(struct chi_insight_row *row, const struct tempo_score *ahead,
			 const struct tempo_score *behind)
{
	double a = (ahead->points + 1) / (ahead->games + 2);
	double b = (behind->points + 1) / (behind->games + 2);
	double variance =
		((ahead->squares + 1) / (ahead->games + 2) - a * a) / (ahead->games + 2) +
		((behind->squares + 1) / (behind->games + 2) - b * b) / (behind->games + 2);
	double half = 1.96 * sqrt(variance);
	double worth = a - (1 - b);
	row->low = (int32_t)lround(fmax(worth - half, -1) * CHI_INSIGHT_POINT);
	row->high = (int32_t)lround(fmin(worth + half, 1) * CHI_INSIGHT_POINT);
}

/* A pair, each with games enough. */
static int add_tempo_pair(struct tempo *tempo, const struct chi_row *ahead,
			  const struct chi_row *behind)
{
	struct tempo_score a = white_score(&ahead->counts);
	struct tempo_score b = white_score(&behind->counts);
	struct chi_insight_row row = {.key = ahead->key,
				      .games = games_of(&ahead->counts),
				      .others = games_of(&behind->counts),
				      .score = insight_score(a.points, a.games),
				      .expected = insight_score(b.games - b.points, b.games)};
	set_interval(&row, &a, &b);
	int rc = insight_find_game(&tempo->insight, tempo->reader, &row);
	return rc == CHI_OK ? insight_add(&tempo->insight, &row) : rc;
}

/* A position that has games enough. *added: a pair is. */
static int look_at(struct tempo *tempo, const struct chi_row *ahead, bool *added)
{
	struct chi_row behind;
	struct chi_key key;
	uint64_t games = games_of(&ahead->counts);
	int rc = pair_key(&ahead->key, &key);
	rc = rc == CHI_OK ? chi_read_row(tempo->insight.read, &key, &behind) : rc;
	tempo->insight.result.tested++;
	*added = false;
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? CHI_OK : rc;
	}
	uint64_t others = games_of(&behind.counts);
	if (others < tempo->insight.spec.min_games || others > games ||
	    (others == games && memcmp(key.bytes, ahead->key.bytes, CHI_KEY_MAX) < 0)) {
		return CHI_OK;
	}
	*added = true;
	return add_tempo_pair(tempo, ahead, &behind);
}

/* CHI_OK: there are more. */
static int look_at_some(struct tempo *tempo, uint64_t *steps)
{
	struct chi_row rows[ROWS_A_STEP];
	size_t n = 0;
	int scanned = chi_scan_rows(tempo->scan, rows, ROWS_A_STEP, ROWS_A_STEP, &n);
	int rc = scanned < 0 ? scanned : CHI_OK;
	uint64_t cost = 1 + n / PAIRS_A_STEP;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		bool added;
		rc = look_at(tempo, &rows[i], &added);
		cost += added ? STEPS_A_ROW : 0;
	}
	*steps -= *steps < cost ? *steps : cost;
	return rc == CHI_OK ? scanned : rc;
}

/* ---- The kind ----------------------------------------------------------------------------- */

static int begin_tempo(struct tempo *tempo)
{
	struct chi_insight *insight = &tempo->insight;
	const struct chi_scan_spec spec = {
		CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION,
		.want = CHI_WANT_COUNTS,
		.filter = {.side = CHI_SIDE_WHITE, .games_min = insight->spec.min_games}};
	struct chi_info info;
	int rc = chi_read_info(insight->read, &info);
	if (rc < 0) {
		return rc;
	}
	insight->result.games = games_of(&info.games) + info.games.other;
	rc = chi_archive_reader_new(&tempo->reader);
	rc = rc == CHI_OK ? chi_archive_reader_begin(tempo->reader, insight->view.txn,
						     &insight->view.trees)
			  : rc;
	return rc == CHI_OK ? chi_read_scan(insight->read, &spec, &tempo->scan, NULL) : rc;
}

static int step_tempo(struct chi_insight *insight, uint64_t *steps)
{
	struct tempo *tempo = (struct tempo *)insight;
	int rc = tempo->scan == NULL ? begin_tempo(tempo) : CHI_OK;
	while (rc == CHI_OK && *steps > 0) {
		rc = look_at_some(tempo, steps);
	}
	return rc;
}

static void end_tempo(struct chi_insight *insight)
{
	struct tempo *tempo = (struct tempo *)insight;
	chi_scan_free(tempo->scan);
	tempo->scan = NULL;
	if (tempo->reader != NULL) {
		chi_archive_reader_end(tempo->reader);
		chi_archive_reader_free(tempo->reader);
		tempo->reader = NULL;
	}
}

static size_t tempo_memory(const struct chi_insight *insight)
{
	const struct tempo *tempo = (const struct tempo *)insight;
	return CHI_ARCHIVE_READER_BYTES + (tempo->scan != NULL ? chi_scan_memory(tempo->scan) : 0);
}

/* That which is worth most for sure first. */
static int compare_tempo(const void *a, const void *b)
{
	const struct chi_insight_row *x = a;
	const struct chi_insight_row *y = b;
	if (x->low != y->low) {
		return x->low > y->low ? -1 : 1;
	}
	if (x->games != y->games) {
		return x->games > y->games ? -1 : 1;
	}
	return memcmp(x->key.bytes, y->key.bytes, CHI_KEY_MAX);
}

const struct insight_kind insight_tempo = {
	.size = sizeof(struct tempo),
	.step = step_tempo,
	.end = end_tempo,
	.memory = tempo_memory,
	.compare = compare_tempo,
};
