/* SPDX-License-Identifier: MIT */
/* The games of a store as PGN, imported again, make the same store: nothing that the archive keeps
 * is lost on the way, however strange the texts were. */
#include "tests/import/session.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/pgn/write.h"
#include "store/archive.h"
#include "store/games/archive.h"
#include "store/names.h"
#include "tests/chess/pgn_games.h"

/* Games of a store, one after the other. */
struct source {
	struct chi_dir *store;
	struct chi_read *read;
	struct chi_archive_view view;
	struct chi_archive_reader *reader;
	struct chi_arena arena;
};

static void begin(struct source *source, const char *store)
{
	source->store = help_open(help_path(store), CHI_STORE_READ);
	ok(chi_read_begin(source->store, &source->read));
	ok(chi_read_archive(source->read, &source->view));
	ok(chi_archive_reader_new(&source->reader));
	ok(chi_archive_reader_begin(source->reader, source->view.txn, &source->view.trees));
	chi_arena_init(&source->arena, 64 << 20);
}

static void end(struct source *source)
{
	chi_archive_reader_end(source->reader);
	chi_archive_reader_free(source->reader);
	chi_arena_deinit(&source->arena);
	chi_read_end(source->read);
	chi_dir_close(source->store);
}

/* All games as PGN, NUL-terminated; to be freed. */
static char *written(const char *store, size_t *games)
{
	struct source source;
	struct chi_buffer out;
	begin(&source, store);
	chi_buffer_init(&out, (size_t)256 << 20);
	*games = 0;
	for (uint32_t number = 1; number <= source.view.last; number++) {
		struct chi_game game;
		chi_arena_reset(&source.arena);
		int rc = chi_archive_game(source.reader, number, &source.arena, &game);
		if (rc == CHI_NONE) {
			continue;
		}
		ok(rc);
		ok(chi_pgn_write(&game, &out));
		(*games)++;
	}
	end(&source);
	ok(chi_buffer_append(&out, "", 1));
	char *text = malloc(out.len);
	assert_non_null(text);
	memcpy(text, chi_buffer_bytes(&out), out.len);
	chi_buffer_deinit(&out);
	return text;
}

static void same_bytes(const MDB_val *a, const MDB_val *b)
{
	assert_int_equal(a->mv_size, b->mv_size);
	if (a->mv_size > 0) {
		assert_memory_equal(a->mv_data, b->mv_data, a->mv_size);
	}
}

/* Both trees have the same entries; returns how many. */
static size_t same_tree(MDB_txn *a, MDB_dbi a_tree, MDB_txn *b, MDB_dbi b_tree)
{
	MDB_cursor *cursors[2];
	MDB_val keys[2];
	MDB_val values[2];
	assert_int_equal(mdb_cursor_open(a, a_tree, &cursors[0]), 0);
	assert_int_equal(mdb_cursor_open(b, b_tree, &cursors[1]), 0);
	for (size_t n = 0;; n++) {
		int rc = mdb_cursor_get(cursors[0], &keys[0], &values[0], MDB_NEXT);
		assert_int_equal(mdb_cursor_get(cursors[1], &keys[1], &values[1], MDB_NEXT), rc);
		if (rc != 0) {
			assert_int_equal(rc, MDB_NOTFOUND);
			mdb_cursor_close(cursors[0]);
			mdb_cursor_close(cursors[1]);
			return n;
		}
		same_bytes(&keys[0], &keys[1]);
		same_bytes(&values[0], &values[1]);
	}
}

