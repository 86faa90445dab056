/* SPDX-License-Identifier: MIT */
/* The server's certificate, and those of its clients. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tls.h"
#include "service/access.h"
#include "daemon/settings/config.h"

/* What a client has shown over TLS, and what one of our authorities has confirmed. */
struct chi_certificate {
	bool shown;
	char name[CHI_ACCESS_NAME_MAX + 1]; /* its common name; "" without one, or with several */
	uint8_t fingerprint[CHI_DIGEST_SIZE];
};

/* The context of the files that the command line names. NULL without any. */
CHI_MUSTUSE int chi_certificate_load(const struct chi_config *config, SSL_CTX **out,
				     struct chi_fault *fault);

/* -CHI_ENOMEM: what it has shown is not known, which is not the same as none. */
CHI_MUSTUSE int chi_certificate_of(const struct chi_tls *tls, struct chi_certificate *out);

/* The peer of a connection, for the log: what the kernel and an authority confirm,
 * unlike the name that a client gives itself in its hello. Asked when a line is written: nothing is
 * kept for it.
 *
 * "uid 1000 pid 4711", "127.0.0.1:4711", and for a certificate "10.0.0.1:4711 certificate NAME",
 * or "sha256:..." for one without a single common name. The name is last and as it is: the log
 * escapes it. */
struct chi_peer_name {
	char text[384];
};

/* `tls` is NULL for a plain connection; no certificate is named before the handshake is done. */
struct chi_peer_name chi_peer_name_of(int fd, const struct chi_tls *tls);
