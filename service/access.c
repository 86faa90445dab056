/* SPDX-License-Identifier: MIT */
/*
 * The access file: a line a rule, words between blanks. It is read strictly, since a line that is
 * understood otherwise than meant lets someone in or keeps someone out.
 */
#include "service/access.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/num.h"
#include "service/log.h"

#define BLANKS " \t\r"
#define WORDS  4

enum kind {
	ANYONE,
	USER,
	GROUP,
	CERTIFICATE, /* by its common name */
	FINGERPRINT,
	TOKEN,
};

struct rule {
	enum kind kind;
	enum chi_role role;
	size_t line;
	uint32_t id;			 /* USER, GROUP */
	uint8_t digest[CHI_DIGEST_SIZE]; /* FINGERPRINT, TOKEN */
	char *name;			 /* CERTIFICATE */
};

struct chi_access {
	size_t n;
	struct rule rules[CHI_ACCESS_LINES_MAX];
};

struct word {
	const char *bytes;
	size_t len;
};

struct parser {
	struct chi_access *access;
	const struct chi_access_names *names;
	const char *name; /* of the file */
	size_t line;
	struct chi_fault *fault;
};

/* ---- Roles ------------------------------------------------------------------------------- */

static const char *const role_names[CHI_ROLES] = {"none", "read", "write", "admin"};

const char *chi_role_name(enum chi_role role)
{
	return role < CHI_ROLES ? role_names[role] : "none";
}

static bool is_text(const struct word *word, const char *text)
{
	return strlen(text) == word->len && memcmp(word->bytes, text, word->len) == 0;
}

int chi_role_from_name(const char *text, size_t len)
{
	const struct word word = {text, len};
	for (int role = 0; role < CHI_ROLES; role++) {
		if (is_text(&word, role_names[role])) {
			return role;
		}
	}
	return -CHI_ESYNTAX;
}

/* ---- Names ------------------------------------------------------------------------------- */

/* Main's thread alone looks for names. */
static bool find_user(const char *name, uint32_t *uid)
{
	const struct passwd *found = getpwnam(name);
	*uid = found != NULL ? found->pw_uid : 0;
	return found != NULL;
}

static bool find_group(const char *name, uint32_t *gid)
{
	const struct group *found = getgrnam(name);
	*gid = found != NULL ? found->gr_gid : 0;
	return found != NULL;
}

const struct chi_access_names chi_access_system = {find_user, find_group};

bool chi_access_id(const char *text, bool (*find)(const char *name, uint32_t *id), uint32_t *out)
{
	uint64_t number = 0;
	if (chi_num_u64(text, strlen(text), UINT32_MAX - 1, &number) == CHI_OK) {
		*out = (uint32_t)number;
		return true;
	}
	return find != NULL && find(text, out);
}

/* ---- Lines ------------------------------------------------------------------------------- */

static int refuse_word(const struct parser *parser, int status, const char *what,
		       const struct word *word)
{
	size_t len = word == NULL ? 0 : word->len < 64 ? word->len : 64;
	return chi_fail(parser->fault, status, "%s:%zu: %s%s%.*s%s", parser->name, parser->line,
			what, word != NULL ? " '" : "", (int)len, len > 0 ? word->bytes : "",
			word != NULL ? "'" : "");
}

/* A secret must not be printed, and a token written instead of its digest is one. Where a word
 * may be one, nothing of the line is. */
static int refuse_secret(const struct parser *parser, const char *what)
{
	return refuse_word(parser, -CHI_ESYNTAX, what, NULL);
}

/* A number, or a name of the user database. */
static int parse_id(const struct parser *parser, const struct word *word, struct rule *rule)
{
	char name[CHI_ACCESS_NAME_MAX + 1];
	bool user = rule->kind == USER;
	if (word->len > CHI_ACCESS_NAME_MAX) {
		return refuse_word(parser, -CHI_ETOOBIG, "a name of more than 255 bytes", word);
	}
	memcpy(name, word->bytes, word->len);
	name[word->len] = '\0';
	return chi_access_id(name, user ? parser->names->user : parser->names->group, &rule->id)
		       ? CHI_OK
		       : refuse_word(parser, -CHI_EINVAL,
				     user ? "there is no user" : "there is no group", word);
}

/* 64 hexadecimal digits; as openssl(1) prints fingerprints also with colons between the bytes. */
static bool parse_digest(const struct word *word, bool colons, uint8_t out[CHI_DIGEST_SIZE])
{
	char digits[2 * CHI_DIGEST_SIZE];
	size_t n = 0;
	for (size_t i = 0; i < word->len; i++) {
		if (colons && word->bytes[i] == ':' && n % 2 == 0 && n > 0) {
			continue;
		}
		if (n == sizeof(digits)) {
			return false;
		}
		digits[n++] = word->bytes[i];
	}
	return n == sizeof(digits) && chi_hex_parse(digits, n, out) == CHI_OK;
}

