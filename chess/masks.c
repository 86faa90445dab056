/* SPDX-License-Identifier: MIT */
#include "chess/masks.h"

void chi_masks_init(struct chi_mask_wants *wants)
{
	*wants =
		(struct chi_mask_wants){.n = 1, .any = {{.least = 1, .span = CHI_MASK_PIECES - 1}}};
}

bool chi_masks_idle(const struct chi_mask_wants *wants)
{
	for (uint32_t i = 0; i < wants->n; i++) {
		const struct chi_mask_want *want = &wants->any[i];
		if (want->decides == 0 && want->least <= 1 &&
		    want->least + want->span >= CHI_MASK_PIECES) {
			return true;
		}
	}
	return false;
}

void chi_masks_bound(struct chi_mask_wants *wants, uint32_t least, uint32_t span)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < wants->n; i++) {
		struct chi_mask_want want = wants->any[i];
		uint32_t most = want.least + want.span;
		want.least = want.least > least ? want.least : least;
		most = most < least + span ? most : least + span;
		if (want.least <= most) {
			want.span = most - want.least;
			wants->any[n++] = want;
		}
	}
	wants->n = n;
}
