/* SPDX-License-Identifier: MIT */
#include "daemon/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fault.h"
#include "daemon/server.h"
#include "daemon/verifier.h"
#include "daemon/ops/verify.h"
#include "store/store.h"

/* Longer lines, of which the last one is none, come in parts. */
#define LINE_SIZE 1024

/* What is kept of one, to say why there is no verdict. */
#define SAID_SIZE 160

/* What the child prints, to its end; true if the numbers were there. `said`: its last line; *found:
 * the damages. */
static bool read_output(int fd, struct chi_verify_result *result, uint64_t *found,
			char said[SAID_SIZE])
{
	char bytes[LINE_SIZE];
	char line[LINE_SIZE];
	size_t len = 0;
	bool there = false;
	ssize_t n;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)) {
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] == '\n' || len == sizeof(line)) {
				bool last = chi_verify_parse(line, len, result);
				there = there || last;
				*found += !last;
				(void)snprintf(said, SAID_SIZE, "%.*s", (int)len, line);
				len = 0;
			}
			if (bytes[i] != '\n') {
				line[len++] = bytes[i];
			}
		}
	}
	close(fd);
	return there;
}

static void *run(void *context)
{
	struct chi_inspection *inspection = context;
	struct chi_verify_result result = {0};
	char text[CHI_VERDICT_SIZE];
	char said[SAID_SIZE] = "";
	uint64_t found = 0;
	int how = -1;
	ssize_t n;
	bool there = read_output(inspection->output, &result, &found, said);
	do {
		n = recv(inspection->control, &how, sizeof(how), 0);
	} while (n < 0 && errno == EINTR);
	int status = chi_verify_verdict(n == sizeof(how) ? how : -1, there ? &result : NULL, found,
					text);
	inspection->status = status == -CHI_ECORRUPT ? chi_compact_refuse(text, &inspection->fault)
			     : status < 0
				     ? chi_fault(&inspection->fault, status, "%s (%s)", text, said)
				     : CHI_OK;
	inspection->ended(inspection->context);
	return NULL;
}

static int pass_on(struct chi_inspection *inspection, int output[2], int control[2],
		   struct chi_fault *fault)
{
	const struct chi_served *served = inspection->served;
	int status = chi_verifier_begin(served->server->verifier, served->index, output[1],
					control[1], fault);
	close(output[1]);
	close(control[1]);
	int error =
		status == CHI_OK ? pthread_create(&inspection->thread, NULL, run, inspection) : 0;
	if (error != 0) {
		status =
			chi_fault(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	if (status < 0) {
		/* Which kills a child that was started. */
		close(control[0]);
		close(output[0]);
	}
	return status;
}

static int start(struct chi_inspection *inspection, struct chi_fault *fault)
{
	int output[2];
	int control[2];
	if (pipe2(output, O_CLOEXEC) < 0) {
		return chi_fault(fault, -CHI_EBUSY, "cannot make a pipe (%s)", strerror(errno));
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) < 0) {
		int error = errno;
		close(output[0]);
		close(output[1]);
		return chi_fault(fault, -CHI_EBUSY, "cannot make a socket (%s)", strerror(error));
	}
	inspection->output = output[0];
	inspection->control = control[0];
	return pass_on(inspection, output, control, fault);
}

int chi_inspection_begin(struct chi_inspection *inspection, struct chi_served *served,
			 void (*ended)(void *context), void *context, struct chi_fault *fault)
{
	*inspection = (struct chi_inspection){.served = served, .ended = ended, .context = context};
	if (!chi_server_task_begin(served->server)) {
		return chi_fault(fault, -CHI_EBUSY,
				 "%d backups and verifications are running already", CHI_TASKS_MAX);
	}
	int status = start(inspection, fault);
	if (status < 0) {
		chi_server_task_end(served->server);
	}
	inspection->running = status == CHI_OK;
	return status;
}

int chi_inspection_end(struct chi_inspection *inspection, struct chi_fault *fault)
{
	pthread_join(inspection->thread, NULL);
	close(inspection->control);
	chi_server_task_end(inspection->served->server);
	inspection->running = false;
	*fault = inspection->fault;
	return inspection->status;
}

void chi_inspection_cancel(struct chi_inspection *inspection)
{
	struct chi_fault unwanted;
	if (inspection->running) {
		shutdown(inspection->control, SHUT_WR);
		int status = chi_inspection_end(inspection, &unwanted);
		(void)status;
	}
}
