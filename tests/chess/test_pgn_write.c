/* SPDX-License-Identifier: MIT */
/* PGN as it is written: to the byte for a small game, and whole files and random games as the
 * reader reads them back. */
#include "tests/chess/pgn_games.h"

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/pgn/write.h"

#define LIMIT ((size_t)64 << 20)

#define TAG(name, value)                                                                           \
	{                                                                                          \
		(name), sizeof(name) - 1, (value), sizeof(value) - 1                               \
	}

/* Moves from UCI, played from `start`. */
static size_t moves_from(const struct chi_position *start, const char *line, chi_move *out)
{
	size_t n = 0;
	assert_int_equal(chi_line_parse(start, line, strlen(line), out, 512, &n, NULL), CHI_OK);
	return n;
}

CASE(is_written_as_expected)
{
	static const struct chi_tag tags[] = {
		TAG("ECO", "C20"),	TAG("Black", "Roe, \"Jane\" \\ J"),
		TAG("white", "a\nb"),	TAG("not a name", "left out"),
		TAG("1st", "left out"), TAG("Odd-Name.1", "x"),
		TAG("Event", ""),
	};
	static const uint8_t notes[] = {0xa1, 0x08, 0xe7, 0x02, 0x43, 0x04, 'g',  'o', 'o',
					'd',  0x81, 0x02, 0x01, 0xa2, 0x0c, 0x21, 0x00};
	static const char expected[] =
		"[ECO \"C20\"]\n"
		"[Black \"Roe, \\\"Jane\\\" \\\\ J\"]\n"
		"[Result \"1-0\"]\n"
		"[white \"a b\"]\n"
		"[Odd-Name.1 \"x\"]\n"
		"[Event \"\"]\n"
		"\n"
		"1. e4 $1 {[%clk 0:03:00] good} 1... e5 (1... c5 $1) 2. Qh5 Ke7 3. Qxe5# Qh9 {\n"
		"1-0\n"
		"\n";
	struct chi_position start = position_of(START_FEN);
	struct chi_buffer out;
	chi_move moves[512];
	struct chi_game game = {
		.head.result = CHI_RESULT_WHITE,
		.tags = tags,
		.n_tags = CHI_COUNT(tags),
		.moves = moves,
		.n_plies = moves_from(&start, "e4 e5 Qh5 Ke7 Qxe5", moves),
		.notes = notes,
		.n_notes = sizeof(notes),
		.rest = "Qh9 {",
		.n_rest = 5,
	};
	chi_buffer_init(&out, LIMIT);
	assert_int_equal(chi_pgn_write(&game, &out), CHI_OK);
	assert_int_equal(out.len, sizeof(expected) - 1);
	assert_memory_equal(chi_buffer_bytes(&out), expected, out.len);
	chi_buffer_deinit(&out);
}

/* What is left out after what was damaged would be another game. */
CASE(damage_is_refused)
{
	static const struct {
		uint8_t notes[8];
		size_t n;
	} table[] = {
		{{0x81, 0x02, 0x01, 0x00, 0x00, 0x00}, 6}, /* a1a1 is not legal */
		{{0x81}, 1},				   /* no end */
		{{0xa1, 0xa1, 0xa1}, 3},		   /* place 3 of two moves */
		{{0x02, 0x01, 0xa2, 0x0c}, 4},		   /* moves outside a variation */
	};
	struct chi_position start = position_of(START_FEN);
	struct chi_buffer out;
	chi_move moves[512];
	struct chi_game game = {.moves = moves, .n_plies = moves_from(&start, "e4 e5", moves)};
	chi_buffer_init(&out, LIMIT);
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		game.notes = table[i].notes;
		game.n_notes = table[i].n;
		assert_int_equal(chi_pgn_write(&game, &out), -CHI_ECORRUPT);
		assert_int_equal(out.len, 0);
	}
	game = (struct chi_game){.has_start = true, .start = {.len = 3}};
	assert_int_equal(chi_pgn_write(&game, &out), -CHI_ECORRUPT);
	chi_buffer_deinit(&out);
}

/* Tags of a game that was read. */
static size_t tags_of(const struct chi_pgn_game *game, struct chi_tag *out)
{
	static const struct {
		enum chi_pgn_tag tag;
		const char *name;
	} names[] = {
		{CHI_PGN_WHITE_ELO, "WhiteElo"}, {CHI_PGN_VARIANT, "Variant"},
		{CHI_PGN_EVENT, "Event"},	 {CHI_PGN_SITE, "Site"},
		{CHI_PGN_DATE, "Date"},		 {CHI_PGN_ROUND, "Round"},
		{CHI_PGN_WHITE, "White"},	 {CHI_PGN_BLACK, "Black"},
	};
	size_t n = 0;
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		const struct chi_pgn_span *value = &game->tags[names[i].tag];
		if (value->text != NULL) {
			out[n++] = (struct chi_tag){names[i].name, strlen(names[i].name),
						    value->text, value->len};
		}
	}
	return n;
}

/* No line is longer than 79 columns or ends with a blank, but for tags. */
static void check_lines(const struct chi_buffer *out)
{
	const char *at = (const char *)chi_buffer_bytes(out);
	const char *end = at + out->len;
	while (at < end) {
		const char *line = at;
		at = memchr(at, '\n', (size_t)(end - at));
		assert_non_null(at);
		assert_true(*line == '[' || at - line <= 79);
		assert_true(at == line || at[-1] != ' ');
		at++;
	}
}

