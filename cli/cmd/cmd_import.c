/* SPDX-License-Identifier: MIT */
/* chistore import: files of games, or of positions, into a store. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "chess/statistic.h"
#include "cli/hashed/book_import.h"
#include "cli/command.h"
#include "cli/hashed/exp_import.h"
#include "cli/in/files.h"
#include "cli/in/keep.h"
#include "cli/in/game_terms.h"
#include "cli/in/lines_import.h"
#include "cli/in/pgn_import.h"
#include "formats/evals/cdb.h"
#include "formats/evals/exp.h"
#include "formats/epd.h"
#include "formats/evals/lichess.h"
#include "formats/lines.h"

struct import_state {
	enum chi_format format;
	enum chi_statistic create; /* of --statistic; 0 if it was not given */
	bool strict;
	bool verbose;
	enum chi_keep bare;	 /* of annotations */
	struct line_files lines; /* one of these is used */
	struct games games;
	struct game_terms terms;
};

/* The files, and what was found out about them. */
struct files {
	int n;
	char **paths;
	struct chi_source **sources; /* open ones, or NULL */
	enum chi_format format;	     /* of all if PGN or Polyglot, else of the first */
};

static int take_format(struct cli *cli, const struct cli_option *option, const char *value,
		       void *out)
{
	enum chi_format *format = out;
	*format = chi_format_of(value);
	return *format != CHI_FORMAT_AUTO
		       ? EXIT_DONE
		       : cli_usage(cli,
				   "--%s: '%s' is none of pgn, epd, csv, tsv, jsonl, "
				   "lichess-evals, cdb, exp, polyglot",
				   option->name, value);
}

static bool is_plain(const char *text, size_t len)
{
	bool plain = chi_utf8_valid(text, len);
	for (size_t i = 0; i < len; i++) {
		plain = plain && (unsigned char)text[i] >= 0x20 && text[i] != 0x7f;
	}
	return plain;
}

/* A name of a source is a text as in a tag. */
static int take_source(struct cli *cli, const struct cli_option *option, const char *value,
		       void *source)
{
	size_t len = strlen(value);
	if (len == 0 || len >= CHI_SOURCE_SIZE || !is_plain(value, len)) {
		return cli_usage(cli, "--%s: a name has 1 to %d bytes of plain text", option->name,
				 CHI_SOURCE_SIZE - 1);
	}
	memcpy(source, value, len + 1);
	return EXIT_DONE;
}

static int take_engine(struct cli *cli, const struct cli_option *option, const char *value,
		       void *engine)
{
	(void)snprintf(engine, CHI_ENGINE_MAX + 1, "%s", value);
	return value[0] != '\0' && strlen(value) <= CHI_ENGINE_MAX
		       ? EXIT_DONE
		       : cli_usage(cli, "--%s: a name has 1 to %d bytes", option->name,
				   CHI_ENGINE_MAX);
}

/* What the user would call the format of a file. */
static const char *format_name(enum chi_format format)
{
	return format == CHI_FORMAT_PGN	       ? "PGN"
	       : format == CHI_FORMAT_POLYGLOT ? "a Polyglot book"
	       : format == CHI_FORMAT_EXP      ? "a file of experience"
					       : "a file of positions";
}

/* Games, books and positions have different ways and summaries, and do not mix. */
static int find_format(struct cli *cli, const struct import_state *import, struct files *files)
{
	for (int i = 0; i < files->n; i++) {
		enum chi_format format = import->format;
		int code = format == CHI_FORMAT_AUTO
				   ? files_format(files->paths[i], &format, &files->sources[i])
				   : EXIT_DONE;
		if (code != EXIT_DONE) {
			return code;
		}
		files->format = i == 0 ? format : files->format;
		if (format_name(format) != format_name(files->format)) {
			return cli_usage(cli, "%s is %s, %s is %s; import them one after the other",
					 files->paths[0], format_name(files->format),
					 files->paths[i], format_name(format));
		}
	}
	return EXIT_DONE;
}

enum file_kind {
	FILE_GAMES = 1,
	FILE_POSITIONS = 2,
	FILE_EXPERIENCE = 4,
	FILE_BOOK = 8,
};

