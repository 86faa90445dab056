/* SPDX-License-Identifier: MIT */
/*
 * Loading a dump: its positions replace those stored. The text is cut at line ends into pieces,
 * threads read the lines beside each other, and the commit stores what they kept in the order of
 * the keys; of a position that comes twice the later line stays.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "import/dump/carry.h"
#include "import/importer_priv.h"
#include "import/puts.h"
#include "import/reading.h"
#include "store/text/dump.h"
#include "store/text/seal.h"

/* What a thread tells of a stream; it hangs on it. */
struct chi_loaded {
	struct chi_dump_tail n; /* lines read */
	uint64_t game_line;	/* of the first game */
	uint8_t first_game[CHI_GAME_ID_SIZE];
	uint8_t last_game[CHI_GAME_ID_SIZE];
	uint64_t begins;	 /* line of the first line of any kind; 0: there is none */
	enum chi_dump_line from; /* the kinds of that one and of the last */
	enum chi_dump_line to;
	bool over;		   /* the dump's last line is in it */
	struct chi_dump_tail said; /* by that line */
	uint64_t place;		   /* of what it kept */
	int status;		   /* of the first bad line, */
	struct chi_fault fault;
};

/* The state of a session of kind CHI_IMPORT_LOAD. */
struct chi_loading {
	struct chi_importer *importer;
	struct chi_reading reading;
	struct chi_puts positions;
	struct chi_carried archive;
	/* The feeding thread's. */
	struct chi_dump_seal seal;
	struct chi_dump_reader head;
	struct chi_arena arena;		/* of a line of the head */
	struct chi_line_splitter lines; /* of the head */
	struct chi_fault *fault;	/* of the call that feeds them */
	uint64_t n_files;
	/* Of the streams collected. */
	struct chi_dump_tail n;
	enum chi_dump_line to; /* the last line's kind */
	uint8_t last_game[CHI_GAME_ID_SIZE];
	bool over;
	uint64_t last_number; /* the highest that a game was given */
};

/* import/dump/load_read.c: a thread's work. */
void *chi_load_read(void *loading);

/* import/dump/load_apply.c: when the threads have ended. Nothing is changed unless it returns
 * CHI_OK. */
CHI_MUSTUSE int chi_loading_apply(struct chi_loading *loading, struct chi_import_result *result,
				  struct chi_fault *fault);
