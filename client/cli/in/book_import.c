/* SPDX-License-Identifier: MIT */
/*
 * A book's weights are no games that were counted: they go where nothing is counted yet, as games
 * without result, and are added rather than set, so that games that another process imports at
 * the same moment are not lost.
 */
#include "client/cli/in/book_import.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "client/cli/out/output.h"
#include "formats/polyglot.h"

/* Positions asked for, and put, at once: as many as a server answers in one piece. */
#define CHUNK 4096

/* Moves of a chunk: 256 for each position is far more than there are, but it is the limit. */
#define ARENA_BUDGET ((size_t)CHUNK * CHI_MOVES_MAX * sizeof(struct chi_move_stat))

/* ---- The store ---------------------------------------------------------------------------- */

/* CHI_OK also if there is none, which only a directory can say. */
static int open_store(struct cli *cli)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(cli, true, &options);
	int status = chi_open(cli->address, &options, &cli->client, &fault);
	return status == -CHI_ENOSTORE && !cli_is_remote(cli) ? EXIT_DONE
							      : cli_fault(status, &fault);
}

/* Opens cli->client for writing. It stays NULL, with EXIT_DONE, if the address is a directory
 * without a store. *statistic: the kind asked for, 0 if any will do, becomes that of the store; a
 * store of another kind is a mistake. */
static int made_store_open(struct cli *cli, enum chi_statistic *statistic)
{
	struct chi_info info;
	if (!cli_has_address(cli)) {
		return EXIT_USAGE;
	}
	int code = cli->client == NULL ? open_store(cli) : EXIT_DONE;
	if (code != EXIT_DONE) {
		return code;
	}
	if (cli->client == NULL) {
		*statistic = *statistic != 0 ? *statistic : CHI_STATISTIC_CONTROL;
		return EXIT_DONE;
	}
	int status = chi_get_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (*statistic != 0 && *statistic != info.statistic) {
		return cli_usage(cli, "--statistic: this store holds the %s statistic, not %s",
				 chi_statistic_name(info.statistic),
				 chi_statistic_name((int)*statistic));
	}
	*statistic = (enum chi_statistic)info.statistic;
	return EXIT_DONE;
}

/* Makes and opens the store if there is none: but not before there is something to store. */
static int made_store_need(struct cli *cli, enum chi_statistic statistic)
{
	struct chi_fault fault = {.text = ""};
	if (cli->client != NULL) {
		return EXIT_DONE;
	}
	int code = cli_fault(chi_create(cli->address, statistic, CHI_KEEP_GAMES, &fault), &fault);
	return code == EXIT_DONE ? cli_open(cli, true, &cli->client) : code;
}

/* ---- The book ----------------------------------------------------------------------------- */

struct import {
	struct cli *cli;
	enum chi_statistic create; /* of the store, if it is to be made */
	int code;		   /* what was said about making it */
	struct chi_arena arena;
	struct chi_key *keys;
	struct chi_row *rows;
	struct chi_put *puts;
	size_t n;
	struct chi_put_result stored;
	uint64_t kept; /* positions that hold games or moves already */
	struct chi_book_result total;
};

static void import_deinit(struct import *import)
{
	chi_arena_deinit(&import->arena);
	free(import->keys);
	free(import->rows);
	free(import->puts);
}

static int import_init(struct import *import, struct cli *cli, enum chi_statistic create)
{
	*import = (struct import){.cli = cli, .create = create};
	chi_arena_init(&import->arena, ARENA_BUDGET);
	import->keys = calloc(CHUNK, sizeof(*import->keys));
	import->rows = calloc(CHUNK, sizeof(*import->rows));
	import->puts = calloc(CHUNK, sizeof(*import->puts));
	return import->keys != NULL && import->rows != NULL && import->puts != NULL ? CHI_OK
										    : -CHI_ENOMEM;
}

/* True if the position may take the book's moves. A row has counts, not moves: where there
 * are none the record is looked at, which is rare. */
static int is_free(struct import *import, const struct chi_row *row, bool *out)
{
	const struct chi_counts *c = &row->counts;
	struct chi_record record;
	*out = !row->found;
	if (!row->found || (c->white | c->draws | c->black | c->other) != 0) {
		return CHI_OK;
	}
	int status = chi_get(import->cli->client, &row->key, &record);
	*out = status == CHI_NONE || (status == CHI_OK && record.n_moves == 0);
	return status < 0 ? status : CHI_OK;
}

static int put_chunk(struct import *import)
{
	struct chi_put_result result = {0};
	size_t n = 0;
	if (import->n == 0) {
		return CHI_OK;
	}
	import->code = made_store_need(import->cli, import->create);
	if (import->code != EXIT_DONE) {
		return -CHI_ECANCELED;
	}
	int status = chi_probe(import->cli->client, import->keys, import->n, import->rows);
	for (size_t i = 0; status == CHI_OK && i < import->n; i++) {
		bool open = false;
		status = is_free(import, &import->rows[i], &open);
		if (open) {
			import->puts[n++] = import->puts[i];
		} else {
			import->kept++;
		}
	}
	if (status == CHI_OK && n > 0) {
		status = chi_put(import->cli->client, import->puts, n, CHI_SYNC, &result);
	}
	if (status == CHI_OK) {
		import->stored.added += result.added;
		import->stored.updated += result.updated;
	}
	import->n = 0;
	chi_arena_reset(&import->arena);
	return status;
}