/* An option that would silently do nothing is a mistake. */
static int check_options(struct cli *cli, const struct import_state *import,
			 const struct files *files)
{
	static const struct {
		const char *options[9];
		unsigned kinds; /* enum file_kind, or'ed */
		const char *what;
	} rows[] = {
		{{"engine"}, FILE_POSITIONS | FILE_EXPERIENCE, "positions"},
		{{"add"}, FILE_POSITIONS, "positions"},
		{{"max-ply", "min-games", "evals", "memory", "threads", "games", "annotations",
		  "source"},
		 FILE_GAMES,
		 "games (PGN)"},
		{{"strict", "verbose"}, FILE_GAMES | FILE_POSITIONS, "games and positions"},
	};
	enum file_kind kind = files->format == CHI_FORMAT_PGN	     ? FILE_GAMES
			      : files->format == CHI_FORMAT_EXP	     ? FILE_EXPERIENCE
			      : files->format == CHI_FORMAT_POLYGLOT ? FILE_BOOK
								     : FILE_POSITIONS;
	const char *wrong =
		kind != FILE_GAMES && import->terms.n > 0 ? import->terms.term[0].name : NULL;
	const char *what = rows[2].what;
	for (size_t i = 0; i < CHI_COUNT(rows) && wrong == NULL; i++) {
		what = rows[i].what;
		for (size_t j = 0; (rows[i].kinds & kind) == 0 && rows[i].options[j] != NULL; j++) {
			wrong = cli_given(cli, rows[i].options[j]) ? rows[i].options[j] : wrong;
		}
	}
	return wrong == NULL ? EXIT_DONE
			     : cli_usage(cli, "--%s goes with %s, and %s is %s", wrong, what,
					 files->paths[0], format_name(files->format));
}

static int run_files(struct cli *cli, struct import_state *import, struct files *files)
{
	uint64_t total = 0;
	int code = game_terms_take(cli, &import->terms);
	if (code == EXIT_DONE) {
		code = files_check(cli, files->n, files->paths, &total);
	}
	if (code == EXIT_DONE) {
		code = find_format(cli, import, files);
	}
	if (code == EXIT_DONE) {
		code = check_options(cli, import, files);
	}
	if (code != EXIT_DONE) {
		return code;
	}
	if (files->format == CHI_FORMAT_PGN) {
		import->games.run.options.kind = CHI_IMPORT_ADD;
		import->games.run.options.strict = import->strict;
		import->games.run.options.filter = import->terms.text;
		import->games.run.options.bare = import->bare == CHI_KEEP_COUNTS;
		import->games.verbose = import->verbose;
		import->games.run.create = import->create;
		return games_run(cli, &import->games, files->n, files->paths, files->sources);
	}
	if (files->format == CHI_FORMAT_POLYGLOT) {
		return book_import(cli, import->create, files->n, files->paths);
	}
	if (files->format == CHI_FORMAT_EXP) {
		return exp_import(cli, import->create, import->lines.run.options.engine, files->n,
				  files->paths);
	}
	import->lines.run.options.format = import->format;
	import->lines.strict = import->strict;
	import->lines.verbose = import->verbose;
	import->lines.run.create = import->create;
	return lines_import(cli, &import->lines, files->n, files->paths, files->sources, total);
}

static int run_import(struct cli *cli)
{
	_cleanup_(chi_freep) struct chi_source **sources =
		calloc((size_t)cli->argc, sizeof(*sources));
	struct files files = {.n = cli->argc, .paths = cli->argv, .sources = sources};
	if (sources == NULL) {
		return cli_no_memory();
	}
	int code = run_files(cli, cli->state, &files);
	for (int i = 0; i < cli->argc; i++) {
		chi_source_close(sources[i]);
	}
	return code;
}

