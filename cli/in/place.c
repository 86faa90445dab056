/* SPDX-License-Identifier: MIT */
/* Where a position starts is told by its form: a FEN has slashes, a name has no digit. */
#include "cli/in/place.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "chess/openings/openings.h"

#define START_NAME "startpos"
#define MOVES_NAME "moves" /* between a position and its moves in UCI; means nothing */

#define TEXT_SIZE      4096 /* of a line that is no FEN alone: the longest line of moves fits */
#define NAME_SIZE      256
#define CANDIDATES_MAX 20

static bool is_word(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

static bool is_fen(const char *text)
{
	return strchr(text, '/') != NULL;
}

/* "startpos", alone or with moves after it in one argument. */
static bool is_startpos(const char *text)
{
	size_t len = strlen(START_NAME);
	return strncmp(text, START_NAME, len) == 0 && (text[len] == '\0' || text[len] == ' ');
}

static bool is_eco(const char *text)
{
	return strlen(text) == 3 && strchr("ABCDEabcde", text[0]) != NULL &&
	       isdigit((unsigned char)text[1]) != 0 && isdigit((unsigned char)text[2]) != 0;
}

/* Every move has the digit of a rank but castling; and no move has four letters in a row but one
 * such as "e8queen". */
static bool is_name(const char *text)
{
	size_t run = 0;
	bool letters = false;
	bool digits = false;
	if (is_eco(text)) {
		return true;
	}
	if (is_startpos(text) || is_word(text, MOVES_NAME) || is_fen(text)) {
		return false;
	}
	for (const char *c = text; *c != '\0'; c++) {
		bool letter = isalpha((unsigned char)*c) != 0 || (unsigned char)*c >= 0x80;
		run = letter ? run + 1 : 0;
		letters = letters || (letter && strchr("Oo", *c) == NULL);
		digits = digits || isdigit((unsigned char)*c) != 0;
		if (run >= 4 && !digits) {
			return true;
		}
	}
	return letters && !digits;
}

/* Takes the key and the name that it has, if it has one. */
static void arrive(struct place *place, const struct chi_key *key)
{
	const char *eco;
	const char *opening;
	place->key = *key;
	place->plies++;
	if (chi_opening_find(key, &eco, &opening) == CHI_OK) {
		place->eco = eco;
		place->opening = opening;
		place->plies = 0;
	}
}

/* Plays the moves of one text. */
static int play(const struct cli *cli, const char *text, const char *where, struct place *place)
{
	chi_move moves[CHI_LINE_MAX];
	struct chi_fault fault = {.text = ""};
	struct chi_position position;
	size_t n = 0;
	int status = chi_key_decode(&place->key, &position, &fault);
	if (status == CHI_OK) {
		status = chi_line_parse(&position, text, strlen(text), moves, CHI_LINE_MAX, &n,
					&fault);
	}
	for (size_t i = 0; status == CHI_OK && i < n; i++) {
		struct chi_key next;
		status = chi_key_play(&place->key, moves[i], &next);
		if (status == -CHI_EKEY) {
			chi_fail(&fault, 0, "no key can hold the position after it");
		}
		arrive(place, &next);
	}
	if (status == CHI_OK) {
		return EXIT_DONE;
	}
	const char *why = fault.text[0] != '\0' ? fault.text : chi_strerror(status);
	if (where != NULL) {
		cli_message("%s: '%.100s': %s", where, text, why);
		return EXIT_USAGE;
	}
	return cli_usage(cli, "'%.100s': %s", text, why);
}

/* What else it may mean, so that the next attempt fits. */
static void print_candidates(const struct chi_opening_match *matches, size_t n)
{
	for (size_t i = 0; i < n && i < CANDIDATES_MAX; i++) {
		fprintf(stderr, "  %s  %s\n", matches[i].eco, matches[i].name);
	}
	if (n > CANDIDATES_MAX) {
		fprintf(stderr, "  ... and %zu more\n", n - CANDIDATES_MAX);
	}
}

static int find_opening(const struct cli *cli, const char *name, const char *where,
			struct place *out)
{
	struct chi_opening_match matches[CANDIDATES_MAX];
	const char *in_file = where != NULL ? where : "";
	const char *colon = where != NULL ? ": " : "";
	size_t n = 0;
	int status = chi_opening_search(name, matches, CANDIDATES_MAX, &n);
	if (status < 0) {
		return cli_no_memory();
	}
	if (n == 1) {
		arrive(out, &matches[0].key);
		return EXIT_DONE;
	}
	if (n > 1) {
		cli_message("%s%s'%s' may be one of %zu openings:", in_file, colon, name, n);
		print_candidates(matches, n);
		return EXIT_USAGE;
	}
	if (where != NULL) {
		cli_message("%s: no move, and no opening is called '%.*s'", where,
			    CHI_FEN_INPUT_MAX, name);
		return EXIT_USAGE;
	}
	return cli_usage(cli, "'%.*s' is no FEN and no move, and no opening is called that",
			 CHI_FEN_INPUT_MAX, name);
}

/* The position that a text says; what is neither a name nor a FEN starts at the initial one. */
static int start_place(const struct cli *cli, const char *text, const char *where,
		       struct place *out)
{
	struct chi_key key;
	*out = (struct place){.plies = 0};
	if (is_name(text)) {
		return find_opening(cli, text, where, out);
	}
	const char *fen = is_fen(text) ? text : CHI_FEN_START;
	int code = cli_key(cli, fen, strlen(fen), where, &key);
	if (code == EXIT_DONE) {
		arrive(out, &key);
	}
	return code;
}

/* A FEN without quotation marks arrives as several arguments: returns how many, 0 if it is none. */
static int loose_fen(int argc, char **argv)
{
	int n = 2;
	if (argc < 2 || !is_fen(argv[0]) || strpbrk(argv[0], " _+") != NULL ||
	    (!is_word(argv[1], "w") && !is_word(argv[1], "b"))) {
		return 0;
	}
	n += n < argc &&
	     (is_word(argv[n], "-") || strspn(argv[n], "KQkqABCDEFGHabcdefgh") == strlen(argv[n]));
	n += n < argc && (is_word(argv[n], "-") || strlen(argv[n]) == 2);
	while (n < argc && n < 6 && strspn(argv[n], "0123456789") == strlen(argv[n])) {
		n++;
	}
	return n;
}

static int refuse_loose_fen(const struct cli *cli, int n, char **argv)
{
	char text[NAME_SIZE] = "";
	for (int i = 0; i < n; i++) {
		size_t used = strlen(text);
		(void)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? " " : "", argv[i]);
	}
	return cli_usage(cli, "a FEN is one argument: put it in quotes, '%s'", text);
}

