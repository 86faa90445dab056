/* SPDX-License-Identifier: MIT */
/* Printing dumps. One record has one line: what is equal in the store is equal in the dump. */
#include "store/text/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/num.h"
#include "base/wire.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "chess/statistic.h"
#include "store/text/dump_priv.h"

/* Longest text of the parts: a move with a separator, a move with four counts, a ply with its
 * games, the numbers of an evaluation, an escaped byte. */
#define MOVE_TEXT   (CHI_UCI_SIZE)
#define PLAYED_TEXT (CHI_UCI_SIZE + 4 * 21 + 2)
#define PLY_TEXT    32
#define EVAL_TEXT   96
#define LINE_TEXT   (CHI_FEN_SIZE + 5 * 21 + 32)

void chi_dump_put_text(struct chi_writer *w, const char *text)
{
	chi_write_bytes(w, text, strlen(text));
}

void chi_dump_u64(struct chi_writer *w, uint64_t value)
{
	char text[24];
	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	chi_dump_put_text(w, text);
}

/* True for a byte of U+0080 to U+009F, which terminals take for the start of a command. */
static bool is_c1(const unsigned char *text, size_t len, size_t i)
{
	size_t lead = text[i] == 0xc2 ? i : i - 1;
	return (text[i] == 0xc2 || (i > 0 && text[lead] == 0xc2)) && lead + 1 < len &&
	       text[lead + 1] < 0xa0;
}

void chi_dump_escaped(struct chi_writer *w, const char *text, size_t len, const char *also)
{
	static const char plain[] = "\\\t\n\r";
	static const char letter[] = "\\tnr";
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		const char *found = c != 0 ? strchr(plain, c) : NULL;
		if (found != NULL) {
			chi_write_u8(w, '\\');
			chi_write_u8(w, (uint8_t)letter[found - plain]);
		} else if (c < 0x20 || c == 0x7f || strchr(also, c) != NULL ||
			   is_c1((const unsigned char *)text, len, i)) {
			char hex[8];
			(void)snprintf(hex, sizeof(hex), "\\x%02x", c);
			chi_dump_put_text(w, hex);
		} else {
			chi_write_u8(w, c);
		}
	}
}

/* Moves were checked when the record came in, but dumps are made of stores that are no longer
 * trusted: an illegal move is reported, not printed as some other. */
static int write_move(struct chi_writer *w, const struct chi_position *position, chi_move move)
{
	char text[CHI_UCI_SIZE];
	if (!chi_movegen_is_legal(position, move)) {
		return -CHI_ECORRUPT;
	}
	chi_write_bytes(w, text, chi_uci_print(position, move, text));
	return CHI_OK;
}

/* Each move is printed in the position before it. */
static int write_line(struct chi_writer *w, const struct chi_position *position,
		      const chi_move *moves, size_t n)
{
	struct chi_position current = *position;
	for (size_t i = 0; i < n; i++) {
		if (i > 0) {
			chi_write_u8(w, ' ');
		}
		int rc = write_move(w, &current, moves[i]);
		if (rc < 0) {
			return rc;
		}
		struct chi_position next;
		chi_position_play(&current, moves[i], &next);
		current = next;
	}
	return CHI_OK;
}

static void write_counts(struct chi_writer *w, const struct chi_counts *counts, char between)
{
	const uint64_t values[] = {counts->white, counts->draws, counts->black, counts->other};
	for (size_t i = 0; i < CHI_COUNT(values); i++) {
		if (i > 0) {
			chi_write_u8(w, (uint8_t)between);
		}
		chi_dump_u64(w, values[i]);
	}
}

/* Moves with a colon and their four counts: e2e4:2/1/0/0. */
static int write_played(struct chi_writer *w, const struct chi_position *position,
			const struct chi_record *record)
{
	for (size_t i = 0; i < record->n_moves; i++) {
		if (i > 0) {
			chi_write_u8(w, ' ');
		}
		int rc = write_move(w, position, record->moves[i].move);
		if (rc < 0) {
			return rc;
		}
		chi_write_u8(w, ':');
		write_counts(w, &record->moves[i].counts, '/');
	}
	return CHI_OK;
}

/* Plies with a colon and the games that reached the position there: 0:5 2:14. */
static void write_plies(struct chi_writer *w, const struct chi_record *record)
{
	for (size_t i = 0; i < record->n_plies; i++) {
		if (i > 0) {
			chi_write_u8(w, ' ');
		}
		chi_dump_u64(w, record->plies[i].ply);
		chi_write_u8(w, ':');
		chi_dump_u64(w, record->plies[i].games);
	}
}

/* 0 stands for "not given". */
static void write_given(struct chi_writer *w, uint64_t value)
{
	chi_write_u8(w, '|');
	if (value != 0) {
		chi_dump_u64(w, value);
	} else {
		chi_write_u8(w, '-');
	}
}

