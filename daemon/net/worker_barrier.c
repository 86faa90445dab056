/* SPDX-License-Identifier: MIT */
/*
 * The workers' standstill. Each gets a mail; delivering it runs the action, counts the worker as
 * arrived, and waits if the gate is closed. Mail is delivered between two callbacks, so that the
 * action finds the worker in order: no request half served, no snapshot of the turn open.
 */
#include "daemon/net/worker_barrier.h"

#include <stdlib.h>

#include "daemon/net/server.h"
#include "daemon/net/net.h"

struct chi_worker_barrier_mail {
	struct chi_mail mail;
	struct chi_worker_barrier *barrier;
	void (*action)(struct chi_worker *worker);
};

/* On the worker's thread. The gate lives until `gone` counts this worker too. */
static void pass(struct chi_mail *mail, struct chi_worker *worker)
{
	struct chi_worker_barrier_mail *own = (struct chi_worker_barrier_mail *)mail;
	struct chi_worker_barrier *barrier = own->barrier;
	own->action(worker);
	pthread_mutex_lock(&barrier->lock);
	barrier->arrived++;
	pthread_cond_broadcast(&barrier->changed);
	while (!barrier->open) {
		pthread_cond_wait(&barrier->changed, &barrier->lock);
	}
	barrier->gone++;
	pthread_cond_broadcast(&barrier->changed);
	pthread_mutex_unlock(&barrier->lock);
}

int chi_worker_barrier_close(struct chi_worker_barrier *barrier, struct chi_server *server,
			     void (*action)(struct chi_worker *worker), bool hold)
{
	*barrier = (struct chi_worker_barrier){.expected = server->n_workers, .open = !hold};
	barrier->mails = calloc(server->n_workers, sizeof(*barrier->mails));
	if (barrier->mails == NULL) {
		return -CHI_ENOMEM;
	}
	pthread_mutex_init(&barrier->lock, NULL);
	pthread_cond_init(&barrier->changed, NULL);
	for (size_t i = 0; i < server->n_workers; i++) {
		barrier->mails[i] =
			(struct chi_worker_barrier_mail){{.deliver = pass}, barrier, action};
		chi_mailbox_post(&server->workers[i]->mailbox, &barrier->mails[i].mail);
	}
	pthread_mutex_lock(&barrier->lock);
	while (barrier->arrived < barrier->expected) {
		pthread_cond_wait(&barrier->changed, &barrier->lock);
	}
	pthread_mutex_unlock(&barrier->lock);
	return CHI_OK;
}

void chi_worker_barrier_open(struct chi_worker_barrier *barrier)
{
	pthread_mutex_lock(&barrier->lock);
	barrier->open = true;
	pthread_cond_broadcast(&barrier->changed);
	while (barrier->gone < barrier->expected) {
		pthread_cond_wait(&barrier->changed, &barrier->lock);
	}
	pthread_mutex_unlock(&barrier->lock);
	pthread_cond_destroy(&barrier->changed);
	pthread_mutex_destroy(&barrier->lock);
	free(barrier->mails);
}
