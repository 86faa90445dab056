/* SPDX-License-Identifier: MIT */
/* One game's bytes, and what tags say as numbers. */
#include "tests/store/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "store/games/body.h"
#include "store/games/tags.h"

#define TAG(n, v)                                                                                  \
	{                                                                                          \
		.name = (n), .name_len = strlen(n), .value = (v), .value_len = strlen(v)           \
	}

static struct chi_game_head read_head(const char *name, const char *value)
{
	struct chi_game_head head = {.plies = 12};
	const struct chi_tag tag = TAG(name, value);
	chi_head_read(&tag, 1, &head);
	return head;
}

static const char *print_head(const struct chi_game_head *head, const char *name)
{
	static char text[CHI_HEAD_TEXT_SIZE + 1];
	size_t len;
	assert_true(chi_head_print(head, chi_tag_code_of(name, strlen(name)), text, &len));
	text[len] = '\0';
	return text;
}

/* What is read of a text, and what is printed again: where that is the text, no text is kept. */
CASE(test_dates)
{
	static const struct {
		const char *text;
		unsigned year;
		unsigned month;
		unsigned day;
		bool same;
	} dates[] = {
		{"2001.02.30", 2001, 2, 30, true},
		{"1999.??.??", 1999, 0, 0, true},
		{"????.??.??", 0, 0, 0, true},
		{"1999.12.??", 1999, 12, 0, true},
		{"1999", 1999, 0, 0, false},
		{"1999.12", 1999, 12, 0, false},
		{"1999-12-31", 1999, 12, 31, false},
		{"2001.13.01", 2001, 0, 0, false},
		{"2001.01.32", 2001, 1, 0, false},
		{"0000.01.01", 0, 1, 1, false},
		{"????.01.02", 0, 1, 2, true},
		{"2001.??.05", 2001, 0, 5, true},
		{"", 0, 0, 0, false},
		{"?", 0, 0, 0, false},
		{"20010101", 0, 0, 0, false},
		{"12345", 0, 0, 0, false},
		{"2001.1.1", 0, 0, 0, false},
		{"1/1/2001", 0, 0, 0, false},
		{"19?9.01.01", 0, 0, 0, false},
		{"1999.01-01", 0, 0, 0, false},
		{"1999.?1.01", 1999, 0, 0, false},
	};
	for (size_t i = 0; i < CHI_COUNT(dates); i++) {
		struct chi_game_head head = read_head("Date", dates[i].text);
		assert_int_equal(head.year, dates[i].year);
		assert_int_equal(head.month, dates[i].month);
		assert_int_equal(head.day, dates[i].day);
		assert_int_equal(strcmp(print_head(&head, "Date"), dates[i].text) == 0,
				 dates[i].same);
	}
	assert_int_equal(read_head("UTCDate", "2020.01.02").day, 2);
}

CASE(test_numbers)
{
	static const struct {
		const char *tag;
		const char *text;
		unsigned number;
		bool same;
	} rows[] = {
		{"WhiteElo", "2062", 2062, true},
		{"WhiteElo", "", 0, true},
		{"WhiteElo", "0", 0, false},
		{"WhiteElo", "65535", 65535, true},
		{"WhiteElo", "65536", 0, false},
		{"WhiteElo", "2062.5", 0, false},
		{"WhiteElo", "02062", 2062, false},
		{"WhiteElo", "?", 0, false},
		{"WhiteElo", "-1", 0, false},
		{"WhiteElo", "99999999999999999999", 0, false},
		{"WhiteTitle", "GM", CHI_TITLE_GM, true},
		{"WhiteTitle", "WCM", CHI_TITLE_WCM, true},
		{"WhiteTitle", "BOT", CHI_TITLE_BOT, true},
		{"WhiteTitle", "gm", CHI_TITLE_OTHER, false},
		{"WhiteTitle", "-", CHI_TITLE_NONE, false},
		{"WhiteTitle", "", CHI_TITLE_NONE, true},
	};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		struct chi_game_head head = read_head(rows[i].tag, rows[i].text);
		unsigned number =
			strcmp(rows[i].tag, "WhiteElo") == 0 ? head.white_elo : head.white_title;
		assert_int_equal(number, rows[i].number);
		assert_int_equal(strcmp(print_head(&head, rows[i].tag), rows[i].text) == 0,
				 rows[i].same);
	}
}

