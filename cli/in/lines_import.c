/* SPDX-License-Identifier: MIT */
/* Files of positions are fed as they are; the library reads them, and tells of bad lines. */
#include "cli/in/lines_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/output.h"

/* Bad lines reported; more are counted, unless --verbose. */
#define REPORTS_MAX 20

/* A bad line, or what is said of a file. */
static void report_note(void *context, const struct chi_import_note *note)
{
	struct line_files *files = context;
	bool quiet = note->line == 0 && files->run.progress.quiet;
	files->bad += note->line > 0;
	if (quiet || (note->line > 0 && !files->verbose && files->bad > REPORTS_MAX)) {
		return;
	}
	progress_clear(&files->run.progress);
	if (note->line > 0) {
		cli_message("%s:%" PRIu64 ": %s", note->file, note->line, note->text);
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

int lines_import(struct cli *cli, struct line_files *files, int n, char **paths,
		 struct chi_source **sources, uint64_t total)
{
	struct import_paths context = {.n = n, .paths = paths, .sources = sources};
	struct import_run *run = &files->run;
	run->options.kind = CHI_IMPORT_PUT;
	run->options.verbose = files->verbose;
	run->options.report = report_note;
	run->count = count_lines;
	run->by_line = true;
	run->empty = tell_empty;
	return import_store(cli, run, total, import_feed_paths, tell_lines_stored, &context);
}
