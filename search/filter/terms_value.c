/* SPDX-License-Identifier: MIT */
/* Values of terms: ranges, dates, codes and lists. */
#include "search/filter/terms_priv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/pgn/speed.h"
#include "chistore/games.h"
#include "store/gamesets/gamesets.h"

static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*", NULL};
static const char *const titles[] = {"none", "GM", "IM",  "FM", "CM",  "WGM",	"WIM", "WFM",
				     "WCM",  "NM", "WNM", "LM", "BOT", "other", NULL};

_Static_assert(CHI_COUNT(titles) == CHI_TITLES + 1, "a word for each title");

const char *const *chi_term_list(enum chi_term_kind kind)
{
	switch (kind) {
	case CHI_TERM_RESULT:
		return results;
	case CHI_TERM_SPEED:
		return chi_speed_names;
	default:
		return titles;
	}
}

/* ---- Ranges ------------------------------------------------------------------------------- */

/* The two ends of "a..b", "a..", "..b", or of "a" twice; an end that is left out has len 0. */
struct ends {
	const char *first;
	size_t first_len;
	const char *last;
	size_t last_len;
};

static struct ends ends_of(const char *value)
{
	const char *dots = strstr(value, "..");
	size_t len = strlen(value);
	if (dots == NULL) {
		return (struct ends){value, len, value, len};
	}
	return (struct ends){value, (size_t)(dots - value), dots + 2, strlen(dots + 2)};
}

static int check_order(const char *value, const struct chi_term *term, struct chi_fault *fault)
{
	return term->min <= term->max
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EINVAL,
				  "in '%.40s' the lower bound is above the upper one", value);
}

int chi_term_read_range(const char *value, struct chi_term *term, struct chi_fault *fault)
{
	const struct chi_term_word *word = &chi_term_words[term->kind];
	struct ends ends = ends_of(value);
	uint64_t min = word->least;
	uint64_t max = word->most;
	int bad = 0;
	if (ends.first_len > 0) {
		bad |= chi_num_u64(ends.first, ends.first_len, word->most, &min);
	}
	if (ends.last_len > 0) {
		bad |= chi_num_u64(ends.last, ends.last_len, word->most, &max);
	}
	if (bad != 0 || min < word->least || max < word->least) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"'%.40s' is no range such as 20, 20.., ..40 or 20..40 within "
				"%u..%u",
				value, word->least, word->most);
	}
	term->min = (uint32_t)min;
	term->max = (uint32_t)max;
	return check_order(value, term, fault);
}

/* "-12.5" in units of 1 / scale; false: it is no such number. */
static bool read_scaled(const char *text, size_t len, int32_t scale, int64_t *out)
{
	const char *dot = memchr(text, '.', len);
	size_t whole = dot != NULL ? (size_t)(dot - text) : len;
	size_t digits = dot != NULL ? len - whole - 1 : 0;
	bool minus = len > 0 && text[0] == '-';
	uint64_t number = 0;
	uint64_t part = 0;
	if (chi_num_u64(text + minus, whole - minus, INT32_MAX, &number) != CHI_OK) {
		return false;
	}
	if (dot != NULL && (scale != 100 || digits < 1 || digits > 2 ||
			    chi_num_u64(dot + 1, digits, 99, &part) != CHI_OK)) {
		return false;
	}
	int64_t value = (int64_t)number * scale + (int64_t)(digits == 1 ? 10 * part : part);
	*out = minus ? -value : value;
	return true;
}

int chi_test_read_range(const char *value, struct chi_term_test *test, struct chi_fault *fault)
{
	const struct chi_test_word *word = &chi_test_words[test->kind];
	struct ends ends = ends_of(value);
	int64_t min = word->least;
	int64_t max = word->most;
	bool good =
		(ends.first_len > 0 || ends.last_len > 0 || strcmp(value, "..") == 0) &&
		(ends.first_len == 0 ||
		 read_scaled(ends.first, ends.first_len, word->scale, &min)) &&
		(ends.last_len == 0 || read_scaled(ends.last, ends.last_len, word->scale, &max));
	if (!good || min < word->least || min > word->most || max < word->least ||
	    max > word->most) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"'%.40s' is no range such as 20, 20.., ..40 or 20..40 within "
				"%d..%d%s",
				value, word->least / word->scale, word->most / word->scale,
				word->scale == 100 ? ", with up to two decimals" : "");
	}
	if (min > max) {
		return chi_fail(fault, -CHI_EINVAL,
				"in '%.40s' the lower bound is above the upper one", value);
	}
	test->min = (int32_t)min;
	test->max = (int32_t)max;
	return CHI_OK;
}

/* ---- ECO ---------------------------------------------------------------------------------- */

