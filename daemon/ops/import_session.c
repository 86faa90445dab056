/* SPDX-License-Identifier: MIT */
/* The import's thread, and what it shares with the worker. */
#include "daemon/ops/import_session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/num.h"
#include "import/importer.h"
#include "daemon/clock.h"
#include "daemon/limits.h"
#include "daemon/server.h"
#include "daemon/net/worker.h"
#include "store/store.h"

/* Added to the nice value: the kernel gives a thread so much less about a tenth of the time. */
#define IMPORT_NICE 10

/* Data is granted anew in pieces of this size, so that answers are few. */
#define CREDIT_STEP (CHI_IMPORT_CREDIT / 4)

/* How often a client hears of the storing. */
#define PROGRESS_MS 1000

/* What one ImportData brought. */
struct chi_import_session_chunk {
	struct chi_import_session_chunk *next;
	const char *file; /* of the new input, behind the bytes; NULL: the input goes on */
	size_t len;
	size_t size; /* of all of it */
	uint8_t bytes[];
};

/* ---- The queue --------------------------------------------------------------------------- */

static void free_chunk(struct chi_import_session *import, struct chi_import_session_chunk *chunk)
{
	atomic_fetch_sub(&import->served->server->buffered, chunk->size);
	free(chunk);
}

/* Under the lock. The worker takes all there is to tell at once, so one mail suffices. */
static void post(struct chi_import_session *import)
{
	if (!import->mailed) {
		import->mailed = true;
		chi_mailbox_post(&import->worker->mailbox, &import->mail);
	}
}

/* Gives room back to the client, by and by. */
static void give_back(struct chi_import_session *import, uint64_t cost)
{
	pthread_mutex_lock(&import->lock);
	import->consumed += cost;
	if (import->consumed >= CREDIT_STEP) {
		post(import);
	}
	pthread_mutex_unlock(&import->lock);
}

int chi_import_session_push(struct chi_import_session *import, const struct chi_text *file,
			    const void *bytes, size_t len)
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
	size_t size = sizeof(struct chi_import_session_chunk) + len + name_size;
	struct chi_import_session_chunk *chunk = malloc(size);
	if (chunk == NULL) {
		return -CHI_ENOMEM;
	}
	*chunk = (struct chi_import_session_chunk){.len = len, .size = size};
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

void chi_import_session_close(struct chi_import_session *import)
{
	pthread_mutex_lock(&import->lock);
	import->no_more = true;
	pthread_cond_broadcast(&import->changed);
	pthread_mutex_unlock(&import->lock);
}

static bool is_canceled(struct chi_import_session *import)
{
	return __atomic_load_n(&import->cancel, __ATOMIC_RELAXED) != 0;
}

void chi_import_session_cancel(struct chi_import_session *import)
{
	pthread_mutex_lock(&import->lock);
	__atomic_store_n(&import->cancel, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&import->changed);
	pthread_mutex_unlock(&import->lock);
}

/* ---- The thread -------------------------------------------------------------------------- */

/* The next piece; NULL at the end, and when there is no point in going on. */
static struct chi_import_session_chunk *take(struct chi_import_session *import)
{
	struct chi_import_session_chunk *chunk = NULL;
	pthread_mutex_lock(&import->lock);
	while (import->first == NULL && !import->no_more && !is_canceled(import)) {
		pthread_cond_wait(&import->changed, &import->lock);
	}
	if (!is_canceled(import) && import->first != NULL) {
		chunk = import->first;
		import->first = chunk->next;
		if (import->first == NULL) {
			import->last = &import->first;
		}
	}
	pthread_mutex_unlock(&import->lock);
	return chunk;
}

