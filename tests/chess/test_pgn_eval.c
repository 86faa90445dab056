/* SPDX-License-Identifier: MIT */
/* Evaluations in comments: each form as its programs write it, what is none, and the limits. */
#include "tests/chess/pgn_games.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/record.h"
#include "chess/notation.h"
#include "chess/pgn/eval.h"

static void free_reader(struct chi_pgn **pgn)
{
	chi_pgn_free(*pgn);
}

/* Reads the first game of the text, fed in pieces. */
static const struct chi_pgn_game *game_of(struct chi_pgn *pgn, const char *text, size_t piece)
{
	const struct chi_pgn_game *game = NULL;
	size_t len = strlen(text);
	size_t at = 0;
	while (chi_pgn_next(pgn, &game) != CHI_OK) {
		if (at == len) {
			chi_pgn_finish(pgn);
			continue;
		}
		at += chi_pgn_feed(pgn, text + at, len - at < piece ? len - at : piece);
	}
	return game;
}

static struct chi_pgn *new_reader(void)
{
	struct chi_pgn *pgn = NULL;
	assert_int_equal(chi_pgn_new(&pgn), CHI_OK);
	assert_int_equal(chi_pgn_keep_comments(pgn), CHI_OK);
	return pgn;
}

/* The evaluation as one line, "-" for none: ply, engine, depth, score, nodes, date, moves. */
static const char *told(const struct chi_pgn_game *game, const struct chi_pgn_comment *comment)
{
	static char text[4096];
	struct chi_pgn_eval read;
	if (chi_pgn_eval_read(game, comment, &read) != CHI_OK) {
		return "-";
	}
	const struct chi_eval *eval = &read.eval;
	const struct chi_record record = {.evals = eval, .n_evals = 1};
	struct chi_record_flaw flaw;
	assert_int_equal(chi_record_check(&record, &flaw), CHI_OK);
	int n = snprintf(text, sizeof(text), "%zu %.*s d%u %s%d n%llu t%llu", read.ply,
			 (int)eval->engine_len, eval->engine, eval->depth, eval->is_mate ? "#" : "",
			 eval->score, (unsigned long long)eval->nodes,
			 (unsigned long long)eval->date);
	for (size_t i = 0; i < eval->n_pv; i++) {
		chi_move move = eval->pv[i];
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %c%d%c%d",
			      'a' + (move >> 6 & 7), 1 + (move >> 9 & 7), 'a' + (move & 7),
			      1 + (move >> 3 & 7));
	}
	return text;
}

#define TAGS "[Event \"x\"]\n[Date \"2024.05.17\"]\n[White \"Stockfish 17\"]\n[Black \"Lc0\"]\n\n"
#define DAY  "t1715904000"

