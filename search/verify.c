/* SPDX-License-Identifier: MIT */
#include "search/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "search/filter/matcher.h"
#include "search/filter/numbers.h"
#include "search/filter/stamp.h"
#include "search/filter/terms.h"
#include "store/archive.h"
#include "store/gamesets/gamesets.h"

#define TEXT_SIZE 512

/* Between two looks at `stop`. */
#define STEPS 1000

struct check {
	struct chi_read *read;
	struct chi_archive_view view;
	const atomic_bool *stop;
	chi_verify_report *report;
	void *context;
	struct chi_verify_result *result;
	struct chi_terms terms; /* of the gameset at hand, */
	struct chi_gameset_entry entry;
	struct chi_numbers *stored; /* its bitmap, */
	struct chi_numbers *found;  /* and what its filter finds */
};

__attribute__((format(printf, 2, 3))) static void complain_of_search(struct check *check,
								     const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;
	int n = snprintf(text, sizeof(text), "gameset %.*s: ", (int)check->entry.name_len,
			 check->entry.name);
	va_start(args, format);
	(void)vsnprintf(text + n, sizeof(text) - (size_t)n, format, args);
	va_end(args);
	check->result->errors++;
	if (check->report != NULL) {
		check->report(check->context, text);
	}
}

/* What a failure says of the gameset, and not of the machine. */
static bool is_its_own(int rc)
{
	return rc == -CHI_EINVAL || rc == -CHI_ETOOBIG || rc == -CHI_ECORRUPT;
}

/* All games that fit the filter. */
static int find_games(struct check *check)
{
	const struct chi_matcher_spec spec = {.from = 1};
	struct chi_fault fault = {.text = ""};
	struct chi_matcher *matcher;
	int rc = chi_numbers_new(&check->found);
	rc = rc == CHI_OK ? chi_matcher_new(check->read, &check->terms, &spec, &matcher, &fault)
			  : rc;
	if (rc < 0) {
		return rc;
	}
	while (rc == CHI_OK) {
		rc = check->stop != NULL && atomic_load(check->stop)
			     ? -CHI_ECANCELED
			     : chi_matcher_collect(matcher, STEPS, check->found);
	}
	chi_matcher_free(matcher);
	return rc == CHI_NONE ? CHI_OK : rc;
}

/* Games that were removed may stay in a bitmap. */
static int check_surplus(struct check *check)
{
	struct chi_columns_reader columns;
	uint64_t n = 0;
	uint32_t first = 0;
	uint32_t number = 0;
	uint32_t row;
	int rc = chi_columns_reader_init(&columns, check->view.txn, check->view.trees.columns);
	while (rc == CHI_OK && number < check->entry.mark.last &&
	       chi_numbers_next(check->stored, number + 1, &number)) {
		if (!chi_numbers_has(check->found, number)) {
			rc = chi_columns_find(&columns, number, &row);
			n += rc == CHI_OK;
			first = rc == CHI_OK && first == 0 ? number : first;
			rc = rc == CHI_NONE ? CHI_OK : rc;
		}
	}
	chi_columns_reader_deinit(&columns);
	if (rc == CHI_OK && n > 0) {
		complain_of_search(check,
				   "its bitmap has games that do not fit its filter: %" PRIu64
				   ", from %u on",
				   n, first);
	}
	return rc;
}

static void check_missing(struct check *check)
{
	uint32_t last = check->entry.mark.last;
	uint64_t n = 0;
	uint32_t first = 0;
	uint32_t number = 0;
	while (number < last && chi_numbers_next(check->found, number + 1, &number) &&
	       number <= last) {
		if (!chi_numbers_has(check->stored, number)) {
			n++;
			first = first == 0 ? number : first;
		}
	}
	if (n > 0) {
		complain_of_search(check,
				   "its bitmap lacks games that fit its filter: %" PRIu64
				   ", from %u on",
				   n, first);
	}
}

/* The bitmap is that of the filter, if what it was made of is still so. */
static int check_entry(struct check *check)
{
	const struct chi_gameset_entry *entry = &check->entry;
	uint64_t stamp;
	int rc = chi_numbers_read(entry->bitmap, entry->bitmap_len, entry->mark.last,
				  &check->stored);
	if (rc == CHI_OK && chi_numbers_count(check->stored) != entry->games) {
		complain_of_search(check, "its bitmap has %" PRIu64 " games, and not %" PRIu64,
				   chi_numbers_count(check->stored), entry->games);
	}
	if (rc == CHI_OK &&
	    chi_terms_parse(entry->filter, entry->filter_len, &check->terms, NULL) != CHI_OK) {
		rc = -CHI_ECORRUPT;
	}
	rc = rc == CHI_OK ? chi_stamp_of(&check->view, &check->terms, &entry->mark, &stamp) : rc;
	if (rc != CHI_OK || stamp != entry->mark.stamp) {
		return rc;
	}
	rc = find_games(check);
	rc = rc == CHI_OK ? check_surplus(check) : rc;
	if (rc == CHI_OK) {
		check_missing(check);
	}
	return rc;
}

static int check_all(struct check *check)
{
	struct chi_gameset_entry *entry = &check->entry;
	char name[CHI_GAMESET_KEY_MAX] = "";
	size_t len = 0;
	int rc = chi_read_archive(check->read, &check->view);
	while (rc == CHI_OK && (rc = chi_gameset_after(check->view.txn, check->view.trees.gamesets,
						       name, len, entry)) == CHI_OK) {
		len = entry->name_len;
		memcpy(name, entry->name, len);
		rc = check_entry(check);
		chi_numbers_free(check->stored);
		chi_numbers_free(check->found);
		check->stored = NULL;
		check->found = NULL;
		if (is_its_own(rc)) {
			complain_of_search(check, "it cannot be read (%s)", chi_strerror(rc));
			rc = CHI_OK;
		}
	}
	return rc == CHI_NONE ? CHI_OK : rc;
}

int chi_search_verify(struct chi_dir *store, unsigned threads, const atomic_bool *stop,
		      chi_verify_report *report, void *context, struct chi_verify_result *result)
{
	int rc = chi_dir_verify_until(store, threads, stop, report, context, result);
	struct check check = {.stop = stop, .report = report, .context = context, .result = result};
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_read_begin(store, &check.read);
	if (rc == CHI_OK) {
		rc = check_all(&check);
		chi_read_end(check.read);
	}
	return rc == CHI_OK && result->errors > 0 ? -CHI_ECORRUPT : rc;
}
