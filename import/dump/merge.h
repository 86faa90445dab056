/* SPDX-License-Identifier: MIT */
/*
 * Adding another store. It is in a directory, and read at the commit; or it arrives as the text of
 * its dump, which is loaded into a store without a name, and that is read. It is applied in one
 * transaction. chistore.1 has the table of what becomes of what both stores hold
 * (import/dump/merge_apply.c does it).
 */
#pragma once

#include "import/dump/other.h"
#include "import/importer_priv.h"

/* The state of a session of kind CHI_IMPORT_MERGE. */
struct chi_dump_merging {
	struct chi_importer *text; /* loads the text; NULL: none has come */
	struct chi_load *made;	   /* of the text; NULL: not yet */
	struct chi_other *other;   /* NULL: not yet */
	uint64_t n_files;	   /* inputs begun: one store each session */
};

/* Applies the other store. Nothing is changed unless it returns CHI_OK. */
CHI_MUSTUSE int chi_merging_apply(struct chi_importer *importer, struct chi_other *other,
				  struct chi_import_result *result, struct chi_fault *fault);