static const struct {
	const char *comment;
	const char *white;
	const char *black;
} forms[] = {
	/* lichess: White's view, of the position after the move. */
	{"[%eval 0.24]", "1 ? d0 -24 n0 " DAY, "2 ? d0 24 n0 " DAY},
	{" [%eval 0.24,18] [%clk 0:03:00] ", "1 ? d18 -24 n0 " DAY, "2 ? d18 24 n0 " DAY},
	{"Inaccuracy. e5 was best. [%eval -1.5]", "1 ? d0 150 n0 " DAY, "2 ? d0 -150 n0 " DAY},
	{"[%eval #-3]", "1 ? d0 #3 n0 " DAY, "2 ? d0 #-3 n0 " DAY},
	{"[%eval #5,30]", "1 ? d30 #-5 n0 " DAY, "2 ? d30 #5 n0 " DAY},
	{"[%eval 0.0]", "1 ? d0 0 n0 " DAY, "2 ? d0 0 n0 " DAY},
	{"[%eval\n0.245]", "1 ? d0 -25 n0 " DAY, "2 ? d0 25 n0 " DAY},
	/* cutechess: the player's view, of the position before the move. */
	{"+0.31/18 1.2s", "0 Stockfish 17 d18 31 n0 " DAY, "1 Lc0 d18 31 n0 " DAY},
	{"-0.05/7 0.13s, White wins by adjudication", "0 Stockfish 17 d7 -5 n0 " DAY,
	 "1 Lc0 d7 -5 n0 " DAY},
	{"0.00/1 0s", "0 Stockfish 17 d1 0 n0 " DAY, "1 Lc0 d1 0 n0 " DAY},
	{"+M5/20 0.5s", "0 Stockfish 17 d20 #3 n0 " DAY, "1 Lc0 d20 #3 n0 " DAY},
	{"+M1/245 0s", "0 Stockfish 17 d245 #1 n0 " DAY, "1 Lc0 d245 #1 n0 " DAY},
	{"-M6/20 0.5s, Black mates", "0 Stockfish 17 d20 #-3 n0 " DAY, "1 Lc0 d20 #-3 n0 " DAY},
	/* fastchess, with what it can track */
	{"+0.31/18 1.234s, n=4321, nps=9, pv=\"e2e4 e7e5\"",
	 "0 Stockfish 17 d18 31 n4321 " DAY " e2e4 e7e5", "1 Lc0 d18 31 n4321 " DAY},
	/* TCEC: White's view, of the position before the move. */
	{"d=31, sd=45, mt=123456, tl=1776544, s=5012345, n=123456789, pv=e4 e5 Nf3 Nc6, "
	 "tb=0, h=12.5, ph=0.0, wv=0.21, R50=49, Rd=-9, Rr=-1000, mb=+0+0+0+0+0,",
	 "0 Stockfish 17 d31 21 n123456789 " DAY " e2e4 e7e5 g1f3 b8c6",
	 "1 Lc0 d31 -21 n123456789 " DAY},
	{"d=31, pv=e5 Nf3, wv=M12", "0 Stockfish 17 d31 #6 n0 " DAY " e2e4 e7e5 g1f3",
	 "1 Lc0 d31 #-6 n0 " DAY " e7e5 g1f3"},
	{"wv=-M5, d=9, pv=1. Nf3 Nf6 2. Nc3", "0 Stockfish 17 d9 #-3 n0 " DAY " g1f3 g8f6 b1c3",
	 "1 Lc0 d9 #3 n0 " DAY " e7e5 g1f3 g8f6 b1c3"},
	{"d=1, wv=-153.04", "0 Stockfish 17 d1 -15304 n0 " DAY, "1 Lc0 d1 15304 n0 " DAY},
	/* its first seasons: the player's view */
	{"ev=-0.10, d=22, pd=Ng8-f6, mt=00:01:55, tl=01:58:05, s=4557 kN/s, n=509867, "
	 "pv=e7-e5 Ng1-f3",
	 "0 Stockfish 17 d22 -10 n509867 " DAY " e2e4 e7e5 g1f3",
	 "1 Lc0 d22 -10 n509867 " DAY " e7e5 g1f3"},
};

CASE(reads_each_form)
{
	/* One after 1. e4, or after 1... e5. */
	_cleanup_(free_reader) struct chi_pgn *pgn = new_reader();
	for (size_t i = 0; i < CHI_COUNT(forms); i++) {
		char text[1024];
		snprintf(text, sizeof(text), TAGS "1. e4 {%s} e5 {%s} *\n", forms[i].comment,
			 forms[i].comment);
		for (size_t piece = 1; piece < 2000; piece *= 7) {
			chi_pgn_restart(pgn);
			const struct chi_pgn_game *game = game_of(pgn, text, piece);
			assert_int_equal(game->n_comments, 2);
			assert_string_equal(told(game, &game->comments[0]), forms[i].white);
			assert_string_equal(told(game, &game->comments[1]), forms[i].black);
		}
	}
}

