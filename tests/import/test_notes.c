/* SPDX-License-Identifier: MIT */
/* Notes: exact files, games and lines, in order, however many threads read how many pieces. */
#include "tests/import/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"

#define MIB   (UINT64_C(1) << 20)
#define GAMES 6000

/* What is expected, and how far it was told. */
struct ledger {
	struct {
		int file;
		uint64_t game;
		uint64_t line;
	} want[3 * GAMES];
	size_t n;
	size_t told;
	size_t wrong;
	uint64_t more;
};

static struct ledger ledger;

static void tell(void *context, const struct chi_import_note *note)
{
	struct ledger *me = context;
	char file[16];
	if (strstr(note->text, "later remarks") != NULL) {
		me->more += strtoull(note->text, NULL, 10);
		return;
	}
	if (me->told >= me->n) {
		me->wrong++;
		return;
	}
	snprintf(file, sizeof(file), "%d.pgn", me->want[me->told].file);
	if (strcmp(file, note->file) != 0 || me->want[me->told].game != note->game ||
	    me->want[me->told].line != note->line) {
		if (me->wrong++ == 0) {
			print_message("# %s %llu %llu, want %s %llu %llu\n", note->file,
				      (unsigned long long)note->game,
				      (unsigned long long)note->line, file,
				      (unsigned long long)me->want[me->told].game,
				      (unsigned long long)me->want[me->told].line);
		}
	}
	me->told++;
}

/* A file of games, each some lines long, every so often one with a move that no rule allows. */
static char *make_file(int file, const char *head, unsigned one_in)
{
	size_t size = GAMES * 400;
	char *text = calloc(1, size);
	assert_non_null(text);
	size_t len = 0;
	uint64_t line = 1;
	for (unsigned game = 1; game <= GAMES; game++) {
		unsigned blank = 1 + help_below(3);
		len += (size_t)snprintf(text + len, size - len, "%s\"%u\"]\n[White \"w%d\"]\n",
					head, game, file);
		for (unsigned i = 0; i < blank; i++) {
			text[len++] = '\n';
		}
		line += 2 + blank;
		len += (size_t)snprintf(text + len, size - len, "1. e4 {a comment\nof lines} e5\n");
		line += 2;
		if (help_below(one_in) == 0) {
			ledger.want[ledger.n].file = file;
			ledger.want[ledger.n].game = game;
			ledger.want[ledger.n++].line = line;
			len += (size_t)snprintf(text + len, size - len,
						"2. Qxh8 Nc6\n3. e5 1-0\n\n");
		} else {
			len += (size_t)snprintf(text + len, size - len,
						"2. Nf3 Nc6\n3. Bb5 1-0\n\n");
		}
		line += 3;
	}
	return text;
}

static void check(const char *store, const char *const *texts, unsigned threads, size_t cut)
{
	struct import_session session = {.options = {.threads = threads,
						     .memory = 16 * MIB,
						     .report = tell,
						     .context = &ledger},
					 .cut = cut};
	ledger.told = 0;
	ledger.wrong = 0;
	ledger.more = 0;
	help_remove(help_path(store));
	ok(session_run(&session, store, texts));
	assert_int_equal(ledger.wrong, 0);
}

CASE(lines_and_numbers_are_of_the_file)
{
	ledger.n = 0;
	_cleanup_(chi_freep) char *a = make_file(0, "[Event ", 40);
	_cleanup_(chi_freep) char *b = make_file(1, "[Event ", 400);
	_cleanup_(chi_freep) char *c = make_file(2, "[Place ", 30);
	const char *texts[] = {a, b, c, NULL};
	check("notes", texts, 1, 0);
	assert_int_equal(ledger.told, ledger.n);
	check("notes", texts, 4, 7000);
	assert_int_equal(ledger.told, ledger.n);
	/* Strict or not, the same games are told. */
	struct import_session session = {
		.options = {.report = tell, .context = &ledger, .strict = true}};
	ledger.told = 0;
	help_remove(help_path("notes"));
	ok(session_run(&session, "notes", texts));
	assert_int_equal(ledger.wrong, 0);
	assert_int_equal(ledger.told, ledger.n);
	assert_int_equal(session.result.skipped, ledger.n);
}

