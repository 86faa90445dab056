/* SPDX-License-Identifier: MIT */
/*
 * Games that are likely one. To unpack all games takes most of the time, so those are told first
 * that may have a twin, by their columns: games of the same opening and length, or of lengths that
 * one may begin the other with, whose dates and names allow it. Where dates are not known, or too
 * few games are there to gain by it, all are unpacked.
 *
 * Moves and start of each become a number of 64 bits, and so do its first plies. Sorted by these,
 * games of the same first plies are neighbours, a family, and in it those of the same moves, a run.
 * Of a run, those are a group whose players and dates allow it, each with each. Then groups of a
 * family are joined of which a game is the beginning of another, again if each with each allows it.
 * Games that have the same players and date, too, are compared once for all of them.
 */
#include "search/twins.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "search/twin_choice.h"
#include "search/filter/matcher.h"
#include "search/filter/terms.h"
#include "store/games/archive.h"
#include "store/gamesets/gamesets.h"

/* What playing a game again is worth, or comparing two. */
#define STEPS_A_GAME 1

#define NONE UINT32_MAX

/* A game that may have a twin. Places are of twins->games. */
struct game {
	uint64_t line; /* the first plies, and the opening; of shorter games all moves */
	uint64_t moves;
	uint32_t number;
	uint32_t white;
	uint32_t black;
	uint32_t date;
	uint32_t bytes; /* of its moves */
	uint16_t plies;
	bool begins;	/* it may be the beginning of another, or have one */
	uint32_t first; /* of those with the same moves, players and date: the least number */
	uint32_t group; /* place of the group's first, at last its least number */
	uint32_t next;	/* another one of the group, with other players or date; or NONE */
	uint32_t last;	/* of a group's first: the last of that chain */
	uint32_t other; /* of a group's first: that of the next group of the run, or NONE */
};

enum phase {
	GATHER,
	CHOOSE, /* what may have a twin */
	UNPACK,
	SORT,
	JOIN,  /* games of the same moves */
	BEGIN, /* groups of which one begins the other */
	DONE,
};

