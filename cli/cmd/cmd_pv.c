/* SPDX-License-Identifier: MIT */
/*
 * chistore pv: the principal variation of the stored tree. At each position the move of the
 * backed-up score is played, where there is none that of the deepest evaluation. Where that leads
 * out of the store, the rest of its variation follows.
 */
#include <string.h>

#include "propagate/evals.h"
#include "chess/key.h"
#include "chess/movegen.h"
#include "chess/notation.h"
#include "cli/command.h"
#include "cli/in/fens.h"
#include "cli/out/explored.h"
#include "cli/out/output.h"

struct pv_state {
	const char *engine;
};

static const struct pv_state defaults = {.engine = CHI_BACKUP_ENGINE};

struct walk {
	struct cli *cli;
	const char *engine;
	struct chi_key keys[CHI_PV_MAX + 1]; /* of the positions, to see one again */
	chi_move moves[CHI_PV_MAX];
	size_t n;
	const char *end; /* why it ends */
	bool scored;	 /* the first position has a score: */
	bool is_mate;
	int32_t score;
};

static bool was_met(const struct walk *walk, const struct chi_key *key)
{
	for (size_t i = 0; i <= walk->n; i++) {
		if (memcmp(&walk->keys[i], key, sizeof(*key)) == 0) {
			return true;
		}
	}
	return false;
}

/* Plays a move; false: it is the last. */
static bool go(struct walk *walk, struct chi_position *position, chi_move move)
{
	struct chi_position next;
	struct chi_key key;
	if (!chi_movegen_is_legal(position, move)) {
		walk->end = "damaged";
		return false;
	}
	chi_position_play(position, move, &next);
	*position = next;
	chi_key_encode(&next, &key);
	bool cycle = was_met(walk, &key);
	walk->moves[walk->n++] = move;
	walk->keys[walk->n] = key;
	walk->end = cycle ? "cycle" : walk->n == CHI_PV_MAX ? "length" : walk->end;
	return !cycle && walk->n < CHI_PV_MAX;
}

/* The evaluation's own moves, out of the store. */
static void follow_eval(struct walk *walk, struct chi_position *position,
			const struct chi_eval *eval)
{
	walk->end = "evaluation";
	for (size_t i = 0; i < eval->n_pv && go(walk, position, eval->pv[i]); i++) {
	}
}

static int is_stored(struct walk *walk, const struct chi_position *position, chi_move move,
		     bool *out)
{
	struct chi_position next;
	struct chi_key key;
	struct chi_row row;
	chi_position_play(position, move, &next);
	chi_key_encode(&next, &key);
	int status = chi_probe(walk->cli->client, &key, 1, &row);
	*out = status == CHI_OK && row.found && row.has_eval;
	return status;
}

/* One step, or the rest; *more: there is another. */
static int step_walk(struct walk *walk, struct chi_position *position, bool *more)
{
	struct chi_record record;
	bool stored = false;
	*more = false;
	walk->end = "leaf";
	int status = chi_get(walk->cli->client, &walk->keys[walk->n], &record);
	if (status != CHI_OK) {
		return status == CHI_NONE && walk->n > 0 ? CHI_OK : status;
	}
	const struct chi_eval *backed = chi_eval_backed(&record, walk->engine);
	const struct chi_eval *eval = backed;
	if (eval == NULL || eval->n_pv == 0) {
		eval = chi_eval_direct(&record);
	}
	const struct chi_eval *scored = backed != NULL ? backed : eval;
	if (walk->n == 0 && scored != NULL) {
		walk->scored = true;
		walk->is_mate = scored->is_mate;
		walk->score = scored->score;
	}
	if (eval == NULL || eval->n_pv == 0) {
		return CHI_OK;
	}
	/* The record is gone after the next call. */
	chi_move pv[CHI_PV_MAX];
	struct chi_eval copy = *eval;
	const struct chi_eval *direct = chi_eval_direct(&record);
	if (backed == eval && direct != NULL && direct->n_pv > 0 && direct->pv[0] == eval->pv[0]) {
		copy = *direct; /* longer, if the move leads out of the store */
	}
	memcpy(pv, copy.pv, copy.n_pv * sizeof(*pv));
	copy.pv = pv;
	if (!chi_movegen_is_legal(position, pv[0])) {
		walk->end = "damaged";
		return CHI_OK;
	}
	status = is_stored(walk, position, pv[0], &stored);
	if (status == CHI_OK && !stored) {
		follow_eval(walk, position, &copy);
	} else if (status == CHI_OK) {
		*more = go(walk, position, pv[0]);
	}
	return status;
}

