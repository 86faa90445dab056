/* SPDX-License-Identifier: MIT */
/*
 * Strict numbers. strtoull and its kin skip spaces, take signs and hexadecimal, and depend on a
 * NUL and on the locale; none of that may decide what an outside text means.
 */
#include "base/num.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int chi_num_u64(const char *text, size_t len, uint64_t max, uint64_t *out)
{
	uint64_t value = 0;
	if (len == 0) {
		return -CHI_ESYNTAX;
	}
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(text[i])) {
			return -CHI_ESYNTAX;
		}
		uint64_t digit = (uint64_t)(text[i] - '0');
		if (value > (UINT64_MAX - digit) / 10) {
			return -CHI_ESYNTAX;
		}
		value = value * 10 + digit;
	}
	if (value > max) {
		return -CHI_ESYNTAX;
	}
	*out = value;
	return CHI_OK;
}

int chi_num_i64(const char *text, size_t len, int64_t max, int64_t *out)
{
	uint64_t magnitude = 0;
	bool negative = len > 0 && text[0] == '-';
	size_t sign = len > 0 && (text[0] == '-' || text[0] == '+') ? 1 : 0;
	if (max < 0 || chi_num_u64(text + sign, len - sign, (uint64_t)max, &magnitude) != CHI_OK) {
		return -CHI_ESYNTAX;
	}
	*out = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return CHI_OK;
}

/* The power of two that a size's last letter stands for; 0 if it is no suffix. */
static unsigned suffix_shift(char c)
{
	static const char suffixes[] = "KMGT";
	const char *found = memchr(suffixes, c, sizeof(suffixes) - 1);
	return found != NULL ? 10 * (unsigned)(found - suffixes + 1) : 0;
}

int chi_num_size(const char *text, size_t len, uint64_t *out)
{
	uint64_t value = 0;
	unsigned shift = len > 0 ? suffix_shift(text[len - 1]) : 0;
	if (chi_num_u64(text, shift > 0 ? len - 1 : len, UINT64_MAX >> shift, &value) != CHI_OK) {
		return -CHI_ESYNTAX;
	}
	*out = value << shift;
	return CHI_OK;
}

/* Hundredths, however many; *known: the text is no 0. */
static int read_hundredths(const char *text, size_t len, uint32_t *out, bool *known)
{
	uint32_t whole = 0;
	uint32_t hundredths = 0;
	size_t digits = 0; /* before the point, or after it */
	bool point = false;
	*known = false; /* 0.004 is a value: some digit is not 0 */
	*out = 0;
	if (len == 1 && text[0] == '-') {
		return CHI_OK;
	}
	for (size_t i = 0; i < len; i++) {
		uint32_t digit = (uint32_t)(text[i] - '0');
		if (text[i] == '.' && !point && digits > 0) {
			point = true;
			digits = 0;
			continue;
		}
		if (!is_digit(text[i])) {
			return -CHI_ESYNTAX;
		}
		*known = *known || digit != 0;
		digits++;
		if (!point) {
			/* What is over the largest value stays so, however long the number is. */
			whole = whole > CHI_CHI2_MAX ? whole : whole * 10 + digit;
		} else if (digits <= 2) {
			hundredths += digits == 1 ? 10 * digit : digit;
		} else if (digits == 3 && digit >= 5) {
			hundredths++;
		}
	}
	if (digits == 0) {
		return -CHI_ESYNTAX;
	}
	*out = whole * 100 + hundredths; /* 99 + 1 hundredths carry here */
	return CHI_OK;
}

int chi_chi2_parse(const char *text, size_t len, uint16_t *out)
{
	uint32_t value = 0;
	bool known = false;
	int status = read_hundredths(text, len, &value, &known);
	if (status == CHI_OK) {
		value = value < CHI_CHI2_MAX ? value : CHI_CHI2_MAX;
		/* A known value never rounds to the mark of an unknown one. */
		*out = (uint16_t)(value == CHI_CHI2_UNKNOWN && known ? 1 : value);
	}
	return status;
}

bool chi_num_chi2_clamped(const char *text, size_t len)
{
	uint32_t value = 0;
	bool known = false;
	return read_hundredths(text, len, &value, &known) == CHI_OK &&
	       (value > CHI_CHI2_MAX || (value == 0 && known));
}

size_t chi_chi2_print(uint16_t chi2, char out[CHI_CHI2_TEXT_SIZE])
{
	if (chi2 == CHI_CHI2_UNKNOWN) {
		out[0] = '-';
		out[1] = '\0';
		return 1;
	}
	/* 655.35, the largest a uint16_t can say, still fits. */
	int n = snprintf(out, CHI_CHI2_TEXT_SIZE, "%u.%02u", chi2 / 100u, chi2 % 100u);
	return (size_t)n;
}

