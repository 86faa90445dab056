/* SPDX-License-Identifier: MIT */
/* Names of openings: every line of the tables is played once more and looked up. */
#include "tests/chess/support.h"

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "chess/openings/openings.h"

#define LINES_MAX 8192

struct line {
	struct chi_key key;
	size_t plies;
	char eco[4];
	char *name;
};

static struct line *lines;
static size_t n_lines;

static struct chi_key key_behind(const char *moves, size_t *plies)
{
	struct chi_position position = position_of(START_FEN);
	struct chi_fault fault = {{0}};
	struct chi_key key;
	chi_move played[CHI_LINE_MAX];
	if (chi_line_parse(&position, moves, strlen(moves), played, CHI_LINE_MAX, plies, &fault) !=
	    CHI_OK) {
		fail_msg("%s: %s", moves, fault.text);
	}
	for (size_t i = 0; i < *plies; i++) {
		struct chi_position next;
		chi_position_play(&position, played[i], &next);
		position = next;
	}
	chi_key_encode(&position, &key);
	return key;
}

static void read_table(char letter)
{
	char path[4096];
	char text[1024];
	const char *folder = getenv("CHISTORE_OPENINGS");
	assert_non_null(folder);
	snprintf(path, sizeof(path), "%s/%c.tsv", folder, letter);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_true(read_line(file, text, sizeof(text)));
	assert_string_equal(text, "eco\tname\tpgn");
	while (read_line(file, text, sizeof(text))) {
		char *name = strchr(text, '\t');
		char *moves = name != NULL ? strchr(name + 1, '\t') : NULL;
		assert_non_null(moves);
		*name++ = '\0';
		*moves++ = '\0';
		assert_true(n_lines < LINES_MAX);
		struct line *line = &lines[n_lines++];
		line->key = key_behind(moves, &line->plies);
		assert_int_equal(strlen(text), 3);
		memcpy(line->eco, text, sizeof(line->eco));
		line->name = strdup(name);
		assert_non_null(line->name);
	}
	fclose(file);
}

static int read_tables(void **state)
{
	(void)state;
	lines = calloc(LINES_MAX, sizeof(*lines));
	assert_non_null(lines);
	for (char letter = 'a'; letter <= 'e'; letter++) {
		read_table(letter);
	}
	return 0;
}

static int free_tables(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_lines; i++) {
		free(lines[i].name);
	}
	free(lines);
	return 0;
}

/* The line that names the position of lines[i]: the shortest, then the first. */
static size_t namer_of(size_t i)
{
	size_t best = i;
	for (size_t j = 0; j < n_lines; j++) {
		if (memcmp(&lines[j].key, &lines[i].key, sizeof(lines[i].key)) == 0 &&
		    (lines[j].plies < lines[best].plies ||
		     (lines[j].plies == lines[best].plies && j < best))) {
			best = j;
		}
	}
	return best;
}

CASE(finds_every_line)
{
	size_t shadowed = 0;
	for (size_t i = 0; i < n_lines; i++) {
		const char *eco;
		const char *name;
		const struct line *line = &lines[namer_of(i)];
		if (line != &lines[i]) {
			shadowed++;
			print_message("# '%s %s' is '%s %s'\n", lines[i].eco, lines[i].name,
				      line->eco, line->name);
		}
		if (chi_opening_find(&lines[i].key, &eco, &name) != CHI_OK) {
			fail_msg("%s is not found", lines[i].name);
		}
		assert_string_equal(eco, line->eco);
		assert_string_equal(name, line->name);
	}
	print_message("# %zu lines, %zu of them of positions that another one names\n", n_lines,
		      shadowed);
	assert_int_equal(n_lines, 3807);
	assert_int_equal(shadowed, 0);
}

