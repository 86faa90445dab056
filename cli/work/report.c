/* SPDX-License-Identifier: MIT */
#include "cli/work/report.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out/output.h"

/* Narrow screens scroll a table, not the page; dark where the reader's system is. */
static const char style[] =
	":root{color-scheme:light dark;--text:#222;--back:#fff;--faint:#666;--line:#ddd;"
	"--soft:#f4f3ee}"
	"@media(prefers-color-scheme:dark){:root{--text:#ddd;--back:#1b1b1b;--faint:#999;"
	"--line:#3a3a3a;--soft:#262626}}"
	"body{max-width:70em;margin:0 auto;padding:1em;color:var(--text);background:var(--back);"
	"font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}"
	"h1{font-size:1.5em}h2{font-size:1.15em;margin:1.8em 0 .3em}"
	"p{margin:.3em 0}.what,dt,th{color:var(--faint)}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em}dd{margin:0}"
	".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9em}"
	"th,td{padding:.2em .6em;border-bottom:1px solid var(--line);text-align:left;"
	"overflow-wrap:normal;vertical-align:top}th{font-weight:500}"
	"td.number{text-align:right;font-variant-numeric:tabular-nums}"
	"code{font-size:.85em;background:var(--soft);padding:.1em .3em;border-radius:3px}"
	"pre{white-space:pre-wrap;margin:.4em 0}";

/* A control character means nothing here, and some are no HTML. */
static void put_escaped(FILE *file, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		switch (c) {
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '&':
			fputs("&amp;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		case '\'':
			fputs("&#39;", file);
			break;
		default:
			(void)fputc(c < 0x20 || c == 0x7f ? '?' : c, file);
		}
	}
}

/* A text as it is to be read. */
static void say_text(const struct report *report, const char *text)
{
	put_escaped(report->file, text, strlen(text));
}

/* ---- Games -------------------------------------------------------------------------------- */

bool report_join(const struct report *report, const struct chi_filter_term *more, size_t n,
		 char out[CHI_FILTER_TEXT_SIZE])
{
	struct chi_filter_term terms[4] = {{.name = "filter", .value = report->filter}};
	memcpy(&terms[1], more, n * sizeof(*more));
	if (chi_filter_text(terms, n + 1, out, CHI_FILTER_TEXT_SIZE) != CHI_OK) {
		(void)cli_usage(report->cli, "too much is asked of the games");
		return false;
	}
	return true;
}

int report_count(const struct report *report, const char *filter, uint64_t *out)
{
	const struct chi_game_spec spec = {CHI_GAME_SPEC_INIT, .filter = filter, .limit = 1,
					   .want_total = true, .skip_ply = true};
	_cleanup_(chi_rows_closep) struct chi_rows *rows = NULL;
	const struct chi_game_row *row = NULL;
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	int status = chi_games_open(report->cli->client, &spec, &rows);
	while (status == CHI_OK) {
		status = chi_games_next(rows, &row);
	}
	*out = status == CHI_NONE ? chi_rows_state(rows)->total : 0;
	return status == CHI_NONE ? EXIT_DONE : cli_fail(report->cli->client, status);
}

/* ---- Commands ----------------------------------------------------------------------------- */

struct report_command report_asks(const struct report *report, const char *name)
{
	struct report_command command = {.n = 0};
	report_word(&command, name, NULL);
	if (report->filter[0] != '\0') {
		report_word(&command, "--filter", report->filter);
	}
	return command;
}

void report_word(struct report_command *command, const char *word, const char *value)
{
	command->words[command->n++] = word;
	if (value != NULL) {
		command->words[command->n++] = value;
	}
}

/* A word for a shell, in quotation marks where it needs them. */
static void put_word(const struct report *report, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._/:=,";
	(void)fputc(' ', report->file);
	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		say_text(report, word);
		return;
	}
	say_text(report, "'");
	for (; *word != '\0'; word++) {
		if (*word == '\'') {
			say_text(report, "'\\''");
		} else if (*word == '\n' || *word == '\t') {
			(void)fputc(*word, report->file);
		} else {
			put_escaped(report->file, word, 1);
		}
	}
	say_text(report, "'");
}

void report_command(const struct report *report, const struct report_command *command, bool in_row)
{
	const struct cli *cli = report->cli;
	fputs(in_row ? "<details><summary>command</summary><code class=\"command\">chistore -a"
		     : "<pre><code class=\"command\">chistore -a",
	      report->file);
	put_word(report, cli->address);
	if (cli->store != NULL) {
		fputs(" --store", report->file);
		put_word(report, cli->store);
	}
	for (size_t i = 0; i < command->n; i++) {
		put_word(report, command->words[i]);
	}
	fputs(in_row ? "</code></details>" : "</code></pre>\n", report->file);
}

/* ---- The page ----------------------------------------------------------------------------- */

void report_begin(const struct report *report, const char *title, const struct chi_info *info)
{
	char uuid[UUID_SIZE];
	uuid_print(info->uuid, uuid);
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
	      report->file);
	say_text(report, title);
	fprintf(report->file, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
	say_text(report, title);
	fprintf(report->file,
		"</h1>\n<dl>\n<dt>Store</dt><dd>%s</dd>\n<dt>Sequence</dt><dd>%" PRIu64
		"</dd>\n</dl>\n",
		uuid, info->sequence);
}

void report_end(const struct report *report)
{
	fputs("</body>\n</html>\n", report->file);
}

void report_section(const struct report *report, const char *title, const char *what)
{
	fputs("<h2>", report->file);
	say_text(report, title);
	fputs("</h2>\n<p class=\"what\">", report->file);
	say_text(report, what);
	fputs("</p>\n", report->file);
}

/* ---- Tables ------------------------------------------------------------------------------- */

void report_table(const struct report *report, const struct chi_row_column *columns, size_t n,
		  bool with_commands)
{
	fputs("<div class=\"scroll\"><table>\n<thead><tr>", report->file);
	for (size_t i = 0; i < n; i++) {
		fprintf(report->file, "<th>%s</th>", columns[i].name);
	}
	fprintf(report->file, "%s</tr></thead>\n<tbody>\n", with_commands ? "<th></th>" : "");
}

static void put_cell(const struct report *report, const struct chi_cell *cell)
{
	fputs(cell->kind == VALUE_NUMBER || cell->kind == VALUE_REAL ? "<td class=\"number\">"
								     : "<td>",
	      report->file);
	if (cell->kind == VALUE_UNKNOWN) {
		fputs("-", report->file);
	} else if (cell->kind == VALUE_REAL) {
		fprintf(report->file, "%.3f", cell->real);
	} else {
		put_escaped(report->file, cell->text, cell->len);
	}
	fputs("</td>", report->file);
}

void report_row(const struct report *report, const struct chi_row_column *columns, size_t n,
		const void *row, const struct report_command *command)
{
	struct chi_cell cell;
	fputs("<tr>", report->file);
	for (size_t i = 0; i < n; i++) {
		chi_cell_fill(&columns[i], row, &cell);
		put_cell(report, &cell);
	}
	if (command != NULL) {
		fputs("<td>", report->file);
		report_command(report, command, true);
		fputs("</td>", report->file);
	}
	fputs("</tr>\n", report->file);
}

void report_table_end(const struct report *report)
{
	fputs("</tbody>\n</table></div>\n", report->file);
}
