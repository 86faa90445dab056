/* SPDX-License-Identifier: MIT */
/* chistore load: a dump back into a store. The library reads it; only its head, which says what
 * kind of store it wants, is looked at here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/in/files.h"
#include "cli/out/output.h"
#include "cli/out/progress.h"
#include "formats/source.h"
#include "store/text/dump.h"

struct load_command {
	struct cli *cli;
	const char *name; /* of the file, for messages */
	struct chi_source *source;
	struct chi_dump_reader head;
	struct chi_buffer text; /* the head's lines */
	struct chi_import *import;
	struct progress progress;
};

static void load_deinit(struct load_command *load)
{
	chi_import_close(load->import);
	chi_source_close(load->source);
	chi_buffer_deinit(&load->text);
}

static int fail_load(struct load_command *load, const char *text)
{
	progress_clear(&load->progress);
	if (cli_stop != 0) {
		cli_message("interrupted; nothing was loaded");
		return 128 + cli_stop;
	}
	cli_message("%s: %s", load->name, text);
	return EXIT_STORE;
}

/* The dump is at fault, or else what it was to go into. */
static int import_fail(struct load_command *load, int status)
{
	const char *text = chi_import_error(load->import);
	if (cli_stop != 0 || cli_exit_of(status) == EXIT_USAGE) {
		return fail_load(load, text);
	}
	progress_clear(&load->progress);
	cli_message("%s", text);
	return EXIT_STORE;
}

/* A line of the head is kept, and shows itself whether it is one. */
static int take_head_line(struct load_command *load, struct chi_arena *arena)
{
	struct chi_fault fault = {.text = ""};
	const char *line = NULL;
	size_t len = 0;
	enum chi_dump_line kind;
	struct chi_put put;
	int status = chi_source_line(load->source, &line, &len, &fault);
	if (status == CHI_NONE) {
		return fail_load(load, "the dump is cut: its last line is missing");
	}
	if (status == CHI_OK) {
		status = chi_dump_read(&load->head, line, len, arena, &kind, &put, &fault);
	}
	if (status != CHI_OK) {
		return fail_load(load, fault.text[0] != '\0' ? fault.text : chi_strerror(status));
	}
	status = chi_buffer_append(&load->text, line, len);
	status = status == CHI_OK ? chi_buffer_append(&load->text, "\n", 1) : status;
	return status == CHI_OK ? EXIT_DONE : cli_no_memory();
}

static int take_head(struct load_command *load)
{
	struct chi_arena arena;
	int code = EXIT_DONE;
	chi_arena_init(&arena, CHI_DUMP_LINE_MAX);
	while (code == EXIT_DONE && load->head.line < CHI_DUMP_HEAD_LINES) {
		code = take_head_line(load, &arena);
	}
	chi_arena_deinit(&arena);
	return code;
}

static void progressed(void *context, const char *phase, uint64_t done, uint64_t total)
{
	struct load_command *load = context;
	progress_phase(&load->progress, phase, done, total);
}

static void on_note(void *context, const struct chi_import_note *note)
{
	struct load_command *load = context;
	if (!load->cli->quiet) {
		progress_clear(&load->progress);
		cli_message("%s: %s", load->name, note->text);
	}
}

/* The store must be of the dump's kind; a directory without one gets such a one. */
static int open_import(struct load_command *load)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	const struct chi_import_options import = {.kind = CHI_IMPORT_LOAD,
						  .report = on_note,
						  .progress = progressed,
						  .context = load,
						  .cancel = &cli_stop};
	cli_options(load->cli, true, &options);
	return cli_fault(chi_import_open(load->cli->address, &options, load->head.head.statistic,
					 &import, &load->import, &fault),
			 &fault);
}

static int feed_load(struct load_command *load)
{
	const char *bytes = (const char *)chi_buffer_bytes(&load->text);
	size_t len = load->text.len;
	for (;;) {
		struct chi_fault fault = {.text = ""};
		int status = chi_import_feed(load->import, bytes, len);
		if (status != CHI_OK) {
			return import_fail(load, status);
		}
		progress_update(&load->progress, chi_source_bytes_read(load->source), 0);
		int got = chi_source_read(load->source, &bytes, &len, &fault);
		if (got != CHI_OK) {
			return got == CHI_NONE ? EXIT_DONE : fail_load(load, fault.text);
		}
	}
}

static int load_all(struct load_command *load)
{
	struct chi_import_result result;
	int code = take_head(load);
	code = code == EXIT_DONE ? open_import(load) : code;
	code = code == EXIT_DONE ? feed_load(load) : code;
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_import_commit(load->import, &result);
	if (status != CHI_OK) {
		return import_fail(load, status);
	}
	progress_clear(&load->progress);
	const struct chi_put_result *done = &result.positions;
	return output_object(load->cli,
			     json_pack("{s:o, s:o, s:o, s:o}", "loaded",
				       json_count(done->added + done->updated + done->unchanged),
				       "new", json_count(done->added), "updated",
				       json_count(done->updated), "unchanged",
				       json_count(done->unchanged)));
}

static int run_load(struct cli *cli)
{
	_cleanup_(load_deinit) struct load_command load = {.cli = cli};
	struct chi_source_options options = {.line_max = CHI_DUMP_LINE_MAX, .cancel = &cli_stop};
	const char *path = cli->argc > 0 ? cli->argv[0] : "-";
	/* A name that messages can carry, also where there is no file. */
	load.name = strcmp(path, "-") == 0 ? "standard input" : path;
	chi_buffer_init(&load.text, (size_t)CHI_DUMP_HEAD_LINES * CHI_DUMP_LINE_MAX);
	chi_dump_reader_init(&load.head);
	int code = files_open(cli, path, load.name, &options, &load.source);
	if (code != EXIT_DONE) {
		return code;
	}
	progress_init(&load.progress, cli->quiet, chi_source_bytes_total(load.source));
	load.progress.unit = "positions";
	cli_catch_signals();
	return load_all(&load);
}

const struct command cmd_load = {
	.name = "load",
	.arguments = "[FILE]",
	.summary = "make a store from a dump",
	.help = "Reads what 'dump' wrote from FILE, or from standard input (also: -), compressed\n"
		"by gzip, bzip2, zstd or xz or not. If ADDRESS is a directory that does not "
		"exist,\n"
		"the store is created with the dump's statistic. In an existing store the dump's\n"
		"positions replace those stored; the others stay. Games that the dump has keep\n"
		"their numbers, so the store must not have any: 'merge' adds stores to another.\n"
		"All of it is loaded, or nothing: a line that cannot be read, or a missing last\n"
		"line, ends the load with exit code 3, Ctrl-C with 130, and nothing has changed.",
	.example = "zstdcat positions.dump.zst | chistore -a ./copy load",
	.args_max = 1,
	.needs = NEEDS_ADDRESS,
	.run = run_load,
};