/* "B", "B9" or "B90", filled up with the digit. 0: it is none of these. */
static uint32_t eco_of(const char *text, size_t len, char fill)
{
	char code[3] = {fill, fill, fill};
	if (len < 1 || len > sizeof(code)) {
		return 0;
	}
	memcpy(code, text, len);
	int letter = toupper((unsigned char)code[0]);
	if (letter < 'A' || letter > 'E' || !isdigit((unsigned char)code[1]) ||
	    !isdigit((unsigned char)code[2])) {
		return 0;
	}
	return 1 + 100 * (uint32_t)(letter - 'A') + 10 * (uint32_t)(code[1] - '0') +
	       (uint32_t)(code[2] - '0');
}

int chi_term_read_eco(const char *value, struct chi_term *term, struct chi_fault *fault)
{
	struct ends ends = ends_of(value);
	term->min = ends.first_len > 0 ? eco_of(ends.first, ends.first_len, '0') : 1;
	term->max = ends.last_len > 0 ? eco_of(ends.last, ends.last_len, '9') : CHI_ECO_CODES;
	if (term->min == 0 || term->max == 0) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"'%.40s' is no range of codes such as B90, B9, B, B90..B99 or "
				"B90..",
				value);
	}
	return check_order(value, term, fault);
}

/* ---- Dates -------------------------------------------------------------------------------- */

/* A number at *at, which goes past it. */
static bool take_number(const char **at, size_t most, uint32_t max, uint32_t *out)
{
	size_t len = strspn(*at, "0123456789");
	uint64_t number = 0;
	if (len > most || chi_num_u64(*at, len, max, &number) != CHI_OK || number == 0) {
		return false;
	}
	*at += len;
	*out = (uint32_t)number;
	return true;
}

static bool date_of(const char *at, uint32_t *out)
{
	uint32_t year = 0;
	uint32_t month = 0;
	uint32_t day = 0;
	if (strspn(at, "0123456789") != 4 || !take_number(&at, 4, 9999, &year)) {
		return false;
	}
	if ((*at == '-' || *at == '.') && !(at++, take_number(&at, 2, 12, &month))) {
		return false;
	}
	if (month != 0 && (*at == '-' || *at == '.') && !(at++, take_number(&at, 2, 31, &day))) {
		return false;
	}
	*out = year * 10000 + month * 100 + day;
	return *at == '\0';
}

int chi_term_read_date(const char *value, struct chi_term *term, struct chi_fault *fault)
{
	if (!date_of(value, &term->min)) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"'%.40s' is no date such as 2015, 2015-06 or 2015-06-30", value);
	}
	term->max = term->min;
	return CHI_OK;
}

/* ---- Lists -------------------------------------------------------------------------------- */

/* Writes all words of a list with commas between them. */
static void join_words(const char *const *words, size_t first, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (size_t i = first; words[i] != NULL && used + strlen(words[i]) + 3 < size; i++) {
		if (used > 0) {
			memcpy(out + used, ", ", 3);
			used += 2;
		}
		memcpy(out + used, words[i], strlen(words[i]) + 1);
		used += strlen(words[i]);
	}
}

/* The number of a word; -1: it is not among them. "1/2" is short for a draw. */
static int number_of(const char *const *words, size_t first, const char *text, size_t len)
{
	if (words == results && len == 3 && memcmp(text, "1/2", 3) == 0) {
		return CHI_RESULT_DRAW;
	}
	for (size_t i = first; words[i] != NULL; i++) {
		if (strlen(words[i]) == len && strncasecmp(words[i], text, len) == 0) {
			return (int)i;
		}
	}
	return -1;
}

int chi_term_read_list(const char *value, struct chi_term *term, struct chi_fault *fault)
{
	const char *const *words = chi_term_list((enum chi_term_kind)term->kind);
	size_t first = chi_term_words[term->kind].least;
	for (const char *at = value;; at++) {
		size_t len = strcspn(at, ",");
		int number = number_of(words, first, at, len);
		if (number < 0) {
			char all[160];
			join_words(words, first, all, sizeof(all));
			return chi_fail(fault, -CHI_ESYNTAX, "'%.*s' is not among %s",
					(int)(len < 40 ? len : 40), at, all);
		}
		term->set |= UINT32_C(1) << number;
		at += len;
		if (*at == '\0') {
			return CHI_OK;
		}
	}
}

/* ---- Quotes ------------------------------------------------------------------------------- */

bool chi_term_is_bare(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
						    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
						    "-.,/*=+:_")] == '\0';
}

int chi_gameset_name_check(const char *name, size_t len, struct chi_fault *fault)
{
	return chi_gameset_named(name, len)
		       ? CHI_OK
		       : chi_fail(
				 fault, -CHI_EINVAL,
				 "'%.*s' is no name of a gameset: 1 to %d letters, digits, -._, no "
				 "dot at the beginning",
				 (int)(len < 40 ? len : 40), name, CHI_GAMESET_NAME_MAX);
}
