/* SPDX-License-Identifier: MIT */
/* What a published copy is, and opening it. */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"

struct chi_env;
struct chi_hidden;
/* True if the files of `dir` are as those of a published copy: data that no one may write, no lock
 * file. Anyone who writes a store has made a lock file before. */
bool chi_published_looks(const char *dir);

/* CHI_OK if `dir` is a published copy, by its files and its stamp; -CHI_EEXIST if it is not. */
CHI_MUSTUSE int chi_published_check(const char *dir, struct chi_fault *fault);

/* At opening: CHI_OK, `env` is a published copy and open; CHI_NONE, it is not, and locks are
 * needed. -CHI_EREADONLY: it is one, and was to be written. */
CHI_MUSTUSE int chi_published_open(struct chi_env *env, struct chi_fault *fault);

/* -CHI_EREADONLY, in words. */
CHI_MUSTUSE int chi_published_refuse(const char *path, struct chi_fault *fault);

/* Whether LMDB can open what was received: chi_verify_pages, in the words of a publisher. */
CHI_MUSTUSE int chi_published_prove(int file, struct chi_fault *fault);

/* Makes a published copy of the copy in the hidden directory, whose pages are proven: marked,
 * compacted, checked entry by entry, or with `whole` as chi_dir_verify does, and synced. */
CHI_MUSTUSE int chi_published_make(const struct chi_hidden *hidden, bool whole,
				   struct chi_fault *fault);

/* Makes it a store again. */
CHI_MUSTUSE int chi_published_unmake(const char *dir, struct chi_fault *fault);
