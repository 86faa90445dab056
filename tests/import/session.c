/* SPDX-License-Identifier: MIT */
#include "tests/import/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "chess/fen.h"
#include "chess/movegen.h"
#include "chess/notation.h"

char *session_file(const char *name, size_t *len)
{
	char path[512];
	const char *dir = getenv("CHISTORE_TEST_DATA");
	snprintf(path, sizeof(path), "%s/%s", dir != NULL ? dir : "tests/data", name);
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	long size = ftell(file);
	rewind(file);
	char *text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
	fclose(file);
	*len = (size_t)size;
	return text;
}

static int feed(struct chi_importer *importer, const char *text, size_t cut)
{
	size_t left = strlen(text);
	while (left > 0) {
		size_t n = cut == 0 ? left : 1 + help_below((unsigned)cut);
		n = n < left ? n : left;
		int rc = chi_importer_feed(importer, text, n, &fault);
		if (rc != CHI_OK) {
			return rc;
		}
		text += n;
		left -= n;
	}
	return CHI_OK;
}

int session_run(struct import_session *session, const char *store, const char *const *texts)
{
	struct chi_importer *importer = NULL;
	struct chi_dir *opened = NULL;
	const char *path = help_path(store);
	if (session->options.kind == 0) {
		session->options.kind = CHI_IMPORT_ADD;
	}
	if (access(path, F_OK) == 0) {
		opened = help_open(path, CHI_STORE_WRITE);
	}
	struct chi_importer_target target = {
		.store = opened,
		.path = path,
		.statistic = session->statistic != 0 ? session->statistic : CHI_STATISTIC_CONTROL};
	int rc = chi_importer_begin(&target, &session->options, &importer, &fault);
	for (int i = 0; rc == CHI_OK && texts[i] != NULL; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%d.pgn", i);
		rc = chi_importer_file(importer, name, &fault);
		rc = rc == CHI_OK ? feed(importer, texts[i], session->cut) : rc;
	}
	if (rc == CHI_OK) {
		rc = chi_importer_commit(importer, &session->result, &fault);
	}
	if (rc == CHI_OK) {
		const struct chi_import_result *r = &session->result;
		assert_int_equal(r->games, r->taken + r->known + r->skipped + r->empty);
	}
	chi_importer_free(importer);
	chi_dir_close(opened);
	return rc;
}

void session_add(const char *store, const char *text)
{
	struct import_session session = {.options.kind = CHI_IMPORT_ADD};
	ok(session_run(&session, store, (const char *[]){text, NULL}));
}

void session_subtract(const char *store, const char *text)
{
	struct import_session session = {.options.kind = CHI_IMPORT_SUBTRACT};
	ok(session_run(&session, store, (const char *[]){text, NULL}));
}

/* The numbers of games after the dump. */
static char *add_games(struct chi_dir *store, char *dump, size_t len)
{
	struct chi_info info;
	ok(chi_dir_info(store, &info));
	dump = realloc(dump, len + 128);
	assert_non_null(dump);
	snprintf(dump + len, 128, "%llu %llu %llu %llu\n", (unsigned long long)info.games.white,
		 (unsigned long long)info.games.draws, (unsigned long long)info.games.black,
		 (unsigned long long)info.games.other);
	return dump;
}

char *session_dump(const char *store)
{
	struct chi_verify_result verified;
	size_t len;
	struct chi_dir *opened = help_open(help_path(store), CHI_STORE_READ);
	assert_int_equal(help_verify(opened, &verified), CHI_OK);
	char *dump = help_dump(opened, &len);
	dump = add_games(opened, dump, len);
	chi_dir_close(opened);
	return dump;
}

void session_same(const char *a, const char *b)
{
	_cleanup_(chi_freep) char *x = session_dump(a);
	_cleanup_(chi_freep) char *y = session_dump(b);
	if (strcmp(x, y) != 0) {
		size_t i = 0;
		while (x[i] == y[i]) {
			i++;
		}
		while (i > 0 && x[i - 1] != '\n') {
			i--;
		}
		print_message("# %s: %.200s\n# %s: %.200s\n", a, x + i, b, y + i);
	}
	assert_true(strcmp(x, y) == 0);
}

char *session_games(unsigned n, unsigned plies)
{
	static const char *const results[] = {"1-0", "0-1", "1/2-1/2", "*"};
	static const char start[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	size_t size = (size_t)n * (200 + plies * 9) + 1;
	char *text = calloc(1, size);
	assert_non_null(text);
	size_t len = 0;
	for (unsigned game = 0; game < n; game++) {
		const char *result = results[help_below(4)];
		struct chi_position position;
		struct chi_position next;
		struct chi_move_list list;
		ok(chi_fen_parse(start, strlen(start), &position, &fault));
		len += (size_t)snprintf(text + len, size - len,
					"[Event \"e\"]\n[White \"w%u\"]\n[Black \"b\"]\n"
					"[Result \"%s\"]\n\n",
					help_below(1000000), result);
		unsigned length = help_below(plies + 1);
		for (unsigned ply = 0; ply < length; ply++) {
			chi_movegen_legal(&position, &list);
			if (list.n == 0) {
				break;
			}
			char uci[CHI_UCI_SIZE];
			/* Few kinds of moves: games are to meet again, and to repeat. */
			chi_move move = list.moves[help_below(list.n < 4 ? list.n : 4)];
			chi_uci_print(&position, move, uci);
			len += (size_t)snprintf(text + len, size - len, "%s%c", uci,
						ply % 8 == 7 ? '\n' : ' ');
			chi_position_play(&position, move, &next);
			position = next;
		}
		len += (size_t)snprintf(text + len, size - len, "%s\n\n", result);
	}
	return text;
}
