/* SPDX-License-Identifier: MIT */
/* Whole games in and out of the archive: the same tags, moves and notes, by number and in order. */
#include "tests/store/help.h"

#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"
#include "store/chain/chain.h"
#include "store/games/archive.h"
#include "store/games/tags.h"
#include "tests/store/archive.h"

/* Games of the files in tests/data/pgn, in the form of the archive. */
static struct chi_game *games;
static size_t n_games;
static struct chi_arena texts;

/* Tags beside the moves, in the order of the reader's. */
static const struct {
	enum chi_pgn_tag tag;
	const char *name;
} tag_names[] = {
	{CHI_PGN_EVENT, "Event"},
	{CHI_PGN_SITE, "Site"},
	{CHI_PGN_DATE, "Date"},
	{CHI_PGN_ROUND, "Round"},
	{CHI_PGN_WHITE, "White"},
	{CHI_PGN_BLACK, "Black"},
	{CHI_PGN_ECO, "ECO"},
	{CHI_PGN_WHITE_ELO, "WhiteElo"},
	{CHI_PGN_BLACK_ELO, "BlackElo"},
	{CHI_PGN_WHITE_TITLE, "WhiteTitle"},
	{CHI_PGN_TIME_CONTROL, "TimeControl"},
	{CHI_PGN_TERMINATION, "Termination"},
	{CHI_PGN_ANNOTATOR, "Annotator"},
	{CHI_PGN_VARIANT, "Variant"},
};

static void keep(const struct chi_pgn_game *from)
{
	games = realloc(games, (n_games + 1) * sizeof(*games));
	assert_non_null(games);
	struct chi_game *to = &games[n_games++];
	struct chi_tag *tags = chi_arena_array(&texts, CHI_COUNT(tag_names), sizeof(*tags));
	chi_move *moves = chi_arena_array(&texts, from->n_plies, sizeof(*moves));
	struct chi_key start;
	*to = (struct chi_game){.tags = tags, .moves = moves, .n_plies = from->n_plies};
	for (size_t i = 0; i < CHI_COUNT(tag_names); i++) {
		const struct chi_pgn_span *span = &from->tags[tag_names[i].tag];
		if (span->text != NULL) {
			tags[to->n_tags++] = (struct chi_tag){
				tag_names[i].name, strlen(tag_names[i].name),
				chi_arena_text(&texts, span->text, span->len), span->len};
		}
	}
	memcpy(moves, from->moves, from->n_plies * sizeof(*moves));
	to->head.plies = (uint16_t)from->n_plies;
	to->head.result = (uint8_t)from->result;
	chi_key_encode(&from->positions[0], &start);
	to->has_start = from->tags[CHI_PGN_FEN].text != NULL;
	if (to->has_start) {
		to->start = start;
	}
	if (n_games % 7 == 0) {
		to->notes = (const uint8_t *)"\x08\xe7\x02";
		to->n_notes = 3;
	}
	if (n_games % 11 == 0) {
		to->rest = "Ke9 e5";
		to->n_rest = 6;
	}
}

static void read_file(const char *path)
{
	struct chi_pgn *pgn;
	const struct chi_pgn_game *game;
	char piece[4096];
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	ok(chi_pgn_new(&pgn));
	for (bool open = true; open;) {
		size_t len = fread(piece, 1, sizeof(piece), file);
		open = len > 0;
		for (size_t at = 0; at < len;) {
			at += chi_pgn_feed(pgn, piece + at, len - at);
			while (chi_pgn_next(pgn, &game) == CHI_OK) {
				keep(game);
			}
		}
	}
	chi_pgn_finish(pgn);
	while (chi_pgn_next(pgn, &game) == CHI_OK) {
		keep(game);
	}
	chi_pgn_free(pgn);
	fclose(file);
}

/* CHISTORE_TEST_GAMES names another file, for a run by hand. */
static int read_games(void **state)
{
	static const char *const names[] = {"games_300.pgn",	    "cutechess-fischerrandom.pgn",
					    "anastasian-lewis.pgn", "hayes.pgn",
					    "romero.pgn",	    "ambiguous.pgn",
					    "uci-moves.pgn",	    "utf8-bom.pgn"};
	const char *other = getenv("CHISTORE_TEST_GAMES");
	const char *folder = getenv("CHISTORE_TEST_DATA");
	(void)state;
	chi_arena_init(&texts, SIZE_MAX);
	if (other != NULL) {
		read_file(other);
		return 0;
	}
	assert_non_null(folder);
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		char path[512];
		snprintf(path, sizeof(path), "%s/pgn/%s", folder, names[i]);
		read_file(path);
	}
	return 0;
}

