/* SPDX-License-Identifier: MIT */
/*
 * The second reading of a game's text. Its moves are known, and where their words are; so whatever
 * else there is has its place, and variations their positions. From the first word that was not
 * taken as a move all is kept as text, which ends with all that it opens, so that reading it again
 * gives the same. A comment or a variation that has no end in the text ends with it.
 */
#include "chess/pgn/keep.h"

#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "chess/pgn/text.h"
#include "chess/san.h"

/* Text being copied, from `from` on. */
struct copy {
	const char *from;
	char *out;
	size_t n;
	size_t max;
	bool full;
};

struct annotator {
	struct chi_pgn_keep *keep;
	const struct chi_pgn_game *game;
	struct chi_notes_writer notes;
	size_t ply;	 /* moves of the main line so far */
	uint32_t depth;	 /* the lexer's, before this token */
	uint32_t shown;	 /* variations open in the notes */
	uint32_t unread; /* depth of the variation that is copied as text, or 0 */
	bool in_rest;	 /* the main line is */
	struct copy copy;
};

static const char *end_of_text(const struct annotator *a)
{
	return a->keep->text + 1 + a->keep->n_text;
}

/* ---- Text that is no moves ---------------------------------------------------------------- */

static void begin_copy(struct annotator *a, const char *from, char *out, size_t max)
{
	a->copy = (struct copy){.from = from, .out = out, .max = max};
}

/* Copies up to `to`, all of it or nothing any more. */
static void copy_to(struct annotator *a, const char *to)
{
	struct copy *copy = &a->copy;
	size_t n = SIZE_MAX;
	/* With the line feed after it, if there is one. */
	to -= to > copy->from && to[-1] == '\r';
	if (!copy->full) {
		n = chi_pgn_movetext(copy->from, (size_t)(to - copy->from), copy->out + copy->n,
				     copy->max - copy->n);
	}
	copy->full = n == SIZE_MAX;
	copy->n += copy->full ? 0 : n;
	copy->from = to;
}

static void put_copied(struct annotator *a, char c)
{
	a->copy.full |= a->copy.n == a->copy.max;
	if (!a->copy.full) {
		a->copy.out[a->copy.n++] = c;
	}
}

/* Copies to where the lexer is, which is where what is open should have ended, and ends it: a
 * comment, and variations deeper than `depth`. */
static void copy_rest(struct annotator *a, uint32_t depth, bool comment)
{
	struct copy *copy = &a->copy;
	size_t before = copy->n;
	size_t ends = a->depth - depth;
	copy_to(a, a->keep->lex.at);
	if (copy->full || (!comment && ends == 0)) {
		return;
	}
	if (copy->max - copy->n < ends + 1) {
		copy->n = before;
		copy->full = true;
		return;
	}
	/* The line feed ends a comment that began with ';'. */
	copy->out[copy->n++] = comment ? '}' : '\n';
	bool square = a->keep->lex.square && depth == 0;
	memset(copy->out + copy->n, square ? ']' : ')', ends);
	copy->n += square && ends > 0 ? 1 : ends;
}

/* Without the blanks at its end. */
static size_t copied(const struct annotator *a)
{
	size_t n = a->copy.n;
	while (n > 0 && (a->copy.out[n - 1] == ' ' || a->copy.out[n - 1] == '\n')) {
		n--;
	}
	return n;
}

/* ---- Items -------------------------------------------------------------------------------- */

static void add_comment(struct annotator *a, const char *text, size_t len)
{
	char *out = a->keep->scratch;
	size_t n = chi_pgn_comment_text(text, len, out, CHI_PGN_NOTES_MAX);
	if (n > 0) {
		chi_notes_comment(&a->notes, a->ply, out, n);
	}
}

/* A word that is no move and not meant as one. */
static void add_remark(struct annotator *a, const struct chi_pgn_token *token)
{
	static const struct {
		const char *text;
		uint8_t nag; /* 0: says nothing that the move does not say */
	} table[] = {
		{"+", 0},	{"++", 0},   {"#", 0},	     {"-", 0},	  {"/", 0},
		{"ep", 0},	{"ch", 0},   {"mate", 0},    {"dis", 0},  {"=", 10},
		{"\u221e", 13}, {"+=", 14},  {"+/=", 14},    {"=+", 15},  {"=/+", 15},
		{"\u00b1", 16}, {"+/-", 16}, {"\u2213", 17}, {"-/+", 17}, {"+-", 18},
		{"-+", 19},	{"N", 146},  {"TN", 146},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		if (strlen(table[i].text) == token->len &&
		    memcmp(table[i].text, token->text, token->len) == 0) {
			if (table[i].nag != 0) {
				chi_notes_nag(&a->notes, a->ply, table[i].nag);
			}
			return;
		}
	}
	add_comment(a, token->text, token->len);
}

