/* SPDX-License-Identifier: MIT */
/*
 * chistore chess-db: the dialogue of mcostalba's chess_db, which PyChess' database view asks for
 * the moves and the games of a position. Its index is a store, and beside the PGN file one of
 * places in it (pgn_offsets.h), as games are named by these.
 *
 * The reader of the answers has standard output and standard error in one pipe, and takes all of it
 * for JSON: what is wrong is told in the answer, as "error".
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/pgn/pgn.h"
#include "chess/polyglot/polyglot.h"
#include "cli/command.h"
#include "cli/games/pgn_lost.h"
#include "cli/games/pgn_offsets.h"
#include "cli/out/output.h"
#include "formats/source.h"

#define REQUEST_MAX (2 * PATH_MAX) /* bytes of a line */
#define LIMIT	    10
#define LIMIT_MAX   3000
#define WALK_MS	    5000 /* through the games of a position */
#define LOOK_EVERY  4096 /* games between two looks at the clock */

struct dialogue {
	struct cli *cli;
	char address[PATH_MAX];	   /* of the open store */
	struct chi_client *client; /* NULL: none is open */
	struct chi_fault fault;
};

static void dialogue_deinit(struct dialogue *dialogue)
{
	chi_close(dialogue->client);
}

/* ---- Files and stores ---------------------------------------------------------------------- */

/* "games.pgn" or "games.bin" with another ending. */
static int name_beside(struct dialogue *dialogue, const char *name, const char *ending,
		       char out[PATH_MAX])
{
	const char *dot = strrchr(name, '.');
	const char *slash = strrchr(name, '/');
	size_t len =
		dot != NULL && (slash == NULL || dot > slash) ? (size_t)(dot - name) : strlen(name);
	int n = snprintf(out, PATH_MAX, "%.*s%s", (int)len, name, ending);
	return n > 0 && n < PATH_MAX
		       ? CHI_OK
		       : chi_fault(&dialogue->fault, -CHI_ETOOBIG, "the file's name is too long");
}

/* Where the games of a file are: at the address given, else in a store beside the file. */
static int address_of(struct dialogue *dialogue, const char *name, char out[PATH_MAX])
{
	if (dialogue->cli->address == NULL) {
		return name_beside(dialogue, name, ".chistore", out);
	}
	int n = snprintf(out, PATH_MAX, "%s", dialogue->cli->address);
	return n < PATH_MAX ? CHI_OK
			    : chi_fault(&dialogue->fault, -CHI_ETOOBIG, "the address is too long");
}

static void close_store(struct dialogue *dialogue)
{
	chi_close(dialogue->client);
	dialogue->client = NULL;
}

/* A store that was replaced since is opened again. */
static int open_store(struct dialogue *dialogue, const char *name)
{
	char address[PATH_MAX];
	struct chi_options options;
	bool changed = false;
	int status = address_of(dialogue, name, address);
	if (status < 0) {
		return status;
	}
	if (dialogue->client != NULL && strcmp(address, dialogue->address) == 0 &&
	    chi_changed(dialogue->client, &changed) == CHI_OK && !changed) {
		return CHI_OK;
	}
	close_store(dialogue);
	memcpy(dialogue->address, address, sizeof(address));
	cli_options(dialogue->cli, false, &options);
	return chi_open(address, &options, &dialogue->client, &dialogue->fault);
}

static int store_failed(struct dialogue *dialogue, int status)
{
	return chi_fault(&dialogue->fault, status, "%s", chi_error(dialogue->client));
}

/* ---- book: games into the store -------------------------------------------------------------- */

/* What is read of a file. */
struct reading {
	struct chi_source *source;
	struct chi_pgn *pgn;
	struct pgn_offsets *offsets;
	struct chi_import *games;
	uint64_t line_end; /* bytes that end a line of it; 0: nothing has been read */
};

static void reading_deinit(struct reading *reading)
{
	chi_source_close(reading->source);
	chi_pgn_free(reading->pgn);
	pgn_offsets_free(reading->offsets);
	chi_import_close(reading->games);
}

static int open_import(struct dialogue *dialogue, const char *name, struct chi_import **out)
{
	static const enum chi_statistic kinds[] = {0, CHI_STATISTIC_CONTROL};
	const struct chi_import_options games = {.kind = CHI_IMPORT_ADD};
	char address[PATH_MAX];
	struct chi_options options;
	int status = address_of(dialogue, name, address);
	bool missing = status == CHI_OK;
	cli_options(dialogue->cli, true, &options);
	/* A store that is there stays of its kind. */
	for (size_t i = 0; missing && i < CHI_COUNT(kinds); i++) {
		status =
			chi_import_open(address, &options, kinds[i], &games, out, &dialogue->fault);
		missing = status == -CHI_ENOSTORE;
	}
	return status;
}

