/* SPDX-License-Identifier: MIT */
/* A record as JSON. Moves are stored as numbers; here they become text by playing them out. */
#include "cli/out/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "base/wire.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "formats/endgame_json.h"
#include "cli/out/output.h"

/* Longest text of the parts: everything but the lists, a move in quotes, a move with its counts, a
 * ply with its games, an evaluation without its name and moves, an escaped byte. */
#define FIXED_TEXT 512
#define MOVE_TEXT  (CHI_UCI_SIZE + 3)
#define STAT_TEXT  224
#define PLY_TEXT   64
#define EVAL_TEXT  160
#define ESCAPED	   6

/* The writer's `bad` is looked at once, at the end: bound() has made room for the longest text. */
static void put_text(struct chi_writer *w, const char *text)
{
	chi_write_bytes(w, text, strlen(text));
}

static void put_u64(struct chi_writer *w, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	chi_write_bytes(w, digits + at, sizeof(digits) - at);
}

/* A name in front of a value: `,"games":7`. */
static void put_count(struct chi_writer *w, const char *name, uint64_t count)
{
	put_text(w, name);
	put_u64(w, count);
}

/* JSON allows control characters above ASCII in strings, and terminals obey them: U+007F to
 * U+009F are escaped as well. */
int record_put_string(struct chi_writer *w, const char *text, size_t len)
{
	static const char plain[] = "\"\\\b\f\n\r\t";
	static const char letter[] = "\"\\bfnrt";
	if (!chi_utf8_valid(text, len)) {
		return -CHI_ECORRUPT;
	}
	chi_write_u8(w, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		const char *found = c != 0 ? strchr(plain, c) : NULL;
		bool pair = c == 0xc2 && (unsigned char)text[i + 1] < 0xa0;
		if (found != NULL) {
			chi_write_u8(w, '\\');
			chi_write_u8(w, (uint8_t)letter[found - plain]);
		} else if (c < 0x20 || c == 0x7f || pair) {
			char hex[ESCAPED + 1];
			(void)snprintf(hex, sizeof(hex), "\\u%04x",
				       pair ? (unsigned char)text[++i] : c);
			put_text(w, hex);
		} else {
			chi_write_u8(w, c);
		}
	}
	chi_write_u8(w, '"');
	return CHI_OK;
}

/* The statistic as a number: without the zero that ends it, as 76.0. */
static void put_chi2(struct chi_writer *w, uint16_t chi2)
{
	char text[CHI_CHI2_TEXT_SIZE];
	if (chi2 == CHI_CHI2_UNKNOWN) {
		put_text(w, "null");
		return;
	}
	size_t len = chi_chi2_print(chi2, text);
	chi_write_bytes(w, text, text[len - 1] == '0' ? len - 1 : len);
}

static void put_results(struct chi_writer *w, const struct chi_counts *c)
{
	put_count(w, "\"games\":", games_of(c));
	put_count(w, ",\"white\":", c->white);
	put_count(w, ",\"draws\":", c->draws);
	put_count(w, ",\"black\":", c->black);
	put_count(w, ",\"other\":", c->other);
}

/* In the record's order, by ply. */
static void put_plies(struct chi_writer *w, const struct chi_record *record)
{
	put_text(w, ",\"min_ply\":");
	if (record->n_plies > 0) {
		put_u64(w, record->plies[0].ply);
	} else {
		put_text(w, "null");
	}
	put_text(w, ",\"plies\":[");
	for (size_t i = 0; i < record->n_plies; i++) {
		put_count(w, i > 0 ? ",{\"ply\":" : "{\"ply\":", record->plies[i].ply);
		put_count(w, ",\"games\":", record->plies[i].games);
		put_text(w, "}");
	}
	put_text(w, "]");
}

/* Moves played one after the other, in UCI. Played on a board and not from key to key: without a
 * black king a line leads through positions with Black to move, which no key can hold. */
