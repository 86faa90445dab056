/* SPDX-License-Identifier: MIT */
/* The watchdog's rounds over workers without threads, whose loops turn when the test has them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>
#include <event2/event.h>

#include "service/notify.h"
#include "daemon/net/server.h"
#include "daemon/status/watchdog.h"
#include "daemon/net/net.h"

#define WORKERS 3

static struct chi_config config;
static struct chi_server server;
static struct chi_worker *workers[WORKERS];
static int manager = -1;

static int init(void **state)
{
	(void)state;
	struct chi_fault fault = {0};
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	char text[64];
	chi_config_init(&config);
	server = (struct chi_server){.config = &config, .workers = workers, .n_workers = WORKERS};
	for (size_t i = 0; i < WORKERS; i++) {
		assert_int_equal(chi_worker_new(&server, i, &workers[i], &fault), CHI_OK);
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
		chi_worker_free(workers[i]);
	}
	close(manager);
	return 0;
}

static void turn(size_t i)
{
	assert_true(event_base_loop(workers[i]->base, EVLOOP_ONCE | EVLOOP_NONBLOCK) >= 0);
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

static void test_all_turn(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		assert_true(chi_watchdog_round(&server));
		assert_true(was_told());
		for (size_t i = 0; i < WORKERS; i++) {
			turn(i);
		}
	}
}

/* Any one stuck loop is enough; it is forgiven when it turns again. */
static void test_one_stands(void **state)
{
	(void)state;
	for (size_t standing = 0; standing < WORKERS; standing++) {
		assert_true(chi_watchdog_round(&server));
		assert_true(was_told());
		for (int round = 0; round < 3; round++) {
			for (size_t i = 0; i < WORKERS; i++) {
				if (i != standing) {
					turn(i);
				}
			}
			assert_false(chi_watchdog_round(&server));
			assert_false(was_told());
		}
		turn(standing);
	}
}

static void test_how_often(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_all_turn, init, deinit),
		cmocka_unit_test_setup_teardown(test_one_stands, init, deinit),
		cmocka_unit_test(test_how_often),
	};
	return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
