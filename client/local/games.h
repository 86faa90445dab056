/* SPDX-License-Identifier: MIT */
/* The part of the backend of directories that asks for games. */
#pragma once

#include "client/core/client.h"

/* The texts of games of this snapshot, until chi_game_texts_end; one for all calls of the client.
 */
int chi_inproc_texts(struct chi_client *client, struct chi_read *read, struct chi_game_texts **out);
