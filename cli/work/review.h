/* SPDX-License-Identifier: MIT */
/*
 * The review of a game: what the store, and an engine, know of its positions (review_ask.c,
 * review_engine.c), where it was new (review_novelty.c), what is remarked of its moves
 * (review_remarks.c), and the remarks as annotations of the game (review_notes.c) and as positions
 * to be trained (review_missed.c).
 */
#pragma once

#include "chess/pgn/pgn.h"
#include "cli/cli.h"
#include "cli/out/progress.h"
#include "cli/out/target.h"
#include "cli/work/engine.h"

#define REVIEW_POSITIONS (CHI_PGN_PLIES_MAX + 1)
#define REVIEW_SHOWN	 3 /* moves named where a game leaves the book */
#define REVIEW_VARIATION 8 /* moves of a better line */
#define REVIEW_COMMENT	 400

struct review_state {
	const char *player;
	uint64_t swing;
	uint64_t min_games;
	const char *missed; /* a file, or NULL */
	const char *engine; /* its command, or NULL */
	const char *options;
	struct engine_limits limits;
	uint64_t patience; /* seconds */
};

/* A move by its results. */
struct played {
	chi_move move;
	uint64_t games;
	unsigned share; /* of the points, for who moves, in percent */
};

/* What the store knows of a position of the game. */
struct known {
	struct played move; /* the game's */
	struct played most[REVIEW_SHOWN];
	size_t n_most;
	struct played better; /* of the best results */
	chi_move pv[REVIEW_VARIATION];
	size_t n_pv;
};

/* What is found about a move. */
struct remark {
	uint32_t nag; /* 0: none */
	char text[REVIEW_COMMENT];
	size_t len;
	size_t swing;	/* where in the text the evaluations begin; they end before `better` */
	size_t better;	/* where it says what was better */
	bool variation; /* the evaluation's own moves are better */
};

struct review {
	struct cli *cli;
	const struct review_state *state;
	struct chi_pgn *pgn;
	const struct chi_pgn_game *game; /* at hand; the arrays are of its positions, or moves */
	struct chi_key *keys;
	struct chi_row *rows;
	struct known *known;
	struct remark *remarks;
	uint8_t *notes;
	size_t n_notes;
	bool has_games; /* the store has the games of each position */
	bool is_new;	/* no earlier game played the move from position `new_at`, */
	size_t new_at;
	uint64_t n_before;    /* which so many earlier games reached; */
	struct played before; /* most of them played this; move 0: all ended there */
	struct engine engine;
	struct progress progress;
	uint64_t searched;
	struct target missed;
	uint64_t n_missed;
};

/* Whether the move from position `i` is one to be judged. */
bool review_judges(const struct review *review, size_t i);

/* Fills keys, rows and known. A status of the library. */
CHI_MUSTUSE int review_ask(struct review *review);

/* After that, finds the first new move of the game. A status of the library. */
CHI_MUSTUSE int review_find_new(struct review *review);

/* A move's results for the side that plays it. */
struct played review_played(chi_move move, const struct chi_counts *counts, int side);

/* Has positions before and after judged moves searched of which too little is known, and stores
 * what is found. Returns an exit code. */
int review_search(struct review *review);

/* Fills the remarks. */
void review_remark(struct review *review);

/* Merges them into the game's annotations: review->notes. False: no memory. */
bool review_annotate(struct review *review);

/* Writes positions whose moves lost much to review->missed. Returns an exit code. */
int review_write_missed(struct review *review);
