/* SPDX-License-Identifier: MIT */
/*
 * The workers' standstill. Each gets a mail; delivering it runs the action, counts the worker as
 * arrived, and waits if the gate is closed. Mail is delivered between two callbacks, so that the
 * action finds the worker in order: no request half served, no snapshot of the turn open.
 */
#include "daemon/gate.h"

#include <stdlib.h>

#include "daemon/server.h"
#include "daemon/worker.h"

struct chi_gate_mail {
	struct chi_mail mail;
	struct chi_gate *gate;
	void (*action)(struct chi_worker *worker);
};

/* On the worker's thread. The gate lives until `gone` counts this worker too. */
static void pass(struct chi_mail *mail, struct chi_worker *worker)
{
	struct chi_gate_mail *own = (struct chi_gate_mail *)mail;
	struct chi_gate *gate = own->gate;
	own->action(worker);
	pthread_mutex_lock(&gate->lock);
	gate->arrived++;
	pthread_cond_broadcast(&gate->changed);
	while (!gate->open) {
		pthread_cond_wait(&gate->changed, &gate->lock);
	}
	gate->gone++;
	pthread_cond_broadcast(&gate->changed);
	pthread_mutex_unlock(&gate->lock);
}

int chi_gate_close(struct chi_gate *gate, struct chi_server *server,
		   void (*action)(struct chi_worker *worker), bool hold)
{
	*gate = (struct chi_gate){.expected = server->n_workers, .open = !hold};
	gate->mails = calloc(server->n_workers, sizeof(*gate->mails));
	if (gate->mails == NULL) {
		return -CHI_ENOMEM;
	}
	pthread_mutex_init(&gate->lock, NULL);
	pthread_cond_init(&gate->changed, NULL);
	for (size_t i = 0; i < server->n_workers; i++) {
		gate->mails[i] = (struct chi_gate_mail){{.deliver = pass}, gate, action};
		chi_mailbox_post(&server->workers[i]->mailbox, &gate->mails[i].mail);
	}
	pthread_mutex_lock(&gate->lock);
	while (gate->arrived < gate->expected) {
		pthread_cond_wait(&gate->changed, &gate->lock);
	}
	pthread_mutex_unlock(&gate->lock);
	return CHI_OK;
}

void chi_gate_open(struct chi_gate *gate)
{
	pthread_mutex_lock(&gate->lock);
	gate->open = true;
	pthread_cond_broadcast(&gate->changed);
	while (gate->gone < gate->expected) {
		pthread_cond_wait(&gate->changed, &gate->lock);
	}
	pthread_mutex_unlock(&gate->lock);
	pthread_cond_destroy(&gate->changed);
	pthread_mutex_destroy(&gate->lock);
	free(gate->mails);
}
