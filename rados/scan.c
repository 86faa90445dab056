/* SPDX-License-Identifier: MIT */
/*
 * Scans and counts: phases as in a directory (positions without a statistic are in the position
 * tree alone), each one walk over all shards. What the strength tree does not know of a row is
 * looked up for a block of rows at once.
 */
#include <string.h>

#include "base/evidence.h"
#include "base/fault.h"
#include "chess/sieve.h"
#include "rados/walk.h"
#include "store/record/filter.h"
#include "store/record/sorted.h"

/* Rows that are looked for at once: few first, so that the first row comes soon. Records may be
 * large. */
#define BLOCK_FIRST   16
#define BLOCK_MAX     512
#define BLOCK_RECORDS 64
#define BLOCK_BYTES   ((size_t)64 << 20)

enum phase {
	PHASE_UNKNOWN,	/* the position tree, those without a statistic */
	PHASE_STRENGTH, /* the strength tree */
	PHASE_POSITION, /* the position tree, those in the band */
	PHASE_OVER,
};

struct chi_rados_scan {
	struct chi_rados *rados;
	struct chi_scan_spec spec;
	struct chi_sieve sieve;
	chi_scan_wanted *shows; /* NULL: every position */
	const void *pattern;
	bool joins; /* strength entries need their record */
	bool wants_records;
	enum phase phase;
	struct chi_walk *walk; /* of the phase; NULL: not begun */
	size_t block;
	uint64_t rows; /* delivered */
	bool mixed;
	struct chi_sorted sorted;
	struct chi_arena arena; /* of the block's records */
	/* The block at hand. */
	size_t n;
	struct chi_row found[BLOCK_MAX];
	struct chi_entry entries[BLOCK_RECORDS];
	/* Strength entries whose records are looked up. */
	size_t n_candidates;
	struct chi_key keys[BLOCK_MAX];
	uint16_t chi2[BLOCK_MAX];
	bool wanted[BLOCK_MAX];
};

/* ---- Phases ------------------------------------------------------------------------------ */

static uint16_t known_min(const struct chi_scan_spec *spec)
{
	return spec->chi2_min > 0 ? spec->chi2_min : 1;
}

static enum phase first_phase(const struct chi_scan_spec *spec)
{
	if (spec->order == CHI_ORDER_POSITION) {
		return PHASE_POSITION;
	}
	bool unknown = spec->chi2_min == 0;
	bool known = spec->chi2_max > 0;
	bool after_known = spec->after.set && spec->after.chi2 != CHI_CHI2_UNKNOWN;
	if (spec->descending) {
		bool past = spec->after.set && spec->after.chi2 < known_min(spec);
		return known && !past ? PHASE_STRENGTH : unknown ? PHASE_UNKNOWN : PHASE_OVER;
	}
	if (unknown && !after_known) {
		return PHASE_UNKNOWN;
	}
	return known && !(after_known && spec->after.chi2 > spec->chi2_max) ? PHASE_STRENGTH
									    : PHASE_OVER;
}

static enum phase next_phase(const struct chi_rados_scan *scan)
{
	const struct chi_scan_spec *spec = &scan->spec;
	if (scan->phase == PHASE_UNKNOWN && !spec->descending && spec->chi2_max > 0) {
		return PHASE_STRENGTH;
	}
	if (scan->phase == PHASE_STRENGTH && spec->descending && spec->chi2_min == 0) {
		return PHASE_UNKNOWN;
	}
	return PHASE_OVER;
}

/* What entries of that statistic and above come after. */
static void band_key(uint16_t chi2, struct chi_omap_key *out)
{
	const uint8_t bytes[2] = {(uint8_t)(chi2 / 100), (uint8_t)(chi2 % 100)};
	chi_omap_key_make(CHI_OMAP_STRENGTH, bytes, sizeof(bytes), out);
}

