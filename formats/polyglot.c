/* SPDX-License-Identifier: MIT */
/* A book in memory and the walk over it. Each group of entries, those with one key, is queued at
 * most once, so the queue is never longer than the book. */
#include "formats/polyglot.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/record.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/polyglot/polyglot.h"
#include "formats/source.h"

/* What has become of a group of entries with one key. */
enum queued {
	NOT_REACHED,
	QUEUED,
	SHADOWED, /* its position is in the book under Polyglot's own key, too */
};

/* A position that is to be visited. */
struct pending {
	struct chi_key key;
	size_t group; /* its first entry */
};

struct chi_book {
	uint8_t *bytes;
	size_t len;
	size_t n; /* entries */
	size_t unsorted;
	uint64_t *filter; /* bit `key & filter_mask` is set for each key of the book */
	size_t filter_mask;
	uint8_t *queued; /* n: of the first entry of a group an enum queued */
	struct pending *queue;
	size_t head;
	size_t tail;
	size_t room;
	struct chi_move_stat moves[CHI_MOVES_MAX]; /* of the position that is visited */
};

static void book_freep(struct chi_book **book)
{
	chi_book_close(*book);
}

void chi_book_close(struct chi_book *book)
{
	if (book == NULL) {
		return;
	}
	free(book->bytes);
	free(book->queued);
	free(book->filter);
	free(book->queue);
	free(book);
}

static struct chi_polyglot_entry entry_at(const struct chi_book *book, size_t i)
{
	struct chi_polyglot_entry entry;
	chi_polyglot_unpack(book->bytes + i * CHI_POLYGLOT_ENTRY, &entry);
	return entry;
}

static int compare_entries(const void *left, const void *right)
{
	struct chi_polyglot_entry a;
	struct chi_polyglot_entry b;
	chi_polyglot_unpack(left, &a);
	chi_polyglot_unpack(right, &b);
	return (a.key > b.key) - (a.key < b.key);
}

/* Whole entries, ascending: else looking one up would miss it. Books cut short and books joined end
 * to end are common, and nothing in them is doubtful. */
static void put_in_order(struct chi_book *book)
{
	book->n = book->len / CHI_POLYGLOT_ENTRY;
	for (size_t i = 1; i < book->n; i++) {
		book->unsorted += entry_at(book, i).key < entry_at(book, i - 1).key;
	}
	if (book->unsorted > 0) {
		qsort(book->bytes, book->n, CHI_POLYGLOT_ENTRY, compare_entries);
	}
}

static size_t filter_bit(const struct chi_book *book, uint64_t key)
{
	return (size_t)key & book->filter_mask;
}

