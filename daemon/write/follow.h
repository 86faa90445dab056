/* SPDX-License-Identifier: MIT */
/*
 * A server that only reads moves to the newest copy at its store's path, from a published one to
 * another (chi_dir_follow). Copies are published again by name, links are exchanged: the files that
 * are open stay what they were, and without this the server would answer from them for ever.
 *
 * The new copy is opened beside the old one. Then all workers stand still for a moment while it
 * takes its place, so that no client is answered from the old one after another, or the same on
 * another connection, was answered from the new one. What had begun by then ends on the old one.
 */
#pragma once

#include "base/attr.h"
#include "base/fault.h"

struct chi_served;
struct chi_served_copy;

/* Starts the thread that follows (service/moves.h), of a server that only reads. -CHI_ENOMEM. Main
 * thread. */
CHI_MUSTUSE int chi_follow_start(struct chi_served *served, struct chi_fault *fault);

/* The copy that is served, not to be closed before chi_served_copy_leave. Any thread that is not a
 * worker, with no lock held. Waits while it changes, which takes as long as a worker's request; or
 * with `waits` false, as the main thread must, returns NULL then. */
struct chi_served_copy *chi_follow_keep(struct chi_served *served, bool waits);

/* Ends the thread and closes all copies, when nothing else runs any more. What a look that hangs
 * uses stays open. Main thread. */
void chi_follow_end(struct chi_served *served);
