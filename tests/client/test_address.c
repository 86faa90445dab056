/* SPDX-License-Identifier: MIT */
/* Addresses: what each text means, what the refusal of a wrong one says, and what a connection to
 * one is like. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/attr.h"
#include "client/core/address.h"
#include "client/remote/connect.h"
#include "tests/base/cases.h"

static const struct {
	const char *text;
	enum chi_address_kind kind;
	const char *path;
	const char *host;
	const char *port;
} good[] = {
	{"store", CHI_ADDRESS_DIR, "store", "", ""},
	{"/var/lib/chistore", CHI_ADDRESS_DIR, "/var/lib/chistore", "", ""},
	{"file:store", CHI_ADDRESS_DIR, "store", "", ""},
	{"file:/a b", CHI_ADDRESS_DIR, "/a b", "", ""},
	{"file:unix:x", CHI_ADDRESS_DIR, "unix:x", "", ""},
	/* Only known schemes are schemes. */
	{"C:foo", CHI_ADDRESS_DIR, "C:foo", "", ""},
	{"./a:b", CHI_ADDRESS_DIR, "./a:b", "", ""},
	{"UNIX:x", CHI_ADDRESS_DIR, "UNIX:x", "", ""},
	{"tcp", CHI_ADDRESS_DIR, "tcp", "", ""},
	{"./http://x", CHI_ADDRESS_DIR, "./http://x", "", ""},
	{"file:http://x", CHI_ADDRESS_DIR, "http://x", "", ""},
	{"unix:/run/chistored.sock", CHI_ADDRESS_UNIX, "/run/chistored.sock", "", ""},
	{"unix:relative", CHI_ADDRESS_UNIX, "relative", "", ""},
	{"unix:tcp:x", CHI_ADDRESS_UNIX, "tcp:x", "", ""},
	{"tcp:localhost:7400", CHI_ADDRESS_TCP, NULL, "localhost", "7400"},
	{"tls:chess.example.org:7228", CHI_ADDRESS_TLS, NULL, "chess.example.org", "7228"},
	{"tls:[::1]:1", CHI_ADDRESS_TLS, NULL, "::1", "1"},
	{"tcp:127.0.0.1:1", CHI_ADDRESS_TCP, NULL, "127.0.0.1", "1"},
	{"tcp:[::1]:65535", CHI_ADDRESS_TCP, NULL, "::1", "65535"},
	{"tcp:[fe80::1%eth0]:80", CHI_ADDRESS_TCP, NULL, "fe80::1%eth0", "80"},
};

static const struct {
	const char *text;
	struct chi_rados_place place;
} on_rados[] = {
	{"rados:chess/main", {.pool = "chess", .name = "main"}},
	{"rados:p.1/n_2-x?conf=/etc/ceph/c&user=bob",
	 {.pool = "p.1", .name = "n_2-x", .conf = "/etc/ceph/c", .user = "bob"}},
	{"rados:p/n?shards=65536", {.pool = "p", .name = "n", .shards = 65536}},
};

static const struct {
	const char *text;
	const char *says;
} bad[] = {
	{"rados:", "is not rados:POOL/NAME"},
	{"rados:pool", "is not rados:POOL/NAME"},
	{"rados:/name", "the pool's name is missing"},
	{"rados:pool/", "the store's name is missing"},
	{"rados:pool/na me", "the store's name 'na me' has other characters"},
	{"rados:pool/a/b", "the store's name 'a/b' has other characters"},
	{"rados:pool/name?", "'' is not conf=FILE"},
	{"rados:pool/name?user=", "user is missing"},
	{"rados:pool/name?shards=0", "'shards=0' is not conf=FILE"},
	{"rados:pool/name?shards=65537", "shards=N (1 to 65536)"},
	{"rados:pool/name?size=1&user=x", "'size=1' is not conf=FILE"},
	{"", "empty"},
	{"file:", "empty"},
	{"unix:", "lacks the socket's path"},
	{"tcp:", "lacks a port"},
	{"tcp:host", "lacks a port"},
	{"tls:host", "'tls:host' lacks a port"},
	{"tls://h:1", "write tls:HOST:PORT"},
	{"tcp::80", "lacks a host"},
	{"tcp:[]:80", "lacks a host"},
	{"tcp:host:", "port ''"},
	{"tcp:host:0", "1 to 65535"},
	{"tcp:host:65536", "1 to 65535"},
	{"tcp:host:080808", "1 to 65535"},
	{"tcp:host:http", "port 'http'"},
	{"tcp:host:-1", "port '-1'"},
	{"tcp:host: 1", "port ' 1'"},
	{"tcp:::1:80", "brackets"},
	{"tcp:fe80::1", "brackets"},
	{"tcp:[::1]", "[ADDRESS]:PORT"},
	{"tcp:[::1]80", "[ADDRESS]:PORT"},
	{"tcp:[::1:80", "[ADDRESS]:PORT"},
	{"tcp://host:80", "without '//'"},
	{"http://host:80", "unknown scheme 'http:'"},
	{"ws://host", "unknown scheme 'ws:'"},
};

