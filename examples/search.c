/* SPDX-License-Identifier: MIT */
/* A store inside a search: stored evaluations that are deep enough are taken, and moves are tried
 * in the order that the store suggests. Usage: search STORE DEPTH FEN */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <chistore.h>

#define MATE 30000

static unsigned nodes, taken;

/* The pieces' worth, for the side to move: an engine has something better. */
static int evaluate(const struct chi_key *key)
{
	static const char letters[] = "PNBRQpnbrq";
	static const int worth[] = {100, 300, 300, 500, 900, -100, -300, -300, -500, -900};
	char fen[CHI_FEN_SIZE] = " ";
	int sum = chi_key_to_fen(key, fen, NULL);
	const char *c = fen;
	for (; *c != ' '; c++) {
		const char *at = strchr(letters, *c);
		sum += at != NULL ? worth[at - letters] : 0;
	}
	return c[1] == 'b' ? -sum : sum;
}

static int score_of(const struct chi_row *row)
{
	int mate = row->score > 0 ? MATE - 2 * row->score : -MATE - 2 * row->score;
	return !row->has_eval ? MATE : row->is_mate ? mate : row->score;
}

static int search(struct chi_prober *prober, const struct chi_key *key, int depth, int alpha,
		  int beta, chi_move *best)
{
	struct chi_legal_move moves[CHI_LEGAL_MAX];
	struct chi_key after[CHI_LEGAL_MAX];
	struct chi_row rows[CHI_LEGAL_MAX];
	uint32_t state = 0;
	size_t n = 0;
	nodes++;
	if (best == NULL && chi_prober_key(prober, key, rows) == CHI_OK && rows->has_eval &&
	    rows->depth >= depth) {
		taken++;
		return score_of(rows);
	}
	int rc = chi_key_moves(key, CHI_MOVES_KEYS, moves, CHI_LEGAL_MAX, &n, &state);
	if (rc != CHI_OK || n == 0 || depth == 0) {
		return n > 0 ? evaluate(key) : (state & CHI_STATE_CHECKMATE) != 0 ? -MATE : 0;
	}
	for (size_t i = 0; i < n; i++) {
		after[i] = moves[i].after;
	}
	bool asked = chi_prober_many(prober, after, n, rows) == CHI_OK;
	for (size_t i = 0; i < n && alpha < beta; i++) {
		size_t next = i; /* after which the other side stands worst */
		for (size_t j = i; asked && j < n; j++) {
			next = score_of(&rows[j]) < score_of(&rows[next]) ? j : next;
		}
		struct chi_legal_move move = moves[next];
		moves[next] = moves[i];
		rows[next] = rows[i];
		int score = -search(prober, &move.after, depth - 1, -beta, -alpha, NULL);
		if (score > alpha && best != NULL) {
			*best = move.move;
		}
		alpha = score > alpha ? score : alpha;
	}
	return alpha;
}

int main(int argc, char **argv)
{
	struct chi_client *client;
	struct chi_prober *prober;
	struct chi_key key;
	chi_move best = 0;
	char uci[CHI_MOVE_TEXT_SIZE];
	if (argc != 4 || chi_key_from_fen(argv[3], strlen(argv[3]), &key, NULL) != CHI_OK ||
	    chi_open(argv[1], NULL, &client, NULL) != CHI_OK ||
	    chi_prober_open(client, NULL, &prober) != CHI_OK) {
		return 1;
	}
	int score = search(prober, &key, atoi(argv[2]), -MATE - 1, MATE + 1, &best);
	if (chi_key_uci(&key, best, uci) == CHI_OK) {
		printf("%s %d, %u nodes, %u from the store\n", uci, score, nodes, taken);
	}
	chi_prober_close(prober);
	chi_close(client);
	return 0;
}
