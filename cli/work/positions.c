/* SPDX-License-Identifier: MIT */
/* Positions named, of a line, of a repertoire, or of a scan. */
#include "cli/work/positions.h"

#include <string.h>

#include "chess/key.h"
#include "chess/notation.h"
#include "chess/pgn/notes.h"
#include "cli/in/files.h"
#include "cli/in/place.h"
#include "cli/work/keyset.h"
#include "cli/work/pgn_file.h"

static int fail_positions(struct cli *cli, const struct positions *positions, int status)
{
	return status == -CHI_ETOOBIG  ? cli_usage(cli, "more than %zu positions", positions->max)
	       : status == -CHI_ENOMEM ? cli_no_memory()
				       : cli_usage(cli, "%s", chi_strerror(status));
}

/* Each position of a line, that where it begins first. */
static int take_positions_line(struct cli *cli, const struct positions *positions)
{
	chi_move moves[CHI_LINE_MAX];
	struct chi_key key;
	struct chi_fault fault;
	size_t n = 0;
	const char *text = positions->line;
	int status = chi_line_parse(&chi_position_initial, text, strlen(text), moves, CHI_LINE_MAX,
				    &n, &fault);
	if (status != CHI_OK) {
		return cli_usage(cli, "--line: %s", fault.text);
	}
	chi_key_encode(&chi_position_initial, &key);
	status = positions->add(positions->context, &key);
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		status = chi_key_play(&key, moves[i], &key);
		status = status == CHI_OK ? positions->add(positions->context, &key) : status;
	}
	return status == CHI_OK ? EXIT_DONE : fail_positions(cli, positions, status);
}

/* ---- A repertoire -------------------------------------------------------------------------- */

struct repertoire {
	struct cli *cli;
	const struct positions *positions;
	struct keyset seen;
	struct chi_pgn *pgn;
	/* Of each variation that is open: before its last move, and after it. */
	struct chi_position before[CHI_NOTES_DEPTH_MAX + 1];
	struct chi_position after[CHI_NOTES_DEPTH_MAX + 1];
};

static void repertoire_deinit(struct repertoire *repertoire)
{
	keyset_deinit(&repertoire->seen);
	chi_pgn_free(repertoire->pgn);
}

static int add_once(struct repertoire *repertoire, const struct chi_position *position)
{
	struct chi_key key;
	uint32_t number = 0;
	bool added = false;
	chi_key_encode(position, &key);
	int status = keyset_add(&repertoire->seen, &key, &number, &added);
	return status == CHI_OK && added
		       ? repertoire->positions->add(repertoire->positions->context, &key)
		       : status;
}

/* Its moves are legal, as the reader has played them. */
static int add_moves(struct repertoire *repertoire, const struct chi_note *note)
{
	struct chi_position *before = &repertoire->before[note->depth];
	struct chi_position *after = &repertoire->after[note->depth];
	int status = CHI_OK;
	for (size_t i = 0; status == CHI_OK && i < note->n_moves; i++) {
		*before = *after;
		chi_position_play(before, chi_note_move(note, i), after);
		status = add_once(repertoire, after);
	}
	return status;
}

/* A variation replaces the move before it: of the main line, or of the variation around it. */
static void begin_variation(struct repertoire *repertoire, const struct chi_pgn_game *game,
			    const struct chi_note *note)
{
	size_t ply = note->ply > 0 ? note->ply - 1 : 0;
	repertoire->after[note->depth + 1] =
		note->depth > 0 ? repertoire->before[note->depth] : game->positions[ply];
	repertoire->before[note->depth + 1] = repertoire->after[note->depth + 1];
}

static int take_pgn_game(void *context, const char *path, const struct chi_pgn_game *game)
{
	struct repertoire *repertoire = context;
	struct chi_note note;
	struct chi_notes_reader reader =
		chi_notes_reader_of(game->whole->notes, game->whole->n_notes, game->n_plies);
	int status = CHI_OK;
	(void)path;
	for (size_t i = 0; status == CHI_OK && i <= game->n_plies; i++) {
		status = add_once(repertoire, &game->positions[i]);
	}
	while (status == CHI_OK && chi_notes_next(&reader, &note) == CHI_OK) {
		if (note.kind == CHI_NOTE_OPEN) {
			begin_variation(repertoire, game, &note);
		} else if (note.kind == CHI_NOTE_MOVES) {
			status = add_moves(repertoire, &note);
		}
	}
	return status == CHI_OK ? EXIT_DONE
				: fail_positions(repertoire->cli, repertoire->positions, status);
}

static int take_repertoire(struct cli *cli, const struct positions *positions)
{
	_cleanup_(repertoire_deinit) struct repertoire repertoire = {.cli = cli,
								     .positions = positions};
	char *path = (char *)(uintptr_t)positions->repertoire;
	uint64_t total = 0;
	keyset_init(&repertoire.seen);
	if (chi_pgn_new(&repertoire.pgn) != CHI_OK || chi_pgn_keep_all(repertoire.pgn) != CHI_OK) {
		return cli_no_memory();
	}
	int code = files_check(cli, 1, &path, &total);
	return code == EXIT_DONE ? pgn_file(cli, path, repertoire.pgn, take_pgn_game, &repertoire)
				 : code;
}

/* ---- The store's, and those named ---------------------------------------------------------- */

static int take_scan(struct cli *cli, const struct positions *positions)
{
	_cleanup_(chi_rows_closep) struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	positions->scan->want = CHI_WANT_KEYS;
	int status = chi_scan_open(cli->client, positions->scan, &iter);
	while (status == CHI_OK) {
		status = chi_scan_next(iter, &row, &record);
		int added =
			status == CHI_OK ? positions->add(positions->context, &row->key) : CHI_OK;
		if (added != CHI_OK) {
			return fail_positions(cli, positions, added);
		}
	}
	return status == CHI_NONE ? EXIT_DONE : cli_fail(cli->client, status);
}

static int take_arguments(struct cli *cli, const struct positions *positions)
{
	int code = EXIT_DONE;
	for (int at = 0; code == EXIT_DONE && at < cli->argc;) {
		struct place place;
		code = place_take(cli, cli->argc, cli->argv, &at, &place);
		int status =
			code == EXIT_DONE ? positions->add(positions->context, &place.key) : CHI_OK;
		if (status != CHI_OK) {
			return fail_positions(cli, positions, status);
		}
	}
	return code;
}

static int take_initial(struct cli *cli, const struct positions *positions)
{
	struct chi_key key;
	chi_key_encode(&chi_position_initial, &key);
	int status = positions->add(positions->context, &key);
	return status == CHI_OK ? EXIT_DONE : fail_positions(cli, positions, status);
}

int positions_take(struct cli *cli, const struct positions *positions)
{
	if (positions->line != NULL) {
		return take_positions_line(cli, positions);
	}
	if (positions->repertoire != NULL) {
		return take_repertoire(cli, positions);
	}
	if (cli->argc > 0) {
		return take_arguments(cli, positions);
	}
	return positions->initial ? take_initial(cli, positions) : take_scan(cli, positions);
}
