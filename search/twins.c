/* SPDX-License-Identifier: MIT */
/*
 * Moves and start of each game become a number of 64 bits; sorted by it, games with the same moves
 * are neighbours. Of these, those are a group whose players and dates allow it, each with each.
 */
#include "search/twins.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "chess/names/alike.h"
#include "chess/names/fits.h"
#include "search/filter/matcher.h"
#include "search/filter/terms.h"
#include "store/games/archive.h"
#include "store/gamesets/gamesets.h"
#include "store/names/names.h"

/* What playing a game again is worth, or comparing two. */
#define STEPS_A_GAME 1

struct entry {
	uint64_t moves;
	uint32_t number;
	uint32_t group; /* the least number that it is joined to; its own: none */
};

struct chi_twins {
	struct chi_twins_spec spec;
	struct chi_archive_view view;
	struct chi_terms terms;
	struct chi_matcher *matcher;
	struct chi_unknown_names unknown;
	struct chi_archive_reader *reader;
	struct chi_hits hits;
	struct entry *entries;
	size_t n;
	size_t room;
	bool gathered;
	size_t at;	   /* entries before it are in groups; then, the next group */
	uint32_t *numbers; /* of a group */
	int rc;
};

void chi_twins_close(struct chi_twins *twins)
{
	if (twins != NULL) {
		chi_matcher_free(twins->matcher);
		chi_archive_reader_free(twins->reader);
		free(twins->entries);
		free(twins->numbers);
		free(twins);
	}
}

static void closep(struct chi_twins **twins)
{
	chi_twins_close(*twins);
}

