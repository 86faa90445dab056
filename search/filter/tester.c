/* SPDX-License-Identifier: MIT */
/*
 * Tests of chunks. Each term fills a row of bits, which are joined by and. The loops over a column
 * have no branches and one body for each width, of which compilers make vectors: a row costs about
 * a tenth of a nanosecond for each column asked.
 */
#include "search/filter/tester.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/names/fits.h"
#include "search/filter/motif.h"
#include "search/filter/terms_priv.h"
#include "search/filter/unstored.h"
#include "store/games/body.h"
#include "store/games/tags.h"
#include "store/names/names.h"

/* Numbers of names, as bits from the least on. */
struct ids {
	uint32_t least;
	uint32_t span;	/* greatest - least */
	uint64_t *bits; /* NULL: `none`, or all between are meant */
	bool none;
};

struct test {
	const struct chi_term *term;
	struct ids ids;	     /* of the name, */
	struct ids opponent; /* and of the opponent */
};

struct chi_tester {
	const struct chi_terms *terms;
	size_t n;			  /* tests that there are */
	struct test tests[CHI_TERMS_MAX]; /* by the number of their terms */
	size_t n_unknown;
	const char *unknown[2 * CHI_TERMS_MAX];
	struct chi_name_ids names[CHI_TERMS_MAX][2];
};

/* ---- Columns ------------------------------------------------------------------------------ */

/* 64 bytes, each 0 or 1, as bits. */
static uint64_t pack_bits(const uint8_t fits[64])
{
	uint64_t bits = 0;
	for (unsigned i = 0; i < 8; i++) {
		uint64_t eight;
		memcpy(&eight, fits + 8 * i, sizeof(eight));
		/* Moves byte k's bit to bit 56 + k. */
		bits |= (eight * UINT64_C(0x0102040810204080) >> 56) << (8 * i);
	}
	return bits;
}

/* Fills bits from a condition on `i`, 64 rows at a time: of so many the compiler makes vectors. */
#define FILL_BYTES(fits, from, n, condition)                                                       \
	for (size_t at_ = 0; at_ < (n); at_++) {                                                   \
		size_t i = (from) + at_;                                                           \
		(fits)[at_] = (condition);                                                         \
	}
#define EACH_ROW(hits, n, condition)                                                               \
	for (size_t from_ = 0; from_ < (n); from_ += 64) {                                         \
		uint8_t fits_[64] = {0};                                                           \
		if ((n)-from_ >= 64) {                                                             \
			FILL_BYTES(fits_, from_, 64, condition)                                    \
		} else {                                                                           \
			FILL_BYTES(fits_, from_, (n)-from_, condition)                             \
		}                                                                                  \
		(hits)->words[from_ / 64] = pack_bits(fits_);                                      \
	}

static void set_all(struct chi_hits *hits, uint32_t n, bool value)
{
	memset(hits, 0, sizeof(*hits));
	for (uint32_t i = 0; value && i < n; i += 64) {
		hits->words[i / 64] = n - i >= 64 ? UINT64_MAX : (UINT64_C(1) << (n - i)) - 1;
	}
}

static uint16_t load16(const uint8_t *at)
{
	uint16_t value;
	memcpy(&value, at, sizeof(value));
	return value;
}

/* Rows whose value is within min..max. What is stored is compared, without adding the base. */
static void in_range(const struct chi_columns_chunk *chunk, enum chi_column column, uint32_t min,
		     uint32_t max, struct chi_hits *hits)
{
	const struct chi_column_span *span = &chunk->columns[column];
	const uint8_t *at = span->bytes;
	uint32_t least = min > span->base ? min - span->base : 0;
	uint32_t most = max - span->base < span->mask ? max - span->base : span->mask;
	bool none = max < span->base || least > most;
	if (none || (least == 0 && most == span->mask)) {
		set_all(hits, chunk->n, !none);
	} else if (span->width == 1) {
		uint8_t first = (uint8_t)least;
		uint8_t width = (uint8_t)(most - least);
		EACH_ROW(hits, chunk->n, (uint8_t)(at[i] - first) <= width)
	} else if (span->width == 2) {
		uint16_t first = (uint16_t)least;
		uint16_t width = (uint16_t)(most - least);
		EACH_ROW(hits, chunk->n, (uint16_t)(load16(at + 2 * i) - first) <= width)
	} else {
		EACH_ROW(hits, chunk->n,
			 chi_column_span_value(span, (uint32_t)i) - min <= max - min)
	}
}

