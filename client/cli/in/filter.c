/* SPDX-License-Identifier: MIT */
/* Options that choose positions, to a scan's spec. */
#include "client/cli/in/filter.h"

#include <string.h>

#include "base/num.h"

/* A board holds at most this many pieces that a key can name. */
#define PIECES_MAX 32

/* All positions: those whose statistic is not known stand in band 0. */
void filter_init(struct chi_scan_spec *spec)
{
	*spec = (struct chi_scan_spec){.chi2_max = CHI_CHI2_MAX};
}

/* Hundredths as everywhere in the code; "-" and 0 both mean not known. */
static int take_band(struct cli *cli, const char *option, const char *value, uint16_t *out)
{
	size_t len = strlen(value);
	size_t whole = strcspn(value, ".");
	uint64_t most = 0;
	if (chi_num_chi2(value, len, out) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is no number", option, value);
	}
	/* A value to be stored is clamped; a bound that is would ask for something else. */
	if (value[0] != '-' && chi_num_u64(value, whole, CHI_CHI2_MAX / 100, &most) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is above %d.%02d, the largest statistic", option,
				 value, CHI_CHI2_MAX / 100, CHI_CHI2_MAX % 100);
	}
	return EXIT_DONE;
}

/* "A..B", "A..", "..B" or "N". */
static int take_pieces(struct cli *cli, const char *value, struct chi_filter *filter)
{
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
		return cli_usage(cli, "--pieces: '%s' is no range such as 3..5 within 1..%d", value,
				 PIECES_MAX);
	}
	filter->pieces_min = (uint8_t)low;
	filter->pieces_max = (uint8_t)high;
	return EXIT_DONE;
}

static int take_side(struct cli *cli, const char *value, struct chi_filter *filter)
{
	if (strcmp(value, "w") != 0 && strcmp(value, "b") != 0) {
		return cli_usage(cli, "--side: '%s' is neither w nor b", value);
	}
	filter->side = value[0] == 'w' ? CHI_SIDE_WHITE : CHI_SIDE_BLACK;
	return EXIT_DONE;
}

/* The fault begins with "material", so the dashes make it the option's name. */
static int take_material(struct cli *cli, const char *value, struct chi_filter *filter)
{
	struct chi_fault fault = {.text = ""};
	if (chi_material_parse(value, strlen(value), &filter->material, &fault) != CHI_OK) {
		return cli_usage(cli, "--%s", fault.text);
	}
	filter->has_material = true;
	return EXIT_DONE;
}

/* The ids of FILTER_OPTIONS; whoever calls has taken its own before. */
int filter_option(struct cli *cli, struct chi_scan_spec *spec, int id, const char *value)
{
	switch (id) {
	case FILTER_MIN:
		return take_band(cli, "min", value, &spec->chi2_min);
	case FILTER_MAX:
		return take_band(cli, "max", value, &spec->chi2_max);
	case FILTER_MATERIAL:
		return take_material(cli, value, &spec->filter);
	case FILTER_EITHER_COLOUR:
		spec->filter.either_colour = true;
		return EXIT_DONE;
	case FILTER_PIECES:
		return take_pieces(cli, value, &spec->filter);
	case FILTER_SIDE:
		return take_side(cli, value, &spec->filter);
	default:
		if (chi_num_u64(value, strlen(value), UINT64_MAX, &spec->filter.games_min) != 0) {
			return cli_usage(cli, "--min-games: '%s' is no number", value);
		}
		return EXIT_DONE;
	}
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
