/* SPDX-License-Identifier: MIT */
/* chistore key: what a position's key and control statistic are, without a store. */
#include <stdio.h>

#include "base/num.h"
#include "cli/command.h"
#include "cli/in/fens.h"
#include "cli/out/output.h"

/* The FEN printed is the normalised one: it is what the key says. */
static int print_key(struct cli *cli, void *context, const struct place *place)
{
	const struct chi_key *key = &place->key;
	(void)context;
	char fen[CHI_FEN_SIZE];
	char hex[2 * CHI_KEY_MAX + 1];
	char control[CHI_CHI2_TEXT_SIZE];
	uint16_t chi2 = CHI_CHI2_UNKNOWN;
	int status = chi_key_to_fen(key, fen, NULL);
	if (status == CHI_OK) {
		status = chi_key_control(key, &chi2);
	}
	if (status != CHI_OK) {
		cli_message("%s", chi_strerror(status));
		return cli_exit_of(status);
	}
	chi_hex_print(key->bytes, key->len, hex);
	if (cli->json) {
		output_json(json_pack("{s:s, s:s, s:o}", "fen", fen, "key", hex, "control",
				      json_chi2(chi2)));
		return EXIT_DONE;
	}
	(void)chi_num_chi2_print(chi2, control);
	printf("%s\t%s\t%s\n", fen, hex, control);
	return EXIT_DONE;
}

static int run_key(struct cli *cli)
{
	if (!cli->json) {
		printf("fen\tkey\tcontrol\n");
	}
	return fens_each(cli, &(struct fens_user){.each = print_key});
}

const struct command cmd_key = {
	.name = "key",
	.arguments = "[POSITION...]",
	.summary = "print positions' keys and control statistics, without a store",
	.help = "Prints for each position the columns fen (normalised: as it is stored), key\n"
		"(hexadecimal) and control (the control statistic, - if it is not known).\n"
		"Without arguments positions are read from standard input, one a line; blank\n"
		"lines and lines starting with # are skipped.\n\n" PLACE_HELP,
	.example = "chistore key 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'",
	.args_max = -1,
	.needs = NEEDS_NOTHING,
	.run = run_key,
};
