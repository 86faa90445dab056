/* SPDX-License-Identifier: MIT */
/*
 * chistore chess-db: starts chistore.chess_db of the Python package, which speaks with PyChess.
 * What that asks of this program is where the games of a PGN file are, and what tells them apart.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/fault.h"
#include "chess/pgn/pgn.h"
#include "cli/command.h"
#include "formats/source.h"

struct chess_db_state {
	const char *places;
};

/* ---- Places of games ----------------------------------------------------------------------- */

/* The archive keeps longer values. */
#define TAG_MOST 255

/* Of players, date, result and moves. */
static uint64_t hash_game(const struct chi_pgn_game *game)
{
	static const enum chi_pgn_tag tags[] = {CHI_PGN_WHITE, CHI_PGN_BLACK, CHI_PGN_DATE};
	uint8_t result = (uint8_t)game->result;
	uint64_t hash = 0;
	for (size_t i = 0; i < CHI_COUNT(tags); i++) {
		const struct chi_pgn_span *value = &game->tags[tags[i]];
		hash = XXH3_64bits_withSeed(value->text != NULL ? value->text : "",
					    value->len < TAG_MOST ? value->len : TAG_MOST, hash);
	}
	hash = XXH3_64bits_withSeed(&result, 1, hash);
	return XXH3_64bits_withSeed(game->moves, game->n_plies * sizeof(*game->moves), hash);
}

/* A game's place is the end of the line before it, as PyChess has it; `line_end`: its bytes. */
static void print_games(struct chi_pgn *pgn, uint64_t line_end)
{
	const struct chi_pgn_game *game = NULL;
	while (chi_pgn_next(pgn, &game) == CHI_OK) {
		uint64_t before = game->offset < line_end ? game->offset : line_end;
		printf("%016" PRIx64 " %016" PRIx64 "\n", hash_game(game), game->offset - before);
	}
}

static int read_games(struct chi_source *source, struct chi_pgn *pgn, struct chi_fault *fault)
{
	const char *bytes = NULL;
	size_t len = 0;
	uint64_t line_end = 0;
	int status;
	while ((status = chi_source_read(source, &bytes, &len, fault)) == CHI_OK) {
		const char *end = memchr(bytes, '\n', len);
		if (line_end == 0) {
			line_end = end != NULL && end > bytes && end[-1] == '\r' ? 2 : 1;
		}
		while (len > 0) {
			size_t taken = chi_pgn_feed(pgn, bytes, len);
			print_games(pgn, line_end);
			bytes += taken;
			len -= taken;
		}
	}
	chi_pgn_finish(pgn);
	print_games(pgn, line_end);
	return status < 0 ? status : CHI_OK;
}

static int print_places(const char *path)
{
	struct chi_fault fault = {.text = ""};
	struct chi_source *source = NULL;
	struct chi_pgn *pgn = NULL;
	int status = chi_source_open(path, NULL, &source, &fault);
	if (status == CHI_OK) {
		status = chi_pgn_new(&pgn);
	}
	if (status == CHI_OK) {
		status = read_games(source, pgn, &fault);
	}
	chi_pgn_free(pgn);
	chi_source_close(source);
	return cli_fault(status, &fault);
}

/* ---- The dialogue -------------------------------------------------------------------------- */

/* The package's own folder comes first, in the place of the one that the program was started in. */
static const char script[] =
	"import sys\n"
	"sys.path[0] = sys.argv.pop(1)\n"
	"try:\n"
	"    from chistore.chess_db import main\n"
	"except ImportError as error:\n"
	"    sys.stderr.write(f'chistore: chess-db cannot be run by Python: {error}\\n')\n"
	"    sys.exit(3)\n"
	"sys.exit(main(*sys.argv[1:]))\n";

static void set_unless_null(const char *name, const char *value)
{
	if (value != NULL) {
		(void)setenv(name, value, 1);
	}
}

static int run_chess_db(struct cli *cli)
{
	const struct chess_db_state *state = cli->state;
	if (state->places != NULL) {
		return print_places(state->places);
	}
	const char *folder = getenv("CHISTORE_PYTHON");
	char self[PATH_MAX] = "";
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	set_unless_null("CHISTORE_TOKEN_FILE", cli->token_file);
	set_unless_null("CHISTORE_TLS_CA", cli->tls_ca);
	set_unless_null("CHISTORE_TLS_CERT", cli->tls_cert);
	set_unless_null("CHISTORE_TLS_KEY", cli->tls_key);
	if (access(CHI_LIBRARY, R_OK) == 0) {
		(void)setenv("CHISTORE_LIBRARY", CHI_LIBRARY, 0);
	}
	(void)execlp("python3", "python3", "-c", script, folder != NULL ? folder : CHI_PYTHON,
		     len > 0 ? self : "chistore", cli->address != NULL ? cli->address : "",
		     cli->store != NULL ? cli->store : "", (char *)NULL);
	cli_message("chess-db needs python3: %s", strerror(errno));
	return EXIT_STORE;
}

static const struct cli_option options[] = {
	OPTION_TEXT(chess_db_state, places, "places", "FILE",
		    "print of each game of a PGN file a hash and its place instead"),
	OPTIONS_END,
};

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
		"Needs python3. PyChess looks in its data directory for a program that is named\n"
		"after the processor; chistore-chess-db(1) says how it gets this one.",
	.example = "chistore chess-db\n"
		   "chistore -a ./games chess-db",
	.options = options,
	.needs = NEEDS_NOTHING,
	.state_size = sizeof(struct chess_db_state),
	.run = run_chess_db,
};
