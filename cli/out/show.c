/* SPDX-License-Identifier: MIT */
#include "cli/out/show.h"

#include <stdio.h>

/* An argument for a shell. */
static size_t quote(char *out, size_t size, size_t len, const char *text)
{
	len += (size_t)snprintf(out + len, size - len, "'");
	for (; *text != '\0' && len + 8 < size; text++) {
		len += (size_t)snprintf(out + len, size - len, *text == '\'' ? "'\\''" : "%c",
					*text);
	}
	return len + (size_t)snprintf(out + len, size - len, "'");
}

void show_games(const char *fen, const char *filter, char out[SHOW_SIZE])
{
	size_t len = (size_t)snprintf(out, SHOW_SIZE, "chistore games --position ");
	len = quote(out, SHOW_SIZE, len, fen);
	if (filter[0] != '\0') {
		len += (size_t)snprintf(out + len, SHOW_SIZE - len, " --filter ");
		(void)quote(out, SHOW_SIZE, len, filter);
	}
}

void show_position(const char *fen, char out[SHOW_SIZE])
{
	size_t len = (size_t)snprintf(out, SHOW_SIZE, "chistore get --table ");
	(void)quote(out, SHOW_SIZE, len, fen);
}
