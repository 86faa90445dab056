/* SPDX-License-Identifier: MIT */
/* Scan, its Credit, and Count. */
#include "proto/operations.h"

#include "base/attr.h"
#include "proto/rows.h"

#define REQ	   struct chi_scan_request
#define RES	   struct chi_scan_page
#define PIECES_MAX 32 /* on a board, as a key can hold them */

/* ---- Requests ---------------------------------------------------------------------------- */

/* A cursor need not be of a row that exists: it is a place between rows. */
static int check_cursor(struct chi_unpacker *u, void *out)
{
	const struct chi_cursor *cursor = out;
	return chi_key_needed(u, &cursor->key);
}

static const struct chi_member cursor[] = {
	CHI_M_UP_TO(1, struct chi_cursor, chi2, CHI_CHI2_MAX, "over 25599"),
	CHI_M(2, CHI_KEY, struct chi_cursor, key),
};
CHI_TABLE(chi_cursor_message, cursor, cursor, check_cursor);

static const struct chi_member range[] = {
	CHI_M_UP_TO(1, struct chi_range, min, UINT16_MAX, "over 65535"),
	CHI_M_UP_TO(2, struct chi_range, max, UINT16_MAX, "over 65535"),
};
CHI_TABLE(chi_range_message, range, range, NULL);

/* Bounds that contradict are refused where they are asked (chi_evidence_check). */
static const struct chi_member evidence[] = {
	CHI_M(1, CHI_CHARS, struct chi_evidence, engine),
	CHI_M_FLAGGED(2, CHI_NESTED, struct chi_evidence, depth, depth.set, &chi_range_message),
	CHI_M_NUMBER(3, struct chi_evidence, since),
	CHI_M_NUMBER(4, struct chi_evidence, until),
};
CHI_TABLE(chi_evidence_message, evidence, evidence, NULL);

#define RANGE(no, name)                                                                            \
	CHI_M_FLAGGED(no, CHI_NESTED, REQ, spec.filter.name, spec.filter.name.set,                 \
		      &chi_range_message)

/* In a struct chi_scan_request. The material stays text: only the rooms that know chess can read
 * it. A number of pieces that no board has is refused, since cut to a byte it would be another. */
static const struct chi_member filter[] = {
	CHI_M(1, CHI_STRING, REQ, material),
	CHI_M(2, CHI_BOOL, REQ, spec.filter.either_colour),
	CHI_M_UP_TO(3, REQ, spec.filter.pieces_min, PIECES_MAX, "over 32"),
	CHI_M_UP_TO(4, REQ, spec.filter.pieces_max, PIECES_MAX, "over 32"),
	CHI_M_NUMBER(5, REQ, spec.filter.side),
	CHI_M_NUMBER(6, REQ, spec.filter.games_min),
	RANGE(7, score),
	RANGE(8, eval),
	RANGE(9, ply),
	CHI_M_UP_TO(10, REQ, spec.filter.engines_min, CHI_EVALS_MAX, "over 64"),
	CHI_M_NESTED(11, REQ, spec.filter.evidence, CHI_IF_SET, &chi_evidence_message),
};
static CHI_TABLE(filter_message, filter, filter, NULL);

/* An empty band is a mistake of the caller's, not a question with an empty answer. */
static int check_band(struct chi_unpacker *u, void *out)
{
	const struct chi_scan_spec *spec = &((const struct chi_scan_request *)out)->spec;
	return spec->chi2_min <= spec->chi2_max
		       ? CHI_OK
		       : chi_flaw_set(u->flaw, -CHI_EINVAL, "chi2_min is above chi2_max",
				      "chi2_min");
}

static const struct chi_member scan[] = {
	CHI_M_UP_TO(1, REQ, spec.chi2_min, CHI_CHI2_MAX, "over 25599"),
	CHI_M_UP_TO(2, REQ, spec.chi2_max, CHI_CHI2_MAX, "over 25599"),
	CHI_M(3, CHI_BOOL, REQ, spec.descending),
	CHI_M_NUMBER(4, REQ, spec.order),
	CHI_M_NUMBER(5, REQ, spec.want),
	CHI_M_NUMBER(6, REQ, spec.limit),
	{.field = 7, .kind = CHI_NESTED, .type = &filter_message},
	CHI_M_FLAGGED(8, CHI_NESTED, REQ, spec.after, spec.after.set, &chi_cursor_message),
	CHI_M_NUMBER(10, REQ, spec.sort),
	CHI_M_TEXT(11, REQ, spec.games, CHI_FILTER_MAX),
	CHI_M(12, CHI_BOOL, REQ, spec.whole_counts),
	CHI_M_TEXT(13, REQ, spec.pattern, CHI_FILTER_MAX),
};
CHI_TABLE(chi_scan_request, scan, scan, check_band);

