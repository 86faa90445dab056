/* SPDX-License-Identifier: MIT */
/* Records as lines. What comes out is held against the readers in formats, so that it can be
 * taken in again. */
#include "cli/out/export_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "base/record.h"
#include "base/wire.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "cli/out/export_evals.h"
#include "cli/out/output.h"
#include "cli/out/record.h"
#include "formats/epd.h"

const char *const export_formats[] = {
	[EXPORT_CSV] = "csv",
	[EXPORT_TSV] = "tsv",
	[EXPORT_JSONL] = "jsonl",
	[EXPORT_EPD] = "epd",
	[EXPORT_POLYGLOT] = "polyglot",
	[EXPORT_PGN] = "pgn",
	[EXPORT_LICHESS] = "lichess-evals",
	[EXPORT_CDB] = "cdb",
	[EXPORT_EXP] = "exp",
};

enum export_format export_format_of_path(const char *path)
{
	const char *dot = strrchr(path, '.');
	const char *name = dot == NULL ? "" : strcasecmp(dot, ".bin") == 0 ? "polyglot" : dot + 1;
	enum export_format format = EXPORT_FORMATS - 1;
	while (format != EXPORT_NONE && strcasecmp(name, export_formats[format]) != 0) {
		format--;
	}
	return format;
}

/* stdio's error is sticky: a row is looked at once, at its end. */
static int check_target(const struct target *target)
{
	return ferror(target->file) == 0 ? EXIT_DONE : target_fail(target);
}

int export_head(struct target *target, enum export_format format)
{
	if (format == EXPORT_CSV || format == EXPORT_TSV) {
		char s = format == EXPORT_CSV ? ',' : '\t';
		static const char names[] = "fen,chi2,white,draws,black,other,note,line,engine,"
					    "depth,cp,mate,nodes,pv,date\n";
		for (const char *at = names; *at != '\0'; at++) {
			(void)putc(*at == ',' ? s : *at, target->file);
		}
	}
	return check_target(target);
}

void export_cell(FILE *file, char separator, const char *note, size_t len)
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

/* The cells after the line's: engine, depth, cp, mate, nodes, pv, date. */
static int print_eval(FILE *file, char s, const struct chi_position *position,
		      const struct chi_eval *eval)
{
	char date[CHI_TIME_TEXT_SIZE];
	(void)chi_num_time_print(eval->date, date);
	export_cell(file, s, eval->engine, eval->engine_len);
	fprintf(file, "%c%" PRIu32 "%c", s, eval->depth, s);
	if (eval->is_mate) {
		fprintf(file, "%c%" PRId32 "%c", s, eval->score, s);
	} else {
		fprintf(file, "%" PRId32 "%c%c", eval->score, s, s);
	}
	if (eval->nodes > 0) {
		fprintf(file, "%" PRIu64, eval->nodes);
	}
	(void)putc(s, file);
	int status = export_moves(file, position, eval->pv, eval->n_pv, false);
	fprintf(file, "%c%s", s, date);
	return status;
}

/* Without games the cells stay empty: read again, they leave the counts of another store alone. */
static int print_csv(FILE *file, char s, const struct chi_key *key, const struct chi_record *record)
{
	struct chi_position position;
	char fen[CHI_FEN_SIZE];
	char chi2[CHI_CHI2_TEXT_SIZE];
	const struct chi_counts *c = &record->counts;
	const struct chi_eval *eval = chi_evals_deepest(record->evals, record->n_evals);
	int status = chi_key_decode(key, &position, NULL);
	if (status != CHI_OK) {
		return status;
	}
	(void)chi_fen_print(&position, fen);
	(void)chi_chi2_print(record->chi2, chi2);
	fprintf(file, "%s%c%s%c", fen, s, chi2, s);
	if (has_games(c)) {
		fprintf(file, "%" PRIu64 "%c%" PRIu64 "%c%" PRIu64 "%c%" PRIu64 "%c", c->white, s,
			c->draws, s, c->black, s, c->other, s);
	} else {
		fprintf(file, "%c%c%c%c", s, s, s, s);
	}
	if (record->n_note > 0) {
		export_cell(file, s, record->note, record->n_note);
	}
	(void)putc(s, file);
	if (record->n_line > 0) {
		status = export_moves(file, &position, record->line, record->n_line, false);
	}
	(void)putc(s, file);
	if (status == CHI_OK && eval != NULL) {
		status = print_eval(file, s, &position, eval);
	} else {
		fprintf(file, "%c%c%c%c%c%c", s, s, s, s, s, s);
	}
	(void)putc('\n', file);
	return status;
}

/* Room is made for the longest text, so the writer's `bad` is looked at once, at the end. */
CHI_PRINTF(2, 3) static void printf_text(struct chi_writer *w, const char *format, ...)
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
	printf_text(w, " pv");
	for (size_t i = 0; i < n; i++) {
		char san[CHI_SAN_SIZE];
		struct chi_position next;
		if (!chi_movegen_is_legal(&position, moves[i])) {
			return -CHI_ECORRUPT;
		}
		(void)chi_san_print(&position, moves[i], san);
		printf_text(w, " %s", san);
		chi_position_play(&position, moves[i], &next);
		position = next;
	}
	printf_text(w, ";");
	return CHI_OK;
}