static const char *const no_evals[] = {
	"book",
	" ",
	"a good move",
	"0.31",
	"0.31/",
	"/18",
	"+0.31/18x 1s",
	"+0.31/-1 1s",
	"31/18 1s",
	"+M/18",
	"+-M5/18",
	"++0.31/18",
	"+0,31/18 1s",
	"0./18",
	".5/18",
	"+0.31/65536 1s",
	"10000.01/1 0s",
	"99999999999.00/1 0s",
	"M20002/1 0s",
	"+0.3a/18",
	"[%eval]",
	"[%eval ]",
	"[%eval 27,17]",
	"[%eval 0.24",
	"[%eval #]",
	"[%eval #-]",
	"[%eval M5]",
	"[%eval 0.24,x]",
	"[%eval 0.24,65536]",
	"[%evaluate 0.1]",
	"[%eval #10001]",
	"[%eval -10000.01]",
	"[%clk 0:01:00]",
	"[%eval x] +0.3a/1",
	"d=31",
	"wv=0.21",
	"d=31, wv=",
	"d=, wv=0.21",
	"d=31, wv=#3",
	"d=x, wv=0.21",
	"d=31, wv=-",
	"xd=31, wv=0.21",
	"d=65536, wv=0.1",
	"=",
	",,,=,",
	"d=31 wv=0.21",
};

CASE(reads_nothing_else)
{
	_cleanup_(free_reader) struct chi_pgn *pgn = new_reader();
	for (size_t i = 0; i < CHI_COUNT(no_evals); i++) {
		char text[512];
		snprintf(text, sizeof(text), TAGS "1. e4 {%s} *\n", no_evals[i]);
		chi_pgn_restart(pgn);
		const struct chi_pgn_game *game = game_of(pgn, text, 1000);
		assert_int_equal(game->n_comments, 1);
		if (strcmp(told(game, &game->comments[0]), "-") != 0) {
			fail_msg("'%s' was read: %s", no_evals[i], told(game, &game->comments[0]));
		}
	}
	static const char *const ends[] = {"10000.00/65535 0s", "-10000.00/65535 0s",
					   "[%eval #10000,65535]", "-M10000/1"};
	for (size_t i = 0; i < CHI_COUNT(ends); i++) {
		char text[512];
		snprintf(text, sizeof(text), TAGS "1. e4 {%s} *\n", ends[i]);
		chi_pgn_restart(pgn);
		const struct chi_pgn_game *game = game_of(pgn, text, 1000);
		assert_string_not_equal(told(game, &game->comments[0]), "-");
	}
}

CASE(belongs_to_the_main_line)
{
	_cleanup_(free_reader) struct chi_pgn *pgn = new_reader();
	const struct chi_pgn_game *game = game_of(
		pgn,
		TAGS "{[%eval 0.1]} {+0.31/1 0s} 1. e4 {} {[%eval 0.2]} ({[%eval 0.9]} 1. d4 "
		     "{[%eval 0.8]}) {[%eval 0.3]}\n1... e5 ; [%eval 0.7]\n2. Ke3 {[%eval 0.6]} *"
		     "{[%eval 0.5]}\n\n[Event \"y\"]\n\n1. d4 *\n",
		1000);
	assert_int_equal(game->n_plies, 2);
	assert_int_equal(game->n_comments, 4);
	assert_string_equal(told(game, &game->comments[0]), "0 ? d0 10 n0 " DAY);
	/* Before the first move no one has played. */
	assert_string_equal(told(game, &game->comments[1]), "-");
	assert_string_equal(told(game, &game->comments[2]), "1 ? d0 -20 n0 " DAY);
	assert_string_equal(told(game, &game->comments[3]), "1 ? d0 -30 n0 " DAY);
	assert_int_equal(chi_pgn_next(pgn, &game), CHI_OK);
	assert_int_equal(game->n_comments, 0);
}

