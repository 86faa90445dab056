/* SPDX-License-Identifier: MIT */
/* What a session of a merge takes: a dump, whole and sound, or a store in a directory. */
#include "tests/import/merging.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/importer.h"
#include "tests/import/session.h"
#include "tests/store/sealed.h"

/* Every cut, and every line that is not as it should be: refused, named, nothing changed. */
CASE(damaged_dumps_change_nothing)
{
	enum {
		N = 5
	};
	struct chi_key keys[N];
	help_keys(keys, N);
	struct chi_dir *other = help_store("b", CHI_STATISTIC_CONTROL);
	struct chi_dir *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_dir *empty = help_store("empty", CHI_STATISTIC_CONTROL);
	help_fill(other, keys, N);
	struct chi_write *write = NULL;
	ok(chi_write_begin(other, &write, &fault));
	for (uint8_t i = 0; i < 3; i++) {
		const struct chi_game_id game = {.id = {i, 1, 2, 3}, .result = i};
		ok(chi_write_game_id(write, &game));
	}
	ok(chi_write_base(write, &(struct chi_counts){.white = 1, .draws = 1, .black = 1}));
	ok(chi_write_commit(write, &fault));
	size_t len = 0;
	char *lines = help_dump(other, &(size_t){0});
	char *text = sealed(lines, &len);
	for (size_t cut = 0; cut < len; cut++) {
		assert_int_equal(merging_text(store, text, cut, 64), -CHI_ESYNTAX);
	}
	/* A line that occurs twice: positions out of order, or a game that comes again. */
	for (const char *line = lines; *line != '\0';) {
		const char *next = strchr(line, '\n') + 1;
		char *twice = NULL;
		assert_true(asprintf(&twice, "%.*s%s", (int)(next - lines), lines, line) > 0);
		size_t n = 0;
		char *text_twice = sealed(twice, &n);
		assert_true(merging_text(store, text_twice, n, 100) < 0);
		free(text_twice);
		free(twice);
		line = next;
	}
	text[len] = '\n';
	assert_int_equal(merging_text(store, text, len + 1, 7), -CHI_ESYNTAX);
	merging_same(store, empty, true);
	ok(merging_text(store, text, len, 1));
	merging_same(store, other, true);
	free(text);
	free(lines);
	chi_dir_close(store);
	chi_dir_close(other);
	chi_dir_close(empty);
}

CASE(one_store_a_session)
{
	struct chi_dir *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE};
	struct chi_importer *importer = NULL;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_file(importer, "one", &fault));
	assert_int_equal(chi_importer_file(importer, "two", &fault), -CHI_EINVAL);
	chi_importer_free(importer);
	target = (struct chi_importer_target){.path = help_path("new")};
	assert_int_equal(chi_importer_begin(&target, &options, &importer, &fault), -CHI_EINVAL);
	chi_dir_close(store);
}

/* A store takes the place of bytes, not some of them, and no store takes its own. */
CASE(a_directory_or_bytes)
{
	struct chi_dir *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_dir *other = help_store("b", CHI_STATISTIC_CONTROL);
	struct chi_dir *copy = merging_copy(store);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE};
	struct chi_importer *importer = NULL;
	for (int i = 0; i < 2; i++) {
		ok(chi_importer_begin(&target, &options, &importer, &fault));
		if (i == 0) {
			ok(chi_importer_feed(importer, "chi", 3, &fault));
			assert_int_equal(chi_importer_store(importer, chi_dir_path(other), &fault),
					 -CHI_EINVAL);
		} else {
			ok(chi_importer_store(importer, chi_dir_path(other), &fault));
			assert_int_equal(chi_importer_feed(importer, "chi", 3, &fault),
					 -CHI_EINVAL);
		}
		chi_importer_free(importer);
	}
	assert_int_equal(merging_store(store, store), -CHI_EINVAL);
	assert_int_equal(merging_store(store, copy), -CHI_EINVAL);
	assert_non_null(strstr(fault.text, "a copy of it"));
	options.kind = CHI_IMPORT_ADD;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	assert_int_equal(chi_importer_store(importer, chi_dir_path(other), &fault), -CHI_EINVAL);
	chi_importer_free(importer);
	chi_dir_close(copy);
	chi_dir_close(other);
	chi_dir_close(store);
}

