/* SPDX-License-Identifier: MIT */
/* Annotations as bytes: the example of notes.h, each item there and back, and bytes that are none.
 */
#include "tests/chess/support.h"

#include <stdlib.h>

#include "chess/pgn/notes.h"
#include "tests/chess/notes_check.h"

#define SIZE 4096

CASE(writes_the_example)
{
	static const uint8_t expected[] = {0xa1, 0x08, 0xe7, 0x02, 0x43, 0x04, 'g',  'o',
					   'o',	 'd',  0x81, 0x02, 0x01, 0xa2, 0x0c, 0x00};
	uint8_t bytes[SIZE];
	struct chi_notes_writer writer = chi_notes_writer_of(bytes, sizeof(bytes));
	chi_notes_nag(&writer, 1, 1);
	chi_notes_comment(&writer, 1, "[%clk 0:03:00] good", 19);
	chi_notes_open(&writer, 2);
	chi_notes_move(&writer, chi_move_make(50, 34, 0));
	chi_notes_close(&writer);
	assert_int_equal(writer.n, sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_int_equal(writer.lost, 0);
}

/* A comment's pieces as text again. */
static void print_comment(const uint8_t *bytes, size_t len, char *out)
{
	struct chi_notes_reader reader = chi_notes_reader_of(bytes, len, 0);
	struct chi_note note;
	char *at = out;
	while (chi_notes_next(&reader, &note) == CHI_OK) {
		char text[CHI_NOTE_TEXT_SIZE];
		if (note.joined) {
			*at++ = ' ';
		}
		if (note.kind == CHI_NOTE_TEXT) {
			memcpy(at, note.text, note.len);
			at += note.len;
		} else {
			size_t n = chi_note_print(&note, text);
			memcpy(at, text, n);
			at += n;
		}
	}
	*at = '\0';
}

CASE(prints_comments_back)
{
	static const struct {
		const char *text;
		size_t bytes;
	} table[] = {
		{"a", 3},
		{"[%clk 0:03:00]", 3},
		{"[%clk 0:00:00]", 2},
		{"[%clk 1:30:43.7]", 4},
		{"[%clk 01:29:59]", 3},
		{"[%clk 99:59:59]", 4},
		{"[%emt 0:00:07]", 2},
		{"[%emt 00:00:07.0]", 2},
		{"[%eval 0.17]", 2},
		{"[%eval -12.34,18]", 4},
		{"[%eval #-3]", 2},
		{"[%eval #5,40]", 3},
		{"[%eval 0.17] [%clk 0:03:00]", 5},
		{"[%eval 0.17] [%clk 0:03:00] good", 11},
		{"good [%eval 0.17]", 8},
		/* not as they are usually written: text */
		{"[%clk 0:3:00]", 15},
		{"[%clk 0:60:00]", 16},
		{"[%clk 0:00:99]", 16},
		{"[%clk 100:00:00]", 18},
		{"[%clk 0:03:00.25]", 19},
		{"[%clk -0:03:00]", 17},
		{"[%eval 0.5]", 13},
		{"[%eval +0.50]", 15},
		{"[%eval -0.00]", 15},
		{"[%eval 0.17 ]", 15},
		{"[%eval 99999999999.00]", 24},
		{"[%eval 0.17,99999999999]", 26},
		{"[%eval #]", 11},
		{"[%eval ", 9},
		{"[%eval 0.17][%clk 0:03:00]", 28},
		{"[%eval 0.17]\n[%clk 0:03:00]", 29},
		{"[%eval 0.17]  [%clk 0:03:00]", 19},
		{"a  [%clk 0:03:00]", 7},
		{"[%cal Ga1a2]", 14},
		{"[%eval 0.17] }", 16},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		uint8_t bytes[SIZE];
		char text[SIZE];
		struct chi_notes_writer writer = chi_notes_writer_of(bytes, sizeof(bytes));
		chi_notes_comment(&writer, 0, table[i].text, strlen(table[i].text));
		assert_int_equal(check_notes(bytes, writer.n, 0), CHI_OK);
		print_comment(bytes, writer.n, text);
		assert_string_equal(text, table[i].text);
		if (writer.n != table[i].bytes) {
			fail_msg("%s: %zu bytes", table[i].text, writer.n);
		}
	}
}

CASE(tells_clocks_by_their_differences)
{
	static const char *const clocks[] = {"[%clk 0:03:00.4]", "[%clk 0:03:00]",
					     "[%clk 0:02:58.9]", "[%clk 0:02:59]",
					     "[%clk 0:02:57]",	 "[%clk 0:03:01.1]"};
	uint8_t bytes[SIZE];
	struct chi_notes_writer writer = chi_notes_writer_of(bytes, sizeof(bytes));
	for (size_t i = 0; i < CHI_COUNT(clocks); i++) {
		chi_notes_comment(&writer, i + 1, clocks[i], strlen(clocks[i]));
	}
	assert_int_equal(writer.n, 3 + 3 + 2 + 2 + 2 + 2);
	struct chi_notes_reader reader = chi_notes_reader_of(bytes, writer.n, 6);
	for (size_t i = 0; i < CHI_COUNT(clocks); i++) {
		struct chi_note note;
		char text[CHI_NOTE_TEXT_SIZE];
		assert_int_equal(chi_notes_next(&reader, &note), CHI_OK);
		assert_int_equal(note.ply, i + 1);
		chi_note_print(&note, text);
		assert_string_equal(text, clocks[i]);
	}
}

CASE(refuses_what_is_no_notes)
{
	static const struct {
		size_t len;
		uint8_t bytes[20];
	} table[] = {
		{1, {0x00}},				 /* an end of nothing */
		{1, {0x01}},				 /* no end */
		{4, {0x02, 0x01, 0xa2, 0x0c}},		 /* moves of no variation */
		{3, {0x01, 0x02, 0x00}},		 /* no moves */
		{3, {0x01, 0x02, 0x80}},		 /* too many at once */
		{4, {0x01, 0x02, 0x01, 0xa2}},		 /* half a move */
		{2, {0x03, 0x00}},			 /* an empty text */
		{2, {0x03, 0x01}},			 /* a text that is not there */
		{3, {0x03, 0x01, 0xff}},		 /* no UTF-8 */
		{3, {0x03, 0x01, 0x01}},		 /* a control character */
		{5, {0x03, 0x03, '}', '\n', 'a'}},	 /* neither '{' nor ';' could hold it */
		{6, {0x03, 0x01, 'a', 0x43, 0x01, '}'}}, /* nor this */
		{6, {0x03, 0x01, '}', 0x43, 0x01, 'a'}},
		{3, {0x43, 0x01, 'a'}},			  /* joined to nothing */
		{4, {0x20, 0x43, 0x01, 'a'}},		  /* to a NAG */
		{6, {0x03, 0x01, 'a', 0xc3, 0x01, 'a'}},  /* to another move's comment */
		{1, {0x60}},				  /* a NAG joined */
		{3, {0x04, 0x01, 'a'}},			  /* no variation's text */
		{6, {0x01, 0x04, 0x01, 'a', 0x20, 0x00}}, /* something after it */
		{3, {0x01, 0xa0, 0x00}},		  /* the place moves on in a variation */
		{4, {0x01, 0x05, 0x01, 0x20}},
		{2, {0x05, 0x01}},	 /* on to nothing */
		{3, {0x05, 0x00, 0x20}}, /* not at all */
		{3, {0x05, 0x0b, 0x20}}, /* beyond the game's end */
		{3, {0x05, 0x0a, 0xa0}},
		{5, {0x05, 0x01, 0x05, 0x01, 0x20}}, /* twice */
		{2, {0x06, 0x1f}},		     /* a NAG that has a shorter form */
		{4, {0x06, 0x80, 0x80, 0x04}},
		{1, {0x07}}, /* no such kind */
		{1, {0x14}},
		{2, {0x08, 0x02}},				 /* a time below 0 */
		{7, {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}}, /* or too long */
		{4, {0x0c, 0xc0, 0xfc, 0x15}},
		{6, {0x10, 0xff, 0xff, 0xff, 0xff, 0x7f}}, /* too good */
		{2, {0x11, 0x02}},			   /* no depth */
		{16,
		 {0x03, 0x0e, '\n', '[', 'E', 'v', 'e', 'n', 't', ' ', '"', 'x', '"', ']', '\n',
		  'a'}},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		_cleanup_(chi_freep) uint8_t *bytes = malloc(table[i].len);
		assert_non_null(bytes);
		memcpy(bytes, table[i].bytes, table[i].len);
		if (check_notes(bytes, table[i].len, 10) != -CHI_ECORRUPT) {
			fail_msg("row %zu is taken", i);
		}
	}
}

CASE(nests_only_so_deep)
{
	uint8_t bytes[2 * CHI_NOTES_DEPTH_MAX + 2];
	memset(bytes, 0, sizeof(bytes));
	memset(bytes, 1, CHI_NOTES_DEPTH_MAX);
	assert_int_equal(check_notes(bytes, sizeof(bytes) - 2, 0), CHI_OK);
	memset(bytes, 1, CHI_NOTES_DEPTH_MAX + 1);
	assert_int_equal(check_notes(bytes, sizeof(bytes), 0), -CHI_ECORRUPT);
}

/* However little room there is, what is written can be read, and what is not is counted. */
CASE(leaves_out_what_does_not_fit)
{
	for (size_t size = 0; size < 64; size++) {
		_cleanup_(chi_freep) uint8_t *bytes = malloc(size + 1);
		assert_non_null(bytes);
		struct chi_notes_writer writer = chi_notes_writer_of(bytes, size);
		chi_notes_comment(&writer, 3, "[%clk 0:03:00] b\xc3\xb6se", 20);
		chi_notes_open(&writer, 3);
		chi_notes_move(&writer, 1);
		chi_notes_move(&writer, 2);
		chi_notes_open(&writer, 3);
		chi_notes_unread(&writer, "abc", 3);
		chi_notes_close(&writer);
		chi_notes_nag(&writer, 3, 200);
		chi_notes_close(&writer);
		chi_notes_nag(&writer, 9, 3);
		assert_true(writer.n <= size);
		assert_int_equal(writer.depth, 0);
		assert_int_equal(check_notes(bytes, writer.n, 9), CHI_OK);
		assert_true(writer.lost > 0 || size >= 34);
		assert_true(writer.lost == 0 || size < 60);
	}
}

CASE(takes_any_bytes)
{
	struct seed seed = seed_start("takes_any_bytes");
	size_t rounds = seed_rounds(SLOW_BUILD ? 20000 : 200000);
	for (size_t round = 0; round < rounds; round++) {
		size_t len = 1 + seed_below(&seed, 24);
		_cleanup_(chi_freep) uint8_t *bytes = malloc(len);
		assert_non_null(bytes);
		for (size_t i = 0; i < len; i++) {
			bytes[i] = (uint8_t)seed_below(&seed, seed_below(&seed, 2) == 0 ? 24 : 256);
		}
		int status = check_notes(bytes, len, seed_below(&seed, 6));
		assert_true(status == CHI_OK || status == -CHI_ECORRUPT);
	}
}
