/* SPDX-License-Identifier: MIT */
/* Asks the kernel who the peer is, and the access file what it may do. */
#include "daemon/access/guard.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "daemon/access/certificate.h"
#include "service/log.h"
#include "service/net/peer.h"

/* The groups of a process beside its first, which the kernel allows. */
#define GROUPS_MAX 65536

/* The peer of a unix socket, as it was when it connected. */
struct user {
	uint32_t uid;
	uint32_t *groups;
	size_t n_groups;
};

int chi_guard_init(struct chi_guard *guard, const struct chi_config *config,
		   struct chi_fault *fault)
{
	*guard = (struct chi_guard){.config = config};
	pthread_mutex_init(&guard->lock, NULL);
	/* At the start we may still be root, and are to be someone else. */
	int status = chi_rules_open(&guard->rules, config->server.access_path,
				    config->server.user.given ? config->server.user.uid : geteuid(),
				    fault);
	return status == CHI_OK ? chi_certificate_load(config, &guard->tls, fault) : status;
}

void chi_guard_deinit(struct chi_guard *guard)
{
	if (guard->config != NULL) {
		chi_rules_close(&guard->rules);
		SSL_CTX_free(guard->tls);
		pthread_mutex_destroy(&guard->lock);
	}
}

/* Open connections keep the context that they were made with, and are judged by this one. */
static bool reload_tls(struct chi_guard *guard)
{
	SSL_CTX *tls = NULL;
	struct chi_fault fault = {0};
	if (chi_certificate_load(guard->config, &tls, &fault) < 0) {
		log_error("certificate.reload",
			  "failed to reload the certificates, the old ones stay ({cause})",
			  log_text("cause", fault.text));
		return false;
	}
	pthread_mutex_lock(&guard->lock);
	SSL_CTX *before = guard->tls;
	guard->tls = tls;
	pthread_mutex_unlock(&guard->lock);
	SSL_CTX_free(before);
	log_info("certificate.reload", "reloaded the certificate '{path}'",
		 log_text("path", guard->config->tls_certificate));
	return true;
}

int chi_guard_tls(struct chi_guard *guard, int fd, struct chi_tls **out)
{
	pthread_mutex_lock(&guard->lock);
	int status = chi_tls_new(guard->tls, fd, true, out);
	pthread_mutex_unlock(&guard->lock);
	return status;
}

bool chi_guard_reload(struct chi_guard *guard)
{
	bool tls = guard->config->tls_certificate != NULL && reload_tls(guard);
	bool changed = chi_rules_reload(&guard->rules) || tls;
	atomic_fetch_add(&guard->changes, changed ? 1 : 0);
	return changed;
}

/* As the handshake does it. */
static bool verify_certificate(SSL *ssl, SSL_CTX *context)
{
	X509 *shown = SSL_get1_peer_certificate(ssl);
	X509_STORE_CTX *check = shown != NULL ? X509_STORE_CTX_new() : NULL;
	bool good =
		shown == NULL || (check != NULL &&
				  X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(context), shown,
						      SSL_get_peer_cert_chain(ssl)) == 1 &&
				  X509_STORE_CTX_set_default(check, "ssl_client") == 1 &&
				  X509_verify_cert(check) == 1);
	X509_STORE_CTX_free(check);
	X509_free(shown);
	ERR_clear_error();
	return good;
}

/* False if the client has shown a certificate that is not trusted now: it is expired, or no longer
 * vouched for. A handshake under these authorities has seen to it; one before they were read again
 * has not. */
static bool is_vouched(struct chi_guard *guard, const struct chi_tls *tls)
{
	pthread_mutex_lock(&guard->lock);
	SSL_CTX *context = guard->tls;
	bool other = context != SSL_get_SSL_CTX(tls->ssl);
	if (other) {
		SSL_CTX_up_ref(context);
	}
	pthread_mutex_unlock(&guard->lock);
	bool good = !other || verify_certificate(tls->ssl, context);
	if (other) {
		SSL_CTX_free(context);
	}
	return good;
}

/* The first group, and the others as far as the kernel gives them; SO_PEERCRED has but one. None
 * that it gives may be missing: a rule may exclude its members. */
static int find_groups(int fd, uint32_t first, struct user *user)
{
	socklen_t size = 64 * sizeof(uint32_t);
	for (;;) {
		uint32_t *groups = realloc(user->groups, size + sizeof(uint32_t));
		if (groups == NULL) {
			return -CHI_ENOMEM;
		}
		user->groups = groups;
		groups[0] = first;
		user->n_groups = 1;
		socklen_t len = size;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups + 1, &len) == 0) {
			user->n_groups += len / sizeof(uint32_t);
			return CHI_OK;
		}
		if (errno == ENOPROTOOPT) {
			return CHI_OK;
		}
		if (errno != ERANGE || len <= size || len > GROUPS_MAX * sizeof(uint32_t)) {
			return -CHI_ENOMEM;
		}
		size = len;
	}
}

static void free_user(struct user *user)
{
	free(user->groups);
}

/* The kernel fails at this only for lack of memory. */
static int find_user(int fd, struct user *user)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || len != sizeof(peer)) {
		return -CHI_ENOMEM;
	}
	user->uid = peer.uid;
	return find_groups(fd, peer.gid, user);
}

/* The kernel is asked before the lock is taken. */
int chi_guard_authorize(struct chi_guard *guard, const struct chi_visitor *visitor,
			enum chi_role *out, const char **why)
{
	_cleanup_(free_user) struct user user = {0};
	struct chi_shown shown = {.token = visitor->token};
	enum chi_role role = CHI_ROLE_ADMIN;
	enum chi_role most = visitor->listen->role;
	int status = CHI_OK;
	if (visitor->listen->kind == CHI_LISTEN_UNIX && guard->config->server.access_path != NULL) {
		status = find_user(visitor->fd, &user);
		shown.has_user = true;
		shown.uid = user.uid;
		shown.groups = user.groups;
		shown.n_groups = user.n_groups;
	}
	struct chi_certificate certificate = {.shown = false};
	*out = CHI_ROLE_NONE;
	*why = "";
	if (visitor->tls != NULL && !is_vouched(guard, visitor->tls)) {
		*why = "certificate no longer trusted";
		return CHI_OK;
	}
	if (status == CHI_OK && visitor->tls != NULL) {
		status = chi_certificate_of(visitor->tls, &certificate);
	}
	if (status < 0) {
		*why = "out of memory";
		return status;
	}
	if (certificate.shown) {
		shown.certificate = certificate.name;
		shown.fingerprint = certificate.fingerprint;
	}
	if (guard->rules.path != NULL) {
		role = chi_rules_authorize(&guard->rules, &shown, why);
	}
	*out = role < most ? role : most;
	return CHI_OK;
}

uint32_t chi_guard_peer(const struct chi_visitor *visitor)
{
	struct chi_certificate certificate = {.shown = false};
	struct chi_peer_address peer;
	if (visitor->token != NULL) {
		return chi_peer_hash('t', visitor->token, CHI_DIGEST_SIZE);
	}
	if (visitor->tls != NULL && chi_certificate_of(visitor->tls, &certificate) == CHI_OK &&
	    certificate.shown) {
		return chi_peer_hash('c', certificate.fingerprint, sizeof(certificate.fingerprint));
	}
	chi_peer_of(visitor->fd, &peer);
	return chi_peer_number(&peer);
}
