/* SPDX-License-Identifier: MIT */
/* Files of experience: the keys, moves and scores of Stockfish, the walk, and what is refused with
 * which words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/polyglot/polyglot.h"
#include "formats/evals/exp.h"
#include "formats/evals/stockfish.h"
#include "tests/base/cases.h"

#define START  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define SUGAR2 "SugaR Experience version 2"

static struct chi_sf_keys keys;

static struct chi_position position_of(const char *fen)
{
	struct chi_position position;
	assert_int_equal(chi_fen_parse(fen, strlen(fen), &position, NULL), CHI_OK);
	return position;
}

static chi_move move_of(const struct chi_position *position, const char *uci)
{
	chi_move move = 0;
	assert_int_equal(chi_uci_parse(position, uci, strlen(uci), &move, NULL), CHI_OK);
	return move;
}

/* What the command "d" of Stockfish 15.1 prints; the counter of plies is in the FEN. */
CASE(keys_are_those_of_stockfish)
{
	static const struct {
		const char *fen;
		size_t clock;
		int ep; /* where our positions have none, as the capture is not legal */
		uint64_t key;
	} rows[] = {
		{START, 0, 0, UINT64_C(0x8F8F01D4562F59FB)},
		{"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", 0, 0,
		 UINT64_C(0xB46022469E3DD31B)},
		{"rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3", 0, 43,
		 UINT64_C(0x69A9B4DA322AA28D)},
		{"r3k2r/8/8/8/8/8/8/R3K2R b Kq - 3 20", 0, 0, UINT64_C(0x1964BA514E1480CC)},
		{"r3k2r/8/8/8/8/8/8/R3K2R b Kq - 14 20", 1, 0, UINT64_C(0x0D61C12FB9730183)},
		{"r3k2r/8/8/8/8/8/8/R3K2R b Kq - 22 20", 2, 0, UINT64_C(0x7533D5FD0DE980B0)},
		{"r3k2r/8/8/8/8/8/8/R3K2R b Kq - 100 80", 11, 0, UINT64_C(0x9E5DBF12BB2AF9DD)},
		{"8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1", 0, 43, UINT64_C(0x5AF1BA3483FDDF21)},
		{"rnbqkb1r/pppp1ppp/5n2/4p3/4P3/5N2/PPPPBPPP/RNBQK2R b Qk - 5 3", 0, 0,
		 UINT64_C(0xC6F61BB55743AA4A)},
	};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		struct chi_position position = position_of(rows[i].fen);
		uint64_t key =
			chi_sf_key(&keys, &position, rows[i].ep != 0 ? rows[i].ep : CHI_NO_SQUARE);
		assert_int_equal(key ^ keys.clock[rows[i].clock], rows[i].key);
	}
}

/* Counters of plies fall away, in every order, and what remains tells positions apart. */
CASE(reduced_keys_differ_where_positions_do)
{
	uint64_t key = UINT64_C(0x0123456789abcdef);
	for (int n = 0; n < 10000; n++) {
		uint64_t other = key * UINT64_C(6364136223846793005) + 1442695;
		uint64_t reduced = chi_sf_reduce(&keys, key);
		assert_int_not_equal(reduced, chi_sf_reduce(&keys, other));
		for (size_t i = 0; i < CHI_SF_CLOCKS; i++) {
			assert_int_equal(chi_sf_reduce(&keys, key ^ keys.clock[i]), reduced);
		}
		key = other;
	}
}

CASE(moves_come_back)
{
	static const struct {
		const char *fen;
		const char *uci;
		uint16_t bits;
	} rows[] = {
		{START, "e2e4", 12 << 6 | 28},
		{"r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", 3 << 14 | 4 << 6 | 7},
		{"r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", 3 << 14 | 60 << 6 | 56},
		{"7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8n", 1 << 14 | 48 << 6 | 56},
		{"7k/P7/8/8/8/8/8/K7 w - - 0 1", "a7a8q", 1 << 14 | 3 << 12 | 48 << 6 | 56},
		{"7k/8/8/3pP3/8/8/8/K7 w - d6 0 1", "e5d6", 2 << 14 | 36 << 6 | 43},
	};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		struct chi_position position = position_of(rows[i].fen);
		struct chi_move_list list;
		assert_int_equal(chi_sf_bits(&position, move_of(&position, rows[i].uci)),
				 rows[i].bits);
		chi_movegen_legal(&position, &list);
		for (size_t k = 0; k < list.n; k++) {
			chi_move move = 0;
			uint16_t bits = chi_sf_bits(&position, list.moves[k]);
			assert_int_equal(chi_sf_move(&position, bits, &move), CHI_OK);
			assert_int_equal(move, list.moves[k]);
		}
		chi_move none = 0;
		assert_int_equal(chi_sf_move(&position, 0, &none), -CHI_EMOVE);
		assert_int_equal(chi_sf_move(&position, UINT16_MAX, &none), -CHI_EMOVE);
	}
}

