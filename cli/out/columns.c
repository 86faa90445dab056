/* SPDX-License-Identifier: MIT */
/* A row becomes values first, as a line is printed whole or not at all. */
#include "cli/out/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/num.h"
#include "base/wire.h"
#include "cli/out/export_text.h"
#include "cli/out/output.h"
#include "cli/out/record.h"

/* ---- Forms ------------------------------------------------------------------------------- */

static void print_json_string(FILE *file, const char *text, size_t len)
{
	uint8_t few[1024];
	size_t size = 2 + 6 * len; /* each byte may become six */
	_cleanup_(chi_freep) uint8_t *many = size > sizeof(few) ? malloc(size) : NULL;
	uint8_t *bytes = many != NULL ? many : few;
	struct chi_writer w = chi_writer_of(bytes, many != NULL ? size : sizeof(few));
	if (record_put_string(&w, text, len) != CHI_OK || w.bad) {
		cli_output_lost();
	}
	(void)fwrite(bytes, 1, (size_t)(w.at - bytes), file);
}

/* JSON's reals have a point, and no zero after the first digit behind it. */
static void print_json_value(FILE *file, const struct chi_cell *value)
{
	char text[32];
	switch (value->kind) {
	case VALUE_TEXT:
		print_json_string(file, value->text, value->len);
		break;
	case VALUE_NUMBER: {
		bool zero = memchr(value->text, '.', value->len) != NULL &&
			    value->text[value->len - 1] == '0' &&
			    value->text[value->len - 2] != '.';
		(void)fwrite(value->text, 1, value->len - (zero ? 1 : 0), file);
		break;
	}
	case VALUE_REAL:
		(void)snprintf(text, sizeof(text), "%.5g", value->real);
		fprintf(file, "%s%s", text, strchr(text, '.') != NULL ? "" : ".0");
		break;
	default:
		fputs("null", file);
		break;
	}
}

/* Without what a terminal would obey. */
static void print_clean(FILE *file, const char *text, size_t len)
{
	size_t plain = 0;
	while (plain < len && text[plain] >= ' ' && text[plain] <= '~') {
		plain++;
	}
	if (plain == len) {
		(void)fwrite_unlocked(text, 1, len, file);
		return;
	}
	_cleanup_(chi_freep) char *clean = strndup(text, len);
	if (clean == NULL) {
		cli_output_lost();
		return;
	}
	chi_text_clean(clean, len + 1, clean);
	fputs(clean, file);
}

static void print_cell(FILE *file, enum columns_form form, const struct chi_cell *value)
{
	if (value->kind == VALUE_UNKNOWN) {
		fputs(form == COLUMNS_CSV ? "" : "-", file);
	} else if (value->kind == VALUE_REAL) {
		fprintf(file, "%.3f", value->real);
	} else if (value->kind == VALUE_NUMBER) {
		(void)fwrite_unlocked(value->text, 1, value->len, file);
	} else if (form == COLUMNS_ROWS) {
		print_clean(file, value->text, value->len);
	} else {
		export_cell(file, form == COLUMNS_CSV ? ',' : '\t', value->text, value->len);
	}
}

void columns_head(FILE *file, enum columns_form form, const struct chi_row_column *columns,
		  size_t n)
{
	for (size_t i = 0; form != COLUMNS_JSON && i < n; i++) {
		fprintf(file, "%s%c", columns[i].name,
			i + 1 == n	      ? '\n'
			: form == COLUMNS_CSV ? ','
					      : '\t');
	}
}

int columns_row(FILE *file, enum columns_form form, const struct chi_row_column *columns, size_t n,
		const void *row)
{
	struct chi_cell values[COLUMNS_MAX];
	for (size_t i = 0; i < n; i++) {
		chi_cell_fill(&columns[i], row, &values[i]);
		if (form == COLUMNS_JSON && values[i].kind == VALUE_TEXT &&
		    !chi_utf8_valid(values[i].text, values[i].len)) {
			return -CHI_ECORRUPT;
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (form == COLUMNS_JSON) {
			fprintf(file, "%c\"%s\":", i > 0 ? ',' : '{', columns[i].name);
			print_json_value(file, &values[i]);
			continue;
		}
		if (i > 0) {
			(void)putc_unlocked(form == COLUMNS_CSV ? ',' : '\t', file);
		}
		print_cell(file, form, &values[i]);
	}
	fputs(form == COLUMNS_JSON ? "}\n" : "\n", file);
	return CHI_OK;
}

/* NULL without memory, and of a text that is not UTF-8. jansson's integers are signed. */
static json_t *json_of_cell(const struct chi_cell *cell)
{
	char text[32];
	if (cell->kind == VALUE_TEXT) {
		return json_stringn(cell->text, cell->len);
	}
	if (cell->kind != VALUE_NUMBER) {
		return cell->kind == VALUE_REAL ? json_real(cell->real) : json_null();
	}
	(void)snprintf(text, sizeof(text), "%.*s", (int)cell->len, cell->text);
	return strchr(text, '.') != NULL ? json_real(strtod(text, NULL))
					 : json_count(strtoull(text, NULL, 10));
}

json_t *columns_object(const struct chi_row_column *columns, size_t n, const void *row)
{
	json_t *object = json_object();
	for (size_t i = 0; i < n; i++) {
		struct chi_cell cell;
		chi_cell_fill(&columns[i], row, &cell);
		if (json_object_set_new(object, columns[i].name, json_of_cell(&cell)) != 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

/* ---- Lists ------------------------------------------------------------------------------- */

void rows_head(struct cli_rows *rows)
{
	if (!rows->has_head && !rows->cli->json) {
		columns_head(stdout, COLUMNS_ROWS, rows->columns, rows->n);
	}
	rows->has_head = true;
}

void rows_print(struct cli_rows *rows, const void *row)
{
	rows_head(rows);
	if (columns_row(stdout, rows->cli->json ? COLUMNS_JSON : COLUMNS_ROWS, rows->columns,
			rows->n, row) != CHI_OK) {
		output_json(NULL);
	}
}
