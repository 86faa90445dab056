/* SPDX-License-Identifier: MIT */
/* Tokens to games: where a game begins and ends, its moves played, its result. */
#include "chess/pgn/pgn.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/pgn/fork.h"
#include "chess/pgn/keep.h"
#include "chess/pgn/lex.h"
#include "chess/san.h"
#include "chess/pgn/tags.h"
#include "chess/pgn/text.h"

/* A text that stops making sense so soon was no game unless something says that it is one. */
#define PROSE_PLIES 4

/* Of a game: so many comments are kept, of so many bytes together. */
#define COMMENTS_MAX   16384
#define COMMENTS_BYTES (4u << 20)

/* What is not written to takes no memory. */
struct comments {
	size_t n;
	size_t used; /* bytes of `text` */
	struct chi_pgn_comment comment[COMMENTS_MAX];
	char text[COMMENTS_BYTES];
};

/* How far the game being read has come. */
enum stage {
	IDLE,  /* between games */
	TAGS,  /* it has tags */
	MOVES, /* it has moves, or something meant as one; a tag begins the next game */
};

struct chi_pgn {
	struct chi_pgn_game game;
	enum stage stage;
	bool stopped;	/* game.end is set: no more moves are taken */
	bool begun;	/* positions[0] is set */
	bool numbered;	/* its first move has the number 1 */
	bool delivered; /* the game has been handed out */
	size_t n_tags;	/* of the game, of any name */
	uint64_t games;
	struct comments *comments; /* NULL: not wanted */
	struct chi_pgn_keep *keep; /* NULL: not wanted */
	struct chi_position start; /* the initial position of chess */
	/* From here on the big parts, which set themselves up or are written before they are
	 * read. */
	struct chi_pgn_values values;
	struct chi_pgn_lex lex;
	struct chi_pgn_forks forks;
	uint64_t fork_line; /* where the lines parted, and by what */
	char fork_text[CHI_PGN_TEXT_SIZE];
	chi_move moves[CHI_PGN_PLIES_MAX];
	struct chi_position positions[CHI_PGN_PLIES_MAX + 1];
};

/* Forgets the last game. */
static void reset(struct chi_pgn *pgn)
{
	chi_pgn_values_reset(&pgn->values);
	memset(&pgn->game, 0, sizeof(pgn->game));
	pgn->stage = IDLE;
	pgn->n_tags = 0;
	pgn->stopped = false;
	pgn->begun = false;
	pgn->numbered = false;
	pgn->forks.n = 0;
	pgn->delivered = false;
	if (pgn->comments != NULL) {
		pgn->comments->n = 0;
		pgn->comments->used = 0;
	}
	chi_pgn_keep_reset(pgn->keep);
}

void chi_pgn_restart(struct chi_pgn *pgn)
{
	chi_pgn_lex_init(&pgn->lex);
	pgn->lex.comments = pgn->comments != NULL;
	pgn->games = 0;
	reset(pgn);
}

int chi_pgn_new(struct chi_pgn **out)
{
	struct chi_pgn *pgn = malloc(sizeof(*pgn));
	if (pgn == NULL) {
		return -CHI_ENOMEM;
	}
	pgn->comments = NULL;
	pgn->keep = NULL;
	pgn->start = chi_position_initial;
	chi_pgn_restart(pgn);
	*out = pgn;
	return CHI_OK;
}

int chi_pgn_keep_comments(struct chi_pgn *pgn)
{
	pgn->comments = calloc(1, sizeof(*pgn->comments));
	pgn->lex.comments = pgn->comments != NULL;
	return pgn->comments != NULL ? CHI_OK : -CHI_ENOMEM;
}

int chi_pgn_keep_all(struct chi_pgn *pgn)
{
	pgn->keep = chi_pgn_keep_new();
	return pgn->keep != NULL ? CHI_OK : -CHI_ENOMEM;
}

void chi_pgn_free(struct chi_pgn *pgn)
{
	if (pgn != NULL) {
		free(pgn->comments);
		free(pgn->keep);
		free(pgn);
	}
}

