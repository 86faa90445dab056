/* SPDX-License-Identifier: MIT */
/* The thread that opens the store and asks it. */
#include "uci/lookup.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"
#include "chess/movegen.h"
#include "uci/say.h"

#define PATIENCE_MS 1000 /* with a server that someone waits for without a clock */

struct chi_lookup {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	bool has_thread;
	chi_learned_fn *learned;
	void *context;
	bool behind; /* the session's: another store is wanted than is open, or being opened */
	/* Under the mutex: */
	bool opens; /* to be done, in this order; false when it is done */
	bool asks;
	bool ends;
	int64_t stop_by; /* no wait is longer, by chi_now_ms; INT64_MAX: it was not stopped */
	/* What is to be opened. */
	char address[CHI_UCI_TEXT];
	bool learns;
	/* What is asked, and the answer. */
	struct chi_position position;
	struct chi_uci_options options;
	bool book;
	uint32_t depth;
	int status;
	struct chi_lookup_found found;
	/* The thread's own, but while it has nothing to do. */
	char opened[CHI_UCI_TEXT]; /* the address that these are of: */
	bool opened_learning;
	struct chi_client *client;
	struct chi_prober *prober;
	struct chi_learner *learner;
};

/* ---- Opening, by the thread ------------------------------------------------------------------ */

static void close_client(struct chi_lookup *lookup)
{
	chi_prober_close(lookup->prober);
	chi_close(lookup->client);
	lookup->prober = NULL;
	lookup->client = NULL;
}

static void close_store(struct chi_lookup *lookup)
{
	uint64_t lost = chi_learner_close(lookup->learner);
	close_client(lookup);
	lookup->learner = NULL;
	lookup->opened[0] = '\0';
	if (lost > 0) {
		chi_session_say("store: %" PRIu64 " evaluations could not be stored", lost);
	}
}

static void open_learner(struct chi_lookup *lookup)
{
	struct chi_fault fault;
	int rc = chi_learner_open(lookup->address, lookup->learned, lookup->context,
				  &lookup->learner, &fault);
	if (rc != CHI_OK) {
		chi_session_say("learn: %s%s", fault.text,
				rc == CHI_NONE ? "; what is learned waits" : "");
	}
}

/* The learner first: what a process has open for reading alone it cannot open for writing. One that
 * is there stays: evaluations may wait in it. */
static void open_lookup(struct chi_lookup *lookup)
{
	const struct chi_options options = {CHI_OPTIONS_INIT, .client_name = "chistore-uci",
					    .connect_ms = PATIENCE_MS, .call_ms = PATIENCE_MS,
					    .repeat_ms = CHI_NO_REPEAT};
	struct chi_fault fault;
	bool same = strcmp(lookup->address, lookup->opened) == 0 &&
		    lookup->learns == lookup->opened_learning;
	if (same) {
		close_client(lookup);
	} else {
		close_store(lookup);
	}
	strcpy(lookup->opened, lookup->address);
	lookup->opened_learning = lookup->learns;
	if (lookup->address[0] == '\0') {
		return;
	}
	if (lookup->learns && lookup->learner == NULL) {
		open_learner(lookup);
	}
	if (chi_open(lookup->address, &options, &lookup->client, &fault) != CHI_OK) {
		chi_session_say("store: %s", fault.text);
	} else if (chi_prober_open(lookup->client, NULL, &lookup->prober) != CHI_OK) {
		chi_session_say("store: %s", chi_error(lookup->client));
		lookup->prober = NULL;
	}
}

/* ---- Asking, by the thread ------------------------------------------------------------------- */

/* A store holds moves, not a game: the line goes as far as it is one. */
static size_t take_line(struct chi_position at, const struct chi_eval *eval,
			chi_move out[CHI_PV_MAX])
{
	size_t n = 0;
	while (n < eval->n_pv && n < CHI_PV_MAX && chi_movegen_is_legal(&at, eval->pv[n])) {
		struct chi_position next;
		out[n] = eval->pv[n];
		chi_position_play(&at, out[n++], &next);
		at = next;
	}
	return n;
}

