/* SPDX-License-Identifier: MIT */
/* Items on their way into a sorter: a thread's room in it, taken and given back block by block. */
#pragma once

#include "base/sorter.h"

/* Zeroed at first but for the sorter. */
struct chi_filler {
	struct chi_sorter *sorter;
	struct chi_sort_item *items; /* NULL: none taken */
	size_t n;
	size_t capacity;
};

/* Gives `n` items to the sorter, copied. */
CHI_MUSTUSE int chi_filler_add(struct chi_filler *filler, const struct chi_sort_item *items,
			       size_t n, struct chi_fault *fault);

/* Gives back what is taken. */
CHI_MUSTUSE int chi_filler_end(struct chi_filler *filler, struct chi_fault *fault);

/* Gives back room without what is in it, if any is taken: the sorter goes without. */
void chi_filler_drop(struct chi_filler *filler);
