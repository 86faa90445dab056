/* SPDX-License-Identifier: MIT */
/* What a server allows, and what this library allows itself whatever a server says: requests and
 * answers at the limit, below it and above. */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "chistore.h"
#include "proto/wire/frame.h"
#include "tests/base/cases.h"
#include "tests/client/server.h"
#include "tests/client/world.h"

/* What the next client is told, and the last request that the server was sent. */
static struct chi_hello_limits told;
static atomic_size_t got_bytes; /* of its body */
static atomic_size_t got_n;	/* positions or entries */
static atomic_uint got;		/* requests, of all clients */

/* ---- Requests ------------------------------------------------------------------------------ */

static void take_all(struct server_conn *conn)
{
	struct chi_request request;
	conn->limits = &told;
	if (!server_greet(conn)) {
		return;
	}
	while (server_next(conn, &request)) {
		uint8_t head[CHI_FRAME_HEAD_MAX];
		size_t n = 1;
		while (chi_frame_head(conn->taken - n, head) != n) {
			n++;
		}
		bool probe = request.op == CHI_OP_PROBE;
		atomic_store(&got_bytes, conn->taken - n);
		const struct chi_positions *positions = request.body;
		atomic_store(&got_n, probe ? positions->n
					   : ((const struct chi_put_request *)request.body)->n);
		atomic_fetch_add(&got, 1);
		if (probe) {
			server_answer_probe(conn, request.id, positions->keys, positions->n);
			continue;
		}
		struct chi_response put = {.id = request.id, .last = true, .op = CHI_OP_PUT};
		server_answer(conn, &put);
	}
}

/* Of a request, by notes: what it takes beside the last of them is found out first. */
CASE(bytes_of_a_request)
{
	static char note[CHI_NOTE_MAX];
	static const struct {
		uint32_t told; /* 0: nothing */
		uint32_t limit;
		size_t n;    /* entries before the last */
		size_t note; /* of each of them */
		size_t last; /* the least of the last */
	} table[] = {
		{CHI_FRAME_REQUEST_MAX, CHI_FRAME_REQUEST_MAX, 17, 58000, 20000},
		{2 * CHI_FRAME_REQUEST_MAX, CHI_FRAME_REQUEST_MAX, 17, 58000, 20000},
		{0, CHI_FRAME_REQUEST_MAX, 17, 58000, 20000},
		{5000, 5000, 1, 4000, 600},
		{20000, 20000, 1, 17000, 600},
	};
	struct server server;
	memset(note, 'n', sizeof(note));
	server_start(&server, take_all);
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		told = (struct chi_hello_limits){.request_bytes = table[i].told};
		struct chi_client *client = server_open(&server, LONG_MS);
		struct chi_put_entry puts[18] = {{.parts = 0}};
		for (size_t k = 0; k <= table[i].n; k++) {
			puts[k].key = world_key((unsigned)k);
			puts[k].parts = CHI_PUT_NOTE;
			puts[k].record.note = note;
			puts[k].record.n_note = k < table[i].n ? table[i].note : table[i].last;
		}
		struct chi_record *last = &puts[table[i].n].record;
		world_ok(client, chi_put(client, puts, table[i].n + 1, CHI_SYNC, NULL));
		const size_t room = table[i].limit - atomic_load(&got_bytes);
		for (size_t more = room - 1; more <= room + 1; more++) {
			unsigned before = atomic_load(&got);
			last->n_note = table[i].last + more;
			int status = chi_put(client, puts, table[i].n + 1, CHI_SYNC, NULL);
			if (more > room) {
				world_refused(client, status, -CHI_ETOOBIG, "split it");
				assert_int_equal(atomic_load(&got), before);
				continue;
			}
			world_ok(client, status);
			assert_int_equal(atomic_load(&got_bytes), table[i].limit - (room - more));
		}
		chi_close(client);
	}
	server_stop(&server);
}

