/* SPDX-License-Identifier: MIT */
/* The reader's fast way from a text to a move: a table of spellings, and, on random positions, the
 * same answers as the slow way through all legal moves. */
#include "tests/chess/support.h"

#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/san.h"
#include "chess/pgn/text.h"

static enum chi_san_verdict judge(const struct chi_position *position, const char *text, size_t len,
				  chi_move *move)
{
	struct chi_san_found found;
	enum chi_san_verdict verdict = chi_san_find(position, text, len, &found);
	assert_int_equal(verdict == CHI_SAN_MOVE, found.n == 1);
	assert_int_equal(verdict == CHI_SAN_MANY, found.n > 1);
	if (verdict == CHI_SAN_MOVE) {
		*move = found.moves[0];
	}
	return verdict;
}

static enum chi_san_verdict resolve(const struct chi_position *position, const char *text,
				    chi_move *move)
{
	char plain[64];
	size_t len = chi_pgn_fold(text, strlen(text), plain, sizeof(plain));
	return judge(position, plain, len, move);
}

static void reads_spellings(void **state)
{
	(void)state;
	static const char castling[] = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
	static const char capture[] = "4k3/8/8/3p1p2/4P3/8/8/4K3 w - -";
	static const char promotion[] = "3n4/4P2k/8/8/8/8/8/4K3 w - -";
	static const char knights[] = "4k3/8/8/8/8/2N5/8/4K1N1 w - -";
	static const char pinned[] = "4k3/8/8/8/1b6/2N5/8/4K1N1 w - -";
	static const char queens[] = "1k6/8/8/8/4Q2Q/8/K7/7Q w - -";
	static const struct {
		const char *fen;
		const char *text;
		const char *uci; /* NULL: none */
		enum chi_san_verdict verdict;
	} table[] = {
		{START_FEN, "e4", "e2e4", CHI_SAN_MOVE},
		{START_FEN, "e3", "e2e3", CHI_SAN_MOVE},
		{START_FEN, "e5", NULL, CHI_SAN_NOT_LEGAL},
		{START_FEN, "Nf3", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "Nf3+", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "Nf3#", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "Nf3++", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "Pe4", "e2e4", CHI_SAN_MOVE},
		{START_FEN,
		 "\xe2\x99\x98"
		 "f3",
		 "g1f3", CHI_SAN_MOVE}, /* figurine */
		/* UCI and long algebraic */
		{START_FEN, "e2e4", "e2e4", CHI_SAN_MOVE},
		{START_FEN, "e2-e4", "e2e4", CHI_SAN_MOVE},
		{START_FEN,
		 "e2\xe2\x80\x93"
		 "e4",
		 "e2e4", CHI_SAN_MOVE},
		{START_FEN, "g1f3", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "Ng1f3", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "Ng1-f3", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "e2e5", NULL, CHI_SAN_NOT_LEGAL},
		{START_FEN, "e3e4", NULL, CHI_SAN_NOT_LEGAL},
		{START_FEN, "e7e5", NULL, CHI_SAN_NOT_LEGAL},
		{START_FEN, "Bg1f3", NULL, CHI_SAN_NOT_LEGAL},
		/* too much of the origin */
		{START_FEN, "Ngf3", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "N1f3", "g1f3", CHI_SAN_MOVE},
		{START_FEN, "Nbf3", NULL, CHI_SAN_NOT_LEGAL},
		/* too little of it, where one legal move fits */
		{knights, "Ne2", NULL, CHI_SAN_MANY},
		{knights, "Nge2", "g1e2", CHI_SAN_MOVE},
		{pinned, "Ne2", "g1e2", CHI_SAN_MOVE},
		{pinned, "Nce2", NULL, CHI_SAN_NOT_LEGAL},
		{queens, "Qe1", NULL, CHI_SAN_MANY},
		{queens, "Qhe1", NULL, CHI_SAN_MANY},
		{queens, "Qh4e1", "h4e1", CHI_SAN_MOVE},
		{queens, "Q1e1", "h1e1", CHI_SAN_MOVE},
		/* captures with and without x */
		{capture, "exd5", "e4d5", CHI_SAN_MOVE},
		{capture, "ed5", "e4d5", CHI_SAN_MOVE},
		{capture, "ed", "e4d5", CHI_SAN_MOVE},
		{capture, "exd", "e4d5", CHI_SAN_MOVE},
		{capture, "e:d5", "e4d5", CHI_SAN_MOVE},
		{capture, "ed5:", "e4d5", CHI_SAN_MOVE},
		{capture,
		 "e\xc3\x97"
		 "d5",
		 "e4d5", CHI_SAN_MOVE},
		{capture, "e4xd5", "e4d5", CHI_SAN_MOVE},
		{capture, "e4d5", "e4d5", CHI_SAN_MOVE},
		{capture, "xd5", NULL, CHI_SAN_NOT_LEGAL},
		{capture, "d5", NULL, CHI_SAN_NOT_LEGAL},
		{capture, "exe5", "e4e5", CHI_SAN_MOVE},
		{capture, "eh", NULL, CHI_SAN_NOT_LEGAL},
		{"4k3/8/8/3pP3/8/8/8/4K3 w - d6", "exd6", "e5d6", CHI_SAN_MOVE},
		{"4k3/8/8/3pP3/8/8/8/4K3 w - d6", "ed", "e5d6", CHI_SAN_MOVE},
		{"4k3/8/8/3pP3/8/8/8/4K3 w - -", "exd6", NULL, CHI_SAN_NOT_LEGAL},
		/* promotion with and without = */
		{promotion, "e8=Q", "e7e8q", CHI_SAN_MOVE},
		{promotion, "e8Q", "e7e8q", CHI_SAN_MOVE},
		{promotion, "e8q", "e7e8q", CHI_SAN_MOVE},
		{promotion, "e8=n", "e7e8n", CHI_SAN_MOVE},
		{promotion, "e8/R", "e7e8r", CHI_SAN_MOVE},
		{promotion, "e8b", "e7e8b", CHI_SAN_MOVE},
		{promotion, "e7e8q", "e7e8q", CHI_SAN_MOVE},
		{promotion, "exd8=Q+", "e7d8q", CHI_SAN_MOVE},
		{promotion, "ed8Q", "e7d8q", CHI_SAN_MOVE},
		{promotion, "e8", NULL, CHI_SAN_NOT_LEGAL},
		{promotion, "e8=K", NULL, CHI_SAN_NO_MOVE},
		{promotion, "e8=P", NULL, CHI_SAN_NO_MOVE},
		{promotion, "e8=", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "e4=Q", NULL, CHI_SAN_NOT_LEGAL},
		{START_FEN, "e4Q", NULL, CHI_SAN_NO_MOVE},
		/* castling */
		{castling, "O-O", "e1h1", CHI_SAN_MOVE},
		{castling, "O-O-O+", "e1a1", CHI_SAN_MOVE},
		{castling, "0-0", "e1h1", CHI_SAN_MOVE},
		{castling, "0-0-0", "e1a1", CHI_SAN_MOVE},
		{castling, "o-o", "e1h1", CHI_SAN_MOVE},
		{castling, "O\xe2\x80\x93O", "e1h1", CHI_SAN_MOVE},
		{castling,
		 "0\x96"
		 "0\x96"
		 "0",
		 "e1a1", CHI_SAN_MOVE},
		{castling, "e1g1", "e1h1", CHI_SAN_MOVE},
		{castling, "e1c1", "e1a1", CHI_SAN_MOVE},
		{castling, "e1h1", "e1h1", CHI_SAN_MOVE},
		{castling, "Kf1", "e1f1", CHI_SAN_MOVE},
		{castling, "O-O-O-O", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "O-O", NULL, CHI_SAN_NOT_LEGAL},
		/* the king: not into check, not onto another */
		{"4k3/8/8/8/8/8/r7/4K3 w - -", "Ke2", NULL, CHI_SAN_NOT_LEGAL},
		{"8/8/8/8/8/4k3/8/4K3 w - -", "Ke2", NULL, CHI_SAN_NOT_LEGAL},
		{"8/8/8/8/8/8/4k3/4KR2 w - -", "Rf2", "f1f2", CHI_SAN_NOT_LEGAL},
		{"4k3/8/8/8/8/8/8/4R1K1 w - -", "Rxe8", NULL, CHI_SAN_NOT_LEGAL},
		/* no moves */
		{START_FEN, "--", NULL, CHI_SAN_NULL},
		{START_FEN, "Z0", NULL, CHI_SAN_NULL},
		{START_FEN, "+-", NULL, CHI_SAN_REMARK},
		{START_FEN, "=", NULL, CHI_SAN_REMARK},
		{START_FEN, "N", NULL, CHI_SAN_REMARK},
		{START_FEN, "+", NULL, CHI_SAN_REMARK},
		{START_FEN, "N@f3", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "Nf9", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "Ni3", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "Nf3f", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "Nf3xe5d4", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "resigns", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "e", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "N1", NULL, CHI_SAN_NO_MOVE},
		{START_FEN, "e2e4e2e4e2e4e2e4e2e4e2e4", NULL, CHI_SAN_NO_MOVE},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_position position = position_of(table[i].fen);
		chi_move move = 0;
		chi_move expected = 0;
		enum chi_san_verdict verdict = resolve(&position, table[i].text, &move);
		if (verdict != table[i].verdict) {
			fail_msg("%s in %s: %d", table[i].text, table[i].fen, (int)verdict);
		}
		if (verdict == CHI_SAN_MOVE) {
			assert_int_equal(chi_uci_parse(&position, table[i].uci,
						       strlen(table[i].uci), &expected, NULL),
					 CHI_OK);
			assert_int_equal(move, expected);
		}
	}
}

