/* SPDX-License-Identifier: MIT */
/* The text of PGN files, UTF-8 or Windows Latin-1: to plain ASCII in moves, to clean UTF-8 in tags.
 */
#include "chess/pgn/text.h"

#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"

/* Windows-1252, 0x80..0x9f, as code points; 0 where it has none. The rest of it is Latin-1. */
static const uint16_t windows_points[32] = {
	0x20ac, 0,	0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
	0x2039, 0x0152, 0,	0x017d, 0,	0,	0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
	0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,	0x017e, 0x0178,
};

static uint32_t windows_point(unsigned char byte)
{
	uint32_t point = byte >= 0x80 && byte < 0xa0 ? windows_points[byte - 0x80] : byte;
	return point != 0 ? point : 0xfffd;
}

/* The well-formed UTF-8 sequence at `at`, 2 to 4 bytes; 0 if there is none. */
static size_t sequence(const char *at, const char *end, uint32_t *point)
{
	unsigned char lead = (unsigned char)*at;
	size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if ((size_t)(end - at) < n || !chi_utf8_valid(at, n)) {
		return 0;
	}
	*point = lead & (0x7fU >> n);
	for (size_t i = 1; i < n; i++) {
		*point = *point << 6 | ((unsigned char)at[i] & 0x3f);
	}
	return n;
}

static char meaning_of(uint32_t point)
{
	static const char figures[] = "KQRBNPKQRBNP"; /* U+2654..U+265F */
	if (point >= 0x2654 && point <= 0x265f) {
		return figures[point - 0x2654];
	}
	if ((point >= 0x2010 && point <= 0x2015) || point == 0x2212 || point == 0xad) {
		return '-';
	}
	if ((point >= 0x2000 && point <= 0x200b) || point == 0x202f || point == 0xfeff) {
		return CHI_PGN_GAP;
	}
	switch (point) {
	case 0xa0:   /* no-break space */
	case 0x2026: /* horizontal ellipsis */
		return CHI_PGN_GAP;
	case 0xbd:
		return CHI_PGN_HALF;
	case 0xd7:   /* multiplication sign */
	case 0x2715: /* multiplication x */
		return 'x';
	default:
		return CHI_PGN_UNKNOWN;
	}
}

size_t chi_pgn_sign(const char *at, const char *end, char *meaning)
{
	uint32_t point = 0;
	size_t n = sequence(at, end, &point);
	/* A file may mix both, one comment pasted from here, one from there. */
	if (n == 0) {
		point = windows_point((unsigned char)*at);
		n = 1;
	}
	*meaning = meaning_of(point);
	return n;
}

size_t chi_pgn_fold(const char *text, size_t len, char *out, size_t size)
{
	const char *end = text + len;
	size_t n = 0;
	while (text < end && n + 4 <= size) {
		char meaning = *text;
		text += (unsigned char)*text < 0x80 ? 1 : chi_pgn_sign(text, end, &meaning);
		if (meaning == CHI_PGN_HALF && (unsigned char)text[-1] >= 0x80) {
			memcpy(out + n, "1/2", 3);
			n += 3;
		} else {
			out[n++] = meaning;
		}
	}
	out[n] = '\0';
	return n;
}

/* Writes a code point of at most 16 bits; returns its end. */
static char *put_point(char *at, uint32_t point)
{
	if (point < 0x80) {
		*at++ = (char)point;
	} else if (point < 0x800) {
		*at++ = (char)(0xc0 | point >> 6);
		*at++ = (char)(0x80 | (point & 0x3f));
	} else {
		*at++ = (char)(0xe0 | point >> 12);
		*at++ = (char)(0x80 | (point >> 6 & 0x3f));
		*at++ = (char)(0x80 | (point & 0x3f));
	}
	return at;
}

static bool is_control(unsigned char byte)
{
	return byte < 0x20 || byte == 0x7f;
}

static bool is_empty(char c)
{
	return c == ' ' || is_control((unsigned char)c);
}

/* Copies one character of a value; false if it does not fit. */
static bool copy_character(const char **from, const char *end, bool utf8, char **at,
			   const char *limit)
{
	unsigned char byte = (unsigned char)**from;
	uint32_t point = 0;
	size_t n = 1;
	if (byte >= 0x80 && utf8) {
		n = sequence(*from, end, &point);
		if (*at + n > limit) {
			return false;
		}
		memcpy(*at, *from, n);
		*at += n;
	} else {
		point = is_control(byte) ? ' ' : windows_point(byte);
		if (*at + (point < 0x80 ? 1 : point < 0x800 ? 2 : 3) > limit) {
			return false;
		}
		*at = put_point(*at, point);
	}
	*from += n;
	return true;
}

/* Most bytes of a value stand for themselves. */
static inline bool is_plain(char c)
{
	return c > ' ' && c <= '~' && c != '\\';
}

