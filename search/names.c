/* SPDX-License-Identifier: MIT */
/* The games of all names of a kind are counted in one walk, whichever names are wanted. */
#include "search/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "store/archive.h"
#include "store/games/columns.h"
#include "store/names/names.h"

struct chi_names_query {
	struct chi_archive_view view;
	enum chi_name_kind kind;
	uint32_t *ids; /* of the rows; NULL: those of the groups */
	size_t n;      /* rows, or groups */
	uint64_t total;
	struct chi_suspect_list suspects;
	uint32_t most;	 /* the greatest number of a name */
	uint32_t *games; /* by number */
	uint32_t next;	 /* game that is counted next */
	bool is_later;	 /* on another snapshot than it was counted on */
};

/* The columns that hold numbers of the kind; those that a kind does not have are CHI_COLUMNS. */
static void columns_of(enum chi_name_kind kind, enum chi_column out[2])
{
	static const uint8_t first[CHI_NAME_KINDS] = {
		[CHI_NAME_PLAYER] = CHI_COLUMN_WHITE,
		[CHI_NAME_EVENT] = CHI_COLUMN_EVENT,
		[CHI_NAME_SITE] = CHI_COLUMN_SITE,
		[CHI_NAME_SOURCE] = CHI_COLUMN_SOURCE,
	};
	out[0] = first[kind];
	out[1] = kind == CHI_NAME_PLAYER ? CHI_COLUMN_BLACK : CHI_COLUMNS;
}

/* ---- Opening ------------------------------------------------------------------------------ */

void chi_names_query_close(struct chi_names_query *query)
{
	if (query != NULL) {
		free(query->ids);
		free(query->games);
		chi_suspect_list_deinit(&query->suspects);
		free(query);
	}
}

static void names_query_closep(struct chi_names_query **query)
{
	chi_names_query_close(*query);
}

static int make_query(struct chi_read *read, uint8_t kind, struct chi_names_query **out)
{
	_cleanup_(names_query_closep) struct chi_names_query *query = calloc(1, sizeof(*query));
	if (query == NULL) {
		return -CHI_ENOMEM;
	}
	query->kind = (enum chi_name_kind)kind;
	int rc = chi_read_archive(read, &query->view);
	rc = rc == CHI_OK ? chi_names_count(query->view.txn, query->view.trees.names, query->kind,
					    &query->most)
			  : rc;
	if (rc == CHI_OK) {
		query->games = calloc((size_t)query->most + 1, sizeof(query->games[0]));
		rc = query->games != NULL ? CHI_OK : -CHI_ENOMEM;
	}
	if (rc == CHI_OK) {
		*out = query;
		query = NULL;
	}
	return rc;
}

struct choice {
	struct chi_names_query *query;
	uint32_t after;
	uint32_t limit;
};

/* The rows: numbers after `after`, up to the limit. */
static void choose(struct choice *choice, uint32_t id)
{
	struct chi_names_query *query = choice->query;
	query->total++;
	if (id > choice->after && query->n < choice->limit) {
		query->ids[query->n++] = id;
	}
}

static int choose_name(void *context, const struct chi_name *name)
{
	choose(context, name->id);
	return CHI_OK;
}

static int choose_all(struct chi_names_query *query, const struct chi_names_spec *spec)
{
	_cleanup_(chi_name_ids_deinit) struct chi_name_ids ids = {0};
	struct choice choice = {.query = query, .after = spec->after};
	const struct chi_archive_view *view = &query->view;
	int rc = CHI_OK;
	bool every = spec->wanted == NULL || spec->wanted[0] == '\0';
	if (!every) {
		rc = chi_names_find(view->txn, view->trees.names, query->kind, spec->wanted, &ids);
	}
	size_t most = every ? query->most : ids.n;
	choice.limit = most < spec->limit ? (uint32_t)most : spec->limit;
	query->ids = calloc((size_t)choice.limit + 1, sizeof(query->ids[0]));
	if (rc != CHI_OK || query->ids == NULL) {
		return rc != CHI_OK ? rc : -CHI_ENOMEM;
	}
	for (size_t i = 0; i < ids.n; i++) {
		choose(&choice, ids.id[i]);
	}
	return every ? chi_names_walk(view->txn, view->trees.names, query->kind, 0, choose_name,
				      &choice)
		     : CHI_OK;
}

int chi_names_query_open(struct chi_read *read, const struct chi_names_spec *spec,
			 struct chi_names_query **out)
{
	_cleanup_(names_query_closep) struct chi_names_query *query = NULL;
	int rc = make_query(read, spec->kind, &query);
	rc = rc == CHI_OK ? choose_all(query, spec) : rc;
	if (rc != CHI_OK) {
		return rc;
	}
	*out = query;
	query = NULL;
	return CHI_OK;
}

