/* SPDX-License-Identifier: MIT */
/*
 * Import, ImportData, ImportEnd: a client sends games for minutes, a thread of its own reads them
 * beside everything else and commits them in one go at the end, when it is its turn to write to the
 * store. Until then nothing has happened to the store, and an import that is given up leaves it as
 * it was.
 *
 *    worker                            the import's thread
 *    ------                            -------------------
 *    Import: starts the thread  -----> feeds what comes
 *    ImportData: into the queue -----> ...
 *    <------- mail: room, notes ------ ...
 *    ImportEnd: the queue's end -----> waits for its turn among the store's writes, commits
 *    <------- mail: progress --------- ...
 *    <------- mail: the result ------- ends
 *    joins the thread, answers
 *
 * The thread and those it starts run with a lower priority than all others, so that probes are
 * answered first. The store's writer waits while it commits, and its queue fills.
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "base/clock.h"
#include "service/events.h"
#include "daemon/settings/limits.h"
#include "daemon/net/net.h"
#include "daemon/ops/handler.h"
#include "daemon/net/server.h"
#include "service/log.h"
#include "import/importer.h"
#include "store/store.h"

/* Added to the nice value: the kernel gives a thread so much less about a tenth of the time. */
#define IMPORT_NICE 10

/* Data is granted again in pieces of this size, so that answers are few. */
#define CREDIT_STEP (CHI_IMPORT_CREDIT / 4)

/* How often a client hears of the storing. */
#define PROGRESS_MS 1000

/* Bytes of all notes' texts. */
#define NOTES_BUDGET ((size_t)CHI_IMPORT_NOTES_MAX * (CHI_IMPORT_FILE_MAX + CHI_NOTE_TEXT_MAX + 32))

/* What one ImportData brought. */
struct chunk {
	struct chunk *next;
	const char *file; /* of the new input, after the bytes; NULL: the input goes on */
	size_t len;
	size_t size; /* of all of it */
	uint8_t bytes[];
};

struct import {
	/* The worker's. */
	struct chi_call call; /* conn is NULL once the client has gone or given up */
	struct chi_worker *worker;
	struct event *idle; /* the client has sent nothing for too long */
	pthread_t thread;
	char client[CHI_CLIENT_NAME_MAX + 1]; /* for the log, as the next two */
	struct chi_conn_name connection;
	int64_t began;			    /* ms */
	uint64_t granted;		    /* what the client may still send */
	bool ended;			    /* ImportEnd has come */
	char file[CHI_IMPORT_FILE_MAX + 1]; /* of an input whose first data has not come; "" */
	size_t n_told;			    /* of the notes */

	/* Do not change while the thread runs. */
	struct chi_served *served;
	struct chi_import_options options;
	char filter[CHI_FILTER_MAX + 1]; /* of the options */

	struct chi_import_session session;

	/* The thread's. */
	struct chi_arena texts; /* of the notes */
	int64_t progressed;	/* ms: when progress was noted last */

	/* Under the lock, but for `cancel`, which is atomic. */
	pthread_mutex_t lock; /* taken before a mailbox's */
	pthread_cond_t changed;
	struct chi_mail mail; /* from the thread */
	bool mailed;	      /* it is on its way */
	volatile int cancel;
	bool no_more; /* nothing follows what is queued */
	struct chunk *first;
	struct chunk **last;
	uint64_t consumed; /* what was read since the client was last granted more */
	char phase[CHI_IMPORT_PHASE_MAX + 1]; /* what it is at; "" if the worker has it */
	uint64_t done;			      /* of `total`; 0: not known */
	uint64_t total;
	bool over; /* the thread is ending, and status, fault and result are set */
	int status;
	struct chi_fault fault;
	struct chi_import_result result;
	uint64_t more_notes; /* that found no place */
	size_t n_notes;
	struct chi_import_note notes[CHI_IMPORT_NOTES_MAX]; /* the first n_notes do not change */
};

/* ---- The queue --------------------------------------------------------------------------- */

static void free_chunk(struct import *import, struct chunk *chunk)
{
	atomic_fetch_sub(&import->served->server->buffered, chunk->size);
	free(chunk);
}

/* Under the lock. The worker takes all there is to tell at once, so one mail suffices. */
static void post(struct import *import)
{
	if (!import->mailed) {
		import->mailed = true;
		chi_loop_post(&import->worker->loop, &import->mail);
	}
}

