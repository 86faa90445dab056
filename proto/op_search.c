/* SPDX-License-Identifier: MIT */
/* Names, gamesets, twins, and the queue. Filters stay texts: only the rooms that know chess can
 * read them. */
#include "proto/operations.h"

#include "base/attr.h"
#include "base/wire.h"
#include "proto/rows.h"

#define ROW    struct chi_queue_row
#define ADD    struct chi_queue_add_request
#define TAKE   struct chi_queue_take_request
#define SETTLE struct chi_queue_settle_request

/* ---- Names ------------------------------------------------------------------------------- */

static const struct chi_member names[] = {
	CHI_M_NUMBER(1, struct chi_names_spec, kind),
	CHI_M_TEXT(3, struct chi_names_spec, wanted, CHI_NAME_WANTED_MAX),
	CHI_M_NUMBER(4, struct chi_names_spec, after),
	CHI_M_NUMBER(5, struct chi_names_spec, limit),
};
CHI_TABLE(chi_names_request, names, names, NULL);

static const struct chi_member suspects[] = {
	CHI_M_NUMBER(1, struct chi_suspects_spec, kind),
	CHI_M_NUMBER(2, struct chi_suspects_spec, least),
	CHI_M_NUMBER(3, struct chi_suspects_spec, limit),
};
CHI_TABLE(chi_suspects_request, suspects, suspects, NULL);

static const struct chi_member one_name[] = {
	CHI_M_NUMBER(1, struct chi_name_row, id),
	CHI_M_NUMBER(2, struct chi_name_row, root),
	CHI_M_NUMBER(3, struct chi_name_row, fide),
	CHI_M_NUMBER(5, struct chi_name_row, games),
	CHI_M_ALWAYS_MOST(6, CHI_STRING, struct chi_name_row, text, CHI_NAME_TEXT_MAX),
	CHI_M(9, CHI_BOOL, struct chi_name_row, given),
};
static CHI_TABLE(name_message, name, one_name, NULL);

static const struct chi_member names_result[] = {
	CHI_M_ROWS(1, struct chi_names, rows, n, &name_message, CHI_NAMES_MAX),
	CHI_M_NUMBER(2, struct chi_names, total),
};
CHI_TABLE(chi_names_result, names_result, names_result, NULL);

static int check_suspects(struct chi_unpacker *u, void *out)
{
	const struct chi_name_suspects *group = out;
	return group->n >= 2 ? CHI_OK : chi_flaw_set(u->flaw, -CHI_EPROTO, "not a group", "names");
}

/* How many names a group may have is a matter of bytes. */
static const struct chi_member suspect_group[] = {
	CHI_M_NUMBER(1, struct chi_name_suspects, score),
	CHI_M_LIST(2, struct chi_name_suspects, names, n, &name_message),
};
static CHI_TABLE(suspect_group_message, suspect_group, suspect_group, check_suspects);

static const struct chi_member suspects_result[] = {
	CHI_M_ROWS(1, struct chi_suspect_groups, groups, n, &suspect_group_message, CHI_NAMES_MAX),
	CHI_M_NUMBER(2, struct chi_suspect_groups, total),
};
CHI_TABLE(chi_suspects_result, suspects_result, suspects_result, NULL);

/* ---- Changes ----------------------------------------------------------------------------- */

/* What goes with what is the store's to say (chi_name_changes_check). */
static const struct chi_member change[] = {
	CHI_M_NUMBER(1, struct chi_name_change, action),
	CHI_M_NUMBER(2, struct chi_name_change, kind),
	CHI_M_TEXT(3, struct chi_name_change, name, CHI_NAME_TEXT_MAX),
	CHI_M_TEXT(4, struct chi_name_change, to, CHI_NAME_TEXT_MAX),
	CHI_M_NUMBER(5, struct chi_name_change, fide),
};
static CHI_TABLE(change_message, name_change, change, NULL);

static const struct chi_member change_names[] = {
	CHI_M_ROWS(1, struct chi_change_names_request, changes, n, &change_message,
		   CHI_NAME_CHANGES_MAX),
	CHI_M(2, CHI_BOOL, struct chi_change_names_request, dry_run),
};
CHI_TABLE(chi_change_names_request, change_names, change_names, NULL);

static const struct chi_member refusal[] = {
	CHI_M_NUMBER(1, struct chi_name_refusal, entry),
	CHI_M_ALWAYS_MOST(2, CHI_STRING, struct chi_name_refusal, reason, CHI_REFUSAL_TEXT_MAX),
};
static CHI_TABLE(refusal_message, name_refusal, refusal, NULL);

/* `m` is where they are in `s`, with a full stop. */
#define COUNTS(s, m)                                                                               \
	CHI_M_NUMBER(1, s, m changed), CHI_M_NUMBER(2, s, m same), CHI_M_NUMBER(3, s, m conflicts)

