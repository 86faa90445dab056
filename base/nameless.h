/* SPDX-License-Identifier: MIT */
/* Files without a name: what is written to them is gone with the process, however it ends. */
#pragma once

/* A file in directory `dir`, open for reading and writing, closed on exec; the caller's to close.
 * -1, and errno tells why. */
int chi_nameless_open(const char *dir);