CASE(test_speed)
{
	static const struct {
		const char *tag;
		const char *text;
		enum chi_speed speed;
	} rows[] = {
		{"TimeControl", "60+0", CHI_SPEED_BULLET},
		{"TimeControl", "15+0", CHI_SPEED_ULTRABULLET},
		{"Event", "Rated UltraBullet game", CHI_SPEED_ULTRABULLET},
		{"TimeControl", "180", CHI_SPEED_BLITZ},
		{"TimeControl", "180+2", CHI_SPEED_BLITZ},
		{"TimeControl", "479", CHI_SPEED_BLITZ},
		{"TimeControl", "480", CHI_SPEED_RAPID},
		{"TimeControl", "1499", CHI_SPEED_RAPID},
		{"TimeControl", "1500", CHI_SPEED_CLASSICAL},
		{"TimeControl", "40/7200:3600", CHI_SPEED_CLASSICAL},
		{"TimeControl", "1/259200", CHI_SPEED_CORRESPONDENCE},
		{"TimeControl", "-", CHI_SPEED_UNKNOWN},
		{"TimeControl", "", CHI_SPEED_UNKNOWN},
		{"Event", "World BLITZ 2019", CHI_SPEED_BLITZ},
		{"Event", "Rapid and Blitz", CHI_SPEED_RAPID},
		{"Event", "Rapi", CHI_SPEED_UNKNOWN},
		{"Event", "Troll Masters", CHI_SPEED_UNKNOWN},
	};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		assert_int_equal(read_head(rows[i].tag, rows[i].text).speed, rows[i].speed);
	}
}

static void check_name(enum chi_tag_code code, const char *text, const char *wanted)
{
	const char *name;
	size_t len;
	chi_head_name(code, text, strlen(text), &name, &len);
	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(name, wanted, len);
}

CASE(test_names)
{
	char many[2048];
	const char *name;
	size_t len;
	check_name(CHI_TAG_SITE, "https://lichess.org/abcd", "lichess.org");
	check_name(CHI_TAG_SITE, "https://lichess.org", "https://lichess.org");
	check_name(CHI_TAG_SITE, "https://lichess.org/", "https://lichess.org/");
	check_name(CHI_TAG_SITE, "Oslo / NOR", "Oslo / NOR");
	check_name(CHI_TAG_EVENT, "https://lichess.org/abcd", "https://lichess.org/abcd");
	check_name(CHI_TAG_WHITE, "?", "");
	check_name(CHI_TAG_WHITE, "??", "??");
	/* A character of two bytes is not cut in half. */
	for (size_t i = 0; i < sizeof(many); i++) {
		many[i] = (char)(i % 2 == 0 ? 0xc3 : 0xa9);
	}
	chi_head_name(CHI_TAG_WHITE, many, sizeof(many), &name, &len);
	assert_int_equal(len, CHI_HEAD_NAME_MAX - 1);
	for (unsigned code = 1; code < CHI_TAGS; code++) {
		const char *text = chi_tag_name((enum chi_tag_code)code);
		assert_int_equal(chi_tag_code_of(text, strlen(text)), code);
	}
	assert_int_equal(chi_tag_code_of("event", 5), CHI_TAG_OTHER);
	assert_int_equal(chi_tag_code_of("", 0), CHI_TAG_OTHER);
}

/* ---- Games ------------------------------------------------------------------------------- */

static void check_same(const struct chi_game *a, const struct chi_game *b)
{
	assert_int_equal(a->n_tags, b->n_tags);
	for (size_t i = 0; i < a->n_tags; i++) {
		assert_int_equal(a->tags[i].name_len, b->tags[i].name_len);
		assert_int_equal(a->tags[i].value_len, b->tags[i].value_len);
		assert_memory_equal(a->tags[i].name, b->tags[i].name, a->tags[i].name_len);
		assert_memory_equal(a->tags[i].value, b->tags[i].value, a->tags[i].value_len);
	}
	assert_memory_equal(a->id, b->id, sizeof(a->id));
	assert_int_equal(a->has_start, b->has_start);
	assert_memory_equal(&a->start, &b->start, sizeof(a->start));
	assert_int_equal(a->n_plies, b->n_plies);
	assert_memory_equal(a->moves, b->moves, a->n_plies * sizeof(*a->moves));
	assert_int_equal(a->n_notes, b->n_notes);
	assert_memory_equal(a->notes, b->notes, a->n_notes);
	assert_int_equal(a->n_rest, b->n_rest);
	assert_memory_equal(a->rest, b->rest, a->n_rest);
}