static int open_reading(struct dialogue *dialogue, const char *name, struct reading *reading)
{
	int status = chi_source_open(name, NULL, &reading->source, &dialogue->fault);
	if (status == CHI_OK &&
	    (chi_pgn_new(&reading->pgn) < 0 || pgn_offsets_new(&reading->offsets) < 0)) {
		status = chi_fault_plain(&dialogue->fault, -CHI_ENOMEM);
	}
	return status == CHI_OK ? open_import(dialogue, name, &reading->games) : status;
}

/* A game's place is the end of the line before it, as PyChess has it. */
static int add_games(struct reading *reading)
{
	const struct chi_pgn_game *game = NULL;
	int status = CHI_OK;
	while (status == CHI_OK && chi_pgn_next(reading->pgn, &game) == CHI_OK) {
		uint64_t before =
			game->offset < reading->line_end ? game->offset : reading->line_end;
		status = pgn_offsets_add(reading->offsets, game, game->offset - before);
	}
	return status;
}

static int feed_games(struct dialogue *dialogue, struct reading *reading, const char *bytes,
		      size_t len)
{
	int status = chi_import_feed(reading->games, bytes, len);
	if (status < 0) {
		return chi_fault(&dialogue->fault, status, "%s", chi_import_error(reading->games));
	}
	if (reading->line_end == 0) {
		const char *end = memchr(bytes, '\n', len);
		reading->line_end = end != NULL && end > bytes && end[-1] == '\r' ? 2 : 1;
	}
	while (status == CHI_OK && len > 0) {
		size_t taken = chi_pgn_feed(reading->pgn, bytes, len);
		status = add_games(reading);
		bytes += taken;
		len -= taken;
	}
	return status < 0 ? chi_fault_plain(&dialogue->fault, status) : CHI_OK;
}

static int read_file(struct dialogue *dialogue, const char *name, struct reading *reading)
{
	const char *bytes = NULL;
	size_t len = 0;
	int status = open_reading(dialogue, name, reading);
	if (status == CHI_OK && chi_import_file(reading->games, name) < 0) {
		status = chi_fault_plain(&dialogue->fault, -CHI_ENOMEM);
	}
	while (status == CHI_OK) {
		status = chi_source_read(reading->source, &bytes, &len, &dialogue->fault);
		status = status == CHI_OK ? feed_games(dialogue, reading, bytes, len) : status;
	}
	if (status < 0) {
		return status;
	}
	chi_pgn_finish(reading->pgn);
	status = add_games(reading);
	return status < 0 ? chi_fault_plain(&dialogue->fault, status) : CHI_OK;
}

/* A store of several files has games of the others as well: they stay. */
static int take_out_lost(struct dialogue *dialogue, const char *name, struct reading *reading,
			 const char *book)
{
	char address[PATH_MAX];
	struct chi_options options;
	if (dialogue->cli->address != NULL) {
		return CHI_OK;
	}
	int status = address_of(dialogue, name, address);
	cli_options(dialogue->cli, true, &options);
	chi_import_close(reading->games);
	reading->games = NULL;
	return status == CHI_OK ? pgn_lost_take_out(address, &options, reading->offsets, book,
						    &dialogue->fault)
				: status;
}

static int make_book(struct dialogue *dialogue, const char *name, const char *book,
		     struct chi_import_result *result, uint64_t *bytes)
{
	_cleanup_(reading_deinit) struct reading reading = {.source = NULL};
	close_store(dialogue);
	int status = read_file(dialogue, name, &reading);
	if (status < 0) {
		return status;
	}
	status = chi_import_commit(reading.games, result);
	if (status < 0) {
		return chi_fault(&dialogue->fault, status, "%s", chi_import_error(reading.games));
	}
	/* The index is the last: until it is written, this is done again. */
	status = take_out_lost(dialogue, name, &reading, book);
	return status == CHI_OK ? pgn_offsets_save(reading.offsets, book, bytes, &dialogue->fault)
				: status;
}