void chi_hex_print(const void *bytes, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *b = bytes;
	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[b[i] >> 4];
		out[2 * i + 1] = digits[b[i] & 15];
	}
	out[2 * len] = '\0';
}

static int hex_digit(char c)
{
	if (is_digit(c)) {
		return c - '0';
	}
	if (c >= 'a' && c <= 'f') {
		return c - 'a' + 10;
	}
	if (c >= 'A' && c <= 'F') {
		return c - 'A' + 10;
	}
	return -1;
}

/* Digits alone, so many. */
static bool take_digits(const char *text, size_t n, uint64_t min, uint64_t max, int *out)
{
	uint64_t value = 0;
	if (chi_num_u64(text, n, max, &value) != CHI_OK || value < min) {
		return false;
	}
	*out = (int)value;
	return true;
}

int chi_num_time(const char *text, size_t len, uint64_t *out)
{
	static const char form[] = "0000-00-00T00:00:00Z";
	struct tm tm = {.tm_mday = 0};
	bool ok = len == sizeof(form) - 1 || len == strlen("0000-00-00");
	for (size_t i = 0; ok && i < len; i++) {
		ok = form[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i];
	}
	ok = ok && take_digits(text, 4, 1970, 9999, &tm.tm_year) &&
	     take_digits(text + 5, 2, 1, 12, &tm.tm_mon) &&
	     take_digits(text + 8, 2, 1, 31, &tm.tm_mday);
	if (ok && len == sizeof(form) - 1) {
		ok = take_digits(text + 11, 2, 0, 23, &tm.tm_hour) &&
		     take_digits(text + 14, 2, 0, 59, &tm.tm_min) &&
		     take_digits(text + 17, 2, 0, 59, &tm.tm_sec);
	}
	if (!ok) {
		return -CHI_ESYNTAX;
	}
	int day = tm.tm_mday;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	time_t seconds = timegm(&tm);
	/* The 31st of June is carried over to July. */
	if (tm.tm_mday != day) {
		return -CHI_ESYNTAX;
	}
	*out = (uint64_t)seconds;
	return CHI_OK;
}

size_t chi_num_time_print(uint64_t seconds, char out[CHI_TIME_TEXT_SIZE])
{
	time_t time = (time_t)seconds;
	struct tm parts;
	out[0] = '\0';
	if (seconds == 0 || seconds > INT64_MAX || gmtime_r(&time, &parts) == NULL ||
	    parts.tm_year > 9999 - 1900) {
		return 0;
	}
	return strftime(out, CHI_TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

int chi_hex_parse(const char *text, size_t len, uint8_t *out)
{
	if (len % 2 != 0) {
		return -CHI_ESYNTAX;
	}
	/* Looked at in full before the first byte is written: `out` is left alone on failure. */
	for (size_t i = 0; i < len; i++) {
		if (hex_digit(text[i]) < 0) {
			return -CHI_ESYNTAX;
		}
	}
	for (size_t i = 0; i < len / 2; i++) {
		out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
	}
	return CHI_OK;
}

/* Table 3-7 by first byte: how long the sequence is, and the bounds of its second byte, which
 * keep out overlong forms, surrogates and everything over U+10FFFF. */
struct utf8_lead {
	uint8_t first_min;
	uint8_t first_max;
	uint8_t len;
	uint8_t second_min;
	uint8_t second_max;
};

static const struct utf8_lead utf8_leads[] = {
	{0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf}, {0xe1, 0xec, 3, 0x80, 0xbf},
	{0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf}, {0xf0, 0xf0, 4, 0x90, 0xbf},
	{0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

/* Length of the sequence of two or more bytes at b[0], 0 if it is not well-formed. */
static size_t utf8_sequence(const uint8_t *b, size_t left)
{
	for (size_t i = 0; i < CHI_COUNT(utf8_leads); i++) {
		const struct utf8_lead *lead = &utf8_leads[i];
		if (b[0] < lead->first_min || b[0] > lead->first_max) {
			continue;
		}
		if (left < lead->len || b[1] < lead->second_min || b[1] > lead->second_max) {
			return 0;
		}
		for (size_t k = 2; k < lead->len; k++) {
			if ((b[k] & 0xc0) != 0x80) {
				return 0;
			}
		}
		return lead->len;
	}
	return 0;
}

bool chi_utf8_valid(const char *text, size_t len)
{
	const uint8_t *b = (const uint8_t *)text;
	size_t i = 0;
	while (i < len) {
		size_t n = b[i] < 0x80 ? 1 : utf8_sequence(b + i, len - i);
		if (n == 0) {
			return false;
		}
		i += n;
	}
	return true;
}
