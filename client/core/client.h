/* SPDX-License-Identifier: MIT */
/*
 * What the public calls and the backends share: the client, and `struct chi_backend`. The
 * public calls (client.c, rows.c above) check what does not depend on where the store is;
 * so all backends get the same, checked arguments and refuse the same things with the same words.
 *
 * When a function here returns a negative status, client->error has its text or is empty; then the
 * public call puts the status' own text there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buffer.h"
#include "base/idempotency.h"
#include "chess/material.h"
#include "chistore.h"
#include "client/core/address.h"
#include "proto/msg.h"
#include "store/store.h"

struct chi_game_texts;
struct chi_peer;
struct chi_rados;
struct chi_row_pages;
struct chi_sink;

/* Bytes that one answer may take when unpacked: a response of 4 MiB with room to spare. */
#define CHI_CLIENT_BUDGET ((size_t)64 << 20)

/* CHI_ASYNC records that an in-process client gathers before it commits by itself. */
#define CHI_PENDING_MAX 100000

/* Options that name files. */
#define CHI_CLIENT_PATHS 4

/* An answer in many responses, on its way (client/remote/stream.h). */
struct chi_stream {
	uint64_t id;	   /* of the request; 0: over */
	uint32_t consumed; /* responses used up for which no credit was given yet */
	bool held;	   /* the response at hand is another one */
};

struct chi_inproc {
	struct chi_dir *store;
	struct chi_write *write;      /* open while CHI_ASYNC records are pending, else NULL */
	uint64_t pending;	      /* records acknowledged in it */
	struct chi_game_texts *texts; /* NULL until used */
};

struct chi_backend {
	/* NULL: stores are not made through it. */
	int (*create)(struct chi_client *client, enum chi_statistic statistic, enum chi_keep keep);
	int (*open)(struct chi_client *client);
	void (*close)(struct chi_client *client); /* also after a failed open */
	int (*ping)(struct chi_client *client);
	/* Makes what CHI_ASYNC left open visible to what follows: before all calls below but
	 * writes. */
	int (*settle)(struct chi_client *client);
	int (*changed)(struct chi_client *client, bool *changed);
	int (*probe)(struct chi_client *client, const struct chi_key *keys, size_t n,
		     struct chi_row *rows);
	int (*get)(struct chi_client *client, const struct chi_key *key, struct chi_record *out);
	int (*get_many)(struct chi_client *client, const struct chi_key *keys, size_t n,
			chi_get_each *each, void *context);
	int (*put)(struct chi_client *client, const struct chi_put_entry *entries, size_t n,
		   enum chi_durability durability, struct chi_put_result *result);
	int (*del)(struct chi_client *client, const struct chi_key *keys, size_t n,
		   enum chi_durability durability, uint64_t *deleted);
	/* Queries (client/core/pages.h): a page of rows after the other, or all. The request is in
	 * rows->arena. After a failure of rows_more the page at hand has the rows before it. */
	int (*rows_open)(struct chi_client *client, struct chi_row_pages *rows,
			 const struct chi_request *request);
	int (*rows_more)(struct chi_client *client, struct chi_row_pages *rows);
	void (*rows_close)(struct chi_client *client,
			   struct chi_row_pages *rows); /* opened or not */
	int (*rows_all)(struct chi_client *client, struct chi_row_pages *rows,
			const struct chi_request *request, void *out);
	/* What is answered at once (ops/answer.h), and changes (ops/change.h): into the operation's
	 * own result. */
	int (*call)(struct chi_client *client, const struct chi_request *request, void *out);
	int (*flush)(struct chi_client *client);
	/* A backup, a verification (ops/answer.h). A copy's file is begun again where need be. */
	int (*bytes)(struct chi_client *client, enum chi_op op, const struct chi_sink *sink,
		     void *result);
	/* In place; NULL: not so. */
	int (*repair)(struct chi_client *client, chi_verify_report *report, void *context,
		      struct chi_repair_result *result);
};

/* A directory in this process, a server, and objects of a Ceph cluster. */
extern const struct chi_backend chi_backend_inproc;
extern const struct chi_backend chi_backend_remote;
extern const struct chi_backend chi_backend_rados;

/* Names in the filter of games of the call at hand that no name in the store fits; what has no room
 * here was not in a filter. */
struct chi_unknown {
	size_t n;
	size_t used; /* of the texts; CHI_UNKNOWN_OLD: these are of a call before */
	bool half;
	const char *names[CHI_UNKNOWN_MAX];
	char texts[2][CHI_FILTER_MAX + CHI_UNKNOWN_MAX];
};

#define CHI_UNKNOWN_OLD SIZE_MAX

/* What the pointers of an answer lead to. */
struct chi_answer_memory {
	struct chi_arena arena;
	struct chi_arena gathered; /* remote: of an answer in many responses */
};

