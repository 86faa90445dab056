/* SPDX-License-Identifier: MIT */
/*
 * Reaches formats/csv.h: the first byte chooses the separator, the first line is the header,
 * the others are records joined as the reader joins them. What is accepted must pass the checks a
 * store makes of what it is given.
 */
#include <string.h>

#include "base/arena.h"
#include "formats/csv.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

/* The end of the record that begins at `at`: a newline outside quotation marks, or the end. */
static const char *record_end(char separator, const char *at, const char *end)
{
	bool open = false;
	const char *line = at;
	for (;;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		stop = stop != NULL ? stop : end;
		open = chi_csv_quotes(separator, line, (size_t)(stop - line), open);
		if (!open || stop == end) {
			return stop;
		}
		line = stop + 1;
	}
}

static void read_records(struct chi_csv *csv, const char *at, const char *end,
			 struct chi_arena *arena)
{
	while (at < end) {
		struct chi_put_entry put;
		struct chi_fault fault = {.text = ""};
		const char *stop = record_end(csv->separator, at, end);
		int status = chi_csv_read(csv, at, (size_t)(stop - at), arena, &put, &fault);
		if (status == CHI_OK) {
			REQUIRE(chi_put_check(&put, CHI_STATISTIC_EXTERNAL, &fault) == CHI_OK);
		} else if (status != CHI_NONE) {
			REQUIRE(status < 0 && fault.text[0] != '\0');
		}
		at = stop < end ? stop + 1 : end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_arena arena;
	struct chi_csv csv = {.engine = "e"};
	struct chi_fault fault = {.text = ""};
	if (size == 0) {
		return 0;
	}
	char separator = data[0] == 't' ? '\t' : ',';
	const char *text = (const char *)data + 1;
	const char *end = (const char *)data + size;
	const char *stop = memchr(text, '\n', (size_t)(end - text));
	stop = stop != NULL ? stop : end;
	chi_arena_init(&arena, (size_t)16 << 20);
	if (chi_csv_header(&csv, separator, text, (size_t)(stop - text), &arena, &fault) ==
	    CHI_OK) {
		read_records(&csv, stop < end ? stop + 1 : end, end, &arena);
	} else {
		REQUIRE(fault.text[0] != '\0');
	}
	chi_arena_deinit(&arena);
	return 0;
}
