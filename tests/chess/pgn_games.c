/* SPDX-License-Identifier: MIT */
#include "tests/chess/pgn_games.h"

#include <stdlib.h>

#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/pgn/notes.h"
#include "tests/chess/notes_check.h"
#include "tests/chess/pgn_free.h"
#include "tests/chess/position_equal.h"

static void check_moves(const struct chi_pgn_game *game)
{
	struct chi_position position = game->positions[0];
	for (size_t i = 0; i < game->n_plies; i++) {
		struct chi_position next;
		assert_true(chi_movegen_is_legal(&position, game->moves[i]));
		chi_position_play(&position, game->moves[i], &next);
		assert_true(chi_position_equal(&next, &game->positions[i + 1]));
		position = next;
	}
}

/* All that was kept of a game, one after the other. */
static void keep_whole(const struct chi_pgn_game *game, struct read_game *copy)
{
	const struct chi_pgn_whole *whole = game->whole;
	FILE *out = open_memstream(&copy->whole, &copy->whole_len);
	assert_non_null(out);
	for (size_t i = 0; i < whole->n_tags; i++) {
		const struct chi_pgn_named *tag = &whole->tags[i];
		assert_int_equal(strlen(tag->name.text), tag->name.len);
		assert_int_equal(strlen(tag->value.text), tag->value.len);
		if (tag->tag != CHI_PGN_TAGS) {
			const struct chi_pgn_span *known = &game->tags[tag->tag];
			assert_memory_equal(known->text, tag->value.text, known->len);
		}
		fprintf(out, "%s=%s\n", tag->name.text, tag->value.text);
	}
	assert_int_equal(check_notes(whole->notes, whole->n_notes, game->n_plies), CHI_OK);
	assert_true(chi_utf8_valid(whole->rest, whole->n_rest));
	fwrite(whole->notes, 1, whole->n_notes, out);
	fprintf(out, "\n%.*s\n%u %llu %llu %d", (int)whole->n_rest, whole->rest, whole->lost_tags,
		(unsigned long long)whole->lost_notes, (unsigned long long)whole->lost_text,
		whole->rest_cut);
	assert_int_equal(fclose(out), 0);
}

static void keep(struct read_games *games, const struct chi_pgn_game *game)
{
	check_moves(game);
	assert_true((game->end == CHI_PGN_COMPLETE) == (game->end_line == 0));
	games->games = realloc(games->games, (games->n + 1) * sizeof(*games->games));
	assert_non_null(games->games);
	struct read_game *copy = &games->games[games->n++];
	*copy = (struct read_game){.game = *game, .last = game->positions[game->n_plies]};
	for (size_t i = 0; i < CHI_PGN_TAGS; i++) {
		if (game->tags[i].text != NULL) {
			assert_int_equal(strlen(game->tags[i].text), game->tags[i].len);
			copy->tags[i] = strdup(game->tags[i].text);
			copy->game.tags[i].text = copy->tags[i];
		}
	}
	keep_whole(game, copy);
	copy->game.whole = NULL;
	copy->moves = calloc(game->n_plies + 1, sizeof(*copy->moves));
	assert_non_null(copy->moves);
	memcpy(copy->moves, game->moves, game->n_plies * sizeof(*copy->moves));
}

static size_t next_piece(size_t piece, struct seed *seed)
{
	if (piece != 0) {
		return piece;
	}
	/* Mostly small, now and then larger than any window. */
	size_t limit = seed_below(seed, 8) == 0 ? 300000 : 100;
	return 1 + seed_below(seed, limit);
}

struct read_games read_games(const char *text, size_t len, size_t piece, struct seed *seed)
{
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = NULL;
	struct read_games games = {0};
	const struct chi_pgn_game *game = NULL;
	assert_int_equal(chi_pgn_new(&pgn), CHI_OK);
	assert_int_equal(chi_pgn_keep_all(pgn), CHI_OK);
	bool finished = false;
	for (;;) {
		while (chi_pgn_next(pgn, &game) == CHI_OK) {
			keep(&games, game);
		}
		if (len == 0) {
			if (finished) {
				break;
			}
			chi_pgn_finish(pgn);
			finished = true;
			continue;
		}
		size_t n = next_piece(piece, seed);
		/* A copy of its own size, so that a read beyond the piece is seen. */
		n = n < len ? n : len;
		_cleanup_(chi_freep) char *copy = malloc(n);
		assert_non_null(copy);
		memcpy(copy, text, n);
		size_t taken = chi_pgn_feed(pgn, copy, n);
		assert_true(taken > 0 && taken <= n);
		text += taken;
		len -= taken;
	}
	games.lines = chi_pgn_lines(pgn);
	return games;
}

void free_games(struct read_games *games)
{
	for (size_t i = 0; i < games->n; i++) {
		for (size_t tag = 0; tag < CHI_PGN_TAGS; tag++) {
			free(games->games[i].tags[tag]);
		}
		free(games->games[i].moves);
		free(games->games[i].whole);
	}
	free(games->games);
}

