/* SPDX-License-Identifier: MIT */
/*
 * The feeding side of a load: the head is read here, since it decides whether the dump may come in;
 * what follows goes to the threads in pieces that end with a line. What they tell is put together
 * in the order of the input, and so the first bad line is the one that is named.
 */
#include "import/dump/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "chess/statistic.h"

/* Sixteenths of the memory; five are the archive's, what is left sorts the strength tree. */
#define POSITIONS_SHARE 6

#define HEAD_ARENA (4 * (size_t)CHI_DUMP_LINE_MAX)

/* ---- What the threads tell ------------------------------------------------------------------ */

static int misplaced(uint64_t line, const char *what, struct chi_fault *fault)
{
	return chi_fail(fault, -CHI_ESYNTAX, "line %" PRIu64 ": %s", line, what);
}

/* What is true of the whole: nothing follows the last line, the kinds come in their order, games
 * ascend. */
static int check_order(const struct chi_loading *loading, const struct chi_loaded *told,
		       struct chi_fault *fault)
{
	if (loading->over && told->begins != 0) {
		return misplaced(told->begins, "text after the end of the dump", fault);
	}
	if (told->begins != 0 && told->from < loading->to) {
		return misplaced(told->begins,
				 loading->to == CHI_DUMP_GAME ? "neither a game nor the end"
							      : "the line is out of its place",
				 fault);
	}
	if (loading->n.games > 0 && told->n.games > 0 &&
	    memcmp(loading->last_game, told->first_game, CHI_GAME_ID_SIZE) >= 0) {
		return misplaced(told->game_line, "the games are not in order", fault);
	}
	return CHI_OK;
}

static void add_tail(struct chi_dump_tail *sum, const struct chi_dump_tail *more)
{
	sum->positions += more->positions;
	sum->games += more->games;
	sum->names += more->names;
	sum->kept += more->kept;
	sum->gamesets += more->gamesets;
}

static int check_sum(const struct chi_dump_tail *n, const struct chi_dump_tail *said,
		     struct chi_fault *fault)
{
	const char *what = said->positions != n->positions ? "positions"
			   : said->games != n->games	   ? "games"
			   : said->names != n->names	   ? "names"
			   : said->kept != n->kept	   ? "kept games"
			   : said->gamesets != n->gamesets ? "gamesets"
							   : NULL;
	return what == NULL ? CHI_OK
			    : chi_fail(fault, -CHI_ESYNTAX,
				       "not the number of %s read: the dump is damaged", what);
}

