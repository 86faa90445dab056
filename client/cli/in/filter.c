/* SPDX-License-Identifier: MIT */
/* Options that choose positions, to a scan's spec. */
#include "client/cli/in/filter.h"

#include <string.h>

#include "base/num.h"

/* A board holds at most this many pieces that a key can name. */
#define PIECES_MAX 32

/* Hundredths as everywhere in the code; "-" and 0 both mean not known. */
int filter_band(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	size_t whole = strcspn(value, ".");
	uint64_t most = 0;
	if (chi_num_chi2(value, strlen(value), out) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is not a number", option->name, value);
	}
	/* A value to be stored is clamped; a bound that is would ask for something else. */
	if (value[0] != '-' && chi_num_u64(value, whole, CHI_CHI2_MAX / 100, &most) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is above %d.%02d, the largest statistic",
				 option->name, value, CHI_CHI2_MAX / 100, CHI_CHI2_MAX % 100);
	}
	return EXIT_DONE;
}

/* "A..B", "A..", "..B" or "N". */
int filter_pieces(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_filter *filter = out;
	const char *dots = strstr(value, "..");
	const char *second = dots != NULL ? dots + 2 : value;
	size_t first_len = dots != NULL ? (size_t)(dots - value) : strlen(value);
	uint64_t low = 1;
	uint64_t high = PIECES_MAX;
	bool good = first_len > 0 || second[0] != '\0';
	if (good && first_len > 0) {
		good = chi_num_u64(value, first_len, PIECES_MAX, &low) == CHI_OK;
	}
	if (good && second[0] != '\0') {
		good = chi_num_u64(second, strlen(second), PIECES_MAX, &high) == CHI_OK;
	}
	if (!good || low < 1 || low > high) {
		return cli_usage(cli, "--%s: '%s' is not a range such as 3..5 within 1..%d",
				 option->name, value, PIECES_MAX);
	}
	filter->pieces_min = (uint8_t)low;
	filter->pieces_max = (uint8_t)high;
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
		return cli_usage(cli, "--either-colour needs --material");
	}
	return EXIT_DONE;
}
