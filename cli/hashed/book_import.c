/* SPDX-License-Identifier: MIT */
/* A book's weights are no games that were counted: they are stored where nothing was played, as
 * games without result. */
#include "cli/hashed/book_import.h"

#include <inttypes.h>

#include "cli/hashed/feeder.h"
#include "cli/in/files.h"
#include "cli/out/output.h"
#include "formats/polyglot.h"

struct books {
	struct feeder feeder;
	struct chi_book_result total;
};

/* What is odd about the book, and why entries were not met. */
static void tell_book(const char *path, const struct chi_book_result *r)
{
	if (r->cut > 0) {
		cli_message("%s: the last %" PRIu64 " bytes are not a whole entry: ignored", path,
			    r->cut);
	}
	if (r->unsorted > 0) {
		cli_message("%s: %" PRIu64 " entries were out of order: sorted", path, r->unsorted);
	}
	if (r->illegal > 0) {
		cli_message("%s: %" PRIu64 " moves are not legal in their position", path,
			    r->illegal);
	}
	if (r->unreachable > 0) {
		cli_message("%s: %" PRIu64 " entries are not reached: %" PRIu64
			    " hold no move, %" PRIu64
			    " are of positions the book has under another key, too, to %" PRIu64
			    " no moves through the book lead from the initial position",
			    path, r->unreachable, r->no_move, r->shadowed,
			    r->unreachable - r->no_move - r->shadowed);
	}
}

static void add_up(struct chi_book_result *total, const struct chi_book_result *more)
{
	total->entries += more->entries;
	total->illegal += more->illegal;
	total->weightless += more->weightless;
	total->unreachable += more->unreachable;
	total->no_move += more->no_move;
	total->shadowed += more->shadowed;
}

static int feed_book(struct feeder *feeder, const char *path)
{
	struct books *books = (struct books *)feeder;
	struct chi_book *book = NULL;
	struct chi_book_result result = {0};
	struct chi_fault fault = {.text = ""};
	int status = chi_book_open(path, &book, &fault);
	if (status != CHI_OK) {
		return import_say_file(&feeder->run, path, fault.text, files_exit_of(status));
	}
	status = chi_book_walk(book, feeder_take, feeder, &cli_stop, &result);
	chi_book_close(book);
	int code = feeder_end_file(feeder, path, status, result.positions);
	if (code == EXIT_DONE) {
		add_up(&books->total, &result);
		tell_book(path, &result);
	}
	return code;
}

/* What was kept is what the import left unchanged. */
static int tell_stored(struct import_run *run, int status, const struct chi_import_result *result)
{
	const struct books *books = (const struct books *)run;
	const struct chi_put_result *stored = &result->positions;
	const struct chi_book_result *total = &books->total;
	if (status != CHI_OK) {
		return import_fail(run, status);
	}
	output_object(
		run->cli,
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "read",
			  json_count(total->entries), "new", json_count(stored->added), "updated",
			  json_count(stored->updated), "kept", json_count(stored->unchanged),
			  "illegal", json_count(total->illegal), "weightless",
			  json_count(total->weightless), "unreachable",
			  json_count(total->unreachable), "no_move", json_count(total->no_move),
			  "shadowed", json_count(total->shadowed)));
	return books->feeder.empty ? EXIT_STORE : EXIT_DONE;
}

int book_import(struct cli *cli, enum chi_statistic create, int n, char **paths)
{
	struct books books = {
		.feeder.run = {.options = {.add = true, .unplayed = true}, .create = create}};
	return feeder_run(cli, &books.feeder, n, paths, feed_book, tell_stored);
}