static void take_eval(const struct chi_position *from, const struct chi_eval *eval,
		      struct chi_lookup_found *out)
{
	out->has_eval = true;
	out->eval = *eval;
	out->eval.n_pv = take_line(*from, eval, out->pv);
	out->best = out->pv[0];
	out->ponder = out->eval.n_pv > 1 ? out->pv[1] : 0;
	snprintf(out->says, sizeof(out->says), "store: depth %" PRIu32 " by %.*s, score %s%" PRId32,
		 eval->depth, (int)eval->engine_len, eval->engine, eval->is_mate ? "mate " : "cp ",
		 eval->score);
	out->eval.engine = NULL;
	out->eval.engine_len = 0;
}

static int look_up_position(struct chi_lookup *lookup)
{
	struct chi_lookup_found *out = &lookup->found;
	const struct chi_eval *eval = NULL;
	const char *what = lookup->book ? "book" : "store";
	int rc = CHI_NONE;
	*out = (struct chi_lookup_found){.best = 0};
	if (lookup->client == NULL) {
		return -CHI_EBUSY;
	}
	if (lookup->book) {
		rc = chi_book_move(lookup->client, &lookup->options, &lookup->position, &out->best,
				   out->says);
	}
	if (rc == CHI_NONE && (lookup->depth > 0 || !lookup->book)) {
		uint32_t depth = lookup->depth > 0 ? lookup->depth : UINT32_MAX;
		what = "store";
		rc = chi_book_answer(lookup->client, &lookup->position, depth, &eval);
	}
	if (rc == CHI_OK && eval != NULL) {
		take_eval(&lookup->position, eval, out);
	}
	if (rc < 0) {
		snprintf(out->says, sizeof(out->says), "%s: %s", what, chi_error(lookup->client));
	}
	return rc;
}

static void *run_lookup(void *argument)
{
	struct chi_lookup *lookup = argument;
	pthread_mutex_lock(&lookup->mutex);
	while (lookup->opens || lookup->asks || !lookup->ends) {
		bool opens = lookup->opens;
		bool asks = lookup->asks && !opens;
		if (!opens && !asks) {
			pthread_cond_wait(&lookup->changed, &lookup->mutex);
			continue;
		}
		pthread_mutex_unlock(&lookup->mutex);
		if (opens) {
			open_lookup(lookup);
		} else {
			lookup->status = look_up_position(lookup);
		}
		pthread_mutex_lock(&lookup->mutex);
		lookup->opens = lookup->opens && !opens;
		lookup->asks = lookup->asks && !asks;
		pthread_cond_broadcast(&lookup->changed);
	}
	pthread_mutex_unlock(&lookup->mutex);
	return NULL;
}

/* ---- Life ------------------------------------------------------------------------------------ */

int chi_lookup_new(chi_learned_fn *learned, void *context, struct chi_lookup **out)
{
	struct chi_lookup *lookup = calloc(1, sizeof(*lookup));
	*out = NULL;
	if (lookup == NULL) {
		return -CHI_ENOMEM;
	}
	pthread_mutex_init(&lookup->mutex, NULL);
	chi_cond_init(&lookup->changed);
	lookup->stop_by = INT64_MAX;
	lookup->learned = learned;
	lookup->context = context;
	lookup->has_thread = pthread_create(&lookup->thread, NULL, run_lookup, lookup) == 0;
	if (!lookup->has_thread) {
		chi_lookup_free(lookup);
		return -CHI_ENOMEM;
	}
	*out = lookup;
	return CHI_OK;
}

static void wake(struct chi_lookup *lookup, bool *what)
{
	pthread_mutex_lock(&lookup->mutex);
	*what = true;
	pthread_cond_broadcast(&lookup->changed);
	pthread_mutex_unlock(&lookup->mutex);
}

void chi_lookup_free(struct chi_lookup *lookup)
{
	if (lookup == NULL) {
		return;
	}
	wake(lookup, &lookup->ends);
	if (lookup->has_thread) {
		pthread_join(lookup->thread, NULL);
	}
	close_store(lookup);
	pthread_cond_destroy(&lookup->changed);
	pthread_mutex_destroy(&lookup->mutex);
	free(lookup);
}

