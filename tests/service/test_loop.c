/* SPDX-License-Identifier: MIT */
/* Loops without threads, which turn when the test has them, and the watchdog's rounds over them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "service/net/main_loop.h"
#include "service/notify.h"
#include "tests/base/cases.h"

#define WORKERS 3

static struct chi_main_loop main_loop;
static struct chi_loop loops[WORKERS];
static bool has_more;
static size_t n_left;
static size_t n_late;

static void leave(void *owner)
{
	(void)owner;
	n_left++;
}

static bool tick(void *owner, int64_t now_ms, bool late)
{
	(void)owner;
	(void)now_ms;
	n_late += late ? 1 : 0;
	has_more = has_more && !late;
	return has_more;
}

static bool settle(void *owner)
{
	(void)owner;
	return !has_more;
}

static const struct chi_loop_ops ops = {.leave = leave, .tick = tick, .settle = settle};

static int manager = -1;

static int init(void **state)
{
	(void)state;
	struct chi_fault fault = {0};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	char text[64];
	main_loop = (struct chi_main_loop){.base = NULL};
	for (size_t i = 0; i < WORKERS; i++) {
		assert_int_equal(chi_loop_init(&loops[i], &ops, NULL, 1, &fault), CHI_OK);
		chi_main_loop_watch(&main_loop, &loops[i]);
	}
	int len = snprintf(text, sizeof(text), "@chistore-watchdog-%d", (int)getpid());
	memcpy(name.sun_path + 1, text + 1, (size_t)len - 1);
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(manager, (struct sockaddr *)&name,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)),
			 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", text, 1), 0);
	return 0;
}

static int deinit(void **state)
{
	(void)state;
	for (size_t i = 0; i < WORKERS; i++) {
		chi_loop_deinit(&loops[i]);
	}
	close(manager);
	return 0;
}

static void turn(size_t i)
{
	chi_loop_turn(&loops[i], false);
}

static bool was_told(void)
{
	char text[64] = "";
	ssize_t n = recv(manager, text, sizeof(text) - 1, 0);
	if (n < 0) {
		assert_int_equal(errno, EAGAIN);
		return false;
	}
	assert_string_equal(text, "WATCHDOG=1");
	return true;
}

CASE(test_all_turn, init, deinit)
{
	for (int round = 0; round < 5; round++) {
		assert_true(chi_main_loop_round(&main_loop));
		assert_true(was_told());
		for (size_t i = 0; i < WORKERS; i++) {
			turn(i);
		}
	}
}

/* Any one stuck loop is enough; it is forgiven when it turns again. */
CASE(test_one_stands, init, deinit)
{
	for (size_t standing = 0; standing < WORKERS; standing++) {
		assert_true(chi_main_loop_round(&main_loop));
		assert_true(was_told());
		for (int round = 0; round < 3; round++) {
			for (size_t i = 0; i < WORKERS; i++) {
				if (i != standing) {
					turn(i);
				}
			}
			assert_false(chi_main_loop_round(&main_loop));
			assert_false(was_told());
		}
		turn(standing);
	}
}

struct letter {
	struct chi_mail mail;
	char name;
};

static char delivered[16];

/* Time in which it waits for a disk counts as any other. */
static void sleep_on_it(struct chi_mail *mail, void *owner)
{
	(void)mail;
	(void)owner;
	usleep(30000);
}

CASE(test_busy_is_what_does_not_wait, init, deinit)
{
	struct chi_loop *loop = &loops[0];
	struct chi_mail mail;
	for (int round = 0; round < 8; round++) {
		mail = (struct chi_mail){.deliver = sleep_on_it};
		chi_loop_post(loop, &mail);
		turn(0);
	}
	int64_t now = chi_now_us();
	assert_true(chi_loop_is_busy(loop, now));
	assert_int_equal(atomic_load(&loop->turn_us), 0);
	assert_false(chi_loop_is_busy(loop, now + 300000));
	usleep(200000); /* a long wait, and then the same */
	chi_loop_post(loop, &mail);
	turn(0);
	assert_false(chi_loop_is_busy(loop, chi_now_us()));
}

static void deliver(struct chi_mail *mail, void *owner)
{
	(void)owner;
	delivered[strlen(delivered)] = ((struct letter *)mail)->name;
}

CASE(test_mail_keeps_its_order, init, deinit)
{
	struct letter letters[] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}};
	for (size_t i = 0; i < 3; i++) {
		letters[i].mail.deliver = deliver;
		chi_loop_post(&loops[0], &letters[i].mail);
	}
	turn(0);
	assert_string_equal(delivered, "abc");
}

/* One with nothing to do ends at once, the other when the time is over: not before. */
CASE(test_a_loop_leaves, init, deinit)
{
	struct chi_fault fault = {0};
	has_more = false;
	n_left = 0;
	n_late = 0;
	assert_int_equal(chi_loop_start(&loops[0], &fault), CHI_OK);
	chi_loop_leave(&loops[0], 3600000);
	chi_loop_join(&loops[0]);
	assert_int_equal(n_left, 1);
	assert_int_equal(n_late, 0);
	has_more = true;
	assert_int_equal(chi_loop_start(&loops[1], &fault), CHI_OK);
	chi_loop_leave(&loops[1], 50);
	chi_loop_join(&loops[1]);
	assert_int_equal(n_late, 1);
}

CASE(test_how_often)
{
	char own[32];
	snprintf(own, sizeof(own), "%d", (int)getpid());
	static const struct {
		const char *usec;
		const char *pid; /* "": this process */
		uint64_t expected;
	} cases[] = {
		{NULL, NULL, 0},
		{"60000000", NULL, 60000000},
		{"60000000", "", 60000000},
		{"60000000", "1", 0},
		{"-1", NULL, 0},
		{"1s", NULL, 0},
		{"", NULL, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsetenv("WATCHDOG_USEC");
		unsetenv("WATCHDOG_PID");
		if (cases[i].usec != NULL) {
			setenv("WATCHDOG_USEC", cases[i].usec, 1);
		}
		if (cases[i].pid != NULL) {
			setenv("WATCHDOG_PID", cases[i].pid[0] == '\0' ? own : cases[i].pid, 1);
		}
		assert_int_equal(chi_notify_watchdog(), cases[i].expected);
	}
}
