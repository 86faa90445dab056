/* SPDX-License-Identifier: MIT */
/* How an engine asks: one prober a thread, the board it has, a prefetch when a move is made, and
 * the positions after a node's moves together. */
#include <stdio.h>
#include <string.h>

#include <chistore.h>

/* The starting position, before and after 1. e4, as an engine's bitboards. */
static const struct chi_board boards[2] = {
	{.white = 0x000000000000ffff,
	 .black = 0xffff000000000000,
	 .pawns = 0x00ff00000000ff00,
	 .knights = 0x4200000000000042,
	 .bishops = 0x2400000000000024,
	 .rooks = 0x8100000000000081,
	 .queens = 0x0800000000000008,
	 .kings = 0x1000000000000010,
	 .castling = 0x8100000000000081,
	 .en_passant = -1},
	{.white = 0x000000001000efff,
	 .black = 0xffff000000000000,
	 .pawns = 0x00ff00001000ef00,
	 .knights = 0x4200000000000042,
	 .bishops = 0x2400000000000024,
	 .rooks = 0x8100000000000081,
	 .queens = 0x0800000000000008,
	 .kings = 0x1000000000000010,
	 .castling = 0x8100000000000081,
	 .en_passant = 20,
	 .black_to_move = true},
};

static const char *const moves[] = {"e2e4", "d2d4", "g1f3", "c2c4"};
#define MOVES (sizeof(moves) / sizeof(moves[0]))

/* The keys after the moves, which an engine would make of its boards with chi_key_from_board. */
static int play(struct chi_key children[MOVES])
{
	struct chi_key root;
	chi_move move;
	if (chi_key_from_board(&boards[0], &root, NULL) != CHI_OK) {
		return 1;
	}
	for (size_t i = 0; i < MOVES; i++) {
		if (chi_key_move(&root, moves[i], strlen(moves[i]), &move, NULL) != CHI_OK ||
		    chi_key_play(&root, move, &children[i]) != CHI_OK) {
			return 1;
		}
	}
	return 0;
}

/* All moves at once, say to put them in order. */
static int order(struct chi_prober *prober, const struct chi_key children[MOVES])
{
	struct chi_row strengths[MOVES];
	if (chi_prober_many(prober, children, MOVES, strengths) != CHI_OK) {
		return 1;
	}
	for (size_t i = 0; i < MOVES; i++) {
		if (strengths[i].found) {
			printf("%s is known\n", moves[i]);
		}
	}
	return 0;
}

/* One after the other, until one is good enough: the rest is not looked up. */
static int search(struct chi_prober *prober, const struct chi_key children[MOVES])
{
	uint64_t tickets[MOVES];
	if (chi_prober_prefetch(prober, children, MOVES, tickets) != CHI_OK) {
		return 1;
	}
	for (size_t i = 0; i < MOVES; i++) {
		struct chi_row strength;
		if (chi_prober_collect(prober, tickets[i], &strength) != CHI_OK) {
			return 1;
		}
		if (strength.has_eval && -strength.score >= 20) {
			printf("%s is good enough\n", moves[i]);
			break;
		}
	}
	chi_prober_drop(prober);
	return 0;
}

int main(int argc, char **argv)
{
	struct chi_client *client;
	struct chi_prober *prober;
	uint64_t tickets[2];
	if (argc != 2 || chi_open(argv[1], NULL, &client, NULL) != CHI_OK ||
	    chi_prober_open(client, NULL, &prober) != CHI_OK) {
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		struct chi_key key;
		if (chi_key_from_board(&boards[i], &key, NULL) != CHI_OK ||
		    chi_prober_prefetch(prober, &key, 1, &tickets[i]) != CHI_OK) {
			return 1;
		}
	}
	/* Here the engine does something else: the answers come meanwhile. */
	for (int i = 0; i < 2; i++) {
		struct chi_row strength;
		if (chi_prober_collect(prober, tickets[i], &strength) != CHI_OK) {
			return 1;
		}
		if (!strength.found) {
			printf("not stored\n");
		} else if (strength.has_eval) {
			printf(strength.is_mate ? "mate in %.0f at depth %u\n"
						: "%+.2f pawns at depth %u\n",
			       strength.is_mate ? strength.score : strength.score / 100.0,
			       strength.depth);
		} else {
			printf("%.2f, no evaluation\n", strength.chi2 / 100.0);
		}
	}
	struct chi_key children[MOVES];
	int failed = play(children) || order(prober, children) || search(prober, children);
	chi_prober_close(prober);
	chi_close(client);
	return failed;
}
