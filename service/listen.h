/* SPDX-License-Identifier: MIT */
/* Where to listen: one --listen of the command line. */
#pragma once

#include <stdbool.h>

#include "chistore/types.h"
#include "service/access.h"

#define CHI_LISTENS_MAX 16 /* addresses of one server */

/* Bytes of the name of a socket that is passed: what systemd allows. */
#define CHI_ACTIVATION_NAME_MAX 255

enum chi_listen_kind {
	CHI_LISTEN_UNIX,
	CHI_LISTEN_TCP, /* on loopback only, as nothing is encrypted */
	CHI_LISTEN_TLS,
	CHI_LISTEN_PASSED, /* by a service manager; what it is turns out when it is looked at */
};

struct chi_listen {
	enum chi_listen_kind kind;
	enum chi_role role; /* the most that a client gets here */
	bool has_mode;	    /* else --socket-mode's */
	unsigned mode;	    /* UNIX */
	bool has_group;
	uint32_t group; /* UNIX: whose the socket becomes */
	char path[108]; /* UNIX */
	char host[256]; /* without brackets; of PASSED its name */
	char port[8];
};

/* Reads `unix:PATH`, `tcp:HOST:PORT` or `tls:HOST:PORT` (an IPv6 host in brackets), or `fd:NAME`,
 * and after commas mode=OCTAL, group=NAME and role=ROLE. -CHI_ESYNTAX, -CHI_EINVAL. */
CHI_MUSTUSE int chi_listen_parse(const char *text, struct chi_listen *out, struct chi_fault *fault);

/* Permission bits in octal; `option` is for the message. */
CHI_MUSTUSE int chi_listen_mode(const char *option, const char *text, unsigned *out,
				struct chi_fault *fault);
