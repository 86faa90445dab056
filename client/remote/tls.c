/* SPDX-License-Identifier: MIT */
/* The check of the server's certificate cannot be turned off: a client that wants none uses a
 * Unix socket, or an authority of its own. */
#include "client/remote/tls.h"

#include <poll.h>
#include <stdio.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/openssl.h"
#include "client/remote/connect.h"

static void free_context(SSL_CTX *const *context)
{
	if (*context != NULL) {
		SSL_CTX_free(*context);
	}
}

static int make_context(const struct chi_options *options, SSL_CTX **out, struct chi_fault *fault)
{
	int status = chi_tls_context(false, out, fault);
	if (status == CHI_OK) {
		status = chi_tls_authorities(*out, options->tls_ca, fault);
	}
	if (status == CHI_OK && options->tls_cert != NULL) {
		status = chi_tls_identity(*out, options->tls_cert, options->tls_key, fault);
	}
	return status;
}

/* The certificate must be for this host, or for this number if the address has one; only names may
 * be sent to the server in the clear. */
static int expect_host(SSL *ssl, const struct chi_address *address, const char *text,
		       struct chi_fault *fault)
{
	bool set = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), address->host) == 1;
	if (!set) {
		/* OpenSSL copies it, and yet does not take a constant. */
		char name[CHI_HOST_SIZE];
		(void)snprintf(name, sizeof(name), "%s", address->host);
		/* A common name is no host's: authorities give them to clients as these like. */
		SSL_set_hostflags(ssl, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
		set = SSL_set1_host(ssl, address->host) == 1 &&
		      SSL_set_tlsext_host_name(ssl, name) == 1;
	}
	return set ? CHI_OK
		   : chi_fail(fault, -CHI_ECONNECT,
			      "'%.140s': no certificate can be for such a host", text);
}

static int shake(struct chi_tls *tls, const char *text, int64_t deadline, struct chi_fault *fault)
{
	int status = chi_tls_shake(tls);
	while (status == CHI_NONE) {
		if (chi_wait(tls->fd, tls->wants_room ? POLLOUT : POLLIN, deadline) == 0) {
			return chi_fail(fault, -CHI_ETIMEOUT,
					"'%.140s' does not answer in TLS in the time given", text);
		}
		status = chi_tls_shake(tls);
	}
	return status == CHI_OK ? CHI_OK
				: chi_fail(fault, -CHI_ECONNECT, "no TLS with '%.140s' (%s)", text,
					   tls->why.text);
}

int chi_tls_to_server(const struct chi_options *options, const struct chi_address *address,
		      const char *text, int fd, int64_t deadline, struct chi_tls **out,
		      struct chi_fault *fault)
{
	_cleanup_(free_context) SSL_CTX *context = NULL;
	struct chi_tls *tls = NULL;
	*out = NULL;
	int status = make_context(options, &context, fault);
	if (status == CHI_OK) {
		status = chi_tls_new(context, fd, false, &tls);
		if (status < 0) {
			chi_fail(fault, status, "'%.140s': no memory for TLS", text);
		}
	}
	if (status == CHI_OK) {
		status = expect_host(tls->ssl, address, text, fault);
	}
	if (status == CHI_OK) {
		status = shake(tls, text, deadline, fault);
	}
	if (status < 0) {
		chi_tls_free(tls);
		return status;
	}
	*out = tls;
	return CHI_OK;
}