/* The words of a name up to the first argument that is none; returns how many. */
static int take_name(int argc, char **argv, char name[NAME_SIZE])
{
	int n = 0;
	name[0] = '\0';
	while (n < argc && is_name(argv[n])) {
		size_t used = strlen(name);
		(void)snprintf(name + used, NAME_SIZE - used, "%s%s", n > 0 ? " " : "", argv[n]);
		n++;
	}
	return n;
}

int place_take(const struct cli *cli, int argc, char **argv, int *at, struct place *out)
{
	char name[NAME_SIZE];
	int code = EXIT_DONE;
	int loose = loose_fen(argc - *at, argv + *at);
	if (loose > 0) {
		code = refuse_loose_fen(cli, loose, argv + *at);
		*at += loose;
	} else {
		int words = take_name(argc - *at, argv + *at, name);
		const char *first = words > 0 ? name : *at < argc ? argv[*at] : START_NAME;
		code = place_parse(cli, first, strlen(first), NULL, out);
		*at += words > 0 ? words : 1;
	}
	for (; *at < argc && !is_fen(argv[*at]) && !is_startpos(argv[*at]) && !is_name(argv[*at]);
	     ++*at) {
		if (code == EXIT_DONE && !is_word(argv[*at], MOVES_NAME)) {
			code = play(cli, argv[*at], NULL, out);
		}
	}
	return code;
}

int place_take_all(const struct cli *cli, struct place *out)
{
	int at = 0;
	int code = place_take(cli, cli->argc, cli->argv, &at, out);
	if (code == EXIT_DONE && at < cli->argc) {
		return cli_usage(cli, "unexpected argument '%s': one position is enough",
				 cli->argv[at]);
	}
	return code;
}

/* Where the moves begin in a text that has all in one: after a FEN's fields, of which the last two
 * are numbers and may be missing, or after the words of a name. The text's end if it has none. */
static char *find_moves(char *text)
{
	bool fen = is_fen(text);
	char word[NAME_SIZE];
	char *at = text;
	for (int n = 0; *at != '\0'; n++) {
		size_t len = strcspn(at, " \t");
		(void)snprintf(word, sizeof(word), "%.*s", (int)len, at);
		if (fen ? n >= 4 && (isalpha((unsigned char)word[0]) != 0 ||
				     strchr(word, '.') != NULL)
			: !is_name(word)) {
			break;
		}
		at += len;
		at += strspn(at, " \t");
	}
	return at;
}

/* A line of a file has one blank between its words or several, as has one of UCI. */
int place_parse(const struct cli *cli, const char *text, size_t len, const char *where,
		struct place *out)
{
	char copy[TEXT_SIZE];
	struct chi_key key;
	if (len >= sizeof(copy)) {
		/* Longer than any position: the reader of FENs says how. */
		return cli_key(cli, text, len, where, &key);
	}
	while (len > 0 && (text[0] == ' ' || text[0] == '\t')) {
		text++;
		len--;
	}
	if (len == 0) {
		return cli_usage(cli, "an empty text is no position");
	}
	memcpy(copy, text, len);
	copy[len] = '\0';
	char *moves = strstr(copy, " " MOVES_NAME " ");
	if (moves != NULL) {
		*moves = '\0';
		moves += strlen(" " MOVES_NAME " ");
	} else if (is_startpos(copy)) {
		moves = copy + strlen(START_NAME);
	} else if (find_moves(copy) == copy) {
		moves = copy;
	} else if (*find_moves(copy) != '\0') {
		moves = find_moves(copy);
		moves[-1] = '\0';
	}
	int code = start_place(cli, copy, where, out);
	return code == EXIT_DONE && moves != NULL ? play(cli, moves, where, out) : code;
}
