/* SPDX-License-Identifier: MIT */
/*
 * The client against servers that misbehave, are slow, or go away; each script is a server. No
 * test depends on how long something takes, only on what happens when it never comes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "chistore.h"
#include "tests/base/cases.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

static void open_fails(const struct server *server, int wanted, const char *says)
{
	struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = SHORT_MS,
				      .repeat_ms = CHI_NO_REPEAT};
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	int status = chi_open(server->address, &options, &client, &fault);
	if (status != wanted || strstr(fault.text, says) == NULL ||
	    strstr(fault.text, server->address) == NULL) {
		fail_msg("status %d, not %d: '%s' lacks '%s' or the address", status, wanted,
			 fault.text, says);
	}
	assert_null(client);
}

/* ---- Silence and nonsense ------------------------------------------------------------------ */

static void mute(struct server_conn *conn)
{
	server_wait_end(conn);
}

CASE(mute_server)
{
	struct server server;
	server_start(&server, mute);
	open_fails(&server, -CHI_ETIMEOUT, "no answer for 100 ms");
	server_stop(&server);
}

static void greet_then_mute(struct server_conn *conn)
{
	if (server_greet(conn)) {
		server_wait_end(conn);
	}
}

CASE(mute_after_hello)
{
	struct server server;
	server_start(&server, greet_then_mute);
	struct chi_client *client = server_open(&server, SHORT_MS);
	struct chi_put_entry put = {.key = world_key(0)};
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	uint64_t count = 0;
	world_refused(client, chi_ping(client), -CHI_ETIMEOUT, "no answer");
	world_refused(client, chi_put(client, &put, 1, CHI_SYNC, NULL), -CHI_ETIMEOUT,
		      "may or may not have happened");
	/* A long operation asks for a sign of life first. */
	world_refused(client, chi_scan_count(client, &spec, &count, NULL), -CHI_ETIMEOUT,
		      "no answer");
	world_refused(client, chi_store_compact(client, NULL, NULL), -CHI_ETIMEOUT, server.address);
	assert_int_equal(atomic_load(&server.connections), 4);
	chi_close(client);
	server_stop(&server);
}

/* A listener whose backlog is full never accepts: the connection itself times out. */
CASE(full_backlog)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char dir[64];
	struct server server = {.fd = -1};
	int fds[64];
	size_t n = 0;
	world_make_dir(dir);
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%.60s/socket", dir);
	(void)snprintf(server.address, sizeof(server.address), "unix:%.60s/socket", dir);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 0), 0);
	for (bool more = true; more; n++) {
		assert_true(n < 64);
		fds[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		more = connect(fds[n], (const struct sockaddr *)&at, sizeof(at)) == 0;
	}
	struct chi_options options = {CHI_OPTIONS_INIT, .connect_ms = SHORT_MS};
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	assert_int_equal(chi_open(server.address, &options, &client, &fault), -CHI_ETIMEOUT);
	assert_non_null(strstr(fault.text, server.address));
	while (n > 0) {
		close(fds[--n]);
	}
	close(fd);
	/* No one listens now. */
	assert_int_equal(chi_open(server.address, &options, &client, &fault), -CHI_ECONNECT);
	assert_non_null(strstr(fault.text, "is chistored running"));
	world_remove_dir(dir);
	assert_int_equal(chi_open(server.address, &options, &client, &fault), -CHI_ECONNECT);
}

static const char http[] = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n"
			   "Connection: close\r\n\r\n<html>there is nothing here</html>";
static const struct {
	const char *bytes;
	size_t len;
} garbage[] = {
	{http, sizeof(http) - 1},    {"\x00", 1},     {"\x81\x00", 2},	   {"\xff\xff\xff\x7f", 4},
	{"\xff\xff\xff\xff\xff", 5}, {"\x01\xff", 2}, {"\x02\x08\x01", 3}, /* id 1 and nothing else:
									      no Hello */
	{"\x02\x08\x07", 3}, /* an id that was never used */
	{"\x02\x10\x13", 3}, /* about the whole connection: malformed */
};

static void speak_garbage(struct server_conn *conn)
{
	server_send(conn, garbage[conn->number].bytes, garbage[conn->number].len);
	server_wait_end(conn);
}

