/* SPDX-License-Identifier: MIT */
/*
 * Reaches client/core/address.h and service/listen.h: any text as an address to connect to
 * and as one to listen on. What a server listens on, a client reads as the same place.
 */
#include <string.h>

#include "chistore.h"
#include "client/core/address.h"
#include "service/listen.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_MAX 1024

static void check_host(const struct chi_address *address)
{
	size_t len = strlen(address->port);
	REQUIRE(address->host[0] != '\0' && memchr(address->host, '\0', CHI_HOST_SIZE) != NULL);
	REQUIRE(len > 0 && strspn(address->port, "0123456789") == len);
	REQUIRE(atol(address->port) >= 1 && atol(address->port) <= 65535);
}

static bool check_address(const char *text, struct chi_address *address)
{
	struct chi_fault fault = {.text = ""};
	int status = chi_address_parse(text, address, &fault);
	if (status != CHI_OK) {
		REQUIRE(status == -CHI_ESYNTAX && fault.text[0] != '\0');
		return false;
	}
	if (address->kind == CHI_ADDRESS_DIR || address->kind == CHI_ADDRESS_UNIX) {
		REQUIRE(address->path[0] != '\0' && address->path >= text);
		REQUIRE(strcmp(address->path, text + (address->path - text)) == 0);
	} else if (address->kind == CHI_ADDRESS_RADOS) {
		REQUIRE(address->rados.pool[0] != '\0' && address->rados.name[0] != '\0');
		REQUIRE(address->rados.shards <= CHI_SHARDS_MAX);
	} else {
		check_host(address);
	}
	return true;
}

static void check_same(const struct chi_listen *listen, const struct chi_address *address)
{
	switch (listen->kind) {
	case CHI_LISTEN_UNIX:
		REQUIRE(address->kind == CHI_ADDRESS_UNIX);
		REQUIRE(strcmp(address->path, listen->path) == 0);
		break;
	case CHI_LISTEN_TCP:
	case CHI_LISTEN_TLS:
		REQUIRE(address->kind ==
			(listen->kind == CHI_LISTEN_TCP ? CHI_ADDRESS_TCP : CHI_ADDRESS_TLS));
		REQUIRE(strcmp(address->host, listen->host) == 0);
		REQUIRE(atol(address->port) == atol(listen->port));
		break;
	case CHI_LISTEN_PASSED:
		break; /* no address at all */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[TEXT_MAX + 1];
	struct chi_address address;
	struct chi_listen listen;
	struct chi_fault fault = {.text = ""};
	if (size > TEXT_MAX) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	(void)check_address(text, &address);
	int status = chi_listen_parse(text, &listen, &fault);
	if (status != CHI_OK) {
		REQUIRE(fault.text[0] != '\0');
		return 0;
	}
	REQUIRE(listen.role > CHI_ROLE_NONE && listen.role < CHI_ROLES && listen.mode <= 0777);
	/* Port 0 is any free one, which cannot be connected to. */
	text[strcspn(text, ",")] = '\0';
	bool any_port = listen.kind != CHI_LISTEN_UNIX && strcmp(listen.port, "0") == 0;
	if (listen.kind != CHI_LISTEN_PASSED && !any_port && check_address(text, &address)) {
		check_same(&listen, &address);
	}
	return 0;
}
