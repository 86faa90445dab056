/* SPDX-License-Identifier: MIT */
/*
 * Chooses the format, puts the lines of a CSV record together, and turns everything a single line
 * can do wrong into one refusal that leaves the reader at the start of the next.
 */
#include "formats/reader.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "formats/csv.h"
#include "formats/epd.h"
#include "formats/json_lines.h"
#include "formats/source.h"

struct chi_position_reader {
	struct chi_position_reader_options options;
	enum chi_format format; /* CHI_FORMAT_AUTO until the first line is seen */
	struct chi_source *source;
	struct chi_csv csv;
	struct chi_json_lines json;
	struct chi_buffer record; /* a CSV record of several lines */
	uint64_t line;
	bool started;
	bool failed;
};

enum chi_format chi_format_of(const char *name)
{
	static const struct {
		const char *name;
		enum chi_format format;
	} formats[] = {
		{"epd", CHI_FORMAT_EPD},      {"fen", CHI_FORMAT_EPD},
		{"csv", CHI_FORMAT_CSV},      {"tsv", CHI_FORMAT_TSV},
		{"bin", CHI_FORMAT_POLYGLOT}, {"polyglot", CHI_FORMAT_POLYGLOT},
		{"pgn", CHI_FORMAT_PGN},      {"jsonl", CHI_FORMAT_JSONL},
		{"ndjson", CHI_FORMAT_JSONL}, {"json", CHI_FORMAT_JSONL},
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

bool chi_position_reader_is_pgn(const char *bytes, size_t len)
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

static void import_freep(struct chi_position_reader **import)
{
	chi_position_reader_close(*import);
}

/* Of games and books there is another way in. */
static int refuse_format(enum chi_format format, struct chi_fault *fault)
{
	if (format == CHI_FORMAT_POLYGLOT) {
		return chi_fault(fault, -CHI_EUNSUPPORTED,
				 "Polyglot books are imported without other files");
	}
	return format != CHI_FORMAT_PGN ? CHI_OK
					: chi_fault(fault, -CHI_EUNSUPPORTED,
						    "this is a file of games, not of positions");
}

/* With `format` for CHI_FORMAT_AUTO; takes the source. */
static int make(struct chi_source *source, const struct chi_position_reader_options *options,
		enum chi_format format, struct chi_position_reader **out, struct chi_fault *fault)
{
	*out = NULL;
	_cleanup_(import_freep) struct chi_position_reader *import = calloc(1, sizeof(*import));
	if (import == NULL) {
		chi_source_close(source);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	import->source = source;
	import->options = *options;
	if (import->options.engine == NULL) {
		import->options.engine = CHI_EPD_ENGINE;
	}
	import->csv = (struct chi_csv){.add = options->add, .engine = import->options.engine};
	import->json =
		(struct chi_json_lines){.add = options->add, .engine = import->options.engine};
	import->format = options->format != CHI_FORMAT_AUTO ? options->format : format;
	chi_buffer_init(&import->record, CHI_SOURCE_LINE_MAX);
	int status = refuse_format(import->format, fault);
	if (status != CHI_OK) {
		return status;
	}
	*out = import;
	import = NULL;
	return CHI_OK;
}

int chi_position_reader_open_source(struct chi_source *source,
				    const struct chi_position_reader_options *options,
				    struct chi_position_reader **out, struct chi_fault *fault)
{
	return make(source, options, CHI_FORMAT_AUTO, out, fault);
}

int chi_position_reader_open(const char *path, const struct chi_position_reader_options *options,
			     struct chi_position_reader **out, struct chi_fault *fault)
{
	struct chi_source *source = NULL;
	struct chi_source_options source_options = {.cancel = options->cancel};
	*out = NULL;
	int status = chi_source_open(path, &source_options, &source, fault);
	return status != CHI_OK ? status
				: make(source, options, chi_format_of_path(path), out, fault);
}

void chi_position_reader_close(struct chi_position_reader *import)
{
	if (import == NULL) {
		return;
	}
	chi_source_close(import->source);
	chi_buffer_deinit(&import->record);
	free(import);
}

/* A line; remembers whether the stream is at fault, or only this line. */
static int take_line(struct chi_position_reader *import, const char **line, size_t *len,
		     struct chi_fault *fault)
{
	int status = chi_source_line(import->source, line, len, fault);
	if (status < 0 && status != -CHI_ETOOBIG) {
		import->failed = true;
	}
	return status;
}

static bool is_blank(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (line[i] != ' ' && line[i] != '\t') {
			return false;
		}
	}
	return true;
}

/* The first line that is not blank decides the format, and is the header of a CSV. For EPD and
 * JSON it is handed on in *line. */
static int begin(struct chi_position_reader *import, struct chi_arena *arena, const char **line,
		 size_t *len, struct chi_fault *fault)
{
	int status;
	do {
		status = take_line(import, line, len, fault);
		import->line = chi_source_line_number(import->source);
	} while (status == CHI_OK && is_blank(*line, *len));
	if (status != CHI_OK) {
		return status;
	}
	import->started = true;
	if (*len >= 7 && memcmp(*line, "[Event ", 7) == 0) {
		import->failed = true;
		return chi_fault(fault, -CHI_EUNSUPPORTED,
				 "this is a file of games, not of positions");
	}
	if (import->format == CHI_FORMAT_AUTO) {
		import->format = format_of_line(&import->csv, *line, *len, arena);
	}
	if (import->format == CHI_FORMAT_EPD || import->format == CHI_FORMAT_JSONL) {
		return CHI_OK;
	}
	char separator = import->format == CHI_FORMAT_CSV ? ',' : '\t';
	status = chi_csv_header(&import->csv, separator, *line, *len, arena, fault);
	import->failed = status != CHI_OK;
	*line = NULL;
	return status;
}

/* Appends a line to the record that spans lines, with its end: that belongs to the cell. */
static int add_line(struct chi_position_reader *import, const char *line, size_t len,
		    struct chi_fault *fault)
{
	const char *end = chi_source_line_end(import->source);
	int status = chi_buffer_append(&import->record, line, len);
	if (status == CHI_OK) {
		status = chi_buffer_append(&import->record, end, strlen(end));
	}
	if (status == -CHI_ETOOBIG) {
		return chi_fault(fault, status, "a quoted field is not closed within %u bytes",
				 CHI_SOURCE_LINE_MAX);
	}
	import->failed = status != CHI_OK;
	return status == CHI_OK ? CHI_OK : chi_fault_plain(fault, status);
}

/* Goes on with a record whose first line ended inside quotation marks. */
static int gather(struct chi_position_reader *import, const char **line, size_t *len,
		  struct chi_fault *fault)
{
	bool open = true;
	chi_buffer_consume(&import->record, import->record.len);
	int status = add_line(import, *line, *len, fault);
	while (status == CHI_OK && open) {
		status = take_line(import, line, len, fault);
		if (status == CHI_NONE) {
			break; /* the parser says that the mark is not closed */
		}
		if (status == CHI_OK) {
			open = chi_csv_quotes(import->csv.separator, *line, *len, true);
			status = add_line(import, *line, *len, fault);
		}
	}
	*line = (const char *)chi_buffer_bytes(&import->record);
	*len = import->record.len - strlen(chi_source_line_end(import->source));
	return status == CHI_NONE ? CHI_OK : status;
}

/* A CSV record of one line or more, copied to the arena because a note may point into it. */
static int read_csv(struct chi_position_reader *import, const char *line, size_t len,
		    struct chi_arena *arena, struct chi_put *put, struct chi_fault *fault)
{
	if (is_blank(line, len)) {
		return CHI_NONE; /* and none is copied, however many there are */
	}
	if (chi_csv_quotes(import->csv.separator, line, len, false)) {
		int status = gather(import, &line, &len, fault);
		if (status != CHI_OK) {
			return status;
		}
	}
	char *copy = chi_arena_text(arena, line, len);
	if (copy == NULL) {
		import->failed = true;
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	return chi_csv_read(&import->csv, copy, len, arena, put, fault);
}

static int read_epd(const struct chi_position_reader *import, const char *line, size_t len,
		    struct chi_arena *arena, struct chi_put *put, struct chi_fault *fault)
{
	int status = chi_epd_read(line, len, import->options.engine, arena, put, fault);
	if (status == CHI_OK && import->options.add && (put->parts & CHI_PUT_COUNTS) != 0) {
		put->parts ^= CHI_PUT_COUNTS | CHI_PUT_ADD;
	}
	return status;
}

static int read_one(struct chi_position_reader *import, const char *line, size_t len,
		    struct chi_arena *arena, struct chi_put *put, struct chi_fault *fault)
{
	switch (import->format) {
	case CHI_FORMAT_EPD:
		return read_epd(import, line, len, arena, put, fault);
	case CHI_FORMAT_JSONL:
		return chi_json_read(&import->json, line, len, arena, put, fault);
	default:
		return read_csv(import, line, len, arena, put, fault);
	}
}

int chi_position_reader_next(struct chi_position_reader *import, struct chi_arena *arena,
			     struct chi_put *put, struct chi_fault *fault)
{
	for (;;) {
		const char *line = NULL;
		size_t len = 0;
		int status = CHI_OK;
		if (!import->started) {
			status = begin(import, arena, &line, &len, fault);
		}
		if (status == CHI_OK && line == NULL) {
			status = take_line(import, &line, &len, fault);
			import->line = chi_source_line_number(import->source);
		}
		if (status != CHI_OK) {
			return status;
		}
		status = read_one(import, line, len, arena, put, fault);
		if (status == -CHI_ENOMEM) {
			import->failed = true;
		}
		if (status != CHI_NONE) {
			return status;
		}
	}
}

bool chi_position_reader_failed(const struct chi_position_reader *import)
{
	return import->failed;
}

uint64_t chi_position_reader_line(const struct chi_position_reader *import)
{
	return import->line;
}

const char *chi_position_reader_ignored(const struct chi_position_reader *import)
{
	return import->format == CHI_FORMAT_JSONL ? import->json.ignored
	       : import->format == CHI_FORMAT_EPD ? ""
						  : import->csv.ignored;
}

uint64_t chi_position_reader_clamped(const struct chi_position_reader *import)
{
	return import->format == CHI_FORMAT_JSONL ? import->json.clamped
	       : import->format == CHI_FORMAT_EPD ? 0
						  : import->csv.clamped;
}

uint64_t chi_position_reader_bytes_read(const struct chi_position_reader *import)
{
	return chi_source_bytes_read(import->source);
}

uint64_t chi_position_reader_bytes_total(const struct chi_position_reader *import)
{
	return chi_source_bytes_total(import->source);
}
