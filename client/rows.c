/* SPDX-License-Identifier: MIT */
/* Scans and queries of games, a row after the other, and counts. */
#include "client/core/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "chess/material.h"
#include "search/games.h"

struct chi_rows {
	struct chi_client *client;
	struct chi_row_pages pages;
	bool has_cursor; /* of a scan: it is not sorted */
	bool of_records; /* a scan's rows are entries */
	bool descending;
	uint8_t sort;		  /* of games */
	int status;		  /* of games; CHI_OK: there are more */
	bool mixed;		  /* of pages that are used up */
	struct chi_cursor begins; /* a scan's page at hand, after this row */
	struct chi_rows_place place;
	union {
		struct chi_row row; /* made from an entry */
		struct chi_game_row game;
	};
};

/* Begins them, of either kind; a refusal before that is in `status`. */
static int open_rows(struct chi_client *client, int status, enum chi_op op, const void *request,
		     struct chi_rows **out)
{
	*out = NULL;
	status = chi_client_settle(client, status);
	if (status != CHI_OK) {
		return status;
	}
	struct chi_rows *rows = calloc(1, sizeof(*rows));
	if (rows == NULL) {
		return -CHI_ENOMEM;
	}
	rows->client = client;
	status = chi_pages_begin(client, op, request, &rows->pages);
	if (status != CHI_OK) {
		chi_pages_end(client, &rows->pages);
		free(rows);
		return status;
	}
	client->rows = rows;
	client->rows_op = op;
	client->uses++;
	*out = rows;
	return CHI_OK;
}

void chi_rows_close(struct chi_rows *rows)
{
	if (rows == NULL || rows->client->in_next) {
		return;
	}
	struct chi_client *client = rows->client;
	chi_pages_end(client, &rows->pages);
	client->rows = NULL;
	chi_client_release(client);
	free(rows);
}

/* Rows of the other kind are not taken for these. */
static int refuse_kind(const struct chi_rows *rows)
{
	return chi_fail(&rows->client->error, -CHI_EINVAL,
			rows->pages.op == CHI_OP_SCAN ? "these are rows of a scan, not of games"
						      : "these are rows of games, not of a scan");
}

/* ---- Scans -------------------------------------------------------------------------------- */

/* A signature travels as text: one that is none must not become another. */
static int make_request(struct chi_client *client, const struct chi_scan_spec *spec,
			char material[CHI_MATERIAL_TEXT_SIZE], struct chi_scan_request *out)
{
	*out = (struct chi_scan_request){.material = NULL};
	int status = CHI_TAKE_SIZED(&out->spec, spec, &client->error);
	if (status != CHI_OK || !out->spec.filter.has_material) {
		return status;
	}
	(void)chi_material_print(&out->spec.filter.material, material);
	out->material = material;
	status = chi_filter_check(&out->spec.filter, &client->error);
	out->spec.filter.has_material = false;
	return status;
}

int chi_scan_open(struct chi_client *client, const struct chi_scan_spec *spec,
		  struct chi_rows **out)
{
	char material[CHI_MATERIAL_TEXT_SIZE];
	struct chi_scan_request request;
	int status = chi_client_begin(client);
	status = status == CHI_OK ? make_request(client, spec, material, &request) : status;
	status = open_rows(client, status, CHI_OP_SCAN, &request, out);
	if (status == CHI_OK) {
		(*out)->has_cursor = request.spec.sort == CHI_SORT_NONE;
		(*out)->of_records = request.spec.want == CHI_WANT_RECORDS;
		(*out)->begins = request.spec.after;
	}
	return chi_client_end(client, status);
}

/* Of the row delivered, not of the page: the rows after it may never be asked for. */
static struct chi_cursor cursor_of(const struct chi_rows *rows)
{
	const struct chi_row_pages *pages = &rows->pages;
	if (pages->at == 0) {
		return rows->begins;
	}
	const struct chi_row *row = &rows->row;
	if (!rows->of_records) {
		row = (const struct chi_row *)(const void *)pages->rows + (pages->at - 1);
	}
	return (struct chi_cursor){.set = rows->has_cursor, .chi2 = row->chi2, .key = row->key};
}

static bool is_mixed(const struct chi_rows *rows)
{
	const struct chi_scan_page *page = (const void *)rows->pages.result;
	return rows->mixed || page->mixed || rows->pages.is_mixed;
}