/* A large probe is cut into as large pieces as the server takes, and as the protocol has. */
CASE(positions_of_a_probe)
{
	static const struct {
		uint32_t told;
		size_t piece;
	} table[] = {{0, CHI_PROBE_MAX},
		     {CHI_PROBE_MAX - 1, CHI_PROBE_MAX - 1},
		     {CHI_PROBE_MAX, CHI_PROBE_MAX},
		     {CHI_PROBE_MAX + 1, CHI_PROBE_MAX}};
	struct server server;
	struct chi_row *rows = calloc(CHI_PROBE_MAX + 1, sizeof(*rows));
	struct chi_key *keys = calloc(CHI_PROBE_MAX + 1, sizeof(*keys));
	assert_true(rows != NULL && keys != NULL);
	for (unsigned i = 0; i <= CHI_PROBE_MAX; i++) {
		keys[i] = world_key(i);
	}
	server_start(&server, take_all);
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		told = (struct chi_hello_limits){.probe_positions = table[i].told};
		struct chi_client *client = server_open(&server, LONG_MS);
		for (size_t n = table[i].piece - 1; n <= table[i].piece + 1; n++) {
			unsigned before = atomic_load(&got);
			world_ok(client, chi_probe(client, keys, n, rows));
			bool one = n <= table[i].piece;
			assert_int_equal(atomic_load(&got) - before, one ? 1 : 2);
			assert_int_equal(atomic_load(&got_n), one ? n : 1);
		}
		chi_close(client);
	}
	server_stop(&server);
	free(rows);
	free(keys);
}

CASE(entries_of_a_put)
{
	struct server server;
	struct chi_put_entry *puts = calloc(CHI_PUT_MAX + 1, sizeof(*puts));
	assert_non_null(puts);
	for (unsigned i = 0; i <= CHI_PUT_MAX; i++) {
		puts[i].key = world_key(i);
	}
	server_start(&server, take_all);
	const uint32_t table[] = {0, 5, CHI_PUT_MAX, CHI_PUT_MAX + 1};
	for (size_t i = 0; i < CHI_COUNT(table); i++) {
		told = (struct chi_hello_limits){.put_entries = table[i]};
		struct chi_client *client = server_open(&server, LONG_MS);
		const size_t most = table[i] == 5 ? 5 : CHI_PUT_MAX;
		for (size_t n = most - 1; n <= most + 1; n++) {
			unsigned before = atomic_load(&got);
			int status = chi_put(client, puts, n, CHI_SYNC, NULL);
			assert_int_equal(status, n <= most ? CHI_OK : -CHI_ETOOBIG);
			assert_int_equal(atomic_load(&got) - before, n <= most ? 1 : 0);
			assert_int_equal(atomic_load(&got_n), n <= most ? n : most);
		}
		chi_close(client);
	}
	server_stop(&server);
	free(puts);
}

/* ---- Answers ------------------------------------------------------------------------------- */

/* The first client's is a byte below the limit, the third's a byte above. A field that no one
 * knows makes up the length. */
static void pong_at_length(struct server_conn *conn)
{
	struct chi_request request;
	uint8_t bytes[32] = {0};
	const size_t len = CHI_FRAME_RESPONSE_MAX - 1 + conn->number;
	if (!server_greet(conn) || !server_next(conn, &request)) {
		return;
	}
	size_t n = chi_frame_head(len, bytes);
	/* id, last, an empty pong; a field 1000 of bytes. */
	const uint8_t answer[] = {0x08, (uint8_t)request.id, 0x28, 1, 0x5a, 0, 0xc2, 0x3e};
	memcpy(bytes + n, answer, sizeof(answer));
	n += sizeof(answer);
	const size_t rest = len - sizeof(answer) - 4;
	n += chi_frame_head(rest, bytes + n);
	server_send(conn, bytes, n);
	uint8_t *zeros = calloc(rest, 1);
	if (zeros != NULL) {
		server_send(conn, zeros, rest);
		server_wait_end(conn);
	}
	free(zeros);
}

CASE(bytes_of_an_answer)
{
	struct server server;
	server_start(&server, pong_at_length);
	for (int over = -1; over <= 1; over++) {
		struct chi_client *client = server_open(&server, LONG_MS);
		int status = chi_ping(client);
		if (over <= 0) {
			world_ok(client, status);
		} else {
			world_refused(client, status, -CHI_EPROTO, "not an answer from chistored");
		}
		chi_close(client);
	}
	server_stop(&server);
}
