/* SPDX-License-Identifier: MIT */
/* The clients together: connecting, starting, adding up, and cleaning up behind them. */
#include "client/cli/traffic.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "client/cli/progress.h"
#include "client/cli/traffic_priv.h"

/* Positions deleted by one call, a commit each. */
#define CLEAN_CHUNK 5000

/* Enough for a request's frames with room to spare; thousands of threads have one each. */
#define STACK_SIZE ((size_t)512 << 10)

/* Descriptors beside those of the clients. */
#define SPARE_DESCRIPTORS 64

/* What all threads wait for before they begin, so that they begin together. */
#define START_DELAY UINT64_C(2000000)

int traffic_new(const struct traffic_plan *plan, struct traffic **out)
{
	pthread_condattr_t attributes;
	struct traffic *traffic = calloc(1, sizeof(*traffic));
	*out = NULL;
	if (traffic == NULL) {
		return -CHI_ENOMEM;
	}
	traffic->plan = *plan;
	(void)pthread_mutex_init(&traffic->mutex, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&traffic->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	traffic->clients = calloc((size_t)plan->clients, sizeof(*traffic->clients));
	int status = traffic->clients != NULL ? CHI_OK : -CHI_ENOMEM;
	for (uint32_t i = 0; status == CHI_OK && i < plan->clients; i++) {
		status = traffic_client_init(&traffic->clients[i], traffic, i);
	}
	if (status != CHI_OK) {
		traffic->plan.sample = (struct sample){.items = NULL};
		traffic_free(traffic);
		return status;
	}
	*out = traffic;
	return CHI_OK;
}

void traffic_free(struct traffic *traffic)
{
	if (traffic == NULL) {
		return;
	}
	for (size_t i = 1; i < traffic->opened; i++) {
		chi_close(traffic->clients[i].client);
	}
	for (size_t i = 0; traffic->clients != NULL && i < traffic->plan.clients; i++) {
		traffic_client_deinit(&traffic->clients[i]);
	}
	free(traffic->clients);
	sample_deinit(&traffic->plan.sample);
	(void)pthread_cond_destroy(&traffic->changed);
	(void)pthread_mutex_destroy(&traffic->mutex);
	free(traffic);
}

/* The usual limit of descriptors is a thousand, and may be raised by whoever meets it. */
static void raise_limit(uint64_t clients)
{
	struct rlimit limit;
	rlim_t wanted = clients + SPARE_DESCRIPTORS;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
		limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int traffic_connect(struct cli *cli, struct traffic *traffic)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(cli, traffic->plan.mix.weights[MIX_PUT] > 0, &options);
	raise_limit(traffic->plan.clients);
	traffic->clients[0].client = cli->client;
	traffic->opened = 1;
	while (traffic->opened < traffic->plan.clients && cli_stop == 0) {
		struct traffic_client *client = &traffic->clients[traffic->opened];
		int status = chi_open(cli->address, &options, &client->client, &fault);
		if (status != CHI_OK) {
			cli_message("client %zu of %zu: %s", traffic->opened + 1,
				    (size_t)traffic->plan.clients,
				    fault.text[0] != '\0' ? fault.text : chi_strerror(status));
			return cli_exit_of(status);
		}
		traffic->opened++;
	}
	return EXIT_DONE;
}

int traffic_try(struct traffic *traffic, enum mix_kind *kind)
{
	struct traffic_client *client = &traffic->clients[0];
	int status = CHI_OK;
	for (unsigned i = 0; status == CHI_OK && i < MIX_KINDS; i++) {
		if (traffic->plan.mix.weights[i] > 0) {
			uint64_t positions = 0;
			*kind = i;
			status = traffic_ask(client, i, traffic_prepare(client, i), &positions);
		}
	}
	return status == CHI_OK ? chi_flush(client->client) : status;
}

/* Signals are for the thread that waits: a handler on another would run beside it. */
static int start_threads(struct traffic *traffic)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;
	int error = 0;
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	while (error == 0 && traffic->started < traffic->plan.clients) {
		struct traffic_client *client = &traffic->clients[traffic->started];
		error = pthread_create(&client->thread, &attributes, traffic_run, client);
		traffic->started += error == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return error == 0 ? CHI_OK : -CHI_EBUSY;
}

int traffic_start(struct traffic *traffic)
{
	const struct traffic_plan *plan = &traffic->plan;
	(void)pthread_mutex_lock(&traffic->mutex);
	int status = start_threads(traffic);
	uint64_t start = traffic_clock() + START_DELAY + plan->warmup * UINT64_C(1000000000);
	traffic->running = traffic->started;
	traffic->start = start;
	traffic->end =
		plan->seconds > 0 ? start + plan->seconds * UINT64_C(1000000000) : UINT64_MAX;
	atomic_store(&traffic->stop, status != CHI_OK);
	(void)pthread_cond_broadcast(&traffic->changed);
	(void)pthread_mutex_unlock(&traffic->mutex);
	while (status != CHI_OK && !traffic_wait(traffic, 1000)) {
	}
	return status;
}

bool traffic_wait(struct traffic *traffic, unsigned ms)
{
	struct timespec until;
	int error = 0;
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	(void)pthread_mutex_lock(&traffic->mutex);
	while (traffic->running > 0 && error == 0) {
		error = pthread_cond_timedwait(&traffic->changed, &traffic->mutex, &until);
	}
	bool ended = traffic->running == 0;
	(void)pthread_mutex_unlock(&traffic->mutex);
	/* They have nothing more to do, so this does not wait. */
	while (ended && traffic->started > 0) {
		(void)pthread_join(traffic->clients[--traffic->started].thread, NULL);
	}
	return ended;
}

void traffic_stop(struct traffic *traffic)
{
	atomic_store(&traffic->stop, true);
}

static uint64_t get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

uint64_t traffic_done(const struct traffic *traffic)
{
	uint64_t done = 0;
	for (size_t i = 0; i < traffic->plan.clients; i++) {
		done += get(&traffic->clients[i].done);
	}
	return done;
}

void traffic_collect(struct traffic *traffic, enum mix_kind kind, struct traffic_count *out)
{
	for (size_t i = 0; i < traffic->plan.clients; i++) {
		const struct traffic_count *count = traffic->clients[i].counts[kind];
		if (count != NULL) {
			histogram_merge(&out->latency, &count->latency);
			atomic_fetch_add(&out->positions, get(&count->positions));
		}
	}
}

void traffic_failed(struct traffic *traffic, enum mix_kind kind, struct traffic_failures *out)
{
	(void)pthread_mutex_lock(&traffic->mutex);
	*out = traffic->failures[kind];
	(void)pthread_mutex_unlock(&traffic->mutex);
}

uint64_t traffic_elapsed(struct traffic *traffic)
{
	uint64_t last = 0;
	for (size_t i = 0; i < traffic->plan.clients; i++) {
		uint64_t ended = get(&traffic->clients[i].ended);
		last = ended > last ? ended : last;
	}
	return last > traffic->start ? last - traffic->start : 0;
}

size_t traffic_lost(const struct traffic *traffic)
{
	size_t lost = 0;
	for (size_t i = 0; i < traffic->plan.clients; i++) {
		lost += atomic_load_explicit(&traffic->clients[i].lost, memory_order_relaxed);
	}
	return lost;
}

size_t traffic_window(const struct traffic *traffic)
{
	size_t least = (size_t)traffic->plan.pipeline;
	for (size_t i = 0; i < traffic->plan.clients; i++) {
		size_t window =
			atomic_load_explicit(&traffic->clients[i].window, memory_order_relaxed);
		least = window < least ? window : least;
	}
	return least;
}

/* The made-up positions of one client, in chunks. */
static int clean_client(struct traffic *traffic, uint32_t number, struct progress *shown,
			uint64_t *removed)
{
	static struct chi_key keys[CLEAN_CHUNK];
	uint64_t made = get(&traffic->clients[number].made);
	int status = CHI_OK;
	for (uint64_t at = 0; status == CHI_OK && at < made; at += CLEAN_CHUNK) {
		size_t n = made - at < CLEAN_CHUNK ? (size_t)(made - at) : CLEAN_CHUNK;
		uint64_t deleted = 0;
		for (size_t i = 0; i < n; i++) {
			invent_key(&traffic->plan.invent, number, at + i, &keys[i]);
		}
		status = chi_delete(traffic->clients[0].client, keys, n, CHI_SYNC, &deleted);
		*removed += deleted;
		progress_phase(shown, "removing what was put", number, traffic->plan.clients);
	}
	return status;
}

int traffic_clean(struct traffic *traffic, struct progress *shown, uint64_t *removed)
{
	int status = CHI_OK;
	*removed = 0;
	for (uint32_t i = 0; status == CHI_OK && i < traffic->plan.clients; i++) {
		status = clean_client(traffic, i, shown, removed);
	}
	return status;
}
