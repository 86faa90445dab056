/* SPDX-License-Identifier: MIT */
/* The game's own annotations, and ours among them. */
#include "cli/work/review.h"

#include <stdlib.h>
#include <string.h>

#include "chess/movegen.h"
#include "chess/pgn/notes.h"

#define REMARKS_MAX 600 /* bytes of notes that one move gets */
/* A comment with its times and evaluations spelt out; a longer one becomes two. */
#define GATHERED_MAX (2u * CHI_PGN_NOTES_MAX)

struct merge {
	struct review *review;
	struct chi_notes_writer writer;
	struct chi_notes_reader reader;
	struct chi_note note; /* the game's next, */
	int status;	      /* if this is CHI_OK */
	char *comment;	      /* of the game, being copied */
	size_t n_comment;
};

static void end_comment(struct merge *merge, size_t ply)
{
	if (merge->n_comment > 0) {
		chi_notes_comment(&merge->writer, ply, merge->comment, merge->n_comment);
		merge->n_comment = 0;
	}
}

/* A piece of a comment: joined, it goes on with the piece before. */
static void copy_piece(struct merge *merge)
{
	char print[CHI_NOTE_TEXT_SIZE];
	const struct chi_note *note = &merge->note;
	const char *text = note->text;
	size_t len = note->len;
	if (note->kind != CHI_NOTE_TEXT) {
		len = chi_note_print(note, print);
		text = print;
	}
	if (!note->joined || len >= GATHERED_MAX - merge->n_comment) {
		end_comment(merge, note->ply);
	}
	if (merge->n_comment > 0) {
		merge->comment[merge->n_comment++] = ' ';
	}
	memcpy(merge->comment + merge->n_comment, text, len);
	merge->n_comment += len;
}

static void copy_note(struct merge *merge)
{
	struct chi_notes_writer *writer = &merge->writer;
	const struct chi_note *note = &merge->note;
	if (note->kind == CHI_NOTE_TEXT || note->kind >= CHI_NOTE_CLOCK) {
		copy_piece(merge);
		return;
	}
	end_comment(merge, note->ply);
	switch (note->kind) {
	case CHI_NOTE_NAG:
		chi_notes_nag(writer, note->ply, note->nag);
		break;
	case CHI_NOTE_OPEN:
		chi_notes_open(writer, note->ply);
		break;
	case CHI_NOTE_CLOSE:
		chi_notes_close(writer);
		break;
	case CHI_NOTE_UNREAD:
		chi_notes_unread(writer, note->text, note->len);
		break;
	default:
		for (size_t i = 0; i < note->n_moves; i++) {
			chi_notes_move(writer, chi_note_move(note, i));
		}
	}
}

static void copy_notes(struct merge *merge, size_t ply)
{
	while (merge->status == CHI_OK && merge->note.ply == ply) {
		copy_note(merge);
		merge->status = chi_notes_next(&merge->reader, &merge->note);
	}
	end_comment(merge, ply);
}

/* The evaluation's moves, as far as they are legal. */
static void put_variation(struct merge *merge, size_t i)
{
	const struct known *known = &merge->review->known[i];
	struct chi_position now = merge->review->game->positions[i];
	chi_notes_open(&merge->writer, i + 1);
	for (size_t j = 0; j < known->n_pv && chi_movegen_is_legal(&now, known->pv[j]); j++) {
		struct chi_position next;
		chi_notes_move(&merge->writer, known->pv[j]);
		chi_position_play(&now, known->pv[j], &next);
		now = next;
	}
	chi_notes_close(&merge->writer);
}

static void put_move(struct merge *merge, size_t i)
{
	const struct remark *remark = &merge->review->remarks[i];
	if (remark->nag != 0) {
		chi_notes_nag(&merge->writer, i + 1, remark->nag);
	}
	copy_notes(merge, i + 1);
	if (remark->len > 0) {
		chi_notes_comment(&merge->writer, i + 1, remark->text, remark->len);
	}
	if (remark->variation) {
		put_variation(merge, i);
	}
}

bool review_annotate(struct review *review)
{
	const struct chi_pgn_game *game = review->game;
	const struct chi_pgn_whole *whole = game->whole;
	size_t room = 2 * whole->n_notes + REMARKS_MAX * (game->n_plies + 1);
	struct merge merge = {.review = review, .comment = malloc(GATHERED_MAX)};
	free(review->notes);
	review->notes = malloc(room);
	bool ok = merge.comment != NULL && review->notes != NULL;
	if (ok) {
		merge.writer = chi_notes_writer_of(review->notes, room);
		merge.reader = chi_notes_reader_of(whole->notes, whole->n_notes, game->n_plies);
		merge.status = chi_notes_next(&merge.reader, &merge.note);
		copy_notes(&merge, 0);
		for (size_t i = 0; i < game->n_plies; i++) {
			put_move(&merge, i);
		}
		review->n_notes = merge.writer.n;
	}
	free(merge.comment);
	return ok;
}
