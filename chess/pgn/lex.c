/* SPDX-License-Identifier: MIT */
/*
 * One loop over the bytes by their class. A token that needs bytes not there yet leaves `at`
 * where it can start again: a word or a tag line from its beginning, a comment or a variation
 * where it is, for it may be longer than any window.
 */
#include "chess/pgn/lex.h"

#include <string.h>

#include "base/attr.h"
#include "chess/pgn/tags.h"
#include "chess/pgn/text.h"

#define EVENT	  "[Event \""
#define EVENT_LEN (sizeof(EVENT) - 1)

/* A test compares it with one that takes every step. */
#ifdef CHI_PGN_LEX_SLOW
#define SHORT_CUT false
#else
#define SHORT_CUT true
#endif

/* Classes of bytes, in an order that lets one comparison tell: those up to IN_WORD are part of a
 * word, those up to BLANK mean nothing inside a variation. */
enum class {
	TEXT,
	DIGIT,
	ESCAPE,
	IN_WORD = ESCAPE,
	HIGH,
	NUL,
	BLANK,
	NEWLINE,
	BRACE,
	SEMICOLON,
	OPEN,
	CLOSE,
	BRACKET,
	STAR,
	NAG,
	GLYPH,
	MARK,
};

static const uint8_t classes[256] = {
	[0] = NUL,	[' '] = BLANK,	  ['\t'] = BLANK, ['\r'] = BLANK,    ['\v'] = BLANK,
	['\f'] = BLANK, ['\n'] = NEWLINE, ['{'] = BRACE,  [';'] = SEMICOLON, ['('] = OPEN,
	[')'] = CLOSE,	['['] = BRACKET,  ['*'] = STAR,	  ['$'] = NAG,	     ['.'] = MARK,
	[','] = MARK,	['!'] = GLYPH,	  ['?'] = GLYPH,  ['}'] = MARK,	     [']'] = MARK,
	['<'] = MARK,	['>'] = MARK,	  ['"'] = MARK,	  ['%'] = ESCAPE,    ['0'] = DIGIT,
	['1'] = DIGIT,	['2'] = DIGIT,	  ['3'] = DIGIT,  ['4'] = DIGIT,     ['5'] = DIGIT,
	['6'] = DIGIT,	['7'] = DIGIT,	  ['8'] = DIGIT,  ['9'] = DIGIT,     [0x80 ... 0xff] = HIGH,
};

static inline uint8_t class_of(char c)
{
	return classes[(unsigned char)c];
}

/* What a step of the loop came to. */
enum step {
	GO_ON,
	MORE,	  /* no step without more bytes */
	TOKEN,	  /* *out is filled */
	UNCLOSED, /* the thing being read over has no end */
};

void chi_pgn_lex_init(struct chi_pgn_lex *lex)
{
	memset(lex, 0, offsetof(struct chi_pgn_lex, window));
	lex->window[0] = '\n';
	lex->at = lex->window + 1;
	lex->end = lex->at;
	*lex->end = '\0';
}

void chi_pgn_lex_over(struct chi_pgn_lex *lex, char *text, size_t len)
{
	memset(lex, 0, offsetof(struct chi_pgn_lex, window));
	lex->at = text;
	lex->end = text + len;
	lex->final = true;
	lex->begun = true;
	lex->rich = true;
}

size_t chi_pgn_lex_feed(struct chi_pgn_lex *lex, const void *bytes, size_t len)
{
	size_t used = (size_t)(lex->at - (lex->window + 1));
	size_t left = (size_t)(lex->end - lex->at);
	/* The byte before the first moves too: it shows whether a line begins here. */
	memmove(lex->window, lex->at - 1, left + 1);
	lex->dropped += used;
	lex->at = lex->window + 1;
	size_t n = CHI_PGN_WINDOW - left < len ? CHI_PGN_WINDOW - left : len;
	if (n > 0) {
		memcpy(lex->at + left, bytes, n);
	}
	lex->end = lex->at + left + n;
	*lex->end = '\0';
	return n;
}

void chi_pgn_lex_take(struct chi_pgn_lex *lex, const struct chi_pgn_token *tag, size_t len)
{
	lex->gap = lex->line == CHI_PGN_LINE_TAG ? 0 : CHI_PGN_GAP_TEXT;
	lex->at += len;
	/* The rest of a line of which only the start was looked at. */
	lex->in_line = len == tag->len && class_of(*lex->at) != NEWLINE;
}