static void check_score(int32_t value, bool is_mate, int32_t score)
{
	struct chi_position start = position_of(START);
	struct chi_eval eval = {.depth = 1};
	assert_int_equal(chi_sf_score(&start, value, &eval), CHI_OK);
	if (eval.is_mate != is_mate || eval.score != score) {
		fail_msg("%d: mate %d, score %d", (int)value, eval.is_mate, (int)eval.score);
	}
}

CASE(scores)
{
	struct chi_position start = position_of(START);
	struct chi_position pawn = position_of("4k3/8/8/8/8/8/P7/4K3 w - - 0 1");
	struct chi_eval eval = {.depth = 1};
	/* Mates count plies: the side that mates plays the last. */
	check_score(31999, true, 1);
	check_score(31997, true, 2);
	check_score(-32000, true, 0);
	check_score(-31998, true, -1);
	check_score(-31996, true, -2);
	check_score(31754, true, 123);
	check_score(31753, false, 20000);
	check_score(-31740, false, -19987);
	check_score(0, false, 0);
	/* All pieces are counted as 78 in pawns, few as 17. */
	check_score(370, false, 100);
	assert_int_equal(chi_sf_score(&pawn, -380, &eval), CHI_OK);
	assert_int_equal(eval.score, -97);
	assert_int_equal(chi_sf_score(&start, 32002, &eval), CHI_NONE);
	assert_int_equal(chi_sf_score(&start, INT32_MIN, &eval), CHI_NONE);
	for (int32_t cp = -9000; cp <= 9000; cp++) {
		const struct chi_eval out = {.score = cp};
		int32_t value = chi_sf_value(&start, &out);
		if (abs(value) < 31507) {
			assert_int_equal(chi_sf_score(&start, value, &eval), CHI_OK);
			assert_true(eval.score == cp || abs(cp) > 8000);
		}
	}
	for (int32_t moves = -122; moves <= 122; moves++) {
		const struct chi_eval out = {.is_mate = true, .score = moves};
		assert_int_equal(chi_sf_score(&start, chi_sf_value(&start, &out), &eval), CHI_OK);
		assert_true(eval.is_mate && eval.score == moves);
	}
	assert_int_equal(chi_sf_percent(&start, 0), 50);
	assert_int_equal(chi_sf_percent(&start, 32000), 100);
	assert_int_equal(chi_sf_percent(&start, -32000), 0);
}

/* ---- Files ------------------------------------------------------------------------------- */

struct file {
	size_t len;
	uint8_t bytes[8192];
};

static void put(struct file *file, uint64_t number, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		file->bytes[file->len++] = (uint8_t)(number >> 8 * i);
	}
}

/* An entry of BrainLearn, or after a signature of the others. */
static void add(struct file *file, const char *fen, const char *uci, uint64_t clock, int depth,
		int value)
{
	struct chi_position position = position_of(fen);
	bool sugar = file->len % 24 != 0;
	uint64_t move = uci != NULL ? chi_sf_bits(&position, move_of(&position, uci)) : 4095;
	put(file, chi_sf_key(&keys, &position, position.ep) ^ clock, 8);
	put(file, sugar ? move : (uint64_t)depth, 4);
	put(file, (uint64_t)value, 4);
	put(file, sugar ? (uint64_t)depth : move, 4);
	put(file, 77, 4);
}

static struct chi_exp *take(const struct file *file)
{
	struct chi_exp *exp = NULL;
	struct chi_fault fault = {.text = ""};
	uint8_t *bytes = malloc(file->len + 1);
	assert_non_null(bytes);
	memcpy(bytes, file->bytes, file->len);
	if (chi_exp_take(bytes, file->len, &exp, &fault) != CHI_OK) {
		fail_msg("%s", fault.text);
	}
	return exp;
}

/* What the walk found, as text. */
static int print(void *context, const struct chi_put_entry *at)
{
	FILE *text = context;
	char fen[CHI_FEN_SIZE];
	struct chi_position position;
	assert_int_equal(chi_key_decode(&at->key, &position, NULL), CHI_OK);
	(void)chi_fen_print(&position, fen);
	fprintf(text, "%.*s", (int)strcspn(fen, " "), fen);
	for (size_t i = 0; i < at->record.n_evals; i++) {
		const struct chi_eval *eval = &at->record.evals[i];
		char uci[CHI_UCI_SIZE];
		assert_int_equal(eval->rank, i);
		assert_int_equal(eval->n_pv, 1);
		(void)chi_uci_print(&position, eval->pv[0], uci);
		fprintf(text, " %s:%u:%s%d", uci, (unsigned)eval->depth, eval->is_mate ? "#" : "",
			(int)eval->score);
	}
	fprintf(text, "\n");
	return CHI_OK;
}

static void walk(struct chi_exp *exp, struct chi_exp_result *result, const char *expected)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *text = open_memstream(&bytes, &len);
	assert_non_null(text);
	assert_int_equal(chi_exp_walk(exp, print, text, NULL, result), CHI_OK);
	assert_int_equal(fclose(text), 0);
	assert_string_equal(bytes, expected);
	free(bytes);
	chi_exp_close(exp);
}

#define E4    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
#define E4_E5 "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
#define LONE  "8/8/8/3k4/8/8/4P3/4K3 w - - 0 1"

