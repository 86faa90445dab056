/* SPDX-License-Identifier: MIT */
#include "chess/pgn/speed.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/num.h"

const char *const chi_speed_names[] = {"unknown",   "bullet",	      "blitz",	     "rapid",
				       "classical", "correspondence", "ultraBullet", NULL};

/* Longer ones are none. */
#define CONTROL_MAX 127

/* A number at *at, which moves past it; false without one. */
static bool take_number(const char **at, uint64_t *out)
{
	size_t len = strspn(*at, "0123456789");
	if (chi_num_u64(*at, len, 100000000, out) != CHI_OK) {
		return false;
	}
	*at += len;
	return true;
}

/* Seconds that a player has for 40 moves by a TimeControl tag: periods "moves/seconds" or
 * "seconds", each with "+increment" or none, between colons. False for other texts. */
static bool seconds_of_control(const char *at, uint64_t *out)
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

static const struct {
	const char *word; /* in lower case */
	uint64_t below;	  /* seconds for 40 moves, as lichess has it; 0: no bound */
	enum chi_speed speed;
} speeds[] = {
	{"ultrabullet", 30, CHI_SPEED_ULTRABULLET},
	{"bullet", 180, CHI_SPEED_BULLET},
	{"blitz", 480, CHI_SPEED_BLITZ},
	{"rapid", 1500, CHI_SPEED_RAPID},
	{"classical", 86400, CHI_SPEED_CLASSICAL},
	{"correspondence", 0, CHI_SPEED_CORRESPONDENCE},
};

static enum chi_speed by_seconds(uint64_t seconds)
{
	size_t i = 0;
	while (speeds[i].below != 0 && seconds >= speeds[i].below) {
		i++;
	}
	return speeds[i].speed;
}

/* Over the board it is often the event that says it. */
static enum chi_speed by_event(const char *event, size_t len)
{
	for (size_t at = 0; at < len; at++) {
		for (size_t i = 0; i < CHI_COUNT(speeds); i++) {
			size_t n = strlen(speeds[i].word);
			if ((event[at] | 0x20) == speeds[i].word[0] && len - at >= n &&
			    strncasecmp(event + at, speeds[i].word, n) == 0) {
				return speeds[i].speed;
			}
		}
	}
	return CHI_SPEED_UNKNOWN;
}

enum chi_speed chi_speed_of(const char *control, size_t control_len, const char *event,
			    size_t event_len)
{
	char text[CONTROL_MAX + 1] = "";
	uint64_t seconds = 0;
	if (control_len <= CONTROL_MAX) {
		memcpy(text, control, control_len);
		text[control_len] = '\0';
	}
	return seconds_of_control(text, &seconds) ? by_seconds(seconds)
						  : by_event(event, event_len);
}
