/* SPDX-License-Identifier: MIT */
/* Walks over a socket. */
#include "client/remote/remote.h"

#include "base/fault.h"
#include "client/remote/repeat.h"
#include "client/remote/stream.h"

void chi_remote_set_spec(struct chi_request *request, const struct chi_scan_spec *spec,
			 char material[CHI_MATERIAL_TEXT_SIZE])
{
	request->u.scan.spec = *spec;
	if (spec->filter.has_material) {
		size_t len = chi_material_print(&spec->filter.material, material);
		request->u.scan.spec.filter.has_material = false;
		request->u.scan.material = (struct chi_text){.bytes = material, .len = len};
	}
}

int chi_remote_credit(struct chi_client *client, uint64_t id, uint32_t responses)
{
	struct chi_request credit = {.op = CHI_OP_CREDIT, .id = id, .u.credit = {responses}};
	return chi_peer_send(client, &credit);
}

/* Asks for the rows after those that were delivered. */
static int ask_rows(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_request request = {.op = CHI_OP_SCAN};
	struct chi_scan_spec spec = iter->spec;
	char material[CHI_MATERIAL_TEXT_SIZE];
	if (iter->delivered > 0) {
		spec.after = iter->cursor;
		spec.limit -= spec.limit > 0 ? iter->delivered : 0;
	}
	chi_remote_set_spec(&request, &spec, material);
	request.u.scan.window = CHI_WINDOW_DEFAULT;
	return chi_stream_begin(client, &iter->stream, &request);
}

static int receive_block(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_response response;
	int status = chi_stream_next(client, &iter->stream, CHI_OP_SCAN, &response);
	if (status < 0) {
		return status;
	}
	/* An empty block need not have the kind. */
	if (response.u.scan.want != iter->spec.want && response.u.scan.n > 0) {
		iter->stream.id = 0;
		return chi_peer_fail(client, -CHI_EPROTO, "rows of another kind came");
	}
	iter->n = response.u.scan.n;
	bool records = iter->spec.want == CHI_WANT_RECORDS;
	iter->entries = records ? response.u.scan.entries : NULL;
	iter->rows = records ? NULL : response.u.scan.rows;
	iter->mixed = iter->mixed || response.u.scan.mixed;
	return status;
}

/* With a filter of games the first response is waited for: it says what is wrong with it. */
int chi_remote_scan_open(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	do {
		status = ask_rows(client, iter);
		if (status == CHI_OK && iter->games != NULL) {
			status = receive_block(client, iter);
		}
	} while (chi_repeat_again(client, &repeat, status));
	iter->status = status;
	return status == CHI_NONE ? CHI_OK : status;
}

/* Over a new connection the walk goes on from another snapshot than it began with, and says so. */
static int resume(struct chi_client *client, struct chi_iter *iter)
{
	/* All were delivered, and only word of it was lost. */
	if (iter->spec.limit > 0 && iter->delivered == iter->spec.limit) {
		return CHI_NONE;
	}
	int status = ask_rows(client, iter);
	if (status == CHI_OK) {
		iter->mixed = iter->mixed || iter->delivered > 0;
		status = receive_block(client, iter);
	}
	return status;
}

int chi_remote_scan_more(struct chi_client *client, struct chi_iter *iter)
{
	struct chi_repeat repeat = {0};
	int status = receive_block(client, iter);
	/* No cursor goes on after the rows of a sorted walk. */
	bool resumable = iter->spec.sort == CHI_SORT_NONE || iter->delivered == 0;
	while (resumable && chi_repeat_again(client, &repeat, status)) {
		status = resume(client, iter);
	}
	return status;
}

void chi_remote_scan_close(struct chi_client *client, struct chi_iter *iter)
{
	chi_stream_cancel(client, &iter->stream);
}
