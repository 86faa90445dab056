/* SPDX-License-Identifier: MIT */
/* Games kept whole: what is kept of each text, and that a game that is printed reads again as the
 * same, however strange the text was. */
#include "tests/chess/pgn_games.h"

#include <stdlib.h>

#include "chess/pgn/notes.h"
#include "tests/chess/notes_check.h"
#include "tests/chess/pgn_free.h"
#include "tests/chess/pgn_print.h"

static struct chi_pgn *new_reader(void)
{
	struct chi_pgn *pgn = NULL;
	assert_int_equal(chi_pgn_new(&pgn), CHI_OK);
	assert_int_equal(chi_pgn_keep_all(pgn), CHI_OK);
	return pgn;
}

/* Reads the first game of the text. */
static const struct chi_pgn_game *game_of(struct chi_pgn *pgn, const char *text, size_t len)
{
	const struct chi_pgn_game *game = NULL;
	size_t at = 0;
	chi_pgn_restart(pgn);
	while (chi_pgn_next(pgn, &game) != CHI_OK) {
		if (at == len) {
			chi_pgn_finish(pgn);
			continue;
		}
		at += chi_pgn_feed(pgn, text + at, len - at);
	}
	return game;
}

static void assert_same_tags(const struct chi_pgn_whole *a, const struct chi_pgn_whole *b)
{
	assert_int_equal(a->n_tags, b->n_tags);
	for (size_t i = 0; i < a->n_tags; i++) {
		assert_string_equal(a->tags[i].name.text, b->tags[i].name.text);
		assert_string_equal(a->tags[i].value.text, b->tags[i].value.text);
	}
}

static void assert_same_bytes(const void *a, size_t a_len, const void *b, size_t b_len)
{
	assert_int_equal(a_len, b_len);
	if (a_len > 0) {
		assert_memory_equal(a, b, a_len);
	}
}

/* Printed, the game reads again as itself. */
static void assert_reads_again(struct chi_pgn *other, const struct chi_pgn_game *game)
{
	size_t len = 0;
	_cleanup_(chi_freep) char *text = print_game(game, &len);
	assert_non_null(text);
	const struct chi_pgn_game *again = game_of(other, text, len);
	const struct chi_pgn_whole *a = game->whole;
	const struct chi_pgn_whole *b = again->whole;
	assert_same_bytes(game->moves, 2 * game->n_plies, again->moves, 2 * again->n_plies);
	assert_int_equal(game->result, again->result);
	assert_same_bytes(a->notes, a->n_notes, b->notes, b->n_notes);
	assert_same_bytes(a->rest, a->n_rest, b->rest, b->n_rest);
	assert_same_tags(a, b);
}

/* Each game of the text reads again; returns how many there are. */
static size_t check_games(const char *text, size_t len)
{
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = new_reader();
	_cleanup_(chi_pgn_freep) struct chi_pgn *other = new_reader();
	const struct chi_pgn_game *game = NULL;
	size_t games = 0;
	for (size_t at = 0;;) {
		if (chi_pgn_next(pgn, &game) == CHI_OK) {
			assert_reads_again(other, game);
			games++;
		} else if (at < len) {
			at += chi_pgn_feed(pgn, text + at, len - at);
		} else if (at == len) {
			chi_pgn_finish(pgn);
			at++;
		} else {
			return games;
		}
	}
}