struct chi_twins {
	struct chi_twin_spec spec;
	struct chi_archive_view view;
	struct chi_terms terms;
	struct chi_matcher *matcher;
	struct chi_unknown_names unknown;
	struct chi_archive_reader *reader;
	struct chi_hits hits;
	enum phase phase;
	struct chi_twin_choice choice;
	struct game *games;
	size_t n;
	size_t at;	      /* the next one of found or games in this phase */
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
	chi_twin_choice_deinit(&twins->choice);
	twins->matcher = NULL;
	twins->reader = NULL;
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
	twins->choice.spec = &twins->spec;
	twins->choice.txn = twins->view.txn;
	twins->choice.names = twins->view.trees.names;
	twins->choice.last = twins->view.last;
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

/* Of all games that fit. CHI_OK: call again; CHI_NONE: they are gathered. */
static int gather_twins(struct chi_twins *twins, uint64_t *steps)
{
	int rc = chi_matcher_next(twins->matcher, steps, &twins->hits);
	const struct chi_columns_chunk *chunk = chi_matcher_chunk(twins->matcher);
	for (uint32_t w = 0; rc == CHI_OK && w < CHI_HIT_WORDS; w++) {
		for (uint64_t left = twins->hits.words[w]; rc == CHI_OK && left != 0;
		     left &= left - 1) {
			uint32_t row = 64 * w + (uint32_t)__builtin_ctzll(left);
			if (chi_column_value(chunk, CHI_COLUMN_PLIES, row) >= twins->spec.plies) {
				rc = chi_twin_choice_add(&twins->choice, chunk, row);
			}
		}
	}
	return rc;
}

/* ---- Moves -------------------------------------------------------------------------------- */

/* Bytes of the first plies: a number of 255 or more begins with such bytes. */
static size_t bytes_of(const struct chi_game_moves *moves, uint32_t plies)
{
	size_t at = 0;
	for (; at < moves->len && plies > 0; at++) {
		plies -= moves->bytes[at] != UINT8_MAX;
	}
	return at;
}

static uint64_t start_of(const struct chi_game_moves *moves)
{
	uint8_t key[CHI_KEY_MAX];
	if (!moves->has_start) {
		return 0;
	}
	chi_key_bytes(&moves->start, key);
	return chi_gameset_stamp(1, key, sizeof(key));
}

/* The next one that was chosen. */
static int unpack_next(struct chi_twins *twins, uint64_t *steps)
{
	size_t at = twins->at++;
	const struct chi_twin_game *one = &twins->choice.games[at];
	struct chi_game_moves moves;
	if (!chi_twin_choice_has(&twins->choice, at)) {
		return CHI_OK;
	}
	int rc = chi_archive_moves(twins->reader, one->number, &moves);
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	uint32_t plies = twins->spec.beginning;
	uint64_t start = start_of(&moves);
	struct game *game = &twins->games[twins->n++];
	*game = (struct game){
		.moves = chi_gameset_stamp(start, moves.bytes, moves.len),
		.number = one->number,
		.white = one->white,
		.black = one->black,
		.date = one->date,
		.bytes = (uint32_t)moves.len,
		.plies = one->plies,
		.begins = plies > 0 && one->plies >= plies && chi_twin_date_is_whole(one->date) &&
			  one->white != 0 && one->black != 0,
	};
	game->line = plies == 0 || one->plies < plies
			     ? game->moves
			     : chi_gameset_stamp(start + 1 + (one->eco & ~CHI_TWIN_CHOSEN),
						 moves.bytes, bytes_of(&moves, plies));
	spend(steps);
	return CHI_OK;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_lines(const struct game *a, const struct game *b)
{
	return a->line != b->line     ? (a->line > b->line ? 1 : -1)
	       : a->moves != b->moves ? (a->moves > b->moves ? 1 : -1)
				      : 0;
}

/* Equal ones together, by ascending number. */
static int compare_equal(const void *left, const void *right)
{
	const struct game *a = left;
	const struct game *b = right;
	int order = compare_lines(a, b);
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
	int order = compare_lines(a, b);
	order = order == 0 ? compare_numbers(a->first, b->first) : order;
	return order == 0 ? compare_numbers(a->number, b->number) : order;
}

static bool are_equal(const struct game *a, const struct game *b)
{
	return a->line == b->line && a->moves == b->moves && a->white == b->white &&
	       a->black == b->black && a->date == b->date;
}

/* Those stay that have the first plies of a neighbour. */
static void drop_singles(struct chi_twins *twins)
{
	struct game *games = twins->games;
	size_t kept = 0;
	for (size_t from = 0, to = 0; from < twins->n; from = to) {
		while (to < twins->n && games[to].line == games[from].line) {
			to++;
		}
		if (to - from > 1) {
			memmove(games + kept, games + from, (to - from) * sizeof(*games));
			kept += to - from;
		}
	}
	twins->n = kept;
}

/* All are unpacked: equal ones are told from others. */
static int sort_games(struct chi_twins *twins)
{
	struct game *games = twins->games;
	if (twins->n > 0) {
		qsort(games, twins->n, sizeof(*games), compare_equal);
		drop_singles(twins);
	}
	for (size_t i = 0; i < twins->n; i++) {
		bool equal = i > 0 && are_equal(&games[i - 1], &games[i]);
		games[i].first = equal ? games[i - 1].first : games[i].number;
	}
	if (twins->n > 0) {
		qsort(games, twins->n, sizeof(*games), compare_firsts);
	}
	twins->numbers = malloc((twins->n + 1) * sizeof(*twins->numbers));
	return twins->numbers != NULL ? CHI_OK : -CHI_ENOMEM;
}

/* ---- Groups ------------------------------------------------------------------------------- */

/* Whether the shorter one's moves are the first of the other's, which has the same first plies. */
static int is_beginning(struct chi_twins *twins, const struct game *shorter,
			const struct game *longer, bool *out)
{
	struct chi_game_moves moves;
	*out = false;
	if (shorter->bytes >= longer->bytes) {
		return CHI_OK;
	}
	int rc = chi_archive_moves(twins->reader, longer->number, &moves);
	if (rc == CHI_OK && moves.len > shorter->bytes) {
		*out = chi_gameset_stamp(start_of(&moves), moves.bytes, shorter->bytes) ==
		       shorter->moves;
	}
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

/* Of two games of a family: whether names and dates allow it, and one begins the other. */
static int are_twins(struct chi_twins *twins, const struct game *a, const struct game *b, bool *out)
{
	int rc = CHI_OK;
	*out = chi_twin_dates_near(a->date, b->date, twins->spec.days);
	if (*out) {
		rc = chi_twin_names_alike(&twins->choice, a->white, b->white, out);
	}
	if (rc == CHI_OK && *out) {
		rc = chi_twin_names_alike(&twins->choice, a->black, b->black, out);
	}
	if (rc == CHI_OK && *out && a->moves != b->moves) {
		bool shorter = a->plies < b->plies;
		rc = is_beginning(twins, shorter ? a : b, shorter ? b : a, out);
	}
	return rc;
}

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
	twins->games[at].group = at;
	twins->games[at].last = at;
	if (twins->first_group == NONE) {
		twins->first_group = at;
	} else {
		twins->games[twins->last_group].other = at;
	}
	twins->last_group = at;
}

/* Appends a group, or a game, to another group. */
static void append_group(struct chi_twins *twins, uint32_t group, uint32_t at)
{
	struct game *games = twins->games;
	games[games[group].last].next = at;
	games[group].last = games[at].last;
	for (uint32_t i = at; i != NONE; i = games[i].next) {
		games[i].group = group;
	}
}

/* Joins the next game to the first group of the same moves in which all are its twins. */
static int join_twins(struct chi_twins *twins, uint64_t *steps)
{
	uint32_t at = (uint32_t)twins->at++;
	struct game *game = &twins->games[at];
	bool fits = false;
	int rc = CHI_OK;
	game->next = NONE;
	game->other = NONE;
	game->last = at;
	spend(steps);
	if (at == 0 || game[-1].moves != game->moves) {
		twins->first_group = NONE;
	}
	if (game->first != game->number) {
		return CHI_OK; /* as the equal one before it */
	}
	for (uint32_t i = twins->first_group; rc == CHI_OK && !fits && i != NONE;
	     i = twins->games[i].other) {
		rc = fits_group(twins, i, game, steps, &fits);
		if (rc == CHI_OK && fits) {
			append_group(twins, i, at);
		}
	}
	if (!fits) {
		found_group(twins, at);
	}
	return rc;
}

/* Joins the groups of two games if each of the one is a twin of each of the other. */
static int join_groups(struct chi_twins *twins, uint32_t a, uint32_t b, uint64_t *steps)
{
	bool fits = true;
	int rc = CHI_OK;
	for (uint32_t i = b; rc == CHI_OK && fits && i != NONE; i = twins->games[i].next) {
		rc = fits_group(twins, a, &twins->games[i], steps, &fits);
	}
	if (rc == CHI_OK && fits) {
		append_group(twins, a, b);
	}
	return rc;
}

/* Joins the group of the next game to those of games after it in its family, where names and dates
 * of both are known. Of the others of these groups they need not be: their moves are the same. */
static int begin_twins(struct chi_twins *twins, uint64_t *steps)
{
	size_t at = twins->at++;
	const struct game *games = twins->games;
	const struct game *game = &games[at];
	int rc = CHI_OK;
	if (!game->begins || game->first != game->number) {
		return CHI_OK;
	}
	spend(steps);
	for (size_t i = at + 1; rc == CHI_OK && i < twins->n && games[i].line == game->line; i++) {
		const struct game *other = &games[i];
		if (other->begins && other->first == other->number && other->moves != game->moves &&
		    other->group != game->group &&
		    chi_twin_dates_near(game->date, other->date, twins->spec.days)) {
			rc = join_groups(twins, game->group, other->group, steps);
		}
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

/* All are joined: they come by groups, each called by its least number. */
static void finish_twins(struct chi_twins *twins)
{
	struct game *games = twins->games;
	uint32_t *least = twins->numbers;
	memset(least, 0xff, twins->n * sizeof(*least));
	for (size_t i = 0; i < twins->n; i++) {
		games[i].group =
			games[i].first != games[i].number ? games[i - 1].group : games[i].group;
		uint32_t *of = &least[games[i].group];
		*of = games[i].number < *of ? games[i].number : *of;
	}
	for (size_t i = 0; i < twins->n; i++) {
		games[i].group = least[games[i].group];
	}
	if (twins->n > 0) {
		qsort(games, twins->n, sizeof(*games), compare_groups);
	}
}

/* The next thing to do in this phase. CHI_NONE: there is nothing left. */
static int do_phase(struct chi_twins *twins, uint64_t *steps)
{
	switch (twins->phase) {
	case GATHER:
		return gather_twins(twins, steps);
	case CHOOSE:
		return chi_twin_choice_choose(&twins->choice, steps);
	case UNPACK:
		if (twins->games == NULL) {
			chi_twin_choice_stop(&twins->choice);
			twins->games = calloc(twins->choice.n_chosen + 1, sizeof(*twins->games));
			return twins->games != NULL ? CHI_OK : -CHI_ENOMEM;
		}
		return twins->at < twins->choice.n ? unpack_next(twins, steps) : CHI_NONE;
	case SORT:
		if (twins->numbers == NULL) {
			return sort_games(twins);
		}
		return CHI_NONE;
	case JOIN:
		return twins->at < twins->n ? join_twins(twins, steps) : CHI_NONE;
	case BEGIN:
		return twins->at < twins->n ? begin_twins(twins, steps) : CHI_NONE;
	default:
		return CHI_NONE;
	}
}

int chi_twins_step(struct chi_twins *twins, uint64_t steps)
{
	while (twins->rc == CHI_OK && steps > 0) {
		int rc = do_phase(twins, &steps);
		if (rc == CHI_NONE) {
			twins->at = 0;
			twins->phase++;
		}
		twins->rc = rc < 0 ? rc : CHI_OK;
		if (twins->rc == CHI_OK && twins->phase == DONE) {
			finish_twins(twins);
			twins->rc = CHI_NONE;
		}
	}
	return twins->rc;
}

/* In what the games of a group differ, enum chi_twins_why. */
static uint32_t why_of(const struct game *games, size_t n)
{
	uint32_t why = 0;
	for (size_t i = 1; i < n; i++) {
		bool named = games[i].white == games->white && games[i].black == games->black;
		why |= games[i].moves == games->moves ? 0 : CHI_TWINS_BEGINNING;
		why |= named ? 0 : CHI_TWINS_NAMES;
		why |= games[i].date == games->date ? 0 : CHI_TWINS_DATES;
	}
	return why;
}

int chi_twins_next(struct chi_twins *twins, struct chi_twin_group *out)
{
	for (size_t n = 0; twins->given < twins->n; twins->given += n) {
		const struct game *games = twins->games + twins->given;
		size_t left = twins->n - twins->given;
		for (n = 0; n < left && games[n].group == games->group; n++) {
			twins->numbers[n] = games[n].number;
		}
		if (n > 1) {
			twins->given += n;
			*out = (struct chi_twin_group){twins->numbers, n, why_of(games, n)};
			return CHI_OK;
		}
	}
	return CHI_NONE;
}

size_t chi_twins_memory(const struct chi_twins *twins)
{
	size_t chosen = twins->games != NULL ? twins->choice.n_chosen : 0;
	size_t games = twins->phase > SORT ? twins->n : chosen;
	size_t reading = twins->matcher != NULL
				 ? CHI_ARCHIVE_READER_BYTES + chi_matcher_memory(twins->matcher)
				 : 0;
	return sizeof(*twins) + reading + chi_twin_choice_memory(&twins->choice) +
	       games * (sizeof(*twins->games) + sizeof(*twins->numbers));
}

const char *chi_twins_unknown(const struct chi_twins *twins, size_t i)
{
	return i < twins->unknown.n ? twins->unknown.name[i] : NULL;
}
