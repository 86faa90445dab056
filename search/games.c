/* SPDX-License-Identifier: MIT */
/*
 * Games that fit, by ascending number as they are found, or sorted. A sorted query looks at all
 * games and keeps the first `limit` in a heap; value and number of each are one 64-bit number, so
 * that games have one order. A cursor is that number of the last row.
 */
#include "search/games.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/wire.h"
#include "base/num.h"
#include "chess/key.h"
#include "search/brief_list.h"
#include "search/filter/motif.h"
#include "search/filter/matcher.h"
#include "search/filter/replay.h"
#include "search/filter/shown.h"
#include "search/filter/terms.h"
#include "search/played.h"

/* Counts the games that would be played again, up to where looking at all positions is cheaper. */
struct chooser {
	struct chi_terms terms; /* without motifs */
	struct chi_matcher *matcher;
	uint64_t games;
};

struct chi_game_walk {
	struct chi_games_spec spec;
	struct chi_read *read;
	struct chi_terms terms;
	struct chi_matcher *matcher;
	struct chi_unknown_names unknown;
	struct chi_archive_view view;
	/* By motif, if it is looked for in all positions first; NULL: games are played again. */
	struct chi_shown_games *shown[CHI_TERMS_MAX];
	unsigned cost;		 /* of motifs that positions answer, by chi_motif_cost */
	uint64_t few;		 /* so many games are played again in any case */
	uint32_t began;		 /* the first number that may fit */
	bool chosen;		 /* between the two */
	struct chooser *chooser; /* while it is at work */
	bool after;		 /* rows up to and with `last` are not delivered */
	uint64_t last;		 /* place of the last row */
	uint64_t rows;		 /* delivered */
	uint64_t found;		 /* games that fit, so far */
	bool searched;		 /* all games were looked at */
	int rc;			 /* how it ended */
	bool has_total;		 /* known from the beginning */
	uint64_t total;
	/* Of the chunk that was searched last, for it to be searched again. */
	uint32_t chunk_from;
	uint64_t chunk_found;
	bool attached; /* to a later snapshot than its rows were found in */
	bool looked;   /* at a chunk, in this snapshot */
	/* By ascending number: rows of the chunk that are to be delivered. */
	struct chi_hits hits;
	uint32_t word;
	/* Sorted: a heap of places, the last one on top, until all are searched; then in order. */
	uint64_t *places;
	size_t n_places;
	size_t room; /* of `places` */
	size_t at;   /* the next to be delivered */
	struct chi_columns_reader heads;
	/* Plies, */
	bool has_position;
	struct chi_position position;
	struct chi_motifs *motifs; /* NULL: no motif is asked for */
	uint32_t motif;		   /* a bit */
	struct chi_archive_reader *reader;
	/* or moves alone. */
	bool has_key;
	struct chi_key key;
	struct chi_played *played; /* NULL: no game of this snapshot reached it */
	/* The position's list is the answer, without a matcher, */
	bool brief;
	struct chi_brief_list *list; /* NULL: it is detached */
	char *plan;		     /* NULL: it is not asked for */
};

static bool is_sorted(const struct chi_games_spec *spec)
{
	return spec->sort != CHI_GAMES_NUMBER || spec->descending;
}

/* ---- Opening ------------------------------------------------------------------------------ */

static void free_chooser(struct chi_game_walk *games)
{
	if (games->chooser != NULL) {
		chi_matcher_free(games->chooser->matcher);
		free(games->chooser);
		games->chooser = NULL;
	}
}

static void free_shown(struct chi_game_walk *games)
{
	for (size_t i = 0; i < CHI_TERMS_MAX; i++) {
		chi_shown_detach(games->shown[i]);
		chi_shown_free(games->shown[i]);
		games->shown[i] = NULL;
	}
}

