/* SPDX-License-Identifier: MIT */
/* Workers and the calls that wait for them. */
#undef NDEBUG
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <semaphore.h>

#include "http/net/server.h"
#include "tests/base/cases.h"

#define CALLS 3

/* No one turns it. */
static const struct chi_loop_ops none = {.leave = NULL};

static sem_t begun;
static sem_t goes_on;
static size_t n_run;

static int run(struct call *call)
{
	(void)call;
	n_run++;
	sem_post(&begun);
	sem_wait(&goes_on);
	return CHI_OK;
}

static void *stop(void *context)
{
	pool_stop(context);
	return NULL;
}

static bool is_stopping(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	bool stopping = pool->stopping;
	pthread_mutex_unlock(&pool->lock);
	return stopping;
}

/* They were said to be given back as canceled, and ran. */
CASE(test_calls_that_wait_do_not_run_at_a_stop)
{
	const struct http_config config = {.workers = 1, .waiting = CALLS, .query_ms = 1000};
	const struct route route = {.path = "/", .flags = ROUTE_LOCAL, .run = run};
	struct http_server *server = test_calloc(1, sizeof(*server));
	struct call *calls = test_calloc(CALLS, sizeof(*calls));
	struct loop *loop = test_calloc(1, sizeof(*loop));
	struct chi_fault fault;
	pthread_t stopper;
	sem_init(&begun, 0, 0);
	sem_init(&goes_on, 0, 0);
	server->config = &config;
	assert_int_equal(chi_loop_init(&loop->turns, &none, loop, 1000, &fault), CHI_OK);
	assert_int_equal(pool_start(&server->pool, server, &fault), CHI_OK);
	for (size_t i = 0; i < CALLS; i++) {
		calls[i].loop = loop;
		calls[i].route = &route;
		calls[i].share = (uint32_t)i;
		calls[i].http = 200;
		assert_int_equal(pool_submit(&server->pool, &calls[i]), CHI_OK);
	}
	sem_wait(&begun);
	assert_int_equal(pthread_create(&stopper, NULL, stop, &server->pool), 0);
	while (!is_stopping(&server->pool)) {
		usleep(1000);
	}
	for (size_t i = 0; i < CALLS; i++) {
		sem_post(&goes_on);
	}
	pthread_join(stopper, NULL);
	assert_int_equal(n_run, 1);
	for (size_t i = 0; i < CALLS; i++) {
		assert_int_equal(calls[i].result, i == 0 ? CHI_OK : -CHI_ECANCELED);
		/* The log said of writes that never ran that they were answered with 200. */
		assert_int_equal(calls[i].http, i == 0 ? 200 : 503);
	}
	chi_loop_deinit(&loop->turns);
	test_free(loop);
	test_free(calls);
	test_free(server);
}
