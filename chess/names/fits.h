/* SPDX-License-Identifier: MIT */
/* Names as they are written in the world, compared by what they mean. */
#pragma once

#include <stdbool.h>

#include "chess/names/words.h"

/*
 * True if `name`, a White or Black tag (UTF-8), can be who `wanted` says: each word of `wanted` is
 * a word of the name, whatever the case, accents, punctuation and order. A single letter stands for
 * a word that begins with it, on either side, but never for the surname that is wanted: what is
 * before the first comma, else any one word of several letters that may be the name's surname. So
 * "Carlsen, Magnus" fits "Magnus Carlsen", "Carlsen,M." and "CARLSEN MAGNUS", but neither
 * "Carlsen, H" nor "Carlsen"; so do "Magnus Carlsen" and "Carlsen Magnus", which fit "Magnus, C."
 * too; and "Carlsen" fits all of these. After a leading "=" only exactly that text fits.
 */
bool chi_player_fits(const char *wanted, const char *name);

/* The same for words, without the "=". */
bool chi_player_fits_words(const struct chi_name_words *wanted, const struct chi_name_words *name);

/* True if each word of `wanted` is a word of the name, in any order: for names that are no
 * person's. Without a word nothing fits. */
bool chi_name_has_words(const struct chi_name_words *wanted, const struct chi_name_words *name);
