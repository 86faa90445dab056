/* SPDX-License-Identifier: MIT */
/*
 * Decides who gets in, by what is now in the files that the command line names, and reads
 * these again when told to. Of all threads: a worker has a client judged when it says hello, and
 * all of its clients again when the files have changed; the main thread changes them.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/tls.h"
#include "chistore/types.h"
#include "service/access.h"
#include "daemon/settings/config.h"

struct chi_guard {
	const struct chi_config *config;
	_Atomic uint64_t changes; /* how often the files have changed; counted when they have */
	pthread_mutex_t lock;	  /* of `tls`; held for moments, nothing is waited for under it */
	SSL_CTX *tls;		  /* NULL: no TLS is spoken */
	struct chi_rules rules;	  /* without a file all may do everything */
};

/* What a connection goes by. */
struct chi_visitor {
	int fd;
	const struct chi_listen *listen; /* where it came in */
	const struct chi_tls *tls;	 /* its handshake is done; NULL: plain */
	const uint8_t *token;		 /* digest of its token; NULL: it has given none */
};

/* Reads the files: a bad one is refused here, with the fault saying why. */
CHI_MUSTUSE int chi_guard_init(struct chi_guard *guard, const struct chi_config *config,
			       struct chi_fault *fault);
void chi_guard_deinit(struct chi_guard *guard);

/* The server's side of TLS on an accepted socket. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_guard_tls(struct chi_guard *guard, int fd, struct chi_tls **out);

/* Main thread: reads the files again. A bad one is logged, and what was read before stays. True if
 * clients are to be judged again. */
bool chi_guard_reload(struct chi_guard *guard);

/* A number for the peer, whose share of what is limited a client takes: the same for
 * all connections of one token, certificate, local user or address, an IPv6 address by its network.
 * Others may have the same number, and then share. */
uint32_t chi_guard_peer(const struct chi_visitor *visitor);

/*
 * The role of a client, never above that of the socket it came by. CHI_ROLE_NONE: access is denied,
 * and *why says why, for the client; it is static. -CHI_ENOMEM, and the role is CHI_ROLE_NONE: not
 * all that it has shown could be checked, and a rule may say `none` of what is missing.
 */
CHI_MUSTUSE int chi_guard_authorize(struct chi_guard *guard, const struct chi_visitor *visitor,
				    enum chi_role *role, const char **why);
