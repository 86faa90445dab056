/* SPDX-License-Identifier: MIT */
/* Blocks of a sorter, filled by one thread. */
#include "import/fill.h"

#include <string.h>

int chi_filler_end(struct chi_filler *filler, struct chi_fault *fault)
{
	if (filler->items == NULL) {
		return CHI_OK;
	}
	int rc = chi_sorter_give(filler->sorter, filler->items, filler->n, fault);
	filler->items = NULL;
	return rc;
}

int chi_filler_add(struct chi_filler *filler, const struct chi_sort_item *items, size_t n,
		   struct chi_fault *fault)
{
	while (n > 0) {
		if (filler->items != NULL && filler->n == filler->capacity) {
			int rc = chi_filler_end(filler, fault);
			if (rc != CHI_OK) {
				return rc;
			}
		}
		if (filler->items == NULL) {
			int rc = chi_sorter_take(filler->sorter, &filler->items, &filler->capacity,
						 fault);
			if (rc != CHI_OK) {
				filler->items = NULL;
				return rc;
			}
			filler->n = 0;
		}
		size_t room = filler->capacity - filler->n;
		size_t some = n < room ? n : room;
		memcpy(filler->items + filler->n, items, some * sizeof(*items));
		filler->n += some;
		items += some;
		n -= some;
	}
	return CHI_OK;
}

void chi_filler_drop(struct chi_filler *filler)
{
	if (filler->items != NULL) {
		(void)!chi_sorter_give(filler->sorter, filler->items, 0, NULL);
	}
	filler->items = NULL;
}