static void strength_bounds(const struct chi_rados_scan *scan, struct chi_walk_spec *walk)
{
	const struct chi_scan_spec *spec = &scan->spec;
	const struct chi_cursor *after = &spec->after;
	walk->tree = CHI_OMAP_STRENGTH;
	band_key(known_min(spec), &walk->lower);
	if (spec->chi2_max < CHI_CHI2_MAX) {
		band_key((uint16_t)(spec->chi2_max + 1), &walk->upper);
	}
	if (after->set && after->chi2 >= known_min(spec) && after->chi2 <= spec->chi2_max) {
		chi_omap_strength(after->chi2, &after->key,
				  spec->descending ? &walk->upper : &walk->lower);
	}
}

static void position_bounds(const struct chi_rados_scan *scan, struct chi_walk_spec *walk)
{
	const struct chi_scan_spec *spec = &scan->spec;
	const struct chi_cursor *after = &spec->after;
	walk->tree = CHI_OMAP_POSITION;
	chi_omap_key_make(CHI_OMAP_POSITION, NULL, 0, &walk->lower);
	if (after->set && (scan->phase == PHASE_POSITION || after->chi2 == CHI_CHI2_UNKNOWN)) {
		chi_omap_key_make(CHI_OMAP_POSITION, after->key.bytes, after->key.len,
				  spec->descending ? &walk->upper : &walk->lower);
	}
}

/* Where all have a statistic, none without one is looked for. */
static int skip_unknown(struct chi_rados_scan *scan)
{
	struct chi_shard_client sum;
	int status = chi_rados_sum(scan->rados, &sum);
	return status < 0 ? status : sum.positions == sum.known ? CHI_NONE : CHI_OK;
}

/* CHI_NONE: the phase has nothing. */
static int begin_phase(struct chi_rados_scan *scan)
{
	struct chi_walk_spec walk = {.descending = scan->spec.descending, .first = scan->block};
	int status = scan->phase == PHASE_UNKNOWN ? skip_unknown(scan) : CHI_OK;
	if (status != CHI_OK) {
		return status;
	}
	if (scan->phase == PHASE_STRENGTH) {
		strength_bounds(scan, &walk);
	} else {
		position_bounds(scan, &walk);
	}
	return chi_walk_open(scan->rados, &walk, &scan->walk);
}

static void leave_phase(struct chi_rados_scan *scan)
{
	scan->mixed = scan->mixed || (scan->walk != NULL && chi_walk_mixed(scan->walk));
	chi_walk_close(scan->walk);
	scan->walk = NULL;
	scan->phase = next_phase(scan);
}

/* ---- Rows -------------------------------------------------------------------------------- */

static bool passes(const struct chi_rados_scan *scan, const struct chi_key *key)
{
	uint32_t pieces = chi_sieve_count(key->bytes, key->len);
	return (scan->sieve.idle || chi_sieve_passes(&scan->sieve, key->bytes, key->len, pieces)) &&
	       (scan->shows == NULL || scan->shows(scan->pattern, key->bytes));
}

static bool in_band(const struct chi_rados_scan *scan, uint16_t chi2)
{
	return scan->phase == PHASE_UNKNOWN
		       ? chi2 == CHI_CHI2_UNKNOWN
		       : chi2 >= scan->spec.chi2_min && chi2 <= scan->spec.chi2_max;
}

/* A record that may be wanted: fills the row, and the entry if records are. */
static int judge(struct chi_rados_scan *scan, const struct chi_key *key, const uint8_t *record,
		 size_t len, struct chi_row *row, struct chi_entry *entry, bool *wanted)
{
	*row = (struct chi_row){.key = *key, .found = true};
	int rc = chi_record_peek(record, len, &row->chi2, &row->counts);
	*wanted = rc == CHI_OK && in_band(scan, row->chi2);
	if (*wanted) {
		rc = chi_filter_record(&scan->spec.filter, (enum chi_sort)scan->spec.sort,
				       key->bytes, key->len, record, len, row, wanted);
	}
	if (rc == CHI_OK && *wanted && entry != NULL) {
		*entry = (struct chi_entry){.key = *key, .found = true};
		rc = chi_record_decode(record, len, &scan->arena, &entry->record, NULL);
		rc = rc == CHI_OK ? chi_evidence_apply(&scan->spec.filter.evidence, &scan->arena,
						       &entry->record)
				  : rc;
	}
	return rc == -CHI_ECORRUPT ? chi_rados_damaged(scan->rados, key) : rc;
}

