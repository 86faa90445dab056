/* SPDX-License-Identifier: MIT */
/* The thread that learns: takes what waits, puts it in one transaction. */
#include "uci/learn.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/thread.h"
#include "chess/key.h"

#define LOCK_WAIT_MS 2000 /* for another process that writes */
#define CONNECT_MS   1000 /* the first time the GUI waits for it, and at the end */
#define CALL_MS	     2000 /* without a sign of life; a server that has much to do gives one */
#define AGAIN_MS     200  /* after a failure */
#define BATCH	     64

struct lesson {
	char engine[CHI_ENGINE_MAX + 1];
	struct chi_key key;
	int32_t score;
	bool is_mate;
	uint32_t depth;
	uint64_t nodes;
	uint64_t date;
	size_t n_pv;
	chi_move pv[CHI_PLIES_MAX];
};

struct chi_learner {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	struct chi_client *client; /* NULL: the server is away; the thread opens it */
	char *address;
	chi_learned_fn *learned;
	void *context;
	struct lesson *lessons; /* a ring */
	uint64_t first;
	uint64_t next;
	uint64_t lost;
	bool ends;
	struct lesson batch[BATCH]; /* the thread's own */
};

static int open_client(struct chi_learner *learner, struct chi_fault *fault)
{
	const struct chi_options options = {CHI_OPTIONS_INIT,
					    .writable = true,
					    .connect_ms = CONNECT_MS,
					    .call_ms = CALL_MS,
					    .repeat_ms = CHI_NO_REPEAT, /* that is done here */
					    .lock_wait_ms = LOCK_WAIT_MS,
					    .client_name = "chistore-uci"};
	return chi_open(learner->address, &options, &learner->client, fault);
}

/* A server that is away, or does not answer, may come back. */
static bool may_come_back(int status)
{
	return status == -CHI_EBUSY || status == -CHI_ECONNECT || status == -CHI_ETIMEOUT;
}

static int put_lessons(struct chi_learner *learner, const struct lesson *lessons, size_t n)
{
	struct chi_put_entry entries[BATCH];
	struct chi_eval evals[BATCH];
	for (size_t i = 0; i < n; i++) {
		const struct lesson *lesson = &lessons[i];
		evals[i] = (struct chi_eval){.engine = lesson->engine,
					     .engine_len = strlen(lesson->engine),
					     .depth = lesson->depth,
					     .is_mate = lesson->is_mate,
					     .score = lesson->score,
					     .nodes = lesson->nodes,
					     .date = lesson->date,
					     .pv = lesson->pv,
					     .n_pv = lesson->n_pv};
		entries[i] = (struct chi_put_entry){.key = lesson->key,
						    .parts = CHI_PUT_EVALS,
						    .record = {.evals = &evals[i], .n_evals = 1}};
	}
	return chi_put(learner->client, entries, n, CHI_SYNC, NULL);
}

/* Puts of the batch the `n` from `from` on, all or nothing; if they are refused each half by
 * itself, so that one that cannot be stored takes no other with it. Those that cannot are counted.
 * A status that may come back: the store is away; those before *done have been dealt with. */
static int put_halves(struct chi_learner *learner, size_t from, size_t n, size_t *done,
		      size_t *refused)
{
	const struct lesson *lessons = &learner->batch[from];
	int rc = put_lessons(learner, lessons, n);
	if (may_come_back(rc)) {
		return rc;
	}
	if (rc != CHI_OK && n > 1) {
		rc = put_halves(learner, from, n / 2, done, refused);
		return rc == CHI_OK ? put_halves(learner, from + n / 2, n - n / 2, done, refused)
				    : rc;
	}
	for (size_t i = 0; rc == CHI_OK && i < n; i++) {
		learner->learned(learner->context, &lessons[i].key, lessons[i].depth);
	}
	*refused += rc != CHI_OK ? n : 0;
	*done += n;
	return CHI_OK;
}

static void wait_a_little(struct chi_learner *learner)
{
	(void)chi_cond_wait_until(&learner->changed, &learner->mutex,
				  chi_now_us() + AGAIN_MS * INT64_C(1000));
}

