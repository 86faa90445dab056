/* SPDX-License-Identifier: MIT */
/* Tells systemd, if it started us and the build knows how. */
#pragma once

/* "READY=1", "STOPPING=1". */
void chi_notify(const char *state);