static void assert_same_game(const struct read_game *a, const struct read_game *b, bool shifted)
{
	assert_int_equal(a->game.n_plies, b->game.n_plies);
	assert_int_equal(a->game.result, b->game.result);
	assert_int_equal(a->game.results_differ, b->game.results_differ);
	assert_int_equal(a->game.end, b->game.end);
	assert_int_equal(a->game.has_tags, b->game.has_tags);
	assert_string_equal(a->game.end_text, b->game.end_text);
	for (size_t i = 0; i < CHI_PGN_TAGS; i++) {
		assert_int_equal(a->tags[i] == NULL, b->tags[i] == NULL);
		if (a->tags[i] != NULL) {
			assert_string_equal(a->tags[i], b->tags[i]);
		}
	}
	assert_int_equal(a->whole_len, b->whole_len);
	assert_memory_equal(a->whole, b->whole, a->whole_len);
	assert_memory_equal(a->moves, b->moves, a->game.n_plies * sizeof(*a->moves));
	assert_true(chi_position_equal(&a->last, &b->last));
	if (!shifted) {
		assert_int_equal(a->game.number, b->game.number);
		assert_int_equal(a->game.offset, b->game.offset);
		assert_int_equal(a->game.line, b->game.line);
		assert_int_equal(a->game.end_line, b->game.end_line);
	}
}

void assert_same_games(const struct read_games *a, const struct read_games *b, bool shifted)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_same_game(&a->games[i], &b->games[i], shifted);
	}
	assert_int_equal(a->lines, b->lines);
}

char *read_data(const char *name, size_t *len)
{
	FILE *file = open_data(name);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*len = (size_t)ftell(file);
	rewind(file);
	char *text = malloc(*len + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, *len, file), *len);
	text[*len] = '\0';
	fclose(file);
	return text;
}

const char *moves_of(const struct read_game *game)
{
	static char text[CHI_PGN_PLIES_MAX * CHI_UCI_SIZE];
	char *at = text;
	/* Castling as king takes rook, whatever the variant: the move itself. */
	for (size_t i = 0; i < game->game.n_plies; i++) {
		chi_move move = game->moves[i];
		at += sprintf(at, "%s%c%c%c%c", i > 0 ? " " : "", 'a' + (chi_move_from(move) & 7),
			      '1' + (chi_move_from(move) >> 3), 'a' + (chi_move_to(move) & 7),
			      '1' + (chi_move_to(move) >> 3));
		if (chi_move_promotion(move) != 0) {
			*at++ = "pnbrq"[chi_move_promotion(move)];
		}
	}
	*at = '\0';
	return text;
}

static const char *const pieces[] = {
	"[Event \"x\"]\n",
	"[Event \"x\"]\n",
	"\n[Event \"a \"b\" \\\"\"]\n",
	"[White \"w\"]\n",
	"[Black \"b\"] ",
	"[Result \"1-0\"]\n",
	"[White \"q\"",
	"[Site \"s]",
	"[Variant \"Atomic\"]\n",
	"[White x]\n",
	"[%clk 1]",
	"[Event",
	"\n",
	"\n\n",
	" ",
	"\r\n",
	"\t",
	"{",
	"}",
	"{c}",
	"{a\n[b] }",
	"(",
	")",
	";",
	"; x\n",
	"%",
	"\n% x\n",
	"1. e4",
	"e5 ",
	"Nf3 ",
	"d4 ",
	" d5",
	"1-0",
	" 0-1\n",
	"1/2-1/2",
	"*",
	" * ",
	"$1",
	"!?",
	"1.",
	"2... ",
	"e.p.",
	"e",
	".",
	"p",
	"O-O",
	"0-0-0",
	"--",
	"Z0 ",
	"\xe2\x80\xa6",
	"\xe2\x80\x93",
	"\xc2\xa0",
	"\xbd",
	"\xef\xbb\xbf",
	"\xff",
	"junk",
	"0000",
	"<x>",
	"\"",
	"]",
	"12345678901234567890 ",
	"[1. e4 ",
	"[2",
	"(1. d4 ",
	"c5) ",
	"{[%clk 0:01:02]}",
	"{[%eval -1.20,18] [%clk 0:01:02.3] a } ",
	"; x } y\n",
	" +- ",
	"$140 ",
	"\x01",
};

char *random_games(struct seed *seed, size_t *len)
{
	size_t n = 1 + seed_below(seed, 60);
	char *text = calloc(n, 32);
	assert_non_null(text);
	/* Some texts hold a NUL, which no string function may take for the end. */
	*len = 0;
	for (size_t i = 0; i < n; i++) {
		const char *piece = pieces[seed_below(seed, CHI_COUNT(pieces))];
		memcpy(text + *len, piece, strlen(piece));
		*len += strlen(piece);
		if (seed_below(seed, 100) == 0) {
			text[(*len)++] = '\0';
		}
	}
	return text;
}