CASE(garbage_instead_of_hello)
{
	struct server server;
	server_start(&server, speak_garbage);
	for (size_t i = 0; i < CHI_COUNT(garbage); i++) {
		open_fails(&server, -CHI_EPROTO, "");
	}
	server_stop(&server);
}

static void refuse_hello(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_next(conn, &request)) {
		return;
	}
	struct chi_response answer = {.id = request.id, .last = true};
	if (conn->number == 0) {
		answer.status = -CHI_EVERSION;
		answer.message = (struct chi_text){"version 1 is not served", 23};
	} else if (conn->number == 1) {
		answer.id = 0;
		answer.status = -CHI_EBUSY;
		answer.message = (struct chi_text){"too many connections", 20};
	} else if (conn->number == 2) {
		answer.op = CHI_OP_HELLO;
		answer.u.hello.version = CHI_PROTOCOL_VERSION;
	}
	if (conn->number < 3) {
		server_answer(conn, &answer);
	}
}

CASE(refused_hello)
{
	struct server server;
	server_start(&server, refuse_hello);
	struct chi_client *client = NULL;
	struct chi_fault fault = {{0}};
	assert_int_equal(chi_open(server.address, NULL, &client, &fault), -CHI_EVERSION);
	assert_string_equal(fault.text, "version 1 is not served");
	open_fails(&server, -CHI_EBUSY, "too many connections");
	open_fails(&server, -CHI_ENOSTORE, "no store named 'default'");
	open_fails(&server, -CHI_ECONNECT, "closed the connection");
	server_stop(&server);
}

/* ---- Answers that do not fit --------------------------------------------------------------- */

enum {
	WRONG_ID,
	WRONG_OP,
	WRONG_COUNT,
	WRONG_KEY,
	WRONG_NONE,
	WRONG_KINDS
};

static void answer_wrongly(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn) || !server_next(conn, &request)) {
		return;
	}
	struct chi_key keys[2] = {((const struct chi_positions *)request.body)->keys[0],
				  world_key(77)};
	switch (conn->number) {
	case WRONG_ID:
		server_answer_probe(conn, request.id + 1, keys, 1);
		break;
	case WRONG_OP: {
		struct chi_response put = {.id = request.id, .last = true, .op = CHI_OP_PUT};
		server_answer(conn, &put);
		break;
	}
	case WRONG_COUNT:
		server_answer_probe(conn, request.id, keys, 2);
		break;
	case WRONG_KEY:
		server_answer_probe(conn, request.id, keys + 1, 1);
		break;
	case WRONG_NONE: {
		struct chi_response none = {.id = request.id, .last = true, .status = CHI_NONE};
		server_answer(conn, &none);
		break;
	}
	default:
		server_answer_probe(conn, request.id, keys, 1);
		break;
	}
	server_wait_end(conn);
}

/* Each ends the connection, and the next call has a new one. */
CASE(wrong_answers)
{
	struct server server;
	server_start(&server, answer_wrongly);
	struct chi_client *client = server_open(&server, LONG_MS);
	struct chi_key key = world_key(0);
	struct chi_row row;
	for (int i = 0; i < WRONG_KINDS; i++) {
		world_refused(client, chi_probe(client, &key, 1, &row), -CHI_EPROTO,
			      server.address);
	}
	assert_int_equal(chi_probe(client, &key, 1, &row), CHI_OK);
	assert_true(row.found);
	assert_int_equal(atomic_load(&server.connections), WRONG_KINDS + 1);
	chi_close(client);
	server_stop(&server);
}

/* Connection 0 answers a put with "not found", 1 a get with another position's record, 2 an explore
 * with another position. */
static void answer_beside_the_point(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn) || !server_next(conn, &request)) {
		return;
	}
	struct chi_entry entry = {.key = world_key(77), .found = true};
	struct chi_response none = {.id = request.id, .last = true, .status = CHI_NONE};
	struct chi_response get = {.id = request.id,
				   .last = true,
				   .op = CHI_OP_GET,
				   .body = &(const struct chi_got){.entries = &entry, .n = 1}};
	struct chi_response explore = {.id = request.id, .last = true, .op = CHI_OP_EXPLORE};
	explore.body = &(const struct chi_explored){.position.key = world_key(77), .min_ply = -1};
	const struct chi_response *const answers[] = {&none, &get, &explore};
	server_answer(conn, answers[conn->number]);
	server_wait_end(conn);
}

