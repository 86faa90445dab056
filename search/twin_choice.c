/* SPDX-License-Identifier: MIT */
/*
 * Two games that are twins have the same opening, and dates and names that allow it: names by masks
 * first, as comparing them takes a microsecond. Sorted by opening and day, a game is compared with
 * those of the days after it. What has no whole date has the length of its twin, and is compared
 * with all games of its opening and length.
 */
#include "search/twin_choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/names/fits.h"

/* From so many games on, and with dates at most so many days apart, it is worth while to choose. */
#define CHOOSE_GAMES 4096u
#define CHOOSE_DAYS  31u

/* Games of one opening and near days, of which more are all unpacked: each is compared with each.
 */
#define CROWD 256u

/* Room for so many games at first, if there are as many: what is not written to costs nothing. */
#define FOUND_FIRST ((size_t)1 << 20)

/* ---- Players and dates -------------------------------------------------------------------- */

/* A date's parts, 0 where they are not known. */
static uint32_t date_of(const struct chi_columns_chunk *chunk, uint32_t row)
{
	return (uint32_t)chi_column_value(chunk, CHI_COLUMN_YEAR, row) << 9 |
	       (uint32_t)chi_column_value(chunk, CHI_COLUMN_MONTH, row) << 5 |
	       (uint32_t)chi_column_value(chunk, CHI_COLUMN_DAY, row);
}

static uint32_t year_of(uint32_t date)
{
	return date >> 9;
}

static uint32_t month_of(uint32_t date)
{
	return date >> 5 & 15;
}

static uint32_t day_of(uint32_t date)
{
	return date & 31;
}

bool chi_twin_date_is_whole(uint32_t date)
{
	return year_of(date) != 0 && month_of(date) != 0 && day_of(date) != 0;
}

/* Days since some day. */
static int64_t days_of(uint32_t date)
{
	int64_t month = month_of(date);
	int64_t year = (int64_t)year_of(date) - (month < 3);
	int64_t shifted = (month + 9) % 12;
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 +
	       day_of(date);
}

bool chi_twin_dates_near(uint32_t a, uint32_t b, uint32_t days)
{
	if (year_of(a) == 0 || year_of(b) == 0) {
		return true;
	}
	if (month_of(a) == 0 || month_of(b) == 0) {
		return year_of(a) == year_of(b);
	}
	if (day_of(a) == 0 || day_of(b) == 0) {
		return year_of(a) == year_of(b) && month_of(a) == month_of(b);
	}
	int64_t apart = days_of(a) - days_of(b);
	return (apart < 0 ? -apart : apart) <= (int64_t)days;
}

int chi_twin_names_alike(const struct chi_twin_choice *c, uint32_t a, uint32_t b, bool *alike)
{
	struct chi_name names[2];
	struct chi_name_words words[2];
	const uint32_t ids[2] = {a, b};
	*alike = a == b || a == 0 || b == 0;
	for (int i = 0; i < 2 && !*alike; i++) {
		int rc = chi_name_text(c->txn, c->names, CHI_NAME_PLAYER, ids[i], &names[i]);
		if (rc != CHI_OK) {
			return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
		}
		chi_name_split(names[i].text, names[i].len, &words[i]);
	}
	if (!*alike) {
		bool joined = names[0].root != 0 && names[0].root == names[1].root;
		/* A surname alone is like no other name, but these have the same moves. */
		*alike = joined || chi_player_fits_words(&words[0], &words[1]) ||
			 chi_player_fits_words(&words[1], &words[0]) ||
			 chi_player_alike(&words[0], &words[1]) != CHI_ALIKE_NOT;
	}
	return CHI_OK;
}

/* ---- Choosing ----------------------------------------------------------------------------- */

int chi_twin_choice_add(struct chi_twin_choice *c, const struct chi_columns_chunk *chunk,
			uint32_t row)
{
	size_t first = c->last < FOUND_FIRST ? (size_t)c->last + 1 : FOUND_FIRST;
	if (chi_grow(&c->games, &c->room, c->room > 0 ? c->n + 1 : first, sizeof(*c->games)) < 0) {
		return -CHI_ENOMEM;
	}
	c->games[c->n++] = (struct chi_twin_game){
		.number = chunk->first + row,
		.white = (uint32_t)chi_column_value(chunk, CHI_COLUMN_WHITE, row),
		.black = (uint32_t)chi_column_value(chunk, CHI_COLUMN_BLACK, row),
		.date = date_of(chunk, row),
		.plies = (uint16_t)chi_column_value(chunk, CHI_COLUMN_PLIES, row),
		.eco = (uint16_t)chi_column_value(chunk, CHI_COLUMN_ECO, row),
	};
	return CHI_OK;
}

