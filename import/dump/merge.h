/* SPDX-License-Identifier: MIT */
/*
 * Adding another store. It arrives as the text of its dump, which is read and checked line by line
 * as it comes, and put by; or it is in a directory, and read at the commit. It is applied in one
 * transaction. chistore.1 has the table of what
 * becomes of what both stores hold (import/dump/merge_apply.c does it).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "import/dump/carry.h"
#include "import/dump/other.h"
#include "import/importer_priv.h"
#include "store/text/dump.h"
#include "store/text/seal.h"

/* The state of a session of kind CHI_IMPORT_MERGE. */
struct chi_dump_merging {
	struct chi_dump_seal seal;
	struct chi_dump_reader reader;
	struct chi_arena arena;	 /* of one line */
	struct chi_buffer line;	 /* one that has come in part */
	struct chi_other *other; /* in a directory: nothing of what follows is used; or NULL */
	FILE *lines;		 /* nameless: the head's and the positions' */
	struct chi_carried archive;
	struct chi_carrier carrier;
	char *kept; /* the line read again last; room for it */
	size_t kept_size;
	struct chi_key last; /* the position before */
	uint64_t n_files;    /* inputs begun: one store each session */
	uint64_t positions;
	bool whole; /* the dump's last line has come */
};

/* Says that what was put by cannot be kept, or read; errno tells why. */
int chi_merging_fault(struct chi_fault *fault, const char *what);

/* Applies what was read. Nothing is changed unless it returns CHI_OK. */
CHI_MUSTUSE int chi_merging_apply(struct chi_importer *importer, struct chi_dump_merging *merging,
				  struct chi_import_result *result, struct chi_fault *fault);
