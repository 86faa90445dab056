/* SPDX-License-Identifier: MIT */
/* chistore import: files of positions into a store. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/cli/batch.h"
#include "client/cli/bookimport.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "client/import/epd.h"
#include "client/import/reader.h"

enum {
	OPT_FORMAT = 1,
	OPT_ENGINE,
	OPT_ADD,
	OPT_VERBOSE,
};

/* Bad lines reported; more are counted, unless --verbose. */
#define REPORTS_MAX 20

/* Lines between two looks at the clock. */
#define PROGRESS_LINES 500

struct import_state {
	struct chi_import_options options;
	bool verbose;
	bool computed;	   /* the store computes its statistic: a given one is dropped */
	bool told_dropped; /* that has been said */
	const char *path;  /* of the file being read */
	uint64_t read;
	uint64_t rejected;
	uint64_t bytes_before; /* of the files done */
	struct progress progress;
	struct batch batch;
};

/* Options are kept as the reader wants them; nothing is opened yet. */
static int option(struct cli *cli, void *state, int id, const char *value)
{
	struct import_state *import = state;
	switch (id) {
	case OPT_FORMAT:
		import->options.format = chi_import_format_of(value);
		if (import->options.format == CHI_IMPORT_AUTO) {
			return cli_usage(cli, "--format: '%s' is none of epd, csv, tsv, polyglot",
					 value);
		}
		return EXIT_DONE;
	case OPT_ENGINE:
		if (value[0] == '\0' || strlen(value) > CHI_ENGINE_MAX) {
			return cli_usage(cli, "--engine: a name has 1 to %d bytes", CHI_ENGINE_MAX);
		}
		import->options.engine = value;
		return EXIT_DONE;
	case OPT_ADD:
		import->options.add = true;
		return EXIT_DONE;
	default:
		import->verbose = true;
		return EXIT_DONE;
	}
}

/* A bad line, found by the reader or refused by the store. */
static void reject(void *context, uint64_t line, const char *reason)
{
	struct import_state *import = context;
	import->rejected++;
	if (import->verbose || import->rejected <= REPORTS_MAX) {
		progress_clear(&import->progress);
		cli_message("%s:%" PRIu64 ": %s", import->path, line, reason);
	}
	if (!import->verbose && import->rejected == REPORTS_MAX) {
		cli_message("further bad lines are only counted; --verbose reports all");
	}
}

/* In a store that computes its statistic a file's own cannot be kept. */
static void drop_statistic(struct import_state *import, struct chi_put *put)
{
	if (!import->computed || (put->parts & CHI_PUT_CHI2) == 0) {
		return;
	}
	put->parts &= ~(uint32_t)CHI_PUT_CHI2;
	put->record.chi2 = CHI_CHI2_UNKNOWN;
	if (!import->told_dropped && !import->progress.quiet) {
		progress_clear(&import->progress);
		cli_message("%s: the chi2 column is ignored: this store computes its statistic",
			    import->path);
		import->told_dropped = true;
	}
}

/* Looking at the clock for every line would cost more than storing it. */
static void show_progress(struct import_state *import, const struct chi_import *file)
{
	if (import->read % PROGRESS_LINES == 0) {
		progress_update(&import->progress,
				import->bytes_before + chi_import_bytes_read(file), import->read);
	}
}

/* One file's positions into batches. A negative status is the store's; a file that cannot be read
 * on is told here and sets *code. */
static int read_file(struct import_state *import, struct chi_import *file, int *code)
{
	struct batch *batch = &import->batch;
	bool first = true;
	while (cli_stop == 0) {
		struct chi_fault fault = {.text = ""};
		int status = chi_import_next(file, &batch->arena, batch_slot(batch), &fault);
		/* The header is read when the first line is asked for. */
		if (first && !import->progress.quiet && chi_import_ignored(file)[0] != '\0') {
			cli_message("%s: ignored columns: %s", import->path,
				    chi_import_ignored(file));
		}
		first = false;
		if (status == CHI_NONE || (status == -CHI_ECANCELED && cli_stop != 0)) {
			return CHI_OK;
		}
		if (chi_import_failed(file)) {
			progress_clear(&import->progress);
			cli_message("%s:%" PRIu64 ": %s", import->path, chi_import_line(file),
				    fault.text);
			*code = status == -CHI_EIO || status == -CHI_ENOMEM ? EXIT_STORE
									    : EXIT_USAGE;
			return CHI_OK;
		}
		import->read++;
		if (status == CHI_OK) {
			drop_statistic(import, batch_slot(batch));
			status = batch_add(batch, chi_import_line(file));
		} else {
			reject(import, chi_import_line(file), fault.text);
			status = batch_relieve(batch);
		}
		if (status != CHI_OK) {
			return status;
		}
		show_progress(import, file);
	}
	return CHI_OK;
}

/* A file from opening to closing. The batch is put before the next, since lines are reported by
 * the file's name. */
static int import_file(struct import_state *import, int *code)
{
	struct chi_import *file = NULL;
	struct chi_fault fault = {.text = ""};
	if (chi_import_open(import->path, &import->options, &file, &fault) != CHI_OK) {
		cli_message("%s: %s", import->path, fault.text);
		*code = EXIT_USAGE;
		return CHI_OK;
	}
	int status = read_file(import, file, code);
	if (status == CHI_OK) {
		status = batch_flush(&import->batch);
	}
	import->bytes_before += chi_import_bytes_total(file);
	chi_import_close(file);
	return status;
}

/* Sees to it that every file can be opened before anything is stored. *total: their bytes, 0 if
 * one has no size. Does not open them: a pipe can be opened only once. */
