/* SPDX-License-Identifier: MIT */
/*
 * The head of an HTTP request, from bytes: request line and header fields. Nothing is copied or
 * allocated; what was parsed points into the bytes. Strict where leniency has led others to be
 * fooled: no folded lines, no blanks before a colon, one Content-Length, no control characters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a head, its request line and its fields together. */
#define CHI_HTTP_HEAD_MAX   ((size_t)16 << 10)
#define CHI_HTTP_TARGET_MAX ((size_t)12 << 10)
#define CHI_HTTP_FIELDS_MAX 100

enum chi_http_method {
	CHI_HTTP_GET,
	CHI_HTTP_HEAD,
	CHI_HTTP_POST,
	CHI_HTTP_PUT,
	CHI_HTTP_OPTIONS,
	CHI_HTTP_OTHER,
};

/* Not NUL-terminated; len 0: absent or empty. */
struct chi_slice {
	const char *at;
	size_t len;
};

struct chi_http_head {
	enum chi_http_method method;
	/* 9: the request line has no version. It is answered by the bare body, as HTTP/0.9 had it:
	 * there are chess programs that ask so. Else 10 or 11. */
	int version;
	struct chi_slice path;	/* as sent: it may have %-escapes; without scheme and host */
	struct chi_slice query; /* after the '?' */
	bool absolute;		/* the address asked for names a host, as proxies are asked */
	bool keep_alive;
	bool expects;	 /* 100-continue */
	uint64_t length; /* of the body */
	bool has_length;
	struct chi_slice encodings;	/* Accept-Encoding */
	struct chi_slice tags;		/* If-None-Match */
	struct chi_slice authorization; /* Authorization */
	struct chi_slice origin;	/* Origin */
	struct chi_slice site;		/* Sec-Fetch-Site */
	struct chi_slice host;		/* of the address asked for, else Host */
	struct chi_slice forwarded;	/* the last X-Forwarded-For */
	struct chi_slice type;		/* Content-Type */
};

/*
 * 0: parsed, *used bytes. 1: more bytes are needed. Otherwise the HTTP status that refuses it, with
 * *why, static, for a person; *out says no more than the version then, as far as it is known.
 * More than CHI_HTTP_HEAD_MAX bytes are not looked at.
 */
int chi_http_head_parse(const char *bytes, size_t len, struct chi_http_head *out, size_t *used,
			const char **why);

/* "GET" and so on; "?" of another. */
const char *chi_http_method_name(enum chi_http_method method);

/* Whether a list such as "gzip, br;q=0.5" has the word, and not with q=0. */
bool chi_http_list_has(struct chi_slice list, const char *word);

/* What a status of an answer is called. */
const char *chi_http_reason(int status);
