/* SPDX-License-Identifier: MIT */
/* Where a file of games may be cut; see chi_pgn_boundary. */
#include <string.h>

#include "chess/pgn/pgn.h"

static const char mark[] = "\n[Event \"";

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* True if the nearest line above `end` (a line's first byte) that is not blank begins with
 * something else than '['. */
static bool follows_text(const char *text, size_t end)
{
	while (end > 0 && is_blank(text[end - 1])) {
		end--;
	}
	size_t start = end;
	while (start > 0 && text[start - 1] != '\n') {
		start--;
	}
	/* A byte order mark is no text; the reader passes it over, too. */
	if (start == 0 && end >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		start = 3;
	}
	while (start < end && is_blank(text[start])) {
		start++;
	}
	return start < end && text[start] != '[';
}

size_t chi_pgn_boundary(const void *bytes, size_t len, size_t from)
{
	const char *text = bytes;
	size_t at = from > 0 ? from - 1 : 0;
	while (at < len) {
		const char *found = memmem(text + at, len - at, mark, sizeof(mark) - 1);
		if (found == NULL) {
			return len;
		}
		at = (size_t)(found - text) + 1;
		if (follows_text(text, at)) {
			return at;
		}
	}
	return len;
}
