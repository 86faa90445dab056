/* SPDX-License-Identifier: MIT */
/* The lexer's short cut through plain movetext gives the tokens, and keeps the state, of a lexer
 * that takes every step, however the text is cut. */
#include "tests/chess/support.h"

#include "chess/pgn/lex.h"

#define TEXT_MAX 120

/* Compiled without the short cut. */
void slow_lex_next(struct chi_pgn_lex *lex, struct chi_pgn_token *out);

static const char *const pieces[] = {
	" ",	       "  ",	   "\n",
	"\r\n",	       "\t",	   "1.",
	"1...",	       "12. ",	   "123.",
	"1234.",       "0000",	   "1 ",
	"e4",	       "Nf3+ ",	   "exd5 ",
	"O-O ",	       "0-0-0 ",   "e.p.",
	"1-0",	       "1/2-1/2",  "* ",
	"$12",	       "!?",	   "{a b}",
	"{",	       "}",	   "(1. d4 ",
	")",	       ";x\n",	   "%y\n",
	"[1. d4 ]",    "[x]",	   "[Event \"a\"]\n",
	"\n[Event \"", "\xc2\xa0", "\xe2\x99\x98",
	"\n\n",	       ".",	   "%",
	"a.b",	       "<",	   "",
};

static size_t random_text(struct seed *seed, char *out)
{
	size_t len = 0;
	size_t wanted = seed_below(seed, TEXT_MAX - 16);
	while (len < wanted) {
		const char *piece = pieces[seed_below(seed, CHI_COUNT(pieces))];
		if (seed_below(seed, 8) == 0) {
			out[len++] = (char)seed_next(seed);
			continue;
		}
		memcpy(out + len, piece, strlen(piece));
		len += strlen(piece);
	}
	return len;
}

static void assert_same_state(const struct chi_pgn_lex *a, const struct chi_pgn_lex *b)
{
	assert_int_equal(chi_pgn_lex_offset(a), chi_pgn_lex_offset(b));
	assert_int_equal(a->lines, b->lines);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->gap, b->gap);
	assert_int_equal(a->first, b->first);
	assert_int_equal(a->notes, b->notes);
	assert_int_equal(a->depth, b->depth);
	assert_int_equal(a->in_comment, b->in_comment);
	assert_int_equal(a->in_line, b->in_line);
}

/* Takes all tokens there are of both. Returns how many words. */
static size_t compare_tokens(struct chi_pgn_lex *fast, struct chi_pgn_lex *slow)
{
	size_t words = 0;
	for (;;) {
		struct chi_pgn_token a;
		struct chi_pgn_token b;
		chi_pgn_lex_next(fast, &a);
		slow_lex_next(slow, &b);
		assert_int_equal(a.kind, b.kind);
		assert_same_state(fast, slow);
		if (a.kind == CHI_PGN_TOKEN_NONE) {
			return words;
		}
		assert_int_equal(a.high, b.high);
		assert_int_equal(a.first, b.first);
		assert_int_equal(a.len, b.len);
		assert_memory_equal(a.text, b.text, a.len);
		words += a.kind == CHI_PGN_TOKEN_WORD;
		if (a.kind == CHI_PGN_TOKEN_TAG) {
			chi_pgn_lex_take(fast, &a, a.len);
			chi_pgn_lex_take(slow, &b, b.len);
		}
	}
}

static size_t compare_cut(const char *text, size_t len, size_t cut, bool comments)
{
	static struct chi_pgn_lex fast;
	static struct chi_pgn_lex slow;
	struct chi_pgn_lex *both[] = {&fast, &slow};
	size_t words = 0;
	for (size_t i = 0; i < 2; i++) {
		chi_pgn_lex_init(both[i]);
		both[i]->comments = comments;
		assert_int_equal(chi_pgn_lex_feed(both[i], text, cut), cut);
	}
	words += compare_tokens(&fast, &slow);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(chi_pgn_lex_feed(both[i], text + cut, len - cut), len - cut);
		both[i]->final = true;
	}
	return words + compare_tokens(&fast, &slow);
}

CASE(short_cut_changes_nothing)
{
	struct seed seed = seed_start("short_cut_changes_nothing");
	size_t rounds = seed_rounds(SLOW_BUILD ? 400 : 4000);
	size_t words = 0;
	for (size_t round = 0; round < rounds; round++) {
		char text[TEXT_MAX];
		size_t len = random_text(&seed, text);
		for (size_t cut = 0; cut <= len; cut++) {
			words += compare_cut(text, len, cut, round % 2 == 0);
		}
	}
	assert_true(words > rounds);
}

/* The longest word, and one byte more, which is cut. */
CASE(long_words)
{
	char text[CHI_PGN_WORD_MAX + 8];
	for (size_t len = CHI_PGN_WORD_MAX - 1; len <= CHI_PGN_WORD_MAX + 2; len++) {
		memset(text, 'a', sizeof(text));
		text[len] = ' ';
		for (size_t cut = 0; cut <= len; cut += len) {
			size_t words = compare_cut(text, len + 1, cut, false);
			assert_int_equal(words, len <= CHI_PGN_WORD_MAX ? 1 : 2);
		}
	}
}