static int feed_all(struct chi_import_session *import, struct chi_importer *importer,
		    struct chi_fault *fault)
{
	int status = CHI_OK;
	struct chi_import_session_chunk *chunk = NULL;
	while (status == CHI_OK && (chunk = take(import)) != NULL) {
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
static void put_text(char *to, const char *from, size_t len)
{
	memcpy(to, from, len);
	to[len] = '\0';
	if (!chi_utf8_valid(to, len)) {
		for (size_t i = 0; i < len; i++) {
			to[i] = (unsigned char)to[i] < 0x80 ? to[i] : '?';
		}
	}
}

/* chi_import_report: on this thread, while it feeds or commits. A note that finds no memory is
 * missing; the totals count its game all the same. */
static void report(void *context, const struct chi_import_note *note)
{
	struct chi_import_session *import = context;
	size_t file_len = strnlen(note->file, CHI_IMPORT_FILE_MAX);
	size_t text_len = strnlen(note->text, CHI_NOTE_TEXT_MAX);
	if (import->n_notes >= CHI_IMPORT_NOTES_MAX) {
		return; /* written by this thread alone */
	}
	struct chi_import_session_note *copy = malloc(sizeof(*copy) + file_len + text_len + 2);
	if (copy == NULL) {
		return;
	}
	copy->next = NULL;
	copy->note = (struct chi_import_note){
		.file = copy->texts,
		.game = note->game,
		.line = note->line,
		.text = copy->texts + file_len + 1,
	};
	put_text(copy->texts, note->file, file_len);
	put_text(copy->texts + file_len + 1, note->text, text_len);
	pthread_mutex_lock(&import->lock);
	*import->last_note = copy;
	import->last_note = &copy->next;
	import->n_notes++;
	post(import);
	pthread_mutex_unlock(&import->lock);
}

/* chi_import_progress: on this thread, while it commits. Told so seldom that a client which is not
 * looking has minutes until its socket is full. */
static void progressed(void *context, const char *phase, uint64_t done, uint64_t total)
{
	struct chi_import_session *import = context;
	int64_t now = chi_now_ms();
	if (now - import->progressed < PROGRESS_MS) {
		return;
	}
	import->progressed = now;
	pthread_mutex_lock(&import->lock);
	put_text(import->phase, phase, strnlen(phase, CHI_SCAN_RANGE_MAX));
	import->done = done;
	import->total = total;
	post(import);
	pthread_mutex_unlock(&import->lock);
}

/* The last thing the thread does: behind this only pthread_join waits for it. */
static void conclude(struct chi_import_session *import, int status, const struct chi_fault *fault,
		     const struct chi_import_result *result)
{
	pthread_mutex_lock(&import->lock);
	import->status = status;
	import->fault = *fault;
	import->result = *result;
	import->over = true;
	post(import);
	pthread_mutex_unlock(&import->lock);
}

static void *run(void *context)
{
	struct chi_import_session *import = context;
	struct chi_importer_target target = {.store = import->served->store};
	struct chi_import_result result = {0};
	struct chi_importer *importer = NULL;
	struct chi_fault fault = {{0}};
	/* On Linux this is the thread's own, and that of the threads it starts. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), IMPORT_NICE);
	int status = chi_importer_begin(&target, &import->options, &importer, &fault);
	if (status == CHI_OK) {
		status = feed_all(import, importer, &fault);
	}
	if (status == CHI_OK) {
		/* Unless it was canceled, all its data has come, and with that the mark. */
		chi_importer_once(importer, &import->idempotency_key);
		status = chi_importer_commit(importer, &result, &fault);
	}
	/* Before the result: a client that has it may count on the memory being free. */
	chi_importer_free(importer);
	conclude(import, status, &fault, &result);
	return NULL;
}

/* ---- Life -------------------------------------------------------------------------------- */

int chi_import_session_start(struct chi_import_session *import, struct chi_fault *fault)
{
	import->last = &import->first;
	import->last_note = &import->notes;
	import->options.report = report;
	import->options.progress = progressed;
	import->options.context = import;
	import->options.cancel = &import->cancel;
	pthread_mutex_init(&import->lock, NULL);
	pthread_cond_init(&import->changed, NULL);
	int error = pthread_create(&import->thread, NULL, run, import);
	if (error != 0) {
		return chi_fault(fault, -CHI_EBUSY, "cannot start a thread (%s)", strerror(error));
	}
	return CHI_OK;
}

void chi_import_session_free_notes(struct chi_import_session_note *notes)
{
	while (notes != NULL) {
		struct chi_import_session_note *next = notes->next;
		free(notes);
		notes = next;
	}
}

void chi_import_session_free(struct chi_import_session *import)
{
	while (import->first != NULL) {
		struct chi_import_session_chunk *next = import->first->next;
		free_chunk(import, import->first);
		import->first = next;
	}
	chi_import_session_free_notes(import->notes);
	pthread_cond_destroy(&import->changed);
	pthread_mutex_destroy(&import->lock);
	free(import);
}

bool chi_import_session_is_starved(struct chi_import_session *import)
{
	pthread_mutex_lock(&import->lock);
	bool starved = !import->no_more && import->first == NULL;
	pthread_mutex_unlock(&import->lock);
	return starved;
}

struct chi_import_session_news chi_import_session_take_news(struct chi_import_session *import)
{
	pthread_mutex_lock(&import->lock);
	struct chi_import_session_news news = {
		.over = import->over,
		.consumed = import->consumed,
		.notes = import->notes,
		.done = import->done,
		.total = import->total,
	};
	memcpy(news.phase, import->phase, sizeof(news.phase));
	import->phase[0] = '\0';
	for (const struct chi_import_session_note *note = news.notes; note != NULL;
	     note = note->next) {
		news.n_notes++;
	}
	import->consumed = 0;
	import->notes = NULL;
	import->last_note = &import->notes;
	import->mailed = false;
	pthread_mutex_unlock(&import->lock);
	return news;
}

/* ---- The imports of a server ------------------------------------------------------------- */

bool chi_import_sessions_add(struct chi_import_sessions *all, struct chi_import_session *import,
			     uint64_t max)
{
	pthread_mutex_lock(&all->lock);
	bool room = atomic_load(&all->n) < max;
	if (room) {
		atomic_fetch_add(&all->n, 1);
		import->next = all->first;
		all->first = import;
	}
	pthread_mutex_unlock(&all->lock);
	return room;
}

void chi_import_sessions_remove(struct chi_import_sessions *all,
				const struct chi_import_session *import)
{
	pthread_mutex_lock(&all->lock);
	struct chi_import_session **at = &all->first;
	while (*at != import) {
		at = &(*at)->next;
	}
	*at = import->next;
	atomic_fetch_sub(&all->n, 1);
	pthread_mutex_unlock(&all->lock);
}

void chi_import_sessions_mark(struct chi_import_sessions *all, struct chi_import_session *import,
			      const struct chi_idempotency_key *idempotency_key)
{
	pthread_mutex_lock(&all->lock);
	import->idempotency_key = *idempotency_key;
	pthread_mutex_unlock(&all->lock);
}

bool chi_import_sessions_await(struct chi_import_sessions *all, const struct chi_served *served,
			       const struct chi_idempotency_key *idempotency_key)
{
	bool found = false;
	pthread_mutex_lock(&all->lock);
	for (const struct chi_import_session *at = all->first; at != NULL && !found;
	     at = at->next) {
		found = at->served == served &&
			at->idempotency_key.sequence == idempotency_key->sequence &&
			memcmp(at->idempotency_key.client, idempotency_key->client,
			       sizeof(idempotency_key->client)) == 0;
	}
	pthread_mutex_unlock(&all->lock);
	return found;
}
