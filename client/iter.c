/* SPDX-License-Identifier: MIT */
/* Scans, and counts. */
#include "client/core/rows.h"

#include <stdlib.h>
#include <string.h>

#include "chess/material.h"

struct chi_iter {
	struct chi_client *client;
	struct chi_rows rows;
	bool is_sorted;	 /* it has no cursor */
	bool of_records; /* rows are entries */
	bool mixed;
	struct chi_cursor cursor; /* where the page at hand begins */
	struct chi_row row;	  /* made from an entry */
};

/* A signature travels as text: one that is none must not become another. */
static int make_request(struct chi_client *client, const struct chi_scan_spec *spec,
			char material[CHI_MATERIAL_TEXT_SIZE], struct chi_scan_request *out)
{
	*out = (struct chi_scan_request){.spec = *spec};
	if (!spec->filter.has_material) {
		return CHI_OK;
	}
	(void)chi_material_print(&spec->filter.material, material);
	out->spec.filter.has_material = false;
	out->material = material;
	return chi_filter_check(&spec->filter, &client->error);
}

int chi_iter_open(struct chi_client *client, const struct chi_scan_spec *spec,
		  struct chi_iter **out)
{
	char material[CHI_MATERIAL_TEXT_SIZE];
	struct chi_scan_request request;
	*out = NULL;
	int status = chi_client_begin(client);
	status = status == CHI_OK ? make_request(client, spec, material, &request) : status;
	status = chi_client_settle(client, status);
	if (status != CHI_OK) {
		return chi_client_end(client, status);
	}
	struct chi_iter *iter = calloc(1, sizeof(*iter));
	if (iter == NULL) {
		return chi_client_end(client, -CHI_ENOMEM);
	}
	iter->client = client;
	iter->is_sorted = spec->sort != CHI_SORT_NONE;
	iter->of_records = spec->want == CHI_WANT_RECORDS;
	iter->cursor = spec->after;
	status = chi_rows_begin(client, CHI_OP_SCAN, &request, &iter->rows);
	if (status != CHI_OK) {
		chi_rows_end(client, &iter->rows);
		free(iter);
		return chi_client_end(client, status);
	}
	client->iter = iter;
	client->uses++;
	*out = iter;
	return chi_client_end(client, CHI_OK);
}

int chi_iter_next(struct chi_iter *iter, const struct chi_row **row,
		  const struct chi_record **record)
{
	struct chi_rows *rows = &iter->rows;
	if (record != NULL) {
		*record = NULL;
	}
	if (rows->at == rows->n) {
		chi_iter_cursor(iter, &iter->cursor);
		int status = chi_rows_more(iter->client, rows);
		iter->mixed = chi_iter_mixed(iter);
		if (status != CHI_OK) {
			rows->at = rows->n = 0;
			*row = NULL;
			return status;
		}
	}
	/* A failure after rows that are still delivered has left its text. */
	iter->client->error.text[0] = '\0';
	if (!iter->of_records) {
		*row = (const struct chi_row *)(const void *)rows->rows + rows->at++;
		return CHI_OK;
	}
	const struct chi_entry *entry =
		(const struct chi_entry *)(const void *)rows->rows + rows->at++;
	iter->row = (struct chi_row){
		.key = entry->key,
		.found = true,
		.chi2 = entry->record.chi2,
		.counts = entry->record.counts,
	};
	*row = &iter->row;
	if (record != NULL) {
		*record = &entry->record;
	}
	return CHI_OK;
}

/* Of the row delivered, not of the page: the rows after it may never be asked for. */
void chi_iter_cursor(const struct chi_iter *iter, struct chi_cursor *out)
{
	const struct chi_rows *rows = &iter->rows;
	if (rows->at == 0) {
		*out = iter->cursor;
		return;
	}
	const struct chi_row *row = &iter->row;
	if (!iter->of_records) {
		row = (const struct chi_row *)(const void *)rows->rows + (rows->at - 1);
	}
	*out = (struct chi_cursor){.set = !iter->is_sorted, .chi2 = row->chi2, .key = row->key};
}

bool chi_iter_mixed(const struct chi_iter *iter)
{
	const struct chi_scan_page *page = (const void *)iter->rows.result;
	return iter->mixed || page->mixed || iter->rows.is_mixed;
}

void chi_iter_close(struct chi_iter *iter)
{
	if (iter == NULL) {
		return;
	}
	struct chi_client *client = iter->client;
	chi_rows_end(client, &iter->rows);
	client->iter = NULL;
	chi_client_release(client);
	free(iter);
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
