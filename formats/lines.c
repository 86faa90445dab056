/* SPDX-License-Identifier: MIT */
/* Chooses the format and hands records to its reader. */
#include "formats/lines.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/fault.h"
#include "formats/evals/cdb.h"
#include "formats/epd.h"
#include "formats/evals/lichess.h"

enum chi_format chi_format_of(const char *name)
{
	static const struct {
		const char *name;
		enum chi_format format;
	} formats[] = {
		{"epd", CHI_FORMAT_EPD},
		{"fen", CHI_FORMAT_EPD},
		{"csv", CHI_FORMAT_CSV},
		{"tsv", CHI_FORMAT_TSV},
		{"bin", CHI_FORMAT_POLYGLOT},
		{"polyglot", CHI_FORMAT_POLYGLOT},
		{"pgn", CHI_FORMAT_PGN},
		{"jsonl", CHI_FORMAT_JSONL},
		{"ndjson", CHI_FORMAT_JSONL},
		{"json", CHI_FORMAT_JSONL},
		{"lichess-evals", CHI_FORMAT_LICHESS},
		{"cdb", CHI_FORMAT_CDB},
		{"exp", CHI_FORMAT_EXP},
	};
	for (size_t i = 0; i < CHI_COUNT(formats); i++) {
		if (strcasecmp(name, formats[i].name) == 0) {
			return formats[i].format;
		}
	}
	return CHI_FORMAT_AUTO;
}

/* Looks before the extension of a compressor. */
enum chi_format chi_format_of_path(const char *path)
{
	static const char *const packers[] = {".gz", ".zst", ".bz2", ".xz"};
	size_t len = strlen(path);
	for (size_t i = 0; i < CHI_COUNT(packers); i++) {
		size_t n = strlen(packers[i]);
		if (len > n && strcasecmp(path + len - n, packers[i]) == 0) {
			len -= n;
			break;
		}
	}
	const char *dot = memrchr(path, '.', len);
	char extension[8];
	size_t n = dot == NULL ? 0 : len - (size_t)(dot + 1 - path);
	if (n == 0 || n >= sizeof(extension)) {
		return CHI_FORMAT_AUTO;
	}
	memcpy(extension, dot + 1, n);
	extension[n] = '\0';
	return chi_format_of(extension);
}

/* Of games and books there is another way in. */
static int refuse_format(enum chi_format format, struct chi_fault *fault)
{
	if (format == CHI_FORMAT_POLYGLOT) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"Polyglot books are imported without other files");
	}
	if (format == CHI_FORMAT_EXP) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"files of experience are imported without other files");
	}
	return format != CHI_FORMAT_PGN ? CHI_OK
					: chi_fail(fault, -CHI_EUNSUPPORTED,
						   "this is a file of games, not of positions");
}

int chi_lines_init(struct chi_lines *lines, enum chi_format format, const char *engine, bool add,
		   struct chi_fault *fault)
{
	const char *name = engine != NULL ? engine : CHI_EPD_ENGINE;
	*lines = (struct chi_lines){
		.format = format,
		.engine = engine,
		.add = add,
		.csv = {.add = add, .engine = name},
		.json = {.add = add, .engine = name},
	};
	return refuse_format(format, fault);
}

static const char *engine_or(const struct chi_lines *lines, const char *name)
{
	return lines->engine != NULL ? lines->engine : name;
}

bool chi_line_is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (line[i] != ' ' && line[i] != '\t') {
			return false;
		}
	}
	return true;
}

/* An object is JSON, and a first line with a field named fen a header; anything else can only be
 * EPD. */
static enum chi_format format_of_line(struct chi_csv *csv, const char *line, size_t len,
				      struct chi_arena *arena)
{
	if (line[0] == '{') {
		return CHI_FORMAT_JSONL;
	}
	if (memchr(line, '\t', len) != NULL) {
		(void)!chi_csv_header(csv, '\t', line, len, arena, NULL);
		if (csv->field[CHI_CSV_FEN] != 0) {
			return CHI_FORMAT_TSV;
		}
	}
	(void)!chi_csv_header(csv, ',', line, len, arena, NULL);
	return csv->field[CHI_CSV_FEN] != 0 ? CHI_FORMAT_CSV : CHI_FORMAT_EPD;
}