/* A position that may come twice has a chunk of its own, so that the second one finds the first.
 */
static int visit(void *context, const struct chi_book_position *position)
{
	struct import *import = context;
	int status = position->alias || import->n == CHUNK ? put_chunk(import) : CHI_OK;
	if (status != CHI_OK) {
		return status;
	}
	struct chi_move_stat *moves =
		chi_arena_array(&import->arena, position->n_moves, sizeof(*moves));
	if (moves == NULL) {
		return -CHI_ENOMEM;
	}
	memcpy(moves, position->moves, position->n_moves * sizeof(*moves));
	import->keys[import->n] = position->key;
	import->puts[import->n++] = (struct chi_put){
		.key = position->key,
		.parts = CHI_PUT_ADD,
		.record = {.counts = {.other = position->weight},
			   .moves = moves,
			   .n_moves = position->n_moves},
	};
	return position->alias ? put_chunk(import) : CHI_OK;
}

static int fail(const struct cli *cli, const struct import *import, int status)
{
	if (status == -CHI_ECANCELED && cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (import->code != EXIT_DONE) {
		return import->code;
	}
	return status == -CHI_ENOMEM ? cli_no_memory()
				     : cli_worse(EXIT_STORE, cli_fail(cli->client, status));
}

/* What is odd about the book, and why entries were not met. */
static void tell(const char *path, const struct chi_book_result *r)
{
	if (r->cut > 0) {
		cli_message("%s: the last %" PRIu64 " bytes are not a whole entry: ignored", path,
			    r->cut);
	}
	if (r->unsorted > 0) {
		cli_message("%s: %" PRIu64 " entries were out of order: sorted", path, r->unsorted);
	}
	if (r->illegal > 0) {
		cli_message("%s: %" PRIu64 " moves are not legal in their position", path,
			    r->illegal);
	}
	if (r->unreachable > 0) {
		cli_message("%s: %" PRIu64 " entries are not reached: %" PRIu64
			    " hold no move, %" PRIu64
			    " are of positions the book has under another key, too, to %" PRIu64
			    " no moves through the book lead from the initial position",
			    path, r->unreachable, r->no_move, r->shadowed,
			    r->unreachable - r->no_move - r->shadowed);
	}
}

static void add_up(struct chi_book_result *total, const struct chi_book_result *more)
{
	total->entries += more->entries;
	total->illegal += more->illegal;
	total->weightless += more->weightless;
	total->unreachable += more->unreachable;
	total->no_move += more->no_move;
	total->shadowed += more->shadowed;
}

static int import_one(struct cli *cli, struct import *import, const char *path)
{
	struct chi_book *book = NULL;
	struct chi_book_result result = {0};
	struct chi_fault fault = {.text = ""};
	int status = chi_book_open(path, &book, &fault);
	if (status != CHI_OK) {
		cli_message("%s: %s", path, fault.text);
		return status == -CHI_EIO || status == -CHI_ENOMEM ? EXIT_STORE : EXIT_USAGE;
	}
	status = chi_book_walk(book, visit, import, &cli_stop, &result);
	chi_book_close(book);
	if (status == CHI_OK || status == -CHI_ECANCELED) {
		int last = put_chunk(import);
		status = last != CHI_OK ? last : status;
	}
	add_up(&import->total, &result);
	tell(path, &result);
	if (status == CHI_OK && result.positions == 0) {
		cli_message("%s: no position was found", path);
		return EXIT_STORE;
	}
	return status == CHI_OK ? EXIT_DONE : fail(cli, import, status);
}

static void print_summary(struct cli *cli, const struct import *import)
{
	const struct chi_book_result *total = &import->total;
	output_object(cli,
		      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read",
				json_count(total->entries), "new", json_count(import->stored.added),
				"updated", json_count(import->stored.updated), "kept",
				json_count(import->kept), "illegal", json_count(total->illegal),
				"weightless", json_count(total->weightless), "unreachable",
				json_count(total->unreachable), "no_move",
				json_count(total->no_move), "shadowed",
				json_count(total->shadowed)));
}

int book_import(struct cli *cli, enum chi_statistic create, int n, char **paths)
{
	_cleanup_(import_deinit) struct import import = {.cli = cli};
	int code = made_store_open(cli, &create);
	if (code != EXIT_DONE) {
		return code;
	}
	if (import_init(&import, cli, create) != CHI_OK) {
		return cli_no_memory();
	}
	cli_catch_signals();
	for (int i = 0; i < n && code != EXIT_STORE && cli_stop == 0; i++) {
		code = cli_worse(code, import_one(cli, &import, paths[i]));
	}
	print_summary(cli, &import);
	return cli_stop != 0 ? 128 + cli_stop : code;
}
