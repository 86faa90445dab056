/* SPDX-License-Identifier: MIT */
/* What handlers share. */
#include "http/net/call.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "http/net/config.h"
#include "http/net/session.h"

/* Of a list of parameters. */
#define WHY_BYTES 4096

int call_failed(struct call *call, int status)
{
	const char *text = chi_error(call->client);
	return chi_fail(&call->fault, status, "%s", text[0] != '\0' ? text : chi_strerror(status));
}

int call_check(struct call *call)
{
	if (atomic_load_explicit(&call->cancelled, memory_order_relaxed)) {
		return -CHI_ECANCELED;
	}
	return chi_now_ms() < call->deadline_ms
		       ? CHI_OK
		       : chi_fail(&call->fault, -CHI_ETIMEOUT,
				  "the query took more than %llu ms, which is as much as this "
				  "server allows (--max-query-time): ask for less",
				  (unsigned long long)call->session->config->query_ms);
}

static int see_progress(void *context, unsigned thousandths)
{
	(void)thousandths;
	return call_check(context);
}

int call_watched(struct call *call)
{
	int status = chi_on_progress(call->client, see_progress, call);
	status = status == CHI_OK ? call->route->run(call) : call_failed(call, status);
	int dropped = chi_on_progress(call->client, NULL, NULL);
	/* What call_check ended, it has a status for. */
	int ended = status == -CHI_ECANCELED ? call_check(call) : CHI_OK;
	status = ended < 0 ? ended : status;
	return status == CHI_OK && dropped != CHI_OK ? call_failed(call, dropped) : status;
}

int call_not_found(struct call *call, const char *why)
{
	call->http = 404;
	return chi_fail(&call->fault, -CHI_EINVAL, "%s", why);
}

int call_http_of(int status)
{
	switch (-status) {
	case CHI_EINVAL:
	case CHI_EFEN:
	case CHI_EKEY:
	case CHI_EMOVE:
	case CHI_ESYNTAX:
	case CHI_EEXIST:
		return 400;
	case CHI_ETOOBIG:
		return 413;
	case CHI_EACCES:
	case CHI_EREADONLY:
		return 403;
	case CHI_EUNSUPPORTED:
		return 501;
	case CHI_EBUSY:
	case CHI_ECONNECT:
	case CHI_ENOSTORE:
	case CHI_ESTALE:
	case CHI_ECANCELED:
		return 503;
	case CHI_ETIMEOUT:
		return 504;
	case CHI_EFULL:
		return 507;
	default:
		return 500;
	}
}

int call_fen(struct call *call, const char *text, struct chi_key *out)
{
	static const char start[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	char fen[CHI_FEN_INPUT_MAX + 1];
	text = strcmp(text, "startpos") == 0 ? start : text;
	size_t len = strlen(text);
	if (len >= sizeof(fen)) {
		return chi_fail(&call->fault, -CHI_EFEN, "a FEN has at most %d bytes",
				CHI_FEN_INPUT_MAX);
	}
	for (size_t i = 0; i <= len; i++) {
		fen[i] = (char)(text[i] == '_' || text[i] == '+' ? ' ' : text[i]);
	}
	return chi_key_from_fen(fen, len, out, &call->fault);
}

int call_fen_param(struct call *call, const char *name, struct chi_key *out)
{
	const char *text = params_get(&call->params, name);
	return text != NULL
		       ? call_fen(call, text, out)
		       : chi_fail(&call->fault, -CHI_EINVAL, "the parameter '%s' is missing", name);
}

/* ---- Parameters of the route --------------------------------------------------------------- */

static bool is_flag(const char *own)
{
	return own[0] == '?';
}

static const char *name_of_own(const char *own)
{
	return own + (is_flag(own) ? 1 : 0);
}

/* NULL: it is none of them. */
static const char *find_own(const struct route_params *takes, const char *name)
{
	size_t i = 0;
	while (takes->own[i] != NULL && strcmp(name_of_own(takes->own[i]), name) != 0) {
		i++;
	}
	return takes->own[i];
}

static bool is_filter(const struct route_params *takes, const char *name)
{
	size_t i = 0;
	if (takes->filters == NULL) {
		return false;
	}
	name += strncmp(name, "not-", 4) == 0 ? 4 : 0;
	while (takes->filters(i) != NULL && strcmp(takes->filters(i), name) != 0) {
		i++;
	}
	return takes->filters(i) != NULL;
}

static void list_params(const struct call *call, struct writer *out)
{
	const struct route_params *takes = call->route->takes;
	size_t n = 0;
	for (; takes->own[n] != NULL; n++) {
		out_format(out, "%s%s", n > 0 ? ", " : "", name_of_own(takes->own[n]));
	}
	if (n == 0 && takes->filters == NULL) {
		out_raw(out, "none");
	}
	for (size_t i = 0; takes->filters != NULL && takes->filters(i) != NULL; i++) {
		out_format(out, "%s%s",
			   i > 0   ? ", "
			   : n > 0 ? "; and filters: "
				   : "filters: ",
			   takes->filters(i));
	}
}

int call_check_params(struct call *call, const char **why)
{
	const struct route_params *takes = call->route->takes;
	const char *name = NULL;
	struct writer text;
	for (size_t i = 0; takes != NULL && name == NULL && i < call->params.n; i++) {
		const struct param *given = &call->params.list[i];
		const char *own = find_own(takes, given->name);
		name = own != NULL || is_filter(takes, given->name) ? NULL : given->name;
		if (own != NULL && is_flag(own) && params_truth(given->value) < 0) {
			return chi_fail(&call->fault, -CHI_EINVAL, "%s: '%.40s' is neither 1 nor 0",
					given->name, given->value);
		}
	}
	if (name == NULL) {
		return CHI_OK;
	}
	out_init(&text, WHY_BYTES);
	out_format(&text, "%.40s: %s has no such parameter; it has ", name, call->route->path);
	list_params(call, &text);
	*why = text.failed
		       ? NULL
		       : chi_arena_text(&call->arena, (const char *)chi_buffer_bytes(&text.buffer),
					text.buffer.len);
	out_deinit(&text);
	return *why != NULL ? -CHI_EINVAL : chi_fault_plain(&call->fault, -CHI_ENOMEM);
}

void call_complain_json(struct call *call, const char *why)
{
	call->type = "application/json";
	out_object(&call->out, NULL);
	out_text(&call->out, "error", why);
	out_end(&call->out, '}');
	out_newline(&call->out);
}
