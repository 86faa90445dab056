/* SPDX-License-Identifier: MIT */
#include "http/net/unknown.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/thread.h"
#include "http/net/session.h"

#define WAITING_MOST 1024
#define PLACES	     4096 /* of those that came lately */

/* What other questions do not raise: those that someone asks to be analysed come first. */
#define PRIORITY 0

struct unknown {
	pthread_mutex_t lock; /* of all but the session */
	pthread_cond_t changed;
	struct chi_key waiting[WAITING_MOST];
	size_t n;
	uint64_t lately[PLACES]; /* hashes of keys; 0: empty */
	bool stopping;
	_Atomic uint64_t count;
	pthread_t thread;
	struct session session;
	struct chi_key batch[WAITING_MOST]; /* of the thread */
};

/* Those that wait, moved to the batch. A daemon that is away is asked for the same again later. */
static void add_batch(struct unknown *unknown, size_t n)
{
	struct session *session = &unknown->session;
	struct chi_client *writer = NULL;
	struct chi_queue_added added = {.added = 0};
	struct chi_fault fault;
	int status = session_writer(session, &writer, &fault);
	status = status == CHI_OK ? chi_queue_add(writer, unknown->batch, n, PRIORITY, &added)
				  : status;
	atomic_fetch_add(&unknown->count, added.added + added.raised);
	if (status < 0) {
		session_close(session);
		pthread_mutex_lock(&unknown->lock);
		memset(unknown->lately, 0, sizeof(unknown->lately));
		pthread_mutex_unlock(&unknown->lock);
	}
}

/* A second, or less if the thread is to end. With the lock. */
static void pause_with(struct unknown *unknown)
{
	int64_t until = chi_now_us() + 1000000;
	while (!unknown->stopping &&
	       chi_cond_wait_until(&unknown->changed, &unknown->lock, until)) {
	}
}

static void *work(void *context)
{
	struct unknown *unknown = context;
	pthread_mutex_lock(&unknown->lock);
	while (!unknown->stopping) {
		size_t n = unknown->n;
		if (n == 0) {
			pthread_cond_wait(&unknown->changed, &unknown->lock);
			continue;
		}
		memcpy(unknown->batch, unknown->waiting, n * sizeof(unknown->batch[0]));
		unknown->n = 0;
		pthread_mutex_unlock(&unknown->lock);
		add_batch(unknown, n);
		pthread_mutex_lock(&unknown->lock);
		pause_with(unknown);
	}
	pthread_mutex_unlock(&unknown->lock);
	return NULL;
}

int unknown_start(const struct http_config *config, struct unknown **out, struct chi_fault *fault)
{
	struct unknown *unknown = calloc(1, sizeof(*unknown));
	*out = NULL;
	if (unknown == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	unknown->session.config = config;
	pthread_mutex_init(&unknown->lock, NULL);
	chi_cond_init(&unknown->changed);
	if (pthread_create(&unknown->thread, NULL, work, unknown) != 0) {
		pthread_cond_destroy(&unknown->changed);
		pthread_mutex_destroy(&unknown->lock);
		free(unknown);
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a thread");
	}
	*out = unknown;
	return CHI_OK;
}

bool unknown_add(struct unknown *unknown, const struct chi_key *key)
{
	uint64_t hash = XXH3_64bits(key->bytes, key->len) | 1;
	if (unknown == NULL) {
		return false;
	}
	pthread_mutex_lock(&unknown->lock);
	uint64_t *place = &unknown->lately[(hash >> 1) % PLACES];
	bool added = *place != hash && unknown->n < WAITING_MOST;
	if (added) {
		*place = hash;
		unknown->waiting[unknown->n++] = *key;
		pthread_cond_signal(&unknown->changed);
	}
	pthread_mutex_unlock(&unknown->lock);
	return added;
}

uint64_t unknown_count(struct unknown *unknown)
{
	return unknown != NULL ? atomic_load(&unknown->count) : 0;
}

void unknown_stop(struct unknown *unknown)
{
	if (unknown == NULL) {
		return;
	}
	pthread_mutex_lock(&unknown->lock);
	unknown->stopping = true;
	pthread_cond_signal(&unknown->changed);
	pthread_mutex_unlock(&unknown->lock);
	pthread_join(unknown->thread, NULL);
	session_close(&unknown->session);
	pthread_cond_destroy(&unknown->changed);
	pthread_mutex_destroy(&unknown->lock);
	free(unknown);
}
