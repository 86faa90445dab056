/* SPDX-License-Identifier: MIT */
/*
 * Moves and start of each game become a number of 64 bits; sorted by it, games with the same moves
 * are neighbours, and the others are left out. Of these, those are a group whose players and dates
 * allow it, each with each. Games that have the same players and the same date, too, are compared
 * once for all of them.
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
};

#define NONE UINT32_MAX

/* A game whose moves another one has, too. Places are of twins->games. */
struct game {
	uint32_t number;
	uint32_t run;	/* the same for games of the same moves */
	uint32_t white; /* and black: names */
	uint32_t black;
	uint32_t date;
	uint32_t first; /* of those with the same players and date: the least number */
	uint32_t group; /* its least number */
	uint32_t next;	/* another one of the group, with other players or date; or NONE */
	uint32_t other; /* of a group's first: that of the next group of the run, or NONE */
};

struct chi_twins {
	struct chi_twin_spec spec;
	struct chi_archive_view view;
	struct chi_terms terms;
	struct chi_matcher *matcher;
	struct chi_unknown_names unknown;
	struct chi_archive_reader *reader;
	struct chi_hits hits;
	struct entry *entries; /* NULL: they are gathered, and those that matter are in `games` */
	size_t n_entries;
	size_t room;
	size_t at; /* of entries: they are described before it */
	struct game *games;
	size_t n;
	bool gathered;
	bool described;
	size_t joined;	      /* games before it are in groups */
	uint32_t first_group; /* of the run: the firsts of its groups, or NONE */
	uint32_t last_group;
	size_t given;	   /* games before it were delivered */
	uint32_t *numbers; /* of a group */
	int rc;
};

void chi_twins_detach(struct chi_twins *twins)
{
	chi_matcher_free(twins->matcher);
	chi_archive_reader_free(twins->reader);
	free(twins->entries);
	twins->matcher = NULL;
	twins->reader = NULL;
	twins->entries = NULL;
	twins->room = 0;
}

size_t chi_twins_place(const struct chi_twins *twins)
{
	return twins->given;
}

void chi_twins_go_back(struct chi_twins *twins, size_t place)
{
	twins->given = place;
}

void chi_twins_close(struct chi_twins *twins)
{
	if (twins != NULL) {
		chi_twins_detach(twins);
		free(twins->games);
		free(twins->numbers);
		free(twins);
	}
}

static void twins_closep(struct chi_twins **twins)
{
	chi_twins_close(*twins);
}

int chi_twins_open(struct chi_read *read, const struct chi_twin_spec *spec, struct chi_twins **out,
		   struct chi_fault *fault)
{
	const struct chi_matcher_spec from = {.from = 1};
	_cleanup_(twins_closep) struct chi_twins *twins = calloc(1, sizeof(*twins));
	if (twins == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	twins->spec = *spec;
	const char *filter = spec->filter != NULL ? spec->filter : "";
	int rc = chi_terms_parse(filter, strlen(filter), &twins->terms, fault);
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
		return rc;
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

static int add_moves(struct chi_twins *twins, uint32_t number)
{
	struct chi_game_moves moves;
	int rc = chi_archive_moves(twins->reader, number, &moves);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	if (twins->n_entries == twins->room) {
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
	twins->entries[twins->n_entries++] = (struct entry){
		.moves = chi_gameset_stamp(start, moves.bytes, moves.len), .number = number};
	return CHI_OK;
}

static int compare_twins(const void *left, const void *right)
{
	const struct entry *a = left;
	const struct entry *b = right;
	if (a->moves != b->moves) {
		return a->moves > b->moves ? 1 : -1;
	}
	return a->number > b->number ? 1 : -(a->number < b->number);
}

/* Those stay that have the same moves as a neighbour. */
static void drop_singles(struct chi_twins *twins)
{
	struct entry *entries = twins->entries;
	size_t kept = 0;
	for (size_t from = 0, to = 0; from < twins->n_entries; from = to) {
		while (to < twins->n_entries && entries[to].moves == entries[from].moves) {
			to++;
		}
		if (to - from > 1) {
			memmove(entries + kept, entries + from, (to - from) * sizeof(*entries));
			kept += to - from;
		}
	}
	twins->n_entries = kept;
}

/* Room for what is told of them. */
static int make_games(struct chi_twins *twins)
{
	if (twins->n_entries > 0) {
		qsort(twins->entries, twins->n_entries, sizeof(*twins->entries), compare_twins);
		drop_singles(twins);
	}
	if (twins->n_entries > 0) {
		twins->games = calloc(twins->n_entries, sizeof(*twins->games));
		twins->numbers = malloc(twins->n_entries * sizeof(*twins->numbers));
	}
	bool lacks = twins->n_entries > 0 && (twins->games == NULL || twins->numbers == NULL);
	return lacks ? -CHI_ENOMEM : CHI_NONE;
}

/* Of all games that fit. CHI_OK: call again; CHI_NONE: they are gathered. */
static int gather_twins(struct chi_twins *twins, uint64_t *steps)
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
			rc = add_moves(twins, chunk->first + row);
			spend(steps);
		}
	}
	return rc == CHI_NONE ? make_games(twins) : rc;
}