CASE(answers_beside_the_point)
{
	struct server server;
	server_start(&server, answer_beside_the_point);
	struct chi_client *client = server_open(&server, LONG_MS);
	struct chi_put_entry put = {.key = world_key(0)};
	struct chi_record record;
	world_refused(client, chi_put(client, &put, 1, CHI_SYNC, NULL), -CHI_EPROTO, "not found");
	world_refused(client, chi_get(client, &put.key, &record), -CHI_EPROTO,
		      "get is one to another request");
	struct chi_explored explore;
	world_refused(client, chi_explore(client, &put.key, NULL, NULL, &explore), -CHI_EPROTO,
		      "explore is one to another request");
	assert_null(explore.moves);
	chi_close(client);
	server_stop(&server);
}

/* Sends rows for ever, whatever the client says. */
static void never_cancel(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn) || !server_next(conn, &request)) {
		return;
	}
	if (request.op == CHI_OP_PING) {
		server_pong(conn, &request);
		return;
	}
	struct chi_row row = {.found = true, .chi2 = 5, .key = world_key(0)};
	struct chi_response block = {.id = request.id, .op = CHI_OP_SCAN};
	const struct chi_scan_page page = {.rows = &row, .n = 1};
	block.body = &page;
	/* Far more than sockets hold: a client that reads on would read all of it. */
	for (unsigned i = 0; i < 10000000; i++) {
		size_t before = conn->sent;
		server_answer(conn, &block);
		if (conn->sent == before) {
			return;
		}
	}
	abort();
}

CASE(scan_that_cannot_be_canceled)
{
	struct server server;
	server_start(&server, never_cancel);
	struct chi_client *client = server_open(&server, LONG_MS);
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	struct chi_rows *iter = NULL;
	const struct chi_row *row = NULL;
	assert_int_equal(chi_scan_open(client, &spec, &iter), CHI_OK);
	assert_int_equal(chi_scan_next(iter, &row, NULL), CHI_OK);
	chi_rows_close(iter);
	assert_int_equal(chi_ping(client), CHI_OK);
	assert_int_equal(atomic_load(&server.connections), 2);
	chi_close(client);
	server_stop(&server);
}

/* ---- Going away ---------------------------------------------------------------------------- */

/* Connection 0: closes after the Hello, idle. 1: swallows a request. 2: answers a put and then
 * swallows one. Later ones answer pings. */
static void go_away(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn) || conn->number == 0) {
		return;
	}
	while (server_next(conn, &request)) {
		if (conn->number == 1) {
			return;
		}
		const struct chi_put_request *asked = request.body;
		if (request.op == CHI_OP_PUT && asked->n > 0 && conn->number == 2) {
			const struct chi_put_result result = {.added = asked->n};
			struct chi_response put = {
				.id = request.id, .last = true, .op = CHI_OP_PUT, .body = &result};
			server_answer(conn, &put);
		} else if (request.op == CHI_OP_PING && conn->number > 2) {
			server_pong(conn, &request);
		} else {
			return;
		}
	}
}

CASE(server_goes_away)
{
	struct server server;
	server_start(&server, go_away);
	struct chi_client *client = server_open(&server, LONG_MS);
	struct chi_put_entry puts[3] = {{.key = world_key(0)}};
	puts[1].key = world_key(1);
	puts[2].key = world_key(2);
	/* Connections 0 (idle: noticed before sending, unless the end comes that very moment) and
	 * 1 (in the middle of a call). */
	int status = chi_put(client, puts, 3, CHI_SYNC, NULL);
	world_refused(client, status, -CHI_ECONNECT, "may or may not have happened");
	while (atomic_load(&server.connections) < 2) {
		status = chi_put(client, puts, 3, CHI_SYNC, NULL);
		world_refused(client, status, -CHI_ECONNECT, "may or may not have happened");
	}
	/* Connection 2: an answered unsynced write, and the end before its flush. */
	assert_int_equal(chi_put(client, puts, 3, CHI_ASYNC, NULL), CHI_OK);
	world_refused(client, chi_ping(client), -CHI_ECONNECT, "closed the connection");
	world_refused(client, chi_flush(client), -CHI_ECONNECT, "3 written records");
	/* Said once; nothing is left to flush. */
	assert_int_equal(chi_flush(client), CHI_OK);
	assert_int_equal(chi_ping(client), CHI_OK);
	assert_int_equal(atomic_load(&server.connections), 4);
	chi_close(client);
	server_stop(&server);
}