/* "FILE.pgn full": all of it is always kept. */
static void run_book(struct dialogue *dialogue, char *name)
{
	struct chi_import_result result = {.games = 0};
	char book[PATH_MAX] = "";
	uint64_t bytes = 0;
	int64_t start = chi_now_ms();
	char *option = strrchr(name, ' ');
	if (option != NULL && strcmp(option, " full") == 0) {
		*option = '\0';
	}
	int status = name[0] != '\0'
			     ? name_beside(dialogue, name, ".bin", book)
			     : chi_fault(&dialogue->fault, -CHI_ESYNTAX, "book FILE.pgn [full]");
	status = status == CHI_OK ? make_book(dialogue, name, book, &result, &bytes) : status;
	uint64_t ms = (uint64_t)(chi_now_ms() - start) + 1;
	uint64_t positions = result.positions.added + result.positions.updated;
	uint64_t unique = result.plies > 0 ? 100 * positions / result.plies : 0;
	json_t *object =
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "Games",
			  json_count(result.games), "Moves", json_count(result.plies),
			  "Incorrect moves", json_count(result.cut), "Unique positions (%)",
			  json_count(unique), "Games/second", json_count(1000 * result.games / ms),
			  "Moves/second", json_count(1000 * result.plies / ms),
			  "Size of index file (bytes)", json_count(bytes), "Book file",
			  json_path(book), "Processing time (ms)", json_count(ms));
	if (status < 0) {
		(void)json_object_set_new(object, "error", json_path(dialogue->fault.text));
	}
	output_json(object);
}

/* ---- find: moves and games of a position ------------------------------------------------------
 */

struct question {
	const char *book;
	uint64_t limit; /* games of each move */
	uint64_t skip;	/* games before these */
	char fen[CHI_FEN_INPUT_MAX];
	struct chi_key key;
};

struct found_move {
	chi_move move;
	char uci[CHI_MOVE_TEXT_SIZE];
	struct chi_counts counts;
	uint64_t seen; /* games of the walk */
	uint32_t *numbers;
	size_t n;
	size_t wanted;
};

struct found {
	const char *book;
	struct found_move moves[CHI_MOVES_MAX];
	size_t n;
	uint64_t games;
	size_t unfilled; /* moves that miss some of their games */
};

static void found_freep(struct found **found)
{
	for (size_t i = 0; *found != NULL && i < (*found)->n; i++) {
		free((*found)->moves[i].numbers);
	}
	free(*found);
}

static uint64_t total_of(const struct chi_counts *counts)
{
	return games_of(counts) + counts->other;
}

static int add_move(struct dialogue *dialogue, const struct question *question,
		    const struct chi_explore_move *move, struct found *found)
{
	struct found_move *added = &found->moves[found->n];
	uint64_t games = total_of(&move->played);
	uint64_t left = games > question->skip ? games - question->skip : 0;
	*added = (struct found_move){.move = move->move, .counts = move->played};
	added->wanted = (size_t)(left < question->limit ? left : question->limit);
	added->numbers = calloc(added->wanted + 1, sizeof(*added->numbers));
	if (added->numbers == NULL) {
		return chi_fault_plain(&dialogue->fault, -CHI_ENOMEM);
	}
	found->n++;
	found->games += games;
	found->unfilled += added->wanted > 0 ? 1 : 0;
	return chi_key_uci(&question->key, move->move, added->uci);
}

static int find_moves(struct dialogue *dialogue, const struct question *question,
		      struct found *found)
{
	struct chi_explore explore;
	int status = chi_explore(dialogue->client, &question->key, NULL, &explore);
	if (status < 0) {
		return store_failed(dialogue, status);
	}
	for (size_t i = 0; status == CHI_OK && i < explore.n_moves && i < CHI_MOVES_MAX; i++) {
		if (total_of(&explore.moves[i].played) > 0) {
			status = add_move(dialogue, question, &explore.moves[i], found);
		}
	}
	return status;
}

static void note_game(const struct chi_game_row *row, const struct question *question,
		      struct found *found)
{
	size_t i = 0;
	while (i < found->n && found->moves[i].move != row->move) {
		i++;
	}
	if (i == found->n) {
		return;
	}
	struct found_move *move = &found->moves[i];
	if (++move->seen > question->skip && move->n < move->wanted) {
		move->numbers[move->n++] = row->head.number;
		found->unfilled -= move->n == move->wanted ? 1 : 0;
	}
}

static void query_closep(struct chi_game_query **query)
{
	chi_game_query_close(*query);
}