/* Of an Outcome: the counts alone. */
static const struct chi_member names_counts[] = {
	COUNTS(struct chi_names_changed, ),
	CHI_M_UNKEPT_MESSAGE(4, CHI_NAME_CHANGES_MAX, "more than 10000 refusals", &refusal_message),
};
CHI_TABLE(chi_names_counts_message, change_names_result, names_counts, NULL);

static const struct chi_member changed[] = {
	COUNTS(struct chi_names_done, counts.),
	CHI_M_ROWS_OF(4, struct chi_names_done, refused, n_refused, &refusal_message,
		      CHI_NAME_CHANGES_MAX, "more than 10000 refusals"),
};
CHI_TABLE(chi_change_names_result, change_names_result, changed, NULL);

/* ---- Gamesets ---------------------------------------------------------------------------- */

static const struct chi_member gamesets[] = {
	CHI_M_TEXT(1, struct chi_gamesets_spec, name, CHI_GAMESET_TEXT_MAX),
};
CHI_TABLE(chi_gamesets_request, gamesets, gamesets, NULL);

static const struct chi_member gameset[] = {
	CHI_M_ALWAYS_MOST(1, CHI_STRING, struct chi_gameset_row, name, CHI_GAMESET_TEXT_MAX),
	CHI_M_ALWAYS_MOST(2, CHI_STRING, struct chi_gameset_row, filter, CHI_FILTER_PRINT_MAX),
	CHI_M_NUMBER(3, struct chi_gameset_row, games),
	CHI_M_NUMBER(4, struct chi_gameset_row, upto),
	CHI_M_NUMBER(5, struct chi_gameset_row, bytes),
};
static CHI_TABLE(gameset_message, gameset, gameset, NULL);

static const struct chi_member gamesets_result[] = {
	CHI_M_ROWS(1, struct chi_gamesets, rows, n, &gameset_message, CHI_GAMESETS_MAX),
};
CHI_TABLE(chi_gamesets_result, gamesets_result, gamesets_result, NULL);

static const struct chi_member make_gameset[] = {
	CHI_M_ALWAYS_MOST(1, CHI_STRING, struct chi_gameset_request, name, CHI_GAMESET_TEXT_MAX),
	CHI_M_ALWAYS_MOST(2, CHI_STRING, struct chi_gameset_request, filter, CHI_FILTER_MAX),
};
CHI_TABLE(chi_make_gameset_request, make_gameset, make_gameset, NULL);

static const struct chi_member done[] = {CHI_M_NUMBER(1, struct chi_affected, n)};
CHI_TABLE(chi_make_gameset_result, make_gameset_result, done, NULL);

static const struct chi_member drop_gameset[] = {
	CHI_M_ALWAYS_MOST(1, CHI_STRING, struct chi_gamesets_spec, name, CHI_GAMESET_TEXT_MAX),
};
CHI_TABLE(chi_drop_gameset_request, drop_gameset, drop_gameset, NULL);

CHI_TABLE(chi_drop_gameset_result, drop_gameset_result, done, NULL);

/* ---- The queue: a row
 * -------------------------------------------------------------------------------- */

static int check_row(struct chi_unpacker *u, void *out)
{
	const struct chi_queue_row *row = out;
	return chi_key_needed(u, &row->key);
}

static const struct chi_member queue_row[] = {
	CHI_M(1, CHI_KEY, ROW, key),
	CHI_M_NUMBER(2, ROW, state),
	CHI_M(3, CHI_BOOL, ROW, claimed),
	CHI_M_NUMBER(4, ROW, priority),
	CHI_M_NUMBER(5, ROW, tries),
	CHI_M_NUMBER(6, ROW, asked),
	CHI_M_NUMBER(7, ROW, number),
	CHI_M_NUMBER(8, ROW, lease),
	CHI_M_NUMBER(9, ROW, expires),
	CHI_M_ALWAYS_MOST(10, CHI_STRING, ROW, holder, CHI_QUEUE_HOLDER_MAX),
};
static CHI_TABLE(row_message, queue_row, queue_row, check_row);

/* ---- Changes ------------------------------------------------------------------------------ */

/* All three begin with them. */
static int check_positions(struct chi_unpacker *u, void *out)
{
	return chi_positions_check(u, out, CHI_QUEUE_BATCH_MAX);
}
_Static_assert(offsetof(ADD, positions) == 0 && offsetof(TAKE, positions) == 0 &&
		       offsetof(SETTLE, positions) == 0,
	       "positions come first");

static const struct chi_member queue_add[] = {
	CHI_M_POSITIONS(ADD, positions, CHI_QUEUE_BATCH_MAX, "more than 4096 positions"),
	CHI_M_NUMBER(3, ADD, priority),
};
CHI_TABLE(chi_queue_add_request, queue_add, queue_add, check_positions);