void chi_game_walk_close(struct chi_game_walk *games)
{
	if (games != NULL) {
		chi_matcher_free(games->matcher);
		free_chooser(games);
		free_shown(games);
		chi_columns_reader_deinit(&games->heads);
		if (games->spec.reader == NULL) {
			chi_archive_reader_free(games->reader);
		}
		chi_played_close(games->played);
		chi_brief_list_close(games->list);
		chi_motifs_free(games->motifs);
		free(games->places);
		free(games->plan);
		free(games);
	}
}

static void games_closep(struct chi_game_walk **games)
{
	chi_game_walk_close(*games);
}

/* The first letter of a cursor says the order that it is of. */
static char letter_of(uint8_t sort, bool descending)
{
	static const char letters[2][3] = {{'n', 'd', 'r'}, {'N', 'D', 'R'}};
	return letters[descending][sort];
}

static int read_cursor(struct chi_game_walk *games, struct chi_fault *fault)
{
	const struct chi_games_spec *spec = &games->spec;
	uint8_t bytes[sizeof(uint64_t)];
	if (spec->cursor == NULL || spec->cursor_len == 0) {
		return CHI_OK;
	}
	if (spec->cursor_len != 1 + 2 * sizeof(bytes) ||
	    spec->cursor[0] != letter_of(spec->sort, spec->descending) ||
	    chi_hex_parse(spec->cursor + 1, spec->cursor_len - 1, bytes) < 0) {
		return chi_fail(fault, -CHI_EINVAL,
				"cursor: not one that a query of games in this order gave");
	}
	struct chi_reader reader = chi_reader_of(bytes, sizeof(bytes));
	games->last = chi_read_le(&reader, sizeof(bytes));
	games->after = true;
	return CHI_OK;
}

static int check_spec(const struct chi_games_spec *spec, struct chi_fault *fault)
{
	if (spec->sort > CHI_GAMES_RATING) {
		return chi_fail(fault, -CHI_EINVAL, "sort: unknown number %u", spec->sort);
	}
	if (is_sorted(spec) && (spec->limit < 1 || spec->limit > CHI_GAMES_SORT_MAX)) {
		return chi_fail(fault, -CHI_EINVAL, "sort: takes a limit of 1 to %d rows",
				CHI_GAMES_SORT_MAX);
	}
	return CHI_OK;
}

/* The position whose plies or moves are asked for, or the motif. */
static int find_position(struct chi_game_walk *games, struct chi_fault *fault)
{
	const struct chi_term *found = NULL;
	bool is_motif = false;
	for (size_t i = 0; found == NULL && i < games->terms.n; i++) {
		const struct chi_term *term = &games->terms.term[i];
		is_motif = term->kind == CHI_TERM_MOTIF;
		bool is =
			term->kind == CHI_TERM_POSITION || term->kind == CHI_TERM_MOVES || is_motif;
		found = is && !term->negated ? term : NULL;
	}
	bool plies = games->spec.want_ply && found != NULL;
	games->has_position = plies && !is_motif;
	games->has_key = !plies && games->spec.want_move && found != NULL && !is_motif;
	if (games->has_key) {
		games->key = found->key;
	}
	if (!plies) {
		return CHI_OK;
	}
	if (is_motif) {
		games->motif = UINT32_C(1) << found->motif.number;
		return chi_motifs_new(&games->terms, &games->motifs, fault);
	}
	int rc = chi_key_decode(&found->key, &games->position, NULL);
	games->reader = games->spec.reader;
	return rc == CHI_OK && games->reader == NULL ? chi_archive_reader_new(&games->reader) : rc;
}

/* Whether the games are those of a position, and briefs are enough. */
static bool is_brief(const struct chi_game_walk *games)
{
	const struct chi_games_spec *spec = &games->spec;
	const struct chi_term *term = &games->terms.term[0];
	return spec->brief && !spec->want_ply && !spec->explain && !is_sorted(spec) &&
	       !games->after && games->terms.n == 1 && term->kind == CHI_TERM_POSITION &&
	       !term->negated;
}

/* Goes on after `last`. */
static int open_list(struct chi_game_walk *games)
{
	uint64_t from = games->after ? games->last + 1 : 1;
	int rc = chi_brief_list_open(games->read, &games->key, from, &games->list);
	if (rc == CHI_OK && !games->has_total) {
		games->total = chi_brief_list_games(games->list);
		games->has_total = games->total > 0;
	}
	return rc;
}

