/* SPDX-License-Identifier: MIT */
/* One pass over the lines of a head. */
#include "service/net/http_head.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/num.h"

#define MORE	 1
#define BAD	 400
#define TOO_LONG 431

static int refuse_head(const char **why, int status, const char *text)
{
	*why = text;
	return status;
}

static bool equals(struct chi_slice text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.at, word, text.len) == 0;
}

static struct chi_slice trim(const char *at, size_t len)
{
	while (len > 0 && (*at == ' ' || *at == '\t')) {
		at++;
		len--;
	}
	while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t')) {
		len--;
	}
	return (struct chi_slice){at, len};
}

/* ---- The request line -------------------------------------------------------------------- */

static const char *const methods[] = {
	[CHI_HTTP_GET] = "GET", [CHI_HTTP_HEAD] = "HEAD",	[CHI_HTTP_POST] = "POST",
	[CHI_HTTP_PUT] = "PUT", [CHI_HTTP_OPTIONS] = "OPTIONS",
};

const char *chi_http_method_name(enum chi_http_method method)
{
	return (size_t)method < CHI_COUNT(methods) ? methods[method] : "?";
}

static enum chi_http_method method_of(struct chi_slice word)
{
	for (size_t i = 0; i < CHI_COUNT(methods); i++) {
		if (word.len == strlen(methods[i]) && memcmp(word.at, methods[i], word.len) == 0) {
			return (enum chi_http_method)i;
		}
	}
	return CHI_HTTP_OTHER;
}

/* "http://host/path?query" is what is sent to proxies, and means the path. */
static struct chi_slice without_host(struct chi_slice target, struct chi_slice *host)
{
	const char *end = target.at + target.len;
	size_t scheme = target.len > 7 && strncasecmp(target.at, "http://", 7) == 0    ? 7
			: target.len > 8 && strncasecmp(target.at, "https://", 8) == 0 ? 8
										       : 0;
	const char *at = target.at + scheme;
	while (scheme > 0 && at < end && *at != '/' && *at != '?') {
		at++;
	}
	*host = (struct chi_slice){target.at + scheme, (size_t)(at - target.at) - scheme};
	return (struct chi_slice){at, (size_t)(end - at)};
}

static int take_target(struct chi_slice target, struct chi_http_head *out, const char **why)
{
	if (target.len > CHI_HTTP_TARGET_MAX) {
		return refuse_head(why, 414, "the address asked for is too long");
	}
	for (size_t i = 0; i < target.len; i++) {
		if ((unsigned char)target.at[i] <= ' ' || target.at[i] == 0x7f) {
			return refuse_head(why, BAD,
					   "the address asked for has a control character");
		}
	}
	target = without_host(target, &out->host);
	out->absolute = out->host.len > 0;
	const char *mark = memchr(target.at, '?', target.len);
	size_t len = mark != NULL ? (size_t)(mark - target.at) : target.len;
	out->path = (struct chi_slice){target.at, len};
	out->query = mark != NULL ? (struct chi_slice){mark + 1, target.len - len - 1}
				  : (struct chi_slice){target.at + target.len, 0};
	bool every = out->method == CHI_HTTP_OPTIONS && equals(out->path, "*");
	if (!every && (len == 0 || out->path.at[0] != '/')) {
		return refuse_head(why, BAD, "the address asked for does not begin with '/'");
	}
	return 0;
}

/* What follows the last blank; 9 if that is no version. */
static int version_of(struct chi_slice line, size_t *rest)
{
	const char *blank = memrchr(line.at, ' ', line.len);
	size_t before = blank != NULL ? (size_t)(blank - line.at) : line.len;
	struct chi_slice word = {line.at + before + 1, blank != NULL ? line.len - before - 1 : 0};
	*rest = line.len;
	if (word.len < 5 || memcmp(word.at, "HTTP/", 5) != 0) {
		return 9;
	}
	*rest = before;
	return word.len == 8 && memcmp(word.at, "HTTP/1.", 7) == 0 && word.at[7] >= '0' &&
			       word.at[7] <= '9'
		       ? (word.at[7] == '0' ? 10 : 11)
		       : 0;
}

