/* SPDX-License-Identifier: MIT */
#include "cli/work/repertoire.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/key.h"
#include "chess/pgn/notes.h"
#include "cli/in/files.h"
#include "cli/work/pgn_file.h"

/* ---- The moves of a file ------------------------------------------------------------------ */

struct reading {
	repertoire_each *each;
	void *context;
	/* Of each variation that is open: before its last move, and after it. */
	struct chi_position before[CHI_NOTES_DEPTH_MAX + 1];
	struct chi_position after[CHI_NOTES_DEPTH_MAX + 1];
};

/* Its moves are legal, as the reader has played them. */
static int read_variation(struct reading *reading, const struct chi_note *note)
{
	struct chi_position *before = &reading->before[note->depth];
	struct chi_position *after = &reading->after[note->depth];
	int code = EXIT_DONE;
	for (size_t i = 0; code == EXIT_DONE && i < note->n_moves; i++) {
		chi_move move = chi_note_move(note, i);
		*before = *after;
		chi_position_play(before, move, after);
		code = reading->each(reading->context, before, move, after);
	}
	return code;
}

/* A variation replaces the move before it: of the main line, or of the variation around it. */
static void begin_variation(struct reading *reading, const struct chi_pgn_game *game,
			    const struct chi_note *note)
{
	size_t ply = note->ply > 0 ? note->ply - 1 : 0;
	reading->after[note->depth + 1] =
		note->depth > 0 ? reading->before[note->depth] : game->positions[ply];
	reading->before[note->depth + 1] = reading->after[note->depth + 1];
}

static int read_variations(struct reading *reading, const char *path,
			   const struct chi_pgn_game *game)
{
	const struct chi_pgn_whole *whole = game->whole;
	struct chi_note note;
	struct chi_notes_reader reader =
		chi_notes_reader_of(whole->notes, whole->n_notes, game->n_plies);
	int code = EXIT_DONE;
	while (code == EXIT_DONE && chi_notes_next(&reader, &note) == CHI_OK) {
		if (note.kind == CHI_NOTE_OPEN) {
			begin_variation(reading, game, &note);
		} else if (note.kind == CHI_NOTE_MOVES) {
			code = read_variation(reading, &note);
		} else if (note.kind == CHI_NOTE_UNREAD) {
			cli_message("%s: game %" PRIu64 ": a variation cannot be read from '%.*s'",
				    path, game->number, (int)(note.len < 40 ? note.len : 40),
				    note.text);
		}
	}
	if (whole->lost_notes > 0) {
		cli_message("%s: game %" PRIu64 " is too long: %" PRIu64
			    " of its comments and variations are left out",
			    path, game->number, whole->lost_notes);
	}
	return code;
}

static int read_game(void *context, const char *path, const struct chi_pgn_game *game)
{
	struct reading *reading = context;
	const struct chi_position *at = game->positions;
	int code = reading->each(reading->context, at, 0, at);
	for (size_t i = 0; code == EXIT_DONE && i < game->n_plies; i++) {
		code = reading->each(reading->context, &at[i], game->moves[i], &at[i + 1]);
	}
	return code == EXIT_DONE ? read_variations(reading, path, game) : code;
}

static void pgn_freep(struct chi_pgn **pgn)
{
	chi_pgn_free(*pgn);
}

int repertoire_read(struct cli *cli, const char *path, repertoire_each *each, void *context)
{
	_cleanup_(pgn_freep) struct chi_pgn *pgn = NULL;
	struct reading reading = {.each = each, .context = context};
	char *name = (char *)(uintptr_t)path;
	uint64_t total = 0;
	if (chi_pgn_new(&pgn) != CHI_OK || chi_pgn_keep_all(pgn) != CHI_OK) {
		return cli_no_memory();
	}
	int code = files_check(cli, 1, &name, &total);
	return code == EXIT_DONE ? pgn_file(cli, path, pgn, read_game, &reading) : code;
}

/* ---- Its positions ------------------------------------------------------------------------- */

struct loading {
	struct cli *cli;
	struct repertoire *repertoire;
};

/* The number of a position. `place`: what it is, if it is new. Returns an exit code. */
static int take_place(struct loading *loading, const struct chi_position *position,
		      struct repertoire_place place, uint32_t *number)
{
	struct repertoire *repertoire = loading->repertoire;
	struct chi_key key;
	bool added = false;
	chi_key_encode(position, &key);
	if (keyset_add(&repertoire->set, &key, number, &added) != CHI_OK ||
	    chi_grow(&repertoire->places, &repertoire->room, repertoire->n + 1,
		     sizeof(*repertoire->places)) < 0) {
		return cli_no_memory();
	}
	if (added) {
		place.side = (uint8_t)position->side;
		repertoire->places[repertoire->n++] = place;
	}
	return repertoire->n <= REPERTOIRE_MAX
		       ? EXIT_DONE
		       : cli_usage(loading->cli, "the repertoire has more than %d positions",
				   REPERTOIRE_MAX);
}

static int load_move(void *context, const struct chi_position *before, chi_move move,
		     const struct chi_position *after)
{
	struct loading *loading = context;
	struct repertoire_place place = {.arrived = move};
	uint32_t number = 0;
	int code = take_place(loading, before, (struct repertoire_place){0}, &place.parent);
	if (code != EXIT_DONE || move == 0) {
		return code;
	}
	struct repertoire_place *from = &loading->repertoire->places[place.parent];
	if (from->answer == 0) {
		from->answer = move;
	}
	return take_place(loading, after, place, &number);
}

int repertoire_load(struct cli *cli, const char *path, struct repertoire *out)
{
	struct loading loading = {.cli = cli, .repertoire = out};
	keyset_init(&out->set);
	return repertoire_read(cli, path, load_move, &loading);
}

void repertoire_deinit(struct repertoire *repertoire)
{
	keyset_deinit(&repertoire->set);
	free(repertoire->places);
}
