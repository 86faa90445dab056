/* SPDX-License-Identifier: MIT */
/* The table of a bench. Rates and latencies are of requests that were answered; those that failed
 * have a column of their own. */
#include "cli/bench/loadgen.h"

#include <inttypes.h>
#include <string.h>

#include "cli/out/output.h"

/* The columns, and the digits of their numbers after the point. */
static const struct {
	const char *name;
	int digits;
} columns[] = {
	{"operation", 0},  {"requests", 0},    {"errors", 0},  {"positions", 0}, {"seconds", 3},
	{"requests_s", 1}, {"positions_s", 1}, {"mean_us", 2}, {"p50_us", 2},	 {"p90_us", 2},
	{"p99_us", 2},	   {"p999_us", 2},     {"max_us", 2},
};

static const unsigned permilles[] = {500, 900, 990, 999};

/* Without an answer there is no latency. */
static json_t *json_latency(uint64_t requests, double ns)
{
	return requests > 0 ? json_real(ns / 1e3) : json_null();
}

/* A row's values in the order of the columns. */
static json_t *row_json(const char *operation, const struct loadgen_count *count, uint64_t errors,
			double seconds)
{
	uint64_t requests = histogram_count(&count->latency);
	uint64_t positions = counter_get(&count->positions);
	double per_second = seconds > 0 ? 1 / seconds : 0;
	json_t *row = json_pack("[s, o, o, o, f, f, f, o]", operation, json_count(requests),
				json_count(errors), json_count(positions), seconds,
				(double)requests * per_second, (double)positions * per_second,
				json_latency(requests, histogram_mean(&count->latency)));
	for (size_t i = 0; i < CHI_COUNT(permilles); i++) {
		uint64_t ns = histogram_percentile(&count->latency, permilles[i]);
		(void)json_array_append_new(row, json_latency(requests, (double)ns));
	}
	(void)json_array_append_new(row,
				    json_latency(requests, (double)histogram_max(&count->latency)));
	return row;
}

/* Takes the row over. */
static void print_text(json_t *row)
{
	for (size_t i = 0; i < CHI_COUNT(columns); i++) {
		json_t *value = json_array_get(row, i);
		(void)fputs(i > 0 ? "\t" : "", stdout);
		if (json_is_string(value)) {
			printf("%s", json_string_value(value));
		} else if (json_is_number(value)) {
			printf("%.*f", columns[i].digits, json_number_value(value));
		} else {
			printf("-");
		}
	}
	(void)putchar('\n');
	json_decref(row);
}

/* Takes row and failures over. */
static void print_row(const struct cli *cli, json_t *row, json_t *failures)
{
	if (!cli->json) {
		print_text(row);
		json_decref(failures);
		return;
	}
	json_t *object = json_object();
	for (size_t i = 0; i < CHI_COUNT(columns); i++) {
		(void)json_object_set(object, columns[i].name, json_array_get(row, i));
	}
	(void)json_object_set_new(object, "failures", failures);
	json_decref(row);
	output_json(object);
}

static const char *status_text(int status)
{
	return status == TRAFFIC_UNSENT ? "not sent in time" : chi_strerror(-status);
}

/* Adds a kind's failures to both lists, and says them; returns how many there are. */
static uint64_t list_failures(struct load *load, enum mix_kind kind, json_t *list, json_t *all)
{
	const struct loadgen_failures *failures = &load->failures[kind];
	uint64_t sum = 0;
	(void)pthread_mutex_lock(&load->mutex);
	for (int i = 0; i < TRAFFIC_STATUSES; i++) {
		uint64_t n = failures->counts[i];
		const char *first = failures->first[i].text;
		if (n > 0) {
			json_t *entry = json_pack("{s:s, s:s, s:o, s:o}", "operation",
						  mix_name(kind), "status", status_text(i), "count",
						  json_count(n), "first", json_path(first));
			(void)json_array_append(all, entry);
			(void)json_array_append_new(list, entry);
			cli_message("%s: %" PRIu64 " failed, %s (the first: %s)", mix_name(kind), n,
				    status_text(i), first);
			sum += n;
		}
	}
	(void)pthread_mutex_unlock(&load->mutex);
	return sum;
}

int measured_print(const struct cli *cli, struct load *load, uint64_t *answered, uint64_t *failed)
{
	_cleanup_(chi_freep) struct loadgen_count *counts = calloc(2, sizeof(*counts));
	struct loadgen_total total;
	json_t *every = json_array();
	*failed = 0;
	if (counts == NULL) {
		json_decref(every);
		return -CHI_ENOMEM;
	}
	loadgen_total(load, &total);
	double seconds = (double)total.elapsed / 1e9;
	for (size_t i = 0; i < CHI_COUNT(columns) && !cli->json; i++) {
		printf("%s%s", i > 0 ? "\t" : "", columns[i].name);
	}
	(void)fputs(cli->json ? "" : "\n", stdout);
	for (unsigned kind = 0; kind < MIX_KINDS; kind++) {
		if (load->plan.mix.weights[kind] > 0) {
			json_t *failures = json_array();
			memset(&counts[0], 0, sizeof(counts[0]));
			loadgen_collect(load, kind, &counts[0]);
			loadgen_collect(load, kind, &counts[1]);
			uint64_t errors = list_failures(load, kind, failures, every);
			print_row(cli, row_json(mix_name(kind), &counts[0], errors, seconds),
				  failures);
			*failed += errors;
		}
	}
	print_row(cli, row_json("all", &counts[1], *failed, seconds), every);
	*answered = histogram_count(&counts[1].latency);
	return CHI_OK;
}