static int put_line(struct chi_writer *w, const struct chi_position *from, const chi_move *moves,
		    size_t n)
{
	struct chi_position position = *from;
	chi_write_u8(w, '[');
	for (size_t i = 0; i < n; i++) {
		struct chi_position next;
		char uci[CHI_UCI_SIZE];
		if (!chi_movegen_is_legal(&position, moves[i])) {
			return -CHI_ECORRUPT;
		}
		size_t len = chi_uci_print(&position, moves[i], uci);
		put_text(w, i > 0 ? ",\"" : "\"");
		chi_write_bytes(w, uci, len);
		chi_write_u8(w, '"');
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
	chi_write_u8(w, ']');
	return CHI_OK;
}

/* A move of the record with its text, for sorting. */
struct named_move {
	const struct chi_move_stat *stat;
	uint64_t games;
	char uci[CHI_UCI_SIZE];
};

/* The most played first; of equals by UCI text. */
static bool is_before(const struct named_move *a, const struct named_move *b)
{
	return a->games != b->games ? a->games > b->games : strcmp(a->uci, b->uci) < 0;
}

/* Most positions have one move: sorted by insertion. All are legal afterwards. */
static int name_moves(const struct chi_position *position, const struct chi_record *record,
		      struct named_move *moves)
{
	for (size_t i = 0; i < record->n_moves; i++) {
		const struct chi_move_stat *stat = &record->moves[i];
		struct named_move move = {.stat = stat, .games = games_of(&stat->counts)};
		if (!chi_movegen_is_legal(position, stat->move)) {
			return -CHI_ECORRUPT;
		}
		(void)chi_uci_print(position, stat->move, move.uci);
		size_t at = i;
		while (at > 0 && is_before(&move, &moves[at - 1])) {
			moves[at] = moves[at - 1];
			at--;
		}
		moves[at] = move;
	}
	return CHI_OK;
}

static int put_record_moves(struct chi_writer *w, const struct chi_position *position,
			    const struct chi_record *record, struct chi_arena *arena)
{
	struct named_move *moves = chi_arena_alloc(arena, record->n_moves * sizeof(*moves));
	int status = moves == NULL ? -CHI_ENOMEM : name_moves(position, record, moves);
	put_text(w, ",\"moves\":[");
	for (size_t i = 0; status == CHI_OK && i < record->n_moves; i++) {
		char san[CHI_SAN_SIZE];
		struct chi_position next;
		chi_position_play(position, moves[i].stat->move, &next);
		size_t len = chi_san_write(position, moves[i].stat->move, &next, san);
		put_text(w, i > 0 ? ",{\"uci\":\"" : "{\"uci\":\"");
		put_text(w, moves[i].uci);
		put_text(w, "\",\"san\":\"");
		chi_write_bytes(w, san, len);
		put_text(w, "\",");
		put_results(w, &moves[i].stat->counts);
		put_text(w, "}");
	}
	put_text(w, "]");
	return status;
}

static void put_date(struct chi_writer *w, uint64_t seconds)
{
	char text[CHI_TIME_TEXT_SIZE];
	if (chi_num_time_print(seconds, text) == 0) {
		put_text(w, "null");
		return;
	}
	put_text(w, "\"");
	put_text(w, text);
	put_text(w, "\"");
}

/* The score is under the name that tells its unit: cp or mate. */
static int put_eval(struct chi_writer *w, const struct chi_position *position,
		    const struct chi_eval *eval)
{
	put_text(w, "{\"engine\":");
	int status = record_put_string(w, eval->engine, eval->engine_len);
	put_count(w, ",\"multipv\":", eval->rank + 1u);
	put_count(w, ",\"depth\":", eval->depth);
	put_text(w, eval->is_mate ? ",\"mate\":" : ",\"cp\":");
	put_text(w, eval->score < 0 ? "-" : "");
	put_u64(w, (uint64_t)llabs(eval->score));
	put_text(w, ",\"nodes\":");
	if (eval->nodes == 0) {
		put_text(w, "null");
	} else {
		put_u64(w, eval->nodes);
	}
	put_text(w, ",\"pv\":");
	if (status == CHI_OK) {
		status = put_line(w, position, eval->pv, eval->n_pv);
	}
	put_text(w, ",\"date\":");
	put_date(w, eval->date);
	put_text(w, "}");
	return status;
}

/* In the record's order, by engine. */
static int put_evals(struct chi_writer *w, const struct chi_position *position,
		     const struct chi_record *record)
{
	int status = CHI_OK;
	put_text(w, ",\"evals\":[");
	for (size_t i = 0; status == CHI_OK && i < record->n_evals; i++) {
		put_text(w, i > 0 ? "," : "");
		status = put_eval(w, position, &record->evals[i]);
	}
	put_text(w, "]");
	return status;
}

static int put_record(struct chi_writer *w, const struct chi_key *key,
		      const struct chi_position *position, const struct chi_record *record,
		      bool with_endgame, struct chi_arena *arena)
{
	char fen[CHI_FEN_SIZE];
	put_text(w, "{\"fen\":\"");
	chi_write_bytes(w, fen, chi_fen_print(position, fen));
	put_text(w, "\",\"chi2\":");
	put_chi2(w, record->chi2);
	put_text(w, ",");
	put_results(w, &record->counts);
	put_plies(w, record);
	int status = put_record_moves(w, position, record, arena);
	if (status == CHI_OK) {
		status = put_evals(w, position, record);
	}
	put_text(w, ",\"line\":");
	if (status == CHI_OK) {
		status = put_line(w, position, record->line, record->n_line);
	}
	put_text(w, ",\"note\":");
	if (record->n_note == 0) {
		put_text(w, "null");
	} else if (status == CHI_OK) {
		status = record_put_string(w, record->note, record->n_note);
	}
	if (with_endgame) {
		char endgame[CHI_ENDGAME_JSON_SIZE];
		put_text(w, ",\"endgame\":");
		chi_write_bytes(w, endgame, chi_endgame_json(key, endgame));
	}
	put_text(w, "}\n");
	return status;
}

/* No line of the record is longer. */
static size_t bound(const struct chi_record *record)
{
	size_t size = FIXED_TEXT + CHI_ENDGAME_JSON_SIZE + record->n_moves * STAT_TEXT +
		      record->n_plies * PLY_TEXT + record->n_line * MOVE_TEXT +
		      record->n_note * ESCAPED;
	for (size_t i = 0; i < record->n_evals; i++) {
		size += EVAL_TEXT + record->evals[i].engine_len * ESCAPED +
			record->evals[i].n_pv * MOVE_TEXT;
	}
	return size;
}

int record_text(const struct chi_key *key, const struct chi_record *record, bool with_endgame,
		struct chi_arena *arena, const char **out, size_t *len)
{
	struct chi_position position;
	int status = chi_key_decode(key, &position, NULL);
	if (status != CHI_OK) {
		return status;
	}
	size_t size = bound(record);
	char *text = chi_arena_alloc(arena, size);
	if (text == NULL) {
		return -CHI_ENOMEM;
	}
	struct chi_writer w = chi_writer_of(text, size);
	status = put_record(&w, key, &position, record, with_endgame, arena);
	*out = text;
	*len = (size_t)(w.at - (uint8_t *)text);
	return status == CHI_OK && w.bad ? -CHI_EINTERNAL : status;
}
