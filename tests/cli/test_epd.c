/* SPDX-License-Identifier: MIT */
/* EPD lines: what each operation becomes, and what is refused with which words. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "formats/epd.h"
#include "tests/base/cases.h"
#include "tests/cli/arena.h"

#define START	     "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"
#define SQUARE(f, r) ((r)*8 + (f))

/* Reads a line from memory of exactly its length, so that reading beyond it is seen. */
static int read_line(const char *line, struct chi_put_entry *put, struct chi_fault *fault)
{
	size_t len = strlen(line);
	char *copy = malloc(len > 0 ? len : 1);
	assert_non_null(copy);
	memcpy(copy, line, len);
	fault->text[0] = '\0';
	int status = chi_epd_read(copy, len, "engine", &arena, put, fault);
	free(copy);
	return status;
}

static void accept(const char *line, struct chi_put_entry *put)
{
	struct chi_fault fault;
	int status = read_line(line, put, &fault);
	if (status != CHI_OK) {
		fail_msg("'%s': %d, %s", line, status, fault.text);
	}
}

static void refuse(const char *line, int expected, const char *words)
{
	struct chi_put_entry put;
	struct chi_fault fault;
	assert_int_equal(read_line(line, &put, &fault), expected);
	if (strstr(fault.text, words) == NULL) {
		fail_msg("'%s': '%s' lacks '%s'", line, fault.text, words);
	}
}

static void check_note(const struct chi_put_entry *put, const char *note)
{
	assert_true((put->parts & CHI_PUT_NOTE) != 0);
	assert_int_equal(put->record.n_note, strlen(note));
	assert_memory_equal(put->record.note, note, strlen(note));
}

CASE(position_alone)
{
	static const char *const lines[] = {
		START,
		START " ",
		START " 0 1",
		START "  0  1  ",
		"\trnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR\tw  KQkq\t-",
		START " hmvc 0; fmvn 1;",
		START " ;",
		START " 0 1 ;;",
	};
	struct chi_key start;
	assert_int_equal(chi_key_from_fen(START, strlen(START), &start, NULL), CHI_OK);
	for (size_t i = 0; i < CHI_COUNT(lines); i++) {
		struct chi_put_entry put;
		accept(lines[i], &put);
		assert_int_equal(put.parts, 0);
		assert_memory_equal(&put.key, &start, sizeof(start));
	}
}

CASE(nothing_there)
{
	static const char *const lines[] = {"", " ", "\t \t", "# a comment", "  # another"};
	for (size_t i = 0; i < CHI_COUNT(lines); i++) {
		struct chi_put_entry put;
		struct chi_fault fault;
		assert_int_equal(read_line(lines[i], &put, &fault), CHI_NONE);
	}
}

/* Which operations become an evaluation, and what wins where two could. */
CASE(evaluation)
{
	struct chi_put_entry put;
	accept(START " acd 20; acn 123456; ce 35; pv e4 e5 Nf3;", &put);
	assert_int_equal(put.parts, CHI_PUT_EVALS);
	assert_int_equal(put.record.n_evals, 1);
	const struct chi_eval *eval = put.record.evals;
	assert_int_equal(eval->engine_len, 6);
	assert_memory_equal(eval->engine, "engine", 6);
	assert_int_equal(eval->depth, 20);
	assert_int_equal(eval->nodes, 123456);
	assert_false(eval->is_mate);
	assert_int_equal(eval->score, 35);
	assert_int_equal(eval->n_pv, 3);
	assert_int_equal(eval->pv[0], SQUARE(4, 1) << 6 | SQUARE(4, 3));
	assert_int_equal(eval->pv[2], SQUARE(6, 0) << 6 | SQUARE(5, 2));

	accept(START " ce -120", &put);
	assert_int_equal(put.record.evals->score, -120);
	assert_int_equal(put.record.evals->depth, 0);
	assert_int_equal(put.record.evals->n_pv, 0);
	/* Of a mate and centipawns the mate says more. */
	accept(START " ce 31990; dm 5;", &put);
	assert_true(put.record.evals->is_mate);
	assert_int_equal(put.record.evals->score, 5);
	accept(START " dm -3;", &put);
	assert_int_equal(put.record.evals->score, -3);
}

