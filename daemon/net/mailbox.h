/* SPDX-License-Identifier: MIT */
/*
 * How threads hand things to a worker: a queue under a mutex, and an eventfd that wakes the
 * worker's event loop. Mail is delivered in the order it was posted.
 */
#pragma once

#include <pthread.h>

#include "chistore/types.h"

struct chi_worker;

struct chi_mail;

/* What the worker does with a letter that has come. */
typedef void chi_deliver(struct chi_mail *mail, struct chi_worker *worker);

/* Embedded in what is handed over; belongs to the mailbox until it is delivered. */
struct chi_mail {
	struct chi_mail *next;
	/* Runs on the worker's thread and owns the mail from then on. */
	chi_deliver *deliver;
};

struct chi_mailbox {
	pthread_mutex_t lock; /* the innermost lock: nothing else is taken under it */
	struct chi_mail *first;
	struct chi_mail **last;
	int fd; /* readable when there is mail */
};

/* Makes the eventfd. -CHI_EIO: no descriptor is left. */
CHI_MUSTUSE int chi_mailbox_init(struct chi_mailbox *box, struct chi_fault *fault);
void chi_mailbox_deinit(struct chi_mailbox *box);

/* Any thread; never fails. */
void chi_mailbox_post(struct chi_mailbox *box, struct chi_mail *mail);

/* Delivers what is there, on the worker's thread. */
void chi_mailbox_deliver(struct chi_mailbox *box, struct chi_worker *worker);
