/* SPDX-License-Identifier: MIT */
/* The texts of notes. */
#include "import/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fault.h"

void chi_notes_deinit(struct chi_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++) {
		free(notes->note[i].text);
	}
	free(notes->note);
	*notes = (struct chi_notes){0};
}

/* Why the moves end: what is written before and after the text that was not taken. */
static const struct cause {
	const char *before;
	const char *after;
} causes[CHI_PGN_ENDS] = {
	[CHI_PGN_NULL_MOVE] = {"'", "' is a null move"},
	[CHI_PGN_ILLEGAL] = {"'", "' is not a legal move"},
	[CHI_PGN_AMBIGUOUS] = {"'", "' fits several legal moves"},
	[CHI_PGN_UNREADABLE] = {"'", "' is not a move"},
	[CHI_PGN_UNCLOSED] = {"a ", " has no end"},
	[CHI_PGN_MANY_PLIES] = {"it has more than 4096 plies", ""},
	[CHI_PGN_TOO_LONG] = {"it has more than 64 MiB of text", ""},
	[CHI_PGN_BAD_START] = {"its FEN tag '", "' cannot be read"},
	[CHI_PGN_NO_START] = {"it is Chess960 without a FEN tag", ""},
	[CHI_PGN_OTHER_RULES] = {"its variant '", "' is not chess"},
	[CHI_PGN_LONG_TAG] = {"its tag ", " has more than 1023 bytes"},
};

static const char *name(const struct chi_pgn_game *game, enum chi_pgn_tag tag)
{
	return game->tags[tag].text != NULL ? game->tags[tag].text : "?";
}

#define WHAT_SIZE 120

/* Text that was not looked at may hold anything. */
static void describe_lost(const struct chi_pgn_whole *whole, char what[WHAT_SIZE])
{
	(void)snprintf(
		what, WHAT_SIZE,
		"over the limits, and cut or left out: %u tags, %llu annotations, %llu bytes "
		"of text",
		(unsigned)whole->lost_tags,
		(unsigned long long)(whole->lost_notes + whole->rest_cut),
		(unsigned long long)whole->lost_text);
}

/* Names are cut; the fault's text is clean then, a half character included. */
static void describe(const struct chi_pgn_game *game, enum chi_stream_note_kind kind,
		     struct chi_fault *line)
{
	static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
	const struct cause *cause = &causes[game->end];
	char what[WHAT_SIZE];
	switch (kind) {
	case CHI_NOTE_CUT:
		(void)snprintf(what, sizeof(what), "%s%s%s, counted up to ply %zu", cause->before,
			       game->end_text, cause->after, game->n_plies);
		break;
	case CHI_NOTE_SKIPPED:
		(void)snprintf(what, sizeof(what), "%s%s%s, skipped", cause->before, game->end_text,
			       cause->after);
		break;
	case CHI_NOTE_CONFLICT:
		(void)snprintf(what, sizeof(what),
			       "its Result tag says %s, its moves end with %s; the tag counts",
			       results[game->result], results[game->said]);
		break;
	case CHI_NOTE_EMPTY:
		(void)snprintf(what, sizeof(what), "it has no moves");
		break;
	case CHI_NOTE_LOST:
		describe_lost(game->whole, what);
		break;
	}
	(void)chi_fail(line, CHI_OK, "%.60s - %.60s: %s", name(game, CHI_PGN_WHITE),
		       name(game, CHI_PGN_BLACK), what);
}

static int add_note(struct chi_notes *notes, uint64_t game, uint64_t line, const char *text)
{
	int rc = chi_grow(&notes->note, &notes->capacity, notes->n + 1, sizeof(*notes->note));
	char *copy = rc == CHI_OK ? strdup(text) : NULL;
	if (copy == NULL) {
		return -CHI_ENOMEM;
	}
	notes->note[notes->n++] =
		(struct chi_stream_note){.game = game, .line = line, .text = copy};
	return CHI_OK;
}

int chi_notes_add(struct chi_notes *notes, const struct chi_pgn_game *game,
		  enum chi_stream_note_kind kind)
{
	struct chi_fault line;
	if (notes->n == CHI_NOTES_MAX) {
		notes->more++;
		return CHI_OK;
	}
	describe(game, kind, &line);
	return add_note(notes, game->number,
			kind == CHI_NOTE_CONFLICT			  ? game->said_line
			: kind == CHI_NOTE_EMPTY || kind == CHI_NOTE_LOST ? game->line
									  : game->end_line,
			line.text);
}

int chi_notes_add_text(struct chi_notes *notes, uint64_t line, const char *text)
{
	if (notes->n == CHI_NOTES_MAX) {
		notes->more++;
		return CHI_OK;
	}
	return add_note(notes, 0, line, text);
}

void chi_notes_tell(const struct chi_notes *notes, const struct chi_import_options *options,
		    const char *file, uint64_t games_before, uint64_t lines_before)
{
	if (options->report == NULL) {
		return;
	}
	struct chi_import_note note = {.file = file};
	for (size_t i = 0; i < notes->n; i++) {
		note.game = games_before + notes->note[i].game;
		note.line = lines_before + notes->note[i].line;
		note.text = notes->note[i].text;
		options->report(options->context, &note);
	}
	if (notes->more > 0) {
		char text[80];
		(void)snprintf(text, sizeof(text), "%llu later remarks are left out",
			       (unsigned long long)notes->more);
		note.text = text;
		options->report(options->context, &note);
	}
}
