/* SPDX-License-Identifier: MIT */
/*
 * Steps that change what names mean: players are joined and split again while games come and a
 * gameset of one of them is made and made again, each in one transaction.
 */
#pragma once

#include <stdbool.h>

#include "store/store.h"

/* Does step `step`, from 1 on. */
CHI_MUSTUSE int aliases_step(struct chi_dir *store, unsigned step, struct chi_fault *why);

/* The store is sound, its gamesets too, and the player's games are those of the names that are
 * joined to his after that step: all of them, or none. */
bool aliases_hold(struct chi_dir *store, unsigned step, struct chi_fault *why);