static int forget_games(void **state)
{
	(void)state;
	chi_arena_deinit(&texts);
	free(games);
	return 0;
}

/* ---- Filling ----------------------------------------------------------------------------- */

struct filling {
	struct chi_name_cache *names;
	struct chi_traits_writer *traits;
	struct chi_archive_writer *writer;
};

static struct filling begin(struct archive *archive)
{
	struct filling filling;
	ok(chi_name_cache_new(8 << 20, &filling.names));
	ok(chi_traits_writer_new(4096, &filling.traits));
	ok(chi_archive_writer_new(archive->txn, &archive->trees, filling.names, filling.traits,
				  &filling.writer));
	return filling;
}

static void finish(struct archive *archive, struct filling *filling)
{
	ok(chi_archive_flush(filling->writer));
	ok(chi_names_flush(filling->names, archive->txn, archive->trees.names));
	ok(chi_traits_flush(filling->traits, archive->txn, archive->trees.traits));
	chi_archive_writer_free(filling->writer);
	chi_traits_writer_free(filling->traits);
	chi_name_cache_free(filling->names);
}

/* Half of the games in one go, the others one by one. */
static void fill(struct archive *archive)
{
	struct filling filling = begin(archive);
	for (size_t i = 0; i < n_games; i++) {
		games[i].head.number = (uint32_t)i + 1;
		games[i].head.source = 7;
		ok(archive_put(filling.writer, &games[i]));
		if (i >= n_games / 2 && i % 16 == 0) {
			finish(archive, &filling);
			filling = begin(archive);
		}
	}
	finish(archive, &filling);
}

static struct chi_archive_reader *reader_of(struct archive *archive)
{
	struct chi_archive_reader *reader;
	ok(chi_archive_reader_new(&reader));
	ok(chi_archive_reader_begin(reader, archive->txn, &archive->trees));
	return reader;
}

/* The moves alone are those of the whole game. */
static void check_moves(struct chi_archive_reader *reader, const struct chi_game *game,
			uint32_t number)
{
	struct chi_game_moves found;
	struct chi_replay replay;
	struct chi_key start;
	chi_move move;
	ok(chi_archive_moves(reader, number, &found));
	assert_int_equal(found.has_start, game->has_start);
	chi_key_encode(&found.start, &start);
	if (game->has_start) {
		assert_memory_equal(&start, &game->start, sizeof(start));
	}
	chi_replay_init(&replay, &found.start, found.bytes, found.len);
	for (size_t i = 0; i < game->n_plies; i++) {
		ok(chi_replay_next(&replay, &move));
		assert_int_equal(move, game->moves[i]);
	}
	assert_int_equal(chi_replay_next(&replay, &move), CHI_NONE);
}

/* Among the game's tags, wherever they are. */
static void check_texts(struct chi_archive_reader *reader, const struct chi_game *game,
			const struct chi_game_head *head)
{
	static const char *const names[CHI_GAME_TEXTS] = {"White", "Black", "Event", "Site",
							  "Round"};
	struct chi_span found[CHI_GAME_TEXTS];
	ok(chi_archive_texts(reader, head, found));
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *tag = &game->tags[i];
		for (size_t t = 0; t < CHI_GAME_TEXTS; t++) {
			if (tag->name_len == strlen(names[t]) &&
			    memcmp(tag->name, names[t], tag->name_len) == 0) {
				assert_int_equal(found[t].len, tag->value_len);
				assert_memory_equal(found[t].bytes, tag->value, tag->value_len);
			}
		}
	}
}