/* A file that is bad throughout does not fill the memory with notes. */
CASE(there_is_a_limit)
{
	ledger.n = 0;
	_cleanup_(chi_freep) char *text = make_file(0, "[Place ", 1);
	check("limit", (const char *[]){text, NULL}, 2, 0);
	assert_int_equal(ledger.told, 1000);
	assert_int_equal(ledger.told + ledger.more, GAMES);
}

static char last[300];

static void keep_text(void *context, const struct chi_import_note *note)
{
	(void)context;
	snprintf(last, sizeof(last), "%s", note->text);
}

static void keep_place(void *context, const struct chi_import_note *note)
{
	(void)context;
	snprintf(last, sizeof(last), "%s:%llu: game %llu: %s", note->file,
		 (unsigned long long)note->line, (unsigned long long)note->game, note->text);
}

CASE(texts_name_the_game_and_its_fate)
{
	static const struct {
		const char *text;
		bool strict;
		const char *note;
	} cases[] = {
		{"[White \"Tal\"]\n[Black \"Bot\"]\n\n1. e4 e5 2. Qxh7 1-0\n", false,
		 "Tal - Bot: 'Qxh7' is not a legal move, counted up to ply 2"},
		{"[White \"Tal\"]\n[Black \"Bot\"]\n\n1. e4 e5 2. Qxh7 1-0\n", true,
		 "Tal - Bot: 'Qxh7' is not a legal move, skipped"},
		{"[White \"Tal\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n", false,
		 "Tal - ?: its variant 'Atomic' is not chess, skipped"},
		{"[White \"Tal\"]\n[Variant \"Chess960\"]\n\n1. e4 *\n", false,
		 "Tal - ?: it is Chess960 without a FEN tag, skipped"},
		{"[White \"Tal\"]\n[FEN \"x y\"]\n\n1. e4 *\n", false,
		 "Tal - ?: its FEN tag 'x y' cannot be read, skipped"},
		{"[White \"Tal\"]\n\n1. e4 e5 2. -- *\n", false,
		 "Tal - ?: '--' is a null move, counted up to ply 2"},
		{"[White \"Tal\"]\n\n1. Nf3 d5 2. d4 e6 3. Nd2 *\n", false,
		 "Tal - ?: 'Nd2' fits several legal moves, counted up to ply 4"},
		{"[White \"Tal\"]\n[Result \"1-0\"]\n\n1. Nf3 0-1\n", false,
		 "Tal - ?: its Result tag says 1-0, its moves end with 0-1; the tag counts"},
		{"[White \"Tal\"]\n[Result \"*\"]\n\n1. Nf3 0-1\n", false, ""},
		{"[White \"Tal\"]\n\n*\n[White \"a\"]\n\n1. e4 *\n", false,
		 "Tal - ?: it has no moves"},
		{"[White \"Tal\"]\n\n1. Nf3 {begins\n", false,
		 "Tal - ?: a comment has no end, counted up to ply 1"},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct import_session session = {.options = {.report = keep_text,
							     .strict = cases[i].strict,
							     .verbose = true}};
		last[0] = '\0';
		help_remove(help_path("texts"));
		ok(session_run(&session, "texts", (const char *[]){cases[i].text, NULL}));
		assert_string_equal(last, cases[i].note);
	}
}

/* Games that add nothing are told of when that is asked for, and with their place. */
CASE(games_that_are_known_are_told)
{
	static const char text[] = "[White \"a\"]\n\n1. e4 1-0\n\n"
				   "[White \"b\"]\n\n1. d4 1-0\n\n[White \"a\"]\n\n1. e4 1-0\n";
	static const char *const told[] = {"0.pgn:9: game 3: it came before in this input",
					   "0.pgn:1: game 1: it is counted already",
					   "0.pgn:1: game 1: it is not counted"};
	struct import_session session = {.options = {.report = keep_place}};
	const char *twice[] = {text, NULL};
	help_remove(help_path("known"));
	last[0] = '\0';
	ok(session_run(&session, "known", twice));
	assert_int_equal(session.result.known, 1);
	assert_string_equal(last, "");
	session.options.verbose = true;
	help_remove(help_path("known"));
	ok(session_run(&session, "known", twice));
	assert_string_equal(last, told[0]);
	const char *first[] = {"[White \"a\"]\n\n1. e4 1-0\n", NULL};
	ok(session_run(&session, "known", first));
	assert_string_equal(last, told[1]);
	session.options.kind = CHI_IMPORT_SUBTRACT;
	ok(session_run(&session, "known", first));
	assert_int_equal(session.result.taken, 1);
	ok(session_run(&session, "known", first));
	assert_string_equal(last, told[2]);
}

