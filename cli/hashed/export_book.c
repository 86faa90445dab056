/* SPDX-License-Identifier: MIT */
/*
 * Weights as every book has them here (chess/polyglot/candidates.h). A move that only lost gets no
 * entry. Where a position's weights do not fit 16 bits all are divided by the same number, but none
 * down to 0.
 */
#include "cli/hashed/export_book.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/sorter.h"
#include "chess/key.h"
#include "chess/polyglot/candidates.h"
#include "chess/polyglot/polyglot.h"

/* Of a large store some is spilled; more memory would not make it faster. */
#define SORT_MEMORY (UINT64_C(64) << 20)

#define WEIGHT_MAX UINT16_MAX

/* An item for sorting is an entry's first 10 bytes, and after them the weight in this machine's
 * order: it need not be sorted, as equal moves are added up. */
#define ITEM_WEIGHT 16

/* A move of the key that is being gathered. */
struct weighed {
	chi_move move;
	uint64_t weight;
};

struct export_book {
	struct chi_filler filler;
	uint64_t key;
	struct weighed *moves; /* of the key, ascending by move */
	size_t n_moves;
	size_t room;
};

static int book_fail(int status, const struct chi_fault *fault)
{
	cli_message("cannot sort the book: %s",
		    fault->text[0] != '\0' ? fault->text : chi_strerror(status));
	return EXIT_STORE;
}

int export_book_new(const char *dir, struct export_book **out)
{
	struct chi_fault fault = {.text = ""};
	struct export_book *book = calloc(1, sizeof(*book));
	int status = -CHI_ENOMEM;
	if (book != NULL) {
		status = chi_sorter_new(dir, SORT_MEMORY, 1, &book->filler.sorter);
	}
	if (status != CHI_OK) {
		export_book_free(book);
		return book_fail(status, &fault);
	}
	*out = book;
	return EXIT_DONE;
}

void export_book_free(struct export_book *book)
{
	if (book == NULL) {
		return;
	}
	chi_filler_drop(&book->filler);
	chi_sorter_free(book->filler.sorter);
	free(book->moves);
	free(book);
}

int export_book_add(struct export_book *book, const struct chi_key *key,
		    const struct chi_record *record)
{
	struct chi_counts played[CHI_MOVES_MAX];
	struct chi_candidate all[CHI_MOVES_MAX];
	struct chi_position position;
	struct chi_fault fault = {.text = ""};
	int status = chi_key_decode(key, &position, &fault);
	if (status != CHI_OK) {
		return book_fail(status, &fault);
	}
	for (size_t i = 0; i < record->n_moves; i++) {
		played[i] = record->moves[i].counts;
	}
	chi_candidates(played, record->n_moves, position.side, all);
	struct chi_polyglot_entry entry = {.key = chi_polyglot_key(&position, position.ep)};
	for (size_t i = 0; i < record->n_moves; i++) {
		uint64_t weight = all[i].weight;
		struct chi_sort_item *item = NULL;
		if (weight == 0) {
			continue;
		}
		status = chi_filler_room(&book->filler, &item, &fault);
		if (status != CHI_OK) {
			return book_fail(status, &fault);
		}
		entry.move = record->moves[i].move;
		*item = (struct chi_sort_item){{0}};
		chi_polyglot_pack(&entry, item->bytes);
		memcpy(item->bytes + ITEM_WEIGHT, &weight, sizeof(weight));
	}
	return EXIT_DONE;
}

/* The heaviest first, as readers show them; of equals the lower move. */
static int compare_weighed(const void *left, const void *right)
{
	const struct weighed *a = left;
	const struct weighed *b = right;
	if (a->weight != b->weight) {
		return a->weight > b->weight ? -1 : 1;
	}
	return (a->move > b->move) - (a->move < b->move);
}

/* Writes the entries of the key that has been gathered. */
static int flush_key(struct export_book *book, struct target *target)
{
	int code = EXIT_DONE;
	if (book->n_moves == 0) {
		return code;
	}
	qsort(book->moves, book->n_moves, sizeof(*book->moves), compare_weighed);
	uint64_t divisor = (book->moves[0].weight - 1) / WEIGHT_MAX + 1;
	for (size_t i = 0; i < book->n_moves && code == EXIT_DONE; i++) {
		uint8_t bytes[CHI_POLYGLOT_ENTRY];
		uint64_t weight = book->moves[i].weight / divisor;
		struct chi_polyglot_entry entry = {
			.key = book->key,
			.move = book->moves[i].move,
			.weight = (uint16_t)(weight > 0 ? weight : 1),
		};
		chi_polyglot_pack(&entry, bytes);
		code = target_write(target, bytes, sizeof(bytes));
	}
	book->n_moves = 0;
	return code;
}

/* Positions that Polyglot does not tell apart share a key: what they played is added up. */
static int gather_move(struct export_book *book, chi_move move, uint64_t weight)
{
	if (book->n_moves > 0 && book->moves[book->n_moves - 1].move == move) {
		struct weighed *last = &book->moves[book->n_moves - 1];
		last->weight =
			weight > UINT64_MAX - last->weight ? UINT64_MAX : last->weight + weight;
		return EXIT_DONE;
	}
	if (chi_grow(&book->moves, &book->room, book->n_moves + 1, sizeof(*book->moves)) < 0) {
		return book_fail(-CHI_ENOMEM, &(struct chi_fault){.text = ""});
	}
	book->moves[book->n_moves++] = (struct weighed){.move = move, .weight = weight};
	return EXIT_DONE;
}

static int write_item(struct export_book *book, const struct chi_sort_item *item,
		      struct target *target)
{
	struct chi_polyglot_entry entry;
	uint64_t weight;
	int code = EXIT_DONE;
	chi_polyglot_unpack(item->bytes, &entry);
	memcpy(&weight, item->bytes + ITEM_WEIGHT, sizeof(weight));
	if (entry.key != book->key) {
		code = flush_key(book, target);
		book->key = entry.key;
	}
	return code == EXIT_DONE ? gather_move(book, entry.move, weight) : code;
}

static int write_entries(struct export_book *book, struct chi_sort_reader *reader,
			 struct target *target)
{
	const struct chi_sort_item *item = NULL;
	int status;
	while ((status = chi_sort_next(reader, &item)) == CHI_OK) {
		int code = cli_stop != 0 ? 128 + cli_stop : write_item(book, item, target);
		if (code != EXIT_DONE) {
			return code;
		}
	}
	return status == CHI_NONE ? flush_key(book, target)
				  : book_fail(status, &(struct chi_fault){.text = ""});
}

int export_book_write(struct export_book *book, struct target *target)
{
	struct chi_fault fault = {.text = ""};
	struct chi_sort_reader *reader = NULL;
	int status = chi_filler_end(&book->filler, &fault);
	if (status == CHI_OK) {
		status = chi_sorter_read(book->filler.sorter, &reader, &fault);
	}
	int code =
		status == CHI_OK ? write_entries(book, reader, target) : book_fail(status, &fault);
	chi_sort_close(reader);
	return code;
}