/* What a row shows is what the whole game has, the first tag of a name. */
static void check_texts(const struct chi_game *game, const struct chi_packed_game *packed)
{
	static const char *const names[CHI_GAME_TEXTS] = {
		[CHI_HEAD_WHITE] = "White", [CHI_HEAD_BLACK] = "Black", [CHI_HEAD_EVENT] = "Event",
		[CHI_HEAD_SITE] = "Site",   [CHI_GAME_ROUND] = "Round",
	};
	struct chi_span texts[CHI_GAME_TEXTS];
	ok(chi_body_texts(&packed->body, packed->names, texts));
	for (size_t i = 0; i < CHI_GAME_TEXTS; i++) {
		struct chi_tag found = {.value = NULL};
		for (size_t t = game->n_tags; t-- > 0;) {
			const struct chi_tag *tag = &game->tags[t];
			bool is = tag->name_len == strlen(names[i]) &&
				  memcmp(tag->name, names[i], tag->name_len) == 0;
			found = is ? *tag : found;
		}
		assert_int_equal(texts[i].len, found.value_len);
		assert_memory_equal(texts[i].bytes, found.value, found.value_len);
	}
}

/* Packs and unpacks with the names of the columns as they were packed. */
static void check_game(const struct chi_game *game)
{
	struct chi_buffer buffer;
	struct chi_packed_game packed;
	struct chi_arena arena;
	struct chi_game back;
	chi_buffer_init(&buffer, CHI_BODY_MAX);
	chi_arena_init(&arena, CHI_BODY_MAX);
	ok(chi_game_pack(game, NULL, &buffer));
	ok(chi_packed_open(chi_buffer_bytes(&buffer), buffer.len, &packed));
	assert_int_equal(chi_packed_open(chi_buffer_bytes(&buffer), buffer.len - 1, &packed),
			 -CHI_EINTERNAL);
	ok(chi_packed_open(chi_buffer_bytes(&buffer), buffer.len, &packed));
	ok(chi_body_unpack(&packed.head, &packed.body, packed.names, &arena, &back));
	check_same(game, &back);
	check_texts(game, &packed);
	chi_arena_deinit(&arena);
	chi_buffer_deinit(&buffer);
}

/* Legal moves at random; the number of them. */
static size_t play(const struct chi_position *start, chi_move *moves, size_t max)
{
	struct chi_position positions[2] = {*start};
	size_t n = 0;
	for (; n < max; n++) {
		struct chi_move_list legal;
		chi_movegen_legal(&positions[n % 2], &legal);
		if (legal.n == 0) {
			break;
		}
		moves[n] = legal.moves[help_below((unsigned)legal.n)];
		chi_position_play(&positions[n % 2], moves[n], &positions[(n + 1) % 2]);
	}
	return n;
}

static const struct chi_tag usual[] = {
	TAG("Event", "Troll Masters"),
	TAG("Site", "Gausdal NOR"),
	TAG("Date", "2001.01.07"),
	TAG("Round", "3"),
	TAG("White", "Carlsen,Magnus"),
	TAG("Black", "?"),
	TAG("WhiteElo", ""),
	TAG("BlackElo", "2062"),
	TAG("ECO", "C16"),
	TAG("PlyCount", "40"),
	TAG("Oddity", "M\xc3\xbcller"),
	TAG("WhiteFideId", "1503014"),
};

CASE(test_game)
{
	static chi_move moves[4096];
	struct chi_position start;
	ok(chi_fen_parse(CHI_FEN_START, sizeof(CHI_FEN_START) - 1, &start, NULL));
	struct chi_game game = {.tags = usual, .n_tags = CHI_COUNT(usual), .moves = moves};
	check_game(&game);
	for (unsigned i = 0; i < 200; i++) {
		game.n_plies = play(&start, moves, help_below(400));
		game.head.plies = (uint16_t)game.n_plies;
		game.n_tags = help_below(CHI_COUNT(usual) + 1);
		check_game(&game);
	}
	help_position(&start);
	game.has_start = true;
	chi_key_encode(&start, &game.start);
	game.n_plies = play(&start, moves, CHI_COUNT(moves));
	game.head.plies = (uint16_t)game.n_plies;
	game.notes = (const uint8_t *)"\x01\x02\x00";
	game.n_notes = 3;
	game.rest = "Ke9 e4";
	game.n_rest = 6;
	memset(game.id, 0x5a, sizeof(game.id));
	check_game(&game);
}

