/* SPDX-License-Identifier: MIT */
/*
 * Positions and moves without a store: the chess room's functions, for callers that know keys
 * only. chi_key_from_fen, chi_key_to_fen, chi_material_parse and the numbers are that room's and
 * base's own functions, exported as they are.
 */
#include "chistore.h"

#include <stdlib.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/position.h"
#include "chess/statistic.h"
#include "chess/validate.h"

_Static_assert(CHI_MOVE_TEXT_SIZE >= CHI_UCI_SIZE, "a move in UCI must fit");
_Static_assert(CHI_MOVE_TEXT_SIZE >= CHI_SAN_SIZE, "a move in SAN must fit");
_Static_assert(CHI_LEGAL_MAX == CHI_MOVEGEN_MAX, "a caller's list must hold all moves");

/* Pieces of two kinds or colours on one square, or of one only. */
static int check_sets(const struct chi_board *board, struct chi_fault *fault)
{
	const uint64_t kinds[] = {board->pawns, board->knights, board->bishops,
				  board->rooks, board->queens,	board->kings};
	uint64_t seen = 0;
	for (size_t i = 0; i < CHI_COUNT(kinds); i++) {
		if ((seen & kinds[i]) != 0) {
			return chi_fail(fault, -CHI_EKEY, "two pieces are on square %d",
					__builtin_ctzll(seen & kinds[i]));
		}
		seen |= kinds[i];
	}
	if ((board->white & board->black) != 0) {
		return chi_fail(fault, -CHI_EKEY, "the piece on square %d has both colours",
				__builtin_ctzll(board->white & board->black));
	}
	uint64_t odd = seen ^ (board->white | board->black);
	if (odd != 0) {
		return chi_fail(fault, -CHI_EKEY,
				"square %d has a colour without a piece or a "
				"piece without a colour",
				__builtin_ctzll(odd));
	}
	if (board->en_passant < -1 || board->en_passant >= CHI_NO_SQUARE) {
		return chi_fail(fault, -CHI_EKEY, "en passant square %d is not -1 to 63",
				board->en_passant);
	}
	return CHI_OK;
}

/* The rights that have their rook and king on the back rank; the others are dropped. */
static uint64_t castling_in_place(const struct chi_position *position, uint64_t wanted)
{
	static const uint64_t ranks[2] = {[CHI_WHITE] = CHI_RANK_1, [CHI_BLACK] = CHI_RANK_8};
	uint64_t kept = 0;
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		if ((chi_position_pieces(position, colour, CHI_KING) & ranks[colour]) != 0) {
			kept |= wanted & ranks[colour] &
				chi_position_pieces(position, colour, CHI_ROOK);
		}
	}
	return kept;
}

int chi_key_from_board(const struct chi_board *board, struct chi_key *out, struct chi_fault *fault)
{
	int status = check_sets(board, fault);
	if (status != CHI_OK) {
		return status;
	}
	struct chi_position position;
	chi_position_clear(&position);
	position.kind[CHI_PAWN] = board->pawns;
	position.kind[CHI_KNIGHT] = board->knights;
	position.kind[CHI_BISHOP] = board->bishops;
	position.kind[CHI_ROOK] = board->rooks;
	position.kind[CHI_QUEEN] = board->queens;
	position.kind[CHI_KING] = board->kings;
	position.colour[CHI_WHITE] = board->white;
	position.colour[CHI_BLACK] = board->black;
	position.side = board->black_to_move ? CHI_BLACK : CHI_WHITE;
	position.castle = castling_in_place(&position, board->castling);
	if (board->en_passant >= 0 && chi_position_ep_legal(&position, board->en_passant)) {
		position.ep = (uint8_t)board->en_passant;
	}
	status = chi_position_check(&position, -CHI_EKEY, fault);
	if (status == CHI_OK) {
		chi_key_encode(&position, out);
	}
	return status;
}

/* Keys decode to normalised positions or not at all, so nothing needs checking after that. */
int chi_key_control(const struct chi_key *key, uint16_t *out)
{
	struct chi_position position;
	int status = chi_key_decode(key, &position, NULL);
	if (status == CHI_OK) {
		*out = chi_statistic_control(&position);
	}
	return status;
}

/* Decodes, and makes sure that the move can be played. */
static int decode_with(const struct chi_key *key, chi_move move, struct chi_position *position)
{
	int status = chi_key_decode(key, position, NULL);
	if (status != CHI_OK) {
		return status;
	}
	return chi_movegen_is_legal(position, move) ? CHI_OK : -CHI_EMOVE;
}

