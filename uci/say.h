/* SPDX-License-Identifier: MIT */
#pragma once

/* A line "info string ..." for the GUI; from any thread. */
void chi_session_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