/* "!", "?!" and so on, two marks at a time. */
static void add_marks(struct annotator *a, const char *text, size_t len)
{
	static const char *const marks[] = {"!", "?", "!!", "??", "!?", "?!"};
	for (size_t at = 0; at < len; at += 2) {
		size_t n = len - at < 2 ? 1 : 2;
		for (uint32_t i = 0; i < CHI_COUNT(marks); i++) {
			if (strlen(marks[i]) == n && memcmp(marks[i], text + at, n) == 0) {
				chi_notes_nag(&a->notes, a->ply, i + 1);
			}
		}
	}
}

static void add_nag(struct annotator *a, const struct chi_pgn_token *token)
{
	uint64_t nag = 0;
	if (token->len > 0 && token->text[-1] != '$') {
		add_marks(a, token->text, token->len);
	} else if (chi_num_u64(token->text, token->len, CHI_NOTE_NAG_MAX, &nag) == CHI_OK) {
		chi_notes_nag(&a->notes, a->ply, (uint32_t)nag);
	} else {
		add_comment(a, token->text - 1, token->len + 1);
	}
}

/* ---- Variations --------------------------------------------------------------------------- */

static void open_variation(struct annotator *a)
{
	struct chi_pgn_variation *lines = a->keep->lines;
	uint32_t depth = a->keep->lex.depth;
	if (depth > CHI_NOTES_DEPTH_MAX) {
		a->notes.lost++;
		return;
	}
	const struct chi_position *from = &a->game->positions[a->ply > 0 ? a->ply - 1 : 0];
	lines[depth].before = depth > 1 ? lines[depth - 1].before : *from;
	lines[depth].now = lines[depth].before;
	chi_notes_open(&a->notes, a->ply);
	a->shown = depth;
}

/* Ends variations until no more than `depth` are open. */
static void close_variations(struct annotator *a, uint32_t depth)
{
	while (a->shown > depth) {
		chi_notes_close(&a->notes);
		a->shown--;
	}
}

static void add_variation_word(struct annotator *a, const struct chi_pgn_token *token)
{
	struct chi_pgn_variation *line = &a->keep->lines[a->shown];
	struct chi_san_found found;
	char plain[32];
	const char *text = token->text;
	size_t len = token->len;
	if (token->high) {
		len = chi_pgn_fold(text, len, plain, sizeof(plain));
		text = plain;
	}
	enum chi_san_verdict verdict = chi_san_find(&line->now, text, len, &found);
	if (verdict == CHI_SAN_MOVE) {
		line->before = line->now;
		chi_position_play(&line->before, found.moves[0], &line->now);
		chi_notes_move(&a->notes, found.moves[0]);
	} else if (verdict == CHI_SAN_REMARK) {
		add_remark(a, token);
	} else {
		a->unread = a->shown;
		begin_copy(a, token->text, a->keep->scratch, sizeof(a->keep->scratch));
	}
}

/* Ends the variation that is copied as text. */
static void end_unread(struct annotator *a)
{
	size_t n = copied(a);
	a->unread = 0;
	if (a->copy.full) {
		a->notes.lost++;
	} else if (n > 0) {
		chi_notes_unread(&a->notes, a->copy.out, n);
	}
}

/* Goes on with a variation that is copied as text. */
static void take_unread(struct annotator *a, const struct chi_pgn_token *token, bool comment)
{
	uint32_t depth = a->keep->lex.depth;
	if (token->kind == CHI_PGN_TOKEN_UNCLOSED) {
		copy_rest(a, a->unread, comment);
		end_unread(a);
		close_variations(a, 0);
	} else if (token->kind == CHI_PGN_TOKEN_CLOSE && depth < a->unread) {
		copy_to(a, token->text);
		/* A square bracket ends all at once. */
		for (uint32_t i = a->unread; i < a->depth; i++) {
			put_copied(a, ')');
		}
		end_unread(a);
		close_variations(a, depth);
	} else if (token->kind == CHI_PGN_TOKEN_CLOSE && depth == a->depth) {
		/* In square brackets a round one that ends nothing; elsewhere it would. */
		copy_to(a, token->text);
		put_copied(a, ',');
		a->copy.from++;
	}
}

/* ---- The main line ------------------------------------------------------------------------ */

