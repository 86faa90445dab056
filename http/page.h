/* SPDX-License-Identifier: MIT */
/* The files of the page: read once, at the start, so that no request reaches the file system. */
#pragma once

#include "http/net/call.h"

struct page;

/* The files of a directory, without those of its subdirectories. An empty set if it is not there.
 * -CHI_EIO, -CHI_ETOOBIG, -CHI_ENOMEM. */
CHI_MUSTUSE int page_load(const char *dir, struct page **out, struct chi_fault *fault);
void page_free(struct page *page);

/* By its path; "/" is index.html. NULL: there is none. */
const struct page_file *page_find(const struct page *page, const char *path);
