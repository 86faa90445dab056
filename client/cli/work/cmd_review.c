/* SPDX-License-Identifier: MIT */
/*
 * chistore review: one's games with remarks of the store, as PGN: where a game leaves what was
 * played, which moves cost much by the stored evaluations, and what was better.
 *
 * All positions of a game are asked for in two calls, so that a server is as near as a directory.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/names/fits.h"
#include "chess/notation.h"
#include "chess/pgn/notes.h"
#include "chess/pgn/pgn.h"
#include "chess/pgn/write.h"
#include "client/cli/command.h"
#include "client/cli/in/files.h"

#define POSITIONS    (CHI_PGN_PLIES_MAX + 1)
#define SHOWN	     3	  /* moves named where a game leaves the book */
#define VARIATION    8	  /* moves of a better line */
#define VALUE_CP     1500 /* evaluations beyond it are won, whatever they are */
#define VALUE_MATE   2000
#define RESULTS_MIN  10	 /* games of a move whose results say something */
#define RESULTS_GAIN 10	 /* points of a hundred, for a better move by results */
#define REMARKS_MAX  600 /* bytes of notes that one move gets */
#define COMMENT_MAX  400
/* A comment with its times and evaluations spelt out; a longer one becomes two. */
#define GATHERED_MAX (2u * CHI_PGN_NOTES_MAX)
#define PGN_MAX	     (256u << 20) /* of a game written */

struct review_state {
	const char *player;
	uint64_t swing;
	uint64_t min_games;
};

static const struct review_state defaults = {.swing = 50, .min_games = 1};

/* A move by its results. */
struct played {
	chi_move move;
	uint64_t games;
	unsigned share; /* of the points, for who moves, in percent */
};

/* What the store knows of a position of the game. */
struct known {
	struct played move; /* the game's */
	struct played most[SHOWN];
	size_t n_most;
	struct played better; /* of the best results */
	chi_move pv[VARIATION];
	size_t n_pv;
};

struct review {
	struct cli *cli;
	struct chi_pgn *pgn;
	const struct chi_pgn_game *game; /* at hand; the arrays are of its positions */
	struct chi_key *keys;
	struct chi_row *rows;
	struct known *known;
	struct chi_buffer out;
	uint8_t *notes;
	char *comment; /* of the game, being copied */
	size_t n_comment;
	uint64_t games; /* of the file */
};

static void review_deinit(struct review *review)
{
	chi_pgn_free(review->pgn);
	free(review->keys);
	free(review->rows);
	free(review->known);
	free(review->notes);
	free(review->comment);
	chi_buffer_deinit(&review->out);
}

static bool review_init(struct review *review, struct cli *cli)
{
	*review = (struct review){.cli = cli};
	chi_buffer_init(&review->out, PGN_MAX);
	review->keys = calloc(POSITIONS, sizeof(*review->keys));
	review->rows = calloc(POSITIONS, sizeof(*review->rows));
	review->known = calloc(POSITIONS, sizeof(*review->known));
	review->comment = malloc(GATHERED_MAX);
	return review->keys != NULL && review->rows != NULL && review->known != NULL &&
	       review->comment != NULL && chi_pgn_new(&review->pgn) == CHI_OK &&
	       chi_pgn_keep_all(review->pgn) == CHI_OK;
}

/* ---- What the store knows ------------------------------------------------------------------ */

static struct played played_of(const struct chi_move_stat *stat, int side)
{
	const struct chi_counts *counts = &stat->counts;
	uint64_t decided = counts->white + counts->draws + counts->black;
	uint64_t won = side == CHI_WHITE ? counts->white : counts->black;
	return (struct played){
		.move = stat->move,
		.games = decided + counts->other,
		.share = decided > 0 ? (unsigned)((200 * won + 100 * counts->draws) / decided / 2)
				     : 0,
	};
}

static void add_most(struct known *known, struct played played)
{
	for (size_t i = 0; i < SHOWN; i++) {
		if (i == known->n_most) {
			known->most[known->n_most++] = played;
			return;
		}
		if (played.games > known->most[i].games) {
			struct played other = known->most[i];
			known->most[i] = played;
			played = other;
		}
	}
}

/* The moves of the evaluation that the row tells of. */
static void take_pv(struct known *known, const struct chi_row *row, const struct chi_record *record)
{
	for (size_t i = 0; row->has_eval && known->n_pv == 0 && i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		if (eval->rank == 0 && eval->depth == row->depth && eval->score == row->score &&
		    eval->n_pv > 0 && eval->pv[0] == row->best) {
			known->n_pv = eval->n_pv < VARIATION ? eval->n_pv : VARIATION;
			memcpy(known->pv, eval->pv, known->n_pv * sizeof(*known->pv));
		}
	}
}