/* Text after moves that nothing but a missing end, or the game's length, stopped: read again it
 * would go on with moves, so that it is kept as a comment. */
static void add_words(struct annotator *a, const char *from)
{
	char *out = a->keep->scratch;
	size_t n =
		chi_pgn_comment_text(from, (size_t)(end_of_text(a) - from), out, CHI_PGN_REST_MAX);
	for (size_t i = 0; i < n; i++) {
		out[i] = out[i] == '}' ? ')' : out[i];
	}
	chi_notes_comment(&a->notes, a->ply, out, n);
	a->keep->lex.at = a->keep->lex.end;
}

static void add_word(struct annotator *a, const struct chi_pgn_token *token)
{
	const struct chi_pgn_game *game = a->game;
	uint64_t at = (uint64_t)(token->text - (a->keep->text + 1));
	bool known = at == a->keep->where[a->ply];
	if (known && a->ply < game->n_plies) {
		a->ply++;
	} else if (!known || game->end == CHI_PGN_COMPLETE) {
		add_remark(a, token);
	} else if (game->end == CHI_PGN_UNCLOSED || game->end == CHI_PGN_TOO_LONG) {
		add_words(a, token->text);
	} else {
		a->in_rest = true;
		begin_copy(a, token->text, a->keep->rest, sizeof(a->keep->rest));
		copy_to(a, a->keep->lex.at);
	}
}

static void take_rest(struct annotator *a, const struct chi_pgn_token *token, bool comment)
{
	if (token->kind == CHI_PGN_TOKEN_UNCLOSED) {
		copy_rest(a, 0, comment);
	} else if (a->keep->lex.depth == 0 && !a->keep->lex.in_comment) {
		copy_to(a, a->keep->lex.at);
	}
}

static void take_token(struct annotator *a, const struct chi_pgn_token *token)
{
	struct chi_pgn_pair pair;
	bool hidden = a->keep->lex.depth > a->shown;
	switch (token->kind) {
	case CHI_PGN_TOKEN_WORD:
		if (!hidden && a->shown > 0) {
			add_variation_word(a, token);
		} else if (!hidden) {
			add_word(a, token);
		}
		break;
	case CHI_PGN_TOKEN_COMMENT:
		if (!hidden) {
			add_comment(a, token->text, token->len);
		}
		break;
	case CHI_PGN_TOKEN_NAG:
		if (!hidden) {
			add_nag(a, token);
		}
		break;
	case CHI_PGN_TOKEN_OPEN:
		open_variation(a);
		break;
	case CHI_PGN_TOKEN_CLOSE:
	case CHI_PGN_TOKEN_UNCLOSED:
		close_variations(a, a->keep->lex.depth);
		break;
	case CHI_PGN_TOKEN_TAG:
		chi_pgn_tag_read(token->text, token->len, &pair);
		chi_pgn_lex_take(&a->keep->lex, token, pair.len);
		break;
	case CHI_PGN_TOKEN_NONE:
		break;
	}
}

void chi_pgn_annotate(struct chi_pgn_keep *keep, const struct chi_pgn_game *game)
{
	struct annotator a = {
		.keep = keep,
		.game = game,
		.notes = chi_notes_writer_of(keep->notes, sizeof(keep->notes)),
	};
	struct chi_pgn_token token;
	chi_pgn_lex_over(&keep->lex, keep->text + 1, keep->n_text);
	do {
		bool comment = keep->lex.in_comment;
		chi_pgn_lex_next(&keep->lex, &token);
		if (a.in_rest && token.kind != CHI_PGN_TOKEN_TAG) {
			take_rest(&a, &token, comment);
		} else if (a.unread > 0 && token.kind != CHI_PGN_TOKEN_TAG) {
			take_unread(&a, &token, comment);
		} else {
			take_token(&a, &token);
		}
		a.depth = keep->lex.depth;
	} while (token.kind != CHI_PGN_TOKEN_NONE);
	struct chi_pgn_whole *whole = &keep->whole;
	whole->notes = keep->notes;
	whole->n_notes = a.notes.n;
	whole->lost_notes = a.notes.lost;
	whole->rest = keep->rest;
	whole->n_rest = a.in_rest ? copied(&a) : 0;
	/* A star that the result stuck to is none; without it, it would be one. */
	while (whole->n_rest > 0 && keep->rest[whole->n_rest - 1] == '*') {
		a.copy.n = whole->n_rest - 1;
		whole->n_rest = copied(&a);
	}
	whole->rest_cut = a.in_rest && a.copy.full;
}
