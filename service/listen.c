/* SPDX-License-Identifier: MIT */
/* ADDRESS[,KEY=VALUE...]: the address is what is in front of the first comma, so that a path
 * with one cannot be listened on. */
#include "service/listen.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"

/* A value after a key, with a NUL. */
#define VALUE_SIZE (CHI_ACCESS_NAME_MAX + 1)

/* The kernel takes 107 bytes and a NUL; a longer path would be cut without a word. */
static int parse_unix(struct chi_listen *out, const char *path, size_t len, struct chi_fault *fault)
{
	if (len == 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "--listen: no path after 'unix:'");
	}
	if (len >= sizeof(out->path)) {
		return chi_fail(fault, -CHI_EINVAL,
				"--listen: the socket path has %zu bytes, at most %zu are allowed",
				len, sizeof(out->path) - 1);
	}
	memcpy(out->path, path, len);
	out->path[len] = '\0';
	out->kind = CHI_LISTEN_UNIX;
	return CHI_OK;
}

/* HOST:PORT; the last colon parts them, and an IPv6 host is in brackets. */
static int parse_tcp(struct chi_listen *out, const char *text, size_t whole,
		     struct chi_fault *fault)
{
	const char *colon = memrchr(text, ':', whole);
	size_t len = colon == NULL ? 0 : (size_t)(colon - text);
	const char *host = text;
	if (len >= 2 && host[0] == '[' && host[len - 1] == ']') {
		host++;
		len -= 2;
	} else if (colon != NULL && memchr(text, ':', len) != NULL) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"--listen: write '%.*s' with the host in brackets", (int)whole,
				text);
	}
	if (len == 0 || len >= sizeof(out->host)) {
		return chi_fail(fault, -CHI_ESYNTAX, "--listen: '%.*s' is not HOST:PORT",
				(int)whole, text);
	}
	size_t port_len = whole - (size_t)(colon + 1 - text);
	uint64_t port = 0;
	if (chi_num_u64(colon + 1, port_len, 65535, &port) < 0) {
		return chi_fail(fault, -CHI_ESYNTAX, "--listen: '%.*s' is not a port, 0 to 65535",
				(int)port_len, colon + 1);
	}
	memcpy(out->host, host, len);
	out->host[len] = '\0';
	snprintf(out->port, sizeof(out->port), "%u", (unsigned)port);
	return CHI_OK;
}

int chi_listen_mode(const char *option, const char *text, unsigned *out, struct chi_fault *fault)
{
	unsigned mode = 0;
	size_t len = strlen(text);
	if (len == 0 || len > 4 || strspn(text, "01234567") != len) {
		return chi_fail(fault, -CHI_ESYNTAX, "%s: '%s' is not octal", option, text);
	}
	for (size_t i = 0; i < len; i++) {
		mode = mode * 8 + (unsigned)(text[i] - '0');
	}
	if (mode > 0777) {
		return chi_fail(fault, -CHI_EINVAL, "%s: '%s' is above 0777", option, text);
	}
	*out = mode;
	return CHI_OK;
}

static int set_group(struct chi_listen *out, const char *value, struct chi_fault *fault)
{
	out->has_group = chi_access_id(value, chi_access_system.group, &out->group);
	return out->has_group
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EINVAL, "--listen: there is no group '%s'", value);
}

static int set_role(struct chi_listen *out, const char *value, struct chi_fault *fault)
{
	int role = chi_role_from_name(value, strlen(value));
	if (role <= CHI_ROLE_NONE) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"--listen: a role is read, write or admin, not '%s'", value);
	}
	out->role = (enum chi_role)role;
	return CHI_OK;
}

/* One KEY=VALUE. */
static int parse_setting(struct chi_listen *out, const char *text, size_t len,
			 struct chi_fault *fault)
{
	char value[VALUE_SIZE];
	const char *equals = memchr(text, '=', len);
	size_t key_len = equals != NULL ? (size_t)(equals - text) : len;
	size_t value_len = equals != NULL ? len - key_len - 1 : 0;
	if (value_len >= sizeof(value)) {
		return chi_fail(fault, -CHI_ETOOBIG, "--listen: '%.32s...' is too long", text);
	}
	if (value_len > 0) {
		memcpy(value, equals + 1, value_len);
	}
	value[value_len] = '\0';
	bool local = out->kind == CHI_LISTEN_UNIX;
	if (key_len == 4 && memcmp(text, "role", 4) == 0) {
		return set_role(out, value, fault);
	}
	if (local && key_len == 4 && memcmp(text, "mode", 4) == 0) {
		out->has_mode = true;
		return chi_listen_mode("--listen: mode", value, &out->mode, fault);
	}
	if (local && key_len == 5 && memcmp(text, "group", 5) == 0) {
		return set_group(out, value, fault);
	}
	return chi_fail(fault, -CHI_ESYNTAX,
			"--listen: setting '%.*s' is none of %s (a path cannot have commas)",
			(int)(len < 64 ? len : 64), text, local ? "mode=, group=, role=" : "role=");
}

/* Which sockets have that name is known only when the server starts. */
static int parse_passed(struct chi_listen *out, const char *name, size_t len,
			struct chi_fault *fault)
{
	if (len == 0 || len > CHI_ACTIVATION_NAME_MAX) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"--listen: no name of 1 to %d bytes after 'fd:'",
				CHI_ACTIVATION_NAME_MAX);
	}
	_Static_assert(sizeof(out->host) > CHI_ACTIVATION_NAME_MAX, "a name fits");
	memcpy(out->host, name, len);
	out->host[len] = '\0';
	out->kind = CHI_LISTEN_PASSED;
	return CHI_OK;
}

static int parse_address(const char *text, size_t len, struct chi_listen *out,
			 struct chi_fault *fault)
{
	if (len >= 5 && memcmp(text, "unix:", 5) == 0) {
		return parse_unix(out, text + 5, len - 5, fault);
	}
	if (len >= 4 && (memcmp(text, "tcp:", 4) == 0 || memcmp(text, "tls:", 4) == 0)) {
		out->kind = text[1] == 'l' ? CHI_LISTEN_TLS : CHI_LISTEN_TCP;
		return parse_tcp(out, text + 4, len - 4, fault);
	}
	if (len >= 3 && memcmp(text, "fd:", 3) == 0) {
		return parse_passed(out, text + 3, len - 3, fault);
	}
	return chi_fail(fault, -CHI_ESYNTAX,
			"--listen: '%.*s' is none of unix:PATH, tcp:HOST:PORT, "
			"tls:HOST:PORT, fd:NAME",
			(int)len, text);
}

int chi_listen_parse(const char *text, struct chi_listen *out, struct chi_fault *fault)
{
	*out = (struct chi_listen){.role = CHI_ROLE_ADMIN};
	size_t len = strcspn(text, ",");
	int status = parse_address(text, len, out, fault);
	while (status == CHI_OK && text[len] == ',') {
		text += len + 1;
		len = strcspn(text, ",");
		status = parse_setting(out, text, len, fault);
	}
	return status;
}