CASE(an_engine_that_plays_white_is_followed)
{
	struct file file = {.len = 0};
	struct chi_exp_result result;
	add(&file, E4_E5, "g1f3", 0, 21, -370);
	add(&file, START, "d2d4", 0, 18, 740); /* less deep */
	add(&file, START, "e2e4", keys.clock[3], 20, 370);
	add(&file, START, "e2e4", 0, 5, 0); /* of the same move, less deep */
	add(&file, START, "e2e4", keys.clock[9], 6, 0);
	add(&file, START, "g1f3", 0, 0, 32002); /* played, not searched */
	add(&file, START, NULL, 0, 9, 1);	/* no move */
	add(&file, LONE, "e2e4", 0, 30, 31999); /* nothing leads here */
	walk(take(&file), &result,
	     "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR e2e4:20:100 d2d4:18:200\n"
	     "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR g1f3:21:-100\n");
	assert_int_equal(result.entries, 8);
	assert_int_equal(result.positions, 2);
	assert_int_equal(result.lines, 3);
	assert_int_equal(result.repeated, 2);
	assert_int_equal(result.unscored, 1);
	assert_int_equal(result.illegal, 1);
	assert_int_equal(result.unplaced, 1);
}

CASE(known_positions_are_roots)
{
	struct file file = {.len = 0};
	struct chi_exp_result result;
	add(&file, LONE, "e2e4", 0, 30, 31999);
	struct chi_exp *exp = take(&file);
	struct chi_position before = position_of("8/8/3k4/8/8/8/4P3/4K3 b - - 0 1");
	assert_int_equal(chi_exp_root(exp, &before), CHI_OK);
	walk(exp, &result, "8/8/8/3k4/8/8/4P3/4K3 e2e4:30:#1\n");
	assert_int_equal(result.unplaced, 0);
}

CASE(files_of_other_engines)
{
	static const char *const signatures[] = {"SugaR", SUGAR2};
	for (size_t i = 0; i < CHI_COUNT(signatures); i++) {
		struct file file = {.len = strlen(signatures[i])};
		struct chi_exp_result result;
		memcpy(file.bytes, signatures[i], file.len);
		add(&file, START, "e2e4", 0, 20, 370);
		add(&file, E4, "e7e5", 0, 19, -31998);
		walk(take(&file), &result,
		     "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR e2e4:20:100\n"
		     "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR e7e5:19:#-1\n");
	}
}

/* The king on the rank of the two pawns would be in check after it. */
CASE(en_passant_counts_where_it_is_not_legal)
{
	static const char before[] = "8/8/8/8/k1p4R/8/3P4/4K3 w - - 0 1";
	struct file file = {.len = 0};
	struct chi_exp_result result;
	struct chi_position position = position_of(before);
	struct chi_position next;
	chi_move move = move_of(&position, "d2d4");
	chi_position_play(&position, move, &next);
	assert_int_equal(next.ep, CHI_NO_SQUARE);
	put(&file, chi_sf_key(&keys, &next, chi_polyglot_passed(&position, move)), 8);
	put(&file, 12, 4);
	put(&file, 0, 4);
	put(&file, 24 << 6 | 16, 4);
	put(&file, 50, 4);
	struct chi_exp *exp = take(&file);
	assert_int_equal(chi_exp_root(exp, &position), CHI_OK);
	walk(exp, &result, "8/8/8/8/k1pP3R/8/8/4K3 a4a3:12:0\n");
}

static void refuse(const char *text, size_t len, int status, const char *why)
{
	struct chi_exp *exp = NULL;
	struct chi_fault fault = {.text = ""};
	uint8_t *bytes = malloc(len + 1);
	assert_non_null(bytes);
	memcpy(bytes, text, len);
	assert_int_equal(chi_exp_take(bytes, len, &exp, &fault), status);
	assert_null(exp);
	if (strstr(fault.text, why) == NULL) {
		fail_msg("'%s'", fault.text);
	}
}

CASE(other_files_are_refused_by_name)
{
	static const char forked[] = SUGAR2 "\2\0\x80\xe2\x63\xa4\x80\x33\x10\6\0\0\0\x22\0\0\0";
	static const char padded[] = SUGAR2 "\0\0\0\0\0\0RPD4";
	refuse("", 0, -CHI_ESYNTAX, "there is no entry");
	refuse(SUGAR2, strlen(SUGAR2), -CHI_ESYNTAX, "there is no entry");
	refuse("1234567890123456789012345", 25, -CHI_ESYNTAX, "and the last one 1");
	refuse(forked, sizeof(forked) - 1, -CHI_EUNSUPPORTED, "with a header after it");
	refuse(padded, sizeof(padded) - 1, -CHI_EUNSUPPORTED, "with a header after it");
	refuse("SugaR Experience version 4", 26, -CHI_EUNSUPPORTED,
	       "'SugaR Experience version 4' is not read");
	refuse("Experience version 3.0\xe2\x80\xae and more", 34, -CHI_EUNSUPPORTED,
	       "'Experience version 3.0' is not read");
}

int main(void)
{
	chi_sf_keys_init(&keys);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cases_run(NULL, NULL);
}
