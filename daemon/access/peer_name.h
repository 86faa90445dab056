/* SPDX-License-Identifier: MIT */
/* Who is at the other end of a connection, for the log: what the kernel and an authority vouch for,
 * unlike the name that a client gives itself in its hello. */
#pragma once

#include "base/tls.h"

/* "uid 1000 pid 4711", "127.0.0.1:4711", and for a certificate "10.0.0.1:4711 certificate NAME",
 * or "sha256:..." for one without a single common name. The name is last and as it is: the log
 * escapes it. */
struct chi_peer_name {
	char text[384];
};

/* `tls` is NULL for a plain connection; no certificate is named before the handshake is done. */
struct chi_peer_name chi_peer_name_of(int fd, const struct chi_tls *tls);
