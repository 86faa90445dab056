/* SPDX-License-Identifier: MIT */
/* Files of positions: the format told by name and content, records over lines, and reading on
 * after bad lines. */
#include "base/attr.h"
#include "formats/reader.h"
#include "tests/base/cases.h"
#include "tests/cli/arena.h"
#include "tests/cli/files.h"

#define START  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define ENDING "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1"

/* What a file gave: positions, bad lines, and how it ended. */
struct outcome {
	unsigned good;
	unsigned bad;
	uint64_t bad_lines[8];
	struct chi_put_entry last;
	bool failed;
	char fault[CHI_FAULT_SIZE];
	char ignored[CHI_FAULT_SIZE];
};

static struct outcome read_all(const char *text, size_t len, const char *suffix,
			       enum chi_format format)
{
	struct outcome outcome = {.good = 0};
	struct chi_position_reader_options options = {.format = format};
	struct chi_position_reader *import = NULL;
	struct chi_fault fault = {.text = ""};
	char name[64];
	char *path = file_write(text, len, PLAIN);
	assert_non_null(path);
	snprintf(name, sizeof(name), "%s%s", path, suffix);
	assert_int_equal(rename(path, name), 0);
	free(path);
	assert_int_equal(chi_position_reader_open(name, &options, &import, &fault), CHI_OK);
	for (;;) {
		struct chi_put_entry put;
		int status = chi_position_reader_next(import, &arena, &put, &fault);
		if (status == CHI_NONE || chi_position_reader_failed(import)) {
			break;
		}
		if (status == CHI_OK) {
			outcome.good++;
			outcome.last = put;
		} else if (outcome.bad < CHI_COUNT(outcome.bad_lines)) {
			outcome.bad_lines[outcome.bad++] = chi_position_reader_line(import);
		}
	}
	outcome.failed = chi_position_reader_failed(import);
	snprintf(outcome.fault, sizeof(outcome.fault), "%s", fault.text);
	snprintf(outcome.ignored, sizeof(outcome.ignored), "%s",
		 chi_position_reader_ignored(import));
	chi_position_reader_close(import);
	unlink(name);
	return outcome;
}

static struct outcome read_text(const char *text, const char *suffix)
{
	return read_all(text, strlen(text), suffix, CHI_FORMAT_AUTO);
}

/* The name decides, else the first line. */
CASE(formats)
{
	static const struct {
		const char *text;
		const char *suffix;
	} files[] = {
		{START "\n" ENDING "\n", ""},
		{START "\n" ENDING "\n", ".epd"},
		{START "\n" ENDING, ".EPD.GZ"},
		{"fen\n" START "\n" ENDING "\n", ""},
		{"fen,chi2\n" START ",1\n" ENDING ",", ".csv"},
		{"\n\nfen,chi2\n" START ",1\n\n" ENDING ",\n", ".txt"},
		{"chi2\tfen\n-\t" START "\n2\t" ENDING "\n", ""},
		{"chi2\tfen\r\n-\t" START "\r\n2\t" ENDING "\r\n", ".tsv.zst"},
		{"\xef\xbb\xbf"
		 "fen,chi2\n" START ",1\n" ENDING ",",
		 ".csv"},
	};
	for (size_t i = 0; i < CHI_COUNT(files); i++) {
		struct outcome outcome = read_text(files[i].text, files[i].suffix);
		if (outcome.good != 2 || outcome.bad != 0 || outcome.failed) {
			fail_msg("file %zu: %u good, %u bad, %s", i, outcome.good, outcome.bad,
				 outcome.fault);
		}
	}
}

/* Each took a few bytes until the next record, so that five million were too many. */
CASE(blank_lines_took_memory)
{
	static char text[100000 + 128] = "fen,note\n";
	struct chi_arena whole = arena;
	size_t len = strlen(text);
	memset(text + len, '\n', 100000);
	strcpy(text + len + 100000, START ",x\n");
	chi_arena_init(&arena, (size_t)1 << 16);
	struct outcome outcome = read_text(text, ".csv");
	chi_arena_deinit(&arena);
	arena = whole;
	if (outcome.good != 1 || outcome.failed) {
		fail_msg("%s", outcome.fault);
	}
}

