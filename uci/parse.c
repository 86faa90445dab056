/* SPDX-License-Identifier: MIT */
/* What follows the words `position` and `go`. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"
#include "chess/fen.h"
#include "chess/notation.h"
#include "uci/say.h"
#include "uci/session_priv.h"

char *chi_next_word(char **at)
{
	char *word = *at + strspn(*at, CHI_BLANKS);
	if (*word == '\0') {
		return NULL;
	}
	char *end = word + strcspn(word, CHI_BLANKS);
	*at = *end == '\0' ? end : end + 1;
	*end = '\0';
	return word;
}

/* ---- position ------------------------------------------------------------------------------ */

/* "fen" and what follows up to "moves"; the clock is the fifth field. */
static int take_fen(char **at, struct chi_position *start, unsigned *clock, struct chi_fault *fault)
{
	char fen[CHI_FEN_INPUT_MAX + 1] = "";
	char *word;
	size_t len = 0;
	for (int field = 0; field < 6; field++) {
		char *before = *at;
		word = chi_next_word(at);
		if (word == NULL || strcmp(word, "moves") == 0) {
			if (word != NULL) {
				word[5] = **at == '\0' ? '\0' : ' ';
				*at = before;
			}
			break;
		}
		size_t n = strlen(word);
		if (len + n + 1 >= sizeof(fen)) {
			return chi_fail(fault, -CHI_EFEN, "the FEN is too long");
		}
		memcpy(fen + len, word, n);
		len += n;
		fen[len++] = ' ';
		uint64_t value;
		if (field == 4 && chi_num_u64(word, n, 1000, &value) == CHI_OK) {
			*clock = (unsigned)value;
		}
	}
	return chi_fen_parse(fen, len, start, fault);
}

static int take_moves(char **at, const struct chi_position *start, chi_move *moves, size_t *n,
		      struct chi_fault *fault)
{
	struct chi_position p = *start;
	struct chi_position next;
	char *word;
	while ((word = chi_next_word(at)) != NULL) {
		if (*n == CHI_GAME_PLIES_MAX) {
			return chi_fail(fault, -CHI_ETOOBIG, "more than %d moves",
					CHI_GAME_PLIES_MAX);
		}
		int rc = chi_uci_parse(&p, word, strlen(word), &moves[*n], fault);
		if (rc != CHI_OK) {
			return rc;
		}
		chi_position_play(&p, moves[(*n)++], &next);
		p = next;
	}
	return CHI_OK;
}

int chi_parse_position(struct chi_session *session, char *at, struct chi_fault *fault)
{
	struct chi_position start;
	unsigned clock = 0;
	size_t n = 0;
	char *word = chi_next_word(&at);
	bool fen = word != NULL && strcmp(word, "fen") == 0;
	if (!fen && (word == NULL || strcmp(word, "startpos") != 0)) {
		return chi_fail(fault, -CHI_EFEN, "startpos or fen is missing");
	}
	int rc = fen ? take_fen(&at, &start, &clock, fault)
		     : chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &start, fault);
	if (rc == CHI_OK && (chi_position_king(&start, CHI_WHITE) == CHI_NO_SQUARE ||
			     chi_position_king(&start, CHI_BLACK) == CHI_NO_SQUARE ||
			     chi_position_in_check(&start, start.side ^ 1))) {
		rc = chi_fail(fault, -CHI_EFEN, "a king is missing, or may be taken");
	}
	word = rc == CHI_OK ? chi_next_word(&at) : NULL;
	if (word != NULL && strcmp(word, "moves") != 0) {
		rc = chi_fail(fault, -CHI_EFEN, "'%.40s' instead of moves", word);
	}
	chi_move *moves = calloc(CHI_GAME_PLIES_MAX, sizeof(*moves));
	if (moves == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	rc = rc == CHI_OK && word != NULL ? take_moves(&at, &start, moves, &n, fault) : rc;
	if (rc == CHI_OK) {
		chi_engine_set(session->engine, &start, clock, moves, n);
		session->ply = (unsigned)n;
	}
	free(moves);
	return rc;
}

/* ---- go ------------------------------------------------------------------------------------ */

struct number {
	const char *word;
	bool bounds; /* without one of these it is an infinite search; 0 is taken as 1 */
	uint64_t *value;
};

static void take_searched(struct chi_session *session, const char *word)
{
	const struct chi_position *p = chi_engine_position(session->engine);
	struct chi_engine_limits *limits = &session->limits;
	chi_move move;
	if (limits->n_moves == CHI_LEGAL_MAX ||
	    chi_uci_parse(p, word, strlen(word), &move, NULL) != CHI_OK) {
		chi_session_say("go: searchmoves: %.40s is left out", word);
		return;
	}
	session->searched[limits->n_moves++] = move;
	limits->moves = session->searched;
}

static void take_uci_number(const struct number *number, char **at)
{
	char *word = chi_next_word(at);
	bool minus = word != NULL && word[0] == '-';
	uint64_t value;
	if (word == NULL ||
	    chi_num_u64(word + minus, strlen(word + minus), UINT32_MAX, &value) != CHI_OK) {
		chi_session_say("go: %s is a number, not '%.40s'", number->word,
				word != NULL ? word : "");
		return;
	}
	/* A clock may have run out. */
	*number->value = minus || value == 0 ? number->bounds : value;
}

void chi_parse_go(struct chi_session *session, char *at)
{
	struct chi_engine_limits *limits = &session->limits;
	bool white = chi_engine_position(session->engine)->side == CHI_WHITE;
	uint64_t depth = 0;
	uint64_t mate = 0;
	uint64_t to_go = 0;
	uint64_t clocks[2] = {0, 0}; /* the own, the other's */
	uint64_t others_bonus = 0;
	const struct number numbers[] = {
		{"depth", true, &depth},
		{"nodes", true, &limits->nodes},
		{"movetime", true, &limits->move_ms},
		{"mate", true, &mate},
		{"wtime", true, &clocks[!white]},
		{"btime", true, &clocks[white]},
		{"movestogo", false, &to_go},
		{"winc", false, white ? &limits->bonus_ms : &others_bonus},
		{"binc", false, white ? &others_bonus : &limits->bonus_ms},
	};
	bool among_moves = false;
	char *word;
	while ((word = chi_next_word(&at)) != NULL) {
		size_t i = 0;
		while (i < CHI_COUNT(numbers) && strcmp(word, numbers[i].word) != 0) {
			i++;
		}
		if (i < CHI_COUNT(numbers)) {
			take_uci_number(&numbers[i], &at);
		} else if (strcmp(word, "infinite") == 0) {
			limits->infinite = true;
		} else if (strcmp(word, "ponder") == 0) {
			limits->ponder = true;
		} else if (strcmp(word, "searchmoves") == 0) {
			among_moves = true;
		} else if (among_moves) {
			take_searched(session, word);
		}
	}
	limits->depth = (unsigned)depth;
	limits->mate = mate > CHI_PLIES_MAX ? CHI_PLIES_MAX : (unsigned)mate;
	limits->to_go = (unsigned)to_go;
	limits->clock_ms = clocks[0] != 0 ? clocks[0] : clocks[1];
	bool bounded = depth != 0 || mate != 0 || limits->nodes != 0 || limits->move_ms != 0 ||
		       limits->clock_ms != 0;
	limits->infinite = limits->infinite || !bounded;
}