static struct chi_entry *entry_at(struct chi_rados_scan *scan, size_t i)
{
	return scan->wants_records ? &scan->entries[i] : NULL;
}

/* The candidate's record, into the place that it has among the candidates. */
static int join_one(void *context, size_t i, const uint8_t *record, size_t len)
{
	struct chi_rados_scan *scan = context;
	bool *wanted = &scan->wanted[i];
	*wanted = false;
	/* It was deleted or changed since: it is no longer here. */
	if (record == NULL) {
		scan->mixed = true;
		return CHI_OK;
	}
	int status = judge(scan, &scan->keys[i], record, len, &scan->found[i], entry_at(scan, i),
			   wanted);
	if (status == CHI_OK && scan->found[i].chi2 != scan->chi2[i]) {
		scan->mixed = true;
		*wanted = false;
	}
	return status;
}

/* Looks the candidates up, and keeps those that are wanted, in their order. */
static int join_entries(struct chi_rados_scan *scan)
{
	int status =
		chi_rados_read_keys(scan->rados, scan->keys, scan->n_candidates, join_one, scan);
	for (size_t i = 0; status == CHI_OK && i < scan->n_candidates; i++) {
		if (scan->wanted[i]) {
			scan->found[scan->n] = scan->found[i];
			if (scan->wants_records) {
				scan->entries[scan->n] = scan->entries[i];
			}
			scan->n++;
		}
	}
	return status;
}

static int bad_key(struct chi_rados *rados)
{
	return chi_fail(rados->fault, -CHI_ECORRUPT, "a key of a shard is no position");
}

/* An entry of the walk: a row, a candidate, or nothing. */
static int take_walked(struct chi_rados_scan *scan, const struct chi_walk_entry *entry)
{
	struct chi_key key;
	uint16_t chi2 = CHI_CHI2_UNKNOWN;
	bool wanted = false;
	if (chi_omap_position(entry->key, entry->key_len, &chi2, &key) < 0) {
		return bad_key(scan->rados);
	}
	if (!passes(scan, &key)) {
		return CHI_OK;
	}
	if (scan->phase == PHASE_STRENGTH && scan->joins) {
		scan->keys[scan->n_candidates] = key;
		scan->chi2[scan->n_candidates++] = chi2;
		return CHI_OK;
	}
	if (scan->phase == PHASE_STRENGTH) {
		scan->found[scan->n++] = (struct chi_row){.key = key, .found = true, .chi2 = chi2};
		return CHI_OK;
	}
	size_t len = 0;
	const uint8_t *record = chi_omap_record(&key, entry->value, entry->len, &len);
	if (record == NULL) {
		return chi_rados_damaged(scan->rados, &key);
	}
	int status = judge(scan, &key, record, len, &scan->found[scan->n], entry_at(scan, scan->n),
			   &wanted);
	scan->n += status == CHI_OK && wanted;
	return status;
}

/* A block of rows, perhaps without any. CHI_NONE: the scan is over, and the block its last. */
static int fetch(struct chi_rados_scan *scan)
{
	int status = CHI_OK;
	scan->n = 0;
	scan->n_candidates = 0;
	if (scan->phase != PHASE_OVER && scan->walk == NULL) {
		status = begin_phase(scan);
	}
	while (status == CHI_OK && scan->phase != PHASE_OVER &&
	       scan->n + scan->n_candidates < scan->block) {
		struct chi_walk_entry entry;
		status = chi_walk_next(scan->walk, &entry);
		status = status == CHI_OK ? take_walked(scan, &entry) : status;
	}
	bool ended = status == CHI_NONE;
	if (status >= 0 && scan->n_candidates > 0) {
		status = join_entries(scan);
	}
	/* Not before its candidates are judged, which is by the phase. */
	if (status >= 0 && ended) {
		leave_phase(scan);
		status = CHI_OK;
	}
	size_t most = scan->wants_records ? BLOCK_RECORDS : BLOCK_MAX;
	scan->block = 2 * scan->block < most ? 2 * scan->block : most;
	return status == CHI_OK && scan->phase == PHASE_OVER ? CHI_NONE : status;
}

