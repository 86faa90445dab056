/* SPDX-License-Identifier: MIT */
/*
 * Reaches chess/pgn/pgn.h: the bytes are read whole, in pieces whose sizes come from the bytes
 * themselves, and cut where chi_pgn_boundary allows it. The games must be the same, their
 * moves legal, their tags clean, the evaluations in their comments such as a record may hold. Games
 * are kept whole: printed and read again each must be the same.
 */
#include <string.h>
#include <xxhash.h>

#include "base/num.h"
#include "base/record.h"
#include "chess/movegen.h"
#include "chess/pgn/eval.h"
#include "chess/pgn/notes.h"
#include "chess/pgn/pgn.h"
#include "tests/chess/notes_check.h"
#include "tests/fuzz/fuzz.h"
#include "tests/chess/pgn_print.h"
#include "tests/chess/position_equal.h"

/* A running sum over games, to compare ways of reading. */
struct sum {
	uint64_t games;
	uint64_t value;
	uint64_t lines;
	bool moves; /* are looked at; the others' are the same ones by the sum */
};

static void add(struct sum *sum, const void *bytes, size_t len)
{
	sum->value = XXH3_64bits_withSeed(bytes, len, sum->value);
}

static void add_number(struct sum *sum, uint64_t value)
{
	add(sum, &value, sizeof(value));
}

static void check_tags(struct sum *sum, const struct chi_pgn_game *game)
{
	for (size_t i = 0; i < CHI_PGN_TAGS; i++) {
		const struct chi_pgn_span *tag = &game->tags[i];
		add_number(sum, tag->text != NULL);
		if (tag->text == NULL) {
			continue;
		}
		REQUIRE(tag->len <= CHI_PGN_VALUE_MAX && strlen(tag->text) == tag->len);
		REQUIRE(chi_utf8_valid(tag->text, tag->len));
		for (size_t j = 0; j < tag->len; j++) {
			REQUIRE((unsigned char)tag->text[j] >= ' ' && tag->text[j] != 0x7f);
		}
		add(sum, tag->text, tag->len + 1);
	}
}

/* Each move is legal, and leads to the next position. */
static void check_moves(const struct chi_pgn_game *game)
{
	struct chi_position position = game->positions[0];
	for (size_t i = 0; i < game->n_plies; i++) {
		struct chi_position next;
		REQUIRE(chi_movegen_is_legal(&position, game->moves[i]));
		chi_position_play(&position, game->moves[i], &next);
		REQUIRE(chi_position_equal(&next, &game->positions[i + 1]));
		position = next;
	}
}

/* Each move of the line is legal, too. */
static void check_line(const struct chi_position *start, const struct chi_eval *eval)
{
	struct chi_position position = *start;
	for (size_t i = 0; i < eval->n_pv; i++) {
		struct chi_position before = position;
		REQUIRE(chi_movegen_is_legal(&before, eval->pv[i]));
		chi_position_play(&before, eval->pv[i], &position);
	}
}

static void check_comments(struct sum *sum, const struct chi_pgn_game *game)
{
	for (size_t i = 0; i < game->n_comments; i++) {
		const struct chi_pgn_comment *comment = &game->comments[i];
		struct chi_pgn_eval read;
		struct chi_record_flaw flaw;
		REQUIRE(comment->len > 0);
		REQUIRE(i == 0 || comment->ply >= comment[-1].ply);
		add(sum, comment->text, comment->len);
		add_number(sum, comment->ply);
		if (chi_pgn_eval_read(game, comment, &read) == CHI_OK) {
			const struct chi_record record = {.evals = &read.eval, .n_evals = 1};
			REQUIRE(chi_record_check(&record, &flaw) == CHI_OK);
			REQUIRE(read.ply <= game->n_plies);
			check_line(&game->positions[read.ply], &read.eval);
		}
	}
}

/* What is kept of a game can be read. */
static void check_whole(struct sum *sum, const struct chi_pgn_game *game)
{
	const struct chi_pgn_whole *whole = game->whole;
	for (size_t i = 0; i < whole->n_tags; i++) {
		const struct chi_pgn_named *tag = &whole->tags[i];
		REQUIRE(strlen(tag->name.text) == tag->name.len && tag->name.len > 0);
		REQUIRE(strlen(tag->value.text) == tag->value.len);
		REQUIRE(chi_utf8_valid(tag->value.text, tag->value.len));
		add(sum, tag->name.text, tag->name.len + 1);
		add(sum, tag->value.text, tag->value.len + 1);
	}
	REQUIRE(check_notes(whole->notes, whole->n_notes, game->n_plies) == CHI_OK);
	REQUIRE(chi_utf8_valid(whole->rest, whole->n_rest));
	add(sum, whole->notes, whole->n_notes);
	add(sum, whole->rest, whole->n_rest);
	add_number(sum, whole->lost_notes + whole->lost_tags + whole->lost_text);
}

