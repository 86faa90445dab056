/* SPDX-License-Identifier: MIT */
/* chistore name: what players, events and others are called, and which names are one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/games/spellings.h"
#include "cli/out/columns.h"
#include "cli/out/output.h"

struct name_state {
	uint8_t kind;
	uint64_t limit;
	uint64_t cursor;
	uint64_t least;
	bool print_cursor;
	bool dry_run;
};

static const struct name_state defaults = {
	.kind = CHI_NAME_PLAYER, .limit = UINT64_MAX, .least = 60};

/* ---- Lists -------------------------------------------------------------------------------- */

/* A name, and of what group it is. */
struct named {
	struct chi_name_row name;
	size_t group;
	unsigned score;
};

/* The first two of groups alone. */
static const struct chi_row_column columns[] = {
	COLUMN(SHOW_COUNT, struct named, group, "group"),
	COLUMN(SHOW_COUNT, struct named, score, "score"),
	COLUMN(SHOW_COUNT, struct chi_name_row, id, "number"),
	COLUMN(SHOW_TEXT, struct chi_name_row, text, "name"),
	COLUMN(SHOW_COUNT, struct chi_name_row, games, "games"),
	COLUMN(SHOW_NUMBER, struct chi_name_row, fide, "fide"),
	COLUMN(SHOW_NUMBER, struct chi_name_row, root, "alias_of"),
};

#define NAME_COLUMNS   (columns + 2)
#define NAME_COLUMNS_N (CHI_COUNT(columns) - 2)

/* In pages: a store has names by the million. Fewer than asked for are not the last: names that
 * have gone meanwhile are left out. */
static int list(struct cli *cli, const char *wanted)
{
	const struct name_state *state = cli->state;
	struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .kind = state->kind, .wanted = wanted,
				      .after = (uint32_t)state->cursor};
	struct chi_names names = {.n = 0};
	uint64_t left = state->limit;
	struct cli_rows rows = {cli, NAME_COLUMNS, NAME_COLUMNS_N, false};
	bool found = false;
	bool whole = false;
	do {
		whole = spec.after == 0;
		spec.limit = left < CHI_NAMES_MAX ? (uint32_t)left : CHI_NAMES_MAX;
		int status = chi_names_list(cli->client, &spec, &names);
		if (status != CHI_OK) {
			return cli_fail(cli->client, status);
		}
		for (size_t i = 0; i < names.n && !cli_output_failed(); i++) {
			rows_print(&rows, &names.rows[i]);
			spec.after = names.rows[i].id;
		}
		left -= names.n;
		found = found || names.total > 0;
		whole = whole && names.n == names.total;
	} while (left > 0 && names.n > 0 && !whole && !cli_output_failed());
	if (wanted == NULL || found) {
		rows_head(&rows);
	}
	if (left == 0 && state->print_cursor) {
		fprintf(stderr, "next: --cursor %" PRIu32 "\n", spec.after);
	}
	return wanted != NULL && !found ? EXIT_NOT_FOUND : EXIT_DONE;
}

static int run_find(struct cli *cli)
{
	return list(cli, cli->argv[1]);
}

static int run_list(struct cli *cli)
{
	return list(cli, NULL);
}

static json_t *group_object(const struct chi_name_suspects *group)
{
	json_t *names = json_array();
	for (size_t i = 0; i < group->n; i++) {
		(void)json_array_append_new(
			names, columns_object(NAME_COLUMNS, NAME_COLUMNS_N, &group->names[i]));
	}
	return json_pack("{s:i, s:o}", "score", (int)group->score, "names", names);
}

/* A row for each name, which says of what group it is. */
static void print_group(struct cli_rows *rows, const struct chi_name_suspects *group, size_t number)
{
	if (rows->cli->json) {
		output_json(group_object(group));
		return;
	}
	for (size_t i = 0; i < group->n; i++) {
		rows_print(rows, &(struct named){group->names[i], number, group->score});
	}
}

