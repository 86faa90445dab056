/* SPDX-License-Identifier: MIT */
/*
 * What probing a store is worth to a search, and what it costs. Each position of a suite
 * (bench/engine/suite.py) is searched to the same depth in several ways by turns, each time from an
 * empty table:
 *
 *	none	without a store
 *	vain	the store is asked, but what it has is not used: the same nodes, and the cost alone
 *	singly	the same, the positions after a node's moves one by one instead of together
 *	store	what the store has is used
 *
 * Times are of the processor. A position is solved from the depth on from which the best move is,
 * and stays, that of the suite; what is not solved counts with its whole search.
 *
 *	bench_probe DEPTH LEAST SUITE STORE
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/notation.h"
#include "uci/search/node.h"

#define HASH_MIB 16

enum way {
	NONE,
	VAIN,
	SINGLY,
	STORE,
	WAYS
};

static const struct {
	const char *name;
	bool asks;
	unsigned how;
} ways[WAYS] = {
	[NONE] = {"none", false, 0},
	[VAIN] = {"vain", true, CHI_ASK_IN_VAIN},
	[SINGLY] = {"singly", true, CHI_ASK_IN_VAIN | CHI_ASK_SINGLY},
	[STORE] = {"store", true, 0},
};

struct sums {
	uint64_t nodes;
	uint64_t asked;
	uint64_t found;
	double seconds;
	unsigned solved;
	uint64_t solved_nodes;
	double solved_seconds;
	double log_nodes; /* of the ratio to NONE */
	double log_seconds;
};

/* A search as it goes. */
struct run {
	chi_move wanted;
	double begun;
	bool solved;
	uint64_t nodes; /* when it was last not solved, then was */
	double seconds;
	uint64_t asked;
	uint64_t found;
};

static double processor_seconds(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void on_line(void *context, const struct chi_engine_line *line)
{
	struct run *run = context;
	bool solves = line->pv[0] == run->wanted;
	if (line->bound != CHI_ENGINE_EXACT) {
		return;
	}
	if (solves && !run->solved) {
		run->nodes = line->nodes;
		run->seconds = processor_seconds() - run->begun;
	}
	run->solved = solves;
	run->asked = line->asked;
	run->found = line->found;
}

static void search(struct chi_engine *engine, const struct chi_position *p, chi_move wanted,
		   unsigned depth, struct sums *sums)
{
	struct chi_engine_result result;
	const struct chi_engine_limits limits = {.depth = depth};
	struct run run = {.wanted = wanted};
	chi_engine_clear(engine);
	chi_engine_set(engine, p, 0, NULL, 0);
	run.begun = processor_seconds();
	chi_engine_go(engine, &limits, on_line, &run, &result);
	double seconds = processor_seconds() - run.begun;
	sums->nodes += result.nodes;
	sums->seconds += seconds;
	sums->asked += run.asked;
	sums->found += run.found;
	sums->solved += run.solved;
	sums->solved_nodes += run.solved ? run.nodes : result.nodes;
	sums->solved_seconds += run.solved ? run.seconds : seconds;
	sums->log_nodes += log((double)result.nodes);
	sums->log_seconds += log(seconds + 1e-9);
}

static bool read_line(FILE *suite, struct chi_position *p, chi_move *wanted)
{
	char line[256];
	if (fgets(line, sizeof(line), suite) == NULL) {
		return false;
	}
	char *move = strchr(line, ';');
	if (move == NULL || chi_fen_parse(line, (size_t)(move - line), p, NULL) != CHI_OK ||
	    chi_uci_parse(p, move + 1, strcspn(move + 1, "\n"), wanted, NULL) != CHI_OK) {
		fprintf(stderr, "bench_probe: not a line of a suite: %s\n", line);
		exit(1);
	}
	return true;
}

static void print(const struct sums all[WAYS], unsigned n)
{
	printf("%u positions\nway\tnodes\tseconds\tns/node\tasked\tfound\tsolved\tnodes to it\t"
	       "seconds to it\tnodes/none\tseconds/none\n",
	       n);
	for (int way = 0; way < WAYS; way++) {
		const struct sums *s = &all[way];
		printf("%s\t%" PRIu64 "\t%.2f\t%.0f\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64
		       "\t%.2f\t%.3f\t%.3f\n",
		       ways[way].name, s->nodes, s->seconds, 1e9 * s->seconds / (double)s->nodes,
		       s->asked, s->found, s->solved, s->solved_nodes, s->solved_seconds,
		       exp((s->log_nodes - all[NONE].log_nodes) / n),
		       exp((s->log_seconds - all[NONE].log_seconds) / n));
	}
}

static int measure(unsigned depth, int least, FILE *suite, struct chi_prober *prober)
{
	struct sums all[WAYS] = {{0}};
	struct chi_position p;
	chi_move wanted;
	unsigned n = 0;
	struct chi_engine *engine = chi_engine_new(HASH_MIB);
	if (engine == NULL) {
		return 1;
	}
	for (; read_line(suite, &p, &wanted); n++) {
		for (unsigned i = 0; i < WAYS; i++) {
			/* Each way is the first as often as any. */
			unsigned way = (i + n) % WAYS;
			chi_engine_ask(engine, ways[way].asks ? prober : NULL, least);
			engine->ask_how = ways[way].how;
			search(engine, &p, wanted, depth, &all[way]);
		}
	}
	if (n > 0) {
		print(all, n);
	}
	chi_engine_free(engine);
	return 0;
}

int main(int argc, char **argv)
{
	struct chi_client *client;
	struct chi_prober *prober;
	struct chi_fault fault;
	FILE *suite = argc == 5 ? fopen(argv[3], "r") : NULL;
	if (suite == NULL) {
		fputs("usage: bench_probe DEPTH LEAST SUITE STORE\n", stderr);
		return 2;
	}
	if (chi_open(argv[4], NULL, &client, &fault) != CHI_OK ||
	    chi_prober_open(client, NULL, &prober) != CHI_OK) {
		fprintf(stderr, "bench_probe: %s: %s\n", argv[4], fault.text);
		fclose(suite);
		return 1;
	}
	int rc = measure((unsigned)atoi(argv[1]), atoi(argv[2]), suite, prober);
	chi_prober_close(prober);
	chi_close(client);
	fclose(suite);
	return rc;
}
