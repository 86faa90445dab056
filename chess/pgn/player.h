/* SPDX-License-Identifier: MIT */
/* Names of players as they are written in the world, compared by what they mean. */
#pragma once

#include <stdbool.h>

/*
 * True if `name`, a White or Black tag (UTF-8), can be who `wanted` says: each word of `wanted` is
 * a word of the name, whatever the case, accents, punctuation and order. A single letter stands for
 * a word that begins with it, on either side, but never for the surname that is wanted: what is
 * before the first comma, else the last word of several letters. So "Carlsen, Magnus" fits
 * "Magnus Carlsen", "Carlsen,M." and "CARLSEN MAGNUS", but neither "Carlsen, H" nor "Carlsen", and
 * "Carlsen" fits all of these.
 */
bool chi_player_fits(const char *wanted, const char *name);
