/* SPDX-License-Identifier: MIT */
/* The server's certificate, and those of its clients. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tls.h"
#include "daemon/settings/access.h"
#include "daemon/settings/config.h"

/* What a client has shown over TLS, and what an authority of ours has vouched for. */
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