size_t chi_pgn_feed(struct chi_pgn *pgn, const void *bytes, size_t len)
{
	if (pgn->keep != NULL && pgn->stage != IDLE) {
		chi_pgn_keep_window(pgn->keep, &pgn->lex);
	}
	return chi_pgn_lex_feed(&pgn->lex, bytes, len);
}

void chi_pgn_finish(struct chi_pgn *pgn)
{
	pgn->lex.final = true;
}

uint64_t chi_pgn_lines(const struct chi_pgn *pgn)
{
	return pgn->lex.lines;
}

/* A game begins with this token, which the lexer has found but may not have consumed. */
static void open_game(struct chi_pgn *pgn, const struct chi_pgn_token *token)
{
	size_t ahead = (size_t)(token->text - (pgn->lex.window + 1));
	pgn->stage = TAGS;
	pgn->game.offset = pgn->lex.dropped + ahead;
	pgn->game.line = pgn->lex.lines + 1;
	pgn->lex.notes = false;
	chi_pgn_keep_begin(pgn->keep, &pgn->lex, token->text);
}

/* No move after this point is taken. */
static void stop(struct chi_pgn *pgn, enum chi_pgn_end end, const char *text, size_t len)
{
	pgn->stopped = true;
	pgn->game.end = end;
	pgn->game.end_line = pgn->lex.lines + 1;
	chi_pgn_quote(text, len, pgn->game.end_text);
}

static void stop_tag(struct chi_pgn *pgn, enum chi_pgn_end end, enum chi_pgn_tag tag)
{
	const struct chi_pgn_span *span = &pgn->values.spans[tag];
	stop(pgn, end, span->text, span->len);
}

/* Reads a FEN's four fields that are the position; the counters, which many writers get wrong,
 * are none of it. */
static int read_start(const struct chi_pgn_span *fen, struct chi_position *out)
{
	size_t len = 0;
	int fields = 0;
	while (len < fen->len && fields < 4) {
		bool blank = fen->text[len] == ' ';
		while (len < fen->len && (fen->text[len] == ' ') == blank) {
			len++;
		}
		fields += !blank;
	}
	return chi_fen_parse(fen->text, len, out, NULL);
}

/* True if there is a FEN tag that says something. */
static bool has_fen(const struct chi_pgn *pgn)
{
	const struct chi_pgn_span *fen = &pgn->values.spans[CHI_PGN_FEN];
	return fen->len > 0 && strcmp(fen->text, "?") != 0 && strcmp(fen->text, "-") != 0;
}

/* Sets the start position by the tags. */
static void begin_moves(struct chi_pgn *pgn)
{
	enum chi_pgn_rules rules = chi_pgn_rules_of(&pgn->values.spans[CHI_PGN_VARIANT]);
	const char *cut = chi_pgn_values_cut(&pgn->values);
	pgn->begun = true;
	pgn->positions[0] = pgn->start;
	if (CHI_UNLIKELY(cut != NULL)) {
		stop(pgn, CHI_PGN_LONG_TAG, cut, strlen(cut));
	} else if (rules == CHI_PGN_RULES_OTHER) {
		stop_tag(pgn, CHI_PGN_OTHER_RULES, CHI_PGN_VARIANT);
	} else if (has_fen(pgn)) {
		if (read_start(&pgn->values.spans[CHI_PGN_FEN], &pgn->positions[0]) != CHI_OK) {
			pgn->positions[0] = pgn->start;
			stop_tag(pgn, CHI_PGN_BAD_START, CHI_PGN_FEN);
		}
	} else if (rules == CHI_PGN_RULES_CHESS960) {
		/* Where such a game began is not known: its moves prove nothing. */
		stop(pgn, CHI_PGN_NO_START, "", 0);
	}
}

