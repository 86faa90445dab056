/* SPDX-License-Identifier: MIT */
/*
 * How likely games lead through a repertoire, and to positions that it does not answer. A walk goes
 * ply by ply from the repertoire's start with probability 1: where it is the repertoire's turn its
 * move is played, else each move with the share that it has among the store's games. Positions of
 * one ply that are the same are joined before anything is decided; the same position after another
 * number of plies is another step of the walk, so that a repetition cannot go round in a circle,
 * and is added only in what is told of the position.
 */
#pragma once

#include "cli/work/repertoire.h"

/* Answered positions are followed if they are likelier than one in: */
#define HOLES_ONE_IN_MAX 1000000000000.0
/* Positions of a walk at most, and plies: a game that goes on counts as ended. */
#define HOLES_STEPS_MAX 4000000
#define HOLES_PLIES_MAX 1024

/* A position after so many plies. */
struct holes_step {
	uint32_t number; /* of the position, in the repertoire's set */
	uint32_t parent; /* the step before it that leads here most often */
	chi_move move;	 /* from there; 0: the walk begins here */
	uint8_t side;	 /* to move */
	double p;	 /* how many of the games come here */
	double most;	 /* of them, from the parent */
	double gap;	 /* of them, from where the file answers other moves */
};

/* What the walk found of a position, by all numbers of plies together. */
struct holes_met {
	double p;	/* at the repertoire's turn */
	double hole;	/* of this, without an answer and likely enough */
	double gap;	/* of this, as above */
	double most;	/* of this, by the likeliest step */
	uint32_t step;	/* that one */
	uint32_t joins; /* one more than the step of the ply that is being joined; 0: none */
};

struct holes {
	struct cli *cli;
	const char *filter;	       /* games that tell the shares; "": all */
	struct repertoire *repertoire; /* gets the positions that are met */
	uint8_t side;		       /* the repertoire's */
	double least;		       /* probability of a hole */
	struct holes_step *steps;      /* ply after ply */
	size_t n_steps;
	size_t room_steps;
	struct holes_met *met; /* by number */
	size_t n_met;
	size_t room_met;
	/* Where games leave the repertoire; together 1. */
	double found;	/* at a hole */
	double rare;	/* at a position without an answer, less likely than `least` */
	double ended;	/* at the end of the game */
	double unknown; /* where no game of the store goes on */
	double gaps;	/* of the first two: where the file answers other moves */
	double answers; /* moves that the repertoire has in a game, on average */
};

static inline uint64_t holes_games_of(const struct chi_counts *counts)
{
	return counts->white + counts->draws + counts->black + counts->other;
}

/* Walks, in a struct that is zeroed but for the first five members. Returns an exit code. */
int holes_walk(struct holes *holes);
void holes_deinit(struct holes *holes);

/* The moves that lead to a step, or where the file has a position of the repertoire. Returns how
 * many, at most `max`: of longer ones the first. *start is the number of the position before. */
size_t holes_moves_to(const struct holes *holes, uint32_t step, chi_move *out, size_t max,
		      uint32_t *start);
size_t holes_moves_in_file(const struct holes *holes, uint32_t number, chi_move *out, size_t max,
			   uint32_t *start);