/* Every legal move comes back from its texts, printed by the slow way. */
static void check_legal(const struct chi_position *position)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n; i++) {
		char text[CHI_SAN_SIZE];
		chi_move move = 0;
		size_t len = chi_san_print(position, list.moves[i], text);
		assert_int_equal(judge(position, text, len, &move), CHI_SAN_MOVE);
		assert_int_equal(move, list.moves[i]);
		len = chi_uci_print(position, list.moves[i], text);
		assert_int_equal(judge(position, text, len, &move), CHI_SAN_MOVE);
		assert_int_equal(move, list.moves[i]);
	}
}

/* What a random text says. */
struct said {
	int kind; /* CHI_KINDS: no letter */
	int file; /* of the origin, or -1, as the next */
	int rank;
	int to;
	int promotion;
	char text[16];
	size_t len;
};

static struct said random_text(struct seed *seed)
{
	struct said said = {.kind = CHI_KINDS, .file = -1, .rank = -1};
	char *at = said.text;
	if (seed_below(seed, 3) != 0) {
		said.kind = (int)seed_below(seed, CHI_KINDS);
		*at++ = "PNBRQK"[said.kind];
	}
	if (seed_below(seed, 3) == 0) {
		said.file = (int)seed_below(seed, 8);
		*at++ = (char)('a' + said.file);
	}
	if (seed_below(seed, 4) == 0) {
		said.rank = (int)seed_below(seed, 8);
		*at++ = (char)('1' + said.rank);
	}
	if (seed_below(seed, 3) == 0) {
		*at++ = 'x';
	}
	said.to = (int)seed_below(seed, 64);
	*at++ = (char)('a' + (said.to & 7));
	*at++ = (char)('1' + (said.to >> 3));
	if (seed_below(seed, 6) == 0) {
		said.promotion = CHI_KNIGHT + (int)seed_below(seed, 4);
		*at++ = '=';
		*at++ = "PNBRQK"[said.promotion];
	}
	said.len = (size_t)(at - said.text);
	return said;
}