struct chi_client {
	const struct chi_backend *backend;
	char *text; /* the address as given */
	struct chi_address address;
	struct chi_options options; /* defaults filled in; its texts are those below */
	char store[CHI_STORE_NAME_MAX + 1];
	char name[CHI_CLIENT_NAME_MAX + 1];
	char *paths[CHI_CLIENT_PATHS]; /* of files that the options name; NULL: none */
	struct chi_fault error;
	/* A call works in one, which is empty when it begins; the other has the last answer, of
	 * which the call's arguments may be. They change places when a call has returned another
	 * answer. */
	struct chi_answer_memory answers[2];
	struct chi_answer_memory *answer; /* of the call that runs */
	struct chi_unknown unknown;
	struct chi_rows *rows;	/* the open scan or query of games, or NULL */
	enum chi_op rows_op;	/* which of them */
	bool in_next;		/* their next page is on its way */
	unsigned uses;		/* calls that run, and one if a walk or query is open */
	bool closing;		/* a callback has closed it */
	chi_progress *progress; /* or NULL */
	void *progress_context;
	struct chi_inproc inproc;
	struct chi_peer *peer;		       /* remote: the connection; else NULL */
	struct chi_rados *rados;	       /* on RADOS; else NULL */
	uint8_t opened[CHI_IDEMPOTENCY_STORE]; /* remote: the store's uuid when it was opened */
	uint64_t newest;      /* remote: the highest sequence number of it that was seen */
	uint32_t deadline_ms; /* remote: a call ends so long after it began; 0: when it has to */
};

/* One without a backend, and its end once the backend's is closed. NULL: no memory. */
struct chi_client *chi_client_new(void);
void chi_client_free(struct chi_client *client);

/*
 * Every public call but those of an open walk or query starts here: forgets the last error.
 * -CHI_EBUSY, and nothing has changed, while a walk or a
 * query is open or another call runs, whose callback this one was made in.
 */
CHI_MUSTUSE int chi_client_begin(struct chi_client *client);

/* Goes on, unless `status` is a failure, by settling: a client sees what it has written. */
CHI_MUSTUSE int chi_client_settle(struct chi_client *client, int status);

/* Whether a store of this kind can answer such a request, as far as is known here: a server says it
 * itself. */
CHI_MUSTUSE int chi_client_can(struct chi_client *client, const struct chi_request *request);

/* As chi_client_settle, if it can. Of an operation whose row alone says it. */
CHI_MUSTUSE int chi_client_ready(struct chi_client *client, int status, enum chi_op op);

/* What chi_on_progress asked for: CHI_OK, or -CHI_ECANCELED. */
CHI_MUSTUSE int chi_client_tell_progress(struct chi_client *client, unsigned thousandths);

/* Whether a call has called back, which other calls have to wait for. */
bool chi_client_is_running(const struct chi_client *client);

/* A failure without a text gets one. Returns `status`. */
int chi_client_fail(struct chi_client *client, int status);

/* Each ends here, also one that was refused. Returns `status`; the client may be gone. */
int chi_client_end(struct chi_client *client, int status);

/* What begin took, and an open walk or query until it is closed: the memory is emptied after the
 * last one, and the client may be gone. */
void chi_client_release(struct chi_client *client);

/* As chi_client_end, of a call that returns pointers: CHI_OK ends the life of the answer before. */
int chi_client_answer(struct chi_client *client, int status);

/*
 * A struct of the caller's, which begins with its size, as this library knows it: what is not there
 * is zero, and `size` is ours. -CHI_EINVAL: it has none; -CHI_EUNSUPPORTED: it asks for what is not
 * known here. `name` is what it was
 * given as.
 */
CHI_MUSTUSE int chi_take_sized(void *out, size_t size, const void *given, const char *name,
			       struct chi_fault *fault);
/* The same where a call begins. */
CHI_MUSTUSE int chi_client_begin_with(struct chi_client *client, void *out, size_t size,
				      const void *given, const char *name);
#define CHI_BEGIN_WITH(client, out, given)                                                         \
	chi_client_begin_with((client), (out), sizeof(*(out)), (1 ? (given) : (out)), #given)
#define CHI_TAKE_SIZED(out, given, fault)                                                          \
	chi_take_sized((out), sizeof(*(out)), (1 ? (given) : (out)), #given, (fault))

/* Checks keys and sizes that came from the caller: -CHI_EKEY or -CHI_ETOOBIG name the entry. */
CHI_MUSTUSE int chi_client_check_keys(const struct chi_key *keys, size_t n,
				      struct chi_fault *fault);
CHI_MUSTUSE int chi_client_check_batch(struct chi_client *client, size_t n,
				       enum chi_durability durability);
CHI_MUSTUSE int chi_client_check_put(struct chi_client *client, const struct chi_put_entry *entries,
				     size_t n, enum chi_durability durability);

/* Remembers a copy of a name for chi_unknown_name; without a name forgets all. */
void chi_client_tell_unknown(struct chi_client *client, const char *name);
