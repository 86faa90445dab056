/* SPDX-License-Identifier: MIT */
/*
 * Reaches store/text/dump.h: any bytes as a dump, line by line. A position that is read and passes
 * the store's checks must print to a line that reads back as the same line. Checksums say the same
 * wherever the text is cut.
 */
#include <string.h>

#include "base/arena.h"
#include "store/text/dump.h"
#include "store/text/seal.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

static void check_position(const struct chi_dump_reader *reader, const struct chi_put_entry *put,
			   struct chi_arena *arena)
{
	char *text;
	char *again;
	size_t len;
	size_t n;
	if (chi_put_check(put, CHI_STATISTIC_EXTERNAL, NULL) != CHI_OK) {
		return;
	}
	REQUIRE(chi_dump_print(&put->key, &put->record, arena, &text, &len) == CHI_OK);
	REQUIRE(len > 0 && text[len - 1] == '\n' && memchr(text, '\n', len) == text + len - 1);
	struct chi_dump_reader copy = *reader;
	enum chi_dump_line kind;
	struct chi_put_entry back;
	REQUIRE(chi_dump_read(&copy, text, len - 1, arena, &kind, &back, NULL) == CHI_OK);
	REQUIRE(kind == CHI_DUMP_POSITION);
	REQUIRE(chi_dump_print(&back.key, &back.record, arena, &again, &n) == CHI_OK);
	REQUIRE(n == len && memcmp(text, again, n) == 0);
}

/* In pieces of `piece` bytes. */
static int check_sums(const char *text, size_t len, size_t piece)
{
	struct chi_dump_seal seal;
	struct chi_fault fault;
	int rc = chi_dump_seal_init(&seal);
	REQUIRE(rc == CHI_OK);
	for (size_t at = 0; rc == CHI_OK && at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		rc = chi_dump_seal_check(&seal, text + at, n, &fault);
	}
	rc = rc == CHI_OK ? chi_dump_seal_whole(&seal, &fault) : rc;
	chi_dump_seal_deinit(&seal);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chi_dump_reader reader;
	struct chi_arena arena;
	const char *at = (const char *)data;
	const char *end = at + size;
	REQUIRE(check_sums(at, size, size + 1) == check_sums(at, size, 1 + size % 61));
	chi_dump_reader_init(&reader);
	chi_arena_init(&arena, (size_t)64 << 20);
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop != NULL ? stop : end;
		struct chi_fault fault = {.text = ""};
		enum chi_dump_line kind;
		struct chi_put_entry put;
		chi_arena_reset(&arena);
		int status = chi_dump_read(&reader, at, (size_t)(stop - at), &arena, &kind, &put,
					   &fault);
		if (status != CHI_OK) {
			REQUIRE(fault.text[0] != '\0');
		} else if (kind == CHI_DUMP_POSITION) {
			check_position(&reader, &put, &arena);
		} else if (kind == CHI_DUMP_GAME) {
			/* A game has one line. */
			char *text;
			size_t len;
			REQUIRE(chi_dump_print_game(&reader.game, &arena, &text, &len) == CHI_OK);
			REQUIRE(len == (size_t)(stop - at) + 1 && memcmp(text, at, len - 1) == 0);
		}
		at = stop < end ? stop + 1 : end;
	}
	chi_arena_deinit(&arena);
	return 0;
}