/* Whatever the order of moves. */
CASE(finds_by_position)
{
	static const char *const ways[] = {"1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5",
					   "1. Nf3 Nc6 2. e4 e5 3. Bc4 Bc5",
					   "Nf3 e5 e4 Nc6 Bc4 Bc5"};
	for (size_t i = 0; i < CHI_COUNT(ways); i++) {
		const char *eco;
		const char *name;
		size_t plies;
		struct chi_key key = key_behind(ways[i], &plies);
		assert_int_equal(chi_opening_find(&key, &eco, &name), CHI_OK);
		assert_string_equal(eco, "C50");
		assert_string_equal(name, "Italian Game: Giuoco Piano");
	}
}

CASE(knows_no_other_position)
{
	static const char *const fens[] = {
		START_FEN,
		/* Known with White to move, with other rights, with en passant. */
		"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1",
		"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQk - 0 1",
		"8/8/8/8/3k4/8/3P4/R3K3 w - - 0 1",
		"8/8/8/8/8/8/8/K7 w - - 0 1",
	};
	for (size_t i = 0; i < CHI_COUNT(fens); i++) {
		const char *eco = "";
		const char *name = "";
		struct chi_key key;
		assert_int_equal(chi_key_from_fen(fens[i], strlen(fens[i]), &key, NULL), CHI_OK);
		assert_int_equal(chi_opening_find(&key, &eco, &name), CHI_NONE);
		assert_null(eco);
		assert_null(name);
	}
}

/* Neighbours of named positions in the table's order, and what is no key at all. */
CASE(survives_any_bytes)
{
	for (size_t i = 0; i < n_lines; i++) {
		const char *eco;
		const char *name;
		struct chi_key key = lines[i].key;
		key.bytes[i % CHI_KEY_MAX] ^= (uint8_t)(1 << i % 8);
		int status = chi_opening_find(&key, &eco, &name);
		assert_true(status == CHI_NONE || status == CHI_OK);
	}
	struct chi_key none = {0};
	const char *eco;
	const char *name;
	assert_int_equal(chi_opening_find(&none, &eco, &name), CHI_NONE);
	memset(&none, 0xff, sizeof(none));
	assert_int_equal(chi_opening_find(&none, &eco, &name), CHI_NONE);
}

/* What people call them. Names that may be several things are told as such. */
CASE(finds_by_what_it_is_called)
{
	static const struct {
		const char *text;
		size_t n;
		const char *eco; /* of the first */
		const char *name;
	} table[] = {
		{"B90", 1, "B90", "Sicilian Defense: Najdorf Variation"},
		{"b90", 1, "B90", "Sicilian Defense: Najdorf Variation"},
		{"E60", 1, "E60", "Indian Defense: West Indian Defense"},
		{"Najdorf", 1, "B90", "Sicilian Defense: Najdorf Variation"},
		{"sicilian najdorf", 1, "B90", "Sicilian Defense: Najdorf Variation"},
		{"SICILIAN DEFENSE, NAJDORF", 1, "B90", "Sicilian Defense: Najdorf Variation"},
		{"Sicilian", 1, "B20", "Sicilian Defense"},
		{"Dragon", 1, "B70", "Sicilian Defense: Dragon Variation"},
		{"Grunfeld", 1, "D80", "Gr\u00fcnfeld Defense"},
		{"Gr\u00dcnfeld", 1, "D80", "Gr\u00fcnfeld Defense"},
		{"ruy lopez", 1, "C60", "Ruy Lopez"},
		{"Petrov", 1, "C42", "Petrov's Defense"},
		{"petroff", 1, "C42", "Petrov's Defense"},
		{"Queen\u2019s Gambit", 1, "D06", "Queen's Gambit"},
		{"Evans Gambit", 1, "C51", "Italian Game: Evans Gambit"},
		{"Spanish", 1, "C60", "Ruy Lopez"},
		{"King's Indian", 2, "A07", "King's Indian Attack"},
		{"kings indian attack", 1, "A07", "King's Indian Attack"},
		{"Benon Class", 0, NULL, NULL}, /* found by its beginnings below */
		{"zzz", 0, NULL, NULL},
		{"fo ba", 0, NULL, NULL},
		{"", 0, NULL, NULL},
		{" ,:.'-", 0, NULL, NULL},
		{"F00", 0, NULL, NULL},
	};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		struct chi_opening_match found[3] = {{.eco = NULL}};
		size_t n = 99;
		int status = chi_opening_search(table[i].text, found, 1, &n);
		if (strcmp(table[i].text, "Benon Class") == 0) {
			assert_true(n > 0 && strstr(found[0].name, "Classical") != NULL);
			continue;
		}
		if (n != table[i].n || (n > 0 && strcmp(found[0].name, table[i].name) != 0)) {
			fail_msg("'%s': %zu, '%s'", table[i].text, n, n > 0 ? found[0].name : "");
		}
		assert_int_equal(status, n > 0 ? CHI_OK : CHI_NONE);
		if (n > 0) {
			const char *eco;
			const char *name;
			assert_string_equal(found[0].eco, table[i].eco);
			assert_int_equal(chi_opening_find(&found[0].key, &eco, &name), CHI_OK);
			assert_string_equal(name, table[i].name);
		}
		assert_null(found[1].eco);
	}
}

