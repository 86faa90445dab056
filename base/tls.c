/* SPDX-License-Identifier: MIT */
/*
 * OpenSSL between the socket and its user. It reads and writes the socket through functions of
 * ours, because its own would raise SIGPIPE in programs that the library is part of.
 */
#include "base/tls.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/openssl.h"

/* Bytes that one call takes from the socket. OpenSSL reads on until it has some for its caller, and
 * records with none, or with one each, would keep it busy until the other side stops. */
#define CALL_BYTES ((size_t)128 << 10)

/* New keys in one call's bytes: each costs more than a request, and none needs them so often. */
#define KEY_UPDATES_MAX 16

/* ---- The library ------------------------------------------------------------------------- */

struct chi_openssl chi_openssl;

static const char *const names[] = {CHI_OPENSSL(CHI_LIBRARY_NAME)};

/* The library of the headers, as its soname is written. */
#define SONAME_OF(version) "libssl.so." #version
#define SONAME(version)	   SONAME_OF(version)

static struct chi_library library = {
	.file = SONAME(OPENSSL_SHLIB_VERSION),
	.need = "TLS needs OpenSSL",
	.names = names,
	.n = CHI_COUNT(names),
	.functions = &chi_openssl,
};

/* ---- The socket -------------------------------------------------------------------------- */

static int moved(BIO *bio, ssize_t n, int again)
{
	BIO_clear_retry_flags(bio);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		BIO_set_flags(bio, again | BIO_FLAGS_SHOULD_RETRY);
	}
	return (int)n;
}

/* Enough for one call: what the socket has beyond that is left there, and wakes the reader again.
 */
static int socket_read(BIO *bio, char *out, int room)
{
	struct chi_tls *tls = BIO_get_data(bio);
	if (tls->left == 0 || tls->key_updates > KEY_UPDATES_MAX) {
		errno = EAGAIN;
		return moved(bio, -1, BIO_FLAGS_READ);
	}
	ssize_t n = recv(tls->fd, out, (size_t)room < tls->left ? (size_t)room : tls->left,
			 MSG_DONTWAIT);
	tls->left -= n > 0 ? (size_t)n : 0;
	return moved(bio, n, BIO_FLAGS_READ);
}

static int socket_write(BIO *bio, const char *bytes, int len)
{
	const struct chi_tls *tls = BIO_get_data(bio);
	return moved(bio, send(tls->fd, bytes, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT),
		     BIO_FLAGS_WRITE);
}

/* Nothing is held back, so flushing is done. */
static long socket_control(BIO *bio, int command, long number, void *pointer)
{
	(void)bio;
	(void)number;
	(void)pointer;
	return command == BIO_CTRL_FLUSH ? 1 : 0;
}

static int socket_create(BIO *bio)
{
	BIO_set_init(bio, 1);
	return 1;
}

static pthread_mutex_t method_lock = PTHREAD_MUTEX_INITIALIZER;
static BIO_METHOD *socket_method; /* for all connections, until the process ends */

/* NULL: there was no memory for it; the next connection may have some. */
static const BIO_METHOD *get_method(void)
{
	(void)pthread_mutex_lock(&method_lock);
	if (socket_method == NULL) {
		BIO_METHOD *made = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket");
		if (made != NULL && BIO_meth_set_read(made, socket_read) == 1 &&
		    BIO_meth_set_write(made, socket_write) == 1 &&
		    BIO_meth_set_ctrl(made, socket_control) == 1 &&
		    BIO_meth_set_create(made, socket_create) == 1) {
			socket_method = made;
		} else {
			BIO_meth_free(made);
		}
	}
	const BIO_METHOD *method = socket_method;
	(void)pthread_mutex_unlock(&method_lock);
	return method;
}

/* ---- What went wrong --------------------------------------------------------------------- */

/* OpenSSL's first word on it is the most telling; what is left in its queue would be taken for the
 * next call's. */
