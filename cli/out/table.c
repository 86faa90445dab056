/* SPDX-License-Identifier: MIT */
/* What the terminal is asked for, once for each table; the rest is text. */
#include "cli/out/table.h"

#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fault.h"

const char *const table_colors[] = {"auto", "always", "never"};

/* True if the environment's locale (LC_ALL, LC_CTYPE, LANG) is one of UTF-8. */
static bool is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	if (locale == (locale_t)0) {
		return false;
	}
	bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return utf8;
}

/* A variable that is there and not empty. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* no-color.org: NO_COLOR, whatever it holds, unless colours were asked for on the command line. */
static bool wants_color(const struct table_options *options, bool terminal)
{
	const char *term = variable("TERM");
	bool able = term != NULL && strcmp(term, "dumb") != 0 && variable("NO_COLOR") == NULL;
	return options->color == TABLE_COLOR_ALWAYS ||
	       (options->color == TABLE_COLOR_AUTO && terminal && able);
}

bool table_open(const struct table_options *options, struct table *table)
{
	struct winsize size = {0};
	bool terminal = isatty(STDOUT_FILENO) != 0;
	*table = (struct table){
		.ascii = options->ascii || !is_utf8(),
		.color = wants_color(options, terminal),
		.pager = terminal && !options->no_pager,
	};
	if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
		table->width = size.ws_col;
		table->lines = size.ws_row;
	}
	table->out = open_memstream(&table->text, &table->len);
	if (table->out == NULL) {
		(void)cli_no_memory();
		return false;
	}
	return true;
}

static bool is_long(const struct table *table)
{
	size_t lines = 1; /* the shell's next prompt */
	for (size_t i = 0; i < table->len; i++) {
		lines += table->text[i] == '\n' ? 1 : 0;
	}
	return table->lines > 0 && lines > table->lines;
}

/* By the shell, as PAGER may have arguments. less gets the colours through, and leaves the table on
 * the screen; variables that are set say otherwise. False if there is no pager. */
static bool page(const struct table *table)
{
	const char *pager = getenv("PAGER");
	pager = pager != NULL ? pager : "less";
	if (pager[0] == '\0' || strcmp(pager, "cat") == 0 || setenv("LESS", "FRX", 0) != 0) {
		return false;
	}
	(void)fflush(stdout);
	/* Ctrl-C belongs to the pager, and anyone may leave it before the end. */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*broken)(int) = signal(SIGPIPE, SIG_IGN);
	FILE *pipe = popen(pager, "w");
	int status = -1;
	if (pipe != NULL) {
		/* Past stdio, whose own failure would hide the shell's exit code. */
		ssize_t written = 1;
		for (size_t at = 0; at < table->len && written > 0; at += (size_t)written) {
			written = write(fileno(pipe), table->text + at, table->len - at);
		}
		status = pclose(pipe);
	}
	(void)signal(SIGINT, interrupt);
	(void)signal(SIGPIPE, broken);
	/* What the shell says of a command that it did not find. */
	return WIFEXITED(status) && WEXITSTATUS(status) != 127;
}

/* True if all that was written is in memory; says so if it is not. */
static bool is_whole(struct table *table)
{
	if (fflush(table->out) == 0 && ferror(table->out) == 0) {
		return true;
	}
	(void)cli_no_memory();
	cli_output_lost();
	return false;
}

void table_flush(struct table *table)
{
	if (is_whole(table)) {
		(void)fwrite(table->text, 1, table->len, stdout);
	}
	(void)fseeko(table->out, 0, SEEK_SET);
}

void table_close(struct table *table)
{
	if (is_whole(table) && (!table->pager || !is_long(table) || !page(table))) {
		(void)fwrite(table->text, 1, table->len, stdout);
	}
	table_deinit(table);
}

void table_deinit(struct table *table)
{
	if (table->out != NULL) {
		(void)fclose(table->out);
		free(table->text);
	}
	*table = (struct table){.out = NULL};
}

const char *table_bold(const struct table *table)
{
	return table->color ? "\x1b[1m" : "";
}

const char *table_plain(const struct table *table)
{
	return table->color ? "\x1b[0m" : "";
}

/* A byte that begins a character. */
static bool begins_word(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

size_t table_columns(const char *text, size_t len)
{
	size_t columns = 0;
	for (size_t i = 0; i < len; i++) {
		columns += begins_word(text[i]) ? 1 : 0;
	}
	return columns;
}

void table_print(const struct table *table, const char *text, size_t max)
{
	size_t size = strlen(text) + 1;
	_cleanup_(chi_freep) char *clean = malloc(size);
	if (clean == NULL) {
		cli_output_lost();
		return;
	}
	chi_text_clean(clean, size, text);
	size_t len = strlen(clean);
	bool cut = max > 0 && table_columns(clean, len) > max;
	size_t columns = 0;
	for (size_t i = 0; i < len; i++) {
		columns += begins_word(clean[i]) ? 1 : 0;
		if (cut && columns == max) {
			(void)fputs(table->ascii ? "~" : "\u2026", table->out);
			return;
		}
		(void)putc(clean[i], table->out);
	}
}

/* Three shades, White's first, or colours of blanks. Cells are rounded at their ends, so that they
 * always add up. */
void table_bar(const struct table *table, const struct chi_counts *counts, int columns)
{
	static const char *const shades[3][3] = {
		{"\u2588", "\u2592", "\u2591"},
		{"#", "=", "."},
		{"\x1b[48;5;255m ", "\x1b[48;5;244m ", "\x1b[48;5;236m "},
	};
	const char *const *shade = shades[table->color ? 2 : table->ascii ? 1 : 0];
	/* Summed where nothing overflows: a server may tell any numbers. */
	double decided = (double)counts->white + (double)counts->draws;
	double games = decided + (double)counts->black;
	double cells = columns / (games > 0 ? games : 1);
	int white = (int)((double)counts->white * cells + 0.5);
	int drawn = (int)(decided * cells + 0.5);
	for (int i = 0; i < columns; i++) {
		const char *cell = i < white ? shade[0] : i < drawn ? shade[1] : shade[2];
		(void)fputs(games > 0 ? cell : " ", table->out);
	}
	(void)fputs(table_plain(table), table->out);
}
