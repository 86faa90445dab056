/* SPDX-License-Identifier: MIT */
/* chistore load: a dump back into a store. The library reads it; only its head, which says what
 * kind of store it wants, is looked at here. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/in/files.h"
#include "cli/in/import_run.h"
#include "cli/out/output.h"
#include "formats/source.h"
#include "store/text/dump.h"

struct load_command {
	struct import_run run;
	struct chi_source *source;
	struct chi_dump_reader head;
	struct chi_buffer text; /* the head's lines */
};

static void load_deinit(struct load_command *load)
{
	chi_source_close(load->source);
	chi_buffer_deinit(&load->text);
}

static int fail_head(struct load_command *load, const char *text)
{
	if (cli_stop != 0) {
		cli_message("interrupted; nothing was stored");
		return 128 + cli_stop;
	}
	cli_message("%s: %s", load->run.what, text);
	return EXIT_STORE;
}

/* A line of the head is kept, and shows itself whether it is one. */
static int take_head_line(struct load_command *load, struct chi_arena *arena)
{
	struct chi_fault fault = {.text = ""};
	const char *line = NULL;
	size_t len = 0;
	enum chi_dump_line kind;
	struct chi_put_entry put;
	int status = chi_source_line(load->source, &line, &len, &fault);
	if (status == CHI_NONE) {
		return fail_head(load, "the dump is cut: its last line is missing");
	}
	if (status == CHI_OK) {
		status = chi_dump_read(&load->head, line, len, arena, &kind, &put, &fault);
	}
	if (status != CHI_OK) {
		return fail_head(load, fault.text[0] != '\0' ? fault.text : chi_strerror(status));
	}
	status = chi_buffer_append(&load->text, line, len);
	status = status == CHI_OK ? chi_buffer_append(&load->text, "\n", 1) : status;
	return status == CHI_OK ? EXIT_DONE : cli_no_memory();
}

static int take_dump_head(struct load_command *load)
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

static void on_note(void *context, const struct chi_import_note *note)
{
	struct import_run *run = context;
	if (!run->cli->quiet) {
		progress_clear(&run->progress);
		cli_message("%s: %s", run->what, note->text);
	}
}

static int feed_load(struct import_run *run, void *context)
{
	struct load_command *load = (struct load_command *)run;
	(void)context;
	int status = chi_import_feed(run->import, chi_buffer_bytes(&load->text), load->text.len);
	return status == CHI_OK ? import_feed_source(run, run->what, load->source)
				: import_fail(run, status);
}

static int tell_loaded(struct import_run *run, int status, const struct chi_import_result *result)
{
	const struct chi_put_result *done = &result->positions;
	if (status != CHI_OK) {
		return import_fail(run, status);
	}
	return output_object(run->cli,
			     json_pack("{s:o, s:o, s:o, s:o}", "loaded",
				       json_count(done->added + done->updated + done->unchanged),
				       "new", json_count(done->added), "updated",
				       json_count(done->updated), "unchanged",
				       json_count(done->unchanged)));
}

/* The store must be of the dump's kind; a directory without one gets such a one. */
static int run_load(struct cli *cli)
{
	_cleanup_(load_deinit) struct load_command load = {.run.options = {CHI_IMPORT_OPTIONS_INIT,
									   .kind = CHI_IMPORT_LOAD,
									   .report = on_note}};
	struct chi_source_options options = {.line_max = CHI_DUMP_LINE_MAX, .cancel = &cli_stop};
	const char *path = cli->argc > 0 ? cli->argv[0] : "-";
	/* A name that messages can carry, also where there is no file. */
	load.run.what = strcmp(path, "-") == 0 ? "standard input" : path;
	chi_buffer_init(&load.text, (size_t)CHI_DUMP_HEAD_LINES * CHI_DUMP_LINE_MAX);
	chi_dump_reader_init(&load.head);
	int code = files_open(cli, path, load.run.what, &options, &load.source);
	if (code != EXIT_DONE) {
		return code;
	}
	cli_catch_signals();
	code = take_dump_head(&load);
	load.run.create = load.head.head.statistic;
	return code == EXIT_DONE ? import_store(cli, &load.run, chi_source_bytes_total(load.source),
						feed_load, tell_loaded, NULL)
				 : code;
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