static const char *reason(void)
{
	unsigned long error = ERR_peek_error();
	const char *text = error != 0 ? ERR_reason_error_string(error) : NULL;
	ERR_clear_error();
	return text != NULL ? text : "no reason given";
}

/* Sees every message of the handshake protocol. */
static void on_message(int sent, int version, int type, const void *bytes, size_t len, SSL *ssl,
		       void *context)
{
	(void)version;
	(void)ssl;
	struct chi_tls *tls = context;
	const uint8_t *kind = bytes;
	if (sent == 0 && type == SSL3_RT_HANDSHAKE && len > 0 && *kind == SSL3_MT_KEY_UPDATE) {
		tls->key_updates++;
	}
}

/* `error` is the errno that the call left. */
static int fail_tls(struct chi_tls *tls, int kind, int error)
{
	char buffer[96];
	long verdict = SSL_get_verify_result(tls->ssl);
	const char *text = reason();
	if (kind == SSL_ERROR_SYSCALL) {
		text = error == 0 ? "the connection was cut"
				  : strerror_r(error, buffer, sizeof(buffer));
	} else if (verdict != X509_V_OK) {
		tls->failure =
			chi_fail(&tls->why, -CHI_EPROTO, "the certificate is not accepted: %s",
				 X509_verify_cert_error_string(verdict));
		return tls->failure;
	}
	tls->failure = chi_fail(&tls->why, -CHI_EPROTO, "%s", text);
	return tls->failure;
}

/* ---- Contexts ---------------------------------------------------------------------------- */

/* OpenSSL would ask the terminal for one, or read it from the standard input, in the middle of a
 * program whose own these are. */
static int no_passphrase(char *out, int room, int writing, void *context)
{
	(void)out;
	(void)room;
	(void)writing;
	(void)context;
	return -1;
}

int chi_tls_context(bool server, SSL_CTX **out, struct chi_fault *fault)
{
	*out = NULL;
	int status = chi_library_load(&library, fault);
	if (status < 0) {
		return status;
	}
	SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
	if (context == NULL || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
	    (server && SSL_CTX_set_num_tickets(context, 0) != 1)) {
		SSL_CTX_free(context);
		return chi_fail(fault, -CHI_ENOMEM, "cannot set up TLS (%s)", reason());
	}
	SSL_CTX_set_default_passwd_cb(context, no_passphrase);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
					  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					  SSL_MODE_RELEASE_BUFFERS);
	/* A record takes one call of the system, not one for its head and one for the rest. */
	SSL_CTX_set_read_ahead(context, 1);
	*out = context;
	return CHI_OK;
}

/* OpenSSL would wait for a writer of a pipe of that name. */
static int look_at_file(const char *what, const char *path, struct stat *file,
			struct chi_fault *fault)
{
	char buffer[96];
	if (stat(path, file) != 0) {
		return chi_fail(fault, -CHI_EIO, "cannot use the %s '%s' (%s)", what, path,
				strerror_r(errno, buffer, sizeof(buffer)));
	}
	return S_ISREG(file->st_mode)
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EIO, "cannot use the %s '%s' (not a regular file)",
				  what, path);
}

static void free_certificates(STACK_OF(X509) *const *all)
{
	sk_X509_pop_free(*all, X509_free);
}

/* All that a PEM file has, at least one; NULL: reason() tells. OpenSSL's own readers of whole files
 * take some failures for the end, and hand out what came before. */
static STACK_OF(X509) * read_certificates(const char *path)
{
	STACK_OF(X509) *all = sk_X509_new_null();
	ERR_clear_error();
	BIO *file = all != NULL ? BIO_new_file(path, "r") : NULL;
	X509 *one = NULL;
	while (file != NULL && (one = PEM_read_bio_X509_AUX(file, NULL, NULL, NULL)) != NULL &&
	       sk_X509_push(all, one) > 0) {
	}
	/* At the end nothing else has failed before, and all that was read is on the list. */
	bool whole = one == NULL && ERR_GET_REASON(ERR_peek_error()) == PEM_R_NO_START_LINE;
	BIO_free(file);
	if (whole && sk_X509_num(all) > 0) {
		ERR_clear_error();
		return all;
	}
	X509_free(one);
	free_certificates(&all);
	return NULL;
}

