/* SPDX-License-Identifier: MIT */
/*
 * Makes the table of openings when Chistore is built: reads lines of "eco, name, moves", plays
 * the moves, and writes C source with the positions in order.
 *
 *    openings_gen OUT.c A.tsv...
 *
 * Where several lines lead to one position, the shortest gives the name, of equally short ones the
 * first. Not part of the library.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "chess/openings/openings_priv.h"

#define LINE_SIZE 1024 /* of a table; the longest has some 270 bytes */

struct line {
	struct chi_key key;
	char eco[CHI_ECO_SIZE];
	char *name;
	size_t plies;
	size_t number; /* in the order read */
	size_t offset; /* of the name, in the text of all names */
};

struct line_table {
	struct line *lines;
	size_t n;
	size_t capacity;
	struct chi_position start;
};

static void table_free(struct line_table *table)
{
	for (size_t i = 0; i < table->n; i++) {
		free(table->lines[i].name);
	}
	free(table->lines);
}

static void file_closep(FILE **file)
{
	if (*file != NULL) {
		(void)fclose(*file);
	}
}

/* Room for one line more; NULL without memory. */
static struct line *next_line(struct line_table *table)
{
	if (table->n == table->capacity) {
		size_t capacity = table->capacity == 0 ? 4096 : table->capacity * 2;
		struct line *lines = realloc(table->lines, capacity * sizeof(*lines));
		if (lines == NULL) {
			return NULL;
		}
		table->lines = lines;
		table->capacity = capacity;
	}
	struct line *line = &table->lines[table->n];
	*line = (struct line){.number = table->n};
	return line;
}

/* Plays the moves; the position after them is the line's key. */
static int play_line(const struct line_table *table, const char *moves, struct line *line,
		     struct chi_fault *fault)
{
	chi_move played[CHI_LINE_MAX];
	struct chi_position position = table->start;
	int status = chi_line_parse(&position, moves, strlen(moves), played, CHI_LINE_MAX,
				    &line->plies, fault);
	if (status < 0) {
		return status;
	}
	for (size_t i = 0; i < line->plies; i++) {
		struct chi_position next;
		chi_position_play(&position, played[i], &next);
		position = next;
	}
	chi_key_encode(&position, &line->key);
	return CHI_OK;
}

/* Takes one line of a file, which is cut into its columns. */
static int take_opening(struct line_table *table, char *text, struct chi_fault *fault)
{
	char *rest = text;
	const char *eco = strsep(&rest, "\t");
	const char *name = strsep(&rest, "\t");
	const char *moves = strsep(&rest, "\t");
	struct line *line = next_line(table);
	if (moves == NULL || rest != NULL || strlen(eco) != CHI_ECO_SIZE - 1 || line == NULL) {
		return -CHI_ESYNTAX;
	}
	memcpy(line->eco, eco, CHI_ECO_SIZE);
	line->name = strdup(name);
	if (line->name == NULL) {
		return -CHI_ENOMEM;
	}
	table->n++;
	return play_line(table, moves, line, fault);
}

/* Reads a file after its header line; says what is wrong with it. */
static int read_file(struct line_table *table, const char *path)
{
	_cleanup_(file_closep) FILE *file = fopen(path, "r");
	char text[LINE_SIZE];
	size_t number = 0;
	if (file == NULL) {
		perror(path);
		return -CHI_EIO;
	}
	while (fgets(text, sizeof(text), file) != NULL) {
		struct chi_fault fault = {"not three columns"};
		text[strcspn(text, "\r\n")] = '\0';
		int status = number++ == 0 ? CHI_OK : take_opening(table, text, &fault);
		if (status < 0) {
			(void)fprintf(stderr, "%s:%zu: %s\n", path, number, fault.text);
			return status;
		}
	}
	return ferror(file) == 0 ? CHI_OK : -CHI_EIO;
}

/* By position; within one, the line that gives the name comes first. */
static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left;
	const struct line *b = right;
	int order = memcmp(a->key.bytes, b->key.bytes, CHI_KEY_MAX);
	if (order != 0) {
		return order;
	}
	if (a->plies != b->plies) {
		return a->plies < b->plies ? -1 : 1;
	}
	return a->number < b->number ? -1 : 1;
}