/* What the caller says goes before both. */
CASE(format_given)
{
	const char *text = "note,fen\nx," START "\n";
	assert_int_equal(read_all(text, strlen(text), ".epd", CHI_FORMAT_CSV).good, 1);
	assert_int_equal(read_all(text, strlen(text), ".csv", CHI_FORMAT_EPD).good, 0);
	assert_int_equal(chi_format_of("tsv"), CHI_FORMAT_TSV);
	assert_int_equal(chi_format_of("pgn"), CHI_FORMAT_PGN);
	assert_int_equal(chi_format_of("png"), CHI_FORMAT_AUTO);
}

/* By what comes first. */
CASE(games_are_told)
{
	static const char *const games[] = {
		"[Event \"x\"]\n", "\xef\xbb\xbf[White", "\r\n \t\n[", "% escaped\n[", "1. e4 e5",
		"12.e4",	   "{ text } 1. d4",	 "; text",
	};
	static const char *const others[] = {
		"", "\n\n", START, "8/8/8 w", "fen,chi2", "1", "12", "\xef\xbb", "1 e4", "POLY",
	};
	for (size_t i = 0; i < CHI_COUNT(games); i++) {
		assert_true(chi_position_reader_is_pgn(games[i], strlen(games[i])));
	}
	for (size_t i = 0; i < CHI_COUNT(others); i++) {
		assert_false(chi_position_reader_is_pgn(others[i], strlen(others[i])));
	}
	/* Binary files may begin with anything. */
	assert_false(chi_position_reader_is_pgn("\0[", 2));
	assert_int_equal(chi_format_of_path("a.PGN.zst"), CHI_FORMAT_PGN);
}

/* Told by number and skipped. */
CASE(bad_lines)
{
	struct outcome outcome =
		read_text(START "\nnonsense\n\n" ENDING "\n" START " bm Ke5;\n" ENDING, ".epd");
	assert_int_equal(outcome.good, 3);
	assert_int_equal(outcome.bad, 2);
	assert_int_equal(outcome.bad_lines[0], 2);
	assert_int_equal(outcome.bad_lines[1], 5);
	assert_false(outcome.failed);
}

/* A quoted cell may have line ends: the record's number is that of its first line. */
CASE(records_over_lines)
{
	struct outcome outcome = read_text("fen,note\n" START ",\"two\nlines\"\nbad,x\n" ENDING
					   ",\"three\r\n\r\nlines\"\n",
					   ".csv");
	assert_int_equal(outcome.good, 2);
	assert_int_equal(outcome.bad, 1);
	assert_int_equal(outcome.bad_lines[0], 4);
	assert_int_equal(outcome.last.record.n_note, strlen("three\r\n\r\nlines"));
	assert_memory_equal(outcome.last.record.note, "three\r\n\r\nlines", 14);
	/* A mark that is never closed is one bad record, and no end of the world. */
	outcome = read_text("fen,note\n" START ",ok\n" ENDING ",\"open\nrest\n", ".csv");
	assert_int_equal(outcome.good, 1);
	assert_int_equal(outcome.bad, 1);
	assert_int_equal(outcome.bad_lines[0], 3);
}

CASE(headers)
{
	struct outcome outcome = read_text("position,chi2\nx,1\n", ".csv");
	assert_true(outcome.failed);
	assert_non_null(strstr(outcome.fault, "fen"));
	outcome = read_text("fen,elo\n" START ",2000\n", ".csv");
	assert_int_equal(outcome.good, 1);
	assert_non_null(strstr(outcome.ignored, "elo"));
	outcome = read_text("[Event \"x\"]\n\n1. e4 *\n", ".epd");
	assert_true(outcome.failed);
	assert_non_null(strstr(outcome.fault, "games"));
}

/* Any bytes are lines that are refused, not the end of the program. */
CASE(binary)
{
	char text[70000];
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] = (char)(i * 131 + i / 251);
	}
	struct outcome outcome = read_all(text, sizeof(text), "", CHI_FORMAT_AUTO);
	assert_int_equal(outcome.good, 0);
	assert_true(outcome.bad > 0);
	assert_false(outcome.failed);
}

CASES_MAIN(arena_setup, arena_teardown)