static void in_ids(const struct chi_columns_chunk *chunk, enum chi_column column,
		   const struct ids *ids, struct chi_hits *hits)
{
	if (ids->none) {
		set_all(hits, chunk->n, false);
		return;
	}
	in_range(chunk, column, ids->least, ids->least + ids->span, hits);
	for (uint32_t w = 0; ids->bits != NULL && w < CHI_HIT_WORDS && 64 * w < chunk->n; w++) {
		for (uint64_t left = hits->words[w]; left != 0; left &= left - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(left);
			uint32_t id = chi_column_value(chunk, column, 64 * w + bit) - ids->least;
			uint64_t there = ids->bits[id / 64] >> (id % 64) & 1;
			hits->words[w] &= ~((there ^ 1) << bit);
		}
	}
}

static void join_and(struct chi_hits *hits, const struct chi_hits *other)
{
	for (size_t i = 0; i < CHI_HIT_WORDS; i++) {
		hits->words[i] &= other->words[i];
	}
}

static void join_or(struct chi_hits *hits, const struct chi_hits *other)
{
	for (size_t i = 0; i < CHI_HIT_WORDS; i++) {
		hits->words[i] |= other->words[i];
	}
}

/* Rows whose value, a small number, is in the set: of each of its runs. */
static void in_set(const struct chi_columns_chunk *chunk, enum chi_column column, uint32_t set,
		   struct chi_hits *hits)
{
	for (uint32_t left = set; left != 0;) {
		struct chi_hits some = {0};
		uint32_t first = (uint32_t)__builtin_ctz(left);
		uint32_t after = first;
		while (after < 32 && (left >> after & 1) != 0) {
			left ^= UINT32_C(1) << after++;
		}
		in_range(chunk, column, first, after - 1, &some);
		join_or(hits, &some);
	}
}

/* ---- Terms -------------------------------------------------------------------------------- */

/* White is one of the term's names, and Black of the opponent's; or the other way round. */
static void test_side(const struct chi_columns_chunk *chunk, const struct test *test, bool black,
		      struct chi_hits *hits)
{
	struct chi_hits other = {0};
	in_ids(chunk, black ? CHI_COLUMN_BLACK : CHI_COLUMN_WHITE, &test->ids, hits);
	if (test->term->opponent != 0) {
		in_ids(chunk, black ? CHI_COLUMN_WHITE : CHI_COLUMN_BLACK, &test->opponent, &other);
		join_and(hits, &other);
	}
}

static void test_player(const struct chi_columns_chunk *chunk, const struct test *test,
			struct chi_hits *hits)
{
	struct chi_hits other = {0};
	uint8_t side = test->term->side;
	test_side(chunk, test, side == CHI_SIDE_BLACK, hits);
	if (side == CHI_SIDE_ANY) {
		test_side(chunk, test, true, &other);
		join_or(hits, &other);
	}
}

/* The first or last day that a row's date may be: a part that is not known may be any, and a day
 * without its month says nothing. 0: the year is not known. */
static uint32_t day_of(const struct chi_columns_chunk *chunk, uint32_t row, bool last)
{
	uint32_t year = chi_column_value(chunk, CHI_COLUMN_YEAR, row);
	uint32_t month = chi_column_value(chunk, CHI_COLUMN_MONTH, row);
	uint32_t day = chi_column_value(chunk, CHI_COLUMN_DAY, row);
	uint32_t any = last ? 1231 : 101;
	uint32_t rest = month == 0 ? any : month * 100 + (day == 0 ? any % 100 : day);
	return year == 0 ? 0 : year * 10000 + rest;
}

/* True if the date is certainly within the bound, of which parts may be left out too. */
static bool is_within(const struct chi_columns_chunk *chunk, uint32_t row, bool since,
		      uint32_t bound)
{
	uint32_t part = bound % 100 != 0 ? 1 : 100;
	uint32_t day = day_of(chunk, row, !since);
	return day != 0 && (since ? day / part >= bound / part : day / part <= bound / part);
}