/* The first is one's own. */
static bool show(SSL_CTX *context, STACK_OF(X509) * chain)
{
	X509 *own = chain != NULL ? sk_X509_shift(chain) : NULL;
	bool shown = own != NULL && SSL_CTX_use_certificate(context, own) == 1 &&
		     SSL_CTX_set1_chain(context, chain) == 1;
	X509_free(own);
	return shown;
}

/* The names tell clients which of their certificates is meant. */
static bool trust(SSL_CTX *context, STACK_OF(X509) * authorities)
{
	bool trusted = authorities != NULL;
	for (int i = 0; trusted && i < sk_X509_num(authorities); i++) {
		X509 *one = sk_X509_value(authorities, i);
		trusted = X509_STORE_add_cert(SSL_CTX_get_cert_store(context), one) == 1 &&
			  SSL_CTX_add_client_CA(context, one) == 1;
	}
	return trusted;
}

int chi_tls_identity(SSL_CTX *context, const char *certificate, const char *key,
		     struct chi_fault *fault)
{
	struct stat file;
	int status = look_at_file("certificate", certificate, &file, fault);
	if (status == CHI_OK) {
		status = look_at_file("key", key, &file, fault);
	}
	if (status < 0) {
		return status;
	}
	if ((file.st_mode & (S_IROTH | S_IWOTH)) != 0) {
		return chi_fail(fault, -CHI_EACCES, "the key '%s' is open to everyone; chmod o= it",
				key);
	}
	_cleanup_(free_certificates) STACK_OF(X509) *chain = read_certificates(certificate);
	if (!show(context, chain)) {
		return chi_fail(fault, -CHI_EIO, "cannot use the certificate '%s' (%s)",
				certificate, reason());
	}
	if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 ||
	    SSL_CTX_check_private_key(context) != 1) {
		return chi_fail(fault, -CHI_EIO, "cannot use the key '%s' of '%s' (%s)", key,
				certificate, reason());
	}
	return CHI_OK;
}

int chi_tls_authorities(SSL_CTX *context, const char *file, struct chi_fault *fault)
{
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	if (file == NULL) {
		return SSL_CTX_set_default_verify_paths(context) == 1
			       ? CHI_OK
			       : chi_fail(fault, -CHI_EIO,
					  "cannot use the system's authorities (%s)", reason());
	}
	struct stat st;
	int status = look_at_file("authorities in", file, &st, fault);
	if (status < 0) {
		return status;
	}
	_cleanup_(free_certificates) STACK_OF(X509) *authorities = read_certificates(file);
	return trust(context, authorities)
		       ? CHI_OK
		       : chi_fail(fault, -CHI_EIO, "cannot use the authorities in '%s' (%s)", file,
				  reason());
}

/* ---- Connections ------------------------------------------------------------------------- */

int chi_tls_new(SSL_CTX *context, int fd, bool server, struct chi_tls **out)
{
	const BIO_METHOD *method = get_method();
	struct chi_tls *tls = method != NULL ? calloc(1, sizeof(*tls)) : NULL;
	*out = NULL;
	SSL *ssl = tls != NULL ? SSL_new(context) : NULL;
	BIO *bio = ssl != NULL ? BIO_new(method) : NULL;
	if (bio == NULL) {
		SSL_free(ssl);
		free(tls);
		ERR_clear_error();
		return -CHI_ENOMEM;
	}
	tls->ssl = ssl;
	tls->fd = fd;
	BIO_set_data(bio, tls);
	SSL_set_msg_callback(ssl, on_message);
	SSL_set_msg_callback_arg(ssl, tls);
	/* One for both ways, which the session owns. */
	SSL_set_bio(ssl, bio, bio);
	if (server) {
		SSL_set_accept_state(ssl);
	} else {
		SSL_set_connect_state(ssl);
	}
	*out = tls;
	return CHI_OK;
}

