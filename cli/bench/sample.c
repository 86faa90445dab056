/* SPDX-License-Identifier: MIT */
/* Positions to ask for: a sample of the store that costs no more than its own size, or a file. */
#include "cli/bench/sample.h"

#include <stdlib.h>

#include "base/attr.h"
#include "base/buffer.h"
#include "chess/key.h"
#include "cli/in/fens.h"

/* Positions looked up by one call. */
#define LOOKUP 4096

void sample_deinit(struct position_sample *sample)
{
	free(sample->items);
	*sample = (struct position_sample){.items = NULL};
}

static int add_key(struct position_sample *sample, const struct chi_key *key, uint16_t chi2)
{
	if (chi_grow(&sample->items, &sample->capacity, sample->n + 1, sizeof(*sample->items)) <
	    0) {
		return -CHI_ENOMEM;
	}
	sample->items[sample->n++] = (struct sample_item){.key = *key, .chi2 = chi2};
	return CHI_OK;
}

/* A part of the order: a scan's, up to the keys whose first six bits are above `last`. */
struct band {
	struct chi_scan_spec spec;
	uint8_t last;
};

#define BANDS_MAX (2 * SAMPLE_BANDS)

/* Adds what is next in a band, up to `limit` rows; *more: there may be more after them. */
static int take_rows(struct cli *cli, struct band *band, uint64_t limit,
		     struct position_sample *sample, bool *more)
{
	_cleanup_(chi_rows_closep) struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	size_t before = sample->n;
	bool inside = true;
	band->spec.limit = limit;
	int status = chi_scan_open(cli->client, &band->spec, &iter);
	while (status == CHI_OK && inside) {
		status = chi_scan_next(iter, &row, NULL);
		inside = status == CHI_OK && row->key.bytes[0] >> 2 <= band->last;
		if (inside) {
			status = add_key(sample, &row->key, row->chi2);
		}
	}
	*more = sample->n - before == limit;
	if (*more) {
		band->spec.after = chi_rows_state(iter)->cursor;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* The statistic that is first from an end of the order; 0: no position has one. */
static int find_end(struct cli *cli, bool descending, uint16_t *chi2)
{
	struct band all = {.spec = {CHI_SCAN_SPEC_INIT, .chi2_min = 1, .chi2_max = CHI_CHI2_MAX,
				    .descending = descending},
			   .last = UINT8_MAX};
	struct position_sample one = {.items = NULL};
	bool more = false;
	int status = take_rows(cli, &all, 1, &one, &more);
	*chi2 = one.n > 0 ? one.items[0].chi2 : 0;
	sample_deinit(&one);
	return status;
}

/* Positions without a statistic, or with the same one, lie side by side as in the tree of
 * positions: parts of them from all over it are a fair sample, the first ones are not. */
static size_t divide_by_keys(uint16_t chi2, struct band *bands)
{
	for (unsigned i = 0; i < SAMPLE_BANDS; i++) {
		bands[i] = (struct band){
			.spec = {CHI_SCAN_SPEC_INIT, .chi2_min = chi2, .chi2_max = chi2,
				 .after = {.chi2 = chi2}},
			.last = (uint8_t)i,
		};
		/* The least key whose first bits are these. */
		uint8_t first = (uint8_t)(i << 2);
		struct chi_cursor *after = &bands[i].spec.after;
		after->set = first != 0;
		after->key.bytes[0] = first;
		after->key.len = (uint8_t)chi_key_length(after->key.bytes);
	}
	return SAMPLE_BANDS;
}

/* The positions without a statistic first; returns how many bands there are. */
static size_t make_bands(const struct position_sample *sample, struct band bands[BANDS_MAX])
{
	size_t n = divide_by_keys(CHI_CHI2_UNKNOWN, bands);
	unsigned width = sample->greatest - sample->least + 1u;
	if (sample->greatest == 0) {
		return n;
	}
	if (width == 1) {
		return n + divide_by_keys(sample->least, bands + n);
	}
	unsigned known = width < SAMPLE_BANDS ? width : SAMPLE_BANDS;
	for (unsigned i = 0; i < known; i++) {
		bands[n++] = (struct band){
			.spec = {CHI_SCAN_SPEC_INIT,
				 .chi2_min = (uint16_t)(sample->least + width * i / known),
				 .chi2_max =
					 (uint16_t)(sample->least + width * (i + 1) / known - 1)},
			.last = UINT8_MAX,
		};
	}
	return n;
}

/* In rounds: each band that may have more gives its share of what is missing. */
static int take_bands(struct cli *cli, struct band *bands, size_t n, size_t max,
		      struct position_sample *sample)
{
	int status = CHI_OK;
	while (status == CHI_OK && n > 0 && sample->n < max) {
		size_t share = (max - sample->n) / n;
		size_t kept = 0;
		for (size_t i = 0; status == CHI_OK && i < n && sample->n < max; i++) {
			bool more = false;
			status = take_rows(cli, &bands[i], share > 0 ? share : 1, sample, &more);
			if (more) {
				bands[kept++] = bands[i];
			}
		}
		n = kept;
	}
	return status;
}

int sample_from_store(struct cli *cli, size_t max, struct position_sample *out)
{
	struct band bands[BANDS_MAX];
	struct chi_info info;
	*out = (struct position_sample){.items = NULL};
	int status = chi_store_info(cli->client, &info);
	if (status == CHI_OK) {
		out->out_of = info.positions;
		status = find_end(cli, false, &out->least);
	}
	if (status == CHI_OK) {
		status = find_end(cli, true, &out->greatest);
	}
	if (status == CHI_OK) {
		status = take_bands(cli, bands, make_bands(out, bands), max, out);
	}
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	out->stored = out->n;
	if (out->n == 0) {
		cli_message("the store is empty, so there is nothing to ask for: import positions "
			    "first, or name some with --positions");
		return EXIT_USAGE;
	}
	return EXIT_DONE;
}

static int take_fen(struct cli *cli, void *context, const struct place *place)
{
	struct position_sample *sample = context;
	(void)cli;
	if (sample->n == SAMPLE_MAX) {
		cli_message("--positions: more than %d positions", SAMPLE_MAX);
		return EXIT_USAGE;
	}
	if (add_key(sample, &place->key, 0) != CHI_OK) {
		return cli_no_memory();
	}
	return EXIT_DONE;
}

/* A scan starts at a position's place in the order, which its statistic is part of. */
static int look_up(struct cli *cli, struct position_sample *sample)
{
	static struct chi_key keys[LOOKUP];
	static struct chi_row rows[LOOKUP];
	int status = CHI_OK;
	for (size_t at = 0; status == CHI_OK && at < sample->n; at += LOOKUP) {
		size_t n = sample->n - at < LOOKUP ? sample->n - at : LOOKUP;
		for (size_t i = 0; i < n; i++) {
			keys[i] = sample->items[at + i].key;
		}
		status = chi_probe(cli->client, keys, n, rows);
		for (size_t i = 0; status == CHI_OK && i < n; i++) {
			sample->items[at + i].chi2 = rows[i].chi2;
			sample->stored += rows[i].found;
		}
	}
	return status;
}

int sample_from_file(struct cli *cli, const char *path, struct position_sample *out)
{
	const struct fens_user user = {.each = take_fen, .context = out, .strict = true};
	*out = (struct position_sample){.items = NULL};
	int code = fens_in_file(cli, path, &user);
	if (code != EXIT_DONE) {
		return code;
	}
	if (out->n == 0) {
		cli_message("--positions: no position in %s", path);
		return EXIT_USAGE;
	}
	int status = look_up(cli, out);
	return status == CHI_OK ? EXIT_DONE : cli_fail(cli->client, status);
}
