/* SPDX-License-Identifier: MIT */
/*
 * bench_load PROTOCOL SOCKET STORE LISTS: any number of clients in one loop, against a server of
 * ours or of another make on a Unix socket. Requests are made beforehand, each client has its own
 * stretch of them, sends as many as are to be on the way with one write, and the next ones when all
 * are answered, as hiredis and redis-benchmark do it. Operations:
 *
 *   load                            fills the server with the records of STORE
 *   load-rows                       and with the rows of its strength order
 *   get LIST CLIENTS PIPELINE BATCH COUNT   the first COUNT positions of the list
 *   put CLIENTS COUNT               COUNT requests that change one position each
 *   idle CLIENTS                    so many connections more, one request each, then silent
 *
 * "done" is positions, "sum" how many were found.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/lists.h"
#include "bench/load.h"
#include "bench/records.h"

#define CLIENTS_MAX   20000
#define READ_SIZE     ((size_t)256 << 10)
#define BUFFER_LIMIT  ((size_t)16 << 30)
#define LOAD_PIPELINE 1000

static const char *const names[] = {"games", "random", "search"};
#define LISTS (sizeof(names) / sizeof(names[0]))

struct connection {
	int fd;
	struct chi_buffer in;
	size_t next;	/* first request not sent yet */
	size_t end;	/* of its stretch */
	size_t waiting; /* first request not answered yet */
	size_t sent;	/* bytes of the requests that are out, an offset into their text */
};

struct bench {
	const struct load_protocol *protocol;
	const char *socket;
	const char *source;
	struct bench_list lists[LISTS];
	int epoll;
	struct connection *connections; /* CLIENTS_MAX */
	size_t n_connections;
	uint64_t turn; /* puts differ from those before */
	/* The requests of an operation: text, and where each begins; starts[n] is the end. */
	struct chi_buffer text;
	size_t *starts;
	size_t n_requests;
	size_t capacity;
	size_t batch; /* keys of a request; the last may have fewer */
	size_t n_keys;
	uint64_t found;
};

void load_append(struct chi_buffer *out, const void *bytes, size_t len)
{
	if (chi_buffer_append(out, bytes, len) != CHI_OK) {
		bench_die("out of memory");
	}
}

void load_print(struct chi_buffer *out, const char *format, ...)
{
	char text[128];
	va_list list;
	va_start(list, format);
	int len = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	load_append(out, text, (size_t)len);
}

size_t load_line(const uint8_t *bytes, size_t len, size_t skip, int64_t *number)
{
	const uint8_t *end = memchr(bytes, '\n', len);
	size_t at = skip;
	bool minus = false;
	if (end == NULL) {
		return 0;
	}
	size_t line = (size_t)(end - bytes) + 1;
	if (at < line && bytes[at] == '-') {
		minus = true;
		at++;
	}
	for (*number = 0; at < line && bytes[at] >= '0' && bytes[at] <= '9'; at++) {
		*number = *number * 10 + (bytes[at] - '0');
	}
	*number = minus ? -*number : *number;
	return line;
}

void load_value(uint64_t turn, uint8_t out[LOAD_VALUE_SIZE])
{
	memset(out, 'v', LOAD_VALUE_SIZE);
	memcpy(out, &turn, sizeof(turn));
}

/* ---- Connections --------------------------------------------------------------------------- */

static void send_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
		if (n < 0) {
			bench_die("send: %s", strerror(errno));
		}
		bytes += n;
		len -= (size_t)n;
	}
}

/* One request and its answer on a connection that still blocks. */
static void exchange(struct bench *bench, struct connection *c, struct chi_buffer *request)
{
	uint8_t bytes[4096];
	size_t len = 0;
	uint64_t found = 0;
	send_all(c->fd, chi_buffer_bytes(request), request->len);
	do {
		ssize_t n = recv(c->fd, bytes + len, sizeof(bytes) - len, 0);
		if (n <= 0) {
			bench_die("the server hung up");
		}
		len += (size_t)n;
	} while (bench->protocol->answer(bytes, len, 1, &found) == 0);
}

static void open_connection(struct bench *bench)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct connection *c = &bench->connections[bench->n_connections];
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = bench->n_connections};
	if (bench->n_connections == CLIENTS_MAX || strlen(bench->socket) >= sizeof(name.sun_path)) {
		bench_die("too many clients, or too long a path");
	}
	memcpy(name.sun_path, bench->socket, strlen(bench->socket) + 1);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&name, sizeof(name)) != 0) {
		bench_die("cannot connect to '%s': %s", bench->socket, strerror(errno));
	}
	chi_buffer_init(&c->in, BUFFER_LIMIT);
	if (bench->protocol->hello != NULL) {
		struct chi_buffer request;
		chi_buffer_init(&request, 4096);
		bench->protocol->hello(&request);
		exchange(bench, c, &request);
		chi_buffer_deinit(&request);
	}
	if (epoll_ctl(bench->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0) {
		bench_die("epoll: %s", strerror(errno));
	}
	bench->n_connections++;
}

/* ---- Requests ------------------------------------------------------------------------------ */

