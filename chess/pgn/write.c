/* SPDX-License-Identifier: MIT */
/* Tags go through a small escape, moves through chi_san_write into room reserved beforehand: no
 * call of a library for a move. */
#include "chess/pgn/write.h"

#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/pgn/notes.h"
#include "chess/pgn/tags.h"

#define COLUMNS	   79 /* the longest line */
#define ROOM_MIN   4096
#define NUMBER_MAX 24 /* digits and dots of a move's number */

/* ---- Text -------------------------------------------------------------------------------- */

/* Text on its way into a buffer. Errors are sticky: after the first nothing is written. */
struct pgn_text {
	struct chi_buffer *out;
	char *at; /* where the next byte goes, in room reserved in `out` */
	char *end;
	size_t column; /* of the line begun */
	bool numbered; /* a move by Black needs no number: the move before it is next to it */
	bool glued;    /* no blank before the next token */
	int status;
};

/* Hands what is written to the buffer and reserves room for at least `need` bytes more. */
static bool more_room(struct pgn_text *text, size_t need)
{
	struct chi_buffer *out = text->out;
	if (text->status != CHI_OK) {
		return false;
	}
	if (text->at != NULL) {
		chi_buffer_added(out, (size_t)(text->at - (const char *)chi_buffer_bytes(out)) -
					      out->len);
	}
	size_t room = need > ROOM_MIN ? need : ROOM_MIN;
	char *at = (char *)chi_buffer_reserve(out, room);
	if (at == NULL) {
		room = need;
		at = (char *)chi_buffer_reserve(out, room);
	}
	text->at = at;
	text->end = at == NULL ? NULL : at + room;
	if (at == NULL) {
		text->status = need > out->limit - out->len ? -CHI_ETOOBIG : -CHI_ENOMEM;
	}
	return at != NULL;
}

static inline bool has_room(struct pgn_text *text, size_t need)
{
	return CHI_LIKELY((size_t)(text->end - text->at) >= need) || more_room(text, need);
}

static void put_bytes(struct pgn_text *text, const char *bytes, size_t len)
{
	if (has_room(text, len)) {
		memcpy(text->at, bytes, len);
		text->at += len;
	}
}

/* What is before a token of `len` bytes: a blank, a line feed, or nothing. */
static inline void separate(struct pgn_text *text, size_t len)
{
	if (CHI_UNLIKELY(text->glued)) {
		text->glued = false;
	} else if (text->column > 0 && text->column + 1 + len > COLUMNS) {
		*text->at++ = '\n';
		text->column = 0;
	} else if (text->column > 0) {
		*text->at++ = ' ';
		text->column++;
	}
	text->column += len;
}

/* Writes a token without white space, on a new line if it would not fit on this. */
static void put_token(struct pgn_text *text, const char *token, size_t len)
{
	if (has_room(text, len + 1)) {
		separate(text, len);
		memcpy(text->at, token, len);
		text->at += len;
	}
}

/* Writes "12." or "12..." at the end of `out` and returns where it begins. */
static char *print_number(size_t number, bool black, char *out)
{
	char *at = out + NUMBER_MAX;
	for (int i = 0; i < (black ? 3 : 1); i++) {
		*--at = '.';
	}
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return at;
}

/* Writes a move, with its number if it is White's or follows anything but a move. `ply` counts from
 * 0 at White's first move; `next` is the position after it. */
static inline void put_move(struct pgn_text *text, size_t ply, const struct chi_position *position,
			    chi_move move, const struct chi_position *next)
{
	char number[NUMBER_MAX];
	char san[CHI_SAN_SIZE];
	bool black = position->side == CHI_BLACK;
	if (!has_room(text, NUMBER_MAX + CHI_SAN_SIZE + 2)) {
		return;
	}
	if (!black || !text->numbered) {
		const char *at = print_number(ply / 2 + 1, black, number);
		size_t len = (size_t)(number + NUMBER_MAX - at);
		separate(text, len);
		memcpy(text->at, at, len);
		text->at += len;
	}
	size_t len = chi_san_write(position, move, next, san);
	separate(text, len);
	/* A copy of fixed size is a few instructions; what is too much is written over. */
	memcpy(text->at, san, sizeof(san));
	text->at += len;
	text->numbered = true;
}

/* ---- Tags -------------------------------------------------------------------------------- */

static void put_tag(struct pgn_text *text, const char *name, size_t name_len, const char *value,
		    size_t len)
{
	/* Each byte of the value may take a backslash. */
	if (!has_room(text, name_len + 2 * len + 6)) {
		return;
	}
	char *at = text->at;
	*at++ = '[';
	memcpy(at, name, name_len);
	at += name_len;
	*at++ = ' ';
	*at++ = '"';
	for (size_t i = 0; i < len; i++) {
		char c = value[i];
		if (c == '"' || c == '\\') {
			*at++ = '\\';
		}
		*at++ = (unsigned char)c < ' ' || c == 0x7f ? ' ' : c;
	}
	memcpy(at, "\"]\n", 3);
	text->at = at + 3;
}