static int take_head_line(struct chi_slice line, struct chi_http_head *out, const char **why)
{
	const char *blank = memchr(line.at, ' ', line.len);
	size_t rest = 0;
	out->version = version_of(line, &rest);
	if (out->version == 0) {
		return refuse_head(why, 505, "only HTTP/1 is spoken here");
	}
	size_t method = blank != NULL ? (size_t)(blank - line.at) : line.len;
	if (blank == NULL || rest <= method) {
		return refuse_head(why, BAD, "the request line is not METHOD ADDRESS HTTP/1.1");
	}
	out->method = method_of((struct chi_slice){line.at, method});
	out->keep_alive = out->version == 11;
	if (out->version == 9 && out->method != CHI_HTTP_GET) {
		return refuse_head(why, BAD, "without a version only GET is answered");
	}
	return take_target((struct chi_slice){blank + 1, rest - method - 1}, out, why);
}

/* ---- Fields ------------------------------------------------------------------------------ */

static bool is_token(struct chi_slice name)
{
	static const char letters[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (size_t i = 0; i < name.len; i++) {
		if (name.at[i] == '\0' || strchr(letters, name.at[i]) == NULL) {
			return false;
		}
	}
	return name.len > 0;
}

static int take_length(struct chi_slice value, struct chi_http_head *out, const char **why)
{
	uint64_t length = 0;
	if (chi_num_u64(value.at, value.len, UINT64_MAX, &length) != 0) {
		return refuse_head(why, BAD, "Content-Length is not a number");
	}
	if (out->has_length && length != out->length) {
		return refuse_head(why, BAD, "there are two Content-Lengths");
	}
	out->has_length = true;
	out->length = length;
	return 0;
}

static int take_connection(struct chi_slice value, struct chi_http_head *out)
{
	if (chi_http_list_has(value, "close")) {
		out->keep_alive = false;
	} else if (chi_http_list_has(value, "keep-alive")) {
		out->keep_alive = true;
	}
	return 0;
}

static int take_field(struct chi_slice name, struct chi_slice value, struct chi_http_head *out,
		      const char **why)
{
	const struct {
		const char *name;
		struct chi_slice *out;
	} texts[] = {
		{"accept-encoding", &out->encodings},	{"if-none-match", &out->tags},
		{"authorization", &out->authorization}, {"origin", &out->origin},
		{"sec-fetch-site", &out->site},		{"x-forwarded-for", &out->forwarded},
		{"content-type", &out->type},
	};
	for (size_t i = 0; i < CHI_COUNT(texts); i++) {
		if (equals(name, texts[i].name)) {
			*texts[i].out = value;
			return 0;
		}
	}
	if (equals(name, "host")) {
		out->host = out->absolute ? out->host : value;
		return 0;
	}
	if (equals(name, "content-length")) {
		return take_length(value, out, why);
	}
	if (equals(name, "connection")) {
		return take_connection(value, out);
	}
	if (equals(name, "expect")) {
		out->expects = equals(value, "100-continue");
		return out->expects ? 0
				    : refuse_head(why, 417, "nothing but 100-continue is expected");
	}
	if (equals(name, "transfer-encoding")) {
		return refuse_head(why, 411, "a body must have a Content-Length");
	}
	return 0;
}

static int take_field_line(struct chi_slice line, struct chi_http_head *out, const char **why)
{
	const char *colon = memchr(line.at, ':', line.len);
	if (colon == NULL || !is_token((struct chi_slice){line.at, (size_t)(colon - line.at)})) {
		return refuse_head(why, BAD, "a header field has no name");
	}
	size_t name = (size_t)(colon - line.at);
	struct chi_slice value = trim(colon + 1, line.len - name - 1);
	for (size_t i = 0; i < value.len; i++) {
		unsigned char c = (unsigned char)value.at[i];
		if ((c < ' ' && c != '\t') || c == 0x7f) {
			return refuse_head(why, BAD, "a header field has a control character");
		}
	}
	return take_field((struct chi_slice){line.at, name}, value, out, why);
}

/* ---- The whole --------------------------------------------------------------------------- */

/* The line at `at`, without its end; false if it is not whole. */
static bool next_line(const char *bytes, size_t len, size_t *at, struct chi_slice *line)
{
	const char *end = memchr(bytes + *at, '\n', len - *at);
	if (end == NULL) {
		return false;
	}
	size_t n = (size_t)(end - bytes) - *at;
	*line = (struct chi_slice){bytes + *at, n};
	*at += n + 1;
	if (n > 0 && line->at[n - 1] == '\r') {
		line->len--;
	}
	return true;
}

int chi_http_head_parse(const char *bytes, size_t len, struct chi_http_head *out, size_t *used,
			const char **why)
{
	struct chi_slice line = {NULL, 0};
	size_t at = 0;
	*out = (struct chi_http_head){.version = 11};
	*why = "";
	bool full = len >= CHI_HTTP_HEAD_MAX;
	len = full ? CHI_HTTP_HEAD_MAX : len;
	/* An empty line before a request is left over from the body before. */
	do {
		if (!next_line(bytes, len, &at, &line)) {
			return full ? refuse_head(why, 414, "the request line is too long") : MORE;
		}
	} while (line.len == 0 && at <= 2);
	int status = take_head_line(line, out, why);
	for (int fields = 0; status == 0 && out->version != 9; fields++) {
		if (!next_line(bytes, len, &at, &line)) {
			return full ? refuse_head(why, TOO_LONG, "the header fields are too long")
				    : MORE;
		}
		if (line.len == 0) {
			break;
		}
		if (fields == CHI_HTTP_FIELDS_MAX) {
			return refuse_head(why, TOO_LONG, "there are too many header fields");
		}
		status = take_field_line(line, out, why);
	}
	*used = at;
	return status;
}

/* "q=0", "q=0.0" and so on: not wanted. */
static bool is_refused(struct chi_slice quality)
{
	if (quality.len < 3 || memcmp(quality.at, "q=0", 3) != 0) {
		return false;
	}
	for (size_t i = 3; i < quality.len; i++) {
		if (quality.at[i] != '.' && quality.at[i] != '0') {
			return false;
		}
	}
	return true;
}

bool chi_http_list_has(struct chi_slice list, const char *word)
{
	const char *end = list.len > 0 ? list.at + list.len : NULL;
	for (const char *at = list.at; end != NULL && at < end;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t len = (size_t)((comma != NULL ? comma : end) - at);
		const char *mark = memchr(at, ';', len);
		struct chi_slice item = trim(at, mark != NULL ? (size_t)(mark - at) : len);
		if (equals(item, word)) {
			struct chi_slice rest =
				mark != NULL ? trim(mark + 1, len - (size_t)(mark - at) - 1)
					     : (struct chi_slice){at, 0};
			return !is_refused(rest);
		}
		at += len + 1;
	}
	return false;
}

/* ---- Answers ----------------------------------------------------------------------------- */

const char *chi_http_reason(int status)
{
	static const char *const reasons[] = {
		[200] = "OK",
		[204] = "No Content",
		[304] = "Not Modified",
		[400] = "Bad Request",
		[401] = "Unauthorized",
		[403] = "Forbidden",
		[404] = "Not Found",
		[405] = "Method Not Allowed",
		[408] = "Request Timeout",
		[411] = "Length Required",
		[413] = "Content Too Large",
		[414] = "URI Too Long",
		[417] = "Expectation Failed",
		[429] = "Too Many Requests",
		[431] = "Request Header Fields Too Large",
		[500] = "Internal Server Error",
		[501] = "Not Implemented",
		[503] = "Service Unavailable",
		[504] = "Gateway Timeout",
		[505] = "HTTP Version Not Supported",
		[507] = "Insufficient Storage",
	};
	bool known = status > 0 && (size_t)status < CHI_COUNT(reasons) && reasons[status] != NULL;
	return known ? reasons[status] : "Status";
}
