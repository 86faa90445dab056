/* SPDX-License-Identifier: MIT */
/* Explorations as text: bars that add up, and answers of servers that cannot be trusted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "cli/out/explored.h"
#include "tests/base/cases.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define E2E4  (12 << 6 | 28)

static char printed[16384];

enum form {
	TSV,
	JSON,
	TABLE
};

/* The status of printing; what was printed is in `printed`. */
static int print(const struct chi_explored *explore, size_t n, enum form form)
{
	static const struct table_options options = {.ascii = true};
	struct card card = {
		.key = explore->position.key, .eco = explore->eco, .opening = explore->opening};
	struct table table;
	int status;
	FILE *file = tmpfile();
	assert_non_null(file);
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	assert_true(saved >= 0 && dup2(fileno(file), STDOUT_FILENO) >= 0);
	if (form == TABLE) {
		assert_true(table_open(&options, &table));
		status = card_print(&table, &card);
		status = status == CHI_OK ? explored_table(explore, n, NULL, &table) : status;
		if (status == CHI_OK) {
			table_close(&table);
		}
		table_deinit(&table);
	} else {
		status = explored_print(explore, n, NULL, &card, form == JSON);
	}
	fflush(stdout);
	assert_true(dup2(saved, STDOUT_FILENO) >= 0);
	close(saved);
	rewind(file);
	size_t len = fread(printed, 1, sizeof(printed) - 1, file);
	printed[len] = '\0';
	fclose(file);
	return status;
}

static struct chi_explored start(void)
{
	struct chi_explored explore = {.min_ply = -1, .position.found = true};
	assert_int_equal(chi_key_from_fen(START, strlen(START), &explore.position.key, NULL),
			 CHI_OK);
	return explore;
}

CASE(bars_add_up)
{
	static const struct {
		struct chi_counts counts;
		const char *bar;
	} table[] = {
		{{1, 0, 0, 0}, "####################"},
		{{0, 3, 0, 0}, "===================="},
		{{0, 0, 7, 9}, "...................."},
		{{1, 1, 1, 0}, "#######======......."},
		{{1000000, 1, 0, 0}, "####################"},
		{{1, 1000000, 1, 0}, "===================="},
		{{1, 0, 1, 0}, "##########.........."},
		{{UINT64_MAX, UINT64_MAX, UINT64_MAX, 0}, "#######======......."},
		{{UINT64_MAX, 1, 0, 0}, "####################"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_explored explore = start();
		struct chi_explore_move move = {.move = E2E4, .played = table[i].counts};
		char framed[32];
		explore.moves = &move;
		explore.n_moves = 1;
		assert_int_equal(print(&explore, 1, TABLE), CHI_OK);
		snprintf(framed, sizeof(framed), "  %s  ", table[i].bar);
		if (strstr(printed, framed) == NULL) {
			fail_msg("%s lacks '%s'", printed, framed);
		}
	}
}

/* Without moves there are no rows, and no heading in the table. */
CASE(shows_no_moves)
{
	struct chi_explored explore = start();
	assert_int_equal(print(&explore, 0, TABLE), CHI_OK);
	assert_string_equal(printed, "FEN      " START "\n\n"
				     "8  r n b q k b n r   to move  White\n"
				     "7  p p p p p p p p\n"
				     "6  . . . . . . . .\n"
				     "5  . . . . . . . .\n"
				     "4  . . . . . . . .\n"
				     "3  . . . . . . . .\n"
				     "2  P P P P P P P P\n"
				     "1  R N B Q K B N R\n"
				     "   a b c d e f g h\n");
	assert_int_equal(print(&explore, 0, TSV), CHI_OK);
	assert_ptr_equal(strchr(printed, '\n'), strrchr(printed, '\n'));
}

/* A move that is not legal there, or a position that is none: nothing is printed. */
CASE(prints_nothing_that_cannot_be)
{
	for (int form = TSV; form <= TABLE; form++) {
		struct chi_explored explore = start();
		struct chi_explore_move moves[2] = {{.move = E2E4}, {.move = 12 << 6 | 36}};
		explore.moves = moves;
		explore.n_moves = 2;
		assert_int_equal(print(&explore, 2, form), -CHI_EMOVE);
		assert_string_equal(printed, "");
		memset(explore.position.key.bytes, 0xff, CHI_KEY_MAX);
		assert_int_equal(print(&explore, 0, form), -CHI_EKEY);
		assert_string_equal(printed, "");
	}
}

/* Neither lines nor a terminal's commands come out of names. */
CASE(prints_names_as_text)
{
	struct chi_explored explore = start();
	struct chi_explore_move move = {.move = E2E4,
					.eco = "\x1b[2J and much more than a code",
					.opening = "a\tb\n\x1b[31m"};
	explore.eco = "\x1b[2J";
	explore.opening = "\x7f\r";
	explore.moves = &move;
	explore.n_moves = 1;
	for (int form = TSV; form <= TABLE; form++) {
		assert_int_equal(print(&explore, 1, form), CHI_OK);
		/* JSON escapes no more than it must. */
		assert_null(strpbrk(printed, form == JSON ? "\x1b\r" : "\x1b\x7f\r"));
	}
	assert_int_equal(print(&explore, 1, TSV), CHI_OK);
	const char *row = strchr(printed, '\n') + 1;
	assert_non_null(strstr(row, "\t?[2J?and?much?more?than\ta?b??[31m\n"));
	assert_string_equal(strchr(row, '\n'), "\n");
}
