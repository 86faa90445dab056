/* SPDX-License-Identifier: MIT */
/*
 * A verification that a writer has made before it compacts its store: in a child, since a damaged
 * page may kill who reads it, and beside the writer, which goes on writing meanwhile. A thread
 * waits for the child.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "chistore/types.h"

struct chi_served;

struct chi_inspection {
	bool running; /* between begin and end */
	struct chi_served *served;
	void (*ended)(void *context);
	void *context;
	pthread_t thread;
	int output;  /* the child's; the thread closes it */
	int control; /* see chi_verifier_begin */
	int status;  /* the thread's verdict, as its fault */
	struct chi_fault fault;
};

/*
 * Starts one, of a struct that is zeroed or was ended. `ended` is called by another thread when the
 * verdict is there. It takes one of the server's places for verifications. -CHI_EBUSY, -CHI_ENOMEM:
 * nothing is running.
 */
CHI_MUSTUSE int chi_inspection_begin(struct chi_inspection *inspection, struct chi_served *served,
				     void (*ended)(void *context), void *context,
				     struct chi_fault *fault);

/* Waits for the verdict and returns it: CHI_OK, the store is sound; -CHI_ECORRUPT, which says what
 * to do; -CHI_EINTERNAL, the child could not do it. */
CHI_MUSTUSE int chi_inspection_end(struct chi_inspection *inspection, struct chi_fault *fault);

/* Kills the child and waits for its end. Harmless if none is running. */
void chi_inspection_cancel(struct chi_inspection *inspection);
