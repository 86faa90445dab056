/* SPDX-License-Identifier: MIT */
#include "search/brief_list.h"

#include <stdlib.h>

#include "base/attr.h"
#include "store/record/briefs.h"
#include "store/games/columns.h"

struct chi_brief_list {
	struct chi_archive_view view;
	struct chi_columns_reader columns; /* begun when a game is not known */
	uint32_t chunk;			   /* the first number of the last chunk that was read... */
	unsigned missed;		   /* ...for so many games */
	struct chi_reached *reached;	   /* NULL: there are no games */
	const struct chi_posting *entries; /* the next ones */
	size_t n;
	uint64_t from; /* the least number that may follow */
};

static void list_closep(struct chi_brief_list **list)
{
	chi_brief_list_close(*list);
}

int chi_brief_list_open(struct chi_read *read, const struct chi_key *key, uint64_t from,
			struct chi_brief_list **out)
{
	_cleanup_(list_closep) struct chi_brief_list *list = calloc(1, sizeof(*list));
	if (list == NULL) {
		return -CHI_ENOMEM;
	}
	uint32_t at = from < UINT32_MAX ? (uint32_t)from : UINT32_MAX;
	list->from = from;
	int rc = chi_read_archive(read, &list->view);
	rc = rc == CHI_OK ? chi_reached_open(read, key, at, &list->reached) : rc;
	if (rc < 0) {
		return rc;
	}
	*out = list;
	list = NULL;
	return CHI_OK;
}

void chi_brief_list_close(struct chi_brief_list *list)
{
	if (list != NULL) {
		chi_columns_reader_deinit(&list->columns);
		chi_reached_close(list->reached);
		free(list);
	}
}

uint64_t chi_brief_list_games(const struct chi_brief_list *list)
{
	return list->reached != NULL ? chi_reached_games(list->reached) : 0;
}

static void add_chunk(struct chi_brief_list *list)
{
	const struct chi_columns_chunk *chunk = &list->columns.chunk;
	for (uint32_t row = 0; row < chunk->n; row++) {
		struct chi_game_head head;
		if (chi_column_value(chunk, CHI_COLUMN_RESULT, row) < CHI_ROW_REMOVED) {
			chi_columns_head(chunk, row, &head);
			chi_briefs_add(list->view.trees.briefs, &head);
		}
	}
}

/* A list of many games asks a chunk for many of them. */
#define MISSED_FOR_ALL 4

static void add_missed(struct chi_brief_list *list, const struct chi_game_head *head)
{
	uint32_t first = list->columns.chunk.first;
	list->missed = first == list->chunk ? list->missed + 1 : 1;
	list->chunk = first;
	if (list->missed == MISSED_FOR_ALL) {
		add_chunk(list);
	} else {
		chi_briefs_add(list->view.trees.briefs, head);
	}
}

/* From its chunk, whose games are all known from then on if several are asked for. */
static int read_brief(struct chi_brief_list *list, uint32_t number, struct chi_game_head *head)
{
	uint32_t row = 0;
	int rc = list->columns.cursor == NULL
			 ? chi_columns_reader_begin(&list->columns, list->view.txn,
						    &list->view.trees)
			 : CHI_OK;
	rc = rc == CHI_OK ? chi_columns_find(&list->columns, number, &row) : rc;
	if (rc == CHI_OK) {
		chi_columns_head(&list->columns.chunk, row, head);
		add_missed(list, head);
	}
	return rc;
}

/* The first entry of the next game. */
static int find_entry(struct chi_brief_list *list, uint64_t *steps, const struct chi_posting **out)
{
	int rc = list->reached != NULL ? CHI_OK : CHI_NONE;
	*out = NULL;
	while (rc == CHI_OK && *out == NULL) {
		for (; list->n > 0 && list->entries->game < list->from; list->n--) {
			list->entries++;
		}
		if (list->n > 0) {
			*out = list->entries;
		} else if (*steps == 0) {
			break;
		} else {
			--*steps;
			rc = chi_reached_next(list->reached, &list->entries, &list->n);
		}
	}
	return rc;
}

int chi_brief_list_next(struct chi_brief_list *list, uint64_t *steps, struct chi_game_head *head,
			chi_move *move)
{
	const struct chi_posting *entry = NULL;
	for (;;) {
		int rc = find_entry(list, steps, &entry);
		if (rc != CHI_OK || entry == NULL) {
			head->number = 0;
			return rc;
		}
		*move = entry->move;
		list->from = entry->game + UINT64_C(1);
		if (chi_briefs_get(list->view.trees.briefs, entry->game, head)) {
			return CHI_OK;
		}
		rc = read_brief(list, entry->game, head);
		if (rc != CHI_NONE) {
			return rc;
		}
	}
}