/* Lists that are not held at once come in parts, and the same lists come out. */
CASE(a_list_longer_than_what_is_held)
{
	enum {
		N = 66000
	};
	const size_t room = (size_t)N * 40;
	char *text = malloc(room);
	size_t len = 0;
	struct chi_key start = help_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
	struct chi_row row;
	assert_non_null(text);
	/* All different by their date, and three of four by the move. */
	for (unsigned i = 0; i < N; i++) {
		len += (size_t)snprintf(text + len, room - len, "[Date \"%u\"]\n\n1. %s *\n\n", i,
					i % 4 == 0 ? "e4" : "d4");
	}
	help_remove(help_path("a"));
	help_remove(help_path("b"));
	session_add("b", text);
	session_add("a", "1. e4 *\n");
	struct chi_dir *other = help_open(help_path("b"), CHI_STORE_READ);
	struct chi_dir *store = help_open(help_path("a"), CHI_STORE_WRITE);
	ok(merging_store(store, other));
	assert_int_equal(merging_result.taken, N);
	ok(help_get(store, &start, &row));
	assert_int_equal(row.counts.other, N + 1);
	assert_int_equal(help_verify(store, &(struct chi_verify_result){0}), CHI_OK);
	free(text);
	chi_dir_close(other);
	chi_dir_close(store);
}

/* What a text is loaded into has no name that could stay. */
CASE(a_merge_leaves_no_trace)
{
	struct chi_dir *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_dir *other = merging_import("b", CHI_STATISTIC_CONTROL, "1. e4 *\n", 8);
	unsigned before = help_entries(help_path("a"), "");
	size_t len = 0;
	char *lines = help_dump(other, &len);
	char *text = sealed(lines, &len);
	assert_int_equal(merging_text(store, text, len - 1, len), -CHI_ESYNTAX);
	ok(merging_text(store, text, len, len));
	assert_int_equal(help_entries(help_path("a"), ""), before);
	assert_int_equal(merging_text(store, text, len, len), -CHI_EEXIST);
	assert_int_equal(help_entries(help_path("a"), ""), before);
	assert_int_equal(help_verify(store, &(struct chi_verify_result){0}), CHI_OK);
	free(lines);
	free(text);
	chi_dir_close(store);
	chi_dir_close(other);
}

CASE(asked_to_stop)
{
	volatile int stop = 0;
	struct chi_dir *store = help_store("a", CHI_STATISTIC_CONTROL);
	struct chi_dir *other = merging_import("b", CHI_STATISTIC_CONTROL, "1. e4 *\n", 8);
	struct chi_importer_target target = {.store = store};
	struct chi_import_options options = {.kind = CHI_IMPORT_MERGE, .cancel = &stop};
	struct chi_importer *importer = NULL;
	size_t len = 0;
	char *lines = help_dump(other, &len);
	char *text = sealed(lines, &len);
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_feed(importer, text, len, &fault));
	stop = 1;
	assert_int_equal(chi_importer_commit(importer, &merging_result, &fault), -CHI_ECANCELED);
	chi_importer_free(importer);
	stop = 0;
	ok(chi_importer_begin(&target, &options, &importer, &fault));
	ok(chi_importer_store(importer, chi_dir_path(other), &fault));
	stop = 1;
	assert_int_equal(chi_importer_commit(importer, &merging_result, &fault), -CHI_ECANCELED);
	chi_importer_free(importer);
	assert_int_equal(help_count(store), 0);
	free(lines);
	free(text);
	chi_dir_close(store);
	chi_dir_close(other);
}
