/* SPDX-License-Identifier: MIT */
/* One row an option. Ranges are "A..B", "A..", "..B" or "A": two bounds, read alike. */
#include "formats/scan_text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/bitboard.h"
#include "chess/material.h"
#include "chess/statistic.h"

/* A board holds at most this many pieces that a key can name. */
#define PIECES_MAX 32

/* ---- Ranges ------------------------------------------------------------------------------- */

/* Within min..max; an open end is `min` or `max`. */
static bool read_numbers(const char *value, uint64_t min, uint64_t max, uint64_t *low,
			 uint64_t *high)
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

/* Numbers of a performance statistic are as far from even as those of evaluations. */
static bool read_deviation(const char *text, size_t len, uint16_t *out)
{
	return len > 0 && text[0] != '#' && read_eval_range(text, len, out);
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

/* The first and the last second of days, months or years; an open end is the oldest time that is
 * one, or 0, no bound. */
static bool read_span(const char *value, uint64_t *since, uint64_t *until)
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

/* ---- Options ------------------------------------------------------------------------------ */

struct scan_option;

/* Into the member at `out`; false: the value is not of that kind. */
typedef bool option_reader(const struct scan_option *option, const char *value, void *out);

struct scan_option {
	const char *name;
	option_reader *read;
	size_t at;	     /* of struct chi_scan_spec, or of struct chi_evidence */
	const char *what;    /* its value is */
	bound_reader *bound; /* of a range: */
	uint16_t least;
	uint16_t most;
};

/* Hundredths as everywhere in the code; "-" and 0 both mean not known. A value to be stored is
 * clamped; a bound that is would ask for something else. */
static bool take_band(const struct scan_option *option, const char *value, void *out)
{
	uint64_t most = 0;
	(void)option;
	return chi_chi2_parse(value, strlen(value), out) == CHI_OK &&
	       (value[0] == '-' ||
		chi_num_u64(value, strcspn(value, "."), CHI_CHI2_MAX / 100, &most) == CHI_OK);
}

static bool take_range(const struct scan_option *option, const char *value, void *out)
{
	return read_range(value, option->bound, option->least, option->most, out);
}

/* A band of the statistic. */
static bool take_performance(const struct scan_option *option, const char *value, void *out)
{
	struct chi_scan_spec *spec = out;
	struct chi_range range;
	bool good = take_range(option, value, &range);
	spec->chi2_min = range.min;
	spec->chi2_max = range.max;
	return good;
}

static bool take_pieces(const struct scan_option *option, const char *value, void *out)
{
	struct chi_filter *filter = out;
	uint64_t low = 0;
	uint64_t high = 0;
	(void)option;
	bool good = read_numbers(value, 1, PIECES_MAX, &low, &high);
	filter->pieces_min = (uint8_t)low;
	filter->pieces_max = (uint8_t)high;
	return good;
}

static bool take_engines(const struct scan_option *option, const char *value, void *out)
{
	uint64_t n = 0;
	(void)option;
	bool good = chi_num_u64(value, strlen(value), CHI_EVALS_MAX, &n) == CHI_OK;
	*(uint8_t *)out = (uint8_t)n;
	return good;
}

static bool take_engine(const struct scan_option *option, const char *value, void *out)
{
	size_t len = strlen(value);
	bool good = len > 0 && len <= CHI_ENGINE_MAX && chi_utf8_valid(value, len);
	(void)option;
	memcpy(out, value, good ? len + 1 : 0);
	return good;
}

static bool take_date(const struct scan_option *option, const char *value, void *out)
{
	struct chi_evidence *evidence = out;
	(void)option;
	return read_span(value, &evidence->since, &evidence->until);
}

#define IN_SPEC(member)	    offsetof(struct chi_scan_spec, member)
#define IN_EVIDENCE(member) offsetof(struct chi_evidence, member)
#define BAND		    "number from 0 to 255.99"

_Static_assert(CHI_EVALS_MAX == 64 && CHI_ENGINE_MAX == 64 && CHI_PLY_MAX == 4096 &&
		       CHI_CHI2_MAX == 25599,
	       "the texts below say these numbers");

/* `material` is read where materials are. */
static const struct scan_option scan_options[] = {
	{"min", take_band, IN_SPEC(chi2_min), BAND, NULL, 0, 0},
	{"max", take_band, IN_SPEC(chi2_max), BAND, NULL, 0, 0},
	{"from", take_band, IN_SPEC(chi2_min), BAND, NULL, 0, 0},
	{"to", take_band, IN_SPEC(chi2_max), BAND, NULL, 0, 0},
	{"pieces", take_pieces, IN_SPEC(filter), "range such as 3..5 within 1..32", NULL, 0, 0},
	{"engines", take_engines, IN_SPEC(filter.engines_min), "number from 0 to 64", NULL, 0, 0},
	{"score", take_range, IN_SPEC(filter.score), "range such as 62..65", read_percent, 0,
	 CHI_SHARE_MAX},
	{"eval", take_range, IN_SPEC(filter.eval),
	 "range such as 0.95..1.05, -2.. or #5..#1 within -126..126 and #-1..#1", read_eval_range,
	 1, CHI_CHI2_MAX},
	{"performance", take_performance, 0, "range such as 2.., ..-2 or -1..1 within -126..126",
	 read_deviation, 1, CHI_CHI2_MAX},
	{"ply", take_range, IN_SPEC(filter.ply), "range such as 10..20 within 0..4096", read_ply, 0,
	 CHI_PLY_MAX},
	{"engine", take_engine, IN_EVIDENCE(engine), "pattern of 1 to 64 bytes of UTF-8", NULL, 0,
	 0},
	{"depth", take_range, IN_EVIDENCE(depth), "range such as 30.. within 0..65535", read_depth,
	 0, UINT16_MAX},
	{"eval-date", take_date, 0, "span such as 2023.. or 2024-05..2024-06", NULL, 0, 0},
};

/* A range, or a span, that is empty. */
static bool is_empty(const struct scan_option *option, const void *out)
{
	const struct chi_evidence *evidence = out;
	const struct chi_range *range = out;
	const struct chi_scan_spec *spec = out;
	return option->read == take_range	  ? range->min > range->max
	       : option->read == take_performance ? spec->chi2_min > spec->chi2_max
	       : option->read == take_date
		       ? evidence->until != 0 && evidence->since > evidence->until
		       : false;
}

int chi_scan_text(const char *name, const char *value, void *out, struct chi_fault *fault)
{
	const struct scan_option *option = scan_options;
	if (strcmp(name, "material") == 0) {
		struct chi_filter *filter = &((struct chi_scan_spec *)out)->filter;
		filter->has_material = true;
		return chi_material_parse(value, strlen(value), &filter->material, fault);
	}
	while (option < scan_options + CHI_COUNT(scan_options) && strcmp(option->name, name) != 0) {
		option++;
	}
	if (option == scan_options + CHI_COUNT(scan_options)) {
		return chi_fail(fault, -CHI_EINTERNAL, "%s: no such value of a query", name);
	}
	void *member = (uint8_t *)out + option->at;
	if (!option->read(option, value, member)) {
		return chi_fail(fault, -CHI_EINVAL, "%s: '%.40s' is no %s", name, value,
				option->what);
	}
	return is_empty(option, member)
		       ? chi_fail(fault, -CHI_EINVAL,
				  "%s: in '%.40s' the lower bound is above the upper one", name,
				  value)
		       : CHI_OK;
}
