/* SPDX-License-Identifier: MIT */
/* Lines of EPD with chessdb.cn's scores: what is taken of them, and what is refused with which
 * words. */
#include "tests/cli/evals_line.h"

#include "formats/evals/cdb.h"

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"

static int read_bytes(const char *line, size_t len, struct chi_put_entry *put,
		      struct chi_fault *fault)
{
	return evals_read(chi_cdb_read, "me", line, len, put, fault);
}

static void accept(const char *line, bool is_mate, int32_t score, size_t n_pv)
{
	struct chi_put_entry put;
	struct chi_fault fault;
	int status = read_bytes(line, strlen(line), &put, &fault);
	if (status != CHI_OK) {
		fail_msg("'%s': %d, %s", line, status, fault.text);
	}
	assert_true((put.parts & CHI_PUT_EVALS) != 0);
	assert_int_equal(put.record.n_evals, 1);
	const struct chi_eval *eval = &put.record.evals[0];
	if (eval->is_mate != is_mate || eval->score != score || eval->n_pv != n_pv) {
		fail_msg("'%s': mate %d, score %d, %zu moves", line, eval->is_mate,
			 (int)eval->score, eval->n_pv);
	}
	assert_int_equal(eval->engine_len, 2);
	assert_memory_equal(eval->engine, "me", 2);
	assert_int_equal(eval->depth, 0);
}

CASE(scores)
{
	accept(START " ; cdb eval: 65; PV: e2e4 e7e5;", false, 65, 2);
	accept(START " ; cdb eval: -65, ply: 12;", false, -65, 0);
	accept(START " 0 1; cdb eval: 0; PV: ;", false, 0, 0);
	accept(START "\t;  cdb eval:7 ", false, 7, 0);
	accept(START " ; cdb eval: 20004; PV: 1. e4 e5 2. Nf3 ;", false, 20004, 3);
	accept(START " ; cdb eval: -25000;", false, -25000, 0);
	/* What stands before is EPD, its own scores left out; what comes after is skipped. */
	accept(START " ce 5; id \"x\"; cdb eval: 6; PV: e4; acd 9;", false, 6, 1);
}

/* By plies: the side that mates plays one more. */
CASE(mates)
{
	accept(START " ; cdb eval: M1;", true, 1, 0);
	accept(START " ; cdb eval: M11;", true, 6, 0);
	accept(START " ; cdb eval: M12;", true, 6, 0);
	accept(START " ; cdb eval: -M2;", true, -1, 0);
	accept(START " ; cdb eval: -M10, ply: 3;", true, -5, 0);
	accept(START " ; cdb eval: 29989;", true, 6, 0);
	accept(START " ; cdb eval: -29990;", true, -5, 0);
	accept(START " ; cdb eval: mated;", true, 0, 0);
}

CASE(refused)
{
	static const struct evals_refused cases[] = {
		{START, -CHI_ESYNTAX, "'cdb eval:' is missing"},
		{START " ; eval: 5;", -CHI_ESYNTAX, ""},
		{START " ; cdb eval:", -CHI_ESYNTAX, "'' is no score"},
		{START " ; cdb eval: ; PV: e2e4;", -CHI_ESYNTAX, "'' is no score"},
		{START " ; cdb eval: \?\?;", -CHI_ESYNTAX, "'\?\?' is no score"},
		{START " ; cdb eval: 5men w/ cr;", -CHI_ESYNTAX, "'5men w/ cr' is no score"},
		{START " ; cdb eval: 30001;", -CHI_ESYNTAX, "'30001' is no score"},
		{START " ; cdb eval: M;", -CHI_ESYNTAX, "'M' is no score"},
		{START " ; cdb eval: -M;", -CHI_ESYNTAX, "'-M' is no score"},
		{START " ; cdb eval: M-3;", -CHI_ESYNTAX, "'M-3' is no score"},
		{START " ; cdb eval: M20001;", -CHI_ESYNTAX, "'M20001' is no score"},
		{START " ; cdb eval: 5; PV: e2e5;", -CHI_EMOVE, "PV: "},
		{"8/8 w ; cdb eval: 5;", -CHI_EFEN, ""},
		{" ; cdb eval: 5;", -CHI_EFEN, ""},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		evals_refuse(chi_cdb_read, &cases[i]);
	}
}

/* Cut anywhere, nothing beyond the cut is read. */
CASE(cut)
{
	static const char line[] = START " ; cdb eval: -M10, ply: 3; PV: e2e4 e7e5;";
	for (size_t len = 0; len < sizeof(line); len++) {
		struct chi_put_entry put;
		struct chi_fault fault;
		int status = read_bytes(line, len, &put, &fault);
		assert_true(status == CHI_OK || status == CHI_NONE || fault.text[0] != '\0');
	}
}

CASE(nothing_there)
{
	evals_nothing_there(chi_cdb_read);
}

CASES_MAIN(arena_setup, arena_teardown)