static const struct chi_member count[] = {
	CHI_M_UP_TO(1, REQ, spec.chi2_min, CHI_CHI2_MAX, "over 25599"),
	CHI_M_UP_TO(2, REQ, spec.chi2_max, CHI_CHI2_MAX, "over 25599"),
	{.field = 3, .kind = CHI_NESTED, .type = &filter_message},
	CHI_M_TEXT(4, REQ, spec.games, CHI_FILTER_MAX),
	CHI_M_TEXT(5, REQ, spec.pattern, CHI_FILTER_MAX),
};
CHI_TABLE(chi_count_request, count, count, check_band);

/* Never an error, as it has no answer: what is too much is as much as can be. */
static const struct chi_member credit[] = {
	CHI_M_CAPPED(1, struct chi_request, u.credit.responses, CHI_WINDOW_MAX, CHI_WINDOW_MAX),
};
CHI_TABLE(chi_credit_request, credit, credit, NULL);

/* ---- Results ----------------------------------------------------------------------------- */

static const struct chi_member count_result[] = {
	CHI_M_NUMBER(1, struct chi_counted, count),
	CHI_M(2, CHI_BOOL, struct chi_counted, mixed),
};
CHI_TABLE(chi_count_result, count_result, count_result, NULL);

/* Beside rows, and with entries. The message of the latter reads both. */
#define BESIDE                                                                                     \
	CHI_M_FLAGGED(4, CHI_NESTED, RES, cursor, cursor.set, &chi_cursor_message),                \
		CHI_M(5, CHI_BOOL, RES, mixed)
static const struct chi_member beside[] = {BESIDE};
static CHI_TABLE(beside_message, scan_result, beside, NULL);

static const struct chi_member entries[] = {
	CHI_M_UNKEPT(1, 0, NULL),
	CHI_M_UNKEPT(2, 0, NULL),
	CHI_M_ROWS(3, RES, entries, n, &chi_entry_message, CHI_SCAN_ROWS_MAX),
	BESIDE,
};
static CHI_TABLE(entries_message, scan_result, entries, NULL);

static size_t scan_len(const void *from, size_t *noted)
{
	const struct chi_scan_page *page = from;
	size_t unused = 0;
	if (page->want == CHI_WANT_RECORDS) {
		return chi_message_len(&entries_message, from, &unused);
	}
	return chi_rows_fields_len(page->rows, page->n, page->want == CHI_WANT_COUNTS, noted) +
	       chi_message_len(&beside_message, from, &unused);
}

static uint8_t *put_scan(uint8_t *at, const void *from, size_t noted)
{
	const struct chi_scan_page *page = from;
	if (page->want == CHI_WANT_RECORDS) {
		return chi_message_put(at, &entries_message, from, 0);
	}
	at = chi_put_rows_fields(at, page->rows, page->n, page->want == CHI_WANT_COUNTS, noted);
	return chi_message_put(at, &beside_message, from, 0);
}

/* Beside the entries. What the scan wanted is seen from what came; without any row it looks like
 * KEYS. */
static int scan_read(struct chi_unpacker *u, const uint8_t *bytes, size_t len, void *to)
{
	struct chi_scan_page *out = to;
	struct chi_row *rows = NULL;
	bool counts = false;
	size_t n = 0;
	int rc = chi_rows_fields_read(u, bytes, len, CHI_SCAN_ROWS_MAX, &rows, &n, &counts);
	if (rc != CHI_OK) {
		return rc;
	}
	if (out->n > 0) {
		out->want = CHI_WANT_RECORDS;
		return n == 0 ? CHI_OK
			      : chi_flaw_set(u->flaw, -CHI_EPROTO, "rows beside entries", "rows");
	}
	out->rows = rows;
	out->n = n;
	out->want = counts ? CHI_WANT_COUNTS : CHI_WANT_KEYS;
	return CHI_OK;
}

const struct chi_message chi_scan_result = {
	.descriptor = &chistore__v1__scan_result__descriptor,
	.members = entries,
	.n = CHI_COUNT(entries),
	.len = scan_len,
	.put = put_scan,
	.read = scan_read,
};