static bool fits(const struct chi_position *position, chi_move move, const struct said *said)
{
	int from = chi_move_from(move);
	int kind = chi_position_kind(position, from);
	bool both = said->file >= 0 && said->rank >= 0;
	/* Without a letter it is a pawn, or any piece if the whole origin is named. */
	int wanted = said->kind != CHI_KINDS ? said->kind : both ? kind : CHI_PAWN;
	bool silent = kind == CHI_PAWN && said->file < 0 && (from & 7) != (said->to & 7);
	return chi_move_to(move) == said->to && kind == wanted && !silent &&
	       chi_move_promotion(move) == said->promotion &&
	       (said->file < 0 || said->file == (from & 7)) &&
	       (said->rank < 0 || said->rank == from >> 3);
}

/* The fast way finds what a look at all legal moves finds. */
static size_t check_random(struct seed *seed, const struct chi_position *position)
{
	struct chi_move_list list;
	struct said said = random_text(seed);
	chi_move move = 0;
	chi_move expected = 0;
	size_t n = 0;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n; i++) {
		bool castling = chi_position_is_castling(position, list.moves[i]);
		if (!castling && fits(position, list.moves[i], &said)) {
			n++;
			expected = list.moves[i];
		}
	}
	enum chi_san_verdict verdict = judge(position, said.text, said.len, &move);
	if (verdict == CHI_SAN_MOVE && chi_position_is_castling(position, move)) {
		/* King's squares as UCI writes castling; the table above has these. */
		assert_true(said.kind == CHI_KINDS && said.file >= 0 && said.rank >= 0);
		return 0;
	}
	/* A piece that promotes is no move at all. */
	bool odd = said.promotion != 0 && said.kind != CHI_KINDS && said.kind != CHI_PAWN;
	enum chi_san_verdict wanted = n == 1  ? CHI_SAN_MOVE
				      : n > 1 ? CHI_SAN_MANY
				      : odd   ? CHI_SAN_NO_MOVE
					      : CHI_SAN_NOT_LEGAL;
	if (verdict != wanted || (n == 1 && move != expected)) {
		fail_msg("'%.*s': verdict %d, %zu legal moves", (int)said.len, said.text,
			 (int)verdict, n);
	}
	return n == 1;
}

static void agrees_with_the_generator(void **state)
{
	(void)state;
	struct seed seed = seed_start("agrees_with_the_generator");
	size_t rounds = seed_rounds(SLOW_BUILD ? 100 : 400);
	size_t moves = 0;
	for (size_t round = 0; round < rounds; round++) {
		struct chi_position position =
			round % 2 == 0 ? random_start(&seed) : random_placement(&seed);
		for (int ply = 0; ply < 60; ply++) {
			check_legal(&position);
			for (int i = 0; i < 40; i++) {
				moves += check_random(&seed, &position);
			}
			if (!play_random(&seed, &position)) {
				break;
			}
		}
	}
	/* Else the random texts were all nonsense. */
	assert_true(moves > rounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_spellings),
		cmocka_unit_test(agrees_with_the_generator),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
