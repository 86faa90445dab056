/* SPDX-License-Identifier: MIT */
/*
 * A scan of the position tree, of which a pattern leaves the most out. Games of what it finds are
 * collected as a set of numbers from the positions' lists; those that fit the filter are one, too,
 * made first.
 */
#include "search/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "base/wire.h"
#include "search/among.h"
#include "search/filter/numbers.h"
#include "search/filter/replay.h"
#include "search/filter/terms.h"

#define POSITIONS_A_STEP 100
#define ROWS		 64

struct chi_find {
	struct chi_find_spec spec;
	struct chi_read *read;
	struct chi_archive_view view;
	struct chi_wanted wanted;
	struct chi_terms terms;
	struct chi_among *fits; /* NULL: no filter */
	struct chi_scan *scan;
	struct chi_numbers *found; /* games, if they are wanted */
	struct chi_columns_reader heads;
	struct chi_archive_reader *reader;
	bool searched;
	struct chi_cursor after; /* of the position delivered last */
	uint32_t last;		 /* game delivered */
	uint64_t rows;
	uint64_t total;
	int rc;
};

void chi_find_close(struct chi_find *find)
{
	if (find != NULL) {
		chi_scan_close(find->scan);
		chi_among_close(find->fits);
		chi_numbers_free(find->found);
		chi_columns_reader_deinit(&find->heads);
		chi_archive_reader_free(find->reader);
		free(find);
	}
}

static void closep(struct chi_find **find)
{
	chi_find_close(*find);
}

static bool is_wanted(const void *context, const uint8_t *key)
{
	return chi_wanted_fits(context, key);
}

/* ---- Opening ------------------------------------------------------------------------------ */

