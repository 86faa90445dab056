/* SPDX-License-Identifier: MIT */
/* Files are fed as they are; the library reads them. Nothing is stored until all have been read to
 * their end, so that a file that is cut short stores nothing. */
#include "cli/in/import_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cli/in/files.h"

int import_say(struct import_run *run, const char *text, int code)
{
	progress_clear(&run->progress);
	if (cli_stop == 0) {
		cli_message("%s", text);
	}
	return code;
}

int import_say_file(struct import_run *run, const char *name, const char *text, int code)
{
	char line[CHI_FAULT_SIZE + 600];
	(void)snprintf(line, sizeof(line), "%.500s: %s%s", name, text,
		       run->piece ? "" : "; nothing was stored");
	return import_say(run, line, code);
}

/* An archive of files, or games: those are imported in another way. */
static int exit_of(int status)
{
	return status == -CHI_EUNSUPPORTED ? EXIT_USAGE : EXIT_STORE;
}

/* What was read may be at fault; a server calls that an invalid request. */
int import_fail(struct import_run *run, int status)
{
	if (run->what != NULL && (status == -CHI_ESYNTAX || status == -CHI_EINVAL)) {
		return import_say_file(run, run->what, chi_import_error(run->import), EXIT_STORE);
	}
	return import_say(run, chi_import_error(run->import), exit_of(status));
}

/* ---- Files ------------------------------------------------------------------------------- */

int import_feed_source(struct import_run *run, const char *name, struct chi_source *source)
{
	uint64_t before = run->seen;
	int status = CHI_OK;
	while (status == CHI_OK) {
		const char *bytes = NULL;
		size_t len = 0;
		struct chi_fault fault = {.text = ""};
		int got = chi_source_read(source, &bytes, &len, &fault);
		if (got == CHI_NONE) {
			return EXIT_DONE;
		}
		if (got != CHI_OK) {
			char place[CHI_FAULT_SIZE + 400];
			(void)snprintf(place, sizeof(place), "%.350s:%" PRIu64, name,
				       run->seen - before + 1);
			return import_say_file(run, run->by_line ? place : name, fault.text,
					       exit_of(got));
		}
		run->seen += run->count != NULL ? run->count(bytes, len) : 0;
		status = chi_import_feed(run->import, bytes, len);
		progress_update(&run->progress, run->bytes_before + chi_source_bytes_read(source),
				run->seen);
	}
	return import_fail(run, status);
}

/* A file from its begin: opened if `source` is NULL, and closed. */
static int feed_file(struct import_run *run, const char *path, struct chi_source *source)
{
	struct chi_source_options options = {.cancel = &cli_stop};
	struct chi_fault fault = {.text = ""};
	int status = source == NULL ? chi_source_open(path, &options, &source, &fault) : CHI_OK;
	if (status != CHI_OK) {
		return import_say_file(run, path, fault.text, files_exit_of(status));
	}
	status = chi_import_file(run->import, path);
	int code =
		status == CHI_OK ? import_feed_source(run, path, source) : import_fail(run, status);
	if (code == EXIT_DONE && run->empty != NULL && chi_source_bytes_read(source) == 0) {
		run->empty(run, path);
	}
	run->bytes_before += chi_source_bytes_total(source);
	chi_source_close(source);
	return code;
}

int import_feed_paths(struct import_run *run, void *context)
{
	const struct import_paths *files = context;
	int code = EXIT_DONE;
	for (int i = 0; i < files->n && code == EXIT_DONE && cli_stop == 0; i++) {
		struct chi_source *source = files->sources != NULL ? files->sources[i] : NULL;
		if (files->sources != NULL) {
			files->sources[i] = NULL;
		}
		code = feed_file(run, files->paths[i], source);
	}
	return code;
}

/* ---- The whole --------------------------------------------------------------------------- */

/* While it is stored; chi_import_progress. */
static void show_phase(void *context, const char *phase, uint64_t done, uint64_t total)
{
	struct import_run *run = context;
	progress_phase(&run->progress, phase, done, total);
}

static int try_open(struct import_run *run, struct chi_fault *fault)
{
	struct chi_options options;
	const struct cli *cli = run->cli;
	cli_options(cli, true, &options);
	int status = chi_import_open(cli->address, &options, run->create, &run->options,
				     &run->import, fault);
	if (status == -CHI_ENOSTORE && run->create == 0 && !cli_is_remote(cli) &&
	    run->options.kind != CHI_IMPORT_SUBTRACT) {
		status = chi_import_open(cli->address, &options, CHI_STATISTIC_CONTROL,
					 &run->options, &run->import, fault);
	}
	return status;
}

/* Others may have taken all places, or the store, since the piece before. */
static int open_import(struct import_run *run)
{
	const struct timespec while_busy = {.tv_nsec = 100 * 1000 * 1000};
	struct chi_fault fault = {.text = ""};
	int status = try_open(run, &fault);
	while (status == -CHI_EBUSY && run->patient && cli_stop == 0) {
		(void)nanosleep(&while_busy, NULL);
		status = try_open(run, &fault);
	}
	if (status == -CHI_EBUSY && cli_stop != 0) {
		cli_message("interrupted");
		return 128 + cli_stop;
	}
	return cli_fault(status, &fault);
}

static int feed_all(struct import_run *run, import_feed *feed, import_done *done, void *context)
{
	struct chi_import_result result;
	int code = feed(run, context);
	if (code == EXIT_DONE && cli_stop == 0) {
		int status = chi_import_commit(run->import, &result);
		progress_clear(&run->progress);
		code = done(run, status, &result);
		if (status == CHI_OK) {
			return code; /* too late to be stopped */
		}
	}
	progress_clear(&run->progress);
	if (cli_stop != 0) {
		cli_message("interrupted%s", run->piece ? "" : "; nothing was stored");
		return 128 + cli_stop;
	}
	return code;
}

int import_store(struct cli *cli, struct import_run *run, uint64_t bytes, import_feed *feed,
		 import_done *done, void *context)
{
	if (!cli_has_address(cli)) {
		return EXIT_USAGE;
	}
	run->cli = cli;
	run->options.size = sizeof(run->options);
	run->options.progress = show_phase;
	run->options.context = run;
	run->options.cancel = &cli_stop;
	progress_init(&run->progress, cli->quiet, bytes);
	run->progress.unit = run->unit != NULL ? run->unit : run->progress.unit;
	cli_catch_signals();
	int code = open_import(run);
	code = code == EXIT_DONE ? feed_all(run, feed, done, context) : code;
	chi_import_close(run->import);
	return code;
}
