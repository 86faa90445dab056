/* SPDX-License-Identifier: MIT */
/* TLS between two ends in one thread, where one end is as rude as the protocol allows. What is let
 * in and refused is for the tests of the whole programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/tls.h"
#include "tests/base/cases.h"
#include "tests/base/nomem.h"

struct pair {
	int fds[2];
	struct chi_tls *server;
	struct chi_tls *client;
};

/* Signed by itself; it is not checked here. */
static void give_identity(SSL_CTX *context)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *certificate = X509_new();
	assert_non_null(key);
	assert_non_null(certificate);
	X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
	assert_int_equal(X509_set_pubkey(certificate, key), 1);
	assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
	assert_int_equal(SSL_CTX_use_certificate(context, certificate), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey(context, key), 1);
	X509_free(certificate);
	EVP_PKEY_free(key);
}

/* Frees the context. */
static void meet_at(struct pair *pair, SSL_CTX *server)
{
	SSL_CTX *client = NULL;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair->fds), 0);
	assert_int_equal(chi_tls_context(false, &client, NULL), CHI_OK);
	give_identity(server);
	assert_int_equal(chi_tls_new(server, pair->fds[0], true, &pair->server), CHI_OK);
	assert_int_equal(chi_tls_new(client, pair->fds[1], false, &pair->client), CHI_OK);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
	bool done = false;
	for (int i = 0; !done && i < 10; i++) {
		int one = chi_tls_shake(pair->client);
		int other = chi_tls_shake(pair->server);
		assert_true(one >= 0 && other >= 0);
		done = one == CHI_OK && other == CHI_OK;
	}
	assert_true(done);
}

static void meet(struct pair *pair)
{
	SSL_CTX *server = NULL;
	assert_int_equal(chi_tls_context(true, &server, NULL), CHI_OK);
	meet_at(pair, server);
}

static void part(struct pair *pair)
{
	chi_tls_free(pair->server);
	chi_tls_free(pair->client);
	close(pair->fds[0]);
	close(pair->fds[1]);
}

static void update_key(const struct pair *pair, int kind)
{
	assert_int_equal(SSL_key_update(pair->client->ssl, kind), 1);
	assert_int_equal(SSL_do_handshake(pair->client->ssl), 1);
}

static size_t unread(const struct pair *pair)
{
	int n = 0;
	assert_int_equal(ioctl(pair->fds[0], FIONREAD, &n), 0);
	return (size_t)n;
}

