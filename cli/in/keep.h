/* SPDX-License-Identifier: MIT */
/* The words for what is kept of games, by enum chi_keep. */
#pragma once

static const char *const keep_names[] = {"keep", "none"};
