/* SPDX-License-Identifier: MIT */
/*
 * The process whose children verify stores. It is forked from the server before that has opened a
 * store, read a key, or started a thread: so its children have nothing of these, and the server
 * never has to start a program, nor has the right to. It ends with the server, however that ends.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "chistore/types.h"
#include "daemon/config.h"

struct chi_verifier {
	int fd; /* -1: none */
	pid_t pid;
};

/* Forks. In the new process it does not return. -CHI_EBUSY. */
CHI_MUSTUSE int chi_verifier_start(const struct chi_config *config, struct chi_verifier *out,
				   struct chi_fault *fault);

/*
 * Begins to verify the store of that number; any thread. `output` is the child's standard output,
 * see verify.h. Through `control`, one end of a pair of sockets, comes what waitpid(2) says of the
 * child at its end (an int), or nothing if the verifier has gone; shutting down the other end for
 * writing kills the child. Both descriptors stay the caller's. -CHI_EBUSY.
 */
CHI_MUSTUSE int chi_verifier_begin(const struct chi_verifier *verifier, size_t store, int output,
				   int control, struct chi_fault *fault);

/* Ends it, and what is under way. Harmless if it was not started. */
void chi_verifier_stop(struct chi_verifier *verifier);
