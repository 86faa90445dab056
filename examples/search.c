/* SPDX-License-Identifier: MIT */
/* A store inside a search: of the positions after a node's moves those are taken that were
 * evaluated deep enough, and the others tried in its order. Usage: search STORE DEPTH FEN */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <chistore.h>

#define MATE 30000
static struct chi_prober *prober;
static unsigned nodes, taken;

/* The pieces' worth, for the side to move: an engine has something better. */
static int evaluate(const struct chi_key *key)
{
	static const int worth[] = {['P'] = 1,	['N'] = 3,  ['B'] = 3,	['R'] = 5,  ['Q'] = 9,
				    ['p'] = -1, ['n'] = -3, ['b'] = -3, ['r'] = -5, ['q'] = -9};
	char fen[CHI_FEN_SIZE] = " ";
	const char *c = fen;
	int sum = chi_key_to_fen(key, fen, NULL);
	for (; *c != ' '; c++) {
		sum += 100 * worth[(int)*c];
	}
	return c[1] == 'b' ? -sum : sum;
}

static int score_of(const struct chi_row *row)
{
	int mate = row->score > 0 ? MATE - 2 * row->score : -MATE - 2 * row->score;
	return !row->has_eval ? MATE : row->is_mate ? mate : row->score;
}

static int search(const struct chi_key *key, int depth, int alpha, int beta, chi_move *best)
{
	struct chi_legal_move moves[CHI_LEGAL_MAX];
	struct chi_key after[CHI_LEGAL_MAX];
	struct chi_row rows[CHI_LEGAL_MAX];
	chi_move reply;
	uint32_t state = 0;
	size_t n = 0;
	nodes++;
	if (chi_key_moves(key, CHI_MOVES_KEYS, moves, CHI_LEGAL_MAX, &n, &state) != CHI_OK ||
	    n == 0 || depth == 0) {
		return n > 0 ? evaluate(key) : (state & CHI_STATE_CHECKMATE) != 0 ? -MATE : 0;
	}
	for (size_t i = 0; i < n; i++) {
		after[i] = moves[i].after;
	}
	bool asked = chi_prober_many(prober, after, n, rows) == CHI_OK;
	for (size_t i = 0; i < n && alpha < beta; i++) {
		size_t at = i; /* after which the other side stands worst */
		for (size_t j = i; asked && j < n; j++) {
			at = score_of(&rows[j]) < score_of(&rows[at]) ? j : at;
		}
		bool known = asked && rows[at].has_eval && (int)rows[at].depth >= depth - 1;
		int score = known ? -score_of(&rows[at])
				  : -search(&moves[at].after, depth - 1, -beta, -alpha, &reply);
		taken += known;
		*best = score > alpha ? moves[at].move : *best;
		alpha = score > alpha ? score : alpha;
		moves[at] = moves[i];
		rows[at] = rows[i];
	}
	return alpha;
}

int main(int argc, char **argv)
{
	struct chi_client *client;
	struct chi_key key;
	chi_move best = 0;
	char uci[CHI_MOVE_TEXT_SIZE];
	if (argc != 4 || chi_key_from_fen(argv[3], strlen(argv[3]), &key, NULL) != CHI_OK ||
	    chi_open(argv[1], NULL, &client, NULL) != CHI_OK ||
	    chi_prober_open(client, NULL, &prober) != CHI_OK) {
		return 1;
	}
	int score = search(&key, atoi(argv[2]), -MATE - 1, MATE + 1, &best);
	printf("%s %d, %u nodes, %u from the store\n",
	       chi_key_uci(&key, best, uci) == CHI_OK ? uci : "-", score, nodes, taken);
	chi_prober_close(prober);
	chi_close(client);
}
