/* SPDX-License-Identifier: MIT */
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
	if (games->verbose || (games->notes <= NOTES_MAX && !games->run.progress.quiet)) {
		progress_clear(&games->run.progress);
		if (note->game == 0) {
			cli_message("%s", note->text);
		} else {
			cli_message("%s:%" PRIu64 ": game %" PRIu64 ": %s", note->file, note->line,
				    note->game, note->text);
		}
	}
}

/* For the progress bar alone: a tag cut by a block's end is missed. */
static uint64_t count_pgn_games(const char *bytes, size_t len)
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

/* ---- The whole --------------------------------------------------------------------------- */

static void print_summary(struct cli *cli, const struct games *games,
			  const struct chi_import_result *result)
{
	const struct chi_put_result *positions = &result->positions;
	bool subtract = games->run.options.kind == CHI_IMPORT_SUBTRACT;
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
	if (games->run.options.evals) {
		(void)json_object_set_new(object, "evaluations", json_count(result->evaluations));
	}
	output_object(cli, object);
}

/* A file without a game is most likely something else. */
static int tell_stored(struct import_run *run, int status, const struct chi_import_result *result)
{
	struct games *games = (struct games *)run;
	if (games->notes > NOTES_MAX && !games->verbose && !run->cli->quiet) {
		cli_message("%" PRIu64 " more remarks; --verbose prints all",
			    games->notes - NOTES_MAX);
	}
	if (status != CHI_OK) {
		return import_fail(run, status);
	}
	print_summary(run->cli, games, result);
	if (result->games == result->empty) {
		cli_message("%s: no game %swas found", run->what,
			    result->games > 0 ? "with a move " : "");
		return EXIT_STORE;
	}
	return EXIT_DONE;
}

int games_store(struct cli *cli, struct games *games, uint64_t bytes, const char *what,
		import_feed *feed, void *context)
{
	struct chi_import_options *options = &games->run.options;
	if (cli_is_remote(cli) && !cli_is_rados(cli) &&
	    (options->memory != 0 || games->threads != 0)) {
		return cli_usage(cli, "--memory and --threads are set on the server");
	}
	games->run.what = what;
	games->run.unit = "games";
	games->run.count = count_pgn_games;
	options->max_ply = (uint32_t)games->max_ply;
	options->threads = (unsigned)games->threads;
	options->verbose = games->verbose;
	options->report = report_note;
	return import_store(cli, &games->run, bytes, feed, tell_stored, context);
}

/* ---- Files ------------------------------------------------------------------------------- */

int games_run(struct cli *cli, struct games *games, int n, char **paths,
	      struct chi_source **sources)
{
	struct import_paths context = {.n = n, .paths = paths, .sources = sources};
	uint64_t total = 0;
	int code = files_check(cli, n, paths, &total);
	return code == EXIT_DONE ? games_store(cli, games, total, n == 1 ? paths[0] : "all files",
					       import_feed_paths, &context)
				 : code;
}
