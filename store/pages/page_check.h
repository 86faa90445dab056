/* SPDX-License-Identifier: MIT */
/*
 * Whether LMDB may follow a file's pages. It believes them: one that is damaged leads its cursors
 * out of the map, and its compacting copy, which sizes what it writes by what stands there, out of
 * its memory. Here every page in use is read with plain reads and held against all that is relied
 * on, so that no damage can stop the process; what the entries say is chi_store_verify's business.
 */
#pragma once

#include "chistore/types.h"

struct chi_read;

/*
 * Checks every page of the newest state, which is that of `read` or one committed since; all of
 * these stay as they are while it lives. Each damage is reported, and added to *errors, a
 * page that cannot be read among them. CHI_OK: done, whatever was found; -CHI_EIO: the same, and
 * the system failed a read; -CHI_ENOMEM, -CHI_EBUSY. Any thread; reads the file once, and takes a
 * byte of memory for each of its pages.
 */
CHI_MUSTUSE int chi_page_check(struct chi_read *read, chi_verify_report *report, void *context,
			       uint64_t *errors);
