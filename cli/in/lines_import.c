/* SPDX-License-Identifier: MIT */
/* Files of positions are fed as they are; the library reads them, and tells of bad lines. */
#include "cli/in/lines_import.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/fault.h"
#include "cli/out/output.h"

/* Bad lines reported; more are counted, unless --verbose. */
#define REPORTS_MAX 20

/* Of a pipe: lines stored together at the most, and how old a line gets while no other comes. */
#define PIECE_LINES 100000
#define PIECE_MS    1000

/* What is said of a file: statistics, names and numbers that are not taken as they are. */
#define SAID_MAX 3

struct piped {
	struct line_files *files;
	struct chi_source *source;
	const char *bytes; /* read, not fed yet */
	size_t len;
	struct chi_buffer begun; /* the line that has begun, not fed yet */
	bool within;		 /* a line is fed in part: it is too long */
	bool ended;
	int64_t since;	 /* ms: the piece's first line */
	uint64_t lines;	 /* of this piece */
	uint64_t stored; /* lines of all pieces before, of which the good ones are stored */
	struct chi_import_result sum;
	size_t n_said; /* of this piece, which is to be said if there is a position */
	char said[SAID_MAX][CHI_FAULT_SIZE];
	char before[SAID_MAX][CHI_FAULT_SIZE]; /* of the last piece: said already */
};

/* A bad line, or what is said of a file. */
static void report_note(void *context, const struct chi_import_note *note)
{
	struct line_files *files = context;
	struct piped *piped = files->piped;
	if (piped != NULL && note->line == 0) {
		if (piped->n_said < SAID_MAX) {
			(void)snprintf(piped->said[piped->n_said++], CHI_FAULT_SIZE, "%s",
				       note->text);
		}
		return;
	}
	bool quiet = note->line == 0 && files->run.progress.quiet;
	files->bad += note->line > 0;
	if (quiet || (note->line > 0 && !files->verbose && files->bad > REPORTS_MAX)) {
		return;
	}
	progress_clear(&files->run.progress);
	if (note->line > 0) {
		cli_message("%s:%" PRIu64 ": %s", note->file,
			    note->line + (piped != NULL ? piped->stored : 0), note->text);
	} else {
		cli_message("%s%s%s", note->file, note->file[0] != '\0' ? ": " : "", note->text);
	}
	if (note->line > 0 && !files->verbose && files->bad == REPORTS_MAX) {
		cli_message("further bad lines are only counted; --verbose reports all");
	}
}

static uint64_t count_lines(const char *bytes, size_t len)
{
	const char *end = bytes + len;
	const char *at = bytes;
	uint64_t n = 0;
	while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		n++;
		at++;
	}
	return n;
}

static void tell_empty(struct import_run *run, const char *path)
{
	struct line_files *files = (struct line_files *)run;
	bool local = !cli_is_remote(run->cli);
	files->empty = true;
	files->told += local && run->progress.quiet;
	if (!local || run->progress.quiet) { /* else the import tells it */
		progress_clear(&run->progress);
		cli_message("%s: no position was found", path);
	}
}

/* ---- The whole --------------------------------------------------------------------------- */

/* `stored` counts lines, also those that were stored just so before. */
static void print_summary(struct cli *cli, const struct chi_import_result *result)
{
	const struct chi_put_result *total = &result->positions;
	uint64_t stored = total->added + total->updated + total->unchanged;
	output_object(cli,
		      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "read", json_count(result->games),
				"stored", json_count(stored), "new", json_count(total->added),
				"updated", json_count(total->updated), "unchanged",
				json_count(total->unchanged), "rejected",
				json_count(result->skipped)));
}

static int tell_lines_stored(struct import_run *run, int status,
			     const struct chi_import_result *result)
{
	const struct line_files *files = (const struct line_files *)run;
	if (status != CHI_OK) {
		return import_fail(run, status);
	}
	print_summary(run->cli, result);
	if (run->progress.quiet && result->empty > files->told) {
		cli_message("%" PRIu64 " files without a position", result->empty - files->told);
	}
	return files->empty || result->empty > 0 || (files->strict && result->skipped > 0)
		       ? EXIT_STORE
		       : EXIT_DONE;
}

static void prepare_run(struct line_files *files)
{
	files->run.options.kind = CHI_IMPORT_PUT;
	files->run.options.verbose = files->verbose;
	files->run.options.report = report_note;
	files->run.by_line = true;
}

int lines_import(struct cli *cli, struct line_files *files, int n, char **paths,
		 struct chi_source **sources, uint64_t total)
{
	struct import_paths context = {.n = n, .paths = paths, .sources = sources};
	struct import_run *run = &files->run;
	prepare_run(files);
	run->count = count_lines;
	run->empty = tell_empty;
	return import_store(cli, run, total, import_feed_paths, tell_lines_stored, &context);
}

/* ---- A pipe, piece by piece ---------------------------------------------------------------- */

/* Waits as long as it takes. */
static int read_piped(struct piped *piped)
{
	struct chi_fault fault = {.text = ""};
	char place[64];
	int status = chi_source_read(piped->source, &piped->bytes, &piped->len, &fault);
	if (status == CHI_OK) {
		return EXIT_DONE;
	}
	piped->len = 0;
	piped->ended = status == CHI_NONE;
	if (piped->ended) {
		return EXIT_DONE;
	}
	(void)snprintf(place, sizeof(place), "-:%" PRIu64, piped->stored + piped->lines + 1);
	return import_say_file(&piped->files->run, place, fault.text,
			       status == -CHI_EUNSUPPORTED ? EXIT_USAGE : EXIT_STORE);
}

/* How much of what was read, and of the line before it, can be fed: up to the end of a line, or all
 * of a line that is too long for the import to take it. At the end of the input there is no more.
 */
