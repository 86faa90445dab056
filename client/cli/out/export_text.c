/* SPDX-License-Identifier: MIT */
/* Records as lines. What comes out is held against the readers in formats, so that it can be
 * taken in again. */
#include "client/cli/out/export_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/record.h"
#include "base/wire.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "client/cli/out/output.h"
#include "client/cli/out/record.h"
#include "formats/epd.h"

const char *const export_formats[] = {
	[EXPORT_CSV] = "csv", [EXPORT_TSV] = "tsv",	      [EXPORT_JSONL] = "jsonl",
	[EXPORT_EPD] = "epd", [EXPORT_POLYGLOT] = "polyglot",
};

enum export_format export_format_of_path(const char *path)
{
	const char *dot = strrchr(path, '.');
	const char *name = dot == NULL ? "" : strcasecmp(dot, ".bin") == 0 ? "polyglot" : dot + 1;
	enum export_format format = EXPORT_POLYGLOT;
	while (format != EXPORT_NONE && strcasecmp(name, export_formats[format]) != 0) {
		format--;
	}
	return format;
}

/* stdio's error is sticky: a row is looked at once, at its end. */
static int check(const struct target *target)
{
	return ferror(target->file) == 0 ? EXIT_DONE : target_fail(target);
}

int export_head(struct target *target, enum export_format format)
{
	if (format == EXPORT_CSV || format == EXPORT_TSV) {
		char s = format == EXPORT_CSV ? ',' : '\t';
		fprintf(target->file, "fen%cchi2%cwhite%cdraws%cblack%cother%cnote\n", s, s, s, s,
			s, s);
	}
	return check(target);
}

/* In quotation marks where the reader would take it apart otherwise. */
static void print_note(FILE *file, char separator, const char *note, size_t len)
{
	bool quoted = memchr(note, separator, len) != NULL || memchr(note, '"', len) != NULL ||
		      memchr(note, '\n', len) != NULL || memchr(note, '\r', len) != NULL;
	if (!quoted) {
		(void)fwrite(note, 1, len, file);
		return;
	}
	(void)putc('"', file);
	for (size_t i = 0; i < len; i++) {
		if (note[i] == '"') {
			(void)putc('"', file);
		}
		(void)putc(note[i], file);
	}
	(void)putc('"', file);
}

static bool has_games(const struct chi_counts *c)
{
	return (c->white | c->draws | c->black | c->other) != 0;
}

/* Without games the cells stay empty: read again, they leave the counts of another store alone. */
static void print_csv(FILE *file, char s, const char *fen, const struct chi_record *record)
{
	char chi2[CHI_CHI2_TEXT_SIZE];
	const struct chi_counts *c = &record->counts;
	(void)chi_num_chi2_print(record->chi2, chi2);
	fprintf(file, "%s%c%s%c", fen, s, chi2, s);
	if (has_games(c)) {
		fprintf(file, "%" PRIu64 "%c%" PRIu64 "%c%" PRIu64 "%c%" PRIu64 "%c", c->white, s,
			c->draws, s, c->black, s, c->other, s);
	} else {
		fprintf(file, "%c%c%c%c", s, s, s, s);
	}
	if (record->n_note > 0) {
		print_note(file, s, record->note, record->n_note);
	}
	(void)putc('\n', file);
}

/* Room is made for the longest text, so the writer's `bad` is looked at once, at the end. */
CHI_PRINTF(2, 3) static void put_text(struct chi_writer *w, const char *format, ...)
{
	va_list args;
	char text[192];
	va_start(args, format);
	int len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	chi_write_bytes(w, text, len > 0 ? (size_t)len : 0);
}

/* SAN, as EPD has it; -CHI_ECORRUPT if a stored move is not legal. */
static int put_moves(struct chi_writer *w, const struct chi_position *from, const chi_move *moves,
		     size_t n)
{
	struct chi_position position = *from;
	put_text(w, " pv");
	for (size_t i = 0; i < n; i++) {
		char san[CHI_SAN_SIZE];
		struct chi_position next;
		if (!chi_movegen_is_legal(&position, moves[i])) {
			return -CHI_ECORRUPT;
		}
		(void)chi_san_print(&position, moves[i], san);
		put_text(w, " %s", san);
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
	put_text(w, ";");
	return CHI_OK;
}

/* A line of EPD holds one evaluation: the deepest. */
static int put_eval(struct chi_writer *w, const struct chi_position *position,
		    const struct chi_eval *eval)
{
	put_text(w, " %s %" PRId32 ";", eval->is_mate ? "dm" : "ce", eval->score);
	if (eval->depth > 0) {
		put_text(w, " acd %" PRIu32 ";", eval->depth);
	}
	if (eval->nodes > 0 && eval->nodes <= INT64_MAX) {
		put_text(w, " acn %" PRIu64 ";", eval->nodes);
	}
	return eval->n_pv > 0 ? put_moves(w, position, eval->pv, eval->n_pv) : CHI_OK;
}

static void put_counts(struct chi_writer *w, const struct chi_counts *c)
{
	if (!has_games(c)) {
		return;
	}
	put_text(w, " c0 \"white %" PRIu64 " draws %" PRIu64 " black %" PRIu64, c->white, c->draws,
		 c->black);
	if (c->other > 0) {
		put_text(w, " other %" PRIu64, c->other);
	}
	put_text(w, "\";");
}

/* Text that is no operations goes into a comment, without what would end that. */
static void put_comment(struct chi_writer *w, const char *note, size_t len)
{
	put_text(w, " c9 \"");
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)note[i];
		chi_write_u8(w, c < 0x20 || c == 0x7f ? ' ' : c == '"' ? '\'' : c);
	}
	put_text(w, "\";");
}