static void put_plain_tag(struct pgn_text *text, const char *name, const char *value)
{
	put_tag(text, name, strlen(name), value, strlen(value));
}

static bool is_called(const struct chi_tag *tag, const char *name, size_t len)
{
	return tag->name_len == len && memcmp(tag->name, name, len) == 0;
}

static const char *result_of(const struct chi_game *game)
{
	static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
	return results[game->head.result < CHI_RESULT_OTHER ? game->head.result : CHI_RESULT_OTHER];
}

/* True where a FEN tag must say that the initial position is meant. */
static bool is_chess960(const struct chi_game *game)
{
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		if (is_called(tag, "Variant", 7)) {
			struct chi_pgn_span value = {tag->value, tag->value_len};
			return chi_pgn_rules_of(&value) == CHI_PGN_RULES_CHESS960;
		}
	}
	return false;
}

static void put_start(struct pgn_text *text, const struct chi_game *game,
		      const struct chi_position *start)
{
	char fen[CHI_FEN_SIZE];
	if (game->has_start || (game->n_plies > 0 && is_chess960(game))) {
		(void)chi_fen_print(start, fen);
		put_plain_tag(text, "SetUp", "1");
		put_plain_tag(text, "FEN", fen);
	}
}

static void put_tags(struct pgn_text *text, const struct chi_game *game)
{
	bool result = false;
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		if (!chi_pgn_tag_is_name(tag->name, tag->name_len)) {
			continue;
		}
		put_tag(text, tag->name, tag->name_len, tag->value, tag->value_len);
		if (!result && is_called(tag, "Black", 5)) {
			put_plain_tag(text, "Result", result_of(game));
			result = true;
		}
	}
	if (!result) {
		put_plain_tag(text, "Result", result_of(game));
	}
}

/* ---- Annotations ------------------------------------------------------------------------- */

/* The main line, or a variation. */
struct line {
	struct chi_position before; /* its last move, or where it begins */
	struct chi_position now;
	size_t ply; /* of the next move; 0: White's first */
};

/* What is not written to takes no time. */
struct annotations {
	struct pgn_text *text;
	struct chi_notes_reader reader;
	struct chi_note note; /* the next one */
	int status;	      /* of that; CHI_NONE: there is none */
	bool in_comment;      /* its '{' is written */
	struct line lines[CHI_NOTES_DEPTH_MAX + 1];
};

static void end_comment(struct annotations *a)
{
	if (a->in_comment) {
		put_bytes(a->text, "}", 1);
		a->text->column++;
		a->in_comment = false;
	}
}

/* Writes text that may have lines of its own. */
static void put_lines(struct pgn_text *text, const char *bytes, size_t len)
{
	const char *newline = memrchr(bytes, '\n', len);
	put_bytes(text, bytes, len);
	text->column = newline != NULL ? (size_t)(bytes + len - newline) - 1 : text->column + len;
}

/* Begins a comment, of which `len` bytes come next. */
static void begin_comment(struct annotations *a, char c, size_t len)
{
	struct pgn_text *text = a->text;
	if (has_room(text, 2)) {
		separate(text, len + 2);
		text->column -= len + 1;
		*text->at++ = c;
	}
	a->in_comment = c == '{';
}

/* Writes a comment, or goes on with one. */
static void put_comment(struct annotations *a)
{
	const struct chi_note *note = &a->note;
	char print[CHI_NOTE_TEXT_SIZE];
	const char *bytes = note->text;
	size_t len = note->len;
	if (note->kind != CHI_NOTE_TEXT) {
		len = chi_note_print(note, print);
		bytes = print;
	}
	a->text->numbered = false;
	if (note->joined) {
		put_lines(a->text, " ", 1);
		put_lines(a->text, bytes, len);
		return;
	}
	end_comment(a);
	bool to_line_end = memchr(bytes, '}', len) != NULL;
	begin_comment(a, to_line_end ? ';' : '{', len);
	put_lines(a->text, bytes, len);
	if (to_line_end) {
		put_lines(a->text, "\n", 1);
	}
}

/* Writes movetext as it was: not at a line's start, where '%' would begin an escaped line. */
static void put_movetext(struct pgn_text *text, const char *bytes, size_t len)
{
	put_bytes(text, " ", 1);
	put_bytes(text, bytes, len);
	put_bytes(text, "\n", 1);
	text->column = 0;
	text->glued = false;
}

static void put_variation(struct annotations *a)
{
	struct line *line = &a->lines[a->note.depth];
	struct pgn_text *text = a->text;
	for (size_t i = 0; i < a->note.n_moves && text->status == CHI_OK; i++) {
		chi_move move = chi_note_move(&a->note, i);
		line->before = line->now;
		if (!chi_movegen_is_legal(&line->before, move)) {
			text->status = -CHI_ECORRUPT;
			return;
		}
		chi_position_play(&line->before, move, &line->now);
		put_move(text, line->ply++, &line->before, move, &line->now);
	}
}

