/* SPDX-License-Identifier: MIT */
/* Queries after their work, before their rows: the store changes, memory is counted. */
#include "tests/import/session.h"

#include <string.h>

#include "ops/op.h"
#include "ops/query.h"
#include "proto/operations.h"
#include "store/names/names.h"

#define GAME(white, black) "[White \"" white "\"]\n[Black \"" black "\"]\n\n1. e4 *\n\n"

struct driven {
	struct chi_dir *store;
	struct chi_read *read;
	struct chi_query *query;
	struct chi_page page;
};

static void attach(struct driven *driven)
{
	driven->store = help_open(help_path("store"), CHI_STORE_READ);
	ok(chi_read_begin(driven->store, &driven->read));
	ok(chi_query_attach(driven->query, driven->read, &fault));
}

static void detach(struct driven *driven)
{
	assert_true(chi_query_may_detach(driven->query));
	chi_query_detach(driven->query);
	chi_read_end(driven->read);
	chi_dir_close(driven->store);
}

/* Does all but the rows. */
static void work(struct driven *driven, enum chi_op op, void *spec)
{
	struct chi_request request = {.id = 1, .op = op, .made = spec};
	struct chi_arena arena;
	const char *field = NULL;
	chi_arena_init(&arena, SIZE_MAX);
	ok(chi_query_open(&request, &arena, &driven->query, &field, &fault));
	chi_page_init_list(&driven->page, chi_query_list(driven->query->operation),
			   chi_query_row_size(driven->query->op, driven->query->request));
	attach(driven);
	while (!driven->query->is_ready) {
		ok(chi_query_step(driven->query, &driven->page, &fault));
	}
}

/* Three games; counts, and then the game of B and C goes. */
static void begin(struct driven *driven, enum chi_op op, void *spec)
{
	help_remove(help_path("store"));
	session_add("store", GAME("A", "B") GAME("B", "C") GAME("A", "D"));
	work(driven, op, spec);
	detach(driven);
	session_subtract("store", GAME("B", "C"));
	attach(driven);
}

static void end(struct driven *driven)
{
	detach(driven);
	chi_query_close(driven->query);
	chi_page_deinit(&driven->page);
}

/* All groups, found again when they were not delivered. */
CASE(stats_leave_out_names_that_went)
{
	static const char *const left[] = {"A", "B", "D"};
	struct chi_stats_spec spec = {.by = CHI_STATS_PLAYER};
	struct driven driven = {0};
	struct chi_stats_result result;
	begin(&driven, CHI_OP_STATS, &spec);
	for (unsigned round = 0; round < 3; round++) {
		assert_int_equal(chi_query_step(driven.query, &driven.page, &fault), CHI_NONE);
		assert_int_equal(driven.page.n, 3);
		const struct chi_stats_group *groups = driven.page.items;
		for (size_t i = 0; i < driven.page.n; i++) {
			assert_string_equal(groups[i].text, left[i]);
		}
		detach(&driven);
		assert_true(chi_query_forget(driven.query, &driven.page));
		chi_page_clear(&driven.page);
		attach(&driven);
	}
	assert_int_equal(chi_query_step(driven.query, &driven.page, &fault), CHI_NONE);
	chi_query_result(driven.query, &driven.page, true, &result);
	assert_int_equal(result.n, 3);
	end(&driven);
}

static size_t memory_of_suspects(uint8_t least)
{
	struct chi_suspects_spec spec = {.kind = CHI_NAME_PLAYER, .least = least, .limit = 1};
	struct driven driven = {0};
	work(&driven, CHI_OP_SUSPECTS, &spec);
	size_t memory = chi_query_memory(driven.query);
	end(&driven);
	return memory;
}

/* Groups of names by the hundred thousand stayed in a server's memory, and counted for nothing. */
CASE(suspects_count_as_memory)
{
	help_remove(help_path("store"));
	session_add("store", GAME("Yusupov, Artur", "Jussupow, Artur"));
	assert_int_equal(memory_of_suspects(60) - memory_of_suspects(95),
			 sizeof(struct chi_suspects) + 2 * sizeof(uint32_t));
}

CASES_MAIN(NULL, help_teardown)
