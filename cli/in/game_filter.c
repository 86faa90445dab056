/* SPDX-License-Identifier: MIT */
/* Options that choose games, to a struct chi_game_filter. */
#include "cli/in/game_filter.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "formats/range.h"

#define YEAR_MAX 9999

int game_name(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	size_t len = strlen(value);
	if (len == 0 || len > CHI_PLAYER_MAX || !chi_utf8_valid(value, len)) {
		return cli_usage(cli, "--%s: a name is UTF-8 of 1 to %d bytes", option->name,
				 CHI_PLAYER_MAX);
	}
	memcpy(out, value, len + 1);
	return EXIT_DONE;
}

static int take_year(struct cli *cli, const struct cli_option *option, const char *value,
		     struct chi_range *years, uint16_t *out)
{
	uint64_t year = 0;
	if (chi_num_u64(value, strlen(value), YEAR_MAX, &year) != CHI_OK || year == 0) {
		return cli_usage(cli, "--%s: '%s' is not a year", option->name, value);
	}
	if (!years->set) {
		*years = (struct chi_range){true, 1, YEAR_MAX};
	}
	*out = (uint16_t)year;
	return EXIT_DONE;
}

int game_since(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_range *years = out;
	return take_year(cli, option, value, years, &years->min);
}

int game_until(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_range *years = out;
	return take_year(cli, option, value, years, &years->max);
}

int game_range(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_range *range = out;
	uint64_t low = 0;
	uint64_t high = 0;
	if (!chi_range_number(value, option->min, option->max, &low, &high)) {
		return cli_usage(cli,
				 "--%s: '%s' is not a range such as 20.., ..40 or 20..40 within "
				 "%" PRIu64 "..%" PRIu64,
				 option->name, value, option->min, option->max);
	}
	*range = (struct chi_range){true, (uint16_t)low, (uint16_t)high};
	return EXIT_DONE;
}

/* A word of a list between commas, and the bit that it stands for. */
struct word {
	const char *text;
	uint8_t bit;
};

/* Sets the bits of all words in the list; false if one is not among the `n`. */
static bool take_list(const char *value, const struct word *words, size_t n, uint8_t *out)
{
	*out = 0;
	for (;;) {
		size_t len = strcspn(value, ",");
		size_t i = 0;
		while (i < n &&
		       (strlen(words[i].text) != len || strncmp(words[i].text, value, len) != 0)) {
			i++;
		}
		if (i == n) {
			return false;
		}
		*out |= words[i].bit;
		if (value[len] == '\0') {
			return true;
		}
		value += len + 1;
	}
}

int game_results(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	static const struct word words[] = {
		{"1-0", 1 << CHI_RESULT_WHITE},	   {"0-1", 1 << CHI_RESULT_BLACK},
		{"1/2-1/2", 1 << CHI_RESULT_DRAW}, {"1/2", 1 << CHI_RESULT_DRAW},
		{"*", 1 << CHI_RESULT_OTHER},
	};
	return take_list(value, words, CHI_COUNT(words), &((struct chi_game_filter *)out)->results)
		       ? EXIT_DONE
		       : cli_usage(cli, "--%s: '%s' is not among 1-0, 0-1, 1/2-1/2, *",
				   option->name, value);
}

const char *const game_speeds[] = {"bullet",	     "blitz",	    "rapid", "classical",
				   "correspondence", "ultraBullet", NULL};

int game_times(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	static const struct word words[] = {
		{"bullet", CHI_TIME_BULLET},
		{"blitz", CHI_TIME_BLITZ},
		{"rapid", CHI_TIME_RAPID},
		{"classical", CHI_TIME_CLASSICAL},
		{"correspondence", CHI_TIME_CORRESPONDENCE},
		{"ultraBullet", CHI_TIME_ULTRABULLET},
	};
	return take_list(value, words, CHI_COUNT(words), &((struct chi_game_filter *)out)->times)
		       ? EXIT_DONE
		       : cli_usage(cli,
				   "--%s: '%s' is not among bullet, blitz, rapid, classical, "
				   "correspondence, ultraBullet",
				   option->name, value);
}

/* "B", "B9" or "B90" filled up with the digit: the first or last code that begins so. */
static bool take_eco(const char *text, size_t len, char fill, char out[4])
{
	if (len < 1 || len > 3) {
		return false;
	}
	memset(out, fill, 3);
	memcpy(out, text, len);
	out[0] &= (char)~0x20;
	out[3] = '\0';
	return out[0] >= 'A' && out[0] <= 'E' && strspn(out + 1, "0123456789") == 2;
}

int game_eco(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	struct chi_game_filter *filter = out;
	const char *dots = strstr(value, "..");
	const char *second = dots != NULL ? dots + 2 : value;
	size_t first_len = dots != NULL ? (size_t)(dots - value) : strlen(value);
	bool open = dots != NULL && *second == '\0';
	if (!take_eco(value, first_len, '0', filter->eco_min) ||
	    !take_eco(open ? "E" : second, open ? 1 : strlen(second), '9', filter->eco_max) ||
	    strcmp(filter->eco_min, filter->eco_max) > 0) {
		return cli_usage(cli, "--%s: '%s' is not a range such as B90..B99, B90 or B",
				 option->name, value);
	}
	return EXIT_DONE;
}
