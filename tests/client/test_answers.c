/* SPDX-License-Identifier: MIT */
/* Answers in any order, in pieces, cut short, and in a stream under the client's control. */
#include <stdlib.h>
#include <string.h>

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "base/attr.h"
#include "chistore.h"
#include "tests/base/cases.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

/* ---- Order --------------------------------------------------------------------------------- */

/* Gathers eight probes, then answers the last first. */
static void answer_backwards(struct server_conn *conn)
{
	struct chi_request request;
	struct {
		uint64_t id;
		struct chi_key keys[100];
		size_t n;
	} asked[8];
	if (!server_greet(conn)) {
		return;
	}
	for (;;) {
		for (size_t i = 0; i < 8; i++) {
			if (!server_next(conn, &request)) {
				return;
			}
			const struct chi_positions *positions = request.body;
			asked[i].id = request.id;
			asked[i].n = positions->n;
			memcpy(asked[i].keys, positions->keys, asked[i].n * sizeof(struct chi_key));
		}
		for (size_t i = 8; i-- > 0;) {
			server_answer_probe(conn, asked[i].id, asked[i].keys, asked[i].n);
		}
	}
}

CASE(answers_out_of_order)
{
	enum {
		N = 16 * 100 - 3
	}; /* sixteen requests at this server's limit of 100 */
	struct server server;
	server_start(&server, answer_backwards);
	struct chi_client *client = server_open(&server, LONG_MS);
	_cleanup_(chi_freep) struct chi_key *keys = calloc(N, sizeof(*keys));
	_cleanup_(chi_freep) struct chi_row *rows = calloc(N, sizeof(*rows));
	for (unsigned i = 0; i < N; i++) {
		keys[i] = world_key(i);
	}
	assert_int_equal(chi_probe(client, keys, N, rows), CHI_OK);
	for (unsigned i = 0; i < N; i++) {
		assert_memory_equal(&rows[i].key, &keys[i], sizeof(keys[i]));
		assert_int_equal(rows[i].chi2, 1 + keys[i].bytes[7]);
	}
	chi_close(client);
	server_stop(&server);
}

/* Everything byte by byte, and in pieces of two to nine bytes. */
static void dribble(struct server_conn *conn)
{
	conn->piece = conn->number + 1;
	answer_backwards(conn);
}

CASE(answers_in_pieces)
{
	struct server server;
	server_start(&server, dribble);
	for (size_t i = 0; i < 9; i++) {
		struct chi_client *client = server_open(&server, LONG_MS);
		struct chi_key keys[800];
		struct chi_row rows[800];
		for (unsigned k = 0; k < 800; k++) {
			keys[k] = world_key(k);
		}
		assert_int_equal(chi_probe(client, keys, 800, rows), CHI_OK);
		for (unsigned k = 0; k < 800; k++) {
			assert_int_equal(rows[k].chi2, 1 + keys[k].bytes[7]);
		}
		chi_close(client);
	}
	server_stop(&server);
}

/* Connection n ends after n + 1 bytes: within the Hello's answer, then within the probes'. */
static void cut_short(struct server_conn *conn)
{
	conn->cut = conn->number + 1;
	struct chi_request request;
	if (!server_greet(conn) || conn->sent == conn->cut || !server_next(conn, &request)) {
		return;
	}
	const struct chi_positions *positions = request.body;
	server_answer_probe(conn, request.id, positions->keys, positions->n);
	if (conn->sent < conn->cut) {
		server_wait_end(conn);
	}
}

CASE(answers_cut_short)
{
	struct server server;
	struct chi_options options = {CHI_OPTIONS_INIT, .call_ms = LONG_MS,
				      .repeat_ms = CHI_NO_REPEAT};
	struct chi_key key = world_key(0);
	unsigned opened = 0;
	bool answered = false;
	server_start(&server, cut_short);
	for (unsigned i = 0; !answered; i++) {
		struct chi_client *client = NULL;
		struct chi_row row;
		assert_true(i < 300);
		int status = chi_open(server.address, &options, &client, NULL);
		if (status != CHI_OK) {
			assert_int_equal(opened, 0);
			assert_int_equal(status, -CHI_ECONNECT);
			continue;
		}
		opened++;
		status = chi_probe(client, &key, 1, &row);
		answered = status == CHI_OK;
		assert_true(answered || status == -CHI_ECONNECT);
		chi_close(client);
	}
	/* The answer to the probe is longer than a few bytes, so it was cut at many places. */
	assert_true(opened > 10);
	server_stop(&server);
}

/* ---- Flow control -------------------------------------------------------------------------- */

#define SCAN_BLOCKS 100

