/* SPDX-License-Identifier: MIT */
/* What a GUI may set, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "uci/options.h"
#include "tests/base/cases.h"

static struct chi_uci_options options;
static struct chi_fault fault;

static int set(const char *name, const char *value)
{
	fault.text[0] = '\0';
	return chi_uci_options_set(&options, name, value, &fault);
}

CASE(test_numbers)
{
	chi_uci_options_init(&options);
	assert_int_equal(options.hash, 64);
	assert_int_equal(set("Hash", "1"), CHI_OK);
	assert_int_equal(options.hash, 1);
	assert_int_equal(set("hash", "65536"), CHI_OK);
	static const char *const bad[] = {
		"0", "65537", "", "x", "-1", "1e3", "99999999999999999999"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set("Hash", bad[i]), -CHI_EINVAL);
		assert_non_null(strstr(fault.text, "Hash is a number from 1 to 65536"));
	}
	assert_int_equal(set("Hash", NULL), -CHI_EINVAL);
	assert_int_equal(options.hash, 65536);
}

CASE(test_choices)
{
	chi_uci_options_init(&options);
	assert_int_equal(options.book, CHI_BOOK_WEIGHTED);
	assert_int_equal(set("Book", "Best"), CHI_OK);
	assert_int_equal(options.book, CHI_BOOK_BEST);
	assert_int_equal(set("Book", "weight"), -CHI_EINVAL);
	assert_string_equal(fault.text, "Book is one of: off best weighted; not 'weight'");
	assert_int_equal(set("Learn", "pv"), CHI_OK);
	assert_int_equal(options.learn, CHI_LEARN_PV);
	assert_int_equal(set("Ponder", "yes"), -CHI_EINVAL);
	assert_int_equal(set("UCI_Chess960", "TRUE"), CHI_OK);
	assert_int_equal(options.chess960, 1);
	assert_int_equal(set("Clear Hash", NULL), CHI_OK);
	assert_int_equal(set("Contempt", "1"), -CHI_EINVAL);
	assert_string_equal(fault.text, "there is no option 'Contempt'");
}

CASE(test_texts)
{
	char *text = calloc(1, CHI_UCI_TEXT + 1);
	assert_non_null(text);
	chi_uci_options_init(&options);
	memset(text, 'a', CHI_UCI_TEXT - 1);
	assert_int_equal(set("Store", text), CHI_OK);
	assert_string_equal(options.store, text);
	text[CHI_UCI_TEXT - 1] = 'a';
	assert_int_equal(set("Store", text), -CHI_EINVAL);
	assert_int_equal(set("Store", "<empty>"), CHI_OK);
	assert_string_equal(options.store, "");
	free(text);
}

/* What another engine is told, and what is listed once. */
CASE(test_shared_with_another_engine)
{
	static const char *const lines[] = {
		"setoption name Hash value 7",		 "setoption name MultiPV value 1",
		"setoption name Ponder value false",	 "setoption name UCI_Chess960 value true",
		"setoption name Move Overhead value 30",
	};
	char line[CHI_UCI_LINE];
	const char *name;
	size_t n = 0;
	chi_uci_options_init(&options);
	assert_int_equal(set("Hash", "7"), CHI_OK);
	assert_int_equal(set("UCI_Chess960", "true"), CHI_OK);
	while (chi_uci_options_line(&options, n, &name, line, sizeof(line))) {
		assert_string_equal(line, lines[n++]);
		assert_true(chi_uci_options_shared(name));
	}
	assert_int_equal(n, sizeof(lines) / sizeof(lines[0]));
	assert_true(chi_uci_options_shared("clear hash"));
	assert_false(chi_uci_options_shared("Store"));
	assert_true(chi_uci_options_has_line("option name move overhead type spin default 0"));
	assert_true(chi_uci_options_has_line("option name Book type string default x.bin"));
	assert_false(chi_uci_options_has_line("option name Threads type spin default 1"));
	assert_false(chi_uci_options_has_line("option name Hash"));
	assert_false(chi_uci_options_has_line(""));
}
