/* SPDX-License-Identifier: MIT */
/* Stores a position with an evaluation, asks for it, and walks a band of the statistic. */
#include <stdio.h>
#include <string.h>

#include <chistore.h>

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		return fail("usage", "first DIR | unix:PATH | tcp:HOST:PORT");
	}
	struct chi_options options = {CHI_OPTIONS_INIT, .writable = true};
	struct chi_client *client;
	struct chi_fault fault;
	if (chi_open(argv[1], &options, &client, &fault) != CHI_OK) {
		return fail("open", fault.text);
	}
	const char *fen = "8/8/8/8/3k4/8/3P4/R3K3 w - - 0 1";
	struct chi_eval eval = {
		.engine = "first", .engine_len = 5, .depth = 20, .is_mate = true, .score = 14};
	struct chi_put_entry put = {.parts = CHI_PUT_EVALS,
				    .record = {.evals = &eval, .n_evals = 1}};
	if (chi_key_from_fen(fen, strlen(fen), &put.key, &fault) != CHI_OK) {
		return fail(fen, fault.text);
	}
	if (chi_put(client, &put, 1, CHI_SYNC, NULL) != CHI_OK) {
		return fail("put", chi_error(client));
	}
	struct chi_record record;
	if (chi_get(client, &put.key, &record) != CHI_OK) {
		return fail("get", chi_error(client));
	}
	const struct chi_eval *best = &record.evals[0];
	printf(best->is_mate ? "%s: mate in %.0f at depth %u\n" : "%s: %+.2f pawns at depth %u\n",
	       best->engine, best->is_mate ? best->score : best->score / 100.0, best->depth);
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX,
				     .filter = {.has_material = true}};
	struct chi_rows *iter;
	const struct chi_row *row;
	char text[CHI_FEN_SIZE];
	if (chi_material_parse("KRPvK", 5, &spec.filter.material, &fault) != CHI_OK ||
	    chi_scan_open(client, &spec, &iter) != CHI_OK) {
		return fail("scan", chi_error(client));
	}
	while (chi_scan_next(iter, &row, NULL) == CHI_OK) {
		if (chi_key_to_fen(&row->key, text, NULL) == CHI_OK) {
			printf("%.2f\t%s\n", row->chi2 / 100.0, text);
		}
	}
	chi_rows_close(iter);
	chi_close(client);
	return 0;
}
