/* SPDX-License-Identifier: MIT */
/* Files of positions are fed as they are; the library reads them, and tells of bad lines. */
#include "cli/in/lines_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/in/files.h"
#include "cli/out/output.h"

/* Bad lines reported; more are counted, unless --verbose. */
#define REPORTS_MAX 20

/* A bad line, or what is said of a file. */
static void report_note(void *context, const struct chi_import_note *note)
{
	struct line_files *files = context;
	bool quiet = note->line == 0 && files->progress.quiet;
	files->bad += note->line > 0;
	if (quiet || (note->line > 0 && !files->verbose && files->bad > REPORTS_MAX)) {
		return;
	}
	progress_clear(&files->progress);
	if (note->line > 0) {
		cli_message("%s:%" PRIu64 ": %s", note->file, note->line, note->text);
	} else {
		cli_message("%s%s%s", note->file, note->file[0] != '\0' ? ": " : "", note->text);
	}
	if (note->line > 0 && !files->verbose && files->bad == REPORTS_MAX) {
		cli_message("further bad lines are only counted; --verbose reports all");
	}
}

/* While the positions are stored; chi_import_progress. */
static void progressed(void *context, const char *phase, uint64_t done, uint64_t total)
{
	struct line_files *files = context;
	progress_phase(&files->progress, phase, done, total);
}

/* Says why, unless a signal stopped the work, which is said at the end. */
static int fail_line(struct line_files *files, const char *text, int code)
{
	progress_clear(&files->progress);
	if (cli_stop == 0) {
		cli_message("%s; nothing was stored", text);
	}
	return code;
}

/* A file that cannot be opened or read on; line 0: from its start. */
static int file_fail(struct line_files *files, const char *path, uint64_t line, const char *why,
		     int code)
{
	char text[CHI_FAULT_SIZE + 600];
	char at[24] = "";
	if (line > 0) {
		(void)snprintf(at, sizeof(at), ":%" PRIu64, line);
	}
	(void)snprintf(text, sizeof(text), "%.500s%s: %s", path, at, why);
	return fail_line(files, text, code);
}

/* An archive of files, or games: those are imported in another way. */
static int exit_of(int status)
{
	return status == -CHI_EUNSUPPORTED ? EXIT_USAGE : EXIT_STORE;
}

/* For messages and the progress bar. */
static void count_lines(struct line_files *files, const char *bytes, size_t len)
{
	const char *end = bytes + len;
	const char *at = bytes;
	while ((at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		files->lines++;
		at++;
	}
}

/* The file's text, to its end. A file without a byte is not sent. */
static int feed_source(struct line_files *files, struct chi_import *import, const char *path,
		       struct chi_source *source)
{
	int status = chi_import_file(import, path);
	bool empty = true;
	files->lines = 0;
	while (status == CHI_OK) {
		const char *bytes = NULL;
		size_t len = 0;
		struct chi_fault fault = {.text = ""};
		int got = chi_source_read(source, &bytes, &len, &fault);
		if (got == CHI_NONE && empty) {
			bool local = !cli_is_remote(files->cli);
			files->empty = true;
			files->told += local && files->progress.quiet;
			if (!local || files->progress.quiet) { /* else the import tells it */
				progress_clear(&files->progress);
				cli_message("%s: no position was found", path);
			}
			return EXIT_DONE;
		}
		if (got == CHI_NONE) {
			return EXIT_DONE;
		}
		if (got != CHI_OK) {
			return file_fail(files, path, files->lines + 1, fault.text, exit_of(got));
		}
		empty = false;
		count_lines(files, bytes, len);
		status = chi_import_feed(import, bytes, len);
		progress_update(&files->progress,
				files->bytes_before + chi_source_bytes_read(source),
				files->all_lines + files->lines);
	}
	return fail_line(files, chi_import_error(import), exit_of(status));
}

/* Opens the file if it is not open yet, and closes it. */
static int feed_file(struct line_files *files, struct chi_import *import, const char *path,
		     struct chi_source *source)
{
	struct chi_source_options options = {.cancel = &cli_stop};
	struct chi_fault fault = {.text = ""};
	int status = source == NULL ? chi_source_open(path, &options, &source, &fault) : CHI_OK;
	if (status != CHI_OK) {
		return file_fail(files, path, 0, fault.text, files_exit_of(status));
	}
	int code = feed_source(files, import, path, source);
	files->all_lines += files->lines;
	files->bytes_before += chi_source_bytes_total(source);
	chi_source_close(source);
	return code;
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

static int commit_files(struct line_files *files, struct chi_import *import, bool *stored)
{
	struct chi_import_result result;
	int status = chi_import_commit(import, &result);
	progress_clear(&files->progress);
	if (status != CHI_OK) {
		return fail_line(files, chi_import_error(import), EXIT_STORE);
	}
	*stored = true;
	print_summary(files->cli, &result);
	if (files->progress.quiet && result.empty > files->told) {
		cli_message("%" PRIu64 " files without a position", result.empty - files->told);
	}
	return files->empty || result.empty > 0 || (files->strict && result.skipped > 0)
		       ? EXIT_STORE
		       : EXIT_DONE;
}

int lines_import_open(struct cli *cli, enum chi_statistic create,
		      const struct chi_import_options *import, struct chi_import **out)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(cli, true, &options);
	int status = chi_import_open(cli->address, &options, create, import, out, &fault);
	if (status == -CHI_ENOSTORE && create == 0 && !cli_is_remote(cli)) {
		status = chi_import_open(cli->address, &options, CHI_STATISTIC_CONTROL, import, out,
					 &fault);
	}
	return cli_fault(status, &fault);
}

static int import_files(struct line_files *files, struct chi_import *import, int n, char **paths,
			struct chi_source **sources)
{
	int code = EXIT_DONE;
	for (int i = 0; i < n && code == EXIT_DONE && cli_stop == 0; i++) {
		struct chi_source *source = sources[i];
		sources[i] = NULL;
		code = feed_file(files, import, paths[i], source);
	}
	if (code == EXIT_DONE && cli_stop == 0) {
		bool stored = false;
		code = commit_files(files, import, &stored);
		if (stored) {
			return code; /* too late to be stopped */
		}
	}
	progress_clear(&files->progress);
	if (cli_stop != 0) {
		cli_message("interrupted; nothing was stored");
		return 128 + cli_stop;
	}
	return code;
}

int lines_import(struct cli *cli, struct line_files *files, int n, char **paths,
		 struct chi_source **sources, uint64_t total)
{
	struct chi_import *import = NULL;
	if (!cli_has_address(cli)) {
		return EXIT_USAGE;
	}
	files->cli = cli;
	files->options.kind = CHI_IMPORT_PUT;
	files->options.verbose = files->verbose;
	files->options.report = report_note;
	files->options.progress = progressed;
	files->options.context = files;
	files->options.cancel = &cli_stop;
	progress_init(&files->progress, cli->quiet, total);
	cli_catch_signals();
	int code = lines_import_open(cli, files->create, &files->options, &import);
	if (code == EXIT_DONE) {
		code = import_files(files, import, n, paths, sources);
	}
	chi_import_close(import);
	return code;
}
