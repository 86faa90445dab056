/* SPDX-License-Identifier: MIT */
/* Lists of keys in files. */
#include "bench/lists.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"

#define SHUFFLE_SEED 20040301

/* The structs themselves: programs of one build read what another one of it wrote. */
static FILE *open_list(const char *folder, const char *name, const char *mode)
{
	char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s.keys", folder, name);
	FILE *file = fopen(path, mode);
	if (file == NULL) {
		bench_die("cannot open '%s'", path);
	}
	return file;
}

void bench_list_save(const char *folder, const char *name, const struct bench_list *list)
{
	FILE *file = open_list(folder, name, "wb");
	size_t n = fwrite(list->keys, sizeof(*list->keys), list->n, file);
	if (fclose(file) != 0 || n != list->n) {
		bench_die("list '%s' cannot be written", name);
	}
}

void bench_list_load(const char *folder, const char *name, struct bench_list *out)
{
	size_t capacity = 0;
	struct chi_key key;
	FILE *file = open_list(folder, name, "rb");
	memset(out, 0, sizeof(*out));
	while (fread(&key, sizeof(key), 1, file) == 1) {
		bench_list_append(out, &capacity, &key);
	}
	if (ferror(file) || out->n == 0) {
		bench_die("list '%s' cannot be read, or is empty", name);
	}
	fclose(file);
}

void bench_list_free(struct bench_list *list)
{
	free(list->keys);
	memset(list, 0, sizeof(*list));
}

void bench_list_append(struct bench_list *list, size_t *capacity, const struct chi_key *key)
{
	if (list->n == *capacity) {
		*capacity = *capacity == 0 ? 65536 : *capacity * 2;
		list->keys = realloc(list->keys, *capacity * sizeof(*list->keys));
		if (list->keys == NULL) {
			bench_die("out of memory at %zu positions", list->n);
		}
	}
	list->keys[list->n++] = *key;
}

void bench_list_shuffle(struct bench_list *list)
{
	uint64_t state = SHUFFLE_SEED;
	for (size_t i = list->n; i > 1; i--) {
		size_t j = (size_t)(bench_random(&state) % i);
		struct chi_key key = list->keys[i - 1];
		list->keys[i - 1] = list->keys[j];
		list->keys[j] = key;
	}
}

void bench_keys_load(const char *folder, struct bench_keys *out)
{
	struct bench_list games;
	struct bench_list random;
	bench_list_load(folder, "games", &games);
	bench_list_load(folder, "random", &random);
	out->games = games.keys;
	out->random = random.keys;
	out->n = games.n < random.n ? games.n : random.n;
}

void bench_keys_free(struct bench_keys *keys)
{
	free(keys->games);
	free(keys->random);
	memset(keys, 0, sizeof(*keys));
}

static void take_games(struct chi_pgn *pgn, size_t most, struct bench_list *list, size_t *capacity)
{
	const struct chi_pgn_game *game;
	while (chi_pgn_next(pgn, &game) == CHI_OK) {
		for (size_t i = 0; i <= game->n_plies && game->n_plies > 0 && list->n < most; i++) {
			struct chi_key key;
			chi_key_encode(&game->positions[i], &key);
			bench_list_append(list, capacity, &key);
		}
	}
}

void bench_list_read_pgn(FILE *file, size_t most, struct bench_list *list, size_t *capacity)
{
	static char bytes[1 << 16];
	struct chi_pgn *pgn;
	size_t n;
	if (chi_pgn_new(&pgn) != CHI_OK) {
		bench_die("out of memory");
	}
	while (list->n < most && (n = fread(bytes, 1, sizeof(bytes), file)) > 0) {
		for (size_t used = 0; used < n;) {
			used += chi_pgn_feed(pgn, bytes + used, n - used);
			take_games(pgn, most, list, capacity);
		}
	}
	chi_pgn_finish(pgn);
	take_games(pgn, most, list, capacity);
	chi_pgn_free(pgn);
}
