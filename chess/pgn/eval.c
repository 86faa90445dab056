/* SPDX-License-Identifier: MIT */
/* The forms of evaluations, one after the other: their numbers, then what they belong to. */
#include "chess/pgn/eval.h"

#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "base/record.h"
#include "chess/san.h"

/* A part of a comment; text NULL: it is not there. */
struct part {
	const char *text;
	size_t len;
};

/* A score as it is written. */
struct score {
	bool is_mate;
	int32_t value; /* centipawns, or to mate: moves after '#', plies after 'M' */
};

static bool is_eval_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct part trimmed(const char *text, size_t len)
{
	while (len > 0 && is_eval_blank(*text)) {
		text++;
		len--;
	}
	while (len > 0 && is_eval_blank(text[len - 1])) {
		len--;
	}
	return (struct part){text, len};
}

static struct part from(struct part part, size_t n)
{
	return (struct part){part.text + n, part.len - n};
}

/* Up to the first byte of `ends`, or all of it. */
static struct part upto(struct part part, const char *ends)
{
	size_t n = 0;
	while (n < part.len && strchr(ends, part.text[n]) == NULL) {
		n++;
	}
	return (struct part){part.text, n};
}

/* ---- Numbers ----------------------------------------------------------------------------- */

static bool read_sign(struct part *part, int32_t *sign)
{
	bool minus = part->len > 0 && *part->text == '-';
	if (minus || (part->len > 0 && *part->text == '+')) {
		*sign = minus ? -*sign : *sign;
		*part = from(*part, 1);
		return true;
	}
	return false;
}

