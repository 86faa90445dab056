/* SPDX-License-Identifier: MIT */
/* Evaluations in comments: the same records as puts of them make, whatever the order in which
 * threads read the games; how many a record holds; and what is not stored. */
#include "tests/import/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chess/key.h"
#include "chess/pgn/eval.h"
#include "chess/pgn/pgn.h"
#include "import/evals.h"

/* Random games with a random comment after every second move, of `engines` engines. */
static char *commented_games(unsigned n, unsigned plies, unsigned engines)
{
	_cleanup_(chi_freep) char *games = session_games(n, plies);
	size_t size = 8 * strlen(games) + 1;
	char *text = calloc(1, size);
	assert_non_null(text);
	size_t len = 0;
	bool moves = false;
	unsigned ids = 0; /* by which no game is known from another */
	for (const char *at = games; *at != '\0'; at++) {
		if (*at == '[' && at[1] == 'W') {
			len += (size_t)snprintf(text + len, size - len,
						"[Annotator \"a%u\"]\n[White \"e%u\"]\n"
						"[Black \"e%u\"]\n[GameId \"%u\"]\n",
						help_below(engines), help_below(engines),
						help_below(engines), ++ids);
		}
		bool tag_end = at > games && at[-1] == '\n' && *at == '\n';
		moves = tag_end || (moves && *at != '[');
		text[len++] = *at;
		if (!moves || (*at != ' ' && *at != '\n') || help_below(2) == 0) {
			continue;
		}
		unsigned depth = help_below(4);
		switch (help_below(4)) {
		case 0:
			len += (size_t)snprintf(text + len, size - len, "{[%%eval 0.%02u,%u]} ",
						help_below(100), depth);
			break;
		case 1:
			len += (size_t)snprintf(text + len, size - len, "{-M%u/%u 1s} ",
						help_below(9), depth);
			break;
		case 2:
			len += (size_t)snprintf(text + len, size - len,
						"{d=%u, n=%u, pv=e5 e4 d5, wv=1.%02u} ", depth,
						help_below(9), help_below(100));
			break;
		default:
			len += (size_t)snprintf(text + len, size - len, "{book} ");
		}
	}
	return text;
}

/* What the importer is to do, one put after the other; how many. */
static uint64_t put_evals(const char *name, const char *text)
{
	struct chi_dir *store = help_open(help_path(name), CHI_STORE_WRITE);
	struct chi_write *write;
	struct chi_pgn *pgn = NULL;
	const struct chi_pgn_game *game;
	struct chi_put_result result = {0};
	size_t left = strlen(text);
	uint64_t n = 0;
	ok(chi_write_begin(store, &write, &fault));
	ok(chi_pgn_new(&pgn));
	ok(chi_pgn_keep_comments(pgn));
	for (;;) {
		if (chi_pgn_next(pgn, &game) != CHI_OK) {
			if (left == 0) {
				break;
			}
			size_t taken = chi_pgn_feed(pgn, text, left);
			text += taken;
			left -= taken;
			if (left == 0) {
				chi_pgn_finish(pgn);
			}
			continue;
		}
		for (size_t i = 0; game->n_plies > 0 && i < game->n_comments; i++) {
			struct chi_pgn_eval read;
			if (chi_pgn_eval_read(game, &game->comments[i], &read) == CHI_OK) {
				struct chi_put_entry put = {
					.parts = CHI_PUT_EVALS,
					.record = {.evals = &read.eval, .n_evals = 1}};
				chi_key_encode(&game->positions[read.ply], &put.key);
				ok(chi_write_put(write, &put, &result));
				n++;
			}
		}
	}
	chi_pgn_free(pgn);
	ok(chi_write_commit(write, &fault));
	chi_dir_close(store);
	return n;
}

CASE(same_as_puts)
{
	for (unsigned round = 0; round < 5; round++) {
		/* Large enough to be several streams, and, with little memory, to be spilled. */
		_cleanup_(chi_freep) char *text = commented_games(round < 4 ? 100 : 2500, 60, 9);
		enum chi_statistic kind =
			round % 2 == 0 ? CHI_STATISTIC_EVAL : CHI_STATISTIC_CONTROL;
		struct import_session plain = {.statistic = kind};
		struct import_session evals = {.statistic = kind, .cut = round < 2 ? 100 : 0};
		evals.options.evals = true;
		evals.options.memory = CHI_IMPORT_MEMORY_MIN;
		evals.options.threads = 1 + round % 3;
		help_remove(help_path("puts"));
		help_remove(help_path("import"));
		help_remove(help_path("twice"));
		ok(session_run(&plain, "puts", (const char *[]){text, NULL}));
		uint64_t n = put_evals("puts", text);
		ok(session_run(&evals, "import", (const char *[]){text, NULL}));
		assert_true(n > 100);
		assert_int_equal(plain.result.evaluations, 0);
		assert_int_equal(evals.result.evaluations, n);
		assert_memory_equal(&plain.result, &evals.result,
				    offsetof(struct chi_import_result, evaluations));
		session_same("puts", "import");
		/* In two imports: what is stored is merged with. */
		char *middle = strstr(text + strlen(text) / 2, "[Event");
		assert_non_null(middle);
		_cleanup_(chi_freep) char *first = strndup(text, (size_t)(middle - text));
		ok(session_run(&evals, "twice", (const char *[]){first, NULL}));
		uint64_t before = evals.result.evaluations;
		ok(session_run(&evals, "twice", (const char *[]){middle, NULL}));
		assert_int_equal(before + evals.result.evaluations, n);
		session_same("puts", "twice");
		/* Games that are known bring nothing, nor do those that come twice. */
		_cleanup_(chi_freep) char *dump = session_dump("import");
		ok(session_run(&evals, "import", (const char *[]){text, text, NULL}));
		assert_int_equal(evals.result.evaluations, 0);
		assert_int_equal(evals.result.taken, 0);
		_cleanup_(chi_freep) char *again = session_dump("import");
		assert_string_equal(dump, again);
	}
}