int chi_key_play(const struct chi_key *key, chi_move move, struct chi_key *out)
{
	struct chi_position position;
	int status = decode_with(key, move, &position);
	if (status != CHI_OK) {
		return status;
	}
	struct chi_position next;
	chi_position_play(&position, move, &next);
	status = chi_position_check(&next, -CHI_EKEY, NULL);
	if (status == CHI_OK) {
		chi_key_encode(&next, out);
	}
	return status;
}

/* SAN is tried first, then UCI: no text means different moves in the two. */
int chi_key_move(const struct chi_key *key, const char *text, size_t len, chi_move *out,
		 struct chi_fault *fault)
{
	struct chi_position position;
	int status = chi_key_decode(key, &position, fault);
	if (status == CHI_OK) {
		status = chi_move_parse(&position, text, len, out, fault);
	}
	return status;
}

int chi_key_uci(const struct chi_key *key, chi_move move, char out[CHI_MOVE_TEXT_SIZE])
{
	struct chi_position position;
	int status = decode_with(key, move, &position);
	if (status == CHI_OK) {
		chi_uci_print(&position, move, out);
	}
	return status;
}

int chi_key_san(const struct chi_key *key, chi_move move, char out[CHI_MOVE_TEXT_SIZE])
{
	struct chi_position position;
	int status = decode_with(key, move, &position);
	if (status == CHI_OK) {
		chi_san_print(&position, move, out);
	}
	return status;
}

/* ---- All moves --------------------------------------------------------------------------- */

static uint8_t flags_of(const struct chi_position *position, chi_move move,
			const struct chi_position *next)
{
	uint64_t to = chi_bit(chi_move_to(move));
	bool passing = (position->kind[CHI_PAWN] & chi_bit(chi_move_from(move))) != 0 &&
		       chi_move_to(move) == position->ep;
	bool castling = chi_position_is_castling(position, move);
	bool taking = passing || (!castling && (chi_position_occupied(position) & to) != 0);
	return (uint8_t)((taking ? CHI_MOVE_CAPTURE : 0) | (passing ? CHI_MOVE_EN_PASSANT : 0) |
			 (castling ? CHI_MOVE_CASTLING : 0) |
			 (chi_move_promotion(move) != 0 ? CHI_MOVE_PROMOTION : 0) |
			 (chi_position_in_check(next, next->side) ? CHI_MOVE_CHECK : 0));
}

static void tell_move(const struct chi_position *position, chi_move move, uint32_t want,
		      struct chi_legal_move *out)
{
	struct chi_position next;
	chi_position_play(position, move, &next);
	*out = (struct chi_legal_move){.move = move, .flags = flags_of(position, move, &next)};
	if ((want & CHI_MOVES_UCI) != 0) {
		chi_uci_print(position, move, out->uci);
	}
	if ((want & CHI_MOVES_SAN) != 0) {
		chi_san_print(position, move, out->san);
	}
	if ((want & CHI_MOVES_KEYS) != 0 && chi_position_check(&next, -CHI_EKEY, NULL) == CHI_OK) {
		chi_key_encode(&next, &out->after);
	}
}

static uint32_t state_of(const struct chi_position *position, size_t moves)
{
	bool check = chi_position_in_check(position, position->side);
	uint32_t end = check ? CHI_STATE_CHECKMATE : CHI_STATE_STALEMATE;
	return (check ? CHI_STATE_CHECK : 0u) | (moves == 0 ? end : 0u) |
	       (chi_position_insufficient(position) ? CHI_STATE_INSUFFICIENT : 0u);
}

static int compare_moves(const void *a, const void *b)
{
	return (int)*(const chi_move *)a - (int)*(const chi_move *)b;
}

int chi_key_moves(const struct chi_key *key, uint32_t want, struct chi_legal_move *out, size_t max,
		  size_t *n, uint32_t *state)
{
	struct chi_position position;
	struct chi_move_list list;
	*n = 0;
	int status = chi_key_decode(key, &position, NULL);
	if (status != CHI_OK) {
		return status;
	}
	chi_movegen_legal(&position, &list);
	qsort(list.moves, list.n, sizeof(list.moves[0]), compare_moves);
	for (size_t i = 0; i < list.n && i < max; i++) {
		tell_move(&position, list.moves[i], want, &out[i]);
	}
	*n = list.n;
	if (state != NULL) {
		*state = state_of(&position, list.n);
	}
	return CHI_OK;
}