static void clear_requests(struct bench *bench, size_t batch)
{
	chi_buffer_consume(&bench->text, bench->text.len);
	bench->n_requests = 0;
	bench->n_keys = 0;
	bench->batch = batch;
	bench->found = 0;
}

/* Called before the text of a request is appended, and once after the last. */
static void mark_start(struct bench *bench)
{
	if (bench->n_requests + 1 >= bench->capacity) {
		bench->capacity = bench->capacity == 0 ? 65536 : bench->capacity * 2;
		bench->starts = realloc(bench->starts, bench->capacity * sizeof(*bench->starts));
		if (bench->starts == NULL) {
			bench_die("out of memory");
		}
	}
	bench->starts[bench->n_requests] = bench->text.len;
}

static void make_gets(struct bench *bench, const struct bench_list *list, size_t batch, size_t n)
{
	n = n < list->n ? n : list->n;
	clear_requests(bench, batch);
	for (size_t i = 0; i < n; i += batch) {
		mark_start(bench);
		bench->protocol->get(&bench->text, list->keys + i, n - i < batch ? n - i : batch);
		bench->n_requests++;
	}
	mark_start(bench);
	bench->n_keys = n;
}

static void make_puts(struct bench *bench, size_t n)
{
	const struct bench_list *random = &bench->lists[1];
	clear_requests(bench, 1);
	bench->turn++;
	for (size_t i = 0; i < n; i++) {
		mark_start(bench);
		bench->protocol->put(&bench->text, &random->keys[i % random->n],
				     bench->turn + i / random->n);
		bench->n_requests++;
	}
	bench->turn += n / random->n;
	mark_start(bench);
	bench->n_keys = n;
}

/* ---- The loop ------------------------------------------------------------------------------ */

/* How many keys request `i` asks for. */
static size_t keys_of(const struct bench *bench, size_t i)
{
	size_t left = bench->n_keys - i * bench->batch;
	return left < bench->batch ? left : bench->batch;
}

/* Sends what is marked as sent; what the socket does not take now goes when answers have come, as
 * a server that is not read from will not answer for ever. */
static void push(struct bench *bench, struct connection *c)
{
	size_t end = bench->starts[c->next];
	if (c->sent == end) {
		return;
	}
	ssize_t n = send(c->fd, chi_buffer_bytes(&bench->text) + c->sent, end - c->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN) {
		bench_die("send: %s", strerror(errno));
	}
	c->sent += n > 0 ? (size_t)n : 0;
	struct epoll_event event = {.events = EPOLLIN | (c->sent < end ? EPOLLOUT : 0u),
				    .data.u64 = (uint64_t)(c - bench->connections)};
	if (c->sent < end || n < (ssize_t)0) {
		(void)epoll_ctl(bench->epoll, EPOLL_CTL_MOD, c->fd, &event);
	}
}

/* The next requests, if all before are answered. */
static void ask(struct bench *bench, struct connection *c, size_t pipeline)
{
	if (c->waiting == c->next && c->next < c->end) {
		size_t left = c->end - c->next;
		c->next += left < pipeline ? left : pipeline;
		push(bench, c);
	}
}

/* Takes all answers that are whole; false if the connection has nothing left to do. */
static bool take_answers(struct bench *bench, struct connection *c)
{
	uint8_t *room = chi_buffer_reserve(&c->in, READ_SIZE);
	if (room == NULL) {
		bench_die("out of memory");
	}
	ssize_t n = recv(c->fd, room, READ_SIZE, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		bench_die("the server hung up");
	}
	chi_buffer_added(&c->in, n > 0 ? (size_t)n : 0);
	while (c->in.len > 0 && c->waiting < c->next) {
		size_t used = bench->protocol->answer(chi_buffer_bytes(&c->in), c->in.len,
						      keys_of(bench, c->waiting), &bench->found);
		if (used == 0) {
			break;
		}
		chi_buffer_consume(&c->in, used);
		c->waiting++;
	}
	return c->waiting < c->end;
}

/* Each client gets a stretch of the requests; returns how many have something to do. */
static size_t deal(struct bench *bench, size_t clients)
{
	size_t busy = 0;
	for (size_t i = 0; i < clients; i++) {
		struct connection *c = &bench->connections[i];
		c->next = c->waiting = bench->n_requests * i / clients;
		c->end = bench->n_requests * (i + 1) / clients;
		c->sent = bench->starts[c->next];
		busy += c->next < c->end;
	}
	return busy;
}

