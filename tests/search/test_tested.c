/* SPDX-License-Identifier: MIT */
/* Games that are asked about one by one, in two rounds: the same as a loop over all games says, and
 * no chunk of columns is tested twice. */
#include "tests/search/world.h"

#include <string.h>

#include "base/attr.h"
#include "search/filter/tested.h"

#define GAMES 3000

static struct search_world world;

struct asked_filter {
	struct chi_terms terms;
	struct chi_matcher *matcher;
	struct chi_tested *tested;
	uint64_t steps;
};

static void open_filter(struct asked_filter *asked, const char *filter)
{
	const struct chi_matcher_spec spec = {.from = 1, .asked = 1 + help_below(1000)};
	asked->steps = UINT64_MAX;
	ok(chi_terms_parse(filter, strlen(filter), &asked->terms, &fault));
	ok(chi_matcher_new(world.read, &asked->terms, &spec, &asked->matcher, &fault));
	ok(chi_matcher_prepare(asked->matcher, &asked->steps));
	ok(chi_tested_new(asked->matcher, &asked->tested));
	asked->steps = UINT64_MAX;
}

static void close_filter(struct asked_filter *asked)
{
	chi_tested_free(asked->tested);
	chi_matcher_free(asked->matcher);
}

/* Asks about one game of `sparse`, about. */
static void ask_some(struct asked_filter *asked, unsigned sparse)
{
	for (uint32_t number = 1; number <= world.n; number++) {
		const struct world_game *game = &world.games[number];
		uint32_t result = 0;
		if (help_below(sparse) != 0) {
			continue;
		}
		int rc = chi_tested_ask(asked->tested, number, &asked->steps, &result);
		assert_int_equal(rc, world_fits(game, &asked->terms) ? CHI_OK : CHI_NONE);
		if (rc == CHI_OK) {
			assert_int_equal(result, game->head.result);
		}
		assert_true(chi_tested_end(asked->tested, number) > number);
	}
}

CASE(test_rounds)
{
	static const unsigned sparse[] = {1, 7, 200, 3000};
	static struct asked_filter asked;
	char filter[2048];
	for (unsigned round = 0; round < 150; round++) {
		world_filter(&world, filter, sizeof(filter));
		open_filter(&asked, filter);
		ask_some(&asked, sparse[help_below(CHI_COUNT(sparse))]);
		ok(chi_tested_rewind(asked.tested));
		ask_some(&asked, sparse[help_below(CHI_COUNT(sparse))]);
		close_filter(&asked);
	}
}

/* A step is a chunk: the second round takes none. Patterns take more, of games that are played
 * again, but those only once, too. */
CASE(test_chunks_are_tested_once)
{
	static const char *const filters[] = {"", "result 1-0", "pattern has Pe4",
					      "rating 2500.. not pattern has Nf3"};
	static struct asked_filter asked;
	for (size_t i = 0; i < CHI_COUNT(filters); i++) {
		open_filter(&asked, filters[i]);
		ask_some(&asked, 1);
		uint64_t left = asked.steps;
		assert_true(left < UINT64_MAX);
		ok(chi_tested_rewind(asked.tested));
		ask_some(&asked, 1);
		assert_true(asked.steps == left);
		close_filter(&asked);
	}
}

/* No chunk has the number. */
CASE(test_beyond)
{
	static struct asked_filter asked;
	uint32_t result;
	open_filter(&asked, "");
	assert_int_equal(chi_tested_ask(asked.tested, UINT32_MAX, &asked.steps, &result), CHI_NONE);
	assert_true(chi_tested_end(asked.tested, UINT32_MAX) == UINT64_C(1) << 32);
	close_filter(&asked);
}

int main(void)
{
	return world_run(&world, GAMES);
}
