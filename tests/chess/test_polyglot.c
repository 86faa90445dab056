/* SPDX-License-Identifier: MIT */
/* Polyglot books: the nine published keys, two books of others' making walked move by move, and
 * the corners of the key and of the moves. */
#include "tests/chess/support.h"

#include <stdlib.h>

#include "base/num.h"
#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/polyglot/polyglot.h"

#define KEYS 9

/* Plays moves in UCI from the initial position; *ep is the square that the last one passed. */
static struct chi_position play(char *moves, int *ep)
{
	struct chi_position position = position_of(START_FEN);
	char *rest = NULL;
	*ep = CHI_NO_SQUARE;
	for (char *word = strtok_r(moves, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		chi_move move = 0;
		struct chi_position next;
		assert_int_equal(chi_uci_parse(&position, word, strlen(word), &move, NULL), CHI_OK);
		*ep = chi_polyglot_passed(&position, move);
		chi_position_play(&position, move, &next);
		position = next;
	}
	return position;
}

/* The FEN's own en passant square agrees with that of the moves played: no pawn is pinned here. */
CASE(published_keys)
{
	FILE *file = open_data("polyglot/keys.tsv");
	char line[512];
	int n = 0;
	while (read_line(file, line, sizeof(line))) {
		char *fen = strchr(line, '\t');
		assert_non_null(fen);
		*fen++ = '\0';
		char *key = strchr(fen, '\t');
		assert_non_null(key);
		*key++ = '\0';
		if (line[0] == '#') {
			continue;
		}
		int ep = CHI_NO_SQUARE;
		uint64_t expected = strtoull(key, NULL, 16);
		struct chi_position stored = position_of(fen);
		struct chi_position played = play(line, &ep);
		assert_int_equal(chi_polyglot_key(&stored, stored.ep), expected);
		assert_int_equal(chi_polyglot_key(&played, ep), expected);
		n++;
	}
	fclose(file);
	assert_int_equal(n, KEYS);
}

/* A capture that would leave the king in check counts for Polyglot and is not kept by us. */
CASE(pinned_pawn_counts)
{
	struct chi_position position = position_of("8/8/8/8/k2p3R/8/4P3/7K w - - 0 1");
	chi_move move = 0;
	struct chi_position next;
	assert_int_equal(chi_uci_parse(&position, "e2e4", 4, &move, NULL), CHI_OK);
	int ep = chi_polyglot_passed(&position, move);
	assert_int_equal(ep, 20);
	chi_position_play(&position, move, &next);
	assert_int_equal(next.ep, CHI_NO_SQUARE);
	assert_int_equal(chi_polyglot_key(&next, ep) ^ chi_polyglot_key(&next, next.ep),
			 chi_polyglot_random[772 + 4]);
	/* No pawn beside it: nothing to count. */
	position = position_of("8/8/8/8/k5pR/8/4P3/7K w - - 0 1");
	chi_position_play(&position, move, &next);
	assert_int_equal(chi_polyglot_key(&next, ep), chi_polyglot_key(&next, CHI_NO_SQUARE));
	/* A step of two ranks by another piece passes nothing. */
	position = position_of("8/8/8/8/k5pR/8/4R3/7K w - - 0 1");
	assert_int_equal(chi_polyglot_passed(&position, move), CHI_NO_SQUARE);
}

/* Each constant is used for one thing: all are distinct, and each right has its own. */
CASE(constants_are_distinct)
{
	for (size_t i = 0; i < CHI_POLYGLOT_RANDOMS; i++) {
		for (size_t j = 0; j < i; j++) {
			assert_int_not_equal(chi_polyglot_random[i], chi_polyglot_random[j]);
		}
	}
	static const char rights[] = "KQkq";
	struct chi_position none = position_of("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1");
	for (int i = 0; i < 4; i++) {
		char fen[64];
		snprintf(fen, sizeof(fen), "r3k2r/8/8/8/8/8/8/R3K2R w %c - 0 1", rights[i]);
		struct chi_position one = position_of(fen);
		assert_int_equal(chi_polyglot_key(&one, one.ep) ^ chi_polyglot_key(&none, none.ep),
				 chi_polyglot_random[768 + i]);
	}
}

CASE(castling_in_both_forms)
{
	struct chi_position position = position_of("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
	static const struct {
		int to;
		int rook;
	} castlings[] = {{6, 7}, {7, 7}, {2, 0}, {0, 0}};
	for (size_t i = 0; i < CHI_COUNT(castlings); i++) {
		chi_move move = 0;
		uint16_t bits = chi_move_make(4, castlings[i].to, 0);
		assert_int_equal(chi_polyglot_move(&position, bits, &move), CHI_OK);
		assert_int_equal(move, chi_move_make(4, castlings[i].rook, 0));
	}
	chi_move move = 0;
	struct chi_position without = position_of("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1");
	assert_int_equal(chi_polyglot_move(&without, chi_move_make(4, 6, 0), &move), -CHI_EMOVE);
	assert_int_equal(chi_polyglot_move(&without, chi_move_make(4, 7, 0), &move), -CHI_EMOVE);
	/* Any bits may come; promotions are as ours. */
	struct chi_position pawn = position_of("8/4P3/8/8/8/8/k7/7K w - - 0 1");
	for (unsigned bits = 0; bits <= UINT16_MAX; bits++) {
		bool legal = chi_polyglot_move(&pawn, (uint16_t)bits, &move) == CHI_OK;
		assert_int_equal(legal, chi_movegen_is_legal(&pawn, (chi_move)bits));
	}
}

CASE(entries_there_and_back)
{
	static const uint8_t bytes[CHI_POLYGLOT_ENTRY] = {
		0x46, 0x3b, 0x96, 0x18, 0x16, 0x91, 0xfc, 0x9c,
		0x03, 0x1c, 0xff, 0xfe, 0x01, 0x02, 0x03, 0x04,
	};
	struct chi_polyglot_entry entry;
	uint8_t back[CHI_POLYGLOT_ENTRY];
	chi_polyglot_unpack(bytes, &entry);
	assert_int_equal(entry.key, UINT64_C(0x463b96181691fc9c));
	assert_int_equal(entry.move, chi_move_make(12, 28, 0));
	assert_int_equal(entry.weight, 0xfffe);
	assert_int_equal(entry.learn, 0x01020304);
	chi_polyglot_pack(&entry, back);
	assert_memory_equal(back, bytes, sizeof(bytes));
}

/* A book in memory, and which of its entries a walk came by. */
struct book {
	size_t n;
	bool *met;
	struct chi_polyglot_entry *entries;
};

static void load_book(struct book *book, const char *name)
{
	FILE *file = open_data(name);
	uint8_t bytes[CHI_POLYGLOT_ENTRY];
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	long size = ftell(file);
	rewind(file);
	assert_true(size > 0 && size % CHI_POLYGLOT_ENTRY == 0);
	book->n = (size_t)size / CHI_POLYGLOT_ENTRY;
	book->met = calloc(book->n, sizeof(*book->met));
	book->entries = calloc(book->n, sizeof(*book->entries));
	assert_true(book->met != NULL && book->entries != NULL);
	for (size_t i = 0; i < book->n; i++) {
		assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
		chi_polyglot_unpack(bytes, &book->entries[i]);
		assert_true(i == 0 || book->entries[i - 1].key <= book->entries[i].key);
	}
	fclose(file);
}

/* Every move of a position that is met is legal; returns how many entries were met for the first
 * time. */
static size_t walk(struct book *book, const struct chi_position *position, int ep)
{
	uint64_t key = chi_polyglot_key(position, ep);
	size_t n = 0;
	for (size_t i = 0; i < book->n; i++) {
		chi_move move = 0;
		struct chi_position next;
		if (book->entries[i].key != key || book->met[i]) {
			continue;
		}
		book->met[i] = true;
		n++;
		assert_int_equal(chi_polyglot_move(position, book->entries[i].move, &move), CHI_OK);
		int passed = chi_polyglot_passed(position, move);
		chi_position_play(position, move, &next);
		n += walk(book, &next, passed);
	}
	return n;
}

/* Walks from the initial position and from each position after one of `moves`, n of 4 letters. */
static void walk_book(const char *name, const char *moves, size_t entries)
{
	struct book book = {0};
	size_t met = 0;
	load_book(&book, name);
	assert_int_equal(book.n, entries);
	for (size_t len = 0; len <= strlen(moves); len += 5) {
		char text[256];
		int ep = CHI_NO_SQUARE;
		snprintf(text, sizeof(text), "%.*s", (int)len, moves);
		struct chi_position position = play(text, &ep);
		met += walk(&book, &position, ep);
	}
	assert_int_equal(met, entries);
	free(book.met);
	free(book.entries);
}

/* lasker-trap.bin holds Black's moves alone, an underpromotion among them. */
CASE(books_of_others)
{
	walk_book("polyglot/lasker-trap.bin",
		  "d2d4 d7d5 c2c4 e7e5 d4e5 d5d4 e2e3 f8b4 c1d2 d4e3 d2b4 e3f2 e1e2 ", 7);
	walk_book("polyglot/openings.bin", "", 2663);
}
