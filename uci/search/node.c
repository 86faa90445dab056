/* SPDX-License-Identifier: MIT */
/*
 * Negamax with alpha-beta and a null window for all but the first move of a node. Nodes inside the
 * window ("open" below) are searched to their full depth and without shortcuts: their lines are the
 * principal variations.
 */
#include "uci/search/node.h"

#include <string.h>
#include <xxhash.h>

#include "base/attr.h"

#define CHECK_EVERY 1024 /* nodes, between two looks at the clock */
#define QUIETS_MAX  64
#define NEAR_DRAW   80 /* half-moves of 100: what was found with fewer no longer counts */

struct node {
	struct chi_engine *engine;
	struct chi_frame *frame;
	int ply;
	int depth;
	int alpha;
	int beta;
	bool open;
	bool check;
	bool improves; /* better than two plies ago */
	int best;
	chi_move best_move;
	chi_move quiets[QUIETS_MAX];
	size_t n_quiets;
};

uint64_t chi_position_hash(const struct chi_position *p)
{
	uint64_t words[CHI_KINDS + 3];
	memcpy(words, p->kind, sizeof(p->kind));
	words[CHI_KINDS] = p->colour[CHI_WHITE];
	words[CHI_KINDS + 1] = p->castle;
	words[CHI_KINDS + 2] = (uint64_t)p->side << 8 | p->ep;
	return XXH3_64bits(words, sizeof(words));
}

void chi_engine_play(struct chi_engine *engine, int ply, chi_move move)
{
	struct chi_frame *from = &engine->frames[ply];
	struct chi_frame *to = &engine->frames[ply + 1];
	to->move = move;
	to->known = false;
	if (move == 0) {
		to->position = from->position;
		to->position.side ^= 1;
		to->position.ep = CHI_NO_SQUARE;
		to->clock = from->clock + 1;
		to->reach = 0;
	} else {
		bool pawn = (from->position.kind[CHI_PAWN] & chi_bit(chi_move_from(move))) != 0;
		bool resets = pawn || chi_is_capture(&from->position, move);
		chi_position_play(&from->position, move, &to->position);
		to->clock = resets ? 0 : from->clock + 1;
		to->reach = resets ? 0 : from->reach + 1;
	}
	to->hash = chi_position_hash(&to->position);
	chi_table_prefetch(&engine->table, to->hash);
}

/* ---- When it ends -------------------------------------------------------------------------- */

static bool is_search_over(struct chi_engine *engine)
{
	uint64_t nodes = atomic_load_explicit(&engine->nodes, memory_order_relaxed);
	const struct chi_engine_limits *limits = &engine->limits;
	if (limits->nodes != 0 && nodes >= limits->nodes && engine->depth > 1) {
		atomic_store(&engine->stop, true);
	}
	if (nodes % CHECK_EVERY == 0 || engine->asked != engine->looked_asked) {
		engine->looked_asked = engine->asked;
		if (chi_engine_late(engine)) {
			atomic_store(&engine->stop, true);
		}
	}
	return atomic_load_explicit(&engine->stop, memory_order_relaxed);
}

static void count_node(struct chi_engine *engine)
{
	uint64_t nodes = atomic_load_explicit(&engine->nodes, memory_order_relaxed);
	atomic_store_explicit(&engine->nodes, nodes + 1, memory_order_relaxed);
}

/* The hash of the position `back` plies before that of `ply`; 0: before the game that is known. */
static uint64_t hash_before(const struct chi_engine *engine, int ply, unsigned back)
{
	if (back <= (unsigned)ply) {
		return engine->frames[(unsigned)ply - back].hash;
	}
	size_t beyond = back - (unsigned)ply;
	return beyond <= engine->n_game ? engine->game[engine->n_game - beyond] : 0;
}

/* A position comes back that the search has seen on its way: what brought it back once can do so
 * again. One that was only in the game before must have been there twice. */
static bool repeats(struct chi_engine *engine, int ply)
{
	const struct chi_frame *frame = &engine->frames[ply];
	size_t known = (size_t)ply + engine->n_game;
	unsigned in_game = 0;
	for (unsigned back = 4; back <= frame->reach && back <= known; back += 2) {
		if (hash_before(engine, ply, back) != frame->hash) {
			continue;
		}
		if (back <= (unsigned)ply) {
			return true;
		}
		if (++in_game == 2) {
			engine->draws_of_game = true;
			return true;
		}
	}
	return false;
}

