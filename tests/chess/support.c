/* SPDX-License-Identifier: MIT */
#include "tests/chess/support.h"

#include "base/num.h"
#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/validate.h"

FILE *open_data(const char *name)
{
	const char *folder = getenv("CHISTORE_TEST_DATA");
	char path[4096];
	if (folder == NULL) {
		fail_msg("CHISTORE_TEST_DATA is not set");
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "r");
	if (file == NULL) {
		fail_msg("cannot open %s", path);
	}
	return file;
}

bool read_line(FILE *file, char *line, size_t size)
{
	if (fgets(line, (int)size, file) == NULL) {
		return false;
	}
	size_t len = strcspn(line, "\r\n");
	assert_true(line[len] != '\0' || feof(file));
	line[len] = '\0';
	return true;
}

uint64_t number_from_env(const char *name, uint64_t fallback)
{
	const char *text = getenv(name);
	uint64_t value = fallback;
	if (text != NULL) {
		assert_int_equal(chi_num_u64(text, strlen(text), UINT64_MAX, &value), CHI_OK);
	}
	return value;
}

struct chi_position position_of(const char *fen)
{
	struct chi_position position = {0};
	struct chi_fault fault = {{0}};
	if (chi_fen_parse(fen, strlen(fen), &position, &fault) != CHI_OK) {
		fail_msg("%s: %s", fen, fault.text);
	}
	return position;
}

/* Takes the n-th free place of `row`. */
static int take_place(char row[8], size_t n, char piece)
{
	for (int file = 0; file < 8; file++) {
		if (row[file] == '\0' && n-- == 0) {
			row[file] = piece;
			return file;
		}
	}
	return -1;
}

struct chi_position random_start(struct seed *seed)
{
	char row[9] = {0};
	char lower[9] = {0};
	char fen[CHI_FEN_SIZE];
	row[2 * seed_below(seed, 4)] = 'B';
	row[2 * seed_below(seed, 4) + 1] = 'B';
	take_place(row, seed_below(seed, 6), 'Q');
	take_place(row, seed_below(seed, 5), 'N');
	take_place(row, seed_below(seed, 4), 'N');
	take_place(row, 0, 'R');
	take_place(row, 0, 'K');
	take_place(row, 0, 'R');
	for (int file = 0; file < 8; file++) {
		lower[file] = (char)(row[file] | 0x20);
	}
	snprintf(fen, sizeof(fen), "%s/pppppppp/8/8/8/8/PPPPPPPP/%s w KQkq - 0 1", lower, row);
	return position_of(fen);
}

/* Gives each rook a right now and then, each square an en passant right; what does not hold is
 * taken back by the check at the end. */
static void add_rights(struct seed *seed, struct chi_position *position)
{
	uint64_t rooks = position->kind[CHI_ROOK] & (CHI_RANK_1 | CHI_RANK_8);
	while (rooks != 0) {
		struct chi_position tried = *position;
		tried.castle |= rooks & -rooks;
		rooks &= rooks - 1;
		if (seed_below(seed, 4) != 0 && chi_position_check(&tried, 1, NULL) == CHI_OK) {
			*position = tried;
		}
	}
	for (int square = 16; square < 48; square++) {
		if (seed_below(seed, 4) != 0 && chi_position_ep_legal(position, square)) {
			position->ep = (uint8_t)square;
		}
	}
}

/* Two pawns side by side where the side to move may take en passant, if nothing else forbids. */
static size_t add_passing_pawns(struct seed *seed, struct chi_position *position)
{
	int us = position->side;
	int passed = (us == CHI_WHITE ? 32 : 24) + (int)seed_below(seed, 7);
	int taker = passed + 1;
	uint64_t both = chi_bit(passed) | chi_bit(taker);
	if ((chi_position_occupied(position) & both) != 0) {
		return 0;
	}
	chi_position_put(position, us ^ 1, CHI_PAWN, passed);
	chi_position_put(position, us, CHI_PAWN, taker);
	return 2;
}

/* Most pieces of a kind: some boards are all queens, some pawns alone. */
static int random_kind(struct seed *seed, int favourite)
{
	return seed_below(seed, 2) == 0 ? favourite : (int)seed_below(seed, CHI_KING);
}

struct chi_position random_placement(struct seed *seed)
{
	struct chi_position position;
	size_t n = 1 + seed_below(seed, 32);
	int favourite = (int)seed_below(seed, CHI_KING);
	chi_position_clear(&position);
	for (int colour = CHI_WHITE; colour <= CHI_BLACK; colour++) {
		int square = (int)seed_below(seed, 64);
		if (seed_below(seed, 2) == 0) {
			square = (square & 7) | (colour == CHI_WHITE ? 0 : 56);
		}
		bool free = (chi_position_occupied(&position) >> square & 1) == 0;
		if (free && n > 0 && seed_below(seed, 8) != 0) {
			chi_position_put(&position, colour, CHI_KING, square);
			n--;
		}
	}
	if (chi_position_king(&position, CHI_BLACK) != CHI_NO_SQUARE) {
		position.side = (uint8_t)seed_below(seed, 2);
	}
	if (n >= 2 && seed_below(seed, 4) == 0) {
		n -= add_passing_pawns(seed, &position);
	}
	for (; n > 0; n--) {
		int square = (int)seed_below(seed, 64);
		int kind = random_kind(seed, favourite);
		bool free = (chi_position_occupied(&position) >> square & 1) == 0;
		bool edge = square < 8 || square > 55;
		if (free && !(kind == CHI_PAWN && edge)) {
			chi_position_put(&position, (int)seed_below(seed, 2), kind, square);
		}
	}
	if (chi_position_occupied(&position) == 0) {
		chi_position_put(&position, CHI_WHITE, CHI_ROOK, 0);
	}
	add_rights(seed, &position);
	return position;
}

struct chi_position random_position(struct seed *seed)
{
	return seed_below(seed, 2) == 0 ? random_start(seed) : random_placement(seed);
}

bool play_random(struct seed *seed, struct chi_position *position)
{
	struct chi_move_list list;
	struct chi_position next;
	chi_movegen_legal(position, &list);
	if (list.n == 0) {
		return false;
	}
	chi_position_play(position, list.moves[seed_below(seed, list.n)], &next);
	*position = next;
	return true;
}
