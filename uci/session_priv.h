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
	char *go; /* for the child */
	pthread_t thread;
	bool searching; /* there is a thread to be joined */
	/* The answer may be given: not while pondering, nor in an infinite search. */
	pthread_mutex_t mutex;
	pthread_cond_t released;
	bool waits;
	atomic_bool stopped;
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

/* Opens, closes or changes what the options name. Not during a search. */
void chi_session_settle(struct chi_session *session);

/* The thread of a search: begins with the book, ends with `bestmove`. */
void *chi_session_think(void *session);

/* Whether what a search of this depth found may be stored: it looked at all moves, and no draw by
 * 50 moves, which is of the game and not of the position, was near. */
bool chi_session_learns(const struct chi_session *session, unsigned depth);

/* A move as the GUI writes it. */
#define CHI_MOVE_SIZE 8
void chi_session_move(const struct chi_session *session, const struct chi_position *position,
		      chi_move move, char out[CHI_MOVE_SIZE]);
