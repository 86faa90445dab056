/* SPDX-License-Identifier: MIT */
/* The table of a bench. Rates and latencies are of requests that were answered; those that failed
 * have a column of their own. */
#include "client/cli/bench/report.h"

#include <inttypes.h>
#include <string.h>

#include "client/cli/out/output.h"

/* One line of the table, in the order of its columns. */
struct row {
	const char *operation;
	uint64_t requests;
	uint64_t errors;
	uint64_t positions;
	double seconds;
	double requests_s;
	double positions_s;
	double latency[6]; /* microseconds, in the order of the columns */
};

static const unsigned permilles[] = {500, 900, 990, 999};

static void fill(struct row *row, const struct loadgen_count *count, double seconds)
{
	row->requests = histogram_count(&count->latency);
	row->positions = atomic_load(&count->positions);
	row->seconds = seconds;
	row->requests_s = seconds > 0 ? (double)row->requests / seconds : 0;
	row->positions_s = seconds > 0 ? (double)row->positions / seconds : 0;
	row->latency[0] = histogram_mean(&count->latency) / 1e3;
	for (size_t i = 0; i < CHI_COUNT(permilles); i++) {
		row->latency[i + 1] =
			(double)histogram_percentile(&count->latency, permilles[i]) / 1e3;
	}
	row->latency[5] = (double)histogram_max(&count->latency) / 1e3;
}

/* Without an answer there is no latency. */
static json_t *json_latency(const struct row *row, size_t i)
{
	return row->requests > 0 ? json_real(row->latency[i]) : json_null();
}

static void print_json(const struct row *row, json_t *failures)
{
	output_json(json_pack(
		"{s:s, s:o, s:o, s:o, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"operation", row->operation, "requests", json_count(row->requests), "errors",
		json_count(row->errors), "positions", json_count(row->positions), "seconds",
		row->seconds, "requests_s", row->requests_s, "positions_s", row->positions_s,
		"mean_us", json_latency(row, 0), "p50_us", json_latency(row, 1), "p90_us",
		json_latency(row, 2), "p99_us", json_latency(row, 3), "p999_us",
		json_latency(row, 4), "max_us", json_latency(row, 5), "failures", failures));
}

static void print_text(const struct row *row)
{
	printf("%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.3f\t%.1f\t%.1f", row->operation,
	       row->requests, row->errors, row->positions, row->seconds, row->requests_s,
	       row->positions_s);
	for (size_t i = 0; i < CHI_COUNT(row->latency); i++) {
		if (row->requests > 0) {
			printf("\t%.2f", row->latency[i]);
		} else {
			printf("\t-");
		}
	}
	(void)putchar('\n');
}

static const char *status_text(int status)
{
	return status == TRAFFIC_UNSENT ? "not sent in time" : chi_strerror(-status);
}

/* Adds a kind's failures to a list and to a sum, and says them. */
static void list_failures(struct load *load, enum mix_kind kind, json_t *list, uint64_t *sum)
{
	struct loadgen_failures failures;
	loadgen_failed(load, kind, &failures);
	for (int i = 0; i < TRAFFIC_STATUSES; i++) {
		uint64_t n = failures.counts[i];
		if (n > 0) {
			const char *first = failures.first[i].text;
			*sum += n;
			(void)json_array_append_new(
				list, json_pack("{s:s, s:s, s:o, s:o}", "operation", mix_name(kind),
						"status", status_text(i), "count", json_count(n),
						"first", json_path(first)));
			cli_message("%s: %" PRIu64 " failed, %s (the first: %s)", mix_name(kind), n,
				    status_text(i), first);
		}
	}
}

/* Takes the list over. */
static void print_row(const struct cli *cli, const struct row *row, json_t *failures)
{
	if (cli->json) {
		print_json(row, failures);
	} else {
		print_text(row);
		json_decref(failures);
	}
}

/* The table's head, its rows, and last the row of all. */
static void print_rows(const struct cli *cli, struct load *load, struct row *total,
		       struct loadgen_count counts[2])
{
	struct loadgen_count *all = &counts[0];
	struct loadgen_count *count = &counts[1];
	double seconds = (double)loadgen_elapsed(load) / 1e9;
	json_t *every = json_array();
	if (!cli->json) {
		printf("operation\trequests\terrors\tpositions\tseconds\trequests_s\tpositions_s\t"
		       "mean_us\tp50_us\tp90_us\tp99_us\tp999_us\tmax_us\n");
	}
	for (unsigned kind = 0; kind < MIX_KINDS; kind++) {
		if (load->plan.mix.weights[kind] > 0) {
			struct row row = {.operation = mix_name(kind)};
			json_t *failures = json_array();
			memset(count, 0, sizeof(*count));
			loadgen_collect(load, kind, count);
			loadgen_collect(load, kind, all);
			fill(&row, count, seconds);
			list_failures(load, kind, failures, &row.errors);
			(void)json_array_extend(every, failures);
			print_row(cli, &row, failures);
			total->errors += row.errors;
		}
	}
	fill(total, all, seconds);
	print_row(cli, total, every);
}

int measured_print(const struct cli *cli, struct load *load, uint64_t *answered, uint64_t *failed)
{
	_cleanup_(chi_freep) struct loadgen_count *counts = calloc(2, sizeof(*counts));
	struct row total = {.operation = "all"};
	if (counts == NULL) {
		return -CHI_ENOMEM;
	}
	print_rows(cli, load, &total, counts);
	*answered = total.requests;
	*failed = total.errors;
	return CHI_OK;
}