static void assert_read_back(const struct read_game *was, const struct read_game *is)
{
	static const enum chi_pgn_tag tags[] = {CHI_PGN_WHITE, CHI_PGN_BLACK, CHI_PGN_EVENT,
						CHI_PGN_SITE,  CHI_PGN_ROUND, CHI_PGN_WHITE_ELO};
	assert_int_equal(is->game.end, CHI_PGN_COMPLETE);
	assert_int_equal(is->game.n_plies, was->game.n_plies);
	assert_memory_equal(is->moves, was->moves, was->game.n_plies * sizeof(chi_move));
	assert_memory_equal(&is->last, &was->last, sizeof(was->last));
	assert_int_equal(is->game.result, was->game.result);
	for (size_t i = 0; i < CHI_COUNT(tags); i++) {
		if (was->tags[tags[i]] != NULL) {
			assert_string_equal(is->tags[tags[i]], was->tags[tags[i]]);
		}
	}
}

static void set_start(struct chi_game *game, const struct chi_position *start)
{
	game->has_start = true;
	chi_key_encode(start, &game->start);
}

CASE(files_are_read_back)
{
	static const char *const files[] = {"pgn/games_300.pgn", "pgn/cutechess-fischerrandom.pgn",
					    "pgn/anastasian-lewis.pgn"};
	for (size_t file = 0; file < CHI_COUNT(files); file++) {
		size_t len = 0;
		char *text = read_data(files[file], &len);
		struct read_games was = read_games(text, len, 4096, NULL);
		struct chi_buffer out;
		chi_buffer_init(&out, LIMIT);
		for (size_t i = 0; i < was.n; i++) {
			struct chi_tag tags[CHI_PGN_TAGS];
			struct read_game *game = &was.games[i];
			struct chi_game output = {
				.head.result = (uint8_t)game->game.result,
				.tags = tags,
				.n_tags = tags_of(&game->game, tags),
				.moves = game->moves,
				.n_plies = game->game.n_plies,
			};
			if (game->tags[CHI_PGN_FEN] != NULL) {
				struct chi_position start = position_of(game->tags[CHI_PGN_FEN]);
				set_start(&output, &start);
			}
			assert_int_equal(chi_pgn_write(&output, &out), CHI_OK);
		}
		check_lines(&out);
		struct read_games is =
			read_games((const char *)chi_buffer_bytes(&out), out.len, 4096, NULL);
		assert_int_equal(is.n, was.n);
		for (size_t i = 0; i < was.n; i++) {
			assert_read_back(&was.games[i], &is.games[i]);
		}
		free_games(&is);
		free_games(&was);
		chi_buffer_deinit(&out);
		free(text);
	}
}

static size_t random_moves(struct seed *seed, const struct chi_position *start, chi_move *moves,
			   size_t max)
{
	struct chi_position position = *start;
	size_t n = 0;
	while (n < max) {
		struct chi_move_list list;
		struct chi_position next;
		chi_movegen_legal(&position, &list);
		if (list.n == 0) {
			break;
		}
		moves[n] = list.moves[seed_below(seed, list.n)];
		chi_position_play(&position, moves[n++], &next);
		position = next;
	}
	return n;
}

CASE(any_start_is_read_back)
{
	struct seed seed = seed_start("any_start_is_read_back");
	size_t rounds = seed_rounds(SLOW_BUILD ? 50 : 300);
	static const struct chi_tag chess960 = TAG("Variant", "Chess960");
	for (size_t round = 0; round < rounds; round++) {
		chi_move moves[512];
		struct chi_position start = round % 3 == 0   ? random_placement(&seed)
					    : round % 3 == 1 ? random_start(&seed)
							     : position_of(START_FEN);
		struct chi_game game = {
			.head.result = round % 4,
			.tags = &chess960,
			.n_tags = round % 2,
			.moves = moves,
			.n_plies = random_moves(&seed, &start, moves, 512),
		};
		struct chi_buffer out;
		if (round % 3 != 2) {
			set_start(&game, &start);
		}
		chi_buffer_init(&out, LIMIT);
		assert_int_equal(chi_pgn_write(&game, &out), CHI_OK);
		check_lines(&out);
		struct read_games is =
			read_games((const char *)chi_buffer_bytes(&out), out.len, 0, &seed);
		assert_int_equal(is.n, 1);
		assert_int_equal(is.games[0].game.end, CHI_PGN_COMPLETE);
		assert_int_equal(is.games[0].game.result, game.head.result);
		assert_int_equal(is.games[0].game.n_plies, game.n_plies);
		assert_memory_equal(is.games[0].moves, moves, game.n_plies * sizeof(chi_move));
		free_games(&is);
		chi_buffer_deinit(&out);
	}
}

CASE(a_full_buffer_is_left_as_it_was)
{
	struct chi_position start = position_of(START_FEN);
	chi_move moves[512];
	struct chi_game game = {
		.head.result = CHI_RESULT_OTHER,
		.moves = moves,
		.n_plies = moves_from(&start, "e4 e5 Nf3 Nc6 Bb5 a6", moves),
	};
	struct chi_buffer out;
	chi_buffer_init(&out, LIMIT);
	assert_int_equal(chi_pgn_write(&game, &out), CHI_OK);
	size_t whole = out.len;
	chi_buffer_deinit(&out);
	for (size_t limit = 4; limit < whole + 4; limit++) {
		chi_buffer_init(&out, limit);
		assert_int_equal(chi_buffer_append(&out, "here", 4), CHI_OK);
		assert_int_equal(chi_pgn_write(&game, &out), -CHI_ETOOBIG);
		assert_int_equal(out.len, 4);
		assert_memory_equal(chi_buffer_bytes(&out), "here", 4);
		chi_buffer_deinit(&out);
	}
}
