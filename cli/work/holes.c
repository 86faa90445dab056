/* SPDX-License-Identifier: MIT */
#include "cli/work/holes.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/key.h"

/* ---- Steps -------------------------------------------------------------------------------- */

/* Room for one more. */
static bool grow_steps(struct holes *holes)
{
	return chi_grow(&holes->steps, &holes->room_steps, holes->n_steps + 1,
			sizeof(*holes->steps)) == CHI_OK;
}

/* So many positions have numbers. */
static bool grow_met(struct holes *holes, size_t n)
{
	if (chi_grow(&holes->met, &holes->room_met, n, sizeof(*holes->met)) < 0) {
		return false;
	}
	if (holes->n_met < n) {
		memset(holes->met + holes->n_met, 0, (n - holes->n_met) * sizeof(*holes->met));
		holes->n_met = n;
	}
	return true;
}

/* The number of a position that comes next; false: no memory. */
static bool find_number(struct holes *holes, const struct chi_key *key, uint32_t *number)
{
	return keyset_add(&holes->repertoire->set, key, number, NULL) == CHI_OK &&
	       grow_met(holes, holes->repertoire->set.n);
}

/* A step of the next ply, which begins at step `ply`; the same position joins the one there. */
static int add_step(struct holes *holes, size_t ply, const struct chi_key *key,
		    const struct holes_step *step)
{
	uint32_t number = 0;
	if (!find_number(holes, key, &number) || !grow_steps(holes)) {
		return cli_no_memory();
	}
	struct holes_met *met = &holes->met[number];
	if (met->joins <= ply) {
		if (holes->n_steps == HOLES_STEPS_MAX) {
			return cli_usage(holes->cli, "more than %d positions: ask for less",
					 HOLES_STEPS_MAX);
		}
		holes->steps[holes->n_steps] = *step;
		holes->steps[holes->n_steps].number = number;
		met->joins = (uint32_t)++holes->n_steps;
		return EXIT_DONE;
	}
	struct holes_step *same = &holes->steps[met->joins - 1];
	same->p += step->p;
	same->gap += step->gap;
	if (step->most > same->most) {
		same->most = step->most;
		same->parent = step->parent;
		same->move = step->move;
	}
	return EXIT_DONE;
}

/* ---- A ply -------------------------------------------------------------------------------- */

/* No answer: a hole, unless it is rare, or the game at its end. */
static int take_hole(struct holes *holes, uint32_t at)
{
	const struct holes_step *step = &holes->steps[at];
	struct holes_met *met = &holes->met[step->number];
	uint32_t state = 0;
	size_t n = 0;
	int status =
		chi_key_moves(&holes->repertoire->set.keys[step->number], 0, NULL, 0, &n, &state);
	if (status != CHI_OK) {
		return cli_fault(status, &(struct chi_fault){.text = "a stored position"});
	}
	if (n == 0) {
		holes->ended += step->p;
		return EXIT_DONE;
	}
	/* Where the file has the position, it ends here. */
	double gap = step->number < holes->repertoire->n ? 0 : step->gap;
	holes->gaps += gap;
	if (step->p < holes->least) {
		holes->rare += step->p;
		return EXIT_DONE;
	}
	holes->found += step->p;
	met->hole += step->p;
	met->gap += gap;
	if (step->p > met->most) {
		met->most = step->p;
		met->step = at;
	}
	return EXIT_DONE;
}

/* The repertoire's turn. */
static int walk_own(struct holes *holes, size_t ply, uint32_t at)
{
	const struct repertoire *repertoire = holes->repertoire;
	struct holes_step step = holes->steps[at];
	struct chi_key key;
	chi_move answer = step.number < repertoire->n ? repertoire->places[step.number].answer : 0;
	holes->met[step.number].p += step.p;
	if (answer == 0) {
		return take_hole(holes, at);
	}
	if (step.p * HOLES_ONE_IN_MAX < 1) {
		holes->rare += step.p;
		return EXIT_DONE;
	}
	holes->answers += step.p;
	int status = chi_key_play(&repertoire->set.keys[step.number], answer, &key);
	if (status != CHI_OK) {
		return cli_fault(status, &(struct chi_fault){.text = "a move of the repertoire"});
	}
	return add_step(holes, ply, &key,
			&(struct holes_step){.parent = at,
					     .move = answer,
					     .side = !step.side,
					     .p = step.p,
					     .most = step.p});
}

/* The opponent's turn: the moves by their shares. A game that was here twice may have played two of
 * them, so that they can be more than the games. */