/* Gives room back to the client, by and by. */
static void give_back(struct import *import, uint64_t cost)
{
	pthread_mutex_lock(&import->lock);
	import->consumed += cost;
	if (import->consumed >= CREDIT_STEP) {
		post(import);
	}
	pthread_mutex_unlock(&import->lock);
}

/* A name waits for its input's first data, and holds no place in the queue. */
static int push_bytes(struct import *import, const struct chi_text *file, const void *bytes,
		      size_t len)
{
	if (file->len > 0) {
		memcpy(import->file, file->bytes, file->len);
		import->file[file->len] = '\0';
	}
	if (len == 0) {
		give_back(import, CHI_IMPORT_OVERHEAD);
		return CHI_OK;
	}
	size_t name_size = import->file[0] != '\0' ? strlen(import->file) + 1 : 0;
	size_t size = sizeof(struct chunk) + len + name_size;
	struct chunk *chunk = malloc(size);
	if (chunk == NULL) {
		return -CHI_ENOMEM;
	}
	*chunk = (struct chunk){.len = len, .size = size};
	memcpy(chunk->bytes, bytes, len);
	if (name_size > 0) {
		chunk->file = memcpy(chunk->bytes + len, import->file, name_size);
		import->file[0] = '\0';
	}
	atomic_fetch_add(&import->served->server->buffered, size);
	pthread_mutex_lock(&import->lock);
	*import->last = chunk;
	import->last = &chunk->next;
	pthread_cond_broadcast(&import->changed);
	pthread_mutex_unlock(&import->lock);
	return CHI_OK;
}

/* The thread gives up as soon as it can, at any stage. */
static void cancel(struct import *import)
{
	pthread_mutex_lock(&import->lock);
	__atomic_store_n(&import->cancel, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&import->changed);
	pthread_mutex_unlock(&import->lock);
}

/* ---- The thread -------------------------------------------------------------------------- */

/* The next piece; NULL at the end, and when there is no point in going on. */
static struct chunk *take_chunk(struct import *import)
{
	pthread_mutex_lock(&import->lock);
	while (import->first == NULL && !import->no_more && import->cancel == 0) {
		pthread_cond_wait(&import->changed, &import->lock);
	}
	struct chunk *chunk = import->cancel == 0 ? import->first : NULL;
	if (chunk != NULL) {
		import->first = chunk->next;
		import->last = chunk->next == NULL ? &import->first : import->last;
	}
	pthread_mutex_unlock(&import->lock);
	return chunk;
}

static int feed_all(struct import *import, struct chi_importer *importer, struct chi_fault *fault)
{
	int status = CHI_OK;
	struct chunk *chunk = NULL;
	while (status == CHI_OK && (chunk = take_chunk(import)) != NULL) {
		uint64_t cost = CHI_IMPORT_OVERHEAD + chunk->len;
		if (chunk->file != NULL) {
			status = chi_importer_file(importer, chunk->file, fault);
		}
		if (status == CHI_OK) {
			status = chi_importer_feed(importer, chunk->bytes, chunk->len, fault);
		}
		free_chunk(import, chunk);
		give_back(import, cost);
	}
	return status;
}

/* A text on the wire is UTF-8; one that is not loses what is beyond ASCII. */
static void copy_text(char *to, const char *from, size_t len)
{
	memcpy(to, from, len);
	to[len] = '\0';
	if (!chi_utf8_valid(to, len)) {
		for (size_t i = 0; i < len; i++) {
			to[i] = (unsigned char)to[i] < 0x80 ? to[i] : '?';
		}
	}
}

/* chi_import_report: while it feeds or commits. A note that finds no memory is missing; the totals
 * count its game all the same. The last place is kept for report_more. */
static void send_note(void *context, const struct chi_import_note *note)
{
	struct import *import = context;
	size_t file_len = strnlen(note->file, CHI_IMPORT_FILE_MAX);
	size_t text_len = strnlen(note->text, CHI_NOTE_TEXT_MAX);
	if (import->n_notes + (note->line != 0) >= CHI_IMPORT_NOTES_MAX) {
		import->more_notes++;
		return;
	}
	char *file = chi_arena_alloc(&import->texts, file_len + text_len + 2);
	if (file == NULL) {
		return;
	}
	copy_text(file, note->file, file_len);
	copy_text(file + file_len + 1, note->text, text_len);
	pthread_mutex_lock(&import->lock);
	import->notes[import->n_notes++] =
		(struct chi_import_note){file, note->game, note->line, file + file_len + 1};
	post(import);
	pthread_mutex_unlock(&import->lock);
}

