/* SPDX-License-Identifier: MIT */
/* Dumping: the head, every position in the order of the keys, every game in that of the ids; of the
 * archive the names by text, the games by number, as PGN, and the gamesets; the tail. Checksums
 * come between them. */
#include "cli/out/dump_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "store/text/dump.h"
#include "store/text/seal.h"

/* Room for the longest line and for putting it together, and for any game's text. */
#define ARENA_BUDGET (64 * (size_t)CHI_DUMP_LINE_MAX)

/* Games asked for at once. */
#define GAMES_CHUNK 4096

struct dump {
	struct chi_client *from;
	enum chi_keep keep;
	struct chi_rows *iter;
	struct chi_arena arena;
	struct chi_dump_seal seal;
	dump_sink *sink;
	void *context;
	struct chi_info info; /* what the store said at the beginning */
	struct chi_dump_tail n;
	uint64_t by_result[4]; /* of the games written */
	bool archive;	       /* there are games, names or gamesets to be written */
	uint64_t numbered;     /* games that are said to be in it */
	struct chi_rows *query;
};

static void dump_deinit(struct dump *dump)
{
	chi_rows_close(dump->iter);
	chi_rows_close(dump->query);
	chi_arena_deinit(&dump->arena);
	chi_dump_seal_deinit(&dump->seal);
}

/* Hands on whole lines, after the checksum that is due before them. */
static int emit_lines(struct dump *dump, const char *text, size_t len)
{
	char sum[CHI_DUMP_SUM_SIZE];
	size_t n = chi_dump_seal_lines(&dump->seal, text, len, sum);
	int code = n > 0 ? dump->sink(dump->context, sum, n) : EXIT_DONE;
	return code == EXIT_DONE ? dump->sink(dump->context, text, len) : code;
}

/* Hands on a text that was printed. One that could not be is this program's fault or the store's.
 */
static int emit(struct dump *dump, int status, const char *text, size_t len)
{
	if (status == CHI_OK) {
		return emit_lines(dump, text, len);
	}
	cli_message("cannot print a record (%s)", chi_strerror(status));
	return EXIT_STORE;
}

/* Whether there is anything of the archive. A server that cannot be asked for it, as it is of
 * another version, gives the rest. */
static int look_for_archive(struct dump *dump)
{
	struct chi_gamesets gamesets = {0};
	int status = CHI_OK;
	if (dump->keep != CHI_KEEP_GAMES || dump->info.keep != CHI_KEEP_GAMES) {
		return EXIT_DONE;
	}
	status = chi_gamesets_list(dump->from, NULL, &gamesets);
	if (status == -CHI_EUNSUPPORTED) {
		if (dump->info.last_game > 0) {
			cli_message("the server cannot be asked for whole games: they are left "
				    "out, and only counted");
		}
		return EXIT_DONE;
	}
	dump->archive = dump->info.last_game > 0 || gamesets.n > 0;
	return status < 0 ? cli_fail(dump->from, status) : EXIT_DONE;
}