CASE(keeps_annotations)
{
	static const struct {
		const char *text;
		const char *printed; /* without tags, result and white space at its ends */
		size_t n_notes;
	} table[] = {
		{"1. e4 e5", "1. e4 e5", 0},
		{"{before} 1. e4 {a} {b} e5 ; line\n2. d4",
		 "{before} 1. e4 {a} {b} 1... e5 {line} 2. d4", 20},
		{"1. e4! e5?? 2. d4?! $14 $200 d5!!!", "1. e4 $1 e5 $4 2. d4 $6 $14 $200 d5 $3 $1",
		 9},
		{"1. e4 {a\r\n b\x01} e5 {  } {\xe9}", "1. e4 {a\n b} 1... e5 {\xc3\xa9}", 10},
		{"1. e4 e5 +- 2. d4 N ep +", "1. e4 e5 $18 2. d4 $146", 6},
		{"1. e4 (1. d4 d5 (1... Nf6 2. c4) 2. c4!) e5",
		 "1. e4 (1. d4 d5 (1... Nf6 2. c4) 2. c4 $1) 1... e5", 21},
		{"1. e4 e5 [1... c5 2. Nf3 (2. c3] 2. d4",
		 "1. e4 e5 (1... c5 2. Nf3 (2. c3)) 2. d4", 16},
		{"(1. d4) 1. e4", "(1. d4) 1. e4", 6},
		{"1. e4 () e5", "1. e4 () 1... e5", 2},
		{"1. e4 e5 (1... c5 2. Qh9 {x} (y ; z\n)) 2. d4",
		 "1. e4 e5 (1... c5 Qh9 {x} (y ; z\n)\n) 2. d4", 26},
		{"1. e4 e5 (1... -- 2. d4) 2. d4", "1. e4 e5 ( -- 2. d4\n) 2. d4", 14},
		{"1. e4 [x] e5 ; a } b\n 2. d4", "1. e4 {[x]} 1... e5 ;a } b\n2. d4", 12},
		{"1. e4 $70000 e5 $", "1. e4 {$70000} 1... e5 {$}", 11},
		{"1. e4 e5 (1... c5", "1. e4 e5 (1... c5)", 8},
		/* Not a line that begins a game. */
		{"1. e4 {a\n[Event\x1f\"b\"]}", "1. e4 {a [Event \"b\"]}", 15},
		{"1. e4 e5 {no end", "1. e4 e5 {no end}", 10},
		{"1. e4 e5 (1... c5 xx ({a", "1. e4 e5 (1... c5 xx ({a})\n)", 18},
	};
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = new_reader();
	_cleanup_(chi_pgn_freep) struct chi_pgn *other = new_reader();
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char text[256];
		char expected[512];
		size_t len = 0;
		snprintf(text, sizeof(text), "[White \"a\"]\n%s", table[i].text);
		const struct chi_pgn_game *game = game_of(pgn, text, strlen(text));
		_cleanup_(chi_freep) char *printed = print_game(game, &len);
		snprintf(expected, sizeof(expected), "[White \"a\"]\n[Result \"*\"]\n\n%s%s*\n\n",
			 table[i].printed, printed[len - 4] == '\n' ? "\n" : " ");
		assert_string_equal(printed, expected);
		assert_int_equal(game->whole->n_notes, table[i].n_notes);
		assert_int_equal(game->whole->n_rest, 0);
		assert_reads_again(other, game);
	}
}

CASE(keeps_the_rest)
{
	static const struct {
		const char *text;
		const char *rest;
		size_t n_plies;
		enum chi_pgn_end end;
	} table[] = {
		{"1. e4 e5 2. Qh9 {x} Nc6 1-0", "Qh9 {x} Nc6", 2, CHI_PGN_UNREADABLE},
		{"1. e4 e5 2. Ke3 Nc6! $4 1-0", "Ke3 Nc6! $4", 2, CHI_PGN_ILLEGAL},
		{"1. e4 e5 {a} 2. -- {b} Nc6 1-0", "-- {b} Nc6", 2, CHI_PGN_NULL_MOVE},
		{"1. Nf3 e6 2. Nd4 c5 3. Nd2 *", "Nd2", 4, CHI_PGN_ILLEGAL},
		{"1. Nf3 d5 2. d3 c5 3. Nd2 c4 *", "Nd2 c4", 4, CHI_PGN_AMBIGUOUS},
		{"1. e4 e5 2. Qh9 (2. d4", "Qh9 (2. d4\n)", 2, CHI_PGN_UNREADABLE},
		{"1. e4 e5 2. Qh9 ((2. {d4", "Qh9 ((2. {d4}))", 2, CHI_PGN_UNREADABLE},
		{"1. e4 e5 2. Qh9 [2. (d4", "Qh9 [2. (d4\n]", 2, CHI_PGN_UNREADABLE},
		{"1. e4 e5 2. Qh9 ; x\r\n Nf3", "Qh9 ; x\n Nf3", 2, CHI_PGN_UNREADABLE},
		{"1. e4 e5 2. \x01"
		 "d4 \xe9",
		 "~d4 \xc3\xa9", 2, CHI_PGN_UNREADABLE},
		{"1. e4 e5 2. Qh9 Nc6 Nf31-0", "Qh9 Nc6 Nf31-0", 2, CHI_PGN_UNREADABLE},
		{"1. e4 e5 2. Qh9 {\n[Event\t\"x\"]} Nc6 1-0", "Qh9 { [Event \"x\"]} Nc6", 2,
		 CHI_PGN_UNREADABLE},
		{"[FEN \"nonsense\"]\n1. e4 e5 1-0", "e4 e5", 0, CHI_PGN_BAD_START},
		{"[Variant \"Atomic\"]\n{a} 1. e4 e5 1-0", "e4 e5", 0, CHI_PGN_OTHER_RULES},
		{"[Variant \"Chess960\"]\n1. e4 e5 1-0", "e4 e5", 0, CHI_PGN_NO_START},
	};
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = new_reader();
	_cleanup_(chi_pgn_freep) struct chi_pgn *other = new_reader();
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		char text[256];
		snprintf(text, sizeof(text), "[White \"a\"]\n%s", table[i].text);
		const struct chi_pgn_game *game = game_of(pgn, text, strlen(text));
		char rest[256];
		snprintf(rest, sizeof(rest), "%.*s", (int)game->whole->n_rest, game->whole->rest);
		assert_string_equal(rest, table[i].rest);
		assert_int_equal(game->n_plies, table[i].n_plies);
		assert_int_equal(game->end, table[i].end);
		assert_false(game->whole->rest_cut);
		if (game->end != CHI_PGN_BAD_START) {
			assert_reads_again(other, game);
		}
	}
}

