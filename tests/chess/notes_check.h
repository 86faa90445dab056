/* SPDX-License-Identifier: MIT */
#pragma once

#include "chess/pgn/notes.h"

/* CHI_OK if all of it can be read, -CHI_ECORRUPT. */
static inline int check_notes(const uint8_t *notes, size_t len, size_t n_plies)
{
	struct chi_notes_reader reader = chi_notes_reader_of(notes, len, n_plies);
	struct chi_note note;
	int status = CHI_OK;
	while (status == CHI_OK) {
		status = chi_notes_next(&reader, &note);
	}
	return status == CHI_NONE ? CHI_OK : status;
}
