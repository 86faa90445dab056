/* SPDX-License-Identifier: MIT */
#include "tests/insight/apart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "tests/import/session.h"

/* Kings and a pawn of each colour, White's below Black's, on squares that are no other group's. */
static const struct {
	const char *fen;
	const char *move; /* to a square where no other group's king begins or goes */
} kings[] = {
	{"4k3/8/8/8/8/8/8/1K6 w - - 0 1", "Ka1"},
	{"4k3/8/8/8/8/8/8/4K3 w - - 0 1", "Kf1"},
	{"4k3/8/8/8/8/8/8/6K1 w - - 0 1", "Kh1"},
};

#define PAWNS (24 * 24)

static void start_of(unsigned group, struct chi_position *out)
{
	uint64_t white = UINT64_C(1) << (8 + group % 24);	/* a2 to h4 */
	uint64_t black = UINT64_C(1) << (32 + group / 24 % 24); /* a5 to h7 */
	const char *fen = kings[group / PAWNS].fen;
	ok(chi_fen_parse(fen, strlen(fen), out, &fault));
	out->kind[CHI_PAWN] = white | black;
	out->colour[CHI_WHITE] |= white;
	out->colour[CHI_BLACK] |= black;
}

struct chi_key apart_key(unsigned group)
{
	struct chi_position position;
	struct chi_key key;
	start_of(group, &position);
	chi_key_encode(&position, &key);
	return key;
}

unsigned apart_points(const int elo[2], double off)
{
	double e = 1 / (1 + pow(10, -(elo[0] - elo[1] + 30) / 400.0));
	double drawn = 1.2 * e * (1 - e);
	double at = help_below(1u << 30) / (double)(1u << 30);
	e += off;
	return at < e - drawn / 2 ? 2 : at < e + drawn / 2 ? 1 : 0;
}

/* Each with another player, as no game is stored twice. */
static void print_game(FILE *out, const struct apart_game *game, size_t number)
{
	static const char *const results[] = {"0-1", "1/2-1/2", "1-0"};
	struct chi_position start;
	char fen[CHI_FEN_SIZE];
	start_of(game->group, &start);
	chi_fen_print(&start, fen);
	fprintf(out, "[White \"w%zu\"]\n[Result \"%s\"]\n[SetUp \"1\"]\n[FEN \"%s\"]\n", number,
		results[game->points], fen);
	if (game->elo[0] != 0) {
		fprintf(out, "[WhiteElo \"%d\"]\n", game->elo[0]);
	}
	if (game->elo[1] != 0) {
		fprintf(out, "[BlackElo \"%d\"]\n", game->elo[1]);
	}
	if (game->year != 0) {
		fprintf(out, "[Date \"%u.??.??\"]\n", game->year);
	}
	fprintf(out, "\n1. %s %s\n\n", kings[game->group / PAWNS].move, results[game->points]);
}

void apart_store(const char *name, const struct apart_game *games, size_t n)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (size_t i = 0; i < n; i++) {
		print_game(out, &games[i], i);
	}
	fclose(out);
	help_remove(help_path(name));
	session_add(name, text);
	free(text);
}