static const struct chi_member queue_added[] = {
	CHI_M_NUMBER(1, struct chi_queue_added, added),
	CHI_M_NUMBER(2, struct chi_queue_added, raised),
	CHI_M_NUMBER(3, struct chi_queue_added, refused),
};
CHI_TABLE(chi_queue_add_result, queue_add_result, queue_added, NULL);

static const struct chi_member queue_take[] = {
	CHI_M_POSITIONS(TAKE, positions, CHI_QUEUE_BATCH_MAX, "more than 4096 positions"),
	CHI_M_ALWAYS_MOST(3, CHI_STRING, TAKE, holder, CHI_QUEUE_HOLDER_MAX),
	CHI_M_NUMBER(4, TAKE, lease_ms),
	CHI_M_NUMBER(5, TAKE, limit),
};
CHI_TABLE(chi_queue_take_request, queue_take, queue_take, check_positions);

#define LEASE                                                                                      \
	CHI_M_NUMBER(1, struct chi_queue_lease, lease),                                            \
		CHI_M_NUMBER(2, struct chi_queue_lease, expires)

/* Of an Outcome: the lease alone. */
static const struct chi_member queue_lease[] = {
	LEASE,
	CHI_M_UNKEPT_MESSAGE(3, CHI_QUEUE_BATCH_MAX, "more than 4096 positions", &row_message),
};
CHI_TABLE(chi_queue_lease_message, queue_take_result, queue_lease, NULL);

static const struct chi_member queue_taken[] = {
	LEASE,
	CHI_M_ROWS_OF(3, struct chi_queue_lease, rows, n, &row_message, CHI_QUEUE_BATCH_MAX,
		      "more than 4096 positions"),
};
CHI_TABLE(chi_queue_take_result, queue_take_result, queue_taken, NULL);

static const struct chi_member queue_settle[] = {
	CHI_M_POSITIONS(SETTLE, positions, CHI_QUEUE_BATCH_MAX, "more than 4096 positions"),
	CHI_M_NUMBER(3, SETTLE, lease),
	CHI_M_NUMBER(4, SETTLE, action),
	CHI_M_NUMBER(5, SETTLE, lease_ms),
};
CHI_TABLE(chi_queue_settle_request, queue_settle, queue_settle, check_positions);

CHI_TABLE(chi_queue_settle_result, queue_settle_result, done, NULL);

/* ---- Lists -------------------------------------------------------------------------------- */

static const struct chi_member queue_list[] = {
	CHI_M_NUMBER(1, struct chi_queue_list_request, state),
	CHI_M_NUMBER(2, struct chi_queue_list_request, limit),
	CHI_M_POINTER(3, struct chi_queue_list_request, after, &row_message),
};
CHI_TABLE(chi_queue_list_request, queue_list, queue_list, NULL);

static const struct chi_member queue_list_result[] = {
	CHI_M_ROWS_OF(1, struct chi_queue_page, rows, n, &row_message, CHI_QUEUE_BATCH_MAX,
		      "more than 4096 positions"),
	CHI_M(2, CHI_BOOL, struct chi_queue_page, more),
	CHI_M_NUMBER(3, struct chi_queue_page, counts.waiting),
	CHI_M_NUMBER(4, struct chi_queue_page, counts.leased),
	CHI_M_NUMBER(5, struct chi_queue_page, counts.failed),
};
CHI_TABLE(chi_queue_list_result, queue_list_result, queue_list_result, NULL);

/* ---- Twins ------------------------------------------------------------------------------- */

static const struct chi_member twins[] = {
	CHI_M_TEXT(1, struct chi_twin_spec, filter, CHI_FILTER_MAX),
	CHI_M_NUMBER(2, struct chi_twin_spec, days),
	CHI_M_NUMBER(3, struct chi_twin_spec, plies),
	CHI_M_NUMBER(5, struct chi_twin_spec, beginning),
};
CHI_TABLE(chi_twins_request, twins, twins, NULL);

static int check_group(struct chi_unpacker *u, void *out)
{
	const struct chi_twin_group *group = out;
	bool ascending = group->n >= 2 && group->games[0] > 0;
	for (size_t i = 1; ascending && i < group->n; i++) {
		ascending = group->games[i] > group->games[i - 1];
	}
	return ascending ? CHI_OK : chi_flaw_set(u->flaw, -CHI_EPROTO, "not a group", "games");
}

static const struct chi_member twin_group[] = {
	CHI_M_NUMBERS(1, struct chi_twin_group, games, n),
	CHI_M_NUMBER(2, struct chi_twin_group, why),
};
static CHI_TABLE(twin_group_message, twin_group, twin_group, check_group);