static int parse_certificate(const struct parser *parser, const struct word *word,
			     struct rule *rule)
{
	static const char scheme[] = "sha256:";
	const size_t skip = sizeof(scheme) - 1;
	if (word->len > skip && memcmp(word->bytes, scheme, skip) == 0) {
		const struct word digits = {word->bytes + skip, word->len - skip};
		rule->kind = FINGERPRINT;
		return parse_digest(&digits, true, rule->digest)
			       ? CHI_OK
			       : refuse_word(parser, -CHI_ESYNTAX,
					     "not a SHA-256 fingerprint:", word);
	}
	if (word->len > CHI_ACCESS_NAME_MAX) {
		return refuse_word(parser, -CHI_ETOOBIG, "a name of more than 255 bytes", word);
	}
	/* Not strndup: the text does not end after the word, and may not end in a NUL at all. */
	rule->name = malloc(word->len + 1);
	if (rule->name == NULL) {
		return chi_fault_plain(parser->fault, -CHI_ENOMEM);
	}
	memcpy(rule->name, word->bytes, word->len);
	rule->name[word->len] = '\0';
	return CHI_OK;
}

/* What is between the first word and the role. */
static int parse_subject(const struct parser *parser, const struct word *word, struct rule *rule)
{
	switch (rule->kind) {
	case USER:
	case GROUP:
		return parse_id(parser, word, rule);
	case CERTIFICATE:
		return parse_certificate(parser, word, rule);
	default:
		return parse_digest(word, false, rule->digest)
			       ? CHI_OK
			       : refuse_secret(parser, "a token is written as the 64 hexadecimal "
						       "digits of its SHA-256");
	}
}

static bool is_same(const struct rule *a, const struct rule *b)
{
	if (a->kind != b->kind) {
		return false;
	}
	switch (a->kind) {
	case ANYONE:
		return true;
	case USER:
	case GROUP:
		return a->id == b->id;
	case CERTIFICATE:
		return strcmp(a->name, b->name) == 0;
	default:
		return memcmp(a->digest, b->digest, CHI_DIGEST_SIZE) == 0;
	}
}

/* Of two rules for the same one an operator changes the one and is surprised by the other. */
static int check_once(const struct parser *parser, const struct rule *rule)
{
	for (size_t i = 0; i < parser->access->n; i++) {
		if (is_same(&parser->access->rules[i], rule)) {
			return chi_fail(parser->fault, -CHI_EINVAL,
					"%s:%zu: repeats the subject of line %zu", parser->name,
					parser->line, parser->access->rules[i].line);
		}
	}
	return CHI_OK;
}

static int parse_kind(const struct parser *parser, const struct word *word, struct rule *rule)
{
	static const struct {
		const char *text;
		enum kind kind;
	} kinds[] = {{"anyone", ANYONE},
		     {"user", USER},
		     {"group", GROUP},
		     {"cert", CERTIFICATE},
		     {"token", TOKEN}};
	for (size_t i = 0; i < CHI_COUNT(kinds); i++) {
		if (is_text(word, kinds[i].text)) {
			rule->kind = kinds[i].kind;
			return CHI_OK;
		}
	}
	/* The word may be a token whose line lacks the first one. */
	return refuse_secret(parser, "a line begins with anyone, user, group, cert or token");
}

/* KIND [SUBJECT] ROLE; a token may be followed by a name, for people. */
static int parse_rule(const struct parser *parser, const struct word *words, size_t n,
		      struct rule *rule)
{
	int status = parse_kind(parser, &words[0], rule);
	if (status < 0) {
		return status;
	}
	size_t needs = rule->kind == ANYONE ? 2 : 3;
	if (n < needs) {
		return refuse_word(parser, -CHI_ESYNTAX,
				   needs == 2 ? "a role is missing" : "a name or a role is missing",
				   NULL);
	}
	if (n > needs + (rule->kind == TOKEN ? 1 : 0)) {
		return refuse_word(parser, -CHI_ESYNTAX, "too many words", NULL);
	}
	const struct word *last = &words[needs - 1];
	int role = chi_role_from_name(last->bytes, last->len);
	if (role < 0) {
		/* Of a token's line the words may be in the wrong order. */
		return rule->kind == TOKEN
			       ? refuse_secret(parser, "a role is none, read, write or admin")
			       : refuse_word(parser, -CHI_ESYNTAX,
					     "a role is none, read, write or admin, not", last);
	}
	rule->role = (enum chi_role)role;
	return rule->kind == ANYONE ? CHI_OK : parse_subject(parser, &words[1], rule);
}