/* Of each position the first line stays. */
static void drop_equal(struct line_table *table)
{
	size_t kept = 0;
	for (size_t i = 0; i < table->n; i++) {
		struct line *line = &table->lines[i];
		if (kept > 0 &&
		    memcmp(&line->key, &table->lines[kept - 1].key, sizeof(line->key)) == 0) {
			free(line->name);
		} else {
			table->lines[kept++] = *line;
		}
	}
	table->n = kept;
}

/* UTF-8 may be in a literal as it is. */
static void print_name(FILE *out, const char *name)
{
	(void)fputs("\t\"", out);
	for (; *name != '\0'; name++) {
		if (*name == '"' || *name == '\\') {
			(void)putc('\\', out);
		}
		(void)putc(*name, out);
	}
	(void)fputs("\\0\"\n", out);
}

/* Many lines share a name: it is written once. */
static void print_names(FILE *out, struct line_table *table)
{
	size_t end = 0;
	(void)fputs("const char chi_opening_names[] =\n", out);
	for (size_t i = 0; i < table->n; i++) {
		size_t same = 0;
		while (strcmp(table->lines[same].name, table->lines[i].name) != 0) {
			same++;
		}
		if (same < i) {
			table->lines[i].offset = table->lines[same].offset;
			continue;
		}
		table->lines[i].offset = end;
		end += strlen(table->lines[i].name) + 1;
		print_name(out, table->lines[i].name);
	}
	(void)fputs("\t;\n\n", out);
}

static void print_table(FILE *out, struct line_table *table)
{
	(void)fputs("/* Made by chess/openings/generate.c from chess/openings/. */\n"
		    "#include \"chess/openings/openings_priv.h\"\n\n",
		    out);
	print_names(out, table);
	(void)fprintf(out,
		      "const size_t chi_openings_count = %zu;\n\n"
		      "const struct chi_opening chi_openings[] = {\n",
		      table->n);
	for (size_t i = 0; i < table->n; i++) {
		const struct line *line = &table->lines[i];
		(void)fputs("\t{{", out);
		for (size_t j = 0; j < line->key.len; j++) {
			(void)fprintf(out, "%s%d", j > 0 ? "," : "", line->key.bytes[j]);
		}
		(void)fprintf(out, "}, \"%s\", %zu, %zu},\n", line->eco, line->offset, line->plies);
	}
	(void)fputs("};\n", out);
}

/* The key's first eight bytes are the occupied squares, a1 in the highest bit. */
static uint64_t occupied_of(const struct chi_key *key)
{
	uint64_t occupied = 0;
	for (unsigned i = 0; i < 64; i++) {
		occupied |= (uint64_t)(key->bytes[i / 8] >> (7 - i % 8) & 1) << i;
	}
	return occupied;
}

static void print_filter(FILE *out, const struct line_table *table)
{
	uint64_t filter[CHI_OPENING_WORDS] = {0};
	for (size_t i = 0; i < table->n; i++) {
		uint64_t bits;
		size_t word = chi_opening_bits(occupied_of(&table->lines[i].key), &bits);
		filter[word] |= bits;
	}
	(void)fputs("\nconst uint64_t chi_opening_filter[CHI_OPENING_WORDS] = {\n", out);
	for (size_t i = 0; i < CHI_OPENING_WORDS; i++) {
		(void)fprintf(out, "\tUINT64_C(0x%016" PRIx64 "),\n", filter[i]);
	}
	(void)fputs("};\n", out);
}

int main(int argc, char **argv)
{
	_cleanup_(table_free) struct line_table table = {0};
	if (argc < 3 ||
	    chi_fen_parse(CHI_FEN_START, strlen(CHI_FEN_START), &table.start, NULL) < 0) {
		(void)fprintf(stderr, "usage: openings_gen OUT.c A.tsv...\n");
		return EXIT_FAILURE;
	}
	for (int i = 2; i < argc; i++) {
		if (read_file(&table, argv[i]) < 0) {
			return EXIT_FAILURE;
		}
	}
	qsort(table.lines, table.n, sizeof(*table.lines), compare_lines);
	drop_equal(&table);
	FILE *out = fopen(argv[1], "w");
	if (out == NULL) {
		perror(argv[1]);
		return EXIT_FAILURE;
	}
	print_table(out, &table);
	print_filter(out, &table);
	bool failed = ferror(out) != 0;
	failed |= fclose(out) != 0;
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
