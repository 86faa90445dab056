/* SPDX-License-Identifier: MIT */
/* A book in memory and the walk over it. Each group of entries, those with one key, is queued at
 * most once, so the queue is never longer than the book. */
#include "formats/polyglot.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/record.h"
#include "chess/key.h"
#include "chess/polyglot/polyglot.h"
#include "formats/hash_walk.h"
#include "formats/source.h"

/* What has become of a group of entries with one key. */
enum queued {
	NOT_REACHED,
	QUEUED,
	SHADOWED, /* its position is in the book under Polyglot's own key, too */
};

struct chi_book {
	struct chi_hash_walk walk; /* places are first entries of groups */
	uint8_t *bytes;
	size_t len;
	size_t n; /* entries */
	size_t unsorted;
	uint8_t *queued; /* n: of the first entry of a group an enum queued */
	struct chi_move_stat moves[CHI_MOVES_MAX]; /* of the position that is visited */
	struct chi_book_result result;
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
	chi_hash_walk_deinit(&book->walk);
	free(book->bytes);
	free(book->queued);
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

/* The first entry of a key; n if there is none. */
static size_t find_key(const struct chi_book *book, uint64_t key)
{
	size_t low = 0;
	size_t high = book->n;
	if (!chi_hash_walk_may(&book->walk, key)) {
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
static int look_up_book(struct chi_hash_walk *walk, const struct chi_position *position, int ep)
{
	struct chi_book *book = (struct chi_book *)walk;
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
	book->queued[group] = QUEUED;
	return chi_hash_walk_push(walk, position, group);
}

/* Takes a move among those of the position, in its place; one that occurs twice has both weights.
 */
static void add_move(struct chi_record *record, struct chi_move_stat *moves, chi_move move,
		     uint16_t weight)
{
	size_t i = 0;
	while (i < record->n_moves && moves[i].move < move) {
		i++;
	}
	record->counts.other += weight;
	if (i < record->n_moves && moves[i].move == move) {
		moves[i].counts.other += weight;
		return;
	}
	if (record->n_moves == CHI_MOVES_MAX) {
		return; /* more than any position of a game has */
	}
	memmove(moves + i + 1, moves + i, (record->n_moves - i) * sizeof(*moves));
	moves[i] = (struct chi_move_stat){.move = move, .counts = {.other = weight}};
	record->n_moves++;
}

/* One group: its moves, and the positions after all legal ones. */
static int visit_group(struct chi_hash_walk *walk, const struct chi_hashed *hashed,
		       const struct chi_position *position, chi_hashed_take *take, void *context)
{
	struct chi_book *book = (struct chi_book *)walk;
	struct chi_book_result *result = &book->result;
	struct chi_put_entry put = {
		.key = hashed->key, .parts = CHI_PUT_ADD, .record.moves = book->moves};
	struct chi_hash_moves played = {.n = 0};
	uint64_t key = entry_at(book, hashed->place).key;
	for (size_t i = hashed->place; i < book->n && entry_at(book, i).key == key; i++) {
		struct chi_polyglot_entry entry = entry_at(book, i);
		chi_move move = 0;
		if (chi_polyglot_move(position, entry.move, &move) != CHI_OK) {
			result->illegal++;
			continue;
		}
		chi_hash_moves_add(&played, move);
		if (entry.weight > 0) {
			add_move(&put.record, book->moves, move, entry.weight);
		} else {
			result->weightless++;
		}
	}
	int rc = chi_hash_walk_expand(walk, position, &played);
	if (rc < 0 || put.record.n_moves == 0) {
		return rc;
	}
	result->positions++;
	result->moves += put.record.n_moves;
	return take(context, &put);
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
	book->walk.look = look_up_book;
	book->walk.visit = visit_group;
	put_in_order(book);
	book->queued = calloc(book->n + 1, sizeof(*book->queued));
	if (book->queued == NULL || chi_hash_walk_init(&book->walk, book->n) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (size_t i = 0; i < book->n; i++) {
		chi_hash_walk_note(&book->walk, entry_at(book, i).key);
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

int chi_book_walk(struct chi_book *book, chi_hashed_take *take, void *context,
		  const volatile sig_atomic_t *cancel, struct chi_book_result *result)
{
	book->result = (struct chi_book_result){
		.entries = book->n,
		.unsorted = book->unsorted,
		.cut = book->len % CHI_POLYGLOT_ENTRY,
	};
	int rc = chi_hash_walk_run(&book->walk, take, context, cancel);
	count_unreachable(book, &book->result);
	*result = book->result;
	return rc;
}
