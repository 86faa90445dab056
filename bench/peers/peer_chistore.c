/* SPDX-License-Identifier: MIT */
/* Our own store in this process, PATH being its directory: chi_probe of one key, and of 32. */
#include "bench/peers/peer.h"

#include "bench/bench.h"
#include "chistore.h"

#define GROUP 32

static void *open_store(const char *path)
{
	struct chi_client *client;
	struct chi_fault fault = {""};
	if (chi_open(path, NULL, &client, &fault) != CHI_OK) {
		bench_die("cannot open '%s': %s", path, fault.text);
	}
	return client;
}

static void probe(struct chi_client *client, const struct chi_key *keys, size_t n,
		  struct chi_row *rows)
{
	int status = chi_probe(client, keys, n, rows);
	if (status != CHI_OK) {
		bench_die("chi_probe: %s (%s)", chi_strerror(status), chi_error(client));
	}
}

static bool get(void *store, const struct chi_key *key, uint64_t *touched)
{
	struct chi_row row;
	probe(store, key, 1, &row);
	*touched += row.chi2;
	return row.found;
}

static uint64_t get_many(void *store, const struct chi_key *keys, size_t n)
{
	struct chi_row rows[GROUP];
	uint64_t found = 0;
	for (size_t i = 0; i < n; i += GROUP) {
		size_t len = n - i < GROUP ? n - i : GROUP;
		probe(store, keys + i, len, rows);
		for (size_t j = 0; j < len; j++) {
			found += rows[j].found;
		}
	}
	return found;
}

static void close_store(void *store)
{
	chi_close(store);
}

const struct peer peer = {
	.is_filled = true,
	.open = open_store,
	.get = get,
	.get_many = get_many,
	.close = close_store,
};
