/* SPDX-License-Identifier: MIT */
/*
 * make_store STORE LISTS COUNT PROBES MEMORY: an outcome store of at least COUNT positions, and 9 %
 * more at most, straight into the loader: what importing random games would make, without writing
 * them down as text first. So it makes a hundred million within minutes. MEMORY (MiB) is what it
 * sorts in; what is more is spilled beside the store.
 *
 * LISTS gets games.keys, PROBES positions as games go, and random.keys, as many of all positions,
 * drawn at random and shuffled. The same arguments always make the same store.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/sorter.h"
#include "bench/bench.h"
#include "bench/lists.h"
#include "bench/play.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "store/load/load.h"

#define COUNT_MAX     10000000000u
#define PROBES_MAX    100000000u
#define MEMORY_MAX    1000000u /* MiB */
#define THREADS	      4	       /* of the players: a fixed number, so that the games are the same */
#define PLIES_MAX     100
#define START	      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define SEED	      20040303
#define OVERSHOOT     12 /* one of so many positions played is another's twin, at most */
#define BLOCK_RECORDS 4096
#define PART_ITEMS    ((uint64_t)1 << 20)

/* After the key of an item: who won, and when and how the game went on. */
struct tail {
	uint16_t result;
	uint16_t ply;
	chi_move move;
	uint16_t zero;
};
_Static_assert(CHI_SORT_GROUP == CHI_KEY_MAX && sizeof(struct tail) == 8, "an item holds both");

struct player {
	struct chi_sorter *sorter;
	struct bench_list games; /* the first `probes` positions */
	size_t capacity;
	size_t probes;
	uint64_t plies; /* still to be played */
	uint64_t random;
	struct chi_sort_item *items;
	size_t room;
	size_t n;
	uint64_t results[3];
};

struct maker {
	const char *store;
	const char *folder;
	uint64_t count;
	size_t probes;
	uint64_t memory;
	struct chi_sorter *sorter;
	struct bench_list games;
	struct bench_list sample;
	size_t sample_room;
	uint64_t stored;
	uint64_t random;
	struct chi_load *load;
	struct chi_load_spec spec;
	struct chi_load_block block;
};

static void must(int status, const struct chi_fault *fault, const char *what)
{
	if (status < 0) {
		bench_die("%s: %s", what,
			  fault->text[0] != '\0' ? fault->text : chi_strerror(status));
	}
}

/* ---- Playing ------------------------------------------------------------------------------- */

static void add_item(struct player *player, const struct chi_key *key, const struct tail *tail)
{
	struct chi_fault fault = {""};
	if (player->n == player->room) {
		if (player->room > 0) {
			must(chi_sorter_give(player->sorter, player->items, player->n, &fault),
			     &fault, "sorting");
		}
		must(chi_sorter_take(player->sorter, &player->items, &player->room, &fault), &fault,
		     "sorting");
		player->n = 0;
	}
	uint8_t *bytes = player->items[player->n++].bytes;
	memcpy(bytes, key->bytes, CHI_KEY_MAX); /* zeros after its end */
	memcpy(bytes + CHI_SORT_GROUP, tail, sizeof(*tail));
	if (player->games.n < player->probes) {
		bench_list_append(&player->games, &player->capacity, key);
	}
}

static void play_game(struct player *player, const struct chi_position *start)
{
	struct chi_position position = *start;
	uint16_t result = (uint16_t)(bench_random(&player->random) % 3);
	player->results[result]++;
	for (uint16_t ply = 0; ply < PLIES_MAX && player->plies > 0; ply++) {
		struct chi_move_list list;
		struct chi_key key;
		struct tail tail = {.result = result, .ply = ply};
		chi_key_encode(&position, &key);
		chi_movegen_legal(&position, &list);
		if (list.n > 0) {
			struct chi_position next;
			tail.move = bench_draw_move(&position, &list, &player->random);
			chi_position_play(&position, tail.move, &next);
			position = next;
		}
		add_item(player, &key, &tail);
		player->plies--;
		if (list.n == 0) {
			break;
		}
	}
}

static void *play(void *context)
{
	struct player *player = context;
	struct chi_fault fault = {""};
	struct chi_position start;
	if (chi_fen_parse(START, strlen(START), &start, NULL) != CHI_OK) {
		bench_die("the initial position is refused");
	}
	while (player->plies > 0) {
		play_game(player, &start);
	}
	if (player->room > 0) {
		must(chi_sorter_give(player->sorter, player->items, player->n, &fault), &fault,
		     "sorting");
	}
	return NULL;
}

static void play_all(struct maker *maker, uint64_t results[3])
{
	struct player players[THREADS];
	pthread_t threads[THREADS];
	size_t capacity = 0;
	for (size_t i = 0; i < THREADS; i++) {
		players[i] = (struct player){
			.sorter = maker->sorter,
			.probes = maker->probes / THREADS,
			.plies = (maker->count + maker->count / OVERSHOOT) / THREADS + 1,
			.random = SEED + i,
		};
		if (pthread_create(&threads[i], NULL, play, &players[i]) != 0) {
			bench_die("no thread can be started");
		}
	}
	for (size_t i = 0; i < THREADS; i++) {
		(void)pthread_join(threads[i], NULL);
		for (size_t j = 0; j < 3; j++) {
			results[j] += players[i].results[j];
		}
		for (size_t j = 0; j < players[i].games.n; j++) {
			bench_list_append(&maker->games, &capacity, &players[i].games.keys[j]);
		}
		bench_list_free(&players[i].games);
	}
}

/* ---- Storing ------------------------------------------------------------------------------- */