/* Every name in full finds itself and nothing else, by one of its shortest lines. */
CASE(finds_every_name)
{
	for (size_t i = 0; i < n_lines; i += 29) {
		struct chi_opening_match found;
		size_t n = 0;
		size_t least = SIZE_MAX;
		size_t plies = SIZE_MAX;
		assert_int_equal(chi_opening_search(lines[i].name, &found, 1, &n), CHI_OK);
		assert_int_equal(n, 1);
		assert_string_equal(found.name, lines[i].name);
		for (size_t j = 0; j < n_lines; j++) {
			bool same = strcmp(lines[j].name, lines[i].name) == 0;
			least = same && lines[j].plies < least ? lines[j].plies : least;
			if (memcmp(&lines[j].key, &found.key, sizeof(found.key)) == 0) {
				plies = lines[j].plies;
			}
		}
		assert_int_equal(plies, least);
	}
}

/* Every line is the opening of a game that goes on from it, until another has a name: no filter
 * hides a position. */
CASE(finds_the_opening_of_a_game)
{
	struct chi_position at[CHI_LINE_MAX + 1];
	for (size_t i = 0; i < n_lines; i++) {
		const char *eco;
		const char *name;
		const struct line *namer = &lines[namer_of(i)];
		assert_int_equal(chi_key_decode(&lines[i].key, &at[0], NULL), CHI_OK);
		at[1] = position_of("8/8/4k3/8/8/4K3/4P3/8 w - - 0 1");
		assert_int_equal(chi_opening_of_game(at, 2, &eco, &name), CHI_OK);
		assert_string_equal(eco, namer->eco);
		assert_string_equal(name, namer->name);
		assert_int_equal(chi_opening_of_game(at + 1, 1, &eco, &name), CHI_NONE);
		assert_null(eco);
	}
	assert_int_equal(chi_opening_of_game(at, 0, &(const char *){NULL}, &(const char *){NULL}),
			 CHI_NONE);
}

/* 1. d4 Nf6 2. c4 e6 3. Nf3 is E10 by any order of moves; what follows without a name does not
 * count. */
CASE(an_opening_may_be_reached_by_another_order)
{
	static const char *const games[] = {"d4 Nf6 c4 e6 Nf3", "Nf3 e6 c4 Nf6 d4",
					    "c4 Nf6 d4 e6 Nf3", "d4 e6 Nf3 Nf6 c4 a6 Rg1 Rg8"};
	for (size_t i = 0; i < CHI_COUNT(games); i++) {
		struct chi_position at[16] = {position_of(START_FEN)};
		struct chi_fault fault;
		chi_move played[16];
		const char *eco;
		const char *name;
		size_t n = 0;
		assert_int_equal(
			chi_line_parse(&at[0], games[i], strlen(games[i]), played, 15, &n, &fault),
			CHI_OK);
		for (size_t ply = 0; ply < n; ply++) {
			chi_position_play(&at[ply], played[ply], &at[ply + 1]);
		}
		assert_int_equal(chi_opening_of_game(at, n + 1, &eco, &name), CHI_OK);
		assert_string_equal(eco, "E10");
	}
}

CASES_MAIN(read_tables, free_tables)