/* Pawns, with a point: of numbers without one it is not clear what they count. */
static bool read_pawns(struct part part, struct score *out)
{
	uint64_t whole = 0;
	uint64_t hundredths = 0;
	struct part before = upto(part, ".");
	if (before.len + 2 > part.len ||
	    chi_num_u64(before.text, before.len, CHI_SCORE_MAX / 100, &whole) != CHI_OK) {
		return false;
	}
	struct part after = from(part, before.len + 1);
	for (size_t i = 0; i < after.len; i++) {
		if (!is_digit(after.text[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < 2; i++) {
		hundredths =
			hundredths * 10 + (i < after.len ? (uint64_t)(after.text[i] - '0') : 0);
	}
	hundredths += after.len > 2 && after.text[2] >= '5';
	*out = (struct score){.value = (int32_t)(whole * 100 + hundredths)};
	return out->value <= CHI_SCORE_MAX;
}

/* "0.24", "+1.50", "-M6", "#-3". `mate`: the letter that says it is a mate. */
static bool read_score(struct part part, char mate, struct score *out)
{
	int32_t sign = 1;
	bool is_signed = read_sign(&part, &sign);
	if (part.len > 0 && *part.text == mate) {
		uint64_t n = 0;
		part = from(part, 1);
		if (!is_signed) {
			(void)read_sign(&part, &sign);
		}
		if (chi_num_u64(part.text, part.len, CHI_MATE_MAX, &n) != CHI_OK) {
			return false;
		}
		*out = (struct score){.is_mate = true, .value = (int32_t)n};
	} else if (!read_pawns(part, out)) {
		return false;
	}
	out->value *= sign;
	return true;
}

static bool read_depth(struct part part, uint32_t *out)
{
	uint64_t depth = 0;
	if (chi_num_u64(part.text, part.len, CHI_DEPTH_MAX, &depth) != CHI_OK) {
		return false;
	}
	*out = (uint32_t)depth;
	return true;
}

/* A day such as 2024.05.17; 0 if a part of it is not known. */
static uint64_t day_of(const struct chi_pgn_span *tag)
{
	char text[10];
	uint64_t seconds = 0;
	if (tag->text == NULL || tag->len != sizeof(text)) {
		return 0;
	}
	memcpy(text, tag->text, sizeof(text));
	for (size_t i = 4; i <= 7; i += 3) {
		text[i] = text[i] == '.' ? '-' : text[i];
	}
	return chi_num_time(text, sizeof(text), &seconds) == CHI_OK ? seconds : 0;
}

/* ---- Names ------------------------------------------------------------------------------- */

/* A tag's value as an engine's name: as many characters as have room, control characters (a tag has
 * none but C1, as two bytes) as blanks. */
static void set_engine(struct chi_pgn_eval *out, const struct chi_pgn_span *tag)
{
	size_t len = tag->text != NULL ? tag->len : 0;
	if (len > sizeof(out->engine)) {
		len = sizeof(out->engine);
		while (len > 0 && ((unsigned char)tag->text[len] & 0xc0) == 0x80) {
			len--;
		}
	}
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)tag->text[i];
		bool control = byte == 0xc2 && (unsigned char)tag->text[i + 1] < 0xa0;
		out->engine[n++] = control ? ' ' : tag->text[i];
		i += control;
	}
	if (n == 0) {
		out->engine[n++] = '?';
	}
	out->eval.engine = out->engine;
	out->eval.engine_len = n;
}

static bool names_lichess(const struct chi_pgn_span *tag)
{
	return tag->text != NULL && strcasestr(tag->text, "lichess.org") != NULL;
}

/* Who wrote [%eval]. */
static void set_annotator(struct chi_pgn_eval *out, const struct chi_pgn_game *game)
{
	static const struct chi_pgn_span lichess = {"lichess", 7};
	const struct chi_pgn_span *annotator = &game->tags[CHI_PGN_ANNOTATOR];
	bool known = names_lichess(&game->tags[CHI_PGN_SITE]) || names_lichess(annotator);
	set_engine(out, known ? &lichess : annotator);
}

/* ---- Moves ------------------------------------------------------------------------------- */

/* A word without the move number before it. */
static struct part unnumbered(struct part word)
{
	size_t n = 0;
	while (n < word.len && is_digit(word.text[n])) {
		n++;
	}
	if (n == word.len || word.text[n] != '.') {
		return word;
	}
	while (n < word.len && word.text[n] == '.') {
		n++;
	}
	return from(word, n);
}

/* Plays the text's moves up to one that is not legal; how many there are. */
static size_t play_variation(const struct chi_position *start, struct part text, chi_move *out,
			     size_t most)
{
	struct chi_position position = *start;
	size_t n = 0;
	while (n < most) {
		struct chi_san_found found;
		text = trimmed(text.text, text.len);
		struct part word = upto(text, " \t\r\n");
		if (word.len == 0) {
			break;
		}
		text = from(text, word.len);
		word = unnumbered(word);
		if (word.len == 0) {
			continue;
		}
		enum chi_san_verdict verdict = chi_san_find(&position, word.text, word.len, &found);
		if (verdict != CHI_SAN_MOVE) {
			break;
		}
		struct chi_position before = position;
		out[n++] = found.moves[0];
		chi_position_play(&before, found.moves[0], &position);
	}
	return n;
}

/* The variation of a comment on move `ply`: from before it, or, if more of the text is legal then,
 * from after it. */
static void set_pv(struct chi_pgn_eval *out, const struct chi_pgn_game *game, size_t ply,
		   struct part text)
{
	chi_move answer[CHI_PV_MAX];
	chi_move played = game->moves[ply - 1];
	size_t n = play_variation(&game->positions[ply - 1], text, out->pv, CHI_PV_MAX);
	size_t more = play_variation(&game->positions[ply], text, answer, CHI_PV_MAX - 1);
	if (more > n) {
		out->pv[0] = played;
		memcpy(out->pv + 1, answer, more * sizeof(*answer));
		n = more + 1;
	}
	out->eval.pv = out->pv;
	out->eval.n_pv = n;
}

/* ---- Forms ------------------------------------------------------------------------------- */

/* The score as the side to move of the evaluated position sees it. */
static void set_score(struct chi_pgn_eval *out, const struct chi_pgn_game *game, size_t ply,
		      const struct score *score, bool white_view)
{
	bool black = game->positions[ply].side == CHI_BLACK;
	out->ply = ply;
	out->eval.is_mate = score->is_mate;
	out->eval.score = white_view && black ? -score->value : score->value;
}

static bool read_tag(const struct chi_pgn_game *game, const struct chi_pgn_comment *comment,
		     struct chi_pgn_eval *out)
{
	static const char name[] = "[%eval";
	struct score score;
	const char *at = memmem(comment->text, comment->len, name, sizeof(name) - 1);
	if (at == NULL) {
		return false;
	}
	struct part rest = {at, comment->len - (size_t)(at - comment->text)};
	rest = from(rest, sizeof(name) - 1);
	struct part inside = upto(rest, "]");
	if (inside.len == rest.len || inside.len == 0 || !is_eval_blank(*inside.text)) {
		return false;
	}
	inside = trimmed(inside.text, inside.len);
	struct part value = upto(inside, ",");
	if (!read_score(value, '#', &score) ||
	    (value.len < inside.len &&
	     !read_depth(from(inside, value.len + 1), &out->eval.depth))) {
		return false;
	}
	set_score(out, game, comment->ply, &score, true);
	set_annotator(out, game);
	return true;
}

/* The fields of a comment that are read: "name=value", between commas. */
enum field {
	DEPTH,
	NODES,
	PV,
	WHITE_VIEW,
	PLAYER_VIEW,
	FIELDS
};

static void read_fields(struct part text, struct part fields[FIELDS])
{
	static const char *const names[FIELDS] = {"d", "n", "pv", "wv", "ev"};
	while (text.len > 0) {
		struct part all = upto(text, ",;");
		text = from(text, all.len < text.len ? all.len + 1 : all.len);
		all = trimmed(all.text, all.len);
		struct part name = upto(all, "=");
		for (size_t i = 0; i < FIELDS && name.len < all.len; i++) {
			if (fields[i].text == NULL && strlen(names[i]) == name.len &&
			    memcmp(names[i], name.text, name.len) == 0) {
				fields[i] =
					trimmed(name.text + name.len + 1, all.len - name.len - 1);
			}
		}
	}
}

/* What the forms about the position before the move have in common. */
static bool set_player(const struct chi_pgn_game *game, size_t ply,
		       const struct part fields[FIELDS], struct chi_pgn_eval *out)
{
	bool black = game->positions[ply - 1].side == CHI_BLACK;
	struct part pv = fields[PV];
	set_engine(out, &game->tags[black ? CHI_PGN_BLACK : CHI_PGN_WHITE]);
	if (fields[NODES].text != NULL) {
		(void)!chi_num_u64(fields[NODES].text, fields[NODES].len, UINT64_MAX,
				   &out->eval.nodes);
	}
	if (pv.text != NULL) {
		pv = pv.len > 0 && *pv.text == '"' ? upto(from(pv, 1), "\"") : pv;
		set_pv(out, game, ply, pv);
	}
	return true;
}

/* Plies to a mate as moves. */
static void to_moves(struct score *score)
{
	if (score->is_mate) {
		score->value += score->value > 0 ? 1 : 0;
		score->value -= score->value < 0 ? 1 : 0;
		score->value /= 2;
	}
}

/* "+0.31/18 1.2s, n=1234" */
static bool read_slash(const struct chi_pgn_game *game, const struct chi_pgn_comment *comment,
		       struct part text, struct chi_pgn_eval *out)
{
	struct part fields[FIELDS] = {{NULL, 0}};
	struct score score;
	struct part head = upto(text, " \t\r\n,");
	struct part value = upto(head, "/");
	if (value.len == head.len || !read_score(value, 'M', &score) ||
	    !read_depth(from(head, value.len + 1), &out->eval.depth)) {
		return false;
	}
	to_moves(&score);
	set_score(out, game, comment->ply - 1, &score, false);
	read_fields(from(text, head.len), fields);
	return set_player(game, comment->ply, fields, out);
}

/* "d=31, n=1234, pv=e4 e5, wv=0.21" */
static bool read_named(const struct chi_pgn_game *game, const struct chi_pgn_comment *comment,
		       struct part text, struct chi_pgn_eval *out)
{
	struct part fields[FIELDS] = {{NULL, 0}};
	struct score score;
	read_fields(text, fields);
	bool white_view = fields[WHITE_VIEW].text != NULL;
	struct part value = fields[white_view ? WHITE_VIEW : PLAYER_VIEW];
	if (value.text == NULL || fields[DEPTH].text == NULL || !read_score(value, 'M', &score) ||
	    !read_depth(fields[DEPTH], &out->eval.depth)) {
		return false;
	}
	to_moves(&score);
	set_score(out, game, comment->ply - 1, &score, white_view);
	return set_player(game, comment->ply, fields, out);
}

int chi_pgn_eval_read(const struct chi_pgn_game *game, const struct chi_pgn_comment *comment,
		      struct chi_pgn_eval *out)
{
	struct part text = trimmed(comment->text, comment->len);
	if (comment->ply > game->n_plies) {
		return CHI_NONE;
	}
	out->eval = (struct chi_eval){.date = day_of(&game->tags[CHI_PGN_UTC_DATE])};
	if (out->eval.date == 0) {
		out->eval.date = day_of(&game->tags[CHI_PGN_DATE]);
	}
	bool read = read_tag(game, comment, out) ||
		    (comment->ply > 0 && (read_slash(game, comment, text, out) ||
					  read_named(game, comment, text, out)));
	return read ? CHI_OK : CHI_NONE;
}
