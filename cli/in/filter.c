/* SPDX-License-Identifier: MIT */
/* Options that choose positions, to a scan's spec. */
#include "cli/in/filter.h"

#include <string.h>

#include "base/evidence.h"
#include "base/num.h"
#include "formats/range.h"

/* A board holds at most this many pieces that a key can name. */
#define PIECES_MAX 32

/* Hundredths as everywhere in the code; "-" and 0 both mean not known. */
int filter_band(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	size_t whole = strcspn(value, ".");
	uint64_t most = 0;
	if (chi_chi2_parse(value, strlen(value), out) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is not a number", option->name, value);
	}
	/* A value to be stored is clamped; a bound that is would ask for something else. */
	if (value[0] != '-' && chi_num_u64(value, whole, CHI_CHI2_MAX / 100, &most) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is above %d.%02d, the largest statistic",
				 option->name, value, CHI_CHI2_MAX / 100, CHI_CHI2_MAX % 100);
	}
	return EXIT_DONE;
}

int filter_pieces(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_filter *filter = out;
	uint64_t low = 0;
	uint64_t high = 0;
	if (!chi_range_number(value, 1, PIECES_MAX, &low, &high)) {
		return cli_usage(cli, "--%s: '%s' is no range such as 3..5 within 1..%d",
				 option->name, value, PIECES_MAX);
	}
	filter->pieces_min = (uint8_t)low;
	filter->pieces_max = (uint8_t)high;
	return EXIT_DONE;
}

static int take_range(struct cli *cli, const struct cli_option *option, const char *value,
		      chi_range_reader *read, const char *example, struct chi_range *range)
{
	if (!read(value, range)) {
		return cli_usage(cli, "--%s: '%s' is no range such as %s", option->name, value,
				 example);
	}
	if (range->min > range->max) {
		return cli_usage(cli, "--%s: in '%s' the lower bound is above the upper one",
				 option->name, value);
	}
	return EXIT_DONE;
}

int filter_score(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_range range;
	int code = take_range(cli, option, value, chi_range_percent, "62..65", &range);
	*(struct chi_range *)out = range;
	return code;
}

/* Its numbers are as far from even as those of evaluations. */
static bool read_performance(const char *value, struct chi_range *out)
{
	return strchr(value, '#') == NULL && chi_range_eval(value, out);
}

/* A band of the statistic. */
int filter_performance(struct cli *cli, const struct cli_option *option, const char *value,
		       void *out)
{
	struct chi_scan_spec *spec = out;
	struct chi_range range;
	int code = take_range(cli, option, value, read_performance,
			      "2.., ..-2 or -1..1 within -126..126", &range);
	if (code == EXIT_DONE) {
		spec->chi2_min = range.min;
		spec->chi2_max = range.max;
	}
	return code;
}

int filter_eval(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_range range;
	int code = take_range(cli, option, value, chi_range_eval,
			      "0.95..1.05, -2.. or #5..#1 within -126..126 and #-1..#1", &range);
	*(struct chi_range *)out = range;
	return code;
}

int filter_ply(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_range range;
	int code = take_range(cli, option, value, chi_range_ply, "10..20 within 0..4096", &range);
	*(struct chi_range *)out = range;
	return code;
}

int filter_engines(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	uint64_t n = 0;
	if (chi_num_u64(value, strlen(value), CHI_EVALS_MAX, &n) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is no number from 0 to %d", option->name, value,
				 CHI_EVALS_MAX);
	}
	*(uint8_t *)out = (uint8_t)n;
	return EXIT_DONE;
}

int filter_engine(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	size_t len = strlen(value);
	if (len == 0 || len > CHI_ENGINE_MAX || !chi_utf8_valid(value, len)) {
		return cli_usage(cli, "--%s: a pattern has 1 to %d bytes of UTF-8", option->name,
				 CHI_ENGINE_MAX);
	}
	memcpy(out, value, len + 1);
	return EXIT_DONE;
}

int filter_depth(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_range range;
	int code = take_range(cli, option, value, chi_range_depth, "30.. within 0..65535", &range);
	*(struct chi_range *)out = range;
	return code;
}

