/* SPDX-License-Identifier: MIT */
/* chistore verify: reads and checks a whole store, or saves what is intact of it. */
#include <inttypes.h>

#include "chess/statistic.h"
#include "cli/command.h"
#include "cli/out/output.h"

/* Damages named; the number of all is printed at the end. */
#define REPORTS_MAX 100

/* A store that is damaged throughout would otherwise print millions of lines. */
static void report_damage(void *context, const char *text)
{
	unsigned *reports = context;
	if (*reports < REPORTS_MAX) {
		cli_message("damage: %s", text);
	} else if (*reports == REPORTS_MAX) {
		cli_message("further damage is only counted");
	}
	if (*reports <= REPORTS_MAX) {
		(*reports)++;
	}
}

struct verify_state {
	const char *repair; /* where the new store is to be; NULL: only look */
	enum chi_statistic statistic;
};

/* What was lost is said in words as well: it must not drown among the damages. */
static void print_repair(struct cli *cli, const struct verify_state *state,
			 const struct chi_repair_result *result)
{
	if (result->missing > 0) {
		cli_message("%" PRIu64 " entries of the damaged store are lost", result->missing);
	}
	if (result->unsure) {
		cli_message(
			"the newest state cannot be told from older ones: '%s' may hold deleted "
			"or outdated records",
			state->repair);
	}
	output_object(cli,
		      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "repaired",
				json_path(state->repair), "positions",
				json_count(result->positions), "games", json_count(result->games),
				"found", json_count(result->found), "damaged",
				json_count(result->damaged), "missing", json_count(result->missing),
				"pages", json_count(result->pages), "unsure", result->unsure));
}

static int repair(struct cli *cli, const struct verify_state *state)
{
	struct chi_repair_result result;
	struct chi_fault fault = {.text = ""};
	unsigned reports = 0;
	int status = chi_store_repair(cli->address, state->repair, state->statistic, report_damage,
				      &reports, &result, &fault);
	if (status != CHI_OK) {
		return cli_fault(status, &fault);
	}
	print_repair(cli, state, &result);
	return result.missing == 0 && result.damaged == 0 && !result.unsure ? EXIT_DONE
									    : EXIT_STORE;
}

static int verify_store(struct cli *cli)
{
	struct chi_verify_result result = {0};
	unsigned reports = 0;
	int code = cli_open(cli, false, &cli->client);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_store_verify(cli->client, report_damage, &reports, &result);
	if (status != CHI_OK && status != -CHI_ECORRUPT) {
		return cli_fail(cli->client, status);
	}
	output_object(cli,
		      json_pack("{s:b, s:o, s:o, s:o}", "sound", status == CHI_OK, "positions",
				json_count(result.positions), "known", json_count(result.known),
				"errors", json_count(result.errors)));
	return status == CHI_OK ? EXIT_DONE : EXIT_STORE;
}

static int run_verify(struct cli *cli)
{
	const struct verify_state *wanted = cli->state;
	if (wanted->statistic != 0 && wanted->repair == NULL) {
		return cli_usage(cli, "--statistic goes with --repair");
	}
	return wanted->repair != NULL ? repair(cli, wanted) : verify_store(cli);
}

static const struct cli_option options[] = {
	OPTION_TEXT(verify_state, repair, "repair", "DEST",
		    "save every intact record of a damaged store into a new one, the directory "
		    "DEST; on RADOS: repair the store in place, DEST is its address"),
	OPTION_WORD(verify_state, statistic, chi_statistic_names, "statistic", "KIND",
		    "repair: which statistic it holds, if the store's stamp is lost"),
	OPTIONS_END,
};

const struct command cmd_verify = {
	.name = "verify",
	.arguments = "",
	.summary = "read and check the whole store, or save what is intact",
	.help = "Reads everything and checks that both trees agree, that every record is intact,\n"
		"and that checksums and computed statistics are right. The games of the archive\n"
		"are played again, and compared with the lists of the positions they reached.\n"
		"Damage is described on standard error; then sound (yes or no), positions, known\n"
		"and errors are printed. The exit code is 0 for a sound store and 3 for a damaged\n"
		"one. A store in a directory is read by as many threads, up to 4, as there are\n"
		"processors that the command may run on: 'taskset -c 0' leaves it one. Each takes\n"
		"4 bytes of memory a game. Where they find damage, one reads all again to tell.\n"
		"\n"
		"With --repair a damaged store, even one that no longer opens, is read page by\n"
		"page. Every intact record goes into a new store; the damaged one is not changed.\n"
		"It prints positions and games saved; found: those in pages that no tree leads\n"
		"to; damaged: damaged entries; missing: entries that the store says it holds and\n"
		"that were not saved; pages that could not be read; and unsure: whether the "
		"newest\n"
		"state cannot be told from older ones, so that the new store may hold deleted or\n"
		"outdated records. The exit code is 0 if nothing was lost, and 3 if something "
		"was,\n"
		"or if no new store was made. The store must not be written meanwhile.\n"
		"\n"
		"A store on RADOS is repaired in place: DEST is its own address again. Damaged\n"
		"entries are removed, the others made to agree, and an import that is committed\n"
		"is finished. It may be written meanwhile.",
	.example = "chistore -a ./positions verify\n"
		   "chistore -a ./damaged verify --repair ./saved",
	.options = options,
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.state_size = sizeof(struct verify_state),
	.run = run_verify,
};