/* ---- Players and dates -------------------------------------------------------------------- */

/* A date's parts, 0 where they are not known. */
static uint32_t date_of(const struct chi_game_head *head)
{
	return (uint32_t)head->year << 9 | (uint32_t)head->month << 5 | head->day;
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

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

/* Equal ones together, by ascending number. */
static int compare_equal(const void *left, const void *right)
{
	const struct game *a = left;
	const struct game *b = right;
	int order = compare_numbers(a->run, b->run);
	order = order == 0 ? compare_numbers(a->white, b->white) : order;
	order = order == 0 ? compare_numbers(a->black, b->black) : order;
	order = order == 0 ? compare_numbers(a->date, b->date) : order;
	return order == 0 ? compare_numbers(a->number, b->number) : order;
}

/* Equal ones after their first, which are ascending. */
static int compare_firsts(const void *left, const void *right)
{
	const struct game *a = left;
	const struct game *b = right;
	int order = compare_numbers(a->run, b->run);
	order = order == 0 ? compare_numbers(a->first, b->first) : order;
	return order == 0 ? compare_numbers(a->number, b->number) : order;
}

static bool are_equal(const struct game *a, const struct game *b)
{
	return a->run == b->run && a->white == b->white && a->black == b->black &&
	       a->date == b->date;
}

/* Players and date of the next entry. */
static int describe(struct chi_twins *twins, uint64_t *steps)
{
	const struct entry *entry = &twins->entries[twins->at];
	struct chi_game_head head;
	bool goes_on = twins->at > 0 && entry[-1].moves == entry->moves;
	uint32_t run = twins->at > 0 ? twins->games[twins->at - 1].run + !goes_on : 0;
	int rc = chi_archive_head(twins->reader, entry->number, &head);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	twins->games[twins->at++] = (struct game){.number = entry->number,
						  .run = run,
						  .white = head.white,
						  .black = head.black,
						  .date = date_of(&head)};
	spend(steps);
	return CHI_OK;
}

/* All are described: equal ones are told from others. */
static void sort_games(struct chi_twins *twins)
{
	struct game *games = twins->games;
	twins->n = twins->n_entries;
	twins->n_entries = 0;
	twins->room = 0;
	free(twins->entries);
	twins->entries = NULL;
	if (twins->n == 0) {
		return;
	}
	qsort(games, twins->n, sizeof(*games), compare_equal);
	for (size_t i = 0; i < twins->n; i++) {
		bool equal = i > 0 && are_equal(&games[i - 1], &games[i]);
		games[i].first = equal ? games[i - 1].first : games[i].number;
	}
	qsort(games, twins->n, sizeof(*games), compare_firsts);
}

/* ---- Alike -------------------------------------------------------------------------------- */

/* Days since some day. */
static int64_t days_of(uint32_t date)
{
	int64_t month = month_of(date);
	int64_t year = (int64_t)year_of(date) - (month < 3);
	int64_t shifted = (month + 9) % 12;
	return 365 * year + year / 4 - year / 100 + year / 400 + (153 * shifted + 2) / 5 +
	       day_of(date);
}

/* Whether the dates may be within so many days, as far as they are known. */
static bool dates_near(uint32_t a, uint32_t b, uint32_t days)
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

static int are_twins(struct chi_twins *twins, const struct game *a, const struct game *b, bool *out)
{
	int rc = CHI_OK;
	*out = dates_near(a->date, b->date, twins->spec.days);
	if (*out) {
		rc = names_alike(twins, a->white, b->white, out);
	}
	if (rc == CHI_OK && *out) {
		rc = names_alike(twins, a->black, b->black, out);
	}
	return rc;
}

/* ---- Groups ------------------------------------------------------------------------------- */

/* Whether the game is a twin of all that are in the group. */
static int fits_group(struct chi_twins *twins, uint32_t group, const struct game *game,
		      uint64_t *steps, bool *fits)
{
	int rc = CHI_OK;
	*fits = true;
	for (uint32_t i = group; rc == CHI_OK && *fits && i != NONE; i = twins->games[i].next) {
		rc = are_twins(twins, &twins->games[i], game, fits);
		spend(steps);
	}
	return rc;
}

/* A group of its own, the last of its run so far. */
static void found_group(struct chi_twins *twins, uint32_t at)
{
	twins->games[at].group = twins->games[at].number;
	if (twins->first_group == NONE) {
		twins->first_group = at;
	} else {
		twins->games[twins->last_group].other = at;
	}
	twins->last_group = at;
}

/* Joins the next game to the first group of the same moves in which all are its twins. */
static int join_twins(struct chi_twins *twins, uint64_t *steps)
{
	uint32_t at = (uint32_t)twins->joined++;
	struct game *game = &twins->games[at];
	bool found = false;
	int rc = CHI_OK;
	game->next = NONE;
	game->other = NONE;
	spend(steps);
	if (game->first != game->number) {
		/* The one before it is equal. */
		game->group = game[-1].group;
		return CHI_OK;
	}
	if (at == 0 || game[-1].run != game->run) {
		twins->first_group = NONE;
	}
	for (uint32_t i = twins->first_group; rc == CHI_OK && !found && i != NONE;
	     i = twins->games[i].other) {
		rc = fits_group(twins, i, game, steps, &found);
		if (rc == CHI_OK && found) {
			game->group = twins->games[i].group;
			game->next = twins->games[i].next;
			twins->games[i].next = at;
		}
	}
	if (!found) {
		found_group(twins, at);
	}
	return rc;
}

static int compare_groups(const void *left, const void *right)
{
	const struct game *a = left;
	const struct game *b = right;
	int order = compare_numbers(a->group, b->group);
	return order == 0 ? compare_numbers(a->number, b->number) : order;
}

/* All are joined: they come by groups. */
static int finish_twins(struct chi_twins *twins)
{
	if (twins->n > 0) {
		qsort(twins->games, twins->n, sizeof(*twins->games), compare_groups);
	}
	return CHI_NONE;
}

int chi_twins_step(struct chi_twins *twins, uint64_t steps)
{
	while (twins->rc == CHI_OK && steps > 0) {
		if (!twins->gathered) {
			int rc = gather_twins(twins, &steps);
			twins->gathered = rc == CHI_NONE;
			twins->rc = rc < 0 ? rc : CHI_OK;
		} else if (twins->at < twins->n_entries) {
			twins->rc = describe(twins, &steps);
		} else if (!twins->described) {
			sort_games(twins);
			twins->described = true;
		} else if (twins->joined < twins->n) {
			twins->rc = join_twins(twins, &steps);
		} else {
			twins->rc = finish_twins(twins);
		}
	}
	return twins->rc;
}

int chi_twins_next(struct chi_twins *twins, const uint32_t **numbers, size_t *n)
{
	const struct game *games = twins->games;
	*n = 0;
	while (*n < 2) {
		uint32_t group = 0;
		*n = 0;
		if (twins->given == twins->n) {
			return CHI_NONE;
		}
		group = games[twins->given].group;
		while (twins->given < twins->n && games[twins->given].group == group) {
			twins->numbers[(*n)++] = games[twins->given++].number;
		}
	}
	*numbers = twins->numbers;
	return CHI_OK;
}

size_t chi_twins_memory(const struct chi_twins *twins)
{
	size_t games = twins->described ? twins->n : twins->n_entries;
	bool told = twins->games != NULL;
	size_t reading = twins->matcher != NULL
				 ? CHI_ARCHIVE_READER_BYTES + chi_matcher_memory(twins->matcher)
				 : 0;
	return sizeof(*twins) + reading + twins->room * sizeof(*twins->entries) +
	       (told ? games * (sizeof(*twins->games) + sizeof(*twins->numbers)) : 0);
}

const char *chi_twins_unknown(const struct chi_twins *twins, size_t i)
{
	return i < twins->unknown.n ? twins->unknown.name[i] : NULL;
}
