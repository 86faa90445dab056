/* SPDX-License-Identifier: MIT */
/* Scid's spelling files on their way into a store: as changes of names, some thousand at a time. */
#pragma once

#include "cli/cli.h"

/* The kinds of names, as options take them. */
extern const char *const name_kinds[CHI_NAME_KINDS];

struct spellings {
	bool dry_run;
	bool verbose; /* tell every remark, not only the first ones */
	/* What was done. */
	uint64_t aliases; /* lines that give one */
	uint64_t fides;	  /* FIDE ids */
	uint64_t bad;	  /* lines that say nothing that can be read */
	uint64_t remarks;
	struct chi_names_changed did;
};

/* Reads a file, "-" for standard input, and changes the store of cli->client. Says what is wrong.
 */
int spellings_import(struct cli *cli, const char *path, struct spellings *spellings);