int chi_lines_begin(struct chi_lines *lines, const char *line, size_t len, struct chi_arena *arena,
		    struct chi_fault *fault)
{
	if (len >= 7 && memcmp(line, "[Event ", 7) == 0) {
		return chi_fail(fault, -CHI_EUNSUPPORTED,
				"this is a file of games, not of positions");
	}
	if (lines->format == CHI_FORMAT_AUTO) {
		lines->format = format_of_line(&lines->csv, line, len, arena);
	}
	/* By its name lichess.org's file is JSON, and no other has that member. */
	if (lines->format == CHI_FORMAT_JSONL && memmem(line, len, "\"pvs\":", 6) != NULL) {
		lines->format = CHI_FORMAT_LICHESS;
	}
	/* As these are EPD. */
	if (lines->format == CHI_FORMAT_EPD &&
	    memmem(line, len, CHI_CDB_MARK, strlen(CHI_CDB_MARK)) != NULL) {
		lines->format = CHI_FORMAT_CDB;
	}
	if (!chi_lines_span(lines)) {
		return CHI_NONE;
	}
	char separator = lines->format == CHI_FORMAT_CSV ? ',' : '\t';
	return chi_csv_header(&lines->csv, separator, line, len, arena, fault);
}

bool chi_lines_span(const struct chi_lines *lines)
{
	return lines->format == CHI_FORMAT_CSV || lines->format == CHI_FORMAT_TSV;
}

bool chi_lines_open(const struct chi_lines *lines, const char *line, size_t len, bool open)
{
	return chi_lines_span(lines) && (open || memchr(line, '"', len) != NULL) &&
	       chi_csv_quotes(lines->csv.separator, line, len, open);
}

static int read_epd(const struct chi_lines *lines, const char *line, size_t len,
		    struct chi_arena *arena, struct chi_put_entry *put, struct chi_fault *fault)
{
	int status = lines->format == CHI_FORMAT_CDB
			     ? chi_cdb_read(line, len, engine_or(lines, CHI_CDB_ENGINE), arena, put,
					    fault)
			     : chi_epd_read(line, len, engine_or(lines, CHI_EPD_ENGINE), arena, put,
					    fault);
	if (status == CHI_OK && lines->add && (put->parts & CHI_PUT_COUNTS) != 0) {
		put->parts ^= CHI_PUT_COUNTS | CHI_PUT_ADD;
	}
	return status;
}

int chi_lines_read(struct chi_lines *lines, const char *record, size_t len, struct chi_arena *arena,
		   struct chi_put_entry *put, struct chi_fault *fault)
{
	switch (lines->format) {
	case CHI_FORMAT_EPD:
	case CHI_FORMAT_CDB:
		return read_epd(lines, record, len, arena, put, fault);
	case CHI_FORMAT_JSONL:
		return chi_json_read(&lines->json, record, len, arena, put, fault);
	case CHI_FORMAT_LICHESS:
		return chi_lichess_read(record, len, engine_or(lines, CHI_LICHESS_ENGINE), arena,
					put, fault);
	default:
		return chi_csv_read(&lines->csv, record, len, arena, put, fault);
	}
}

const char *chi_lines_ignored(const struct chi_lines *lines)
{
	return lines->format == CHI_FORMAT_JSONL ? lines->json.ignored
	       : chi_lines_span(lines)		 ? lines->csv.ignored
						 : "";
}

uint64_t chi_lines_clamped(const struct chi_lines *lines)
{
	return lines->format == CHI_FORMAT_JSONL ? lines->json.clamped
	       : chi_lines_span(lines)		 ? lines->csv.clamped
						 : 0;
}

bool chi_text_is_pgn(const char *bytes, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t at = len >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
	while (at < len && strchr(" \t\r\n", bytes[at]) != NULL && bytes[at] != '\0') {
		at++;
	}
	size_t first = at;
	while (at < len && bytes[at] >= '0' && bytes[at] <= '9') {
		at++;
	}
	if (at == len) {
		return false;
	}
	/* A comment that begins with a quotation mark is rarer than an object. */
	if (bytes[at] == '{') {
		size_t next = at + 1;
		while (next < len && (bytes[next] == ' ' || bytes[next] == '\t')) {
			next++;
		}
		return next == len || bytes[next] != '"';
	}
	/* No position begins with "12.", and no header with one of these. */
	return at > first ? bytes[at] == '.'
			  : strchr("[%;", bytes[at]) != NULL && bytes[at] != '\0';
}
