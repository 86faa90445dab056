/* SPDX-License-Identifier: MIT */
#include "cli/hashed/feeder.h"

/* Lines are sent when there are so many bytes of them. */
#define PIECE ((size_t)256 << 10)

/* The longest line, generously. */
#define LINE_MAX_BYTES ((size_t)1 << 20)

static void report_note(void *context, const struct chi_import_note *note)
{
	(void)context;
	/* Its line is one of ours, of which the file knows nothing. */
	if (note->line > 0) {
		cli_message("%s: a position was not stored: %s", note->file, note->text);
	}
}

char *feeder_room(struct feeder *feeder, size_t most)
{
	return (char *)chi_buffer_reserve(&feeder->text, most);
}

static int send_lines(struct feeder *feeder)
{
	struct chi_buffer *text = &feeder->text;
	int status = chi_import_feed(feeder->run.import, chi_buffer_bytes(text), text->len);
	chi_buffer_consume(text, text->len);
	return status;
}

int feeder_added(struct feeder *feeder, size_t len)
{
	chi_buffer_added(&feeder->text, len);
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
	chi_buffer_init(&feeder->text, PIECE + LINE_MAX_BYTES);
	int code = import_store(cli, &feeder->run, 0, feed_files, done, &feeding);
	chi_buffer_deinit(&feeder->text);
	return code;
}