static enum chi_result tag_result(const struct chi_pgn *pgn)
{
	const struct chi_pgn_span *span = &pgn->values.spans[CHI_PGN_RESULT];
	enum chi_result result = CHI_RESULT_OTHER;
	char plain[16];
	if (span->len == 0) {
		return CHI_RESULT_OTHER;
	}
	size_t n = chi_pgn_fold(span->text, span->len, plain, sizeof(plain));
	return chi_pgn_is_result(plain, n, &result) ? result : CHI_RESULT_OTHER;
}

/* The rule of chi_pgn_game.result; `said` is the text after the moves. */
static void settle_result(struct chi_pgn *pgn, enum chi_result said)
{
	enum chi_result tag = tag_result(pgn);
	pgn->game.said = said;
	pgn->game.said_line = pgn->lex.lines + 1;
	pgn->game.result = tag != CHI_RESULT_OTHER ? tag : said;
	pgn->game.results_differ = said != CHI_RESULT_OTHER && pgn->game.result != said;
}

/* Ends the game where its lines parted, if they still do. */
static void leave_forks(struct chi_pgn *pgn)
{
	if (pgn->forks.n > 0) {
		pgn->forks.n = 0;
		stop(pgn, CHI_PGN_AMBIGUOUS, pgn->fork_text, strlen(pgn->fork_text));
		pgn->game.end_line = pgn->fork_line;
	}
}

/* Makes the game ready to be handed out. */
static int close_game(struct chi_pgn *pgn, enum chi_result said, const struct chi_pgn_game **out)
{
	struct chi_pgn_game *game = &pgn->game;
	/* A header without moves, too, has a start position, and may be of another variant. */
	if (!pgn->begun) {
		begin_moves(pgn);
	}
	leave_forks(pgn);
	if (chi_pgn_lex_offset(&pgn->lex) - game->offset > CHI_PGN_GAME_MAX) {
		stop(pgn, CHI_PGN_TOO_LONG, "", 0);
		game->n_plies = 0;
	}
	settle_result(pgn, said);
	game->number = ++pgn->games;
	game->has_tags = pgn->n_tags > 0;
	memcpy(game->tags, pgn->values.spans, sizeof(game->tags));
	game->moves = pgn->moves;
	game->positions = pgn->positions;
	if (pgn->comments != NULL) {
		game->comments = pgn->comments->comment;
		game->n_comments = pgn->comments->n;
	}
	if (pgn->keep != NULL) {
		chi_pgn_keep_close(pgn->keep, &pgn->lex, game);
		game->whole = &pgn->keep->whole;
	}
	pgn->delivered = true;
	*out = game;
	return CHI_OK;
}

/* True if the tag does not belong to the game being read. */
static bool begins_game(const struct chi_pgn *pgn, const struct chi_pgn_pair *pair)
{
	if (pgn->stage != TAGS) {
		return pgn->stage == MOVES;
	}
	bool again = pair->tag != CHI_PGN_TAGS && pgn->values.spans[pair->tag].text != NULL;
	if (pair->tag == CHI_PGN_EVENT) {
		return again || (pgn->lex.gap & CHI_PGN_GAP_TEXT) != 0;
	}
	return again && pgn->lex.gap != 0;
}

/* True for an Event tag alone, without a result: writers leave one when they are stopped
 * while appending. */
static bool is_stray(const struct chi_pgn *pgn)
{
	return pgn->stage == TAGS && pgn->n_tags == 1 &&
	       pgn->values.spans[CHI_PGN_EVENT].text != NULL;
}

/* Later tags of a name are dropped: a second White does not make the first one wrong. */
static void add_tag(struct chi_pgn *pgn, const struct chi_pgn_token *token,
		    const struct chi_pgn_pair *pair)
{
	if (pgn->stage == IDLE) {
		open_game(pgn, token);
	}
	pgn->n_tags++;
	if (pair->tag != CHI_PGN_TAGS && pgn->values.spans[pair->tag].text == NULL) {
		chi_pgn_values_add(&pgn->values, pair->tag, pair->value, pair->value_len);
	}
	chi_pgn_keep_tag(pgn->keep, pair);
	chi_pgn_lex_take(&pgn->lex, token, pair->len);
	if (!pgn->lex.notes && !pgn->lex.in_line) {
		chi_pgn_keep_begin(pgn->keep, &pgn->lex, pgn->lex.at);
	}
}