/* Only in the bound's own year do months and days matter. */
static void test_date(const struct chi_columns_chunk *chunk, const struct chi_term *term,
		      struct chi_hits *hits)
{
	struct chi_hits same = {0};
	bool since = term->kind == CHI_TERM_SINCE;
	bool parts = term->min % 10000 != 0;
	uint32_t year = term->min / 10000;
	uint32_t sure = since ? year + parts : year - parts;
	in_range(chunk, CHI_COLUMN_YEAR, since ? sure : 1, since ? UINT16_MAX : sure, hits);
	if (parts) {
		in_range(chunk, CHI_COLUMN_YEAR, year, year, &same);
	}
	for (uint32_t w = 0; w < CHI_HIT_WORDS; w++) {
		for (uint64_t left = same.words[w]; left != 0; left &= left - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(left);
			bool fits = is_within(chunk, 64 * w + bit, since, term->min);
			hits->words[w] |= (uint64_t)fits << bit;
		}
	}
}

static bool is_average(const struct chi_columns_chunk *chunk, uint32_t row, uint32_t min,
		       uint32_t max)
{
	uint32_t white = chi_column_value(chunk, CHI_COLUMN_WHITE_ELO, row);
	uint32_t black = chi_column_value(chunk, CHI_COLUMN_BLACK_ELO, row);
	/* Half a point is not lost: the bounds are doubled. Branches would be guessed wrong. */
	return (white != 0) & (black != 0) & (white + black - 2 * min <= 2 * (max - min));
}

static void test_rating(const struct chi_columns_chunk *chunk, const struct chi_term *term,
			struct chi_hits *hits)
{
	struct chi_hits other = {0};
	uint32_t min = term->min;
	uint32_t max = term->max;
	if (term->kind == CHI_TERM_AVERAGE) {
		EACH_ROW(hits, chunk->n, is_average(chunk, (uint32_t)i, min, max))
		return;
	}
	if (term->kind == CHI_TERM_ELO_BLACK) {
		in_range(chunk, CHI_COLUMN_BLACK_ELO, min, max, hits);
		return;
	}
	in_range(chunk, CHI_COLUMN_WHITE_ELO, min, max, hits);
	if (term->kind != CHI_TERM_ELO_WHITE) {
		in_range(chunk, CHI_COLUMN_BLACK_ELO, min, max, &other);
		(term->kind == CHI_TERM_RATING ? join_or : join_and)(hits, &other);
	}
}

/* A move is two plies, or the last one. */
static void test_length(const struct chi_columns_chunk *chunk, const struct chi_term *term,
			struct chi_hits *hits)
{
	uint32_t min = term->min > 0 ? 2 * term->min - 1 : 0;
	in_range(chunk, CHI_COLUMN_PLIES, min, 2 * term->max, hits);
}

static void test_title(const struct chi_columns_chunk *chunk, const struct chi_term *term,
		       struct chi_hits *hits)
{
	struct chi_hits other = {0};
	in_set(chunk, CHI_COLUMN_WHITE_TITLE, term->set, hits);
	in_set(chunk, CHI_COLUMN_BLACK_TITLE, term->set, &other);
	join_or(hits, &other);
}

static void test_number(const struct chi_columns_chunk *chunk, const struct chi_term *term,
			struct chi_hits *hits)
{
	uint32_t low = chunk->first - term->min;
	uint32_t width = term->max - term->min;
	EACH_ROW(hits, chunk->n, low + (uint32_t)i <= width)
}

static void run_test(const struct chi_columns_chunk *chunk, const struct test *test,
		     struct chi_hits *hits)
{
	const struct chi_term *term = test->term;
	switch (term->kind) {
	case CHI_TERM_PLAYER:
		test_player(chunk, test, hits);
		break;
	case CHI_TERM_EVENT:
		in_ids(chunk, CHI_COLUMN_EVENT, &test->ids, hits);
		break;
	case CHI_TERM_SITE:
		in_ids(chunk, CHI_COLUMN_SITE, &test->ids, hits);
		break;
	case CHI_TERM_SOURCE:
		in_ids(chunk, CHI_COLUMN_SOURCE, &test->ids, hits);
		break;
	case CHI_TERM_SINCE:
	case CHI_TERM_UNTIL:
		test_date(chunk, term, hits);
		break;
	case CHI_TERM_YEAR:
		in_range(chunk, CHI_COLUMN_YEAR, term->min, term->max, hits);
		break;
	case CHI_TERM_ECO:
		in_range(chunk, CHI_COLUMN_ECO, term->min, term->max, hits);
		break;
	case CHI_TERM_PLIES:
		in_range(chunk, CHI_COLUMN_PLIES, term->min, term->max, hits);
		break;
	case CHI_TERM_LENGTH:
		test_length(chunk, term, hits);
		break;
	case CHI_TERM_RESULT:
		in_set(chunk, CHI_COLUMN_RESULT, term->set, hits);
		break;
	case CHI_TERM_SPEED:
		in_set(chunk, CHI_COLUMN_SPEED, term->set, hits);
		break;
	case CHI_TERM_TITLE:
		test_title(chunk, term, hits);
		break;
	case CHI_TERM_NUMBER:
		test_number(chunk, term, hits);
		break;
	default:
		test_rating(chunk, term, hits);
		break;
	}
}