CASE(keeps_all_tags)
{
	static const char text[] = "[Zeta \"1\"]\n[white \"a \\\"b\\\" \\\\\"]\n[Event \"\xe9\"]\n"
				   "[Zeta \"2\"]\n{x}\n[ECO \"\"]\n[zeta \"3\"]\n[White \"c\"]\n"
				   "[Long-Name.1 \"\"]\n1. e4 *";
	static const char *const expected[][2] = {
		{"Zeta", "1"}, {"White", "a \"b\" \\"}, {"Event", "\xc3\xa9"},
		{"ECO", ""},   {"zeta", "3"},		{"Long-Name.1", ""},
	};
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = new_reader();
	_cleanup_(chi_pgn_freep) struct chi_pgn *other = new_reader();
	const struct chi_pgn_game *game = game_of(pgn, text, strlen(text));
	assert_int_equal(game->whole->n_tags, CHI_COUNT(expected));
	for (size_t i = 0; i < CHI_COUNT(expected); i++) {
		assert_string_equal(game->whole->tags[i].name.text, expected[i][0]);
		assert_string_equal(game->whole->tags[i].value.text, expected[i][1]);
	}
	assert_int_equal(game->whole->tags[1].tag, CHI_PGN_WHITE);
	assert_int_equal(game->whole->tags[0].tag, CHI_PGN_TAGS);
	/* A comment between tags is one before the first move. */
	assert_int_equal(game->whole->n_notes, 3);
	assert_reads_again(other, game);
}

/* `n` times `piece`, between two texts. */
static char *repeat(const char *before, const char *piece, size_t n, const char *after, size_t *len)
{
	size_t size = strlen(piece);
	char *text = malloc(strlen(before) + n * size + strlen(after) + 1);
	assert_non_null(text);
	char *at = stpcpy(text, before);
	for (size_t i = 0; i < n; i++) {
		memcpy(at, piece, size);
		at += size;
	}
	*len = (size_t)(stpcpy(at, after) - text);
	return text;
}