/* '%' escapes a line, and '[' ends a variation, in the first column only. */
static inline bool at_line_start(const struct chi_pgn_lex *lex)
{
	return lex->at[-1] == '\n';
}

/* All that is neither blank nor a tag must pass here: chi_pgn_boundary counts on it. */
static inline void note_text(struct chi_pgn_lex *lex)
{
	lex->gap |= CHI_PGN_GAP_TEXT;
	if (lex->line == CHI_PGN_LINE_BLANK) {
		lex->line = CHI_PGN_LINE_TEXT;
	}
}

/* A token that only a rich lexer gives: `len` bytes at `text`. The lexer goes on at `next`. */
static enum step give(struct chi_pgn_lex *lex, struct chi_pgn_token *out,
		      enum chi_pgn_token_kind kind, const char *text, size_t len, char *next)
{
	lex->at = next;
	if (!lex->rich) {
		return GO_ON;
	}
	*out = (struct chi_pgn_token){.kind = kind, .text = text, .len = len};
	return TOKEN;
}

/* Reads over a comment up to `limit`, counting lines and looking for a game begun in it. */
static enum step skip_comment_lines(struct chi_pgn_lex *lex, const char *limit)
{
	for (;;) {
		char *newline = memchr(lex->at, '\n', (size_t)(limit - lex->at));
		if (newline == NULL) {
			return GO_ON;
		}
		size_t left = (size_t)(lex->end - (newline + 1));
		size_t n = left < EVENT_LEN ? left : EVENT_LEN;
		/* Cut off by the window's end it may still be one: wait for the rest. */
		bool like = memcmp(newline + 1, EVENT, n) == 0;
		if (like && n < EVENT_LEN && !lex->final) {
			lex->at = newline;
			return MORE;
		}
		lex->at = newline + 1;
		lex->lines++;
		if (like && n == EVENT_LEN) {
			lex->line = CHI_PGN_LINE_BLANK;
			return UNCLOSED;
		}
	}
}

static void keep_comment(struct chi_pgn_lex *lex, const char *from, const char *to)
{
	size_t room = sizeof(lex->comment) - lex->n_comment;
	size_t n = (size_t)(to - from) < room ? (size_t)(to - from) : room;
	memcpy(lex->comment + lex->n_comment, from, n);
	lex->n_comment += n;
}

static void end_comment(const struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	size_t len = lex->n_comment;
	if (len > CHI_PGN_COMMENT_MAX) {
		while (len > 0 && class_of(lex->comment[len - 1]) != BLANK &&
		       class_of(lex->comment[len - 1]) != NEWLINE) {
			len--;
		}
	}
	*out = (struct chi_pgn_token){
		.kind = CHI_PGN_TOKEN_COMMENT, .text = lex->comment, .len = len};
}

/* A comment that is in memory, from its '{' or ';' to `end`. */
static enum step whole_comment(struct chi_pgn_lex *lex, struct chi_pgn_token *out, char end)
{
	char *from = lex->at + 1;
	char *to = memchr(from, end, (size_t)(lex->end - from));
	char *next = to != NULL && end == '}' ? to + 1 : to;
	lex->in_comment = end == '}' && to == NULL;
	to = to != NULL ? to : lex->end;
	return give(lex, out, CHI_PGN_TOKEN_COMMENT, from, (size_t)(to - from),
		    next != NULL ? next : lex->end);
}

/* Reads over a comment, after its '{', to its '}'. They do not nest. */
static enum step skip_comment(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	const char *from = lex->at;
	char *close = memchr(lex->at, '}', (size_t)(lex->end - lex->at));
	enum step step = skip_comment_lines(lex, close != NULL ? close : lex->end);
	if (step == GO_ON && close == NULL) {
		lex->at = lex->end;
		step = lex->final ? UNCLOSED : MORE;
	}
	bool wanted = lex->comments && lex->depth == 0;
	if (CHI_UNLIKELY(wanted)) {
		keep_comment(lex, from, step == GO_ON ? close : lex->at);
	}
	if (step == GO_ON) {
		lex->at = close + 1;
		lex->line = CHI_PGN_LINE_TEXT;
	}
	lex->in_comment = step == MORE;
	if (CHI_UNLIKELY(wanted) && step == GO_ON) {
		end_comment(lex, out);
		return TOKEN;
	}
	return step;
}

/* Reads over the rest of a line; the line feed itself is left, so that lines are counted in one
 * place. */
static enum step skip_line(struct chi_pgn_lex *lex)
{
	char *newline = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
	lex->at = newline != NULL ? newline : lex->end;
	lex->in_line = newline == NULL && !lex->final;
	return lex->in_line ? MORE : GO_ON;
}