/* By repetition, 50 moves without progress, or for want of what could mate. */
static bool is_draw(struct chi_engine *engine, int ply)
{
	const struct chi_frame *frame = &engine->frames[ply];
	if (repeats(engine, ply)) {
		return true;
	}
	if (frame->clock >= 100) {
		struct chi_move_list list;
		engine->draws_of_game = true;
		chi_movegen_legal(&frame->position, &list);
		return list.n > 0 || !chi_position_in_check(&frame->position, frame->position.side);
	}
	return chi_position_insufficient(&frame->position);
}

/* ---- Captures ------------------------------------------------------------------------------ */

static int evaluate(struct chi_engine *engine, int ply)
{
	return chi_evaluate(chi_here(engine, ply), &engine->classes);
}

/* Until nothing is to be taken: a bound that the side to move reaches without more. */
static int search_quiescence(struct chi_engine *engine, int ply, int alpha, int beta)
{
	struct chi_frame *frame = &engine->frames[ply];
	bool check = chi_position_in_check(&frame->position, frame->position.side);
	struct chi_picker picker;
	count_node(engine);
	chi_pv_begin(&engine->pv, ply);
	engine->seldepth = ply > engine->seldepth ? ply : engine->seldepth;
	if (is_search_over(engine) || is_draw(engine, ply)) {
		return 0;
	}
	if (ply >= CHI_PLIES_MAX - 1) {
		return check ? 0 : evaluate(engine, ply);
	}
	int best = check ? -CHI_MATE + ply : evaluate(engine, ply);
	if (best >= beta) {
		return best;
	}
	alpha = best > alpha ? best : alpha;
	if (check) {
		chi_picker_all(&picker, engine, ply, 0);
	} else {
		chi_picker_captures(&picker, engine, ply);
	}
	chi_move move;
	while ((move = chi_picker_next(&picker)) != 0) {
		chi_engine_play(engine, ply, move);
		int score = -search_quiescence(engine, ply + 1, -beta, -alpha);
		if (score > best) {
			best = score;
			if (score > alpha) {
				alpha = score;
				chi_pv_take(&engine->pv, ply, move);
			}
			if (score >= beta) {
				break;
			}
		}
	}
	return best;
}

/* ---- Shortcuts of closed nodes --------------------------------------------------------------- */

static bool has_pieces(const struct chi_position *p)
{
	return (p->colour[p->side] & ~p->kind[CHI_PAWN] & ~p->kind[CHI_KING]) != 0;
}

/* Passing is worse than nearly every move: if even so the bound holds, it does. */
static bool holds_after_passing(struct node *n, int *score)
{
	int eval = n->frame->eval;
	if (n->depth < 3 || eval < n->beta || !has_pieces(&n->frame->position) ||
	    n->beta <= -CHI_MATE_BOUND) {
		return false;
	}
	int extra = (eval - n->beta) / 200;
	int less = 3 + n->depth / 4 + (extra < 3 ? extra : 3);
	chi_engine_play(n->engine, n->ply, 0);
	*score = -chi_node(n->engine, n->ply + 1, n->depth - less, -n->beta, -n->beta + 1, false);
	*score = *score >= CHI_MATE_BOUND ? n->beta : *score;
	return *score >= n->beta;
}

static bool cuts_early(struct node *n, bool may_pass, int *score)
{
	int margin = 75 * (n->depth - n->improves);
	if (n->open || n->check) {
		return false;
	}
	if (n->depth <= 7 && n->frame->eval - margin >= n->beta && n->beta > -CHI_MATE_BOUND &&
	    n->frame->eval < CHI_MATE_BOUND) {
		*score = n->frame->eval;
		return true;
	}
	return may_pass && holds_after_passing(n, score);
}

/* By the piece that moves; discovered checks are not seen. */
static bool gives_check(const struct chi_position *p, chi_move move)
{
	int king = chi_position_king(p, p->side ^ 1);
	int kind = chi_position_kind(p, chi_move_from(move));
	uint64_t occupied = chi_position_occupied(p) & ~chi_bit(chi_move_from(move));
	return (chi_piece_attacks(p->side, kind, chi_move_to(move), occupied) & chi_bit(king)) != 0;
}

/* Moves that are not worth a look this near to the end of the depth. */
static bool skips(const struct node *n, chi_move move, size_t tried)
{
	const struct chi_position *p = &n->frame->position;
	if (n->open || n->check || n->best <= -CHI_MATE_BOUND || n->depth > 8 ||
	    gives_check(p, move)) {
		return false;
	}
	if (!chi_is_quiet(p, move)) {
		return n->depth <= 6 && !chi_see_at_least(p, move, -100 * n->depth);
	}
	size_t enough = (size_t)(4 + n->depth * n->depth) / (n->improves ? 1 : 2);
	return tried > enough || n->frame->eval + 120 + 100 * n->depth <= n->alpha ||
	       !chi_see_at_least(p, move, -50 * n->depth);
}

