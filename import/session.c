/* SPDX-License-Identifier: MIT */
/*
 * The feeding side of a session: text is gathered into pieces, cut where a game surely begins, and
 * handed to the threads; their remarks come in the order of the input.
 */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "import/session_priv.h"
#include "chess/pgn/pgn.h"

#define FILE_NAME_MAX 255

/* Shares of the memory, in sixteenths. The positions' share has to do for what is fixed, too: what
 * a thread reads games of usual length with, and what the commit writes with. */
#define POSITIONS_SHARE 10
#define IDS_SHARE	1
#define THREAD_BYTES	((uint64_t)1 << 20)
#define COMMIT_BYTES	((uint64_t)2 << 20)

/* ---- Notes ------------------------------------------------------------------------------- */

/* Where that stream begins. Once memory for it is used up remarks on games of later ones come
 * without their place. */
static void keep_base(struct chi_pgn_session *games)
{
	const struct chi_import_options *options = &games->importer->options;
	bool shared = games->n_bases > 0 && games->bases[games->n_bases - 1].file == games->file;
	/* The array doubles whenever the number is a power of two. */
	size_t n = games->n_bases;
	size_t more = (n & (n - 1)) == 0 ? (n == 0 ? 1 : n) * sizeof(*games->bases) : 0;
	games->bases_size += more + (shared || games->file == NULL ? 0 : strlen(games->file) + 1);
	if ((options->kind != CHI_IMPORT_SUBTRACT && !options->verbose) || games->bases_end ||
	    games->bases_size > options->memory / CHI_IMPORT_BASES_SHARE) {
		games->bases_end = true;
		return;
	}
	if (more > 0) {
		struct chi_import_base *bases = realloc(games->bases, n * sizeof(*bases) + more);
		if (bases == NULL) {
			games->bases_end = true;
			return;
		}
		games->bases = bases;
	}
	games->bases[games->n_bases++] = (struct chi_import_base){
		.file = games->file, .games = games->file_games, .lines = games->file_lines};
}

/* The name is a base's if that keeps it. */
static void end_file(struct chi_pgn_session *games)
{
	if (games->n_bases == 0 || games->bases[games->n_bases - 1].file != games->file) {
		free(games->file);
	}
	games->file = NULL;
	games->file_games = 0;
	games->file_lines = 0;
}

/* Tells what was noted in the stream. */
static int collect_stream(void *state, struct chi_import_stream *stream, struct chi_fault *fault)
{
	struct chi_pgn_session *games = state;
	(void)fault;
	if (stream->name != NULL) {
		end_file(games);
		games->file = stream->name;
		stream->name = NULL;
	}
	if (games->spill.fd >= 0) {
		chi_sources_note(&games->sources, stream->number, games->file);
	}
	keep_base(games);
	chi_notes_tell(&stream->notes, &games->importer->options,
		       games->file != NULL ? games->file : "", games->file_games,
		       games->file_lines);
	games->file_games += stream->games;
	games->file_lines += stream->lines;
	return CHI_OK;
}

/* ---- Feeding ----------------------------------------------------------------------------- */

/* Where a full piece may be cut: a place near its end if there is one, else any after its first
 * byte; its length if there is none. */
static size_t find_cut(const struct chi_pgn_session *games, const struct chi_piece *piece)
{
	const char *text = piece->bytes;
	size_t start = 0;
	if (games->inside) {
		const char *end = memchr(text, '\n', piece->len);
		start = end != NULL ? (size_t)(end - text) + 1 : piece->len;
	}
	size_t len = piece->len - start;
	size_t near = len - len / 8;
	size_t cut = chi_pgn_boundary(text + start, len, near);
	if (cut == len) {
		cut = chi_pgn_boundary(text + start, len, 1);
	}
	return start + cut;
}

static size_t cut_piece(void *state, const struct chi_piece *piece, bool *closes)
{
	struct chi_pgn_session *games = state;
	size_t cut = find_cut(games, piece);
	*closes = cut < piece->len;
	if (!*closes) {
		/* The next piece should begin with a line, if lines are not longer than that. */
		const char *end = memrchr(piece->bytes, '\n', piece->len);
		cut = end != NULL ? (size_t)(end - piece->bytes) + 1 : piece->len;
	}
	games->inside = piece->bytes[cut - 1] != '\n';
	return cut;
}

static const struct chi_reading_kind pgn_reading = {.cut = cut_piece, .collect = collect_stream};

