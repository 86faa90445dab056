/* SPDX-License-Identifier: MIT */
/*
 * An import as commands run it: opened, fed, committed, all of it or nothing. A command's own
 * struct begins with this one, and so is the context of what the import reports.
 */
#pragma once

#include <stdint.h>

#include "cli/cli.h"
#include "cli/out/progress.h"
#include "formats/source.h"

struct import_run {
	struct chi_import_options options; /* of the command; what is called back is `report` */
	enum chi_statistic create;	   /* of a store that is made; 0: not given */
	const char *what;		   /* all that is read, for messages; NULL: has no name */
	const char *unit;		   /* of the progress bar; NULL: positions */
	/* For the bar: units in so many bytes of text, about. NULL: none are counted. */
	uint64_t (*count)(const char *bytes, size_t len);
	bool by_line; /* these are lines, which tell a place in a file */
	/* One of several imports of one input, of which the caller says what is stored: this one
	 * does not say that nothing is. One after the first waits for its turn at the store. */
	bool piece;
	bool patient;
	/* Of a file without a byte. NULL: it is as any. */
	void (*empty)(struct import_run *run, const char *path);

	struct cli *cli;
	struct chi_import *import;
	struct progress progress;
	uint64_t seen;	       /* units fed */
	uint64_t bytes_before; /* of the files done */
};

/* Files to be fed; of each one that is open already, or NULL, closed and cleared when it is fed.
 * `sources` NULL: none is. */
struct import_paths {
	int n;
	char **paths;
	struct chi_source **sources;
};

/* Returns an exit code, having said what is wrong. Looks at cli_stop. */
typedef int import_feed(struct import_run *run, void *context);

/* What is said after the commit; its exit code. */
typedef int import_done(struct import_run *run, int status, const struct chi_import_result *result);

/*
 * Opens the store, has it fed, and commits; says if a signal stopped that. `bytes` of input are to
 * come, 0: not known. Without `create` a store that is missing is made, of the kind that holds
 * every position in both trees, unless it is to be taken from. Returns an exit code.
 */
int import_store(struct cli *cli, struct import_run *run, uint64_t bytes, import_feed *feed,
		 import_done *done, void *context);

/* Feeds the rest of a file, which messages call `name`. Returns an exit code. */
int import_feed_source(struct import_run *run, const char *name, struct chi_source *source);

/* Feeds all files of a struct import_paths. */
import_feed import_feed_paths;

/* Say why, unless a signal stopped the work, which import_store says: a text; the text of a file,
 * of which nothing was stored; what the import says. Return an exit code, the first two `code`. */
int import_say(struct import_run *run, const char *text, int code);
int import_say_file(struct import_run *run, const char *name, const char *text, int code);
int import_fail(struct import_run *run, int status);
