/* SPDX-License-Identifier: MIT */
/* A connection's bytes, plain or over TLS; plain ones cost no more than the question which. */
#pragma once

#include <sys/socket.h>

#include "base/tls.h"
#include "daemon/net/conn.h"

/* As recv() and send() of a non-blocking socket; EPROTO, ENOMEM: conn->tls->why. */
static inline ssize_t chi_transport_recv(struct chi_conn *conn, void *out, size_t room)
{
	return conn->tls == NULL ? recv(conn->fd, out, room, 0)
				 : chi_tls_read(conn->tls, out, room);
}

static inline ssize_t chi_transport_send(struct chi_conn *conn, const void *bytes, size_t len)
{
	return conn->tls == NULL ? send(conn->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT)
				 : chi_tls_write(conn->tls, bytes, len);
}

/* There may be bytes that the socket knows nothing of any more. */
static inline bool chi_transport_has_more(const struct chi_conn *conn)
{
	return conn->tls != NULL && conn->tls->more;
}

/* Even reading has to wait until the socket is writable. */
static inline bool chi_transport_wants_room(const struct chi_conn *conn)
{
	return conn->tls != NULL && conn->tls->wants_room;
}

/* Still shaking hands: nobody knows who it is. */
static inline bool chi_transport_is_shaking(const struct chi_conn *conn)
{
	return conn->tls != NULL && !chi_tls_is_up(conn->tls);
}
