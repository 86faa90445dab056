/* SPDX-License-Identifier: MIT */
/* Two bounds, read alike, around two dots. */
#include "formats/range.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "chess/bitboard.h"
#include "chess/statistic.h"

bool chi_range_number(const char *value, uint64_t min, uint64_t max, uint64_t *low, uint64_t *high)
{
	const char *dots = strstr(value, "..");
	const char *second = dots != NULL ? dots + 2 : value;
	size_t first_len = dots != NULL ? (size_t)(dots - value) : strlen(value);
	bool good = first_len > 0 || second[0] != '\0';
	*low = min;
	*high = max;
	if (good && first_len > 0) {
		good = chi_num_u64(value, first_len, max, low) == CHI_OK;
	}
	if (good && second[0] != '\0') {
		good = chi_num_u64(second, strlen(second), max, high) == CHI_OK;
	}
	return good && *low >= min && *low <= *high;
}

/* Reads one bound; false if it is none. */
typedef bool bound_reader(const char *text, size_t len, uint16_t *out);

static bool read_percent(const char *text, size_t len, uint16_t *out)
{
	return len > 0 && text[0] != '-' && chi_chi2_parse(text, len, out) == CHI_OK &&
	       *out <= CHI_SHARE_MAX;
}

/* Pawns as White sees them, or "#3" and "#-3": White, or Black, mates in three. */
static bool read_eval_range(const char *text, size_t len, uint16_t *out)
{
	int64_t mate = 0;
	uint16_t pawns = 0;
	bool black = len > 0 && text[0] == '-';
	size_t sign = len > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
	struct chi_eval eval = {.is_mate = len > 0 && text[0] == '#'};
	if (eval.is_mate) {
		if (chi_num_i64(text + 1, len - 1, CHI_MATE_MAX, &mate) != CHI_OK || mate == 0) {
			return false;
		}
		eval.score = (int32_t)mate;
	} else {
		if (len == sign || text[sign] == '-' ||
		    chi_chi2_parse(text + sign, len - sign, &pawns) != CHI_OK ||
		    pawns > CHI_EVAL_CP_MAX) {
			return false;
		}
		eval.score = black ? -(int32_t)pawns : pawns;
	}
	*out = chi_statistic_eval(&eval, CHI_WHITE);
	return true;
}

static bool read_ply(const char *text, size_t len, uint16_t *out)
{
	uint64_t ply = 0;
	bool good = chi_num_u64(text, len, CHI_PLY_MAX, &ply) == CHI_OK;
	*out = (uint16_t)ply;
	return good;
}

static bool read_depth(const char *text, size_t len, uint16_t *out)
{
	uint64_t depth = 0;
	bool good = chi_num_u64(text, len, UINT16_MAX, &depth) == CHI_OK;
	*out = (uint16_t)depth;
	return good;
}

static bool read_range(const char *value, bound_reader *read, uint16_t least, uint16_t most,
		       struct chi_range *range)
{
	const char *dots = strstr(value, "..");
	size_t len = strlen(value);
	size_t first = dots != NULL ? (size_t)(dots - value) : len;
	*range = (struct chi_range){.min = least, .max = most};
	if (dots == NULL) {
		range->set = read(value, len, &range->min);
		range->max = range->min;
		return range->set;
	}
	bool low = first == 0 || read(value, first, &range->min);
	bool high = first + 2 == len || read(dots + 2, len - first - 2, &range->max);
	range->set = low && high && len > 2;
	return range->set;
}

bool chi_range_percent(const char *value, struct chi_range *out)
{
	return read_range(value, read_percent, 0, CHI_SHARE_MAX, out);
}

bool chi_range_eval(const char *value, struct chi_range *out)
{
	return read_range(value, read_eval_range, 1, CHI_CHI2_MAX, out);
}

bool chi_range_ply(const char *value, struct chi_range *out)
{
	return read_range(value, read_ply, 0, CHI_PLY_MAX, out);
}

bool chi_range_depth(const char *value, struct chi_range *out)
{
	return read_range(value, read_depth, 0, UINT16_MAX, out);
}

/* ---- Times -------------------------------------------------------------------------------- */

#define DAY_SECONDS 86400
#define DAY_SIZE    (sizeof("2024-05-17"))

/* The first second of a day. */
static bool read_day(const char *text, uint64_t *out)
{
	return chi_num_time(text, strlen(text), out) == CHI_OK;
}

/* The first second of a year, a month or a day, or the last. */
static bool read_time(const char *text, size_t len, bool last, uint64_t *out)
{
	static const char *const firsts[] = {"-01-01", "-01", ""};
	static const char *const lasts[] = {"-12-31", "-31", ""};
	char day[2 * DAY_SIZE];
	size_t given = len == 4 ? 0 : len == 7 ? 1 : 2;
	if (len >= DAY_SIZE) {
		return false;
	}
	(void)snprintf(day, sizeof(day), "%.*s%s", (int)len, text,
		       last ? lasts[given] : firsts[given]);
	bool good = read_day(day, out);
	/* Months may end before the 31st. */
	for (int end = 30; !good && last && given == 1 && end >= 28; end--) {
		(void)snprintf(day, sizeof(day), "%.*s-%d", (int)len, text, end);
		good = read_day(day, out);
	}
	*out += good && last ? DAY_SECONDS - 1 : 0;
	return good;
}

bool chi_range_time(const char *value, uint64_t *since, uint64_t *until)
{
	const char *dots = strstr(value, "..");
	size_t len = strlen(value);
	size_t first = dots != NULL ? (size_t)(dots - value) : len;
	const char *second = dots != NULL ? dots + 2 : value;
	*since = 0;
	*until = 0;
	bool good = dots == NULL || len > 2;
	good = good && (first == 0 || read_time(value, first, false, since));
	good = good && (second[0] == '\0' || read_time(second, strlen(second), true, until));
	/* 0 is no bound. */
	*since = *since > 0 ? *since : 1;
	return good && len > 0;
}
