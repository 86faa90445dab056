/* SPDX-License-Identifier: MIT */
/* Lines read, put in batches, counted; those that are bad are told and passed over. */
#include "cli/in/position_import.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out/output.h"

/* Bad lines reported; more are counted. */
#define REPORTS_MAX 20

/* Lines between two looks at the clock. */
#define PROGRESS_LINES 500

/* A bad line, found by the reader or refused by the store. */
static void reject(void *context, uint64_t line, const char *reason)
{
	struct position_import *import = context;
	import->rejected++;
	if (import->rejected <= REPORTS_MAX) {
		progress_clear(&import->progress);
		cli_message("%s:%" PRIu64 ": %s", import->path, line, reason);
	}
	if (import->rejected == REPORTS_MAX) {
		cli_message("further bad lines are only counted");
	}
}

/* In a store that computes its statistic a file's own cannot be kept. */
static void drop_statistic(struct position_import *import, struct chi_put_entry *put)
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
static void show_progress(struct position_import *import, const struct chi_position_reader *file)
{
	if (import->read % PROGRESS_LINES == 0) {
		progress_update(&import->progress, chi_position_reader_bytes_read(file),
				import->read);
	}
}

/* What was not taken as it is, said at the end of a file: names that mean nothing to the reader,
 * statistics beyond the scale. */
static void tell_ignored(const struct position_import *import,
			 const struct chi_position_reader *file)
{
	const char *ignored = chi_position_reader_ignored(file);
	if (!import->progress.quiet && ignored[0] != '\0') {
		cli_message("%s: ignored: %s", import->path, ignored);
	}
	uint64_t clamped = chi_position_reader_clamped(file);
	if (!import->progress.quiet && clamped > 0 && !import->computed) {
		cli_message("%s: %" PRIu64 " statistics beyond the scale, stored as 0.01 or 255.99",
			    import->path, clamped);
	}
}

static int store(struct position_import *import, uint64_t line)
{
	drop_statistic(import, batch_slot(&import->batch));
	return batch_add(&import->batch, line);
}

/* Positions into batches. A negative status is the store's; an input that cannot be read on is told
 * here and sets import->code. */
static int read_file(struct position_import *import, struct chi_position_reader *file)
{
	struct batch *batch = &import->batch;
	while (cli_stop == 0) {
		struct chi_fault fault = {.text = ""};
		int status =
			chi_position_reader_next(file, &batch->arena, batch_slot(batch), &fault);
		if (status == CHI_NONE || (status == -CHI_ECANCELED && cli_stop != 0)) {
			return CHI_OK;
		}
		if (chi_position_reader_failed(file)) {
			progress_clear(&import->progress);
			cli_message("%s:%" PRIu64 ": %s", import->path,
				    chi_position_reader_line(file), fault.text);
			import->code = status == -CHI_EUNSUPPORTED ? EXIT_USAGE : EXIT_STORE;
			return CHI_OK;
		}
		import->read++;
		if (status == CHI_OK) {
			status = store(import, chi_position_reader_line(file));
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

/* The input from its beginning to its end. */
static int import_all(struct position_import *import)
{
	struct chi_position_reader *file = NULL;
	struct chi_fault fault = {.text = ""};
	if (chi_position_reader_open(import->path, &import->options, &file, &fault) != CHI_OK) {
		cli_message("%s: %s", import->path, fault.text);
		import->code = EXIT_USAGE;
		return CHI_OK;
	}
	int status = read_file(import, file);
	if (status == CHI_OK) {
		status = batch_flush(&import->batch);
	}
	if (status == CHI_OK && import->code == EXIT_DONE && cli_stop == 0 &&
	    import->read == import->rejected) {
		progress_clear(&import->progress);
		cli_message("%s: no position was found", import->path);
		import->code = EXIT_STORE;
	} else {
		tell_ignored(import, file);
	}
	chi_position_reader_close(file);
	return status;
}

/* `stored` counts lines, also those that were stored just so before. */
static void print_summary(struct cli *cli, const struct position_import *import)
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

/* What was acknowledged is made durable, whatever stopped the work. */
static int import_positions(struct cli *cli, struct position_import *import)
{
	int status = import_all(import);
	int code = import->code;
	progress_clear(&import->progress);
	if (status != CHI_OK) {
		code = cli_worse(EXIT_STORE, cli_fail(cli->client, status));
	}
	status = batch_settle(&import->batch);
	if (status != CHI_OK) {
		code = cli_worse(EXIT_STORE, cli_fail(cli->client, status));
	}
	print_summary(cli, import);
	if (import->strict && import->rejected > 0) {
		code = cli_worse(EXIT_STORE, code);
	}
	return cli_stop != 0 ? 128 + cli_stop : code;
}

int positions_run(struct cli *cli, struct position_import *import)
{
	struct chi_info info;
	int status = chi_store_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	/* Asked once and not by each line's refusal: the column is dropped, the line is good. */
	import->computed = info.statistic != CHI_STATISTIC_EXTERNAL;
	import->cli = cli;
	import->path = "-";
	import->options.cancel = &cli_stop;
	progress_init(&import->progress, cli->quiet, 0);
	cli_catch_signals();
	status = batch_init(&import->batch, reject, import);
	import->batch.client = cli->client;
	int code = status == CHI_OK ? import_positions(cli, import) : cli_no_memory();
	batch_deinit(&import->batch);
	return code;
}