/* The last line's numbers are right, too. */
static int add_stream(void *state, struct chi_import_stream *stream, struct chi_fault *fault)
{
	struct chi_loading *loading = state;
	const struct chi_loaded *told = stream->told;
	int rc = check_order(loading, told, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	if (told->status != CHI_OK) {
		*fault = told->fault;
		return fault->text[0] != '\0' ? told->status : chi_fault_plain(fault, told->status);
	}
	if (told->n.games > 0) {
		memcpy(loading->last_game, told->last_game, CHI_GAME_ID_SIZE);
	}
	add_tail(&loading->n, &told->n);
	loading->to = told->begins != 0 ? told->to : loading->to;
	loading->over = loading->over || told->over;
	if (told->over) {
		loading->last_number = told->said.last_game;
		rc = check_sum(&loading->n, &told->said, fault);
	}
	return rc == CHI_OK ? chi_puts_place(&loading->positions, told->place) : rc;
}

/* ---- Feeding ----------------------------------------------------------------------------- */

/* After the last line of a piece, or the last game that ends in it; what is longer goes on. */
static size_t cut_piece(void *state, const struct chi_piece *piece, bool *closes)
{
	size_t cut = chi_dump_cut(piece->bytes, piece->len);
	(void)state;
	*closes = cut != 0;
	return cut != 0 ? cut : piece->len;
}

static const struct chi_reading_kind load_reading = {
	.cut = cut_piece, .collect = add_stream, .counts_lines = true};

/* One line of the head; the store's statistic is what the dump is to be of. */
static int take_head(void *context, const char *line, size_t len, bool longer)
{
	struct chi_loading *loading = context;
	struct chi_fault *fault = loading->fault;
	enum chi_dump_line kind;
	struct chi_put_entry put;
	const struct chi_dump_head *head = &loading->head.head;
	if (longer) {
		return misplaced(loading->head.line + 1, "the line is too long", fault);
	}
	chi_arena_reset(&loading->arena);
	int rc = chi_dump_read(&loading->head, line, len, &loading->arena, &kind, &put, fault);
	loading->reading.lines = loading->head.line;
	if (loading->importer->as_dump) {
		loading->importer->statistic = head->statistic;
		loading->importer->keep = head->archive ? CHI_KEEP_GAMES : CHI_KEEP_COUNTS;
	}
	if (rc == CHI_OK && loading->head.line == CHI_DUMP_HEAD_LINES &&
	    head->statistic != loading->importer->statistic) {
		const char *ours = chi_statistic_name((int)loading->importer->statistic);
		return chi_fail(fault, -CHI_EINVAL,
				"the dump is of the %s statistic, the store holds the %s one",
				chi_statistic_name((int)head->statistic), ours);
	}
	if (rc == CHI_OK && head->archive && loading->importer->keep != CHI_KEEP_GAMES) {
		return chi_fail(fault, -CHI_EINVAL,
				"the dump has games, and the store keeps none: load it into a new "
				"one, or merge the stores");
	}
	return rc;
}

static int begin_load(struct chi_importer *importer, struct chi_fault *fault)
{
	const struct chi_import_options *options = &importer->options;
	struct chi_loading *loading = calloc(1, sizeof(*loading));
	if (loading == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	importer->state = loading;
	loading->importer = importer;
	chi_dump_reader_init(&loading->head);
	chi_arena_init(&loading->arena, HEAD_ARENA);
	chi_line_splitter_init(&loading->lines, CHI_DUMP_LINE_MAX, take_head, loading);
	chi_reading_init(&loading->reading, &load_reading, importer);
	loading->positions.file = -1;
	loading->to = CHI_DUMP_POSITION;
	if (chi_dump_seal_init(&loading->seal) != CHI_OK) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int rc = chi_puts_init(&loading->positions, importer,
			       options->memory / 16 * POSITIONS_SHARE, fault);
	rc = rc == CHI_OK ? chi_carried_init(&loading->archive, importer, fault) : rc;
	return rc == CHI_OK ? chi_reading_start(&loading->reading, options->threads, chi_load_read,
						loading, 0, fault)
			    : rc;
}

static int feed_load(struct chi_importer *importer, const void *bytes, size_t len,
		     struct chi_fault *fault)
{
	struct chi_loading *loading = importer->state;
	const char *at = bytes;
	int rc = chi_dump_seal_check(&loading->seal, bytes, len, fault);
	loading->fault = fault;
	while (rc == CHI_OK && len > 0 && loading->head.line < CHI_DUMP_HEAD_LINES) {
		rc = chi_line_splitter_line(&loading->lines, &at, &len);
		rc = loading->lines.longer ? take_head(loading, NULL, 0, true) : rc;
		rc = rc < 0 && fault->text[0] == '\0' ? chi_fault_plain(fault, rc) : rc;
	}
	return rc == CHI_OK ? chi_reading_feed(&loading->reading, at, len, fault) : rc;
}

/* One dump, one transaction. */
static int file(struct chi_importer *importer, const char *name, struct chi_fault *fault)
{
	struct chi_loading *loading = importer->state;
	(void)name;
	return loading->n_files++ == 0
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EINVAL, "one dump is loaded in a session");
}

/* ---- The end ----------------------------------------------------------------------------- */

/* All lines, read; a dump whose last is missing is not whole. */
static int finish_load(struct chi_loading *loading, struct chi_fault *fault)
{
	int rc = chi_reading_finish(&loading->reading, fault);
	if (rc == CHI_OK && !loading->over) {
		return misplaced(loading->reading.lines,
				 "the dump is cut: its last line is missing", fault);
	}
	return rc == CHI_OK ? chi_dump_seal_whole(&loading->seal, fault) : rc;
}

static int commit_load(struct chi_importer *importer, struct chi_import_result *result,
		       struct chi_fault *fault)
{
	struct chi_loading *loading = importer->state;
	int rc = finish_load(loading, fault);
	return rc == CHI_OK ? chi_loading_apply(loading, result, fault) : rc;
}

static void end_load(struct chi_importer *importer)
{
	struct chi_loading *loading = importer->state;
	if (loading == NULL) {
		return;
	}
	chi_reading_deinit(&loading->reading);
	chi_dump_seal_deinit(&loading->seal);
	chi_puts_deinit(&loading->positions);
	chi_carried_deinit(&loading->archive);
	chi_arena_deinit(&loading->arena);
	chi_line_splitter_deinit(&loading->lines);
	free(loading);
	importer->state = NULL;
}

const struct chi_importer_kind chi_importer_load = {
	.begin = begin_load,
	.file = file,
	.feed = feed_load,
	.commit = commit_load,
	.end = end_load,
};
