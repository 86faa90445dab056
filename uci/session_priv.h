/* SPDX-License-Identifier: MIT */
/*
 * The state of a conversation. Private to the room.
 *
 * Two threads: one reads the GUI's lines (session.c) and never waits for anything; the other obeys
 * them in their order (life.c, obey.c), searches, and is the only one that deals with the child and
 * the store. What cannot wait for its turn (`stop`, `ponderhit`, `quit`) is noted by the number of
 * the last `go` that it is meant for, since that may wait itself.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "uci/options.h"
#include "uci/search/engine.h"
#include "uci/session.h"

struct chi_lookup;
struct chi_relay;

#define CHI_GAME_PLIES_MAX 8192

/* A line that waits. */
struct chi_session_line {
	struct chi_session_line *next;
	int64_t read_ms; /* when it came, by chi_now_ms */
	uint64_t go;	 /* it is that `go`; 0: another command */
	size_t len;
	char text[];
};

struct chi_session {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	/* Under the mutex: */
	struct chi_session_line *first; /* those that wait */
	struct chi_session_line **last;
	size_t queued;	  /* bytes of these */
	bool busy;	  /* with one that does not wait any more */
	uint64_t n_go;	  /* `go` so far */
	uint64_t stop_go; /* those up to this one are to be answered */
	uint64_t hit_go;  /* the move of those up to this one, pondered on, was played */
	uint64_t now_go;  /* it is searched, and not yet answered; 0: none */
	bool infinite;	  /* it is answered when it is stopped, */
	bool ponders;	  /* or when the move was played */
	bool quits;	  /* nothing is waited for any more */
	bool ends;	  /* the thread is to, when no line waits */

	int wake; /* an eventfd: some of the above has changed */
	pthread_t thread;
	bool has_thread;
	atomic_bool tells; /* what was learned: `debug on` */

	/* Of the thread that obeys: */
	struct chi_uci_options options;
	struct chi_engine *engine; /* others may stop it */
	struct chi_lookup *lookup;
	struct chi_relay *relay;
	bool store_failed; /* it is not asked for a move again in this game */
	char *position;	   /* the last command, for the child */
	unsigned ply;	   /* moves since the game's beginning, as the command has it */
	struct chi_engine_limits limits;
	chi_move searched[CHI_LEGAL_MAX];
	char *go; /* for the child */
};

/* ---- Lines (parse.c); they are cut into words where they stand ------------------------------- */

#define CHI_BLANKS " \t\r"

/* The next word, NULL at the end. */
char *chi_next_word(char **at);

/* What follows `position`. A failure leaves the position as it was. */
CHI_MUSTUSE int chi_parse_position(struct chi_session *session, char *at, struct chi_fault *fault);

/* What follows `go`, into session->limits. What is no number is said and left out. */
void chi_parse_go(struct chi_session *session, char *at);

/* ---- Between the threads (session.c) --------------------------------------------------------- */

/* The next line, the caller's; a `go` begins. NULL: none waits; *ends: none will come. */
struct chi_session_line *chi_session_take(struct chi_session *session, bool *ends);

/* All `go` are to be answered, and nothing else waited for; with `ends` no line comes any more. */
void chi_session_quit(struct chi_session *session, bool ends);

/* All `go` read so far are to be answered. */
void chi_session_stop(struct chi_session *session);

/* Whether the one under way is. */
bool chi_session_stopped(struct chi_session *session);

/* Whether nothing but a move is to be waited for: a `go` waits, or it was `quit`. */
bool chi_session_hurries(struct chi_session *session);

/* The limits of the one under way are known. */
void chi_session_begin(struct chi_session *session);

/* Waits until the one under way may be answered, and notes that it is. */
void chi_session_await_answer(struct chi_session *session);

/* ---- Commands (obey.c) ----------------------------------------------------------------------- */

void chi_session_obey(struct chi_session *session, const struct chi_session_line *line);

/* The answer to `uci`. */
void chi_session_hello(const struct chi_session *session);

/* ---- Searches (think.c) ---------------------------------------------------------------------- */

/* A search: begins with the book, ends with `bestmove`. */
void chi_session_think(struct chi_session *session);

/* By chi_now_ms: when the time for the move began, when another engine is told to stop, and when
 * the answer is due whatever it does. INT64_MAX: never, as far as is known. */
struct chi_due {
	int64_t begun;
	int64_t stop;
	int64_t answer;
};
struct chi_due chi_session_due(const struct chi_session *session);

/* Stores what another engine found if that is of the position, and not of the game. */
void chi_session_learn_heard(struct chi_session *session, const char *engine, int score,
			     unsigned depth, uint64_t nodes, const chi_move *pv, size_t n_pv);

/* A move as the GUI writes it. */
#define CHI_MOVE_SIZE 8
