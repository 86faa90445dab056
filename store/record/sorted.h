/* SPDX-License-Identifier: MIT */
/* The first rows by what no tree is in the order of (types.h, enum chi_sort). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "chistore/types.h"

/* The rows of a scan that is sorted; a heap until they are `collected`. */
struct chi_sorted {
	struct chi_row *rows; /* NULL: the scan is not sorted */
	size_t n;
	size_t max;
	size_t at; /* the next to be delivered */
	bool collected;
};

/* Takes memory for as many rows as the spec's limit says; `rows` is the caller's to free.
 * -CHI_ENOMEM. */
CHI_MUSTUSE int chi_sorted_init(const struct chi_scan_spec *spec, struct chi_sorted *sorted);

/* A row that may be among the first: as chi_filter_record filled it. */
void chi_sorted_add(const struct chi_scan_spec *spec, struct chi_sorted *sorted,
		    const struct chi_row *row);

/* All were added: puts them into their order, as the spec wants them. */
void chi_sorted_finish(const struct chi_scan_spec *spec, struct chi_sorted *sorted);

/* The next rows, up to `max`; returns how many. */
size_t chi_sorted_take(struct chi_sorted *sorted, struct chi_row *rows, size_t max);
