/* SPDX-License-Identifier: MIT */
#include "cli/hashed/feeder.h"

#include <inttypes.h>
#include <stdio.h>

#include "chess/fen.h"
#include "chess/key.h"
#include "chess/notation.h"
#include "formats/evals/exp.h"

/* Lines are sent when there are so many bytes of them. */
#define PIECE ((size_t)256 << 10)

/* Bytes of a move or an evaluation, and of a line, at most. */
#define ITEM_BYTES 128
#define LINE_BYTES ((size_t)1 << 16)
_Static_assert(256 + CHI_FEN_SIZE + (CHI_MOVES_MAX + CHI_EXP_LINES) * ITEM_BYTES < LINE_BYTES,
	       "any position fits");

static void report_note(void *context, const struct chi_import_note *note)
{
	(void)context;
	/* Its line is one of ours, of which the file knows nothing. */
	if (note->line > 0) {
		cli_message("%s: a position was not stored: %s", note->file, note->text);
	}
}

static int send_lines(struct feeder *feeder)
{
	struct chi_buffer *text = &feeder->text;
	int status = chi_import_feed(feeder->run.import, chi_buffer_bytes(text), text->len);
	chi_buffer_consume(text, text->len);
	return status;
}

/* What a book says of the position, or a file of evaluations. */
static size_t print_moves(const struct chi_position *position, const struct chi_record *record,
			  char *out)
{
	char uci[CHI_UCI_SIZE];
	size_t n = (size_t)snprintf(out, LINE_BYTES,
				    ",\"other\":%" PRIu64 ",\"moves\":", record->counts.other);
	for (size_t i = 0; i < record->n_moves; i++) {
		const struct chi_move_stat *move = &record->moves[i];
		(void)chi_uci_print(position, move->move, uci);
		n += (size_t)snprintf(out + n, ITEM_BYTES,
				      "%c{\"uci\":\"%s\",\"other\":%" PRIu64 "}",
				      i == 0 ? '[' : ',', uci, move->counts.other);
	}
	return n;
}

static size_t print_evals(const struct chi_position *position, const struct chi_record *record,
			  char *out)
{
	char uci[CHI_UCI_SIZE];
	size_t n = (size_t)snprintf(out, LINE_BYTES, ",\"evals\":");
	for (size_t i = 0; i < record->n_evals; i++) {
		const struct chi_eval *eval = &record->evals[i];
		(void)chi_uci_print(position, eval->pv[0], uci);
		n += (size_t)snprintf(out + n, ITEM_BYTES,
				      "%c{\"multipv\":%d,\"depth\":%" PRIu32 ",\"%s\":%" PRId32
				      ",\"pv\":[\"%s\"]}",
				      i == 0 ? '[' : ',', eval->rank + 1, eval->depth,
				      eval->is_mate ? "mate" : "cp", eval->score, uci);
	}
	return n;
}

int feeder_take(void *context, const struct chi_put_entry *put)
{
	struct feeder *feeder = context;
	struct chi_position position;
	char fen[CHI_FEN_SIZE];
	char *line = (char *)chi_buffer_reserve(&feeder->text, LINE_BYTES);
	int status = line != NULL ? chi_key_decode(&put->key, &position, NULL) : -CHI_ENOMEM;
	if (status != CHI_OK) {
		return status;
	}
	(void)chi_fen_print(&position, fen);
	size_t n = (size_t)snprintf(line, LINE_BYTES, "{\"fen\":\"%s\"", fen);
	n += put->record.n_moves > 0 ? print_moves(&position, &put->record, line + n)
				     : print_evals(&position, &put->record, line + n);
	n += (size_t)snprintf(line + n, 4, "]}\n");
	chi_buffer_added(&feeder->text, n);
	return feeder->text.len >= PIECE ? send_lines(feeder) : CHI_OK;
}

int feeder_end_file(struct feeder *feeder, const char *path, int status, uint64_t positions)
{
	status = status == CHI_OK ? send_lines(feeder) : status;
	if (status != CHI_OK) {
		return status == -CHI_ENOMEM ? cli_no_memory() : import_fail(&feeder->run, status);
	}
	if (positions == 0) {
		cli_message("%s: no position was found", path);
		feeder->empty = true;
	}
	return EXIT_DONE;
}

struct feeding {
	int n;
	char **paths;
	feeder_file *feed;
};

static int feed_files(struct import_run *run, void *context)
{
	const struct feeding *feeding = context;
	int code = EXIT_DONE;
	for (int i = 0; i < feeding->n && code == EXIT_DONE && cli_stop == 0; i++) {
		int status = chi_import_file(run->import, feeding->paths[i]);
		code = status == CHI_OK ? feeding->feed((struct feeder *)run, feeding->paths[i])
					: import_fail(run, status);
	}
	return code;
}

int feeder_run(struct cli *cli, struct feeder *feeder, int n, char **paths, feeder_file *feed,
	       import_done *done)
{
	struct feeding feeding = {.n = n, .paths = paths, .feed = feed};
	feeder->run.options.kind = CHI_IMPORT_PUT;
	feeder->run.options.format = CHI_FORMAT_JSONL;
	feeder->run.options.report = report_note;
	chi_buffer_init(&feeder->text, PIECE + LINE_BYTES);
	int code = import_store(cli, &feeder->run, 0, feed_files, done, &feeding);
	chi_buffer_deinit(&feeder->text);
	return code;
}