/* Sends blocks of one row while the client's window and credit allow, to the end or until the scan
 * is canceled while it waits. */
static void scan_with_credit(struct server_conn *conn)
{
	struct chi_request request;
	if (!server_greet(conn)) {
		return;
	}
	while (server_next(conn, &request)) {
		if (request.op == CHI_OP_PING) {
			server_pong(conn, &request);
			continue;
		}
		if (request.op != CHI_OP_SCAN) {
			continue; /* credit or cancel that crossed the scan's last response */
		}
		uint64_t id = request.id;
		uint64_t credit = request.window;
		for (unsigned i = 0; i < SCAN_BLOCKS; i++) {
			while (credit == 0) {
				if (!server_next(conn, &request) || request.id != id) {
					return;
				}
				if (request.op == CHI_OP_CANCEL) {
					break;
				}
				credit += request.u.credit.responses;
			}
			struct chi_row row = {.found = true, .chi2 = 5, .key = world_key(i)};
			struct chi_response answer = {.id = id, .op = CHI_OP_SCAN};
			const struct chi_scan_page page = {.rows = &row, .n = 1, .mixed = i == 50};
			answer.body = &page;
			answer.last = i == SCAN_BLOCKS - 1;
			if (credit == 0) {
				answer = (struct chi_response){
					.id = id, .last = true, .status = -CHI_ECANCELED};
				i = SCAN_BLOCKS;
			} else {
				credit--;
			}
			server_answer(conn, &answer);
		}
	}
}

CASE(credit_and_cancel)
{
	struct server server;
	server_start(&server, scan_with_credit);
	struct chi_client *client = server_open(&server, LONG_MS);
	struct chi_scan_spec spec = {CHI_SCAN_SPEC_INIT, .chi2_max = CHI_CHI2_MAX};
	for (unsigned stop = SCAN_BLOCKS + 1; stop > 0; stop /= 3) {
		struct chi_rows *iter = NULL;
		const struct chi_row *row = NULL;
		unsigned n = 0;
		assert_int_equal(chi_scan_open(client, &spec, &iter), CHI_OK);
		while (n < stop && chi_scan_next(iter, &row, NULL) == CHI_OK) {
			struct chi_key key = world_key(n++);
			assert_memory_equal(&row->key, &key, sizeof(key));
		}
		assert_int_equal(n, stop > SCAN_BLOCKS ? SCAN_BLOCKS : stop);
		assert_int_equal(chi_rows_state(iter)->mixed, n > 50);
		chi_rows_close(iter);
		/* The same connection serves on. */
		assert_int_equal(chi_ping(client), CHI_OK);
	}
	assert_int_equal(atomic_load(&server.connections), 1);
	chi_close(client);
	server_stop(&server);
}

/* ---- While sending ------------------------------------------------------------------------- */

#define NOTE_LEN 60000
#define NOTES	 5

/* Reads nothing, until the client waits for room; only then it says why it ends, and does. */
static void answer_who_is_stuck(struct server_conn *conn)
{
	if (!server_greet(conn)) {
		return;
	}
	int unread = 0;
	int unsent = 1;
	/* What three notes take has come, and what fits of the fourth; if nothing of that fits the
	 * wait is in vain, and ends. */
	for (unsigned i = 0; i < 2000 && unread <= 3 * (NOTE_LEN + 100); i++) {
		(void)ioctl(conn->fd, FIONREAD, &unread);
		(void)poll(NULL, 0, 1);
	}
	static const char why[] = "you are shut out";
	struct chi_response end = {.status = -CHI_EACCES, .message = {why, sizeof(why) - 1}};
	server_answer(conn, &end);
	/* Not before the client has read that, still stuck. */
	for (unsigned i = 0; i < 2000 && unsent > 0; i++) {
		(void)ioctl(conn->fd, SIOCOUTQ, &unsent);
		(void)poll(NULL, 0, 1);
	}
}

CASE(answers_that_come_while_sending)
{
	struct server server;
	server_start(&server, answer_who_is_stuck);
	struct chi_client *client = server_open(&server, LONG_MS);
	_cleanup_(chi_freep) char *note = malloc(NOTE_LEN);
	struct chi_put_entry puts[NOTES];
	assert_non_null(note);
	memset(note, 'n', NOTE_LEN);
	for (unsigned i = 0; i < NOTES; i++) {
		puts[i] = (struct chi_put_entry){.key = world_key(i),
						 .parts = CHI_PUT_NOTE,
						 .record = {.note = note, .n_note = NOTE_LEN}};
	}
	world_refused(client, chi_put(client, puts, NOTES, CHI_SYNC, NULL), -CHI_EACCES,
		      "you are shut out");
	chi_close(client);
	server_stop(&server);
}
