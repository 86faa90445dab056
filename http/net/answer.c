/* SPDX-License-Identifier: MIT */
/* Answers as bytes: status line, fields, body; compressed and conditional where asked. */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "http/net/conn.h"
#include "http/net/pack.h"

#define COMPRESS_LEAST 1024
#define COMPRESS_MOST  ((size_t)4 << 20) /* larger ones would hold up the loop */
#define GZIP_LEVEL     4
#define ZSTD_LEVEL     1
#define HEAD_SIZE      1024

/* What is sent as the body. */
struct body {
	const void *bytes;
	size_t len;
	const char *encoding; /* NULL: none */
	char tag[32];	      /* "": none */
};

size_t answer_compress(struct call *call, const void *bytes, size_t len, void *out)
{
	if (len < COMPRESS_LEAST || len > COMPRESS_MOST) {
		return 0;
	}
	size_t n = call->zstd ? ZSTD_compress(out, len, bytes, len, ZSTD_LEVEL)
			      : pack_gzip(GZIP_LEVEL, bytes, len, out);
	chi_counter_add(&call->loop->counters.compressed, 1);
	return call->zstd && ZSTD_isError(n) ? 0 : n;
}

/* Only if it becomes smaller. */
static void compress_body(struct conn *conn, struct call *call, struct body *body)
{
	struct kept_bytes packed = {NULL, 0};
	if (!call->zstd && !call->gzip) {
		return;
	}
	if (call->kept != NULL) {
		packed = kept_packed(conn->loop->cache, call);
	} else {
		void *out = chi_arena_alloc(&call->arena, body->len);
		packed.len = out != NULL ? answer_compress(call, body->bytes, body->len, out) : 0;
		packed.bytes = packed.len > 0 ? out : NULL;
	}
	if (packed.bytes != NULL) {
		body->bytes = packed.bytes;
		body->len = packed.len;
		body->encoding = call->zstd ? "zstd" : "gzip";
	}
}

/* The answer's name for If-None-Match: of its bytes, before they are compressed; an encoding makes
 * another name. */
static void body_of(struct conn *conn, struct call *call, struct body *body)
{
	const struct page_file *file = call->file;
	if (file != NULL) {
		bool zip = call->gzip && file->gzip != NULL;
		*body = (struct body){.bytes = zip ? file->gzip : file->bytes,
				      .len = zip ? file->gzip_len : file->len,
				      .encoding = zip ? "gzip" : NULL};
		(void)snprintf(body->tag, sizeof(body->tag), "\"%s%s\"", file->tag, zip ? "g" : "");
		return;
	}
	uint64_t hash = 0;
	*body = (struct body){.encoding = NULL};
	if (call->kept != NULL) {
		struct kept_bytes plain = kept_plain(call->kept, &hash);
		body->bytes = plain.bytes;
		body->len = plain.len;
	} else {
		body->bytes = chi_buffer_bytes(&call->out.buffer);
		body->len = call->out.buffer.len;
	}
	if (call->version == 9) {
		return;
	}
	if (call->kept == NULL && call->http == 200 && body->len > 0) {
		hash = XXH3_64bits(body->bytes, body->len);
	}
	compress_body(conn, call, body);
	if (hash != 0) {
		(void)snprintf(body->tag, sizeof(body->tag), "\"%016llx%c\"",
			       (unsigned long long)hash,
			       body->encoding == NULL ? 'i' : body->encoding[0]);
	}
}

static bool matches(const char *tags, const char *tag)
{
	return tag[0] != '\0' && (strcmp(tags, "*") == 0 || strstr(tags, tag) != NULL);
}

/* All of the fields but those of the body. */
static int head_of(const struct call *call, char out[HEAD_SIZE])
{
	bool options = call->method == CHI_HTTP_OPTIONS;
	return snprintf(out, HEAD_SIZE,
			"HTTP/1.1 %d %s\r\nServer: chistore\r\nAccess-Control-Allow-Origin: *\r\n"
			"X-Content-Type-Options: nosniff\r\n%s%s%s%s",
			call->http, chi_http_reason(call->http),
			call->keep_alive ? (call->version == 10 ? "Connection: keep-alive\r\n" : "")
					 : "Connection: close\r\n",
			call->http == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
			call->http == 503 ? "Retry-After: 1\r\n" : "",
			options || call->http == 405
				? "Allow: GET, HEAD, POST, PUT, OPTIONS\r\n"
				  "Access-Control-Allow-Methods: GET, HEAD, POST, PUT, OPTIONS\r\n"
				  "Access-Control-Allow-Headers: Authorization, Content-Type\r\n"
				  "Access-Control-Max-Age: 86400\r\n"
				: "");
}

/* Nothing that a text of a game could smuggle into the page runs, or tells another server. */
static const char page_policy[] =
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
	"img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
	"Referrer-Policy: no-referrer\r\n";