/* Answers writes; a ping ends the connection. */
static void end_behind_a_write(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn)) {
		return;
	}
	while (server_next(conn, &request)) {
		if (request.op == CHI_OP_PING) {
			return;
		}
		struct chi_response put = {.id = request.id, .last = true, .op = request.op};
		server_answer(conn, &put);
	}
}

/* What a server was told before its connection broke is not vouched for by what comes later. */
CASE(synced_writes_vouch_for_nothing_lost)
{
	struct server server;
	server_start(&server, end_behind_a_write);
	struct chi_client *client = server_open(&server, LONG_MS);
	struct chi_put_entry puts[3] = {{.key = world_key(0)}, {.key = world_key(1)}};
	puts[2].key = world_key(2);
	for (int way = 0; way < 2; way++) {
		assert_int_equal(chi_put(client, puts, 3, CHI_ASYNC, NULL), CHI_OK);
		world_refused(client, chi_ping(client), -CHI_ECONNECT, "closed the connection");
		/* Unsynced ones promise nothing. */
		assert_int_equal(chi_put(client, puts, 1, CHI_ASYNC, NULL), CHI_OK);
		int status = way == 0 ? chi_put(client, puts, 1, CHI_SYNC, NULL)
				      : chi_delete(client, &puts[0].key, 1, CHI_SYNC, NULL);
		world_refused(client, status, -CHI_ECONNECT, "3 written records");
		assert_non_null(strstr(chi_error(client), "not sent"));
		assert_int_equal(chi_put(client, puts, 1, CHI_SYNC, NULL), CHI_OK);
		assert_int_equal(chi_flush(client), CHI_OK);
	}
	chi_close(client);
	server_stop(&server);
}

/* ---- Slow work ----------------------------------------------------------------------------- */

/* Answers a count only after having been asked three times whether it is alive. */
static void count_slowly(struct server_conn *conn)
{
	struct chi_request request;
	struct chi_request count;
	if (!server_greet(conn) || !server_next(conn, &count)) {
		return;
	}
	uint64_t id = count.id;
	for (int i = 0; i < 3; i++) {
		if (!server_next(conn, &request) || request.op != CHI_OP_PING) {
			return;
		}
		server_pong(conn, &request);
	}
	const struct chi_counted counted = {.count = 12, .mixed = true};
	struct chi_response answer = {.id = id, .last = true, .op = CHI_OP_COUNT, .body = &counted};
	server_answer(conn, &answer);
	while (server_next(conn, &request)) {
		server_pong(conn, &request);
	}
}

static void ignore_alarm(int number)
{
	(void)number;
}

/* A timer interrupts every wait meanwhile. */
CASE(slow_server)
{
	struct server server;
	/* Signals are for this thread: the server's blocks them. */
	sigset_t alarm_only;
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &alarm_only, NULL), 0);
	server_start(&server, count_slowly);
	assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL), 0);
	struct sigaction action = {.sa_handler = ignore_alarm};
	struct itimerval often = {{0, 3000}, {0, 3000}};
	struct itimerval never = {{0, 0}, {0, 0}};
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	struct chi_client *client = server_open(&server, 400);
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	uint64_t count = 0;
	bool mixed = false;
	int status = chi_scan_count(client, &spec, &count, &mixed);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(status, CHI_OK);
	assert_int_equal(count, 12);
	assert_true(mixed);
	assert_int_equal(chi_ping(client), CHI_OK);
	chi_close(client);
	server_stop(&server);
}