/* Cuts a line without its comment into words; returns how many, WORDS + 1 if there are more. */
static size_t cut_words(const char *line, size_t len, struct word words[WORDS])
{
	size_t n = 0;
	size_t at = 0;
	while (at < len) {
		size_t start = at;
		while (at < len && strchr(BLANKS, line[at]) == NULL) {
			at++;
		}
		if (at > start) {
			if (n == WORDS) {
				return WORDS + 1;
			}
			words[n++] = (struct word){line + start, at - start};
		}
		at += at < len ? 1 : 0;
	}
	return n;
}

static int parse_line(const struct parser *parser, const char *line, size_t len)
{
	struct chi_access *access = parser->access;
	struct word words[WORDS];
	const char *comment = memchr(line, '#', len);
	size_t n = cut_words(line, comment != NULL ? (size_t)(comment - line) : len, words);
	if (n == 0) {
		return CHI_OK;
	}
	if (n > WORDS) {
		return refuse_word(parser, -CHI_ESYNTAX, "too many words", NULL);
	}
	if (access->n == CHI_ACCESS_LINES_MAX) {
		return refuse_word(parser, -CHI_ETOOBIG, "more than 4096 rules", NULL);
	}
	struct rule *rule = &access->rules[access->n];
	*rule = (struct rule){.line = parser->line};
	int status = parse_rule(parser, words, n, rule);
	if (status == CHI_OK) {
		status = check_once(parser, rule);
	}
	if (status < 0) {
		free(rule->name);
		return status;
	}
	access->n++;
	return CHI_OK;
}

