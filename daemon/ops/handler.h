/* SPDX-License-Identifier: MIT */
/*
 * The operations. A handler answers, or starts what will answer, and returns CHI_OK; or it
 * returns a negative status with field and fault filled, and the dispatcher answers with that.
 */
#pragma once

#include "base/attr.h"
#include "chistore/types.h"
#include "daemon/net/net.h"
#include "proto/msg.h"

struct chi_served_copy;
struct chi_job;
struct chi_served;
struct chi_worker_ops;

/* A request being served. */
struct chi_task {
	struct chi_worker *worker;
	struct chi_conn *conn;
	struct chi_request *request;
	const uint8_t *body; /* its message */
	size_t len;
	struct chi_served *served;    /* NULL for operations that concern no store */
	struct chi_served_copy *copy; /* of it, on which the request is served */
	const char *field; /* of the request, at fault; in the worker's arena or static */
	struct chi_fault fault;
};

typedef int chi_handler(struct chi_task *task);

chi_handler chi_handle_hello, chi_handle_ping;	       /* handler_hello.c */
chi_handler chi_handle_whole;			       /* handler_write.c */
chi_handler chi_handle_credit, chi_handle_cancel;      /* dispatch.c */
chi_handler chi_handle_outcome;			       /* handler_write.c */
chi_handler chi_handle_check_disk;		       /* handler_write.c */
chi_handler chi_handle_import, chi_handle_import_data; /* handler_import.c */
chi_handler chi_handle_import_end;		       /* handler_import.c */
chi_handler chi_handle_piped;			       /* pipe_task.c */
chi_handler chi_handle_query;			       /* query.c */
chi_handler chi_handle_answer;			       /* answer.c */

chi_handler chi_handle_change; /* change.c */

/* Names the field at fault, printf-like, in the worker's arena. Returns `status`. */
CHI_PRINTF(3, 4)
int chi_task_field(struct chi_task *task, int status, const char *format, ...);

/* The same of a field of its operation: "" is the operation itself, NULL none. */
int chi_task_name_field(struct chi_task *task, int status, const char *field);

/* The request with its memory, which is the worker's, unless that is much for a small one: large
 * requests have left it, and a query or a write may last. `arena` is to be freed also on failure.
 */
CHI_MUSTUSE int chi_task_take_request(struct chi_task *task, struct chi_arena *arena,
				      struct chi_request *out);

/* What connections and workers have done here (dispatch.c). */
extern const struct chi_worker_ops chi_worker_ops;

/* A write for the store's writer, which the client is answered for by mail (handler_write.c). NULL
 * without memory. */
struct chi_job *chi_handler_job(const struct chi_conn *conn, uint64_t id, enum chi_op op,
				const struct chi_idempotency_key *idempotency_key);

/* Queues it, and registers the request as in flight; frees it if that fails. */
CHI_MUSTUSE int chi_handler_queue(struct chi_conn *conn, struct chi_served *served,
				  struct chi_job *job, struct chi_fault *fault);
