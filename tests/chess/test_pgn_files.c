/* SPDX-License-Identifier: MIT */
/* Files of other programs: what others counted in them, the reader counts. */
#include "tests/chess/pgn_games.h"

#include <stdlib.h>
#include "tests/chess/position_equal.h"

static struct read_games read_file(const char *name)
{
	char path[64];
	size_t len = 0;
	snprintf(path, sizeof(path), "pgn/%s.pgn", name);
	_cleanup_(chi_freep) char *text = read_data(path, &len);
	return read_games(text, len, 4096, NULL);
}

CASE(counts_games_and_plies)
{
	static const struct {
		const char *name;
		size_t games;
		size_t plies;
		enum chi_pgn_end end; /* of the first game */
	} table[] = {
		/* published with the files */
		{"romero", 4, 363, CHI_PGN_COMPLETE},
		{"hayes", 9, 637, CHI_PGN_COMPLETE},
		{"ambiguous", 4, 194, CHI_PGN_COMPLETE},
		/* counted by hand, or by the file's PlyCount tags */
		{"anastasian-lewis", 1, 81, CHI_PGN_NULL_MOVE},
		{"cutechess-fischerrandom", 4, 396, CHI_PGN_COMPLETE},
		{"uci-moves", 1, 113, CHI_PGN_COMPLETE},
		{"chessbase-empty-line", 1, 134, CHI_PGN_COMPLETE},
		{"utf8-bom", 2, 0, CHI_PGN_COMPLETE},
		{"antichess-programfox", 2, 0, CHI_PGN_OTHER_RULES},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct read_games games = read_file(table[i].name);
		size_t plies = 0;
		for (size_t j = 0; j < games.n; j++) {
			plies += games.games[j].game.n_plies;
		}
		if (games.n != table[i].games || plies != table[i].plies) {
			fail_msg("%s: %zu games, %zu plies", table[i].name, games.n, plies);
		}
		assert_int_equal(games.games[0].game.end, table[i].end);
		free_games(&games);
	}
}

/* Plies, result and final position of each game as another program found them. */
CASE(ends_where_others_end)
{
	static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
	struct read_games games = read_file("games_300");
	_cleanup_(chi_freep) char *line = malloc(256);
	FILE *file = open_data("pgn/games_300.tsv");
	size_t n = 0;
	assert_non_null(line);
	while (read_line(file, line, 256)) {
		char result[16];
		char fen[CHI_FEN_SIZE];
		size_t plies = 0;
		if (line[0] == '#') {
			continue;
		}
		assert_int_equal(sscanf(line, "%zu\t%15[^\t]\t%127[^\n]", &plies, result, fen), 3);
		assert_true(n < games.n);
		const struct read_game *game = &games.games[n++];
		struct chi_position last = position_of(fen);
		assert_int_equal(game->game.n_plies, plies);
		assert_string_equal(results[game->game.result], result);
		assert_true(chi_position_equal(&game->last, &last));
		assert_int_equal(game->game.end, CHI_PGN_COMPLETE);
	}
	fclose(file);
	assert_int_equal(n, games.n);
	assert_int_equal(n, 300);
	free_games(&games);
}

CASE(reads_tags_of_a_file)
{
	struct read_games games = read_file("utf8-bom");
	assert_int_equal(games.n, 2);
	assert_string_equal(games.games[0].tags[CHI_PGN_EVENT], "A");
	assert_string_equal(games.games[0].tags[CHI_PGN_WHITE], "White vs 1...c5");
	assert_string_equal(games.games[1].tags[CHI_PGN_EVENT], "B");
	free_games(&games);
}
