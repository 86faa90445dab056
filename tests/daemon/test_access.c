/* SPDX-License-Identifier: MIT */
/* The access file: what it gives to whom, and that nothing half understood is taken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/num.h"
#include "service/access.h"
#include "daemon/ops/handler.h"
#include "tests/base/cases.h"

static struct chi_fault fault;

static bool find_user(const char *name, uint32_t *uid)
{
	*uid = 1000;
	return strcmp(name, "alice") == 0;
}

static bool find_group(const char *name, uint32_t *gid)
{
	*gid = 2000;
	return strcmp(name, "chess") == 0;
}

static const struct chi_access_names names = {find_user, find_group};

static int parse(const char *text, struct chi_access **out)
{
	fault.text[0] = '\0';
	return chi_access_parse(text, strlen(text), "f", &names, out, &fault);
}

static enum chi_role authorize(const char *text, const struct chi_shown *shown)
{
	struct chi_access *access = NULL;
	const char *why = NULL;
	assert_int_equal(parse(text, &access), CHI_OK);
	enum chi_role role = chi_access_authorize(access, shown, &why);
	assert_non_null(why);
	chi_access_free(access);
	return role;
}

/* A line for a token, in `out`. */
static void token_line(const char *token, const char *behind, char *out, size_t size)
{
	uint8_t digest[CHI_DIGEST_SIZE];
	char hex[2 * CHI_DIGEST_SIZE + 1];
	assert_int_equal(chi_access_digest(token, strlen(token), digest), CHI_OK);
	chi_hex_print(digest, sizeof(digest), hex);
	snprintf(out, size, "token %s %s\n", hex, behind);
}

/* From FIPS 180-2: what sha256sum(1) prints, too. */
CASE(test_digest)
{
	char line[128];
	token_line("abc", "read", line, sizeof(line));
	assert_string_equal(line, "token ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61"
				  "f20015ad read\n");
}

CASE(test_nobody_without_a_rule)
{
	const struct chi_shown unauthenticated = {0};
	const struct chi_shown root = {.has_user = true};
	assert_int_equal(authorize("", &unauthenticated), CHI_ROLE_NONE);
	assert_int_equal(authorize("# anyone admin\n\n \t\n", &unauthenticated), CHI_ROLE_NONE);
	assert_int_equal(authorize("user alice admin", &root), CHI_ROLE_NONE);
	assert_int_equal(authorize("anyone read", &unauthenticated), CHI_ROLE_READ);
}

/* The highest role of those that fit. */
CASE(test_users_and_groups)
{
	const uint32_t groups[] = {5, 2000};
	const struct chi_shown alice = {
		.has_user = true, .uid = 1000, .groups = groups, .n_groups = 2};
	const struct chi_shown bob = {.has_user = true, .uid = 7, .groups = groups, .n_groups = 1};
	static const char text[] = "user alice read # reads\r\n"
				   "group\tchess   write\n"
				   "user 7 read\n"
				   "group 8 admin";
	assert_int_equal(authorize(text, &alice), CHI_ROLE_WRITE);
	assert_int_equal(authorize(text, &bob), CHI_ROLE_READ);
	assert_int_equal(authorize("group 5 admin\nuser 7 none", &bob), CHI_ROLE_NONE);
	assert_int_equal(authorize("group 5 admin\nuser 7 none", &alice), CHI_ROLE_ADMIN);
	/* Numbers that were not told are not number 0. */
	const struct chi_shown tcp = {0};
	assert_int_equal(authorize("user 0 admin\ngroup 0 admin", &tcp), CHI_ROLE_NONE);
}

CASE(test_certificates)
{
	uint8_t print[CHI_DIGEST_SIZE];
	struct chi_shown shown = {.certificate = "engine-7", .fingerprint = print};
	for (size_t i = 0; i < sizeof(print); i++) {
		print[i] = (uint8_t)(0xa0 + i);
	}
	assert_int_equal(authorize("cert engine-7 write", &shown), CHI_ROLE_WRITE);
	assert_int_equal(authorize("cert engine write\ncert engine-70 write", &shown),
			 CHI_ROLE_NONE);
	static const char plain[] = "cert sha256:a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7"
				    "b8b9babbbcbdbebf admin";
	static const char colons[] = "cert sha256:A0:A1:A2:A3:A4:A5:A6:A7:A8:A9:AA:AB:AC:AD:AE:AF:"
				     "B0:B1:B2:B3:B4:B5:B6:B7:B8:B9:BA:BB:BC:BD:BE:BF admin";
	assert_int_equal(authorize(plain, &shown), CHI_ROLE_ADMIN);
	assert_int_equal(authorize(colons, &shown), CHI_ROLE_ADMIN);
	print[31] ^= 1;
	assert_int_equal(authorize(plain, &shown), CHI_ROLE_NONE);
	shown.certificate = NULL;
	shown.fingerprint = NULL;
	assert_int_equal(authorize("cert engine-7 write", &shown), CHI_ROLE_NONE);
}

CASE(test_tokens)
{
	char text[256];
	uint8_t digest[CHI_DIGEST_SIZE];
	struct chi_shown shown = {.token = digest};
	token_line("open sesame", "write nightly", text, sizeof(text));
	assert_int_equal(chi_access_digest("open sesame", 11, digest), CHI_OK);
	assert_int_equal(authorize(text, &shown), CHI_ROLE_WRITE);
	/* A wrong one does not fall back on what everyone may do. */
	strcat(text, "anyone read\n");
	assert_int_equal(chi_access_digest("open sesam", 10, digest), CHI_OK);
	assert_int_equal(authorize(text, &shown), CHI_ROLE_NONE);
	shown.token = NULL;
	assert_int_equal(authorize(text, &shown), CHI_ROLE_READ);
}

