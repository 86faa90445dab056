/* SPDX-License-Identifier: MIT */
/* Gamesets, as they are stored; of one that is asked for by its name the games are counted now. At
 * the end those that are made and dropped. */
#include "ops/queries.h"

#include <stdio.h>
#include <string.h>

#include "ops/change.h"
#include "search/filter/terms.h"
#include "search/games.h"
#include "search/gamesets.h"

_Static_assert(CHI_GAMESET_TEXT_MAX == CHI_GAMESET_NAME_MAX &&
		       CHI_FILTER_MAX == CHI_TERMS_TEXT_MAX &&
		       CHI_FILTER_PRINT_MAX == CHI_TERMS_PRINT_SIZE,
	       "the protocol's limits are the search's");

/* Gamesets that are looked at between two looks at the clock. */
#define SETS_A_HELPING 100

struct gamesets_query {
	struct chi_query query;
	const char *name;	     /* "": all */
	struct chi_game_walk *games; /* of the one, while they are counted; else NULL */
	uint64_t counted;
	char after[CHI_GAMESET_NAME_MAX + 1];	  /* the last one that was looked at */
	char delivered[CHI_GAMESET_NAME_MAX + 1]; /* the same, of the last page */
	struct chi_page *page;			  /* while rows are made */
	unsigned left;				  /* of a helping */
	bool has_rest;				  /* the walk was ended before its end */
};

static struct gamesets_query *gamesets_of(struct chi_query *query)
{
	return (struct gamesets_query *)query;
}

static int open_gamesets(struct chi_query *query, const char **field, struct chi_fault *fault)
{
	const struct chi_gamesets_spec *asked = query->request;
	struct gamesets_query *sets = gamesets_of(query);
	sets->name = asked->name != NULL ? asked->name : "";
	if (sets->name[0] == '\0') {
		return CHI_OK;
	}
	*field = "name";
	return chi_gameset_name_check(sets->name, strlen(sets->name), fault);
}

/* The games of one that is not there cannot be counted. */
static int attach_gamesets(struct chi_query *query, struct chi_fault *fault)
{
	struct gamesets_query *sets = gamesets_of(query);
	char filter[8 + CHI_GAMESET_NAME_MAX];
	if (query->is_ready || sets->name[0] == '\0') {
		return CHI_OK;
	}
	int status = chi_gamesets_one(query->read, sets->name, NULL, NULL);
	if (status != CHI_OK) {
		return status == CHI_NONE ? CHI_OK : status;
	}
	int len = snprintf(filter, sizeof(filter), "in %s", sets->name);
	const struct chi_games_spec spec = {
		.filter = filter, .filter_len = (size_t)len, .limit = 1, .want_total = true};
	return chi_game_walk_open(query->read, &spec, &sets->games, fault);
}

static void close_gamesets(struct chi_query *query)
{
	struct gamesets_query *sets = gamesets_of(query);
	chi_game_walk_close(sets->games);
	sets->games = NULL;
}

static int count_gameset(struct chi_query *query, struct chi_fault *fault)
{
	struct gamesets_query *sets = gamesets_of(query);
	struct chi_games_row row;
	size_t n = 0;
	(void)fault;
	if (sets->games == NULL) {
		return CHI_NONE;
	}
	int status = chi_game_walk_next(sets->games, &row, 1, query->steps, &n);
	if (status == CHI_NONE) {
		(void)chi_game_walk_total(sets->games, &sets->counted);
		close_gamesets(query);
	}
	return status;
}

static int keep_gameset(struct gamesets_query *sets, const struct chi_gameset *gameset)
{
	struct chi_page *page = sets->page;
	int status = chi_page_grow(page);
	if (status < 0) {
		return status;
	}
	struct chi_gameset_row *row = (struct chi_gameset_row *)page->items + page->n;
	*row = (struct chi_gameset_row){
		.name = chi_arena_text(&page->arena, gameset->name, strlen(gameset->name)),
		.filter = chi_arena_text(&page->arena, gameset->filter, strlen(gameset->filter)),
		.games = sets->name[0] != '\0' ? sets->counted : gameset->games,
		.upto = gameset->upto,
		.bytes = gameset->bytes,
	};
	if (row->name == NULL || row->filter == NULL) {
		return -CHI_ENOMEM;
	}
	chi_page_added(page, 1);
	return CHI_OK;
}

