/* SPDX-License-Identifier: MIT */
/* chistore export: positions with their records, or games, in formats that other programs read. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/in/filter.h"
#include "cli/in/game_terms.h"
#include "cli/out/shown.h"
#include "cli/hashed/export_book.h"
#include "cli/hashed/export_exp.h"
#include "cli/out/export_text.h"

/* Room for what a line of EPD takes while it is built and read again. */
#define ARENA_BUDGET ((size_t)4 << 20)

struct export_state {
	struct chi_scan_spec spec;
	enum export_format format;
	struct shown columns;
	struct game_terms terms;
	const char *path;
};

/* What a run owns. */
struct export
{
	struct chi_rows *iter;
	struct chi_rows *query; /* of PGN alone */
	struct chi_arena arena;
	struct target target;
	struct export_book *book; /* of Polyglot alone */
	struct export_exp *exp;	  /* of experience alone */
};

static const struct export_state defaults = {
	.spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX, .order = CHI_ORDER_POSITION,
		 .want = CHI_WANT_RECORDS},
};

/* Given, or from the file's name, or from --json, or the one that most programs read. */
static enum export_format choose_format(const struct cli *cli, const struct export_state *state)
{
	enum export_format format = state->format;
	if (format == EXPORT_NONE && state->path != NULL) {
		format = export_format_of_path(state->path);
	}
	return format != EXPORT_NONE ? format : cli->json ? EXPORT_JSONL : EXPORT_CSV;
}

static void export_deinit(struct export *export)
{
	chi_rows_close(export->iter);
	chi_rows_close(export->query);
	chi_arena_deinit(&export->arena);
	export_book_free(export->book);
	export_exp_free(export->exp);
	target_discard(&export->target);
}

/* Sorting spills beside the file that is written, where there must be room for it anyway. */
static int new_book(const char *path, struct export_book **book)
{
	const char *dir = getenv("TMPDIR");
	_cleanup_(chi_freep) char *copy = path != NULL ? strdup(path) : NULL;
	if (copy != NULL) {
		dir = dirname(copy);
	}
	return export_book_new(dir != NULL && dir[0] != '\0' ? dir : "/tmp", book);
}

static enum columns_form form_of(enum export_format format)
{
	return format == EXPORT_CSV   ? COLUMNS_CSV
	       : format == EXPORT_TSV ? COLUMNS_TSV
				      : COLUMNS_JSON;
}

/* The columns that were chosen. */
static int write_columns(struct target *target, const struct shown *columns, enum columns_form form,
			 const struct chi_row *row, const struct chi_record *record)
{
	int status = shown_print(target->file, columns, form, row, record);
	if (status != CHI_OK) {
		cli_message("cannot print a record (%s)", chi_strerror(status));
		return EXIT_STORE;
	}
	return ferror(target->file) == 0 ? EXIT_DONE : target_fail(target);
}

static int write_row(struct export *export, const struct export_state *state,
		     enum export_format format, const struct chi_row *row,
		     const struct chi_record *record)
{
	if (state->columns.n > 0) {
		return write_columns(&export->target, &state->columns, form_of(format), row,
				     record);
	}
	if (export->exp != NULL) {
		return export_exp_add(export->exp, &export->target, &row->key, record);
	}
	return export->book != NULL
		       ? export_book_add(export->book, &row->key, record)
		       : export_row(&export->target, format, &row->key, record, &export->arena);
}

