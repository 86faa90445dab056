/* SPDX-License-Identifier: MIT */
/* Games go from one to the other one by one, so that memory does not grow with their number. */
#include "cli/games/copy.h"

#include <string.h>

#include "cli/in/game_terms.h"
#include "cli/out/output.h"

struct copy {
	struct chi_client *client;
	struct chi_rows *query;
	char source[CHI_SOURCE_SIZE]; /* of the game fed last */
	uint64_t total;
	const uint32_t *numbers; /* `total` games, if there is no query */
};

/* Games of one source after the other are one input. */
static int feed_row(struct import_run *run, struct copy *copy, const struct chi_game_row *row)
{
	int status = CHI_OK;
	if (run->seen == 0 || strncmp(copy->source, row->source, sizeof(copy->source) - 1) != 0) {
		(void)snprintf(copy->source, sizeof(copy->source), "%s", row->source);
		status = chi_import_file(run->import, copy->source);
	}
	if (status == CHI_OK) {
		status = chi_import_feed(run->import, row->pgn, row->pgn_len);
	}
	run->seen++;
	return status;
}

static int feed_query(struct import_run *run, void *context)
{
	struct copy *copy = context;
	const struct chi_game_row *row = NULL;
	int status = CHI_OK;
	while (cli_stop == 0 && (status = chi_games_next(copy->query, &row)) == CHI_OK) {
		status = feed_row(run, copy, row);
		if (status != CHI_OK) {
			return import_fail(run, status);
		}
		progress_phase(&run->progress, "reading games", run->seen, copy->total);
	}
	if (status < 0) {
		return import_say(run, chi_error(copy->client), cli_exit_of(status));
	}
	/* The snapshot ends before the store is written. */
	chi_rows_close(copy->query);
	copy->query = NULL;
	return EXIT_DONE;
}

static int feed_numbers(struct import_run *run, void *context)
{
	struct copy *copy = context;
	struct chi_game_row row;
	for (uint64_t i = 0; i < copy->total && cli_stop == 0; i++) {
		int status = chi_game_get(copy->client, copy->numbers[i], &row, NULL);
		if (status < 0) {
			return import_say(run, chi_error(copy->client), cli_exit_of(status));
		}
		status = status == CHI_OK ? feed_row(run, copy, &row) : CHI_OK;
		if (status != CHI_OK) {
			return import_fail(run, status);
		}
		progress_phase(&run->progress, "reading games", i, copy->total);
	}
	return EXIT_DONE;
}

int game_take_out(struct cli *cli, struct games *games, const uint32_t *numbers, size_t n)
{
	struct copy copy = {.client = cli->client, .numbers = numbers, .total = n};
	games->run.options.kind = CHI_IMPORT_SUBTRACT;
	return games_store(cli, games, 0, "the games", feed_numbers, &copy);
}

static int open_query(struct cli *cli, const char *filter, uint8_t want, struct chi_rows **out)
{
	struct chi_game_spec spec = {
		CHI_GAME_SPEC_INIT,
		.filter = filter,
		.want = want,
		.want_total = want == CHI_GAMES_HEADS,
		.limit = want == CHI_GAMES_HEADS ? 1 : 0,
	};
	int status = chi_games_open(cli->client, &spec, out);
	return status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
}

static int count_games(struct cli *cli, const char *filter, uint64_t *total)
{
	struct chi_rows *query = NULL;
	const struct chi_game_row *row = NULL;
	int status = CHI_OK;
	int code = open_query(cli, filter, CHI_GAMES_HEADS, &query);
	while (code == EXIT_DONE && status == CHI_OK) {
		status = chi_games_next(query, &row);
	}
	if (status < 0) {
		code = cli_fail(cli->client, status);
	}
	if (code == EXIT_DONE) {
		*total = chi_rows_state(query)->total;
		game_terms_remark(cli);
	}
	chi_rows_close(query);
	return code;
}

int game_count(struct cli *cli, const char *filter, const char *name)
{
	uint64_t total = 0;
	int code = count_games(cli, filter, &total);
	return code == EXIT_DONE ? output_object(cli, json_pack("{s:o}", name, json_count(total)))
				 : code;
}

int game_copy(struct cli *cli, struct games *games, const char *filter, const char *address)
{
	struct copy copy = {.client = cli->client};
	int code = count_games(cli, filter, &copy.total);
	if (code == EXIT_DONE && copy.total == 0) {
		cli_message("no game fits; nothing was done");
		return EXIT_NOT_FOUND;
	}
	if (code == EXIT_DONE) {
		code = open_query(cli, filter, CHI_GAMES_PGN, &copy.query);
	}
	if (code == EXIT_DONE) {
		const char *own = cli->address;
		cli->address = address != NULL ? address : own;
		code = games_store(cli, games, 0, "the games", feed_query, &copy);
		cli->address = own;
	}
	chi_rows_close(copy.query);
	return code;
}
