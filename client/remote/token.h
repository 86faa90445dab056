/* SPDX-License-Identifier: MIT */
/* The access token that a server wants to see, out of a file. */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"
#include "proto/msg.h"

/*
 * Reads a file of one line, 1 to CHI_ACCESS_TOKEN_MAX printable ASCII characters without blanks.
 * One that everyone may read is refused: -CHI_EACCES. -CHI_EIO, -CHI_ESYNTAX. The token is never
 * part of a message; its user wipes it (explicit_bzero).
 */
CHI_MUSTUSE int chi_token_read(const char *path, char out[CHI_ACCESS_TOKEN_MAX + 1],
			       struct chi_fault *fault);

/* True if what goes over the connected socket stays on this machine. */
bool chi_token_is_safe(int fd);
