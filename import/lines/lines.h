/* SPDX-License-Identifier: MIT */
/*
 * Importing files of positions. The first line of each file is read where the text comes in, since
 * it may be a header; what follows is cut at record ends into pieces, which threads read beside
 * each other. Of each stream they tell what they read and what was bad; that is put together in the
 * order of the input.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "formats/lines.h"
#include "import/importer_priv.h"
#include "import/puts.h"
#include "import/reading.h"

/* The longest line, and the longest record of several, in bytes. */
#define CHI_LINES_MAX (1u << 20)

struct chi_lines_file {
	struct chi_lines_file *next; /* in the order of the input */
	char *name;
	struct chi_lines lines; /* after its first line; each stream has a copy */
	/* Of the streams collected. */
	uint64_t good;
	uint64_t clamped;
	char ignored[CHI_FAULT_SIZE];
};

/* What a thread tells of a stream; it hangs on it, and notes name lines from the stream's first. */
struct chi_lined {
	struct chi_lines_file *file;
	uint64_t line; /* of the stream's first, in the file */
	uint64_t place;
	uint64_t read;
	uint64_t bad;
	uint64_t clamped;
	bool dropped; /* statistics that the store computes itself */
	char ignored[CHI_FAULT_SIZE];
};

/* Where a stream is; for what is refused at the end. */
struct chi_lines_place {
	const struct chi_lines_file *file;
	uint64_t line;
};

/* How a text of CSV goes on. */
enum chi_lines_state {
	CHI_LINES_FIELD, /* a field begins */
	CHI_LINES_PLAIN, /* in one without quotation marks, or after them */
	CHI_LINES_OPEN,	 /* between quotation marks */
	CHI_LINES_MARK,	 /* after one, which closes or is the first of two */
};

/* The state of a session of kind CHI_IMPORT_PUT. */
struct chi_lining {
	struct chi_importer *importer;
	struct chi_reading reading;
	struct chi_puts puts;
	/* The feeding thread's. */
	struct chi_lines_file *first;
	struct chi_lines_file *file; /* that is fed; NULL: none yet */
	bool begun;		     /* its first line has come */
	struct chi_arena arena;	     /* of that line */
	struct chi_line_splitter head;
	struct chi_fault *fault; /* of the call that feeds it */
	enum chi_lines_state state;
	uint64_t record; /* bytes of the record that has begun */
	/* Of the streams collected. */
	struct chi_lines_file *telling; /* the oldest file that is not told of */
	struct chi_lines_place *places; /* by stream */
	size_t n_places;
	size_t room;
	uint64_t n_read;
	uint64_t n_bad;
	uint64_t n_empty; /* files without a position */
	bool told_dropped;
	struct chi_import_result *result; /* of the commit */
};

/* import/lines/lines_read.c: a thread's work. */
void *chi_lines_work(void *lining);
