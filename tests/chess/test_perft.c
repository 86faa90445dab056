/* SPDX-License-Identifier: MIT */
/*
 * Published perft tables up to depth 5: some 2 thousand million nodes in a few seconds. Of the
 * Chess960 table, which is long, positions after the first 60 go to depth 4. Slow builds go less
 * far, and leave out counts above CHISTORE_PERFT_NODES. That variable (0: no bound) and
 * CHISTORE_PERFT_DEPTH, which allows the tables' sixth ply too, hold for all positions alike:
 * CHISTORE_PERFT_NODES=0 counts every table to depth 5, which takes minutes.
 */
#include "tests/chess/support.h"

#include "base/num.h"
#include "tests/chess/perft.h"

struct bounds {
	uint64_t nodes; /* 0: no bound */
	uint64_t depth;
};

/* What a run did, to see that it did something. */
struct tally {
	unsigned entries;
	unsigned depths;
	uint64_t nodes;
};

static struct bounds bounds_from_env(void)
{
	return (struct bounds){
		.nodes = number_from_env("CHISTORE_PERFT_NODES", SLOW_BUILD ? 5000000 : 0),
		.depth = number_from_env("CHISTORE_PERFT_DEPTH", 5),
	};
}

static void check_depth(const char *fen, uint64_t depth, uint64_t expected,
			const struct bounds *bounds, struct tally *tally)
{
	if (depth > bounds->depth || (bounds->nodes != 0 && expected > bounds->nodes)) {
		return;
	}
	struct chi_position position = position_of(fen);
	uint64_t nodes = chi_perft(&position, (unsigned)depth);
	if (nodes != expected) {
		fail_msg("%s depth %" PRIu64 ": %" PRIu64 " nodes, expected %" PRIu64, fen, depth,
			 nodes, expected);
	}
	tally->depths++;
	tally->nodes += nodes;
}

/* Reads "<depth> <nodes>". */
static void read_pair(const char *text, uint64_t *depth, uint64_t *nodes)
{
	size_t first = strcspn(text, " ");
	size_t second = strcspn(text + first + 1, " \t");
	assert_int_equal(chi_num_u64(text, first, 99, depth), CHI_OK);
	assert_int_equal(chi_num_u64(text + first + 1, second, UINT64_MAX, nodes), CHI_OK);
}

/* Lines of "FEN ;D1 20 ;D2 400 ...", of which `deep` go to the depth asked for and the others less
 * far, if nothing was asked for. */
static struct tally run_epd(const char *name, unsigned deep)
{
	struct bounds bounds = bounds_from_env();
	bool asked =
		getenv("CHISTORE_PERFT_NODES") != NULL || getenv("CHISTORE_PERFT_DEPTH") != NULL;
	struct tally tally = {0};
	FILE *file = open_data(name);
	char line[512];
	while (read_line(file, line, sizeof(line))) {
		if (tally.entries == deep && !asked) {
			bounds.depth -= SLOW_BUILD ? 2 : 1;
		}
		char *rest = NULL;
		char *fen = strtok_r(line, ";", &rest);
		char *entry = NULL;
		while (fen != NULL && (entry = strtok_r(NULL, ";", &rest)) != NULL) {
			uint64_t depth = 0;
			uint64_t nodes = 0;
			assert_int_equal(entry[0], 'D');
			read_pair(entry + 1, &depth, &nodes);
			check_depth(fen, depth, nodes, &bounds, &tally);
		}
		tally.entries += fen != NULL;
	}
	fclose(file);
	return tally;
}

/* Lines of "epd FEN" followed by lines of "perft 1 20". */
static struct tally run_tricky(const char *name)
{
	struct bounds bounds = bounds_from_env();
	struct tally tally = {0};
	FILE *file = open_data(name);
	char line[512];
	char fen[512] = "";
	while (read_line(file, line, sizeof(line))) {
		if (strncmp(line, "epd ", 4) == 0) {
			memcpy(fen, line + 4, strlen(line + 4) + 1);
			tally.entries++;
		} else if (strncmp(line, "perft ", 6) == 0) {
			uint64_t depth = 0;
			uint64_t nodes = 0;
			read_pair(line + 6, &depth, &nodes);
			check_depth(fen, depth, nodes, &bounds, &tally);
		}
	}
	fclose(file);
	return tally;
}

static void check_tally(const char *name, struct tally tally, unsigned entries)
{
	print_message("# figures: perft, %s: %u positions, %u counts, %" PRIu64 " nodes\n", name,
		      tally.entries, tally.depths, tally.nodes);
	assert_int_equal(tally.entries, entries);
	assert_true(tally.depths >= entries);
}

CASE(standard_suite)
{
	check_tally("standard", run_epd("perft_standard.epd", 128), 128);
}

CASE(chess960_suite)
{
	check_tally("Chess960", run_epd("perft_chess960.epd", 60), 960);
}

CASE(tricky_positions)
{
	check_tally("tricky", run_tricky("perft_tricky.perft"), 19);
}
