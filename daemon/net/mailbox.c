/* SPDX-License-Identifier: MIT */
/* The eventfd is written only when the queue was empty, so that a burst costs one wake-up. */
#include "daemon/net/mailbox.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fault.h"

int chi_mailbox_init(struct chi_mailbox *box, struct chi_fault *fault)
{
	*box = (struct chi_mailbox){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	box->last = &box->first;
	if (box->fd < 0) {
		return chi_fail(fault, -CHI_EIO, "cannot make an eventfd (%s)", strerror(errno));
	}
	pthread_mutex_init(&box->lock, NULL);
	return CHI_OK;
}

void chi_mailbox_deinit(struct chi_mailbox *box)
{
	if (box->last == NULL || box->fd < 0) {
		return;
	}
	close(box->fd);
	box->fd = -1;
	pthread_mutex_destroy(&box->lock);
}

void chi_mailbox_post(struct chi_mailbox *box, struct chi_mail *mail)
{
	mail->next = NULL;
	pthread_mutex_lock(&box->lock);
	bool was_empty = box->first == NULL;
	*box->last = mail;
	box->last = &mail->next;
	pthread_mutex_unlock(&box->lock);
	if (was_empty) {
		/* Fails only at 2^64 - 1 unread wake-ups. */
		uint64_t one = 1;
		ssize_t written = write(box->fd, &one, sizeof(one));
		(void)written;
	}
}

void chi_mailbox_deliver(struct chi_mailbox *box, struct chi_worker *worker)
{
	/* The wake-up is taken before the mail: what is posted in between wakes us again. */
	uint64_t wakeups = 0;
	ssize_t got = read(box->fd, &wakeups, sizeof(wakeups));
	(void)got;
	pthread_mutex_lock(&box->lock);
	struct chi_mail *mail = box->first;
	box->first = NULL;
	box->last = &box->first;
	pthread_mutex_unlock(&box->lock);
	while (mail != NULL) {
		struct chi_mail *next = mail->next;
		mail->deliver(mail, worker);
		mail = next;
	}
}
