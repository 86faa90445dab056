/* SPDX-License-Identifier: MIT */
/* The state of a conversation. Private to the room. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "uci/book.h"
#include "uci/child.h"
#include "uci/learn.h"
#include "uci/options.h"
#include "uci/search/engine.h"
#include "uci/session.h"

#define CHI_GAME_PLIES_MAX 8192
#define CHI_SAID_MAX	   256

struct chi_session {
	struct chi_uci_options options;
	struct chi_engine *engine;
	/* Of the store; the thread that searches uses the first two, and others only while none
	 * does. */
	struct chi_client *client;
	struct chi_prober *prober;
	struct chi_learner *learner;
	char opened[CHI_UCI_TEXT]; /* the address that these are of */
	struct chi_child *child;
	char started[CHI_UCI_TEXT]; /* the command that this is of */
	bool learns;		    /* they were opened to learn */
	atomic_bool tells;	    /* what was learned: `debug on` */
	bool book_failed;	  /* the store did; it is not asked for a move again in this game */
	char *said[CHI_SAID_MAX]; /* lines of setoption that the child is to see, */
	char *said_name[CHI_SAID_MAX]; /* and the options that they are of */
	size_t n_said;
	char *position; /* the last command, for the child */
	unsigned ply;	/* moves since the game's beginning, as the command has it */
	struct chi_engine_limits limits;
	chi_move searched[CHI_LEGAL_MAX];
	char *go;	 /* for the child */
	int64_t read_ms; /* when the line came that is worked off, by chi_now_ms */
	/* The thread that searches waits from one `go` to the next: a new one is begun late by a
	 * busy machine, and its time on the clock is lost. */
	pthread_t thread;
	bool has_thread;
	bool searching; /* `go` was said, and its end has not been waited for */
	pthread_mutex_t mutex;
	pthread_cond_t changed; /* one of these: */
	bool wanted;		/* a search */
	bool busy;		/* with it */
	bool ends;		/* the thread is to */
	bool waits;		/* the answer may not be given: while pondering, or infinite */
	atomic_bool stopped;
	atomic_bool answers; /* the search is over but for `bestmove` */
};

/* ---- Lines (parse.c); they are cut into words where they stand ------------------------------- */

#define CHI_BLANKS " \t\r"

/* The next word, NULL at the end. */
char *chi_next_word(char **at);

/* What follows `position`. A failure leaves the position as it was. */
CHI_MUSTUSE int chi_parse_position(struct chi_session *session, char *at, struct chi_fault *fault);

/* What follows `go`, into session->limits. What is no number is said and left out. */
void chi_parse_go(struct chi_session *session, char *at);

/* ---- Searches -------------------------------------------------------------------------------- */

/* "info string ..." */
void chi_session_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens, closes or changes what the options name. Not during a search. `again`: also what could
 * not be opened before, which may take a while. */
void chi_session_settle(struct chi_session *session, bool again);

/* A search: begins with the book, ends with `bestmove`. */
void chi_session_think(struct chi_session *session);

/* Whether what a search of this depth found may be stored: it looked at all moves, and no draw by
 * 50 moves, which is of the game and not of the position, was near. */
bool chi_session_learns(const struct chi_session *session, unsigned depth);

/* A move as the GUI writes it. */
#define CHI_MOVE_SIZE 8
void chi_session_move(const struct chi_session *session, const struct chi_position *position,
		      chi_move move, char out[CHI_MOVE_SIZE]);