static int visit_gameset(void *context, const struct chi_gameset *gameset)
{
	struct gamesets_query *sets = context;
	sets->has_rest = sets->left == 0 || chi_page_full(sets->page);
	if (sets->has_rest) {
		return CHI_NONE;
	}
	int status = keep_gameset(sets, gameset);
	(void)snprintf(sets->after, sizeof(sets->after), "%s", gameset->name);
	sets->left--;
	return status;
}

static int send_gamesets(struct chi_query *query, struct chi_page *page, struct chi_fault *fault)
{
	struct gamesets_query *sets = gamesets_of(query);
	(void)fault;
	sets->page = page;
	sets->left = SETS_A_HELPING;
	sets->has_rest = false;
	int status = sets->name[0] != '\0'
			     ? chi_gamesets_one(query->read, sets->name, visit_gameset, sets)
			     : chi_gamesets_all(query->read, sets->after, visit_gameset, sets);
	return status < 0 ? status : sets->has_rest ? CHI_OK : CHI_NONE;
}

static void deliver_gamesets(struct chi_query *query, const struct chi_page *page, bool last,
			     void *result)
{
	struct gamesets_query *sets = gamesets_of(query);
	(void)page;
	(void)last;
	(void)result;
	memcpy(sets->delivered, sets->after, sizeof(sets->delivered));
}

static void forget_gamesets(struct chi_query *query, const struct chi_page *page)
{
	struct gamesets_query *sets = gamesets_of(query);
	(void)page;
	memcpy(sets->after, sets->delivered, sizeof(sets->after));
}

static size_t memory_of_gamesets(const struct chi_query *query)
{
	const struct chi_game_walk *games = ((const struct gamesets_query *)query)->games;
	return games != NULL ? chi_game_walk_memory(games) : 0;
}

const struct chi_query_ops chi_gamesets_ops = {
	.size = sizeof(struct gamesets_query),
	.finds = true,
	.steps = 4,
	.open = open_gamesets,
	.attach = attach_gamesets,
	.work = count_gameset,
	.rows = send_gamesets,
	.deliver = deliver_gamesets,
	.forget = forget_gamesets,
	.memory = memory_of_gamesets,
	.close = close_gamesets,
};

/* ---- Changes ------------------------------------------------------------------------------ */

static int check_name(struct chi_ask *ask, const char *name)
{
	ask->field = "name";
	return chi_gameset_name_check(name, strlen(name), ask->fault);
}

static int check_make(struct chi_ask *ask, void *request)
{
	return check_name(ask, ((const struct chi_gameset_request *)request)->name);
}

static int check_drop(struct chi_ask *ask, void *request)
{
	return check_name(ask, ((const struct chi_gamesets_spec *)request)->name);
}

/* All games are looked at. */
static int open_making(struct chi_ask *ask, const void *request)
{
	const struct chi_gameset_request *asked = request;
	struct chi_gameset_job *job = NULL;
	int status = chi_gameset_open(ask->read, asked->name, asked->filter, strlen(asked->filter),
				      &job, ask->fault);
	ask->made = job;
	return status;
}

static int step_making(void *made, uint64_t steps)
{
	return chi_gameset_step(made, steps);
}

static void close_making(void *made)
{
	chi_gameset_close(made);
}

static const struct chi_making making = {
	.open = open_making,
	.step = step_making,
	.close = close_making,
};

static int save_gameset(struct chi_ask *ask, struct chi_write *write, const void *request,
			void *result)
{
	struct chi_affected *done = result;
	(void)request;
	done->n = chi_gameset_games(ask->made);
	return chi_gameset_save(ask->made, write, ask->fault);
}

static int drop_gameset(struct chi_ask *ask, struct chi_write *write, const void *request,
			void *result)
{
	const struct chi_gamesets_spec *asked = request;
	struct chi_affected *done = result;
	int status = chi_gameset_remove(write, asked->name, ask->fault);
	done->n = status == CHI_OK;
	return status == CHI_NONE ? CHI_OK : status;
}

const struct chi_change_ops chi_make_gameset_ops = {
	.kind = CHI_IDEMPOTENCY_MAKE_GAMESET,
	.n_counts = 1,
	.check = check_make,
	.making = &making,
	.write = save_gameset,
};

const struct chi_change_ops chi_drop_gameset_ops = {
	.kind = CHI_IDEMPOTENCY_DROP_GAMESET,
	.n_counts = 1,
	.check = check_drop,
	.write = drop_gameset,
};