/* Plies less for a move late in the order. */
static int reduction(const struct node *n, chi_move move, size_t tried, bool checks)
{
	const struct chi_frame *frame = n->frame;
	if (n->depth < 3 || tried < (n->open ? 4u : 2u) || n->check ||
	    !chi_is_quiet(&frame->position, move)) {
		return 0;
	}
	/* About ln(depth) * ln(tried) / 2, by the lengths of the numbers. */
	int logs = (32 - __builtin_clz((unsigned)n->depth * (unsigned)n->depth)) *
		   (32 - __builtin_clz((unsigned)(tried * tried)));
	int less = 1 + logs / 30 - n->open - checks + !n->improves;
	less -= move == frame->killers[0] || move == frame->killers[1];
	less -= n->engine->history[frame->position.side][chi_move_from(move)][chi_move_to(move)] /
		6000;
	return less < 0 ? 0 : less > n->depth - 2 ? n->depth - 2 : less;
}

/* ---- A node -------------------------------------------------------------------------------- */

/* The score of the move just played, `tried` moves being before it. */
static int search_move(struct node *n, chi_move move, size_t tried)
{
	struct chi_engine *engine = n->engine;
	const struct chi_position *after = chi_here(engine, n->ply + 1);
	int depth = n->depth - 1;
	int score = n->alpha + 1;
	bool checks = chi_position_in_check(after, after->side);
	if (tried > 0) {
		int less = reduction(n, move, tried, checks);
		score = -chi_node(engine, n->ply + 1, depth - less, -n->alpha - 1, -n->alpha, true);
		if (score > n->alpha && less > 0) {
			score = -chi_node(engine, n->ply + 1, depth, -n->alpha - 1, -n->alpha,
					  true);
		}
	}
	if (tried == 0 || (n->open && score > n->alpha)) {
		score = -chi_node(engine, n->ply + 1, depth, -n->beta, -n->alpha, true);
	}
	return score;
}

/* At the root, the order of the next iteration follows from these. */
static void note_root(struct node *n, chi_move move, size_t tried, int score)
{
	struct chi_engine *engine = n->engine;
	for (size_t i = engine->line; i < engine->n_root; i++) {
		struct chi_root_move *root = &engine->root[i];
		if (root->move != move) {
			continue;
		}
		bool leads = tried == 0 || score > n->alpha;
		root->score = leads ? score : -CHI_INFINITE;
		if (leads) {
			size_t below = engine->pv.length[1];
			root->pv[0] = move;
			memcpy(root->pv + 1, chi_pv_row(&engine->pv, 1), below * sizeof(*root->pv));
			root->n_pv = below + 1;
		}
		if (leads && score > n->alpha && engine->line == 0) {
			engine->leader = *root;
		}
	}
}

/* True if the node is cut. */
static bool take_score(struct node *n, chi_move move, int score)
{
	if (score > n->best) {
		n->best = score;
		if (score > n->alpha) {
			n->best_move = move;
			n->alpha = score;
			if (n->open) {
				chi_pv_take(&n->engine->pv, n->ply, move);
			}
		}
	}
	bool quiet = chi_is_quiet(&n->frame->position, move);
	if (n->alpha >= n->beta) {
		if (quiet) {
			chi_order_learn(n->engine, n->ply, n->depth, move, n->quiets, n->n_quiets);
		}
		return true;
	}
	if (quiet && n->n_quiets < QUIETS_MAX) {
		n->quiets[n->n_quiets++] = move;
	}
	return false;
}

/* False: the search was stopped. */
static bool try_moves(struct node *n, chi_move first)
{
	struct chi_picker picker;
	chi_move move;
	size_t tried = 0;
	chi_picker_all(&picker, n->engine, n->ply, first);
	if (picker.list.n == 0) {
		n->best = n->check ? -CHI_MATE + n->ply : 0;
		return true;
	}
	chi_ask_order(n->engine, n->ply, n->depth, &picker);
	while ((move = chi_picker_next(&picker)) != 0) {
		if (tried > 0 && skips(n, move, tried)) {
			continue;
		}
		chi_engine_play(n->engine, n->ply, move);
		int score = search_move(n, move, tried);
		if (atomic_load_explicit(&n->engine->stop, memory_order_relaxed)) {
			return false;
		}
		if (n->ply == 0) {
			note_root(n, move, tried, score);
		}
		tried++;
		if (take_score(n, move, score)) {
			break;
		}
	}
	return true;
}

