/* SPDX-License-Identifier: MIT */
/* Dumping: the head, every position in the order of the keys, every game in that of the ids, the
 * tail. */
#include "client/cli/out/dump_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/text/dump.h"

/* Room for the longest line and for putting it together. */
#define ARENA_BUDGET (4 * (size_t)CHI_DUMP_LINE_MAX)

/* Games asked for at once. */
#define GAMES_CHUNK 4096

struct dump {
	struct chi_client *from;
	struct chi_iter *iter;
	struct chi_arena arena;
	dump_sink *sink;
	void *context;
	uint64_t positions;
	struct chi_info info; /* what the store said at the beginning */
	uint64_t games;
	uint64_t by_result[4]; /* of those written */
};

static void dump_deinit(struct dump *dump)
{
	chi_iter_close(dump->iter);
	chi_arena_deinit(&dump->arena);
}

/* Hands on a text that was printed. One that could not be is this program's fault or the store's.
 */
static int emit(const struct dump *dump, int status, const char *text, size_t len)
{
	if (status == CHI_OK) {
		return dump->sink(dump->context, text, len);
	}
	cli_message("cannot print a record (%s)", chi_strerror(status));
	return EXIT_STORE;
}

/* The head tells load which kind of store to make, and its base rates. */
static int write_head(struct dump *dump)
{
	char *text = NULL;
	size_t len = 0;
	int status = chi_get_info(dump->from, &dump->info);
	if (status != CHI_OK) {
		return cli_fail(dump->from, status);
	}
	struct chi_dump_head head = {
		.statistic = (enum chi_statistic)dump->info.statistic,
		.base = dump->info.base,
	};
	status = chi_dump_print_head(&head, &dump->arena, &text, &len);
	return emit(dump, status, text, len);
}

/* The arena is emptied for each record, so memory does not grow with the store. */
static int write_rows(struct dump *dump)
{
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	int status;
	while ((status = chi_iter_next(dump->iter, &row, &record)) == CHI_OK && cli_stop == 0) {
		char *text = NULL;
		size_t len = 0;
		chi_arena_reset(&dump->arena);
		status = chi_dump_print(&row->key, record, &dump->arena, &text, &len);
		int code = emit(dump, status, text, len);
		if (code != EXIT_DONE) {
			return code;
		}
		dump->positions++;
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	return status == CHI_NONE ? EXIT_DONE : cli_fail(dump->from, status);
}

static int write_game(struct dump *dump, const struct chi_game_id *game)
{
	char *text = NULL;
	size_t len = 0;
	chi_arena_reset(&dump->arena);
	int status = chi_dump_print_game(game, &dump->arena, &text, &len);
	dump->games++;
	dump->by_result[game->result]++;
	return emit(dump, status, text, len);
}

/* Each chunk begins after the last game of the one before. */
static int write_games(struct dump *dump)
{
	_cleanup_(chi_freep) struct chi_game_id *chunk = malloc(GAMES_CHUNK * sizeof(*chunk));
	size_t n = GAMES_CHUNK;
	uint8_t after[CHI_GAME_ID_SIZE];
	if (chunk == NULL) {
		return cli_no_memory();
	}
	while (n == GAMES_CHUNK && cli_stop == 0) {
		int status = chi_get_game_ids(dump->from, dump->games > 0 ? after : NULL, chunk,
					      GAMES_CHUNK, &n);
		if (status != CHI_OK) {
			return cli_fail(dump->from, status);
		}
		for (size_t i = 0; i < n; i++) {
			int code = write_game(dump, &chunk[i]);
			if (code != EXIT_DONE) {
				return code;
			}
			memcpy(after, chunk[i].id, sizeof(after));
		}
	}
	return cli_stop != 0 ? 128 + cli_stop : EXIT_DONE;
}

/* What was read must be what the store has, if that did not change meanwhile: a walk that damage
 * has ended looks like any other. */
static int check_whole(const struct dump *dump, bool *mixed)
{
	const uint64_t *n = dump->by_result;
	const struct chi_counts *games = &dump->info.games;
	struct chi_info now;
	if (dump->positions == dump->info.positions && n[CHI_RESULT_WHITE] == games->white &&
	    n[CHI_RESULT_DRAW] == games->draws && n[CHI_RESULT_BLACK] == games->black &&
	    n[CHI_RESULT_OTHER] == games->other) {
		return EXIT_DONE;
	}
	int status = chi_get_info(dump->from, &now);
	if (status != CHI_OK) {
		return cli_fail(dump->from, status);
	}
	*mixed = now.sequence != dump->info.sequence;
	if (!*mixed) {
		cli_message("the store is damaged: it has other numbers of positions and games "
			    "than were read; see 'chistore verify'");
		return EXIT_STORE;
	}
	return EXIT_DONE;
}

/* Written last of all: without it a reader takes the dump for cut. */
static int write_tail(struct dump *dump)
{
	char *text = NULL;
	size_t len = 0;
	int status = chi_dump_print_tail(dump->positions, dump->games, &dump->arena, &text, &len);
	return emit(dump, status, text, len);
}

/* In the order of the keys, so that equal stores give equal bytes. */
int dump_write(struct chi_client *from, dump_sink *sink, void *context, bool *mixed)
{
	struct chi_scan_spec spec = {
		.chi2_max = CHI_CHI2_MAX,
		.order = CHI_ORDER_POSITION,
		.want = CHI_WANT_RECORDS,
	};
	*mixed = false;
	_cleanup_(dump_deinit) struct dump dump = {
		.from = from,
		.sink = sink,
		.context = context,
	};
	chi_arena_init(&dump.arena, ARENA_BUDGET);
	int code = write_head(&dump);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_iter_open(from, &spec, &dump.iter);
	if (status != CHI_OK) {
		return cli_fail(from, status);
	}
	code = write_rows(&dump);
	*mixed = chi_iter_mixed(dump.iter);
	/* One call at a time on a client. */
	chi_iter_close(dump.iter);
	dump.iter = NULL;
	if (code == EXIT_DONE) {
		code = write_games(&dump);
	}
	if (code == EXIT_DONE) {
		code = check_whole(&dump, mixed);
	}
	return code == EXIT_DONE ? write_tail(&dump) : code;
}
