/* SPDX-License-Identifier: MIT */
/* Spelling files: what each line gives, and which lines are refused in which words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "formats/spelling.h"
#include "tests/base/cases.h"

/* A line from memory of exactly its length, so that reading beyond it is seen. */
static int read_line(struct chi_spelling_reader *reader, const char *line, struct chi_spelling *out,
		     struct chi_fault *fault)
{
	size_t len = strlen(line);
	char *copy = malloc(len > 0 ? len : 1);
	assert_non_null(copy);
	memcpy(copy, line, len);
	fault->text[0] = '\0';
	int status = chi_spelling_line(reader, copy, len, out, fault);
	free(copy);
	return status;
}

CASE(test_sample)
{
	static const struct chi_spelling expected[] = {
		{CHI_SPELLING_PLAYER, "Tal, Mikhail", "Tal, Mihail", 0},
		{CHI_SPELLING_PLAYER, "Tal, Mikhail", "Tahl, M", 0},
		{CHI_SPELLING_PLAYER, "Tal, Mikhail", "Tal M.", 0},
		{CHI_SPELLING_PLAYER,
		 "H\xc3\xbc"
		 "bner, Robert",
		 "Huebner, R", 0},
		{CHI_SPELLING_PLAYER,
		 "H\xc3\xbc"
		 "bner, Robert",
		 "Hubner,Robert", 0},
		{CHI_SPELLING_PLAYER,
		 "H\xc3\xbc"
		 "bner, Robert",
		 NULL, 4600037},
		{CHI_SPELLING_EVENT, "Tata Steel Masters", "Wijk aan Zee Tata Steel", 0},
		{CHI_SPELLING_SITE, "Moscow RUS", "Moskva", 0},
	};
	char path[1024];
	char line[4096];
	size_t n = 0;
	struct chi_spelling_reader reader = {0};
	snprintf(path, sizeof(path), "%s/names/sample.ssp", getenv("CHISTORE_TEST_DATA"));
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		struct chi_spelling out;
		struct chi_fault fault;
		int status = read_line(&reader, line, &out, &fault);
		if (status == CHI_NONE) {
			continue;
		}
		assert_int_equal(status, CHI_OK);
		assert_true(n < CHI_COUNT(expected));
		assert_int_equal(out.kind, expected[n].kind);
		assert_string_equal(out.name, expected[n].name);
		assert_int_equal(out.fide, expected[n].fide);
		assert_int_equal(out.alias == NULL, expected[n].alias == NULL);
		if (out.alias != NULL) {
			assert_string_equal(out.alias, expected[n].alias);
		}
		n++;
	}
	fclose(file);
	assert_int_equal(n, CHI_COUNT(expected));
}

CASE(test_refusals)
{
	char longest[2 * CHI_NAME_MAX];
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	const struct {
		const char *lines[3];
		const char *text;
	} table[] = {
		{{"Tal"}, "line 1: a name before the first section"},
		{{"@PLAYERS"}, "line 1: a section is @PLAYER, @EVENT, @SITE or @ROUND"},
		{{"@PLAYER", "= Tal"}, "line 2: an alias without a name"},
		{{"@PLAYER", "Tal", "="}, "line 3: no name"},
		{{"@PLAYER", "%Bio FIDEID 1"}, "line 2: a FIDE id without a player"},
		{{"@PLAYER", "Tal", "%Bio FIDEID x"}, "line 3: the FIDE id is not a number"},
		{{"@PLAYER", "Tal", "%Bio FIDEID 0"}, "line 3: the FIDE id is not a number"},
		{{"@PLAYER", longest}, "line 2: the name is too long"},
		{{"@PLAYER", "\x01"}, "line 2: no name"},
		{{"@EVENT", "Open", "%Bio FIDEID 1"}, "line 3: a FIDE id without a player"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_spelling_reader reader = {0};
		struct chi_spelling out;
		struct chi_fault fault = {.text = ""};
		int status = CHI_NONE;
		for (size_t k = 0; k < 3 && table[i].lines[k] != NULL; k++) {
			assert_int_equal(status, CHI_NONE);
			status = read_line(&reader, table[i].lines[k], &out, &fault);
		}
		assert_int_equal(status, -CHI_EINVAL);
		assert_string_equal(fault.text, table[i].text);
	}
}

/* A file of Windows: a mark at its start, its ends of lines, its letters. */
CASE(test_windows)
{
	struct chi_spelling_reader reader = {0};
	struct chi_spelling out;
	struct chi_fault fault;
	assert_int_equal(read_line(&reader, "\xef\xbb\xbf@PLAYER\r\n", &out, &fault), CHI_NONE);
	assert_int_equal(read_line(&reader,
				   "H\xfc"
				   "bner\r\n",
				   &out, &fault),
			 CHI_NONE);
	assert_int_equal(read_line(&reader, "=Hubner\r\n", &out, &fault), CHI_OK);
	assert_string_equal(out.name, "H\xc3\xbc"
				      "bner");
	assert_string_equal(out.alias, "Hubner");
	assert_int_equal(read_line(&reader,
				   "=H\xfc"
				   "bner\r\n",
				   &out, &fault),
			 CHI_NONE);
}
