/* SPDX-License-Identifier: MIT */
/* Heads as clients send them, as attackers do, and cut at every byte. */
#include <stdlib.h>
#include <string.h>

#include "service/net/http_head.h"
#include "tests/base/cases.h"

static int parse(const char *text, struct chi_http_head *head)
{
	const char *why = NULL;
	size_t used = 0;
	int status = chi_http_head_parse(text, strlen(text), head, &used, &why);
	assert_non_null(why);
	if (status == 0) {
		assert_true(used <= strlen(text));
	}
	return status;
}

static void assert_text(struct chi_slice text, const char *wanted)
{
	assert_int_equal(text.len, strlen(wanted));
	assert_memory_equal(text.at, wanted, text.len);
}

static const char usual[] = "GET /api/x?a=b&c HTTP/1.1\r\nHost: localhost:8080\r\n"
			    "accept-encoding: gzip;q=1.0, zstd\r\nIf-None-Match: \"1\"\r\n"
			    "Authorization:Bearer abc \r\nX: \r\n\r\n";

CASE(test_usual)
{
	struct chi_http_head head;
	assert_int_equal(parse(usual, &head), 0);
	assert_int_equal(head.method, CHI_HTTP_GET);
	assert_int_equal(head.version, 11);
	assert_true(head.keep_alive);
	assert_text(head.path, "/api/x");
	assert_text(head.query, "a=b&c");
	assert_text(head.host, "localhost:8080");
	assert_text(head.authorization, "Bearer abc");
	assert_text(head.tags, "\"1\"");
	assert_true(chi_http_list_has(head.encodings, "gzip"));
	assert_true(chi_http_list_has(head.encodings, "zstd"));
	assert_false(chi_http_list_has(head.encodings, "br"));
}

/* Every part of a head is a part of one: it asks for more and refuses nothing. */
CASE(test_cut_at_every_byte)
{
	struct chi_http_head head;
	const char *why = NULL;
	size_t used = 0;
	for (size_t len = 0; len < sizeof(usual) - 1; len++) {
		/* A copy of that size: what is read beyond it is seen by the sanitizers. */
		char *part = malloc(len + 1);
		assert_non_null(part);
		memcpy(part, usual, len);
		assert_int_equal(chi_http_head_parse(len > 0 ? part : "", len, &head, &used, &why),
				 1);
		free(part);
	}
}

CASE(test_without_a_version)
{
	struct chi_http_head head;
	assert_int_equal(
		parse("GET https://www.chessdb.cn/cdb.php?action=querybest&board=8/8 w\n", &head),
		400);
	assert_int_equal(
		parse("GET https://www.chessdb.cn/cdb.php?action=querybest&board=8/8+w\n", &head),
		0);
	assert_int_equal(head.version, 9);
	assert_false(head.keep_alive);
	assert_text(head.path, "/cdb.php");
	assert_text(head.query, "action=querybest&board=8/8+w");
	assert_int_equal(parse("POST /cdb.php\n", &head), 400);
}

CASE(test_absolute_form)
{
	struct chi_http_head head;
	assert_int_equal(parse("GET http://www.chessdb.cn/cdb.php?a HTTP/1.1\r\n\r\n", &head), 0);
	assert_text(head.path, "/cdb.php");
	assert_int_equal(parse("GET http://www.chessdb.cn HTTP/1.1\r\n\r\n", &head), 400);
	assert_int_equal(parse("OPTIONS * HTTP/1.1\r\n\r\n", &head), 0);
}

CASE(test_connections)
{
	struct chi_http_head head;
	assert_int_equal(parse("GET / HTTP/1.0\r\n\r\n", &head), 0);
	assert_false(head.keep_alive);
	assert_int_equal(parse("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", &head), 0);
	assert_true(head.keep_alive);
	assert_int_equal(parse("GET / HTTP/1.1\r\nConnection: x, close\r\n\r\n", &head), 0);
	assert_false(head.keep_alive);
}

CASE(test_what_is_refused)
{
	static const struct {
		int status;
		const char *text;
	} heads[] = {
		{505, "GET / HTTP/2.0\r\n\r\n"},
		{505, "GET / HTTP/1.x\r\n\r\n"},
		{400, "GET HTTP/1.1\r\n\r\n"},
		{400, "GET\r\n\r\n"},
		{400, "GET x HTTP/1.1\r\n\r\n"},
		{400, "GET /\x01 HTTP/1.1\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\nA : b\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\n folded\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\nno colon\r\n\r\n"},
		{400, "GET / HTTP/1.1\r\nA: \x01\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"},
		{400, "POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n"},
		{411, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"},
		{417, "POST / HTTP/1.1\r\nExpect: wonders\r\n\r\n"},
	};
	struct chi_http_head head;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		assert_int_equal(parse(heads[i].text, &head), heads[i].status);
	}
}

/* `n` bytes after a beginning. */
static int parse_long(const char *begin, char c, size_t n)
{
	struct chi_http_head head;
	const char *why = NULL;
	size_t used = 0;
	size_t len = strlen(begin);
	char *text = malloc(len + n);
	assert_non_null(text);
	memcpy(text, begin, len);
	memset(text + len, c, n);
	int status = chi_http_head_parse(text, len + n, &head, &used, &why);
	free(text);
	return status;
}

CASE(test_bounds)
{
	assert_int_equal(parse_long("GET /", 'x', 100), 1);
	assert_int_equal(parse_long("GET /", 'x', CHI_HTTP_HEAD_MAX), 414);
	assert_int_equal(parse_long("GET / HTTP/1.1\r\nA: ", 'x', CHI_HTTP_HEAD_MAX), 431);
	char many[16 + 5 * (CHI_HTTP_FIELDS_MAX + 1) + 3] = "GET / HTTP/1.1\r\n";
	for (int i = 0; i <= CHI_HTTP_FIELDS_MAX; i++) {
		strcat(many, "A:b\r\n");
	}
	strcat(many, "\r\n");
	struct chi_http_head head;
	assert_int_equal(parse(many, &head), 431);
	memmove(many + 16, many + 21, strlen(many + 21) + 1);
	assert_int_equal(parse(many, &head), 0);
}
