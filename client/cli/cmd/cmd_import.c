/* SPDX-License-Identifier: MIT */
/* chistore import: files of games, or of positions, into a store. */
#include <inttypes.h>
#include <string.h>

#include "chess/statistic.h"
#include "client/cli/in/batch.h"
#include "client/cli/in/book_import.h"
#include "client/cli/command.h"
#include "client/cli/in/files.h"
#include "client/cli/in/pgn_import.h"
#include "client/cli/out/output.h"
#include "client/cli/out/progress.h"
#include "formats/epd.h"
#include "formats/reader.h"

/* Bad lines reported; more are counted, unless --verbose. */
#define REPORTS_MAX 20

/* Lines between two looks at the clock. */
#define PROGRESS_LINES 500

struct import_state {
	struct chi_position_reader_options options;
	bool computed;	   /* the store computes its statistic: a given one is dropped */
	bool told_dropped; /* that has been said */
	const char *path;  /* of the file being read */
	uint64_t read;
	uint64_t rejected;
	uint64_t bytes_before; /* of the files done */
	struct progress progress;
	struct batch batch;
	struct games games; /* if the files are PGN */
};

/* The files, and what was found out about them. */
struct files {
	int n;
	char **paths;
	struct chi_source **sources; /* open ones, or NULL */
	enum chi_format format;	     /* of all if PGN or Polyglot, else of the first */
};

static int take_format(struct cli *cli, const struct cli_option *option, const char *value,
		       void *out)
{
	enum chi_format *format = out;
	*format = chi_format_of(value);
	return *format != CHI_FORMAT_AUTO
		       ? EXIT_DONE
		       : cli_usage(cli, "--%s: '%s' is none of pgn, epd, csv, tsv, polyglot",
				   option->name, value);
}

static int take_engine(struct cli *cli, const struct cli_option *option, const char *value,
		       void *engine)
{
	*(const char **)engine = value;
	return value[0] != '\0' && strlen(value) <= CHI_ENGINE_MAX
		       ? EXIT_DONE
		       : cli_usage(cli, "--%s: a name has 1 to %d bytes", option->name,
				   CHI_ENGINE_MAX);
}

