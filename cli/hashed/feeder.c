/* SPDX-License-Identifier: MIT */
#include "cli/hashed/feeder.h"

#include "cli/in/lines_import.h"

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

int feeder_open(struct cli *cli, enum chi_statistic create,
		const struct chi_import_options *options, struct feeder *feeder)
{
	struct chi_import_options mine = *options;
	mine.kind = CHI_IMPORT_PUT;
	mine.format = CHI_FORMAT_JSONL;
	mine.report = report_note;
	mine.cancel = &cli_stop;
	if (!cli_has_address(cli)) {
		return EXIT_USAGE;
	}
	chi_buffer_init(&feeder->text, PIECE + LINE_MAX_BYTES);
	cli_catch_signals();
	return lines_import_open(cli, create, &mine, &feeder->import);
}

void feeder_deinit(struct feeder *feeder)
{
	chi_import_close(feeder->import);
	chi_buffer_deinit(&feeder->text);
}

char *feeder_room(struct feeder *feeder, size_t most)
{
	return (char *)chi_buffer_reserve(&feeder->text, most);
}

int feeder_send(struct feeder *feeder)
{
	struct chi_buffer *text = &feeder->text;
	int status = chi_import_feed(feeder->import, chi_buffer_bytes(text), text->len);
	chi_buffer_consume(text, text->len);
	return status;
}

int feeder_added(struct feeder *feeder, size_t len)
{
	chi_buffer_added(&feeder->text, len);
	return feeder->text.len >= PIECE ? feeder_send(feeder) : CHI_OK;
}

int feeder_fail(const struct feeder *feeder, int status)
{
	if (cli_stop != 0) {
		cli_message("interrupted; nothing was stored");
		return 128 + cli_stop;
	}
	if (status == -CHI_ENOMEM) {
		return cli_no_memory();
	}
	cli_message("%s; nothing was stored", chi_import_error(feeder->import));
	return EXIT_STORE;
}
