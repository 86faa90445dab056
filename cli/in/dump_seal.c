/* SPDX-License-Identifier: MIT */
/* New checksums for the text of a dump that was edited. */
#include "cli/in/dump_seal.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/in/files.h"
#include "formats/source.h"
#include "store/text/dump.h"
#include "store/text/seal.h"

struct sealing {
	const char *name; /* for messages */
	struct chi_source *source;
	struct chi_dump_seal seal;
	struct chi_buffer line; /* with its newline */
	struct target *target;
};

static void sealing_deinit(struct sealing *sealing)
{
	chi_source_close(sealing->source);
	chi_dump_seal_deinit(&sealing->seal);
	chi_buffer_deinit(&sealing->line);
}

static bool line_begins(const char *line, size_t len, const char *word)
{
	return len >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

static int write_line(struct sealing *sealing, const char *text, size_t len)
{
	char sum[CHI_DUMP_SUM_SIZE];
	chi_buffer_consume(&sealing->line, sealing->line.len);
	if (chi_buffer_append(&sealing->line, text, len) != CHI_OK ||
	    chi_buffer_append(&sealing->line, "\n", 1) != CHI_OK) {
		return cli_no_memory();
	}
	const char *line = (const char *)chi_buffer_bytes(&sealing->line);
	size_t n = chi_dump_seal_lines(&sealing->seal, line, len + 1, sum);
	int code = target_write(sealing->target, sum, n);
	return code == EXIT_DONE ? target_write(sealing->target, line, len + 1) : code;
}

/* All lines but the checksums there are. A text that is cut is not made to look whole. */
static int write_lines(struct sealing *sealing)
{
	struct chi_fault fault = {.text = ""};
	const char *line = NULL;
	size_t len = 0;
	bool whole = false;
	int code = EXIT_DONE;
	int status;
	while ((status = chi_source_line(sealing->source, &line, &len, &fault)) == CHI_OK &&
	       code == EXIT_DONE) {
		if (!line_begins(line, len, CHI_DUMP_SUM)) {
			whole = line_begins(line, len, "end\t");
			code = write_line(sealing, line, len);
		}
	}
	if (code != EXIT_DONE) {
		return code;
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	if (status != CHI_NONE) {
		cli_message("%s: line %" PRIu64 ": %s", sealing->name,
			    chi_source_line_number(sealing->source), fault.text);
		return EXIT_STORE;
	}
	if (!whole) {
		cli_message("%s: the dump is cut: its last line is missing", sealing->name);
		return EXIT_STORE;
	}
	return EXIT_DONE;
}

int dump_seal(const struct cli *cli, const char *path, struct target *target)
{
	_cleanup_(sealing_deinit) struct sealing sealing = {
		.name = strcmp(path, "-") == 0 ? "standard input" : path, .target = target};
	struct chi_source_options options = {.line_max = CHI_DUMP_LINE_MAX, .cancel = &cli_stop};
	char sum[CHI_DUMP_SUM_SIZE];
	chi_buffer_init(&sealing.line, CHI_DUMP_LINE_MAX + 1);
	int code = files_open(cli, path, sealing.name, &options, &sealing.source);
	if (code != EXIT_DONE) {
		return code;
	}
	if (chi_dump_seal_init(&sealing.seal) != CHI_OK) {
		return cli_no_memory();
	}
	code = write_lines(&sealing);
	return code == EXIT_DONE ? target_write(target, sum, chi_dump_seal_end(&sealing.seal, sum))
				 : code;
}