/* The writer has room for the longest text. */
static void put_quoted(struct chi_writer *w, const char *opcode, const char *text, size_t len)
{
	printf_text(w, " %s ", opcode);
	if (w->bad || (size_t)(w->end - w->at) < 3 * len + 2) {
		w->bad = true;
		return;
	}
	w->at += chi_epd_quote(text, len, (char *)w->at);
	printf_text(w, ";");
}

static int put_eval(struct chi_writer *w, const struct chi_position *position,
		    const struct chi_eval *eval)
{
	printf_text(w, " %s %" PRId32 ";", eval->is_mate ? "dm" : "ce", eval->score);
	if (eval->engine_len != strlen(CHI_EPD_ENGINE) ||
	    memcmp(eval->engine, CHI_EPD_ENGINE, eval->engine_len) != 0) {
		put_quoted(w, "engine", eval->engine, eval->engine_len);
	}
	if (eval->depth > 0) {
		printf_text(w, " acd %" PRIu32 ";", eval->depth);
	}
	if (eval->nodes > 0 && eval->nodes <= INT64_MAX) {
		printf_text(w, " acn %" PRIu64 ";", eval->nodes);
	}
	return eval->n_pv > 0 ? put_moves(w, position, eval->pv, eval->n_pv) : CHI_OK;
}

/* Under the first number that the note does not use. */
static void put_counts(struct chi_writer *w, const struct chi_record *record, bool comment)
{
	char counts[CHI_EPD_COUNTS_SIZE];
	char opcode[] = "c0 ";
	const char *note = comment ? NULL : record->note;
	while (note != NULL && opcode[1] < '9' && memmem(note, record->n_note, opcode, 3) != NULL) {
		opcode[1]++;
	}
	if (has_games(&record->counts)) {
		printf_text(w, " %s", opcode);
		chi_write_bytes(w, counts, chi_epd_counts(&record->counts, counts));
		printf_text(w, ";");
	}
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
		put_quoted(w, "c9", record->note, record->n_note);
	} else if (record->n_note > 0) {
		printf_text(w, " ");
		chi_write_bytes(w, record->note, record->n_note);
	}
	put_counts(w, record, comment);
	return status;
}

/* True if the reader makes of the line the note that was meant, and of the note nothing else. A
 * note that is operations, as those from EPD files are, goes out as it came in. */
static bool reads_back(const char *line, size_t len, const struct chi_record *record,
		       struct chi_arena *arena)
{
	struct chi_put_entry put;
	if (record->note[record->n_note - 1] != ';' || memchr(line, '\n', len) != NULL ||
	    memchr(line, '\r', len) != NULL ||
	    chi_epd_read(line, len, CHI_EPD_ENGINE, arena, &put, NULL) != CHI_OK) {
		return false;
	}
	const struct chi_record *read = &put.record;
	size_t evals = chi_evals_deepest(record->evals, record->n_evals) != NULL ? 1 : 0;
	bool line_ok = read->n_line == 0 ||
		       (read->n_line == record->n_line &&
			memcmp(read->line, record->line, read->n_line * sizeof(*read->line)) == 0);
	return line_ok && read->n_note == record->n_note &&
	       memcmp(read->note, record->note, record->n_note) == 0 && read->n_evals == evals &&
	       chi_counts_equal(&read->counts, &record->counts);
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
	size_t size = 1024 + moves * (CHI_SAN_SIZE + 1) + 3 * record->n_note;
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
	int status = record_text(key, record, false, arena, &text, &len);
	if (status == CHI_OK) {
		(void)fwrite(text, 1, len, file);
	}
	return status;
}

/* Which position it is, said by its FEN or, without one, by its key. */
static int refuse_position(const struct chi_key *key, int status)
{
	char text[CHI_FEN_SIZE];
	if (chi_key_to_fen(key, text, NULL) != CHI_OK) {
		chi_hex_print(key->bytes, key->len, text);
	}
	cli_message("cannot print the record of '%s' (%s)", text, chi_strerror(status));
	return EXIT_STORE;
}

int export_row(struct target *target, enum export_format format, const struct chi_key *key,
	       const struct chi_record *record, struct chi_arena *arena)
{
	int status;
	chi_arena_reset(arena);
	if (format == EXPORT_LICHESS) {
		status = export_lichess(target->file, key, record);
	} else if (format == EXPORT_CDB) {
		status = export_cdb(target->file, key, record);
	} else if (format == EXPORT_JSONL) {
		status = print_json(target->file, key, record, arena);
	} else if (format == EXPORT_EPD) {
		status = print_epd(target->file, key, record, arena);
	} else {
		status = print_csv(target->file, format == EXPORT_CSV ? ',' : '\t', key, record);
	}
	if (status != CHI_OK) {
		return refuse_position(key, status);
	}
	return check_target(target);
}
