/* SPDX-License-Identifier: MIT */
/* The clients together: connecting, starting, adding up, and cleaning up after them. */
#include "cli/bench/loadgen.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/thread.h"
#include "cli/out/progress.h"
#include "cli/bench/loadgen_priv.h"

/* Positions deleted by one call, a commit each. */
#define CLEAN_CHUNK 5000

/* Enough for a request's frames with room to spare; thousands of threads have one each. */
#define STACK_SIZE ((size_t)512 << 10)

/* Descriptors beside those of the clients. */
#define SPARE_DESCRIPTORS 64

/* What all threads wait for before they begin, so that they begin together. */
#define START_DELAY UINT64_C(2000000)

/* Requests are divided evenly, the first clients having one more each where that leaves some. */
static int init_client(struct loadgen_client *client, struct load *load, uint32_t number)
{
	const struct loadgen_plan *plan = &load->plan;
	*client = (struct loadgen_client){
		.load = load,
		.number = number,
		.rng = {rng_mix(plan->seed) ^ rng_mix(UINT64_C(1) << 32 | number)},
		.at = plan->sample.n > 0 ? (size_t)(plan->sample.n * number / plan->clients) : 0,
		.quota = plan->requests == 0
				 ? UINT64_MAX
				 : plan->requests / plan->clients +
					   (number < plan->requests % plan->clients ? 1 : 0),
	};
	counter_set(&client->window, plan->pipeline);
	client->keys = calloc((size_t)plan->batch, sizeof(*client->keys));
	client->rows = calloc((size_t)plan->batch, sizeof(*client->rows));
	bool good = client->keys != NULL && client->rows != NULL;
	if (plan->mix.weights[MIX_PUT] > 0) {
		client->puts = calloc((size_t)plan->put_size, sizeof(*client->puts));
		good = good && client->puts != NULL;
	}
	for (size_t kind = 0; kind < MIX_KINDS; kind++) {
		if (plan->mix.weights[kind] > 0) {
			client->counts[kind] = calloc(1, sizeof(*client->counts[kind]));
			good = good && client->counts[kind] != NULL;
		}
	}
	return good ? CHI_OK : -CHI_ENOMEM;
}

int loadgen_new(const struct loadgen_plan *plan, struct load **out)
{
	struct load *load = calloc(1, sizeof(*load));
	*out = NULL;
	if (load == NULL) {
		return -CHI_ENOMEM;
	}
	load->plan = *plan;
	(void)pthread_mutex_init(&load->mutex, NULL);
	chi_cond_init(&load->changed);
	load->clients = calloc((size_t)plan->clients, sizeof(*load->clients));
	int status = load->clients != NULL ? CHI_OK : -CHI_ENOMEM;
	for (uint32_t i = 0; status == CHI_OK && i < plan->clients; i++) {
		status = init_client(&load->clients[i], load, i);
	}
	if (status != CHI_OK) {
		load->plan.sample = (struct position_sample){.items = NULL};
		loadgen_free(load);
		return status;
	}
	*out = load;
	return CHI_OK;
}

void loadgen_free(struct load *load)
{
	if (load == NULL) {
		return;
	}
	for (size_t i = 1; i < load->opened; i++) {
		chi_close(load->clients[i].client);
	}
	for (size_t i = 0; load->clients != NULL && i < load->plan.clients; i++) {
		struct loadgen_client *client = &load->clients[i];
		free(client->keys);
		free(client->rows);
		free(client->puts);
		for (size_t kind = 0; kind < MIX_KINDS; kind++) {
			free(client->counts[kind]);
		}
	}
	free(load->clients);
	sample_deinit(&load->plan.sample);
	(void)pthread_cond_destroy(&load->changed);
	(void)pthread_mutex_destroy(&load->mutex);
	free(load);
}

/* ---- One request of each kind: what it asks is drawn before its time begins ---------------- */

static const struct sample_item *draw(struct loadgen_client *client)
{
	const struct position_sample *sample = &client->load->plan.sample;
	if (!client->load->plan.listed) {
		return &sample->items[rng_below(&client->rng, (uint32_t)sample->n)];
	}
	const struct sample_item *item = &sample->items[client->at++];
	client->at = client->at < sample->n ? client->at : 0;
	return item;
}

