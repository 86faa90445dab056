/* SPDX-License-Identifier: MIT */
/*
 * The workers' standstill. Each gets a mail; delivering it runs the action, counts the worker as
 * arrived, and waits if the barrier is closed. Mail is delivered between two callbacks, so that the
 * action finds the worker in order: no request half served, no snapshot of the turn open.
 */
#include "daemon/net/worker_barrier.h"

#include "daemon/net/server.h"
#include "daemon/net/net.h"

/* On the worker's thread. The barrier lives until `gone` counts this worker too. */
static void pass(struct chi_mail *mail, struct chi_worker *worker)
{
	struct chi_worker_barrier *barrier = worker->barrier;
	(void)mail;
	barrier->action(worker);
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

void chi_worker_barrier_close(struct chi_worker_barrier *barrier, struct chi_server *server,
			      void (*action)(struct chi_worker *worker), bool hold)
{
	*barrier = (struct chi_worker_barrier){
		.action = action, .expected = server->n_workers, .open = !hold};
	pthread_mutex_init(&barrier->lock, NULL);
	pthread_cond_init(&barrier->changed, NULL);
	for (size_t i = 0; i < server->n_workers; i++) {
		struct chi_worker *worker = server->workers[i];
		worker->barrier = barrier;
		worker->barrier_mail.deliver = pass;
		chi_mailbox_post(&worker->mailbox, &worker->barrier_mail);
	}
	pthread_mutex_lock(&barrier->lock);
	while (barrier->arrived < barrier->expected) {
		pthread_cond_wait(&barrier->changed, &barrier->lock);
	}
	pthread_mutex_unlock(&barrier->lock);
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
}