/* Until each move has its games. A store that keeps none has counts alone. */
static int find_games(struct dialogue *dialogue, const struct question *question,
		      struct found *found)
{
	_cleanup_(query_closep) struct chi_game_query *query = NULL;
	const struct chi_game_spec spec = {.position = &question->key, .want = CHI_GAMES_HEADS};
	const struct chi_game_row *row = NULL;
	int64_t end = chi_now_ms() + WALK_MS;
	uint64_t n = 0;
	int status = chi_game_query_open(dialogue->client, &spec, &query);
	if (status == -CHI_EUNSUPPORTED) {
		return CHI_OK;
	}
	while (status == CHI_OK && found->unfilled > 0 &&
	       (++n % LOOK_EVERY != 0 || chi_now_ms() < end)) {
		status = chi_game_query_next(query, &row);
		if (status == CHI_OK) {
			note_game(row, question, found);
		}
	}
	return status < 0 ? store_failed(dialogue, status) : CHI_OK;
}

/* chess_db cuts places to eight bytes. */
static int add_offset(struct dialogue *dialogue, int fd, const char *book, uint32_t n, json_t *out)
{
	struct chi_game_row row;
	struct chi_game game;
	uint64_t offset = 0;
	int status = chi_game_get(dialogue->client, n, &row, &game);
	if (status != CHI_OK) {
		return status < 0 ? store_failed(dialogue, status) : CHI_OK;
	}
	status = pgn_offsets_find(fd, book, &game, &offset, &dialogue->fault);
	if (status == CHI_OK) {
		(void)json_array_append_new(out, json_count(offset & ~UINT64_C(7)));
	}
	return status < 0 ? status : CHI_OK;
}

static int say_move(struct dialogue *dialogue, int fd, const struct found *found,
		    const struct found_move *move, json_t *moves)
{
	json_t *offsets = json_array();
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && fd >= 0 && i < move->n; i++) {
		status = add_offset(dialogue, fd, found->book, move->numbers[i], offsets);
	}
	uint64_t games = total_of(&move->counts);
	uint64_t weight = (uint64_t)((double)games * 65535 / (double)found->games);
	(void)json_array_append_new(
		moves,
		json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "move", move->uci, "weight",
			  json_count(weight), "games", json_count(games), "wins",
			  json_count(move->counts.white), "losses", json_count(move->counts.black),
			  "draws", json_count(move->counts.draws), "pgn offsets", offsets));
	return status;
}

static int find_positions(struct dialogue *dialogue, const struct question *question, json_t *moves)
{
	_cleanup_(found_freep) struct found *found = calloc(1, sizeof(*found));
	_cleanup_(chi_closep) int fd = -1;
	if (found == NULL) {
		return chi_fault_plain(&dialogue->fault, -CHI_ENOMEM);
	}
	found->book = question->book;
	int status = open_store(dialogue, question->book);
	status = status == CHI_OK ? find_moves(dialogue, question, found) : status;
	status = status == CHI_OK ? find_games(dialogue, question, found) : status;
	int opened =
		status == CHI_OK ? pgn_offsets_open(question->book, &fd, &dialogue->fault) : status;
	for (size_t i = 0; status == CHI_OK && i < found->n; i++) {
		status = say_move(dialogue, fd, found, &found->moves[i], moves);
	}
	return status < 0 ? status : opened;
}

/* "NAME.bin limit 10 skip 0 limit 1 FEN": of options given twice the last counts. The name ends
 * where its ending does, so that it may have blanks. */
static int read_question(struct dialogue *dialogue, char *text, struct question *out)
{
	char *end = strstr(text, ".bin ");
	char *state = NULL;
	*out = (struct question){.book = text, .limit = LIMIT};
	end = end != NULL ? end + strlen(".bin") : strchr(text, ' ');
	if (end == NULL) {
		return chi_fault(&dialogue->fault, -CHI_ESYNTAX,
				 "find BOOK [limit N] [skip N] FEN");
	}
	*end = '\0';
	size_t len = 0;
	for (char *word = strtok_r(end + 1, " ", &state); word != NULL;
	     word = strtok_r(NULL, " ", &state)) {
		bool limit = strcmp(word, "limit") == 0;
		if (limit || strcmp(word, "skip") == 0) {
			const char *value = strtok_r(NULL, " ", &state);
			int status = value != NULL ? chi_num_u64(value, strlen(value),
								 limit ? LIMIT_MAX : UINT64_MAX,
								 limit ? &out->limit : &out->skip)
						   : -CHI_ESYNTAX;
			if (status < 0 || out->limit == 0) {
				return chi_fault(&dialogue->fault, -CHI_EINVAL,
						 limit ? "limit is 1 to %d" : "skip is a number",
						 LIMIT_MAX);
			}
			continue;
		}
		int n = snprintf(out->fen + len, sizeof(out->fen) - len, "%s%s", len > 0 ? " " : "",
				 word);
		if (n < 0 || (size_t)n >= sizeof(out->fen) - len) {
			return chi_fault(&dialogue->fault, -CHI_EFEN, "the FEN is too long");
		}
		len += (size_t)n;
	}
	return chi_key_from_fen(out->fen, len, &out->key, &dialogue->fault);
}