CASE(bounds_what_it_keeps)
{
	enum what {
		NOTHING,
		TAGS,
		REST,
		NOTES,
		TEXT, /* and notes */
	};
	static const struct {
		const char *before;
		const char *piece;
		size_t n;
		const char *after;
		enum what lost;
	} table[] = {
		{"[White \"", "x", 7000, "\"]\n1. e4 *", NOTHING},
		{"[White \"", "x", 9000, "\"]\n1. e4 *", TAGS},
		{"[", "x", 65536, " \"y\"]\n[White \"a\"]\n1. e4 *", NOTHING},
		{"[", "x", 300, " \"y\"]\n[White \"a\"]\n1. e4 *", TAGS},
		{"1. e4 ", "(", 64, "1. d4 *", NOTHING},
		{"1. e4 ", "(", 10000, "1. d4 *", NOTES},
		{"1. e4 (1. d4 xx ", "(", 10000, ") e5 *", NOTHING},
		{"1. e4 {", "x y ", 250000, "} e5 *", NOTHING},
		{"1. e4 {", "x y ", 270000, "} e5 {a} *", NOTES},
		{"1. e4 {", "\xc3\xa9", 540000, "} e5 *", NOTES},
		{"1. e4 {", "x y ", 1100000, "} e5 {a} *", TEXT},
		{"1. e4 Qh9 ", "e5 {a} ", 9000, "*", NOTHING},
		{"1. e4 Qh9 ", "e5 {a} ", 10000, "*", REST},
		{"1. e4 Qh9 (", "e5 {a} ", 10000, ") e5 *", REST},
		{"1. e4 (1. d4 Qh9 ", "e5 {a} ", 200000, ") e5 *", NOTES},
		{"1. e4 (1. d4 ", "d5 2. c4 xx", 1, ") e5 *", NOTHING},
		{"", "Nf3 Nf6 Ng1 Ng8 ", 1025, "*", NOTHING}, /* too many plies */
		{"1. e4 ", "$1 ", 1100000, "*", NOTES},
		{"1. e4 Qh9 ", "(", 70000, "*", REST},
	};
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = new_reader();
	_cleanup_(chi_pgn_freep) struct chi_pgn *other = new_reader();
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		size_t len = 0;
		_cleanup_(chi_freep) char *text =
			repeat(table[i].before, table[i].piece, table[i].n, table[i].after, &len);
		const struct chi_pgn_game *game = game_of(pgn, text, len);
		const struct chi_pgn_whole *whole = game->whole;
		if ((whole->lost_tags > 0) != (table[i].lost == TAGS) ||
		    ((whole->lost_notes > 0) != (table[i].lost >= NOTES)) ||
		    whole->rest_cut != (table[i].lost == REST) ||
		    (whole->lost_text > 0) != (table[i].lost == TEXT)) {
			fail_msg("row %zu: tags %u, notes %llu, rest %d, text %llu", i,
				 whole->lost_tags, (unsigned long long)whole->lost_notes,
				 whole->rest_cut, (unsigned long long)whole->lost_text);
		}
		assert_int_equal(check_notes(whole->notes, whole->n_notes, game->n_plies), CHI_OK);
		if (table[i].lost != TEXT) {
			assert_reads_again(other, game);
		}
	}
}

CASE(bounds_the_number_of_tags)
{
	_cleanup_(chi_pgn_freep) struct chi_pgn *pgn = new_reader();
	_cleanup_(chi_freep) char *text = malloc(64000);
	assert_non_null(text);
	char *at = text;
	for (int i = 0; i < 1000; i++) {
		at += sprintf(at, "[T%d \"%d\"]\n", i, i);
	}
	at = stpcpy(at, "1. e4 *");
	const struct chi_pgn_game *game = game_of(pgn, text, (size_t)(at - text));
	assert_int_equal(game->whole->n_tags, CHI_PGN_ALL_TAGS_MAX);
	assert_int_equal(game->whole->lost_tags, 1000 - CHI_PGN_ALL_TAGS_MAX);
	assert_string_equal(game->whole->tags[255].value.text, "255");
}

CASE(reads_files_again)
{
	static const char *const names[] = {
		"ambiguous",
		"anastasian-lewis",
		"antichess-programfox",
		"chessbase-empty-line",
		"cutechess-fischerrandom",
		"hayes",
		"games_300",
		"romero",
		"uci-moves",
		"utf8-bom",
	};
	size_t games = 0;
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		char path[64];
		size_t len = 0;
		snprintf(path, sizeof(path), "pgn/%s.pgn", names[i]);
		_cleanup_(chi_freep) char *text = read_data(path, &len);
		games += check_games(text, len);
	}
	assert_int_equal(games, 328);
}

CASE(reads_anything_again)
{
	struct seed seed = seed_start("reads_anything_again");
	size_t rounds = seed_rounds(SLOW_BUILD ? 500 : 5000);
	size_t games = 0;
	for (size_t round = 0; round < rounds; round++) {
		size_t len = 0;
		_cleanup_(chi_freep) char *text = random_games(&seed, &len);
		games += check_games(text, len);
	}
	assert_true(games > rounds);
}
