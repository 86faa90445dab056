/* SPDX-License-Identifier: MIT */
/* A file is walked from the positions of the store, too, if there is one. */
#include "cli/hashed/exp_import.h"

#include <inttypes.h>
#include <stdio.h>

#include "chess/key.h"
#include "cli/hashed/feeder.h"
#include "cli/in/files.h"
#include "cli/out/output.h"
#include "formats/evals/exp.h"

struct exps {
	struct feeder feeder;
	struct chi_exp_result total;
};

static int scan_roots(struct exps *exps, struct chi_client *client, struct chi_exp *exp)
{
	const struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
					   .order = CHI_ORDER_POSITION, .want = CHI_WANT_KEYS};
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	struct chi_rows *iter = NULL;
	uint64_t n = 0;
	int status = chi_scan_open(client, &spec, &iter);
	while (status == CHI_OK && cli_stop == 0 &&
	       (status = chi_scan_next(iter, &row, &record)) == CHI_OK) {
		struct chi_position position;
		status = chi_key_decode(&row->key, &position, NULL);
		status = status == CHI_OK ? chi_exp_root(exp, &position) : status;
		progress_phase(&exps->feeder.run.progress, "positions of the store", ++n, 0);
	}
	chi_rows_close(iter);
	progress_clear(&exps->feeder.run.progress);
	return status == CHI_OK || status == CHI_NONE ? EXIT_DONE
	       : status == -CHI_ENOMEM		      ? cli_no_memory()
						      : cli_fail(client, status);
}

/* The positions of the store, if there is one, are known. */
static int add_roots(struct exps *exps, struct chi_exp *exp)
{
	struct chi_client *client = NULL;
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(exps->feeder.run.cli, false, &options);
	int status = chi_open(exps->feeder.run.cli->address, &options, &client, &fault);
	if (status != CHI_OK) {
		return status == -CHI_ENOSTORE ? EXIT_DONE : cli_fault(status, &fault);
	}
	int code = scan_roots(exps, client, exp);
	chi_close(client);
	return code;
}

/* What could not be used, and why. */
static void tell_exp(const char *path, const struct chi_exp_result *r)
{
	if (r->illegal > 0) {
		cli_message("%s: %" PRIu64 " moves are not legal in their position", path,
			    r->illegal);
	}
	if (r->unplaced > 0) {
		cli_message("%s: %" PRIu64 " of %" PRIu64
			    " entries cannot be placed: a file of hashes names no position, and to "
			    "theirs no moves through it lead from the initial position or from one "
			    "of the store; games imported before make more of them known",
			    path, r->unplaced, r->entries);
	}
}

static void add_up(struct chi_exp_result *total, const struct chi_exp_result *more)
{
	total->entries += more->entries;
	total->lines += more->lines;
	total->illegal += more->illegal;
	total->unscored += more->unscored;
	total->repeated += more->repeated;
	total->unplaced += more->unplaced;
}

/* All of the file's positions, on their way. */
static int feed_exp(struct exps *exps, const char *path, struct chi_exp *exp)
{
	struct chi_exp_result result = {0};
	int code = add_roots(exps, exp);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_exp_walk(exp, feeder_take, &exps->feeder, &cli_stop, &result);
	code = feeder_end_file(&exps->feeder, path, status, result.positions);
	if (code == EXIT_DONE) {
		add_up(&exps->total, &result);
		tell_exp(path, &result);
	}
	return code;
}

static int feed_file(struct feeder *feeder, const char *path)
{
	struct chi_exp *exp = NULL;
	struct chi_fault fault = {.text = ""};
	int status = chi_exp_open(path, &exp, &fault);
	if (status != CHI_OK) {
		return import_say_file(&feeder->run, path, fault.text, files_exit_of(status));
	}
	int code = feed_exp((struct exps *)feeder, path, exp);
	chi_exp_close(exp);
	return code;
}

static int tell_stored(struct import_run *run, int status, const struct chi_import_result *result)
{
	const struct exps *exps = (const struct exps *)run;
	const struct chi_put_result *stored = &result->positions;
	const struct chi_exp_result *total = &exps->total;
	if (status != CHI_OK) {
		return import_fail(run, status);
	}
	output_object(
		run->cli,
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read",
			  json_count(total->entries), "lines", json_count(total->lines), "new",
			  json_count(stored->added), "updated", json_count(stored->updated),
			  "unchanged", json_count(stored->unchanged), "rejected",
			  json_count(result->skipped), "illegal", json_count(total->illegal),
			  "unscored", json_count(total->unscored), "repeated",
			  json_count(total->repeated), "unplaced", json_count(total->unplaced)));
	return exps->feeder.empty ? EXIT_STORE : EXIT_DONE;
}

int exp_import(struct cli *cli, enum chi_statistic create, const char *engine, int n, char **paths)
{
	struct exps exps = {.feeder.run.create = create};
	char *name = exps.feeder.run.options.engine;
	(void)snprintf(name, sizeof(exps.feeder.run.options.engine), "%s",
		       engine[0] != '\0' ? engine : CHI_EXP_ENGINE);
	return feeder_run(cli, &exps.feeder, n, paths, feed_file, tell_stored);
}
