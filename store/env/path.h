/* SPDX-License-Identifier: MIT */
/* Directories built beside their place and renamed. */
#pragma once

#include <limits.h>

#include "chistore/types.h"
#include "store/names.h"

/* A directory under a hidden name, in which a new store is built. */
struct chi_hidden {
	char dir[CHI_PROC_SIZE];   /* a path that leads to it under any name */
	char name[NAME_MAX + 1];   /* in `parent`; */
	char target[NAME_MAX + 1]; /* the one it is to have */
	int lock; /* the directory, locked: until it is closed it is not taken for a leftover */
	int parent;
};

/*
 * Makes the hidden directory beside `path`, empty. What processes that were killed have left of
 * the same name is removed first. To be ended by chi_path_publish or chi_path_remove.
 */
CHI_MUSTUSE int chi_path_begin(const char *path, struct chi_hidden *out, struct chi_fault *fault);

/* Syncs the directory, gives it its name, syncs the parent. -CHI_EEXIST if `path` holds something
 * by now. On failure `hidden` is still to be removed. */
CHI_MUSTUSE int chi_path_publish(struct chi_hidden *hidden, const char *path,
				 struct chi_fault *fault);

/* The same where a published copy may have the name: the two change names at one moment, then the
 * old one is removed; programs that have it open keep it. -CHI_EEXIST if something else has the
 * name, -CHI_EUNSUPPORTED if the file system cannot do it. */
CHI_MUSTUSE int chi_path_replace(struct chi_hidden *hidden, const char *path,
				 struct chi_fault *fault);

/* Removes a store's files in `hidden`, and it; nothing if it has got its name. */
void chi_path_remove(struct chi_hidden *hidden);

/* fsync of a file or directory by name. */
CHI_MUSTUSE int chi_path_sync(const char *path);

/* CHI_OK if a store could be made at `path`: nothing is there, or an empty directory. */
CHI_MUSTUSE int chi_place_check(const char *path, struct chi_fault *fault);
