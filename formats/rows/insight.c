/* SPDX-License-Identifier: MIT */
/* The columns of findings. */
#include "formats/rows/insight.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"

const char *const chi_insight_words[CHI_INSIGHTS] = {
	[CHI_INSIGHT_WEAK] = "weak",
	[CHI_INSIGHT_STRONG] = "strong",
	[CHI_INSIGHT_NOVELTIES] = "novelties",
	[CHI_INSIGHT_TEMPO] = "tempo",
	[CHI_INSIGHT_PERFORMANCE] = "performance",
	[CHI_INSIGHT_DRIFT] = "drift",
	[CHI_INSIGHT_GAP] = "gap",
	[CHI_INSIGHT_SPREAD] = "spread",
};

static const struct chi_insight_row *row_of(const void *at)
{
	return &((const struct chi_insight_line *)at)->row;
}

/* Points of a game, in percent. */
static void percent(uint32_t score, struct chi_cell *out)
{
	if (score != CHI_INSIGHT_UNKNOWN) {
		chi_cell_hundredths(out, (int32_t)score);
	}
}

static void score_cell(const void *at, struct chi_cell *out)
{
	percent(row_of(at)->score, out);
}

/* Of the interval; not known without a score. */
static void bound(const struct chi_insight_row *row, int32_t score, struct chi_cell *out)
{
	if (row->score != CHI_INSIGHT_UNKNOWN) {
		chi_cell_hundredths(out, score);
	}
}

static void low_cell(const void *at, struct chi_cell *out)
{
	bound(row_of(at), row_of(at)->low, out);
}

static void high_cell(const void *at, struct chi_cell *out)
{
	bound(row_of(at), row_of(at)->high, out);
}

static void expected_cell(const void *at, struct chi_cell *out)
{
	percent(row_of(at)->expected, out);
}

static void eval_cell(const void *at, struct chi_cell *out)
{
	chi_cell_hundredths(out, row_of(at)->eval);
}

static void loss_cell(const void *at, struct chi_cell *out)
{
	if (row_of(at)->has_loss) {
		(void)snprintf(out->own, sizeof(out->own), "%d", row_of(at)->loss);
		chi_cell_name(out, out->own);
		out->kind = VALUE_NUMBER;
	}
}

static void worth_cell(const void *at, struct chi_cell *out)
{
	chi_cell_hundredths(out, (int32_t)row_of(at)->score - (int32_t)row_of(at)->expected);
}

/* Of all games of a span, in percent; that of a rare position has few digits before the third. */
static void share(uint64_t games, uint64_t all, struct chi_cell *out)
{
	double percents = all > 0 ? 100.0 * (double)games / (double)all : 0;
	(void)snprintf(out->own, sizeof(out->own), "%.3f", percents);
	chi_cell_name(out, out->own);
	out->kind = VALUE_NUMBER;
}

static void share_cell(const void *at, struct chi_cell *out)
{
	share(row_of(at)->games, ((const struct chi_insight_line *)at)->after, out);
}

static void share_before_cell(const void *at, struct chi_cell *out)
{
	share(row_of(at)->others, ((const struct chi_insight_line *)at)->before, out);
}

static void chance(uint32_t billionths, struct chi_cell *out)
{
	(void)snprintf(out->own, sizeof(out->own), "%.9f", billionths / (double)CHI_INSIGHT_CHANCE);
	chi_cell_name(out, out->own);
	out->kind = VALUE_NUMBER;
}

static void chance_cell(const void *at, struct chi_cell *out)
{
	chance(row_of(at)->chance, out);
}

static void adjusted_cell(const void *at, struct chi_cell *out)
{
	chance(row_of(at)->adjusted, out);
}

/* A column of the game's own. */
static void game_cell(const char *name, const void *at, struct chi_cell *out)
{
	const struct chi_game_row *head = ((const struct chi_insight_line *)at)->head;
	for (size_t i = 0; head != NULL && i < CHI_GAME_COLUMNS; i++) {
		if (strcmp(chi_game_columns[i].name, name) == 0) {
			chi_cell_fill(&chi_game_columns[i], head, out);
		}
	}
}

static void date_cell(const void *at, struct chi_cell *out)
{
	game_cell("date", at, out);
}

static void white_cell(const void *at, struct chi_cell *out)
{
	game_cell("white", at, out);
}

static void black_cell(const void *at, struct chi_cell *out)
{
	game_cell("black", at, out);
}

#define LINE(show, member, name) COLUMN(show, struct chi_insight_line, member, name)
#define COMMON                                                                                     \
	COLUMN_MADE("score", score_cell), COLUMN_MADE("low", low_cell),                            \
		COLUMN_MADE("high", high_cell), COLUMN_MADE("expected", expected_cell)
#define TESTED(others)                                                                             \
	COLUMN_MADE("chance", chance_cell), COLUMN_MADE("adjusted", adjusted_cell),                \
		LINE(SHOW_COUNT, row.others, "positions")
#define PLACE                                                                                      \
	LINE(SHOW_NUMBER, row.game, "game"), LINE(SHOW_COUNT, row.ply, "ply"),                     \
		LINE(SHOW_NAME, line, "line"), LINE(SHOW_NAME, fen, "fen"),                        \
		LINE(SHOW_NAME, show, "show")

