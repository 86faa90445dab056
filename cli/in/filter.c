/* SPDX-License-Identifier: MIT */
/* Options that choose positions, to a scan's spec. */
#include "cli/in/filter.h"

#include "base/evidence.h"
#include "formats/scan_text.h"

/* The fault begins with the option's name. */
int filter_value(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_fault fault = {.text = ""};
	return chi_scan_text(option->name, value, out, &fault) == CHI_OK
		       ? EXIT_DONE
		       : cli_usage(cli, "--%s", fault.text);
}

const char *const filter_sides[] = {[CHI_SIDE_WHITE] = "w", [CHI_SIDE_BLACK] = "b"};

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