void chi_tester_there(const struct chi_columns_chunk *chunk, struct chi_hits *hits)
{
	memset(hits, 0, sizeof(*hits));
	in_range(chunk, CHI_COLUMN_RESULT, 0, CHI_ROW_REMOVED - 1, hits);
}

void chi_tester_run(const struct chi_tester *tester, size_t i,
		    const struct chi_columns_chunk *chunk, struct chi_hits *hits)
{
	struct chi_hits all;
	memset(hits, 0, sizeof(*hits));
	run_test(chunk, &tester->tests[i], hits);
	if (tester->tests[i].term->negated) {
		set_all(&all, chunk->n, true);
		for (size_t w = 0; w < CHI_HIT_WORDS; w++) {
			hits->words[w] = all.words[w] & ~hits->words[w];
		}
	}
}

/* ---- Making one --------------------------------------------------------------------------- */

void chi_tester_free(struct chi_tester *tester)
{
	if (tester == NULL) {
		return;
	}
	for (size_t i = 0; i < CHI_TERMS_MAX; i++) {
		free(tester->tests[i].ids.bits);
		free(tester->tests[i].opponent.bits);
	}
	for (size_t i = 0; i < CHI_TERMS_MAX; i++) {
		chi_name_ids_deinit(&tester->names[i][0]);
		chi_name_ids_deinit(&tester->names[i][1]);
	}
	free(tester);
}

static void freep(struct chi_tester **tester)
{
	chi_tester_free(*tester);
}

static int make_ids(const struct chi_name_ids *found, struct ids *out)
{
	if (found->n == 0) {
		out->none = true;
		return CHI_OK;
	}
	out->least = found->id[0];
	out->span = found->id[found->n - 1] - out->least;
	if (out->span == found->n - 1) {
		return CHI_OK;
	}
	out->bits = calloc((size_t)out->span / 64 + 1, sizeof(*out->bits));
	if (out->bits == NULL) {
		return -CHI_ENOMEM;
	}
	for (size_t i = 0; i < found->n; i++) {
		uint32_t at = found->id[i] - out->least;
		out->bits[at / 64] |= UINT64_C(1) << (at % 64);
	}
	return CHI_OK;
}

/* Looks one name up. */
static int find_ids(struct chi_tester *tester, const struct chi_archive_view *view,
		    enum chi_name_kind kind, chi_term_text text, struct chi_name_ids *found,
		    struct ids *out)
{
	const char *wanted = chi_term_text_of(tester->terms, text);
	int rc = chi_names_find(view->txn, view->trees.names, kind, wanted, found);
	if (rc == CHI_OK && found->n == 0) {
		tester->unknown[tester->n_unknown++] = wanted;
	}
	return rc == CHI_OK ? make_ids(found, out) : rc;
}

static int find_names(struct chi_tester *tester, const struct chi_archive_view *view, size_t i,
		      struct test *test)
{
	const struct chi_term *term = test->term;
	enum chi_name_kind kind = term->kind == CHI_TERM_PLAYER	 ? CHI_NAME_PLAYER
				  : term->kind == CHI_TERM_EVENT ? CHI_NAME_EVENT
				  : term->kind == CHI_TERM_SITE	 ? CHI_NAME_SITE
								 : CHI_NAME_SOURCE;
	int rc = find_ids(tester, view, kind, term->text, &tester->names[i][0], &test->ids);
	if (rc == CHI_OK && term->opponent != 0) {
		rc = find_ids(tester, view, kind, term->opponent, &tester->names[i][1],
			      &test->opponent);
	}
	return rc;
}

static bool is_name_term(const struct chi_term *term)
{
	return term->kind == CHI_TERM_PLAYER || term->kind == CHI_TERM_EVENT ||
	       term->kind == CHI_TERM_SITE || term->kind == CHI_TERM_SOURCE;
}

static bool is_column(const struct chi_term *term)
{
	return term->kind != CHI_TERM_POSITION && term->kind != CHI_TERM_MOVES &&
	       term->kind != CHI_TERM_GAMESET && term->kind != CHI_TERM_MOTIF;
}

