/* SPDX-License-Identifier: MIT */
/*
 * Addresses as text: `DIR`, `file:DIR`, `unix:PATH`, `tcp:HOST:PORT`, `tls:HOST:PORT`,
 * `rados:POOL/NAME[?conf=FILE&user=ID&shards=N]`. Only the known schemes are schemes: "C:foo",
 * "./a:b" and "http:x" are directories, which keeps every path usable without quoting rules. A text
 * with "://" after an unknown word is refused with a hint, since no directory is named so by
 * intention; `./` or `file:` in front still reaches it.
 */
#pragma once

#include "chistore/types.h"
#include "rados/rados.h"

enum chi_address_kind {
	CHI_ADDRESS_DIR, /* opened in this process */
	CHI_ADDRESS_UNIX,
	CHI_ADDRESS_TCP,
	CHI_ADDRESS_TLS,
	CHI_ADDRESS_RADOS, /* objects of a Ceph cluster */
};

#define CHI_HOST_SIZE	     256 /* a DNS name has at most 253 bytes */
#define CHI_PORT_SIZE	     6	 /* "65535" */
#define CHI_HOST_NUMBER_SIZE 64	 /* of an IPv6 address, with its interface */

struct chi_address {
	enum chi_address_kind kind;
	const char *path;	  /* DIR, UNIX: inside the text parsed */
	char host[CHI_HOST_SIZE]; /* TCP, TLS: without brackets */
	char port[CHI_PORT_SIZE];
	char number[CHI_HOST_NUMBER_SIZE]; /* what `host` was found to be; "": not looked up yet */
	struct chi_rados_place rados;
};

/* `text` must live as long as *out. -CHI_ESYNTAX says what is wrong. */
CHI_MUSTUSE int chi_address_parse(const char *text, struct chi_address *out,
				  struct chi_fault *fault);
