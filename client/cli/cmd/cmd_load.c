/* SPDX-License-Identifier: MIT */
/* chistore load: a dump back into a store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/in/batch.h"
#include "client/cli/command.h"
#include "client/cli/out/output.h"
#include "formats/source.h"
#include "store/text/dump.h"

/* Games put at once: as many as a call takes. */
#define GAMES_CHUNK 10000

struct load {
	struct cli *cli;
	const char *name; /* of the file, for messages */
	struct chi_source *source;
	struct chi_dump_reader reader;
	struct batch batch;
	struct chi_game_id *games; /* a chunk; NULL until the first game */
	size_t n_games;
	bool opened; /* the store is open, and its kind is the dump's */
	bool whole;  /* the dump's last line has been read */
};

static void load_deinit(struct load *load)
{
	chi_source_close(load->source);
	batch_deinit(&load->batch);
	free(load->games);
}

/* "file:DIR" and "DIR" name a directory; the library decides the rest. */
static int open_or_create(struct cli *cli, enum chi_statistic statistic)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(cli, true, &options);
	int status = chi_open(cli->address, &options, &cli->client, &fault);
	if (status == -CHI_ENOSTORE && !cli_is_remote(cli)) {
		status = chi_create(cli->address, statistic, &fault);
		if (status == CHI_OK) {
			status = chi_open(cli->address, &options, &cli->client, &fault);
		}
	}
	return cli_fault(status, &fault);
}

/* Opens or makes the store, now that the dump has given its statistic. */
static int open_store(struct load *load)
{
	struct cli *cli = load->cli;
	struct chi_info info;
	int code = open_or_create(cli, load->reader.head.statistic);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_get_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (info.statistic != load->reader.head.statistic) {
		const char *ours = chi_statistic_name(info.statistic);
		const char *theirs = chi_statistic_name(load->reader.head.statistic);
		cli_message("the dump is of the %s statistic, the store holds the %s one", theirs,
			    ours != NULL ? ours : "unknown");
		return EXIT_USAGE;
	}
	load->batch.client = cli->client;
	load->opened = true;
	return EXIT_DONE;
}

/* A line that could not be taken at all, with its number. */
static int line_fail(const struct load *load, const char *text)
{
	cli_message("%s:%" PRIu64 ": %s", load->name, chi_source_line_number(load->source), text);
	return EXIT_STORE;
}

static int put_game_ids(struct load *load)
{
	int status = chi_put_game_ids(load->cli->client, load->games, load->n_games);
	load->n_games = 0;
	return status == CHI_OK ? EXIT_DONE : cli_fail(load->cli->client, status);
}

/* A game is listed when all positions are stored: they come first. */
static int take_game(struct load *load)
{
	if (load->games == NULL) {
		int status = batch_flush(&load->batch);
		load->games = malloc(GAMES_CHUNK * sizeof(*load->games));
		if (status == CHI_OK && load->games == NULL) {
			cli_message("out of memory");
			return EXIT_STORE;
		}
		if (status != CHI_OK) {
			return cli_worse(EXIT_STORE, cli_fail(load->cli->client, status));
		}
	}
	load->games[load->n_games++] = load->reader.game;
	return load->n_games == GAMES_CHUNK ? put_game_ids(load) : EXIT_DONE;
}

/* One line of the dump. */
static int take_line(struct load *load, const char *line, size_t len)
{
	struct chi_fault fault = {.text = ""};
	enum chi_dump_line kind = CHI_DUMP_HEAD;
	int status = chi_dump_read(&load->reader, line, len, &load->batch.arena, &kind,
				   batch_slot(&load->batch), &fault);
	if (status != CHI_OK) {
		/* The dump's fault names the line itself. */
		cli_message("%s: %s", load->name,
			    fault.text[0] != '\0' ? fault.text : chi_strerror(status));
		return EXIT_STORE;
	}
	int code = EXIT_DONE;
	/* Only the head's end tells that the head is good: until then nothing is made or opened. */
	if (kind != CHI_DUMP_HEAD && !load->opened) {
		code = open_store(load);
	}
	load->whole = kind == CHI_DUMP_TAIL;
	if (code == EXIT_DONE && kind == CHI_DUMP_POSITION) {
		status = batch_add(&load->batch, load->reader.line);
		if (status != CHI_OK) {
			code = cli_worse(EXIT_STORE, cli_fail(load->cli->client, status));
		}
	}
	if (code == EXIT_DONE && kind == CHI_DUMP_GAME) {
		code = take_game(load);
	}
	return code;
}