/* Where a text fits two moves the comments wait with the moves. */
CASE(counts_plies_where_lines_part)
{
	_cleanup_(free_reader) struct chi_pgn *pgn = new_reader();
	const struct chi_pgn_game *game = game_of(pgn,
						  "[FEN \"4k3/8/8/8/8/8/8/R3K2R w - - 0 1\"]\n\n1. "
						  "Rf1 {[%eval 0.1]} Kd8 {[%eval 0.2]}"
						  " 2. Ra8+ {[%eval 0.3]} *",
						  1000);
	for (size_t i = 0; i < game->n_comments; i++) {
		assert_int_equal(game->comments[i].ply, i + 1);
	}
	assert_int_equal(game->n_comments, 3);
	chi_pgn_restart(pgn);
	game = game_of(pgn,
		       "[FEN \"4k3/8/8/8/8/8/8/R4RK1 w - - 0 1\"]\n\n1. Rd1 {[%eval 0.1]} Ke7 "
		       "{[%eval 0.2]} 2. Rd7+ {[%eval 0.3]} *",
		       1000);
	assert_int_equal(game->n_plies, 0);
	assert_int_equal(game->n_comments, 3);
	for (size_t i = 0; i < game->n_comments; i++) {
		assert_string_equal(told(game, &game->comments[i]), "-");
	}
}

CASE(names_engines_and_days)
{
	static const char *const table[][2] = {
		{"[Site \"https://lichess.org/abcdefgh\"]", "1 lichess d0 -10 n0 t0"},
		{"[Annotator \"Lichess.org\"]", "1 lichess d0 -10 n0 t0"},
		{"[Annotator \"Fritz 19\"]", "1 Fritz 19 d0 -10 n0 t0"},
		{"[Annotator \"a\xc2\x85z\"]", "1 a z d0 -10 n0 t0"},
		{"[Annotator \"\"]", "1 ? d0 -10 n0 t0"},
		/* 64 bytes, cut between two characters */
		{"[Annotator "
		 "\"0123456789012345678901234567890123456789012345678901234567890123xy\"]",
		 "1 0123456789012345678901234567890123456789012345678901234567890123 d0 -10 n0 t0"},
		{"[Annotator "
		 "\"012345678901234567890123456789012345678901234567890123456789012\xc3\xa4z\"]",
		 "1 012345678901234567890123456789012345678901234567890123456789012 d0 -10 n0 t0"},
		{"[Date \"2024.05.??\"]\n[UTCDate \"????.??.??\"]", "1 ? d0 -10 n0 t0"},
		{"[Date \"1969.05.01\"]", "1 ? d0 -10 n0 t0"},
		{"[Date \"2023.02.29\"]", "1 ? d0 -10 n0 t0"},
		{"[Date \"2024.05.??\"]\n[UTCDate \"2024.05.17\"]", "1 ? d0 -10 n0 " DAY},
		{"[UTCDate \"2024.05.17\"]\n[Date \"2024.05.18\"]", "1 ? d0 -10 n0 " DAY},
	};
	_cleanup_(free_reader) struct chi_pgn *pgn = new_reader();
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char text[512];
		snprintf(text, sizeof(text), "%s\n\n1. e4 {[%%eval 0.1]} *\n", table[i][0]);
		chi_pgn_restart(pgn);
		const struct chi_pgn_game *game = game_of(pgn, text, 1000);
		assert_string_equal(told(game, &game->comments[0]), table[i][1]);
	}
	chi_pgn_restart(pgn);
	const struct chi_pgn_game *game = game_of(pgn, "1. e4 {+0.10/3 0s} *", 1000);
	assert_string_equal(told(game, &game->comments[0]), "0 ? d3 10 n0 t0");
}

