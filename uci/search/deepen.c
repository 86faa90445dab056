/* SPDX-License-Identifier: MIT */
/* The engine itself: the game so far, iterative deepening with a window around the last score,
 * several lines, and how much time a move may take. */
#include "uci/search/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "uci/search/node.h"

#define WINDOW	     18	  /* centipawns, around the score of the depth before */
#define WINDOW_DEPTH 5	  /* from this depth on */
#define MOVES_TO_GO  28	  /* that the clock is shared among if the GUI does not say */
#define HARD_TIMES   4	  /* of the time meant */
#define RESERVE	     2	  /* such waits at once are survived */
#define WAIT_FADES   32	  /* part of the worst wait that is forgotten with each move */
#define WAIT_MAX_MS  2000 /* between searches; with more it is another game */

struct chi_engine *chi_engine_new(size_t hash_mib)
{
	struct chi_engine *engine = calloc(1, sizeof(*engine));
	if (engine == NULL || chi_table_init(&engine->table, hash_mib) != CHI_OK) {
		free(engine);
		return NULL;
	}
	engine->ask_least = 1;
	return engine;
}

void chi_engine_free(struct chi_engine *engine)
{
	if (engine != NULL) {
		chi_table_deinit(&engine->table);
		free(engine);
	}
}

int chi_engine_resize(struct chi_engine *engine, size_t hash_mib)
{
	struct chi_table table;
	int rc = chi_table_init(&table, hash_mib);
	if (rc == CHI_OK) {
		chi_table_deinit(&engine->table);
		engine->table = table;
	}
	return rc;
}

void chi_engine_clear(struct chi_engine *engine)
{
	chi_table_clear(&engine->table);
	engine->next_clock_ms = 0;
	memset(engine->history, 0, sizeof(engine->history));
	memset(engine->answers, 0, sizeof(engine->answers));
}

void chi_engine_forget(struct chi_engine *engine)
{
	chi_table_forget(&engine->table);
}

void chi_engine_ask(struct chi_engine *engine, struct chi_prober *prober, int least)
{
	engine->prober = prober;
	engine->ask_least = least < 1 ? 1 : least;
}

void chi_engine_stop(struct chi_engine *engine)
{
	atomic_store(&engine->stop, true);
}

void chi_engine_ready(struct chi_engine *engine)
{
	atomic_store(&engine->stop, false);
	atomic_store(&engine->hit_ms, 0);
}

/* ---- The game ------------------------------------------------------------------------------ */

static void remember(struct chi_engine *engine, uint64_t hash)
{
	if (engine->n_game == CHI_GAME_MAX) {
		memmove(engine->game, engine->game + 1, (CHI_GAME_MAX - 1) * sizeof(*engine->game));
		engine->n_game--;
	}
	engine->game[engine->n_game++] = hash;
}

void chi_engine_set(struct chi_engine *engine, const struct chi_position *start, unsigned clock,
		    const chi_move *moves, size_t n)
{
	struct chi_frame *root = &engine->frames[0];
	*root = (struct chi_frame){.position = *start, .clock = clock};
	root->hash = chi_position_hash(start);
	root->reach = clock;
	engine->n_game = 0;
	for (size_t i = 0; i < n; i++) {
		remember(engine, root->hash);
		chi_engine_play(engine, 0, moves[i]);
		root->position = root[1].position;
		root->hash = root[1].hash;
		root->clock = root[1].clock;
		root->reach = root[1].reach;
	}
}

const struct chi_position *chi_engine_position(const struct chi_engine *engine)
{
	return &engine->frames[0].position;
}

unsigned chi_engine_clock(const struct chi_engine *engine)
{
	return engine->frames[0].clock;
}

bool chi_engine_repeated(const struct chi_engine *engine)
{
	size_t n =
		engine->n_game < engine->frames[0].reach ? engine->n_game : engine->frames[0].reach;
	const uint64_t *since = engine->game + engine->n_game - n;
	for (size_t i = 0; i < n; i++) {
		uint64_t later = engine->frames[0].hash;
		for (size_t j = i + 1; j < n && later != since[i]; j++) {
			later = since[j];
		}
		if (later == since[i]) {
			return true;
		}
	}
	return false;
}

/* ---- Time ---------------------------------------------------------------------------------- */

/*
 * A busy machine lets a program wait: within the search, which shows when it looks at the clock,
 * and before and after it, which shows in the GUI's next clock. How long such waits are is learned:
 * their usual length is charged to every move, the worst is kept back.
 */
static void note_wait(struct chi_engine *engine, uint64_t ms)
{
	engine->worst_wait_ms = ms > engine->worst_wait_ms ? ms : engine->worst_wait_ms;
}