/* What is known without searching; true: that is enough. Sets the static evaluation. */
static bool look_up_node(struct node *n, chi_move *first, int *score)
{
	struct chi_engine *engine = n->engine;
	struct chi_table_entry entry = {.eval = CHI_NO_EVAL};
	struct chi_known_position known;
	bool seen = chi_table_find(&engine->table, n->frame->hash, n->ply, &entry);
	int bound = chi_table_bound(&entry);
	*first = seen ? entry.move : 0;
	if (seen && !n->open && entry.depth >= n->depth && n->frame->clock < NEAR_DRAW &&
	    (bound == CHI_ENGINE_EXACT ||
	     (bound == CHI_ENGINE_AT_LEAST && entry.score >= n->beta) ||
	     (bound == CHI_ENGINE_AT_MOST && entry.score <= n->alpha))) {
		*score = entry.score;
		return true;
	}
	n->frame->eval = n->check			     ? CHI_NO_EVAL
			 : seen && entry.eval != CHI_NO_EVAL ? entry.eval
							     : evaluate(engine, n->ply);
	n->frame->known = chi_ask_store(engine, n->ply, n->depth, &known);
	*first = *first == 0 && n->frame->known ? known.best : *first;
	if (n->frame->known && !n->open && n->frame->clock < NEAR_DRAW && known.has_eval &&
	    known.depth >= n->depth) {
		*score = known.score;
		return true;
	}
	return false;
}

static void store_node(const struct node *n, int alpha)
{
	int bound = n->best >= n->beta ? CHI_ENGINE_AT_LEAST
		    : n->best > alpha  ? CHI_ENGINE_EXACT
				       : CHI_ENGINE_AT_MOST;
	struct chi_table_entry entry = {.move = n->best_move,
					.score = (int16_t)n->best,
					.eval = (int16_t)n->frame->eval,
					.depth = (uint8_t)n->depth};
	/* At the root moves may be left out: by the GUI, or as lines that were told already. */
	if (n->ply > 0 || (n->engine->line == 0 && n->engine->limits.n_moves == 0)) {
		chi_table_store(&n->engine->table, n->frame->hash, n->ply, entry, bound);
	}
}

int chi_node(struct chi_engine *engine, int ply, int depth, int alpha, int beta, bool may_pass)
{
	struct node n = {.engine = engine,
			 .frame = &engine->frames[ply],
			 .ply = ply,
			 .alpha = alpha,
			 .beta = beta,
			 .open = beta - alpha > 1,
			 .best = -CHI_INFINITE};
	const struct chi_position *p = &n.frame->position;
	n.check = chi_position_in_check(p, p->side);
	n.depth = depth + (n.check && ply < 2 * engine->depth);
	if (n.depth <= 0 || ply >= CHI_PLIES_MAX - 1) {
		return search_quiescence(engine, ply, alpha, beta);
	}
	count_node(engine);
	chi_pv_begin(&engine->pv, ply);
	engine->seldepth = ply > engine->seldepth ? ply : engine->seldepth;
	if (ply > 0 && (is_search_over(engine) || is_draw(engine, ply))) {
		return 0;
	}
	/* Mated here is the worst, a mate with the next move the best that can be. */
	if (!n.open && -CHI_MATE + ply >= beta) {
		return -CHI_MATE + ply;
	}
	if (!n.open && CHI_MATE - ply - 1 <= alpha) {
		return CHI_MATE - ply - 1;
	}
	chi_move first = 0;
	int score = 0;
	if (look_up_node(&n, &first, &score)) {
		return score;
	}
	int before = ply >= 2 ? n.frame[-2].eval : CHI_NO_EVAL;
	n.improves = !n.check && before != CHI_NO_EVAL && n.frame->eval > before;
	if (cuts_early(&n, may_pass, &score)) {
		return score;
	}
	/* Without a move to begin with, a search less deep finds one. */
	n.depth -= !n.open && first == 0 && n.depth >= 4;
	if (ply + 2 <= CHI_PLIES_MAX) {
		memset(n.frame[2].killers, 0, sizeof(n.frame->killers));
	}
	if (!try_moves(&n, first)) {
		return 0;
	}
	store_node(&n, alpha);
	return n.best;
}
