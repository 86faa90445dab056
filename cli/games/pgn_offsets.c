/* SPDX-License-Identifier: MIT */
/* A line is 16 hexadecimal digits, a blank and 16 more: a search halves what is left by one read.
 */
#include "cli/games/pgn_offsets.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/file.h"

#define LINE 34 /* with its line feed */

static const char first_line[LINE + 1] = "chistore chess-db 1              \n";

struct game_place {
	uint64_t hash;
	uint64_t offset;
};

struct pgn_offsets {
	struct game_place *places;
	size_t n;
	size_t room;
};

/* ---- What tells games apart ---------------------------------------------------------------- */

/* The archive keeps longer values than the reader that finds offsets does. */
#define TAG_MOST 255

static uint64_t add_text(uint64_t hash, const char *text, size_t len)
{
	return XXH3_64bits_withSeed(text != NULL ? text : "", len < TAG_MOST ? len : TAG_MOST,
				    hash);
}

static uint64_t add_moves(uint64_t hash, uint8_t result, const chi_move *moves, size_t n)
{
	hash = XXH3_64bits_withSeed(&result, 1, hash);
	return XXH3_64bits_withSeed(moves, n * sizeof(*moves), hash);
}

static uint64_t hash_of_text(const struct chi_pgn_game *game)
{
	static const enum chi_pgn_tag tags[] = {CHI_PGN_WHITE, CHI_PGN_BLACK, CHI_PGN_DATE};
	uint64_t hash = 0;
	for (size_t i = 0; i < CHI_COUNT(tags); i++) {
		const struct chi_pgn_span *value = &game->tags[tags[i]];
		hash = add_text(hash, value->text, value->len);
	}
	return add_moves(hash, (uint8_t)game->result, game->moves, game->n_plies);
}

static uint64_t add_tag(uint64_t hash, const struct chi_game *game, const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		if (tag->name_len == len && memcmp(tag->name, name, len) == 0) {
			return add_text(hash, tag->value, tag->value_len);
		}
	}
	return add_text(hash, NULL, 0);
}

static uint64_t hash_of_stored(const struct chi_game *game)
{
	uint64_t hash = add_tag(0, game, "White");
	hash = add_tag(hash, game, "Black");
	hash = add_tag(hash, game, "Date");
	return add_moves(hash, game->head.result, game->moves, game->n_plies);
}

/* ---- Making ------------------------------------------------------------------------------ */

int pgn_offsets_new(struct pgn_offsets **out)
{
	*out = calloc(1, sizeof(**out));
	return *out != NULL ? CHI_OK : -CHI_ENOMEM;
}

void pgn_offsets_free(struct pgn_offsets *offsets)
{
	if (offsets != NULL) {
		free(offsets->places);
		free(offsets);
	}
}

static int add_place(struct pgn_offsets *offsets, uint64_t hash, uint64_t offset)
{
	if (offsets->n == offsets->room) {
		size_t room = offsets->room > 0 ? 2 * offsets->room : 1024;
		struct game_place *more = reallocarray(offsets->places, room, sizeof(*more));
		if (more == NULL) {
			return -CHI_ENOMEM;
		}
		offsets->places = more;
		offsets->room = room;
	}
	offsets->places[offsets->n++] = (struct game_place){.hash = hash, .offset = offset};
	return CHI_OK;
}

int pgn_offsets_add(struct pgn_offsets *offsets, const struct chi_pgn_game *game, uint64_t offset)
{
	return add_place(offsets, hash_of_text(game), offset);
}