/* Lines end before a move that is not legal, and after as many as a record holds. */
CASE(variations_are_legal)
{
	static const char *const table[][2] = {
		{"e4 e5 Ke3 Nf3", "0 ? d1 0 n0 t0 e2e4 e7e5"},
		{"e4 1... e5 2.Nf3 \xc3\xa4 Nc6", "0 ? d1 0 n0 t0 e2e4 e7e5 g1f3"},
		{"e4 e5 -- Nf3", "0 ? d1 0 n0 t0 e2e4 e7e5"},
		{"xyzzy", "0 ? d1 0 n0 t0"},
		{"", "0 ? d1 0 n0 t0"},
		{"1. ... 2. ...", "0 ? d1 0 n0 t0"},
		{"e4 e5 averyveryverylongwordthatisnomove", "0 ? d1 0 n0 t0 e2e4 e7e5"},
	};
	_cleanup_(free_reader) struct chi_pgn *pgn = new_reader();
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char text[512];
		snprintf(text, sizeof(text), "1. e4 {d=1, wv=0.00, pv=%s} *\n", table[i][0]);
		chi_pgn_restart(pgn);
		const struct chi_pgn_game *game = game_of(pgn, text, 1000);
		assert_string_equal(told(game, &game->comments[0]), table[i][1]);
	}
	/* The answer's text also fits the move before it. */
	const struct chi_pgn_game *taken = NULL;
	chi_pgn_restart(pgn);
	taken = game_of(
		pgn,
		"[FEN \"3qk3/8/8/8/8/8/8/3QK3 w - - 0 1\"]\n\n1. Qd5 {d=1, wv=0.00, pv=Qxd5 "
		"Kf2} *",
		1000);
	assert_string_equal(told(taken, &taken->comments[0]), "0 ? d1 0 n0 t0 d1d5 d8d5 e1f2");
	/* Too many moves; as many, from after the move; more than is kept of a comment. */
	for (size_t rounds = 64; rounds <= 700; rounds += 60) {
		for (int after = 0; after < 2; after++) {
			static char text[1 << 16];
			int n = snprintf(text, sizeof(text), "1. Nf3 {d=1, wv=0.00, pv=%s",
					 after ? "" : "Nf3 ");
			for (size_t i = 0; i < rounds; i++) {
				n += snprintf(text + n, sizeof(text) - (size_t)n,
					      "Nf6 Ng1 Ng8 Nf3 ");
			}
			snprintf(text + n, sizeof(text) - (size_t)n, ", n=7} *\n");
			chi_pgn_restart(pgn);
			const struct chi_pgn_game *game = game_of(pgn, text, 999);
			struct chi_pgn_eval read;
			assert_int_equal(chi_pgn_eval_read(game, &game->comments[0], &read),
					 CHI_OK);
			assert_int_equal(read.eval.n_pv, CHI_PV_MAX);
			assert_int_equal(read.eval.nodes, n + 10 < 8192 ? 7 : 0);
		}
	}
}

/* A game of more comments than are kept keeps the first of them, and all of its moves. */
CASE(comments_are_bounded)
{
	size_t room = 8 << 20;
	_cleanup_(chi_freep) char *text = calloc(1, room);
	_cleanup_(free_reader) struct chi_pgn *pgn = new_reader();
	for (int large = 0; large < 2; large++) {
		size_t n = (size_t)snprintf(text, room, "1. e4 ");
		for (int i = 0; i < (large ? 700 : 20000); i++) {
			memcpy(text + n, "{[%eval 0.1]", 12);
			n += 12;
			memset(text + n, ' ', large ? 8000 : 0);
			n += large ? 8000 : 0;
			text[n++] = '}';
		}
		snprintf(text + n, room - n, " e5 {[%%eval 0.2]} *\n");
		chi_pgn_restart(pgn);
		const struct chi_pgn_game *game = game_of(pgn, text, 100000);
		assert_int_equal(game->n_plies, 2);
		assert_in_range(game->n_comments, 500, 16384);
		assert_string_equal(told(game, &game->comments[game->n_comments - 1]),
				    large ? "2 ? d0 20 n0 t0" : "1 ? d0 -10 n0 t0");
	}
}
