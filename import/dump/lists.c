/* SPDX-License-Identifier: MIT */
/* Items of games (import/count.h) beside positions. */
#include "import/dump/lists.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "base/record.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "import/count.h"

/* What games say of a position. */
struct tally {
	struct chi_counts counts;
	size_t n_moves;
	size_t n_plies;
	struct chi_move_stat moves[CHI_MOVES_MAX];
	struct chi_ply_stat plies[CHI_PLY_MAX + 1];
};

struct chi_lists {
	const struct chi_carried_plan *plan;
	struct chi_sort_reader *reader;
	const struct chi_sort_item *item; /* the next one; NULL: there are no more */
	uint64_t *payloads;		  /* of the position, without those of known games */
	size_t n_payloads;
	size_t size;
	struct chi_posting *games; /* as many */
	struct tally tally;
	size_t n_left; /* games of the position that there was no room for */
	uint64_t uncertain;
};

/* ---- Counting ----------------------------------------------------------------------------- */

static void clear(struct tally *tally)
{
	tally->counts = (struct chi_counts){0};
	tally->n_moves = 0;
	tally->n_plies = 0;
}

static struct chi_counts *counts_of_move(struct tally *tally, chi_move move)
{
	size_t i = 0;
	while (i < tally->n_moves && tally->moves[i].move < move) {
		i++;
	}
	if (i == tally->n_moves || tally->moves[i].move != move) {
		if (tally->n_moves == CHI_MOVES_MAX) {
			return NULL;
		}
		memmove(tally->moves + i + 1, tally->moves + i,
			(tally->n_moves - i) * sizeof(tally->moves[0]));
		tally->moves[i] = (struct chi_move_stat){.move = move};
		tally->n_moves++;
	}
	return &tally->moves[i].counts;
}

/* There are no more plies than the array has. */
static void count_ply(struct tally *tally, uint16_t ply)
{
	size_t i = tally->n_plies;
	while (i > 0 && tally->plies[i - 1].ply >= ply) {
		i--;
	}
	if (i == tally->n_plies || tally->plies[i].ply != ply) {
		memmove(tally->plies + i + 1, tally->plies + i,
			(tally->n_plies - i) * sizeof(tally->plies[0]));
		tally->plies[i] = (struct chi_ply_stat){.ply = ply};
		tally->n_plies++;
	}
	tally->plies[i].games++;
}

static int count_payload(struct tally *tally, uint64_t payload)
{
	unsigned result = chi_count_result(payload);
	chi_move move = chi_count_move(payload);
	if ((payload & CHI_COUNT_FIRST) != 0) {
		++*chi_counts_of(&tally->counts, result);
		count_ply(tally, (uint16_t)chi_count_ply(payload));
	}
	if (move == 0) {
		return CHI_OK;
	}
	struct chi_counts *counts = counts_of_move(tally, move);
	if (counts == NULL) {
		return -CHI_ETOOBIG;
	}
	++*chi_counts_of(counts, result);
	return CHI_OK;
}

static struct chi_record record_of(const struct tally *tally)
{
	return (struct chi_record){
		.counts = tally->counts,
		.moves = tally->moves,
		.n_moves = tally->n_moves,
		.plies = tally->plies,
		.n_plies = tally->n_plies,
	};
}

static const struct chi_counts *find_move(const struct chi_move_stat *moves, size_t n,
					  chi_move move)
{
	static const struct chi_counts none;
	for (size_t i = 0; i < n; i++) {
		if (moves[i].move == move) {
			return &moves[i].counts;
		}
	}
	return &none;
}

static uint64_t count_of_result(const struct chi_counts *counts, unsigned result)
{
	struct chi_counts copy = *counts;
	return *chi_counts_of(&copy, result);
}

/* One game more, with what the payload says, is not more than the record counts. */
static bool has_room(const struct tally *tally, const struct chi_record *record, uint64_t payload)
{
	unsigned result = chi_count_result(payload);
	chi_move move = chi_count_move(payload);
	return ((payload & CHI_COUNT_FIRST) == 0 ||
		count_of_result(&tally->counts, result) <
			count_of_result(&record->counts, result)) &&
	       (move == 0 ||
		count_of_result(find_move(tally->moves, tally->n_moves, move), result) <
			count_of_result(find_move(record->moves, record->n_moves, move), result));
}

/* ---- Items -------------------------------------------------------------------------------- */