static void start_clock(struct chi_engine *engine)
{
	const struct chi_engine_limits *limits = &engine->limits;
	int64_t begun = limits->begun_ms;
	engine->looked_ms = chi_now_ms();
	engine->begun_ms = begun != 0 && begun < engine->looked_ms ? begun : engine->looked_ms;
	engine->worst_wait_ms -= (engine->worst_wait_ms + WAIT_FADES - 1) / WAIT_FADES;
	uint64_t wait = engine->next_clock_ms - limits->clock_ms;
	if (limits->clock_ms != 0 && engine->next_clock_ms > limits->clock_ms &&
	    wait <= WAIT_MAX_MS) {
		engine->waits_ms += wait;
		note_wait(engine, wait);
	}
	engine->waits_ms -= engine->waits_ms / 8;
	engine->next_clock_ms = 0;
}

static uint64_t since(int64_t begun_ms)
{
	int64_t now = chi_now_ms();
	return now > begun_ms ? (uint64_t)(now - begun_ms) : 0;
}

int64_t chi_engine_hit(const struct chi_engine *engine)
{
	return atomic_load(&engine->hit_ms);
}

/* While pondering it is the other side's. */
static uint64_t used_of_own_time(const struct chi_engine *engine)
{
	int64_t hit = chi_engine_hit(engine);
	return !engine->limits.ponder ? since(engine->begun_ms) : hit != 0 ? since(hit) : 0;
}

bool chi_engine_late(struct chi_engine *engine)
{
	uint64_t gap = since(engine->looked_ms);
	engine->looked_ms += (int64_t)gap;
	note_wait(engine, gap);
	return engine->hard_ms != 0 && used_of_own_time(engine) >= engine->hard_ms;
}

/* What the GUI's clock should show next. */
static void stop_clock(struct chi_engine *engine)
{
	const struct chi_engine_limits *limits = &engine->limits;
	uint64_t had = limits->clock_ms + limits->bonus_ms;
	uint64_t used = used_of_own_time(engine);
	bool is_own = !limits->ponder || chi_engine_hit(engine) != 0;
	engine->next_clock_ms = limits->clock_ms != 0 && is_own && used < had ? had - used : 0;
}

static void share_time(struct chi_engine *engine)
{
	const struct chi_engine_limits *limits = &engine->limits;
	engine->soft_ms = engine->hard_ms = limits->infinite ? 0 : limits->move_ms;
	if (limits->clock_ms == 0 || limits->infinite) {
		return;
	}
	uint64_t clock = limits->clock_ms;
	uint64_t reserve = RESERVE * (limits->lag_ms + engine->worst_wait_ms);
	uint64_t left = clock > 2 * reserve ? clock - reserve : clock / 4;
	uint64_t moves =
		limits->to_go == 0 || limits->to_go > MOVES_TO_GO ? MOVES_TO_GO : limits->to_go;
	uint64_t usual_wait = engine->waits_ms / 8;
	uint64_t meant = left / moves + limits->bonus_ms * (clock > reserve ? 3 : 1) / 4;
	meant = meant > usual_wait ? meant - usual_wait : 1;
	uint64_t most = moves == 1 ? left * 8 / 10 : left / 2;
	uint64_t hard = meant * HARD_TIMES < most ? meant * HARD_TIMES : most;
	engine->hard_ms = limits->move_ms != 0 && limits->move_ms < hard ? limits->move_ms : hard;
	engine->hard_ms += engine->hard_ms == 0;
	engine->soft_ms = meant * 6 / 10 < engine->hard_ms ? meant * 6 / 10 : engine->hard_ms;
	engine->soft_ms += engine->soft_ms == 0;
}

void chi_engine_ponderhit(struct chi_engine *engine)
{
	atomic_store(&engine->hit_ms, chi_now_ms());
}

/* ---- Iterative deepening --------------------------------------------------------------------- */

static void list_root(struct chi_engine *engine)
{
	const struct chi_engine_limits *limits = &engine->limits;
	struct chi_known_position known;
	chi_move stored = chi_ask_store(engine, 0, CHI_PLIES_MAX, &known) ? known.best : 0;
	struct chi_move_list list;
	chi_movegen_legal(chi_here(engine, 0), &list);
	engine->n_root = 0;
	for (size_t i = 0; i < list.n; i++) {
		bool wanted = limits->n_moves == 0;
		for (size_t j = 0; j < limits->n_moves; j++) {
			wanted = wanted || limits->moves[j] == list.moves[i];
		}
		if (wanted) {
			engine->root[engine->n_root++] =
				(struct chi_root_move){.move = list.moves[i],
						       .score = list.moves[i] == stored,
						       .n_pv = 1,
						       .pv = {list.moves[i]}};
		}
	}
}

/* Stable, so that moves without a score keep their order. */
static void sort_root(struct chi_engine *engine, size_t from)
{
	for (size_t i = from + 1; i < engine->n_root; i++) {
		struct chi_root_move move = engine->root[i];
		size_t at = i;
		for (; at > from && engine->root[at - 1].score < move.score; at--) {
			engine->root[at] = engine->root[at - 1];
		}
		engine->root[at] = move;
	}
}

struct telling {
	chi_engine_report *report;
	void *context;
};