static int open_brief(struct chi_game_walk *games, struct chi_fault *fault)
{
	games->brief = true;
	games->key = games->terms.term[0].key;
	int rc = open_list(games);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

/* What looks for motifs in all positions, if that is `chosen`; else only adds up what it costs. */
static int open_shown(struct chi_game_walk *games, bool chosen, struct chi_fault *fault)
{
	struct chi_motifs *motifs = NULL;
	int rc =
		games->terms.n_moments > 0 ? chi_motifs_new(&games->terms, &motifs, fault) : CHI_OK;
	if (rc < 0 || motifs == NULL) {
		return rc;
	}
	games->cost = 0;
	for (size_t i = 0; rc == CHI_OK && i < chi_motifs_count(motifs); i++) {
		const struct chi_motif *motif = chi_motifs_at(motifs, i);
		bool is = chi_motif_is_positional(motif);
		games->cost += is ? chi_motif_cost(motif) : 0;
		if (is && chosen) {
			rc = chi_shown_new(motif, games->spec.threads, &games->shown[i]);
		}
	}
	chi_motifs_free(motifs);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

static int attach_shown(struct chi_game_walk *games)
{
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < CHI_TERMS_MAX; i++) {
		rc = games->shown[i] != NULL ? chi_shown_attach(games->shown[i], games->read)
					     : CHI_OK;
	}
	return rc;
}

static struct chi_shown_games **shown_of(struct chi_game_walk *games)
{
	return games->terms.n_moments > 0 ? games->shown : NULL;
}

/* What sorted queries need. */
static int open_sort(struct chi_game_walk *games)
{
	if (games->spec.explain) {
		games->plan = calloc(1, CHI_PLAN_SIZE);
		return games->plan != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	if (!is_sorted(&games->spec)) {
		return CHI_OK;
	}
	games->room = (size_t)games->spec.limit;
	games->places = malloc(games->room * sizeof(*games->places));
	return games->places != NULL ? CHI_OK : -CHI_ENOMEM;
}

/* What reads the snapshot, beside the matcher. */
static int open_readers(struct chi_game_walk *games, struct chi_read *read)
{
	struct chi_archive_view *view = &games->view;
	int rc = chi_read_archive(read, view);
	games->few = games->cost * view->positions / CHI_POSITIONS_A_GAME;
	if (!games->spec.by_positions && !view->whole) {
		/* A list may have lost a game since. */
		free_shown(games);
	}
	rc = rc == CHI_OK ? attach_shown(games) : rc;
	if (rc == CHI_OK && games->motifs != NULL) {
		rc = chi_motifs_begin(games->motifs, read, games->spec.reader);
	}
	if (rc == CHI_OK && games->reader != NULL && games->spec.reader == NULL) {
		rc = chi_archive_reader_begin(games->reader, view->txn, &view->trees);
	}
	if (rc == CHI_OK && games->places != NULL) {
		rc = chi_columns_reader_begin(&games->heads, view->txn, &view->trees);
	}
	if (rc == CHI_OK && games->has_key) {
		rc = chi_played_open(read, &games->key, &games->played);
		rc = rc == CHI_NONE ? CHI_OK : rc;
	}
	return rc;
}

/* With a cursor, and all counted, games before it are looked at all the same. */
static int open_matcher(struct chi_game_walk *games, struct chi_read *read, struct chi_fault *fault)
{
	const struct chi_games_spec *spec = &games->spec;
	struct chi_matcher_spec from = {.from = 1, .shown = shown_of(games)};
	int rc = chi_matcher_new(read, &games->terms, &from, &games->matcher, fault);
	if (rc < 0) {
		return rc;
	}
	chi_matcher_unknown(games->matcher, &games->unknown);
	games->began = from.from;
	games->has_total = chi_matcher_total(games->matcher, &games->total);
	bool skips = games->after && !is_sorted(spec) && games->last < UINT32_MAX &&
		     (games->has_total || !spec->want_total);
	if (!skips) {
		return CHI_OK;
	}
	chi_matcher_free(games->matcher);
	games->matcher = NULL;
	from.from = (uint32_t)games->last + 1;
	games->began = from.from;
	return chi_matcher_new(read, &games->terms, &from, &games->matcher, fault);
}

static int open_search(struct chi_game_walk *games, struct chi_fault *fault)
{
	bool by_positions = games->spec.by_positions && !games->view.whole;
	int rc = open_shown(games, by_positions, fault);
	rc = rc == CHI_OK ? open_matcher(games, games->read, fault) : rc;
	rc = rc == CHI_OK ? find_position(games, fault) : rc;
	rc = rc == CHI_OK ? open_sort(games) : rc;
	return rc == CHI_OK ? open_readers(games, games->read) : rc;
}

int chi_game_walk_open(struct chi_read *read, const struct chi_games_spec *spec,
		       struct chi_game_walk **out, struct chi_fault *fault)
{
	int rc = check_spec(spec, fault);
	if (rc < 0) {
		return rc;
	}
	_cleanup_(games_closep) struct chi_game_walk *games = calloc(1, sizeof(*games));
	if (games == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	games->spec = *spec;
	games->read = read;
	rc = read_cursor(games, fault);
	rc = rc == CHI_OK ? chi_terms_parse(spec->filter != NULL ? spec->filter : "",
					    spec->filter_len, &games->terms, fault)
			  : rc;
	rc = rc == CHI_OK ? chi_read_archive(read, &games->view) : rc;
	bool brief = rc == CHI_OK && is_brief(games);
	rc = rc != CHI_OK ? rc : brief ? open_brief(games, fault) : open_search(games, fault);
	if (rc < 0) {
		return rc;
	}
	games->spec.filter = NULL;
	games->spec.cursor = NULL;
	*out = games;
	games = NULL;
	return CHI_OK;
}

/* ---- Another snapshot --------------------------------------------------------------------- */

/* Where rows of a chunk are not delivered, that chunk is searched again. */
void chi_game_walk_detach(struct chi_game_walk *games)
{
	bool waits = false;
	for (uint32_t w = games->word; w < CHI_HIT_WORDS; w++) {
		waits = waits || games->hits.words[w] != 0;
	}
	if (waits) {
		games->found = games->chunk_found;
		games->hits = (struct chi_hits){0};
	} else if (games->matcher != NULL) {
		games->chunk_from = chi_matcher_place(games->matcher);
	}
	chi_matcher_free(games->matcher);
	games->matcher = NULL;
	for (size_t i = 0; i < CHI_TERMS_MAX; i++) {
		chi_shown_detach(games->shown[i]);
	}
	free_chooser(games);
	if (games->motifs != NULL) {
		chi_motifs_end(games->motifs);
	}
	chi_columns_reader_deinit(&games->heads);
	chi_played_close(games->played);
	games->played = NULL;
	chi_brief_list_close(games->list);
	games->list = NULL;
	if (games->reader != NULL && games->spec.reader == NULL) {
		chi_archive_reader_end(games->reader);
	}
}

int chi_game_walk_attach(struct chi_game_walk *games, struct chi_read *read,
			 struct chi_fault *fault)
{
	const struct chi_matcher_spec spec = {.from = games->chunk_from, .shown = shown_of(games)};
	games->read = read;
	games->attached = true;
	games->looked = false;
	if (games->brief) {
		return open_list(games);
	}
	int rc = chi_matcher_new(read, &games->terms, &spec, &games->matcher, fault);
	return rc == CHI_OK ? open_readers(games, read) : rc;
}

/* Of the walks for motifs: a new matcher would go on with them. */
static unsigned walked(const struct chi_game_walk *games)
{
	unsigned thousandths = 1000;
	for (size_t i = 0; i < CHI_TERMS_MAX && thousandths == 1000; i++) {
		thousandths = games->shown[i] != NULL ? chi_shown_progress(games->shown[i]) : 1000;
	}
	return thousandths;
}

bool chi_game_walk_may_detach(const struct chi_game_walk *games)
{
	unsigned thousandths = walked(games);
	bool walks = thousandths > 0 && thousandths < 1000;
	return games->chooser == NULL && (games->looked || games->searched || walks);
}

unsigned chi_game_walk_progress(const struct chi_game_walk *games)
{
	unsigned thousandths = games->searched ? 1000 : walked(games);
	if (!games->searched && thousandths == 1000 && games->view.last > 0) {
		uint64_t place = games->brief ? games->last : chi_matcher_place(games->matcher);
		thousandths = place < games->view.last ? (unsigned)(place * 1000 / games->view.last)
						       : 1000;
	}
	return thousandths;
}

size_t chi_game_walk_memory(const struct chi_game_walk *games)
{
	size_t shown = 0;
	for (size_t i = 0; i < CHI_TERMS_MAX; i++) {
		shown += games->shown[i] != NULL ? chi_shown_memory(games->shown[i]) : 0;
	}
	if (games->chooser != NULL) {
		shown += sizeof(*games->chooser) + chi_matcher_memory(games->chooser->matcher);
	}
	return sizeof(*games) + shown +
	       (games->motifs != NULL ? chi_motifs_memory(games->motifs) : 0) +
	       games->room * sizeof(*games->places) +
	       (games->reader != NULL && games->spec.reader == NULL ? CHI_ARCHIVE_READER_BYTES
								    : 0) +
	       (games->matcher != NULL ? chi_matcher_memory(games->matcher) : 0);
}

/* ---- Order -------------------------------------------------------------------------------- */

/* Where a game is in an order: what it is sorted by, then its number. Of one player's rating the
 * average is not known. */
static uint64_t place(uint8_t sort, const struct chi_game_head *head)
{
	uint64_t value = 0;
	if (sort == CHI_GAMES_DATE) {
		value = (uint64_t)head->year * 10000 + (uint64_t)head->month * 100 + head->day;
	} else if (sort == CHI_GAMES_RATING && head->white_elo != 0 && head->black_elo != 0) {
		value = (uint64_t)head->white_elo + head->black_elo;
	}
	return value << 32 | head->number;
}

/* The same of a row, of which only what it takes is read. */
static uint64_t place_of(const struct chi_game_walk *games, const struct chi_columns_chunk *chunk,
			 uint32_t row)
{
#define AT(column) chi_column_value(chunk, CHI_COLUMN_##column, row)
	struct chi_game_head head = {.number = chunk->first + row};
	if (games->spec.sort == CHI_GAMES_DATE) {
		head.year = (uint16_t)AT(YEAR);
		head.month = (uint8_t)AT(MONTH);
		head.day = (uint8_t)AT(DAY);
	} else if (games->spec.sort == CHI_GAMES_RATING) {
		head.white_elo = (uint16_t)AT(WHITE_ELO);
		head.black_elo = (uint16_t)AT(BLACK_ELO);
	}
#undef AT
	return place(games->spec.sort, &head);
}

/* True if `a` is delivered before `b`. */
static bool before(const struct chi_game_walk *games, uint64_t a, uint64_t b)
{
	return games->spec.descending ? a > b : a < b;
}

static void sift_down(const struct chi_game_walk *games, size_t n, size_t at, uint64_t place)
{
	uint64_t *places = games->places;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child + 1 < n && before(games, places[child], places[child + 1])) {
			child++;
		}
		if (child >= n || !before(games, place, places[child])) {
			break;
		}
		places[at] = places[child];
		at = child;
	}
	places[at] = place;
}

static void keep_place(struct chi_game_walk *games, uint64_t place)
{
	uint64_t *places = games->places;
	if (games->after && !before(games, games->last, place)) {
		return;
	}
	if (games->n_places == games->room) {
		if (before(games, place, places[0])) {
			sift_down(games, games->room, 0, place);
		}
		return;
	}
	size_t at = games->n_places++;
	for (; at > 0 && before(games, places[(at - 1) / 2], place); at = (at - 1) / 2) {
		places[at] = places[(at - 1) / 2];
	}
	places[at] = place;
}

static void keep_hits(struct chi_game_walk *games)
{
	const struct chi_columns_chunk *chunk = chi_matcher_chunk(games->matcher);
	for (uint32_t w = 0; w < CHI_HIT_WORDS; w++) {
		for (uint64_t left = games->hits.words[w]; left != 0; left &= left - 1) {
			uint32_t row = 64 * w + (uint32_t)__builtin_ctzll(left);
			keep_place(games, place_of(games, chunk, row));
		}
		games->hits.words[w] = 0;
	}
}

static void finish_heap(struct chi_game_walk *games)
{
	for (size_t n = games->n_places; n > 1; n--) {
		uint64_t last = games->places[n - 1];
		games->places[n - 1] = games->places[0];
		sift_down(games, n - 1, 0, last);
	}
}

/* ---- Rows --------------------------------------------------------------------------------- */

/* Of a filter with "or", a game may have come without it. */
static int find_motif(struct chi_game_walk *games, struct chi_games_row *out)
{
	struct chi_motif_found found[CHI_TERMS_MAX];
	uint32_t has = 0;
	uint64_t steps = UINT64_MAX;
	int rc = chi_motifs_search(games->motifs, out->head.number, games->motif, &steps, &has,
				   found);
	if (rc == CHI_OK && has != 0) {
		out->ply = found[__builtin_ctz(games->motif)].ply;
		out->move = found[__builtin_ctz(games->motif)].move;
	}
	return rc;
}

static int take_row(struct chi_game_walk *games, const struct chi_columns_chunk *chunk,
		    uint32_t row, struct chi_games_row *out)
{
	int rc = CHI_OK;
	*out = (struct chi_games_row){.ply = -1};
	chi_columns_head(chunk, row, &out->head);
	if (games->has_position) {
		rc = chi_replay_find(games->reader, out->head.number, &games->position, &out->ply,
				     &out->move);
	} else if (games->motifs != NULL) {
		rc = find_motif(games, out);
	} else if (games->played != NULL) {
		rc = chi_played_find(games->played, out->head.number, &out->move);
		/* Of a filter with "or", a game may have come without it. */
		rc = rc == CHI_NONE && !games->terms.joined ? CHI_OK : rc;
	}
	if (rc != CHI_OK) {
		return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
	}
	games->last = place_of(games, chunk, row);
	games->after = true;
	games->rows++;
	return CHI_OK;
}

static bool is_full(const struct chi_game_walk *games)
{
	return games->spec.limit != 0 && games->rows == games->spec.limit;
}

/* Delivers rows of the chunk. */
static int take_hits(struct chi_game_walk *games, struct chi_games_row *rows, size_t max, size_t *n)
{
	const struct chi_columns_chunk *chunk = chi_matcher_chunk(games->matcher);
	while (games->word < CHI_HIT_WORDS && *n < max && !is_full(games)) {
		uint64_t *left = &games->hits.words[games->word];
		if (*left == 0) {
			games->word++;
			continue;
		}
		uint32_t row = 64 * games->word + (uint32_t)__builtin_ctzll(*left);
		if (!games->after || chunk->first + row > games->last) {
			int rc = take_row(games, chunk, row, &rows[*n]);
			if (rc < 0) {
				return rc;
			}
			++*n;
		}
		*left &= *left - 1;
	}
	return CHI_OK;
}

/* Of a later snapshot, some may have been taken out. */
static int take_places(struct chi_game_walk *games, struct chi_games_row *rows, size_t max,
		       size_t *n)
{
	for (; games->at < games->n_places && *n < max; games->at++) {
		uint32_t row = 0;
		int rc = chi_columns_find(&games->heads, (uint32_t)games->places[games->at], &row);
		if (rc == CHI_NONE && games->attached) {
			continue;
		}
		rc = rc == CHI_OK ? take_row(games, &games->heads.chunk, row, &rows[*n]) : rc;
		if (rc != CHI_OK) {
			return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
		}
		++*n;
	}
	return CHI_OK;
}

static bool has_hits(const struct chi_game_walk *games)
{
	return !is_sorted(&games->spec) && games->word < CHI_HIT_WORDS && !is_full(games);
}

/* ---- Positions, or games played again ----------------------------------------------------- */

/* Only once so many games were looked at, if some of the first may be enough. */
static bool is_to_weigh(const struct chi_game_walk *games)
{
	const struct chi_games_spec *spec = &games->spec;
	bool some = spec->limit > 0 && !spec->want_total && !is_sorted(spec);
	return !games->chosen && games->view.whole && games->cost > 0 &&
	       (!some || chi_matcher_place(games->matcher) - games->began >= games->few / 2);
}

static int open_chooser(struct chi_game_walk *games)
{
	const struct chi_matcher_spec spec = {.from = chi_matcher_place(games->matcher)};
	struct chooser *chooser = malloc(sizeof(*chooser));
	if (chooser == NULL) {
		return -CHI_ENOMEM;
	}
	chooser->terms = games->terms;
	chooser->terms.n_moments = 0;
	chooser->games = 0;
	int rc = chi_matcher_new(games->read, &chooser->terms, &spec, &chooser->matcher, NULL);
	if (rc < 0) {
		free(chooser);
		return rc;
	}
	games->chooser = chooser;
	return CHI_OK;
}

/* Counts games up to more than `few`. CHI_NONE: there are no more. */
static int count_rest(struct chooser *chooser, uint64_t few, uint64_t *steps)
{
	int rc = CHI_OK;
	while (rc == CHI_OK && *steps > 0 && chooser->games <= few) {
		struct chi_hits hits;
		rc = chi_matcher_next(chooser->matcher, steps, &hits);
		chooser->games += chi_hits_count(&hits);
	}
	return rc;
}

static int weigh_ways(struct chi_game_walk *games, uint64_t *steps)
{
	int rc = games->chooser == NULL ? open_chooser(games) : CHI_OK;
	struct chooser *chooser = games->chooser;
	rc = rc == CHI_OK ? count_rest(chooser, games->few, steps) : rc;
	bool many = rc == CHI_OK && chooser->games > games->few;
	if (many || rc != CHI_OK) {
		games->chosen = true;
		free_chooser(games);
	}
	rc = many ? open_shown(games, true, NULL) : rc;
	rc = many && rc == CHI_OK ? attach_shown(games) : rc;
	return rc < 0 ? rc : CHI_OK;
}

/* The games that fit all but the motifs are counted first. CHI_NONE: the plan is there. */
static int explain(struct chi_game_walk *games, uint64_t *steps)
{
	int rc = games->chooser == NULL ? open_chooser(games) : CHI_OK;
	if (rc == CHI_OK) {
		rc = count_rest(games->chooser, UINT64_MAX, steps);
	}
	if (rc != CHI_NONE) {
		return rc;
	}
	rc = chi_matcher_explain(games->matcher, games->chooser->games, steps, games->plan);
	return rc == CHI_OK ? CHI_NONE : rc < 0 ? rc : CHI_OK;
}

/* Looks at the next chunk. */
static int search_chunk(struct chi_game_walk *games, uint64_t *steps)
{
	games->chunk_from = chi_matcher_place(games->matcher);
	games->chunk_found = games->found;
	int rc = chi_matcher_next(games->matcher, steps, &games->hits);
	games->word = 0;
	games->looked = games->looked || chi_matcher_place(games->matcher) != games->chunk_from;
	games->found += chi_hits_count(&games->hits);
	if (is_sorted(&games->spec)) {
		keep_hits(games);
	}
	if (rc == CHI_NONE) {
		games->searched = true;
		finish_heap(games);
	}
	return rc < 0 ? rc : CHI_OK;
}

static bool is_over(const struct chi_game_walk *games)
{
	const struct chi_games_spec *spec = &games->spec;
	if (is_sorted(spec)) {
		return games->searched && games->at == games->n_places;
	}
	bool counted = games->searched || !spec->want_total || games->has_total;
	return (games->searched && !has_hits(games)) || (is_full(games) && counted);
}

/* Rows of a position's list. CHI_NONE: all were there. */
static int next_brief(struct chi_game_walk *games, struct chi_games_row *rows, size_t max,
		      uint64_t *steps, size_t *n)
{
	int rc = CHI_OK;
	games->looked = true;
	while (rc == CHI_OK && *n < max && !is_full(games)) {
		struct chi_games_row *row = &rows[*n];
		*row = (struct chi_games_row){.ply = -1};
		rc = chi_brief_list_next(games->list, steps, &row->head, &row->move);
		if (rc != CHI_OK || row->head.number == 0) {
			break;
		}
		row->move = games->spec.want_move ? row->move : 0;
		games->last = row->head.number;
		games->after = true;
		games->rows++;
		++*n;
	}
	games->searched = rc == CHI_NONE;
	return rc == CHI_OK && is_full(games) ? CHI_NONE : rc;
}

int chi_game_walk_next(struct chi_game_walk *games, struct chi_games_row *rows, size_t max,
		       uint64_t steps, size_t *n)
{
	bool sorted = is_sorted(&games->spec);
	*n = 0;
	if (games->plan != NULL && games->rc == CHI_OK) {
		games->rc = explain(games, &steps);
		return games->rc;
	}
	if (games->brief && games->rc == CHI_OK) {
		games->rc = next_brief(games, rows, max, &steps, n);
		return games->rc;
	}
	while (games->rc == CHI_OK) {
		if (is_over(games)) {
			games->rc = CHI_NONE;
		} else if (sorted && games->searched) {
			games->rc = take_places(games, rows, max, n);
		} else if (has_hits(games)) {
			games->rc = take_hits(games, rows, max, n);
		} else if (steps > 0) {
			games->rc = is_to_weigh(games) ? weigh_ways(games, &steps)
						       : search_chunk(games, &steps);
		}
		bool waits = sorted ? games->searched : has_hits(games);
		if ((*n == max && waits) || (steps == 0 && !waits)) {
			break;
		}
	}
	return games->rc == CHI_OK && is_over(games) ? CHI_NONE : games->rc;
}

bool chi_game_walk_total(const struct chi_game_walk *games, uint64_t *total)
{
	*total = games->has_total ? games->total : games->found;
	return games->has_total || (games->searched && games->spec.want_total);
}

const char *chi_game_walk_plan(const struct chi_game_walk *games)
{
	return games->plan;
}

char *chi_game_walk_describe(const struct chi_game_walk *games)
{
	char text[CHI_PLAN_SIZE];
	if (games->list != NULL) {
		(void)snprintf(text, sizeof(text),
			       "leads: a position\ngames to look at: %" PRIu64 " of %" PRIu32 "\n"
			       "games to play again: 0\n",
			       games->total, games->view.last);
		return strdup(text);
	}
	if (games->matcher == NULL) {
		return NULL;
	}
	chi_matcher_describe(games->matcher, UINT64_MAX, text);
	return strdup(text);
}

static size_t print_cursor(uint64_t at, char letter, char out[CHI_GAMES_CURSOR_SIZE])
{
	uint8_t bytes[sizeof(uint64_t)];
	struct chi_writer writer = chi_writer_of(bytes, sizeof(bytes));
	chi_write_le(&writer, at, sizeof(bytes));
	out[0] = letter;
	chi_hex_print(bytes, sizeof(bytes), out + 1);
	return 1 + 2 * sizeof(bytes);
}

size_t chi_game_walk_cursor_of(const struct chi_game_head *head, uint8_t sort, bool descending,
			       char out[CHI_GAMES_CURSOR_SIZE])
{
	return print_cursor(place(sort, head), letter_of(sort, descending), out);
}

const char *chi_game_walk_unknown(const struct chi_game_walk *games, size_t i)
{
	return i < games->unknown.n ? games->unknown.name[i] : NULL;
}
