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

static const char rights[] = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
static const char capture[] = "4k3/8/8/3p1p2/4P3/8/8/4K3 w - -";
static const char promoting[] = "3n4/4P2k/8/8/8/8/8/4K3 w - -";
static const char knights[] = "4k3/8/8/8/8/2N5/8/4K1N1 w - -";
static const char pinned[] = "4k3/8/8/8/1b6/2N5/8/4K1N1 w - -";
static const char queens[] = "1k6/8/8/8/4Q2Q/8/K7/7Q w - -";
static const struct {
	const char *fen;
	const char *text;
	const char *uci; /* NULL: none */
	enum chi_san_verdict verdict;
} spellings[] = {
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
	{promoting, "e8=Q", "e7e8q", CHI_SAN_MOVE},
	{promoting, "e8Q", "e7e8q", CHI_SAN_MOVE},
	{promoting, "e8q", "e7e8q", CHI_SAN_MOVE},
	{promoting, "e8=n", "e7e8n", CHI_SAN_MOVE},
	{promoting, "e8/R", "e7e8r", CHI_SAN_MOVE},
	{promoting, "e8b", "e7e8b", CHI_SAN_MOVE},
	{promoting, "e7e8q", "e7e8q", CHI_SAN_MOVE},
	{promoting, "exd8=Q+", "e7d8q", CHI_SAN_MOVE},
	{promoting, "ed8Q", "e7d8q", CHI_SAN_MOVE},
	{promoting, "e8", NULL, CHI_SAN_NOT_LEGAL},
	{promoting, "e8=K", NULL, CHI_SAN_NO_MOVE},
	{promoting, "e8=P", NULL, CHI_SAN_NO_MOVE},
	{promoting, "e8=", NULL, CHI_SAN_NO_MOVE},
	{START_FEN, "e4=Q", NULL, CHI_SAN_NOT_LEGAL},
	{START_FEN, "e4Q", NULL, CHI_SAN_NO_MOVE},
	/* castling */
	{rights, "O-O", "e1h1", CHI_SAN_MOVE},
	{rights, "O-O-O+", "e1a1", CHI_SAN_MOVE},
	{rights, "0-0", "e1h1", CHI_SAN_MOVE},
	{rights, "0-0-0", "e1a1", CHI_SAN_MOVE},
	{rights, "o-o", "e1h1", CHI_SAN_MOVE},
	{rights, "O\xe2\x80\x93O", "e1h1", CHI_SAN_MOVE},
	{rights,
	 "0\x96"
	 "0\x96"
	 "0",
	 "e1a1", CHI_SAN_MOVE},
	{rights, "e1g1", "e1h1", CHI_SAN_MOVE},
	{rights, "e1c1", "e1a1", CHI_SAN_MOVE},
	{rights, "e1h1", "e1h1", CHI_SAN_MOVE},
	{rights, "Kf1", "e1f1", CHI_SAN_MOVE},
	{rights, "O-O-O-O", NULL, CHI_SAN_NO_MOVE},
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

CASE(reads_spellings)
{
	for (size_t i = 0; i < CHI_COUNT(spellings); i++) {
		struct chi_position position = position_of(spellings[i].fen);
		chi_move move = 0;
		chi_move expected = 0;
		enum chi_san_verdict verdict = resolve(&position, spellings[i].text, &move);
		if (verdict != spellings[i].verdict) {
			fail_msg("%s in %s: %d", spellings[i].text, spellings[i].fen, (int)verdict);
		}
		if (verdict == CHI_SAN_MOVE) {
			assert_int_equal(chi_uci_parse(&position, spellings[i].uci,
						       strlen(spellings[i].uci), &expected, NULL),
					 CHI_OK);
			assert_int_equal(move, expected);
		}
	}
}

/* What SAN must name of the origin, from the list of all legal moves; 0 where nothing. */
static void slow_origin(const struct chi_position *position, const struct chi_move_list *list,
			chi_move move, char out[3])
{
	int from = chi_move_from(move);
	bool rival = false;
	bool same_file = false;
	bool same_rank = false;
	for (size_t i = 0; i < list->n; i++) {
		int other = chi_move_from(list->moves[i]);
		if (chi_move_to(list->moves[i]) == chi_move_to(move) && other != from &&
		    chi_position_kind(position, other) == chi_position_kind(position, from)) {
			rival = true;
			same_file = same_file || (other & 7) == (from & 7);
			same_rank = same_rank || other >> 3 == from >> 3;
		}
	}
	if (rival && (!same_file || same_rank)) {
		*out++ = (char)('a' + (from & 7));
	}
	if (same_file) {
		*out++ = (char)('1' + (from >> 3));
	}
	*out = '\0';
}

/* The move in SAN, the slow way. */
static void slow_san(const struct chi_position *position, const struct chi_move_list *list,
		     chi_move move, char *out, size_t size)
{
	int from = chi_move_from(move);
	int to = chi_move_to(move);
	int kind = chi_position_kind(position, from);
	int promotion = chi_move_promotion(move);
	bool takes = chi_position_kind(position, to) != CHI_KINDS ||
		     (kind == CHI_PAWN && (from & 7) != (to & 7));
	char origin[3] = {(char)('a' + (from & 7)), 0, 0};
	char promoted[3] = {'=', CHI_KIND_LETTERS[promotion], 0};
	char letter[2] = {kind == CHI_PAWN ? '\0' : CHI_KIND_LETTERS[kind], 0};
	struct chi_position next;
	struct chi_move_list answers;
	if (kind != CHI_PAWN) {
		slow_origin(position, list, move, origin);
	} else if (!takes) {
		origin[0] = '\0';
	}
	chi_position_play(position, move, &next);
	chi_movegen_legal(&next, &answers);
	const char *mark = !chi_position_in_check(&next, next.side) ? ""
			   : answers.n == 0			    ? "#"
								    : "+";
	if (chi_position_is_castling(position, move)) {
		snprintf(out, size, "%s%s", to > from ? "O-O" : "O-O-O", mark);
		return;
	}
	snprintf(out, size, "%s%s%s%c%c%s%s", letter, origin, takes ? "x" : "", 'a' + (to & 7),
		 '1' + (to >> 3), promotion != 0 ? promoted : "", mark);
}

/* What is printed, by hand. */
CASE(prints_as_it_must)
{
	static const struct {
		const char *fen;
		const char *uci;
		const char *san;
	} table[] = {
		{START_FEN, "g1f3", "Nf3"},
		{START_FEN, "e2e4", "e4"},
		/* file, rank, both; the pinned rival and the one behind a piece do not count */
		{"4k3/8/8/8/8/2N5/8/4K1N1 w - -", "g1e2", "Nge2"},
		{"7k/8/8/8/R7/8/8/R3K3 w - -", "a1a3", "R1a3"},
		{"1k6/8/8/8/4Q2Q/8/K7/7Q w - -", "h4e1", "Qh4e1"},
		{"1k6/8/8/8/4Q2Q/8/K7/7Q w - -", "e4e1", "Qee1"},
		{"1k6/8/8/8/4Q2Q/8/K7/7Q w - -", "h1e1", "Q1e1"},
		{"4k3/8/8/8/1b6/2N5/8/4K1N1 w - -", "g1e2", "Ne2"},
		{"7k/8/8/8/8/8/8/R1NRK3 w - -", "d1d2", "Rd2"},
		/* captures, en passant, promotions */
		{"4k3/8/8/3pP3/8/8/8/4K3 w - d6", "e5d6", "exd6"},
		{"3n4/4P2k/8/8/8/8/8/4K3 w - -", "e7d8n", "exd8=N"},
		{"3n4/4P2k/8/8/8/8/8/4K3 w - -", "e7e8q", "e8=Q"},
		{"7k/4P3/8/8/8/8/8/4K3 w - -", "e7e8r", "e8=R+"},
		/* check, mate, by castling too; stalemate is no mark */
		{"6k1/5ppp/8/8/8/8/8/4R1K1 w - -", "e1e8", "Re8#"},
		{"6k1/5pp1/7p/8/8/8/8/4R1K1 w - -", "e1e8", "Re8+"},
		{"5k2/8/8/8/8/8/8/4K2R w K -", "e1g1", "O-O+"},
		{"r3k3/8/8/8/8/8/8/3K4 b q -", "e8c8", "O-O-O+"},
		{"2rkr3/2p1p3/8/8/8/8/8/R3K3 w Q -", "e1c1", "O-O-O#"},
		{"7k/8/5K2/8/8/8/8/6Q1 w - -", "g1g6", "Qg6"},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_position position = position_of(table[i].fen);
		char text[CHI_SAN_SIZE];
		chi_move move = 0;
		assert_int_equal(
			chi_uci_parse(&position, table[i].uci, strlen(table[i].uci), &move, NULL),
			CHI_OK);
		assert_int_equal(chi_san_print(&position, move, text), strlen(table[i].san));
		assert_string_equal(text, table[i].san);
	}
}

/* Every legal move comes back from its texts; SAN is as the slow way prints it. */
static void check_legal(const struct chi_position *position)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; i < list.n; i++) {
		char text[CHI_SAN_SIZE];
		chi_move move = 0;
		char slow[16];
		size_t len = chi_san_print(position, list.moves[i], text);
		slow_san(position, &list, list.moves[i], slow, sizeof(slow));
		assert_string_equal(text, slow);
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

CASE(agrees_with_the_generator)
{
	struct seed seed = seed_start("agrees_with_the_generator");
	size_t rounds = seed_rounds(SLOW_BUILD ? 100 : 400);
	size_t moves = 0;
	for (size_t round = 0; round < rounds; round++) {
		struct chi_position position = random_position(&seed);
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

/* A legal move's text with a byte changed, put in or taken out, or bytes of the usual ones. */
static size_t nearly_usual(struct seed *seed, const struct chi_position *position, char *out)
{
	static const char bytes[] = "NBRQKPabcdefgh12345678x+#=O0-";
	struct chi_move_list list;
	size_t len = 0;
	chi_movegen_legal(position, &list);
	if (list.n > 0 && seed_below(seed, 4) != 0) {
		len = chi_san_print(position, list.moves[seed_below(seed, list.n)], out);
	}
	size_t changes = len > 0 ? 1 : seed_below(seed, 7);
	for (size_t i = 0; i < changes; i++) {
		size_t at = seed_below(seed, len + 1);
		size_t cut = at < len ? seed_below(seed, 2) : 0;
		size_t put = seed_below(seed, 3) != 0;
		memmove(out + at + put, out + at + cut, len - at - cut);
		if (put != 0) {
			out[at] = bytes[seed_below(seed, sizeof(bytes) - 1)];
		}
		len += put - cut;
	}
	return len;
}

/* Usual texts are read in a short way. One with a colon at its end, which says nothing, is not. */
static bool check_usual(struct seed *seed, const struct chi_position *position)
{
	char text[32];
	struct chi_san_found found[2];
	size_t len = nearly_usual(seed, position, text);
	enum chi_san_verdict usual = chi_san_find(position, text, len, &found[0]);
	text[len] = ':';
	enum chi_san_verdict closely = chi_san_find(position, text, len + 1, &found[1]);
	bool names =
		closely == CHI_SAN_MOVE || closely == CHI_SAN_MANY || closely == CHI_SAN_NOT_LEGAL;
	size_t n = found[1].n < CHI_SAN_FOUND_MAX ? found[1].n : CHI_SAN_FOUND_MAX;
	if (names ? usual != closely || found[0].n != found[1].n ||
			    memcmp(found[0].moves, found[1].moves, n * sizeof(chi_move)) != 0
		  : usual == CHI_SAN_MOVE || usual == CHI_SAN_MANY || usual == CHI_SAN_NOT_LEGAL) {
		fail_msg("'%.*s': %d, with a colon %d", (int)len, text, (int)usual, (int)closely);
	}
	return closely == CHI_SAN_MOVE;
}

CASE(short_way_changes_nothing)
{
	struct seed seed = seed_start("short_way_changes_nothing");
	size_t rounds = seed_rounds(SLOW_BUILD ? 50 : 400);
	size_t moves = 0;
	for (size_t round = 0; round < rounds; round++) {
		struct chi_position position = random_position(&seed);
		for (int ply = 0; ply < 60; ply++) {
			for (int i = 0; i < 40; i++) {
				moves += check_usual(&seed, &position);
			}
			if (!play_random(&seed, &position)) {
				break;
			}
		}
	}
	assert_true(moves > rounds);
}

/* The king's safety is looked at along its lines; here by playing the move. */
CASE(safety_is_what_playing_shows)
{
	struct seed seed = seed_start("safety_is_what_playing_shows");
	size_t rounds = seed_rounds(SLOW_BUILD ? 20 : 200);
	unsigned safe[2] = {0, 0};
	for (size_t round = 0; round < rounds; round++) {
		struct chi_position position = random_placement(&seed);
		for (int i = 0; i < 200; i++) {
			int from = (int)seed_below(&seed, 64);
			int to = (int)seed_below(&seed, 64);
			int kind = chi_position_kind(&position, from);
			struct chi_position next = position;
			bool ours = (position.colour[position.side] >> from & 1) != 0;
			bool free =
				((position.colour[position.side] | position.kind[CHI_KING]) >> to &
				 1) == 0;
			if (!ours || !free) {
				continue;
			}
			next.ep = CHI_NO_SQUARE;
			next.castle = 0;
			for (int k = 0; k < CHI_KINDS; k++) {
				next.kind[k] &= ~(chi_bit(from) | chi_bit(to));
			}
			next.colour[0] &= ~(chi_bit(from) | chi_bit(to));
			next.colour[1] &= ~(chi_bit(from) | chi_bit(to));
			next.kind[kind] |= chi_bit(to);
			next.colour[position.side] |= chi_bit(to);
			bool is = !chi_position_in_check(&next, position.side);
			assert_int_equal(chi_san_is_safe(&position, from, to, kind), is);
			safe[is]++;
		}
	}
	assert_true(safe[false] > 0 && safe[true] > 0);
}