int chi_tester_new(const struct chi_archive_view *view, const struct chi_terms *terms,
		   struct chi_tester **out)
{
	_cleanup_(freep) struct chi_tester *tester = calloc(1, sizeof(*tester));
	if (tester == NULL) {
		return -CHI_ENOMEM;
	}
	tester->terms = terms;
	for (size_t i = 0; i < terms->n; i++) {
		const struct chi_term *term = &terms->term[i];
		if (!is_column(term)) {
			continue;
		}
		struct test *test = &tester->tests[i];
		tester->n++;
		test->term = term;
		int rc = is_name_term(term) ? find_names(tester, view, i, test) : CHI_OK;
		if (rc < 0) {
			return rc;
		}
	}
	*out = tester;
	tester = NULL;
	return CHI_OK;
}

bool chi_tester_asks(const struct chi_tester *tester)
{
	return tester->n > 0;
}

bool chi_tester_has(const struct chi_tester *tester, size_t i)
{
	return tester->tests[i].term != NULL;
}

const char *chi_tester_unknown(const struct chi_tester *tester, size_t i)
{
	return i < tester->n_unknown ? tester->unknown[i] : NULL;
}

/* ---- Games of no store -------------------------------------------------------------------- */

int chi_unstored_parse(const char *text, struct chi_terms *out, struct chi_fault *fault)
{
	int rc = chi_terms_parse(text, strlen(text), out, fault);
	for (size_t i = 0; rc == CHI_OK && i < out->n; i++) {
		const struct chi_term *term = &out->term[i];
		if ((!is_column(term) && term->kind != CHI_TERM_MOTIF) ||
		    term->kind == CHI_TERM_NUMBER || term->kind == CHI_TERM_SOURCE) {
			rc = chi_fail(fault, -CHI_EINVAL,
				      "filter: %s cannot be asked of games in files",
				      chi_term_words[term->kind].name);
		}
	}
	const char *asked = rc == CHI_OK ? chi_terms_ask_store(out) : NULL;
	return asked == NULL ? rc
			     : chi_fail(fault, -CHI_EINVAL,
					"filter: %s cannot be asked of games in files", asked);
}

static bool name_fits(const struct chi_pgn_game *game, enum chi_pgn_tag tag, const char *wanted)
{
	static const enum chi_tag_code codes[CHI_PGN_TAGS] = {[CHI_PGN_EVENT] = CHI_TAG_EVENT,
							      [CHI_PGN_SITE] = CHI_TAG_SITE,
							      [CHI_PGN_WHITE] = CHI_TAG_WHITE,
							      [CHI_PGN_BLACK] = CHI_TAG_BLACK};
	const struct chi_pgn_span *value = &game->tags[tag];
	struct chi_name_words words;
	struct chi_name_words asked;
	const char *name = NULL;
	size_t len = 0;
	if (value->text == NULL) {
		return false;
	}
	chi_head_name(codes[tag], value->text, value->len, &name, &len);
	if (wanted[0] == '=') {
		return len > 0 && strlen(wanted + 1) == len && memcmp(wanted + 1, name, len) == 0;
	}
	chi_name_split(wanted, strlen(wanted), &asked);
	chi_name_split(name, len, &words);
	return tag == CHI_PGN_WHITE || tag == CHI_PGN_BLACK ? chi_player_fits_words(&asked, &words)
							    : chi_name_has_words(&asked, &words);
}

/* The numbers of names that the row below has: 1, but of Black 2. */
static struct ids fitting_ids(const struct chi_pgn_game *game, enum chi_term_kind kind,
			      const char *wanted)
{
	bool player = kind == CHI_TERM_PLAYER;
	bool one = name_fits(game,
			     player		      ? CHI_PGN_WHITE
			     : kind == CHI_TERM_EVENT ? CHI_PGN_EVENT
						      : CHI_PGN_SITE,
			     wanted);
	bool two = player && name_fits(game, CHI_PGN_BLACK, wanted);
	return (struct ids){.least = one ? 1 : 2, .span = one && two, .none = !one && !two};
}