/* The line from `at` on as far as it is looked at; false if more bytes are needed to see it. */
static bool see_line(const struct chi_pgn_lex *lex, size_t *len)
{
	size_t left = (size_t)(lex->end - lex->at);
	size_t most = left < CHI_PGN_LINE_MAX ? left : CHI_PGN_LINE_MAX;
	const char *newline = memchr(lex->at, '\n', most);
	*len = newline != NULL ? (size_t)(newline - lex->at) : most;
	return newline != NULL || most == CHI_PGN_LINE_MAX || lex->final;
}

/* One step inside a variation. */
CHI_INLINE enum step step_variation(struct chi_pgn_lex *lex)
{
	size_t len = 0;
	/* Digits, letters and blanks, in the main. */
	while (class_of(*lex->at) <= BLANK && *lex->at != '\0' && *lex->at != '%') {
		lex->at++;
	}
	switch (class_of(*lex->at)) {
	case NUL:
		if (lex->at == lex->end) {
			return lex->final ? UNCLOSED : MORE;
		}
		break;
	case NEWLINE:
		lex->lines++;
		break;
	case BRACE:
		lex->in_comment = true;
		break;
	case SEMICOLON:
		lex->in_line = true;
		break;
	case ESCAPE:
		lex->in_line = at_line_start(lex);
		break;
	case OPEN:
		lex->depth++;
		break;
	case CLOSE:
		lex->depth -= lex->depth > 1 || !lex->square;
		lex->line = CHI_PGN_LINE_TEXT;
		break;
	case MARK:
		if (*lex->at == ']' && lex->square) {
			lex->depth = 0;
			lex->line = CHI_PGN_LINE_TEXT;
		}
		break;
	case BRACKET:
		if (at_line_start(lex)) {
			if (!see_line(lex, &len)) {
				return MORE;
			}
			if (chi_pgn_tag_is(lex->at, len)) {
				lex->line = CHI_PGN_LINE_BLANK;
				return UNCLOSED;
			}
		}
		break;
	default:
		break;
	}
	lex->at++;
	return GO_ON;
}

/* A tag, a variation in square brackets as some old programs write it, or a remark. */
static enum step step_bracket(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	size_t len = 0;
	if (!see_line(lex, &len)) {
		return MORE;
	}
	if (chi_pgn_tag_is(lex->at, len)) {
		if (lex->line == CHI_PGN_LINE_BLANK) {
			lex->line = CHI_PGN_LINE_TAG;
		}
		*out = (struct chi_pgn_token){
			.kind = CHI_PGN_TOKEN_TAG, .text = lex->at, .len = len};
		return TOKEN;
	}
	note_text(lex);
	lex->notes = true;
	char *from = lex->at;
	if (len > 1 && class_of(from[1]) == DIGIT) {
		lex->depth = 1;
		lex->square = true;
		return give(lex, out, CHI_PGN_TOKEN_OPEN, from, 1, from + 1);
	}
	/* Something else in brackets, up to the line's end at most. */
	char *close = memchr(from, ']', len);
	if (close == NULL) {
		lex->at++;
		return GO_ON;
	}
	return give(lex, out, CHI_PGN_TOKEN_COMMENT, from, (size_t)(close + 1 - from), close + 1);
}

/* The end of the word at `at`, or NULL if more bytes are needed to know. */
static char *word_end(const struct chi_pgn_lex *lex, bool *high)
{
	char *at = lex->at;
	const char *limit = at + CHI_PGN_WORD_MAX; /* each sign counts as one byte */
	while (at < limit) {
		if (class_of(*at) <= IN_WORD) {
			at++;
			continue;
		}
		if (at == lex->end && !lex->final) {
			return NULL;
		}
		if (class_of(*at) != HIGH) {
			break;
		}
		if (lex->end - at < CHI_PGN_SIGN_MAX && !lex->final) {
			return NULL;
		}
		char meaning = 0;
		size_t n = chi_pgn_sign(at, lex->end, &meaning);
		if (meaning == CHI_PGN_GAP) {
			break;
		}
		*high = true;
		at += n;
		limit += n - 1;
	}
	return at;
}

/* What is read up to `end` is a word. */
CHI_INLINE void take_word(struct chi_pgn_lex *lex, char *end, bool high, struct chi_pgn_token *out)
{
	*out = (struct chi_pgn_token){
		.kind = CHI_PGN_TOKEN_WORD,
		.high = high,
		.first = lex->first,
		.text = lex->at,
		.len = (size_t)(end - lex->at),
	};
	lex->at = end;
	lex->first = false;
}

