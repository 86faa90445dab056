/* SPDX-License-Identifier: MIT */
/* One search: its lines are read up to "bestmove", and there is an end to all waiting. */
#include "cli/work/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "chess/key.h"
#include "chistore.h"

#define LOOK_MS	  100 /* how often it is looked whether to stop */
#define READY_MS  10000
#define STOP_MS	  2000 /* from `stop` to its answer */
#define TRIES	  2    /* of a position that an engine dies of */
#define STARTS	  3    /* of an engine that does not come up again */
#define FILE_A	  UINT64_C(0x0101010101010101)
#define FILE_E	  (FILE_A << 4)
#define FILE_H	  (FILE_A << 7)
#define LINE_SIZE 256
#define TEXT_SIZE (ENGINE_OPTIONS_MAX + 32)

/* Networks may be loaded, and memory cleared, before it is ready: it has as long as for a search,
 * and no less than it has to answer `uci`. A status as of chi_child_line; `tick` may end it. */
static int wait_ready(const struct engine *engine, engine_tick *tick, void *context)
{
	uint64_t ms = engine->limits.patience_ms;
	int64_t until = chi_now_ms() + (int64_t)(ms > READY_MS ? ms : READY_MS);
	const char *line;
	int rc = CHI_OK;
	chi_child_send(engine->child, "isready");
	do {
		rc = chi_child_line(engine->child, LOOK_MS, &line);
		if (rc == CHI_OK && strcmp(line, "readyok") == 0) {
			return CHI_OK;
		}
	} while (rc != CHI_NONE && tick(context) && chi_now_ms() <= until);
	return rc == CHI_NONE ? CHI_NONE : -CHI_ETIMEOUT;
}

static void send_go(struct chi_child *child, const char *fen, const struct engine_limits *limits)
{
	char line[LINE_SIZE];
	(void)snprintf(line, sizeof(line), "position fen %s", fen);
	chi_child_send(child, line);
	const char *what = limits->depth != 0 ? "depth" : limits->nodes != 0 ? "nodes" : "movetime";
	uint64_t number = limits->depth != 0   ? limits->depth
			  : limits->nodes != 0 ? limits->nodes
					       : limits->movetime;
	(void)snprintf(line, sizeof(line), "go %s %" PRIu64, what, number);
	chi_child_send(child, line);
}

/* Castling that an engine takes for chess's own only if it is told: king or rook began elsewhere.
 */
static bool is_chess960(const struct chi_position *position)
{
	for (int colour = 0; colour < 2; colour++) {
		uint64_t rank = UINT64_C(0xff) << (colour == CHI_WHITE ? 0 : 56);
		uint64_t king = position->kind[CHI_KING] & position->colour[colour];
		uint64_t rooks = position->castle & rank;
		if (rooks != 0 &&
		    ((king & rank & FILE_E) == 0 || (rooks & ~(FILE_A | FILE_H)) != 0)) {
			return true;
		}
	}
	return false;
}

/* False: it cannot play such a position. */
static bool set_chess960(struct engine *engine, const struct chi_position *position)
{
	bool wanted = is_chess960(position);
	if (wanted == engine->chess960) {
		return true;
	}
	if (!chi_child_has(engine->child, "UCI_Chess960")) {
		return false;
	}
	engine->chess960 = wanted;
	chi_child_send(engine->child, wanted ? "setoption name UCI_Chess960 value true"
					     : "setoption name UCI_Chess960 value false");
	return true;
}

bool engine_enough(const struct engine_limits *limits, const struct chi_eval *eval)
{
	return eval->is_mate	    ? true
	       : limits->depth != 0 ? eval->depth >= limits->depth
	       : limits->nodes != 0 ? eval->nodes >= limits->nodes
				    : true;
}

/* Lines up to the first that is missing. Of a search that was cut short, ranks are of two depths,
 * and a move may have two: the better one is right. */
static bool settle_lines(struct engine_found *found)
{
	for (size_t i = 0; i < ENGINE_LINES_MAX && found->lines[i].n_pv > 0; i++) {
		size_t j = 0;
		while (j < found->n && found->lines[j].pv[0] != found->lines[i].pv[0]) {
			j++;
		}
		if (j == found->n) {
			found->lines[found->n++] = found->lines[i];
		}
	}
	return found->n > 0;
}

/* How one try ended. */
enum end {
	END_FOUND,
	END_NOTHING,
	END_DIED, /* the child is to be closed */
	END_HUNG, /* the same */
	END_STOPPED,
};

/* Engines tell their nodes now and then, or not at all: one that came to its end by itself has
 * searched what it was told to. */
static void set_nodes(struct engine_found *found, const struct engine_limits *limits)
{
	for (size_t i = 0; i < found->n; i++) {
		if (found->lines[i].nodes < limits->nodes) {
			found->lines[i].nodes = limits->nodes;
		}
	}
}