static size_t prepare_put(struct loadgen_client *client)
{
	const struct loadgen_plan *plan = &client->load->plan;
	uint64_t made = counter_get(&client->made);
	for (size_t i = 0; i < plan->put_size; i++) {
		synthetic_put(&plan->synthetic, client->number, made + i, &client->puts[i]);
	}
	counter_set(&client->made, made + plan->put_size);
	return (size_t)plan->put_size;
}

/* From a position's place in the order on, up to the end of it. */
static size_t prepare_scan(struct loadgen_client *client)
{
	const struct sample_item *item = draw(client);
	client->spec = (struct chi_scan_spec){
		CHI_SCAN_SPEC_INIT,
		.chi2_min = item->chi2,
		.chi2_max = CHI_CHI2_MAX,
		.want = CHI_WANT_COUNTS,
		.limit = client->load->plan.rows,
		.after = {.set = true, .chi2 = item->chi2, .key = item->key},
	};
	return (size_t)client->load->plan.rows;
}

size_t loadgen_prepare(struct loadgen_client *client, enum mix_kind kind)
{
	size_t n = kind == MIX_BATCH ? (size_t)client->load->plan.batch : 1;
	switch (kind) {
	case MIX_PUT:
		return prepare_put(client);
	case MIX_SCAN:
		return prepare_scan(client);
	default:
		for (size_t i = 0; i < n; i++) {
			client->keys[i] = draw(client)->key;
		}
		return n;
	}
}

static int ask_scan(struct loadgen_client *client, uint64_t *rows)
{
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	*rows = 0;
	int status = chi_scan_open(client->client, &client->spec, &iter);
	while (status == CHI_OK) {
		status = chi_scan_next(iter, &row, NULL);
		*rows += status == CHI_OK;
	}
	chi_rows_close(iter);
	return status;
}

