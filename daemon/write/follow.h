/* SPDX-License-Identifier: MIT */
/*
 * A server that only reads moves to the newest copy at its store's path. Copies are published again
 * by name, snapshots are mounted in the place of others, links are exchanged: the files that are
 * open stay what they were, and without this the server would answer from them for ever.
 *
 * The new copy is opened beside the old one. Then all workers stand still for a moment while it
 * takes its place, so that no client is answered from the old one after another, or the same on
 * another connection, was answered from the new one. What had begun by then ends on the old one.
 */
#pragma once

#include <stdbool.h>

struct chi_served;

/* Looks where the path leads to and moves there; a copy that cannot be opened is told of in the log
 * once, or `again`. Closes copies that no one uses any more. Does nothing for a server that may
 * write. The thread of the store's disk. */
void chi_follow_look(struct chi_served *served, bool again);

/* Closes all copies, when nothing runs any more. */
void chi_follow_end(struct chi_served *served);
