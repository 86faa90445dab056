/* SPDX-License-Identifier: MIT */
/* Looks at a data file before LMDB maps it. */
#pragma once

#include "chistore/types.h"

/* CHI_OK if the data file is one that LMDB may map: its head, and that no page in use lies
 * behind the file's end. -CHI_ENOSTORE, -CHI_EVERSION, -CHI_ECORRUPT, ... */
CHI_MUSTUSE int chi_file_check(const char *dir, struct chi_fault *fault);

/* CHI_OK, or -CHI_ENETFS if `path` is on a network file system. */
CHI_MUSTUSE int chi_file_system_check(const char *path, struct chi_fault *fault);