static int walk_opponent(struct holes *holes, size_t ply, uint32_t at)
{
	const struct repertoire *repertoire = holes->repertoire;
	struct holes_step step = holes->steps[at];
	struct chi_explored explored;
	bool goes_on = step.number < repertoire->n && repertoire->places[step.number].answer != 0;
	uint64_t left = 0;
	int code = EXIT_DONE;
	int status = chi_explore(holes->cli->client, &repertoire->set.keys[step.number],
				 holes->filter, NULL, &explored);
	if (status != CHI_OK) {
		return cli_fail(holes->cli->client, status);
	}
	for (size_t i = 0; i < explored.n_moves; i++) {
		left += holes_games_of(&explored.moves[i].played);
	}
	uint64_t games = holes_games_of(&explored.position.counts);
	games = games > left ? games : left;
	if (games == 0) {
		size_t n = 0;
		uint32_t state = 0;
		status = chi_key_moves(&repertoire->set.keys[step.number], 0, NULL, 0, &n, &state);
		*(status == CHI_OK && n == 0 ? &holes->ended : &holes->unknown) += step.p;
		return EXIT_DONE;
	}
	left = games;
	for (size_t i = 0; code == EXIT_DONE && i < explored.n_moves; i++) {
		const struct chi_explore_move *move = &explored.moves[i];
		uint64_t played = holes_games_of(&move->played);
		double p = step.p * (double)played / (double)games;
		if (played == 0 || move->child.key.len == 0) {
			continue;
		}
		left -= played;
		code = add_step(holes, ply, &move->child.key,
				&(struct holes_step){.parent = at,
						     .move = move->move,
						     .side = !step.side,
						     .p = p,
						     .most = p,
						     .gap = goes_on ? p : 0});
	}
	holes->ended += step.p * (double)left / (double)games;
	return code;
}

/* ---- From the start ----------------------------------------------------------------------- */

static int add_start(struct holes *holes, uint32_t number, double p)
{
	const struct repertoire *repertoire = holes->repertoire;
	const struct chi_key key = repertoire->set.keys[number];
	return add_step(
		holes, 0, &key,
		&(struct holes_step){.side = repertoire->places[number].side, .p = p, .most = p});
}

/* Games that come to where a game of the file starts. */
static int count_start(struct holes *holes, uint32_t number, uint64_t *games)
{
	struct chi_explored explored;
	int status = chi_explore(holes->cli->client, &holes->repertoire->set.keys[number],
				 holes->filter, NULL, &explored);
	if (status != CHI_OK) {
		return cli_fail(holes->cli->client, status);
	}
	*games = holes_games_of(&explored.position.counts);
	return EXIT_DONE;
}

/* Without the initial position the walk begins where the file's games start, at each with the share
 * of its games, or at all alike if the store has none. */
static int add_starts(struct holes *holes)
{
	const struct repertoire *repertoire = holes->repertoire;
	_cleanup_(chi_freep) uint64_t *games = calloc(repertoire->n + 1, sizeof(*games));
	uint64_t sum = 0;
	uint64_t starts = 0;
	int code = games != NULL ? EXIT_DONE : cli_no_memory();
	for (uint32_t i = 0; code == EXIT_DONE && i < repertoire->n; i++) {
		if (repertoire->places[i].arrived == 0) {
			code = count_start(holes, i, &games[i]);
			sum += games[i];
			starts++;
		}
	}
	for (uint32_t i = 0; code == EXIT_DONE && i < repertoire->n; i++) {
		if (repertoire->places[i].arrived == 0 && (sum == 0 || games[i] > 0)) {
			code = add_start(holes, i,
					 sum > 0 ? (double)games[i] / (double)sum
						 : 1.0 / (double)starts);
		}
	}
	return code;
}

int holes_walk(struct holes *holes)
{
	struct chi_key initial;
	uint32_t number = 0;
	size_t from = 0;
	chi_key_encode(&chi_position_initial, &initial);
	bool found = keyset_find(&holes->repertoire->set, &initial, &number);
	int code = !grow_met(holes, holes->repertoire->n) ? cli_no_memory()
		   : found				  ? add_start(holes, number, 1)
							  : add_starts(holes);
	for (int plies = 0; code == EXIT_DONE && from < holes->n_steps; plies++) {
		size_t end = holes->n_steps;
		for (size_t i = from; code == EXIT_DONE && i < end; i++) {
			if (plies == HOLES_PLIES_MAX) {
				holes->ended += holes->steps[i].p;
			} else if (holes->steps[i].side == holes->side) {
				code = walk_own(holes, end, (uint32_t)i);
			} else {
				code = walk_opponent(holes, end, (uint32_t)i);
			}
		}
		from = end;
	}
	return code;
}

void holes_deinit(struct holes *holes)
{
	free(holes->steps);
	free(holes->met);
}

/* ---- Lines -------------------------------------------------------------------------------- */

/* A line is found from its end; of a longer one its first moves are kept. */
static void put_move(chi_move *out, size_t max, size_t at, chi_move move)
{
	if (at < max) {
		out[at] = move;
	}
}

size_t holes_moves_to(const struct holes *holes, uint32_t step, chi_move *out, size_t max,
		      uint32_t *start)
{
	const struct holes_step *steps = holes->steps;
	size_t n = 0;
	for (uint32_t i = step; steps[i].move != 0; i = steps[i].parent) {
		n++;
	}
	for (size_t at = n; steps[step].move != 0; step = steps[step].parent) {
		put_move(out, max, --at, steps[step].move);
	}
	*start = steps[step].number;
	return n < max ? n : max;
}

size_t holes_moves_in_file(const struct holes *holes, uint32_t number, chi_move *out, size_t max,
			   uint32_t *start)
{
	const struct repertoire_place *places = holes->repertoire->places;
	size_t n = 0;
	for (uint32_t i = number; places[i].arrived != 0; i = places[i].parent) {
		n++;
	}
	for (size_t at = n; places[number].arrived != 0; number = places[number].parent) {
		put_move(out, max, --at, places[number].arrived);
	}
	*start = number;
	return n < max ? n : max;
}
