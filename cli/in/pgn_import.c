/* SPDX-License-Identifier: MIT */
/*
 * Games are fed as they are in the files; the library reads them. Nothing is stored until all
 * files have been read to their end, so that a file that is cut short stores nothing.
 */
#include "cli/in/pgn_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cli/command.h"
#include "cli/in/files.h"
#include "cli/out/output.h"

/* Notes printed; more are counted, unless --verbose. */
#define NOTES_MAX 20

int games_memory(struct cli *cli, const struct cli_option *option, const char *value, void *out)
{
	if (chi_num_size(value, strlen(value), out) != CHI_OK) {
		return cli_usage(cli, "--%s: '%s' is not a size, such as 512M or 4G", option->name,
				 value);
	}
	if (*(uint64_t *)out < CHI_IMPORT_MEMORY_MIN) {
		return cli_usage(cli, "--%s: '%s' is too small, at least %" PRIu64 "M",
				 option->name, value, (uint64_t)(CHI_IMPORT_MEMORY_MIN >> 20));
	}
	return EXIT_DONE;
}

/* ---- Feeding ----------------------------------------------------------------------------- */

static void report_note(void *context, const struct chi_import_note *note)
{
	struct games *games = context;
	games->notes++;
	if (games->verbose || (games->notes <= NOTES_MAX && !games->progress.quiet)) {
		progress_clear(&games->progress);
		if (note->game == 0) {
			cli_message("%s", note->text);
		} else {
			cli_message("%s:%" PRIu64 ": game %" PRIu64 ": %s", note->file, note->line,
				    note->game, note->text);
		}
	}
}

/* While the games are stored; chi_import_progress. */
static void progressed(void *context, const char *phase, uint64_t done, uint64_t total)
{
	struct games *games = context;
	progress_phase(&games->progress, phase, done, total);
}

/* For the progress bar alone: a tag cut by a block's end is missed. */
static uint64_t count_games(const char *bytes, size_t len)
{
	static const char tag[] = "[Event ";
	uint64_t n = 0;
	const char *end = bytes + len;
	const char *at = bytes;
	while ((at = memmem(at, (size_t)(end - at), tag, sizeof(tag) - 1)) != NULL) {
		n++;
		at += sizeof(tag) - 1;
	}
	return n;
}

int games_fail(struct games *games, const char *text, int code)
{
	progress_clear(&games->progress);
	if (cli_stop == 0) {
		cli_message("%s", text);
	}
	return code;
}

/* A file that cannot be opened or read on. */
static int file_fail(struct games *games, const char *path, const char *text, int code)
{
	char line[CHI_FAULT_SIZE + 600];
	(void)snprintf(line, sizeof(line), "%.500s: %s; nothing was stored", path, text);
	return games_fail(games, line, code);
}

/* The file's text, to its end. */
static int feed_source(struct games *games, struct chi_import *import, const char *path,
		       struct chi_source *source)
{
	int status = chi_import_file(import, path);
	while (status == CHI_OK) {
		const char *bytes = NULL;
		size_t len = 0;
		struct chi_fault fault = {.text = ""};
		int got = chi_source_read(source, &bytes, &len, &fault);
		if (got == CHI_NONE) {
			return EXIT_DONE;
		}
		if (got != CHI_OK) {
			return file_fail(games, path, fault.text, files_exit_of(got));
		}
		games->seen += count_games(bytes, len);
		status = chi_import_feed(import, bytes, len);
		progress_update(&games->progress,
				games->bytes_before + chi_source_bytes_read(source), games->seen);
	}
	return games_fail(games, chi_import_error(import),
			  cli_worse(EXIT_STORE, cli_exit_of(status)));
}

/* Opens the file if it is not open yet, and closes it. */
static int feed_file(struct games *games, struct chi_import *import, const char *path,
		     struct chi_source *source)
{
	struct chi_source_options options = {.cancel = &cli_stop};
	struct chi_fault fault = {.text = ""};
	int status = source == NULL ? chi_source_open(path, &options, &source, &fault) : CHI_OK;
	if (status != CHI_OK) {
		return file_fail(games, path, fault.text, files_exit_of(status));
	}
	int code = feed_source(games, import, path, source);
	games->bytes_before += chi_source_bytes_total(source);
	chi_source_close(source);
	return code;
}

/* ---- The whole --------------------------------------------------------------------------- */

static void print_summary(struct cli *cli, const struct games *games,
			  const struct chi_import_result *result)
{
	const struct chi_put_result *positions = &result->positions;
	bool subtract = games->options.kind == CHI_IMPORT_SUBTRACT;
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "games",
		json_count(result->games), subtract ? "removed" : "imported",
		json_count(result->taken), subtract ? "absent" : "already",
		json_count(result->known), "skipped", json_count(result->skipped), "filtered",
		json_count(result->filtered), "empty", json_count(result->empty), "cut",
		json_count(result->cut), "conflicts", json_count(result->conflicts), "plies",
		json_count(result->plies), subtract ? "positions_updated" : "positions_new",
		json_count(subtract ? positions->updated : positions->added),
		subtract ? "positions_removed" : "positions_updated",
		json_count(subtract ? positions->removed : positions->updated));
	if (!subtract) {
		(void)json_object_set_new(object, "dropped", json_count(result->dropped));
	}
	if (games->options.evals) {
		(void)json_object_set_new(object, "evaluations", json_count(result->evaluations));
	}
	output_object(cli, object);
}