/* Memory for so many bytes that are added one after the other, so that they do not grow it. */
static void make_output_room(struct conn *conn, size_t len)
{
	if (conn->out.data == NULL) {
		chi_buffer_pool_get(&conn->loop->buffers, &conn->out, len);
	}
	(void)chi_buffer_reserve(&conn->out, len);
}

static void add_bytes(struct conn *conn, const void *bytes, size_t len)
{
	if (len > 0 && !conn->cut && !conn_append(conn, &conn->out, bytes, len)) {
		/* Nothing that makes sense can follow. */
		conn->cut = true;
		conn->at_end = true;
		conn->call->keep_alive = false;
	}
}

void answer_put(struct conn *conn, struct call *call)
{
	char head[HEAD_SIZE];
	struct body body;
	body_of(conn, call, &body);
	bool same = call->http == 200 && matches(call->tags, body.tag);
	call->http = same ? 304 : call->http;
	bool empty = same || call->http == 204;
	chi_counter_add(&conn->loop->counters.requests[call->http / 100 % STATUS_CLASSES], 1);
	if (call->version == 9) {
		add_bytes(conn, body.bytes, body.len);
		return;
	}
	int n = head_of(call, head);
	if (!empty) {
		n += snprintf(head + n, HEAD_SIZE - (size_t)n,
			      "Content-Type: %s\r\nContent-Length: %zu\r\n%s%s%s", call->type,
			      body.len, body.encoding != NULL ? "Content-Encoding: " : "",
			      body.encoding != NULL ? body.encoding : "",
			      body.encoding != NULL ? "\r\n" : "");
	}
	if (call->file != NULL) {
		n += snprintf(head + n, HEAD_SIZE - (size_t)n, "%s", page_policy);
	}
	if (body.tag[0] != '\0') {
		n += snprintf(head + n, HEAD_SIZE - (size_t)n,
			      "ETag: %s\r\nVary: Accept-Encoding\r\nCache-Control: no-cache\r\n",
			      body.tag);
	}
	n += snprintf(head + n, HEAD_SIZE - (size_t)n, "\r\n");
	size_t len = empty || call->method == CHI_HTTP_HEAD ? 0 : body.len;
	make_output_room(conn, (size_t)n + len);
	add_bytes(conn, head, (size_t)n);
	add_bytes(conn, body.bytes, len);
}

static void begin_stream(struct conn *conn, struct call *call)
{
	char head[HEAD_SIZE];
	bool chunked = call->version == 11;
	call->streaming = true;
	call->keep_alive = call->keep_alive && chunked;
	chi_counter_add(&conn->loop->counters.requests[2], 1);
	if (call->version == 9) {
		return;
	}
	if (call->zstd || call->gzip) {
		call->pack = pack_new(call->zstd);
	}
	int n = head_of(call, head);
	n += snprintf(head + n, HEAD_SIZE - (size_t)n,
		      "Content-Type: %s\r\nVary: Accept-Encoding\r\n%s%s\r\n", call->type,
		      call->pack == NULL ? ""
		      : call->zstd	 ? "Content-Encoding: zstd\r\n"
					 : "Content-Encoding: gzip\r\n",
		      chunked ? "Transfer-Encoding: chunked\r\n" : "");
	add_bytes(conn, head, (size_t)n);
}

static void add_part(struct conn *conn, const struct chi_buffer *part)
{
	char head[32];
	bool chunked = conn->call->version == 11;
	if (part->len > 0) {
		int n = snprintf(head, sizeof(head), "%zx\r\n", part->len);
		make_output_room(conn, part->len + sizeof(head));
		add_bytes(conn, head, chunked ? (size_t)n : 0);
		add_bytes(conn, chi_buffer_bytes(part), part->len);
		add_bytes(conn, "\r\n", chunked ? 2 : 0);
	}
}

void answer_put_part(struct conn *conn, struct call *call)
{
	struct chi_buffer *out = &call->out.buffer;
	struct chi_buffer packed;
	if (!call->streaming) {
		begin_stream(conn, call);
	}
	if (call->method == CHI_HTTP_HEAD) {
		call->more = false;
		return;
	}
	chi_buffer_init(&packed, SIZE_MAX);
	if (call->pack == NULL) {
		add_part(conn, out);
	} else if (pack_add(call->pack, chi_buffer_bytes(out), out->len, !call->more, &packed) ==
		   CHI_OK) {
		add_part(conn, &packed);
	} else {
		/* The client sees that the end is missing. */
		conn->at_end = true;
		call->keep_alive = false;
		call->more = false;
		chi_buffer_deinit(&packed);
		return;
	}
	chi_buffer_deinit(&packed);
	if (!call->more) {
		add_bytes(conn, "0\r\n\r\n", call->version == 11 ? 5 : 0);
	}
	out_reset(&call->out);
}
