/* SPDX-License-Identifier: MIT */
/* The table of subcommands, and finding one by what was typed. */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

/* Each at the end of its own file, which is the only place that knows what is in it. */
extern const struct command cmd_init;
extern const struct command cmd_key;
extern const struct command cmd_name;
extern const struct command cmd_alias;
extern const struct command cmd_gameset;
extern const struct command cmd_find;
extern const struct command cmd_stats;
extern const struct command cmd_twins;
extern const struct command cmd_weak;
extern const struct command cmd_strong;
extern const struct command cmd_novelties;
extern const struct command cmd_tempo;
extern const struct command cmd_performance;
extern const struct command cmd_drift;
extern const struct command cmd_gap;
extern const struct command cmd_spread;
extern const struct command cmd_put;
extern const struct command cmd_get;
extern const struct command cmd_explore;
extern const struct command cmd_games;
extern const struct command cmd_game;
extern const struct command cmd_delete;
extern const struct command cmd_scan;
extern const struct command cmd_count;
extern const struct command cmd_quickstart;
extern const struct command cmd_import;
extern const struct command cmd_subtract;
extern const struct command cmd_extract;
extern const struct command cmd_info;
extern const struct command cmd_verify;
extern const struct command cmd_backup;
extern const struct command cmd_publish;
extern const struct command cmd_compact;
extern const struct command cmd_dump;
extern const struct command cmd_load;
extern const struct command cmd_export;
extern const struct command cmd_suite;
extern const struct command cmd_merge;
extern const struct command cmd_rescore;
extern const struct command cmd_propagate;
extern const struct command cmd_pv;
extern const struct command cmd_ping;
extern const struct command cmd_analyse;
extern const struct command cmd_queue;
extern const struct command cmd_review;
extern const struct command cmd_report;
extern const struct command cmd_holes;
extern const struct command cmd_bench;
extern const struct command cmd_chess_db;

/* In the order of the help, group by group: by what a user wants. */
const struct command *const commands[] = {
	&cmd_get,	 &cmd_explore,	 &cmd_pv,	 &cmd_scan,	   &cmd_count, &cmd_find,
	&cmd_games,	 &cmd_game,	 &cmd_stats,	 &cmd_twins,	   &cmd_name,  &cmd_alias,
	&cmd_gameset,	 &cmd_weak,	 &cmd_strong,	 &cmd_performance, &cmd_drift, &cmd_gap,
	&cmd_spread,	 &cmd_novelties, &cmd_tempo,	 &cmd_report,	   &cmd_holes, &cmd_suite,
	&cmd_quickstart, &cmd_init,	 &cmd_put,	 &cmd_import,	   &cmd_load,  &cmd_merge,
	&cmd_delete,	 &cmd_subtract,	 &cmd_extract,	 &cmd_export,	   &cmd_dump,  &cmd_queue,
	&cmd_analyse,	 &cmd_review,	 &cmd_propagate, &cmd_rescore,	   &cmd_info,  &cmd_verify,
	&cmd_backup,	 &cmd_publish,	 &cmd_compact,	 &cmd_ping,	   &cmd_bench, &cmd_key,
	&cmd_chess_db,	 NULL,
};

const char *command_group(const struct command *first)
{
	static const struct {
		const struct command *first;
		const char *title;
	} groups[] = {
		{&cmd_get, "Look up positions"},
		{&cmd_games, "Look up games and names"},
		{&cmd_weak, "Find what counts alone do not tell"},
		{&cmd_quickstart, "Make a store, and put things in"},
		{&cmd_delete, "Take things out"},
		{&cmd_queue, "Have positions and games analysed"},
		{&cmd_info, "Look after a store"},
		{&cmd_key, "Without a store"},
	};
	for (size_t i = 0; i < CHI_COUNT(groups); i++) {
		if (groups[i].first == first) {
			return groups[i].title;
		}
	}
	return NULL;
}

/* Longer words are not typing errors of a command. */
#define WORD_MAX 32

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++) {
		if (strcmp(commands[i]->name, name) == 0) {
			return commands[i];
		}
	}
	return NULL;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Three rows of the table are all that an exchange of neighbours looks back on. */
size_t text_distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1]; /* of the table: row i is rows[i % 3] */
	size_t n = strlen(a);
	size_t m = strlen(b);
	if (n > WORD_MAX || m > WORD_MAX) {
		return WORD_MAX;
	}
	for (size_t j = 0; j <= m; j++) {
		rows[0][j] = j;
	}
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i - 1) % 3];
		const size_t *second = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
				row[j] = least(row[j], second[j - 2] + 1);
			}
		}
	}
	return rows[n % 3][m];
}

const char *command_nearest(const char *typed)
{
	const char *best = NULL;
	size_t best_distance = 3; /* two slips at most */
	for (size_t i = 0; commands[i] != NULL; i++) {
		size_t distance = text_distance(typed, commands[i]->name);
		/* "gt" is near "get"; "xyz" is not, though only three letters differ. */
		if (distance < best_distance && distance < strlen(commands[i]->name)) {
			best = commands[i]->name;
			best_distance = distance;
		}
	}
	return best;
}

int verb_find(const struct cli *cli, const struct verb *verbs, size_t n, const struct verb **out)
{
	const char *command = cli->command->name;
	char list[128] = "";
	for (size_t i = 0; i < n; i++) {
		const struct verb *verb = &verbs[i];
		size_t used = strlen(list);
		(void)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
			       verb->name);
		if (strcmp(cli->argv[0], verb->name) != 0) {
			continue;
		}
		if (verb->n >= 0 && cli->argc - 1 != verb->n) {
			/* "a NAME" has no spaces in it. */
			bool spaces = cli->argc - 1 > verb->n && verb->n > 0 &&
				      strncmp(verb->arguments, "a ", 2) != 0;
			return cli_usage(cli, "%s %s takes %s%s", command, verb->name,
					 verb->n > 0 ? verb->arguments : "no argument",
					 spaces ? "; put a name with spaces in quotes" : "");
		}
		*out = verb;
		return EXIT_DONE;
	}
	return cli_usage(cli, "%s: '%s' is none of %s", command, cli->argv[0], list);
}