/* Anything else: a move, or a result, or nonsense; the game decides. */
static enum step step_word(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	bool high = false;
	char *end = word_end(lex, &high);
	if (end == NULL) {
		return MORE;
	}
	/* "e.p.", alone or after a move, is none of its letters. */
	if (*end == '.' && end > lex->at && end[-1] == 'e') {
		if (end + 1 == lex->end && !lex->final) {
			return MORE;
		}
		end -= end[1] == 'p';
	}
	note_text(lex);
	if (end == lex->at) {
		lex->at += 3;
		return GO_ON;
	}
	take_word(lex, end, high, out);
	return TOKEN;
}

/* A move number, or a word that begins with a digit: a result, castling, a null move. */
static enum step step_digits(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	char *at = lex->at;
	while (class_of(*at) == DIGIT && at - lex->at < CHI_PGN_WORD_MAX) {
		at++;
	}
	if (at == lex->end && !lex->final) {
		return MORE;
	}
	bool word = *at == '-' || *at == '/' || *at == ':' ||
		    (at - lex->at == 4 && memcmp(lex->at, "0000", 4) == 0);
	if (class_of(*at) == HIGH) {
		char meaning = 0;
		if (lex->end - at < CHI_PGN_SIGN_MAX && !lex->final) {
			return MORE;
		}
		chi_pgn_sign(at, lex->end, &meaning);
		word = word || meaning == '-';
	}
	if (word) {
		return step_word(lex, out);
	}
	note_text(lex);
	lex->first = at - lex->at == 1 && *lex->at == '1';
	lex->at = at;
	return GO_ON;
}

/* A byte beyond ASCII: a blank of its kind, or a word. */
static enum step step_high(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	char meaning = 0;
	if (lex->end - lex->at < CHI_PGN_SIGN_MAX && !lex->final) {
		return MORE;
	}
	size_t n = chi_pgn_sign(lex->at, lex->end, &meaning);
	if (meaning != CHI_PGN_GAP) {
		return step_word(lex, out);
	}
	note_text(lex);
	lex->at += n;
	return GO_ON;
}

/* "$" and a number, or marks such as "!?". */
static enum step step_nag(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	char *at = lex->at + 1;
	char *from = *lex->at == '$' ? at : lex->at;
	uint8_t class = from == at ? DIGIT : GLYPH;
	while (class_of(*at) == class && at - lex->at < CHI_PGN_WORD_MAX) {
		at++;
	}
	if (at == lex->end && !lex->final) {
		return MORE;
	}
	note_text(lex);
	lex->notes = true;
	return give(lex, out, CHI_PGN_TOKEN_NAG, from, (size_t)(at - from), at);
}

/* The result "*"; one that sticks to what follows ("*1. e4") is a mark. */
static enum step step_star(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	if (lex->at + 1 == lex->end && !lex->final) {
		return MORE;
	}
	note_text(lex);
	lex->at++;
	if (class_of(*lex->at) <= IN_WORD) {
		return GO_ON;
	}
	*out = (struct chi_pgn_token){.kind = CHI_PGN_TOKEN_WORD, .text = lex->at - 1, .len = 1};
	return TOKEN;
}

static void step_newline(struct chi_pgn_lex *lex)
{
	if (lex->line == CHI_PGN_LINE_BLANK) {
		lex->gap |= CHI_PGN_GAP_BLANK;
	}
	lex->line = CHI_PGN_LINE_BLANK;
	lex->lines++;
	lex->at++;
}

/* The word at `at`, if it is plain and a blank after it shows its end. */
CHI_INLINE bool take_plain_word(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	char *end = lex->at + 1;
	const char *limit = lex->at + CHI_PGN_WORD_MAX;
	while (end < limit && class_of(*end) <= IN_WORD) {
		end++;
	}
	if (class_of(*end) != BLANK && class_of(*end) != NEWLINE) {
		return false;
	}
	note_text(lex);
	take_word(lex, end, false, out);
	return true;
}

/* A move number with its point; false if it is none, or long. */
CHI_INLINE bool skip_number(struct chi_pgn_lex *lex)
{
	char *at = lex->at + 1;
	while (class_of(*at) == DIGIT && at - lex->at <= 3) {
		at++;
	}
	if (*at != '.' || at - lex->at > 3) {
		return false;
	}
	note_text(lex);
	lex->first = at - lex->at == 1 && *lex->at == '1';
	lex->at = at + 1;
	return true;
}