static int run_suspects(struct cli *cli)
{
	const struct name_state *state = cli->state;
	struct chi_suspect_groups groups;
	uint32_t limit = state->limit < CHI_NAMES_MAX ? (uint32_t)state->limit : CHI_NAMES_MAX;
	struct cli_rows rows = ROWS_OF(cli, columns);
	int status = chi_suspects_list(
		cli->client,
		&(struct chi_suspects_spec){CHI_SUSPECTS_SPEC_INIT, .kind = state->kind,
					    .least = (uint8_t)state->least, .limit = limit},
		&groups);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	for (size_t i = 0; i < groups.n && !cli_output_failed(); i++) {
		print_group(&rows, &groups.groups[i], i + 1);
	}
	rows_head(&rows);
	if (groups.n < groups.total && !cli->quiet) {
		cli_message("%zu of %" PRIu64 " groups; --limit sets how many", groups.n,
			    groups.total);
	}
	return EXIT_DONE;
}

/* ---- Changes ------------------------------------------------------------------------------ */

static void name_refused(void *context, size_t i, const char *reason)
{
	(void)context;
	(void)i;
	cli_message("%s", reason);
}

static int change(struct cli *cli, enum chi_name_action action)
{
	const struct name_state *state = cli->state;
	struct chi_name_change one = {.action = (uint8_t)action,
				      .kind = state->kind,
				      .name = cli->argv[1],
				      .to = action == CHI_NAME_JOIN ? cli->argv[2] : NULL};
	struct chi_names_changed did;
	int status =
		chi_names_change(cli->client, &one, 1, state->dry_run, name_refused, NULL, &did);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (did.conflicts > 0) {
		return EXIT_USAGE;
	}
	return output_object(cli, json_pack("{s:o, s:o}", "changed", json_count(did.changed),
					    "already", json_count(did.same)));
}

static int run_alias(struct cli *cli)
{
	return change(cli, CHI_NAME_JOIN);
}

static int run_unalias(struct cli *cli)
{
	return change(cli, CHI_NAME_PART);
}

/* ---- The command -------------------------------------------------------------------------- */

static const struct verb verbs[] = {
	{"find", "TEXT", 1, false, run_find},	    {"list", NULL, 0, false, run_list},
	{"alias", "NAME TO", 2, true, run_alias},   {"unalias", "NAME", 1, true, run_unalias},
	{"suspects", NULL, 0, false, run_suspects},
};

static int run_name(struct cli *cli)
{
	const struct verb *verb = NULL;
	int code = verb_find(cli, verbs, CHI_COUNT(verbs), &verb);
	if (code != EXIT_DONE) {
		return code;
	}
	code = cli_open(cli, verb->writes, &cli->client);
	return code == EXIT_DONE ? verb->run(cli) : code;
}

static const struct cli_option options[] = {
	OPTION_WORD(name_state, kind, name_kinds, "kind", "KIND",
		    "player (default), event, site, source, round or annotator"),
	OPTION_NUMBER(name_state, limit, 1, UINT64_MAX, "limit", "N", "at most N names or groups"),
	OPTION_NUMBER(name_state, cursor, 0, UINT32_MAX, "cursor", "N",
		      "find, list: only names with greater numbers"),
	OPTION_FLAG(name_state, print_cursor, "print-cursor",
		    "if the limit ended the list, print its cursor on standard error"),
	OPTION_NUMBER(name_state, least, 0, 100, "score", "N",
		      "suspects: as likely as N at least, 60 (default) to 95"),
	OPTION_FLAG(name_state, dry_run, "dry-run", "alias, unalias: say what would be done"),
	OPTIONS_END,
};

const struct command cmd_name = {
	.name = "name",
	.arguments = "find TEXT|list|alias NAME TO|unalias NAME|suspects",
	.summary = "look names up, and join those that are one",
	.help = "Names of players, events, sites and others, as the games have them, with how "
		"many\n"
		"games each has.\n"
		"\n"
		"find lists who is meant by TEXT: all its words, whatever the case, accents and\n"
		"order, a single letter for any name it begins, and all names joined to these;\n"
		"after '=' exactly that text. list lists all. alias makes NAME another way to\n"
		"write TO: every filter takes them as one from then on. unalias takes NAME out\n"
		"again. suspects lists names that are likely the same, differently written.\n"
		"\n"
		"NAME and TO are exact texts, or #5 for a number. 'chistore alias import' reads\n"
		"a whole file of corrections.",
	.example = "chistore -a ./games name find \"Norheim, M\"\n"
		   "chistore -a ./games name list --kind event --limit 20\n"
		   "chistore -a ./games name suspects --score 90",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.slow = true,
	.state_size = sizeof(struct name_state),
	.defaults = &defaults,
	.run = run_name,
};
