/* SPDX-License-Identifier: MIT */
/* Printing the games of a dump, and what the archive has of them. */
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "chistore/names.h"
#include "store/text/dump.h"
#include "store/text/dump_priv.h"

/* A word, numbers and tabs of a line. */
#define NUMBERS_TEXT 192

/* Of a longer line of PGN each part becomes a line. */
#define PGN_PART ((size_t)1 << 20)

/* 0 stands for "not given". */
static void write_given(struct chi_writer *w, uint64_t value)
{
	chi_write_u8(w, '\t');
	if (value != 0) {
		chi_dump_u64(w, value);
	} else {
		chi_write_u8(w, '-');
	}
}

int chi_dump_print_game(const struct chi_game_id *game, struct chi_arena *arena, char **out,
			size_t *len)
{
	static const char *const results[] = DUMP_RESULTS;
	struct chi_writer w;
	char id[2 * CHI_GAME_ID_SIZE + 1];
	if (game->result >= CHI_COUNT(results)) {
		return -CHI_EINVAL;
	}
	if (chi_dump_begin(arena, NUMBERS_TEXT, &w, out) < 0) {
		return -CHI_ENOMEM;
	}
	chi_dump_put_text(&w, DUMP_GAME "\t");
	chi_hex_print(game->id, sizeof(game->id), id);
	chi_dump_put_text(&w, id);
	chi_write_u8(&w, '\t');
	chi_dump_put_text(&w, results[game->result]);
	write_given(&w, game->max_ply);
	chi_dump_put_text(&w, game->pruned ? "\t" DUMP_PRUNED : "\t-");
	if (game->number != 0) {
		write_given(&w, game->number);
	}
	chi_write_u8(&w, '\n');
	return chi_dump_finish(&w, *out, len);
}

int chi_dump_print_name(const struct chi_dump_name *name, struct chi_arena *arena, char **out,
			size_t *len)
{
	const char *kind = chi_name_kind_name(name->kind);
	struct chi_writer w;
	if (kind == NULL) {
		return -CHI_EINVAL;
	}
	if (chi_dump_begin(arena, NUMBERS_TEXT + name->len * DUMP_ESCAPED, &w, out) < 0) {
		return -CHI_ENOMEM;
	}
	chi_dump_put_text(&w, DUMP_NAME "\t");
	chi_dump_put_text(&w, kind);
	write_given(&w, name->id);
	chi_write_u8(&w, '\t');
	chi_dump_escaped(&w, name->text, name->len, "");
	write_given(&w, name->fide);
	chi_dump_put_text(&w, name->fide != 0 && name->given ? "+" : "");
	write_given(&w, name->root);
	chi_write_u8(&w, '\n');
	return chi_dump_finish(&w, *out, len);
}

/* Each line of it, without the empty ones at its end. */
static void write_pgn(struct chi_writer *w, const char *pgn, size_t len)
{
	while (len > 0 && pgn[len - 1] == '\n') {
		len--;
	}
	for (bool joined = false; len > 0;) {
		const char *stop = memchr(pgn, '\n', len);
		size_t n = stop != NULL ? (size_t)(stop - pgn) : len;
		bool whole = n <= PGN_PART;
		n = whole ? n : PGN_PART;
		chi_write_u8(w, joined ? DUMP_PGN_JOINED : DUMP_PGN);
		chi_write_bytes(w, pgn, n);
		chi_write_u8(w, '\n');
		joined = !whole;
		n += whole && stop != NULL;
		pgn += n;
		len -= n;
	}
}

int chi_dump_print_kept(uint32_t number, const char *source, const char *pgn, size_t pgn_len,
			struct chi_arena *arena, char **out, size_t *len)
{
	struct chi_writer w;
	size_t source_len = strlen(source);
	size_t lines = 2 + pgn_len / PGN_PART;
	for (size_t i = 0; i < pgn_len; i++) {
		lines += pgn[i] == '\n';
	}
	if (chi_dump_begin(arena, NUMBERS_TEXT + source_len * DUMP_ESCAPED + pgn_len + 2 * lines,
			   &w, out) < 0) {
		return -CHI_ENOMEM;
	}
	chi_dump_put_text(&w, DUMP_KEPT);
	write_given(&w, number);
	chi_write_u8(&w, '\t');
	chi_dump_escaped(&w, source, source_len, "");
	chi_write_u8(&w, '\n');
	write_pgn(&w, pgn, pgn_len);
	return chi_dump_finish(&w, *out, len);
}

int chi_dump_print_gameset(const char *name, const char *filter, struct chi_arena *arena,
			   char **out, size_t *len)
{
	struct chi_writer w;
	size_t size = strlen(name) + strlen(filter);
	if (chi_dump_begin(arena, NUMBERS_TEXT + size * DUMP_ESCAPED, &w, out) < 0) {
		return -CHI_ENOMEM;
	}
	chi_dump_put_text(&w, DUMP_GAMESET "\t");
	chi_dump_escaped(&w, name, strlen(name), "");
	chi_write_u8(&w, '\t');
	chi_dump_escaped(&w, filter, strlen(filter), "");
	chi_write_u8(&w, '\n');
	return chi_dump_finish(&w, *out, len);
}

int chi_dump_print_tail(const struct chi_dump_tail *tail, bool archive, struct chi_arena *arena,
			char **out, size_t *len)
{
	const uint64_t numbers[DUMP_END_NUMBERS_ARCHIVE] = {tail->positions, tail->games,
							    tail->names,     tail->kept,
							    tail->gamesets,  tail->last_game};
	struct chi_writer w;
	if (chi_dump_begin(arena, NUMBERS_TEXT, &w, out) < 0) {
		return -CHI_ENOMEM;
	}
	chi_dump_put_text(&w, DUMP_END);
	for (size_t i = 0; i < (archive ? DUMP_END_NUMBERS_ARCHIVE : DUMP_END_NUMBERS); i++) {
		chi_write_u8(&w, '\t');
		chi_dump_u64(&w, numbers[i]);
	}
	chi_write_u8(&w, '\n');
	return chi_dump_finish(&w, *out, len);
}
