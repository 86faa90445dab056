/* SPDX-License-Identifier: MIT */
/* The eventfd is written only when the queue was empty, so that a burst costs one wake-up. */
#include "service/net/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fault.h"
#include "service/events.h"

/* ---- Mail -------------------------------------------------------------------------------- */

void chi_loop_post(struct chi_loop *loop, struct chi_mail *mail)
{
	mail->next = NULL;
	pthread_mutex_lock(&loop->lock);
	bool was_empty = loop->first == NULL;
	*loop->last = mail;
	loop->last = &mail->next;
	pthread_mutex_unlock(&loop->lock);
	if (was_empty) {
		/* Fails only at 2^64 - 1 unread wake-ups. */
		uint64_t one = 1;
		ssize_t written = write(loop->fd, &one, sizeof(one));
		(void)written;
	}
}

void chi_loop_deliver(struct chi_loop *loop)
{
	/* The wake-up is taken before the mail: what is posted in between wakes us again. */
	uint64_t wakeups = 0;
	ssize_t got = read(loop->fd, &wakeups, sizeof(wakeups));
	(void)got;
	pthread_mutex_lock(&loop->lock);
	struct chi_mail *mail = loop->first;
	loop->first = NULL;
	loop->last = &loop->first;
	pthread_mutex_unlock(&loop->lock);
	while (mail != NULL) {
		struct chi_mail *next = mail->next;
		mail->deliver(mail, loop->owner);
		mail = next;
	}
}

void chi_loop_settle(struct chi_loop *loop)
{
	if (loop->ops->settle(loop->owner) && loop->leaving) {
		event_base_loopbreak(loop->base);
	}
}

static void on_mail(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	chi_loop_enter(context);
	chi_loop_deliver(context);
	chi_loop_settle(context);
}

static void deliver_leave(struct chi_mail *mail, void *owner)
{
	struct chi_loop *loop =
		(struct chi_loop *)(void *)((char *)mail - offsetof(struct chi_loop, leave_mail));
	loop->leaving = true;
	loop->leave_by = chi_now_ms() + (int64_t)loop->leave_ms;
	loop->ops->leave(owner);
	chi_loop_watch(loop);
}

void chi_loop_leave(struct chi_loop *loop, uint64_t ms)
{
	loop->leave_ms = ms;
	loop->leave_mail.deliver = deliver_leave;
	chi_loop_post(loop, &loop->leave_mail);
}

static void deliver_sign(struct chi_mail *mail, void *owner)
{
	(void)owner;
	struct chi_loop *loop =
		(struct chi_loop *)(void *)((char *)mail - offsetof(struct chi_loop, sign_mail));
	atomic_store(&loop->asked, false);
}

void chi_loop_ask(struct chi_loop *loop)
{
	atomic_store(&loop->asked, true);
	loop->sign_mail.deliver = deliver_sign;
	chi_loop_post(loop, &loop->sign_mail);
}

/* ---- Deadlines --------------------------------------------------------------------------- */

void chi_loop_watch(struct chi_loop *loop)
{
	if (!event_pending(loop->tick, EV_TIMEOUT, NULL)) {
		struct timeval pause = chi_event_ms(loop->tick_ms);
		chi_event_add(loop->tick, &pause);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	struct chi_loop *loop = context;
	chi_loop_enter(loop);
	int64_t now = chi_now_ms();
	bool late = loop->leaving && now >= loop->leave_by;
	if (loop->ops->tick(loop->owner, now, late) || loop->leaving) {
		chi_loop_watch(loop);
	}
	chi_loop_settle(loop);
}

/* ---- Turns ------------------------------------------------------------------------------- */

/* Between two measurements; what is older than two is of a loop that waits. */
#define SHARE_US 100000
/* Percent of it in turns, and length of a turn that has not ended: the loop is busy. */
#define BUSY	70u
#define BUSY_US 50000

bool chi_loop_is_busy(const struct chi_loop *loop, int64_t now)
{
	int64_t turn_us = atomic_load(&loop->turn_us);
	return (turn_us != 0 && now - turn_us > BUSY_US) ||
	       (now - atomic_load(&loop->share_us) < (int64_t)2 * SHARE_US &&
		atomic_load(&loop->share) >= BUSY);
}

static void end_turn(struct chi_loop *loop)
{
	int64_t turn_us = atomic_load_explicit(&loop->turn_us, memory_order_relaxed);
	if (turn_us == 0) {
		return;
	}
	int64_t now = chi_now_us();
	int64_t passed = now - atomic_load_explicit(&loop->share_us, memory_order_relaxed);
	loop->turned_us += now - turn_us;
	if (passed >= SHARE_US) {
		atomic_store(&loop->share, (unsigned)(loop->turned_us * 100 / passed));
		atomic_store(&loop->share_us, now);
		loop->turned_us = 0;
	}
	atomic_store(&loop->turn_us, 0);
}

bool chi_loop_turn(struct chi_loop *loop, bool wait)
{
	int rc = event_base_loop(loop->base,
				 EVLOOP_ONCE | (wait ? EVLOOP_NO_EXIT_ON_EMPTY : EVLOOP_NONBLOCK));
	end_turn(loop);
	return rc >= 0 && !event_base_got_break(loop->base);
}

/* ---- Life -------------------------------------------------------------------------------- */

int chi_loop_init(struct chi_loop *loop, const struct chi_loop_ops *ops, void *owner,
		  uint64_t tick_ms, struct chi_fault *fault)
{
	struct event_config *config = event_config_new();
	*loop = (struct chi_loop){.ops = ops,
				  .owner = owner,
				  .tick_ms = tick_ms,
				  .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	int error = loop->fd < 0 ? errno : ENOMEM;
	loop->last = &loop->first;
	pthread_mutex_init(&loop->lock, NULL);
	if (config != NULL) {
		/* Only this thread touches the loop; others wake it by the eventfd. */
		event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
		loop->base = event_base_new_with_config(config);
		event_config_free(config);
	}
	if (loop->base != NULL && loop->fd >= 0) {
		loop->mail_event =
			event_new(loop->base, loop->fd, EV_READ | EV_PERSIST, on_mail, loop);
		loop->tick = evtimer_new(loop->base, on_tick, loop);
	}
	if (loop->mail_event == NULL || loop->tick == NULL ||
	    event_add(loop->mail_event, NULL) < 0) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot make an event loop (%s)",
				strerror(error));
	}
	return CHI_OK;
}

static void *run_loop(void *context)
{
	struct chi_loop *loop = context;
	while (chi_loop_turn(loop, true)) {
	}
	return NULL;
}

int chi_loop_start(struct chi_loop *loop, struct chi_fault *fault)
{
	int error = pthread_create(&loop->thread, NULL, run_loop, loop);
	if (error != 0) {
		return chi_fail(fault, -CHI_ENOMEM, "cannot start a thread (%s)", strerror(error));
	}
	loop->started = true;
	return CHI_OK;
}

void chi_loop_join(struct chi_loop *loop)
{
	if (loop->started) {
		pthread_join(loop->thread, NULL);
		loop->started = false;
	}
}

void chi_loop_deinit(struct chi_loop *loop)
{
	if (loop->ops == NULL) {
		return;
	}
	chi_loop_join(loop);
	chi_event_drop(&loop->mail_event);
	chi_event_drop(&loop->tick);
	if (loop->base != NULL) {
		event_base_free(loop->base);
	}
	if (loop->fd >= 0) {
		close(loop->fd);
	}
	pthread_mutex_destroy(&loop->lock);
	loop->ops = NULL;
}