int filter_eval_date(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_evidence *evidence = out;
	if (!chi_range_time(value, &evidence->since, &evidence->until)) {
		return cli_usage(cli, "--%s: '%s' is no span such as 2023.. or 2024-05..2024-06",
				 option->name, value);
	}
	if (evidence->until != 0 && evidence->since > evidence->until) {
		return cli_usage(cli, "--%s: in '%s' the first is after the last", option->name,
				 value);
	}
	return EXIT_DONE;
}

const char *const filter_sides[] = {[CHI_SIDE_WHITE] = "w", [CHI_SIDE_BLACK] = "b"};

/* The fault begins with "material", so the dashes make it the option's name. */
int filter_material(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_filter *filter = out;
	struct chi_fault fault = {.text = ""};
	(void)option;
	if (chi_material_parse(value, strlen(value), &filter->material, &fault) != CHI_OK) {
		return cli_usage(cli, "--%s", fault.text);
	}
	filter->has_material = true;
	return EXIT_DONE;
}

int filter_check(struct cli *cli, const struct chi_scan_spec *spec)
{
	if (spec->chi2_min > spec->chi2_max) {
		return cli_usage(cli, "--min is greater than --max");
	}
	if (spec->filter.either_colour && !spec->filter.has_material) {
		return cli_usage(cli, "--either-colour says something only with --material");
	}
	return EXIT_DONE;
}

/* What the store is in the order of is a band of it, and its order needs no sorting. */
static int take_band(struct cli *cli, struct chi_range *range, enum chi_sort sort,
		     struct chi_scan_spec *spec)
{
	if (range->set && (cli_given(cli, "min") || cli_given(cli, "max"))) {
		return cli_usage(cli, "--score and --eval are the band in a store of that "
				      "statistic: without --min and --max");
	}
	if (range->set) {
		spec->chi2_min = range->min;
		spec->chi2_max = range->max > 0 ? range->max : 1;
		*range = (struct chi_range){.set = false};
	} else if (spec->sort != sort) {
		return EXIT_DONE;
	}
	/* What is not known has neither. */
	spec->chi2_min = spec->chi2_min > 0 ? spec->chi2_min : 1;
	spec->sort = spec->sort == sort ? CHI_SORT_NONE : spec->sort;
	return EXIT_DONE;
}

/* The store's own order, or a band of it, which only a store of that statistic has. */
static int take_performance(struct cli *cli, enum chi_statistic statistic,
			    struct chi_scan_spec *spec)
{
	if (statistic != CHI_STATISTIC_PERFORMANCE) {
		return cli_usage(cli, "the store's statistic is %s, not performance",
				 chi_statistic_name((int)statistic));
	}
	if (cli_given(cli, "performance") && (cli_given(cli, "min") || cli_given(cli, "max"))) {
		return cli_usage(cli, "--performance is a band: without --min and --max");
	}
	spec->chi2_min = spec->chi2_min > 0 ? spec->chi2_min : 1;
	spec->sort = (int)spec->sort == FILTER_SORT_PERFORMANCE ? CHI_SORT_NONE : spec->sort;
	return EXIT_DONE;
}

int filter_take(struct cli *cli, struct chi_scan_spec *spec)
{
	struct chi_filter *filter = &spec->filter;
	struct chi_info info = {.statistic = 0};
	spec->size = sizeof(*spec);
	int code = filter_check(cli, spec);
	bool performs = cli_given(cli, "performance") || (int)spec->sort == FILTER_SORT_PERFORMANCE;
	bool asks =
		filter->score.set || filter->eval.set || spec->sort > CHI_SORT_GAMES || performs;
	if (code != EXIT_DONE || !asks) {
		return code;
	}
	int status = chi_store_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (performs) {
		return take_performance(cli, (enum chi_statistic)info.statistic, spec);
	}
	/* The statistic is that of all evaluations. */
	bool all = chi_evidence_or_null(&filter->evidence) == NULL;
	return info.statistic == CHI_STATISTIC_SCORE
		       ? take_band(cli, &filter->score, CHI_SORT_SCORE, spec)
	       : info.statistic == CHI_STATISTIC_EVAL && all
		       ? take_band(cli, &filter->eval, CHI_SORT_EVAL, spec)
		       : EXIT_DONE;
}
