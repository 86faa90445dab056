/* SPDX-License-Identifier: MIT */
/* Who a peer is, and its share of a budget. */
#undef NDEBUG
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attr.h"
#include "service/net/peer.h"
#include "service/net/shares.h"
#include "tests/base/cases.h"

static struct chi_peer_address parsed(const char *text)
{
	struct chi_peer_address peer;
	assert_true(chi_peer_parse(text, strlen(text), &peer));
	return peer;
}

static uint32_t number(const char *text)
{
	struct chi_peer_address peer = parsed(text);
	return chi_peer_number(&peer);
}

CASE(addresses_are_read)
{
	static const char *const good[][2] = {
		{"10.0.0.1", "10.0.0.1"},
		{"10.0.0.1:80", "10.0.0.1:80"},
		{"::1", "::1"},
		{"[::1]", "::1"},
		{"[2001:db8::1]:443", "[2001:db8::1]:443"},
		{"::ffff:10.0.0.1", "10.0.0.1"},
		{"[::ffff:10.0.0.1]:1", "10.0.0.1:1"},
	};
	static const char *const bad[] = {
		"",
		"localhost",
		"10.0.0",
		"10.0.0.1:",
		"10.0.0.1:x",
		"10.0.0.1:65536",
		"[::1",
		"[::1]80",
		"[]:80",
		"[::1]:",
		"::1]",
		" 10.0.0.1",
		"10.0.0.1.evil.example",
		"[10.0.0.1.evil.example]",
		":80",
		"[",
		"1111:1111:1111:1111:1111:1111:1111:1111:1111:1111",
	};
	for (size_t i = 0; i < CHI_COUNT(good); i++) {
		char text[CHI_PEER_TEXT_SIZE];
		struct chi_peer_address peer = parsed(good[i][0]);
		chi_peer_print(&peer, text);
		assert_string_equal(text, good[i][1]);
	}
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		struct chi_peer_address peer;
		char *exact = strndup(bad[i], strlen(bad[i]));
		assert_non_null(exact);
		assert_false(chi_peer_parse(exact, strlen(exact), &peer));
		free(exact);
	}
}

CASE(a_peer_is_an_address_a_network_or_a_user)
{
	int sockets[2];
	struct chi_peer_address user;
	char text[CHI_PEER_TEXT_SIZE];
	assert_int_equal(number("10.0.0.1:1"), number("10.0.0.1:2"));
	assert_int_equal(number("::ffff:10.0.0.1"), number("10.0.0.1"));
	assert_int_not_equal(number("10.0.0.1"), number("10.0.0.2"));
	assert_int_equal(number("2001:db8:0:1::1"), number("2001:db8:0:1:2::"));
	assert_int_not_equal(number("2001:db8:0:1::1"), number("2001:db8:0:2::1"));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	chi_peer_of(sockets[0], &user);
	assert_int_equal(user.family, AF_UNIX);
	assert_int_equal(user.uid, geteuid());
	chi_peer_print(&user, text);
	assert_int_equal(strncmp(text, "uid ", 4), 0);
	close(sockets[0]);
	close(sockets[1]);
}

CASE(loopback_is_known)
{
	static const struct {
		const char *text;
		bool is;
	} rows[] = {{"127.0.0.1", true},  {"127.9.9.9", true},
		    {"::1", true},	  {"::ffff:127.0.0.1", true},
		    {"128.0.0.1", false}, {"0.0.0.0", false},
		    {"::", false},	  {"::2", false},
		    {"7f00::", false}};
	for (size_t i = 0; i < CHI_COUNT(rows); i++) {
		struct chi_peer_address peer = parsed(rows[i].text);
		assert_int_equal(chi_peer_is_loopback(&peer), rows[i].is);
	}
}

static struct chi_shares shares;

static uint64_t take_all(uint32_t peer)
{
	uint64_t n = 0;
	while (chi_shares_may(&shares, peer, 1)) {
		chi_shares_take(&shares, peer, 1);
		n++;
	}
	return n;
}

CASE(one_that_takes_all_it_can_has_half)
{
	memset(&shares, 0, sizeof(shares));
	shares.most = 1000;
	assert_int_equal(take_all(1), 500);
	assert_int_equal(take_all(2), 250);
	assert_int_equal(take_all(3), 125);
	chi_shares_give(&shares, 1, 500);
	assert_int_equal(take_all(1), 313);
}

CASE(one_that_holds_nothing_may_take)
{
	memset(&shares, 0, sizeof(shares));
	shares.most = 10;
	chi_shares_take(&shares, 1, 20);
	assert_false(chi_shares_may(&shares, 1, 0));
	assert_true(chi_shares_may(&shares, 2, 5));
	chi_shares_take(&shares, 2, 5);
	assert_false(chi_shares_may(&shares, 2, 1));
	assert_false(chi_shares_may(&shares, 1, UINT64_MAX));
}
