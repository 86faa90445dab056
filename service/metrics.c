/* SPDX-License-Identifier: MIT */
/* Each counter is read once, so that of two pages the later one never shows less. */
#include "service/metrics.h"

#include <stdarg.h>
#include <stdio.h>

/* Times run from what a look-up takes to what a store takes that is copied. */
static const uint64_t bounds[CHI_HISTOGRAM_BOUNDS] = {
	50,    100,    250,    500,    1000,	2500,	 5000,	   10000,    25000,
	50000, 100000, 250000, 500000, 1000000, 2500000, 10000000, 60000000,
};

void chi_counters_add(void *totals, const void *counters, size_t size)
{
	chi_counter *to = totals;
	const chi_counter *from = counters;
	for (size_t i = 0; i < size / sizeof(*from); i++) {
		chi_counter_add(&to[i], chi_counter_value(&from[i]));
	}
}

void chi_histogram_add(struct chi_histogram *histogram, int64_t us)
{
	size_t i = 0;
	uint64_t took = us < 0 ? 0 : (uint64_t)us;
	/* Most are found at once: the bounds begin where probes are. */
	while (i < CHI_HISTOGRAM_BOUNDS && took > bounds[i]) {
		i++;
	}
	chi_counter_add(&histogram->buckets[i], 1);
	chi_counter_add(&histogram->sum_us, took);
}

void chi_metrics_print(struct chi_metrics *page, const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	page->failed = page->failed || n < 0 || (size_t)n >= sizeof(text) ||
		       chi_buffer_append(page->out, text, (size_t)n) < 0;
}

void chi_metrics_head(struct chi_metrics *page, const char *name, const char *type,
		      const char *help)
{
	chi_metrics_print(page, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void chi_metrics_value(struct chi_metrics *page, const char *name, const char *type,
		       const char *help, uint64_t value)
{
	chi_metrics_print(page, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, type,
			  name, (unsigned long long)value);
}

/* Whole and fraction apart: the decimal point must not depend on a locale. */
static void print_seconds(struct chi_metrics *page, uint64_t us)
{
	chi_metrics_print(page, "%llu.%06llu", (unsigned long long)(us / 1000000),
			  (unsigned long long)(us % 1000000));
}

void chi_metrics_time(struct chi_metrics *page, const char *name, const char *type,
		      const char *help, uint64_t us)
{
	chi_metrics_head(page, name, type, help);
	chi_metrics_print(page, "%s ", name);
	print_seconds(page, us);
	chi_metrics_print(page, "\n");
}

void chi_metrics_histogram(struct chi_metrics *page, const char *name, const char *label,
			   const char *value, const struct chi_histogram *times)
{
	uint64_t n = 0;
	for (size_t i = 0; i < CHI_HISTOGRAM_BOUNDS; i++) {
		/* Each includes those below it. */
		n += chi_counter_value(&times->buckets[i]);
		chi_metrics_print(page, "%s_bucket{%s=\"%s\",le=\"", name, label, value);
		print_seconds(page, bounds[i]);
		chi_metrics_print(page, "\"} %llu\n", (unsigned long long)n);
	}
	n += chi_counter_value(&times->buckets[CHI_HISTOGRAM_BOUNDS]);
	chi_metrics_print(page, "%s_bucket{%s=\"%s\",le=\"+Inf\"} %llu\n%s_sum{%s=\"%s\"} ", name,
			  label, value, (unsigned long long)n, name, label, value);
	print_seconds(page, chi_counter_value(&times->sum_us));
	chi_metrics_print(page, "\n%s_count{%s=\"%s\"} %llu\n", name, label, value,
			  (unsigned long long)n);
}
