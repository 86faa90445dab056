/* SPDX-License-Identifier: MIT */
/*
 * GET /api/scan, a stream of lines, and /api/histogram. A stream is made in parts: each is one walk
 * that goes on where the last part ended, so that a client who reads slowly holds up neither a
 * thread nor a snapshot of the store.
 */
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "http/api/api.h"
#include "store/store.h"

#define PART_BYTES ((size_t)128 << 10)
#define BINS_MOST  256
#define BINS	   64

struct stream {
	struct chi_scan_spec spec;
	uint64_t left; /* rows; UINT64_MAX: no limit */
	bool has_total;
	uint64_t total;
};

/* ---- The stream -------------------------------------------------------------------------- */

static int begin_scan(struct call *call, struct stream **out)
{
	struct stream *stream = chi_arena_array(&call->arena, 1, sizeof(*stream));
	if (stream == NULL) {
		return chi_fault_plain(&call->fault, -CHI_ENOMEM);
	}
	struct chi_scan_spec *spec = &stream->spec;
	const char *cursor = params_get(&call->params, "cursor");
	int status = filter_scan(call, spec);
	status = status == CHI_OK ? params_number(&call->params, "limit", 1, UINT64_MAX, UINT64_MAX,
						  &stream->left, &call->fault)
				  : status;
	if (status == CHI_OK && cursor != NULL &&
	    chi_cursor_parse(cursor, strlen(cursor), &spec->after) != CHI_OK) {
		return chi_fail(&call->fault, -CHI_EINVAL, "cursor: no scan has given this one");
	}
	if (status == CHI_OK && spec->sort != CHI_SORT_NONE && stream->left > CHI_SORT_MAX) {
		stream->left = stream->left == UINT64_MAX ? 100 : CHI_SORT_MAX;
	}
	if (status == CHI_OK && params_flag(&call->params, "total")) {
		status = chi_scan_count(call->client, spec, &stream->total, NULL);
		status = status < 0 ? call_failed(call, status) : status;
		stream->has_total = true;
	}
	call->type = "application/x-ndjson";
	call->state = stream;
	*out = stream;
	return status;
}

static void say_end(struct call *call, const struct stream *stream, bool more)
{
	char text[CHI_CURSOR_TEXT_SIZE] = "";
	struct writer *out = &call->out;
	if (more && stream->spec.after.set && stream->spec.sort == CHI_SORT_NONE) {
		(void)chi_cursor_print(&stream->spec.after, text);
	}
	out_object(out, NULL);
	out_text(out, "next", text[0] != '\0' ? text : NULL);
	if (stream->has_total) {
		out_number(out, "total", stream->total);
	} else {
		out_null(out, "total");
	}
	out_end(out, '}');
	out_newline(out);
}

/* Rows until the part is full, the limit is reached, or there are no more: *at_end. */
static int stream_rows(struct call *call, struct stream *stream, bool *at_end)
{
	_cleanup_(chi_rows_closep) struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	bool sorted = stream->spec.sort != CHI_SORT_NONE;
	stream->spec.limit = sorted ? stream->left : 0;
	int status = chi_scan_open(call->client, &stream->spec, &iter);
	while (status == CHI_OK && stream->left > 0 &&
	       (sorted || call->out.buffer.len < PART_BYTES)) {
		status = chi_scan_next(iter, &row, NULL);
		if (status == CHI_OK) {
			say_position_row(&call->out, row);
			out_newline(&call->out);
			stream->left -= stream->left == UINT64_MAX ? 0 : 1;
			status = call_check(call);
		}
	}
	if (status < 0) {
		return call->fault.text[0] != '\0' ? status : call_failed(call, status);
	}
	*at_end = status == CHI_NONE;
	if (row != NULL && !sorted) {
		stream->spec.after = chi_rows_state(iter)->cursor;
	}
	return CHI_OK;
}

int api_scan(struct call *call)
{
	struct stream *stream = call->state;
	bool at_end = false;
	int status = stream == NULL ? begin_scan(call, &stream) : CHI_OK;
	status = status == CHI_OK ? stream_rows(call, stream, &at_end) : status;
	if (status < 0) {
		return status;
	}
	call->more = !at_end && stream->left > 0;
	if (!call->more) {
		say_end(call, stream, !at_end);
	}
	return CHI_OK;
}

/* ---- The histogram ----------------------------------------------------------------------- */

/* Bins of whole hundredths, as even as that allows, from spec's band. */
static int say_bins(struct call *call, const struct chi_scan_spec *spec, uint64_t bins)
{
	unsigned low = spec->chi2_min > 0 ? spec->chi2_min : 1;
	unsigned width = spec->chi2_max + 1u - low;
	int status = CHI_OK;
	bins = bins < width ? bins : width;
	out_array(&call->out, "bins");
	for (uint64_t i = 0; status == CHI_OK && i < bins; i++) {
		struct chi_scan_spec bin = *spec;
		uint64_t positions = 0;
		bin.chi2_min = (uint16_t)(low + width * i / bins);
		bin.chi2_max = (uint16_t)(low + width * (i + 1) / bins - 1);
		status = chi_scan_count(call->client, &bin, &positions, NULL);
		status = status < 0 ? call_failed(call, status) : call_check(call);
		out_object(&call->out, NULL);
		out_real(&call->out, "from", bin.chi2_min / 100.0, 2);
		out_real(&call->out, "to", bin.chi2_max / 100.0, 2);
		out_number(&call->out, "positions", positions);
		out_end(&call->out, '}');
	}
	out_end(&call->out, ']');
	return status;
}

int api_histogram(struct call *call)
{
	struct chi_scan_spec spec;
	struct chi_info info;
	uint64_t bins = 0;
	uint64_t unknown = 0;
	int status = filter_scan(call, &spec);
	status = status == CHI_OK ? params_number(&call->params, "bins", 1, BINS_MOST, BINS, &bins,
						  &call->fault)
				  : status;
	if (status < 0) {
		return status;
	}
	struct chi_scan_spec none = spec;
	none.chi2_min = 0;
	none.chi2_max = 0;
	status = chi_store_info(call->client, &info);
	status = status == CHI_OK ? chi_scan_count(call->client, &none, &unknown, NULL) : status;
	if (status < 0) {
		return call_failed(call, status);
	}
	out_object(&call->out, NULL);
	out_text(&call->out, "statistic", chi_statistic_name(info.statistic));
	out_number(&call->out, "unknown", unknown);
	status = spec.chi2_max > 0 ? say_bins(call, &spec, bins) : CHI_OK;
	out_end(&call->out, '}');
	return status;
}
