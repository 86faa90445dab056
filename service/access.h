/* SPDX-License-Identifier: MIT */
/*
 * Who may do what. A client shows who it is - a user and its groups on a unix socket, a certificate
 * over TLS, a token in its hello - and the access file gives roles to these; chistored(8)
 * describes the file. What is made here from such a file never changes, and knows nothing of
 * connections: guard.h does.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/role.h"
#include "chistore/types.h"

#define CHI_DIGEST_SIZE 32 /* SHA-256, of tokens and of certificates */

#define CHI_ACCESS_FILE_MAX  ((size_t)1 << 20) /* bytes of an access file */
#define CHI_ACCESS_LINES_MAX 4096	       /* of its lines that say something */
#define CHI_ACCESS_NAME_MAX  255	       /* bytes of a user, group or certificate's name */

struct chi_access;

/* What a client has shown. */
struct chi_shown {
	bool has_user; /* `uid` and `groups` are meant */
	uint32_t uid;
	const uint32_t *groups;
	size_t n_groups;
	const char *certificate;    /* its common name; "" if it has none, NULL without one */
	const uint8_t *fingerprint; /* of the certificate, CHI_DIGEST_SIZE bytes; NULL without */
	const uint8_t *token;	    /* its digest, CHI_DIGEST_SIZE bytes; NULL: none was given */
};

/* How names in the file become numbers; the system's user database, but for tests. Each returns
 * false if there is no such name. */
struct chi_access_names {
	bool (*user)(const char *name, uint32_t *uid);
	bool (*group)(const char *name, uint32_t *gid);
};

extern const struct chi_access_names chi_access_system;

/* A number, or a name that `find` knows, which may be NULL. The last number means "none" to the
 * system. */
bool chi_access_id(const char *text, bool (*find)(const char *name, uint32_t *id), uint32_t *out);

/* "none", "read", "write", "admin". */
const char *chi_role_name(enum chi_role role);

/* Negative if the text is no role's name. */
int chi_role_from_name(const char *text, size_t len);

/*
 * Reads the text of an access file. -CHI_ESYNTAX or -CHI_EINVAL, and the fault begins with
 * "NAME:LINE: "; -CHI_ETOOBIG beyond the bounds above; -CHI_ENOMEM.
 */
CHI_MUSTUSE int chi_access_parse(const char *text, size_t len, const char *name,
				 const struct chi_access_names *names, struct chi_access **out,
				 struct chi_fault *fault);

/* Reads the file at `path`, which must belong to root or to `uid`, the daemon's user, and be
 * writable by its owner alone: -CHI_EACCES. -CHI_EIO if it cannot be read, and what parsing gives.
 */
CHI_MUSTUSE int chi_access_load(const char *path, uint32_t uid, struct chi_access **out,
				struct chi_fault *fault);

/* NULL is fine. */
void chi_access_free(struct chi_access *access);

/*
 * The highest role that any line gives to what was shown; CHI_ROLE_NONE if no line fits, if one
 * that fits says `none`, or if a token was shown that is not in the file. *why then says which of
 * these, for ever. Takes the same time for any token.
 */
enum chi_role chi_access_authorize(const struct chi_access *access, const struct chi_shown *shown,
				   const char **why);

/* The digest of a token, as the file holds it. -CHI_ENOMEM. */
CHI_MUSTUSE int chi_access_digest(const void *bytes, size_t len, uint8_t out[CHI_DIGEST_SIZE]);

/* Rules of a file that is read again while threads judge by them. */
struct chi_rules {
	const char *path; /* NULL: there are none */
	uint32_t uid;
	pthread_rwlock_t lock; /* held for moments; nothing is waited for under it */
	struct chi_access *access;
};

/* `path` NULL: without rules. As chi_access_load; to be closed also then. */
CHI_MUSTUSE int chi_rules_open(struct chi_rules *rules, const char *path, uint32_t uid,
			       struct chi_fault *fault);
void chi_rules_close(struct chi_rules *rules);

/* Reads the file again. False: there is none, or a bad one, which is logged; the old rules stay. */
bool chi_rules_reload(struct chi_rules *rules);

/* Any thread: as chi_access_authorize, with rules. */
enum chi_role chi_rules_authorize(struct chi_rules *rules, const struct chi_shown *shown,
				  const char **why);
