/* SPDX-License-Identifier: MIT */
/* What tags say, as numbers; and the filter's questions, one after the other. */
#include "chess/pgn/filter.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/names/fits.h"

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

/* A number at *at, which goes behind it; false without one. */
static bool take_number(const char **at, uint64_t *out)
{
	size_t len = strspn(*at, "0123456789");
	if (chi_num_u64(*at, len, 100000000, out) != CHI_OK) {
		return false;
	}
	*at += len;
	return true;
}

bool chi_time_control_seconds(const char *at, uint64_t *out)
{
	uint64_t left = 40;
	*out = 0;
	for (;; at++) {
		uint64_t number = 0;
		uint64_t moves = 0;
		uint64_t increment = 0;
		at += *at == '*';
		if (!take_number(&at, &number)) {
			return false;
		}
		if (*at == '/') {
			at++;
			moves = number;
			if (moves == 0 || !take_number(&at, &number)) {
				return false;
			}
		}
		if (*at == '+') {
			at++;
			if (!take_number(&at, &increment)) {
				return false;
			}
		}
		uint64_t covered = moves == 0 || moves > left || at[0] == '\0' ? left : moves;
		*out += moves != 0 ? number * covered / moves : left > 0 ? number : 0;
		*out += increment * covered;
		left -= covered;
		if (*at != ':') {
			return *at == '\0';
		}
	}
}

/* As lichess classes them, by the time for 40 moves. Over the board the event often says it, where
 * no tag does. */
static uint8_t time_of(const struct chi_pgn_game *game)
{
	static const struct {
		const char *word;
		uint8_t time;
	} names[] = {
		{"bullet", CHI_TIME_BULLET},	   {"blitz", CHI_TIME_BLITZ},
		{"rapid", CHI_TIME_RAPID},	   {"correspondence", CHI_TIME_CORRESPONDENCE},
		{"classical", CHI_TIME_CLASSICAL},
	};
	uint64_t seconds = 0;
	if (chi_time_control_seconds(text_of(game, CHI_PGN_TIME_CONTROL), &seconds)) {
		return seconds < 180	 ? CHI_TIME_BULLET
		       : seconds < 480	 ? CHI_TIME_BLITZ
		       : seconds < 1500	 ? CHI_TIME_RAPID
		       : seconds < 86400 ? CHI_TIME_CLASSICAL
					 : CHI_TIME_CORRESPONDENCE;
	}
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		if (strcasestr(text_of(game, CHI_PGN_EVENT), names[i].word) != NULL) {
			return names[i].time;
		}
	}
	return 0;
}

void chi_game_header_of(const struct chi_pgn_game *game, struct chi_game_header *out)
{
	const char *eco = text_of(game, CHI_PGN_ECO);
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
	if (is_eco(eco)) {
		memcpy(out->eco, eco, 3);
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
			return chi_fault(fault, -CHI_EINVAL, "filter.%s: fits no game",
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