CASE(test_mistakes_are_named)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{"user alice", "f:1: a name or a role is missing"},
		{"\n#\nanyone", "f:3: a role is missing"},
		{"anyone read write", "f:1: too many words"},
		{"user alice read write", "f:1: too many words"},
		{"a b c d e", "f:1: too many words"},
		{"users alice read", "f:1: a line begins with anyone, user"},
		{"user alice Read", "not 'Read'"},
		{"user eve read", "there is no user 'eve'"},
		{"group wheel read", "there is no group 'wheel'"},
		{"user 4294967295 read", "there is no user"},
		{"user alice read\nuser 1000 write", "f:2: repeats the subject of line 1"},
		{"anyone read\nanyone read", "f:2: repeats the subject of line 1"},
		{"cert a read\ncert b read\ncert a write", "f:3: repeats the subject of line 1"},
		{"cert sha256:12 read", "not a SHA-256 fingerprint: 'sha256:12'"},
		{"token hunter2 read", "64 hexadecimal digits"},
		{"token read", "a name or a role is missing"},
	};
	for (size_t i = 0; i < CHI_COUNT(bad); i++) {
		struct chi_access *access = NULL;
		assert_true(parse(bad[i].text, &access) < 0);
		assert_null(access);
		if (strstr(fault.text, bad[i].says) == NULL) {
			fail_msg("'%s' gives '%s'", bad[i].text, fault.text);
		}
	}
	/* A token that was written in the open is not copied into a log. */
	struct chi_access *access = NULL;
	static const char *const secrets[] = {"token hunter2 read", "token read hunter2",
					      "hunter2 read", "hunter2"};
	for (size_t i = 0; i < CHI_COUNT(secrets); i++) {
		assert_true(parse(secrets[i], &access) < 0);
		assert_null(strstr(fault.text, "hunter2"));
	}
	assert_int_equal(chi_access_parse("a\0b", 3, "f", &names, &access, &fault), -CHI_ESYNTAX);
}

/* The bounds hold to the rule and to the byte. */
CASE(test_bounds)
{
	const size_t most = CHI_ACCESS_LINES_MAX;
	struct chi_access *access = NULL;
	char *text = calloc(1, CHI_ACCESS_FILE_MAX + 2);
	assert_non_null(text);
	for (size_t n = most - 1; n <= most + 1; n++) {
		size_t len = 0;
		for (size_t i = 0; i < n; i++) {
			len += (size_t)snprintf(text + len, 32, "user %zu read\n", i);
		}
		int status = chi_access_parse(text, len, "f", &names, &access, &fault);
		assert_int_equal(status, n <= most ? CHI_OK : -CHI_ETOOBIG);
		chi_access_free(access);
	}
	memset(text, '\n', CHI_ACCESS_FILE_MAX + 1);
	for (size_t len = CHI_ACCESS_FILE_MAX - 1; len <= CHI_ACCESS_FILE_MAX + 1; len++) {
		int status = chi_access_parse(text, len, "f", &names, &access, &fault);
		assert_int_equal(status, len <= CHI_ACCESS_FILE_MAX ? CHI_OK : -CHI_ETOOBIG);
		chi_access_free(access);
	}
	memset(text, 'n', 300);
	for (size_t len = 254; len <= 256; len++) {
		int n = snprintf(
			text, 320, "cert %.*s read", (int)len,
			"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
			"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
			"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
			"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc");
		int status = chi_access_parse(text, (size_t)n, "f", &names, &access, &fault);
		assert_int_equal(status, len <= 255 ? CHI_OK : -CHI_ETOOBIG);
		chi_access_free(access);
	}
	free(text);
}

CASE(test_files)
{
	char path[] = "/tmp/chi-access-XXXXXX";
	static const mode_t modes[] = {0602, 0620, 0660, 0666};
	const uint32_t us = geteuid();
	struct chi_access *access = NULL;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "anyone read\n", 12), 12);
	assert_int_equal(chi_access_load(path, us, &access, &fault), CHI_OK);
	chi_access_free(access);
	for (size_t i = 0; i < CHI_COUNT(modes); i++) {
		assert_int_equal(fchmod(fd, modes[i]), 0);
		assert_int_equal(chi_access_load(path, us, &access, &fault), -CHI_EACCES);
	}
	close(fd);
	unlink(path);
	assert_int_equal(chi_access_load(path, us, &access, &fault), -CHI_EIO);
	assert_int_equal(chi_access_load("/tmp", us, &access, &fault), -CHI_EINVAL);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(chi_access_load(path, us, &access, &fault), -CHI_EINVAL);
	unlink(path);
}

/* Root's are good for every daemon, others' for that of the same user. */
CASE(test_files_of_others)
{
	char path[] = "/tmp/chi-access-XXXXXX";
	struct chi_access *access = NULL;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	if (geteuid() == 0) {
		assert_int_equal(chi_access_load(path, 4711, &access, &fault), CHI_OK);
		chi_access_free(access);
		assert_int_equal(fchown(fd, 4711, 0), 0);
		assert_int_equal(chi_access_load(path, 4711, &access, &fault), CHI_OK);
		chi_access_free(access);
		assert_int_equal(chi_access_load(path, 0, &access, &fault), -CHI_EACCES);
	}
	assert_int_equal(chi_access_load(path, 4712, &access, &fault), -CHI_EACCES);
	close(fd);
	unlink(path);
}