static int mask_name(void *context, const struct chi_name *name)
{
	struct chi_twin_choice *c = context;
	struct chi_name_words words;
	if (name->id < c->n_masks) {
		chi_name_split(name->text, name->len, &words);
		chi_player_alike_mask(&words, name->root, &c->masks[name->id]);
	}
	return CHI_OK;
}

/* Whether choosing saves more than it takes: names are looked at once each. */
static bool may_choose(struct chi_twin_choice *c, uint32_t names)
{
	return c->n >= CHOOSE_GAMES && c->spec->days <= CHOOSE_DAYS && names / 4 <= c->n;
}

/* Without masks all are chosen. */
static int begin_choosing(struct chi_twin_choice *c)
{
	uint32_t names = 0;
	MDB_txn *txn = c->txn;
	int rc = chi_names_count(txn, c->names, CHI_NAME_PLAYER, &names);
	if (rc != CHI_OK || !may_choose(c, names)) {
		c->n_chosen = c->n;
		return rc;
	}
	c->n_masks = (size_t)names + 1;
	c->masks = calloc(c->n_masks, sizeof(*c->masks));
	c->places = malloc(2 * c->n * sizeof(*c->places));
	if (c->masks == NULL || c->places == NULL) {
		return -CHI_ENOMEM;
	}
	memset(&c->masks[0], 0xff, sizeof(c->masks[0]));
	return chi_names_walk(txn, c->names, CHI_NAME_PLAYER, 1, mask_name, c);
}

static void choose_one(struct chi_twin_choice *c, struct chi_twin_game *one)
{
	c->n_chosen += (one->eco & CHI_TWIN_CHOSEN) == 0;
	one->eco |= CHI_TWIN_CHOSEN;
}

static bool names_share(const struct chi_twin_choice *c, uint32_t a, uint32_t b)
{
	return a == b || (a < c->n_masks && b < c->n_masks &&
			  chi_name_masks_share(&c->masks[a], &c->masks[b]));
}

/* Whether the columns of two games allow that they are twins. */
static bool may_be_twins(const struct chi_twin_choice *c, const struct chi_twin_game *a,
			 const struct chi_twin_game *b)
{
	uint32_t beginning = c->spec->beginning;
	uint16_t least = a->plies < b->plies ? a->plies : b->plies;
	return ((a->eco ^ b->eco) & ~CHI_TWIN_CHOSEN) == 0 &&
	       (a->plies == b->plies ||
		(beginning > 0 && least >= beginning && chi_twin_date_is_whole(a->date) &&
		 chi_twin_date_is_whole(b->date))) &&
	       names_share(c, a->white, b->white) && names_share(c, a->black, b->black) &&
	       chi_twin_dates_near(a->date, b->date, c->spec->days);
}

/* Chooses both if they may be twins. */
static int compare_found(struct chi_twin_choice *c, struct chi_twin_game *one,
			 struct chi_twin_game *other)
{
	bool alike = false;
	if ((one->eco & other->eco & CHI_TWIN_CHOSEN) != 0 || !may_be_twins(c, one, other)) {
		return CHI_OK;
	}
	int rc = chi_twin_names_alike(c, one->white, other->white, &alike);
	rc = rc == CHI_OK && alike ? chi_twin_names_alike(c, one->black, other->black, &alike) : rc;
	if (rc == CHI_OK && alike) {
		choose_one(c, one);
		choose_one(c, other);
	}
	return rc;
}

static void choose_places(struct chi_twin_choice *c, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		choose_one(c, &c->games[c->places[i].at]);
	}
}

/* Opening and day, or opening and plies; of these those without a whole date come first. */
static uint32_t key_of(const struct chi_twin_game *one, bool near)
{
	uint32_t eco = one->eco & ~CHI_TWIN_CHOSEN;
	return near ? eco << 22 | (uint32_t)days_of(one->date)
		    : eco << 17 | (uint32_t)one->plies << 1 | chi_twin_date_is_whole(one->date);
}

/* The byte and bit of its opening and length. */
static uint8_t *unsure_of(struct chi_twin_choice *c, const struct chi_twin_game *one, uint8_t *bit)
{
	uint32_t hash =
		key_of(one, false) / 2 * 0x9e3779b1u / (UINT32_MAX / CHI_TWIN_UNSURE_BITS + 1);
	*bit = (uint8_t)(1 << hash % 8);
	return &c->unsure[hash / 8];
}