/* engine|depth|score|nodes|date|variation, with |rank if it is not 0, separated by semicolons. */
static int write_evals(struct chi_writer *w, const struct chi_position *position,
		       const struct chi_record *record)
{
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (i > 0) {
			chi_write_u8(w, ';');
		}
		chi_dump_escaped(w, eval->engine, eval->engine_len, "|;");
		char text[48];
		(void)snprintf(text, sizeof(text), "|%" PRIu32 "|%s:%" PRId32, eval->depth,
			       eval->is_mate ? "mate" : "cp", eval->score);
		chi_dump_put_text(w, text);
		write_given(w, eval->nodes);
		write_given(w, eval->date);
		chi_write_u8(w, '|');
		int rc = write_line(w, position, eval->pv, eval->n_pv);
		if (rc < 0) {
			return rc;
		}
		if (eval->rank != 0) {
			write_given(w, eval->rank);
		}
	}
	return CHI_OK;
}

/* The order of enum dump_field. */
static int write_fields(struct chi_writer *w, const struct chi_position *position,
			const struct chi_record *record)
{
	char fen[CHI_FEN_SIZE];
	char chi2[CHI_CHI2_TEXT_SIZE];
	chi_write_bytes(w, fen, chi_fen_print(position, fen));
	chi_write_u8(w, '\t');
	chi_write_bytes(w, chi2, chi_chi2_print(record->chi2, chi2));
	chi_write_u8(w, '\t');
	write_counts(w, &record->counts, '\t');
	chi_write_u8(w, '\t');
	int rc = write_played(w, position, record);
	chi_write_u8(w, '\t');
	write_plies(w, record);
	chi_write_u8(w, '\t');
	if (rc == CHI_OK) {
		rc = write_evals(w, position, record);
	}
	chi_write_u8(w, '\t');
	if (rc == CHI_OK) {
		rc = write_line(w, position, record->line, record->n_line);
	}
	chi_write_u8(w, '\t');
	chi_dump_escaped(w, record->note, record->n_note, "");
	chi_write_u8(w, '\n');
	return rc;
}

/* No line of the record is longer. */
static size_t bound(const struct chi_record *record)
{
	size_t size = LINE_TEXT + record->n_moves * PLAYED_TEXT + record->n_plies * PLY_TEXT +
		      record->n_line * MOVE_TEXT + record->n_note * DUMP_ESCAPED;
	for (size_t i = 0; i < record->n_evals; i++) {
		size += EVAL_TEXT + record->evals[i].engine_len * DUMP_ESCAPED +
			record->evals[i].n_pv * MOVE_TEXT;
	}
	return size;
}

int chi_dump_begin(struct chi_arena *arena, size_t size, struct chi_writer *w, char **out)
{
	*out = chi_arena_alloc(arena, size);
	if (*out == NULL) {
		return -CHI_ENOMEM;
	}
	*w = chi_writer_of(*out, size);
	return CHI_OK;
}

int chi_dump_finish(struct chi_writer *w, const char *start, size_t *len)
{
	*len = (size_t)(w->at - (const uint8_t *)start);
	chi_write_u8(w, 0);
	return w->bad ? -CHI_EINTERNAL : CHI_OK;
}

int chi_dump_print(const struct chi_key *key, const struct chi_record *record,
		   struct chi_arena *arena, char **out, size_t *len)
{
	struct chi_position position;
	int rc = chi_key_decode(key, &position, NULL);
	if (rc < 0) {
		return rc;
	}
	struct chi_writer w;
	rc = chi_dump_begin(arena, bound(record), &w, out);
	rc = rc < 0 ? rc : write_fields(&w, &position, record);
	return rc < 0 ? rc : chi_dump_finish(&w, *out, len);
}

int chi_dump_print_head(const struct chi_dump_head *head, struct chi_arena *arena, char **out,
			size_t *len)
{
	const char *statistic = chi_statistic_name((int)head->statistic);
	if (statistic == NULL) {
		return -CHI_EINVAL;
	}
	struct chi_writer w;
	if (chi_dump_begin(arena, 256 + sizeof(DUMP_COLUMNS), &w, out) < 0) {
		return -CHI_ENOMEM;
	}
	chi_dump_put_text(&w, DUMP_MAGIC "\t");
	chi_dump_u64(&w, head->archive ? DUMP_VERSION_ARCHIVE : DUMP_VERSION);
	chi_dump_put_text(&w, "\nstatistic\t");
	chi_dump_put_text(&w, statistic);
	chi_dump_put_text(&w, "\nbase\t");
	write_counts(&w, &head->base, '\t');
	chi_dump_put_text(&w, "\n" DUMP_COLUMNS "\n");
	return chi_dump_finish(&w, *out, len);
}