static const struct cli_option options[] = {
	OPTION(import_state, format, take_format, "format", "FORMAT",
	       "pgn, epd, csv, tsv, jsonl, lichess-evals, cdb, exp or polyglot, regardless of name "
	       "and content"),
	OPTION_WORD(import_state, create, chi_statistic_names, "statistic", "KIND",
		    "statistic of a store that is made (default: control), see init"),
	OPTION_FLAG(import_state, strict, "strict",
		    "games: skip those with a bad move; positions: exit 3 if a line is bad"),
	OPTION_FLAG(import_state, verbose, "verbose",
		    "report every bad line or game, not only the first 20"),
	OPTION_NUMBER(import_state, games.max_ply, 1, CHI_PLY_MAX, "max-ply", "N",
		      "games: count no positions after N plies"),
	OPTION_NUMBER(import_state, games.run.options.games_min, 1, UINT64_MAX, "min-games", "N",
		      "games: drop new positions with fewer games"),
	OPTION_WORD(import_state, games.run.options.keep, keep_names, "games", "WORD",
		    "games: keep (default) or none, of a store that is made, see init"),
	OPTION_WORD(import_state, bare, keep_names, "annotations", "WORD",
		    "games: keep (default) or none of the comments, marks and variations"),
	OPTION(import_state, games.run.options.source, take_source, "source", "NAME",
	       "games: where they come from (default: the name of the file)"),
	OPTION_FLAG(import_state, games.run.options.evals, "evals",
		    "games: store the evaluations in their comments, too"),
	GAME_TAG_OPTIONS(import_state, terms),
	OPTION(import_state, games.run.options.memory, games_memory, "memory", "SIZE",
	       "games: memory for sorting (default: 512M)"),
	OPTION_NUMBER(import_state, games.threads, 1, GAMES_THREADS_MAX, "threads", "N",
		      "games: threads that read (default: one per core)"),
	OPTION(import_state, lines.run.options.engine, take_engine, "engine", "NAME",
	       "positions: engine of evaluations that name none (default: " CHI_EPD_ENGINE
	       ", " CHI_LICHESS_ENGINE " of lichess-evals, " CHI_CDB_ENGINE
	       " of cdb, " CHI_EXP_ENGINE " of exp)"),
	OPTION_FLAG(import_state, lines.run.options.add, "add",
		    "positions: add counts to those stored instead of setting them"),
	OPTIONS_END,
};

const struct command cmd_import = {
	.name = "import",
	.arguments = "FILE...",
	.summary = "count the games of PGN, or store positions of EPD, CSV, JSON",
	.help = "Files compressed by gzip, bzip2, zstd or xz are decompressed; - is standard\n"
		"input. The format follows from the name (.pgn, .epd, .fen, .csv, .tsv, .jsonl,\n"
		".bin, .exp), else from how the file begins. A directory that holds no store gets "
		"one.\n"
		"A file without a game or a position is an error, and stores nothing.\n"
		"\n"
		"PGN: every position of every game is counted: how it ended, what was played, at\n"
		"which ply. All games are stored, or none. A game that is counted already (same\n"
		"players, date, result, start and moves) is not counted twice: files that were\n"
		"imported before can be given again. A game counts up to its first bad move.\n"
		"The options from --player to --filter choose games; --not-OPTION is the opposite\n"
		"of one: --not-player.\n"
		"\n"
		"EPD: four fields of a FEN, or six, then operations: ce or dm with acd, acn and\n"
		"pv become an evaluation; pv without a score, or bm, the line; c0 \"white W draws\n"
		"D black B\" the counts; the others the note.\n"
		"CSV and TSV: a header names the columns fen, chi2, white, draws, black, other,\n"
		"note, line, engine, depth, cp, mate, nodes, pv, date in any order; only fen is\n"
		"required.\n"
		"JSON lines: objects as 'get' and 'export' print them; only fen is required.\n"
		"lichess-evals (lichess_db_eval.jsonl): of each position's evaluations the "
		"deepest.\n"
		"cdb: EPD with chessdb.cn's scores, '; cdb eval: 65; PV: e2e4 e7e5;'.\n"
		"Polyglot books (.bin): walked from the initial position; where nothing was\n"
		"played yet their moves are stored, the weights as games without result.\n"
		"Experience (.exp) of BrainLearn, SugaR and HypnoS: walked from the initial\n"
		"position and from those of the store, each move of a position an evaluation.\n"
		"\n"
		"Bad lines and games are reported with file and line, counted and skipped; all\n"
		"others are stored together at the end, when the numbers are printed. Ctrl-C ends\n"
		"the import with exit code 130, and nothing is stored.",
	.example = "chistore -a ./games import --statistic outcome *.pgn.zst\n"
		   "chistore -a ./blitz import --speed blitz --both 2600.. twic.pgn\n"
		   "chistore -a ./positions import games.csv.zst tactics.epd\n"
		   "zcat *.epd.gz | chistore -a ./positions import --format epd -",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_ADDRESS,
	.state_size = sizeof(struct import_state),
	.run = run_import,
};
