/* SPDX-License-Identifier: MIT */
/*
 * Who is at the other end of a socket, as the kernel knows it: an address or, on a unix socket, a
 * local user.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHI_PEER_TEXT_SIZE 64

struct chi_peer_address {
	int family;	     /* AF_UNIX, AF_INET, AF_INET6; AF_UNSPEC: not known */
	uint16_t port;	     /* 0: not known */
	uint8_t address[16]; /* INET: the first four; IPv4 within IPv6 is INET */
	uint32_t uid;	     /* UNIX */
	int32_t pid;
};

struct sockaddr;

void chi_peer_of(int fd, struct chi_peer_address *out);

/* An address of the system's; INET and INET6. */
void chi_peer_from(const struct sockaddr *address, size_t len, struct chi_peer_address *out);

/* This end of the socket. */
void chi_peer_here(int fd, struct chi_peer_address *out);

/* An address, with a port or without: "10.0.0.1:80", "::1", "[::1]:80". */
bool chi_peer_parse(const char *text, size_t len, struct chi_peer_address *out);

bool chi_peer_is_loopback(const struct chi_peer_address *peer);

/* The same address, whatever the port. */
bool chi_peer_is_at(const struct chi_peer_address *peer, const struct chi_peer_address *address);

/* "uid 1000 pid 4711", "127.0.0.1:4711", "[::1]:4711", "10.0.0.1", "?". */
void chi_peer_print(const struct chi_peer_address *peer, char out[CHI_PEER_TEXT_SIZE]);

/* A number for the peer, whose share of what is limited a client takes: the same for all
 * connections of a local user or an address, an IPv6 address by its network. Others may have the
 * same number, and then share. */
uint32_t chi_peer_number(const struct chi_peer_address *peer);

/* The same for what a peer has shown; `kind` keeps different things apart. */
uint32_t chi_peer_hash(char kind, const void *bytes, size_t len);
