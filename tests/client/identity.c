/* SPDX-License-Identifier: MIT */
#include "tests/base/cases.h"
#include "tests/client/identity.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <unistd.h>

static void extend(X509 *certificate, int nid, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
	assert_non_null(extension);
	assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

static void name(X509 *certificate)
{
	X509_NAME *subject = X509_get_subject_name(certificate);
	assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
						    (const unsigned char *)"test", -1, -1, 0),
			 1);
	assert_int_equal(X509_set_issuer_name(certificate, subject), 1);
}

/* No one else may read the file of the daemon's key. */
static FILE *create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	assert_non_null(file);
	return file;
}

void identity_make(const char *certificate, const char *key)
{
	EVP_PKEY *pair = EVP_EC_gen("P-256");
	X509 *made = X509_new();
	assert_non_null(pair);
	assert_non_null(made);
	assert_int_equal(X509_set_version(made, X509_VERSION_3), 1);
	assert_int_equal(ASN1_INTEGER_set(X509_get_serialNumber(made), 1), 1);
	X509_gmtime_adj(X509_getm_notBefore(made), -3600);
	X509_gmtime_adj(X509_getm_notAfter(made), 2L * 24 * 3600);
	name(made);
	extend(made, NID_basic_constraints, "critical,CA:TRUE");
	extend(made, NID_subject_alt_name, "IP:127.0.0.1");
	assert_int_equal(X509_set_pubkey(made, pair), 1);
	assert_true(X509_sign(made, pair, EVP_sha256()) > 0);
	FILE *file = create(certificate);
	assert_int_equal(PEM_write_X509(file, made), 1);
	assert_int_equal(fclose(file), 0);
	file = create(key);
	assert_int_equal(PEM_write_PrivateKey(file, pair, NULL, NULL, 0, NULL, NULL), 1);
	assert_int_equal(fclose(file), 0);
	X509_free(made);
	EVP_PKEY_free(pair);
}