/* ---- For the session ------------------------------------------------------------------------- */

void chi_lookup_stop(struct chi_lookup *lookup, bool stops)
{
	pthread_mutex_lock(&lookup->mutex);
	if (!stops) {
		lookup->stop_by = INT64_MAX;
	} else if (lookup->stop_by == INT64_MAX) {
		lookup->stop_by = chi_now_ms() + CHI_LOOKUP_STOP_MS;
		pthread_cond_broadcast(&lookup->changed);
	}
	pthread_mutex_unlock(&lookup->mutex);
}

/* Under the mutex: until something has changed. False: the time is over. */
static bool wait_for_change(struct chi_lookup *lookup, int64_t until)
{
	int64_t end = lookup->stop_by < until ? lookup->stop_by : until;
	if (end == INT64_MAX) {
		pthread_cond_wait(&lookup->changed, &lookup->mutex);
		return true;
	}
	return chi_cond_wait_until(&lookup->changed, &lookup->mutex, end * 1000);
}

static bool await(struct chi_lookup *lookup, int64_t until)
{
	bool is_time = true;
	pthread_mutex_lock(&lookup->mutex);
	while ((lookup->opens || lookup->asks) && is_time) {
		is_time = wait_for_change(lookup, until);
	}
	bool done = !lookup->opens && !lookup->asks;
	pthread_mutex_unlock(&lookup->mutex);
	return done;
}

static bool is_done(struct chi_lookup *lookup)
{
	return await(lookup, 0);
}

/* What is open does not change; a question that is late may be under way. */
static bool is_open(struct chi_lookup *lookup)
{
	pthread_mutex_lock(&lookup->mutex);
	bool opens = lookup->opens;
	pthread_mutex_unlock(&lookup->mutex);
	return !opens && !lookup->behind;
}

/* Not before every move: a server that is away may take its time to say so. */
static bool lacks_something(const struct chi_lookup *lookup)
{
	return lookup->address[0] != '\0' &&
	       (lookup->prober == NULL || (lookup->learns && lookup->learner == NULL));
}

void chi_lookup_settle(struct chi_lookup *lookup, const struct chi_uci_options *options, bool again)
{
	bool learns = options->learn != CHI_LEARN_OFF;
	bool same = strcmp(lookup->address, options->store) == 0 && lookup->learns == learns;
	bool done = is_done(lookup);
	lookup->behind = !done && !same;
	if (done && (!same || (again && lacks_something(lookup)))) {
		strcpy(lookup->address, options->store);
		lookup->learns = learns;
		wake(lookup, &lookup->opens);
	}
}

bool chi_lookup_wait(struct chi_lookup *lookup, const struct chi_uci_options *options,
		     int64_t until)
{
	bool done = await(lookup, until);
	if (done && lookup->behind) {
		chi_lookup_settle(lookup, options, false);
		done = await(lookup, until);
	}
	return done;
}

struct chi_prober *chi_lookup_prober(struct chi_lookup *lookup)
{
	return is_open(lookup) ? lookup->prober : NULL;
}

struct chi_learner *chi_lookup_learner(struct chi_lookup *lookup)
{
	return is_open(lookup) ? lookup->learner : NULL;
}

int chi_lookup_ask(struct chi_lookup *lookup, const struct chi_position *position,
		   const struct chi_uci_options *options, bool book, uint32_t depth, int64_t until,
		   struct chi_lookup_found *out)
{
	out->says[0] = '\0';
	if (!is_done(lookup) || lookup->behind || lookup->client == NULL) {
		return -CHI_EBUSY;
	}
	lookup->position = *position;
	lookup->options = *options;
	lookup->book = book;
	lookup->depth = depth;
	wake(lookup, &lookup->asks);
	if (!await(lookup, until)) {
		snprintf(out->says, sizeof(out->says), "%s: no answer in time",
			 book ? "book" : "store");
		return -CHI_ETIMEOUT;
	}
	*out = lookup->found;
	out->eval.pv = out->pv;
	return lookup->status;
}
