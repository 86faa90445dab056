/* SPDX-License-Identifier: MIT */
/* Workers take calls in the order in which they came, but of no peer more than its share: one whose
 * answers take long leaves workers to the others. */
#include "base/clock.h"
#include "base/fault.h"
#include "http/net/server.h"

static int find_client(struct call *call, struct session *session)
{
	int status = call->own != NULL ? CHI_OK : session_ready(session, &call->fault);
	call->client = call->own != NULL ? call->own : session->client;
	return status;
}

/* The parts of a stream are of one copy, whatever the session goes over to between them. */
static void keep_client(struct call *call, struct session *session)
{
	if (call->result < 0 || !call->more) {
		chi_close(call->own);
		call->own = NULL;
	} else if (call->own == NULL && session->config->in_process) {
		call->own = session->client;
		session->client = NULL;
	}
}

void call_run(struct call *call, struct session *session)
{
	bool local = (call->route->flags & ROUTE_LOCAL) != 0;
	const char *why = NULL;
	call->session = session;
	call->more = false;
	int status = call_check_params(call, &why);
	if (!local && status == CHI_OK) {
		status = find_client(call, session);
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
	keep_client(call, session);
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

/* Gives up a copy that is served no more. With the pool locked, which it is not meanwhile. */
static void leave_copy(struct pool *pool, struct session *session)
{
	pthread_mutex_unlock(&pool->lock);
	chi_close(session->client);
	session->client = NULL;
	pthread_mutex_lock(&pool->lock);
}

/* NULL: the pool ends. */
static struct call *next_call(struct pool *pool, struct session *session)
{
	struct call *call = NULL;
	pthread_mutex_lock(&pool->lock);
	while ((call = take_call(pool)) == NULL && !pool->stopping) {
		if (session->client != NULL && !session_is_current(session)) {
			leave_copy(pool, session);
		} else {
			pthread_cond_wait(&pool->some, &pool->lock);
		}
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
	struct session session;
	struct call *call = NULL;
	session_init(&session, &pool->server->place);
	while ((call = next_call(pool, &session)) != NULL) {
		call->deadline_ms = chi_now_ms() + (int64_t)pool->server->config->query_ms;
		if (atomic_load(&call->cancelled)) {
			/* The log must not say of a write that it was done. */
			call->result = -CHI_ECANCELED;
			call->http = call_http_of(call->result);
		} else {
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

void pool_go_over(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pthread_cond_broadcast(&pool->some);
	pthread_mutex_unlock(&pool->lock);
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
