/* SPDX-License-Identifier: MIT */
/*
 * Puts the lines of a CSV record together, and turns everything a single line can do wrong into one
 * refusal that leaves the reader at the start of the next.
 */
#include "formats/reader.h"

#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/fault.h"
#include "formats/lines.h"
#include "formats/source.h"

struct chi_position_reader {
	struct chi_source *source;
	struct chi_lines lines;
	struct chi_buffer record; /* a CSV record of several lines */
	uint64_t line;
	bool started;
	bool failed;
};

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

/* With `format` for CHI_FORMAT_AUTO; takes the source. */
static int make_reader(struct chi_source *source, const struct chi_position_reader_options *options,
		       enum chi_format format, struct chi_position_reader **out,
		       struct chi_fault *fault)
{
	*out = NULL;
	_cleanup_(import_freep) struct chi_position_reader *import = calloc(1, sizeof(*import));
	if (import == NULL) {
		chi_source_close(source);
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	import->source = source;
	chi_buffer_init(&import->record, CHI_SOURCE_LINE_MAX);
	int status = chi_lines_init(&import->lines,
				    options->format != CHI_FORMAT_AUTO ? options->format : format,
				    options->engine, options->add, fault);
	if (status != CHI_OK) {
		return status;
	}
	*out = import;
	import = NULL;
	return CHI_OK;
}

int chi_position_reader_open(const char *path, const struct chi_position_reader_options *options,
			     struct chi_position_reader **out, struct chi_fault *fault)
{
	struct chi_source *source = NULL;
	struct chi_source_options source_options = {.cancel = options->cancel};
	*out = NULL;
	int status = chi_source_open(path, &source_options, &source, fault);
	return status != CHI_OK
		       ? status
		       : make_reader(source, options, chi_format_of_path(path), out, fault);
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

/* The first line that is not blank decides the format, and is the header of a CSV. For EPD and
 * JSON it is handed on in *line. */
static int detect_format(struct chi_position_reader *import, struct chi_arena *arena,
			 const char **line, size_t *len, struct chi_fault *fault)
{
	int status;
	do {
		status = take_line(import, line, len, fault);
		import->line = chi_source_line_number(import->source);
	} while (status == CHI_OK && chi_line_is_blank(*line, *len));
	if (status != CHI_OK) {
		return status;
	}
	import->started = true;
	status = chi_lines_begin(&import->lines, *line, *len, arena, fault);
	import->failed = status < 0;
	*line = status == CHI_NONE ? *line : NULL;
	return status < 0 ? status : CHI_OK;
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
		return chi_fail(fault, status, "a quoted field is not closed within %u bytes",
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
			open = chi_lines_open(&import->lines, *line, *len, true);
			status = add_line(import, *line, *len, fault);
		}
	}
	*line = (const char *)chi_buffer_bytes(&import->record);
	*len = import->record.len - strlen(chi_source_line_end(import->source));
	return status == CHI_NONE ? CHI_OK : status;
}

/* A record of one line or more. Of CSV it is copied to the arena because a note may point into it.
 */
static int read_one(struct chi_position_reader *import, const char *line, size_t len,
		    struct chi_arena *arena, struct chi_put_entry *put, struct chi_fault *fault)
{
	if (chi_line_is_blank(line, len)) {
		return CHI_NONE; /* and none is copied, however many there are */
	}
	if (chi_lines_open(&import->lines, line, len, false)) {
		int status = gather(import, &line, &len, fault);
		if (status != CHI_OK) {
			return status;
		}
	}
	if (chi_lines_span(&import->lines)) {
		line = chi_arena_text(arena, line, len);
	}
	return line != NULL ? chi_lines_read(&import->lines, line, len, arena, put, fault)
			    : chi_fault_plain(fault, -CHI_ENOMEM);
}

int chi_position_reader_next(struct chi_position_reader *import, struct chi_arena *arena,
			     struct chi_put_entry *put, struct chi_fault *fault)
{
	for (;;) {
		const char *line = NULL;
		size_t len = 0;
		int status = CHI_OK;
		if (!import->started) {
			status = detect_format(import, arena, &line, &len, fault);
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
	return chi_lines_ignored(&import->lines);
}

uint64_t chi_position_reader_clamped(const struct chi_position_reader *import)
{
	return chi_lines_clamped(&import->lines);
}

uint64_t chi_position_reader_bytes_read(const struct chi_position_reader *import)
{
	return chi_source_bytes_read(import->source);
}

uint64_t chi_position_reader_bytes_total(const struct chi_position_reader *import)
{
	return chi_source_bytes_total(import->source);
}