/* A text of conditions alone, as a filter has them. */
static int read_pattern(struct chi_find *find, const char *text, size_t len,
			struct chi_fault *fault)
{
	struct chi_terms *terms = &find->terms;
	struct chi_fault why = {.text = ""};
	int rc = chi_terms_parse(text != NULL ? text : "", len, terms, &why);
	if (rc < 0) {
		/* It begins with "filter", which is another text here. */
		return chi_fault(fault, rc, "pattern%s", why.text + strcspn(why.text, ",:"));
	}
	const struct chi_term all = {.kind = CHI_TERM_PATTERN};
	const struct chi_term *term = terms->n > 0 ? &terms->term[0] : &all;
	if (terms->n > 1 || term->kind != CHI_TERM_PATTERN || term->negated) {
		return chi_fault(fault, -CHI_EINVAL,
				 "pattern: conditions of one pattern are possible, and no terms of "
				 "a filter");
	}
	rc = chi_wanted_init(terms, term, &find->wanted);
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

static int read_filter(struct chi_find *find, struct chi_fault *fault)
{
	const struct chi_find_spec *spec = &find->spec;
	const char *filter = spec->filter != NULL ? spec->filter : "";
	int rc = chi_terms_parse(filter, spec->filter_len, &find->terms, fault);
	return rc < 0 || find->terms.n == 0
		       ? rc
		       : chi_among_open(find->read, filter, spec->filter_len, &find->fits, fault);
}

/* Of positions the scan's own; of games 'g' and the number. */
static int read_cursor(struct chi_find *find, struct chi_fault *fault)
{
	const struct chi_find_spec *spec = &find->spec;
	uint8_t bytes[4];
	int rc = CHI_OK;
	if (spec->cursor == NULL || spec->cursor_len == 0) {
		return CHI_OK;
	}
	if (!spec->games) {
		rc = chi_cursor_parse(spec->cursor, spec->cursor_len, &find->after);
	} else if (spec->cursor_len != 1 + 2 * sizeof(bytes) || spec->cursor[0] != 'g' ||
		   chi_hex_parse(spec->cursor + 1, spec->cursor_len - 1, bytes) < 0) {
		rc = -CHI_EINVAL;
	} else {
		struct chi_reader reader = chi_reader_of(bytes, sizeof(bytes));
		find->last = (uint32_t)chi_read_le(&reader, sizeof(bytes));
	}
	return rc < 0 ? chi_fault(fault, -CHI_EINVAL, "cursor: not one that a find of %s gave",
				  spec->games ? "games" : "positions")
		      : CHI_OK;
}

static int open_scan(struct chi_find *find, struct chi_fault *fault)
{
	const struct chi_find_spec *spec = &find->spec;
	struct chi_scan_spec scan = {
		.chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION, .want = CHI_WANT_COUNTS};
	int rc = read_cursor(find, fault);
	scan.after = find->after;
	/* To count all, those before the cursor are looked at, too. */
	if (rc == CHI_OK && spec->want_total && scan.after.set && !spec->resumes) {
		return chi_fault(fault, -CHI_EINVAL,
				 "find: the total of positions is counted without a cursor");
	}
	rc = rc == CHI_OK ? chi_scan_open(find->read, &scan, &find->scan, fault) : rc;
	if (rc == CHI_OK) {
		chi_scan_sift(find->scan, is_wanted, &find->wanted);
	}
	return rc;
}

static int open_games(struct chi_find *find)
{
	if (!find->spec.games) {
		return CHI_OK;
	}
	int rc = chi_numbers_new(&find->found);
	rc = rc == CHI_OK ? chi_columns_reader_init(&find->heads, find->view.txn,
						    find->view.trees.columns)
			  : rc;
	rc = rc == CHI_OK ? chi_archive_reader_new(&find->reader) : rc;
	return rc == CHI_OK
		       ? chi_archive_reader_begin(find->reader, find->view.txn, &find->view.trees)
		       : rc;
}

int chi_find_open(struct chi_read *read, const struct chi_find_spec *spec, struct chi_find **out,
		  struct chi_fault *fault)
{
	_cleanup_(closep) struct chi_find *find = calloc(1, sizeof(*find));
	if (find == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	find->read = read;
	find->spec = *spec;
	find->total = spec->before;
	int rc = read_pattern(find, spec->pattern, spec->pattern_len, fault);
	rc = rc == CHI_OK ? read_filter(find, fault) : rc;
	rc = rc == CHI_OK ? open_scan(find, fault) : rc;
	if (rc < 0) {
		return rc;
	}
	rc = chi_read_archive(read, &find->view);
	rc = rc == CHI_OK ? open_games(find) : rc;
	if (rc < 0) {
		return chi_fault_plain(fault, rc);
	}
	find->spec.pattern = NULL;
	find->spec.filter = NULL;
	find->spec.cursor = NULL;
	*out = find;
	find = NULL;
	return CHI_OK;
}

/* ---- Searching ---------------------------------------------------------------------------- */

/* All games that fit the filter. CHI_NONE: the steps are used up. */
static int prepare(struct chi_find *find, uint64_t *steps)
{
	int rc = find->fits != NULL ? chi_among_step(find->fits, steps) : CHI_NONE;
	return rc < 0 ? rc : rc == CHI_NONE ? CHI_OK : CHI_NONE;
}

/* Looks through the games of a position for those that fit: one is enough, unless they are wanted.
 */
static int look_at(struct chi_find *find, const struct chi_key *key, bool *fits)
{
	struct chi_reached *reached;
	const struct chi_posting *entries;
	size_t n;
	*fits = find->fits == NULL;
	if (*fits && find->found == NULL) {
		return CHI_OK;
	}
	int rc = chi_reached_open(find->read, key, 1, &reached);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : CHI_OK;
	}
	while (rc == CHI_OK && (find->found != NULL || !*fits) &&
	       (rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		for (size_t i = 0; rc == CHI_OK && i < n; i++) {
			bool is = find->fits == NULL || chi_among_has(find->fits, entries[i].game);
			*fits |= is;
			if (is && find->found != NULL) {
				rc = chi_numbers_add(find->found, entries[i].game);
			}
		}
	}
	chi_reached_close(reached);
	return rc < 0 ? rc : CHI_OK;
}

static uint64_t entries_of(uint64_t steps)
{
	return steps < UINT64_MAX / POSITIONS_A_STEP ? steps * POSITIONS_A_STEP : UINT64_MAX;
}

/* Up to `max` positions that fit. CHI_NONE: there are no more. */
static int search(struct chi_find *find, struct chi_row *rows, size_t max, uint64_t steps,
		  size_t *n)
{
	size_t some = 0;
	*n = 0;
	int rc = chi_scan_rows(find->scan, rows, max, entries_of(steps), &some);
	for (size_t i = 0; rc >= 0 && i < some; i++) {
		bool fits = false;
		int looked = look_at(find, &rows[i].key, &fits);
		rows[*n] = rows[i];
		*n += fits;
		rc = looked < 0 ? looked : rc;
	}
	find->searched |= rc == CHI_NONE;
	return rc;
}

/* Of nothing but positions, all at once, by several threads. */
static bool counts_at_once(const struct chi_find *find)
{
	return find->spec.threads > 1 && find->spec.only_count && find->fits == NULL &&
	       !find->spec.games;
}

/* Positions after the last one wanted, which are only counted. */
static int count(struct chi_find *find, uint64_t steps)
{
	struct chi_row rows[ROWS];
	size_t n = 0;
	int rc = CHI_OK;
	if (counts_at_once(find)) {
		rc = chi_scan_count_all(find->scan, find->spec.threads, &find->total);
	} else if (find->fits == NULL && !find->spec.games) {
		rc = chi_scan_count(find->scan, entries_of(steps), &find->total);
	} else {
		rc = search(find, rows, ROWS, steps, &n);
		find->total += n;
	}
	find->searched |= rc == CHI_NONE;
	return rc;
}

static bool is_full(const struct chi_find *find)
{
	return find->spec.only_count || (find->spec.limit != 0 && find->rows == find->spec.limit);
}

int chi_find_positions(struct chi_find *find, struct chi_row *rows, size_t max, uint64_t steps,
		       size_t *n)
{
	*n = 0;
	if (find->rc != CHI_OK || find->spec.games) {
		return find->rc != CHI_OK ? find->rc : -CHI_EINVAL;
	}
	int rc = prepare(find, &steps);
	if (rc != CHI_OK || steps == 0) {
		return rc < 0 ? find->rc = rc : CHI_OK;
	}
	if (is_full(find)) {
		bool counts = find->spec.only_count || find->spec.want_total;
		find->rc = counts ? count(find, steps) : CHI_NONE;
		return find->rc;
	}
	uint64_t left = find->spec.limit != 0 ? find->spec.limit - find->rows : UINT64_MAX;
	find->rc = search(find, rows, left < max ? (size_t)left : max, steps, n);
	find->rows += *n;
	find->total += *n;
	if (*n > 0) {
		const struct chi_row *last = &rows[*n - 1];
		find->after = (struct chi_cursor){true, last->chi2, last->key};
	}
	if (find->rc == CHI_OK && is_full(find) && !find->spec.want_total) {
		find->rc = CHI_NONE;
	}
	return find->rc;
}

/* ---- Games -------------------------------------------------------------------------------- */

static int take_game(struct chi_find *find, uint32_t number, struct chi_games_row *row)
{
	*row = (struct chi_games_row){.ply = -1};
	int rc = chi_columns_read(&find->heads, number, &row->head);
	rc = rc == CHI_OK ? chi_replay_pattern(find->reader, number, &find->wanted, &row->ply) : rc;
	find->last = number;
	find->rows++;
	return rc == CHI_NONE ? -CHI_ECORRUPT : rc;
}

int chi_find_games(struct chi_find *find, struct chi_games_row *rows, size_t max, uint64_t steps,
		   size_t *n)
{
	*n = 0;
	if (find->rc != CHI_OK || !find->spec.games) {
		return find->rc != CHI_OK ? find->rc : -CHI_EINVAL;
	}
	int rc = prepare(find, &steps);
	if (rc == CHI_OK && steps > 0 && !find->searched) {
		rc = count(find, steps);
		find->total = find->searched ? chi_numbers_count(find->found) : 0;
	}
	if (rc < 0 || !find->searched) {
		return rc < 0 ? find->rc = rc : CHI_OK;
	}
	uint32_t number = 0;
	rc = CHI_OK;
	while (rc == CHI_OK && *n < max) {
		if (is_full(find) || find->last == UINT32_MAX ||
		    !chi_numbers_next(find->found, find->last + 1, &number)) {
			rc = CHI_NONE;
		} else {
			rc = take_game(find, number, &rows[*n]);
			*n += rc == CHI_OK;
		}
	}
	find->rc = rc;
	return rc;
}

bool chi_find_total(const struct chi_find *find, uint64_t *total)
{
	*total = find->total;
	return find->searched;
}

unsigned chi_find_progress(const struct chi_find *find)
{
	uint64_t all = 0;
	uint64_t left = chi_scan_left(find->scan, &all);
	return find->searched || all == 0 ? 1000 : (unsigned)((all - left) * 1000 / all);
}

size_t chi_find_cursor(const struct chi_find *find, char out[CHI_FIND_CURSOR_SIZE])
{
	uint8_t bytes[4];
	struct chi_writer writer = chi_writer_of(bytes, sizeof(bytes));
	if (!find->spec.games) {
		return chi_cursor_print(&find->after, out);
	}
	if (find->last == 0) {
		out[0] = '\0';
		return 0;
	}
	chi_write_le(&writer, find->last, sizeof(bytes));
	out[0] = 'g';
	chi_hex_print(bytes, sizeof(bytes), out + 1);
	return 1 + 2 * sizeof(bytes);
}

void chi_find_rest(const struct chi_find *find, struct chi_find_spec *spec,
		   char cursor[CHI_FIND_CURSOR_SIZE])
{
	struct chi_cursor place;
	if (find->spec.games) {
		spec->cursor_len = chi_find_cursor(find, cursor);
	} else {
		chi_scan_where(find->scan, &place);
		spec->cursor_len = chi_cursor_print(&place, cursor);
		spec->resumes = true;
		spec->before = find->total;
	}
	cursor[spec->cursor_len] = '\0';
	spec->cursor = cursor;
	/* No limit is another thing than none left. */
	if (spec->limit != 0 && find->rows == spec->limit) {
		spec->only_count = true;
	} else if (spec->limit != 0) {
		spec->limit -= find->rows;
	}
}