int chi_scan_next(struct chi_rows *rows, const struct chi_row **row,
		  const struct chi_record **record)
{
	struct chi_row_pages *pages = &rows->pages;
	if (record != NULL) {
		*record = NULL;
	}
	if (CHI_UNLIKELY(pages->op != CHI_OP_SCAN)) {
		*row = NULL;
		return refuse_kind(rows);
	}
	if (pages->at == pages->n) {
		rows->begins = cursor_of(rows);
		int status = chi_pages_more(rows->client, pages);
		rows->mixed = is_mixed(rows);
		if (status != CHI_OK) {
			pages->at = pages->n = 0;
			*row = NULL;
			return status;
		}
	}
	/* A failure after rows that are still delivered has left its text. */
	rows->client->error.text[0] = '\0';
	if (!rows->of_records) {
		*row = (const struct chi_row *)(const void *)pages->rows + pages->at++;
		return CHI_OK;
	}
	const struct chi_entry *entry =
		(const struct chi_entry *)(const void *)pages->rows + pages->at++;
	rows->row = (struct chi_row){
		.key = entry->key,
		.found = true,
		.chi2 = entry->record.chi2,
		.counts = entry->record.counts,
	};
	*row = &rows->row;
	if (record != NULL) {
		*record = &entry->record;
	}
	return CHI_OK;
}

int chi_scan_count(struct chi_client *client, const struct chi_scan_spec *spec, uint64_t *count,
		   bool *mixed)
{
	char material[CHI_MATERIAL_TEXT_SIZE];
	struct chi_scan_request request;
	struct chi_counted counted = {.count = 0};
	int status = chi_client_begin(client);
	status = status == CHI_OK ? make_request(client, spec, material, &request) : status;
	status = chi_client_settle(client, status);
	if (status == CHI_OK) {
		status = chi_client_call(client, CHI_OP_COUNT, &request, &counted);
	}
	*count = status == CHI_OK ? counted.count : 0;
	if (mixed != NULL) {
		*mixed = status == CHI_OK && counted.mixed;
	}
	return chi_client_end(client, status);
}

/* ---- Games -------------------------------------------------------------------------------- */

int chi_games_open(struct chi_client *client, const struct chi_game_spec *spec,
		   struct chi_rows **out)
{
	struct chi_game_spec asked;
	int status = CHI_BEGIN_WITH(client, &asked, spec);
	status = open_rows(client, status, CHI_OP_GAME_QUERY, &asked, out);
	if (status == CHI_OK) {
		struct chi_rows *rows = *out;
		rows->sort = asked.sort;
		rows->descending = asked.descending;
		/* Checked: it has room. */
		(void)snprintf(rows->place.games, sizeof(rows->place.games), "%s",
			       asked.cursor != NULL ? asked.cursor : "");
	}
	return chi_client_end(client, status);
}

int chi_games_next(struct chi_rows *rows, const struct chi_game_row **row)
{
	struct chi_client *client = rows->client;
	const void *found = NULL;
	*row = NULL;
	if (rows->pages.op != CHI_OP_GAME_QUERY) {
		return refuse_kind(rows);
	}
	if (rows->status != CHI_OK) {
		return rows->status;
	}
	client->error.text[0] = '\0';
	chi_dir_forget_damage();
	rows->status = chi_pages_next(client, &rows->pages, &found);
	if (rows->status == CHI_OK) {
		struct chi_game_row *game = &rows->game;
		memcpy(game, found, sizeof(*game));
		game->pgn = game->pgn != NULL ? game->pgn : "";
		if (game->white == NULL) {
			game->white = game->black = game->event = game->site = game->round =
				game->source = "";
		}
		*row = game;
	}
	return chi_client_fail(client, rows->status);
}

/* ---- Both --------------------------------------------------------------------------------- */

const struct chi_rows_place *chi_rows_state(struct chi_rows *rows)
{
	if (rows->pages.op == CHI_OP_SCAN) {
		rows->place.cursor = cursor_of(rows);
		rows->place.mixed = is_mixed(rows);
	} else {
		const struct chi_games_page *page = (const void *)rows->pages.result;
		if (rows->game.head.number != 0) {
			size_t len = chi_game_walk_cursor_of(&rows->game.head, rows->sort,
							     rows->descending, rows->place.games);
			rows->place.games[len] = '\0';
		}
		rows->place.total = page->total;
		rows->place.has_total = page->has_total;
		rows->place.plan = page->plan;
	}
	return &rows->place;
}
