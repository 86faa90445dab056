/* SPDX-License-Identifier: MIT */
/*
 * TLS 1.3 over a connected, non-blocking socket, with calls that behave as recv() and send() do, so
 * that callers need not care which of the two they have. What differs: bytes may be
 * at hand although the socket is not readable (`more`), and reading may have to wait until the
 * socket takes bytes (`wants_room`). Linked by the programs that speak it, as tls_dep.
 */
#pragma once

#include <openssl/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "chistore/types.h"

struct chi_tls {
	SSL *ssl;
	int fd;		 /* not owned */
	bool more;	 /* the last read took all it had room for: read again before waiting */
	bool wants_room; /* the last read or write goes on when the socket is writable */
	bool up;	 /* the handshake is done; new keys later are none */
	int failure;	 /* permanent: -CHI_EPROTO; CHI_OK: none */
	size_t left;	 /* bytes that the call at work may still take from the socket */
	unsigned key_updates; /* that came in it */
	struct chi_fault why; /* when it has failed */
};

/*
 * A context for servers or for clients, without identity. Sessions are not resumed: each connection
 * shows again who it is. -CHI_EUNSUPPORTED (OpenSSL is not installed), -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_tls_context(bool server, SSL_CTX **out, struct chi_fault *fault);

/* PEM files: a certificate with its intermediate ones after it, and its key, which must not be
 * open to everyone. -CHI_EACCES, -CHI_EIO (cannot be read, or do not fit). */
CHI_MUSTUSE int chi_tls_identity(SSL_CTX *context, const char *certificate, const char *key,
				 struct chi_fault *fault);

/* Whose word is taken for the other side's certificate: a PEM file, or NULL for those that the
 * system trusts. A server then asks clients for one, and accepts those without. -CHI_EIO. */
CHI_MUSTUSE int chi_tls_authorities(SSL_CTX *context, const char *file, struct chi_fault *fault);

/* One connection's; the context may be freed before it. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_tls_new(SSL_CTX *context, int fd, bool server, struct chi_tls **out);
void chi_tls_free(struct chi_tls *tls); /* NULL is fine; says nothing to the other side */

/* Goes on with the handshake, which reading does by itself. CHI_OK: done; CHI_NONE: wait for the
 * socket to be readable, or writable if wants_room; -CHI_EPROTO: `why` tells. */
CHI_MUSTUSE int chi_tls_shake(struct chi_tls *tls);

/* As recv(): bytes, 0 when the other side has ended properly, or -1 with errno. EAGAIN: wait, as
 * above. EPROTO: `why` tells; so fails a connection cut without a farewell, as it is not known what
 * was cut off. */
ssize_t chi_tls_read(struct chi_tls *tls, void *out, size_t room);

/* As send(). After EAGAIN the same bytes come first in the next call, at any address. */
ssize_t chi_tls_write(struct chi_tls *tls, const void *bytes, size_t len);

/* Nothing follows from this side; as far as the socket takes that at once. */
void chi_tls_end(struct chi_tls *tls);