int chi_suspects_query_open(struct chi_read *read, uint8_t kind, uint8_t least, uint32_t limit,
			    struct chi_names_query **out)
{
	_cleanup_(names_query_closep) struct chi_names_query *query = NULL;
	int rc = make_query(read, kind, &query);
	if (rc == CHI_OK) {
		rc = chi_names_suspects(query->view.txn, query->view.trees.names, query->kind,
					(enum chi_alike)least, &query->suspects);
	}
	if (rc != CHI_OK) {
		return rc;
	}
	query->total = query->suspects.n;
	query->n = query->suspects.n < limit ? query->suspects.n : limit;
	*out = query;
	query = NULL;
	return CHI_OK;
}

/* ---- Counting ----------------------------------------------------------------------------- */

static void count_chunk(struct chi_names_query *query, const struct chi_columns_chunk *chunk)
{
	enum chi_column columns[2];
	columns_of(query->kind, columns);
	for (uint32_t row = 0; row < chunk->n; row++) {
		if (chi_column_value(chunk, CHI_COLUMN_RESULT, row) == CHI_ROW_REMOVED) {
			continue;
		}
		uint32_t first = chi_column_value(chunk, columns[0], row);
		uint32_t second = columns[1] != CHI_COLUMNS
					  ? chi_column_value(chunk, columns[1], row)
					  : first;
		query->games[first <= query->most ? first : 0]++;
		if (second != first) {
			query->games[second <= query->most ? second : 0]++;
		}
	}
}

int chi_names_query_step(struct chi_names_query *query, uint64_t steps)
{
	struct chi_columns_reader reader;
	if (query->next > query->view.last) {
		return CHI_NONE;
	}
	int rc = chi_columns_reader_init(&reader, query->view.txn, query->view.trees.columns);
	if (rc != CHI_OK) {
		return rc;
	}
	rc = chi_columns_seek(&reader, query->next);
	for (; rc == CHI_OK && steps > 0; steps--) {
		count_chunk(query, &reader.chunk);
		query->next = reader.chunk.first + reader.chunk.n;
		rc = chi_columns_next(&reader);
	}
	chi_columns_reader_deinit(&reader);
	return rc;
}

/* ---- Rows --------------------------------------------------------------------------------- */

static int fill_row(const struct chi_names_query *query, struct chi_arena *arena, uint32_t id,
		    struct chi_name_row *out)
{
	struct chi_name name;
	int rc = chi_name_text(query->view.txn, query->view.trees.names, query->kind, id, &name);
	if (rc != CHI_OK) {
		return rc == CHI_NONE && !query->is_later ? -CHI_ECORRUPT : rc;
	}
	*out = (struct chi_name_row){
		.id = id,
		.root = name.root,
		.fide = name.fide,
		.given = name.given,
		.games = query->games[id],
		.text = chi_arena_text(arena, name.text, name.len),
	};
	return out->text != NULL ? CHI_OK : -CHI_ENOMEM;
}

int chi_names_query_attach(struct chi_names_query *query, struct chi_read *read)
{
	query->is_later = true;
	return chi_read_archive(read, &query->view);
}

size_t chi_names_query_n(const struct chi_names_query *query)
{
	return query->n;
}

uint64_t chi_names_query_total(const struct chi_names_query *query)
{
	return query->total;
}

int chi_names_query_row(const struct chi_names_query *query, size_t i, struct chi_arena *arena,
			struct chi_name_row *out)
{
	return fill_row(query, arena, query->ids[i], out);
}

int chi_names_query_group(const struct chi_names_query *query, size_t i, struct chi_arena *arena,
			  struct chi_name_suspects *out)
{
	const struct chi_suspects *found = &query->suspects.groups[i];
	struct chi_name_row *rows = chi_arena_array(arena, found->n, sizeof(*rows));
	int rc = rows != NULL ? CHI_OK : -CHI_ENOMEM;
	size_t n = 0;
	for (size_t k = 0; rc >= 0 && k < found->n; k++) {
		rc = fill_row(query, arena, found->ids[k], &rows[n]);
		n += rc == CHI_OK;
	}
	*out = (struct chi_name_suspects){.score = (uint8_t)found->score, .names = rows, .n = n};
	return rc < 0 ? rc : n < 2 ? CHI_NONE : CHI_OK;
}

size_t chi_names_query_memory(const struct chi_names_query *query)
{
	return sizeof(*query) + (query->ids != NULL ? query->n * sizeof(query->ids[0]) : 0) +
	       query->most * sizeof(query->games[0]) + chi_suspect_list_memory(&query->suspects);
}