/* A bad line, found by the reader or refused by the store. */
static void reject(void *context, uint64_t line, const char *reason)
{
	struct import_state *import = context;
	import->rejected++;
	if (import->games.verbose || import->rejected <= REPORTS_MAX) {
		progress_clear(&import->progress);
		cli_message("%s:%" PRIu64 ": %s", import->path, line, reason);
	}
	if (!import->games.verbose && import->rejected == REPORTS_MAX) {
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
static void show_progress(struct import_state *import, const struct chi_position_reader *file)
{
	if (import->read % PROGRESS_LINES == 0) {
		progress_update(&import->progress,
				import->bytes_before + chi_position_reader_bytes_read(file),
				import->read);
	}
}

/* One file's positions into batches. A negative status is the store's; a file that cannot be read
 * on is told here and sets *code. */
static int read_file(struct import_state *import, struct chi_position_reader *file, int *code)
{
	struct batch *batch = &import->batch;
	bool first = true;
	while (cli_stop == 0) {
		struct chi_fault fault = {.text = ""};
		int status =
			chi_position_reader_next(file, &batch->arena, batch_slot(batch), &fault);
		/* The header is read when the first line is asked for. */
		if (first && !import->progress.quiet &&
		    chi_position_reader_ignored(file)[0] != '\0') {
			cli_message("%s: ignored columns: %s", import->path,
				    chi_position_reader_ignored(file));
		}
		first = false;
		if (status == CHI_NONE || (status == -CHI_ECANCELED && cli_stop != 0)) {
			return CHI_OK;
		}
		if (chi_position_reader_failed(file)) {
			progress_clear(&import->progress);
			cli_message("%s:%" PRIu64 ": %s", import->path,
				    chi_position_reader_line(file), fault.text);
			*code = files_exit_of(status);
			return CHI_OK;
		}
		import->read++;
		if (status == CHI_OK) {
			drop_statistic(import, batch_slot(batch));
			status = batch_add(batch, chi_position_reader_line(file));
		} else {
			reject(import, chi_position_reader_line(file), fault.text);
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
static int import_file(struct import_state *import, struct chi_source **source, int *code)
{
	struct chi_position_reader *file = NULL;
	struct chi_fault fault = {.text = ""};
	int opened =
		*source != NULL
			? chi_position_reader_open_source(*source, &import->options, &file, &fault)
			: chi_position_reader_open(import->path, &import->options, &file, &fault);
	*source = NULL;
	if (opened != CHI_OK) {
		cli_message("%s: %s", import->path, fault.text);
		*code = EXIT_USAGE;
		return CHI_OK;
	}
	int status = read_file(import, file, code);
	if (status == CHI_OK) {
		status = batch_flush(&import->batch);
	}
	import->bytes_before += chi_position_reader_bytes_total(file);
	chi_position_reader_close(file);
	return status;
}

/* What the user would call the format of a file. */
static const char *format_name(enum chi_format format)
{
	return format == CHI_FORMAT_PGN	       ? "PGN"
	       : format == CHI_FORMAT_POLYGLOT ? "a Polyglot book"
					       : "a file of positions";
}

/* Games, books and positions have different ways and summaries, and do not mix. */
static int find_format(struct cli *cli, const struct import_state *import, struct files *files)
{
	for (int i = 0; i < files->n; i++) {
		enum chi_format format = import->options.format;
		int code = format == CHI_FORMAT_AUTO
				   ? files_format(files->paths[i], &format, &files->sources[i])
				   : EXIT_DONE;
		if (code != EXIT_DONE) {
			return code;
		}
		files->format = i == 0 ? format : files->format;
		if (format_name(format) != format_name(files->format)) {
			return cli_usage(cli, "%s is %s, %s is %s; import them one after the other",
					 files->paths[0], format_name(files->format),
					 files->paths[i], format_name(format));
		}
	}
	return EXIT_DONE;
}

/* An option that would silently do nothing is a mistake. */
static int check_options(struct cli *cli, const struct files *files)
{
	static const char *const of_positions[] = {"engine", "add", NULL};
	static const char *const of_games[] = {"statistic", "max-ply", "min-games", "strict",
					       "memory",    "threads", NULL};
	bool games = files->format == CHI_FORMAT_PGN;
	const char *const *wrong = games ? of_positions : of_games;
	while (*wrong != NULL && !cli_given(cli, *wrong)) {
		wrong++;
	}
	return *wrong == NULL ? EXIT_DONE
			      : cli_usage(cli, "--%s goes with %s, and %s is %s", *wrong,
					  games ? "positions" : "games (PGN)", files->paths[0],
					  format_name(files->format));
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

/* All files; then what was acknowledged is made durable, no matter what stopped the work. */
static int import_files(struct cli *cli, struct import_state *import, const struct files *files)
{
	int code = EXIT_DONE;
	int status = CHI_OK;
	for (int i = 0; i < files->n && status == CHI_OK && cli_stop == 0; i++) {
		int file_code = EXIT_DONE;
		import->path = files->paths[i];
		status = import_file(import, &files->sources[i], &file_code);
		code = cli_worse(code, file_code);
	}
	progress_clear(&import->progress);
	if (status != CHI_OK) {
		code = cli_worse(EXIT_STORE, cli_fail(cli->client, status));
	}
	status = batch_settle(&import->batch);
	if (status != CHI_OK) {
		code = cli_worse(EXIT_STORE, cli_fail(cli->client, status));
	}
	print_summary(cli, import);
	return cli_stop != 0 ? 128 + cli_stop : code;
}

/* Lines of positions, into a store that is there. */
static int run_positions(struct cli *cli, struct import_state *import, const struct files *files,
			 uint64_t total)
{
	struct chi_info info;
	int status = chi_get_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	/* Asked once and not by each line's refusal: the column is dropped, the line is good. */
	import->computed = info.statistic != CHI_STATISTIC_EXTERNAL;
	import->options.cancel = &cli_stop;
	progress_init(&import->progress, cli->quiet, total);
	cli_catch_signals();
	status = batch_init(&import->batch, reject, import);
	import->batch.client = cli->client;
	int code = status == CHI_OK ? import_files(cli, import, files) : cli_no_memory();
	batch_deinit(&import->batch);
	return code;
}

/* Games open their store themselves, since it may have to be made. */
static int run_files(struct cli *cli, struct import_state *import, struct files *files)
{
	uint64_t total = 0;
	int code = files_check(cli, files->n, files->paths, &total);
	if (code == EXIT_DONE) {
		code = find_format(cli, import, files);
	}
	if (code == EXIT_DONE) {
		code = check_options(cli, files);
	}
	if (code == EXIT_DONE && files->format == CHI_FORMAT_PGN) {
		import->games.options.kind = CHI_IMPORT_ADD;
		return games_run(cli, &import->games, files->n, files->paths, files->sources);
	}
	if (code == EXIT_DONE) {
		code = cli_open(cli, true, &cli->client);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	return files->format == CHI_FORMAT_POLYGLOT ? book_import(cli, files->n, files->paths)
						    : run_positions(cli, import, files, total);
}

static int run(struct cli *cli)
{
	_cleanup_(chi_freep) struct chi_source **sources =
		calloc((size_t)cli->argc, sizeof(*sources));
	struct files files = {.n = cli->argc, .paths = cli->argv, .sources = sources};
	if (sources == NULL) {
		return cli_no_memory();
	}
	int code = run_files(cli, cli->state, &files);
	for (int i = 0; i < cli->argc; i++) {
		chi_source_close(sources[i]);
	}
	return code;
}

static const struct cli_option options[] = {
	OPTION(import_state, options.format, take_format, "format", "FORMAT",
	       "pgn, epd, csv, tsv or polyglot, regardless of name and content"),
	OPTION_WORD(import_state, games.create, chi_statistic_names, "statistic", "KIND",
		    "games: statistic of a store that is made (default: control), see init"),
	OPTION_NUMBER(import_state, games.max_ply, 1, CHI_PLY_MAX, "max-ply", "N",
		      "games: count no positions after N plies"),
	OPTION_NUMBER(import_state, games.options.games_min, 1, UINT64_MAX, "min-games", "N",
		      "games: drop new positions with fewer games"),
	OPTION_FLAG(import_state, games.options.strict, "strict",
		    "games: skip games with a bad move"),
	OPTION(import_state, games.options.memory, games_memory, "memory", "SIZE",
	       "games: memory for sorting (default: 512M)"),
	OPTION_NUMBER(import_state, games.threads, 1, GAMES_THREADS_MAX, "threads", "N",
		      "games: threads that read (default: one per core)"),
	OPTION(import_state, options.engine, take_engine, "engine", "NAME",
	       "engine of EPD evaluations (default: " CHI_EPD_ENGINE ")"),
	OPTION_FLAG(import_state, options.add, "add",
		    "add the counts of CSV files to those stored"),
	OPTION_FLAG(import_state, games.verbose, "verbose",
		    "report every bad line or game, not only the first 20"),
	OPTIONS_END,
};

const struct command cmd_import = {
	.name = "import",
	.arguments = "FILE...",
	.summary = "count the games of PGN, or store positions of EPD, CSV, TSV",
	.help = "Files compressed by gzip, bzip2, zstd or xz are decompressed; - is standard\n"
		"input. The format follows from the name (.pgn, .epd, .fen, .csv, .tsv, .bin),\n"
		"else from how the file begins.\n"
		"\n"
		"PGN: every position of every game is counted: how it ended, what was played, at\n"
		"which ply. All games are stored, or none. A game that is counted already (same\n"
		"players, date, result, start and moves) is not counted twice: files that were\n"
		"imported before can be given again. A game counts up to its first bad move. A\n"
		"directory that holds no store gets one.\n"
		"\n"
		"EPD: four fields of a FEN, or six, then operations: ce or dm with acd, acn and "
		"pv\n"
		"become an evaluation; pv without a score, or bm, the line; the others the note.\n"
		"CSV and TSV: a header names the columns fen, chi2, white, draws, black, note in\n"
		"any order; only fen is required.\n"
		"Polyglot books (.bin): walked from the initial position; where nothing was "
		"played\n"
		"yet their moves are stored, the weights as games without result.\n"
		"\n"
		"Bad lines and games are reported with file and line, counted and skipped. At the\n"
		"end the numbers are printed. Ctrl-C ends the import with exit code 130: "
		"positions\n"
		"read so far are stored, games are not.",
	.example = "chistore -a ./games import --statistic outcome *.pgn.zst\n"
		   "chistore -a ./positions import games.csv.zst tactics.epd\n"
		   "zcat *.epd.gz | chistore -a ./positions import --format epd -",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct import_state),
	.run = run,
};