/* The line without its newline; the note as it is, or as a comment. */
static int build_epd(struct chi_writer *w, const struct chi_position *position,
		     const struct chi_record *record, bool comment)
{
	char fen[CHI_FEN_SIZE];
	int status = CHI_OK;
	size_t len = chi_fen_print(position, fen);
	chi_write_bytes(w, fen, len - strlen(" 0 1"));
	const struct chi_eval *eval = chi_evals_deepest(record->evals, record->n_evals);
	if (eval != NULL) {
		status = put_eval(w, position, eval);
	} else if (record->n_line > 0) {
		status = put_moves(w, position, record->line, record->n_line);
	}
	if (record->n_note > 0 && comment) {
		put_comment(w, record->note, record->n_note);
	} else if (record->n_note > 0) {
		put_text(w, " ");
		chi_write_bytes(w, record->note, record->n_note);
	}
	put_counts(w, &record->counts);
	return status;
}

/* True if the reader makes of the line the note that was meant: the record's, and the counts
 * after it. A note that is operations, as those from EPD files are, goes out as it came in. */
static bool reads_back(const char *line, size_t len, const struct chi_record *record,
		       struct chi_arena *arena)
{
	struct chi_put put;
	if (record->note[record->n_note - 1] != ';' || memchr(line, '\n', len) != NULL ||
	    memchr(line, '\r', len) != NULL ||
	    chi_epd_read(line, len, CHI_EPD_ENGINE, arena, &put, NULL) != CHI_OK) {
		return false;
	}
	char counts[192];
	struct chi_writer w = chi_writer_of(counts, sizeof(counts));
	put_counts(&w, &record->counts);
	size_t n = (size_t)(w.at - (uint8_t *)counts);
	return put.record.n_note == record->n_note + n &&
	       memcmp(put.record.note, record->note, record->n_note) == 0 &&
	       (n == 0 || memcmp(put.record.note + record->n_note, counts, n) == 0);
}

static int print_epd(FILE *file, const struct chi_key *key, const struct chi_record *record,
		     struct chi_arena *arena)
{
	struct chi_position position;
	int status = chi_key_decode(key, &position, NULL);
	if (status != CHI_OK) {
		return status;
	}
	const struct chi_eval *eval = chi_evals_deepest(record->evals, record->n_evals);
	size_t moves = eval != NULL ? eval->n_pv : record->n_line;
	size_t size = 1024 + moves * (CHI_SAN_SIZE + 1) + record->n_note;
	char *line = chi_arena_alloc(arena, size);
	if (line == NULL) {
		return -CHI_ENOMEM;
	}
	size_t len = 0;
	for (int comment = 0; comment < 2; comment++) {
		struct chi_writer w = chi_writer_of(line, size);
		status = build_epd(&w, &position, record, comment == 1);
		len = (size_t)(w.at - (uint8_t *)line);
		if (status != CHI_OK || w.bad) {
			return status != CHI_OK ? status : -CHI_EINTERNAL;
		}
		if (record->n_note == 0 || reads_back(line, len, record, arena)) {
			break;
		}
	}
	(void)fwrite(line, 1, len, file);
	(void)putc('\n', file);
	return CHI_OK;
}

static int print_json(FILE *file, const struct chi_key *key, const struct chi_record *record,
		      struct chi_arena *arena)
{
	const char *text = NULL;
	size_t len = 0;
	int status = record_text(key, record, arena, &text, &len);
	if (status == CHI_OK) {
		(void)fwrite(text, 1, len, file);
	}
	return status;
}

int export_row(struct target *target, enum export_format format, const struct chi_key *key,
	       const struct chi_record *record, struct chi_arena *arena)
{
	char fen[CHI_FEN_SIZE];
	chi_arena_reset(arena);
	int status = chi_key_to_fen(key, fen, NULL);
	if (status == CHI_OK && format == EXPORT_JSONL) {
		status = print_json(target->file, key, record, arena);
	} else if (status == CHI_OK && format == EXPORT_EPD) {
		status = print_epd(target->file, key, record, arena);
	} else if (status == CHI_OK) {
		print_csv(target->file, format == EXPORT_CSV ? ',' : '\t', fen, record);
	}
	if (status != CHI_OK) {
		cli_message("cannot print the record of '%s' (%s)", fen, chi_strerror(status));
		return EXIT_STORE;
	}
	return check(target);
}