/* Ends at the first line that is wrong: a dump is whole or it is none. */
static int take_lines(struct load *load)
{
	int code = EXIT_DONE;
	while (code == EXIT_DONE && cli_stop == 0) {
		struct chi_fault fault = {.text = ""};
		const char *line = NULL;
		size_t len = 0;
		int status = chi_source_line(load->source, &line, &len, &fault);
		if (status == CHI_NONE) {
			break;
		}
		if (status != -CHI_ECANCELED) {
			code = status == CHI_OK ? take_line(load, line, len)
						: line_fail(load, fault.text);
		}
	}
	if (code == EXIT_DONE && cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (code == EXIT_DONE && !load->whole) {
		return line_fail(load, "the dump is cut: its last line is missing");
	}
	return code;
}

/* The base rates come last: a cut dump leaves the store's own. */
static int put_base(struct load *load)
{
	struct cli *cli = load->cli;
	struct chi_info info;
	const struct chi_counts *base = &load->reader.head.base;
	int status = chi_get_info(cli->client, &info);
	if (status == CHI_OK && memcmp(&info.base, base, sizeof(*base)) != 0) {
		status = chi_put_base(cli->client, base);
	}
	return status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
}

/* Puts the last batch, also of a dump that turned out to be bad, and makes all durable. */
static int finish(struct load *load, int code)
{
	struct cli *cli = load->cli;
	if (!load->opened) {
		return code;
	}
	int status = batch_flush(&load->batch);
	if (status != CHI_OK) {
		code = cli_worse(code, cli_fail(cli->client, status));
	}
	if (code == EXIT_DONE && load->n_games > 0) {
		code = put_game_ids(load);
	}
	return code == EXIT_DONE ? put_base(load) : code;
}

static int run(struct cli *cli)
{
	_cleanup_(load_deinit) struct load load = {.cli = cli};
	struct chi_source_options options = {.line_max = CHI_DUMP_LINE_MAX, .cancel = &cli_stop};
	struct chi_fault fault = {.text = ""};
	const char *path = cli->argc > 0 ? cli->argv[0] : "-";
	/* A name that messages can carry, also where there is no file. */
	load.name = strcmp(path, "-") == 0 ? "standard input" : path;
	chi_dump_reader_init(&load.reader);
	if (chi_source_open(path, &options, &load.source, &fault) != CHI_OK) {
		return cli_usage(cli, "%s: %s", load.name, fault.text);
	}
	if (batch_init(&load.batch, NULL, NULL) != CHI_OK) {
		return cli_no_memory();
	}
	cli_catch_signals();
	int code = finish(&load, take_lines(&load));
	const struct chi_put_result *total = &load.batch.total;
	uint64_t loaded = total->added + total->updated + total->unchanged;
	if (code != EXIT_DONE) {
		/* There is no result: this goes to standard error. */
		cli_message("%" PRIu64 " positions were loaded before that", loaded);
		return code;
	}
	return output_object(cli, json_pack("{s:o, s:o, s:o, s:o}", "loaded", json_count(loaded),
					    "new", json_count(total->added), "updated",
					    json_count(total->updated), "unchanged",
					    json_count(total->unchanged)));
}

const struct command cmd_load = {
	.name = "load",
	.arguments = "[FILE]",
	.summary = "make a store from a dump",
	.help = "Reads what 'dump' wrote from FILE, or from standard input (also: -), compressed\n"
		"by gzip, bzip2, zstd or xz or not. If ADDRESS is a directory that does not "
		"exist,\n"
		"the store is created with the dump's statistic. In an existing store the dump's\n"
		"positions replace those stored; the others stay.\n"
		"A line that cannot be read, or a missing last line, ends the load with exit code\n"
		"3; the number of positions loaded is printed. Ctrl-C ends it in the same way,\n"
		"with exit code 130; loading the whole dump again makes the store complete.",
	.example = "zstdcat positions.dump.zst | chistore -a ./copy load",
	.args_max = 1,
	.needs = NEEDS_ADDRESS,
	.run = run,
};
