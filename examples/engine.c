/* SPDX-License-Identifier: MIT */
/* How an engine asks: one prober a thread, the board it has, and prefetching for all its moves. */
#include <stdio.h>

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

int main(int argc, char **argv)
{
	struct chi_client *client;
	struct chi_prober *prober;
	uint64_t tickets[2];
	if (argc != 2 || chi_open(argv[1], NULL, &client, NULL) != CHI_OK ||
	    chi_prober_open(client, &prober) != CHI_OK) {
		return 1;
	}
	for (int i = 0; i < 2; i++) {
		if (chi_prober_prefetch_board(prober, &boards[i], &tickets[i]) != CHI_OK) {
			return 1;
		}
	}
	/* Here the engine does something else: the answers come meanwhile. */
	for (int i = 0; i < 2; i++) {
		struct chi_strength strength;
		if (chi_prober_collect(prober, tickets[i], &strength) != CHI_OK) {
			return 1;
		}
		if (!strength.found) {
			printf("not stored\n");
		} else if (strength.has_eval) {
			printf("%s%d at depth %u\n", strength.is_mate ? "mate in " : "",
			       strength.score, strength.depth);
		} else {
			printf("%.2f, no evaluation\n", strength.chi2 / 100.0);
		}
	}
	chi_prober_close(prober);
	chi_close(client);
	return 0;
}