static void read_head(const struct chi_pgn_game *game, bool opening, struct chi_game_head *out)
{
	static const struct {
		enum chi_pgn_tag tag;
		enum chi_tag_code code;
	} known[] = {
		{CHI_PGN_EVENT, CHI_TAG_EVENT},
		{CHI_PGN_DATE, CHI_TAG_DATE},
		{CHI_PGN_UTC_DATE, CHI_TAG_UTC_DATE},
		{CHI_PGN_WHITE_ELO, CHI_TAG_WHITE_ELO},
		{CHI_PGN_BLACK_ELO, CHI_TAG_BLACK_ELO},
		{CHI_PGN_WHITE_TITLE, CHI_TAG_WHITE_TITLE},
		{CHI_PGN_BLACK_TITLE, CHI_TAG_BLACK_TITLE},
		{CHI_PGN_TIME_CONTROL, CHI_TAG_TIME_CONTROL},
	};
	struct chi_tag tags[CHI_COUNT(known)];
	size_t n = 0;
	for (size_t i = 0; i < CHI_COUNT(known); i++) {
		const struct chi_pgn_span *value = &game->tags[known[i].tag];
		const char *name = chi_tag_name(known[i].code);
		if (value->text != NULL) {
			tags[n++] = (struct chi_tag){name, strlen(name), value->text, value->len};
		}
	}
	*out = (struct chi_game_head){.white = 1,
				      .black = 2,
				      .event = 1,
				      .site = 1,
				      .plies = (uint16_t)game->n_plies,
				      .result = (uint8_t)game->result};
	chi_head_read(tags, n, out);
	if (opening) {
		out->eco = chi_game_eco(game->positions, game->n_plies + 1);
	}
}

/* A game as a chunk of one row. */
struct chi_unstored {
	const struct chi_terms *terms;
	struct chi_motifs *motifs; /* NULL: there are none */
	bool asks_opening;
	const struct chi_pgn_game *game;
	struct chi_columns_chunk chunk;
	uint32_t has; /* of the game's motifs, those that it has */
};

int chi_unstored_new(const struct chi_terms *terms, struct chi_unstored **out,
		     struct chi_fault *fault)
{
	struct chi_unstored *own = calloc(1, sizeof(*own));
	int rc = CHI_OK;
	if (own == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	own->terms = terms;
	own->chunk.n = 1;
	for (size_t i = 0; i < terms->n; i++) {
		own->asks_opening |= terms->term[i].kind == CHI_TERM_ECO;
	}
	if (terms->n_moments > 0) {
		rc = chi_motifs_new(terms, &own->motifs, fault);
	}
	if (rc < 0) {
		free(own);
		return rc;
	}
	*out = own;
	return CHI_OK;
}

void chi_unstored_free(struct chi_unstored *own)
{
	if (own != NULL) {
		chi_motifs_free(own->motifs);
		free(own);
	}
}

static bool unstored_term_fits(const struct chi_unstored *own, const struct chi_term *term)
{
	struct test test = {.term = term};
	struct chi_hits hits = {0};
	if (is_name_term(term)) {
		test.ids = fitting_ids(own->game, term->kind,
				       chi_term_text_of(own->terms, term->text));
	}
	if (term->opponent != 0) {
		test.opponent = fitting_ids(own->game, term->kind,
					    chi_term_text_of(own->terms, term->opponent));
	}
	run_test(&own->chunk, &test, &hits);
	return (hits.words[0] & 1) != 0;
}

static bool unstored_node_fits(const struct chi_unstored *own, uint8_t at)
{
	const struct chi_term_node *node = &own->terms->nodes[at];
	if (node->op == CHI_NODE_LEAF) {
		const struct chi_term *term = &own->terms->term[node->left];
		bool fits = term->kind == CHI_TERM_MOTIF ? (own->has >> term->motif.number & 1) != 0
							 : unstored_term_fits(own, term);
		return fits != term->negated;
	}
	bool left = unstored_node_fits(own, node->left);
	return left != (node->op == CHI_NODE_AND) ? left : unstored_node_fits(own, node->right);
}

bool chi_unstored_fits(struct chi_unstored *own, const struct chi_pgn_game *game)
{
	static const uint8_t nothing[sizeof(uint32_t)];
	struct chi_game_head head;
	uint32_t row[CHI_COLUMNS];
	own->game = game;
	read_head(game, own->asks_opening, &head);
	chi_columns_row(&head, row);
	for (size_t i = 0; i < CHI_COLUMNS; i++) {
		own->chunk.columns[i] = (struct chi_column_span){.bytes = nothing, .base = row[i]};
	}
	if (own->motifs != NULL) {
		own->has =
			chi_motifs_played(own->motifs, game->positions, game->moves, game->n_plies);
	}
	return own->terms->n == 0 || unstored_node_fits(own, own->terms->root);
}
