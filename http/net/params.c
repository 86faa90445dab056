/* SPDX-License-Identifier: MIT */
/* Decoding is done once, here: all others see texts. */
#include "http/net/params.h"

#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/num.h"

/* UTF-8, and no control characters but those of text. */
static bool is_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) {
			return false;
		}
	}
	return chi_utf8_valid(text, len);
}

char *params_decode(const char *text, size_t len, bool form, struct chi_arena *arena)
{
	char *out = chi_arena_alloc(arena, len + 1);
	size_t n = 0;
	for (size_t i = 0; out != NULL && i < len; i++) {
		uint8_t byte = (uint8_t)text[i];
		if (byte == '%') {
			if (len - i < 3 || chi_hex_parse(text + i + 1, 2, &byte) != CHI_OK) {
				return NULL;
			}
			i += 2;
		} else if (byte == '+' && form) {
			byte = ' ';
		}
		out[n++] = (char)byte;
	}
	if (out == NULL || !is_text(out, n)) {
		return NULL;
	}
	out[n] = '\0';
	return out;
}

static int add_param(struct params *params, const char *text, size_t len, struct chi_arena *arena,
		     struct chi_fault *fault)
{
	const char *equals = memchr(text, '=', len);
	size_t name = equals != NULL ? (size_t)(equals - text) : len;
	if (params->n == PARAMS_MAX) {
		return chi_fail(fault, -CHI_ETOOBIG, "more than %d parameters", PARAMS_MAX);
	}
	struct param *param = &params->list[params->n];
	param->name = params_decode(text, name, true, arena);
	param->value = equals != NULL ? params_decode(equals + 1, len - name - 1, true, arena) : "";
	if (param->name == NULL || param->value == NULL) {
		return chi_fail(fault, -CHI_ESYNTAX,
				"parameter %zu is not UTF-8 text with %%-escapes", params->n + 1);
	}
	params->n++;
	return CHI_OK;
}

int params_parse(struct params *params, const char *text, size_t len, struct chi_arena *arena,
		 struct chi_fault *fault)
{
	int status = CHI_OK;
	if (len > 0 && params->list == NULL) {
		params->list = chi_arena_array(arena, PARAMS_MAX, sizeof(*params->list));
		status = params->list == NULL ? chi_fault_plain(fault, -CHI_ENOMEM) : CHI_OK;
	}
	while (status == CHI_OK && len > 0) {
		const char *end = memchr(text, '&', len);
		size_t n = end != NULL ? (size_t)(end - text) : len;
		if (n > 0) {
			status = add_param(params, text, n, arena, fault);
		}
		n += end != NULL ? 1 : 0;
		text += n;
		len -= n;
	}
	return status;
}

const char *params_given(const struct params *params, const char *name)
{
	for (size_t i = params->n; i > 0; i--) {
		if (strcmp(params->list[i - 1].name, name) == 0) {
			return params->list[i - 1].value;
		}
	}
	return NULL;
}

const char *params_get(const struct params *params, const char *name)
{
	const char *value = params_given(params, name);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

int params_truth(const char *value)
{
	static const char *const words[] = {"1", "true", "yes", "on", "0", "false", "no", "off"};
	for (size_t i = 0; i < CHI_COUNT(words); i++) {
		if (strcasecmp(value, words[i]) == 0) {
			return i < CHI_COUNT(words) / 2 ? 1 : 0;
		}
	}
	return value[0] == '\0' ? 0 : -1;
}

bool params_flag(const struct params *params, const char *name)
{
	const char *value = params_get(params, name);
	return value != NULL && params_truth(value) == 1;
}

int params_number(const struct params *params, const char *name, uint64_t least, uint64_t most,
		  uint64_t initial, uint64_t *out, struct chi_fault *fault)
{
	const char *value = params_get(params, name);
	*out = initial;
	if (value == NULL) {
		return CHI_OK;
	}
	if (chi_num_u64(value, strlen(value), most, out) != CHI_OK || *out < least) {
		return chi_fail(fault, -CHI_EINVAL, "%s: '%.40s' is no number from %llu to %llu",
				name, value, (unsigned long long)least, (unsigned long long)most);
	}
	return CHI_OK;
}
