/* SPDX-License-Identifier: MIT */
/* Scans: rows of positions, or their records; and counts. With a filter of games its games are
 * looked for first. */
#include "ops/scan.h"

#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "chess/material.h"
#include "ops/queries.h"
#include "proto/msg.h"
#include "search/among.h"
#include "search/footprint.h"
#include "store/archive.h"
#include "store/store.h"

/* Entries between two looks at the clock. With a filter of games each is a position's list of
 * games, which may have a million. */
#define STEPS	     500
#define STEPS_JUDGED 16

/* Rows made at once in this process. Records may be large. */
#define AHEAD	      512
#define AHEAD_RECORDS 16

#define RECORDS_A_STEP 16

static struct chi_scan_query *scan_of(struct chi_query *query)
{
	return (struct chi_scan_query *)query;
}

static const struct chi_scan_query *const_scan_of(const struct chi_query *query)
{
	return (const struct chi_scan_query *)query;
}

bool chi_scan_shows(const void *pattern, const uint8_t *key)
{
	return chi_motif_fits(pattern, key);
}

static bool has_text(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static int parse_pattern(const char *text, struct chi_arena *arena, const struct chi_motif **out,
			 struct chi_fault *fault)
{
	_cleanup_(chi_freep) struct chi_motif *line = NULL;
	int rc = chi_motif_parse(text, &line, fault);
	if (rc < 0) {
		return rc;
	}
	void *copy = chi_arena_alloc(arena, chi_motif_size(line));
	if (copy == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(copy, line, chi_motif_size(line));
	*out = copy;
	return CHI_OK;
}

int chi_scan_asked(const struct chi_scan_request *request, struct chi_arena *arena,
		   struct chi_scan_spec *out, const struct chi_motif **pattern, const char **field,
		   struct chi_fault *fault)
{
	const char *material = request->material;
	int status = CHI_OK;
	*out = request->spec;
	*pattern = NULL;
	out->games = has_text(out->games) ? out->games : NULL;
	out->pattern = has_text(out->pattern) ? out->pattern : NULL;
	*field = "filter.material";
	if (has_text(material)) {
		status = chi_material_parse(material, strlen(material), &out->filter.material,
					    fault);
		out->filter.has_material = true;
	}
	if (status == CHI_OK) {
		*field = "";
		status = chi_scan_check(out, fault);
	}
	if (status == CHI_OK) {
		status = chi_query_filter(out->games, field, fault);
		*field = "games";
	}
	if (status == CHI_OK && out->pattern != NULL) {
		*field = "pattern";
		status = parse_pattern(out->pattern, arena, pattern, fault);
	}
	return status;
}

static int open_scan(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	struct chi_scan_query *scan = scan_of(query);
	struct chi_scan_spec *spec = &scan->spec;
	int status =
		chi_scan_asked(query->request, &query->arena, spec, &scan->pattern, field, fault);
	scan->left = spec->limit;
	scan->sent = spec->after;
	query->ahead = spec->want == CHI_WANT_RECORDS ? AHEAD_RECORDS : AHEAD;
	query->steps = spec->games != NULL ? STEPS_JUDGED : query->steps;
	return status;
}

/* ---- Snapshots --------------------------------------------------------------------------- */

/* A sorted scan that has all its rows. */
static bool is_collected(const struct chi_scan_query *scan)
{
	return scan->scan != NULL && chi_scan_collected(scan->scan);
}

/* A sorted scan goes on with the rows that it has, if it has all; else it begins again. */
static void detach_scan(struct chi_query *query)
{
	struct chi_scan_query *scan = scan_of(query);
	if (scan->scan != NULL && !is_collected(scan)) {
		chi_scan_where(scan->scan, &scan->spec.after);
		scan->spec.limit = scan->left;
		scan->has_sequence = scan->has_sequence && scan->spec.sort == CHI_SORT_NONE;
		chi_scan_free(scan->scan);
		scan->scan = NULL;
	}
	if (scan->among != NULL) {
		chi_among_detach(scan->among);
	}
}

/* A sorted one does not give its snapshot up while it collects. */
static bool scan_may_detach(const struct chi_query *query)
{
	const struct chi_scan_query *scan = const_scan_of(query);
	return (scan->among == NULL || chi_among_may_detach(scan->among)) &&
	       (scan->spec.sort == CHI_SORT_NONE || is_collected(scan));
}

/* The games of the filter, which are kept once they are all found: of later snapshots too. */
static int attach_among(struct chi_scan_query *scan, struct chi_fault *fault)
{
	struct chi_read *read = scan->query.read;
	const char *games = scan->spec.games;
	if (games == NULL) {
		return CHI_OK;
	}
	return scan->among != NULL
		       ? chi_among_attach(scan->among, read, fault)
		       : chi_among_open(read, games, strlen(games), &scan->among, fault);
}

/* What the games reached, if they were all played. */
static void give_keys(struct chi_scan_query *scan)
{
	size_t n = 0;
	const uint8_t *keys =
		scan->footprint != NULL ? chi_footprint_keys(scan->footprint, &n) : NULL;
	if (keys != NULL) {
		chi_scan_given(scan->scan, keys, n);
	}
}

/* The scan goes on where it stood, on the state of now. Two snapshots of the same sequence
 * number show the same, so only another number makes the result a mixed one. */
static int attach_scan(struct chi_query *query, struct chi_fault *fault)
{
	struct chi_scan_query *scan = scan_of(query);
	uint64_t sequence = chi_read_sequence(query->read);
	bool needed = !is_collected(scan) || scan->spec.want == CHI_WANT_RECORDS;
	scan->mixed = scan->mixed || (scan->has_sequence && sequence != scan->sequence && needed);
	scan->sequence = scan->has_sequence ? scan->sequence : sequence;
	scan->has_sequence = true;
	chi_read_see(query->read, &scan->spec.filter.evidence);
	if (scan->scan != NULL) {
		chi_scan_attach(scan->scan, query->read);
		return CHI_OK;
	}
	int status = attach_among(scan, fault);
	status = status == CHI_OK ? chi_read_scan(query->read, &scan->spec, &scan->scan, fault)
				  : status;
	if (status == CHI_OK && scan->among != NULL && !scan->reaches) {
		chi_among_judge(scan->among, scan->scan, scan->spec.whole_counts);
	}
	if (status == CHI_OK && scan->pattern != NULL) {
		struct chi_mask_wants masks;
		chi_motif_masks_of(scan->pattern, &masks);
		chi_scan_sift(scan->scan, chi_scan_shows, &masks, scan->pattern);
	}
	if (status == CHI_OK) {
		give_keys(scan);
	}
	return status;
}

/* The order of the walk does not matter, or is that of keys; and it does not end early, or in a
 * narrow band. */
static bool takes_keys(const struct chi_scan_query *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	bool whole = spec->chi2_min == 0 && spec->chi2_max == CHI_CHI2_MAX;
	bool any_order =
		spec->sort != CHI_SORT_NONE || scan->counts ||
		(spec->order == CHI_ORDER_POSITION && !spec->descending && spec->limit == 0);
	return whole && any_order;
}

/* Positions of few games are found by playing these. Whatever is wrong with that, a walk finds
 * them too. */
static int find_positions(struct chi_scan_query *scan, uint64_t *steps)
{
	uint64_t positions = 0;
	uint32_t most = scan->query.threads > 0 ? CHI_FOOTPRINT_MAX : CHI_FOOTPRINT_SERVED_MAX;
	int rc = CHI_OK;
	(void)chi_scan_left(scan->scan, &positions);
	scan->walks = scan->walks || !takes_keys(scan) ||
		      !chi_footprint_pays(scan->among, positions, most);
	if (!scan->walks && scan->footprint == NULL) {
		rc = chi_footprint_new(scan->among, most, &scan->footprint);
	}
	if (!scan->walks && rc == CHI_OK) {
		rc = chi_footprint_step(scan->footprint, scan->query.read, steps);
	}
	if (rc < 0) {
		chi_footprint_free(scan->footprint);
		scan->footprint = NULL;
		scan->walks = true;
	}
	if (scan->walks || rc != CHI_NONE) {
		return scan->walks ? CHI_NONE : rc;
	}
	if (scan->reaches) {
		chi_among_judge(scan->among, scan->scan, false);
		scan->reaches = false;
	}
	give_keys(scan);
	return CHI_NONE;
}

/* Looks for the games, and where they were. */
static int find_games(struct chi_query *query, struct chi_fault *fault)
{
	struct chi_scan_query *scan = scan_of(query);
	uint64_t steps = query->steps / 4;
	(void)fault;
	int rc = scan->among != NULL ? chi_among_step(scan->among, &steps) : CHI_NONE;
	return rc == CHI_NONE && scan->among != NULL ? find_positions(scan, &steps) : rc;
}

/* ---- Rows -------------------------------------------------------------------------------- */

static size_t row_size(const void *request)
{
	const struct chi_scan_request *asked = request;
	return asked->spec.want == CHI_WANT_RECORDS ? sizeof(struct chi_entry)
						    : sizeof(struct chi_row);
}

/* One record, or none if the steps were used up before one matched. */
static int read_entry(struct chi_scan_query *scan, struct chi_page *page, uint64_t steps)
{
	struct chi_entry *entry = &page->entries[page->n];
	struct chi_row row;
	bool got = false;
	*entry = (struct chi_entry){.found = true};
	int status = chi_scan_record(scan->scan, steps, &page->arena, &row, &entry->record, &got);
	if (status == CHI_OK && got) {
		entry->key = row.key;
		page->bytes += page->list != NULL ? chi_entry_size(entry) : 0;
		page->n++;
	}
	return status;
}

/* Records, each one's search with its share of the steps. */
static int read_entries(struct chi_scan_query *scan, struct chi_page *page)
{
	uint64_t steps = scan->query.steps / RECORDS_A_STEP + 1;
	int status = CHI_OK;
	for (unsigned i = 0; i < RECORDS_A_STEP && status == CHI_OK && page->n < page->capacity &&
			     !chi_page_full(page);
	     i++) {
		status = read_entry(scan, page, steps);
	}
	return status;
}

static int read_rows(struct chi_scan_query *scan, struct chi_page *page)
{
	size_t got = 0;
	int status = chi_scan_rows(scan->scan, page->rows + page->n, page->capacity - page->n,
				   scan->query.steps, &got);
	page->n += got;
	return status;
}

/* A scan opened again must deliver the rest only; the store never exceeds it. */
static int send_scan(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct chi_scan_query *scan = scan_of(query);
	size_t before = page->n;
	(void)fault;
	int status = chi_page_grow(page);
	if (status < 0) {
		return status;
	}
	status = scan->spec.want == CHI_WANT_RECORDS ? read_entries(scan, page)
						     : read_rows(scan, page);
	if (before == 0 && page->n > 0 && page->list != NULL) {
		page->since = chi_now_ms();
	}
	if (scan->spec.limit > 0) {
		scan->left -= page->n - before;
		status = status == CHI_OK && scan->left == 0 ? CHI_NONE : status;
	}
	return status;
}

/* The cursor is after the last row of the page. */
static void deliver_scan(struct chi_query *query, const struct chi_page *page, bool last,
			 void *result)
{
	struct chi_scan_query *scan = scan_of(query);
	struct chi_scan_page *out = result;
	(void)page;
	out->want = (enum chi_want)scan->spec.want;
	out->mixed = last && scan->mixed;
	chi_scan_where(scan->scan, &out->cursor);
	scan->sent = out->cursor;
}

/* Rows that were sorted are not found again. */
static bool scan_may_forget(const struct chi_query *query)
{
	return const_scan_of(query)->spec.sort == CHI_SORT_NONE;
}

static void forget_scan(struct chi_query *query, const struct chi_page *page)
{
	struct chi_scan_query *scan = scan_of(query);
	scan->left += scan->spec.limit > 0 ? page->n : 0;
	scan->spec.limit = scan->left;
	scan->spec.after = scan->sent;
}

/* A limit of 0 would be none: where all rows are delivered one is asked for. No cursor goes on
 * after the rows of a sorted scan. */
static int resume_scan(void *request, const void *last, size_t n, char cursor[CHI_CURSOR_SIZE])
{
	struct chi_scan_spec *spec = &((struct chi_scan_request *)request)->spec;
	bool records = spec->want == CHI_WANT_RECORDS;
	const struct chi_row *row = last;
	const struct chi_entry *entry = last;
	bool full = spec->limit > 0 && spec->limit <= n;
	(void)cursor;
	if (spec->sort != CHI_SORT_NONE) {
		return -CHI_EUNSUPPORTED;
	}
	spec->after = (struct chi_cursor){
		.set = true,
		.chi2 = records ? entry->record.chi2 : row->chi2,
		.key = records ? entry->key : row->key,
	};
	spec->limit = full ? 1 : spec->limit > 0 ? spec->limit - n : 0;
	return full ? CHI_NONE : CHI_OK;
}

static uint64_t limit_of_scan(const void *request)
{
	return ((const struct chi_scan_request *)request)->spec.limit;
}

static size_t memory_of_scan(const struct chi_query *query)
{
	const struct chi_scan_query *scan = const_scan_of(query);
	return (scan->among != NULL ? chi_among_memory(scan->among) : 0) +
	       (scan->footprint != NULL ? chi_footprint_memory(scan->footprint) : 0) +
	       (scan->scan != NULL ? chi_scan_memory(scan->scan) : 0);
}

static unsigned progress_of_scan(const struct chi_query *query)
{
	const struct chi_scan_query *scan = const_scan_of(query);
	uint64_t all = 0;
	uint64_t left = scan->scan != NULL ? chi_scan_left(scan->scan, &all) : 0;
	return all == 0 ? 0 : (unsigned)((all - left) * 1000 / all);
}

static const char *unknown_in_scan(const struct chi_query *query, size_t i)
{
	const struct chi_among *among = const_scan_of(query)->among;
	return among != NULL ? chi_among_unknown(among, i) : NULL;
}

static void close_scan(struct chi_query *query)
{
	chi_scan_free(scan_of(query)->scan);
	chi_footprint_free(scan_of(query)->footprint);
	chi_among_close(scan_of(query)->among);
}

const struct chi_query_ops chi_scan_ops = {
	.size = sizeof(struct chi_scan_query),
	.steps = STEPS,
	.open = open_scan,
	.attach = attach_scan,
	.detach = detach_scan,
	.may_detach = scan_may_detach,
	.work = find_games,
	.row_size = row_size,
	.rows = send_scan,
	.deliver = deliver_scan,
	.may_forget = scan_may_forget,
	.forget = forget_scan,
	.resume = resume_scan,
	.limit = limit_of_scan,
	.memory = memory_of_scan,
	.progress = progress_of_scan,
	.unknown = unknown_in_scan,
	.close = close_scan,
};

/* ---- Counts ------------------------------------------------------------------------------ */

/* Goes through the band forwards; where all positions must be looked at, and no filter goes by the
 * counts of the games that count, in the order of keys. */
static int open_count(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	int status = open_scan(query, field, fault);
	struct chi_scan_spec *spec = &scan_of(query)->spec;
	bool goes_by_counts = spec->filter.games_min > 0 || spec->filter.score.set;
	scan_of(query)->counts = true;
	spec->want = CHI_WANT_KEYS;
	spec->whole_counts = false;
	scan_of(query)->reaches = spec->chi2_min == 0 && spec->chi2_max == CHI_CHI2_MAX &&
				  (spec->games != NULL ? !goes_by_counts : spec->pattern != NULL);
	if (scan_of(query)->reaches) {
		spec->order = CHI_ORDER_POSITION;
		spec->want = CHI_WANT_COUNTS;
	}
	return status;
}

static int reach_some(struct chi_scan_query *scan)
{
	unsigned threads = scan->query.threads;
	const struct chi_reach_spec spec = {.threads = threads > 0 ? threads : 1,
					    .take = scan->among != NULL ? chi_among_met : NULL,
					    .context = scan->among};
	return chi_scan_reach(scan->scan, &spec, scan->query.steps, &scan->count);
}

static int count_some(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct chi_scan_query *scan = scan_of(query);
	(void)page;
	(void)fault;
	if (scan->reaches) {
		return reach_some(scan);
	}
	return query->threads > 0
		       ? chi_scan_count_all(scan->scan, query->threads, query->steps, &scan->count)
		       : chi_scan_tally(scan->scan, query->steps, &scan->count);
}

static void deliver_count(struct chi_query *query, const struct chi_page *page, bool last,
			  void *result)
{
	const struct chi_scan_query *scan = scan_of(query);
	struct chi_counted *out = result;
	(void)page;
	(void)last;
	out->count = scan->count;
	out->mixed = scan->mixed;
}

const struct chi_query_ops chi_count_ops = {
	.size = sizeof(struct chi_scan_query),
	.steps = STEPS,
	.open = open_count,
	.attach = attach_scan,
	.detach = detach_scan,
	.may_detach = scan_may_detach,
	.work = find_games,
	.rows = count_some,
	.deliver = deliver_count,
	.memory = memory_of_scan,
	.progress = progress_of_scan,
	.unknown = unknown_in_scan,
	.close = close_scan,
};