/* ---- Sorted scans ------------------------------------------------------------------------ */

static int collect(struct chi_rados_scan *scan)
{
	int status = CHI_OK;
	scan->block = BLOCK_MAX;
	while (status == CHI_OK) {
		status = fetch(scan);
		for (size_t i = 0; status >= 0 && i < scan->n; i++) {
			chi_sorted_add(&scan->spec, &scan->sorted, &scan->found[i]);
		}
	}
	if (status == CHI_NONE) {
		chi_sorted_finish(&scan->spec, &scan->sorted);
		status = CHI_OK;
	}
	return status;
}

static int take_scanned(void *context, size_t i, const struct chi_record *record)
{
	struct chi_rados_scan *scan = context;
	struct chi_entry *entry = &scan->entries[scan->n];
	if (record != NULL) {
		*entry = (struct chi_entry){
			.key = scan->found[i].key, .found = true, .record = *record};
		scan->n++;
		return chi_evidence_apply(&scan->spec.filter.evidence, &scan->arena,
					  &entry->record);
	}
	return CHI_OK;
}

/* The next rows of those that were collected. */
static int fetch_sorted(struct chi_rados_scan *scan, bool records)
{
	int status = scan->sorted.collected ? CHI_OK : collect(scan);
	if (status < 0) {
		return status;
	}
	size_t n = chi_sorted_take(&scan->sorted, scan->found, records ? BLOCK_RECORDS : BLOCK_MAX);
	scan->n = n;
	if (records) {
		for (size_t i = 0; i < n; i++) {
			scan->keys[i] = scan->found[i].key;
		}
		scan->n = 0;
		status = chi_rados_get_many(scan->rados, scan->keys, n, &scan->arena, take_scanned,
					    scan);
	}
	return status == CHI_OK && scan->sorted.at == scan->sorted.n ? CHI_NONE : status;
}

/* ---- Calls ------------------------------------------------------------------------------- */

int chi_rados_scan_open(struct chi_rados *rados, const struct chi_scan_spec *spec,
			chi_scan_wanted *shows, const void *pattern, struct chi_rados_scan **out)
{
	struct chi_rados_scan *scan = calloc(1, sizeof(*scan));
	*out = scan;
	if (scan == NULL) {
		return -CHI_ENOMEM;
	}
	bool sorts = spec->sort != CHI_SORT_NONE;
	scan->rados = rados;
	scan->spec = *spec;
	scan->shows = shows;
	scan->pattern = pattern;
	scan->block = BLOCK_FIRST;
	scan->wants_records = spec->want == CHI_WANT_RECORDS && !sorts;
	scan->joins = sorts || spec->want != CHI_WANT_KEYS || chi_filter_joins(&spec->filter);
	chi_arena_init(&scan->arena, BLOCK_BYTES);
	chi_sieve_init(&scan->sieve, &spec->filter);
	scan->phase = first_phase(spec);
	/* The order does not matter, and records are in the position tree. */
	if (sorts && spec->chi2_min == 0) {
		scan->phase = PHASE_POSITION;
	}
	if (spec->sort == CHI_SORT_GAP) {
		return -CHI_EUNSUPPORTED;
	}
	return sorts ? chi_sorted_init(spec, &scan->sorted) : CHI_OK;
}

void chi_rados_scan_close(struct chi_rados_scan *scan)
{
	if (scan != NULL) {
		chi_walk_close(scan->walk);
		chi_arena_deinit(&scan->arena);
		free(scan->sorted.rows);
		free(scan);
	}
}

