/* SPDX-License-Identifier: MIT */
/*
 * chistore merge: other stores added to one, by a session of the one that takes them
 * (chi_import_open), which does the merging where the store is. Where both are directories the
 * other is read as it is, else it is dumped into the session: over any address either may have.
 */
#include <string.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/out/dump_text.h"
#include "cli/out/output.h"
#include "cli/out/progress.h"

/* Lines are short: so much is fed at once. */
#define FEED_BYTES ((size_t)256 << 10)

/* Games named that are counted in both stores; more are counted, unless --verbose. */
#define NOTES_MAX 20

struct merge_state {
	bool skip_known;
	bool count_twice;
	bool verbose;
};

struct merge {
	struct cli *cli;
	const char *other; /* the address that is being merged */
	struct chi_import *games;
	struct chi_buffer text; /* not fed yet */
	uint64_t fed;		/* bytes */
	uint64_t lines;		/* of the dump, so positions and games */
	struct progress progress;
	uint64_t merged; /* stores */
	uint64_t taken;	 /* of them: games, and notes that were not */
	uint64_t known;	 /* counted in both */
	uint64_t told;	 /* of them, in the store being merged */
	uint64_t dropped;
	struct chi_put_result positions;
};

static void merge_deinit(struct merge *merge)
{
	chi_import_close(merge->games);
	chi_buffer_deinit(&merge->text);
}

/* The session's failure. Games in both are the user's to settle, and no failed store; a server
 * calls them an invalid request. */
static int games_fail(struct merge *merge, int status)
{
	const char *text = chi_import_error(merge->games);
	progress_clear(&merge->progress);
	if (status == -CHI_ECANCELED && cli_stop != 0) {
		return 128 + cli_stop;
	}
	cli_message("%s: %s", merge->other, text[0] != '\0' ? text : chi_strerror(status));
	return status == -CHI_EEXIST || status == -CHI_EINVAL ? EXIT_USAGE : EXIT_STORE;
}

static int feed_merge(struct merge *merge)
{
	int status = chi_import_feed(merge->games, chi_buffer_bytes(&merge->text), merge->text.len);
	merge->fed += merge->text.len;
	chi_buffer_consume(&merge->text, merge->text.len);
	progress_update(&merge->progress, merge->fed, merge->lines);
	return status == CHI_OK ? EXIT_DONE : games_fail(merge, status);
}

static int take_text(void *context, const char *bytes, size_t len)
{
	struct merge *merge = context;
	int status = chi_buffer_append(&merge->text, bytes, len);
	if (status != CHI_OK) {
		return cli_no_memory();
	}
	merge->lines++;
	return merge->text.len < FEED_BYTES ? EXIT_DONE : feed_merge(merge);
}

/* Opens a store for reading, and asks what it is. An OTHER has no name of a store: where a server
 * has several, "default" is meant. */
static int open_for_info(const struct cli *cli, const char *other, struct chi_client **out,
			 struct chi_info *info)
{
	struct cli copy = *cli;
	if (other != NULL) {
		copy.address = other;
		copy.store = NULL;
	}
	int code = cli_open(&copy, false, out);
	int status = code == EXIT_DONE ? chi_store_info(*out, info) : CHI_OK;
	return status == CHI_OK ? code : cli_fail(*out, status);
}

static int info_of(const struct cli *cli, const char *other, struct chi_info *info)
{
	struct chi_client *client = NULL;
	int code = open_for_info(cli, other, &client, info);
	chi_close(client);
	return code;
}

/* Sees to it, before anything is merged, that all are there and none comes twice. */
static int check_others(const struct cli *cli, int n, char **addresses)
{
	_cleanup_(chi_freep) struct chi_info *infos = calloc((size_t)n + 1, sizeof(*infos));
	if (infos == NULL) {
		return cli_no_memory();
	}
	int code = info_of(cli, NULL, &infos[0]);
	for (int i = 0; i < n && code == EXIT_DONE; i++) {
		code = info_of(cli, addresses[i], &infos[i + 1]);
		for (int j = 0; j <= i && code == EXIT_DONE; j++) {
			if (memcmp(infos[j].uuid, infos[i + 1].uuid, sizeof(infos[j].uuid)) == 0) {
				code = cli_usage(cli, "%s is the same store as %s, or a copy of it",
						 addresses[i],
						 j == 0 ? cli->address : addresses[j - 1]);
			}
		}
	}
	return code;
}

/* At the commit it is known how much there is: the bar and its rate begin again. */
static void on_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
	struct merge *merge = context;
	(void)phase;
	if (total != merge->progress.total) {
		progress_clear(&merge->progress);
		progress_init(&merge->progress, merge->cli->quiet, total);
	}
	progress_update(&merge->progress, done, done);
}

static void on_note(void *context, const struct chi_import_note *note)
{
	struct merge *merge = context;
	const struct merge_state *state = merge->cli->state;
	/* What is not of a game is an alias or a gameset that is left out. */
	merge->told += note->game != 0;
	if (state->verbose ||
	    ((note->game == 0 || merge->told <= NOTES_MAX) && !merge->cli->quiet)) {
		progress_clear(&merge->progress);
		cli_message("%s: %s", merge->other, note->text);
	}
}