static void check(struct chi_archive_reader *reader, uint32_t number)
{
	struct chi_arena arena;
	struct chi_game found;
	const struct chi_game *game = &games[number - 1];
	chi_arena_init(&arena, 1 << 20);
	ok(chi_archive_game(reader, number, &arena, &found));
	assert_int_equal(found.head.number, number);
	assert_int_equal(found.head.source, 7);
	assert_int_equal(found.head.result, game->head.result);
	assert_int_equal(found.n_tags, game->n_tags);
	for (size_t i = 0; i < game->n_tags; i++) {
		const struct chi_tag *a = &game->tags[i];
		const struct chi_tag *b = &found.tags[i];
		assert_int_equal(a->name_len, b->name_len);
		assert_int_equal(a->value_len, b->value_len);
		assert_memory_equal(a->name, b->name, a->name_len);
		assert_memory_equal(a->value, b->value, a->value_len);
	}
	assert_int_equal(found.n_plies, game->n_plies);
	assert_memory_equal(found.moves, game->moves, game->n_plies * sizeof(chi_move));
	assert_int_equal(found.has_start, game->has_start);
	assert_memory_equal(&found.start, &game->start, sizeof(game->start));
	assert_int_equal(found.n_notes, game->n_notes);
	assert_memory_equal(found.notes, game->notes, game->n_notes);
	assert_int_equal(found.n_rest, game->n_rest);
	assert_memory_equal(found.rest, game->rest, game->n_rest);
	check_texts(reader, game, &found.head);
	chi_arena_deinit(&arena);
	check_moves(reader, game, number);
}

CASE(test_identity, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_arena arena;
	struct chi_game game;
	struct chi_game_head head;
	fill(archive);
	struct chi_archive_reader *reader = reader_of(archive);
	for (uint32_t number = 1; number <= n_games; number++) {
		check(reader, number);
	}
	for (unsigned i = 0; i < 1000; i++) {
		check(reader, 1 + help_below((unsigned)n_games));
	}
	chi_arena_init(&arena, 1 << 20);
	assert_int_equal(chi_archive_game(reader, 0, &arena, &game), CHI_NONE);
	assert_int_equal(chi_archive_game(reader, (uint32_t)n_games + 1, &arena, &game), CHI_NONE);
	assert_int_equal(chi_archive_head(reader, (uint32_t)n_games + 1, &head), CHI_NONE);
	chi_arena_deinit(&arena);
	chi_archive_reader_free(reader);
}

/* What filters ask for: players by number, the rest as numbers. */
CASE(test_head, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	static const struct chi_tag tags[] = {
		{"Event", 5, "Blitz", 5},
		{"Site", 4, "https://lichess.org/abcd", 24},
		{"Date", 4, "2001.02.??", 10},
		{"White", 5, "Kasparov, Garry", 15},
		{"Black", 5, "?", 1},
		{"WhiteElo", 8, "2849", 4},
		{"WhiteTitle", 10, "GM", 2},
		{"ECO", 3, "B90", 3},
		{"WhiteFideId", 11, "4100018", 7},
	};
	struct chi_game game = {.head = {.number = 5, .source = 2, .result = CHI_RESULT_DRAW},
				.tags = tags,
				.n_tags = CHI_COUNT(tags)};
	/* 1. e4 c5 is B20, whatever the tag says, which stays as it is. */
	static const chi_move moves[] = {12 << 6 | 28, 50 << 6 | 34};
	game.moves = moves;
	game.n_plies = game.head.plies = CHI_COUNT(moves);
	struct chi_game_head head;
	struct chi_game whole;
	struct chi_name name;
	struct filling filling = begin(archive);
	ok(archive_put(filling.writer, &game));
	assert_int_equal(archive_put(filling.writer, &game), -CHI_EINVAL);
	finish(archive, &filling);
	struct chi_archive_reader *reader = reader_of(archive);
	ok(chi_archive_head(reader, 5, &head));
	assert_int_equal(head.year, 2001);
	assert_int_equal(head.month, 2);
	assert_int_equal(head.day, 0);
	assert_int_equal(head.white_elo, 2849);
	assert_int_equal(head.black_elo, 0);
	assert_int_equal(head.eco, 121);
	assert_int_equal(head.white_title, CHI_TITLE_GM);
	assert_int_equal(head.speed, CHI_SPEED_BLITZ);
	assert_int_equal(head.result, CHI_RESULT_DRAW);
	assert_int_equal(head.source, 2);
	assert_int_equal(head.black, 0);
	ok(chi_archive_game(reader, 5, &texts, &whole));
	assert_memory_equal(whole.tags[7].value, "B90", 3);
	ok(chi_name_text(archive->txn, archive->trees.names, CHI_NAME_PLAYER, head.white, &name));
	assert_int_equal(name.fide, 4100018);
	assert_memory_equal(name.text, "Kasparov, Garry", name.len);
	ok(chi_name_text(archive->txn, archive->trees.names, CHI_NAME_SITE, head.site, &name));
	assert_memory_equal(name.text, "lichess.org", name.len);
	chi_archive_reader_free(reader);
}