static size_t whole_lines(const struct piped *piped)
{
	const char *last = piped->len > 0 ? memrchr(piped->bytes, '\n', piped->len) : NULL;
	bool longer = piped->begun.len + piped->len > CHI_SOURCE_LINE_MAX;
	return last != NULL ? (size_t)(last - piped->bytes) + 1 : longer ? piped->len : 0;
}

/* The rest waits for its end, so that no piece ends within a line. */
static int feed_piped(struct piped *piped)
{
	struct chi_import *import = piped->files->run.import;
	size_t whole = whole_lines(piped);
	int status = CHI_OK;
	if (whole > 0 || piped->ended) {
		status = chi_import_feed(import, chi_buffer_bytes(&piped->begun), piped->begun.len);
		piped->lines += piped->ended && piped->begun.len > 0;
		chi_buffer_consume(&piped->begun, piped->begun.len);
		status = status == CHI_OK ? chi_import_feed(import, piped->bytes, whole) : status;
		piped->lines += whole > 0 ? count_lines(piped->bytes, whole) : 0;
		piped->within = whole > 0 && piped->bytes[whole - 1] != '\n';
	}
	if (status == CHI_OK && piped->len > whole) {
		status = chi_buffer_append(&piped->begun, piped->bytes + whole, piped->len - whole);
	}
	piped->len = 0;
	return status;
}

/* It is much, or it is old and nothing follows. */
static bool is_piece(const struct piped *piped)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	if (piped->within || piped->lines >= PIECE_LINES) {
		return !piped->within;
	}
	int64_t age = chi_now_ms() - piped->since;
	return poll(&input, 1, age < PIECE_MS ? (int)(PIECE_MS - age) : 0) == 0;
}

static int feed_piece(struct import_run *run, void *context)
{
	struct piped *piped = context;
	int status = chi_import_file(run->import, "-");
	int code = EXIT_DONE;
	piped->since = chi_now_ms();
	piped->lines = 0;
	piped->n_said = 0;
	status = status == CHI_OK ? feed_piped(piped) : status;
	while (status == CHI_OK && code == EXIT_DONE && !piped->ended && !is_piece(piped)) {
		code = read_piped(piped);
		status = code == EXIT_DONE ? feed_piped(piped) : CHI_OK;
		progress_update(&run->progress, chi_source_bytes_read(piped->source),
				piped->stored + piped->lines);
	}
	return status == CHI_OK ? code : import_fail(run, status);
}

/* What is said of a piece was not said of the one before. */
static void say_of_piece(struct piped *piped)
{
	for (size_t i = 0; i < piped->n_said; i++) {
		bool known = false;
		for (size_t k = 0; k < SAID_MAX; k++) {
			known |= strcmp(piped->said[i], piped->before[k]) == 0;
		}
		if (!known && !piped->files->run.progress.quiet) {
			cli_message("-: %s", piped->said[i]);
		}
	}
	memcpy(piped->before, piped->said, sizeof(piped->before));
}

static int add_piece(struct import_run *run, int status, const struct chi_import_result *result)
{
	struct piped *piped = ((struct line_files *)run)->piped;
	const struct chi_put_result *put = &result->positions;
	struct chi_put_result *sum = &piped->sum.positions;
	if (status != CHI_OK) {
		return import_fail(run, status);
	}
	if (result->empty == 0) {
		say_of_piece(piped);
	}
	piped->stored += piped->lines;
	piped->sum.games += result->games;
	piped->sum.skipped += result->skipped;
	sum->added += put->added;
	sum->updated += put->updated;
	sum->unchanged += put->unchanged;
	run->patient = true;
	return EXIT_DONE;
}

/* No import is open while nothing has come. */
static int store_pieces(struct cli *cli, struct piped *piped)
{
	struct import_run *run = &piped->files->run;
	int code = EXIT_DONE;
	while (code == EXIT_DONE && !piped->ended) {
		code = read_piped(piped);
		if (code != EXIT_DONE && cli_stop != 0) {
			cli_message("interrupted");
			return 128 + cli_stop;
		}
		if (code != EXIT_DONE) {
			return code;
		}
		if (whole_lines(piped) > 0 || (piped->ended && piped->begun.len > 0)) {
			code = import_store(cli, run, 0, feed_piece, add_piece, piped);
		} else if (piped->len > 0 &&
			   chi_buffer_append(&piped->begun, piped->bytes, piped->len) != CHI_OK) {
			return cli_no_memory();
		}
	}
	return code;
}

int lines_pipe(struct cli *cli, struct line_files *files)
{
	struct chi_source_options options = {.cancel = &cli_stop};
	struct chi_fault fault = {.text = ""};
	struct piped piped = {.files = files};
	int status = chi_source_open("-", &options, &piped.source, &fault);
	if (status != CHI_OK) {
		return cli_fault(status, &fault);
	}
	prepare_run(files);
	files->piped = &piped;
	files->run.piece = true;
	chi_buffer_init(&piped.begun, 2 * (size_t)CHI_SOURCE_LINE_MAX);
	cli_catch_signals();
	int code = store_pieces(cli, &piped);
	chi_buffer_deinit(&piped.begun);
	chi_source_close(piped.source);
	if (code != EXIT_DONE) {
		cli_message("line %" PRIu64 " is the first that is not stored for certain",
			    piped.stored + 1);
		return code;
	}
	print_summary(cli, &piped.sum);
	if (piped.sum.games == piped.sum.skipped) {
		cli_message("-: no position was found");
		return EXIT_STORE;
	}
	return files->strict && piped.sum.skipped > 0 ? EXIT_STORE : EXIT_DONE;
}
