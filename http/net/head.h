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
#define HEAD_MAX	((size_t)16 << 10)
#define HEAD_TARGET_MAX ((size_t)12 << 10)
#define HEAD_FIELDS_MAX 100

enum method {
	METHOD_GET,
	METHOD_HEAD,
	METHOD_POST,
	METHOD_PUT,
	METHOD_OPTIONS,
	METHOD_OTHER,
};

/* Not NUL-terminated; len 0: absent or empty. */
struct text {
	const char *at;
	size_t len;
};

struct head {
	enum method method;
	/* 9: the request line has no version. It is answered by the bare body, as HTTP/0.9 had it:
	 * there are chess programs that ask so. Else 10 or 11. */
	int version;
	struct text path;  /* as sent: it may have %-escapes; without scheme and host */
	struct text query; /* after the '?' */
	bool absolute;	   /* the address asked for names a host, as proxies are asked */
	bool keep_alive;
	bool expects;	 /* 100-continue */
	uint64_t length; /* of the body */
	bool has_length;
	struct text encodings;	   /* Accept-Encoding */
	struct text tags;	   /* If-None-Match */
	struct text authorization; /* Authorization */
	struct text origin;	   /* Origin */
	struct text site;	   /* Sec-Fetch-Site */
	struct text host;	   /* of the address asked for, else Host */
	struct text forwarded;	   /* the last X-Forwarded-For */
	struct text type;	   /* Content-Type */
};

/*
 * 0: parsed, *used bytes. 1: more bytes are needed. Otherwise the HTTP status that refuses it, with
 * *why, static, for a person; *out says no more than the version then, as far as it is known.
 * More than HEAD_MAX bytes are not looked at.
 */
int head_parse(const char *bytes, size_t len, struct head *out, size_t *used, const char **why);

/* "GET" and so on; "?" of another. */
const char *head_method(enum method method);

/* Whether a list such as "gzip, br;q=0.5" has the word, and not with q=0. */
bool head_list_has(struct text list, const char *word);