/* Drops the reference. */
static void print_json(json_t *value)
{
	if (value == NULL || json_dumpf(value, stdout, JSON_ENCODE_ANY) != 0) {
		cli_output_lost();
	}
	json_decref(value);
}

static void run_find(struct dialogue *dialogue, char *text)
{
	struct question question;
	struct chi_position position;
	char fen[CHI_FEN_SIZE] = "";
	uint64_t key = 0;
	json_t *moves = json_array();
	int status = read_question(dialogue, text, &question);
	status = status == CHI_OK ? chi_key_to_fen(&question.key, fen, &dialogue->fault) : status;
	status = status == CHI_OK ? chi_key_decode(&question.key, &position, &dialogue->fault)
				  : status;
	if (status == CHI_OK) {
		key = chi_polyglot_key(&position, position.ep);
		status = find_positions(dialogue, &question, moves);
	}
	/* jansson knows no numbers of 64 bits without a sign. */
	printf("{\"fen\": \"%s\", \"key\": %" PRIu64 ", \"moves\": ", fen, key);
	print_json(moves);
	if (status < 0) {
		printf(", \"error\": ");
		print_json(json_path(dialogue->fault.text));
	}
	puts("}");
}

/* ---- The dialogue -------------------------------------------------------------------------- */

/* False: it is over. */
static bool run_line(struct dialogue *dialogue, char *line)
{
	static const struct {
		const char *name;
		void (*run)(struct dialogue *dialogue, char *text);
	} requests[] = {{"book", run_book}, {"find", run_find}};
	line[strcspn(line, "\r\n")] = '\0';
	if (strcmp(line, "quit") == 0) {
		return false;
	}
	if (strcmp(line, "isready") == 0) {
		puts("readyok");
		return true;
	}
	for (size_t i = 0; i < CHI_COUNT(requests); i++) {
		size_t len = strlen(requests[i].name);
		if (strncmp(line, requests[i].name, len) == 0 &&
		    (line[len] == ' ' || line[len] == '\0')) {
			requests[i].run(dialogue, line + len + (line[len] == ' '));
			return true;
		}
	}
	if (line[0] != '\0') {
		cli_message("unknown command: %s", line);
	}
	return true;
}

static int run_chess_db(struct cli *cli)
{
	_cleanup_(dialogue_deinit) struct dialogue dialogue = {.cli = cli};
	char line[REQUEST_MAX];
	bool more = true;
	while (more && fgets(line, sizeof(line), stdin) != NULL) {
		if (strchr(line, '\n') == NULL && !feof(stdin)) {
			cli_message("a line of standard input is too long, or has a NUL");
			return EXIT_USAGE;
		}
		more = run_line(&dialogue, line);
		if (fflush(stdout) != 0) {
			return EXIT_STORE;
		}
	}
	return EXIT_DONE;
}

const struct command cmd_chess_db = {
	.name = "chess-db",
	.arguments = "",
	.summary = "answer PyChess' database view, as chess_db does",
	.help = "Speaks with a program on standard input and output as mcostalba's chess_db does:\n"
		"\n"
		"  book FILE.pgn full                        takes the games into the store\n"
		"  find FILE.bin [limit N] [skip N] FEN      moves of a position, and of each the\n"
		"                                            places of its games in FILE.pgn\n"
		"  isready                                   readyok\n"
		"  quit\n"
		"\n"
		"Without -a each FILE.pgn has a store beside it, FILE.chistore; with it all games\n"
		"go into that store, and all of its games are counted. FILE.bin says where the\n"
		"games are in FILE.pgn. Answers are JSON; what is wrong is its member \"error\".\n"
		"Games that are counted already are not counted again, and without -a those that\n"
		"the file no longer has are taken out. Games that agree in players, date, result\n"
		"and moves are found at the place of the first.\n"
		"\n"
		"PyChess looks in its data directory for a program that is named after\n"
		"the processor; chistore(1) says how it gets this one.",
	.example = "chistore chess-db\n"
		   "chistore -a ./games chess-db",
	.needs = NEEDS_NOTHING,
	.run = run_chess_db,
};