void chi_tls_free(struct chi_tls *tls)
{
	if (tls != NULL) {
		SSL_free(tls->ssl);
		ERR_clear_error();
		free(tls);
	}
}

/* What each call begins with. */
static void begin_call(struct chi_tls *tls)
{
	ERR_clear_error();
	tls->wants_room = false;
	tls->left = CALL_BYTES;
	tls->key_updates = 0;
}

/* After a call that did not do it all: CHI_NONE if it has to wait, CHI_OK at the proper end. */
static int sort_out(struct chi_tls *tls, int result, int error)
{
	int kind = SSL_get_error(tls->ssl, result);
	switch (kind) {
	case SSL_ERROR_WANT_WRITE:
		tls->wants_room = true;
		return CHI_NONE;
	case SSL_ERROR_WANT_READ:
		return CHI_NONE;
	case SSL_ERROR_ZERO_RETURN:
		return CHI_OK;
	default:
		return fail_tls(tls, kind, error);
	}
}

int chi_tls_shake(struct chi_tls *tls)
{
	if (tls->failure != CHI_OK) {
		return tls->failure;
	}
	begin_call(tls);
	errno = 0;
	int result = SSL_do_handshake(tls->ssl);
	if (result == 1) {
		tls->up = true;
		return CHI_OK;
	}
	int status = sort_out(tls, result, errno);
	return status == CHI_OK ? fail_tls(tls, SSL_ERROR_SYSCALL, 0) : status;
}

static int bounded(size_t len)
{
	return len < INT_MAX ? (int)len : INT_MAX;
}

ssize_t chi_tls_read(struct chi_tls *tls, void *out, size_t room)
{
	size_t got = 0;
	int status = tls->failure;
	tls->more = false;
	begin_call(tls);
	while (got < room && status == CHI_OK) {
		errno = 0;
		int n = SSL_read(tls->ssl, (uint8_t *)out + got, bounded(room - got));
		int error = errno;
		got += n > 0 ? (size_t)n : 0;
		tls->up = tls->up || SSL_is_init_finished(tls->ssl) == 1;
		if (tls->key_updates > KEY_UPDATES_MAX) {
			status = chi_fail(&tls->why, -CHI_EPROTO, "too many key updates");
			tls->failure = status;
			break;
		}
		if (n > 0) {
			continue;
		}
		status = sort_out(tls, n, error);
		if (status == CHI_OK) {
			/* The end is reported after all data before it. */
			tls->more = got > 0;
			return (ssize_t)got;
		}
	}
	if (got > 0) {
		/* The next call reports the failure again. */
		tls->more = status != CHI_NONE;
		return (ssize_t)got;
	}
	errno = status == CHI_NONE ? EAGAIN : EPROTO;
	return -1;
}

ssize_t chi_tls_write(struct chi_tls *tls, const void *bytes, size_t len)
{
	size_t put = 0;
	int status = tls->failure;
	begin_call(tls);
	while (put < len && status == CHI_OK) {
		errno = 0;
		int n = SSL_write(tls->ssl, (const uint8_t *)bytes + put, bounded(len - put));
		if (n > 0) {
			put += (size_t)n;
			continue;
		}
		status = sort_out(tls, n, errno);
		if (status == CHI_OK) {
			status = fail_tls(tls, SSL_ERROR_SYSCALL, EPIPE);
		}
	}
	if (put > 0) {
		return (ssize_t)put;
	}
	errno = status == CHI_NONE ? EAGAIN : EPROTO;
	return -1;
}

void chi_tls_end(struct chi_tls *tls)
{
	if (tls->failure == CHI_OK && SSL_is_init_finished(tls->ssl) == 1) {
		(void)SSL_shutdown(tls->ssl);
		ERR_clear_error();
	}
}
