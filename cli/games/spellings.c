/* SPDX-License-Identifier: MIT */
/*
 * Lines become changes, kept with their texts until there are enough for a transaction. A bad line
 * costs no other.
 */
#include "cli/games/spellings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/in/files.h"
#include "formats/source.h"
#include "formats/spelling.h"

/* Changes of a transaction: FIDE ids and aliases of few players are between them. */
#define BATCH 5000
/* Remarks printed; more are counted, unless --verbose. */
#define REMARKS_MAX 20

const char *const name_kinds[CHI_NAME_KINDS] = {
	[CHI_NAME_PLAYER] = "player",
	[CHI_NAME_EVENT] = "event",
	[CHI_NAME_SITE] = "site",
	[CHI_NAME_SOURCE] = "source",
};

struct batch_of_changes {
	struct cli *cli;
	const char *path;
	struct spellings *spellings;
	struct chi_arena arena; /* texts of the changes */
	struct chi_name_change changes[BATCH];
	uint64_t lines[BATCH];
	size_t n;
};

static void remark(struct batch_of_changes *batch, uint64_t line, const char *text)
{
	struct spellings *spellings = batch->spellings;
	spellings->remarks++;
	if (spellings->verbose || (spellings->remarks <= REMARKS_MAX && !batch->cli->quiet)) {
		cli_message("%s: line %" PRIu64 ": %s", batch->path, line, text);
	}
}

/* Changes of one call, from `first` on. */
struct part {
	struct batch_of_changes *batch;
	size_t first;
};

static void refused(void *context, size_t i, const char *reason)
{
	const struct part *part = context;
	remark(part->batch, part->batch->lines[part->first + i], reason);
}

/* Long names may be more than a server takes in one request: then each half by itself. */
static int send(struct batch_of_changes *batch, size_t first, size_t n)
{
	struct chi_names_changed did;
	struct spellings *spellings = batch->spellings;
	struct part part = {batch, first};
	int status = chi_names_change(batch->cli->client, batch->changes + first, n,
				      spellings->dry_run, refused, &part, &did);
	if (status == -CHI_ETOOBIG && n > 1) {
		int code = send(batch, first, n / 2);
		return code == EXIT_DONE ? send(batch, first + n / 2, n - n / 2) : code;
	}
	if (status != CHI_OK) {
		return cli_fail(batch->cli->client, status);
	}
	spellings->did.changed += did.changed;
	spellings->did.same += did.same;
	spellings->did.conflicts += did.conflicts;
	return EXIT_DONE;
}

/* What is gathered goes to the store. */
static int flush_changes(struct batch_of_changes *batch)
{
	int code = send(batch, 0, batch->n);
	batch->n = 0;
	chi_arena_reset(&batch->arena);
	return code;
}

static enum chi_name_kind name_kind_of(enum chi_spelling_kind kind)
{
	static const enum chi_name_kind kinds[] = {
		[CHI_SPELLING_PLAYER] = CHI_NAME_PLAYER,
		[CHI_SPELLING_EVENT] = CHI_NAME_EVENT,
		[CHI_SPELLING_SITE] = CHI_NAME_SITE,
	};
	return kinds[kind];
}

/* An alias is found, and its name is right; a FIDE id is the right name's. */
static int add_spelling(struct batch_of_changes *batch, const struct chi_spelling *spelling,
			uint64_t line)
{
	bool fide = spelling->alias == NULL;
	const char *name = fide ? spelling->name : spelling->alias;
	struct chi_name_change *change = &batch->changes[batch->n];
	*change = (struct chi_name_change){
		.action = fide ? CHI_NAME_FIDE : CHI_NAME_CORRECT,
		.kind = (uint8_t)name_kind_of(spelling->kind),
		.name = chi_arena_text(&batch->arena, name, strlen(name)),
		.to = fide ? NULL
			   : chi_arena_text(&batch->arena, spelling->name, strlen(spelling->name)),
		.fide = spelling->fide,
	};
	if (change->name == NULL || (!fide && change->to == NULL)) {
		return cli_no_memory();
	}
	batch->spellings->aliases += !fide;
	batch->spellings->fides += fide;
	batch->lines[batch->n++] = line;
	return batch->n == BATCH ? flush_changes(batch) : EXIT_DONE;
}

static int take_spelling(struct batch_of_changes *batch, struct chi_spelling_reader *reader,
			 const char *line, size_t len)
{
	struct chi_spelling spelling;
	struct chi_fault fault = {.text = ""};
	int status = chi_spelling_line(reader, line, len, &spelling, &fault);
	if (status == CHI_OK) {
		return add_spelling(batch, &spelling, reader->line);
	}
	if (status < 0) {
		batch->spellings->bad++;
		/* It names the line, too. */
		const char *why = strstr(fault.text, ": ");
		remark(batch, reader->line, why != NULL ? why + 2 : fault.text);
	}
	return EXIT_DONE;
}

static int read_lines(struct batch_of_changes *batch, struct chi_source *source)
{
	_cleanup_(chi_freep) struct chi_spelling_reader *reader = calloc(1, sizeof(*reader));
	int code = reader != NULL ? EXIT_DONE : cli_no_memory();
	while (code == EXIT_DONE) {
		const char *line;
		size_t len;
		struct chi_fault fault = {.text = ""};
		int status = chi_source_line(source, &line, &len, &fault);
		if (status == CHI_NONE) {
			return flush_changes(batch);
		}
		if (status == -CHI_ETOOBIG) {
			batch->spellings->bad++;
			remark(batch, ++reader->line, fault.text);
		} else if (status < 0) {
			cli_message("%s: %s", batch->path, fault.text);
			return cli_stop != 0 ? 128 + cli_stop : files_exit_of(status);
		} else {
			code = take_spelling(batch, reader, line, len);
		}
	}
	return code;
}

int spellings_import(struct cli *cli, const char *path, struct spellings *spellings)
{
	struct chi_source_options options = {.cancel = &cli_stop};
	struct chi_fault fault = {.text = ""};
	struct chi_source *source = NULL;
	_cleanup_(chi_freep) struct batch_of_changes *batch = calloc(1, sizeof(*batch));
	if (batch == NULL) {
		return cli_no_memory();
	}
	int status = chi_source_open(path, &options, &source, &fault);
	if (status != CHI_OK) {
		cli_message("%s: %s", path, fault.text);
		return files_exit_of(status);
	}
	batch->cli = cli;
	batch->path = strcmp(path, "-") == 0 ? "standard input" : path;
	batch->spellings = spellings;
	chi_arena_init(&batch->arena, SIZE_MAX);
	int code = read_lines(batch, source);
	chi_arena_deinit(&batch->arena);
	chi_source_close(source);
	if (spellings->remarks > REMARKS_MAX && !spellings->verbose && !cli->quiet) {
		cli_message("%" PRIu64 " more remarks; --verbose prints all",
			    spellings->remarks - REMARKS_MAX);
	}
	return code;
}