static int open_session(struct merge *merge)
{
	const struct merge_state *state = merge->cli->state;
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	struct chi_import_options games = {
		CHI_IMPORT_OPTIONS_INIT,
		.kind = CHI_IMPORT_MERGE,
		.skip_known = state->skip_known,
		.count_twice = state->count_twice,
		.report = on_note,
		.progress = on_progress,
		.context = merge,
		.cancel = &cli_stop,
	};
	cli_options(merge->cli, true, &options);
	int status =
		chi_import_open(merge->cli->address, &options, 0, &games, &merge->games, &fault);
	if (status == CHI_OK) {
		status = chi_import_file(merge->games, merge->other);
	}
	return cli_fault(status, &fault);
}

/* A store that is written to while it is read would be merged in part: the numbers of its first and
 * last state tell. */
static int send(struct merge *merge, struct chi_client *from, const struct chi_info *before)
{
	struct chi_info after;
	bool mixed = false;
	int code = dump_write(from, CHI_KEEP_GAMES, take_text, merge, &mixed);
	if (code == EXIT_DONE) {
		code = feed_merge(merge);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_store_info(from, &after);
	if (status != CHI_OK) {
		return cli_fail(from, status);
	}
	if (mixed || after.sequence != before->sequence) {
		progress_clear(&merge->progress);
		cli_message("%s changed while it was read, so it was not merged; merge a backup of "
			    "it, or try again",
			    merge->other);
		return EXIT_STORE;
	}
	return EXIT_DONE;
}

/* One other store, all of it or nothing. */
static int merge_one(struct merge *merge)
{
	struct chi_client *from = NULL;
	struct chi_info info;
	struct chi_import_result result;
	merge->told = 0;
	int code = open_for_info(merge->cli, merge->other, &from, &info);
	if (code == EXIT_DONE) {
		code = open_session(merge);
	}
	if (code == EXIT_DONE) {
		int status = chi_import_store(merge->games, merge->other);
		code = status < 0	    ? games_fail(merge, status)
		       : status == CHI_NONE ? send(merge, from, &info)
					    : EXIT_DONE;
	}
	if (code == EXIT_DONE) {
		int status = chi_import_commit(merge->games, &result);
		code = status == CHI_OK ? EXIT_DONE : games_fail(merge, status);
	}
	chi_close(from);
	chi_import_close(merge->games);
	merge->games = NULL;
	chi_buffer_consume(&merge->text, merge->text.len);
	if (code == EXIT_DONE) {
		merge->taken += result.taken;
		merge->known += result.known;
		merge->dropped += result.dropped;
		merge->positions.added += result.positions.added;
		merge->positions.updated += result.positions.updated;
		merge->positions.unchanged += result.positions.unchanged;
		merge->merged++;
	}
	return code;
}

static int run_merge(struct cli *cli)
{
	_cleanup_(merge_deinit) struct merge merge = {.cli = cli};
	const struct merge_state *state = cli->state;
	if (state->skip_known && state->count_twice) {
		return cli_usage(cli, "--skip-known and --count-twice exclude each other");
	}
	int code = check_others(cli, cli->argc, cli->argv);
	if (code != EXIT_DONE) {
		return code;
	}
	chi_buffer_init(&merge.text, SIZE_MAX / 2);
	progress_init(&merge.progress, cli->quiet, 0);
	cli_catch_signals();
	for (int i = 0; i < cli->argc && code == EXIT_DONE; i++) {
		merge.other = cli->argv[i];
		code = merge_one(&merge);
	}
	progress_clear(&merge.progress);
	/* What was done before a store that failed stays done, so it is said in any case. */
	output_object(cli,
		      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "stores",
				json_count(merge.merged), "games", json_count(merge.taken), "known",
				json_count(merge.known), "new", json_count(merge.positions.added),
				"updated", json_count(merge.positions.updated), "unchanged",
				json_count(merge.positions.unchanged), "notes_kept",
				json_count(merge.dropped)));
	return code;
}

static const struct cli_option options[] = {
	OPTION_FLAG(merge_state, skip_known, "skip-known",
		    "leave games out that are counted already, and what they account for"),
	OPTION_FLAG(merge_state, count_twice, "count-twice",
		    "add all counts, though positions of common games count them twice"),
	OPTION_FLAG(merge_state, verbose, "verbose",
		    "name up to 1,000 games counted in both, not only 20"),
	OPTIONS_END,
};

const struct command cmd_merge = {
	.name = "merge",
	.arguments = "OTHER...",
	.summary = "add what other stores hold",
	.help = "Adds the stores at the addresses OTHER to the one of -a, each in one step, all "
		"or\n"
		"nothing. Games, counts, moves and plies are added. For each engine the deeper\n"
		"evaluation is kept, at equal depth the later one, else ours. Our note, line and\n"
		"supplied statistic are kept; theirs are taken where we have none. Computed\n"
		"statistics are computed for what changes.\n"
		"\n"
		"Games that OTHER keeps get the next numbers, in their order; names are the same\n"
		"if their texts are, aliases are carried, and gamesets whose name is free.\n"
		"\n"
		"A store that has counted some of the same games is refused, with their number\n"
		"and names. --skip-known leaves these games out: the result is that of importing\n"
		"the PGN of both. If OTHER does not keep them, only counts them, that is possible\n"
		"only if all of its games are known: subtract them from one of the two first, or\n"
		"import the PGN.",
	.example = "chistore -a ./all merge ./january ./february\n"
		   "chistore -a unix:/run/chistore/socket merge ./mine",
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.options = options,
	.state_size = sizeof(struct merge_state),
	.slow = true,
	.run = run_merge,
};