int chi_rados_scan_next(struct chi_rados_scan *scan, const void **rows, size_t *n, bool *mixed)
{
	bool records = scan->spec.want == CHI_WANT_RECORDS;
	uint64_t limit = scan->spec.limit;
	chi_arena_reset(&scan->arena);
	int status = scan->spec.sort != CHI_SORT_NONE ? fetch_sorted(scan, records) : fetch(scan);
	if (status >= 0 && limit != 0 && scan->rows + scan->n >= limit) {
		scan->n = (size_t)(limit - scan->rows);
		status = CHI_NONE;
	}
	bool zero = scan->spec.want == CHI_WANT_KEYS;
	for (size_t i = 0; i < scan->n && zero; i++) {
		scan->found[i].counts = (struct chi_counts){0};
	}
	scan->rows += scan->n;
	*rows = records ? (const void *)scan->entries : (const void *)scan->found;
	*n = scan->n;
	*mixed = scan->mixed || (scan->walk != NULL && chi_walk_mixed(scan->walk));
	return status;
}

/* Whole parts of the store are counted already. */
static bool count_at_once(const struct chi_scan_spec *spec, const struct chi_shard_client *sum,
			  uint64_t *count)
{
	bool all_known = spec->chi2_min <= 1 && spec->chi2_max == CHI_CHI2_MAX;
	bool unknown = spec->chi2_min == 0;
	if (!all_known && spec->chi2_max != 0) {
		return false;
	}
	int64_t n = (all_known ? sum->known : 0) + (unknown ? sum->positions - sum->known : 0);
	*count = n > 0 ? (uint64_t)n : 0;
	return true;
}

static int count_rows(struct chi_rados_scan *scan, uint64_t *count)
{
	int status = CHI_OK;
	scan->block = BLOCK_MAX;
	while (status == CHI_OK) {
		status = fetch(scan);
		*count += scan->n;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

static int count_scan(struct chi_rados_scan *scan, uint64_t *count)
{
	struct chi_shard_client sum;
	if (scan->sieve.idle && scan->shows == NULL && !scan->joins) {
		int status = chi_rados_sum(scan->rados, &sum);
		if (status < 0 || count_at_once(&scan->spec, &sum, count)) {
			return status;
		}
	}
	/* Of the whole store records need not be looked up one by one. */
	if (scan->joins && scan->spec.chi2_min <= 1 && scan->spec.chi2_max == CHI_CHI2_MAX) {
		scan->phase = PHASE_POSITION;
	}
	return count_rows(scan, count);
}

int chi_rados_count(struct chi_rados *rados, const struct chi_scan_spec *spec,
		    chi_scan_wanted *shows, const void *pattern, uint64_t *count, bool *mixed)
{
	struct chi_rados_scan *scan = NULL;
	int status = chi_rados_scan_open(rados, spec, shows, pattern, &scan);
	*count = 0;
	status = status == CHI_OK ? count_scan(scan, count) : status;
	*mixed = scan != NULL && scan->mixed;
	chi_rados_scan_close(scan);
	return status;
}

int chi_rados_game_ids(struct chi_rados *rados, const uint8_t *after, struct chi_game_id *out,
		       size_t max, size_t *n)
{
	struct chi_walk *walk = NULL;
	struct chi_walk_spec spec = {.tree = CHI_OMAP_GAME,
				     .first = max / rados->head.shards + BLOCK_FIRST};
	*n = 0;
	chi_omap_key_make(CHI_OMAP_GAME, after, after != NULL ? CHI_GAME_ID_SIZE : 0, &spec.lower);
	int status = chi_walk_open(rados, &spec, &walk);
	while (status == CHI_OK && *n < max) {
		struct chi_walk_entry entry;
		uint8_t id[CHI_GAME_ID_SIZE];
		size_t len = 0;
		status = chi_walk_next(walk, &entry);
		if (status == CHI_OK) {
			status = chi_omap_bytes(entry.key, entry.key_len, id, sizeof(id), &len);
		}
		if (status == CHI_OK) {
			status = chi_game_decode(id, len, entry.value, entry.len, &out[*n]);
			*n += status == CHI_OK;
		}
	}
	chi_walk_close(walk);
	if (status == -CHI_ECORRUPT && rados->fault->text[0] == '\0') {
		return chi_fail(rados->fault, status, "the entry of a game is damaged");
	}
	return status == CHI_NONE ? CHI_OK : status;
}