CASE(test_limits)
{
	static struct chi_tag tags[CHI_GAME_TAGS_MAX + 1];
	static char names[CHI_GAME_TAGS_MAX + 1][8];
	static char value[64 << 10];
	struct chi_buffer buffer;
	chi_buffer_init(&buffer, CHI_BODY_MAX);
	memset(value, 'x', sizeof(value));
	for (size_t i = 0; i < CHI_COUNT(tags); i++) {
		snprintf(names[i], sizeof(names[i]), "T%zu", i);
		tags[i] = (struct chi_tag)TAG(names[i], "value");
	}
	struct chi_game game = {.tags = tags, .n_tags = CHI_GAME_TAGS_MAX};
	tags[0] = (struct chi_tag){"White", 5, value, sizeof(value)};
	tags[1] = (struct chi_tag){"Site", 4, value, sizeof(value)};
	check_game(&game);
	game.n_tags++;
	assert_int_equal(chi_game_pack(&game, NULL, &buffer), -CHI_ETOOBIG);
	game.n_tags = 1;
	game.notes = (const uint8_t *)value;
	game.n_notes = CHI_BODY_MAX;
	assert_int_equal(chi_game_pack(&game, NULL, &buffer), -CHI_ETOOBIG);
	game.n_notes = 0;
	game.head.plies = 1;
	assert_int_equal(chi_game_pack(&game, NULL, &buffer), -CHI_EINVAL);
	game.head.plies = 0;
	tags[0].name_len = 0;
	assert_int_equal(chi_game_pack(&game, NULL, &buffer), -CHI_EINVAL);
	chi_buffer_deinit(&buffer);
}

/* Any bytes as a body: a game or damage, nothing worse. */
CASE(test_damage)
{
	static chi_move moves[60];
	struct chi_position start;
	struct chi_buffer buffer;
	struct chi_span texts[CHI_GAME_TEXTS];
	struct chi_packed_game packed;
	struct chi_arena arena;
	struct chi_game back;
	ok(chi_fen_parse(CHI_FEN_START, sizeof(CHI_FEN_START) - 1, &start, NULL));
	struct chi_game game = {.tags = usual,
				.n_tags = CHI_COUNT(usual),
				.moves = moves,
				.rest = "x",
				.n_rest = 1};
	game.n_plies = play(&start, moves, CHI_COUNT(moves));
	game.head.plies = (uint16_t)game.n_plies;
	chi_buffer_init(&buffer, CHI_BODY_MAX);
	chi_arena_init(&arena, 64 << 10);
	ok(chi_game_pack(&game, NULL, &buffer));
	ok(chi_packed_open(chi_buffer_bytes(&buffer), buffer.len, &packed));
	for (size_t part = 0; part < CHI_BODY_PARTS; part++) {
		struct chi_body body = packed.body;
		size_t len = body.parts[part].len;
		uint8_t *bytes = malloc(len);
		assert_non_null(bytes);
		memcpy(bytes, body.parts[part].bytes, len);
		body.parts[part].bytes = bytes;
		for (size_t i = 0; i < len * 20; i++) {
			uint8_t kept = bytes[i % len];
			bytes[i % len] = (uint8_t)help_random();
			body.parts[part].len = help_below(4) == 0 ? help_below((unsigned)len) : len;
			int rc = chi_body_unpack(&packed.head, &body, packed.names, &arena, &back);
			assert_true(rc == CHI_OK || rc == -CHI_ECORRUPT || rc == -CHI_ENOMEM);
			rc = chi_body_texts(&body, packed.names, texts);
			assert_true(rc == CHI_OK || rc == -CHI_ECORRUPT);
			bytes[i % len] = kept;
			chi_arena_reset(&arena);
		}
		free(bytes);
	}
	chi_arena_deinit(&arena);
	chi_buffer_deinit(&buffer);
}
