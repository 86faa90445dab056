/* SPDX-License-Identifier: MIT */
#include "service/moves.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "chistore/types.h"
#include "service/log.h"

/* A look that the timer has seen so often hangs: within 5 or 10 seconds. */
#define HANG_TICKS 5

/* How long a stop waits for a look. */
#define STOP_S 1

void chi_moves_done(struct chi_moves *moves, const struct chi_moves_copy *was,
		    const struct chi_moves_copy *is)
{
	bool other = memcmp(was->store, is->store, sizeof(was->store)) != 0;
	bool older = !other && is->sequence < was->sequence;
	bool alike = strcmp(was->statistic, is->statistic) == 0 && was->games == is->games;
	atomic_store(&moves->last_s, (uint64_t)time(NULL));
	CHI_LOG_AT(chi_log, other || older || !alike ? CHI_LOG_WARNING : CHI_LOG_INFO, "store.move",
		   "the store is read from {what} at '{path}': its sequence is {sequence}, that of "
		   "the one before {before}",
		   log_text("what", other   ? "another store"
				    : older ? "an older copy"
					    : "the newer copy"),
		   log_text("path", moves->path), log_number("sequence", is->sequence),
		   log_number("before", was->sequence));
	if (!alike) {
		log_warning(
			"store.kind",
			"the store at '{path}' has the {statistic} statistic now, and keeps "
			"{kept}; the one before had the {before} statistic, and kept {before_kept}",
			log_text("path", moves->path), log_text("statistic", is->statistic),
			log_text("kept", is->games ? "games" : "counts"),
			log_text("before", was->statistic),
			log_text("before_kept", was->games ? "games" : "counts"));
	}
}

static void tell_staying(const struct chi_moves *moves, const char *cause)
{
	log_warning("store.stay",
		    "the store is read from the files that are open: what '{path}' leads to now "
		    "is not moved to ({cause})",
		    log_text("path", moves->path), log_text("cause", cause));
}

/* Tells of a failure if it is another than at the last look, or `again`. */
static void look_once(struct chi_moves *moves, bool again)
{
	struct chi_fault cause = {{0}};
	int status = moves->look(moves->context, &cause);
	if (status < 0 && cause.text[0] == '\0') {
		(void)chi_fault_plain(&cause, status);
	}
	if (status < 0 && (again || strcmp(moves->refused.text, cause.text) != 0)) {
		tell_staying(moves, cause.text);
	}
	moves->refused = cause;
	if (status >= 0) {
		moves->refused.text[0] = '\0';
	}
	chi_counter_add(&moves->looks, 1);
}

static void *look_on(void *context)
{
	struct chi_moves *moves = context;
	(void)pthread_mutex_lock(&moves->lock);
	while (!chi_moves_ends(moves)) {
		if (!moves->due) {
			(void)pthread_cond_wait(&moves->changed, &moves->lock);
			continue;
		}
		bool again = moves->again;
		moves->due = false;
		moves->again = false;
		moves->looking = true;
		moves->ticks = 0;
		(void)pthread_mutex_unlock(&moves->lock);
		look_once(moves, again);
		(void)pthread_mutex_lock(&moves->lock);
		moves->looking = false;
	}
	moves->ended = true;
	(void)pthread_cond_broadcast(&moves->changed);
	(void)pthread_mutex_unlock(&moves->lock);
	return NULL;
}

int chi_moves_start(struct chi_moves *moves, const char *path, chi_moves_look *look, void *context,
		    struct chi_fault *fault)
{
	moves->path = path;
	moves->look = look;
	moves->context = context;
	(void)pthread_mutex_init(&moves->lock, NULL);
	chi_cond_init(&moves->changed);
	int error = pthread_create(&moves->thread, NULL, look_on, moves);
	if (error != 0) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a thread (%s)", strerror(error));
	}
	moves->started = true;
	return CHI_OK;
}

static void ask_to_look(struct chi_moves *moves, bool again)
{
	if (moves->started) {
		(void)pthread_mutex_lock(&moves->lock);
		moves->due = true;
		moves->again = moves->again || again;
		(void)pthread_cond_broadcast(&moves->changed);
		(void)pthread_mutex_unlock(&moves->lock);
	}
}

void chi_moves_tick(struct chi_moves *moves)
{
	if (!moves->started) {
		return;
	}
	(void)pthread_mutex_lock(&moves->lock);
	bool hangs = moves->looking && ++moves->ticks == HANG_TICKS;
	(void)pthread_mutex_unlock(&moves->lock);
	if (hangs) {
		tell_staying(moves, "looking at it does not end");
	}
	ask_to_look(moves, false);
}

void chi_moves_ask(struct chi_moves *moves)
{
	ask_to_look(moves, true);
}

void chi_moves_end(struct chi_moves *moves)
{
	atomic_store(&moves->ending, true);
	ask_to_look(moves, false);
}

bool chi_moves_join(struct chi_moves *moves)
{
	if (!moves->started) {
		return true;
	}
	chi_moves_end(moves);
	int64_t until = chi_now_us() + STOP_S * INT64_C(1000000);
	(void)pthread_mutex_lock(&moves->lock);
	while (!moves->ended && chi_cond_wait_until(&moves->changed, &moves->lock, until)) {
	}
	bool ended = moves->ended;
	(void)pthread_mutex_unlock(&moves->lock);
	if (!ended) {
		return false;
	}
	(void)pthread_join(moves->thread, NULL);
	(void)pthread_cond_destroy(&moves->changed);
	(void)pthread_mutex_destroy(&moves->lock);
	moves->started = false;
	return true;
}
