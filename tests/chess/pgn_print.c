/* SPDX-License-Identifier: MIT */
#include "tests/chess/pgn_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "chess/notation.h"
#include "chess/pgn/notes.h"

/* A line being printed; [0] is the main line. */
struct line {
	struct chi_position before;
	struct chi_position now;
	size_t ply;
	bool number; /* is wanted before a black move, too */
};

struct print {
	FILE *out;
	const struct chi_pgn_game *game;
	struct line lines[CHI_NOTES_DEPTH_MAX + 1];
	bool in_comment; /* its '{' is printed */
};

static void print_move(struct print *print, size_t depth, chi_move move)
{
	struct line *line = &print->lines[depth];
	char san[CHI_SAN_SIZE];
	bool black = line->now.side == CHI_BLACK;
	line->before = line->now;
	chi_san_print(&line->before, move, san);
	if (!black || line->number) {
		fprintf(print->out, "%zu%s ", line->ply / 2 + 1, black ? "..." : ".");
	}
	fprintf(print->out, "%s ", san);
	chi_position_play(&line->before, move, &line->now);
	line->ply++;
	line->number = false;
}

static void end_comment(struct print *print)
{
	if (print->in_comment) {
		fputs("} ", print->out);
	}
	print->in_comment = false;
}

static void print_piece(struct print *print, const struct chi_note *note)
{
	char text[CHI_NOTE_TEXT_SIZE];
	print->lines[note->depth].number = true;
	if (note->joined) {
		fputc(' ', print->out);
	} else {
		end_comment(print);
	}
	if (note->kind == CHI_NOTE_TEXT && memchr(note->text, '}', note->len) != NULL) {
		fprintf(print->out, ";%.*s\n", (int)note->len, note->text);
		return;
	}
	if (!note->joined) {
		fputc('{', print->out);
	}
	if (note->kind == CHI_NOTE_TEXT) {
		fwrite(note->text, 1, note->len, print->out);
	} else {
		chi_note_print(note, text);
		fputs(text, print->out);
	}
	print->in_comment = true;
}

static void print_open(struct print *print, size_t depth)
{
	const struct line *outer = &print->lines[depth];
	struct line *line = &print->lines[depth + 1];
	*line = (struct line){
		.before = outer->before,
		.now = outer->before,
		.ply = outer->ply > 0 ? outer->ply - 1 : 0,
		.number = true,
	};
	fputs("( ", print->out);
}

static void print_note(struct print *print, const struct chi_note *note)
{
	if (note->kind == CHI_NOTE_TEXT || note->kind >= CHI_NOTE_CLOCK) {
		print_piece(print, note);
		return;
	}
	end_comment(print);
	print->lines[note->depth].number = true;
	switch (note->kind) {
	case CHI_NOTE_NAG:
		fprintf(print->out, "$%u ", note->nag);
		break;
	case CHI_NOTE_OPEN:
		print_open(print, note->depth);
		break;
	case CHI_NOTE_CLOSE:
		fputs(") ", print->out);
		break;
	case CHI_NOTE_UNREAD:
		/* Not at a line's start, where '%' would begin an escaped line. */
		fprintf(print->out, " %.*s\n", (int)note->len, note->text);
		break;
	default:
		for (size_t i = 0; i < note->n_moves; i++) {
			print_move(print, note->depth, chi_note_move(note, i));
		}
	}
}

static void print_moves(struct print *print)
{
	const struct chi_pgn_game *game = print->game;
	const struct chi_pgn_whole *whole = game->whole;
	struct chi_notes_reader reader =
		chi_notes_reader_of(whole->notes, whole->n_notes, game->n_plies);
	struct chi_note note;
	int status = chi_notes_next(&reader, &note);
	for (size_t ply = 0; ply <= game->n_plies; ply++) {
		while (status == CHI_OK && note.ply == ply) {
			print_note(print, &note);
			status = chi_notes_next(&reader, &note);
		}
		end_comment(print);
		if (ply < game->n_plies) {
			print_move(print, 0, game->moves[ply]);
		}
	}
	if (status != CHI_NONE) {
		fputs("corrupt notes", print->out);
	}
}

static void print_tag(FILE *out, const struct chi_pgn_named *tag)
{
	fprintf(out, "[%s \"", tag->name.text);
	for (const char *at = tag->value.text; *at != '\0'; at++) {
		fprintf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
	}
	fputs("\"]\n", out);
}

char *print_game(const struct chi_pgn_game *game, size_t *len)
{
	static const char *const results[] = {"1-0", "1/2-1/2", "0-1", "*"};
	const struct chi_pgn_whole *whole = game->whole;
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	struct print *print = calloc(1, sizeof(*print));
	*print = (struct print){.out = out, .game = game};
	print->lines[0].before = game->positions[0];
	print->lines[0].now = game->positions[0];
	print->lines[0].number = true;
	for (size_t i = 0; i < whole->n_tags; i++) {
		if (whole->tags[i].tag != CHI_PGN_RESULT) {
			print_tag(out, &whole->tags[i]);
		}
	}
	fprintf(out, "[Result \"%s\"]\n\n", results[game->result]);
	print_moves(print);
	if (whole->n_rest > 0) {
		fprintf(out, " %.*s\n", (int)whole->n_rest, whole->rest);
	}
	fprintf(out, "%s\n\n", results[game->result]);
	fclose(out);
	free(print);
	return text;
}