/* What most of the main line is: blanks, move numbers and words. True: a word was found. All else
 * is left to step_main(), with what the window's end may have cut off. */
CHI_INLINE bool find_plain_word(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	for (;;) {
		switch (class_of(*lex->at)) {
		case BLANK:
			lex->at++;
			break;
		case TEXT:
			return take_plain_word(lex, out);
		case DIGIT:
			if (!skip_number(lex)) {
				return false;
			}
			break;
		case NEWLINE:
			step_newline(lex);
			break;
		default:
			return false;
		}
	}
}

/* One step in the main line or between games. */
CHI_INLINE enum step step_main(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	switch (class_of(*lex->at)) {
	case BLANK:
		lex->at++;
		return GO_ON;
	case TEXT:
		return step_word(lex, out);
	case DIGIT:
		return step_digits(lex, out);
	case NEWLINE:
		step_newline(lex);
		return GO_ON;
	case BRACKET:
		return step_bracket(lex, out);
	case HIGH:
		return step_high(lex, out);
	case ESCAPE:
		if (!at_line_start(lex)) {
			return step_word(lex, out);
		}
		lex->in_line = true;
		break;
	case NUL:
		/* The guard after the window, unless a file holds such a byte. */
		if (lex->at == lex->end) {
			return MORE;
		}
		break;
	case BRACE:
		lex->in_comment = true;
		lex->n_comment = 0;
		lex->notes = true;
		break;
	case SEMICOLON:
		lex->in_line = true;
		lex->notes = true;
		break;
	case OPEN:
		lex->depth = 1;
		lex->square = false;
		lex->notes = true;
		break;
	case STAR:
		return step_star(lex, out);
	case NAG:
	case GLYPH:
		return step_nag(lex, out);
	default:
		break;
	}
	note_text(lex);
	lex->at++;
	return GO_ON;
}

/* One step of a rich lexer: what the others read over becomes a token, and ends where it does. */
static __attribute__((noinline)) enum step step_rich(struct chi_pgn_lex *lex,
						     struct chi_pgn_token *out)
{
	uint8_t class = class_of(*lex->at);
	if (class == BRACE || class == SEMICOLON) {
		return whole_comment(lex, out, class == BRACE ? '}' : '\n');
	}
	char *from = lex->at;
	uint32_t depth = lex->depth;
	bool inside = depth > 0 && (class == NUL || class == NEWLINE || class >= OPEN) &&
		      class != STAR && class != NAG && class != GLYPH;
	enum step step = inside ? step_variation(lex) : step_main(lex, out);
	if (step != GO_ON || (lex->depth == depth && (class != CLOSE || depth == 0))) {
		return step;
	}
	return give(lex, out, class == OPEN ? CHI_PGN_TOKEN_OPEN : CHI_PGN_TOKEN_CLOSE, from, 1,
		    lex->at);
}

/* Finds a byte order mark; false if more bytes are needed to know. */
static bool skip_byte_order_mark(struct chi_pgn_lex *lex)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t left = (size_t)(lex->end - lex->at);
	size_t n = left < 3 ? left : 3;
	bool like = memcmp(lex->at, mark, n) == 0;
	if (like && n < 3 && !lex->final) {
		return false;
	}
	if (like && n == 3) {
		lex->at += 3;
		lex->at[-1] = '\n';
	}
	lex->begun = true;
	return true;
}

void chi_pgn_lex_next(struct chi_pgn_lex *lex, struct chi_pgn_token *out)
{
	enum step step = GO_ON;
	bool comment = false;
	*out = (struct chi_pgn_token){.kind = CHI_PGN_TOKEN_NONE};
	if (!lex->begun && !skip_byte_order_mark(lex)) {
		return;
	}
	while (step == GO_ON) {
		comment = lex->in_comment;
		if (comment) {
			step = skip_comment(lex, out);
		} else if (lex->in_line) {
			step = skip_line(lex);
		} else if (CHI_UNLIKELY(lex->rich)) {
			step = step_rich(lex, out);
		} else if (lex->depth > 0) {
			step = step_variation(lex);
		} else if (SHORT_CUT && find_plain_word(lex, out)) {
			step = TOKEN;
		} else {
			step = step_main(lex, out);
		}
	}
	if (step == UNCLOSED) {
		lex->depth = 0;
		out->kind = CHI_PGN_TOKEN_UNCLOSED;
		out->text = comment ? "comment" : "variation";
		out->len = strlen(out->text);
	}
}
