/* SPDX-License-Identifier: MIT */
#include "chess/moment/played.h"

#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/moment/reading.h"
#include "chess/pattern/contents.h"

#define ANY_SQUARE UINT64_MAX
#define NO_MADE	   CHI_PLAYED_NO_PROMOTION
#define ANY_MADE                                                                                   \
	(1u << CHI_KNIGHT | 1u << CHI_BISHOP | 1u << CHI_ROOK | 1u << CHI_QUEEN | 1u << CHI_KING)

static const struct {
	const char *word;
	struct chi_played_move move;
} words[] = {
#define MOVE(pieces, takes, makes, kind_of_move)                                                   \
	{                                                                                          \
		.from = ANY_SQUARE, .to = ANY_SQUARE, .piece = (pieces), .taken = (takes),         \
		.made = (makes), .how = (kind_of_move)                                             \
	}
	{"any", MOVE(SET_PIECES, SET_ALL, NO_MADE | ANY_MADE, CHI_PLAYED_ANY)},
	{"captures", MOVE(SET_PIECES, SET_PIECES, NO_MADE | ANY_MADE, CHI_PLAYED_ANY)},
	{"quiet", MOVE(SET_PIECES, SET_EMPTY, NO_MADE, CHI_PLAYED_ANY)},
	{"promotes", MOVE(SET_PIECES, SET_ALL, ANY_MADE, CHI_PLAYED_ANY)},
	{"ep", MOVE(SET_PIECES, SET_PIECES, NO_MADE, CHI_PLAYED_EN_PASSANT)},
	{"castles", MOVE(SET_PIECES, SET_EMPTY, NO_MADE, CHI_PLAYED_CASTLES)},
	{"O-O", MOVE(SET_WHITE, SET_EMPTY, NO_MADE, CHI_PLAYED_KINGSIDE)},
	{"O-O-O", MOVE(SET_WHITE, SET_EMPTY, NO_MADE, CHI_PLAYED_QUEENSIDE)},
	{"o-o", MOVE(SET_BLACK, SET_EMPTY, NO_MADE, CHI_PLAYED_KINGSIDE)},
	{"o-o-o", MOVE(SET_BLACK, SET_EMPTY, NO_MADE, CHI_PLAYED_QUEENSIDE)},
#undef MOVE
};

/* ---- Reading ------------------------------------------------------------------------------ */

/* Pieces alone. */
static int read_pieces(struct chi_condition_text *reader, uint32_t *set)
{
	return chi_condition_pieces(reader, SET_PIECES,
				    "a piece moves and is taken, not an empty square", set);
}

static bool take_sign(struct chi_condition_text *reader, char sign)
{
	bool is = *reader->at == sign;
	reader->at += is;
	return is;
}

/* What is taken, after an 'x': a piece, if a square or the end of squares follows it. */
static int read_taken(struct chi_condition_text *reader, struct chi_played_move *move)
{
	uint64_t squares = 0;
	const char *at = reader->at;
	move->taken = SET_PIECES;
	if (*at == '\0' || strchr("|=+#", *at) != NULL || chi_squares_read(&at, &squares) == NULL) {
		return CHI_OK;
	}
	return read_pieces(reader, &move->taken);
}

static int read_made(struct chi_condition_text *reader, struct chi_played_move *move)
{
	uint32_t set = 0;
	const char *at = reader->at;
	/* Not one is another kind: there is nothing else that is not one. */
	if (*at == '!') {
		return chi_condition_refuse(reader,
					    "a pawn becomes one of N B R Q, such as Q or [NBR]");
	}
	int rc = read_pieces(reader, &set);
	set |= set >> CHI_KINDS;
	move->made = set & ANY_MADE;
	if (rc == CHI_OK && move->made == 0) {
		reader->at = at;
		rc = chi_condition_refuse(reader, "a pawn becomes one of N B R Q");
	}
	return rc;
}

/* One move that is no word; `piece`: its first letter is one, whatever may follow. */
static int read_move(struct chi_condition_text *reader, bool piece, struct chi_played_move *move)
{
	uint64_t first = 0;
	int rc = CHI_OK;
	*move = (struct chi_played_move){.from = ANY_SQUARE,
					 .to = ANY_SQUARE,
					 .piece = SET_PIECES,
					 .taken = SET_ALL,
					 .made = NO_MADE | ANY_MADE};
	bool has_first = !piece && chi_condition_squares(reader, &first);
	if (!has_first && strchr("-x=+#", *reader->at) == NULL) {
		rc = read_pieces(reader, &move->piece);
		has_first = rc == CHI_OK && chi_condition_squares(reader, &first);
	}
	bool takes = rc == CHI_OK && take_sign(reader, 'x');
	bool has_sign = rc == CHI_OK && (takes || take_sign(reader, '-'));
	if (takes) {
		rc = read_taken(reader, move);
	}
	if (rc == CHI_OK && !chi_condition_squares(reader, &move->to)) {
		move->to = has_first && !has_sign ? first : ANY_SQUARE;
		has_first &= has_sign;
		if (has_sign && !takes) {
			rc = chi_condition_refuse(reader,
						  "a square is expected after '-', such as d5, d*, "
						  "*8 or **");
		}
	}
	move->from = has_first ? first : ANY_SQUARE;
	if (rc == CHI_OK && take_sign(reader, '=')) {
		rc = read_made(reader, move);
	}
	move->effect = rc != CHI_OK		? CHI_PLAYED_ANY_EFFECT
		       : take_sign(reader, '+') ? CHI_PLAYED_CHECKS
		       : take_sign(reader, '#') ? CHI_PLAYED_MATES
						: CHI_PLAYED_ANY_EFFECT;
	return rc;
}

