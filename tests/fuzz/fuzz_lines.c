/* SPDX-License-Identifier: MIT */
/*
 * Reaches formats/lines.h as an import does that knows no more of a file than its bytes: the first
 * line that is not blank chooses the format, records of several lines are joined. What is accepted
 * must pass the checks a store makes of what it is given.
 */
#include <string.h>

#include "base/arena.h"
#include "formats/lines.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

static size_t line_len(const char *at, const char *end)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	return (size_t)((stop != NULL ? stop : end) - at);
}

/* The record that begins at `at`, a line or several. */
static size_t record_len(const struct chi_lines *lines, const char *at, const char *end)
{
	size_t len = line_len(at, end);
	bool open = chi_lines_open(lines, at, len, false);
	while (open && at + len < end) {
		const char *next = at + len + 1;
		size_t more = line_len(next, end);
		open = chi_lines_open(lines, next, more, true);
		len += 1 + more;
	}
	return len;
}

static void read_record(struct chi_lines *lines, const char *at, size_t len,
			struct chi_arena *arena)
{
	struct chi_put_entry put;
	struct chi_fault fault = {.text = ""};
	chi_arena_reset(arena);
	int status = chi_lines_read(lines, at, len, arena, &put, &fault);
	if (status == CHI_OK) {
		REQUIRE(chi_put_check(&put, CHI_STATISTIC_EXTERNAL, &fault) == CHI_OK);
	} else {
		REQUIRE(status == CHI_NONE || fault.text[0] != '\0');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data;
	const char *end = at + size;
	struct chi_arena arena;
	struct chi_lines lines;
	struct chi_fault fault = {.text = ""};
	int begun = -1;
	REQUIRE(chi_lines_init(&lines, CHI_FORMAT_AUTO, NULL, false, &fault) == CHI_OK);
	chi_arena_init(&arena, (size_t)4 << 20);
	for (size_t len = 0; at < end; at += len + 1) {
		len = begun < 0 ? line_len(at, end) : record_len(&lines, at, end);
		bool blank = begun < 0 && chi_line_is_blank(at, len);
		if (begun < 0 && !blank) {
			begun = chi_lines_begin(&lines, at, len, &arena, &fault);
			if (begun < 0) {
				REQUIRE(fault.text[0] != '\0');
				break;
			}
			REQUIRE(lines.format != CHI_FORMAT_AUTO);
			blank = begun == CHI_OK;
		}
		if (!blank) {
			read_record(&lines, at, len, &arena);
		}
	}
	chi_arena_deinit(&arena);
	return 0;
}