/* Moves so far, also where lines have parted: all have as many. */
static size_t plies(const struct chi_pgn *pgn)
{
	return pgn->game.n_plies + (pgn->forks.n > 0 ? pgn->forks.lines[0].n : 0);
}

/* Plays a legal move after the last. */
static void add_move(struct chi_pgn *pgn, chi_move move)
{
	size_t n = pgn->game.n_plies;
	if (n == CHI_PGN_PLIES_MAX) {
		stop(pgn, CHI_PGN_MANY_PLIES, "", 0);
		return;
	}
	pgn->moves[n] = move;
	chi_position_play(&pgn->positions[n], move, &pgn->positions[n + 1]);
	pgn->game.n_plies = n + 1;
}

/* Takes a word while several lines are followed. */
static void fork_move(struct chi_pgn *pgn, const char *text, size_t len)
{
	bool ok = chi_pgn_forks_play(&pgn->forks, text, len);
	if (!ok || pgn->forks.n == 0) {
		pgn->forks.n = 1;
		leave_forks(pgn);
	} else if (pgn->forks.n == 1) {
		pgn->forks.n = 0;
		const struct chi_pgn_fork *line = &pgn->forks.lines[0];
		for (size_t i = 0; i < line->n && !pgn->stopped; i++) {
			add_move(pgn, line->moves[i]);
		}
	}
}

/* Begins to follow several lines. */
static void begin_forks(struct chi_pgn *pgn, const struct chi_san_found *found, const char *text,
			size_t len)
{
	const struct chi_position *position = &pgn->positions[pgn->game.n_plies];
	if (!chi_pgn_forks_begin(&pgn->forks, position, found)) {
		stop(pgn, CHI_PGN_AMBIGUOUS, text, len);
		return;
	}
	chi_pgn_quote(text, len, pgn->fork_text);
	pgn->fork_line = pgn->lex.lines + 1;
}

/* True for "0-0" in place of a result: both sides lost. */
static bool is_double_loss(const struct chi_pgn *pgn, const char *text, size_t len)
{
	const struct chi_pgn_span *tag = &pgn->values.spans[CHI_PGN_RESULT];
	return len == 3 && memcmp(text, "0-0", 3) == 0 && tag->len == 3 &&
	       memcmp(tag->text, "0-0", 3) == 0;
}

/* What the word is in the game's last position. */
static enum chi_san_verdict judge(struct chi_pgn *pgn, const char *text, size_t len,
				  struct chi_san_found *found)
{
	if (!pgn->begun && pgn->stage == TAGS) {
		begin_moves(pgn);
	}
	if (pgn->stopped) {
		return CHI_SAN_NO_MOVE;
	}
	/* Where the lines have parted, moves differ, but what is none is none in all. */
	const struct chi_position *position = pgn->forks.n > 0 ? &pgn->forks.lines[0].position
					      : pgn->begun     ? &pgn->positions[pgn->game.n_plies]
							       : &pgn->start;
	return chi_san_find(position, text, len, found);
}

/* What writers stick to a move: the result, or a remark. */
struct tail {
	const char *text;
	bool ends; /* the game, with this result */
	enum chi_result result;
};

static const struct tail tails[] = {
	{"1/2-1/2", true, CHI_RESULT_DRAW}, {"1-0", true, CHI_RESULT_WHITE},
	{"0-1", true, CHI_RESULT_BLACK},    {"1/2", true, CHI_RESULT_DRAW},
	{"ep", false, CHI_RESULT_OTHER},    {"ep+", false, CHI_RESULT_OTHER},
	{"ep#", false, CHI_RESULT_OTHER},   {"ch", false, CHI_RESULT_OTHER},
	{"mate", false, CHI_RESULT_OTHER},  {"TN", false, CHI_RESULT_OTHER},
	{"N", false, CHI_RESULT_OTHER},
};