/* In the order of the keys, each row with its whole record or with what the columns want. */
static int write_rows(const struct cli *cli, struct export *export,
		      const struct export_state *state, enum export_format format)
{
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	int status;
	while ((status = chi_scan_next(export->iter, &row, &record)) == CHI_OK && cli_stop == 0) {
		int code = write_row(export, state, format, row, record);
		if (code != EXIT_DONE) {
			return code;
		}
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	return status == CHI_NONE ? EXIT_DONE : cli_fail(cli->client, status);
}

/* The target is opened when the store has accepted the question. */
static int write_all(struct cli *cli, struct export *export, const struct export_state *state,
		     enum export_format format)
{
	int status = chi_scan_open(cli->client, &state->spec, &export->iter);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	int code = target_open(&export->target, state->path);
	if (code == EXIT_DONE && format == EXPORT_POLYGLOT) {
		code = new_book(state->path, &export->book);
	} else if (code == EXIT_DONE && format == EXPORT_EXP) {
		export->exp = export_exp_new();
		code = export->exp != NULL ? EXIT_DONE : cli_no_memory();
	} else if (code == EXIT_DONE) {
		if (state->columns.n > 0) {
			shown_head(export->target.file, &state->columns, form_of(format));
		} else {
			code = export_head(&export->target, format);
		}
	}
	if (code == EXIT_DONE) {
		code = write_rows(cli, export, state, format);
	}
	if (code == EXIT_DONE && export->book != NULL) {
		code = export_book_write(export->book, &export->target);
	}
	if (code == EXIT_DONE && chi_rows_state(export->iter)->mixed && !cli->quiet) {
		cli_message("the store changed during the export: the rows are from more than one "
			    "committed state");
	}
	if (code == EXIT_DONE && export->exp != NULL && !cli->quiet) {
		export_exp_tell(export->exp);
	}
	game_terms_remark(cli);
	return code == EXIT_DONE ? target_finish(&export->target) : code;
}

/* ---- Games ------------------------------------------------------------------------------- */

/* In the order of their numbers, which an import of the file gives them again. */
static int write_games(struct cli *cli, struct export *export, struct export_state *state)
{
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = state->terms.text,
					   .want = CHI_GAMES_PGN, .limit = state->spec.limit};
	const struct chi_game_row *row = NULL;
	int status = chi_games_open(cli->client, &spec, &export->query);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	int code = target_open(&export->target, state->path);
	while (code == EXIT_DONE && cli_stop == 0 &&
	       (status = chi_games_next(export->query, &row)) == CHI_OK) {
		code = target_write(&export->target, row->pgn, row->pgn_len);
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (status < 0) {
		return cli_fail(cli->client, status);
	}
	game_terms_remark(cli);
	return code == EXIT_DONE ? target_finish(&export->target) : code;
}

/* Options of the wrong kind would silently do nothing. */
static int check_export_kind(struct cli *cli, bool games)
{
	static const char *const of_positions[] = {
		"min",	   "max",	"material", "either-colour", "pieces",
		"side",	   "min-games", "score",    "eval",	     "ply",
		"engines", "engine",	"depth",    "eval-date",     "show"};
	for (size_t i = 0; games && i < CHI_COUNT(of_positions); i++) {
		if (cli_given(cli, of_positions[i])) {
			return cli_usage(cli, "--%s goes with positions, not with games (PGN)",
					 of_positions[i]);
		}
	}
	return EXIT_DONE;
}

static int run_export(struct cli *cli)
{
	_cleanup_(export_deinit) struct export export = {.iter = NULL};
	struct export_state *state = cli->state;
	int code = filter_take(cli, &state->spec);
	if (code != EXIT_DONE) {
		return code;
	}
	if (state->path != NULL && strcmp(state->path, "-") == 0) {
		state->path = NULL;
	}
	enum export_format format = choose_format(cli, state);
	code = check_export_kind(cli, format == EXPORT_PGN);
	if (code == EXIT_DONE) {
		code = game_terms_take(cli, &state->terms);
	}
	if (code != EXIT_DONE || format == EXPORT_PGN) {
		return code == EXIT_DONE ? write_games(cli, &export, state) : code;
	}
	if (state->columns.n > 0 && format != EXPORT_CSV && format != EXPORT_TSV &&
	    format != EXPORT_JSONL) {
		return cli_usage(cli, "--show goes with csv, tsv and jsonl");
	}
	code = shown_ready(cli, &state->columns);
	if (code != EXIT_DONE) {
		return code;
	}
	state->spec.want = state->columns.n > 0 ? state->columns.want : CHI_WANT_RECORDS;
	state->spec.games = state->terms.text;
	if ((format == EXPORT_POLYGLOT || format == EXPORT_EXP) && state->path == NULL &&
	    isatty(STDOUT_FILENO)) {
		return cli_usage(cli, "%s is no text for a terminal: say -o FILE",
				 format == EXPORT_EXP ? "a file of experience" : "a Polyglot book");
	}
	chi_arena_init(&export.arena, ARENA_BUDGET);
	return write_all(cli, &export, state, format);
}

static const struct cli_option options[] = {
	OPTION_WORD(export_state, format, export_formats, "format", "FORMAT",
		    "csv (default), tsv, jsonl, epd, lichess-evals, cdb, exp or polyglot; of games "
		    "pgn"),
	OPTION_TEXT(export_state, path, "output", "FILE",
		    "-o too: a file instead of standard output"),
	OPTION(export_state, columns, shown_take, "show", "A,B,..",
	       "csv, tsv, jsonl: these columns instead, see 'scan --help'"),
	OPTION_NUMBER(export_state, spec.limit, 1, UINT64_MAX, "limit", "N",
		      "at most N positions, or games"),
	FILTER_OPTIONS(export_state),
	EVIDENCE_OPTIONS(export_state, spec.filter.evidence),
	GAME_HEAD_OPTIONS(export_state, terms),
	OPTIONS_END,
};

const struct command cmd_export = {
	.name = "export",
	.arguments = "",
	.summary = "write positions as CSV, JSON, EPD or a Polyglot book, or games as PGN",
	.help = "Writes every position that matches the filters, ordered by key. Without\n"
		"--format the ending of FILE decides: .csv, .tsv, .jsonl, .epd, .bin, .exp, .pgn. "
		"An "
		"existing\n"
		"FILE is replaced when the new one is complete.\n"
		"\n"
		"'import' reads all of them again. jsonl: what 'get' prints, one object a line.\n"
		"csv, tsv: columns fen, chi2, white, draws, black, other, note, line, and of the\n"
		"deepest evaluation engine, depth, cp, mate, nodes, pv, date; what is not known\n"
		"is empty. epd: that evaluation as ce or dm with engine, acd, acn and pv, else\n"
		"the line as pv; the note, and the counts as c0 \"white W draws D black B\".\n"
		"polyglot: a book of the moves played; a win of its player adds two to a move's\n"
		"weight, a draw one; moves that only lost are left out. lichess-evals: positions\n"
		"with evaluations as lichess_db_eval.jsonl has them, those of each engine "
		"together.\n"
		"cdb: 'FEN ; cdb eval: 65; PV: e2e4 e7e5;', the deepest evaluation, as "
		"chessdb.cn's.\n"
		"exp: what BrainLearn reads as its experience, an entry for each first move of a\n"
		"position's evaluations.\n"
		"\n"
		"pgn: the games of the store that fit the options of games (--player and so on; a\n"
		"--filter can ask for more), in the order of their numbers. Imported into an\n"
		"empty store they make the same one, but for where they came from.\n"
		"\n"
		"Of positions these options leave those that one of these games reached, with\n"
		"what they did there: counts and moves are theirs; plies are left out.",
	.example = "chistore -a ./positions export --min-games 50 -o strong.csv\n"
		   "chistore -a ./positions export --min-games 5 -o book.bin\n"
		   "chistore -a ./games export --player Velan -o velan.pgn\n"
		   "chistore -a ./games export --player Velan --black -o repertoire.bin",
	.options = options,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct export_state),
	.defaults = &defaults,
	.run = run_export,
};
