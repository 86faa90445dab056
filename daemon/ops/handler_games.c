/* SPDX-License-Identifier: MIT */
/* Single games, answered at once; and what was played from a position in the games that fit, a
 * run. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "daemon/ops/handler.h"
#include "ops/game_rows.h"
#include "daemon/ops/run.h"
#include "daemon/settings/limits.h"
#include "search/explore.h"
#include "search/filter/terms.h"
#include "search/texts.h"
#include "store/store.h"

_Static_assert(CHI_FILTER_MAX == CHI_TERMS_TEXT_MAX, "a filter that may be sent can be parsed");

int chi_task_filter(struct chi_task *task, const char *name, const char *field,
		    const struct chi_text *filter)
{
	struct chi_terms terms;
	int status = chi_terms_parse(filter->bytes, filter->len, &terms, &task->fault);
	return status < 0 ? chi_task_field(task, status, "%s.%s", name, field) : CHI_OK;
}

/* ---- Games ------------------------------------------------------------------------------- */

static int answer_game(struct chi_task *task, struct chi_game_texts *texts)
{
	struct chi_response response = {
		.id = task->request->id, .last = true, .op = CHI_OP_GET_GAME};
	uint32_t number = task->request->u.get_game.number;
	int status = chi_game_texts_game(texts, number, &task->worker->results,
					 &response.u.get_game.row, &response.u.get_game.game);
	if (status < 0) {
		return chi_fault(&task->fault, status, "cannot read game %u (%s)", number,
				 chi_strerror(status));
	}
	response.u.get_game.found = status == CHI_OK;
	response.u.get_game.whole = status == CHI_OK && task->request->u.get_game.whole;
	if (response.u.get_game.found && chi_response_size(&response) == 0) {
		return chi_fault(&task->fault, -CHI_ETOOBIG, CHI_GAME_TOO_LARGE, number);
	}
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}

/* Those that are there, in the order asked. */
static int answer_heads(struct chi_task *task, struct chi_game_texts *texts)
{
	struct chi_response response = {
		.id = task->request->id, .last = true, .op = CHI_OP_GET_HEADS};
	const uint32_t *numbers = task->request->u.get_heads.numbers;
	struct chi_arena *arena = &task->worker->results;
	size_t asked = task->request->u.get_heads.n;
	size_t n = 0;
	struct chi_game_row *rows = chi_arena_array(arena, asked, sizeof(*rows));
	int status = rows != NULL || asked == 0 ? CHI_OK : -CHI_ENOMEM;
	for (size_t i = 0; status == CHI_OK && i < asked; i++) {
		status = chi_game_texts_head(texts, numbers[i], arena, &rows[n]);
		n += status == CHI_OK ? 1 : 0;
		if (status < 0) {
			return chi_fault(&task->fault, status, "cannot read game %u (%s)",
					 numbers[i], chi_strerror(status));
		}
		status = CHI_OK;
	}
	response.u.get_heads.rows = rows;
	response.u.get_heads.n = n;
	if (status == CHI_OK && chi_response_size(&response) == 0) {
		return chi_fault(&task->fault, -CHI_ETOOBIG,
				 "the names of %zu games do not fit a response", n);
	}
	if (status == CHI_OK) {
		chi_conn_answer(task->conn, &response);
	}
	return status;
}

static int with_texts(struct chi_task *task,
		      int (*answer)(struct chi_task *task, struct chi_game_texts *texts))
{
	struct chi_game_texts *texts = NULL;
	struct chi_read *read = NULL;
	int status = chi_worker_read(task->worker, task->served, &read);
	status = status == CHI_OK ? chi_game_texts_new(&texts) : status;
	status = status == CHI_OK ? chi_game_texts_begin(texts, read) : status;
	status = status == CHI_OK ? answer(task, texts) : status;
	chi_game_texts_free(texts);
	return status;
}

int chi_handle_get_game(struct chi_task *task)
{
	return with_texts(task, answer_game);
}

int chi_handle_get_heads(struct chi_task *task)
{
	return with_texts(task, answer_heads);
}

/* ---- Explore ----------------------------------------------------------------------------- */

struct explore_run {
	struct chi_run run;
	struct chi_key key;
	struct chi_filtered_explore *explore; /* NULL: not open */
	struct chi_explore result;
	size_t filter_len;
	char filter[];
};

static struct explore_run *explore_of(struct chi_run *run)
{
	return (struct explore_run *)run;
}

static int open_explore(struct chi_run *run, struct chi_fault *fault)
{
	struct explore_run *explore = explore_of(run);
	return chi_filtered_explore_open(run->read, &explore->key, explore->filter,
					 explore->filter_len, &explore->explore, fault);
}

static void release_explore(struct chi_run *run)
{
	chi_filtered_explore_close(explore_of(run)->explore);
	explore_of(run)->explore = NULL;
}

/* It is over in a moment, or begins again. */
static bool explore_may_move(const struct chi_run *run)
{
	(void)run;
	return false;
}

static int step_explore(struct chi_run *run, struct chi_fault *fault)
{
	struct explore_run *explore = explore_of(run);
	int status = chi_filtered_explore_step(explore->explore, CHI_SEARCH_STEPS);
	if (status == CHI_NONE) {
		status = chi_filtered_explore_result(explore->explore, &run->page.arena,
						     &explore->result, fault);
		status = status == CHI_OK ? CHI_NONE : status;
	}
	return status;
}

static void fill_explore(struct chi_run *run, struct chi_response *response)
{
	const struct chi_filtered_explore *explore = explore_of(run)->explore;
	const char *name = NULL;
	response->u.explore = explore_of(run)->result;
	for (size_t i = 0; (name = chi_filtered_explore_unknown(explore, i)) != NULL; i++) {
		chi_run_tell_unknown(run, response, name);
	}
}

static size_t memory_of_explore(const struct chi_run *run)
{
	const struct explore_run *explore = (const struct explore_run *)run;
	return sizeof(*explore) - sizeof(*run) + explore->filter_len +
	       (explore->explore != NULL ? chi_filtered_explore_memory(explore->explore) : 0);
}

static void free_explore(struct chi_run *run)
{
	free(run);
}

static const struct chi_run_ops explore_ops = {
	.open = open_explore,
	.release = release_explore,
	.step = step_explore,
	.fill = fill_explore,
	.may_move = explore_may_move,
	.memory = memory_of_explore,
	.free = free_explore,
};

int chi_handle_explore_games(struct chi_task *task)
{
	const struct chi_text *filter = &task->request->u.explore.filter;
	struct chi_key key;
	int status = chi_task_explored(task, "explore_games", &key);
	status = status == CHI_OK ? chi_task_filter(task, "explore_games", "filter", filter)
				  : status;
	if (status < 0) {
		return status;
	}
	struct explore_run *explore = calloc(1, sizeof(*explore) + filter->len + 1);
	if (explore == NULL) {
		return -CHI_ENOMEM;
	}
	explore->key = key;
	explore->filter_len = filter->len;
	memcpy(explore->filter, filter->bytes, filter->len);
	chi_page_init(&explore->run.page, 1, 1);
	chi_run_start(&explore->run, &explore_ops, task, 1);
	return CHI_OK;
}