static void tell_line(struct chi_engine *engine, const struct telling *telling,
		      enum chi_engine_bound bound)
{
	const struct chi_root_move *root = &engine->root[engine->line];
	if (telling->report == NULL) {
		return;
	}
	struct chi_engine_line line = {
		.depth = (unsigned)engine->depth,
		.seldepth = (unsigned)engine->seldepth,
		.number = (unsigned)engine->line + 1,
		.score = root->score,
		.bound = (uint8_t)bound,
		.pv = root->pv,
		.n_pv = root->n_pv,
		.nodes = atomic_load(&engine->nodes),
		.asked = engine->asked,
		.found = engine->found,
		.ms = since(engine->begun_ms),
		.hashfull = chi_table_full(&engine->table),
	};
	telling->report(telling->context, &line);
}

/* One line of one depth, in a window that widens until the score is inside. */
static void search_line(struct chi_engine *engine, const struct telling *telling)
{
	int window = WINDOW;
	int last = engine->root[engine->line].score;
	int alpha = -CHI_INFINITE;
	int beta = CHI_INFINITE;
	if (engine->depth >= WINDOW_DEPTH && abs(last) < CHI_MATE_BOUND) {
		alpha = last - window;
		beta = last + window;
	}
	for (;;) {
		int score = chi_node(engine, 0, engine->depth, alpha, beta, false);
		if (atomic_load(&engine->stop)) {
			return;
		}
		sort_root(engine, engine->line);
		if (score > alpha && score < beta) {
			tell_line(engine, telling, CHI_ENGINE_EXACT);
			return;
		}
		window *= 3;
		if (score <= alpha) {
			beta = (alpha + beta) / 2;
			alpha = window > 1000 ? -CHI_INFINITE : score - window;
		} else {
			tell_line(engine, telling, CHI_ENGINE_AT_LEAST);
			beta = window > 1000 ? CHI_INFINITE : score + window;
		}
	}
}

static void choose_root_move(const struct chi_root_move *root, struct chi_engine_result *result)
{
	result->best = root->move;
	result->ponder = root->n_pv > 1 ? root->pv[1] : 0;
}

static void complete(const struct chi_root_move *root, unsigned depth,
		     struct chi_engine_result *result)
{
	choose_root_move(root, result);
	result->depth = depth;
	result->score = root->score;
	result->n_pv = root->n_pv;
	memcpy(result->pv, root->pv, root->n_pv * sizeof(*root->pv));
}

/* After a depth that was completed. */
static bool is_enough(const struct chi_engine *engine, const struct chi_engine_result *result)
{
	const struct chi_engine_limits *limits = &engine->limits;
	int mate_plies = CHI_MATE - abs(result->score);
	bool on_clock = engine->soft_ms != 0 && (!limits->ponder || chi_engine_hit(engine) != 0);
	if (limits->mate != 0 && result->score >= CHI_MATE - (int)(2 * limits->mate - 1)) {
		return true;
	}
	if (on_clock && limits->clock_ms != 0 &&
	    (engine->n_root == 1 || mate_plies <= engine->depth / 2)) {
		return true;
	}
	return on_clock && used_of_own_time(engine) >= engine->soft_ms;
}

static void deepen(struct chi_engine *engine, const struct telling *telling,
		   struct chi_engine_result *result)
{
	const struct chi_engine_limits *limits = &engine->limits;
	size_t lines = limits->lines == 0 ? 1 : limits->lines;
	unsigned deepest = CHI_PLIES_MAX / 2;
	deepest = limits->depth == 0 || limits->depth > deepest ? deepest : limits->depth;
	lines = lines < engine->n_root ? lines : engine->n_root;
	for (unsigned depth = 1; depth <= deepest; depth++) {
		engine->depth = (int)depth;
		engine->leader.n_pv = 0;
		engine->seldepth = 0;
		for (engine->line = 0; engine->line < lines; engine->line++) {
			search_line(engine, telling);
			if (atomic_load(&engine->stop)) {
				/* A move that was found better meanwhile is better. */
				if (engine->leader.n_pv > 0) {
					choose_root_move(&engine->leader, result);
				}
				return;
			}
		}
		sort_root(engine, 0);
		complete(&engine->root[0], depth, result);
		if (is_enough(engine, result)) {
			return;
		}
	}
}

void chi_engine_go(struct chi_engine *engine, const struct chi_engine_limits *limits,
		   chi_engine_report *report, void *context, struct chi_engine_result *result)
{
	const struct telling telling = {report, context};
	*result = (struct chi_engine_result){0};
	engine->limits = *limits;
	atomic_store(&engine->nodes, 0);
	engine->asked = engine->found = engine->looked_asked = 0;
	engine->line = 0;
	engine->draws_of_game = false;
	start_clock(engine);
	share_time(engine);
	list_root(engine);
	sort_root(engine, 0);
	chi_table_next(&engine->table);
	for (int ply = 0; ply <= CHI_PLIES_MAX; ply++) {
		memset(engine->frames[ply].killers, 0, sizeof(engine->frames[ply].killers));
	}
	if (engine->n_root > 0) {
		choose_root_move(&engine->root[0], result);
		deepen(engine, &telling, result);
	}
	result->nodes = atomic_load(&engine->nodes);
	result->ms = since(engine->begun_ms);
	result->draws_of_game = engine->draws_of_game;
	stop_clock(engine);
}