static int take_record(void *context, size_t i, const struct chi_record *record)
{
	struct review *review = context;
	const struct review_state *state = review->cli->state;
	const struct chi_pgn_game *game = review->game;
	struct known *known = &review->known[i];
	*known = (struct known){.n_most = 0};
	for (size_t j = 0; record != NULL && j < record->n_moves; j++) {
		struct played played = played_of(&record->moves[j], game->positions[i].side);
		if (played.games < state->min_games) {
			continue;
		}
		add_most(known, played);
		if (i < game->n_plies && played.move == game->moves[i]) {
			known->move = played;
		}
		if (played.games >= RESULTS_MIN && played.share > known->better.share) {
			known->better = played;
		}
	}
	if (record != NULL) {
		take_pv(known, &review->rows[i], record);
	}
	return CHI_OK;
}

static int ask(struct review *review)
{
	const struct chi_pgn_game *game = review->game;
	struct chi_client *client = review->cli->client;
	size_t n = game->n_plies + 1;
	for (size_t i = 0; i < n; i++) {
		chi_key_encode(&game->positions[i], &review->keys[i]);
	}
	int status = chi_probe(client, review->keys, n, review->rows);
	return status == CHI_OK ? chi_get_many(client, review->keys, n, take_record, review)
				: status;
}

/* ---- Remarks ------------------------------------------------------------------------------- */

/* What is found about a move. */
struct remark {
	uint32_t nag; /* 0: none */
	char text[COMMENT_MAX];
	size_t len;
	bool variation; /* the evaluation's own moves are better */
};