/* One entry for each game, so that the base rates are those of the games. */
static void store_games(struct maker *maker, const uint64_t results[3])
{
	uint64_t number = 0;
	for (uint8_t result = 0; result < 3; result++) {
		for (uint64_t i = 0; i < results[result]; i++) {
			struct chi_game_id game = {.result = result};
			number++;
			for (int byte = 0; byte < 8; byte++) {
				game.id[byte] = (uint8_t)(number >> (56 - 8 * byte));
			}
			if (chi_load_game(maker->load, &game) < 0) {
				bench_die("game %" PRIu64 " cannot be stored", number);
			}
		}
	}
}

/* Any `probes` of all, each with the same chance. */
static void sample(struct maker *maker, const struct chi_key *key)
{
	maker->stored++;
	if (maker->sample.n < maker->probes) {
		bench_list_append(&maker->sample, &maker->sample_room, key);
		return;
	}
	uint64_t place = bench_random(&maker->random) % maker->stored;
	if (place < maker->probes) {
		maker->sample.keys[place] = *key;
	}
}

static void apply(struct maker *maker)
{
	struct chi_fault fault = {""};
	must(chi_load_apply(maker->load, &maker->block, &fault), &fault, "storing");
	maker->block.len = 0;
	maker->block.n = 0;
}

/* All games that reached one position. */
static void store_position(struct maker *maker, const struct chi_sort_item *item,
			   const struct chi_counts *counts, const struct tail *tail)
{
	struct chi_fault fault = {""};
	struct chi_key key = {.len = (uint8_t)chi_key_length(item->bytes)};
	struct chi_record record = {.counts = *counts};
	memcpy(key.bytes, item->bytes, CHI_KEY_MAX);
	int rc = counts->white + counts->draws + counts->black == 1
			 ? chi_load_pack_one(&maker->spec, key.bytes, key.len,
					     (enum chi_result)tail->result, tail->ply, tail->move,
					     0, &maker->block)
			 : chi_load_pack(&maker->spec, &key, &record, NULL, 0, &maker->block);
	must(rc, &fault, "packing");
	sample(maker, &key);
	if (maker->block.n == BLOCK_RECORDS) {
		apply(maker);
	}
}

static void store_part(struct maker *maker, size_t part)
{
	struct chi_fault fault = {""};
	struct chi_sort_reader *reader;
	const struct chi_sort_item *next;
	struct chi_sort_item item;
	struct tail tail;
	struct chi_counts counts = {0};
	uint64_t n = 0;
	int rc;
	must(chi_sort_open(maker->sorter, part, &reader, &fault), &fault, "sorting");
	while ((rc = chi_sort_next(reader, &next)) == CHI_OK) {
		if (n > 0 && memcmp(item.bytes, next->bytes, CHI_SORT_GROUP) != 0) {
			store_position(maker, &item, &counts, &tail);
			counts = (struct chi_counts){0};
			n = 0;
		}
		item = *next;
		memcpy(&tail, item.bytes + CHI_SORT_GROUP, sizeof(tail));
		counts.white += tail.result == CHI_RESULT_WHITE;
		counts.draws += tail.result == CHI_RESULT_DRAW;
		counts.black += tail.result == CHI_RESULT_BLACK;
		n++;
	}
	if (rc != CHI_NONE) {
		bench_die("sorting: %s", chi_strerror(rc));
	}
	chi_sort_close(reader);
	if (n > 0) {
		store_position(maker, &item, &counts, &tail);
	}
}

static void make(struct maker *maker)
{
	struct chi_fault fault = {""};
	struct chi_put_result put = {0};
	struct chi_load_options options = {
		.expected = maker->count, .memory = maker->memory, .dir = maker->folder};
	uint64_t results[3] = {0};
	uint64_t dropped = 0;
	size_t n_parts;
	must(chi_sorter_new(maker->folder, maker->memory, THREADS, &maker->sorter), &fault,
	     "sorting");
	play_all(maker, results);
	must(chi_sorter_seal(maker->sorter, PART_ITEMS, &n_parts, &fault), &fault, "sorting");
	must(chi_load_new(maker->store, CHI_STATISTIC_OUTCOME, CHI_KEEP_COUNTS, &maker->load,
			  &fault),
	     &fault, maker->store);
	store_games(maker, results);
	must(chi_load_start(maker->load, &options, &maker->spec, &fault), &fault, "storing");
	for (size_t part = 0; part < n_parts; part++) {
		store_part(maker, part);
	}
	apply(maker);
	chi_sorter_free(maker->sorter);
	must(chi_load_finish(maker->load, &put, &dropped, &fault), &fault, "storing");
	chi_load_block_free(&maker->block);
}

static uint64_t number(const char *text, uint64_t most)
{
	uint64_t value = 0;
	if (chi_num_u64(text, strlen(text), most, &value) != CHI_OK || value == 0) {
		bench_die("'%s' is not a number from 1 to %" PRIu64, text, most);
	}
	return value;
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: make_store STORE LISTS COUNT PROBES MEMORY\n");
		return 2;
	}
	struct maker maker = {
		.store = argv[1],
		.folder = argv[2],
		.count = number(argv[3], COUNT_MAX),
		.probes = (size_t)number(argv[4], PROBES_MAX),
		.memory = number(argv[5], MEMORY_MAX) << 20,
		.random = SEED,
	};
	make(&maker);
	bench_list_shuffle(&maker.sample);
	bench_list_save(maker.folder, "games", &maker.games);
	bench_list_save(maker.folder, "random", &maker.sample);
	bench_list_free(&maker.games);
	bench_list_free(&maker.sample);
	printf("%" PRIu64 "\n", maker.stored);
	return 0;
}