static void report_more(struct import *import)
{
	char text[80];
	(void)snprintf(text, sizeof(text), "%" PRIu64 " more remarks; the server sends no more",
		       import->more_notes);
	if (import->more_notes > 0) {
		send_note(import, &(struct chi_import_note){.file = "", .text = text});
	}
}

/* chi_import_progress: while it commits. Told so seldom that a client which is not looking has
 * minutes until its socket is full. */
static void progressed(void *context, const char *phase, uint64_t done, uint64_t total)
{
	struct import *import = context;
	int64_t now = chi_now_ms();
	if (now - import->progressed < PROGRESS_MS) {
		return;
	}
	import->progressed = now;
	pthread_mutex_lock(&import->lock);
	copy_text(import->phase, phase, strnlen(phase, CHI_IMPORT_PHASE_MAX));
	import->done = done;
	import->total = total;
	post(import);
	pthread_mutex_unlock(&import->lock);
}

static void *run_import(void *context)
{
	struct import *import = context;
	struct chi_importer_target target = {.store = import->served->copy->store};
	struct chi_importer *importer = NULL;
	/* On Linux this is the thread's own, and that of the threads it starts. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), IMPORT_NICE);
	struct chi_fault *fault = &import->fault;
	int status = chi_importer_begin(&target, &import->options, &importer, fault);
	if (status == CHI_OK) {
		status = feed_all(import, importer, fault);
	}
	if (status == CHI_OK) {
		/* Unless it was canceled, all its data has come, and with that the mark. */
		chi_importer_once(importer, &import->session.idempotency_key);
		status = chi_importer_commit(importer, &import->result, fault);
		report_more(import);
	}
	/* Before the result: a client that has it may count on the memory being free. */
	chi_importer_free(importer);
	pthread_mutex_lock(&import->lock);
	import->status = status;
	import->over = true;
	post(import);
	pthread_mutex_unlock(&import->lock);
	return NULL;
}

/* ---- The end ----------------------------------------------------------------------------- */

/* The thread has been joined, or was never started. */
static void free_import(struct import *import)
{
	chi_import_sessions_remove(&import->served->server->import_sessions, &import->session);
	chi_event_drop(&import->idle);
	while (import->first != NULL) {
		struct chunk *next = import->first->next;
		free_chunk(import, import->first);
		import->first = next;
	}
	chi_arena_deinit(&import->texts);
	pthread_cond_destroy(&import->changed);
	pthread_mutex_destroy(&import->lock);
	free(import);
}

/* The log's word on the end. A client's own doing is no cause for concern. */
static void log_end(const struct import *import, const char *why)
{
	const char *name = import->served->name;
	const struct chi_import_result *result = &import->result;
	double seconds = (double)(chi_now_ms() - import->began) / 1000;
	bool out = import->options.kind == CHI_IMPORT_SUBTRACT;
	bool put = import->options.kind == CHI_IMPORT_PUT;
	if (import->status == CHI_OK) {
		log_info("import.end",
			 "{done} {taken} of {games} {what} {way} store '{store}' for '{client}' "
			 "(connection {connection}) in {seconds} s",
			 log_text("done", out ? "took" : "imported"),
			 log_number("taken", result->taken), log_number("games", result->games),
			 log_text("what", put ? "positions" : "games"),
			 log_text("way", out ? "out of" : "into"), log_text("store", name),
			 log_text("client", import->client),
			 log_text("connection", import->connection.text),
			 log_seconds("seconds", seconds));
	} else if (import->status == -CHI_EFULL || import->status == -CHI_EIO ||
		   import->status == -CHI_ENOMEM || import->status == -CHI_ECORRUPT) {
		log_warning("import.fail",
			    "failed to import into store '{store}' for '{client}' (connection "
			    "{connection}) after {seconds} s ({cause})",
			    log_text("store", name), log_text("client", import->client),
			    log_text("connection", import->connection.text),
			    log_seconds("seconds", seconds), log_text("cause", why));
	} else {
		log_info("import.give_up",
			 "gave up an import into store '{store}' for '{client}' (connection "
			 "{connection}) after {seconds} s ({cause})",
			 log_text("store", name), log_text("client", import->client),
			 log_text("connection", import->connection.text),
			 log_seconds("seconds", seconds), log_text("cause", why));
	}
}

