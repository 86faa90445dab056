/* SPDX-License-Identifier: MIT */
/* The calls over a socket: opening, and work on the store as a whole. */
#include "client/remote/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "client/remote/repeat.h"
#include "client/remote/stream.h"
#include "ops/answer.h"

/* Connects at once, so that a wrong address or store name is known when it is opened. */
static int open_peer(struct chi_client *client)
{
	client->peer = malloc(sizeof(*client->peer));
	if (client->peer == NULL) {
		return -CHI_ENOMEM;
	}
	chi_peer_init(client->peer);
	int status = chi_peer_ready(client);
	if (status == CHI_OK) {
		memcpy(client->opened, client->peer->uuid, sizeof(client->opened));
		client->newest = client->peer->sequence;
	}
	return status;
}

static int ping(struct chi_client *client)
{
	struct chi_request request = {.op = CHI_OP_PING};
	struct chi_response response;
	int status = chi_peer_ready(client);
	return status == CHI_OK ? chi_peer_ask(client, &request, &response) : status;
}

/* A copy has its original's uuid, but stays behind: a restored one has seen fewer commits. */
static int changed(struct chi_client *client, bool *out)
{
	const struct chi_request request = {.op = CHI_OP_INFO};
	struct chi_info found;
	int status = chi_remote_call(client, &request, &found);
	if (status != CHI_OK) {
		return status;
	}
	*out = memcmp(found.uuid, client->opened, sizeof(client->opened)) != 0 ||
	       found.sequence < client->newest;
	client->newest = found.sequence > client->newest ? found.sequence : client->newest;
	return CHI_OK;
}

/* A signal or a nearly full disk may leave a part unwritten. */
static int write_all(const struct chi_sink *sink, const uint8_t *bytes, size_t len,
		     struct chi_fault *fault)
{
	while (len > 0) {
		ssize_t n = write(sink->fd, bytes, len);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			char buffer[96];
			return chi_fail(fault, chi_fault_errno(errno),
					"cannot write the copy '%s' (%s)", sink->path,
					strerror_r(errno, buffer, sizeof(buffer)));
		}
		bytes += n;
		len -= (size_t)n;
	}
	return CHI_OK;
}

/* After a failure on this side the server goes on sending: the connection is closed then. */
static int take_piece(struct chi_client *client, const struct chi_whole_part *piece,
		      const struct chi_sink *sink, bool *told)
{
	int status = write_all(sink, piece->data, piece->len, &client->error);
	if (status != CHI_OK) {
		chi_peer_close(client);
	} else if (piece->report.len > 0 && sink->report != NULL) {
		*told = true;
		sink->report(sink->context, piece->report.bytes);
	}
	return status;
}

static int receive_bytes(struct chi_client *client, enum chi_op op, const struct chi_sink *sink,
			 struct chi_response *response, bool *told)
{
	struct chi_request request = {.op = op, .window = CHI_WINDOW_DEFAULT};
	struct chi_stream stream;
	int status = chi_stream_begin(client, &stream, &request);
	while (status == CHI_OK) {
		status = chi_stream_next(client, &stream, op, response);
		int taken = status >= 0 ? take_piece(client, response->body, sink, told) : status;
		status = taken < 0 ? taken : status;
	}
	return status == CHI_NONE ? CHI_OK : status;
}

/* From the beginning: another snapshot has other pages. What has been told cannot be taken back,
 * and another run may tell it again. */
static int bytes(struct chi_client *client, enum chi_op op, const struct chi_sink *sink,
		 void *result)
{
	struct chi_response response = {.last = false};
	struct chi_repeat repeat = {0};
	bool told = false;
	int status = CHI_OK;
	do {
		status = op != CHI_OP_BACKUP || (ftruncate(sink->fd, 0) == 0 &&
						 lseek(sink->fd, 0, SEEK_SET) == 0)
				 ? receive_bytes(client, op, sink, &response, &told)
				 : chi_fail(&client->error, -CHI_EIO, "cannot write the copy '%s'",
					    sink->path);
	} while (!told && chi_repeat_again(client, &repeat, status));
	/* A server that answers "corrupt" may still give the numbers. */
	bool whole = status == CHI_OK || status == -CHI_ECORRUPT;
	if (whole && op == CHI_OP_VERIFY && response.op == op) {
		const struct chi_whole_part *last = response.body;
		memcpy(result, &last->result, sizeof(last->result));
		status = status == CHI_OK && last->result.errors > 0 ? -CHI_ECORRUPT : status;
	}
	return status;
}

const struct chi_backend chi_backend_remote = {
	.open = open_peer,
	.close = chi_peer_free,
	.ping = ping,
	.settle = chi_remote_settle,
	.changed = changed,
	.probe = chi_remote_probe,
	.get = chi_remote_get,
	.get_many = chi_remote_get_many,
	.put = chi_remote_put,
	.del = chi_remote_del,
	.rows_open = chi_remote_rows_open,
	.rows_more = chi_remote_rows_more,
	.rows_close = chi_remote_rows_close,
	.rows_all = chi_remote_rows_all,
	.call = chi_remote_call,
	.flush = chi_remote_flush,
	.bytes = bytes,
};