static int feed_session(struct chi_importer *importer, const void *bytes, size_t len,
			struct chi_fault *fault)
{
	struct chi_pgn_session *games = importer->state;
	return chi_reading_feed(&games->reading, bytes, len, fault);
}

/* Of an input without text nothing is held once the next begins. */
static int file(struct chi_importer *importer, const char *name, struct chi_fault *fault)
{
	struct chi_pgn_session *games = importer->state;
	int rc = chi_reading_close(&games->reading, fault);
	if (rc != CHI_OK) {
		return rc;
	}
	games->inside = false;
	free(games->reading.name);
	games->reading.name = strndup(name, FILE_NAME_MAX);
	return games->reading.name != NULL ? CHI_OK : chi_fault_plain(fault, -CHI_ENOMEM);
}

/* ---- Begin and end ---------------------------------------------------------------------- */

/* What sorts the positions. */
static uint64_t positions_memory(const struct chi_import_options *options)
{
	return options->memory / 16 * POSITIONS_SHARE - options->threads * THREAD_BYTES -
	       COMMIT_BYTES;
}

static int start_threads(struct chi_pgn_session *games, struct chi_fault *fault)
{
	unsigned n = games->importer->options.threads;
	games->readers = calloc(n, sizeof(*games->readers));
	if (games->readers == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	for (unsigned i = 0; i < n; i++) {
		games->readers[i].games = games;
	}
	return chi_reading_start(&games->reading, n, chi_import_read, games->readers,
				 sizeof(*games->readers), fault);
}

static int begin_games(struct chi_importer *importer, struct chi_fault *fault)
{
	const struct chi_import_options *options = &importer->options;
	struct chi_pgn_session *games = calloc(1, sizeof(*games));
	if (games == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	importer->state = games;
	games->importer = importer;
	games->evals.fd = -1;
	games->spill.fd = -1;
	chi_reading_init(&games->reading, &pgn_reading, importer);
	int rc = chi_sorter_new(importer->spill, positions_memory(options), options->threads,
				&games->positions);
	if (rc == CHI_OK) {
		rc = chi_sorter_new(importer->spill, options->memory / 16 * IDS_SHARE,
				    options->threads, &games->ids);
	}
	if (rc != CHI_OK) {
		return chi_fault_plain(fault, rc);
	}
	if (options->evals) {
		rc = chi_eval_file_open(&games->evals, importer->spill, fault);
	}
	if (rc == CHI_OK && importer->keep == CHI_KEEP_GAMES && options->kind == CHI_IMPORT_ADD) {
		games->sources.room = options->memory / CHI_IMPORT_SOURCES_SHARE;
		rc = chi_spill_open(&games->spill, importer->spill, fault);
	}
	return rc == CHI_OK ? start_threads(games, fault) : rc;
}

static int commit_games(struct chi_importer *importer, struct chi_import_result *result,
			struct chi_fault *fault)
{
	struct chi_pgn_session *games = importer->state;
	int rc = chi_reading_finish(&games->reading, fault);
	for (unsigned i = 0; rc == CHI_OK && i < importer->options.threads; i++) {
		result->games += games->readers[i].n;
		result->skipped += games->readers[i].skipped;
		result->empty += games->readers[i].empty;
		result->filtered += games->readers[i].filtered;
		result->conflicts += games->readers[i].conflicts;
	}
	/* Text without a game is something else than was meant: no store is made of it. */
	if (rc == CHI_OK && importer->store == NULL && result->games == result->empty) {
		return chi_fail(fault, -CHI_ESYNTAX,
				result->games == 0 ? "no game was found"
						   : "no game with a move was found");
	}
	return rc != CHI_OK ? rc : chi_importer_commit_pgn(games, result, fault);
}

static void end_session(struct chi_importer *importer)
{
	struct chi_pgn_session *games = importer->state;
	if (games == NULL) {
		return;
	}
	chi_reading_deinit(&games->reading);
	chi_sorter_free(games->positions);
	chi_sorter_free(games->ids);
	chi_eval_file_close(&games->evals);
	chi_spill_close(&games->spill);
	chi_sources_deinit(&games->sources);
	end_file(games);
	for (size_t i = 0; i < games->n_bases; i++) {
		if (i == 0 || games->bases[i].file != games->bases[i - 1].file) {
			free(games->bases[i].file);
		}
	}
	free(games->bases);
	free(games->readers);
	free(games);
	importer->state = NULL;
}

const struct chi_importer_kind chi_importer_pgn = {
	.begin = begin_games,
	.file = file,
	.feed = feed_session,
	.commit = commit_games,
	.end = end_session,
};