/* Now and then it is fine, both ways. */
CASE(new_keys_are_taken)
{
	char byte = 0;
	struct pair pair;
	meet(&pair);
	for (int i = 0; i < 100; i++) {
		update_key(&pair,
			   i % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
		assert_int_equal(chi_tls_write(pair.client, "a", 1), 1);
		assert_int_equal(chi_tls_read(pair.server, &byte, 1), 1);
		assert_int_equal(chi_tls_write(pair.server, "b", 1), 1);
		assert_int_equal(chi_tls_read(pair.client, &byte, 1), 1);
		assert_int_equal(byte, 'b');
	}
	part(&pair);
}

/* OpenSSL would go on with them for as long as they come, within one call. */
CASE(a_flood_of_new_keys_is_a_failure)
{
	char bytes[64];
	struct pair pair;
	meet(&pair);
	/* Few enough for any socket. */
	for (int i = 0; i < 100; i++) {
		update_key(&pair, SSL_KEY_UPDATE_NOT_REQUESTED);
	}
	assert_int_equal(chi_tls_read(pair.server, bytes, sizeof(bytes)), -1);
	assert_int_equal(errno, EPROTO);
	assert_non_null(strstr(pair.server->why.text, "key updates"));
	assert_int_equal(chi_tls_read(pair.server, bytes, sizeof(bytes)), -1);
	part(&pair);
}

/* A byte a record: one call takes some, leaves the rest in the socket, and loses nothing. */
CASE(a_call_ends_where_records_do_not)
{
	static char bytes[64 << 10];
	struct pair pair;
	size_t sent = 0;
	size_t got = 0;
	meet(&pair);
	int room = 8 << 20;
	(void)setsockopt(pair.fds[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	while (unread(&pair) < ((size_t)140 << 10)) {
		char byte = (char)(sent % 251);
		ssize_t n = chi_tls_write(pair.client, &byte, 1);
		if (n < 0) {
			break; /* the system allows no larger socket */
		}
		sent++;
	}
	bool whole = unread(&pair) >= ((size_t)140 << 10);
	ssize_t n = chi_tls_read(pair.server, bytes, sizeof(bytes));
	assert_true(n > 0);
	if (whole) {
		assert_in_range(unread(&pair), 1, (size_t)140 << 10);
	}
	while (n > 0) {
		for (ssize_t i = 0; i < n; i++) {
			assert_int_equal(bytes[i], (char)((got + (size_t)i) % 251));
		}
		got += (size_t)n;
		n = chi_tls_read(pair.server, bytes, sizeof(bytes));
	}
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(got, sent);
	part(&pair);
}

/* A client that wants new keys and reads none of the answers: reading waits for room, the handshake
 * is none for that, and all goes on as soon as there is room. */
CASE(new_keys_wait_for_room)
{
	static char bytes[4096];
	struct pair pair;
	meet(&pair);
	for (int i = 0; !pair.server->wants_room; i++) {
		assert_in_range(i, 0, 1000000);
		update_key(&pair, SSL_KEY_UPDATE_REQUESTED);
		assert_int_equal(chi_tls_read(pair.server, bytes, 1), -1);
		assert_int_equal(errno, EAGAIN);
	}
	assert_true(pair.server->up);
	/* Once they are taken there is room again. */
	while (recv(pair.fds[1], bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
	}
	assert_int_equal(chi_tls_read(pair.server, bytes, 1), -1);
	assert_int_equal(errno, EAGAIN);
	assert_false(pair.server->wants_room);
	assert_int_equal(chi_tls_write(pair.client, "a", 1), 1);
	assert_int_equal(chi_tls_read(pair.server, bytes, 1), 1);
	part(&pair);
}

/* ---- Files ------------------------------------------------------------------------------- */

#define CERTIFICATES 4

/* So many of different names, all of the key that goes before them; the key is for all uses. */
static void write_files(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	EVP_PKEY *key = EVP_EC_gen("P-256");
	assert_non_null(file);
	assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
	for (int i = 0; i < CERTIFICATES; i++) {
		const unsigned char name[] = {(unsigned char)('a' + i)};
		X509 *made = X509_new();
		assert_int_equal(X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN",
							    MBSTRING_ASC, name, 1, -1, 0),
				 1);
		assert_int_equal(X509_set_issuer_name(made, X509_get_subject_name(made)), 1);
		X509_gmtime_adj(X509_getm_notBefore(made), 0);
		X509_gmtime_adj(X509_getm_notAfter(made), 3600);
		assert_int_equal(X509_set_pubkey(made, key), 1);
		assert_true(X509_sign(made, key, EVP_sha256()) > 0);
		assert_int_equal(PEM_write_X509(file, made), 1);
		X509_free(made);
	}
	EVP_PKEY_free(key);
	assert_int_equal(fclose(file), 0);
}

/* It loaded the first of them, and said that all was well. */
CASE(a_chain_is_loaded_whole_or_not_at_all)
{
	char path[] = "/tmp/tls-XXXXXX";
	size_t refused = 0;
	SSL_CTX *context = NULL;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	write_files(path);
	assert_int_equal(chi_tls_context(true, &context, NULL), CHI_OK);
	assert_int_equal(chi_tls_authorities(context, path, NULL), CHI_OK);
	assert_int_equal(sk_X509_NAME_num(SSL_CTX_get_client_CA_list(context)), CERTIFICATES);
	nomem_arm(0);
	assert_int_equal(chi_tls_identity(context, path, path, NULL), CHI_OK);
	bool all_count =
		nomem_disarm(NULL) > CERTIFICATES; /* OpenSSL's too: no sanitizer is here */
	/* Each certificate takes more allocations than a step, and all of them together fewer than
	 * these: the rest is the key's. */
	for (size_t failing = 1; failing <= 6500; failing += 11) {
		STACK_OF(X509) *chain = NULL;
		nomem_arm(failing);
		int status = chi_tls_identity(context, path, path, NULL);
		(void)nomem_disarm(NULL);
		refused += status != CHI_OK;
		SSL_CTX_get0_chain_certs(context, &chain);
		assert_true(status != CHI_OK || sk_X509_num(chain) == CERTIFICATES - 1);
	}
	assert_true(refused > 0 || !all_count);
	SSL_CTX_free(context);
	assert_int_equal(unlink(path), 0);
}
