/* SPDX-License-Identifier: MIT */
/* Copying an environment entry by entry, so that its pages are full. */
#pragma once

struct chi_dir;

/*
 * Writes all trees of the store's last state to the data file `path`, which is `fd`, open, and
 * empty. Unsynced. Returns an errno or LMDB's code; ESTALE: the path is of another file.
 */
int chi_repack(struct chi_dir *store, const char *path, int fd);
