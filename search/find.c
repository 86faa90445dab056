/* SPDX-License-Identifier: MIT */
/*
 * A scan of the position tree, of which a pattern leaves the most out. Games of what it finds are
 * collected as a set of numbers from the positions' lists; those that fit the filter are one, too,
 * made first.
 */
#include "search/find.h"

#include <pthread.h>
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
/* Rows of games in one call: each is played again. */
#define GAMES_A_CALL 64

struct chi_find {
	struct chi_find_spec spec;
	struct chi_read *read;
	struct chi_archive_view view;
	struct chi_wanted wanted;
	struct chi_terms terms;
	struct chi_among *fits;	   /* NULL: no filter */
	struct chi_scan *scan;	   /* NULL: detached, the positions up to */
	struct chi_cursor place;   /* this one are looked at */
	struct chi_numbers *found; /* games, if they are wanted */
	struct chi_columns_reader heads;
	struct chi_archive_reader *reader;
	bool searched;
	bool attached;		 /* to a later snapshot than the one that it began with */
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

static void find_closep(struct chi_find **find)
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
static int place_at(struct chi_find *find, const char *cursor, size_t len)
{
	uint8_t bytes[4];
	find->after = (struct chi_cursor){.set = false};
	find->last = 0;
	if (len == 0) {
		return CHI_OK;
	}
	if (!find->spec.games) {
		return chi_cursor_parse(cursor, len, &find->after);
	}
	if (len != 1 + 2 * sizeof(bytes) || cursor[0] != 'g' ||
	    chi_hex_parse(cursor + 1, len - 1, bytes) < 0) {
		return -CHI_EINVAL;
	}
	struct chi_reader reader = chi_reader_of(bytes, sizeof(bytes));
	find->last = (uint32_t)chi_read_le(&reader, sizeof(bytes));
	return CHI_OK;
}

static int read_cursor(struct chi_find *find, struct chi_fault *fault)
{
	const struct chi_find_spec *spec = &find->spec;
	if (place_at(find, spec->cursor, spec->cursor != NULL ? spec->cursor_len : 0) < 0) {
		return chi_fault(fault, -CHI_EINVAL, "cursor: not one that a find of %s gave",
				 spec->games ? "games" : "positions");
	}
	find->place = find->after;
	/* To count all, those before the cursor are looked at, too. */
	return spec->want_total && find->after.set
		       ? chi_fault(fault, -CHI_EINVAL,
				   "find: the total of positions is counted without a cursor")
		       : CHI_OK;
}

static int open_scan(struct chi_find *find, struct chi_fault *fault)
{
	const struct chi_scan_spec scan = {.chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION,
					   .want = CHI_WANT_COUNTS,
					   .after = find->place};
	int rc = chi_scan_open(find->read, &scan, &find->scan, fault);
	if (rc == CHI_OK) {
		chi_scan_sift(find->scan, is_wanted, &find->wanted);
	}
	return rc;
}

/* What the rows of games are read with. */
static int open_games(struct chi_find *find)
{
	if (!find->spec.games) {
		return CHI_OK;
	}
	int rc = find->found == NULL ? chi_numbers_new(&find->found) : CHI_OK;
	rc = rc == CHI_OK ? chi_columns_reader_init(&find->heads, find->view.txn,
						    find->view.trees.columns)
			  : rc;
	rc = rc == CHI_OK && find->reader == NULL ? chi_archive_reader_new(&find->reader) : rc;
	return rc == CHI_OK
		       ? chi_archive_reader_begin(find->reader, find->view.txn, &find->view.trees)
		       : rc;
}

/* All that is of one snapshot, but the games of the filter. */
static int open_snapshot(struct chi_find *find, struct chi_fault *fault)
{
	int rc = open_scan(find, fault);
	if (rc < 0) {
		return rc;
	}
	rc = chi_read_archive(find->read, &find->view);
	rc = rc == CHI_OK ? open_games(find) : rc;
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

int chi_find_open(struct chi_read *read, const struct chi_find_spec *spec, struct chi_find **out,
		  struct chi_fault *fault)
{
	_cleanup_(find_closep) struct chi_find *find = calloc(1, sizeof(*find));
	if (find == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	find->read = read;
	find->spec = *spec;
	int rc = read_pattern(find, spec->pattern, spec->pattern_len, fault);
	rc = rc == CHI_OK ? read_filter(find, fault) : rc;
	rc = rc == CHI_OK ? read_cursor(find, fault) : rc;
	rc = rc == CHI_OK ? open_snapshot(find, fault) : rc;
	if (rc < 0) {
		return rc;
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

/* Looks through the games of a position for one that fits the filter. */
static int look_at(struct chi_find *find, const struct chi_key *key, bool *fits)
{
	struct chi_reached *reached;
	const struct chi_posting *entries;
	size_t n;
	*fits = find->fits == NULL;
	if (*fits) {
		return CHI_OK;
	}
	int rc = chi_reached_open(find->read, key, 1, &reached);
	if (rc != CHI_OK) {
		return rc < 0 ? rc : CHI_OK;
	}
	while (!*fits && (rc = chi_reached_next(reached, &entries, &n)) == CHI_OK) {
		for (size_t i = 0; !*fits && i < n; i++) {
			*fits = chi_among_has(find->fits, entries[i].game);
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
static int search_rows(struct chi_find *find, struct chi_row *rows, size_t max, uint64_t steps,
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

/* ---- Several threads ---------------------------------------------------------------------- */

/* Numbers of games that a thread has found and not yet added to those of all. */
struct some {
	size_t n;
	uint32_t numbers[1024];
};

/* One look of all threads. */
struct looking {
	struct chi_find *find;
	struct some *some;    /* of each thread */
	pthread_mutex_t lock; /* for find->found */
};

/* One game that fits is enough. */
static int take_one(void *context, unsigned thread, const struct chi_posting *entries, size_t n)
{
	const struct looking *looking = context;
	(void)thread;
	for (size_t i = 0; i < n; i++) {
		if (chi_among_has(looking->find->fits, entries[i].game)) {
			return CHI_NONE;
		}
	}
	return CHI_OK;
}

static int add_some(struct looking *looking, struct some *some)
{
	int rc = CHI_OK;
	(void)pthread_mutex_lock(&looking->lock);
	for (size_t i = 0; rc == CHI_OK && i < some->n; i++) {
		rc = chi_numbers_add(looking->find->found, some->numbers[i]);
	}
	(void)pthread_mutex_unlock(&looking->lock);
	some->n = 0;
	return rc;
}

static int take_all(void *context, unsigned thread, const struct chi_posting *entries, size_t n)
{
	struct looking *looking = context;
	const struct chi_among *fits = looking->find->fits;
	struct some *some = &looking->some[thread];
	int rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		some->numbers[some->n] = entries[i].game;
		some->n += fits == NULL || chi_among_has(fits, entries[i].game);
		rc = some->n == CHI_COUNT(some->numbers) ? add_some(looking, some) : CHI_OK;
	}
	return rc;
}

static unsigned threads_of(const struct chi_find *find)
{
	unsigned threads = find->spec.threads;
	return threads < 1 ? 1 : threads > CHI_FIND_THREADS_MAX ? CHI_FIND_THREADS_MAX : threads;
}

/* Positions that are not delivered: they are counted, and their games are found. CHI_NONE: there
 * are no more. */
static int count_rows(struct chi_find *find, uint64_t steps)
{
	_cleanup_(chi_freep) struct some *some = NULL;
	struct looking looking = {.find = find};
	struct chi_reach_spec spec = {.threads = threads_of(find), .context = &looking};
	if (find->spec.games) {
		some = calloc(spec.threads, sizeof(*some));
		if (some == NULL) {
			return -CHI_ENOMEM;
		}
		looking.some = some;
		spec.take = take_all;
	} else if (find->fits != NULL) {
		spec.take = take_one;
	}
	(void)pthread_mutex_init(&looking.lock, NULL);
	int rc = chi_scan_reach(find->scan, &spec, entries_of(steps), &find->total);
	for (unsigned i = 0; some != NULL && rc >= 0 && i < spec.threads; i++) {
		int added = add_some(&looking, &some[i]);
		rc = added < 0 ? added : rc;
	}
	(void)pthread_mutex_destroy(&looking.lock);
	find->searched |= rc == CHI_NONE;
	return rc;
}

/* ---- Positions ---------------------------------------------------------------------------- */

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
		find->rc = counts ? count_rows(find, steps) : CHI_NONE;
		return find->rc;
	}
	uint64_t left = find->spec.limit != 0 ? find->spec.limit - find->rows : UINT64_MAX;
	find->rc = search_rows(find, rows, left < max ? (size_t)left : max, steps, n);
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

/* CHI_NONE: it has gone since it was found in an earlier snapshot. */
static int take_game(struct chi_find *find, uint32_t number, struct chi_games_row *row)
{
	*row = (struct chi_games_row){.ply = -1};
	int rc = chi_columns_read(&find->heads, number, &row->head);
	rc = rc == CHI_OK ? chi_replay_pattern(find->reader, number, &find->wanted, &row->ply,
					       &row->move)
			  : rc;
	find->last = number;
	find->rows += rc == CHI_OK;
	return rc == CHI_NONE && !find->attached ? -CHI_ECORRUPT : rc;
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
		rc = count_rows(find, steps);
		find->total = find->searched ? chi_numbers_count(find->found) : 0;
	}
	if (rc < 0 || !find->searched) {
		return rc < 0 ? find->rc = rc : CHI_OK;
	}
	uint32_t number = 0;
	rc = CHI_OK;
	for (size_t i = 0; rc == CHI_OK && *n < max && i < GAMES_A_CALL; i++) {
		if (is_full(find) || find->last == UINT32_MAX ||
		    !chi_numbers_next(find->found, find->last + 1, &number)) {
			rc = CHI_NONE;
		} else {
			rc = take_game(find, number, &rows[*n]);
			*n += rc == CHI_OK;
			rc = rc < 0 ? rc : CHI_OK;
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
	uint64_t left = !find->searched ? chi_scan_left(find->scan, &all) : 0;
	return all == 0 ? 1000 : (unsigned)((all - left) * 1000 / all);
}

size_t chi_find_game_cursor(uint32_t number, char out[CHI_FIND_CURSOR_SIZE])
{
	uint8_t bytes[4];
	struct chi_writer writer = chi_writer_of(bytes, sizeof(bytes));
	chi_write_le(&writer, number, sizeof(bytes));
	out[0] = 'g';
	chi_hex_print(bytes, sizeof(bytes), out + 1);
	return 1 + 2 * sizeof(bytes);
}

size_t chi_find_cursor(const struct chi_find *find, char out[CHI_FIND_CURSOR_SIZE])
{
	if (!find->spec.games) {
		return chi_cursor_print(&find->after, out);
	}
	out[0] = '\0';
	return find->last != 0 ? chi_find_game_cursor(find->last, out) : 0;
}

/* ---- Another snapshot --------------------------------------------------------------------- */

void chi_find_detach(struct chi_find *find)
{
	if (find->scan != NULL) {
		chi_scan_where(find->scan, &find->place);
		chi_scan_close(find->scan);
		find->scan = NULL;
	}
	if (find->fits != NULL) {
		chi_among_detach(find->fits);
	}
	chi_columns_reader_deinit(&find->heads);
	if (find->reader != NULL) {
		chi_archive_reader_end(find->reader);
	}
}

int chi_find_attach(struct chi_find *find, struct chi_read *read, struct chi_fault *fault)
{
	find->read = read;
	find->attached = true;
	int rc = find->fits != NULL ? chi_among_attach(find->fits, read, fault) : CHI_OK;
	return rc < 0 ? rc : open_snapshot(find, fault);
}

bool chi_find_may_detach(const struct chi_find *find)
{
	return find->fits == NULL || chi_among_may_detach(find->fits);
}

/* What was counted after the last row is counted again. */
void chi_find_rewind(struct chi_find *find, uint64_t n, const char *cursor)
{
	(void)place_at(find, cursor, strlen(cursor));
	find->rows -= n;
	find->rc = CHI_OK;
	if (!find->spec.games) {
		find->place = find->after;
		find->total = find->rows;
		find->searched = false;
	}
}

size_t chi_find_memory(const struct chi_find *find)
{
	return sizeof(*find) + (find->scan != NULL ? chi_scan_memory(find->scan) : 0) +
	       (find->fits != NULL ? chi_among_memory(find->fits) : 0) +
	       (find->found != NULL ? chi_numbers_memory(find->found) : 0) +
	       (find->reader != NULL ? CHI_ARCHIVE_READER_BYTES : 0);
}

const char *chi_find_unknown(const struct chi_find *find, size_t i)
{
	return find->fits != NULL ? chi_among_unknown(find->fits, i) : NULL;
}