static const struct chi_member twins_result[] = {
	CHI_M_ROWS(2, struct chi_twin_groups, groups, n, &twin_group_message, CHI_TWINS_MAX),
};
CHI_TABLE(chi_twins_result, twins_result, twins_result, NULL);

/* ---- Insight ----------------------------------------------------------------------------- */

static const struct chi_member insight[] = {
	CHI_M_NUMBER(1, struct chi_insight_spec, kind),
	CHI_M(2, CHI_BOOL, struct chi_insight_spec, black),
	CHI_M_TEXT(3, struct chi_insight_spec, filter, CHI_FILTER_MAX),
	CHI_M_NUMBER(4, struct chi_insight_spec, min_games),
	CHI_M_UP_TO(5, struct chi_insight_spec, fdr, CHI_THOUSANDTHS, "more than 1,000"),
	CHI_M_NUMBER(6, struct chi_insight_spec, known),
	CHI_M_UP_TO(7, struct chi_insight_spec, years, CHI_INSIGHT_YEARS_MAX, "more than 1,000"),
	CHI_M_NUMBER(8, struct chi_insight_spec, limit),
	CHI_M_NUMBER(9, struct chi_insight_spec, split),
	CHI_M_UP_TO(10, struct chi_insight_spec, engines, CHI_EVALS_MAX, "over 64"),
	CHI_M_KEY_POINTER(11, struct chi_insight_spec, position),
	CHI_M_NESTED(12, struct chi_insight_spec, evidence, CHI_IF_SET, &chi_evidence_message),
};
CHI_TABLE(chi_insight_request, insight, insight, NULL);

static int check_finding(struct chi_unpacker *u, void *out)
{
	const struct chi_insight_row *row = out;
	return row->move == 0 || chi_move_possible(row->move)
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EPROTO, "not a move", "move");
}

static const struct chi_member opinion[] = {
	CHI_M(1, CHI_CHARS, struct chi_insight_opinion, engine),
	CHI_M_UP_TO(2, struct chi_insight_opinion, depth, UINT16_MAX, "over 65535"),
	CHI_M_UP_TO(3, struct chi_insight_opinion, eval, CHI_CHI2_MAX, "over 25599"),
};
static CHI_TABLE(opinion_message, insight_opinion, opinion, NULL);

static const struct chi_member finding[] = {
	CHI_M(1, CHI_KEY, struct chi_insight_row, key),
	CHI_M_UP_TO(2, struct chi_insight_row, move, UINT16_MAX, "not a move"),
	CHI_M_NUMBER(3, struct chi_insight_row, game),
	CHI_M_NUMBER(4, struct chi_insight_row, ply),
	CHI_M_NUMBER(5, struct chi_insight_row, games),
	CHI_M_NUMBER(6, struct chi_insight_row, others),
	CHI_M_NUMBER(7, struct chi_insight_row, followed),
	CHI_M_NUMBER(8, struct chi_insight_row, score),
	CHI_M_NUMBER(9, struct chi_insight_row, expected),
	CHI_M_SIGNED(10, struct chi_insight_row, low, -CHI_INSIGHT_POINT, CHI_INSIGHT_POINT,
		     "no points"),
	CHI_M_SIGNED(11, struct chi_insight_row, high, -CHI_INSIGHT_POINT, CHI_INSIGHT_POINT,
		     "no points"),
	CHI_M_NUMBER(12, struct chi_insight_row, chance),
	CHI_M_NUMBER(13, struct chi_insight_row, adjusted),
	CHI_M_SIGNED(14, struct chi_insight_row, eval, -CHI_SCORE_MAX, CHI_SCORE_MAX,
		     "not a score"),
	CHI_M_NESTED(15, struct chi_insight_row, best, CHI_IF_SET, &opinion_message),
	CHI_M_NESTED(16, struct chi_insight_row, worst, CHI_IF_SET, &opinion_message),
	CHI_M(17, CHI_BOOL, struct chi_insight_row, has_loss),
	CHI_M_SIGNED(18, struct chi_insight_row, loss, -CHI_INSIGHT_LOSS_MAX, CHI_INSIGHT_LOSS_MAX,
		     "no loss"),
};
static CHI_TABLE(finding_message, insight_row, finding, check_finding);

static const struct chi_member insight_result[] = {
	CHI_M_ROWS(1, struct chi_insight_result, rows, n, &finding_message, CHI_SCAN_ROWS_MAX),
	CHI_M_NUMBER(2, struct chi_insight_result, tested),
	CHI_M_NUMBER(3, struct chi_insight_result, games),
	CHI_M_NUMBER(4, struct chi_insight_result, before),
};
CHI_TABLE(chi_insight_result_message, insight_result, insight_result, NULL);
