/* SPDX-License-Identifier: MIT */
/* Workers and the calls that wait for them. */
#undef NDEBUG
#include <stdio.h>
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

static int run_part(struct call *call)
{
	call->more = true;
	return CHI_OK;
}

static int run_last_part(struct call *call)
{
	(void)call;
	return CHI_OK;
}

static uint64_t sequence_of(struct chi_client *client)
{
	struct chi_info info;
	assert_int_equal(chi_store_info(client, &info), CHI_OK);
	return info.sequence;
}

/* A copy with so many games' counts in it. */
static void publish(const char *store, const char *copy, uint64_t count)
{
	const struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	static const char fen[] = "7k/8/8/8/8/8/P7/K7 w - - 0 1";
	struct chi_put_entry put = {.parts = CHI_PUT_COUNTS, .record.counts.white = count};
	struct chi_client *client = NULL;
	assert_int_equal(chi_key_from_fen(fen, strlen(fen), &put.key, NULL), CHI_OK);
	assert_int_equal(chi_open(store, &options, &client, NULL), CHI_OK);
	assert_int_equal(chi_put(client, &put, 1, CHI_SYNC, NULL), CHI_OK);
	assert_int_equal(chi_store_backup(client, copy, CHI_BACKUP_PUBLISHED), CHI_OK);
	chi_close(client);
}

/* The parts of a stream are of one copy; the next call goes over to the new one. */
CASE(test_a_stream_does_not_change_over)
{
	static const struct route parts = {.path = "/", .run = run_part};
	static const struct route end = {.path = "/", .run = run_last_part};
	char dir[] = "/tmp/chi-pool-XXXXXX";
	char store[64];
	char copy[64];
	char command[96];
	struct http_place place = {.config = NULL};
	struct session session;
	struct chi_fault fault;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(store, sizeof(store), "%s/store", dir);
	(void)snprintf(copy, sizeof(copy), "%s/copy", dir);
	const struct http_config config = {.address = copy, .in_process = true, .query_ms = 1000};
	assert_int_equal(chi_store_create(store, CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault),
			 CHI_OK);
	publish(store, copy, 1);
	assert_int_equal(place_open(&place, &config, &fault), CHI_OK);
	assert_int_equal(place_look(&place, &fault), CHI_NONE);
	session_init(&session, &place);
	struct call stream = {.route = &parts, .http = 200};
	struct call next = {.route = &end, .http = 200};
	call_run(&stream, &session);
	assert_int_equal(stream.result, CHI_OK);
	uint64_t first = sequence_of(stream.client);
	publish(store, copy, 2);
	assert_int_equal(place_look(&place, &fault), CHI_OK);
	stream.streaming = true;
	call_run(&stream, &session);
	assert_int_equal(stream.result, CHI_OK);
	assert_true(sequence_of(stream.client) == first);
	call_run(&next, &session);
	assert_int_equal(next.result, CHI_OK);
	assert_true(sequence_of(next.client) > first);
	/* With its last part the old copy is left. */
	stream.route = &end;
	call_run(&stream, &session);
	assert_int_equal(stream.result, CHI_OK);
	assert_null(stream.own);
	assert_true(session_is_current(&session));
	assert_int_equal(atomic_load(&place.moves.count), 1);
	session_close(&session);
	place_close(&place);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0); /* NOLINT */
}

/* A store that is not published stays open as it is where only its file was replaced. */
CASE(test_the_open_files_are_no_newer_copy)
{
	char path[] = "/tmp/chi-pool-XXXXXX";
	char old[64];
	char new[64];
	char command[160];
	struct http_place place = {.config = NULL};
	struct chi_fault fault;
	assert_non_null(mkdtemp(path));
	(void)snprintf(old, sizeof(old), "%s/data.mdb", path);
	(void)snprintf(new, sizeof(new), "%s/new.mdb", path);
	(void)snprintf(command, sizeof(command), "cp %s %s", old, new);
	const struct http_config config = {.address = path, .in_process = true, .query_ms = 1000};
	assert_int_equal(chi_store_create(path, CHI_STATISTIC_CONTROL, CHI_KEEP_GAMES, &fault),
			 CHI_OK);
	assert_int_equal(place_open(&place, &config, &fault), CHI_OK);
	struct chi_client *head = place.head;
	assert_int_equal(system(command), 0); /* NOLINT */
	assert_int_equal(rename(new, old), 0);
	assert_int_equal(place_look(&place, &fault), -CHI_ESTALE);
	assert_int_equal(place_look(&place, &fault), -CHI_ESTALE);
	assert_int_equal(atomic_load(&place.moves.count), 0);
	assert_ptr_equal(place.head, head);
	assert_non_null(strstr(fault.text, "no published copy"));
	place_close(&place);
	(void)snprintf(command, sizeof(command), "rm -r %s", path);
	assert_int_equal(system(command), 0); /* NOLINT */
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
