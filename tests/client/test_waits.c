/* SPDX-License-Identifier: MIT */
/*
 * The client while a server works for long: signs of life, progress, and an end that never comes.
 * Where the server's silence is meant, time is not the machine's but the test's: it passes only
 * when the server has done all it was asked, so that a loaded machine changes nothing.
 */
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "chistore.h"
#include "tests/base/cases.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

/* ---- Time ----------------------------------------------------------------------------------- */

/* How late the client wakes from each wait that ends without a byte. */
#define LATE_MS 700

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
ssize_t __real_send(int fd, const void *bytes, size_t len, int flags);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags);

/* Only in the thread that sets it; 0: time is the machine's. */
static _Thread_local int64_t time_ms;
static unsigned asked;	    /* requests the client sent, each by one call */
static atomic_uint settled; /* of these, that the server answered or keeps waiting */

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (time_ms == 0) {
		return __real_clock_gettime(clock, now);
	}
	*now = (struct timespec){time_ms / 1000, time_ms % 1000 * 1000000};
	return 0;
}

ssize_t __wrap_send(int fd, const void *bytes, size_t len, int flags)
{
	asked += time_ms != 0;
	return __real_send(fd, bytes, len, flags);
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	if (time_ms == 0) {
		return __real_poll(fds, n, ms);
	}
	/* No time is left: no server is as fast. */
	if (ms == 0) {
		return 0;
	}
	bool all = false;
	int ready = 0;
	while (!all && ready == 0) {
		all = atomic_load(&settled) == asked;
		ready = __real_poll(fds, n, all ? 0 : 10);
	}
	time_ms += ready == 0 ? ms + LATE_MS : 0;
	return ready;
}

/* ---- Imports -------------------------------------------------------------------------------- */

/* Takes an import, tells how far it has come, and goes away without the last word. */
static void import_without_end(struct server_conn *conn)
{
	struct chi_request request;
	struct chi_response answer = {.op = CHI_OP_IMPORT};
	if (!server_greet(conn)) {
		return;
	}
	while (server_next(conn, &request)) {
		answer.id = request.id;
		if (request.op == CHI_OP_IMPORT) {
			answer.u.import.credit = 1000;
			server_answer(conn, &answer);
		} else if (request.op == CHI_OP_IMPORT_END) {
			answer.u.import.credit = 0;
			answer.u.import.phase = "storing";
			answer.u.import.done = 3;
			answer.u.import.total = 4;
			server_answer(conn, &answer);
			return;
		}
	}
}

static void count_progress(void *context, const char *phase, uint64_t done, uint64_t total)
{
	unsigned *calls = context;
	assert_string_equal(phase, "storing");
	assert_int_equal(done, 3);
	assert_int_equal(total, 4);
	++*calls;
}

/* Games are not counted twice, but what a merge adds may be: the advice differs. */
CASE(import_whose_end_is_not_known)
{
	static const struct {
		enum chi_import_kind kind;
		const char *says;
	} cases[] = {
		{CHI_IMPORT_ADD, "again is harmless"},
		{CHI_IMPORT_SUBTRACT, "again is harmless"},
		{CHI_IMPORT_MERGE, "check before you try again"},
	};
	/* Who repeats nothing asks for no outcome either. */
	const struct chi_options once = {CHI_OPTIONS_INIT, .repeat_ms = CHI_NO_REPEAT};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct server server;
		struct chi_import *games = NULL;
		struct chi_fault fault = {{0}};
		unsigned calls = 0;
		struct chi_import_options options = {CHI_IMPORT_OPTIONS_INIT, .kind = cases[i].kind,
						     .progress = count_progress, .context = &calls};
		server_start(&server, import_without_end);
		assert_int_equal(
			chi_import_open(server.address, &once, 0, &options, &games, &fault),
			CHI_OK);
		assert_int_equal(chi_import_feed(games, "text", 4), CHI_OK);
		assert_int_equal(chi_import_commit(games, NULL), -CHI_ECONNECT);
		assert_non_null(strstr(chi_import_error(games), "it is not known"));
		assert_non_null(strstr(chi_import_error(games), cases[i].says));
		assert_int_equal(calls, 1);
		chi_import_close(games);
		server_stop(&server);
	}
}

/* ---- Writes --------------------------------------------------------------------------------- */

/* Answers a write after the second sign of life that it is asked for. */
static void write_in_the_end(struct server_conn *conn)
{
	struct chi_request request;
	struct chi_response put = {.last = true, .op = CHI_OP_PUT};
	unsigned pings = 0;
	if (!server_greet(conn)) {
		return;
	}
	atomic_fetch_add(&settled, 1);
	while (server_next(conn, &request)) {
		if (request.op == CHI_OP_PING) {
			server_pong(conn, &request);
			pings++;
		} else {
			put.id = request.id;
			pings = 0;
		}
		if (pings == 2) {
			server_answer(conn, &put);
		}
		atomic_fetch_add(&settled, 1);
	}
}

/* Other clients' writes come first, and one of them may be an import of minutes. */
CASE(writes_wait_while_the_server_lives)
{
	struct server server;
	server_start(&server, write_in_the_end);
	time_ms = 1;
	struct chi_client *client = server_open(&server, 1000);
	struct chi_put_entry put = {.key = world_key(0)};
	world_ok(client, chi_put(client, &put, 1, CHI_SYNC, NULL));
	world_ok(client, chi_put(client, &put, 1, CHI_ASYNC, NULL));
	/* A read settles what was written. */
	world_ok(client, chi_flush(client));
	assert_int_equal(atomic_load(&server.connections), 1);
	chi_close(client);
	time_ms = 0;
	server_stop(&server);
}

/* ---- Deadlines ------------------------------------------------------------------------------ */

/* Goes on answering, but never comes to an end. */
static void drip(struct server_conn *conn)
{
	struct chi_request request;
	/* One connection is served at a time: the client's, which is not used, makes room. */
	if (!server_greet(conn) || conn->number == 0 || !server_next(conn, &request)) {
		return;
	}
	/* The head of a long answer, then byte after byte. */
	server_send(conn, "\xff\xff\x01", 3);
	struct pollfd end = {.fd = conn->fd};
	while (poll(&end, 1, SHORT_MS / 10) == 0) {
		server_send(conn, "", 1);
	}
}

/* Each byte is progress, which lets any other call wait on. */
CASE(probers_end_whatever_comes)
{
	const struct chi_prober_options options = {CHI_PROBER_OPTIONS_INIT,
						   .deadline_ms = SHORT_MS};
	struct server server;
	struct chi_prober *prober = NULL;
	struct chi_key key = world_key(0);
	struct chi_row row;
	server_start(&server, drip);
	struct chi_client *client = server_open(&server, LONG_MS);
	world_ok(client, chi_prober_open(client, &options, &prober));
	assert_int_equal(chi_prober_key(prober, &key, &row), -CHI_ETIMEOUT);
	chi_prober_close(prober);
	chi_close(client);
	server_stop(&server);
}