static bool is_at_end(const struct chi_condition_text *reader)
{
	return *reader->at == '\0' || *reader->at == '|';
}

/* In b4 and b*-c4 the letter is a file, in b*4 it is a bishop. */
static bool begins_with_piece(const struct chi_condition_text *reader)
{
	struct chi_played_move move;
	struct chi_condition_text file = {reader->field, reader->text, reader->at, NULL};
	struct chi_condition_text piece = file;
	return (read_move(&file, false, &move) != CHI_OK || !is_at_end(&file)) &&
	       read_move(&piece, true, &move) == CHI_OK && is_at_end(&piece);
}

/* A word, or a move. */
static int read_one(struct chi_condition_text *reader, struct chi_played_move *move)
{
	size_t len = strcspn(reader->at, "|");
	for (size_t i = 0; i < CHI_COUNT(words); i++) {
		if (strlen(words[i].word) == len && memcmp(words[i].word, reader->at, len) == 0) {
			*move = words[i].move;
			reader->at += len;
			return CHI_OK;
		}
	}
	int rc = len == 0 ? chi_condition_refuse(reader,
						 "a move is expected, such as N-d5, Bxph7+, O-O or "
						 "captures")
			  : read_move(reader, begins_with_piece(reader), move);
	return rc == CHI_OK && !is_at_end(reader)
		       ? chi_condition_refuse(
				 reader, "this belongs to no move such as N-d5, Bxph7+, P-*8=Q#, "
					 "O-O, castles, captures, quiet, promotes, ep, any")
		       : rc;
}

int chi_played_parse(const char *text, struct chi_played_moves *out, struct chi_fault *fault)
{
	struct chi_condition_text reader = {"played", text, text, fault};
	int rc = CHI_OK;
	out->n = 0;
	do {
		if (out->n == CHI_PLAYED_MAX) {
			return chi_fail(fault, -CHI_ETOOBIG, "played: over %d moves",
					CHI_PLAYED_MAX);
		}
		rc = read_one(&reader, &out->move[out->n++]);
	} while (rc == CHI_OK && take_sign(&reader, '|'));
	return rc;
}

int chi_played_shift(struct chi_played_moves *moves, struct chi_shift shift)
{
	bool stays = true;
	for (size_t i = 0; i < moves->n; i++) {
		stays = stays && chi_squares_shift(&moves->move[i].from, shift) &&
			chi_squares_shift(&moves->move[i].to, shift);
	}
	return stays ? CHI_OK : CHI_NONE;
}

/* ---- Fitting ------------------------------------------------------------------------------ */

/* A move, with what it does to the board, turned as a view is. */
struct made_move {
	uint32_t piece; /* as a set */
	uint32_t taken;
	uint8_t made; /* a bit */
	uint8_t how;
	uint64_t from; /* a bit */
	uint64_t to;   /* of the king, in castling */
};

static uint32_t set_on(const struct chi_position *position, int square, struct chi_turn turn)
{
	int kind = chi_position_kind(position, square);
	if (kind == CHI_KINDS) {
		return SET_EMPTY;
	}
	bool black = (position->colour[CHI_BLACK] & chi_bit(square)) != 0;
	return chi_set_of(black != turn.swap ? CHI_BLACK : CHI_WHITE, kind);
}

static struct made_move read_played(const struct chi_moment *moment, struct chi_turn turn)
{
	const struct chi_position *position = moment->position;
	int from = chi_move_from(moment->move);
	int to = chi_move_to(moment->move);
	struct made_move out = {.piece = set_on(position, from, turn),
				.made = (uint8_t)(1u << chi_move_promotion(moment->move))};
	if (chi_position_is_castling(position, moment->move)) {
		out.how = (to > from) != turn.mirror ? CHI_PLAYED_KINGSIDE : CHI_PLAYED_QUEENSIDE;
		out.taken = SET_EMPTY;
		to = chi_castling_king_to(from, to);
	} else if (to == position->ep && (position->kind[CHI_PAWN] & chi_bit(from)) != 0) {
		out.how = CHI_PLAYED_EN_PASSANT;
		out.taken = SET_PAWNS & ~out.piece;
	} else {
		out.taken = set_on(position, to, turn);
	}
	out.from = chi_turn_squares(turn, chi_bit(from));
	out.to = chi_turn_squares(turn, chi_bit(to));
	return out;
}

static bool fits_how(uint8_t asked, uint8_t how)
{
	return asked == CHI_PLAYED_ANY || asked == how ||
	       (asked == CHI_PLAYED_CASTLES &&
		(how == CHI_PLAYED_KINGSIDE || how == CHI_PLAYED_QUEENSIDE));
}

static bool fits_one(const struct chi_played_move *asked, const struct made_move *played,
		     struct chi_moment *moment)
{
	if ((asked->piece & played->piece) == 0 || (asked->taken & played->taken) == 0 ||
	    (asked->made & played->made) == 0 || (asked->from & played->from) == 0 ||
	    (asked->to & played->to) == 0 || !fits_how(asked->how, played->how)) {
		return false;
	}
	return asked->effect == CHI_PLAYED_ANY_EFFECT ||
	       (asked->effect == CHI_PLAYED_CHECKS ? chi_moment_gives_check(moment)
						   : chi_moment_mates(moment));
}

bool chi_played_fits(const struct chi_played_moves *moves, const struct chi_moment_view *view)
{
	if (view->moment->move == 0) {
		return false;
	}
	struct made_move played = read_played(view->moment, view->turn);
	for (size_t i = 0; i < moves->n; i++) {
		if (fits_one(&moves->move[i], &played, view->moment)) {
			return true;
		}
	}
	return false;
}