/* Most positions that are asked for are not in the book: one bit says so without a search. */
static int make_filter(struct chi_book *book)
{
	size_t bits = 64;
	while (bits < 16 * book->n) {
		bits *= 2;
	}
	book->filter_mask = bits - 1;
	book->filter = calloc(bits / 64, sizeof(*book->filter));
	for (size_t i = 0; book->filter != NULL && i < book->n; i++) {
		size_t bit = filter_bit(book, entry_at(book, i).key);
		book->filter[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	return book->filter != NULL ? CHI_OK : -CHI_ENOMEM;
}

int chi_book_take(uint8_t *bytes, size_t len, struct chi_book **out, struct chi_fault *fault)
{
	*out = NULL;
	_cleanup_(book_freep) struct chi_book *book = calloc(1, sizeof(*book));
	if (book == NULL) {
		free(bytes);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	book->bytes = bytes;
	book->len = len;
	put_in_order(book);
	book->queued = calloc(book->n + 1, sizeof(*book->queued));
	if (book->queued == NULL || make_filter(book) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	*out = book;
	book = NULL;
	return CHI_OK;
}

int chi_book_open(const char *path, struct chi_book **out, struct chi_fault *fault)
{
	uint8_t *bytes = NULL;
	size_t len = 0;
	*out = NULL;
	int rc = chi_source_whole(path, "a book", &bytes, &len, fault);
	return rc == CHI_OK ? chi_book_take(bytes, len, out, fault) : rc;
}

/* The first entry of a key; n if there is none. */
static size_t find_key(const struct chi_book *book, uint64_t key)
{
	size_t bit = filter_bit(book, key);
	size_t low = 0;
	size_t high = book->n;
	if ((book->filter[bit / 64] >> bit % 64 & 1) == 0) {
		return book->n;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (entry_at(book, middle).key < key) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low < book->n && entry_at(book, low).key == key ? low : book->n;
}

/* CHI_NONE: the position is not in the book. Books made from positions such as ours have no entry
 * under Polyglot's own key where that counts a capture that is not legal: they are asked for ours,
 * too. */
static int enqueue(struct chi_book *book, const struct chi_position *position, int ep)
{
	uint64_t theirs = chi_polyglot_key(position, ep);
	uint64_t ours = ep == position->ep ? theirs : chi_polyglot_key(position, position->ep);
	size_t group = find_key(book, theirs);
	if (ours != theirs) {
		size_t other = find_key(book, ours);
		if (group == book->n) {
			group = other;
		} else if (other < book->n && book->queued[other] == NOT_REACHED) {
			book->queued[other] = SHADOWED;
		}
	}
	if (group == book->n) {
		return CHI_NONE;
	}
	if (book->queued[group] == QUEUED) {
		return CHI_OK;
	}
	if (book->tail == book->room) {
		size_t room = book->room > 0 ? 2 * book->room : 256;
		struct pending *queue = reallocarray(book->queue, room, sizeof(*queue));
		if (queue == NULL) {
			return -CHI_ENOMEM;
		}
		book->queue = queue;
		book->room = room;
	}
	book->queued[group] = QUEUED;
	struct pending *pending = &book->queue[book->tail++];
	*pending = (struct pending){.group = group};
	chi_key_encode(position, &pending->key);
	return CHI_OK;
}

static int expand(struct chi_book *book, const struct chi_position *position,
		  const struct chi_move_stat *played, size_t n_played);

/* The position after a move. One that a move of the book leads to and that is not in the book is
 * gone through by every reply: in a book for one side alone every other position is such. */
static int go(struct chi_book *book, const struct chi_position *position, chi_move move,
	      bool played)
{
	struct chi_position next;
	chi_position_play(position, move, &next);
	int rc = enqueue(book, &next, chi_polyglot_passed(position, move));
	return rc == CHI_NONE && played ? expand(book, &next, NULL, 0) : rc < 0 ? rc : CHI_OK;
}

/* All positions that a legal move leads to. Recursion ends after one step: no move is `played` in a
 * position that is not in the book. */
static int expand(struct chi_book *book, const struct chi_position *position,
		  const struct chi_move_stat *played, size_t n_played)
{
	struct chi_move_list list;
	int rc = CHI_OK;
	chi_movegen_legal(position, &list);
	for (size_t i = 0; rc == CHI_OK && i < list.n; i++) {
		size_t k = 0;
		while (k < n_played && played[k].move != list.moves[i]) {
			k++;
		}
		rc = go(book, position, list.moves[i], k < n_played);
	}
	return rc;
}

/* Takes a move among those of the position, in its place; one that occurs twice has both weights.
 */
static void add_move(struct chi_book_position *at, struct chi_move_stat *moves, chi_move move,
		     uint16_t weight)
{
	size_t i = 0;
	while (i < at->n_moves && moves[i].move < move) {
		i++;
	}
	at->weight += weight;
	if (i < at->n_moves && moves[i].move == move) {
		moves[i].counts.other += weight;
		return;
	}
	if (at->n_moves == CHI_MOVES_MAX) {
		return; /* more than any position of a game has */
	}
	memmove(moves + i + 1, moves + i, (at->n_moves - i) * sizeof(*moves));
	moves[i] = (struct chi_move_stat){.move = move, .counts = {.other = weight}};
	at->n_moves++;
}

/* One group: its moves, and the positions after all legal ones. */
static int visit_group(struct chi_book *book, const struct pending *pending, chi_book_visit *visit,
		       void *context, struct chi_book_result *result)
{
	struct chi_book_position at = {.key = pending->key};
	struct chi_position position;
	int rc = chi_key_decode(&pending->key, &position, NULL);
	uint64_t key = entry_at(book, pending->group).key;
	at.moves = book->moves;
	for (size_t i = pending->group; rc == CHI_OK && i < book->n; i++) {
		struct chi_polyglot_entry entry = entry_at(book, i);
		chi_move move = 0;
		if (entry.key != key) {
			break;
		}
		if (chi_polyglot_move(&position, entry.move, &move) != CHI_OK) {
			result->illegal++;
		} else if (entry.weight > 0) {
			add_move(&at, book->moves, move, entry.weight);
		} else {
			result->weightless++;
			rc = go(book, &position, move, true);
		}
	}
	if (rc == CHI_OK) {
		rc = expand(book, &position, book->moves, at.n_moves);
	}
	if (rc < 0 || at.n_moves == 0) {
		return rc;
	}
	result->positions++;
	result->moves += at.n_moves;
	return visit(context, &at);
}

/* Why entries were not met: the first that is true of each. */
static void count_unreachable(const struct chi_book *book, struct chi_book_result *result)
{
	uint8_t state = NOT_REACHED;
	for (size_t i = 0; i < book->n; i++) {
		struct chi_polyglot_entry entry = entry_at(book, i);
		if (i == 0 || entry.key != entry_at(book, i - 1).key) {
			state = book->queued[i];
		}
		if (state == QUEUED) {
			continue;
		}
		result->unreachable++;
		result->shadowed += state == SHADOWED;
		result->no_move += state != SHADOWED && !chi_move_possible(entry.move);
	}
}

/* From the initial position, which need not be in the book: a book for Black has none of White's.
 */
static int walk(struct chi_book *book, chi_book_visit *visit, void *context,
		const volatile sig_atomic_t *cancel, struct chi_book_result *result)
{
	struct chi_position start;
	int rc = chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &start, NULL);
	if (rc == CHI_OK) {
		rc = enqueue(book, &start, CHI_NO_SQUARE);
	}
	if (rc == CHI_NONE) {
		rc = expand(book, &start, NULL, 0);
	}
	while (rc == CHI_OK && book->head < book->tail) {
		struct pending pending = book->queue[book->head++];
		if (cancel != NULL && *cancel != 0) {
			return -CHI_ECANCELED;
		}
		rc = visit_group(book, &pending, visit, context, result);
	}
	return rc;
}

int chi_book_walk(struct chi_book *book, chi_book_visit *visit, void *context,
		  const volatile sig_atomic_t *cancel, struct chi_book_result *result)
{
	*result = (struct chi_book_result){
		.entries = book->n,
		.unsorted = book->unsorted,
		.cut = book->len % CHI_POLYGLOT_ENTRY,
	};
	book->head = 0;
	book->tail = 0;
	memset(book->queued, NOT_REACHED, book->n);
	int rc = walk(book, visit, context, cancel, result);
	count_unreachable(book, result);
	return rc;
}