/* What is no evaluation must not be lost: it is in the line or the note. */
CASE(line_and_note)
{
	struct chi_put_entry put;
	accept(START " pv e4 e5;", &put);
	assert_int_equal(put.parts, CHI_PUT_LINE);
	assert_int_equal(put.record.n_line, 2);
	accept(START " bm Nf3; id \"WAC.001\";", &put);
	assert_int_equal(put.parts, CHI_PUT_LINE | CHI_PUT_NOTE);
	assert_int_equal(put.record.n_line, 1);
	check_note(&put, "bm Nf3; id \"WAC.001\";");
	/* Alternatives: the first is the line, both are in the note. */
	accept(START "   bm  e4 d4 ;am f3;c0 \"semi; colon\" ", &put);
	assert_int_equal(put.record.n_line, 1);
	assert_int_equal(put.record.line[0], SQUARE(4, 1) << 6 | SQUARE(4, 3));
	check_note(&put, "bm e4 d4; am f3; c0 \"semi; colon\";");
	/* A line for the variation, the evaluation for the score: no part twice. */
	accept(START " bm e4; ce 10; pv e4;", &put);
	assert_int_equal(put.parts, CHI_PUT_EVALS | CHI_PUT_NOTE);
	accept(START " bm e4; ce 10;", &put);
	assert_int_equal(put.parts, CHI_PUT_EVALS | CHI_PUT_NOTE | CHI_PUT_LINE);
	/* Depth without a score is no evaluation, and not lost. */
	accept(START " acd 5;", &put);
	assert_int_equal(put.parts, CHI_PUT_NOTE);
	check_note(&put, "acd 5;");
	accept(START " ;D1 20 ;D2 400", &put);
	check_note(&put, "D1 20; D2 400;");
	accept(START " noop; pm e4;", &put);
	check_note(&put, "noop; pm e4;");
}

CASE(bad_lines)
{
	refuse("nonsense", -CHI_EFEN, "");
	refuse("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq -", -CHI_EFEN, "");
	refuse(START " bm e5;", -CHI_EMOVE, "bm");
	refuse(START " pv e4 e4;", -CHI_EMOVE, "pv");
	refuse(START " ce 30; pv e4 Ke7 Kh5;", -CHI_EMOVE, "pv");
	refuse(START " ce thirty;", -CHI_ESYNTAX, "ce");
	refuse(START " ce ;", -CHI_ESYNTAX, "ce");
	refuse(START " ce 99999999999999999999;", -CHI_ESYNTAX, "ce");
	refuse(START " dm 10001;", -CHI_ESYNTAX, "dm");
	refuse(START " ce 1; acd 65536;", -CHI_ESYNTAX, "acd");
	refuse(START " ce 1; acn -1;", -CHI_ESYNTAX, "acn");
	refuse(START " id \"open;", -CHI_ESYNTAX, "quotation");
	refuse(START " 12 34 56;", -CHI_ESYNTAX, "opcode");
	refuse(START " an_opcode_of_seventeen 1;", -CHI_ESYNTAX, "opcode");
	refuse(START " id \"\xff\xfe\";", -CHI_ESYNTAX, "UTF-8");
}

/* At a record's limits and one beyond. */
CASE(limits)
{
	struct chi_put_entry put;
	struct chi_fault fault;
	static char line[CHI_NOTE_MAX + 256];
	/* The longest note: `c0 "..."` with its semicolon. One byte more is refused. */
	for (int extra = 0; extra <= 1; extra++) {
		strcpy(line, START " c0 \"");
		size_t text = CHI_NOTE_MAX - strlen("c0 \"\";") + (size_t)extra;
		size_t len = strlen(line);
		memset(line + len, 'x', text);
		strcpy(line + len + text, "\";");
		int status = read_line(line, &put, &fault);
		assert_int_equal(status, extra == 0 ? CHI_OK : -CHI_ETOOBIG);
	}
	/* Knights going out and home: CHI_PV_MAX plies and one more. */
	static const char *const tour[] = {" Nf3", " Nf6", " Ng1", " Ng8"};
	for (size_t n = CHI_PV_MAX; n <= CHI_PV_MAX + 1; n++) {
		strcpy(line, START " ce 0; pv");
		for (size_t i = 0; i < n; i++) {
			strcat(line, tour[i % 4]);
		}
		int status = read_line(line, &put, &fault);
		assert_int_equal(status, n == CHI_PV_MAX ? CHI_OK : -CHI_ETOOBIG);
	}
	assert_non_null(strstr(fault.text, "pv"));
}

/* Fields count with one space between each two, regardless of what is between them in the line. */
CASE(length_of_a_position)
{
	static const char rest[] = "  w\t- -";
	for (size_t len = CHI_FEN_INPUT_MAX - 1; len <= CHI_FEN_INPUT_MAX + 1; len++) {
		char line[CHI_FEN_INPUT_MAX + 3];
		struct chi_put_entry put;
		struct chi_fault fault;
		const size_t board = len - (strlen(rest) - 1);
		memset(line, 'x', board);
		memcpy(line + board, rest, sizeof(rest));
		assert_int_equal(read_line(line, &put, &fault), -CHI_EFEN);
		bool over = strstr(fault.text, "longer than 128 bytes") != NULL;
		assert_int_equal(over, len > CHI_FEN_INPUT_MAX);
	}
}

CASES_MAIN(arena_setup, arena_teardown)