CASE(good_addresses)
{
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		struct chi_address address;
		struct chi_fault fault = {{0}};
		if (chi_address_parse(good[i].text, &address, &fault) != CHI_OK) {
			fail_msg("'%s' is refused: %s", good[i].text, fault.text);
		}
		assert_int_equal(address.kind, good[i].kind);
		assert_string_equal(address.host, good[i].host);
		assert_string_equal(address.port, good[i].port);
		if (good[i].path != NULL) {
			assert_string_equal(address.path, good[i].path);
		}
	}
}

CASE(bad_addresses)
{
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		struct chi_address address;
		struct chi_fault fault = {{0}};
		int status = chi_address_parse(bad[i].text, &address, &fault);
		if (status != -CHI_ESYNTAX || strstr(fault.text, bad[i].says) == NULL) {
			fail_msg("'%s': status %d, '%s'", bad[i].text, status, fault.text);
		}
	}
}

/* The longest socket path, and one byte more. */
CASE(socket_path_length)
{
	size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1;
	char text[256] = "unix:";
	struct chi_address address;
	struct chi_fault fault = {{0}};
	memset(text + 5, 'a', room);
	assert_int_equal(chi_address_parse(text, &address, &fault), CHI_OK);
	text[5 + room] = 'a';
	assert_int_equal(chi_address_parse(text, &address, &fault), -CHI_ESYNTAX);
	assert_non_null(strstr(fault.text, "the system allows 107"));
}

CASE(host_length)
{
	char text[320] = "tcp:";
	struct chi_address address;
	struct chi_fault fault = {{0}};
	memset(text + 4, 'h', CHI_HOST_SIZE - 1);
	strcpy(text + 4 + CHI_HOST_SIZE - 1, ":80");
	assert_int_equal(chi_address_parse(text, &address, &fault), CHI_OK);
	memset(text + 4, 'h', CHI_HOST_SIZE);
	strcpy(text + 4 + CHI_HOST_SIZE, ":80");
	assert_int_equal(chi_address_parse(text, &address, &fault), -CHI_ESYNTAX);
	assert_non_null(strstr(fault.text, "too long a host"));
}

CASE(addresses_on_rados)
{
	for (size_t i = 0; i < CHI_COUNT(on_rados); i++) {
		struct chi_address address;
		struct chi_fault fault = {{0}};
		const struct chi_rados_place *place = &on_rados[i].place;
		assert_int_equal(chi_address_parse(on_rados[i].text, &address, &fault), CHI_OK);
		assert_int_equal(address.kind, CHI_ADDRESS_RADOS);
		assert_string_equal(address.rados.pool, place->pool);
		assert_string_equal(address.rados.name, place->name);
		assert_string_equal(address.rados.conf, place->conf);
		assert_string_equal(address.rados.user, place->user);
		assert_int_equal(address.rados.shards, place->shards);
	}
}

static unsigned limit_for(int fd, const struct chi_address *address, uint32_t call_ms)
{
	unsigned ms = 0;
	socklen_t len = sizeof(ms);
	chi_connect_limit(fd, address, call_ms);
	assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &len), 0);
	return ms;
}

CASE(a_silent_machine_breaks_the_connection)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(to);
	struct chi_address address;
	struct chi_fault fault = {{0}};
	char text[64];
	int fd = -1;
	int door = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(door, (const struct sockaddr *)&to, len), 0);
	assert_int_equal(listen(door, 1), 0);
	assert_int_equal(getsockname(door, (struct sockaddr *)&to, &len), 0);
	(void)snprintf(text, sizeof(text), "tcp:127.0.0.1:%d", ntohs(to.sin_port));
	assert_int_equal(chi_address_parse(text, &address, &fault), CHI_OK);
	assert_int_equal(chi_connect(&address, text, 5000, &fd, &fault), CHI_OK);
	assert_int_equal(limit_for(fd, &address, 30000), 30000);
	assert_int_equal(limit_for(fd, &address, 10), 1000);
	(void)close(fd);
	(void)close(door);
}
