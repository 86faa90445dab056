/* SPDX-License-Identifier: MIT */
/* Who may do what: by tokens, in the access file that the daemon has, too. */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fault.h"
#include "http/net/conn.h"
#include "service/log.h"

/* Without a token one has the role that any client has. */
static enum chi_role initial_role(const struct http_config *config, const char **why)
{
	*why = "access denied: this server asks for a token (Authorization: Bearer ...)";
	return config->public_read		    ? CHI_ROLE_READ
	       : config->server.access_path == NULL ? CHI_ROLE_WRITE
						    : CHI_ROLE_NONE;
}

static bool begins(struct chi_slice text, const char *word)
{
	size_t n = strlen(word);
	return text.len >= n && strncasecmp(text.at, word, n) == 0;
}

/* ---- Who asks ------------------------------------------------------------------------------ */

bool server_is_proxy(const struct http_server *server, const struct chi_peer_address *from)
{
	const struct http_config *config = server->config;
	size_t i = 0;
	while (i < config->n_proxies && !chi_peer_is_at(from, &config->proxies[i])) {
		i++;
	}
	return i < config->n_proxies;
}

/* What a proxy says is the last of the addresses that it has written. */
void server_find_peer(const struct conn *conn, const struct chi_http_head *head,
		      struct chi_peer_address *out)
{
	struct chi_slice list = head->forwarded;
	bool told = conn->is_proxy && list.len > 0;
	const char *comma = told ? memrchr(list.at, ',', list.len) : NULL;
	const char *at = comma != NULL ? comma + 1 : list.at;
	size_t len = told ? list.len - (size_t)(at - list.at) : 0;
	while (len > 0 && *at == ' ') {
		at++;
		len--;
	}
	if (!told || !chi_peer_parse(at, len, out)) {
		*out = conn->from;
	}
}

/* ---- Who may write ------------------------------------------------------------------------- */

/* Of "name:port" or "name", as people write it, in any case. */
static bool is_name(struct chi_slice host, const char *name)
{
	size_t n = strlen(name);
	return begins(host, name) && (host.len == n || host.at[n] == ':');
}

static bool is_one_of(struct chi_slice host, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_name(host, names[i])) {
			return true;
		}
	}
	return false;
}

/* A name that no one else can make lead here, as others' names can: one that the command line
 * gives, localhost, or the address that was connected to. */
static bool is_own(const struct conn *conn, struct chi_slice host)
{
	const struct http_config *config = conn->loop->server->config;
	struct chi_peer_address address;
	if (is_name(host, "localhost") || is_one_of(host, config->hosts, config->n_hosts)) {
		return true;
	}
	return chi_peer_parse(host.at, host.len, &address) &&
	       (chi_peer_is_loopback(&address) || chi_peer_is_at(&address, &conn->here));
}

/* That of a service whose interface is served: programs ask for it, with this server as proxy. */
static bool is_service(const struct conn *conn, struct chi_slice host)
{
	const char *const *names = conn->loop->server->services;
	size_t n = 0;
	while (names != NULL && names[n] != NULL) {
		n++;
	}
	return is_one_of(host, names, n);
}

const char *server_write_ban(const struct conn *conn, const struct chi_http_head *head)
{
	struct chi_slice origin = head->origin;
	bool own = is_own(conn, head->host);
	size_t scheme = begins(origin, "http://") ? 7 : begins(origin, "https://") ? 8 : 0;
	bool same = scheme > 0 && origin.len - scheme == head->host.len &&
		    memcmp(origin.at + scheme, head->host.at, head->host.len) == 0;
	if (begins(head->site, "cross-site") || begins(head->site, "same-site") ||
	    (origin.len > 0 && !(same && own))) {
		return "pages of other sites may not write without a token";
	}
	return own || head->host.len == 0 || is_service(conn, head->host)
		       ? NULL
		       : "this server does not know that it has the name that it was asked by, and "
			 "takes nothing to write: see --host";
}

int call_may_write(struct call *call)
{
	call->writes = true;
	if (call->write_ban != NULL) {
		return chi_fail(&call->fault, -CHI_EACCES, "%s", call->write_ban);
	}
	return call->role >= CHI_ROLE_WRITE ? CHI_OK
					    : chi_fail(&call->fault, -CHI_EACCES,
						       "access denied: this needs the role write");
}

void call_audit(const struct call *call)
{
	char peer[CHI_PEER_TEXT_SIZE];
	const char *asked = call->target != NULL ? call->target : call->path;
	bool refused = call->http == 401 || call->http == 403;
	if (!refused && !call->writes) {
		return;
	}
	chi_peer_print(&call->peer, peer);
	if (refused) {
		log_info("access.deny",
			 "{method} '{asked}' by '{peer}' refused with {status} ({cause})",
			 log_text("peer", peer),
			 log_text("method", chi_http_method_name(call->method)),
			 log_text("asked", asked), log_number("status", (uint64_t)call->http),
			 log_text("cause", call->fault.text));
	} else {
		log_info("access.write",
			 "write {method} '{asked}' by '{peer}' answered with {status}",
			 log_text("peer", peer),
			 log_text("method", chi_http_method_name(call->method)),
			 log_text("asked", asked), log_number("status", (uint64_t)call->http));
	}
}

enum chi_role server_authorize(struct http_server *server, struct chi_slice authorization,
			       bool *shown, const char **why)
{
	static const char scheme[] = "bearer ";
	uint8_t digest[CHI_DIGEST_SIZE];
	enum chi_role role = initial_role(server->config, why);
	*shown = false;
	size_t n = sizeof(scheme) - 1;
	if (server->config->server.access_path == NULL || authorization.len <= n ||
	    strncasecmp(authorization.at, scheme, n) != 0) {
		return role;
	}
	if (chi_access_digest(authorization.at + n, authorization.len - n, digest) < 0) {
		*why = "access denied: out of memory";
		return CHI_ROLE_NONE;
	}
	const struct chi_shown what = {.token = digest};
	enum chi_role given = chi_rules_authorize(&server->rules, &what, why);
	*shown = given != CHI_ROLE_NONE;
	/* A token of lichess, sent by its clients out of habit, takes nothing away. */
	return given > role ? given : role;
}
