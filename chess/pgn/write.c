/* SPDX-License-Identifier: MIT */
/* Tags go through a small escape, moves through chi_san_write into room reserved beforehand: no
 * call of a library for a move. */
#include "chess/pgn/write.h"

#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/pgn/tags.h"

#define COLUMNS	   79 /* the longest line */
#define ROOM_MIN   4096
#define NUMBER_MAX 24 /* digits and dots of a move's number */

/* ---- Text -------------------------------------------------------------------------------- */

/* Hands what is written to the buffer and reserves room for at least `need` bytes more. */
static bool more_room(struct chi_pgn_text *text, size_t need)
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

static inline bool has_room(struct chi_pgn_text *text, size_t need)
{
	return CHI_LIKELY((size_t)(text->end - text->at) >= need) || more_room(text, need);
}

static void put(struct chi_pgn_text *text, const char *bytes, size_t len)
{
	if (has_room(text, len)) {
		memcpy(text->at, bytes, len);
		text->at += len;
	}
}

/* What is before a token of `len` bytes: a blank, a line feed, or nothing. */
static inline void separate(struct chi_pgn_text *text, size_t len)
{
	if (text->column > 0 && text->column + 1 + len > COLUMNS) {
		*text->at++ = '\n';
		text->column = 0;
	} else if (text->column > 0) {
		*text->at++ = ' ';
		text->column++;
	}
	text->column += len;
}

void chi_pgn_put_token(struct chi_pgn_text *text, const char *token, size_t len)
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

void chi_pgn_put_move(struct chi_pgn_text *text, size_t ply, const struct chi_position *position,
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

static bool is_name(const struct chi_pgn_span *name)
{
	for (size_t i = 0; i < name->len; i++) {
		char c = name->text[i];
		char lower = (char)(c | 0x20);
		if ((lower < 'a' || lower > 'z') && (c < '0' || c > '9') && c != '_') {
			return false;
		}
	}
	return name->len > 0;
}

static bool is_called(const struct chi_pgn_span *name, const char *text)
{
	return name->len == strlen(text) && memcmp(name->text, text, name->len) == 0;
}

static void put_tag(struct chi_pgn_text *text, const struct chi_pgn_span *name, const char *value,
		    size_t len)
{
	/* Each byte of the value may take a backslash. */
	if (!has_room(text, name->len + 2 * len + 6)) {
		return;
	}
	char *at = text->at;
	*at++ = '[';
	memcpy(at, name->text, name->len);
	at += name->len;
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

static void put_plain_tag(struct chi_pgn_text *text, const char *name, const char *value)
{
	struct chi_pgn_span span = {name, strlen(name)};
	put_tag(text, &span, value, strlen(value));
}

static const struct chi_pgn_pair_out *find_tag(const struct chi_pgn_output *game, const char *name)
{
	for (size_t i = 0; i < game->n_tags; i++) {
		if (is_called(&game->tags[i].name, name)) {
			return &game->tags[i];
		}
	}
	return NULL;
}

static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};

static const struct {
	const char *name;
	const char *missing; /* NULL: the result */
} roster[] = {
	{"Event", "?"}, {"Site", "?"},	{"Date", "????.??.??"}, {"Round", "?"},
	{"White", "?"}, {"Black", "?"}, {"Result", NULL},
};

static void put_roster(struct chi_pgn_text *text, const struct chi_pgn_output *game)
{
	for (size_t i = 0; i < CHI_COUNT(roster); i++) {
		const char *missing = roster[i].missing;
		const struct chi_pgn_pair_out *tag =
			missing == NULL ? NULL : find_tag(game, roster[i].name);
		if (tag != NULL) {
			put_tag(text, &tag->name, tag->value.text, tag->value.len);
		} else {
			put_plain_tag(text, roster[i].name,
				      missing == NULL ? results[game->result] : missing);
		}
	}
}

/* True if the tag is written by another function. */
static bool is_ours(const struct chi_pgn_span *name)
{
	for (size_t i = 0; i < CHI_COUNT(roster); i++) {
		if (is_called(name, roster[i].name)) {
			return true;
		}
	}
	return is_called(name, "FEN") || is_called(name, "SetUp");
}

/* True if a right to castle is not that of standard chess: king on e, rook on a or h. */
static bool is_chess960(const struct chi_position *position)
{
	const uint64_t corners = UINT64_C(0x8100000000000081);
	const uint64_t places = UINT64_C(0x1000000000000010);
	uint64_t kings = 0;
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		if ((position->castle & position->colour[colour]) != 0) {
			kings |= chi_position_pieces(position, colour, CHI_KING);
		}
	}
	return (position->castle & ~corners) != 0 || (kings & ~places) != 0;
}

static void put_start(struct chi_pgn_text *text, const struct chi_pgn_output *game,
		      const struct chi_position *start)
{
	char fen[CHI_FEN_SIZE];
	const struct chi_pgn_pair_out *variant = find_tag(game, "Variant");
	bool is_960 =
		variant != NULL && chi_pgn_rules_of(&variant->value) == CHI_PGN_RULES_CHESS960;
	if (variant == NULL && is_chess960(start)) {
		put_plain_tag(text, "Variant", "Chess960");
	}
	(void)chi_fen_print(start, fen);
	if (is_960 || strcmp(fen, CHI_FEN_START) != 0) {
		put_plain_tag(text, "SetUp", "1");
		put_plain_tag(text, "FEN", fen);
	}
}

/* ---- Games ------------------------------------------------------------------------------- */

static void put_moves(struct chi_pgn_text *text, const struct chi_pgn_output *game,
		      const struct chi_position *start)
{
	struct chi_position positions[2] = {*start};
	const struct chi_position *now = &positions[0];
	size_t first = start->side == CHI_BLACK ? 1 : 0;
	if (game->between != NULL) {
		game->between(game->context, text, 0, now, now);
	}
	for (size_t i = 0; i < game->n_plies; i++) {
		struct chi_position *next = &positions[~i & 1];
		chi_position_play(now, game->moves[i], next);
		chi_pgn_put_move(text, first + i, now, game->moves[i], next);
		if (game->between != NULL) {
			game->between(game->context, text, i + 1, now, next);
		}
		now = next;
	}
}

int chi_pgn_write(const struct chi_pgn_output *game, struct chi_buffer *out)
{
	struct chi_pgn_text text = {.out = out};
	struct chi_position start;
	size_t before = out->len;
	if (game->start != NULL) {
		start = *game->start;
	} else if (chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &start, NULL) != CHI_OK) {
		return -CHI_EINTERNAL;
	}
	put_roster(&text, game);
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_pgn_pair_out *tag = &game->tags[i];
		if (is_name(&tag->name) && !is_ours(&tag->name)) {
			put_tag(&text, &tag->name, tag->value.text, tag->value.len);
		}
	}
	put_start(&text, game, &start);
	put(&text, "\n", 1);
	put_moves(&text, game, &start);
	chi_pgn_put_token(&text, results[game->result], strlen(results[game->result]));
	put(&text, "\n\n", 2);
	if (text.status == CHI_OK) {
		chi_buffer_added(out, (size_t)(text.at - (const char *)chi_buffer_bytes(out)) -
					      out->len);
	} else {
		out->len = before;
	}
	return text.status;
}
