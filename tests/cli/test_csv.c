/* SPDX-License-Identifier: MIT */
/* CSV and TSV records: headers, quoting, columns, and what is refused. */
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "formats/csv.h"
#include "tests/base/cases.h"
#include "tests/cli/arena.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

static int header(struct chi_csv *csv, char separator, const char *text, struct chi_fault *fault)
{
	fault->text[0] = '\0';
	return chi_csv_header(csv, separator, text, strlen(text), &arena, fault);
}

static int record(struct chi_csv *csv, const char *text, struct chi_put_entry *put,
		  struct chi_fault *fault)
{
	fault->text[0] = '\0';
	return chi_csv_read(csv, text, strlen(text), &arena, put, fault);
}

/* Columns in any order, some unknown, none twice. */
CASE(headers)
{
	struct chi_csv csv = {.add = false};
	struct chi_fault fault;
	assert_int_equal(header(&csv, ',', "fen,chi2,white,draws,black,note", &fault), CHI_OK);
	assert_int_equal(csv.n_fields, 6);
	assert_string_equal(csv.ignored, "");
	assert_int_equal(header(&csv, ',', "Note, \"ELO\",FEN", &fault), CHI_OK);
	assert_int_equal(csv.field[CHI_CSV_FEN], 3);
	assert_int_equal(csv.field[CHI_CSV_NOTE], 1);
	assert_int_equal(csv.field[CHI_CSV_CHI2], 0);
	assert_non_null(strstr(csv.ignored, "ELO") != NULL ? csv.ignored : NULL);
	/* What scan prints can be imported as it is. */
	assert_int_equal(header(&csv, '\t', "chi2\tfen\tgames\twhite\tdraws\tblack", &fault), 0);
	assert_string_equal(csv.ignored, "");

	assert_int_equal(header(&csv, ',', "chi2,note", &fault), -CHI_ESYNTAX);
	assert_non_null(strstr(fault.text, "fen"));
	assert_int_equal(header(&csv, ',', "", &fault), -CHI_ESYNTAX);
	assert_int_equal(header(&csv, ',', "fen,FEN", &fault), -CHI_ESYNTAX);
	assert_non_null(strstr(fault.text, "twice"));
	assert_int_equal(header(&csv, ',', "\"fen", &fault), -CHI_ESYNTAX);
}

CASE(records)
{
	struct chi_csv csv = {.add = false};
	struct chi_fault fault;
	struct chi_put_entry put;
	struct chi_key start;
	assert_int_equal(chi_key_from_fen(START, strlen(START), &start, NULL), CHI_OK);
	assert_int_equal(header(&csv, ',', "fen,chi2,white,draws,black,note", &fault), CHI_OK);

	assert_int_equal(record(&csv, START ",76.00,3,2,1,all", &put, &fault), CHI_OK);
	assert_memory_equal(&put.key, &start, sizeof(start));
	assert_int_equal(put.parts, CHI_PUT_CHI2 | CHI_PUT_COUNTS | CHI_PUT_NOTE);
	assert_int_equal(put.record.chi2, 7600);
	assert_int_equal(put.record.counts.white, 3);
	assert_int_equal(put.record.counts.draws, 2);
	assert_int_equal(put.record.counts.black, 1);
	assert_int_equal(put.record.n_note, 3);

	/* Empty cells leave what is stored alone; one count given makes the others 0. */
	assert_int_equal(record(&csv, START ",,,,,", &put, &fault), CHI_OK);
	assert_int_equal(put.parts, 0);
	assert_int_equal(record(&csv, START ",-,,7,,", &put, &fault), CHI_OK);
	assert_int_equal(put.parts, CHI_PUT_CHI2 | CHI_PUT_COUNTS);
	assert_int_equal(put.record.chi2, CHI_CHI2_UNKNOWN);
	assert_int_equal(put.record.counts.draws, 7);
	assert_int_equal(put.record.counts.white, 0);

	assert_int_equal(record(&csv, " " START " , 1.5 ,,,, kept ", &put, &fault), CHI_OK);
	assert_int_equal(put.record.chi2, 150);
	assert_int_equal(put.record.n_note, 6);

	csv.add = true;
	assert_int_equal(record(&csv, START ",,1,1,1,", &put, &fault), CHI_OK);
	assert_int_equal(put.parts, CHI_PUT_ADD);
	assert_int_equal(record(&csv, "", &put, &fault), CHI_NONE);
	assert_int_equal(record(&csv, "  ", &put, &fault), CHI_NONE);
}

