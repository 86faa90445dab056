/* SPDX-License-Identifier: MIT */
/* The thread that looks where a store's path leads to. */
#undef NDEBUG
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "service/moves.h"
#include "tests/base/cases.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint begun;

static int look_through_gate(void *context, struct chi_fault *cause)
{
	(void)context;
	(void)cause;
	atomic_fetch_add(&begun, 1);
	(void)pthread_mutex_lock(&gate);
	(void)pthread_mutex_unlock(&gate);
	return CHI_NONE;
}

static void wait_until_begun(unsigned n)
{
	while (atomic_load(&begun) < n) {
		const struct timespec pause = {.tv_nsec = 1000000};
		(void)nanosleep(&pause, NULL);
	}
}

/* It keeps neither the timer nor the stop, which tells that it is still at work. */
CASE(a_look_that_hangs)
{
	static struct chi_moves moves;
	struct chi_fault fault;
	atomic_store(&begun, 0);
	assert_int_equal(chi_moves_start(&moves, "/", look_through_gate, NULL, &fault), CHI_OK);
	(void)pthread_mutex_lock(&gate);
	chi_moves_ask(&moves);
	wait_until_begun(1);
	for (int i = 0; i < 10; i++) {
		chi_moves_tick(&moves);
	}
	int64_t before = chi_now_ms();
	assert_false(chi_moves_join(&moves));
	assert_true(chi_moves_ends(&moves));
	assert_true(chi_now_ms() - before < 20000);
	assert_int_equal(chi_counter_value(&moves.looks), 0);
	(void)pthread_mutex_unlock(&gate);
	while (!chi_moves_join(&moves)) {
	}
	assert_int_equal(chi_counter_value(&moves.looks), 1);
	assert_int_equal(atomic_load(&begun), 1);
}

/* One look for each time it is asked. */
CASE(a_look_is_asked_for)
{
	static struct chi_moves moves;
	struct chi_fault fault;
	atomic_store(&begun, 0);
	assert_true(chi_moves_join(&moves));
	assert_int_equal(chi_moves_start(&moves, "/", look_through_gate, NULL, &fault), CHI_OK);
	chi_moves_tick(&moves);
	wait_until_begun(1);
	while (chi_counter_value(&moves.looks) < 1) {
	}
	chi_moves_ask(&moves);
	wait_until_begun(2);
	while (!chi_moves_join(&moves)) {
	}
	assert_int_equal(chi_counter_value(&moves.looks), 2);
}

int main(void)
{
	return cases_run(NULL, NULL);
}
