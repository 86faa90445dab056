/* SPDX-License-Identifier: MIT */
/* The calls over a socket: opening, and work on the store as a whole. */
#include "client/remote/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "client/remote/repeat.h"

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

int chi_remote_credit(struct chi_client *client, uint64_t id, uint32_t responses)
{
	struct chi_request credit = {.op = CHI_OP_CREDIT, .id = id, .u.credit = {responses}};
	return chi_peer_send(client, &credit);
}

/* Makes ready for a request that may take the server long, and sends it. */
static int start_long(struct chi_client *client, struct chi_request *request)
{
	int status = chi_peer_ready(client);
	if (status == CHI_OK) {
		client->peer->patient = true;
		request->id = chi_peer_next_id(client);
		status = chi_peer_send(client, request);
	}
	return status;
}

static int verify(struct chi_client *client, chi_verify_report *report, void *context,
		  struct chi_verify_result *result)
{
	struct chi_request request = {.op = CHI_OP_VERIFY};
	struct chi_response response;
	struct chi_repeat repeat = {0};
	int status = CHI_OK;
	bool told = false;
	/* What has been told cannot be taken back, and another run may tell it again. */
	do {
		response = (struct chi_response){.last = false};
		status = start_long(client, &request);
		while (status == CHI_OK && !response.last) {
			status = chi_peer_answer(client, request.id, CHI_OP_VERIFY, &response);
			if (status == CHI_OK && response.u.verify.report.len > 0 &&
			    report != NULL) {
				told = true;
				report(context, response.u.verify.report.bytes);
			}
		}
	} while (!told && chi_repeat_again(client, &repeat, status));
	/* A server that answers "corrupt" may still give the numbers. */
	if ((status == CHI_OK || status == -CHI_ECORRUPT) && response.op == CHI_OP_VERIFY) {
		*result = response.u.verify.result;
	}
	if (status == -CHI_ECORRUPT) {
		/* The public call words it alike for every address. */
		client->error.text[0] = '\0';
	}
	return status == CHI_OK && result->errors > 0 ? -CHI_ECORRUPT : status;
}

/* A signal or a nearly full disk may leave a part unwritten. */
static int write_all(int fd, const char *path, const uint8_t *bytes, size_t len,
		     struct chi_fault *fault)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);
		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			char buffer[96];
			return chi_fault(fault, chi_fault_errno(errno),
					 "cannot write the copy '%s' (%s)", path,
					 strerror_r(errno, buffer, sizeof(buffer)));
		}
		bytes += n;
		len -= (size_t)n;
	}
	return CHI_OK;
}

/* Receives the data file's bytes. After a failure on this side the server goes on sending: the
 * connection is closed then. */
static int receive_copy(struct chi_client *client, const char *path, int fd)
{
	struct chi_request request = {.op = CHI_OP_BACKUP, .u.backup = {CHI_WINDOW_DEFAULT}};
	struct chi_response response = {.last = false};
	int status = start_long(client, &request);
	while (status == CHI_OK && !response.last) {
		status = chi_peer_answer(client, request.id, CHI_OP_BACKUP, &response);
		if (status != CHI_OK) {
			break;
		}
		status = write_all(fd, path, response.u.backup.data, response.u.backup.len,
				   &client->error);
		/* One for one: the next piece is on its way while this one is written. */
		if (status == CHI_OK && !response.last) {
			status = chi_remote_credit(client, request.id, 1);
		}
		if (status != CHI_OK) {
			chi_peer_close(client);
		}
	}
	return status;
}

/* The bytes go into a hidden directory beside `path`, which gets that name only when all are there
 * and the stamp is right. */
static int backup(struct chi_client *client, const char *path, bool publish)
{
	struct chi_copy *copy = NULL;
	int fd = -1;
	int status = publish ? chi_publish_begin(path, &copy, &fd, &client->error)
			     : chi_copy_begin(path, &copy, &fd, &client->error);
	if (status != CHI_OK) {
		return status;
	}
	struct chi_repeat repeat = {0};
	/* From the beginning: another snapshot has other pages. */
	do {
		status = ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0
				 ? receive_copy(client, path, fd)
				 : chi_fault(&client->error, -CHI_EIO, "cannot write the copy '%s'",
					     path);
	} while (chi_repeat_again(client, &repeat, status));
	if (status != CHI_OK) {
		chi_copy_abandon(copy);
		return status;
	}
	return chi_copy_finish(copy, &client->error);
}

/* Compact and Rescore do no harm when repeated: they carry no mark. */
static int compact(struct chi_client *client, uint64_t *before, uint64_t *after)
{
	struct chi_request request = {.op = CHI_OP_COMPACT};
	struct chi_response response;
	int status = chi_peer_doubt(client, chi_repeat_call(client, &request, &response));
	if (status == CHI_OK) {
		const struct chi_compacted *done = response.body;
		*before = done->before;
		*after = done->after;
	}
	return status;
}

static int rescore(struct chi_client *client, const struct chi_counts *base, uint64_t *changed)
{
	const struct chi_rescore_request asked = {base};
	struct chi_request request = {.op = CHI_OP_RESCORE, .body = &asked};
	struct chi_response response;
	int status = chi_peer_doubt(client, chi_repeat_call(client, &request, &response));
	if (status == CHI_OK) {
		*changed = ((const struct chi_affected *)response.body)->n;
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
	.verify = verify,
	.backup = backup,
	.compact = compact,
	.rescore = rescore,
	.search = chi_remote_search,
};
