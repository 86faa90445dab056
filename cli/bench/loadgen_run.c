/* SPDX-License-Identifier: MIT */
/*
 * What a client's thread does: it sends when a request is due, or as soon as it may, takes the
 * answers, and waits a little longer after each failure, so that a server that is gone is not
 * asked a million times a second.
 */
#include <time.h>

#include "base/fault.h"
#include "cli/bench/loadgen_priv.h"
#include "cli/bench/pipeline.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

/* The pauses after failures in a row: from one to the other, doubling. */
#define PAUSE_FIRST NS_PER_MS
#define PAUSE_MAX   (100 * NS_PER_MS)

/* A server that does not come back within this time ends the client. */
#define LOST_MAX (10 * NS_PER_S)

/* Requests that were due in time may be sent so much later; those that remain are counted. */
#define LATE_MAX NS_PER_S

/* A thread that sleeps looks so often whether it is to stop. */
#define LOOK_PERIOD (20 * NS_PER_MS)

static bool is_stopped(const struct loadgen_client *client)
{
	return atomic_load_explicit(&client->load->stop, memory_order_relaxed);
}

static void sleep_until(struct loadgen_client *client, uint64_t until)
{
	while (client->now < until && !is_stopped(client)) {
		uint64_t next =
			client->now + LOOK_PERIOD < until ? client->now + LOOK_PERIOD : until;
		struct timespec at = {.tv_sec = (time_t)(next / NS_PER_S),
				      .tv_nsec = (long)(next % NS_PER_S)};
		(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		client->now = cli_clock();
	}
}

/* The time of the answer is client->now. */
static void count_answer(struct loadgen_client *client, const struct loadgen_request *request)
{
	struct loadgen_count *count = client->counts[request->kind];
	client->failing_since = 0;
	client->pause = PAUSE_FIRST;
	counter_set(&client->lost, 0);
	counter_set(&client->ended, client->now);
	counter_add(&client->done, 1);
	if (request->counted) {
		histogram_add(&count->latency, client->now - request->since);
		counter_add(&count->positions, request->positions);
	}
}

static void count_failures(struct load *load, enum mix_kind kind, int status, uint64_t n,
			   const char *text)
{
	struct loadgen_failures *failures = &load->failures[kind];
	int code = status < 0 ? -status : status;
	(void)pthread_mutex_lock(&load->mutex);
	if (failures->counts[code] == 0) {
		(void)chi_fail(&failures->first[code], 0, "%s", text);
	}
	failures->counts[code] += n;
	(void)pthread_mutex_unlock(&load->mutex);
}

static void count_failure(struct loadgen_client *client, const struct loadgen_request *request,
			  int status)
{
	const char *text = chi_error(client->client);
	counter_add(&client->done, 1);
	counter_set(&client->ended, client->now);
	if (request->counted) {
		count_failures(client->load, request->kind, status, 1,
			       text[0] != '\0' ? text : chi_strerror(status));
	}
}

/* Only a connection that is lost can come back; a refusal is an answer. */
static bool is_lost(int status)
{
	return status == -CHI_ECONNECT || status == -CHI_ETIMEOUT || status == -CHI_EPROTO;
}

static void pause_after(struct loadgen_client *client, int status)
{
	if (is_lost(status)) {
		counter_set(&client->lost, 1);
		client->failing_since =
			client->failing_since != 0 ? client->failing_since : client->now;
	}
	uint64_t pause = client->pause;
	client->pause = pause * 2 < PAUSE_MAX ? pause * 2 : PAUSE_MAX;
	sleep_until(client, client->now + pause);
}

static void count_outcome(struct loadgen_client *client, const struct loadgen_request *request,
			  int status)
{
	if (status == CHI_OK) {
		count_answer(client, request);
	} else {
		count_failure(client, request, status);
		pause_after(client, status);
	}
}

/* Takes the next answer of the pipeline, which is not empty. */
static void take_answer(struct loadgen_client *client)
{
	struct pipeline_answer answer;
	int status = pipeline_next(client->client, &answer);
	size_t i = 0;
	client->now = cli_clock();
	while (i < client->queued && client->queue[i].id != answer.id) {
		i++;
	}
	if (status != CHI_OK || i == client->queued) {
		status = status != CHI_OK ? status : -CHI_EPROTO;
		/* All that were on their way over a connection are lost with it. */
		while (client->queued > 0) {
			count_failure(client, &client->queue[--client->queued], status);
		}
		pause_after(client, status);
		return;
	}
	struct loadgen_request request = client->queue[i];
	client->queue[i] = client->queue[--client->queued];
	count_outcome(client, &request, answer.status);
}

static void send_queued(struct loadgen_client *client, struct loadgen_request *request)
{
	size_t n = (size_t)request->positions;
	bool first = client->queued == 0;
	int status = request->kind == MIX_PUT
			     ? pipeline_put(client->client, first, client->puts, n,
					    client->load->plan.durability, &request->id)
			     : pipeline_probe(client->client, first, client->keys, n, &request->id);
	client->now = cli_clock();
	if (status == CHI_OK) {
		client->queue[client->queued++] = *request;
		return;
	}
	count_failure(client, request, status);
	/* Those before it are answered, or lost with the connection. */
	while (is_lost(status) && client->queued > 0) {
		take_answer(client);
	}
	pause_after(client, status);
}

/* `due`: when it was to be sent; 0: now. */
static void send_request(struct loadgen_client *client, uint64_t due)
{
	const struct load *load = client->load;
	struct loadgen_request request = {.kind = mix_draw(&load->plan.mix, &client->rng)};
	/* Walks and whole records do not travel in pipelines: they wait until theirs is empty. */
	bool queued =
		load->plan.pipeline > 1 && pipeline_room(client->client) > 0 &&
		(request.kind == MIX_PROBE || request.kind == MIX_BATCH || request.kind == MIX_PUT);
	while (!queued && client->queued > 0) {
		take_answer(client);
	}
	request.positions = loadgen_prepare(client, request.kind);
	request.since = due != 0 ? due : cli_clock();
	request.counted = request.since >= load->start;
	client->quota -= request.counted && client->quota != UINT64_MAX;
	if (queued) {
		send_queued(client, &request);
		return;
	}
	int status =
		loadgen_ask(client, request.kind, (size_t)request.positions, &request.positions);
	client->now = cli_clock();
	count_outcome(client, &request, status);
}

/* All clients together send at the rate, in turn: the first request of the warm-up has number 0. */
static uint64_t next_number(const struct loadgen_client *client)
{
	return client->due * client->load->plan.clients + client->number;
}

static uint64_t schedule_start(const struct load *load)
{
	return load->start - load->plan.warmup * NS_PER_S;
}

/* When the client's next request is due. */
static uint64_t next_due(const struct loadgen_client *client)
{
	uint64_t rate = client->load->plan.rate;
	uint64_t number = next_number(client);
	return schedule_start(client->load) + number / rate * NS_PER_S +
	       number % rate * NS_PER_S / rate;
}

static bool has_given_up(const struct loadgen_client *client)
{
	return client->failing_since != 0 && client->now - client->failing_since > LOST_MAX;
}

/* The pipeline has room for one more. */
static bool may_queue(const struct loadgen_client *client)
{
	return client->queued < counter_get(&client->window);
}

/* As fast as answers come. */
static void run_closed(struct loadgen_client *client)
{
	uint64_t end = client->load->end;
	while (client->now < end && client->quota > 0 && !is_stopped(client) &&
	       !has_given_up(client)) {
		if (may_queue(client)) {
			send_request(client, 0);
		} else {
			take_answer(client);
		}
	}
}

/* How many of the client's requests are due before `end` and were not sent. */
static uint64_t unsent_until(const struct loadgen_client *client, uint64_t end)
{
	const struct loadgen_plan *plan = &client->load->plan;
	uint64_t span = end - schedule_start(client->load);
	uint64_t all = span / NS_PER_S * plan->rate +
		       (span % NS_PER_S * plan->rate + NS_PER_S - 1) / NS_PER_S;
	uint64_t next = next_number(client);
	return next < all ? (all - next + plan->clients - 1) / plan->clients : 0;
}

/* What the warm-up could not send is not sent in the time that is measured. */
static void skip_warmup(struct loadgen_client *client)
{
	const struct loadgen_plan *plan = &client->load->plan;
	uint64_t first = plan->warmup * plan->rate;
	if (client->now >= client->load->start && next_number(client) < first) {
		client->due += (first - next_number(client) + plan->clients - 1) / plan->clients;
	}
}

/* Shared out among the kinds as if they had been drawn. */
static void count_unsent(struct loadgen_client *client, uint64_t end)
{
	const struct mix *mix = &client->load->plan.mix;
	uint64_t n = unsent_until(client, end);
	uint64_t left = mix->sum;
	for (unsigned kind = 0; n > 0 && kind < MIX_KINDS; kind++) {
		uint64_t weight = mix->weights[kind];
		uint64_t share = weight > 0 ? n * weight / left : 0;
		left -= weight;
		n -= share;
		if (share > 0) {
			count_failures(client->load, kind, TRAFFIC_UNSENT, share,
				       "due, but not sent before the time was over");
		}
	}
}

/* At a rate. Between the requests the answers are taken, each as it comes. */
static void run_open(struct loadgen_client *client)
{
	uint64_t end = client->load->end;
	uint64_t late = end < UINT64_MAX - LATE_MAX ? end + LATE_MAX : UINT64_MAX;
	while (next_due(client) < end && client->now < late && client->quota > 0 &&
	       !is_stopped(client) && !has_given_up(client)) {
		skip_warmup(client);
		uint64_t due = next_due(client);
		if (due > client->now && client->queued == 0) {
			sleep_until(client, due);
		} else if (due > client->now || !may_queue(client)) {
			take_answer(client);
		} else {
			client->due++;
			send_request(client, due);
		}
	}
	if (client->quota > 0 && client->now > client->load->start) {
		skip_warmup(client);
		count_unsent(client, end < client->now ? end : client->now);
	}
}

/* What a store in this process has not committed yet belongs to the thread that put it. */
static void flush_puts(struct loadgen_client *client)
{
	const struct loadgen_plan *plan = &client->load->plan;
	bool puts = plan->mix.weights[MIX_PUT] > 0 && plan->durability == CHI_ASYNC;
	int status = puts ? chi_flush(client->client) : CHI_OK;
	if (status != CHI_OK) {
		count_failures(client->load, MIX_PUT, status, 1, chi_error(client->client));
	}
}

void *loadgen_run(void *argument)
{
	struct loadgen_client *client = argument;
	struct load *load = client->load;
	(void)pthread_mutex_lock(&load->mutex);
	while (load->start == 0) {
		(void)pthread_cond_wait(&load->changed, &load->mutex);
	}
	(void)pthread_mutex_unlock(&load->mutex);
	client->pause = PAUSE_FIRST;
	client->now = cli_clock();
	/* A server may take fewer unanswered requests than are wanted: then so many it is. */
	uint32_t room = pipeline_room(client->client);
	if (room > 0 && room < load->plan.pipeline) {
		counter_set(&client->window, room);
	}
	sleep_until(client, schedule_start(load));
	if (load->plan.rate > 0) {
		run_open(client);
	} else {
		run_closed(client);
	}
	while (client->queued > 0) {
		take_answer(client);
	}
	flush_puts(client);
	(void)pthread_mutex_lock(&load->mutex);
	load->running--;
	(void)pthread_cond_broadcast(&load->changed);
	(void)pthread_mutex_unlock(&load->mutex);
	return NULL;
}