int chi_twins_open(struct chi_read *read, const struct chi_twins_spec *spec, struct chi_twins **out,
		   struct chi_fault *fault)
{
	const struct chi_matcher_spec from = {.from = 1};
	_cleanup_(closep) struct chi_twins *twins = calloc(1, sizeof(*twins));
	if (twins == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	twins->spec = *spec;
	int rc = chi_terms_parse(spec->filter != NULL ? spec->filter : "", spec->filter_len,
				 &twins->terms, fault);
	rc = rc == CHI_OK ? chi_matcher_new(read, &twins->terms, &from, &twins->matcher, fault)
			  : rc;
	if (rc < 0) {
		return rc;
	}
	chi_matcher_unknown(twins->matcher, &twins->unknown);
	rc = chi_read_archive(read, &twins->view);
	rc = rc == CHI_OK ? chi_archive_reader_new(&twins->reader) : rc;
	rc = rc == CHI_OK
		     ? chi_archive_reader_begin(twins->reader, twins->view.txn, &twins->view.trees)
		     : rc;
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	twins->spec.filter = NULL;
	*out = twins;
	twins = NULL;
	return CHI_OK;
}

static void spend(uint64_t *steps)
{
	*steps -= STEPS_A_GAME < *steps ? STEPS_A_GAME : *steps;
}

/* ---- The same moves ----------------------------------------------------------------------- */

static int add(struct chi_twins *twins, uint32_t number)
{
	struct chi_game_moves moves;
	int rc = chi_archive_moves(twins->reader, number, &moves);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	if (twins->n == twins->room) {
		size_t room = twins->room == 0 ? 1024 : 2 * twins->room;
		struct entry *entries = realloc(twins->entries, room * sizeof(*entries));
		if (entries == NULL) {
			return -CHI_ENOMEM;
		}
		twins->entries = entries;
		twins->room = room;
	}
	uint64_t start = 0;
	if (moves.has_start) {
		uint8_t key[CHI_KEY_MAX];
		chi_key_bytes(&moves.start, key);
		start = chi_gameset_stamp(1, key, sizeof(key));
	}
	twins->entries[twins->n++] =
		(struct entry){.moves = chi_gameset_stamp(start, moves.bytes, moves.len),
			       .number = number,
			       .group = number};
	return CHI_OK;
}

static int compare_moves(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	if (a->moves != b->moves) {
		return a->moves > b->moves ? 1 : -1;
	}
	return a->number > b->number ? 1 : -(a->number < b->number);
}

/* Of all games that fit. CHI_OK: call again; CHI_NONE: they are gathered. */
static int gather(struct chi_twins *twins, uint64_t *steps)
{
	int rc = chi_matcher_next(twins->matcher, steps, &twins->hits);
	const struct chi_columns_chunk *chunk = chi_matcher_chunk(twins->matcher);
	for (uint32_t w = 0; rc == CHI_OK && w < CHI_HIT_WORDS; w++) {
		for (uint64_t left = twins->hits.words[w]; rc == CHI_OK && left != 0;
		     left &= left - 1) {
			uint32_t row = 64 * w + (uint32_t)__builtin_ctzll(left);
			if (chi_column_value(chunk, CHI_COLUMN_PLIES, row) < twins->spec.plies) {
				continue;
			}
			rc = add(twins, chunk->first + row);
			spend(steps);
		}
	}
	if (rc == CHI_NONE && twins->n > 0) {
		qsort(twins->entries, twins->n, sizeof(*twins->entries), compare_moves);
	}
	return rc;
}

/* ---- Alike -------------------------------------------------------------------------------- */

/* Days since some day; months and days that are not known count as their first. */
static int64_t day_of(const struct chi_game_head *head)
{
	int64_t month = head->month != 0 ? head->month : 1;
	int64_t year = head->year - (month < 3);
	int64_t shifted = (month + 9) % 12;
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 +
	       (head->day != 0 ? head->day : 1);
}

/* Whether the dates may be within so many days, as far as they are known. */
static bool dates_near(const struct chi_game_head *a, const struct chi_game_head *b, uint32_t days)
{
	if (a->year == 0 || b->year == 0) {
		return true;
	}
	if (a->month == 0 || b->month == 0) {
		return a->year == b->year;
	}
	if (a->day == 0 || b->day == 0) {
		return a->year == b->year && a->month == b->month;
	}
	int64_t apart = day_of(a) - day_of(b);
	return (apart < 0 ? -apart : apart) <= (int64_t)days;
}

/* Whether two players may be one: the same name, one joined to it, or one that is alike. */
static int names_alike(struct chi_twins *twins, uint32_t a, uint32_t b, bool *alike)
{
	struct chi_name names[2];
	struct chi_name_words words[2];
	const uint32_t ids[2] = {a, b};
	*alike = a == b || a == 0 || b == 0;
	for (int i = 0; i < 2 && !*alike; i++) {
		int rc = chi_name_text(twins->view.txn, twins->view.trees.names, CHI_NAME_PLAYER,
				       ids[i], &names[i]);
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

static int are_twins(struct chi_twins *twins, const struct entry *a, const struct entry *b,
		     bool *out)
{
	struct chi_game_head heads[2];
	int rc = chi_archive_head(twins->reader, a->number, &heads[0]);
	rc = rc == CHI_OK ? chi_archive_head(twins->reader, b->number, &heads[1]) : rc;
	*out = rc == CHI_OK && dates_near(&heads[0], &heads[1], twins->spec.days);
	if (*out) {
		rc = names_alike(twins, heads[0].white, heads[1].white, out);
	}
	if (rc == CHI_OK && *out) {
		rc = names_alike(twins, heads[0].black, heads[1].black, out);
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* Whether the entry at `at` is a twin of all that are in the group, which begins at `from`. */
static int fits_group(struct chi_twins *twins, size_t from, uint64_t *steps, bool *fits)
{
	const struct entry *entries = twins->entries;
	int rc = CHI_OK;
	*fits = true;
	for (size_t i = from; rc == CHI_OK && *fits && i < twins->at; i++) {
		if (entries[i].group == entries[from].group) {
			rc = are_twins(twins, &entries[i], &entries[twins->at], fits);
			spend(steps);
		}
	}
	return rc;
}

/* Joins the next entry to the first group of the same moves in which all are its twins. */
static int join(struct chi_twins *twins, uint64_t *steps)
{
	struct entry *entries = twins->entries;
	struct entry *entry = &entries[twins->at];
	size_t from = twins->at;
	bool found = false;
	int rc = CHI_OK;
	while (from > 0 && entries[from - 1].moves == entry->moves) {
		from--;
	}
	for (; rc == CHI_OK && !found && from < twins->at; from++) {
		if (entries[from].group == entries[from].number) {
			rc = fits_group(twins, from, steps, &found);
			entry->group = found ? entries[from].group : entry->group;
		}
	}
	twins->at++;
	spend(steps);
	return rc;
}

static int compare_groups(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	if (a->group != b->group) {
		return a->group > b->group ? 1 : -1;
	}
	return a->number > b->number ? 1 : -(a->number < b->number);
}

/* All are joined: they come by groups. */
static int finish(struct chi_twins *twins)
{
	twins->at = 0;
	if (twins->n == 0) {
		return CHI_NONE;
	}
	qsort(twins->entries, twins->n, sizeof(*twins->entries), compare_groups);
	twins->numbers = malloc(twins->n * sizeof(*twins->numbers));
	return twins->numbers != NULL ? CHI_NONE : -CHI_ENOMEM;
}

int chi_twins_step(struct chi_twins *twins, uint64_t steps)
{
	while (twins->rc == CHI_OK && steps > 0) {
		if (!twins->gathered) {
			int rc = gather(twins, &steps);
			twins->gathered = rc == CHI_NONE;
			twins->rc = rc < 0 ? rc : CHI_OK;
		} else if (twins->at < twins->n) {
			twins->rc = join(twins, &steps);
		} else {
			twins->rc = finish(twins);
		}
	}
	return twins->rc;
}

int chi_twins_next(struct chi_twins *twins, const uint32_t **numbers, size_t *n)
{
	*n = 0;
	while (*n < 2) {
		uint32_t group = 0;
		*n = 0;
		if (twins->at == twins->n) {
			return CHI_NONE;
		}
		group = twins->entries[twins->at].group;
		while (twins->at < twins->n && twins->entries[twins->at].group == group) {
			twins->numbers[(*n)++] = twins->entries[twins->at++].number;
		}
	}
	*numbers = twins->numbers;
	return CHI_OK;
}

const char *chi_twins_unknown(const struct chi_twins *twins, size_t i)
{
	return i < twins->unknown.n ? twins->unknown.name[i] : NULL;
}