/* That a position is not stored is an answer like others. */
int loadgen_ask(struct loadgen_client *client, enum mix_kind kind, size_t n, uint64_t *positions)
{
	struct chi_record record;
	struct chi_explored explore;
	int status;
	*positions = n;
	switch (kind) {
	case MIX_GET:
		status = chi_get(client->client, client->keys, &record);
		break;
	case MIX_EXPLORE:
		status = chi_explore(client->client, client->keys, NULL, NULL, &explore);
		break;
	case MIX_SCAN:
		status = ask_scan(client, positions);
		break;
	case MIX_PUT:
		status = chi_put(client->client, client->puts, n, client->load->plan.durability,
				 NULL);
		break;
	default:
		status = chi_probe(client->client, client->keys, n, client->rows);
		break;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* ---- Together ---------------------------------------------------------------------------- */

/* The usual limit of descriptors is a thousand, and may be raised by any program that meets it. */
static void raise_limit(uint64_t clients)
{
	struct rlimit limit;
	rlim_t wanted = clients + SPARE_DESCRIPTORS;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
		limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int loadgen_connect(struct cli *cli, struct load *load)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(cli, load->plan.mix.weights[MIX_PUT] > 0, &options);
	raise_limit(load->plan.clients);
	load->clients[0].client = cli->client;
	load->opened = 1;
	while (load->opened < load->plan.clients && cli_stop == 0) {
		struct loadgen_client *client = &load->clients[load->opened];
		int status = chi_open(cli->address, &options, &client->client, &fault);
		if (status != CHI_OK) {
			cli_message("client %zu of %zu: %s", load->opened + 1,
				    (size_t)load->plan.clients,
				    fault.text[0] != '\0' ? fault.text : chi_strerror(status));
			return cli_exit_of(status);
		}
		load->opened++;
	}
	return EXIT_DONE;
}

int loadgen_try(struct load *load, enum mix_kind *kind)
{
	struct loadgen_client *client = &load->clients[0];
	int status = CHI_OK;
	for (unsigned i = 0; status == CHI_OK && i < MIX_KINDS; i++) {
		if (load->plan.mix.weights[i] > 0) {
			uint64_t positions = 0;
			*kind = i;
			status = loadgen_ask(client, i, loadgen_prepare(client, i), &positions);
		}
	}
	return status == CHI_OK ? chi_flush(client->client) : status;
}

/* Signals are for the thread that waits: a handler on another would run beside it. */
static int start_threads(struct load *load)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;
	int error = 0;
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, STACK_SIZE);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	while (error == 0 && load->started < load->plan.clients) {
		struct loadgen_client *client = &load->clients[load->started];
		error = pthread_create(&client->thread, &attributes, loadgen_run, client);
		load->started += error == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return error == 0 ? CHI_OK : -CHI_EBUSY;
}

int loadgen_start(struct load *load)
{
	const struct loadgen_plan *plan = &load->plan;
	(void)pthread_mutex_lock(&load->mutex);
	int status = start_threads(load);
	uint64_t start = cli_clock() + START_DELAY + plan->warmup * UINT64_C(1000000000);
	load->running = load->started;
	load->start = start;
	load->end = plan->seconds > 0 ? start + plan->seconds * UINT64_C(1000000000) : UINT64_MAX;
	atomic_store(&load->stop, status != CHI_OK);
	(void)pthread_cond_broadcast(&load->changed);
	(void)pthread_mutex_unlock(&load->mutex);
	while (status != CHI_OK && !loadgen_wait(load, 1000)) {
	}
	return status;
}

bool loadgen_wait(struct load *load, unsigned ms)
{
	int64_t until = chi_now_us() + (int64_t)ms * 1000;
	bool in_time = true;
	(void)pthread_mutex_lock(&load->mutex);
	while (load->running > 0 && in_time) {
		in_time = chi_cond_wait_until(&load->changed, &load->mutex, until);
	}
	bool ended = load->running == 0;
	(void)pthread_mutex_unlock(&load->mutex);
	/* They have nothing more to do, so this does not wait. */
	while (ended && load->started > 0) {
		(void)pthread_join(load->clients[--load->started].thread, NULL);
	}
	return ended;
}

void loadgen_total(const struct load *load, struct loadgen_total *out)
{
	uint64_t last = 0;
	*out = (struct loadgen_total){.window = load->plan.pipeline};
	for (size_t i = 0; i < load->plan.clients; i++) {
		const struct loadgen_client *client = &load->clients[i];
		uint64_t ended = counter_get(&client->ended);
		uint64_t window = counter_get(&client->window);
		last = ended > last ? ended : last;
		out->done += counter_get(&client->done);
		out->lost += counter_get(&client->lost);
		out->window = window < out->window ? window : out->window;
	}
	out->elapsed = last > load->start ? last - load->start : 0;
}

void loadgen_collect(const struct load *load, enum mix_kind kind, struct loadgen_count *out)
{
	for (size_t i = 0; i < load->plan.clients; i++) {
		const struct loadgen_count *count = load->clients[i].counts[kind];
		if (count != NULL) {
			histogram_merge(&out->latency, &count->latency);
			counter_add(&out->positions, counter_get(&count->positions));
		}
	}
}

/* A client's positions are numbered from 0. */
int loadgen_clean(struct load *load, struct progress *shown, uint64_t *removed)
{
	static struct chi_key keys[CLEAN_CHUNK];
	int status = CHI_OK;
	*removed = 0;
	for (uint32_t number = 0; number < load->plan.clients; number++) {
		uint64_t made = counter_get(&load->clients[number].made);
		for (uint64_t at = 0; status == CHI_OK && at < made; at += CLEAN_CHUNK) {
			size_t n = made - at < CLEAN_CHUNK ? (size_t)(made - at) : CLEAN_CHUNK;
			uint64_t deleted = 0;
			for (size_t i = 0; i < n; i++) {
				synthetic_key(&load->plan.synthetic, number, at + i, &keys[i]);
			}
			status = chi_delete(load->clients[0].client, keys, n, CHI_SYNC, &deleted);
			*removed += deleted;
			progress_phase(shown, "removing what was put", number, load->plan.clients);
		}
	}
	return status;
}
