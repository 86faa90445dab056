/* SPDX-License-Identifier: MIT */
/* One request of each kind: what it asks is drawn before its time begins. */
#include <stdlib.h>

#include "client/cli/bench/loadgen_priv.h"

/* Requests are divided evenly, the first clients having one more each where that leaves some. */
int loadgen_client_init(struct loadgen_client *client, struct load *load, uint32_t number)
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

/* The connection is loadgen.c's to close. */
void loadgen_client_deinit(struct loadgen_client *client)
{
	free(client->keys);
	free(client->rows);
	free(client->puts);
	for (size_t kind = 0; kind < MIX_KINDS; kind++) {
		free(client->counts[kind]);
	}
}

static const struct sample_item *draw(struct loadgen_client *client)
{
	const struct sample *sample = &client->load->plan.sample;
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
	struct chi_iter *iter = NULL;
	const struct chi_row *row = NULL;
	*rows = 0;
	int status = chi_iter_open(client->client, &client->spec, &iter);
	while (status == CHI_OK) {
		status = chi_iter_next(iter, &row, NULL);
		*rows += status == CHI_OK;
	}
	chi_iter_close(iter);
	return status;
}

/* That a position is not stored is an answer like others. */
int loadgen_ask(struct loadgen_client *client, enum mix_kind kind, size_t n, uint64_t *positions)
{
	struct chi_record record;
	struct chi_explore explore;
	int status;
	*positions = n;
	switch (kind) {
	case MIX_GET:
		status = chi_get(client->client, client->keys, &record);
		break;
	case MIX_EXPLORE:
		status = chi_explore(client->client, client->keys, &explore);
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