static const struct chi_row_column sides[] = {
	LINE(SHOW_NAME, side, "side"),
	LINE(SHOW_COUNT, row.games, "games"),
	COMMON,
	TESTED(others),
	PLACE,
};

static const struct chi_row_column novelties[] = {
	LINE(SHOW_COUNT, row.followed, "followed"),
	LINE(SHOW_COUNT, row.games, "games"),
	LINE(SHOW_COUNT, row.others, "before"),
	LINE(SHOW_NAME, move, "move"),
	COLUMN_MADE("date", date_cell),
	COLUMN_MADE("white", white_cell),
	COLUMN_MADE("black", black_cell),
	COMMON,
	COLUMN_MADE("loss", loss_cell),
	PLACE,
};

static const struct chi_row_column tempo[] = {
	COLUMN_MADE("worth", worth_cell),
	LINE(SHOW_COUNT, row.games, "games"),
	LINE(SHOW_COUNT, row.others, "games_behind"),
	COLUMN_MADE("score", score_cell),
	COLUMN_MADE("low", low_cell),
	COLUMN_MADE("high", high_cell),
	COLUMN_MADE("score_behind", expected_cell),
	PLACE,
};

static const struct chi_row_column performance[] = {
	LINE(SHOW_COUNT, row.games, "games"), COMMON, TESTED(others),
	LINE(SHOW_NAME, move, "move"),	      PLACE,
};

static const struct chi_row_column drift[] = {
	LINE(SHOW_COUNT, row.others, "games_before"),
	LINE(SHOW_COUNT, row.games, "games"),
	COLUMN_MADE("share_before", share_before_cell),
	COLUMN_MADE("share", share_cell),
	COMMON,
	TESTED(followed),
	PLACE,
};

static const struct chi_row_column gap[] = {
	COLUMN_MADE("eval", eval_cell),
	LINE(SHOW_COUNT, row.games, "games"),
	COMMON,
	TESTED(others),
	PLACE,
};

/* Pawns as White sees them, or "#3" and "#-3". */
static void opinion_eval(const struct chi_insight_opinion *opinion, struct chi_cell *out)
{
	int centipawns = opinion->eval - CHI_EVAL_EVEN;
	if (centipawns <= CHI_EVAL_CP_MAX && centipawns >= -CHI_EVAL_CP_MAX) {
		chi_cell_hundredths(out, centipawns);
		return;
	}
	(void)snprintf(out->own, sizeof(out->own), "#%d",
		       centipawns > 0 ? CHI_CHI2_MAX - opinion->eval : 1 - opinion->eval);
	chi_cell_name(out, out->own);
}

static void best_cell(const void *at, struct chi_cell *out)
{
	opinion_eval(&row_of(at)->best, out);
}

static void worst_cell(const void *at, struct chi_cell *out)
{
	opinion_eval(&row_of(at)->worst, out);
}

static void best_engine_cell(const void *at, struct chi_cell *out)
{
	const char *engine = row_of(at)->best.engine;
	chi_cell_text(out, engine, strlen(engine));
}

static void worst_engine_cell(const void *at, struct chi_cell *out)
{
	const char *engine = row_of(at)->worst.engine;
	chi_cell_text(out, engine, strlen(engine));
}

static void best_depth_cell(const void *at, struct chi_cell *out)
{
	chi_cell_count(out, row_of(at)->best.depth);
}

static void worst_depth_cell(const void *at, struct chi_cell *out)
{
	chi_cell_count(out, row_of(at)->worst.depth);
}

static const struct chi_row_column spread[] = {
	COLUMN_MADE("difference", worth_cell),
	COLUMN_MADE("best", best_cell),
	COLUMN_MADE("best_engine", best_engine_cell),
	COLUMN_MADE("best_depth", best_depth_cell),
	COLUMN_MADE("worst", worst_cell),
	COLUMN_MADE("worst_engine", worst_engine_cell),
	COLUMN_MADE("worst_depth", worst_depth_cell),
	LINE(SHOW_COUNT, row.others, "engines"),
	LINE(SHOW_COUNT, row.games, "games"),
	PLACE,
};

const struct chi_row_column *chi_insight_columns(uint8_t kind, size_t *n)
{
#define TABLE(columns)                                                                             \
	{                                                                                          \
		columns, CHI_COUNT(columns)                                                        \
	}
	static const struct {
		const struct chi_row_column *columns;
		size_t n;
	} tables[CHI_INSIGHTS] = {
		[CHI_INSIGHT_WEAK] = TABLE(sides),
		[CHI_INSIGHT_STRONG] = TABLE(sides),
		[CHI_INSIGHT_NOVELTIES] = TABLE(novelties),
		[CHI_INSIGHT_TEMPO] = TABLE(tempo),
		[CHI_INSIGHT_PERFORMANCE] = TABLE(performance),
		[CHI_INSIGHT_DRIFT] = TABLE(drift),
		[CHI_INSIGHT_GAP] = TABLE(gap),
		[CHI_INSIGHT_SPREAD] = TABLE(spread),
	};
#undef TABLE
	*n = tables[kind].n;
	return tables[kind].columns;
}