static bool wants_all(void *context, chi_trait trait)
{
	(void)context;
	return trait != 0;
}

/* Of entries in lists: those that games have come first. */
struct traits_met {
	struct chi_traits of[1024]; /* by number, what is left */
	size_t n;
};

static int take_met(void *context, chi_trait trait, const struct chi_posting *entries, size_t n)
{
	struct traits_met *met = context;
	for (size_t i = 0; i < n; i++) {
		struct chi_traits *own = &met->of[entries[i].game];
		size_t at = 0;
		while (at < own->n && own->trait[at] != trait) {
			at++;
		}
		assert_true(at < own->n);
		own->trait[at] = own->trait[--own->n];
	}
	met->n += n;
	return CHI_OK;
}

/* The lists of traits have the games that are there, with their traits, and no others. */
static void check_traits(struct archive *archive)
{
	static struct traits_met met;
	const struct chi_traits_visitor visitor = {wants_all, take_met, &met};
	struct chi_archive_reader *reader = reader_of(archive);
	size_t wanted = 0;
	assert_true(n_games < CHI_COUNT(met.of));
	for (uint32_t number = 1; number <= n_games; number++) {
		met.of[number].n = 0;
		if (chi_archive_traits(reader, number, &met.of[number]) == CHI_OK) {
			wanted += met.of[number].n;
		}
	}
	met.n = 0;
	ok(chi_traits_walk(archive->txn, archive->trees.traits, 0, UINT64_MAX >> 8, &visitor));
	assert_int_equal(met.n, wanted);
	chi_archive_reader_free(reader);
}

CASE(test_removal, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_arena arena;
	struct chi_game game;
	fill(archive);
	chi_arena_init(&arena, 1 << 20);
	struct filling filling = begin(archive);
	for (uint32_t number = 2; number <= n_games; number += 3) {
		ok(chi_archive_remove(filling.writer, number));
		assert_int_equal(chi_archive_remove(filling.writer, number), CHI_NONE);
	}
	finish(archive, &filling);
	struct chi_archive_reader *reader = reader_of(archive);
	for (uint32_t number = 1; number <= n_games; number++) {
		if (number % 3 == 2) {
			assert_int_equal(chi_archive_game(reader, number, &arena, &game), CHI_NONE);
			continue;
		}
		check(reader, number);
	}
	chi_archive_reader_free(reader);
	chi_arena_deinit(&arena);
	check_traits(archive);
}

/* A name that is gone, a body that is gone: damage, and no game without them. */
CASE(test_loss, archive_setup, archive_teardown)
{
	struct archive *archive = *state;
	struct chi_arena arena;
	struct chi_game game;
	fill(archive);
	chi_arena_init(&arena, 1 << 20);
	assert_int_equal(chi_chain_drop(archive->txn, archive->trees.names, CHI_CHAIN_NAMES), 0);
	struct chi_archive_reader *reader = reader_of(archive);
	assert_int_equal(chi_archive_game(reader, 1, &arena, &game), -CHI_ECORRUPT);
	chi_archive_reader_end(reader);
	assert_int_equal(chi_chain_drop(archive->txn, archive->trees.games, CHI_CHAIN_GAMES), 0);
	ok(chi_archive_reader_begin(reader, archive->txn, &archive->trees));
	assert_int_equal(chi_archive_game(reader, 2, &arena, &game), -CHI_ECORRUPT);
	chi_archive_reader_free(reader);
	struct filling filling = begin(archive);
	assert_int_equal(chi_archive_remove(filling.writer, 2), -CHI_ECORRUPT);
	finish(archive, &filling);
	chi_arena_deinit(&arena);
}

CASES_MAIN(read_games, forget_games)
