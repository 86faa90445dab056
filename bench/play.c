/* SPDX-License-Identifier: MIT */
/* The moves of random games, and the positions they have led to. */
#include "bench/play.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

#define SLOTS_FIRST ((size_t)1 << 16)

static uint64_t hash(const struct chi_key *key)
{
	uint64_t words[3];
	uint64_t state = 0;
	memcpy(words, key->bytes, sizeof(words));
	for (size_t i = 0; i < 3; i++) {
		state = bench_random(&state) ^ words[i];
	}
	return bench_random(&state);
}

/* The key's slot, or the free one where it would be. */
static struct chi_key *find(const struct bench_seen *seen, const struct chi_key *key)
{
	size_t mask = seen->n_slots - 1;
	size_t i = hash(key) & mask;
	while (seen->slots[i].len != 0 && memcmp(&seen->slots[i], key, sizeof(*key)) != 0) {
		i = (i + 1) & mask;
	}
	return &seen->slots[i];
}

static void grow(struct bench_seen *seen)
{
	struct bench_seen more = {.n_slots = seen->n_slots == 0 ? SLOTS_FIRST : seen->n_slots * 2,
				  .n = seen->n};
	more.slots = calloc(more.n_slots, sizeof(*more.slots));
	if (more.slots == NULL) {
		bench_die("out of memory at %zu positions", seen->n);
	}
	for (size_t i = 0; i < seen->n_slots; i++) {
		if (seen->slots[i].len != 0) {
			*find(&more, &seen->slots[i]) = seen->slots[i];
		}
	}
	free(seen->slots);
	*seen = more;
}

bool bench_seen_add(struct bench_seen *seen, const struct chi_key *key)
{
	if (seen->n * 2 >= seen->n_slots) {
		grow(seen);
	}
	struct chi_key *slot = find(seen, key);
	if (slot->len != 0) {
		return false;
	}
	*slot = *key;
	seen->n++;
	return true;
}

void bench_seen_free(struct bench_seen *seen)
{
	free(seen->slots);
	*seen = (struct bench_seen){0};
}

chi_move bench_draw_move(const struct chi_position *position, const struct chi_move_list *list,
			 uint64_t *state)
{
	uint64_t enemy = position->colour[position->side ^ 1];
	chi_move move = 0;
	for (int i = 0; i < 3; i++) {
		move = list->moves[bench_random(state) % list->n];
		if ((enemy & chi_bit(chi_move_to(move))) != 0) {
			break;
		}
	}
	return move;
}