static CHI_PRINTF(2, 3) void say(struct remark *remark, const char *format, ...)
{
	va_list arguments;
	size_t room = sizeof(remark->text) - remark->len;
	va_start(arguments, format);
	int n = vsnprintf(remark->text + remark->len, room, format, arguments);
	va_end(arguments);
	remark->len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void say_move(struct remark *remark, const struct chi_position *position, chi_move move)
{
	char san[CHI_SAN_SIZE] = "";
	if (chi_movegen_is_legal(position, move)) {
		(void)chi_san_print(position, move, san);
	}
	say(remark, "%s", san);
}

/* White's view: "+0.31", "#-3". */
static void say_score(struct remark *remark, const struct chi_row *row, int side)
{
	int score = side == CHI_WHITE ? row->score : -row->score;
	if (row->is_mate) {
		say(remark, "#%d", score);
	} else {
		say(remark, "%c%d.%02d", score < 0 ? '-' : '+', abs(score) / 100, abs(score) % 100);
	}
}

static int value_of(const struct chi_row *row)
{
	if (row->is_mate) {
		return row->score > 0 ? VALUE_MATE : -VALUE_MATE;
	}
	return row->score > VALUE_CP ? VALUE_CP : row->score < -VALUE_CP ? -VALUE_CP : row->score;
}

static void judge_swing(const struct review *review, size_t i, struct remark *remark)
{
	const struct review_state *state = review->cli->state;
	const struct chi_position *position = &review->game->positions[i];
	const struct chi_row *before = &review->rows[i];
	const struct chi_row *after = before + 1;
	const struct known *known = &review->known[i];
	chi_move move = review->game->moves[i];
	if (!before->has_eval || !after->has_eval || (known->n_pv > 0 && known->pv[0] == move)) {
		return;
	}
	int lost = value_of(before) + value_of(after);
	int swing = (int)state->swing;
	if (lost < swing) {
		return;
	}
	remark->nag = lost >= 4 * swing ? 4 : lost >= 2 * swing ? 2 : 6;
	say(remark, "%sfrom ", remark->len > 0 ? "; " : "");
	say_score(remark, before, position->side);
	say(remark, " to ");
	say_score(remark, after, position->side ^ 1);
	if (known->n_pv > 0 && chi_movegen_is_legal(position, known->pv[0])) {
		say(remark, "; better: ");
		say_move(remark, position, known->pv[0]);
		remark->variation = true;
	}
}

static void judge_results(const struct review *review, size_t i, struct remark *remark)
{
	const struct chi_position *position = &review->game->positions[i];
	const struct known *known = &review->known[i];
	if (remark->nag != 0 || known->move.games < RESULTS_MIN ||
	    known->better.share < known->move.share + RESULTS_GAIN) {
		return;
	}
	say(remark, "%sbetter results: ", remark->len > 0 ? "; " : "");
	say_move(remark, position, known->better.move);
	say(remark, " %u%% of %" PRIu64 " games, this move %u%% of %" PRIu64, known->better.share,
	    known->better.games, known->move.share, known->move.games);
}

static void leave_book(const struct review *review, size_t i, struct remark *remark)
{
	const struct known *known = &review->known[i];
	say(remark, "out of book");
	for (size_t j = 0; j < known->n_most; j++) {
		say(remark, "%s ", j == 0 ? "; played here:" : ",");
		say_move(remark, &review->game->positions[i], known->most[j].move);
		say(remark, " %" PRIu64, known->most[j].games);
	}
}

static bool is_judged(const struct review *review, size_t i)
{
	const struct review_state *state = review->cli->state;
	const struct chi_pgn_game *game = review->game;
	bool white = game->positions[i].side == CHI_WHITE;
	const char *name = game->tags[white ? CHI_PGN_WHITE : CHI_PGN_BLACK].text;
	return state->player == NULL || (name != NULL && chi_player_fits(state->player, name));
}

/* ---- The game's notes, and ours among them ------------------------------------------------- */

struct merge {
	struct review *review;
	struct chi_notes_writer writer;
	struct chi_notes_reader reader;
	struct chi_note note; /* the game's next, */
	int status;	      /* if this is CHI_OK */
};

static void end_comment(struct merge *merge, size_t ply)
{
	struct review *review = merge->review;
	if (review->n_comment > 0) {
		chi_notes_comment(&merge->writer, ply, review->comment, review->n_comment);
		review->n_comment = 0;
	}
}

/* A piece of a comment: joined, it goes on with the piece before. */
static void copy_piece(struct merge *merge)
{
	char print[CHI_NOTE_TEXT_SIZE];
	struct review *review = merge->review;
	const struct chi_note *note = &merge->note;
	const char *text = note->text;
	size_t len = note->len;
	if (note->kind != CHI_NOTE_TEXT) {
		len = chi_note_print(note, print);
		text = print;
	}
	if (!note->joined || len >= GATHERED_MAX - review->n_comment) {
		end_comment(merge, note->ply);
	}
	if (review->n_comment > 0) {
		review->comment[review->n_comment++] = ' ';
	}
	memcpy(review->comment + review->n_comment, text, len);
	review->n_comment += len;
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

/* Move `i` with its remarks; *book: no move before it left the book. */
static void put_move(struct merge *merge, size_t i, bool *book)
{
	struct review *review = merge->review;
	struct remark remark = {.len = 0};
	if (*book && review->known[i].move.games == 0) {
		leave_book(review, i, &remark);
		*book = false;
	}
	if (is_judged(review, i)) {
		judge_swing(review, i, &remark);
		judge_results(review, i, &remark);
	}
	if (remark.nag != 0) {
		chi_notes_nag(&merge->writer, i + 1, remark.nag);
	}
	copy_notes(merge, i + 1);
	if (remark.len > 0) {
		chi_notes_comment(&merge->writer, i + 1, remark.text, remark.len);
	}
	if (remark.variation) {
		put_variation(merge, i);
	}
}

/* All notes of the game; *len: their bytes. False: no memory. */
static bool merge_notes(struct review *review, size_t *len)
{
	const struct chi_pgn_game *game = review->game;
	const struct chi_pgn_whole *whole = game->whole;
	size_t room = 2 * whole->n_notes + REMARKS_MAX * (game->n_plies + 1);
	bool book = true;
	free(review->notes);
	review->notes = malloc(room);
	if (review->notes == NULL) {
		return false;
	}
	struct merge merge = {
		.review = review,
		.writer = chi_notes_writer_of(review->notes, room),
		.reader = chi_notes_reader_of(whole->notes, whole->n_notes, game->n_plies),
	};
	merge.status = chi_notes_next(&merge.reader, &merge.note);
	copy_notes(&merge, 0);
	for (size_t i = 0; i < game->n_plies; i++) {
		put_move(&merge, i, &book);
	}
	*len = merge.writer.n;
	return true;
}

/* ---- Games --------------------------------------------------------------------------------- */

static int write_game(struct review *review, size_t n_notes)
{
	const struct chi_pgn_game *game = review->game;
	const struct chi_pgn_whole *whole = game->whole;
	struct chi_tag tags[CHI_PGN_ALL_TAGS_MAX];
	struct chi_game out = {
		.head = {.result = (uint8_t)game->result},
		.tags = tags,
		.n_tags = whole->n_tags,
		.start = review->keys[0],
		.moves = game->moves,
		.n_plies = game->n_plies,
		.notes = review->notes,
		.n_notes = n_notes,
		.rest = whole->rest,
		.n_rest = whole->n_rest,
	};
	struct chi_key initial;
	chi_key_encode(&chi_position_initial, &initial);
	out.has_start = memcmp(&initial, &out.start, sizeof(initial)) != 0;
	for (size_t i = 0; i < whole->n_tags; i++) {
		const struct chi_pgn_named *tag = &whole->tags[i];
		tags[i] = (struct chi_tag){tag->name.text, tag->name.len, tag->value.text,
					   tag->value.len};
	}
	chi_buffer_consume(&review->out, review->out.len);
	int status = chi_pgn_write(&out, &review->out);
	if (status != CHI_OK) {
		cli_message("cannot write game %" PRIu64 " (%s)", game->number,
			    chi_strerror(status));
		return EXIT_STORE;
	}
	(void)fwrite(chi_buffer_bytes(&review->out), 1, review->out.len, stdout);
	return EXIT_DONE;
}

static int review_game(struct review *review, const char *path)
{
	const struct chi_pgn_game *game = review->game;
	size_t n_notes = 0;
	review->games++;
	if (game->end != CHI_PGN_COMPLETE) {
		cli_message("%s:%" PRIu64 ": game %" PRIu64 " cannot be read after %zu moves", path,
			    game->end_line, game->number, game->n_plies);
	}
	int status = ask(review);
	if (status < 0) {
		return cli_fail(review->cli->client, status);
	}
	return merge_notes(review, &n_notes) ? write_game(review, n_notes) : cli_no_memory();
}

static int review_ready(struct review *review, const char *path)
{
	int code = EXIT_DONE;
	while (code == EXIT_DONE && !cli_output_failed() &&
	       chi_pgn_next(review->pgn, &review->game) == CHI_OK) {
		code = review_game(review, path);
	}
	return code;
}

static void source_closep(struct chi_source **source)
{
	chi_source_close(*source);
}

static int review_file(struct review *review, const char *path)
{
	_cleanup_(source_closep) struct chi_source *source = NULL;
	struct chi_fault fault = {.text = ""};
	const char *bytes = NULL;
	size_t len = 0;
	int code = EXIT_DONE;
	review->games = 0;
	chi_pgn_restart(review->pgn);
	int status = chi_source_open(path, NULL, &source, &fault);
	while (status == CHI_OK && code == EXIT_DONE) {
		status = chi_source_read(source, &bytes, &len, &fault);
		while (status == CHI_OK && code == EXIT_DONE && len > 0) {
			size_t taken = chi_pgn_feed(review->pgn, bytes, len);
			bytes += taken;
			len -= taken;
			code = review_ready(review, path);
		}
	}
	if (status < 0) {
		cli_message("%s: %s", path, fault.text);
		return files_exit_of(status);
	}
	if (code == EXIT_DONE) {
		chi_pgn_finish(review->pgn);
		code = review_ready(review, path);
	}
	return code == EXIT_DONE && review->games == 0
		       ? cli_usage(review->cli, "%s: there is no game in it", path)
		       : code;
}

static int run(struct cli *cli)
{
	_cleanup_(review_deinit) struct review review;
	uint64_t total = 0;
	int code = EXIT_DONE;
	if (!review_init(&review, cli)) {
		return cli_no_memory();
	}
	if (cli->json) {
		return cli_usage(cli, "what it prints is PGN, not JSON");
	}
	code = files_check(cli, cli->argc, cli->argv, &total);
	for (int i = 0; i < cli->argc && code == EXIT_DONE && !cli_output_failed(); i++) {
		code = review_file(&review, cli->argv[i]);
	}
	return code;
}

static const struct cli_option options[] = {
	OPTION_TEXT(review_state, player, "player", "NAME", "judge the moves of this player alone"),
	OPTION_NUMBER(review_state, swing, 1, VALUE_CP, "swing", "CENTIPAWNS",
		      "tell moves that lose so much (default: 50)"),
	OPTION_NUMBER(review_state, min_games, 1, UINT32_MAX, "min-games", "N",
		      "a move of fewer games is not of the book (default: 1)"),
	OPTIONS_END,
};

const struct command cmd_review = {
	.name = "review",
	.arguments = "GAMES.pgn...",
	.summary = "print one's games with remarks of the store",
	.help = "Prints the games of PGN files, - for standard input, with remarks:\n"
		"  out of book      the first move that no game of the store played, and those "
		"that\n"
		"                   were played most instead\n"
		"  ?!, ?, ??        ($6, $2, $4) moves that by the stored evaluations before and\n"
		"                   after them lose --swing, twice and four times as much; both\n"
		"                   evaluations from White's view, and what was better as a "
		"variation\n"
		"  better results   another move of 10 games or more that made 10 points of a "
		"hundred\n"
		"                   more\n"
		"Nothing is searched or stored: 'analyse' fills in evaluations. The games' own "
		"tags,\n"
		"comments and variations stay. If the games are in the store themselves, "
		"--min-games\n"
		"2 is what others played.",
	.example = "chistore -a ./positions review my-games.pgn\n"
		   "chistore -a ./positions review --player Anand --swing 100 my-games.pgn",
	.options = options,
	.args_min = 1,
	.args_max = -1,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct review_state),
	.defaults = &defaults,
	.run = run,
};