/* A legal move, or one of several. */
static bool is_move(enum chi_san_verdict verdict)
{
	return verdict == CHI_SAN_MOVE || verdict == CHI_SAN_MANY;
}

/* The same of a word that is no move as it is but may be one with something stuck to its end; of a
 * game that has stopped only its end matters. *len becomes the move's. */
static enum chi_san_verdict judge_stuck(struct chi_pgn *pgn, const char *text, size_t *len,
					struct chi_san_found *found, const struct tail **tail)
{
	for (size_t i = 0; i < CHI_COUNT(tails); i++) {
		size_t n = strlen(tails[i].text);
		if (*len < n + 2 || memcmp(text + *len - n, tails[i].text, n) != 0) {
			continue;
		}
		enum chi_san_verdict verdict = judge(pgn, text, *len - n, found);
		if (is_move(verdict) || (pgn->stopped && tails[i].ends)) {
			*len -= n;
			*tail = &tails[i];
			return verdict;
		}
	}
	return CHI_SAN_NO_MOVE;
}

/* Ends the moves before a text that is none. Without tags and number what there is of a game was
 * prose, such as "e4 is best": the word may begin a game. */
static void stop_by_word(struct chi_pgn *pgn, const struct chi_pgn_token *token,
			 enum chi_san_verdict verdict, const char *text, size_t len)
{
	static const enum chi_pgn_end ends[] = {
		[CHI_SAN_NULL] = CHI_PGN_NULL_MOVE,
		[CHI_SAN_NOT_LEGAL] = CHI_PGN_ILLEGAL,
		[CHI_SAN_NO_MOVE] = CHI_PGN_UNREADABLE,
	};
	if (pgn->n_tags == 0 && !pgn->numbered && pgn->game.n_plies < PROSE_PLIES) {
		reset(pgn);
		chi_pgn_lex_unread(&pgn->lex, token);
	} else {
		stop(pgn, ends[verdict], text, len);
	}
}

/* Takes a word as a move; `text` is plain ASCII. True if it ended the game. */
static bool take_move(struct chi_pgn *pgn, const struct chi_pgn_token *token, const char *text,
		      size_t len, enum chi_result *said)
{
	struct chi_san_found found;
	const struct tail *tail = NULL;
	enum chi_san_verdict verdict = judge(pgn, text, len, &found);
	if (CHI_UNLIKELY(verdict == CHI_SAN_NO_MOVE)) {
		verdict = judge_stuck(pgn, text, &len, &found, &tail);
	}
	if (verdict == CHI_SAN_REMARK || (pgn->stage == IDLE && !is_move(verdict))) {
		/* Between games there may be anything: mail headers, prose. */
		pgn->lex.notes = true;
		/* Nor does it begin the moves: tags may follow that say where they begin. */
		pgn->begun = pgn->begun && pgn->stage == MOVES;
		return false;
	}
	if (pgn->stage == IDLE) {
		open_game(pgn, token);
		begin_moves(pgn);
		pgn->numbered = token->first;
	}
	pgn->stage = MOVES;
	if (CHI_UNLIKELY(pgn->keep != NULL)) {
		chi_pgn_keep_word(pgn->keep, &pgn->lex, token->text, plies(pgn), pgn->stopped);
	}
	if (pgn->forks.n > 0) {
		fork_move(pgn, text, len);
	} else if (verdict == CHI_SAN_MOVE) {
		add_move(pgn, found.moves[0]);
	} else if (verdict == CHI_SAN_MANY) {
		begin_forks(pgn, &found, text, len);
	} else if (is_double_loss(pgn, text, len)) {
		chi_pgn_keep_end(pgn->keep, &pgn->lex, token->text);
		return true;
	} else if (!pgn->stopped) {
		stop_by_word(pgn, token, verdict, text, len);
	}
	if (tail != NULL && tail->ends) {
		*said = tail->result;
		chi_pgn_keep_end(pgn->keep, &pgn->lex, token->text + token->len);
		return true;
	}
	return false;
}