static int check_files(struct cli *cli, int n, char **paths, uint64_t *total)
{
	bool sized = true;
	*total = 0;
	for (int i = 0; i < n; i++) {
		struct stat status;
		if (strcmp(paths[i], "-") == 0) {
			sized = sized && fstat(STDIN_FILENO, &status) == 0 &&
				S_ISREG(status.st_mode);
		} else if (stat(paths[i], &status) != 0 || access(paths[i], R_OK) != 0) {
			return cli_usage(cli, "%s: %s", paths[i], strerror(errno));
		} else if (S_ISDIR(status.st_mode)) {
			return cli_usage(cli, "%s: %s", paths[i], strerror(EISDIR));
		} else {
			sized = sized && S_ISREG(status.st_mode);
		}
		*total += sized ? (uint64_t)status.st_size : 0;
	}
	*total = sized ? *total : 0;
	return EXIT_DONE;
}

/* True if the first file is a Polyglot book: then all are to be. */
static bool is_book(const struct import_state *import, const char *path)
{
	enum chi_import_format format = import->options.format;
	return (format != CHI_IMPORT_AUTO ? format : chi_import_format_of_path(path)) ==
	       CHI_IMPORT_POLYGLOT;
}

/* Books are another kind of import, with another summary. */
static int run_books(struct cli *cli, const struct import_state *import, int n, char **paths)
{
	for (int i = 1; i < n; i++) {
		if (!is_book(import, paths[i])) {
			return cli_usage(cli,
					 "%s: not a Polyglot book, as %s is; import it by itself",
					 paths[i], paths[0]);
		}
	}
	return book_import(cli, n, paths);
}

/* `stored` counts lines, also those that were stored just so before. */
static void print_summary(struct cli *cli, const struct import_state *import)
{
	const struct chi_put_result *total = &import->batch.total;
	uint64_t stored = total->added + total->updated + total->unchanged;
	output_object(cli,
		      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "read", json_count(import->read),
				"stored", json_count(stored), "new", json_count(total->added),
				"updated", json_count(total->updated), "unchanged",
				json_count(total->unchanged), "rejected",
				json_count(import->rejected)));
}

/* All files; then what was acknowledged is made durable, whatever stopped the work. */
static int import_files(struct cli *cli, struct import_state *import, int n, char **paths)
{
	int code = EXIT_DONE;
	int status = CHI_OK;
	for (int i = 0; i < n && status == CHI_OK && cli_stop == 0; i++) {
		int file_code = EXIT_DONE;
		import->path = paths[i];
		status = import_file(import, &file_code);
		code = cli_worse(code, file_code);
	}
	progress_clear(&import->progress);
	if (status != CHI_OK) {
		code = cli_worse(code, cli_worse(EXIT_STORE, cli_fail(cli, status)));
	}
	status = batch_settle(&import->batch);
	if (status != CHI_OK) {
		code = cli_worse(EXIT_STORE, cli_fail(cli, status));
	}
	print_summary(cli, import);
	return cli_stop != 0 ? 128 + cli_stop : code;
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	struct import_state *import = state;
	struct chi_info info;
	uint64_t total = 0;
	int code = check_files(cli, argc, argv, &total);
	if (code != EXIT_DONE) {
		return code;
	}
	if (is_book(import, argv[0])) {
		return run_books(cli, import, argc, argv);
	}
	int status = chi_get_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	/* Asked once and not by each line's refusal: the column is dropped, the line is good. */
	import->computed = info.statistic != CHI_STATISTIC_EXTERNAL;
	import->options.cancel = &cli_stop;
	progress_init(&import->progress, cli->quiet, total);
	cli_catch_signals();
	if (batch_init(&import->batch, reject, import) == CHI_OK) {
		import->batch.client = cli->client;
		code = import_files(cli, import, argc, argv);
	} else {
		cli_message("out of memory");
		code = EXIT_STORE;
	}
	batch_deinit(&import->batch);
	return code;
}

static const struct cli_option options[] = {
	{OPT_FORMAT, "format", "FORMAT", "epd, csv, tsv or polyglot, whatever the files look like"},
	{OPT_ENGINE, "engine", "NAME", "engine of EPD evaluations (default: " CHI_EPD_ENGINE ")"},
	{OPT_ADD, "add", NULL, "add the counts of CSV files to those stored"},
	{OPT_VERBOSE, "verbose", NULL, "report every bad line, not the first 20 alone"},
	{0, NULL, NULL, NULL},
};

const struct command cmd_import = {
	.name = "import",
	.arguments = "FILE...",
	.summary = "store the positions of EPD, CSV and TSV files",
	.help = "Stores every position of the files; - is standard input. Files packed by gzip,\n"
		"bzip2, zstd or xz are unpacked. The format is told by the name (.epd, .fen, "
		".csv,\n"
		".tsv), else by the first line.\n"
		"\n"
		"EPD: four fields of a FEN, or six, then operations: ce or dm with acd, acn and "
		"pv\n"
		"become an evaluation; pv without a score, or bm, the line; the others the note.\n"
		"CSV and TSV: a header names the columns fen, chi2, white, draws, black, note in "
		"any\n"
		"order; only fen must be there.\n"
		"Polyglot books (.bin): walked from the initial position; where nothing was played "
		"yet\n"
		"their moves are stored, the weights as games without result.\n"
		"\n"
		"Bad lines are reported with file and line, counted and passed over. At the end "
		"the\n"
		"numbers read, stored, new, updated, unchanged and rejected are printed, and what\n"
		"was stored is on the disk. Ctrl-C ends the import the same way, with exit code "
		"130.",
	.example = "chistore -a ./positions import games.csv.zst tactics.epd\n"
		   "zcat *.epd.gz | chistore -a ./positions import --format epd -",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_WRITE,
	.state_size = sizeof(struct import_state),
	.option = option,
	.run = run,
};