/* The head tells load which kind of store to make, and its base rates. */
static int write_head(struct dump *dump)
{
	char *text = NULL;
	size_t len = 0;
	int status = chi_store_info(dump->from, &dump->info);
	if (status != CHI_OK) {
		return cli_fail(dump->from, status);
	}
	int code = look_for_archive(dump);
	if (code != EXIT_DONE) {
		return code;
	}
	struct chi_dump_head head = {
		.statistic = (enum chi_statistic)dump->info.statistic,
		.base = dump->info.base,
		.archive = dump->archive,
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
	while ((status = chi_scan_next(dump->iter, &row, &record)) == CHI_OK && cli_stop == 0) {
		char *text = NULL;
		size_t len = 0;
		chi_arena_reset(&dump->arena);
		status = chi_dump_print(&row->key, record, &dump->arena, &text, &len);
		int code = emit(dump, status, text, len);
		if (code != EXIT_DONE) {
			return code;
		}
		dump->n.positions++;
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	return status == CHI_NONE ? EXIT_DONE : cli_fail(dump->from, status);
}

static int write_game(struct dump *dump, struct chi_game_id *game)
{
	char *text = NULL;
	size_t len = 0;
	chi_arena_reset(&dump->arena);
	game->number = dump->archive ? game->number : 0;
	int status = chi_dump_print_game(game, &dump->arena, &text, &len);
	dump->n.games++;
	dump->numbered += game->number != 0;
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
		int status = chi_game_ids(dump->from, dump->n.games > 0 ? after : NULL, chunk,
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

/* ---- The archive ---------------------------------------------------------------------------- */

/* Names of a kind, to be numbered from 1 on by text: so equal names give equal lines, whatever
 * numbers the store has given. */
struct dump_names {
	struct chi_arena texts;
	struct chi_dump_name *rows;
	size_t n;
	size_t room;
	uint32_t *numbers; /* by number in the store */
};

static void names_deinit(struct dump_names *names)
{
	chi_arena_deinit(&names->texts);
	free(names->rows);
	free(names->numbers);
}

static int add_dump_name(struct dump_names *names, uint8_t kind, const struct chi_name_row *row)
{
	size_t len = strlen(row->text);
	const char *text = chi_arena_text(&names->texts, row->text, len);
	if (text == NULL ||
	    chi_grow(&names->rows, &names->room, names->n + 1, sizeof(*names->rows)) < 0) {
		return cli_no_memory();
	}
	names->rows[names->n++] = (struct chi_dump_name){.kind = kind,
							 .id = row->id,
							 .root = row->root,
							 .fide = row->fide,
							 .given = row->given,
							 .text = text,
							 .len = len};
	return EXIT_DONE;
}

static int gather_names(struct dump *dump, uint8_t kind, struct dump_names *out)
{
	struct chi_names_spec spec = {CHI_NAMES_SPEC_INIT, .kind = kind, .limit = CHI_NAMES_MAX};
	/* Fewer than asked for are not the last: names that have gone meanwhile are left out. */
	struct chi_names names = {.n = 1};
	while (names.n > 0 && cli_stop == 0) {
		int status = chi_names_list(dump->from, &spec, &names);
		if (status != CHI_OK) {
			return cli_fail(dump->from, status);
		}
		for (size_t i = 0; i < names.n; i++) {
			int code = add_dump_name(out, kind, &names.rows[i]);
			if (code != EXIT_DONE) {
				return code;
			}
			spec.after = names.rows[i].id;
		}
	}
	return cli_stop != 0 ? 128 + cli_stop : EXIT_DONE;
}

/* By text; players of one text by number, as games without a FIDE id mean the first. */
static int compare_names(const void *a, const void *b)
{
	const struct chi_dump_name *x = a;
	const struct chi_dump_name *y = b;
	int order = strcmp(x->text, y->text);
	return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

static int number_names(struct dump_names *names)
{
	uint32_t last = 0;
	for (size_t i = 0; i < names->n; i++) {
		last = names->rows[i].id > last ? names->rows[i].id : last;
	}
	names->numbers = calloc((size_t)last + 1, sizeof(*names->numbers));
	if (names->numbers == NULL) {
		return cli_no_memory();
	}
	if (names->n > 1) {
		qsort(names->rows, names->n, sizeof(names->rows[0]), compare_names);
	}
	for (size_t i = 0; i < names->n; i++) {
		names->numbers[names->rows[i].id] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < names->n; i++) {
		struct chi_dump_name *name = &names->rows[i];
		name->id = (uint32_t)i + 1;
		name->root = name->root <= last ? names->numbers[name->root] : 0;
	}
	return EXIT_DONE;
}

static int write_names(struct dump *dump, uint8_t kind)
{
	_cleanup_(names_deinit) struct dump_names names = {.n = 0};
	chi_arena_init(&names.texts, SIZE_MAX);
	int code = gather_names(dump, kind, &names);
	code = code == EXIT_DONE ? number_names(&names) : code;
	for (size_t i = 0; code == EXIT_DONE && i < names.n; i++) {
		char *text = NULL;
		size_t len = 0;
		chi_arena_reset(&dump->arena);
		int status = chi_dump_print_name(&names.rows[i], &dump->arena, &text, &len);
		code = cli_stop != 0 ? 128 + cli_stop : emit(dump, status, text, len);
		dump->n.names++;
	}
	return code;
}

static int write_kept(struct dump *dump)
{
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .want = CHI_GAMES_PGN};
	const struct chi_game_row *row = NULL;
	int status = chi_games_open(dump->from, &spec, &dump->query);
	if (status != CHI_OK) {
		return cli_fail(dump->from, status);
	}
	while ((status = chi_games_next(dump->query, &row)) == CHI_OK && cli_stop == 0) {
		char *text = NULL;
		size_t len = 0;
		chi_arena_reset(&dump->arena);
		status = chi_dump_print_kept(row->head.number, row->source, row->pgn, row->pgn_len,
					     &dump->arena, &text, &len);
		int code = emit(dump, status, text, len);
		if (code != EXIT_DONE) {
			return code;
		}
		dump->n.kept++;
	}
	chi_rows_close(dump->query);
	dump->query = NULL;
	return cli_stop != 0	    ? 128 + cli_stop
	       : status == CHI_NONE ? EXIT_DONE
				    : cli_fail(dump->from, status);
}

static int write_gamesets(struct dump *dump)
{
	struct chi_gamesets gamesets;
	int status = chi_gamesets_list(dump->from, NULL, &gamesets);
	int code = status == CHI_OK ? EXIT_DONE : cli_fail(dump->from, status);
	for (size_t i = 0; code == EXIT_DONE && i < gamesets.n; i++) {
		char *text = NULL;
		size_t len = 0;
		chi_arena_reset(&dump->arena);
		status = chi_dump_print_gameset(gamesets.rows[i].name, gamesets.rows[i].filter,
						&dump->arena, &text, &len);
		code = emit(dump, status, text, len);
		dump->n.gamesets++;
	}
	return code;
}

static int write_archive(struct dump *dump)
{
	int code = EXIT_DONE;
	for (uint8_t kind = 1; dump->archive && code == EXIT_DONE && kind < CHI_NAME_KINDS;
	     kind++) {
		code = write_names(dump, kind);
	}
	code = dump->archive && code == EXIT_DONE ? write_kept(dump) : code;
	return dump->archive && code == EXIT_DONE ? write_gamesets(dump) : code;
}

/* ---- The end -------------------------------------------------------------------------------- */

/* What was read must be what the store has, if that did not change meanwhile: a walk that damage
 * has ended looks like any other. */
static int check_whole(const struct dump *dump, bool *mixed)
{
	const uint64_t *n = dump->by_result;
	const struct chi_counts *games = &dump->info.games;
	struct chi_info now;
	if (dump->n.positions == dump->info.positions && n[CHI_RESULT_WHITE] == games->white &&
	    n[CHI_RESULT_DRAW] == games->draws && n[CHI_RESULT_BLACK] == games->black &&
	    n[CHI_RESULT_OTHER] == games->other && dump->n.kept == dump->numbered) {
		return EXIT_DONE;
	}
	int status = chi_store_info(dump->from, &now);
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
	dump->n.last_game = dump->info.last_game;
	int status = chi_dump_print_tail(&dump->n, dump->archive, &dump->arena, &text, &len);
	int code = emit(dump, status, text, len);
	char sum[CHI_DUMP_SUM_SIZE];
	return code != EXIT_DONE
		       ? code
		       : dump->sink(dump->context, sum, chi_dump_seal_end(&dump->seal, sum));
}

/* In the order of the keys, so that equal stores give equal bytes. */
int dump_write(struct chi_client *from, enum chi_keep keep, dump_sink *sink, void *context,
	       bool *mixed)
{
	struct chi_scan_spec spec = {
		CHI_SCAN_SPEC_INIT,
		.chi2_max = CHI_CHI2_MAX,
		.order = CHI_ORDER_POSITION,
		.want = CHI_WANT_RECORDS,
	};
	*mixed = false;
	_cleanup_(dump_deinit) struct dump dump = {
		.from = from,
		.keep = keep,
		.sink = sink,
		.context = context,
	};
	chi_arena_init(&dump.arena, ARENA_BUDGET);
	if (chi_dump_seal_init(&dump.seal) != CHI_OK) {
		return cli_no_memory();
	}
	int code = write_head(&dump);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_scan_open(from, &spec, &dump.iter);
	if (status != CHI_OK) {
		return cli_fail(from, status);
	}
	code = write_rows(&dump);
	*mixed = chi_rows_state(dump.iter)->mixed;
	/* One call at a time on a client. */
	chi_rows_close(dump.iter);
	dump.iter = NULL;
	if (code == EXIT_DONE) {
		code = write_games(&dump);
	}
	if (code == EXIT_DONE) {
		code = write_archive(&dump);
	}
	if (code == EXIT_DONE) {
		code = check_whole(&dump, mixed);
	}
	return code == EXIT_DONE ? write_tail(&dump) : code;
}