/* The last answer, which has the notes that were not sent before. */
static void conclude(struct import *import, struct chi_response *response)
{
	struct chi_conn *conn = import->call.conn;
	const char *why =
		import->fault.text[0] != '\0' ? import->fault.text : chi_strerror(import->status);
	log_end(import, why);
	if (conn != NULL) {
		chi_call_remove(&import->call);
	}
	if (conn != NULL && import->status < 0) {
		chi_conn_fail(conn, import->call.id, CHI_OP_IMPORT, import->status,
			      import->status == -CHI_EFORGOTTEN ? "idempotency_key" : NULL, why);
	} else if (conn != NULL) {
		response->last = true;
		response->u.import.credit = 0;
		response->u.import.result = import->result;
		chi_conn_answer(conn, response);
	}
	free_import(import);
}

/* ---- From the thread --------------------------------------------------------------------- */

/* It has something to tell, or has ended: more room, notes, how far it has come, the result. */
static void deliver_news(struct chi_mail *mail, void *owner)
{
	struct chi_worker *worker = owner;
	struct import *import =
		(struct import *)(void *)((char *)mail - offsetof(struct import, mail));
	struct chi_response response = {.id = import->call.id, .op = CHI_OP_IMPORT};
	char phase[sizeof(import->phase)];
	pthread_mutex_lock(&import->lock);
	bool over = import->over;
	size_t n_notes = import->n_notes - import->n_told;
	uint64_t more = import->ended ? 0 : import->consumed;
	memcpy(phase, import->phase, sizeof(phase));
	if (phase[0] != '\0' && !over) {
		response.u.import.phase = phase;
		response.u.import.done = import->done;
		response.u.import.total = import->total;
	}
	import->phase[0] = '\0';
	import->consumed = 0;
	import->mailed = false;
	pthread_mutex_unlock(&import->lock);
	response.u.import.credit = more;
	response.u.import.notes = import->notes + import->n_told;
	response.u.import.n_notes = n_notes;
	import->n_told += n_notes;
	chi_arena_reset(&worker->results);
	if (over) {
		pthread_join(import->thread, NULL);
		/* A failure's answer has no room for notes: a merge names the games in its way. */
		if (import->status < 0 && n_notes > 0 && import->call.conn != NULL) {
			chi_conn_answer(import->call.conn, &response);
		}
		worker->n_tasks--;
		conclude(import, &response);
	} else if (import->call.conn != NULL && (more > 0 || n_notes > 0 || phase[0] != '\0')) {
		import->granted += more;
		chi_conn_answer(import->call.conn, &response);
	}
}

/* ---- From the client --------------------------------------------------------------------- */

/* Nothing goes on when output has drained: an import sends little. */
static void resume(struct chi_call *call)
{
	(void)call;
}

/* The client has gone, or was told that it is over; the thread's last mail frees the import. */
static void let_go(struct chi_call *call)
{
	struct import *import = (struct import *)call;
	chi_event_drop(&import->idle);
	cancel(import);
}

/* One that has all its data may be stored already: only its own answer can tell. */
static bool finishes(struct chi_call *call, bool canceled)
{
	struct import *import = (struct import *)call;
	if (canceled && import->ended) {
		cancel(import);
	}
	return import->ended;
}

static const struct chi_call_ops import_ops = {
	.resume = resume, .close = let_go, .finishes = finishes};

static void start_clock(struct import *import)
{
	struct timeval limit = chi_event_ms(import->worker->server->config->limits.import_ms);
	chi_event_add(import->idle, &limit);
}

/* A client that begins an import and forgets it keeps others from theirs. */
static void on_idle(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct import *import = context;
	struct chi_worker *worker = import->worker;
	struct chi_conn *conn = import->call.conn;
	uint64_t id = import->call.id;
	if (import->ended) {
		return;
	}
	pthread_mutex_lock(&import->lock);
	bool starved = import->first == NULL;
	pthread_mutex_unlock(&import->lock);
	if (!starved) {
		start_clock(import);
		return;
	}
	chi_call_remove(&import->call);
	let_go(&import->call);
	chi_conn_fail(conn, id, CHI_OP_IMPORT, -CHI_ETIMEOUT, NULL,
		      "timed out: no data was sent for the import");
	chi_conn_reap(worker);
}

