/* SPDX-License-Identifier: MIT */
/* TLS towards a server: whom we believe, and who we are. */
#pragma once

#include <stdint.h>

#include "base/tls.h"
#include "chistore.h"
#include "client/core/address.h"

/*
 * Shakes hands on a connected socket until `deadline` (chi_now_ms). The server's certificate must
 * be vouched for and name the address's host; the options say by whom, and which certificate is
 * shown to the server. Their files are read again each time. `text` is the address for messages.
 * -CHI_ECONNECT, -CHI_ETIMEOUT, -CHI_ENOMEM, and of the files -CHI_EIO and -CHI_EACCES.
 */
CHI_MUSTUSE int chi_tls_to_server(const struct chi_options *options,
				  const struct chi_address *address, const char *text, int fd,
				  int64_t deadline, struct chi_tls **out, struct chi_fault *fault);
