/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/client/relay.h"

#include <stdio.h>
#include <string.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/base/seed.h"
#include "tests/client/server.h"

struct relay relay;

/* Held while relay.on_cut changes the world. */
static pthread_mutex_t cutting = PTHREAD_MUTEX_INITIALIZER;

static int dial(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	memcpy(to.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Passes on what is there, up to the cut. False: this connection is over. */
static bool pass(int from, int to, enum relay_way way)
{
	char bytes[4096];
	ssize_t n = recv(from, bytes, sizeof(bytes), 0);
	if (n <= 0) {
		return false;
	}
	long left = atomic_load(&relay.left);
	bool counts = left >= 0 && atomic_load(&relay.way) == (int)way;
	bool cut = counts && n >= left;
	size_t len = cut ? (size_t)left : (size_t)n;
	if (counts) {
		atomic_store(&relay.left, left - n);
	}
	if (len > 0 && send(to, bytes, len, MSG_NOSIGNAL) != (ssize_t)len) {
		return false;
	}
	if (cut) {
		/* The next connection is cut after as many, if any is to be. */
		bool more = atomic_fetch_sub(&relay.cuts, 1) > 1;
		atomic_store(&relay.left, more ? atomic_load(&relay.each) : -1);
		/* What the server has got it shall have done before the client comes again. */
		struct pollfd answer = {.fd = to, .events = POLLIN};
		if (way == TO_SERVER) {
			(void)poll(&answer, 1, relay.grace_ms);
		}
		if (relay.on_cut != NULL) {
			pthread_mutex_lock(&cutting);
			relay.on_cut(relay.context);
			pthread_mutex_unlock(&cutting);
		}
	}
	return !cut;
}

static void *run_relay(void *unused)
{
	(void)unused;
	for (;;) {
		int client = accept4(relay.fd, NULL, NULL, SOCK_CLOEXEC);
		if (client < 0) {
			return NULL;
		}
		atomic_fetch_add(&relay.connections, 1);
		int server = dial(relay.server);
		struct pollfd both[2] = {{.fd = client, .events = POLLIN},
					 {.fd = server, .events = POLLIN}};
		bool good = server >= 0;
		while (good && !atomic_load(&relay.stop)) {
			/* A test that fails leaves its client open. */
			(void)poll(both, 2, 100);
			if (both[0].revents != 0) {
				good = pass(client, server, TO_SERVER);
			}
			if (good && both[1].revents != 0) {
				good = pass(server, client, TO_CLIENT);
			}
		}
		close(client);
		if (server >= 0) {
			close(server);
		}
	}
}

int relay_make(void **state)
{
	static struct world world;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	world_make(&world, WORLD_UNIX, CHI_STATISTIC_CONTROL);
	relay.on_cut = NULL;
	relay.grace_ms = 20;
	relay.server = world.listen + strlen("unix:");
	snprintf(relay.path, sizeof(relay.path), "%s/relay", world.dir);
	snprintf(relay.address, sizeof(relay.address), "unix:%.94s", relay.path);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", relay.path);
	relay.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	atomic_store(&relay.left, -1);
	atomic_store(&relay.connections, 0);
	atomic_store(&relay.stop, false);
	assert_int_equal(bind(relay.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(relay.fd, 8), 0);
	assert_int_equal(pthread_create(&relay.thread, NULL, run_relay, NULL), 0);
	*state = &world;
	return 0;
}

int relay_drop(void **state)
{
	/* What was done to the world when a connection was cut is seen here. */
	pthread_mutex_lock(&cutting);
	pthread_mutex_unlock(&cutting);
	/* First: a daemon that was started by the relay's thread ends with it. */
	world_free(*state);
	atomic_store(&relay.stop, true);
	(void)shutdown(relay.fd, SHUT_RDWR);
	pthread_join(relay.thread, NULL);
	close(relay.fd);
	return 0;
}

struct chi_client *relay_open(uint32_t repeat_ms)
{
	struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = LONG_MS, .repeat_ms = repeat_ms};
	struct chi_client *client = NULL;
	struct chi_fault fault;
	if (chi_open(relay.address, &options, &client, &fault) != CHI_OK) {
		fail_msg("%s", fault.text);
	}
	return client;
}

void relay_cut(enum relay_way way, long bytes, int cuts)
{
	atomic_store(&relay.way, (int)way);
	atomic_store(&relay.cuts, cuts);
	atomic_store(&relay.each, bytes);
	atomic_store(&relay.left, bytes);
}

bool relay_was_cut(void)
{
	bool cut = atomic_load(&relay.left) < 0;
	relay.passed = atomic_load(&relay.each) - atomic_load(&relay.left);
	atomic_store(&relay.left, -1);
	return cut;
}

long relay_cut_all(const struct world *world, struct chi_client *client, enum relay_way way,
		   long first, long step, uint64_t (*add)(struct chi_client *client))
{
	uint64_t added = world_games(world);
	long bytes = first;
	for (bool cut = true; cut; bytes += step) {
		relay_cut(way, bytes, 1);
		added += add(client);
		cut = relay_was_cut();
		uint64_t stored = world_games(world);
		if (stored != added) {
			fail_msg("cut %s after %ld bytes: %llu games, not %llu",
				 way == TO_SERVER ? "to the server" : "to the client", bytes,
				 (unsigned long long)stored, (unsigned long long)added);
		}
	}
	return bytes;
}

long relay_step(void)
{
	long cuts = (long)seed_rounds(6);
	return cuts < 24 ? 24 / cuts : 1;
}