/* How the game ends, if the variation goes so far. */
static void name_end(struct walk *walk, const struct chi_position *position)
{
	struct chi_move_list list;
	chi_movegen_legal(position, &list);
	if (list.n == 0) {
		walk->end =
			chi_position_in_check(position, position->side) ? "checkmate" : "stalemate";
	}
}

/* Moves as SAN or UCI. */
static json_t *moves_of(const struct walk *walk, bool uci)
{
	struct chi_position position;
	json_t *list = json_array();
	if (chi_key_decode(&walk->keys[0], &position, NULL) != CHI_OK) {
		return list;
	}
	for (size_t i = 0; i < walk->n; i++) {
		struct chi_position next;
		char text[CHI_SAN_SIZE];
		chi_position_play(&position, walk->moves[i], &next);
		if (uci) {
			(void)chi_uci_print(&position, walk->moves[i], text);
		} else {
			(void)chi_san_write(&position, walk->moves[i], &next, text);
		}
		(void)json_array_append_new(list, json_string(text));
		position = next;
	}
	return list;
}

static int print_walk(const struct walk *walk)
{
	char fen[CHI_FEN_SIZE];
	json_t *score = walk->scored ? json_integer(walk->score) : json_null();
	json_t *san = moves_of(walk, false);
	if (chi_key_to_fen(&walk->keys[0], fen, NULL) != CHI_OK) {
		fen[0] = '\0';
	}
	if (walk->cli->json) {
		return output_object(walk->cli,
				     json_pack("{s:s, s:o, s:o, s:o, s:s}", "fen", fen,
					       walk->is_mate ? "mate" : "cp", score, "pv",
					       moves_of(walk, true), "san", san, "end", walk->end));
	}
	if (walk->scored) {
		printf("%s %d\t", walk->is_mate ? "mate" : "cp", walk->score);
	} else {
		printf("-\t");
	}
	for (size_t i = 0; i < json_array_size(san); i++) {
		printf("%s%s", i > 0 ? " " : "", json_string_value(json_array_get(san, i)));
	}
	printf("\t%s\n", walk->end);
	json_decref(score);
	json_decref(san);
	return EXIT_DONE;
}

static int walk_from(struct cli *cli, void *context, const struct place *place)
{
	struct walk *walk = context;
	struct chi_position position;
	bool more = true;
	const struct pv_state *state = cli->state;
	*walk = (struct walk){.cli = cli, .engine = state->engine};
	walk->keys[0] = place->key;
	int status = chi_key_decode(&place->key, &position, NULL);
	while (status == CHI_OK && more) {
		status = step_walk(walk, &position, &more);
	}
	if (status == CHI_NONE) {
		return cli_not_found(&place->key);
	}
	name_end(walk, &position);
	return status == CHI_OK ? print_walk(walk) : cli_fail(cli->client, status);
}

static int run_pv(struct cli *cli)
{
	_cleanup_(chi_freep) struct walk *walk = calloc(1, sizeof(*walk));
	const struct fens_user user = {.each = walk_from, .context = walk};
	return walk != NULL ? fens_each(cli, &user) : cli_no_memory();
}

static const struct cli_option options[] = {
	OPTION(pv_state, engine, explored_take_engine, "engine", "NAME",
	       "name of the backed-up scores (default: " CHI_BACKUP_ENGINE ")"),
	OPTIONS_END,
};

const struct command cmd_pv = {
	.name = "pv",
	.arguments = "[POSITION...]",
	.summary = "print the principal variation of the stored tree",
	.help = "Prints for each position its score, the moves that follow, and why they end:\n"
		"leaf (no move is known), evaluation (the last position's own variation is\n"
		"over), checkmate, stalemate, cycle (a position was met again), length. At each "
		"position the move of\n"
		"the score that 'propagate' backed up is taken, where there is none that of the\n"
		"deepest evaluation.\n"
		"Without arguments positions are read from standard input, one a "
		"line.\n\n" PLACE_HELP,
	.example = "chistore -a ./positions pv startpos\n"
		   "chistore -a ./positions pv e4 c5 --json",
	.options = options,
	.args_max = -1,
	.needs = NEEDS_READ,
	.state_size = sizeof(struct pv_state),
	.defaults = &defaults,
	.run = run_pv,
};
