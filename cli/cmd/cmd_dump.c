/* SPDX-License-Identifier: MIT */
/* chistore dump: the whole store as text. */
#include "cli/command.h"
#include "cli/in/dump_seal.h"
#include "cli/in/keep.h"
#include "cli/out/dump_text.h"
#include "cli/out/target.h"

struct dump_state {
	enum chi_keep keep;
	const char *seal;
};

static int write_text(void *context, const char *text, size_t len)
{
	return target_write(context, text, len);
}

static int dump_store(struct cli *cli, enum chi_keep keep, struct target *target)
{
	bool mixed = false;
	int code = dump_write(cli->client, keep, write_text, target, &mixed);
	if (code == EXIT_DONE && mixed) {
		cli_message("the store changed during the dump: it is of more than one committed "
			    "state; 'backup' copies one");
	}
	return code;
}

static int run_dump(struct cli *cli)
{
	const struct dump_state *state = cli->state;
	_cleanup_(target_discard) struct target target = {.file = NULL};
	int code = state->seal == NULL ? cli_open(cli, false, &cli->client) : EXIT_DONE;
	code = code == EXIT_DONE ? target_open(&target, cli->argc > 0 ? cli->argv[0] : NULL) : code;
	if (code == EXIT_DONE) {
		code = state->seal != NULL ? dump_seal(cli, state->seal, &target)
					   : dump_store(cli, state->keep, &target);
	}
	return code == EXIT_DONE ? target_finish(&target) : code;
}

static const struct cli_option options[] = {
	OPTION_WORD(
		dump_state, keep, keep_names, "games", "WORD",
		"keep (default): with the games that are kept; none: only that they are counted"),
	OPTION_TEXT(dump_state, seal, "seal", "DUMP",
		    "write the dump in this file, which was edited, with new checksums"),
	OPTIONS_END,
};

const struct command cmd_dump = {
	.name = "dump",
	.arguments = "[FILE]",
	.summary = "write the whole store as text",
	.help = "Writes every position with its record to FILE, or to standard output (also: -).\n"
		"The text has one line a position, tab-separated, ordered by key. It does not\n"
		"depend on the machine: 'load' makes the same store from it elsewhere (of a\n"
		"performance store with the expectation that fits its games now). It has\n"
		"checksums, so that 'load' notices any change: after editing a dump give it new\n"
		"ones with --seal, for which no store is needed.",
	.example = "chistore -a ./positions dump | zstd > positions.dump.zst\n"
		   "chistore dump --seal edited.dump new.dump",
	.args_max = 1,
	.needs = NEEDS_BY_OPTION,
	.options = options,
	.state_size = sizeof(struct dump_state),
	.run = run_dump,
};
