/* SPDX-License-Identifier: MIT */
/*
 * Text to address. Nothing is looked up here: whether the socket or the host is there shows when
 * connecting. A text without a known scheme is a directory's path, colons and all, unless it looks
 * like a URL.
 */
#include "client/core/address.h"

#include <string.h>
#include <sys/un.h>

#include "base/fault.h"
#include "base/num.h"
#include "chistore.h"

#define PORT_MAX 65535

/* The text after `scheme` if it starts with that, else NULL. */
static const char *rest_after(const char *text, const char *scheme)
{
	size_t len = strlen(scheme);
	return strncmp(text, scheme, len) == 0 ? text + len : NULL;
}

/* The kernel takes 107 bytes and a NUL, and would cut a longer path without a word: it then names
 * another socket. */
static int parse_unix(const char *path, struct chi_address *out, struct chi_fault *fault)
{
	const struct sockaddr_un *sizes = NULL;
	size_t room = sizeof(sizes->sun_path) - 1;
	size_t len = strlen(path);
	if (len == 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "address 'unix:' lacks the socket's path");
	}
	if (len > room) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"socket path has %zu bytes, the system allows %zu: '%.80s...'", len,
				room, path);
	}
	out->kind = CHI_ADDRESS_UNIX;
	out->path = path;
	return CHI_OK;
}

/* Finds the end of HOST in HOST:PORT and copies it, brackets taken off. */
static int parse_host(const char *scheme, const char *text, struct chi_address *out,
		      const char **port, struct chi_fault *fault)
{
	const char *start = text;
	const char *end = strrchr(text, ':');
	if (text[0] == '[') {
		start = text + 1;
		end = strchr(text, ']');
		if (end == NULL || end[1] != ':') {
			return chi_fail(fault, -CHI_ESYNTAX,
					"address '%s%s' is not %s[ADDRESS]:PORT", scheme, text,
					scheme);
		}
		*port = end + 2;
	} else if (end == NULL) {
		return chi_fail(fault, -CHI_ESYNTAX, "address '%s%s' lacks a port", scheme, text);
	} else if (memchr(text, ':', (size_t)(end - text)) != NULL) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"address '%s%s': write an IPv6 address in brackets", scheme, text);
	} else {
		*port = end + 1;
	}
	size_t len = (size_t)(end - start);
	if (len == 0 || len >= sizeof(out->host)) {
		return chi_fail(fault, -CHI_ESYNTAX, "address '%s%.80s' %s", scheme, text,
				len == 0 ? "lacks a host" : "has too long a host");
	}
	memcpy(out->host, start, len);
	out->host[len] = '\0';
	return CHI_OK;
}

/* Port 0 means "any free one" to a server and nothing to a client. `out` keeps the port as
 * text, as getaddrinfo wants it. */
static int parse_tcp(const char *scheme, const char *text, struct chi_address *out,
		     struct chi_fault *fault)
{
	const char *port = NULL;
	if (rest_after(text, "//") != NULL) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"address '%s%s': write %sHOST:PORT, without '//'", scheme, text,
				scheme);
	}
	int status = parse_host(scheme, text, out, &port, fault);
	if (status != CHI_OK) {
		return status;
	}
	uint64_t number = 0;
	size_t len = strlen(port);
	if (len >= sizeof(out->port) || chi_num_u64(port, len, PORT_MAX, &number) != CHI_OK ||
	    number == 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "address '%s%s': port '%s' is not 1 to 65535",
				scheme, text, port);
	}
	memcpy(out->port, port, len + 1);
	out->kind = CHI_ADDRESS_TCP;
	return CHI_OK;
}

/* Copies a name of an object or a user: what is safe in names of objects and in messages. */
static int take_name(const char *what, const char *text, size_t len, char *out,
		     struct chi_fault *fault)
{
	static const char *const allowed =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	if (len == 0 || len > CHI_RADOS_NAME_MAX) {
		return chi_fail(fault, -CHI_ESYNTAX, "rados: address: %s %s", what,
				len == 0 ? "is missing" : "is longer than 128 bytes");
	}
	memcpy(out, text, len);
	out[len] = '\0';
	if (strspn(out, allowed) != len) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"rados: address: %s '%.80s' has other characters than letters, "
				"digits, '.', '_' and '-'",
				what, out);
	}
	return CHI_OK;
}

