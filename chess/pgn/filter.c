/* SPDX-License-Identifier: MIT */
/* What tags say, as numbers; and the filter's questions, one after the other. */
#include "chess/pgn/filter.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/names/fits.h"
#include "chess/pgn/speed.h"

/* ---- Headers ----------------------------------------------------------------------------- */

static const char *text_of(const struct chi_pgn_game *game, enum chi_pgn_tag tag)
{
	return game->tags[tag].text != NULL ? game->tags[tag].text : "";
}

/* The digits at the text's start, 0 if there are none or they are more than `max`. */
static uint16_t digits_of(const char *text, size_t most, uint16_t max)
{
	size_t len = strspn(text, "0123456789");
	uint64_t value = 0;
	return len >= 1 && len <= most && chi_num_u64(text, len, max, &value) == CHI_OK
		       ? (uint16_t)value
		       : 0;
}

static bool is_eco(const char *text)
{
	return text[0] >= 'A' && text[0] <= 'E' && text[1] >= '0' && text[1] <= '9' &&
	       text[2] >= '0' && text[2] <= '9';
}

/* The bit of a speed; none of what is not known. */
static uint8_t time_of(const struct chi_pgn_game *game)
{
	const char *control = text_of(game, CHI_PGN_TIME_CONTROL);
	const char *event = text_of(game, CHI_PGN_EVENT);
	unsigned speed = chi_speed_of(control, strlen(control), event, strlen(event));
	return (uint8_t)(1u << speed >> 1);
}

void chi_game_header_of(const struct chi_pgn_game *game, struct chi_game_header *out)
{
	*out = (struct chi_game_header){
		.white = text_of(game, CHI_PGN_WHITE),
		.black = text_of(game, CHI_PGN_BLACK),
		.year = digits_of(text_of(game, CHI_PGN_DATE), 4, 9999),
		.white_elo = digits_of(text_of(game, CHI_PGN_WHITE_ELO), 4, 9999),
		.black_elo = digits_of(text_of(game, CHI_PGN_BLACK_ELO), 4, 9999),
		.result = game->result,
		.time = time_of(game),
		.plies = game->n_plies,
	};
	if (out->year == 0) {
		out->year = digits_of(text_of(game, CHI_PGN_UTC_DATE), 4, 9999);
	}
}

/* ---- Filters ----------------------------------------------------------------------------- */

static bool in_range(const struct chi_range *range, uint32_t value)
{
	return !range->set || (value >= range->min && value <= range->max);
}

/* The same of what may not be known, which is 0. */
static bool known_in_range(const struct chi_range *range, uint32_t value)
{
	return !range->set || (value != 0 && in_range(range, value));
}

bool chi_game_filter_is_set(const struct chi_game_filter *f)
{
	return f->player[0] != '\0' || f->white[0] != '\0' || f->black[0] != '\0' || f->years.set ||
	       f->rating.set || f->rating_both.set || f->rating_average.set || f->results != 0 ||
	       f->eco_min[0] != '\0' || f->eco_max[0] != '\0' || f->times != 0 || f->plies.set;
}

static bool is_empty(const struct chi_range *range)
{
	return range->set && range->min > range->max;
}

int chi_game_filter_check(const struct chi_game_filter *f, struct chi_fault *fault)
{
	const struct {
		const char *name;
		bool bad;
	} members[] = {
		{"years", is_empty(&f->years)},
		{"rating", is_empty(&f->rating)},
		{"rating_both", is_empty(&f->rating_both)},
		{"rating_average", is_empty(&f->rating_average)},
		{"plies", is_empty(&f->plies)},
		{"results", (f->results & ~CHI_RESULTS_ALL) != 0},
		{"times", (f->times & ~CHI_TIMES_ALL) != 0},
		{"eco_min", f->eco_min[0] != '\0' && !is_eco(f->eco_min)},
		{"eco_max", f->eco_max[0] != '\0' && (!is_eco(f->eco_max) ||
						      strncmp(f->eco_min, f->eco_max, 3) > 0)},
	};
	for (size_t i = 0; i < CHI_COUNT(members); i++) {
		if (members[i].bad) {
			return chi_fail(fault, -CHI_EINVAL, "filter.%s: fits no game",
					members[i].name);
		}
	}
	return CHI_OK;
}

static bool players_fit(const struct chi_game_filter *f, const struct chi_game_header *h)
{
	return (f->player[0] == '\0' || chi_player_fits(f->player, h->white) ||
		chi_player_fits(f->player, h->black)) &&
	       (f->white[0] == '\0' || chi_player_fits(f->white, h->white)) &&
	       (f->black[0] == '\0' || chi_player_fits(f->black, h->black));
}

static bool ratings_fit(const struct chi_game_filter *f, const struct chi_game_header *h)
{
	uint32_t white = h->white_elo;
	uint32_t black = h->black_elo;
	uint32_t sum = white != 0 && black != 0 ? white + black : 0;
	/* Half a point is not lost: the bounds are doubled. */
	bool average =
		sum != 0 && sum >= 2u * f->rating_average.min && sum <= 2u * f->rating_average.max;
	return (known_in_range(&f->rating, white) || known_in_range(&f->rating, black)) &&
	       known_in_range(&f->rating_both, white) && known_in_range(&f->rating_both, black) &&
	       (!f->rating_average.set || average);
}

bool chi_game_filter_fits(const struct chi_game_filter *f, const struct chi_game_header *h)
{
	bool eco = f->eco_min[0] != '\0' || f->eco_max[0] != '\0';
	return known_in_range(&f->years, h->year) &&
	       (f->results == 0 || (f->results >> h->result & 1) != 0) &&
	       (f->times == 0 || (f->times & h->time) != 0) &&
	       in_range(&f->plies, (uint32_t)h->plies) &&
	       (!eco || (h->eco[0] != '\0' && strcmp(h->eco, f->eco_min) >= 0 &&
			 (f->eco_max[0] == '\0' || strcmp(h->eco, f->eco_max) <= 0))) &&
	       ratings_fit(f, h) && players_fit(f, h);
}