/* Sorts the games that have a whole date, or those that may be twins of one that has none, by
 * radix: eleven bits of the key at a time. */
static void sort_places(struct chi_twin_choice *c, bool near)
{
	struct chi_twin_place *from = c->places;
	struct chi_twin_place *to = c->places + c->n;
	c->n_places = 0;
	c->end = 0;
	c->crowded = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct chi_twin_game *one = &c->games[i];
		bool taken = chi_twin_date_is_whole(one->date);
		if (!near || !taken) {
			uint8_t bit;
			uint8_t *unsure = unsure_of(c, one, &bit);
			*unsure |= taken ? 0 : bit;
			taken = !near && (*unsure & bit) != 0;
		}
		if (taken) {
			from[c->n_places++] = (struct chi_twin_place){key_of(one, near), i};
		}
	}
	for (unsigned shift = 0; shift < 33; shift += 11) {
		uint32_t begin[2049] = {0};
		for (size_t i = 0; i < c->n_places; i++) {
			begin[(from[i].key >> shift & 2047) + 1]++;
		}
		for (size_t i = 1; i < CHI_COUNT(begin); i++) {
			begin[i] += begin[i - 1];
		}
		for (size_t i = 0; i < c->n_places; i++) {
			to[begin[from[i].key >> shift & 2047]++] = from[i];
		}
		struct chi_twin_place *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != c->places) {
		memcpy(c->places, from, c->n_places * sizeof(*from));
	}
}

/* Compares the next game with those of its opening on the days after it. */
static int choose_near(struct chi_twin_choice *c)
{
	size_t at = c->at++;
	const struct chi_twin_place *places = c->places;
	int rc = CHI_OK;
	while (c->end < c->n_places && places[c->end].key - places[at].key <= c->spec->days) {
		c->end++;
	}
	if (c->end - at > CROWD) {
		choose_places(c, at > c->crowded ? at : c->crowded, c->end);
		c->crowded = c->end;
		return CHI_OK;
	}
	struct chi_twin_game *one = &c->games[places[at].at];
	for (size_t i = at + 1; rc == CHI_OK && i < c->end; i++) {
		rc = compare_found(c, one, &c->games[places[i].at]);
	}
	return rc;
}

/* Compares the games without a whole date of an opening and a length with all of these. */
static int choose_unsure(struct chi_twin_choice *c)
{
	const struct chi_twin_place *places = c->places;
	size_t from = c->at;
	size_t sure = from; /* where those with one begin */
	int rc = CHI_OK;
	while (c->at < c->n_places && places[c->at].key >> 1 == places[from].key >> 1) {
		sure += (places[c->at++].key & 1) == 0;
	}
	if (sure > from && c->at - from > CROWD) {
		choose_places(c, from, c->at);
		return CHI_OK;
	}
	for (size_t i = from; i < sure; i++) {
		for (size_t k = i + 1; rc == CHI_OK && k < c->at; k++) {
			rc = compare_found(c, &c->games[places[i].at], &c->games[places[k].at]);
		}
	}
	return rc;
}

/* Compares the next game with others of near days, then those that are unsure. */
int chi_twin_choice_choose(struct chi_twin_choice *c, uint64_t *steps)
{
	if (!c->begun) {
		c->begun = true;
		return begin_choosing(c);
	}
	if (c->masks == NULL) {
		return CHI_NONE;
	}
	if (c->at == 0) {
		sort_places(c, !c->second);
	}
	if (c->at < c->n_places) {
		*steps -= *steps > 0 && (c->second || c->at % 16 == 0);
		return c->second ? choose_unsure(c) : choose_near(c);
	}
	bool ended = c->second;
	c->second = true;
	c->at = 0;
	return ended ? CHI_NONE : CHI_OK;
}

bool chi_twin_choice_has(const struct chi_twin_choice *c, size_t i)
{
	return c->n_chosen == c->n || (c->games[i].eco & CHI_TWIN_CHOSEN) != 0;
}

void chi_twin_choice_stop(struct chi_twin_choice *c)
{
	free(c->masks);
	free(c->places);
	c->masks = NULL;
	c->places = NULL;
	c->n_masks = 0;
}

void chi_twin_choice_deinit(struct chi_twin_choice *c)
{
	chi_twin_choice_stop(c);
	free(c->games);
	*c = (struct chi_twin_choice){.n = 0};
}

size_t chi_twin_choice_memory(const struct chi_twin_choice *c)
{
	return c->n * (sizeof(*c->games) + (c->places != NULL ? 2 * sizeof(*c->places) : 0)) +
	       c->n_masks * sizeof(*c->masks);
}