/* True if a game without tags has come so far that the number 1 and this word begin another. */
static bool begins_untagged(const struct chi_pgn *pgn, const char *text, size_t len)
{
	struct chi_san_found found;
	return pgn->stage == MOVES && pgn->n_tags == 0 && (pgn->stopped || pgn->game.n_plies > 1) &&
	       is_move(chi_san_find(&pgn->start, text, len, &found));
}

/* True if the word ends the game; `said` is then the result, else it is left alone. */
static bool take_word(struct chi_pgn *pgn, const struct chi_pgn_token *token, enum chi_result *said)
{
	/* Longer than any move or result, so that what is cut is neither. */
	char plain[32];
	const char *text = token->text;
	size_t len = token->len;
	if (CHI_UNLIKELY(token->high)) {
		len = chi_pgn_fold(text, len, plain, sizeof(plain));
		text = plain;
	}
	enum chi_result result = CHI_RESULT_OTHER;
	bool like_result = *text == '*' || (*text >= '0' && *text <= '9');
	if (CHI_UNLIKELY(like_result) && chi_pgn_is_result(text, len, &result)) {
		/* A result between games belongs to none. */
		if (pgn->stage == IDLE) {
			return false;
		}
		*said = result;
		chi_pgn_keep_end(pgn->keep, &pgn->lex, token->text);
		return true;
	}
	if (CHI_UNLIKELY(token->first) && begins_untagged(pgn, text, len)) {
		chi_pgn_lex_unread(&pgn->lex, token);
		return true;
	}
	return take_move(pgn, token, text, len, said);
}

/* Keeps a comment on the last move. */
static void add_comment(struct chi_pgn *pgn, const struct chi_pgn_token *token)
{
	struct comments *kept = pgn->comments;
	if (pgn->stage == IDLE || pgn->stopped || token->len == 0 || kept->n == COMMENTS_MAX ||
	    token->len > sizeof(kept->text) - kept->used) {
		return;
	}
	kept->comment[kept->n++] = (struct chi_pgn_comment){
		.ply = plies(pgn),
		.text = kept->text + kept->used,
		.len = token->len,
	};
	memcpy(kept->text + kept->used, token->text, token->len);
	kept->used += token->len;
}

int chi_pgn_next(struct chi_pgn *pgn, const struct chi_pgn_game **out)
{
	struct chi_pgn_token token;
	struct chi_pgn_pair pair;
	enum chi_result said = CHI_RESULT_OTHER;
	if (pgn->delivered) {
		reset(pgn);
	}
	for (;;) {
		chi_pgn_lex_next(&pgn->lex, &token);
		switch (token.kind) {
		case CHI_PGN_TOKEN_NONE:
			if (!pgn->lex.final || pgn->stage == IDLE || is_stray(pgn)) {
				return CHI_NONE;
			}
			return close_game(pgn, said, out);
		case CHI_PGN_TOKEN_TAG:
			chi_pgn_tag_read(token.text, token.len, &pair);
			if (begins_game(pgn, &pair)) {
				/* Not consumed: the next call finds it again. */
				if (!is_stray(pgn)) {
					return close_game(pgn, said, out);
				}
				reset(pgn);
			}
			add_tag(pgn, &token, &pair);
			break;
		case CHI_PGN_TOKEN_WORD:
			if (take_word(pgn, &token, &said)) {
				return close_game(pgn, said, out);
			}
			break;
		case CHI_PGN_TOKEN_COMMENT:
			add_comment(pgn, &token);
			break;
		default: /* unclosed; the others are of rich lexers */
			if (pgn->stage != IDLE && !pgn->stopped) {
				if (!pgn->begun) {
					begin_moves(pgn);
				}
				leave_forks(pgn);
			}
			if (pgn->stage != IDLE && !pgn->stopped) {
				stop(pgn, CHI_PGN_UNCLOSED, token.text, token.len);
			}
			break;
		}
	}
}
