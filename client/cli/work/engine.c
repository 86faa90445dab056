/* SPDX-License-Identifier: MIT */
/* One search: its lines are read up to "bestmove", and there is an end to all waiting. */
#include "client/cli/work/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "chess/key.h"
#include "chistore.h"

#define LOOK_MS	  100  /* how often it is looked whether to stop */
#define STOP_MS	  2000 /* from `stop` to its answer */
#define LINE_SIZE 256
#define TEXT_SIZE 1024

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

/* Its lines, up to the answer. */
static enum engine_end listen(struct chi_child *child, const struct chi_position *from,
			      const struct engine_limits *limits, engine_tick *tick, void *context,
			      struct chi_uci_info *out)
{
	int64_t until = chi_now_ms() + (int64_t)(limits->movetime + limits->patience_ms);
	int64_t stop_ms = limits->patience_ms < STOP_MS ? (int64_t)limits->patience_ms : STOP_MS;
	bool found = false;
	bool stopped = false;
	for (;;) {
		const char *line;
		int rc = chi_child_line(child, LOOK_MS, &line);
		bool goes_on = tick(context);
		if (rc == CHI_NONE) {
			return ENGINE_DIED;
		}
		if (stopped && chi_now_ms() > until) {
			return goes_on ? ENGINE_HUNG : ENGINE_STOPPED;
		}
		if (!stopped && (!goes_on || chi_now_ms() > until)) {
			chi_child_send(child, "stop");
			until = chi_now_ms() + stop_ms;
			stopped = true;
		}
		if (rc == CHI_OK && strncmp(line, "info ", 5) == 0) {
			found |= chi_uci_info_read(from, line + 5, out);
		} else if (rc == CHI_OK && strncmp(line, "bestmove", 8) == 0) {
			return !goes_on ? ENGINE_STOPPED : found ? ENGINE_FOUND : ENGINE_NOTHING;
		}
	}
}

enum engine_end engine_search(struct chi_child *child, const struct chi_key *key,
			      const struct engine_limits *limits, engine_tick *tick, void *context,
			      struct chi_uci_info *out)
{
	struct chi_position from;
	char fen[CHI_FEN_SIZE];
	if (chi_key_decode(key, &from, NULL) != CHI_OK ||
	    chi_key_to_fen(key, fen, NULL) != CHI_OK) {
		return ENGINE_NOTHING;
	}
	send_go(child, fen, limits);
	return listen(child, &from, limits, tick, context, out);
}

bool engine_set_options(struct chi_child *child, const char *options)
{
	char line[TEXT_SIZE];
	while (options != NULL && *options != '\0') {
		size_t len = strcspn(options, ";");
		size_t name = strcspn(options, "=;");
		if (name < len) {
			(void)snprintf(line, sizeof(line), "setoption name %.*s value %.*s",
				       (int)name, options, (int)(len - name - 1),
				       options + name + 1);
			chi_child_send(child, line);
		}
		options += len + (options[len] == ';');
	}
	return chi_child_ready(child) == CHI_OK;
}