/* Games without result are a count like the others. */
CASE(games_without_result)
{
	struct chi_csv csv = {.add = false};
	struct chi_fault fault;
	struct chi_put_entry put;
	assert_int_equal(header(&csv, ',', "fen,white,other", &fault), CHI_OK);
	assert_string_equal(csv.ignored, "");
	assert_int_equal(record(&csv, START ",,3", &put, &fault), CHI_OK);
	assert_int_equal(put.parts, CHI_PUT_COUNTS);
	assert_int_equal(put.record.counts.other, 3);
	assert_int_equal(put.record.counts.white, 0);
	assert_int_equal(record(&csv, START ",,", &put, &fault), CHI_OK);
	assert_int_equal(put.parts, 0);
	assert_int_equal(record(&csv, START ",1,x", &put, &fault), -CHI_ESYNTAX);
}

/* RFC 4180: a quote in a quoted cell is doubled, line ends belong to it. */
CASE(quoting)
{
	struct chi_csv csv = {.add = false};
	struct chi_fault fault;
	struct chi_put_entry put;
	assert_int_equal(header(&csv, ',', "note,fen", &fault), CHI_OK);
	static const struct {
		const char *text;
		const char *note;
	} good[] = {
		{"\"a, b\"," START, "a, b"},
		{"\"say \"\"hm\"\"\"," START, "say \"hm\""},
		{"\"\"\"\"," START, "\""},
		{"two\"marks\"," START, "two\"marks\""},
		{"\"line\nbreak\"," START, "line\nbreak"},
		{"plain,\"" START "\"", "plain"},
	};
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		assert_int_equal(record(&csv, good[i].text, &put, &fault), CHI_OK);
		assert_int_equal(put.record.n_note, strlen(good[i].note));
		assert_memory_equal(put.record.note, good[i].note, strlen(good[i].note));
	}
	assert_int_equal(record(&csv, "\"open," START, &put, &fault), -CHI_ESYNTAX);
	assert_non_null(strstr(fault.text, "not closed"));
	assert_int_equal(record(&csv, "\"x\"y," START, &put, &fault), -CHI_ESYNTAX);
	assert_non_null(strstr(fault.text, "after"));
}

/* The rule that joins lines must see quotes exactly as the rule that splits fields does. */
CASE(quotes_over_lines)
{
	static const struct {
		const char *text;
		bool before;
		bool after;
	} cases[] = {
		{"a,b", false, false},	      {"a,\"b", false, true},
		{"a,\"b\"", false, false},    {"a,b\"c", false, false},
		{"\"a\"\"", false, true},     {"\"a\"\"b\"", false, false},
		{"still open", true, true},   {"closed\",x", true, false},
		{"closed\",\"x", true, true}, {"\"\"", true, true},
		{"\"", true, false},	      {"", true, true},
		{"\"\"", false, false},	      {"\"\"\"", false, true},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		const char *text = cases[i].text;
		assert_int_equal(chi_csv_quotes(',', text, strlen(text), cases[i].before),
				 cases[i].after);
	}
}

/* Each is refused, and the fault names the column. */
CASE(bad_records)
{
	struct chi_csv csv = {.add = false};
	struct chi_fault fault;
	struct chi_put_entry put;
	assert_int_equal(header(&csv, ',', "fen,chi2,white,draws,black,note", &fault), CHI_OK);
	static const struct {
		const char *text;
		int status;
		const char *words;
	} bad[] = {
		{"x,1,,,,", -CHI_EFEN, ""},
		{START, -CHI_ESYNTAX, "1 fields where the header has 6"},
		{START ",1,2,3,4,5,6", -CHI_ESYNTAX, "7 fields"},
		{START ",25x,,,,", -CHI_ESYNTAX, "chi2"},
		{START ",-1,,,,", -CHI_ESYNTAX, "chi2"},
		{START ",1,x,,,", -CHI_ESYNTAX, "white"},
		{START ",1,,-2,,", -CHI_ESYNTAX, "draws"},
		{START ",1,,,9223372036854775808,", -CHI_ESYNTAX, "black"},
		{START ",1,,,,\xc3", -CHI_ESYNTAX, "UTF-8"},
		{",1,,,,", -CHI_EFEN, ""},
	};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		int status = record(&csv, bad[i].text, &put, &fault);
		if (status != bad[i].status || strstr(fault.text, bad[i].words) == NULL) {
			fail_msg("'%s': %d '%s'", bad[i].text, status, fault.text);
		}
	}
	static char longest[CHI_NOTE_MAX + 128];
	strcpy(longest, START ",,,,,");
	size_t len = strlen(longest);
	memset(longest + len, 'n', CHI_NOTE_MAX);
	assert_int_equal(record(&csv, longest, &put, &fault), CHI_OK);
	strcat(longest, "n");
	assert_int_equal(record(&csv, longest, &put, &fault), -CHI_ETOOBIG);
}

CASES_MAIN(arena_setup, arena_teardown)
