/* SPDX-License-Identifier: MIT */
#include "service/net/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/num.h"

union any_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_storage room;
};

static void set_v6(struct chi_peer_address *peer, const struct in6_addr *address)
{
	bool mapped = IN6_IS_ADDR_V4MAPPED(address);
	peer->family = mapped ? AF_INET : AF_INET6;
	memcpy(peer->address, address->s6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
}

static void set_address(struct chi_peer_address *peer, const union any_address *name)
{
	*peer = (struct chi_peer_address){.family = AF_UNSPEC};
	if (name->any.sa_family == AF_INET) {
		peer->family = AF_INET;
		peer->port = ntohs(name->v4.sin_port);
		memcpy(peer->address, &name->v4.sin_addr, 4);
	} else if (name->any.sa_family == AF_INET6) {
		peer->port = ntohs(name->v6.sin6_port);
		set_v6(peer, &name->v6.sin6_addr);
	}
}

void chi_peer_from(const struct sockaddr *address, size_t len, struct chi_peer_address *out)
{
	union any_address name = {.room = {.ss_family = AF_UNSPEC}};
	memcpy(&name, address, len);
	set_address(out, &name);
}

void chi_peer_of(int fd, struct chi_peer_address *out)
{
	union any_address name = {.room = {.ss_family = AF_UNSPEC}};
	struct ucred user;
	socklen_t len = sizeof(name);
	(void)getpeername(fd, &name.any, &len);
	set_address(out, &name);
	len = sizeof(user);
	if (name.any.sa_family == AF_UNIX &&
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &user, &len) == 0) {
		out->family = AF_UNIX;
		out->uid = user.uid;
		out->pid = user.pid;
	}
}

void chi_peer_here(int fd, struct chi_peer_address *out)
{
	union any_address name = {.room = {.ss_family = AF_UNSPEC}};
	socklen_t len = sizeof(name);
	(void)getsockname(fd, &name.any, &len);
	set_address(out, &name);
}

/* What of "HOST:PORT" and "[HOST]:PORT" is the host; false: the port is none. */
static bool split(const char *text, size_t len, char host[INET6_ADDRSTRLEN], uint16_t *port)
{
	bool bracket = len > 0 && text[0] == '[';
	const char *end = bracket ? memchr(text, ']', len) : NULL;
	const char *colon = bracket ? NULL : memchr(text, ':', len);
	size_t host_len = len;
	uint64_t number = 0;
	if (bracket) {
		host_len = end != NULL ? (size_t)(end - text) - 1 : 0;
		text++;
		end = end != NULL ? end + 1 : NULL;
		len -= 1;
	} else if (colon != NULL && memrchr(text, ':', len) == colon) {
		host_len = (size_t)(colon - text);
		end = colon;
	}
	size_t rest = end != NULL ? (size_t)(text + len - end) : 0;
	if (host_len == 0 || host_len >= INET6_ADDRSTRLEN ||
	    (rest > 0 &&
	     (*end != ':' || chi_num_u64(end + 1, rest - 1, UINT16_MAX, &number) != 0))) {
		return false;
	}
	memcpy(host, text, host_len);
	host[host_len] = '\0';
	*port = (uint16_t)number;
	return true;
}

bool chi_peer_parse(const char *text, size_t len, struct chi_peer_address *out)
{
	char host[INET6_ADDRSTRLEN];
	struct in6_addr v6;
	*out = (struct chi_peer_address){.family = AF_UNSPEC};
	if (!split(text, len, host, &out->port)) {
		return false;
	}
	if (inet_pton(AF_INET, host, out->address) == 1) {
		out->family = AF_INET;
	} else if (inet_pton(AF_INET6, host, &v6) == 1) {
		set_v6(out, &v6);
	}
	return out->family != AF_UNSPEC;
}

bool chi_peer_is_loopback(const struct chi_peer_address *peer)
{
	static const uint8_t v6[16] = {[15] = 1};
	return (peer->family == AF_INET && peer->address[0] == 127) ||
	       (peer->family == AF_INET6 && memcmp(peer->address, v6, sizeof(v6)) == 0);
}

bool chi_peer_is_at(const struct chi_peer_address *peer, const struct chi_peer_address *address)
{
	return (peer->family == AF_INET || peer->family == AF_INET6) &&
	       peer->family == address->family &&
	       memcmp(peer->address, address->address, sizeof(peer->address)) == 0;
}

void chi_peer_print(const struct chi_peer_address *peer, char out[CHI_PEER_TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN] = "?";
	char port[8] = "";
	bool six = peer->family == AF_INET6 && peer->port != 0;
	if (peer->family == AF_UNIX) {
		(void)snprintf(out, CHI_PEER_TEXT_SIZE, "uid %u pid %d", (unsigned)peer->uid,
			       (int)peer->pid);
		return;
	}
	if (peer->family != AF_UNSPEC) {
		(void)inet_ntop(peer->family, peer->address, host, sizeof(host));
	}
	if (peer->port != 0) {
		(void)snprintf(port, sizeof(port), ":%u", (unsigned)peer->port);
	}
	(void)snprintf(out, CHI_PEER_TEXT_SIZE, "%s%s%s%s", six ? "[" : "", host, six ? "]" : "",
		       port);
}

/* FNV-1a. */
uint32_t chi_peer_hash(char kind, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;
	uint32_t sum = (UINT32_C(2166136261) ^ (uint8_t)kind) * UINT32_C(16777619);
	for (size_t i = 0; i < len; i++) {
		sum = (sum ^ at[i]) * UINT32_C(16777619);
	}
	return sum;
}

uint32_t chi_peer_number(const struct chi_peer_address *peer)
{
	return peer->family == AF_UNIX	  ? chi_peer_hash('u', &peer->uid, sizeof(peer->uid))
	       : peer->family == AF_INET  ? chi_peer_hash('4', peer->address, 4)
	       : peer->family == AF_INET6 ? chi_peer_hash('6', peer->address, 8)
					  : 0;
}
