/* SPDX-License-Identifier: MIT */
/* chistore dump: the whole store as text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "store/dump.h"

/* Room for the longest line and for putting it together. */
#define ARENA_BUDGET (4 * (size_t)CHI_DUMP_LINE_MAX)

/* Where the dump goes. A regular file is written under another name and renamed when it is
 * whole, so that a dump of yesterday is not lost to one that fails. */
struct target {
	FILE *file;
	const char *path; /* NULL: standard output */
	char *temporary;  /* name until it is whole; NULL: written in place (a pipe, a device) */
};

/* After target_finish there is nothing left to discard. */
static void target_discard(struct target *target)
{
	if (target->path != NULL && target->file != NULL) {
		(void)fclose(target->file);
	}
	if (target->temporary != NULL) {
		(void)unlink(target->temporary);
		free(target->temporary);
	}
	*target = (struct target){0};
}

static int target_fail(const struct target *target)
{
	if (target->path == NULL) {
		output_tell(errno);
	} else {
		cli_message("%s: %s", target->path, strerror(errno));
	}
	return EXIT_STORE;
}

/* The temporary name stands beside the final one, in the same file system: rename() then is one
 * step. The process number keeps two dumps to one file apart. */
static int target_open(struct target *target, const char *path)
{
	struct stat status;
	*target = (struct target){.file = stdout};
	if (path == NULL || strcmp(path, "-") == 0) {
		return EXIT_DONE;
	}
	target->path = path;
	target->file = NULL;
	if (stat(path, &status) != 0 || S_ISREG(status.st_mode)) {
		if (asprintf(&target->temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
			target->temporary = NULL;
			return target_fail(target);
		}
		/* An unfinished file is removed, also on Ctrl-C. */
		cli_catch_signals();
	}
	target->file = fopen(target->temporary != NULL ? target->temporary : path, "we");
	return target->file != NULL ? EXIT_DONE : target_fail(target);
}

/* Everything written, synced and under its name. */
static int target_finish(struct target *target)
{
	if (target->path == NULL) {
		return EXIT_DONE; /* main looks at standard output */
	}
	bool failed = fflush(target->file) != 0 ||
		      (target->temporary != NULL && fsync(fileno(target->file)) != 0);
	failed = fclose(target->file) != 0 || failed;
	target->file = NULL;
	if (failed || (target->temporary != NULL && rename(target->temporary, target->path) != 0)) {
		return target_fail(target);
	}
	free(target->temporary);
	target->temporary = NULL;
	return EXIT_DONE;
}

struct dump {
	struct chi_iter *iter;
	struct chi_arena arena;
	struct target target;
	uint64_t positions;
};

/* An unfinished target is removed here; a finished one has no temporary name left. */
static void dump_deinit(struct dump *dump)
{
	chi_iter_close(dump->iter);
	chi_arena_deinit(&dump->arena);
	target_discard(&dump->target);
}

static int write_text(struct dump *dump, const char *text, size_t len)
{
	return fwrite(text, 1, len, dump->target.file) == len ? EXIT_DONE
							      : target_fail(&dump->target);
}

/* A record that was read and cannot be said as text: this program's fault or the store's. */
static int print_fail(int status)
{
	cli_message("cannot print a record (%s)", chi_strerror(status));
	return EXIT_STORE;
}

/* The head tells load which kind of store to make, and its base rates. */
static int write_head(struct cli *cli, struct dump *dump)
{
	struct chi_info info;
	char *text = NULL;
	size_t len = 0;
	int status = chi_get_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	struct chi_dump_head head = {
		.statistic = (enum chi_statistic)info.statistic,
		.base = info.base,
	};
	status = chi_dump_print_head(&head, &dump->arena, &text, &len);
	return status == CHI_OK ? write_text(dump, text, len) : print_fail(status);
}

/* The arena is emptied for each record, so memory does not grow with the store. */
static int write_rows(struct cli *cli, struct dump *dump)
{
	const struct chi_row *row = NULL;
	const struct chi_record *record = NULL;
	int status;
	while ((status = chi_iter_next(dump->iter, &row, &record)) == CHI_OK && cli_stop == 0) {
		char *text = NULL;
		size_t len = 0;
		chi_arena_reset(&dump->arena);
		status = chi_dump_print(&row->key, record, &dump->arena, &text, &len);
		if (status != CHI_OK) {
			return print_fail(status);
		}
		int code = write_text(dump, text, len);
		if (code != EXIT_DONE) {
			return code;
		}
		dump->positions++;
	}
	if (cli_stop != 0) {
		return 128 + cli_stop;
	}
	return status == CHI_NONE ? EXIT_DONE : cli_fail(cli, status);
}

/* Written last of all: without it a reader takes the dump for cut. */
static int write_tail(struct dump *dump)
{
	char *text = NULL;
	size_t len = 0;
	int status = chi_dump_print_tail(dump->positions, &dump->arena, &text, &len);
	return status == CHI_OK ? write_text(dump, text, len) : print_fail(status);
}

/* In the order of the keys, so that equal stores give equal bytes. */
static int write_all(struct cli *cli, struct dump *dump)
{
	struct chi_scan_spec spec = {
		.chi2_max = CHI_CHI2_MAX,
		.order = CHI_ORDER_POSITION,
		.want = CHI_WANT_RECORDS,
	};
	int code = write_head(cli, dump);
	if (code != EXIT_DONE) {
		return code;
	}
	int status = chi_iter_open(cli->client, &spec, &dump->iter);
	if (status != CHI_OK) {
		return cli_fail(cli, status);
	}
	code = write_rows(cli, dump);
	if (code == EXIT_DONE) {
		code = write_tail(dump);
	}
	if (code == EXIT_DONE && chi_iter_mixed(dump->iter)) {
		cli_message("the store changed during the dump: it is of more than one committed "
			    "state; 'backup' copies one");
	}
	return code;
}

static int run(struct cli *cli, void *state, int argc, char **argv)
{
	_cleanup_(dump_deinit) struct dump dump = {.positions = 0};
	(void)state;
	chi_arena_init(&dump.arena, ARENA_BUDGET);
	int code = target_open(&dump.target, argc > 0 ? argv[0] : NULL);
	if (code == EXIT_DONE) {
		code = write_all(cli, &dump);
	}
	return code == EXIT_DONE ? target_finish(&dump.target) : code;
}

const struct command cmd_dump = {
	.name = "dump",
	.arguments = "[FILE]",
	.summary = "write the whole store as text",
	.help = "Writes every position with its record to FILE, or to standard output (also: -).\n"
		"The text is one line a position, tab-separated, in the order of the keys, and "
		"does\n"
		"not depend on the machine: 'load' makes the same store of it elsewhere. Its last\n"
		"line says how many positions it holds, so that a cut dump is noticed.",
	.example = "chistore -a ./positions dump | zstd > positions.dump.zst",
	.args_max = 1,
	.needs = NEEDS_READ,
	.run = run,
};