/* Without --statistic a store that is missing is made, of the kind that holds every position in
 * both trees; taking games out of nothing is a mistake. */
static int open_import(struct cli *cli, struct games *games, struct chi_import **out)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(cli, true, &options);
	int status = chi_import_open(cli->address, &options, games->create, &games->options, out,
				     &fault);
	if (status == -CHI_ENOSTORE && games->create == 0 && !cli_is_remote(cli) &&
	    games->options.kind == CHI_IMPORT_ADD) {
		status = chi_import_open(cli->address, &options, CHI_STATISTIC_CONTROL,
					 &games->options, out, &fault);
	}
	return cli_fault(status, &fault);
}

/* `what`: the file that was read, or that there were several. A file without a game is most likely
 * something else. */
static int commit_games(struct cli *cli, struct games *games, struct chi_import *import,
			const char *what)
{
	struct chi_import_result result;
	int status = chi_import_commit(import, &result);
	progress_clear(&games->progress);
	if (games->notes > NOTES_MAX && !games->verbose && !cli->quiet) {
		cli_message("%" PRIu64 " more remarks; --verbose prints all",
			    games->notes - NOTES_MAX);
	}
	/* What was read is at fault; a server calls that an invalid request. */
	if (status == -CHI_ESYNTAX || status == -CHI_EINVAL) {
		return file_fail(games, what, chi_import_error(import), EXIT_STORE);
	}
	if (status != CHI_OK) {
		return games_fail(games, chi_import_error(import),
				  cli_worse(EXIT_STORE, cli_exit_of(status)));
	}
	print_summary(cli, games, &result);
	if (result.games == result.empty) {
		cli_message("%s: no game %swas found", what,
			    result.games > 0 ? "with a move " : "");
		return EXIT_STORE;
	}
	return EXIT_DONE;
}

static int import_games(struct cli *cli, struct games *games, struct chi_import *import,
			const char *what, games_feed *feed, void *context)
{
	int code = feed(games, import, context);
	if (code == EXIT_DONE && cli_stop == 0) {
		code = commit_games(cli, games, import, what);
		if (code == EXIT_DONE) {
			return EXIT_DONE; /* too late to be stopped */
		}
	}
	progress_clear(&games->progress);
	if (cli_stop != 0) {
		cli_message("interrupted; nothing was stored");
		return 128 + cli_stop;
	}
	return code;
}

int games_store(struct cli *cli, struct games *games, uint64_t bytes, const char *what,
		games_feed *feed, void *context)
{
	struct chi_import *import = NULL;
	int code = EXIT_DONE;
	if (cli_is_remote(cli) && !cli_is_rados(cli) &&
	    (games->options.memory != 0 || games->threads != 0)) {
		code = cli_usage(cli, "--memory and --threads are set on the server");
	}
	progress_init(&games->progress, cli->quiet, bytes);
	games->progress.unit = "games";
	games->options.max_ply = (uint32_t)games->max_ply;
	games->options.threads = (unsigned)games->threads;
	games->options.verbose = games->verbose;
	games->options.report = report_note;
	games->options.progress = progressed;
	games->options.context = games;
	games->options.cancel = &cli_stop;
	if (code == EXIT_DONE) {
		cli_catch_signals();
		code = open_import(cli, games, &import);
	}
	if (code == EXIT_DONE) {
		code = import_games(cli, games, import, what, feed, context);
	}
	chi_import_close(import);
	return code;
}

/* ---- Files ------------------------------------------------------------------------------- */

struct paths {
	int n;
	char **paths;
	struct chi_source **sources;
};

static int feed_paths(struct games *games, struct chi_import *import, void *context)
{
	const struct paths *paths = context;
	int code = EXIT_DONE;
	for (int i = 0; i < paths->n && code == EXIT_DONE && cli_stop == 0; i++) {
		struct chi_source *source = paths->sources != NULL ? paths->sources[i] : NULL;
		if (paths->sources != NULL) {
			paths->sources[i] = NULL;
		}
		code = feed_file(games, import, paths->paths[i], source);
	}
	return code;
}

int games_run(struct cli *cli, struct games *games, int n, char **paths,
	      struct chi_source **sources)
{
	struct paths context = {.n = n, .paths = paths, .sources = sources};
	uint64_t total = 0;
	int code = files_check(cli, n, paths, &total);
	return code == EXIT_DONE ? games_store(cli, games, total, n == 1 ? paths[0] : "all files",
					       feed_paths, &context)
				 : code;
}