static void drive(struct bench *bench, size_t clients, size_t pipeline, struct bench_result *out)
{
	struct epoll_event events[256];
	if (clients == 0 || pipeline == 0) {
		bench_die("no clients, or nothing on the way");
	}
	while (bench->n_connections < clients) {
		open_connection(bench);
	}
	size_t busy = deal(bench, clients);
	uint64_t start = bench_now();
	for (size_t i = 0; i < clients; i++) {
		ask(bench, &bench->connections[i], pipeline);
	}
	while (busy > 0) {
		int n = epoll_wait(bench->epoll, events, 256, 60000);
		if (n <= 0) {
			bench_die("the server does not answer");
		}
		for (int i = 0; i < n; i++) {
			struct connection *c = &bench->connections[events[i].data.u64];
			if ((events[i].events & EPOLLOUT) != 0) {
				struct epoll_event event = {.events = EPOLLIN,
							    .data.u64 = events[i].data.u64};
				(void)epoll_ctl(bench->epoll, EPOLL_CTL_MOD, c->fd, &event);
				push(bench, c);
			}
			if ((events[i].events & ~(uint32_t)EPOLLOUT) != 0 &&
			    !take_answers(bench, c)) {
				busy--;
			}
			ask(bench, c, pipeline);
		}
	}
	out->ns = bench_now() - start;
	out->done = bench->n_keys;
	out->sum = bench->found;
}

/* ---- Operations ---------------------------------------------------------------------------- */

static void add_record(void *context, const void *key, size_t key_len, const void *value,
		       size_t value_len)
{
	struct bench *bench = context;
	mark_start(bench);
	bench->protocol->load(&bench->text, key, key_len, value, value_len);
	bench->n_requests++;
}

/* The statistic's bytes are exchanged, so that the bytes alone are the order. */
static void add_row(void *context, const void *key, size_t key_len, const void *value,
		    size_t value_len)
{
	struct bench *bench = context;
	uint8_t row[2 + CHI_KEY_MAX];
	(void)value;
	(void)value_len;
	if (key_len < 2 || key_len > sizeof(row)) {
		bench_die("a row of %zu bytes", key_len);
	}
	memcpy(row, key, key_len);
	row[0] = ((const uint8_t *)key)[1];
	row[1] = ((const uint8_t *)key)[0];
	mark_start(bench);
	bench->protocol->load_row(&bench->text, row, key_len);
	bench->n_requests++;
}

static void load(struct bench *bench, const char *tree, bench_record *add, struct bench_result *out)
{
	clear_requests(bench, 1);
	(void)bench_records_each(bench->source, tree, add, bench);
	mark_start(bench);
	bench->n_keys = bench->n_requests;
	drive(bench, 1, LOAD_PIPELINE, out);
}

/* Those that are there stay open until the process ends. */
static void idle(struct bench *bench, size_t clients, struct bench_result *out)
{
	make_gets(bench, &bench->lists[0], 1, clients);
	drive(bench, clients, 1, out);
}

static bool run_line(void *context, const char *line, struct bench_result *out)
{
	struct bench *bench = context;
	char list[16];
	size_t clients;
	size_t pipeline;
	size_t batch;
	size_t n;
	if (strcmp(line, "load") == 0 && bench->protocol->load != NULL) {
		load(bench, "position", add_record, out);
		return true;
	}
	if (strcmp(line, "load-rows") == 0 && bench->protocol->load_row != NULL) {
		load(bench, "strength", add_row, out);
		return true;
	}
	if (sscanf(line, "put %zu %zu", &clients, &n) == 2) {
		make_puts(bench, n);
		drive(bench, clients, 1, out);
		return true;
	}
	if (sscanf(line, "idle %zu", &clients) == 1) {
		idle(bench, clients, out);
		return true;
	}
	if (sscanf(line, "get %15s %zu %zu %zu %zu", list, &clients, &pipeline, &batch, &n) != 5 ||
	    batch == 0) {
		return false;
	}
	for (size_t i = 0; i < LISTS; i++) {
		if (strcmp(list, names[i]) == 0) {
			make_gets(bench, &bench->lists[i], batch, n);
			drive(bench, clients, pipeline, out);
			return true;
		}
	}
	return false;
}

static const struct load_protocol *find_protocol(const char *name)
{
	const struct load_protocol *all[] = {&load_chistore, &load_redis, &load_memcached};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(all[i]->name, name) == 0) {
			return all[i];
		}
	}
	bench_die("no such protocol: '%s'", name);
}

int main(int argc, char **argv)
{
	struct bench bench = {0};
	if (argc != 5) {
		fprintf(stderr, "usage: bench_load PROTOCOL SOCKET STORE LISTS\n");
		return 2;
	}
	bench.protocol = find_protocol(argv[1]);
	bench.socket = argv[2];
	bench.source = argv[3];
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_load(argv[4], names[i], &bench.lists[i]);
	}
	bench.epoll = epoll_create1(EPOLL_CLOEXEC);
	bench.connections = calloc(CLIENTS_MAX, sizeof(*bench.connections));
	if (bench.epoll < 0 || bench.connections == NULL) {
		bench_die("out of memory");
	}
	chi_buffer_init(&bench.text, BUFFER_LIMIT);
	bench_serve(run_line, &bench);
	for (size_t i = 0; i < bench.n_connections; i++) {
		close(bench.connections[i].fd);
		chi_buffer_deinit(&bench.connections[i].in);
	}
	chi_buffer_deinit(&bench.text);
	free(bench.starts);
	free(bench.connections);
	for (size_t i = 0; i < LISTS; i++) {
		bench_list_free(&bench.lists[i]);
	}
	return 0;
}