/* Its lines, up to the answer. */
static enum end listen(struct chi_child *child, const struct chi_position *from,
		       const struct engine_limits *limits, engine_tick *tick, void *context,
		       struct engine_found *out)
{
	int64_t until = chi_now_ms() + (int64_t)(limits->movetime + limits->patience_ms);
	int64_t stop_ms = limits->patience_ms < STOP_MS ? (int64_t)limits->patience_ms : STOP_MS;
	bool stopped = false;
	struct chi_uci_info info;
	for (;;) {
		const char *line;
		int rc = chi_child_line(child, LOOK_MS, &line);
		bool goes_on = tick(context);
		if (rc == CHI_NONE) {
			return END_DIED;
		}
		if (stopped && chi_now_ms() > until) {
			return goes_on ? END_HUNG : END_STOPPED;
		}
		if (!stopped && (!goes_on || chi_now_ms() > until)) {
			chi_child_send(child, "stop");
			until = chi_now_ms() + stop_ms;
			stopped = true;
		}
		if (rc == CHI_OK && strncmp(line, "info ", 5) == 0) {
			/* One that can be believed takes the place of the earlier of its rank. */
			if (chi_uci_info_read(from, line + 5, &info) && info.rank < limits->lines) {
				out->lines[info.rank] = info;
			}
		} else if (rc == CHI_OK && strncmp(line, "bestmove", 8) == 0) {
			if (!goes_on || !settle_lines(out)) {
				return goes_on ? END_NOTHING : END_STOPPED;
			}
			if (!stopped) {
				set_nodes(out, limits);
			}
			return END_FOUND;
		}
	}
}

static enum end search_position(struct engine *engine, const struct chi_key *key, engine_tick *tick,
				void *context)
{
	struct chi_position from;
	char fen[CHI_FEN_SIZE];
	memset(&engine->found, 0, sizeof(engine->found));
	if (chi_key_decode(key, &from, NULL) != CHI_OK ||
	    chi_key_to_fen(key, fen, NULL) != CHI_OK) {
		return END_NOTHING;
	}
	if (!set_chess960(engine, &from)) {
		return END_NOTHING;
	}
	/* What it says of the position before ends here: it may answer twice. */
	int ready = wait_ready(engine, tick, context);
	if (ready != CHI_OK) {
		return ready == CHI_NONE ? END_DIED : tick(context) ? END_HUNG : END_STOPPED;
	}
	send_go(engine->child, fen, &engine->limits);
	return listen(engine->child, &from, &engine->limits, tick, context, &engine->found);
}

/* ---- The child ----------------------------------------------------------------------------- */

void engine_close(struct engine *engine)
{
	chi_child_close(engine->child);
	engine->child = NULL;
}

static void set_options(const struct engine *engine)
{
	char line[TEXT_SIZE];
	const char *options = engine->options;
	while (options != NULL && *options != '\0') {
		size_t len = strcspn(options, ";");
		size_t name = strcspn(options, "=;");
		int n = snprintf(line, sizeof(line), "setoption name %.*s", (int)name, options);
		if (name < len) {
			(void)snprintf(line + n, sizeof(line) - (size_t)n, " value %.*s",
				       (int)(len - name - 1), options + name + 1);
		}
		if (len > 0) {
			chi_child_send(engine->child, line);
		}
		options += len + (options[len] == ';');
	}
	if (engine->limits.lines > 1) {
		(void)snprintf(line, sizeof(line), "setoption name MultiPV value %" PRIu64,
			       engine->limits.lines);
		chi_child_send(engine->child, line);
	}
}

static int start_engine(struct engine *engine, engine_tick *tick, void *context,
			struct chi_fault *fault)
{
	int status = chi_child_open(engine->command, &engine->child, fault);
	if (status != CHI_OK) {
		return status;
	}
	if (engine->limits.lines > 1 && !chi_child_has(engine->child, "MultiPV")) {
		engine_close(engine);
		return chi_fail(fault, -CHI_EINVAL,
				"'%.100s' has no option MultiPV: one line is all that it gives",
				engine->command);
	}
	engine->chess960 = false;
	set_options(engine);
	if (wait_ready(engine, tick, context) != CHI_OK) {
		engine_close(engine);
		return chi_fail(fault, -CHI_ETIMEOUT, "'%.100s' does not answer 'isready'",
				engine->command);
	}
	engine->came_up = true;
	return CHI_OK;
}

int engine_need(struct engine *engine, engine_tick *tick, void *context, struct chi_fault *fault)
{
	int tries = engine->came_up ? STARTS : 1;
	int status = CHI_OK;
	for (int i = 0; engine->child == NULL && i < tries; i++) {
		if (!tick(context)) {
			return CHI_NONE;
		}
		status = start_engine(engine, tick, context, fault);
	}
	return engine->child != NULL ? CHI_OK : tick(context) ? status : CHI_NONE;
}

enum engine_end engine_search(struct engine *engine, const struct chi_key *key, engine_tick *tick,
			      void *context, struct chi_fault *fault)
{
	enum end end = END_DIED;
	for (int i = 0; i < TRIES && end == END_DIED; i++) {
		int status = engine_need(engine, tick, context, fault);
		if (status != CHI_OK) {
			return status == CHI_NONE ? ENGINE_STOPPED : ENGINE_ABSENT;
		}
		end = search_position(engine, key, tick, context);
		if (end == END_DIED || end == END_HUNG) {
			engine_close(engine);
		}
	}
	return end == END_FOUND	    ? ENGINE_FOUND
	       : end == END_STOPPED ? ENGINE_STOPPED
				    : ENGINE_NOTHING;
}

size_t engine_evals(const struct engine *engine, struct chi_eval evals[ENGINE_LINES_MAX])
{
	const char *name = chi_child_name(engine->child);
	const struct engine_found *found = &engine->found;
	for (size_t i = 0; i < found->n; i++) {
		const struct chi_uci_info *line = &found->lines[i];
		evals[i] = (struct chi_eval){.engine = name,
					     .engine_len = strlen(name),
					     .depth = line->depth,
					     .rank = (uint8_t)i,
					     .is_mate = line->is_mate,
					     .score = line->score,
					     .nodes = line->nodes,
					     .date = (uint64_t)time(NULL),
					     .pv = line->pv,
					     .n_pv = line->n_pv};
	}
	return found->n;
}