CASE(holds_to_the_last_ply)
{
	struct import_session session = {.options = {.evals = true, .max_ply = 2}};
	static const char text[] = "[Event \"x\"]\n\n1. e4 {[%eval 0.1]} e5 {[%eval 0.2]} 2. Nf3 "
				   "{[%eval 0.3] } {+0.10/3 0s} Nc6 {+0.10/3 0s} 1-0";
	ok(session_run(&session, "ply", (const char *[]){text, NULL}));
	assert_int_equal(session.result.evaluations, 3);
	session.options = (struct chi_import_options){.kind = CHI_IMPORT_SUBTRACT, .evals = true};
	assert_int_equal(session_run(&session, "ply", (const char *[]){text, NULL}), -CHI_EINVAL);
	assert_string_equal(fault.text, "evals: goes with games that are added");
	session.options.kind = CHI_IMPORT_MERGE;
	assert_int_equal(session_run(&session, "ply", (const char *[]){text, NULL}), -CHI_EINVAL);
	/* The games go, what engines say of the positions stays. */
	session_subtract("ply", text);
	_cleanup_(chi_freep) char *dump = session_dump("ply");
	assert_non_null(strstr(dump, "\n0 0 0 0\n"));
	assert_non_null(strstr(dump, "?"));
}

/* A position that more engines have evaluated than a record holds keeps the deepest; of those that
 * are stored none is lost to others. An import failed there. */
CASE(more_engines_than_a_record_holds)
{
	static char text[3][1 << 14];
	size_t len[3] = {0};
	/* 40 engines of depth 100..139; 80 of depth 1..80; one that is stored, deeper. */
	for (unsigned i = 0; i < 120; i++) {
		unsigned part = i >= 40;
		unsigned depth = i < 40 ? 100 + i : 1 + (i * 37) % 80;
		len[part] +=
			(size_t)snprintf(text[part] + len[part], sizeof(text[part]) - len[part],
					 "[Event \"x\"]\n[White \"engine %u\"]\n\n1. e4 "
					 "{0.%02u/%u 0s} *\n\n",
					 depth, depth % 100, depth);
	}
	snprintf(text[2], sizeof(text[2]),
		 "[Event \"x\"]\n[White \"engine 100\"]\n\n1. d4 {0.50/150 0s} *\n");
	struct import_session session = {.options.evals = true};
	ok(session_run(&session, "engines", (const char *[]){text[0], NULL}));
	ok(session_run(&session, "engines", (const char *[]){text[1], NULL}));
	assert_int_equal(session.result.evaluations, 80);
	ok(session_run(&session, "engines", (const char *[]){text[2], NULL}));
	ok(session_run(&session, "at once", (const char *[]){text[1], NULL}));
	_cleanup_(chi_freep) char *dump = session_dump("engines");
	_cleanup_(chi_freep) char *once = session_dump("at once");
	for (unsigned depth = 1; depth < 140; depth++) {
		char name[32];
		snprintf(name, sizeof(name), "engine %u|", depth);
		bool there = depth >= 100 || (depth > 56 && depth <= 80);
		bool there_once = depth > 16 && depth <= 80;
		if ((strstr(dump, name) != NULL) != there ||
		    (strstr(once, name) != NULL) != there_once) {
			fail_msg("%s: %s", name, dump);
		}
	}
	assert_non_null(strstr(dump, "150"));
}

/* The same are left whatever the order. */
CASE(order_does_not_matter)
{
	_cleanup_(chi_freep) struct chi_eval_set *a = calloc(1, sizeof(*a));
	_cleanup_(chi_freep) struct chi_eval_set *b = calloc(1, sizeof(*b));
	_cleanup_(chi_freep) struct chi_eval_copy *copies = calloc(400, sizeof(*copies));
	for (unsigned round = 0; round < 100; round++) {
		unsigned engines = 1 + help_below(120);
		for (uint32_t i = 0; i < 400; i++) {
			struct chi_eval_copy *copy = &copies[i];
			copy->origin.place = help_below(20);
			copy->origin.index = i;
			copy->engine[0] = (char)('0' + help_below(engines));
			copy->eval = (struct chi_eval){.engine = copy->engine,
						       .engine_len = 1,
						       .depth = help_below(30),
						       .score = (int32_t)i,
						       .pv = copy->pv};
		}
		a->n = 0;
		b->n = 0;
		for (uint32_t i = 0; i < 400; i++) {
			chi_eval_set_add(a, &copies[i]);
		}
		for (uint32_t i = 0; i < 400; i++) {
			struct chi_eval_copy copy = copies[i];
			uint32_t other = help_below(400);
			copies[i] = copies[other];
			copies[other] = copy;
			copies[i].eval.engine = copies[i].engine;
			copies[other].eval.engine = copies[other].engine;
		}
		for (uint32_t i = 0; i < 400; i++) {
			chi_eval_set_add(b, &copies[i]);
		}
		chi_eval_set_sort(a);
		chi_eval_set_sort(b);
		assert_int_equal(a->n, b->n);
		assert_in_range(a->n, 1, CHI_EVALS_MAX);
		for (size_t i = 0; i < a->n; i++) {
			assert_int_equal(a->sorted[i].score, b->sorted[i].score);
		}
	}
}

CASES_MAIN(NULL, help_teardown)