static void open_variation(struct annotations *a)
{
	const struct line *outer = &a->lines[a->note.depth];
	a->lines[a->note.depth + 1] = (struct line){
		.before = outer->before,
		.now = outer->before,
		.ply = outer->ply - (outer->before.side != outer->now.side ? 1 : 0),
	};
	put_token(a->text, "(", 1);
	a->text->glued = true;
	a->text->numbered = false;
}

static void close_variation(struct annotations *a)
{
	put_bytes(a->text, ")", 1);
	a->text->column++;
	a->text->glued = false;
	a->text->numbered = false;
}

static void put_nag(struct annotations *a)
{
	char digits[NUMBER_MAX];
	char *at = digits + sizeof(digits);
	uint32_t nag = a->note.nag;
	do {
		*--at = (char)('0' + nag % 10);
		nag /= 10;
	} while (nag > 0);
	*--at = '$';
	put_token(a->text, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_note(struct annotations *a)
{
	if (a->note.kind == CHI_NOTE_TEXT || a->note.kind >= CHI_NOTE_CLOCK) {
		put_comment(a);
		return;
	}
	end_comment(a);
	switch (a->note.kind) {
	case CHI_NOTE_NAG:
		put_nag(a);
		break;
	case CHI_NOTE_OPEN:
		open_variation(a);
		break;
	case CHI_NOTE_CLOSE:
		close_variation(a);
		break;
	case CHI_NOTE_UNREAD:
		put_movetext(a->text, a->note.text, a->note.len);
		break;
	default:
		put_variation(a);
	}
}

static void begin_annotations(struct annotations *a, struct pgn_text *text,
			      const struct chi_game *game)
{
	a->text = text;
	a->reader = chi_notes_reader_of(game->notes, game->n_notes, game->n_plies);
	a->in_comment = false;
	a->status = chi_notes_next(&a->reader, &a->note);
}

/* Writes what comes after `n` moves, the last of which was played in `before`: at the start as
 * `now`. `ply`: of the next move. */
static __attribute__((noinline)) void put_notes(struct annotations *a, size_t n, size_t ply,
						const struct chi_position *before,
						const struct chi_position *now)
{
	a->lines[0] = (struct line){.before = *before, .now = *now, .ply = ply};
	while (a->status == CHI_OK && a->note.ply == n) {
		put_note(a);
		a->status = chi_notes_next(&a->reader, &a->note);
	}
	end_comment(a);
}

/* ---- Games ------------------------------------------------------------------------------- */

static void put_moves(struct pgn_text *text, const struct chi_game *game,
		      const struct chi_position *start)
{
	struct annotations notes;
	struct chi_position positions[2] = {*start};
	const struct chi_position *now = &positions[0];
	const struct chi_position *before = now;
	size_t first = start->side == CHI_BLACK ? 1 : 0;
	begin_annotations(&notes, text, game);
	for (size_t i = 0;; i++) {
		if (CHI_UNLIKELY(notes.status == CHI_OK && notes.note.ply == i)) {
			put_notes(&notes, i, first + i, before, now);
		}
		if (i == game->n_plies) {
			break;
		}
		struct chi_position *next = &positions[~i & 1];
		chi_position_play(now, game->moves[i], next);
		put_move(text, first + i, now, game->moves[i], next);
		before = now;
		now = next;
	}
	if (notes.status != CHI_NONE && text->status == CHI_OK) {
		text->status = -CHI_ECORRUPT;
	}
	if (game->n_rest > 0) {
		put_movetext(text, game->rest, game->n_rest);
	}
}

static int read_start(const struct chi_game *game, struct chi_position *out)
{
	if (game->has_start) {
		return chi_key_decode(&game->start, out, NULL) == CHI_OK ? CHI_OK : -CHI_ECORRUPT;
	}
	*out = chi_position_initial;
	return CHI_OK;
}

int chi_pgn_write(const struct chi_game *game, struct chi_buffer *out)
{
	struct pgn_text text = {.out = out};
	struct chi_position start;
	size_t before = out->len;
	int status = read_start(game, &start);
	if (status != CHI_OK) {
		return status;
	}
	put_tags(&text, game);
	put_start(&text, game, &start);
	put_bytes(&text, "\n", 1);
	put_moves(&text, game, &start);
	put_token(&text, result_of(game), strlen(result_of(game)));
	put_bytes(&text, "\n\n", 2);
	if (text.status == CHI_OK) {
		chi_buffer_added(out, (size_t)(text.at - (const char *)chi_buffer_bytes(out)) -
					      out->len);
	} else {
		out->len = before;
	}
	return text.status;
}
