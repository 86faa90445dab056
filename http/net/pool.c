/* SPDX-License-Identifier: MIT */
/* Workers take calls in the order in which they came, but of no peer more than its share: one whose
 * answers take long leaves workers to the others. */
#include "base/clock.h"
#include "base/fault.h"
#include "http/net/server.h"

void call_run(struct call *call, struct session *session)
{
	bool local = (call->route->flags & ROUTE_LOCAL) != 0;
	const char *why = NULL;
	call->session = session;
	call->more = false;
	int status = call_check_params(call, &why);
	if (!local && status == CHI_OK) {
		status = session_ready(session, &call->fault);
		call->client = session->client;
	}
	if (status == CHI_OK) {
		status = (call->route->flags & ROUTE_LONG) != 0 ? call_watched(call)
								: call->route->run(call);
	}
	if (status == CHI_OK && call->out.failed) {
		status = chi_fail(&call->fault, -CHI_ETOOBIG,
				  "the answer is too large: ask for less");
	}
	call->result = status < 0 ? status : CHI_OK;
	if (status >= 0 || call->streaming) {
		return;
	}
	out_reset(&call->out);
	call->file = NULL;
	call->http = call->http != 200 ? call->http : call_http_of(status);
	if (why == NULL) {
		why = call->fault.text[0] != '\0' ? call->fault.text : chi_strerror(status);
	}
	if (call->route->complain != NULL) {
		call->route->complain(call, why);
	} else {
		call_complain_json(call, why);
	}
}

/* The oldest that may run now; NULL: none. At the end all are taken, to be given back. */
static struct call *take_call(struct pool *pool)
{
	struct call **link = &pool->first;
	while (*link != NULL && !pool->stopping &&
	       !chi_shares_may(&pool->running, (*link)->share, 1)) {
		link = &(*link)->next;
	}
	struct call *call = *link;
	if (call != NULL) {
		*link = call->next;
		pool->last = *link == NULL ? link : pool->last;
		chi_shares_give(&pool->waiting, call->share, 1);
		chi_shares_take(&pool->running, call->share, 1);
	}
	return call;
}

/* NULL: the pool ends. */
static struct call *next_call(struct pool *pool)
{
	struct call *call = NULL;
	pthread_mutex_lock(&pool->lock);
	while ((call = take_call(pool)) == NULL && !pool->stopping) {
		pthread_cond_wait(&pool->some, &pool->lock);
	}
	/* Of what one that has ended makes room for, there may be more. */
	if (pool->first != NULL) {
		pthread_cond_signal(&pool->some);
	}
	pthread_mutex_unlock(&pool->lock);
	return call;
}

static void end_pool_call(struct pool *pool, struct call *call)
{
	pthread_mutex_lock(&pool->lock);
	chi_shares_give(&pool->running, call->share, 1);
	pthread_mutex_unlock(&pool->lock);
	loop_post(call);
}

static void *work(void *context)
{
	struct pool *pool = context;
	struct session session = {.config = pool->server->config};
	struct call *call = NULL;
	while ((call = next_call(pool)) != NULL) {
		call->deadline_ms = chi_now_ms() + (int64_t)pool->server->config->query_ms;
		if (atomic_load(&call->cancelled)) {
			/* The log must not say of a write that it was done. */
			call->result = -CHI_ECANCELED;
			call->http = call_http_of(call->result);
		} else {
			if (call->state_seen != 0) {
				/* Kept as one of the store that the loop has seen, it must not be
				 * of one that was replaced before. */
				session_doubt(&session);
			}
			call_run(call, &session);
		}
		end_pool_call(pool, call);
	}
	session_close(&session);
	return NULL;
}

int pool_start(struct pool *pool, struct http_server *server, struct chi_fault *fault)
{
	pool->server = server;
	pool->last = &pool->first;
	pool->waiting.most = server->config->waiting;
	pool->running.most = server->config->workers;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->some, NULL);
	for (size_t i = 0; i < server->config->workers; i++) {
		if (pthread_create(&pool->threads[i], NULL, work, pool) != 0) {
			return chi_fail(fault, -CHI_ENOMEM, "cannot start a thread");
		}
		pool->n++;
	}
	return CHI_OK;
}

int pool_submit(struct pool *pool, struct call *call)
{
	int status = CHI_OK;
	pthread_mutex_lock(&pool->lock);
	if (!chi_shares_may(&pool->waiting, call->share, 1) || pool->stopping) {
		status = -CHI_EBUSY;
	} else {
		call->next = NULL;
		*pool->last = call;
		pool->last = &call->next;
		chi_shares_take(&pool->waiting, call->share, 1);
		pthread_cond_signal(&pool->some);
	}
	pthread_mutex_unlock(&pool->lock);
	return status;
}

void pool_stop(struct pool *pool)
{
	if (pool->server == NULL) {
		return;
	}
	pthread_mutex_lock(&pool->lock);
	pool->stopping = true;
	for (struct call *call = pool->first; call != NULL; call = call->next) {
		atomic_store(&call->cancelled, true);
	}
	pthread_cond_broadcast(&pool->some);
	pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < pool->n; i++) {
		pthread_join(pool->threads[i], NULL);
	}
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->some);
}