/* Byte for byte: positions with the games that reached them, games, names and postings. */
static void same_store(const char *a, const char *b)
{
	static const char *const names[] = {POSITION_TREE, GAME_IDS_TREE};
	struct source one;
	struct source other;
	begin(&one, a);
	begin(&other, b);
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		MDB_dbi trees[2];
		assert_int_equal(mdb_dbi_open(one.view.txn, names[i], 0, &trees[0]), 0);
		assert_int_equal(mdb_dbi_open(other.view.txn, names[i], 0, &trees[1]), 0);
		assert_true(same_tree(one.view.txn, trees[0], other.view.txn, trees[1]) > 0);
	}
	const struct chi_archive_trees *t = &one.view.trees;
	const struct chi_archive_trees *u = &other.view.trees;
	assert_true(same_tree(one.view.txn, t->games, other.view.txn, u->games) > 0);
	assert_true(same_tree(one.view.txn, t->columns, other.view.txn, u->columns) > 0);
	(void)same_tree(one.view.txn, t->names, other.view.txn, u->names);
	(void)same_tree(one.view.txn, t->postings, other.view.txn, u->postings);
	end(&one);
	end(&other);
	session_same(a, b);
}

static void import(const char *store, const char *text)
{
	struct import_session session = {.options.threads = 1};
	const char *texts[] = {text, NULL};
	help_remove(help_path(store));
	ok(session_run(&session, store, texts));
}

/* Returns how many games went there and back. */
static size_t there_and_back(const char *text)
{
	size_t games = 0;
	size_t again = 0;
	import("first", text);
	char *pgn = written("first", &games);
	import("second", pgn);
	same_store("first", "second");
	char *second = written("second", &again);
	assert_string_equal(second, pgn);
	free(second);
	free(pgn);
	return games;
}

CASE(files_come_back)
{
	static const struct {
		const char *name;
		size_t games;
	} files[] = {
		{"pgn/games_300.pgn", 300},
		{"pgn/ambiguous.pgn", 3},
		{"pgn/anastasian-lewis.pgn", 1},
		{"pgn/chessbase-empty-line.pgn", 1},
		{"pgn/cutechess-fischerrandom.pgn", 4},
		{"pgn/romero.pgn", 4},
		{"pgn/uci-moves.pgn", 1},
		{"pgn/hayes.pgn", 9},
	};
	for (size_t i = 0; i < CHI_COUNT(files); i++) {
		size_t len;
		char *text = session_file(files[i].name, &len);
		assert_int_equal(there_and_back(text), files[i].games);
		free(text);
	}
}

/* A missing tag is not one of "?"; those are two games. */
CASE(missing_tags_stay_missing)
{
	static const char text[] =
		"[White \"a\"]\n1. e4 e5 1-0\n\n"
		"[White \"a\"]\n[Black \"?\"]\n1. e4 e5 1-0\n\n"
		"[White \"a\"]\n[Black \"\"]\n[Round \"1\"]\n1. e4 e5 1-0\n\n"
		"[Date \"????.??.??\"]\n[White \"a\"]\n1. e4 e5 1-0\n\n"
		"[Odd.Name \"b\"]\n[Black \"b\"]\n[event \"c\"]\n1. e4 e5 2. Qh9 {lost} 0-1\n\n"
		"[FEN \"bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\"]\n"
		"9. g3 {a\n b} (9. h3 Ng4 (9... zz)) Ng4 $5 {[%clk 1:00:00]} 1/2-1/2\n\n"
		"1. d4 *\n";
	assert_int_equal(there_and_back(text), 6);
}

CASE(anything_comes_back)
{
	struct seed seed = seed_start("anything_comes_back");
	struct chi_buffer all;
	chi_buffer_init(&all, (size_t)64 << 20);
	const size_t rounds = seed_rounds(300);
	for (size_t round = rounds; round > 0; round--) {
		size_t len = 0;
		char *text = random_games(&seed, &len);
		for (size_t i = 0; i < len; i++) {
			text[i] = text[i] == '\0' ? ' ' : text[i];
		}
		ok(chi_buffer_append(&all, text, len));
		ok(chi_buffer_append(&all, "\n\n", 2));
		free(text);
	}
	ok(chi_buffer_append(&all, "", 1));
	assert_true(there_and_back((const char *)chi_buffer_bytes(&all)) > rounds / 10);
	chi_buffer_deinit(&all);
}

CASES_MAIN(NULL, help_teardown)