static bool is_same(const void *a, size_t a_len, const void *b, size_t b_len)
{
	return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

/* Printed and read again it is the same game, and the only one. */
static void check_again(const struct chi_pgn_game *game)
{
	static struct chi_pgn *pgn;
	const struct chi_pgn_game *again = NULL;
	size_t len = 0;
	char *text = print_game(game, &len);
	if (pgn == NULL) {
		REQUIRE(chi_pgn_new(&pgn) == CHI_OK);
		REQUIRE(chi_pgn_keep_all(pgn) == CHI_OK);
	}
	REQUIRE(text != NULL);
	chi_pgn_restart(pgn);
	size_t at = 0;
	while (chi_pgn_next(pgn, &again) != CHI_OK) {
		REQUIRE(at < len);
		at += chi_pgn_feed(pgn, text + at, len - at);
	}
	const struct chi_pgn_whole *a = game->whole;
	const struct chi_pgn_whole *b = again->whole;
	REQUIRE(is_same(game->moves, 2 * game->n_plies, again->moves, 2 * again->n_plies));
	REQUIRE(game->result == again->result);
	REQUIRE(is_same(a->notes, a->n_notes, b->notes, b->n_notes));
	REQUIRE(is_same(a->rest, a->n_rest, b->rest, b->n_rest));
	REQUIRE(a->n_tags == b->n_tags);
	for (size_t i = 0; i < a->n_tags; i++) {
		REQUIRE(strcmp(a->tags[i].name.text, b->tags[i].name.text) == 0);
		REQUIRE(strcmp(a->tags[i].value.text, b->tags[i].value.text) == 0);
	}
	free(text);
}

static void check_game(struct sum *sum, const struct chi_pgn_game *game)
{
	REQUIRE(game->n_plies <= CHI_PGN_PLIES_MAX);
	REQUIRE(game->end < CHI_PGN_ENDS && game->result <= CHI_RESULT_OTHER);
	REQUIRE((game->end == CHI_PGN_COMPLETE) == (game->end_line == 0));
	REQUIRE(memchr(game->end_text, '\0', sizeof(game->end_text)) != NULL);
	if (sum->moves) {
		check_moves(game);
	}
	if (sum->moves && game->end != CHI_PGN_BAD_START) {
		check_again(game);
	}
	sum->games++;
	add(sum, game->moves, game->n_plies * sizeof(*game->moves));
	add_number(sum, game->n_plies);
	add_number(sum, game->result);
	add_number(sum, game->results_differ);
	add_number(sum, game->end);
	add(sum, game->end_text, strlen(game->end_text));
	check_tags(sum, game);
	check_comments(sum, game);
	check_whole(sum, game);
}

/* Reads one text into the sum; `pieces` may be NULL: fed whole. */
static void read_text(struct sum *sum, const uint8_t *data, size_t size, const uint8_t *pieces)
{
	/* One for all: taking so much memory each time is most of the work otherwise. */
	static struct chi_pgn *pgn;
	const struct chi_pgn_game *game = NULL;
	if (pgn == NULL) {
		REQUIRE(chi_pgn_new(&pgn) == CHI_OK);
		REQUIRE(chi_pgn_keep_comments(pgn) == CHI_OK);
		REQUIRE(chi_pgn_keep_all(pgn) == CHI_OK);
	}
	chi_pgn_restart(pgn);
	size_t at = 0;
	bool finished = false;
	for (;;) {
		int status = chi_pgn_next(pgn, &game);
		if (status == CHI_OK) {
			check_game(sum, game);
			continue;
		}
		REQUIRE(status == CHI_NONE);
		if (at == size && finished) {
			break;
		}
		if (at == size) {
			chi_pgn_finish(pgn);
			finished = true;
			continue;
		}
		size_t len = pieces != NULL ? 1 + (size_t)pieces[at] % 7 : size;
		size_t taken = chi_pgn_feed(pgn, data + at, len < size - at ? len : size - at);
		REQUIRE(taken > 0);
		at += taken;
	}
	sum->lines += chi_pgn_lines(pgn);
}

static void require_same(const struct sum *a, const struct sum *b)
{
	REQUIRE(a->games == b->games && a->value == b->value && a->lines == b->lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sum whole = {.moves = true};
	struct sum pieces = {0};
	struct sum parts = {0};
	if (size > 1 << 16) {
		return 0;
	}
	read_text(&whole, data, size, NULL);
	read_text(&pieces, data, size, data);
	for (size_t at = 0; at < size;) {
		size_t end = chi_pgn_boundary(data, size, at + 1);
		REQUIRE(end > at && end <= size);
		read_text(&parts, data + at, end - at, NULL);
		at = end;
	}
	require_same(&whole, &pieces);
	require_same(&whole, &parts);
	return 0;
}