static int by_hash(const void *a, const void *b)
{
	const struct game_place *x = a;
	const struct game_place *y = b;
	if (x->hash != y->hash) {
		return x->hash < y->hash ? -1 : 1;
	}
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort(struct pgn_offsets *offsets)
{
	if (offsets->n > 0) {
		qsort(offsets->places, offsets->n, sizeof(*offsets->places), by_hash);
	}
}

static bool write_places(struct pgn_offsets *offsets, FILE *file)
{
	bool good = fputs(first_line, file) >= 0;
	sort(offsets);
	for (size_t i = 0; good && i < offsets->n; i++) {
		const struct game_place *place = &offsets->places[i];
		if (i == 0 || place->hash != place[-1].hash) {
			good = fprintf(file, "%016" PRIx64 " %016" PRIx64 "\n", place->hash,
				       place->offset) == LINE;
		}
	}
	return good && fflush(file) == 0;
}

static int fail_offsets(const char *path, int error, struct chi_fault *fault)
{
	int status = error == ENOENT			  ? -CHI_ENOSTORE
		     : error == EACCES			  ? -CHI_EACCES
		     : error == ENOSPC || error == EDQUOT ? -CHI_EFULL
							  : -CHI_EIO;
	return chi_fault(fault, status, "%s: %s", path, strerror(error));
}

int pgn_offsets_save(struct pgn_offsets *offsets, const char *path, uint64_t *bytes,
		     struct chi_fault *fault)
{
	char temporary[PATH_MAX];
	int n = snprintf(temporary, sizeof(temporary), "%s.%ld.tmp", path, (long)getpid());
	if (n < 0 || (size_t)n >= sizeof(temporary)) {
		return fail_offsets(path, ENAMETOOLONG, fault);
	}
	int status = chi_store_files_spare(path, fault);
	if (status < 0) {
		return status;
	}
	/* Where others write, a file of that name may be theirs, or a link of theirs. */
	FILE *file = fopen(temporary, "wxe");
	if (file == NULL) {
		return fail_offsets(temporary, errno, fault);
	}
	int error = write_places(offsets, file) && fsync(fileno(file)) == 0 ? 0 : errno;
	*bytes = (uint64_t)ftello(file);
	error = fclose(file) == 0 || error != 0 ? error : errno;
	if (error == 0 && rename(temporary, path) == 0) {
		return CHI_OK;
	}
	error = error != 0 ? error : errno;
	(void)unlink(temporary);
	return fail_offsets(path, error, fault);
}

/* ---- Looking up -------------------------------------------------------------------------- */

int pgn_offsets_open(const char *path, int *out, struct chi_fault *fault)
{
	char line[LINE];
	_cleanup_(chi_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return fail_offsets(path, errno, fault);
	}
	if (chi_file_pread(fd, line, LINE, 0) < 0 || memcmp(line, first_line, LINE) != 0) {
		return chi_fault(fault, -CHI_ECORRUPT, "%s: chess-db has not made this file", path);
	}
	*out = fd;
	fd = -1;
	return CHI_OK;
}

static int read_place(int fd, const char *path, uint64_t at, struct game_place *out,
		      struct chi_fault *fault)
{
	char line[LINE + 1] = "";
	int status = chi_file_pread(fd, line, LINE, (at + 1) * LINE);
	if (status < 0) {
		return chi_fault(fault, status, "%s: %s", path, chi_strerror(status));
	}
	if (sscanf(line, "%16" SCNx64 " %16" SCNx64 "\n", &out->hash, &out->offset) != 2) {
		return chi_fault(fault, -CHI_ECORRUPT,
				 "%s: line %" PRIu64 " is damaged; remove this file and the store "
				 "beside it, and make the book again",
				 path, at + 2);
	}
	return CHI_OK;
}

int pgn_offsets_find(int fd, const char *path, const struct chi_game *game, uint64_t *offset,
		     struct chi_fault *fault)
{
	uint64_t wanted = hash_of_stored(game);
	struct stat status;
	if (fstat(fd, &status) < 0) {
		return fail_offsets(path, errno, fault);
	}
	uint64_t low = 0;
	uint64_t high = (uint64_t)status.st_size / LINE - 1;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		struct game_place place;
		int rc = read_place(fd, path, middle, &place, fault);
		if (rc < 0) {
			return rc;
		}
		if (place.hash == wanted) {
			*offset = place.offset;
			return CHI_OK;
		}
		low = place.hash < wanted ? middle + 1 : low;
		high = place.hash < wanted ? high : middle;
	}
	return CHI_NONE;
}

/* ---- What a file no longer has -------------------------------------------------------------- */

/* The place of the first that is not below. */
static size_t find_hash(const struct pgn_offsets *offsets, uint64_t hash)
{
	size_t low = 0;
	size_t high = offsets->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		bool below = offsets->places[middle].hash < hash;
		low = below ? middle + 1 : low;
		high = below ? high : middle;
	}
	return low;
}

static bool has_hash(const struct pgn_offsets *offsets, uint64_t hash)
{
	size_t at = find_hash(offsets, hash);
	return at < offsets->n && offsets->places[at].hash == hash;
}

bool pgn_offsets_has(const struct pgn_offsets *offsets, const struct chi_game *game)
{
	return has_hash(offsets, hash_of_stored(game));
}

int pgn_offsets_lost(struct pgn_offsets *offsets, const char *path, struct pgn_offsets **out,
		     struct chi_fault *fault)
{
	_cleanup_(chi_closep) int fd = -1;
	struct stat file;
	struct chi_fault other;
	struct pgn_offsets *lost = NULL;
	*out = NULL;
	sort(offsets);
	if (pgn_offsets_open(path, &fd, &other) < 0) {
		return CHI_OK;
	}
	if (fstat(fd, &file) < 0) {
		return fail_offsets(path, errno, fault);
	}
	int status = pgn_offsets_new(&lost);
	for (uint64_t i = 0; status == CHI_OK && (i + 2) * LINE <= (uint64_t)file.st_size; i++) {
		struct game_place place;
		status = read_place(fd, path, i, &place, fault);
		if (status == CHI_OK && !has_hash(offsets, place.hash)) {
			status = add_place(lost, place.hash, place.offset);
		}
	}
	if (status == CHI_OK && lost->n > 0) {
		*out = lost;
	} else {
		pgn_offsets_free(lost);
	}
	return status;
}
