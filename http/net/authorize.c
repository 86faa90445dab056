/* SPDX-License-Identifier: MIT */
/* Who may do what: by tokens, in the access file that the daemon has, too. */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "http/net/server.h"

int server_load_access(struct http_server *server, struct chi_fault *fault)
{
	const struct http_config *config = server->config;
	struct chi_access *access = NULL;
	if (config->access_path == NULL) {
		return CHI_OK;
	}
	int status = chi_access_load(
		config->access_path,
		config->server.user.given ? config->server.user.uid : geteuid(), &access, fault);
	if (status < 0) {
		return status;
	}
	pthread_rwlock_wrlock(&server->access_lock);
	struct chi_access *before = server->access;
	server->access = access;
	pthread_rwlock_unlock(&server->access_lock);
	chi_access_free(before);
	return CHI_OK;
}

/* Without a token one has the role that any client has. */
static enum chi_role initial_role(const struct http_config *config, const char **why)
{
	*why = "access denied: this server asks for a token (Authorization: Bearer ...)";
	return config->public_read	     ? CHI_ROLE_READ
	       : config->access_path == NULL ? CHI_ROLE_WRITE
					     : CHI_ROLE_NONE;
}

static bool begins(struct text text, const char *word)
{
	size_t n = strlen(word);
	return text.len >= n && strncasecmp(text.at, word, n) == 0;
}

/* A name that no one else can make lead here, as others' names can: localhost, or an address. */
static bool is_own(struct text host)
{
	static const char local[] = "localhost";
	size_t n = sizeof(local) - 1;
	if (begins(host, local)) {
		return host.len == n || host.at[n] == ':';
	}
	for (size_t i = 0; i < host.len && host.at[0] != '['; i++) {
		if (strchr("0123456789.:", host.at[i]) == NULL) {
			return false;
		}
	}
	return host.len > 0;
}

bool server_is_foreign(const struct head *head)
{
	struct text origin = head->origin;
	if (begins(head->site, "cross-site") || begins(head->site, "same-site")) {
		return true;
	}
	size_t scheme = begins(origin, "http://") ? 7 : begins(origin, "https://") ? 8 : 0;
	bool same = scheme > 0 && origin.len - scheme == head->host.len &&
		    memcmp(origin.at + scheme, head->host.at, head->host.len) == 0;
	return origin.len > 0 && !(same && is_own(head->host));
}

enum chi_role server_authorize(struct http_server *server, struct text authorization, bool *shown,
			       const char **why)
{
	static const char scheme[] = "bearer ";
	uint8_t digest[CHI_DIGEST_SIZE];
	enum chi_role role = initial_role(server->config, why);
	*shown = false;
	size_t n = sizeof(scheme) - 1;
	if (server->config->access_path == NULL || authorization.len <= n ||
	    strncasecmp(authorization.at, scheme, n) != 0) {
		return role;
	}
	if (chi_access_digest(authorization.at + n, authorization.len - n, digest) < 0) {
		*why = "access denied: out of memory";
		return CHI_ROLE_NONE;
	}
	const struct chi_shown what = {.token = digest};
	pthread_rwlock_rdlock(&server->access_lock);
	enum chi_role given = chi_access_authorize(server->access, &what, why);
	pthread_rwlock_unlock(&server->access_lock);
	*shown = given != CHI_ROLE_NONE;
	/* A token of lichess, sent by its clients out of habit, takes nothing away. */
	return given > role ? given : role;
}