/* One KEY=VALUE after the question mark. */
static int parse_rados_option(const char *text, size_t len, struct chi_rados_place *out,
			      struct chi_fault *fault)
{
	const char *conf = rest_after(text, "conf=");
	const char *user = rest_after(text, "user=");
	const char *shards = rest_after(text, "shards=");
	const char *end = text + len;
	uint64_t number = 0;
	if (conf != NULL && conf < end && end - conf <= CHI_RADOS_CONF_MAX) {
		memcpy(out->conf, conf, (size_t)(end - conf));
		out->conf[end - conf] = '\0';
		return CHI_OK;
	}
	if (user != NULL) {
		return take_name("user", user, (size_t)(end - user), out->user, fault);
	}
	if (shards != NULL &&
	    chi_num_u64(shards, (size_t)(end - shards), CHI_SHARDS_MAX, &number) == CHI_OK &&
	    number > 0) {
		out->shards = (uint32_t)number;
		return CHI_OK;
	}
	return chi_fail(fault, -CHI_ESYNTAX,
			"rados: address: '%.*s' is not conf=FILE, user=ID or shards=N (1 to %d)",
			len > 80 ? 80 : (int)len, text, CHI_SHARDS_MAX);
}

static int parse_rados(const char *text, struct chi_address *out, struct chi_fault *fault)
{
	size_t len = strcspn(text, "?");
	const char *slash = memchr(text, '/', len);
	const char *at = text + len;
	if (slash == NULL) {
		return chi_fail(fault, -CHI_ESYNTAX, "address 'rados:%.80s' is not rados:POOL/NAME",
				text);
	}
	out->kind = CHI_ADDRESS_RADOS;
	int status =
		take_name("the pool's name", text, (size_t)(slash - text), out->rados.pool, fault);
	if (status == CHI_OK) {
		status = take_name("the store's name", slash + 1, (size_t)(at - slash - 1),
				   out->rados.name, fault);
	}
	while (status == CHI_OK && *at != '\0') {
		size_t option = strcspn(at + 1, "&");
		status = parse_rados_option(at + 1, option, &out->rados, fault);
		at += 1 + option;
	}
	return status;
}

/* "http://...": letters, then "://". */
static int refuse_url(const char *text, struct chi_fault *fault)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
	if (len == 0 || rest_after(text + len, "://") == NULL) {
		return CHI_OK;
	}
	return chi_fail(fault, -CHI_ESYNTAX,
			"unknown scheme '%.*s:'; known are file:DIR, unix:PATH, "
			"tcp:HOST:PORT, tls:HOST:PORT and rados:POOL/NAME",
			len > 32 ? 32 : (int)len, text);
}

/* What `out` has for a path points into `text`. */
int chi_address_parse(const char *text, struct chi_address *out, struct chi_fault *fault)
{
	*out = (struct chi_address){.kind = CHI_ADDRESS_DIR};
	const char *rest = rest_after(text, "unix:");
	if (rest != NULL) {
		return parse_unix(rest, out, fault);
	}
	rest = rest_after(text, "tcp:");
	if (rest != NULL) {
		return parse_tcp("tcp:", rest, out, fault);
	}
	rest = rest_after(text, "tls:");
	if (rest != NULL) {
		int status = parse_tcp("tls:", rest, out, fault);
		out->kind = CHI_ADDRESS_TLS;
		return status;
	}
	rest = rest_after(text, "rados:");
	if (rest != NULL) {
		return parse_rados(rest, out, fault);
	}
	rest = rest_after(text, "file:");
	int status = rest == NULL ? refuse_url(text, fault) : CHI_OK;
	if (status != CHI_OK) {
		return status;
	}
	out->path = rest != NULL ? rest : text;
	if (out->path[0] == '\0') {
		return chi_fail(fault, -CHI_ESYNTAX, "the address is empty");
	}
	return CHI_OK;
}