/* `n` letters between; to be freed. */
static char *filled(const char *before, size_t n, const char *after)
{
	char *text = calloc(1, strlen(before) + n + strlen(after) + 1);
	assert_non_null(text);
	char *at = stpcpy(text, before);
	memset(at, 'x', n);
	strcpy(at + n, after);
	return text;
}

/* Text over a limit was cut, and nothing said so. */
CASE(what_is_cut_is_told)
{
#define LOST "Tal - ?: over the limits, and cut or left out: "
#define TAL  "[White \"Tal\"]\n"
	static const struct {
		const char *before;
		size_t n;
		const char *after;
		bool bare;
		const char *note;
	} cases[] = {
		{TAL "[Note \"", 8000, "\"]\n\n1. e4 *\n", false, ""},
		{TAL "[Note \"", 8001, "\"]\n\n1. e4 *\n", false,
		 LOST "1 tags, 0 annotations, 0 bytes of text"},
		{TAL "\n1. e4 {", (1 << 20) - 16, "} *\n", false, ""},
		{TAL "\n1. e4 {", 1 << 20, "} *\n", false,
		 LOST "0 tags, 1 annotations, 0 bytes of text"},
		{TAL "\n1. e4 {", 1 << 20, "} *\n", true, ""},
		{TAL "\n1. e4 {", 4 << 20, "} e5 *\n", false,
		 LOST "0 tags, 1 annotations, 14 bytes of text"},
		{TAL "\n1. e4 Qh9 {", 64 << 10, "} *\n", false,
		 LOST "0 tags, 1 annotations, 0 bytes of text"},
		{TAL "[Black \"", 1023, "\"]\n\n1. e4 *\n", false, ""},
	};
	for (size_t i = 0; i < CHI_COUNT(cases); i++) {
		struct import_session session = {
			.options = {.report = keep_text, .bare = cases[i].bare}};
		_cleanup_(chi_freep) char *text =
			filled(cases[i].before, cases[i].n, cases[i].after);
		last[0] = '\0';
		help_remove(help_path("cut"));
		ok(session_run(&session, "cut", (const char *[]){text, NULL}));
		assert_string_equal(last, cases[i].note);
		assert_int_equal(session.result.taken, 1);
	}
#undef LOST
#undef TAL
}

static void count_notes(void *context, const struct chi_import_note *note)
{
	(void)note;
	++*(size_t *)context;
}

/* Names were cut, and the second game was taken for the first. */
CASE(games_that_differ_late_were_one)
{
	size_t told = 0;
	struct import_session session = {.options = {.report = count_notes, .context = &told}};
	_cleanup_(chi_freep) char *a = filled("[White \"", 1023, "a\"]\n\n1. e4 *\n");
	_cleanup_(chi_freep) char *b = filled("[White \"", 1023, "b\"]\n\n1. e4 *\n");
	help_remove(help_path("late"));
	session_add("late", "1. d4 *\n");
	ok(session_run(&session, "late", (const char *[]){a, b, NULL}));
	assert_int_equal(session.result.taken + session.result.known, 0);
	assert_int_equal(session.result.skipped, 2);
	assert_int_equal(told, 2);
}

/* Files too small for a piece are told of, and forgotten, before the commit. */
CASE(small_files_do_not_gather)
{
	static const char text[] = "[White \"a\"]\n\n1. e4 Ke4 1-0\n";
	const size_t files = 300;
	/* The one thread has done what came before its few pieces in flight. */
	const size_t ahead = 8;
	size_t told = 0;
	struct chi_importer *importer;
	const struct chi_importer_target target = {.path = help_path("small"),
						   .statistic = CHI_STATISTIC_OUTCOME};
	const struct chi_import_options options = {.kind = CHI_IMPORT_ADD,
						   .memory = 16 * MIB,
						   .threads = 1,
						   .report = count_notes,
						   .context = &told};
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	for (size_t i = 0; i < files; i++) {
		ok(chi_importer_file(importer, "small.pgn", &fault));
		ok(chi_importer_feed(importer, text, strlen(text), &fault));
	}
	assert_true(told + ahead >= files);
	struct chi_import_result result;
	ok(chi_importer_commit(importer, &result, &fault));
	assert_int_equal(told, files);
	chi_importer_free(importer);
}
