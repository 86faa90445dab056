/* SPDX-License-Identifier: MIT */
/* chistore alias: corrections of names by the thousand, from spelling files. */
#include <string.h>

#include "cli/games/spellings.h"
#include "cli/out/output.h"

static int print_spellings(const struct cli *cli, const struct spellings *done)
{
	return output_object(cli, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "aliases",
					    json_count(done->aliases), "fide_ids",
					    json_count(done->fides), "changed",
					    json_count(done->did.changed), "nothing_to_do",
					    json_count(done->did.same), "conflicts",
					    json_count(done->did.conflicts), "bad_lines",
					    json_count(done->bad)));
}

static int run_alias(struct cli *cli)
{
	struct spellings *spellings = cli->state;
	if (strcmp(cli->argv[0], "import") != 0) {
		return cli_usage(cli, "alias: '%s' is not 'import'; single names are for 'name'",
				 cli->argv[0]);
	}
	cli_catch_signals();
	int code = EXIT_DONE;
	for (int i = 1; i < cli->argc && code == EXIT_DONE; i++) {
		code = spellings_import(cli, cli->argv[i], spellings);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	if (spellings->aliases + spellings->fides == 0) {
		cli_message("%s: neither an alias nor a FIDE id was found", cli->argv[1]);
		return EXIT_STORE;
	}
	return print_spellings(cli, spellings);
}

static const struct cli_option options[] = {
	OPTION_FLAG(spellings, dry_run, "dry-run", "say what would be done"),
	OPTION_FLAG(spellings, verbose, "verbose", "print every remark, not only the first 20"),
	OPTIONS_END,
};

const struct command cmd_alias = {
	.name = "alias",
	.arguments = "import FILE.ssp...",
	.summary = "join names as spelling files say",
	.help = "Reads Scid's spelling files: names of players, events, sites and rounds as they\n"
		"should be written, each followed by other ways in which they are found, and\n"
		"players' FIDE ids. What a store's games are called by another of these ways is\n"
		"joined to the right name; names that it does not have are left out.\n"
		"\n"
		"Where two names have different FIDE ids they are not joined; each such conflict\n"
		"is named with its line, and the rest is done. Files may be compressed; - is\n"
		"standard input.",
	.example = "chistore -a ./games alias import --dry-run spelling.ssp",
	.options = options,
	.args_min = 2,
	.args_max = -1,
	.needs = NEEDS_WRITE,
	.slow = true,
	.state_size = sizeof(struct spellings),
	.run = run_alias,
};
