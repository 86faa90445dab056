/* SPDX-License-Identifier: MIT */
/* chistore key: what a position's key and control statistic are, without a store. */
#include "base/num.h"
#include "chess/key.h"
#include "chess/polyglot/polyglot.h"
#include "cli/command.h"
#include "cli/in/fens.h"
#include "cli/out/columns.h"

struct key_state {
	bool polyglot;
};

/* The FEN printed is the normalised one: it is what the key says. */
struct key_row {
	char fen[CHI_FEN_SIZE];
	char hex[2 * CHI_KEY_MAX + 1];
	uint16_t control;
	uint64_t polyglot;
};

static void fen_cell(const void *at, struct chi_cell *out)
{
	chi_cell_name(out, ((const struct key_row *)at)->fen);
}

static void hex_cell(const void *at, struct chi_cell *out)
{
	chi_cell_name(out, ((const struct key_row *)at)->hex);
}

static void control_cell(const void *at, struct chi_cell *out)
{
	uint16_t control = ((const struct key_row *)at)->control;
	if (control != CHI_CHI2_UNKNOWN) {
		chi_cell_hundredths(out, control);
	}
}

static const struct chi_row_column columns[] = {
	COLUMN_MADE("fen", fen_cell),
	COLUMN_MADE("key", hex_cell),
	COLUMN_MADE("control", control_cell),
	COLUMN(SHOW_COUNT, struct key_row, polyglot, "polyglot"),
};

static int print_key(struct cli *cli, void *context, const struct place *place)
{
	struct key_row row = {.control = CHI_CHI2_UNKNOWN};
	struct chi_position position;
	int status = chi_key_to_fen(&place->key, row.fen, NULL);
	if (status == CHI_OK) {
		status = chi_key_control(&place->key, &row.control);
	}
	if (status == CHI_OK) {
		status = chi_key_decode(&place->key, &position, NULL);
	}
	if (status != CHI_OK) {
		cli_message("%s", chi_strerror(status));
		return cli_exit_of(status);
	}
	row.polyglot = chi_polyglot_key(&position, position.ep);
	chi_hex_print(place->key.bytes, place->key.len, row.hex);
	(void)cli;
	rows_print(context, &row);
	return EXIT_DONE;
}

static int run_key(struct cli *cli)
{
	const struct key_state *state = cli->state;
	struct cli_rows rows = ROWS_OF(cli, columns);
	rows.n -= state->polyglot ? 0 : 1;
	rows_head(&rows);
	return fens_each(cli, &(struct fens_user){.each = print_key, .context = &rows});
}

static const struct cli_option options[] = {
	OPTION_FLAG(key_state, polyglot, "polyglot",
		    "a column more: the number that Polyglot books know the position by"),
	OPTIONS_END,
};

const struct command cmd_key = {
	.name = "key",
	.arguments = "[POSITION...]",
	.summary = "print positions' keys and control statistics, without a store",
	.help = "Prints for each position the columns fen (normalised: as it is stored), key\n"
		"(hexadecimal) and control (the control statistic, - if it is not known).\n"
		"Without arguments positions are read from standard input, one a line; blank\n"
		"lines and lines starting with # are skipped.\n\n" PLACE_HELP,
	.example = "chistore key 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_NOTHING,
	.state_size = sizeof(struct key_state),
	.run = run_key,
};
