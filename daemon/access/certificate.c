/* SPDX-License-Identifier: MIT */
/* Only the common name and the fingerprint of a certificate are used: one for people to write, one
 * that names this very certificate. */
#include "daemon/access/certificate.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "service/net/peer.h"

int chi_certificate_load(const struct chi_config *config, SSL_CTX **out, struct chi_fault *fault)
{
	SSL_CTX *context = NULL;
	*out = NULL;
	if (config->tls_certificate == NULL) {
		return CHI_OK;
	}
	int status = chi_tls_context(true, &context, fault);
	if (status == CHI_OK) {
		status = chi_tls_identity(context, config->tls_certificate, config->tls_key, fault);
	}
	if (status == CHI_OK && config->tls_authorities != NULL) {
		status = chi_tls_authorities(context, config->tls_authorities, fault);
	}
	if (status < 0) {
		SSL_CTX_free(context);
		return status;
	}
	*out = context;
	return CHI_OK;
}

/* A name with a NUL in it would be read differently by different programs; of two names no one
 * knows which is meant. Both are none. */
static int find_name(const X509 *certificate, char out[CHI_ACCESS_NAME_MAX + 1])
{
	const X509_NAME *subject = X509_get_subject_name(certificate);
	int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
	if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) {
		return CHI_OK;
	}
	ERR_clear_error();
	unsigned char *text = NULL;
	int len = ASN1_STRING_to_UTF8(&text,
				      X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	if (len > 0 && len <= CHI_ACCESS_NAME_MAX && memchr(text, '\0', (size_t)len) == NULL) {
		memcpy(out, text, (size_t)len);
		out[len] = '\0';
	}
	OPENSSL_free(text);
	bool lacked = len < 0 && ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE;
	return lacked ? -CHI_ENOMEM : CHI_OK;
}

int chi_certificate_of(const struct chi_tls *tls, struct chi_certificate *out)
{
	*out = (struct chi_certificate){.shown = false};
	X509 *certificate = SSL_get1_peer_certificate(tls->ssl);
	unsigned len = 0;
	int status = CHI_OK;
	if (certificate != NULL && SSL_get_verify_result(tls->ssl) == X509_V_OK) {
		out->shown = true;
		status = X509_digest(certificate, EVP_sha256(), out->fingerprint, &len) == 1
				 ? find_name(certificate, out->name)
				 : -CHI_ENOMEM;
	}
	X509_free(certificate);
	ERR_clear_error();
	return status;
}

/* ---- For the log ------------------------------------------------------------------------ */

struct chi_peer_name chi_peer_name_of(int fd, const struct chi_tls *tls)
{
	struct chi_peer_name out;
	struct chi_certificate certificate = {.shown = false};
	char digits[2 * CHI_DIGEST_SIZE + 1];
	struct chi_peer_address peer;
	chi_peer_of(fd, &peer);
	chi_peer_print(&peer, out.text);
	if (tls != NULL && tls->up && chi_certificate_of(tls, &certificate) == CHI_OK &&
	    certificate.shown) {
		size_t n = strlen(out.text);
		chi_hex_print(certificate.fingerprint, CHI_DIGEST_SIZE, digits);
		bool named = certificate.name[0] != '\0';
		snprintf(out.text + n, sizeof(out.text) - n, " certificate %s%s",
			 named ? "" : "sha256:", named ? certificate.name : digits);
	}
	return out;
}