static int next_item(struct chi_lists *lists, struct chi_fault *fault)
{
	int rc = chi_sort_next(lists->reader, &lists->item);
	if (rc == CHI_NONE) {
		lists->item = NULL;
	}
	return rc < 0 ? chi_fault_plain(fault, rc) : CHI_OK;
}

int chi_lists_open(struct chi_carried *carried, const struct chi_carried_plan *plan,
		   struct chi_lists **out, struct chi_fault *fault)
{
	struct chi_lists *lists = calloc(1, sizeof(*lists));
	if (lists == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	lists->plan = plan;
	int rc = chi_sorter_read(carried->positions, &lists->reader, fault);
	rc = rc == CHI_OK ? next_item(lists, fault) : rc;
	if (rc != CHI_OK) {
		chi_lists_close(lists);
		return rc;
	}
	*out = lists;
	return CHI_OK;
}

void chi_lists_close(struct chi_lists *lists)
{
	if (lists != NULL) {
		chi_sort_close(lists->reader);
		free(lists->payloads);
		free(lists->games);
		free(lists);
	}
}

/* What is left of an item when its game is counted to a ply: false if nothing is. */
static bool hold(const struct chi_carried_plan *plan, uint64_t *payload)
{
	unsigned limit = plan->plies[chi_count_game(*payload)];
	unsigned ply = chi_count_ply(*payload);
	if (limit != 0 && ply == limit) {
		*payload &= ~UINT64_C(0xffff);
	}
	return (limit == 0 || ply <= limit) &&
	       (chi_count_move(*payload) != 0 || (*payload & CHI_COUNT_FIRST) != 0);
}

/* A position of a game that is not among those of the dump. */
static int pass(const struct chi_lists *lists, struct chi_fault *fault)
{
	struct chi_position position;
	char fen[CHI_FEN_SIZE] = "";
	struct chi_key key = {.len = (uint8_t)chi_key_length(lists->item->bytes)};
	uint64_t payload = chi_count_payload(lists->item);
	uint32_t game = chi_count_game(payload);
	if (!hold(lists->plan, &payload) || chi_carried_bit(lists->plan->pruned, game)) {
		return CHI_OK;
	}
	memcpy(key.bytes, lists->item->bytes, CHI_KEY_MAX);
	if (chi_key_decode(&key, &position, NULL) == CHI_OK) {
		(void)chi_fen_print(&position, fen);
	}
	return chi_fail(fault, -CHI_ESYNTAX,
			"games and positions are damaged: game %" PRIu32
			" reached a position that is not there: %s",
			game, fen);
}

static int add_payload(struct chi_lists *lists, uint64_t payload)
{
	size_t n = lists->n_payloads + 1;
	size_t size = lists->size;
	if (chi_grow(&lists->payloads, &size, n, sizeof(*lists->payloads)) < 0 ||
	    chi_grow(&lists->games, &lists->size, n, sizeof(*lists->games)) < 0) {
		return -CHI_ENOMEM;
	}
	lists->payloads[lists->n_payloads++] = payload;
	return CHI_OK;
}

static int take_payload(struct chi_lists *lists, uint64_t payload)
{
	const struct chi_carried_plan *plan = lists->plan;
	uint32_t game = chi_count_game(payload);
	if (!hold(plan, &payload)) {
		return CHI_OK;
	}
	if (chi_carried_bit(plan->known, game)) {
		return count_payload(&lists->tally, payload);
	}
	return plan->numbers[game] != 0 ? add_payload(lists, payload) : CHI_OK;
}

int chi_lists_reach(struct chi_lists *lists, const uint8_t key[CHI_KEY_MAX],
		    struct chi_record *known, struct chi_fault *fault)
{
	int rc = CHI_OK;
	int order = -1;
	clear(&lists->tally);
	lists->n_payloads = 0;
	while (rc == CHI_OK && lists->item != NULL &&
	       (order = memcmp(lists->item->bytes, key, CHI_SORT_GROUP)) <= 0) {
		rc = order < 0 ? CHI_OK : take_payload(lists, chi_count_payload(lists->item));
		if (rc < 0) {
			return chi_fault_plain(fault, rc);
		}
		rc = order < 0 ? pass(lists, fault) : CHI_OK;
		rc = rc == CHI_OK ? next_item(lists, fault) : rc;
	}
	*known = record_of(&lists->tally);
	return rc;
}

int chi_lists_sum(struct chi_lists *lists, struct chi_record *sum)
{
	int rc = CHI_OK;
	clear(&lists->tally);
	for (size_t i = 0; rc == CHI_OK && i < lists->n_payloads; i++) {
		uint32_t game = chi_count_game(lists->payloads[i]);
		rc = chi_carried_bit(lists->plan->pruned, game)
			     ? CHI_OK
			     : count_payload(&lists->tally, lists->payloads[i]);
	}
	*sum = record_of(&lists->tally);
	return rc;
}

bool chi_lists_peek(const struct chi_lists *lists, struct chi_key *key)
{
	if (lists->item == NULL) {
		return false;
	}
	*key = (struct chi_key){.len = (uint8_t)chi_key_length(lists->item->bytes)};
	memcpy(key->bytes, lists->item->bytes, CHI_KEY_MAX);
	return true;
}

uint64_t chi_lists_uncertain(const struct chi_lists *lists)
{
	return lists->uncertain;
}

int chi_lists_end(struct chi_lists *lists, struct chi_fault *fault)
{
	int rc = CHI_OK;
	while (rc == CHI_OK && lists->item != NULL) {
		rc = pass(lists, fault);
		rc = rc == CHI_OK ? next_item(lists, fault) : rc;
	}
	return rc;
}

/* ---- Lists -------------------------------------------------------------------------------- */

static int compare_postings(const void *a, const void *b)
{
	const struct chi_posting *x = a;
	const struct chi_posting *y = b;
	return x->game != y->game ? (x->game < y->game ? -1 : 1)
				  : (x->move > y->move) - (x->move < y->move);
}

/* One game's payloads, which follow one another, all or none. */
static int list_game(struct chi_lists *lists, const uint64_t *payloads, size_t n,
		     const struct chi_record *record, bool pruned, size_t *listed)
{
	uint32_t number = lists->plan->numbers[chi_count_game(payloads[0])];
	bool room = true;
	for (size_t i = 0; i < n && room; i++) {
		room = has_room(&lists->tally, record, payloads[i]);
	}
	if (!room) {
		lists->n_left++;
		return pruned ? CHI_OK : -CHI_ESYNTAX;
	}
	for (size_t i = 0; i < n; i++) {
		int rc = count_payload(&lists->tally, payloads[i]);
		if (rc < 0) {
			return rc;
		}
		lists->games[(*listed)++] =
			(struct chi_posting){.game = number, .move = chi_count_move(payloads[i])};
	}
	return CHI_OK;
}

/*
 * The games that must be in the list, or those that may be; from the last one on. A new position
 * without enough games is dropped with those that it has, once it is stored all later ones count:
 * of games that may be in its list those are that came last, as many as it counts.
 */
static int list_games(struct chi_lists *lists, const struct chi_record *record, bool pruned,
		      size_t *listed)
{
	const uint64_t *payloads = lists->payloads;
	int rc = CHI_OK;
	for (size_t end = lists->n_payloads, i; rc == CHI_OK && end > 0; end = i) {
		uint32_t game = chi_count_game(payloads[end - 1]);
		for (i = end - 1; i > 0 && chi_count_game(payloads[i - 1]) == game;) {
			i--;
		}
		if (chi_carried_bit(lists->plan->pruned, game) == pruned) {
			rc = list_game(lists, payloads + i, end - i, record, pruned, listed);
		}
	}
	return rc;
}

int chi_lists_games(struct chi_lists *lists, const struct chi_record *record,
		    struct chi_posting **games, size_t *n, struct chi_fault *fault)
{
	*games = lists->games;
	*n = 0;
	if (lists->n_payloads == 0) {
		return CHI_OK;
	}
	clear(&lists->tally);
	lists->n_left = 0;
	int rc = list_games(lists, record, false, n);
	size_t certain = *n;
	rc = rc == CHI_OK ? list_games(lists, record, true, n) : rc;
	lists->uncertain += lists->n_left > 0 && *n > certain;
	qsort(lists->games, *n, sizeof(*lists->games), compare_postings);
	return rc == -CHI_ESYNTAX
		       ? chi_fail(fault, rc,
				  "games and positions are damaged: a position counts less than "
				  "its games say")
	       : rc < 0 ? chi_fault_plain(fault, rc)
			: CHI_OK;
}
