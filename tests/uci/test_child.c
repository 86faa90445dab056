/* SPDX-License-Identifier: MIT */
/* A child that does not read, does not end, or has much to say before. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "uci/child.h"
#include "tests/base/cases.h"

#define PATIENCE_MS 60000

static struct chi_fault fault;

static struct chi_child *start(const char *command)
{
	struct chi_child *child;
	assert_int_equal(chi_child_start(command, &child, &fault), CHI_OK);
	return child;
}

static void reap(struct chi_child *child, bool kills)
{
	int64_t until = chi_now_ms() + PATIENCE_MS;
	while (!chi_child_reap(child, kills)) {
		assert_true(chi_now_ms() < until);
		usleep(1000);
	}
}

/* Each line waited a second for a child that does not read. */
CASE(test_lines_do_not_wait_for_a_deaf_child)
{
	static char line[100000];
	const char *said;
	struct chi_child *child = start("/bin/sleep 1000");
	memset(line, 'x', sizeof(line) - 1);
	int64_t begun = chi_now_ms();
	for (int i = 0; i < 100; i++) {
		chi_child_send(child, line);
	}
	/* It is killed: the rest of a line that was cut would be read as another. */
	assert_int_equal(chi_child_line(child, PATIENCE_MS, &said), CHI_NONE);
	assert_true(chi_now_ms() - begun < 50000);
	reap(child, false);
}

CASE(test_one_that_does_not_end_is_killed)
{
	struct chi_child *child = start("/bin/sleep 1000");
	chi_child_quit(child);
	assert_false(chi_child_reap(child, false));
	reap(child, true);
}

/* What it says after `quit` must not keep it. */
CASE(test_one_that_says_much_at_its_end)
{
	struct chi_child *child = start("/bin/sh -c 'head -c 4000000 /dev/zero; exit 0'");
	chi_child_quit(child);
	reap(child, false);
}

CASE(test_its_options)
{
	struct chi_child *child = start("/bin/cat");
	assert_false(chi_child_hello(child, "id name  Some Engine\t1 "));
	assert_false(chi_child_hello(child, "option name Threads type spin default 1"));
	assert_false(chi_child_hello(child, "option name Move Overhead type spin default 10"));
	assert_true(chi_child_hello(child, "uciok"));
	assert_string_equal(chi_child_name(child), " Some Engine1");
	assert_true(chi_child_has(child, "threads"));
	assert_true(chi_child_has(child, "Move Overhead"));
	assert_false(chi_child_has(child, "Move"));
	assert_false(chi_child_has(child, "Thread"));
	assert_string_equal(chi_child_option(child, 0), "option name Threads type spin default 1");
	assert_null(chi_child_option(child, 2));
	reap(child, true);
}

CASE(test_commands_that_are_none)
{
	struct chi_child *child;
	static const char *const commands[] = {"", "'", "/no/such/program", "$(reboot)"};
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		assert_true(chi_child_start(commands[i], &child, &fault) < 0);
		assert_null(child);
	}
}

int main(void)
{
	/* As the programs do it. */
	(void)signal(SIGPIPE, SIG_IGN);
	return cases_run(NULL, NULL);
}
