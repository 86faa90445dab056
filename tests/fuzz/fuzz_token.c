/* SPDX-License-Identifier: MIT */
/* Reaches client/remote/token.h with the bytes of a token file, and the parser of access files with
 * what was read: a token that a client can send, a server can know by its digest. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "client/remote/token.h"
#include "service/access.h"
#include "tests/fuzz/fuzz.h"

static char path[32];

static void put_file(const uint8_t *data, size_t size)
{
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		REQUIRE(fd >= 0 && fchmod(fd, 0600) == 0);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	REQUIRE(ftruncate(fd, 0) == 0);
	REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
}

static void check_known(const char *token)
{
	uint8_t digest[CHI_DIGEST_SIZE];
	char hex[2 * CHI_DIGEST_SIZE + 1];
	char line[128];
	struct chi_access *access = NULL;
	const char *why = NULL;
	REQUIRE(chi_access_digest(token, strlen(token), digest) == CHI_OK);
	chi_hex_print(digest, sizeof(digest), hex);
	int len = snprintf(line, sizeof(line), "token %s write\n", hex);
	REQUIRE(chi_access_parse(line, (size_t)len, "file", &chi_access_system, &access, NULL) ==
		CHI_OK);
	const struct chi_shown shown = {.token = digest};
	REQUIRE(chi_access_authorize(access, &shown, &why) == CHI_ROLE_WRITE);
	chi_access_free(access);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char token[CHI_ACCESS_TOKEN_MAX + 1];
	struct chi_fault fault = {.text = ""};
	put_file(data, size);
	int status = chi_token_read(path, token, &fault);
	if (status != CHI_OK) {
		REQUIRE(status == -CHI_ESYNTAX && fault.text[0] != '\0');
		return 0;
	}
	size_t len = strlen(token);
	REQUIRE(len > 0 && len <= CHI_ACCESS_TOKEN_MAX && len <= size);
	REQUIRE(memcmp(token, data, len) == 0);
	for (size_t i = 0; i < len; i++) {
		REQUIRE(token[i] > ' ' && token[i] <= '~');
	}
	for (size_t i = len; i < size; i++) {
		REQUIRE(data[i] == '\r' || data[i] == '\n');
	}
	check_known(token);
	return 0;
}