/* With the mutex held, which is given up while it writes. */
static void write_some(struct chi_learner *learner)
{
	struct chi_fault fault;
	uint64_t begin = learner->first;
	size_t n = 0;
	size_t done = 0;
	size_t refused = 0;
	while (n < BATCH && begin + n < learner->next) {
		learner->batch[n] = learner->lessons[(begin + n) % CHI_LEARN_MAX];
		n++;
	}
	pthread_mutex_unlock(&learner->mutex);
	int rc = learner->client == NULL ? open_client(learner, &fault) : CHI_OK;
	rc = rc == CHI_OK ? put_halves(learner, 0, n, &done, &refused) : rc;
	pthread_mutex_lock(&learner->mutex);
	bool away = may_come_back(rc);
	if (rc != CHI_OK && (!away || learner->ends)) {
		/* It cannot be opened, or it ends and the store does not answer. */
		size_t rest = away ? (size_t)(learner->next - begin) : n;
		refused += rest - done;
		done = rest;
	}
	learner->lost += refused;
	/* The ring may have gone over some of these meanwhile. */
	learner->first = begin + done > learner->first ? begin + done : learner->first;
	if (away && !learner->ends) {
		wait_a_little(learner);
	}
}

static void *run_learner(void *argument)
{
	struct chi_learner *learner = argument;
	pthread_mutex_lock(&learner->mutex);
	for (;;) {
		while (learner->first == learner->next && !learner->ends) {
			pthread_cond_wait(&learner->changed, &learner->mutex);
		}
		if (learner->first == learner->next) {
			break;
		}
		write_some(learner);
	}
	pthread_mutex_unlock(&learner->mutex);
	return NULL;
}

static void drop_learner(struct chi_learner *learner)
{
	chi_close(learner->client);
	free(learner->lessons);
	free(learner->address);
	pthread_cond_destroy(&learner->changed);
	pthread_mutex_destroy(&learner->mutex);
	free(learner);
}

int chi_learner_open(const char *address, chi_learned_fn *learned, void *context,
		     struct chi_learner **out, struct chi_fault *fault)
{
	struct chi_learner *learner = calloc(1, sizeof(*learner));
	*out = NULL;
	if (learner == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	pthread_mutex_init(&learner->mutex, NULL);
	chi_cond_init(&learner->changed);
	learner->learned = learned;
	learner->context = context;
	learner->lessons = calloc(CHI_LEARN_MAX, sizeof(*learner->lessons));
	learner->address = strdup(address);
	int rc = learner->lessons == NULL || learner->address == NULL
			 ? chi_fault_plain(fault, -CHI_ENOMEM)
			 : open_client(learner, fault);
	int away = may_come_back(rc) ? CHI_NONE : CHI_OK;
	rc = away == CHI_NONE ? CHI_OK : rc;
	if (rc == CHI_OK && pthread_create(&learner->thread, NULL, run_learner, learner) != 0) {
		rc = chi_fail(fault, -CHI_ENOMEM, "cannot start a thread");
	}
	if (rc != CHI_OK) {
		drop_learner(learner);
		return rc;
	}
	*out = learner;
	return away;
}

static struct lesson lesson_of(const char *engine, const struct chi_position *position, int score,
			       unsigned depth, uint64_t nodes, const chi_move *pv, size_t n_pv)
{
	struct lesson lesson = {.score = score,
				.depth = depth,
				.nodes = nodes,
				.date = (uint64_t)time(NULL),
				.n_pv = n_pv < CHI_PLIES_MAX ? n_pv : CHI_PLIES_MAX};
	chi_key_encode(position, &lesson.key);
	memcpy(lesson.engine, engine, strnlen(engine, CHI_ENGINE_MAX));
	memcpy(lesson.pv, pv, lesson.n_pv * sizeof(*pv));
	if (score >= CHI_MATE_BOUND) {
		lesson.is_mate = true;
		lesson.score = (CHI_MATE - score + 1) / 2;
	} else if (score <= -CHI_MATE_BOUND) {
		lesson.is_mate = true;
		lesson.score = -(CHI_MATE + score) / 2;
	}
	return lesson;
}

void chi_learn(struct chi_learner *learner, const char *engine, const struct chi_position *position,
	       int score, unsigned depth, uint64_t nodes, const chi_move *pv, size_t n_pv)
{
	struct lesson lesson = lesson_of(engine, position, score, depth, nodes, pv, n_pv);
	pthread_mutex_lock(&learner->mutex);
	if (learner->next - learner->first == CHI_LEARN_MAX) {
		learner->first++;
		learner->lost++;
	}
	learner->lessons[learner->next++ % CHI_LEARN_MAX] = lesson;
	pthread_cond_signal(&learner->changed);
	pthread_mutex_unlock(&learner->mutex);
}

uint64_t chi_learner_close(struct chi_learner *learner)
{
	if (learner == NULL) {
		return 0;
	}
	pthread_mutex_lock(&learner->mutex);
	learner->ends = true;
	pthread_cond_signal(&learner->changed);
	pthread_mutex_unlock(&learner->mutex);
	pthread_join(learner->thread, NULL);
	uint64_t lost = learner->lost;
	drop_learner(learner);
	return lost;
}