size_t chi_pgn_value(const char *text, size_t len, char *out, size_t max, bool *cut)
{
	const char *end = text + len;
	const char *limit = out + max;
	char *at = out;
	/* By value, not by file: collections are put together from files of both kinds. */
	bool utf8 = chi_utf8_valid(text, len);
	while (text < end) {
		if (CHI_LIKELY(is_plain(*text)) && at < limit) {
			*at++ = *text++;
			continue;
		}
		if (*text == '\\' && end - text > 1 && (text[1] == '"' || text[1] == '\\')) {
			text++;
		}
		if (at == out && (*text == ' ' || is_control((unsigned char)*text))) {
			text++;
		} else if (!copy_character(&text, end, utf8, &at, limit)) {
			/* Blanks at its end do not count. */
			while (text < end && is_empty(*text)) {
				text++;
			}
			*cut = *cut || text < end;
			break;
		}
	}
	while (at > out && at[-1] == ' ') {
		at--;
	}
	*at = '\0';
	return (size_t)(at - out);
}

/* Where a control character became a blank, a line may look like a game's first tag. */
static void hide_event(char *text, size_t len)
{
	static const char event[] = "\n[Event \"";
	char *end = text + len;
	while ((text = memmem(text, (size_t)(end - text), event, sizeof(event) - 1)) != NULL) {
		*text = ' ';
	}
}

size_t chi_pgn_comment_text(const char *text, size_t len, char *out, size_t max)
{
	while (len > 0 && is_empty(*text)) {
		text++;
		len--;
	}
	while (len > 0 && is_empty(text[len - 1])) {
		len--;
	}
	const char *end = text + len;
	const char *limit = out + max;
	char *at = out;
	bool utf8 = chi_utf8_valid(text, len);
	while (text < end) {
		/* The last byte is no CR. */
		text += *text == '\r' && text[1] == '\n';
		if (*text == '\n' && at < limit) {
			*at++ = *text++;
		} else if (!copy_character(&text, end, utf8, &at, limit)) {
			break;
		}
	}
	while (at > out && is_empty(at[-1])) {
		at--;
	}
	hide_event(out, (size_t)(at - out));
	return (size_t)(at - out);
}

/* What a byte below 0x80 is in movetext. */
static uint32_t movetext_point(unsigned char byte)
{
	if (byte == '\0') {
		return ',';
	}
	if (byte == '\t' || byte == '\v' || byte == '\f' || byte == '\r') {
		return ' ';
	}
	return is_control(byte) && byte != '\n' ? '~' : byte;
}

size_t chi_pgn_movetext(const char *text, size_t len, char *out, size_t max)
{
	const char *end = text + len;
	char *at = out;
	while (text < end) {
		unsigned char byte = (unsigned char)*text;
		uint32_t point = 0;
		size_t n = byte >= 0x80 ? sequence(text, end, &point) : 0;
		if ((size_t)(at - out) + CHI_PGN_SIGN_MAX > max) {
			return SIZE_MAX;
		}
		if (n > 0) {
			memcpy(at, text, n);
			at += n;
		} else if (byte != '\r' || text + 1 == end || text[1] != '\n') {
			at = put_point(at,
				       byte < 0x80 ? movetext_point(byte) : windows_point(byte));
		}
		text += n > 0 ? n : 1;
	}
	hide_event(out, (size_t)(at - out));
	return (size_t)(at - out);
}

void chi_pgn_quote(const char *text, size_t len, char out[CHI_PGN_TEXT_SIZE])
{
	size_t n = len < CHI_PGN_TEXT_SIZE ? len : CHI_PGN_TEXT_SIZE - 1;
	for (size_t i = 0; i < n; i++) {
		out[i] = text[i];
		if (text[i] < ' ' || text[i] > '~') {
			out[i] = '?';
		}
	}
	out[n] = '\0';
}

bool chi_pgn_is_result(const char *text, size_t len, enum chi_result *out)
{
	static const struct {
		const char *text;
		enum chi_result result;
	} table[] = {
		{"*", CHI_RESULT_OTHER},     {"1-0", CHI_RESULT_WHITE},
		{"0-1", CHI_RESULT_BLACK},   {"1/2-1/2", CHI_RESULT_DRAW},
		{"1/2", CHI_RESULT_DRAW},    {"1:0", CHI_RESULT_WHITE},
		{"0:1", CHI_RESULT_BLACK},   {"1/2:1/2", CHI_RESULT_DRAW},
		{"1/2-0", CHI_RESULT_OTHER}, {"0-1/2", CHI_RESULT_OTHER},
		{"1/2-1", CHI_RESULT_OTHER},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		if (strlen(table[i].text) == len && memcmp(table[i].text, text, len) == 0) {
			*out = table[i].result;
			return true;
		}
	}
	return false;
}