int chi_access_parse(const char *text, size_t len, const char *name,
		     const struct chi_access_names *names, struct chi_access **out,
		     struct chi_fault *fault)
{
	struct parser parser = {.names = names, .name = name, .fault = fault};
	*out = NULL;
	if (len > CHI_ACCESS_FILE_MAX) {
		return chi_fail(fault, -CHI_ETOOBIG, "'%s' has more than %zu bytes", name,
				CHI_ACCESS_FILE_MAX);
	}
	if (len > 0 && memchr(text, '\0', len) != NULL) {
		return chi_fail(fault, -CHI_ESYNTAX, "'%s' is not text", name);
	}
	parser.access = calloc(1, sizeof(*parser.access));
	if (parser.access == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	int status = CHI_OK;
	size_t at = 0;
	while (status == CHI_OK && at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t line_len = end != NULL ? (size_t)(end - text) - at : len - at;
		parser.line++;
		status = parse_line(&parser, text + at, line_len);
		at += line_len + 1;
	}
	if (status < 0) {
		chi_access_free(parser.access);
		return status;
	}
	*out = parser.access;
	return CHI_OK;
}

/* ---- Files ------------------------------------------------------------------------------- */

/* Its writers decide who has access: the daemon's user, and root, who may do so anyhow. */
static int check_file(const char *path, const struct stat *file, uint32_t uid,
		      struct chi_fault *fault)
{
	if (!S_ISREG(file->st_mode)) {
		return chi_fail(fault, -CHI_EINVAL, "'%s' is not a regular file", path);
	}
	if ((file->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		return chi_fail(fault, -CHI_EACCES,
				"'%s' must be writable by its owner alone (chmod go-w)", path);
	}
	if (file->st_uid != 0 && file->st_uid != uid) {
		return chi_fail(fault, -CHI_EACCES,
				"'%s' must belong to root or user %u, and belongs to user %u", path,
				(unsigned)uid, (unsigned)file->st_uid);
	}
	return CHI_OK;
}

int chi_access_load(const char *path, uint32_t uid, struct chi_access **out,
		    struct chi_fault *fault)
{
	*out = NULL;
	/* A pipe in its place must not block the open. */
	_cleanup_(chi_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	if (fd < 0 || fstat(fd, &file) < 0) {
		return chi_fail(fault, -CHI_EIO, "cannot read '%s' (%s)", path, strerror(errno));
	}
	int status = check_file(path, &file, uid, fault);
	if (status < 0) {
		return status;
	}
	char *text = malloc(CHI_ACCESS_FILE_MAX + 1);
	if (text == NULL) {
		return chi_fault_plain(fault, -CHI_ENOMEM);
	}
	/* One byte more than allowed shows a file that is too long. */
	ssize_t len = chi_file_read(fd, text, CHI_ACCESS_FILE_MAX + 1);
	status =
		len < 0 ? chi_fail(fault, -CHI_EIO, "cannot read '%s' (%s)", path, strerror(errno))
			: chi_access_parse(text, (size_t)len, path, &chi_access_system, out, fault);
	/* It may hold tokens themselves by mistake. */
	explicit_bzero(text, CHI_ACCESS_FILE_MAX + 1);
	free(text);
	return status;
}

void chi_access_free(struct chi_access *access)
{
	if (access == NULL) {
		return;
	}
	for (size_t i = 0; i < access->n; i++) {
		free(access->rules[i].name);
	}
	free(access);
}

/* ---- Judging ----------------------------------------------------------------------------- */

static bool has_group(const struct chi_shown *shown, uint32_t gid)
{
	for (size_t i = 0; i < shown->n_groups; i++) {
		if (shown->groups[i] == gid) {
			return true;
		}
	}
	return false;
}

/* Digests of tokens are compared to the end, even after the first difference. */
static bool fits(const struct rule *rule, const struct chi_shown *shown)
{
	switch (rule->kind) {
	case ANYONE:
		return true;
	case USER:
		return shown->has_user && shown->uid == rule->id;
	case GROUP:
		return shown->has_user && has_group(shown, rule->id);
	case CERTIFICATE:
		return shown->certificate != NULL && strcmp(shown->certificate, rule->name) == 0;
	case FINGERPRINT:
		return shown->fingerprint != NULL &&
		       memcmp(shown->fingerprint, rule->digest, CHI_DIGEST_SIZE) == 0;
	default:
		return shown->token != NULL &&
		       CRYPTO_memcmp(shown->token, rule->digest, CHI_DIGEST_SIZE) == 0;
	}
}

/* All rules are gone through, also when one has decided: see the header on time. */
enum chi_role chi_access_authorize(const struct chi_access *access, const struct chi_shown *shown,
				   const char **why)
{
	enum chi_role best = CHI_ROLE_NONE;
	bool barred = false;
	bool known = false;
	for (size_t i = 0; i < access->n; i++) {
		const struct rule *rule = &access->rules[i];
		if (fits(rule, shown)) {
			barred = barred || rule->role == CHI_ROLE_NONE;
			known = known || rule->kind == TOKEN;
			best = rule->role > best ? rule->role : best;
		}
	}
	if (shown->token != NULL && !known) {
		/* Served without its token's role it would fail later for no visible reason. */
		*why = "unknown access token";
		return CHI_ROLE_NONE;
	}
	*why = barred ? "a rule excludes this client" : "no rule matches these credentials";
	return barred ? CHI_ROLE_NONE : best;
}

int chi_access_digest(const void *bytes, size_t len, uint8_t out[CHI_DIGEST_SIZE])
{
	unsigned size = 0;
	/* Fails only without memory. */
	return EVP_Digest(bytes, len, out, &size, EVP_sha256(), NULL) == 1 ? CHI_OK : -CHI_ENOMEM;
}

/* ---- Rules that are read again ------------------------------------------------------------ */

int chi_rules_open(struct chi_rules *rules, const char *path, uint32_t uid, struct chi_fault *fault)
{
	*rules = (struct chi_rules){.path = path, .uid = uid};
	pthread_rwlock_init(&rules->lock, NULL);
	return path != NULL ? chi_access_load(path, uid, &rules->access, fault) : CHI_OK;
}

void chi_rules_close(struct chi_rules *rules)
{
	chi_access_free(rules->access);
	pthread_rwlock_destroy(&rules->lock);
}

bool chi_rules_reload(struct chi_rules *rules)
{
	struct chi_access *access = NULL;
	struct chi_fault fault = {{0}};
	if (rules->path == NULL) {
		return false;
	}
	if (chi_access_load(rules->path, rules->uid, &access, &fault) < 0) {
		log_error("access.reload",
			  "failed to reload the access rules, the old ones stay ({cause})",
			  log_text("cause", fault.text));
		return false;
	}
	pthread_rwlock_wrlock(&rules->lock);
	struct chi_access *before = rules->access;
	rules->access = access;
	pthread_rwlock_unlock(&rules->lock);
	chi_access_free(before);
	log_info("access.reload", "reloaded the access rules of '{path}'",
		 log_text("path", rules->path));
	return true;
}

enum chi_role chi_rules_authorize(struct chi_rules *rules, const struct chi_shown *shown,
				  const char **why)
{
	pthread_rwlock_rdlock(&rules->lock);
	enum chi_role role = chi_access_authorize(rules->access, shown, why);
	pthread_rwlock_unlock(&rules->lock);
	return role;
}