static int start_import(struct import *import, struct chi_fault *fault)
{
	import->last = &import->first;
	import->options.report = send_note;
	import->options.progress = progressed;
	import->options.context = import;
	import->options.cancel = &import->cancel;
	chi_arena_init(&import->texts, NOTES_BUDGET);
	pthread_mutex_init(&import->lock, NULL);
	pthread_cond_init(&import->changed, NULL);
	import->idle = evtimer_new(import->worker->loop.base, on_idle, import);
	int error = import->idle == NULL
			    ? ENOMEM
			    : pthread_create(&import->thread, NULL, run_import, import);
	if (error != 0) {
		free_import(import);
		return chi_fail(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	return CHI_OK;
}

int chi_handle_import(struct chi_task *task)
{
	struct chi_worker *worker = task->worker;
	const struct chi_request *request = task->request;
	struct import *import = calloc(1, sizeof(*import));
	if (import == NULL) {
		return -CHI_ENOMEM;
	}
	import->worker = worker;
	import->served = task->served;
	import->mail.deliver = deliver_news;
	import->granted = CHI_IMPORT_CREDIT;
	import->began = chi_now_ms();
	memcpy(import->client, task->conn->client, sizeof(import->client));
	import->connection = chi_name_of_conn(task->conn);
	import->call.id = request->id;
	import->call.op = CHI_OP_IMPORT;
	import->call.ops = &import_ops;
	import->options = request->u.import;
	if (request->u.import.filter != NULL) {
		(void)snprintf(import->filter, sizeof(import->filter), "%s",
			       request->u.import.filter);
	}
	import->options.filter = import->filter;
	import->options.memory = worker->server->config->limits.import_memory;
	import->session.served = task->served;
	uint64_t max = worker->server->config->limits.imports;
	if (!chi_import_sessions_add(&worker->server->import_sessions, &import->session, max)) {
		free(import);
		return chi_fail(&task->fault, -CHI_EBUSY,
				"as many imports as are allowed are running: %" PRIu64, max);
	}
	int status = start_import(import, &task->fault);
	if (status < 0) {
		return status;
	}
	log_info("import.begin",
		 "import into store '{store}' begun by '{peer}' as '{client}' (connection "
		 "{connection})",
		 log_text("store", import->served->name),
		 log_text("peer", chi_conn_peer(task->conn).text),
		 log_text("client", import->client),
		 log_text("connection", import->connection.text));
	worker->n_tasks++;
	chi_call_add(task->conn, &import->call);
	start_clock(import);
	struct chi_response response = {.id = request->id, .op = CHI_OP_IMPORT};
	response.u.import.credit = import->granted;
	chi_conn_answer(task->conn, &response);
	return CHI_OK;
}

/* The import in flight with this id on the connection that still takes data, or NULL. */
static struct import *find_import(struct chi_task *task)
{
	struct chi_call *call = chi_call_find(task->conn, task->request->id);
	struct import *import = (struct import *)call;
	return call != NULL && call->op == CHI_OP_IMPORT && !import->ended ? import : NULL;
}

/* Data for an import that has ended meanwhile was on its way when that was said: skipped. What
 * comes after ImportEnd was not to be stored. */
int chi_handle_import_data(struct chi_task *task)
{
	const struct chi_request *request = task->request;
	struct import *import = find_import(task);
	if (import == NULL) {
		return CHI_OK;
	}
	uint64_t cost = CHI_IMPORT_OVERHEAD + request->u.import_data.len;
	if (cost > import->granted) {
		task->field = "import_data.data";
		return chi_fail(&task->fault, -CHI_EINVAL, "more data than credit");
	}
	import->granted -= cost;
	/* Names alone do not keep the place. */
	if (request->u.import_data.len > 0) {
		start_clock(import);
	}
	return push_bytes(import, &request->u.import_data.file, request->u.import_data.bytes,
			  request->u.import_data.len);
}

int chi_handle_import_end(struct chi_task *task)
{
	struct import *import = find_import(task);
	if (import == NULL) {
		return CHI_OK;
	}
	struct chi_idempotency_key key = task->request->idempotency_key;
	key.peer = task->conn->peer;
	import->ended = true;
	chi_import_sessions_mark(&task->worker->server->import_sessions, &import->session, &key);
	pthread_mutex_lock(&import->lock);
	import->no_more = true;
	pthread_cond_broadcast(&import->changed);
	pthread_mutex_unlock(&import->lock);
	return CHI_OK;
}
